/*-------------------------------------------------------------------------
 *
 * value_arena.c
 *	  Memory for the by-reference values of one batch.
 *
 * A list of chunks and a pointer that moves through them.  A reset goes back
 * to the first chunk and keeps the others for the next batch, save for one
 * that the batch did not reach, so that the memory kept follows what batches
 * need.  A value too large to share a chunk gets one of its own and loses it
 * at the reset: one huge value must not be paid for until the scan's end.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "column/value_arena.h"

#define ARENA_FIRST_CHUNK	(8 * 1024)
#define ARENA_LARGEST_CHUNK	(1024 * 1024)

StaticAssertDecl(ARENA_LARGE_REQUEST <= ARENA_LARGEST_CHUNK, "a chunk must hold any shared request");

struct ArenaChunk
{
	ArenaChunk *next;
	size_t		size;			/* of data */
	char		data[FLEXIBLE_ARRAY_MEMBER];
};

StaticAssertDecl(offsetof(ArenaChunk, data) % MAXIMUM_ALIGNOF == 0, "chunk data must be aligned");

static ArenaChunk *
chunk_create(ValueArena *arena, size_t size)
{
	ArenaChunk *chunk;

	chunk = MemoryContextAlloc(arena->parent, offsetof(ArenaChunk, data) + size);
	chunk->next = NULL;
	chunk->size = size;
	return chunk;
}

static void
chunk_enter(ValueArena *arena, ArenaChunk *chunk)
{
	arena->current = chunk;
	arena->next = chunk->data;
	arena->limit = chunk->data + chunk->size;
}

/* Values of one epoch are gone in the next. */
static uint64
next_epoch(void)
{
	static uint64 epoch = 0;

	return ++epoch;
}

/* Lives in "parent", with all it will ever allocate. */
ValueArena *
value_arena_create(MemoryContext parent)
{
	ValueArena *arena = MemoryContextAllocZero(parent, sizeof(ValueArena));

	arena->parent = parent;
	arena->epoch = next_epoch();
	return arena;
}

void
value_arena_grow(ValueArena *arena, size_t size)
{
	ArenaChunk *current = arena->current;
	ArenaChunk *chunk = current ? current->next : NULL;

	Assert(size <= ARENA_LARGE_REQUEST);

	if (chunk == NULL || chunk->size < size)
	{
		size_t		wanted = current ? Min(current->size * 2, ARENA_LARGEST_CHUNK) : ARENA_FIRST_CHUNK;

		chunk = chunk_create(arena, Max(wanted, size));
		if (current == NULL)
			arena->first = chunk;
		else
		{
			chunk->next = current->next;
			current->next = chunk;
		}
	}
	chunk_enter(arena, chunk);
}

void *
value_arena_alloc_large(ValueArena *arena, size_t size)
{
	ArenaChunk *chunk;

	if (size > MaxAllocSize - offsetof(ArenaChunk, data))
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("value of %zu bytes is too large", size)));
	chunk = chunk_create(arena, size);
	chunk->next = arena->large;
	arena->large = chunk;
	return chunk->data;
}

void *
value_arena_alloc(ValueArena *arena, size_t size)
{
	char	   *result;

	if (size > ARENA_LARGE_REQUEST - MAXIMUM_ALIGNOF)
		return value_arena_alloc_large(arena, size);

	result = (char *) MAXALIGN(arena->next);
	if (arena->next == NULL || result > arena->limit || (size_t) (arena->limit - result) < size)
	{
		value_arena_grow(arena, size);
		result = arena->next;
	}
	arena->next = result + size;
	return result;
}

MemoryContext
value_arena_context(ValueArena *arena)
{
	if (arena->context == NULL)
		arena->context = AllocSetContextCreate(arena->parent, "outerjoin_fdw values",
											   ALLOCSET_DEFAULT_SIZES);
	arena->context_used = true;
	return arena->context;
}

/* Free one chunk after the current one, if there is any. */
static void
drop_unused_chunk(ValueArena *arena)
{
	ArenaChunk *unused = arena->current ? arena->current->next : NULL;

	if (unused != NULL)
	{
		arena->current->next = unused->next;
		pfree(unused);
	}
}

void
value_arena_reset(ValueArena *arena)
{
	arena->epoch = next_epoch();
	while (arena->large != NULL)
	{
		ArenaChunk *chunk = arena->large;

		arena->large = chunk->next;
		pfree(chunk);
	}
	drop_unused_chunk(arena);
	if (arena->first != NULL)
		chunk_enter(arena, arena->first);
	if (arena->context_used)
	{
		MemoryContextReset(arena->context);
		arena->context_used = false;
	}
}
