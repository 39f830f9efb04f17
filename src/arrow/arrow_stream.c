/*-------------------------------------------------------------------------
 *
 * arrow_stream.c
 *	  Arrow IPC files and streams as column streams.
 *
 * A batch is a slice of a record batch, however large that is: so many rows
 * as were asked for, fewer where their values are long.  Keys that are what
 * the merge compares (64-bit integers, ascending) are used where they lie;
 * others are converted.  Values are loaded and converted when they are asked
 * for.
 *
 * A seek is a search over the record batches by their first keys, then one
 * over the rows of the batch; compressed ones are gone through from its top,
 * or, forward within the batch at hand, from where it stands.
 *
 * From the end to the top slices are taken in the reverse order; what is in
 * each is the same.
 *
 * Nothing is read, and no memory is taken, before the first use.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "compat.h"

#include "common/int.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "arrow/arrow_columns.h"
#include "arrow/arrow_facts.h"
#include "arrow/arrow_index.h"
#include "arrow/arrow_name.h"
#include "arrow/arrow_stream.h"

/* What a search reads of a buffer at once. */
#define PROBE_BYTES		1024

/* The same where it is likely to be the right place, and so many rows are sure to be in it. */
#define GUESS_BYTES		2048
#define GUESS_ROWS		(GUESS_BYTES / (int) sizeof(int64))
#define MOST_GUESSES	3

/* What is read of values first after a seek. */
#define FIRST_VALUE_BYTES	256

/* Rows of the first batch where seeks follow each other: they are after single rows. */
#define AGAIN_ROWS		32

/* A seek in batches that are not compressed takes the time of reading so many rows. */
#define ARROW_SEEK_ROWS	1500

/* One in FEW_SHARE rows of a batch, or less: few. */
#define FEW_SHARE		4

/* Compressed keys are passed over so many at a time. */
#define PASSED_ROWS		1024

typedef struct ArrowStream
{
	ColumnStream base;
	MemoryContext context;
	StreamResources resources;
	SourceFile *source;

	/* known once the file has been read into */
	ArrowFile  *file;
	ArrowColumns keys;
	ArrowColumns values;
	bool	   *loaded;			/* [nfields] all values of the batch are loaded */
	bool		keys_in_place;	/* the file's keys can be the batch's images */
	int64	   *image;			/* where they cannot */
	ValueArena *arena;
	bool	   *isnull;

	/* for searching: the same keys with small windows */
	ArrowColumns probes;
	bool		probing;		/* probes are made */
	ColumnBatch probe;			/* one row */
	ArrowFirstKeys *first_keys; /* those that are known already; NULL: none are kept */
	bool		end_known;
	int64		end_image;		/* of the last record batch's last key */

	bool		going_back;		/* stream->next is the first row that has been a batch's */
	int64		number;			/* record batch at hand; -1: before the first */
	int64		length;			/* its rows */
	bool		compressed;
	int64		next;			/* first row of it that has not been a batch's */
	int64		first;			/* first row of the batch */
	int64		rows_before;	/* in earlier record batches; -1: not counted */
	int			next_rows;

	int64		rows_read;
	int64		blocks_read;
	int64		seeks;
} ArrowStream;

/* ------------------------------------------------------------ contexts of errors */

typedef struct ArrowContext
{
	ErrorContextCallback callback;
	ArrowStream *stream;
	const char *column;
	volatile int row;			/* of the batch */
} ArrowContext;

static int64
row_number(ArrowStream *stream, int row)
{
	int64		number;

	if (stream->rows_before < 0)
		stream->rows_before = arrow_file_rows_before(stream->file, stream->number);
	if (pg_add_s64_overflow(stream->rows_before, stream->first + row + 1, &number))
		number = PG_INT64_MAX;
	return number;
}

static void
show_context(void *argument)
{
	ArrowContext *context = argument;
	ErrorContextCallback *saved = error_context_stack;
	int64		number;

	error_context_stack = NULL;
	number = row_number(context->stream, context->row);
	error_context_stack = saved;
	errcontext("file \"%s\", row %lld, column \"%s\"",
			   source_file_name(context->stream->source), (long long) number, context->column);
}

static void
context_push(ArrowContext *context, ArrowStream *stream, const char *column)
{
	context->stream = stream;
	context->column = column;
	context->row = 0;
	context->callback.callback = show_context;
	context->callback.arg = context;
	context->callback.previous = error_context_stack;
	error_context_stack = &context->callback;
}

static void
context_pop(ArrowContext *context)
{
	error_context_stack = context->callback.previous;
}

/* ------------------------------------------------------------ preparing */

/* May the file's own bytes be the images of the key? */
static bool
can_use_keys_in_place(const ArrowStream *stream)
{
#ifdef WORDS_BIGENDIAN
	return false;
#else
	const Key  *key = stream->base.key;
	const ArrowField *field = stream->keys.columns[0].vector->field;

	return key->exact && !key->columns[0].descending &&
		field->type == ARROW_INT && field->bit_width == 64 && field->is_signed &&
		!field->has_dictionary && key->columns[0].typlen == sizeof(int64) &&
		arrow_converter_is_copy(stream->keys.columns[0].converter);
#endif
}

static void
prepare_columns(ArrowStream *stream)
{
	const StreamSpec *spec = stream->base.spec;
	const ArrowSchema *schema = arrow_file_schema(stream->file);
	const char **names = arrow_schema_names(schema);
	int		   *key_fields = palloc(sizeof(int) * spec->nkeys);
	int		   *value_fields = palloc(sizeof(int) * Max(spec->nfields, 1));

	field_resolve(spec, source_file_name(stream->source), schema->nfields, names,
				  schema->nfields, key_fields, value_fields);
	arrow_columns_init(&stream->keys, stream->file, stream->source, spec->nkeys, spec->keys,
					   key_fields, NULL, true, stream->resources.block_bytes, &stream->blocks_read);
	arrow_columns_init(&stream->values, stream->file, stream->source, spec->nfields, spec->fields,
					   value_fields, stream->base.wanted, false,
					   stream->resources.block_bytes, &stream->blocks_read);
	pfree(names);
	pfree(key_fields);
	pfree(value_fields);
}

static void
prepare_batch(ArrowStream *stream)
{
	const Key  *key = stream->base.key;
	int			rows = stream->resources.batch_rows;

	stream->arena = value_arena_create(stream->context);
	stream->isnull = palloc(sizeof(bool) * rows);
	stream->loaded = palloc0(sizeof(bool) * Max(stream->base.spec->nfields, 1));
	stream->image = palloc(sizeof(int64) * rows);
	if (!key->exact)
	{
		stream->base.batch.key = palloc(sizeof(Datum *) * key->ncolumns);
		for (int i = 0; i < key->ncolumns; i++)
			stream->base.batch.key[i] = palloc(sizeof(Datum) * rows);
	}
	stream->keys_in_place = can_use_keys_in_place(stream);
}

static void
arrow_prepare(ArrowStream *stream)
{
	MemoryContext old;

	if (stream->file != NULL)
		return;
	old = MemoryContextSwitchTo(stream->context);
	stream->file = arrow_file_open(stream->source, stream->resources.block_bytes,
								   &stream->blocks_read);
	prepare_columns(stream);
	prepare_batch(stream);
	MemoryContextSwitchTo(old);
}

/* ------------------------------------------------------------ keys */

pg_noreturn static void
report_null_key(ArrowStream *stream, const char *column, int row)
{
	ArrowContext context;

	context_push(&context, stream, column);
	context.row = row;
	ereport(ERROR,
			(errcode(ERRCODE_NOT_NULL_VIOLATION),
			 errmsg("null key in file \"%s\"", source_file_name(stream->source)),
			 errdetail("Every row of a column file needs a key.")));
}

/* One key column's values of rows [from, from + nrows) of a loaded vector. */
static void
convert_key(ArrowStream *stream, ArrowColumn *column, int64 from, int nrows, Datum *values)
{
	const bool *null;
	ArrowContext context;

	context_push(&context, stream, column->name);
	arrow_convert(column->converter, column->vector, from, from + nrows, NULL, 0, stream->arena,
				  values, stream->isnull, &context.row);
	context_pop(&context);
	null = memchr(stream->isnull, true, nrows);
	if (null != NULL)
		report_null_key(stream, column->name, (int) (null - stream->isnull));
}

/* Keys of rows [from, from + nrows) into a batch whose arrays are set. */
static void
convert_keys(ArrowStream *stream, ArrowColumns *columns, ColumnBatch *batch, int64 from, int nrows)
{
	const Key  *key = stream->base.key;

	if (!key->exact)
	{
		for (int i = 0; i < key->ncolumns; i++)
			convert_key(stream, &columns->columns[i], from, nrows, batch->key[i]);
		key_images(key, batch->key[0], nrows, batch->image);
		return;
	}
	convert_key(stream, &columns->columns[0], from, nrows, (Datum *) batch->image);
	if (key->columns[0].descending)
	{
		for (int i = 0; i < nrows; i++)
			batch->image[i] = ~batch->image[i];
	}
}

static void
read_keys(ArrowStream *stream, int nrows)
{
	ColumnBatch *batch = &stream->base.batch;
	int64		first = stream->first;

	for (int i = 0; i < stream->keys.n; i++)
	{
		ArrowContext context;

		context_push(&context, stream, stream->keys.columns[i].name);
		arrow_vector_load(stream->keys.columns[i].vector, first, first + nrows);
		context_pop(&context);
	}
	if (stream->keys_in_place && stream->keys.columns[0].vector->validity == NULL)
	{
		batch->image = (int64 *) unconstify(char *, arrow_fixed(stream->keys.columns[0].vector, first));
		return;
	}
	batch->image = stream->image;
	convert_keys(stream, &stream->keys, batch, first, nrows);
}

/* ------------------------------------------------------------ batches */

/* Go on to a record batch; false if there is none of this number. */
static bool
open_record_batch(ArrowStream *stream, int64 number)
{
	const ArrowBatch *batch;

	if (!arrow_file_has_batch(stream->file, number))
		return false;
	batch = arrow_file_batch(stream->file, number);
	stream->length = batch->spec.length;
	stream->compressed = batch->spec.compression != ARROW_UNCOMPRESSED;
	arrow_columns_set(&stream->keys, number);
	arrow_columns_set(&stream->values, number);
	stream->number = number;
	stream->next = 0;
	return true;
}

/* How many of so many rows from stream->next on take no more than a block in each of the columns. */
static int64
columns_extent(ArrowStream *stream, const ArrowColumns *columns, int64 rows)
{
	int64		from = stream->next;
	int64		bytes = (int64) stream->resources.block_bytes;

	for (int i = 0; i < columns->n; i++)
	{
		const ArrowColumn *column = &columns->columns[i];
		int64		least;

		if (column->vector == NULL || column->nulls_only)
			continue;
		least = arrow_converter_least_bytes(column->converter);
		if (least > 0)
			rows = Min(rows, Max(bytes / least, 1));
		rows = arrow_vector_extent(column->vector, from, from + rows, (size_t) bytes);
	}
	return rows;
}

/* How many rows from stream->next on make a batch that is not too large. */
static int
batch_extent(ArrowStream *stream, int64 rows)
{
	rows = Min(rows, stream->length - stream->next);
	rows = columns_extent(stream, &stream->keys, rows);
	return (int) columns_extent(stream, &stream->values, rows);
}

static bool
arrow_stream_next_batch(ColumnStream *base)
{
	ArrowStream *stream = (ArrowStream *) base;
	int			nrows;

	base->batch.nrows = 0;
	arrow_prepare(stream);
	while (stream->number < 0 || stream->next == stream->length)
	{
		if (!arrow_file_has_batch(stream->file, stream->number + 1))
			return false;
		if (stream->rows_before >= 0 && stream->number >= 0)
			stream->rows_before += stream->length;
		(void) open_record_batch(stream, stream->number + 1);
	}
	value_arena_reset(stream->arena);
	memset(stream->loaded, false, sizeof(bool) * base->spec->nfields);
	nrows = batch_extent(stream, stream->next_rows);
	stream->next_rows = Min(stream->next_rows * 2, stream->resources.batch_rows);
	stream->first = stream->next;
	read_keys(stream, nrows);
	stream->next += nrows;
	stream->rows_read += nrows;
	base->batch.nrows = nrows;
	return true;
}

/*
 * Load a field's values of rows [from, to) of the batch.  All of the batch's
 * are loaded at once unless few are wanted and they can be read from anywhere.
 */
static void
load_values(ArrowStream *stream, int field, int from, int to)
{
	int			nrows = stream->base.batch.nrows;

	if (stream->compressed || (to - from) * FEW_SHARE > nrows)
	{
		from = 0;
		to = nrows;
	}
	arrow_vector_load(stream->values.columns[field].vector, stream->first + from, stream->first + to);
	stream->loaded[field] = from == 0 && to == nrows;
}

/* Behind the last row, to go back from there. */
static void
begin_backward(ArrowStream *stream)
{
	if (!stream->going_back)
	{
		arrow_columns_set_backward(&stream->keys, true);
		arrow_columns_set_backward(&stream->values, true);
	}
	arrow_columns_begin_small(&stream->keys, GUESS_BYTES);
	arrow_columns_begin_small(&stream->values, FIRST_VALUE_BYTES);
	stream->going_back = true;
	stream->number = arrow_file_nbatches(stream->file);
	stream->length = stream->next = stream->first = 0;
}

/* How many of so many rows before stream->next make a batch that is not too large. */
static int
batch_extent_back(ArrowStream *stream, int64 rows)
{
	int64		to = stream->next;

	rows = Min(rows, to);
	for (;;)
	{
		int64		fit;

		stream->next = to - rows;
		fit = columns_extent(stream, &stream->keys, rows);
		fit = columns_extent(stream, &stream->values, fit);
		stream->next = to;
		if (fit >= rows)
			return (int) rows;
		/* the last ones may be larger than the first, which were looked at */
		rows = Max(Min(fit, rows * 3 / 4), 1);
	}
}

static bool
arrow_stream_previous_batch(ColumnStream *base)
{
	ArrowStream *stream = (ArrowStream *) base;
	int			nrows;

	base->batch.nrows = 0;
	arrow_prepare(stream);
	if (!stream->going_back)
		begin_backward(stream);
	while (stream->next == 0)
	{
		if (stream->number == 0)
			return false;
		(void) open_record_batch(stream, stream->number - 1);
		stream->next = stream->length;
		stream->rows_before = -1;
	}
	value_arena_reset(stream->arena);
	memset(stream->loaded, false, sizeof(bool) * base->spec->nfields);
	nrows = batch_extent_back(stream, stream->next_rows);
	stream->next_rows = Min(stream->next_rows * 2, stream->resources.batch_rows);
	stream->first = stream->next - nrows;
	read_keys(stream, nrows);
	stream->next = stream->first;
	stream->rows_read += nrows;
	base->batch.nrows = nrows;
	return true;
}

static void
arrow_stream_decode(ColumnStream *base, int field, int from, int to,
					const BatchRow *rows, int nrows, Datum *values, bool *isnull)
{
	ArrowStream *stream = (ArrowStream *) base;
	ArrowColumn *column = &stream->values.columns[field];
	int64		first = stream->first;
	ArrowContext context;

	if (rows != NULL ? nrows == 0 : from >= to)
		return;
	context_push(&context, stream, column->name);
	if (column->nulls_only)
	{
		if (!stream->loaded[field])
			arrow_vector_load_nulls(column->vector, first, first + base->batch.nrows);
		stream->loaded[field] = true;
		if (rows != NULL)
			arrow_convert_nulls(column->vector, first, first + base->batch.nrows, rows, nrows, isnull);
		else
			arrow_convert_nulls(column->vector, first + from, first + to, NULL, 0, isnull + from);
		context_pop(&context);
		return;
	}
	if (!stream->loaded[field])
		load_values(stream, field, rows != NULL ? rows[0] : from,
					rows != NULL ? rows[nrows - 1] + 1 : to);
	if (rows != NULL)
		arrow_convert(column->converter, column->vector, first, first + base->batch.nrows,
					  rows, nrows, stream->arena, values, isnull, &context.row);
	else
	{
		/* the context counts from the batch's first row */
		stream->first += from;
		arrow_convert(column->converter, column->vector, first + from, first + to,
					  NULL, 0, stream->arena, values + from, isnull + from, &context.row);
		stream->first = first;
	}
	context_pop(&context);
}

/* ------------------------------------------------------------ seeking */

/* Known first keys of the record batches, if they may be kept. */
static void
find_first_keys(ArrowStream *stream)
{
	const StreamSpec *spec = stream->base.spec;
	KeyReading *columns = palloc(sizeof(KeyReading) * spec->nkeys);
	bool		lasting = true;

	(void) arrow_file_nbatches(stream->file);
	for (int i = 0; i < spec->nkeys; i++)
	{
		columns[i].field = stream->probes.columns[i].field;
		columns[i].type = spec->keys[i].type;
		columns[i].typmod = spec->keys[i].typmod;
		lasting = lasting && arrow_converter_is_lasting(stream->probes.columns[i].converter);
	}
	stream->first_keys = lasting ?
		arrow_first_keys(arrow_file_index(stream->file), spec->nkeys, columns) : NULL;
	pfree(columns);
}

static void
prepare_probes(ArrowStream *stream)
{
	const StreamSpec *spec = stream->base.spec;
	const Key  *key = stream->base.key;
	int		   *fields = palloc(sizeof(int) * spec->nkeys);
	MemoryContext old;

	if (stream->probing)
		return;
	old = MemoryContextSwitchTo(stream->context);
	for (int i = 0; i < spec->nkeys; i++)
		fields[i] = stream->keys.columns[i].field;
	arrow_columns_init(&stream->probes, stream->file, stream->source, spec->nkeys, spec->keys,
					   fields, NULL, true, PROBE_BYTES, &stream->blocks_read);
	stream->probe.nrows = 1;
	stream->probe.image = palloc(sizeof(int64));
	if (!key->exact)
	{
		stream->probe.key = palloc(sizeof(Datum *) * key->ncolumns);
		for (int i = 0; i < key->ncolumns; i++)
			stream->probe.key[i] = palloc(sizeof(Datum));
	}
	find_first_keys(stream);
	stream->probing = true;
	MemoryContextSwitchTo(old);
	pfree(fields);
}

static bool
probe_is_before(const ArrowStream *stream, const KeyBound *bound)
{
	int			order = key_compare_bound(stream->base.key, &stream->probe, 0, bound);

	return order < 0 || (order == 0 && !bound->inclusive);
}

/* The values of a key to the probe. */
static void
set_probe(ArrowStream *stream, const Datum *values)
{
	const Key  *key = stream->base.key;

	for (int i = 0; i < key->ncolumns && !key->exact; i++)
		stream->probe.key[i][0] = values[i];
	stream->probe.image[0] = key_image(key, values[0]);
}

/* Let the first key of a record batch, which is the probe's, be known from now on. */
static void
keep_first_key(ArrowStream *stream, int64 number)
{
	const Key  *key = stream->base.key;
	Datum	   *values = palloc(sizeof(Datum) * key->ncolumns);
	int16	   *typlen = palloc(sizeof(int16) * key->ncolumns);
	bool	   *typbyval = palloc(sizeof(bool) * key->ncolumns);

	for (int i = 0; i < key->ncolumns; i++)
	{
		values[i] = key_datum(key, &stream->probe, 0, i);
		typlen[i] = key->columns[i].typlen;
		typbyval[i] = key->columns[i].typbyval;
	}
	arrow_first_key_keep(stream->first_keys, number, values, typlen, typbyval);
	pfree(values);
	pfree(typlen);
	pfree(typbyval);
}

/* Does a row whose keys are loaded come before the bound? */
static bool
loaded_row_is_before(ArrowStream *stream, ArrowColumns *columns, int64 number, int64 row,
					 const KeyBound *bound)
{
	/* where an error would be */
	stream->number = number;
	stream->first = row;
	stream->rows_before = -1;

	value_arena_reset(stream->arena);
	convert_keys(stream, columns, &stream->probe, row, 1);
	return probe_is_before(stream, bound);
}

/* Does a row of a record batch come before the bound? */
static bool
row_is_before(ArrowStream *stream, int64 number, int64 row, const KeyBound *bound)
{
	arrow_columns_set(&stream->probes, number);
	for (int i = 0; i < stream->probes.n; i++)
		arrow_vector_load(stream->probes.columns[i].vector, row, row + 1);
	return loaded_row_is_before(stream, &stream->probes, number, row, bound);
}

/* The same for its first row, which is read once. */
static bool
batch_is_before(ArrowStream *stream, int64 number, const KeyBound *bound)
{
	const Datum *known = stream->first_keys ? arrow_first_key(stream->first_keys, number) : NULL;
	bool		before;

	if (known != NULL)
	{
		set_probe(stream, known);
		return probe_is_before(stream, bound);
	}
	before = row_is_before(stream, number, 0, bound);
	if (stream->first_keys != NULL)
		keep_first_key(stream, number);
	return before;
}

/* The last record batch whose first row comes before the bound; else the first one. */
static int64
find_record_batch(ArrowStream *stream, const KeyBound *bound)
{
	int64		low = 0;		/* begins before the bound, or is the first */
	int64		high = arrow_file_nbatches(stream->file);	/* no batch from here on begins before it */

	while (high - low > 1)
	{
		int64		middle = low + (high - low) / 2;
		int64		full = middle;

		CHECK_FOR_INTERRUPTS();
		/* one without rows says nothing */
		while (full < high && arrow_file_batch_rows(stream->file, full) == 0)
			full++;
		if (full < high && batch_is_before(stream, full, bound))
			low = full;
		else
			high = middle;
	}
	return low;
}

/* Does a row of the record batch at hand come before the bound? */
static bool
own_row_is_before(ArrowStream *stream, int64 row, const KeyBound *bound)
{
	arrow_columns_begin_small(&stream->keys, GUESS_BYTES);
	for (int i = 0; i < stream->keys.n; i++)
		arrow_vector_load(stream->keys.columns[i].vector, row, row + 1);
	return loaded_row_is_before(stream, &stream->keys, stream->number, row, bound);
}

/* The image of a record batch's first key, if it is known. */
static bool
first_image(const ArrowStream *stream, int64 number, double *image)
{
	const Datum *known = arrow_first_key(stream->first_keys, number);

	if (known == NULL)
		return false;
	*image = (double) key_image(stream->base.key, known[0]);
	return true;
}

/* The images between which those of the record batch at hand lie. */
static bool
find_images(ArrowStream *stream, const KeyBound *bound, double *low, double *high)
{
	int64		number = stream->number;

	if (stream->first_keys == NULL || !stream->base.key->exact || stream->length == 0)
		return false;
	if (!first_image(stream, number, low) && (!batch_is_before(stream, number, bound) ||
											  !first_image(stream, number, low)))
		return false;
	if (arrow_file_has_batch(stream->file, number + 1))
		return first_image(stream, number + 1, high);
	if (!stream->end_known)
	{
		(void) own_row_is_before(stream, stream->length - 1, bound);
		stream->end_image = stream->probe.image[0];
		stream->end_known = true;
	}
	*high = (double) stream->end_image;
	return true;
}

/* Bisect rows [low, high), which have been read, if their bytes are the images. */
static bool
bisect_in_place(ArrowStream *stream, int64 *low, int64 *high, const KeyBound *bound)
{
	ArrowVector *vector = stream->keys.columns[0].vector;
	ColumnBatch rows = {0};

	if (!stream->keys_in_place)
		return false;
	arrow_vector_load(vector, *low, *high);
	if (vector->validity != NULL)
		return false;
	rows.nrows = (int) (*high - *low);
	rows.image = (int64 *) unconstify(char *, arrow_fixed(vector, *low));
	*low += key_first_inside(stream->base.key, &rows, 0, rows.nrows, bound);
	*high = *low;
	return true;
}

/*
 * The first row of the record batch at hand that does not come before the
 * bound, or its end.  Keys of which the first and the last are known are
 * likely to lie evenly between them: then a look or two is enough.
 */
static int64
guess_row(ArrowStream *stream, const KeyBound *bound)
{
	int64		low = 0;
	int64		high = stream->length;
	double		low_image;
	double		high_image;
	int			guesses = find_images(stream, bound, &low_image, &high_image) ? MOST_GUESSES : 0;

	while (guesses-- > 0 && low < high)
	{
		double		share = ((double) bound->image - low_image) / Max(high_image - low_image, 1);
		int64		guess = low + (int64) (Max(Min(share, 1), 0) * (double) (high - low));
		int64		from = Max(guess - GUESS_ROWS / 2, low);
		int64		to = Min(from + GUESS_ROWS, high) - 1;

		if (from >= high)
			from = to;
		if (!own_row_is_before(stream, from, bound))
		{
			high = from;
			high_image = (double) stream->probe.image[0];
		}
		else if (own_row_is_before(stream, to, bound))
		{
			low = to + 1;
			low_image = (double) stream->probe.image[0];
		}
		else
		{
			low = from + 1;
			high = to;
			if (low < high && bisect_in_place(stream, &low, &high, bound))
				return low;
			break;
		}
	}
	while (low < high)
	{
		int64		middle = low + (high - low) / 2;

		if (own_row_is_before(stream, middle, bound))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Likewise, not far before it, for keys that can only be read forward. */
static int64
pass_rows(ArrowStream *stream, const KeyBound *bound)
{
	int64		number = stream->number;

	for (;;)
	{
		int64		from = stream->next;
		int64		n = columns_extent(stream, &stream->keys, Min(stream->length - from, PASSED_ROWS));

		CHECK_FOR_INTERRUPTS();
		if (from + n == stream->length)
			return from;
		for (int i = 0; i < stream->keys.n; i++)
			arrow_vector_load(stream->keys.columns[i].vector, from, from + n);
		if (!loaded_row_is_before(stream, &stream->keys, number, from + n - 1, bound))
			return from;
		stream->next = from + n;
	}
}

static void
arrow_stream_seek(ColumnStream *base, const KeyBound *bound)
{
	ArrowStream *stream = (ArrowStream *) base;
	int64		number;
	int64		row;
	bool		compressed;
	int64		read_number = -1;	/* record batch that has been read up to ... */
	int64		read_rows = 0;	/* ... here, all before the bound */

	if (bound != NULL && base->batch.nrows > 0 &&
		key_compare_bound(base->key, &base->batch, base->batch.nrows - 1, bound) < 0)
	{
		read_number = stream->number;
		read_rows = stream->next;
	}
	base->batch.nrows = 0;
	stream->next_rows = Min(stream->seeks > 0 ? Min(AGAIN_ROWS, stream->resources.first_rows) : stream->resources.first_rows,
							stream->resources.batch_rows);
	stream->number = -1;
	stream->length = stream->next = stream->first = 0;
	stream->rows_before = 0;
	if (bound == NULL)
		return;
	arrow_prepare(stream);
	prepare_probes(stream);
	if (arrow_file_nbatches(stream->file) == 0)
		return;
	number = find_record_batch(stream, bound);
	arrow_file_keep_batches(stream->file);
	compressed = arrow_file_batch(stream->file, number)->spec.compression != ARROW_UNCOMPRESSED;
	if (!compressed || number != read_number)
	{
		arrow_columns_begin_small(&stream->keys, GUESS_BYTES);
		arrow_columns_begin_small(&stream->values, FIRST_VALUE_BYTES);
	}
	(void) open_record_batch(stream, number);
	if (!compressed)
		row = guess_row(stream, bound);
	else
	{
		if (number == read_number)
			stream->next = read_rows;
		row = pass_rows(stream, bound);
		base->seek_rows = Max(ARROW_SEEK_ROWS, (double) stream->length / 2);
	}
	stream->number = number;
	stream->next = row;
	stream->first = row;
	stream->rows_before = number == 0 ? 0 : -1;
	stream->seeks++;
}

static void
arrow_stream_seek_back(ColumnStream *base, const KeyBound *bound)
{
	ArrowStream *stream = (ArrowStream *) base;
	KeyBound	behind;
	int64		number;
	int64		row;

	base->batch.nrows = 0;
	stream->next_rows = Min(stream->resources.first_rows, stream->resources.batch_rows);
	arrow_prepare(stream);
	begin_backward(stream);
	if (bound == NULL || stream->number == 0)
		return;

	/* the first row that is not wanted is what a seek to the other side of the bound finds */
	behind = *bound;
	behind.inclusive = !bound->inclusive;
	prepare_probes(stream);
	number = find_record_batch(stream, &behind);
	(void) open_record_batch(stream, number);
	if (arrow_file_batch(stream->file, number)->spec.compression == ARROW_UNCOMPRESSED)
		row = guess_row(stream, &behind);
	else
	{
		arrow_columns_set_backward(&stream->keys, false);
		row = Min(pass_rows(stream, &behind) + PASSED_ROWS, stream->length);
		arrow_columns_set_backward(&stream->keys, true);
	}
	stream->number = number;
	stream->next = row;
	stream->first = row;
	stream->rows_before = -1;
	stream->seeks++;
}

/* ------------------------------------------------------------ the rest */

static void
arrow_stream_locate(ColumnStream *base, int row, RowLocation *location)
{
	ArrowStream *stream = (ArrowStream *) base;

	location->file = source_file_name(stream->source);
	location->row = row_number(stream, row);
	location->line = 0;
}

static int64
columns_dictionary_bytes(const ArrowColumns *columns)
{
	int64		bytes = 0;

	for (int i = 0; i < columns->n; i++)
	{
		if (columns->columns[i].converter != NULL)
			bytes += arrow_converter_dictionary_bytes(columns->columns[i].converter);
	}
	return bytes;
}

static void
arrow_stream_count(ColumnStream *base, StreamCounters *counters)
{
	ArrowStream *stream = (ArrowStream *) base;

	counters->rows_read += stream->rows_read;
	counters->blocks_read += stream->blocks_read;
	counters->seeks += stream->seeks;
	if (stream->file == NULL)
		return;
	counters->dictionary_bytes += arrow_file_dictionary_bytes(stream->file);
	counters->dictionary_bytes += columns_dictionary_bytes(&stream->keys);
	counters->dictionary_bytes += columns_dictionary_bytes(&stream->values);
}

static void
arrow_stream_close(ColumnStream *base)
{
	ArrowStream *stream = (ArrowStream *) base;

	source_file_close(stream->source);
	MemoryContextDelete(stream->context);
}

static void
arrow_stream_files(ColumnStream *base, FileVisitor visit, void *state)
{
	visit(state, ((ArrowStream *) base)->source);
}

/* No file has so many rows in a record batch that it matters. */
static int64
arrow_stream_position(ColumnStream *base, int row)
{
	ArrowStream *stream = (ArrowStream *) base;

	if (stream->number >> 24 != 0 || stream->first >> 38 != 0)
		return -1;
	return (stream->number << 38) + stream->first + row;
}

/* The record batch at this part of all batches' bytes; *part becomes that of its own. */
static int64
batch_at(ArrowFile *file, double *part)
{
	int64		nbatches = arrow_file_nbatches(file);
	double		sum = 0;
	double		wanted;

	for (int64 i = 0; i < nbatches; i++)
		sum += (double) arrow_file_batch_bytes(file, i);
	wanted = sum * *part;
	for (int64 i = 0; i < nbatches; i++)
	{
		double		bytes = (double) arrow_file_batch_bytes(file, i);

		if (wanted < bytes || i == nbatches - 1)
		{
			*part = bytes > 0 ? Min(wanted / bytes, 1) : 0;
			return i;
		}
		wanted -= bytes;
	}
	return 0;
}

/* Compressed record batches are entered at their top. */
static bool
arrow_stream_enter(ColumnStream *base, double part)
{
	ArrowStream *stream = (ArrowStream *) base;
	int64		nbatches;
	int64		number;
	bool		stored;

	base->batch.nrows = 0;
	arrow_prepare(stream);
	nbatches = arrow_file_nbatches(stream->file);
	if (nbatches == 0)
		return true;
	number = batch_at(stream->file, &part);
	stored = arrow_file_batch(stream->file, number)->spec.compression == ARROW_UNCOMPRESSED;
	if (nbatches == 1 && !stored)
		return false;
	(void) open_record_batch(stream, number);
	stream->next_rows = Min(stream->resources.first_rows, stream->resources.batch_rows);
	if (stored && stream->length > 0)
		stream->next = Min((int64) (part * (double) stream->length), stream->length - 1);
	stream->first = stream->next;
	stream->rows_before = number == 0 ? 0 : -1;
	return true;
}

static const ColumnStreamMethods arrow_stream_methods = {
	.next_batch = arrow_stream_next_batch,
	.decode = arrow_stream_decode,
	.seek = arrow_stream_seek,
	.previous_batch = arrow_stream_previous_batch,
	.seek_back = arrow_stream_seek_back,
	.locate = arrow_stream_locate,
	.count = arrow_stream_count,
	.close = arrow_stream_close,
	.files = arrow_stream_files,
	.position = arrow_stream_position
};

static ColumnStream *
arrow_stream_open(const StreamSpec *spec, const SegmentFile *file, const Key *key,
				  const bool *wanted, const StreamResources *resources)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "outerjoin arrow stream",
												  ALLOCSET_SMALL_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	ArrowStream *stream = palloc0(sizeof(ArrowStream));

	stream_init(&stream->base, &arrow_stream_methods, spec, key, wanted);
	stream->base.can_seek = true;
	stream->base.seek_rows = ARROW_SEEK_ROWS;
	stream->base.can_go_back = true;
	stream->context = context;
	stream->resources = *resources;
	stream->next_rows = Min(resources->first_rows, resources->batch_rows);
	stream->number = -1;
	stream->source = file->source ? source_file_duplicate(file->source) :
		source_file_open(&spec->folder, file->name);
	MemoryContextSwitchTo(old);
	return &stream->base;
}

const ColumnFormat arrow_column_format = {"arrow", arrow_stream_open, arrow_facts, arrow_stream_enter};
