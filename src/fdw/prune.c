/*-------------------------------------------------------------------------
 *
 * prune.c
 *	  Clauses on the key as a range of keys.
 *
 * A range is a lower and an upper bound on leading key columns: equalities on
 * the first ones, then whatever bounds the next.  "key = ANY (array)" is a range
 * for each element of one array; another array bounds by its least and greatest
 * element.  A clause that the range does not express exactly stays with the
 * executor.
 *
 * Order is the stream's: on a descending column "key < 5" is a lower bound.
 *
 * Refuses to know: files, and what reading a range spares.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "compat.h"

#include "access/stratnum.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "optimizer/restrictinfo.h"
#include "parser/parse_coerce.h"
#include "utils/array.h"
#include "utils/date.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

#include "fdw/prune.h"

int
key_column_of(RelOptInfo *rel, const TableSpec *table, Node *node)
{
	Var		   *var;

	while (node && IsA(node, RelabelType))
		node = (Node *) ((RelabelType *) node)->arg;
	if (node == NULL || !IsA(node, Var))
		return -1;
	var = (Var *) node;
	if (!bms_is_member(var->varno, rel->relids) || var->varlevelsup != 0)
		return -1;
	for (int k = 0; k < table->key->ncolumns; k++)
		if (table->key_attnums[k] == var->varattno)
			return k;
	return -1;
}

/* Can the expression be evaluated before the scan? */
static bool
is_scan_constant(PlannerInfo *root, RelOptInfo *rel, Node *node)
{
	return !bms_overlap(pull_varnos(root, node), rel->relids) &&
		!contain_volatile_functions(node) && !contain_subplans(node);
}

/*
 * How an operator compares the key column with a value on its right; false if
 * it is not of the order that the key is sorted by, or takes a value that
 * would have to be converted first.
 */
static bool
operator_test(const KeyColumn *column, Oid operator, Oid collation, KeyTest *test, Oid *value_type)
{
	TypeCacheEntry *entry = lookup_type_cache(column->type, TYPECACHE_BTREE_OPFAMILY);
	int			strategy;
	Oid			left;

	if (!OidIsValid(entry->btree_opf) || !op_in_opfamily(operator, entry->btree_opf))
		return false;
	if (OidIsValid(column->collation) && collation != column->collation)
		return false;
	get_op_opfamily_properties(operator, entry->btree_opf, false,
							   &strategy, &left, value_type);
	if (left != entry->btree_opintype && !IsBinaryCoercible(entry->btree_opintype, left))
		return false;
	if (*value_type != left &&
		!(key_type_is_integer(column->type) && key_type_is_integer(*value_type)))
		return false;
	switch (strategy)
	{
		case BTLessStrategyNumber:
			*test = KEY_LESS;
			return true;
		case BTLessEqualStrategyNumber:
			*test = KEY_LESS_EQUAL;
			return true;
		case BTEqualStrategyNumber:
			*test = KEY_EQUAL;
			return true;
		case BTGreaterEqualStrategyNumber:
			*test = KEY_GREATER_EQUAL;
			return true;
		case BTGreaterStrategyNumber:
			*test = KEY_GREATER;
			return true;
		default:
			return false;
	}
}

static bool
match_operator(PlannerInfo *root, RelOptInfo *rel, const TableSpec *table, OpExpr *clause,
			   KeyClause *result)
{
	Node	   *left;
	Node	   *right;
	Oid			operator = clause->opno;

	if (list_length(clause->args) != 2)
		return false;
	left = linitial(clause->args);
	right = lsecond(clause->args);
	result->column = key_column_of(rel, table, left);
	if (result->column < 0)
	{
		Node	   *swap = left;

		left = right;
		right = swap;
		operator = get_commutator(operator);
		result->column = key_column_of(rel, table, left);
	}
	if (result->column < 0 || !OidIsValid(operator) || !is_scan_constant(root, rel, right))
		return false;
	result->value = (Expr *) right;
	return operator_test(&table->key->columns[result->column], operator,
						 clause->inputcollid, &result->test, &result->value_type);
}

static bool
match_array(PlannerInfo *root, RelOptInfo *rel, const TableSpec *table,
			ScalarArrayOpExpr *clause, KeyClause *result)
{
	Node	   *array = lsecond(clause->args);

	result->column = key_column_of(rel, table, linitial(clause->args));
	if (!clause->useOr || result->column < 0 || !is_scan_constant(root, rel, array))
		return false;
	result->value = (Expr *) array;
	if (!operator_test(&table->key->columns[result->column], clause->opno,
					   clause->inputcollid, &result->test, &result->value_type) ||
		result->test != KEY_EQUAL)
		return false;
	result->test = KEY_ANY;
	return true;
}

static bool
match_clause(PlannerInfo *root, RelOptInfo *rel, const TableSpec *table, Expr *clause,
			 KeyClause *result)
{
	if (IsA(clause, OpExpr))
		return match_operator(root, rel, table, (OpExpr *) clause, result);
	if (IsA(clause, ScalarArrayOpExpr))
		return match_array(root, rel, table, (ScalarArrayOpExpr *) clause, result);
	if (IsA(clause, NullTest))
	{
		NullTest   *test = (NullTest *) clause;

		result->column = key_column_of(rel, table, (Node *) test->arg);
		result->test = KEY_NULL;
		return test->nulltesttype == IS_NULL && result->column >= 0;
	}
	return false;
}

/* Before the scan nothing of its rows is hidden yet: a leaky clause has to wait. */
static bool
clause_may_bound(RelOptInfo *rel, RestrictInfo *source)
{
	return !source->pseudoconstant && restriction_is_securely_promotable(source, rel);
}

int
key_clause_column(PlannerInfo *root, RelOptInfo *rel, const TableSpec *table, RestrictInfo *source)
{
	KeyClause	clause = {0};

	if (!clause_may_bound(rel, source) ||
		!match_clause(root, rel, table, source->clause, &clause))
		return -1;
	return clause.column;
}

List *
key_clauses_find(PlannerInfo *root, RelOptInfo *rel, const TableSpec *table, List *clauses)
{
	List	  **found = palloc0(sizeof(List *) * table->key->ncolumns);
	List	   *result = NIL;
	ListCell   *cell;

	foreach(cell, clauses)
	{
		RestrictInfo *source = lfirst_node(RestrictInfo, cell);
		KeyClause	clause = {0};

		if (clause_may_bound(rel, source) &&
			match_clause(root, rel, table, source->clause, &clause))
		{
			KeyClause  *copy = palloc(sizeof(KeyClause));

			*copy = clause;
			copy->source = source;
			found[clause.column] = lappend(found[clause.column], copy);
		}
	}
	for (int k = 0; k < table->key->ncolumns; k++)
		result = list_concat(result, found[k]);
	return result;
}

/* Are all columns before this one held at one value? */
static bool
columns_before_are_equal(List *clauses, int column)
{
	for (int k = 0; k < column; k++)
	{
		bool		equal = false;
		ListCell   *cell;

		foreach(cell, clauses)
		{
			const KeyClause *other = lfirst(cell);

			equal |= other->column == k && other->test == KEY_EQUAL;
		}
		if (!equal)
			return false;
	}
	return true;
}

const KeyClause *
key_clause_with_elements(List *clauses)
{
	ListCell   *cell;

	/* they are in the order of their columns */
	foreach(cell, clauses)
	{
		const KeyClause *clause = lfirst(cell);

		if (clause->test == KEY_ANY)
			return columns_before_are_equal(clauses, clause->column) ? clause : NULL;
	}
	return NULL;
}

bool
key_clause_is_exact(List *clauses, const KeyClause *clause)
{
	if (clause->test == KEY_NULL)
		return false;
	if (clause->test == KEY_ANY)
		return clause == key_clause_with_elements(clauses);
	return columns_before_are_equal(clauses, clause->column);
}

List *
key_clauses_encode(List *clauses)
{
	List	   *encoded = NIL;
	ListCell   *cell;

	foreach(cell, clauses)
	{
		const KeyClause *clause = lfirst(cell);

		encoded = lappend(encoded, list_make3(makeInteger(clause->column),
											  makeInteger(clause->test),
											  makeInteger((int) clause->value_type)));
	}
	return encoded;
}

KeyCondition *
key_conditions_decode(List *encoded, int *nconditions)
{
	KeyCondition *conditions = palloc0(sizeof(KeyCondition) * Max(list_length(encoded), 1));
	ListCell   *cell;

	*nconditions = 0;
	foreach(cell, encoded)
	{
		List	   *triple = lfirst_node(List, cell);
		KeyCondition *condition = &conditions[(*nconditions)++];

		condition->column = intVal(linitial(triple));
		condition->test = (KeyTest) intVal(lsecond(triple));
		condition->value_type = (Oid) intVal(lthird(triple));
	}
	return conditions;
}

/* What the conditions leave of one key column, in stream order. */
typedef struct ColumnRange
{
	bool		has_lower;
	bool		has_upper;
	bool		lower_inclusive;
	bool		upper_inclusive;
	Datum		lower;
	Datum		upper;
} ColumnRange;

static void
restrict_lower(const KeyColumn *column, ColumnRange *range, Datum value, bool inclusive)
{
	int			order = range->has_lower ? key_compare_column(column, value, range->lower) : 1;

	if (order > 0 || (order == 0 && !inclusive))
	{
		range->lower = value;
		range->lower_inclusive = inclusive;
	}
	range->has_lower = true;
}

static void
restrict_upper(const KeyColumn *column, ColumnRange *range, Datum value, bool inclusive)
{
	int			order = range->has_upper ? key_compare_column(column, value, range->upper) : -1;

	if (order < 0 || (order == 0 && !inclusive))
	{
		range->upper = value;
		range->upper_inclusive = inclusive;
	}
	range->has_upper = true;
}

int64
key_integer_value(Oid type, Datum value)
{
	switch (type)
	{
		case INT2OID:
			return DatumGetInt16(value);
		case INT4OID:
		case DATEOID:
			return DatumGetInt32(value);
		default:
			return DatumGetInt64(value);
	}
}

/* Only the bits of the value's own width count; the key's carry its sign further. */
static Datum
sign_extend(const KeyColumn *column, Datum value)
{
	if (!column->integer_like || column->typlen == sizeof(int64))
		return value;
	return column->typlen == sizeof(int32) ? Int64GetDatum(DatumGetInt32(value)) :
		Int64GetDatum(DatumGetInt16(value));
}

/*
 * A value of another integer type as one of the column's.  Where the column
 * cannot hold it, its nearest value takes its place: *beyond is -1 or 1 where
 * all keys are above or below the value.
 */
static Datum
convert_integer(const KeyColumn *column, Oid type, Datum value, int *beyond)
{
	int64		number;
	int64		least = PG_INT64_MIN;
	int64		greatest = PG_INT64_MAX;

	*beyond = 0;
	if (!key_type_is_integer(type) || !key_type_is_integer(column->type))
		return sign_extend(column, value);
	number = key_integer_value(type, value);
	if (column->type == INT2OID)
	{
		least = PG_INT16_MIN;
		greatest = PG_INT16_MAX;
	}
	else if (column->type == INT4OID)
	{
		least = PG_INT32_MIN;
		greatest = PG_INT32_MAX;
	}
	if (number < least)
		*beyond = -1;
	else if (number > greatest)
		*beyond = 1;
	return Int64GetDatum(Max(least, Min(greatest, number)));
}

/* Apply one comparison with a value that is not null.  False: no key satisfies it. */
static bool
restrict_value(const KeyColumn *column, ColumnRange *range, KeyTest test, Oid type, Datum value)
{
	int			beyond;
	bool		below = test == KEY_LESS || test == KEY_LESS_EQUAL;
	bool		above = test == KEY_GREATER || test == KEY_GREATER_EQUAL;
	bool		inclusive = test != KEY_LESS && test != KEY_GREATER;

	value = convert_integer(column, type, value, &beyond);
	if (beyond != 0)
		return (beyond > 0 && below) || (beyond < 0 && above);

	if (test == KEY_EQUAL || (column->descending ? below : above))
		restrict_lower(column, range, value, inclusive);
	if (test == KEY_EQUAL || (column->descending ? above : below))
		restrict_upper(column, range, value, inclusive);
	return true;
}

/*
 * The elements that a key can equal, as the key column's type has them, in no
 * order; returns how many.
 */
static int
array_elements(const KeyColumn *column, Oid type, Datum value, Datum **elements)
{
	ArrayType  *array = DatumGetArrayTypeP(value);
	bool	   *nulls;
	int			nelements;
	int			n = 0;
	int16		length;
	bool		byval;
	char		align;

	get_typlenbyvalalign(ARR_ELEMTYPE(array), &length, &byval, &align);
	deconstruct_array(array, ARR_ELEMTYPE(array), length, byval, align,
					  elements, &nulls, &nelements);
	for (int i = 0; i < nelements; i++)
	{
		ColumnRange one = {0};

		if (!nulls[i] && restrict_value(column, &one, KEY_EQUAL, type, (*elements)[i]))
			(*elements)[n++] = one.lower;
	}
	return n;
}

/* Between the least and the greatest element. */
static bool
restrict_array(const KeyColumn *column, ColumnRange *range, Oid type, Datum value)
{
	Datum	   *elements;
	int			n = array_elements(column, type, value, &elements);
	Datum		lower;
	Datum		upper;

	if (n == 0)
		return false;
	lower = upper = elements[0];
	for (int i = 1; i < n; i++)
	{
		if (key_compare_column(column, elements[i], lower) < 0)
			lower = elements[i];
		if (key_compare_column(column, elements[i], upper) > 0)
			upper = elements[i];
	}
	restrict_lower(column, range, lower, true);
	restrict_upper(column, range, upper, true);
	return true;
}

static bool
restrict_column(const KeyColumn *column, ColumnRange *range, const KeyCondition *condition)
{
	if (condition->test == KEY_NULL || condition->isnull)
		return false;
	if (condition->test == KEY_ANY)
		return restrict_array(column, range, condition->value_type, condition->value);
	return restrict_value(column, range, condition->test, condition->value_type,
						  condition->value);
}

static void
bound_add(KeyBound *bound, Datum value, bool inclusive)
{
	bound->values[bound->ncolumns++] = value;
	bound->inclusive = inclusive;
}

/* Room for a range over all columns. */
static void
range_init(const Key *key, KeyRange *range)
{
	memset(range, 0, sizeof(KeyRange));
	range->lower.values = palloc(sizeof(Datum) * key->ncolumns);
	range->upper.values = palloc(sizeof(Datum) * key->ncolumns);
}

/* columns: scratch, one for each of the key's; the range has been initialised, or filled before. */
static void
range_fill(const Key *key, const KeyCondition *conditions, int nconditions,
		   ColumnRange *columns, KeyRange *range)
{
	memset(columns, 0, sizeof(ColumnRange) * key->ncolumns);
	range->empty = range->has_lower = range->has_upper = false;
	range->lower.ncolumns = range->upper.ncolumns = 0;
	for (int c = 0; c < nconditions; c++)
	{
		int			k = conditions[c].column;

		if (!restrict_column(&key->columns[k], &columns[k], &conditions[c]))
			range->empty = true;
	}
	if (range->empty)
		return;

	for (int k = 0; k < key->ncolumns; k++)
	{
		ColumnRange *column = &columns[k];
		int			order = -1;

		if (column->has_lower && column->has_upper)
			order = key_compare_column(&key->columns[k], column->lower, column->upper);
		if (order > 0 ||
			(order == 0 && !(column->lower_inclusive && column->upper_inclusive)))
		{
			range->empty = true;
			return;
		}
		if (column->has_lower)
			bound_add(&range->lower, column->lower, column->lower_inclusive);
		if (column->has_upper)
			bound_add(&range->upper, column->upper, column->upper_inclusive);
		if (order != 0)
			break;
	}
	range->has_lower = range->lower.ncolumns > 0;
	range->has_upper = range->upper.ncolumns > 0;
	if (range->has_lower)
		key_bound_init(key, &range->lower);
	if (range->has_upper)
		key_bound_init(key, &range->upper);
}

void
key_range_build(const TableSpec *table, const KeyCondition *conditions,
				int nconditions, KeyRange *range)
{
	ColumnRange *columns = palloc(sizeof(ColumnRange) * table->key->ncolumns);

	range_init(table->key, range);
	range_fill(table->key, conditions, nconditions, columns, range);
	pfree(columns);
}

/* ------------------------------------------------------------ several ranges */

static int
compare_elements(const void *a, const void *b, void *column)
{
	return key_compare_column(column, *(const Datum *) a, *(const Datum *) b);
}

/* The condition whose array's elements are gone through, or -1: see key_clause_with_elements. */
static int
condition_with_elements(const KeyCondition *conditions, int nconditions)
{
	int			equal = 0;		/* columns up to this one are held at one value */

	for (int c = 0; c < nconditions; c++)
	{
		if (conditions[c].test == KEY_ANY)
			return conditions[c].column <= equal && !conditions[c].isnull ? c : -1;
		if (conditions[c].test == KEY_EQUAL && conditions[c].column == equal)
			equal++;
	}
	return -1;
}

/* Sort the array's elements, and let the condition take one at a time. */
static void
take_elements(KeyRanges *ranges, KeyCondition *condition)
{
	KeyColumn  *column = &ranges->table->key->columns[condition->column];
	int			n = array_elements(column, condition->value_type, condition->value,
								   &ranges->elements);
	int			distinct = 0;

	if (n > 1)
		qsort_arg(ranges->elements, n, sizeof(Datum), compare_elements, column);
	for (int i = 0; i < n; i++)
	{
		if (i == 0 ||
			key_compare_column(column, ranges->elements[distinct - 1], ranges->elements[i]) != 0)
			ranges->elements[distinct++] = ranges->elements[i];
	}
	ranges->nelements = distinct;
	condition->test = KEY_EQUAL;
	condition->value_type = column->type;
}

/* Put another array's ends in its place; false if it has no element. */
static bool
take_ends(KeyRanges *ranges, KeyCondition *condition)
{
	const KeyColumn *column = &ranges->table->key->columns[condition->column];
	KeyCondition *other = &ranges->conditions[ranges->nconditions];
	ColumnRange ends = {0};

	if (!restrict_array(column, &ends, condition->value_type, condition->value))
		return false;
	*other = *condition;
	condition->test = column->descending ? KEY_LESS_EQUAL : KEY_GREATER_EQUAL;
	condition->value = ends.lower;
	other->test = column->descending ? KEY_GREATER_EQUAL : KEY_LESS_EQUAL;
	other->value = ends.upper;
	condition->value_type = other->value_type = column->type;
	ranges->nconditions++;
	return true;
}

void
key_ranges_begin(KeyRanges *ranges, const TableSpec *table,
				 const KeyCondition *conditions, int nconditions)
{
	memset(ranges, 0, sizeof(KeyRanges));
	ranges->table = table;
	ranges->nconditions = nconditions;
	ranges->conditions = palloc(sizeof(KeyCondition) * Max(2 * nconditions, 1));
	memcpy(ranges->conditions, conditions, sizeof(KeyCondition) * nconditions);
	ranges->columns = palloc(sizeof(ColumnRange) * table->key->ncolumns);
	range_init(table->key, &ranges->range);
	ranges->nelements = 1;
	ranges->element = condition_with_elements(conditions, nconditions);
	if (ranges->element >= 0)
		take_elements(ranges, &ranges->conditions[ranges->element]);
	for (int c = 0; c < nconditions; c++)
	{
		KeyCondition *condition = &ranges->conditions[c];

		if (condition->test == KEY_ANY && !condition->isnull && !take_ends(ranges, condition))
			ranges->nelements = 0;
	}
}

const KeyRange *
key_ranges_next(KeyRanges *ranges)
{
	if (ranges->next >= ranges->nelements)
		return NULL;
	if (ranges->element >= 0)
		ranges->conditions[ranges->element].value = ranges->elements[ranges->next];
	ranges->next++;
	range_fill(ranges->table->key, ranges->conditions, ranges->nconditions,
			   ranges->columns, &ranges->range);
	return &ranges->range;
}

const char *
key_test_operator(KeyTest test)
{
	switch (test)
	{
		case KEY_LESS:
			return "<";
		case KEY_LESS_EQUAL:
			return "<=";
		case KEY_EQUAL:
			return "=";
		case KEY_GREATER_EQUAL:
			return ">=";
		case KEY_GREATER:
			return ">";
		case KEY_ANY:
			return "= ANY";
		case KEY_NULL:
			return "IS NULL";
	}
	return "";
}
