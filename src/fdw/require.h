/*-------------------------------------------------------------------------
 *
 * require.h
 *	  What each stream of a table is read for, in a query.
 *
 *-------------------------------------------------------------------------
 */
#ifndef OUTERJOIN_REQUIRE_H
#define OUTERJOIN_REQUIRE_H

#include "nodes/pathnodes.h"

#include "fdw/table_spec.h"
#include "merge/outer_merge.h"

/*
 * The role of each stream.  "needed" holds the attribute numbers of the
 * columns that the query asks for, those of its clauses included.
 */
extern StreamRole *stream_roles_find(PlannerInfo *root, RelOptInfo *rel, const TableSpec *table,
									 const Bitmapset *needed);

/* For plans, which can copy Lists only. */
extern List *stream_roles_encode(const StreamRole *roles, int nstreams);
extern StreamRole *stream_roles_decode(List *encoded, int nstreams);

#endif							/* OUTERJOIN_REQUIRE_H */
