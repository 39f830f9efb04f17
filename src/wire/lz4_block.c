/*-------------------------------------------------------------------------
 *
 * lz4_block.c
 *	  One block of the LZ4 format, decompressed.
 *
 * liblz4 does the same, and faster, but for what matters here most.  A sorted
 * column of 64-bit integers becomes a row of sequences that each take a byte
 * or two as they are and the others from the integer before.  Copied through
 * memory, each of them waits for the stores of the one before to arrive; kept
 * in a register, none does, and ten are done in the time of one.
 *
 * Invariants:
 *	- in <= in_end, and nothing is read at or behind in_end.
 *	- out <= out_end; copies in steps write less than LZ4_BLOCK_SLACK bytes
 *	  behind it.
 *	- A match begins no further back than the history.
 *
 * Refuses to know frames, checksums, and where the bytes come from.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "wire/byte_cursor.h"
#include "wire/lz4_block.h"

#define MIN_MATCH		4
#define LENGTH_FOLLOWS	15		/* of a token's four bits: more bytes add to it */
#define COPY_STEP		16

/* The integers' size, and so the distance of their matches. */
#define STRIDE			8

/* Of so many sequences at a block's beginning half must be integers. */
#define SEQUENCES_LOOKED_AT	32

StaticAssertDecl(2 * COPY_STEP <= LZ4_BLOCK_SLACK, "a copy in steps ends within the slack");

typedef struct BlockCursor
{
	const uint8 *in;
	const uint8 *in_end;
	uint8	   *out;
	uint8	   *out_end;
	const uint8 *begin;			/* of the history */
} BlockCursor;

typedef struct Sequence
{
	const uint8 *literal;
	size_t		literals;
	size_t		match;
	size_t		distance;		/* not looked at: may be anything, and is 0 for the last */
	bool		last;			/* there is no match */
} Sequence;

/* The bytes that add to a length; false if they go on past the end. */
static pg_attribute_always_inline bool
add_length(BlockCursor *c, size_t *length)
{
	uint8		byte;

	do
	{
		if (c->in == c->in_end)
			return false;
		byte = *c->in++;
		*length += byte;
	} while (byte == 255);
	return true;
}

/* False if there is none left, or none that is whole. */
static pg_attribute_always_inline bool
next_sequence(BlockCursor *c, Sequence *sequence)
{
	uint8		token;

	if (c->in == c->in_end)
		return false;
	token = *c->in++;
	sequence->literals = token >> 4;
	sequence->match = token & 0xF;
	if (unlikely(sequence->literals == LENGTH_FOLLOWS) && !add_length(c, &sequence->literals))
		return false;
	if (sequence->literals > (size_t) (c->in_end - c->in))
		return false;
	sequence->literal = c->in;
	c->in += sequence->literals;
	sequence->distance = 0;
	sequence->last = c->in == c->in_end;
	if (unlikely(sequence->last))
		return true;
	if (c->in_end - c->in < 2)
		return false;
	sequence->distance = byte_load_u16(c->in);
	c->in += 2;
	if (unlikely(sequence->match == LENGTH_FOLLOWS) && !add_length(c, &sequence->match))
		return false;
	sequence->match += MIN_MATCH;
	return true;
}

/* One of sorted integers, which differs from the one before in its lowest bytes? */
static inline bool
sequence_is_stride(const Sequence *sequence)
{
	return !sequence->last && sequence->distance == STRIDE &&
		sequence->literals + sequence->match == STRIDE;
}

/*
 * Two steps at a time, each of which may read what the one before has written.
 * Most copies end with the first two: then nothing is to be foretold.
 */
static pg_attribute_always_inline void
copy_steps(uint8 *out, const uint8 *from, size_t length, int step)
{
	size_t		done = 0;

	do
	{
		memcpy(out + done, from + done, step);
		memcpy(out + done + step, from + done + step, step);
		done += 2 * step;
	} while (unlikely(done < length));
}

static pg_attribute_always_inline bool
copy_literals(BlockCursor *c, const uint8 *literal, size_t length)
{
	if (length > (size_t) (c->out_end - c->out))
		return false;
	if (likely((size_t) (c->in_end - literal) >= length + 2 * COPY_STEP))
		copy_steps(c->out, literal, length, COPY_STEP);
	else
		memcpy(c->out, literal, length);
	c->out += length;
	return true;
}

/* The last "distance" bytes again and again. */
static void
copy_pattern(uint8 *out, size_t distance, size_t length)
{
	/* so many whole patterns that eight bytes do not overlap where they come from */
	size_t		stride = distance * ((8 + distance - 1) / distance);

	for (int i = 0; i < 8; i++)
		out[i] = *(out + i - distance);
	if (length > 8)
		copy_steps(out + 8, out + 8 - stride, length - 8, 8);
}

static pg_attribute_always_inline bool
copy_match(BlockCursor *c, size_t distance, size_t length)
{
	if (distance == 0 || distance > (size_t) (c->out - c->begin) ||
		length > (size_t) (c->out_end - c->out))
		return false;
	if (distance >= COPY_STEP)
		copy_steps(c->out, c->out - distance, length, COPY_STEP);
	else if (distance >= 8)
		copy_steps(c->out, c->out - distance, length, 8);
	else
		copy_pattern(c->out, distance, length);
	c->out += length;
	return true;
}

bool
lz4_block_is_strided(const uint8 *in, size_t length)
{
	BlockCursor c = {in, in + length, NULL, NULL, NULL};
	Sequence	sequence;
	int			seen = 0;
	int			strides = 0;

	for (; seen < SEQUENCES_LOOKED_AT && next_sequence(&c, &sequence); seen++)
		strides += sequence_is_stride(&sequence);
	return strides > SEQUENCES_LOOKED_AT / 2;
}

#ifndef WORDS_BIGENDIAN

/* Of a sequence's first eight bytes: the token and the distance behind one literal. */
#define ONE_LITERAL			UINT64CONST(0x00000000FFFF00FF)
#define ONE_LITERAL_STRIDE	UINT64CONST(0x0000000000080013)

/*
 * Integers, each 0 to 4 literals and the rest from the one before, as far as
 * they go on.  There is one before out.
 */
static pg_attribute_always_inline void
take_strides(BlockCursor *c)
{
	const uint8 *in = c->in;
	uint8	   *out = c->out;
	uint64		word;

	memcpy(&word, out - STRIDE, STRIDE);
	while (c->in_end - in >= 8 && c->out_end - out >= STRIDE)
	{
		uint64		next = byte_load_u64(in);

		/* a branch is foretold, and so the next sequence need not wait for this one's length */
		if (likely((next & ONE_LITERAL) == ONE_LITERAL_STRIDE))
		{
			word = (word & ~UINT64CONST(0xFF)) | (uint8) (next >> 8);
			in += 4;
		}
		else
		{
			unsigned	literals = (next >> 4) & 0xF;
			uint64		mask;

			if (literals + (next & 0xF) != 4 || (uint16) (next >> (8 * literals + 8)) != 8)
				break;
			mask = (UINT64CONST(1) << (8 * literals)) - 1;
			word = (word & ~mask) | ((next >> 8) & mask);
			in += literals + 3;
		}
		memcpy(out, &word, STRIDE);
		out += STRIDE;
	}
	c->in = in;
	c->out = out;
}

#else							/* WORDS_BIGENDIAN */

static void
take_strides(BlockCursor *c)
{
	(void) c;
}

#endif							/* WORDS_BIGENDIAN */

bool
lz4_block_decompress(const uint8 *in, size_t length,
					 uint8 *out, size_t capacity, size_t history, size_t *produced)
{
	BlockCursor c = {in, in + length, out, out + capacity, out - history};
	Sequence	sequence;

	while (next_sequence(&c, &sequence))
	{
		if (!copy_literals(&c, sequence.literal, sequence.literals))
			return false;
		if (sequence.last)
		{
			*produced = (size_t) (c.out - out);
			return true;
		}
		if (!copy_match(&c, sequence.distance, sequence.match))
			return false;
		if (sequence_is_stride(&sequence))
			take_strides(&c);
	}
	return false;
}
