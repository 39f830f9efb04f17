/*-------------------------------------------------------------------------
 *
 * split.h
 *	  Keys that split streams into parts of about the same work.
 *
 *-------------------------------------------------------------------------
 */
#ifndef OUTERJOIN_SPLIT_H
#define OUTERJOIN_SPLIT_H

#include "column/column_stream.h"

/* Keys met in streams, and how many rows each stands for. */
typedef struct KeySample
{
	const Key  *key;
	MemoryContext context;
	int			n;
	int			capacity;
	double	   *rows;			/* [n] */
	ColumnBatch keys;			/* as rows 0 .. n - 1, in no order */
} KeySample;

/* Allocates in the current context, which later calls use, too. */
extern KeySample *key_sample_create(const Key *key);

/*
 * Add about n keys, evenly spread over the stream's rows that lie in the range
 * (NULL: everything).  Opens the stream's files for it.  False where the
 * stream can be read from its top only, so that parts would not be worth
 * while.
 */
extern bool key_sample_add(KeySample *sample, const StreamSpec *spec, const KeyRange *range, int n);

/*
 * Rows of the sample, at most nparts - 1 of them, whose keys divide what it
 * stands for into parts of about the same size: ascending and distinct.
 * Returns their number.
 */
extern int	key_sample_split(const KeySample *sample, int nparts, int *rows);

/*
 * What this process has found out about files that another one, which reads
 * the same, would have to find out again.
 */
extern Size stream_findings_bytes(void);
extern void stream_findings_save(char *bytes);
extern void stream_findings_load(const char *bytes, Size length);

#endif							/* OUTERJOIN_SPLIT_H */
