/*-------------------------------------------------------------------------
 *
 * parallel.h
 *	  One scan of a table, done by several processes.
 *
 *-------------------------------------------------------------------------
 */
#ifndef OUTERJOIN_PARALLEL_H
#define OUTERJOIN_PARALLEL_H

#include "access/parallel.h"

#include "fdw/table_scan.h"

typedef struct ParallelScan ParallelScan;

/*
 * The leader's: choose the ranges, within the scan's own one, for this many
 * workers and itself.  Allocates in the current context.
 */
extern ParallelScan *parallel_scan_create(const TableSpec *table, const KeyRange *range, int nworkers);

/* Of the same scan, which is done once more: what is counted goes on. */
extern void parallel_scan_inherit(ParallelScan *parallel, const ParallelScan *last);

/* Bytes of shared memory that it wants. */
extern Size parallel_scan_bytes(const ParallelScan *parallel);

/* Lay out the shared memory, which lasts until "segment" is detached (NULL: there is none). */
extern void parallel_scan_share(ParallelScan *parallel, const TableScan *scan,
								void *shared, dsm_segment *segment);

/* The leader's again: let all ranges be taken anew. */
extern void parallel_scan_reset(ParallelScan *parallel);

/* A worker's: take part in what the leader shares.  Its files must be the same. */
extern ParallelScan *parallel_scan_attach(const TableSpec *table, const TableScan *scan, void *shared);

/* Begin to take ranges, within this one, which must stay valid. */
extern void parallel_scan_begin(ParallelScan *parallel, const KeyRange *range);

/*
 * Take the next range that nobody has taken, beyond the one before, and start
 * the scan on it; false if there is none.
 */
extern bool parallel_scan_next(ParallelScan *parallel, TableScan *scan);

/* This process has done its share. */
extern void parallel_scan_finish(ParallelScan *parallel, const TableScan *scan);

/* How many ranges there are. */
extern int	parallel_scan_ranges(const ParallelScan *parallel);

/* Add up what workers that have ended counted of a stream. */
extern void parallel_scan_count(const ParallelScan *parallel, int stream, StreamCounters *counters);

#endif							/* OUTERJOIN_PARALLEL_H */
