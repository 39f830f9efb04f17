/*-------------------------------------------------------------------------
 *
 * arrow_stream.h
 *	  Arrow IPC files and streams as column streams.
 *
 *-------------------------------------------------------------------------
 */
#ifndef OUTERJOIN_ARROW_STREAM_H
#define OUTERJOIN_ARROW_STREAM_H

#include "column/column_stream.h"

extern const ColumnFormat arrow_column_format;	/* "arrow" */

#endif							/* OUTERJOIN_ARROW_STREAM_H */
