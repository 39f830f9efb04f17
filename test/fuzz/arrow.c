/*-------------------------------------------------------------------------
 *
 * arrow.c
 *	  Fuzz target: any bytes as an Arrow IPC file or stream.
 *
 * What can be read in large slices through large windows can be read in small
 * ones, and is the same: keys, and values of all fields as one type or
 * another.  A seek to a key misses no row of it.  From the end to the top the
 * rows are the same ones.  What the file says of itself without being read is
 * so.  Whatever is wrong is an error that names the
 * file, none of those that cannot happen.
 *
 * An input is six bytes that choose how to read, then the file:
 *
 *	  [0]	what fields become: one of ArrowWish, modulo their number
 *	  [1]	rows in a small batch less one, modulo 32
 *	  [2]	bytes in a small block: one of "blocks", modulo their number
 *	  [3]	the key's field, modulo their number
 *	  [4]	where to seek to: the row of 256ths of all of them
 *	  [5]	sum of 1 descending keys, 2 a key field is a value too; what of an
 *			ARROW_WISH_ANY comes first
 *
 * Stand-alone it replays the inputs named as arguments; behind the argument
 * --plain come files without those bytes, each to be read in all kinds of
 * ways.  With -DLIBFUZZER it is a target of libFuzzer; see README.md.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <stdio.h>

#include "arrow/arrow_columns.h"
#include "arrow/arrow_facts.h"
#include "arrow/arrow_file.h"
#include "arrow/arrow_stream.h"
#include "arrow_server.h"
#include "column/value_arena.h"
#include "replay.h"
#include "server_stub.h"

#define SETTINGS		6
#define FILE_NAME		"f.arrow"
#define MAX_FIELDS		40		/* of a file that are read as values */
#define MAX_ROWS		3000	/* of a file that are read */
#define LARGE_BATCH		1024
#define LARGE_BLOCK		(1024 * 1024)

#include "arrow_mutator.h"

extern int	LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef enum ArrowWish
{
	ARROW_WISH_NATURAL,			/* what holds it best */
	ARROW_WISH_JSONB,
	ARROW_WISH_TEXT,
	ARROW_WISH_NESTED,			/* arrays and rows */
	ARROW_WISH_ANY,				/* one of any_types after the other */
	ARROW_WISHES
} ArrowWish;

static const Oid any_types[] = {
	INT8OID, INT4OID, INT2OID, BOOLOID, FLOAT8OID, FLOAT4OID, NUMERICOID, TEXTOID, VARCHAROID, BPCHAROID,
	BYTEAOID, UUIDOID, DATEOID, TIMEOID, TIMESTAMPOID, TIMESTAMPTZOID, INTERVALOID, OIDOID, JSONOID, JSONBOID
};

/* ------------------------------------------------------------ the file */

struct SourceFile
{
	const uint8_t *bytes;
	FileIdentity identity;
};

static SourceFile the_file;

SourceFile *
source_file_open(const Folder *folder, const char *name)
{
	(void) folder;
	(void) name;
	return &the_file;
}

SourceFile *
source_file_duplicate(SourceFile *file)
{
	return file;
}

const char *
source_file_name(const SourceFile *file)
{
	(void) file;
	return FILE_NAME;
}

const FileIdentity *
source_file_identity(const SourceFile *file)
{
	return &file->identity;
}

size_t
source_file_read(SourceFile *file, int64 offset, char *buffer, size_t length)
{
	int64		size = file->identity.size;

	if (offset < 0)
		elog(ERROR, "a read at a negative offset");
	if (offset >= size)
		return 0;
	length = Min(length, (size_t) (size - offset));
	memcpy(buffer, file->bytes + offset, length);
	return length;
}

void
source_file_prefetch(SourceFile *file, int64 offset, int64 length)
{
	(void) file;
	(void) offset;
	(void) length;
}

void
source_file_close(SourceFile *file)
{
	(void) file;
}

/* ------------------------------------------------------------ what is asked of it */

typedef struct Question
{
	const uint8_t *settings;
	StreamSpec	spec;
	FieldSpec	key_spec;
	FieldSpec	fields[MAX_FIELDS];
	int			numbers[MAX_FIELDS];	/* in the file */
	bool		wanted[MAX_FIELDS];
	Key			key;
	KeyColumn	key_column;
	int64		claimed;		/* rows that the batches' descriptions say there are */
} Question;

static int
compare_values(Datum x, Datum y, SortSupport support)
{
	Oid			type = *(Oid *) support->ssup_extra;
	uint64		a = digest_datum(0, type, x);
	uint64		b = digest_datum(0, type, y);

	/* any order will do */
	return a < b ? -1 : a > b;
}

/* What a field becomes that is wished to be nested: rows, and arrays of what is in lists. */
static Oid
nested_type(const ArrowField *field, int number)
{
	const ArrowField *values = arrow_field_values(field);
	bool		is_list = false;

	while (values->type != ARROW_STRUCT && values->type != ARROW_UNION && values->nchildren > 0)
	{
		is_list = true;
		values = arrow_field_values(&values->children[0]);
	}
	return (values->type == ARROW_STRUCT ? (Oid) (COMPOSITE + number) : arrow_natural_type(values)) +
		(is_list ? ARRAY_BIT : 0);
}

static Oid
wished_type(const Question *question, const ArrowField *field, int number)
{
	switch ((ArrowWish) (question->settings[0] % ARROW_WISHES))
	{
		case ARROW_WISH_JSONB:
			return JSONBOID;
		case ARROW_WISH_TEXT:
			return TEXTOID;
		case ARROW_WISH_NESTED:
			return nested_type(field, number);
		case ARROW_WISH_ANY:
			return any_types[(question->settings[5] / 4 + number) % lengthof(any_types)];
		default:
			return arrow_natural_type(field);
	}
}

typedef struct Pair
{
	const ArrowField *field;
	Oid			type;
} Pair;

static void
try_pair(void *argument)
{
	Pair	   *pair = argument;

	(void) arrow_converter_create(pair->field, pair->type, -1, false, FILE_NAME, "v");
}

/* A type that the field has a converter to. */
static Oid
possible_type(const Question *question, const ArrowField *field, int number)
{
	Pair		pair = {field, wished_type(question, field, number)};

	return server_stub_try(try_pair, &pair) ? pair.type : arrow_natural_type(field);
}

static void
ask_field(FieldSpec *spec, const ArrowField *field, int number, Oid type)
{
	memset(spec, 0, sizeof(*spec));
	spec->column = pstrdup(field->name);
	spec->declared = psprintf("%d", number + 1);
	spec->type = type;
	spec->typmod = -1;
}

static void
ask_key(Question *question, const ArrowSchema *schema)
{
	int			number = question->settings[3] % schema->nfields;
	KeyColumn  *column = &question->key_column;
	char		align;

	ask_field(&question->key_spec, &schema->fields[number], number,
			  arrow_natural_type(&schema->fields[number]));
	column->name = question->key_spec.column;
	column->type = question->key_spec.type;
	column->typmod = -1;
	column->descending = (question->settings[5] & 1) != 0;
	get_typlenbyvalalign(column->type, &column->typlen, &column->typbyval, &align);
	column->integer_like = key_type_is_integer_like(column->type);
	column->full.comparator = compare_values;
	column->full.ssup_extra = &column->type;
	column->full.ssup_reverse = column->descending;
	question->key.ncolumns = 1;
	question->key.columns = column;
	question->key.exact = column->integer_like;
}

/* Decide, from the schema, what to ask; counts the rows. */
static void
ask(void *argument)
{
	Question   *question = argument;
	int64		blocks_read = 0;
	ArrowFile  *file = arrow_file_open(&the_file, 100, &blocks_read);
	const ArrowSchema *schema = arrow_file_schema(file);
	int			key = schema->nfields > 0 ? question->settings[3] % schema->nfields : -1;

	if (key < 0)
		return;
	composite_schema = schema;
	ask_key(question, schema);
	for (int i = 0; i < schema->nfields && question->spec.nfields < MAX_FIELDS; i++)
	{
		if (i == key && (question->settings[5] & 2) == 0)
			continue;
		question->wanted[question->spec.nfields] = true;
		question->numbers[question->spec.nfields] = i;
		ask_field(&question->fields[question->spec.nfields++], &schema->fields[i], i,
				  possible_type(question, &schema->fields[i], i));
	}
	question->spec.nkeys = 1;
	question->spec.keys = &question->key_spec;
	question->spec.fields = question->fields;
	question->claimed = arrow_file_rows_before(file, arrow_file_nbatches(file));
}

/* ------------------------------------------------------------ reading it */

typedef struct Reading
{
	const Question *question;
	StreamResources resources;
	bool		by_lists;		/* of rows, half of each batch */
	int			seek_row;		/* whose key to keep in "bound"; -1: none */

	/* what comes of it */
	MemoryContext context;
	int			rows;
	bool		sorted;			/* keys ascend */
	uint64		key_digest;
	uint64		digests[MAX_FIELDS];
	int64		first;			/* images */
	int64		last;
	KeyBound	bound;
	Datum		bound_value;
	uint64	   *row_digests;	/* [MAX_ROWS] of read_each_row */
} Reading;

/* Rows of the batch at hand that count. */
static int
rows_that_count(const Reading *reading, const ColumnStream *stream)
{
	return Min(stream->batch.nrows, MAX_ROWS - reading->rows);
}

static Datum
copy_datum(Oid type, Datum value)
{
	int16		length;
	bool		by_value;
	char		align;

	get_typlenbyvalalign(type, &length, &by_value, &align);
	if (by_value)
		return value;
	if (length > 0)
		return PointerGetDatum(memcpy(palloc(length), DatumGetPointer(value), length));
	return PointerGetDatum(varlena_of(VARDATA_ANY(DatumGetPointer(value)),
									  VARSIZE_ANY_EXHDR(DatumGetPointer(value))));
}

static void
keep_bound(Reading *reading, const ColumnStream *stream, int row)
{
	const Key  *key = &reading->question->key;
	MemoryContext old = MemoryContextSwitchTo(reading->context);

	reading->bound_value = copy_datum(key->columns[0].type, key_datum(key, &stream->batch, row, 0));
	MemoryContextSwitchTo(old);
	reading->bound = (KeyBound){.ncolumns = 1, .inclusive = true, .values = &reading->bound_value};
	key_bound_init(key, &reading->bound);
}

static void
read_keys(Reading *reading, const ColumnStream *stream)
{
	const Key  *key = &reading->question->key;
	const ColumnBatch *batch = &stream->batch;

	for (int row = 0; row < rows_that_count(reading, stream); row++)
	{
		Datum		value = key_datum(key, batch, row, 0);

		reading->key_digest = digest_datum(reading->key_digest, key->columns[0].type, value);
		if (reading->rows + row == 0)
			reading->first = batch->image[row];
		else if (row > 0 ? key_compare(key, batch, row - 1, batch, row) > 0 : reading->last > batch->image[row])
			reading->sorted = false;
		/* from one batch to the next no more than images are compared */
		if (row == 0 && reading->rows > 0 && !key->exact)
			reading->sorted = false;
		reading->last = batch->image[row];
		if (reading->rows + row == reading->seek_row)
			keep_bound(reading, stream, row);
	}
}

static void
read_values(Reading *reading, ColumnStream *stream, int field)
{
	static Datum values[LARGE_BATCH];
	static bool isnull[LARGE_BATCH];
	BatchRow	list[LARGE_BATCH];
	int			nrows = stream->batch.nrows;
	int			half = reading->by_lists ? nrows / 2 : nrows;
	int			n = 0;

	stream->methods->decode(stream, field, 0, half, NULL, 0, values, isnull);
	for (int row = half; row < nrows; row += 2)
		list[n++] = row;
	stream->methods->decode(stream, field, half, nrows, list, n, values, isnull);
	n = 0;
	for (int row = half + 1; row < nrows; row += 2)
		list[n++] = row;
	stream->methods->decode(stream, field, half, nrows, list, n, values, isnull);
	for (int row = 0; row < rows_that_count(reading, stream); row++)
	{
		uint64	   *digest = &reading->digests[field];

		*digest = digest_bytes(*digest, &isnull[row], sizeof(bool));
		if (!isnull[row])
			*digest = digest_datum(*digest, reading->question->fields[field].type, values[row]);
	}
}

static ColumnStream *
open_stream(const Reading *reading)
{
	static const SegmentFile segment = {.name = FILE_NAME,.format = &arrow_column_format,
	.compression = COMPRESSION_NONE};

	return arrow_column_format.open(&reading->question->spec, &segment, &reading->question->key,
									reading->question->wanted, &reading->resources);
}

static void
read_all(void *argument)
{
	Reading    *reading = argument;
	ColumnStream *stream = open_stream(reading);
	RowLocation location;

	reading->sorted = true;
	while (reading->rows < MAX_ROWS && stream_next_batch(stream))
	{
		read_keys(reading, stream);
		for (int i = 0; i < reading->question->spec.nfields; i++)
			read_values(reading, stream, i);
		stream->methods->locate(stream, stream->batch.nrows - 1, &location);
		reading->rows += rows_that_count(reading, stream);
		if (location.row < reading->rows || location.row > reading->question->claimed)
			elog(ERROR, "row %d is number %lld of %lld", reading->rows, (long long) location.row,
				 (long long) reading->question->claimed);
	}
}

/* From a sorted file of which all is known. */
static void
read_from_bound(void *argument)
{
	Reading    *reading = argument;
	const Key  *key = &reading->question->key;
	ColumnStream *stream = open_stream(reading);
	int			from = -1;
	int			passed = 0;

	/* somewhere, for it to go back from there */
	(void) stream_next_batch(stream);
	stream_seek(stream, &reading->bound);
	while (from < 0 && stream_next_batch(stream))
	{
		for (int row = 0; row < stream->batch.nrows && from < 0; row++)
		{
			if (key_compare_bound(key, &stream->batch, row, &reading->bound) >= 0)
				from = row;
			else
				passed++;
		}
		if (from >= 0 && key_compare_bound(key, &stream->batch, from, &reading->bound) != 0)
			elog(ERROR, "a seek to a key has missed it");
		for (int i = 0; i < reading->question->spec.nfields; i++)
			read_values(reading, stream, i);
	}
	if (from < 0)
		elog(ERROR, "a seek to a key finds the end");
	stream_seek(stream, NULL);
	if (!stream_next_batch(stream) || stream->batch.image[0] != reading->first)
		elog(ERROR, "the first row is not found again");
}

/* Each row of the batch at hand, with its key and all values. */
static void
digest_rows(const Reading *reading, ColumnStream *stream, uint64 *digests)
{
	static Datum values[LARGE_BATCH];
	static bool isnull[LARGE_BATCH];
	const Key  *key = &reading->question->key;

	for (int row = 0; row < stream->batch.nrows; row++)
		digests[row] = digest_datum(0, key->columns[0].type, key_datum(key, &stream->batch, row, 0));
	for (int i = 0; i < reading->question->spec.nfields; i++)
	{
		stream->methods->decode(stream, i, 0, stream->batch.nrows, NULL, 0, values, isnull);
		for (int row = 0; row < stream->batch.nrows; row++)
		{
			digests[row] = digest_bytes(digests[row], &isnull[row], sizeof(bool));
			if (!isnull[row])
				digests[row] = digest_datum(digests[row], reading->question->fields[i].type, values[row]);
		}
	}
}

static void
read_each_row(void *argument)
{
	Reading    *reading = argument;
	ColumnStream *stream = open_stream(reading);
	int			rows = 0;

	while (stream_next_batch(stream))
	{
		if (rows + stream->batch.nrows > MAX_ROWS)
			elog(ERROR, "more rows than at first");
		digest_rows(reading, stream, reading->row_digests + rows);
		rows += stream->batch.nrows;
	}
	reading->rows = rows;
}

/* Of a file of which all rows are known: they must come again, the last ones first. */
static void
read_back(void *argument)
{
	Reading    *reading = argument;
	const Key  *key = &reading->question->key;
	ColumnStream *stream;
	uint64		digests[LARGE_BATCH];
	RowLocation location;
	int			at = reading->rows;
	bool		met = false;

	reading->resources.file_key = key;
	stream = open_stream(reading);
	while (stream->methods->previous_batch(stream))
	{
		int			n = stream->batch.nrows;

		if (n > at)
			elog(ERROR, "more rows going back");
		digest_rows(reading, stream, digests);
		at -= n;
		if (memcmp(digests, reading->row_digests + at, sizeof(uint64) * n) != 0)
			elog(ERROR, "rows %d to %d are other ones going back", at + 1, at + n);
		stream->methods->locate(stream, 0, &location);
		if (location.row != at + 1)
			elog(ERROR, "row %d is number %lld going back", at + 1, (long long) location.row);
	}
	if (at != 0)
		elog(ERROR, "going back ends before row %d", at);
	if (!reading->sorted)
		return;
	stream->methods->seek_back(stream, &reading->bound);
	while (!met && stream->methods->previous_batch(stream))
	{
		for (int row = stream->batch.nrows - 1; row >= 0 && !met; row--)
		{
			int			order = key_compare_bound(key, &stream->batch, row, &reading->bound);

			if (order < 0)
				elog(ERROR, "a seek back to a key has missed it");
			met = order == 0;
		}
	}
	if (!met)
		elog(ERROR, "a seek back to a key finds the top");
}

static void
read_facts(void *argument)
{
	Reading    *reading = argument;
	static const SegmentFile segment = {.name = FILE_NAME,.format = &arrow_column_format,
	.compression = COMPRESSION_NONE};
	StreamFacts facts;

	arrow_facts(&reading->question->spec, &segment, &reading->question->key, &facts);
	if (facts.rows_exact && facts.rows != (double) reading->question->claimed)
		elog(ERROR, "%.0f rows, or %lld", facts.rows, (long long) reading->question->claimed);
	if (facts.has_range && reading->rows == reading->question->claimed && reading->rows > 0 &&
		(facts.first != reading->first || facts.last != reading->last))
		elog(ERROR, "the first or the last key is another one");
}

/* ------------------------------------------------------------ one field of it, without keys */

typedef struct FieldReading
{
	const Question *question;
	int			field;			/* of the question's */
	int			batch_rows;
	size_t		block_bytes;

	/* what comes of it */
	int			rows;
	uint64		digest;
} FieldReading;

/* Of errors about values, as a stream adds it. */
static void
name_file(void *argument)
{
	(void) argument;
	errcontext("file \"%s\"", FILE_NAME);
}

/* A slice of n rows, but no more than fit; returns how many did. */
static int
read_slice(FieldReading *reading, ArrowColumn *column, ValueArena *arena, int64 from, int64 n)
{
	static Datum values[LARGE_BATCH];
	static bool isnull[LARGE_BATCH];
	volatile int current;
	ErrorContextCallback callback = {.callback = name_file,.previous = error_context_stack};

	n = arrow_vector_extent(column->vector, from, from + n, reading->block_bytes);
	arrow_vector_load(column->vector, from, from + n);
	value_arena_reset(arena);
	error_context_stack = &callback;
	arrow_convert(column->converter, column->vector, from, from + n, NULL, 0, arena, values, isnull, &current);
	error_context_stack = callback.previous;
	for (int row = 0; row < (int) n; row++)
	{
		reading->digest = digest_bytes(reading->digest, &isnull[row], sizeof(bool));
		if (!isnull[row])
			reading->digest = digest_datum(reading->digest, reading->question->fields[reading->field].type,
										   values[row]);
	}
	reading->rows += (int) n;
	return (int) n;
}

static void
read_field(void *argument)
{
	FieldReading *reading = argument;
	int64		blocks_read = 0;
	ArrowFile  *file = arrow_file_open(&the_file, reading->block_bytes, &blocks_read);
	ValueArena *arena = value_arena_create(CurrentMemoryContext);
	ArrowColumns columns;

	arrow_columns_init(&columns, file, &the_file, 1, &reading->question->fields[reading->field],
					   &reading->question->numbers[reading->field], NULL, false, reading->block_bytes, &blocks_read);
	for (int64 number = 0; reading->rows < MAX_ROWS && arrow_file_has_batch(file, number); number++)
	{
		int64		length = arrow_file_batch(file, number)->spec.length;

		arrow_columns_set(&columns, number);
		for (int64 from = 0; from < length && reading->rows < MAX_ROWS;)
			from += read_slice(reading, &columns.columns[0], arena, from,
							   Min(Min(length - from, reading->batch_rows), MAX_ROWS - reading->rows));
	}
}

/* ------------------------------------------------------------ judging it */

/* What has come of the input: rows in all, and the last error. */
static int64 rows_read;
static StubError last_error;

static void
fail_input(const char *what)
{
	fprintf(stderr, "%s\n%s\n%s\n%s\n", what, server_stub_error.message, server_stub_error.detail,
			server_stub_error.context);
	abort();
}

/* Does it come back?  An error has to be a proper one. */
static bool
attempt(void (*body) (void *argument), void *argument)
{
	interrupts_begin();
	if (server_stub_try(body, argument))
		return true;
	if (server_stub_error.sqlerrcode == ERRCODE_INTERNAL_ERROR)
		fail_input("cannot happen:");
	if (!interrupted && strstr(server_stub_error.message, FILE_NAME) == NULL &&
		strstr(server_stub_error.context, FILE_NAME) == NULL)
		fail_input("an error that does not name the file:");
	last_error = server_stub_error;
	return false;
}

static void
compare_readings(const Reading *large, const Reading *small)
{
	if (large->rows != small->rows || large->key_digest != small->key_digest)
	{
		fprintf(stderr, "%d and %d rows\n", large->rows, small->rows);
		fail_input("keys in small batches are other ones:");
	}
	for (int i = 0; i < large->question->spec.nfields; i++)
	{
		if (large->digests[i] == small->digests[i])
			continue;
		fprintf(stderr, "field %s\n", large->question->fields[i].declared);
		fail_input("values in small batches are other ones:");
	}
}

/*
 * Are there run ends whose beginning a reader may never see?  Those in a gap
 * between two slices are not looked at, so that damaged ones can be read in
 * more than one way.
 */
static bool
has_runs_below(const ArrowField *field)
{
	for (int i = 0; i < field->nchildren; i++)
	{
		if (field->children[i].type == ARROW_RUN_END_ENCODED || has_runs_below(&field->children[i]))
			return true;
	}
	return false;
}

/* Each field for itself, so that what is wrong with one hides nothing of another. */
static void
judge_field(const Question *question, int field, const StreamResources *resources)
{
	FieldReading large = {.question = question,.field = field,.batch_rows = LARGE_BATCH,
	.block_bytes = LARGE_BLOCK};
	FieldReading small = large;
	bool		good = attempt(read_field, &large);

	small.batch_rows = resources->batch_rows;
	small.block_bytes = resources->block_bytes;
	rows_read += large.rows;
	if (has_runs_below(&composite_schema->fields[question->numbers[field]]))
		good = false;
	if (large.rows > question->claimed)
		fail_input("more rows of a field than there are:");
	if (!attempt(read_field, &small))
	{
		if (good && !interrupted)
			fail_input("small slices fail where large ones do not:");
	}
	else if (good && (large.rows != small.rows || large.digest != small.digest))
	{
		fprintf(stderr, "field %s, %d and %d rows\n", question->fields[field].declared, large.rows, small.rows);
		fail_input("values in small slices are other ones:");
	}
}

static void
judge(Question *question)
{
	static const size_t blocks[] = {1, 24, 100, 1000, 5000, 65536};
	int			batch = 1 + question->settings[1] % 32;
	Reading		large = {
		.question = question,
		.context = CurrentMemoryContext,
		.seek_row = -1,
		.resources = {.batch_rows = LARGE_BATCH,.first_rows = LARGE_BATCH,.block_bytes = LARGE_BLOCK,.memory_kb = 1024,.simd = true}
	};
	Reading		small = large;
	bool		good;

	if (!attempt(ask, question) || question->spec.nkeys == 0)
		return;
	large.seek_row = (int) (Min(question->claimed, MAX_ROWS) * question->settings[4] / 256);
	small.resources = (StreamResources){
		.batch_rows = batch,.first_rows = 1,.block_bytes = blocks[question->settings[2] % lengthof(blocks)],
		.memory_kb = 1024,.simd = true
	};
	small.by_lists = true;

	for (int i = 0; i < question->spec.nfields; i++)
		judge_field(question, i, &small.resources);
	good = attempt(read_all, &large);
	for (int i = 0; i < composite_schema->nfields; i++)
		good = good && !has_runs_below(&composite_schema->fields[i]);
	rows_read += large.rows;
	if (large.rows > question->claimed)
		fail_input("more rows than there are:");
	(void) attempt(read_facts, &large);
	if (!attempt(read_all, &small))
	{
		if (good && !interrupted)
			fail_input("small batches fail where large ones do not:");
		return;
	}
	if (!good)
		return;
	compare_readings(&large, &small);
	/* of run ends a search looks at more than a scan has checked */
	for (int i = 0; i < composite_schema->nfields; i++)
		good = good && composite_schema->fields[i].type != ARROW_RUN_END_ENCODED;
	if (good && large.rows == question->claimed)
	{
		Reading		back = small;

		back.row_digests = palloc(sizeof(uint64) * MAX_ROWS);
		back.bound = large.bound;
		back.sorted = large.sorted && large.rows > large.seek_row;
		if (attempt(read_each_row, &back) && !attempt(read_back, &back) && !interrupted)
			fail_input("going back fails in a sound file:");
	}
	if (good && large.rows == question->claimed && large.rows > large.seek_row && large.sorted)
	{
		small.bound = large.bound;
		small.first = large.first;
		if (!attempt(read_from_bound, &small) && !interrupted)
			fail_input("a seek fails in a sound file:");
	}
}

/* ------------------------------------------------------------ the target */

static void
read_input(const uint8_t *settings, const uint8_t *bytes, size_t size)
{
	MemoryContext context;
	MemoryContext old;
	Question   *question;

	if (TopMemoryContext == NULL)
		server_stub_init();
	context = AllocSetContextCreate(TopMemoryContext, "reading", ALLOCSET_DEFAULT_SIZES);
	old = MemoryContextSwitchTo(context);
	the_file.bytes = bytes;
	the_file.identity.size = (int64) size;
	the_file.identity.inode++;	/* another file, of which nothing is known */
	question = palloc0(sizeof(Question));
	question->settings = settings;
	judge(question);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);
	InterruptPending = false;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size >= SETTINGS)
		read_input(data, data + SETTINGS, size - SETTINGS);
	return 0;
}

#ifndef LIBFUZZER

/* A file in all ways that may matter; shows what has come of it. */
static int
read_plainly(const uint8_t *data, size_t size)
{
	rows_read = 0;
	memset(&last_error, 0, sizeof(last_error));
	for (int way = 0; way < 4 * ARROW_WISHES; way++)
	{
		uint8_t		settings[SETTINGS] = {way, way * 7, way, way % 4, way * 61, way * 9};

		read_input(settings, data, size);
	}
	printf(" %lld rows in all, %s %s\n", (long long) rows_read,
		   last_error.message[0] ? last_error.message : "no error", last_error.detail);
	return 0;
}

int
main(int argc, char **argv)
{
	int			inputs = 1;

	while (inputs < argc && strcmp(argv[inputs], "--plain") != 0)
		inputs++;
	if (inputs == argc)
		return replay_files(argc - 1, argv + 1, LLVMFuzzerTestOneInput);
	return (inputs > 1 && replay_files(inputs - 1, argv + 1, LLVMFuzzerTestOneInput)) |
		replay_files(argc - inputs - 1, argv + inputs + 1, read_plainly);
}

#endif							/* LIBFUZZER */
