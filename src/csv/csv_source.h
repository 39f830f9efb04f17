/*-------------------------------------------------------------------------
 *
 * csv_source.h
 *	  Where a text stream's bytes come from, and how they are to be read.
 *
 *-------------------------------------------------------------------------
 */
#ifndef OUTERJOIN_CSV_SOURCE_H
#define OUTERJOIN_CSV_SOURCE_H

#include "csv/csv_options.h"

typedef struct CsvSource
{
	CsvDialect	dialect;
	ByteSource *bytes;			/* owned by whoever opened it */
	SourceFile *file;			/* beneath bytes, where that is a plain file; else NULL */
	int64		size;			/* of the file, compressed or not; -1: a program */
} CsvSource;

/*
 * Open a file of a stream, or run its program.  Allocates in the current
 * context.
 */
extern void csv_source_open(CsvSource *source, const StreamSpec *spec,
							const struct SegmentFile *file, size_t block_bytes);

#endif							/* OUTERJOIN_CSV_SOURCE_H */
