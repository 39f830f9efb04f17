/*-------------------------------------------------------------------------
 *
 * csv_facts.h
 *	  What can be told of a text file from a few looks at it.
 *
 *-------------------------------------------------------------------------
 */
#ifndef OUTERJOIN_CSV_FACTS_H
#define OUTERJOIN_CSV_FACTS_H

#include "column/column_stream.h"

/* As ColumnFormat's facts: an estimate of the rows, and the range of plain integer keys. */
extern void csv_facts(const StreamSpec *spec, const struct SegmentFile *file,
					  const Key *key, StreamFacts *facts);

#endif							/* OUTERJOIN_CSV_FACTS_H */
