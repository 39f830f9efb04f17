/*-------------------------------------------------------------------------
 *
 * split.c
 *	  Keys that split streams into parts of about the same work.
 *
 * A sample is taken of every stream's keys: a file is entered at evenly spread
 * places, and each key met there stands for the rows around it.  The samples
 * of all streams together, in order, say where the rows of all streams are, so
 * that a part's work is about the same however unevenly keys are spread.
 *
 * A file is entered by position, not by key.  Which positions lie in a range
 * of keys is found by bisection, since the files are in order.
 *
 * Nothing depends on the sample being right.  The files that it was taken of
 * may even be others than those that are read.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "compat.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "csv/csv_seek.h"
#include "stream/key_row.h"
#include "stream/layers.h"
#include "stream/split.h"
#include "stream/stream.h"

/* Of many files only so many are looked at, those that are evenly spread. */
#define SAMPLE_FILES		32
#define SAMPLE_BLOCK_BYTES	8192
#define BISECTIONS			14

KeySample *
key_sample_create(const Key *key)
{
	KeySample  *sample = palloc0(sizeof(KeySample));

	sample->key = key;
	sample->context = CurrentMemoryContext;
	sample->capacity = 64;
	sample->rows = palloc(sizeof(double) * sample->capacity);
	sample->keys.image = palloc(sizeof(int64) * sample->capacity);
	if (!key->exact)
	{
		sample->keys.key = palloc(sizeof(Datum *) * key->ncolumns);
		for (int i = 0; i < key->ncolumns; i++)
			sample->keys.key[i] = palloc(sizeof(Datum) * sample->capacity);
	}
	return sample;
}

static void
sample_grow(KeySample *sample)
{
	if (sample->n < sample->capacity)
		return;
	sample->capacity *= 2;
	sample->rows = repalloc(sample->rows, sizeof(double) * sample->capacity);
	sample->keys.image = repalloc(sample->keys.image, sizeof(int64) * sample->capacity);
	for (int i = 0; i < sample->key->ncolumns && !sample->key->exact; i++)
		sample->keys.key[i] = repalloc(sample->keys.key[i], sizeof(Datum) * sample->capacity);
}

/* The first key of a stream's batch, as standing for so many rows. */
static void
sample_put(KeySample *sample, const ColumnBatch *batch, double rows)
{
	const Key  *key = sample->key;
	int			n = sample->n;

	sample_grow(sample);
	sample->rows[n] = rows;
	sample->keys.image[n] = batch->image[0];
	for (int i = 0; i < key->ncolumns && !key->exact; i++)
	{
		const KeyColumn *column = &key->columns[i];
		Datum		value = batch->key[i][0];

		sample->keys.key[i][n] = column->typbyval ? value :
			datum_keep(sample->context, value, column->typlen);
	}
	sample->keys.nrows = ++sample->n;
}

/* One file that is looked at. */
typedef struct EnteredFile
{
	const ColumnFormat *format;
	ColumnStream *stream;
	double		rows;			/* it is thought to have */
} EnteredFile;

/* Have the key at this part of the file at hand; false behind the last row. */
static bool
enter(const EnteredFile *file, double part)
{
	CHECK_FOR_INTERRUPTS();
	return file->format->enter(file->stream, part) && stream_next_batch(file->stream);
}

/* Which part of the file lies before a bound, from below. */
static double
part_before(const EnteredFile *file, const Key *key, const KeyBound *bound, bool with_bound)
{
	double		low = 0;
	double		high = 1;

	for (int i = 0; i < BISECTIONS; i++)
	{
		double		middle = (low + high) / 2;
		bool		before = false;

		if (enter(file, middle))
		{
			int			order = key_compare_bound(key, &file->stream->batch, 0, bound);

			before = order < 0 || (order == 0 && with_bound);
		}
		if (before)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* About n keys of an open file. */
static bool
sample_file(KeySample *sample, const EnteredFile *file, const KeyRange *range, int n)
{
	double		from = 0;
	double		to = 1;

	if (!file->format->enter(file->stream, 0))
		return false;
	if (range != NULL && range->has_lower)
		from = part_before(file, sample->key, &range->lower, !range->lower.inclusive);
	if (range != NULL && range->has_upper)
		to = part_before(file, sample->key, &range->upper, range->upper.inclusive);
	if (to <= from)
		return true;
	for (int i = 0; i < n; i++)
	{
		if (enter(file, from + (to - from) * (i + 0.5) / n))
			sample_put(sample, &file->stream->batch, file->rows * (to - from) / n);
	}
	return true;
}

/*
 * Keys of every "step"th file, in proportion to its rows.  Each of them stands
 * for those that are passed over.
 */
static bool
sample_files(KeySample *sample, const StreamSpec *spec, List *files, const KeyRange *range, int n)
{
	const StreamResources resources = {
		.batch_rows = 1,
		.first_rows = 1,
		.block_bytes = SAMPLE_BLOCK_BYTES,
		.memory_kb = 64,
		.simd = true
	};
	int			nfiles = list_length(files);
	int			step = nfiles / SAMPLE_FILES + 1;
	int			nsampled = (nfiles + step - 1) / step;
	bool	   *wanted = palloc0(sizeof(bool) * Max(spec->nfields, 1));
	StreamFacts *facts = palloc0(sizeof(StreamFacts) * nsampled);
	double		rows = 0;

	for (int i = 0; i < nsampled; i++)
	{
		SegmentFile file = *(SegmentFile *) list_nth(files, i * step);

		CHECK_FOR_INTERRUPTS();
		file.source = source_file_open(&spec->folder, file.name);
		stream_file_facts(spec, &file, sample->key, &facts[i]);
		source_file_close(file.source);
		rows += facts[i].rows;
	}
	for (int i = 0; i < nsampled; i++)
	{
		const SegmentFile *segment = list_nth(files, i * step);
		int			share = (int) (n * facts[i].rows / Max(rows, 1));
		EnteredFile file = {.format = segment->format,.rows = facts[i].rows * step};
		bool		entered;

		file.stream = segment->format->open(spec, segment, sample->key, wanted, &resources);
		entered = sample_file(sample, &file, range, Max(share, 1));
		file.stream->methods->close(file.stream);
		if (!entered)
			return false;
	}
	return true;
}

bool
key_sample_add(KeySample *sample, const StreamSpec *spec, const KeyRange *range, int n)
{
	MemoryContext context;
	MemoryContext old;
	List	   *files;
	bool		split;

	if (!spec->sorted || spec->program != NULL)
		return false;
	context = AllocSetContextCreate(CurrentMemoryContext, "sampled stream", ALLOCSET_DEFAULT_SIZES);
	old = MemoryContextSwitchTo(context);
	files = stream_files(spec);
	split = sample_files(sample, spec, files, range, n);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);
	return split;
}

static int
compare_samples(const void *a, const void *b, void *arg)
{
	const KeySample *sample = arg;

	return key_compare(sample->key, &sample->keys, *(const int *) a, &sample->keys, *(const int *) b);
}

int
key_sample_split(const KeySample *sample, int nparts, int *rows)
{
	int		   *order = palloc(sizeof(int) * Max(sample->n, 1));
	double		all = 0;
	double		before = 0;
	int			n = 0;

	for (int i = 0; i < sample->n; i++)
	{
		order[i] = i;
		all += sample->rows[i];
	}
	qsort_arg(order, sample->n, sizeof(int), compare_samples, unconstify(KeySample *, sample));
	for (int i = 0; i < sample->n && n < nparts - 1; i++)
	{
		/* a key is left out where the one before it is the same, or enough for its part */
		if (before >= all * (n + 1) / nparts &&
			(n == 0 || compare_samples(&rows[n - 1], &order[i], unconstify(KeySample *, sample)) != 0))
			rows[n++] = order[i];
		before += sample->rows[order[i]];
	}
	pfree(order);
	return n;
}

Size
stream_findings_bytes(void)
{
	return file_cache_bytes(csv_lines_known());
}

void
stream_findings_save(char *bytes)
{
	file_cache_save(csv_lines_known(), bytes);
}

void
stream_findings_load(const char *bytes, Size length)
{
	file_cache_load(csv_lines_known(), bytes, length);
}
