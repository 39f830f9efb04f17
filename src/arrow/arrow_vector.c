/*-------------------------------------------------------------------------
 *
 * arrow_vector.c
 *	  The tree of vectors: making it, telling it of a record batch, loading a
 *	  slice.
 *
 * What is special to a shape stands in a file of its own: arrow_strings.c,
 * arrow_views.c, arrow_nested.c, arrow_runs.c, arrow_dictionary.c; how much of
 * it fits into memory, in arrow_extent.c.
 *
 * Invariant: whatever a load function has not come to is NULL, so a vector
 * whose load has failed shows nothing of an older slice.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "arrow/arrow_name.h"
#include "arrow/arrow_shape.h"

/* What values point to where they take no bytes */
static const char no_values[ARROW_BUFFER_SLACK] __attribute__((aligned(64)));

/* ------------------------------------------------------------- errors */

/* "column", or "column.field.field" */
static char *
vector_path(const ArrowVector *vector)
{
	check_stack_depth();
	if (vector->parent == NULL)
		return pstrdup(arrow_name_shown(vector->field->name));
	return psprintf("%s.%s", vector_path(vector->parent),
					arrow_name_shown(vector->field->name));
}

void
arrow_report(const ArrowVector *vector, int64 element, const char *format,...)
{
	char		clause[300];
	va_list		args;

	va_start(args, format);
	vsnprintf(clause, sizeof(clause), format, args);
	va_end(args);
	ereport(ERROR,
			(errcode(ERRCODE_DATA_CORRUPTED),
			 errmsg("Arrow data in file \"%s\" is damaged", source_file_name(vector->file)),
			 element < 0 ?
			 errdetail("Field \"%s\": %s.", vector_path(vector), clause) :
			 errdetail("Field \"%s\", element %lld: %s.", vector_path(vector),
					   (long long) element + 1, clause)));
}

void
arrow_report_large(const ArrowVector *vector, int64 element, int64 n, const char *of_what)
{
	char	   *detail = psprintf("it has %lld %s", (long long) n, of_what);

	ereport(ERROR,
			(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
			 errmsg("a value in file \"%s\" is too large", source_file_name(vector->file)),
			 element < 0 ?
			 errdetail("Field \"%s\": %s.", vector_path(vector), detail) :
			 errdetail("Field \"%s\", element %lld: %s.", vector_path(vector),
					   (long long) element + 1, detail)));
}

/* ------------------------------------------------------------- shapes */

static ArrowShape
shape_of(const ArrowField *field)
{
	if (field->has_dictionary)
		return SHAPE_INDEXES;
	switch (field->type)
	{
		case ARROW_NULL:
			return SHAPE_NULL;
		case ARROW_BOOL:
			return SHAPE_BITS;
		case ARROW_INT:
		case ARROW_FLOATING_POINT:
		case ARROW_DECIMAL:
		case ARROW_DATE:
		case ARROW_TIME:
		case ARROW_TIMESTAMP:
		case ARROW_INTERVAL:
		case ARROW_DURATION:
		case ARROW_FIXED_SIZE_BINARY:
			return SHAPE_FIXED;
		case ARROW_BINARY:
		case ARROW_UTF8:
		case ARROW_LARGE_BINARY:
		case ARROW_LARGE_UTF8:
			return SHAPE_BYTES;
		case ARROW_BINARY_VIEW:
		case ARROW_UTF8_VIEW:
			return SHAPE_VIEWS;
		case ARROW_LIST:
		case ARROW_LARGE_LIST:
		case ARROW_MAP:
			return SHAPE_LIST;
		case ARROW_LIST_VIEW:
		case ARROW_LARGE_LIST_VIEW:
			return SHAPE_LIST_VIEW;
		case ARROW_FIXED_SIZE_LIST:
			return SHAPE_FIXED_LIST;
		case ARROW_STRUCT:
			return SHAPE_STRUCT;
		case ARROW_UNION:
			return field->dense_union ? SHAPE_DENSE_UNION : SHAPE_SPARSE_UNION;
		case ARROW_RUN_END_ENCODED:
			return SHAPE_RUNS;
	}
	elog(ERROR, "type %d of an Arrow field is unknown", (int) field->type);
	return SHAPE_NULL;			/* keep compiler quiet */
}

/* Bytes of one number or value in the main buffer. */
static int
width_of(const ArrowField *field, ArrowShape shape)
{
	switch (shape)
	{
		case SHAPE_INDEXES:
			return field->index_bits / 8;
		case SHAPE_FIXED:
			return field->type == ARROW_FIXED_SIZE_BINARY ? field->byte_width : field->bit_width / 8;
		case SHAPE_BYTES:
		case SHAPE_LIST:
		case SHAPE_LIST_VIEW:
			return field->type == ARROW_LARGE_BINARY || field->type == ARROW_LARGE_UTF8 ||
				field->type == ARROW_LARGE_LIST || field->type == ARROW_LARGE_LIST_VIEW ? 8 : 4;
		case SHAPE_VIEWS:
			return VIEW_BYTES;
		case SHAPE_SPARSE_UNION:
		case SHAPE_DENSE_UNION:
			return 1;
		case SHAPE_NULL:
		case SHAPE_BITS:
		case SHAPE_FIXED_LIST:
		case SHAPE_STRUCT:
		case SHAPE_RUNS:
			break;
	}
	return 0;
}

/* Slots that the shape can have buffers in, in any version. */
static int
slots_of(ArrowShape shape)
{
	switch (shape)
	{
		case SHAPE_NULL:
		case SHAPE_RUNS:
			return 0;
		case SHAPE_FIXED_LIST:
		case SHAPE_STRUCT:
			return SLOT_VALIDITY + 1;
		case SHAPE_BYTES:
		case SHAPE_LIST_VIEW:
		case SHAPE_DENSE_UNION:
			return SLOT_OTHER + 1;
		default:
			return SLOT_MAIN + 1;
	}
}

static ArrowSlot
slot_of(ArrowShape shape, ArrowBufferKind kind)
{
	switch (kind)
	{
		case ARROW_VALIDITY:
			return SLOT_VALIDITY;
		case ARROW_STARTS:
			return shape == SHAPE_DENSE_UNION ? SLOT_OTHER : SLOT_MAIN;
		case ARROW_SIZES:
		case ARROW_BYTES:
			return SLOT_OTHER;
		case ARROW_OFFSETS:
		case ARROW_TYPE_IDS:
		case ARROW_VALUES:
		case ARROW_VIEWS:
			break;
	}
	return SLOT_MAIN;
}

void
arrow_vector_footprint(const ArrowField *field, int version, int *nnodes, int *nbuffers)
{
	ArrowLayout layout = arrow_field_layout(field, version, false);

	check_stack_depth();
	*nnodes = 1;
	*nbuffers = layout.nbuffers;
	for (int i = 0; i < layout.nchildren; i++)
	{
		int			nodes;
		int			buffers;

		arrow_vector_footprint(&field->children[i], version, &nodes, &buffers);
		*nnodes += nodes;
		*nbuffers += buffers;
	}
}

/* ------------------------------------------------------------- making */

/* Bits are few: a window of them need not be as large as one of values. */
#define MIN_BITS_BLOCK	64
#define BITS_SHARE		16

static size_t
block_of(ArrowShape shape, int slot, size_t block_bytes)
{
	if (slot == SLOT_VALIDITY || shape == SHAPE_BITS)
		return Max(block_bytes / BITS_SHARE, MIN_BITS_BLOCK);
	return block_bytes;
}

static void
map_types(ArrowVector *vector)
{
	const ArrowField *field = vector->field;

	vector->child_of_type = palloc(ARROW_MAX_TYPE_IDS);
	memset(vector->child_of_type, -1, ARROW_MAX_TYPE_IDS);
	for (int i = 0; i < field->ntype_ids && i < vector->nchildren; i++)
	{
		Assert(field->type_ids[i] >= 0 && field->type_ids[i] < ARROW_MAX_TYPE_IDS);
		vector->child_of_type[field->type_ids[i]] = (int8) i;
	}
}

/* Names of up to this many bytes are nothing to speak of. */
#define SHORT_LABEL		64

/* A struct may become an object that has its fields' names, each time. */
static int64
label_bytes_of(const ArrowField *field)
{
	int64		bytes = 0;

	for (int i = 0; i < field->nchildren; i++)
	{
		size_t		length = strlen(field->children[i].name);

		if (length > SHORT_LABEL)
			bytes += length;
	}
	return bytes;
}

static void
vector_init(ArrowVector *vector, const ArrowVector *parent, const ArrowField *field,
			size_t block_bytes, int64 *blocks_read)
{
	check_stack_depth();
	memset(vector, 0, sizeof(*vector));
	vector->parent = parent;
	vector->field = field;
	vector->context = CurrentMemoryContext;
	vector->block_bytes = block_bytes;
	vector->shape = shape_of(field);
	vector->width = width_of(field, vector->shape);

	vector->nbuffers = slots_of(vector->shape);
	vector->buffers = palloc(sizeof(ArrowBuffer) * Max(vector->nbuffers, 1));
	for (int i = 0; i < vector->nbuffers; i++)
		arrow_buffer_init(&vector->buffers[i], vector->context,
						  block_of(vector->shape, i, block_bytes), blocks_read);

	vector->nchildren = vector->shape == SHAPE_INDEXES ? 0 : field->nchildren;
	vector->children = palloc0(sizeof(ArrowVector) * Max(vector->nchildren, 1));
	for (int i = 0; i < vector->nchildren; i++)
		vector_init(&vector->children[i], vector, &field->children[i], block_bytes, blocks_read);

	if (vector->shape == SHAPE_SPARSE_UNION || vector->shape == SHAPE_DENSE_UNION)
		map_types(vector);
	else if (vector->shape == SHAPE_STRUCT)
		vector->label_bytes = label_bytes_of(field);
	else if (vector->shape == SHAPE_VIEWS)
		arrow_views_create(vector, blocks_read);
	else if (vector->shape == SHAPE_RUNS)
		arrow_runs_create(vector);
}

ArrowVector *
arrow_vector_create(const ArrowField *field, int version, size_t block_bytes, int64 *blocks_read)
{
	ArrowVector *vector = palloc(sizeof(ArrowVector));

	(void) version;				/* each record batch says its own */
	vector_init(vector, NULL, field, block_bytes, blocks_read);
	return vector;
}

void
arrow_vector_set_whole(ArrowVector *vector)
{
	vector->whole = true;
	for (int i = 0; i < vector->nchildren; i++)
		arrow_vector_set_whole(&vector->children[i]);
}

int64
arrow_vector_bytes(const ArrowVector *vector)
{
	int64		bytes = vector->views != NULL ? arrow_views_bytes(vector) : 0;

	check_stack_depth();
	for (int i = 0; i < vector->nbuffers; i++)
		bytes = Min(bytes + Min(vector->buffers[i].size, ARROW_MOST_COST), ARROW_MOST_COST);
	for (int i = 0; i < vector->nchildren; i++)
		bytes = Min(bytes + arrow_vector_bytes(&vector->children[i]), ARROW_MOST_COST);
	return bytes;
}

/* No slice is loaded. */
static void
forget_slice(ArrowVector *vector)
{
	vector->from = 0;
	vector->to = 0;
	vector->validity = NULL;
	vector->validity_from = 0;
	vector->values = NULL;
	vector->bits_from = 0;
	vector->data = NULL;
	vector->data_from = 0;
	vector->union_offsets = NULL;
	vector->sizes = NULL;
}

void
arrow_vector_begin_small(ArrowVector *vector, size_t bytes)
{
	for (int i = 0; i < vector->nbuffers; i++)
		arrow_buffer_begin_small(&vector->buffers[i], bytes);
	for (int i = 0; i < vector->nchildren; i++)
		arrow_vector_begin_small(&vector->children[i], bytes);
}

void
arrow_vector_set_backward(ArrowVector *vector, bool backward)
{
	check_stack_depth();
	for (int i = 0; i < vector->nbuffers; i++)
		arrow_buffer_set_backward(&vector->buffers[i], backward);
	for (int i = 0; i < vector->nchildren; i++)
		arrow_vector_set_backward(&vector->children[i], backward);
}

void
arrow_vector_release(ArrowVector *vector)
{
	check_stack_depth();
	forget_slice(vector);
	for (int i = 0; i < vector->nbuffers; i++)
		arrow_buffer_release(&vector->buffers[i]);
	if (vector->views != NULL)
		arrow_views_release(vector);
	for (int i = 0; i < vector->nchildren; i++)
		arrow_vector_release(&vector->children[i]);
}

/* ------------------------------------------------------------- a record batch */

/* Goes over a record batch's description as its nodes and buffers are taken. */
typedef struct BatchCursor
{
	SourceFile *file;
	const ArrowBatchSpec *batch;
	int64		body_offset;
	Compression compression;
	ArrowPosition next;
} BatchCursor;

static Compression
body_compression(ArrowCompression compression)
{
	switch (compression)
	{
		case ARROW_LZ4_FRAME:
			return COMPRESSION_LZ4;
		case ARROW_ZSTD:
			return COMPRESSION_ZSTD;
		case ARROW_UNCOMPRESSED:
			break;
	}
	return COMPRESSION_NONE;
}

static void
take_buffer(ArrowVector *vector, ArrowSlot slot, BatchCursor *cursor)
{
	const ArrowBufferSpec *spec;

	if (cursor->next.buffer >= cursor->batch->nbuffers)
		arrow_report(vector, -1, "the record batch has too few buffers");
	spec = &cursor->batch->buffers[cursor->next.buffer++];
	arrow_buffer_set(&vector->buffers[slot], cursor->file, cursor->body_offset + spec->offset,
					 spec->length, cursor->compression);
}

/* Slots that the version has no buffer for are empty. */
static void
take_buffers(ArrowVector *vector, const ArrowLayout *layout, BatchCursor *cursor)
{
	ArrowNode	node = {vector->length, vector->null_count};

	if (vector->nbuffers > 0)
		arrow_buffer_set(&vector->buffers[SLOT_VALIDITY], cursor->file, 0, 0, COMPRESSION_NONE);
	for (int i = 0; i < layout->nbuffers; i++)
	{
		ArrowSlot	slot = slot_of(vector->shape, layout->buffers[i]);
		int64		least;

		Assert((int) slot < vector->nbuffers);
		take_buffer(vector, slot, cursor);
		if (!arrow_buffer_bytes(layout, i, &node, &least) ||
			vector->buffers[slot].size < least)
			arrow_report(vector, -1, "a buffer of %lld bytes is too short for %lld elements",
						 (long long) vector->buffers[slot].size, (long long) vector->length);
	}
}

static void
take_variadic(ArrowVector *vector, BatchCursor *cursor)
{
	const ArrowBatchSpec *batch = cursor->batch;
	int64		n;

	if (cursor->next.variadic >= batch->nvariadic)
		arrow_report(vector, -1, "the record batch does not say how many data buffers it has");
	n = batch->variadic[cursor->next.variadic++];
	if (n < 0 || n > batch->nbuffers - cursor->next.buffer)
		arrow_report(vector, -1, "the record batch has no %lld data buffers for it", (long long) n);
	arrow_views_set(vector, batch, cursor->body_offset, cursor->next.buffer, (int) n,
					cursor->compression);
	cursor->next.buffer += (int) n;
}

static void
vector_take(ArrowVector *vector, BatchCursor *cursor)
{
	const ArrowBatchSpec *batch = cursor->batch;
	ArrowLayout layout = arrow_field_layout(vector->field, batch->version, false);

	check_stack_depth();
	vector->file = cursor->file;
	forget_slice(vector);
	if (cursor->next.node >= batch->nnodes)
		arrow_report(vector, -1, "the record batch has too few fields");
	vector->length = batch->nodes[cursor->next.node].length;
	vector->null_count = batch->nodes[cursor->next.node].null_count;
	cursor->next.node++;
	if (vector->length < 0 || vector->null_count < 0 || vector->null_count > vector->length)
		arrow_report(vector, -1, "it cannot have %lld elements and %lld nulls",
					 (long long) vector->length, (long long) vector->null_count);

	take_buffers(vector, &layout, cursor);
	if (vector->shape == SHAPE_VIEWS)
		take_variadic(vector, cursor);
	Assert(layout.nchildren == vector->nchildren);
	for (int i = 0; i < vector->nchildren; i++)
		vector_take(&vector->children[i], cursor);
	if (vector->shape == SHAPE_RUNS)
		arrow_runs_set(vector);
}

void
arrow_vector_set(ArrowVector *vector, SourceFile *file, const ArrowBatchSpec *batch,
				 int64 body_offset, int node, int buffer, int variadic)
{
	BatchCursor cursor = {
		.file = file,
		.batch = batch,
		.body_offset = body_offset,
		.compression = body_compression(batch->compression),
		.next = {node, buffer, variadic}
	};

	vector_take(vector, &cursor);
}

/* ------------------------------------------------------------- a slice */

/* A bitmap may be left out where nothing is null, and counts for nothing there. */
static void
load_validity(ArrowVector *vector)
{
	int64		first = vector->from / 8;

	if (vector->nbuffers == 0 || vector->null_count == 0)
		return;
	/* only a union of version 5 comes here without one: its length was checked */
	if (vector->buffers[SLOT_VALIDITY].size == 0)
		return;
	vector->validity = (const uint8 *) arrow_buffer_read(&vector->buffers[SLOT_VALIDITY], first,
														 (size_t) ((vector->to - 1) / 8 + 1 - first));
	vector->validity_from = first * 8;
}

static void
load_bits(ArrowVector *vector)
{
	int64		first = vector->from / 8;

	vector->values = arrow_buffer_read(&vector->buffers[SLOT_MAIN], first,
									   (size_t) ((vector->to - 1) / 8 + 1 - first));
	vector->bits_from = first * 8;
}

const char *
arrow_slice_numbers(ArrowVector *vector, ArrowSlot slot, int width, int extra)
{
	/* the buffer is long enough for the array, so nothing overflows here */
	return arrow_buffer_read(&vector->buffers[slot], vector->from * width,
							 (size_t) (vector->to - vector->from + extra) * width);
}

/*
 * Slices of several rows are small (arrow_vector_extent).  More than a value
 * can have is thus one row's, and not worth reading.
 */
static void
check_size(const ArrowVector *vector, int64 n, int width)
{
	if (vector->whole || n <= (int64) (MaxAllocSize / Max(width, (int) sizeof(Datum))))
		return;
	if (vector->parent != NULL)
		arrow_report_large(vector->parent, -1, n, "elements");
	if (n == 1)
		arrow_report_large(vector, vector->from, width, "bytes");
}

static void
load_shape(ArrowVector *vector)
{
	switch ((ArrowShape) vector->shape)
	{
		case SHAPE_NULL:
			break;
		case SHAPE_BITS:
			load_bits(vector);
			break;
		case SHAPE_FIXED:
			if (vector->width > 0)
				vector->values = arrow_slice_numbers(vector, SLOT_MAIN, vector->width, 0);
			break;
		case SHAPE_INDEXES:
			arrow_load_indexes(vector);
			break;
		case SHAPE_BYTES:
			arrow_load_bytes(vector);
			break;
		case SHAPE_VIEWS:
			arrow_load_views(vector);
			break;
		case SHAPE_LIST:
			arrow_load_list(vector);
			break;
		case SHAPE_LIST_VIEW:
			arrow_load_list_view(vector);
			break;
		case SHAPE_FIXED_LIST:
			arrow_load_fixed_list(vector);
			break;
		case SHAPE_STRUCT:
			arrow_load_struct(vector);
			break;
		case SHAPE_SPARSE_UNION:
			arrow_load_sparse_union(vector);
			break;
		case SHAPE_DENSE_UNION:
			arrow_load_dense_union(vector);
			break;
		case SHAPE_RUNS:
			arrow_load_runs(vector);
			break;
	}
}

static void
begin_slice(ArrowVector *vector, int64 from, int64 to)
{
	forget_slice(vector);
	if (from < 0 || from > to || to > vector->length)
		arrow_report(vector, -1, "it has %lld elements, but %lld to %lld are needed",
					 (long long) vector->length, (long long) from, (long long) to);
	vector->from = from;
	vector->to = to;
	vector->values = no_values;
}

void
arrow_vector_load_nulls(ArrowVector *vector, int64 from, int64 to)
{
	begin_slice(vector, from, to);
	if (from < to)
		load_validity(vector);
}

void
arrow_vector_load(ArrowVector *vector, int64 from, int64 to)
{
	check_stack_depth();
	begin_slice(vector, from, to);
	check_size(vector, to - from, vector->width);
	if (from == to)
	{
		for (int i = 0; i < vector->nchildren; i++)
			arrow_vector_load(&vector->children[i], 0, 0);
		return;
	}
	load_validity(vector);
	load_shape(vector);
}
