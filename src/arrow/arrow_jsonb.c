/*-------------------------------------------------------------------------
 *
 * arrow_jsonb.c
 *	  Any field to jsonb, to json, and to the text of its jsonb.
 *
 *	  struct				object
 *	  list of any kind		array
 *	  map					object where its keys are strings, else an array
 *							of {"key": ..., "value": ...}
 *	  union					what it holds, without saying which kind that is
 *	  number, decimal		number, with all its digits
 *	  NaN, infinite			string "NaN", "Infinity", "-Infinity"
 *	  boolean				boolean
 *	  binary				string of its hexadecimal digits behind "\x"
 *	  date, timestamp		string, as to_jsonb writes them
 *	  any other				string, what the type that it becomes prints
 *	  null					null; where all of the value is null: NULL
 *
 * Of fields or keys of the same name the last one counts, as for the input of
 * jsonb.  json and text are what jsonb prints, so that all three agree.
 *
 * What is below is read as the type that holds it best (arrow_natural_type),
 * so that every rule about values stands where it does for plain columns.
 *
 * Memory is that of one value, and is bounded while the value is made: what
 * jsonb could not hold in the end is refused as soon as it is known.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "common/shortest_dec.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/datetime.h"
#include "utils/json.h"
#include "utils/jsonb.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/numeric.h"
#include "utils/timestamp.h"

#include "arrow/arrow_converter_nested.h"
#include "compat.h"

typedef enum JsonKind
{
	JSON_SCALAR,
	JSON_LIST,
	JSON_STRUCT,
	JSON_MAP,					/* with keys that are strings */
	JSON_PAIRS,					/* any other map */
	JSON_UNION
} JsonKind;

typedef struct JsonNode JsonNode;

/* A field, or what stands behind its run ends. */
struct JsonNode
{
	JsonKind	kind;
	JsonNode   *children;		/* as the field has them; of a map those of its entries */
	const char *name;
	int			name_length;

	/* scalars */
	ArrowConverter *scalar;
	Oid			type;
	FmgrInfo	output;			/* where there is no better way */
};

typedef struct JsonState
{
	const char *file;
	const char *column;
	JsonNode	root;

	/* the value at hand */
	MemoryContext row_context;
	ValueArena *arena;			/* of its scalars */
	JsonbParseState *parse;
	Size		bytes;			/* that it takes at least */
	int			parts;			/* of it, in all */
} JsonState;

/*
 * The server's workspace for a jsonb is many times as large as the jsonb: it
 * may grow to this, and is asked for its size with every so many parts.
 */
#define MOST_WORKSPACE		MaxAllocSize
#define PARTS_BETWEEN_LOOKS	1024

/* The server doubles its array of a container's members, which must stay below MaxAllocSize. */
#define MOST_MEMBERS		(1 << 23)

StaticAssertDecl(sizeof(JsonbPair) * MOST_MEMBERS <= MaxAllocSize, "members must fit one allocation");

/* ------------------------------------------------------------ one value */

pg_noreturn static void refuse_size(const JsonState *json, const char *detail);

static void
refuse_size(const JsonState *json, const char *detail)
{
	ereport(ERROR,
			(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
			 errmsg("value in column \"%s\" of file \"%s\" is too large for type jsonb",
					json->column, json->file),
			 errdetail_internal("%s", detail)));
}

/*
 * One more part, of so many bytes.  All of them cannot be more than an entry
 * of a jsonb can say.  Without this a value of a few bytes that stands in a
 * thousand places would take a thousand times its memory before jsonb refuses
 * it.
 */
static void
json_account(JsonState *json, Size bytes)
{
	json->bytes += sizeof(JEntry) + bytes;
	if (unlikely(json->bytes > JENTRY_OFFLENMASK))
		refuse_size(json, psprintf(_("It would take more than %d bytes."), JENTRY_OFFLENMASK));
	if (++json->parts % PARTS_BETWEEN_LOOKS == 0 &&
		MemoryContextMemAllocated(json->row_context, true) > MOST_WORKSPACE)
		refuse_size(json, psprintf(_("To make it would take more than %zu bytes of memory."),
								   (size_t) MOST_WORKSPACE));
}

static void
json_account_members(JsonState *json, int64 n)
{
	if (unlikely(n > MOST_MEMBERS))
		refuse_size(json, psprintf(_("It has a list or a map of %lld elements, of at most %d."),
								   (long long) n, MOST_MEMBERS));
	json_account(json, sizeof(JEntry));
}

static void
json_set_string(JsonState *json, JsonbValue *value, const char *string, Size length)
{
	json_account(json, length);
	value->type = jbvString;
	value->val.string.val = unconstify(char *, string);
	value->val.string.len = (int) length;
}

static void
json_set_numeric(JsonState *json, JsonbValue *value, Numeric numeric)
{
	json_account(json, VARSIZE_ANY(numeric));
	value->type = jbvNumeric;
	value->val.numeric = numeric;
}

/* The shortest decimal that reads as the same number, as to_jsonb has it. */
static void
json_set_float(JsonState *json, JsonbValue *value, double number, bool single)
{
	char		digits[DOUBLE_SHORTEST_DECIMAL_LEN];

	if (isnan(number))
		json_set_string(json, value, "NaN", 3);
	else if (isinf(number))
		json_set_string(json, value, number > 0 ? "Infinity" : "-Infinity", number > 0 ? 8 : 9);
	else
	{
		if (single)
			float_to_shortest_decimal_buf((float) number, digits);
		else
			double_to_shortest_decimal_buf(number, digits);
		json_set_numeric(json, value,
						 DatumGetNumeric(DirectFunctionCall3(numeric_in, CStringGetDatum(digits),
															 ObjectIdGetDatum(InvalidOid),
															 Int32GetDatum(-1))));
	}
}

static void
json_set_bytes(JsonState *json, JsonbValue *value, Datum datum)
{
	const char *bytes = VARDATA_ANY(DatumGetPointer(datum));
	Size		length = VARSIZE_ANY_EXHDR(DatumGetPointer(datum));
	char	   *digits;

	/* before they are allocated */
	json_account(json, length * 2);
	digits = palloc(length * 2 + 2);
	memcpy(digits, "\\x", 2);
	hex_encode(bytes, length, digits + 2);
	value->type = jbvString;
	value->val.string.val = digits;
	value->val.string.len = (int) (length * 2 + 2);
}

static void
json_set_moment(JsonState *json, JsonbValue *value, Datum datum, Oid type)
{
	char	   *string = JsonEncodeDateTime(palloc(MAXDATELEN + 1), datum, type, NULL);

	json_set_string(json, value, string, strlen(string));
}

static void
json_set_scalar(JsonState *json, JsonNode *node, JsonbValue *value, Datum datum)
{
	char	   *string;

	switch (node->type)
	{
		case BOOLOID:
			json_account(json, 0);
			value->type = jbvBool;
			value->val.boolean = DatumGetBool(datum);
			break;
		case INT2OID:
		case INT4OID:
		case INT8OID:
			/* sign-extended all of them */
			json_set_numeric(json, value, int64_to_numeric((int64) datum));
			break;
		case NUMERICOID:
			json_set_numeric(json, value, DatumGetNumeric(datum));
			break;
		case FLOAT4OID:
			json_set_float(json, value, DatumGetFloat4(datum), true);
			break;
		case FLOAT8OID:
			json_set_float(json, value, DatumGetFloat8(datum), false);
			break;
		case TEXTOID:
			json_set_string(json, value, VARDATA_ANY(DatumGetPointer(datum)),
							VARSIZE_ANY_EXHDR(DatumGetPointer(datum)));
			break;
		case BYTEAOID:
			json_set_bytes(json, value, datum);
			break;
		case DATEOID:
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
			json_set_moment(json, value, datum, node->type);
			break;
		default:
			string = OutputFunctionCall(&node->output, datum);
			json_set_string(json, value, string, strlen(string));
			break;
	}
}

/* ------------------------------------------------------------ the tree of values */

static JsonbValue *json_push(JsonState *json, JsonNode *node, ArrowVector *vector, int64 i,
							 JsonbIteratorToken token);

/* The whole value, if nothing has been begun around it. */
static JsonbValue *
json_push_scalar(JsonState *json, JsonbValue *value, JsonbIteratorToken token)
{
	JsonbValue *root;

	if (json->parse != NULL)
		return pushJsonbValue(&json->parse, token, value);
	root = palloc(sizeof(JsonbValue));
	*root = *value;
	return root;
}

static void
json_push_key(JsonState *json, const char *name, Size length)
{
	JsonbValue	key;

	json_set_string(json, &key, name, length);
	(void) pushJsonbValue(&json->parse, WJB_KEY, &key);
}

static JsonbValue *
json_push_list(JsonState *json, JsonNode *node, ArrowVector *vector, int64 i)
{
	int64		from,
				to;

	arrow_list_range(vector, i, &from, &to);
	json_account_members(json, to - from);
	(void) pushJsonbValue(&json->parse, WJB_BEGIN_ARRAY, NULL);
	for (int64 k = from; k < to; k++)
		(void) json_push(json, &node->children[0], &vector->children[0], k, WJB_ELEM);
	return pushJsonbValue(&json->parse, WJB_END_ARRAY, NULL);
}

static JsonbValue *
json_push_struct(JsonState *json, JsonNode *node, ArrowVector *vector, int64 i)
{
	json_account_members(json, vector->nchildren);
	(void) pushJsonbValue(&json->parse, WJB_BEGIN_OBJECT, NULL);
	for (int f = 0; f < vector->nchildren; f++)
	{
		json_push_key(json, node->children[f].name, node->children[f].name_length);
		(void) json_push(json, &node->children[f], &vector->children[f], i, WJB_VALUE);
	}
	return pushJsonbValue(&json->parse, WJB_END_OBJECT, NULL);
}

pg_noreturn static void refuse_null_in_map(const JsonState *json, const char *what);

static void
refuse_null_in_map(const JsonState *json, const char *what)
{
	ereport(ERROR,
			(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
			 errmsg("map in column \"%s\" of file \"%s\" has a null %s",
					json->column, json->file, what)));
}

/* Entry k of a map becomes that of "entries", the struct of key and value. */
static void
json_resolve_entry(const JsonState *json, ArrowVector **entries, int64 *k)
{
	if (!arrow_resolve(entries, k))
		refuse_null_in_map(json, "entry");
}

static JsonbValue *
json_push_map(JsonState *json, JsonNode *node, ArrowVector *vector, int64 i)
{
	int64		from,
				to;

	arrow_list_range(vector, i, &from, &to);
	json_account_members(json, to - from);
	(void) pushJsonbValue(&json->parse, WJB_BEGIN_OBJECT, NULL);
	for (int64 k = from; k < to; k++)
	{
		ArrowVector *entries = &vector->children[0];
		int64		entry = k;
		Datum		key;
		bool		isnull;

		json_resolve_entry(json, &entries, &entry);
		key = arrow_element(node->children[0].scalar, &entries->children[0], entry, json->arena, &isnull);
		if (isnull)
			refuse_null_in_map(json, "key");
		json_push_key(json, VARDATA_ANY(DatumGetPointer(key)), VARSIZE_ANY_EXHDR(DatumGetPointer(key)));
		(void) json_push(json, &node->children[1], &entries->children[1], entry, WJB_VALUE);
	}
	return pushJsonbValue(&json->parse, WJB_END_OBJECT, NULL);
}

static JsonbValue *
json_push_pairs(JsonState *json, JsonNode *node, ArrowVector *vector, int64 i)
{
	int64		from,
				to;

	arrow_list_range(vector, i, &from, &to);
	json_account_members(json, to - from);
	(void) pushJsonbValue(&json->parse, WJB_BEGIN_ARRAY, NULL);
	for (int64 k = from; k < to; k++)
	{
		ArrowVector *entries = &vector->children[0];
		int64		entry = k;

		json_resolve_entry(json, &entries, &entry);
		json_account_members(json, 2);
		(void) pushJsonbValue(&json->parse, WJB_BEGIN_OBJECT, NULL);
		json_push_key(json, "key", 3);
		(void) json_push(json, &node->children[0], &entries->children[0], entry, WJB_VALUE);
		json_push_key(json, "value", 5);
		(void) json_push(json, &node->children[1], &entries->children[1], entry, WJB_VALUE);
		(void) pushJsonbValue(&json->parse, WJB_END_OBJECT, NULL);
	}
	return pushJsonbValue(&json->parse, WJB_END_ARRAY, NULL);
}

static JsonbValue *
json_push_union(JsonState *json, JsonNode *node, ArrowVector *vector, int64 i, JsonbIteratorToken token)
{
	int			child;
	int64		element;

	arrow_union_element(vector, i, &child, &element);
	return json_push(json, &node->children[child], &vector->children[child], element, token);
}

/* A null on its own makes no value at all. */
static JsonbValue *
json_push_null(JsonState *json, JsonbIteratorToken token)
{
	JsonbValue	value = {.type = jbvNull};

	if (json->parse == NULL)
		return NULL;
	json_account(json, 0);
	return json_push_scalar(json, &value, token);
}

static JsonbValue *
json_push_converted(JsonState *json, JsonNode *node, ArrowVector *vector, int64 i, JsonbIteratorToken token)
{
	JsonbValue	value;
	bool		isnull;
	Datum		datum = arrow_element(node->scalar, vector, i, json->arena, &isnull);

	if (isnull)
		return json_push_null(json, token);
	json_set_scalar(json, node, &value, datum);
	return json_push_scalar(json, &value, token);
}

/*
 * Element i of the vector into the value at hand, as a key's value or as an
 * element of an array.  What it returns is the whole value, NULL for a null,
 * to whoever began with it.
 */
static JsonbValue *
json_push(JsonState *json, JsonNode *node, ArrowVector *vector, int64 i, JsonbIteratorToken token)
{
	check_stack_depth();
	CHECK_FOR_INTERRUPTS();

	if (node->kind == JSON_SCALAR)
		return json_push_converted(json, node, vector, i, token);
	if (!arrow_resolve(&vector, &i))
		return json_push_null(json, token);
	if (node->kind == JSON_UNION)
		return json_push_union(json, node, vector, i, token);

	switch (node->kind)
	{
		case JSON_LIST:
			return json_push_list(json, node, vector, i);
		case JSON_STRUCT:
			return json_push_struct(json, node, vector, i);
		case JSON_MAP:
			return json_push_map(json, node, vector, i);
		default:
			return json_push_pairs(json, node, vector, i);
	}
}

/* ------------------------------------------------------------ results */

static Datum
jsonb_to_arena(Jsonb *jsonb, ValueArena *arena)
{
	void	   *result = value_arena_alloc(arena, VARSIZE(jsonb));

	memcpy(result, jsonb, VARSIZE(jsonb));
	return PointerGetDatum(result);
}

/* In the row's context: what jsonb prints. */
static ArrowBytes
jsonb_print(Jsonb *jsonb)
{
	StringInfoData string;

	initStringInfo(&string);
	(void) JsonbToCString(&string, &jsonb->root, VARSIZE(jsonb));
	return (ArrowBytes){string.data, string.len};
}

static Datum
jsonb_result(ArrowConverter *converter, Jsonb *jsonb, ValueArena *arena)
{
	if (converter->type == JSONBOID)
		return jsonb_to_arena(jsonb, arena);
	if (converter->type == JSONOID)
		return arrow_text_datum(jsonb_print(jsonb), arena);
	return arrow_text_fit(converter, jsonb_print(jsonb), arena);
}

static Datum
jsonb_element(ArrowConverter *converter, ArrowVector *vector, int64 i, ValueArena *arena, bool *isnull)
{
	JsonState  *json = converter->state;
	MemoryContext caller;
	JsonbValue *value;
	Datum		result = 0;

	json->parse = NULL;
	json->bytes = 0;
	json->parts = 0;

	caller = MemoryContextSwitchTo(json->row_context);
	value = json_push(json, &json->root, vector, i, WJB_ELEM);
	*isnull = value == NULL;
	if (value != NULL)
		result = jsonb_result(converter, JsonbValueToJsonb(value), arena);
	MemoryContextSwitchTo(caller);
	MemoryContextReset(json->row_context);
	value_arena_reset(json->arena);
	return result;
}

/* ------------------------------------------------------------ creation */

static bool
field_is_string(const ArrowField *field)
{
	field = arrow_field_values(field);
	return field->type == ARROW_UTF8 || field->type == ARROW_LARGE_UTF8 ||
		field->type == ARROW_UTF8_VIEW;
}

static void
json_prepare_scalar(const ArrowConverter *converter, JsonNode *node, const ArrowField *field)
{
	Oid			output;
	bool		is_varlena;

	node->kind = JSON_SCALAR;
	node->type = arrow_natural_type(field);
	node->scalar = arrow_converter_create_child(converter, field, node->type, -1);
	getTypeOutputInfo(node->type, &output, &is_varlena);
	fmgr_info_cxt(output, &node->output, converter->context);
}

static JsonKind
json_kind_of(const ArrowField *field)
{
	switch (field->type)
	{
		case ARROW_STRUCT:
			return JSON_STRUCT;
		case ARROW_UNION:
			return JSON_UNION;
		case ARROW_MAP:
			return field_is_string(&field->children[0].children[0]) ? JSON_MAP : JSON_PAIRS;
		default:
			return JSON_LIST;
	}
}

/* In the converter's context. */
static void
json_prepare_node(const ArrowConverter *converter, JsonNode *node, const ArrowField *field)
{
	const ArrowField *parent;

	check_stack_depth();
	node->name = pstrdup(arrow_field_name(field));
	node->name_length = strlen(node->name);
	if (!arrow_field_is_nested(field))
	{
		json_prepare_scalar(converter, node, field);
		return;
	}
	field = arrow_field_values(field);
	node->kind = json_kind_of(field);
	parent = field->type == ARROW_MAP ? &field->children[0] : field;
	node->children = palloc0(sizeof(JsonNode) * (parent->nchildren + 1));
	for (int f = 0; f < parent->nchildren; f++)
		json_prepare_node(converter, &node->children[f], &parent->children[f]);
}

void
arrow_prepare_jsonb(ArrowConverter *converter)
{
	MemoryContext caller = MemoryContextSwitchTo(converter->context);
	JsonState  *json = palloc0(sizeof(JsonState));

	json->file = converter->file;
	json->column = converter->column;
	json->row_context = AllocSetContextCreate(converter->context, "outerjoin_fdw jsonb",
											  ALLOCSET_DEFAULT_SIZES);
	json->arena = value_arena_create(converter->context);
	json_prepare_node(converter, &json->root, converter->field);
	MemoryContextSwitchTo(caller);

	if (converter->type != TEXTOID && converter->typmod >= (int32) VARHDRSZ)
		converter->max_length = converter->typmod - VARHDRSZ;
	converter->state = json;
	converter->element = jsonb_element;
	converter->convert = arrow_convert_elements;
}
