/*-------------------------------------------------------------------------
 *
 * table_spec.h
 *	  The foreign table with its options resolved: built once, read by plan,
 *	  scan, analyze and explain.
 *
 *-------------------------------------------------------------------------
 */
#ifndef OUTERJOIN_TABLE_SPEC_H
#define OUTERJOIN_TABLE_SPEC_H

#include "column/column_stream.h"
#include "column/key.h"

typedef enum ColumnKind
{
	COLUMN_DROPPED,
	COLUMN_KEY,
	COLUMN_VALUE
} ColumnKind;

/* What a table column is made of, by attnum - 1. */
typedef struct TableColumn
{
	ColumnKind	kind;
	int			key_column;		/* COLUMN_KEY: which one */
	int			stream;			/* COLUMN_VALUE: which stream ... */
	int			field;			/* ... and which of its fields */
} TableColumn;

typedef struct TableSpec
{
	Oid			relid;
	const char *table_name;
	Key		   *key;
	const Key  *file_key;		/* NULL; after table_spec_reverse, what the files are sorted by */
	AttrNumber *key_attnums;	/* [key->ncolumns] */
	int			ncolumns;
	TableColumn *columns;
	int			nstreams;
	StreamSpec *streams;		/* in the order of their first column */
} TableSpec;

/*
 * Read the catalogs and resolve every option; errors where the table as a
 * whole cannot work (no key, a key type without order, conflicting options of
 * one file).  No file is opened.  Allocates in the current context.
 */
extern TableSpec *table_spec_build(Oid relid);

/*
 * Let the rows come the other way: the key is flipped from now on, and streams
 * are read from their ends.
 */
extern void table_spec_reverse(TableSpec *table);

#endif							/* OUTERJOIN_TABLE_SPEC_H */
