/*-------------------------------------------------------------------------
 *
 * aggregate_scan.c
 *	  Aggregates without GROUP BY, computed by the scan: one row comes out.
 *
 * Two ways lead there.  Where rows need not be asked for anything and every
 * aggregate takes a column as it is, the merge's windows are gone over column
 * by column, and no row is ever made; a column's values are added as they
 * stand in their stream's batch, since a row's place in the window does not
 * matter.  Elsewhere each row is made, tested by the clauses, and added to the
 * aggregates whose FILTER lets it pass.
 *
 * Values are added in the order of the rows both ways, so that results do not
 * depend on which was taken.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "compat.h"

#include "access/table.h"
#include "catalog/objectaccess.h"
#include "catalog/pg_proc.h"
#include COMPAT_EXPLAIN_FORMAT_HEADER
#include COMPAT_EXPLAIN_STATE_HEADER
#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "utils/acl.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/ruleutils.h"

#include "fdw/aggregate.h"
#include "fdw/fdw.h"
#include "fdw/plan.h"
#include "fdw/scan.h"

typedef struct AggregateState
{
	const Aggref *aggregate;
	Accumulator accumulator;
	AggregateFunction *function;	/* NULL: the accumulator */
	ExprState  *filter;

	/* a column as the only argument */
	AttrNumber	column;			/* 0: other arguments, or none */
	int			key_column;		/* of the key, or -1 */
	const FieldVector *vector;	/* value columns: the values ... */
	int			input;			/* ... and whose they are */

	/* other arguments */
	int			narguments;
	ExprState **arguments;
	Datum	   *values;
	bool	   *isnull;
} AggregateState;

struct AggregateScan
{
	int			naggregates;
	AggregateState *aggregates;
	ExprState  *rows;			/* what a row must fulfil, or NULL */
	bool		by_window;
	bool		done;
	ExprContext *econtext;		/* for a row's expressions */
	TupleTableSlot *row;		/* of the table's type */
	MemoryContext result_context;
};

/* ------------------------------------------------------------ what the plan says */

static List *
plan_aggregates(const ForeignScan *plan)
{
	return list_nth(plan->fdw_private, SCAN_PRIVATE_AGGREGATES);
}

Oid
aggregate_scan_table(const ForeignScan *plan)
{
	List	   *aggregates = plan_aggregates(plan);

	return aggregates == NIL ? InvalidOid : linitial_oid(linitial(aggregates));
}

/* Before the streams are opened: what they are not asked for. */
void
aggregate_scan_prepare(const ForeignScan *plan, TableSpec *table)
{
	ListCell   *cell;

	foreach(cell, (List *) lsecond(plan_aggregates(plan)))
	{
		const TableColumn *column = &table->columns[lfirst_int(cell) - 1];

		if (column->kind == COLUMN_VALUE)
			table->streams[column->stream].fields[column->field].nulls_only = true;
	}
}

/* ------------------------------------------------------------ beginning */

/* The executor asks this where it computes an aggregate. */
static void
check_privilege(Oid function)
{
	AclResult	result = compat_function_aclcheck(function, GetUserId());

	if (result != ACLCHECK_OK)
		aclcheck_error(result, OBJECT_AGGREGATE, get_func_name(function));
	InvokeFunctionExecuteHook(function);
}

/*
 * Expressions of a row are evaluated over a slot that is not the node's, so
 * they are compiled without it.
 */
static ExprState *
row_expression(const ForeignScanState *node, Expr *expr)
{
	return expr ? ExecInitExprWithParams(expr, node->ss.ps.state->es_param_list_info) : NULL;
}

static void
aggregate_begin(AggregateState *state, const Aggref *aggregate, ForeignScanState *node,
				const TableSpec *table)
{
	AccumulatorTask task;
	AccumulatorType type;
	ListCell   *cell;

	check_privilege(aggregate->aggfnoid);
	state->aggregate = aggregate;
	state->filter = row_expression(node, aggregate->aggfilter);
	state->column = aggregate_column(aggregate);
	state->key_column = -1;
	if (aggregate_task(aggregate->aggfnoid, &task, &type))
		accumulator_init(&state->accumulator, task, type);
	else
		state->function = aggregate_function_create(aggregate, CurrentMemoryContext,
													node->ss.ps.state);
	if (state->column != 0)
	{
		const TableColumn *column = &table->columns[state->column - 1];

		if (column->kind == COLUMN_KEY)
			state->key_column = column->key_column;
		else
			state->input = column->stream;
		return;
	}
	state->narguments = list_length(aggregate->args);
	state->arguments = palloc(sizeof(ExprState *) * Max(state->narguments, 1));
	state->values = palloc(sizeof(Datum) * Max(state->narguments, 1));
	state->isnull = palloc(sizeof(bool) * Max(state->narguments, 1));
	foreach(cell, aggregate->args)
		state->arguments[foreach_current_index(cell)] =
			row_expression(node, lfirst_node(TargetEntry, cell)->expr);
}

/* Does it come down to adding a stream's batches, whatever rows they become? */
static bool
takes_batches(const AggregateState *state, const TableScan *source)
{
	return state->key_column < 0 && table_scan_takes_batches(source) &&
		(state->function == NULL || aggregate_function_is_strict(state->function));
}

/* Are windows all that is needed?  Then say where each column is. */
static bool
find_columns(AggregateScan *scan, TableScan *source)
{
	bool		places = false;

	if (scan->rows != NULL)
		return false;
	for (int a = 0; a < scan->naggregates; a++)
	{
		AggregateState *state = &scan->aggregates[a];

		if (state->filter != NULL || state->narguments > 0)
			return false;
		if (source != NULL && state->column != 0 && state->key_column < 0)
		{
			state->vector = table_scan_vector(source, state->column);
			places |= !takes_batches(state, source);
		}
	}
	if (source != NULL && !places && table_scan_takes_batches(source))
		table_scan_forgo_positions(source);
	return true;
}

AggregateScan *
aggregate_scan_begin(ForeignScanState *node, OuterScanState *outer)
{
	const ForeignScan *plan = (const ForeignScan *) node->ss.ps.plan;
	EState	   *estate = node->ss.ps.state;
	AggregateScan *scan = palloc0(sizeof(AggregateScan));
	Relation	relation = table_open(outer->table->relid, NoLock);
	ListCell   *cell;

	scan->row = MakeSingleTupleTableSlot(CreateTupleDescCopy(RelationGetDescr(relation)),
										 &TTSOpsVirtual);
	table_close(relation, NoLock);
	scan->econtext = CreateExprContext(estate);
	scan->econtext->ecxt_scantuple = scan->row;
	scan->result_context = AllocSetContextCreate(CurrentMemoryContext,
												 "outerjoin_fdw aggregates",
												 ALLOCSET_SMALL_SIZES);
	scan->aggregates = palloc0(sizeof(AggregateState) * list_length(plan->fdw_scan_tlist));
	foreach(cell, plan->fdw_scan_tlist)
	{
		TargetEntry *entry = lfirst_node(TargetEntry, cell);

		if (entry->resjunk)
		{
			if (strcmp(entry->resname, ROW_FILTER_NAME) == 0)
				scan->rows = row_expression(node, entry->expr);
		}
		else
			aggregate_begin(&scan->aggregates[scan->naggregates++],
							castNode(Aggref, entry->expr), node, outer->table);
	}
	scan->by_window = find_columns(scan, outer->scan);
	return scan;
}

static void
start_aggregates(AggregateScan *scan)
{
	MemoryContextReset(scan->result_context);
	for (int a = 0; a < scan->naggregates; a++)
	{
		AggregateState *state = &scan->aggregates[a];

		if (state->function)
			aggregate_function_start(state->function);
		else
			accumulator_init(&state->accumulator, state->accumulator.task,
							 state->accumulator.type);
	}
}

void
aggregate_scan_rescan(AggregateScan *scan)
{
	scan->done = false;
}

/* ------------------------------------------------------------ window by window */

/* A row's value of the aggregate's column. */
static inline Datum
window_value(const AggregateState *state, const TableScan *source, const MergeWindow *window,
			 int row, bool *isnull)
{
	int			slot = window->slot ? window->slot[row] : row;
	int			position;

	if (state->key_column >= 0)
	{
		*isnull = false;
		return table_scan_window_key(source, row, state->key_column);
	}
	position = window->position[state->input][slot];
	*isnull = state->vector->isnull[position];
	return state->vector->values[position];
}

/* Value by value, each calling the aggregate's own function. */
static void
call_for_window(AggregateScan *scan, AggregateState *state, const TableScan *source,
				const MergeWindow *window)
{
	MemoryContext memory = scan->econtext->ecxt_per_tuple_memory;
	MemoryContext old = MemoryContextSwitchTo(memory);
	bool		by_batch = takes_batches(state, source);
	int			from = 0;
	int			n = window->nrows;

	if (by_batch)
		n = table_scan_batch_rows(source, state->input, &from);
	for (int r = from; r < from + n; r++)
	{
		bool		isnull;
		Datum		value;

		if (by_batch)
		{
			isnull = state->vector->isnull[r];
			value = state->vector->values[r];
		}
		else
			value = window_value(state, source, window, r, &isnull);
		aggregate_function_add(state->function, &value, &isnull);
		MemoryContextReset(memory);
	}
	MemoryContextSwitchTo(old);
}

/* A key that is no plain integer has to be asked for, a row at a time. */
static void
add_keys(AggregateState *state, const TableScan *source, const MergeWindow *window)
{
	Datum		values[64];

	for (int r = 0; r < window->nrows; r += (int) lengthof(values))
	{
		int			n = Min(window->nrows - r, (int) lengthof(values));

		for (int i = 0; i < n; i++)
			values[i] = table_scan_window_key(source, r + i, state->key_column);
		accumulate_run(&state->accumulator, values, NULL, n);
	}
}

static void
add_window(AggregateScan *scan, AggregateState *state, const TableScan *source,
		   const MergeWindow *window)
{
	Accumulator *accumulator = &state->accumulator;

	if (state->function)
		call_for_window(scan, state, source, window);
	else if (state->column == 0 ||
			 (accumulator->task == ACCUMULATE_COUNT && state->key_column >= 0))
		accumulate_rows(accumulator, window->nrows);
	else if (state->key_column >= 0)
	{
		if (window->key)
			accumulate_slots(accumulator, window->key, NULL, NULL, window->slot, window->nrows);
		else
			add_keys(state, source, window);
	}
	else if (table_scan_takes_batches(source))
	{
		int			from;
		int			n = table_scan_batch_rows(source, state->input, &from);

		accumulate_run(accumulator, state->vector->values + from, state->vector->isnull + from, n);
	}
	else
		accumulate_slots(accumulator, state->vector->values, state->vector->isnull,
						 window->position[state->input], window->slot, window->nrows);
}

static void
add_windows(AggregateScan *scan, TableScan *source)
{
	const MergeWindow *window;

	while ((window = table_scan_next_window(source)) != NULL)
	{
		for (int a = 0; a < scan->naggregates; a++)
			add_window(scan, &scan->aggregates[a], source, window);
	}
}

/* ------------------------------------------------------------ row by row */

static void
add_row(AggregateScan *scan, AggregateState *state, const Datum *values, const bool *isnull)
{
	if (state->filter)
	{
		bool		unknown;
		Datum		passes = ExecEvalExpr(state->filter, scan->econtext, &unknown);

		if (unknown || !DatumGetBool(passes))
			return;
	}
	if (state->column != 0)
	{
		values += state->column - 1;
		isnull += state->column - 1;
	}
	else
	{
		for (int i = 0; i < state->narguments; i++)
			state->values[i] = ExecEvalExpr(state->arguments[i], scan->econtext, &state->isnull[i]);
		values = state->values;
		isnull = state->isnull;
	}
	if (state->function)
		aggregate_function_add(state->function, values, isnull);
	else if (state->accumulator.task == ACCUMULATE_ROWS)
		accumulate_rows(&state->accumulator, 1);
	else
		accumulate_value(&state->accumulator, *values, *isnull);
}

/* The slot's arrays are pointed to where the row stands, as in scan.c. */
static void
add_rows(AggregateScan *scan, TableScan *source)
{
	TupleTableSlot *row = scan->row;
	MemoryContext memory = scan->econtext->ecxt_per_tuple_memory;
	MemoryContext old = MemoryContextSwitchTo(memory);

	row->tts_flags &= ~TTS_FLAG_EMPTY;
	row->tts_nvalid = row->tts_tupleDescriptor->natts;
	while (table_scan_next(source, &row->tts_values, &row->tts_isnull))
	{
		bool		unknown = false;

		MemoryContextReset(memory);
		if (scan->rows &&
			(!DatumGetBool(ExecEvalExpr(scan->rows, scan->econtext, &unknown)) || unknown))
			continue;
		for (int a = 0; a < scan->naggregates; a++)
			add_row(scan, &scan->aggregates[a], row->tts_values, row->tts_isnull);
	}
	MemoryContextSwitchTo(old);
}

/* ------------------------------------------------------------ the result */

TupleTableSlot *
aggregate_scan_next(ForeignScanState *node, OuterScanState *outer)
{
	AggregateScan *scan = outer->aggregates;
	TupleTableSlot *slot = node->ss.ss_ScanTupleSlot;
	MemoryContext old;

	ExecClearTuple(slot);
	if (scan->done)
		return slot;
	start_aggregates(scan);
	outer_scan_start(node, outer);
	do
	{
		if (scan->by_window)
			add_windows(scan, outer->scan);
		else
			add_rows(scan, outer->scan);
	} while (outer_scan_next_range(outer));

	old = MemoryContextSwitchTo(scan->result_context);
	memset(slot->tts_isnull, true, sizeof(bool) * slot->tts_tupleDescriptor->natts);
	for (int a = 0; a < scan->naggregates; a++)
	{
		AggregateState *state = &scan->aggregates[a];

		slot->tts_values[a] = state->function ?
			aggregate_function_result(state->function, &slot->tts_isnull[a]) :
			accumulator_result(&state->accumulator, &slot->tts_isnull[a]);
	}
	MemoryContextSwitchTo(old);
	scan->done = true;
	return ExecStoreVirtualTuple(slot);
}

/* ------------------------------------------------------------ EXPLAIN */

/* Junk as the plan of a plain scan shows its clauses. */
static void
explain_junk(const TargetEntry *entry, const char *label, List *context, ExplainState *es)
{
	List	   *clauses = list_copy_tail(((const BoolExpr *) entry->expr)->args, 1);

	ExplainPropertyText(label, deparse_expression((Node *) make_ands_explicit(clauses), context,
												  es->verbose, false), es);
}

void
aggregate_explain(ForeignScanState *node, ExplainState *es)
{
	ForeignScan *plan = (ForeignScan *) node->ss.ps.plan;
	OuterScanState *outer = node->fdw_state;
	List	   *context = set_deparse_context_plan(es->deparse_cxt, (Plan *) plan, NIL);
	List	   *shown = NIL;
	ListCell   *cell;

	ExplainPropertyText("Foreign Table", outer->table->table_name, es);
	foreach(cell, plan->fdw_scan_tlist)
	{
		TargetEntry *entry = lfirst_node(TargetEntry, cell);

		if (!entry->resjunk)
			shown = lappend(shown, deparse_expression((Node *) entry->expr, context,
													  es->verbose, false));
	}
	ExplainPropertyList("Foreign Aggregates", shown, es);
	foreach(cell, plan->fdw_scan_tlist)
	{
		TargetEntry *entry = lfirst_node(TargetEntry, cell);

		if (entry->resjunk)
			explain_junk(entry, strcmp(entry->resname, ROW_FILTER_NAME) == 0 ?
						 "Foreign Filter" : "Early Filter", context, es);
	}
}
