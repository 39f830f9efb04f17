/*-------------------------------------------------------------------------
 *
 * text_value.c
 *	  Which loop a type takes, and the input function for all that no loop
 *	  recognises.
 *
 * The law is that a value is what the type's input function makes of the
 * text.  A loop is a shorter way to the same answer for the spellings it is
 * sure of; it never accepts what the input function would refuse, and never
 * refuses anything itself.  That keeps errors, odd spellings and settings
 * such as DateStyle in the one place that knows them.
 *
 * Refuses to know: where fields come from, quotes and escapes.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "mb/pg_wchar.h"
#include "utils/lsyscache.h"
#include "utils/timestamp.h"

#include "column/text_decoder.h"
#include "column/text_scan.h"

/* Length of the longest spelling that text_value_plain_int64 looks at. */
#define PLAIN_LENGTH	64

static bool
convert_nothing(TextDecoder *decoder, ValueArena *arena, ArenaCursor *cursor,
				const char *p, uint32 length, Datum *value)
{
	(void) decoder;
	(void) arena;
	(void) cursor;
	(void) p;
	(void) length;
	(void) value;
	return false;
}

/* Any type: each field through the input function. */
static void
text_loop_input(TextDecoder *decoder, const TextRun *run)
{
	text_decode_rows(decoder, run, convert_nothing);
}

static const struct
{
	Oid			type;
	TextLoop	loop;
}			text_loops[] =
{
	{BOOLOID, text_loop_bool},
	{INT2OID, text_loop_int2},
	{INT4OID, text_loop_int4},
	{INT8OID, text_loop_int8},
	{FLOAT4OID, text_loop_float4},
	{FLOAT8OID, text_loop_float8},
	{DATEOID, text_loop_date},
	{TIMESTAMPOID, text_loop_timestamp},
	{TIMESTAMPTZOID, text_loop_timestamptz},
	{UUIDOID, text_loop_uuid},
	{TEXTOID, text_loop_text},
	{VARCHAROID, text_loop_text},
	{BPCHAROID, text_loop_bpchar},
};

/* A domain has no loop: its input function checks its constraints. */
static TextLoop
text_loop_of(Oid type)
{
	for (int i = 0; i < (int) lengthof(text_loops); i++)
	{
		if (text_loops[i].type == type)
			return text_loops[i].loop;
	}
	return text_loop_input;
}

/* A type modifier that the loop must respect. */
static void
decoder_set_typmod(TextDecoder *decoder, Oid type, int32 typmod)
{
	decoder->typmod = typmod;
	decoder->max_length = PG_UINT32_MAX;
	decoder->precision = MAX_TIMESTAMP_PRECISION;

	if ((type == VARCHAROID || type == BPCHAROID) && typmod >= (int32) VARHDRSZ)
		decoder->max_length = typmod - VARHDRSZ;
	if (type == BPCHAROID && typmod >= (int32) VARHDRSZ)
		decoder->pad_length = typmod - VARHDRSZ;
	if ((type == TIMESTAMPOID || type == TIMESTAMPTZOID) && typmod >= 0)
		decoder->precision = typmod;
}

/* Could a field that is a plain number equal the null string? */
static bool
null_is_number(const char *null)
{
	size_t		length = strlen(null);

	return length > 0 && strspn(null, "0123456789.") == length;
}

TextDecoder *
text_decoder_create(Oid type, int32 typmod, const char *null, bool force_null,
					bool simd, MemoryContext context)
{
	TextDecoder *decoder = MemoryContextAllocZero(context, sizeof(TextDecoder));
	Oid			input;

	decoder->loop = text_loop_of(type);
	decoder->null = null ? MemoryContextStrdup(context, null) : "";
	decoder->null_length = null ? (uint32) strlen(null) : NO_NULL_STRING;
	decoder->force_null = force_null;
	decoder->wide = simd && text_wide_available() && !null_is_number(decoder->null);
	decoder->base_type = getBaseType(type);
	decoder_set_typmod(decoder, type, typmod);

	getTypeInputInfo(type, &input, &decoder->ioparam);
	fmgr_info_cxt(input, &decoder->input, context);
	decoder->input_checks_null = !decoder->input.fn_strict;
	decoder->terminated = MemoryContextAlloc(context, TERMINATED_SIZE);
	return decoder;
}

/*
 * The field as a C string.  A zero byte would end it early and let garbage
 * pass; the reader verifies text, so this is only the last line of defence.
 */
static char *
field_terminate(TextDecoder *decoder, ValueArena *arena, const char *p, uint32 length)
{
	char	   *result = decoder->terminated;

	if (memchr(p, '\0', length) != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_CHARACTER_NOT_IN_REPERTOIRE),
				 errmsg("invalid byte sequence for encoding \"%s\": 0x00",
						GetDatabaseEncodingName())));
	if (length >= TERMINATED_SIZE)
		result = value_arena_alloc_large(arena, (size_t) length + 1);
	memcpy(result, p, length);
	result[length] = '\0';
	return result;
}

/* Integer-like values travel sign-extended to 64 bits, see key.h. */
static Datum
datum_sign_extend(Oid base_type, Datum value)
{
	switch (base_type)
	{
		case INT2OID:
			return (Datum) (int64) DatumGetInt16(value);
		case INT4OID:
		case DATEOID:
			return (Datum) (int64) DatumGetInt32(value);
		default:
			return value;
	}
}

pg_noinline Datum
text_decode_by_input(TextDecoder *decoder, ValueArena *arena, const char *p, uint32 length)
{
	char	   *string = p ? field_terminate(decoder, arena, p, length) : NULL;
	MemoryContext caller;
	Datum		value;

	caller = MemoryContextSwitchTo(value_arena_context(arena));
	value = InputFunctionCall(&decoder->input, string, decoder->ioparam, decoder->typmod);
	if (decoder->exact != NULL && string != NULL)
		text_check_exact(decoder, string, value);
	MemoryContextSwitchTo(caller);
	return string ? datum_sign_extend(decoder->base_type, value) : (Datum) 0;
}

/* Leave in run->rows only rows of [from, to). */
static void
run_trim_rows(TextRun *run)
{
	while (run->nrows > 0 && run->rows[0] < run->from)
	{
		run->rows++;
		run->nrows--;
	}
	while (run->nrows > 0 && run->rows[run->nrows - 1] >= run->to)
		run->nrows--;
}

/* The loop of a field of which only the nulls are asked for. */
static void
text_loop_nulls(TextDecoder *decoder, const TextRun *run)
{
	const int16 *rows = run->rows;
	int			end = rows ? run->nrows : run->to;

	for (int i = rows ? 0 : run->from; i < end; i++)
	{
		int			row = rows ? rows[i] : i;
		uint32		length = run->fields->length[row];

		run->isnull[row] = text_field_is_null(decoder, run->fields->base + run->fields->offset[row],
											  &length);
		run->values[row] = 0;
	}
}

/* A domain's input function may refuse a null, or a value. */
void
text_decoder_nulls_only(TextDecoder *decoder)
{
	if (!decoder->input_checks_null)
		decoder->loop = text_loop_nulls;
}

void
text_decode(TextDecoder *decoder, const TextFields *fields, int from, int to,
			const int16 *rows, int nrows, ValueArena *arena,
			Datum *values, bool *isnull, volatile int *current)
{
	TextRun		run = {fields, from, to, rows, nrows, arena, values, isnull, current};

	if (rows != NULL)
		run_trim_rows(&run);
	decoder->loop(decoder, &run);
}

bool
text_value_plain_int64(Oid type, const char *p, uint32 len, int64 *result)
{
	char		padded[PLAIN_LENGTH + TEXT_FIELD_PADDING];

	if (len > PLAIN_LENGTH)
		return false;
	memcpy(padded, p, len);
	memset(padded + len, 0, sizeof(padded) - len);

	switch (type)
	{
		case INT2OID:
			return scan_int64(padded, len, result) && *result == (int16) *result;
		case INT4OID:
			return scan_int64(padded, len, result) && *result == (int32) *result;
		case INT8OID:
			return scan_int64(padded, len, result);
		case DATEOID:
			return text_scan_date(padded, len, result);
		case TIMESTAMPOID:
			return text_scan_timestamp(padded, len, result);
		default:
			return false;
	}
}
