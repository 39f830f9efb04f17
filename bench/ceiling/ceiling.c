/*-------------------------------------------------------------------------
 *
 * ceiling.c
 *	  A foreign table that merely makes up its rows: what the executor costs
 *	  when a foreign data wrapper costs (nearly) nothing.
 *
 *		CREATE FOREIGN TABLE t (id bigint, colour text, length int, mass real)
 *		SERVER ceiling OPTIONS (rows '10000000');
 *
 * The first column counts from 1 where it is a bigint; every other value,
 * null in one row out of five, comes from a few patterns made before the scan
 * and repeats.  A row costs one copy of its values and null flags into a
 * virtual slot and nothing else.  Only bool, int2, int4, int8, float4, float8
 * and text columns are known.
 *
 * Belongs to the bench: not part of the extension, never installed with it.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/reloptions.h"
#include "catalog/pg_foreign_table.h"
#include "catalog/pg_type_d.h"
#include "commands/defrem.h"
#include "fmgr.h"
#include "foreign/fdwapi.h"
#include "foreign/foreign.h"
#include "nodes/makefuncs.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/planmain.h"
#include "optimizer/restrictinfo.h"
#include "utils/builtins.h"
#include "utils/rel.h"

#include "compat.h"

PG_MODULE_MAGIC;

/* Rows after which the made-up values repeat; odd, so that columns drift. */
#define PATTERN_ROWS	1021

typedef struct CeilingScan
{
	int64		rows;
	int64		next;
	int			ncolumns;
	bool		counts;			/* the first column is the row's number */
	int			pattern;		/* next pattern row */
	Datum	   *values;			/* [PATTERN_ROWS][ncolumns] */
	bool	   *isnull;			/* [PATTERN_ROWS][ncolumns] */
} CeilingScan;

PG_FUNCTION_INFO_V1(ceiling_handler);
PG_FUNCTION_INFO_V1(ceiling_validator);

/* The option rows; 0 without it */
static int64
table_rows(List *options)
{
	ListCell   *cell;

	foreach(cell, options)
	{
		DefElem    *option = lfirst(cell);

		if (strcmp(option->defname, "rows") == 0)
			return DatumGetInt64(DirectFunctionCall1(int8in,
													 CStringGetDatum(defGetString(option))));
	}
	return 0;
}

Datum
ceiling_validator(PG_FUNCTION_ARGS)
{
	List	   *options = untransformRelOptions(PG_GETARG_DATUM(0));
	Oid			catalog = PG_GETARG_OID(1);
	ListCell   *cell;

	foreach(cell, options)
	{
		DefElem    *option = lfirst(cell);

		if (catalog != ForeignTableRelationId || strcmp(option->defname, "rows") != 0)
			ereport(ERROR,
					(errcode(ERRCODE_FDW_INVALID_OPTION_NAME),
					 errmsg("invalid option \"%s\"", option->defname),
					 errhint("The only option is \"rows\", of a table.")));
		(void) table_rows(list_make1(option));
	}
	PG_RETURN_VOID();
}

static void
ceilingGetForeignRelSize(PlannerInfo *root, RelOptInfo *baserel, Oid relation)
{
	(void) root;
	baserel->rows = clamp_row_est((double) table_rows(GetForeignTable(relation)->options));
}

static void
ceilingGetForeignPaths(PlannerInfo *root, RelOptInfo *baserel, Oid relation)
{
	(void) relation;
	add_path(baserel, (Path *)
			 compat_create_foreignscan_path(root, baserel, NULL, baserel->rows, 0,
											baserel->rows * cpu_tuple_cost,
											NIL, NULL, NULL, NIL));
}

static ForeignScan *
ceilingGetForeignPlan(PlannerInfo *root, RelOptInfo *baserel, Oid relation,
					  ForeignPath *path, List *tlist, List *clauses, Plan *outer_plan)
{
	(void) root;
	(void) relation;
	(void) path;
	return make_foreignscan(tlist, extract_actual_clauses(clauses, false),
							baserel->relid, NIL, NIL, NIL, NIL, outer_plan);
}

/* Every fifth row has no value; the first column always has one. */
static void
pattern_fill_column(CeilingScan *scan, int column, Oid type)
{
	static const char *const colours[] = {
		"red", "green", "blue", "yellow", "black", "white", "orange", "violet"
	};

	for (int row = 0; row < PATTERN_ROWS; row++)
	{
		int			number = (row * 7919 + column * 104729) % 10007;
		Datum	   *value = &scan->values[row * scan->ncolumns + column];

		scan->isnull[row * scan->ncolumns + column] = column > 0 && number % 5 == 0;
		switch (type)
		{
			case BOOLOID:
				*value = BoolGetDatum(number % 2 == 0);
				break;
			case INT2OID:
			case INT4OID:
			case INT8OID:
				*value = Int64GetDatum(number);
				break;
			case FLOAT4OID:
				*value = Float4GetDatum((float4) number / 10);
				break;
			case FLOAT8OID:
				*value = Float8GetDatum((float8) number / 10);
				break;
			case TEXTOID:
				*value = CStringGetTextDatum(colours[number % lengthof(colours)]);
				break;
			default:
				ereport(ERROR,
						(errcode(ERRCODE_FDW_INVALID_DATA_TYPE),
						 errmsg("the ceiling makes up no values of type %u", type)));
		}
	}
}

static void
ceilingBeginForeignScan(ForeignScanState *node, int eflags)
{
	Relation	relation = node->ss.ss_currentRelation;
	TupleDesc	desc = RelationGetDescr(relation);
	CeilingScan *scan = palloc0(sizeof(CeilingScan));

	(void) eflags;
	scan->rows = table_rows(GetForeignTable(RelationGetRelid(relation))->options);
	scan->ncolumns = desc->natts;
	scan->counts = desc->natts > 0 && TupleDescAttr(desc, 0)->atttypid == INT8OID;
	scan->values = palloc0(sizeof(Datum) * PATTERN_ROWS * scan->ncolumns);
	scan->isnull = palloc0(sizeof(bool) * PATTERN_ROWS * scan->ncolumns);
	for (int column = 0; column < desc->natts; column++)
		pattern_fill_column(scan, column, TupleDescAttr(desc, column)->atttypid);
	node->fdw_state = scan;
}

static TupleTableSlot *
ceilingIterateForeignScan(ForeignScanState *node)
{
	CeilingScan *scan = node->fdw_state;
	TupleTableSlot *slot = node->ss.ss_ScanTupleSlot;
	Datum	   *values;
	bool	   *isnull;

	ExecClearTuple(slot);
	if (scan->next >= scan->rows)
		return slot;
	values = scan->values + scan->pattern * scan->ncolumns;
	isnull = scan->isnull + scan->pattern * scan->ncolumns;
	if (++scan->pattern == PATTERN_ROWS)
		scan->pattern = 0;
	for (int column = 0; column < scan->ncolumns; column++)
	{
		slot->tts_values[column] = values[column];
		slot->tts_isnull[column] = isnull[column];
	}
	scan->next++;
	if (scan->counts)
		slot->tts_values[0] = Int64GetDatum(scan->next);
	return ExecStoreVirtualTuple(slot);
}

static void
ceilingReScanForeignScan(ForeignScanState *node)
{
	CeilingScan *scan = node->fdw_state;

	scan->next = 0;
	scan->pattern = 0;
}

static void
ceilingEndForeignScan(ForeignScanState *node)
{
	(void) node;
}

Datum
ceiling_handler(PG_FUNCTION_ARGS)
{
	FdwRoutine *routine = makeNode(FdwRoutine);

	(void) fcinfo;
	routine->GetForeignRelSize = ceilingGetForeignRelSize;
	routine->GetForeignPaths = ceilingGetForeignPaths;
	routine->GetForeignPlan = ceilingGetForeignPlan;
	routine->BeginForeignScan = ceilingBeginForeignScan;
	routine->IterateForeignScan = ceilingIterateForeignScan;
	routine->ReScanForeignScan = ceilingReScanForeignScan;
	routine->EndForeignScan = ceilingEndForeignScan;
	PG_RETURN_POINTER(routine);
}
