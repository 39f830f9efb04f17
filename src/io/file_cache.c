/*-------------------------------------------------------------------------
 *
 * file_cache.c
 *	  Answers about files, kept by the file's identity.
 *
 * They are kept for the life of the backend.  A file that is written again
 * has another identity, so nothing has to be told; what is no longer asked for
 * goes when the cache is full and starts anew.
 *
 * A change within the tick of the clock that the last change's time was taken
 * from leaves the identity as it was.  So an answer is kept only where the
 * file had been left alone for some time before it was read.
 *
 * Refuses to know: the questions, and the answers.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <time.h>

#include "utils/memutils.h"

#include "io/file_cache.h"

#define CACHE_ENTRIES		8192

/* No file system's times are coarser. */
#define SETTLING_SECONDS	2

/* An entry is a tag and the answer behind it. */
#define ENTRY_ANSWER(entry)	((char *) (entry) + MAXALIGN(sizeof(FileQuestionTag)))

static void
create_entries(FileCache *cache)
{
	HASHCTL		control = {
		.keysize = sizeof(FileQuestionTag),
		.entrysize = MAXALIGN(sizeof(FileQuestionTag)) + cache->answer_bytes,
		.hcxt = TopMemoryContext
	};

	cache->entries = hash_create(cache->name, 256, &control,
								 HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
}

bool
file_time_settled(int64 seconds)
{
	return (int64) time(NULL) - seconds > SETTLING_SECONDS;
}

bool
file_identity_settled(const FileIdentity *identity)
{
	return file_time_settled(identity->mtime_sec);
}

const void *
file_cache_find(FileCache *cache, const SourceFile *file, uint64 reading, FileQuestion *question)
{
	void	   *entry;

	memset(question, 0, sizeof(*question));
	question->tag.identity = *source_file_identity(file);
	question->tag.reading = reading;
	question->settled = file_identity_settled(&question->tag.identity);

	if (cache->entries == NULL)
		create_entries(cache);
	entry = hash_search(cache->entries, &question->tag, HASH_FIND, NULL);
	return entry != NULL ? ENTRY_ANSWER(entry) : NULL;
}

void
file_cache_keep(FileCache *cache, const FileQuestion *question, const void *answer)
{
	void	   *entry;

	if (!question->settled)
		return;
	if (hash_get_num_entries(cache->entries) >= CACHE_ENTRIES)
	{
		hash_destroy(cache->entries);
		cache->entries = NULL;
		create_entries(cache);
	}
	entry = hash_search(cache->entries, &question->tag, HASH_ENTER, NULL);
	memcpy(ENTRY_ANSWER(entry), answer, cache->answer_bytes);
}

static Size
entry_bytes(const FileCache *cache)
{
	return MAXALIGN(sizeof(FileQuestionTag)) + cache->answer_bytes;
}

Size
file_cache_bytes(const FileCache *cache)
{
	return cache->entries == NULL ? 0 :
		(Size) hash_get_num_entries(cache->entries) * MAXALIGN(entry_bytes(cache));
}

void
file_cache_save(const FileCache *cache, char *bytes)
{
	HASH_SEQ_STATUS sequence;
	const void *entry;

	if (cache->entries == NULL)
		return;
	hash_seq_init(&sequence, cache->entries);
	while ((entry = hash_seq_search(&sequence)) != NULL)
	{
		memcpy(bytes, entry, entry_bytes(cache));
		bytes += MAXALIGN(entry_bytes(cache));
	}
}

void
file_cache_load(FileCache *cache, const char *bytes, Size length)
{
	FileQuestion question = {.settled = true};

	if (cache->entries == NULL)
		create_entries(cache);
	for (Size at = 0; at + entry_bytes(cache) <= length; at += MAXALIGN(entry_bytes(cache)))
	{
		memcpy(&question.tag, bytes + at, sizeof(FileQuestionTag));
		file_cache_keep(cache, &question, ENTRY_ANSWER(bytes + at));
	}
}
