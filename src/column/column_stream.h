/*-------------------------------------------------------------------------
 *
 * column_stream.h
 *	  One sorted stream of (key, fields): the interface that every format
 *	  implements, and that the layers of stream/ (segments, sort, order
 *	  check) implement again on top of it.
 *
 *-------------------------------------------------------------------------
 */
#ifndef OUTERJOIN_COLUMN_STREAM_H
#define OUTERJOIN_COLUMN_STREAM_H

#include "column/column_batch.h"
#include "column/key.h"
#include "column/stream_spec.h"

typedef struct ColumnStream ColumnStream;

/* What a scan lets each of its streams use. */
typedef struct StreamResources
{
	int			batch_rows;		/* most rows in a batch, <= MAX_BATCH_ROWS */
	int			first_rows;		/* rows of the first batch after open or seek;
								 * later ones double up to batch_rows, so that
								 * a short scan stays short */
	size_t		block_bytes;	/* most bytes read at once */
	int			memory_kb;		/* this stream's share of work_mem, for sorts */
	bool		simd;			/* false: portable code only (tests) */
	const Key  *file_key;		/* not NULL: rows are wanted from the files' ends,
								 * in the order of the flipped key, and this is
								 * the key that the files are sorted by */
} StreamResources;

/* Where a row stands, for messages and error contexts. */
typedef struct RowLocation
{
	const char *file;			/* as the user wrote it, or found */
	int64		row;			/* from 1, counting data rows; 0 if not known */
	int64		line;			/* from 1; 0 where the format has no lines */
} RowLocation;

typedef struct StreamCounters
{
	int64		rows_read;
	int64		blocks_read;
	int64		blocks_skipped;
	int64		seeks;
	int64		dictionary_bytes;	/* memory that dictionaries have now */
} StreamCounters;

static inline void
stream_counters_add(StreamCounters *sum, const StreamCounters *counters)
{
	sum->rows_read += counters->rows_read;
	sum->blocks_read += counters->blocks_read;
	sum->blocks_skipped += counters->blocks_skipped;
	sum->seeks += counters->seeks;
	sum->dictionary_bytes += counters->dictionary_bytes;
}

typedef void (*FileVisitor) (void *state, const SourceFile *file);

typedef struct ColumnStreamMethods
{
	/*
	 * Make the next batch current in stream->batch; false at the end (again
	 * and again).  Rows keep the file's order; keys are decoded, never null.
	 * A format does not check the order; the stream layer does.
	 */
	bool		(*next_batch) (ColumnStream *stream);

	/*
	 * Decode field number "field" (index into spec->fields) of rows [from,
	 * to) of the current batch, or of only those among them listed in "rows"
	 * (ascending, nrows of them) when rows is not NULL, into values[row] and
	 * isnull[row].  The arrays are the caller's, batch_rows long.
	 * By-reference values live in the batch's memory.  Each row of a field is
	 * decoded at most once per batch.
	 */
	void		(*decode) (ColumnStream *stream, int field, int from, int to,
						   const BatchRow *rows, int nrows,
						   Datum *values, bool *isnull);

	/*
	 * Start again so that no row with key >= bound (> bound if it is not
	 * inclusive) is missed; earlier rows may still come.  NULL: from the top.
	 * Works in both directions on every stream: one that cannot be sought
	 * starts from the top.
	 */
	void		(*seek) (ColumnStream *stream, const KeyBound *bound);

	/*
	 * For a stream that can_go_back and was opened with a file_key, which is
	 * then its key: the rows that precede the current batch in the file (at
	 * first, the last ones) become the current batch, still in the file's
	 * order.  False at the file's top (again and again).
	 */
	bool		(*previous_batch) (ColumnStream *stream);

	/*
	 * Start again so that previous_batch misses no row with key <= bound (<
	 * bound if it is not inclusive); later rows may still come.  NULL: from
	 * the end.
	 */
	void		(*seek_back) (ColumnStream *stream, const KeyBound *bound);

	/*
	 * Where row "row" of the current batch stands.  May be slow.  A format
	 * that can go back knows the row behind the batch as well.
	 */
	void		(*locate) (ColumnStream *stream, int row, RowLocation *location);

	/* Add this stream's counters to *counters. */
	void		(*count) (ColumnStream *stream, StreamCounters *counters);

	/* Close files; memory goes with its context. */
	void		(*close) (ColumnStream *stream);

	/*
	 * Show the files that it reads, always in the same order.  NULL where it
	 * has none that another process could open.
	 */
	void		(*files) (ColumnStream *stream, FileVisitor visit, void *state);

	/*
	 * Which row of the files a row of the current batch is, as a number >= 0
	 * that no other row has; -1 where there is none.  Cheap.  May be NULL.
	 */
	int64		(*position) (ColumnStream *stream, int row);
} ColumnStreamMethods;

struct ColumnStream
{
	const ColumnStreamMethods *methods;
	const StreamSpec *spec;
	const Key  *key;
	const bool *wanted;			/* [spec->nfields] fields that will be decoded */
	bool		can_seek;		/* seek(bound) is better than reading from the top */
	double		seek_rows;		/* ... and takes the time of reading so many rows */
	bool		can_go_back;	/* it has previous_batch and seek_back; known with a file_key */
	bool		reversed;		/* rows come from a file's end to its top; "locate"
								 * knows row -1, the one before the batch's */
	ColumnBatch batch;
};

/* What is known of a file, or of a stream, without reading it. */
typedef struct StreamFacts
{
	double		rows;			/* estimated or exact */
	bool		rows_exact;
	double		bytes;
	double		blocks;			/* blocks or batches; 0 if it has none */
	bool		has_range;		/* first and last below are known */
	int64		first;			/* images of the first and last key */
	int64		last;
	bool		range_certain;	/* true of any file in order: rows may be passed
								 * over on its word */
	bool		can_seek;
	double		seek_rows;		/* a seek takes the time of reading so many rows */
	bool		can_go_back;	/* can be read from its end, as far as is known */
} StreamFacts;

/*
 * One format.  The table of them stands in stream/formats.c.
 */
typedef struct ColumnFormat
{
	const char *name;

	/* Open one file of a stream, in the current context, which must outlive it. */
	ColumnStream *(*open) (const StreamSpec *spec, const struct SegmentFile *file,
						   const Key *key, const bool *wanted,
						   const StreamResources *resources);

	/* Cheap: some preads at most. */
	void		(*facts) (const StreamSpec *spec, const struct SegmentFile *file,
						  const Key *key, StreamFacts *facts);

	/*
	 * Go on with a row about this part (0 to 1) of an open file's rows or
	 * bytes down; next_batch says whether there is one.  False where the file
	 * can be entered at its top only.
	 */
	bool		(*enter) (ColumnStream *stream, double part);
} ColumnFormat;

/* What whoever implements a stream begins with, all else being zeros. */
static inline void
stream_init(ColumnStream *stream, const ColumnStreamMethods *methods, const StreamSpec *spec,
			const Key *key, const bool *wanted)
{
	stream->methods = methods;
	stream->spec = spec;
	stream->key = key;
	stream->wanted = wanted;
}

static inline bool
stream_next_batch(ColumnStream *stream)
{
	return stream->methods->next_batch(stream);
}

static inline void
stream_decode(ColumnStream *stream, int field, int from, int to, Datum *values, bool *isnull)
{
	stream->methods->decode(stream, field, from, to, NULL, 0, values, isnull);
}

static inline void
stream_seek(ColumnStream *stream, const KeyBound *bound)
{
	stream->methods->seek(stream, bound);
}

static inline int64
stream_position(ColumnStream *stream, int row)
{
	return stream->methods->position != NULL ? stream->methods->position(stream, row) : -1;
}

static inline void
stream_show_files(ColumnStream *stream, FileVisitor visit, void *state)
{
	if (stream->methods->files != NULL)
		stream->methods->files(stream, visit, state);
}

#endif							/* OUTERJOIN_COLUMN_STREAM_H */
