/*-------------------------------------------------------------------------
 *
 * arrow_strings.c
 *	  Strings and binaries: offsets into bytes, and bytes of any layout.
 *
 * The bytes of a slice are read together, only those that it needs.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "arrow/arrow_shape.h"

/* Is one of the offsets below the one before? */
static bool
offsets_descend(const char *offsets, int width, int64 n)
{
	bool		descend = false;

	/* no branches: these loops run at memory speed */
	if (width == 4)
	{
		const int32 *number = (const int32 *) offsets;

		for (int64 i = 0; i < n; i++)
			descend |= number[i + 1] < number[i];
	}
	else
	{
		const int64 *number = (const int64 *) offsets;

		for (int64 i = 0; i < n; i++)
			descend |= number[i + 1] < number[i];
	}
	return descend;
}

void
arrow_check_offsets(const ArrowVector *vector, const char *offsets, int64 limit)
{
	int			width = vector->width;
	int64		n = vector->to - vector->from;

	if (signed_at(offsets, width, 0) < 0)
		arrow_report(vector, vector->from, "it begins at offset %lld",
					 (long long) signed_at(offsets, width, 0));
	if (!offsets_descend(offsets, width, n) && signed_at(offsets, width, n) <= limit)
		return;
	for (int64 i = 0; i < n; i++)
	{
		int64		begin = signed_at(offsets, width, i);
		int64		end = signed_at(offsets, width, i + 1);

		if (begin > end || end > limit)
			arrow_report(vector, vector->from + i, "its offsets %lld and %lld do not lie within %lld",
						 (long long) begin, (long long) end, (long long) limit);
	}
}

/* One value of more bytes than a value can have is not worth reading. */
static void
check_sizes(const ArrowVector *vector)
{
	int64		all = signed_at(vector->values, vector->width, vector->to - vector->from) -
		signed_at(vector->values, vector->width, 0);

	if (vector->parent != NULL && !vector->whole)
		arrow_report_large(vector, -1, all, "bytes");
	for (int64 i = 0; i < vector->to - vector->from; i++)
	{
		int64		length = signed_at(vector->values, vector->width, i + 1) -
			signed_at(vector->values, vector->width, i);

		if (length > (int64) MaxAllocSize)
			arrow_report_large(vector, vector->from + i, length, "bytes");
	}
}

void
arrow_load_bytes(ArrowVector *vector)
{
	ArrowBuffer *bytes = &vector->buffers[SLOT_OTHER];
	const char *offsets = arrow_slice_numbers(vector, SLOT_MAIN, vector->width, 1);
	int64		first = signed_at(offsets, vector->width, 0);
	int64		last = signed_at(offsets, vector->width, vector->to - vector->from);

	arrow_check_offsets(vector, offsets, bytes->size);
	vector->values = offsets;
	if (last - first > (int64) MaxAllocSize)
		check_sizes(vector);
	vector->data = arrow_buffer_read(bytes, first, (size_t) (last - first));
	vector->data_from = first;
}

ArrowBytes
arrow_bytes(ArrowVector *vector, int64 i)
{
	int64		k = i - vector->from;
	int64		begin;

	Assert(i >= vector->from && i < vector->to);
	switch ((ArrowShape) vector->shape)
	{
		case SHAPE_BYTES:
			begin = signed_at(vector->values, vector->width, k);
			return (ArrowBytes){
				vector->data + (begin - vector->data_from),
				signed_at(vector->values, vector->width, k + 1) - begin
			};
		case SHAPE_VIEWS:
			return arrow_view_bytes(vector, i);
		case SHAPE_FIXED:
			return (ArrowBytes){arrow_fixed(vector, i), vector->width};
		default:
			elog(ERROR, "field \"%s\" has no bytes", vector->field->name);
	}
	return (ArrowBytes){NULL, 0};	/* keep compiler quiet */
}
