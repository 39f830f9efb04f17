/*-------------------------------------------------------------------------
 *
 * csv_stream.h
 *	  CSV and text files as column streams.
 *
 *-------------------------------------------------------------------------
 */
#ifndef OUTERJOIN_CSV_STREAM_H
#define OUTERJOIN_CSV_STREAM_H

#include "column/column_stream.h"

extern const ColumnFormat csv_column_format;	/* "csv" */
extern const ColumnFormat text_column_format;	/* "text" */

#endif							/* OUTERJOIN_CSV_STREAM_H */
