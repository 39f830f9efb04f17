/*-------------------------------------------------------------------------
 *
 * fdw.h
 *	  The callbacks that PostgreSQL calls, by the file that defines them, and
 *	  the module's settings.
 *
 *-------------------------------------------------------------------------
 */
#ifndef OUTERJOIN_FDW_H
#define OUTERJOIN_FDW_H

#include "foreign/fdwapi.h"
#include "nodes/pathnodes.h"

/* outerjoin_fdw.c: settings, 0 (or true) being "as the module thinks best" */
extern int	outerjoin_batch_rows;
extern int	outerjoin_block_size;
extern bool outerjoin_simd;
extern bool outerjoin_parameterized_paths;
extern bool outerjoin_aggregates;
extern bool outerjoin_required_streams;
extern bool outerjoin_early_filters;
extern bool outerjoin_backward;

/* plan.c */
extern void outerjoinGetForeignRelSize(PlannerInfo *root, RelOptInfo *rel, Oid relid);
extern void outerjoinGetForeignPaths(PlannerInfo *root, RelOptInfo *rel, Oid relid);
extern ForeignScan *outerjoinGetForeignPlan(PlannerInfo *root, RelOptInfo *rel, Oid relid,
											ForeignPath *path, List *tlist,
											List *clauses, Plan *outer_plan);

/* aggregate_plan.c */
extern void outerjoinGetForeignUpperPaths(PlannerInfo *root, UpperRelationKind stage,
										  RelOptInfo *input, RelOptInfo *output, void *extra);

/* scan.c */
extern void outerjoinBeginForeignScan(ForeignScanState *node, int eflags);
extern TupleTableSlot *outerjoinIterateForeignScan(ForeignScanState *node);
extern void outerjoinReScanForeignScan(ForeignScanState *node);
extern void outerjoinEndForeignScan(ForeignScanState *node);
extern bool outerjoinIsForeignScanParallelSafe(PlannerInfo *root, RelOptInfo *rel,
											   RangeTblEntry *rte);
extern Size outerjoinEstimateDSMForeignScan(ForeignScanState *node, ParallelContext *pcxt);
extern void outerjoinInitializeDSMForeignScan(ForeignScanState *node, ParallelContext *pcxt,
											  void *coordinate);
extern void outerjoinReInitializeDSMForeignScan(ForeignScanState *node, ParallelContext *pcxt,
												void *coordinate);
extern void outerjoinInitializeWorkerForeignScan(ForeignScanState *node, shm_toc *toc,
												 void *coordinate);
extern void outerjoinShutdownForeignScan(ForeignScanState *node);

/* explain.c */
extern void outerjoinExplainForeignScan(ForeignScanState *node, struct ExplainState *es);

/* analyze.c */
extern bool outerjoinAnalyzeForeignTable(Relation relation, AcquireSampleRowsFunc *function,
										 BlockNumber *pages);

#endif							/* OUTERJOIN_FDW_H */
