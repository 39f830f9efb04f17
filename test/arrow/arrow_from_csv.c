/*-------------------------------------------------------------------------
 *
 * arrow_from_csv.c
 *	  A CSV file in, an Arrow IPC file or stream out, for tests and the bench.
 *
 *	arrow_from_csv [OPTION ...] --fields NAME:TYPE,... <in.csv >out.arrow
 *
 *		--codec none|lz4|zstd		of each buffer (none)
 *		--batch ROWS[,ROWS ...]		rows of the record batches, over and over from the first;
 *									0 alone: one batch for all; 0 among others: an empty one (65536)
 *		--stream					a stream, no file with a footer
 *		--align 8|64				of buffers (8)
 *		--dictionary NAME[:TYPE]	this field's values in a dictionary; TYPE of its indexes (int32)
 *		--delta						each batch brings what it adds to the dictionaries
 *
 * The first line names fields, which --fields does again: it is passed over,
 * and fields are taken in their order.  A field that is empty and not quoted
 * is null.
 *
 * TYPE: bool int8 .. int64 uint8 .. uint64 float32 float64 utf8 largeutf8
 * utf8view binary largebinary binaryview fixedbinary16 uuid date32 date64
 * time32_s time32_ms time64_us time64_ns timestamp_s .. timestamp_ns
 * timestamptz_s .. timestamptz_ns decimal128(P,S) list<TYPE> largelist<TYPE>.
 * Values are spelled as PostgreSQL writes them with the styles ISO and hex,
 * in the zone UTC.
 *
 * Without --delta, a file's dictionaries hold the values of all rows, so that
 * the input is read twice and must be a regular file; a stream replaces each
 * dictionary with every batch.  Besides dictionaries, memory is bounded by a
 * batch.
 *
 * Buffers lie as pyarrow writes them: no validity where nothing is null, a
 * compressed buffer behind its length, as it is behind -1 where compression
 * does not pay.  What the metadata looks like, src/arrow knows.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "compat.h"

#include <lz4frame.h>
#include <unistd.h>
#include <zstd.h>

#include "utils/memutils.h"

#include "arrow/arrow_metadata.h"
#include "server_stub.h"

#define OUTPUT_BYTES	(1024 * 1024)

#define INPUT_BYTES			(1 << 20)
#define VIEW_BUFFER_BYTES	32768
#define VIEW_BYTES			16
#define VIEW_INLINE_BYTES	12
#define MAX_FIELDS			1000
#define MAX_BATCH_SIZES		1000
#define DEFAULT_BATCH_ROWS	65536
#define ALL_ROWS			PG_INT64_MAX
#define MESSAGE_PREFIX		8	/* the continuation mark and a length */
#define FILE_MAGIC			"ARROW1"
#define FILE_MAGIC_BYTES	6

static int64 input_records;

pg_noreturn static void fail(const char *format,...) __attribute__((format(__printf__, 1, 2)));

static void
fail(const char *format,...)
{
	va_list		arguments;

	fprintf(stderr, "arrow_from_csv: ");
	if (input_records > 0)
		fprintf(stderr, "record " INT64_FORMAT ": ", input_records);
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fputc('\n', stderr);
	exit(1);
}

/* ------------------------------------------------------------ bytes that grow */

typedef struct Buffer
{
	uint8	   *data;
	size_t		used;
	size_t		capacity;
} Buffer;

static uint8 *
buffer_reserve(Buffer *buffer, size_t bytes)
{
	if (buffer->capacity - buffer->used < bytes)
	{
		buffer->capacity = Max(buffer->capacity * 2, buffer->used + bytes + 64);
		buffer->data = realloc(buffer->data, buffer->capacity);
		if (buffer->data == NULL)
			fail("out of memory");
	}
	return buffer->data + buffer->used;
}

static void
buffer_append(Buffer *buffer, const void *data, size_t bytes)
{
	uint8	   *end = buffer_reserve(buffer, bytes);

	if (bytes > 0)
		memcpy(end, data, bytes);
	buffer->used += bytes;
}

static inline void
buffer_append_number(Buffer *buffer, uint64 value, int bytes)
{
	byte_store(buffer_reserve(buffer, sizeof(value)), value, bytes);
	buffer->used += bytes;
}

static void
buffer_append_bit(Buffer *buffer, int64 number, bool bit)
{
	if (number % 8 == 0)
		buffer_append_number(buffer, 0, 1);
	if (bit)
		buffer->data[number / 8] |= (uint8) (1 << (number % 8));
}

/* ------------------------------------------------------------ columns */

/* NULL data: a null.  A byte of 0 follows the text. */
typedef struct Text
{
	char	   *data;
	size_t		length;
} Text;

typedef struct Column Column;
typedef void (*AppendFunction) (Column *column, Text text);

/* Distinct texts, open addressing. */
typedef struct Dictionary
{
	int64		ntexts;
	bool		begun;			/* a batch of it has been written */
	int64		written;		/* texts in such batches */
	Text	   *texts;
	int64		capacity;		/* of texts */
	int64	   *slots;			/* number of a text and 1, or 0 */
	int64		nslots;			/* a power of 2 */
} Dictionary;

struct Column
{
	ArrowField *field;
	AppendFunction append;		/* a value, or its index */
	AppendFunction append_value;	/* a value of the dictionary, if there is one */
	int64		length;
	int64		null_count;
	Buffer		validity;
	Buffer		main;			/* values, bits, offsets, views; indexes */
	Buffer		bytes;
	Buffer	   *views;			/* of strings too long for a view */
	int			nviews;
	Column	   *child;			/* of a list */
	Dictionary *dictionary;
};

static void
column_clear(Column *column)
{
	column->length = 0;
	column->null_count = 0;
	column->validity.used = 0;
	column->main.used = 0;
	column->bytes.used = 0;
	for (int i = 0; i < column->nviews; i++)
		free(column->views[i].data);
	column->nviews = 0;
	if (column->child)
		column_clear(column->child);
}

/* Another slot; its value is still to be appended. */
static void
column_extend(Column *column, bool is_null)
{
	buffer_append_bit(&column->validity, column->length, !is_null);
	column->null_count += is_null;
	column->length++;
}

static inline void
column_add(Column *column, Text text)
{
	column_extend(column, text.data == NULL);
	column->append(column, text);
}

/* ------------------------------------------------------------ numbers */

/* Digits from *at on, at least one. */
static uint64
parse_digits(const char **at)
{
	const char *digit = *at;
	uint64		value = 0;

	for (; *digit >= '0' && *digit <= '9'; digit++)
	{
		if (value > (PG_UINT64_MAX - (*digit - '0')) / 10)
			fail("too large a number: \"%s\"", *at);
		value = value * 10 + (*digit - '0');
	}
	if (digit == *at)
		fail("digits are expected: \"%s\"", *at);
	*at = digit;
	return value;
}

static void
expect_end(const char *at, Text text)
{
	if (at != text.data + text.length)
		fail("not a value of this type: \"%s\"", text.data);
}

static bool
integer_fits(uint64 value, bool negative, int bits, bool is_signed)
{
	if (!is_signed)
		return (value == 0 || !negative) && (bits == 64 || value >> bits == 0);
	return value <= (UINT64CONST(1) << (bits - 1)) - !negative;
}

static void
append_integer(Column *column, Text text)
{
	const ArrowField *field = column->field;
	uint64		value = 0;

	if (text.data)
	{
		const char *at = text.data;
		bool		negative = *at == '-';

		at += negative;
		value = parse_digits(&at);
		expect_end(at, text);
		if (!integer_fits(value, negative, field->bit_width, field->is_signed))
			fail("out of range of the type: \"%s\"", text.data);
		if (negative)
			value = -value;
	}
	buffer_append_number(&column->main, value, field->bit_width / 8);
}

static void
append_bool(Column *column, Text text)
{
	if (text.data && strcmp(text.data, "t") != 0 && strcmp(text.data, "f") != 0)
		fail("neither t nor f: \"%s\"", text.data);
	buffer_append_bit(&column->main, column->length - 1, text.data && text.data[0] == 't');
}

/*
 * Few digits, with or without a fraction: a quotient of two numbers that are
 * exact is rounded once.
 */
static bool
parse_short_float(Text text, uint64 limit, double *numerator, double *denominator)
{
	uint64		digits = 0;
	bool		negative = text.data[0] == '-';
	bool		fraction = false;

	if (text.length - negative > 11 || text.length == negative)
		return false;
	*denominator = 1;
	for (const char *at = text.data + negative; *at; at++)
	{
		if (*at == '.' && !fraction)
		{
			fraction = true;
			continue;
		}
		if (*at < '0' || *at > '9')
			return false;
		digits = digits * 10 + (*at - '0');
		if (fraction)
			*denominator *= 10;
	}
	*numerator = negative ? -(double) digits : (double) digits;
	return digits < limit;
}

static void
append_float(Column *column, Text text)
{
	double		numerator = 0;
	double		denominator = 1;
	char	   *end = text.data;
	float		narrow;
	uint32		bits;

	if (text.data && !parse_short_float(text, 1 << 24, &numerator, &denominator))
	{
		narrow = strtof(text.data, &end);
		expect_end(end, text);
	}
	else
		narrow = (float) numerator / (float) denominator;
	memcpy(&bits, &narrow, sizeof(bits));
	buffer_append_number(&column->main, bits, sizeof(bits));
}

static void
append_double(Column *column, Text text)
{
	double		numerator = 0;
	double		denominator = 1;
	char	   *end = text.data;
	double		value;
	uint64		bits;

	if (text.data && !parse_short_float(text, UINT64CONST(1) << 53, &numerator, &denominator))
	{
		value = strtod(text.data, &end);
		expect_end(end, text);
	}
	else
		value = numerator / denominator;
	memcpy(&bits, &value, sizeof(bits));
	buffer_append_number(&column->main, bits, sizeof(bits));
}

static void
append_decimal(Column *column, Text text)
{
	int			scale = column->field->scale;
	int			places = -1;
	unsigned __int128 value = 0;
	const char *at = text.data;
	bool		negative = at && *at == '-';

	for (at += negative; at && *at; at++)
	{
		if (*at == '.' && places < 0)
			places = 0;
		else if (*at < '0' || *at > '9' || places == scale)
			fail("not a decimal of scale %d: \"%s\"", scale, text.data);
		else
		{
			value = value * 10 + (*at - '0');
			places += places >= 0;
		}
	}
	for (places = Max(places, 0); places < scale; places++)
		value *= 10;
	if (negative)
		value = -value;
	buffer_append_number(&column->main, (uint64) value, sizeof(uint64));
	buffer_append_number(&column->main, (uint64) (value >> 64), sizeof(uint64));
}

/* ------------------------------------------------------------ times */

#define MICROSECONDS	INT64CONST(1000000)
#define DAY_SECONDS		INT64CONST(86400)

/* Days since 1970 of a day of the Gregorian calendar; year 0 is 1 BC. */
static int64
days_from_civil(int64 year, int64 month, int64 day)
{
	int64		era;
	int64		year_of_era;
	int64		day_of_year;

	/* a year begins in March, so that the leap day is its last */
	year -= month <= 2;
	era = (year >= 0 ? year : year - 399) / 400;
	year_of_era = year - era * 400;
	day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
	return era * 146097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719468;
}

static void
expect_character(const char **at, char expected)
{
	if (**at != expected)
		fail("a '%c' is expected: \"%s\"", expected, *at);
	(*at)++;
}

/* The " BC" at the text's end, if it has one, belongs to the day. */
static int64
parse_day(const char **at, Text text)
{
	bool		bc = text.length > 3 && strcmp(text.data + text.length - 3, " BC") == 0;
	int64		year = (int64) parse_digits(at);
	int64		month;

	expect_character(at, '-');
	month = (int64) parse_digits(at);
	expect_character(at, '-');
	return days_from_civil(bc ? 1 - year : year, month, (int64) parse_digits(at));
}

/* Microseconds */
static int64
parse_clock(const char **at)
{
	int64		seconds = (int64) parse_digits(at) * 3600;
	int64		micros = 0;
	int64		unit = MICROSECONDS;

	expect_character(at, ':');
	seconds += (int64) parse_digits(at) * 60;
	expect_character(at, ':');
	seconds += (int64) parse_digits(at);
	if (**at == '.')
	{
		for ((*at)++; **at >= '0' && **at <= '9' && unit > 1; (*at)++)
		{
			unit /= 10;
			micros += (**at - '0') * unit;
		}
	}
	return seconds * MICROSECONDS + micros;
}

static void
append_time_value(Column *column, int64 micros, Text text)
{
	static const int64 divisors[] = {1000000, 1000, 1, 1};
	ArrowTimeUnit unit = column->field->unit;

	if (micros % divisors[unit] != 0 ||
		(unit == ARROW_NANOSECOND && micros != micros * 1000 / 1000))
		fail("not exact in this unit: \"%s\"", text.data);
	micros = unit == ARROW_NANOSECOND ? micros * 1000 : micros / divisors[unit];
	buffer_append_number(&column->main, (uint64) micros, column->field->bit_width / 8);
}

static void
append_time(Column *column, Text text)
{
	const char *at = text.data;
	int64		micros = at ? parse_clock(&at) : 0;

	if (at)
		expect_end(at, text);
	append_time_value(column, micros, text);
}

static void
append_timestamp(Column *column, Text text)
{
	const char *at = text.data;
	int64		micros = 0;

	if (at)
	{
		micros = parse_day(&at, text) * DAY_SECONDS * MICROSECONDS;
		expect_character(&at, ' ');
		micros += parse_clock(&at);
		if (column->field->timezone && strncmp(at, "+00", 3) == 0)
			at += 3;
		if (strcmp(at, " BC") != 0)
			expect_end(at, text);
	}
	append_time_value(column, micros, text);
}

static void
append_date(Column *column, Text text)
{
	const char *at = text.data;
	int64		days = 0;

	if (at)
	{
		days = parse_day(&at, text);
		if (strcmp(at, " BC") != 0)
			expect_end(at, text);
	}
	if (column->field->unit == ARROW_MILLISECOND)
		days *= DAY_SECONDS * 1000;
	buffer_append_number(&column->main, (uint64) days, column->field->bit_width / 8);
}

/* ------------------------------------------------------------ strings */

static int
hex_digit(char digit)
{
	if (digit >= '0' && digit <= '9')
		return digit - '0';
	if (digit >= 'a' && digit <= 'f')
		return digit - 'a' + 10;
	if (digit >= 'A' && digit <= 'F')
		return digit - 'A' + 10;
	fail("not a hexadecimal digit: '%c'", digit);
}

/* In place: "\x00ff" or digits of a uuid; other text is its own bytes. */
static Text
parse_bytes(Text text, bool uuid)
{
	char	   *from = text.data;
	char	   *to = text.data;

	if (from == NULL || (!uuid && strncmp(from, "\\x", 2) != 0))
		return text;
	from += uuid ? 0 : 2;
	while (*from)
	{
		if (uuid && *from == '-')
		{
			from++;
			continue;
		}
		*to++ = (char) (hex_digit(from[0]) << 4 | hex_digit(from[1]));
		from += 2;
	}
	text.length = to - text.data;
	return text;
}

static bool
is_binary(const Column *column)
{
	ArrowTypeId type = column->field->type;

	return type == ARROW_BINARY || type == ARROW_LARGE_BINARY || type == ARROW_BINARY_VIEW;
}

static int
offset_bytes(const Column *column)
{
	ArrowTypeId type = column->field->type;

	return type == ARROW_LARGE_BINARY || type == ARROW_LARGE_UTF8 || type == ARROW_LARGE_LIST ? 8 : 4;
}

/* Offsets begin with a 0. */
static void
append_offset(Column *column, size_t offset)
{
	int			bytes = offset_bytes(column);

	if (bytes == 4 && offset > PG_INT32_MAX)
		fail("a record batch of more than 2 GB");
	if (column->main.used == 0)
		buffer_append_number(&column->main, 0, bytes);
	buffer_append_number(&column->main, offset, bytes);
}

static void
append_string(Column *column, Text text)
{
	if (is_binary(column))
		text = parse_bytes(text, false);
	buffer_append(&column->bytes, text.data, text.data ? text.length : 0);
	append_offset(column, column->bytes.used);
}

/* One buffer of those behind views, with space for a long string. */
static Buffer *
view_buffer(Column *column, size_t bytes)
{
	Buffer	   *last = column->nviews > 0 ? &column->views[column->nviews - 1] : NULL;

	if (last == NULL || last->used + bytes > VIEW_BUFFER_BYTES)
	{
		column->views = realloc(column->views, (column->nviews + 1) * sizeof(Buffer));
		if (column->views == NULL)
			fail("out of memory");
		last = &column->views[column->nviews++];
		memset(last, 0, sizeof(*last));
	}
	return last;
}

static void
append_view(Column *column, Text text)
{
	uint8	   *view;
	Buffer	   *buffer;

	if (is_binary(column))
		text = parse_bytes(text, false);
	view = buffer_reserve(&column->main, VIEW_BYTES);
	column->main.used += VIEW_BYTES;
	memset(view, 0, VIEW_BYTES);
	if (text.data == NULL)
		return;
	byte_store(view, text.length, 4);
	if (text.length <= VIEW_INLINE_BYTES)
	{
		memcpy(view + 4, text.data, text.length);
		return;
	}
	buffer = view_buffer(column, text.length);
	memcpy(view + 4, text.data, 4);
	byte_store(view + 8, column->nviews - 1, 4);
	byte_store(view + 12, buffer->used, 4);
	buffer_append(buffer, text.data, text.length);
}

static void
append_fixed_binary(Column *column, Text text)
{
	static const uint8 zeros[16];

	text = parse_bytes(text, true);
	if (text.data && text.length != sizeof(zeros))
		fail("not a uuid");
	buffer_append(&column->main, text.data ? (const uint8 *) text.data : zeros, sizeof(zeros));
}

/* ------------------------------------------------------------ lists */

/* One element of "{...}", unescaped in place; *at: behind it. */
static Text
parse_element(char **at)
{
	char	   *from = *at;
	char	   *to = from;
	Text		element = {from, 0};
	bool		quoted = *from == '"';

	from += quoted;
	while (quoted ? *from != '"' : *from != ',' && *from != '}')
	{
		if (*from == '\\')
			from++;
		if (*from == '\0')
			fail("an array without its end");
		*to++ = *from++;
	}
	*at = from + quoted;
	element.length = to - element.data;
	if (!quoted && element.length == 4 && strncmp(element.data, "NULL", 4) == 0)
		element.data = NULL;
	return element;
}

static void
append_list(Column *column, Text text)
{
	char	   *at = text.data;

	if (at)
	{
		expect_character((const char **) &at, '{');
		while (*at != '}')
		{
			Text		element = parse_element(&at);
			char		separator = *at;

			if (separator != ',' && separator != '}')
				fail("not an array of one dimension: \"%s\"", text.data);
			if (element.data)
				element.data[element.length] = '\0';
			column_add(column->child, element);
			at += separator == ',';
			if (separator == '}')
				break;
		}
	}
	append_offset(column, column->child->length);
}

/* ------------------------------------------------------------ dictionaries */

static uint64
text_hash(Text text)
{
	uint64		hash = UINT64CONST(0xcbf29ce484222325);

	for (size_t i = 0; i < text.length; i++)
		hash = (hash ^ (uint8) text.data[i]) * UINT64CONST(0x100000001b3);
	return hash ^ hash >> 29;
}

static int64 *
dictionary_slot(Dictionary *dictionary, Text text)
{
	int64		slot = (int64) text_hash(text) & (dictionary->nslots - 1);

	while (dictionary->slots[slot] != 0)
	{
		Text	   *there = &dictionary->texts[dictionary->slots[slot] - 1];

		if (there->length == text.length && memcmp(there->data, text.data, text.length) == 0)
			break;
		slot = (slot + 1) & (dictionary->nslots - 1);
	}
	return &dictionary->slots[slot];
}

static void
dictionary_grow(Dictionary *dictionary)
{
	dictionary->capacity = Max(dictionary->capacity * 2, 64);
	dictionary->nslots = dictionary->capacity * 2;
	free(dictionary->slots);
	dictionary->slots = calloc(dictionary->nslots, sizeof(int64));
	dictionary->texts = realloc(dictionary->texts, dictionary->capacity * sizeof(Text));
	if (dictionary->slots == NULL || dictionary->texts == NULL)
		fail("out of memory");
	for (int64 i = 0; i < dictionary->ntexts; i++)
		*dictionary_slot(dictionary, dictionary->texts[i]) = i + 1;
}

static int64
dictionary_number(Dictionary *dictionary, Text text)
{
	int64	   *slot;

	if (dictionary->ntexts == dictionary->capacity)
		dictionary_grow(dictionary);
	slot = dictionary_slot(dictionary, text);
	if (*slot == 0)
	{
		Text		copy = {malloc(text.length + 1), text.length};

		if (copy.data == NULL)
			fail("out of memory");
		memcpy(copy.data, text.data, text.length + 1);
		dictionary->texts[dictionary->ntexts++] = copy;
		*slot = dictionary->ntexts;
	}
	return *slot - 1;
}

static void
dictionary_forget(Dictionary *dictionary)
{
	for (int64 i = 0; i < dictionary->ntexts; i++)
		free(dictionary->texts[i].data);
	dictionary->ntexts = 0;
	dictionary->written = 0;
	memset(dictionary->slots, 0, dictionary->nslots * sizeof(int64));
}

static void
append_index(Column *column, Text text)
{
	const ArrowField *field = column->field;
	int64		number = text.data ? dictionary_number(column->dictionary, text) : 0;

	if (!integer_fits(number, false, field->index_bits, field->index_signed))
		fail("too many values for the dictionary's indexes");
	buffer_append_number(&column->main, number, field->index_bits / 8);
}

/* ------------------------------------------------------------ types */

typedef struct ColumnType
{
	const char *name;
	AppendFunction append;
	ArrowField	field;
} ColumnType;

#define INTEGER(name, bits, is_signed_) \
	{name, append_integer, {.type = ARROW_INT, .bit_width = bits, .is_signed = is_signed_}}
#define TIMESTAMP(suffix, unit_) \
	{"timestamp_" suffix, append_timestamp, {.type = ARROW_TIMESTAMP, .bit_width = 64, .unit = unit_}}, \
	{"timestamptz_" suffix, append_timestamp, \
	 {.type = ARROW_TIMESTAMP, .bit_width = 64, .unit = unit_, .timezone = "UTC"}}
#define TIME(name, bits, unit_) \
	{name, append_time, {.type = ARROW_TIME, .bit_width = bits, .unit = unit_}}

static const char *uuid_keys[] = {"ARROW:extension:name", "ARROW:extension:metadata"};
static const char *uuid_values[] = {"arrow.uuid", ""};

static const ColumnType column_types[] = {
	INTEGER("int8", 8, true), INTEGER("int16", 16, true),
	INTEGER("int32", 32, true), INTEGER("int64", 64, true),
	INTEGER("uint8", 8, false), INTEGER("uint16", 16, false),
	INTEGER("uint32", 32, false), INTEGER("uint64", 64, false),
	{"bool", append_bool, {.type = ARROW_BOOL, .bit_width = 1}},
	{"float32", append_float, {.type = ARROW_FLOATING_POINT, .bit_width = 32}},
	{"float64", append_double, {.type = ARROW_FLOATING_POINT, .bit_width = 64}},
	{"utf8", append_string, {.type = ARROW_UTF8}},
	{"largeutf8", append_string, {.type = ARROW_LARGE_UTF8}},
	{"utf8view", append_view, {.type = ARROW_UTF8_VIEW}},
	{"binary", append_string, {.type = ARROW_BINARY}},
	{"largebinary", append_string, {.type = ARROW_LARGE_BINARY}},
	{"binaryview", append_view, {.type = ARROW_BINARY_VIEW}},
	{"fixedbinary16", append_fixed_binary, {.type = ARROW_FIXED_SIZE_BINARY, .byte_width = 16}},
	{"uuid", append_fixed_binary,
	{.type = ARROW_FIXED_SIZE_BINARY, .byte_width = 16, .metadata = {2, uuid_keys, uuid_values}}},
	{"date32", append_date, {.type = ARROW_DATE, .bit_width = 32, .unit = ARROW_DAY}},
	{"date64", append_date, {.type = ARROW_DATE, .bit_width = 64, .unit = ARROW_MILLISECOND}},
	TIME("time32_s", 32, ARROW_SECOND), TIME("time32_ms", 32, ARROW_MILLISECOND),
	TIME("time64_us", 64, ARROW_MICROSECOND), TIME("time64_ns", 64, ARROW_NANOSECOND),
	TIMESTAMP("s", ARROW_SECOND), TIMESTAMP("ms", ARROW_MILLISECOND),
	TIMESTAMP("us", ARROW_MICROSECOND), TIMESTAMP("ns", ARROW_NANOSECOND),
	{"decimal128", append_decimal, {.type = ARROW_DECIMAL, .bit_width = 128}},
	{"list", append_list, {.type = ARROW_LIST}},
	{"largelist", append_list, {.type = ARROW_LARGE_LIST}},
};

static const ColumnType *
type_find(const char *name, size_t length)
{
	for (size_t i = 0; i < lengthof(column_types); i++)
	{
		if (strlen(column_types[i].name) == length && strncmp(column_types[i].name, name, length) == 0)
			return &column_types[i];
	}
	fail("no such type: \"%.*s\"", (int) length, name);
}

/* The column of a type as it is spelled; "field" is to be its field. */
static void
column_init(Column *column, ArrowField *field, const char *name, const char *spelling)
{
	size_t		length = strcspn(spelling, "(<");
	const ColumnType *type = type_find(spelling, length);

	*field = type->field;
	field->name = name;
	field->nullable = true;
	column->field = field;
	column->append = type->append;
	if (type->append == append_decimal &&
		sscanf(spelling + length, "(%d,%d)", &field->precision, &field->scale) != 2)
		fail("a decimal's precision and scale are missing: \"%s\"", spelling);
	if (type->append == append_list)
	{
		char	   *element = pstrdup(spelling + length + (spelling[length] == '<'));

		if (strlen(element) > 0)
			element[strlen(element) - 1] = '\0';
		field->nchildren = 1;
		field->children = palloc0(sizeof(ArrowField));
		column->child = palloc0(sizeof(Column));
		column_init(column->child, field->children, "item", element);
	}
}

/* ------------------------------------------------------------ what is asked for */

typedef struct Table
{
	ArrowSchema schema;
	Column	   *columns;
	bool		has_dictionary;

	ArrowCompression codec;
	int64		batch_sizes[MAX_BATCH_SIZES];
	int			nbatch_sizes;
	bool		stream;
	int64		alignment;
	bool		delta;
} Table;

/* "id:int64,mass:decimal128(10,2)" */
static void
table_set_fields(Table *table, const char *list)
{
	char	   *copy = pstrdup(list);
	char	   *start = copy;
	int			depth = 0;

	table->columns = palloc0(MAX_FIELDS * sizeof(Column));
	table->schema.fields = palloc0(MAX_FIELDS * sizeof(ArrowField));
	for (char *at = copy;; at++)
	{
		bool		last = *at == '\0';
		char	   *colon;

		depth += (*at == '(' || *at == '<') - (*at == ')' || *at == '>');
		if (!last && (*at != ',' || depth > 0))
			continue;
		*at = '\0';
		colon = strrchr(start, ':');
		if (colon == NULL || table->schema.nfields == MAX_FIELDS)
			fail("not a list of fields: \"%s\"", list);
		*colon = '\0';
		column_init(&table->columns[table->schema.nfields], &table->schema.fields[table->schema.nfields],
					start, colon + 1);
		table->schema.nfields++;
		if (last)
			return;
		start = at + 1;
	}
}

/* NAME or NAME:TYPE */
static void
table_add_dictionary(Table *table, const char *argument)
{
	for (int i = 0; i < table->schema.nfields; i++)
	{
		ArrowField *field = &table->schema.fields[i];
		size_t		length = strlen(field->name);
		const ColumnType *index;

		if (strncmp(field->name, argument, length) != 0 ||
			(argument[length] != '\0' && argument[length] != ':'))
			continue;
		index = argument[length] ? type_find(argument + length + 1, strlen(argument + length + 1)) :
			type_find("int32", 5);
		field->has_dictionary = true;
		field->dictionary_id = i;
		field->index_bits = index->field.bit_width;
		field->index_signed = index->field.is_signed;
		table->columns[i].append_value = table->columns[i].append;
		table->columns[i].append = append_index;
		table->columns[i].dictionary = calloc(1, sizeof(Dictionary));
		dictionary_grow(table->columns[i].dictionary);
		table->has_dictionary = true;
		return;
	}
	fail("no such field: \"%s\"", argument);
}

static void
table_set_batch_sizes(Table *table, const char *list)
{
	int64		sum = 0;

	table->nbatch_sizes = 0;
	for (;; list++)
	{
		if (table->nbatch_sizes == MAX_BATCH_SIZES)
			fail("too many sizes of batches");
		table->batch_sizes[table->nbatch_sizes] = (int64) parse_digits(&list);
		sum += table->batch_sizes[table->nbatch_sizes++];
		if (*list != ',')
			break;
	}
	if (*list != '\0')
		fail("not a number of rows: \"%s\"", list);
	if (sum == 0)
	{
		table->batch_sizes[0] = ALL_ROWS;
		table->nbatch_sizes = 1;
	}
}

static ArrowCompression
codec_from_text(const char *text)
{
	if (strcmp(text, "lz4") == 0)
		return ARROW_LZ4_FRAME;
	if (strcmp(text, "zstd") == 0)
		return ARROW_ZSTD;
	if (strcmp(text, "none") != 0)
		fail("no such codec: \"%s\"", text);
	return ARROW_UNCOMPRESSED;
}

static void
table_set_option(Table *table, const char *option, const char *value)
{
	if (strcmp(option, "--codec") == 0)
		table->codec = codec_from_text(value);
	else if (strcmp(option, "--batch") == 0)
		table_set_batch_sizes(table, value);
	else if (strcmp(option, "--align") == 0 && (strcmp(value, "8") == 0 || strcmp(value, "64") == 0))
		table->alignment = atoi(value);
	else if (strcmp(option, "--fields") != 0 && strcmp(option, "--dictionary") != 0)
		fail("no such option: %s %s", option, value);
}

static void
table_init(Table *table, int argc, char **argv)
{
	table->batch_sizes[0] = DEFAULT_BATCH_ROWS;
	table->nbatch_sizes = 1;
	table->alignment = 8;
	/* dictionaries are of fields, whichever stands first */
	for (int pass = 0; pass < 2; pass++)
	{
		for (int i = 1; i < argc; i++)
		{
			if (strcmp(argv[i], "--stream") == 0)
				table->stream = true;
			else if (strcmp(argv[i], "--delta") == 0)
				table->delta = true;
			else if (++i == argc)
				fail("nothing follows %s", argv[i - 1]);
			else if (pass == 0 && strcmp(argv[i - 1], "--fields") == 0)
				table_set_fields(table, argv[i]);
			else if (pass == 1 && strcmp(argv[i - 1], "--dictionary") == 0)
				table_add_dictionary(table, argv[i]);
			else
				table_set_option(table, argv[i - 1], argv[i]);
		}
	}
	if (table->schema.nfields == 0)
		fail("--fields NAME:TYPE,... is missing");
}

/* ------------------------------------------------------------ input */

typedef struct Input
{
	char	   *data;
	size_t		start;			/* of what is not used yet */
	size_t		end;
	size_t		capacity;
	bool		at_end;
} Input;

/* More bytes behind those that are there; false: none came. */
static bool
input_fill(Input *input)
{
	ssize_t		got;

	if (input->at_end)
		return false;
	if (input->end > input->start)
		memmove(input->data, input->data + input->start, input->end - input->start);
	input->end -= input->start;
	input->start = 0;
	/* a byte is left for the end of a last line that has none */
	if (input->capacity - input->end < INPUT_BYTES / 2)
	{
		input->capacity = Max(input->capacity * 2, INPUT_BYTES);
		input->data = realloc(input->data, input->capacity);
		if (input->data == NULL)
			fail("out of memory");
	}
	got = read(STDIN_FILENO, input->data + input->end, input->capacity - input->end - 1);
	if (got < 0)
		fail("reading: %m");
	input->end += got;
	if (got == 0)
	{
		input->at_end = true;
		if (input->end > input->start && input->data[input->end - 1] != '\n')
		{
			input->data[input->end++] = '\n';
			return true;
		}
	}
	return got > 0;
}

/* Where the line ends that begins at input->start: line breaks in quotes are none. */
static bool
input_line_end(Input *input, size_t *line_end, bool *has_quotes)
{
	size_t		looked = 0;
	bool		quoted = false;

	*has_quotes = false;
	for (;;)
	{
		char	   *from = input->data + input->start + looked;
		size_t		left = input->end - input->start - looked;
		char	   *stop = left > 0 ? memchr(from, '\n', left) : NULL;

		for (char *quote = from; left > 0 && (quote = memchr(quote, '"', (stop ? stop : from + left) - quote)) != NULL; quote++)
		{
			*has_quotes = true;
			quoted = !quoted;
		}
		looked += stop ? (size_t) (stop - from) + 1 : left;
		if (stop && !quoted)
		{
			*line_end = input->start + looked - 1;
			return true;
		}
		if (!stop && !input_fill(input))
		{
			if (looked > 0)
				fail("a quote without its end");
			return false;
		}
	}
}

/* One field, unquoted in place; returns where the next begins. */
static char *
field_take(char *at, char *line_end, bool has_quotes, Text *text)
{
	char	   *end;

	text->data = at;
	if (!has_quotes || *at != '"')
	{
		end = memchr(at, ',', line_end - at);
		if (end == NULL)
			end = line_end;
		text->length = end - at;
		if (end == at)
			text->data = NULL;
		*end = '\0';
		return end + 1;
	}
	end = at++;
	for (; *at != '"' || at[1] == '"'; *end++ = *at++)
		at += *at == '"';
	if (at[1] != ',' && at + 1 != line_end)
		fail("something follows a quoted field");
	*end = '\0';
	text->length = end - text->data;
	return at + 2;
}

/* The next row; false at the end. */
static bool
input_row(Input *input, Text *fields, int nfields)
{
	size_t		line_end;
	bool		has_quotes;
	char	   *at;
	char	   *end;
	int			n = 0;

	if (!input_line_end(input, &line_end, &has_quotes))
		return false;
	input_records++;
	at = input->data + input->start;
	end = input->data + line_end;
	while (n < nfields && at <= end)
		at = field_take(at, end, has_quotes, &fields[n++]);
	if (n < nfields || at <= end)
		fail("%s fields than expected", n < nfields ? "fewer" : "more");
	input->start = line_end + 1;
	return true;
}

/* ------------------------------------------------------------ output */

typedef struct Output
{
	const Table *table;
	MemoryContext scratch;		/* of one message's metadata */
	int64		position;
	Buffer		body;
	Buffer		compressed;

	/* of the message that is made */
	int			nnodes;
	ArrowNode	nodes[2 * MAX_FIELDS];
	int			nbuffers;
	int			max_buffers;
	ArrowBufferSpec *buffers;
	int			nvariadic;
	int64		variadic[2 * MAX_FIELDS];

	ArrowFooter footer;
	int			max_dictionaries;
	int			max_batches;
} Output;

static void
output_write(Output *output, const void *data, size_t bytes)
{
	if (bytes > 0 && fwrite(data, 1, bytes, stdout) != bytes)
		fail("writing: %m");
	output->position += bytes;
}

static void
output_pad(Output *output, int64 bytes)
{
	static const uint8 zeros[64];

	output_write(output, zeros, bytes);
}

static void
body_align(Output *output)
{
	static const uint8 zeros[64];

	buffer_append(&output->body, zeros, -output->body.used & (output->table->alignment - 1));
}

/* Into output->compressed; how many bytes it has there. */
static size_t
buffer_compress(Output *output, const uint8 *data, size_t bytes)
{
	size_t		length;

	output->compressed.used = 0;
	if (output->table->codec == ARROW_ZSTD)
	{
		size_t		bound = ZSTD_compressBound(bytes);

		length = ZSTD_compress(buffer_reserve(&output->compressed, bound), bound, data, bytes, 1);
		if (ZSTD_isError(length))
			fail("zstd: %s", ZSTD_getErrorName(length));
	}
	else
	{
		size_t		bound = LZ4F_compressFrameBound(bytes, NULL);

		length = LZ4F_compressFrame(buffer_reserve(&output->compressed, bound), bound, data, bytes, NULL);
		if (LZ4F_isError(length))
			fail("lz4: %s", LZ4F_getErrorName(length));
	}
	return length;
}

static void
output_add_buffer(Output *output, const uint8 *data, size_t bytes)
{
	size_t		start = output->body.used;
	size_t		compressed;

	if (output->nbuffers == output->max_buffers)
	{
		output->max_buffers = Max(output->max_buffers * 2, 64);
		output->buffers = realloc(output->buffers, output->max_buffers * sizeof(ArrowBufferSpec));
		if (output->buffers == NULL)
			fail("out of memory");
	}
	if (bytes > 0 && output->table->codec != ARROW_UNCOMPRESSED)
	{
		compressed = buffer_compress(output, data, bytes);
		buffer_append_number(&output->body, compressed < bytes ? bytes : PG_UINT64_MAX, 8);
		if (compressed < bytes)
			buffer_append(&output->body, output->compressed.data, compressed);
		else
			buffer_append(&output->body, data, bytes);
	}
	else
		buffer_append(&output->body, data, bytes);
	output->buffers[output->nbuffers].offset = start;
	output->buffers[output->nbuffers].length = output->body.used - start;
	output->nbuffers++;
	body_align(output);
}

static bool
has_bytes(const Column *column)
{
	return column->append == append_string;
}

/* A column's node and buffers, then its child's. */
static void
output_add_column(Output *output, Column *column)
{
	output->nodes[output->nnodes].length = column->length;
	output->nodes[output->nnodes].null_count = column->null_count;
	output->nnodes++;
	if (column->main.used == 0 && (has_bytes(column) || column->append == append_list))
		buffer_append_number(&column->main, 0, offset_bytes(column));
	output_add_buffer(output, column->validity.data, column->null_count > 0 ? column->validity.used : 0);
	output_add_buffer(output, column->main.data, column->main.used);
	if (has_bytes(column))
		output_add_buffer(output, column->bytes.data, column->bytes.used);
	if (column->append == append_view)
		output->variadic[output->nvariadic++] = column->nviews;
	for (int i = 0; i < column->nviews; i++)
		output_add_buffer(output, column->views[i].data, column->views[i].used);
	if (column->append == append_list)
		output_add_column(output, column->child);
}

/* A message's metadata with its prefix, padded so that the body is aligned. */
static ArrowBlock
output_message(Output *output, const ArrowMessage *message)
{
	ArrowBlock	block = {.offset = output->position, .body_length = message->body_length};
	MemoryContext old = MemoryContextSwitchTo(output->scratch);
	ByteView	metadata = arrow_message_build(message);
	int64		end = output->position + MESSAGE_PREFIX + metadata.length;
	int64		padding = -end & (output->table->alignment - 1);
	uint8		prefix[MESSAGE_PREFIX];

	byte_store(prefix, 0xFFFFFFFF, 4);
	byte_store(prefix + 4, metadata.length + padding, 4);
	output_write(output, prefix, sizeof(prefix));
	output_write(output, metadata.data, metadata.length);
	output_pad(output, padding);
	block.metadata_length = (int32) (output->position - block.offset);
	output_write(output, output->body.data, output->body.used);
	MemoryContextSwitchTo(old);
	MemoryContextReset(output->scratch);
	return block;
}

static void
output_begin_batch(Output *output)
{
	output->nnodes = 0;
	output->nbuffers = 0;
	output->nvariadic = 0;
	output->body.used = 0;
}

/* The batch's message out of what was added. */
static ArrowBlock
output_end_batch(Output *output, ArrowMessage *message, int64 length)
{
	message->version = ARROW_V5;
	message->body_length = output->body.used;
	message->batch.version = ARROW_V5;
	message->batch.length = length;
	message->batch.nnodes = output->nnodes;
	message->batch.nodes = output->nodes;
	message->batch.nbuffers = output->nbuffers;
	message->batch.buffers = output->buffers;
	message->batch.compression = output->table->codec;
	message->batch.nvariadic = output->nvariadic;
	message->batch.variadic = output->variadic;
	return output_message(output, message);
}

static void
blocks_append(ArrowBlock **blocks, int *n, int *max, ArrowBlock block)
{
	if (*n == *max)
	{
		*max = Max(*max * 2, 64);
		*blocks = realloc(*blocks, *max * sizeof(ArrowBlock));
		if (*blocks == NULL)
			fail("out of memory");
	}
	(*blocks)[(*n)++] = block;
}

/* What a dictionary holds that has not been written. */
static void
output_dictionary(Output *output, Column *column)
{
	Dictionary *dictionary = column->dictionary;
	ArrowMessage message = {.kind = ARROW_MESSAGE_DICTIONARY_BATCH};
	ArrowField	field = *column->field;
	Column		values = {.field = &field, .append = column->append_value, .child = column->child};
	int64		n = dictionary->ntexts - dictionary->written;

	for (int64 i = dictionary->written; i < dictionary->ntexts; i++)
	{
		Text		text = dictionary->texts[i];

		/* some types use the text's memory */
		text.data = memcpy(malloc(text.length + 1), text.data, text.length + 1);
		column_add(&values, text);
		free(text.data);
	}
	output_begin_batch(output);
	output_add_column(output, &values);
	message.dictionary_id = field.dictionary_id;
	message.is_delta = output->table->delta && dictionary->begun;
	blocks_append(&output->footer.dictionaries, &output->footer.ndictionaries, &output->max_dictionaries,
				  output_end_batch(output, &message, n));
	dictionary->begun = true;
	dictionary->written = dictionary->ntexts;
	column_clear(&values);
	free(values.validity.data);
	free(values.main.data);
	free(values.bytes.data);
	free(values.views);
}

/*
 * Before a record batch: dictionaries that a reader does not have yet.  A
 * reader wants each once, even if it is empty.
 */
static void
output_dictionaries(Output *output)
{
	const Table *table = output->table;

	for (int i = 0; i < table->schema.nfields; i++)
	{
		Dictionary *dictionary = table->columns[i].dictionary;

		if (dictionary && (!dictionary->begun || dictionary->written < dictionary->ntexts))
			output_dictionary(output, &table->columns[i]);
	}
}

static void
output_batch(Output *output)
{
	const Table *table = output->table;
	ArrowMessage message = {.kind = ARROW_MESSAGE_RECORD_BATCH};
	int64		length = table->columns[0].length;

	output_dictionaries(output);
	output_begin_batch(output);
	for (int i = 0; i < table->schema.nfields; i++)
		output_add_column(output, &table->columns[i]);
	blocks_append(&output->footer.batches, &output->footer.nbatches, &output->max_batches,
				  output_end_batch(output, &message, length));
	for (int i = 0; i < table->schema.nfields; i++)
	{
		column_clear(&table->columns[i]);
		if (table->columns[i].dictionary && table->stream && !table->delta)
			dictionary_forget(table->columns[i].dictionary);
	}
}

static void
output_begin(Output *output)
{
	ArrowMessage message = {.kind = ARROW_MESSAGE_SCHEMA, .version = ARROW_V5};

	if (!output->table->stream)
	{
		output_write(output, FILE_MAGIC, FILE_MAGIC_BYTES);
		output_pad(output, 8 - FILE_MAGIC_BYTES);
	}
	message.schema = palloc(sizeof(ArrowSchema));
	*message.schema = output->table->schema;
	output_message(output, &message);
}

/* The mark of the end; a file's footer. */
static void
output_end(Output *output)
{
	uint8		number[8];
	ByteView	footer;

	byte_store(number, 0xFFFFFFFF, sizeof(number));
	output_write(output, number, sizeof(number));
	if (output->table->stream)
		return;
	output->footer.version = ARROW_V5;
	output->footer.schema = output->table->schema;
	footer = arrow_footer_build(&output->footer);
	output_write(output, footer.data, footer.length);
	byte_store(number, footer.length, 4);
	output_write(output, number, 4);
	output_write(output, FILE_MAGIC, FILE_MAGIC_BYTES);
}

/* ------------------------------------------------------------ all of it */

/* A file's dictionaries come first: read the input for them alone. */
static void
collect_dictionaries(const Table *table, Input *input, Text *texts)
{
	while (input_row(input, texts, table->schema.nfields))
	{
		for (int i = 0; i < table->schema.nfields; i++)
		{
			if (table->columns[i].dictionary && texts[i].data)
				(void) dictionary_number(table->columns[i].dictionary, texts[i]);
		}
	}
	if (lseek(STDIN_FILENO, 0, SEEK_SET) != 0)
		fail("dictionaries of a file without --delta want input that can be read twice");
	input->start = input->end = 0;
	input->at_end = false;
	input_records = 0;
	(void) input_row(input, texts, table->schema.nfields);
}

static void
write_batches(const Table *table, Input *input, Text *texts, Output *output)
{
	bool		more = true;

	for (int64 number = 0; more; number++)
	{
		int64		size = table->batch_sizes[number % table->nbatch_sizes];
		int64		rows = 0;

		while (rows < size && (more = input_row(input, texts, table->schema.nfields)))
		{
			for (int i = 0; i < table->schema.nfields; i++)
				column_add(&table->columns[i], texts[i]);
			rows++;
		}
		if (rows > 0 || size == 0)
			output_batch(output);
	}
}

int
main(int argc, char **argv)
{
	static Table table;
	static Output output;
	static Input input;
	static Text texts[MAX_FIELDS];

	server_stub_init();
	/* as others write such files; pieces of a page would leave a page cache that is slow to be read */
	(void) setvbuf(stdout, NULL, _IOFBF, OUTPUT_BYTES);
	table_init(&table, argc, argv);
	output.table = &table;
	output.scratch = AllocSetContextCreate(CurrentMemoryContext, "message", ALLOCSET_DEFAULT_SIZES);
	if (!input_row(&input, texts, table.schema.nfields))
		fail("there is no line that names fields");
	if (table.has_dictionary && !table.delta && !table.stream)
		collect_dictionaries(&table, &input, texts);
	output_begin(&output);
	write_batches(&table, &input, texts, &output);
	output_end(&output);
	if (fflush(stdout) != 0)
		fail("writing: %m");
	return 0;
}
