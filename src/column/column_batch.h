/*-------------------------------------------------------------------------
 *
 * column_batch.h
 *	  Consecutive rows of one stream.
 *
 *-------------------------------------------------------------------------
 */
#ifndef OUTERJOIN_COLUMN_BATCH_H
#define OUTERJOIN_COLUMN_BATCH_H

#include "postgres.h"

/* A row's place in a batch. -1 stands for "absent". */
typedef int16 BatchRow;

#define MAX_BATCH_ROWS 16384

/*
 * Owned by its stream and valid until that stream's next next_batch, seek or
 * close.  Keys are never null.
 */
typedef struct ColumnBatch
{
	int			nrows;			/* 1 .. MAX_BATCH_ROWS while a batch is current */
	int64	   *image;			/* [nrows], see key.h */
	Datum	  **key;			/* [key column][nrows]; NULL for an exact key */
} ColumnBatch;

#endif							/* OUTERJOIN_COLUMN_BATCH_H */
