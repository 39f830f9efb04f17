/*-------------------------------------------------------------------------
 *
 * arrow_shape.h
 *	  What the files that make up arrow_vector.h have in common.  Private to
 *	  src/arrow.
 *
 *-------------------------------------------------------------------------
 */
#ifndef OUTERJOIN_ARROW_SHAPE_H
#define OUTERJOIN_ARROW_SHAPE_H

#include "compat.h"

#include "arrow/arrow_vector.h"

/* How a vector's elements lie in its buffers, whatever they mean. */
typedef enum ArrowShape
{
	SHAPE_NULL,					/* nothing at all */
	SHAPE_BITS,					/* a bit each */
	SHAPE_FIXED,				/* so many bytes each */
	SHAPE_INDEXES,				/* the same: indexes into a dictionary */
	SHAPE_BYTES,				/* offsets into bytes */
	SHAPE_VIEWS,				/* views of bytes in any of many buffers */
	SHAPE_LIST,					/* offsets into a child */
	SHAPE_LIST_VIEW,			/* offsets into a child, and sizes */
	SHAPE_FIXED_LIST,			/* so many of a child's elements each */
	SHAPE_STRUCT,
	SHAPE_SPARSE_UNION,
	SHAPE_DENSE_UNION,
	SHAPE_RUNS					/* children: where runs end, and their values */
} ArrowShape;

/* Where a buffer stands in ArrowVector.buffers, if the shape has it. */
typedef enum ArrowSlot
{
	SLOT_VALIDITY,
	SLOT_MAIN,					/* values, bits, offsets, views, type ids */
	SLOT_OTHER					/* bytes; sizes; offsets of a dense union */
} ArrowSlot;

/* Bytes of one view, and of a string that fits into it */
#define VIEW_BYTES			16
#define VIEW_INLINE_BYTES	12

/* ---- numbers that are where they are aligned ---- */

/* Number i of an array of signed ones, "width" bytes each. */
static inline int64
signed_at(const char *numbers, int width, int64 i)
{
	switch (width)
	{
		case 1:
			return ((const int8 *) numbers)[i];
		case 2:
			return ((const int16 *) numbers)[i];
		case 4:
			return ((const int32 *) numbers)[i];
		default:
			return ((const int64 *) numbers)[i];
	}
}

/* The first k in [0, n] with a number that is above "bound"; they ascend. */
static inline int64
count_up_to(const char *numbers, int width, int64 n, int64 bound)
{
	int64		low = 0;

	while (low < n)
	{
		int64		middle = low + (n - low) / 2;

		if (signed_at(numbers, width, middle) > bound)
			n = middle;
		else
			low = middle + 1;
	}
	return low;
}

/* ---- arrow_vector.c ---- */

/* Something about an element (from 0; -1: about all of the array) cannot be: a clause. */
pg_noreturn extern void arrow_report(const ArrowVector *vector, int64 element, const char *format,...)
			__attribute__((format(__printf__, 3, 4)));

/* An element (-1: some) is more than a value can be: so many things. */
pg_noreturn extern void arrow_report_large(const ArrowVector *vector, int64 element, int64 n,
										   const char *of_what);

/* The slice's numbers in a slot, "extra" of them more than elements. */
extern const char *arrow_slice_numbers(ArrowVector *vector, ArrowSlot slot, int width, int extra);

/* ---- arrow_strings.c ---- */

extern void arrow_load_bytes(ArrowVector *vector);

/* Do offsets ascend, and stay within the "limit" things that they point into? */
extern void arrow_check_offsets(const ArrowVector *vector, const char *offsets, int64 limit);

/* ---- arrow_views.c ---- */

extern void arrow_views_create(ArrowVector *vector, int64 *blocks_read);

/* Another record batch's data buffers. */
extern void arrow_views_set(ArrowVector *vector, const ArrowBatchSpec *batch, int64 body_offset,
							int buffer, int nbuffers, Compression compression);
extern void arrow_load_views(ArrowVector *vector);
extern ArrowBytes arrow_view_bytes(const ArrowVector *vector, int64 i);
extern int64 arrow_views_bytes(const ArrowVector *vector);
extern void arrow_views_release(ArrowVector *vector);

/* ---- arrow_nested.c ---- */

extern void arrow_load_list(ArrowVector *vector);
extern void arrow_load_list_view(ArrowVector *vector);
extern void arrow_load_fixed_list(ArrowVector *vector);
extern void arrow_load_struct(ArrowVector *vector);
extern void arrow_load_sparse_union(ArrowVector *vector);
extern void arrow_load_dense_union(ArrowVector *vector);

/* ---- arrow_runs.c ---- */

extern void arrow_runs_create(ArrowVector *vector);
extern void arrow_runs_set(ArrowVector *vector);

/* The first run that ends behind element i. */
extern int64 arrow_runs_find(ArrowVector *vector, int64 i);
extern void arrow_load_runs(ArrowVector *vector);

/* ---- arrow_dictionary.c ---- */

extern void arrow_load_indexes(ArrowVector *vector);

/* Index k of a run of them that is not loaded: any number, the file's word. */
extern int64 arrow_index_in(const ArrowVector *vector, const char *indexes, int64 k);

/* ---- arrow_extent.c ---- */

/* Sums of bytes go no further than this. */
#define ARROW_MOST_COST	(PG_INT64_MAX / 64)

#endif							/* OUTERJOIN_ARROW_SHAPE_H */
