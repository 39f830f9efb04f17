/*-------------------------------------------------------------------------
 *
 * plan.h
 *	  What a plan tells its scan.
 *
 * Lists of names and numbers only: a plan can be copied, kept, and sent to
 * another process.
 *
 *-------------------------------------------------------------------------
 */
#ifndef OUTERJOIN_PLAN_H
#define OUTERJOIN_PLAN_H

/* The slots of ForeignScan.fdw_private. */
typedef enum ScanPrivate
{
	/* integer List: attribute numbers of the columns whose values are asked for */
	SCAN_PRIVATE_NEEDED,

	/*
	 * key_clauses_encode's List; the values are fdw_exprs, one for each but
	 * KEY_NULL's, in the same order
	 */
	SCAN_PRIVATE_KEY_CLAUSES,

	/* Boolean: the rows come the other way */
	SCAN_PRIVATE_BACKWARD,
	SCAN_PRIVATE_LENGTH
} ScanPrivate;

#endif							/* OUTERJOIN_PLAN_H */
