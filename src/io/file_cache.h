/*-------------------------------------------------------------------------
 *
 * file_cache.h
 *	  Answers about files, kept by the file's identity.
 *
 *-------------------------------------------------------------------------
 */
#ifndef OUTERJOIN_FILE_CACHE_H
#define OUTERJOIN_FILE_CACHE_H

#include "utils/hsearch.h"

#include "io/source_file.h"

/* A static variable with the first two members set. */
typedef struct FileCache
{
	const char *name;
	Size		answer_bytes;
	HTAB	   *entries;		/* NULL until the first question */
} FileCache;

/* All members that are compared are 8 bytes wide: no padding gets hashed. */
typedef struct FileQuestionTag
{
	FileIdentity identity;
	uint64		reading;		/* whatever decides how the file is read */
} FileQuestionTag;

typedef struct FileQuestion
{
	FileQuestionTag tag;
	bool		settled;		/* a change from now on will show in the identity */
} FileQuestion;

/* Will a change from now on show in a time of change that was this one?  See file_cache.c. */
extern bool file_time_settled(int64 seconds);

/* Will it show in the identity? */
extern bool file_identity_settled(const FileIdentity *identity);

/*
 * The answer that was kept, valid until the next file_cache_keep, or NULL.
 * Then read the file, and keep what "question" is answered with.
 */
extern const void *file_cache_find(FileCache *cache, const SourceFile *file, uint64 reading,
								   FileQuestion *question);

extern void file_cache_keep(FileCache *cache, const FileQuestion *question, const void *answer);

/* All answers as bytes, and those of another process taken over. */
extern Size file_cache_bytes(const FileCache *cache);
extern void file_cache_save(const FileCache *cache, char *bytes);
extern void file_cache_load(FileCache *cache, const char *bytes, Size length);

#endif							/* OUTERJOIN_FILE_CACHE_H */
