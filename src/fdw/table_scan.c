/*-------------------------------------------------------------------------
 *
 * table_scan.c
 *	  A table's streams opened and merged, and rows of the table out of it.
 *
 * The merge's windows are columns; the executor wants rows.  They are turned
 * a few dozen rows at a time, column by column, so that a table of a thousand
 * columns has one column's arrays at hand, not a thousand; a row then costs
 * the copying of its values.
 *
 * Refuses to know: plans, and nodes of the executor.
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
/* ... and this many rows in all streams' (or columns') batches keep the memory small. */
#define BATCH_ROWS_IN_ALL	(512 * 1024)
#define BATCH_ROWS_LEAST	256
#define FIRST_ROWS			128

#define BLOCK_BYTES			(256 * 1024)
#define BLOCK_BYTES_IN_ALL	(16 * 1024 * 1024)
#define BLOCK_BYTES_LEAST	(16 * 1024)

/* Rows turned at once: so many bytes of values, within the first-level cache. */
#define TURNED_BYTES		(16 * 1024)
#define TURNED_ROWS			64
#define TURNED_ROWS_LEAST	4

/* Rows of so few values are copied faster than memcpy is called. */
#define NARROW_ROW			8

/* A value column that is asked for. */
typedef struct ScanColumn
{
	int			index;			/* attribute number - 1, then place in a turned row */
	const BatchRow *position;
	const Datum *values;
	const bool *isnull;
} ScanColumn;

/* A key column that is asked for. */
typedef struct ScanKeyColumn
{
	int			index;			/* likewise */
	int			column;			/* of the key */
} ScanKeyColumn;

/*
 * Rows of the window as rows.  They take in the attributes from the first to
 * the last one asked for; where those are few among many, only them, and
 * "attribute" says which they are.
 */
typedef struct TurnedRows
{
	int			capacity;		/* rows */
	int			width;			/* values in a row */
	int			first;			/* attribute number - 1 of the first value */
	int		   *attribute;		/* [width] attribute numbers - 1, or NULL */
	bool		narrow;			/* attribute is NULL, width at most NARROW_ROW */
	int			row;			/* next one to be handed out */
	int			nrows;
	Datum	   *values;			/* [row * width] */
	bool	   *isnull;
} TurnedRows;

struct TableScan
{
	const TableSpec *table;
	OuterMerge *merge;
	StreamResources resources;
	MergeInput *inputs;			/* one for each stream of the table */
	const MergeWindow *window;
	int			row;			/* next row of the window to be turned */
	TurnedRows	turned;
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

/*
 * Lay out the rows, and make the columns' indexes places in them.
 */
static void
scan_prepare_rows(TableScan *scan, const Bitmapset *needed)
{
	TurnedRows *turned = &scan->turned;
	int			count = scan->nkeys + scan->ncolumns;
	int			last = -1;
	int		   *place;

	turned->first = 0;
	for (int attnum = -1; (attnum = bms_next_member(needed, attnum)) >= 0;)
	{
		if (last < 0)
			turned->first = attnum - 1;
		last = attnum - 1;
	}
	place = palloc0(sizeof(int) * (last + 2));
	turned->width = count == 0 ? 0 : last - turned->first + 1;
	if (turned->width > 2 * count)
	{
		turned->attribute = palloc(sizeof(int) * count);
		turned->width = 0;
		for (int attnum = -1; (attnum = bms_next_member(needed, attnum)) >= 0;)
		{
			place[attnum - 1] = turned->width;
			turned->attribute[turned->width++] = attnum - 1;
		}
	}
	else
	{
		for (int i = 0; i < turned->width; i++)
			place[turned->first + i] = i;
	}
	turned->narrow = turned->attribute == NULL && turned->width <= NARROW_ROW;
	for (int k = 0; k < scan->nkeys; k++)
		scan->keys[k].index = place[scan->keys[k].index];
	for (int c = 0; c < scan->ncolumns; c++)
		scan->columns[c].index = place[scan->columns[c].index];

	turned->capacity = TURNED_BYTES / (Max(turned->width, 1) * (int) sizeof(Datum));
	turned->capacity = Max(Min(turned->capacity, TURNED_ROWS), TURNED_ROWS_LEAST);
	turned->values = palloc0(sizeof(Datum) * turned->capacity * Max(turned->width, 1));
	turned->isnull = palloc(sizeof(bool) * turned->capacity * Max(turned->width, 1));
	memset(turned->isnull, true, sizeof(bool) * turned->capacity * turned->width);
}

TableScan *
table_scan_open(const TableSpec *table, const Bitmapset *needed)
{
	TableScan  *scan = palloc0(sizeof(TableScan));

	scan->table = table;
	scan_resources(&scan->resources, table->nstreams, bms_num_members(needed));
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
	scan_prepare_rows(scan, needed);
	return scan;
}

void
table_scan_start(TableScan *scan, const KeyRange *range)
{
	outer_merge_start(scan->merge, range);
	scan->window = NULL;
	scan->row = 0;
	scan->turned.row = 0;
	scan->turned.nrows = 0;
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

/* One value column of so many rows. */
static void
turn_column(const ScanColumn *column, const BatchRow *slot, int nrows,
			Datum *restrict values, bool *restrict isnull, int width)
{
	const BatchRow *position = column->position;
	const Datum *from_values = column->values;
	const bool *from_isnull = column->isnull;

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
	bool	   *isnull = scan->turned.isnull + key->index;

	for (int r = 0; r < nrows; r++)
	{
		values[r * width] = exact ? exact[slot[r]] :
			outer_merge_key(scan->merge, scan->row + r, key->column);
		isnull[r * width] = false;
	}
}

/*
 * Turn the next rows of the window; false at the end of everything.  Kept out
 * of table_scan_next, which is called for every row.
 */
static pg_noinline bool
scan_turn_rows(TableScan *scan)
{
	TurnedRows *turned = &scan->turned;
	const MergeWindow *window = scan->window;
	BatchRow	slots[TURNED_ROWS];
	int			nrows;

	if (window == NULL || scan->row >= window->nrows)
	{
		if (!scan_next_window(scan))
			return false;
		window = scan->window;
	}
	nrows = Min(window->nrows - scan->row, turned->capacity);
	for (int r = 0; r < nrows; r++)
		slots[r] = window->slot ? window->slot[scan->row + r] : (BatchRow) (scan->row + r);

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

/* A row of few values: sizes that are known make a few moves of each copy. */
static pg_attribute_always_inline void
copy_narrow_row(const Datum *from_values, const bool *from_isnull,
				Datum *values, bool *isnull, int width)
{
	switch (width)
	{
#define COPY_ROW(n) \
		case n: \
			memcpy(values, from_values, sizeof(Datum) * (n)); \
			memcpy(isnull, from_isnull, sizeof(bool) * (n)); \
			break

			COPY_ROW(1);
			COPY_ROW(2);
			COPY_ROW(3);
			COPY_ROW(4);
			COPY_ROW(5);
			COPY_ROW(6);
			COPY_ROW(7);
			COPY_ROW(8);
#undef COPY_ROW
	}
}

/* A row into many attributes, or into attributes far apart. */
static pg_noinline void
copy_wide_row(const TurnedRows *turned, const Datum *from_values, const bool *from_isnull,
			  Datum *values, bool *isnull)
{
	if (turned->attribute == NULL)
	{
		memcpy(values + turned->first, from_values, sizeof(Datum) * turned->width);
		memcpy(isnull + turned->first, from_isnull, sizeof(bool) * turned->width);
		return;
	}
	for (int i = 0; i < turned->width; i++)
	{
		values[turned->attribute[i]] = from_values[i];
		isnull[turned->attribute[i]] = from_isnull[i];
	}
}

/* What is rare stands in functions of its own, so that this one has no frame. */
static pg_noinline bool
turn_and_next(TableScan *scan, Datum *values, bool *isnull)
{
	return scan_turn_rows(scan) && table_scan_next(scan, values, isnull);
}

bool
table_scan_next(TableScan *scan, Datum *values, bool *isnull)
{
	TurnedRows *turned = &scan->turned;
	int			width = turned->width;
	const Datum *from_values = turned->values + (size_t) turned->row * width;
	const bool *from_isnull = turned->isnull + (size_t) turned->row * width;

	if (unlikely(turned->row == turned->nrows))
		return turn_and_next(scan, values, isnull);
	turned->row++;
	if (turned->narrow)
		copy_narrow_row(from_values, from_isnull, values + turned->first, isnull + turned->first, width);
	else
		copy_wide_row(turned, from_values, from_isnull, values, isnull);
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
