/*-------------------------------------------------------------------------
 *
 * backward.c
 *	  A file's rows from its end to its top.
 *
 * A format that can go back delivers earlier and earlier batches, each in the
 * file's order, under the file's own key.  Here each is turned round, under
 * the flipped key, so that to whoever is above this is a sorted stream like
 * any other.
 *
 *	file		1 2 3 4 5 6 7
 *	base		[5 6 7]  [3 4]  [1 2]
 *	delivered	[7 6 5]  [4 3]  [2 1]
 *
 * Keys are copied, values are turned round as they are decoded.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "stream/layers.h"

typedef struct BackwardStream
{
	ColumnStream stream;
	ColumnStream *base;
	int64	   *image;			/* [batch_rows], these in the batch */
	Datum	  **key;			/* [key column] */
	KeyBound	bound;			/* a seek's, as base's key has it */

	/* for decoding */
	BatchRow   *rows;
	Datum	   *values;
	bool	   *isnull;
} BackwardStream;

static void
turn_keys(BackwardStream *backward)
{
	const Key  *file_key = backward->base->key;
	const ColumnBatch *batch = &backward->base->batch;
	int			last = batch->nrows - 1;
	int64		flip = key_flip_image(file_key, 0);

	for (int i = 0; i <= last; i++)
		backward->image[i] = batch->image[last - i] ^ flip;
	if (file_key->exact)
		return;
	for (int c = 0; c < file_key->ncolumns; c++)
	{
		for (int i = 0; i <= last; i++)
			backward->key[c][i] = batch->key[c][last - i];
	}
}

static bool
backward_next_batch(ColumnStream *stream)
{
	BackwardStream *backward = (BackwardStream *) stream;
	ColumnStream *base = backward->base;

	stream->batch.nrows = 0;
	if (!base->methods->previous_batch(base))
		return false;
	turn_keys(backward);
	stream->batch.nrows = base->batch.nrows;
	stream->batch.image = backward->image;
	stream->batch.key = backward->key;
	return true;
}

static void
decode_listed(BackwardStream *backward, int field, const BatchRow *rows, int nrows,
			  Datum *values, bool *isnull)
{
	ColumnStream *base = backward->base;
	int			last = base->batch.nrows - 1;

	if (nrows == 0)
		return;
	for (int i = 0; i < nrows; i++)
		backward->rows[i] = (BatchRow) (last - rows[nrows - 1 - i]);
	base->methods->decode(base, field, backward->rows[0], backward->rows[nrows - 1] + 1,
						  backward->rows, nrows, backward->values, backward->isnull);
	for (int i = 0; i < nrows; i++)
	{
		values[rows[i]] = backward->values[last - rows[i]];
		isnull[rows[i]] = backward->isnull[last - rows[i]];
	}
}

static void
backward_decode(ColumnStream *stream, int field, int from, int to,
				const BatchRow *rows, int nrows, Datum *values, bool *isnull)
{
	BackwardStream *backward = (BackwardStream *) stream;
	int			last = backward->base->batch.nrows - 1;

	if (rows != NULL)
	{
		decode_listed(backward, field, rows, nrows, values, isnull);
		return;
	}
	if (from >= to)
		return;
	stream_decode(backward->base, field, last - to + 1, last - from + 1,
				  backward->values, backward->isnull);
	for (int row = from; row < to; row++)
	{
		values[row] = backward->values[last - row];
		isnull[row] = backward->isnull[last - row];
	}
}

static void
backward_seek(ColumnStream *stream, const KeyBound *bound)
{
	BackwardStream *backward = (BackwardStream *) stream;
	ColumnStream *base = backward->base;

	stream->batch.nrows = 0;
	if (bound != NULL)
	{
		backward->bound = *bound;
		backward->bound.image = key_flip_image(base->key, bound->image);
	}
	base->methods->seek_back(base, bound != NULL ? &backward->bound : NULL);
}

/* Row -1 is the one before the batch's first: in the file, the one behind its last. */
static void
backward_locate(ColumnStream *stream, int row, RowLocation *location)
{
	ColumnStream *base = ((BackwardStream *) stream)->base;

	base->methods->locate(base, base->batch.nrows - 1 - row, location);
}

static void
backward_count(ColumnStream *stream, StreamCounters *counters)
{
	ColumnStream *base = ((BackwardStream *) stream)->base;

	base->methods->count(base, counters);
}

static void
backward_close(ColumnStream *stream)
{
	ColumnStream *base = ((BackwardStream *) stream)->base;

	stream->batch.nrows = 0;
	base->methods->close(base);
}

static const ColumnStreamMethods backward_methods = {
	.next_batch = backward_next_batch,
	.decode = backward_decode,
	.seek = backward_seek,
	.locate = backward_locate,
	.count = backward_count,
	.close = backward_close,
};

ColumnStream *
backward_open(ColumnStream *base, const Key *key, const StreamResources *resources)
{
	BackwardStream *backward = palloc0(sizeof(BackwardStream));
	int			nrows = resources->batch_rows;

	Assert(base->can_go_back && base->key == resources->file_key);
	stream_init(&backward->stream, &backward_methods, base->spec, key, base->wanted);
	backward->stream.can_seek = base->can_seek;
	backward->stream.reversed = true;
	backward->base = base;
	backward->image = palloc(nrows * sizeof(int64));
	if (!key->exact)
	{
		backward->key = palloc(key->ncolumns * sizeof(Datum *));
		for (int i = 0; i < key->ncolumns; i++)
			backward->key[i] = palloc(nrows * sizeof(Datum));
	}
	backward->rows = palloc(nrows * sizeof(BatchRow));
	backward->values = palloc(nrows * sizeof(Datum));
	backward->isnull = palloc(nrows * sizeof(bool));
	return &backward->stream;
}
