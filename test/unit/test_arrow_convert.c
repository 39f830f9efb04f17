/*-------------------------------------------------------------------------
 *
 * test_arrow_convert.c
 *	  Elements of Arrow arrays as PostgreSQL's values, from arrays made by
 *	  hand.
 *
 * What is expected comes from arithmetic that the converters do not use:
 * 128-bit integers, digits of decimal strings, ldexp, calendars' constants.
 *
 * A server is needed for, and so not here: modifiers that round (numeric and
 * times), floating point to and from numeric, other types to text, strings
 * through input functions.
 *
 *	test_arrow_convert [seed]
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "compat.h"

#include <float.h>
#include <math.h>

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "mb/pg_wchar.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"
#include "utils/typcache.h"

#include "arrow/arrow_converter_internal.h"
#include "server_stub.h"
#include "tap.h"

#define NROWS		1000
#define SLACK		ARROW_BUFFER_SLACK

static uint64 seed = 20240601;

static uint64
random_bits(void)
{
	uint64		bits = 0;

	for (int i = 0; i < 4; i++)
	{
		seed = seed * UINT64CONST(6364136223846793005) + UINT64CONST(1442695040888963407);
		bits = bits << 16 | (seed >> 40 & 0xFFFF);
	}
	return bits;
}

static uint32
random_below(uint32 n)
{
	return (uint32) (random_bits() % n);
}

/* ------------------------------------------------------------ the server, and the vectors' other half */

#define POSITIVE_INTEGER	((Oid) 70001)	/* a domain: integer, > 0, not null */

Oid
getBaseTypeAndTypmod(Oid type, int32 *typmod)
{
	(void) typmod;
	return type == POSITIVE_INTEGER ? INT4OID : type;
}

bool
get_typbyval(Oid type)
{
	switch (type)
	{
		case NUMERICOID:
		case TEXTOID:
		case VARCHAROID:
		case BPCHAROID:
		case BYTEAOID:
		case UUIDOID:
		case INTERVALOID:
			return false;
		default:
			return true;
	}
}

bool
DomainHasConstraints(Oid type)
{
	return type == POSITIVE_INTEGER;
}

void
domain_check(Datum value, bool isnull, Oid type, void **extra, MemoryContext context)
{
	(void) type;
	(void) extra;
	(void) context;
	if (isnull || (int64) value <= 0)
		ereport(ERROR, (errcode(ERRCODE_CHECK_VIOLATION), errmsg("domain violated")));
}

char *
format_type_be(Oid type)
{
	return psprintf("type %u", type);
}

char *
format_type_with_typemod(Oid type, int32 typmod)
{
	return typmod < 0 ? format_type_be(type) : psprintf("type %u(%d)", type, typmod);
}

Datum
DirectFunctionCall1Coll(PGFunction function, Oid collation, Datum argument)
{
	(void) function;
	(void) collation;
	(void) argument;
	return CStringGetDatum("some number");	/* an error's text */
}

void
arrow_nested_converter(ArrowConverter *converter)
{
	arrow_refuse_pair(converter);
}

const char *
arrow_nested_types(const ArrowField *field)
{
	(void) field;
	return "jsonb";
}

const char *
arrow_metadata_value(const ArrowMetadata *metadata, const char *key)
{
	for (int i = 0; i < metadata->n; i++)
	{
		if (strcmp(metadata->keys[i], key) == 0)
			return metadata->values[i];
	}
	return NULL;
}

ArrowBytes
arrow_bytes(ArrowVector *vector, int64 i)
{
	int64		k = i - vector->from;
	const int32 *offsets = (const int32 *) vector->values;
	const int64 *large = (const int64 *) vector->values;

	if (vector->field->type == ARROW_FIXED_SIZE_BINARY)
		return (ArrowBytes){vector->values + k * vector->width, vector->width};
	if (vector->width == 4)
		return (ArrowBytes){vector->data + offsets[k] - vector->data_from, offsets[k + 1] - offsets[k]};
	return (ArrowBytes){vector->data + large[k] - vector->data_from, large[k + 1] - large[k]};
}

static int	dictionary_calls = 0;
static int	same_entry = -1;	/* which one all entries are, if any */

ArrowVector *
arrow_dictionary_entry(const ArrowDictionary *dictionary, int64 index, int64 *element)
{
	int			part = 0;

	dictionary_calls++;
	if (same_entry >= 0)
	{
		*element = same_entry;
		return dictionary->parts[0];
	}
	while (index >= dictionary->part_end[part])
		part++;
	*element = index - (part > 0 ? dictionary->part_end[part - 1] : 0);
	return dictionary->parts[part];
}

int64
arrow_run_element(ArrowVector *vector, int64 i)
{
	const int32 *ends = (const int32 *) vector->children[0].values;
	int64		run = 0;

	while (i >= ends[run])
		run++;
	return run;
}

/* ------------------------------------------------------------ one conversion */

static ValueArena *arena;
static Datum values[NROWS + 1];
static bool isnull[NROWS + 1];
static volatile int current;

typedef struct Attempt
{
	const ArrowField *field;
	Oid			type;
	int32		typmod;
	bool		key;
	ArrowVector *vector;
	int64		from;
	int64		to;
	const int16 *rows;
	int			nrows;
	ArrowConverter *converter;
} Attempt;

/* All of the elements [from, to), or, without a vector, the converter alone. */
static Attempt
make_attempt(const ArrowField *field, Oid type, int32 typmod, bool key,
			 ArrowVector *vector, int64 from, int64 to)
{
	return (Attempt){.field = field, .type = type, .typmod = typmod, .key = key,
		.vector = vector, .from = from, .to = to};
}

static void
attempt_body(void *argument)
{
	Attempt    *attempt = argument;

	if (attempt->converter == NULL)
		attempt->converter = arrow_converter_create(attempt->field, attempt->type, attempt->typmod,
													attempt->key, "a.arrow", "a");
	if (attempt->vector != NULL)
		arrow_convert(attempt->converter, attempt->vector, attempt->from, attempt->to,
					  attempt->rows, attempt->nrows, arena, values, isnull, &current);
}

static bool
convert(Attempt *attempt)
{
	current = -1;
	memset(values, 0x5A, sizeof(values));
	memset(isnull, 0x5A, sizeof(isnull));
	value_arena_reset(arena);
	return server_stub_try(attempt_body, attempt);
}

/* Elements [from, to) of an array, whose bytes and bits are given from element 0 on. */
static ArrowVector
make_vector(const ArrowField *field, const void *bytes, int width, const uint8 *validity,
			int64 from, int64 to)
{
	ArrowVector vector = {0};

	vector.field = field;
	vector.length = to;
	vector.from = from;
	vector.to = to;
	vector.width = width;
	vector.validity_from = from / 8 * 8;
	vector.validity = validity ? validity + from / 8 : NULL;
	vector.bits_from = from / 8 * 8;
	vector.values = (const char *) bytes + (width > 0 ? from * width : from / 8);
	return vector;
}

/* One element of a field: its value, or an error. */
static bool
convert_one(const ArrowField *field, const void *bytes, int width, Oid type, int32 typmod, bool key)
{
	char		padded[64 + SLACK] = {0};
	ArrowVector vector;
	Attempt		attempt = make_attempt(field, type, typmod, key, &vector, 0, 1);

	memcpy(padded, bytes, width);
	vector = make_vector(field, padded, width, NULL, 0, 1);
	return convert(&attempt);
}

static bool
failed_with(int sqlstate)
{
	return server_stub_error.sqlerrcode == sqlstate;
}

/* ------------------------------------------------------------ nulls */

static void
test_nulls(void)
{
	static uint8 bits[NROWS / 8 + 16 + SLACK];
	static int32 numbers[NROWS + 100];
	ArrowField	field = {.type = ARROW_INT, .bit_width = 32, .is_signed = true, .name = "f"};
	int			wrong = 0;

	for (int round = 0; round < 200; round++)
	{
		int			from = random_below(40);
		int			skip = random_below(20);
		int			n = random_below(NROWS - 60) + 1;
		int16		rows[NROWS];
		int			nrows = 0;
		ArrowVector vector = make_vector(&field, numbers, 4, round % 10 ? bits : NULL, from, from + skip + n);
		Attempt		attempt = make_attempt(&field, INT8OID, -1, false, &vector, from + skip, from + skip + n);

		for (int i = 0; i < (int) sizeof(bits); i++)
			bits[i] = round % 3 == 0 ? 0xFF : (uint8) random_bits();
		for (int i = 0; i < NROWS; i++)
			numbers[i] = (int32) random_bits();
		if (round % 2)
		{
			for (int i = 0; i < n; i++)
				if (random_below(3) == 0)
					rows[nrows++] = i;
			attempt.rows = rows;
			attempt.nrows = nrows;
		}
		wrong += !convert(&attempt);
		for (int i = 0, k = 0; i < n; i++)
		{
			int			element = from + skip + i;
			bool		asked = attempt.rows == NULL || (k < nrows && rows[k] == i);
			bool		null = vector.validity != NULL && (bits[element / 8] >> (element % 8) & 1) == 0;

			if (!asked)
				wrong += *(uint8 *) &isnull[i] != 0x5A;
			else
			{
				k += attempt.rows != NULL;
				wrong += *(uint8 *) &isnull[i] != (null ? 1 : 0) ||
					(!null && (int64) values[i] != numbers[element]);
			}
		}
		wrong += *(uint8 *) &isnull[n] != 0x5A || values[n] != UINT64CONST(0x5A5A5A5A5A5A5A5A);
	}
	tap_is_int(wrong, 0, "nulls and rows, whatever the first element's bit");
}

static void
test_null_type(void)
{
	ArrowField	field = {.type = ARROW_NULL, .name = "f"};
	ArrowVector vector = make_vector(&field, "", 0, NULL, 0, 20);
	Attempt		attempt = make_attempt(&field, TIMESTAMPTZOID, -1, false, &vector, 3, 20);
	int			nulls = 0;

	tap_ok(convert(&attempt), "the null type goes to any type");
	for (int i = 0; i < 17; i++)
		nulls += isnull[i];
	tap_is_int(nulls, 17, "and all of it is null");
}

/* ------------------------------------------------------------ integers */

typedef struct IntegerType
{
	Oid			type;
	int128		least;
	int128		most;
} IntegerType;

static const IntegerType integer_types[] = {
	{BOOLOID, 0, 1},
	{INT2OID, -32768, 32767},
	{INT4OID, -INT64CONST(2147483648), 2147483647},
	{INT8OID, -(((int128) 1) << 63), (((int128) 1) << 63) - 1},
	{OIDOID, 0, INT64CONST(4294967295)},
};

/* The number that little-endian bytes make, bit by bit. */
static int128
number_of_bytes(const uint8 *bytes, int width, bool is_signed)
{
	int128		number = 0;

	for (int bit = 0; bit < width * 8; bit++)
	{
		if (bytes[bit / 8] >> (bit % 8) & 1)
			number += is_signed && bit == width * 8 - 1 ? -((int128) 1 << bit) : (int128) 1 << bit;
	}
	return number;
}

static void
test_integer_pair(int width, bool is_signed, const IntegerType *target)
{
	ArrowField	field = {.type = ARROW_INT, .bit_width = width * 8, .is_signed = is_signed, .name = "f"};
	static uint8 bytes[NROWS * 8 + SLACK];
	static uint8 validity[NROWS / 8 + SLACK];
	int			wrong = 0;

	for (int round = 0; round < 60; round++)
	{
		int			n = random_below(300) + 1;
		int			first_bad = -1;
		ArrowVector vector = make_vector(&field, bytes, width, round % 2 ? validity : NULL, 0, n);
		Attempt		attempt = make_attempt(&field, target->type, -1, false, &vector, 0, n);

		for (int i = 0; i < n; i++)
		{
			uint64		number = random_bits() >> random_below(64);
			int128		exact;

			/* the limits and their neighbours, and now and then anything */
			if (random_below(3) == 0)
				number = (uint64) (random_below(2) ? target->least : target->most) + random_below(3) - 1;
			validity[i / 8] |= 1 << (i % 8);
			memcpy(bytes + i * width, &number, width);
			exact = number_of_bytes(bytes + i * width, width, is_signed);
			if (exact >= target->least && exact <= target->most)
				continue;
			if (vector.validity != NULL && random_below(50) != 0)
				validity[i / 8] &= ~(1 << (i % 8));	/* what it holds does not matter */
			else if (random_below(100) != 0)
			{
				memset(bytes + i * width, 0, width);
				bytes[i * width] = 1;
			}
			else if (first_bad < 0)
				first_bad = i;
			if (vector.validity != NULL && (validity[i / 8] >> (i % 8) & 1) && first_bad < 0)
			{
				exact = number_of_bytes(bytes + i * width, width, is_signed);
				if (exact < target->least || exact > target->most)
					first_bad = i;
			}
		}
		if (convert(&attempt) != (first_bad < 0))
			wrong++;
		else if (first_bad >= 0)
			wrong += current != first_bad || !failed_with(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE);
		else
		{
			for (int i = 0; i < n; i++)
				wrong += !isnull[i] &&
					(int64) values[i] != (int64) number_of_bytes(bytes + i * width, width, is_signed);
		}
	}
	tap_is_int(wrong, 0, psprintf("%sint%d to type %u", is_signed ? "" : "u", width * 8, target->type));
}

static void
test_integers(void)
{
	for (int width = 1; width <= 8; width *= 2)
	{
		for (int i = 0; i < (int) lengthof(integer_types); i++)
		{
			test_integer_pair(width, true, &integer_types[i]);
			test_integer_pair(width, false, &integer_types[i]);
		}
	}
}

static void
test_booleans(void)
{
	ArrowField	field = {.type = ARROW_BOOL, .name = "f"};
	static const uint8 bits[16 + SLACK] = {0xB5, 0x01, 0x80};
	ArrowVector vector = make_vector(&field, bits, 0, NULL, 3, 24);
	Attempt		attempt = make_attempt(&field, BOOLOID, -1, false, &vector, 5, 24);
	char		got[20] = {0};

	tap_ok(convert(&attempt), "bits to bool");
	for (int i = 0; i < 19; i++)
		got[i] = values[i] ? 't' : 'f';
	tap_is_string(got, "tfttfffffffffffffft", "and they are the right ones");
}

/* ------------------------------------------------------------ floating point */

static void
test_halves(void)
{
	ArrowField	field = {.type = ARROW_FLOATING_POINT, .bit_width = 16, .name = "f"};
	int			wrong = 0;

	for (int first = 0; first < 65536; first += 512)
	{
		static uint16 halves[512 + SLACK];
		ArrowVector vector = make_vector(&field, halves, 2, NULL, 0, 512);
		Attempt		attempt = make_attempt(&field, FLOAT8OID, -1, true, &vector, 0, 512);

		for (int i = 0; i < 512; i++)
			halves[i] = first + i;
		wrong += !convert(&attempt);
		for (int i = 0; i < 512; i++)
		{
			int			exponent = halves[i] >> 10 & 31;
			int			fraction = halves[i] & 1023;
			double		expected = exponent == 0 ? ldexp(fraction, -24) : ldexp(1024 + fraction, exponent - 25);
			double		got = DatumGetFloat8(values[i]);

			if (halves[i] & 0x8000)
				expected = -expected;
			if (exponent == 31)
				wrong += fraction ? !isnan(got) : !isinf(got) || signbit(got) != signbit(expected);
			else
				wrong += got != expected || signbit(got) != signbit(expected);
		}
	}
	tap_is_int(wrong, 0, "every half");
}

static void
test_float_to_integer(void)
{
	ArrowField	field = {.type = ARROW_FLOATING_POINT, .bit_width = 64, .name = "f"};
	static const struct
	{
		double		number;
		Oid			type;
		int			sqlstate;
		int64		expected;
	}			cases[] = {
		{-0.0, INT4OID, 0, 0},
		{32767.0, INT2OID, 0, 32767},
		{32768.0, INT2OID, ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE, 0},
		{1.5, INT4OID, ERRCODE_DATA_EXCEPTION, 0},
		{-2147483648.0, INT4OID, 0, -INT64CONST(2147483648)},
		{9007199254740993.0, INT8OID, 0, INT64CONST(9007199254740992)},
		{9223372036854774784.0, INT8OID, 0, INT64CONST(9223372036854774784)},
		{9223372036854775808.0, INT8OID, ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE, 0},
		{-9223372036854775808.0, INT8OID, 0, PG_INT64_MIN},
		{1e300, INT8OID, ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE, 0},
		{(double) NAN, INT8OID, ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE, 0},
		{-(double) INFINITY, INT8OID, ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE, 0},
	};

	for (int i = 0; i < (int) lengthof(cases); i++)
	{
		bool		passed = convert_one(&field, &cases[i].number, 8, cases[i].type, -1, false);

		tap_ok(passed ? cases[i].sqlstate == 0 && (int64) values[0] == cases[i].expected :
			   failed_with(cases[i].sqlstate),
			   "%g to type %u", cases[i].number, cases[i].type);
	}
}

static void
test_floats(void)
{
	ArrowField	wide = {.type = ARROW_FLOATING_POINT, .bit_width = 64, .name = "f"};
	ArrowField	whole = {.type = ARROW_INT, .bit_width = 64, .is_signed = true, .name = "f"};
	ArrowField	natural = {.type = ARROW_INT, .bit_width = 64, .name = "f"};
	double		number = 0.1;
	int64		integer = (INT64CONST(1) << 53) + 1;
	uint64		most = PG_UINT64_MAX;

	tap_ok(convert_one(&wide, &number, 8, FLOAT4OID, -1, false) && DatumGetFloat4(values[0]) == 0.1f,
		   "a value's double is rounded to a float");
	tap_ok(!convert_one(&wide, &number, 8, FLOAT4OID, -1, true) && failed_with(ERRCODE_DATA_EXCEPTION),
		   "a key's is not");
	number = 0.5;
	tap_ok(convert_one(&wide, &number, 8, FLOAT4OID, -1, true) && DatumGetFloat4(values[0]) == 0.5f,
		   "unless it is one");
	number = 1e39;
	tap_ok(!convert_one(&wide, &number, 8, FLOAT4OID, -1, false) &&
		   failed_with(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE), "too large for a float");
	number = 1e-60;
	tap_ok(!convert_one(&wide, &number, 8, FLOAT4OID, -1, false) &&
		   failed_with(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE), "too small for a float");
	tap_ok(convert_one(&whole, &integer, 8, FLOAT8OID, -1, false) &&
		   DatumGetFloat8(values[0]) == 9007199254740992.0, "a value's integer is rounded");
	tap_ok(!convert_one(&whole, &integer, 8, FLOAT8OID, -1, true) && failed_with(ERRCODE_DATA_EXCEPTION),
		   "a key's is not");
	tap_ok(convert_one(&natural, &most, 8, FLOAT8OID, -1, false) &&
		   DatumGetFloat8(values[0]) == 18446744073709551616.0, "the largest uint64 as a double");
	tap_ok(!convert_one(&natural, &most, 8, FLOAT8OID, -1, true), "is no key");
	integer = PG_INT64_MIN;
	tap_ok(convert_one(&whole, &integer, 8, FLOAT4OID, -1, true) &&
		   DatumGetFloat4(values[0]) == -9223372036854775808.0f, "the least int64 is a float, and a key");
}

/* ------------------------------------------------------------ numeric */

/*
 * A numeric's digits, from the words that the documentation of its format
 * names: header, weight, digits to base 10000.
 */
static char *
numeric_digits(Datum datum)
{
	const char *p = DatumGetPointer(datum);
	int			n = VARSIZE(p) - VARHDRSZ;
	uint16		header;
	int			weight;
	int			scale;
	bool		negative;
	int16		digits[64];
	static char text[4096];
	char	   *out = text;

	memcpy(&header, p + VARHDRSZ, 2);
	if ((header & 0xC000) == 0x8000)
	{
		negative = header & 0x2000;
		scale = header >> 7 & 63;
		weight = (header & 0x40 ? -64 : 0) + (header & 0x3F);
		n = (n - 2) / 2;
		memcpy(digits, p + VARHDRSZ + 2, n * 2);
	}
	else
	{
		int16		word;

		negative = (header & 0xC000) == 0x4000;
		scale = header & 0x3FFF;
		memcpy(&word, p + VARHDRSZ + 2, 2);
		weight = word;
		n = (n - 4) / 2;
		memcpy(digits, p + VARHDRSZ + 4, n * 2);
	}
	if (n > 0 && (digits[0] == 0 || digits[n - 1] == 0))
		return "zeros at an end";
	if (negative)
		*out++ = '-';
	if (weight < 0)
		*out++ = '0';
	for (int place = weight; place >= 0; place--)
		out += sprintf(out, place == weight ? "%d" : "%04d",
					   weight - place < n ? digits[weight - place] : 0);
	if (scale > 0)
	{
		char	   *point = out;

		*out++ = '.';
		for (int place = -1; -place * 4 < scale + 4; place--)
			out += sprintf(out, "%04d",
						   weight - place >= 0 && weight - place < n ? digits[weight - place] : 0);
		out = point + 1 + scale;
	}
	*out = '\0';
	return text;
}

/* digits * 10^-scale, written out */
static char *
point_digits(const char *digits, bool negative, int scale)
{
	static char text[4096];
	char		padded[2048];
	int			n = strlen(digits);
	int			zeros = scale > 0 && n <= scale ? scale + 1 - n : 0;

	memset(padded, '0', zeros);
	strcpy(padded + zeros, digits);
	n += zeros;
	if (scale < 0 && strcmp(digits, "0") != 0)
	{
		memset(padded + n, '0', -scale);
		n -= scale;
		padded[n] = '\0';
	}
	if (scale <= 0)
		sprintf(text, "%s%s", negative ? "-" : "", padded);
	else
		sprintf(text, "%s%.*s.%s", negative ? "-" : "", n - scale, padded, padded + n - scale);
	return text;
}

/* Two's complement, a byte at a time: times ten, plus a digit. */
static void
decimal_bytes(const char *digits, bool negative, int width, uint8 *bytes)
{
	memset(bytes, 0, width);
	for (; *digits; digits++)
	{
		int			carry = *digits - '0';

		for (int i = 0; i < width; i++)
		{
			carry += bytes[i] * 10;
			bytes[i] = carry & 255;
			carry >>= 8;
		}
	}
	if (negative)
	{
		int			carry = 1;

		for (int i = 0; i < width; i++)
		{
			carry += (uint8) ~bytes[i];
			bytes[i] = carry & 255;
			carry >>= 8;
		}
	}
}

static void
test_decimals(void)
{
	static const int widths[] = {4, 8, 16, 32};
	static const int most_digits[] = {9, 18, 38, 76};

	for (int kind = 0; kind < 4; kind++)
	{
		int			wrong = 0;

		for (int round = 0; round < 3000; round++)
		{
			int			scale = round % 7 == 0 ? (int) random_below(600) - 300 : (int) random_below(80) - 10;
			ArrowField	field = {.type = ARROW_DECIMAL, .bit_width = widths[kind] * 8,
				.precision = most_digits[kind], .scale = scale, .name = "f"};
			char		digits[80];
			uint8		bytes[32];
			int			n = random_below(most_digits[kind]) + 1;
			bool		negative = random_below(2);
			int			zeros = random_below(3) ? 0 : random_below(n);
			char	   *expected;

			for (int i = 0; i < n; i++)
				digits[i] = i >= n - zeros ? '0' : '0' + random_below(10);
			digits[0] = n == 1 && random_below(4) == 0 ? '0' : '1' + random_below(9);
			digits[n] = '\0';
			negative &= digits[0] != '0';
			decimal_bytes(digits, negative, widths[kind], bytes);
			expected = point_digits(digits, negative, scale);
			if (!convert_one(&field, bytes, widths[kind], NUMERICOID, -1, true) ||
				strcmp(numeric_digits(values[0]), expected) != 0)
			{
				if (wrong++ == 0)
					tap_note("expected %s, got %s", expected, numeric_digits(values[0]));
			}
		}
		tap_is_int(wrong, 0, psprintf("decimal%d to numeric", widths[kind] * 8));
	}
}

static void
test_decimal_extremes(void)
{
	ArrowField	field = {.type = ARROW_DECIMAL, .bit_width = 256, .precision = 76, .scale = 1, .name = "f"};
	uint8		bytes[32] = {0};

	bytes[31] = 0x80;
	tap_ok(convert_one(&field, bytes, 32, NUMERICOID, -1, false), "the least number of 256 bits");
	tap_is_string(numeric_digits(values[0]),
				  "-5789604461865809771178549250434395392663499233282028201972879200395656481996.8",
				  "is more than the precision, and right");
	field.scale = 5000;
	tap_ok(!convert_one(&field, bytes, 32, NUMERICOID, -1, false) &&
		   failed_with(ERRCODE_FEATURE_NOT_SUPPORTED), "a scale of 5000 is refused");
}

static void
test_numeric_modifier(void)
{
	ArrowField	field = {.type = ARROW_DECIMAL, .bit_width = 64, .precision = 18, .scale = 2, .name = "f"};
	int32		typmod = (10 << 16 | 4) + VARHDRSZ;	/* numeric(10,4) */
	int64		number = 12345;

	tap_ok(convert_one(&field, &number, 8, NUMERICOID, typmod, true), "a scale that is larger");
	tap_is_string(numeric_digits(values[0]), "123.4500", "shows");
	number = 0;
	tap_ok(convert_one(&field, &number, 8, NUMERICOID, typmod, true), "zero");
	tap_is_string(numeric_digits(values[0]), "0.0000", "too");
	number = INT64CONST(999999999999999999);
	tap_ok(!convert_one(&field, &number, 8, NUMERICOID, typmod, true) &&
		   strstr(server_stub_error.message, "not in this test") != NULL,
		   "what may not fit is left to the server");
}

static void
test_integer_to_numeric(void)
{
	ArrowField	field = {.type = ARROW_INT, .bit_width = 64, .is_signed = true, .name = "f"};
	int64		number = PG_INT64_MIN;

	tap_ok(convert_one(&field, &number, 8, NUMERICOID, -1, false), "the least int64 to numeric");
	tap_is_string(numeric_digits(values[0]), "-9223372036854775808", "exactly");
	field.is_signed = false;
	number = -1;
	tap_ok(convert_one(&field, &number, 8, NUMERICOID, -1, false), "the largest uint64 to numeric");
	tap_is_string(numeric_digits(values[0]), "18446744073709551615", "exactly");
	number = 0;
	tap_ok(convert_one(&field, &number, 8, NUMERICOID, -1, false), "zero to numeric");
	tap_is_string(numeric_digits(values[0]), "0", "exactly");
}

static void
test_decimal_to_integer(void)
{
	static const struct
	{
		const char *digits;
		bool		negative;
		int			scale;
		Oid			type;
		int			sqlstate;
		int64		expected;
	}			cases[] = {
		{"1200", false, 2, INT4OID, 0, 12},
		{"1201", false, 2, INT4OID, ERRCODE_DATA_EXCEPTION, 0},
		{"0", false, 300, INT4OID, 0, 0},
		{"1", false, 300, INT4OID, ERRCODE_DATA_EXCEPTION, 0},
		{"12", true, -3, INT4OID, 0, -12000},
		{"12", true, -4, INT2OID, ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE, 0},
		{"9223372036854775807", false, 0, INT8OID, 0, PG_INT64_MAX},
		{"9223372036854775808", false, 0, INT8OID, ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE, 0},
		{"9223372036854775808", true, 0, INT8OID, 0, PG_INT64_MIN},
		{"9223372036854775809", true, 0, INT8OID, ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE, 0},
		{"92233720368547758070000000000000000000", false, 19, INT8OID, 0, PG_INT64_MAX},
		{"18446744073709551616", false, 0, INT8OID, ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE, 0},
		{"1", false, -900, INT8OID, ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE, 0},
		{"0", false, -900, INT8OID, 0, 0},
	};

	for (int i = 0; i < (int) lengthof(cases); i++)
	{
		ArrowField	field = {.type = ARROW_DECIMAL, .bit_width = 128, .precision = 38,
			.scale = cases[i].scale, .name = "f"};
		uint8		bytes[16];
		bool		passed;

		decimal_bytes(cases[i].digits, cases[i].negative, 16, bytes);
		passed = convert_one(&field, bytes, 16, cases[i].type, -1, false);
		tap_ok(passed ? cases[i].sqlstate == 0 && (int64) values[0] == cases[i].expected :
			   failed_with(cases[i].sqlstate),
			   "%s%se%d to type %u", cases[i].negative ? "-" : "", cases[i].digits,
			   -cases[i].scale, cases[i].type);
	}
}

/* ------------------------------------------------------------ times */

/* Julian days: 1970-01-01 is 2440588, 2000-01-01 is 2451545. */
#define JULIAN_1970		2440588
#define JULIAN_2000		2451545

static void
test_dates(void)
{
	ArrowField	days = {.type = ARROW_DATE, .bit_width = 32, .unit = ARROW_DAY, .name = "f"};
	ArrowField	millis = {.type = ARROW_DATE, .bit_width = 64, .unit = ARROW_MILLISECOND, .name = "f"};
	ArrowField	nanos = {.type = ARROW_TIMESTAMP, .bit_width = 64, .unit = ARROW_NANOSECOND, .name = "f"};
	int32		day;
	int64		count;

	day = 19723;				/* 2024-01-01: 54 * 365 + 13 leap days */
	tap_ok(convert_one(&days, &day, 4, DATEOID, -1, true) && (int64) values[0] == 8766,
		   "2024-01-01 is 8766 days from 2000");
	day = -JULIAN_1970;			/* 4714-11-24 BC */
	tap_ok(convert_one(&days, &day, 4, DATEOID, -1, true) && (int64) values[0] == -JULIAN_2000,
		   "the first date, with all of its sign");
	day--;
	tap_ok(!convert_one(&days, &day, 4, DATEOID, -1, false) &&
		   failed_with(ERRCODE_DATETIME_VALUE_OUT_OF_RANGE), "and the day before");
	day = 2147483493 - JULIAN_1970; /* 5874897-12-31 */
	tap_ok(convert_one(&days, &day, 4, DATEOID, -1, true) &&
		   (int64) values[0] == INT64CONST(2147483493) - JULIAN_2000, "the last date");
	day++;
	tap_ok(!convert_one(&days, &day, 4, DATEOID, -1, false) &&
		   failed_with(ERRCODE_DATETIME_VALUE_OUT_OF_RANGE) && current == 0, "and the day after");
	count = INT64CONST(19723) * 86400000;
	tap_ok(convert_one(&millis, &count, 8, DATEOID, -1, true) && (int64) values[0] == 8766,
		   "a date of milliseconds");
	count = -86400000;
	tap_ok(convert_one(&millis, &count, 8, DATEOID, -1, true) && (int64) values[0] == -10958,
		   "1969-12-31");
	count++;
	tap_ok(!convert_one(&millis, &count, 8, DATEOID, -1, false) && failed_with(ERRCODE_DATA_EXCEPTION),
		   "that is no whole day");
	tap_ok(convert_one(&millis, &count, 8, TIMESTAMPOID, -1, false) &&
		   (int64) values[0] == INT64CONST(-946771199999000), "but is a timestamp");
	count = INT64CONST(19723) * 86400 * 1000000000;
	tap_ok(convert_one(&nanos, &count, 8, DATEOID, -1, true) && (int64) values[0] == 8766,
		   "midnight is a date");
	count += 1;
	tap_ok(!convert_one(&nanos, &count, 8, DATEOID, -1, false) && failed_with(ERRCODE_DATA_EXCEPTION),
		   "a nanosecond later is not");
	day = 19723;
	tap_ok(convert_one(&days, &day, 4, TIMESTAMPOID, -1, true) &&
		   (int64) values[0] == INT64CONST(757382400000000), "a date is its midnight");
	day = PG_INT32_MAX;
	tap_ok(!convert_one(&days, &day, 4, TIMESTAMPOID, -1, false) &&
		   failed_with(ERRCODE_DATETIME_VALUE_OUT_OF_RANGE), "which must be in range");
}

static void
test_timestamp_units(void)
{
	static const struct
	{
		ArrowTimeUnit unit;
		int64		per_second;
	}			units[] = {
		{ARROW_SECOND, 1}, {ARROW_MILLISECOND, 1000}, {ARROW_MICROSECOND, 1000000}
	};
	const int128 first = -(int128) 86400 * JULIAN_1970;	/* 4714-11-24 BC */
	const int128 end = (int128) (109203528 - JULIAN_1970) * 86400;	/* 294277-01-01 */
	const int128 epoch = (int128) (JULIAN_2000 - JULIAN_1970) * 86400 * 1000000;

	for (int u = 0; u < 3; u++)
	{
		ArrowField	field = {.type = ARROW_TIMESTAMP, .bit_width = 64, .unit = units[u].unit,
			.timezone = u == 1 ? "UTC" : NULL, .name = "f"};
		int64		scale = units[u].per_second;
		/* the last microsecond counts to more than int64 from 1970 */
		int64		last = (int64) Min(end * scale - 1, (int128) PG_INT64_MAX - 1);
		int64		edges[] = {(int64) first * scale, last, (int64) first * scale - 1, last + 1,
			PG_INT64_MIN, PG_INT64_MAX, 0, -1, 1700000000 * scale};
		int			wrong = 0;

		for (int i = 0; i < 2000; i++)
		{
			int64		count = i < (int) lengthof(edges) ? edges[i] :
				(int64) random_bits() >> random_below(64);
			int128		moment = (int128) count * (1000000 / scale) - epoch;
			bool		valid = count >= first * scale && count < end * scale;
			bool		passed = convert_one(&field, &count, 8, u == 1 ? TIMESTAMPTZOID : TIMESTAMPOID, -1, true);

			if (passed)
				wrong += !valid || (int64) values[0] != (int64) moment;
			else
				wrong += valid || !failed_with(ERRCODE_DATETIME_VALUE_OUT_OF_RANGE) || current != 0;
		}
		tap_is_int(wrong, 0, psprintf("timestamps, %lld a second", (long long) scale));
	}
}

static void
test_nanoseconds(void)
{
	ArrowField	field = {.type = ARROW_TIMESTAMP, .bit_width = 64, .unit = ARROW_NANOSECOND, .name = "f"};
	static const struct
	{
		int64		nanos;
		int64		micros;
	}			cases[] = {
		{499, 0}, {500, 0}, {501, 1}, {1499, 1}, {1500, 2}, {2500, 2},
		{-499, 0}, {-500, 0}, {-501, -1}, {-1500, -2}, {-2500, -2}, {-2501, -3},
		{1000, 1}, {-1000, -1},
		{PG_INT64_MAX, INT64CONST(9223372036854776)}, {PG_INT64_MIN, -INT64CONST(9223372036854776)}
	};

	for (int i = 0; i < (int) lengthof(cases); i++)
	{
		tap_ok(convert_one(&field, &cases[i].nanos, 8, TIMESTAMPOID, -1, false) &&
			   (int64) values[0] == cases[i].micros - INT64CONST(946684800000000),
			   "%lld ns", (long long) cases[i].nanos);
		if (cases[i].nanos % 1000 != 0)
			tap_ok(!convert_one(&field, &cases[i].nanos, 8, TIMESTAMPOID, -1, true) &&
				   failed_with(ERRCODE_DATA_EXCEPTION), "but not of a key");
		else
			tap_ok(convert_one(&field, &cases[i].nanos, 8, TIMESTAMPOID, -1, true) &&
				   (int64) values[0] == cases[i].micros - INT64CONST(946684800000000), "of a key too");
	}
}

static void
test_times_and_intervals(void)
{
	ArrowField	seconds = {.type = ARROW_TIME, .bit_width = 32, .unit = ARROW_SECOND, .name = "f"};
	ArrowField	nanos = {.type = ARROW_TIME, .bit_width = 64, .unit = ARROW_NANOSECOND, .name = "f"};
	ArrowField	duration = {.type = ARROW_DURATION, .bit_width = 64, .unit = ARROW_MILLISECOND, .name = "f"};
	ArrowField	months = {.type = ARROW_INTERVAL, .bit_width = 32, .interval = ARROW_YEAR_MONTH, .name = "f"};
	ArrowField	day_time = {.type = ARROW_INTERVAL, .bit_width = 64, .interval = ARROW_DAY_TIME, .name = "f"};
	ArrowField	all = {.type = ARROW_INTERVAL, .bit_width = 128, .interval = ARROW_MONTH_DAY_NANO, .name = "f"};
	int32		second = 86400;
	int64		count = INT64CONST(86399999999999);
	int32		parts[4] = {-14, 3};
	Interval   *interval;

	tap_ok(convert_one(&seconds, &second, 4, TIMEOID, -1, true) &&
		   (int64) values[0] == INT64CONST(86400000000), "24:00:00");
	second++;
	tap_ok(!convert_one(&seconds, &second, 4, TIMEOID, -1, false) &&
		   failed_with(ERRCODE_DATETIME_VALUE_OUT_OF_RANGE), "24:00:01");
	second = -1;
	tap_ok(!convert_one(&seconds, &second, 4, TIMEOID, -1, false) &&
		   failed_with(ERRCODE_DATETIME_VALUE_OUT_OF_RANGE), "a second before midnight");
	tap_ok(convert_one(&nanos, &count, 8, TIMEOID, -1, false) &&
		   (int64) values[0] == INT64CONST(86400000000), "a nanosecond before midnight, rounded");
	tap_ok(!convert_one(&nanos, &count, 8, TIMEOID, -1, true) && failed_with(ERRCODE_DATA_EXCEPTION),
		   "is no key");

	count = -INT64CONST(90061001);
	tap_ok(convert_one(&duration, &count, 8, INTERVALOID, -1, true), "a duration");
	interval = DatumGetIntervalP(values[0]);
	tap_ok(interval->month == 0 && interval->day == 0 && interval->time == INT64CONST(-90061001000),
		   "is nothing but microseconds");
	count = PG_INT64_MAX;
	tap_ok(!convert_one(&duration, &count, 8, INTERVALOID, -1, false) &&
		   failed_with(ERRCODE_DATETIME_VALUE_OUT_OF_RANGE), "too long a duration");
	tap_ok(convert_one(&months, parts, 4, INTERVALOID, -1, true), "months");
	interval = DatumGetIntervalP(values[0]);
	tap_ok(interval->month == -14 && interval->day == 0 && interval->time == 0, "are right");
	tap_ok(convert_one(&day_time, parts, 8, INTERVALOID, -1, true), "days and milliseconds");
	interval = DatumGetIntervalP(values[0]);
	tap_ok(interval->month == 0 && interval->day == -14 && interval->time == 3000, "are right");
	count = -1500;
	memcpy(&parts[2], &count, 8);
	tap_ok(convert_one(&all, parts, 16, INTERVALOID, -1, false), "months, days and nanoseconds");
	interval = DatumGetIntervalP(values[0]);
	tap_ok(interval->month == -14 && interval->day == 3 && interval->time == -2, "are right");
	tap_ok(!convert_one(&all, parts, 16, INTERVALOID, -1, true) && failed_with(ERRCODE_DATA_EXCEPTION),
		   "and no key");
}

/* ------------------------------------------------------------ strings */

typedef struct Strings
{
	char		bytes[64 * 1024 + SLACK];
	int32		offsets[NROWS + 1 + SLACK];
	int64		large[NROWS + 1 + SLACK];
	int			n;
} Strings;

static Strings strings;

static void
strings_add(const char *bytes, int length)
{
	int			used = strings.offsets[strings.n];

	memcpy(strings.bytes + used, bytes, length);
	strings.n++;
	strings.offsets[strings.n] = used + length;
	strings.large[strings.n] = used + length;
}

static ArrowVector
strings_vector(const ArrowField *field, int from)
{
	bool		is_large = field->type == ARROW_LARGE_UTF8 || field->type == ARROW_LARGE_BINARY;
	ArrowVector vector = make_vector(field, is_large ? (void *) strings.large : (void *) strings.offsets,
									 is_large ? 8 : 4, NULL, from, strings.n);

	vector.data_from = strings.offsets[from];
	vector.data = strings.bytes + strings.offsets[from];
	return vector;
}

static bool
datum_equals(Datum datum, const char *bytes, int length)
{
	const char *p = DatumGetPointer(datum);

	return (int) VARSIZE_ANY_EXHDR(p) == length && memcmp(VARDATA_ANY(p), bytes, length) == 0;
}

static void
test_text_loops(void)
{
	static const ArrowTypeId types[] = {ARROW_UTF8, ARROW_LARGE_UTF8, ARROW_BINARY, ARROW_LARGE_BINARY,
	ARROW_UTF8_VIEW};
	static const char *const characters[] = {"a", "Z", "~", " ", "\xC3\xA9", "\xE2\x82\xAC", "\xF0\x9F\x98\x80"};

	for (int kind = 0; kind < (int) lengthof(types); kind++)
	{
		ArrowField	field = {.type = types[kind], .name = "f"};
		int			wrong = 0;

		for (int round = 0; round < 40; round++)
		{
			int16		rows[NROWS];
			int			nrows = 0;
			int			from = random_below(10);
			ArrowVector vector;
			Attempt		attempt = make_attempt(&field, kind == 2 && round % 2 ? BYTEAOID : TEXTOID, -1, false, &vector, 0, 0);

			strings.n = 0;
			for (int i = 0; i < 200; i++)
			{
				char		text[1024] = "";
				int			n = random_below(random_below(10) == 0 ? 200 : 20);

				/* plain ones only, now and then */
				for (int k = 0; k < n; k++)
					strcat(text, characters[random_below(round % 3 ? 7 : 3)]);
				strings_add(text, strlen(text));
			}
			vector = strings_vector(&field, from);
			attempt.from = from;
			attempt.to = strings.n;
			for (int i = 0; round % 4 == 3 && i < strings.n - from; i += 1 + random_below(4))
				rows[nrows++] = i;
			if (round % 4 == 3)
			{
				attempt.rows = rows;
				attempt.nrows = nrows;
			}
			wrong += !convert(&attempt);
			for (int k = 0; k < (attempt.rows ? nrows : strings.n - from); k++)
			{
				int			row = attempt.rows ? rows[k] : k;
				int			begin = strings.offsets[from + row];

				wrong += isnull[row] || !datum_equals(values[row], strings.bytes + begin,
													  strings.offsets[from + row + 1] - begin);
			}
		}
		tap_is_int(wrong, 0, psprintf("strings and binaries, layout %d", kind));
	}
}

/* One string among plain ones. */
static bool
convert_string(const char *bytes, int length, Oid type, int32 typmod, bool key)
{
	static ArrowField field = {.type = ARROW_UTF8, .name = "f"};
	ArrowVector vector;
	Attempt		attempt = make_attempt(&field, type, typmod, key, &vector, 0, 3);

	strings.n = 0;
	strings_add("a", 1);
	strings_add(bytes, length);
	strings_add("b", 1);
	vector = strings_vector(&field, 0);
	return convert(&attempt);
}

static void
test_encodings(void)
{
	static const struct
	{
		const char *bytes;
		int			length;
		const char *what;
	}			wrong[] = {
		{"x\0y", 3, "a zero byte"},
		{"\0", 1, "nothing but a zero byte"},
		{"\xFF", 1, "no lead byte"},
		{"abcdefgh\xC3", 9, "a character cut at the end"},
		{"\xC0\xAF", 2, "an overlong one"},
		{"\xED\xA0\x80", 3, "a surrogate"},
		{"\x80", 1, "a lone trail byte"},
	};

	for (int i = 0; i < (int) lengthof(wrong); i++)
		tap_ok(!convert_string(wrong[i].bytes, wrong[i].length, TEXTOID, -1, false) &&
			   failed_with(ERRCODE_CHARACTER_NOT_IN_REPERTOIRE) && current == 1, "%s", wrong[i].what);
	/* at every place of strings of every length */
	{
		int			accepted = 0;
		int			refused = 0;

		for (int length = 1; length < 40; length++)
		{
			for (int place = 0; place < length; place++)
			{
				char		text[40];

				memset(text, 0x7F, length);
				text[place] = '\1';
				refused += !convert_string(text, length, TEXTOID, -1, false);
				text[place] = place % 2 ? '\0' : '\x80';
				accepted += convert_string(text, length, TEXTOID, -1, false);
			}
		}
		tap_ok(refused == 0 && accepted == 0, "one wrong byte is found at every place");
	}
	tap_ok(convert_string("\xFF\0", 2, BYTEAOID, -1, false) && datum_equals(values[1], "\xFF\0", 2),
		   "bytea takes them all");
	/* joined they would be one character */
	strings.n = 0;
	strings_add("\xC3", 1);
	strings_add("\xA9", 1);
	{
		ArrowField	field = {.type = ARROW_UTF8, .name = "f"};
		ArrowVector vector = strings_vector(&field, 0);
		Attempt		attempt = make_attempt(&field, TEXTOID, -1, false, &vector, 0, 2);

		tap_ok(!convert(&attempt) && failed_with(ERRCODE_CHARACTER_NOT_IN_REPERTOIRE) && current == 0,
			   "two halves of a character in two rows");
	}

	server_stub_encoding = PG_LATIN1;
	tap_ok(convert_string("na\xC3\xAFve", 6, TEXTOID, -1, false) && datum_equals(values[1], "na\xEFve", 5),
		   "converted to the database's encoding");
	tap_ok(!convert_string("\xE2\x82\xAC", 3, TEXTOID, -1, false), "unless it has no such character");
	server_stub_encoding = PG_UTF8;
}

static void
test_text_modifiers(void)
{
	int32		three = VARHDRSZ + 3;
	char		longest[200];

	tap_ok(convert_string("\xE2\x82\xAC\xE2\x82\xAC\xC3\xA9", 8, VARCHAROID, three, true) &&
		   VARSIZE_ANY_EXHDR(DatumGetPointer(values[1])) == 8, "three characters of eight bytes");
	tap_ok(!convert_string("abcd", 4, VARCHAROID, three, false) &&
		   failed_with(ERRCODE_STRING_DATA_RIGHT_TRUNCATION), "four characters");
	tap_ok(convert_string("abc  ", 5, VARCHAROID, three, false) && datum_equals(values[1], "abc", 3),
		   "blanks beyond are cut");
	tap_ok(!convert_string("abc  ", 5, VARCHAROID, three, true) && failed_with(ERRCODE_DATA_EXCEPTION),
		   "but not of a key");
	tap_ok(convert_string("a", 1, BPCHAROID, three, true) && datum_equals(values[1], "a  ", 3),
		   "bpchar is padded");
	tap_ok(convert_string("\xC3\xA9", 2, BPCHAROID, three, true) &&
		   datum_equals(values[1], "\xC3\xA9  ", 4), "to characters, not bytes");
	tap_ok(convert_string("abc  ", 5, BPCHAROID, three, true) && datum_equals(values[1], "abc", 3),
		   "its blanks are no part of it, even of a key");
	tap_ok(!convert_string("ab d", 4, BPCHAROID, three, false) &&
		   failed_with(ERRCODE_STRING_DATA_RIGHT_TRUNCATION), "its letters are");
	tap_ok(convert_string("x", 1, BPCHAROID, VARHDRSZ + 200, false), "a long bpchar");
	memset(longest, ' ', 200);
	longest[0] = 'x';
	tap_ok(datum_equals(values[1], longest, 200), "is all there");
}

static void
test_uuids(void)
{
	ArrowField	fixed = {.type = ARROW_FIXED_SIZE_BINARY, .byte_width = 16, .name = "f"};
	ArrowField	binary = {.type = ARROW_BINARY, .name = "f"};
	ArrowVector vector;
	Attempt		attempt = make_attempt(&binary, UUIDOID, -1, true, &vector, 0, 1);

	tap_ok(convert_one(&fixed, "0123456789abcdef", 16, UUIDOID, -1, true) &&
		   memcmp(DatumGetPointer(values[0]), "0123456789abcdef", 16) == 0, "16 bytes are a uuid");
	strings.n = 0;
	strings_add("0123456789abcde", 15);
	vector = strings_vector(&binary, 0);
	tap_ok(!convert(&attempt) && failed_with(ERRCODE_INVALID_BINARY_REPRESENTATION), "15 are not");
	fixed.byte_width = 15;
	attempt = make_attempt(&fixed, UUIDOID, -1, false, NULL, 0, 0);
	tap_ok(!convert(&attempt) && failed_with(ERRCODE_DATATYPE_MISMATCH), "nor is a field of 15");
}

/* ------------------------------------------------------------ dictionaries, run ends */

static void
test_dictionary(void)
{
	ArrowField	field = {.type = ARROW_INT, .bit_width = 64, .is_signed = true, .name = "f",
		.has_dictionary = true, .dictionary_id = 7, .index_bits = 8, .index_signed = true};
	static const int64 first[4 + SLACK] = {10, INT64CONST(1) << 40, 30, 40};
	static const int64 second[2 + SLACK] = {50, 60};
	static const uint8 entry_valid[1 + SLACK] = {0x0B};	/* entry 2 is null */
	static const uint8 indexes[8 + SLACK] = {0, 3, 5, 0, 99, 2, 4, 3};
	static const uint8 valid[1 + SLACK] = {0xEF};	/* element 4 is null, its index nothing */
	ArrowVector parts[2] = {make_vector(&field, first, 8, entry_valid, 0, 4),
	make_vector(&field, second, 8, NULL, 0, 2)};
	ArrowVector *part_of[] = {&parts[0], &parts[1]};
	int64		ends[] = {4, 6};
	ArrowDictionary dictionary = {.id = 7, .length = 6, .nparts = 2, .parts = part_of, .part_end = ends,
		.generation = 1};
	ArrowVector vector = make_vector(&field, indexes, 1, valid, 0, 8);
	Attempt		attempt = make_attempt(&field, INT4OID, -1, false, &vector, 0, 8);
	static const int64 expected[] = {10, 40, 60, 10, 0, 0, 50, 40};
	int			wrong = 0;

	vector.dictionary = &dictionary;
	tap_ok(convert(&attempt), "a dictionary, one entry of which is too large and not used");
	for (int i = 0; i < 8; i++)
		wrong += isnull[i] != (i == 4 || i == 5) || (!isnull[i] && (int64) values[i] != expected[i]);
	tap_is_int(wrong, 0, "its values, and nulls of both kinds");
	dictionary_calls = 0;
	tap_ok(convert(&attempt) && dictionary_calls == 0, "entries are converted once");
	dictionary.generation = 2;
	tap_ok(convert(&attempt) && dictionary_calls == 5, "and again for another generation");
	vector.dictionary = NULL;
	tap_ok(!convert(&attempt) && failed_with(ERRCODE_DATA_CORRUPTED), "a missing dictionary");
}

static void
test_dictionary_memory(void)
{
	ArrowField	field = {.type = ARROW_UTF8, .name = "f", .has_dictionary = true, .index_bits = 32};
	ArrowField	plain = {.type = ARROW_UTF8, .name = "f"};
	static const int32 indexes[4 + SLACK] = {1, 0, 1, 1};
	ArrowVector part;
	ArrowVector *parts[] = {&part};
	int64		ends[] = {2};
	ArrowDictionary dictionary = {.length = 2, .nparts = 1, .parts = parts, .part_end = ends, .generation = 1};
	ArrowVector vector = make_vector(&field, indexes, 4, NULL, 0, 4);
	Attempt		attempt = make_attempt(&field, TEXTOID, -1, false, &vector, 0, 4);
	Datum		before;
	int			contexts;

	strings.n = 0;
	strings_add("zero", 4);
	strings_add("one", 3);
	part = strings_vector(&plain, 0);
	vector.dictionary = &dictionary;
	tap_ok(convert(&attempt) && datum_equals(values[1], "zero", 4) && datum_equals(values[3], "one", 3) &&
		   values[0] == values[2], "strings of a dictionary");
	before = values[0];
	dictionary.generation++;
	server_stub_try(attempt_body, &attempt);
	tap_ok(values[0] != before && datum_equals(before, "one", 3),
		   "an older generation's stay until the arena is reset");
	contexts = server_stub_contexts();
	for (int i = 0; i < 10; i++)
	{
		dictionary.generation++;
		convert(&attempt);
	}
	tap_ok(server_stub_contexts() <= contexts + 1, "and then they go");
}

/* A dictionary that says it has more entries than there is memory, all of them the same string. */
static void
test_dictionary_bounds(void)
{
	ArrowField	field = {.type = ARROW_UTF8, .name = "f", .has_dictionary = true, .index_bits = 64};
	ArrowField	plain = {.type = ARROW_UTF8, .name = "f"};
	static int64 indexes[NROWS + SLACK];
	ArrowVector part;
	ArrowVector *parts[] = {&part, &part};
	int64		ends[] = {INT64CONST(1) << 40, INT64CONST(1) << 41};
	ArrowDictionary dictionary = {.length = INT64CONST(1) << 41, .nparts = 2, .parts = parts,
		.part_end = ends, .generation = 1};
	ArrowVector vector = make_vector(&field, indexes, 8, NULL, 0, NROWS);
	Attempt		attempt = make_attempt(&field, TEXTOID, -1, false, &vector, 0, NROWS);
	size_t		before = server_stub_allocated();
	int			wrong = 0;

	strings.n = 0;
	for (int i = 0; i < 3; i++)
		strings_add(strings.bytes, 0);
	memset(strings.bytes, 'x', 60000);
	strings_add("", 0);
	strings.offsets[2] = strings.offsets[3] = strings.offsets[4] = 60000;
	part = strings_vector(&plain, 0);
	same_entry = 1;
	vector.dictionary = &dictionary;
	for (int round = 0; round < 8; round++)
	{
		for (int i = 0; i < NROWS; i++)
			indexes[i] = i % 2 ? round * NROWS + i : (INT64CONST(1) << 40) + i;
		wrong += !convert(&attempt);
		for (int i = 0; i < NROWS; i++)
			wrong += isnull[i] || !datum_equals(values[i], strings.bytes, 60000);
	}
	same_entry = -1;
	tap_is_int(wrong, 0, "entries without end, each of them right");
	value_arena_reset(arena);
	/* the arena keeps what one call took, 60 MB, and the converter as much; all of them are 480 MB */
	tap_ok(server_stub_allocated() - before < 160 * 1024 * 1024, "in bounded memory");
}

/* What is not kept there is once in a batch, however many pieces the batch is asked for in. */
static void
test_dictionary_shares(void)
{
	ArrowField	field = {.type = ARROW_UTF8, .name = "f", .has_dictionary = true, .index_bits = 64};
	ArrowField	plain = {.type = ARROW_UTF8, .name = "f"};
	static int64 indexes[NROWS + SLACK];
	ArrowVector part;
	ArrowVector *parts[] = {&part};
	int64		ends[] = {INT64CONST(1) << 40};
	ArrowDictionary dictionary = {.length = INT64CONST(1) << 40, .nparts = 1, .parts = parts,
		.part_end = ends, .generation = 1};
	ArrowVector vector = make_vector(&field, indexes, 8, NULL, 0, NROWS);
	Attempt		attempt = make_attempt(&field, TEXTOID, -1, false, &vector, 0, NROWS);
	size_t		before;
	int			wrong = 0;
	Datum		first;

	strings.n = 0;
	strings_add("", 0);
	memset(strings.bytes, 'y', 60000);
	strings.offsets[1] = 60000;
	part = strings_vector(&plain, 0);
	same_entry = 0;
	vector.dictionary = &dictionary;
	for (int i = 0; i < NROWS; i++)
		indexes[i] = (INT64CONST(1) << 39) + i % 2;
	before = server_stub_allocated();
	wrong += !convert(&attempt);
	first = values[0];
	for (int i = 0; i < NROWS; i++)
		wrong += values[i] != values[i % 2] || !datum_equals(values[i], strings.bytes, 60000);
	tap_is_int(wrong, 0, "entries that are not kept are shared by the rows that have them");
	tap_ok(server_stub_allocated() - before < 10 * 1024 * 1024, "1000 rows have two of 60 kB");
	tap_ok(server_stub_try(attempt_body, &attempt) && values[0] == first, "by the rest of the batch as well");
	dictionary.generation++;
	tap_ok(server_stub_try(attempt_body, &attempt) && values[0] != first &&
		   datum_equals(values[0], strings.bytes, 60000), "but not by another dictionary's rows");
	tap_ok(convert(&attempt) && datum_equals(values[0], strings.bytes, 60000), "nor by another batch");
	same_entry = -1;
}

static void
test_run_values(void)
{
	ArrowField	children[2] = {{.type = ARROW_INT, .bit_width = 32, .is_signed = true, .name = "run_ends"},
	{.type = ARROW_UTF8, .name = "values"}};
	ArrowField	field = {.type = ARROW_RUN_END_ENCODED, .nchildren = 2, .children = children, .name = "f"};
	static const int32 run_ends[2 + SLACK] = {3, 6};
	ArrowVector parts[2];
	ArrowVector vector = {.field = &field, .length = 6, .to = 6, .children = parts, .nchildren = 2};
	Attempt		attempt = make_attempt(&field, TEXTOID, -1, false, &vector, 0, 2);
	Datum		first;

	strings.n = 0;
	strings_add("early", 5);
	strings_add("late", 4);
	parts[0] = make_vector(&children[0], run_ends, 4, NULL, 0, 2);
	parts[1] = strings_vector(&children[1], 0);
	tap_ok(convert(&attempt) && values[0] == values[1] && datum_equals(values[0], "early", 5),
		   "a run's value is shared by its rows");
	first = values[0];
	attempt.from = 2;
	attempt.to = 5;
	tap_ok(server_stub_try(attempt_body, &attempt) && values[0] == first && values[1] == values[2] &&
		   datum_equals(values[1], "late", 4), "also where they are asked for later");
	attempt.from = 3;
	tap_ok(convert(&attempt) && datum_equals(values[0], "late", 4), "each batch has its own");
}

static void
test_run_ends(void)
{
	ArrowField	children[2] = {{.type = ARROW_INT, .bit_width = 32, .is_signed = true, .name = "run_ends"},
	{.type = ARROW_INT, .bit_width = 16, .is_signed = true, .name = "values"}};
	ArrowField	field = {.type = ARROW_RUN_END_ENCODED, .nchildren = 2, .children = children, .name = "f"};
	static const int32 run_ends[3 + SLACK] = {2, 3, 6};
	static const int16 numbers[3 + SLACK] = {7, 8, -9};
	static const uint8 valid[1 + SLACK] = {0x05};
	ArrowVector parts[2] = {make_vector(&children[0], run_ends, 4, NULL, 0, 3),
	make_vector(&children[1], numbers, 2, valid, 0, 3)};
	ArrowVector vector = make_vector(&field, "", 0, NULL, 0, 6);
	Attempt		attempt = make_attempt(&field, INT8OID, -1, false, &vector, 1, 6);

	vector.children = parts;
	vector.nchildren = 2;
	tap_ok(convert(&attempt) && values[0] == 7 && isnull[1] && (int64) values[2] == -9 &&
		   (int64) values[4] == -9 && !isnull[0] && !isnull[4], "run ends");
	tap_is_int(arrow_natural_type(&field), INT2OID, "whose type is that of their values");
	tap_is_string(arrow_field_type_name(&field), "int16", "as is its name");
	attempt = make_attempt(&field, DATEOID, -1, false, NULL, 0, 0);
	tap_ok(!convert(&attempt) && failed_with(ERRCODE_DATATYPE_MISMATCH), "and they can be refused");
}

/* ------------------------------------------------------------ domains, and what cannot be */

static void
test_domain(void)
{
	ArrowField	field = {.type = ARROW_INT, .bit_width = 32, .is_signed = true, .name = "f"};
	static int32 numbers[4 + SLACK] = {1, 2, -3, 4};
	static uint8 valid[1 + SLACK] = {0x0D};
	ArrowVector vector = make_vector(&field, numbers, 4, NULL, 0, 4);
	Attempt		attempt = make_attempt(&field, POSITIVE_INTEGER, -1, false, &vector, 0, 4);

	tap_ok(!convert(&attempt) && failed_with(ERRCODE_CHECK_VIOLATION) && current == 2, "a domain's constraint");
	numbers[2] = 3;
	tap_ok(convert(&attempt) && values[2] == 3, "that holds");
	vector.validity = valid;
	tap_ok(!convert(&attempt) && failed_with(ERRCODE_CHECK_VIOLATION) && current == 1, "and one against nulls");
}

static void
test_refused_pairs(void)
{
	ArrowField	instants = {.type = ARROW_TIMESTAMP, .bit_width = 64, .unit = ARROW_NANOSECOND,
		.timezone = "Europe/Paris", .name = "t"};
	ArrowField	wall = {.type = ARROW_TIMESTAMP, .bit_width = 64, .unit = ARROW_SECOND, .name = "t"};
	ArrowField	number = {.type = ARROW_FLOATING_POINT, .bit_width = 64, .name = "t"};
	Attempt		attempt = make_attempt(&instants, TIMESTAMPOID, -1, false, NULL, 0, 0);

	tap_ok(!convert(&attempt) && failed_with(ERRCODE_DATATYPE_MISMATCH), "instants to timestamp");
	tap_is_string(server_stub_error.message,
				  "column \"a\" of type type 1114 cannot hold field \"t\" of file \"a.arrow\"", "the message");
	tap_is_string(server_stub_error.detail,
				  "The field's type is timestamp[ns, tz=Europe/Paris]. "
				  "It holds instants, which show as times of day in a time zone only.", "its detail");
	tap_is_string(server_stub_error.hint,
				  "Types that can hold it: type 1184, type 25, type 1043, type 1042, type 3802, type 114.",
				  "its hint");
	attempt = make_attempt(&wall, TIMESTAMPTZOID, -1, false, NULL, 0, 0);
	tap_ok(!convert(&attempt) && failed_with(ERRCODE_DATATYPE_MISMATCH) &&
		   strstr(server_stub_error.detail, "without saying in which time zone") != NULL,
		   "wall-clock times to timestamptz");
	attempt = make_attempt(&number, BOOLOID, -1, false, NULL, 0, 0);
	tap_ok(!convert(&attempt) && failed_with(ERRCODE_DATATYPE_MISMATCH), "floating point to bool");
	wall.timezone = "";
	attempt = make_attempt(&wall, TIMESTAMPOID, -1, false, NULL, 0, 0);
	tap_ok(convert(&attempt), "an empty zone is none");
}

static void
test_natural_types(void)
{
	static const struct
	{
		int			bits;
		bool		is_signed;
		Oid			type;
	}			integers[] = {
		{8, true, INT2OID}, {16, true, INT2OID}, {32, true, INT4OID}, {64, true, INT8OID},
		{8, false, INT2OID}, {16, false, INT4OID}, {32, false, INT8OID}, {64, false, NUMERICOID}
	};
	int			wrong = 0;

	for (int i = 0; i < (int) lengthof(integers); i++)
	{
		ArrowField	field = {.type = ARROW_INT, .bit_width = integers[i].bits,
			.is_signed = integers[i].is_signed};

		wrong += arrow_natural_type(&field) != integers[i].type;
	}
	tap_is_int(wrong, 0, "natural types of integers hold them all");
	{
		const char *keys[] = {"ARROW:extension:name"};
		const char *names[] = {"arrow.uuid"};
		ArrowField	field = {.type = ARROW_FIXED_SIZE_BINARY, .byte_width = 16};

		tap_is_int(arrow_natural_type(&field), BYTEAOID, "16 bytes are bytea");
		field.metadata = (ArrowMetadata){1, keys, names};
		tap_is_int(arrow_natural_type(&field), UUIDOID, "unless they are said to be a uuid");
	}
}

int
main(int argc, char **argv)
{
	server_stub_init();
	if (argc > 1)
		seed = strtoull(argv[1], NULL, 10);
	arena = value_arena_create(TopMemoryContext);

	test_nulls();
	test_null_type();
	test_integers();
	test_booleans();
	test_halves();
	test_float_to_integer();
	test_floats();
	test_decimals();
	test_decimal_extremes();
	test_numeric_modifier();
	test_integer_to_numeric();
	test_decimal_to_integer();
	test_dates();
	test_timestamp_units();
	test_nanoseconds();
	test_times_and_intervals();
	test_text_loops();
	test_encodings();
	test_text_modifiers();
	test_uuids();
	test_dictionary();
	test_dictionary_memory();
	test_dictionary_bounds();
	test_dictionary_shares();
	test_run_values();
	test_run_ends();
	test_domain();
	test_refused_pairs();
	test_natural_types();
	return tap_done();
}
