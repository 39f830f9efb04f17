/*-------------------------------------------------------------------------
 *
 * test_stream.c
 *	  Order check, duplicates and segments over files in memory, compared with
 *	  a model that sorts everything in one array; and how files are found.
 *
 * Linked with src/stream (without sorted.c, which needs a server's tuplesort)
 * and src/column/key.c.  io, wire and csv are played by the stand-ins below:
 * a "file" is an array of rows, its format gives batches of random length
 * whose memory is poisoned when the next one is asked for.
 *
 * Usage: test_stream [seed [rounds]]
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "compat.h"

#include <limits.h>

#include "catalog/pg_type_d.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/typcache.h"

#include "csv/csv_stream.h"
#include "random.h"
#include "server_stub.h"
#include "stream/formats.h"
#include "stream/layers.h"
#include "stream/stream.h"
#include "tap.h"

/* ------------------------------------------------------------ files in memory */

typedef struct MemoryRow
{
	int64		number;			/* the key; a text key spells it */
	int64		value;			/* unique in a round */
} MemoryRow;

typedef struct MemoryFile
{
	char		name[64];
	uint64		inode;			/* no two files ever share one */
	int			nrows;
	MemoryRow  *rows;
	bool		can_seek;
	bool		has_range;
} MemoryFile;

#define MAX_FILES	400

static MemoryFile memory_files[MAX_FILES];
static int	nmemory_files = 0;
static uint64 last_inode = 0;
static int	open_streams = 0;
static int	most_open_streams = 0;
static int	open_sources = 0;

static MemoryFile *
find_file(const char *name)
{
	for (int i = 0; i < nmemory_files; i++)
	{
		if (strcmp(memory_files[i].name, name) == 0)
			return &memory_files[i];
	}
	return NULL;
}

static MemoryFile *
add_file(const char *name, int nrows)
{
	MemoryFile *file = &memory_files[nmemory_files++];

	memset(file, 0, sizeof(MemoryFile));
	file->inode = ++last_inode;
	strlcpy(file->name, name, sizeof(file->name));
	file->nrows = nrows;
	file->rows = palloc0(Max(nrows, 1) * sizeof(MemoryRow));
	return file;
}

static void
forget_files(void)
{
	for (int i = 0; i < nmemory_files; i++)
		pfree(memory_files[i].rows);
	nmemory_files = 0;
}

/* ------------------------------------------------------------ keys */

/* A text key's image is its first letters only, so that ties need its value. */
static int64
text_image(const Key *key, Datum text)
{
	const char *bytes = VARDATA_ANY(DatumGetPointer(text));
	int			length = VARSIZE_ANY_EXHDR(DatumGetPointer(text));
	int64		image = 0;

	for (int i = 0; i < 7; i++)
		image = image * 256 + (i < length ? (unsigned char) bytes[i] : 0);
	return key->columns[0].descending ? ~image : image;
}

static int
compare_texts(Datum a, Datum b, SortSupport ssup)
{
	struct varlena *x = (struct varlena *) DatumGetPointer(a);
	struct varlena *y = (struct varlena *) DatumGetPointer(b);
	int			n = Min(VARSIZE_ANY_EXHDR(x), VARSIZE_ANY_EXHDR(y));
	int			order = memcmp(VARDATA_ANY(x), VARDATA_ANY(y), n);

	(void) ssup;
	return order != 0 ? order : (int) VARSIZE_ANY_EXHDR(x) - (int) VARSIZE_ANY_EXHDR(y);
}

/* a collation that looks at letters from the second on first, for the hint */
static int
compare_oddly(Datum a, Datum b, SortSupport ssup)
{
	(void) ssup;
	return compare_texts(b, a, ssup);
}

static Datum
make_text(const char *string)
{
	int			length = strlen(string);
	struct varlena *text = palloc(length + VARHDRSZ);

	SET_VARSIZE(text, length + VARHDRSZ);
	memcpy(VARDATA(text), string, length);
	return PointerGetDatum(text);
}

/* Letters that ascend with the number, of varying length. */
static Datum
number_text(int64 number)
{
	char		text[64];

	snprintf(text, sizeof(text), "k%08lld%.*s", (long long) number, (int) (number % 7), "xxxxxxx");
	return make_text(text);
}

static int64
text_number(Datum text)
{
	const char *digits = VARDATA_ANY(DatumGetPointer(text)) + 1;
	int64		number = 0;

	for (int i = 0; i < 8; i++)
		number = number * 10 + (digits[i] - '0');
	return number;
}

static Key *
make_key(bool exact, bool descending)
{
	Key		   *key = palloc0(sizeof(Key));
	KeyColumn  *column = palloc0(sizeof(KeyColumn));

	key->ncolumns = 1;
	key->columns = column;
	key->exact = exact;
	column->name = "id";
	column->type = exact ? INT8OID : TEXTOID;
	column->typmod = -1;
	column->descending = descending;
	column->typbyval = exact;
	column->typlen = exact ? 8 : -1;
	column->integer_like = exact;
	column->abbreviates = !exact;	/* text_image plays the converter */
	column->full.comparator = compare_texts;
	column->full.ssup_reverse = descending;
	return key;
}

/* The stream order of two numbers. */
static int
compare_numbers(const Key *key, int64 a, int64 b)
{
	if (a == b)
		return 0;
	return (a < b) != key->columns[0].descending ? -1 : 1;
}

/* ------------------------------------------------------------ the format */

typedef struct MemoryStream
{
	ColumnStream stream;
	MemoryFile *file;
	const StreamResources *resources;
	int			next;			/* row of the file that comes next */
	int			first;			/* row of the file that the batch begins with */
	bool		going_back;
	MemoryContext batch_context;
	int			decoded;		/* for fields' values: rows decoded twice are an error */
	bool	   *seen[2];
	StreamCounters counters;
} MemoryStream;

/* Rows [first, first + n) become the batch. */
static void
memory_make_batch(MemoryStream *memory, int first, int n)
{
	ColumnStream *stream = &memory->stream;
	const Key  *key = stream->key;
	MemoryContext old;

	/* every chunk is a malloc of its own: a sanitizer sees who is late */
	MemoryContextReset(memory->batch_context);
	old = MemoryContextSwitchTo(memory->batch_context);
	memory->first = first;
	stream->batch.nrows = n;
	stream->batch.image = palloc(Max(n, 1) * sizeof(int64));
	stream->batch.key = NULL;
	if (!key->exact)
	{
		stream->batch.key = palloc(sizeof(Datum *));
		stream->batch.key[0] = palloc(Max(n, 1) * sizeof(Datum));
	}
	for (int i = 0; i < n; i++)
	{
		int64		number = memory->file->rows[memory->first + i].number;

		if (key->exact)
			stream->batch.image[i] = key->columns[0].descending ? ~number : number;
		else
		{
			Datum		text = number_text(number);

			stream->batch.key[0][i] = text;
			stream->batch.image[i] = text_image(key, text);
		}
	}
	for (int i = 0; i < 2; i++)
		memory->seen[i] = palloc0(Max(n, 1));
	MemoryContextSwitchTo(old);
	memory->counters.rows_read += n;
}

static int	decoded_twice = 0;

static void
memory_decode_row(MemoryStream *memory, int field, int row, Datum *values, bool *isnull)
{
	int64		value = memory->file->rows[memory->first + row].value;

	if (row < 0 || row >= memory->stream.batch.nrows || !memory->stream.wanted[field])
		elog(ERROR, "decode of row %d, field %d", row, field);
	if (memory->seen[field][row])
		decoded_twice++;
	memory->seen[field][row] = true;
	isnull[row] = value % 5 == 0;
	values[row] = field == 0 ? Int64GetDatum(value) : number_text(value);
}

static void
memory_decode(ColumnStream *stream, int field, int from, int to,
			  const BatchRow *rows, int nrows, Datum *values, bool *isnull)
{
	MemoryStream *memory = (MemoryStream *) stream;
	MemoryContext old = MemoryContextSwitchTo(memory->batch_context);

	if (rows != NULL)
	{
		for (int i = 0; i < nrows; i++)
		{
			if (rows[i] < from || rows[i] >= to || (i > 0 && rows[i] <= rows[i - 1]))
				elog(ERROR, "rows of a decode are not ascending in [%d, %d)", from, to);
			memory_decode_row(memory, field, rows[i], values, isnull);
		}
	}
	else
	{
		for (int row = from; row < to; row++)
			memory_decode_row(memory, field, row, values, isnull);
	}
	MemoryContextSwitchTo(old);
}

static int64
bound_number(const Key *key, const KeyBound *bound)
{
	if (key->exact)
		return key->columns[0].descending ? ~bound->image : bound->image;
	return text_number(bound->values[0]);
}

static bool
number_within(const Key *key, int64 number, const KeyBound *bound)
{
	int			order = compare_numbers(key, number, bound_number(key, bound));

	return order > 0 || (order == 0 && bound->inclusive);
}

static void
memory_seek(ColumnStream *stream, const KeyBound *bound)
{
	MemoryStream *memory = (MemoryStream *) stream;

	memory->next = 0;
	if (bound == NULL || !memory->file->can_seek)
		return;
	while (memory->next < memory->file->nrows &&
		   !number_within(stream->key, memory->file->rows[memory->next].number, bound))
		memory->next++;
	memory->next -= random_below(memory->next + 1) / 4;
	memory->counters.seeks++;
}

static bool
memory_next_batch(ColumnStream *stream)
{
	MemoryStream *memory = (MemoryStream *) stream;
	int			n = 1 + random_below(memory->resources->batch_rows);

	n = Min(n, memory->file->nrows - memory->next);
	memory_make_batch(memory, memory->next, n);
	memory->next += n;
	return n > 0;
}

/* Going back, "next" is the first row of the file that has been delivered. */
static bool
memory_previous_batch(ColumnStream *stream)
{
	MemoryStream *memory = (MemoryStream *) stream;
	int			n = 1 + random_below(memory->resources->batch_rows);

	if (!memory->going_back)
		memory->next = memory->file->nrows;
	memory->going_back = true;
	n = Min(n, memory->next);
	memory->next -= n;
	memory_make_batch(memory, memory->next, n);
	return n > 0;
}

static void
memory_seek_back(ColumnStream *stream, const KeyBound *bound)
{
	MemoryStream *memory = (MemoryStream *) stream;
	int			nrows = memory->file->nrows;

	memory->going_back = true;
	memory->next = nrows;
	if (bound == NULL || !memory->file->can_seek)
		return;
	while (memory->next > 0)
	{
		int			order = compare_numbers(stream->key, memory->file->rows[memory->next - 1].number,
											bound_number(stream->key, bound));

		if (order < 0 || (order == 0 && bound->inclusive))
			break;
		memory->next--;
	}
	memory->next += random_below(nrows - memory->next + 1) / 4;
	memory->counters.seeks++;
}

static void
memory_locate(ColumnStream *stream, int row, RowLocation *location)
{
	MemoryStream *memory = (MemoryStream *) stream;

	location->file = memory->file->name;
	location->row = memory->first + row + 1;
	location->line = location->row + 1;
}

static void
memory_count(ColumnStream *stream, StreamCounters *counters)
{
	counters->rows_read += ((MemoryStream *) stream)->counters.rows_read;
	counters->seeks += ((MemoryStream *) stream)->counters.seeks;
}

static void
memory_close(ColumnStream *stream)
{
	(void) stream;
	open_streams--;
}

static const ColumnStreamMethods memory_methods = {
	.next_batch = memory_next_batch,
	.decode = memory_decode,
	.seek = memory_seek,
	.previous_batch = memory_previous_batch,
	.seek_back = memory_seek_back,
	.locate = memory_locate,
	.count = memory_count,
	.close = memory_close,
};

static ColumnStream *
memory_open(const StreamSpec *spec, const SegmentFile *segment, const Key *key,
			const bool *wanted, const StreamResources *resources)
{
	MemoryStream *memory = palloc0(sizeof(MemoryStream));

	memory->file = find_file(segment->name);
	stream_init(&memory->stream, &memory_methods, spec, key, wanted);
	memory->stream.can_seek = memory->file->can_seek;
	memory->stream.can_go_back = true;
	memory->resources = resources;
	memory->batch_context = AllocSetContextCreate(CurrentMemoryContext, "memory batch",
												  ALLOCSET_DEFAULT_SIZES);
	open_streams++;
	most_open_streams = Max(most_open_streams, open_streams);
	return &memory->stream;
}

static int	facts_asked = 0;

static void
memory_facts(const StreamSpec *spec, const SegmentFile *segment, const Key *key,
			 StreamFacts *facts)
{
	const MemoryFile *file = find_file(segment->name);

	(void) spec;
	facts_asked++;
	facts->rows = file->nrows;
	facts->rows_exact = true;
	facts->bytes = file->nrows * 10;
	facts->can_seek = file->can_seek;
	if (!file->has_range || file->nrows == 0)
		return;
	facts->has_range = true;
	if (key->exact)
	{
		int64		last = file->rows[file->nrows - 1].number;

		facts->first = key->columns[0].descending ? ~file->rows[0].number : file->rows[0].number;
		facts->last = key->columns[0].descending ? ~last : last;
	}
	else
	{
		facts->first = text_image(key, number_text(file->rows[0].number));
		facts->last = text_image(key, number_text(file->rows[file->nrows - 1].number));
	}
}

const ColumnFormat csv_column_format = {"csv", memory_open, memory_facts, NULL};
const ColumnFormat text_column_format = {"text", memory_open, memory_facts, NULL};
const ColumnFormat arrow_column_format = {"arrow", memory_open, memory_facts, NULL};

/* ------------------------------------------------------------ io, wire, catalogs */

struct SourceFile
{
	FileIdentity identity;
};

SourceFile *
source_file_open(const Folder *folder, const char *name)
{
	SourceFile *source;
	MemoryFile *file = find_file(name);

	(void) folder;
	if (file == NULL)
		ereport(ERROR, (errcode(ERRCODE_UNDEFINED_FILE), errmsg("no file \"%s\"", name)));
	source = palloc0(sizeof(SourceFile));
	source->identity.inode = file->inode;
	source->identity.size = file->nrows * 10;
	open_sources++;
	return source;
}

const FileIdentity *
source_file_identity(const SourceFile *file)
{
	return &file->identity;
}

void
source_file_close(SourceFile *file)
{
	open_sources--;
	pfree(file);
}

bool
path_names_many(const char *name)
{
	return strpbrk(name, "*?[") != NULL || name[strlen(name) - 1] == '/';
}

const char *
path_last_component(const char *name)
{
	const char *slash = strrchr(name, '/');

	return slash != NULL ? slash + 1 : name;
}

bool
path_exists(const Folder *folder, const char *name)
{
	(void) folder;
	return find_file(name) != NULL;
}

/* "x*" and "x/": the files that begin so, in the order they were added */
List *
path_list(const Folder *folder, const char *name)
{
	List	   *names = NIL;
	size_t		prefix = strcspn(name, "*");

	(void) folder;
	for (int i = 0; i < nmemory_files; i++)
	{
		if (strncmp(memory_files[i].name, name, prefix) == 0)
			names = lappend(names, pstrdup(memory_files[i].name));
	}
	return names;
}

void
get_typlenbyval(Oid type, int16 *typlen, bool *typbyval)
{
	*typbyval = type == INT8OID;
	*typlen = type == INT8OID ? 8 : -1;
}

/* "1" and "abc": the only output that key_text asks for here */
void
getTypeOutputInfo(Oid type, Oid *output, bool *is_varlena)
{
	*output = type;
	*is_varlena = type == TEXTOID;
}

char *
OidOutputFunctionCall(Oid output, Datum value)
{
	if (output == INT8OID)
		return psprintf("%lld", (long long) DatumGetInt64(value));
	return pnstrdup(VARDATA_ANY(DatumGetPointer(value)), VARSIZE_ANY_EXHDR(DatumGetPointer(value)));
}

ColumnStream *
sorted_open(const StreamSpec *spec, List *files, const Key *key, const bool *wanted,
			const StreamResources *resources)
{
	(void) spec, (void) files, (void) key, (void) wanted, (void) resources;
	elog(ERROR, "not in this test: sorted_open");
	pg_unreachable();
}

const char *
sorted_row_file(ColumnStream *stream, int row)
{
	(void) stream, (void) row;
	return NULL;
}

/* ------------------------------------------------------------ the model */

typedef struct ModelRow
{
	int64		number;
	int64		value;
	int			file;
	int			row;
} ModelRow;

static const Key *model_key;

static int
compare_model_rows(const void *a, const void *b)
{
	const ModelRow *x = a;
	const ModelRow *y = b;
	int			order = compare_numbers(model_key, x->number, y->number);

	if (order != 0)
		return order;
	if (x->file != y->file)
		return x->file < y->file ? -1 : 1;
	return x->row < y->row ? -1 : 1;
}

static int
make_model(const Key *key, DuplicatePolicy duplicates, ModelRow **model)
{
	int			n = 0;
	int			kept = 0;
	ModelRow   *rows;

	for (int i = 0; i < nmemory_files; i++)
		n += memory_files[i].nrows;
	rows = palloc(Max(n, 1) * sizeof(ModelRow));
	n = 0;
	for (int i = 0; i < nmemory_files; i++)
	{
		for (int j = 0; j < memory_files[i].nrows; j++)
			rows[n++] = (ModelRow) {memory_files[i].rows[j].number, memory_files[i].rows[j].value, i, j};
	}
	model_key = key;
	(qsort) (rows, n, sizeof(ModelRow), compare_model_rows);
	for (int i = 0; i < n; i++)
	{
		if (duplicates == DUPLICATES_FIRST && i > 0 && rows[i].number == rows[i - 1].number)
			continue;
		if (duplicates == DUPLICATES_LAST && i + 1 < n && rows[i].number == rows[i + 1].number)
			continue;
		rows[kept++] = rows[i];
	}
	*model = rows;
	return kept;
}

/* ------------------------------------------------------------ one round */

typedef struct Round
{
	StreamSpec	spec;
	FieldSpec	fields[2];
	FieldSpec	keys[1];
	Key		   *key;			/* of the files */
	Key		   *read_key;		/* of the stream: the same, or flipped */
	bool		wanted[2];
	StreamResources resources;
	char		failure[256];
} Round;

static void
init_round(Round *round, bool exact, bool descending, DuplicatePolicy duplicates)
{
	memset(round, 0, sizeof(Round));
	round->key = round->read_key = make_key(exact, descending);
	round->keys[0].column = "id";
	round->keys[0].type = exact ? INT8OID : TEXTOID;
	for (int i = 0; i < 2; i++)
	{
		round->fields[i].column = i == 0 ? "number" : "text";
		round->fields[i].type = i == 0 ? INT8OID : TEXTOID;
		round->wanted[i] = true;
	}
	round->spec.column = "number";
	round->spec.filename = "f*";
	round->spec.sorted = true;
	round->spec.duplicates = duplicates;
	round->spec.nkeys = 1;
	round->spec.keys = round->keys;
	round->spec.nfields = 2;
	round->spec.fields = round->fields;
	round->resources.batch_rows = 1 + random_below(random_below(4) == 0 ? 500 : 30);
	round->resources.first_rows = 1 + random_below(round->resources.batch_rows);
	round->resources.block_bytes = 65536;
	round->resources.simd = random_below(2) == 0;
}

static int64 next_value = 1;

/* Sorted files; overlapping, interleaved or one after another. */
static void
make_files(const Round *round, int nfiles, int most_rows)
{
	int			style = random_below(3);
	bool		repeats = round->spec.duplicates != DUPLICATES_ERROR;
	int64		start = 1;

	/* without repeated keys, file i has the numbers that are i modulo nfiles */
	for (int i = 0; i < nfiles; i++)
	{
		char		name[64];
		MemoryFile *file;
		int			stride = repeats ? 1 : nfiles;
		int64		number = style == 0 ? start + (repeats ? 0 : 1) : random_below(style == 1 ? 10 : 1000);

		snprintf(name, sizeof(name), "f%04d.csv", i);
		file = add_file(name, random_below(10) == 0 ? 0 : random_below(most_rows));
		file->can_seek = random_below(2) == 0;
		file->has_range = random_below(2) == 0;
		number = repeats ? number : number / stride * stride + i;
		if (!repeats && number < start && style == 0)
			number += stride;
		for (int j = 0; j < file->nrows; j++)
		{
			file->rows[j].number = number;
			file->rows[j].value = next_value++;
			number += stride * (random_below(3) + (repeats ? 0 : 1));
		}
		start = Max(start, number);
		if (round->key->columns[0].descending)
		{
			for (int j = 0; j < file->nrows; j++)
				file->rows[j].number = 90000000 - file->rows[j].number;
		}
	}
}

static void
set_failure(Round *round, const char *format,...) __attribute__((format(printf, 2, 3)));

static void
set_failure(Round *round, const char *format,...)
{
	va_list		args;

	if (round->failure[0] != '\0')
		return;
	va_start(args, format);
	vsnprintf(round->failure, sizeof(round->failure), format, args);
	va_end(args);
}

static int64
batch_number(const Key *key, const ColumnBatch *batch, int row)
{
	if (key->exact)
		return (int64) key_datum(key, batch, row, 0);
	return text_number(batch->key[0][row]);
}

/* Decode both fields of all rows, in pieces and lists; each row once. */
static void
decode_somehow(ColumnStream *stream, Datum **values, bool **isnull)
{
	int			nrows = stream->batch.nrows;

	for (int field = 0; field < 2; field++)
	{
		int			from = 0;

		while (from < nrows)
		{
			int			to = from + 1 + random_below(nrows - from);

			if (random_below(2) == 0)
				stream_decode(stream, field, from, to, values[field], isnull[field]);
			else
			{
				/* every other row, then the ones between */
				for (int odd = 0; odd < 2; odd++)
				{
					BatchRow	rows[MAX_BATCH_ROWS];
					int			n = 0;

					for (int row = from + odd; row < to; row += 2)
						rows[n++] = row;
					stream->methods->decode(stream, field, from, to, rows, n,
											values[field], isnull[field]);
				}
			}
			from = to;
		}
	}
}

static bool
value_fits(const ModelRow *model, Datum number, bool number_null, Datum text, bool text_null)
{
	Datum		expected;

	if (number_null != (model->value % 5 == 0) || text_null != number_null)
		return false;
	if (number_null)
		return true;
	expected = number_text(model->value);
	return DatumGetInt64(number) == model->value && compare_texts(text, expected, NULL) == 0;
}

/* Read to the end (or for a while) and compare with the model from the bound on. */
static void
compare_stream(Round *round, ColumnStream *stream, const ModelRow *model, int nmodel,
			   const KeyBound *bound, int most_batches)
{
	int			at = 0;
	Datum	   *values[2];
	bool	   *isnull[2];

	for (int i = 0; i < 2; i++)
	{
		values[i] = palloc(round->resources.batch_rows * sizeof(Datum));
		isnull[i] = palloc(round->resources.batch_rows * sizeof(bool));
	}
	while (bound != NULL && at < nmodel && !number_within(round->read_key, model[at].number, bound))
		at++;

	while (most_batches-- > 0)
	{
		if (!stream_next_batch(stream))
		{
			if (at < nmodel)
				set_failure(round, "ended at %d of %d rows", at, nmodel);
			if (stream_next_batch(stream))
				set_failure(round, "a batch after the end");
			return;
		}
		if (stream->batch.nrows < 1 || stream->batch.nrows > round->resources.batch_rows)
			set_failure(round, "batch of %d rows", stream->batch.nrows);
		decode_somehow(stream, values, isnull);
		for (int row = 0; row < stream->batch.nrows && round->failure[0] == '\0'; row++)
		{
			int64		number = batch_number(round->read_key, &stream->batch, row);
			RowLocation location;

			if (bound != NULL && !number_within(round->read_key, number, bound))
				continue;
			if (at >= nmodel || number != model[at].number)
			{
				set_failure(round, "row %d is %lld, not %lld", at, (long long) number,
							at < nmodel ? (long long) model[at].number : -1LL);
				return;
			}
			if (!value_fits(&model[at], values[0][row], isnull[0][row], values[1][row], isnull[1][row]))
				set_failure(round, "wrong values in row %d, key %lld", at, (long long) number);
			stream->methods->locate(stream, row, &location);
			if (location.row != 0 &&
				(location.row != model[at].row + 1 ||
				 strcmp(location.file, memory_files[model[at].file].name) != 0))
				set_failure(round, "row %d located at %s:%lld", at, location.file, (long long) location.row);
			at++;
		}
		if (round->failure[0] != '\0')
			return;
	}
}

static void
seek_somewhere(Round *round, ColumnStream *stream, const ModelRow *model, int nmodel)
{
	KeyBound	bound;
	int64		number;
	Datum		value;
	const Key  *key = round->read_key;

	memset(&bound, 0, sizeof(bound));
	number = nmodel > 0 ? model[random_below(nmodel)].number + random_below(3) - 1 : 5;
	number = Max(number, 0);
	bound.ncolumns = 1;
	bound.inclusive = random_below(2) == 0;
	value = key->exact ? Int64GetDatum(number) : number_text(number);
	bound.values = &value;
	bound.image = key->exact ? (key->columns[0].descending ? ~number : number) :
		text_image(key, value);

	stream_seek(stream, &bound);
	compare_stream(round, stream, model, nmodel, &bound, random_below(2) == 0 ? 3 : INT_MAX);
}

static void
play_round(void *argument)
{
	Round	   *round = argument;
	ModelRow   *model;
	int			nmodel = make_model(round->key, round->spec.duplicates, &model);
	ColumnStream *stream;

	if (round->resources.file_key != NULL)
	{
		round->read_key = key_flipped(round->key);
		for (int i = 0; i < nmodel / 2; i++)
		{
			ModelRow	row = model[i];

			model[i] = model[nmodel - 1 - i];
			model[nmodel - 1 - i] = row;
		}
	}
	stream = stream_open(&round->spec, round->read_key, round->wanted, &round->resources);
	compare_stream(round, stream, model, nmodel, NULL, random_below(4) == 0 ? 2 : INT_MAX);
	for (int i = 0; i < 4 && round->failure[0] == '\0'; i++)
	{
		if (random_below(3) == 0)
		{
			stream_seek(stream, NULL);
			compare_stream(round, stream, model, nmodel, NULL, random_below(2) == 0 ? 3 : INT_MAX);
		}
		else
			seek_somewhere(round, stream, model, nmodel);
	}
	stream->methods->close(stream);
}

static void
test_random_streams(uint64 seed, int rounds)
{
	int			failed = 0;
	size_t		before = server_stub_contexts();

	for (int i = 0; i < rounds && failed < 5; i++)
	{
		Round		round;
		MemoryContext context = AllocSetContextCreate(TopMemoryContext, "round", ALLOCSET_DEFAULT_SIZES);
		MemoryContext old = MemoryContextSwitchTo(context);
		int			nfiles = random_below(4) == 0 ? 1 : 1 + random_below(random_below(5) == 0 ? 60 : 6);

		init_round(&round, random_below(2) == 0, random_below(2) == 0, random_below(4));
		make_files(&round, nfiles, random_below(3) == 0 ? 600 : 40);
		if (random_below(3) == 0)
			round.resources.file_key = round.key;
		decoded_twice = 0;
		if (!server_stub_try(play_round, &round))
			set_failure(&round, "error: %s (%s)", server_stub_error.message, server_stub_error.detail);
		if (decoded_twice > 0)
			set_failure(&round, "%d rows decoded twice", decoded_twice);
		if (open_streams != 0 || open_sources != 0)
			set_failure(&round, "%d streams, %d sources left open", open_streams, open_sources);
		open_streams = open_sources = 0;
		if (round.failure[0] != '\0')
		{
			failed++;
			tap_note("seed %llu round %d%s: %s key, %s, policy %d, %d files, batches of %d: %s",
					 (unsigned long long) seed, i, round.resources.file_key != NULL ? ", backward" : "",
					 round.key->exact ? "exact" : "text",
					 round.key->columns[0].descending ? "descending" : "ascending",
					 round.spec.duplicates, nfiles, round.resources.batch_rows, round.failure);
		}
		forget_files();
		MemoryContextSwitchTo(old);
		MemoryContextDelete(context);
	}
	tap_ok(failed == 0, "%d random streams are as the model has them (seed %llu)",
		   rounds, (unsigned long long) seed);
	tap_is_int(server_stub_contexts(), before, "no memory context is left");
}

/* ------------------------------------------------------------ single cases */

static void
fill_file(const char *name, int nrows, const int64 *numbers)
{
	MemoryFile *file = add_file(name, nrows);

	for (int i = 0; i < nrows; i++)
	{
		file->rows[i].number = numbers[i];
		file->rows[i].value = i + 1;
	}
}

#define FILL(name, ...) \
	do { \
		const int64 numbers_[] = {__VA_ARGS__}; \
		fill_file(name, lengthof(numbers_), numbers_); \
	} while (0)

static void
read_all(void *argument)
{
	Round	   *round = argument;
	ColumnStream *stream = stream_open(&round->spec, round->read_key, round->wanted, &round->resources);

	while (stream_next_batch(stream))
		;
	stream->methods->close(stream);
}

static void
expect_error(Round *round, const char *name, const char *state,
			 const char *message, const char *detail, const char *hint)
{
	bool		passed = !server_stub_try(read_all, round);

	tap_ok(passed, "%s: is an error", name);
	if (passed)
	{
		tap_is_string(server_stub_sqlstate(server_stub_error.sqlerrcode), state, name);
		tap_is_string(server_stub_error.message, message, name);
		tap_is_string(server_stub_error.detail, detail, name);
		if (!tap_ok(strstr(server_stub_error.hint, hint) != NULL, "%s: hint", name))
			tap_note("hint: %s", server_stub_error.hint);
	}
	open_streams = open_sources = 0;
	forget_files();
}

static void
test_errors(void)
{
	Round		round;

	init_round(&round, true, false, DUPLICATES_ERROR);
	for (int rows = 1; rows <= 100; rows += 99)
	{
		round.resources.batch_rows = round.resources.first_rows = rows;
		FILL("f1.csv", 1, 10, 9, 90);
		expect_error(&round, "integers sorted as text", "22000",
					 "key out of order in file \"f1.csv\", row 3, line 4",
					 "Key 9 follows key 10.", "sorted as text");
		FILL("f1.csv", 1, 5, 5, 7);
		expect_error(&round, "repeated key", "23505",
					 "repeated key in file \"f1.csv\", row 3, line 4",
					 "Key 5 occurs more than once.", "duplicates");
	}
	/* the same from the end: what is said is said of the file's order */
	for (int rows = 1; rows <= 100; rows += 99)
	{
		init_round(&round, true, false, DUPLICATES_ERROR);
		round.resources.batch_rows = round.resources.first_rows = rows;
		round.resources.file_key = round.key;
		round.read_key = key_flipped(round.key);
		FILL("f1.csv", 1, 2, 8, 7, 9);
		expect_error(&round, "backward, one key out of order", "22000",
					 "key out of order in file \"f1.csv\", row 4, line 5",
					 "Key 7 follows key 8.", "the option \"sorted\" to \"false\"");
		FILL("f1.csv", 1, 5, 5, 7);
		expect_error(&round, "backward, repeated key", "23505",
					 "repeated key in file \"f1.csv\", row 3, line 4",
					 "Key 5 occurs more than once.", "duplicates");
	}
	init_round(&round, true, false, DUPLICATES_ERROR);
	FILL("f1.csv", 1, 2, 8, 7, 9);
	expect_error(&round, "one key out of order", "22000",
				 "key out of order in file \"f1.csv\", row 4, line 5",
				 "Key 7 follows key 8.", "the option \"sorted\" to \"false\"");
	round.spec.duplicates = DUPLICATES_ALL;
	round.resources.batch_rows = 5;
	FILL("f1.csv", 30, 20, 10);
	FILL("f2.csv", 1, 2);
	for (int i = 0; i < 50; i++)
		(void) random_next();
	{
		bool		passed = !server_stub_try(read_all, &round);

		tap_ok(passed && strncmp(server_stub_error.message, "key out of order in file \"f1.csv\", row", 38) == 0,
			   "a segment out of order is named");
		open_streams = open_sources = 0;
		forget_files();
	}

	init_round(&round, true, false, DUPLICATES_ERROR);
	FILL("f1.csv", 1, 4, 9);
	FILL("f2.csv", 3, 9, 12);
	expect_error(&round, "key in two segments", "23505",
				 "repeated key in file \"f2.csv\", row 2, line 3",
				 "Key 9 is in file \"f1.csv\" already.", "duplicates");
	FILL("f1.csv", 1, 4, 9);
	FILL("f2.csv", 9, 12);
	expect_error(&round, "last key of one segment, first of the next", "23505",
				 "repeated key in file \"f2.csv\", row 1, line 2",
				 "Key 9 is in file \"f1.csv\" already.", "duplicates");

	init_round(&round, false, false, DUPLICATES_ERROR);
	round.resources.batch_rows = 1;
	round.key->columns[0].full.comparator = compare_oddly;
	FILL("f1.csv", 1, 2, 3);
	expect_error(&round, "text sorted bytewise", "22000",
				 "key out of order in file \"f1.csv\", row 2, line 3",
				 "Key k00000002xx follows key k00000001x.", "COLLATE \"C\"");
}

/* Bigger batches than the random ones, so that whole vectors are compared. */
static void
test_long_batches(void)
{
	Round		round;
	int			found = 0;

	for (int fault = 1; fault < 600; fault++)
	{
		MemoryContext context = AllocSetContextCreate(TopMemoryContext, "round", ALLOCSET_DEFAULT_SIZES);
		MemoryContext old = MemoryContextSwitchTo(context);
		MemoryFile *file;

		init_round(&round, true, false, DUPLICATES_ERROR);
		round.resources.batch_rows = 1000;
		round.resources.simd = fault % 2 == 0;
		file = add_file("f1.csv", 600);
		for (int i = 0; i < 600; i++)
			file->rows[i].number = (i - 300) * INT64CONST(10000000000) - (i >= fault ? INT64CONST(10000000001) : 0);
		if (!server_stub_try(read_all, &round))
		{
			RowLocation want = {.row = fault + 1};
			char	   *text = psprintf("key out of order in file \"f1.csv\", row %lld, line %lld",
										(long long) want.row, (long long) want.row + 1);

			found += strcmp(text, server_stub_error.message) == 0;
		}
		open_streams = 0;
		forget_files();
		MemoryContextSwitchTo(old);
		MemoryContextDelete(context);
	}
	tap_is_int(found, 599, "a fault anywhere in a batch is found");
}

/* One file without repeats: the top of the stack shows the format's own arrays. */
static void
check_straight_through(void *argument)
{
	Round	   *round = argument;
	ColumnStream *base;
	ColumnStream *stream;
	SegmentFile segment = {.name = "f1.csv", .format = &csv_column_format, .csv = true};

	base = memory_open(&round->spec, &segment, round->key, round->wanted, &round->resources);
	stream = order_check_open(base, DUPLICATES_ERROR, &round->resources, NULL);
	while (stream_next_batch(stream))
	{
		if (stream->batch.image != base->batch.image || stream->batch.nrows != base->batch.nrows)
			set_failure(round, "arrays were copied");
	}
	stream->methods->close(stream);
}

static void
test_straight_through(void)
{
	Round		round;

	init_round(&round, true, false, DUPLICATES_ERROR);
	FILL("f1.csv", 1, 2, 3, 4, 5, 6, 7, 8, 9, 10);
	tap_ok(server_stub_try(check_straight_through, &round) && round.failure[0] == '\0',
		   "a sorted file passes without a copy");
	forget_files();
}

/* Segments one after another: a few open streams, however many files. */
static void
test_many_segments(void)
{
	Round		round;

	init_round(&round, true, false, DUPLICATES_ERROR);
	round.resources.batch_rows = 10;
	for (int i = 0; i < 300; i++)
	{
		char		name[64];
		MemoryFile *file;

		snprintf(name, sizeof(name), "f%04d.csv", i);
		file = add_file(name, 20);
		for (int j = 0; j < 20; j++)
			file->rows[j].number = i * 20 + j;
	}
	most_open_streams = 0;
	tap_ok(server_stub_try(read_all, &round), "300 segments are read");
	tap_is_int(most_open_streams, 1, "one at a time, since they do not overlap");
	forget_files();
}

/* ------------------------------------------------------------ finding files */

static List *found_files;

static void
find_them(void *argument)
{
	found_files = stream_files((const StreamSpec *) argument);
}

static const SegmentFile *
first_found(void)
{
	return linitial(found_files);
}

static void
test_files(void)
{
	StreamSpec	spec;
	const int64 one = 1;

	memset(&spec, 0, sizeof(spec));
	spec.column = "length";

	tap_ok(!server_stub_try(find_them, &spec), "no file for the column");
	tap_is_string(server_stub_sqlstate(server_stub_error.sqlerrcode), "58P01", "SQLSTATE");
	tap_ok(strstr(server_stub_error.detail, ".csv, .tsv, .tab, .txt") != NULL, "lists what it looked for");

	fill_file("length.txt.gz", 1, &one);
	tap_ok(server_stub_try(find_them, &spec) && strcmp(first_found()->name, "length.txt.gz") == 0 &&
		   first_found()->format == &text_column_format && first_found()->compression == COMPRESSION_GZIP &&
		   !first_found()->csv, "found by the column's name");

	fill_file("length.csv", 1, &one);
	tap_ok(!server_stub_try(find_them, &spec), "two candidates");
	tap_is_string(server_stub_error.detail, "Both \"length.csv\" and \"length.txt.gz\" exist.", "names both");
	spec.format = "text";
	tap_ok(server_stub_try(find_them, &spec) && strcmp(first_found()->name, "length.txt.gz") == 0,
		   "a declared format settles which");

	spec.format = NULL;
	spec.filename = "elsewhere/LENGTH.TSV.GZ";
	tap_ok(server_stub_try(find_them, &spec) && !first_found()->csv &&
		   first_found()->compression == COMPRESSION_GZIP, "extensions in capitals");
	spec.filename = "length.dat";
	tap_ok(!server_stub_try(find_them, &spec), "unknown extension");
	tap_is_string(server_stub_error.message, "format of file \"length.dat\" is not known", "says so");
	spec.format = "csv";
	tap_ok(server_stub_try(find_them, &spec) && first_found()->csv &&
		   first_found()->compression == COMPRESSION_NONE, "declared format");

	fill_file("seg/a.csv", 1, &one);
	fill_file("seg/b.dat", 1, &one);
	fill_file("seg/c.tsv", 1, &one);
	spec.format = NULL;
	spec.filename = "seg/*";
	tap_ok(server_stub_try(find_them, &spec) && list_length(found_files) == 2,
		   "a glob passes over unknown extensions");
	spec.format = "csv";
	tap_ok(server_stub_try(find_them, &spec) && list_length(found_files) == 3,
		   "not where the format is declared");
	spec.filename = "none/*";
	tap_ok(!server_stub_try(find_them, &spec), "a glob without a match");
	tap_is_string(server_stub_error.message, "no file matches \"none/*\"", "names the pattern");

	spec.filename = NULL;
	spec.format = NULL;
	spec.program = "cat x";
	tap_ok(server_stub_try(find_them, &spec) && first_found()->name == NULL && first_found()->csv,
		   "a program delivers CSV");
	spec.program = NULL;
	spec.column = "a/b";
	tap_ok(!server_stub_try(find_them, &spec), "a column's name is no path");
	forget_files();
}

/* ------------------------------------------------------------ facts */

static StreamFacts found_facts;

static void
ask_facts(void *argument)
{
	Round	   *round = argument;

	stream_facts(&round->spec, round->key, &found_facts);
}

static void
test_facts(void)
{
	Round		round;

	init_round(&round, true, false, DUPLICATES_ERROR);
	for (int i = 0; i < 3; i++)
	{
		MemoryFile *file = add_file(psprintf("f%d.csv", i), 10);

		for (int j = 0; j < 10; j++)
			file->rows[j].number = 100 * i + j;
		file->has_range = file->can_seek = true;
	}
	facts_asked = 0;
	tap_ok(server_stub_try(ask_facts, &round), "facts of three files");
	tap_ok(found_facts.rows == 30 && found_facts.rows_exact && found_facts.can_seek, "add up");
	tap_ok(found_facts.has_range && found_facts.first == 0 && found_facts.last == 209, "range is theirs");
	tap_ok(server_stub_try(ask_facts, &round) && facts_asked == 3, "asked for once");
	round.spec.sorted = false;
	tap_ok(server_stub_try(ask_facts, &round) && !found_facts.has_range, "no range where not sorted");
	round.spec.sorted = true;
	memory_files[1].has_range = false;
	round.spec.text.skip = 1;
	tap_ok(server_stub_try(ask_facts, &round) && facts_asked == 6 && !found_facts.has_range,
		   "read another way, asked for again");
	forget_files();

	for (int i = 0; i < 300; i++)
	{
		MemoryFile *file = add_file(psprintf("f%03d.csv", i), i == 7 ? 100000 : 10);

		file->has_range = true;
		for (int j = 0; j < file->nrows; j++)
			file->rows[j].number = j;
	}
	facts_asked = 0;
	tap_ok(server_stub_try(ask_facts, &round), "facts of 300 files");
	tap_ok(facts_asked <= 40, "a sample was looked at");
	tap_ok(found_facts.rows > 102900 && found_facts.rows < 103100 && !found_facts.rows_exact,
		   "rows go with the bytes");
	tap_is_int(open_sources, 0, "all closed");
	forget_files();
}

int
main(int argc, char **argv)
{
	int			rounds = argc > 2 ? atoi(argv[2]) : 1500;
	uint64		seed;

	server_stub_init();
	seed = random_begin(argc, argv);

	test_random_streams(seed, rounds);
	test_errors();
	test_long_batches();
	test_straight_through();
	test_many_segments();
	test_files();
	test_facts();
	return tap_done();
}
