/*-------------------------------------------------------------------------
 *
 * formats.c
 *	  The table of formats: the only place that knows which there are.
 *
 * A new format is a folder of its own and one row here.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "lib/stringinfo.h"

#include "arrow/arrow_stream.h"
#include "csv/csv_stream.h"
#include "stream/formats.h"

static const FormatRow formats[] = {
	{&csv_column_format, true, true, {".csv"}},
	{&text_column_format, true, false, {".tsv", ".tab", ".txt"}},
	{&arrow_column_format, false, false, {".arrow", ".feather", ".ipc", ".arrows"}},
};

#define NFORMATS	((int) lengthof(formats))

const FormatRow *
format_rows(int *nrows)
{
	*nrows = NFORMATS;
	return formats;
}

const FormatRow *
format_by_name(const char *name)
{
	for (int i = 0; i < NFORMATS; i++)
	{
		if (strcmp(formats[i].format->name, name) == 0)
			return &formats[i];
	}
	return NULL;
}

/* Does a name of this length end in the extension, after at least one other character? */
static bool
name_ends_in(const char *name, size_t length, const char *extension)
{
	size_t		n = strlen(extension);

	return length > n && pg_strncasecmp(name + length - n, extension, n) == 0;
}

const FormatRow *
format_by_path(const char *path, Compression *compression)
{
	const char *name = path_last_component(path);
	size_t		length;

	*compression = compression_from_path(name, &length);
	for (int i = 0; i < NFORMATS; i++)
	{
		if (*compression != COMPRESSION_NONE && !formats[i].lines)
			continue;
		for (int j = 0; formats[i].extensions[j] != NULL; j++)
		{
			if (name_ends_in(name, length, formats[i].extensions[j]))
				return &formats[i];
		}
	}
	*compression = COMPRESSION_NONE;
	return NULL;
}

const char *
format_extensions(void)
{
	StringInfoData text;

	initStringInfo(&text);
	for (int i = 0; i < NFORMATS; i++)
	{
		for (int j = 0; formats[i].extensions[j] != NULL; j++)
			appendStringInfo(&text, "%s%s", text.len > 0 ? ", " : "", formats[i].extensions[j]);
	}
	return text.data;
}

bool
stream_format_known(const char *name, bool *is_text, bool *is_csv)
{
	const FormatRow *row = format_by_name(name);

	if (is_text != NULL)
		*is_text = row != NULL && row->lines;
	if (is_csv != NULL)
		*is_csv = row != NULL && row->csv;
	return row != NULL;
}

const char *
stream_format_names(void)
{
	StringInfoData text;

	initStringInfo(&text);
	for (int i = 0; i < NFORMATS; i++)
		appendStringInfo(&text, "%s%s", i > 0 ? ", " : "", formats[i].format->name);
	return text.data;
}

const char *
stream_program_format(void)
{
	return csv_column_format.name;
}

const ColumnFormat *
stream_format_from_path(const char *path, bool *is_csv, Compression *compression)
{
	const FormatRow *row = format_by_path(path, compression);

	*is_csv = row != NULL && row->csv;
	return row != NULL ? row->format : NULL;
}
