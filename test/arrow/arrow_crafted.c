/*-------------------------------------------------------------------------
 *
 * arrow_crafted.c
 *	  Arrow files whose rows come to far more than the file has bytes.
 *
 *	arrow_crafted CASE FILE
 *
 * Each is a stream with an int64 field "id", from 1 on, and a field "v".  The
 * cases stand in one table at the end.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <fcntl.h>
#include <unistd.h>
#include <zstd.h>

#include "arrow/arrow_metadata.h"
#include "server_stub.h"

#define ALIGNMENT	8
#define MAX_BUFFERS	20

/* One buffer of a body, or a hole of so many bytes that follows the one before. */
typedef struct Part
{
	const void *data;
	int64		length;
	int64		hole;
} Part;

typedef struct Body
{
	ArrowNode	nodes[MAX_BUFFERS];
	int			nnodes;
	Part		parts[MAX_BUFFERS];
	int			nparts;
	int64		variadic[1];
	int			nvariadic;
	ArrowCompression compression;
} Body;

static int	output;
static int64 position = 0;

static void
write_all(const void *data, int64 length)
{
	const char *from = data;

	for (int64 done = 0; done < length;)
	{
		ssize_t		n = pwrite(output, from + done, length - done, position + done);

		if (n <= 0)
		{
			perror("arrow_crafted");
			exit(1);
		}
		done += n;
	}
	position += length;
}

static int64
aligned(int64 length)
{
	return (length + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static void
write_message(ArrowMessage *message)
{
	static const char zeros[ALIGNMENT];
	ByteView	bytes = arrow_message_build(message);
	uint32		prefix[2] = {0xFFFFFFFF, (uint32) aligned(bytes.length)};

	write_all(prefix, sizeof(prefix));
	write_all(bytes.data, bytes.length);
	write_all(zeros, aligned(bytes.length) - (int64) bytes.length);
}

/* ------------------------------------------------------------ bodies */

static void
add_node(Body *body, int64 length)
{
	body->nodes[body->nnodes++] = (ArrowNode){length, 0};
}

static void
add_part(Body *body, const void *data, int64 length)
{
	body->parts[body->nparts++] = (Part){data, length, 0};
}

/* A validity bitmap that is left out. */
static void
add_validity(Body *body)
{
	add_part(body, NULL, 0);
}

/* n integers: first, first + step, ... */
static void
add_numbers(Body *body, int width, int64 n, int64 first, int64 step)
{
	char	   *bytes = palloc_extended(n * width + 8, MCXT_ALLOC_HUGE);

	for (int64 i = 0; i < n; i++)
	{
		int64		number = first + i * step;

		memcpy(bytes + i * width, &number, width);
	}
	add_part(body, bytes, n * width);
}

/* Strings of so many letters, each of another one. */
static void
add_strings(Body *body, int64 n, int64 length)
{
	char	   *bytes = palloc_extended(n * length + 1, MCXT_ALLOC_HUGE);

	for (int64 i = 0; i < n; i++)
		memset(bytes + i * length, 'a' + i % 26, length);
	add_node(body, n);
	add_validity(body);
	add_numbers(body, 4, n + 1, 0, length);
	add_part(body, bytes, n * length);
}

static void
add_ids(Body *body, int64 rows)
{
	add_node(body, rows);
	add_validity(body);
	add_numbers(body, 8, rows, 1, 1);
}

static void
write_batch(Body *body, ArrowMessageKind kind, int64 length)
{
	ArrowBufferSpec specs[MAX_BUFFERS];
	ArrowMessage message = {.kind = kind, .version = ARROW_V5};
	int64		begin;

	for (int i = 0; i < body->nparts; i++)
	{
		message.body_length += body->parts[i].hole;
		specs[i] = (ArrowBufferSpec){message.body_length, body->parts[i].length};
		message.body_length += aligned(body->parts[i].length);
	}
	message.batch = (ArrowBatchSpec){
		.version = ARROW_V5,.length = length,.nnodes = body->nnodes,.nodes = body->nodes,
		.nbuffers = body->nparts,.buffers = specs,.nvariadic = body->nvariadic,.variadic = body->variadic,
		.compression = body->compression
	};
	write_message(&message);
	begin = position;
	for (int i = 0; i < body->nparts; i++)
	{
		position = begin + specs[i].offset;
		write_all(body->parts[i].data, body->parts[i].length);
	}
	position = begin + message.body_length;
	if (ftruncate(output, position) != 0)
		exit(1);
}

/* ------------------------------------------------------------ fields */

static ArrowField
field(ArrowTypeId type, const char *name)
{
	return (ArrowField){.name = name,.nullable = true,.type = type};
}

static ArrowField
integer(int bits, const char *name)
{
	ArrowField	result = field(ARROW_INT, name);

	result.bit_width = bits;
	result.is_signed = true;
	return result;
}

static void
add_child(ArrowField *parent, ArrowField child)
{
	parent->children = parent->nchildren ?
		repalloc(parent->children, sizeof(ArrowField) * (parent->nchildren + 1)) : palloc(sizeof(ArrowField));
	parent->children[parent->nchildren++] = child;
}

static void
write_schema(ArrowField v)
{
	ArrowField	fields[2];
	ArrowSchema schema = {.nfields = 2,.fields = fields};
	ArrowMessage message = {.kind = ARROW_MESSAGE_SCHEMA,.version = ARROW_V5,.schema = &schema};

	fields[0] = integer(64, "id");
	fields[1] = v;
	write_message(&message);
}

/* ------------------------------------------------------------ cases */

/* A dictionary of 2^40 nulls. */
static void
null_entries(Body *body)
{
	ArrowField	v = field(ARROW_NULL, "v");
	Body		entries = {.nnodes = 0};

	v.has_dictionary = true;
	v.index_bits = 64;
	v.index_signed = true;
	write_schema(v);
	add_node(&entries, INT64CONST(1) << 40);
	write_batch(&entries, ARROW_MESSAGE_DICTIONARY_BATCH, INT64CONST(1) << 40);
	add_ids(body, 1000);
	add_node(body, 1000);
	add_validity(body);
	add_numbers(body, 8, 1000, 0, INT64CONST(1) << 30);
	write_batch(body, ARROW_MESSAGE_RECORD_BATCH, 1000);
}

/* A compressed dictionary that says that it is of 4 TB. */
static void
huge_dictionary(Body *body)
{
	ArrowField	v = field(ARROW_LARGE_UTF8, "v");
	Body		entries = {.compression = ARROW_ZSTD};
	char	   *data = palloc0(1000);
	int64		said = INT64CONST(1) << 42;

	v.has_dictionary = true;
	v.index_bits = 32;
	v.index_signed = true;
	write_schema(v);
	add_node(&entries, 2);
	add_validity(&entries);
	add_part(&entries, (const int64[]) {-1, 0, 1, INT64CONST(1) << 42}, 32);
	memcpy(data, &said, sizeof(said));
	add_part(&entries, data, 8 + ZSTD_compress(data + 8, 900, "entries", 7, 1));
	write_batch(&entries, ARROW_MESSAGE_DICTIONARY_BATCH, 2);
	add_ids(body, 10);
	add_node(body, 10);
	add_validity(body);
	add_numbers(body, 4, 10, 0, 0);
	write_batch(body, ARROW_MESSAGE_RECORD_BATCH, 10);
}

/* A list of two nulls, and one of 2^40. */
static void
null_list(Body *body)
{
	ArrowField	v = field(ARROW_LARGE_LIST, "v");

	add_child(&v, field(ARROW_NULL, "item"));
	write_schema(v);
	add_ids(body, 2);
	add_node(body, 2);
	add_validity(body);
	add_part(body, (const int64[]) {0, 2, (INT64CONST(1) << 40) + 2}, 24);
	add_node(body, INT64CONST(1) << 41);
	write_batch(body, ARROW_MESSAGE_RECORD_BATCH, 2);
}

/* Lists of 100,000 empty structs each. */
static void
empty_structs(Body *body)
{
	ArrowField	v = field(ARROW_FIXED_SIZE_LIST, "v");

	v.list_size = 100000;
	add_child(&v, field(ARROW_STRUCT, "item"));
	write_schema(v);
	add_ids(body, 100);
	add_node(body, 100);
	add_validity(body);
	add_node(body, 100 * INT64CONST(100000));
	add_validity(body);
	write_batch(body, ARROW_MESSAGE_RECORD_BATCH, 100);
}

/* 2000 times the same list of 100,000 numbers. */
static void
list_views(Body *body)
{
	ArrowField	v = field(ARROW_LIST_VIEW, "v");

	add_child(&v, integer(32, "item"));
	write_schema(v);
	add_ids(body, 2000);
	add_node(body, 2000);
	add_validity(body);
	add_numbers(body, 4, 2000, 0, 0);
	add_numbers(body, 4, 2000, 100000, 0);
	add_node(body, 100000);
	add_validity(body);
	add_numbers(body, 4, 100000, 0, 1);
	write_batch(body, ARROW_MESSAGE_RECORD_BATCH, 2000);
}

/* 2000 times the same string of 1 MB. */
static void
string_views(Body *body)
{
	int32	   *views = palloc0(2000 * 16);
	char	   *bytes = palloc(1000000);

	memset(bytes, 'x', 1000000);
	for (int i = 0; i < 2000; i++)
	{
		views[i * 4] = 1000000;
		memcpy(&views[i * 4 + 1], "xxxx", 4);
	}
	write_schema(field(ARROW_UTF8_VIEW, "v"));
	add_ids(body, 2000);
	add_node(body, 2000);
	add_validity(body);
	add_part(body, views, 2000 * 16);
	add_part(body, bytes, 1000000);
	body->variadic[body->nvariadic++] = 1;
	write_batch(body, ARROW_MESSAGE_RECORD_BATCH, 2000);
}

/* 8192 rows of eight dictionary entries of 10 MB each. */
static void
large_entries(Body *body)
{
	ArrowField	v = field(ARROW_UTF8, "v");
	Body		entries = {.nnodes = 0};
	int32	   *indexes = palloc(4 * 8192);

	v.has_dictionary = true;
	v.index_bits = 32;
	v.index_signed = true;
	write_schema(v);
	add_strings(&entries, 8, 10000000);
	write_batch(&entries, ARROW_MESSAGE_DICTIONARY_BATCH, 8);
	for (int i = 0; i < 8192; i++)
		indexes[i] = i / 1024;
	add_ids(body, 8192);
	add_node(body, 8192);
	add_validity(body);
	add_part(body, indexes, 4 * 8192);
	write_batch(body, ARROW_MESSAGE_RECORD_BATCH, 8192);
}

/* Three strings of 10 MB, for 3000 rows each. */
static void
large_runs(Body *body)
{
	ArrowField	v = field(ARROW_RUN_END_ENCODED, "v");

	add_child(&v, integer(32, "run_ends"));
	v.children[0].nullable = false;
	add_child(&v, field(ARROW_UTF8, "values"));
	write_schema(v);
	add_ids(body, 9000);
	add_node(body, 9000);
	add_node(body, 3);
	add_validity(body);
	add_numbers(body, 4, 3, 3000, 3000);
	add_strings(body, 3, 10000000);
	write_batch(body, ARROW_MESSAGE_RECORD_BATCH, 9000);
}

/* 1000 times a union's same element of 1 MB. */
static void
unions(Body *body)
{
	static int	type_ids[] = {0};
	ArrowField	v = field(ARROW_UNION, "v");

	v.dense_union = true;
	v.ntype_ids = 1;
	v.type_ids = type_ids;
	add_child(&v, field(ARROW_UTF8, "s"));
	write_schema(v);
	add_ids(body, 1000);
	add_node(body, 1000);
	add_numbers(body, 1, 1000, 0, 0);
	add_numbers(body, 4, 1000, 0, 0);
	add_strings(body, 1, 1000000);
	write_batch(body, ARROW_MESSAGE_RECORD_BATCH, 1000);
}

/* 1000 objects with a key of 1 MB. */
static void
labels(Body *body)
{
	ArrowField	v = field(ARROW_STRUCT, "v");
	char	   *name = palloc(1000001);

	memset(name, 'n', 1000000);
	name[1000000] = '\0';
	add_child(&v, integer(32, name));
	write_schema(v);
	add_ids(body, 1000);
	add_node(body, 1000);
	add_validity(body);
	add_node(body, 1000);
	add_validity(body);
	add_numbers(body, 4, 1000, 0, 1);
	write_batch(body, ARROW_MESSAGE_RECORD_BATCH, 1000);
}

/* 100,000 rows, and 5 GB of nothing between ids and values; a second batch follows. */
static void
hole(Body *body)
{
	Body		more = {.nnodes = 0};

	write_schema(integer(64, "v"));
	add_ids(body, 100000);
	add_node(body, 100000);
	add_validity(body);
	add_numbers(body, 8, 100000, 7, 7);
	body->parts[body->nparts - 1].hole = INT64CONST(5) << 30;
	write_batch(body, ARROW_MESSAGE_RECORD_BATCH, 100000);

	add_node(&more, 10);
	add_validity(&more);
	add_numbers(&more, 8, 10, 100001, 1);
	add_node(&more, 10);
	add_validity(&more);
	add_numbers(&more, 8, 10, 700007, 7);
	write_batch(&more, ARROW_MESSAGE_RECORD_BATCH, 10);
}

static const struct
{
	const char *name;
	void		(*write) (Body *body);
}			cases[] =
{
	{"null_entries", null_entries},
	{"huge_dictionary", huge_dictionary},
	{"null_list", null_list},
	{"empty_structs", empty_structs},
	{"list_views", list_views},
	{"string_views", string_views},
	{"large_entries", large_entries},
	{"large_runs", large_runs},
	{"unions", unions},
	{"labels", labels},
	{"hole", hole},
};

int
main(int argc, char **argv)
{
	Body		body = {.nnodes = 0};

	server_stub_init();
	for (int i = 0; argc == 3 && i < (int) lengthof(cases); i++)
	{
		if (strcmp(argv[1], cases[i].name) != 0)
			continue;
		output = open(argv[2], O_WRONLY | O_CREAT | O_TRUNC, 0644);
		if (output < 0)
			break;
		cases[i].write(&body);
		return close(output) != 0;
	}
	fprintf(stderr, "usage: arrow_crafted CASE FILE\n");
	return 1;
}
