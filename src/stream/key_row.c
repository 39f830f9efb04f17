/*-------------------------------------------------------------------------
 *
 * key_row.c
 *	  One key, kept beyond the batch that it was read in.
 *
 * Values that are passed by reference are copied to space of the row's own,
 * one piece for each key column, which only ever grows: keeping the last key
 * of every batch costs no allocation once the longest key has been seen.
 *
 * An exact key has its image alone; nothing is allocated for it.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "compat.h"

#include "stream/key_row.h"

void
key_row_init(KeyRow *copy, const Key *key)
{
	memset(copy, 0, sizeof(KeyRow));
	copy->context = CurrentMemoryContext;
	copy->batch.image = &copy->image;
	if (key->exact)
		return;

	copy->values = palloc0(key->ncolumns * sizeof(Datum));
	copy->columns = palloc(key->ncolumns * sizeof(Datum *));
	copy->space = palloc0(key->ncolumns * sizeof(char *));
	copy->capacity = palloc0(key->ncolumns * sizeof(size_t));
	for (int i = 0; i < key->ncolumns; i++)
		copy->columns[i] = &copy->values[i];
	copy->batch.key = copy->columns;
}

size_t
datum_bytes(Datum value, int16 typlen)
{
	if (typlen > 0)
		return typlen;
	if (typlen == -1)
		return VARSIZE_ANY(DatumGetPointer(value));
	return strlen(DatumGetCString(value)) + 1;
}

Datum
datum_keep(MemoryContext context, Datum value, int16 typlen)
{
	size_t		bytes = datum_bytes(value, typlen);

	return datum_copy_to(MemoryContextAllocHuge(context, bytes), value, bytes);
}

/* Copy to the space of a key column. */
static Datum
keep_value(KeyRow *copy, int column, Datum value, int16 typlen)
{
	size_t		bytes = datum_bytes(value, typlen);

	if (bytes > copy->capacity[column])
	{
		size_t		capacity = Max(bytes, 32);

		if (copy->space[column] != NULL)
			pfree(copy->space[column]);
		copy->capacity[column] = 0;
		copy->space[column] = NULL;
		copy->space[column] = MemoryContextAlloc(copy->context, capacity);
		copy->capacity[column] = capacity;
	}
	return datum_copy_to(copy->space[column], value, bytes);
}

void
key_row_set(KeyRow *copy, const Key *key, const ColumnBatch *batch, int row)
{
	copy->image = batch->image[row];
	copy->batch.nrows = 1;
	if (key->exact)
		return;

	for (int i = 0; i < key->ncolumns; i++)
	{
		const KeyColumn *column = &key->columns[i];
		Datum		value = batch->key[i][row];

		copy->values[i] = column->typbyval ? value :
			keep_value(copy, i, value, column->typlen);
	}
}
