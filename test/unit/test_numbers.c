/*-------------------------------------------------------------------------
 *
 * test_numbers.c
 *	  Plain numbers: what the loops make of text, one row and four rows at a
 *	  time, against the C library.
 *
 * A field that a loop does not recognise goes to the type's input function,
 * which this program plays: it notes the field and gives a value of its own.
 * So for each field the loop must either give what strtoll, strtod or strtof
 * give for the whole of it, or leave it.
 *
 *	test_numbers [seed]
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <errno.h>

#include "column/text_decoder.h"
#include "random.h"
#include "server_stub.h"
#include "tap.h"

#define NROWS		1000
#define FIELD_BYTES	24
#define ROUNDS		300

#define LEFT_ALONE	UINT64CONST(0x5A5A5A5A5A5A5A5A)

/* In place of the extension's: the field was left to the input function. */
Datum
text_decode_by_input(TextDecoder *decoder, ValueArena *arena, const char *p, uint32 length)
{
	(void) decoder;
	(void) arena;
	(void) p;
	(void) length;
	return (Datum) LEFT_ALONE;
}

typedef struct Column
{
	char		base[NROWS * FIELD_BYTES + TEXT_FIELD_PADDING];
	uint32		offset[NROWS];
	uint32		length[NROWS];
	Datum		values[NROWS];
	bool		isnull[NROWS];
} Column;

static Column column;
static Column again;

typedef enum NumberKind
{
	KIND_INT2, KIND_INT4, KIND_INT8, KIND_FLOAT4, KIND_FLOAT8, KIND_COUNT
} NumberKind;

static const TextLoop loops[] = {
	text_loop_int2, text_loop_int4, text_loop_int8, text_loop_float4, text_loop_float8
};
static const char *const kind_names[] = {"int2", "int4", "int8", "float4", "float8"};

/* Digits, now and then with something that is no digit. */
static uint32
random_field(char *p, NumberKind kind, uint32 most_digits, uint32 oddity)
{
	uint32		n = 0;
	uint32		digits = random_below(most_digits + 1);
	uint32		point = kind >= KIND_FLOAT4 && random_below(3) > 0 ? (uint32) random_below(digits + 1) : digits + 1;
	static const char odd[] = " +-.eE/:x\x80\xFF\0";

	if (random_below(oddity) == 0)
		p[n++] = '-';
	for (uint32 i = 0; i < digits; i++)
	{
		if (i == point)
			p[n++] = '.';
		p[n++] = (char) ('0' + random_below(10));
	}
	if (point == digits)
		p[n++] = '.';
	if (random_below(oddity) == 0 && n > 0)
		p[random_below(n)] = odd[random_below(sizeof(odd) - 1)];
	if (random_below(oddity) == 0 && digits > 0)
		p[random_below(n)] = '0';
	return n;
}

static void
random_column(NumberKind kind, uint32 most_digits, uint32 oddity)
{
	uint32		at = 0;

	/* what lies between fields, and behind the last, must not matter */
	for (size_t i = 0; i < sizeof(column.base); i++)
		column.base[i] = (char) ('0' + random_below(10));
	for (int row = 0; row < NROWS; row++)
	{
		column.offset[row] = at;
		column.length[row] = random_field(column.base + at, kind, most_digits, oddity);
		at += column.length[row] + random_below(2);
		if (random_below(oddity) == 0)
			column.length[row] |= TEXT_FIELD_QUOTED;
		if (random_below(oddity * 4) == 0)
			column.length[row] = TEXT_FIELD_NULL;
	}
}

static void
run_loop(Column *result, NumberKind kind, bool wide, const char *null, int from, int to)
{
	TextDecoder decoder = {
		.loop = loops[kind],
		.null = null,
		.null_length = (uint32) strlen(null),
		.wide = wide
	};
	TextFields	fields = {column.base, column.offset, column.length};
	ValueArena	arena = {0};
	volatile int current = 0;
	TextRun		run = {&fields, from, to, NULL, 0, &arena, result->values, result->isnull, &current};

	memset(result->values, 0xA5, sizeof(result->values));
	memset(result->isnull, 0x7F, sizeof(result->isnull));
	decoder.loop(&decoder, &run);
}

/* Is this what the C library makes of the whole field? */
static bool
value_is_right(NumberKind kind, const char *p, uint32 length, Datum value)
{
	char		text[FIELD_BYTES + 1];
	char	   *end;

	memcpy(text, p, length);
	text[length] = '\0';
	errno = 0;
	if (kind <= KIND_INT8)
	{
		long long	number = strtoll(text, &end, 10);
		long long	most = kind == KIND_INT2 ? PG_INT16_MAX : kind == KIND_INT4 ? PG_INT32_MAX : PG_INT64_MAX;

		return errno == 0 && *end == '\0' && number <= most && number >= -most - 1 &&
			(int64) value == number;
	}
	if (kind == KIND_FLOAT4)
	{
		float		number = strtof(text, &end);

		return *end == '\0' && Float4GetDatum(number) == value;
	}
	else
	{
		double		number = strtod(text, &end);

		return *end == '\0' && Float8GetDatum(number) == value;
	}
}

/* Checks rows [from, to); counts those that the loop took. */
static bool
column_is_right(NumberKind kind, const char *null, int from, int to, int *taken)
{
	for (int row = from; row < to; row++)
	{
		uint32		length = column.length[row];
		const char *p = column.base + column.offset[row];
		bool		is_null = length == TEXT_FIELD_NULL ||
			((length & TEXT_FIELD_QUOTED) == 0 && length == strlen(null) && memcmp(p, null, length) == 0);

		length &= ~TEXT_FIELD_QUOTED;
		if (column.isnull[row] != is_null)
			return false;
		if (is_null || column.values[row] == (Datum) LEFT_ALONE)
			continue;
		if (!value_is_right(kind, p, length, column.values[row]))
		{
			tap_note("\"%.*s\" gives %016llx", (int) length, p, (unsigned long long) column.values[row]);
			return false;
		}
		(*taken)++;
	}
	return true;
}

static void
test_kind(NumberKind kind)
{
	static const char *const nulls[] = {"", "7", "NA", "12.5"};
	bool		right = true;
	bool		same = true;
	int			taken = 0;
	int			all = 0;

	for (int round = 0; round < ROUNDS; round++)
	{
		uint32		most_digits = 1 + random_below(20);
		const char *null = nulls[random_below(4)];
		int			from = (int) random_below(9);
		int			to = NROWS - (int) random_below(9);

		/* whether four at a time is allowed depends on the null string */
		bool		wide = text_wide_available() &&
			(null[0] == '\0' || strspn(null, "0123456789.") != strlen(null));

		random_column(kind, most_digits, 2 + random_below(40));
		run_loop(&again, kind, false, null, from, to);
		run_loop(&column, kind, wide, null, from, to);
		right = right && column_is_right(kind, null, from, to, &taken);
		all += to - from;
		for (int row = from; row < to; row++)
		{
			bool		equal = column.isnull[row] == again.isnull[row] &&
				(column.isnull[row] || column.values[row] == again.values[row]);

			if (!equal && same)
				tap_note("row %d: \"%.*s\"", row, (int) (column.length[row] & 0xFFFF),
						 column.base + column.offset[row]);
			same = same && equal;
		}
		/* nothing beyond the rows asked for */
		same = same && (from == 0 || column.values[from - 1] == UINT64CONST(0xA5A5A5A5A5A5A5A5)) &&
			(to == NROWS || (column.values[to] == UINT64CONST(0xA5A5A5A5A5A5A5A5) &&
							 (unsigned char) ((char *) column.isnull)[to] == 0x7F));
	}
	tap_ok(right, "%s: every number taken is the C library's", kind_names[kind]);
	tap_ok(same, "%s: four rows at a time give what one at a time gives", kind_names[kind]);
	tap_ok(taken > all / 3, "%s: most plain numbers are taken", kind_names[kind]);
}

/* One field in all four places of a group, so that the group is taken together. */
static Datum
decode_one(NumberKind kind, const char *text)
{
	memset(column.base, 0, sizeof(column.base));
	memcpy(column.base + 8, text, strlen(text));
	for (int row = 0; row < 4; row++)
	{
		column.offset[row] = 8;
		column.length[row] = (uint32) strlen(text);
	}
	run_loop(&again, kind, text_wide_available(), "", 0, 4);
	return again.values[3];
}

static void
test_edges(void)
{
	tap_is_int((int64) decode_one(KIND_INT2, "32767"), 32767, "int2: the greatest");
	tap_ok(decode_one(KIND_INT2, "32768") == LEFT_ALONE, "int2: one more is left alone");
	tap_is_int((int64) decode_one(KIND_INT4, "2147483647"), 2147483647, "int4: the greatest");
	tap_ok(decode_one(KIND_INT4, "2147483648") == LEFT_ALONE, "int4: one more is left alone");
	tap_is_int((int64) decode_one(KIND_INT4, "-2147483648"), -2147483648LL, "int4: the least");
	tap_is_int((int64) decode_one(KIND_INT8, "9999999999999999"), 9999999999999999LL, "int8: 16 digits");
	tap_is_int((int64) decode_one(KIND_INT8, "9223372036854775807"), PG_INT64_MAX, "int8: the greatest");
	tap_is_int((int64) decode_one(KIND_INT8, "-9223372036854775808"), PG_INT64_MIN, "int8: the least");
	tap_ok(decode_one(KIND_INT8, "9223372036854775808") == LEFT_ALONE, "int8: one more is left alone");
	tap_ok(decode_one(KIND_INT8, "-") == LEFT_ALONE, "int8: a sign alone is left alone");
	tap_ok(decode_one(KIND_FLOAT8, "1.2.3") == LEFT_ALONE, "float8: two points are left alone");
	tap_ok(decode_one(KIND_FLOAT8, ".") == LEFT_ALONE, "float8: a point alone is left alone");
	tap_ok(decode_one(KIND_FLOAT8, ".5") == Float8GetDatum(0.5), "float8: nothing before the point");
	tap_ok(decode_one(KIND_FLOAT8, "5.") == Float8GetDatum(5.0), "float8: nothing behind the point");
	tap_ok(decode_one(KIND_FLOAT4, "16777217") == Float4GetDatum(16777216.0f) ||
		   decode_one(KIND_FLOAT4, "16777217") == LEFT_ALONE,
		   "float4: halfway between two rounds to even, or is left alone");
}

int
main(int argc, char **argv)
{
	server_stub_init();
	(void) random_begin(argc, argv);
	for (int kind = 0; kind < KIND_COUNT; kind++)
		test_kind((NumberKind) kind);
	test_edges();
	return tap_done();
}
