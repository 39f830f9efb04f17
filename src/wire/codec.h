/*-------------------------------------------------------------------------
 *
 * codec.h
 *	  Compressed byte streams around text files: gzip, zstd, lz4 frames.
 *
 * A file may hold several members or frames, one after the other; all are
 * read (zstd and lz4 skippable frames are skipped).  After the last gzip
 * member zero padding is accepted.  A cut or damaged stream, or other bytes
 * after the last member, is an error, never a short answer.
 *
 *-------------------------------------------------------------------------
 */
#ifndef OUTERJOIN_CODEC_H
#define OUTERJOIN_CODEC_H

#include "io/byte_source.h"

typedef enum Compression
{
	COMPRESSION_BY_NAME = 0,	/* not declared: from the file's extension */
	COMPRESSION_NONE,
	COMPRESSION_GZIP,
	COMPRESSION_ZSTD,
	COMPRESSION_LZ4
} Compression;

/* "none", "gzip", "zstd", "lz4"; false if it is none of them */
extern bool compression_from_text(const char *text, Compression *result);
extern const char *compression_name(Compression compression);

/* "none, gzip, ...", for hints */
extern char *compression_names(void);

typedef struct CompressionExtension
{
	const char *extension;
	Compression compression;
} CompressionExtension;

/* ".gz", ... : how the name of a compressed file ends; ends with NULL */
extern const CompressionExtension compression_extensions[];

/* ".gz, .bgz, ...", for messages */
extern char *compression_extension_names(void);

/*
 * What an extension says, its case aside.  *stem_length receives the length of
 * the name without it (the whole name for COMPRESSION_NONE).
 */
extern Compression compression_from_path(const char *path, size_t *stem_length);

/* Do these bytes, at least 4, begin a member of such data? */
extern bool compression_begins(Compression compression, const char *bytes, size_t length);

/*
 * Decompress what "inner" delivers.  Owns inner.  Memory is bounded: a zstd
 * window of more than 128 MB is refused.  Seeks only to 0.
 */
extern ByteSource *codec_source_create(ByteSource *inner, Compression compression,
									   size_t block_bytes);

#endif							/* OUTERJOIN_CODEC_H */
