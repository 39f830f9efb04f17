/*-------------------------------------------------------------------------
 *
 * require.c
 *	  What each stream of a table is read for, in a query.
 *
 * A row that lacks a stream's key has nulls in all of the stream's columns.
 * Where a clause cannot be true of such a row, the stream is *required*: only
 * its keys can make rows that qualify.  Then a stream that is not required is
 * merely looked up, or, if nothing of it is asked for, not read at all.
 *
 * Which clauses these are is the server's own analysis of strictness.  It
 * speaks of relations, so each stream takes the place of one: what holds for a
 * relation in an outer join that gives no row holds for a stream.
 *
 * Two things are read even if nobody asks for their values: a stream that may
 * hold a key more than once, since every one of its rows makes a row of the
 * table, and, where equal keys can look different, the streams before the
 * first required one, since the first stream's spelling is shown.
 *
 * Refuses to know: how required streams are merged.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "compat.h"

#include "access/nbtree.h"
#include "fmgr.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

#include "fdw/fdw.h"
#include "fdw/require.h"
#include "fdw/table_scan.h"

/* Streams in the place of relations. */
typedef struct StreamRelations
{
	const TableSpec *table;
	Index		relid;			/* the table's */
	int			first;			/* the first stream's number as a relation; no relation has it */
} StreamRelations;

/*
 * An expression with each column of the table made a column of its stream.
 * What is never null in a row (the key), or no column, is of a relation that
 * is no stream.
 */
static Node *
stream_relations_mutator(Node *node, StreamRelations *relations)
{
	if (node == NULL)
		return NULL;
	if (IsA(node, Var) && ((Var *) node)->varlevelsup == 0 &&
		(Index) ((Var *) node)->varno == relations->relid)
	{
		const TableSpec *table = relations->table;
		Var		   *var = copyObject((Var *) node);
		const TableColumn *column = NULL;

		if (var->varattno > 0 && var->varattno <= table->ncolumns)
			column = &table->columns[var->varattno - 1];
		var->varno = relations->first +
			(column && column->kind == COLUMN_VALUE ? column->stream : table->nstreams);
		return (Node *) var;
	}
	return expression_tree_mutator(node, stream_relations_mutator, relations);
}

/* Numbers of the streams without whose key no row can satisfy all clauses. */
static Bitmapset *
required_streams(PlannerInfo *root, RelOptInfo *rel, const TableSpec *table)
{
	StreamRelations relations = {table, rel->relid, root->simple_rel_array_size};
	Bitmapset  *required = NULL;
	ListCell   *cell;

	foreach(cell, rel->baserestrictinfo)
	{
		RestrictInfo *source = lfirst_node(RestrictInfo, cell);
		Relids		nonnullable;
		int			relation = relations.first - 1;

		if (source->pseudoconstant)
			continue;
		nonnullable = find_nonnullable_rels(stream_relations_mutator((Node *) source->clause,
																	 &relations));
		while ((relation = bms_next_member(nonnullable, relation)) >= 0)
		{
			if (relation < relations.first + table->nstreams)
				required = bms_add_member(required, relation - relations.first);
		}
	}
	return required;
}

/*
 * Do equal keys look the same?  That is what B-tree deduplication asks as
 * well, and what operator classes answer it.
 */
static bool
key_has_one_spelling(const Key *key)
{
	for (int k = 0; k < key->ncolumns; k++)
	{
		const KeyColumn *column = &key->columns[k];
		TypeCacheEntry *entry = lookup_type_cache(column->type,
												  TYPECACHE_BTREE_OPFAMILY);
		Oid			function;

		if (column->integer_like)
			continue;
		function = get_opfamily_proc(entry->btree_opf, entry->btree_opintype,
									 entry->btree_opintype, BTEQUALIMAGE_PROC);
		if (!OidIsValid(function) ||
			!DatumGetBool(OidFunctionCall1Coll(function, column->collation,
											   ObjectIdGetDatum(entry->btree_opintype))))
			return false;
	}
	return true;
}

static bool
key_is_needed(const TableSpec *table, const Bitmapset *needed)
{
	for (int k = 0; k < table->key->ncolumns; k++)
		if (bms_is_member(table->key_attnums[k], needed))
			return true;
	return false;
}

StreamRole *
stream_roles_find(PlannerInfo *root, RelOptInfo *rel, const TableSpec *table,
				  const Bitmapset *needed)
{
	StreamRole *roles = palloc(sizeof(StreamRole) * table->nstreams);
	Bitmapset  *required = NULL;
	int			spelled = 0;	/* streams before this one may spell a key that is shown */

	for (int s = 0; s < table->nstreams; s++)
		roles[s] = table_scan_role(table, s, needed);
	if (outerjoin_required_streams)
		required = required_streams(root, rel, table);
	if (bms_is_empty(required))
		return roles;

	if (key_is_needed(table, needed) && !key_has_one_spelling(table->key))
		spelled = bms_next_member(required, -1);
	for (int s = 0; s < table->nstreams; s++)
	{
		if (bms_is_member(s, required))
			roles[s] = STREAM_REQUIRED;
		else if (roles[s] == STREAM_OUTER || s < spelled ||
				 table->streams[s].duplicates == DUPLICATES_ALL)
			roles[s] = STREAM_LOOKED_UP;
		else
			roles[s] = STREAM_NOT_READ;
	}
	return roles;
}

List *
stream_roles_encode(const StreamRole *roles, int nstreams)
{
	List	   *encoded = NIL;

	for (int s = 0; s < nstreams; s++)
		encoded = lappend_int(encoded, roles[s]);
	return encoded;
}

StreamRole *
stream_roles_decode(List *encoded, int nstreams)
{
	StreamRole *roles = palloc(sizeof(StreamRole) * Max(nstreams, 1));
	ListCell   *cell;
	int			s = 0;

	if (list_length(encoded) != nstreams)
		elog(ERROR, "the plan is of a table with %d streams, not %d",
			 list_length(encoded), nstreams);

	foreach(cell, encoded)
		roles[s++] = (StreamRole) lfirst_int(cell);
	return roles;
}
