/*-------------------------------------------------------------------------
 *
 * segments.c
 *	  Several sorted files as one stream.
 *
 * At open each file is opened and its first key read; then it keeps its
 * SourceFile only, no buffers.  Segments wait in the order of their first
 * keys.  One is activated, with a stream of its own, when the merge arrives
 * at its first key, and is closed at its end: segments that follow each other
 * are read one after another, and thousands cost as much memory as overlap.
 *
 *	loop
 *		advance the segment that ran out of its batch		settle_top
 *		activate what begins at or before the lowest row	activate_due
 *		if one segment has all rows up to the next key
 *		of any other: deliver its rows as they are			deliver_run
 *		else merge row by row until some batch runs out		merge_rows
 *
 * Active segments stand in a heap by their current row; equal keys come in
 * the order of the files.  A merged batch notes for each row the segment and
 * the row in that segment's batch, and has fields decoded there: no segment
 * goes on to its next batch before the merged one has been given up.
 *
 * From the end to the top everything is the same under the flipped key: a
 * segment's first key is its file's last one, and the files stand in reverse.
 *
 * Each segment checks its own order (order_check.c); the check above this
 * stream treats keys that repeat.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "common/hashfn.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "stream/key_row.h"
#include "stream/layers.h"

#define FIRST_KEY_BYTES		8192	/* read to learn a first key */
#define LEAST_BLOCK_BYTES	16384	/* of an active segment, however many there are */
#define LEAST_BATCH_ROWS	256
#define IDLE_STREAMS		8		/* kept open over a seek */

typedef struct Segment
{
	SegmentFile file;			/* with its source */
	int			rank;			/* place in the list, from its end where that is read first */
	KeyRow		first;
	bool		last_known;
	int64		last_image;		/* of its last key */

	ColumnStream *stream;		/* NULL: not open */
	MemoryContext context;		/* the stream's */
	StreamResources resources;	/* what it may use */
	int			row;			/* next row of the stream's batch */

	int			taken;			/* rows of a decode request, while it is split */
	int			start;			/* where they stand in the split */
} Segment;

typedef struct SegmentsStream
{
	ColumnStream stream;
	const StreamResources *resources;
	MemoryContext context;
	StreamCounters counters;	/* of streams closed by now */

	int			nsegments;
	Segment   **waiting;		/* [nsegments] by first key */
	int			next_waiting;
	Segment   **heap;			/* [nsegments] active, lowest row first */
	int			nheap;
	bool		touched;		/* rows of heap[0] were delivered */
	int64		delivered;		/* rows, since open or seek */

	/* where the last seek went; a segment activated later is sought too */
	bool		has_bound;
	KeyBound	bound;
	MemoryContext bound_context;

	/* the current batch: rows of one segment from run_start on, or merged */
	Segment    *run;			/* NULL: merged */
	int			run_start;
	int64	   *image;			/* these in use where merged */
	Datum	  **key;			/* [key column]; into the run's batch where not */
	Datum	  **merged_key;		/* [key column][batch_rows] */
	Segment   **origin;			/* [batch_rows] */
	BatchRow   *origin_row;

	/* a decode request, split by segment */
	Segment   **split;			/* [nsegments] those with rows in it */
	BatchRow   *split_row;		/* [batch_rows] row in the segment's batch */
	BatchRow   *split_out;		/* row in ours */
	Datum	   *values;
	bool	   *isnull;
} SegmentsStream;

/*
 * Opening and closing one segment.
 */

static void segment_close(SegmentsStream *self, Segment *segment);

/* False, and not open, where it is to be read from its end and cannot be. */
static bool
segment_open(SegmentsStream *self, Segment *segment, const StreamResources *resources)
{
	const Key  *file_key = resources->file_key;
	MemoryContext old;
	ColumnStream *base;

	segment->context = AllocSetContextCreate(self->context, "segment", ALLOCSET_DEFAULT_SIZES);
	segment->resources = *resources;
	old = MemoryContextSwitchTo(segment->context);
	base = segment->file.format->open(self->stream.spec, &segment->file,
									  file_key != NULL ? file_key : self->stream.key,
									  self->stream.wanted, &segment->resources);
	if (file_key != NULL && base->can_go_back)
		base = backward_open(base, self->stream.key, &segment->resources);
	segment->stream = order_check_open(base, DUPLICATES_ALL, &segment->resources, NULL);
	MemoryContextSwitchTo(old);
	if (file_key == NULL || base->reversed)
		return true;
	segment_close(self, segment);
	return false;
}

static void
segment_close(SegmentsStream *self, Segment *segment)
{
	ColumnStream *stream = segment->stream;

	if (stream == NULL)
		return;
	stream->methods->count(stream, &self->counters);
	segment->stream = NULL;
	stream->methods->close(stream);
	MemoryContextDelete(segment->context);
}

/*
 * Each active segment has a share of what one stream may use; together they
 * stay within a small multiple of it.
 */
static StreamResources
active_resources(const SegmentsStream *self)
{
	StreamResources resources = *self->resources;
	int			share = self->nheap + 1;

	resources.block_bytes = Max(resources.block_bytes / share, LEAST_BLOCK_BYTES);
	if (share > 4)
		resources.batch_rows = Max(resources.batch_rows * 4 / share,
								   Min(resources.batch_rows, LEAST_BATCH_ROWS));

	/* in a scan that has come far already, no segment starts slowly */
	if (self->delivered >= self->resources->batch_rows)
		resources.first_rows = resources.batch_rows;
	resources.first_rows = Min(resources.first_rows, resources.batch_rows);
	return resources;
}

/*
 * The heap of active segments.
 */

static bool
row_is_lower(const Key *key, const Segment *a, const Segment *b)
{
	int			order = key_compare(key, &a->stream->batch, a->row, &b->stream->batch, b->row);

	return order < 0 || (order == 0 && a->rank < b->rank);
}

static void
heap_push(SegmentsStream *self, Segment *segment)
{
	int			i = self->nheap++;

	while (i > 0)
	{
		int			parent = (i - 1) / 2;

		if (!row_is_lower(self->stream.key, segment, self->heap[parent]))
			break;
		self->heap[i] = self->heap[parent];
		i = parent;
	}
	self->heap[i] = segment;
}

/* Put a segment at the top, and from there where it belongs. */
static void
heap_sift(SegmentsStream *self, Segment *segment)
{
	const Key  *key = self->stream.key;
	int			i = 0;

	for (;;)
	{
		int			child = 2 * i + 1;

		if (child >= self->nheap)
			break;
		if (child + 1 < self->nheap && row_is_lower(key, self->heap[child + 1], self->heap[child]))
			child++;
		if (!row_is_lower(key, self->heap[child], segment))
			break;
		self->heap[i] = self->heap[child];
		i = child;
	}
	self->heap[i] = segment;
}

static void
heap_pop(SegmentsStream *self)
{
	Segment    *last = self->heap[--self->nheap];

	if (self->nheap > 0)
		heap_sift(self, last);
}

/* The active segment that has the lowest row after heap[0]; NULL if there is no other. */
static Segment *
runner_up(const SegmentsStream *self)
{
	if (self->nheap < 2)
		return NULL;
	if (self->nheap > 2 && row_is_lower(self->stream.key, self->heap[2], self->heap[1]))
		return self->heap[2];
	return self->heap[1];
}

/*
 * Activation.
 */

static Segment *
first_waiting(const SegmentsStream *self)
{
	return self->next_waiting < self->nsegments ? self->waiting[self->next_waiting] : NULL;
}

static bool
starts_before_bound(const SegmentsStream *self, const Segment *segment)
{
	int			order;

	if (!self->has_bound)
		return false;
	order = key_compare_bound(self->stream.key, &segment->first.batch, 0, &self->bound);
	return order < 0 || (order == 0 && !self->bound.inclusive);
}

/* Can none of its rows be within the bound? */
static bool
ends_before_bound(SegmentsStream *self, Segment *segment)
{
	if (!segment->last_known)
	{
		StreamFacts facts;
		MemoryContext context = AllocSetContextCreate(self->context, "segment facts",
													  ALLOCSET_DEFAULT_SIZES);
		MemoryContext old = MemoryContextSwitchTo(context);

		stream_file_facts(self->stream.spec, &segment->file, self->stream.key, &facts);
		MemoryContextSwitchTo(old);
		MemoryContextDelete(context);
		if (!facts.has_range || !facts.range_certain)
			return false;
		segment->last_known = true;
		segment->last_image = self->resources->file_key != NULL ? facts.first : facts.last;
	}
	return segment->last_image < self->bound.image;
}

static void
activate(SegmentsStream *self, Segment *segment)
{
	bool		fresh = segment->stream == NULL;
	bool		before = starts_before_bound(self, segment);

	if (before && ends_before_bound(self, segment))
	{
		segment_close(self, segment);
		return;
	}
	if (fresh)
	{
		StreamResources resources = active_resources(self);

		if (!segment_open(self, segment, &resources))
			elog(ERROR, "file \"%s\" could be read from its end before", segment->file.name);
	}
	if (before && segment->stream->can_seek)
		stream_seek(segment->stream, &self->bound);
	else if (!fresh)
		stream_seek(segment->stream, NULL);

	segment->row = 0;
	if (stream_next_batch(segment->stream))
		heap_push(self, segment);
	else
		segment_close(self, segment);
}

/* Activate segments until each that waits begins beyond the lowest row. */
static void
activate_due(SegmentsStream *self)
{
	Segment    *segment;

	while ((segment = first_waiting(self)) != NULL)
	{
		if (self->nheap > 0)
		{
			const Segment *top = self->heap[0];

			if (key_compare(self->stream.key, &segment->first.batch, 0,
							&top->stream->batch, top->row) > 0)
				break;
		}
		CHECK_FOR_INTERRUPTS();
		self->next_waiting++;
		activate(self, segment);
	}
}

/*
 * Batches.
 */

/* Bring the heap in order after rows of its top were delivered. */
static void
settle_top(SegmentsStream *self)
{
	Segment    *top = self->heap[0];
	ColumnBatch *batch = &top->stream->batch;

	self->touched = false;
	if (top->row == batch->nrows)
	{
		int64		last_image = batch->image[batch->nrows - 1];

		top->row = 0;
		if (!stream_next_batch(top->stream))
		{
			top->last_known = true;
			top->last_image = last_image;
			segment_close(self, top);
			heap_pop(self);
			return;
		}
	}
	heap_sift(self, top);
}

/* The first row of the top's batch that does not come before the first key that waits. */
static int
run_end(const SegmentsStream *self)
{
	const Key  *key = self->stream.key;
	const Segment *top = self->heap[0];
	const Segment *waiting = first_waiting(self);
	const ColumnBatch *batch = &top->stream->batch;

	if (waiting == NULL || key_compare(key, batch, batch->nrows - 1, &waiting->first.batch, 0) < 0)
		return batch->nrows;
	return key_first_not_before(key, batch, top->row + 1, batch->nrows, &waiting->first.batch, 0);
}

/* Is all that is left of the top's batch before any other active row? */
static bool
top_stands_alone(const SegmentsStream *self)
{
	const Segment *top = self->heap[0];
	const Segment *other = runner_up(self);
	const ColumnBatch *batch = &top->stream->batch;
	int			order;

	if (other == NULL)
		return true;
	order = key_compare(self->stream.key, batch, batch->nrows - 1,
						&other->stream->batch, other->row);
	return order < 0 || (order == 0 && top->rank < other->rank);
}

static void
deliver_run(SegmentsStream *self)
{
	Segment    *top = self->heap[0];
	const ColumnBatch *batch = &top->stream->batch;
	int			to = run_end(self);

	self->run = top;
	self->run_start = top->row;
	self->stream.batch.nrows = to - top->row;
	self->stream.batch.image = batch->image + top->row;
	self->stream.batch.key = batch->key;
	if (top->row > 0 && batch->key != NULL)
	{
		for (int i = 0; i < self->stream.key->ncolumns; i++)
			self->key[i] = batch->key[i] + top->row;
		self->stream.batch.key = self->key;
	}
	top->row = to;
}

static void
allocate_merge(SegmentsStream *self)
{
	const Key  *key = self->stream.key;
	int			nrows = self->resources->batch_rows;
	MemoryContext old = MemoryContextSwitchTo(self->context);

	self->image = palloc(nrows * sizeof(int64));
	if (!key->exact)
	{
		self->merged_key = palloc(key->ncolumns * sizeof(Datum *));
		for (int i = 0; i < key->ncolumns; i++)
			self->merged_key[i] = palloc(nrows * sizeof(Datum));
	}
	self->origin_row = palloc(nrows * sizeof(BatchRow));
	self->split = palloc(self->nsegments * sizeof(Segment *));
	self->split_out = palloc(nrows * sizeof(BatchRow));
	self->origin = palloc(nrows * sizeof(Segment *));
	MemoryContextSwitchTo(old);
}

/*
 * Take rows of "top" while they are before the limit, or with it where equal
 * rows may pass; at least one, since the caller knows that the first is.
 * Returns the number of rows in the merged batch.
 */
static int
merge_run(SegmentsStream *self, Segment *top, const ColumnBatch *limit, int limit_row,
		  bool equal_pass, int n)
{
	const Key  *key = self->stream.key;
	const ColumnBatch *batch = &top->stream->batch;
	int			capacity = self->resources->batch_rows;
	int			row = top->row;

	do
	{
		self->image[n] = batch->image[row];
		if (!key->exact)
		{
			for (int i = 0; i < key->ncolumns; i++)
				self->merged_key[i][n] = batch->key[i][row];
		}
		self->origin[n] = top;
		self->origin_row[n] = row;
		n++;
		row++;
	} while (row < batch->nrows && n < capacity &&
			 (limit == NULL || key_compare(key, batch, row, limit, limit_row) < equal_pass));
	top->row = row;
	return n;
}

static void
merge_rows(SegmentsStream *self)
{
	const Key  *key = self->stream.key;
	int			n = 0;

	if (self->origin == NULL)
		allocate_merge(self);

	for (;;)
	{
		Segment    *top = self->heap[0];
		const Segment *other = runner_up(self);
		const Segment *waiting = first_waiting(self);
		const ColumnBatch *limit = NULL;
		int			limit_row = 0;
		bool		equal_pass = false;

		if (other != NULL)
		{
			limit = &other->stream->batch;
			limit_row = other->row;
			equal_pass = top->rank < other->rank;
		}
		/* a row that equals a waiting first key waits for the activation */
		if (waiting != NULL &&
			(limit == NULL || key_compare(key, &waiting->first.batch, 0, limit, limit_row) <= 0))
		{
			limit = &waiting->first.batch;
			limit_row = 0;
			equal_pass = false;
		}

		n = merge_run(self, top, limit, limit_row, equal_pass, n);
		if (top->row == top->stream->batch.nrows || n == self->resources->batch_rows)
			break;
		heap_sift(self, top);
		activate_due(self);
	}

	self->run = NULL;
	self->stream.batch.nrows = n;
	self->stream.batch.image = self->image;
	self->stream.batch.key = self->merged_key;
}

static bool
segments_next_batch(ColumnStream *stream)
{
	SegmentsStream *self = (SegmentsStream *) stream;

	CHECK_FOR_INTERRUPTS();
	stream->batch.nrows = 0;
	if (self->touched)
		settle_top(self);
	activate_due(self);
	if (self->nheap == 0)
		return false;

	if (top_stands_alone(self))
		deliver_run(self);
	else
		merge_rows(self);
	self->touched = true;
	self->delivered += stream->batch.nrows;
	return true;
}

/*
 * Decoding.
 */

static void
decode_run(SegmentsStream *self, int field, int from, int to,
		   const BatchRow *rows, int nrows, Datum *values, bool *isnull)
{
	ColumnStream *base = self->run->stream;
	int			start = self->run_start;

	if (start == 0)
	{
		base->methods->decode(base, field, from, to, rows, nrows, values, isnull);
		return;
	}
	if (rows != NULL)
	{
		for (int i = 0; i < nrows; i++)
			self->split_row[i] = rows[i] + start;
		base->methods->decode(base, field, from + start, to + start, self->split_row, nrows,
							  self->values, self->isnull);
		for (int i = 0; i < nrows; i++)
		{
			values[rows[i]] = self->values[rows[i] + start];
			isnull[rows[i]] = self->isnull[rows[i] + start];
		}
		return;
	}
	base->methods->decode(base, field, from + start, to + start, NULL, 0,
						  self->values, self->isnull);
	memcpy(values + from, self->values + from + start, (to - from) * sizeof(Datum));
	memcpy(isnull + from, self->isnull + from + start, (to - from) * sizeof(bool));
}

/* Sort the rows asked for by segment; returns how many segments have some. */
static int
split_rows(SegmentsStream *self, int from, int n, const BatchRow *rows)
{
	int			nsplit = 0;
	int			start = 0;

	for (int i = 0; i < n; i++)
	{
		Segment    *segment = self->origin[rows != NULL ? rows[i] : from + i];

		if (segment->taken++ == 0)
			self->split[nsplit++] = segment;
	}
	for (int i = 0; i < nsplit; i++)
	{
		self->split[i]->start = start;
		start += self->split[i]->taken;
		self->split[i]->taken = 0;
	}
	for (int i = 0; i < n; i++)
	{
		int			row = rows != NULL ? rows[i] : from + i;
		Segment    *segment = self->origin[row];
		int			place = segment->start + segment->taken++;

		self->split_row[place] = self->origin_row[row];
		self->split_out[place] = row;
	}
	return nsplit;
}

static void
decode_merged(SegmentsStream *self, int field, int from, int to,
			  const BatchRow *rows, int nrows, Datum *values, bool *isnull)
{
	int			n = rows != NULL ? nrows : to - from;
	int			nsplit = split_rows(self, from, n, rows);

	for (int i = 0; i < nsplit; i++)
	{
		Segment    *segment = self->split[i];
		ColumnStream *base = segment->stream;
		int			count = segment->taken;
		const BatchRow *in = self->split_row + segment->start;
		const BatchRow *out = self->split_out + segment->start;

		segment->taken = 0;
		base->methods->decode(base, field, in[0], in[count - 1] + 1, in, count,
							  self->values, self->isnull);
		for (int j = 0; j < count; j++)
		{
			values[out[j]] = self->values[in[j]];
			isnull[out[j]] = self->isnull[in[j]];
		}
	}
}

static void
segments_decode(ColumnStream *stream, int field, int from, int to,
				const BatchRow *rows, int nrows, Datum *values, bool *isnull)
{
	SegmentsStream *self = (SegmentsStream *) stream;

	if (self->run != NULL)
		decode_run(self, field, from, to, rows, nrows, values, isnull);
	else
		decode_merged(self, field, from, to, rows, nrows, values, isnull);
}

/*
 * Seeking.
 */

static void
keep_bound(SegmentsStream *self, const KeyBound *bound)
{
	MemoryContextReset(self->bound_context);
	self->has_bound = bound != NULL;
	if (bound == NULL)
		return;

	self->bound = *bound;
	if (bound->values == NULL)
		return;
	self->bound.values = MemoryContextAlloc(self->bound_context, bound->ncolumns * sizeof(Datum));
	for (int i = 0; i < bound->ncolumns; i++)
	{
		const KeyColumn *column = &self->stream.key->columns[i];

		self->bound.values[i] = column->typbyval ? bound->values[i] :
			datum_keep(self->bound_context, bound->values[i], column->typlen);
	}
}

static void
segments_seek(ColumnStream *stream, const KeyBound *bound)
{
	SegmentsStream *self = (SegmentsStream *) stream;
	int			nopen = 0;

	stream->batch.nrows = 0;
	keep_bound(self, bound);
	self->nheap = 0;
	self->next_waiting = 0;
	self->touched = false;
	self->delivered = 0;
	self->run = NULL;

	/* the next seek is likely to need the same ones again */
	for (int i = 0; i < self->nsegments; i++)
	{
		if (self->waiting[i]->stream != NULL && ++nopen > IDLE_STREAMS)
			segment_close(self, self->waiting[i]);
	}
}

/*
 * The rest.
 */

const char *
segments_row_file(ColumnStream *stream, int row)
{
	SegmentsStream *self = (SegmentsStream *) stream;

	return self->run != NULL ? self->run->file.name : self->origin[row]->file.name;
}

static void
segments_locate(ColumnStream *stream, int row, RowLocation *location)
{
	SegmentsStream *self = (SegmentsStream *) stream;
	ColumnStream *base = self->run != NULL ? self->run->stream : self->origin[row]->stream;

	base->methods->locate(base, self->run != NULL ? self->run_start + row : self->origin_row[row],
						  location);
}

static void
segments_count(ColumnStream *stream, StreamCounters *counters)
{
	SegmentsStream *self = (SegmentsStream *) stream;

	stream_counters_add(counters, &self->counters);
	for (int i = 0; i < self->nsegments; i++)
	{
		ColumnStream *base = self->waiting[i]->stream;

		if (base != NULL)
			base->methods->count(base, counters);
	}
}

static void
segments_close(ColumnStream *stream)
{
	SegmentsStream *self = (SegmentsStream *) stream;

	stream->batch.nrows = 0;
	for (int i = 0; i < self->nsegments; i++)
	{
		segment_close(self, self->waiting[i]);
		source_file_close(self->waiting[i]->file.source);
	}
	self->nsegments = self->nheap = self->next_waiting = 0;
}

/* An empty one says nothing, and is not kept. */
static void
segments_files(ColumnStream *stream, FileVisitor visit, void *state)
{
	SegmentsStream *self = (SegmentsStream *) stream;

	for (int i = 0; i < self->nsegments; i++)
		visit(state, self->waiting[i]->file.source);
}

/* Of the row in its segment, and which segment it is; two rows hardly ever have the same. */
static int64
segments_position(ColumnStream *stream, int row)
{
	SegmentsStream *self = (SegmentsStream *) stream;
	const Segment *segment = self->run != NULL ? self->run : self->origin[row];
	int64		position = stream_position(segment->stream, self->run != NULL ?
										   self->run_start + row : self->origin_row[row]);

	return position < 0 ? -1 : (int64) (hash_combine64(segment->rank, position) >> 2);
}

static const ColumnStreamMethods segments_methods = {
	.next_batch = segments_next_batch,
	.decode = segments_decode,
	.seek = segments_seek,
	.locate = segments_locate,
	.count = segments_count,
	.close = segments_close,
	.files = segments_files,
	.position = segments_position,
};

/* Read the first key; false where the file has no row.  *readable is segment_open's answer. */
static bool
learn_first_key(SegmentsStream *self, Segment *segment, bool *readable)
{
	StreamResources resources = *self->resources;
	bool		found;

	resources.block_bytes = Min(resources.block_bytes, FIRST_KEY_BYTES);
	resources.batch_rows = resources.first_rows = 1;
	*readable = segment_open(self, segment, &resources);
	if (!*readable)
		return false;
	if (segment->stream->can_seek)
	{
		self->stream.can_seek = true;
		self->stream.seek_rows += segment->stream->seek_rows;
	}
	found = stream_next_batch(segment->stream);
	if (found)
		key_row_set(&segment->first, self->stream.key, &segment->stream->batch, 0);
	segment_close(self, segment);
	return found;
}

static int
compare_first_keys(const void *a, const void *b, void *arg)
{
	const Segment *x = *(Segment *const *) a;
	const Segment *y = *(Segment *const *) b;
	int			order = key_compare((const Key *) arg, &x->first.batch, 0, &y->first.batch, 0);

	if (order != 0)
		return order;
	return x->rank < y->rank ? -1 : 1;
}

/* False, with the segments so far, if one cannot be read as it is wanted. */
static bool
learn_segments(SegmentsStream *self, List *files)
{
	int			nfiles = list_length(files);
	Segment    *segments = palloc0(nfiles * sizeof(Segment));
	bool		readable = true;

	self->waiting = palloc(nfiles * sizeof(Segment *));
	for (int i = 0; i < nfiles && readable; i++)
	{
		Segment    *segment = &segments[i];

		CHECK_FOR_INTERRUPTS();
		segment->file = *(SegmentFile *) list_nth(files, i);
		segment->rank = self->resources->file_key != NULL ? nfiles - 1 - i : i;
		segment->file.source = source_file_open(&self->stream.spec->folder, segment->file.name);
		key_row_init(&segment->first, self->stream.key);
		if (learn_first_key(self, segment, &readable))
			self->waiting[self->nsegments++] = segment;
		else
			source_file_close(segment->file.source);
	}
	qsort_arg(self->waiting, self->nsegments, sizeof(Segment *), compare_first_keys,
			  (void *) self->stream.key);

	/* what was read to get here is not the scan's reading */
	memset(&self->counters, 0, sizeof(StreamCounters));
	return readable;
}

ColumnStream *
segments_open(const StreamSpec *spec, List *files, const Key *key,
			  const bool *wanted, const StreamResources *resources)
{
	SegmentsStream *self = palloc0(sizeof(SegmentsStream));

	stream_init(&self->stream, &segments_methods, spec, key, wanted);
	self->resources = resources;
	self->context = CurrentMemoryContext;
	self->bound_context = AllocSetContextCreate(CurrentMemoryContext, "segments bound",
												ALLOCSET_SMALL_SIZES);
	if (!learn_segments(self, files))
	{
		segments_close(&self->stream);
		return NULL;
	}
	self->heap = palloc(Max(self->nsegments, 1) * sizeof(Segment *));
	self->key = palloc(key->ncolumns * sizeof(Datum *));
	self->split_row = palloc(resources->batch_rows * sizeof(BatchRow));
	self->values = palloc(resources->batch_rows * sizeof(Datum));
	self->isnull = palloc(resources->batch_rows * sizeof(bool));
	return &self->stream;
}
