/*-------------------------------------------------------------------------
 *
 * csv_reader.h
 *	  The rows of a CSV or text file, some thousand at a time: where their
 *	  fields lie.
 *
 *-------------------------------------------------------------------------
 */
#ifndef OUTERJOIN_CSV_READER_H
#define OUTERJOIN_CSV_READER_H

#include "column/text_value.h"
#include "csv/csv_buffer.h"
#include "csv/csv_options.h"
#include "csv/csv_scan.h"

typedef struct CsvReader
{
	/* set once the file has been begun */
	int			nfields;		/* of every row; 0: the file holds no rows */
	int			nnames;			/* nfields, or 0 without a header */
	char	  **names;			/* in the database encoding */

	/* the last batch: [slot] in the order of csv_reader_want */
	TextFields *fields;

	/* private */
	MemoryContext context;
	const char *name;
	const CsvDialect *dialect;
	SourceFile *file;			/* a plain file, or NULL */
	ByteSource *source;			/* all of it */
	ByteSource *range;			/* what csv_reader_limit reads; NULL until then */
	CsvGrammar	grammar;		/* the dialect's, and the line end once it is known */
	CsvBuffer	buffer;
	CsvScan		scan;
	CsvFields	wanted;
	int			max_rows;
	bool		simd;

	bool		begun;
	bool		ended;			/* no more rows, whatever the buffer holds */
	bool		limited;		/* the buffer's end need not be that of the data */
	uint32		start;			/* of the next row */
	uint32		scanned;		/* the scan has seen the bytes before this */
	uint32		breaks_end;		/* no row from here on is known to hold a line break */
	uint32		blanks_end;		/* lines before this are blank, yet not the last */
	const char *invalid;		/* a field of the next row that is no valid text */
	uint32		invalid_length;

	/* where rows stand, see csv_position.c */
	int			top_lines;		/* lines before the first row of the file */
	int64		origin;			/* byte offset where reading began; 0: the top */
	int64		origin_line;	/* lines before the first row read, -1: not known */
	int64		origin_row;		/* rows, likewise */
	int64		batch_row;		/* rows since then before this batch */
	int64		batch_line;		/* lines */
	int			batch_rows;
	int			nbreaks;		/* rows of this batch that hold line breaks */
	struct CsvBreak *breaks;
} CsvReader;

/* A row of a batch with line breaks in it. */
typedef struct CsvBreak
{
	int			row;
	int			count;
} CsvBreak;

/*
 * Allocates in "context"; reads nothing.  file is the plain file beneath the
 * source, or NULL.  All must outlive the reader.
 */
extern CsvReader *csv_reader_create(const CsvDialect *dialect, ByteSource *source,
									SourceFile *file, int max_rows, size_t block_bytes,
									bool simd, MemoryContext context);

/*
 * Read the beginning: byte order mark, skipped lines, header; sets nfields
 * and names.  Again after a restart, when only the place is found again.
 */
extern void csv_reader_begin(CsvReader *reader);

/* Which fields (ascending, below nfields) rows are to be split into. */
extern void csv_reader_want(CsvReader *reader, const int *fields, int nfields);

/*
 * The next rows, at most max_rows (and never more than at creation): how
 * many, 0 at the end.  reader->fields are theirs until the next call.
 */
extern int	csv_reader_next(CsvReader *reader, int max_rows);

/* Start again from the top; csv_reader_begin follows by itself. */
extern void csv_reader_restart(CsvReader *reader);

/*
 * Go on with the row that starts at this byte of a plain file.  The file must
 * have been begun.
 */
extern void csv_reader_seek(CsvReader *reader, int64 offset);

/*
 * Go on with the rows in [from, to) of a plain file, where rows begin and
 * end, and nothing else.  The file must have been begun.
 */
extern void csv_reader_limit(CsvReader *reader, int64 from, int64 to);

/* Have all rows since then been taken?  None can be read afterwards. */
extern bool csv_reader_is_through(CsvReader *reader);

/*
 * Row number and line, from 1, of a row of the last batch, or of the row
 * after it.  After a seek the file is read to count them.
 */
extern void csv_reader_locate(CsvReader *reader, int row, int64 *row_number, int64 *line);

/* For csv_reader.c: the next batch begins; row "row" holds so many line breaks. */
extern void csv_position_next_batch(CsvReader *reader);
extern void csv_position_add_breaks(CsvReader *reader, int row, int count);
extern void csv_position_reset(CsvReader *reader, int64 origin);

/* Line breaks among these bytes, of rows that have not been split yet. */
extern int64 csv_count_lines(const char *bytes, size_t length, char line_byte);

#endif							/* OUTERJOIN_CSV_READER_H */
