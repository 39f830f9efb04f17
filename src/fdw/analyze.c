/*-------------------------------------------------------------------------
 *
 * analyze.c
 *	  ANALYZE: a random sample of the table's rows.
 *
 * Reads the whole table once and keeps a reservoir, as the server does for
 * its own tables: every row has the same chance.
 *
 * Refuses to know: streams, beyond how many rows they promise.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "compat.h"

#include <math.h>

#include "access/htup_details.h"
#include "commands/vacuum.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/sampling.h"

#include "fdw/fdw.h"
#include "fdw/table_scan.h"
#include "stream/stream.h"

static Bitmapset *
all_columns(const TableSpec *table)
{
	Bitmapset  *columns = NULL;

	for (int c = 0; c < table->ncolumns; c++)
		if (table->columns[c].kind != COLUMN_DROPPED)
			columns = bms_add_member(columns, c + 1);
	return columns;
}

/* A row's place in the sample, or -1: keep the first ones, then replace at random. */
static int
sample_place(ReservoirState reservoir, int target, double seen, double *skip)
{
	if (seen < target)
		return (int) seen;
	if (*skip < 0)
		*skip = reservoir_get_next_S(reservoir, seen, target);
	if ((*skip)-- > 0)
		return -1;
	return (int) (target * sampler_random_fract(&reservoir->randstate));
}

static int
outerjoin_acquire_sample(Relation relation, int elevel, HeapTuple *rows, int target,
						 double *total_rows, double *dead_rows)
{
	TupleDesc	desc = RelationGetDescr(relation);
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext,
												  "outerjoin_fdw analyze",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext caller = MemoryContextSwitchTo(context);
	TableSpec  *table = table_spec_build(RelationGetRelid(relation));
	TableScan  *scan = table_scan_open(table, all_columns(table), NULL, NULL);
	Datum	   *values;
	bool	   *isnull;
	ReservoirStateData reservoir;
	double		seen = 0;
	double		skip = -1;
	int			kept = 0;

	reservoir_init_selection_state(&reservoir, target);
	table_scan_start(scan, NULL);
	while (table_scan_next(scan, &values, &isnull))
	{
		int			place = sample_place(&reservoir, target, seen, &skip);

		if (place >= 0)
		{
			if (place < kept)
				heap_freetuple(rows[place]);
			else
				kept = place + 1;
			MemoryContextSwitchTo(caller);
			rows[place] = heap_form_tuple(desc, values, isnull);
			MemoryContextSwitchTo(context);
		}
		seen++;
	}
	table_scan_close(scan);
	MemoryContextSwitchTo(caller);
	MemoryContextDelete(context);

	*total_rows = seen;
	*dead_rows = 0;
	ereport(elevel,
			(errmsg("\"%s\": table contains %.0f rows; %d rows in sample",
					RelationGetRelationName(relation), seen, kept)));
	return kept;
}

bool
outerjoinAnalyzeForeignTable(Relation relation, AcquireSampleRowsFunc *function,
							 BlockNumber *pages)
{
	TableSpec  *table = table_spec_build(RelationGetRelid(relation));
	double		bytes = 0;

	for (int s = 0; s < table->nstreams; s++)
	{
		StreamFacts facts = {0};

		stream_facts(&table->streams[s], table->key, &facts);
		bytes += facts.bytes;
	}
	*pages = (BlockNumber) Max(1, Min(ceil(bytes / BLCKSZ), (double) MaxBlockNumber));
	*function = outerjoin_acquire_sample;
	return true;
}
