/*-------------------------------------------------------------------------
 *
 * arrow_metadata.c
 *	  Arrow's metadata out of flatbuffers; see arrow_metadata.h.
 *
 * What a thing takes here is allocated only once the reader's budget has paid
 * for it, or for something as large: an array of fields from the number of
 * fields, all else from bytes and tables looked at.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "mb/pg_wchar.h"

#include "arrow/arrow_metadata.h"
#include "arrow/arrow_tables.h"
#include "wire/flatbuffer.h"

/* No honest file comes near it, and no array made from so much is too large. */
#define MAX_METADATA_BYTES	(256 * 1024 * 1024)

/* A field's own tables, and those that the first field hangs below. */
#define MAX_TABLE_DEPTH		(ARROW_MAX_DEPTH + 8)

/* Every file begins with "ARROW1" and two zeros. */
#define FILE_MAGIC_BYTES	8

/* Version 0.17 of the C++ library compressed before the format had a word for it. */
#define EARLY_COMPRESSION_KEY	"ARROW:experimental_compression"

#define MAX_DECIMAL_SCALE	1000

static bool
refuse(FlatReader *reader, const char *reason)
{
	if (reader->reason == NULL)
		reader->reason = reason;
	return false;
}

/* Begin to read; false leaves the reason in the reader. */
static bool
root_open(FlatReader *reader, ByteView bytes, FlatTable *root)
{
	flat_reader_init(reader, bytes, MAX_TABLE_DEPTH);
	if (bytes.length > MAX_METADATA_BYTES)
		return refuse(reader, "The metadata is too long.");
	return flat_reader_root(reader, root);
}

/* What a parse function returns. */
static bool
finish(const FlatReader *reader, bool good, const char **reason)
{
	*reason = reader->reason;
	return good;
}

/* ------------------------------------------------------------ texts */

static bool
is_text(ByteView bytes)
{
	if (bytes.length == 0)
		return bytes.data != NULL;
	return memchr(bytes.data, 0, bytes.length) == NULL &&
		pg_encoding_verifymbstr(PG_UTF8, (const char *) bytes.data, (int) bytes.length) ==
		(int) bytes.length;
}

static const char *
text_copy(ByteView bytes)
{
	return pnstrdup((const char *) bytes.data, bytes.length);
}

/* A string that has to be a text; "absent" where there is none. */
static bool
text_parse(const FlatTable *table, int number, const char *absent, const char **text)
{
	ByteView	bytes;

	if (!flat_table_string(table, number, &bytes))
		return false;
	*text = absent;
	if (bytes.data == NULL)
		return true;
	if (!is_text(bytes))
		return refuse(table->reader, "A name is not valid in UTF-8, or has a zero byte.");
	*text = text_copy(bytes);
	return true;
}

/* One pair; left out where it is not two texts. */
static bool
pair_parse(const FlatTable *table, ArrowMetadata *metadata)
{
	ByteView	key;
	ByteView	value;

	if (!flat_table_string(table, KEY_VALUE_KEY, &key) ||
		!flat_table_string(table, KEY_VALUE_VALUE, &value))
		return false;
	if (!is_text(key) || !is_text(value))
		return true;
	metadata->keys[metadata->n] = text_copy(key);
	metadata->values[metadata->n] = text_copy(value);
	metadata->n++;
	return true;
}

static bool
metadata_parse(const FlatTable *table, int number, ArrowMetadata *metadata)
{
	FlatVector	vector;

	memset(metadata, 0, sizeof(*metadata));
	if (!flat_table_vector(table, number, FLAT_OFFSET_SIZE, &vector))
		return false;
	if (vector.count == 0)
		return true;
	if (vector.count > (uint32) table->reader->tables_left)
		return refuse(table->reader, "The metadata has too many tables.");
	metadata->keys = palloc(vector.count * sizeof(char *));
	metadata->values = palloc(vector.count * sizeof(char *));
	for (uint32 i = 0; i < vector.count; i++)
	{
		FlatTable	pair;

		if (!flat_vector_table(&vector, i, &pair) || !pair_parse(&pair, metadata))
			return false;
	}
	return true;
}

const char *
arrow_metadata_value(const ArrowMetadata *metadata, const char *key)
{
	for (int i = 0; i < metadata->n; i++)
	{
		if (strcmp(metadata->keys[i], key) == 0)
			return metadata->values[i];
	}
	return NULL;
}

/* ------------------------------------------------------------ types */

/* A field of an enumeration, from 0 to "last". */
static bool
enum_parse(const FlatTable *table, int number, int16 absent, int16 last, int16 *value)
{
	if (!flat_table_i16(table, number, absent, value))
		return false;
	if (*value < 0 || *value > last)
		return refuse(table->reader, "The metadata has an unknown unit, precision or mode.");
	return true;
}

static bool
time_unit_parse(const FlatTable *table, int number, int16 absent, ArrowTimeUnit *unit)
{
	int16		value;

	if (!enum_parse(table, number, absent, ARROW_NANOSECOND, &value))
		return false;
	*unit = value;
	return true;
}

static bool
int_parse(const FlatTable *table, int *bits, bool *is_signed)
{
	int32		width;

	if (!flat_table_i32(table, INT_BIT_WIDTH, 0, &width) ||
		!flat_table_bool(table, INT_SIGNED, false, is_signed))
		return false;
	if (width != 8 && width != 16 && width != 32 && width != 64)
		return refuse(table->reader, "An integer has an unknown width.");
	*bits = width;
	return true;
}

static bool
floating_point_parse(const FlatTable *table, ArrowField *field)
{
	int16		precision;

	if (!enum_parse(table, FLOATING_POINT_PRECISION, 0, 2, &precision))
		return false;
	field->bit_width = 16 << precision;
	return true;
}

/* The most digits that a decimal of so many bits can have; 0 for no width. */
static int
decimal_digits(int bits)
{
	switch (bits)
	{
		case 32:
			return 9;
		case 64:
			return 18;
		case 128:
			return 38;
		case 256:
			return 76;
		default:
			return 0;
	}
}

static bool
decimal_parse(const FlatTable *table, ArrowField *field)
{
	int32		precision;
	int32		scale;
	int32		bits;

	if (!flat_table_i32(table, DECIMAL_PRECISION, 0, &precision) ||
		!flat_table_i32(table, DECIMAL_SCALE, 0, &scale) ||
		!flat_table_i32(table, DECIMAL_BIT_WIDTH, DECIMAL_DEFAULT_BITS, &bits))
		return false;
	if (precision < 1 || precision > decimal_digits(bits) ||
		scale < -MAX_DECIMAL_SCALE || scale > MAX_DECIMAL_SCALE)
		return refuse(table->reader, "A decimal has an impossible width, precision or scale.");
	field->precision = precision;
	field->scale = scale;
	field->bit_width = bits;
	return true;
}

static bool
date_parse(const FlatTable *table, ArrowField *field)
{
	int16		unit;

	if (!enum_parse(table, DATE_UNIT, DATE_IN_MILLISECONDS, DATE_IN_MILLISECONDS, &unit))
		return false;
	field->unit = unit == DATE_IN_DAYS ? ARROW_DAY : ARROW_MILLISECOND;
	field->bit_width = unit == DATE_IN_DAYS ? 32 : 64;
	return true;
}

static bool
time_parse(const FlatTable *table, ArrowField *field)
{
	int32		bits;

	if (!time_unit_parse(table, TIME_UNIT, ARROW_MILLISECOND, &field->unit) ||
		!flat_table_i32(table, TIME_BIT_WIDTH, TIME_DEFAULT_BITS, &bits))
		return false;
	if (bits != (field->unit <= ARROW_MILLISECOND ? 32 : 64))
		return refuse(table->reader, "A time has a width that does not go with its unit.");
	field->bit_width = bits;
	return true;
}

/* An empty time zone is as good as none. */
static bool
timestamp_parse(const FlatTable *table, ArrowField *field)
{
	field->bit_width = 64;
	if (!time_unit_parse(table, TIMESTAMP_UNIT, ARROW_SECOND, &field->unit) ||
		!text_parse(table, TIMESTAMP_TIMEZONE, NULL, &field->timezone))
		return false;
	if (field->timezone && field->timezone[0] == '\0')
		field->timezone = NULL;
	return true;
}

static bool
interval_parse(const FlatTable *table, ArrowField *field)
{
	int16		unit;

	if (!enum_parse(table, INTERVAL_UNIT, 0, ARROW_MONTH_DAY_NANO, &unit))
		return false;
	field->interval = unit;
	field->bit_width = 32 << unit;
	return true;
}

/* The number of bytes or elements that a type has, not negative. */
static bool
size_parse(const FlatTable *table, int number, int *size)
{
	int32		value;

	if (!flat_table_i32(table, number, 0, &value))
		return false;
	if (value < 0)
		return refuse(table->reader, "A type has a negative size.");
	*size = value;
	return true;
}

/* The type numbers of a union, by default the numbers of its children. */
static bool
type_ids_parse(const FlatTable *table, ArrowField *field)
{
	FlatVector	vector;
	bool		used[ARROW_MAX_TYPE_IDS] = {0};

	if (!flat_table_vector(table, UNION_TYPE_IDS, sizeof(int32), &vector))
		return false;
	if (field->nchildren > ARROW_MAX_TYPE_IDS ||
		(vector.count > 0 && vector.count != (uint32) field->nchildren))
		return refuse(table->reader, "A union has another number of types than of fields.");
	field->ntype_ids = field->nchildren;
	field->type_ids = palloc(field->nchildren * sizeof(int));
	for (int i = 0; i < field->nchildren; i++)
	{
		int32		id = vector.count == 0 ? i :
			byte_load_i32(flat_vector_element(&vector, sizeof(int32), i));

		if (id < 0 || id >= ARROW_MAX_TYPE_IDS || used[id])
			return refuse(table->reader, "A union's type number is out of range or not unique.");
		used[id] = true;
		field->type_ids[i] = id;
	}
	return true;
}

static bool
union_parse(const FlatTable *table, ArrowField *field)
{
	int16		mode;

	if (!enum_parse(table, UNION_MODE, 0, 1, &mode))
		return false;
	field->dense_union = mode == 1;
	return type_ids_parse(table, field);
}

/* Can a field of this type have the children that it has? */
static bool
children_fit(const ArrowField *field)
{
	const ArrowField *child = field->children;

	switch (field->type)
	{
		case ARROW_STRUCT:
		case ARROW_UNION:
			return true;
		case ARROW_LIST:
		case ARROW_LARGE_LIST:
		case ARROW_LIST_VIEW:
		case ARROW_LARGE_LIST_VIEW:
		case ARROW_FIXED_SIZE_LIST:
			return field->nchildren == 1;
		case ARROW_MAP:
			return field->nchildren == 1 && child->type == ARROW_STRUCT &&
				child->nchildren == 2 && !child->has_dictionary;
		case ARROW_RUN_END_ENCODED:
			return field->nchildren == 2 && child->type == ARROW_INT && child->is_signed &&
				child->bit_width > 8 && !child->has_dictionary;
		default:
			return field->nchildren == 0;
	}
}

/* What the type's own table says. */
static bool
type_table_parse(const FlatTable *table, ArrowField *field)
{
	switch (field->type)
	{
		case ARROW_INT:
			return int_parse(table, &field->bit_width, &field->is_signed);
		case ARROW_FLOATING_POINT:
			return floating_point_parse(table, field);
		case ARROW_BOOL:
			field->bit_width = 1;
			return true;
		case ARROW_DECIMAL:
			return decimal_parse(table, field);
		case ARROW_DATE:
			return date_parse(table, field);
		case ARROW_TIME:
			return time_parse(table, field);
		case ARROW_TIMESTAMP:
			return timestamp_parse(table, field);
		case ARROW_DURATION:
			field->bit_width = 64;
			return time_unit_parse(table, DURATION_UNIT, ARROW_MILLISECOND, &field->unit);
		case ARROW_INTERVAL:
			return interval_parse(table, field);
		case ARROW_UNION:
			return union_parse(table, field);
		case ARROW_FIXED_SIZE_BINARY:
			return size_parse(table, FIXED_SIZE_BINARY_WIDTH, &field->byte_width);
		case ARROW_FIXED_SIZE_LIST:
			return size_parse(table, FIXED_SIZE_LIST_SIZE, &field->list_size);
		case ARROW_MAP:
			return flat_table_bool(table, MAP_KEYS_SORTED, false, &field->keys_sorted);
		default:
			return true;
	}
}

/* The type of a field whose children are known. */
static bool
type_parse(const FlatTable *table, ArrowField *field)
{
	FlatTable	type_table;
	uint8		type;

	if (!flat_table_union(table, FIELD_TYPE_TYPE, FIELD_TYPE, &type, &type_table))
		return false;
	if (type < ARROW_NULL || type > ARROW_LARGE_LIST_VIEW)
		return refuse(table->reader, "A field has no type, or an unknown one.");
	field->type = type;
	if (!type_table_parse(&type_table, field))
		return false;
	if (!children_fit(field))
		return refuse(table->reader, "A field's type does not go with the fields in it.");
	return true;
}

static bool
dictionary_parse(const FlatTable *table, ArrowField *field)
{
	FlatTable	dictionary;
	FlatTable	index;
	int16		kind;

	if (!flat_table_table(table, FIELD_DICTIONARY, &dictionary))
		return false;
	if (dictionary.reader == NULL)
		return true;
	field->has_dictionary = true;
	field->index_bits = 32;
	field->index_signed = true;
	if (!flat_table_i64(&dictionary, DICTIONARY_ID, 0, &field->dictionary_id) ||
		!flat_table_bool(&dictionary, DICTIONARY_ORDERED, false, &field->dictionary_ordered) ||
		!enum_parse(&dictionary, DICTIONARY_KIND, 0, 0, &kind) ||
		!flat_table_table(&dictionary, DICTIONARY_INDEX_TYPE, &index))
		return false;
	return index.reader == NULL || int_parse(&index, &field->index_bits, &field->index_signed);
}

/* ------------------------------------------------------------ schemas */

static bool fields_parse(const FlatTable *table, int number, int depth, int *fields_left,
						 int *nfields, ArrowField **fields);

static bool
field_parse(const FlatTable *table, int depth, int *fields_left, ArrowField *field)
{
	return text_parse(table, FIELD_NAME, "", &field->name) &&
		flat_table_bool(table, FIELD_NULLABLE, false, &field->nullable) &&
		fields_parse(table, FIELD_CHILDREN, depth + 1, fields_left,
					 &field->nchildren, &field->children) &&
		type_parse(table, field) &&
		dictionary_parse(table, field) &&
		metadata_parse(table, FIELD_METADATA, &field->metadata);
}

/* A vector of fields, all at one depth; those of a schema are at 1. */
static bool
fields_parse(const FlatTable *table, int number, int depth, int *fields_left,
			 int *nfields, ArrowField **fields)
{
	FlatVector	vector;

	*nfields = 0;
	*fields = NULL;
	if (!flat_table_vector(table, number, FLAT_OFFSET_SIZE, &vector))
		return false;
	if (vector.count == 0)
		return true;
	if (depth > ARROW_MAX_DEPTH)
		return refuse(table->reader, "The schema's fields are nested too deeply.");
	if (vector.count > (uint32) *fields_left)
		return refuse(table->reader, "The schema has too many fields.");
	*fields_left -= vector.count;
	*nfields = vector.count;
	*fields = palloc0(vector.count * sizeof(ArrowField));
	for (uint32 i = 0; i < vector.count; i++)
	{
		FlatTable	field;

		if (!flat_vector_table(&vector, i, &field) ||
			!field_parse(&field, depth, fields_left, &(*fields)[i]))
			return false;
	}
	return true;
}

static bool
schema_parse(const FlatTable *table, ArrowSchema *schema)
{
	int			fields_left = ARROW_MAX_FIELDS;
	int16		endianness;

	if (!enum_parse(table, SCHEMA_ENDIANNESS, 0, 1, &endianness))
		return false;
	schema->big_endian = endianness == 1;
	return fields_parse(table, SCHEMA_FIELDS, 1, &fields_left, &schema->nfields, &schema->fields) &&
		metadata_parse(table, SCHEMA_METADATA, &schema->metadata);
}

bool
arrow_schema_parse(ByteView bytes, ArrowSchema *schema, const char **reason)
{
	FlatReader	reader;
	FlatTable	root;

	memset(schema, 0, sizeof(*schema));
	return finish(&reader, root_open(&reader, bytes, &root) && schema_parse(&root, schema), reason);
}

static bool
version_parse(const FlatTable *table, int number, int16 oldest, int *version)
{
	int16		value;

	if (!flat_table_i16(table, number, 0, &value))
		return false;
	if (value < oldest)
		return refuse(table->reader, "The format's version is older than 4.");
	if (value > ARROW_V5)
		return refuse(table->reader, "The format's version is newer than 5.");
	*version = Max(value, ARROW_V4);
	return true;
}

/* ------------------------------------------------------------ messages */

static bool
nodes_parse(const FlatTable *table, ArrowBatchSpec *batch)
{
	FlatVector	vector;

	if (!flat_table_vector(table, BATCH_NODES, NODE_SIZE, &vector))
		return false;
	batch->nnodes = vector.count;
	batch->nodes = palloc(vector.count * sizeof(ArrowNode));
	for (uint32 i = 0; i < vector.count; i++)
	{
		const uint8 *bytes = flat_vector_element(&vector, NODE_SIZE, i);
		ArrowNode  *node = &batch->nodes[i];

		node->length = byte_load_i64(bytes);
		node->null_count = byte_load_i64(bytes + sizeof(int64));
		if (node->length < 0 || node->null_count < 0 || node->null_count > node->length)
			return refuse(table->reader, "A field's number of values or of nulls is impossible.");
	}
	return true;
}

static bool
buffers_parse(const FlatTable *table, ArrowBatchSpec *batch)
{
	FlatVector	vector;

	if (!flat_table_vector(table, BATCH_BUFFERS, BUFFER_SIZE, &vector))
		return false;
	batch->nbuffers = vector.count;
	batch->buffers = palloc(vector.count * sizeof(ArrowBufferSpec));
	for (uint32 i = 0; i < vector.count; i++)
	{
		const uint8 *bytes = flat_vector_element(&vector, BUFFER_SIZE, i);
		ArrowBufferSpec *buffer = &batch->buffers[i];

		buffer->offset = byte_load_i64(bytes);
		buffer->length = byte_load_i64(bytes + sizeof(int64));
		/* where nothing is, is of no interest, and writers differ in it */
		if (buffer->length == 0)
			buffer->offset = 0;
		if (buffer->offset < 0 || buffer->length < 0)
			return refuse(table->reader, "A buffer has a negative offset or length.");
	}
	return true;
}

static bool
variadic_parse(const FlatTable *table, ArrowBatchSpec *batch)
{
	FlatVector	vector;

	if (!flat_table_vector(table, BATCH_VARIADIC, sizeof(int64), &vector))
		return false;
	batch->nvariadic = vector.count;
	batch->variadic = palloc(vector.count * sizeof(int64));
	for (uint32 i = 0; i < vector.count; i++)
	{
		batch->variadic[i] = byte_load_i64(flat_vector_element(&vector, sizeof(int64), i));
		if (batch->variadic[i] < 0)
			return refuse(table->reader, "A number of buffers is negative.");
	}
	return true;
}

static bool
compression_parse(const FlatTable *table, ArrowBatchSpec *batch)
{
	FlatTable	compression;
	uint8		codec;
	uint8		method;

	if (!flat_table_table(table, BATCH_COMPRESSION, &compression))
		return false;
	if (compression.reader == NULL)
		return true;
	if (!flat_table_u8(&compression, COMPRESSION_CODEC, CODEC_LZ4_FRAME, &codec) ||
		!flat_table_u8(&compression, COMPRESSION_METHOD, 0, &method))
		return false;
	if (codec > CODEC_ZSTD || method != 0)
		return refuse(table->reader, "A batch is compressed in an unknown way.");
	batch->compression = codec == CODEC_ZSTD ? ARROW_ZSTD : ARROW_LZ4_FRAME;
	return true;
}

static bool
batch_parse(const FlatTable *table, ArrowBatchSpec *batch)
{
	if (!flat_table_i64(table, BATCH_LENGTH, 0, &batch->length))
		return false;
	if (batch->length < 0)
		return refuse(table->reader, "A batch has a negative number of rows.");
	return nodes_parse(table, batch) &&
		buffers_parse(table, batch) &&
		variadic_parse(table, batch) &&
		compression_parse(table, batch);
}

static bool
dictionary_batch_parse(const FlatTable *table, ArrowMessage *message)
{
	FlatTable	data;

	if (!flat_table_i64(table, DICTIONARY_BATCH_ID, 0, &message->dictionary_id) ||
		!flat_table_bool(table, DICTIONARY_BATCH_IS_DELTA, false, &message->is_delta) ||
		!flat_table_table(table, DICTIONARY_BATCH_DATA, &data))
		return false;
	if (data.reader == NULL)
		return refuse(table->reader, "A dictionary has no values.");
	return batch_parse(&data, &message->batch);
}

static bool
header_parse(const FlatTable *table, ArrowMessage *message)
{
	FlatTable	header;
	uint8		type;

	if (!flat_table_union(table, MESSAGE_HEADER_TYPE, MESSAGE_HEADER, &type, &header))
		return false;
	switch (type)
	{
		case HEADER_SCHEMA:
			message->kind = ARROW_MESSAGE_SCHEMA;
			message->schema = palloc0(sizeof(ArrowSchema));
			return schema_parse(&header, message->schema);
		case HEADER_DICTIONARY_BATCH:
			message->kind = ARROW_MESSAGE_DICTIONARY_BATCH;
			return dictionary_batch_parse(&header, message);
		case HEADER_RECORD_BATCH:
			message->kind = ARROW_MESSAGE_RECORD_BATCH;
			return batch_parse(&header, &message->batch);
		default:
			message->kind = ARROW_MESSAGE_OTHER;
			return true;
	}
}

/* How version 0.17 of the C++ library says that a batch is compressed. */
static bool
early_compression_parse(FlatReader *reader, ArrowMessage *message)
{
	const char *name = arrow_metadata_value(&message->metadata, EARLY_COMPRESSION_KEY);

	if (name == NULL || message->version != ARROW_V4 ||
		message->batch.compression != ARROW_UNCOMPRESSED ||
		pg_strcasecmp(name, "uncompressed") == 0)
		return true;
	if (pg_strcasecmp(name, "lz4") == 0 || pg_strcasecmp(name, "lz4_frame") == 0)
		message->batch.compression = ARROW_LZ4_FRAME;
	else if (pg_strcasecmp(name, "zstd") == 0)
		message->batch.compression = ARROW_ZSTD;
	else
		return refuse(reader, "A batch is compressed in an unknown way.");
	return true;
}

static bool
message_parse(const FlatTable *table, ArrowMessage *message)
{
	if (!version_parse(table, MESSAGE_VERSION, ARROW_V4, &message->version) ||
		!flat_table_i64(table, MESSAGE_BODY_LENGTH, 0, &message->body_length))
		return false;
	if (message->body_length < 0)
		return refuse(table->reader, "A message has a negative length.");
	message->batch.version = message->version;
	return header_parse(table, message) &&
		metadata_parse(table, MESSAGE_METADATA, &message->metadata) &&
		early_compression_parse(table->reader, message);
}

bool
arrow_message_parse(ByteView bytes, ArrowMessage *message, const char **reason)
{
	FlatReader	reader;
	FlatTable	root;

	memset(message, 0, sizeof(*message));
	return finish(&reader, root_open(&reader, bytes, &root) && message_parse(&root, message), reason);
}

/* ------------------------------------------------------------ footers */

/* Is a block within the file, behind its magic, each part a multiple of 8? */
static bool
block_fits(const ArrowBlock *block, int64 file_size)
{
	int64		left;

	if (block->offset < FILE_MAGIC_BYTES || block->offset > file_size ||
		block->metadata_length <= 0 || block->body_length < 0 ||
		((block->offset | block->metadata_length | block->body_length) & 7) != 0)
		return false;
	left = file_size - block->offset;
	return block->metadata_length <= left && block->body_length <= left - block->metadata_length;
}

static bool
blocks_parse(const FlatTable *table, int number, int64 file_size, int *nblocks, ArrowBlock **blocks)
{
	FlatVector	vector;

	if (!flat_table_vector(table, number, BLOCK_SIZE, &vector))
		return false;
	*nblocks = vector.count;
	*blocks = palloc(vector.count * sizeof(ArrowBlock));
	for (uint32 i = 0; i < vector.count; i++)
	{
		const uint8 *bytes = flat_vector_element(&vector, BLOCK_SIZE, i);
		ArrowBlock *block = &(*blocks)[i];

		block->offset = byte_load_i64(bytes);
		block->metadata_length = byte_load_i32(bytes + BLOCK_METADATA_LENGTH);
		block->body_length = byte_load_i64(bytes + BLOCK_BODY_LENGTH);
		if (!block_fits(block, file_size))
			return refuse(table->reader, "A batch is said to lie where the file has no room for it.");
	}
	return true;
}

static bool
footer_parse(const FlatTable *table, int64 file_size, ArrowFooter *footer)
{
	FlatTable	schema;

	/* some writers left it out, and meant the messages' own */
	if (!version_parse(table, FOOTER_VERSION, 0, &footer->version) ||
		!flat_table_table(table, FOOTER_SCHEMA, &schema))
		return false;
	if (schema.reader == NULL)
		return refuse(table->reader, "The file has no schema.");
	return schema_parse(&schema, &footer->schema) &&
		blocks_parse(table, FOOTER_DICTIONARIES, file_size, &footer->ndictionaries,
					 &footer->dictionaries) &&
		blocks_parse(table, FOOTER_BATCHES, file_size, &footer->nbatches, &footer->batches) &&
		metadata_parse(table, FOOTER_METADATA, &footer->metadata);
}

bool
arrow_footer_parse(ByteView bytes, int64 file_size, ArrowFooter *footer, const char **reason)
{
	FlatReader	reader;
	FlatTable	root;

	memset(footer, 0, sizeof(*footer));
	return finish(&reader, root_open(&reader, bytes, &root) &&
				  footer_parse(&root, file_size, footer), reason);
}
