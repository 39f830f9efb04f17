/*-------------------------------------------------------------------------
 *
 * filter.h
 *	  Clauses on a required stream's values, tested before the merge.
 *
 *-------------------------------------------------------------------------
 */
#ifndef OUTERJOIN_FILTER_H
#define OUTERJOIN_FILTER_H

#include "nodes/execnodes.h"
#include "nodes/pathnodes.h"

#include "fdw/table_spec.h"
#include "merge/outer_merge.h"
#include "stream/filtered.h"

/* How a value column is tested. */
typedef enum EarlyTest
{
	EARLY_OPERATOR,				/* column <operator> value */
	EARLY_ANY,					/* column <operator> ANY (value), an array */
	EARLY_NOT_NULL,
	EARLY_NULL,
	EARLY_TRUE,					/* a boolean column */
	EARLY_FALSE
} EarlyTest;

/* One clause of that form. */
typedef struct EarlyClause
{
	int			attnum;			/* of the column */
	EarlyTest	test;
	Oid			operator;		/* EARLY_OPERATOR and EARLY_ANY */
	Oid			collation;		/* likewise */
	Expr	   *value;			/* likewise */
	RestrictInfo *source;
} EarlyClause;

/*
 * The clauses among "clauses" (a List of RestrictInfo) that are tested on
 * their stream's own rows: a List of EarlyClause.  The tests are the clauses'
 * own operators, so that nothing is left for the executor to check.  A clause
 * that a security barrier holds back is none of them.
 */
extern List *early_clauses_find(PlannerInfo *root, RelOptInfo *rel, const TableSpec *table,
								const StreamRole *roles, List *clauses);

/*
 * For plans, which can copy Lists only.  The values are appended to *values,
 * where the encoded clauses find them by their places.
 */
extern List *early_clauses_encode(List *clauses, List **values);

/* The tests of a scan. */
typedef struct EarlyFilters EarlyFilters;

/* Of an encoded list.  Allocates in the current context. */
extern EarlyFilters *early_filters_create(const TableSpec *table, List *encoded);

/* By stream, NULL where there is none; NULL if there are none at all. */
extern RowTests **early_filters_tests(const EarlyFilters *filters);

/* Rows that have failed the tests, of all streams. */
extern int64 early_filters_removed(const EarlyFilters *filters);

/*
 * Evaluate the tests' values, which are among "values" (a List of ExprState),
 * ahead of a scan or rescan.
 */
extern void early_filters_bind(EarlyFilters *filters, List *values, ExprContext *econtext);

#endif							/* OUTERJOIN_FILTER_H */
