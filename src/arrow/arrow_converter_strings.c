/*-------------------------------------------------------------------------
 *
 * arrow_converter_strings.c
 *	  Strings and binaries; and every other type by its text.
 *
 * A file's strings are UTF-8, says the format, so each is verified, and
 * converted where the database's encoding is another.  Most strings are plain
 * ASCII without zero bytes: then their bytes are looked at once, for a whole
 * run of rows where these lie one behind the other.
 *
 * A binary becomes text if its bytes are text; it is not shown in hexadecimal.
 * A uuid, where the field is said to be one, shows as such.
 * A string becomes bytea by its bytes as they stand in the file.
 *
 * Values get a one-byte header where they can, packed without alignment.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "compat.h"

#include "catalog/pg_type.h"
#include "mb/pg_wchar.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/uuid.h"

#include "arrow/arrow_converter_internal.h"
#include "column/text_decoder.h"

/* Bytes that a one-byte header leaves. */
#define SHORT_VALUE_LENGTH	((int64) (VARATT_SHORT_MAX - VARHDRSZ_SHORT))

/* No value is longer, and no length beneath it overflows an int. */
#define MAX_VALUE_LENGTH	((int64) MaxAllocSize - VARHDRSZ)

/* Strings are copied in steps of this size, the last one past the end. */
#define COPY_STEP	16

StaticAssertDecl(COPY_STEP <= ARROW_BUFFER_SLACK, "a copy may read no further than the slack");

/* ------------------------------------------------------------ text of the file */

/*
 * ASCII without zero bytes?  Subtracting 1 sets the high bit of a zero byte
 * (and, by its borrow, perhaps of others, which then makes no difference).
 * Some bytes are looked at twice, none outside the string.
 */
static inline bool
bytes_are_plain(const char *p, int64 length)
{
	const uint64 ones = UINT64CONST(0x0101010101010101);
	uint64		high = 0;
	uint64		word;

	if (length >= 8)
	{
		for (int64 i = 0; i < length - 8; i += 8)
		{
			memcpy(&word, p + i, 8);
			high |= word | (word - ones);
		}
		memcpy(&word, p + length - 8, 8);
	}
	else if (length >= 4)
	{
		uint32		halves[2];

		memcpy(&halves[0], p, 4);
		memcpy(&halves[1], p + length - 4, 4);
		word = halves[0] | (uint64) halves[1] << 32;
	}
	else if (length > 0)
	{
		/* the rest are ones */
		word = (ones << 24) | (uint8) p[0] | (uint64) (uint8) p[length / 2] << 8 |
			(uint64) (uint8) p[length - 1] << 16;
	}
	else
		return true;
	high |= word | (word - ones);
	return (high & (ones << 7)) == 0;
}

static void
check_length(int64 length)
{
	if (length > MAX_VALUE_LENGTH)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("value of %lld bytes is too large", (long long) length)));
}

static pg_noinline ArrowBytes
verify_slowly(ArrowBytes bytes, ValueArena *arena)
{
	MemoryContext caller;
	char	   *converted;

	check_length(bytes.length);
	/* converting stops at a zero byte */
	if (memchr(bytes.data, '\0', bytes.length) != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_CHARACTER_NOT_IN_REPERTOIRE),
				 errmsg("invalid byte sequence for encoding \"%s\": 0x00",
						pg_encoding_to_char(PG_UTF8))));
	if (GetDatabaseEncoding() == PG_UTF8)
	{
		(void) pg_verify_mbstr(PG_UTF8, bytes.data, (int) bytes.length, false);
		return bytes;
	}
	caller = MemoryContextSwitchTo(value_arena_context(arena));
	converted = pg_any_to_server(bytes.data, (int) bytes.length, PG_UTF8);
	MemoryContextSwitchTo(caller);
	if (converted == bytes.data)
		return bytes;
	return (ArrowBytes){converted, (int64) strlen(converted)};
}

ArrowBytes
arrow_text_verify(ArrowBytes bytes, ValueArena *arena)
{
	if (likely(bytes_are_plain(bytes.data, bytes.length)))
		return bytes;
	return verify_slowly(bytes, arena);
}

/* ------------------------------------------------------------ values of variable length */

static pg_noinline Datum
long_datum(ArrowBytes bytes, int64 padding, ValueArena *arena)
{
	int64		size = VARHDRSZ + bytes.length + padding;
	char	   *result;

	check_length(bytes.length + padding);
	result = value_arena_alloc(arena, size);
	SET_VARSIZE(result, size);
	memcpy(result + VARHDRSZ, bytes.data, bytes.length);
	memset(result + VARHDRSZ + bytes.length, ' ', padding);
	return PointerGetDatum(result);
}

/* With "padding" blanks at the end. */
static Datum
padded_datum(ArrowBytes bytes, int64 padding, ValueArena *arena)
{
	ArenaCursor cursor;
	char	   *result;

	if (bytes.length + padding > SHORT_VALUE_LENGTH)
		return long_datum(bytes, padding, arena);
	cursor = arena_cursor_take(arena);
	result = arena_cursor_reserve(arena, &cursor, VARATT_SHORT_MAX);
	SET_VARSIZE_SHORT(result, VARHDRSZ_SHORT + bytes.length + padding);
	memcpy(VARDATA_SHORT(result), bytes.data, bytes.length);
	memset(VARDATA_SHORT(result) + bytes.length, ' ', padding);
	cursor.next = result + VARSIZE_SHORT(result);
	arena_cursor_give(arena, &cursor);
	return PointerGetDatum(result);
}

Datum
arrow_text_datum(ArrowBytes bytes, ValueArena *arena)
{
	return padded_datum(bytes, 0, arena);
}

/* Bytes of the text without the blanks behind n characters; all else is an error. */
static int64
cut_blanks(ArrowConverter *converter, ArrowBytes bytes)
{
	int64		kept = pg_mbcharcliplen(bytes.data, (int) bytes.length, converter->max_length);

	for (int64 i = kept; i < bytes.length; i++)
	{
		if (bytes.data[i] != ' ')
			ereport(ERROR,
					(errcode(ERRCODE_STRING_DATA_RIGHT_TRUNCATION),
					 errmsg("value too long for type %s",
							format_type_with_typemod(converter->type, converter->typmod))));
	}
	/* blanks at its end are no part of a bpchar */
	if (converter->key && converter->type != BPCHAROID && kept < bytes.length)
		arrow_refuse_rounding(converter, pnstrdup(bytes.data, bytes.length));
	return kept;
}

Datum
arrow_text_fit(ArrowConverter *converter, ArrowBytes bytes, ValueArena *arena)
{
	int64		padding = 0;

	check_length(bytes.length);
	/* no more characters than bytes */
	if (bytes.length > converter->max_length)
		bytes.length = cut_blanks(converter, bytes);
	if (converter->type == BPCHAROID && converter->max_length != PG_INT32_MAX)
		padding = converter->max_length - pg_mbstrlen_with_len(bytes.data, (int) bytes.length);
	return padded_datum(bytes, padding, arena);
}

static void
set_max_length(ArrowConverter *converter)
{
	if (converter->type != TEXTOID && converter->typmod >= (int32) VARHDRSZ)
		converter->max_length = converter->typmod - VARHDRSZ;
}

/* ------------------------------------------------------------ loops */

static const char empty[COPY_STEP];

/* Offset of element "from" + k of a layout with offsets. */
static pg_attribute_always_inline int64
load_offset(const char *offsets, int64 k, int width)
{
	int32		narrow;
	int64		wide;

	if (width == 4)
	{
		memcpy(&narrow, offsets + k * 4, 4);
		return narrow;
	}
	memcpy(&wide, offsets + k * 8, 8);
	return wide;
}

static pg_attribute_always_inline Datum
short_datum_in_steps(ArenaCursor *cursor, ValueArena *arena, const char *p, int64 length)
{
	char	   *result = arena_cursor_reserve(arena, cursor, VARATT_SHORT_MAX + COPY_STEP);
	char	   *target = VARDATA_SHORT(result);

	SET_VARSIZE_SHORT(result, VARHDRSZ_SHORT + length);
	memcpy(target, p, COPY_STEP);
	for (int64 i = COPY_STEP; i < length; i += COPY_STEP)
		memcpy(target + i, p + i, COPY_STEP);
	cursor->next = target + length;
	return PointerGetDatum(result);
}

/* Anything but a short plain string; inline, the rest of the loop would suffer. */
static pg_noinline Datum
unusual_datum(ArrowConverter *converter, ArrowBytes bytes, bool verify, ArenaCursor *cursor,
			  ValueArena *arena)
{
	Datum		result;

	arena_cursor_give(arena, cursor);
	if (verify)
		bytes = arrow_text_verify(bytes, arena);
	result = arrow_text_fit(converter, bytes, arena);
	*cursor = arena_cursor_take(arena);
	return result;
}

/* Strings of which so many, all short, surely fit what may be reserved at once. */
#define PIECE_STRINGS	256

StaticAssertDecl(PIECE_STRINGS * VARATT_SHORT_MAX + COPY_STEP <= ARENA_LARGE_REQUEST,
				 "a piece of short strings is no large request");

/*
 * Verified strings, "data" the first one's bytes, as far as they are short;
 * returns how many that are.  A piece of them sees to its room once.
 */
static pg_attribute_always_inline int
short_strings(const ArrowRun *run, ArenaCursor *cursor, const char *offsets, int width,
			  const char *data, int n, int64 longest)
{
	Datum	   *values = run->values;
	const bool *isnull = run->isnull;
	int64		first = load_offset(offsets, 0, width);
	int64		begin = first;
	int			k = 0;

	while (k < n)
	{
		int			piece_end = Min(n, k + PIECE_STRINGS);
		char	   *next = arena_cursor_reserve(run->arena, cursor,
												PIECE_STRINGS * VARATT_SHORT_MAX + COPY_STEP);

		for (; k < piece_end; k++)
		{
			int64		end = load_offset(offsets, k + 1, width);
			int64		length = end - begin;
			const char *p = data + (begin - first);

			if (unlikely(length > longest))
				break;
			SET_VARSIZE_SHORT(next, VARHDRSZ_SHORT + length);
			memcpy(VARDATA_SHORT(next), p, COPY_STEP);
			for (int64 i = COPY_STEP; i < length; i += COPY_STEP)
				memcpy(VARDATA_SHORT(next) + i, p + i, COPY_STEP);
			values[k] = isnull[k] ? 0 : PointerGetDatum(next);
			next += VARHDRSZ_SHORT + length;
			begin = end;
		}
		cursor->next = next;
		if (k < piece_end)
			break;
	}
	return k;
}

/*
 * The same without a look past the end, where nobody has promised slack.
 */
static pg_attribute_always_inline Datum
short_datum(ArenaCursor *cursor, ValueArena *arena, const char *p, int64 length)
{
	char	   *result = arena_cursor_reserve(arena, cursor, VARATT_SHORT_MAX);
	char	   *target = VARDATA_SHORT(result);

	SET_VARSIZE_SHORT(result, VARHDRSZ_SHORT + length);
	/* most are as short as fits a view */
	if (length >= 8 && length <= 16)
	{
		memcpy(target, p, 8);
		memcpy(target + length - 8, p + length - 8, 8);
	}
	else if (length >= 4 && length < 8)
	{
		memcpy(target, p, 4);
		memcpy(target + length - 4, p + length - 4, 4);
	}
	else
		memcpy(target, p, length);
	cursor->next = target + length;
	return PointerGetDatum(result);
}

/*
 * Strings behind offsets of 4 or 8 bytes, or of another layout where width is
 * 0.  text: they are verified; bytea takes any bytes.
 */
static pg_attribute_always_inline void
strings_rows(ArrowConverter *converter, ArrowVector *vector, const ArrowRun *run, int width, bool text,
			 const int16 *rows)
{
	Datum	   *values = run->values;
	bool	   *isnull = run->isnull;
	const char *offsets = vector->values + (run->from - vector->from) * width;
	const char *data = vector->data;
	int64		data_from = vector->data_from;
	int64		longest = Min(SHORT_VALUE_LENGTH, converter->max_length);
	bool		verified = !text;
	ArenaCursor cursor = arena_cursor_take(run->arena);
	int			n = arrow_run_count(run);
	int			done = 0;

	if (width != 0 && data == NULL)
	{
		/* all are empty, but a copy reads on */
		data = empty;
		data_from = load_offset(offsets, 0, width);
	}
	if (width != 0 && text && rows == NULL)
	{
		int64		begin = load_offset(offsets, 0, width);

		verified = bytes_are_plain(data + (begin - data_from), load_offset(offsets, n, width) - begin);
		if (verified)
			done = short_strings(run, &cursor, offsets, width, data + (begin - data_from), n, longest);
	}
	for (int k = done; k < n; k++)
	{
		int			row = rows ? rows[k] : k;
		ArrowBytes	bytes;

		values[row] = 0;
		if (isnull[row])
			continue;
		if (width == 0)
			bytes = arrow_bytes(vector, run->from + row);
		else
		{
			int64		begin = load_offset(offsets, row, width);

			bytes.data = data + (begin - data_from);
			bytes.length = load_offset(offsets, row + 1, width) - begin;
		}
		if (likely(bytes.length <= longest && (verified || bytes_are_plain(bytes.data, bytes.length))))
			values[row] = width == 0 ?
				short_datum(&cursor, run->arena, bytes.data, bytes.length) :
				short_datum_in_steps(&cursor, run->arena, bytes.data, bytes.length);
		else
		{
			ArenaCursor copy = cursor;	/* so that it may stay in registers */

			*run->current = row;
			values[row] = unusual_datum(converter, bytes, !verified, &copy, run->arena);
			cursor = copy;
		}
	}
	arena_cursor_give(run->arena, &cursor);
}

static pg_attribute_always_inline void
strings_loop(ArrowConverter *converter, ArrowVector *vector, const ArrowRun *run, int width, bool text)
{
	if (run->rows != NULL)
		strings_rows(converter, vector, run, width, text, run->rows);
	else
		strings_rows(converter, vector, run, width, text, NULL);
}

static void
convert_text(ArrowConverter *converter, ArrowVector *vector, const ArrowRun *run)
{
	strings_loop(converter, vector, run, 4, true);
}

static void
convert_large_text(ArrowConverter *converter, ArrowVector *vector, const ArrowRun *run)
{
	strings_loop(converter, vector, run, 8, true);
}

static void
convert_other_text(ArrowConverter *converter, ArrowVector *vector, const ArrowRun *run)
{
	strings_loop(converter, vector, run, 0, true);
}

static void
convert_bytea(ArrowConverter *converter, ArrowVector *vector, const ArrowRun *run)
{
	strings_loop(converter, vector, run, 4, false);
}

static void
convert_large_bytea(ArrowConverter *converter, ArrowVector *vector, const ArrowRun *run)
{
	strings_loop(converter, vector, run, 8, false);
}

static void
convert_other_bytea(ArrowConverter *converter, ArrowVector *vector, const ArrowRun *run)
{
	strings_loop(converter, vector, run, 0, false);
}

/* ------------------------------------------------------------ text, bytea, uuid */

static Datum
element_text(ArrowConverter *converter, ArrowVector *vector, int64 i, ValueArena *arena, bool *isnull)
{
	(void) isnull;
	return arrow_text_fit(converter, arrow_text_verify(arrow_bytes(vector, i), arena), arena);
}

/* The loop for the field's layout. */
static void
choose_loop(ArrowConverter *converter, ArrowConvertMethod ordinary, ArrowConvertMethod large,
			ArrowConvertMethod other)
{
	switch (converter->field->type)
	{
		case ARROW_UTF8:
		case ARROW_BINARY:
			converter->convert = ordinary;
			break;
		case ARROW_LARGE_UTF8:
		case ARROW_LARGE_BINARY:
			converter->convert = large;
			break;
		default:
			converter->convert = other;
			break;
	}
}

void
arrow_prepare_text(ArrowConverter *converter)
{
	if (arrow_natural_type(converter->field) == UUIDOID)
	{
		arrow_prepare_output(converter);
		return;
	}
	set_max_length(converter);
	converter->element = element_text;
	/* each bpchar(n) is padded */
	if (converter->type != BPCHAROID || converter->max_length == PG_INT32_MAX)
		choose_loop(converter, convert_text, convert_large_text, convert_other_text);
}

static Datum
element_bytea(ArrowConverter *converter, ArrowVector *vector, int64 i, ValueArena *arena, bool *isnull)
{
	(void) converter;
	(void) isnull;
	return arrow_text_datum(arrow_bytes(vector, i), arena);
}

void
arrow_prepare_bytea(ArrowConverter *converter)
{
	converter->element = element_bytea;
	choose_loop(converter, convert_bytea, convert_large_bytea, convert_other_bytea);
}

static Datum
element_uuid(ArrowConverter *converter, ArrowVector *vector, int64 i, ValueArena *arena, bool *isnull)
{
	ArrowBytes	bytes = arrow_bytes(vector, i);
	ArenaCursor cursor;
	char	   *result;

	(void) converter;
	(void) isnull;
	if (bytes.length != UUID_LEN)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
				 errmsg("a value of %lld bytes is no uuid", (long long) bytes.length)));
	cursor = arena_cursor_take(arena);
	result = arena_cursor_reserve(arena, &cursor, UUID_LEN);
	memcpy(result, bytes.data, UUID_LEN);
	cursor.next = result + UUID_LEN;
	arena_cursor_give(arena, &cursor);
	return PointerGetDatum(result);
}

void
arrow_prepare_uuid(ArrowConverter *converter)
{
	if (converter->field->type == ARROW_FIXED_SIZE_BINARY && converter->field->byte_width != UUID_LEN)
		arrow_refuse_pair(converter);
	converter->element = element_uuid;
}

/* ------------------------------------------------------------ through text */

/* What the type's input function makes of the string, as in a CSV file. */
static Datum
element_by_input(ArrowConverter *converter, ArrowVector *vector, int64 i, ValueArena *arena, bool *isnull)
{
	ArrowBytes	bytes = arrow_text_verify(arrow_bytes(vector, i), arena);

	(void) isnull;
	check_length(bytes.length);
	return text_decode_by_input(converter->input, arena, bytes.data, (uint32) bytes.length);
}

void
arrow_prepare_input(ArrowConverter *converter)
{
	converter->input = text_decoder_create(converter->type, converter->typmod, NULL, false, false,
										   converter->context);
	if (converter->key)
		text_decoder_refuse_rounding(converter->input, converter->type, converter->context);
	converter->element = element_by_input;
}

/* What the output function of the field's own type makes of the value. */
static Datum
element_by_output(ArrowConverter *converter, ArrowVector *vector, int64 i, ValueArena *arena, bool *isnull)
{
	Datum		value = arrow_element(converter->children[0], vector, i, arena, isnull);
	MemoryContext caller;
	char	   *text;

	if (*isnull)
		return 0;
	caller = MemoryContextSwitchTo(value_arena_context(arena));
	text = OutputFunctionCall(&converter->function, value);
	MemoryContextSwitchTo(caller);
	return arrow_text_fit(converter, (ArrowBytes){text, (int64) strlen(text)}, arena);
}

void
arrow_prepare_output(ArrowConverter *converter)
{
	Oid			natural = arrow_natural_type(converter->field);
	Oid			output;
	bool		varlena;

	set_max_length(converter);
	converter->nchildren = 1;
	converter->children = palloc(sizeof(ArrowConverter *));
	converter->children[0] = arrow_converter_create_child(converter, converter->field, natural, -1);
	getTypeOutputInfo(natural, &output, &varlena);
	fmgr_info_cxt(output, &converter->function, converter->context);
	converter->element = element_by_output;
}
