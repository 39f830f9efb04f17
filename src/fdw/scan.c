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
#include "miscadmin.h"
#include "nodes/plannodes.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "fdw/aggregate.h"
#include "fdw/fdw.h"
#include "fdw/parallel.h"
#include "fdw/plan.h"
#include "fdw/require.h"
#include "fdw/scan.h"

/* The range of a scan without a row. */
static const KeyRange no_keys = {.empty = true};

/*
 * Nothing to test, to compute, or to check again?  Then a row of the scan is a
 * row of the node, and what ExecScan does between them, for every row, comes to
 * nothing.
 */
static bool
scan_is_bare(const ForeignScanState *node)
{
	const ForeignScan *plan = (const ForeignScan *) node->ss.ps.plan;

	return node->ss.ps.qual == NULL && node->ss.ps.ps_ProjInfo == NULL &&
		!plan->fsSystemCol && node->ss.ps.state->es_epq_active == NULL;
}

/* The node's ExecProcNode for a scan that is bare. */
static TupleTableSlot *
bare_next_row(PlanState *node)
{
	return outerjoinIterateForeignScan((ForeignScanState *) node);
}

void
outerjoinBeginForeignScan(ForeignScanState *node, int eflags)
{
	ForeignScan *plan = (ForeignScan *) node->ss.ps.plan;
	EState	   *estate = node->ss.ps.state;
	OuterScanState *state = palloc0(sizeof(OuterScanState));
	MemoryContext context;
	MemoryContext old;
	ListCell   *cell;
	Node	   *backward;

	context = AllocSetContextCreate(estate->es_query_cxt, "outerjoin_fdw scan",
									ALLOCSET_DEFAULT_SIZES);
	old = MemoryContextSwitchTo(context);
	state->range_context = AllocSetContextCreate(context, "outerjoin_fdw key range",
												 ALLOCSET_SMALL_SIZES);
	if (node->ss.ss_currentRelation)
		state->table = table_spec_build(RelationGetRelid(node->ss.ss_currentRelation));
	else
	{
		state->table = table_spec_build(aggregate_scan_table(plan));
		aggregate_scan_prepare(plan, state->table);
	}
	backward = list_nth(plan->fdw_private, SCAN_PRIVATE_BACKWARD);
	if (backward != NULL && boolVal(backward))
		table_spec_reverse(state->table);
	foreach(cell, list_nth(plan->fdw_private, SCAN_PRIVATE_NEEDED))
		state->needed = bms_add_member(state->needed, lfirst_int(cell));
	state->conditions = key_conditions_decode(list_nth(plan->fdw_private,
													   SCAN_PRIVATE_KEY_CLAUSES),
											  &state->nconditions);
	state->roles = stream_roles_decode(list_nth(plan->fdw_private, SCAN_PRIVATE_ROLES),
									   state->table->nstreams);
	if (!(eflags & EXEC_FLAG_EXPLAIN_ONLY))
	{
		state->filters = early_filters_create(state->table,
											  list_nth(plan->fdw_private,
													   SCAN_PRIVATE_EARLY_CLAUSES));
		state->scan = table_scan_open(state->table, state->needed, state->roles,
									  early_filters_tests(state->filters));
	}
	if (node->ss.ss_currentRelation == NULL)
		state->aggregates = aggregate_scan_begin(node, state);
	MemoryContextSwitchTo(old);

	state->values = ExecInitExprList(plan->fdw_exprs, (PlanState *) node);
	node->fdw_state = state;
	if (scan_is_bare(node))
		node->ss.ps.ExecProcNode = bare_next_row;
}

/* Evaluate the ranges' values. */
static void
scan_evaluate_range(ForeignScanState *node, OuterScanState *state)
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
	early_filters_bind(state->filters, state->values, econtext);
	key_ranges_begin(&state->ranges, state->table, state->conditions, state->nconditions);
	if (node->ss.ps.plan->parallel_aware)
		key_range_build(state->table, state->conditions, state->nconditions, &state->range);
	MemoryContextSwitchTo(old);
}

/*
 * Start on the next range of keys, or on another part of the one that several
 * processes share; false if there is none.
 */
pg_noinline bool
outer_scan_next_range(OuterScanState *state)
{
	const KeyRange *range;

	if (state->parallel != NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(state->range_context);
		bool		found = parallel_scan_next(state->parallel, state->scan);

		MemoryContextSwitchTo(old);
		return found;
	}
	do
	{
		CHECK_FOR_INTERRUPTS();
		range = key_ranges_next(&state->ranges);
		if (range == NULL)
			return false;
	} while (range->empty);
	table_scan_start(state->scan, range);
	return true;
}

/* Evaluate the ranges' values and start on the first, or on the first part that is to be had. */
pg_noinline void
outer_scan_start(ForeignScanState *node, OuterScanState *state)
{
	MemoryContext old;

	/* this also says that there is no tuple id, which slot_empty leaves alone */
	ExecClearTuple(node->ss.ss_ScanTupleSlot);
	scan_evaluate_range(node, state);
	old = MemoryContextSwitchTo(state->range_context);
	if (state->parallel != NULL)
		parallel_scan_begin(state->parallel, &state->range);
	MemoryContextSwitchTo(old);
	if (!outer_scan_next_range(state))
		table_scan_start(state->scan, &no_keys);
	state->started = state->aggregates == NULL;
}

/* The next row, of this range or another; false at the end. */
static inline bool
scan_next_row(OuterScanState *state, Datum **values, bool **isnull)
{
	while (!table_scan_next(state->scan, values, isnull))
	{
		if (!outer_scan_next_range(state))
			return false;
	}
	return true;
}

/*
 * What ExecClearTuple and ExecStoreVirtualTuple come to for a slot that was
 * given no tuple of its own since, which only whoever materializes it does.
 * Two calls for every row are more than the rest of this file.
 */
static inline void
slot_empty(TupleTableSlot *slot)
{
	if (unlikely(TTS_SHOULDFREE(slot)))
		ExecClearTuple(slot);
	slot->tts_flags |= TTS_FLAG_EMPTY;
	slot->tts_nvalid = 0;
}

static inline void
slot_show(TupleTableSlot *slot)
{
	slot->tts_flags &= ~TTS_FLAG_EMPTY;
	slot->tts_nvalid = slot->tts_tupleDescriptor->natts;
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

	slot_empty(slot);
	if (unlikely(!state->started))
	{
		if (state->aggregates)
			return aggregate_scan_next(node, state);
		outer_scan_start(node, state);
	}
	if (scan_next_row(state, &slot->tts_values, &slot->tts_isnull))
		slot_show(slot);
	return slot;
}

void
outerjoinReScanForeignScan(ForeignScanState *node)
{
	OuterScanState *state = node->fdw_state;

	state->started = false;
	if (state->aggregates)
		aggregate_scan_rescan(state->aggregates);
}

void
outerjoinEndForeignScan(ForeignScanState *node)
{
	OuterScanState *state = node->fdw_state;

	if (state && state->scan)
		table_scan_close(state->scan);
}

/* ------------------------------------------------------------ in parallel */

/*
 * A path says by itself whether it may be part of a parallel plan (plan.c);
 * here nothing is known of the files yet.
 */
bool
outerjoinIsForeignScanParallelSafe(PlannerInfo *root, RelOptInfo *rel, RangeTblEntry *rte)
{
	(void) root;
	(void) rel;
	(void) rte;
	return true;
}

Size
outerjoinEstimateDSMForeignScan(ForeignScanState *node, ParallelContext *pcxt)
{
	OuterScanState *state = node->fdw_state;
	MemoryContext old;
	ParallelScan *last = state->parallel;

	scan_evaluate_range(node, state);
	old = MemoryContextSwitchTo(GetMemoryChunkContext(state));
	state->parallel = parallel_scan_create(state->table, &state->range, pcxt->nworkers);
	if (last != NULL)
		parallel_scan_inherit(state->parallel, last);
	MemoryContextSwitchTo(old);
	return parallel_scan_bytes(state->parallel);
}

void
outerjoinInitializeDSMForeignScan(ForeignScanState *node, ParallelContext *pcxt, void *coordinate)
{
	OuterScanState *state = node->fdw_state;

	parallel_scan_share(state->parallel, state->scan, coordinate, pcxt->seg);
}

void
outerjoinReInitializeDSMForeignScan(ForeignScanState *node, ParallelContext *pcxt, void *coordinate)
{
	OuterScanState *state = node->fdw_state;

	(void) pcxt;
	(void) coordinate;
	parallel_scan_reset(state->parallel);
}

void
outerjoinInitializeWorkerForeignScan(ForeignScanState *node, shm_toc *toc, void *coordinate)
{
	OuterScanState *state = node->fdw_state;
	MemoryContext old = MemoryContextSwitchTo(GetMemoryChunkContext(state));

	(void) toc;
	state->parallel = parallel_scan_attach(state->table, state->scan, coordinate);
	MemoryContextSwitchTo(old);
}

void
outerjoinShutdownForeignScan(ForeignScanState *node)
{
	OuterScanState *state = node->fdw_state;

	if (state && state->parallel && state->scan)
		parallel_scan_finish(state->parallel, state->scan);
}
