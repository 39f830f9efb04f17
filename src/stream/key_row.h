/*-------------------------------------------------------------------------
 *
 * key_row.h
 *	  One key, kept beyond the batch that it was read in.
 *
 *-------------------------------------------------------------------------
 */
#ifndef OUTERJOIN_KEY_ROW_H
#define OUTERJOIN_KEY_ROW_H

#include "column/key.h"

/*
 * A batch of one row that owns its values; compare it as row 0 of "batch".
 * It points into itself: never copy or move one.
 */
typedef struct KeyRow
{
	MemoryContext context;
	ColumnBatch batch;			/* nrows is 0 until the first key_row_set */
	int64		image;
	Datum	   *values;			/* [key column] */
	Datum	  **columns;		/* [key column], each at its place in values */
	char	  **space;			/* [key column], where by-reference values live */
	size_t	   *capacity;
} KeyRow;

/* Allocates in the current context. */
extern void key_row_init(KeyRow *copy, const Key *key);

/* Take the key of a row; space is reused. */
extern void key_row_set(KeyRow *copy, const Key *key, const ColumnBatch *batch, int row);

static inline void
key_row_clear(KeyRow *copy)
{
	copy->batch.nrows = 0;
}

/* Bytes of a by-reference value as formats deliver them: plain, never external. */
extern size_t datum_bytes(Datum value, int16 typlen);

/* A by-reference value of so many bytes, copied to this space. */
static inline Datum
datum_copy_to(void *space, Datum value, size_t bytes)
{
	memcpy(space, DatumGetPointer(value), bytes);
	return PointerGetDatum(space);
}

/* A by-reference value, copied to space of its own. */
extern Datum datum_keep(MemoryContext context, Datum value, int16 typlen);

#endif							/* OUTERJOIN_KEY_ROW_H */
