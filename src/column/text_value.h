/*-------------------------------------------------------------------------
 *
 * text_value.h
 *	  A value's text form to a Datum, exactly as the type's input function
 *	  would do it, without calling it where the text is plain.
 *
 * bool, int2/4/8, float4/8, date, timestamp, timestamptz, uuid, text, varchar
 * and bpchar have loops of their own that take the usual spellings; whatever
 * such a loop does not recognise with certainty goes to the input function,
 * which then accepts it or raises its own error.  Every other type always
 * goes there.
 *
 *-------------------------------------------------------------------------
 */
#ifndef OUTERJOIN_TEXT_VALUE_H
#define OUTERJOIN_TEXT_VALUE_H

#include "postgres.h"

/*
 * Fields of consecutive rows: length[i] bytes at base + offset[i].  At least
 * TEXT_FIELD_PADDING readable bytes follow the buffer's last field.  Two bits
 * of the length carry what a parser knows already.  The bytes are valid in the
 * database encoding, without zero bytes.
 */
#define TEXT_FIELD_PADDING	64
#define TEXT_FIELD_NULL		0xFFFFFFFFU /* is null: nothing to compare */
#define TEXT_FIELD_QUOTED	0x80000000U /* never compare with the null string */

typedef struct TextFields
{
	const char *base;
	const uint32 *offset;
	const uint32 *length;
} TextFields;

/*
 * Memory for by-reference values of one batch: chunks that grow, reset for
 * the next batch, kept for reuse.
 */
typedef struct ValueArena ValueArena;

extern ValueArena *value_arena_create(MemoryContext parent);
extern void value_arena_reset(ValueArena *arena);
/* MAXALIGNed */
extern void *value_arena_alloc(ValueArena *arena, size_t size);
/* for code that pallocs: a context that value_arena_reset empties */
extern MemoryContext value_arena_context(ValueArena *arena);

typedef struct TextDecoder TextDecoder;

/*
 * null: the null string, or NULL where none applies (force_not_null).
 * force_null: a quoted field that equals it is null too.  simd: wide
 * instructions may be used; they make no difference in the results.
 */
extern TextDecoder *text_decoder_create(Oid type, int32 typmod,
										const char *null, bool force_null,
										bool simd, MemoryContext context);

/*
 * For a key of this type: text that the type or its modifier would round or
 * cut is an error.
 */
extern void text_decoder_refuse_rounding(TextDecoder *decoder, Oid type, MemoryContext context);

/*
 * From here on say only what is null; values are 0.  Nothing else about a
 * field is looked at then.
 */
extern void text_decoder_nulls_only(TextDecoder *decoder);

/*
 * Decode rows [from, to), or of those only "rows", to values[row] and
 * isnull[row] (a null's value is 0).  *current is set to the row at hand before
 * anything can raise an error, for the caller's error context.  By-reference
 * values live in the arena; strings may have short headers.  Values of int2,
 * int4 and date are sign-extended to all 64 bits.
 */
extern void text_decode(TextDecoder *decoder, const TextFields *fields, int from, int to,
						const int16 *rows, int nrows, ValueArena *arena,
						Datum *values, bool *isnull, volatile int *current);

/*
 * The value of an integer-like key (int2/4/8, date, timestamp) from its plain
 * spelling, quick and without errors: false for any other spelling, value or
 * type, which says nothing about its being right.  No padding is needed.
 */
extern bool text_value_plain_int64(Oid type, const char *p, uint32 len, int64 *result);

#endif							/* OUTERJOIN_TEXT_VALUE_H */
