/*-------------------------------------------------------------------------
 *
 * outerjoin_fdw.c
 *	  N sorted column files as one table: module, settings, table of callbacks.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "compat.h"

#include "column/column_batch.h"
#include "fdw/fdw.h"
#include "fmgr.h"
#include "utils/guc.h"

PG_MODULE_MAGIC;

int			outerjoin_batch_rows = 0;
int			outerjoin_block_size = 0;
bool		outerjoin_simd = true;
bool		outerjoin_parameterized_paths = true;
bool		outerjoin_aggregates = true;
bool		outerjoin_required_streams = true;
bool		outerjoin_early_filters = true;
bool		outerjoin_backward = true;

extern PGDLLEXPORT void _PG_init(void);

void
_PG_init(void)
{
	DefineCustomIntVariable("outerjoin_fdw.batch_rows",
							"Most rows of a stream that are merged at once.",
							"Zero chooses by the number of streams.",
							&outerjoin_batch_rows,
							0, 0, MAX_BATCH_ROWS,
							PGC_USERSET, GUC_NOT_IN_SAMPLE,
							NULL, NULL, NULL);
	DefineCustomIntVariable("outerjoin_fdw.block_size",
							"Bytes of a file that are read at once.",
							"Zero chooses by the number of streams.",
							&outerjoin_block_size,
							0, 0, 64 * 1024 * 1024,
							PGC_USERSET, GUC_NOT_IN_SAMPLE | GUC_UNIT_BYTE,
							NULL, NULL, NULL);
	DefineCustomBoolVariable("outerjoin_fdw.simd",
							 "Use the processor's vector instructions.",
							 "The answers are the same without.",
							 &outerjoin_simd,
							 true,
							 PGC_USERSET, GUC_NOT_IN_SAMPLE,
							 NULL, NULL, NULL);
	DefineCustomBoolVariable("outerjoin_fdw.parameterized_paths",
							 "Consider scans of the keys that rows of other tables have.",
							 "The answers are the same without.",
							 &outerjoin_parameterized_paths,
							 true,
							 PGC_USERSET, GUC_NOT_IN_SAMPLE,
							 NULL, NULL, NULL);
	DefineCustomBoolVariable("outerjoin_fdw.aggregates",
							 "Compute aggregates without GROUP BY while merging.",
							 "The answers are the same without.",
							 &outerjoin_aggregates,
							 true,
							 PGC_USERSET, GUC_NOT_IN_SAMPLE,
							 NULL, NULL, NULL);
	DefineCustomBoolVariable("outerjoin_fdw.required_streams",
							 "Read only what rows can qualify from, where clauses ask for values of some columns.",
							 "The answers are the same without.",
							 &outerjoin_required_streams,
							 true,
							 PGC_USERSET, GUC_NOT_IN_SAMPLE,
							 NULL, NULL, NULL);
	DefineCustomBoolVariable("outerjoin_fdw.early_filters",
							 "Test clauses on a column that rows cannot do without before rows are made.",
							 "The answers are the same without.",
							 &outerjoin_early_filters,
							 true,
							 PGC_USERSET, GUC_NOT_IN_SAMPLE,
							 NULL, NULL, NULL);
	DefineCustomBoolVariable("outerjoin_fdw.backward",
							 "Read files from their ends where a query wants that order.",
							 NULL,
							 &outerjoin_backward,
							 true,
							 PGC_USERSET, GUC_NOT_IN_SAMPLE,
							 NULL, NULL, NULL);
	MarkGUCPrefixReserved("outerjoin_fdw");
}

PGDLLEXPORT Datum outerjoin_fdw_handler(PG_FUNCTION_ARGS);

PG_FUNCTION_INFO_V1(outerjoin_fdw_handler);

Datum
outerjoin_fdw_handler(PG_FUNCTION_ARGS)
{
	FdwRoutine *routine = makeNode(FdwRoutine);

	(void) fcinfo;
	routine->GetForeignRelSize = outerjoinGetForeignRelSize;
	routine->GetForeignPaths = outerjoinGetForeignPaths;
	routine->GetForeignPlan = outerjoinGetForeignPlan;
	routine->GetForeignUpperPaths = outerjoinGetForeignUpperPaths;
	routine->BeginForeignScan = outerjoinBeginForeignScan;
	routine->IterateForeignScan = outerjoinIterateForeignScan;
	routine->ReScanForeignScan = outerjoinReScanForeignScan;
	routine->EndForeignScan = outerjoinEndForeignScan;
	routine->IsForeignScanParallelSafe = outerjoinIsForeignScanParallelSafe;
	routine->EstimateDSMForeignScan = outerjoinEstimateDSMForeignScan;
	routine->InitializeDSMForeignScan = outerjoinInitializeDSMForeignScan;
	routine->ReInitializeDSMForeignScan = outerjoinReInitializeDSMForeignScan;
	routine->InitializeWorkerForeignScan = outerjoinInitializeWorkerForeignScan;
	routine->ShutdownForeignScan = outerjoinShutdownForeignScan;
	routine->ExplainForeignScan = outerjoinExplainForeignScan;
	routine->AnalyzeForeignTable = outerjoinAnalyzeForeignTable;

	PG_RETURN_POINTER(routine);
}
