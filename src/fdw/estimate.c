/*-------------------------------------------------------------------------
 *
 * estimate.c
 *	  How many rows the full outer join of streams has.
 *
 * Keys are taken to be spread evenly between a stream's first and its last
 * one, and streams to be independent of each other.
 *
 * Refuses to know: files and catalogs.  Whoever asks brings the facts.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "fdw/estimate.h"

/* A stream begins, or is past its end, at this key. */
typedef struct RangeEvent
{
	double		at;
	double		density;		/* rows for each possible key; < 0: ends */
} RangeEvent;

static int
compare_events(const void *a, const void *b)
{
	double		x = ((const RangeEvent *) a)->at;
	double		y = ((const RangeEvent *) b)->at;

	return x < y ? -1 : x > y;
}

/*
 * Streams whose ranges are not known: as if they drew from a common set of
 * keys a quarter larger than the largest of them.
 */
static double
union_of_counts(int nstreams, const StreamFacts *facts)
{
	double		largest = 0;
	double		lacking = 0;

	for (int s = 0; s < nstreams; s++)
		largest = Max(largest, facts[s].rows);
	if (largest < 1 || nstreams == 1)
		return largest;
	for (int s = 0; s < nstreams; s++)
		lacking += log1p(-facts[s].rows / (1.25 * largest));
	return Max(largest, 1.25 * largest * -expm1(lacking));
}

/* Sum over the stretches between the ends of the streams' ranges. */
static double
union_of_ranges(int nstreams, const StreamFacts *facts)
{
	RangeEvent *events = palloc(sizeof(RangeEvent) * 2 * nstreams);
	double		rows = 0;
	double		lacking = 0;	/* log of the chance that no sparse stream has a key */
	int			complete = 0;	/* streams that have every key here */
	int			n = 0;

	for (int s = 0; s < nstreams; s++)
	{
		double		first = (double) facts[s].first;
		double		last = (double) facts[s].last + 1;
		double		density = facts[s].rows / Max(last - first, 1);

		if (facts[s].rows < 1)
			continue;
		events[n].at = first;
		events[n++].density = density;
		events[n].at = Max(last, first + 1);
		events[n++].density = -density;
	}
	qsort(events, n, sizeof(RangeEvent), compare_events);
	for (int e = 0; e < n; e++)
	{
		double		density = fabs(events[e].density);
		double		sign = events[e].density < 0 ? -1 : 1;

		if (e > 0)
		{
			double		width = events[e].at - events[e - 1].at;

			rows += width * (complete > 0 ? 1.0 : -expm1(Min(lacking, 0)));
		}
		if (density > 0.999999)
			complete += (int) sign;
		else
			lacking += sign * log1p(-density);
	}
	pfree(events);
	return rows;
}

double
union_rows(const Key *key, int nstreams, const StreamFacts *facts)
{
	double		total = 0;
	double		largest = 0;
	bool		ranges = key->exact;
	double		rows;

	for (int s = 0; s < nstreams; s++)
	{
		total += facts[s].rows;
		largest = Max(largest, facts[s].rows);
		ranges &= facts[s].has_range || facts[s].rows < 1;
	}
	rows = ranges ? union_of_ranges(nstreams, facts) : union_of_counts(nstreams, facts);
	return Max(largest, Min(rows, total));
}

double
intersection_rows(const Key *key, int nstreams, const StreamFacts *facts, const StreamRole *roles)
{
	double		least = -1;
	double		largest = 0;
	double		first = 0;
	double		last = 0;
	double		chance = 1;		/* that a key of those below has all streams */
	double		keys;			/* in the stretch that all streams share, or in a common set */
	bool		ranges = key->exact;
	int			n = 0;

	for (int s = 0; s < nstreams; s++)
	{
		if (roles[s] != STREAM_REQUIRED)
			continue;
		first = n == 0 ? (double) facts[s].first : Max(first, (double) facts[s].first);
		last = n == 0 ? (double) facts[s].last : Min(last, (double) facts[s].last);
		least = n == 0 ? facts[s].rows : Min(least, facts[s].rows);
		largest = Max(largest, facts[s].rows);
		ranges &= facts[s].has_range;
		n++;
	}
	if (n <= 1 || least < 1)
		return least;
	keys = ranges ? Max(last - first + 1, 0) : 1.25 * largest;
	for (int s = 0; s < nstreams; s++)
	{
		double		possible = keys;

		if (roles[s] != STREAM_REQUIRED)
			continue;
		if (ranges)
			possible = (double) facts[s].last - (double) facts[s].first + 1;
		chance *= Min(facts[s].rows / Max(possible, 1), 1);
	}
	return Min(keys * chance, least);
}

double
range_fraction(const Key *key, int nstreams, const StreamFacts *facts, const KeyRange *range)
{
	double		total = 0;
	double		inside = 0;

	if (range->empty)
		return 0;
	if (!key->exact)
		return -1;
	for (int s = 0; s < nstreams; s++)
	{
		double		first = (double) facts[s].first;
		double		last = (double) facts[s].last + 1;
		double		lower = first;
		double		upper = last;

		if (facts[s].rows < 1)
			continue;
		if (!facts[s].has_range)
			return -1;
		if (range->has_lower)
			lower = Max(lower, (double) range->lower.image + (range->lower.inclusive ? 0 : 1));
		if (range->has_upper)
			upper = Min(upper, (double) range->upper.image + (range->upper.inclusive ? 1 : 0));
		total += facts[s].rows;
		inside += facts[s].rows * Max(upper - lower, 0) / Max(last - first, 1);
	}
	return total > 0 ? Min(inside / total, 1) : 0;
}
