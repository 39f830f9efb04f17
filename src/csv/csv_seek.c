/*-------------------------------------------------------------------------
 *
 * csv_seek.c
 *	  Finding a place in a text file by jumping about in it.
 *
 * A row can be found from any byte only where every line end is a row's end.
 * That is promised (multiline 'false'), denied, or found out by looking
 * through the file once: for quotes that hold a line end, or in the text
 * format for a backslash before one, or a "\." that is not the file's end.
 *
 * In all encodings that the server reads, the bytes of line ends stand for
 * nothing else.  Quotes and backslashes do in some; there nothing is found
 * out.
 *
 * Refuses to know: keys and how they compare.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "mb/pg_wchar.h"
#include "miscadmin.h"

#include "csv/csv_seek.h"

#define LOOK_BYTES			(256 * 1024)
#define FIRST_LINE_BYTES	256
#define LINE_BYTES			4096
#define CLOSE_BYTES			(16 * 1024) /* near enough: read on from here */

/* ------------------------------------------------------ looking through */

static FileCache lines_cache = {"outerjoin_fdw lines of files", sizeof(bool), NULL};

/* State of a look between two blocks. */
typedef struct LineLook
{
	const CsvDialect *dialect;
	bool		in_quote;
	bool		escaped;		/* the last byte was an escape */
} LineLook;

/* One block of a file in which a quote is its own escape; false at a line end within quotes. */
static bool
look_at_quotes(LineLook *look, const char *p, const char *end)
{
	const char	quote = look->dialect->grammar.quote;

	while (p < end)
	{
		const char *next = memchr(p, quote, end - p);
		size_t		length = (next ? next : end) - p;

		if (look->in_quote &&
			(memchr(p, '\n', length) != NULL || memchr(p, '\r', length) != NULL))
			return false;
		if (next == NULL)
			break;
		look->in_quote = !look->in_quote;
		p = next + 1;
	}
	return true;
}

/* The same where an escape of its own exists. */
static bool
look_at_escapes(LineLook *look, const char *p, const char *end)
{
	const char	quote = look->dialect->grammar.quote;
	const char	escape = look->dialect->grammar.escape;

	if (!look->in_quote && memchr(p, quote, end - p) == NULL)
		return true;
	for (; p < end; p++)
	{
		if (look->in_quote && csv_is_line_end(*p))
			return false;
		if (look->escaped)
		{
			look->escaped = false;
			if (*p == quote || *p == escape)
				continue;
		}
		if (look->in_quote && *p == escape)
			look->escaped = true;
		else if (*p == quote)
			look->in_quote = !look->in_quote;
	}
	return true;
}

/* One block of the text format; "\." is no data, wherever it stands. */
static bool
look_at_backslashes(LineLook *look, const char *p, const char *end)
{
	while (p < end)
	{
		if (look->escaped)
		{
			if (csv_is_line_end(*p) || *p == '.')
				return false;
			look->escaped = false;
			p++;
			continue;
		}
		p = memchr(p, '\\', end - p);
		if (p == NULL)
			break;
		look->escaped = true;
		p++;
	}
	return true;
}

static bool
look_through(SourceFile *file, const CsvDialect *dialect)
{
	LineLook	look = {.dialect = dialect};
	int64		size = source_file_identity(file)->size;
	char	   *block = palloc(LOOK_BYTES);
	bool		answer = true;

	for (int64 at = 0; answer && at < size;)
	{
		size_t		length = source_file_read(file, at, block, LOOK_BYTES);

		if (length == 0)
			break;
		if (!dialect->grammar.csv)
			answer = look_at_backslashes(&look, block, block + length);
		else if (dialect->grammar.quote == dialect->grammar.escape)
			answer = look_at_quotes(&look, block, block + length);
		else
			answer = look_at_escapes(&look, block, block + length);
		at += (int64) length;
	}
	pfree(block);
	return answer;
}

bool
csv_lines_are_rows(SourceFile *file, const CsvDialect *dialect, bool look)
{
	FileQuestion question;
	const bool *known;
	bool		answer;

	if (dialect->multiline != MULTILINE_AUTO)
		return dialect->multiline == MULTILINE_FALSE;
	if (!PG_VALID_BE_ENCODING(dialect->encoding))
		return false;

	known = file_cache_find(&lines_cache, file,
							(uint64) dialect->grammar.csv << 16 | (uint64) (uint8) dialect->grammar.quote << 8 |
							(uint8) dialect->grammar.escape,
							&question);
	if (known != NULL)
		return *known;
	if (!look)
		return true;
	answer = look_through(file, dialect);
	file_cache_keep(&lines_cache, &question, &answer);
	return answer;
}

FileCache *
csv_lines_known(void)
{
	return &lines_cache;
}

/* ------------------------------------------------------ finding lines */

int64
csv_next_line(SourceFile *file, char line_byte, int64 from, int64 limit)
{
	char		bytes[LINE_BYTES];
	int64		most = FIRST_LINE_BYTES;

	while (from < limit)
	{
		size_t		length = source_file_read(file, from, bytes, (size_t) Min(limit - from, most));
		const char *found;

		most = Min(2 * most, LINE_BYTES);

		if (length == 0)
			break;
		found = memchr(bytes, line_byte, length);
		if (found != NULL)
			return from + (found - bytes) + 1;
		from += (int64) length;
	}
	return limit;
}

/* The start of the next line, however this one ends. */
static int64
pass_any_line(SourceFile *file, int64 at, int64 size)
{
	char		bytes[LINE_BYTES];
	bool		cr = false;

	while (at < size)
	{
		size_t		length = source_file_read(file, at, bytes, (size_t) Min(size - at, LINE_BYTES));

		if (length == 0)
			break;
		for (size_t i = 0; i < length; i++)
		{
			if (cr)
				return at + (int64) i + (bytes[i] == '\n');
			if (bytes[i] == '\n')
				return at + (int64) i + 1;
			cr = bytes[i] == '\r';
		}
		at += (int64) length;
	}
	return size;
}

int64
csv_find_first(SourceFile *file, const CsvDialect *dialect, int top_lines, char line_byte)
{
	int64		size = source_file_identity(file)->size;
	int64		at = 0;
	int			line = 0;

	for (; line < top_lines && line < dialect->skip; line++)
		at = pass_any_line(file, at, size);
	for (; line < top_lines; line++)
		at = csv_next_line(file, line_byte, at, size);
	return at;
}

int64
csv_pass_lines(SourceFile *file, char line_byte, int lines)
{
	int64		size = source_file_identity(file)->size;
	int64		at = 0;

	while (lines-- > 0 && at < size)
		at = csv_next_line(file, line_byte, at, size);
	return at;
}

int64
csv_row_after(SourceFile *file, char line_byte, int64 first, double part)
{
	int64		size = source_file_identity(file)->size;
	int64		at = first + (int64) (part * (double) (size - first));

	return at > first ? csv_next_line(file, line_byte, Min(at, size) - 1, size) : first;
}

/* Bring two places together that a row's start is sought between. */
static void
bisect(SourceFile *file, char line_byte, int64 *first, int64 *end,
	   CsvRowIsBefore is_before, void *state)
{
	int64		low = *first;	/* a row's start; all rows before it come before */
	int64		high = *end;	/* no row that starts here or later does */

	while (high - low > CLOSE_BYTES)
	{
		int64		middle = low + (high - low) / 2;
		int64		row = csv_next_line(file, line_byte, middle - 1, high);

		CHECK_FOR_INTERRUPTS();
		if (row < high && is_before(state, row))
			low = row;
		else
			high = middle;
	}
	*first = low;
	*end = high;
}

int64
csv_bisect_between(SourceFile *file, char line_byte, int64 low, int64 high,
				   CsvRowIsBefore is_before, void *state)
{
	bisect(file, line_byte, &low, &high, is_before, state);
	return low;
}

int64
csv_bisect(SourceFile *file, char line_byte, int64 first,
		   CsvRowIsBefore is_before, void *state)
{
	int64		end = source_file_identity(file)->size;

	bisect(file, line_byte, &first, &end, is_before, state);
	return first;
}

int64
csv_bisect_back(SourceFile *file, char line_byte, int64 first, int64 end,
				CsvRowIsBefore is_before, void *state)
{
	int64		high = end;

	bisect(file, line_byte, &first, &high, is_before, state);
	return high < end ? csv_next_line(file, line_byte, Max(high - 1, 0), end) : end;
}
