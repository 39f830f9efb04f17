/*-------------------------------------------------------------------------
 *
 * csv_options.c
 *	  COPY's options for CSV and text files: defaults and refusals.
 *
 * Everything is checked that COPY checks, plus the few combinations that COPY
 * accepts although no file can be read with them (a line end as the quote or
 * escape character).
 *
 * Refuses to know: files, columns, where an option was declared.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "mb/pg_wchar.h"

#include "csv/csv_options.h"

/* Characters that mean something after a backslash in the text format. */
#define TEXT_DELIMITERS_REFUSED "\\.abcdefghijklmnopqrstuvwxyz0123456789"

static void
check_one_byte(const char *what, const char *value)
{
	if (strlen(value) != 1)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("%s must be a single one-byte character", what)));
}

static void
check_no_line_end(const char *what, char value)
{
	if (csv_is_line_end(value))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%s cannot be newline or carriage return", what)));
}

static void
check_csv_only(const char *what, const char *value)
{
	if (value != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("%s available only with format csv", what)));
}

static void
resolve_delimiter(const TextOptions *declared, CsvDialect *dialect)
{
	const char *delimiter = declared->delimiter;

	if (delimiter == NULL)
		delimiter = dialect->grammar.csv ? "," : "\t";
	check_one_byte("delimiter", delimiter);
	check_no_line_end("delimiter", delimiter[0]);
	if (!dialect->grammar.csv && strchr(TEXT_DELIMITERS_REFUSED, delimiter[0]) != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("delimiter cannot be \"%s\"", delimiter)));
	dialect->grammar.delimiter = delimiter[0];
}

static void
resolve_quoting(const TextOptions *declared, CsvDialect *dialect)
{
	const char *quote = declared->quote;
	const char *escape = declared->escape;

	if (!dialect->grammar.csv)
	{
		check_csv_only("quote", quote);
		check_csv_only("escape", escape);
		return;
	}
	if (quote == NULL)
		quote = "\"";
	check_one_byte("quote", quote);
	check_no_line_end("quote", quote[0]);
	if (quote[0] == dialect->grammar.delimiter)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("delimiter and quote must be different")));
	if (escape == NULL)
		escape = quote;
	check_one_byte("escape", escape);
	check_no_line_end("escape", escape[0]);
	dialect->grammar.quote = quote[0];
	dialect->grammar.escape = escape[0];
}

static void
resolve_null(const TextOptions *declared, CsvDialect *dialect)
{
	const char *null = declared->null;

	if (null == NULL)
		null = dialect->grammar.csv ? "" : "\\N";
	if (strpbrk(null, "\r\n") != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("null representation cannot use newline or carriage return")));
	if (strchr(null, dialect->grammar.delimiter) != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("delimiter must not appear in the null specification")));
	if (dialect->grammar.csv && strchr(null, dialect->grammar.quote) != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("quote character must not appear in the null specification")));
	dialect->grammar.null = null;
	dialect->grammar.null_length = strlen(null);
}

void
csv_dialect_resolve(const TextOptions *declared, bool csv, CsvDialect *dialect)
{
	memset(dialect, 0, sizeof(*dialect));
	dialect->grammar.csv = csv;
	resolve_delimiter(declared, dialect);
	resolve_quoting(declared, dialect);
	resolve_null(declared, dialect);
	dialect->encoding = declared->encoding >= 0 ? declared->encoding : pg_get_client_encoding();
	dialect->header = declared->header;
	dialect->skip = declared->skip;
	dialect->multiline = declared->multiline;
	Assert(dialect->skip >= 0);
}
