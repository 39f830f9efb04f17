/*-------------------------------------------------------------------------
 *
 * merge_repeats.c
 *	  Windows over streams in which a key may stand more than once.
 *
 * Equal keys of all inputs form a group, and SQL wants the product of the
 * group's sides:
 *
 *		a: 1x 1y 2z		b: 1p 1q 3r
 *		rows: 1xp 1xq 1yp 1yq 2z- 3-r
 *
 * Groups that fit the window are written out.  A group that is larger than a
 * window is handed out in parts (GroupCursor).  A side that reaches the end of
 * its batch may go on in the next: such a group starts a window of its own and
 * is collected first (group_product.c).
 *
 * Refuses to know what keys are made of: they are only compared.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "merge/merge_internal.h"

/* Rows from "row" on that have its key, within the batch. */
static int
repeats_run(const Key *key, const MergeInput *input, int row)
{
	const ColumnBatch *batch = &input->stream->batch;
	int			next = row + 1;

	if (input->stream->spec->duplicates == DUPLICATES_ALL)
		while (next < input->end && key_compare(key, batch, row, batch, next) == 0)
			next++;
	return next - row;
}

/*
 * Collect the sides of the group that comes next, moving their at[] past it.
 * Returns the number of rows of its product (PG_INT64_MAX where more), or 0 if
 * there is no further group.
 */
static int64
repeats_collect(OuterMerge *merge, GroupCursor *group)
{
	int			first = merge_tree_winner(merge);
	int			first_row = merge->at[first];
	int			winner = first;
	int64		rows = 1;

	group->nsides = 0;
	group->open = false;
	if (first_row >= merge->inputs[first].end)
		return 0;
	do
	{
		MergeInput *input = &merge->inputs[winner];
		int			count = repeats_run(merge->key, input, merge->at[winner]);
		int			s = group->nsides++;

		group->input[s] = winner;
		group->first[s] = merge->at[winner];
		group->count[s] = count;
		group->index[s] = 0;
		if (group->first[s] + count == input->end && !input->final &&
			input->stream->spec->duplicates == DUPLICATES_ALL)
			group->open = true;
		rows = rows > PG_INT64_MAX / count ? PG_INT64_MAX : rows * count;

		merge->at[winner] += count;
		merge_tree_replay(merge, winner);
		winner = merge_tree_winner(merge);
	} while (merge->at[winner] < merge->inputs[winner].end &&
			 key_compare(merge->key, &merge->inputs[winner].stream->batch, merge->at[winner],
						 &merge->inputs[first].stream->batch, first_row) == 0);
	return rows;
}

/*
 * Write rows of the group's product from the odometer on to slots count ...,
 * as many as there is room for.  Clears "active" when the last is written.
 */
static int
repeats_emit(OuterMerge *merge, GroupCursor *group, int count)
{
	int			first = group->input[0];
	const ColumnBatch *batch = &merge->inputs[first].stream->batch;

	group->active = true;
	while (group->active && count < merge->capacity)
	{
		int			s;

		if (count % ABSENT_SLOTS == 0)
			for (int i = 0; i < merge->ninputs; i++)
				merge_absent_slots(merge, i, count);
		for (s = 0; s < group->nsides; s++)
			merge->window.position[group->input[s]][count] =
				(BatchRow) (group->first[s] + group->index[s]);
		if (merge->key->exact)
			merge->keys[count] = merge_exact_key(merge, batch->image[group->first[0]]);
		else
			merge->owner[count] = (BatchRow) first;
		count++;

		for (s = group->nsides - 1; s >= 0; s--)
		{
			if (++group->index[s] < group->count[s])
				break;
			group->index[s] = 0;
		}
		group->active = s >= 0;
	}
	return count;
}

/* Put the group back: it will be collected again by the next window. */
static void
repeats_put_back(OuterMerge *merge, const GroupCursor *group)
{
	for (int s = 0; s < group->nsides; s++)
		merge->at[group->input[s]] = group->first[s];
}

/* May an input's next batch hold keys that come before those still at hand? */
static bool
repeats_used_up(const OuterMerge *merge, const GroupCursor *group)
{
	for (int s = 0; s < group->nsides; s++)
	{
		const MergeInput *input = &merge->inputs[group->input[s]];

		if (merge->at[group->input[s]] == input->end && !input->final)
			return true;
	}
	return false;
}

static int
repeats_fill(OuterMerge *merge)
{
	GroupCursor *group = &merge->cursor;
	int			count = 0;

	merge_tree_build(merge);
	for (;;)
	{
		int64		rows = repeats_collect(merge, group);

		if (rows == 0)
			break;
		if (merge->required && !merge_required_group(merge, group))
		{
			/* no row, however many there are of it */
			if (repeats_used_up(merge, group))
				break;
			continue;
		}
		if (group->open || rows > merge->capacity - count)
		{
			if (count > 0)
				repeats_put_back(merge, group);
			else if (group->open)
			{
				merge->product = group_product_create(merge, group);
				if (!group_product_next(merge->product, merge))
					elog(ERROR, "group of equal keys has no rows");
				return 0;
			}
			else
				count = repeats_emit(merge, group, 0);
			break;
		}
		count = repeats_emit(merge, group, count);
		if (repeats_used_up(merge, group) || count == merge->capacity)
			break;
	}
	for (int a = 0; a < merge->nactive; a++)
		merge->inputs[merge->active[a]].to = merge->at[merge->active[a]];
	return count;
}

void
merge_repeats_window(OuterMerge *merge)
{
	int			count;

	merge->window.slot = NULL;
	if (merge->cursor.active)
		count = repeats_emit(merge, &merge->cursor, 0);
	else
		count = repeats_fill(merge);
	if (merge->product == NULL)
		merge->window.nrows = count;
}
