/*-------------------------------------------------------------------------
 *
 * unique_key.c
 *	  Tells the planner that the key is unique.
 *
 * What the planner knows of uniqueness it takes from a relation's indexes: how
 * many rows of a join each row of the other side finds, whether a join may
 * stop at the first.  A foreign table has none, so it is given the description
 * of one.  It is no index that could be scanned: of no access method, without
 * an order; the planner looks for such in regular tables only.
 *
 * Streams that may repeat a key make no claim.  All others end with an error
 * when they read one twice, or drop it.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "compat.h"

#include "utils/typcache.h"

#include "fdw/unique_key.h"

bool
key_is_unique(const TableSpec *table)
{
	for (int s = 0; s < table->nstreams; s++)
		if (table->streams[s].duplicates == DUPLICATES_ALL)
			return false;
	return true;
}

void
unique_key_declare(RelOptInfo *rel, const TableSpec *table)
{
	int			n = table->key->ncolumns;
	IndexOptInfo *index;

	if (!key_is_unique(table))
		return;
	index = makeNode(IndexOptInfo);
	index->rel = rel;
	index->ncolumns = index->nkeycolumns = n;
	index->indexkeys = palloc(sizeof(int) * n);
	index->indexcollations = palloc(sizeof(Oid) * n);
	index->opfamily = palloc(sizeof(Oid) * n);
	index->opcintype = palloc(sizeof(Oid) * n);
	index->canreturn = palloc0(sizeof(bool) * n);
	for (int k = 0; k < n; k++)
	{
		const KeyColumn *column = &table->key->columns[k];
		TypeCacheEntry *entry = lookup_type_cache(column->type, TYPECACHE_BTREE_OPFAMILY);

		index->indexkeys[k] = table->key_attnums[k];
		index->indexcollations[k] = column->collation;
		index->opfamily[k] = entry->btree_opf;
		index->opcintype[k] = entry->btree_opintype;
	}
	index->unique = true;
	index->immediate = true;
	index->hypothetical = true;
	rel->indexlist = lappend(rel->indexlist, index);
}
