/*-------------------------------------------------------------------------
 *
 * stream_files.c
 *	  Which files a stream stands on, and what each of them is.
 *
 * A stream names a program, a file, several files (a glob, or a folder with
 * "/" at its end), or nothing: then the file is <column><extension>.  Only a
 * name that stands for several files passes over what it does not know.
 *
 * Refuses to know: what is in a file.  Nothing is opened here.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "lib/stringinfo.h"
#include "mb/pg_wchar.h"

#include "io/folder_names.h"
#include "stream/formats.h"
#include "stream/stream.h"

/* The row of the declared format; NULL where none is declared. */
static const FormatRow *
declared_format(const StreamSpec *spec)
{
	const FormatRow *row;

	if (spec->format == NULL)
		return NULL;
	row = format_by_name(spec->format);
	if (row == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("unknown format \"%s\"", spec->format),
				 errhint("Formats are: %s.", stream_format_names())));
	return row;
}

/* NULL where the name has no known extension and no format is declared. */
static SegmentFile *
make_file(const StreamSpec *spec, const char *name)
{
	const FormatRow *declared = declared_format(spec);
	Compression compression;
	const FormatRow *named = format_by_path(name, &compression);
	const FormatRow *row = declared != NULL ? declared : named;
	SegmentFile *file;
	size_t		stem;

	if (row == NULL)
		return NULL;

	file = palloc0(sizeof(SegmentFile));
	file->name = name;
	file->format = row->format;
	file->csv = row->csv;
	if (!row->lines)
		file->compression = COMPRESSION_NONE;
	else if (spec->compression != COMPRESSION_BY_NAME)
		file->compression = spec->compression;
	else
		file->compression = compression_from_path(name, &stem);
	return file;
}

static List *
program_file(const StreamSpec *spec)
{
	const FormatRow *row = declared_format(spec);
	SegmentFile *file = palloc0(sizeof(SegmentFile));

	if (row == NULL)
		row = format_by_name(stream_program_format());
	if (!row->lines)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("format \"%s\" cannot be read from a program", spec->format)));
	file->format = row->format;
	file->csv = row->csv;
	file->compression = spec->compression == COMPRESSION_BY_NAME ?
		COMPRESSION_NONE : spec->compression;
	return list_make1(file);
}

static List *
named_file(const StreamSpec *spec)
{
	SegmentFile *file = make_file(spec, spec->filename);

	if (file == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("format of file \"%s\" is not known", spec->filename),
				 errdetail("Known extensions are %s.", format_extensions()),
				 errhint("Set the option \"format\" to one of: %s.", stream_format_names())));
	return list_make1(file);
}

/*
 * A listed name goes into messages and from there into texts: one that is no
 * text in the database's encoding cannot be shown as it is.
 */
static void
check_name_encoding(const StreamSpec *spec, const char *name)
{
	StringInfoData shown;

	if (pg_verifymbstr(name, (int) strlen(name), true))
		return;
	initStringInfo(&shown);
	for (const char *byte = name; *byte != '\0'; byte++)
	{
		if (IS_HIGHBIT_SET(*byte))
			appendStringInfo(&shown, "\\x%02x", (unsigned char) *byte);
		else
			appendStringInfoChar(&shown, *byte);
	}
	ereport(ERROR,
			(errcode(ERRCODE_CHARACTER_NOT_IN_REPERTOIRE),
			 errmsg("name of a file that \"%s\" stands for is not valid in encoding \"%s\"",
					spec->filename, GetDatabaseEncodingName()),
			 errdetail("The name is \"%s\".", shown.data),
			 errhint("Rename the file.")));
}

/* Those whose format is known. */
static List *
make_files(const StreamSpec *spec, List *names)
{
	List	   *files = NIL;
	ListCell   *cell;

	foreach(cell, names)
	{
		SegmentFile *file = make_file(spec, lfirst(cell));

		if (file == NULL)
			continue;
		check_name_encoding(spec, file->name);
		files = lappend(files, file);
	}
	return files;
}

/* A glob, or a folder. */
static List *
matching_files(const StreamSpec *spec)
{
	List	   *names = path_list(&spec->folder, spec->filename);
	List	   *files = make_files(spec, names);

	if (files == NIL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_FILE),
				 errmsg("no file matches \"%s\"", spec->filename),
				 names == NIL ? 0 :
				 errdetail_plural("%d file was passed over, since its extension is not known.",
								  "%d files were passed over, since their extensions are not known.",
								  list_length(names), list_length(names)),
				 names == NIL ? 0 :
				 errhint("Set the option \"format\" to one of: %s.", stream_format_names())));
	return files;
}

/* "present" is what the folder holds, or NULL. */
static List *
add_candidate(List *found, const StreamSpec *spec, const FolderNames *present,
			  const char *extension, const char *suffix)
{
	char		name[MAXPGPATH];
	int			length = snprintf(name, sizeof(name), "%s%s%s", spec->column, extension, suffix);

	if (length >= (int) sizeof(name) ||
		(present != NULL && !folder_names_has(present, name)) ||
		!path_exists(&spec->folder, name))
		return found;
	return lappend(found, pstrdup(name));
}

/* Names of existing files <column><extension> of one format. */
static List *
add_candidates(List *found, const StreamSpec *spec, const FolderNames *present, const FormatRow *row)
{
	for (int i = 0; row->extensions[i] != NULL; i++)
	{
		found = add_candidate(found, spec, present, row->extensions[i], "");
		for (int j = 0; row->lines && compression_extensions[j].extension != NULL; j++)
			found = add_candidate(found, spec, present, row->extensions[i],
								  compression_extensions[j].extension);
	}
	return found;
}

/*
 * A declared format finds its own extensions first, so that it settles which
 * of two files is meant; it may be what a foreign extension hides, too.
 */
static List *
column_candidates(const StreamSpec *spec)
{
	const FormatRow *declared = declared_format(spec);
	const FolderNames *present;
	List	   *found = NIL;
	int			nrows;
	const FormatRow *rows = format_rows(&nrows);

	if (spec->column[0] == '\0' || strchr(spec->column, '/') != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("column name \"%s\" cannot name a file", spec->column),
				 errhint("Set the option \"filename\" on the column.")));

	present = folder_names(&spec->folder);
	if (declared != NULL)
		found = add_candidates(found, spec, present, declared);
	for (int i = 0; i < nrows && (declared == NULL || found == NIL); i++)
		found = add_candidates(found, spec, present, &rows[i]);
	return found;
}

static List *
column_file(const StreamSpec *spec, bool missing_ok)
{
	List	   *found = column_candidates(spec);

	if (found == NIL && missing_ok)
		return NIL;
	if (found == NIL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_FILE),
				 errmsg("no file found for column \"%s\"", spec->column),
				 errdetail("Looked for \"%s\" with one of the extensions %s, also followed by one of %s where it is text.",
						   spec->column, format_extensions(), compression_extension_names()),
				 errhint("Set the option \"filename\" on the column.")));
	if (list_length(found) > 1)
		ereport(ERROR,
				(errcode(ERRCODE_DUPLICATE_FILE),
				 errmsg("more than one file found for column \"%s\"", spec->column),
				 errdetail("Both \"%s\" and \"%s\" exist.",
						   (char *) linitial(found), (char *) lsecond(found)),
				 errhint("Set the option \"filename\" on the column.")));
	return list_make1(make_file(spec, linitial(found)));
}

List *
stream_files(const StreamSpec *spec)
{
	if (spec->program != NULL)
		return program_file(spec);
	if (spec->filename == NULL)
		return column_file(spec, false);
	if (path_names_many(spec->filename))
		return matching_files(spec);
	return named_file(spec);
}

List *
stream_files_present(const StreamSpec *spec)
{
	if (spec->program == NULL && spec->filename == NULL)
		return column_file(spec, true);
	if (spec->program == NULL && spec->filename != NULL)
	{
		if (path_names_many(spec->filename))
			return make_files(spec, path_list(&spec->folder, spec->filename));
		if (path_is_missing(&spec->folder, spec->filename))
			return NIL;
	}
	return stream_files(spec);
}
