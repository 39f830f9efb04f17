/*-------------------------------------------------------------------------
 *
 * arrow_server.h
 *	  What values of Arrow files ask of the server, played so that every byte
 *	  that is handed over is looked at.
 *
 * Numerics, jsonb and rows are texts in a varlena that depend on all that the
 * real ones would.  An array's type is its element's number and ARRAY_BIT; a
 * composite type COMPOSITE + n has the fields of the schema's field n.
 *
 * Work is bounded: after so many checks for interrupts the statement is
 * cancelled, as a user would do it.
 *
 *-------------------------------------------------------------------------
 */
#ifndef OUTERJOIN_ARROW_SERVER_H
#define OUTERJOIN_ARROW_SERVER_H

#include "compat.h"

#include "access/htup_details.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "lib/stringinfo.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/datetime.h"
#include "utils/fmgrprotos.h"
#include "utils/json.h"
#include "utils/jsonb.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/numeric.h"
#include "utils/timestamp.h"
#include "utils/typcache.h"
#include "utils/uuid.h"

#include "arrow/arrow_converter_nested.h"

#define COMPOSITE			90000
#define ARRAY_BIT			1000000
#define MOST_INTERRUPTS		300000

/* ------------------------------------------------------------ interrupts */

static int	interrupts_left = 0;
static bool interrupted = false;

static inline void
interrupts_begin(void)
{
	interrupts_left = MOST_INTERRUPTS;
	interrupted = false;
	InterruptPending = true;
}

void
ProcessInterrupts(void)
{
	if (--interrupts_left > 0)
		return;
	interrupted = true;
	ereport(ERROR,
			(errcode(ERRCODE_QUERY_CANCELED),
			 errmsg("canceling statement due to user request")));
}

/* ------------------------------------------------------------ types */

static const ArrowSchema *composite_schema = NULL;

static const struct
{
	Oid			type;
	int16		length;
	bool		by_value;
	char		align;
}			known_types[] =
{
	{BOOLOID, 1, true, TYPALIGN_CHAR}, {INT2OID, 2, true, TYPALIGN_SHORT},
	{INT4OID, 4, true, TYPALIGN_INT}, {INT8OID, 8, true, TYPALIGN_DOUBLE},
	{OIDOID, 4, true, TYPALIGN_INT}, {FLOAT4OID, 4, true, TYPALIGN_INT},
	{FLOAT8OID, 8, true, TYPALIGN_DOUBLE}, {DATEOID, 4, true, TYPALIGN_INT},
	{TIMEOID, 8, true, TYPALIGN_DOUBLE}, {TIMESTAMPOID, 8, true, TYPALIGN_DOUBLE},
	{TIMESTAMPTZOID, 8, true, TYPALIGN_DOUBLE}, {INTERVALOID, 16, false, TYPALIGN_DOUBLE},
	{UUIDOID, UUID_LEN, false, TYPALIGN_CHAR}
};

void
get_typlenbyvalalign(Oid type, int16 *length, bool *by_value, char *align)
{
	*length = -1;
	*by_value = false;
	*align = type >= COMPOSITE ? TYPALIGN_DOUBLE : TYPALIGN_INT;
	for (int i = 0; i < (int) lengthof(known_types); i++)
	{
		if (known_types[i].type != type)
			continue;
		*length = known_types[i].length;
		*by_value = known_types[i].by_value;
		*align = known_types[i].align;
	}
}

bool
get_typbyval(Oid type)
{
	int16		length;
	bool		by_value;
	char		align;

	get_typlenbyvalalign(type, &length, &by_value, &align);
	return by_value;
}

Oid
getBaseType(Oid type)
{
	return type;
}

Oid
getBaseTypeAndTypmod(Oid type, int32 *typmod)
{
	(void) typmod;
	return type;
}

Oid
get_element_type(Oid type)
{
	return type >= ARRAY_BIT ? type - ARRAY_BIT : InvalidOid;
}

char
get_typtype(Oid type)
{
	return type >= COMPOSITE && type < ARRAY_BIT ? TYPTYPE_COMPOSITE : TYPTYPE_BASE;
}

char *
format_type_be(Oid type)
{
	return psprintf("type %u", type);
}

char *
format_type_with_typemod(Oid type, int32 typmod)
{
	return psprintf("type %u(%d)", type, typmod);
}

void
getTypeInputInfo(Oid type, Oid *input, Oid *parameter)
{
	*input = type;
	*parameter = type;
}

void
getTypeOutputInfo(Oid type, Oid *output, bool *is_varlena)
{
	*output = type;
	*is_varlena = false;
}

void
fmgr_info_cxt(Oid function, FmgrInfo *info, MemoryContext context)
{
	memset(info, 0, sizeof(*info));
	info->fn_oid = function;
	info->fn_strict = true;
	info->fn_mcxt = context;
}

/* ------------------------------------------------------------ values */

static uint64
digest_bytes(uint64 digest, const void *bytes, size_t length)
{
	const unsigned char *p = bytes;

	for (size_t i = 0; i < length; i++)
		digest = (digest ^ p[i]) * UINT64CONST(1099511628211);
	return (digest ^ (0x100 + length)) * UINT64CONST(1099511628211);
}

/* All that makes up a value. */
static uint64
digest_datum(uint64 digest, Oid type, Datum value)
{
	int16		length;
	bool		by_value;
	char		align;

	get_typlenbyvalalign(type, &length, &by_value, &align);
	if (by_value)
		return digest_bytes(digest, &value, sizeof(value));
	if (length > 0)
		return digest_bytes(digest, DatumGetPointer(value), length);
	/* its header may be short or long */
	return digest_bytes(digest, VARDATA_ANY(DatumGetPointer(value)), VARSIZE_ANY_EXHDR(DatumGetPointer(value)));
}

static void *
varlena_of(const void *bytes, size_t length)
{
	struct varlena *result = palloc(VARHDRSZ + length);

	SET_VARSIZE(result, VARHDRSZ + length);
	memcpy(VARDATA(result), bytes, length);
	return result;
}

static void *
text_of(const char *string)
{
	return varlena_of(string, strlen(string));
}

struct varlena *
pg_detoast_datum(struct varlena *datum)
{
	return VARATT_IS_4B_U(datum) ? datum : varlena_of(VARDATA_ANY(datum), VARSIZE_ANY_EXHDR(datum));
}

/* Any type's value from any string. */
Datum
InputFunctionCall(FmgrInfo *info, char *string, Oid parameter, int32 typmod)
{
	uint64		digest = digest_bytes(0, string, strlen(string));
	int16		length;
	bool		by_value;
	char		align;
	char	   *fixed;

	(void) parameter;
	(void) typmod;
	get_typlenbyvalalign(info->fn_oid, &length, &by_value, &align);
	if (by_value)
		return (Datum) (digest & 1);
	if (length < 0)
		return PointerGetDatum(text_of(string));
	fixed = palloc0(length);
	memcpy(fixed, &digest, sizeof(digest));
	return PointerGetDatum(fixed);
}

char *
OutputFunctionCall(FmgrInfo *info, Datum value)
{
	return psprintf("%016llx", (unsigned long long) digest_datum(0, info->fn_oid, value));
}

Numeric
int64_to_numeric(int64 value)
{
	return (Numeric) text_of(psprintf("%lld", (long long) value));
}

Datum
DirectFunctionCall1Coll(PGFunction function, Oid collation, Datum a)
{
	(void) collation;
	if (function == numeric_out)
		return CStringGetDatum(psprintf("%016llx", (unsigned long long) digest_datum(0, NUMERICOID, a)));
	if (function == interval_out)
		return CStringGetDatum(psprintf("%016llx", (unsigned long long) digest_datum(0, INTERVALOID, a)));
	if (function == numeric_float4)
		return Float4GetDatum((float) (digest_datum(0, NUMERICOID, a) & 0xFFFF));
	if (function == numeric_float8)
		return Float8GetDatum((double) (digest_datum(0, NUMERICOID, a) & 0xFFFF));
	if (function == float4_numeric || function == float8_numeric)
		return NumericGetDatum(int64_to_numeric((int64) a));
	elog(ERROR, "not in this test: a function of one argument");
}

Datum
DirectFunctionCall2Coll(PGFunction function, Oid collation, Datum a, Datum b)
{
	(void) collation;
	if (function == numeric_eq)
		return BoolGetDatum(digest_datum(0, NUMERICOID, a) == digest_datum(0, NUMERICOID, b));
	return a;					/* a modifier changes nothing */
}

Datum
DirectFunctionCall3Coll(PGFunction function, Oid collation, Datum a, Datum b, Datum c)
{
	(void) collation;
	(void) b;
	(void) c;
	if (function == numeric_in)
		return PointerGetDatum(text_of(DatumGetCString(a)));
	return (Datum) strlen(DatumGetCString(a));	/* timestamp_in */
}

char *
JsonEncodeDateTime(char *buffer, Datum value, Oid type, const int *zone)
{
	(void) zone;
	snprintf(buffer, MAXDATELEN + 1, "%u:%lld", type, (long long) value);
	return buffer;
}

uint64
hex_encode(const char *from, size_t length, char *to)
{
	for (size_t i = 0; i < length; i++)
	{
		*to++ = "0123456789abcdef"[(unsigned char) from[i] >> 4];
		*to++ = "0123456789abcdef"[from[i] & 15];
	}
	return length * 2;
}

char *
pg_server_to_any(const char *string, int length, int encoding)
{
	(void) length;
	(void) encoding;
	return unconstify(char *, string);
}

bool
pg_get_timezone_offset(const pg_tz *zone, long int *offset)
{
	(void) zone;
	*offset = 3600;
	return true;
}

/* ------------------------------------------------------------ jsonb */

static uint64 jsonb_digest;

static void
digest_jsonb(JsonbIteratorToken token, const JsonbValue *value)
{
	jsonb_digest = digest_bytes(jsonb_digest, &token, sizeof(token));
	if (value == NULL)
		return;
	jsonb_digest = digest_bytes(jsonb_digest, &value->type, sizeof(value->type));
	if (value->type == jbvString)
		jsonb_digest = digest_bytes(jsonb_digest, value->val.string.val, value->val.string.len);
	else if (value->type == jbvNumeric)
		jsonb_digest = digest_datum(jsonb_digest, NUMERICOID, NumericGetDatum(value->val.numeric));
	else if (value->type == jbvBool)
		jsonb_digest = digest_bytes(jsonb_digest, &value->val.boolean, sizeof(bool));
}

/* The state is what is open, with nothing in it. */
JsonbValue *
pushJsonbValue(JsonbParseState **state, JsonbIteratorToken token, JsonbValue *value)
{
	static JsonbValue whole = {.type = jbvBinary};

	if (token == WJB_BEGIN_ARRAY || token == WJB_BEGIN_OBJECT)
	{
		JsonbParseState *open = palloc0(sizeof(JsonbParseState));

		if (*state == NULL)
			jsonb_digest = 0;
		open->contVal.type = token == WJB_BEGIN_ARRAY ? jbvArray : jbvObject;
		open->next = *state;
		*state = open;
	}
	else if (*state == NULL || (token == WJB_KEY && value->type != jbvString) ||
			 (token == WJB_END_ARRAY && (*state)->contVal.type != jbvArray) ||
			 (token == WJB_END_OBJECT && (*state)->contVal.type != jbvObject) ||
			 (token == WJB_ELEM && (*state)->contVal.type != jbvArray) ||
			 ((token == WJB_KEY || token == WJB_VALUE) && (*state)->contVal.type != jbvObject))
		elog(ERROR, "token %d of a jsonb is out of place", token);
	digest_jsonb(token, value);
	if (token == WJB_END_ARRAY || token == WJB_END_OBJECT)
		*state = (*state)->next;
	return &whole;
}

Jsonb *
JsonbValueToJsonb(JsonbValue *value)
{
	if (value->type != jbvBinary)
	{
		jsonb_digest = 0;
		digest_jsonb(WJB_ELEM, value);
	}
	return (Jsonb *) varlena_of(&jsonb_digest, sizeof(jsonb_digest));
}

char *
JsonbToCString(StringInfo out, JsonbContainer *in, int length)
{
	Jsonb	   *jsonb = (Jsonb *) ((char *) in - offsetof(Jsonb, root));

	(void) length;
	appendStringInfo(out, "%016llx", (unsigned long long) digest_datum(0, JSONBOID, PointerGetDatum(jsonb)));
	return out->data;
}

/* ------------------------------------------------------------ rows */

TupleDesc
lookup_rowtype_tupdesc_copy(Oid type, int32 typmod)
{
	const ArrowField *field = arrow_field_values(&composite_schema->fields[type - COMPOSITE]);
	TupleDesc	desc;

	(void) typmod;
	/* of a list or map the elements' */
	while (field->type != ARROW_STRUCT && field->nchildren > 0)
		field = arrow_field_values(&field->children[0]);
	desc = CreateTemplateTupleDesc(field->nchildren);
	for (int i = 0; i < field->nchildren; i++)
	{
		Form_pg_attribute attribute = TupleDescAttr(desc, i);

		attribute->atttypid = arrow_natural_type(&field->children[i]);
		attribute->atttypmod = -1;
		attribute->attnum = i + 1;
		strlcpy(NameStr(attribute->attname), field->children[i].name, NAMEDATALEN);
	}
	return desc;
}

void
FreeTupleDesc(TupleDesc desc)
{
	pfree(desc);
}

/* A header, and a digest for each column. */
HeapTuple
heap_form_tuple(TupleDesc desc, COMPAT_TUPLE_VALUES)
{
	HeapTuple	tuple = palloc0(sizeof(HeapTupleData));
	size_t		size = MAXALIGN(SizeofHeapTupleHeader) + sizeof(uint64) * desc->natts;
	uint64	   *digests;

	tuple->t_len = size;
	tuple->t_data = palloc0(size);
	digests = (uint64 *) ((char *) tuple->t_data + MAXALIGN(SizeofHeapTupleHeader));
	for (int i = 0; i < desc->natts; i++)
		digests[i] = isnull[i] ? 1 : digest_datum(0, TupleDescAttr(desc, i)->atttypid, values[i]);
	SET_VARSIZE(tuple->t_data, size);
	return tuple;
}

#endif							/* OUTERJOIN_ARROW_SERVER_H */
