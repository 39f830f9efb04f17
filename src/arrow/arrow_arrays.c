/*-------------------------------------------------------------------------
 *
 * arrow_arrays.c
 *	  Lists to arrays.
 *
 * Elements are converted some hundred at a time and appended to the image of
 * the array, which is complete when the list is: memory is that of the array,
 * whatever the list's elements need in between.
 *
 * A list of lists is an array of as many dimensions, and has to be
 * rectangular: PostgreSQL knows no other.  Its elements are found depth first.
 * An array without elements is '{}', of no dimension.
 *
 * A map is a list of its entries.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/tupmacs.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "arrow/arrow_converter_nested.h"
#include "compat.h"

/* An image that has grown beyond this is given back with its row. */
#define KEPT_IMAGE	(1024 * 1024)

/* The elements of one array, as they will stand in it. */
typedef struct ArrayImage
{
	MemoryContext context;
	int64		count;			/* elements */
	char	   *data;
	Size		used;
	Size		capacity;
	bool		has_nulls;
	bits8	   *nulls;			/* where has_nulls: a bit per element, 0 is null */
	Size		nulls_capacity;
} ArrayImage;

typedef struct ArrayState
{
	Oid			element_type;
	int16		length;
	bool		by_value;
	char		align;
	bool		plain;			/* by value, and nothing stands between two of them */
	ArrowConverter *element;
	int			levels;			/* lists below each other, the converter's own included */

	/* the array at hand */
	ArrayImage	image;
	int			known;			/* dimensions that have been met */
	int			dims[MAXDIM];

	/* the chunk at hand */
	ValueArena *arena;			/* of its elements */
	Datum		values[NESTED_CHUNK];
	bool		isnull[NESTED_CHUNK];
	int			current;
} ArrayState;

/* ------------------------------------------------------------ the image */

pg_noreturn static void refuse_size(const ArrowConverter *converter);

static void
refuse_size(const ArrowConverter *converter)
{
	ereport(ERROR,
			(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
			 errmsg("list in column \"%s\" of file \"%s\" is too large for an array",
					converter->column, converter->file),
			 errdetail("An array has at most %d elements and %d bytes.",
					   (int) MaxArraySize, (int) MaxAllocSize)));
}

static void
image_begin(ArrayImage *image)
{
	image->count = 0;
	image->used = 0;
	image->has_nulls = false;
}

static void
image_end(ArrayImage *image)
{
	if (image->capacity > KEPT_IMAGE)
	{
		pfree(image->data);
		image->data = NULL;
		image->capacity = 0;
	}
	if (image->nulls_capacity > KEPT_IMAGE)
	{
		pfree(image->nulls);
		image->nulls = NULL;
		image->nulls_capacity = 0;
	}
}

/* Room for "needed" bytes in all, of which those in use are kept. */
static void *
grown(ArrayImage *image, void *old, Size *capacity, Size needed)
{
	Size		size = Min(Max(Max(needed, *capacity * 2), 1024), MaxAllocSize);

	*capacity = size;
	return old ? repalloc(old, size) : MemoryContextAlloc(image->context, size);
}

static char *
image_reserve(const ArrowConverter *converter, ArrayImage *image, Size size)
{
	/* whatever it is aligned to afterwards */
	Size		needed = image->used + size + MAXIMUM_ALIGNOF;

	if (unlikely(needed > image->capacity))
	{
		if (needed > MaxAllocSize)
			refuse_size(converter);
		image->data = grown(image, image->data, &image->capacity, needed);
	}
	return image->data + image->used;
}

static void
image_set_bit(ArrayImage *image, int64 element, bool present)
{
	Size		byte = element / BITS_PER_BYTE;
	bits8		bit = 1 << (element % BITS_PER_BYTE);

	if (unlikely(byte >= image->nulls_capacity))
		image->nulls = grown(image, image->nulls, &image->nulls_capacity, byte + 1);
	if (element % BITS_PER_BYTE == 0)
		image->nulls[byte] = 0;
	if (present)
		image->nulls[byte] |= bit;
}

/* The first null: the elements before it were none. */
static void
image_begin_nulls(ArrayImage *image)
{
	image->has_nulls = true;
	for (int64 i = 0; i < image->count; i++)
		image_set_bit(image, i, true);
}

/* Elements in arrays have long headers always. */
static Size
image_put_varlena(const ArrowConverter *converter, ArrayImage *image, Datum value)
{
	struct varlena *from = (struct varlena *) DatumGetPointer(value);
	Size		length = VARSIZE_ANY_EXHDR(from);
	char	   *to = image_reserve(converter, image, VARHDRSZ + length);

	Assert(!VARATT_IS_EXTERNAL(from) && !VARATT_IS_COMPRESSED(from));
	SET_VARSIZE(to, VARHDRSZ + length);
	memcpy(to + VARHDRSZ, VARDATA_ANY(from), length);
	return VARHDRSZ + length;
}

static void
image_put(const ArrowConverter *converter, ArrayState *state, Datum value)
{
	ArrayImage *image = &state->image;
	Size		end;

	if (state->length < 0)
		end = image->used + image_put_varlena(converter, image, value);
	else
	{
		char	   *to = image_reserve(converter, image, state->length);

		if (state->by_value)
			store_att_byval(to, value, state->length);
		else
			memcpy(to, DatumGetPointer(value), state->length);
		end = image->used + state->length;
	}
	image->used = att_align_nominal(end, state->align);
	memset(image->data + end, 0, image->used - end);
}

/* The first n values of the chunk, by value and as wide as they are aligned, none of them null. */
static void
image_append_numbers(const ArrowConverter *converter, ArrayState *state, int n)
{
	ArrayImage *image = &state->image;
	const Datum *values = state->values;
	char	   *to = image_reserve(converter, image, (Size) n * state->length);

	if (state->length == sizeof(int64))
		memcpy(to, values, n * sizeof(int64));
	else if (state->length == sizeof(int32))
	{
		for (int i = 0; i < n; i++)
			((int32 *) to)[i] = (int32) values[i];
	}
	else
	{
		for (int i = 0; i < n; i++)
			store_att_byval(to + i * state->length, values[i], state->length);
	}
	image->used += (Size) n * state->length;
	image->count += n;
}

/* The first n values of the chunk. */
static void
image_append_chunk(const ArrowConverter *converter, ArrayState *state, int n)
{
	ArrayImage *image = &state->image;

	if (state->plain && !image->has_nulls && memchr(state->isnull, true, n) == NULL)
	{
		image_append_numbers(converter, state, n);
		return;
	}
	for (int i = 0; i < n; i++)
	{
		if (unlikely(state->isnull[i]) && !image->has_nulls)
			image_begin_nulls(image);
		if (image->has_nulls)
			image_set_bit(image, image->count, !state->isnull[i]);
		if (!state->isnull[i])
			image_put(converter, state, state->values[i]);
		image->count++;
	}
}

static ArrayType *
array_allocate(const ArrowConverter *converter, const ArrayState *state, ValueArena *arena,
			   int ndim, Size overhead, bool has_nulls)
{
	Size		size = overhead + state->image.used;
	ArrayType  *array;

	if (!AllocSizeIsValid(size))
		refuse_size(converter);
	array = value_arena_alloc(arena, size);
	memset(array, 0, overhead);
	SET_VARSIZE(array, size);
	array->ndim = ndim;
	array->dataoffset = has_nulls ? overhead : 0;
	array->elemtype = state->element_type;
	return array;
}

static Datum
array_from_image(const ArrowConverter *converter, const ArrayState *state, ValueArena *arena)
{
	const ArrayImage *image = &state->image;
	int			ndim = state->levels;
	ArrayType  *array;
	bits8	   *nulls;

	if (image->count == 0)
		return PointerGetDatum(array_allocate(converter, state, arena, 0,
											  ARR_OVERHEAD_NONULLS(0), false));

	array = array_allocate(converter, state, arena, ndim,
						   image->has_nulls ? ARR_OVERHEAD_WITHNULLS(ndim, image->count) :
						   ARR_OVERHEAD_NONULLS(ndim),
						   image->has_nulls);
	for (int i = 0; i < ndim; i++)
	{
		ARR_DIMS(array)[i] = state->dims[i];
		ARR_LBOUND(array)[i] = 1;
	}
	nulls = ARR_NULLBITMAP(array);
	if (nulls != NULL)
		memcpy(nulls, image->nulls, (image->count + BITS_PER_BYTE - 1) / BITS_PER_BYTE);
	if (image->used > 0)
		memcpy(ARR_DATA_PTR(array), image->data, image->used);
	return PointerGetDatum(array);
}

/* ------------------------------------------------------------ the list */

pg_noreturn static void refuse_ragged(const ArrowConverter *converter, const char *detail);

static void
refuse_ragged(const ArrowConverter *converter, const char *detail)
{
	ereport(ERROR,
			(errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR),
			 errmsg("list of lists in column \"%s\" of file \"%s\" is not rectangular",
					converter->column, converter->file),
			 errdetail_internal("%s", detail),
			 errhint("A column of type jsonb holds lists of any shape.")));
}

/* A list of n elements on this level: as long as the others there? */
static void
array_meet_dimension(const ArrowConverter *converter, ArrayState *state, int level, int64 n)
{
	int64		items = n;

	if (level < state->known)
	{
		if (n != state->dims[level])
			refuse_ragged(converter,
						  psprintf(_("A list of %lld elements stands beside one of %d."),
								   (long long) n, state->dims[level]));
		return;
	}
	if (n > (int64) MaxArraySize)
		refuse_size(converter);
	for (int i = 0; i < level; i++)
		items *= state->dims[i];	/* each product before was checked */
	if (items > (int64) MaxArraySize)
		refuse_size(converter);
	state->dims[level] = (int) n;
	state->known = level + 1;
}

/* Which element of the list an error is about. */
static void
array_error_context(void *argument)
{
	const ArrayState *state = argument;

	errcontext("element %lld of the list", (long long) (state->image.count + state->current + 1));
}

static void
array_append_elements(const ArrowConverter *converter, ArrayState *state,
					  ArrowVector *vector, int64 from, int64 to)
{
	ErrorContextCallback context = {error_context_stack, array_error_context, state};

	while (from < to)
	{
		int			n = (int) Min(to - from, NESTED_CHUNK);

		CHECK_FOR_INTERRUPTS();
		state->current = 0;
		error_context_stack = &context;
		arrow_convert(state->element, vector, from, from + n, NULL, 0, state->arena,
					  state->values, state->isnull, &state->current);
		error_context_stack = context.previous;
		image_append_chunk(converter, state, n);
		if (!state->by_value)
			value_arena_reset(state->arena);
		from += n;
	}
}

/* "vector" and "i" are what arrow_resolve made of them. */
static void
array_append_list(const ArrowConverter *converter, ArrayState *state,
				  ArrowVector *vector, int64 i, int level)
{
	ArrowVector *child = &vector->children[0];
	int64		from,
				to;

	arrow_list_range(vector, i, &from, &to);
	array_meet_dimension(converter, state, level, to - from);
	if (level + 1 == state->levels)
	{
		array_append_elements(converter, state, child, from, to);
		return;
	}
	for (int64 k = from; k < to; k++)
	{
		ArrowVector *list = child;
		int64		element = k;

		CHECK_FOR_INTERRUPTS();
		if (!arrow_resolve(&list, &element))
			refuse_ragged(converter, _("A null stands beside lists."));
		array_append_list(converter, state, list, element, level + 1);
	}
}

static Datum
array_element(ArrowConverter *converter, ArrowVector *vector, int64 i, ValueArena *arena, bool *isnull)
{
	ArrayState *state = converter->state;
	Datum		result;

	if (!arrow_resolve(&vector, &i))
	{
		*isnull = true;
		return 0;
	}
	state->known = 0;
	image_begin(&state->image);
	array_append_list(converter, state, vector, i, 0);
	result = array_from_image(converter, state, arena);
	image_end(&state->image);
	return result;
}

/* ------------------------------------------------------------ which elements */

/* Is a list that is an element of the array one more dimension of it? */
static bool
list_is_dimension(const ArrowField *field, Oid element_type)
{
	Oid			base = getBaseType(element_type);

	/* these hold lists themselves, the last one as a domain */
	if (base == JSONBOID || base == JSONOID || OidIsValid(get_element_type(base)))
		return false;
	return arrow_field_is_list(field) ||
		(field->type == ARROW_MAP && get_typtype(base) == TYPTYPE_COMPOSITE);
}

/* Down to the field of the elements; counts levels. */
static const ArrowField *
array_find_elements(const ArrowConverter *converter, ArrayState *state)
{
	const ArrowField *list = arrow_field_values(converter->field);
	const ArrowField *below = arrow_field_values(&list->children[0]);

	state->levels = 1;
	while (list_is_dimension(below, state->element_type))
	{
		list = below;
		below = arrow_field_values(&list->children[0]);
		state->levels++;
	}
	if (state->levels > MAXDIM)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("column \"%s\" of file \"%s\" has lists nested %d deep",
						converter->column, converter->file, state->levels),
				 errdetail("An array has at most %d dimensions.", MAXDIM),
				 errhint("A column of type jsonb holds lists of any depth.")));

	/* the entries of a map are named as the composite type's columns are */
	if (list->type == ARROW_MAP)
		return arrow_map_entries_field(converter, list, state->element_type);
	return &list->children[0];
}

void
arrow_prepare_array(ArrowConverter *converter)
{
	ArrayState *state = MemoryContextAllocZero(converter->context, sizeof(ArrayState));
	const ArrowField *elements;

	state->element_type = get_element_type(converter->type);
	get_typlenbyvalalign(state->element_type, &state->length, &state->by_value, &state->align);
	state->plain = state->by_value &&
		att_align_nominal(state->length, state->align) == (uintptr_t) state->length;
	if (state->length < -1)
		arrow_refuse_pair(converter);
	state->image.context = converter->context;
	state->arena = value_arena_create(converter->context);

	elements = array_find_elements(converter, state);
	state->element = arrow_converter_create_below(converter, elements, state->element_type,
												  converter->typmod, "[]");
	converter->state = state;
	converter->element = array_element;
	converter->convert = arrow_convert_elements;
}
