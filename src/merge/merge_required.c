/*-------------------------------------------------------------------------
 *
 * merge_required.c
 *	  Windows of keys that all required inputs have.
 *
 *	  next:
 *		bring the required inputs to where their batches overlap: whoever ends
 *			before another one's current key goes on to that key, over batches
 *			that are near, by a seek where they are far
 *		in the overlap: each row of the shortest one (the driver) finds its
 *			partners in the others; rows that lack one are dropped
 *		each input that is looked up goes on to the first row left; where its
 *			batch ends before the last one the window ends as well
 *		decode what the rows left refer to, and no more
 *
 * Partners are found by whatever the rows' number and distance suggest: a
 * table of row numbers by key, a merge without a branch that depends on the
 * data, or a galloping search.
 *
 * An input that is only looked up is not even read while there is nothing to
 * look up.
 *
 * Where a key may repeat in a stream, only the way to the overlap is this
 * one; the groups are merge_repeats.c's.
 *
 * Refuses to know why an input is required.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"

#include "merge/merge_internal.h"

/* Keys that a table of row numbers spans at most, and how many of them for each row. */
#define TABLE_SLOTS			32768
#define TABLE_SLOTS_PER_ROW	16

/* A search by galloping pays where a partner's rows are so many times the driver's. */
#define GALLOP_RATIO		8

/* A seek costs about as much as reading so many batches does. */
#define SEEK_BATCHES		4

/* Rows are decoded one by one where so many times more would be in between. */
#define DECODE_RATIO		4

struct RequiredMerge
{
	int			nrequired;
	int		   *required;		/* inputs, ascending */
	int			nlooked;
	int		   *looked;			/* inputs, ascending */
	int64	   *image;			/* [capacity]: exact keys of the window's rows */
	BatchRow   *table;			/* [TABLE_SLOTS], likewise */
	BatchRow   *rows;			/* [capacity] */
	Datum	   *bound;			/* [key column] values to seek to */
	int			driver;			/* input whose rows the window's are */
};

RequiredMerge *
required_merge_create(const OuterMerge *merge)
{
	RequiredMerge *required = palloc0(sizeof(RequiredMerge));
	int			n = Max(merge->ninputs, 1);

	required->required = palloc(sizeof(int) * n);
	required->looked = palloc(sizeof(int) * n);
	for (int i = 0; i < merge->ninputs; i++)
	{
		if (merge->inputs[i].role == STREAM_REQUIRED)
			required->required[required->nrequired++] = i;
		else if (merge->inputs[i].role != STREAM_NOT_READ)
			required->looked[required->nlooked++] = i;
	}
	Assert(required->nrequired > 0);
	if (merge->key->exact)
	{
		required->image = palloc(sizeof(int64) * merge->capacity);
		required->table = palloc(sizeof(BatchRow) * TABLE_SLOTS);
	}
	required->rows = palloc(sizeof(BatchRow) * merge->capacity);
	required->bound = palloc(sizeof(Datum) * merge->key->ncolumns);
	return required;
}

/* ------------------------------------------------------------ going on to a key */

static int64
input_rows_read(const MergeInput *input)
{
	StreamCounters counters = {0};

	input->stream->methods->count(input->stream, &counters);
	return counters.rows_read;
}

/*
 * Is the target so far behind the batch at hand, which ends before it, that a
 * seek is cheaper than reading on?  How densely the stream's keys lie says so;
 * and where that deceives (or keys say nothing of distance), how many rows have
 * been passed over since rows_before.
 */
static bool
seek_pays(const OuterMerge *merge, const MergeInput *input, int64 target, int64 rows_before)
{
	const ColumnBatch *batch = &input->stream->batch;
	int64		last = batch->image[batch->nrows - 1];
	double		span = (double) last - (double) input->start_image;
	double		distance = (double) target - (double) last;
	int64		far = (int64) SEEK_BATCHES * merge->batch_rows;
	int64		rows = input_rows_read(input);

	if (rows - rows_before >= far)
		return true;
	return span > 0 && distance / span * (double) (rows - input->start_rows) > (double) far;
}

static void
input_seek(OuterMerge *merge, MergeInput *input, const ColumnBatch *target, int row)
{
	KeyBound	bound = {0};

	bound.ncolumns = merge->key->ncolumns;
	bound.inclusive = true;
	bound.values = merge->required->bound;
	for (int k = 0; k < bound.ncolumns; k++)
		bound.values[k] = key_datum(merge->key, target, row, k);
	bound.image = target->image[row];
	stream_seek(input->stream, &bound);
	input->at_hand = false;
	input->loaded = input->final = false;
	input->from = input->to = input->end = input->decoded = 0;
	input->placed = false;
}

/* The first of the input's rows, from its current one on, that is not before the target. */
static int
gallop(const Key *key, const MergeInput *input, const ColumnBatch *target, int row)
{
	const ColumnBatch *batch = &input->stream->batch;
	int			from = input->from;
	int			step = 1;

	while (from + step <= input->end &&
		   key_compare(key, batch, from + step - 1, target, row) < 0)
	{
		from += step;
		step *= 2;
	}
	return key_first_not_before(key, batch, from, Min(input->end, from + step), target, row);
}

/* Does the batch at hand reach as far as the target? */
static bool
input_reaches(const OuterMerge *merge, const MergeInput *input, const ColumnBatch *target, int row)
{
	return key_compare(merge->key, &input->stream->batch, input->end - 1, target, row) >= 0;
}

/* Make rows available at input->from; false at the end. */
static bool
input_load(OuterMerge *merge, MergeInput *input)
{
	if (!merge_input_load(merge, input))
		return false;
	if (!input->placed)
	{
		const ColumnBatch *batch = &input->stream->batch;

		input->placed = true;
		input->start_image = batch->image[0];
		input->start_rows = input_rows_read(input) - batch->nrows;
	}
	return true;
}

/*
 * Go on to the input's first row that is not before the target, a row of
 * another input's batch.  False if there is none.
 */
static bool
input_advance(OuterMerge *merge, MergeInput *input, const ColumnBatch *target, int row)
{
	bool		may_seek = input->stream->can_seek;
	int64		rows_before = -1;

	while (input_load(merge, input))
	{
		if (input_reaches(merge, input, target, row))
		{
			input->from = gallop(merge->key, input, target, row);
			input->to = input->from;
			return true;
		}
		if (may_seek && rows_before < 0)
			rows_before = input_rows_read(input);
		if (may_seek && !input->final && seek_pays(merge, input, target->image[row], rows_before))
		{
			input_seek(merge, input, target, row);
			/* if what comes is before the target still, so be it */
			may_seek = false;
		}
		else
			input->from = input->to = input->end;
	}
	return false;
}

/*
 * Bring all required inputs to where their batches overlap, their current rows
 * not before the greatest of them.  False when one has no more rows.
 */
static bool
required_align(OuterMerge *merge)
{
	RequiredMerge *required = merge->required;
	const ColumnBatch *lead;
	int			leader;
	int			row;
	bool		moved;

	for (int r = 0; r < required->nrequired; r++)
		if (!input_load(merge, &merge->inputs[required->required[r]]))
			return false;
	do
	{
		leader = required->required[0];
		for (int r = 1; r < required->nrequired; r++)
		{
			const MergeInput *input = &merge->inputs[required->required[r]];

			if (key_compare(merge->key, &input->stream->batch, input->from,
							&merge->inputs[leader].stream->batch, merge->inputs[leader].from) > 0)
				leader = required->required[r];
		}
		lead = &merge->inputs[leader].stream->batch;
		row = merge->inputs[leader].from;
		moved = false;
		for (int r = 0; r < required->nrequired; r++)
		{
			MergeInput *input = &merge->inputs[required->required[r]];

			if (required->required[r] == leader || input_reaches(merge, input, lead, row))
				continue;
			if (!input_advance(merge, input, lead, row))
				return false;
			moved = true;
		}
	} while (moved);

	for (int r = 0; r < required->nrequired; r++)
	{
		MergeInput *input = &merge->inputs[required->required[r]];

		if (required->required[r] != leader)
			input->from = gallop(merge->key, input, lead, row);
		input->to = input->from;
	}
	required->driver = leader;
	return true;
}

/*
 * For merge_repeats.c: all inputs at or behind the first key that can have a
 * group with every required input, those with rows left collected.  False at
 * the end.
 */
bool
merge_required_load(OuterMerge *merge)
{
	const RequiredMerge *required = merge->required;

	for (int i = 0; i < merge->ninputs; i++)
		merge->inputs[i].from = merge->inputs[i].to;
	if (!required_align(merge))
		return false;
	merge->nactive = 0;
	for (int i = 0; i < merge->ninputs; i++)
	{
		MergeInput *input = &merge->inputs[i];
		const MergeInput *lead = &merge->inputs[required->driver];

		if (input->role == STREAM_NOT_READ)
			continue;
		if (input->role == STREAM_REQUIRED ||
			input_advance(merge, input, &lead->stream->batch, lead->from))
			merge->active[merge->nactive++] = i;
		input->to = input->from;
		input->decoded = Max(input->decoded, input->from);
	}
	return true;
}

/* Does the group have a side of each required input? */
bool
merge_required_group(const OuterMerge *merge, const GroupCursor *group)
{
	int			n = 0;

	for (int s = 0; s < group->nsides; s++)
		n += merge->inputs[group->input[s]].role == STREAM_REQUIRED;
	return n == merge->required->nrequired;
}

/* ------------------------------------------------------------ finding partners */

/* The first row in [from, to) whose image is not before the bound. */
static int
image_first(const int64 *image, int from, int to, int64 bound)
{
	while (from < to)
	{
		int			middle = from + (to - from) / 2;

		if (image[middle] < bound)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

/* By a table of the input's rows, whose keys are all within those of the window. */
static void
partners_by_table(BatchRow *table, const int64 *window, int n,
				  const int64 *image, int from, int to, BatchRow *position)
{
	uint64		low = (uint64) window[0];

	memset(table, 0xff, sizeof(BatchRow) * ((uint64) window[n - 1] - low + 1));
	for (int r = from; r < to; r++)
		table[(uint64) image[r] - low] = (BatchRow) r;
	for (int k = 0; k < n; k++)
		position[k] = table[(uint64) window[k] - low];
}

/* Two sorted lists side by side. */
static void
partners_by_merge(const int64 *window, int n, const int64 *image, int from, int to,
				  BatchRow *position)
{
	int			k = 0;
	int			r = from;

	while (k < n && r < to)
	{
		int64		wanted = window[k];
		int64		found = image[r];

		position[k] = (BatchRow) (wanted == found ? r : -1);
		k += wanted <= found;
		r += found <= wanted;
	}
	for (; k < n; k++)
		position[k] = -1;
}

static void
partners_by_gallop(const int64 *window, int n, const int64 *image, int from, int to,
				   BatchRow *position)
{
	int			r = from;

	for (int k = 0; k < n; k++)
	{
		int64		wanted = window[k];
		int			step = 1;

		while (r + step <= to && image[r + step - 1] < wanted)
		{
			r += step;
			step *= 2;
		}
		r = image_first(image, r, Min(to, r + step), wanted);
		position[k] = (BatchRow) (r < to && image[r] == wanted ? r : -1);
	}
}

/* Exact keys: rows [from, to) of an input as partners of the window's n rows. */
static void
partners_exact(const RequiredMerge *required, int n, const int64 *image, int from, int to,
			   BatchRow *position)
{
	const int64 *window = required->image;
	uint64		span = (uint64) window[n - 1] - (uint64) window[0];

	from = image_first(image, from, to, window[0]);
	if (from < to && image[to - 1] > window[n - 1])
		to = image_first(image, from, to, window[n - 1] + 1);
	if ((to - from) / GALLOP_RATIO > n)
		partners_by_gallop(window, n, image, from, to, position);
	else if (span < TABLE_SLOTS && span / TABLE_SLOTS_PER_ROW < (uint64) (n + to - from))
		partners_by_table(required->table, window, n, image, from, to, position);
	else
		partners_by_merge(window, n, image, from, to, position);
}

/* Any key: the same, the window's rows being "rows" of the driver's batch. */
static void
partners_compared(const Key *key, const ColumnBatch *driver, const BatchRow *rows, int n,
				  const MergeInput *input, int to, BatchRow *position)
{
	MergeInput	at = *input;

	at.end = to;
	for (int k = 0; k < n; k++)
	{
		at.from = gallop(key, &at, driver, rows[k]);
		position[k] = (BatchRow) (at.from < to &&
								  key_compare(key, &at.stream->batch, at.from, driver, rows[k]) == 0 ?
								  at.from : -1);
	}
}

/* Rows of the input up to "to" as partners of the window's n rows. */
static void
find_partners(OuterMerge *merge, int input_number, int to, int n)
{
	const RequiredMerge *required = merge->required;
	MergeInput *input = &merge->inputs[input_number];
	BatchRow   *position = merge->window.position[input_number];

	if (merge->key->exact)
		partners_exact(required, n, input->stream->batch.image, input->from, to, position);
	else
		partners_compared(merge->key, &merge->inputs[required->driver].stream->batch,
						  merge->window.position[required->driver], n, input, to, position);
}

/* ------------------------------------------------------------ the window */

/*
 * Set every required input's "to" behind its rows of the overlap, and make the
 * one with the fewest of them the driver.  Returns how many these are.
 */
static int
required_overlap(OuterMerge *merge)
{
	RequiredMerge *required = merge->required;
	const MergeInput *limit = &merge->inputs[required->required[0]];
	int			fewest = PG_INT32_MAX;

	for (int r = 1; r < required->nrequired; r++)
	{
		const MergeInput *input = &merge->inputs[required->required[r]];

		if (key_compare(merge->key, &input->stream->batch, input->end - 1,
						&limit->stream->batch, limit->end - 1) < 0)
			limit = input;
	}
	for (int r = 0; r < required->nrequired; r++)
	{
		MergeInput *input = &merge->inputs[required->required[r]];
		const ColumnBatch *batch = &input->stream->batch;

		if (input == limit)
			input->to = input->end;
		else
		{
			input->to = key_first_not_before(merge->key, batch, input->from, input->end,
											 &limit->stream->batch, limit->end - 1);
			if (input->to < input->end &&
				key_compare(merge->key, batch, input->to,
							&limit->stream->batch, limit->end - 1) == 0)
				input->to++;
		}
		if (input->to - input->from < fewest)
		{
			fewest = input->to - input->from;
			required->driver = required->required[r];
		}
	}
	Assert(fewest <= merge->capacity);
	return fewest;
}

/* Keep those of the window's n rows that every required input has. */
static int
drop_lonely(OuterMerge *merge, int n)
{
	const RequiredMerge *required = merge->required;
	BatchRow   *absent = merge->absent;
	BatchRow   *kept = required->rows;
	int			count = 0;

	memset(absent, 0, sizeof(BatchRow) * n);
	for (int r = 0; r < required->nrequired; r++)
	{
		const BatchRow *position = merge->window.position[required->required[r]];

		if (required->required[r] == required->driver)
			continue;
		for (int k = 0; k < n; k++)
			absent[k] |= position[k];
	}
	for (int k = 0; k < n; k++)
	{
		kept[count] = (BatchRow) k;
		count += absent[k] >= 0;
	}
	if (count == n)
		return n;
	for (int r = 0; r < required->nrequired; r++)
	{
		BatchRow   *position = merge->window.position[required->required[r]];

		for (int k = 0; k < count; k++)
			position[k] = position[kept[k]];
	}
	if (merge->key->exact)
		for (int k = 0; k < count; k++)
			required->image[k] = required->image[kept[k]];
	return count;
}

/* The overlap's rows that every required input has. */
static int
required_rows(OuterMerge *merge)
{
	RequiredMerge *required = merge->required;
	int			n = required_overlap(merge);
	MergeInput *driver = &merge->inputs[required->driver];
	BatchRow   *position = merge->window.position[required->driver];

	if (n == 0)
		return 0;
	for (int k = 0; k < n; k++)
		position[k] = (BatchRow) (driver->from + k);
	if (merge->key->exact)
		memcpy(required->image, driver->stream->batch.image + driver->from, sizeof(int64) * n);
	if (required->nrequired == 1)
		return n;
	for (int r = 0; r < required->nrequired; r++)
	{
		int			i = required->required[r];

		if (i != required->driver)
			find_partners(merge, i, merge->inputs[i].to, n);
	}
	return drop_lonely(merge, n);
}

/* How many of the window's n rows are not past the last row of the input's batch. */
static int
rows_within(const OuterMerge *merge, const MergeInput *input, int n)
{
	const RequiredMerge *required = merge->required;
	const ColumnBatch *driver = &merge->inputs[required->driver].stream->batch;
	const BatchRow *rows = merge->window.position[required->driver];
	int			low = 0;

	if (input->final || input_reaches(merge, input, driver, rows[n - 1]))
		return n;
	while (low < n)
	{
		int			middle = low + (n - low) / 2;

		if (input_reaches(merge, input, driver, rows[middle]))
			low = middle + 1;
		else
			n = middle;
	}
	return low;
}

/*
 * Bring the inputs that are looked up to the window's n rows.  Returns how
 * many of these their batches suffice for.
 */
static int
looked_up_advance(OuterMerge *merge, int n)
{
	const RequiredMerge *required = merge->required;
	const ColumnBatch *driver = &merge->inputs[required->driver].stream->batch;
	int			first = merge->window.position[required->driver][0];
	int			all = n;

	for (int l = 0; l < required->nlooked; l++)
	{
		MergeInput *input = &merge->inputs[required->looked[l]];

		if (input_advance(merge, input, driver, first))
			n = rows_within(merge, input, n);
	}
	Assert(n > 0);
	if (n < all)
	{
		for (int r = 0; r < required->nrequired; r++)
		{
			int			i = required->required[r];

			merge->inputs[i].to = merge->window.position[i][n - 1] + 1;
		}
	}
	return n;
}

static void
look_up(OuterMerge *merge, int n)
{
	const RequiredMerge *required = merge->required;

	for (int l = 0; l < required->nlooked; l++)
	{
		int			i = required->looked[l];

		if (merge->inputs[i].ended)
			memset(merge->window.position[i], 0xff, sizeof(BatchRow) * n);
		else
			find_partners(merge, i, merge->inputs[i].end, n);
	}
}

/* The keys of the window, or whose they are. */
static void
window_keys(OuterMerge *merge, int n)
{
	const RequiredMerge *required = merge->required;

	if (merge->key->exact)
	{
		int64		flip = merge->key->columns[0].descending ? -1 : 0;

		for (int k = 0; k < n; k++)
			merge->keys[k] = (Datum) (required->image[k] ^ flip);
		return;
	}
	for (int k = 0; k < n; k++)
		merge->owner[k] = (BatchRow) required->required[0];
	for (int l = required->nlooked - 1; l >= 0; l--)
	{
		int			i = required->looked[l];
		const BatchRow *position = merge->window.position[i];

		if (i > required->required[0])
			continue;
		for (int k = 0; k < n; k++)
			merge->owner[k] = position[k] >= 0 ? (BatchRow) i : merge->owner[k];
	}
}

/* Decode the wanted fields of the rows that the window refers to. */
static void
decode_partners(OuterMerge *merge, int input_number, int n)
{
	MergeInput *input = &merge->inputs[input_number];
	const BatchRow *position = merge->window.position[input_number];
	BatchRow   *rows = merge->required->rows;
	int			count = 0;
	int			from;
	int			to;

	if (input->nvectors == 0)
		return;
	for (int k = 0; k < n; k++)
	{
		rows[count] = position[k];
		count += position[k] >= 0;
	}
	if (count == 0)
		return;
	from = Max(rows[0], input->decoded);
	to = rows[count - 1] + 1;
	for (int v = 0; v < input->nvectors; v++)
	{
		FieldVector *vector = &input->vectors[v];

		if ((to - from) / DECODE_RATIO < count)
			stream_decode(input->stream, vector->field, from, to,
						  vector->values, vector->isnull);
		else
			input->stream->methods->decode(input->stream, vector->field, from, to, rows, count,
										   vector->values, vector->isnull);
	}
	input->decoded = to;
	input->to = Max(input->to, to);
}

const MergeWindow *
merge_required_next(OuterMerge *merge)
{
	const RequiredMerge *required = merge->required;
	int			n;

	for (int i = 0; i < merge->ninputs; i++)
		merge->inputs[i].from = merge->inputs[i].to;
	do
	{
		CHECK_FOR_INTERRUPTS();
		for (int r = 0; r < required->nrequired; r++)
		{
			MergeInput *input = &merge->inputs[required->required[r]];

			input->from = input->to;
		}
		if (!required_align(merge))
			return NULL;
		n = required_rows(merge);
	} while (n == 0);
	n = looked_up_advance(merge, n);
	look_up(merge, n);
	window_keys(merge, n);
	for (int i = 0; i < merge->ninputs; i++)
		decode_partners(merge, i, n);
	merge->window.slot = NULL;
	merge->window.nrows = n;
	return &merge->window;
}
