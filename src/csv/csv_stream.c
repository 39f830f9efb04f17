/*-------------------------------------------------------------------------
 *
 * csv_stream.c
 *	  CSV and text files as column streams.
 *
 * The reader says where fields lie; here they become keys and values.  Keys
 * are decoded batch by batch, values when they are asked for.
 *
 * A stream reads nothing, and has no buffers, until it is first used: there
 * may be thousands, read one after another.  All that it has lies in a
 * memory context of its own, which goes when it is closed.
 *
 * Refuses to know: the order of keys, except when it looks for one.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "compat.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "csv/csv_backward.h"
#include "csv/csv_errors.h"
#include "csv/csv_facts.h"
#include "csv/csv_landmarks.h"
#include "csv/csv_seek.h"
#include "csv/csv_source.h"
#include "csv/csv_stream.h"

/* A file of this size is as soon read as searched. */
#define MIN_SEEK_BYTES	(64 * 1024)

/* Rows that are read in the time of a seek. */
#define CSV_SEEK_ROWS	500

typedef struct CsvStream
{
	ColumnStream base;
	MemoryContext context;
	StreamResources resources;
	CsvSource	source;
	CsvReader  *reader;
	bool		looked_through; /* searchable is known */
	bool		searchable;
	int64		first_row;		/* where the first row begins; -1: not known */
	CsvLandmarks *landmarks;	/* from the second seek on */

	/* known once the top of the file has been read */
	bool		prepared;
	int		   *key_slot;		/* [spec->nkeys] into reader->fields */
	int		   *value_slot;		/* [spec->nfields]; -1: not wanted */
	TextDecoder **key_decoder;
	TextDecoder **value_decoder;
	ValueArena *arena;
	bool	   *isnull;

	/* for going back */
	CsvBackward backward;
	bool		going_back;		/* backward is prepared */
	int64		back_at;		/* rows that start from here on have been delivered */

	int			next_rows;		/* of the next batch */
	int64		rows_read;
	int64		seeks;
} CsvStream;

/* ------------------------------------------------------------ preparing */

/*
 * The header's names must be those of the columns that take them.  A field
 * that was found by another name has that name; one that was found by its
 * number is to have the column's, as in COPY.
 */
static void
check_header(const CsvStream *stream, const FieldSpec *column, int field)
{
	const char *found = stream->reader->names[field];

	if (field_name_equal(found, column->column) ||
		(column->declared && field_name_equal(found, column->declared)))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_BAD_COPY_FILE_FORMAT),
			 errmsg("column name mismatch in header line of file \"%s\"", stream->reader->name),
			 errdetail("Field %d is \"%s\", expected \"%s\".", field + 1, found, column->column),
			 errhint("With the option \"header\" set to \"true\" the header's names are not checked.")));
}

static TextDecoder *
create_decoder(const CsvStream *stream, const FieldSpec *column)
{
	bool		csv = stream->source.dialect.grammar.csv;

	return text_decoder_create(column->type, column->typmod,
							   csv && column->force_not_null ? NULL : stream->source.dialect.grammar.null,
							   csv && column->force_null, stream->resources.simd,
							   stream->context);
}

static int
compare_ints(const void *a, const void *b)
{
	int			x = *(const int *) a;
	int			y = *(const int *) b;

	return (x > y) - (x < y);
}

/* The place of a field among those that the reader is asked for. */
static int
slot_of(const int *fields, int nfields, int field)
{
	return (int) ((const int *) bsearch(&field, fields, nfields, sizeof(int), compare_ints) - fields);
}

/* Ask the reader for the fields of all keys and of the wanted columns, each once. */
static void
want_fields(CsvStream *stream, const int *key_fields, const int *value_fields)
{
	const StreamSpec *spec = stream->base.spec;
	int		   *fields = palloc(sizeof(int) * (spec->nkeys + spec->nfields));
	int			n = 0;
	int			distinct = 1;

	for (int i = 0; i < spec->nkeys; i++)
		fields[n++] = key_fields[i];
	for (int i = 0; i < spec->nfields; i++)
	{
		if (stream->base.wanted[i])
			fields[n++] = value_fields[i];
	}
	qsort(fields, n, sizeof(int), compare_ints);
	for (int i = 1; i < n; i++)
	{
		if (fields[i] != fields[distinct - 1])
			fields[distinct++] = fields[i];
	}
	csv_reader_want(stream->reader, fields, distinct);

	stream->key_slot = palloc(sizeof(int) * spec->nkeys);
	stream->value_slot = palloc(sizeof(int) * Max(spec->nfields, 1));
	for (int i = 0; i < spec->nkeys; i++)
		stream->key_slot[i] = slot_of(fields, distinct, key_fields[i]);
	for (int i = 0; i < spec->nfields; i++)
		stream->value_slot[i] = stream->base.wanted[i] ? slot_of(fields, distinct, value_fields[i]) : -1;
	pfree(fields);
}

static void
prepare_fields(CsvStream *stream)
{
	const StreamSpec *spec = stream->base.spec;
	CsvReader  *reader = stream->reader;
	int		   *key_fields = palloc(sizeof(int) * spec->nkeys);
	int		   *value_fields = palloc(sizeof(int) * Max(spec->nfields, 1));

	field_resolve(spec, reader->name, reader->nnames, (const char *const *) reader->names,
				  reader->nfields, key_fields, value_fields);
	if (stream->source.dialect.header == HEADER_MATCH)
	{
		for (int i = 0; i < spec->nkeys; i++)
			check_header(stream, &spec->keys[i], key_fields[i]);
		for (int i = 0; i < spec->nfields; i++)
			check_header(stream, &spec->fields[i], value_fields[i]);
	}
	want_fields(stream, key_fields, value_fields);
	pfree(key_fields);
	pfree(value_fields);
}

static void
prepare_batch(CsvStream *stream)
{
	const StreamSpec *spec = stream->base.spec;
	const Key  *key = stream->base.key;
	ColumnBatch *batch = &stream->base.batch;
	int			rows = stream->resources.batch_rows;

	stream->arena = value_arena_create(stream->context);
	stream->isnull = palloc(sizeof(bool) * rows);
	batch->image = palloc(sizeof(int64) * rows);
	if (!key->exact)
	{
		batch->key = palloc(sizeof(Datum *) * key->ncolumns);
		for (int i = 0; i < key->ncolumns; i++)
			batch->key[i] = palloc(sizeof(Datum) * rows);
	}
	stream->key_decoder = palloc(sizeof(TextDecoder *) * spec->nkeys);
	stream->value_decoder = palloc0(sizeof(TextDecoder *) * Max(spec->nfields, 1));
	for (int i = 0; i < spec->nkeys; i++)
	{
		stream->key_decoder[i] = create_decoder(stream, &spec->keys[i]);
		text_decoder_refuse_rounding(stream->key_decoder[i], spec->keys[i].type, stream->context);
	}
	for (int i = 0; i < spec->nfields; i++)
	{
		if (stream->base.wanted[i])
		{
			stream->value_decoder[i] = create_decoder(stream, &spec->fields[i]);
			if (spec->fields[i].nulls_only)
				text_decoder_nulls_only(stream->value_decoder[i]);
		}
	}
}

/* Read the top of the file; what follows from it, once.  False if it holds no rows. */
static bool
csv_prepare(CsvStream *stream)
{
	MemoryContext old;

	csv_reader_begin(stream->reader);
	if (stream->prepared || stream->reader->nfields == 0)
		return stream->prepared;

	old = MemoryContextSwitchTo(stream->context);
	prepare_fields(stream);
	prepare_batch(stream);
	MemoryContextSwitchTo(old);
	stream->prepared = true;
	return true;
}

/* ------------------------------------------------------------ keys */

pg_noreturn static void
report_null_key(CsvStream *stream, const char *column, int row)
{
	CsvContext	context;

	csv_context_push(&context, stream->reader, column);
	context.row = row;
	ereport(ERROR,
			(errcode(ERRCODE_NOT_NULL_VIOLATION),
			 errmsg("null key in file \"%s\"", stream->reader->name),
			 errdetail("Every row of a column file needs a key.")));
}

/* One key column of the reader's rows. */
static void
decode_key(CsvStream *stream, int column, int nrows, Datum *values)
{
	const char *name = stream->base.spec->keys[column].column;
	const bool *null;
	CsvContext	context;

	csv_context_push(&context, stream->reader, name);
	text_decode(stream->key_decoder[column], &stream->reader->fields[stream->key_slot[column]],
				0, nrows, NULL, 0, stream->arena, values, stream->isnull, &context.row);
	csv_context_pop(&context);

	null = memchr(stream->isnull, true, nrows);
	if (null != NULL)
		report_null_key(stream, name, (int) (null - stream->isnull));
}

static void
decode_keys(CsvStream *stream, int nrows)
{
	const Key  *key = stream->base.key;
	ColumnBatch *batch = &stream->base.batch;

	if (!key->exact)
	{
		for (int i = 0; i < key->ncolumns; i++)
			decode_key(stream, i, nrows, batch->key[i]);
		key_images(key, batch->key[0], nrows, batch->image);
		return;
	}

	/* an integer's Datum, sign-extended, is its image already */
	decode_key(stream, 0, nrows, (Datum *) batch->image);
	if (key->columns[0].descending)
	{
		for (int i = 0; i < nrows; i++)
			batch->image[i] = ~batch->image[i];
	}
}

/* ------------------------------------------------------------ methods */

/* Rows, at most so many; false at the end. */
static bool
read_rows(CsvStream *stream, int max_rows)
{
	int			nrows;

	stream->base.batch.nrows = 0;
	if (!csv_prepare(stream))
		return false;
	value_arena_reset(stream->arena);
	nrows = csv_reader_next(stream->reader, max_rows);
	if (nrows == 0)
		return false;
	decode_keys(stream, nrows);
	stream->base.batch.nrows = nrows;
	return true;
}

static bool
csv_stream_next_batch(ColumnStream *base)
{
	CsvStream  *stream = (CsvStream *) base;
	int			rows = stream->next_rows;

	stream->next_rows = Min(rows * 2, stream->resources.batch_rows);
	if (!read_rows(stream, rows))
		return false;
	stream->rows_read += base->batch.nrows;
	return true;
}

static void
csv_stream_decode(ColumnStream *base, int field, int from, int to,
				  const BatchRow *rows, int nrows, Datum *values, bool *isnull)
{
	CsvStream  *stream = (CsvStream *) base;
	CsvContext	context;

	Assert(stream->value_slot[field] >= 0);
	csv_context_push(&context, stream->reader, base->spec->fields[field].column);
	text_decode(stream->value_decoder[field], &stream->reader->fields[stream->value_slot[field]],
				from, to, rows, nrows, stream->arena, values, isnull, &context.row);
	csv_context_pop(&context);
}

/* What a search for a bound asks of a row. */
typedef struct BoundSearch
{
	CsvStream  *stream;
	const KeyBound *bound;
} BoundSearch;

/* Read the row; false if there is none. */
static bool
compare_row(BoundSearch *search, int64 offset, int *order)
{
	CsvStream  *stream = search->stream;

	csv_reader_seek(stream->reader, offset);
	if (!read_rows(stream, 1))
		return false;
	*order = key_compare_bound(stream->base.key, &stream->base.batch, 0, search->bound);
	return true;
}

static bool
row_is_before(void *state, int64 offset)
{
	BoundSearch *search = state;
	int			order;

	if (!compare_row(search, offset, &order))
		return false;
	return order < 0 || (order == 0 && !search->bound->inclusive);
}

/* Read the key of the row at an offset, for a landmark. */
static bool
read_image(void *state, int64 offset, int64 *image)
{
	CsvStream  *stream = ((BoundSearch *) state)->stream;

	csv_reader_seek(stream->reader, offset);
	if (!read_rows(stream, 1))
		return false;
	*image = stream->base.batch.image[0];
	return true;
}

/* As csv_landmarks_search asks. */
static int
image_is_before(void *state, int64 image, bool at_hand)
{
	BoundSearch *search = state;
	const KeyBound *bound = search->bound;
	const Key  *key = search->stream->base.key;
	int			order;

	if (image != bound->image)
		return image < bound->image ? 1 : -1;
	if (!key->exact && !at_hand)
		return 0;
	order = key->exact ? 0 : key_compare_bound(key, &search->stream->base.batch, 0, bound);
	return order < 0 || (order == 0 && !bound->inclusive) ? 1 : -1;
}

/* Where to read on from to find the bound. */
static int64
find_bound(CsvStream *stream, const KeyBound *bound)
{
	SourceFile *file = stream->source.file;
	BoundSearch search = {stream, bound};
	char		line_byte = csv_line_byte(stream->reader->grammar.line_end);
	int64		low = stream->first_row;
	int64		high = source_file_identity(file)->size;

	if (stream->seeks > 0 && stream->landmarks == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(stream->context);

		stream->landmarks = csv_landmarks_create(high, stream->resources.block_bytes);
		MemoryContextSwitchTo(old);
	}
	if (stream->landmarks != NULL)
		csv_landmarks_search(stream->landmarks, file, line_byte, low, read_image,
							 image_is_before, &search, &low, &high);
	return csv_bisect_between(file, line_byte, low, high, row_is_before, &search);
}

/* The same for a bound that rows are to end at. */
static bool
row_is_within(void *state, int64 offset)
{
	BoundSearch *search = state;
	int			order;

	if (!compare_row(search, offset, &order))
		return false;
	return order < 0 || (order == 0 && search->bound->inclusive);
}

/* Can rows of the file be found in its middle?  May look through the file. */
static bool
can_search(CsvStream *stream)
{
	SourceFile *file = stream->source.file;

	if (!stream->looked_through)
		stream->searchable = file != NULL && source_file_identity(file)->size >= MIN_SEEK_BYTES &&
			csv_lines_are_rows(file, &stream->source.dialect, true);
	stream->looked_through = true;
	return stream->searchable;
}

static void
csv_stream_seek(ColumnStream *base, const KeyBound *bound)
{
	CsvStream  *stream = (CsvStream *) base;
	CsvReader  *reader = stream->reader;
	int64		found;

	base->batch.nrows = 0;
	stream->next_rows = Min(stream->resources.first_rows, stream->resources.batch_rows);
	if (bound == NULL || !can_search(stream) || !csv_prepare(stream))
	{
		csv_reader_restart(reader);
		return;
	}
	if (stream->first_row < 0)
		stream->first_row = csv_pass_lines(stream->source.file,
										   csv_line_byte(reader->grammar.line_end),
										   reader->top_lines);
	found = find_bound(stream, bound);
	base->batch.nrows = 0;
	stream->seeks++;
	if (found > stream->first_row)
		csv_reader_seek(reader, found);
	else
		csv_reader_restart(reader);
}

/* ------------------------------------------------------------ going back */

/* Can rows be found from the file's end?  May look through the file. */
static bool
can_go_back(CsvStream *stream)
{
	const CsvDialect *dialect = &stream->source.dialect;

	/* where the text format's data begins is known from the top of the file */
	if (stream->source.file != NULL && !dialect->grammar.csv)
		(void) csv_prepare(stream);
	return csv_backward_can(stream->reader, dialect, stream->source.file, true);
}

/* False if the file holds no rows. */
static bool
prepare_backward(CsvStream *stream)
{
	MemoryContext old;

	if (!csv_prepare(stream))
		return false;
	if (stream->going_back)
		return true;
	old = MemoryContextSwitchTo(stream->context);
	csv_backward_begin(&stream->backward, stream->reader, stream->reader->buffer.block_bytes,
					   stream->base.spec->queue);
	MemoryContextSwitchTo(old);
	stream->back_at = stream->backward.end;
	stream->going_back = true;
	return true;
}

/* The most bytes that the reader takes at once, converted or not. */
static size_t
most_bytes(const CsvStream *stream)
{
	size_t		block = stream->reader->buffer.block_bytes;

	return Max(OidIsValid(stream->reader->buffer.conversion) ? block / 2 : block - 1, 1);
}

/* Rows that were found to lie there are not what the reader finds: let it say why. */
pg_noreturn static void
report_odd_rows(CsvStream *stream, int64 from, int64 to, int rows)
{
	csv_reader_limit(stream->reader, from, to);
	while (csv_reader_next(stream->reader, rows) > 0)
		CHECK_FOR_INTERRUPTS();
	ereport(ERROR,
			(errcode(ERRCODE_BAD_COPY_FILE_FORMAT),
			 errmsg("rows of file \"%s\" cannot be told apart from its end", stream->reader->name),
			 errhint("Set the option \"multiline\" to \"true\".")));
}

static bool
csv_stream_previous_batch(ColumnStream *base)
{
	CsvStream  *stream = (CsvStream *) base;
	int			rows = stream->next_rows;
	int64		from;
	int64		to;
	int			nrows;

	base->batch.nrows = 0;
	if (!prepare_backward(stream) || stream->back_at <= stream->backward.first)
		return false;
	stream->next_rows = Min(rows * 2, stream->resources.batch_rows);
	to = stream->back_at;
	from = csv_backward_rows(&stream->backward, to, rows, most_bytes(stream));
	value_arena_reset(stream->arena);
	csv_reader_limit(stream->reader, from, to);
	nrows = csv_reader_next(stream->reader, rows);
	if (nrows == 0 || !csv_reader_is_through(stream->reader))
		report_odd_rows(stream, from, to, rows);
	decode_keys(stream, nrows);
	base->batch.nrows = nrows;
	stream->back_at = from;
	stream->rows_read += nrows;
	return true;
}

static void
csv_stream_seek_back(ColumnStream *base, const KeyBound *bound)
{
	CsvStream  *stream = (CsvStream *) base;
	BoundSearch search = {stream, bound};
	const CsvBackward *backward = &stream->backward;

	base->batch.nrows = 0;
	stream->next_rows = Min(stream->resources.first_rows, stream->resources.batch_rows);
	if (!prepare_backward(stream))
		return;
	stream->back_at = backward->end;
	if (bound == NULL || !can_search(stream))
		return;
	stream->back_at = csv_bisect_back(stream->source.file,
									  csv_line_byte(stream->reader->grammar.line_end),
									  backward->first, backward->end, row_is_within, &search);
	base->batch.nrows = 0;
	stream->seeks++;
}

/* ------------------------------------------------------------ the rest */

static void
csv_stream_locate(ColumnStream *base, int row, RowLocation *location)
{
	CsvStream  *stream = (CsvStream *) base;

	location->file = stream->reader->name;
	csv_reader_locate(stream->reader, row, &location->row, &location->line);
}

static void
csv_stream_count(ColumnStream *base, StreamCounters *counters)
{
	CsvStream  *stream = (CsvStream *) base;

	counters->rows_read += stream->rows_read;
	counters->blocks_read += stream->source.bytes->blocks_read;
	if (stream->reader->range != NULL)
		counters->blocks_read += stream->reader->range->blocks_read;
	counters->seeks += stream->seeks;
}

static void
csv_stream_close(ColumnStream *base)
{
	CsvStream  *stream = (CsvStream *) base;

	byte_source_close(stream->source.bytes);
	MemoryContextDelete(stream->context);
}

static void
csv_stream_files(ColumnStream *base, FileVisitor visit, void *state)
{
	CsvStream  *stream = (CsvStream *) base;

	if (stream->source.file != NULL)
		visit(state, stream->source.file);
}

/* Where its key begins. */
static int64
csv_stream_position(ColumnStream *base, int row)
{
	CsvStream  *stream = (CsvStream *) base;
	const CsvBuffer *buffer = &stream->reader->buffer;

	if (OidIsValid(buffer->conversion))
		return -1;
	return buffer->offset + stream->reader->fields[stream->key_slot[0]].offset[row];
}

static bool
csv_stream_enter(ColumnStream *base, double part)
{
	CsvStream  *stream = (CsvStream *) base;
	SourceFile *file = stream->source.file;
	char		line_byte;
	int64		first;
	int64		at;

	if (file == NULL || !csv_lines_are_rows(file, &stream->source.dialect, true))
		return false;
	base->batch.nrows = 0;
	if (!csv_prepare(stream))
		return true;
	line_byte = csv_line_byte(stream->reader->grammar.line_end);
	first = csv_pass_lines(file, line_byte, stream->reader->top_lines);
	at = csv_row_after(file, line_byte, first, part);
	if (at > 0)
		csv_reader_seek(stream->reader, at);
	else
		csv_reader_restart(stream->reader);
	return true;
}

static const ColumnStreamMethods csv_stream_methods = {
	.next_batch = csv_stream_next_batch,
	.decode = csv_stream_decode,
	.seek = csv_stream_seek,
	.previous_batch = csv_stream_previous_batch,
	.seek_back = csv_stream_seek_back,
	.locate = csv_stream_locate,
	.count = csv_stream_count,
	.close = csv_stream_close,
	.files = csv_stream_files,
	.position = csv_stream_position
};

static ColumnStream *
csv_stream_open(const StreamSpec *spec, const SegmentFile *file, const Key *key,
				const bool *wanted, const StreamResources *resources)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "outerjoin text stream",
												  ALLOCSET_SMALL_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	CsvStream  *stream = palloc0(sizeof(CsvStream));

	stream_init(&stream->base, &csv_stream_methods, spec, key, wanted);
	stream->context = context;
	stream->resources = *resources;
	stream->next_rows = Min(resources->first_rows, resources->batch_rows);
	csv_source_open(&stream->source, spec, file, resources->block_bytes);
	stream->base.can_seek = stream->source.file != NULL &&
		csv_lines_are_rows(stream->source.file, &stream->source.dialect, false);
	stream->base.seek_rows = CSV_SEEK_ROWS;
	stream->first_row = -1;
	stream->reader = csv_reader_create(&stream->source.dialect, stream->source.bytes,
									   stream->source.file, resources->batch_rows,
									   resources->block_bytes, resources->simd, context);
	MemoryContextSwitchTo(old);
	if (resources->file_key != NULL)
		stream->base.can_go_back = can_go_back(stream);
	return &stream->base;
}

const ColumnFormat csv_column_format = {"csv", csv_stream_open, csv_facts, csv_stream_enter};
const ColumnFormat text_column_format = {"text", csv_stream_open, csv_facts, csv_stream_enter};
