/*-------------------------------------------------------------------------
 *
 * csv_errors.h
 *	  What is wrong with a file, said with its file and line.
 *
 *-------------------------------------------------------------------------
 */
#ifndef OUTERJOIN_CSV_ERRORS_H
#define OUTERJOIN_CSV_ERRORS_H

#include "csv/csv_reader.h"

/* Where the code at hand is, for the context of any error raised there. */
typedef struct CsvContext
{
	ErrorContextCallback callback;
	CsvReader  *reader;
	const char *column;			/* or NULL */
	volatile int row;			/* of the last batch */
} CsvContext;

extern void csv_context_push(CsvContext *context, CsvReader *reader, const char *column);
extern void csv_context_pop(CsvContext *context);

/*
 * The row at reader->start, which is row number "row" of the batch, cannot be
 * read.  "status" is not CSV_ROW_OK or CSV_ROW_INCOMPLETE.
 */
pg_noreturn extern void csv_report_status(CsvReader *reader, int row, CsvRowStatus status,
							  const CsvRow *found);
pg_noreturn extern void csv_report_fields(CsvReader *reader, int row, int nfields);
pg_noreturn extern void csv_report_too_long(CsvReader *reader, int row);
pg_noreturn extern void csv_report_broken(CsvReader *reader, int row);

/* Verify a field whose escapes made bytes of their own. */
extern void csv_verify_field(CsvReader *reader, int row, const char *bytes, uint32 length);

#endif							/* OUTERJOIN_CSV_ERRORS_H */
