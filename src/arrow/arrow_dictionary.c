/*-------------------------------------------------------------------------
 *
 * arrow_dictionary.c
 *	  Indexes into a dictionary, and the entries that they stand for.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "arrow/arrow_shape.h"

/* As an unsigned number, in which a negative index is a very large one. */
static inline uint64
index_at(const ArrowVector *vector, const char *indexes, int64 k)
{
	if (vector->field->index_signed)
		return (uint64) signed_at(indexes, vector->width, k);
	switch (vector->width)
	{
		case 1:
			return ((const uint8 *) indexes)[k];
		case 2:
			return ((const uint16 *) indexes)[k];
		case 4:
			return ((const uint32 *) indexes)[k];
		default:
			return ((const uint64 *) indexes)[k];
	}
}

/* Negative ones are the largest; a loop for each width runs at memory speed. */
#define LARGEST_OF(type) \
	for (int64 k = 0; k < n; k++) \
		largest = Max(largest, (uint64) ((const type *) vector->values)[k])

static uint64
largest_index(const ArrowVector *vector)
{
	int64		n = vector->to - vector->from;
	bool		is_signed = vector->field->index_signed;
	uint64		largest = 0;

	if (vector->width == 1 && is_signed)
		LARGEST_OF(int8);
	else if (vector->width == 1)
		LARGEST_OF(uint8);
	else if (vector->width == 2 && is_signed)
		LARGEST_OF(int16);
	else if (vector->width == 2)
		LARGEST_OF(uint16);
	else if (vector->width == 4 && is_signed)
		LARGEST_OF(int32);
	else if (vector->width == 4)
		LARGEST_OF(uint32);
	else
		LARGEST_OF(uint64);
	return largest;
}

void
arrow_load_indexes(ArrowVector *vector)
{
	uint64		entries = vector->dictionary != NULL ? (uint64) vector->dictionary->length : 0;

	vector->values = arrow_slice_numbers(vector, SLOT_MAIN, vector->width, 0);
	if (largest_index(vector) < entries)
		return;

	/* nulls may have any index */
	for (int64 i = vector->from; i < vector->to; i++)
	{
		uint64		index = index_at(vector, vector->values, i - vector->from);

		if (index >= entries && !arrow_is_null(vector, i))
			arrow_report(vector, i, "entry %lld of a dictionary that has %lld",
						 (long long) index, (long long) entries);
	}
}

int64
arrow_index(const ArrowVector *vector, int64 i)
{
	Assert(i >= vector->from && i < vector->to);
	return (int64) index_at(vector, vector->values, i - vector->from);
}

int64
arrow_index_in(const ArrowVector *vector, const char *indexes, int64 k)
{
	return (int64) index_at(vector, indexes, k);
}

ArrowVector *
arrow_dictionary_entry(const ArrowDictionary *dictionary, int64 index, int64 *element)
{
	int			low = 0;
	int			high = dictionary->nparts - 1;

	Assert(index >= 0 && index < dictionary->length);
	while (low < high)
	{
		int			middle = low + (high - low) / 2;

		if (dictionary->part_end[middle] > index)
			high = middle;
		else
			low = middle + 1;
	}
	*element = low > 0 ? index - dictionary->part_end[low - 1] : index;
	return dictionary->parts[low];
}
