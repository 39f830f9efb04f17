/*-------------------------------------------------------------------------
 *
 * aggregate.h
 *	  Aggregates without GROUP BY, computed by the scan.
 *
 * The plan is a ForeignScan over no relation.  Its fdw_scan_tlist holds the
 * aggregates, and behind them, as junk and by the names below, what rows must
 * fulfil where the range of keys does not stand for it; there, as in the
 * aggregates, the table's columns stay Vars of the table.
 *
 *-------------------------------------------------------------------------
 */
#ifndef OUTERJOIN_AGGREGATE_H
#define OUTERJOIN_AGGREGATE_H

#include "nodes/execnodes.h"
#include "nodes/pathnodes.h"
#include "nodes/plannodes.h"

#include "fdw/filter.h"
#include "fdw/prune.h"
#include "merge/accumulator.h"

/* Names of the junk: clauses that rows are asked for, or streams' rows before */
#define ROW_FILTER_NAME		"row filter"
#define EARLY_FILTER_NAME	"early filter"

struct ExplainState;
struct OuterScanState;

typedef struct AggregateScan AggregateScan;

/* What the plan of the table's plain scan knows; plan.c's */
typedef struct AggregateBase
{
	const TableSpec *table;
	List	   *key_clauses;	/* of KeyClause */
	List	   *early_clauses;	/* of EarlyClause */
	const StreamRole *roles;
	double		rows;			/* that come out of the merge */
	Cost		startup;		/* of reading the range of all streams ... */
	Cost		run;			/* ... without what a row of the result costs */
} AggregateBase;

extern void plan_aggregate_base(RelOptInfo *rel, AggregateBase *base);

/* aggregate_plan.c: the upper relation's half of GetForeignPlan */
extern ForeignScan *aggregate_plan(PlannerInfo *root, RelOptInfo *rel, ForeignPath *path,
								   List *tlist, Plan *outer_plan);

/*
 * The task that stands for the aggregate function; false where its own
 * transition function has to be called.
 */
extern bool aggregate_task(Oid function, AccumulatorTask *task, AccumulatorType *type);

/* The column that an aggregate's only argument is, or 0. */
extern AttrNumber aggregate_column(const Aggref *aggregate);

/* aggregate_scan.c: what the callbacks in scan.c do where the plan is such a one */
extern Oid	aggregate_scan_table(const ForeignScan *plan);
extern void aggregate_scan_prepare(const ForeignScan *plan, TableSpec *table);
extern AggregateScan *aggregate_scan_begin(ForeignScanState *node, struct OuterScanState *state);
extern TupleTableSlot *aggregate_scan_next(ForeignScanState *node, struct OuterScanState *state);
extern void aggregate_scan_rescan(AggregateScan *scan);

/* aggregate_function.c: an aggregate by its own functions */
typedef struct AggregateFunction AggregateFunction;

extern AggregateFunction *aggregate_function_create(const Aggref *aggregate, MemoryContext parent,
													EState *estate);
/* Do rows count for nothing where the argument is null? */
extern bool aggregate_function_is_strict(const AggregateFunction *function);
extern void aggregate_function_start(AggregateFunction *function);
/* The arguments; what the call leaves behind goes to the current context. */
extern void aggregate_function_add(AggregateFunction *function, const Datum *values,
								   const bool *isnull);
extern Datum aggregate_function_result(AggregateFunction *function, bool *isnull);

/* explain.c's part */
extern void aggregate_explain(ForeignScanState *node, struct ExplainState *es);

#endif							/* OUTERJOIN_AGGREGATE_H */
