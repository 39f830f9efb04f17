/*-------------------------------------------------------------------------
 *
 * scan.h
 *	  The state of a running scan, for the callbacks that look at it.
 *
 *-------------------------------------------------------------------------
 */
#ifndef OUTERJOIN_SCAN_H
#define OUTERJOIN_SCAN_H

#include "nodes/execnodes.h"

#include "fdw/prune.h"
#include "fdw/table_scan.h"

typedef struct OuterScanState
{
	TableSpec  *table;
	Bitmapset  *needed;
	TableScan  *scan;			/* NULL under EXPLAIN without ANALYZE */
	int			nconditions;
	KeyCondition *conditions;
	List	   *values;			/* of ExprState, one for each condition but KEY_NULL */
	KeyRanges	ranges;
	MemoryContext range_context;	/* ranges and their values; reset by a rescan */
	bool		started;		/* the range has been evaluated */
} OuterScanState;

#endif							/* OUTERJOIN_SCAN_H */
