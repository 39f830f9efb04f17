/*-------------------------------------------------------------------------
 *
 * arrow_facts.h
 *	  What an Arrow file says of itself.
 *
 *-------------------------------------------------------------------------
 */
#ifndef OUTERJOIN_ARROW_FACTS_H
#define OUTERJOIN_ARROW_FACTS_H

#include "column/column_stream.h"

/* As ColumnFormat's facts: rows are exact, the range is that of plain integers, dates and timestamps. */
extern void arrow_facts(const StreamSpec *spec, const struct SegmentFile *file,
						const Key *key, StreamFacts *facts);

#endif							/* OUTERJOIN_ARROW_FACTS_H */
