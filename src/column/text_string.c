/*-------------------------------------------------------------------------
 *
 * text_string.c
 *	  Plain character strings and uuids, into the batch's arena.
 *
 * Strings get a one-byte header where they can, packed without alignment, as
 * they would stand in a heap tuple.  A string of at most n bytes has at most
 * n characters, so that only longer ones need counting, by the input
 * function, which also knows which blanks may be cut.
 *
 * The text is taken as it is: whoever filled TextFields has verified it in
 * the database encoding.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "compat.h"

#include "utils/memutils.h"
#include "utils/uuid.h"

#include "column/text_decoder.h"
#include "column/text_scan.h"

/* Bytes that a one-byte header leaves. */
#define SHORT_VALUE_LENGTH	(VARATT_SHORT_MAX - VARHDRSZ_SHORT)

/* Strings are copied in steps of this size, the last one past the end. */
#define COPY_STEP	16

StaticAssertDecl(COPY_STEP <= TEXT_FIELD_PADDING, "a copy may read no further than the padding");

static pg_attribute_always_inline void
copy_in_steps(char *target, const char *source, uint32 length)
{
	memcpy(target, source, COPY_STEP);
	for (uint32 i = COPY_STEP; i < length; i += COPY_STEP)
		memcpy(target + i, source + i, COPY_STEP);
}

/* A string with a four-byte header and "padding" blanks at its end. */
static pg_noinline Datum
string_with_long_header(ValueArena *arena, ArenaCursor *cursor,
						const char *p, uint32 length, uint32 padding)
{
	size_t		size = VARHDRSZ + (size_t) length + padding;
	char	   *result;

	if (!AllocSizeIsValid(size))
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("text of %u bytes is too long", length)));
	arena_cursor_give(arena, cursor);
	result = value_arena_alloc(arena, size);
	*cursor = arena_cursor_take(arena);
	SET_VARSIZE(result, size);
	memcpy(result + VARHDRSZ, p, length);
	memset(result + VARHDRSZ + length, ' ', padding);
	return PointerGetDatum(result);
}

static pg_attribute_always_inline bool
convert_text(TextDecoder *decoder, ValueArena *arena, ArenaCursor *cursor,
			 const char *p, uint32 length, Datum *value)
{
	char	   *result;

	if (unlikely(length > decoder->max_length))
		return false;
	if (unlikely(length > SHORT_VALUE_LENGTH))
	{
		ArenaCursor copy = *cursor; /* so that *cursor may stay in registers */

		*value = string_with_long_header(arena, &copy, p, length, 0);
		*cursor = copy;
		return true;
	}
	result = arena_cursor_reserve(arena, cursor, VARATT_SHORT_MAX + COPY_STEP);
	SET_VARSIZE_SHORT(result, VARHDRSZ_SHORT + length);
	copy_in_steps(VARDATA_SHORT(result), p, length);
	cursor->next = result + VARHDRSZ_SHORT + length;
	*value = PointerGetDatum(result);
	return true;
}

void
text_loop_text(TextDecoder *decoder, const TextRun *run)
{
	text_decode_rows(decoder, run, convert_text);
}

static inline bool
string_is_ascii(const char *p, uint32 length)
{
	unsigned char seen = 0;

	for (uint32 i = 0; i < length; i++)
		seen |= (unsigned char) p[i];
	return seen < 0x80;
}

/* bpchar(n): blanks up to n characters, which are bytes if all is ASCII */
static pg_attribute_always_inline bool
convert_bpchar(TextDecoder *decoder, ValueArena *arena, ArenaCursor *cursor,
			   const char *p, uint32 length, Datum *value)
{
	uint32		padding;
	char	   *result;

	if (decoder->pad_length == 0)
		return convert_text(decoder, arena, cursor, p, length, value);
	if (length > decoder->pad_length || !string_is_ascii(p, length))
		return false;
	padding = decoder->pad_length - length;
	if (decoder->pad_length > SHORT_VALUE_LENGTH)
	{
		ArenaCursor copy = *cursor;

		*value = string_with_long_header(arena, &copy, p, length, padding);
		*cursor = copy;
		return true;
	}
	result = arena_cursor_reserve(arena, cursor, VARATT_SHORT_MAX);
	SET_VARSIZE_SHORT(result, VARHDRSZ_SHORT + decoder->pad_length);
	memcpy(VARDATA_SHORT(result), p, length);
	memset(VARDATA_SHORT(result) + length, ' ', padding);
	cursor->next = result + VARHDRSZ_SHORT + decoder->pad_length;
	*value = PointerGetDatum(result);
	return true;
}

void
text_loop_bpchar(TextDecoder *decoder, const TextRun *run)
{
	text_decode_rows(decoder, run, convert_bpchar);
}

#define UUID_TEXT_LENGTH	36	/* 8-4-4-4-12 */

static pg_attribute_always_inline bool
convert_uuid(TextDecoder *decoder, ValueArena *arena, ArenaCursor *cursor,
			 const char *p, uint32 length, Datum *value)
{
	uint32		part[4];
	char	   *result;

	(void) decoder;
	if (length != UUID_TEXT_LENGTH ||
		p[8] != '-' || p[13] != '-' || p[18] != '-' || p[23] != '-')
		return false;
	if (!scan_hex(scan_load64(p), &part[0]) ||
		!scan_hex(scan_load32(p + 9) | (uint64) scan_load32(p + 14) << 32, &part[1]) ||
		!scan_hex(scan_load32(p + 19) | (uint64) scan_load32(p + 24) << 32, &part[2]) ||
		!scan_hex(scan_load64(p + 28), &part[3]))
		return false;
	result = arena_cursor_reserve(arena, cursor, UUID_LEN);
	for (int i = 0; i < 4; i++)
		scan_store32(result + 4 * i, part[i]);
	cursor->next = result + UUID_LEN;
	*value = PointerGetDatum(result);
	return true;
}

void
text_loop_uuid(TextDecoder *decoder, const TextRun *run)
{
	text_decode_rows(decoder, run, convert_uuid);
}
