/*-------------------------------------------------------------------------
 *
 * csv_errors.c
 *	  What is wrong with a file, said with its file and line.
 *
 * SQLSTATEs and words are COPY's where COPY has them.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "compat.h"

#include "mb/pg_wchar.h"

#include "csv/csv_errors.h"

/* A first row that is no data is most often a header that nobody has declared. */
static void
hint_at_header(const CsvReader *reader)
{
	int			code = geterrcode();

	if (reader->dialect->header == HEADER_NONE &&
		(code == ERRCODE_INVALID_TEXT_REPRESENTATION || code == ERRCODE_INVALID_DATETIME_FORMAT))
		errhint("If the first line holds the names of the fields, set the option \"header\" to \"true\".");
}

/* Counting lines may read the file; a second error there must not come back here. */
static void
show_context(void *argument)
{
	CsvContext *context = argument;
	CsvReader  *reader = context->reader;
	ErrorContextCallback *saved = error_context_stack;
	int64		row;
	int64		line;

	error_context_stack = NULL;
	csv_reader_locate(reader, context->row, &row, &line);
	error_context_stack = saved;
	if (context->column && row == 1)
		hint_at_header(reader);
	if (context->column)
		errcontext("file \"%s\", line %lld, column \"%s\"",
				   reader->name, (long long) line, context->column);
	else
		errcontext("file \"%s\", line %lld", reader->name, (long long) line);
}

void
csv_context_push(CsvContext *context, CsvReader *reader, const char *column)
{
	context->reader = reader;
	context->column = column;
	context->row = 0;
	context->callback.callback = show_context;
	context->callback.arg = context;
	context->callback.previous = error_context_stack;
	error_context_stack = &context->callback;
}

void
csv_context_pop(CsvContext *context)
{
	error_context_stack = context->callback.previous;
}

static const char *
line_end_name(char c)
{
	return c == '\r' ? "carriage return" : "newline";
}

/* What the lines so far end with. */
static const char *
usual_line_end(const CsvReader *reader)
{
	switch (reader->grammar.line_end)
	{
		case LINE_END_CR:
			return "a carriage return";
		case LINE_END_CRLF:
			return "a carriage return and a newline";
		default:
			return "a newline";
	}
}

/* A line end that is not the file's own kind. */
pg_noreturn static void
report_line_end(CsvReader *reader, char c)
{
	if (reader->grammar.csv)
		ereport(ERROR,
				(errcode(ERRCODE_BAD_COPY_FILE_FORMAT),
				 errmsg("unquoted %s found in data", line_end_name(c)),
				 errdetail("The lines before it end with %s.", usual_line_end(reader)),
				 errhint("Use quoted CSV field to represent %s.", line_end_name(c))));
	ereport(ERROR,
			(errcode(ERRCODE_BAD_COPY_FILE_FORMAT),
			 errmsg("literal %s found in data", line_end_name(c)),
			 errdetail("The lines before it end with %s.", usual_line_end(reader)),
			 errhint("Use \"%s\" to represent %s.", c == '\r' ? "\\r" : "\\n", line_end_name(c))));
}

/* The place where it opened: lines below the row's first one. */
pg_noreturn static void
report_open_quote(CsvReader *reader, int row, uint32 quote)
{
	int64		number;
	int64		line;

	csv_reader_locate(reader, row, &number, &line);
	line += csv_count_lines(reader->buffer.base + reader->start, quote - reader->start,
							csv_line_byte(reader->grammar.line_end));
	ereport(ERROR,
			(errcode(ERRCODE_BAD_COPY_FILE_FORMAT),
			 errmsg("unterminated CSV quoted field"),
			 errdetail("The quote opened on line %lld is never closed.", (long long) line)));
}

void
csv_report_status(CsvReader *reader, int row, CsvRowStatus status, const CsvRow *found)
{
	CsvContext	context;

	csv_context_push(&context, reader, NULL);
	context.row = row;
	switch (status)
	{
		case CSV_ROW_OPEN_QUOTE:
			report_open_quote(reader, row, found->open_quote);
		case CSV_ROW_BAD_CR:
			report_line_end(reader, '\r');
		case CSV_ROW_BAD_LF:
			report_line_end(reader, '\n');
		case CSV_ROW_BAD_MARKER:
			ereport(ERROR,
					(errcode(ERRCODE_BAD_COPY_FILE_FORMAT),
					 errmsg("end-of-copy marker is not alone on its line"),
					 errhint("Write a backslash that is data as \"\\\\\".")));
		case CSV_ROW_MARKER_LINE_END:
			ereport(ERROR,
					(errcode(ERRCODE_BAD_COPY_FILE_FORMAT),
					 errmsg("end-of-copy marker does not match previous newline style"),
					 errdetail("The lines before it end with %s.", usual_line_end(reader))));
		default:
			break;
	}
	elog(ERROR, "unexpected status of a row: %d", (int) status);
}

void
csv_report_fields(CsvReader *reader, int row, int nfields)
{
	CsvContext	context;

	csv_context_push(&context, reader, NULL);
	context.row = row;
	ereport(ERROR,
			(errcode(ERRCODE_BAD_COPY_FILE_FORMAT),
			 errmsg_plural("row has %d field, expected %d",
						   "row has %d fields, expected %d",
						   nfields, nfields, reader->nfields)));
}

void
csv_report_too_long(CsvReader *reader, int row)
{
	CsvContext	context;

	csv_context_push(&context, reader, NULL);
	context.row = row;
	ereport(ERROR,
			(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
			 errmsg("row is too long"),
			 errdetail("A row can have %u bytes at most.", CSV_MAX_BUFFER),
			 reader->grammar.csv ?
			 errhint("Perhaps a quoted field is not closed.") : 0));
}

void
csv_report_broken(CsvReader *reader, int row)
{
	CsvContext	context;

	csv_context_push(&context, reader, NULL);
	context.row = row;
	csv_buffer_report_broken(&reader->buffer);
}

void
csv_verify_field(CsvReader *reader, int row, const char *bytes, uint32 length)
{
	CsvContext	context;

	csv_context_push(&context, reader, NULL);
	context.row = row;
	(void) pg_verifymbstr(bytes, (int) length, false);
	csv_context_pop(&context);
}
