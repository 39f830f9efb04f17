/*-------------------------------------------------------------------------
 *
 * unique_key.h
 *	  Tells the planner that the key is unique.
 *
 *-------------------------------------------------------------------------
 */
#ifndef OUTERJOIN_UNIQUE_KEY_H
#define OUTERJOIN_UNIQUE_KEY_H

#include "nodes/pathnodes.h"

#include "fdw/table_spec.h"

/* Does no row of the table have the key of another? */
extern bool key_is_unique(const TableSpec *table);

/* Let the planner know, as of a unique index, of which it makes no other use. */
extern void unique_key_declare(RelOptInfo *rel, const TableSpec *table);

#endif							/* OUTERJOIN_UNIQUE_KEY_H */
