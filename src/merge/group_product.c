/*-------------------------------------------------------------------------
 *
 * group_product.c
 *	  The product of a group of equal keys that reaches past a batch.
 *
 * Each side that may go on in its stream's next batch is collected in a
 * tuplestore, which spills to disk past its share of work_mem; the others stay
 * in their batches.  The product is handed out a window at a time: a chunk of
 * every stored side is held in its input's vectors, the odometer runs over the
 * chunks at hand, and when it has turned over, the next combination of chunks
 * is read.
 *
 * A row's key is spelled as the first side's row spells it, so that side stores
 * its keys as well, unless they are exact.
 *
 * While the product lasts the inputs stand behind the group with nothing of
 * the rows there decoded, which is why their vectors are free to use.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/tupdesc.h"
#include "catalog/pg_type_d.h"
#include "executor/tuptable.h"
#include "miscadmin.h"
#include "utils/datum.h"
#include "utils/memutils.h"
#include "utils/tuplestore.h"

#include "merge/merge_internal.h"

typedef struct ProductSide
{
	int			input;
	bool		stored;
	int64		rows;			/* in all */
	int64		chunk;			/* first row at hand; stored sides */
	int			chunk_rows;
	int			position;		/* of the first row at hand */
	int			index;			/* odometer, within the rows at hand */
	int			nkeys;			/* key columns stored behind the wanted fields */
	Tuplestorestate *store;		/* NULL where there is nothing to keep */
	TupleDesc	desc;
	TupleTableSlot *slot;
	MemoryContext chunk_context;
} ProductSide;

struct GroupProduct
{
	const Key  *key;
	MemoryContext context;
	int64		image;			/* the group's key, as its first row has it */
	Datum	   *values;
	Datum	  **keys;			/* [key column][row at hand] of a first side with nkeys */
	int			nsides;
	ProductSide *sides;
	bool		turned;			/* the chunks at hand have been handed out */
};

/* Keep the key: its batch will not last. */
static void
product_keep_key(GroupProduct *product, const ColumnBatch *batch, int row)
{
	const Key  *key = product->key;

	product->image = batch->image[row];
	product->values = palloc(sizeof(Datum) * key->ncolumns);
	for (int k = 0; k < key->ncolumns; k++)
		product->values[k] = datumCopy(key_datum(key, batch, row, k),
									   key->columns[k].typbyval, key->columns[k].typlen);
}

/* Does the row have the group's key? */
static bool
product_has(const GroupProduct *product, const ColumnBatch *batch, int row)
{
	KeyBound	bound = {0};

	if (product->key->exact)
		return batch->image[row] == product->image;
	bound.ncolumns = product->key->ncolumns;
	bound.inclusive = true;
	bound.image = product->image;
	bound.values = product->values;
	return key_compare_bound(product->key, batch, row, &bound) == 0;
}

/* Store rows [from, to) of the input's batch; decoding them into its vectors. */
static void
product_store(const GroupProduct *product, ProductSide *side, MergeInput *input, int from, int to)
{
	Datum	   *values;
	bool	   *isnull;

	side->rows += to - from;
	if (side->store == NULL)
		return;
	input->decoded = from;
	input->to = to;
	merge_input_decode(input);
	values = palloc(sizeof(Datum) * side->desc->natts);
	isnull = palloc0(sizeof(bool) * side->desc->natts);
	for (int r = from; r < to; r++)
	{
		for (int v = 0; v < input->nvectors; v++)
		{
			values[v] = input->vectors[v].values[r];
			isnull[v] = input->vectors[v].isnull[r];
		}
		for (int k = 0; k < side->nkeys; k++)
			values[input->nvectors + k] = key_datum(product->key, &input->stream->batch, r, k);
		tuplestore_putvalues(side->store, side->desc, values, isnull);
	}
	pfree(values);
	pfree(isnull);
}

/* The wanted fields, then the key columns. */
static TupleDesc
product_descriptor(const GroupProduct *product, const ProductSide *side, const MergeInput *input)
{
	const StreamSpec *spec = input->stream->spec;
	TupleDesc	desc = CreateTemplateTupleDesc(input->nvectors + side->nkeys);

	for (int v = 0; v < input->nvectors; v++)
	{
		const FieldSpec *field = &spec->fields[input->vectors[v].field];

		if (field->nulls_only)
			TupleDescInitEntry(desc, v + 1, NULL, BOOLOID, -1, 0);
		else
			TupleDescInitEntry(desc, v + 1, NULL, field->type, field->typmod, 0);
	}
	for (int k = 0; k < side->nkeys; k++)
	{
		const KeyColumn *column = &product->key->columns[k];

		TupleDescInitEntry(desc, input->nvectors + k + 1, NULL, column->type, column->typmod, 0);
	}
	return desc;
}

/* Collect a side that may go on past its batch, and leave the input behind the group. */
static void
product_collect(GroupProduct *product, OuterMerge *merge, ProductSide *side,
				int from, int memory_kb)
{
	MergeInput *input = &merge->inputs[side->input];
	int			to = input->end;

	side->stored = true;
	if (side == product->sides && !product->key->exact)
	{
		side->nkeys = product->key->ncolumns;
		product->keys = palloc(sizeof(Datum *) * side->nkeys);
		for (int k = 0; k < side->nkeys; k++)
			product->keys[k] = palloc(sizeof(Datum) * merge->batch_rows);
	}
	if (input->nvectors + side->nkeys > 0)
	{
		side->desc = product_descriptor(product, side, input);
		side->slot = MakeSingleTupleTableSlot(side->desc, &TTSOpsMinimalTuple);
		side->store = tuplestore_begin_heap(false, false, memory_kb);
		side->chunk_context = AllocSetContextCreate(product->context,
													"outerjoin_fdw group chunk",
													ALLOCSET_DEFAULT_SIZES);
	}
	for (;;)
	{
		product_store(product, side, input, from, to);
		input->from = to;
		if (to < input->end || !merge_input_load(merge, input))
			break;
		from = to = input->from;
		while (to < input->end && product_has(product, &input->stream->batch, to))
			to++;
		if (to == from)
			break;
	}
	input->to = input->decoded = input->from;
	/* from here on the vectors are for the chunks */
	input->spoiled = true;
}

/* Read the side's rows from side->chunk on; going on from the last chunk, or from the top. */
static void
product_load_chunk(GroupProduct *product, ProductSide *side, OuterMerge *merge)
{
	MergeInput *input = &merge->inputs[side->input];
	MemoryContext old;

	side->index = 0;
	if (!side->stored)
		return;
	side->position = 0;
	side->chunk_rows = (int) Min(side->rows - side->chunk, merge->batch_rows);
	if (side->store == NULL)
		return;

	if (side->chunk == 0)
		tuplestore_rescan(side->store);
	MemoryContextReset(side->chunk_context);

	/*
	 * A tuple read from a spilled store belongs to the slot, in the context
	 * of the moment, which may be one that the executor resets after a row.
	 */
	old = MemoryContextSwitchTo(side->chunk_context);
	for (int r = 0; r < side->chunk_rows; r++)
	{
		if (!tuplestore_gettupleslot(side->store, true, false, side->slot))
			elog(ERROR, "group of equal keys ends early");
		slot_getallattrs(side->slot);
		for (int a = 0; a < side->desc->natts; a++)
		{
			Form_pg_attribute attribute = TupleDescAttr(side->desc, a);
			bool		isnull = side->slot->tts_isnull[a];
			Datum		value = side->slot->tts_values[a];

			if (!isnull && !attribute->attbyval)
				value = datumCopy(value, false, attribute->attlen);
			if (a >= input->nvectors)
				product->keys[a - input->nvectors][r] = value;
			else
			{
				input->vectors[a].values[r] = value;
				input->vectors[a].isnull[r] = isnull;
			}
		}
	}
	ExecClearTuple(side->slot);
	MemoryContextSwitchTo(old);
}

/*
 * Collect the group that the cursor describes.  Its sides' streams are read
 * on, so the cursor's rows are gone afterwards.
 */
GroupProduct *
group_product_create(OuterMerge *merge, const GroupCursor *group)
{
	MemoryContext context = AllocSetContextCreate(merge->context,
												  "outerjoin_fdw group",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	GroupProduct *product = palloc0(sizeof(GroupProduct));
	int			nstored = 0;

	product->key = merge->key;
	product->context = context;
	product->nsides = group->nsides;
	product->sides = palloc0(sizeof(ProductSide) * group->nsides);
	product_keep_key(product, &merge->inputs[group->input[0]].stream->batch, group->first[0]);

	for (int s = 0; s < group->nsides; s++)
	{
		MergeInput *input = &merge->inputs[group->input[s]];

		product->sides[s].stored = group->first[s] + group->count[s] == input->end &&
			!input->final && input->stream->spec->duplicates == DUPLICATES_ALL;
		nstored += product->sides[s].stored;
	}
	for (int s = 0; s < group->nsides; s++)
	{
		ProductSide *side = &product->sides[s];
		MergeInput *input = &merge->inputs[group->input[s]];

		side->input = group->input[s];
		if (side->stored)
			product_collect(product, merge, side, group->first[s],
							Max(merge->memory_kb / nstored, 64));
		else
		{
			side->rows = side->chunk_rows = group->count[s];
			side->position = group->first[s];
			input->to = group->first[s] + group->count[s];
			merge_input_decode(input);
		}
		product_load_chunk(product, side, merge);
	}
	MemoryContextSwitchTo(old);
	return product;
}

/* Go to the next combination of chunks; false when all have been seen. */
static bool
product_next_chunks(GroupProduct *product, OuterMerge *merge)
{
	for (int s = product->nsides - 1; s >= 0; s--)
	{
		ProductSide *side = &product->sides[s];
		bool		more = side->stored && side->rows - side->chunk > side->chunk_rows;
		bool		again = side->stored && !more && side->chunk > 0;

		if (more)
			side->chunk += side->chunk_rows;
		else if (again)
			side->chunk = 0;
		if (more || again)
			product_load_chunk(product, side, merge);
		if (more)
			return true;
	}
	return false;
}

/*
 * Make the window the next rows of the product; false when there are none.
 */
bool
group_product_next(GroupProduct *product, OuterMerge *merge)
{
	MergeWindow *window = &merge->window;
	int			count = 0;

	CHECK_FOR_INTERRUPTS();
	if (product->turned && !product_next_chunks(product, merge))
		return false;
	product->turned = false;

	/* the next chunks are read by the next call: the window refers to these */
	while (!product->turned && count < merge->capacity)
	{
		int			s;

		if (count % ABSENT_SLOTS == 0)
			for (int i = 0; i < merge->ninputs; i++)
				merge_absent_slots(merge, i, count);
		for (s = 0; s < product->nsides; s++)
		{
			ProductSide *side = &product->sides[s];

			window->position[side->input][count] = (BatchRow) (side->position + side->index);
		}
		count++;
		for (s = product->nsides - 1; s >= 0; s--)
		{
			if (++product->sides[s].index < product->sides[s].chunk_rows)
				break;
			product->sides[s].index = 0;
		}
		product->turned = s < 0;
	}
	if (product->key->exact)
		for (int r = 0; r < count; r++)
			merge->keys[r] = product->values[0];
	window->slot = NULL;
	window->nrows = count;
	return true;
}

/* A key column's value in row "row" of the window. */
Datum
group_product_key(const GroupProduct *product, const OuterMerge *merge, int row, int column)
{
	const ProductSide *side = &product->sides[0];
	int			position = merge->window.position[side->input][row];

	if (product->key->exact)
		return product->values[0];
	if (side->stored)
		return product->keys[column][position];
	return key_datum(product->key, &merge->inputs[side->input].stream->batch, position, column);
}

void
group_product_free(GroupProduct *product)
{
	for (int s = 0; s < product->nsides; s++)
	{
		if (product->sides[s].store)
			tuplestore_end(product->sides[s].store);
		if (product->sides[s].slot)
			ExecDropSingleTupleTableSlot(product->sides[s].slot);
	}
	MemoryContextDelete(product->context);
}
