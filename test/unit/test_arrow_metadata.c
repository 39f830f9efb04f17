/*-------------------------------------------------------------------------
 *
 * test_arrow_metadata.c
 *	  Arrow's schemas, messages and footers: those that other programs wrote,
 *	  those that are built here, what a batch must be to fit its schema, and
 *	  damage of every kind.
 *
 * Usage: test_arrow_metadata [seed]
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "arrow/arrow_metadata.h"
#include "arrow_samples.h"
#include "server_stub.h"
#include "tap.h"
#include "utils/memutils.h"
#include "wire/flatbuffer.h"

#define MUTATIONS		4000	/* of each sample */

/* Far more than any sample is worth, damaged or not. */
#define MAX_ALLOCATED	(64 * 1024 * 1024)

static uint64 random_state;

static uint32
random_below(uint32 n)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (uint32) (random_state >> 16) % n;
}

static int
digit(char c)
{
	return c <= '9' ? c - '0' : c - 'a' + 10;
}

static ByteView
from_hexadecimal(const char *digits)
{
	size_t		length = strlen(digits) / 2;
	uint8	   *bytes = palloc(length);

	for (size_t i = 0; i < length; i++)
		bytes[i] = digit(digits[2 * i]) << 4 | digit(digits[2 * i + 1]);
	return byte_view(bytes, length);
}

/* ------------------------------------------------------------ schemas of others */

static const ArrowField *
field_named(const ArrowSchema *schema, const char *name)
{
	static ArrowField children[2];
	static int	type_ids[2];
	static const ArrowField none = {.name = "", .children = children, .type_ids = type_ids};

	for (int i = 0; i < schema->nfields; i++)
	{
		if (strcmp(schema->fields[i].name, name) == 0)
			return &schema->fields[i];
	}
	tap_note("no field %s", name);
	return &none;
}

static void
test_pyarrow_schema(void)
{
	static const struct
	{
		const char *name;
		ArrowTypeId type;
		int			bits;
		int			nchildren;
		int			nbuffers;
	}			known[] = {
		{"n", ARROW_NULL, 0, 0, 0}, {"i8", ARROW_INT, 8, 0, 2}, {"u64", ARROW_INT, 64, 0, 2},
		{"f2", ARROW_FLOATING_POINT, 16, 0, 2}, {"f8", ARROW_FLOATING_POINT, 64, 0, 2},
		{"b", ARROW_BINARY, 0, 0, 3}, {"t", ARROW_UTF8, 0, 0, 3}, {"o", ARROW_BOOL, 1, 0, 2},
		{"d128", ARROW_DECIMAL, 128, 0, 2}, {"d256", ARROW_DECIMAL, 256, 0, 2}, {"d32", ARROW_DECIMAL, 32, 0, 2},
		{"date32", ARROW_DATE, 32, 0, 2}, {"date64", ARROW_DATE, 64, 0, 2},
		{"t32", ARROW_TIME, 32, 0, 2}, {"t32m", ARROW_TIME, 32, 0, 2}, {"t64", ARROW_TIME, 64, 0, 2},
		{"ts", ARROW_TIMESTAMP, 64, 0, 2}, {"tz", ARROW_TIMESTAMP, 64, 0, 2},
		{"mdn", ARROW_INTERVAL, 128, 0, 2}, {"dur", ARROW_DURATION, 64, 0, 2},
		{"l", ARROW_LIST, 0, 1, 2}, {"st", ARROW_STRUCT, 0, 2, 1},
		{"du", ARROW_UNION, 0, 2, 2}, {"su", ARROW_UNION, 0, 1, 1},
		{"fb", ARROW_FIXED_SIZE_BINARY, 0, 0, 2}, {"fl", ARROW_FIXED_SIZE_LIST, 0, 1, 1},
		{"m", ARROW_MAP, 0, 1, 2}, {"lb", ARROW_LARGE_BINARY, 0, 0, 3}, {"lt", ARROW_LARGE_UTF8, 0, 0, 3},
		{"ll", ARROW_LARGE_LIST, 0, 1, 2}, {"ree", ARROW_RUN_END_ENCODED, 0, 2, 0},
		{"bv", ARROW_BINARY_VIEW, 0, 0, 2}, {"tv", ARROW_UTF8_VIEW, 0, 0, 2},
		{"lv", ARROW_LIST_VIEW, 0, 1, 3}, {"llv", ARROW_LARGE_LIST_VIEW, 0, 1, 3},
		{"dict", ARROW_UTF8, 0, 0, 2}
	};
	ArrowMessage message;
	const char *reason = NULL;
	const ArrowSchema *schema;
	const ArrowField *field;

	if (!tap_ok(arrow_message_parse(from_hexadecimal(pyarrow_schema), &message, &reason), "a schema of pyarrow"))
	{
		tap_note("%s", reason);
		return;
	}
	tap_ok(message.kind == ARROW_MESSAGE_SCHEMA && message.version == ARROW_V5 && message.body_length == 0,
		   "its message");
	schema = message.schema;
	tap_is_int(schema->nfields, lengthof(known), "its fields");
	tap_ok(!schema->big_endian, "little-endian");
	tap_is_string(arrow_metadata_value(&schema->metadata, "writer"), "sample", "its metadata");
	for (int i = 0; i < Min(schema->nfields, (int) lengthof(known)); i++)
	{
		field = &schema->fields[i];
		tap_is_string(field->name, known[i].name, "name");
		tap_ok(field->type == known[i].type && field->bit_width == known[i].bits &&
			   field->nchildren == known[i].nchildren && field->nullable == (i != 1),
			   "type of %s", known[i].name);
		tap_is_int(arrow_field_nbuffers(field, ARROW_V5), known[i].nbuffers, "its buffers");
	}
	tap_ok(field_named(schema, "i8")->is_signed && !field_named(schema, "u64")->is_signed, "signs");
	field = field_named(schema, "t");
	tap_ok(field->metadata.n == 2, "two keys");
	tap_is_string(arrow_metadata_value(&field->metadata, "k"), "v", "a key");
	tap_is_string(arrow_metadata_value(&field->metadata, "é"), "", "a key with an accent");
	tap_ok(arrow_metadata_value(&field->metadata, "K") == NULL, "no key");
	field = field_named(schema, "d128");
	tap_ok(field->precision == 20 && field->scale == -3, "a decimal");
	field = field_named(schema, "d256");
	tap_ok(field->precision == 76 && field->scale == 5, "a large decimal");
	tap_ok(field_named(schema, "date32")->unit == ARROW_DAY &&
		   field_named(schema, "date64")->unit == ARROW_MILLISECOND, "units of dates");
	tap_ok(field_named(schema, "t32")->unit == ARROW_SECOND && field_named(schema, "t32m")->unit == ARROW_MILLISECOND &&
		   field_named(schema, "t64")->unit == ARROW_NANOSECOND, "units of times");
	tap_ok(field_named(schema, "ts")->unit == ARROW_MICROSECOND && field_named(schema, "ts")->timezone == NULL,
		   "a timestamp without zone");
	tap_ok(field_named(schema, "tz")->unit == ARROW_SECOND, "a timestamp with zone");
	tap_is_string(field_named(schema, "tz")->timezone, "Europe/Berlin", "its zone");
	tap_ok(field_named(schema, "mdn")->interval == ARROW_MONTH_DAY_NANO, "an interval");
	tap_ok(field_named(schema, "dur")->unit == ARROW_NANOSECOND, "a duration");
	field = field_named(schema, "st");
	tap_ok(strcmp(field->children[0].name, "x") == 0 && field->children[0].bit_width == 16 &&
		   field->children[1].type == ARROW_LIST && field->children[1].children[0].type == ARROW_UTF8,
		   "a struct with a list");
	field = field_named(schema, "du");
	tap_ok(field->dense_union && field->ntype_ids == 2 && field->type_ids[0] == 5 && field->type_ids[1] == 9,
		   "a dense union");
	tap_is_int(arrow_field_nbuffers(field, ARROW_V4), 3, "with a validity in version 4");
	field = field_named(schema, "su");
	tap_ok(!field->dense_union && field->ntype_ids == 1 && field->type_ids[0] == 0, "a sparse union");
	tap_is_int(field_named(schema, "fb")->byte_width, 16, "a fixed width");
	tap_is_int(field_named(schema, "fl")->list_size, 3, "a fixed size");
	tap_ok(field_named(schema, "m")->keys_sorted, "a sorted map");
	field = field_named(schema, "dict");
	tap_ok(field->has_dictionary && field->index_bits == 16 && field->index_signed && field->dictionary_ordered &&
		   field->dictionary_id == 0, "a dictionary");
}

/* ------------------------------------------------------------ batches of others */

static void
test_pyarrow_file(void)
{
	ArrowFooter footer;
	ArrowMessage dictionary;
	ArrowMessage batch;
	ArrowMessage v4;
	const char *reason = NULL;
	ByteView	bytes = from_hexadecimal(pyarrow_footer);
	ArrowPosition position = {0};

	tap_ok(arrow_footer_parse(bytes, 2330, &footer, &reason) && reason == NULL, "a footer of pyarrow");
	tap_ok(footer.version == ARROW_V5 && footer.schema.nfields == 5 && footer.ndictionaries == 1 &&
		   footer.nbatches == 1, "its parts");
	tap_ok(footer.dictionaries[0].offset == 0x1F8 && footer.dictionaries[0].metadata_length == 0xC0 &&
		   footer.dictionaries[0].body_length == 0x48, "where the dictionary is");
	tap_ok(footer.batches[0].offset == 0x300 && footer.batches[0].metadata_length == 0x218 &&
		   footer.batches[0].body_length == 0x1C0, "where the batch is");
	tap_ok(!arrow_footer_parse(bytes, 0x300 + 0x218 + 0x1C0 - 1, &footer, &reason) && reason != NULL,
		   "it does not fit a smaller file");
	tap_ok(arrow_footer_parse(bytes, 0x300 + 0x218 + 0x1C0, &footer, &reason), "it fits its own");

	tap_ok(arrow_message_parse(from_hexadecimal(pyarrow_dictionary), &dictionary, &reason), "a dictionary");
	tap_ok(dictionary.kind == ARROW_MESSAGE_DICTIONARY_BATCH && dictionary.dictionary_id == 0 &&
		   !dictionary.is_delta && dictionary.body_length == 72 && dictionary.batch.length == 2 &&
		   dictionary.batch.nnodes == 1 && dictionary.batch.nbuffers == 3 &&
		   dictionary.batch.compression == ARROW_LZ4_FRAME, "its parts");
	tap_ok(arrow_dictionary_check(field_named(&footer.schema, "d"), &dictionary.batch, 72, &reason),
		   "it fits its field");
	tap_ok(!arrow_dictionary_check(field_named(&footer.schema, "k"), &dictionary.batch, 72, &reason),
		   "but not another");

	tap_ok(arrow_message_parse(from_hexadecimal(pyarrow_batch), &batch, &reason), "a record batch");
	tap_ok(batch.kind == ARROW_MESSAGE_RECORD_BATCH && batch.batch.length == 3 && batch.body_length == 0x1C0 &&
		   batch.batch.compression == ARROW_LZ4_FRAME, "its parts");
	tap_ok(batch.batch.nvariadic == 1 && batch.batch.variadic[0] == 1, "its views");
	/* k, tv, s, x, d, u, 0, 1; 2 + 3 + 1 + 2 + 2 + 2 + 2 + 3 */
	tap_is_int(batch.batch.nnodes, 8, "its nodes");
	tap_is_int(batch.batch.nbuffers, 17, "its buffers");
	tap_ok(batch.batch.nodes[1].length == 3 && batch.batch.nodes[1].null_count == 1, "a null");
	tap_ok(batch.batch.nodes[6].length == 2 && batch.batch.nodes[7].length == 1, "values of a union");
	tap_ok(arrow_batch_check(&footer.schema, &batch.batch, batch.body_length, &reason) && reason == NULL,
		   "it fits its schema");
	tap_ok(!arrow_batch_check(&footer.schema, &batch.batch, 0x100, &reason), "but not a smaller body");
	tap_is_string(reason, "A buffer is out of its batch.", "as is said");
	for (int i = 0; i < 4; i++)
		tap_ok(arrow_position_skip(&position, &batch.batch, &footer.schema.fields[i], false), "over field %d", i);
	tap_ok(position.node == 5 && position.buffer == 10 && position.variadic == 1, "to the union");

	tap_ok(arrow_message_parse(from_hexadecimal(pyarrow_v4_batch), &v4, &reason), "a record batch of version 4");
	tap_ok(v4.version == ARROW_V4 && v4.batch.compression == ARROW_ZSTD && v4.batch.nbuffers == 18,
		   "with the union's validity");
	tap_ok(arrow_batch_check(&footer.schema, &v4.batch, v4.body_length, &reason), "it fits the same schema");
	v4.batch.version = ARROW_V5;
	tap_ok(!arrow_batch_check(&footer.schema, &v4.batch, v4.body_length, &reason), "but not as version 5");
}

static void
test_other_writers(void)
{
	ArrowFooter footer;
	ArrowMessage batch;
	const char *reason = NULL;

	tap_ok(arrow_footer_parse(from_hexadecimal(js_footer), 922, &footer, &reason), "a footer of apache-arrow");
	tap_ok(footer.schema.nfields == 3 && footer.nbatches == 1 && footer.ndictionaries == 1, "its parts");
	tap_ok(field_named(&footer.schema, "v")->has_dictionary && field_named(&footer.schema, "v")->index_bits == 8 &&
		   field_named(&footer.schema, "v")->type == ARROW_UTF8, "its dictionary");
	tap_ok(field_named(&footer.schema, "k")->type == ARROW_INT && field_named(&footer.schema, "k")->bit_width == 32 &&
		   field_named(&footer.schema, "f")->type == ARROW_FLOATING_POINT &&
		   field_named(&footer.schema, "f")->bit_width == 64, "its numbers");

	tap_ok(arrow_message_parse(from_hexadecimal(early_batch), &batch, &reason), "a batch of pyarrow 0.17");
	tap_ok(batch.kind == ARROW_MESSAGE_RECORD_BATCH && batch.version == ARROW_V4 &&
		   batch.batch.compression == ARROW_LZ4_FRAME, "compressed, by its metadata");
}

/* ------------------------------------------------------------ built */

static ArrowField
an_int(const char *name, int bits)
{
	return (ArrowField) {.name = name, .nullable = true, .type = ARROW_INT, .bit_width = bits, .is_signed = true};
}

static bool
metadata_equal(const ArrowMetadata *a, const ArrowMetadata *b)
{
	if (a->n != b->n)
		return false;
	for (int i = 0; i < a->n; i++)
	{
		if (strcmp(a->keys[i], b->keys[i]) != 0 || strcmp(a->values[i], b->values[i]) != 0)
			return false;
	}
	return true;
}

static bool
fields_equal(int n, const ArrowField *a, int m, const ArrowField *b)
{
	if (n != m)
		return false;
	for (int i = 0; i < n; i++, a++, b++)
	{
		if (strcmp(a->name, b->name) != 0 || a->nullable != b->nullable || a->type != b->type ||
			a->bit_width != b->bit_width || a->is_signed != b->is_signed || a->precision != b->precision ||
			a->scale != b->scale || a->unit != b->unit || a->interval != b->interval ||
			(a->timezone == NULL) != (b->timezone == NULL) ||
			(a->timezone && strcmp(a->timezone, b->timezone) != 0) ||
			a->byte_width != b->byte_width || a->list_size != b->list_size ||
			a->dense_union != b->dense_union || a->ntype_ids != b->ntype_ids ||
			(a->ntype_ids > 0 && memcmp(a->type_ids, b->type_ids, a->ntype_ids * sizeof(int)) != 0) ||
			a->keys_sorted != b->keys_sorted || a->has_dictionary != b->has_dictionary ||
			a->dictionary_id != b->dictionary_id || a->index_bits != b->index_bits ||
			a->index_signed != b->index_signed || a->dictionary_ordered != b->dictionary_ordered ||
			!metadata_equal(&a->metadata, &b->metadata) ||
			!fields_equal(a->nchildren, a->children, b->nchildren, b->children))
			return false;
	}
	return true;
}

/* Every type of pyarrow's schema once more, built here. */
static void
test_schema_built(void)
{
	ArrowMessage message;
	ArrowMessage again;
	ArrowSchema schema;
	const char *reason = NULL;

	if (!arrow_message_parse(from_hexadecimal(pyarrow_schema), &message, &reason))
		return;
	message.schema->fields[1].metadata = message.schema->fields[6].metadata;
	message.schema->big_endian = true;
	for (int unit = ARROW_YEAR_MONTH; unit <= ARROW_DAY_TIME; unit++)
	{
		message.schema->fields[18].interval = unit;
		message.schema->fields[18].bit_width = unit == ARROW_YEAR_MONTH ? 32 : 64;
		tap_ok(arrow_schema_parse(arrow_schema_build(message.schema), &schema, &reason) && schema.big_endian &&
			   fields_equal(message.schema->nfields, message.schema->fields, schema.nfields, schema.fields) &&
			   metadata_equal(&message.schema->metadata, &schema.metadata), "a schema comes back");
	}
	message.metadata = schema.metadata;
	tap_ok(arrow_message_parse(arrow_message_build(&message), &again, &reason) &&
		   again.kind == ARROW_MESSAGE_SCHEMA && again.version == message.version &&
		   fields_equal(schema.nfields, schema.fields, again.schema->nfields, again.schema->fields) &&
		   metadata_equal(&message.metadata, &again.metadata), "in a message as well");
	message.kind = ARROW_MESSAGE_OTHER;
	tap_ok(arrow_message_parse(arrow_message_build(&message), &again, &reason) &&
		   again.kind == ARROW_MESSAGE_OTHER && again.schema == NULL, "a message of another kind");
	message.version = ARROW_V4 - 1;
	tap_ok(!arrow_message_parse(arrow_message_build(&message), &again, &reason), "an old version");
	message.version = ARROW_V5 + 1;
	tap_ok(!arrow_message_parse(arrow_message_build(&message), &again, &reason), "a new version");
}

static void
test_messages_built(void)
{
	ArrowNode	nodes[] = {{5, 0}, {7, 7}};
	ArrowBufferSpec buffers[] = {{0, 0}, {8, 40}, {INT64CONST(1) << 40, 3}};
	int64		variadic[] = {3, 0};
	ArrowBlock	blocks[] = {{8, 16, 24}, {48, 8, 0}};
	ArrowField	key = an_int("k", 64);
	ArrowMessage message = {
		.kind = ARROW_MESSAGE_DICTIONARY_BATCH, .version = ARROW_V4, .body_length = 4096,
		.batch = {.length = 5, .nnodes = 2, .nodes = nodes, .nbuffers = 3, .buffers = buffers,
		.compression = ARROW_ZSTD, .nvariadic = 2, .variadic = variadic},
		.dictionary_id = -9, .is_delta = true
	};
	ArrowFooter footer = {
		.version = ARROW_V5, .schema = {.nfields = 1, .fields = &key}, .ndictionaries = 1, .dictionaries = blocks + 1,
		.nbatches = 2, .batches = blocks,
		.metadata = {1, (const char *[]) {"a"}, (const char *[]) {"b"}}
	};
	ArrowMessage again;
	ArrowFooter back;
	const char *reason = NULL;

	for (int compression = ARROW_UNCOMPRESSED; compression <= ARROW_ZSTD; compression++)
	{
		message.batch.compression = compression;
		tap_ok(arrow_message_parse(arrow_message_build(&message), &again, &reason) &&
			   again.kind == message.kind && again.version == ARROW_V4 && again.body_length == 4096 &&
			   again.dictionary_id == -9 && again.is_delta && again.batch.version == ARROW_V4 &&
			   again.batch.length == 5 && again.batch.nnodes == 2 && again.batch.nbuffers == 3 &&
			   again.batch.nvariadic == 2 && again.batch.compression == message.batch.compression &&
			   memcmp(again.batch.nodes, nodes, sizeof(nodes)) == 0 &&
			   memcmp(again.batch.buffers, buffers, sizeof(buffers)) == 0 &&
			   memcmp(again.batch.variadic, variadic, sizeof(variadic)) == 0, "a batch comes back");
	}
	tap_ok(arrow_footer_parse(arrow_footer_build(&footer), 56, &back, &reason) && back.version == ARROW_V5 &&
		   back.ndictionaries == 1 && back.dictionaries[0].offset == 48 && back.nbatches == 2 &&
		   back.batches[0].offset == 8 && back.batches[0].metadata_length == 16 &&
		   back.batches[0].body_length == 24 && back.batches[1].body_length == 0 &&
		   fields_equal(1, &key, back.schema.nfields, back.schema.fields) &&
		   metadata_equal(&footer.metadata, &back.metadata), "a footer comes back");
}

/* ------------------------------------------------------------ refused */

static void
refused_field(ArrowField field, const char *expected)
{
	ArrowSchema schema = {.nfields = 1, .fields = &field};
	ArrowSchema result;
	const char *reason = NULL;

	tap_ok(!arrow_schema_parse(arrow_schema_build(&schema), &result, &reason), "refused: %s", expected);
	tap_is_string(reason, expected, "for that reason");
}

static void
test_fields_refused(void)
{
	static const char *children_reason = "A field's type does not go with the fields in it.";
	static const char *decimal_reason = "A decimal has an impossible width, precision or scale.";
	static const char *id_reason = "A union's type number is out of range or not unique.";
	ArrowField	two[2] = {an_int("a", 64), an_int("b", 64)};
	ArrowField	entries = {.name = "", .type = ARROW_STRUCT, .nchildren = 1, .children = two};

	refused_field(an_int("x", 24), "An integer has an unknown width.");
	refused_field(an_int("\xff", 64), "A name is not valid in UTF-8, or has a zero byte.");
	refused_field((ArrowField) {.name = "", .type = 27}, "A field has no type, or an unknown one.");
	refused_field((ArrowField) {.name = "", .type = 0}, "A field has no type, or an unknown one.");
	refused_field((ArrowField) {.name = "", .type = ARROW_DECIMAL, .bit_width = 128, .precision = 39}, decimal_reason);
	refused_field((ArrowField) {.name = "", .type = ARROW_DECIMAL, .bit_width = 128, .precision = 0}, decimal_reason);
	refused_field((ArrowField) {.name = "", .type = ARROW_DECIMAL, .bit_width = 16, .precision = 1}, decimal_reason);
	refused_field((ArrowField) {.name = "", .type = ARROW_DECIMAL, .bit_width = 64, .precision = 1, .scale = PG_INT32_MIN},
				  decimal_reason);
	refused_field((ArrowField) {.name = "", .type = ARROW_TIME, .bit_width = 64, .unit = ARROW_SECOND},
				  "A time has a width that does not go with its unit.");
	refused_field((ArrowField) {.name = "", .type = ARROW_TIMESTAMP, .unit = ARROW_DAY},
				  "The metadata has an unknown unit, precision or mode.");
	refused_field((ArrowField) {.name = "", .type = ARROW_FIXED_SIZE_BINARY, .byte_width = -1}, "A type has a negative size.");
	refused_field((ArrowField) {.name = "", .type = ARROW_FIXED_SIZE_LIST, .list_size = -1, .nchildren = 1, .children = two},
				  "A type has a negative size.");
	refused_field((ArrowField) {.name = "", .type = ARROW_LIST}, children_reason);
	refused_field((ArrowField) {.name = "", .type = ARROW_LIST, .nchildren = 2, .children = two}, children_reason);
	refused_field((ArrowField) {.name = "", .type = ARROW_BOOL, .nchildren = 1, .children = two}, children_reason);
	refused_field((ArrowField) {.name = "", .type = ARROW_MAP, .nchildren = 1, .children = two}, children_reason);
	refused_field((ArrowField) {.name = "", .type = ARROW_MAP, .nchildren = 1, .children = &entries}, children_reason);
	two[0].bit_width = 8;
	refused_field((ArrowField) {.name = "", .type = ARROW_RUN_END_ENCODED, .nchildren = 2, .children = two}, children_reason);
	refused_field((ArrowField) {.name = "", .type = ARROW_UNION, .nchildren = 2, .children = two,
				  .ntype_ids = 2, .type_ids = (int[]) {3, 3}}, id_reason);
	refused_field((ArrowField) {.name = "", .type = ARROW_UNION, .nchildren = 2, .children = two,
				  .ntype_ids = 2, .type_ids = (int[]) {0, 128}}, id_reason);
	refused_field((ArrowField) {.name = "", .type = ARROW_UNION, .nchildren = 2, .children = two,
				  .ntype_ids = 1, .type_ids = (int[]) {3}}, "A union has another number of types than of fields.");
	two[0].has_dictionary = true;
	two[0].index_bits = 12;
	refused_field(two[0], "An integer has an unknown width.");
}

/* A list of lists of ... of integers, so many fields in all. */
static bool
nested_parses(int depth, const char **reason)
{
	ArrowField	field = an_int("x", 32);
	ArrowSchema schema = {.nfields = 1, .fields = &field};
	ArrowSchema result;

	for (int i = 1; i < depth; i++)
	{
		ArrowField *child = palloc(sizeof(ArrowField));

		*child = field;
		field = (ArrowField) {.name = "l", .type = ARROW_LIST, .nchildren = 1, .children = child};
	}
	return arrow_schema_parse(arrow_schema_build(&schema), &result, reason);
}

static void
test_bounds(void)
{
	FlatBuilder builder;
	FlatFields	table = {0};
	FlatRef    *refs = palloc(1000 * sizeof(FlatRef));
	ArrowSchema schema = {.nfields = ARROW_MAX_FIELDS + 1};
	ArrowSchema result;
	const char *reason = NULL;
	size_t		allocated;
	FlatRef		ref;

	tap_ok(nested_parses(ARROW_MAX_DEPTH, &reason), "64 fields below each other");
	tap_ok(!nested_parses(ARROW_MAX_DEPTH + 1, &reason), "but not 65");
	tap_is_string(reason, "The schema's fields are nested too deeply.", "as is said");

	schema.fields = palloc(schema.nfields * sizeof(ArrowField));
	for (int i = 0; i < schema.nfields; i++)
		schema.fields[i] = an_int("x", 32);
	tap_ok(!arrow_schema_parse(arrow_schema_build(&schema), &result, &reason), "too many fields");
	tap_is_string(reason, "The schema has too many fields.", "as is said");
	schema.nfields--;
	tap_ok(arrow_schema_parse(arrow_schema_build(&schema), &result, &reason) &&
		   result.nfields == ARROW_MAX_FIELDS, "as many as there may be");

	/* structs of a thousand times the same struct, four deep: 10^12 fields */
	flat_builder_init(&builder);
	flat_field_union(&table, 2, 3, ARROW_STRUCT, flat_build_table(&builder, &(FlatFields){0}));
	ref = flat_build_table(&builder, &table);
	for (int depth = 0; depth < 4; depth++)
	{
		for (int i = 0; i < 1000; i++)
			refs[i] = ref;
		table.nfields = 0;
		flat_field_union(&table, 2, 3, ARROW_STRUCT, flat_build_table(&builder, &(FlatFields){0}));
		flat_field_ref(&table, 5, flat_build_offsets(&builder, refs, 1000));
		ref = flat_build_table(&builder, &table);
	}
	table.nfields = 0;
	flat_field_ref(&table, 1, flat_build_offsets(&builder, &ref, 1));
	ref = flat_build_table(&builder, &table);
	allocated = server_stub_allocated();
	tap_ok(!arrow_schema_parse(flat_builder_finish(&builder, ref), &result, &reason), "a bush of structs");
	tap_is_string(reason, "The schema has too many fields.", "has too many fields");
	tap_ok(server_stub_allocated() - allocated < MAX_ALLOCATED, "and not too much memory");
}

/* Texts: what is none is left out of metadata. */
static void
test_texts(void)
{
	ArrowSchema schema = {.metadata = {3, (const char *[]) {"a", "b\xc0", "c"}, (const char *[]) {"\x80\x03", "x", "ü"}}};
	ArrowSchema result;
	ArrowField	field = {.name = "t", .type = ARROW_TIMESTAMP, .bit_width = 64, .timezone = ""};
	FlatBuilder builder;
	FlatFields	table = {0};
	FlatFields	root = {0};
	FlatRef		ref;
	const char *reason = NULL;

	tap_ok(arrow_schema_parse(arrow_schema_build(&schema), &result, &reason) && result.metadata.n == 1,
		   "metadata that is no text is left out");
	tap_is_string(arrow_metadata_value(&result.metadata, "c"), "ü", "the rest is there");
	schema = (ArrowSchema) {.nfields = 1, .fields = &field};
	tap_ok(arrow_schema_parse(arrow_schema_build(&schema), &result, &reason) && result.fields[0].timezone == NULL,
		   "an empty time zone is none");

	flat_builder_init(&builder);
	flat_field_ref(&table, 0, flat_build_bytes(&builder, byte_view("a\0b", 3)));
	flat_field_union(&table, 2, 3, ARROW_BOOL, flat_build_table(&builder, &(FlatFields){0}));
	ref = flat_build_table(&builder, &table);
	flat_field_ref(&root, 1, flat_build_offsets(&builder, &ref, 1));
	tap_ok(!arrow_schema_parse(flat_builder_finish(&builder, flat_build_table(&builder, &root)), &result, &reason),
		   "a name with a zero byte");

	flat_builder_init(&builder);
	table.nfields = 0;
	flat_field_union(&table, 2, 3, ARROW_BOOL, flat_build_table(&builder, &(FlatFields){0}));
	ref = flat_build_table(&builder, &table);
	root.nfields = 0;
	flat_field_ref(&root, 1, flat_build_offsets(&builder, &ref, 1));
	tap_ok(arrow_schema_parse(flat_builder_finish(&builder, flat_build_table(&builder, &root)), &result, &reason) &&
		   result.nfields == 1 && result.fields[0].name[0] == '\0', "a field without a name");
}

static void
refused_block(ArrowBlock block, int64 file_size, const char *name)
{
	ArrowFooter footer = {.version = ARROW_V5, .nbatches = 1, .batches = &block};
	ArrowFooter result;
	const char *reason = NULL;

	tap_ok(!arrow_footer_parse(arrow_footer_build(&footer), file_size, &result, &reason), "%s", name);
	tap_is_string(reason, "A batch is said to lie where the file has no room for it.", "is refused");
}

static void
test_blocks(void)
{
	refused_block((ArrowBlock) {0, 8, 8}, 1000, "a block over the magic");
	refused_block((ArrowBlock) {-8, 8, 8}, 1000, "a negative offset");
	refused_block((ArrowBlock) {PG_INT64_MIN, 8, 8}, 1000, "the least offset");
	refused_block((ArrowBlock) {12, 8, 8}, 1000, "an offset that is not aligned");
	refused_block((ArrowBlock) {8, 0, 8}, 1000, "no metadata");
	refused_block((ArrowBlock) {8, -8, 8}, 1000, "less than no metadata");
	refused_block((ArrowBlock) {8, 12, 8}, 1000, "metadata that is not aligned");
	refused_block((ArrowBlock) {8, 8, -8}, 1000, "a negative body");
	refused_block((ArrowBlock) {8, 8, 12}, 1000, "a body that is not aligned");
	refused_block((ArrowBlock) {1000, 8, 0}, 1000, "metadata behind the end");
	refused_block((ArrowBlock) {8, 992, 8}, 1000, "a body behind the end");
	refused_block((ArrowBlock) {8, 8, PG_INT64_MAX - 7}, 1000, "the largest body");
	refused_block((ArrowBlock) {PG_INT64_MAX - 7, 8, 8}, 1000, "the largest offset");
	refused_block((ArrowBlock) {8, 8, 8}, 0, "an empty file");
}

/* ------------------------------------------------------------ batches and schemas */

/* Does a batch of one field fit?  Its reason, or NULL. */
static const char *
misfit(const ArrowField *field, int64 length, int nnodes, ArrowNode *nodes, int nbuffers, int64 body_length)
{
	ArrowSchema schema = {.nfields = 1, .fields = (ArrowField *) field};
	ArrowBufferSpec *buffers = palloc0((nbuffers + 1) * sizeof(ArrowBufferSpec));
	ArrowBatchSpec batch = {.version = ARROW_V5, .length = length, .nnodes = nnodes, .nodes = nodes,
	.nbuffers = nbuffers, .buffers = buffers};
	const char *reason = NULL;

	return arrow_batch_check(&schema, &batch, body_length, &reason) ? NULL : reason;
}

static void
test_fits(void)
{
	static const char *few = "A batch has fewer fields or buffers than its schema wants.";
	static const char *many = "A batch has more fields or buffers than its schema wants.";
	static const char *short_child = "A batch has fewer values of a field than of what it belongs to.";
	ArrowField	ints[2] = {an_int("a", 64), an_int("b", 16)};
	ArrowField	list = {.name = "l", .type = ARROW_FIXED_SIZE_LIST, .list_size = 3, .nchildren = 1, .children = ints};
	ArrowField	structure = {.name = "s", .type = ARROW_STRUCT, .nchildren = 2, .children = ints};
	ArrowField	runs = {.name = "r", .type = ARROW_RUN_END_ENCODED, .nchildren = 2, .children = ints};
	ArrowField	view = {.name = "v", .type = ARROW_UTF8_VIEW};
	ArrowSchema schema = {.nfields = 1, .fields = ints};
	ArrowBufferSpec buffers[3] = {{0, 0}, {8, 16}};
	int64		variadic[2] = {PG_INT64_MAX, 0};
	ArrowBatchSpec batch = {.version = ARROW_V5, .length = 2, .nnodes = 1, .nodes = (ArrowNode[]) {{2, 0}},
	.nbuffers = 2, .buffers = buffers};
	const char *reason = NULL;

#define NODES(...) (ArrowNode[]) {__VA_ARGS__}
	tap_is_string(misfit(ints, 5, 1, NODES({5, 0}), 2, 0), NULL, "one column");
	tap_is_string(misfit(ints, 5, 1, NODES({6, 0}), 2, 0),
				  "A field of a batch has another number of values than the batch.", "of another length");
	tap_is_string(misfit(ints, 5, 0, NODES({0}), 0, 0), few, "without a node");
	tap_is_string(misfit(ints, 5, 1, NODES({5, 0}), 1, 0), few, "without a buffer");
	tap_is_string(misfit(ints, 5, 2, NODES({5, 0}, {5, 0}), 2, 0), many, "with two nodes");
	tap_is_string(misfit(ints, 5, 1, NODES({5, 0}), 3, 0), many, "with three buffers");
	tap_is_string(misfit(&structure, 5, 3, NODES({5, 0}, {5, 0}, {6, 0}), 5, 0), NULL, "a struct");
	tap_is_string(misfit(&structure, 5, 3, NODES({5, 0}, {5, 0}, {4, 0}), 5, 0), short_child, "a short struct");
	tap_is_string(misfit(&list, 5, 2, NODES({5, 0}, {15, 0}), 3, 0), NULL, "a fixed-size list");
	tap_is_string(misfit(&list, 5, 2, NODES({5, 0}, {14, 0}), 3, 0), short_child, "a short one");
	tap_is_string(misfit(&list, PG_INT64_MAX, 2, NODES({PG_INT64_MAX, 0}, {14, 0}), 3, 0),
				  "A batch has more values than there can be.", "a long one");
	tap_is_string(misfit(&runs, 5, 3, NODES({5, 0}, {2, 0}, {2, 1}), 4, 0), NULL, "runs");
	tap_is_string(misfit(&runs, 5, 3, NODES({5, 0}, {0, 0}, {0, 0}), 4, 0), short_child, "no runs");
	tap_is_string(misfit(&runs, 5, 3, NODES({5, 0}, {2, 0}, {1, 0}), 4, 0), short_child, "runs without a value");
	tap_is_string(misfit(&runs, 5, 3, NODES({5, 0}, {2, 1}, {2, 0}), 4, 0),
				  "A batch has runs without an end.", "runs without an end");
	tap_is_string(misfit(&view, 5, 1, NODES({5, 0}), 2, 0), few, "views without a count");
#undef NODES

	tap_ok(arrow_batch_check(&schema, &batch, 24, &reason), "a buffer up to the end");
	tap_ok(!arrow_batch_check(&schema, &batch, 23, &reason), "a buffer beyond the end");
	buffers[1] = (ArrowBufferSpec) {PG_INT64_MAX, PG_INT64_MAX};
	tap_ok(!arrow_batch_check(&schema, &batch, 24, &reason), "a buffer far beyond");
	buffers[1] = (ArrowBufferSpec) {4, 16};
	tap_ok(!arrow_batch_check(&schema, &batch, 24, &reason), "a buffer that is not aligned");
	tap_is_string(reason, "A buffer is not aligned.", "as is said");

	buffers[1] = (ArrowBufferSpec) {0, 0};
	schema.fields = &view;
	batch.nvariadic = 1;
	batch.variadic = variadic;
	tap_ok(!arrow_batch_check(&schema, &batch, 24, &reason), "more buffers than can be");
	variadic[0] = 1;
	tap_ok(!arrow_batch_check(&schema, &batch, 24, &reason), "more buffers than there are");
	batch.nbuffers = 3;
	tap_ok(arrow_batch_check(&schema, &batch, 24, &reason), "as many as there are");
	batch.nvariadic = 2;
	tap_ok(!arrow_batch_check(&schema, &batch, 24, &reason), "a count too many");
}

static void
test_impossible_batches(void)
{
	static const ArrowNode nodes[] = {{-1, 0}, {1, -1}, {1, 2}, {PG_INT64_MIN, PG_INT64_MIN}};
	static const ArrowBufferSpec buffers[] = {{-8, 8}, {8, -8}, {PG_INT64_MIN, PG_INT64_MIN}};
	int64		variadic = -1;
	ArrowMessage message = {.kind = ARROW_MESSAGE_RECORD_BATCH, .version = ARROW_V5};
	ArrowMessage result;
	const char *reason = NULL;

	tap_ok(arrow_message_parse(arrow_message_build(&message), &result, &reason), "an empty batch");
	message.batch.nnodes = 1;
	for (size_t i = 0; i < lengthof(nodes); i++)
	{
		message.batch.nodes = (ArrowNode *) &nodes[i];
		tap_ok(!arrow_message_parse(arrow_message_build(&message), &result, &reason), "an impossible node");
	}
	message.batch.nnodes = 0;
	message.batch.nbuffers = 1;
	for (size_t i = 0; i < lengthof(buffers); i++)
	{
		message.batch.buffers = (ArrowBufferSpec *) &buffers[i];
		tap_ok(!arrow_message_parse(arrow_message_build(&message), &result, &reason), "an impossible buffer");
	}
	message.batch.nbuffers = 0;
	message.batch.nvariadic = 1;
	message.batch.variadic = &variadic;
	tap_ok(!arrow_message_parse(arrow_message_build(&message), &result, &reason), "an impossible count");
	message.batch.nvariadic = 0;
	message.batch.length = -1;
	tap_ok(!arrow_message_parse(arrow_message_build(&message), &result, &reason), "an impossible number of rows");
	message.batch.length = 0;
	message.body_length = -1;
	tap_ok(!arrow_message_parse(arrow_message_build(&message), &result, &reason), "an impossible body");

	message.body_length = 0;
	message.version = ARROW_V4;
	message.metadata = (ArrowMetadata) {1, (const char *[]) {"ARROW:experimental_compression"}, (const char *[]) {"ZSTD"}};
	tap_ok(arrow_message_parse(arrow_message_build(&message), &result, &reason) &&
		   result.batch.compression == ARROW_ZSTD, "early compression");
	message.metadata.values[0] = "brotli";
	tap_ok(!arrow_message_parse(arrow_message_build(&message), &result, &reason), "unknown early compression");
	message.version = ARROW_V5;
	tap_ok(arrow_message_parse(arrow_message_build(&message), &result, &reason) &&
		   result.batch.compression == ARROW_UNCOMPRESSED, "which is of no meaning in version 5");
}

static int64
bytes_of(const ArrowField *field, int version, int buffer, int64 length, int64 null_count)
{
	ArrowLayout layout = arrow_field_layout(field, version, false);
	int64		bytes;

	return arrow_buffer_bytes(&layout, buffer, &(ArrowNode) {length, null_count}, &bytes) ? bytes : -1;
}

static void
test_buffer_bytes(void)
{
	ArrowField	number = an_int("x", 32);
	ArrowField	flag = {.type = ARROW_BOOL, .bit_width = 1};
	ArrowField	text = {.type = ARROW_UTF8};
	ArrowField	large = {.type = ARROW_LARGE_LIST};
	ArrowField	dense = {.type = ARROW_UNION, .dense_union = true};
	ArrowField	wide = {.type = ARROW_FIXED_SIZE_BINARY, .byte_width = PG_INT32_MAX};
	ArrowField	view = {.type = ARROW_BINARY_VIEW};
	ArrowField	views = {.type = ARROW_LARGE_LIST_VIEW};

	tap_is_int(bytes_of(&number, ARROW_V5, 0, 9, 0), 0, "no nulls, no validity");
	tap_is_int(bytes_of(&number, ARROW_V5, 0, 9, 1), 2, "nulls in 9 bits");
	tap_is_int(bytes_of(&number, ARROW_V5, 1, 9, 1), 36, "numbers");
	tap_is_int(bytes_of(&flag, ARROW_V5, 1, 16, 0), 2, "bits");
	tap_is_int(bytes_of(&flag, ARROW_V5, 1, 17, 0), 3, "more bits");
	tap_is_int(bytes_of(&text, ARROW_V5, 1, 0, 0), 0, "no offsets");
	tap_is_int(bytes_of(&text, ARROW_V5, 1, 3, 0), 16, "offsets");
	tap_is_int(bytes_of(&text, ARROW_V5, 2, 3, 0), 0, "bytes cannot be told");
	tap_is_int(bytes_of(&large, ARROW_V5, 1, 3, 0), 32, "large offsets");
	tap_is_int(bytes_of(&dense, ARROW_V5, 0, 3, 0), 3, "type numbers");
	tap_is_int(bytes_of(&dense, ARROW_V5, 1, 3, 0), 12, "starts");
	tap_is_int(bytes_of(&dense, ARROW_V4, 1, 3, 0), 3, "type numbers of version 4");
	tap_is_int(bytes_of(&wide, ARROW_V5, 1, 2, 0), INT64CONST(2) * PG_INT32_MAX, "wide values");
	tap_is_int(bytes_of(&wide, ARROW_V5, 1, PG_INT64_MAX / 8, 0), -1, "too many");
	tap_is_int(bytes_of(&text, ARROW_V5, 1, PG_INT64_MAX, 0), -1, "too many offsets");
	tap_is_int(bytes_of(&view, ARROW_V5, 1, 3, 0), 48, "views");
	tap_is_int(bytes_of(&views, ARROW_V5, 2, 3, 0), 24, "sizes");
	text.has_dictionary = true;
	text.index_bits = 16;
	tap_is_int(bytes_of(&text, ARROW_V5, 1, 3, 0), 6, "indexes");
}

/* ------------------------------------------------------------ damage */

/* Parse in every way; what is let through must do for all that follows. */
static void
parse_everything(ByteView bytes, const ArrowSchema *known)
{
	ArrowMessage message;
	ArrowFooter footer;
	ArrowSchema schema;
	const char *reason = NULL;

	if (arrow_schema_parse(bytes, &schema, &reason))
		arrow_schema_build(&schema);
	else if (reason == NULL)
		abort();
	if (arrow_footer_parse(bytes, 4096, &footer, &reason))
		arrow_footer_build(&footer);
	else if (reason == NULL)
		abort();
	if (arrow_message_parse(bytes, &message, &reason))
	{
		arrow_message_build(&message);
		if (message.kind >= ARROW_MESSAGE_DICTIONARY_BATCH &&
			!arrow_batch_check(known, &message.batch, message.body_length, &reason) && reason == NULL)
			abort();
	}
	else if (reason == NULL)
		abort();
}

static void
test_damage(const char *name, const char *digits, const ArrowSchema *known)
{
	ByteView	good = from_hexadecimal(digits);
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "damage", ALLOCSET_DEFAULT_SIZES);
	MemoryContext before = MemoryContextSwitchTo(context);
	size_t		base = server_stub_allocated();
	size_t		most = 0;

	for (int i = 0; i < MUTATIONS + (int) good.length; i++)
	{
		/* each length once, then whole but for some bytes */
		size_t		length = i < (int) good.length ? (size_t) i : good.length;
		uint8	   *bytes = malloc(length);

		memcpy(bytes, good.data, length);
		for (int n = random_below(5); n > 0 && length == good.length; n--)
		{
			size_t		at = random_below(length);

			switch (random_below(3))
			{
				case 0:
					bytes[at] ^= 1 << random_below(8);
					break;
				case 1:
					bytes[at] = (uint8) random_below(256);
					break;
				default:
					bytes[at] = random_below(2) == 0 ? 0 : 0xFF;
			}
		}
		parse_everything(byte_view(bytes, length), known);
		free(bytes);
		most = Max(most, server_stub_allocated() - base);
		MemoryContextReset(context);
	}
	MemoryContextSwitchTo(before);
	MemoryContextDelete(context);
	tap_ok(most < MAX_ALLOCATED, "%s, damaged", name);
	tap_note("%zu bytes allocated at most", most);
}

int
main(int argc, char **argv)
{
	ArrowFooter footer;
	const char *reason;

	server_stub_init();
	random_state = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
	tap_note("seed " UINT64_FORMAT, random_state);
	random_state = random_state * UINT64CONST(0x9E3779B97F4A7C15) | 1;

	test_pyarrow_schema();
	test_pyarrow_file();
	test_other_writers();
	test_schema_built();
	test_messages_built();
	test_fields_refused();
	test_bounds();
	test_texts();
	test_blocks();
	test_fits();
	test_impossible_batches();
	test_buffer_bytes();

	arrow_footer_parse(from_hexadecimal(pyarrow_footer), 2330, &footer, &reason);
	test_damage("a schema", pyarrow_schema, &footer.schema);
	test_damage("a footer", pyarrow_footer, &footer.schema);
	test_damage("a dictionary", pyarrow_dictionary, &footer.schema);
	test_damage("a record batch", pyarrow_batch, &footer.schema);
	test_damage("a record batch of version 4", pyarrow_v4_batch, &footer.schema);
	test_damage("a footer of JavaScript", js_footer, &footer.schema);
	test_damage("an early record batch", early_batch, &footer.schema);
	return tap_done();
}
