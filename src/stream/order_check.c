/*-------------------------------------------------------------------------
 *
 * order_check.c
 *	  Checks the order of a stream's keys and treats those that repeat.
 *
 * Every key is compared with the one before it, the first of a batch with a
 * copy of the last one of the batch before.  What comes out is strictly
 * ascending, or not descending with DUPLICATES_ALL.
 *
 * A batch without repeated keys passes as it is: the arrays are the base's
 * own and decode goes straight through.  Where rows are dropped, "map" lists
 * those that are kept and the keys are copied together.
 *
 * DUPLICATES_LAST cannot tell of a batch's last row whether it stays until it
 * has seen the next batch, and by then the row's memory is gone.  So the last
 * row of each batch is held back, copied with its values just before the base
 * goes on, and delivered as a batch of its own, unless the next batch begins
 * with the same key:
 *
 *	base		[1 2 3]		[3 4 5]		[6]
 *	delivered	[1 2]		[3 4]		[5]  [6]
 *
 * After a seek nothing is known of the row before.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type_d.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#ifdef __x86_64__
#include <immintrin.h>
#endif

#include "stream/key_row.h"
#include "stream/layers.h"

/* Values of the row that is held back, see above. */
typedef struct HeldRow
{
	bool		present;		/* copied, and not known to be superseded */
	bool		current;		/* it is the batch being delivered */
	const char *file;
	int64		position;
	MemoryContext context;		/* its by-reference values */
	Datum	   *values;			/* [field] */
	bool	   *isnull;
	int16	   *typlen;
	bool	   *typbyval;
} HeldRow;

typedef struct OrderCheck
{
	ColumnStream stream;
	ColumnStream *base;
	DuplicatePolicy duplicates;
	int			batch_rows;
	RowFile		row_file;
	bool		(*ascends) (const int64 *image, int n);

	KeyRow		previous;		/* last key checked; nrows 0: none */
	const char *previous_file;

	/* rows kept of base's batch; map is not in use where all are */
	bool		mapped;
	int			nkept;
	BatchRow   *map;			/* [batch_rows], all of these on first use */
	int64	   *image;
	Datum	  **key;

	/* for decoding by the map */
	BatchRow   *rows;
	Datum	   *values;
	bool	   *isnull;

	/* DUPLICATES_LAST only */
	HeldRow		held;
	bool		loaded;			/* base's last row is neither delivered nor held */
	bool		pending;		/* base's batch waits behind the held row */
} OrderCheck;

/*
 * Are n images strictly ascending?  No branch per row: nearly always they are.
 */
static bool
images_ascend(const int64 *image, int n)
{
	for (int from = 1; from < n; from += 256)
	{
		int			to = Min(from + 256, n);
		int			faults = 0;

		for (int i = from; i < to; i++)
			faults |= image[i] <= image[i - 1];
		if (faults)
			return false;
	}
	return true;
}

#ifdef __x86_64__
__attribute__((target("avx2")))
static bool
images_ascend_avx2(const int64 *image, int n)
{
	int			i = 1;

	while (i + 16 <= n)
	{
		__m256i		good = _mm256_set1_epi64x(-1);

		for (int end = i + 16; i < end; i += 4)
		{
			__m256i		before = _mm256_loadu_si256((const __m256i *) (image + i - 1));
			__m256i		after = _mm256_loadu_si256((const __m256i *) (image + i));

			good = _mm256_and_si256(good, _mm256_cmpgt_epi64(after, before));
		}
		if (_mm256_movemask_epi8(good) != -1)
			return false;
	}
	return images_ascend(image + i - 1, n - i + 1);
}
#endif

/* <0, 0, >0 as row - 1 (or, for row 0, the last row of the batch before) relates to row */
static inline int
compare_with_previous(const OrderCheck *check, int row)
{
	const ColumnBatch *batch = &check->base->batch;

	if (row > 0)
		return key_compare(check->stream.key, batch, row - 1, batch, row);
	if (check->previous.batch.nrows == 0)
		return -1;
	return key_compare(check->stream.key, &check->previous.batch, 0, batch, 0);
}

static const char *
file_before(const OrderCheck *check, int row)
{
	if (row > 0)
		return check->row_file == NULL ? NULL : check->row_file(check->base, row - 1);
	return check->previous_file;
}

/*
 * Compare each row of base's batch with the one before; true if any repeats a
 * key and the rows have to be looked at for it.
 */
static bool
check_batch(OrderCheck *check)
{
	const ColumnBatch *batch = &check->base->batch;
	bool		repeats = false;

	if (compare_with_previous(check, 0) < 0 && check->ascends(batch->image, batch->nrows))
		return false;

	for (int row = 0; row < batch->nrows; row++)
	{
		int			order = compare_with_previous(check, row);

		if (order < 0)
			continue;
		if (order > 0)
			order_error(check->base, row, row > 0 ? batch : &check->previous.batch, Max(row - 1, 0));
		if (check->duplicates == DUPLICATES_ERROR)
			repeat_error(check->base, row, file_before(check, row));
		repeats = true;
	}
	return repeats && check->duplicates != DUPLICATES_ALL;
}

static void
remember_last_row(OrderCheck *check)
{
	int			last = check->base->batch.nrows - 1;

	key_row_set(&check->previous, check->stream.key, &check->base->batch, last);
	if (check->row_file != NULL)
		check->previous_file = check->row_file(check->base, last);
}

static void
allocate_map(OrderCheck *check)
{
	const Key  *key = check->stream.key;
	MemoryContext old;

	if (check->map != NULL)
		return;
	old = MemoryContextSwitchTo(check->previous.context);
	check->rows = palloc(check->batch_rows * sizeof(BatchRow));
	check->values = palloc(check->batch_rows * sizeof(Datum));
	check->isnull = palloc(check->batch_rows * sizeof(bool));
	check->image = palloc(check->batch_rows * sizeof(int64));
	if (!key->exact)
	{
		check->key = palloc(key->ncolumns * sizeof(Datum *));
		for (int i = 0; i < key->ncolumns; i++)
			check->key[i] = palloc(check->batch_rows * sizeof(Datum));
	}
	check->map = palloc(check->batch_rows * sizeof(BatchRow));
	MemoryContextSwitchTo(old);
}

static bool
row_is_kept(const OrderCheck *check, int row)
{
	if (check->duplicates == DUPLICATES_FIRST)
		return compare_with_previous(check, row) != 0;
	return row == check->base->batch.nrows - 1 || compare_with_previous(check, row + 1) != 0;
}

/* List the rows to keep and bring their keys together. */
static void
drop_repeated(OrderCheck *check)
{
	const Key  *key = check->stream.key;
	const ColumnBatch *batch = &check->base->batch;
	int			n = 0;

	allocate_map(check);
	for (int row = 0; row < batch->nrows; row++)
	{
		if (!row_is_kept(check, row))
			continue;
		check->map[n] = row;
		check->image[n] = batch->image[row];
		n++;
	}
	if (!key->exact)
	{
		for (int i = 0; i < key->ncolumns; i++)
		{
			for (int row = 0; row < n; row++)
				check->key[i][row] = batch->key[i][check->map[row]];
		}
	}
	check->nkept = n;
	check->mapped = true;
}

/* Deliver the first nrows of the rows kept. */
static void
deliver(OrderCheck *check, int nrows)
{
	ColumnBatch *out = &check->stream.batch;

	out->nrows = nrows;
	out->image = check->mapped ? check->image : check->base->batch.image;
	out->key = check->mapped ? check->key : check->base->batch.key;
}

/* Base's next batch, checked, with the rows to keep; false at the end. */
static bool
load_batch(OrderCheck *check)
{
	check->mapped = false;
	if (!stream_next_batch(check->base))
		return false;
	check->nkept = check->base->batch.nrows;
	if (check_batch(check))
		drop_repeated(check);
	return true;
}

static bool
order_check_next_batch(ColumnStream *stream)
{
	OrderCheck *check = (OrderCheck *) stream;

	while (load_batch(check))
	{
		remember_last_row(check);
		if (check->nkept > 0)
		{
			deliver(check, check->nkept);
			return true;
		}
	}
	stream->batch.nrows = 0;
	return false;
}

/* Copy base's last row, which previous then holds the key of. */
static void
hold_last_row(OrderCheck *check)
{
	HeldRow    *held = &check->held;
	const StreamSpec *spec = check->stream.spec;
	int			last = check->base->batch.nrows - 1;
	MemoryContext old;

	remember_last_row(check);
	held->position = stream_position(check->base, last);
	held->file = check->row_file != NULL ? check->previous_file : NULL;
	if (held->file == NULL)
		held->file = spec->program != NULL ? spec->program :
			spec->filename != NULL ? spec->filename : spec->column;

	MemoryContextReset(held->context);
	old = MemoryContextSwitchTo(held->context);
	for (int i = 0; i < spec->nfields; i++)
	{
		if (!check->stream.wanted[i])
			continue;
		stream_decode(check->base, i, last, last + 1, check->values, check->isnull);
		held->values[i] = check->values[last];
		held->isnull[i] = check->isnull[last];
		if (!held->isnull[i] && !held->typbyval[i])
			held->values[i] = datum_keep(held->context, held->values[i], held->typlen[i]);
	}
	MemoryContextSwitchTo(old);
	held->present = true;
}

static bool
deliver_held_row(OrderCheck *check)
{
	check->held.present = false;
	check->held.current = true;
	check->stream.batch = check->previous.batch;
	return true;
}

static bool
order_check_next_batch_last(ColumnStream *stream)
{
	OrderCheck *check = (OrderCheck *) stream;

	check->held.current = false;
	for (;;)
	{
		if (!check->pending)
		{
			if (check->loaded)
				hold_last_row(check);
			check->loaded = load_batch(check);
			if (!check->loaded)
			{
				if (check->held.present)
					return deliver_held_row(check);
				stream->batch.nrows = 0;
				return false;
			}
			if (check->held.present && compare_with_previous(check, 0) != 0)
			{
				check->pending = true;
				return deliver_held_row(check);
			}
			check->held.present = false;
		}
		check->pending = false;
		if (check->nkept > 1)
		{
			deliver(check, check->nkept - 1);
			return true;
		}
	}
}

static void
decode_held_row(const OrderCheck *check, int field, int from, int to,
				const BatchRow *rows, int nrows, Datum *values, bool *isnull)
{
	if (from > 0 || to < 1 || (rows != NULL && nrows == 0))
		return;
	values[0] = check->held.values[field];
	isnull[0] = check->held.isnull[field];
}

/* Translate rows, have base decode them, bring the values together. */
static void
decode_mapped(OrderCheck *check, int field, int from, int to,
			  const BatchRow *rows, int nrows, Datum *values, bool *isnull)
{
	const BatchRow *map = check->map;
	int			n = rows != NULL ? nrows : to - from;

	if (n <= 0)
		return;
	for (int i = 0; i < n; i++)
		check->rows[i] = map[rows != NULL ? rows[i] : from + i];
	check->base->methods->decode(check->base, field, check->rows[0], check->rows[n - 1] + 1,
								 check->rows, n, check->values, check->isnull);
	for (int i = 0; i < n; i++)
	{
		int			row = rows != NULL ? rows[i] : from + i;

		values[row] = check->values[map[row]];
		isnull[row] = check->isnull[map[row]];
	}
}

static void
order_check_decode(ColumnStream *stream, int field, int from, int to,
				   const BatchRow *rows, int nrows, Datum *values, bool *isnull)
{
	OrderCheck *check = (OrderCheck *) stream;

	if (check->held.current)
		decode_held_row(check, field, from, to, rows, nrows, values, isnull);
	else if (check->mapped)
		decode_mapped(check, field, from, to, rows, nrows, values, isnull);
	else
		check->base->methods->decode(check->base, field, from, to, rows, nrows, values, isnull);
}

static void
order_check_seek(ColumnStream *stream, const KeyBound *bound)
{
	OrderCheck *check = (OrderCheck *) stream;

	key_row_clear(&check->previous);
	check->previous_file = NULL;
	check->mapped = check->loaded = check->pending = false;
	check->held.present = check->held.current = false;
	stream->batch.nrows = 0;
	stream_seek(check->base, bound);
	stream->seek_rows = check->base->seek_rows;
}

static void
order_check_locate(ColumnStream *stream, int row, RowLocation *location)
{
	OrderCheck *check = (OrderCheck *) stream;

	if (check->held.current)
	{
		location->file = check->held.file;
		location->row = location->line = 0;
	}
	else
		check->base->methods->locate(check->base, check->mapped ? check->map[row] : row, location);
}

static void
order_check_count(ColumnStream *stream, StreamCounters *counters)
{
	ColumnStream *base = ((OrderCheck *) stream)->base;

	base->methods->count(base, counters);
}

static void
order_check_close(ColumnStream *stream)
{
	ColumnStream *base = ((OrderCheck *) stream)->base;

	stream->batch.nrows = 0;
	base->methods->close(base);
}

static void
order_check_files(ColumnStream *stream, FileVisitor visit, void *state)
{
	stream_show_files(((OrderCheck *) stream)->base, visit, state);
}

static int64
order_check_position(ColumnStream *stream, int row)
{
	OrderCheck *check = (OrderCheck *) stream;

	if (check->held.current)
		return check->held.position;
	return stream_position(check->base, check->mapped ? check->map[row] : row);
}

static const ColumnStreamMethods order_check_methods = {
	.next_batch = order_check_next_batch,
	.decode = order_check_decode,
	.seek = order_check_seek,
	.locate = order_check_locate,
	.count = order_check_count,
	.close = order_check_close,
	.files = order_check_files,
	.position = order_check_position,
};

static const ColumnStreamMethods order_check_last_methods = {
	.next_batch = order_check_next_batch_last,
	.decode = order_check_decode,
	.seek = order_check_seek,
	.locate = order_check_locate,
	.count = order_check_count,
	.close = order_check_close,
	.files = order_check_files,
	.position = order_check_position,
};

static void
init_held_row(OrderCheck *check)
{
	HeldRow    *held = &check->held;
	const StreamSpec *spec = check->stream.spec;
	int			n = Max(spec->nfields, 1);

	held->context = AllocSetContextCreate(CurrentMemoryContext, "held row",
										  ALLOCSET_SMALL_SIZES);
	held->values = palloc0(n * sizeof(Datum));
	held->isnull = palloc0(n * sizeof(bool));
	held->typlen = palloc0(n * sizeof(int16));
	held->typbyval = palloc0(n * sizeof(bool));
	for (int i = 0; i < spec->nfields; i++)
	{
		if (check->stream.wanted[i])
			get_typlenbyval(spec->fields[i].nulls_only ? BOOLOID : spec->fields[i].type,
							&held->typlen[i], &held->typbyval[i]);
	}
	allocate_map(check);
}

ColumnStream *
order_check_open(ColumnStream *base, DuplicatePolicy duplicates,
				 const StreamResources *resources, RowFile row_file)
{
	OrderCheck *check = palloc0(sizeof(OrderCheck));

	stream_init(&check->stream, duplicates == DUPLICATES_LAST ? &order_check_last_methods : &order_check_methods,
				base->spec, base->key, base->wanted);
	check->stream.can_seek = base->can_seek;
	check->stream.seek_rows = base->seek_rows;
	check->base = base;
	check->duplicates = duplicates;
	check->batch_rows = resources->batch_rows;
	check->row_file = row_file;
	check->ascends = images_ascend;
#ifdef __x86_64__
	if (resources->simd && __builtin_cpu_supports("avx2"))
		check->ascends = images_ascend_avx2;
#endif
	key_row_init(&check->previous, base->key);
	if (duplicates == DUPLICATES_LAST)
		init_held_row(check);
	return &check->stream;
}
