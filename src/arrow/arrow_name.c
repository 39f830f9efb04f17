/*-------------------------------------------------------------------------
 *
 * arrow_name.c
 *	  Names of fields in the database's encoding; see arrow_name.h.
 *
 * A schema's names are UTF-8, verified when it was parsed.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/namespace.h"
#include "lib/stringinfo.h"
#include "mb/pg_wchar.h"

#include "arrow/arrow_name.h"

static bool
is_ascii(const char *name)
{
	for (; *name; name++)
	{
		if ((*name & 0x80) != 0)
			return false;
	}
	return true;
}

/* One character, or its number. */
static void
append_character(StringInfo text, Oid conversion, const char *character, int length)
{
	char		converted[MAX_CONVERSION_GROWTH * MAX_MULTIBYTE_CHAR_LEN + 1];
	int			taken = 0;

	if (OidIsValid(conversion))
		taken = pg_do_encoding_conversion_buf(conversion, PG_UTF8, GetDatabaseEncoding(),
											  (unsigned char *) unconstify(char *, character), length,
											  (unsigned char *) converted, sizeof(converted), true);
	if (taken == length)
		appendStringInfoString(text, converted);
	else
		appendStringInfo(text, "\\u%04X", utf8_to_unicode((const unsigned char *) character));
}

const char *
arrow_name_shown(const char *name)
{
	int			encoding = GetDatabaseEncoding();
	StringInfoData text;
	Oid			conversion;

	if (encoding == PG_UTF8 || encoding == PG_SQL_ASCII || is_ascii(name))
		return name;
	conversion = FindDefaultConversionProc(PG_UTF8, encoding);
	initStringInfo(&text);
	while (*name)
	{
		int			length = pg_utf_mblen((const unsigned char *) name);

		append_character(&text, conversion, name, length);
		name += length;
	}
	return text.data;
}

const char **
arrow_schema_names(const ArrowSchema *schema)
{
	const char **names = palloc(sizeof(char *) * Max(schema->nfields, 1));

	for (int i = 0; i < schema->nfields; i++)
		names[i] = arrow_name_shown(schema->fields[i].name);
	return names;
}
