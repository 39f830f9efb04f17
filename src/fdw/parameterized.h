/*-------------------------------------------------------------------------
 *
 * parameterized.h
 *	  Scans whose range of keys comes from rows of other tables.
 *
 *-------------------------------------------------------------------------
 */
#ifndef OUTERJOIN_PARAMETERIZED_H
#define OUTERJOIN_PARAMETERIZED_H

#include "nodes/pathnodes.h"

#include "fdw/table_spec.h"

/*
 * The sets of other relations whose rows can bound the key's first column, a
 * List of Relids: from join clauses, and from what equivalence classes imply.
 */
extern List *parameterized_sources(PlannerInfo *root, RelOptInfo *rel, const TableSpec *table);

/*
 * How many rows those relations have, each with a scan of its own: what can be
 * kept from one scan to the next is shared by so many.
 */
extern double parameterized_loops(PlannerInfo *root, RelOptInfo *rel, Relids sources);

/*
 * How far an expression of other relations comes in ascending order: 1 where
 * each row's value is greater than the one before it, 0 where they come in no
 * order or nothing is known.  Where its least and greatest value are known as
 * well, and are images of the key, *has_range is set.
 */
extern double parameterized_order(PlannerInfo *root, const Key *key, Node *value,
								  bool *has_range, double *least, double *greatest);

#endif							/* OUTERJOIN_PARAMETERIZED_H */
