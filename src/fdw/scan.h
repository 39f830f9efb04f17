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
	KeyRanges	ranges;
	KeyRange	range;			/* of a scan that several processes share */
	MemoryContext range_context;	/* ranges and their values; reset by a rescan */
	bool		started;		/* the range has been evaluated */
	struct AggregateScan *aggregates;	/* a scan that computes aggregates; else NULL */
	struct ParallelScan *parallel;	/* NULL: the scan is this process's alone */
} OuterScanState;

/* Evaluate the ranges' values and start on the first. */
extern void outer_scan_start(ForeignScanState *node, OuterScanState *state);

/* Start on the next range, once the rows of this one have been read; false if there is none. */
extern bool outer_scan_next_range(OuterScanState *state);

#endif							/* OUTERJOIN_SCAN_H */
