/*-------------------------------------------------------------------------
 *
 * plan.c
 *	  Sizes, paths and plans.
 *
 * A pass over all streams, in key order, over the range of keys that the clauses
 * leave.  It claims an order only in terms of equivalence classes that the
 * query has already, so that it never makes the planner's work more.  A second
 * one goes from the streams' ends to their tops, where the query wants that order
 * and they can be read so.  And where rows of other tables bound the key, a pass
 * over the range of each of their rows.
 *
 * Refuses to know: which clauses make a range (prune.c), and files.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "compat.h"

#include <math.h>

#include "access/sysattr.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/planmain.h"
#include "optimizer/restrictinfo.h"
#include "parser/parsetree.h"
#include "utils/acl.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"

#include "fdw/aggregate.h"
#include "fdw/estimate.h"
#include "fdw/fdw.h"
#include "fdw/filter.h"
#include "fdw/parameterized.h"
#include "fdw/plan.h"
#include "fdw/prune.h"
#include "fdw/require.h"
#include "fdw/table_scan.h"
#include "fdw/unique_key.h"
#include "stream/stream.h"

/* What GetForeignRelSize finds out, for the callbacks after it. */
typedef struct OuterPlanState
{
	TableSpec  *table;
	Bitmapset  *needed;			/* attribute numbers of the columns asked for */
	List	   *key_clauses;	/* of KeyClause */
	StreamRole *roles;			/* of each stream */
	List	   *early_clauses;	/* of EarlyClause */
	double		stream_rows;	/* of all streams that are read together */
	double		fraction;		/* of the rows that lie in the range */
	double		made_rows;		/* that come out of the merge */
	double		bytes;			/* of all streams */
	double		read_bytes;		/* of those that are read */
	bool		can_seek;		/* all of those can start at a key */
	bool		can_go_back;	/* ... and can be read from their ends */
	double		seeks;			/* to as many ranges as there are elements of an array */
	double		seek_rows;		/* a seek in all streams takes the time of so many rows */
	bool		has_range;		/* images of the first and last key are known */
	double		first;
	double		last;
} OuterPlanState;

/* Shares of the server's cost units, measured against its own scans. */
#define STREAM_ROW_COST		(0.5 * cpu_operator_cost)
#define FIELD_COST			(0.5 * cpu_operator_cost)
#define SEEK_PAGES			8.0

/* The same for scans that come one after the other: each, and each of its streams. */
#define SCAN_COST			(180 * cpu_operator_cost)
#define SEEK_COST			(500 * cpu_operator_cost)

/*
 * The columns whose values the query asks for.  A whole-row reference asks
 * for all.
 */
static Bitmapset *
plan_needed_columns(RelOptInfo *rel, const TableSpec *table)
{
	Bitmapset  *used = NULL;
	Bitmapset  *needed = NULL;
	ListCell   *cell;
	bool		whole;

	pull_varattnos((Node *) rel->reltarget->exprs, rel->relid, &used);
	foreach(cell, rel->baserestrictinfo)
		pull_varattnos((Node *) lfirst_node(RestrictInfo, cell)->clause, rel->relid, &used);

	whole = bms_is_member(InvalidAttrNumber - FirstLowInvalidHeapAttributeNumber, used);
	for (int attnum = 1; attnum <= table->ncolumns; attnum++)
	{
		if (table->columns[attnum - 1].kind == COLUMN_DROPPED)
			continue;
		if (whole || bms_is_member(attnum - FirstLowInvalidHeapAttributeNumber, used))
			needed = bms_add_member(needed, attnum);
	}
	return needed;
}

/* The range as far as it is known when planning: constants only. */
static double
plan_range_fraction(PlannerInfo *root, const OuterPlanState *state, const StreamFacts *facts)
{
	KeyCondition *conditions = palloc0(sizeof(KeyCondition) *
									   Max(list_length(state->key_clauses), 1));
	KeyRange	range;
	ListCell   *cell;
	int			n = 0;

	foreach(cell, state->key_clauses)
	{
		const KeyClause *clause = lfirst(cell);
		Node	   *value = NULL;

		if (clause->test != KEY_NULL)
		{
			value = estimate_expression_value(root, (Node *) clause->value);
			if (!IsA(value, Const))
				return -1;
		}
		conditions[n].column = clause->column;
		conditions[n].test = clause->test;
		conditions[n].value_type = clause->value_type;
		conditions[n].isnull = value == NULL || ((Const *) value)->constisnull;
		conditions[n].value = value ? ((Const *) value)->constvalue : (Datum) 0;
		n++;
	}
	key_range_build(state->table, conditions, n, &range);
	if (!range.empty && !range.has_lower && !range.has_upper)
		return 1;
	return range_fraction(state->table->key, state->table->nstreams, facts, &range);
}

/* The restriction clauses that the key range does not stand for. */
static List *
plan_other_clauses(RelOptInfo *rel, const OuterPlanState *state)
{
	List	   *others = NIL;
	ListCell   *cell;

	foreach(cell, rel->baserestrictinfo)
	{
		bool		found = false;
		ListCell   *inner;

		foreach(inner, state->key_clauses)
			found |= ((const KeyClause *) lfirst(inner))->source == lfirst(cell);
		if (!found)
			others = lappend(others, lfirst(cell));
	}
	return others;
}

/* Rows of the table: ANALYZE's density where it has been run, else the streams'. */
static double
plan_table_rows(RelOptInfo *rel, const OuterPlanState *state, const StreamFacts *facts)
{
	double		pages = ceil(state->bytes / BLCKSZ);

	if (rel->tuples > 0 && rel->pages > 0)
		return rint(rel->tuples / rel->pages * Max(pages, 1));
	return union_rows(state->table->key, state->table->nstreams, facts);
}

/* Elements of the array that is gone through, or 1. */
static double
plan_elements(PlannerInfo *root, List *key_clauses)
{
	const KeyClause *clause = key_clause_with_elements(key_clauses);

	(void) root;				/* not all releases ask for it */
	return clause == NULL ? 1 : Max(compat_estimate_array_length(root, (Node *) clause->value), 1);
}

/* The clauses that a range stands for. */
static List *
plan_ranged_clauses(List *key_clauses)
{
	List	   *ranged = NIL;
	ListCell   *cell;

	foreach(cell, key_clauses)
		ranged = lappend(ranged, ((const KeyClause *) lfirst(cell))->source);
	return ranged;
}

/* An array's elements are no range from its least to its greatest. */
static void
plan_array_seeks(PlannerInfo *root, RelOptInfo *rel, OuterPlanState *state, double *selectivity)
{
	double		all;
	double		ranged;

	state->seeks = plan_elements(root, state->key_clauses);
	if (state->seeks <= 1)
		return;
	ranged = clauselist_selectivity(root, plan_ranged_clauses(state->key_clauses), rel->relid,
									JOIN_INNER, NULL);
	all = clauselist_selectivity(root, rel->baserestrictinfo, rel->relid, JOIN_INNER, NULL);
	state->fraction = Min(state->fraction, ranged);
	*selectivity = Min(*selectivity, all);
}

/*
 * May the query's user read anything of the table at all?  The server asks
 * only when the plan is executed, but what looking at a file reports (its
 * fields' names, for one) is not for everybody who can make a plan.  A
 * partition or child is read with the rights to the table that was named.
 */
static bool
plan_may_look(PlannerInfo *root, RelOptInfo *rel)
{
	Oid			user = OidIsValid(rel->userid) ? rel->userid : GetUserId();
	Index		index = rel->relid;
	Oid			relid;

	while (root->append_rel_array != NULL && root->append_rel_array[index] != NULL)
	{
		Index		parent = root->append_rel_array[index]->parent_relid;

		if (planner_rt_fetch(parent, root)->rtekind != RTE_RELATION)
			break;
		index = parent;
	}
	relid = planner_rt_fetch(index, root)->relid;
	return pg_class_aclcheck(relid, user, ACL_SELECT) == ACLCHECK_OK ||
		pg_attribute_aclcheck_all(relid, user, ACL_SELECT, ACLMASK_ANY) == ACLCHECK_OK;
}

void
outerjoinGetForeignRelSize(PlannerInfo *root, RelOptInfo *rel, Oid relid)
{
	OuterPlanState *state = palloc0(sizeof(OuterPlanState));
	StreamFacts *facts;
	double		selectivity;
	double		present;		/* rows that have the required streams' keys */
	bool		may_look = plan_may_look(root, rel);

	state->table = table_spec_build(relid);
	state->needed = plan_needed_columns(rel, state->table);
	state->key_clauses = key_clauses_find(root, rel, state->table, rel->baserestrictinfo);
	state->roles = stream_roles_find(root, rel, state->table, state->needed);
	state->early_clauses = early_clauses_find(root, rel, state->table, state->roles,
											  rel->baserestrictinfo);
	state->can_seek = true;
	state->can_go_back = outerjoin_backward;
	facts = palloc0(sizeof(StreamFacts) * state->table->nstreams);
	for (int s = 0; s < state->table->nstreams; s++)
	{
		if (may_look)
			stream_facts(&state->table->streams[s], state->table->key, &facts[s]);
		state->bytes += facts[s].bytes;
		if (state->roles[s] == STREAM_NOT_READ)
			continue;
		state->stream_rows += facts[s].rows;
		state->read_bytes += facts[s].bytes;
		state->can_seek &= facts[s].can_seek;
		state->can_go_back &= facts[s].can_go_back;
		state->seek_rows += facts[s].seek_rows;
		if (!facts[s].has_range)
			continue;
		state->first = state->has_range ? Min(state->first, (double) facts[s].first) : (double) facts[s].first;
		state->last = state->has_range ? Max(state->last, (double) facts[s].last) : (double) facts[s].last;
		state->has_range = true;
	}

	unique_key_declare(rel, state->table);
	rel->tuples = plan_table_rows(rel, state, facts);
	rel->pages = (BlockNumber) Min(ceil(state->bytes / BLCKSZ), (double) MaxBlockNumber);
	state->fraction = state->key_clauses ? plan_range_fraction(root, state, facts) : 1;
	if (state->fraction >= 0)
		selectivity = state->fraction *
			clauselist_selectivity(root, plan_other_clauses(rel, state),
								   rel->relid, JOIN_INNER, NULL);
	else
	{
		List	   *ranged = plan_ranged_clauses(state->key_clauses);

		state->fraction = clauselist_selectivity(root, ranged, rel->relid, JOIN_INNER, NULL);
		selectivity = clauselist_selectivity(root, rel->baserestrictinfo, rel->relid,
											 JOIN_INNER, NULL);
	}
	plan_array_seeks(root, rel, state, &selectivity);
	rel->rows = rel->tuples * selectivity;
	state->made_rows = rel->tuples * state->fraction;
	present = intersection_rows(state->table->key, state->table->nstreams, facts, state->roles);
	if (present >= 0)
	{
		rel->rows = Min(rel->rows, present * state->fraction);
		state->made_rows = Min(state->made_rows, present * state->fraction);
	}
	rel->rows = clamp_row_est(rel->rows);
	rel->fdw_private = state;
}

/*
 * A wanted order differs from ours in nothing but where nulls go, and a key is
 * never null: then it is ours as well.
 */
static PathKey *
plan_wanted_pathkey(PlannerInfo *root, PathKey *ours, int place)
{
	PathKey    *wanted;

	if (place >= list_length(root->query_pathkeys))
		return ours;
	wanted = list_nth(root->query_pathkeys, place);
	if (wanted->pk_eclass == ours->pk_eclass &&
		wanted->pk_opfamily == ours->pk_opfamily &&
		compat_pathkey_direction(wanted) == compat_pathkey_direction(ours))
		return wanted;
	return ours;
}

/* Has the order an equal of this already?  Then the rest goes on without it. */
static bool
plan_orders_by(List *pathkeys, EquivalenceClass *eclass)
{
	ListCell   *cell;

	foreach(cell, pathkeys)
		if (lfirst_node(PathKey, cell)->pk_eclass == eclass)
			return true;
	return false;
}

/*
 * The order of the rows, as far as the query has a use for it: a prefix of
 * the key columns for which equivalence classes exist.
 */
static List *
plan_pathkeys(PlannerInfo *root, RelOptInfo *rel, const OuterPlanState *state, const Key *key)
{
	const TableSpec *table = state->table;
	List	   *pathkeys = NIL;

	for (int k = 0; k < key->ncolumns; k++)
	{
		const KeyColumn *column = &key->columns[k];
		Expr	   *expr = (Expr *) makeVar(rel->relid, table->key_attnums[k], column->type,
											column->typmod, column->collation, 0);
		List	   *one = compat_build_expression_pathkey(root, expr, column->sort_operator, rel);
		PathKey    *pathkey;

		if (one == NIL)
			break;
		pathkey = linitial(one);
		if (EC_MUST_BE_REDUNDANT(pathkey->pk_eclass) ||
			plan_orders_by(pathkeys, pathkey->pk_eclass))
			continue;
		pathkey = plan_wanted_pathkey(root, pathkey, list_length(pathkeys));
		pathkeys = lappend(pathkeys, pathkey);
	}
	return pathkeys;
}

/* Which part of the streams holds values that are asked for. */
static double
plan_fields(const OuterPlanState *state)
{
	double		fields = 0;

	for (int s = 0; s < state->table->nstreams; s++)
		fields += state->roles[s] != STREAM_KEYS_ONLY && state->roles[s] != STREAM_NOT_READ;
	return fields / Max(state->table->nstreams, 1);
}

/* Does each column of the key equal one value? */
static bool
key_is_given(const TableSpec *table, List *key_clauses)
{
	Bitmapset  *equal = NULL;
	ListCell   *cell;

	foreach(cell, key_clauses)
	{
		const KeyClause *clause = lfirst(cell);

		if (clause->test == KEY_EQUAL)
			equal = bms_add_member(equal, clause->column);
	}
	return bms_num_members(equal) == table->key->ncolumns;
}

/* One seek in all streams, without its pages. */
static Cost
plan_seek_cost(const OuterPlanState *state)
{
	return SCAN_COST + state->table->nstreams * SEEK_COST + state->seek_rows * STREAM_ROW_COST;
}

/*
 * To find "read" rows of the table somewhere, in one scan out of so many that
 * go to and fro: pages that one has read, the next finds in the cache.
 */
static Cost
plan_random_cost(PlannerInfo *root, RelOptInfo *rel, const OuterPlanState *state,
				 double read, double seeks, double loops)
{
	int			nstreams = Max(state->table->nstreams, 1);
	double		pages = Max(rel->pages / (double) nstreams, 1);
	double		each = read / Max(rel->tuples, 1) * pages + seeks;

	if (loops > 1)
		each = index_pages_fetched(loops * each, (BlockNumber) pages, 0, root) / loops;
	return nstreams * Min(each, pages) * random_page_cost + seeks * plan_seek_cost(state);
}

/*
 * The same for scans each of which begins not far behind the end of the one
 * before it: together they read the stretch that they cover, all but once.
 */
static Cost
plan_forward_cost(RelOptInfo *rel, const OuterPlanState *state, double stretch, double loops)
{
	Cost		pages = rel->pages * seq_page_cost;
	Cost		rows = state->stream_rows * STREAM_ROW_COST;

	return SCAN_COST + stretch * (pages + rows) / loops;
}

/* Which part of the table the values that an expression may have cover. */
static double
plan_stretch(const OuterPlanState *state, bool has_range, double least, double greatest)
{
	if (!has_range || !state->has_range)
		return 1;
	least = Max(least, state->first);
	greatest = Min(greatest, state->last);
	return Max(greatest - least, 0) / Max(state->last - state->first, 1);
}

/*
 * One scan out of so many, until it stands where its rows are.  The values of
 * the first column say whether they go forward.
 */
static Cost
plan_position_cost(PlannerInfo *root, RelOptInfo *rel, const OuterPlanState *state,
				   List *key_clauses, double read, double loops)
{
	const KeyClause *first = linitial(key_clauses);
	double		seeks = plan_elements(root, key_clauses);
	Cost		random = plan_random_cost(root, rel, state, read, seeks, loops);
	Cost		forward;
	bool		has_range;
	double		least;
	double		greatest;
	double		order;

	if (first->test != KEY_EQUAL || loops <= 1)
		return random;
	order = parameterized_order(root, state->table->key, (Node *) first->value,
								&has_range, &least, &greatest);
	order *= order;
	forward = plan_forward_cost(rel, state, plan_stretch(state, has_range, least, greatest), loops);
	return order * Min(forward, random) + (1 - order) * random;
}

/* Add a path whose range comes from rows of these relations, if it can. */
static void
plan_add_parameterized(PlannerInfo *root, RelOptInfo *rel, const OuterPlanState *state,
					   Relids sources)
{
	Relids		required = bms_union(sources, rel->lateral_relids);
	ParamPathInfo *info = get_baserel_parampathinfo(root, rel, required);
	List	   *clauses = list_concat_copy(info->ppi_clauses, rel->baserestrictinfo);
	List	   *key_clauses = key_clauses_find(root, rel, state->table, clauses);
	double		loops = parameterized_loops(root, rel, sources);
	double		read;			/* rows of the table in the range */
	QualCost	checks;
	Cost		cost;
	Path	   *path;

	if (key_clauses == NIL || ((const KeyClause *) linitial(key_clauses))->column != 0)
		return;
	read = rel->tuples * clauselist_selectivity(root, plan_ranged_clauses(key_clauses),
												rel->relid, JOIN_INNER, NULL);
	if (key_is_unique(state->table) && key_is_given(state->table, key_clauses))
		read = 1;
	read = Max(read, 1);
	info->ppi_rows = clamp_row_est(Min(info->ppi_rows, read));

	cost_qual_eval(&checks, info->ppi_clauses, root);
	cost = plan_position_cost(root, rel, state, key_clauses, read, loops);
	cost += read / Max(rel->tuples, 1) * state->stream_rows *
		(STREAM_ROW_COST + plan_fields(state) * FIELD_COST);
	cost += read * (cpu_tuple_cost + rel->baserestrictcost.per_tuple + checks.per_tuple);
	cost += info->ppi_rows * rel->reltarget->cost.per_tuple;
	cost += rel->baserestrictcost.startup + checks.startup + rel->reltarget->cost.startup;

	path = (Path *) compat_create_foreignscan_path(root, rel, NULL, info->ppi_rows,
												   cost - cpu_tuple_cost, cost,
												   NIL, required, NULL,
												   list_make1(makeBoolean(false)));
	path->parallel_safe = false;
	add_path(rel, path);
}

/* What reading and merging the range of all streams costs, before rows are made of it. */
static void
plan_stream_cost(const OuterPlanState *state, Cost *startup, Cost *pages, Cost *run)
{
	double		read = state->can_seek ? state->fraction : 1;
	double		fields = plan_fields(state);

	*startup = state->key_clauses ? SEEK_PAGES * state->table->nstreams * seq_page_cost : 0;
	if (state->can_seek && state->seeks > 1)
		*startup += (state->seeks - 1) * plan_seek_cost(state);
	*pages = read * state->read_bytes / BLCKSZ * seq_page_cost;
	*run = read * state->stream_rows * (STREAM_ROW_COST + fields * FIELD_COST);
}

void
plan_aggregate_base(RelOptInfo *rel, AggregateBase *base)
{
	const OuterPlanState *state = rel->fdw_private;
	Cost		pages;

	base->table = state->table;
	base->key_clauses = state->key_clauses;
	base->early_clauses = state->early_clauses;
	base->roles = state->roles;
	base->rows = state->made_rows;
	plan_stream_cost(state, &base->startup, &pages, &base->run);
	base->run += pages;
}

/* The order of the rows the other way, where the query asks for it; else NIL. */
static List *
plan_backward_pathkeys(PlannerInfo *root, RelOptInfo *rel, const OuterPlanState *state)
{
	List	   *pathkeys;

	if (!state->can_go_back || root->query_pathkeys == NIL)
		return NIL;
	pathkeys = plan_pathkeys(root, rel, state, key_flipped(state->table->key));
	if (pathkeys == NIL || linitial(pathkeys) != linitial(root->query_pathkeys))
		return NIL;
	return pathkeys;
}

/* What one of so many workers and the leader has to do of the whole, as the server sees it. */
static double
plan_parallel_share(int workers)
{
	double		leader = parallel_leader_participation ? 1 - 0.3 * workers : 0;

	return 1 / (workers + Max(leader, 0));
}

/*
 * Several processes can read the table where all streams can start at a key.
 * Of a small one there is such a path, too, since what it is joined with may
 * be large: the path of one process may be part of no parallel plan, for
 * nothing would make sure there that all processes read the same files.
 */
static void
plan_add_partial_path(PlannerInfo *root, RelOptInfo *rel, const OuterPlanState *state,
					  Cost startup, Cost pages, Cost run, List *pathkeys)
{
	int			workers;
	double		share;
	Path	   *path;

	if (!rel->consider_parallel || rel->lateral_relids != NULL || !state->can_seek ||
		max_parallel_workers_per_gather <= 0)
		return;
	/* parts of a range are shared out, not elements of an array */
	if (key_clause_with_elements(state->key_clauses) != NULL)
		return;
	workers = compute_parallel_worker(rel, rel->pages, -1, max_parallel_workers_per_gather);
	workers = Max(workers, 1);
	share = plan_parallel_share(workers);
	path = (Path *) compat_create_foreignscan_path(root, rel, NULL,
												   clamp_row_est(rel->rows * share),
												   startup, startup + pages + run * share,
												   pathkeys, NULL, NULL,
												   list_make1(makeBoolean(false)));
	path->parallel_aware = true;
	path->parallel_safe = true;
	path->parallel_workers = workers;
	add_partial_path(rel, path);
}

void
outerjoinGetForeignPaths(PlannerInfo *root, RelOptInfo *rel, Oid relid)
{
	OuterPlanState *state = rel->fdw_private;
	Cost		startup;
	Cost		pages;
	Cost		run;
	List	   *pathkeys = plan_pathkeys(root, rel, state, state->table->key);
	List	   *backward;
	Path	   *path;
	ListCell   *cell;

	(void) relid;
	plan_stream_cost(state, &startup, &pages, &run);
	startup += rel->baserestrictcost.startup + rel->reltarget->cost.startup;
	run += state->made_rows * (cpu_tuple_cost + rel->baserestrictcost.per_tuple);
	run += rel->rows * rel->reltarget->cost.per_tuple;

	path = (Path *) compat_create_foreignscan_path(root, rel, NULL, rel->rows,
												   startup, startup + pages + run, pathkeys,
												   rel->lateral_relids, NULL,
												   list_make1(makeBoolean(false)));
	path->parallel_safe = false;
	add_path(rel, path);
	backward = plan_backward_pathkeys(root, rel, state);
	if (backward != NIL)
	{
		path = (Path *) compat_create_foreignscan_path(root, rel, NULL, rel->rows,
													   startup, startup + pages + run, backward,
													   rel->lateral_relids, NULL,
													   list_make1(makeBoolean(true)));
		path->parallel_safe = false;
		add_path(rel, path);
	}
	plan_add_partial_path(root, rel, state, startup, pages, run, pathkeys);

	if (!outerjoin_parameterized_paths || !state->can_seek)
		return;
	foreach(cell, parameterized_sources(root, rel, state->table))
		plan_add_parameterized(root, rel, state, lfirst(cell));
}

static bool
plan_tests_early(const OuterPlanState *state, const RestrictInfo *source)
{
	ListCell   *cell;

	foreach(cell, state->early_clauses)
		if (((const EarlyClause *) lfirst(cell))->source == source)
			return true;
	return false;
}

/*
 * The needed columns without those that nobody asks for but clauses which the
 * executor has not to evaluate.
 */
static Bitmapset *
plan_shown_columns(RelOptInfo *rel, const OuterPlanState *state, List *checked)
{
	Bitmapset  *used = NULL;
	Bitmapset  *shown = NULL;
	int			attnum = -1;

	pull_varattnos((Node *) rel->reltarget->exprs, rel->relid, &used);
	pull_varattnos((Node *) checked, rel->relid, &used);
	if (bms_is_member(InvalidAttrNumber - FirstLowInvalidHeapAttributeNumber, used))
		return bms_copy(state->needed);
	while ((attnum = bms_next_member(state->needed, attnum)) >= 0)
	{
		if (bms_is_member(attnum - FirstLowInvalidHeapAttributeNumber, used))
			shown = bms_add_member(shown, attnum);
	}
	return shown;
}

ForeignScan *
outerjoinGetForeignPlan(PlannerInfo *root, RelOptInfo *rel, Oid relid, ForeignPath *path,
						List *tlist, List *clauses, Plan *outer_plan)
{
	OuterPlanState *state = rel->fdw_private;
	List	   *checked = NIL;	/* clauses that the executor evaluates */
	List	   *ranged = NIL;	/* clauses that the range stands for */
	List	   *early = NIL;	/* clauses that streams' rows are tested with */
	List	   *values = NIL;
	List	   *needed = NIL;
	List	   *early_encoded;
	Bitmapset  *shown;
	int			attnum = -1;
	List	   *key_clauses;	/* of the table's own clauses and, with parameters, of joins' */
	ListCell   *cell;

	if (IS_UPPER_REL(rel))
		return aggregate_plan(root, rel, path, tlist, outer_plan);
	(void) relid;
	key_clauses = path->path.param_info == NULL ? state->key_clauses :
		key_clauses_find(root, rel, state->table, clauses);
	foreach(cell, clauses)
	{
		RestrictInfo *source = lfirst_node(RestrictInfo, cell);
		bool		exact = false;
		ListCell   *inner;

		foreach(inner, key_clauses)
		{
			const KeyClause *clause = lfirst(inner);

			exact |= clause->source == source && key_clause_is_exact(key_clauses, clause);
		}
		if (source->pseudoconstant)
			continue;
		if (exact)
			ranged = lappend(ranged, source->clause);
		else if (plan_tests_early(state, source))
			early = lappend(early, source->clause);
		else
			checked = lappend(checked, source->clause);
	}
	foreach(cell, key_clauses)
	{
		const KeyClause *clause = lfirst(cell);

		if (clause->value)
			values = lappend(values, clause->value);
	}
	shown = plan_shown_columns(rel, state, checked);
	while ((attnum = bms_next_member(shown, attnum)) >= 0)
		needed = lappend_int(needed, attnum);
	early_encoded = early_clauses_encode(state->early_clauses, &values);

	return make_foreignscan(tlist, checked, rel->relid, values,
							lappend(list_make5(needed, key_clauses_encode(key_clauses),
											   stream_roles_encode(state->roles, state->table->nstreams),
											   early_encoded, NIL),
									linitial(path->fdw_private)),
							NIL, list_concat(ranged, early), outer_plan);
}
