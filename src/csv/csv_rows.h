/*-------------------------------------------------------------------------
 *
 * csv_rows.h
 *	  COPY's grammar, one row at a time: exact, and in no hurry.
 *
 * Pure functions over memory.  The SIMD scan takes every row that needs no
 * thought; all others come here.
 *
 *-------------------------------------------------------------------------
 */
#ifndef OUTERJOIN_CSV_ROWS_H
#define OUTERJOIN_CSV_ROWS_H

#include "postgres.h"

typedef enum CsvLineEnd
{
	LINE_END_UNKNOWN = 0,		/* until the first one is seen */
	LINE_END_LF,
	LINE_END_CRLF,
	LINE_END_CR
} CsvLineEnd;

typedef struct CsvGrammar
{
	bool		csv;
	char		delimiter;
	char		quote;			/* csv only */
	char		escape;			/* csv only */
	const char *null;
	int			null_length;
	CsvLineEnd	line_end;
} CsvGrammar;

typedef enum CsvRowStatus
{
	CSV_ROW_OK,
	CSV_ROW_INCOMPLETE,			/* more bytes are needed */
	CSV_ROW_END_MARKER,			/* "\." of the text format */
	CSV_ROW_OPEN_QUOTE,			/* the file ends inside quotes */
	CSV_ROW_BAD_CR,				/* a bare carriage return */
	CSV_ROW_BAD_LF,				/* a bare newline */
	CSV_ROW_BAD_MARKER,			/* "\." that is not alone on its line */
	CSV_ROW_MARKER_LINE_END		/* "\." on a line that ends unlike the others */
} CsvRowStatus;

typedef struct CsvRow
{
	uint32		start;
	uint32		end;			/* of its text, without the line end */
	uint32		next;			/* start of the next row */
	int			nfields;
	int			breaks;			/* line breaks within [start, end) */
	uint32		open_quote;		/* CSV_ROW_OPEN_QUOTE: where */
	uint32		split_pos;		/* what is not yet split starts here, */
	int			split_field;	/* with this field */
	CsvLineEnd	line_end;		/* the file's style, as known after this row */
} CsvRow;

static inline bool
csv_is_line_end(char c)
{
	return c == '\n' || c == '\r';
}

/* The byte that physical lines are counted by. */
static inline char
csv_line_byte(CsvLineEnd line_end)
{
	return line_end == LINE_END_CR ? '\r' : '\n';
}

/*
 * Find the row that starts at "start" (< limit).  at_end says that nothing
 * follows base[limit - 1] in the file.  Writes nothing to base.
 */
extern CsvRowStatus csv_row_find(const CsvGrammar *grammar, const char *base,
								 uint32 start, uint32 limit, bool at_end, CsvRow *row);

/*
 * Take the fields "wanted" (ascending numbers below row->nfields) of a row
 * that was found OK, unescaped in place, as offset and length (with the flags
 * of text_value.h).  True when an escape has made bytes that are not plain
 * ASCII, so that the fields' encoding must be verified anew.
 *
 * What was unescaped cannot be read again: a second call for the same row goes
 * on where the first one stopped, and wants later fields.
 */
extern bool csv_row_split(const CsvGrammar *grammar, char *base, CsvRow *row,
						  const int *wanted, int nwanted, uint32 *offset, uint32 *length);

/*
 * Take the quotes off rows [from, to) of one field, whose bounds were found by
 * the scan: a quote is its own escape here.
 */
extern void csv_fields_unquote(char *base, char quote, int from, int to,
							   uint32 *offset, uint32 *length);

#endif							/* OUTERJOIN_CSV_ROWS_H */
