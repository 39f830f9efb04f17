/*-------------------------------------------------------------------------
 *
 * csv_position.c
 *	  Where rows stand: their numbers and lines.
 *
 * Nothing is stored per row.  Rows and lines are counted batch by batch from
 * where reading began; only rows that hold line breaks are listed.  What
 * precedes the place that a seek went to is counted in the file, when a
 * message asks for it; a line end within quotes, or behind a backslash of the
 * text format, makes no row there, where that can be known.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "csv/csv_reader.h"
#include "csv/csv_seek.h"

#define COUNT_BYTES		65536

void
csv_position_reset(CsvReader *reader, int64 origin)
{
	reader->origin = origin;
	reader->origin_line = origin == 0 ? 0 : -1;
	reader->origin_row = 0;
	reader->batch_row = 0;
	reader->batch_line = 0;
	reader->batch_rows = 0;
	reader->nbreaks = 0;
}

void
csv_position_next_batch(CsvReader *reader)
{
	reader->batch_row += reader->batch_rows;
	reader->batch_line += reader->batch_rows;
	for (int i = 0; i < reader->nbreaks; i++)
		reader->batch_line += reader->breaks[i].count;
	reader->batch_rows = 0;
	reader->nbreaks = 0;
}

void
csv_position_add_breaks(CsvReader *reader, int row, int count)
{
	if (count == 0)
		return;
	if (reader->breaks == NULL)
		reader->breaks = MemoryContextAlloc(reader->context, sizeof(CsvBreak) * reader->max_rows);
	Assert(reader->nbreaks < reader->max_rows);
	reader->breaks[reader->nbreaks++] = (CsvBreak){row, count};
}

int64
csv_count_lines(const char *bytes, size_t length, char line_byte)
{
	int64		lines = 0;

	for (size_t i = 0; i < length; i++)
		lines += bytes[i] == line_byte;
	return lines;
}

/* State of a count between two blocks. */
typedef struct RowCount
{
	int64		lines;
	int64		rows;
	bool		quotes;			/* those of the grammar matter */
	bool		backslashes;
	bool		inside;			/* quotes, or behind a backslash */
} RowCount;

/* One block of rows. */
static void
count_rows(const CsvReader *reader, RowCount *count, const char *bytes, size_t length)
{
	char		line_byte = csv_line_byte(reader->grammar.line_end);

	for (size_t i = 0; i < length; i++)
	{
		if (bytes[i] == line_byte)
		{
			count->lines++;
			count->rows += !count->inside;
		}
		if (count->backslashes)
			count->inside = bytes[i] == '\\' && !count->inside;
		else if (count->quotes && bytes[i] == reader->grammar.quote)
			count->inside = !count->inside;
	}
}

/* Count the lines and rows that precede the origin. */
static void
find_origin_line(CsvReader *reader)
{
	const CsvDialect *dialect = reader->dialect;
	char	   *bytes = palloc(COUNT_BYTES);
	RowCount	count = {.lines = reader->top_lines};

	if (dialect->multiline == MULTILINE_AUTO && dialect->grammar.csv)
		count.quotes = dialect->grammar.quote == dialect->grammar.escape;
	else if (dialect->multiline == MULTILINE_AUTO)
		count.backslashes = true;
	for (int64 at = csv_find_first(reader->file, dialect, reader->top_lines,
								   csv_line_byte(reader->grammar.line_end)); at < reader->origin;)
	{
		size_t		length = (size_t) Min(reader->origin - at, COUNT_BYTES);

		length = source_file_read(reader->file, at, bytes, length);
		if (length == 0)
			break;
		count_rows(reader, &count, bytes, length);
		at += (int64) length;
	}
	pfree(bytes);
	reader->origin_line = count.lines;
	reader->origin_row = count.rows;
}

void
csv_reader_locate(CsvReader *reader, int row, int64 *row_number, int64 *line)
{
	if (reader->origin_line < 0)
		find_origin_line(reader);
	*row_number = reader->batch_row + row + 1;
	*line = reader->origin_line + reader->batch_line + row + 1;
	if (reader->origin > 0)
		*row_number += reader->origin_row;
	else
		*line += reader->top_lines;
	for (int i = 0; i < reader->nbreaks && reader->breaks[i].row < row; i++)
		*line += reader->breaks[i].count;
}
