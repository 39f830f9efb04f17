/*-------------------------------------------------------------------------
 *
 * flatbuffer.h
 *	  Flatbuffers: reading hostile ones, writing our own.
 *
 * A flatbuffer is a tree of tables (fields by number, all optional), vectors
 * and strings, tied by offsets.  Nothing is verified in advance: each access
 * checks the bytes that it touches, so that what is never asked for costs
 * nothing and may be broken.  Alignment is not asked for.
 *
 * Offsets lead forward, so there is no cycle, but a table may hang below many
 * others.  Hence a reader has a budget of tables and of bytes in strings and
 * vectors; both are used up by looking, however often the same thing is seen.
 *
 * Every function of the reader returns false for bytes that cannot be, with
 * the reason in reader->reason; a field that is merely absent is no failure.
 *
 * Knows no schema: which field has which number and type is the caller's.
 *
 *-------------------------------------------------------------------------
 */
#ifndef OUTERJOIN_FLATBUFFER_H
#define OUTERJOIN_FLATBUFFER_H

#include "wire/byte_cursor.h"

/* ------------------------------------------------------------ reading */

/* Tables that one reader looks at. */
#define FLAT_MAX_TABLES		1000000

typedef struct FlatReader
{
	ByteView	bytes;
	int			max_depth;		/* tables below each other */
	int			tables_left;
	size_t		bytes_left;		/* of strings and vectors */
	const char *reason;			/* of the first failure; a constant */
} FlatReader;

typedef struct FlatTable
{
	FlatReader *reader;			/* NULL: the table is absent */
	size_t		position;
	size_t		vtable;
	uint16		vtable_length;
	uint16		length;
	int			depth;			/* of the root: 1 */
} FlatTable;

/* An absent vector has a count of 0. */
typedef struct FlatVector
{
	FlatReader *reader;
	size_t		position;		/* of its first element */
	uint32		count;
	int			depth;			/* of the table that it is a field of */
} FlatVector;

extern void flat_reader_init(FlatReader *reader, ByteView bytes, int max_depth);
extern bool flat_reader_root(FlatReader *reader, FlatTable *root);

/* Scalars; "absent" is the schema's default. */
extern bool flat_table_bool(const FlatTable *table, int field, bool absent, bool *value);
extern bool flat_table_u8(const FlatTable *table, int field, uint8 absent, uint8 *value);
extern bool flat_table_i16(const FlatTable *table, int field, int16 absent, int16 *value);
extern bool flat_table_i32(const FlatTable *table, int field, int32 absent, int32 *value);
extern bool flat_table_i64(const FlatTable *table, int field, int64 absent, int64 *value);

/* An absent table has no reader. */
extern bool flat_table_table(const FlatTable *table, int field, FlatTable *result);

/*
 * A union is two fields: the type's number, 0 for none, and the value.  A
 * type without a value is a failure.
 */
extern bool flat_table_union(const FlatTable *table, int type_field, int value_field,
							 uint8 *type, FlatTable *value);

/* Any bytes; data is NULL where the string is absent, and only there. */
extern bool flat_table_string(const FlatTable *table, int field, ByteView *string);

/* A vector of scalars or structs, each of element_size bytes, or of offsets. */
extern bool flat_table_vector(const FlatTable *table, int field, size_t element_size,
							  FlatVector *vector);

/* The bytes of element "index" < count. */
static inline const uint8 *
flat_vector_element(const FlatVector *vector, size_t element_size, uint32 index)
{
	Assert(index < vector->count);
	return vector->reader->bytes.data + vector->position + element_size * index;
}

/* Elements of a vector of offsets (element_size: FLAT_OFFSET_SIZE). */
#define FLAT_OFFSET_SIZE	4

extern bool flat_vector_table(const FlatVector *vector, uint32 index, FlatTable *table);
extern bool flat_vector_string(const FlatVector *vector, uint32 index, ByteView *string);

/* ------------------------------------------------------------ writing */

/*
 * A flatbuffer is built from its leaves to its root, each part before what
 * refers to it.  The buffer grows in the current memory context.
 */
typedef struct FlatBuilder
{
	uint8	   *data;
	size_t		capacity;
	size_t		length;			/* used, at the end of data */
} FlatBuilder;

/* What was built: its distance from the buffer's end.  0: nothing. */
typedef uint32 FlatRef;

#define FLAT_MAX_FIELDS		16

/* The fields of a table to be; begin with {0}. */
typedef struct FlatFields
{
	int			nfields;
	struct FlatField
	{
		uint8		number;
		uint8		size;		/* of a scalar; 0: value is a FlatRef */
		uint64		value;
	}			fields[FLAT_MAX_FIELDS];
} FlatFields;

extern void flat_builder_init(FlatBuilder *builder);

extern FlatRef flat_build_string(FlatBuilder *builder, const char *string);
extern FlatRef flat_build_bytes(FlatBuilder *builder, ByteView string);

/* Elements as they are to stand there: scalars or structs, little-endian. */
extern FlatRef flat_build_vector(FlatBuilder *builder, const uint8 *elements,
								 size_t element_size, size_t alignment, uint32 count);

/* A vector of tables, or of strings. */
extern FlatRef flat_build_offsets(FlatBuilder *builder, const FlatRef *refs, uint32 count);

/* A field that has its default is left out. */
extern void flat_field_scalar(FlatFields *fields, int number, int size, int64 value, int64 absent);
extern void flat_field_ref(FlatFields *fields, int number, FlatRef ref);
extern void flat_field_union(FlatFields *fields, int type_number, int value_number,
							 uint8 type, FlatRef value);
extern FlatRef flat_build_table(FlatBuilder *builder, const FlatFields *fields);

/* The finished buffer; a multiple of 8 bytes long. */
extern ByteView flat_builder_finish(FlatBuilder *builder, FlatRef root);

#endif							/* OUTERJOIN_FLATBUFFER_H */
