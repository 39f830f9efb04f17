/*-------------------------------------------------------------------------
 *
 * csv_buffer.h
 *	  The part of a text file at hand, in the database encoding.
 *
 *-------------------------------------------------------------------------
 */
#ifndef OUTERJOIN_CSV_BUFFER_H
#define OUTERJOIN_CSV_BUFFER_H

#include "compat.h"

#include "utils/memutils.h"

#include "io/byte_source.h"

/* Longest row, as in COPY: what palloc gives, less the slack behind it. */
#define CSV_MAX_BUFFER	((uint32) (MaxAllocSize - 1024))

typedef struct CsvBuffer
{
	/* read freely; the bytes of rows that were taken may be written */
	char	   *base;			/* TEXT_FIELD_PADDING readable bytes follow */
	int64		offset;			/* of base[0] in the source, where nothing is converted */
	uint32		filled;
	uint32		verified;		/* [0, verified) is valid text */
	bool		broken;			/* and what follows there is not */
	bool		at_end;			/* nothing follows base[filled - 1] */

	/* private */
	MemoryContext context;
	ByteSource *source;			/* not owned */
	uint32		capacity;
	uint32		block_bytes;
	uint32		next_bytes;		/* to be read next; grows up to a block */
	bool		at_top;			/* nothing has been read since the restart at 0 */
	int			encoding;		/* the file's */
	Oid			conversion;		/* to the database encoding; or none is needed */
	char	   *raw;			/* [block_bytes] bytes not converted yet */
	uint32		raw_from;
	uint32		raw_to;
	bool		raw_ended;
} CsvBuffer;

/*
 * Allocates in "context"; nothing is read yet.  An encoding that cannot be
 * converted is an error (42883), as in COPY.
 */
extern void csv_buffer_init(CsvBuffer *buffer, ByteSource *source, int encoding,
							size_t block_bytes, MemoryContext context);

/*
 * Empty it and go on at this byte of the source.  The first reads are short
 * ones, for whoever only wants to look at a row.
 */
extern void csv_buffer_restart(CsvBuffer *buffer, int64 offset);

/*
 * Empty it and go on with all that a source has, which is so many bytes from
 * byte "offset" of the file on.  They are read at once if a block holds them.
 */
extern void csv_buffer_restart_range(CsvBuffer *buffer, ByteSource *source, int64 offset, int64 length);

/* Is there nothing behind base[filled - 1]?  May read a byte: restart afterwards. */
extern bool csv_buffer_is_drained(CsvBuffer *buffer);

/*
 * Move the bytes from "keep" on to the front, in any case, and read more
 * behind them; the buffer grows when it is full.  A byte order mark at the top
 * is passed over.  False if there is no more to come ("at_end" tells), or the
 * next bytes are broken ("broken" tells), or, with neither, the buffer cannot
 * grow beyond CSV_MAX_BUFFER.
 */
extern bool csv_buffer_refill(CsvBuffer *buffer, uint32 keep);

/*
 * Verify up to "upto"; "ascii" says that the bytes from "ascii_from" to there
 * are known to be plain ASCII.  Sets broken where verified is, when a
 * sequence is invalid; one that is only cut by "upto" is left for later.
 */
extern void csv_buffer_verify(CsvBuffer *buffer, uint32 upto, bool ascii, uint32 ascii_from);

/* The error of the broken bytes. */
pg_noreturn extern void csv_buffer_report_broken(CsvBuffer *buffer);

#endif							/* OUTERJOIN_CSV_BUFFER_H */
