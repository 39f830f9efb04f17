/*-------------------------------------------------------------------------
 *
 * text_decoder.h
 *	  The inside of a TextDecoder, and the loop that all types share.
 *
 * A type's loop is text_decode_rows() around the type's converter: the
 * converter is inlined, so that no function is called for a plain field, and
 * the rules for nulls stand here once.
 *
 *-------------------------------------------------------------------------
 */
#ifndef OUTERJOIN_TEXT_DECODER_H
#define OUTERJOIN_TEXT_DECODER_H

#include "fmgr.h"

#include "column/text_value.h"
#include "column/value_arena.h"

/* The arguments of text_decode. */
typedef struct TextRun
{
	const TextFields *fields;
	int			from;
	int			to;
	const int16 *rows;
	int			nrows;
	ValueArena *arena;
	Datum	   *values;
	bool	   *isnull;
	volatile int *current;
} TextRun;

typedef void (*TextLoop) (TextDecoder *decoder, const TextRun *run);

/* text_exact.c's own */
typedef struct TextExactness TextExactness;

/* A null string of this length equals no field. */
#define NO_NULL_STRING		PG_UINT32_MAX

struct TextDecoder
{
	TextLoop	loop;

	/* nulls */
	const char *null;
	uint32		null_length;
	bool		force_null;
	bool		input_checks_null;	/* the input function wants to see nulls */
	bool		wide;			/* plain numbers may be taken four at a time */

	/* what converters ask for */
	uint32		max_length;		/* text types: characters that surely fit */
	uint32		pad_length;		/* bpchar(n): n, else 0 */
	int			precision;		/* timestamps: digits of a second's fraction */
	bool		zone_fixed;		/* session's time zone has one offset, */
	int32		zone_offset;	/* in seconds east of Greenwich */
	bool		zulu;			/* "Z" is UTC, as it should be */

	/* the input function */
	Oid			base_type;		/* beneath all domains */
	int32		typmod;
	Oid			ioparam;
	FmgrInfo	input;
	char	   *terminated;		/* [TERMINATED_SIZE] a field as a C string */
	TextExactness *exact;		/* NULL where the input function may round */
};

#define TERMINATED_SIZE		1024

/*
 * What the input function makes of a field, or of a null (p is NULL).
 */
extern Datum text_decode_by_input(TextDecoder *decoder, ValueArena *arena,
								  const char *p, uint32 length);

/* text_exact.c: an error where the value, read from the string, is not all of it */
extern void text_check_exact(TextDecoder *decoder, char *string, Datum value);

/* text_number.c */
extern void text_loop_bool(TextDecoder *decoder, const TextRun *run);
extern void text_loop_int2(TextDecoder *decoder, const TextRun *run);
extern void text_loop_int4(TextDecoder *decoder, const TextRun *run);
extern void text_loop_int8(TextDecoder *decoder, const TextRun *run);
extern void text_loop_float4(TextDecoder *decoder, const TextRun *run);
extern void text_loop_float8(TextDecoder *decoder, const TextRun *run);

/*
 * text_wide.c: as the ordinary loop, for contiguous rows (rows is NULL) where
 * decoder->wide allows it.  Integers are those from 0 to "most".
 */
extern bool text_wide_available(void);
extern void text_wide_integers(TextDecoder *decoder, const TextRun *run, int64 most, TextLoop ordinary);
extern void text_wide_doubles(TextDecoder *decoder, const TextRun *run, TextLoop ordinary);
extern void text_wide_floats(TextDecoder *decoder, const TextRun *run, TextLoop ordinary);

/* text_datetime.c */
extern void text_loop_date(TextDecoder *decoder, const TextRun *run);
extern void text_loop_timestamp(TextDecoder *decoder, const TextRun *run);
extern void text_loop_timestamptz(TextDecoder *decoder, const TextRun *run);
extern bool text_scan_date(const char *p, uint32 len, int64 *days);
extern bool text_scan_timestamp(const char *p, uint32 len, int64 *timestamp);

/* text_string.c */
extern void text_loop_text(TextDecoder *decoder, const TextRun *run);
extern void text_loop_bpchar(TextDecoder *decoder, const TextRun *run);
extern void text_loop_uuid(TextDecoder *decoder, const TextRun *run);

/*
 * One field to a Datum.  Returns false, having done nothing, for any spelling
 * that is not plain.  "cursor" is the arena's.
 */
typedef bool (*TextConverter) (TextDecoder *decoder, ValueArena *arena, ArenaCursor *cursor,
							   const char *p, uint32 length, Datum *value);

static pg_attribute_always_inline bool
text_equals_null(const TextDecoder *decoder, const char *p, uint32 length)
{
	return length == decoder->null_length &&
		(length == 0 || memcmp(p, decoder->null, length) == 0);
}

/* Sets *length to the field's true length unless it is null. */
static pg_attribute_always_inline bool
text_field_is_null(const TextDecoder *decoder, const char *p, uint32 *length)
{
	if (likely((*length & TEXT_FIELD_QUOTED) == 0))
		return text_equals_null(decoder, p, *length);
	if (*length == TEXT_FIELD_NULL)
		return true;
	*length &= ~TEXT_FIELD_QUOTED;
	return decoder->force_null && text_equals_null(decoder, p, *length);
}

/* A null's value; 0 unless a domain's constraints forbid it, which is an error. */
static pg_attribute_always_inline Datum
text_null_value(TextDecoder *decoder, ValueArena *arena)
{
	return unlikely(decoder->input_checks_null) ? text_decode_by_input(decoder, arena, NULL, 0) : 0;
}

static pg_attribute_always_inline void
text_decode_rows(TextDecoder *decoder, const TextRun *run, TextConverter convert)
{
	const char *base = run->fields->base;
	const uint32 *offset = run->fields->offset;
	const uint32 *lengths = run->fields->length;
	const int16 *rows = run->rows;
	Datum	   *values = run->values;
	bool	   *isnull = run->isnull;
	volatile int *current = run->current;
	int			end = rows ? run->nrows : run->to;
	ArenaCursor cursor = arena_cursor_take(run->arena);

	for (int i = rows ? 0 : run->from; i < end; i++)
	{
		int			row = rows ? rows[i] : i;
		const char *p = base + offset[row];
		uint32		length = lengths[row];

		*current = row;
		isnull[row] = text_field_is_null(decoder, p, &length);
		if (isnull[row])
			values[row] = text_null_value(decoder, run->arena);
		else if (unlikely(!convert(decoder, run->arena, &cursor, p, length, &values[row])))
			values[row] = text_decode_by_input(decoder, run->arena, p, length);
	}
	arena_cursor_give(run->arena, &cursor);
}

#endif							/* OUTERJOIN_TEXT_DECODER_H */
