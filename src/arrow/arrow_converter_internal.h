/*-------------------------------------------------------------------------
 *
 * arrow_converter_internal.h
 *	  The inside of an ArrowConverter, for the files that convert one family
 *	  of types each.
 *
 * A converter is two methods.  "element" makes one value; "convert" makes a
 * run of them, and is arrow_convert_elements, a loop around element, for all
 * but the types that deserve a loop of their own.  What is common to all
 * stands outside the methods: nulls of the validity bitmap, dictionaries,
 * run ends, constraints of domains.
 *
 * A method looks at converter->field, never at vector->field: of a dictionary
 * the latter may be dictionary-encoded, the former is what it encodes.
 *
 *-------------------------------------------------------------------------
 */
#ifndef OUTERJOIN_ARROW_CONVERTER_INTERNAL_H
#define OUTERJOIN_ARROW_CONVERTER_INTERNAL_H

#include "compat.h"

#include "fmgr.h"

#include "arrow/arrow_converter.h"
#include "column/value_arena.h"

/* The arguments of arrow_convert. */
typedef struct ArrowRun
{
	int64		from;
	int64		to;
	const int16 *rows;			/* or NULL: all of [from, to) */
	int			nrows;
	ValueArena *arena;
	Datum	   *values;
	bool	   *isnull;
	volatile int *current;
} ArrowRun;

/*
 * isnull[] of the run's rows has been set from the validity bitmap (all false
 * where there is none); the method sets values[] of the rows that are not null,
 * and may set more of isnull[].  A null's value means nothing: what the file
 * holds there is no reason for an error.
 */
typedef void (*ArrowConvertMethod) (ArrowConverter *converter, ArrowVector *vector, const ArrowRun *run);

/*
 * The value of element i, whose validity bit says that it is not null.
 * *isnull is false on entry; set it where something deeper (a dictionary's
 * entry, a union's child) is null after all.  By-reference values go to the
 * arena, or to value_arena_context(arena), and are not moved afterwards.
 */
typedef Datum (*ArrowElementMethod) (ArrowConverter *converter, ArrowVector *vector, int64 i,
									 ValueArena *arena, bool *isnull);

struct ArrowConverter
{
	ArrowConvertMethod convert;
	ArrowElementMethod element;

	const ArrowField *field;	/* without its dictionary, see above */
	Oid			type;			/* beneath all domains */
	int32		typmod;
	bool		by_value;		/* of the type */
	bool		key;			/* never round, never cut */
	const char *file;
	const char *column;
	MemoryContext context;		/* the converter's own: lives as long as it does */

	/* as the family's file likes */
	ArrowConverter **children;
	int			nchildren;
	int32		precision;		/* of numeric(p,s), else -1 */
	int32		scale;
	int32		max_length;		/* characters of varchar(n), bpchar(n); else PG_INT32_MAX */
	FmgrInfo	function;		/* an output function, say */
	struct TextDecoder *input;	/* strings through the type's input function */
	void	   *state;

	/* arrow_converter.c's own */
	Oid			domain;			/* InvalidOid: not a domain with constraints */
	void	   *domain_extra;
	struct ArrowEntries *entries;	/* of a dictionary-encoded field */
};

/*
 * Choose the methods of a converter whose other fields are set; called for
 * the fields and types of one row of the table.
 */
typedef void (*ArrowPrepare) (ArrowConverter *converter);

/* ---- arrow_converter.c ---- */

/* As arrow_converter_create, with the parent's key, file, column and context. */
extern ArrowConverter *arrow_converter_create_child(const ArrowConverter *parent,
													const ArrowField *field, Oid type, int32 typmod);

/* The loop around "element". */
extern void arrow_convert_elements(ArrowConverter *converter, ArrowVector *vector, const ArrowRun *run);

/*
 * One element, null or not, with its dictionary and its domain's constraints.
 */
extern Datum arrow_element(ArrowConverter *converter, ArrowVector *vector, int64 i,
						   ValueArena *arena, bool *isnull);

/*
 * The type that holds all of a field's values as they are meant: int4 for
 * int32, numeric for uint64, interval for a duration.  Of a nested field it is
 * jsonb, of strings text, of binaries bytea (uuid where the field's metadata
 * says so), of the null type text.  A
 * dictionary's or run-end encoded field's is that of its values.  Its modifier
 * is always -1.
 */
extern Oid	arrow_natural_type(const ArrowField *field);

/* Is it a list of any kind, a struct, a map or a union (behind run ends too)? */
extern bool arrow_field_is_nested(const ArrowField *field);

/* As Arrow's own tools would write it, "timestamp[ns, tz=UTC]"; palloc'd. */
extern char *arrow_field_type_name(const ArrowField *field);

/* "this field cannot be read as this type", with a hint at those that can be. */
pg_noreturn extern void arrow_refuse_pair(const ArrowConverter *converter);

/* The error of a value that a key's type would have to round or cut. */
pg_noreturn extern void arrow_refuse_rounding(const ArrowConverter *converter, const char *value);

/* The error of a value that is more than the type's kind: 1.5 for an integer. */
pg_noreturn extern void arrow_refuse_fraction(const ArrowConverter *converter, const char *value,
											  const char *what);

/* The error of a value outside the type's range. */
pg_noreturn extern void arrow_refuse_range(const ArrowConverter *converter, const char *value);

/* ---- arrow_converter_nested.c ---- */

/*
 * Prepares converters of nested fields to any type, and of every field but
 * strings to json and jsonb (strings go through those types' input functions).
 * What cannot be is arrow_refuse_pair.
 */
extern void arrow_nested_converter(ArrowConverter *converter);

/* The types that can hold such a field, for a hint: "jsonb, text". */
extern const char *arrow_nested_types(const ArrowField *field);

/* ---- arrow_converter_numbers.c ---- */

extern void arrow_prepare_bool(ArrowConverter *converter);
extern void arrow_prepare_integer(ArrowConverter *converter);
extern void arrow_prepare_float(ArrowConverter *converter);
extern void arrow_prepare_numeric(ArrowConverter *converter);

/* ---- arrow_converter_times.c ---- */

extern void arrow_prepare_date(ArrowConverter *converter);
extern void arrow_prepare_time(ArrowConverter *converter);
extern void arrow_prepare_timestamp(ArrowConverter *converter);
extern void arrow_prepare_interval(ArrowConverter *converter);

/* ---- arrow_converter_strings.c ---- */

extern void arrow_prepare_text(ArrowConverter *converter);
extern void arrow_prepare_bytea(ArrowConverter *converter);
extern void arrow_prepare_uuid(ArrowConverter *converter);
extern void arrow_prepare_input(ArrowConverter *converter);
extern void arrow_prepare_output(ArrowConverter *converter);

/*
 * A text, varchar(n) or bpchar(n) as assignment would make it of a string in
 * the database's encoding; a key that would be cut is an error.
 */
extern Datum arrow_text_fit(ArrowConverter *converter, ArrowBytes bytes, ValueArena *arena);

/*
 * A string of the file in the database's encoding, verified, without zero
 * bytes: the bytes themselves, or converted ones in value_arena_context(arena).
 */
extern ArrowBytes arrow_text_verify(ArrowBytes bytes, ValueArena *arena);

/* Text with a short header where it fits, in the arena. */
extern Datum arrow_text_datum(ArrowBytes bytes, ValueArena *arena);

/* ---- what loops share ---- */

/* Rows of a run, in order: for (int k = 0; k < n; k++) row = run_row(run, k) */
static inline int
arrow_run_count(const ArrowRun *run)
{
	return run->rows ? run->nrows : (int) (run->to - run->from);
}

static inline int
arrow_run_row(const ArrowRun *run, int k)
{
	return run->rows ? run->rows[k] : k;
}

#endif							/* OUTERJOIN_ARROW_CONVERTER_INTERNAL_H */
