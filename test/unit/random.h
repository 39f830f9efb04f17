/*-------------------------------------------------------------------------
 *
 * random.h
 *	  Numbers that look random and are the same for the same seed.
 *
 *-------------------------------------------------------------------------
 */
#ifndef OUTERJOIN_RANDOM_H
#define OUTERJOIN_RANDOM_H

#include "tap.h"

static uint64 random_state = 1;

/* Begin with the seed that is the first argument, or 1; says and returns it. */
static inline uint64
random_begin(int argc, char **argv)
{
	uint64		seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;

	random_state = seed * UINT64CONST(0x9E3779B97F4A7C15) + 1;
	tap_note("seed %llu", (unsigned long long) seed);
	return seed;
}

static inline uint32
random_next(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (uint32) (random_state >> 16);
}

static inline int
random_below(int n)
{
	return n > 0 ? (int) (random_next() % (uint32) n) : 0;
}

static inline bool
one_in(int n)
{
	return random_below(n) == 0;
}

#endif							/* OUTERJOIN_RANDOM_H */
