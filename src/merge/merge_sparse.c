/*-------------------------------------------------------------------------
 *
 * merge_sparse.c
 *	  Windows over keys that lie far apart or are not integers.
 *
 * A few inputs with exact keys: the minimum of their current keys, and all
 * that equal it, without a branch that depends on the data.  Otherwise a
 * loser tree.
 *
 * Refuses to know repeats: no stream has a key twice here.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "merge/merge_internal.h"

/* Up to this many inputs a linear minimum is faster than a tree. */
#define LINEAR_INPUTS 8

/*
 * n inputs, a constant where it is inlined.  No input runs off its batch: the
 * limit "high" is the last key of one of them, and not past the last key of
 * any; the loop ends when it is reached.
 */
static pg_attribute_always_inline int
sparse_linear(OuterMerge *merge, int n, int64 high)
{
	const int64 *image[LINEAR_INPUTS];
	BatchRow   *position[LINEAR_INPUTS];
	int			row[LINEAR_INPUTS];
	int			capacity = merge->capacity;
	int64		flip = merge->key->columns[0].descending ? -1 : 0;
	int			count = 0;
	int64		low;

	for (int a = 0; a < n; a++)
	{
		MergeInput *input = &merge->inputs[merge->active[a]];

		image[a] = input->stream->batch.image;
		position[a] = merge->window.position[merge->active[a]];
		row[a] = input->from;
	}
	do
	{
		low = image[0][row[0]];
		for (int a = 1; a < n; a++)
		{
			int64		next = image[a][row[a]];

			low = next < low ? next : low;
		}
		for (int a = 0; a < n; a++)
		{
			int			has = image[a][row[a]] == low;

			position[a][count] = (BatchRow) (has ? row[a] : -1);
			row[a] += has;
		}
		merge->keys[count++] = (Datum) (low ^ flip);
	} while (low != high && count < capacity);

	for (int a = 0; a < n; a++)
		merge->inputs[merge->active[a]].to = row[a];
	return count;
}

/* Positions of the inputs that have no batch any more. */
static void
sparse_ended(OuterMerge *merge, int nslots)
{
	for (int a = 0, i = 0; i < merge->ninputs; i++)
	{
		if (a < merge->nactive && merge->active[a] == i)
			a++;
		else if (merge->inputs[i].nvectors > 0)
			memset(merge->window.position[i], 0xff, sizeof(BatchRow) * nslots);
	}
}

/*
 * A slot for each key up to the last one of limit_input: the winner's, and
 * those that equal it, which win one after the other.
 */
static void
sparse_tree_run(OuterMerge *merge, int limit_input)
{
	MergeWindow *window = &merge->window;
	const Key  *key = merge->key;
	int			limit_row = merge->inputs[limit_input].end - 1;
	int			count = 0;
	bool		last = false;

	while (!last && count < merge->capacity)
	{
		int			first = merge_tree_winner(merge);
		int			first_row = merge->at[first];
		const ColumnBatch *batch = &merge->inputs[first].stream->batch;
		int			winner = first;

		if (count % ABSENT_SLOTS == 0)
			for (int a = 0; a < merge->nactive; a++)
				merge_absent_slots(merge, merge->active[a], count);
		if (key->exact)
			merge->keys[count] = merge_exact_key(merge, batch->image[first_row]);
		else
			merge->owner[count] = (BatchRow) first;
		do
		{
			int			row = merge->at[winner]++;

			window->position[winner][count] = (BatchRow) row;
			if (winner == limit_input && row == limit_row)
				last = true;
			merge_tree_replay(merge, winner);
			winner = merge_tree_winner(merge);
		} while (merge->at[winner] < merge->inputs[winner].end &&
				 key_compare(key, &merge->inputs[winner].stream->batch, merge->at[winner],
							 batch, first_row) == 0);
		count++;
	}
	window->nrows = count;
	window->slot = NULL;
}

/*
 * Rows up to the last key of limit_input.
 */
void
merge_sparse_tree(OuterMerge *merge, int limit_input)
{
	merge_tree_build(merge);
	sparse_tree_run(merge, limit_input);
	sparse_ended(merge, merge->window.nrows);
	for (int a = 0; a < merge->nactive; a++)
		merge->inputs[merge->active[a]].to = merge->at[merge->active[a]];
}

void
merge_sparse_exact(OuterMerge *merge, int64 high)
{
	int			count;

	switch (merge->nactive)
	{
		case 2:
			count = sparse_linear(merge, 2, high);
			break;
		case 3:
			count = sparse_linear(merge, 3, high);
			break;
		case 4:
			count = sparse_linear(merge, 4, high);
			break;
		default:
			if (merge->nactive <= LINEAR_INPUTS)
				count = sparse_linear(merge, merge->nactive, high);
			else
			{
				int			limit = 0;

				for (int a = 0; a < merge->nactive; a++)
				{
					MergeInput *input = &merge->inputs[merge->active[a]];

					if (input->stream->batch.image[input->end - 1] == high)
						limit = merge->active[a];
				}
				merge_sparse_tree(merge, limit);
				return;
			}
	}
	merge->window.nrows = count;
	merge->window.slot = NULL;
	sparse_ended(merge, count);
}
