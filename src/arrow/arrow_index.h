/*-------------------------------------------------------------------------
 *
 * arrow_index.h
 *	  What has been learnt of an Arrow file: its schema, where its messages
 *	  are, and the first keys of record batches.
 *
 * It is kept with the file's identity when a scan ends, so that the next one
 * need not read it again.  Private to src/arrow: arrow_file.c fills in the
 * schema and the messages.
 *
 *-------------------------------------------------------------------------
 */
#ifndef OUTERJOIN_ARROW_INDEX_H
#define OUTERJOIN_ARROW_INDEX_H

#include "lib/ilist.h"

#include "arrow/arrow_converter.h"

typedef struct ArrowEntry
{
	ArrowMessageKind kind;
	int64		offset;
	int32		metadata_length;	/* what precedes the body, prefix and padding as well */
	int64		body_length;
	int64		dictionary_id;
	bool		is_delta;
	int64		rows;			/* of a record batch; -1: not known yet */
} ArrowEntry;

/* Numbers of entries, ascending. */
typedef struct EntryList
{
	int64	   *entry;
	int64		n;
	int64		capacity;
} EntryList;

typedef struct ArrowIndex
{
	MemoryContext context;		/* of all that it points to */
	ArrowSchema schema;
	int			version;

	/* messages, in the order in which they hold */
	ArrowEntry *entries;
	int64		nentries;
	int64		max_entries;
	EntryList	batches;		/* those that are record batches */
	EntryList	dictionary_batches;
	int64		next;			/* of a stream: where the next message begins */
	bool		complete;		/* there are no more */

	/* arrow_index.c's own */
	FileIdentity identity;
	int			users;
	bool		settled;		/* see file_cache.h */
	bool		kept;			/* to be found again */
	Size		bytes;			/* when it was left last */
	dlist_node	recent;
	struct ArrowFirstKeys *first_keys;
} ArrowIndex;

/*
 * What is known of the file, or NULL.  It stays until the current memory
 * context is reset.
 */
extern ArrowIndex *arrow_index_find(SourceFile *file);

/* An empty one for this file, which likewise stays that long, and no longer unless it is kept. */
extern ArrowIndex *arrow_index_create(SourceFile *file);

/*
 * The file's schema is there and right: let it be found by the next scan.  May
 * decline.
 */
extern void arrow_index_keep(ArrowIndex *index);

/* ---- first keys ---- */

typedef struct ArrowFirstKeys ArrowFirstKeys;

/* How one key column is read; the converter decides what its values are. */
typedef struct KeyReading
{
	int			field;
	Oid			type;
	int32		typmod;
} KeyReading;

/*
 * Those of keys read in this way; NULL where they are not kept.  All messages
 * must have been found.
 */
extern ArrowFirstKeys *arrow_first_keys(ArrowIndex *index, int ncolumns, const KeyReading *columns);

/* The values of a record batch's first key, [ncolumns] of them, or NULL where they are not known. */
extern const Datum *arrow_first_key(const ArrowFirstKeys *keys, int64 number);

/* Keep them; typlen and typbyval are those of the columns. */
extern void arrow_first_key_keep(ArrowFirstKeys *keys, int64 number, const Datum *values,
								 const int16 *typlen, const bool *typbyval);

#endif							/* OUTERJOIN_ARROW_INDEX_H */
