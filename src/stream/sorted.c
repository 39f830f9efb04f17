/*-------------------------------------------------------------------------
 *
 * sorted.c
 *	  Files in any order as one sorted stream.
 *
 * On the first call for a batch everything is read into a tuplesort, which
 * spills past the stream's share of work_mem.  A tuple is
 *
 *	key columns, ordinal, wanted fields
 *
 * sorted by all but the fields.  The ordinal is the file's place in the list
 * and the row's place in the file: it keeps equal keys in the order that
 * "first" and "last" speak of, and tells where a row stands.
 *
 * A seek starts the sorted output again from the top; the files are not read
 * again, nor is a program run again.
 *
 * The order is by the same operators as key_compare's, so that the order
 * check above need only look for repeated keys.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/tupdesc.h"
#include "catalog/pg_operator_d.h"
#include "catalog/pg_type_d.h"
#include "executor/tuptable.h"
#include "miscadmin.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/tuplesort.h"

#include "column/text_value.h"
#include "stream/key_row.h"
#include "stream/layers.h"

#define ORDINAL_ROW_BITS	40	/* 2^40 rows a file, 2^23 files */
#define SORTED_ARRAY_BYTES	(4 * 1024 * 1024)	/* decoded fields at once */
#define SORTED_VALUE_BYTES	(4 * 1024 * 1024)	/* by-reference values in a batch */

typedef struct SortedStream
{
	ColumnStream stream;
	List	   *files;			/* SegmentFile, with their sources opened */
	ColumnStream *program;		/* a program's stream, started at open */
	StreamResources resources;	/* with batch_rows fit for the number of fields */
	const Key  *file_key;		/* that the files are sorted by; NULL: the stream's, or none */
	MemoryContext context;		/* whatever lives as long as the stream */
	StreamCounters counters;	/* of the files read */

	Tuplesortstate *sort;		/* NULL until loaded */
	TupleTableSlot *slot;		/* output */
	bool		ended;

	int			nwanted;
	int		   *wanted;			/* [nwanted] field numbers */
	int		   *place;			/* [field] place among those wanted, or -1 */
	int16	   *typlen;			/* [nwanted] */
	bool	   *typbyval;

	/* one batch, of the input while loading, of the output then */
	int64	   *image;
	int64	   *ordinal;
	Datum	  **key;			/* [key column] also for an exact key's values */
	Datum	  **values;			/* [nwanted] */
	bool	  **isnull;
	ValueArena *arena;
} SortedStream;

/* What a field's values are sorted along as: of one with only nulls, nothing. */
static Oid
value_type(const FieldSpec *field)
{
	return field->nulls_only ? BOOLOID : field->type;
}

static TupleDesc
make_descriptor(const SortedStream *sorted)
{
	const Key  *key = sorted->stream.key;
	TupleDesc	desc = CreateTemplateTupleDesc(key->ncolumns + 1 + sorted->nwanted);
	AttrNumber	attno = 0;

	for (int i = 0; i < key->ncolumns; i++)
	{
		TupleDescInitEntry(desc, ++attno, NULL, key->columns[i].type, key->columns[i].typmod, 0);
		TupleDescInitEntryCollation(desc, attno, key->columns[i].collation);
	}
	TupleDescInitEntry(desc, ++attno, NULL, INT8OID, -1, 0);
	for (int i = 0; i < sorted->nwanted; i++)
	{
		const FieldSpec *field = &sorted->stream.spec->fields[sorted->wanted[i]];

		TupleDescInitEntry(desc, ++attno, NULL, value_type(field),
						   field->nulls_only ? -1 : field->typmod, 0);
	}
	return desc;
}

static Tuplesortstate *
begin_sort(const SortedStream *sorted, TupleDesc desc)
{
	const Key  *key = sorted->stream.key;
	int			n = key->ncolumns + 1;
	AttrNumber *attnums = palloc(n * sizeof(AttrNumber));
	Oid		   *operators = palloc(n * sizeof(Oid));
	Oid		   *collations = palloc(n * sizeof(Oid));
	bool	   *nulls_first = palloc0(n * sizeof(bool));

	for (int i = 0; i < key->ncolumns; i++)
	{
		attnums[i] = i + 1;
		operators[i] = key->columns[i].sort_operator;
		collations[i] = key->columns[i].collation;
	}
	attnums[n - 1] = n;
	operators[n - 1] = Int8LessOperator;
	collations[n - 1] = InvalidOid;
	return tuplesort_begin_heap(desc, n, attnums, operators, collations, nulls_first,
								Max(sorted->resources.memory_kb, 64), NULL,
								TUPLESORT_RANDOMACCESS);
}

/* Put the rows of the file's current batch. */
static void
put_batch(SortedStream *sorted, ColumnStream *base, TupleTableSlot *slot, int64 ordinal)
{
	const Key  *key = base->key;
	int			nrows = base->batch.nrows;

	for (int i = 0; i < sorted->nwanted; i++)
		stream_decode(base, sorted->wanted[i], 0, nrows, sorted->values[i], sorted->isnull[i]);

	for (int row = 0; row < nrows; row++)
	{
		Datum	   *values = slot->tts_values;
		bool	   *isnull = slot->tts_isnull;

		ExecClearTuple(slot);
		for (int i = 0; i < key->ncolumns; i++)
		{
			*values++ = key_datum(key, &base->batch, row, i);
			*isnull++ = false;
		}
		*values++ = Int64GetDatum(ordinal + row);
		*isnull++ = false;
		for (int i = 0; i < sorted->nwanted; i++)
		{
			*values++ = sorted->values[i][row];
			*isnull++ = sorted->isnull[i][row];
		}
		ExecStoreVirtualTuple(slot);
		tuplesort_puttupleslot(sorted->sort, slot);
	}
}

/* Read a file to its end and close it. */
static void
put_file(SortedStream *sorted, ColumnStream *base, TupleTableSlot *slot, int place)
{
	int64		ordinal = (int64) place << ORDINAL_ROW_BITS;

	while (stream_next_batch(base))
	{
		CHECK_FOR_INTERRUPTS();
		put_batch(sorted, base, slot, ordinal);
		ordinal += base->batch.nrows;
	}
	base->methods->count(base, &sorted->counters);
	base->methods->close(base);
}

/*
 * A file's or a program's rows, as they come.  What is declared to be sorted
 * is held to it, even where it is wanted in another order.
 */
static ColumnStream *
open_input(SortedStream *sorted, SegmentFile *file)
{
	const StreamSpec *spec = sorted->stream.spec;
	const Key  *key = sorted->file_key != NULL ? sorted->file_key : sorted->stream.key;
	ColumnStream *base = file->format->open(spec, file, key, sorted->stream.wanted,
											&sorted->resources);

	if (!spec->sorted)
		return base;
	return order_check_open(base, DUPLICATES_ALL, &sorted->resources, NULL);
}

static void
put_named_file(SortedStream *sorted, SegmentFile *file, TupleTableSlot *slot, int place)
{
	MemoryContext context = AllocSetContextCreate(sorted->context, "file to sort",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	ColumnStream *base = open_input(sorted, file);

	MemoryContextSwitchTo(old);
	put_file(sorted, base, slot, place);
	MemoryContextDelete(context);
	source_file_close(file->source);
	file->source = NULL;
}

static void
load(SortedStream *sorted)
{
	MemoryContext old = MemoryContextSwitchTo(sorted->context);
	TupleDesc	desc = make_descriptor(sorted);
	TupleTableSlot *slot = MakeSingleTupleTableSlot(desc, &TTSOpsVirtual);

	sorted->sort = begin_sort(sorted, desc);
	if (sorted->program != NULL)
	{
		ColumnStream *program = sorted->program;

		sorted->program = NULL;
		put_file(sorted, program, slot, 0);
	}
	else
	{
		for (int i = 0; i < list_length(sorted->files); i++)
			put_named_file(sorted, list_nth(sorted->files, i), slot, i);
	}
	ExecDropSingleTupleTableSlot(slot);
	tuplesort_performsort(sorted->sort);
	sorted->slot = MakeSingleTupleTableSlot(desc, &TTSOpsMinimalTuple);
	MemoryContextSwitchTo(old);
}

/* A by-reference value, copied to the batch's memory; *bytes counts it. */
static Datum
keep_value(SortedStream *sorted, Datum value, int16 typlen, size_t *bytes)
{
	size_t		size = datum_bytes(value, typlen);

	*bytes += size;
	return datum_copy_to(value_arena_alloc(sorted->arena, size), value, size);
}

/* Take the slot's tuple as row "row" of the batch. */
static void
take_tuple(SortedStream *sorted, int row, size_t *bytes)
{
	const Key  *key = sorted->stream.key;
	const Datum *values;
	const bool *isnull;

	slot_getallattrs(sorted->slot);
	values = sorted->slot->tts_values;
	isnull = sorted->slot->tts_isnull;
	for (int i = 0; i < key->ncolumns; i++)
	{
		const KeyColumn *column = &key->columns[i];

		sorted->key[i][row] = column->typbyval ? *values :
			keep_value(sorted, *values, column->typlen, bytes);
		values++;
		isnull++;
	}
	sorted->ordinal[row] = DatumGetInt64(*values);
	values++;
	isnull++;
	for (int i = 0; i < sorted->nwanted; i++)
	{
		sorted->isnull[i][row] = *isnull;
		sorted->values[i][row] = *isnull || sorted->typbyval[i] ? *values :
			keep_value(sorted, *values, sorted->typlen[i], bytes);
		values++;
		isnull++;
	}
}

static void
make_images(SortedStream *sorted, int nrows)
{
	const Key  *key = sorted->stream.key;

	if (!key->exact)
	{
		key_images(key, sorted->key[0], nrows, sorted->image);
		return;
	}
	for (int row = 0; row < nrows; row++)
	{
		int64		value = (int64) sorted->key[0][row];

		sorted->image[row] = key->columns[0].descending ? ~value : value;
	}
}

static bool
sorted_next_batch(ColumnStream *stream)
{
	SortedStream *sorted = (SortedStream *) stream;
	size_t		bytes = 0;
	int			row = 0;

	CHECK_FOR_INTERRUPTS();
	if (sorted->sort == NULL)
		load(sorted);

	value_arena_reset(sorted->arena);
	while (!sorted->ended && row < sorted->resources.batch_rows && bytes < SORTED_VALUE_BYTES)
	{
		if (tuplesort_gettupleslot(sorted->sort, true, false, sorted->slot, NULL))
			take_tuple(sorted, row++, &bytes);
		else
			sorted->ended = true;
	}
	make_images(sorted, row);

	stream->batch.nrows = row;
	stream->batch.image = sorted->image;
	stream->batch.key = stream->key->exact ? NULL : sorted->key;
	return row > 0;
}

static void
sorted_decode(ColumnStream *stream, int field, int from, int to,
			  const BatchRow *rows, int nrows, Datum *values, bool *isnull)
{
	SortedStream *sorted = (SortedStream *) stream;
	int			place = sorted->place[field];
	int			n = rows != NULL ? nrows : to - from;

	for (int i = 0; i < n; i++)
	{
		int			row = rows != NULL ? rows[i] : from + i;

		values[row] = sorted->values[place][row];
		isnull[row] = sorted->isnull[place][row];
	}
}

static void
sorted_seek(ColumnStream *stream, const KeyBound *bound)
{
	SortedStream *sorted = (SortedStream *) stream;

	(void) bound;
	stream->batch.nrows = 0;
	sorted->ended = false;
	if (sorted->sort != NULL)
		tuplesort_rescan(sorted->sort);
}

const char *
sorted_row_file(ColumnStream *stream, int row)
{
	SortedStream *sorted = (SortedStream *) stream;
	int			place = (int) (sorted->ordinal[row] >> ORDINAL_ROW_BITS);
	const SegmentFile *file = list_nth(sorted->files, place);

	return file->name != NULL ? file->name : stream->spec->program;
}

static void
sorted_locate(ColumnStream *stream, int row, RowLocation *location)
{
	SortedStream *sorted = (SortedStream *) stream;

	location->file = sorted_row_file(stream, row);
	location->row = 1 + (sorted->ordinal[row] & (((int64) 1 << ORDINAL_ROW_BITS) - 1));
	location->line = 0;
}

static void
sorted_count(ColumnStream *stream, StreamCounters *counters)
{
	stream_counters_add(counters, &((SortedStream *) stream)->counters);
}

static void
sorted_close(ColumnStream *stream)
{
	SortedStream *sorted = (SortedStream *) stream;

	stream->batch.nrows = 0;
	if (sorted->program != NULL)
		sorted->program->methods->close(sorted->program);
	sorted->program = NULL;
	if (sorted->slot != NULL)
		ExecDropSingleTupleTableSlot(sorted->slot);
	sorted->slot = NULL;
	if (sorted->sort != NULL)
		tuplesort_end(sorted->sort);
	sorted->sort = NULL;
	sorted->ended = true;
	for (int i = 0; i < list_length(sorted->files); i++)
	{
		SegmentFile *file = list_nth(sorted->files, i);

		if (file->source != NULL)
			source_file_close(file->source);
		file->source = NULL;
	}
}

static const ColumnStreamMethods sorted_methods = {
	.next_batch = sorted_next_batch,
	.decode = sorted_decode,
	.seek = sorted_seek,
	.locate = sorted_locate,
	.count = sorted_count,
	.close = sorted_close,
};

static void
list_wanted(SortedStream *sorted)
{
	const StreamSpec *spec = sorted->stream.spec;
	int			n = Max(spec->nfields, 1);

	sorted->wanted = palloc(n * sizeof(int));
	sorted->place = palloc(n * sizeof(int));
	sorted->typlen = palloc(n * sizeof(int16));
	sorted->typbyval = palloc(n * sizeof(bool));
	for (int i = 0; i < spec->nfields; i++)
	{
		int			place = sorted->nwanted;

		sorted->place[i] = -1;
		if (!sorted->stream.wanted[i])
			continue;
		sorted->place[i] = place;
		sorted->wanted[place] = i;
		get_typlenbyval(value_type(&spec->fields[i]), &sorted->typlen[place],
						&sorted->typbyval[place]);
		sorted->nwanted++;
	}
}

/* All fields of a batch are decoded at once here: fewer rows where they are many. */
static void
fit_batch(SortedStream *sorted)
{
	size_t		row_bytes = (sizeof(Datum) + sizeof(bool)) * (sorted->nwanted + 1);
	int			most = Max(64, SORTED_ARRAY_BYTES / row_bytes);

	sorted->resources.batch_rows = Min(sorted->resources.batch_rows, most);
	sorted->resources.first_rows = sorted->resources.batch_rows;
}

static void
allocate_batch(SortedStream *sorted)
{
	int			nrows = sorted->resources.batch_rows;
	int			nkeys = sorted->stream.key->ncolumns;

	sorted->image = palloc(nrows * sizeof(int64));
	sorted->ordinal = palloc(nrows * sizeof(int64));
	sorted->key = palloc(nkeys * sizeof(Datum *));
	for (int i = 0; i < nkeys; i++)
		sorted->key[i] = palloc(nrows * sizeof(Datum));
	sorted->values = palloc(Max(sorted->nwanted, 1) * sizeof(Datum *));
	sorted->isnull = palloc(Max(sorted->nwanted, 1) * sizeof(bool *));
	for (int i = 0; i < sorted->nwanted; i++)
	{
		sorted->values[i] = palloc(nrows * sizeof(Datum));
		sorted->isnull[i] = palloc(nrows * sizeof(bool));
	}
	sorted->arena = value_arena_create(CurrentMemoryContext);
}

/* What a scan reads is what it finds now. */
static void
open_files(SortedStream *sorted)
{
	const StreamSpec *spec = sorted->stream.spec;

	for (int i = 0; i < list_length(sorted->files); i++)
	{
		SegmentFile *file = list_nth(sorted->files, i);

		CHECK_FOR_INTERRUPTS();
		if (file->name != NULL)
			file->source = source_file_open(&spec->folder, file->name);
		else
			sorted->program = open_input(sorted, file);
	}
}

ColumnStream *
sorted_open(const StreamSpec *spec, List *files, const Key *key, const bool *wanted,
			const StreamResources *resources)
{
	SortedStream *sorted = palloc0(sizeof(SortedStream));

	stream_init(&sorted->stream, &sorted_methods, spec, key, wanted);
	sorted->files = files;
	sorted->resources = *resources;
	sorted->file_key = resources->file_key;
	sorted->resources.file_key = NULL;
	sorted->context = CurrentMemoryContext;
	list_wanted(sorted);
	fit_batch(sorted);
	allocate_batch(sorted);
	open_files(sorted);
	return &sorted->stream;
}
