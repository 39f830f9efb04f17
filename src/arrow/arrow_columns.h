/*-------------------------------------------------------------------------
 *
 * arrow_columns.h
 *	  The fields of an Arrow file that a stream takes: vectors with
 *	  converters, set to one record batch after the other.
 *
 *-------------------------------------------------------------------------
 */
#ifndef OUTERJOIN_ARROW_COLUMNS_H
#define OUTERJOIN_ARROW_COLUMNS_H

#include "arrow/arrow_converter.h"
#include "arrow/arrow_file.h"
#include "column/stream_spec.h"

/* One field, read for one column of the table. */
typedef struct ArrowColumn
{
	const char *name;			/* of the table's column */
	int			field;			/* number in the schema */
	ArrowVector *vector;
	ArrowConverter *converter;
	bool		nulls_only;		/* only the vector's nulls are loaded */
} ArrowColumn;

typedef struct ArrowColumns
{
	ArrowFile  *file;
	SourceFile *source;
	int			n;
	ArrowColumn *columns;
	int		   *by_field;		/* [n] indexes of columns, by field ascending */
	int64		batch;			/* record batch that they are set to; -1: none */
	uint64		generation;		/* of the file's dictionaries when they were */
} ArrowColumns;

/*
 * Columns without a name are left out (name NULL).  block_bytes and
 * blocks_read are the vectors'.  Allocates in the current context.
 */
extern void arrow_columns_init(ArrowColumns *columns, ArrowFile *file, SourceFile *source,
							   int n, const FieldSpec *specs, const int *fields,
							   const bool *wanted, bool keys, size_t block_bytes,
							   int64 *blocks_read);

/* Set all of them to an existing record batch, dictionaries as well. */
extern void arrow_columns_set(ArrowColumns *columns, int64 batch);

/* Read so little at first of each: see arrow_buffer_begin_small. */
extern void arrow_columns_begin_small(ArrowColumns *columns, size_t bytes);

/* Slices are loaded from the end to the top: see arrow_buffer_set_backward. */
extern void arrow_columns_set_backward(ArrowColumns *columns, bool backward);

#endif							/* OUTERJOIN_ARROW_COLUMNS_H */
