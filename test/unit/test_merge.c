/*-------------------------------------------------------------------------
 *
 * test_merge.c
 *	  The merge over streams in memory: small joins written out by hand, and
 *	  random ones compared with a model that puts all rows into one array,
 *	  sorts it and multiplies the groups of equal keys with nested loops.
 *
 * Linked with src/merge and src/column/key.c.  A mock stream gives batches of
 * random length whose memory is gone when the next one is asked for, and
 * refuses to decode a row twice, or one that is not wanted.  Its keys are
 * bigint (exact), text in a case-blind order (not exact, with images that may
 * tie), or one of each.
 *
 * In half of the random joins some inputs are required, some of these with a
 * test on a field, some of the others not read: the model leaves out the groups
 * that lack a required stream, and of that stream the rows that fail the test.
 *
 * The model never compares key values: it knows the numbers that the keys
 * were made of.
 *
 * Usage: test_merge [seed [rounds]]
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "compat.h"

#include <ctype.h>

#include "catalog/pg_type_d.h"
#include "miscadmin.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "merge/merge_internal.h"
#include "random.h"
#include "server_stub.h"
#include "tap.h"

/* ------------------------------------------------------------ keys */

typedef enum KeyKind
{
	KEY_BIGINT,
	KEY_TEXT,
	KEY_BIGINT_TEXT,
	KEY_TEXT_BIGINT
} KeyKind;

/*
 * A mock's row.  The text column of its key spells number[] in letters whose
 * case is "spelling", unless "key" gives another spelling; its fields' values
 * follow from "id", unless "value" gives another (one that begins with "-" is
 * null).
 */
typedef struct MockRow
{
	int64		number[2];		/* by key column */
	int			spelling;
	int			id;
	const char *key;
	const char *value;
} MockRow;

#define MAX_FIELDS	3
#define LETTERS		8
#define TEXT_SPACE	48			/* bytes that any text takes */

static int
text_column(KeyKind kind)
{
	switch (kind)
	{
		case KEY_TEXT:
		case KEY_TEXT_BIGINT:
			return 0;
		case KEY_BIGINT_TEXT:
			return 1;
		default:
			return -1;
	}
}

static void
spell(const MockRow *row, int column, char *text)
{
	if (row->key)
	{
		strlcpy(text, row->key, TEXT_SPACE - VARHDRSZ);
		return;
	}
	for (int i = 0; i < LETTERS; i++)
	{
		int			letter = 'a' + ((row->number[column] >> (4 * (LETTERS - 1 - i))) & 15);

		text[i] = (row->spelling >> i) & 1 ? toupper(letter) : letter;
	}
	text[LETTERS] = '\0';
}

static void
unspell(Datum datum, int64 *number, int *spelling)
{
	const char *text = VARDATA_ANY(DatumGetPointer(datum));

	*number = *spelling = 0;
	for (int i = 0; i < LETTERS; i++)
	{
		*number = *number * 16 + (tolower((unsigned char) text[i]) - 'a');
		*spelling |= (isupper((unsigned char) text[i]) ? 1 : 0) << i;
	}
}

static Datum
set_text(void *space, const char *string)
{
	int			length = strlen(string);

	SET_VARSIZE(space, length + VARHDRSZ);
	memcpy(VARDATA(space), string, length);
	return PointerGetDatum(space);
}

static int
compare_case_blind(Datum a, Datum b, SortSupport ssup)
{
	struct varlena *x = (struct varlena *) DatumGetPointer(a);
	struct varlena *y = (struct varlena *) DatumGetPointer(b);
	int			n = Min(VARSIZE_ANY_EXHDR(x), VARSIZE_ANY_EXHDR(y));
	int			order = strncasecmp(VARDATA_ANY(x), VARDATA_ANY(y), n);

	(void) ssup;
	return order != 0 ? order : (int) VARSIZE_ANY_EXHDR(x) - (int) VARSIZE_ANY_EXHDR(y);
}

static void
init_key(Key *key, KeyColumn *columns, KeyKind kind, const bool *descending)
{
	memset(columns, 0, sizeof(KeyColumn) * 2);
	key->ncolumns = kind == KEY_BIGINT || kind == KEY_TEXT ? 1 : 2;
	key->exact = kind == KEY_BIGINT;
	key->columns = columns;
	for (int k = 0; k < key->ncolumns; k++)
	{
		bool		text = k == text_column(kind);

		columns[k].name = k == 0 ? "id" : "sub";
		columns[k].type = text ? TEXTOID : INT8OID;
		columns[k].typmod = -1;
		columns[k].descending = descending[k];
		columns[k].typbyval = !text;
		columns[k].typlen = text ? -1 : 8;
		columns[k].integer_like = !text;
		columns[k].full.comparator = compare_case_blind;
		columns[k].full.ssup_reverse = descending[k];
	}
}

/* "shift" makes images of a text tie; all where it is 63 */
static int64
number_image(const Key *key, int64 number, int shift)
{
	int64		image = key->columns[0].integer_like ? number : number >> shift;

	return key->columns[0].descending ? ~image : image;
}

/* ------------------------------------------------------------ mock streams */

typedef struct MockStream
{
	ColumnStream stream;
	StreamSpec	spec;
	FieldSpec	fields[MAX_FIELDS];
	bool		wanted[MAX_FIELDS];
	KeyKind		kind;
	int			shift;
	int			nrows;
	MockRow    *rows;
	int			batch_rows;
	bool		whole_batches;	/* every batch but the last is full */
	bool		can_seek;
	double		seek_rows;
	int			next;			/* row that comes next */
	int			first;			/* row that the batch begins with */
	int			batches;
	int			seeks;
	int			decoded;		/* values */
	int64		rows_read;
	bool		closed;
	MemoryContext batch_context;
	bool	   *seen[MAX_FIELDS];
	RowTests	tests;			/* one, if it has fields */
	int			tested;			/* the field */
} MockStream;

static bool
mock_next_batch(ColumnStream *stream)
{
	MockStream *mock = (MockStream *) stream;
	const Key  *key = stream->key;
	int			n = mock->whole_batches ? mock->batch_rows : 1 + random_below(mock->batch_rows);
	MemoryContext old;

	/* every chunk is a malloc of its own: a sanitizer sees who is late */
	MemoryContextReset(mock->batch_context);
	memset(&stream->batch, 0, sizeof(ColumnBatch));
	n = Min(n, mock->nrows - mock->next);
	if (n == 0)
		return false;
	old = MemoryContextSwitchTo(mock->batch_context);
	mock->first = mock->next;
	mock->next += n;
	mock->batches++;
	mock->rows_read += n;
	stream->batch.nrows = n;
	stream->batch.image = palloc(sizeof(int64) * n);
	for (int r = 0; r < n; r++)
		stream->batch.image[r] = number_image(key, mock->rows[mock->first + r].number[0], mock->shift);
	if (!key->exact)
		stream->batch.key = palloc(sizeof(Datum *) * key->ncolumns);
	for (int k = 0; !key->exact && k < key->ncolumns; k++)
	{
		bool		text = k == text_column(mock->kind);
		char	   *space = text ? palloc(TEXT_SPACE * n) : NULL;

		stream->batch.key[k] = palloc(sizeof(Datum) * n);
		for (int r = 0; r < n; r++)
		{
			const MockRow *row = &mock->rows[mock->first + r];
			char		spelled[TEXT_SPACE];

			if (text)
				spell(row, k, spelled);
			stream->batch.key[k][r] = text ? set_text(space + TEXT_SPACE * r, spelled) :
				Int64GetDatum(row->number[k]);
		}
	}
	for (int f = 0; f < MAX_FIELDS; f++)
		mock->seen[f] = palloc0(n);
	MemoryContextSwitchTo(old);
	return true;
}

/* A third of all values are null; field 1 is a text. */
static bool
value_is_null(int id, int field)
{
	return ((uint32) (id * MAX_FIELDS + field) * UINT64CONST(2654435761) >> 9) % 3 == 0;
}

static int64
value_number(int id, int field)
{
	return (int64) id * MAX_FIELDS + field;
}

static void
mock_decode(ColumnStream *stream, int field, int from, int to,
			const BatchRow *rows, int nrows, Datum *values, bool *isnull)
{
	MockStream *mock = (MockStream *) stream;
	MemoryContext old = MemoryContextSwitchTo(mock->batch_context);
	char	   *space = palloc(TEXT_SPACE * Max(to - from, 1));

	if (from < 0 || to > stream->batch.nrows || from >= to || !mock->wanted[field] ||
		(rows != NULL && (nrows <= 0 || rows[0] < from || rows[nrows - 1] >= to)))
		elog(ERROR, "decode of field %d, rows [%d, %d)", field, from, to);
	for (int n = 0; n < (rows != NULL ? nrows : to - from); n++)
	{
		int			r = rows != NULL ? rows[n] : from + n;
		const MockRow *row = &mock->rows[mock->first + r];
		char		text[TEXT_SPACE];

		if (rows != NULL && n > 0 && rows[n - 1] >= r)
			elog(ERROR, "rows to decode do not ascend");

		if (mock->seen[field][r])
			elog(ERROR, "row %d of field %d decoded twice", r, field);
		mock->seen[field][r] = true;
		mock->decoded++;
		isnull[r] = row->value ? row->value[0] == '-' : value_is_null(row->id, field);
		if (row->value)
			strlcpy(text, row->value, sizeof(text) - VARHDRSZ);
		else
			snprintf(text, sizeof(text) - VARHDRSZ, "%lld%.*s",
					 (long long) value_number(row->id, field), 1 + row->id % 7, "xxxxxxx");
		if (isnull[r])
			values[r] = (Datum) 0;
		else if (mock->fields[field].type == TEXTOID)
			values[r] = set_text(space + TEXT_SPACE * (r - from), text);
		else
			values[r] = Int64GetDatum(value_number(row->id, field));
	}
	MemoryContextSwitchTo(old);
}

/* Does a row with this value pass the test, which any row of another id may not? */
static bool
id_passes(int64 id)
{
	return id % 3 != 0;
}

static bool
row_passes(const MockStream *mock, const MockRow *row)
{
	return mock->tests.ntests == 0 ||
		(!value_is_null(row->id, mock->tested) && id_passes(row->id));
}

static int
mock_pass(RowTests *tests, int test, const Datum *values, const bool *isnull,
		  const BatchRow *rows, int nrows, BatchRow *out)
{
	int			count = 0;

	(void) test;
	for (int k = 0; k < nrows; k++)
	{
		int			row = rows != NULL ? rows[k] : k;
		int64		number;

		if (isnull[row])
			continue;
		number = tests->fields[0] == 1 ?
			strtoll(VARDATA_ANY(DatumGetPointer(values[row])), NULL, 10) :
			DatumGetInt64(values[row]);
		if (id_passes(number / MAX_FIELDS))
			out[count++] = (BatchRow) row;
	}
	return count;
}

static bool
row_is_within(const MockStream *mock, const MockRow *row, const KeyBound *bound)
{
	for (int k = 0; k < bound->ncolumns; k++)
	{
		int			order;

		if (k == text_column(mock->kind))
		{
			char		text[TEXT_SPACE];
			char		space[TEXT_SPACE] pg_attribute_aligned(8);

			spell(row, k, text);
			order = compare_case_blind(set_text(space, text), bound->values[k], NULL);
		}
		else
			order = row->number[k] < DatumGetInt64(bound->values[k]) ? -1 :
				row->number[k] > DatumGetInt64(bound->values[k]);
		if (order != 0)
			return (order > 0) != mock->stream.key->columns[k].descending;
	}
	return bound->inclusive;
}

static void
mock_seek(ColumnStream *stream, const KeyBound *bound)
{
	MockStream *mock = (MockStream *) stream;
	int			early = random_below(3) * random_below(mock->batch_rows);

	MemoryContextReset(mock->batch_context);
	memset(&stream->batch, 0, sizeof(ColumnBatch));
	mock->seeks++;
	mock->next = 0;
	if (bound == NULL || !mock->can_seek)
		return;
	while (mock->next < mock->nrows && !row_is_within(mock, &mock->rows[mock->next], bound))
		mock->next++;
	/* earlier rows may come */
	mock->next -= Min(mock->next, early);
}

static void
mock_locate(ColumnStream *stream, int row, RowLocation *location)
{
	(void) stream, (void) row, (void) location;
	elog(ERROR, "the merge has no business with locations");
}

static void
mock_count(ColumnStream *stream, StreamCounters *counters)
{
	counters->rows_read += ((MockStream *) stream)->rows_read;
}

static void
mock_close(ColumnStream *stream)
{
	((MockStream *) stream)->closed = true;
}

static int64
mock_position(ColumnStream *stream, int row)
{
	return ((MockStream *) stream)->first + row;
}

static const ColumnStreamMethods mock_methods = {
	.next_batch = mock_next_batch,
	.decode = mock_decode,
	.seek = mock_seek,
	.position = mock_position,
	.locate = mock_locate,
	.count = mock_count,
	.close = mock_close,
};

void
get_typlenbyval(Oid type, int16 *typlen, bool *typbyval)
{
	*typbyval = type == INT8OID;
	*typlen = type == INT8OID ? 8 : -1;
}

/* ------------------------------------------------------------ a join */

typedef struct Join
{
	MemoryContext context;
	KeyKind		kind;
	bool		descending[2];
	int			shift;
	int			batch_rows;
	int			memory_kb;
	int			nstreams;
	MockStream *mocks;
	MergeInput *inputs;
	Key			key;
	KeyColumn	columns[2];
	OuterMerge *merge;

	/* what the windows held, as numbers: key, spelling, wanted values */
	int			width;
	int64	   *rows;
	int64		nrows;
	int64		capacity;
	char		failure[256];
} Join;

#define NULL_VALUE	(-1)

/* Which ways of joining have been seen. */
static int64 windows_all = 0;
static int64 windows_dense_gaps = 0;
static int64 windows_straight = 0;
static int64 windows_in_parts = 0;
static int64 windows_product = 0;
static int64 windows_required = 0;
static int64 seeks_required = 0;

static void
join_fail(Join *join, const char *format,...) __attribute__((format(printf, 2, 3)));

static void
join_fail(Join *join, const char *format,...)
{
	va_list		args;

	if (join->failure[0] != '\0')
		return;
	va_start(args, format);
	vsnprintf(join->failure, sizeof(join->failure), format, args);
	va_end(args);
}

static Join *
join_create(KeyKind kind, int nstreams, int batch_rows)
{
	MemoryContext context = AllocSetContextCreate(TopMemoryContext, "join", ALLOCSET_DEFAULT_SIZES);
	Join	   *join;

	MemoryContextSwitchTo(context);
	join = palloc0(sizeof(Join));
	join->context = context;
	join->kind = kind;
	join->shift = 63;
	join->batch_rows = batch_rows;
	join->memory_kb = 64;
	join->nstreams = nstreams;
	join->mocks = palloc0(sizeof(MockStream) * Max(nstreams, 1));
	join->inputs = palloc0(sizeof(MergeInput) * Max(nstreams, 1));
	for (int i = 0; i < nstreams; i++)
	{
		MockStream *mock = &join->mocks[i];

		mock->spec.nfields = MAX_FIELDS;
		mock->spec.fields = mock->fields;
		for (int f = 0; f < MAX_FIELDS; f++)
		{
			mock->fields[f].column = "value";
			mock->fields[f].type = f == 1 ? TEXTOID : INT8OID;
			mock->fields[f].typmod = -1;
		}
		mock->whole_batches = true;
	}
	return join;
}

/* Ask for these fields of stream i, in this order. */
static void
join_want(Join *join, int i, int nfields, const int *fields)
{
	MergeInput *input = &join->inputs[i];

	input->nvectors = nfields;
	input->vectors = palloc(sizeof(FieldVector) * Max(nfields, 1));
	for (int v = 0; v < nfields; v++)
	{
		field_vector_init(&input->vectors[v], fields[v], join->batch_rows);
		join->mocks[i].wanted[fields[v]] = true;
	}
	input->role = nfields > 0 ? STREAM_OUTER : STREAM_KEYS_ONLY;
}

static void
join_test(Join *join, int i)
{
	MockStream *mock = &join->mocks[i];
	StreamResources resources = {.batch_rows = join->batch_rows};

	mock->wanted[mock->tested] = true;
	mock->tests.fields = &mock->tested;
	mock->tests.pass = mock_pass;
	join->inputs[i].stream = filtered_open(&mock->stream, &mock->tests, &resources);
	join->inputs[i].tests = &mock->tests;
}

static void
join_open(Join *join)
{
	init_key(&join->key, join->columns, join->kind, join->descending);
	join->width = 3;
	for (int i = 0; i < join->nstreams; i++)
	{
		MockStream *mock = &join->mocks[i];

		stream_init(&mock->stream, &mock_methods, &mock->spec, &join->key, mock->wanted);
		mock->stream.can_seek = mock->can_seek;
		mock->stream.seek_rows = mock->seek_rows;
		mock->kind = join->kind;
		mock->shift = join->shift;
		mock->batch_rows = join->batch_rows;
		mock->batch_context = AllocSetContextCreate(join->context, "mock batch",
													ALLOCSET_DEFAULT_SIZES);
		join->inputs[i].stream = &mock->stream;
		if (join->inputs[i].role == STREAM_NOT_READ)
			join->inputs[i].stream = NULL;
		else if (mock->tests.ntests > 0)
			join_test(join, i);
		join->width += join->inputs[i].nvectors;
	}
	join->merge = outer_merge_create(&join->key, join->nstreams, join->inputs,
									 join->batch_rows, join->memory_kb);
}

static void
join_close(Join *join)
{
	outer_merge_close(join->merge);
	for (int i = 0; i < join->nstreams; i++)
	{
		if (join->merge->required)
			seeks_required += join->mocks[i].seeks;
		if (!join->mocks[i].closed && join->inputs[i].role != STREAM_NOT_READ)
			join_fail(join, "stream %d was not closed", i);
	}
	if (server_stub_tuplestores != 0)
		join_fail(join, "%d tuplestores were left", server_stub_tuplestores);
	MemoryContextSwitchTo(TopMemoryContext);
}

static void
join_delete(Join *join)
{
	MemoryContextSwitchTo(TopMemoryContext);
	MemoryContextDelete(join->context);
}

static int64 *
join_row(Join *join)
{
	if (join->nrows == join->capacity)
	{
		MemoryContext old = MemoryContextSwitchTo(join->context);

		join->capacity = Max(join->capacity * 2, 64);
		if (join->rows == NULL)
			join->rows = palloc(sizeof(int64) * join->width * join->capacity);
		else
			join->rows = repalloc_huge(join->rows, sizeof(int64) * join->width * join->capacity);
		MemoryContextSwitchTo(old);
	}
	return join->rows + join->width * join->nrows++;
}

static void
count_window(const OuterMerge *merge, const MergeWindow *window, bool in_parts)
{
	windows_all++;
	windows_required += merge->required != NULL;
	if (window->slot)
		windows_dense_gaps++;
	else if (merge->product)
		windows_product++;
	else if (in_parts)
		windows_in_parts++;
	else
		windows_straight++;
}

static void
take_row(Join *join, const MergeWindow *window, int r)
{
	int			slot = window->slot ? window->slot[r] : r;
	int64	   *row = join_row(join);
	int			column = 3;

	row[1] = row[2] = 0;
	for (int k = 0; k < join->key.ncolumns; k++)
	{
		Datum		datum = outer_merge_key(join->merge, r, k);

		if (k == text_column(join->kind))
		{
			int			spelling;

			unspell(datum, &row[k], &spelling);
			row[2] = spelling;
		}
		else
			row[k] = DatumGetInt64(datum);
	}
	if (join->key.exact ? window->key == NULL || window->key[slot] != (Datum) row[0] : window->key != NULL)
		join_fail(join, "key of the window is another");
	for (int i = 0; i < join->nstreams; i++)
	{
		const MergeInput *input = &join->inputs[i];

		for (int v = 0; v < input->nvectors; v++)
		{
			const FieldVector *vector = &input->vectors[v];
			int			position = window->position[i][slot];

			if (position < -1 || position >= join->batch_rows)
			{
				join_fail(join, "position %d of input %d", position, i);
				position = -1;
			}
			if (vector->isnull[position])
				row[column++] = NULL_VALUE;
			else if (vector->field == 1)
				row[column++] = strtoll(VARDATA_ANY(DatumGetPointer(vector->values[position])), NULL, 10);
			else
				row[column++] = DatumGetInt64(vector->values[position]);
		}
	}
}

/* Read what has been started; at most this many windows (-1: all), and keep the rows. */
static void
join_read_on(Join *join, int most_windows)
{
	const MergeWindow *window;

	join->nrows = 0;
	for (int n = 0; n != most_windows; n++)
	{
		bool		in_parts = join->merge->cursor.active;

		window = outer_merge_next(join->merge);
		if (window == NULL)
		{
			if (outer_merge_next(join->merge) != NULL)
				join_fail(join, "rows after the end");
			return;
		}
		if (window != outer_merge_window(join->merge))
			join_fail(join, "another window");
		if (window->nrows <= 0)
			join_fail(join, "%d rows in a window", window->nrows);
		count_window(join->merge, window, in_parts);
		for (int r = 0; r < window->nrows; r++)
			take_row(join, window, r);
	}
}

static void
join_read(Join *join, const KeyRange *range, int most_windows)
{
	outer_merge_start(join->merge, range);
	join_read_on(join, most_windows);
}

/* ------------------------------------------------------------ the model */

typedef struct ModelRow
{
	const MockRow *row;
	int			stream;
} ModelRow;

typedef struct Model
{
	const Join *join;
	int			width;
	int64	   *rows;
	int64		nrows;
	int64		capacity;
} Model;

static const bool *model_descending;

/* Stream order of two keys, by their numbers. */
static int
compare_rows(const MockRow *a, const MockRow *b)
{
	for (int k = 0; k < 2; k++)
	{
		if (a->number[k] != b->number[k])
			return (a->number[k] < b->number[k]) != model_descending[k] ? -1 : 1;
	}
	return 0;
}

static int
compare_mock_rows(const void *a, const void *b)
{
	return compare_rows(a, b);
}

static int
compare_model_rows(const void *a, const void *b)
{
	const ModelRow *x = a;
	const ModelRow *y = b;
	int			order = compare_rows(x->row, y->row);

	if (order != 0)
		return order;
	if (x->stream != y->stream)
		return x->stream < y->stream ? -1 : 1;
	return x->row < y->row ? -1 : x->row > y->row;
}

/* A bound in numbers. */
typedef struct ModelBound
{
	bool		present;
	bool		inclusive;
	int			ncolumns;
	int64		number[2];
} ModelBound;

typedef struct ModelRange
{
	bool		empty;
	ModelBound	lower;
	ModelBound	upper;
} ModelRange;

static int
compare_row_bound(const MockRow *row, const ModelBound *bound)
{
	for (int k = 0; k < bound->ncolumns; k++)
	{
		if (row->number[k] != bound->number[k])
			return (row->number[k] < bound->number[k]) != model_descending[k] ? -1 : 1;
	}
	return 0;
}

static bool
model_row_inside(const MockRow *row, const ModelRange *range)
{
	if (range == NULL)
		return true;
	if (range->empty)
		return false;
	if (range->lower.present)
	{
		int			order = compare_row_bound(row, &range->lower);

		if (order < 0 || (order == 0 && !range->lower.inclusive))
			return false;
	}
	if (range->upper.present)
	{
		int			order = compare_row_bound(row, &range->upper);

		if (order > 0 || (order == 0 && !range->upper.inclusive))
			return false;
	}
	return true;
}

static void
model_write_values(const Join *join, const MockRow *row, int stream, int64 *values)
{
	for (int v = 0; v < join->inputs[stream].nvectors; v++)
	{
		int			field = join->inputs[stream].vectors[v].field;

		if (row == NULL || value_is_null(row->id, field))
			values[v] = NULL_VALUE;
		else
			values[v] = value_number(row->id, field);
	}
}

static int64 *
model_row(Model *model)
{
	if (model->nrows == model->capacity)
	{
		model->capacity = Max(model->capacity * 2, 64);
		if (model->rows == NULL)
			model->rows = palloc(sizeof(int64) * model->width * model->capacity);
		else
			model->rows = repalloc_huge(model->rows, sizeof(int64) * model->width * model->capacity);
	}
	return model->rows + model->width * model->nrows++;
}

/*
 * Nested loops: rows[0 .. n-1], of streams from "stream" on, have one key; what
 * the streams before had to say stands in "row" already.
 */
static void
model_product(Model *model, const ModelRow *rows, int n, int stream, int column, int64 *row)
{
	const Join *join = model->join;
	int			width;
	int			same = 0;

	if (stream == join->nstreams)
	{
		memcpy(model_row(model), row, sizeof(int64) * model->width);
		return;
	}
	width = join->inputs[stream].nvectors;
	while (same < n && rows[same].stream == stream)
		same++;
	if (same == 0)
	{
		model_write_values(join, NULL, stream, row + column);
		model_product(model, rows, n, stream + 1, column + width, row);
	}
	for (int r = 0; r < same; r++)
	{
		int64		spelling = row[2];

		/* COALESCE takes the key of the first that has it */
		if (spelling < 0)
			row[2] = rows[r].row->spelling;
		model_write_values(join, rows[r].row, stream, row + column);
		model_product(model, rows + same, n - same, stream + 1, column + width, row);
		row[2] = spelling;
	}
}

/* Does the group have rows of all required streams? */
static bool
model_has_required(const Join *join, const ModelRow *rows, int n)
{
	for (int i = 0; i < join->nstreams; i++)
	{
		bool		found = join->inputs[i].role != STREAM_REQUIRED;

		for (int r = 0; r < n && !found; r++)
			found = rows[r].stream == i;
		if (!found)
			return false;
	}
	return true;
}

static void
model_read(Model *model, const Join *join, const ModelRange *range)
{
	int			n = 0;
	ModelRow   *rows;
	int64	   *row;

	model_descending = join->descending;
	memset(model, 0, sizeof(Model));
	model->join = join;
	model->width = join->width;
	for (int i = 0; i < join->nstreams; i++)
		n += join->mocks[i].nrows;
	rows = palloc(sizeof(ModelRow) * Max(n, 1));
	n = 0;
	for (int i = 0; i < join->nstreams; i++)
	{
		for (int r = 0; r < join->mocks[i].nrows; r++)
		{
			if (model_row_inside(&join->mocks[i].rows[r], range) &&
				row_passes(&join->mocks[i], &join->mocks[i].rows[r]))
				rows[n++] = (ModelRow) {&join->mocks[i].rows[r], i};
		}
	}
	(qsort) (rows, n, sizeof(ModelRow), compare_model_rows);
	row = palloc(sizeof(int64) * model->width);
	for (int from = 0, to; from < n; from = to)
	{
		to = from + 1;
		while (to < n && compare_rows(rows[from].row, rows[to].row) == 0)
			to++;
		if (!model_has_required(join, rows + from, to - from))
			continue;
		row[0] = rows[from].row->number[0];
		row[1] = rows[from].row->number[1];
		row[2] = -1;
		model_product(model, rows + from, to - from, 0, 3, row);
	}
	pfree(row);
	pfree(rows);
}

static int	compared_width;

static int
compare_numbers_of_rows(const void *a, const void *b)
{
	const int64 *x = a;
	const int64 *y = b;

	for (int c = 0; c < compared_width; c++)
	{
		if (x[c] != y[c])
			return x[c] < y[c] ? -1 : 1;
	}
	return 0;
}

/* The order of keys is fixed, that of rows with one key is not. */
static void
join_compare(Join *join, Model *model)
{
	size_t		size = sizeof(int64) * join->width;

	if (join->nrows != model->nrows)
		join_fail(join, "%lld rows, not %lld", (long long) join->nrows, (long long) model->nrows);
	compared_width = join->width;
	for (int64 from = 0, to; from < model->nrows && join->failure[0] == '\0'; from = to)
	{
		int64	   *expected = model->rows + join->width * from;
		int64	   *got = join->rows + join->width * from;

		to = from + 1;
		while (to < model->nrows &&
			   memcmp(expected, model->rows + join->width * to, sizeof(int64) * 2) == 0)
			to++;
		if (to - from > 1)
		{
			(qsort) (expected, to - from, size, compare_numbers_of_rows);
			(qsort) (got, to - from, size, compare_numbers_of_rows);
		}
		for (int64 c = 0; c < (to - from) * join->width; c++)
		{
			if (expected[c] != got[c])
			{
				join_fail(join, "row %lld, column %lld: %lld, not %lld",
						  (long long) (from + c / join->width), (long long) (c % join->width),
						  (long long) got[c], (long long) expected[c]);
				break;
			}
		}
	}
	if (model->rows)
		pfree(model->rows);
}

/* ------------------------------------------------------------ ranges */

/* The merge's form of a model's range. */
static void
bound_set(const Join *join, const ModelBound *model, KeyBound *bound)
{
	bound->ncolumns = model->ncolumns;
	bound->inclusive = model->inclusive;
	bound->image = number_image(&join->key, model->number[0], join->shift);
	bound->values = palloc(sizeof(Datum) * 2);
	for (int k = 0; k < model->ncolumns; k++)
	{
		if (k == text_column(join->kind))
		{
			MockRow		row = {.number = {model->number[0], model->number[1]}};
			char		text[TEXT_SPACE];

			row.spelling = random_below(256);
			spell(&row, k, text);
			bound->values[k] = set_text(palloc(TEXT_SPACE), text);
		}
		else
			bound->values[k] = Int64GetDatum(model->number[k]);
	}
}

static KeyRange *
range_of(const Join *join, const ModelRange *model)
{
	KeyRange   *range = palloc0(sizeof(KeyRange));

	range->empty = model->empty;
	range->has_lower = model->lower.present;
	range->has_upper = model->upper.present;
	if (range->has_lower)
		bound_set(join, &model->lower, &range->lower);
	if (range->has_upper)
		bound_set(join, &model->upper, &range->upper);
	return range;
}

/* Everything, or a range, against the model. */
static void
join_check(Join *join, const ModelRange *range)
{
	MemoryContext old = MemoryContextSwitchTo(join->context);
	Model		model;

	join_read(join, range ? range_of(join, range) : NULL, -1);
	model_read(&model, join, range);
	join_compare(join, &model);
	MemoryContextSwitchTo(old);
}

/* ------------------------------------------------------------ by hand */

/*
 * Streams as text, "1=red 2=green 4", a value "-" or none at all being null; a
 * key of two columns is "1/a".  A stream that begins with "!" is read for its
 * keys alone, one with "*" may repeat keys; "+" is required, "?" looked up.
 */
static void
parse_stream(Join *join, int i, const char *text)
{
	MockStream *mock = &join->mocks[i];
	int			fields[] = {1};
	char	   *copy = pstrdup(text);
	bool		keys_only = false;
	StreamRole	role = STREAM_OUTER;
	char	   *rest;

	for (; *copy && strchr("!*+?", *copy); copy++)
	{
		if (*copy == '!')
			keys_only = true;
		else if (*copy == '+')
			role = STREAM_REQUIRED;
		else if (*copy == '?')
			role = STREAM_LOOKED_UP;
		else
			mock->spec.duplicates = DUPLICATES_ALL;
	}
	mock->rows = palloc0(sizeof(MockRow) * (strlen(text) + 1));
	for (char *token = strtok_r(copy, " ", &rest); token; token = strtok_r(NULL, " ", &rest))
	{
		MockRow    *row = &mock->rows[mock->nrows++];
		char	   *value = strchr(token, '=');
		char	   *second = strchr(token, '/');

		if (value)
			*value++ = '\0';
		if (second)
			*second++ = '\0';
		row->value = value ? value : "-";
		if (join->kind == KEY_BIGINT || join->kind == KEY_BIGINT_TEXT)
			row->number[0] = strtoll(token, NULL, 10);
		if (join->kind == KEY_TEXT_BIGINT)
			row->number[1] = strtoll(second, NULL, 10);
		if (join->kind != KEY_BIGINT)
			row->key = join->kind == KEY_BIGINT_TEXT ? second : token;
	}
	join_want(join, i, keys_only ? 0 : 1, fields);
	if (role != STREAM_OUTER)
		join->inputs[i].role = role;
}

static void
append(char **text, const char *piece)
{
	char	   *longer = palloc(strlen(*text) + strlen(piece) + 1);

	strcpy(longer, *text);
	strcat(longer, piece);
	*text = longer;
}

static void
append_datum(char **text, bool is_text, Datum datum)
{
	if (is_text)
		append(text, pnstrdup(VARDATA_ANY(DatumGetPointer(datum)), VARSIZE_ANY_EXHDR(DatumGetPointer(datum))));
	else
	{
		char		number[32];

		snprintf(number, sizeof(number), "%lld", (long long) DatumGetInt64(datum));
		append(text, number);
	}
}

/* "1 red - 87.9; 2 green 28 21.0" */
static char *
read_as_text(Join *join, const KeyRange *range)
{
	const MergeWindow *window;
	char	   *text = pstrdup("");

	outer_merge_start(join->merge, range);
	while ((window = outer_merge_next(join->merge)) != NULL)
	{
		for (int r = 0; r < window->nrows; r++)
		{
			int			slot = window->slot ? window->slot[r] : r;

			append(&text, text[0] ? "; " : "");
			for (int k = 0; k < join->key.ncolumns; k++)
			{
				append(&text, k > 0 ? "/" : "");
				append_datum(&text, k == text_column(join->kind), outer_merge_key(join->merge, r, k));
			}
			for (int i = 0; i < join->nstreams; i++)
			{
				int			position = window->position[i][slot];

				if (join->inputs[i].nvectors == 0)
					continue;
				append(&text, " ");
				if (join->inputs[i].vectors[0].isnull[position])
					append(&text, "-");
				else
					append_datum(&text, true, join->inputs[i].vectors[0].values[position]);
			}
		}
	}
	return text;
}

static Join *
join_by_hand(KeyKind kind, bool descending, int batch_rows, const char *const *streams)
{
	int			nstreams = 0;
	Join	   *join;

	while (streams[nstreams])
		nstreams++;
	join = join_create(kind, nstreams, batch_rows);
	join->descending[0] = descending;
	for (int i = 0; i < nstreams; i++)
		parse_stream(join, i, streams[i]);
	join_open(join);
	return join;
}

static int
compare_strings(const void *a, const void *b)
{
	return strcmp(*(char *const *) a, *(char *const *) b);
}

/* The rows in alphabetical order. */
static char *
sort_rows(const char *text)
{
	char	   *copy = pstrdup(text);
	char	  **rows = palloc(sizeof(char *) * (strlen(text) + 1));
	char	   *result = pstrdup("");
	int			n = 0;
	char	   *rest;

	for (char *row = strtok_r(copy, ";", &rest); row; row = strtok_r(NULL, ";", &rest))
		rows[n++] = row + (row[0] == ' ');
	(qsort) (rows, n, sizeof(char *), compare_strings);
	for (int i = 0; i < n; i++)
	{
		append(&result, i > 0 ? "; " : "");
		append(&result, rows[i]);
	}
	return result;
}

/*
 * The same result whatever the length of a batch.  The order of the rows of a
 * product is free, so the rows are sorted where a stream may repeat keys.
 */
static void
check_by_hand(KeyKind kind, bool descending, const char *const *streams, const char *expected,
			  const char *name)
{
	static const int batches[] = {1, 2, 3, 7, 100, MAX_BATCH_ROWS};

	for (size_t b = 0; b < lengthof(batches); b++)
	{
		Join	   *join = join_by_hand(kind, descending, batches[b], streams);
		bool		same = true;
		char	   *text;
		char	   *wanted;

		/* and once again */
		for (int again = 0; again < 2 && same; again++)
		{
			text = read_as_text(join, NULL);
			if (join->merge->repeats)
				text = sort_rows(text);
			wanted = join->merge->repeats ? sort_rows(expected) : pstrdup(expected);
			same = strcmp(text, wanted) == 0;
		}
		if (!same || b == lengthof(batches) - 1)
		{
			tap_is_string(text, wanted, name);
			if (!same)
				tap_note("batches of %d rows", batches[b]);
		}
		join_close(join);
		if (join->failure[0])
			tap_ok(false, "%s: %s", name, join->failure);
		join_delete(join);
		if (!same)
			break;
	}
}

#define STREAMS(...) ((const char *const[]) {__VA_ARGS__, NULL})

static void
test_small(void)
{
	check_by_hand(KEY_BIGINT, false,
				  STREAMS("1=red 2=green 4=red 6=blue", "2=28 3=9 4=17 6=11", "1=87.9 2=21.0 3=107"),
				  "1 red - 87.9; 2 green 28 21.0; 3 - 9 107; 4 red 17 -; 6 blue 11 -",
				  "colour, length and mass");
	check_by_hand(KEY_BIGINT, false, ((const char *const[]) {NULL}), "", "no stream");
	check_by_hand(KEY_BIGINT, false, STREAMS(""), "", "one stream without rows");
	check_by_hand(KEY_BIGINT, false, STREAMS("", "", ""), "", "all streams empty");
	check_by_hand(KEY_TEXT, false, STREAMS("", "*", ""), "", "all streams empty, repeats allowed");
	check_by_hand(KEY_BIGINT, false, STREAMS("1=a 2 3=c"), "1 a; 2 -; 3 c", "one stream");
	check_by_hand(KEY_BIGINT, false, STREAMS("!1 7 9"), "1; 7; 9", "one stream for its keys");
	check_by_hand(KEY_BIGINT, false, STREAMS("", "1=a", ""), "1 - a -", "one row between empty streams");
	check_by_hand(KEY_BIGINT, false, STREAMS("1=a 2=b", "1=c", "2=d 3=e"),
				  "1 a c -; 2 b - d; 3 - - e", "a key in the last stream only");
	check_by_hand(KEY_BIGINT, false, STREAMS("1 5=a", "1", "2"),
				  "1 - - -; 2 - - -; 5 a - -",
				  "a null makes a row as a value does");
	check_by_hand(KEY_BIGINT, false, STREAMS("1=a 3=b", "!2 3 4", "3=c"),
				  "1 a -; 2 - -; 3 b c; 4 - -", "a stream for its keys makes rows");
	check_by_hand(KEY_BIGINT, false, STREAMS("!1 3", "!2 3 40"), "1; 2; 3; 40", "keys and nothing else");
	check_by_hand(KEY_BIGINT, false, STREAMS("1=a 2=b 3=c", "1000001=x 1000002=y"),
				  "1 a -; 2 b -; 3 c -; 1000001 - x; 1000002 - y", "one after the other");
	check_by_hand(KEY_BIGINT, false, STREAMS("-5=a 1000=b 2000000=c", "-5=x 70000=y 2000000=z"),
				  "-5 a x; 1000 b -; 70000 - y; 2000000 c z", "far apart");
	check_by_hand(KEY_BIGINT, true, STREAMS("6=blue 4=red 2=green 1=red", "6=11 4=17 3=9 2=28", "3=107 2=21 1=87"),
				  "6 blue 11 -; 4 red 17 -; 3 - 9 107; 2 green 28 21; 1 red - 87", "descending");
	check_by_hand(KEY_BIGINT, true, STREAMS("900000=a 0=b -900000=c", "0=x -1=y"),
				  "900000 a -; 0 b x; -1 - y; -900000 c -", "descending, far apart");
	check_by_hand(KEY_BIGINT, false,
				  STREAMS("-9223372036854775808=a 9223372036854775807=b", "-9223372036854775807=c 0=d 9223372036854775807=e"),
				  "-9223372036854775808 a -; -9223372036854775807 - c; 0 - d; 9223372036854775807 b e",
				  "both ends of bigint");
	check_by_hand(KEY_BIGINT, true,
				  STREAMS("9223372036854775807=b -9223372036854775808=a", "9223372036854775807=e -9223372036854775807=c"),
				  "9223372036854775807 b e; -9223372036854775807 - c; -9223372036854775808 a -",
				  "both ends of bigint, descending");
	check_by_hand(KEY_TEXT, false, STREAMS("Abel=1 berta=2", "abel=3 Caesar=4", "BERTA=5 caesar=6"),
				  "Abel 1 3 -; berta 2 - 5; Caesar - 4 6", "the first stream's spelling");
	check_by_hand(KEY_TEXT, true, STREAMS("caesar=6 BERTA=5", "Caesar=4 abel=3"),
				  "caesar 6 4; BERTA 5 -; abel - 3", "text, descending");
	check_by_hand(KEY_BIGINT_TEXT, false, STREAMS("1/a=p 1/B=q 2/a=r", "1/b=s 2/A=t 2/c=u"),
				  "1/a p -; 1/B q s; 2/a r t; 2/c - u", "two key columns");
	check_by_hand(KEY_BIGINT_TEXT, true, STREAMS("2/a=r 1/a=p 1/B=q", "2/A=t 2/c=u 1/b=s"),
				  "2/a r t; 2/c - u; 1/a p -; 1/B q s", "two key columns, the first descending");
	check_by_hand(KEY_TEXT_BIGINT, false, STREAMS("a/1=p A/2=q", "A/1=r b/-1=s"),
				  "a/1 p r; A/2 q -; b/-1 - s", "two key columns, text first");
}

static void
test_repeats(void)
{
	check_by_hand(KEY_BIGINT, false, STREAMS("*1=x 1=y 2=z", "*1=p 1=q 3=r"),
				  "1 x p; 1 x q; 1 y p; 1 y q; 2 z -; 3 - r", "the product of two groups");
	check_by_hand(KEY_BIGINT, false, STREAMS("1=x 2=z", "*1=p 1=q 3=r", "!*2 2 2"),
				  "1 x p; 1 x q; 2 z -; 2 z -; 2 z -; 3 - r", "repeats of a stream for its keys");
	check_by_hand(KEY_BIGINT, false, STREAMS("*1=a 1=b", "", "*1=c 1 2"),
				  "1 a - c; 1 a - -; 1 b - c; 1 b - -; 2 - - -", "a stream without the key is no factor");
	check_by_hand(KEY_BIGINT, true, STREAMS("*2=a 1=b 1=c", "*2=d 2=e 1=f"),
				  "2 a d; 2 a e; 1 b f; 1 c f", "repeats, descending");
	check_by_hand(KEY_TEXT, false, STREAMS("*a=1 A=2 b=3", "*A=4 B=5 b=6"),
				  "a 1 4; A 2 4; b 3 5; b 3 6", "each row of the first stream spells its own key");
	check_by_hand(KEY_TEXT, false, STREAMS("b=1", "*!a A A b", "*a=2 B=3 b=4"),
				  "a - 2; A - 2; A - 2; b 1 3; b 1 4", "also one that is read for its keys");
	check_by_hand(KEY_BIGINT_TEXT, false, STREAMS("*1/a=p 1/A=q 1/b=r", "1/A=s 1/b=t 2/a=u", "*1/b=v 1/B=w"),
				  "1/a p s -; 1/A q s -; 1/b r t v; 1/b r t w; 2/a - u -", "repeats of two key columns");
	check_by_hand(KEY_BIGINT, false,
				  STREAMS("*1=a 1=b 1=c", "*1=d 1=e 1=f", "*1=g"),
				  "1 a d g; 1 a e g; 1 a f g; 1 b d g; 1 b e g; 1 b f g; 1 c d g; 1 c e g; 1 c f g" ,
				  "one group is all there is");
}


/* ------------------------------------------------------------ ranges, seeks, projection */

/* A stream of bigint keys start, start + stride, ... */
static void
fill_numbers(Join *join, int i, int nrows, int64 start, int64 stride)
{
	MockStream *mock = &join->mocks[i];

	mock->nrows = nrows;
	mock->rows = palloc0(sizeof(MockRow) * Max(nrows, 1));
	for (int r = 0; r < nrows; r++)
	{
		mock->rows[r].number[0] = start + r * stride;
		mock->rows[r].id = i * 100000 + r;
	}
}

static void
check_range_text(Join *join, const KeyRange *range, const char *expected, const char *name)
{
	tap_is_string(read_as_text(join, range), expected, name);
}

static void
test_ranges(void)
{
	Join	   *join = join_by_hand(KEY_BIGINT, false, 2,
									STREAMS("1=a 2=b 3=c 5=d 8=e", "2=p 3=q 4=r 9=s", "!6"));
	Datum		two = Int64GetDatum(2);
	Datum		five = Int64GetDatum(5);
	KeyRange	range = {.has_lower = true, .has_upper = true,
		.lower = {.ncolumns = 1, .inclusive = true, .image = 2, .values = &two},
	.upper = {.ncolumns = 1, .inclusive = true, .image = 5, .values = &five}};
	KeyRange	nothing = {.empty = true};

	check_range_text(join, &nothing, "", "an empty range");
	tap_is_int(join->mocks[0].batches + join->mocks[0].seeks, 0, "reads nothing and seeks nothing");
	check_range_text(join, NULL, "1 a -; 2 b p; 3 c q; 4 - r; 5 d -; 6 - -; 8 e -; 9 - s",
					 "everything");
	tap_is_int(join->mocks[0].seeks, 0, "a fresh merge has nothing to seek");
	check_range_text(join, &range, "2 b p; 3 c q; 4 - r; 5 d -", "2 to 5");
	tap_is_int(join->mocks[0].seeks, 1, "is a seek");
	range.lower.inclusive = range.upper.inclusive = false;
	check_range_text(join, &range, "3 c q; 4 - r", "both bounds excluded");
	range.has_lower = false;
	check_range_text(join, &range, "1 a -; 2 b p; 3 c q; 4 - r", "no lower bound");
	range.has_lower = true;
	range.has_upper = false;
	check_range_text(join, &range, "3 c q; 4 - r; 5 d -; 6 - -; 8 e -; 9 - s", "no upper bound");
	range.lower.image = 9;
	check_range_text(join, &range, "", "behind the last key");
	range.lower.inclusive = true;
	range.lower.image = 5;
	range.has_upper = true;
	range.upper.inclusive = true;
	check_range_text(join, &range, "5 d -", "one key");
	range.lower.image = range.upper.image = 7;
	check_range_text(join, &range, "", "one key that nobody has");
	range.lower.image = 6;
	range.upper.image = 4;
	check_range_text(join, &range, "", "bounds the wrong way round");
	check_range_text(join, &nothing, "", "an empty range again");
	check_range_text(join, NULL, "1 a -; 2 b p; 3 c q; 4 - r; 5 d -; 6 - -; 8 e -; 9 - s",
					 "everything again");
	join_close(join);
	join_delete(join);
}

/* What lies before a lower bound costs a seek, and no decoding. */
static void
test_lower_bound_seeks(void)
{
	Join	   *join = join_create(KEY_BIGINT, 2, 32);
	int			fields[] = {1};
	Datum		bound = Int64GetDatum(900);
	KeyRange	range = {.has_lower = true, .lower = {.ncolumns = 1, .inclusive = true, .image = 900, .values = &bound}};

	for (int i = 0; i < 2; i++)
	{
		fill_numbers(join, i, 1000, 0, 1);
		join_want(join, i, 1, fields);
		join->mocks[i].can_seek = i == 0;
	}
	join_open(join);
	join_read(join, &range, -1);
	tap_is_int(join->nrows, 100, "rows from a lower bound on");
	tap_ok(join->mocks[0].seeks == 1 && join->mocks[1].seeks == 1, "a fresh merge seeks it");
	tap_ok(join->mocks[0].batches < 10, "nearly all batches before it were passed over");
	tap_ok(join->mocks[0].decoded == 100 && join->mocks[1].decoded == 100, "nothing before it is decoded");
	join_close(join);
	join_delete(join);
}

static void
test_range_of_text(void)
{
	Join	   *join = join_by_hand(KEY_TEXT_BIGINT, false, 3,
									STREAMS("*a/1=1 B/1=2 b/1=3 b/2=4 c/1=5", "A/1=6 B/2=7 B/3=8 d/1=9"));
	char		space[TEXT_SPACE] pg_attribute_aligned(8);
	Datum		values[2] = {set_text(space, "b"), Int64GetDatum(1)};
	KeyRange	range = {.has_lower = true, .has_upper = true,
		.lower = {.ncolumns = 1, .inclusive = true, .values = values},
	.upper = {.ncolumns = 1, .inclusive = true, .values = values}};

	check_range_text(join, &range, "B/1 2 -; b/1 3 -; b/2 4 7; B/3 - 8", "all keys with a prefix");
	range.has_upper = false;
	range.lower.inclusive = false;
	check_range_text(join, &range, "c/1 5 -; d/1 - 9", "behind a prefix");
	range.has_upper = true;
	range.has_lower = false;
	range.upper.inclusive = false;
	check_range_text(join, &range, "a/1 1 6", "before a prefix");
	range.has_lower = true;
	range.lower.ncolumns = 2;
	range.upper.inclusive = true;
	check_range_text(join, &range, "b/2 4 7; B/3 - 8", "a key excluded, its prefix included");
	join_close(join);
	join_delete(join);
}

static void
test_upper_bound_stops(void)
{
	Join	   *join = join_create(KEY_BIGINT, 2, 10);
	int			fields[] = {0};
	Datum		bound = Int64GetDatum(25);
	KeyRange	range = {.has_upper = true, .upper = {.ncolumns = 1, .inclusive = true, .image = 25, .values = &bound}};

	for (int i = 0; i < 2; i++)
	{
		fill_numbers(join, i, 1000, 0, 1);
		join_want(join, i, 1, fields);
	}
	join_open(join);
	join_read(join, &range, -1);
	tap_is_int(join->nrows, 26, "rows up to an upper bound");
	tap_ok(join->mocks[0].batches == 3 && join->mocks[1].batches == 3, "no batch is read beyond it");
	join_close(join);
	join_delete(join);
}

/* Fields in any order, or none; a row is decoded once, and only where asked for. */
static void
test_projection(void)
{
	Join	   *join = join_create(KEY_BIGINT, 4, 16);
	int			backwards[] = {2, 0};
	int			all[] = {0, 1, 2};
	int			text[] = {1};

	join_want(join, 0, 2, backwards);
	join_want(join, 1, 0, NULL);
	join_want(join, 2, 3, all);
	join_want(join, 3, 1, text);
	fill_numbers(join, 0, 300, 0, 3);
	fill_numbers(join, 1, 100, -50, 9);
	fill_numbers(join, 2, 200, 7, 2);
	fill_numbers(join, 3, 50, 100, 4);
	join_open(join);
	join_check(join, NULL);
	join_check(join, NULL);
	tap_ok(join->failure[0] == '\0', "fields in another order, some, none: %s", join->failure);
	join_close(join);
	join_delete(join);
}

/* One stream's rows run far ahead of the other's. */
static void
test_galloping(void)
{
	for (int lead = 20; lead <= 400; lead += lead < 80 ? 1 : 37)
	{
		Join	   *join = join_create(lead % 2 ? KEY_BIGINT : KEY_TEXT, 3, 256);
		int			fields[] = {0, 1};

		for (int i = 0; i < 3; i++)
			join_want(join, i, 2, fields);
		fill_numbers(join, 0, 1000, 0, 1);
		fill_numbers(join, 1, 20, lead, 50);
		fill_numbers(join, 2, 20, 100000, 1);
		join_open(join);
		join_check(join, NULL);
		join_close(join);
		if (join->failure[0] || lead == 376)
			tap_ok(join->failure[0] == '\0', "a stream far behind the others: %s", join->failure);
		join_delete(join);
	}
}

/* Rows near each other at either end of bigint. */
static void
test_ends_of_bigint(void)
{
	for (int descending = 0; descending < 2; descending++)
	{
		for (int high = 0; high < 2; high++)
		{
			for (int stride = 1; stride <= 1000; stride *= 10)
			{
				Join	   *join = join_create(KEY_BIGINT, 12, 64);
				int			fields[] = {0};

				join->descending[0] = descending;
				for (int i = 0; i < 12; i++)
				{
					MockStream *mock = &join->mocks[i];
					int64		nrows = 200 + i;
					int64		step = stride * (i % 3 + 1);

					join_want(join, i, 1, fields);
					fill_numbers(join, i, nrows, high ? PG_INT64_MAX - step * (nrows - 1) : PG_INT64_MIN, step);
					model_descending = join->descending;
					(qsort) (mock->rows, mock->nrows, sizeof(MockRow), compare_mock_rows);
				}
				join_open(join);
				join_check(join, NULL);
				join_close(join);
				tap_ok(join->failure[0] == '\0', "%s end of bigint, %s, stride %d: %s", high ? "upper" : "lower",
					   descending ? "descending" : "ascending", stride, join->failure);
				join_delete(join);
			}
		}
	}
}

/* As many streams as a table may have columns. */
static void
test_many_streams(void)
{
	static const char *const shapes[] = {"the same keys", "keys of their own", "near keys, interleaved", "keys far apart"};

	for (int shape = 0; shape < 4; shape++)
	{
		Join	   *join = join_create(shape == 3 ? KEY_TEXT : KEY_BIGINT, 1590, 16);
		int			fields[] = {0};

		for (int i = 0; i < join->nstreams; i++)
		{
			join_want(join, i, i % 7 == 3 ? 0 : 1, fields);
			join->mocks[i].whole_batches = i % 2 == 0;
			if (shape == 0)
				fill_numbers(join, i, 40, 0, 10007);
			else if (shape == 1)
				fill_numbers(join, i, i % 3, i * INT64CONST(1000003), 5);
			else if (shape == 2)
				fill_numbers(join, i, i % 3, i / 2, 100);
			else
				fill_numbers(join, i, i % 3, i / 3 * 1000, 300);
		}
		join_open(join);
		join_check(join, NULL);
		join_close(join);
		tap_ok(join->failure[0] == '\0', "1590 streams with %s: %s", shapes[shape], join->failure);
		join_delete(join);
	}
}

/* ------------------------------------------------------------ groups */

/* Groups that are larger than a batch, a window and their share of memory. */
static void
test_large_groups(void)
{
	static const struct
	{
		KeyKind		kind;
		int			batch_rows;
		int			rows[3];	/* of key 5, by stream */
		int			wanted[3];	/* fields, by stream */
	}			cases[] = {
		{KEY_BIGINT, 8, {100, 1, 0}, {3, 3, 1}},
		{KEY_BIGINT, 8, {1, 100, 7}, {2, 3, 1}},
		{KEY_BIGINT, 64, {50, 60, 3}, {1, 2, 1}},
		{KEY_BIGINT, 64, {200, 70, 2}, {1, 2, 0}},
		{KEY_BIGINT, 16, {40, 40, 17}, {0, 1, 0}},
		{KEY_BIGINT, 16, {40, 40, 3}, {0, 0, 0}},
		{KEY_BIGINT, 1, {5, 4, 3}, {1, 1, 1}},
		{KEY_TEXT, 8, {100, 3, 1}, {3, 3, 1}},
		{KEY_TEXT, 8, {100, 3, 20}, {0, 3, 1}},
		{KEY_TEXT, 64, {30, 60, 3}, {1, 2, 1}},
		{KEY_TEXT_BIGINT, 8, {0, 30, 20}, {1, 0, 1}},
		{KEY_BIGINT_TEXT, 32, {31, 32, 33}, {1, 1, 1}},
		{KEY_BIGINT, 4096, {20000, 2, 1}, {3, 2, 1}},
		{KEY_TEXT, 512, {5000, 3, 0}, {1, 0, 1}}
	};

	for (size_t c = 0; c < lengthof(cases); c++)
	{
		Join	   *join = join_create(cases[c].kind, 3, cases[c].batch_rows);
		int			fields[] = {1, 0, 2};

		for (int i = 0; i < 3; i++)
		{
			MockStream *mock = &join->mocks[i];

			join_want(join, i, cases[c].wanted[i], fields);
			mock->spec.duplicates = i == 2 && cases[c].rows[i] <= 1 ? DUPLICATES_ERROR : DUPLICATES_ALL;
			mock->whole_batches = c % 2 == 0;
			fill_numbers(join, i, cases[c].rows[i] + 8, 1, 1);
			for (int r = 0; r < mock->nrows; r++)
			{
				/* 1 2 3 4 5 5 5 5 6 7 8 9 */
				mock->rows[r].number[0] = r < 4 ? r + 1 : Max(r - cases[c].rows[i] + 2, 5);
				if (r >= 4 + cases[c].rows[i])
					mock->rows[r].number[0] = r - cases[c].rows[i] + 2;
				mock->rows[r].spelling = cases[c].kind == KEY_BIGINT ? 0 : random_below(256);
			}
		}
		join_open(join);
		join_check(join, NULL);
		/* leave a product in the middle, and start again */
		join_read(join, NULL, 6);
		join_check(join, NULL);
		join_read(join, NULL, 6);
		join_close(join);
		tap_ok(join->failure[0] == '\0', "groups of %d, %d and %d rows in batches of %d: %s",
			   cases[c].rows[0], cases[c].rows[1], cases[c].rows[2], cases[c].batch_rows, join->failure);
		join_delete(join);
	}
	tap_ok(server_stub_spills > 0, "a group has outgrown its memory");
}

/* ------------------------------------------------------------ required inputs */

static void
test_required(void)
{
	check_by_hand(KEY_BIGINT, false,
				  STREAMS("+1=red 2=green 4=red 6=blue", "?2=28 3=9 4=17 6=11", "?1=87.9 2=21.0 3=107"),
				  "1 red - 87.9; 2 green 28 21.0; 4 red 17 -; 6 blue 11 -",
				  "colour required");
	check_by_hand(KEY_BIGINT, false,
				  STREAMS("+1=red 2=green 4=red 6=blue", "+2=28 3=9 4=17 6=11", "?1=87.9 2=21.0 3=107"),
				  "2 green 28 21.0; 4 red 17 -; 6 blue 11 -", "two of three required");
	check_by_hand(KEY_BIGINT, false,
				  STREAMS("+1=red 2=green 4=red 6=blue", "+2=28 3=9 4=17 6=11", "+1=87.9 2=21.0 3=107"),
				  "2 green 28 21.0", "all required");
	check_by_hand(KEY_BIGINT, false, STREAMS("?1=a 2=b", "+", "?1=c"), "", "an empty one required");
	check_by_hand(KEY_BIGINT, false, STREAMS("+1=a 3=b", "+2=c 4=d"), "", "no key in common");
	check_by_hand(KEY_BIGINT, false, STREAMS("!+1 3 7", "?3 7=c", "!+3 7 9"), "3 -; 7 c",
				  "required for their keys");
	check_by_hand(KEY_BIGINT, false,
				  STREAMS("+-9223372036854775808=a 0=b 9223372036854775807=c", "?-9223372036854775808=d 9223372036854775807=e",
						  "+-9223372036854775808=f 1 9223372036854775807=g"),
				  "-9223372036854775808 a d f; 9223372036854775807 c e g", "required at both ends of bigint");
	check_by_hand(KEY_BIGINT, true, STREAMS("+9=a 5=b 1=c", "?9=d 1=e", "+5=f 1=g"), "5 b - f; 1 c e g",
				  "required, descending");
	check_by_hand(KEY_TEXT, false, STREAMS("?Abel=1 berta=2", "+abel=3 Caesar=4 dora=7", "?BERTA=5 caesar=6"),
				  "Abel 1 3 -; Caesar - 4 6; dora - 7 -", "the spelling of one that is looked up");
	check_by_hand(KEY_TEXT, false, STREAMS("+a=1 b=2", "?A=3", "+A=4 B=5"), "a 1 3 4; b 2 - 5",
				  "the spelling of one that is required");
	check_by_hand(KEY_BIGINT, false, STREAMS("*+1=x 1=y 2=z 4=v", "*?1=p 1=q 3=r", "+1=s 2=t 3=u"),
				  "1 x p s; 1 x q s; 1 y p s; 1 y q s; 2 z - t", "products of required groups");
	check_by_hand(KEY_TEXT, false, STREAMS("*?a=1 A=2 b=3", "+a=4 c=5", "*?c=6 C=7"),
				  "a 1 4 -; A 2 4 -; c - 5 6; c - 5 7", "repeats that are looked up");
}

/* A few keys find their partners by seeks, and only they are decoded. */
static void
test_leapfrog(void)
{
	for (int can_seek = 0; can_seek < 2; can_seek++)
	{
		Join	   *join = join_create(KEY_BIGINT, 3, 16);
		int			fields[] = {0};

		for (int i = 0; i < 3; i++)
		{
			join_want(join, i, 1, fields);
			join->inputs[i].role = i < 2 ? STREAM_REQUIRED : STREAM_LOOKED_UP;
			join->mocks[i].can_seek = can_seek;
		}
		fill_numbers(join, 0, 5, 100, 30000);
		fill_numbers(join, 1, 200000, 0, 1);
		fill_numbers(join, 2, 100000, 0, 2);
		join_open(join);
		join_check(join, NULL);
		tap_ok(join->failure[0] == '\0' && join->nrows == 5, "a few keys in many: %s", join->failure);
		tap_ok(join->mocks[1].decoded < 100 && join->mocks[2].decoded < 100, "few rows are decoded");
		if (can_seek)
			tap_ok(join->mocks[1].batches < 60 && join->mocks[2].batches < 60 &&
				   join->mocks[1].seeks >= 4, "a key far ahead is sought");
		else
			tap_ok(join->mocks[1].seeks == 0, "not where that means reading from the top");
		join_close(join);
		join_delete(join);
	}
}

/* ------------------------------------------------------------ at random */

typedef enum Density
{
	DENSITY_ALL,				/* every key of the round */
	DENSITY_HALF,
	DENSITY_RARE,
	DENSITY_STRIDE,				/* keys that no other such stream has */
	DENSITY_BLOCK,				/* as well, one after the other */
	DENSITY_RUNS,				/* some in a row, then none for a while */
	DENSITY_TAIL,
	DENSITY_ONE,
	DENSITY_NONE,
	NDENSITIES
} Density;

typedef struct Round
{
	Join	   *join;
	bool		repeats;
	int			nkeys;
	MockRow    *keys;			/* those that streams choose from, in stream order */
	int		   *product;		/* rows of the result by key */
	int64		cells;			/* in the result so far */
} Round;

/* How far the next key is from the last one. */
static int64
random_gap(int style)
{
	switch (style)
	{
		case 0:
			return 1;
		case 1:
			return 1 + random_below(3);
		case 2:
			return 1 + random_below(200);
		case 3:
			return 1 + random_below(1 << 17);
		case 4:
			/* clusters */
			return one_in(50) ? 1 + random_below(1 << 22) : 1;
		default:
			return 1 + (random_below(4) == 0 ? random_below(100) : random_below(2));
	}
}

static void
make_keys(Round *round)
{
	Join	   *join = round->join;
	int			style = random_below(6);
	bool		bigint = join->kind == KEY_BIGINT;
	bool		huge = bigint && one_in(5);
	int64		number = bigint ? random_below(1000) - 500 : random_below(1000);
	int			turn = -1;
	int			kept = 0;

	/* both ends of bigint, half of the keys at each */
	if (bigint && one_in(6))
	{
		number = PG_INT64_MIN;
		turn = random_below(round->nkeys);
		style = random_below(2);
		huge = false;
	}
	round->keys = palloc0(sizeof(MockRow) * round->nkeys);
	for (int u = 0; u < round->nkeys; u++)
	{
		MockRow    *row = &round->keys[u];

		if (u == turn)
			number = PG_INT64_MAX - 3 * (round->nkeys - u);
		row->number[0] = number;
		if (join->key.ncolumns == 2)
		{
			row->number[0] = number / 4;
			row->number[1] = number % 4;
		}
		number += random_gap(style) * (huge ? INT64CONST(1) << 32 : 1);
	}
	model_descending = join->descending;
	(qsort) (round->keys, round->nkeys, sizeof(MockRow), compare_mock_rows);
	for (int u = 0; u < round->nkeys; u++)
	{
		if (kept == 0 || compare_rows(&round->keys[kept - 1], &round->keys[u]) != 0)
			round->keys[kept++] = round->keys[u];
	}
	round->nkeys = kept;
	round->product = palloc0(sizeof(int) * round->nkeys);
}

static bool
chooses(Density density, int stream, int nstreams, int key, int nkeys, int *run)
{
	switch (density)
	{
		case DENSITY_ALL:
			return true;
		case DENSITY_HALF:
			return one_in(2);
		case DENSITY_RARE:
			return one_in(40);
		case DENSITY_STRIDE:
			return key % nstreams == stream;
		case DENSITY_BLOCK:
			return (int64) key * nstreams / nkeys == stream;
		case DENSITY_RUNS:
			if (*run == 0)
				*run = random_below(200) - 100;
			*run -= *run > 0 ? 1 : -1;
			return *run > 0;
		case DENSITY_TAIL:
			return key >= nkeys - nkeys / 10 - 1;
		case DENSITY_ONE:
			return key == (int) ((int64) stream * nkeys / nstreams);
		default:
			return false;
	}
}

/* How often a stream has the key, bounded by what the product may grow to. */
static int
random_repeats(const Round *round, const MockStream *mock, int key)
{
	int64		n = 1;

	if (mock->spec.duplicates == DUPLICATES_ALL)
	{
		if (one_in(4))
			n = 1 + random_below(4);
		else if (one_in(60))
			n = 1 + random_below(Min(3 * round->join->batch_rows, 400));
		if (Max(round->product[key], 1) * n > 3000 ||
			round->cells + n * Max(round->product[key], 1) * round->join->width > 500000)
			n = 1;
	}
	return (int) n;
}

static void
make_rows(Round *round, int i, Density density)
{
	MockStream *mock = &round->join->mocks[i];
	int			capacity = round->nkeys + 1;
	int			run = 0;

	mock->rows = palloc(sizeof(MockRow) * capacity);
	for (int u = 0; u < round->nkeys; u++)
	{
		int			n;

		if (!chooses(density, i, round->join->nstreams, u, round->nkeys, &run))
			continue;
		n = random_repeats(round, mock, u);
		round->cells += (Max(round->product[u], 1) * n - round->product[u]) * round->join->width;
		round->product[u] = Max(round->product[u], 1) * n;
		for (; n > 0; n--)
		{
			static int	next_id = 1;
			MockRow    *row;

			if (mock->nrows == capacity)
			{
				capacity *= 2;
				mock->rows = repalloc(mock->rows, sizeof(MockRow) * capacity);
			}
			row = &mock->rows[mock->nrows++];
			*row = round->keys[u];
			row->spelling = text_column(round->join->kind) >= 0 ? random_below(256) : 0;
			row->id = next_id++ % 100000000;
		}
	}
}

static int
random_fields(int *fields)
{
	int			n = one_in(4) ? 0 : 1 + random_below(one_in(3) ? MAX_FIELDS : 1);
	int			first = random_below(MAX_FIELDS);

	for (int v = 0; v < n; v++)
		fields[v] = (first + 2 * v) % MAX_FIELDS;
	return n;
}

/* Some required, some of them tested; of the others those not read that can be. */
static void
make_roles(Join *join)
{
	int			first = random_below(join->nstreams);
	int			often = 1 + random_below(6);

	for (int i = 0; i < join->nstreams; i++)
	{
		MergeInput *input = &join->inputs[i];
		MockStream *mock = &join->mocks[i];

		if (i == first || (i > first && one_in(often)))
		{
			input->role = STREAM_REQUIRED;
			mock->tests.ntests = one_in(3) ? 1 : 0;
			mock->tested = random_below(MAX_FIELDS);
		}
		else if (input->nvectors == 0 && mock->spec.duplicates != DUPLICATES_ALL &&
				 (join->kind == KEY_BIGINT || i > first))
			input->role = STREAM_NOT_READ;
		else
			input->role = STREAM_LOOKED_UP;
	}
}

static void
make_round(Round *round, int nstreams, int batch_rows, int nkeys)
{
	Join	   *join = join_create(random_below(2) ? KEY_BIGINT : random_below(4), nstreams, batch_rows);
	Density		density = random_below(NDENSITIES);
	bool		skewed = one_in(2);

	memset(round, 0, sizeof(Round));
	round->join = join;
	round->repeats = one_in(3);
	round->nkeys = nkeys;
	join->descending[0] = one_in(3);
	join->descending[1] = one_in(3);
	join->shift = one_in(2) ? 63 : random_below(2) * 4;
	for (int i = 0; i < nstreams; i++)
	{
		MockStream *mock = &join->mocks[i];
		int			fields[MAX_FIELDS];
		int			n = random_fields(fields);

		join_want(join, i, n, fields);
		mock->whole_batches = one_in(2);
		mock->can_seek = one_in(2);
		mock->seek_rows = one_in(2) ? 0 : random_below(300);
		mock->spec.duplicates = random_below(round->repeats ? 4 : 3);
		if (round->repeats && one_in(2))
			mock->spec.duplicates = DUPLICATES_ALL;
	}
	if (one_in(2))
		make_roles(join);
	join_open(join);
	make_keys(round);
	for (int i = 0; i < nstreams; i++)
		make_rows(round, i, skewed ? (Density) random_below(NDENSITIES) : density);
}

static void
random_bound(const Round *round, ModelBound *bound)
{
	const MockRow *key = &round->keys[random_below(round->nkeys)];

	bound->present = !one_in(4);
	bound->inclusive = one_in(2);
	bound->ncolumns = 1 + random_below(round->join->key.ncolumns);
	memcpy(bound->number, key->number, sizeof(bound->number));
	/* often not a key */
	if (one_in(2) && bound->number[bound->ncolumns - 1] < PG_INT64_MAX)
		bound->number[bound->ncolumns - 1]++;
}

/* Read the range, but not to its end. */
static void
join_read_some(Join *join, const ModelRange *range)
{
	join_read(join, range_of(join, range), random_below(3));
}

static void
check_round(Round *round)
{
	int			reads = one_in(4) ? 20 : 1 + random_below(3);
	bool		points = one_in(2);

	for (int n = 0; n < reads; n++)
	{
		ModelRange	range = {.empty = one_in(20)};

		random_bound(round, &range.lower);
		random_bound(round, &range.upper);
		/* as a join looks for one key after the other */
		if (points && !one_in(4))
		{
			range.lower.inclusive = true;
			range.upper = range.lower;
		}
		/* which may leave it before its end */
		if (one_in(4))
			join_read_some(round->join, &range);
		if (one_in(4))
			join_read(round->join, NULL, random_below(5));
		join_check(round->join, n == 0 && one_in(2) ? NULL : &range);
	}
}

static void
set_part_bound(const Join *join, const MockRow *key, bool inclusive, ModelBound *bound)
{
	bound->present = true;
	bound->inclusive = inclusive;
	bound->ncolumns = join->key.ncolumns;
	memcpy(bound->number, key->number, sizeof(bound->number));
}

/* Where one part ends, the next one has to begin. */
static void
check_places(Join *join, bool follows, int64 *ends)
{
	for (int i = 0; i < join->nstreams; i++)
	{
		int64		begins;
		int64		last = ends[i];

		outer_merge_places(join->merge, i, &begins, &ends[i]);
		if (follows && begins != last)
			join_fail(join, "stream %d: a part begins at %lld, the one before ended at %lld",
					  i, (long long) begins, (long long) last);
	}
}

/* Some of the parts that the keys divide everything into, ascending. */
static void
check_parts(Round *round)
{
	Join	   *join = round->join;
	MemoryContext old = MemoryContextSwitchTo(join->context);
	int			nbounds = 1 + random_below(12);
	MockRow    *bounds = palloc(sizeof(MockRow) * nbounds);
	int64	   *ends = palloc(sizeof(int64) * join->nstreams);
	bool		started = false;
	bool		follows = false;

	for (int b = 0; b < nbounds; b++)
		bounds[b] = round->keys[random_below(round->nkeys)];
	model_descending = join->descending;
	qsort(bounds, nbounds, sizeof(MockRow), compare_mock_rows);
	for (int p = 0; p <= nbounds; p++)
	{
		ModelRange	part = {0};
		Model		model;
		KeyRange   *range;

		if (one_in(3))
		{
			follows = false;
			continue;
		}
		if (p > 0)
			set_part_bound(join, &bounds[p - 1], true, &part.lower);
		if (p < nbounds)
			set_part_bound(join, &bounds[p], false, &part.upper);
		range = range_of(join, &part);
		if (started)
			outer_merge_advance(join->merge, range, follows);
		else
			outer_merge_start(join->merge, range);
		join_read_on(join, -1);
		model_read(&model, join, &part);
		join_compare(join, &model);
		check_places(join, follows, ends);
		started = follows = true;
	}
	MemoryContextSwitchTo(old);
}

static void
run_round(void *argument)
{
	Round	   *round = argument;

	if (one_in(4))
		check_parts(round);
	check_round(round);
	if (one_in(4))
		check_parts(round);
	join_close(round->join);
}

static bool
test_round(uint64 seed, int number, const char *name, int nstreams, int batch_rows, int nkeys)
{
	int			contexts = server_stub_contexts();
	size_t		allocated = server_stub_allocated();
	Round		round;
	Join	   *join;
	bool		passed;

	random_state = (seed + number) * UINT64CONST(0x9E3779B97F4A7C15) + 1;
	for (int i = 0; i < 10; i++)
		random_next();
	make_round(&round, nstreams, batch_rows, nkeys);
	join = round.join;
	if (!server_stub_try(run_round, &round))
		join_fail(join, "%s", server_stub_error.message);
	passed = join->failure[0] == '\0';
	if (!passed)
		tap_note("%s, seed %llu: %s (%d streams, batches of %d, %d keys of kind %d%s%s, %s)", name,
				 (unsigned long long) (seed + number), join->failure, nstreams, batch_rows, round.nkeys,
				 join->kind, join->descending[0] ? ", descending" : "", join->descending[1] ? ", second too" : "",
				 round.repeats ? "repeats" : "no repeats");
	join_delete(join);
	if (passed && (server_stub_contexts() != contexts || server_stub_allocated() != allocated))
	{
		tap_note("%s, seed %llu: memory was left", name, (unsigned long long) (seed + number));
		passed = false;
	}
	return passed;
}

static const int batch_lengths[] = {1, 2, 3, 5, 8, 16, 33, 64, 100, 256, 1000, 4096};

static void
test_random(uint64 seed, int rounds)
{
	int			failed = 0;

	for (int n = 0; n < rounds && failed < 10; n++)
	{
		/* the round's own seed decides the rest */
		random_state = (seed + n) * UINT64CONST(0xD1342543DE82EF95) + 1;
		for (int i = 0; i < 10; i++)
			random_next();
		failed += !test_round(seed, n, "random join", 1 + random_below(one_in(2) ? 6 : 40),
							  batch_lengths[random_below(lengthof(batch_lengths))],
							  1 + random_below(one_in(2) ? 50 : 1200));
	}
	tap_ok(failed == 0, "%d random joins", rounds);

	failed = 0;
	for (int n = 0; n < rounds / 40; n++)
		failed += !test_round(seed, n, "large join", 1 + n % 4, 4096, 20000);
	tap_ok(failed == 0, "%d random joins of long batches", rounds / 40);

	failed = 0;
	for (int n = 0; n < rounds / 40; n++)
		failed += !test_round(seed, n, "wide join", 200, batch_lengths[n % lengthof(batch_lengths)], 150);
	tap_ok(failed == 0, "%d random joins of 200 streams", rounds / 40);
}

/* ------------------------------------------------------------ errors */

static void
read_on(void *argument)
{
	while (outer_merge_next(argument) != NULL)
		;
}

static void
test_cancel(void)
{
	Join	   *join = join_by_hand(KEY_BIGINT, false, 1, STREAMS("*1 1 1", "*1 1"));

	outer_merge_start(join->merge, NULL);
	InterruptPending = QueryCancelPending = true;
	tap_ok(!server_stub_try(read_on, join->merge) &&
		   server_stub_error.sqlerrcode == ERRCODE_QUERY_CANCELED, "a cancel is obeyed");
	outer_merge_start(join->merge, NULL);
	outer_merge_next(join->merge);
	InterruptPending = QueryCancelPending = true;
	tap_ok(!server_stub_try(read_on, join->merge) &&
		   server_stub_error.sqlerrcode == ERRCODE_QUERY_CANCELED, "a cancel is obeyed in a product");
	join_close(join);
	join_delete(join);
}

int
main(int argc, char **argv)
{
	int			rounds = argc > 2 ? atoi(argv[2]) : 2500;
	uint64		seed;

	server_stub_init();
	seed = random_begin(argc, argv);

	test_small();
	test_repeats();
	test_ranges();
	test_lower_bound_seeks();
	test_range_of_text();
	test_upper_bound_stops();
	test_projection();
	test_galloping();
	test_ends_of_bigint();
	test_many_streams();
	test_large_groups();
	test_required();
	test_leapfrog();
	test_cancel();
	test_random(seed, rounds);
	tap_note("%lld windows: %lld dense with gaps, %lld straight, %lld in parts, %lld of products",
			 (long long) windows_all, (long long) windows_dense_gaps, (long long) windows_straight,
			 (long long) windows_in_parts, (long long) windows_product);
	tap_ok(windows_required > 0 && seeks_required > 0, "%lld windows of required streams, %lld seeks",
		   (long long) windows_required, (long long) seeks_required);
	tap_ok(windows_dense_gaps > 0 && windows_straight > 0 && windows_in_parts > 0 && windows_product > 0,
		   "every kind of window was seen");
	return tap_done();
}
