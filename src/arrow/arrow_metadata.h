/*-------------------------------------------------------------------------
 *
 * arrow_metadata.h
 *	  Arrow's metadata: schemas, messages and footers of format versions 4
 *	  and 5, from flatbuffers and back.
 *
 * What a parse function lets through holds: enumerations are within their
 * range, a type has the children, the width and the unit that it must have,
 * counts and lengths are not negative, strings are UTF-8 without a zero byte.
 * A record batch's numbers hold only against a schema and a body: see
 * arrow_batch_check.
 *
 * All results are allocated in the current memory context and share nothing
 * with the bytes that they came from; how much that is, is bounded by the
 * bytes' length.  Nothing here raises an error of its own: a parse function
 * returns false, and *reason is then a constant sentence for the error's
 * detail.
 *
 * Bytes of values are never looked at here.
 *
 *-------------------------------------------------------------------------
 */
#ifndef OUTERJOIN_ARROW_METADATA_H
#define OUTERJOIN_ARROW_METADATA_H

#include "wire/byte_cursor.h"

/* Fields below each other, and fields of a schema in all. */
#define ARROW_MAX_DEPTH		64
#define ARROW_MAX_FIELDS	100000

/* Type numbers of a union are below this. */
#define ARROW_MAX_TYPE_IDS	128

/* Format versions as the metadata numbers them. */
#define ARROW_V4			3
#define ARROW_V5			4

/* Numbered as the metadata's union is. */
typedef enum ArrowTypeId
{
	ARROW_NULL = 1,
	ARROW_INT,
	ARROW_FLOATING_POINT,
	ARROW_BINARY,
	ARROW_UTF8,
	ARROW_BOOL,
	ARROW_DECIMAL,
	ARROW_DATE,
	ARROW_TIME,
	ARROW_TIMESTAMP,
	ARROW_INTERVAL,
	ARROW_LIST,
	ARROW_STRUCT,
	ARROW_UNION,
	ARROW_FIXED_SIZE_BINARY,
	ARROW_FIXED_SIZE_LIST,
	ARROW_MAP,
	ARROW_DURATION,
	ARROW_LARGE_BINARY,
	ARROW_LARGE_UTF8,
	ARROW_LARGE_LIST,
	ARROW_RUN_END_ENCODED,
	ARROW_BINARY_VIEW,
	ARROW_UTF8_VIEW,
	ARROW_LIST_VIEW,
	ARROW_LARGE_LIST_VIEW
} ArrowTypeId;

typedef enum ArrowTimeUnit
{
	ARROW_SECOND,
	ARROW_MILLISECOND,
	ARROW_MICROSECOND,
	ARROW_NANOSECOND,
	ARROW_DAY					/* of dates only */
} ArrowTimeUnit;

typedef enum ArrowIntervalUnit
{
	ARROW_YEAR_MONTH,			/* int32 months */
	ARROW_DAY_TIME,				/* int32 days, int32 milliseconds */
	ARROW_MONTH_DAY_NANO		/* int32 months, int32 days, int64 nanoseconds */
} ArrowIntervalUnit;

/*
 * What somebody has attached.  A key without a text, or a value that is no
 * text (pickled objects are found there), is left out.
 */
typedef struct ArrowMetadata
{
	int			n;
	const char **keys;
	const char **values;
} ArrowMetadata;

typedef struct ArrowField ArrowField;

struct ArrowField
{
	const char *name;			/* "" where there is none */
	bool		nullable;

	/* of the values, also where they stand in a dictionary */
	ArrowTypeId type;
	int			bit_width;		/* of a value of fixed width, but not of
								 * fixed-size binary; else 0 */
	bool		is_signed;		/* int */
	int			precision;		/* decimal */
	int			scale;			/* decimal; may be negative */
	ArrowTimeUnit unit;			/* date, time, timestamp, duration */
	const char *timezone;		/* timestamp; NULL where there is none */
	ArrowIntervalUnit interval;
	int			byte_width;		/* fixed-size binary */
	int			list_size;		/* fixed-size list */
	bool		dense_union;
	int			ntype_ids;		/* union: as many as children */
	int		   *type_ids;		/* distinct, from 0 to 127 */
	bool		keys_sorted;	/* map */
	int			nchildren;
	ArrowField *children;

	bool		has_dictionary;
	int64		dictionary_id;
	int			index_bits;
	bool		index_signed;
	bool		dictionary_ordered;

	ArrowMetadata metadata;
};

typedef struct ArrowSchema
{
	bool		big_endian;
	int			nfields;
	ArrowField *fields;
	ArrowMetadata metadata;
} ArrowSchema;

typedef struct ArrowNode
{
	int64		length;
	int64		null_count;		/* at most length */
} ArrowNode;

/* A part of the message's body; an empty one is at 0. */
typedef struct ArrowBufferSpec
{
	int64		offset;
	int64		length;
} ArrowBufferSpec;

typedef enum ArrowCompression
{
	ARROW_UNCOMPRESSED,
	ARROW_LZ4_FRAME,
	ARROW_ZSTD
} ArrowCompression;

typedef struct ArrowBatchSpec
{
	int			version;		/* of its message: unions depend on it */
	int64		length;
	int			nnodes;
	ArrowNode  *nodes;
	int			nbuffers;
	ArrowBufferSpec *buffers;
	ArrowCompression compression;	/* of each buffer for itself */
	int			nvariadic;
	int64	   *variadic;		/* data buffers of each field of views */
} ArrowBatchSpec;

typedef enum ArrowMessageKind
{
	ARROW_MESSAGE_OTHER,		/* to be skipped: tensors, and what is to come */
	ARROW_MESSAGE_SCHEMA,
	ARROW_MESSAGE_DICTIONARY_BATCH,
	ARROW_MESSAGE_RECORD_BATCH
} ArrowMessageKind;

typedef struct ArrowMessage
{
	ArrowMessageKind kind;
	int			version;
	int64		body_length;
	ArrowSchema *schema;		/* of a schema message, else NULL */
	ArrowBatchSpec batch;		/* of both kinds of batches */
	int64		dictionary_id;	/* of a dictionary batch, as what follows */
	bool		is_delta;
	ArrowMetadata metadata;
} ArrowMessage;

/* A message in a file: metadata with its prefix, then the body. */
typedef struct ArrowBlock
{
	int64		offset;			/* from the file's start */
	int32		metadata_length;
	int64		body_length;
} ArrowBlock;

typedef struct ArrowFooter
{
	int			version;
	ArrowSchema schema;
	int			ndictionaries;
	ArrowBlock *dictionaries;
	int			nbatches;
	ArrowBlock *batches;
	ArrowMetadata metadata;
} ArrowFooter;

/* ------------------------------------------------------------ reading */

/* The flatbuffer alone, without the prefix or suffix that says its length. */
extern bool arrow_schema_parse(ByteView bytes, ArrowSchema *schema, const char **reason);
extern bool arrow_message_parse(ByteView bytes, ArrowMessage *message, const char **reason);

/* Blocks are within file_size, behind the file's magic, and aligned to 8. */
extern bool arrow_footer_parse(ByteView bytes, int64 file_size, ArrowFooter *footer,
							   const char **reason);

/* The value of a key, or NULL. */
extern const char *arrow_metadata_value(const ArrowMetadata *metadata, const char *key);

/* ------------------------------------------------------------ layout */

typedef enum ArrowBufferKind
{
	ARROW_VALIDITY,				/* a bit per slot; may be empty where nothing is null */
	ARROW_OFFSETS,				/* one more than slots; may be empty without slots */
	ARROW_STARTS,				/* one per slot, of dense unions and list views */
	ARROW_SIZES,				/* of list views */
	ARROW_TYPE_IDS,				/* a byte per slot of a union */
	ARROW_VALUES,				/* of fixed width, or a dictionary's indexes */
	ARROW_BYTES,				/* what offsets point into */
	ARROW_VIEWS					/* 16 bytes per slot */
} ArrowBufferKind;

#define ARROW_MAX_BUFFERS	3

/* How one field's node stands in a batch. */
typedef struct ArrowLayout
{
	int			nbuffers;
	ArrowBufferKind buffers[ARROW_MAX_BUFFERS];
	int64		bits[ARROW_MAX_BUFFERS];	/* of an element; 0 where they differ */
	bool		variadic;		/* then as many as the batch says */
	int			nchildren;		/* whose nodes follow: none of an index */
} ArrowLayout;

/*
 * A field with a dictionary has indexes in record batches; in_dictionary asks
 * for its values, as they stand in the dictionary's batches.
 */
extern ArrowLayout arrow_field_layout(const ArrowField *field, int version, bool in_dictionary);

/* Buffers of the field's node in a record batch, variadic ones left out. */
extern int	arrow_field_nbuffers(const ArrowField *field, int version);

/*
 * Fewest bytes of the layout's buffer number "buffer" for so many slots, once
 * it is decompressed.  0 where it may be empty or cannot be told; false where
 * it would be more than any buffer has.
 */
extern bool arrow_buffer_bytes(const ArrowLayout *layout, int buffer, const ArrowNode *node,
							   int64 *bytes);

/* Where a field's parts begin in a batch; all 0 for the first field. */
typedef struct ArrowPosition
{
	int			node;
	int			buffer;
	int			variadic;
} ArrowPosition;

/*
 * On to the next field, over one with all that is below it.  False where the
 * batch has not so much, which a checked one has.
 */
extern bool arrow_position_skip(ArrowPosition *position, const ArrowBatchSpec *batch,
								const ArrowField *field, bool in_dictionary);

/*
 * Does a record batch fit its schema and its body?  Nodes, buffers and
 * variadic counts are as many as the schema wants, lengths of children fit
 * their parents', buffers lie in the body, at multiples of 8.  Not whether a
 * buffer is long enough, since it may be compressed: see arrow_buffer_bytes.
 */
extern bool arrow_batch_check(const ArrowSchema *schema, const ArrowBatchSpec *batch,
							  int64 body_length, const char **reason);

/* The same for a dictionary's batch, whose one column is the field's values. */
extern bool arrow_dictionary_check(const ArrowField *field, const ArrowBatchSpec *batch,
								   int64 body_length, const char **reason);

/* ------------------------------------------------------------ writing */

/* What is given has to be right; the bytes are in the current memory context. */
extern ByteView arrow_schema_build(const ArrowSchema *schema);
extern ByteView arrow_message_build(const ArrowMessage *message);
extern ByteView arrow_footer_build(const ArrowFooter *footer);

#endif							/* OUTERJOIN_ARROW_METADATA_H */
