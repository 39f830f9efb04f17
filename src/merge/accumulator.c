/*-------------------------------------------------------------------------
 *
 * accumulator.c
 *	  One aggregate over a column of values, as PostgreSQL computes it.
 *
 * Each pair of a task and a type has loops of its own, made by inlining one
 * step into one of three ways to go over values.  What a step adds to stays in
 * registers meanwhile.
 *
 * Refuses to know: which SQL function is which task, streams, and rows.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "utils/builtins.h"
#include "utils/float.h"
#include "utils/numeric.h"

#include "merge/accumulator.h"

void
accumulator_init(Accumulator *accumulator, AccumulatorTask task, AccumulatorType type)
{
	memset(accumulator, 0, sizeof(*accumulator));
	accumulator->task = task;
	accumulator->type = type;
	if (task == ACCUMULATE_MIN)
		accumulator->integer = PG_INT64_MAX;
	else if (task == ACCUMULATE_MAX)
		accumulator->integer = PG_INT64_MIN;
	else if (task == ACCUMULATE_SUM)
	{
		/* a sum begins with its first value, whose zero may be a negative one */
		accumulator->single = -0.0f;
		accumulator->real = -0.0;
	}
}

/* ------------------------------------------------------------ steps */

/* Rare, and so no part of the loops. */
static pg_noinline void
check_single(float4 sum, float4 before, float4 value)
{
	if (isinf(sum) && !isinf(before) && !isinf(value))
		float_overflow_error();
}

static pg_noinline void
check_real(float8 sum, float8 before, float8 value)
{
	if (isinf(sum) && !isinf(before) && !isinf(value))
		float_overflow_error();
}

static pg_attribute_always_inline int64
integer_of(AccumulatorType type, Datum value)
{
	switch (type)
	{
		case ACCUMULATE_BOOL:
			return DatumGetBool(value);
		case ACCUMULATE_INT16:
			return DatumGetInt16(value);
		case ACCUMULATE_INT32:
			return DatumGetInt32(value);
		default:
			return DatumGetInt64(value);
	}
}

static pg_attribute_always_inline float8
float_of(AccumulatorType type, Datum value)
{
	return type == ACCUMULATE_FLOAT4 ? (float8) DatumGetFloat4(value) : DatumGetFloat8(value);
}

/*
 * A null adds a negative zero, which changes no sum: there is no branch to be
 * mispredicted.
 */
static pg_attribute_always_inline void
add_float(Accumulator *a, AccumulatorType type, Datum value, bool isnull)
{
	if (type == ACCUMULATE_FLOAT4)
	{
		float4		added = isnull ? -0.0f : DatumGetFloat4(value);
		float4		before = a->single;

		a->single = before + added;
		if (unlikely(isinf(a->single)))
			check_single(a->single, before, added);
	}
	else
	{
		float8		added = isnull ? -0.0 : DatumGetFloat8(value);
		float8		before = a->real;

		a->real = before + added;
		if (unlikely(isinf(a->real)))
			check_real(a->real, before, added);
	}
	a->count += !isnull;
}

/*
 * Youngs and Cramer's sums, as float8_accum has them: an average needs the
 * first only, but its errors come from both.
 */
static pg_attribute_always_inline void
add_moments(Accumulator *a, AccumulatorType type, Datum value, bool isnull)
{
	float8		added = float_of(type, value);
	float8		before = a->real;
	float8		n;

	if (isnull)
		return;
	n = (float8) ++a->count;
	a->real += added;
	if (a->count > 1)
	{
		float8		deviation = added * n - a->real;

		a->squares += deviation * deviation / (n * (n - 1.0));
		if (unlikely(isinf(a->real) || isinf(a->squares)))
		{
			if (!isinf(before) && !isinf(added))
				float_overflow_error();
			a->squares = get_float8_nan();
		}
	}
	else if (isnan(added) || isinf(added))
		a->squares = get_float8_nan();
}

/* Of equals the later one is kept, as float4smaller and its like do it. */
static pg_attribute_always_inline void
keep_float(Accumulator *a, AccumulatorTask task, AccumulatorType type, Datum value, bool isnull)
{
	if (isnull)
		return;
	if (type == ACCUMULATE_FLOAT4)
	{
		float4		other = DatumGetFloat4(value);

		if (a->count == 0 ||
			!(task == ACCUMULATE_MIN ? float4_lt(a->single, other) : float4_gt(a->single, other)))
			a->single = other;
	}
	else
	{
		float8		other = DatumGetFloat8(value);

		if (a->count == 0 ||
			!(task == ACCUMULATE_MIN ? float8_lt(a->real, other) : float8_gt(a->real, other)))
			a->real = other;
	}
	a->count++;
}

static pg_attribute_always_inline void
keep_integer(Accumulator *a, AccumulatorTask task, AccumulatorType type, Datum value, bool isnull)
{
	int64		other = integer_of(type, value);

	if (task == ACCUMULATE_MIN)
		a->integer = !isnull && other < a->integer ? other : a->integer;
	else
		a->integer = !isnull && other > a->integer ? other : a->integer;
	a->count += !isnull;
}

/* No sum of fewer than 2^32 values of 32 bits wraps; PostgreSQL's own does not look either. */
static pg_attribute_always_inline void
add_integer(Accumulator *a, AccumulatorType type, Datum value, bool isnull)
{
	int64		added = isnull ? 0 : integer_of(type, value);

	if (type == ACCUMULATE_INT64)
		a->wide += added;
	else
		a->integer = (int64) ((uint64) a->integer + (uint64) added);
	a->count += !isnull;
}

/* What a task does with a value; "task" and "type" are constants where it is inlined. */
static pg_attribute_always_inline void
step(Accumulator *a, AccumulatorTask task, AccumulatorType type, Datum value, bool isnull)
{
	bool		is_float = type == ACCUMULATE_FLOAT4 || type == ACCUMULATE_FLOAT8;

	switch (task)
	{
		case ACCUMULATE_ROWS:
			a->count++;
			break;
		case ACCUMULATE_COUNT:
			a->count += !isnull;
			break;
		case ACCUMULATE_SUM:
			if (is_float)
				add_float(a, type, value, isnull);
			else
				add_integer(a, type, value, isnull);
			break;
		case ACCUMULATE_AVERAGE:
			if (is_float)
				add_moments(a, type, value, isnull);
			else
				add_integer(a, type, value, isnull);
			break;
		case ACCUMULATE_MIN:
		case ACCUMULATE_MAX:
			if (is_float)
				keep_float(a, task, type, value, isnull);
			else
				keep_integer(a, task, type, value, isnull);
			break;
	}
}

/* ------------------------------------------------------------ loops */

typedef struct ValueRun
{
	const Datum *values;
	const bool *isnull;			/* NULL: none is */
	const BatchRow *position;
	const BatchRow *slot;
	int			n;
} ValueRun;

typedef enum RunShape
{
	RUN_CONSECUTIVE,
	RUN_SLOTS,					/* slot, if any, says where a value stands */
	RUN_POSITIONS				/* position does */
} RunShape;

static pg_attribute_always_inline void
go_over(Accumulator *accumulator, AccumulatorTask task, AccumulatorType type,
		RunShape shape, bool nulls, const ValueRun *run)
{
	Accumulator a = *accumulator;
	const Datum *values = run->values;
	const bool *isnull = run->isnull;
	const BatchRow *position = run->position;
	const BatchRow *slot = run->slot;
	int			n = run->n;

	for (int r = 0; r < n; r++)
	{
		int			at = r;

		if (shape != RUN_CONSECUTIVE && slot)
			at = slot[r];
		if (shape == RUN_POSITIONS)
			at = position[at];
		step(&a, task, type, values[at], nulls && isnull[at]);
	}
	*accumulator = a;
}

static pg_attribute_always_inline void
go_over_shape(Accumulator *accumulator, AccumulatorTask task, AccumulatorType type,
			  const ValueRun *run)
{
	if (run->position)
		go_over(accumulator, task, type, RUN_POSITIONS, true, run);
	else if (run->slot)
		go_over(accumulator, task, type, RUN_SLOTS, false, run);
	else if (run->isnull)
		go_over(accumulator, task, type, RUN_CONSECUTIVE, true, run);
	else
		go_over(accumulator, task, type, RUN_CONSECUTIVE, false, run);
}

#define PAIR(task, type) \
	((int) (task) * (ACCUMULATE_FLOAT8 + 1) + (int) (type))
#define LOOPS(task, type) \
	case PAIR(task, type): \
		go_over_shape(accumulator, task, type, run); \
		break

static void
accumulate(Accumulator *accumulator, const ValueRun *run)
{
	switch (PAIR(accumulator->task, accumulator->type))
	{
			LOOPS(ACCUMULATE_COUNT, ACCUMULATE_ANY);
			LOOPS(ACCUMULATE_SUM, ACCUMULATE_INT16);
			LOOPS(ACCUMULATE_SUM, ACCUMULATE_INT32);
			LOOPS(ACCUMULATE_SUM, ACCUMULATE_INT64);
			LOOPS(ACCUMULATE_SUM, ACCUMULATE_FLOAT4);
			LOOPS(ACCUMULATE_SUM, ACCUMULATE_FLOAT8);
			LOOPS(ACCUMULATE_AVERAGE, ACCUMULATE_INT16);
			LOOPS(ACCUMULATE_AVERAGE, ACCUMULATE_INT32);
			LOOPS(ACCUMULATE_AVERAGE, ACCUMULATE_INT64);
			LOOPS(ACCUMULATE_AVERAGE, ACCUMULATE_FLOAT4);
			LOOPS(ACCUMULATE_AVERAGE, ACCUMULATE_FLOAT8);
			LOOPS(ACCUMULATE_MIN, ACCUMULATE_BOOL);
			LOOPS(ACCUMULATE_MIN, ACCUMULATE_INT16);
			LOOPS(ACCUMULATE_MIN, ACCUMULATE_INT32);
			LOOPS(ACCUMULATE_MIN, ACCUMULATE_INT64);
			LOOPS(ACCUMULATE_MIN, ACCUMULATE_FLOAT4);
			LOOPS(ACCUMULATE_MIN, ACCUMULATE_FLOAT8);
			LOOPS(ACCUMULATE_MAX, ACCUMULATE_BOOL);
			LOOPS(ACCUMULATE_MAX, ACCUMULATE_INT16);
			LOOPS(ACCUMULATE_MAX, ACCUMULATE_INT32);
			LOOPS(ACCUMULATE_MAX, ACCUMULATE_INT64);
			LOOPS(ACCUMULATE_MAX, ACCUMULATE_FLOAT4);
			LOOPS(ACCUMULATE_MAX, ACCUMULATE_FLOAT8);
		default:
			elog(ERROR, "task %d has no loop for type %d",
				 (int) accumulator->task, (int) accumulator->type);
	}
}

/* Is no value of them null?  Then their loop needs not look. */
static const bool *
nulls_among(const bool *isnull, int n)
{
	return isnull && memchr(isnull, true, n) ? isnull : NULL;
}

void
accumulate_run(Accumulator *accumulator, const Datum *values, const bool *isnull, int n)
{
	ValueRun	run = {values, nulls_among(isnull, n), NULL, NULL, n};

	if (accumulator->task == ACCUMULATE_ROWS ||
		(accumulator->task == ACCUMULATE_COUNT && run.isnull == NULL))
		accumulate_rows(accumulator, n);
	else
		accumulate(accumulator, &run);
}

void
accumulate_slots(Accumulator *accumulator, const Datum *values, const bool *isnull,
				 const BatchRow *position, const BatchRow *slot, int n)
{
	ValueRun	run = {values, isnull, position, slot, n};

	Assert(isnull == NULL || position != NULL);
	if (accumulator->task == ACCUMULATE_ROWS)
		accumulate_rows(accumulator, n);
	else
		accumulate(accumulator, &run);
}

void
accumulate_value(Accumulator *accumulator, Datum value, bool isnull)
{
	if (accumulator->task <= ACCUMULATE_COUNT)
		accumulator->count += accumulator->task == ACCUMULATE_ROWS || !isnull;
	else if (!isnull)
	{
		ValueRun	run = {&value, NULL, NULL, NULL, 1};

		accumulate(accumulator, &run);
	}
}

/* ------------------------------------------------------------ results */

static Datum
numeric_of_int128(int128 value)
{
	uint128		rest = value < 0 ? -(uint128) value : (uint128) value;
	char		digits[42];
	char	   *p = digits + sizeof(digits);

	if (value >= PG_INT64_MIN && value <= PG_INT64_MAX)
		return NumericGetDatum(int64_to_numeric((int64) value));
	*--p = '\0';
	for (; rest > 0; rest /= 10)
		*--p = (char) ('0' + (int) (rest % 10));
	if (value < 0)
		*--p = '-';
	return DirectFunctionCall3(numeric_in, CStringGetDatum(p), ObjectIdGetDatum(InvalidOid),
							   Int32GetDatum(-1));
}

static Datum
sum_result(const Accumulator *a)
{
	switch (a->type)
	{
		case ACCUMULATE_FLOAT4:
			return Float4GetDatum(a->single);
		case ACCUMULATE_FLOAT8:
			return Float8GetDatum(a->real);
		case ACCUMULATE_INT64:
			return numeric_of_int128(a->wide);
		default:
			return Int64GetDatum(a->integer);
	}
}

static Datum
average_result(const Accumulator *a)
{
	Datum		sum;

	if (a->type == ACCUMULATE_FLOAT4 || a->type == ACCUMULATE_FLOAT8)
		return Float8GetDatum(a->real / (float8) a->count);
	sum = numeric_of_int128(a->type == ACCUMULATE_INT64 ? a->wide : (int128) a->integer);
	return DirectFunctionCall2(numeric_div, sum, NumericGetDatum(int64_to_numeric(a->count)));
}

static Datum
extreme_result(const Accumulator *a)
{
	switch (a->type)
	{
		case ACCUMULATE_BOOL:
			return BoolGetDatum(a->integer != 0);
		case ACCUMULATE_INT16:
			return Int16GetDatum((int16) a->integer);
		case ACCUMULATE_INT32:
			return Int32GetDatum((int32) a->integer);
		case ACCUMULATE_FLOAT4:
			return Float4GetDatum(a->single);
		case ACCUMULATE_FLOAT8:
			return Float8GetDatum(a->real);
		default:
			return Int64GetDatum(a->integer);
	}
}

Datum
accumulator_result(const Accumulator *accumulator, bool *isnull)
{
	*isnull = false;
	if (accumulator->task == ACCUMULATE_ROWS || accumulator->task == ACCUMULATE_COUNT)
		return Int64GetDatum(accumulator->count);
	*isnull = accumulator->count == 0;
	if (*isnull)
		return (Datum) 0;
	if (accumulator->task == ACCUMULATE_SUM)
		return sum_result(accumulator);
	if (accumulator->task == ACCUMULATE_AVERAGE)
		return average_result(accumulator);
	return extreme_result(accumulator);
}
