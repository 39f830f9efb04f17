/*-------------------------------------------------------------------------
 *
 * filtered.c
 *	  A stream without the rows whose values fail a test.
 *
 * Stands on top of all other layers: duplicates have been treated, the order
 * has been checked, of every row.  A batch whose rows all fail is passed
 * over, so that the merge never sees it.  The fields that are tested are
 * decoded for the rows that have passed the tests before; the others when
 * they are asked for, for the rows that are left.
 *
 * Refuses to know what a test is.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"

#include "stream/filtered.h"

/* The values of a field that is tested, by base's rows. */
typedef struct TestedField
{
	bool		decoded;		/* those of the rows in hand are there */
	Datum	   *values;			/* [batch_rows]; NULL: no test is on the field */
	bool	   *isnull;
} TestedField;

typedef struct FilteredStream
{
	ColumnStream stream;
	ColumnStream *base;
	RowTests   *tests;
	TestedField *tested;		/* [nfields] */
	bool		inside;			/* the range's lower bound has been found */
	bool		ended;			/* the range's upper bound has been */
	bool		whole;			/* all rows of base's batch are left */
	BatchRow   *map;			/* [batch_rows] base's row of each row left */
	int64	   *image;
	Datum	  **key;

	/* for decoding by the map */
	BatchRow   *rows;
	Datum	   *values;
	bool	   *isnull;
} FilteredStream;

/* The rows of base's batch that lie in the range: [*from, *to). */
static void
batch_range(FilteredStream *filtered, int *from, int *to)
{
	const ColumnBatch *batch = &filtered->base->batch;
	const Key  *key = filtered->stream.key;
	const KeyRange *range = filtered->tests->range;

	*from = 0;
	*to = batch->nrows;
	if (range == NULL)
		return;
	if (range->has_lower && !filtered->inside)
	{
		*from = key_first_inside(key, batch, 0, batch->nrows, &range->lower);
		filtered->inside = *from < batch->nrows;
	}
	if (range->has_upper)
	{
		*to = key_first_beyond(key, batch, *from, batch->nrows, &range->upper);
		filtered->ended = *to < batch->nrows;
	}
}

/* Apply all tests to base's batch; returns how many rows are left, in map. */
static int
test_batch(FilteredStream *filtered)
{
	ColumnStream *base = filtered->base;
	RowTests   *tests = filtered->tests;
	const BatchRow *rows = NULL;
	int			nrows;
	int			first;
	int			end;

	batch_range(filtered, &first, &end);
	nrows = end - first;
	if (nrows < base->batch.nrows)
	{
		for (int r = 0; r < nrows; r++)
			filtered->map[r] = (BatchRow) (first + r);
		rows = filtered->map;
	}

	for (int f = 0; f < base->spec->nfields; f++)
		filtered->tested[f].decoded = false;
	for (int t = 0; t < tests->ntests && nrows > 0; t++)
	{
		int			field = tests->fields[t];
		TestedField *tested = &filtered->tested[field];

		if (!tested->decoded)
		{
			int			from = rows != NULL ? rows[0] : 0;
			int			to = rows != NULL ? rows[nrows - 1] + 1 : nrows;

			base->methods->decode(base, field, from, to, rows, nrows,
								  tested->values, tested->isnull);
			tested->decoded = true;
		}
		nrows = tests->pass(tests, t, tested->values, tested->isnull, rows, nrows, filtered->map);
		rows = filtered->map;
	}
	tests->removed += end - first - nrows;
	return nrows;
}

/* Bring the keys of the rows left together. */
static void
deliver(FilteredStream *filtered, int nrows)
{
	const ColumnBatch *from = &filtered->base->batch;
	ColumnBatch *batch = &filtered->stream.batch;

	batch->nrows = nrows;
	filtered->whole = nrows == from->nrows;
	if (filtered->whole)
	{
		batch->image = from->image;
		batch->key = from->key;
		return;
	}
	for (int r = 0; r < nrows; r++)
		filtered->image[r] = from->image[filtered->map[r]];
	batch->image = filtered->image;
	batch->key = filtered->key;
	if (filtered->key == NULL)
		return;
	for (int k = 0; k < filtered->stream.key->ncolumns; k++)
		for (int r = 0; r < nrows; r++)
			filtered->key[k][r] = from->key[k][filtered->map[r]];
}

static bool
filtered_next_batch(ColumnStream *stream)
{
	FilteredStream *filtered = (FilteredStream *) stream;

	stream->batch.nrows = 0;
	while (!filtered->tests->none && !filtered->ended && stream_next_batch(filtered->base))
	{
		int			nrows = test_batch(filtered);

		if (nrows > 0)
		{
			deliver(filtered, nrows);
			return true;
		}
		CHECK_FOR_INTERRUPTS();
	}
	return false;
}

static void
filtered_decode(ColumnStream *stream, int field, int from, int to,
				const BatchRow *rows, int nrows, Datum *values, bool *isnull)
{
	FilteredStream *filtered = (FilteredStream *) stream;
	ColumnStream *base = filtered->base;
	const TestedField *tested = &filtered->tested[field];
	const BatchRow *map = filtered->map;
	const Datum *base_values = filtered->values;
	const bool *base_isnull = filtered->isnull;
	int			n = rows != NULL ? nrows : to - from;

	if (n <= 0)
		return;
	if (filtered->whole && !tested->decoded)
	{
		base->methods->decode(base, field, from, to, rows, nrows, values, isnull);
		return;
	}
	if (filtered->whole && rows == NULL)
	{
		memcpy(values + from, tested->values + from, sizeof(Datum) * n);
		memcpy(isnull + from, tested->isnull + from, sizeof(bool) * n);
		return;
	}
	for (int i = 0; i < n; i++)
	{
		int			row = rows != NULL ? rows[i] : from + i;

		filtered->rows[i] = filtered->whole ? (BatchRow) row : map[row];
	}
	if (tested->decoded)
	{
		base_values = tested->values;
		base_isnull = tested->isnull;
	}
	else
		base->methods->decode(base, field, filtered->rows[0], filtered->rows[n - 1] + 1,
							  filtered->rows, n, filtered->values, filtered->isnull);
	for (int i = 0; i < n; i++)
	{
		int			row = rows != NULL ? rows[i] : from + i;

		values[row] = base_values[filtered->rows[i]];
		isnull[row] = base_isnull[filtered->rows[i]];
	}
}

static void
filtered_seek(ColumnStream *stream, const KeyBound *bound)
{
	FilteredStream *filtered = (FilteredStream *) stream;

	stream->batch.nrows = 0;
	filtered->inside = filtered->ended = false;
	stream_seek(filtered->base, bound);
}

static void
filtered_locate(ColumnStream *stream, int row, RowLocation *location)
{
	FilteredStream *filtered = (FilteredStream *) stream;
	ColumnStream *base = filtered->base;

	base->methods->locate(base, filtered->whole ? row : filtered->map[row], location);
}

static void
filtered_files(ColumnStream *stream, FileVisitor visit, void *state)
{
	stream_show_files(((FilteredStream *) stream)->base, visit, state);
}

static void
filtered_count(ColumnStream *stream, StreamCounters *counters)
{
	ColumnStream *base = ((FilteredStream *) stream)->base;

	base->methods->count(base, counters);
}

static void
filtered_close(ColumnStream *stream)
{
	ColumnStream *base = ((FilteredStream *) stream)->base;

	stream->batch.nrows = 0;
	base->methods->close(base);
}

static const ColumnStreamMethods filtered_methods = {
	.next_batch = filtered_next_batch,
	.decode = filtered_decode,
	.seek = filtered_seek,
	.locate = filtered_locate,
	.count = filtered_count,
	.files = filtered_files,
	.close = filtered_close,
};

ColumnStream *
filtered_open(ColumnStream *base, RowTests *tests, const StreamResources *resources)
{
	FilteredStream *filtered = palloc0(sizeof(FilteredStream));
	const Key  *key = base->key;
	int			n = resources->batch_rows;

	stream_init(&filtered->stream, &filtered_methods, base->spec, key, base->wanted);
	filtered->stream.can_seek = base->can_seek;
	filtered->base = base;
	filtered->tests = tests;
	filtered->tested = palloc0(sizeof(TestedField) * Max(base->spec->nfields, 1));
	for (int t = 0; t < tests->ntests; t++)
	{
		TestedField *tested = &filtered->tested[tests->fields[t]];

		if (tested->values != NULL)
			continue;
		tested->values = palloc(sizeof(Datum) * n);
		tested->isnull = palloc(sizeof(bool) * n);
	}
	filtered->map = palloc(sizeof(BatchRow) * n);
	filtered->rows = palloc(sizeof(BatchRow) * n);
	filtered->values = palloc(sizeof(Datum) * n);
	filtered->isnull = palloc(sizeof(bool) * n);
	filtered->image = palloc(sizeof(int64) * n);
	if (!key->exact)
	{
		filtered->key = palloc(sizeof(Datum *) * key->ncolumns);
		for (int k = 0; k < key->ncolumns; k++)
			filtered->key[k] = palloc(sizeof(Datum) * n);
	}
	return &filtered->stream;
}
