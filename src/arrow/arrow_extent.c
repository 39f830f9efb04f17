/*-------------------------------------------------------------------------
 *
 * arrow_extent.c
 *	  How many elements can be loaded into so many bytes.
 *
 * Numbers that say where things are are looked at in a piece that fits into
 * the bytes itself; children get equal parts of them.  An estimate: it may be
 * wrong by a factor, never without bounds.  Numbers that cannot be right do
 * not matter here, the load will tell; they only must do no harm.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"

#include "arrow/arrow_shape.h"

/* Bits that an element takes, without what it points to */
static int64
element_bits(const ArrowVector *vector)
{
	int64		validity = vector->nbuffers > 0 ? 1 : 0;

	switch ((ArrowShape) vector->shape)
	{
		case SHAPE_BITS:
			return validity + 1;
		case SHAPE_LIST_VIEW:
			return validity + 2 * 8 * (int64) vector->width;
		case SHAPE_DENSE_UNION:
			return validity + 8 * (int64) (vector->width + sizeof(int32));
		default:
			return validity + 8 * (int64) vector->width;
	}
}

/* n numbers in a slot, of element "from" on */
static const char *
numbers(ArrowVector *vector, ArrowSlot slot, int64 from, int width, int64 n)
{
	return arrow_buffer_read(&vector->buffers[slot], from * width, (size_t) n * width);
}

/* How many of n ranges between offsets reach "budget" things together at most. */
static int64
ranges_within(const char *offsets, int width, int64 n, int64 budget)
{
	int64		first = signed_at(offsets, width, 0);

	budget = first < 0 || first > PG_INT64_MAX - budget ? PG_INT64_MAX : first + budget;
	return count_up_to(offsets + width, width, n, budget);
}

static int64
extent_of_bytes(ArrowVector *vector, int64 from, int64 n, size_t bytes)
{
	const char *offsets = numbers(vector, SLOT_MAIN, from, vector->width, n + 1);

	return ranges_within(offsets, vector->width, n, (int64) bytes);
}

static int64
extent_of_views(ArrowVector *vector, int64 from, int64 n, size_t bytes)
{
	const char *views = numbers(vector, SLOT_MAIN, from, VIEW_BYTES, n);
	int64		sum = 0;

	for (int64 k = 0; k < n; k++)
	{
		int32		length = *(const int32 *) (views + k * VIEW_BYTES);

		if (length > VIEW_INLINE_BYTES)
			sum += length;
		if (sum > (int64) bytes)
			return k;
	}
	return n;
}

static int64
extent_of_list(ArrowVector *vector, int64 from, int64 n, size_t bytes)
{
	ArrowVector *child = &vector->children[0];
	const char *offsets = numbers(vector, SLOT_MAIN, from, vector->width, n + 1);
	int64		first = signed_at(offsets, vector->width, 0);
	int64		last = signed_at(offsets, vector->width, n);

	if (first < 0 || last < first || last > child->length)
		return n;
	return ranges_within(offsets, vector->width, n, arrow_vector_extent(child, first, last, bytes));
}

static int64
extent_of_fixed_list(ArrowVector *vector, int64 from, int64 n, size_t bytes)
{
	ArrowVector *child = &vector->children[0];
	int64		size = vector->field->list_size;

	if (size <= 0 || from + n > child->length / size)
		return n;
	return arrow_vector_extent(child, from * size, (from + n) * size, bytes) / size;
}

/* Of children that have an element for each of the parent's. */
static int64
extent_of_children(ArrowVector *vector, int64 from, int64 n, size_t bytes)
{
	for (int i = 0; i < vector->nchildren; i++)
	{
		ArrowVector *child = &vector->children[i];

		if (from + n <= child->length)
			n = arrow_vector_extent(child, from, from + n, bytes / vector->nchildren);
	}
	return n;
}

/* Which elements of a child a slice of a dense union needs, as far as is known. */
typedef struct ChildSpan
{
	int64		from;
	int64		to;				/* 0: none yet */
	int64		most;			/* elements that fit */
} ChildSpan;

/* How many elements there are before one that takes a child too far. */
static int64
span_children(const ArrowVector *vector, const char *types, const char *offsets, int64 n,
			  ChildSpan *spans)
{
	for (int64 k = 0; k < n; k++)
	{
		int			type = ((const int8 *) types)[k];
		int			c = type < 0 ? -1 : vector->child_of_type[type];
		int64		offset = signed_at(offsets, 4, k);

		if (c < 0 || offset < 0 || offset >= vector->children[c].length)
			continue;
		spans[c].from = spans[c].to == 0 ? offset : Min(spans[c].from, offset);
		spans[c].to = Max(spans[c].to, offset + 1);
		if (spans[c].to - spans[c].from > spans[c].most)
			return k;
	}
	return n;
}

static int64
extent_of_dense_union(ArrowVector *vector, int64 from, int64 n, size_t bytes)
{
	ChildSpan	spans[ARROW_MAX_TYPE_IDS];
	const char *types = numbers(vector, SLOT_MAIN, from, 1, n);
	const char *offsets = numbers(vector, SLOT_OTHER, from, 4, n);

	for (int i = 0; i < ARROW_MAX_TYPE_IDS; i++)
		spans[i] = (ChildSpan){0, 0, PG_INT64_MAX};
	(void) span_children(vector, types, offsets, n, spans);
	for (int i = 0; i < vector->nchildren; i++)
	{
		if (spans[i].to > 0)
			spans[i].most = arrow_vector_extent(&vector->children[i], spans[i].from, spans[i].to,
												bytes / vector->nchildren);
		spans[i].from = spans[i].to = 0;
	}
	return span_children(vector, types, offsets, n, spans);
}

static int64
extent_of_runs(ArrowVector *vector, int64 from, int64 n, size_t bytes)
{
	ArrowVector *ends = &vector->children[0];
	int64		first = arrow_runs_find(vector, from);
	int64		most = Min(Min(ends->length - first, n), Max((int64) bytes / ends->width, 1));
	const char *number = numbers(ends, SLOT_MAIN, first, ends->width, most);

	/* only runs that the elements reach */
	most = Min(most, count_up_to(number, ends->width, most, from + n - 1) + 1);
	most = arrow_vector_extent(&vector->children[1], first, first + most, bytes);
	return Min(n, signed_at(number, ends->width, most - 1) - from);
}

int64
arrow_vector_extent(ArrowVector *vector, int64 from, int64 to, size_t bytes)
{
	int64		bits = element_bits(vector);
	int64		n = to - from;

	check_stack_depth();
	if (n <= 1)
		return n;
	Assert(from >= 0 && to <= vector->length);
	bytes = Min(bytes, (size_t) PG_INT64_MAX / 8);
	if (bits > 0)
		n = Max(Min(n, (int64) bytes * 8 / bits), 1);
	switch ((ArrowShape) vector->shape)
	{
		case SHAPE_NULL:
		case SHAPE_BITS:
		case SHAPE_FIXED:
		case SHAPE_INDEXES:
		case SHAPE_LIST_VIEW:	/* loaded one by one */
			break;
		case SHAPE_BYTES:
			n = extent_of_bytes(vector, from, n, bytes);
			break;
		case SHAPE_VIEWS:
			n = extent_of_views(vector, from, n, bytes);
			break;
		case SHAPE_LIST:
			n = extent_of_list(vector, from, n, bytes);
			break;
		case SHAPE_FIXED_LIST:
			n = extent_of_fixed_list(vector, from, n, bytes);
			break;
		case SHAPE_STRUCT:
		case SHAPE_SPARSE_UNION:
			n = extent_of_children(vector, from, n, bytes);
			break;
		case SHAPE_DENSE_UNION:
			n = extent_of_dense_union(vector, from, n, bytes);
			break;
		case SHAPE_RUNS:
			n = extent_of_runs(vector, from, n, bytes);
			break;
	}
	return Max(n, 1);
}
