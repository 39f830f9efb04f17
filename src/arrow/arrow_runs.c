/*-------------------------------------------------------------------------
 *
 * arrow_runs.c
 *	  Run-end encoded arrays: the runs that a slice needs, and the run that
 *	  an element lies in.
 *
 * Where runs end stands in a child, as numbers of elements that ascend.  A
 * scan goes forward, so a search begins where the last slice began.  The runs
 * of a slice are checked against each other, and against the slice before it
 * where there is no gap; the runs in a gap are taken to end in it.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"

#include "arrow/arrow_shape.h"

/* Runs looked at first */
#define FIRST_RUNS	64

typedef struct ArrowRuns
{
	/* all runs before this one end at or before this element */
	int64		known_run;
	int64		known_element;

	/* and where the last slice ended: the run of the element behind it */
	int64		next_run;
	int64		next_element;

	/* the run of the last element asked for: elements [begin, end) */
	int64		run;
	int64		begin;
	int64		end;
} ArrowRuns;

#define RUN_ENDS(vector)	(&(vector)->children[0])
#define RUN_VALUES(vector)	(&(vector)->children[1])

void
arrow_runs_create(ArrowVector *vector)
{
	Assert(vector->nchildren == 2 && RUN_ENDS(vector)->shape == SHAPE_FIXED);
	vector->runs = palloc0(sizeof(ArrowRuns));
}

void
arrow_runs_set(ArrowVector *vector)
{
	memset(vector->runs, 0, sizeof(ArrowRuns));
	if (RUN_ENDS(vector)->null_count > 0)
		arrow_report(vector, -1, "ends of runs are null");
	if (RUN_VALUES(vector)->length < RUN_ENDS(vector)->length)
		arrow_report(vector, -1, "it has %lld runs, but only %lld values",
					 (long long) RUN_ENDS(vector)->length, (long long) RUN_VALUES(vector)->length);
}

/* Where n runs end, from "run" on. */
static const char *
read_ends(ArrowVector *vector, int64 run, int64 n)
{
	ArrowVector *ends = RUN_ENDS(vector);

	return arrow_buffer_read(&ends->buffers[SLOT_MAIN], run * ends->width, (size_t) n * ends->width);
}

/*
 * The run of the element behind the last slice, or of the first element of
 * all.  Here runs that do not ascend from slice to slice are found out.
 */
static int64
continue_runs(ArrowVector *vector)
{
	ArrowVector *ends = RUN_ENDS(vector);
	int64		run = vector->runs->next_run;
	int64		i = vector->runs->next_element;

	if (run < ends->length)
	{
		int64		end = signed_at(read_ends(vector, run, 1), ends->width, 0);

		if (end <= i)
			arrow_report(vector, -1, "run %lld ends at element %lld, which is not behind %lld",
						 (long long) run + 1, (long long) end, (long long) i);
	}
	return run;
}

/* Any element's run, if runs ascend. */
static int64
search_runs(ArrowVector *vector, int64 i)
{
	ArrowVector *ends = RUN_ENDS(vector);
	bool		stored = ends->buffers[SLOT_MAIN].compression == COMPRESSION_NONE;
	int64		low = i >= vector->runs->known_element ? vector->runs->known_run : 0;
	int64		high = ends->length;
	int64		step = Max(FIRST_RUNS, (int64) ends->block_bytes / ends->width);

	/* block by block; of what can be read at any place, one block only */
	while (low < high)
	{
		int64		n = Min(step, high - low);
		int64		found = count_up_to(read_ends(vector, low, n), ends->width, n, i);

		CHECK_FOR_INTERRUPTS();
		low += found;
		if (found < n || stored)
			break;
	}
	if (low < high && signed_at(read_ends(vector, low, 1), ends->width, 0) > i)
		high = low;
	while (low < high)
	{
		int64		middle = low + (high - low) / 2;

		if (signed_at(read_ends(vector, middle, 1), ends->width, 0) > i)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

int64
arrow_runs_find(ArrowVector *vector, int64 i)
{
	int64		run = i == vector->runs->next_element ? continue_runs(vector) : search_runs(vector, i);

	if (run == RUN_ENDS(vector)->length)
		arrow_report(vector, i, "no run reaches it");
	vector->runs->known_run = run;
	vector->runs->known_element = i;
	return run;
}

/* How many runs from the first one on cover the slice; they must ascend. */
static int64
cover_slice(ArrowVector *vector, int64 first)
{
	ArrowVector *ends = RUN_ENDS(vector);
	int64		most = Min(ends->length - first, vector->to - vector->from);
	int64		n = Min(most, FIRST_RUNS);
	int64		before = vector->from;
	int64		checked = 0;

	for (;;)
	{
		const char *numbers = read_ends(vector, first, n);

		for (; checked < n; checked++)
		{
			int64		end = signed_at(numbers, ends->width, checked);

			if (end <= before)
				arrow_report(vector, -1, "run %lld ends at element %lld, which is not behind %lld",
							 (long long) (first + checked + 1), (long long) end, (long long) before);
			if (end >= vector->to)
				return checked + 1;
			before = end;
		}
		if (n == most)
			arrow_report(vector, before, "no run reaches it");
		n = n > most / 2 ? most : 2 * n;
	}
}

/* The end of a run that is loaded. */
static inline int64
run_end(const ArrowVector *vector, int64 run)
{
	const ArrowVector *ends = RUN_ENDS(vector);

	return signed_at(ends->values, ends->width, run - ends->from);
}

void
arrow_load_runs(ArrowVector *vector)
{
	ArrowRuns  *runs = vector->runs;
	int64		first = arrow_runs_find(vector, vector->from);
	int64		end = first + cover_slice(vector, first);

	arrow_vector_load(RUN_ENDS(vector), first, end);
	arrow_vector_load(RUN_VALUES(vector), first, end);
	runs->run = first;
	runs->begin = vector->from;
	runs->end = vector->from;
	runs->next_run = run_end(vector, end - 1) > vector->to ? end - 1 : end;
	runs->next_element = vector->to;
}

int64
arrow_run_element(ArrowVector *vector, int64 i)
{
	const ArrowVector *ends = RUN_ENDS(vector);
	ArrowRuns  *runs = vector->runs;

	Assert(i >= vector->from && i < vector->to);
	if (i >= runs->begin && i < runs->end)
		return runs->run;
	runs->run = ends->from + count_up_to(ends->values, ends->width, ends->to - ends->from, i);
	runs->begin = runs->run > ends->from ? run_end(vector, runs->run - 1) : vector->from;
	runs->end = run_end(vector, runs->run);
	return runs->run;
}
