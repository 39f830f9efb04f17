/*-------------------------------------------------------------------------
 *
 * arrow_extent.c
 *	  How many elements can be loaded, and turned into values, in so many
 *	  bytes.
 *
 * Numbers that say where things are are looked at in a piece that fits into
 * the bytes itself; children get equal parts of them.  An estimate: it may be
 * wrong by a factor, never without bounds.  Numbers that cannot be right do
 * not matter here, the load will tell; they only must do no harm.
 *
 * The bytes in the file are no measure where elements share them: entries of a
 * dictionary, list views and elements of dense unions that overlap, runs
 * within a list, elements that take no bytes at all.  What such elements come
 * to is added up one by one.  What a column's rows share as values too (an
 * entry, a run's value) counts once.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "common/int.h"
#include "miscadmin.h"

#include "arrow/arrow_shape.h"

/* An element of a list or a struct takes at least this in the value that it becomes part of. */
#define PART_BITS	64

/* Entries of a dictionary that are looked at, to know what they come to. */
#define MOST_MEASURED	ARROW_KEPT_ENTRIES

/* Entries of at most so many bytes are not told apart. */
#define SHORT_ENTRY	64

static int64 vector_cost(ArrowVector *vector, int64 from, int64 to, int64 most);

/* Bits that an element takes in the file, without what it points to */
static int64
stored_bits(const ArrowVector *vector)
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

/* Likewise, in the file or in a value */
static int64
element_bits(const ArrowVector *vector)
{
	int64		bits = stored_bits(vector) + 8 * vector->label_bytes;

	return vector->parent != NULL ? Max(bits, PART_BITS) : bits;
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

/* ------------------------------------------------------------ one by one */

/* What element k of "from" on comes to, where it is something other elements may share. */
typedef int64 (*ElementCost) (ArrowVector *vector, const void *numbers, int64 k, int64 most);

/* How many of n elements come to "bytes" at most. */
static int64
elements_within(ArrowVector *vector, ElementCost element_cost, const void *numbers, int64 n, int64 bytes)
{
	int64		sum = 0;

	for (int64 k = 0; k < n; k++)
	{
		if (k % 1024 == 0)
			CHECK_FOR_INTERRUPTS();
		sum += element_cost(vector, numbers, k, bytes - sum);
		if (sum > bytes)
			return k;
	}
	return n;
}

/* Numbers of a slice that stand in two buffers. */
typedef struct NumberPair
{
	const char *first;
	const char *second;
} NumberPair;

/* ------------------------------------------------------------ list views */

static int64
list_view_cost(ArrowVector *vector, const void *numbers, int64 k, int64 most)
{
	const NumberPair *pair = numbers;
	int64		offset = signed_at(pair->first, vector->width, k);
	int64		size = signed_at(pair->second, vector->width, k);

	if (offset < 0 || size < 0 || offset > vector->children[0].length - size)
		return 0;
	return vector_cost(&vector->children[0], offset, offset + size, most);
}

/*
 * Do views with elements follow each other, with little between them?  *from
 * and *to are then where they lie.
 */
static bool
views_are_lists(const ArrowVector *vector, const NumberPair *pair, int64 n, int64 *from, int64 *to)
{
	int64		sum = 0;

	*from = *to = 0;
	for (int64 k = 0; k < n; k++)
	{
		int64		offset = signed_at(pair->first, vector->width, k);
		int64		size = signed_at(pair->second, vector->width, k);

		if (size == 0)
			continue;
		if (offset < *to || size < 0 || offset > vector->children[0].length - size)
			return false;
		if (sum == 0)
			*from = offset;
		*to = offset + size;
		sum += size;
	}
	return (*to - *from) / 2 <= sum;
}

static int64
extent_of_list_view(ArrowVector *vector, int64 from, int64 n, size_t bytes)
{
	NumberPair	pair;
	int64		first;
	int64		last;
	int64		fit;

	pair.first = numbers(vector, SLOT_MAIN, from, vector->width, n);
	pair.second = numbers(vector, SLOT_OTHER, from, vector->width, n);
	if (!views_are_lists(vector, &pair, n, &first, &last))
		return elements_within(vector, list_view_cost, &pair, n, (int64) bytes);

	/* going forward, as they will be loaded */
	fit = arrow_vector_extent(&vector->children[0], first, last, bytes);
	for (int64 k = 0; k < n; k++)
	{
		int64		size = signed_at(pair.second, vector->width, k);

		if (size > 0 && signed_at(pair.first, vector->width, k) + size - first > fit)
			return k;
	}
	return n;
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
union_cost(ArrowVector *vector, const void *numbers, int64 k, int64 most)
{
	const NumberPair *pair = numbers;
	int			type = ((const int8 *) pair->first)[k];
	int			c = type < 0 ? -1 : vector->child_of_type[type];
	int64		offset = signed_at(pair->second, 4, k);

	if (c < 0 || offset < 0 || offset >= vector->children[c].length)
		return 0;
	return vector_cost(&vector->children[c], offset, offset + 1, most);
}

/* Is no element of a child asked for twice? */
static bool
offsets_ascend(const ArrowVector *vector, const char *types, const char *offsets, int64 n)
{
	int64		last[ARROW_MAX_TYPE_IDS];

	for (int i = 0; i < ARROW_MAX_TYPE_IDS; i++)
		last[i] = -1;
	for (int64 k = 0; k < n; k++)
	{
		int			type = ((const int8 *) types)[k];
		int			c = type < 0 ? -1 : vector->child_of_type[type];
		int64		offset = signed_at(offsets, 4, k);

		if (c < 0)
			continue;
		if (offset <= last[c])
			return false;
		last[c] = offset;
	}
	return true;
}

static int64
extent_of_dense_union(ArrowVector *vector, int64 from, int64 n, size_t bytes)
{
	ChildSpan	spans[ARROW_MAX_TYPE_IDS];
	const char *types = numbers(vector, SLOT_MAIN, from, 1, n);
	const char *offsets = numbers(vector, SLOT_OTHER, from, 4, n);
	NumberPair	pair = {types, offsets};

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
	n = span_children(vector, types, offsets, n, spans);
	if (!offsets_ascend(vector, types, offsets, n))
		n = elements_within(vector, union_cost, &pair, n, (int64) bytes);
	return n;
}

/* ------------------------------------------------------------ runs */

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

/* What n elements of runs come to where each is a part of another value. */
static int64
runs_cost(ArrowVector *vector, int64 from, int64 n, int64 most)
{
	ArrowVector *ends = &vector->children[0];
	int64		run = arrow_runs_find(vector, from);
	int64		to = from + n;
	int64		sum = 0;

	for (; from < to && run < ends->length && sum <= most; run++)
	{
		int64		end = Min(signed_at(numbers(ends, SLOT_MAIN, run, ends->width, 1), ends->width, 0), to);
		int64		cost;

		CHECK_FOR_INTERRUPTS();
		if (end <= from)
			break;				/* the load will tell */
		cost = vector_cost(&vector->children[1], run, run + 1, most);
		if (pg_mul_s64_overflow(cost, end - from, &cost) || cost > most - sum)
			return most + 1;
		sum += cost;
		from = end;
	}
	return sum;
}

static int64
run_cost(ArrowVector *vector, const void *numbers, int64 k, int64 most)
{
	return runs_cost(vector, *(const int64 *) numbers + k, 1, most);
}

/* ------------------------------------------------------------ dictionaries */

static int64
entry_cost(const ArrowDictionary *dictionary, int64 index, int64 most)
{
	ArrowVector *part;
	int64		element;

	if (index < 0 || index >= dictionary->length)
		return 0;
	part = arrow_dictionary_entry(dictionary, index, &element);
	return vector_cost(part, element, element + 1, most);
}

static int64
index_cost(ArrowVector *vector, const void *numbers, int64 k, int64 most)
{
	return entry_cost(vector->dictionary, arrow_index_in(vector, numbers, k), most);
}

/* Some of the values that were met, for as many as there may be; -1: none. */
typedef struct IndexSet
{
	int64	   *slots;
	uint64		mask;
} IndexSet;

static bool
index_set_add(IndexSet *set, int64 index)
{
	uint64		slot = ((uint64) index * UINT64CONST(0x9E3779B97F4A7C15)) >> 32;

	for (;; slot++)
	{
		int64	   *at = &set->slots[slot & set->mask];

		if (*at == index)
			return false;
		if (*at < 0)
		{
			*at = index;
			return true;
		}
	}
}

/*
 * How many indexes lead to entries of "bytes" at most, of which each counts
 * once.  The first one has to be there anyway.
 */
static int64
distinct_within(ArrowVector *vector, const char *indexes, int64 n, int64 bytes)
{
	IndexSet	set;
	uint64		size = 64;
	int64		sum = -1;
	int64		k;

	while (size < 2 * (uint64) n)
		size *= 2;
	set.mask = size - 1;
	set.slots = MemoryContextAllocHuge(CurrentMemoryContext, size * sizeof(int64));
	memset(set.slots, -1, size * sizeof(int64));
	for (k = 0; k < n && sum <= bytes; k++)
	{
		int64		index = arrow_index_in(vector, indexes, k);

		if (index >= 0 && index < vector->dictionary->length && index_set_add(&set, index))
			sum = sum < 0 ? 0 : sum + entry_cost(vector->dictionary, index, bytes - sum);
	}
	pfree(set.slots);
	return sum > bytes ? k - 1 : k;
}

static int64
extent_of_indexes(ArrowVector *vector, int64 from, int64 n, size_t bytes)
{
	const ArrowDictionary *dictionary = vector->dictionary;
	const char *indexes;

	if (dictionary == NULL || dictionary->length == 0)
		return n;
	if (vector->parent == NULL && dictionary->length <= ARROW_KEPT_ENTRIES &&
		dictionary->value_bytes <= ARROW_KEPT_ENTRY_BYTES / 2)
		return n;				/* all of them are kept as values */
	if (dictionary->largest <= SHORT_ENTRY)
		return Min(n, (int64) bytes / SHORT_ENTRY);
	indexes = numbers(vector, SLOT_MAIN, from, vector->width, n);
	if (vector->parent == NULL)
		return distinct_within(vector, indexes, n, (int64) bytes);
	return elements_within(vector, index_cost, indexes, n, (int64) bytes);
}

void
arrow_dictionary_measure(ArrowDictionary *dictionary, ArrowVector *part)
{
	int64		bits = element_bits(part);

	if (part->shape == SHAPE_NULL || part->shape == SHAPE_BITS || part->shape == SHAPE_FIXED)
	{
		dictionary->largest = Max(dictionary->largest, bits / 8);
		dictionary->value_bytes += Min(part->length, ARROW_MOST_COST / Max(bits, 8)) * Max(bits, 8) / 8;
	}
	else if (part->length > MOST_MEASURED)
	{
		dictionary->largest = ARROW_MOST_COST;
		dictionary->value_bytes = ARROW_MOST_COST;
	}
	else
	{
		for (int64 i = 0; i < part->length; i++)
		{
			int64		cost = vector_cost(part, i, i + 1, ARROW_MOST_COST);

			CHECK_FOR_INTERRUPTS();
			dictionary->largest = Max(dictionary->largest, cost);
			dictionary->value_bytes = Min(dictionary->value_bytes + cost, ARROW_MOST_COST);
		}
	}
	dictionary->value_bytes = Min(dictionary->value_bytes, ARROW_MOST_COST);
}

/* ------------------------------------------------------------ what a range comes to */

static int64
sum_of_views(const char *views, int64 n, int64 most)
{
	int64		sum = 0;

	for (int64 k = 0; k < n && sum <= most; k++)
		sum += Max(*(const int32 *) (views + k * VIEW_BYTES), 0);
	return sum;
}

static int64
offsets_cost(ArrowVector *vector, int64 from, int64 n, int64 most)
{
	const char *offsets = numbers(vector, SLOT_MAIN, from, vector->width, n + 1);
	int64		first = signed_at(offsets, vector->width, 0);
	int64		last = signed_at(offsets, vector->width, n);

	if (first < 0 || last < first)
		return 0;
	return vector->shape == SHAPE_BYTES ? Min(last - first, most + 1) :
		vector_cost(&vector->children[0], first, last, most);
}

/* Without the elements' own bits. */
static int64
pointed_cost(ArrowVector *vector, int64 from, int64 n, int64 most)
{
	NumberPair	pair;
	int64		sum = 0;
	int64		end;

	switch ((ArrowShape) vector->shape)
	{
		case SHAPE_NULL:
		case SHAPE_BITS:
		case SHAPE_FIXED:
			break;
		case SHAPE_INDEXES:
			if (vector->dictionary != NULL)
			{
				pair.first = numbers(vector, SLOT_MAIN, from, vector->width, n);
				for (int64 k = 0; k < n && sum <= most; k++)
					sum += index_cost(vector, pair.first, k, most - sum);
			}
			break;
		case SHAPE_BYTES:
		case SHAPE_LIST:
			return offsets_cost(vector, from, n, most);
		case SHAPE_VIEWS:
			return sum_of_views(numbers(vector, SLOT_MAIN, from, VIEW_BYTES, n), n, most);
		case SHAPE_LIST_VIEW:
			pair.first = numbers(vector, SLOT_MAIN, from, vector->width, n);
			pair.second = numbers(vector, SLOT_OTHER, from, vector->width, n);
			for (int64 k = 0; k < n && sum <= most; k++)
				sum += list_view_cost(vector, &pair, k, most - sum);
			break;
		case SHAPE_FIXED_LIST:
			if (!pg_mul_s64_overflow(from + n, vector->field->list_size, &end))
				return vector_cost(&vector->children[0], end - n * vector->field->list_size, end, most);
			break;
		case SHAPE_STRUCT:
		case SHAPE_SPARSE_UNION:
			for (int i = 0; i < vector->nchildren && sum <= most; i++)
				sum += vector_cost(&vector->children[i], from, from + n, most - sum);
			break;
		case SHAPE_DENSE_UNION:
			pair.first = numbers(vector, SLOT_MAIN, from, 1, n);
			pair.second = numbers(vector, SLOT_OTHER, from, 4, n);
			for (int64 k = 0; k < n && sum <= most; k++)
				sum += union_cost(vector, &pair, k, most - sum);
			break;
		case SHAPE_RUNS:
			return runs_cost(vector, from, n, most);
	}
	return sum;
}

/* What elements [from, to) come to, each on its own; more than "most" is not told apart. */
static int64
vector_cost(ArrowVector *vector, int64 from, int64 to, int64 most)
{
	int64		bits = Max(element_bits(vector), 8);
	int64		cost;

	check_stack_depth();
	most = Min(most, ARROW_MOST_COST);
	if (from < 0 || from >= to || to > vector->length)
		return 0;
	if (most < 0 || to - from > most * 8 / bits)
		return Max(most, 0) + 1;
	cost = (to - from) * bits / 8;
	return cost + pointed_cost(vector, from, to - from, most - cost);
}

/* ------------------------------------------------------------ how many fit */

int64
arrow_vector_extent(ArrowVector *vector, int64 from, int64 to, size_t bytes)
{
	int64		bits = element_bits(vector);
	int64		n = to - from;

	check_stack_depth();
	if (n <= 1)
		return n;
	Assert(from >= 0 && to <= vector->length);
	bytes = Min(bytes, (size_t) ARROW_MOST_COST);
	if (bits > 0)
		n = Max(Min(n, (int64) bytes * 8 / bits), 1);
	switch ((ArrowShape) vector->shape)
	{
		case SHAPE_NULL:
		case SHAPE_BITS:
		case SHAPE_FIXED:
			break;
		case SHAPE_INDEXES:
			n = extent_of_indexes(vector, from, n, bytes);
			break;
		case SHAPE_LIST_VIEW:
			n = extent_of_list_view(vector, from, n, bytes);
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
			n = vector->parent == NULL ? extent_of_runs(vector, from, n, bytes) :
				elements_within(vector, run_cost, &from, n, (int64) bytes);
			break;
	}
	return Max(n, 1);
}
