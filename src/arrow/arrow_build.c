/*-------------------------------------------------------------------------
 *
 * arrow_build.c
 *	  Arrow's metadata into flatbuffers; see arrow_metadata.h.
 *
 * Trusts its caller: what is built from a struct that no parse function would
 * return, no reader need accept.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "arrow/arrow_metadata.h"
#include "arrow/arrow_tables.h"
#include "wire/flatbuffer.h"

#define BOOL_SIZE	1
#define ENUM_SIZE	2
#define INT_SIZE	4
#define LONG_SIZE	8

static FlatRef
metadata_build(FlatBuilder *builder, const ArrowMetadata *metadata)
{
	FlatRef    *pairs;
	FlatRef		result;

	if (metadata->n == 0)
		return 0;
	pairs = palloc(metadata->n * sizeof(FlatRef));
	for (int i = 0; i < metadata->n; i++)
	{
		FlatFields	pair = {0};

		flat_field_ref(&pair, KEY_VALUE_KEY, flat_build_string(builder, metadata->keys[i]));
		flat_field_ref(&pair, KEY_VALUE_VALUE, flat_build_string(builder, metadata->values[i]));
		pairs[i] = flat_build_table(builder, &pair);
	}
	result = flat_build_offsets(builder, pairs, metadata->n);
	pfree(pairs);
	return result;
}

/* ------------------------------------------------------------ schemas */

static FlatRef
int_build(FlatBuilder *builder, int bits, bool is_signed)
{
	FlatFields	table = {0};

	flat_field_scalar(&table, INT_BIT_WIDTH, INT_SIZE, bits, 0);
	flat_field_scalar(&table, INT_SIGNED, BOOL_SIZE, is_signed, false);
	return flat_build_table(builder, &table);
}

static void
union_build(FlatBuilder *builder, const ArrowField *field, FlatFields *table)
{
	uint8		ids[ARROW_MAX_TYPE_IDS * sizeof(int32)];

	for (int i = 0; i < field->ntype_ids; i++)
		byte_store(ids + i * sizeof(int32), field->type_ids[i], sizeof(int32));
	flat_field_scalar(table, UNION_MODE, ENUM_SIZE, field->dense_union, 0);
	flat_field_ref(table, UNION_TYPE_IDS,
				   flat_build_vector(builder, ids, sizeof(int32), sizeof(int32), field->ntype_ids));
}

/* The type's own table, often an empty one. */
static FlatRef
type_build(FlatBuilder *builder, const ArrowField *field)
{
	FlatFields	table = {0};

	switch (field->type)
	{
		case ARROW_INT:
			return int_build(builder, field->bit_width, field->is_signed);
		case ARROW_FLOATING_POINT:
			flat_field_scalar(&table, FLOATING_POINT_PRECISION, ENUM_SIZE,
							  field->bit_width / 32, 0);
			break;
		case ARROW_DECIMAL:
			flat_field_scalar(&table, DECIMAL_PRECISION, INT_SIZE, field->precision, 0);
			flat_field_scalar(&table, DECIMAL_SCALE, INT_SIZE, field->scale, 0);
			flat_field_scalar(&table, DECIMAL_BIT_WIDTH, INT_SIZE, field->bit_width,
							  DECIMAL_DEFAULT_BITS);
			break;
		case ARROW_DATE:
			flat_field_scalar(&table, DATE_UNIT, ENUM_SIZE,
							  field->unit == ARROW_DAY ? DATE_IN_DAYS : DATE_IN_MILLISECONDS,
							  DATE_IN_MILLISECONDS);
			break;
		case ARROW_TIME:
			flat_field_scalar(&table, TIME_UNIT, ENUM_SIZE, field->unit, ARROW_MILLISECOND);
			flat_field_scalar(&table, TIME_BIT_WIDTH, INT_SIZE, field->bit_width,
							  TIME_DEFAULT_BITS);
			break;
		case ARROW_TIMESTAMP:
			flat_field_scalar(&table, TIMESTAMP_UNIT, ENUM_SIZE, field->unit, ARROW_SECOND);
			if (field->timezone)
				flat_field_ref(&table, TIMESTAMP_TIMEZONE,
							   flat_build_string(builder, field->timezone));
			break;
		case ARROW_DURATION:
			flat_field_scalar(&table, DURATION_UNIT, ENUM_SIZE, field->unit, ARROW_MILLISECOND);
			break;
		case ARROW_INTERVAL:
			flat_field_scalar(&table, INTERVAL_UNIT, ENUM_SIZE, field->interval, 0);
			break;
		case ARROW_UNION:
			union_build(builder, field, &table);
			break;
		case ARROW_FIXED_SIZE_BINARY:
			flat_field_scalar(&table, FIXED_SIZE_BINARY_WIDTH, INT_SIZE, field->byte_width, 0);
			break;
		case ARROW_FIXED_SIZE_LIST:
			flat_field_scalar(&table, FIXED_SIZE_LIST_SIZE, INT_SIZE, field->list_size, 0);
			break;
		case ARROW_MAP:
			flat_field_scalar(&table, MAP_KEYS_SORTED, BOOL_SIZE, field->keys_sorted, false);
			break;
		default:
			break;
	}
	return flat_build_table(builder, &table);
}

static FlatRef
dictionary_build(FlatBuilder *builder, const ArrowField *field)
{
	FlatFields	table = {0};

	if (!field->has_dictionary)
		return 0;
	flat_field_scalar(&table, DICTIONARY_ID, LONG_SIZE, field->dictionary_id, 0);
	flat_field_ref(&table, DICTIONARY_INDEX_TYPE,
				   int_build(builder, field->index_bits, field->index_signed));
	flat_field_scalar(&table, DICTIONARY_ORDERED, BOOL_SIZE, field->dictionary_ordered, false);
	return flat_build_table(builder, &table);
}

/* Always a vector: some readers do not take an absent one for an empty one. */
static FlatRef
fields_build(FlatBuilder *builder, int nfields, const ArrowField *fields)
{
	FlatRef    *refs = palloc(nfields * sizeof(FlatRef));
	FlatRef		result;

	for (int i = 0; i < nfields; i++)
	{
		const ArrowField *field = &fields[i];
		FlatFields	table = {0};

		flat_field_ref(&table, FIELD_NAME, flat_build_string(builder, field->name));
		flat_field_scalar(&table, FIELD_NULLABLE, BOOL_SIZE, field->nullable, false);
		flat_field_union(&table, FIELD_TYPE_TYPE, FIELD_TYPE, field->type,
						 type_build(builder, field));
		flat_field_ref(&table, FIELD_DICTIONARY, dictionary_build(builder, field));
		flat_field_ref(&table, FIELD_CHILDREN,
					   fields_build(builder, field->nchildren, field->children));
		flat_field_ref(&table, FIELD_METADATA, metadata_build(builder, &field->metadata));
		refs[i] = flat_build_table(builder, &table);
	}
	result = flat_build_offsets(builder, refs, nfields);
	pfree(refs);
	return result;
}

static FlatRef
schema_build(FlatBuilder *builder, const ArrowSchema *schema)
{
	FlatFields	table = {0};

	flat_field_scalar(&table, SCHEMA_ENDIANNESS, ENUM_SIZE, schema->big_endian, 0);
	flat_field_ref(&table, SCHEMA_FIELDS, fields_build(builder, schema->nfields, schema->fields));
	flat_field_ref(&table, SCHEMA_METADATA, metadata_build(builder, &schema->metadata));
	return flat_build_table(builder, &table);
}

ByteView
arrow_schema_build(const ArrowSchema *schema)
{
	FlatBuilder builder;

	flat_builder_init(&builder);
	return flat_builder_finish(&builder, schema_build(&builder, schema));
}

/* ------------------------------------------------------------ messages */

static FlatRef
nodes_build(FlatBuilder *builder, const ArrowBatchSpec *batch)
{
	uint8	   *bytes = palloc((size_t) batch->nnodes * NODE_SIZE);
	FlatRef		result;

	for (int i = 0; i < batch->nnodes; i++)
	{
		byte_store(bytes + (size_t) i * NODE_SIZE, batch->nodes[i].length, sizeof(int64));
		byte_store(bytes + (size_t) i * NODE_SIZE + sizeof(int64), batch->nodes[i].null_count,
				   sizeof(int64));
	}
	result = flat_build_vector(builder, bytes, NODE_SIZE, STRUCT_ALIGNMENT, batch->nnodes);
	pfree(bytes);
	return result;
}

static FlatRef
buffers_build(FlatBuilder *builder, const ArrowBatchSpec *batch)
{
	uint8	   *bytes = palloc((size_t) batch->nbuffers * BUFFER_SIZE);
	FlatRef		result;

	for (int i = 0; i < batch->nbuffers; i++)
	{
		byte_store(bytes + (size_t) i * BUFFER_SIZE, batch->buffers[i].offset, sizeof(int64));
		byte_store(bytes + (size_t) i * BUFFER_SIZE + sizeof(int64), batch->buffers[i].length,
				   sizeof(int64));
	}
	result = flat_build_vector(builder, bytes, BUFFER_SIZE, STRUCT_ALIGNMENT, batch->nbuffers);
	pfree(bytes);
	return result;
}

static FlatRef
variadic_build(FlatBuilder *builder, const ArrowBatchSpec *batch)
{
	uint8	   *bytes;
	FlatRef		result;

	if (batch->nvariadic == 0)
		return 0;
	bytes = palloc((size_t) batch->nvariadic * sizeof(int64));
	for (int i = 0; i < batch->nvariadic; i++)
		byte_store(bytes + i * sizeof(int64), batch->variadic[i], sizeof(int64));
	result = flat_build_vector(builder, bytes, sizeof(int64), sizeof(int64), batch->nvariadic);
	pfree(bytes);
	return result;
}

static FlatRef
compression_build(FlatBuilder *builder, ArrowCompression compression)
{
	FlatFields	table = {0};

	if (compression == ARROW_UNCOMPRESSED)
		return 0;
	flat_field_scalar(&table, COMPRESSION_CODEC, 1,
					  compression == ARROW_ZSTD ? CODEC_ZSTD : CODEC_LZ4_FRAME, CODEC_LZ4_FRAME);
	return flat_build_table(builder, &table);
}

static FlatRef
batch_build(FlatBuilder *builder, const ArrowBatchSpec *batch)
{
	FlatFields	table = {0};

	flat_field_scalar(&table, BATCH_LENGTH, LONG_SIZE, batch->length, 0);
	flat_field_ref(&table, BATCH_NODES, nodes_build(builder, batch));
	flat_field_ref(&table, BATCH_BUFFERS, buffers_build(builder, batch));
	flat_field_ref(&table, BATCH_COMPRESSION, compression_build(builder, batch->compression));
	flat_field_ref(&table, BATCH_VARIADIC, variadic_build(builder, batch));
	return flat_build_table(builder, &table);
}

static FlatRef
dictionary_batch_build(FlatBuilder *builder, const ArrowMessage *message)
{
	FlatFields	table = {0};

	flat_field_scalar(&table, DICTIONARY_BATCH_ID, LONG_SIZE, message->dictionary_id, 0);
	flat_field_ref(&table, DICTIONARY_BATCH_DATA, batch_build(builder, &message->batch));
	flat_field_scalar(&table, DICTIONARY_BATCH_IS_DELTA, BOOL_SIZE, message->is_delta, false);
	return flat_build_table(builder, &table);
}

static void
header_build(FlatBuilder *builder, const ArrowMessage *message, FlatFields *table)
{
	uint8		type;
	FlatRef		header;

	switch (message->kind)
	{
		case ARROW_MESSAGE_SCHEMA:
			type = HEADER_SCHEMA;
			header = schema_build(builder, message->schema);
			break;
		case ARROW_MESSAGE_DICTIONARY_BATCH:
			type = HEADER_DICTIONARY_BATCH;
			header = dictionary_batch_build(builder, message);
			break;
		case ARROW_MESSAGE_RECORD_BATCH:
			type = HEADER_RECORD_BATCH;
			header = batch_build(builder, &message->batch);
			break;
		default:
			return;
	}
	flat_field_union(table, MESSAGE_HEADER_TYPE, MESSAGE_HEADER, type, header);
}

ByteView
arrow_message_build(const ArrowMessage *message)
{
	FlatBuilder builder;
	FlatFields	table = {0};

	flat_builder_init(&builder);
	flat_field_scalar(&table, MESSAGE_VERSION, ENUM_SIZE, message->version, 0);
	header_build(&builder, message, &table);
	flat_field_scalar(&table, MESSAGE_BODY_LENGTH, LONG_SIZE, message->body_length, 0);
	flat_field_ref(&table, MESSAGE_METADATA, metadata_build(&builder, &message->metadata));
	return flat_builder_finish(&builder, flat_build_table(&builder, &table));
}

/* ------------------------------------------------------------ footers */

static FlatRef
blocks_build(FlatBuilder *builder, int nblocks, const ArrowBlock *blocks)
{
	uint8	   *bytes = palloc0((size_t) nblocks * BLOCK_SIZE);
	FlatRef		result;

	for (int i = 0; i < nblocks; i++)
	{
		uint8	   *block = bytes + (size_t) i * BLOCK_SIZE;

		byte_store(block, blocks[i].offset, sizeof(int64));
		byte_store(block + BLOCK_METADATA_LENGTH, blocks[i].metadata_length, sizeof(int32));
		byte_store(block + BLOCK_BODY_LENGTH, blocks[i].body_length, sizeof(int64));
	}
	result = flat_build_vector(builder, bytes, BLOCK_SIZE, STRUCT_ALIGNMENT, nblocks);
	pfree(bytes);
	return result;
}

ByteView
arrow_footer_build(const ArrowFooter *footer)
{
	FlatBuilder builder;
	FlatFields	table = {0};

	flat_builder_init(&builder);
	flat_field_scalar(&table, FOOTER_VERSION, ENUM_SIZE, footer->version, 0);
	flat_field_ref(&table, FOOTER_SCHEMA, schema_build(&builder, &footer->schema));
	flat_field_ref(&table, FOOTER_DICTIONARIES,
				   blocks_build(&builder, footer->ndictionaries, footer->dictionaries));
	flat_field_ref(&table, FOOTER_BATCHES,
				   blocks_build(&builder, footer->nbatches, footer->batches));
	flat_field_ref(&table, FOOTER_METADATA, metadata_build(&builder, &footer->metadata));
	return flat_builder_finish(&builder, flat_build_table(&builder, &table));
}
