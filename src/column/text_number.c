/*-------------------------------------------------------------------------
 *
 * text_number.c
 *	  Plain booleans, integers and floating-point numbers.
 *
 * Floating point is exact or it is left to the input function.  A decimal is
 * an integer of at most 19 digits and a power of ten.  Where both fit a
 * double, one multiplication or division rounds once and hence right
 * (Clinger's fast path).  Where they do not but the power of five fits 64
 * bits, the same is done with 128-bit integers, rounding to even by hand.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <float.h>
#include <math.h>

#include "column/text_decoder.h"
#include "column/text_scan.h"

/* ------------------------------------------------------------ booleans */

static pg_attribute_always_inline bool
convert_bool(TextDecoder *decoder, ValueArena *arena, ArenaCursor *cursor,
			 const char *p, uint32 length, Datum *value)
{
	const uint32 lower_case = 0x20202020;

	(void) decoder;
	(void) arena;
	(void) cursor;
	if (length == 1)
	{
		*value = BoolGetDatum(*p == 't' || *p == '1' || *p == 'T');
		return *value != 0 || *p == 'f' || *p == '0' || *p == 'F';
	}
	if (length == 4)
	{
		*value = BoolGetDatum(true);
		return (scan_load32(p) | lower_case) == scan_load32("true");
	}
	if (length == 5)
	{
		*value = BoolGetDatum(false);
		return (scan_load32(p) | lower_case) == scan_load32("fals") && (p[4] | 0x20) == 'e';
	}
	return false;
}

void
text_loop_bool(TextDecoder *decoder, const TextRun *run)
{
	text_decode_rows(decoder, run, convert_bool);
}

/* ------------------------------------------------------------ integers */

static pg_attribute_always_inline bool
convert_int8(TextDecoder *decoder, ValueArena *arena, ArenaCursor *cursor,
			 const char *p, uint32 length, Datum *value)
{
	int64		number;

	(void) decoder;
	(void) arena;
	(void) cursor;
	if (!scan_int64(p, length, &number))
		return false;
	*value = (Datum) number;
	return true;
}

static pg_attribute_always_inline bool
convert_int4(TextDecoder *decoder, ValueArena *arena, ArenaCursor *cursor,
			 const char *p, uint32 length, Datum *value)
{
	return convert_int8(decoder, arena, cursor, p, length, value) &&
		(int64) *value == (int32) (int64) *value;
}

static pg_attribute_always_inline bool
convert_int2(TextDecoder *decoder, ValueArena *arena, ArenaCursor *cursor,
			 const char *p, uint32 length, Datum *value)
{
	return convert_int8(decoder, arena, cursor, p, length, value) &&
		(int64) *value == (int16) (int64) *value;
}

static void
loop_int2(TextDecoder *decoder, const TextRun *run)
{
	text_decode_rows(decoder, run, convert_int2);
}

void
text_loop_int2(TextDecoder *decoder, const TextRun *run)
{
	if (decoder->wide && run->rows == NULL)
		text_wide_integers(decoder, run, PG_INT16_MAX, loop_int2);
	else
		loop_int2(decoder, run);
}

static void
loop_int4(TextDecoder *decoder, const TextRun *run)
{
	text_decode_rows(decoder, run, convert_int4);
}

void
text_loop_int4(TextDecoder *decoder, const TextRun *run)
{
	if (decoder->wide && run->rows == NULL)
		text_wide_integers(decoder, run, PG_INT32_MAX, loop_int4);
	else
		loop_int4(decoder, run);
}

static void
loop_int8(TextDecoder *decoder, const TextRun *run)
{
	text_decode_rows(decoder, run, convert_int8);
}

void
text_loop_int8(TextDecoder *decoder, const TextRun *run)
{
	if (decoder->wide && run->rows == NULL)
		text_wide_integers(decoder, run, PG_INT64_MAX, loop_int8);
	else
		loop_int8(decoder, run);
}

/* ------------------------------------------------------------ floating point */

/* A number as written: digits * 10^exponent. */
typedef struct Decimal
{
	uint64		digits;
	int			exponent;
} Decimal;

#define MAX_DECIMAL_DIGITS	19	/* any 19 digits fit uint64 */
#define MAX_EXACT_INTEGER	(UINT64CONST(1) << DBL_MANT_DIG)
#define MAX_EXACT_TEN		22	/* 10^22 is the last one a double holds */
#define MAX_FIVE			27	/* 5^27 is the last one below 2^63 */

static const double exact_ten[MAX_EXACT_TEN + 1] = {
	1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
	1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22
};

static const uint64 power_of_five[MAX_FIVE + 1] = {
	UINT64CONST(1), UINT64CONST(5), UINT64CONST(25), UINT64CONST(125),
	UINT64CONST(625), UINT64CONST(3125), UINT64CONST(15625), UINT64CONST(78125),
	UINT64CONST(390625), UINT64CONST(1953125), UINT64CONST(9765625), UINT64CONST(48828125),
	UINT64CONST(244140625), UINT64CONST(1220703125), UINT64CONST(6103515625),
	UINT64CONST(30517578125), UINT64CONST(152587890625), UINT64CONST(762939453125),
	UINT64CONST(3814697265625), UINT64CONST(19073486328125), UINT64CONST(95367431640625),
	UINT64CONST(476837158203125), UINT64CONST(2384185791015625),
	UINT64CONST(11920928955078125), UINT64CONST(59604644775390625),
	UINT64CONST(298023223876953125), UINT64CONST(1490116119384765625),
	UINT64CONST(7450580596923828125)
};

/*
 * At most eight characters, digits and perhaps one point: take the point out
 * and convert the digits together.
 */
static pg_attribute_always_inline bool
scan_short_decimal(const char *p, uint32 length, Decimal *decimal)
{
	uint64		word = scan_load64(p);
	uint64		difference = word ^ SCAN_BYTES('.');
	uint64		points;
	uint64		digits;

	/* high bits of the bytes that were points; the lowest is always right */
	points = (difference - SCAN_BYTES(0x01)) & ~difference & SCAN_HIGH_BITS;
	points &= PG_UINT64_MAX >> (8 * (8 - length));
	decimal->exponent = 0;
	if (points != 0)
	{
		uint64		before = ((points & (0 - points)) >> 7) - 1;

		decimal->exponent = __builtin_ctzll(points) / 8 + 1 - (int) length;
		word = (word & before) | ((word >> 8) & ~before);
		length--;
		if (length == 0)
			return false;
	}
	digits = scan_align_digits(word, length);
	decimal->digits = scan_digits_value(digits);
	return scan_nondigits(digits) == 0;
}

/* "e-5" to -5; at most three digits */
static bool
scan_exponent(const char *p, const char *end, int *exponent)
{
	bool		negative = false;
	int			value = 0;

	p++;
	if (p < end && (*p == '-' || *p == '+'))
		negative = *p++ == '-';
	if (p == end || end - p > 3)
		return false;
	for (; p < end; p++)
	{
		if (*p < '0' || *p > '9')
			return false;
		value = value * 10 + (*p - '0');
	}
	*exponent = negative ? -value : value;
	return true;
}

/* Append the digits at p, eight at a time while there are so many. */
static pg_attribute_always_inline const char *
scan_digits(const char *p, const char *end, uint64 *digits)
{
	while (end - p >= 8)
	{
		uint64		word = scan_load64(p);

		if (scan_nondigits(word) != 0)
			break;
		*digits = *digits * UINT64CONST(100000000) + scan_digits_value(word);
		p += 8;
	}
	for (; p < end && *p >= '0' && *p <= '9'; p++)
		*digits = *digits * 10 + (uint64) (*p - '0');
	return p;
}

/*
 * Digits with at most one point, then perhaps an exponent.  Leading zeros
 * count as digits, except a single one before the point.
 */
static bool
scan_long_decimal(const char *p, uint32 length, Decimal *decimal)
{
	const char *end = p + length;
	const char *start;
	ptrdiff_t	ndigits;

	decimal->digits = 0;
	decimal->exponent = 0;
	if (length > 2 && p[0] == '0' && p[1] == '.')
		p++;
	start = p;
	p = scan_digits(p, end, &decimal->digits);
	ndigits = p - start;
	if (p < end && *p == '.')
	{
		start = ++p;
		p = scan_digits(p, end, &decimal->digits);
		ndigits += p - start;
		/* bounded before use: more than 19 digits are refused below */
		decimal->exponent = (int) Max(start - p, -MAX_DECIMAL_DIGITS);
	}
	if (ndigits == 0 || ndigits > MAX_DECIMAL_DIGITS)
		return false;
	if (p < end && (*p == 'e' || *p == 'E'))
	{
		int			exponent;

		if (!scan_exponent(p, end, &exponent))
			return false;
		decimal->exponent += exponent;
		return true;
	}
	return p == end;
}

/* 2^exponent, for exponents of normal numbers */
static inline double
power_of_two(int exponent)
{
	uint64		bits = (uint64) (exponent + DBL_MAX_EXP - 1) << (DBL_MANT_DIG - 1);
	double		result;

	memcpy(&result, &bits, sizeof(result));
	return result;
}

/*
 * number * 2^exponent as a double, rounded to nearest, ties to even.  "more"
 * says that number itself has been cut off: the true one is a little greater.
 * number has 64 significant bits.
 */
static double
round_to_double(uint64 number, bool more, int exponent)
{
	const int	surplus = 64 - DBL_MANT_DIG;
	const uint64 half = UINT64CONST(1) << (surplus - 1);
	uint64		kept = number >> surplus;
	uint64		rest = number & (2 * half - 1);

	if (rest > half || (rest == half && (more || (kept & 1) != 0)))
		kept++;
	return (double) kept * power_of_two(exponent + surplus);
}

/* digits * 5^exponent * 2^exponent by 128-bit integers, for digits > 0 */
static double
decimal_to_double_slowly(const Decimal *decimal)
{
	int			shift = __builtin_clzll(decimal->digits);
	uint64		digits = decimal->digits << shift;
	int			exponent = decimal->exponent;

	if (exponent >= 0)
	{
		uint128		product = (uint128) digits * power_of_five[exponent];
		int			bits = 64;

		/* digits fill their 64 bits: the product has 64 to 127 */
		if ((uint64) (product >> 64) != 0)
			bits = 128 - __builtin_clzll((uint64) (product >> 64));
		bits -= 64;
		return round_to_double((uint64) (product >> bits),
							   (product & (((uint128) 1 << bits) - 1)) != 0,
							   exponent + bits - shift);
	}
	else
	{
		uint64		power = power_of_five[-exponent];
		int			power_shift = __builtin_clzll(power);
		uint128		dividend = (uint128) digits << 63;
		uint64		quotient;
		bool		more;

		/* both fill their 64 bits: the quotient is above 2^62, below 2^64 */
		power <<= power_shift;
		quotient = (uint64) (dividend / power);
		more = (uint64) dividend != quotient * power;
		if ((quotient >> 63) == 0)
		{
			/* one more bit, so that 64 are significant: twice the remainder */
			uint64		remainder = (uint64) dividend - quotient * power;

			quotient <<= 1;
			power_shift--;
			if (remainder >= power - remainder)
			{
				quotient |= 1;
				more = remainder != power - remainder;
			}
		}
		return round_to_double(quotient, more, exponent + power_shift - 63 - shift);
	}
}

/* The double nearest to a number, if this file can tell for certain. */
static pg_attribute_always_inline bool
scan_double(const char *p, uint32 length, double *result)
{
	uint32		negative = length > 0 && *p == '-';
	Decimal		decimal;
	double		magnitude;

	p += negative;
	length -= negative;
	if (likely(length - 1 < 8) && scan_short_decimal(p, length, &decimal))
		 /* done */ ;
	else if (length == 0 || !scan_long_decimal(p, length, &decimal))
		return false;

	if (likely(decimal.digits <= MAX_EXACT_INTEGER &&
			   decimal.exponent >= -MAX_EXACT_TEN && decimal.exponent <= MAX_EXACT_TEN))
	{
		magnitude = (double) decimal.digits;
		if (decimal.exponent < 0)
			magnitude /= exact_ten[-decimal.exponent];
		else
			magnitude *= exact_ten[decimal.exponent];
	}
	else if (decimal.digits != 0 &&
			 decimal.exponent >= -MAX_FIVE && decimal.exponent <= MAX_FIVE)
		magnitude = decimal_to_double_slowly(&decimal);
	else
		return false;
	*result = negative ? -magnitude : magnitude;
	return true;
}

static pg_attribute_always_inline bool
convert_float8(TextDecoder *decoder, ValueArena *arena, ArenaCursor *cursor,
			   const char *p, uint32 length, Datum *value)
{
	double		number;

	(void) decoder;
	(void) arena;
	(void) cursor;
	if (!scan_double(p, length, &number))
		return false;
	*value = Float8GetDatum(number);
	return true;
}

/*
 * Rounding to double and then to float is rounding once, unless the double
 * is precisely halfway between two floats: then the first rounding may have
 * put it there.  Denormal and overflowing floats are not looked into.
 */
static pg_attribute_always_inline bool
convert_float4(TextDecoder *decoder, ValueArena *arena, ArenaCursor *cursor,
			   const char *p, uint32 length, Datum *value)
{
	const int	surplus = DBL_MANT_DIG - FLT_MANT_DIG;
	const uint64 half = UINT64CONST(1) << (surplus - 1);
	double		number;
	uint64		bits;

	(void) decoder;
	(void) arena;
	(void) cursor;
	if (!scan_double(p, length, &number))
		return false;
	memcpy(&bits, &number, sizeof(bits));
	if ((bits & (2 * half - 1)) == half)
		return false;
	if (!(fabs(number) >= FLT_MIN && fabs(number) <= FLT_MAX) && number != 0.0)
		return false;
	*value = Float4GetDatum((float) number);
	return true;
}

static void
loop_float4(TextDecoder *decoder, const TextRun *run)
{
	text_decode_rows(decoder, run, convert_float4);
}

void
text_loop_float4(TextDecoder *decoder, const TextRun *run)
{
	if (decoder->wide && run->rows == NULL)
		text_wide_floats(decoder, run, loop_float4);
	else
		loop_float4(decoder, run);
}

static void
loop_float8(TextDecoder *decoder, const TextRun *run)
{
	text_decode_rows(decoder, run, convert_float8);
}

void
text_loop_float8(TextDecoder *decoder, const TextRun *run)
{
	if (decoder->wide && run->rows == NULL)
		text_wide_doubles(decoder, run, loop_float8);
	else
		loop_float8(decoder, run);
}
