/*-------------------------------------------------------------------------
 *
 * arrow_buffer.h
 *	  One buffer of an Arrow body, a window of it at a time.
 *
 * A buffer may be larger than memory and compressed: what is asked for is
 * read, or decompressed, into a window that moves along.  Going forward is
 * cheap; going back in a compressed buffer starts it again.
 *
 *-------------------------------------------------------------------------
 */
#ifndef OUTERJOIN_ARROW_BUFFER_H
#define OUTERJOIN_ARROW_BUFFER_H

#include "wire/codec.h"

typedef struct ArrowBuffer
{
	/* read freely */
	int64		size;			/* bytes, decompressed; 0: there is none */

	/* private */
	MemoryContext context;
	SourceFile *file;			/* borrowed */
	int64		offset;			/* in the file, behind the length where it is compressed */
	int64		length;			/* in the file */
	Compression compression;	/* COMPRESSION_NONE: stored as it is */
	size_t		block_bytes;	/* how much to read at once, where less is asked for ... */
	size_t		ahead;			/* ... once it has been read on for a while */
	bool		backward;		/* what comes next lies before what was asked for last */
	int64	   *blocks_read;	/* counts reads of the file; may be NULL */

	ByteSource *bytes;			/* of a compressed buffer: decompressed, at window_to; NULL: not begun */
	ByteSource *range;			/* what "bytes" decompresses */
	Compression codec;			/* of "bytes", which outlives a record batch */
	size_t		codec_bytes;	/* its block */
	int64		counted;		/* its reads that are in *blocks_read */
	char	   *allocated;
	char	   *window;			/* bytes [window_from, window_to), aligned as the buffer is */
	size_t		capacity;
	int64		window_from;
	int64		window_to;
} ArrowBuffer;

/*
 * Bytes that may be read behind what arrow_buffer_read returns; they mean
 * nothing.
 */
#define ARROW_BUFFER_SLACK	64

/* Once, before any use. Memory is taken from "context" when it is needed, and kept for the next batch. */
extern void arrow_buffer_init(ArrowBuffer *buffer, MemoryContext context, size_t block_bytes,
							  int64 *blocks_read);

/*
 * Another record batch's buffer: "length" bytes at "offset" in the file (both
 * were checked against the file's size).  With "compression" a buffer of more
 * than 0 bytes begins with its decompressed length, or -1: stored as is.
 * A length that cannot be is an error that names the file.
 */
extern void arrow_buffer_set(ArrowBuffer *buffer, SourceFile *file, int64 offset, int64 length,
							 Compression compression);

/*
 * "length" bytes from byte "from" of the decompressed buffer, valid until the
 * next call for this buffer.  The address is a multiple of 8 where "from" is.
 * Asking for more than there is is an error that names the file: whoever asks
 * took the numbers from it.
 */
extern const char *arrow_buffer_read(ArrowBuffer *buffer, int64 from, size_t length);

/*
 * What comes next is somewhere else, and perhaps only a little of it is asked
 * for: read so many bytes at first, then twice as much each time, up to a block.
 */
extern void arrow_buffer_begin_small(ArrowBuffer *buffer, size_t bytes);

/*
 * Pieces are asked for from the end to the top, or again from the top to the
 * end, as at first.
 */
static inline void
arrow_buffer_set_backward(ArrowBuffer *buffer, bool backward)
{
	buffer->backward = backward;
}

/*
 * Give the decompressor back, but not the window: what was read stays valid.
 * A later read begins anew.
 */
extern void arrow_buffer_rest(ArrowBuffer *buffer);

/*
 * Give decompressors and windows back; another arrow_buffer_set may follow,
 * or another read.
 */
extern void arrow_buffer_release(ArrowBuffer *buffer);

#endif							/* OUTERJOIN_ARROW_BUFFER_H */
