/*-------------------------------------------------------------------------
 *
 * arrow_composites.c
 *	  Structs to composite types.
 *
 * A field goes to the column of its very name, case included, and each has to
 * have the other: what one lacks is an error when the converter is made, not
 * a null in every row.  Dropped columns are null, and are not asked for.
 *
 * A chunk of rows is converted field by field, then put together row by row.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/tupdesc.h"
#include "catalog/pg_type.h"
#include "lib/stringinfo.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/typcache.h"

#include "arrow/arrow_converter_nested.h"
#include "column/stream_spec.h"
#include "compat.h"

/* Columns that an error lists. */
#define LISTED_NAMES	20

typedef struct CompositeState
{
	TupleDesc	desc;
	int		   *attribute;		/* [nchildren] of each field, from 0 */
	Datum	   *values;			/* [natts] one row */
	bool	   *isnull;

	/* the chunk at hand: NESTED_CHUNK for each field, then its rows */
	ValueArena *arena;			/* of the fields' values */
	MemoryContext rows_context; /* of rows, until they are in the caller's arena */
	Datum	   *field_values;
	bool	   *field_isnull;
	int64		base;			/* element number of the chunk's first */
	int			current;		/* counts from it */
	const ArrowRun *run;
} CompositeState;

/* ------------------------------------------------------------ rows */

static Datum
composite_form(CompositeState *state, int nfields, int row, ValueArena *arena)
{
	MemoryContext caller;
	HeapTuple	tuple;
	void	   *result;

	for (int f = 0; f < nfields; f++)
	{
		state->values[state->attribute[f]] = state->field_values[f * NESTED_CHUNK + row];
		state->isnull[state->attribute[f]] = state->field_isnull[f * NESTED_CHUNK + row];
	}
	caller = MemoryContextSwitchTo(state->rows_context);
	tuple = heap_form_tuple(state->desc, state->values, state->isnull);
	MemoryContextSwitchTo(caller);

	/* it may be used as a Datum as it is: nothing in it lies elsewhere */
	result = value_arena_alloc(arena, tuple->t_len);
	memcpy(result, tuple->t_data, tuple->t_len);
	return PointerGetDatum(result);
}

/* The caller wants to know which of its rows an error is about. */
static void
composite_error_context(void *argument)
{
	const CompositeState *state = argument;

	*state->run->current = (int) (state->base - state->run->from) + state->current;
}

/*
 * The rows of one chunk, none of them null, counted from state->base, to the
 * run's values.
 */
static void
composite_convert_chunk(ArrowConverter *converter, ArrowVector *vector, const int16 *rows, int n)
{
	CompositeState *state = converter->state;
	const ArrowRun *run = state->run;
	int			first = (int) (state->base - run->from);

	CHECK_FOR_INTERRUPTS();
	for (int f = 0; f < converter->nchildren; f++)
	{
		state->current = rows[0];
		arrow_convert(converter->children[f], &vector->children[f],
					  state->base, state->base + rows[n - 1] + 1, rows, n, state->arena,
					  state->field_values + f * NESTED_CHUNK,
					  state->field_isnull + f * NESTED_CHUNK, &state->current);
	}
	for (int k = 0; k < n; k++)
	{
		state->current = rows[k];
		run->values[first + rows[k]] = composite_form(state, converter->nchildren, rows[k], run->arena);
	}
	MemoryContextReset(state->rows_context);
	value_arena_reset(state->arena);
}

static void
composite_convert(ArrowConverter *converter, ArrowVector *vector, const ArrowRun *run)
{
	CompositeState *state = converter->state;
	ErrorContextCallback context = {error_context_stack, composite_error_context, state};
	int			count = arrow_run_count(run);
	int			k = 0;

	state->run = run;
	error_context_stack = &context;
	while (k < count)
	{
		int			first = arrow_run_row(run, k);
		int16		rows[NESTED_CHUNK];
		int			n = 0;

		for (; k < count && arrow_run_row(run, k) < first + NESTED_CHUNK; k++)
		{
			int			row = arrow_run_row(run, k);

			if (run->isnull[row])
				run->values[row] = 0;
			else
				rows[n++] = row - first;
		}
		state->base = run->from + first;
		state->current = 0;
		if (n > 0)
			composite_convert_chunk(converter, vector, rows, n);
	}
	error_context_stack = context.previous;
}

static Datum
composite_element(ArrowConverter *converter, ArrowVector *vector, int64 i, ValueArena *arena, bool *isnull)
{
	Datum		value = 0;
	int			current = 0;
	ArrowRun	run = {i, i + 1, NULL, 0, arena, &value, isnull, &current};

	composite_convert(converter, vector, &run);
	return value;
}

/* ------------------------------------------------------------ names */

static void
append_name(StringInfo names, int *count, const char *name)
{
	(*count)++;
	if (*count <= LISTED_NAMES)
		appendStringInfo(names, "%s\"%s\"", *count > 1 ? ", " : "", name);
	else if (*count == LISTED_NAMES + 1)
		appendStringInfoString(names, ", ...");
}

/* The names of a struct's fields. */
static char *
field_names(const ArrowField *field)
{
	StringInfoData names;
	int			count = 0;

	initStringInfo(&names);
	for (int f = 0; f < field->nchildren; f++)
		append_name(&names, &count, arrow_field_name(&field->children[f]));
	return names.data;
}

static char *
column_names(TupleDesc desc)
{
	StringInfoData names;
	int			count = 0;

	initStringInfo(&names);
	for (int a = 0; a < desc->natts; a++)
	{
		if (!TupleDescAttr(desc, a)->attisdropped)
			append_name(&names, &count, NameStr(TupleDescAttr(desc, a)->attname));
	}
	return names.data;
}

pg_noreturn static void refuse_names(const ArrowConverter *converter, const ArrowField *field,
									 TupleDesc desc, const char *detail);

static void
refuse_names(const ArrowConverter *converter, const ArrowField *field, TupleDesc desc, const char *detail)
{
	ereport(ERROR,
			(errcode(ERRCODE_DATATYPE_MISMATCH),
			 errmsg("column \"%s\" of type %s cannot hold field \"%s\" of file \"%s\"",
					converter->column, format_type_be(converter->type),
					arrow_field_name(field), converter->file),
			 errdetail("%s The struct has fields %s; the type has columns %s.",
					   detail, field_names(field), column_names(desc)),
			 errhint("A column of type jsonb holds any struct.")));
}

/* Which column, from 0, has the field's name. */
static int
column_of_field(const ArrowConverter *converter, const ArrowField *field, int f, TupleDesc desc)
{
	const char *name = arrow_field_name(&field->children[f]);

	for (int a = 0; a < desc->natts; a++)
	{
		Form_pg_attribute attribute = TupleDescAttr(desc, a);

		if (!attribute->attisdropped && field_name_equal(NameStr(attribute->attname), name))
			return a;
	}
	refuse_names(converter, field, desc,
				 psprintf(_("No column of the type has the name of field \"%s\"."), name));
}

/* Sets state->attribute. */
static void
composite_match(const ArrowConverter *converter, const ArrowField *field, CompositeState *state)
{
	bool	   *taken = palloc0(sizeof(bool) * (state->desc->natts + 1));

	for (int f = 0; f < field->nchildren; f++)
	{
		int			a = column_of_field(converter, field, f, state->desc);

		if (taken[a])
			refuse_names(converter, field, state->desc,
						 psprintf(_("Two fields have the name \"%s\"."),
								  NameStr(TupleDescAttr(state->desc, a)->attname)));
		taken[a] = true;
		state->attribute[f] = a;
	}
	for (int a = 0; a < state->desc->natts; a++)
	{
		Form_pg_attribute attribute = TupleDescAttr(state->desc, a);

		if (!taken[a] && !attribute->attisdropped)
			refuse_names(converter, field, state->desc,
						 psprintf(_("No field of the struct has the name of column \"%s\"."),
								  NameStr(attribute->attname)));
	}
	pfree(taken);
}

/* ------------------------------------------------------------ creation */

static CompositeState *
composite_state_create(const ArrowConverter *converter, int nfields)
{
	CompositeState *state = palloc0(sizeof(CompositeState));
	int			natts;

	state->desc = lookup_rowtype_tupdesc_copy(converter->type, -1);
	natts = state->desc->natts;
	state->attribute = palloc0(sizeof(int) * (nfields + 1));
	state->values = palloc0(sizeof(Datum) * (natts + 1));
	state->isnull = palloc(sizeof(bool) * (natts + 1));
	/* so that dropped columns are null */
	memset(state->isnull, true, natts + 1);
	return state;
}

/* What a chunk needs: only once the number of fields is known to be a type's. */
static void
composite_allocate_chunk(CompositeState *state, int nfields)
{
	state->arena = value_arena_create(CurrentMemoryContext);
	state->rows_context = AllocSetContextCreate(CurrentMemoryContext, "outerjoin_fdw composites",
												ALLOCSET_DEFAULT_SIZES);
	state->field_values = palloc0(sizeof(Datum) * (nfields + 1) * NESTED_CHUNK);
	state->field_isnull = palloc0(sizeof(bool) * (nfields + 1) * NESTED_CHUNK);
}

static void
composite_create_fields(ArrowConverter *converter, const ArrowField *field, const CompositeState *state)
{
	converter->nchildren = field->nchildren;
	converter->children = palloc0(sizeof(ArrowConverter *) * (field->nchildren + 1));
	for (int f = 0; f < field->nchildren; f++)
	{
		Form_pg_attribute attribute = TupleDescAttr(state->desc, state->attribute[f]);

		converter->children[f] =
			arrow_converter_create_below(converter, &field->children[f], attribute->atttypid,
										 attribute->atttypmod,
										 psprintf(".%s", NameStr(attribute->attname)));
	}
}

void
arrow_prepare_composite(ArrowConverter *converter)
{
	const ArrowField *field = converter->field;
	MemoryContext caller = MemoryContextSwitchTo(converter->context);
	CompositeState *state = composite_state_create(converter, field->nchildren);

	composite_match(converter, field, state);
	composite_allocate_chunk(state, field->nchildren);
	composite_create_fields(converter, field, state);
	MemoryContextSwitchTo(caller);

	converter->state = state;
	converter->element = composite_element;
	converter->convert = composite_convert;
}

/* ------------------------------------------------------------ maps */

/* The columns of a composite type that are there; at most two are noted. */
static int
live_columns(TupleDesc desc, const char *names[2])
{
	int			n = 0;

	for (int a = 0; a < desc->natts; a++)
	{
		Form_pg_attribute attribute = TupleDescAttr(desc, a);

		if (attribute->attisdropped)
			continue;
		if (n < 2)
			names[n] = NameStr(attribute->attname);
		n++;
	}
	return n;
}

/* The name in the encoding that fields' names have. */
static const char *
name_of_column_as_field(const char *name)
{
	return pstrdup(pg_server_to_any(name, strlen(name), PG_UTF8));
}

/*
 * Key and value of a map have no names that mean anything: they go to the
 * first and the second column.
 */
const ArrowField *
arrow_map_entries_field(const ArrowConverter *converter, const ArrowField *map, Oid composite)
{
	MemoryContext caller = MemoryContextSwitchTo(converter->context);
	Oid			base = getBaseType(composite);
	const char *names[2];
	ArrowField *entries;
	TupleDesc	desc;

	if (get_typtype(base) != TYPTYPE_COMPOSITE)
		arrow_refuse_pair(converter);
	desc = lookup_rowtype_tupdesc_copy(base, -1);
	if (live_columns(desc, names) != 2)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("column \"%s\" of type %s cannot hold field \"%s\" of file \"%s\"",
						converter->column, format_type_be(converter->type),
						arrow_field_name(map), converter->file),
				 errdetail("A map is an array of a composite type of two columns, for key and value; type %s has columns %s.",
						   format_type_be(base), column_names(desc))));

	entries = palloc(sizeof(ArrowField));
	*entries = map->children[0];
	entries->children = palloc(sizeof(ArrowField) * 2);
	memcpy(entries->children, map->children[0].children, sizeof(ArrowField) * 2);
	for (int i = 0; i < 2; i++)
		entries->children[i].name = name_of_column_as_field(names[i]);
	FreeTupleDesc(desc);
	MemoryContextSwitchTo(caller);
	return entries;
}
