/*-------------------------------------------------------------------------
 *
 * formats.h
 *	  The table of formats, for the files of this folder.
 *
 *-------------------------------------------------------------------------
 */
#ifndef OUTERJOIN_FORMATS_H
#define OUTERJOIN_FORMATS_H

#include "stream/stream.h"

/* How a name ends that needs no declared format. */
typedef struct FormatRow
{
	const ColumnFormat *format;
	bool		lines;			/* takes COPY's options, and a compression around it */
	bool		csv;
	const char *extensions[8];	/* ends with NULL */
} FormatRow;

extern const FormatRow *format_rows(int *nrows);

/* NULL if there is none of this name */
extern const FormatRow *format_by_name(const char *name);

/* NULL if the extension says none; *compression is then COMPRESSION_NONE */
extern const FormatRow *format_by_path(const char *path, Compression *compression);

/* ".csv, .tsv, ...", for hints */
extern const char *format_extensions(void);

#endif							/* OUTERJOIN_FORMATS_H */
