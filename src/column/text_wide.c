/*-------------------------------------------------------------------------
 *
 * text_wide.c
 *	  Integers and decimals, four rows at a time.
 *
 * The same arithmetic as in text_scan.h, in the four lanes of an AVX2
 * register.  Four rows of which one is not plain (longer, negative, null,
 * quoted, or no number) are left to the ordinary loop together.
 *
 * Invariant: what this file decodes it decodes as the ordinary loop would.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "column/text_decoder.h"
#include "column/text_scan.h"

#if defined(__x86_64__)
#include <immintrin.h>
#define WIDE_X86
#endif

#define WIDE_ROWS	4

#ifdef WIDE_X86

#define TARGET_AVX2		__attribute__((target("avx2")))

bool
text_wide_available(void)
{
	return __builtin_cpu_supports("avx2");
}

/* The first eight characters of four fields. */
static inline TARGET_AVX2 __m256i
load_fields(const char *base, const uint32 *offset)
{
	return _mm256_set_epi64x((int64) scan_load64(base + offset[3]),
							 (int64) scan_load64(base + offset[2]),
							 (int64) scan_load64(base + offset[1]),
							 (int64) scan_load64(base + offset[0]));
}

/* Are all lengths between 1 and "most"?  A null's or quoted field's is not. */
static inline TARGET_AVX2 bool
lengths_within(__m128i length, int most)
{
	__m128i		less_one = _mm_sub_epi32(length, _mm_set1_epi32(1));
	__m128i		limit = _mm_set1_epi32(most - 1);

	return _mm_movemask_epi8(_mm_cmpeq_epi32(_mm_max_epu32(less_one, limit), limit)) == 0xFFFF;
}

/* Are all bytes at most 9? */
static inline TARGET_AVX2 bool
all_digits(__m256i digits)
{
	__m256i		nine = _mm256_set1_epi8(9);

	return _mm256_movemask_epi8(_mm256_cmpeq_epi8(_mm256_max_epu8(digits, nine), nine)) == -1;
}

/* Eight digits of each lane, the first one in the lowest byte, to numbers. */
static inline TARGET_AVX2 __m256i
digits_value(__m256i digits)
{
	__m256i		pairs = _mm256_maddubs_epi16(digits, _mm256_set1_epi16(1 << 8 | 10));
	__m256i		fours = _mm256_madd_epi16(pairs, _mm256_set1_epi32(1 << 16 | 100));

	return _mm256_add_epi64(_mm256_mul_epu32(fours, _mm256_set1_epi64x(10000)),
							_mm256_srli_epi64(fours, 32));
}

/* Keep the first n characters of each lane, as digits behind zeros; n is 0 to 8. */
static inline TARGET_AVX2 __m256i
align_digits(__m256i words, __m256i n)
{
	__m256i		digits = _mm256_xor_si256(words, _mm256_set1_epi8('0'));

	return _mm256_sllv_epi64(digits, _mm256_sub_epi64(_mm256_set1_epi64x(64),
													  _mm256_slli_epi64(n, 3)));
}

/*
 * Four integers of 1 to 16 digits; false if one is something else, or
 * greater than "most".
 */
static inline TARGET_AVX2 bool
convert_integers(const char *base, const uint32 *offset, const uint32 *lengths,
				 int64 most, Datum *values)
{
	__m128i		length = _mm_loadu_si128((const __m128i *) lengths);
	__m256i		n = _mm256_cvtepu32_epi64(length);
	__m256i		first = load_fields(base, offset);
	__m256i		digits;
	__m256i		number;

	if (likely(lengths_within(length, 8)))
	{
		digits = align_digits(first, n);
		if (!all_digits(digits))
			return false;
		number = digits_value(digits);
	}
	else
	{
		const __m256i eight = _mm256_set1_epi64x(8);
		__m256i		rest;
		__m256i		surplus;
		uint32		second[WIDE_ROWS];

		if (!lengths_within(length, 16))
			return false;
		/* the last eight characters, or all of fewer; what precedes them */
		for (int i = 0; i < WIDE_ROWS; i++)
			second[i] = offset[i] + (lengths[i] > 8 ? lengths[i] - 8 : 0);
		surplus = _mm256_and_si256(_mm256_sub_epi64(n, eight), _mm256_cmpgt_epi64(n, eight));
		rest = align_digits(load_fields(base, second), _mm256_sub_epi64(n, surplus));
		digits = align_digits(first, surplus);
		if (!all_digits(digits) || !all_digits(rest))
			return false;
		digits = digits_value(digits);
		/* below 10^8 each, so that the product is one of 32-bit numbers */
		number = _mm256_add_epi64(_mm256_mul_epu32(digits, _mm256_set1_epi64x(100000000)),
								  digits_value(rest));
	}
	if (most < INT64CONST(9999999999999999) &&
		_mm256_movemask_epi8(_mm256_cmpgt_epi64(number, _mm256_set1_epi64x(most))) != 0)
		return false;
	_mm256_storeu_si256((__m256i *) values, number);
	return true;
}

/* 10^n for each lane's n of 0 to 7; as doubles they are exact. */
static inline TARGET_AVX2 __m256d
powers_of_ten(__m256i n)
{
	static const double ten[] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7};
	uint64		index[WIDE_ROWS];

	_mm256_storeu_si256((__m256i *) index, n);
	return _mm256_set_pd(ten[index[3]], ten[index[2]], ten[index[1]], ten[index[0]]);
}

/*
 * Four decimals of 1 to 8 characters, digits with at most one point; false if
 * one is something else.  One division of exact numbers rounds right.
 */
static inline TARGET_AVX2 bool
convert_decimals(const char *base, const uint32 *offset, const uint32 *lengths, __m256d *result)
{
	const __m256i zero = _mm256_setzero_si256();
	const __m256i ones = _mm256_set1_epi64x(-1);
	__m128i		length = _mm_loadu_si128((const __m128i *) lengths);
	__m256i		digits;
	__m256i		points;
	__m256i		point;
	__m256i		has_none;
	__m256i		above;			/* the bytes of what precedes the point */
	__m256i		below;			/* and of what follows it; all of them without one */
	__m256i		places;
	__m256i		number;

	if (!lengths_within(length, 8))
		return false;
	digits = align_digits(load_fields(base, offset), _mm256_cvtepu32_epi64(length));
	points = _mm256_cmpeq_epi8(digits, _mm256_set1_epi8('.' ^ '0'));
	has_none = _mm256_cmpeq_epi64(points, zero);

	/* its lowest bit, less one; from there the first point's byte */
	point = _mm256_and_si256(points, _mm256_sub_epi64(zero, points));
	above = _mm256_andnot_si256(has_none, _mm256_add_epi64(point, ones));
	point = _mm256_sub_epi64(_mm256_slli_epi64(point, 8), point);
	below = _mm256_andnot_si256(_mm256_or_si256(above, point), ones);

	/* take the point out; a second one stays, and is no digit */
	places = _mm256_sad_epu8(_mm256_and_si256(_mm256_andnot_si256(has_none, below),
											  _mm256_set1_epi8(1)), zero);
	digits = _mm256_or_si256(_mm256_slli_epi64(_mm256_and_si256(digits, above), 8),
							 _mm256_and_si256(digits, below));
	if (!all_digits(digits))
		return false;

	/* a point needs a digit on one side */
	if (_mm_movemask_epi8(_mm_cmpeq_epi32(length, _mm_set1_epi32(1))) != 0 &&
		_mm256_movemask_epi8(has_none) != -1)
		return false;

	number = _mm256_permutevar8x32_epi32(digits_value(digits),
										 _mm256_setr_epi32(0, 2, 4, 6, 0, 2, 4, 6));
	*result = _mm256_div_pd(_mm256_cvtepi32_pd(_mm256_castsi256_si128(number)),
							powers_of_ten(places));
	return true;
}

static inline TARGET_AVX2 bool
convert_doubles(const char *base, const uint32 *offset, const uint32 *lengths,
				int64 most, Datum *values)
{
	__m256d		result;

	(void) most;
	if (!convert_decimals(base, offset, lengths, &result))
		return false;
	_mm256_storeu_pd((double *) values, result);
	return true;
}

/*
 * Rounding to double first does no harm unless the double lies halfway
 * between two floats.  So few digits are never out of a float's range.
 */
static inline TARGET_AVX2 bool
convert_floats(const char *base, const uint32 *offset, const uint32 *lengths,
				int64 most, Datum *values)
{
	const __m256i below = _mm256_set1_epi64x((INT64CONST(1) << 29) - 1);
	const __m256i half = _mm256_set1_epi64x(INT64CONST(1) << 28);
	__m256d		result;
	__m256i		rest;

	(void) most;
	if (!convert_decimals(base, offset, lengths, &result))
		return false;
	rest = _mm256_and_si256(_mm256_castpd_si256(result), below);
	if (_mm256_movemask_epi8(_mm256_cmpeq_epi64(rest, half)) != 0)
		return false;
	_mm256_storeu_si256((__m256i *) values,
						_mm256_cvtepu32_epi64(_mm_castps_si128(_mm256_cvtpd_ps(result))));
	return true;
}

static pg_noinline void
run_ordinary(TextDecoder *decoder, const TextRun *run, int from, int to, TextLoop ordinary)
{
	TextRun		part = *run;

	part.from = from;
	part.to = to;
	ordinary(decoder, &part);
}

typedef bool (*WideConverter) (const char *base, const uint32 *offset, const uint32 *lengths,
							   int64 most, Datum *values);

/* Rows by fours; what the converter does not take goes to the ordinary loop. */
static pg_attribute_always_inline TARGET_AVX2 void
wide_rows(TextDecoder *decoder, const TextRun *run, int64 most, TextLoop ordinary,
		  WideConverter convert)
{
	const TextFields *fields = run->fields;
	int			row = run->from;

	for (; row + WIDE_ROWS <= run->to; row += WIDE_ROWS)
	{
		if (likely(convert(fields->base, fields->offset + row, fields->length + row,
						   most, run->values + row)))
			memset(run->isnull + row, false, sizeof(bool) * WIDE_ROWS);
		else
			run_ordinary(decoder, run, row, row + WIDE_ROWS, ordinary);
	}
	if (row < run->to)
		run_ordinary(decoder, run, row, run->to, ordinary);
}

TARGET_AVX2 void
text_wide_integers(TextDecoder *decoder, const TextRun *run, int64 most, TextLoop ordinary)
{
	wide_rows(decoder, run, most, ordinary, convert_integers);
}

TARGET_AVX2 void
text_wide_doubles(TextDecoder *decoder, const TextRun *run, TextLoop ordinary)
{
	wide_rows(decoder, run, 0, ordinary, convert_doubles);
}

TARGET_AVX2 void
text_wide_floats(TextDecoder *decoder, const TextRun *run, TextLoop ordinary)
{
	wide_rows(decoder, run, 0, ordinary, convert_floats);
}

#else							/* !WIDE_X86 */

bool
text_wide_available(void)
{
	return false;
}

void
text_wide_integers(TextDecoder *decoder, const TextRun *run, int64 most, TextLoop ordinary)
{
	(void) most;
	ordinary(decoder, run);
}

void
text_wide_doubles(TextDecoder *decoder, const TextRun *run, TextLoop ordinary)
{
	ordinary(decoder, run);
}

void
text_wide_floats(TextDecoder *decoder, const TextRun *run, TextLoop ordinary)
{
	ordinary(decoder, run);
}

#endif							/* WIDE_X86 */
