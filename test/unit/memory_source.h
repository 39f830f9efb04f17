/*-------------------------------------------------------------------------
 *
 * memory_source.h
 *	  Bytes in memory as a ByteSource whose reads end where one likes.
 *
 *-------------------------------------------------------------------------
 */
#ifndef OUTERJOIN_MEMORY_SOURCE_H
#define OUTERJOIN_MEMORY_SOURCE_H

#include "io/byte_source.h"
#include "random.h"

typedef struct MemorySource
{
	ByteSource	base;
	const char *bytes;
	size_t		length;
	size_t		at;
	size_t		most;			/* bytes a read returns at most; 0: all that are asked for */
	bool		ragged;			/* fewer, at random */
	int			closed;
} MemorySource;

static size_t
memory_read(ByteSource *base, char *buffer, size_t capacity)
{
	MemorySource *source = (MemorySource *) base;
	size_t		got = Min(capacity, source->length - source->at);

	if (source->most > 0)
		got = Min(got, source->most);
	if (source->ragged && got > 1)
		got = 1 + random_below((int) got);
	memcpy(buffer, source->bytes + source->at, got);
	source->at += got;
	base->blocks_read++;
	return got;
}

static void
memory_seek(ByteSource *base, int64 offset)
{
	((MemorySource *) base)->at = (size_t) offset;
}

static void
memory_close(ByteSource *base)
{
	((MemorySource *) base)->closed++;
}

static const ByteSourceMethods memory_methods = {memory_read, memory_seek, memory_close};

/* Reads give all that is asked for, until the members say otherwise. */
static inline void
memory_source_init(MemorySource *source, const char *name, const void *bytes, size_t length)
{
	*source = (MemorySource){
		.base = {.methods = &memory_methods, .name = name, .size = -1},
		.bytes = bytes,
		.length = length
	};
}

#endif							/* OUTERJOIN_MEMORY_SOURCE_H */
