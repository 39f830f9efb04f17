/*-------------------------------------------------------------------------
 *
 * merge_return.c
 *	  Starting on another range from where the inputs stand.
 *
 * A merge that is started again and again, for one row of another table after
 * the other, finds many of its ranges in the batches that it has already, or
 * not far behind them:
 *
 *	batch at hand		 | 40 45 51 ... 97 99 |
 *	from 45 on			 back within the batch, nothing is read
 *	from 97 on			 forward within it, what lies between is not decoded
 *	from 110 on			 the next batch is sooner read than sought
 *	from 7, from 5000 on a seek
 *
 * What lies before the bound that the stream was sought for last may be in the
 * batch in part only, and is not found there.
 *
 * Where rows are dropped early, or some inputs only followed by others, every
 * range is sought.
 *
 * Rows of the batch that have been decoded stay so: they are marked, since the
 * ranges may lie anywhere in it.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "utils/memutils.h"

#include "merge/merge_internal.h"
#include "stream/key_row.h"

#define MARK_BITS	64

/* The least image that satisfies a lower bound of an exact key. */
static int64
bound_floor(const KeyBound *lower)
{
	return lower->inclusive || lower->image == PG_INT64_MAX ? lower->image : lower->image + 1;
}

/* Keep what the stream is sought for; the caller's own does not last. */
static void
keep_sought(const OuterMerge *merge, MergeInput *input, const KeyBound *lower)
{
	const Key  *key = merge->key;
	Datum	   *values = input->sought.values;

	if (values == NULL)
		values = MemoryContextAlloc(merge->context, sizeof(Datum) * key->ncolumns);
	if (input->sought_context != NULL)
		MemoryContextReset(input->sought_context);
	else if (!key->exact)
		input->sought_context = AllocSetContextCreate(merge->context, "outerjoin_fdw sought key",
													  ALLOCSET_SMALL_SIZES);
	input->sought = *lower;
	input->sought.values = values;
	for (int k = 0; k < lower->ncolumns; k++)
		values[k] = key->columns[k].typbyval ? lower->values[k] :
			datum_keep(input->sought_context, lower->values[k], key->columns[k].typlen);
}

/* The stream has been sought: rows from the bound on (NULL: all) are yet to come. */
void
merge_input_sought(const OuterMerge *merge, MergeInput *input, const KeyBound *lower)
{
	input->at_hand = false;
	input->from_top = lower == NULL;
	if (lower != NULL)
		keep_sought(merge, input, lower);
	input->first = true;
	input->floor = lower == NULL ? PG_INT64_MIN : bound_floor(lower);
	input->patience = PG_INT64_MAX;
}

/* The batch at hand is about to be given up for the next one. */
void
merge_input_leave(const OuterMerge *merge, MergeInput *input)
{
	const ColumnBatch *batch = &input->stream->batch;

	if (input->at_hand && batch->nrows > 0)
	{
		input->first = false;
		if (merge->key->exact && batch->image[batch->nrows - 1] < PG_INT64_MAX)
			input->floor = Max(input->floor, batch->image[batch->nrows - 1] + 1);
	}
	input->at_hand = false;
	input->marked = false;
	input->spoiled = false;
}

/* Is every row within the bound also within the one that the stream was sought for? */
static bool
bound_was_sought(const Key *key, const MergeInput *input, const KeyBound *lower)
{
	const KeyBound *sought = &input->sought;

	if (input->from_top)
		return true;
	for (int k = 0; k < Min(lower->ncolumns, sought->ncolumns); k++)
	{
		int			order = key_compare_column(&key->columns[k], lower->values[k], sought->values[k]);

		if (order != 0)
			return order > 0;
	}
	if (sought->ncolumns > lower->ncolumns)
		return !lower->inclusive;
	return sought->inclusive || (sought->ncolumns == lower->ncolumns && !lower->inclusive);
}

/*
 * The batch's first row is within the bound, which was sought: is there none
 * before the batch that is?
 */
static bool
begins_in_batch(const OuterMerge *merge, const MergeInput *input, const KeyBound *lower)
{
	if (input->first)
		return true;
	if (merge->key->exact)
		return bound_floor(lower) >= input->floor;

	/* where no key comes twice, this one does not stand before itself */
	return lower->inclusive && lower->ncolumns == merge->key->ncolumns && !merge->repeats &&
		key_compare_bound(merge->key, &input->stream->batch, 0, lower) == 0;
}

/*
 * How many rows behind the batch the bound may lie, if they lie as densely as
 * those of the batch.
 */
static double
rows_ahead(const ColumnBatch *batch, const KeyBound *lower)
{
	int64		last = batch->image[batch->nrows - 1];
	double		span = (double) last - (double) batch->image[0];
	double		gap = (double) lower->image - (double) last;

	if (span > 0)
		return gap * (batch->nrows - 1) / span;
	return batch->nrows == 1 ? gap : HUGE_VAL;
}

static void
mark_rows(MergeInput *input, int from, int to)
{
	for (int row = from; row < to; row++)
		input->marks[row / MARK_BITS] |= UINT64CONST(1) << (row % MARK_BITS);
}

static bool
row_is_marked(const MergeInput *input, int row)
{
	return (input->marks[row / MARK_BITS] >> (row % MARK_BITS)) & 1;
}

/* Note which rows of the batch have been decoded. */
static void
mark_batch(OuterMerge *merge, MergeInput *input)
{
	size_t		words = (merge->batch_rows + MARK_BITS - 1) / MARK_BITS;

	if (input->marked || input->nvectors == 0)
		return;
	if (input->marks == NULL)
		input->marks = MemoryContextAlloc(merge->context, words * sizeof(uint64));
	memset(input->marks, 0, words * sizeof(uint64));
	mark_rows(input, input->decoded_from, input->decoded);
	input->marked = true;
}

/* A range without rows: the batch at hand is kept for the one after it. */
void
merge_input_pause(OuterMerge *merge, MergeInput *input)
{
	if (input->at_hand)
		mark_batch(merge, input);
}

/*
 * Go to where the bound lies in the batch at hand, or prepare for reading on
 * to it.  False: it has to be sought.
 */
bool
merge_input_return(OuterMerge *merge, MergeInput *input, const KeyBound *lower)
{
	const ColumnBatch *batch = &input->stream->batch;
	int			row;

	if (!input->at_hand || input->spoiled || !bound_was_sought(merge->key, input, lower))
		return false;
	row = key_first_inside(merge->key, batch, 0, batch->nrows, lower);
	if (row == 0 && !begins_in_batch(merge, input, lower))
		return false;
	if (row == batch->nrows)
	{
		if (rows_ahead(batch, lower) > input->stream->seek_rows)
			return false;
		input->patience = (int64) (2 * input->stream->seek_rows);
	}
	mark_batch(merge, input);
	input->from = input->to = input->decoded = row;
	input->loaded = true;
	input->ended = input->final = input->exhausted = false;
	input->begins = -1;
	input->inside = row < batch->nrows;
	input->end = batch->nrows;
	if (input->inside)
		merge_input_bound(merge, input);
	return true;
}

/* Decode those of the wanted fields' rows [decoded, to) that have not been. */
void
merge_input_decode_unmarked(MergeInput *input)
{
	int			from = input->decoded;

	while (from < input->to)
	{
		int			to = from;

		while (to < input->to && !row_is_marked(input, to))
			to++;
		if (to == from)
		{
			from++;
			continue;
		}
		for (int v = 0; v < input->nvectors; v++)
		{
			FieldVector *vector = &input->vectors[v];

			stream_decode(input->stream, vector->field, from, to, vector->values, vector->isnull);
		}
		mark_rows(input, from, to);
		from = to;
	}
	input->decoded = input->to;
}
