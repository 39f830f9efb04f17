/*-------------------------------------------------------------------------
 *
 * merge_dense.c
 *	  Windows over exact keys that lie near each other.
 *
 * The window gives every possible key between its first and its last a slot.
 * Each input writes its rows' numbers into its own positions at their slots;
 * a slot that all inputs left at -1 is no row.  No two keys are compared, so
 * there is nothing to mispredict.
 *
 * Refuses to know keys that are not int64 images.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "merge/merge_internal.h"

/*
 * A slot of an input that lacks the key costs a fraction of what a comparison
 * costs; this many of them are worth one row.
 */
#define SLOTS_PER_ROW 32

/* First row of the input, from input->from on, whose image is past "high". */
static int
dense_end(const MergeInput *input, int64 high)
{
	const int64 *image = input->stream->batch.image;
	int			low = input->from;
	int			end = input->end;
	uint64		span;

	if (image[end - 1] <= high)
		return end;
	if (image[low] > high)
		return low;

	/* without repeats there can be no more rows than keys */
	span = (uint64) high - (uint64) image[low];
	if (span < (uint64) (end - low))
		end = low + (int) span + 1;
	while (low < end)
	{
		int			middle = low + (end - low) / 2;

		if (image[middle] <= high)
			low = middle + 1;
		else
			end = middle;
	}
	return low;
}

/*
 * Is a slot per key cheaper than comparisons for the rows in [low, high]?
 */
bool
merge_window_is_dense(OuterMerge *merge, int64 low, int64 high)
{
	uint64		span = (uint64) high - (uint64) low;
	uint64		rows = 0;

	for (int a = 0; a < merge->nactive; a++)
	{
		MergeInput *input = &merge->inputs[merge->active[a]];

		rows += dense_end(input, high) - input->from;
	}
	/* rows and nactive are small, so only the left side needs care */
	return span / SLOTS_PER_ROW <= rows / merge->nactive;
}

/* Write the input's rows [from, to) at their slots. */
static inline void
dense_scatter(const int64 *image, int from, int to, int64 low, BatchRow *position)
{
	for (int r = from; r < to; r++)
		position[image[r] - low] = (BatchRow) r;
}

/* Keep only the slots that some input has. */
static int
dense_compact(const BatchRow *absent, int nslots, BatchRow *slots)
{
	int			n = 0;

	for (int s = 0; s < nslots; s++)
	{
		slots[n] = (BatchRow) s;
		n += absent[s] >= 0;
	}
	return n;
}

/* The slots' keys. */
static void
dense_keys(Datum *restrict keys, int64 low, int nslots, bool descending)
{
	const uint64 flip = descending ? ~UINT64CONST(0) : 0;

	for (int s = 0; s < nslots; s++)
		keys[s] = (Datum) (((uint64) low + (uint64) s) ^ flip);
}

static void
dense_and(BatchRow *restrict absent, const BatchRow *restrict position, int nslots)
{
	for (int s = 0; s < nslots; s++)
		absent[s] &= position[s];
}

/*
 * The window [low, high], cut to as many slots as there is room for.  Rows
 * exist at low at least.
 */
void
merge_dense_window(OuterMerge *merge, int64 low, int64 high)
{
	MergeWindow *window = &merge->window;
	BatchRow   *absent = merge->absent;
	bool		full = false;
	int			nslots;

	if ((uint64) high - (uint64) low >= (uint64) merge->capacity)
		high = low + merge->capacity - 1;
	nslots = (int) (high - low) + 1;

	memset(absent, 0xff, sizeof(BatchRow) * nslots);
	for (int a = 0, i = 0; i < merge->ninputs; i++)
	{
		MergeInput *input = &merge->inputs[i];
		bool		active = a < merge->nactive && merge->active[a] == i;
		bool		placed = input->nvectors > 0 && !merge->placeless;
		BatchRow   *position = placed ? window->position[i] : absent;

		if (placed)
			memset(position, 0xff, sizeof(BatchRow) * nslots);
		if (!active)
			continue;
		a++;
		input->to = dense_end(input, high);
		if (input->to == input->from)
			continue;
		dense_scatter(input->stream->batch.image, input->from, input->to, low, position);
		if (input->to - input->from == nslots)
			full = true;
		else if (placed && !full)
			dense_and(absent, position, nslots);
	}

	dense_keys(merge->keys, low, nslots, merge->key->columns[0].descending);

	if (full)
	{
		window->slot = NULL;
		window->nrows = nslots;
	}
	else
	{
		window->nrows = dense_compact(absent, nslots, merge->slots);
		window->slot = merge->slots;
	}
}
