/*-------------------------------------------------------------------------
 *
 * csv_backward.c
 *	  Where the rows of a text file begin, going from its end to its top.
 *
 * The end of a file is outside of quotes.  Where a quote is its own escape,
 * each one met from there turns outside to inside or back, so a line end is
 * known to be a row's end without a look at what precedes it.  With another
 * escape that is not so: then a row is a line, which has to be promised or
 * found out (csv_seek.h).  In the text format a line end is data behind an odd
 * number of backslashes.
 *
 * The text format's "\." ends the data wherever it stands, so the file is
 * looked through for it once, and the answer kept with the file's identity,
 * unless it is promised to be the last line if there is one.
 *
 * Refuses to know: fields, and what is wrong with a row.  The reader reads
 * what lies between two places found here as it reads any rows.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "mb/pg_wchar.h"
#include "miscadmin.h"

#include "csv/csv_backward.h"
#include "csv/csv_seek.h"
#include "io/file_cache.h"

#define LOOK_BYTES		(256 * 1024)
#define LINE_BYTES		4096
#define FIRST_WINDOW	4096
#define PIECE_BYTES		256

/* ------------------------------------------------------ the file's ends */

/* Does an odd number of backslashes stand right before "at"? */
static bool
is_escaped(SourceFile *file, int64 first, int64 at)
{
	char		bytes[64];
	bool		odd = false;

	while (at > first)
	{
		size_t		length = (size_t) Min(at - first, (int64) sizeof(bytes));

		if (source_file_read(file, at - (int64) length, bytes, length) != length)
			break;
		at -= (int64) length;
		while (length > 0)
		{
			if (bytes[--length] != '\\')
				return odd;
			odd = !odd;
		}
	}
	return odd;
}

/*
 * Where the first line that is "\." begins, or where the file ends; -1 where
 * the line is no proper end of data.
 */
static int64
look_for_marker(SourceFile *file, int64 first)
{
	int64		size = source_file_identity(file)->size;
	char	   *block = palloc(LOOK_BYTES);
	int64		answer = size;

	for (int64 at = first; answer == size && at < size;)
	{
		size_t		length = source_file_read(file, at, block, LOOK_BYTES);
		const char *p = block;
		const char *end = block + length;

		CHECK_FOR_INTERRUPTS();
		if (length == 0)
			break;
		while ((p = memchr(p, '\\', end - p)) != NULL)
		{
			int64		place = at + (p - block);
			char		around[] = "\n..\n";

			if (p + 1 < end && p[1] != '.')
			{
				p += p[1] == '\\' ? 2 : 1;
				continue;
			}
			p++;

			/* the byte before, the two of the marker, the one behind */
			if (place > first)
				(void) source_file_read(file, place - 1, around, 4);
			else
				(void) source_file_read(file, place, around + 1, 3);
			if (!csv_is_line_end(around[0]) || around[1] != '\\' || around[2] != '.')
				continue;
			answer = place + 2 < size && csv_is_line_end(around[3]) &&
				!is_escaped(file, first, place - 1) ? place : -1;
			break;
		}
		at += (int64) length;
	}
	pfree(block);
	return answer;
}

/* The same where nothing but blank lines follows it. */
static int64
look_for_last_marker(SourceFile *file, int64 first)
{
	int64		size = source_file_identity(file)->size;
	int64		at = size;
	char		tail[LINE_BYTES];

	while (at > first)
	{
		size_t		length = (size_t) Min(at - first, LINE_BYTES);
		size_t		end = length;

		CHECK_FOR_INTERRUPTS();
		if (source_file_read(file, at - (int64) length, tail, length) != length)
			break;
		while (end > 0 && csv_is_line_end(tail[end - 1]))
			end--;
		at -= (int64) (length - end);

		/* once more from there, where the window may hold too little of the line */
		if (end == 0 || (end < 3 && at - (int64) end > first))
			continue;
		if (end < 2 || tail[end - 2] != '\\' || tail[end - 1] != '.' ||
			(end > 2 && !csv_is_line_end(tail[end - 3])))
			break;
		return at < size && (end == 2 || !is_escaped(file, first, at - 3)) ? at - 2 : -1;
	}
	return size;
}

static FileCache marker_cache = {"outerjoin_fdw ends of text files", sizeof(int64), NULL};

static int64
find_marker(SourceFile *file, const CsvDialect *dialect, int64 first)
{
	FileQuestion question;
	const int64 *known;
	int64		answer;

	if (dialect->multiline == MULTILINE_FALSE)
		return look_for_last_marker(file, first);
	known = file_cache_find(&marker_cache, file, (uint64) first, &question);

	if (known != NULL)
		return *known;
	answer = look_for_marker(file, first);
	file_cache_keep(&marker_cache, &question, &answer);
	return answer;
}

bool
csv_backward_can(const CsvReader *reader, const CsvDialect *dialect, SourceFile *file, bool look)
{
	if (file == NULL || dialect->multiline == MULTILINE_TRUE)
		return false;
	if (dialect->multiline == MULTILINE_AUTO && !PG_VALID_BE_ENCODING(dialect->encoding))
		return false;
	if (!dialect->grammar.csv)
		return !look || find_marker(file, dialect, csv_find_first(file, dialect, reader->top_lines, csv_line_byte(reader->grammar.line_end))) >= 0;
	return dialect->multiline == MULTILINE_FALSE ||
		dialect->grammar.quote == dialect->grammar.escape ||
		csv_lines_are_rows(file, dialect, look);
}

/* Where the last line of the file that is not blank ends; "first" if all are. */
static int64
last_line_end(const CsvBackward *backward, CsvLineEnd line_end, bool escapes)
{
	int64		end = source_file_identity(backward->file)->size;
	int64		at = end;

	while (at > backward->first)
	{
		size_t		length = (size_t) Min(at - backward->first, FIRST_WINDOW);

		CHECK_FOR_INTERRUPTS();
		if (source_file_read(backward->file, at - (int64) length, backward->bytes, length) != length)
			break;
		while (length > 0 && csv_is_line_end(backward->bytes[length - 1]))
		{
			length--;
			at--;
		}
		if (length > 0)
		{
			/* the first of them may be data itself */
			if (escapes && is_escaped(backward->file, backward->first, at))
				at++;
			return Min(end, at + (line_end == LINE_END_CRLF ? 2 : 1));
		}
	}
	return backward->first;
}

void
csv_backward_begin(CsvBackward *backward, const CsvReader *reader, size_t block_bytes, int queue)
{
	const CsvDialect *dialect = reader->dialect;

	backward->file = reader->file;
	backward->line_byte = csv_line_byte(reader->grammar.line_end);
	backward->quotes = dialect->grammar.csv && dialect->multiline == MULTILINE_AUTO &&
		dialect->grammar.quote == dialect->grammar.escape;
	backward->quote = dialect->grammar.quote;
	backward->escapes = !dialect->grammar.csv && dialect->multiline == MULTILINE_AUTO;
	backward->block_bytes = Max(block_bytes, FIRST_WINDOW);
	backward->bytes = palloc(backward->block_bytes);
	backward->ahead = (int64) backward->block_bytes * Max(queue, 0);
	backward->first = csv_find_first(reader->file, dialect, reader->top_lines, backward->line_byte);

	/* blank lines in front of a marker are rows, those at the file's end are not */
	if (!dialect->grammar.csv)
		backward->end = find_marker(reader->file, dialect, backward->first);
	if (dialect->grammar.csv || backward->end == source_file_identity(reader->file)->size)
		backward->end = last_line_end(backward, reader->grammar.line_end, !dialect->grammar.csv);
}

/* ------------------------------------------------------ rows */

/* A search going backward. */
typedef struct RowHunt
{
	int64		end;
	bool		in_quote;
	int			rows;			/* whose starts have been found */
	int64		start;			/* of the last of them */
	int			most_rows;
} RowHunt;

/* A line end outside quotes, byte "n" of the window; true once there are enough rows. */
static bool
take_line_end(const CsvBackward *backward, RowHunt *hunt, int64 from, size_t n)
{
	int64		at = from + (int64) n;

	if (at + 1 >= hunt->end)
		return false;
	if (backward->escapes && (n == 0 || backward->bytes[n - 1] == '\\') &&
		is_escaped(backward->file, backward->first, at))
		return false;
	hunt->start = at + 1;
	hunt->rows++;
	return hunt->rows >= hunt->most_rows;
}

/*
 * Pass over pieces of the window, from its end, while not even all their line
 * ends are enough rows; what is left of it.
 */
static size_t
pass_pieces(const CsvBackward *backward, RowHunt *hunt, int64 from, size_t length)
{
	if (backward->escapes || from + (int64) length == hunt->end)
		return length;
	while (length > PIECE_BYTES)
	{
		const char *piece = backward->bytes + length - PIECE_BYTES;
		int64		lines = csv_count_lines(piece, PIECE_BYTES, backward->line_byte);

		if (hunt->rows + lines >= hunt->most_rows)
			break;
		length -= PIECE_BYTES;
		hunt->rows += (int) lines;
		if (lines > 0)
			hunt->start = from + ((const char *) memchr(piece, backward->line_byte, PIECE_BYTES) -
								  backward->bytes) + 1;
	}
	return length;
}

/* One window, which begins at byte "from" of the file. */
static bool
hunt_in_window(const CsvBackward *backward, RowHunt *hunt, int64 from, size_t length)
{
	const char *bytes = backward->bytes;

	if (!backward->quotes || (!hunt->in_quote && memchr(bytes, backward->quote, length) == NULL))
	{
		const char *found;

		length = pass_pieces(backward, hunt, from, length);
		while ((found = memrchr(bytes, backward->line_byte, length)) != NULL)
		{
			length = (size_t) (found - bytes);
			if (take_line_end(backward, hunt, from, length))
				return true;
		}
		return false;
	}
	while (length-- > 0)
	{
		char		c = bytes[length];

		if (c == backward->quote)
			hunt->in_quote = !hunt->in_quote;
		else if (c == backward->line_byte && !hunt->in_quote &&
				 take_line_end(backward, hunt, from, length))
			return true;
	}
	return false;
}

int64
csv_backward_rows(const CsvBackward *backward, int64 end, int most_rows, size_t most_bytes)
{
	RowHunt		hunt = {.end = end, .start = end, .most_rows = most_rows};
	int64		at = end;
	size_t		window = Min(FIRST_WINDOW, backward->block_bytes);

	Assert(end > backward->first && most_rows > 0);
	while (at > backward->first)
	{
		size_t		seen = (size_t) (end - at);
		size_t		length = window;

		CHECK_FOR_INTERRUPTS();
		if (seen < most_bytes)
			length = Min(length, most_bytes - seen);
		else if (hunt.rows > 0)
			return hunt.start;
		else
			hunt.most_rows = 1; /* a row longer than that comes alone */
		length = (size_t) Min((int64) length, at - backward->first);
		if (length == backward->block_bytes && backward->ahead > 0)
		{
			int64		ahead = Max(at - (int64) length - backward->ahead, backward->first);

			source_file_prefetch(backward->file, ahead, at - (int64) length - ahead);
		}
		if (source_file_read(backward->file, at - (int64) length, backward->bytes, length) != length)
			elog(ERROR, "file \"%s\" has become shorter unnoticed", source_file_name(backward->file));
		at -= (int64) length;
		if (hunt_in_window(backward, &hunt, at, length))
			return hunt.start;
		window = Min(window * 2, backward->block_bytes);
	}

	/* up to the top all is the first row, which belongs to them if there is room */
	if (hunt.rows > 0 && (size_t) (end - backward->first) > most_bytes)
		return hunt.start;
	return backward->first;
}
