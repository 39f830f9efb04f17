/*-------------------------------------------------------------------------
 *
 * arrow_nested.c
 *	  Lists, structs and unions: which elements of the children belong to a
 *	  slice, and where one element's are.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "common/int.h"

#include "arrow/arrow_shape.h"

/* ------------------------------------------------------------- lists */

void
arrow_load_list(ArrowVector *vector)
{
	const char *offsets = arrow_slice_numbers(vector, SLOT_MAIN, vector->width, 1);

	arrow_check_offsets(vector, offsets, vector->children[0].length);
	vector->values = offsets;
	arrow_vector_load(&vector->children[0], signed_at(offsets, vector->width, 0),
					  signed_at(offsets, vector->width, vector->to - vector->from));
}

void
arrow_load_list_view(ArrowVector *vector)
{
	int64		limit = vector->children[0].length;

	vector->values = arrow_slice_numbers(vector, SLOT_MAIN, vector->width, 0);
	vector->sizes = arrow_slice_numbers(vector, SLOT_OTHER, vector->width, 0);
	for (int64 i = vector->from; i < vector->to; i++)
	{
		int64		offset = signed_at(vector->values, vector->width, i - vector->from);
		int64		size = signed_at(vector->sizes, vector->width, i - vector->from);

		if ((offset < 0 || size < 0 || size > limit || offset > limit - size) &&
			!arrow_is_null(vector, i))
			arrow_report(vector, i, "its %lld elements at offset %lld do not lie within %lld",
						 (long long) size, (long long) offset, (long long) limit);
	}
	arrow_vector_load(&vector->children[0], 0, 0);
}

void
arrow_load_fixed_list(ArrowVector *vector)
{
	int64		size = vector->field->list_size;
	int64		end;

	if (pg_mul_s64_overflow(vector->to, size, &end) || end > vector->children[0].length)
		arrow_report(vector, -1, "%lld lists of %lld elements need more than there are, %lld",
					 (long long) vector->to, (long long) size, (long long) vector->children[0].length);
	arrow_vector_load(&vector->children[0], vector->from * size, end);
}

void
arrow_list_range(ArrowVector *vector, int64 i, int64 *from, int64 *to)
{
	int64		k = i - vector->from;

	Assert(i >= vector->from && i < vector->to);
	switch ((ArrowShape) vector->shape)
	{
		case SHAPE_LIST:
			*from = signed_at(vector->values, vector->width, k);
			*to = signed_at(vector->values, vector->width, k + 1);
			break;
		case SHAPE_LIST_VIEW:
			*from = signed_at(vector->values, vector->width, k);
			*to = *from + signed_at(vector->sizes, vector->width, k);
			arrow_vector_load(&vector->children[0], *from, *to);
			break;
		case SHAPE_FIXED_LIST:
			*from = i * vector->field->list_size;
			*to = *from + vector->field->list_size;
			break;
		default:
			elog(ERROR, "field \"%s\" is no list", vector->field->name);
	}
}

/* ------------------------------------------------------------- structs */

void
arrow_load_struct(ArrowVector *vector)
{
	for (int i = 0; i < vector->nchildren; i++)
		arrow_vector_load(&vector->children[i], vector->from, vector->to);
}

/* ------------------------------------------------------------- unions */

/* The child of an element's type number, or -1. */
static inline int
child_of(const ArrowVector *vector, int64 i)
{
	int			type = ((const int8 *) vector->values)[i - vector->from];

	return type < 0 ? -1 : vector->child_of_type[type];
}

static void
load_type_ids(ArrowVector *vector)
{
	vector->values = arrow_slice_numbers(vector, SLOT_MAIN, 1, 0);
	for (int64 i = vector->from; i < vector->to; i++)
	{
		if (child_of(vector, i) < 0 && !arrow_is_null(vector, i))
			arrow_report(vector, i, "its type number %d is not one of the union's",
						 ((const int8 *) vector->values)[i - vector->from]);
	}
}

void
arrow_load_sparse_union(ArrowVector *vector)
{
	load_type_ids(vector);
	for (int i = 0; i < vector->nchildren; i++)
		arrow_vector_load(&vector->children[i], vector->from, vector->to);
}

/* Of each child what lies between the first and the last element of the slice. */
void
arrow_load_dense_union(ArrowVector *vector)
{
	int64		from[ARROW_MAX_TYPE_IDS] = {0};
	int64		to[ARROW_MAX_TYPE_IDS] = {0};

	load_type_ids(vector);
	vector->union_offsets = arrow_slice_numbers(vector, SLOT_OTHER, 4, 0);
	for (int64 i = vector->from; i < vector->to; i++)
	{
		int			c = child_of(vector, i);
		int64		offset = signed_at(vector->union_offsets, 4, i - vector->from);

		if (arrow_is_null(vector, i))
			continue;
		if (offset < 0 || offset >= vector->children[c].length)
			arrow_report(vector, i, "its offset %lld does not lie within %lld",
						 (long long) offset, (long long) vector->children[c].length);
		if (from[c] == to[c])
			from[c] = offset;
		from[c] = Min(from[c], offset);
		to[c] = Max(to[c], offset + 1);
	}
	for (int i = 0; i < vector->nchildren; i++)
		arrow_vector_load(&vector->children[i], from[i], to[i]);
}

void
arrow_union_element(ArrowVector *vector, int64 i, int *child, int64 *element)
{
	Assert(i >= vector->from && i < vector->to);
	*child = child_of(vector, i);
	*element = vector->shape == SHAPE_DENSE_UNION ?
		signed_at(vector->union_offsets, 4, i - vector->from) : i;
}
