/*-------------------------------------------------------------------------
 *
 * test_wire.c
 *	  The byte cursor, and flatbuffers: what is built is read back, bytes
 *	  written by hand are read as they are meant, and no damage leads out of
 *	  the buffer or goes on for long.
 *
 * Buffers are copied to memory of their exact length, so that a sanitizer
 * sees a step beyond their end.
 *
 * Usage: test_wire [seed]
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "server_stub.h"
#include "tap.h"
#include "utils/memutils.h"
#include "wire/byte_cursor.h"
#include "wire/flatbuffer.h"

#define MUTATIONS	20000

static uint64 random_state;

static uint32
random_below(uint32 n)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (uint32) (random_state >> 16) % n;
}

/* ------------------------------------------------------------ the cursor */

static void
test_cursor(void)
{
	static const uint8 bytes[] = {0x01, 0x02, 0x83, 0x04, 0x05, 0x06, 0x07, 0x08,
	0x89, 0x0A, 0x0B, 0x0C, 0x0D, 0x0E, 0x0F, 0xF0};
	ByteCursor	cursor = byte_cursor(byte_view(bytes, sizeof(bytes)));
	ByteView	taken;
	uint8		u8 = 0;
	uint16		u16 = 0;
	uint32		u32 = 0;
	uint64		u64 = 0;

	tap_ok(byte_cursor_u8(&cursor, &u8) && u8 == 1, "a byte");
	tap_ok(byte_cursor_u16(&cursor, &u16) && u16 == 0x8302, "two bytes, the lowest first");
	tap_ok(byte_cursor_u32(&cursor, &u32) && u32 == 0x07060504, "four bytes");
	tap_ok(byte_cursor_align(&cursor, 8) && cursor.position == 8, "on to 8");
	tap_ok(byte_cursor_align(&cursor, 8) && cursor.position == 8, "and no further");
	tap_ok(byte_cursor_u64(&cursor, &u64) && u64 == UINT64CONST(0xF00F0E0D0C0B0A89), "eight bytes");
	tap_ok(byte_cursor_left(&cursor) == 0 && byte_cursor_take(&cursor, 0, &taken) && taken.length == 0,
		   "nothing is left, and may be taken");
	tap_ok(!byte_cursor_u8(&cursor, &u8) && !byte_cursor_u16(&cursor, &u16) &&
		   !byte_cursor_u32(&cursor, &u32) && !byte_cursor_u64(&cursor, &u64) &&
		   !byte_cursor_skip(&cursor, 1), "but no byte");

	cursor.position = 13;
	tap_ok(!byte_cursor_u32(&cursor, &u32) && cursor.position == 13, "three bytes are not four");
	tap_ok(!byte_cursor_take(&cursor, PG_UINT64_MAX, &taken) &&
		   !byte_cursor_skip(&cursor, PG_UINT64_MAX - 12) && cursor.position == 13,
		   "no sum goes around");
	tap_ok(!byte_view_holds(cursor.view, PG_UINT64_MAX, 2) && !byte_view_holds(cursor.view, 17, 0) &&
		   byte_view_holds(cursor.view, 16, 0) && byte_view_holds(cursor.view, 4, 12) &&
		   !byte_view_holds(cursor.view, 4, 13), "parts of a view");
	cursor = byte_cursor(byte_view(bytes, 13));
	cursor.position = 12;
	tap_ok(!byte_cursor_align(&cursor, 8) && cursor.position == 12, "no room to align");
	cursor = byte_cursor(byte_view(NULL, 0));
	tap_ok(byte_cursor_take(&cursor, 0, &taken) && !byte_cursor_skip(&cursor, 1), "an empty view");
}

/* ------------------------------------------------------------ by hand */

/* A root table at 12 with an int16 of 7 in field 0, and nothing in field 1. */
static const uint8 by_hand[] = {
	12, 0, 0, 0,				/* to the root */
	8, 0, 10, 0, 8, 0, 0, 0,	/* layout: it has 8 bytes, the table 10; the fields are at 8, - */
	8, 0, 0, 0,					/* back to 4 */
	0, 0, 0, 0, 7, 0
};

static void
test_by_hand(void)
{
	FlatReader	reader;
	FlatTable	root;
	FlatTable	table;
	ByteView	string;
	int16		i16 = 0;
	int32		i32 = 0;

	flat_reader_init(&reader, byte_view(by_hand, sizeof(by_hand)), 4);
	tap_ok(flat_reader_root(&reader, &root) && root.position == 12 && root.vtable == 4 && root.depth == 1,
		   "the root");
	tap_ok(flat_table_i16(&root, 0, 0, &i16) && i16 == 7, "a field");
	tap_ok(flat_table_i16(&root, 1, -5, &i16) && i16 == -5, "a field that is absent");
	tap_ok(flat_table_i16(&root, 2, 99, &i16) && i16 == 99, "a field that the layout does not know");
	tap_ok(flat_table_i16(&root, 1000000, 99, &i16) && i16 == 99, "nor a far one");
	tap_ok(flat_table_string(&root, 1, &string) && string.data == NULL, "an absent string");
	tap_ok(flat_table_table(&root, 1, &table) && table.reader == NULL, "an absent table");
	tap_ok(reader.reason == NULL, "no reason");
	tap_ok(!flat_table_i32(&root, 0, 0, &i32) && reader.reason != NULL, "four bytes of two");
	tap_is_string(reader.reason, "A field is out of its table.", "is said");
}

static void
expect_no_root(const uint8 *bytes, size_t length, const char *name)
{
	FlatReader	reader;
	FlatTable	root;

	flat_reader_init(&reader, byte_view(bytes, length), 4);
	tap_ok(!flat_reader_root(&reader, &root) && reader.reason != NULL, "%s", name);
}

static void
test_bad_roots(void)
{
	uint8		bytes[sizeof(by_hand)];

	for (size_t length = 0; length < sizeof(by_hand); length++)
		expect_no_root(by_hand, length, "a root that is cut");

#define WITH(at, value, name) \
	(memcpy(bytes, by_hand, sizeof(bytes)), byte_store(bytes + (at), (value), 4), \
	 expect_no_root(bytes, sizeof(bytes), name))
	WITH(0, 0, "an offset to itself");
	WITH(0, 3, "an offset into itself");
	WITH(0, 19, "an offset to the last bytes");
	WITH(0, 0x7FFFFFFF, "a far offset");
	WITH(0, 0xFFFFFFFF, "the farthest offset");
	WITH(12, 13, "a layout in front of the buffer");
	WITH(12, 0x80000000, "a layout far behind the buffer");
	WITH(12, 0x7FFFFFFF, "a layout far in front of it");
	WITH(12, (uint32) -8, "a layout that is cut off");
	WITH(4, 10 << 16 | 3, "a layout without its lengths");
	WITH(4, 10 << 16 | 20, "a layout that is too long");
	WITH(4, 3 << 16 | 10, "a table without its offset");
	WITH(4, 11 << 16 | 10, "a table that is too long");
#undef WITH
}

/* ------------------------------------------------------------ built */

/* A table with one of each: see read_all. */
static ByteView
build_all(void)
{
	FlatBuilder builder;
	FlatFields	leaf = {0};
	FlatFields	root = {0};
	FlatRef		strings[3];
	FlatRef		tables[2];
	uint8		longs[24];

	flat_builder_init(&builder);
	for (int i = 0; i < 3; i++)
		byte_store(longs + 8 * i, (uint64) -i - 1, 8);
	flat_field_scalar(&leaf, 3, 4, -4, 0);
	tables[0] = flat_build_table(&builder, &leaf);
	leaf.nfields = 0;
	tables[1] = flat_build_table(&builder, &leaf);
	strings[0] = flat_build_string(&builder, "");
	strings[1] = flat_build_string(&builder, "seven b");
	strings[2] = flat_build_bytes(&builder, byte_view("a\0b", 3));

	flat_field_scalar(&root, 0, 1, true, false);
	flat_field_scalar(&root, 1, 2, -2, 0);
	flat_field_scalar(&root, 2, 8, PG_INT64_MIN, 0);
	flat_field_scalar(&root, 3, 4, 5, 5);	/* left out */
	flat_field_ref(&root, 4, strings[1]);
	flat_field_ref(&root, 5, flat_build_vector(&builder, longs, 8, 8, 3));
	flat_field_ref(&root, 6, flat_build_offsets(&builder, strings, 3));
	flat_field_ref(&root, 7, flat_build_offsets(&builder, tables, 2));
	flat_field_union(&root, 8, 9, 200, tables[0]);
	flat_field_ref(&root, 10, flat_build_vector(&builder, NULL, 16, 8, 0));
	flat_field_ref(&root, 11, 0);
	flat_field_ref(&root, 15, tables[0]);
	return flat_builder_finish(&builder, flat_build_table(&builder, &root));
}

static bool
view_is(ByteView view, const char *text, size_t length)
{
	return view.data != NULL && view.length == length && memcmp(view.data, text, length) == 0;
}

static void
test_built(void)
{
	ByteView	bytes = build_all();
	FlatReader	reader;
	FlatTable	root;
	FlatTable	table;
	FlatVector	vector;
	ByteView	string;
	bool		yes = false;
	uint8		u8 = 0;
	int16		i16 = 0;
	int32		i32 = 0;
	int64		i64 = 0;

	tap_ok(bytes.length % 8 == 0, "a multiple of 8 bytes");
	flat_reader_init(&reader, bytes, 2);
	tap_ok(flat_reader_root(&reader, &root), "the root is there");
	tap_ok(flat_table_bool(&root, 0, false, &yes) && yes, "a bool");
	tap_ok(flat_table_i16(&root, 1, 0, &i16) && i16 == -2, "an int16");
	tap_ok(flat_table_i64(&root, 2, 0, &i64) && i64 == PG_INT64_MIN, "an int64");
	tap_ok(flat_table_i32(&root, 3, 5, &i32) && i32 == 5, "a default");
	tap_ok(flat_table_string(&root, 4, &string) && view_is(string, "seven b", 7) &&
		   string.data[7] == '\0', "a string, with its zero");
	tap_ok(flat_table_vector(&root, 5, 8, &vector) && vector.count == 3 &&
		   vector.position % 8 == 0 &&
		   byte_load_i64(flat_vector_element(&vector, 8, 0)) == -1 &&
		   byte_load_i64(flat_vector_element(&vector, 8, 2)) == -3, "a vector of numbers, aligned");
	tap_ok(flat_table_vector(&root, 6, FLAT_OFFSET_SIZE, &vector) && vector.count == 3, "a vector of strings");
	tap_ok(flat_vector_string(&vector, 0, &string) && view_is(string, "", 0), "an empty one");
	tap_ok(flat_vector_string(&vector, 1, &string) && view_is(string, "seven b", 7), "a shared one");
	tap_ok(flat_vector_string(&vector, 2, &string) && view_is(string, "a\0b", 3), "one with a zero");
	tap_ok(flat_table_vector(&root, 7, FLAT_OFFSET_SIZE, &vector) && vector.count == 2, "a vector of tables");
	tap_ok(flat_vector_table(&vector, 0, &table) && table.depth == 2 &&
		   flat_table_i32(&table, 3, 0, &i32) && i32 == -4, "a table in it");
	tap_ok(flat_vector_table(&vector, 1, &table) && flat_table_i32(&table, 3, 6, &i32) && i32 == 6,
		   "an empty table in it");
	tap_ok(flat_table_union(&root, 8, 9, &u8, &table) && u8 == 200 &&
		   flat_table_i32(&table, 3, 0, &i32) && i32 == -4, "a union");
	tap_ok(flat_table_vector(&root, 10, 16, &vector) && vector.count == 0, "an empty vector");
	tap_ok(flat_table_vector(&root, 11, 16, &vector) && vector.count == 0, "an absent vector");
	tap_ok(flat_table_union(&root, 11, 12, &u8, &table) && u8 == 0 && table.reader == NULL, "no union");
	tap_ok(!flat_table_union(&root, 0, 11, &u8, &table), "a union without a value");
	tap_is_string(reader.reason, "A union has a type but no value.", "is said");
	tap_ok(flat_table_table(&root, 15, &table) && !flat_table_table(&table, 3, &table),
		   "a number is no table");

	flat_reader_init(&reader, bytes, 1);
	tap_ok(flat_reader_root(&reader, &root) && !flat_table_table(&root, 15, &table), "too deep");
	tap_is_string(reader.reason, "The metadata is nested too deeply.", "is said");
}

static void
test_large_build(void)
{
	FlatBuilder builder;
	FlatFields	root = {0};
	FlatRef    *refs = palloc(20000 * sizeof(FlatRef));
	FlatReader	reader;
	FlatTable	table;
	FlatVector	vector;
	ByteView	string;
	bool		good = true;

	flat_builder_init(&builder);
	for (int i = 0; i < 20000; i++)
		refs[i] = flat_build_string(&builder, psprintf("%d", i));
	flat_field_ref(&root, 0, flat_build_offsets(&builder, refs, 20000));
	flat_reader_init(&reader, flat_builder_finish(&builder, flat_build_table(&builder, &root)), 1);
	good = flat_reader_root(&reader, &table) &&
		flat_table_vector(&table, 0, FLAT_OFFSET_SIZE, &vector) && vector.count == 20000;
	for (int i = 0; good && i < 20000; i++)
	{
		const char *expected = psprintf("%d", i);

		good = flat_vector_string(&vector, i, &string) && view_is(string, expected, strlen(expected));
	}
	tap_ok(good, "20000 strings");
}

/* ------------------------------------------------------------ budgets */

/*
 * Each of "depth" tables refers 10 times to the next: without a budget it
 * would take 10 to the power of depth steps.
 */
static bool
visit(const FlatTable *table, int64 *visited)
{
	FlatVector	vector;

	(*visited)++;
	if (!flat_table_vector(table, 0, FLAT_OFFSET_SIZE, &vector))
		return false;
	for (uint32 i = 0; i < vector.count; i++)
	{
		FlatTable	child;

		if (!flat_vector_table(&vector, i, &child) || !visit(&child, visited))
			return false;
	}
	return true;
}

static void
test_budgets(void)
{
	FlatBuilder builder;
	FlatFields	fields = {0};
	FlatRef		refs[10];
	FlatRef		table;
	FlatReader	reader;
	FlatTable	root;
	FlatTable	child;
	ByteView	string;
	ByteView	bytes;
	int64		visited = 0;
	int			seen = 0;

	flat_builder_init(&builder);
	table = flat_build_table(&builder, &fields);
	for (int depth = 0; depth < 20; depth++)
	{
		for (int i = 0; i < 10; i++)
			refs[i] = table;
		fields.nfields = 0;
		flat_field_ref(&fields, 0, flat_build_offsets(&builder, refs, 10));
		table = flat_build_table(&builder, &fields);
	}
	flat_reader_init(&reader, flat_builder_finish(&builder, table), 64);
	tap_ok(flat_reader_root(&reader, &root) && !visit(&root, &visited), "a bush of tables comes to an end");
	tap_ok(visited <= FLAT_MAX_TABLES && visited > 1000, "after " INT64_FORMAT " tables", visited);
	tap_ok(!visit(&root, &visited), "and there is no more");

	flat_builder_init(&builder);
	fields.nfields = 0;
	flat_field_ref(&fields, 0, flat_build_bytes(&builder, byte_view(palloc0(100000), 100000)));
	bytes = flat_builder_finish(&builder, flat_build_table(&builder, &fields));
	flat_reader_init(&reader, bytes, 1);
	tap_ok(flat_reader_root(&reader, &root), "a large string");
	while (seen < 1000 && flat_table_string(&root, 0, &string))
		seen++;
	tap_ok(seen >= 2 && seen <= 14, "cannot be seen %d times", seen + 1);

	bytes = build_all();
	flat_reader_init(&reader, bytes, 2);
	seen = 1;
	if (flat_reader_root(&reader, &root))
	{
		while (seen <= FLAT_MAX_TABLES && flat_table_table(&root, 15, &child))
			seen++;
	}
	tap_is_int(seen, FLAT_MAX_TABLES, "a million tables are enough");
	tap_is_string(reader.reason, "The metadata has too many tables.", "as is said");
}

/* ------------------------------------------------------------ damage */

/* Ask for everything, whatever it is; the sum keeps the reads alive. */
static uint64
read_everything(const FlatTable *table, int budget)
{
	uint64		sum = 0;

	for (int field = 0; field < 16 && budget > 0; field++)
	{
		FlatTable	child;
		FlatVector	vector;
		ByteView	string;
		int64		i64;
		uint8		type;

		if (flat_table_i64(table, field, 0, &i64))
			sum += i64;
		if (flat_table_string(table, field, &string) && string.length > 0)
			sum += string.data[0] + string.data[string.length - 1];
		if (flat_table_table(table, field, &child) && child.reader)
			sum += read_everything(&child, budget / 4);
		if (flat_table_union(table, field, field + 1, &type, &child) && child.reader)
			sum += read_everything(&child, budget / 4);
		if (flat_table_vector(table, field, 16, &vector) && vector.count > 0)
			sum += flat_vector_element(&vector, 16, vector.count - 1)[15];
		if (!flat_table_vector(table, field, FLAT_OFFSET_SIZE, &vector))
			continue;
		for (uint32 i = 0; i < Min(vector.count, 4); i++)
		{
			if (flat_vector_string(&vector, i, &string) && string.length > 0)
				sum += string.data[string.length - 1];
			if (flat_vector_table(&vector, i, &child))
				sum += read_everything(&child, budget / 8);
		}
	}
	return sum;
}

static void
test_damage(void)
{
	ByteView	good = build_all();
	uint64		sum = 0;
	size_t		allocated = server_stub_allocated();

	for (int i = 0; i < MUTATIONS; i++)
	{
		size_t		length = random_below(3) == 0 ? random_below(good.length + 1) : good.length;
		uint8	   *bytes = malloc(length);
		FlatReader	reader;
		FlatTable	root;

		memcpy(bytes, good.data, length);
		for (int n = random_below(4) + 1; n > 0 && length > 0; n--)
		{
			size_t		at = random_below(length);

			if (random_below(2) == 0)
				bytes[at] ^= 1 << random_below(8);
			else
				bytes[at] = (uint8) random_below(256);
		}
		flat_reader_init(&reader, byte_view(bytes, length), 6);
		if (flat_reader_root(&reader, &root))
			sum += read_everything(&root, 64);
		free(bytes);
	}
	tap_note("sum " UINT64_FORMAT, sum);
	tap_ok(true, "damaged buffers are read within their bounds");
	tap_is_int(server_stub_allocated(), allocated, "and without memory");
}

int
main(int argc, char **argv)
{
	server_stub_init();
	random_state = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
	tap_note("seed " UINT64_FORMAT, random_state);
	random_state = random_state * UINT64CONST(0x9E3779B97F4A7C15) | 1;

	test_cursor();
	test_by_hand();
	test_bad_roots();
	test_built();
	test_large_build();
	test_budgets();
	test_damage();
	return tap_done();
}
