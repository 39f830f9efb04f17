/*-------------------------------------------------------------------------
 *
 * layers.h
 *	  The layers that a stream is built of; see stream_open.c for how.
 *
 * Each implements ColumnStreamMethods over what lies below it and closes it
 * when it is closed.  Each allocates in the context that is current when it
 * is opened and keeps it; spec, key, wanted, resources and files must outlive
 * it.
 *
 *-------------------------------------------------------------------------
 */
#ifndef OUTERJOIN_LAYERS_H
#define OUTERJOIN_LAYERS_H

#include "compat.h"

#include "column/column_stream.h"

/* What file a row of a stream's current batch is from, for messages; cheap. */
typedef const char *(*RowFile) (ColumnStream *stream, int row);

/*
 * The rows of base, with an error at the first key that is before the one
 * preceding it, and repeated keys treated as declared.  row_file may be NULL
 * where all rows are from one file.
 */
extern ColumnStream *order_check_open(ColumnStream *base, DuplicatePolicy duplicates,
									  const StreamResources *resources, RowFile row_file);

/*
 * The rows of base, a format's stream that can go back and was opened with
 * resources->file_key, from the file's end to its top; "key" is that key
 * flipped.
 */
extern ColumnStream *backward_open(ColumnStream *base, const Key *key,
								   const StreamResources *resources);

/*
 * Several sorted files as one stream, merged by key, then by place in the
 * list, then by row; the other way where there is a file_key.  NULL if one of
 * them cannot be read from its end then.
 */
extern ColumnStream *segments_open(const StreamSpec *spec, List *files, const Key *key,
								   const bool *wanted, const StreamResources *resources);
extern const char *segments_row_file(ColumnStream *stream, int row);

/*
 * Files in any order as one sorted stream; equal keys by place in the list,
 * then by row.  With a file_key they are read, and checked, in the order
 * that they have, and sorted by "key" all the same.
 */
extern ColumnStream *sorted_open(const StreamSpec *spec, List *files, const Key *key,
								 const bool *wanted, const StreamResources *resources);
extern const char *sorted_row_file(ColumnStream *stream, int row);

/*
 * A file's facts by way of the cache.  file->source must be open.
 */
extern void stream_file_facts(const StreamSpec *spec, const SegmentFile *file,
							  const Key *key, StreamFacts *facts);

/*
 * Errors of order_check.c.  Row "row" of base's current batch follows row
 * "before" of "previous", which may be the same batch.
 */
pg_noreturn extern void order_error(ColumnStream *base, int row,
						const ColumnBatch *previous, int before);

/* previous_file may be NULL: the same file, or not known */
pg_noreturn extern void repeat_error(ColumnStream *base, int row, const char *previous_file);

#endif							/* OUTERJOIN_LAYERS_H */
