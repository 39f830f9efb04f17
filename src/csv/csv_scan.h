/*-------------------------------------------------------------------------
 *
 * csv_scan.h
 *	  Where the fields of plain rows lie, found 64 bytes at a time.
 *
 * Two steps.  csv_scan_marks lists the positions of all bytes that may end a
 * field; csv_scan_take groups them into rows of a known number of fields, and
 * stops at the first row that is anything but plain.  Pure functions over
 * memory.
 *
 *-------------------------------------------------------------------------
 */
#ifndef OUTERJOIN_CSV_SCAN_H
#define OUTERJOIN_CSV_SCAN_H

#include "csv/csv_rows.h"

/* Most bytes scanned at once; so many positions may come out of it. */
#define CSV_SCAN_PIECE	8192
/* Readable bytes behind what is scanned, and spare positions. */
#define CSV_SCAN_SLACK	64

typedef struct CsvScan CsvScan;
typedef void (*CsvScanMarks) (CsvScan *scan, const char *base, uint32 from, uint32 to);

struct CsvScan
{
	/* settings */
	CsvScanMarks marks;
	char		delimiter;
	char		newline;		/* the byte that ends a row */
	char		stray;			/* the other line-end byte */
	char		special;		/* quote, or the text format's backslash */
	bool		parity;			/* special toggles quoting, and nothing else does */
	bool		crlf;			/* newline must follow stray, and stray come before newline */

	/* positions found and not yet used: [first, end) */
	uint32	   *position;
	int			first;
	int			end;

	/* state between pieces */
	uint64		in_quote;		/* all ones while inside quotes */
	uint32		quote_end;		/* no quote was seen at or after this offset */

	/* of the last piece */
	bool		plain_ascii;	/* neither a zero byte nor a high bit */
	bool		alternating;	/* the positions not used are delimiter, newline,
								 * delimiter ...; may be false without a reason */
	int			breaks;			/* line ends inside quotes */
};

/* Which fields of a row are wanted, and where they go: [nwanted][row]. */
typedef struct CsvFields
{
	int			nfields;
	int			nwanted;
	const int  *wanted;			/* ascending */
	uint32	  **offset;
	uint32	  **length;
} CsvFields;

/* Why csv_scan_take stopped. */
typedef enum CsvScanStop
{
	CSV_SCAN_FULL,				/* max_rows reached */
	CSV_SCAN_DRY,				/* no positions left below the limit for a whole row */
	CSV_SCAN_IRREGULAR			/* the row at *start needs csv_row_find */
} CsvScanStop;

/* The settings that follow from a grammar whose line end is known. */
extern void csv_scan_init(CsvScan *scan, const CsvGrammar *grammar, bool simd);

/* Forget all positions; scanning begins anew at a row's start. */
extern void csv_scan_reset(CsvScan *scan);

/*
 * List what is found in [from, to), at most CSV_SCAN_PIECE bytes.  position
 * has room for end + CSV_SCAN_PIECE + CSV_SCAN_SLACK entries.
 */
static inline void
csv_scan_marks(CsvScan *scan, const char *base, uint32 from, uint32 to)
{
	scan->marks(scan, base, from, to);
}

/*
 * Take rows *row .. max_rows - 1 from the row that starts at *start, as far
 * as their positions lie below "limit".  Advances *row and *start.
 */
extern CsvScanStop csv_scan_take(CsvScan *scan, const CsvFields *fields, const char *base,
								 uint32 *start, uint32 limit, int *row, int max_rows);

/* Drop positions before "start", after a row was taken in another way. */
extern void csv_scan_skip(CsvScan *scan, uint32 start);

/*
 * The scans that this machine can run, all with the same result: the portable
 * one first, the fastest last.  Returns how many.
 */
#define CSV_SCAN_WIDTHS	4
extern int	csv_scan_widths(CsvScanMarks *marks);

#endif							/* OUTERJOIN_CSV_SCAN_H */
