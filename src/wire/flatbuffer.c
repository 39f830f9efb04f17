/*-------------------------------------------------------------------------
 *
 * flatbuffer.c
 *	  Flatbuffers: reading hostile ones, writing our own.  See flatbuffer.h.
 *
 * Positions are offsets from the buffer's start when reading, and distances
 * from its end when writing: there, what has been written never moves.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "wire/flatbuffer.h"

/*
 * Writers share a string here and there (a time zone, say), so that looking
 * at all may cost more bytes than there are; but not many times more.
 */
#define BYTES_AGAIN			4
#define BYTES_AT_LEAST		(1024 * 1024)

/* Offsets within a flatbuffer are 32 bits, some of them with a sign. */
#define MAX_BYTES			PG_INT32_MAX

#define OFFSET_SIZE			FLAT_OFFSET_SIZE
#define VTABLE_HEADER		4	/* its own length, the table's length */

/* ------------------------------------------------------------ reading */

static bool
damaged(FlatReader *reader, const char *reason)
{
	if (reader->reason == NULL)
		reader->reason = reason;
	return false;
}

void
flat_reader_init(FlatReader *reader, ByteView bytes, int max_depth)
{
	reader->bytes = bytes;
	reader->max_depth = max_depth;
	reader->tables_left = FLAT_MAX_TABLES;
	reader->bytes_left = Min(bytes.length, MAX_BYTES) * BYTES_AGAIN + BYTES_AT_LEAST;
	reader->reason = NULL;
}

/* Where the offset at a position, which is within, leads. */
static bool
follow_offset(FlatReader *reader, size_t position, size_t *target)
{
	uint32		offset = byte_load_u32(reader->bytes.data + position);

	/* both are below 2^32, and size_t has 64 bits */
	*target = position + offset;
	if (offset < OFFSET_SIZE || !byte_view_holds(reader->bytes, *target, OFFSET_SIZE))
		return damaged(reader, "An offset leads out of the metadata.");
	return true;
}

/* The table at a position, with OFFSET_SIZE bytes there. */
static bool
table_open(FlatReader *reader, size_t position, int depth, FlatTable *table)
{
	ByteView	bytes = reader->bytes;
	int64		vtable = (int64) position - byte_load_i32(bytes.data + position);

	if (depth > reader->max_depth)
		return damaged(reader, "The metadata is nested too deeply.");
	if (reader->tables_left-- <= 0)
	{
		reader->tables_left = 0;
		return damaged(reader, "The metadata has too many tables.");
	}
	if (vtable < 0 || !byte_view_holds(bytes, vtable, VTABLE_HEADER))
		return damaged(reader, "A table's layout is out of the metadata.");

	table->reader = reader;
	table->position = position;
	table->vtable = vtable;
	table->vtable_length = byte_load_u16(bytes.data + vtable);
	table->length = byte_load_u16(bytes.data + vtable + 2);
	table->depth = depth;
	if (table->vtable_length < VTABLE_HEADER || table->length < OFFSET_SIZE ||
		!byte_view_holds(bytes, vtable, table->vtable_length) ||
		!byte_view_holds(bytes, position, table->length))
		return damaged(reader, "A table is out of the metadata.");
	return true;
}

bool
flat_reader_root(FlatReader *reader, FlatTable *root)
{
	size_t		position;

	if (reader->bytes.length < OFFSET_SIZE)
		return damaged(reader, "The metadata is cut short.");
	if (reader->bytes.length > MAX_BYTES)
		return damaged(reader, "The metadata is too long.");
	return follow_offset(reader, 0, &position) && table_open(reader, position, 1, root);
}

/* Where a field of "size" bytes stands; 0 where it is absent. */
static bool
field_position(const FlatTable *table, int field, size_t size, size_t *position)
{
	size_t		entry = VTABLE_HEADER + sizeof(uint16) * field;
	uint16		offset;

	*position = 0;
	if (entry + sizeof(uint16) > table->vtable_length)
		return true;
	offset = byte_load_u16(table->reader->bytes.data + table->vtable + entry);
	if (offset == 0)
		return true;
	if (offset < OFFSET_SIZE || offset + size > table->length)
		return damaged(table->reader, "A field is out of its table.");
	*position = table->position + offset;
	return true;
}

/* A scalar's bytes, as a number without a sign; *present says if it is there. */
static bool
scalar(const FlatTable *table, int field, int size, bool *present, uint64 *value)
{
	size_t		position;

	if (!field_position(table, field, size, &position))
		return false;
	*present = position != 0;
	*value = 0;
	for (int i = 0; *present && i < size; i++)
		*value |= (uint64) table->reader->bytes.data[position + i] << (8 * i);
	return true;
}

bool
flat_table_bool(const FlatTable *table, int field, bool absent, bool *value)
{
	uint8		byte;

	if (!flat_table_u8(table, field, absent, &byte))
		return false;
	*value = byte != 0;
	return true;
}

bool
flat_table_u8(const FlatTable *table, int field, uint8 absent, uint8 *value)
{
	bool		present;
	uint64		bits;

	if (!scalar(table, field, sizeof(*value), &present, &bits))
		return false;
	*value = present ? (uint8) bits : absent;
	return true;
}

bool
flat_table_i16(const FlatTable *table, int field, int16 absent, int16 *value)
{
	bool		present;
	uint64		bits;

	if (!scalar(table, field, sizeof(*value), &present, &bits))
		return false;
	*value = present ? (int16) bits : absent;
	return true;
}

bool
flat_table_i32(const FlatTable *table, int field, int32 absent, int32 *value)
{
	bool		present;
	uint64		bits;

	if (!scalar(table, field, sizeof(*value), &present, &bits))
		return false;
	*value = present ? (int32) bits : absent;
	return true;
}

bool
flat_table_i64(const FlatTable *table, int field, int64 absent, int64 *value)
{
	bool		present;
	uint64		bits;

	if (!scalar(table, field, sizeof(*value), &present, &bits))
		return false;
	*value = present ? (int64) bits : absent;
	return true;
}

/* Where a field that is an offset leads; 0 where it is absent. */
static bool
field_target(const FlatTable *table, int field, size_t *target)
{
	size_t		position;

	*target = 0;
	if (!field_position(table, field, OFFSET_SIZE, &position))
		return false;
	return position == 0 || follow_offset(table->reader, position, target);
}

bool
flat_table_table(const FlatTable *table, int field, FlatTable *result)
{
	size_t		target;

	if (!field_target(table, field, &target))
		return false;
	if (target != 0)
		return table_open(table->reader, target, table->depth + 1, result);
	memset(result, 0, sizeof(*result));
	return true;
}

bool
flat_table_union(const FlatTable *table, int type_field, int value_field,
				 uint8 *type, FlatTable *value)
{
	FlatReader *reader = table->reader;

	if (!flat_table_u8(table, type_field, 0, type))
		return false;
	if (*type == 0)
	{
		memset(value, 0, sizeof(*value));
		return true;
	}
	if (!flat_table_table(table, value_field, value))
		return false;
	if (value->reader == NULL)
		return damaged(reader, "A union has a type but no value.");
	return true;
}

/* The count at a position and so many elements behind it: *position is theirs. */
static bool
vector_open(FlatReader *reader, size_t *position, size_t element_size, uint32 *count)
{
	uint64		size;

	*count = byte_load_u32(reader->bytes.data + *position);
	*position += OFFSET_SIZE;
	/* a product of 32 bits each: elements are small */
	size = (uint64) *count * element_size;
	if (!byte_view_holds(reader->bytes, *position, size))
		return damaged(reader, "A vector or string is out of the metadata.");
	if (size > reader->bytes_left)
		return damaged(reader, "The metadata refers to the same bytes too often.");
	reader->bytes_left -= size;
	return true;
}

static bool
string_open(FlatReader *reader, size_t position, ByteView *string)
{
	uint32		length;

	if (!vector_open(reader, &position, 1, &length))
		return false;
	*string = byte_view(reader->bytes.data + position, length);
	return true;
}

bool
flat_table_string(const FlatTable *table, int field, ByteView *string)
{
	size_t		target;

	*string = byte_view(NULL, 0);
	if (!field_target(table, field, &target))
		return false;
	return target == 0 || string_open(table->reader, target, string);
}

bool
flat_table_vector(const FlatTable *table, int field, size_t element_size, FlatVector *vector)
{
	vector->reader = table->reader;
	vector->count = 0;
	vector->depth = table->depth;
	if (!field_target(table, field, &vector->position))
		return false;
	return vector->position == 0 ||
		vector_open(table->reader, &vector->position, element_size, &vector->count);
}

/* Where the offset that is an element leads. */
static bool
element_target(const FlatVector *vector, uint32 index, size_t *target)
{
	return follow_offset(vector->reader, vector->position + (size_t) OFFSET_SIZE * index, target);
}

bool
flat_vector_table(const FlatVector *vector, uint32 index, FlatTable *table)
{
	size_t		target;

	Assert(index < vector->count);
	return element_target(vector, index, &target) &&
		table_open(vector->reader, target, vector->depth + 1, table);
}

bool
flat_vector_string(const FlatVector *vector, uint32 index, ByteView *string)
{
	size_t		target;

	Assert(index < vector->count);
	return element_target(vector, index, &target) &&
		string_open(vector->reader, target, string);
}

/* ------------------------------------------------------------ writing */

#define FIRST_CAPACITY		1024
#define FINAL_ALIGNMENT		8

void
flat_builder_init(FlatBuilder *builder)
{
	builder->capacity = FIRST_CAPACITY;
	builder->data = palloc(builder->capacity);
	builder->length = 0;
}

/* Room in front of what is there; returns where the new bytes begin. */
static uint8 *
prepend(FlatBuilder *builder, size_t size)
{
	if (size > builder->capacity - builder->length)
	{
		size_t		capacity = builder->capacity;
		uint8	   *data;

		/* palloc refuses what is too much, long before a sum overflows */
		while (size > capacity - builder->length)
			capacity *= 2;
		data = palloc(capacity);
		memcpy(data + capacity - builder->length,
			   builder->data + builder->capacity - builder->length, builder->length);
		pfree(builder->data);
		builder->data = data;
		builder->capacity = capacity;
	}
	builder->length += size;
	return builder->data + builder->capacity - builder->length;
}

/*
 * Zeros, so that what is put in front next, once it is "size" bytes long,
 * begins at a multiple of the alignment from the buffer's end.
 */
static void
prepend_padding(FlatBuilder *builder, size_t size, size_t alignment)
{
	size_t		padding = -(builder->length + size) & (alignment - 1);

	memset(prepend(builder, padding), 0, padding);
}

static void
prepend_number(FlatBuilder *builder, uint64 value, int size)
{
	byte_store(prepend(builder, size), value, size);
}

/* The offset to what was built, as it is from the place where it will stand. */
static void
prepend_offset(FlatBuilder *builder, FlatRef ref)
{
	Assert(ref > 0 && ref <= builder->length);
	prepend_number(builder, builder->length + OFFSET_SIZE - ref, OFFSET_SIZE);
}

FlatRef
flat_build_bytes(FlatBuilder *builder, ByteView string)
{
	/* a zero that does not count ends it */
	prepend_padding(builder, string.length + 1, OFFSET_SIZE);
	prepend_number(builder, 0, 1);
	if (string.length > 0)
		memcpy(prepend(builder, string.length), string.data, string.length);
	prepend_number(builder, string.length, OFFSET_SIZE);
	return (FlatRef) builder->length;
}

FlatRef
flat_build_string(FlatBuilder *builder, const char *string)
{
	return flat_build_bytes(builder, byte_view(string, strlen(string)));
}

FlatRef
flat_build_vector(FlatBuilder *builder, const uint8 *elements,
				  size_t element_size, size_t alignment, uint32 count)
{
	size_t		size = element_size * count;

	/* the elements are aligned, and so is the count in front of them */
	prepend_padding(builder, size, Max(alignment, OFFSET_SIZE));
	if (size > 0)
		memcpy(prepend(builder, size), elements, size);
	prepend_number(builder, count, OFFSET_SIZE);
	return (FlatRef) builder->length;
}

FlatRef
flat_build_offsets(FlatBuilder *builder, const FlatRef *refs, uint32 count)
{
	prepend_padding(builder, 0, OFFSET_SIZE);
	for (uint32 i = count; i-- > 0;)
		prepend_offset(builder, refs[i]);
	prepend_number(builder, count, OFFSET_SIZE);
	return (FlatRef) builder->length;
}

static void
field_append(FlatFields *fields, int number, int size, uint64 value)
{
	Assert(fields->nfields < FLAT_MAX_FIELDS && number >= 0 && number < FLAT_MAX_FIELDS);
	fields->fields[fields->nfields++] = (struct FlatField){number, size, value};
}

void
flat_field_scalar(FlatFields *fields, int number, int size, int64 value, int64 absent)
{
	if (value != absent)
		field_append(fields, number, size, (uint64) value);
}

void
flat_field_ref(FlatFields *fields, int number, FlatRef ref)
{
	if (ref != 0)
		field_append(fields, number, 0, ref);
}

void
flat_field_union(FlatFields *fields, int type_number, int value_number, uint8 type, FlatRef value)
{
	flat_field_scalar(fields, type_number, 1, type, 0);
	flat_field_ref(fields, value_number, value);
}

FlatRef
flat_build_table(FlatBuilder *builder, const FlatFields *fields)
{
	static const int sizes[] = {8, 4, 2, 1};
	size_t		places[FLAT_MAX_FIELDS] = {0};
	size_t		end = builder->length;
	size_t		table;
	int			nentries = 0;

	/* the largest first, so that the smaller need no padding */
	for (size_t s = 0; s < lengthof(sizes); s++)
	{
		for (int i = 0; i < fields->nfields; i++)
		{
			const struct FlatField *field = &fields->fields[i];
			int			size = field->size == 0 ? OFFSET_SIZE : field->size;

			if (size != sizes[s])
				continue;
			prepend_padding(builder, size, size);
			if (field->size == 0)
				prepend_offset(builder, (FlatRef) field->value);
			else
				prepend_number(builder, field->value, size);
			places[field->number] = builder->length;
			nentries = Max(nentries, field->number + 1);
		}
	}
	prepend_padding(builder, OFFSET_SIZE, OFFSET_SIZE);

	/* the layout stands right in front of its table */
	prepend_number(builder, VTABLE_HEADER + sizeof(uint16) * nentries, OFFSET_SIZE);
	table = builder->length;
	for (int i = nentries; i-- > 0;)
		prepend_number(builder, places[i] == 0 ? 0 : table - places[i], sizeof(uint16));
	prepend_number(builder, table - end, sizeof(uint16));
	prepend_number(builder, VTABLE_HEADER + sizeof(uint16) * nentries, sizeof(uint16));
	return (FlatRef) table;
}

ByteView
flat_builder_finish(FlatBuilder *builder, FlatRef root)
{
	prepend_padding(builder, OFFSET_SIZE, FINAL_ALIGNMENT);
	prepend_offset(builder, root);
	return byte_view(builder->data + builder->capacity - builder->length, builder->length);
}
