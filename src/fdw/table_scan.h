/*-------------------------------------------------------------------------
 *
 * table_scan.h
 *	  A table's streams opened and merged, and rows of the table out of it.
 *
 *-------------------------------------------------------------------------
 */
#ifndef OUTERJOIN_TABLE_SCAN_H
#define OUTERJOIN_TABLE_SCAN_H

#include "nodes/bitmapset.h"

#include "fdw/table_spec.h"
#include "merge/outer_merge.h"

typedef struct TableScan TableScan;

/*
 * The head of a TableScan: rows that stand one behind the other.  For
 * table_scan_next alone, which is called for every row and so is inlined.
 */
typedef struct TableRows
{
	int			left;
	int			width;			/* values in a row */
	Datum	   *values;			/* of the next row */
	bool	   *isnull;
} TableRows;

/* What a stream is read for in the full outer join, with "needed" as below. */
extern StreamRole table_scan_role(const TableSpec *table, int stream, const Bitmapset *needed);

/*
 * Open all streams.  "needed" holds the attribute numbers of the columns whose
 * values are asked for; "roles" says what each stream is read for (NULL: the
 * full outer join); "tests" holds, by stream, what is tested of a required
 * stream's rows (NULL: nothing).  Everything lives in the current context.
 */
extern TableScan *table_scan_open(const TableSpec *table, const Bitmapset *needed,
								  const StreamRole *roles, RowTests *const *tests);

/* Start, or start again, on a range (NULL: everything), which must stay valid. */
extern void table_scan_start(TableScan *scan, const KeyRange *range);

/* Go on with a range beyond the one before: see outer_merge_advance. */
extern void table_scan_advance(TableScan *scan, const KeyRange *range, bool follows);

/* See outer_merge_places. */
extern void table_scan_places(const TableScan *scan, int stream, int64 *begins, int64 *ends);

/* Show all files that are open for the scan, always in the same order. */
extern void table_scan_show_files(const TableScan *scan, FileVisitor visit, void *state);

/* table_scan_next where no row is at hand. */
extern bool table_scan_turn(TableScan *scan, Datum **values, bool **isnull);

/*
 * The next row: its values and nulls, by attribute number - 1, columns that
 * are not needed as nulls.  False at the end.  The arrays and by-reference
 * values are valid until the next call; who writes into the arrays spoils
 * nothing but this row, as long as he leaves the nulls as they are.
 */
static inline bool
table_scan_next(TableScan *scan, Datum **values, bool **isnull)
{
	TableRows  *rows = (TableRows *) scan;

	if (unlikely(rows->left == 0))
		return table_scan_turn(scan, values, isnull);
	rows->left--;
	*values = rows->values;
	*isnull = rows->isnull;
	rows->values += rows->width;
	rows->isnull += rows->width;
	return true;
}

/*
 * Instead of rows, the merge's windows (outer_merge.h), after a start; NULL at
 * the end.  A window's columns are table_scan_vector's, by the positions of
 * the column's stream.
 */
extern const MergeWindow *table_scan_next_window(TableScan *scan);
extern const FieldVector *table_scan_vector(const TableScan *scan, int attnum);
extern Datum table_scan_window_key(const TableScan *scan, int row, int key_column);

/*
 * Does every row of a stream's batches stand in just one row of one window?
 * Then a window holds the rows that table_scan_batch_rows says, beginning at
 * *from in the stream's vectors, in their order.
 */
extern bool table_scan_takes_batches(const TableScan *scan);

/* Where that is so: windows' positions will not be looked at. */
extern void table_scan_forgo_positions(TableScan *scan);
extern int	table_scan_batch_rows(const TableScan *scan, int stream, int *from);

/* Add up one stream's counters. */
extern void table_scan_count(const TableScan *scan, int stream, StreamCounters *counters);

extern void table_scan_close(TableScan *scan);

#endif							/* OUTERJOIN_TABLE_SCAN_H */
