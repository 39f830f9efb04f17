/*-------------------------------------------------------------------------
 *
 * merge_internal.h
 *	  What the files of the merge share.
 *
 *-------------------------------------------------------------------------
 */
#ifndef OUTERJOIN_MERGE_INTERNAL_H
#define OUTERJOIN_MERGE_INTERNAL_H

#include "merge/outer_merge.h"

typedef struct GroupProduct GroupProduct;
typedef struct RequiredMerge RequiredMerge;

/*
 * A group of equal keys whose product is being handed out from the batches at
 * hand: side s contributes count[s] rows from first[s] on, index[s] is the
 * odometer.
 */
typedef struct GroupCursor
{
	bool		active;
	bool		open;			/* a side may go on in its next batch */
	int			nsides;
	int		   *input;
	int		   *first;
	int		   *count;
	int		   *index;
} GroupCursor;

struct OuterMerge
{
	const Key  *key;
	int			ninputs;
	MergeInput *inputs;
	int			batch_rows;
	int			memory_kb;
	int			capacity;		/* most slots of a window */
	bool		repeats;		/* some stream may hold a key more than once */
	bool		placeless;		/* positions are of no use */
	bool		fresh;			/* nothing has been read yet */
	const KeyRange *range;
	MemoryContext context;

	MergeWindow window;
	BatchRow   *slots;			/* [capacity] */
	BatchRow   *absent;			/* [capacity]: < 0 where no input has the slot */
	Datum	   *keys;			/* [capacity]: exact keys by slot */
	BatchRow   *owner;			/* [capacity]: first input that has the slot; other keys */

	int			nactive;		/* inputs that have a batch, ascending */
	int		   *active;
	int		   *tree;			/* loser tree over the active inputs */
	int		   *leaf;			/* [ninputs]: an active input's number among them */
	int		   *at;				/* [ninputs]: row an algorithm stands on */

	GroupCursor cursor;
	GroupProduct *product;		/* a group that did not fit the batches at hand */
	RequiredMerge *required;	/* NULL where no input is required */
};

/* merge_dense.c: a window of near slots of an exact key */
extern bool merge_window_is_dense(OuterMerge *merge, int64 low, int64 high);
extern void merge_dense_window(OuterMerge *merge, int64 low, int64 high);

/* merge_sparse.c: any key, without repeats */
extern void merge_sparse_exact(OuterMerge *merge, int64 high);
extern void merge_sparse_tree(OuterMerge *merge, int limit_input);

/* merge_required.c: keys that all required inputs have */
extern RequiredMerge *required_merge_create(const OuterMerge *merge);
extern const MergeWindow *merge_required_next(OuterMerge *merge);
extern bool merge_required_load(OuterMerge *merge);
extern bool merge_required_group(const OuterMerge *merge, const GroupCursor *group);

/* merge_repeats.c: any key, with repeats */
extern void merge_repeats_window(OuterMerge *merge);

/* merge_tree.c: a loser tree over inputs' current rows (at[]) */
extern void merge_tree_build(OuterMerge *merge);
extern void merge_tree_replay(OuterMerge *merge, int input);
static inline int
merge_tree_winner(const OuterMerge *merge)
{
	return merge->tree[0];
}

/* group_product.c: groups of equal keys that reach past a batch */
extern GroupProduct *group_product_create(OuterMerge *merge, const GroupCursor *group);
extern bool group_product_next(GroupProduct *product, OuterMerge *merge);
extern Datum group_product_key(const GroupProduct *product, const OuterMerge *merge,
							   int row, int column);
extern void group_product_free(GroupProduct *product);

/* outer_merge.c */
extern void merge_input_decode(MergeInput *input);
extern bool merge_input_load(OuterMerge *merge, MergeInput *input);
extern void merge_input_bound(const OuterMerge *merge, MergeInput *input);

/* merge_return.c: another range, from where the inputs stand */
extern bool merge_input_return(OuterMerge *merge, MergeInput *input, const KeyBound *lower);
extern void merge_input_sought(const OuterMerge *merge, MergeInput *input, const KeyBound *lower);
extern void merge_input_pause(OuterMerge *merge, MergeInput *input);
extern void merge_input_leave(const OuterMerge *merge, MergeInput *input);
extern void merge_input_decode_unmarked(MergeInput *input);

/*
 * Positions are set to -1 ahead of the rows that are written, some slots at a
 * time: a window of few rows must not pay for all its capacity.
 */
#define ABSENT_SLOTS 64

static inline void
merge_absent_slots(OuterMerge *merge, int input, int slot)
{
	memset(merge->window.position[input] + slot, 0xff,
		   sizeof(BatchRow) * Min(ABSENT_SLOTS, merge->capacity - slot));
}

static inline Datum
merge_exact_key(const OuterMerge *merge, int64 image)
{
	return (Datum) (merge->key->columns[0].descending ? ~image : image);
}

#endif							/* OUTERJOIN_MERGE_INTERNAL_H */
