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

#include "fdw/filter.h"
#include "fdw/prune.h"
#include "fdw/table_scan.h"

typedef struct OuterScanState
{
	TableSpec  *table;
	Bitmapset  *needed;
	StreamRole *roles;
	EarlyFilters *filters;
	TableScan  *scan;			/* NULL under EXPLAIN without ANALYZE */
	int			nconditions;
	KeyCondition *conditions;
	List	   *values;			/* of ExprState, one for each condition but KEY_NULL,
								 * then the filters' */
	KeyRange	range;
	MemoryContext range_context;	/* range and its values; reset by a rescan */
	bool		started;		/* the range has been evaluated */
	struct AggregateScan *aggregates;	/* a scan that computes aggregates; else NULL */
	struct ParallelScan *parallel;	/* NULL: the scan is this process's alone */
} OuterScanState;

/* Evaluate the range's values and start on it. */
extern void outer_scan_start(ForeignScanState *node, OuterScanState *state);

#endif							/* OUTERJOIN_SCAN_H */
