/*-------------------------------------------------------------------------
 *
 * arrow_converter_nested.h
 *	  What the converters of nested fields share.
 *
 *-------------------------------------------------------------------------
 */
#ifndef OUTERJOIN_ARROW_CONVERTER_NESTED_H
#define OUTERJOIN_ARROW_CONVERTER_NESTED_H

#include "arrow/arrow_converter_internal.h"

/* Elements that are converted at once, so that memory stays small in a row of any length. */
#define NESTED_CHUNK	256

/*
 * The array and the element that stand behind dictionaries and run ends, which
 * "vector" and "i" become.  False: it is null.
 */
extern bool arrow_resolve(ArrowVector **vector, int64 *i);

/* A field behind run ends. */
extern const ArrowField *arrow_field_values(const ArrowField *field);

/* List, large list, view of either, list of fixed size; not a map. */
extern bool arrow_field_is_list(const ArrowField *field);

/* The name of a field in the database's encoding, palloc'd where it differs. */
extern const char *arrow_field_name(const ArrowField *field);

/*
 * A converter for what lies below.  "place" is appended to the column's name
 * in errors: "[]" or ".name".
 */
extern ArrowConverter *arrow_converter_create_below(const ArrowConverter *parent, const ArrowField *field,
													Oid type, int32 typmod, const char *place);

/* arrow_arrays.c: a list or a map to an array, of one or more dimensions */
extern void arrow_prepare_array(ArrowConverter *converter);

/* arrow_composites.c: a struct to a composite type, by the names of its fields */
extern void arrow_prepare_composite(ArrowConverter *converter);

/* arrow_composites.c: the entries of a map as if their fields had the names of the type's columns */
extern const ArrowField *arrow_map_entries_field(const ArrowConverter *converter, const ArrowField *map,
												 Oid composite);

/* arrow_jsonb.c: anything to jsonb, json, and to the text of its jsonb */
extern void arrow_prepare_jsonb(ArrowConverter *converter);

#endif							/* OUTERJOIN_ARROW_CONVERTER_NESTED_H */
