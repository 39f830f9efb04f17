/*-------------------------------------------------------------------------
 *
 * byte_source.h
 *	  Bytes in, in order, from a file, a program or a decompressor.
 *
 * One interface without special cases: a plain file is an implementation like
 * any other.  All errors are raised with ereport and name the file.
 *
 *-------------------------------------------------------------------------
 */
#ifndef OUTERJOIN_BYTE_SOURCE_H
#define OUTERJOIN_BYTE_SOURCE_H

#include "io/source_file.h"

typedef struct ByteSource ByteSource;

typedef struct ByteSourceMethods
{
	/*
	 * Up to "capacity" bytes (> 0) into buffer; returns how many, and 0 only
	 * at the end.  Short reads are allowed anywhere.
	 */
	size_t		(*read) (ByteSource *source, char *buffer, size_t capacity);

	/*
	 * Go on at this byte of the *output*; offset 0 starts again and is always
	 * supported (a program is run again, a decompressor starts over).  Any
	 * other offset only where "seekable".
	 */
	void		(*seek) (ByteSource *source, int64 offset);

	/* Release everything; a program that failed is an error here. */
	void		(*close) (ByteSource *source);
} ByteSourceMethods;

struct ByteSource
{
	const ByteSourceMethods *methods;
	const char *name;			/* as the user wrote it */
	bool		seekable;
	int64		size;			/* bytes in all, or -1 if not known */
	int64		blocks_read;	/* reads from the underlying file or pipe */
};

/*
 * A plain file.  Reads are positioned; "queue" blocks of "block_bytes" beyond
 * the current one are asked for ahead.  The source owns the file.
 */
extern ByteSource *file_source_create(SourceFile *file, size_t block_bytes, int queue);

/*
 * Bytes [from, to) of a file, which is borrowed and has them.  Byte 0 of the
 * source is byte "from" of the file.
 */
extern ByteSource *file_source_create_range(SourceFile *file, int64 from, int64 to,
											size_t block_bytes, int queue);

/* Another range, perhaps of another file, for such a source, which starts at its top. */
extern void file_source_set_range(ByteSource *source, SourceFile *file, int64 from, int64 to);

/*
 * A shell command's output, as in COPY FROM PROGRAM: an exit status other
 * than 0 is an error at the end of the output; one that dies of SIGPIPE
 * because nobody read to the end is not.
 */
extern ByteSource *program_source_create(const char *command);

static inline size_t
byte_source_read(ByteSource *source, char *buffer, size_t capacity)
{
	return source->methods->read(source, buffer, capacity);
}

static inline void
byte_source_seek(ByteSource *source, int64 offset)
{
	source->methods->seek(source, offset);
}

static inline void
byte_source_close(ByteSource *source)
{
	source->methods->close(source);
}

#endif							/* OUTERJOIN_BYTE_SOURCE_H */
