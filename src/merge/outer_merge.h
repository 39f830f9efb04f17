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

typedef enum StreamRole
{
	STREAM_OUTER,				/* its keys make rows, its values are read */
	STREAM_KEYS_ONLY,			/* its keys make rows, no value is asked for */
	STREAM_REQUIRED,			/* rows without its key cannot qualify */
	STREAM_LOOKED_UP,			/* values only, for rows that others make */
	STREAM_NOT_READ
} StreamRole;

/* Values of one field, indexed by position. */
typedef struct FieldVector
{
	int			field;			/* index into the stream's spec->fields */
	Datum	   *values;
	bool	   *isnull;
} FieldVector;

typedef struct MergeInput
{
	ColumnStream *stream;
	StreamRole	role;
	int			nvectors;
	FieldVector *vectors;		/* the wanted fields, decoded for the window's rows */

	/* private to the merge */
	int			from;			/* window: rows [from, to) of the batch */
	int			to;
	int			decoded;		/* rows of the batch decoded so far */
	bool		loaded;			/* a batch is current */
	bool		ended;			/* no batch will come (end, or past the range) */
	bool		in_range;		/* lower bound found already */
} MergeInput;

/*
 * A window: rows 0 .. nrows-1 in key order.  Row r stands in slot[r] (r
 * itself where slot is NULL); position[i][slot] is the row in input i's
 * vectors, or -1 where input i lacks the key.
 */
typedef struct MergeWindow
{
	int			nrows;
	const BatchRow *slot;
	BatchRow  **position;		/* [ninputs][slot] */
} MergeWindow;

typedef struct OuterMerge OuterMerge;

/*
 * Takes over the streams; allocates in the current context.  batch_rows is
 * the resources' of the streams.  memory_kb bounds what groups of duplicates
 * may hold before they spill.
 */
extern OuterMerge *outer_merge_create(const Key *key, int ninputs, MergeInput *inputs,
									  int batch_rows, int memory_kb);

/* Start (again) on a range; NULL: everything.  The range must stay valid. */
extern void outer_merge_start(OuterMerge *merge, const KeyRange *range);

/*
 * The next window, never empty; NULL at the end.  Valid, with its vectors,
 * until the next call.
 */
extern const MergeWindow *outer_merge_next(OuterMerge *merge);

/* A key column's value in row r of the current window: the first input's that has the key. */
extern Datum outer_merge_key(OuterMerge *merge, int row, int column);

extern int	outer_merge_ninputs(const OuterMerge *merge);
extern MergeInput *outer_merge_input(OuterMerge *merge, int input);
extern void outer_merge_close(OuterMerge *merge);

#endif							/* OUTERJOIN_OUTER_MERGE_H */
