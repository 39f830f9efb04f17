/*-------------------------------------------------------------------------
 *
 * arrow_file.h
 *	  An Arrow IPC file or stream on disk: its schema, where its record
 *	  batches are, and the dictionaries that hold for each.
 *
 *-------------------------------------------------------------------------
 */
#ifndef OUTERJOIN_ARROW_FILE_H
#define OUTERJOIN_ARROW_FILE_H

#include "arrow/arrow_vector.h"

typedef struct ArrowFile ArrowFile;

/* What is known of one record batch without its body. */
typedef struct ArrowBatch
{
	ArrowBatchSpec spec;
	int64		body_offset;	/* in the file */
} ArrowBatch;

/*
 * Read and check what stands at the ends of the file.  The file is borrowed;
 * everything else lies in a context of its own beneath the current one.
 * What is no Arrow file, or an old or damaged one, is an error that says so.
 */
extern ArrowFile *arrow_file_open(SourceFile *source, size_t block_bytes, int64 *blocks_read);

extern const ArrowSchema *arrow_file_schema(const ArrowFile *file);
extern struct ArrowIndex *arrow_file_index(ArrowFile *file);
extern int	arrow_file_version(const ArrowFile *file);
extern const char *arrow_file_name(const ArrowFile *file);

/*
 * Is there a record batch of this number (from 0)?  In a stream this may have
 * to look for it.
 */
extern bool arrow_file_has_batch(ArrowFile *file, int64 number);

/* How many there are. */
extern int64 arrow_file_nbatches(ArrowFile *file);

/* The description of an existing record batch, valid until the next call. */
extern const ArrowBatch *arrow_file_batch(ArrowFile *file, int64 number);

/* Its body's bytes, which are known without reading anything more. */
extern int64 arrow_file_batch_bytes(const ArrowFile *file, int64 number);

/*
 * From now on record batches are gone to in no order: keep some descriptions.
 * All messages must have been found.
 */
extern void arrow_file_keep_batches(ArrowFile *file);

/* Its rows; reads the description where they are not known. */
extern int64 arrow_file_batch_rows(ArrowFile *file, int64 number);

/* Rows in the batches before this one, at most PG_INT64_MAX.  Reads their descriptions where they have not been read. */
extern int64 arrow_file_rows_before(ArrowFile *file, int64 number);

/*
 * Is the file worth reading from its end?  Not where a long way has to be
 * decompressed again and again, or dictionaries are put together anew for each
 * record batch.  Looks at the first so many batches.
 */
extern bool arrow_file_can_go_back(ArrowFile *file, int64 nbatches);

/*
 * Give a vector, and all beneath it, the dictionaries that hold for a record
 * batch.
 */
extern void arrow_file_set_dictionaries(ArrowFile *file, int64 number, ArrowVector *vector);

/* Memory that dictionaries have now. */
extern int64 arrow_file_dictionary_bytes(const ArrowFile *file);

/*
 * Dictionaries are the file's, not the vector's, and hold for the record batch
 * that was asked for last.  Changes whenever one of them does.
 */
extern uint64 arrow_file_generation(const ArrowFile *file);

extern void arrow_file_close(ArrowFile *file);

#endif							/* OUTERJOIN_ARROW_FILE_H */
