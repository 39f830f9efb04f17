/*-------------------------------------------------------------------------
 *
 * options.c
 *	  The options of servers, foreign tables and columns: the one list of
 *	  them, where each may stand, who may set it and which values it takes.
 *
 * Everything that can be refused by looking at one object's options is
 * refused when they are set; the same functions give the values their meaning
 * later, so that planning, scanning and ANALYZE cannot disagree with what was
 * accepted.  What takes several levels (a column's options, its table's and
 * its server's) is put together by table_spec.c with the functions at the end
 * of this file.
 *
 * Rights to paths, programs and writing are checked here and nowhere later.
 * The server hands the validator the options as they will be, not those that
 * change: whoever alters an object must have the right to all that stands on
 * it.
 *
 * Refuses to know: files.  Nothing is opened or looked for here.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <limits.h>

#include "access/reloptions.h"
#include "catalog/pg_attribute.h"
#include "catalog/pg_authid.h"
#include "catalog/pg_foreign_server.h"
#include "catalog/pg_foreign_table.h"
#include "commands/defrem.h"
#include "common/string.h"
#include "fmgr.h"
#include "lib/stringinfo.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/acl.h"

#include "compat.h"
#include "csv/csv_options.h"
#include "fdw/options.h"
#include "stream/stream.h"

#define DEFAULT_QUEUE	2
#define MAX_QUEUE		64

/* More letters wrong than this is not a slip of the pen. */
#define MAX_MISSPELLING	4

/* Where an option may stand. */
#define ON_SERVER		0x01
#define ON_TABLE		0x02
#define ON_COLUMN		0x04
#define ON_ALL			(ON_SERVER | ON_TABLE | ON_COLUMN)

/* In which files an option means something. */
typedef enum FormatScope
{
	ANY_FORMAT,
	TEXT_FORMATS,				/* csv and text */
	CSV_ONLY
} FormatScope;

/* When an option is for members of its role only. */
typedef enum RoleRule
{
	FOR_ANYBODY,
	ROLE_ALWAYS,
	ROLE_IF_ABSOLUTE,			/* where the value is an absolute path */
	ROLE_IF_TRUE
} RoleRule;

typedef struct OptionInfo OptionInfo;

struct OptionInfo
{
	const char *name;
	int			places;
	FormatScope scope;
	bool		of_stream;		/* describes a file, so all its columns must agree */
	void		(*check) (const OptionInfo *option, const char *value, int place);
	RoleRule	rule;
	Oid			role;
};

static void check_boolean(const OptionInfo *option, const char *value, int place);
static void check_directory(const OptionInfo *option, const char *value, int place);
static void check_path(const OptionInfo *option, const char *value, int place);
static void check_not_empty(const OptionInfo *option, const char *value, int place);
static void check_format(const OptionInfo *option, const char *value, int place);
static void check_header(const OptionInfo *option, const char *value, int place);
static void check_in_dialect(const OptionInfo *option, const char *value, int place);
static void check_encoding(const OptionInfo *option, const char *value, int place);
static void check_skip(const OptionInfo *option, const char *value, int place);
static void check_compression(const OptionInfo *option, const char *value, int place);
static void check_multiline(const OptionInfo *option, const char *value, int place);
static void check_duplicates(const OptionInfo *option, const char *value, int place);
static void check_queue(const OptionInfo *option, const char *value, int place);
static void check_writable(const OptionInfo *option, const char *value, int place);

/* All options there are, in the order in which hints list them. */
static const OptionInfo option_infos[OPTION_COUNT] = {
	[OPTION_KEY] = {"key", ON_COLUMN, ANY_FORMAT, false,
	check_boolean, FOR_ANYBODY, InvalidOid},
	[OPTION_DESCENDING] = {"descending", ON_COLUMN, ANY_FORMAT, false,
	check_boolean, FOR_ANYBODY, InvalidOid},
	[OPTION_DIRECTORY] = {"directory", ON_SERVER | ON_TABLE, ANY_FORMAT, false,
	check_directory, ROLE_IF_ABSOLUTE, ROLE_PG_READ_SERVER_FILES},
	[OPTION_FILENAME] = {"filename", ON_COLUMN, ANY_FORMAT, false,
	check_path, ROLE_IF_ABSOLUTE, ROLE_PG_READ_SERVER_FILES},
	[OPTION_PROGRAM] = {"program", ON_COLUMN, ANY_FORMAT, false,
	check_not_empty, ROLE_ALWAYS, ROLE_PG_EXECUTE_SERVER_PROGRAM},
	[OPTION_FIELD] = {"field", ON_COLUMN, ANY_FORMAT, false,
	check_not_empty, FOR_ANYBODY, InvalidOid},
	[OPTION_KEY_FIELD] = {"key_field", ON_COLUMN, ANY_FORMAT, true,
	check_not_empty, FOR_ANYBODY, InvalidOid},
	[OPTION_FORMAT] = {"format", ON_ALL, ANY_FORMAT, true,
	check_format, FOR_ANYBODY, InvalidOid},
	[OPTION_HEADER] = {"header", ON_ALL, TEXT_FORMATS, true,
	check_header, FOR_ANYBODY, InvalidOid},
	[OPTION_DELIMITER] = {"delimiter", ON_ALL, TEXT_FORMATS, true,
	check_in_dialect, FOR_ANYBODY, InvalidOid},
	[OPTION_QUOTE] = {"quote", ON_ALL, CSV_ONLY, true,
	check_in_dialect, FOR_ANYBODY, InvalidOid},
	[OPTION_ESCAPE] = {"escape", ON_ALL, CSV_ONLY, true,
	check_in_dialect, FOR_ANYBODY, InvalidOid},
	[OPTION_NULL] = {"null", ON_ALL, TEXT_FORMATS, true,
	check_in_dialect, FOR_ANYBODY, InvalidOid},
	[OPTION_ENCODING] = {"encoding", ON_ALL, TEXT_FORMATS, true,
	check_encoding, FOR_ANYBODY, InvalidOid},
	[OPTION_FORCE_NULL] = {"force_null", ON_ALL, CSV_ONLY, false,
	check_boolean, FOR_ANYBODY, InvalidOid},
	[OPTION_FORCE_NOT_NULL] = {"force_not_null", ON_ALL, CSV_ONLY, false,
	check_boolean, FOR_ANYBODY, InvalidOid},
	[OPTION_SKIP] = {"skip", ON_ALL, TEXT_FORMATS, true,
	check_skip, FOR_ANYBODY, InvalidOid},
	[OPTION_COMPRESSION] = {"compression", ON_ALL, TEXT_FORMATS, true,
	check_compression, FOR_ANYBODY, InvalidOid},
	[OPTION_MULTILINE] = {"multiline", ON_ALL, TEXT_FORMATS, true,
	check_multiline, FOR_ANYBODY, InvalidOid},
	[OPTION_SORTED] = {"sorted", ON_ALL, ANY_FORMAT, true,
	check_boolean, FOR_ANYBODY, InvalidOid},
	[OPTION_DUPLICATES] = {"duplicates", ON_ALL, ANY_FORMAT, true,
	check_duplicates, FOR_ANYBODY, InvalidOid},
	[OPTION_QUEUE] = {"queue", ON_ALL, ANY_FORMAT, true,
	check_queue, FOR_ANYBODY, InvalidOid},
	[OPTION_WRITABLE] = {"writable", ON_SERVER | ON_TABLE, ANY_FORMAT, false,
	check_writable, ROLE_IF_TRUE, ROLE_PG_WRITE_SERVER_FILES},
};

/* In the order of HeaderMode, Multiline and DuplicatePolicy. */
static const char *const header_choices[] = {"false", "true", "match"};
static const char *const multiline_choices[] = {"auto", "false", "true"};
static const char *const duplicates_choices[] = {"error", "first", "last", "all"};

PGDLLEXPORT Datum outerjoin_fdw_validator(PG_FUNCTION_ARGS);

PG_FUNCTION_INFO_V1(outerjoin_fdw_validator);

static const OptionInfo *option_find(const char *name);
static void report_unknown_option(const char *name, const OptionInfo *option, int place);
static void check_rights(const OptionInfo *option, const char *value);
static bool parse_boolean(const OptionInfo *option, const char *value);
static void check_column_options(const OptionSet *set);
static void check_dialect(const OptionSet *set);
static void text_options_resolve(const OptionSet *set, TextOptions *text);

/* ------------------------------------------------------------- validator */

/* The place that a catalog stands for; 0 where no option may stand. */
static int
catalog_place(Oid catalog)
{
	switch (catalog)
	{
		case ForeignServerRelationId:
			return ON_SERVER;
		case ForeignTableRelationId:
			return ON_TABLE;
		case AttributeRelationId:
			return ON_COLUMN;
		default:
			return 0;
	}
}

/*
 * Called by the server for every statement that sets options, with all the
 * options that the object will have.
 */
Datum
outerjoin_fdw_validator(PG_FUNCTION_ARGS)
{
	List	   *definitions = untransformRelOptions(PG_GETARG_DATUM(0));
	int			place = catalog_place(PG_GETARG_OID(1));
	OptionSet	set;
	ListCell   *cell;

	foreach(cell, definitions)
	{
		DefElem    *definition = (DefElem *) lfirst(cell);
		const OptionInfo *option = option_find(definition->defname);
		const char *value;

		if (option == NULL || (option->places & place) == 0)
			report_unknown_option(definition->defname, option, place);
		value = defGetString(definition);
		check_rights(option, value);
		option->check(option, value, place);
	}

	option_set_collect(definitions, &set);
	if (place == ON_COLUMN)
		check_column_options(&set);
	option_set_check_format(&set, set.value[OPTION_FORMAT]);
	check_dialect(&set);

	PG_RETURN_VOID();
}

static const OptionInfo *
option_find(const char *name)
{
	for (int i = 0; i < OPTION_COUNT; i++)
	{
		if (strcmp(option_infos[i].name, name) == 0)
			return &option_infos[i];
	}
	return NULL;
}

/* "a server, a foreign table or a column" */
static char *
places_text(int places)
{
	static const char *const names[] = {"a server", "a foreign table", "a column"};
	StringInfoData text;

	initStringInfo(&text);
	for (int i = 0; i < (int) lengthof(names); i++)
	{
		int			later = places >> (i + 1);

		if ((places & (1 << i)) == 0)
			continue;
		if (text.len > 0)
			appendStringInfoString(&text, later ? ", " : " or ");
		appendStringInfoString(&text, names[i]);
	}
	return text.data;
}

/* Names of the options that may stand here; *closest is the one that "name" is close to, or NULL. */
static char *
valid_options_text(const char *name, int place, const char **closest)
{
	ClosestMatchState match;
	StringInfoData text;

	initStringInfo(&text);
	initClosestMatch(&match, name, MAX_MISSPELLING);
	for (int i = 0; i < OPTION_COUNT; i++)
	{
		const OptionInfo *option = &option_infos[i];

		if ((option->places & place) == 0)
			continue;
		updateClosestMatch(&match, option->name);
		appendStringInfo(&text, "%s%s", text.len > 0 ? ", " : "", option->name);
	}
	*closest = getClosestMatch(&match);
	return text.data;
}

/* option: what the name means elsewhere, or NULL */
static void
report_unknown_option(const char *name, const OptionInfo *option, int place)
{
	const char *closest;
	char	   *valid = valid_options_text(name, place, &closest);

	ereport(ERROR,
			(errcode(ERRCODE_FDW_INVALID_OPTION_NAME),
			 errmsg("invalid option \"%s\"", name),
			 option != NULL ?
			 errhint("The option \"%s\" can be set on %s.", name, places_text(option->places)) :
			 closest != NULL ?
			 errhint("Perhaps you meant the option \"%s\".", closest) :
			 valid[0] != '\0' ?
			 errhint("Valid options in this context are: %s.", valid) :
			 errhint("There are no valid options in this context.")));
}

/* ------------------------------------------------------------- rights */

static bool
needs_role(const OptionInfo *option, const char *value)
{
	switch (option->rule)
	{
		case FOR_ANYBODY:
			return false;
		case ROLE_ALWAYS:
			return true;
		case ROLE_IF_ABSOLUTE:
			return is_absolute_path(value);
		case ROLE_IF_TRUE:
			return parse_boolean(option, value);
	}
	return true;
}

static void
check_rights(const OptionInfo *option, const char *value)
{
	const char *role;

	if (!needs_role(option, value) || has_privs_of_role(GetUserId(), option->role))
		return;

	role = GetUserNameFromId(option->role, false);
	ereport(ERROR,
			(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
			 errmsg("permission denied to set option \"%s\"", option->name),
			 option->rule == ROLE_IF_ABSOLUTE ?
			 errdetail("Only roles with privileges of the \"%s\" role may set this option to an absolute path.", role) :
			 option->rule == ROLE_IF_TRUE ?
			 errdetail("Only roles with privileges of the \"%s\" role may set this option to true.", role) :
			 errdetail("Only roles with privileges of the \"%s\" role may set this option.", role)));
}

/* ------------------------------------------------------------- one value */

static bool
parse_boolean(const OptionInfo *option, const char *value)
{
	String		argument = {.type = T_String, .sval = unconstify(char *, value)};
	DefElem		definition = {
		.type = T_DefElem,
		.defname = unconstify(char *, option->name),
		.arg = (Node *) &argument
	};

	return defGetBoolean(&definition);
}

/* "one, two, three" */
static char *
choices_text(const char *const *choices, int nchoices)
{
	StringInfoData text;

	initStringInfo(&text);
	for (int i = 0; i < nchoices; i++)
		appendStringInfo(&text, "%s%s", i > 0 ? ", " : "", choices[i]);
	return text.data;
}

/* Which of the choices the value is; "on" and "off" stand for true and false. */
static int
parse_choice(const OptionInfo *option, const char *value,
			 const char *const *choices, int nchoices)
{
	const char *spelling = value;

	if (pg_strcasecmp(value, "on") == 0)
		spelling = "true";
	else if (pg_strcasecmp(value, "off") == 0)
		spelling = "false";
	for (int i = 0; i < nchoices; i++)
	{
		if (pg_strcasecmp(spelling, choices[i]) == 0)
			return i;
	}
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("invalid value for option \"%s\": \"%s\"", option->name, value),
			 errhint("Valid values are: %s.", choices_text(choices, nchoices))));
	return -1;
}

static int
parse_integer(const OptionInfo *option, const char *value, int maximum)
{
	char	   *end;
	int			result;

	errno = 0;
	result = strtoint(value, &end, 10);
	if (end == value || *end != '\0')
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid value for integer option \"%s\": \"%s\"", option->name, value)));
	if (errno != 0 || result < 0 || result > maximum)
		ereport(ERROR,
				(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				 errmsg("value \"%s\" is out of range for option \"%s\"", value, option->name),
				 errdetail("Valid values are 0 to %d.", maximum)));
	return result;
}

static int
parse_encoding(const OptionInfo *option, const char *value)
{
	int			encoding = pg_char_to_encoding(value);

	if (encoding < 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("argument to option \"%s\" must be a valid encoding name", option->name)));
	return encoding;
}

static Compression
parse_compression(const OptionInfo *option, const char *value)
{
	Compression compression;

	if (!compression_from_text(value, &compression))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid value for option \"%s\": \"%s\"", option->name, value),
				 errhint("Valid values are: %s.", compression_names())));
	return compression;
}

static void
check_boolean(const OptionInfo *option, const char *value, int place)
{
	(void) place;
	(void) parse_boolean(option, value);
}

static void
check_path(const OptionInfo *option, const char *value, int place)
{
	(void) place;
	path_check_name(option->name, value);
}

static void
check_directory(const OptionInfo *option, const char *value, int place)
{
	path_check_name(option->name, value);
	if (place == ON_SERVER && !is_absolute_path(value))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("option \"%s\" of a server must be an absolute path", option->name)));
}

static void
check_not_empty(const OptionInfo *option, const char *value, int place)
{
	(void) place;
	if (value[0] == '\0')
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("option \"%s\" must not be empty", option->name)));
}

static void
check_format(const OptionInfo *option, const char *value, int place)
{
	bool		is_text;
	bool		is_csv;

	(void) place;
	if (!stream_format_known(value, &is_text, &is_csv))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid value for option \"%s\": \"%s\"", option->name, value),
				 errhint("Valid values are: %s.", stream_format_names())));
}

static void
check_header(const OptionInfo *option, const char *value, int place)
{
	(void) place;
	(void) parse_choice(option, value, header_choices, lengthof(header_choices));
}

/* delimiter, quote, escape and null limit each other: check_dialect sees to them. */
static void
check_in_dialect(const OptionInfo *option, const char *value, int place)
{
	(void) option;
	(void) value;
	(void) place;
}

static void
check_encoding(const OptionInfo *option, const char *value, int place)
{
	(void) place;
	(void) parse_encoding(option, value);
}

static void
check_skip(const OptionInfo *option, const char *value, int place)
{
	(void) place;
	(void) parse_integer(option, value, INT_MAX);
}

static void
check_compression(const OptionInfo *option, const char *value, int place)
{
	(void) place;
	(void) parse_compression(option, value);
}

static void
check_multiline(const OptionInfo *option, const char *value, int place)
{
	(void) place;
	(void) parse_choice(option, value, multiline_choices, lengthof(multiline_choices));
}

static void
check_duplicates(const OptionInfo *option, const char *value, int place)
{
	(void) place;
	(void) parse_choice(option, value, duplicates_choices, lengthof(duplicates_choices));
}

static void
check_queue(const OptionInfo *option, const char *value, int place)
{
	(void) place;
	(void) parse_integer(option, value, MAX_QUEUE);
}

static void
check_writable(const OptionInfo *option, const char *value, int place)
{
	(void) place;
	if (parse_boolean(option, value))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("writing is not supported by this version of outerjoin_fdw"),
				 errhint("Leave the option \"%s\" out, or set it to false.", option->name)));
}

/* ------------------------------------------------------------- one object's options */

static void
report_conflict(OptionName one, OptionName other)
{
	ereport(ERROR,
			(errcode(ERRCODE_FDW_INVALID_OPTION_NAME),
			 errmsg("options \"%s\" and \"%s\" exclude each other",
					option_name(one), option_name(other))));
}

static void
report_program_format(const char *format)
{
	ereport(ERROR,
			(errcode(ERRCODE_FDW_INVALID_OPTION_NAME),
			 errmsg("the output of a program cannot have format \"%s\"", format),
			 errhint("Set the option \"%s\" to csv or text.", option_name(OPTION_FORMAT))));
}

/*
 * A key column has no file of its own unless it names one, so what describes
 * files has nothing to describe on it.
 */
static void
check_key_column_options(const OptionSet *set)
{
	if (set->value[OPTION_PROGRAM] != NULL)
		report_conflict(OPTION_KEY, OPTION_PROGRAM);
	if (set->value[OPTION_KEY_FIELD] != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_FDW_INVALID_OPTION_NAME),
				 errmsg("option \"%s\" is not for key columns", option_name(OPTION_KEY_FIELD)),
				 errhint("Set the option \"%s\" of the key column.", option_name(OPTION_FIELD))));
	if (set->value[OPTION_FILENAME] != NULL)
		return;
	for (OptionName option = 0; option < OPTION_COUNT; option++)
	{
		if (set->value[option] != NULL && option_describes_stream(option))
			ereport(ERROR,
					(errcode(ERRCODE_FDW_INVALID_OPTION_NAME),
					 errmsg("option \"%s\" describes a file, but the key column names none",
							option_name(option)),
					 errhint("Set it on the table, on value columns, or together with \"%s\".",
							 option_name(OPTION_FILENAME))));
	}
}

static void
check_column_options(const OptionSet *set)
{
	if (set->value[OPTION_FILENAME] != NULL && set->value[OPTION_PROGRAM] != NULL)
		report_conflict(OPTION_FILENAME, OPTION_PROGRAM);
	if (option_boolean(set, OPTION_KEY, false))
		check_key_column_options(set);
	else if (set->value[OPTION_DESCENDING] != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_FDW_INVALID_OPTION_NAME),
				 errmsg("option \"%s\" is for key columns only", option_name(OPTION_DESCENDING)),
				 errhint("Set the option \"%s\" as well.", option_name(OPTION_KEY))));
	if (set->value[OPTION_PROGRAM] != NULL &&
		!option_suits_format(OPTION_DELIMITER, set->value[OPTION_FORMAT]))
		report_program_format(set->value[OPTION_FORMAT]);
}

/*
 * A character that the declared options leave free.  What an object does not
 * say, another level may; filled in like this it clashes with nothing.
 */
static const char *
free_character(const TextOptions *text)
{
	const char *taken[] = {text->delimiter, text->quote, text->escape, text->null};
	char	   *result = palloc0(2);

	for (char c = '\001'; c < '\040'; c++)
	{
		bool		is_free = c != '\n' && c != '\r';

		for (int i = 0; i < (int) lengthof(taken); i++)
			is_free = is_free && (taken[i] == NULL || strchr(taken[i], c) == NULL);
		result[0] = c;
		if (is_free)
			break;
	}
	return result;
}

/*
 * COPY's rules for delimiter, quote, escape and null, as far as this one
 * object's options decide.  Where the format is open, those of CSV hold: they
 * allow everything that those of the text format allow.
 */
static void
check_dialect(const OptionSet *set)
{
	const char *format = set->value[OPTION_FORMAT];
	bool		csv = option_suits_format(OPTION_QUOTE, format);
	TextOptions text;
	CsvDialect	dialect;

	if (!option_suits_format(OPTION_DELIMITER, format))
		return;
	text_options_resolve(set, &text);
	if (text.null == NULL)
		text.null = "";
	if (text.delimiter == NULL)
		text.delimiter = free_character(&text);
	if (csv && text.quote == NULL)
		text.quote = free_character(&text);
	csv_dialect_resolve(&text, csv, &dialect);
}

/* ------------------------------------------------------------- all levels together */

void
option_set_collect(List *definitions, OptionSet *set)
{
	ListCell   *cell;

	memset(set, 0, sizeof(*set));
	foreach(cell, definitions)
	{
		DefElem    *definition = (DefElem *) lfirst(cell);
		const OptionInfo *option = option_find(definition->defname);

		/* None but those of a wrapper that had another validator once. */
		if (option != NULL)
			set->value[option - option_infos] = defGetString(definition);
	}
}

bool
option_suits_format(OptionName option, const char *format)
{
	bool		is_text;
	bool		is_csv;

	if (option_infos[option].scope == ANY_FORMAT || format == NULL)
		return true;
	if (!stream_format_known(format, &is_text, &is_csv))
		return false;
	return option_infos[option].scope == CSV_ONLY ? is_csv : is_text;
}

void
option_set_inherit(OptionSet *set, const OptionSet *outer, const char *format)
{
	for (OptionName option = 0; option < OPTION_COUNT; option++)
	{
		if (set->value[option] == NULL && outer->value[option] != NULL &&
			option_suits_format(option, format))
			set->value[option] = outer->value[option];
	}
}

void
option_set_check_format(const OptionSet *set, const char *format)
{
	for (OptionName option = 0; option < OPTION_COUNT; option++)
	{
		if (set->value[option] != NULL && !option_suits_format(option, format))
			ereport(ERROR,
					(errcode(ERRCODE_FDW_INVALID_OPTION_NAME),
					 errmsg("option \"%s\" cannot be used with format \"%s\"",
							option_name(option), format)));
	}
}

bool
option_describes_stream(OptionName option)
{
	return option_infos[option].of_stream;
}

bool
option_values_agree(OptionName option, const char *a, const char *b)
{
	const OptionInfo *info = &option_infos[option];

	if (info->check == check_boolean)
		return parse_boolean(info, a) == parse_boolean(info, b);
	return strcmp(a, b) == 0;
}

const char *
option_name(OptionName option)
{
	return option_infos[option].name;
}

bool
option_boolean(const OptionSet *set, OptionName option, bool otherwise)
{
	if (set->value[option] == NULL)
		return otherwise;
	return parse_boolean(&option_infos[option], set->value[option]);
}

static int
option_choice(const OptionSet *set, OptionName option,
			  const char *const *choices, int nchoices, int otherwise)
{
	if (set->value[option] == NULL)
		return otherwise;
	return parse_choice(&option_infos[option], set->value[option], choices, nchoices);
}

static int
option_integer(const OptionSet *set, OptionName option, int maximum, int otherwise)
{
	if (set->value[option] == NULL)
		return otherwise;
	return parse_integer(&option_infos[option], set->value[option], maximum);
}

static void
text_options_resolve(const OptionSet *set, TextOptions *text)
{
	const char *encoding = set->value[OPTION_ENCODING];

	text->delimiter = set->value[OPTION_DELIMITER];
	text->quote = set->value[OPTION_QUOTE];
	text->escape = set->value[OPTION_ESCAPE];
	text->null = set->value[OPTION_NULL];
	text->encoding = encoding == NULL ? -1 :
		parse_encoding(&option_infos[OPTION_ENCODING], encoding);
	text->header = (HeaderMode) option_choice(set, OPTION_HEADER, header_choices,
											  lengthof(header_choices), HEADER_NONE);
	text->skip = option_integer(set, OPTION_SKIP, INT_MAX, 0);
	text->multiline = (Multiline) option_choice(set, OPTION_MULTILINE, multiline_choices,
												lengthof(multiline_choices), MULTILINE_AUTO);
}

/*
 * A program's output has no extension that could say what it is: it is plain
 * CSV where nothing else is declared.
 */
static void
program_options_resolve(StreamSpec *stream)
{
	if (stream->format == NULL)
		stream->format = stream_program_format();
	if (!option_suits_format(OPTION_DELIMITER, stream->format))
		report_program_format(stream->format);
	if (stream->compression == COMPRESSION_BY_NAME)
		stream->compression = COMPRESSION_NONE;
}

void
stream_options_resolve(const OptionSet *set, StreamSpec *stream)
{
	const char *compression = set->value[OPTION_COMPRESSION];

	stream->filename = set->value[OPTION_FILENAME];
	stream->program = set->value[OPTION_PROGRAM];
	stream->format = set->value[OPTION_FORMAT];
	stream->compression = compression == NULL ? COMPRESSION_BY_NAME :
		parse_compression(&option_infos[OPTION_COMPRESSION], compression);
	text_options_resolve(set, &stream->text);
	stream->sorted = option_boolean(set, OPTION_SORTED, true);
	stream->duplicates = (DuplicatePolicy) option_choice(set, OPTION_DUPLICATES, duplicates_choices,
														 lengthof(duplicates_choices), DUPLICATES_ERROR);
	stream->queue = option_integer(set, OPTION_QUEUE, MAX_QUEUE, DEFAULT_QUEUE);
	if (stream->program != NULL)
		program_options_resolve(stream);

	/* What one object's options left open is known now, if the format is. */
	if (stream->format != NULL && option_suits_format(OPTION_DELIMITER, stream->format))
	{
		CsvDialect	dialect;

		csv_dialect_resolve(&stream->text,
							option_suits_format(OPTION_QUOTE, stream->format), &dialect);
	}
}
