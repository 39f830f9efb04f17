/*-------------------------------------------------------------------------
 *
 * text_scan.h
 *	  Eight characters at a time: digits, hexadecimal digits, fixed patterns.
 *
 * Every function looks at bytes past the text's end (TEXT_FIELD_PADDING
 * promises that it may) and never lets them decide anything.  "false" means
 * "not the plain spelling", never "wrong".
 *
 *-------------------------------------------------------------------------
 */
#ifndef OUTERJOIN_TEXT_SCAN_H
#define OUTERJOIN_TEXT_SCAN_H

#include "postgres.h"

#include "port/pg_bswap.h"

/* The byte b in all eight places. */
#define SCAN_BYTES(b)	(UINT64CONST(0x0101010101010101) * (b))
#define SCAN_HIGH_BITS	SCAN_BYTES(0x80)

/* The first character stands in the lowest byte, whatever the machine. */
static inline uint64
scan_load64(const char *p)
{
	uint64		word;

	memcpy(&word, p, sizeof(word));
#ifdef WORDS_BIGENDIAN
	word = pg_bswap64(word);
#endif
	return word;
}

static inline uint32
scan_load32(const char *p)
{
	uint32		word;

	memcpy(&word, p, sizeof(word));
#ifdef WORDS_BIGENDIAN
	word = pg_bswap32(word);
#endif
	return word;
}

static inline void
scan_store32(char *p, uint32 word)
{
#ifdef WORDS_BIGENDIAN
	word = pg_bswap32(word);
#endif
	memcpy(p, &word, sizeof(word));
}

/* Keep the first n characters (1 .. 8), moved to the end behind zeros. */
static inline uint64
scan_align_digits(uint64 word, uint32 n)
{
	return (word << (8 * (8 - n))) | ((SCAN_BYTES('0') >> 8) >> (8 * (n - 1)));
}

/*
 * High bits set in the bytes that are no decimal digits.  Exact up to and
 * including the first such byte, and empty exactly if there is none.
 */
static inline uint64
scan_nondigits(uint64 word)
{
	uint64		digits = word ^ SCAN_BYTES('0');

	return (digits | (digits + SCAN_BYTES(0x76))) & SCAN_HIGH_BITS;
}

/* The number that eight digits make. */
static inline uint32
scan_digits_value(uint64 word)
{
	word = ((word & SCAN_BYTES(0x0F)) * (10 * 0x100 + 1)) >> 8;
	word = ((word & UINT64CONST(0x00FF00FF00FF00FF)) * (100 * 0x10000 + 1)) >> 16;
	word = ((word & UINT64CONST(0x0000FFFF0000FFFF)) * (UINT64CONST(10000) * UINT64CONST(0x100000000) + 1)) >> 32;
	return (uint32) word;
}

/*
 * Does the word match a pattern of eight characters, in which '0' stands for
 * any digit?  The digits' values are in *digits, one a byte, 0 elsewhere.
 */
static inline bool
scan_match(uint64 word, uint64 pattern, uint64 *digits)
{
	/*
	 * xor leaves 0 .. 9 of a digit and 0 of any other character expected;
	 * adding 0x76 or 0x7F carries whatever is greater into the high bit.
	 */
	uint64		rest = word ^ pattern;
	uint64		fixed = ((pattern ^ SCAN_BYTES('0')) + SCAN_BYTES(0x7F)) & SCAN_HIGH_BITS;
	uint64		allowance = SCAN_BYTES(0x76) + (fixed >> 7) * (0x7F - 0x76);

	*digits = rest;
	return ((rest | (rest + allowance)) & SCAN_HIGH_BITS) == 0;
}

/* One digit's value, and that of two, from a word that scan_match filled. */
static inline int
scan_digit(uint64 digits, int place)
{
	return (int) (digits >> (8 * place)) & 0xFF;
}

static inline int
scan_two_digits(uint64 digits, int place)
{
	return scan_digit(digits, place) * 10 + scan_digit(digits, place + 1);
}

/* Up to 19 digits and nothing else; every such number fits. */
static pg_attribute_always_inline bool
scan_unsigned(const char *p, uint32 len, uint64 *result)
{
	uint64		first;
	uint64		second;
	uint64		third;

	if (likely(len - 1 < 8))
	{
		first = scan_align_digits(scan_load64(p), len);
		*result = scan_digits_value(first);
		return scan_nondigits(first) == 0;
	}
	if (len - 9 < 8)
	{
		first = scan_align_digits(scan_load64(p), len - 8);
		second = scan_load64(p + len - 8);
		*result = scan_digits_value(first) * UINT64CONST(100000000) + scan_digits_value(second);
		return (scan_nondigits(first) | scan_nondigits(second)) == 0;
	}
	if (len - 17 < 3)
	{
		first = scan_align_digits(scan_load64(p), len - 16);
		second = scan_load64(p + len - 16);
		third = scan_load64(p + len - 8);
		*result = (scan_digits_value(first) * UINT64CONST(100000000) + scan_digits_value(second)) *
			UINT64CONST(100000000) + scan_digits_value(third);
		return (scan_nondigits(first) | scan_nondigits(second) | scan_nondigits(third)) == 0;
	}
	return false;
}

/* Digits behind an optional minus sign, within int64. */
static pg_attribute_always_inline bool
scan_int64(const char *p, uint32 len, int64 *result)
{
	uint64		negative = len > 0 && *p == '-';
	uint64		magnitude;

	if (!scan_unsigned(p + negative, len - (uint32) negative, &magnitude) ||
		magnitude > (uint64) PG_INT64_MAX + negative)
		return false;
	*result = (int64) ((magnitude ^ (0 - negative)) + negative);
	return true;
}

/* Eight hexadecimal digits of either case to four bytes, the first one lowest. */
static inline bool
scan_hex(uint64 word, uint32 *result)
{
	uint64		lower = word | SCAN_BYTES(0x20);
	uint64		digit = (word + SCAN_BYTES(0x80 - '0')) & ~(word + SCAN_BYTES(0x80 - '9' - 1));
	uint64		letter = (lower + SCAN_BYTES(0x80 - 'a')) & ~(lower + SCAN_BYTES(0x80 - 'f' - 1));
	uint64		nibbles;

	/* no sum above carries into the next byte once all high bits are clear */
	if ((word & SCAN_HIGH_BITS) != 0 || ((digit | letter) & SCAN_HIGH_BITS) != SCAN_HIGH_BITS)
		return false;
	nibbles = (word & SCAN_BYTES(0x0F)) + ((letter & SCAN_HIGH_BITS) >> 7) * 9;
	nibbles = ((nibbles << 4) | (nibbles >> 8)) & UINT64CONST(0x00FF00FF00FF00FF);
	nibbles = (nibbles | (nibbles >> 8)) & UINT64CONST(0x0000FFFF0000FFFF);
	*result = (uint32) (nibbles | (nibbles >> 16));
	return true;
}

#endif							/* OUTERJOIN_TEXT_SCAN_H */
