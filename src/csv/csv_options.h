/*-------------------------------------------------------------------------
 *
 * csv_options.h
 *	  COPY's options for CSV and text files, resolved and checked as COPY
 *	  checks them.
 *
 *-------------------------------------------------------------------------
 */
#ifndef OUTERJOIN_CSV_OPTIONS_H
#define OUTERJOIN_CSV_OPTIONS_H

#include "column/stream_spec.h"
#include "csv/csv_rows.h"

typedef struct CsvDialect
{
	CsvGrammar	grammar;		/* the line end is not known yet */
	int			encoding;		/* pg_enc of the file */
	HeaderMode	header;
	int			skip;
	Multiline	multiline;
} CsvDialect;

/*
 * Defaults filled in; what COPY would refuse is refused here with COPY's
 * SQLSTATEs, in the same words where they fit.  Nothing is opened.
 */
extern void csv_dialect_resolve(const TextOptions *declared, bool csv, CsvDialect *dialect);

#endif							/* OUTERJOIN_CSV_OPTIONS_H */
