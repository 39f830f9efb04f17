/*-------------------------------------------------------------------------
 *
 * csv_rows.c
 *	  COPY's grammar, one row at a time.
 *
 * A row is first found (nothing is written, so that it can be looked at again
 * when more of the file has been read), then split.  Unescaping never makes a
 * field longer and so happens where it stands.
 *
 * Refuses to know: buffers, files, types, errors.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "column/text_value.h"
#include "csv/csv_rows.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

/* ---------------------------------------------------------------- finding */

/*
 * A carriage return or newline that is no data, at "pos".
 */
static CsvRowStatus
find_line_end(const char *base, uint32 pos, uint32 limit, bool at_end, CsvRow *row)
{
	bool		followed = pos + 1 < limit && base[pos + 1] == '\n';

	row->end = pos;
	row->next = pos + 1;
	if (base[pos] == '\n')
	{
		if (row->line_end == LINE_END_CR || row->line_end == LINE_END_CRLF)
			return CSV_ROW_BAD_LF;
		row->line_end = LINE_END_LF;
		return CSV_ROW_OK;
	}

	switch (row->line_end)
	{
		case LINE_END_LF:
			return CSV_ROW_BAD_CR;
		case LINE_END_CR:
			return CSV_ROW_OK;
		default:
			break;
	}
	if (pos + 1 == limit && !at_end)
		return CSV_ROW_INCOMPLETE;
	if (followed)
	{
		row->next = pos + 2;
		row->line_end = LINE_END_CRLF;
		return CSV_ROW_OK;
	}
	if (row->line_end == LINE_END_CRLF)
		return CSV_ROW_BAD_CR;
	row->line_end = LINE_END_CR;
	return CSV_ROW_OK;
}

/* Position after the quoted part that was opened before "pos"; limit + 1 if it does not end. */
static uint32
find_quote_end(const CsvGrammar *grammar, const char *base, uint32 pos, uint32 limit, CsvRow *row)
{
	const char	quote = grammar->quote;
	const char	escape = grammar->escape;
	const char	line_byte = csv_line_byte(row->line_end);

	while (pos < limit)
	{
		char		c = base[pos++];

		if (c == escape && pos < limit && (base[pos] == escape || base[pos] == quote))
			pos++;
		else if (c == quote)
			return pos;
		else if (c == line_byte)
			row->breaks++;
	}
	return limit + 1;
}

static CsvRowStatus
find_csv_row(const CsvGrammar *grammar, const char *base, uint32 limit, bool at_end, CsvRow *row)
{
	uint32		pos = row->start;

	while (pos < limit)
	{
		char		c = base[pos];

		if (c == grammar->delimiter)
			row->nfields++;
		else if (c == grammar->quote)
		{
			row->open_quote = pos;
			pos = find_quote_end(grammar, base, pos + 1, limit, row);
			if (pos > limit)
				return at_end ? CSV_ROW_OPEN_QUOTE : CSV_ROW_INCOMPLETE;
			continue;
		}
		else if (csv_is_line_end(c))
			return find_line_end(base, pos, limit, at_end, row);
		pos++;
	}
	row->end = row->next = limit;
	return at_end ? CSV_ROW_OK : CSV_ROW_INCOMPLETE;
}

/* "\." at pos: alone on a line that ends as the others do. */
static CsvRowStatus
find_end_marker(const char *base, uint32 pos, uint32 limit, bool at_end, const CsvRow *row)
{
	uint32		after = pos + 2;
	CsvRow		line = *row;

	if (pos > row->start)
		return CSV_ROW_BAD_MARKER;
	if (after >= limit)
		return at_end ? CSV_ROW_BAD_MARKER : CSV_ROW_INCOMPLETE;
	if (base[after] != '\n' && base[after] != '\r')
		return CSV_ROW_BAD_MARKER;
	switch (find_line_end(base, after, limit, at_end, &line))
	{
		case CSV_ROW_OK:
			return CSV_ROW_END_MARKER;
		case CSV_ROW_INCOMPLETE:
			return CSV_ROW_INCOMPLETE;
		default:
			return CSV_ROW_MARKER_LINE_END;
	}
}

static int
hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/*
 * Position after what a backslash before "pos" makes data: one character, and
 * the digits of "\xhh", since the delimiter may be a letter.
 */
static uint32
pass_escape(const char *base, uint32 pos, uint32 limit)
{
	uint32		most;

	if (pos >= limit)
		return limit;
	most = base[pos] == 'x' ? 2 : 0;
	pos++;
	while (most-- > 0 && pos < limit && hex_digit(base[pos]) >= 0)
		pos++;
	return pos;
}

static CsvRowStatus
find_text_row(const CsvGrammar *grammar, const char *base, uint32 limit, bool at_end, CsvRow *row)
{
	const char	line_byte = csv_line_byte(row->line_end);
	uint32		pos = row->start;

	while (pos < limit)
	{
		char		c = base[pos];

		if (c == grammar->delimiter)
			row->nfields++;
		else if (c == '\\')
		{
			if (pos + 1 < limit && base[pos + 1] == '.')
				return find_end_marker(base, pos, limit, at_end, row);

			/* what follows is data, even a line end */
			if (pos + 1 < limit && base[pos + 1] == line_byte)
				row->breaks++;
			pos = pass_escape(base, pos + 1, limit);
			continue;
		}
		else if (csv_is_line_end(c))
			return find_line_end(base, pos, limit, at_end, row);
		pos++;
	}
	row->end = row->next = limit;
	return at_end ? CSV_ROW_OK : CSV_ROW_INCOMPLETE;
}

CsvRowStatus
csv_row_find(const CsvGrammar *grammar, const char *base,
			 uint32 start, uint32 limit, bool at_end, CsvRow *row)
{
	CsvRowStatus status;

	row->start = start;
	row->end = row->next = start;
	row->nfields = 1;
	row->breaks = 0;
	row->open_quote = 0;
	row->split_pos = start;
	row->split_field = 0;
	row->line_end = grammar->line_end;
	status = grammar->csv ? find_csv_row(grammar, base, limit, at_end, row)
		: find_text_row(grammar, base, limit, at_end, row);

	/* until its end was seen, line breaks in the row were taken for newlines */
	if (status == CSV_ROW_OK && grammar->line_end == LINE_END_UNKNOWN && row->line_end == LINE_END_CR)
	{
		row->breaks = 0;
		for (uint32 pos = start; pos < row->end; pos++)
			row->breaks += base[pos] == '\r';
	}
	return status;
}

/* -------------------------------------------------------------- splitting */

/*
 * Unescape one CSV field [pos, limit) in place, up to its delimiter or the
 * end; returns where it ended (the delimiter, or limit).
 */
static uint32
split_csv_field(const CsvGrammar *grammar, char *base, uint32 pos, uint32 limit, uint32 *length)
{
	const char	quote = grammar->quote;
	const char	escape = grammar->escape;
	uint32		start = pos;
	uint32		out = pos;
	uint32		flags = 0;

	while (pos < limit && base[pos] != grammar->delimiter)
	{
		if (base[pos] != quote)
		{
			base[out++] = base[pos++];
			continue;
		}
		flags = TEXT_FIELD_QUOTED;
		pos++;
		while (pos < limit)
		{
			char		c = base[pos++];

			if (c == escape && pos < limit && (base[pos] == escape || base[pos] == quote))
				base[out++] = base[pos++];
			else if (c == quote)
				break;
			else
				base[out++] = c;
		}
	}
	*length = (out - start) | flags;
	return pos;
}

static int
octal_digit(char c)
{
	return c >= '0' && c <= '7' ? c - '0' : -1;
}

/*
 * Digits at *pos, "most" of them, after "value"; how "\ooo" and "\xhh" go on.
 */
static int
escape_number(const char *base, uint32 *pos, uint32 limit, int value, int most,
			  int shift, int (*digit) (char))
{
	while (most-- > 0 && *pos < limit && digit(base[*pos]) >= 0)
		value = (value << shift) + digit(base[(*pos)++]);
	return value & 0xFF;
}

/* The character that the escape after a backslash, at *pos (< limit), stands for. */
static char
escape_character(const char *base, uint32 *pos, uint32 limit, bool *unverified)
{
	char		c = base[(*pos)++];
	int			value;

	switch (c)
	{
		case 'b':
			return '\b';
		case 'f':
			return '\f';
		case 'n':
			return '\n';
		case 'r':
			return '\r';
		case 't':
			return '\t';
		case 'v':
			return '\v';
		case 'x':
			if (*pos == limit || hex_digit(base[*pos]) < 0)
				return c;
			value = escape_number(base, pos, limit, 0, 2, 4, hex_digit);
			break;
		default:
			if (octal_digit(c) < 0)
				return c;
			value = escape_number(base, pos, limit, octal_digit(c), 2, 3, octal_digit);
			break;
	}
	if (value == 0 || value >= 0x80)
		*unverified = true;
	return (char) value;
}

/* The same for the text format. */
static uint32
split_text_field(const CsvGrammar *grammar, char *base, uint32 pos, uint32 limit,
				 uint32 *length, bool *unverified)
{
	uint32		start = pos;
	uint32		raw_end;
	uint32		out;
	bool		escaped = false;
	bool		is_null;
	bool		odd = false;

	/* the null string is compared with the raw text, which is about to go */
	for (raw_end = start; raw_end < limit && base[raw_end] != grammar->delimiter;)
	{
		if (base[raw_end] != '\\')
		{
			raw_end++;
			continue;
		}
		escaped = true;
		if (raw_end + 1 == limit)
			break;				/* a backslash at the very end stands for nothing */
		raw_end = pass_escape(base, raw_end + 1, limit);
	}
	is_null = raw_end - start == (uint32) grammar->null_length &&
		memcmp(base + start, grammar->null, grammar->null_length) == 0;
	if (is_null || !escaped)
	{
		*length = is_null ? TEXT_FIELD_NULL : raw_end - start;
		return raw_end < limit && base[raw_end] != grammar->delimiter ? limit : raw_end;
	}

	out = start;
	while (pos < raw_end)
	{
		if (base[pos] != '\\')
			base[out++] = base[pos++];
		else
		{
			pos++;
			base[out++] = escape_character(base, &pos, raw_end, &odd);
		}
	}
	*unverified |= odd;
	*length = (out - start) | TEXT_FIELD_QUOTED;
	return raw_end < limit && base[raw_end] != grammar->delimiter ? limit : raw_end;
}

/* Where a field that nobody wants ends. */
static uint32
skip_field(const CsvGrammar *grammar, const char *base, uint32 pos, uint32 limit)
{
	CsvRow		ignored = {0};

	while (pos < limit && base[pos] != grammar->delimiter)
	{
		char		c = base[pos++];

		if (grammar->csv && c == grammar->quote)
			pos = Min(find_quote_end(grammar, base, pos, limit, &ignored), limit);
		else if (!grammar->csv && c == '\\')
			pos = pass_escape(base, pos, limit);
	}
	return pos;
}

bool
csv_row_split(const CsvGrammar *grammar, char *base, CsvRow *row,
			  const int *wanted, int nwanted, uint32 *offset, uint32 *length)
{
	uint32		pos = row->split_pos;
	bool		unverified = false;
	int			field = row->split_field;

	for (int i = 0; i < nwanted; i++)
	{
		for (; field < wanted[i]; field++)
			pos = skip_field(grammar, base, pos, row->end) + 1;
		offset[i] = pos;
		if (grammar->csv)
			pos = split_csv_field(grammar, base, pos, row->end, &length[i]);
		else
			pos = split_text_field(grammar, base, pos, row->end, &length[i], &unverified);
		pos++;
		field++;
	}
	row->split_pos = pos;
	row->split_field = field;
	return unverified;
}

/* ------------------------------------------------------------- unquoting */

/*
 * Offset of the first quote, or length.  Fields are short: a look at 16 bytes
 * settles nearly all, and the padding behind the buffer makes it safe.
 */
static inline uint32
find_quote(const char *p, uint32 length, char quote)
{
	const char *found;

#if defined(__SSE2__)
	__m128i		bytes = _mm_loadu_si128((const __m128i *) p);
	int			mask = _mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_set1_epi8(quote)));

	if (mask != 0)
		return Min((uint32) __builtin_ctz(mask), length);
	if (length <= 16)
		return length;
#endif
	found = memchr(p, quote, length);
	return found ? (uint32) (found - p) : length;
}

static pg_noinline uint32
unquote_slowly(char *p, uint32 length, char quote)
{
	uint32		out = 0;
	uint32		pos = 0;
	bool		inside = false;

	while (pos < length)
	{
		char		c = p[pos++];

		if (c != quote)
			p[out++] = c;
		else if (inside && pos < length && p[pos] == quote)
			p[out++] = p[pos++];
		else
			inside = !inside;
	}
	return out;
}

void
csv_fields_unquote(char *base, char quote, int from, int to, uint32 *offset, uint32 *length)
{
	for (int i = from; i < to; i++)
	{
		char	   *p = base + offset[i];
		uint32		n = length[i];
		uint32		first = find_quote(p, n, quote);

		if (first == n)
			continue;
		if (first == 0 && find_quote(p + 1, n - 1, quote) == n - 2)
		{
			offset[i]++;
			length[i] = (n - 2) | TEXT_FIELD_QUOTED;
		}
		else
			length[i] = unquote_slowly(p, n, quote) | TEXT_FIELD_QUOTED;
	}
}
