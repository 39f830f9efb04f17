/*-------------------------------------------------------------------------
 *
 * outer_merge.c
 *	  The full outer join of N sorted streams, a window at a time.
 *
 * Where some inputs are required, see merge_required.c.  Else:
 *
 *	  next:
 *		every input that has used up its batch gets its next one
 *		limit := the smallest last key of all batches at hand
 *		choose how to join the rows up to the limit:
 *		  - exact keys that lie near each other: one slot per possible key
 *			(merge_dense.c)
 *		  - other keys: a linear minimum over few inputs, a loser tree over
 *			many (merge_sparse.c)
 *		  - one input far behind all others: its rows as they are
 *		  - keys that may repeat in a stream: products of groups
 *			(merge_repeats.c, group_product.c)
 *		decode the wanted fields of the rows that the window covers
 *
 * Up to the limit nothing can be missing: every input's later batches start
 * past it.  A window refers to one batch of each input, so nothing is copied.
 *
 * Streams come checked: ascending keys, no nulls, no repeats unless they are
 * wanted.  Refuses to know formats, files, and what the rows are for.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "merge/merge_internal.h"

/* A lone run shorter than this is left to the general algorithms. */
#define LONE_RUN_MIN 32

void
field_vector_init(FieldVector *vector, int field, int batch_rows)
{
	vector->field = field;
	vector->values = (Datum *) palloc0(sizeof(Datum) * (batch_rows + 1)) + 1;
	vector->isnull = (bool *) palloc(sizeof(bool) * (batch_rows + 1)) + 1;
	vector->values[-1] = (Datum) 0;
	vector->isnull[-1] = true;
}

static void
allocate_slots(OuterMerge *merge)
{
	merge->slots = palloc(sizeof(BatchRow) * merge->capacity);
	merge->absent = palloc(sizeof(BatchRow) * merge->capacity);
	if (merge->key->exact)
		merge->keys = palloc(sizeof(Datum) * merge->capacity);
	else
		merge->owner = palloc(sizeof(BatchRow) * merge->capacity);
}

static void
allocate_positions(OuterMerge *merge)
{
	size_t		capacity = merge->capacity;
	int			n = Max(merge->ninputs, 1);
	BatchRow   *positions = MemoryContextAllocHuge(merge->context, sizeof(BatchRow) * capacity * n);

	merge->window.position = palloc(sizeof(BatchRow *) * n);
	for (int i = 0; i < merge->ninputs; i++)
		merge->window.position[i] = positions + capacity * i;
}

/* What the algorithms note of each input. */
static void
allocate_places(OuterMerge *merge)
{
	int			n = Max(merge->ninputs, 1);

	merge->active = palloc(sizeof(int) * n);
	merge->tree = palloc(sizeof(int) * 2 * n);
	merge->leaf = palloc(sizeof(int) * n);
	merge->at = palloc(sizeof(int) * n);
	if (merge->repeats)
	{
		GroupCursor *cursor = &merge->cursor;

		cursor->input = palloc(sizeof(int) * n);
		cursor->first = palloc(sizeof(int) * n);
		cursor->count = palloc(sizeof(int) * n);
		cursor->index = palloc(sizeof(int) * n);
	}
}

OuterMerge *
outer_merge_create(const Key *key, int ninputs, MergeInput *inputs,
				   int batch_rows, int memory_kb)
{
	OuterMerge *merge = palloc0(sizeof(OuterMerge));
	bool		required = false;

	Assert(batch_rows > 0 && batch_rows <= MAX_BATCH_ROWS);
	merge->key = key;
	merge->ninputs = ninputs;
	merge->inputs = inputs;
	merge->batch_rows = batch_rows;
	merge->memory_kb = memory_kb;
	merge->context = CurrentMemoryContext;
	merge->fresh = true;
	for (int i = 0; i < ninputs; i++)
	{
		if (inputs[i].role != STREAM_NOT_READ &&
			inputs[i].stream->spec->duplicates == DUPLICATES_ALL)
			merge->repeats = true;
		required |= inputs[i].role == STREAM_REQUIRED;
	}

	/*
	 * Twice a batch, so that the union of streams that interleave still fits;
	 * a multiple of 16 so that whole vectors of positions can be written.
	 */
	merge->capacity = (int) TYPEALIGN(16, Min(batch_rows * 2, MAX_BATCH_ROWS));
	allocate_slots(merge);
	allocate_positions(merge);
	allocate_places(merge);
	if (required)
		merge->required = required_merge_create(merge);
	return merge;
}

/* Rows of equal keys that are still to be handed out are not. */
static void
merge_forget_group(OuterMerge *merge)
{
	if (merge->product)
		group_product_free(merge->product);
	merge->product = NULL;
	merge->cursor.active = false;
}

void
outer_merge_start(OuterMerge *merge, const KeyRange *range)
{
	const KeyBound *lower = range && range->has_lower ? &range->lower : NULL;

	merge_forget_group(merge);
	merge->range = range;
	for (int i = 0; i < merge->ninputs; i++)
	{
		MergeInput *input = &merge->inputs[i];

		if (input->tests)
			input->tests->range = range;
		if ((range && range->empty) || input->role == STREAM_NOT_READ)
		{
			merge_input_pause(merge, input);
			input->ended = true;
			input->loaded = input->final = false;
			input->from = input->to = input->end = input->decoded = 0;
			continue;
		}
		if (lower && merge->required == NULL && input->tests == NULL &&
			merge_input_return(merge, input, lower))
			continue;
		if (!merge->fresh || lower)
			stream_seek(input->stream, lower);
		merge_input_sought(merge, input, lower);
		input->from = input->to = input->end = input->decoded = 0;
		input->loaded = input->final = input->ended = input->exhausted = false;
		input->inside = lower == NULL;
		input->placed = false;
		input->begins = -1;
	}
	if (!(range && range->empty))
		merge->fresh = false;
}

/* Let the input end where the range does, if that is within the batch. */
void
merge_input_bound(const OuterMerge *merge, MergeInput *input)
{
	const ColumnBatch *batch = &input->stream->batch;
	const KeyRange *range = merge->range;

	if (!range || !range->has_upper)
		return;
	input->end = key_first_beyond(merge->key, batch, input->from, batch->nrows, &range->upper);
	input->final = input->end < batch->nrows;

	/* nothing follows the last key that there can be, unless it comes again */
	if (!input->final && merge->key->exact && !merge->repeats &&
		batch->image[batch->nrows - 1] == range->upper.image)
		input->final = true;
}

/* Does the row come before the bound? */
static bool
row_is_before(const Key *key, const ColumnBatch *batch, int row, const KeyBound *bound)
{
	int			order = key_compare_bound(key, batch, row, bound);

	return order < 0 || (order == 0 && !bound->inclusive);
}

/*
 * Have an input go on with a range beyond all rows that were taken of it.
 * False where it stands too far before it.
 */
static bool
merge_input_advance(const OuterMerge *merge, MergeInput *input, const KeyRange *range, bool follows)
{
	const ColumnBatch *batch = &input->stream->batch;

	if (input->exhausted)
	{
		input->begins = INPUT_ENDS;
		input->ended = true;
		input->loaded = false;
		return true;
	}
	if (batch->nrows == 0)
		return false;
	if (row_is_before(merge->key, batch, batch->nrows - 1, &range->lower))
	{
		if (!follows)
			return false;
		input->from = input->to = input->end = batch->nrows;
		input->loaded = input->final = input->ended = input->inside = false;
		return true;
	}
	/* what was passed over has not been decoded */
	input->spoiled = true;
	input->from = key_first_inside(merge->key, batch, 0, batch->nrows, &range->lower);
	input->begins = stream_position(input->stream, input->from);
	input->to = input->decoded = input->from;
	input->end = range->has_upper ?
		key_first_beyond(merge->key, batch, input->from, batch->nrows, &range->upper) : batch->nrows;
	input->final = input->end < batch->nrows;
	input->loaded = input->inside = true;
	input->ended = false;
	return true;
}

void
outer_merge_advance(OuterMerge *merge, const KeyRange *range, bool follows)
{
	/* streams that are required or looked up may stand anywhere */
	if (merge->fresh || range->empty || !range->has_lower || merge->required != NULL)
	{
		outer_merge_start(merge, range);
		return;
	}
	merge_forget_group(merge);
	merge->range = range;
	for (int i = 0; i < merge->ninputs; i++)
	{
		MergeInput *input = &merge->inputs[i];

		input->begins = -1;
		if (merge_input_advance(merge, input, range, follows))
			continue;
		stream_seek(input->stream, &range->lower);
		merge_input_sought(merge, input, &range->lower);
		input->from = input->to = input->end = input->decoded = 0;
		input->loaded = input->final = input->ended = input->exhausted = input->inside = false;
	}
}

/*
 * Make rows of the input available at input->from, fetching batches until one
 * has rows in the range.  False at the end.
 */
bool
merge_input_load(OuterMerge *merge, MergeInput *input)
{
	const KeyRange *range = merge->range;

	for (;;)
	{
		const ColumnBatch *batch = &input->stream->batch;

		if (input->ended)
			return false;
		if (input->loaded && input->from < input->end)
			return true;
		if (input->loaded && input->final)
			input->ended = true;
		input->loaded = false;
		if (input->ended)
			return false;

		CHECK_FOR_INTERRUPTS();
		merge_input_leave(merge, input);
		if (input->patience < 0)
		{
			stream_seek(input->stream, &range->lower);
			merge_input_sought(merge, input, &range->lower);
		}
		if (!stream_next_batch(input->stream))
		{
			input->ended = input->exhausted = true;
			if (!input->inside)
				input->begins = INPUT_ENDS;
			return false;
		}
		Assert(batch->nrows > 0 && batch->nrows <= merge->batch_rows);
		input->loaded = input->at_hand = true;
		input->from = input->to = input->decoded = 0;
		input->end = batch->nrows;
		if (!input->inside)
		{
			input->from = key_first_inside(merge->key, batch, 0, batch->nrows, &range->lower);
			input->inside = input->from < batch->nrows;
			if (input->inside)
				input->begins = stream_position(input->stream, input->from);
			input->to = input->decoded = input->from;
			if (!input->inside)
				input->patience -= batch->nrows;
		}
		input->decoded_from = input->decoded;
		if (input->from < input->end)
			merge_input_bound(merge, input);
	}
}

void
outer_merge_places(const OuterMerge *merge, int number, int64 *begins, int64 *ends)
{
	const MergeInput *input = &merge->inputs[number];

	*begins = *ends = -1;
	/* others need not have been read through */
	if (input->role != STREAM_OUTER && input->role != STREAM_KEYS_ONLY)
		return;
	*begins = input->begins;
	if (input->exhausted)
		*ends = INPUT_ENDS;
	else if (input->final && input->ended && input->end < input->stream->batch.nrows)
		*ends = stream_position(input->stream, input->end);
}

/* Load every input; collect those that have rows. */
static void
merge_load(OuterMerge *merge)
{
	merge->nactive = 0;
	for (int i = 0; i < merge->ninputs; i++)
	{
		MergeInput *input = &merge->inputs[i];

		input->from = input->to;
		if (merge_input_load(merge, input))
			merge->active[merge->nactive++] = i;
		input->to = input->from;
	}
}

/* The same where only groups with all required inputs count; false at the end. */
static bool
merge_next_batches(OuterMerge *merge)
{
	if (merge->required)
		return merge_required_load(merge);
	merge_load(merge);
	return merge->nactive > 0;
}

/* Positions of inputs that take no part in the window. */
static void
merge_absent(OuterMerge *merge, int input, int nslots)
{
	memset(merge->window.position[input], 0xff, sizeof(BatchRow) * nslots);
}

/*
 * Rows of one input, in order and with nothing beside them.
 */
static void
merge_lone_window(OuterMerge *merge, int lone, int nrows)
{
	MergeInput *input = &merge->inputs[lone];
	BatchRow   *position = merge->window.position[lone];
	int			from = input->from;

	for (int i = 0; i < merge->ninputs; i++)
		if (i != lone && merge->inputs[i].nvectors > 0)
			merge_absent(merge, i, nrows);
	for (int r = 0; r < nrows; r++)
		position[r] = (BatchRow) (from + r);
	if (merge->key->exact)
	{
		const int64 *image = input->stream->batch.image + from;
		int64		flip = merge->key->columns[0].descending ? -1 : 0;

		for (int r = 0; r < nrows; r++)
			merge->keys[r] = (Datum) (image[r] ^ flip);
	}
	else
	{
		for (int r = 0; r < nrows; r++)
			merge->owner[r] = (BatchRow) lone;
	}
	input->to = from + nrows;
	merge->window.slot = NULL;
	merge->window.nrows = nrows;
}

/* Does the current row of input i come before that of input j? */
static bool
input_is_before(const OuterMerge *merge, int i, int j)
{
	return key_compare(merge->key, &merge->inputs[i].stream->batch, merge->inputs[i].from,
					   &merge->inputs[j].stream->batch, merge->inputs[j].from) < 0;
}

/* The input that starts first, and the one that starts next; -1 if there is none. */
static void
merge_first_two(const OuterMerge *merge, int *first, int *next)
{
	*first = merge->active[0];
	*next = -1;
	for (int a = 1; a < merge->nactive; a++)
	{
		int			i = merge->active[a];

		if (input_is_before(merge, i, *first))
		{
			*next = *first;
			*first = i;
		}
		else if (*next < 0 || input_is_before(merge, i, *next))
			*next = i;
	}
}

/*
 * The first of the input's rows that is not before the other's current one,
 * near or far.  Its current row is.
 */
static int
gallop_to(const Key *key, const MergeInput *input, const MergeInput *other)
{
	const ColumnBatch *batch = &input->stream->batch;
	const ColumnBatch *limit = &other->stream->batch;
	int			before = input->from;
	int			step = LONE_RUN_MIN;

	while (before + step < input->end &&
		   key_compare(key, batch, before + step, limit, other->from) < 0)
	{
		before += step;
		step *= 2;
	}
	return key_first_not_before(key, batch, before + 1, Min(input->end, before + step),
								limit, other->from);
}

/*
 * Where one input's rows run on far before any other's, hand them out alone.
 * The input that starts first is "first"; returns the length of its run.
 */
static int
merge_lone_run(OuterMerge *merge, int *first)
{
	const Key  *key = merge->key;
	const MergeInput *input;
	const MergeInput *other;
	int			next;
	int			end;

	merge_first_two(merge, first, &next);
	input = &merge->inputs[*first];
	if (next < 0)
		end = input->end;
	else
	{
		/* most of the time the answer is "no run" */
		other = &merge->inputs[next];
		if (input->end - input->from <= LONE_RUN_MIN ||
			key_compare(key, &input->stream->batch, input->from + LONE_RUN_MIN,
						&other->stream->batch, other->from) >= 0)
			return 0;
		end = gallop_to(key, input, other);
	}
	return Min(end - input->from, merge->capacity);
}

/* The input whose batch ends first; its last key is the window's limit. */
static int
merge_limit(OuterMerge *merge)
{
	int			limit = merge->active[0];

	for (int a = 1; a < merge->nactive; a++)
	{
		MergeInput *input = &merge->inputs[merge->active[a]];
		MergeInput *best = &merge->inputs[limit];

		if (key_compare(merge->key, &input->stream->batch, input->end - 1,
						&best->stream->batch, best->end - 1) < 0)
			limit = merge->active[a];
	}
	return limit;
}

static void
merge_window(OuterMerge *merge)
{
	int			lone;
	int			run;

	if (merge->repeats)
	{
		merge_repeats_window(merge);
		return;
	}

	run = merge_lone_run(merge, &lone);
	if (run > 0)
		merge_lone_window(merge, lone, run);
	else
	{
		int			limit = merge_limit(merge);
		MergeInput *input = &merge->inputs[limit];

		if (merge->key->exact)
		{
			int64		low = merge->inputs[lone].stream->batch.image[merge->inputs[lone].from];
			int64		high = input->stream->batch.image[input->end - 1];

			if (merge_window_is_dense(merge, low, high))
				merge_dense_window(merge, low, high);
			else
				merge_sparse_exact(merge, high);
		}
		else
			merge_sparse_tree(merge, limit);
	}
}

/* Decode the wanted fields of the input's rows up to "to". */
void
merge_input_decode(MergeInput *input)
{
	if (input->to <= input->decoded)
		return;
	if (input->marked)
	{
		merge_input_decode_unmarked(input);
		return;
	}
	for (int v = 0; v < input->nvectors; v++)
	{
		FieldVector *vector = &input->vectors[v];

		stream_decode(input->stream, vector->field, input->decoded, input->to,
					  vector->values, vector->isnull);
	}
	input->decoded = input->to;
}

const MergeWindow *
outer_merge_next(OuterMerge *merge)
{
	MergeWindow *window = &merge->window;

	CHECK_FOR_INTERRUPTS();
	window->key = merge->keys;
	if (merge->product)
	{
		if (group_product_next(merge->product, merge))
			return window;
		group_product_free(merge->product);
		merge->product = NULL;
	}
	if (merge->required && !merge->repeats)
		return merge_required_next(merge);
	do
	{
		CHECK_FOR_INTERRUPTS();
		if (!merge->cursor.active && !merge_next_batches(merge))
			return NULL;
		merge_window(merge);
	} while (merge->product == NULL && window->nrows == 0);
	if (merge->product == NULL)
		for (int a = 0; a < merge->nactive; a++)
			merge_input_decode(&merge->inputs[merge->active[a]]);
	Assert(window->nrows > 0);
	return window;
}

bool
outer_merge_is_plain(const OuterMerge *merge)
{
	return !merge->repeats && merge->required == NULL;
}

void
outer_merge_forgo_positions(OuterMerge *merge)
{
	Assert(outer_merge_is_plain(merge));
	merge->placeless = true;
}

const MergeWindow *
outer_merge_window(const OuterMerge *merge)
{
	return &merge->window;
}

Datum
outer_merge_key(OuterMerge *merge, int row, int column)
{
	int			slot = merge->window.slot ? merge->window.slot[row] : row;
	int			owner;

	if (merge->product)
		return group_product_key(merge->product, merge, row, column);
	if (merge->key->exact)
		return merge->keys[slot];
	owner = merge->owner[slot];
	return key_datum(merge->key, &merge->inputs[owner].stream->batch,
					 merge->window.position[owner][slot], column);
}

void
outer_merge_close(OuterMerge *merge)
{
	merge_forget_group(merge);
	for (int i = 0; i < merge->ninputs; i++)
	{
		ColumnStream *stream = merge->inputs[i].stream;

		if (stream)
			stream->methods->close(stream);
	}
}
