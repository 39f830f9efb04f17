/*-------------------------------------------------------------------------
 *
 * value_arena.h
 *	  The inside of a ValueArena, for loops that fill it.
 *
 * A loop keeps an ArenaCursor of its own, in registers, and gives it back at
 * its end; in between nothing else may allocate from the arena's chunks
 * (value_arena_context is a different place and may be used).
 *
 *-------------------------------------------------------------------------
 */
#ifndef OUTERJOIN_VALUE_ARENA_H
#define OUTERJOIN_VALUE_ARENA_H

#include "column/text_value.h"

/* No request above this is cut from a shared chunk. */
#define ARENA_LARGE_REQUEST	(64 * 1024)

typedef struct ArenaChunk ArenaChunk;

struct ValueArena
{
	char	   *next;			/* free bytes of the current chunk */
	char	   *limit;
	ArenaChunk *first;			/* all chunks; those after current are empty */
	ArenaChunk *current;
	ArenaChunk *large;			/* a chunk for each large value, gone at reset */
	MemoryContext parent;
	MemoryContext context;		/* for code that pallocs; made when asked for */
	bool		context_used;
	uint64		epoch;			/* no other arena's, and another after each reset */
};

typedef struct ArenaCursor
{
	char	   *next;
	char	   *limit;
} ArenaCursor;

/*
 * Go on in a chunk with at least "size" free bytes, size at most
 * ARENA_LARGE_REQUEST.
 */
extern void value_arena_grow(ValueArena *arena, size_t size);

/* A chunk of its own, MAXALIGNed; leaves the current chunk alone. */
extern void *value_arena_alloc_large(ValueArena *arena, size_t size);

static inline ArenaCursor
arena_cursor_take(const ValueArena *arena)
{
	return (ArenaCursor){arena->next, arena->limit};
}

static inline void
arena_cursor_give(ValueArena *arena, const ArenaCursor *cursor)
{
	arena->next = cursor->next;
}

/* "size" bytes at any address, at most ARENA_LARGE_REQUEST of them. */
static inline char *
arena_cursor_reserve(ValueArena *arena, ArenaCursor *cursor, size_t size)
{
	if (unlikely((size_t) (cursor->limit - cursor->next) < size))
	{
		value_arena_grow(arena, size);
		*cursor = arena_cursor_take(arena);
	}
	return cursor->next;
}

#endif							/* OUTERJOIN_VALUE_ARENA_H */
