/*-------------------------------------------------------------------------
 *
 * arrow_tables.h
 *	  The numbers of the fields of Arrow's flatbuffer tables, for the parser
 *	  and the builder.  Private to src/arrow.
 *
 *-------------------------------------------------------------------------
 */
#ifndef OUTERJOIN_ARROW_TABLES_H
#define OUTERJOIN_ARROW_TABLES_H

enum
{
	MESSAGE_VERSION, MESSAGE_HEADER_TYPE, MESSAGE_HEADER, MESSAGE_BODY_LENGTH, MESSAGE_METADATA
};

/* types of a message's header */
enum
{
	HEADER_SCHEMA = 1, HEADER_DICTIONARY_BATCH, HEADER_RECORD_BATCH
};

enum
{
	FOOTER_VERSION, FOOTER_SCHEMA, FOOTER_DICTIONARIES, FOOTER_BATCHES, FOOTER_METADATA
};

enum
{
	SCHEMA_ENDIANNESS, SCHEMA_FIELDS, SCHEMA_METADATA
};

enum
{
	FIELD_NAME, FIELD_NULLABLE, FIELD_TYPE_TYPE, FIELD_TYPE, FIELD_DICTIONARY, FIELD_CHILDREN,
	FIELD_METADATA
};

enum
{
	DICTIONARY_ID, DICTIONARY_INDEX_TYPE, DICTIONARY_ORDERED, DICTIONARY_KIND
};

enum
{
	KEY_VALUE_KEY, KEY_VALUE_VALUE
};

enum
{
	DICTIONARY_BATCH_ID, DICTIONARY_BATCH_DATA, DICTIONARY_BATCH_IS_DELTA
};

enum
{
	BATCH_LENGTH, BATCH_NODES, BATCH_BUFFERS, BATCH_COMPRESSION, BATCH_VARIADIC
};

enum
{
	COMPRESSION_CODEC, COMPRESSION_METHOD
};

/* the types' own tables */
enum
{
	INT_BIT_WIDTH, INT_SIGNED
};

enum
{
	DECIMAL_PRECISION, DECIMAL_SCALE, DECIMAL_BIT_WIDTH
};

enum
{
	TIME_UNIT, TIME_BIT_WIDTH
};

enum
{
	TIMESTAMP_UNIT, TIMESTAMP_TIMEZONE
};

enum
{
	UNION_MODE, UNION_TYPE_IDS
};

enum
{
	FLOATING_POINT_PRECISION = 0,
	DATE_UNIT = 0,
	DURATION_UNIT = 0,
	INTERVAL_UNIT = 0,
	FIXED_SIZE_BINARY_WIDTH = 0,
	FIXED_SIZE_LIST_SIZE = 0,
	MAP_KEYS_SORTED = 0
};

/* units of dates, which differ from those of times */
enum
{
	DATE_IN_DAYS, DATE_IN_MILLISECONDS
};

/* codecs of a body */
enum
{
	CODEC_LZ4_FRAME, CODEC_ZSTD
};

/* defaults that are not 0 */
#define DECIMAL_DEFAULT_BITS	128
#define TIME_DEFAULT_BITS		32

/* structs: bytes, and where their parts are */
#define NODE_SIZE				16	/* int64 length, int64 null count */
#define BUFFER_SIZE				16	/* int64 offset, int64 length */
#define BLOCK_SIZE				24	/* int64 offset, int32 length, 4 free, int64 length */
#define BLOCK_METADATA_LENGTH	8
#define BLOCK_BODY_LENGTH		16
#define STRUCT_ALIGNMENT		8

#endif							/* OUTERJOIN_ARROW_TABLES_H */
