/*-------------------------------------------------------------------------
 *
 * scan.c
 *	  The foreign scan: begin, iterate, rescan, end.
 *
 * Files are opened when the executor starts; the range of keys is evaluated
 * with the first row, and again after a rescan, since its values may be
 * parameters.
 *
 * Refuses to know: streams, and how rows come about (table_scan.c).
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "compat.h"

#include "executor/executor.h"
#include "nodes/plannodes.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "fdw/fdw.h"
#include "fdw/plan.h"
#include "fdw/scan.h"

void
outerjoinBeginForeignScan(ForeignScanState *node, int eflags)
{
	ForeignScan *plan = (ForeignScan *) node->ss.ps.plan;
	EState	   *estate = node->ss.ps.state;
	OuterScanState *state = palloc0(sizeof(OuterScanState));
	MemoryContext context;
	MemoryContext old;
	ListCell   *cell;

	context = AllocSetContextCreate(estate->es_query_cxt, "outerjoin_fdw scan",
									ALLOCSET_DEFAULT_SIZES);
	old = MemoryContextSwitchTo(context);
	state->range_context = AllocSetContextCreate(context, "outerjoin_fdw key range",
												 ALLOCSET_SMALL_SIZES);
	state->table = table_spec_build(RelationGetRelid(node->ss.ss_currentRelation));
	foreach(cell, list_nth(plan->fdw_private, SCAN_PRIVATE_NEEDED))
		state->needed = bms_add_member(state->needed, lfirst_int(cell));
	state->conditions = key_conditions_decode(list_nth(plan->fdw_private,
													   SCAN_PRIVATE_KEY_CLAUSES),
											  &state->nconditions);
	if (!(eflags & EXEC_FLAG_EXPLAIN_ONLY))
		state->scan = table_scan_open(state->table, state->needed);
	MemoryContextSwitchTo(old);

	state->values = ExecInitExprList(plan->fdw_exprs, (PlanState *) node);
	node->fdw_state = state;
}

/* Evaluate the range's values and start on it. */
static pg_noinline void
scan_start(ForeignScanState *node, OuterScanState *state)
{
	ExprContext *econtext = node->ss.ps.ps_ExprContext;
	MemoryContext old;
	ListCell   *value = list_head(state->values);

	MemoryContextReset(state->range_context);
	old = MemoryContextSwitchTo(state->range_context);
	for (int c = 0; c < state->nconditions; c++)
	{
		KeyCondition *condition = &state->conditions[c];

		if (condition->test == KEY_NULL)
			continue;
		condition->value = ExecEvalExpr((ExprState *) lfirst(value), econtext,
										&condition->isnull);
		value = lnext(state->values, value);
	}
	key_range_build(state->table, state->conditions, state->nconditions, &state->range);
	table_scan_start(state->scan, &state->range);
	MemoryContextSwitchTo(old);
	state->started = true;
}

/*
 * The slot's arrays are pointed to where the row stands, which saves copying
 * it.  Nobody frees them: a slot whose descriptor is fixed, as this one's is,
 * has them in its own piece of memory.
 */
TupleTableSlot *
outerjoinIterateForeignScan(ForeignScanState *node)
{
	OuterScanState *state = node->fdw_state;
	TupleTableSlot *slot = node->ss.ss_ScanTupleSlot;

	ExecClearTuple(slot);
	if (unlikely(!state->started))
		scan_start(node, state);
	if (table_scan_next(state->scan, &slot->tts_values, &slot->tts_isnull))
		ExecStoreVirtualTuple(slot);
	return slot;
}

void
outerjoinReScanForeignScan(ForeignScanState *node)
{
	OuterScanState *state = node->fdw_state;

	state->started = false;
}

void
outerjoinEndForeignScan(ForeignScanState *node)
{
	OuterScanState *state = node->fdw_state;

	if (state && state->scan)
		table_scan_close(state->scan);
}
