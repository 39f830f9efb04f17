/*-------------------------------------------------------------------------
 *
 * arrow_views.c
 *	  String and binary views: 16 bytes each, which hold a short string or say
 *	  where in which of many buffers a long one lies.
 *
 * A slice's long strings are brought together when it is loaded.  Where those
 * in one buffer lie close to each other, as a writer leaves them, they are one
 * range of it.  Where they are strewn about (somebody has sorted or filtered
 * the views alone), they are collected in the buffer's order, one pass
 * forward, and the slice's views changed, in a copy, to say where they are now.
 *
 * Memory is that of the slice's strings, times two at most, and a block for
 * each buffer that they lie in; buffers that they do not lie in give theirs
 * back.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "arrow/arrow_shape.h"

/* Data buffers are many, and read in pieces of the right size. */
#define MIN_BLOCK			64
#define BLOCK_SHARE			8

/* More data buffers than these do not keep a decompressor each. */
#define MAX_DECOMPRESSORS	8

typedef struct View
{
	int32		length;
	union
	{
		char		bytes[VIEW_INLINE_BYTES];
		struct
		{
			char		prefix[4];
			int32		buffer;
			int32		offset;
		}			far;
	}			u;
} View;

/* What the slice has in one data buffer. */
typedef struct ViewSpan
{
	uint64		load;			/* of the load that the rest is of */
	int64		from;			/* [from, to): where its strings lie */
	int64		to;
	int64		bytes;			/* sum of their lengths */
	int64		count;
	const char *data;			/* byte data_from on */
	int64		data_from;
	char	   *collected;		/* what data points to, unless into the buffer's window */
} ViewSpan;

typedef struct ArrowViews
{
	int64	   *blocks_read;
	uint64		load;
	int			nbuffers;
	int			capacity;
	ArrowBuffer *buffers;		/* [capacity] */
	ViewSpan   *spans;			/* [capacity] */
	int		   *touched;		/* [capacity] buffers that the slice's strings lie in */
	int			ntouched;
	int		   *before;			/* [capacity] those of the last slice */
	int			nbefore;
	View	   *copy;			/* of the slice's views, where they had to be changed */
} ArrowViews;

StaticAssertDecl(sizeof(View) == VIEW_BYTES, "a view has 16 bytes");

void
arrow_views_create(ArrowVector *vector, int64 *blocks_read)
{
	vector->views = palloc0(sizeof(ArrowViews));
	vector->views->blocks_read = blocks_read;
}

/* ------------------------------------------------------------- a record batch */

static void *
grow(void *array, MemoryContext context, size_t size, int old, int new)
{
	char	   *grown = MemoryContextAllocHuge(context, size * new);

	if (old > 0)
	{
		memcpy(grown, array, size * old);
		pfree(array);
	}
	memset(grown + size * old, 0, size * (new - old));
	return grown;
}

static void
views_reserve(ArrowVector *vector, int n)
{
	ArrowViews *views = vector->views;
	MemoryContext context = vector->context;
	int			old = views->capacity;
	size_t		block = Max(vector->block_bytes / BLOCK_SHARE, MIN_BLOCK);

	if (n <= old)
		return;
	views->buffers = grow(views->buffers, context, sizeof(ArrowBuffer), old, n);
	for (int i = old; i < n; i++)
		arrow_buffer_init(&views->buffers[i], context, block, views->blocks_read);
	views->spans = grow(views->spans, context, sizeof(ViewSpan), old, n);
	views->touched = grow(views->touched, context, sizeof(int), old, n);
	views->before = grow(views->before, context, sizeof(int), old, n);
	views->capacity = n;
}

static void
forget_copy(ArrowViews *views)
{
	View	   *copy = views->copy;

	views->copy = NULL;
	if (copy != NULL)
		pfree(copy);
}

/* Give back what the slice has of one data buffer. */
static void
forget_span(ArrowViews *views, int b)
{
	char	   *collected = views->spans[b].collected;

	views->spans[b].collected = NULL;
	if (collected != NULL)
		pfree(collected);
}

void
arrow_views_release(ArrowVector *vector)
{
	ArrowViews *views = vector->views;

	forget_copy(views);
	for (int b = 0; b < views->capacity; b++)
	{
		forget_span(views, b);
		arrow_buffer_release(&views->buffers[b]);
	}
	views->ntouched = 0;
	views->nbefore = 0;
}

void
arrow_views_set(ArrowVector *vector, const ArrowBatchSpec *batch, int64 body_offset,
				int buffer, int nbuffers, Compression compression)
{
	ArrowViews *views = vector->views;

	arrow_views_release(vector);
	views_reserve(vector, nbuffers);
	views->nbuffers = nbuffers;
	for (int b = 0; b < nbuffers; b++)
	{
		const ArrowBufferSpec *spec = &batch->buffers[buffer + b];

		arrow_buffer_set(&views->buffers[b], vector->file, body_offset + spec->offset, spec->length,
						 compression);
	}
}

int64
arrow_views_bytes(const ArrowVector *vector)
{
	const ArrowViews *views = vector->views;
	int64		bytes = 0;

	for (int b = 0; b < views->nbuffers; b++)
		bytes = Min(bytes + Min(views->buffers[b].size, ARROW_MOST_COST), ARROW_MOST_COST);
	return bytes;
}

/* ------------------------------------------------------------- where strings lie */

static void
check_view(const ArrowVector *vector, int64 i, const View *view)
{
	const ArrowViews *views = vector->views;
	int64		size;

	if (view->length < 0)
		arrow_report(vector, i, "it has %d bytes", view->length);
	if (view->length <= VIEW_INLINE_BYTES)
		return;
	if (view->u.far.buffer < 0 || view->u.far.buffer >= views->nbuffers)
		arrow_report(vector, i, "it lies in data buffer %d of %d", view->u.far.buffer, views->nbuffers);
	size = views->buffers[view->u.far.buffer].size;
	if (view->u.far.offset < 0 || view->u.far.offset > size - view->length)
		arrow_report(vector, i, "its %d bytes at offset %d do not lie within %lld",
					 view->length, view->u.far.offset, (long long) size);
	if (view->length > (int32) MaxAllocSize)
		arrow_report_large(vector, i, view->length, "bytes");
}

/* A long string adds to what its data buffer is needed for. */
static void
add_to_span(ArrowViews *views, const View *view)
{
	int			b = view->u.far.buffer;
	ViewSpan   *span = &views->spans[b];
	int64		from = view->u.far.offset;
	int64		to = from + view->length;

	if (span->load != views->load)
	{
		span->load = views->load;
		span->from = from;
		span->to = to;
		span->bytes = 0;
		span->count = 0;
		views->touched[views->ntouched++] = b;
	}
	span->from = Min(span->from, from);
	span->to = Max(span->to, to);
	span->bytes += view->length;
	span->count++;
}

static void
find_spans(ArrowVector *vector)
{
	ArrowViews *views = vector->views;
	const View *view = (const View *) vector->values;
	int		   *swap = views->before;
	int64		bytes = 0;

	views->before = views->touched;
	views->nbefore = views->ntouched;
	views->touched = swap;
	views->ntouched = 0;
	views->load++;
	for (int64 i = vector->from; i < vector->to; i++, view++)
	{
		if (arrow_is_null(vector, i))
			continue;
		check_view(vector, i, view);
		if (view->length > VIEW_INLINE_BYTES)
			add_to_span(views, view);
		bytes += view->length;
	}
	if (bytes > (int64) MaxAllocSize && vector->parent != NULL && !vector->whole)
		arrow_report_large(vector, -1, bytes, "bytes");
}

/* Buffers that only the last slice needed give everything back. */
static void
leave_buffers(ArrowViews *views)
{
	for (int k = 0; k < views->nbefore; k++)
	{
		int			b = views->before[k];

		forget_span(views, b);
		if (views->spans[b].load != views->load)
			arrow_buffer_release(&views->buffers[b]);
	}
	views->nbefore = 0;
}

/* ------------------------------------------------------------- bringing them in */

static int
compare_offsets(const void *a, const void *b)
{
	const View *x = *(View *const *) a;
	const View *y = *(View *const *) b;

	return (x->u.far.offset > y->u.far.offset) - (x->u.far.offset < y->u.far.offset);
}

/* The views of strings in one data buffer, in its order; palloc'd. */
static View **
views_in_order(const ArrowVector *vector, View *view, int b)
{
	int64		n = vector->views->spans[b].count;
	View	  **order = MemoryContextAllocHuge(CurrentMemoryContext, sizeof(View *) * n);
	int64		k = 0;

	for (int64 i = vector->from; i < vector->to; i++, view++)
	{
		if (view->length > VIEW_INLINE_BYTES && view->u.far.buffer == b && !arrow_is_null(vector, i))
			order[k++] = view;
	}
	Assert(k == n);
	qsort(order, n, sizeof(View *), compare_offsets);
	return order;
}

/*
 * Collect what is strewn about in a data buffer.  The strings have fewer bytes
 * than half the range that they lie in, which is less than 4 GB: offsets into
 * what was collected fit.
 */
static void
collect(ArrowVector *vector, View *copy, int b)
{
	ArrowViews *views = vector->views;
	ViewSpan   *span = &views->spans[b];
	View	  **order = views_in_order(vector, copy, b);
	int64		filled = 0;

	forget_span(views, b);
	span->collected = MemoryContextAllocHuge(vector->context, span->bytes + ARROW_BUFFER_SLACK);
	for (int64 k = 0; k < span->count; k++)
	{
		View	   *view = order[k];

		memcpy(span->collected + filled,
			   arrow_buffer_read(&views->buffers[b], view->u.far.offset, view->length), view->length);
		view->u.far.offset = (int32) filled;
		filled += view->length;
	}
	Assert(filled == span->bytes);
	pfree(order);
	span->data = span->collected;
	span->data_from = 0;
}

/* Changed views are written to a copy: the window may serve again. */
static View *
copied_views(ArrowVector *vector)
{
	ArrowViews *views = vector->views;
	size_t		size = (size_t) (vector->to - vector->from) * sizeof(View);

	if (views->copy == NULL)
	{
		views->copy = MemoryContextAllocHuge(vector->context, size);
		memcpy(views->copy, vector->values, size);
		vector->values = (const char *) views->copy;
	}
	return views->copy;
}

static void
load_span(ArrowVector *vector, int b)
{
	ArrowViews *views = vector->views;
	ViewSpan   *span = &views->spans[b];
	int64		length = span->to - span->from;

	if (length / 2 > span->bytes && length > (int64) vector->block_bytes)
		collect(vector, copied_views(vector), b);
	else
	{
		span->data = arrow_buffer_read(&views->buffers[b], span->from, (size_t) length);
		span->data_from = span->from;
	}
	if (views->ntouched > MAX_DECOMPRESSORS)
		arrow_buffer_rest(&views->buffers[b]);
}

void
arrow_load_views(ArrowVector *vector)
{
	ArrowViews *views = vector->views;

	forget_copy(views);
	vector->values = arrow_slice_numbers(vector, SLOT_MAIN, VIEW_BYTES, 0);
	find_spans(vector);
	leave_buffers(views);
	for (int k = 0; k < views->ntouched; k++)
	{
		CHECK_FOR_INTERRUPTS();
		load_span(vector, views->touched[k]);
	}
}

ArrowBytes
arrow_view_bytes(const ArrowVector *vector, int64 i)
{
	const View *view = (const View *) vector->values + (i - vector->from);
	const ViewSpan *span;

	if (view->length <= VIEW_INLINE_BYTES)
		return (ArrowBytes){view->u.bytes, Max(view->length, 0)};
	span = &vector->views->spans[view->u.far.buffer];
	return (ArrowBytes){span->data + (view->u.far.offset - span->data_from), view->length};
}
