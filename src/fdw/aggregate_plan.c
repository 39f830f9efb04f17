/*-------------------------------------------------------------------------
 *
 * aggregate_plan.c
 *	  Aggregates without GROUP BY: may the scan compute them, and what does it
 *	  cost?
 *
 * All of them or none: with one aggregate that is left to the executor, every
 * row has to be handed to it.  What is around aggregates (count(*) + 1,
 * HAVING) is the executor's in any case.
 *
 * An aggregate of PostgreSQL's own is taken if it needs no order of its own,
 * no DISTINCT, and no more of a row than its columns: most by a loop over
 * columns (see accumulator.h), the others by calling their own transition
 * functions in the order of the rows, which is what the executor would do.
 *
 * min and max of the key alone are not our matter: the server makes "ORDER BY
 * ... LIMIT 1" of them, which ordered paths answer.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "compat.h"

#include "access/sysattr.h"
#include "access/transam.h"
#include "catalog/pg_aggregate.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/planmain.h"
#include "optimizer/tlist.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"

#include "fdw/aggregate.h"
#include "fdw/fdw.h"
#include "fdw/plan.h"
#include "fdw/require.h"

/* What an upper relation's path carries to its plan. */
typedef struct AggregatePlanState
{
	Oid			relid;
	List	   *aggregates;		/* of Aggref */
	List	   *having;			/* clauses over them, the executor's */
	List	   *rows;			/* clauses that a row must fulfil */
	List	   *early;			/* clauses that streams' rows are tested with */
	List	   *key_clauses;
	List	   *early_clauses;
	List	   *roles;			/* encoded */
	List	   *parameters;		/* of Param: in aggregates and rows */
	Bitmapset  *needed;			/* attribute numbers */
	Bitmapset  *nulls;			/* those needed for their nulls alone */
} AggregatePlanState;

/* ------------------------------------------------------------ which aggregates */

static const struct
{
	Oid			function;
	AccumulatorTask task;
	AccumulatorType type;
}			tasks[] =
{
	{F_COUNT_, ACCUMULATE_ROWS, ACCUMULATE_ANY},
	{F_COUNT_ANY, ACCUMULATE_COUNT, ACCUMULATE_ANY},
	{F_SUM_INT2, ACCUMULATE_SUM, ACCUMULATE_INT16},
	{F_SUM_INT4, ACCUMULATE_SUM, ACCUMULATE_INT32},
	{F_SUM_INT8, ACCUMULATE_SUM, ACCUMULATE_INT64},
	{F_SUM_FLOAT4, ACCUMULATE_SUM, ACCUMULATE_FLOAT4},
	{F_SUM_FLOAT8, ACCUMULATE_SUM, ACCUMULATE_FLOAT8},
	{F_AVG_INT2, ACCUMULATE_AVERAGE, ACCUMULATE_INT16},
	{F_AVG_INT4, ACCUMULATE_AVERAGE, ACCUMULATE_INT32},
	{F_AVG_INT8, ACCUMULATE_AVERAGE, ACCUMULATE_INT64},
	{F_AVG_FLOAT4, ACCUMULATE_AVERAGE, ACCUMULATE_FLOAT4},
	{F_AVG_FLOAT8, ACCUMULATE_AVERAGE, ACCUMULATE_FLOAT8},
	{F_MIN_INT2, ACCUMULATE_MIN, ACCUMULATE_INT16},
	{F_MIN_INT4, ACCUMULATE_MIN, ACCUMULATE_INT32},
	{F_MIN_INT8, ACCUMULATE_MIN, ACCUMULATE_INT64},
	{F_MIN_DATE, ACCUMULATE_MIN, ACCUMULATE_INT32},
	{F_MIN_TIMESTAMP, ACCUMULATE_MIN, ACCUMULATE_INT64},
	{F_MIN_TIMESTAMPTZ, ACCUMULATE_MIN, ACCUMULATE_INT64},
	{F_MIN_FLOAT4, ACCUMULATE_MIN, ACCUMULATE_FLOAT4},
	{F_MIN_FLOAT8, ACCUMULATE_MIN, ACCUMULATE_FLOAT8},
	{F_MAX_INT2, ACCUMULATE_MAX, ACCUMULATE_INT16},
	{F_MAX_INT4, ACCUMULATE_MAX, ACCUMULATE_INT32},
	{F_MAX_INT8, ACCUMULATE_MAX, ACCUMULATE_INT64},
	{F_MAX_DATE, ACCUMULATE_MAX, ACCUMULATE_INT32},
	{F_MAX_TIMESTAMP, ACCUMULATE_MAX, ACCUMULATE_INT64},
	{F_MAX_TIMESTAMPTZ, ACCUMULATE_MAX, ACCUMULATE_INT64},
	{F_MAX_FLOAT4, ACCUMULATE_MAX, ACCUMULATE_FLOAT4},
	{F_MAX_FLOAT8, ACCUMULATE_MAX, ACCUMULATE_FLOAT8},
	{F_BOOL_AND, ACCUMULATE_MIN, ACCUMULATE_BOOL},
	{F_EVERY, ACCUMULATE_MIN, ACCUMULATE_BOOL},
	{F_BOOL_OR, ACCUMULATE_MAX, ACCUMULATE_BOOL},
};

bool
aggregate_task(Oid function, AccumulatorTask *task, AccumulatorType *type)
{
	for (int i = 0; i < (int) lengthof(tasks); i++)
	{
		if (tasks[i].function != function)
			continue;
		*task = tasks[i].task;
		*type = tasks[i].type;
		return true;
	}
	return false;
}

AttrNumber
aggregate_column(const Aggref *aggregate)
{
	Node	   *node;

	if (list_length(aggregate->args) != 1)
		return 0;
	node = (Node *) linitial_node(TargetEntry, aggregate->args)->expr;
	while (IsA(node, RelabelType))
		node = (Node *) ((RelabelType *) node)->arg;
	return IsA(node, Var) ? ((Var *) node)->varattno : 0;
}

/* Does evaluating it take more than the values of a row's own columns? */
static bool
asks_for_more_walker(Node *node, void *context)
{
	const Index *relid = context;

	if (node == NULL)
		return false;
	if (IsA(node, Var))
	{
		const Var  *var = (const Var *) node;

		return var->varlevelsup != 0 || (Index) var->varno != *relid || var->varattno <= 0;
	}
	switch (nodeTag(node))
	{
		case T_PlaceHolderVar:
		case T_SubLink:
		case T_SubPlan:
		case T_AlternativeSubPlan:
		case T_WindowFunc:
		case T_GroupingFunc:
		case T_CurrentOfExpr:
		case T_NextValueExpr:
			return true;
		default:
			break;
	}
	return expression_tree_walker(node, asks_for_more_walker, context);
}

static bool
aggregate_is_ours(Aggref *aggregate, Index relid)
{
	/* in the plan, equal aggregates are one: one that is volatile must not be */
	return aggregate->aggfnoid < FirstNormalObjectId &&
		aggregate->agglevelsup == 0 &&
		aggregate->aggkind == AGGKIND_NORMAL &&
		aggregate->aggsplit == AGGSPLIT_SIMPLE &&
		!aggregate->aggvariadic &&
		aggregate->aggorder == NIL &&
		aggregate->aggdistinct == NIL &&
		!asks_for_more_walker((Node *) aggregate, &relid) &&
		!contain_volatile_functions((Node *) aggregate->args) &&
		!contain_volatile_functions((Node *) aggregate->aggfilter);
}

/* All aggregates of the expressions; false if there is anything that we cannot do. */
static bool
collect_aggregates(AggregatePlanState *state, List *exprs, Index relid)
{
	List	   *parts = pull_var_clause((Node *) exprs,
										PVC_INCLUDE_AGGREGATES | PVC_RECURSE_WINDOWFUNCS |
										PVC_INCLUDE_PLACEHOLDERS);
	ListCell   *cell;

	foreach(cell, parts)
	{
		Node	   *part = lfirst(cell);

		if (!IsA(part, Aggref) || !aggregate_is_ours((Aggref *) part, relid))
			return false;
		state->aggregates = list_append_unique(state->aggregates, part);
	}
	return true;
}

/* ------------------------------------------------------------ which clauses */

static bool
is_stood_for(const AggregateBase *base, const RestrictInfo *source)
{
	ListCell   *cell;

	foreach(cell, base->key_clauses)
	{
		const KeyClause *clause = lfirst(cell);

		if (clause->source == source && key_clause_is_exact(base->key_clauses, clause))
			return true;
	}
	return false;
}

static bool
is_tested_early(const AggregateBase *base, const RestrictInfo *source)
{
	ListCell   *cell;

	foreach(cell, base->early_clauses)
		if (((const EarlyClause *) lfirst(cell))->source == source)
			return true;
	return false;
}

/*
 * The server's order of a scan's clauses: what must not leak comes last, what
 * is cheap first.
 */
static bool
is_asked_before(const RestrictInfo *a, const RestrictInfo *b)
{
	if (a->security_level != b->security_level)
		return a->security_level < b->security_level;
	return a->eval_cost.per_tuple < b->eval_cost.per_tuple;
}

static List *
insert_clause(List *sources, RestrictInfo *source)
{
	int			place = list_length(sources);

	while (place > 0 && is_asked_before(source, list_nth(sources, place - 1)))
		place--;
	return list_insert_nth(sources, place, source);
}

/* The clauses of the table that a row must be asked for. */
static bool
collect_row_clauses(AggregatePlanState *state, const AggregateBase *base, RelOptInfo *input)
{
	Index		relid = input->relid;
	List	   *sources = NIL;
	ListCell   *cell;

	foreach(cell, input->baserestrictinfo)
	{
		RestrictInfo *source = lfirst_node(RestrictInfo, cell);

		if (source->pseudoconstant || asks_for_more_walker((Node *) source->clause, &relid))
			return false;
		if (is_stood_for(base, source))
			continue;
		if (is_tested_early(base, source))
			state->early = lappend(state->early, source->clause);
		else
			sources = insert_clause(sources, source);
	}
	foreach(cell, sources)
		state->rows = lappend(state->rows, lfirst_node(RestrictInfo, cell)->clause);
	return true;
}

/* ------------------------------------------------------------ what is needed */

static Bitmapset *
columns_of(Node *node, Index relid)
{
	Bitmapset  *used = NULL;
	Bitmapset  *columns = NULL;
	int			member = -1;

	pull_varattnos(node, relid, &used);
	while ((member = bms_next_member(used, member)) >= 0)
		columns = bms_add_member(columns, member + FirstLowInvalidHeapAttributeNumber);
	return columns;
}

static void
find_needed_columns(AggregatePlanState *state, Index relid)
{
	Bitmapset  *values = columns_of((Node *) state->rows, relid);
	ListCell   *cell;

	foreach(cell, state->aggregates)
	{
		const Aggref *aggregate = lfirst_node(Aggref, cell);
		AttrNumber	column = aggregate_column(aggregate);

		values = bms_join(values, columns_of((Node *) aggregate->aggfilter, relid));
		if (aggregate->aggfnoid == F_COUNT_ANY && column != 0)
			state->nulls = bms_add_member(state->nulls, column);
		else
			values = bms_join(values, columns_of((Node *) aggregate->args, relid));
	}
	state->needed = bms_union(values, state->nulls);

	/* tests on streams' own rows are made with columns that are not needed, too */
	foreach(cell, state->early_clauses)
	{
		const EarlyClause *clause = lfirst(cell);

		if (clause->test != EARLY_NULL && clause->test != EARLY_NOT_NULL)
			values = bms_add_member(values, clause->attnum);
		else
			state->nulls = bms_add_member(state->nulls, clause->attnum);
	}
	state->nulls = bms_difference(state->nulls, values);
}

static bool
collect_parameters_walker(Node *node, void *context)
{
	List	  **parameters = context;

	if (node == NULL)
		return false;
	if (IsA(node, Param))
		*parameters = list_append_unique(*parameters, node);
	return expression_tree_walker(node, collect_parameters_walker, context);
}

/* ------------------------------------------------------------ the path */

/* Shares of the server's cost units, as in plan.c. */
#define ACCUMULATE_COST		(0.1 * cpu_operator_cost)	/* a value, in a loop */
#define ROW_COST			(0.3 * cpu_tuple_cost)	/* a row that clauses look at */

static void
find_cost(PlannerInfo *root, const AggregatePlanState *state, const AggregateBase *base,
		  RelOptInfo *output, Cost *startup, Cost *total)
{
	double		values = 0;
	double		calls = 0;
	bool		by_row = state->rows != NIL;
	QualCost	rows_cost;
	ListCell   *cell;
	Cost		run = base->run;

	foreach(cell, state->aggregates)
	{
		const Aggref *aggregate = lfirst_node(Aggref, cell);
		AccumulatorTask task;
		AccumulatorType type;
		QualCost	cost;

		if (aggregate_task(aggregate->aggfnoid, &task, &type))
			values++;
		else
			calls++;
		if (aggregate->aggfilter || (aggregate->args && aggregate_column(aggregate) == 0))
			by_row = true;
		cost_qual_eval(&cost, aggregate->args, root);
		run += base->rows * cost.per_tuple;
		if (aggregate->aggfilter)
		{
			cost_qual_eval_node(&cost, (Node *) aggregate->aggfilter, root);
			run += base->rows * cost.per_tuple;
		}
	}
	cost_qual_eval(&rows_cost, state->rows, root);
	run += base->rows * (rows_cost.per_tuple + values * ACCUMULATE_COST + calls * cpu_operator_cost);
	if (by_row)
		run += base->rows * ROW_COST;
	*startup = base->startup + rows_cost.startup + run + output->reltarget->cost.startup;
	*total = *startup + output->reltarget->cost.per_tuple;
}

void
outerjoinGetForeignUpperPaths(PlannerInfo *root, UpperRelationKind stage,
							  RelOptInfo *input, RelOptInfo *output, void *extra)
{
	const Query *parse = root->parse;
	GroupPathExtraData *group = extra;
	AggregatePlanState *state;
	AggregateBase base;
	Cost		startup;
	Cost		total;
	Path	   *path;

	if (!outerjoin_aggregates || stage != UPPERREL_GROUP_AGG || output->fdw_private != NULL ||
		!parse->hasAggs || parse->groupClause != NIL || parse->groupingSets != NIL ||
		input->reloptkind != RELOPT_BASEREL || input->fdw_private == NULL || IS_DUMMY_REL(input))
		return;

	state = palloc0(sizeof(AggregatePlanState));
	state->having = (List *) group->havingQual;
	plan_aggregate_base(input, &base);
	state->relid = base.table->relid;
	state->key_clauses = base.key_clauses;
	state->early_clauses = base.early_clauses;
	state->roles = stream_roles_encode(base.roles, base.table->nstreams);
	if (!collect_aggregates(state, output->reltarget->exprs, input->relid) ||
		!collect_aggregates(state, state->having, input->relid) ||
		!collect_row_clauses(state, &base, input))
		return;
	find_needed_columns(state, input->relid);
	collect_parameters_walker((Node *) state->aggregates, &state->parameters);
	collect_parameters_walker((Node *) state->rows, &state->parameters);

	find_cost(root, state, &base, output, &startup, &total);
	output->fdw_private = state;
	path = (Path *) compat_create_foreign_upper_path(root, output, output->reltarget,
													 1, startup, total, NIL, NULL, NIL);

	/* several processes might read different files, as with a scan that is not parallel */
	path->parallel_safe = false;
	add_path(output, path);
}

/* ------------------------------------------------------------ the plan */

static List *
integers_of(const Bitmapset *set)
{
	List	   *integers = NIL;
	int			member = -1;

	while ((member = bms_next_member(set, member)) >= 0)
		integers = lappend_int(integers, member);
	return integers;
}

/*
 * Clauses as one expression that equals no other of the query's, lest it be
 * taken for one.
 */
static List *
add_junk(List *tlist, List *clauses, const char *name)
{
	Expr	   *expr;

	if (clauses == NIL)
		return tlist;
	expr = makeBoolExpr(AND_EXPR, lcons(makeBoolConst(true, false), list_copy(clauses)), -1);
	return lappend(tlist, makeTargetEntry(expr, list_length(tlist) + 1, pstrdup(name), true));
}

static List *
scan_tlist(const AggregatePlanState *state)
{
	List	   *tlist = add_to_flat_tlist(NIL, state->aggregates);

	tlist = add_junk(tlist, state->rows, ROW_FILTER_NAME);
	return add_junk(tlist, state->early, EARLY_FILTER_NAME);
}

ForeignScan *
aggregate_plan(PlannerInfo *root, RelOptInfo *rel, ForeignPath *path, List *tlist, Plan *outer_plan)
{
	const AggregatePlanState *state = rel->fdw_private;
	List	   *exprs = NIL;
	List	   *private = NIL;
	List	   *early_encoded;
	ListCell   *cell;

	(void) root;
	(void) path;
	foreach(cell, state->key_clauses)
	{
		const KeyClause *clause = lfirst(cell);

		if (clause->value)
			exprs = lappend(exprs, clause->value);
	}

	early_encoded = early_clauses_encode(state->early_clauses, &exprs);

	/* the server does not look into fdw_scan_tlist for what a rescan depends on */
	exprs = list_concat(exprs, state->parameters);

	for (int place = 0; place < SCAN_PRIVATE_LENGTH; place++)
	{
		switch ((ScanPrivate) place)
		{
			case SCAN_PRIVATE_NEEDED:
				private = lappend(private, integers_of(state->needed));
				break;
			case SCAN_PRIVATE_KEY_CLAUSES:
				private = lappend(private, key_clauses_encode(state->key_clauses));
				break;
			case SCAN_PRIVATE_ROLES:
				private = lappend(private, state->roles);
				break;
			case SCAN_PRIVATE_EARLY_CLAUSES:
				private = lappend(private, early_encoded);
				break;
			case SCAN_PRIVATE_AGGREGATES:
				private = lappend(private, list_make2(list_make1_oid(state->relid),
													  integers_of(state->nulls)));
				break;
			default:
				private = lappend(private, NIL);
				break;
		}
	}
	return make_foreignscan(tlist, state->having, 0, exprs, private, scan_tlist(state), NIL,
							outer_plan);
}
