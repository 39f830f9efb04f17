/*-------------------------------------------------------------------------
 *
 * lz4_block.h
 *	  One block of the LZ4 format, decompressed: for sorted integers.
 *
 * Source: the LZ4 Block Format Description.  Of its restrictions on how a
 * block ends, which serve decoders that take them for granted, only the one
 * is asked for that a decoder needs: the last sequence is literals alone.
 *
 *-------------------------------------------------------------------------
 */
#ifndef OUTERJOIN_LZ4_BLOCK_H
#define OUTERJOIN_LZ4_BLOCK_H

#include "postgres.h"

/* Bytes behind the output's capacity that may be written, with no meaning. */
#define LZ4_BLOCK_SLACK		32

/* How far back a block refers at most: what of earlier output must be kept. */
#define LZ4_BLOCK_HISTORY	(64 * 1024)

/*
 * Is the block, by its beginning, mostly 64-bit integers that differ from the
 * one before in their lowest bytes?  Then the function below is the faster one.
 */
extern bool lz4_block_is_strided(const uint8 *in, size_t length);

/*
 * Decompress "length" bytes to at most "capacity" bytes at "out".  The
 * "history" bytes before out are earlier output, which the block may refer to.
 * False if the block is damaged, or would give more; out is then undefined.
 */
extern bool lz4_block_decompress(const uint8 *in, size_t length,
								 uint8 *out, size_t capacity, size_t history, size_t *produced);

#endif							/* OUTERJOIN_LZ4_BLOCK_H */
