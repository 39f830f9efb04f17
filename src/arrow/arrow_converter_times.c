/*-------------------------------------------------------------------------
 *
 * arrow_converter_times.c
 *	  Dates, times of day, timestamps, durations and intervals.
 *
 * Instants and wall-clock times never meet here: the table of pairs has kept
 * them apart, and of either all that remains is a count from 1970 that becomes
 * a count of microseconds from 2000.
 *
 * Nanoseconds that are no whole microseconds are rounded to the nearest, ties
 * to the even one, as PostgreSQL reads them from text; of a key they are an
 * error.  So is a moment that the type's range does not have, for both.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "compat.h"

#include "catalog/pg_type.h"
#include "common/int.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/datetime.h"
#include "utils/fmgrprotos.h"
#include "utils/timestamp.h"

#include "arrow/arrow_converter_internal.h"

#define MSECS_PER_DAY		INT64CONST(86400000)
#define NSECS_PER_USEC		1000

/* Days and microseconds from 1970 to 2000. */
#define EPOCH_DAYS			(POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE)
#define EPOCH_USECS			(EPOCH_DAYS * USECS_PER_DAY)

/* The first and the last date there is, in days from 2000. */
#define FIRST_DATE			((int64) DATETIME_MIN_JULIAN - POSTGRES_EPOCH_JDATE)
#define LAST_DATE			((int64) DATE_END_JULIAN - POSTGRES_EPOCH_JDATE - 1)

static int64
load_count(const char *p, int bits)
{
	int32		narrow;
	int64		wide;

	if (bits == 32)
	{
		memcpy(&narrow, p, sizeof(narrow));
		return narrow;
	}
	memcpy(&wide, p, sizeof(wide));
	return wide;
}

/* A count with its unit, as an error shows it. */
static char *
count_text(const ArrowConverter *converter, int64 count)
{
	static const char *const units[] = {"s", "ms", "us", "ns", "days"};

	return psprintf("%lld %s", (long long) count, units[converter->field->unit]);
}

/* How many microseconds a unit has; of nanoseconds it is the other way round. */
static int64
unit_usecs(ArrowTimeUnit unit)
{
	switch (unit)
	{
		case ARROW_SECOND:
			return USECS_PER_SEC;
		case ARROW_MILLISECOND:
			return 1000;
		case ARROW_DAY:
			return USECS_PER_DAY;
		default:
			return 1;
	}
}

/* Nearest microsecond, the even one of two; no int64 overflows. */
static pg_attribute_always_inline int64
nearest_usec(int64 nsecs)
{
	int64		usecs = nsecs / NSECS_PER_USEC;
	int64		rest = nsecs - usecs * NSECS_PER_USEC;

	if (rest < 0)
	{
		rest += NSECS_PER_USEC;
		usecs--;
	}
	return usecs + (rest > NSECS_PER_USEC / 2 || (rest == NSECS_PER_USEC / 2 && (usecs & 1) != 0));
}

/* Microseconds of a count of the field's unit. */
static int64
count_usecs(const ArrowConverter *converter, int64 count)
{
	ArrowTimeUnit unit = converter->field->unit;
	int64		usecs;

	if (unit == ARROW_NANOSECOND)
	{
		if (converter->key && count % NSECS_PER_USEC != 0)
			arrow_refuse_rounding(converter, count_text(converter, count));
		return nearest_usec(count);
	}
	if (pg_mul_s64_overflow(count, unit_usecs(unit), &usecs))
		arrow_refuse_range(converter, count_text(converter, count));
	return usecs;
}

/* ------------------------------------------------------------ dates */

pg_noreturn static void
refuse_date(const ArrowConverter *converter, int64 count)
{
	arrow_refuse_range(converter, count_text(converter, count));
}

/* Whole days of a count of the field's unit: midnights only. */
static int64
count_days(const ArrowConverter *converter, int64 count)
{
	ArrowTimeUnit unit = converter->field->unit;
	int64		per_day = unit == ARROW_NANOSECOND ? USECS_PER_DAY * NSECS_PER_USEC :
		USECS_PER_DAY / unit_usecs(unit);

	if (count % per_day != 0)
		arrow_refuse_fraction(converter, count_text(converter, count), "a whole number of days");
	return count / per_day;
}

static Datum
element_date(ArrowConverter *converter, ArrowVector *vector, int64 i, ValueArena *arena, bool *isnull)
{
	int64		count = load_count(arrow_fixed(vector, i), converter->field->bit_width);
	int64		days = count_days(converter, count) - EPOCH_DAYS;

	(void) arena;
	(void) isnull;
	if (days < FIRST_DATE || days > LAST_DATE)
		refuse_date(converter, count);
	return (Datum) days;
}

/* What is out of range is found afterwards, see arrow_converter_numbers.c. */
static pg_attribute_always_inline void
days_loop(ArrowConverter *converter, ArrowVector *vector, const ArrowRun *run, const int16 *rows)
{
	Datum	   *values = run->values;
	const char *p = vector->values + (run->from - vector->from) * sizeof(int32);
	int			n = arrow_run_count(run);
	bool		outside = false;

	for (int k = 0; k < n; k++)
	{
		int			row = rows ? rows[k] : k;
		int32		count;
		int64		days;

		memcpy(&count, p + row * sizeof(int32), sizeof(int32));
		days = (int64) count - EPOCH_DAYS;
		values[row] = (Datum) days;
		outside |= days < FIRST_DATE || days > LAST_DATE;
	}
	if (unlikely(outside))
		arrow_convert_elements(converter, vector, run);
}

static void
convert_days(ArrowConverter *converter, ArrowVector *vector, const ArrowRun *run)
{
	if (run->rows != NULL)
		days_loop(converter, vector, run, run->rows);
	else
		days_loop(converter, vector, run, NULL);
}

void
arrow_prepare_date(ArrowConverter *converter)
{
	converter->element = element_date;
	if (converter->field->unit == ARROW_DAY && converter->field->bit_width == 32)
		converter->convert = convert_days;
}

/* ------------------------------------------------------------ times of day */

static Datum
element_time(ArrowConverter *converter, ArrowVector *vector, int64 i, ValueArena *arena, bool *isnull)
{
	int64		count = load_count(arrow_fixed(vector, i), converter->field->bit_width);
	TimeADT		time;
	TimeADT		rounded;

	(void) arena;
	(void) isnull;
	time = count_usecs(converter, count);
	/* 24:00:00 is one */
	if (count < 0 || time > USECS_PER_DAY)
		arrow_refuse_range(converter, count_text(converter, count));
	rounded = time;
	if (converter->typmod >= 0)
		rounded = DatumGetTimeADT(DirectFunctionCall2(time_scale, TimeADTGetDatum(time),
													  Int32GetDatum(converter->typmod)));
	if (converter->key && rounded != time)
		arrow_refuse_rounding(converter, count_text(converter, count));
	return TimeADTGetDatum(rounded);
}

void
arrow_prepare_time(ArrowConverter *converter)
{
	converter->element = element_time;
}

/* ------------------------------------------------------------ timestamps */

/*
 * Microseconds from 2000 of a count from 1970.  The epoch moves first: of the
 * last moments there are, microseconds from 1970 are more than an int64 has.
 */
static Timestamp
count_moment(const ArrowConverter *converter, int64 count)
{
	int64		usecs = unit_usecs(converter->field->unit);
	Timestamp	moment;

	if (converter->field->unit == ARROW_NANOSECOND)
		moment = count_usecs(converter, count) - EPOCH_USECS;
	else if (pg_sub_s64_overflow(count, EPOCH_USECS / usecs, &moment) ||
			 pg_mul_s64_overflow(moment, usecs, &moment))
		arrow_refuse_range(converter, count_text(converter, count));
	if (!IS_VALID_TIMESTAMP(moment))
		arrow_refuse_range(converter, count_text(converter, count));
	return moment;
}

static Datum
element_timestamp(ArrowConverter *converter, ArrowVector *vector, int64 i,
				  ValueArena *arena, bool *isnull)
{
	int64		count = load_count(arrow_fixed(vector, i), converter->field->bit_width);
	Timestamp	moment = count_moment(converter, count);
	Timestamp	rounded = moment;

	(void) arena;
	(void) isnull;
	/* of an instant it would be the same */
	if (converter->typmod >= 0)
		rounded = DatumGetTimestamp(DirectFunctionCall2(timestamp_scale, TimestampGetDatum(moment),
														Int32GetDatum(converter->typmod)));
	/* the last moments round to one that there is not */
	if (!IS_VALID_TIMESTAMP(rounded))
		arrow_refuse_range(converter, count_text(converter, count));
	if (converter->key && rounded != moment)
		arrow_refuse_rounding(converter, count_text(converter, count));
	return TimestampGetDatum(rounded);
}

/*
 * Counts of "usecs" microseconds each, or, where that is 0, of nanoseconds.
 * What the multiplication would overflow is outside before it comes to that,
 * and every row that is not what it seems is left to the loop over elements.
 */
static pg_attribute_always_inline void
timestamp_rows(ArrowConverter *converter, ArrowVector *vector, const ArrowRun *run,
			   int64 usecs, bool key, const int16 *rows)
{
	Datum	   *values = run->values;
	const char *p = vector->values + (run->from - vector->from) * sizeof(int64);
	/* both epochs' distance is whole seconds, and so is the range */
	const int64 epoch = usecs ? EPOCH_USECS / usecs : 0;
	const uint64 least = usecs ? (uint64) (MIN_TIMESTAMP / usecs + epoch) : 0;
	/* counts from "least" on; int64 ends before the range of microseconds does */
	const uint64 extent = usecs ? Min((uint64) (END_TIMESTAMP / usecs) - (uint64) (MIN_TIMESTAMP / usecs),
									  (uint64) PG_INT64_MAX - least + 1) : 0;
	int			n = arrow_run_count(run);
	uint64		outside = 0;

	for (int k = 0; k < n; k++)
	{
		int			row = rows ? rows[k] : k;
		int64		count;

		memcpy(&count, p + row * sizeof(int64), sizeof(int64));
		if (usecs != 0)
		{
			outside |= (uint64) count - least >= extent;
			values[row] = ((uint64) count - (uint64) epoch) * (uint64) usecs;
		}
		else
		{
			int64		rounded = nearest_usec(count);

			/* nanoseconds from 1970 are always within range */
			if (key)
				outside |= (uint64) (count - rounded * NSECS_PER_USEC);
			values[row] = (Datum) (rounded - EPOCH_USECS);
		}
	}
	if (unlikely(outside))
		arrow_convert_elements(converter, vector, run);
}

static pg_attribute_always_inline void
timestamp_loop(ArrowConverter *converter, ArrowVector *vector, const ArrowRun *run,
			   int64 usecs, bool key)
{
	if (run->rows != NULL)
		timestamp_rows(converter, vector, run, usecs, key, run->rows);
	else
		timestamp_rows(converter, vector, run, usecs, key, NULL);
}

static void
convert_seconds(ArrowConverter *converter, ArrowVector *vector, const ArrowRun *run)
{
	timestamp_loop(converter, vector, run, USECS_PER_SEC, false);
}

static void
convert_milliseconds(ArrowConverter *converter, ArrowVector *vector, const ArrowRun *run)
{
	timestamp_loop(converter, vector, run, 1000, false);
}

static void
convert_microseconds(ArrowConverter *converter, ArrowVector *vector, const ArrowRun *run)
{
	timestamp_loop(converter, vector, run, 1, false);
}

static void
convert_nanoseconds(ArrowConverter *converter, ArrowVector *vector, const ArrowRun *run)
{
	timestamp_loop(converter, vector, run, 0, false);
}

static void
convert_nanoseconds_of_key(ArrowConverter *converter, ArrowVector *vector, const ArrowRun *run)
{
	timestamp_loop(converter, vector, run, 0, true);
}

void
arrow_prepare_timestamp(ArrowConverter *converter)
{
	converter->element = element_timestamp;
	if (converter->typmod >= 0 && converter->typmod < MAX_TIMESTAMP_PRECISION)
		return;					/* each one is rounded */
	if (converter->field->bit_width != 64)
		return;
	switch (converter->field->unit)
	{
		case ARROW_SECOND:
			converter->convert = convert_seconds;
			break;
		case ARROW_MILLISECOND:
			converter->convert = convert_milliseconds;
			break;
		case ARROW_MICROSECOND:
			converter->convert = convert_microseconds;
			break;
		case ARROW_NANOSECOND:
			converter->convert = converter->key ? convert_nanoseconds_of_key : convert_nanoseconds;
			break;
		case ARROW_DAY:
			break;
	}
}

/* ------------------------------------------------------------ intervals */

static char *
interval_text(const Interval *interval)
{
	return DatumGetCString(DirectFunctionCall1(interval_out, IntervalPGetDatum(interval)));
}

static void
check_nanoseconds(const ArrowConverter *converter, int64 nsecs)
{
	if (converter->key && nsecs % NSECS_PER_USEC != 0)
		arrow_refuse_rounding(converter, psprintf("%lld ns", (long long) nsecs));
}

static void
load_interval(const ArrowConverter *converter, const char *p, Interval *interval)
{
	int32		parts[2];
	int64		nsecs;

	memset(interval, 0, sizeof(Interval));
	if (converter->field->type == ARROW_DURATION)
	{
		interval->time = count_usecs(converter, load_count(p, 64));
		return;
	}
	switch (converter->field->interval)
	{
		case ARROW_YEAR_MONTH:
			memcpy(&interval->month, p, sizeof(int32));
			break;
		case ARROW_DAY_TIME:
			memcpy(parts, p, sizeof(parts));
			interval->day = parts[0];
			interval->time = (int64) parts[1] * 1000;
			break;
		case ARROW_MONTH_DAY_NANO:
			memcpy(parts, p, sizeof(parts));
			memcpy(&nsecs, p + sizeof(parts), sizeof(nsecs));
			check_nanoseconds(converter, nsecs);
			interval->month = parts[0];
			interval->day = parts[1];
			interval->time = nearest_usec(nsecs);
			break;
	}
}

/* Rounding adds half a unit of the modifier's precision; what that overflows wraps in some versions. */
static void
check_interval_rounds(const ArrowConverter *converter, const Interval *interval)
{
	int			precision = INTERVAL_PRECISION(converter->typmod);
	int64		half = 5;
	int64		sum;

	if (precision >= MAX_INTERVAL_PRECISION)
		return;					/* INTERVAL_FULL_PRECISION is more */
	for (int i = precision + 1; i < MAX_INTERVAL_PRECISION; i++)
		half *= 10;
	if (pg_add_s64_overflow(interval->time, interval->time < 0 ? -half : half, &sum))
		arrow_refuse_range(converter, interval_text(interval));
}

static Datum
element_interval(ArrowConverter *converter, ArrowVector *vector, int64 i, ValueArena *arena, bool *isnull)
{
	Interval   *interval = value_arena_alloc(arena, sizeof(Interval));
	MemoryContext caller;
	Datum		rounded;

	(void) isnull;
	load_interval(converter, arrow_fixed(vector, i), interval);
	if (converter->typmod < 0)
		return IntervalPGetDatum(interval);

	/* fields that the modifier leaves out are cut, and the fraction rounded */
	caller = MemoryContextSwitchTo(value_arena_context(arena));
	check_interval_rounds(converter, interval);
	rounded = DirectFunctionCall2(interval_scale, IntervalPGetDatum(interval),
								  Int32GetDatum(converter->typmod));
	if (converter->key &&
		memcmp(DatumGetIntervalP(rounded), interval, sizeof(Interval)) != 0)
		arrow_refuse_rounding(converter, interval_text(interval));
	MemoryContextSwitchTo(caller);
	return rounded;
}

void
arrow_prepare_interval(ArrowConverter *converter)
{
	converter->element = element_interval;
}
