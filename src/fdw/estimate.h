/*-------------------------------------------------------------------------
 *
 * estimate.h
 *	  How many rows the full outer join of streams has, from what is known of
 *	  the streams.
 *
 *-------------------------------------------------------------------------
 */
#ifndef OUTERJOIN_ESTIMATE_H
#define OUTERJOIN_ESTIMATE_H

#include "fdw/table_spec.h"
#include "merge/outer_merge.h"

/* Rows of the union of the streams. */
extern double union_rows(const Key *key, int nstreams, const StreamFacts *facts);

/*
 * Rows that have the keys of all streams whose role is "required"; negative
 * where none is.
 */
extern double intersection_rows(const Key *key, int nstreams, const StreamFacts *facts,
								const StreamRole *roles);

/*
 * Which part of the rows lies in the range, 0 to 1; negative where nothing is
 * known.
 */
extern double range_fraction(const Key *key, int nstreams, const StreamFacts *facts,
							 const KeyRange *range);

#endif							/* OUTERJOIN_ESTIMATE_H */
