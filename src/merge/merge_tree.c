/*-------------------------------------------------------------------------
 *
 * merge_tree.c
 *	  A loser tree over the inputs' current rows.
 *
 * tree[0] is the winner: the active input whose row at[] comes first; equal
 * keys go to the input that stands first.  tree[1 .. nactive-1] hold the
 * losers on the way up.  An input whose row is at its end loses against all.
 * After the winner's row has moved on, one replay of log2(nactive) comparisons
 * finds the next winner.
 *
 * Refuses to know windows: what becomes of the winner is its caller's affair.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "merge/merge_internal.h"

/* Does input i come before input j? */
static inline bool
tree_before(const OuterMerge *merge, int i, int j)
{
	const MergeInput *a = &merge->inputs[i];
	const MergeInput *b = &merge->inputs[j];
	int			order;

	if (merge->at[i] >= a->end)
		return false;
	if (merge->at[j] >= b->end)
		return true;
	order = key_compare(merge->key, &a->stream->batch, merge->at[i],
						&b->stream->batch, merge->at[j]);
	return order != 0 ? order < 0 : i < j;
}

/*
 * Set all active inputs' at[] to their window's start and play all matches.
 * While building, the leaves stand in the second half of tree[], at nactive ..
 * 2 * nactive - 1, and each inner node holds the winner of its subtree.
 */
void
merge_tree_build(OuterMerge *merge)
{
	int			n = merge->nactive;
	int		   *tree = merge->tree;

	for (int a = 0; a < n; a++)
	{
		int			input = merge->active[a];

		tree[n + a] = input;
		merge->leaf[input] = a;
		merge->at[input] = merge->inputs[input].from;
	}
	if (n == 1)
	{
		tree[0] = tree[1];
		return;
	}
	/* winners first, from the leaves up ... */
	for (int node = n - 1; node >= 1; node--)
	{
		int			left = tree[2 * node];
		int			right = tree[2 * node + 1];

		tree[node] = tree_before(merge, right, left) ? right : left;
	}
	tree[0] = tree[1];
	/* ... then each inner node keeps the one of its children that lost */
	for (int node = 1; node < n; node++)
		tree[node] = tree[node] == tree[2 * node] ? tree[2 * node + 1] : tree[2 * node];
}

/* The row of the active input, which was the winner, has moved on: find the new winner. */
void
merge_tree_replay(OuterMerge *merge, int input)
{
	int		   *tree = merge->tree;
	int			winner = input;

	for (int node = (merge->nactive + merge->leaf[input]) / 2; node >= 1; node /= 2)
	{
		if (tree_before(merge, tree[node], winner))
		{
			int			loser = winner;

			winner = tree[node];
			tree[node] = loser;
		}
	}
	tree[0] = winner;
}
