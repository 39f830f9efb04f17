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

	/* integer List: each stream's StreamRole */
	SCAN_PRIVATE_ROLES,

	/*
	 * early_clauses_encode's List, which says where in fdw_exprs the values
	 * are; the clauses are the last ones of fdw_recheck_quals
	 */
	SCAN_PRIVATE_EARLY_CLAUSES,

	/*
	 * NIL, or, where the scan computes aggregates (aggregate.h): an oid List
	 * with the table, an integer List of attribute numbers of the columns that
	 * are asked for their nulls alone
	 */
	SCAN_PRIVATE_AGGREGATES,
	/* Boolean, or NULL for false: the rows come the other way */
	SCAN_PRIVATE_BACKWARD,
	SCAN_PRIVATE_LENGTH
} ScanPrivate;

#endif							/* OUTERJOIN_PLAN_H */
