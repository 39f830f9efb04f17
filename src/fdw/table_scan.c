/*-------------------------------------------------------------------------
 *
 * table_scan.c
 *	  A table's streams opened and merged, and rows of the table out of it.
 *
 * A row costs a look at its slot and, for each column, one at its position;
 * all else is done a window at a time by the merge.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "compat.h"

#include "miscadmin.h"

#include "fdw/fdw.h"
#include "fdw/table_scan.h"
#include "stream/stream.h"

/* Batches of this many rows keep what a window touches in the caches ... */
#define BATCH_ROWS			4096
/* ... and this many rows in all streams' batches keep the memory small. */
#define BATCH_ROWS_IN_ALL	(512 * 1024)
#define BATCH_ROWS_LEAST	256
#define FIRST_ROWS			128

#define BLOCK_BYTES			(256 * 1024)
#define BLOCK_BYTES_IN_ALL	(16 * 1024 * 1024)
#define BLOCK_BYTES_LEAST	(16 * 1024)

/* A value column that is asked for. */
typedef struct ScanColumn
{
	int			index;			/* attribute number - 1 */
	const BatchRow *position;
	const Datum *values;
	const bool *isnull;
} ScanColumn;

/* A key column that is asked for. */
typedef struct ScanKeyColumn
{
	int			index;			/* attribute number - 1 */
	int			column;			/* of the key */
} ScanKeyColumn;

struct TableScan
{
	const TableSpec *table;
	OuterMerge *merge;
	StreamResources resources;
	MergeInput *inputs;			/* one for each stream of the table */
	const MergeWindow *window;
	int			row;			/* next row of the window */
	int			ncolumns;
	ScanColumn *columns;
	int			nkeys;
	ScanKeyColumn *keys;
	bool		ended;
};

StreamRole
table_scan_role(const TableSpec *table, int stream, const Bitmapset *needed)
{
	const StreamSpec *spec = &table->streams[stream];

	for (int f = 0; f < spec->nfields; f++)
		if (bms_is_member(spec->fields[f].attnum, needed))
			return STREAM_OUTER;
	return STREAM_KEYS_ONLY;
}

/* Many streams share what few would have each. */
static void
scan_resources(StreamResources *resources, int nstreams)
{
	nstreams = Max(nstreams, 1);
	resources->batch_rows = outerjoin_batch_rows > 0 ? outerjoin_batch_rows :
		Max(BATCH_ROWS_LEAST, Min(BATCH_ROWS, BATCH_ROWS_IN_ALL / nstreams));
	resources->first_rows = Min(FIRST_ROWS, resources->batch_rows);
	resources->block_bytes = outerjoin_block_size > 0 ? outerjoin_block_size :
		Max(BLOCK_BYTES_LEAST, Min(BLOCK_BYTES, BLOCK_BYTES_IN_ALL / nstreams));
	resources->memory_kb = Max(64, work_mem / nstreams);
	resources->simd = outerjoin_simd;
}

/* Prepare one stream's input; its vectors are found by field later. */
static void
scan_open_input(TableScan *scan, int stream, const Bitmapset *needed)
{
	const StreamSpec *spec = &scan->table->streams[stream];
	MergeInput *input = &scan->inputs[stream];
	bool	   *wanted = palloc0(sizeof(bool) * Max(spec->nfields, 1));

	input->role = table_scan_role(scan->table, stream, needed);
	input->vectors = palloc(sizeof(FieldVector) * Max(spec->nfields, 1));
	for (int f = 0; f < spec->nfields; f++)
	{
		FieldVector *vector;

		if (!bms_is_member(spec->fields[f].attnum, needed))
			continue;
		wanted[f] = true;
		vector = &input->vectors[input->nvectors++];
		field_vector_init(vector, f, scan->resources.batch_rows);
		scan->columns[scan->ncolumns].index = spec->fields[f].attnum - 1;
		scan->columns[scan->ncolumns].values = vector->values;
		scan->columns[scan->ncolumns].isnull = vector->isnull;
		scan->ncolumns++;
	}
	input->stream = stream_open(spec, scan->table->key, wanted, &scan->resources);
}

/* The merge's positions stay where they are, so they are looked up once. */
static void
scan_find_positions(TableScan *scan)
{
	const MergeWindow *window = outer_merge_window(scan->merge);
	int			column = 0;

	for (int s = 0; s < scan->table->nstreams; s++)
		for (int v = 0; v < scan->inputs[s].nvectors; v++)
			scan->columns[column++].position = window->position[s];
}

TableScan *
table_scan_open(const TableSpec *table, const Bitmapset *needed)
{
	TableScan  *scan = palloc0(sizeof(TableScan));

	scan->table = table;
	scan_resources(&scan->resources, table->nstreams);
	scan->inputs = palloc0(sizeof(MergeInput) * table->nstreams);
	scan->columns = palloc0(sizeof(ScanColumn) * Max(table->ncolumns, 1));
	scan->keys = palloc0(sizeof(ScanKeyColumn) * table->key->ncolumns);
	for (int k = 0; k < table->key->ncolumns; k++)
	{
		if (!bms_is_member(table->key_attnums[k], needed))
			continue;
		scan->keys[scan->nkeys].index = table->key_attnums[k] - 1;
		scan->keys[scan->nkeys].column = k;
		scan->nkeys++;
	}
	for (int s = 0; s < table->nstreams; s++)
		scan_open_input(scan, s, needed);
	scan->merge = outer_merge_create(table->key, table->nstreams, scan->inputs,
									 scan->resources.batch_rows, work_mem);
	scan_find_positions(scan);
	return scan;
}

void
table_scan_start(TableScan *scan, const KeyRange *range)
{
	outer_merge_start(scan->merge, range);
	scan->window = NULL;
	scan->row = 0;
	scan->ended = false;
}

/* Make the next window current. */
static bool
scan_next_window(TableScan *scan)
{
	scan->row = 0;
	scan->window = scan->ended ? NULL : outer_merge_next(scan->merge);
	scan->ended = scan->window == NULL;
	return !scan->ended;
}

bool
table_scan_next(TableScan *scan, Datum *values, bool *isnull)
{
	const MergeWindow *window = scan->window;
	int			row;
	int			slot;

	if (unlikely(window == NULL || scan->row >= window->nrows))
	{
		if (!scan_next_window(scan))
			return false;
		window = scan->window;
	}
	row = scan->row++;
	slot = window->slot ? window->slot[row] : row;

	for (int k = 0; k < scan->nkeys; k++)
	{
		const ScanKeyColumn *key = &scan->keys[k];

		values[key->index] = window->key ? window->key[slot] :
			outer_merge_key(scan->merge, row, key->column);
		isnull[key->index] = false;
	}
	for (int c = 0; c < scan->ncolumns; c++)
	{
		const ScanColumn *column = &scan->columns[c];
		BatchRow	position = column->position[slot];

		values[column->index] = column->values[position];
		isnull[column->index] = column->isnull[position];
	}
	return true;
}

void
table_scan_count(const TableScan *scan, int stream, StreamCounters *counters)
{
	ColumnStream *source = scan->inputs[stream].stream;

	source->methods->count(source, counters);
}

void
table_scan_close(TableScan *scan)
{
	outer_merge_close(scan->merge);
}
