/*-------------------------------------------------------------------------
 *
 * prune.h
 *	  Clauses on the key as a range of keys.
 *
 *-------------------------------------------------------------------------
 */
#ifndef OUTERJOIN_PRUNE_H
#define OUTERJOIN_PRUNE_H

#include "nodes/execnodes.h"
#include "nodes/pathnodes.h"

#include "fdw/table_spec.h"

/* How a value bounds a key column. */
typedef enum KeyTest
{
	KEY_LESS,					/* key < value */
	KEY_LESS_EQUAL,
	KEY_EQUAL,
	KEY_GREATER_EQUAL,
	KEY_GREATER,
	KEY_ANY,					/* key = ANY (value), an array */
	KEY_NULL					/* key IS NULL, which no row fulfils */
} KeyTest;

/* One clause of the form "key column <test> value". */
typedef struct KeyClause
{
	int			column;			/* of the key */
	KeyTest		test;
	Expr	   *value;			/* NULL for KEY_NULL */
	Oid			value_type;		/* of the value, or of the array's elements */
	RestrictInfo *source;
} KeyClause;

/*
 * The clauses among "clauses" (a List of RestrictInfo) that bound the key, a
 * List of KeyClause in the order of the key's columns.  A value holds nothing
 * of the table itself and nothing volatile.  A clause that a security barrier
 * holds back is none of them.
 */
extern List *key_clauses_find(PlannerInfo *root, RelOptInfo *rel, const TableSpec *table,
							  List *clauses);

/* The key column that an expression is, or -1. */
extern int	key_column_of(RelOptInfo *rel, const TableSpec *table, Node *node);

/* The key column that one clause bounds, as key_clauses_find would find it, or -1. */
extern int	key_clause_column(PlannerInfo *root, RelOptInfo *rel, const TableSpec *table,
							  RestrictInfo *source);

/*
 * Does the range built from all of "clauses" hold exactly the keys that
 * satisfy this one?  Then it need not be checked again.
 */
extern bool key_clause_is_exact(List *clauses, const KeyClause *clause);

/* For plans, which can copy Lists only: the columns and tests, without the values. */
extern List *key_clauses_encode(List *clauses);

/* A value of a type that is carried as an integer. */
extern int64 key_integer_value(Oid type, Datum value);

/* A clause's tests and evaluated value; see key_range_build. */
typedef struct KeyCondition
{
	int			column;
	KeyTest		test;
	Oid			value_type;
	bool		isnull;
	Datum		value;
} KeyCondition;

/* The conditions of an encoded list, without values. */
extern KeyCondition *key_conditions_decode(List *encoded, int *nconditions);

/*
 * The range of keys that satisfies all conditions as far as a range can.
 * Allocates in the current context; the values are borrowed.
 */
extern void key_range_build(const TableSpec *table, const KeyCondition *conditions,
							int nconditions, KeyRange *range);

/*
 * The ranges of keys that satisfy all conditions, one behind the other in the
 * streams' order: one for each element of an array that a column equals any of,
 * where the columns before it each equal one value; else a single one.
 */
typedef struct KeyRanges
{
	const TableSpec *table;
	int			nconditions;
	KeyCondition *conditions;	/* without arrays: the element, or between their ends */
	struct ColumnRange *columns;
	int			element;		/* which condition takes the elements; -1: none */
	Datum	   *elements;		/* sorted, each once */
	int			nelements;		/* without an array: 1 */
	int			next;
	KeyRange	range;
} KeyRanges;

/* Allocates in the current context; the conditions' values are borrowed. */
extern void key_ranges_begin(KeyRanges *ranges, const TableSpec *table,
							 const KeyCondition *conditions, int nconditions);

/* The next one, valid until the call after it; NULL when there is none.  Some may be empty. */
extern const KeyRange *key_ranges_next(KeyRanges *ranges);

/* The clause whose array's elements are gone through, or NULL. */
extern const KeyClause *key_clause_with_elements(List *clauses);

/* ">=" and the like, for EXPLAIN */
extern const char *key_test_operator(KeyTest test);

#endif							/* OUTERJOIN_PRUNE_H */
