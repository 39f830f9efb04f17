/*-------------------------------------------------------------------------
 *
 * parameterized.c
 *	  Scans whose range of keys comes from rows of other tables.
 *
 * "key = other.x" may stand in the query, or follow from what does: the server
 * is asked for both.  Sets of other relations are made of the clauses' own:
 * each of them, and together with those of another column, or of another bound
 * of the same one.
 *
 * Refuses to know: what such a scan costs, and how its range is built.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "compat.h"

#include "access/htup_details.h"
#include "catalog/pg_statistic.h"
#include "optimizer/paths.h"
#include "optimizer/restrictinfo.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"

#include "fdw/parameterized.h"
#include "fdw/prune.h"

/* More sets than this make the planner slow and the plan no better. */
#define MAX_SOURCES	16

/* A clause that bounds a key column by rows of other relations. */
typedef struct JoinClause
{
	int			column;			/* of the key */
	Relids		others;
	EquivalenceClass *eclass;	/* that it comes from, or NULL */
} JoinClause;

/* For member_is_key: the column that is looked for. */
typedef struct MemberSearch
{
	const TableSpec *table;
	int			column;
} MemberSearch;

static bool
member_is_key(PlannerInfo *root, RelOptInfo *rel, EquivalenceClass *eclass,
			  EquivalenceMember *member, void *argument)
{
	const MemberSearch *search = argument;

	(void) root;
	(void) eclass;
	return key_column_of(rel, search->table, (Node *) member->em_expr) == search->column;
}

static List *
clause_add(PlannerInfo *root, RelOptInfo *rel, const TableSpec *table, RestrictInfo *source,
		   List *found)
{
	int			column = key_clause_column(root, rel, table, source);
	JoinClause *clause;

	if (column < 0)
		return found;
	clause = palloc(sizeof(JoinClause));
	clause->column = column;
	clause->others = bms_difference(source->clause_relids, rel->relids);
	clause->eclass = source->parent_ec;
	if (bms_is_empty(clause->others) || bms_overlap(clause->others, rel->lateral_referencers))
		return found;
	return lappend(found, clause);
}

/* All clauses of joins that bound the key. */
static List *
join_clauses(PlannerInfo *root, RelOptInfo *rel, const TableSpec *table)
{
	List	   *found = NIL;
	ListCell   *cell;

	foreach(cell, rel->joininfo)
	{
		RestrictInfo *source = lfirst_node(RestrictInfo, cell);

		if (join_clause_is_movable_to(source, rel))
			found = clause_add(root, rel, table, source, found);
	}
	for (int k = 0; rel->has_eclass_joins && k < table->key->ncolumns; k++)
	{
		MemberSearch search = {table, k};
		List	   *implied;

		implied = generate_implied_equalities_for_column(root, rel, member_is_key, &search,
														 rel->lateral_referencers);
		foreach(cell, implied)
			found = clause_add(root, rel, table, lfirst_node(RestrictInfo, cell), found);
	}
	return found;
}

static List *
sources_add(List *sources, Relids relids)
{
	ListCell   *cell;

	foreach(cell, sources)
		if (bms_equal(lfirst(cell), relids))
			return sources;
	return lappend(sources, relids);
}

List *
parameterized_sources(PlannerInfo *root, RelOptInfo *rel, const TableSpec *table)
{
	List	   *clauses = join_clauses(root, rel, table);
	List	   *sources = NIL;
	ListCell   *cell;
	ListCell   *inner;

	foreach(cell, clauses)
		sources = sources_add(sources, ((const JoinClause *) lfirst(cell))->others);
	foreach(cell, clauses)
	{
		const JoinClause *one = lfirst(cell);

		foreach(inner, clauses)
		{
			const JoinClause *other = lfirst(inner);

			if (list_length(sources) >= MAX_SOURCES)
				return sources;
			/* two equals of one column bound it no better than one of them */
			if (one->column < other->column ||
				(one->column == other->column && one->eclass == NULL && other->eclass == NULL))
				sources = sources_add(sources, bms_union(one->others, other->others));
		}
	}
	return sources;
}

/*
 * Rows of the smallest of them, as the server reckons for its own indexes: a
 * join of several has no fewer values to look for, nor many more.
 */
double
parameterized_loops(PlannerInfo *root, RelOptInfo *rel, Relids sources)
{
	double		loops = 0;
	int			index = -1;

	while ((index = bms_next_member(sources, index)) >= 0)
	{
		RelOptInfo *other;

		if (index >= root->simple_rel_array_size || index == (int) rel->relid)
			continue;
		other = root->simple_rel_array[index];
		/* empty, not planned yet, or an outer join's number */
		if (other == NULL || other->rows <= 0)
			continue;
		if (loops == 0 || other->rows < loops)
			loops = other->rows;
	}
	return Max(loops, 1);
}

/* The ends of the expression's histogram, as images of the key. */
static bool
histogram_ends(const Key *key, VariableStatData *variable, double *least, double *greatest)
{
	Oid			type = key->columns[0].type;
	AttStatsSlot slot;
	int64		first;
	int64		last;

	if (!key->exact || !key_type_is_integer_like(variable->atttype) ||
		key_type_is_integer(type) != key_type_is_integer(variable->atttype) ||
		(!key_type_is_integer(type) && type != variable->atttype) ||
		!get_attstatsslot(&slot, variable->statsTuple, STATISTIC_KIND_HISTOGRAM, InvalidOid,
						  ATTSTATSSLOT_VALUES))
		return false;
	if (slot.nvalues < 2)
	{
		free_attstatsslot(&slot);
		return false;
	}
	first = key_integer_value(variable->atttype, slot.values[0]);
	last = key_integer_value(variable->atttype, slot.values[slot.nvalues - 1]);
	free_attstatsslot(&slot);
	*least = (double) (key->columns[0].descending ? ~last : first);
	*greatest = (double) (key->columns[0].descending ? ~first : last);
	return true;
}

double
parameterized_order(PlannerInfo *root, const Key *key, Node *value,
					bool *has_range, double *least, double *greatest)
{
	VariableStatData variable;
	AttStatsSlot slot;
	double		order = 0;

	*has_range = false;
	examine_variable(root, value, 0, &variable);
	if (HeapTupleIsValid(variable.statsTuple) && variable.rel != NULL)
	{
		if (get_attstatsslot(&slot, variable.statsTuple, STATISTIC_KIND_CORRELATION, InvalidOid,
							 ATTSTATSSLOT_NUMBERS))
		{
			if (slot.nnumbers == 1)
				order = key->columns[0].descending ? -slot.numbers[0] : slot.numbers[0];
			free_attstatsslot(&slot);
		}
		*has_range = histogram_ends(key, &variable, least, greatest);
	}
	ReleaseVariableStats(variable);
	return Max(order, 0);
}
