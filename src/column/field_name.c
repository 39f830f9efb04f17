/*-------------------------------------------------------------------------
 *
 * field_name.c
 *	  Which field of a file a column takes, for all formats.
 *
 * Names are compared byte for byte, case included, here and nowhere else: a
 * file may well hold both "kg" and "KG", and a name that matches by chance
 * would be worse than an error that lists the fields.
 *
 * Names come from files and are hostile: they are cut before they are shown.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "compat.h"

#include "lib/stringinfo.h"
#include "mb/pg_wchar.h"
#include "utils/varlena.h"

#include "column/stream_spec.h"

#define NO_FIELD			(-1)
#define MAX_LISTED_FIELDS	30
#define MAX_CLOSE_DISTANCE	3

/* The fields of one file, as field_resolve was given them. */
typedef struct FieldList
{
	const StreamSpec *spec;
	const char *file;
	int			nnames;
	const char *const *names;
	int			nfields;
} FieldList;

bool
field_name_equal(const char *a, const char *b)
{
	return strcmp(a, b) == 0;
}

/* A name as messages show it: at most NAMEDATALEN bytes. */
static char *
shown_name(const char *name)
{
	int			length = (int) strnlen(name, NAMEDATALEN);

	return pnstrdup(name, pg_mbcliplen(name, length, NAMEDATALEN - 1));
}

/* "id, colour, ..." for an error's detail */
static char *
listed_fields(const FieldList *list)
{
	StringInfoData text;
	int			shown = Min(list->nnames, MAX_LISTED_FIELDS);

	initStringInfo(&text);
	for (int i = 0; i < shown; i++)
		appendStringInfo(&text, "%s\"%s\"", i > 0 ? ", " : "", shown_name(list->names[i]));
	if (shown < list->nnames)
		appendStringInfo(&text, " and %d more", list->nnames - shown);
	return text.data;
}

static int
errdetail_fields(const FieldList *list)
{
	if (list->nnames > 0)
		return errdetail("Its fields are %s.", listed_fields(list));
	return errdetail_plural("It has %d field, without a name.",
							"It has %d fields, without names.", list->nfields, list->nfields);
}

/* The field whose name is closest to a wanted one, or NULL. */
static const char *
closest_name(const FieldList *list, const char *wanted)
{
	const char *closest = NULL;
	int			length = (int) strlen(wanted);
	int			best = Min(MAX_CLOSE_DISTANCE, length / 2) + 1;

	if (length >= NAMEDATALEN)
		return NULL;
	for (int i = 0; i < list->nnames; i++)
	{
		int			other = (int) strnlen(list->names[i], NAMEDATALEN);
		int			distance;

		if (other == 0 || other >= NAMEDATALEN)
			continue;
		if (pg_strcasecmp(wanted, list->names[i]) == 0)
			return list->names[i];
		distance = varstr_levenshtein_less_equal(wanted, length, list->names[i], other,
												 1, 1, 1, best, true);
		if (distance < best)
		{
			best = distance;
			closest = list->names[i];
		}
	}
	return closest;
}

/* Error: the option "field" or "key_field" names what the file does not have. */
pg_noreturn static void
report_missing_field(const FieldList *list, const FieldSpec *column)
{
	const char *closest = closest_name(list, column->declared);

	ereport(ERROR,
			(errcode(ERRCODE_FDW_COLUMN_NAME_NOT_FOUND),
			 errmsg("file \"%s\" has no field \"%s\" for column \"%s\"",
					list->file, column->declared, column->column),
			 errdetail_fields(list),
			 closest ? errhint("Perhaps you meant the field \"%s\".", closest) : 0));
}

pg_noreturn static void
report_undecided_field(const FieldList *list, const FieldSpec *column)
{
	const char *closest = closest_name(list, column->column);

	ereport(ERROR,
			(errcode(ERRCODE_FDW_COLUMN_NAME_NOT_FOUND),
			 errmsg("file \"%s\" has no field \"%s\", and not exactly one field that is no key",
					list->file, column->column),
			 errdetail_fields(list),
			 closest ?
			 errhint("Perhaps you want to set the column's option \"field\" to \"%s\".", closest) :
			 list->nfields == 1 ?
			 errhint("If the file's fields are separated by another character, set the option \"delimiter\".") :
			 errhint("Name the column's field with the option \"field\".")));
}

/* The field of a name; NO_FIELD if there is none, an error if there are two. */
static int
field_by_name(const FieldList *list, const char *name)
{
	int			found = NO_FIELD;

	for (int i = 0; i < list->nnames; i++)
	{
		if (!field_name_equal(list->names[i], name))
			continue;
		if (found != NO_FIELD)
			ereport(ERROR,
					(errcode(ERRCODE_AMBIGUOUS_COLUMN),
					 errmsg("file \"%s\" has more than one field \"%s\"",
							list->file, shown_name(name)),
					 errhint("Give the field's number in the option \"field\" or \"key_field\".")));
		found = i;
	}
	return found;
}

/* "3" to 2 where the file has so many fields, else NO_FIELD. */
static int
field_by_number(const FieldList *list, const char *text)
{
	int			number = 0;

	for (const char *p = text; *p != '\0'; p++)
	{
		if (*p < '0' || *p > '9')
			return NO_FIELD;
		number = number * 10 + (*p - '0');
		if (number > list->nfields)
			return NO_FIELD;
	}
	return number - 1;			/* NO_FIELD for "0" and "" */
}

static int
declared_field(const FieldList *list, const FieldSpec *column)
{
	int			field = field_by_name(list, column->declared);

	if (field == NO_FIELD)
		field = field_by_number(list, column->declared);
	if (field == NO_FIELD)
		report_missing_field(list, column);
	return field;
}

/* The k-th key column's field. */
static int
key_field(const FieldList *list, int k)
{
	const FieldSpec *column = &list->spec->keys[k];
	int			field;

	if (column->declared)
		return declared_field(list, column);
	field = field_by_name(list, column->column);
	if (field != NO_FIELD)
		return field;
	if (k >= list->nfields)
		ereport(ERROR,
				(errcode(ERRCODE_FDW_COLUMN_NAME_NOT_FOUND),
				 errmsg("file \"%s\" has no field for key column \"%s\"",
						list->file, column->column),
				 errdetail_fields(list)));
	return k;
}

/* Two key columns in one field can only be a mistake in the names. */
static void
check_key_fields(const FieldList *list, const int *key_fields)
{
	for (int k = 1; k < list->spec->nkeys; k++)
	{
		for (int other = 0; other < k; other++)
		{
			if (key_fields[other] != key_fields[k])
				continue;
			ereport(ERROR,
					(errcode(ERRCODE_AMBIGUOUS_COLUMN),
					 errmsg("key columns \"%s\" and \"%s\" both take field %d of file \"%s\"",
							list->spec->keys[other].column, list->spec->keys[k].column,
							key_fields[k] + 1, list->file),
					 errdetail_fields(list),
					 errhint("Name the fields with the option \"field\" of the key columns or \"key_field\" of the value column.")));
		}
	}
}

/* The only field that is no key, or NO_FIELD. */
static int
only_value_field(const FieldList *list, const int *key_fields)
{
	int			nkeys = list->spec->nkeys;
	int			found = NO_FIELD;

	/* key fields differ from each other, so the count is enough to know */
	if (list->nfields != nkeys + 1)
		return NO_FIELD;
	for (int i = 0; i < list->nfields && found == NO_FIELD; i++)
	{
		found = i;
		for (int k = 0; k < nkeys; k++)
		{
			if (key_fields[k] == i)
				found = NO_FIELD;
		}
	}
	return found;
}

static int
value_field(const FieldList *list, const FieldSpec *column, const int *key_fields)
{
	int			field;

	if (column->declared)
		return declared_field(list, column);
	field = field_by_name(list, column->column);
	if (field == NO_FIELD)
		field = only_value_field(list, key_fields);
	if (field == NO_FIELD)
		report_undecided_field(list, column);
	return field;
}

/*
 * A key that took its field by position only must not take one that a value
 * column claims by name: the file's first field is then hardly the key.
 */
static void
check_value_field(const FieldList *list, const FieldSpec *column, int field, const int *key_fields)
{
	if (column->declared || field >= list->nnames ||
		!field_name_equal(list->names[field], column->column))
		return;
	for (int k = 0; k < list->spec->nkeys; k++)
	{
		const FieldSpec *key = &list->spec->keys[k];

		if (key_fields[k] != field || key->declared || field_name_equal(key->column, column->column))
			continue;
		ereport(ERROR,
				(errcode(ERRCODE_AMBIGUOUS_COLUMN),
				 errmsg("file \"%s\" has no field \"%s\", and field %d is that of column \"%s\"",
						list->file, key->column, field + 1, column->column),
				 errdetail_fields(list),
				 errhint("Name the key's field with the option \"field\" of column \"%s\" or \"key_field\" of column \"%s\".",
						 key->column, column->column)));
	}
}

void
field_resolve(const StreamSpec *spec, const char *file,
			  int nnames, const char *const *names, int nfields,
			  int *key_fields, int *value_fields)
{
	FieldList	list = {spec, file, names ? Min(nnames, nfields) : 0, names, nfields};

	for (int k = 0; k < spec->nkeys; k++)
		key_fields[k] = key_field(&list, k);
	check_key_fields(&list, key_fields);
	for (int i = 0; i < spec->nfields; i++)
	{
		value_fields[i] = value_field(&list, &spec->fields[i], key_fields);
		check_value_field(&list, &spec->fields[i], value_fields[i], key_fields);
	}
}
