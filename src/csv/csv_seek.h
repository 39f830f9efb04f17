/*-------------------------------------------------------------------------
 *
 * csv_seek.h
 *	  Finding a place in a text file by jumping about in it.
 *
 *-------------------------------------------------------------------------
 */
#ifndef OUTERJOIN_CSV_SEEK_H
#define OUTERJOIN_CSV_SEEK_H

#include "csv/csv_options.h"
#include "io/file_cache.h"

/*
 * Is every line end of the file a row's end, as far as is declared or known?
 * With "look" a file that nothing is known of is looked through, and the
 * answer kept (see file_cache.h); without, it is taken for true.
 */
extern bool csv_lines_are_rows(SourceFile *file, const CsvDialect *dialect, bool look);

/*
 * Where the first row begins, behind so many lines: those that are skipped end
 * in any way, a header's as the file's do.
 */
extern int64 csv_find_first(SourceFile *file, const CsvDialect *dialect, int top_lines, char line_byte);

/*
 * Where the line after the first "lines" lines begins (the file's size if
 * there are not so many).
 */
extern int64 csv_pass_lines(SourceFile *file, char line_byte, int lines);

/* The start of the line after the next line end at or behind "from"; "limit" if none is before it. */
extern int64 csv_next_line(SourceFile *file, char line_byte, int64 from, int64 limit);
/*
 * Where the first row begins that is not before this part (0 to 1) of the
 * rows' bytes; "first" is the first row's start.
 */
extern int64 csv_row_after(SourceFile *file, char line_byte, int64 first, double part);

/* What is known of files' lines, for another process: see file_cache.h. */
extern FileCache *csv_lines_known(void);

/* Does the row that starts at "offset" come before what is sought? False as well at the end. */
typedef bool (*CsvRowIsBefore) (void *state, int64 offset);

/*
 * A row's start such that all rows before it come before what is sought, not
 * far before the first that does not; "first" is the first row's start.
 */
extern int64 csv_bisect(SourceFile *file, char line_byte, int64 first,
						CsvRowIsBefore is_before, void *state);

/*
 * The same where it is known to lie between: all rows before "low", a row's
 * start, come before it, and none that starts at "high" or later does.
 */
extern int64 csv_bisect_between(SourceFile *file, char line_byte, int64 low, int64 high,
								CsvRowIsBefore is_before, void *state);

/*
 * A row's start (or "end", where the last row ends) such that no row from
 * there on comes before what is sought, not far behind the last that does.
 */
extern int64 csv_bisect_back(SourceFile *file, char line_byte, int64 first, int64 end,
							 CsvRowIsBefore is_before, void *state);

#endif							/* OUTERJOIN_CSV_SEEK_H */
