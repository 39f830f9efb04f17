/*-------------------------------------------------------------------------
 *
 * csv_backward.h
 *	  Where the rows of a text file begin, going from its end to its top.
 *
 *-------------------------------------------------------------------------
 */
#ifndef OUTERJOIN_CSV_BACKWARD_H
#define OUTERJOIN_CSV_BACKWARD_H

#include "csv/csv_reader.h"

typedef struct CsvBackward
{
	SourceFile *file;
	int64		first;			/* where the first row begins */
	int64		end;			/* and the last one ends, blank lines behind it left out */

	/* private */
	char		line_byte;
	bool		quotes;			/* line ends within quotes are none of a row */
	char		quote;
	bool		escapes;		/* nor are those behind a backslash */
	char	   *bytes;
	size_t		block_bytes;
	int64		ahead;			/* bytes asked for before they are looked at */
} CsvBackward;

/*
 * Can a file's rows be told apart from its end?  With "look" this may look
 * through the file; without, what is not known is taken for true.  The reader
 * has begun where "look" is set.
 */
extern bool csv_backward_can(const CsvReader *reader, const CsvDialect *dialect,
							 SourceFile *file, bool look);

/*
 * Prepare to do so, with windows of block_bytes and so many asked for ahead.
 * The reader has begun.  Allocates in the current context.
 */
extern void csv_backward_begin(CsvBackward *backward, const CsvReader *reader,
							   size_t block_bytes, int queue);

/*
 * The start of a row such that at most "most_rows" whole rows lie between it
 * and "end", where a row (or the file) ends, and they take no more than
 * "most_bytes"; at least one row, however long it is.  end > first.
 */
extern int64 csv_backward_rows(const CsvBackward *backward, int64 end,
							   int most_rows, size_t most_bytes);

#endif							/* OUTERJOIN_CSV_BACKWARD_H */
