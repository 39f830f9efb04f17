/*-------------------------------------------------------------------------
 *
 * arrow_index.c
 *	  What has been learnt of Arrow files, kept by their identities.
 *
 * Scans share an index while they run; it only ever grows, so that it does not
 * matter who learns something first.  Indexes that nobody uses stay for the
 * life of the backend, the least recently used ones going when all have more
 * than KEPT_BYTES.
 *
 * Invariant: a kept index is that of a file that had been left alone for some
 * time before it was opened (see file_cache.c), and every read since then has
 * found the file unchanged.
 *
 * Refuses to know: how a file is read.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "utils/datum.h"
#include "utils/memutils.h"

#include "arrow/arrow_index.h"
#include "io/file_cache.h"

/* What all indexes without a user may have */
#define KEPT_BYTES			(16 * 1024 * 1024)

/* More than this of one file is not kept. */
#define KEPT_BYTES_OF_FILE	(KEPT_BYTES / 4)

/* A longer key is read each time. */
#define LONGEST_KEY			1024

struct ArrowFirstKeys
{
	ArrowFirstKeys *next;
	ArrowIndex *index;
	int			ncolumns;
	KeyReading *columns;
	int64		n;				/* record batches */
	Datum	   *values;			/* [n * ncolumns] */
	bool	   *known;			/* [n] */
};

typedef struct KeptIndex
{
	FileIdentity identity;		/* all members 8 bytes wide: no padding gets hashed */
	ArrowIndex *index;
} KeptIndex;

static HTAB *kept_indexes = NULL;
static dlist_head recent_indexes = DLIST_STATIC_INIT(recent_indexes);	/* most recent first */
static Size kept_bytes = 0;		/* sum of their "bytes" */

/* ------------------------------------------------------------ keeping */

static void
create_table(void)
{
	HASHCTL		control = {
		.keysize = sizeof(FileIdentity),
		.entrysize = sizeof(KeptIndex),
		.hcxt = TopMemoryContext
	};

	kept_indexes = hash_create("outerjoin_fdw arrow indexes", 64, &control,
							   HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
}

/* No longer to be found; it goes with its last user. */
static void
index_forget(ArrowIndex *index)
{
	(void) hash_search(kept_indexes, &index->identity, HASH_REMOVE, NULL);
	dlist_delete(&index->recent);
	kept_bytes -= index->bytes;
	index->kept = false;
	if (index->users == 0)
		MemoryContextDelete(index->context);
}

static Size
index_bytes(const ArrowIndex *index)
{
	return MemoryContextMemAllocated(index->context, true);
}

/* One that has no user any more stays, if it is not large, at the cost of others. */
static void
index_retire(ArrowIndex *index)
{
	dlist_node *node = dlist_is_empty(&recent_indexes) ? NULL : dlist_tail_node(&recent_indexes);

	kept_bytes -= index->bytes;
	index->bytes = index_bytes(index);
	kept_bytes += index->bytes;
	if (index->bytes > KEPT_BYTES_OF_FILE)
	{
		index_forget(index);
		return;
	}
	while (kept_bytes > KEPT_BYTES && node != NULL)
	{
		ArrowIndex *oldest = dlist_container(ArrowIndex, recent, node);

		node = dlist_has_prev(&recent_indexes, node) ? dlist_prev_node(&recent_indexes, node) : NULL;
		if (oldest->users == 0)
			index_forget(oldest);
	}
}

/* ------------------------------------------------------------ users */

typedef struct IndexUse
{
	MemoryContextCallback callback;
	ArrowIndex *index;
} IndexUse;

static void
index_leave(void *argument)
{
	ArrowIndex *index = ((IndexUse *) argument)->index;

	if (--index->users > 0)
		return;
	if (index->kept)
		index_retire(index);
	else
		MemoryContextDelete(index->context);
}

static void
index_use(ArrowIndex *index, IndexUse *use)
{
	use->index = index;
	use->callback.func = index_leave;
	use->callback.arg = use;
	index->users++;
	MemoryContextRegisterResetCallback(CurrentMemoryContext, &use->callback);
}

ArrowIndex *
arrow_index_find(SourceFile *file)
{
	KeptIndex  *kept;

	if (kept_indexes == NULL)
		return NULL;
	kept = hash_search(kept_indexes, source_file_identity(file), HASH_FIND, NULL);
	if (kept == NULL)
		return NULL;
	index_use(kept->index, palloc(sizeof(IndexUse)));
	dlist_move_head(&recent_indexes, &kept->index->recent);
	return kept->index;
}

ArrowIndex *
arrow_index_create(SourceFile *file)
{
	IndexUse   *use = palloc(sizeof(IndexUse));
	MemoryContext context = AllocSetContextCreate(TopMemoryContext, "outerjoin arrow index",
												  ALLOCSET_SMALL_SIZES);
	ArrowIndex *index;

	/* from here on the context has somebody who will delete it, save where this fails */
	index = MemoryContextAllocExtended(context, sizeof(ArrowIndex), MCXT_ALLOC_NO_OOM | MCXT_ALLOC_ZERO);
	if (index == NULL)
	{
		MemoryContextDelete(context);
		ereport(ERROR,
				(errcode(ERRCODE_OUT_OF_MEMORY),
				 errmsg("out of memory")));
	}
	index->context = context;
	index->identity = *source_file_identity(file);
	index->settled = file_identity_settled(&index->identity);
	index_use(index, use);
	return index;
}

void
arrow_index_keep(ArrowIndex *index)
{
	KeptIndex  *kept;
	bool		found;

	if (index->kept || !index->settled)
		return;
	if (kept_indexes == NULL)
		create_table();
	kept = hash_search(kept_indexes, &index->identity, HASH_ENTER, &found);
	if (found)
		return;					/* another scan's: it will do */
	kept->index = index;
	index->kept = true;
	dlist_push_head(&recent_indexes, &index->recent);
}

/* ------------------------------------------------------------ first keys */

static bool
same_reading(const ArrowFirstKeys *keys, int ncolumns, const KeyReading *columns)
{
	if (keys->ncolumns != ncolumns)
		return false;
	for (int i = 0; i < ncolumns; i++)
	{
		if (keys->columns[i].field != columns[i].field || keys->columns[i].type != columns[i].type ||
			keys->columns[i].typmod != columns[i].typmod)
			return false;
	}
	return true;
}

ArrowFirstKeys *
arrow_first_keys(ArrowIndex *index, int ncolumns, const KeyReading *columns)
{
	int64		n = index->batches.n;
	ArrowFirstKeys *keys;
	MemoryContext old;

	Assert(index->complete);
	for (keys = index->first_keys; keys != NULL; keys = keys->next)
	{
		if (same_reading(keys, ncolumns, columns))
			return keys;
	}
	if (!index->kept || n * (ncolumns + 1) * (int64) sizeof(Datum) > KEPT_BYTES_OF_FILE / 4 ||
		index_bytes(index) > KEPT_BYTES_OF_FILE / 2)
		return NULL;
	old = MemoryContextSwitchTo(index->context);
	keys = palloc0(sizeof(ArrowFirstKeys));
	keys->index = index;
	keys->ncolumns = ncolumns;
	keys->columns = palloc(sizeof(KeyReading) * ncolumns);
	memcpy(keys->columns, columns, sizeof(KeyReading) * ncolumns);
	keys->n = n;
	keys->values = palloc(sizeof(Datum) * ncolumns * Max(n, 1));
	keys->known = palloc0(sizeof(bool) * Max(n, 1));
	MemoryContextSwitchTo(old);
	keys->next = index->first_keys;
	index->first_keys = keys;
	return keys;
}

const Datum *
arrow_first_key(const ArrowFirstKeys *keys, int64 number)
{
	Assert(number >= 0 && number < keys->n);
	return keys->known[number] ? &keys->values[number * keys->ncolumns] : NULL;
}

void
arrow_first_key_keep(ArrowFirstKeys *keys, int64 number, const Datum *values,
					 const int16 *typlen, const bool *typbyval)
{
	MemoryContext old;

	Assert(number >= 0 && number < keys->n);
	if (keys->known[number] || index_bytes(keys->index) > KEPT_BYTES_OF_FILE)
		return;
	for (int i = 0; i < keys->ncolumns; i++)
	{
		if (!typbyval[i] && datumGetSize(values[i], false, typlen[i]) > LONGEST_KEY)
			return;
	}
	old = MemoryContextSwitchTo(keys->index->context);
	for (int i = 0; i < keys->ncolumns; i++)
		keys->values[number * keys->ncolumns + i] = datumCopy(values[i], typbyval[i], typlen[i]);
	MemoryContextSwitchTo(old);
	keys->known[number] = true;
}
