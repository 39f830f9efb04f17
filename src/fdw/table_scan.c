/*-------------------------------------------------------------------------
 *
 * table_scan.c
 *	  A table's streams opened and merged, and rows of the table out of it.
 *
 * The merge's windows are columns; the executor wants rows.  They are turned
 * a few dozen rows at a time, column by column, so that a table of a thousand
 * columns has one column's arrays at hand, not a thousand.  A row is handed out
 * where it stands; only where few of many attributes are asked for, it is
 * copied to where they belong.
 *
 * Refuses to know: plans, and nodes of the executor.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "compat.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "fdw/fdw.h"
#include "fdw/table_scan.h"
#include "stream/stream.h"

/* Batches of this many rows keep what a window touches in the caches ... */
#define BATCH_ROWS			4096
/* ... and this many rows in all streams' (or columns') batches keep the memory small. */
#define BATCH_ROWS_IN_ALL	(512 * 1024)
#define BATCH_ROWS_LEAST	256
#define FIRST_ROWS			128

#define BLOCK_BYTES			(128 * 1024)
#define BLOCK_BYTES_IN_ALL	(16 * 1024 * 1024)
#define BLOCK_BYTES_LEAST	(16 * 1024)

/* Rows turned at once: so many bytes of values, within the first-level cache. */
#define TURNED_BYTES		(16 * 1024)
#define TURNED_ROWS			64
#define TURNED_ROWS_LEAST	4

/* Rows of a table of more attributes may be turned without those not asked for. */
#define WIDE_TABLE			16

/* A value column that is asked for. */
typedef struct ScanColumn
{
	int			index;			/* attribute number - 1, then place in a turned row */
	const BatchRow *position;
	const FieldVector *vector;
} ScanColumn;

/* A key column that is asked for. */
typedef struct ScanKeyColumn
{
	int			index;			/* likewise */
	int			column;			/* of the key */
} ScanKeyColumn;

/*
 * Rows of the window as rows: all attributes of the table, or, where few of
 * many are asked for, only them, and "attribute" says which they are.  What
 * nobody asks for is null from the beginning.
 */
typedef struct TurnedRows
{
	int			capacity;		/* rows */
	int			width;			/* values in a row */
	int		   *attribute;		/* [width] attribute numbers - 1, or NULL */
	int			row;			/* next one to be handed out, or to be put at hand */
	int			nrows;
	Datum	   *values;			/* [row * width] */
	bool	   *isnull;
	Datum	   *row_values;		/* with "attribute": the row handed out, by attribute */
	bool	   *row_isnull;
} TurnedRows;

struct TableScan
{
	TableRows	rows;			/* turned rows handed out without spreading */
	const TableSpec *table;
	OuterMerge *merge;
	StreamResources resources;
	MergeInput *inputs;			/* one for each stream of the table */
	const MergeWindow *window;
	int			row;			/* next row of the window to be turned */
	TurnedRows	turned;
	MemoryContext turn_context;
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

/*
 * Many streams share what few would have each; so do many columns, since each
 * has its values of a batch.
 */
static void
scan_resources(StreamResources *resources, int nstreams, int ncolumns)
{
	int			sharing = Max(Max(nstreams, ncolumns), 1);

	nstreams = Max(nstreams, 1);
	resources->batch_rows = outerjoin_batch_rows > 0 ? outerjoin_batch_rows :
		Max(BATCH_ROWS_LEAST, Min(BATCH_ROWS, BATCH_ROWS_IN_ALL / sharing));
	resources->first_rows = Min(FIRST_ROWS, resources->batch_rows);
	resources->block_bytes = outerjoin_block_size > 0 ? outerjoin_block_size :
		Max(BLOCK_BYTES_LEAST, Min(BLOCK_BYTES, BLOCK_BYTES_IN_ALL / nstreams));
	resources->memory_kb = Max(64, work_mem / nstreams);
	resources->simd = outerjoin_simd;
}

/* Prepare one stream's input; its vectors are found by field later. */
static void
scan_open_input(TableScan *scan, int stream, const Bitmapset *needed,
				const StreamRole *roles, RowTests *tests)
{
	const StreamSpec *spec = &scan->table->streams[stream];
	MergeInput *input = &scan->inputs[stream];
	bool	   *wanted;

	input->role = roles ? roles[stream] : table_scan_role(scan->table, stream, needed);
	if (input->role == STREAM_NOT_READ)
		return;
	wanted = palloc0(sizeof(bool) * Max(spec->nfields, 1));
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
		scan->columns[scan->ncolumns].vector = vector;
		scan->ncolumns++;
	}
	for (int t = 0; tests != NULL && t < tests->ntests; t++)
		wanted[tests->fields[t]] = true;
	input->stream = stream_open(spec, scan->table->key, wanted, &scan->resources);
	if (tests != NULL)
	{
		input->stream = filtered_open(input->stream, tests, &scan->resources);
		input->tests = tests;
	}
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

/* Arrays for so many values, all null. */
static void
allocate_values(int n, Datum **values, bool **isnull)
{
	*values = palloc0(sizeof(Datum) * Max(n, 1));
	*isnull = palloc(sizeof(bool) * Max(n, 1));
	memset(*isnull, true, sizeof(bool) * n);
}

/*
 * Lay out the rows, and make the columns' indexes places in them.
 */
static void
scan_prepare_rows(TableScan *scan, const Bitmapset *needed)
{
	TurnedRows *turned = &scan->turned;
	int			natts = scan->table->ncolumns;
	int			count = scan->nkeys + scan->ncolumns;

	turned->width = scan->rows.width = natts;
	if (natts > WIDE_TABLE && natts > 2 * count)
	{
		int		   *place = palloc0(sizeof(int) * natts);

		turned->attribute = palloc(sizeof(int) * Max(count, 1));
		turned->width = 0;
		for (int attnum = -1; (attnum = bms_next_member(needed, attnum)) >= 0;)
		{
			place[attnum - 1] = turned->width;
			turned->attribute[turned->width++] = attnum - 1;
		}
		for (int k = 0; k < scan->nkeys; k++)
			scan->keys[k].index = place[scan->keys[k].index];
		for (int c = 0; c < scan->ncolumns; c++)
			scan->columns[c].index = place[scan->columns[c].index];
		allocate_values(natts, &turned->row_values, &turned->row_isnull);
		pfree(place);
	}
	turned->capacity = TURNED_BYTES / (Max(turned->width, 1) * (int) sizeof(Datum));
	turned->capacity = Max(Min(turned->capacity, TURNED_ROWS), TURNED_ROWS_LEAST);
	allocate_values(turned->capacity * turned->width, &turned->values, &turned->isnull);

	/* a key is never null */
	for (int k = 0; k < scan->nkeys; k++)
	{
		for (int r = 0; r < turned->capacity; r++)
			turned->isnull[r * turned->width + scan->keys[k].index] = false;
	}
}

TableScan *
table_scan_open(const TableSpec *table, const Bitmapset *needed,
				const StreamRole *roles, RowTests *const *tests)
{
	TableScan  *scan = palloc0(sizeof(TableScan));

	scan->table = table;
	scan_resources(&scan->resources, table->nstreams, bms_num_members(needed));
	scan->resources.file_key = table->file_key;
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
		scan_open_input(scan, s, needed, roles, tests ? tests[s] : NULL);
	scan->merge = outer_merge_create(table->key, table->nstreams, scan->inputs,
									 scan->resources.batch_rows, work_mem);
	scan_find_positions(scan);
	scan_prepare_rows(scan, needed);
	scan->turn_context = AllocSetContextCreate(CurrentMemoryContext, "outerjoin_fdw rows",
											   ALLOCSET_SMALL_SIZES);
	return scan;
}

/* No row is at hand, and more may come. */
static void
scan_begin_range(TableScan *scan)
{
	scan->window = NULL;
	scan->row = 0;
	scan->rows.left = 0;
	scan->turned.row = 0;
	scan->turned.nrows = 0;
	scan->ended = false;
}

void
table_scan_start(TableScan *scan, const KeyRange *range)
{
	outer_merge_start(scan->merge, range);
	scan_begin_range(scan);
}

void
table_scan_advance(TableScan *scan, const KeyRange *range, bool follows)
{
	outer_merge_advance(scan->merge, range, follows);
	scan_begin_range(scan);
}

void
table_scan_places(const TableScan *scan, int stream, int64 *begins, int64 *ends)
{
	outer_merge_places(scan->merge, stream, begins, ends);
}

void
table_scan_show_files(const TableScan *scan, FileVisitor visit, void *state)
{
	for (int s = 0; s < scan->table->nstreams; s++)
		if (scan->inputs[s].stream != NULL)
			stream_show_files(scan->inputs[s].stream, visit, state);
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

/* One value column of so many rows. */
static void
turn_column(const ScanColumn *column, const BatchRow *slot, int nrows,
			Datum *restrict values, bool *restrict isnull, int width)
{
	const BatchRow *position = column->position;
	const Datum *from_values = column->vector->values;
	const bool *from_isnull = column->vector->isnull;

#pragma GCC unroll 4
	for (int r = 0; r < nrows; r++)
	{
		int			row = position[slot[r]];

		*values = from_values[row];
		*isnull = from_isnull[row];
		values += width;
		isnull += width;
	}
}

static void
turn_key(TableScan *scan, const ScanKeyColumn *key, const BatchRow *slot, int nrows)
{
	const Datum *exact = scan->window->key;
	int			width = scan->turned.width;
	Datum	   *values = scan->turned.values + key->index;

	if (exact == NULL)
	{
		for (int r = 0; r < nrows; r++)
			values[r * width] = outer_merge_key(scan->merge, scan->row + r, key->column);
		return;
	}
#pragma GCC unroll 4
	for (int r = 0; r < nrows; r++)
	{
		*values = exact[slot[r]];
		values += width;
	}
}

/* Turn the next rows of the window; false at the end of everything. */
static bool
scan_turn_rows(TableScan *scan)
{
	TurnedRows *turned = &scan->turned;
	const MergeWindow *window = scan->window;
	BatchRow	numbers[TURNED_ROWS];
	const BatchRow *slots = numbers;
	int			nrows;

	if (window == NULL || scan->row >= window->nrows)
	{
		if (!scan_next_window(scan))
			return false;
		window = scan->window;
	}
	nrows = Min(window->nrows - scan->row, turned->capacity);
	if (window->slot != NULL)
		slots = window->slot + scan->row;
	else
	{
		for (int r = 0; r < nrows; r++)
			numbers[r] = (BatchRow) (scan->row + r);
	}

	for (int k = 0; k < scan->nkeys; k++)
		turn_key(scan, &scan->keys[k], slots, nrows);
	for (int c = 0; c < scan->ncolumns; c++)
	{
		const ScanColumn *column = &scan->columns[c];

		turn_column(column, slots, nrows, turned->values + column->index,
					turned->isnull + column->index, turned->width);
	}
	scan->row += nrows;
	turned->row = 0;
	turned->nrows = nrows;
	return true;
}

/* The row at hand to where its attributes belong. */
static void
spread_row(TurnedRows *turned, Datum **values, bool **isnull)
{
	const Datum *from_values = turned->values + (size_t) turned->row * turned->width;
	const bool *from_isnull = turned->isnull + (size_t) turned->row * turned->width;

	for (int i = 0; i < turned->width; i++)
	{
		turned->row_values[turned->attribute[i]] = from_values[i];
		turned->row_isnull[turned->attribute[i]] = from_isnull[i];
	}
	*values = turned->row_values;
	*isnull = turned->row_isnull;
}

/* scan_turn_rows, with a context for what is only of use meanwhile. */
static bool
scan_turn(TableScan *scan)
{
	MemoryContext old = MemoryContextSwitchTo(scan->turn_context);
	bool		found;

	CHECK_FOR_INTERRUPTS();
	MemoryContextReset(scan->turn_context);
	found = scan_turn_rows(scan);
	MemoryContextSwitchTo(old);
	return found;
}

bool
table_scan_turn(TableScan *scan, Datum **values, bool **isnull)
{
	TurnedRows *turned = &scan->turned;
	TableRows  *rows = &scan->rows;

	if (turned->row == turned->nrows && !scan_turn(scan))
		return false;
	if (turned->attribute != NULL)
	{
		spread_row(turned, values, isnull);
		turned->row++;
		return true;
	}
	rows->left = turned->nrows;
	rows->values = turned->values;
	rows->isnull = turned->isnull;
	turned->row = turned->nrows;
	return table_scan_next(scan, values, isnull);
}

const MergeWindow *
table_scan_next_window(TableScan *scan)
{
	return outer_merge_next(scan->merge);
}

const FieldVector *
table_scan_vector(const TableScan *scan, int attnum)
{
	const TableColumn *column = &scan->table->columns[attnum - 1];
	const MergeInput *input = &scan->inputs[column->stream];

	for (int v = 0; v < input->nvectors; v++)
		if (input->vectors[v].field == column->field)
			return &input->vectors[v];
	elog(ERROR, "column %d is not read", attnum);
	return NULL;				/* keep compiler quiet */
}

Datum
table_scan_window_key(const TableScan *scan, int row, int key_column)
{
	return outer_merge_key(scan->merge, row, key_column);
}

bool
table_scan_takes_batches(const TableScan *scan)
{
	return outer_merge_is_plain(scan->merge);
}

void
table_scan_forgo_positions(TableScan *scan)
{
	outer_merge_forgo_positions(scan->merge);
}

int
table_scan_batch_rows(const TableScan *scan, int stream, int *from)
{
	const MergeInput *input = &scan->inputs[stream];

	*from = input->from;
	return input->to - input->from;
}

void
table_scan_count(const TableScan *scan, int stream, StreamCounters *counters)
{
	ColumnStream *source = scan->inputs[stream].stream;

	if (source != NULL)
		source->methods->count(source, counters);
}

void
table_scan_close(TableScan *scan)
{
	outer_merge_close(scan->merge);
}
