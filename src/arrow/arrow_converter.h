/*-------------------------------------------------------------------------
 *
 * arrow_converter.h
 *	  Elements of Arrow arrays as values of PostgreSQL's types.
 *
 * Exactly or with an error: never a wrap, a rounding of a key, or a shifted
 * time zone.  Which pairs of types there are stands in one table.
 *
 *-------------------------------------------------------------------------
 */
#ifndef OUTERJOIN_ARROW_CONVERTER_H
#define OUTERJOIN_ARROW_CONVERTER_H

#include "arrow/arrow_vector.h"
#include "column/text_value.h"

typedef struct ArrowConverter ArrowConverter;

/*
 * A converter from a field to a type.  A pair that cannot be is an error
 * (42804, FDW_INVALID_DATA_TYPE where it fits better) that names "file" and
 * "column" and hints at the types that can hold it.  key: nothing is rounded.
 * Allocates in the current context.
 */
extern ArrowConverter *arrow_converter_create(const ArrowField *field, Oid type, int32 typmod, bool key,
											  const char *file, const char *column);

/*
 * Elements [from, to) of the vector, which are loaded, to values[0 ..] and
 * isnull[0 ..], or of those only the elements from + rows[k] (ascending), to
 * values[rows[k]].  By-reference values live in the arena, or, of dictionary
 * entries, in the converter's own memory, both until the arena is reset.  A
 * null's value means nothing, though a pointer it is not.
 * *current is set to the element (counting from "from") before anything can
 * raise an error.  Values of int2, int4, date and the like are sign-extended.
 */
extern void arrow_convert(ArrowConverter *converter, ArrowVector *vector, int64 from, int64 to,
						  const int16 *rows, int nrows, ValueArena *arena,
						  Datum *values, bool *isnull, volatile int *current);

/* Does a value depend on nothing but the file: on no setting of the session? */
extern bool arrow_converter_is_lasting(const ArrowConverter *converter);

/* Memory that the entries of dictionaries have as values. */
extern int64 arrow_converter_dictionary_bytes(const ArrowConverter *converter);

/* Bytes that every value has, whatever the file holds: the width of char(n). */
extern int64 arrow_converter_least_bytes(const ArrowConverter *converter);

/*
 * Is a value null where the vector's bitmap says so, and nowhere else?  (Not
 * where entries of a dictionary, runs or the fields of a union may be null,
 * or where a domain has a say.)
 */
extern bool arrow_converter_nulls_are_marked(const ArrowConverter *converter);

/* The nulls alone, as arrow_convert sets them; the vector's nulls are loaded. */
extern void arrow_convert_nulls(const ArrowVector *vector, int64 from, int64 to,
								const int16 *rows, int nrows, bool *isnull);

/*
 * Are the bytes of an 8-byte element the value's Datum as they stand?  (bigint
 * of a 64-bit integer, without a domain's constraints.)
 */
extern bool arrow_converter_is_copy(const ArrowConverter *converter);

#endif							/* OUTERJOIN_ARROW_CONVERTER_H */
