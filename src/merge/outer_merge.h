/*-------------------------------------------------------------------------
 *
 * outer_merge.h
 *	  N sorted streams in, windows of their full outer join out.
 *
 *-------------------------------------------------------------------------
 */
#ifndef OUTERJOIN_OUTER_MERGE_H
#define OUTERJOIN_OUTER_MERGE_H

#include "column/column_stream.h"
#include "stream/filtered.h"

typedef enum StreamRole
{
	STREAM_OUTER,				/* its keys make rows, its values are read */
	STREAM_KEYS_ONLY,			/* its keys make rows, no value is asked for */
	STREAM_REQUIRED,			/* rows without its key cannot qualify */
	STREAM_LOOKED_UP,			/* values only, for rows that others make */
	STREAM_NOT_READ
} StreamRole;

/*
 * Values of one field, indexed by position.  Both arrays have an element -1
 * as well, that says null: a row that lacks the key needs no branch.
 */
typedef struct FieldVector
{
	int			field;			/* index into the stream's spec->fields */
	Datum	   *values;
	bool	   *isnull;
} FieldVector;

/* Allocate the arrays of a vector for batches of up to batch_rows rows. */
extern void field_vector_init(FieldVector *vector, int field, int batch_rows);

typedef struct MergeInput
{
	ColumnStream *stream;		/* NULL if it is not read */
	StreamRole	role;
	int			nvectors;
	FieldVector *vectors;		/* the wanted fields, decoded for the window's rows */
	RowTests   *tests;			/* of a filtered stream, which is told of the range; or NULL */

	/* the merge's own; others may read them */
	int			from;			/* window: rows [from, to) of the batch */
	int			to;
	int			end;			/* rows of the batch that lie in the range */
	int			decoded;		/* rows of the batch passed to decode so far */
	bool		loaded;			/* a batch is current */
	bool		final;			/* the batch reaches past the range: the last one */
	bool		ended;			/* no batch will come */
	bool		exhausted;		/* the stream has none any more */
	int64		begins;			/* position of the range's first row, or of the first
								 * one behind it; -1: not known */
	bool		inside;			/* the range's lower bound has been found */

	/* for another range: see merge_return.c */
	bool		at_hand;		/* the stream's batch is there still, loaded or not */
	bool		spoiled;		/* ... but the vectors have other rows' values */
	bool		marked;			/* ... and its rows that are decoded are marked */
	int			decoded_from;	/* not marked: these and those up to "decoded" are */
	uint64	   *marks;
	bool		from_top;		/* the stream has been read from its top, else ... */
	KeyBound	sought;			/* ... from here on, perhaps with some rows before it */
	MemoryContext sought_context;
	bool		first;			/* the batch is the first since then */
	int64		floor;			/* exact keys: all rows with an image from here on are
								 * in the batch or behind it */
	int64		patience;		/* rows to be passed over before a seek is better */
	bool		placed;			/* the two below are set */
	int64		start_image;	/* of the first key read since open or seek, ... */
	int64		start_rows;		/* ... and the stream's rows_read before it */
} MergeInput;

/*
 * A window: rows 0 .. nrows-1 in key order.  Row r stands in slot[r] (r
 * itself where slot is NULL); position[i][slot] is the row in input i's
 * vectors, or -1 where input i lacks the key.  An exact key stands in
 * key[slot]; for another one key is NULL, ask outer_merge_key.  The positions
 * of an input without vectors may be missing (all -1).
 */
typedef struct MergeWindow
{
	int			nrows;
	const BatchRow *slot;
	BatchRow  **position;		/* [ninputs][slot] */
	const Datum *key;
} MergeWindow;

typedef struct OuterMerge OuterMerge;

/*
 * With an input that is required, only keys that all required inputs have make
 * rows.  Takes over the streams; allocates in the current context, and borrows key
 * and inputs.  batch_rows is the resources' of the streams.  memory_kb bounds
 * what a group of duplicates may hold before it spills.
 */
extern OuterMerge *outer_merge_create(const Key *key, int ninputs, MergeInput *inputs,
									  int batch_rows, int memory_kb);

/*
 * Start (again) on a range; NULL: everything.  Seeks every stream that does
 * not stand near the range's beginning, save when the merge is fresh and there
 * is no lower bound.  The range must stay valid.
 */
extern void outer_merge_start(OuterMerge *merge, const KeyRange *range);

/*
 * Go on with a range whose keys are all beyond those of the one before.
 * Streams that stand close to it are not sought; "follows" says that no key
 * lies between the two ranges, and the one before was read to its end.
 */
extern void outer_merge_advance(OuterMerge *merge, const KeyRange *range, bool follows);

/*
 * Of a range with bounds that was read to its end: where in its file an input's
 * first row is that is not before the lower bound, and where the first one that
 * is not before the upper one.  A position, INPUT_ENDS where there is no such
 * row, or -1 where none is known.
 */
#define INPUT_ENDS		PG_INT64_MAX

extern void outer_merge_places(const OuterMerge *merge, int input, int64 *begins, int64 *ends);

/*
 * The next window, never empty; NULL at the end.  Valid, with its vectors,
 * until the next call.
 */
extern const MergeWindow *outer_merge_next(OuterMerge *merge);

/*
 * Does every row of every input stand in just one row of the result?  Then a
 * window holds the rows [from, to) of every input.
 */
extern bool outer_merge_is_plain(const OuterMerge *merge);

/*
 * Nobody will look at the positions of a plain merge from now on, which spares
 * making them where that is worth it.
 */
extern void outer_merge_forgo_positions(OuterMerge *merge);

/* Where windows are handed out: the position arrays stay the same for the merge's life. */
extern const MergeWindow *outer_merge_window(const OuterMerge *merge);

/* A key column's value in row r of the current window: the first input's that has the key. */
extern Datum outer_merge_key(OuterMerge *merge, int row, int column);

extern void outer_merge_close(OuterMerge *merge);

#endif							/* OUTERJOIN_OUTER_MERGE_H */
