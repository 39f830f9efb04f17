/*-------------------------------------------------------------------------
 *
 * stream.h
 *	  One sorted stream, whatever it is made of.
 *
 * A stream opened here has its order checked on every row, its segments
 * merged, is sorted on the fly where it is not sorted, and its duplicates are
 * treated as declared: keys come strictly ascending (in stream order), or not
 * descending with DUPLICATES_ALL.
 *
 *-------------------------------------------------------------------------
 */
#ifndef OUTERJOIN_STREAM_H
#define OUTERJOIN_STREAM_H

#include "column/column_stream.h"

/*
 * Opens the files now (files beyond the descriptor limit are opened, noted
 * and closed for a while).  Allocates in the current context.  wanted is
 * copied.
 */
extern ColumnStream *stream_open(const StreamSpec *spec, const Key *key,
								 const bool *wanted, const StreamResources *resources);

/* The files a stream stands on, as SegmentFile *; none, or more than one to choose from, is an error. */
extern List *stream_files(const StreamSpec *spec);

/* The same for who only wants to look: NIL where no file is there. */
extern List *stream_files_present(const StreamSpec *spec);

/*
 * Planner's view, from a cache keyed by the files' identities.  A file that is
 * not there is no error yet.
 */
extern void stream_facts(const StreamSpec *spec, const Key *key, StreamFacts *facts);

/* Is there a format of this name? */
extern bool stream_format_known(const char *name, bool *is_text, bool *is_csv);
/* "csv, text", for hints */
extern const char *stream_format_names(void);
/* The format of a program's output where none is declared: it has no extension to say so. */
extern const char *stream_program_format(void);
/* Format (NULL if unknown) and compression that a file's name says. */
extern const struct ColumnFormat *stream_format_from_path(const char *path, bool *is_csv,
														  Compression *compression);

#endif							/* OUTERJOIN_STREAM_H */
