/*-------------------------------------------------------------------------
 *
 * parallel.c
 *	  One scan of a table, done by several processes.
 *
 * The leader chooses keys that divide the rows of all streams into ranges of
 * about the same work (stream/split.c), many more than there are processes,
 * and puts them into shared memory:
 *
 *		range 0		keys before bound 0
 *		range i		keys from bound i - 1 on, before bound i
 *		last range	keys from the last bound on
 *
 * So every key is in exactly one range, whatever the bounds are.  A process,
 * the leader as well, takes the next range that nobody has taken until there
 * is none.  Its ranges ascend, and so do its rows: Gather Merge needs no sort.
 * It does not matter how many processes there are, or when they start.
 *
 * Ranges must not be large either where rows go through Gather Merge: it takes
 * rows of the lowest range first, and the others wait.
 *
 * Each process opens the files by itself.  A worker compares them with the
 * leader's, by their identities.
 *
 * A process looks for the place in a file where its range begins, which tells
 * nothing of rows that would have to be there and are elsewhere.  So the place
 * where the range before that one ended, as the process found that read it, is
 * compared with it.  If all such places fit, every row of the file was read,
 * by somebody, together with the one before it.
 *
 * Refuses to know: plans, and how a range is read.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "compat.h"

#include "common/hashfn.h"
#include "port/atomics.h"
#include "storage/dsm.h"
#include "utils/datum.h"
#include "utils/memutils.h"

#include "fdw/estimate.h"
#include "fdw/parallel.h"
#include "stream/split.h"
#include "stream/stream.h"

/*
 * Rows of an average stream in a range: what it costs to seek is small beside
 * them.
 */
#define RANGE_ROWS			65536
/* Fewer, so that each process has some ranges ... */
#define RANGES_EACH			4
/* ... but not fewer rows of all streams than this. */
#define RANGE_ROWS_LEAST	16
#define MAX_RANGES			1024

#define SAMPLES_PER_RANGE	2
#define MIN_SAMPLES			64

/* Of a process's files, in their order. */
typedef struct FilesHash
{
	uint64		first;
	uint64		second;
} FilesHash;

/*
 * In shared memory.  Behind it: counters [nstreams] as numbers of 64 bits,
 * the places of each bound in each stream's file [nbounds][nstreams], where
 * each bound begins [nbounds], the bounds, and findings about files.
 */
typedef struct SharedScan
{
	pg_atomic_uint32 next;		/* range that nobody has taken */
	int			nbounds;
	int			nstreams;
	FilesHash	files;
	Size		bounds_bytes;
	Size		findings_bytes;
} SharedScan;

#define COUNTERS_WORDS		(sizeof(StreamCounters) / sizeof(uint64))

StaticAssertDecl(sizeof(StreamCounters) % sizeof(uint64) == 0, "counters are numbers of 64 bits");

struct ParallelScan
{
	const TableSpec *table;
	MemoryContext context;
	SharedScan *shared;			/* NULL: not shared, or no more */
	dsm_segment *segment;		/* the leader's, while it is to be told of its end */

	/* the leader's, until they are shared */
	int			nbounds;
	Size	   *bound_at;
	char	   *bounds;
	Size		bounds_bytes;
	char	   *findings;
	Size		findings_bytes;

	const KeyRange *whole;		/* the scan's own range */
	KeyRange	range;			/* the one at hand */
	MemoryContext range_context;
	bool		taken;			/* there is one */
	bool		read;			/* to its end */
	uint32		number;			/* which one */
	bool		begins_at_bound;	/* and not where the whole begins */
	bool		ends_at_bound;

	StreamCounters *counters;	/* the leader: workers'; a worker: those added already */
};

/* ------------------------------------------------------------ choosing ranges */

/* How many ranges, for so many rows in so many streams. */
static int
wanted_ranges(double rows, int nstreams, int nprocesses)
{
	double		most = Min(rows / RANGE_ROWS_LEAST, MAX_RANGES);
	double		wanted = rows / Max(nstreams, 1) / RANGE_ROWS;

	wanted = Min(Max(wanted, RANGES_EACH * nprocesses), most);
	return Max((int) wanted, 1);
}

static KeySample *
sample_streams(const TableSpec *table, const KeyRange *range, int nprocesses, int *nranges)
{
	StreamFacts *facts = palloc0(sizeof(StreamFacts) * table->nstreams);
	KeySample  *sample = key_sample_create(table->key);
	double		rows = 0;
	double		fraction;
	int			nsamples;

	*nranges = 1;
	for (int s = 0; s < table->nstreams; s++)
	{
		stream_facts(&table->streams[s], table->key, &facts[s]);
		rows += facts[s].rows;
	}
	fraction = range->has_lower || range->has_upper ?
		range_fraction(table->key, table->nstreams, facts, range) : 1;
	nsamples = wanted_ranges(rows * (fraction < 0 ? 1 : fraction), table->nstreams, nprocesses);
	nsamples = Max(nsamples * SAMPLES_PER_RANGE, MIN_SAMPLES);
	for (int s = 0; s < table->nstreams; s++)
	{
		int			share = (int) (nsamples * facts[s].rows / Max(rows, 1));

		if (!key_sample_add(sample, &table->streams[s], range, Max(share, 1)))
			return NULL;
	}

	rows = 0;
	for (int i = 0; i < sample->n; i++)
		rows += sample->rows[i];
	*nranges = wanted_ranges(rows, table->nstreams, nprocesses);
	return sample;
}

/* Bounds as other processes can read them. */
static void
serialize_bounds(ParallelScan *parallel, const KeySample *sample, const int *rows, int nbounds)
{
	const Key  *key = parallel->table->key;
	Size		bytes = 0;
	char	   *at;

	for (int b = 0; b < nbounds; b++)
		for (int k = 0; k < key->ncolumns; k++)
			bytes += datumEstimateSpace(key_datum(key, &sample->keys, rows[b], k), false,
										key->columns[k].typbyval, key->columns[k].typlen);
	parallel->nbounds = nbounds;
	parallel->bound_at = MemoryContextAlloc(parallel->context, sizeof(Size) * Max(nbounds, 1));
	parallel->bounds = at = MemoryContextAllocHuge(parallel->context, Max(bytes, 1));
	for (int b = 0; b < nbounds; b++)
	{
		parallel->bound_at[b] = at - parallel->bounds;
		for (int k = 0; k < key->ncolumns; k++)
			datumSerialize(key_datum(key, &sample->keys, rows[b], k), false,
						   key->columns[k].typbyval, key->columns[k].typlen, &at);
	}
	parallel->bounds_bytes = bytes;
}

static ParallelScan *
scan_create(const TableSpec *table)
{
	ParallelScan *parallel = palloc0(sizeof(ParallelScan));

	parallel->table = table;
	parallel->context = CurrentMemoryContext;
	parallel->range_context = AllocSetContextCreate(CurrentMemoryContext, "outerjoin_fdw range",
													ALLOCSET_SMALL_SIZES);
	parallel->counters = palloc0(sizeof(StreamCounters) * table->nstreams);
	return parallel;
}

/*
 * Where the streams turn out to be such that they cannot be split, there is one
 * range.
 */
ParallelScan *
parallel_scan_create(const TableSpec *table, const KeyRange *range, int nworkers)
{
	ParallelScan *parallel = scan_create(table);
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "outerjoin_fdw split",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	KeySample  *sample = NULL;
	int			nranges = 1;
	int		   *rows = NULL;
	int			nbounds = 0;

	if (nworkers > 0 && !range->empty)
		sample = sample_streams(table, range, nworkers + 1, &nranges);
	if (sample != NULL && nranges > 1)
	{
		rows = palloc(sizeof(int) * nranges);
		nbounds = key_sample_split(sample, nranges, rows);
	}
	serialize_bounds(parallel, sample, rows, nbounds);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);
	parallel->findings_bytes = stream_findings_bytes();
	parallel->findings = MemoryContextAllocHuge(parallel->context, Max(parallel->findings_bytes, 1));
	stream_findings_save(parallel->findings);
	return parallel;
}

void
parallel_scan_inherit(ParallelScan *parallel, const ParallelScan *last)
{
	for (int s = 0; s < parallel->table->nstreams; s++)
		parallel->counters[s] = last->counters[s];
}

/* ------------------------------------------------------------ shared memory */

static pg_atomic_uint64 *
shared_counters(SharedScan *shared)
{
	return (pg_atomic_uint64 *) ((char *) shared + MAXALIGN(sizeof(SharedScan)));
}

/* A place is 0 until one of the two processes that find it out has done so. */
static pg_atomic_uint64 *
shared_places(SharedScan *shared)
{
	return shared_counters(shared) + COUNTERS_WORDS * shared->nstreams;
}

static Size *
shared_bound_at(SharedScan *shared)
{
	return (Size *) (shared_places(shared) + (size_t) shared->nbounds * shared->nstreams);
}

static char *
shared_bounds(SharedScan *shared)
{
	return (char *) (shared_bound_at(shared) + shared->nbounds);
}

static char *
shared_findings(SharedScan *shared)
{
	return shared_bounds(shared) + MAXALIGN(shared->bounds_bytes);
}

Size
parallel_scan_bytes(const ParallelScan *parallel)
{
	Size		bytes = MAXALIGN(sizeof(SharedScan));

	bytes = add_size(bytes, mul_size(sizeof(pg_atomic_uint64) * COUNTERS_WORDS,
									 parallel->table->nstreams));
	bytes = add_size(bytes, mul_size(mul_size(sizeof(pg_atomic_uint64), parallel->nbounds),
									 parallel->table->nstreams));
	bytes = add_size(bytes, mul_size(sizeof(Size), parallel->nbounds));
	bytes = add_size(bytes, MAXALIGN(parallel->bounds_bytes));
	return add_size(bytes, parallel->findings_bytes);
}

static void
hash_file(void *state, const SourceFile *file)
{
	FilesHash  *hash = state;
	const FileIdentity *identity = source_file_identity(file);

	hash->first = hash_bytes_extended((const unsigned char *) identity, sizeof(FileIdentity),
									  hash->first);
	hash->second = hash_bytes_extended((const unsigned char *) identity, sizeof(FileIdentity),
									   hash->second);
}

static FilesHash
hash_files(const TableScan *scan)
{
	FilesHash	hash = {1, 2};

	table_scan_show_files(scan, hash_file, &hash);
	return hash;
}

/* The leader's, before its shared memory goes; all workers have ended. */
static void
take_counters(dsm_segment *segment, Datum argument)
{
	ParallelScan *parallel = (ParallelScan *) DatumGetPointer(argument);
	pg_atomic_uint64 *shared = shared_counters(parallel->shared);
	int64	   *sum = (int64 *) parallel->counters;

	(void) segment;
	for (size_t i = 0; i < COUNTERS_WORDS * parallel->table->nstreams; i++)
		sum[i] += (int64) pg_atomic_read_u64(&shared[i]);
	parallel->shared = NULL;
	parallel->segment = NULL;
}

/* The scan's memory may go before the shared one does. */
static void
forget_segment(void *argument)
{
	ParallelScan *parallel = argument;

	if (parallel->segment != NULL)
		cancel_on_dsm_detach(parallel->segment, take_counters, PointerGetDatum(parallel));
	parallel->segment = NULL;
}

static void
watch_segment(ParallelScan *parallel, dsm_segment *segment)
{
	MemoryContextCallback *callback = MemoryContextAlloc(parallel->context,
														 sizeof(MemoryContextCallback));

	callback->func = forget_segment;
	callback->arg = parallel;
	MemoryContextRegisterResetCallback(parallel->context, callback);
	on_dsm_detach(segment, take_counters, PointerGetDatum(parallel));
	parallel->segment = segment;
}

void
parallel_scan_share(ParallelScan *parallel, const TableScan *scan, void *memory, dsm_segment *segment)
{
	SharedScan *shared = memory;
	pg_atomic_uint64 *counters; /* and places */

	shared->nbounds = parallel->nbounds;
	shared->nstreams = parallel->table->nstreams;
	shared->bounds_bytes = parallel->bounds_bytes;
	shared->findings_bytes = parallel->findings_bytes;
	shared->files = hash_files(scan);
	pg_atomic_init_u32(&shared->next, 0);
	counters = shared_counters(shared);
	for (size_t i = 0; i < (COUNTERS_WORDS + shared->nbounds) * shared->nstreams; i++)
		pg_atomic_init_u64(&counters[i], 0);
	memcpy(shared_bound_at(shared), parallel->bound_at, sizeof(Size) * parallel->nbounds);
	memcpy(shared_bounds(shared), parallel->bounds, parallel->bounds_bytes);
	memcpy(shared_findings(shared), parallel->findings, parallel->findings_bytes);
	pfree(parallel->bound_at);
	pfree(parallel->bounds);
	pfree(parallel->findings);
	parallel->shared = shared;
	if (segment != NULL)
		watch_segment(parallel, segment);
}

void
parallel_scan_reset(ParallelScan *parallel)
{
	pg_atomic_write_u32(&parallel->shared->next, 0);
}

ParallelScan *
parallel_scan_attach(const TableSpec *table, const TableScan *scan, void *memory)
{
	ParallelScan *parallel = scan_create(table);
	SharedScan *shared = memory;
	FilesHash	files = hash_files(scan);

	if (files.first != shared->files.first || files.second != shared->files.second)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("files of foreign table \"%s\" were changed while the query was being started",
						table->table_name),
				 errdetail("A parallel worker has opened other files than the query."),
				 errhint("Run the query again.")));
	stream_findings_load(shared_findings(shared), shared->findings_bytes);
	parallel->shared = shared;
	return parallel;
}

/* ------------------------------------------------------------ taking ranges */

/* <0, 0, >0 as the bounds' values relate, as far as both have some. */
static int
compare_bounds(const Key *key, const KeyBound *a, const KeyBound *b)
{
	if (key->exact)
		return a->image < b->image ? -1 : a->image > b->image;
	for (int k = 0; k < Min(a->ncolumns, b->ncolumns); k++)
	{
		int			order = key_compare_column(&key->columns[k], a->values[k], b->values[k]);

		if (order != 0)
			return order;
	}
	return 0;
}

/* One of the shared bounds; allocates in the current context. */
static void
read_bound(const ParallelScan *parallel, uint32 number, bool inclusive, KeyBound *bound)
{
	const Key  *key = parallel->table->key;
	char	   *at = shared_bounds(parallel->shared) + shared_bound_at(parallel->shared)[number];

	bound->ncolumns = key->ncolumns;
	bound->inclusive = inclusive;
	bound->values = palloc(sizeof(Datum) * key->ncolumns);
	for (int k = 0; k < key->ncolumns; k++)
	{
		bool		isnull;

		bound->values[k] = datumRestore(&at, &isnull);
	}
	key_bound_init(key, bound);
}

/*
 * A range's keys that are in the scan's own range as well.  Shared bounds have
 * values for all key columns: where the scan's bound has the same ones, it lies
 * on the same side of it, or cuts through, if it excludes its values.
 */
static void
cut_range(ParallelScan *parallel)
{
	const Key  *key = parallel->table->key;
	const KeyRange *whole = parallel->whole;
	KeyRange   *range = &parallel->range;

	parallel->begins_at_bound = range->has_lower;
	parallel->ends_at_bound = range->has_upper;
	if (whole->has_lower)
	{
		int			order = range->has_lower ? compare_bounds(key, &whole->lower, &range->lower) : 1;

		if (order > 0 || (order == 0 && !whole->lower.inclusive))
		{
			range->lower = whole->lower;
			parallel->begins_at_bound = false;
		}
		range->has_lower = true;
	}
	if (whole->has_upper)
	{
		int			order = range->has_upper ? compare_bounds(key, &whole->upper, &range->upper) : -1;

		if (order < 0 || (order == 0 && !whole->upper.inclusive))
		{
			range->upper = whole->upper;
			parallel->ends_at_bound = false;
		}
		range->has_upper = true;
	}
	if (range->has_lower && range->has_upper)
	{
		int			order = compare_bounds(key, &range->lower, &range->upper);

		range->empty = order > 0 ||
			(order == 0 && range->lower.ncolumns == range->upper.ncolumns &&
			 !(range->lower.inclusive && range->upper.inclusive));
	}
}

/* Range "number" becomes the one at hand. */
static void
make_range(ParallelScan *parallel, uint32 number)
{
	MemoryContext old;
	KeyRange   *range = &parallel->range;

	MemoryContextReset(parallel->range_context);
	old = MemoryContextSwitchTo(parallel->range_context);
	memset(range, 0, sizeof(*range));
	range->empty = parallel->whole->empty;
	range->has_lower = number > 0;
	if (range->has_lower)
		read_bound(parallel, number - 1, true, &range->lower);
	range->has_upper = number < (uint32) parallel->shared->nbounds;
	if (range->has_upper)
		read_bound(parallel, number, false, &range->upper);
	if (!range->empty)
		cut_range(parallel);
	MemoryContextSwitchTo(old);
}

/* Does a stream's place at a bound fit to what another process has found? */
static void
compare_place(ParallelScan *parallel, uint32 bound, int stream, int64 place)
{
	SharedScan *shared = parallel->shared;
	uint64		found = (uint64) place + 1;
	uint64		known = 0;

	if (place < 0 ||
		pg_atomic_compare_exchange_u64(&shared_places(shared)[(size_t) bound * shared->nstreams + stream],
									   &known, found) ||
		known == found)
		return;
	ereport(ERROR,
			(errcode(ERRCODE_DATA_EXCEPTION),
			 errmsg("rows of column \"%s\" of foreign table \"%s\" are not in the order of the key",
					parallel->table->streams[stream].column, parallel->table->table_name),
			 errdetail("Searches for one key have ended at different places of a file."),
			 errhint("With \"max_parallel_workers_per_gather\" set to 0 the same query tells which row it is.")));
}

/* The range at hand has been read to its end. */
static void
compare_places(ParallelScan *parallel, const TableScan *scan)
{
	for (int s = 0; s < parallel->table->nstreams; s++)
	{
		int64		begins;
		int64		ends;

		table_scan_places(scan, s, &begins, &ends);
		if (parallel->begins_at_bound)
			compare_place(parallel, parallel->number - 1, s, begins);
		if (parallel->ends_at_bound)
			compare_place(parallel, parallel->number, s, ends);
	}
}

void
parallel_scan_begin(ParallelScan *parallel, const KeyRange *range)
{
	parallel->whole = range;
	parallel->taken = false;
}

bool
parallel_scan_next(ParallelScan *parallel, TableScan *scan)
{
	SharedScan *shared = parallel->shared;
	bool		first = !parallel->taken;

	if (parallel->taken && !parallel->read)
		compare_places(parallel, scan);
	parallel->read = true;
	for (;;)
	{
		uint32		number;
		bool		follows = false;

		/* the number does not run on when somebody asks again */
		if (pg_atomic_read_u32(&shared->next) > (uint32) shared->nbounds)
			return false;
		number = pg_atomic_fetch_add_u32(&shared->next, 1);
		if (number > (uint32) shared->nbounds)
			return false;
		make_range(parallel, number);
		if (parallel->range.empty)
			continue;
		follows = !first && number == parallel->number + 1;
		parallel->number = number;
		parallel->taken = true;
		parallel->read = false;
		if (first)
			table_scan_start(scan, &parallel->range);
		else
			table_scan_advance(scan, &parallel->range, follows);
		return true;
	}
}

/* ------------------------------------------------------------ counters */

void
parallel_scan_finish(ParallelScan *parallel, const TableScan *scan)
{
	pg_atomic_uint64 *shared;

	if (parallel->shared == NULL)
		return;
	/* the leader has its own counters at hand, and waits for the workers' */
	if (!IsParallelWorker())
	{
		if (parallel->segment == NULL)
			parallel->shared = NULL;
		return;
	}
	shared = shared_counters(parallel->shared);
	for (int s = 0; s < parallel->table->nstreams; s++)
	{
		StreamCounters now = {0};
		int64	   *words = (int64 *) &now;
		int64	   *added = (int64 *) &parallel->counters[s];

		table_scan_count(scan, s, &now);
		for (size_t i = 0; i < COUNTERS_WORDS; i++)
		{
			pg_atomic_fetch_add_u64(&shared[COUNTERS_WORDS * s + i], words[i] - added[i]);
			added[i] = words[i];
		}
	}
}

void
parallel_scan_count(const ParallelScan *parallel, int stream, StreamCounters *counters)
{
	stream_counters_add(counters, &parallel->counters[stream]);
}

int
parallel_scan_ranges(const ParallelScan *parallel)
{
	return parallel->nbounds + 1;
}
