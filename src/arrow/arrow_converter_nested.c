/*-------------------------------------------------------------------------
 *
 * arrow_converter_nested.c
 *	  Which way a nested field goes: to an array, a composite type, or jsonb.
 *
 * A list becomes an array, a struct a composite type, a map an array of a
 * composite type of two columns, and each of them, and a union, jsonb.  A
 * union has no other type: what it holds may differ in every row.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "mb/pg_wchar.h"
#include "utils/lsyscache.h"

#include "arrow/arrow_converter_nested.h"

bool
arrow_resolve(ArrowVector **vector, int64 *i)
{
	for (;;)
	{
		if (arrow_is_null(*vector, *i))
			return false;
		if ((*vector)->dictionary != NULL)
			*vector = arrow_dictionary_entry((*vector)->dictionary, arrow_index(*vector, *i), i);
		else if ((*vector)->field->type == ARROW_RUN_END_ENCODED)
		{
			*i = arrow_run_element(*vector, *i);
			*vector = &(*vector)->children[1];
		}
		else
			return (*vector)->field->type != ARROW_NULL;
	}
}

const ArrowField *
arrow_field_values(const ArrowField *field)
{
	while (field->type == ARROW_RUN_END_ENCODED)
		field = &field->children[1];
	return field;
}

bool
arrow_field_is_list(const ArrowField *field)
{
	switch (field->type)
	{
		case ARROW_LIST:
		case ARROW_LARGE_LIST:
		case ARROW_LIST_VIEW:
		case ARROW_LARGE_LIST_VIEW:
		case ARROW_FIXED_SIZE_LIST:
			return true;
		default:
			return false;
	}
}

const char *
arrow_field_name(const ArrowField *field)
{
	return pg_any_to_server(field->name, strlen(field->name), PG_UTF8);
}

ArrowConverter *
arrow_converter_create_below(const ArrowConverter *parent, const ArrowField *field,
							 Oid type, int32 typmod, const char *place)
{
	ArrowConverter here = *parent;
	MemoryContext caller = MemoryContextSwitchTo(parent->context);

	here.column = psprintf("%s%s", parent->column, place);
	MemoryContextSwitchTo(caller);
	return arrow_converter_create_child(&here, field, type, typmod);
}

static bool
is_json_or_text(Oid type)
{
	return type == JSONBOID || type == JSONOID ||
		type == TEXTOID || type == VARCHAROID || type == BPCHAROID;
}

void
arrow_nested_converter(ArrowConverter *converter)
{
	const ArrowField *field = arrow_field_values(converter->field);

	if (is_json_or_text(converter->type))
		arrow_prepare_jsonb(converter);
	else if ((arrow_field_is_list(field) || field->type == ARROW_MAP) &&
			 OidIsValid(get_element_type(converter->type)))
		arrow_prepare_array(converter);
	else if (field->type == ARROW_STRUCT && get_typtype(converter->type) == TYPTYPE_COMPOSITE)
		arrow_prepare_composite(converter);
	else
		arrow_refuse_pair(converter);
}

const char *
arrow_nested_types(const ArrowField *field)
{
	field = arrow_field_values(field);
	if (arrow_field_is_list(field))
		return "an array, jsonb, json, text";
	if (field->type == ARROW_MAP)
		return "jsonb, an array of a composite type of key and value, json, text";
	if (field->type == ARROW_STRUCT)
		return "a composite type, jsonb, json, text";
	return "jsonb, json, text";
}
