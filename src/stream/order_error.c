/*-------------------------------------------------------------------------
 *
 * order_error.c
 *	  What to tell a person whose file is not in order.
 *
 * The message names the place, the detail both keys, the hint what most
 * likely happened, judged by the batch at hand:
 *
 *	integers whose decimal texts ascend		sorted as text
 *	one column the wrong way, always		sorted the other way
 *	texts whose bytes ascend				sorted bytewise, not by the collation
 *
 * A file read from its end is talked of in its own order: its batch is turned
 * round first.
 *
 * This is off the hot path: it may look at everything twice.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "compat.h"

#include "catalog/pg_type_d.h"
#include "lib/stringinfo.h"

#include "stream/layers.h"

/* 'file "a.csv", row 3, line 4', as far as it is known */
static char *
row_text(ColumnStream *base, int row)
{
	RowLocation location = {NULL, 0, 0};
	StringInfoData text;

	base->methods->locate(base, row, &location);
	initStringInfo(&text);
	if (base->spec->program != NULL)
		appendStringInfo(&text, "program \"%s\"", base->spec->program);
	else
		appendStringInfo(&text, "file \"%s\"", location.file != NULL ? location.file : "?");
	if (location.row > 0)
		appendStringInfo(&text, ", row %lld", (long long) location.row);
	if (location.line > 0)
		appendStringInfo(&text, ", line %lld", (long long) location.line);
	return text.data;
}

static bool
is_string(Oid type)
{
	return type == TEXTOID || type == VARCHAROID || type == BPCHAROID;
}

static bool
decimal_texts_ascend(int64 a, int64 b)
{
	char		x[32];
	char		y[32];

	snprintf(x, sizeof(x), "%lld", (long long) a);
	snprintf(y, sizeof(y), "%lld", (long long) b);
	return strcmp(x, y) <= 0;
}

static bool
looks_sorted_as_text(const Key *key, const ColumnBatch *look, const ColumnBatch *batch, int row,
					 const ColumnBatch *previous, int before)
{
	if (!key->exact || !key_type_is_integer(key->columns[0].type))
		return false;
	if (!decimal_texts_ascend((int64) key_datum(key, previous, before, 0),
							  (int64) key_datum(key, batch, row, 0)))
		return false;
	for (int i = 1; i < look->nrows; i++)
	{
		if (!decimal_texts_ascend((int64) key_datum(key, look, i - 1, 0),
								  (int64) key_datum(key, look, i, 0)))
			return false;
	}
	return true;
}

/* The first key column in which two keys differ; -1: none. */
static int
deciding_column(const Key *key, const ColumnBatch *a, int i, const ColumnBatch *b, int j)
{
	for (int c = 0; c < key->ncolumns; c++)
	{
		if (key_compare_column(&key->columns[c], key_datum(key, a, i, c), key_datum(key, b, j, c)) != 0)
			return c;
	}
	return -1;
}

/* Would the batch be in order with one key column the other way round? */
static bool
looks_reversed(const Key *key, const ColumnBatch *batch, int column)
{
	for (int i = 1; i < batch->nrows; i++)
	{
		int			order = key_compare(key, batch, i - 1, batch, i);

		if (order != 0 &&
			(order > 0) != (deciding_column(key, batch, i - 1, batch, i) == column))
			return false;
	}
	return true;
}

/* Is this column, which decides between two keys, one of text whose bytes are in order? */
static bool
looks_sorted_bytewise(const Key *key, const ColumnBatch *batch, int row,
					  const ColumnBatch *previous, int before, int deciding)
{
	const KeyColumn *column = &key->columns[deciding];
	struct varlena *a;
	struct varlena *b;
	int			order;

	if (key->exact || !is_string(column->type))
		return false;
	a = (struct varlena *) DatumGetPointer(previous->key[deciding][before]);
	b = (struct varlena *) DatumGetPointer(batch->key[deciding][row]);
	order = memcmp(VARDATA_ANY(a), VARDATA_ANY(b),
				   Min(VARSIZE_ANY_EXHDR(a), VARSIZE_ANY_EXHDR(b)));
	if (order == 0)
		order = VARSIZE_ANY_EXHDR(a) < VARSIZE_ANY_EXHDR(b) ? -1 : 1;
	return column->descending ? order > 0 : order < 0;
}

/* What the person can do, going by what most likely happened, as the batch "look" shows. */
static const char *
advice(const Key *key, const ColumnBatch *look, const ColumnBatch *batch, int row,
	   const ColumnBatch *previous, int before)
{
	int			deciding = Max(deciding_column(key, previous, before, batch, row), 0);
	const KeyColumn *column = &key->columns[deciding];

	if (looks_sorted_bytewise(key, batch, row, previous, before, deciding))
		return psprintf("The file looks sorted bytewise: declare column \"%s\" with COLLATE \"C\", or set the option \"sorted\" to \"false\".",
						column->name);
	if (!column->descending && looks_sorted_as_text(key, look, batch, row, previous, before))
		return "The file looks sorted as text; set the option \"sorted\" to \"false\" to have the keys sorted while they are read.";
	if (look->nrows > 1 && looks_reversed(key, look, deciding))
		return psprintf("The file looks sorted in %s order: set the option \"descending\" to \"%s\" on column \"%s\", or the option \"sorted\" to \"false\".",
						column->descending ? "ascending" : "descending",
						column->descending ? "false" : "true", column->name);
	return "Set the option \"sorted\" to \"false\" to have the keys sorted while they are read.";
}

/* Row "row" of "batch" stands in the file behind row "before" of "previous". */
pg_noreturn static void
report_order(const char *place, const Key *key, const ColumnBatch *look,
			 const ColumnBatch *batch, int row, const ColumnBatch *previous, int before)
{
	ereport(ERROR,
			(errcode(ERRCODE_DATA_EXCEPTION),
			 errmsg("key out of order in %s", place),
			 errdetail("Key %s follows key %s.",
					   key_text(key, batch, row), key_text(key, previous, before)),
			 errhint("%s", advice(key, look, batch, row, previous, before))));
	pg_unreachable();
}

/* The rows in the reverse order, under the flipped key. */
static ColumnBatch *
turned_batch(const Key *key, const ColumnBatch *batch)
{
	ColumnBatch *turned = palloc0(sizeof(ColumnBatch));
	int			last = batch->nrows - 1;

	turned->nrows = batch->nrows;
	turned->image = palloc(sizeof(int64) * batch->nrows);
	for (int i = 0; i <= last; i++)
		turned->image[i] = key_flip_image(key, batch->image[last - i]);
	if (key->exact)
		return turned;
	turned->key = palloc(sizeof(Datum *) * key->ncolumns);
	for (int c = 0; c < key->ncolumns; c++)
	{
		turned->key[c] = palloc(sizeof(Datum) * batch->nrows);
		for (int i = 0; i <= last; i++)
			turned->key[c][i] = batch->key[c][last - i];
	}
	return turned;
}

void
order_error(ColumnStream *base, int row, const ColumnBatch *previous, int before)
{
	const Key  *key = base->key;
	const ColumnBatch *batch = &base->batch;
	const ColumnBatch *turned;
	const ColumnBatch *later;

	if (!base->reversed)
		report_order(row_text(base, row), key, batch, batch, row, previous, before);
	turned = turned_batch(key, batch);
	later = previous == batch ? turned : turned_batch(key, previous);
	report_order(row_text(base, row - 1), key_flipped(key), turned,
				 later, later->nrows - 1 - before, turned, turned->nrows - 1 - row);
}

void
repeat_error(ColumnStream *base, int row, const char *previous_file)
{
	const char *text = key_text(base->key, &base->batch, row);
	RowLocation location = {NULL, 0, 0};
	bool		elsewhere;

	base->methods->locate(base, row, &location);
	elsewhere = previous_file != NULL && location.file != NULL &&
		strcmp(previous_file, location.file) != 0;
	ereport(ERROR,
			(errcode(ERRCODE_UNIQUE_VIOLATION),
			 errmsg("repeated key in %s", row_text(base, base->reversed ? row - 1 : row)),
			 elsewhere ?
			 errdetail("Key %s is in file \"%s\" already.", text, previous_file) :
			 errdetail("Key %s occurs more than once.", text),
			 errhint("Set the option \"duplicates\" to \"first\", \"last\" or \"all\" to accept repeated keys.")));
	pg_unreachable();
}
