/*-------------------------------------------------------------------------
 *
 * accumulator.h
 *	  One aggregate over a column of values, as PostgreSQL computes it.
 *
 * Results are those of PostgreSQL's own aggregates, bit for bit: integers are
 * added without rounding (int8 in 128 bits, becoming numeric), a sum of real
 * is added in real, an average of floats keeps the moments that may overflow,
 * of floats NaN is the greatest.  Values count in the order in which they are
 * given.
 *
 *-------------------------------------------------------------------------
 */
#ifndef OUTERJOIN_ACCUMULATOR_H
#define OUTERJOIN_ACCUMULATOR_H

#include "column/column_batch.h"

typedef enum AccumulatorTask
{
	ACCUMULATE_ROWS,			/* count(*); takes no values */
	ACCUMULATE_COUNT,			/* of those that are not null */
	ACCUMULATE_SUM,
	ACCUMULATE_AVERAGE,
	ACCUMULATE_MIN,				/* of booleans: bool_and */
	ACCUMULATE_MAX				/* bool_or */
} AccumulatorTask;

/* What a value is; dates and timestamps are integers. */
typedef enum AccumulatorType
{
	ACCUMULATE_ANY,				/* ACCUMULATE_COUNT only */
	ACCUMULATE_BOOL,			/* ACCUMULATE_MIN and _MAX only */
	ACCUMULATE_INT16,
	ACCUMULATE_INT32,
	ACCUMULATE_INT64,
	ACCUMULATE_FLOAT4,
	ACCUMULATE_FLOAT8
} AccumulatorType;

typedef struct Accumulator
{
	AccumulatorTask task;
	AccumulatorType type;
	int64		count;			/* values that are not null; rows */
	int64		integer;		/* sum of small integers, or an extreme */
	int128		wide;			/* sum of int8 */
	float4		single;			/* sum or extreme of float4 */
	float8		real;			/* sum or extreme of float8; moments: sum */
	float8		squares;		/* moments: of the deviations */
} Accumulator;

/* Begin, or begin again: nothing has been counted. */
extern void accumulator_init(Accumulator *accumulator, AccumulatorTask task, AccumulatorType type);

static inline void
accumulate_rows(Accumulator *accumulator, int64 nrows)
{
	accumulator->count += nrows;
}

/* One value. */
extern void accumulate_value(Accumulator *accumulator, Datum value, bool isnull);

/* n consecutive values; isnull NULL: none is. */
extern void accumulate_run(Accumulator *accumulator, const Datum *values, const bool *isnull, int n);

/*
 * The values of n rows of a merge's window: row r stands in slot[r] (r, where
 * slot is NULL), its value in position[slot] (slot, where position is NULL)
 * of values and isnull (NULL: none is).  A position may be -1.
 */
extern void accumulate_slots(Accumulator *accumulator, const Datum *values, const bool *isnull,
							 const BatchRow *position, const BatchRow *slot, int n);

/* The aggregate's result, allocated in the current context. */
extern Datum accumulator_result(const Accumulator *accumulator, bool *isnull);

#endif							/* OUTERJOIN_ACCUMULATOR_H */
