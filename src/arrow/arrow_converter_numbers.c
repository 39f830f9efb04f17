/*-------------------------------------------------------------------------
 *
 * arrow_converter_numbers.c
 *	  Booleans, integers, floating-point numbers and decimals.
 *
 * Between integers, and from anything to an integer, a value is exact or an
 * error.  Floating point takes the nearest number that it has, as an
 * assignment would, and a numeric's scale rounds; a key may do neither.
 *
 * Loops over integers look at nulls no more than at other rows: whatever is
 * out of range is noted, and only then is it asked which row it was, and
 * whether that row has a value at all.
 *
 * Floating point becomes numeric by its shortest decimal spelling, which
 * different numbers never share.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "compat.h"

#include <float.h>
#include <math.h>

#include "catalog/pg_type.h"
#include "common/shortest_dec.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/memutils.h"
#include "utils/numeric.h"

#include "arrow/arrow_converter_internal.h"

/* ------------------------------------------------------------ integers of the file */

typedef enum IntegerKind
{
	KIND_INT8, KIND_INT16, KIND_INT32, KIND_INT64,
	KIND_UINT8, KIND_UINT16, KIND_UINT32, KIND_UINT64
} IntegerKind;

static IntegerKind
integer_kind(const ArrowField *field)
{
	IntegerKind kind = field->is_signed ? KIND_INT8 : KIND_UINT8;

	switch (field->bit_width)
	{
		case 8:
			return kind;
		case 16:
			return kind + 1;
		case 32:
			return kind + 2;
		default:
			return kind + 3;
	}
}

#define LOAD_AS(ctype, p) \
	do { \
		ctype		loaded; \
		memcpy(&loaded, p, sizeof(loaded)); \
		return (int64) loaded; \
	} while (0)

/* The number; of uint64 its bits. */
static pg_attribute_always_inline int64
load_integer(const char *p, IntegerKind kind)
{
	switch (kind)
	{
		case KIND_INT8:
			LOAD_AS(int8, p);
		case KIND_INT16:
			LOAD_AS(int16, p);
		case KIND_INT32:
			LOAD_AS(int32, p);
		case KIND_UINT8:
			LOAD_AS(uint8, p);
		case KIND_UINT16:
			LOAD_AS(uint16, p);
		case KIND_UINT32:
			LOAD_AS(uint32, p);
		case KIND_INT64:
		case KIND_UINT64:
			break;
	}
	LOAD_AS(int64, p);
}

static int
kind_width(IntegerKind kind)
{
	return 1 << (kind & 3);
}

static char *
integer_text(int64 number, IntegerKind kind)
{
	if (kind == KIND_UINT64)
		return psprintf("%llu", (unsigned long long) number);
	return psprintf("%lld", (long long) number);
}

/* ------------------------------------------------------------ integers to integers */

/* What a converter to an integer knows: the numbers that it may give. */
typedef struct IntegerRange
{
	int64		least;
	int64		most;
	IntegerKind kind;			/* of an integer field */
} IntegerRange;

/* The type's numbers. */
static IntegerRange
type_range(Oid type)
{
	switch (type)
	{
		case BOOLOID:
			return (IntegerRange){.least = 0, .most = 1};
		case INT2OID:
			return (IntegerRange){.least = PG_INT16_MIN, .most = PG_INT16_MAX};
		case INT4OID:
			return (IntegerRange){.least = PG_INT32_MIN, .most = PG_INT32_MAX};
		case OIDOID:
			return (IntegerRange){.least = 0, .most = PG_UINT32_MAX};
		default:
			return (IntegerRange){.least = PG_INT64_MIN, .most = PG_INT64_MAX};
	}
}

static inline bool
in_range(const IntegerRange *range, int64 number)
{
	return number >= range->least && number <= range->most;
}

/* Which row was it?  Perhaps none that has a value. */
static pg_noinline void
find_out_of_range(ArrowConverter *converter, ArrowVector *vector, const ArrowRun *run)
{
	const IntegerRange *range = converter->state;
	int			n = arrow_run_count(run);

	for (int k = 0; k < n; k++)
	{
		int			row = arrow_run_row(run, k);
		int64		number = load_integer(arrow_fixed(vector, run->from + row), range->kind);

		if (run->isnull[row] || in_range(range, number))
			continue;
		*run->current = row;
		arrow_refuse_range(converter, integer_text(number, range->kind));
	}
}

static pg_attribute_always_inline void
integer_rows(ArrowConverter *converter, ArrowVector *vector, const ArrowRun *run,
			 IntegerKind kind, bool check, const int16 *rows)
{
	const IntegerRange *range = converter->state;
	const int	width = kind_width(kind);
	const char *p = vector->values + (run->from - vector->from) * width;
	uint64		least = (uint64) range->least;
	uint64		extent = (uint64) range->most - least;
	uint64		outside = 0;
	Datum	   *values = run->values;
	int			n = arrow_run_count(run);

	for (int k = 0; k < n; k++)
	{
		int			row = rows ? rows[k] : k;
		uint64		number = (uint64) load_integer(p + (int64) row * width, kind);

		values[row] = (Datum) number;
		if (check)
			outside |= number - least > extent;
	}
	if (check && unlikely(outside))
		find_out_of_range(converter, vector, run);
}

static pg_attribute_always_inline void
integer_loop(ArrowConverter *converter, ArrowVector *vector, const ArrowRun *run,
			 IntegerKind kind, bool check)
{
	if (run->rows != NULL)
		integer_rows(converter, vector, run, kind, check, run->rows);
	else
		integer_rows(converter, vector, run, kind, check, NULL);
}

#define INTEGER_LOOP(name, kind) \
static void \
convert_##name(ArrowConverter *converter, ArrowVector *vector, const ArrowRun *run) \
{ \
	integer_loop(converter, vector, run, kind, false); \
} \
\
static void \
convert_##name##_checked(ArrowConverter *converter, ArrowVector *vector, const ArrowRun *run) \
{ \
	integer_loop(converter, vector, run, kind, true); \
}

INTEGER_LOOP(int8, KIND_INT8)
INTEGER_LOOP(int16, KIND_INT16)
INTEGER_LOOP(int32, KIND_INT32)
INTEGER_LOOP(int64, KIND_INT64)
INTEGER_LOOP(uint8, KIND_UINT8)
INTEGER_LOOP(uint16, KIND_UINT16)
INTEGER_LOOP(uint32, KIND_UINT32)
INTEGER_LOOP(uint64, KIND_UINT64)

static const struct
{
	int64		least;
	int64		most;			/* of what load_integer gives */
	ArrowConvertMethod plain;
	ArrowConvertMethod checked;
}			integer_loops[] =
{
	[KIND_INT8] = {PG_INT8_MIN, PG_INT8_MAX, convert_int8, convert_int8_checked},
	[KIND_INT16] = {PG_INT16_MIN, PG_INT16_MAX, convert_int16, convert_int16_checked},
	[KIND_INT32] = {PG_INT32_MIN, PG_INT32_MAX, convert_int32, convert_int32_checked},
	[KIND_INT64] = {PG_INT64_MIN, PG_INT64_MAX, convert_int64, convert_int64_checked},
	[KIND_UINT8] = {0, PG_UINT8_MAX, convert_uint8, convert_uint8_checked},
	[KIND_UINT16] = {0, PG_UINT16_MAX, convert_uint16, convert_uint16_checked},
	[KIND_UINT32] = {0, PG_UINT32_MAX, convert_uint32, convert_uint32_checked},
	/* those above int64's are negative, and the target's range begins at 0 */
	[KIND_UINT64] = {PG_INT64_MIN, PG_INT64_MAX, convert_uint64, convert_uint64_checked},
};

static Datum
element_integer(ArrowConverter *converter, ArrowVector *vector, int64 i, ValueArena *arena, bool *isnull)
{
	const IntegerRange *range = converter->state;
	int64		number = load_integer(arrow_fixed(vector, i), range->kind);

	(void) arena;
	(void) isnull;
	if (!in_range(range, number))
		arrow_refuse_range(converter, integer_text(number, range->kind));
	return (Datum) number;
}

static void
prepare_from_integer(ArrowConverter *converter)
{
	IntegerRange *range = converter->state;
	IntegerKind kind = integer_kind(converter->field);
	bool		fits;

	range->kind = kind;
	if (kind == KIND_UINT64)
		range->least = 0;
	fits = integer_loops[kind].least >= range->least && integer_loops[kind].most <= range->most;
	converter->element = element_integer;
	converter->convert = fits ? integer_loops[kind].plain : integer_loops[kind].checked;
}

/* ------------------------------------------------------------ booleans */

static Datum
element_bool(ArrowConverter *converter, ArrowVector *vector, int64 i, ValueArena *arena, bool *isnull)
{
	(void) converter;
	(void) arena;
	(void) isnull;
	return (Datum) arrow_bool(vector, i);
}

static pg_attribute_always_inline void
bit_rows(ArrowVector *vector, const ArrowRun *run, const int16 *rows)
{
	const uint8 *bits = (const uint8 *) vector->values;
	int64		first = run->from - vector->bits_from;
	Datum	   *values = run->values;
	int			n = arrow_run_count(run);

	for (int k = 0; k < n; k++)
	{
		int			row = rows ? rows[k] : k;
		int64		bit = first + row;

		values[row] = (bits[bit >> 3] >> (bit & 7)) & 1;
	}
}

/* To bool, and to 0 and 1 of the integer types. */
static void
convert_bits(ArrowConverter *converter, ArrowVector *vector, const ArrowRun *run)
{
	(void) converter;
	if (run->rows != NULL)
		bit_rows(vector, run, run->rows);
	else
		bit_rows(vector, run, NULL);
}

static void
prepare_from_bool(ArrowConverter *converter)
{
	converter->element = element_bool;
	converter->convert = convert_bits;
}

static void
set_range(ArrowConverter *converter)
{
	IntegerRange *range = palloc(sizeof(IntegerRange));

	*range = type_range(converter->type);
	converter->state = range;
}

/* 0 and 1 of an integer field, and nothing else, are booleans too. */
void
arrow_prepare_bool(ArrowConverter *converter)
{
	if (converter->field->type == ARROW_BOOL)
		prepare_from_bool(converter);
	else
	{
		set_range(converter);
		prepare_from_integer(converter);
	}
}

/* ------------------------------------------------------------ floating point of the file */

static float
half_to_float(uint16 half)
{
	uint32		sign = (uint32) (half & 0x8000) << 16;
	uint32		exponent = (half >> 10) & 0x1F;
	uint32		fraction = half & 0x3FF;
	uint32		bits;
	float		result;

	if (exponent == 0)
	{
		/* zero, or a denormal: fraction * 2^-24, which a float holds */
		result = (float) fraction * (1.0f / 16777216.0f);
		return sign ? -result : result;
	}
	if (exponent == 0x1F)
		bits = sign | 0x7F800000U | (fraction << 13);
	else
		bits = sign | ((exponent + 127 - 15) << 23) | (fraction << 13);
	memcpy(&result, &bits, sizeof(result));
	return result;
}

/* Any width is exact as a double. */
static pg_attribute_always_inline double
load_float(const char *p, int bits)
{
	uint16		half;
	float		single;
	double		wide;

	switch (bits)
	{
		case 16:
			memcpy(&half, p, sizeof(half));
			return half_to_float(half);
		case 32:
			memcpy(&single, p, sizeof(single));
			return single;
		default:
			memcpy(&wide, p, sizeof(wide));
			return wide;
	}
}

/* The shortest spelling that reads back as the same number of its width. */
static void
float_text(double number, int bits, char *text)
{
	if (isnan(number))
		strcpy(text, "NaN");
	else if (isinf(number))
		strcpy(text, number < 0 ? "-Infinity" : "Infinity");
	else if (bits == 64)
		(void) double_to_shortest_decimal_buf(number, text);
	else
		(void) float_to_shortest_decimal_buf((float) number, text);
}

StaticAssertDecl(FLOAT_SHORTEST_DECIMAL_LEN <= DOUBLE_SHORTEST_DECIMAL_LEN, "a double's text is the longest");

static Datum
element_float_to_integer(ArrowConverter *converter, ArrowVector *vector, int64 i,
						 ValueArena *arena, bool *isnull)
{
	const IntegerRange *range = converter->state;
	int			bits = converter->field->bit_width;
	double		number = load_float(arrow_fixed(vector, i), bits);
	char		text[DOUBLE_SHORTEST_DECIMAL_LEN];

	(void) arena;
	(void) isnull;
	/* -2^63 is a double, and so is the first number past 2^63 - 1 */
	if (number >= -9223372036854775808.0 && number < 9223372036854775808.0 &&
		rint(number) == number && in_range(range, (int64) number))
		return (Datum) (int64) number;

	float_text(number, bits, text);
	if (!isfinite(number) || rint(number) == number)
		arrow_refuse_range(converter, text);
	arrow_refuse_fraction(converter, text, "an integer");
}

/* ------------------------------------------------------------ decimals of the file */

/* A magnitude of up to 256 bits, with room for a factor. */
#define LIMBS	5

typedef struct Decimal
{
	uint64		limb[LIMBS];	/* the lowest first */
	int			n;				/* limbs up to the highest that is not 0 */
	bool		negative;
} Decimal;

/* What is behind this many decimal places, or zeros, is not worth having. */
#define MAX_SCALE	1000

static const uint64 power_of_ten[] = {
	UINT64CONST(1), UINT64CONST(10), UINT64CONST(100), UINT64CONST(1000),
	UINT64CONST(10000), UINT64CONST(100000), UINT64CONST(1000000), UINT64CONST(10000000),
	UINT64CONST(100000000), UINT64CONST(1000000000), UINT64CONST(10000000000),
	UINT64CONST(100000000000), UINT64CONST(1000000000000), UINT64CONST(10000000000000),
	UINT64CONST(100000000000000), UINT64CONST(1000000000000000), UINT64CONST(10000000000000000)
};

#define LARGEST_POWER	16

static void
decimal_trim(Decimal *decimal)
{
	while (decimal->n > 0 && decimal->limb[decimal->n - 1] == 0)
		decimal->n--;
}

static void
decimal_from_integer(Decimal *decimal, int64 number, bool is_signed)
{
	decimal->negative = is_signed && number < 0;
	decimal->limb[0] = decimal->negative ? 0 - (uint64) number : (uint64) number;
	decimal->n = 1;
	decimal_trim(decimal);
}

/* Two's complement of "bytes" bytes, little-endian. */
static void
decimal_load(Decimal *decimal, const char *p, int bytes)
{
	int32		narrow;
	uint64		carry;

	if (bytes == 4)
	{
		memcpy(&narrow, p, sizeof(narrow));
		decimal_from_integer(decimal, narrow, true);
		return;
	}
	decimal->n = bytes / 8;
	memcpy(decimal->limb, p, bytes);
	decimal->negative = (int64) decimal->limb[decimal->n - 1] < 0;
	if (decimal->negative)
	{
		carry = 1;
		for (int i = 0; i < decimal->n; i++)
		{
			decimal->limb[i] = ~decimal->limb[i] + carry;
			carry = carry && decimal->limb[i] == 0;
		}
	}
	decimal_trim(decimal);
}

/* 256 bits times 10^16 at most: there is room. */
static void
decimal_multiply(Decimal *decimal, uint64 factor)
{
	uint64		carry = 0;

	for (int i = 0; i < decimal->n; i++)
	{
		uint128		product = (uint128) decimal->limb[i] * factor + carry;

		decimal->limb[i] = (uint64) product;
		carry = (uint64) (product >> 64);
	}
	if (carry != 0)
	{
		Assert(decimal->n < LIMBS);
		decimal->limb[decimal->n++] = carry;
	}
}

/* Divides, and returns the remainder. */
static uint64
decimal_divide(Decimal *decimal, uint64 divisor)
{
	uint64		rest = 0;

	if (decimal->n == 1)
	{
		rest = decimal->limb[0] % divisor;
		decimal->limb[0] /= divisor;
	}
	else
	{
		for (int i = decimal->n - 1; i >= 0; i--)
		{
			uint128		dividend = (uint128) rest << 64 | decimal->limb[i];

			decimal->limb[i] = (uint64) (dividend / divisor);
			rest = (uint64) (dividend % divisor);
		}
	}
	decimal_trim(decimal);
	return rest;
}

/* ------------------------------------------------------------ numeric */

/*
 * A numeric as it stands on disk, which numeric.c keeps to itself but cannot
 * change any more: a header of 16 bits where scale and weight are small, else
 * of 32, then digits of base 10000, without zeros at either end.
 */
#define NUMERIC_BASE		10000
#define BASE_DIGITS			4
#define SHORT_FLAG			0x8000
#define SHORT_NEGATIVE		0x2000
#define SHORT_SCALE_SHIFT	7
#define SHORT_SCALE_MAX		0x3F
#define SHORT_WEIGHT_MAX	0x3F
#define SHORT_WEIGHT_BITS	0x7F	/* the sign's bit is the highest of them */
#define LONG_NEGATIVE		0x4000

/* Digits of 320 bits. */
#define MAX_BASE_DIGITS		28

/* Digits to base 10000 of a number, the lowest first; empties the number. */
static int
decimal_digits(Decimal *decimal, int16 *digits)
{
	int			n = 0;

	while (decimal->n > 0)
	{
		uint64		part = decimal_divide(decimal, power_of_ten[LARGEST_POWER]);

		for (int i = 0; i < LARGEST_POWER / BASE_DIGITS && (part != 0 || decimal->n > 0); i++)
		{
			digits[n++] = (int16) (part % NUMERIC_BASE);
			part /= NUMERIC_BASE;
		}
	}
	return n;
}

/* digits[0 .. n), the lowest first, as a numeric in the arena */
static Numeric
numeric_pack(bool negative, int weight, int scale, const int16 *digits, int n, ValueArena *arena)
{
	bool		is_short = scale <= SHORT_SCALE_MAX &&
		weight >= -SHORT_WEIGHT_MAX - 1 && weight <= SHORT_WEIGHT_MAX;
	size_t		header = is_short ? sizeof(uint16) : 2 * sizeof(uint16);
	size_t		size = VARHDRSZ + header + n * sizeof(int16);
	char	   *result = value_arena_alloc(arena, size);
	uint16		words[2];
	int16	   *target = (int16 *) (result + VARHDRSZ + header);

	SET_VARSIZE(result, size);
	if (is_short)
		words[0] = SHORT_FLAG | (negative ? SHORT_NEGATIVE : 0) |
			scale << SHORT_SCALE_SHIFT | (weight & SHORT_WEIGHT_BITS);
	else
	{
		words[0] = (negative ? LONG_NEGATIVE : 0) | scale;
		words[1] = (uint16) weight;
	}
	memcpy(result + VARHDRSZ, words, header);
	for (int i = 0; i < n; i++)
		target[i] = digits[n - 1 - i];
	return (Numeric) result;
}

/* Rounded to the type's scale, which a key is not. */
static Datum
round_to_modifier(ArrowConverter *converter, Numeric number, ValueArena *arena)
{
	MemoryContext caller = MemoryContextSwitchTo(value_arena_context(arena));
	Datum		result = DirectFunctionCall2(numeric, NumericGetDatum(number),
											 Int32GetDatum(converter->typmod));

	if (converter->key && !DatumGetBool(DirectFunctionCall2(numeric_eq, result, NumericGetDatum(number))))
		arrow_refuse_rounding(converter,
							  DatumGetCString(DirectFunctionCall1(numeric_out, NumericGetDatum(number))));
	MemoryContextSwitchTo(caller);
	return result;
}

/*
 * decimal * 10^-scale.  typmod: as converter's says, or as it is.  Destroys
 * the decimal.
 */
static Datum
decimal_to_numeric(ArrowConverter *converter, Decimal *decimal, int scale, bool typmod, ValueArena *arena)
{
	int16		digits[MAX_BASE_DIGITS];
	int			places = scale >= 0 ? (scale + BASE_DIGITS - 1) / BASE_DIGITS : -(-scale / BASE_DIGITS);
	int			display = Max(scale, 0);
	int			first = 0;
	int			n;
	int			weight;
	bool		negative = decimal->negative;
	bool		round = false;
	Numeric		number;

	/* so many zeros that a digit of base 10000 begins at the decimal point */
	decimal_multiply(decimal, power_of_ten[places * BASE_DIGITS - scale]);
	n = decimal_digits(decimal, digits);
	weight = n - 1 - places;
	while (first < n && digits[first] == 0)
		first++;
	if (first == n)
	{
		weight = 0;
		negative = false;
	}
	if (typmod && converter->precision >= 0)
	{
		int			before = first == n ? 0 : (weight + 1) * BASE_DIGITS;

		if (display <= converter->scale && before <= converter->precision - converter->scale)
			display = converter->scale;
		else
			round = true;
	}
	number = numeric_pack(negative, weight, display, digits + first, n - first, arena);
	return round ? round_to_modifier(converter, number, arena) : NumericGetDatum(number);
}

static Datum
element_decimal_to_numeric(ArrowConverter *converter, ArrowVector *vector, int64 i,
						   ValueArena *arena, bool *isnull)
{
	Decimal		decimal;

	(void) isnull;
	decimal_load(&decimal, arrow_fixed(vector, i), converter->field->bit_width / 8);
	return decimal_to_numeric(converter, &decimal, converter->field->scale, true, arena);
}

static Datum
element_integer_to_numeric(ArrowConverter *converter, ArrowVector *vector, int64 i,
						   ValueArena *arena, bool *isnull)
{
	int64		number = load_integer(arrow_fixed(vector, i), integer_kind(converter->field));
	Decimal		decimal;

	(void) isnull;
	decimal_from_integer(&decimal, number, converter->field->is_signed);
	return decimal_to_numeric(converter, &decimal, 0, true, arena);
}

static Datum
element_float_to_numeric(ArrowConverter *converter, ArrowVector *vector, int64 i,
						 ValueArena *arena, bool *isnull)
{
	int			bits = converter->field->bit_width;
	char		text[DOUBLE_SHORTEST_DECIMAL_LEN];
	MemoryContext caller = MemoryContextSwitchTo(value_arena_context(arena));
	Datum		result;

	(void) isnull;
	float_text(load_float(arrow_fixed(vector, i), bits), bits, text);
	result = DirectFunctionCall3(numeric_in, CStringGetDatum(text),
								 ObjectIdGetDatum(InvalidOid), Int32GetDatum(-1));
	MemoryContextSwitchTo(caller);
	if (converter->precision >= 0)
		result = round_to_modifier(converter, DatumGetNumeric(result), arena);
	return result;
}

static void
check_scale(const ArrowConverter *converter)
{
	if (converter->field->scale < -MAX_SCALE || converter->field->scale > MAX_SCALE)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("decimal numbers of scale %d in file \"%s\" are not supported",
						converter->field->scale, converter->file),
				 errdetail("It can be from %d to %d.", -MAX_SCALE, MAX_SCALE)));
}

void
arrow_prepare_numeric(ArrowConverter *converter)
{
	if (converter->typmod >= (int32) VARHDRSZ)
	{
		/* the scale has 11 bits, with its sign */
		int32		typmod = converter->typmod - VARHDRSZ;

		converter->precision = (typmod >> 16) & 0xFFFF;
		converter->scale = ((typmod & 0x7FF) ^ 0x400) - 0x400;
	}
	switch (converter->field->type)
	{
		case ARROW_INT:
			converter->element = element_integer_to_numeric;
			break;
		case ARROW_FLOATING_POINT:
			converter->element = element_float_to_numeric;
			break;
		default:
			check_scale(converter);
			converter->element = element_decimal_to_numeric;
			break;
	}
}

/* The element of a decimal field, all of its digits. */
static Datum
plain_numeric(ArrowConverter *converter, ArrowVector *vector, int64 i, ValueArena *arena)
{
	Decimal		decimal;

	decimal_load(&decimal, arrow_fixed(vector, i), converter->field->bit_width / 8);
	return decimal_to_numeric(converter, &decimal, converter->field->scale, false, arena);
}

static char *
numeric_text(Datum number)
{
	return DatumGetCString(DirectFunctionCall1(numeric_out, number));
}

/* ------------------------------------------------------------ decimals to integers */

/* decimal / 10^scale: false where there is a rest. */
static bool
decimal_shift_right(Decimal *decimal, int scale)
{
	while (scale > 0 && decimal->n > 0)
	{
		int			step = Min(scale, LARGEST_POWER);

		if (decimal_divide(decimal, power_of_ten[step]) != 0)
			return false;
		scale -= step;
	}
	return true;
}

/* decimal * 10^zeros: false where it is far beyond int64. */
static bool
decimal_shift_left(Decimal *decimal, int zeros)
{
	while (zeros > 0 && decimal->n > 0)
	{
		int			step = Min(zeros, LARGEST_POWER);

		if (decimal->n > 1)
			return false;
		decimal_multiply(decimal, power_of_ten[step]);
		zeros -= step;
	}
	return true;
}

static bool
decimal_to_int64(const Decimal *decimal, int64 *result)
{
	uint64		magnitude = decimal->n > 0 ? decimal->limb[0] : 0;

	if (decimal->n > 1 || magnitude > (uint64) PG_INT64_MAX + decimal->negative)
		return false;
	*result = (int64) (decimal->negative ? 0 - magnitude : magnitude);
	return true;
}

static Datum
element_decimal_to_integer(ArrowConverter *converter, ArrowVector *vector, int64 i,
						   ValueArena *arena, bool *isnull)
{
	const IntegerRange *range = converter->state;
	int			scale = converter->field->scale;
	Decimal		decimal;
	int64		number;

	(void) isnull;
	decimal_load(&decimal, arrow_fixed(vector, i), converter->field->bit_width / 8);
	if (!decimal_shift_right(&decimal, scale))
		arrow_refuse_fraction(converter, numeric_text(plain_numeric(converter, vector, i, arena)),
							  "an integer");
	if (!decimal_shift_left(&decimal, -scale) || !decimal_to_int64(&decimal, &number) ||
		!in_range(range, number))
		arrow_refuse_range(converter, numeric_text(plain_numeric(converter, vector, i, arena)));
	return (Datum) number;
}

void
arrow_prepare_integer(ArrowConverter *converter)
{
	set_range(converter);
	switch (converter->field->type)
	{
		case ARROW_BOOL:
			prepare_from_bool(converter);
			break;
		case ARROW_INT:
			prepare_from_integer(converter);
			break;
		case ARROW_FLOATING_POINT:
			converter->element = element_float_to_integer;
			break;
		default:
			check_scale(converter);
			converter->element = element_decimal_to_integer;
			break;
	}
}

/* ------------------------------------------------------------ to floating point */

static void
convert_double_to_float8(ArrowConverter *converter, ArrowVector *vector, const ArrowRun *run)
{
	const char *p = vector->values + (run->from - vector->from) * sizeof(double);

	(void) converter;
	if (run->rows == NULL)
		memcpy(run->values, p, (run->to - run->from) * sizeof(double));
	else
	{
		for (int k = 0; k < run->nrows; k++)
			memcpy(&run->values[run->rows[k]], p + run->rows[k] * sizeof(double), sizeof(double));
	}
}

StaticAssertDecl(sizeof(Datum) == sizeof(double), "a float8 is its Datum");

static pg_attribute_always_inline void
float_rows(ArrowVector *vector, const ArrowRun *run, bool wide, const int16 *rows)
{
	const char *p = vector->values + (run->from - vector->from) * sizeof(float);
	Datum	   *values = run->values;
	int			n = arrow_run_count(run);

	for (int k = 0; k < n; k++)
	{
		int			row = rows ? rows[k] : k;
		float		number;

		memcpy(&number, p + row * sizeof(float), sizeof(float));
		values[row] = wide ? Float8GetDatum((double) number) : Float4GetDatum(number);
	}
}

static pg_attribute_always_inline void
float_loop(ArrowVector *vector, const ArrowRun *run, bool wide)
{
	if (run->rows != NULL)
		float_rows(vector, run, wide, run->rows);
	else
		float_rows(vector, run, wide, NULL);
}

static void
convert_float_to_float4(ArrowConverter *converter, ArrowVector *vector, const ArrowRun *run)
{
	(void) converter;
	float_loop(vector, run, false);
}

static void
convert_float_to_float8(ArrowConverter *converter, ArrowVector *vector, const ArrowRun *run)
{
	(void) converter;
	float_loop(vector, run, true);
}

/* As the server's cast: too large and too small are errors. */
static Datum
double_to_float4(ArrowConverter *converter, double number)
{
	float		single = (float) number;
	char		text[DOUBLE_SHORTEST_DECIMAL_LEN];
	bool		lost = (isinf(single) && !isinf(number)) || (single == 0.0f && number != 0.0);

	if (unlikely(lost || (converter->key && (double) single != number && !isnan(number))))
	{
		float_text(number, 64, text);
		if (lost)
			arrow_refuse_range(converter, text);
		arrow_refuse_rounding(converter, text);
	}
	return Float4GetDatum(single);
}

static Datum
element_float(ArrowConverter *converter, ArrowVector *vector, int64 i, ValueArena *arena, bool *isnull)
{
	double		number = load_float(arrow_fixed(vector, i), converter->field->bit_width);

	(void) arena;
	(void) isnull;
	if (converter->type == FLOAT8OID)
		return Float8GetDatum(number);
	return double_to_float4(converter, number);
}

/* Is the integer, whose nearest double this is, the double itself? */
static bool
same_integer(double number, int64 integer, bool is_signed)
{
	if (is_signed)
		return number < 9223372036854775808.0 && (int64) number == integer;
	return number < 18446744073709551616.0 && (uint64) number == (uint64) integer;
}

static Datum
element_integer_to_float(ArrowConverter *converter, ArrowVector *vector, int64 i,
						 ValueArena *arena, bool *isnull)
{
	IntegerKind kind = integer_kind(converter->field);
	int64		integer = load_integer(arrow_fixed(vector, i), kind);
	bool		is_signed = kind != KIND_UINT64;
	bool		single = converter->type == FLOAT4OID;
	double		number;

	(void) arena;
	(void) isnull;
	/* rounded once */
	if (single)
		number = is_signed ? (float) integer : (float) (uint64) integer;
	else
		number = is_signed ? (double) integer : (double) (uint64) integer;
	if (converter->key && !same_integer(number, integer, is_signed))
		arrow_refuse_rounding(converter, integer_text(integer, kind));
	return single ? Float4GetDatum((float) number) : Float8GetDatum(number);
}

/*
 * Next to no decimal fraction is a binary one.  A key has to come back from
 * the digits that a type is sure to keep: then no other such key is the same
 * number.
 */
static Datum
element_decimal_to_float(ArrowConverter *converter, ArrowVector *vector, int64 i,
						 ValueArena *arena, bool *isnull)
{
	MemoryContext caller = MemoryContextSwitchTo(value_arena_context(arena));
	Datum		exact = plain_numeric(converter, vector, i, arena);
	bool		single = converter->type == FLOAT4OID;
	Datum		result;

	(void) isnull;
	result = single ? DirectFunctionCall1(numeric_float4, exact) : DirectFunctionCall1(numeric_float8, exact);
	if (converter->key)
	{
		Datum		back = single ? DirectFunctionCall1(float4_numeric, result) :
			DirectFunctionCall1(float8_numeric, result);

		if (!DatumGetBool(DirectFunctionCall2(numeric_eq, back, exact)))
			arrow_refuse_rounding(converter, numeric_text(exact));
	}
	MemoryContextSwitchTo(caller);
	return result;
}

void
arrow_prepare_float(ArrowConverter *converter)
{
	int			bits = converter->field->bit_width;

	switch (converter->field->type)
	{
		case ARROW_INT:
			converter->element = element_integer_to_float;
			break;
		case ARROW_FLOATING_POINT:
			converter->element = element_float;
			if (bits == 64 && converter->type == FLOAT8OID)
				converter->convert = convert_double_to_float8;
			else if (bits == 32)
				converter->convert = converter->type == FLOAT8OID ?
					convert_float_to_float8 : convert_float_to_float4;
			break;
		default:
			check_scale(converter);
			converter->element = element_decimal_to_float;
			break;
	}
}
