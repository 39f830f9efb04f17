/*-------------------------------------------------------------------------
 *
 * filtered.h
 *	  A stream without the rows whose values fail a test.
 *
 *-------------------------------------------------------------------------
 */
#ifndef OUTERJOIN_FILTERED_H
#define OUTERJOIN_FILTERED_H

#include "column/column_stream.h"

typedef struct RowTests RowTests;

/*
 * Tests on one stream's fields, applied one after the other.  Whoever has
 * them made sets the callback.
 */
struct RowTests
{
	int			ntests;
	int		   *fields;			/* [ntests] index into the stream's spec->fields */
	bool		none;			/* no row can pass: nothing needs reading */
	int64		removed;		/* rows that have failed so far */
	const KeyRange *range;		/* rows outside are neither tested nor delivered;
								 * NULL: everything */

	/*
	 * List in "out" the rows among "rows" (ascending, nrows of them; NULL:
	 * all from 0 on) that pass test number "test".  "out" may be "rows".
	 */
	int			(*pass) (RowTests *tests, int test, const Datum *values, const bool *isnull,
						 const BatchRow *rows, int nrows, BatchRow *out);
};

/*
 * The rows of base that pass.  The tests must outlive the stream; "none" and
 * "range" may change ahead of a seek, or before the first batch.  Allocates in the current context.
 */
extern ColumnStream *filtered_open(ColumnStream *base, RowTests *tests,
								   const StreamResources *resources);

#endif							/* OUTERJOIN_FILTERED_H */
