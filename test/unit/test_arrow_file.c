/*-------------------------------------------------------------------------
 *
 * test_arrow_file.c
 *	  Arrow files and streams that no library writes: dictionaries that are
 *	  replaced beneath others or looked at from two places, ids that two types
 *	  share, footers without a version, files of other kinds.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <fcntl.h>
#include <unistd.h>

#include "lib/stringinfo.h"

#include "arrow/arrow_columns.h"
#include "arrow/arrow_file.h"
#include "arrow_server.h"
#include "server_stub.h"
#include "tap.h"

static char scratch[] = "/tmp/outerjoin_arrow_XXXXXX";
static Folder folder = {scratch, NULL};

/* ------------------------------------------------------------ the writer */

typedef struct Writer
{
	StringInfoData bytes;
	ArrowSchema schema;
	ArrowBlock	dictionaries[10];
	int			ndictionaries;
	ArrowBlock	batches[10];
	int			nbatches;
} Writer;

typedef struct Bytes
{
	const void *data;
	int64		length;
} Bytes;

#define NOTHING			((Bytes) {"", 0})
#define NUMBERS(type, ...) ((Bytes) {(type[]) {__VA_ARGS__}, sizeof((type[]) {__VA_ARGS__})})
#define TEXT(string)	((Bytes) {string, strlen(string)})

static void
pad(StringInfo bytes)
{
	while (bytes->len % 8 != 0)
		appendStringInfoChar(bytes, '\0');
}

/* Where it stands. */
static ArrowBlock
write_message(Writer *writer, const ArrowMessage *message, StringInfo body)
{
	ByteView	view = arrow_message_build(message);
	uint32		head[2] = {0xFFFFFFFF, (uint32) view.length};
	ArrowBlock	block = {.offset = writer->bytes.len,.metadata_length = (int32) (8 + view.length),
	.body_length = body != NULL ? body->len : 0};

	appendBinaryStringInfo(&writer->bytes, (char *) head, sizeof(head));
	appendBinaryStringInfo(&writer->bytes, (const char *) view.data, (int) view.length);
	if (body != NULL)
		appendBinaryStringInfo(&writer->bytes, body->data, body->len);
	return block;
}

static void
begin(Writer *writer, bool file, int nfields, ArrowField *fields)
{
	ArrowMessage message = {.kind = ARROW_MESSAGE_SCHEMA,.version = ARROW_V5,.schema = &writer->schema};

	memset(writer, 0, sizeof(*writer));
	initStringInfo(&writer->bytes);
	writer->schema.nfields = nfields;
	writer->schema.fields = fields;
	if (file)
		appendBinaryStringInfo(&writer->bytes, "ARROW1\0\0", 8);
	(void) write_message(writer, &message, NULL);
}

/* Nodes without nulls, of these lengths; all buffers as they are. */
static ArrowBlock
write_batch(Writer *writer, ArrowMessage message, int64 length, int nnodes, const int64 *lengths,
			int nbuffers, const Bytes *buffers)
{
	ArrowNode	nodes[10] = {{0, 0}};
	ArrowBufferSpec specs[20];
	StringInfoData body;

	initStringInfo(&body);
	for (int i = 0; i < nnodes; i++)
		nodes[i].length = lengths[i];
	for (int i = 0; i < nbuffers; i++)
	{
		specs[i] = (ArrowBufferSpec){body.len, buffers[i].length};
		appendBinaryStringInfo(&body, buffers[i].data, (int) buffers[i].length);
		pad(&body);
	}
	message.version = ARROW_V5;
	message.body_length = body.len;
	message.batch = (ArrowBatchSpec){.version = ARROW_V5,.length = length,.nnodes = nnodes,.nodes = nodes,
	.nbuffers = nbuffers,.buffers = specs};
	return write_message(writer, &message, &body);
}

#define COUNT(array)	((int) (sizeof(array) / sizeof((array)[0])))
#define LENGTHS(...)	COUNT(((int64[]) {__VA_ARGS__})), (int64[]) {__VA_ARGS__}
#define BUFFERS(...)	COUNT(((Bytes[]) {__VA_ARGS__})), (Bytes[]) {__VA_ARGS__}

static void
rows(Writer *writer, int64 length, int nnodes, const int64 *lengths, int nbuffers, const Bytes *buffers)
{
	writer->batches[writer->nbatches++] =
		write_batch(writer, (ArrowMessage){.kind = ARROW_MESSAGE_RECORD_BATCH}, length, nnodes, lengths,
					nbuffers, buffers);
}

static void
entries(Writer *writer, int64 id, int64 length, int nnodes, const int64 *lengths, int nbuffers, const Bytes *buffers)
{
	writer->dictionaries[writer->ndictionaries++] =
		write_batch(writer, (ArrowMessage){.kind = ARROW_MESSAGE_DICTIONARY_BATCH,.dictionary_id = id}, length,
					nnodes, lengths, nbuffers, buffers);
}

/* The footer, of a version as the metadata numbers them; 0 is left out. */
static void
finish(Writer *writer, int version)
{
	ArrowFooter footer = {.version = version,.schema = writer->schema,.ndictionaries = writer->ndictionaries,
	.dictionaries = writer->dictionaries,.nbatches = writer->nbatches,.batches = writer->batches};
	ByteView	view = arrow_footer_build(&footer);
	uint32		length = (uint32) view.length;

	appendBinaryStringInfo(&writer->bytes, "\xFF\xFF\xFF\xFF\0\0\0\0", 8);
	appendBinaryStringInfo(&writer->bytes, (const char *) view.data, (int) view.length);
	appendBinaryStringInfo(&writer->bytes, (char *) &length, sizeof(length));
	appendBinaryStringInfo(&writer->bytes, "ARROW1", 6);
}

static SourceFile *
open_bytes(const char *data, int length)
{
	char	   *path = psprintf("%s/f.arrow", scratch);
	int			fd;

	/* a new file each time: an open one keeps what it had */
	(void) unlink(path);
	fd = open(path, O_WRONLY | O_CREAT, 0600);
	if (fd < 0 || write(fd, data, length) != length)
		abort();
	close(fd);
	return source_file_open(&folder, "f.arrow");
}

/* ------------------------------------------------------------ fields */

static ArrowField
an_integer(const char *name, int bits)
{
	return (ArrowField){.name = name,.type = ARROW_INT,.bit_width = bits,.is_signed = true};
}

static ArrowField
a_text(const char *name)
{
	return (ArrowField){.name = name,.type = ARROW_UTF8};
}

static ArrowField
encoded(ArrowField field, int64 id)
{
	field.has_dictionary = true;
	field.dictionary_id = id;
	field.index_bits = 8;
	field.index_signed = true;
	return field;
}

/* ------------------------------------------------------------ what is read */

/* An open file, and the vectors of its first fields set to a record batch. */
typedef struct Reader
{
	Writer	   *writer;
	SourceFile *source;
	ArrowFile  *file;
	ArrowVector *vectors[3];
	int64		batch;
	int64		blocks_read;
	char		shown[200];
} Reader;

static void
open_body(void *argument)
{
	Reader	   *reader = argument;

	reader->source = open_bytes(reader->writer->bytes.data, reader->writer->bytes.len);
	reader->file = arrow_file_open(reader->source, 64, &reader->blocks_read);
	for (int i = 0; i < arrow_file_schema(reader->file)->nfields; i++)
		reader->vectors[i] = arrow_vector_create(&arrow_file_schema(reader->file)->fields[i],
												 ARROW_V5, 64, &reader->blocks_read);
}

/* "abc", or "[abc,abc]" of a list of such. */
static void
show_element(StringInfo out, ArrowVector *vector, int64 i)
{
	int64		from,
				to;
	ArrowBytes	bytes;

	if (vector->field->has_dictionary)
	{
		vector = arrow_dictionary_entry(vector->dictionary, arrow_index(vector, i), &i);
		show_element(out, vector, i);
	}
	else if (vector->field->type == ARROW_LIST)
	{
		arrow_list_range(vector, i, &from, &to);
		for (int64 k = from; k < to; k++)
		{
			appendStringInfoChar(out, k == from ? '[' : ',');
			show_element(out, &vector->children[0], k);
		}
		appendStringInfoChar(out, ']');
	}
	else if (vector->field->type == ARROW_INT)
		appendStringInfo(out, "%lld", (long long) *(const int64 *) arrow_fixed(vector, i));
	else
	{
		bytes = arrow_bytes(vector, i);
		appendBinaryStringInfo(out, bytes.data, (int) bytes.length);
	}
}

/* All of a record batch, field by field. */
static void
show_body(void *argument)
{
	Reader	   *reader = argument;
	const ArrowSchema *schema = arrow_file_schema(reader->file);
	const ArrowBatch *batch;
	ArrowPosition position = {0};
	StringInfoData out;

	initStringInfo(&out);
	if (!arrow_file_has_batch(reader->file, reader->batch))
		abort();
	batch = arrow_file_batch(reader->file, reader->batch);
	for (int i = 0; i < schema->nfields; i++)
	{
		arrow_vector_set(reader->vectors[i], reader->source, &batch->spec, batch->body_offset,
						 position.node, position.buffer, position.variadic);
		if (!arrow_position_skip(&position, &batch->spec, &schema->fields[i], false))
			abort();
	}
	for (int i = 0; i < schema->nfields; i++)
		arrow_file_set_dictionaries(reader->file, reader->batch, reader->vectors[i]);
	for (int i = 0; i < schema->nfields; i++)
	{
		arrow_vector_load(reader->vectors[i], 0, reader->vectors[i]->length);
		for (int64 k = 0; k < reader->vectors[i]->length; k++)
		{
			appendStringInfoChar(&out, k == 0 && i > 0 ? '|' : ' ');
			show_element(&out, reader->vectors[i], k);
		}
	}
	strlcpy(reader->shown, out.data + 1, sizeof(reader->shown));
}

static void
shows(Reader *reader, int64 batch, const char *expected, const char *name)
{
	reader->batch = batch;
	tap_is_string(server_stub_try(show_body, reader) ? reader->shown : server_stub_error.detail, expected, name);
}

static bool
opens(Reader *reader, Writer *writer)
{
	memset(reader, 0, sizeof(*reader));
	reader->writer = writer;
	return server_stub_try(open_body, reader);
}

/* ------------------------------------------------------------ dictionaries */

/* Lists in a dictionary, of texts in another one, which also a field of its own has. */
static void
test_replaced_beneath(void)
{
	ArrowField	item = encoded(a_text("item"), 1);
	ArrowField	list = {.name = "lists",.type = ARROW_LIST,.nchildren = 1,.children = &item};
	ArrowField	fields[] = {encoded(list, 0), encoded(a_text("texts"), 1)};
	Writer		writer;
	Reader		reader;

	begin(&writer, false, 2, fields);
	entries(&writer, 1, 3, LENGTHS(3), BUFFERS(NOTHING, NUMBERS(int32, 0, 1, 2, 3), TEXT("abc")));
	entries(&writer, 0, 2, LENGTHS(2, 3),
			BUFFERS(NOTHING, NUMBERS(int32, 0, 2, 3), NOTHING, NUMBERS(int8, 0, 1, 2)));
	rows(&writer, 2, LENGTHS(2, 2), BUFFERS(NOTHING, NUMBERS(int8, 0, 1), NOTHING, NUMBERS(int8, 0, 2)));
	entries(&writer, 1, 3, LENGTHS(3), BUFFERS(NOTHING, NUMBERS(int32, 0, 1, 2, 3), TEXT("xyz")));
	rows(&writer, 2, LENGTHS(2, 2), BUFFERS(NOTHING, NUMBERS(int8, 0, 1), NOTHING, NUMBERS(int8, 0, 2)));
	entries(&writer, 1, 1, LENGTHS(1), BUFFERS(NOTHING, NUMBERS(int32, 0, 1), TEXT("k")));
	rows(&writer, 1, LENGTHS(1, 1), BUFFERS(NOTHING, NUMBERS(int8, 1), NOTHING, NUMBERS(int8, 0)));
	rows(&writer, 0, LENGTHS(0, 0), BUFFERS(NOTHING, NOTHING, NOTHING, NOTHING));

	tap_ok(opens(&reader, &writer), "a stream of nested dictionaries");
	shows(&reader, 0, "[a,b] [c]|a c", "a dictionary above another one");
	shows(&reader, 1, "[x,y] [z]|x z", "the lower one replaced, the upper one not");
	shows(&reader, 0, "[a,b] [c]|a c", "and back again");
	shows(&reader, 2, "Field \"lists.item\", element 2: entry 1 of a dictionary that has 1.",
		  "a lower one that has become too short for the upper one");
	shows(&reader, 1, "[x,y] [z]|x z", "which hurts no other batch");
}

static void
test_shared_ids(void)
{
	ArrowField	alike[] = {encoded(a_text("a"), 7), encoded(a_text("b"), 7)};
	ArrowField	different[] = {encoded(an_integer("a", 64), 7), encoded(a_text("b"), 7)};
	ArrowField	inner = encoded(a_text("item"), 7);
	ArrowField	list = {.name = "a",.type = ARROW_LIST,.nchildren = 1,.children = &inner};
	ArrowField	within_itself = encoded(list, 7);
	Writer		writer;
	Reader		reader;

	begin(&writer, false, 2, alike);
	entries(&writer, 7, 2, LENGTHS(2), BUFFERS(NOTHING, NUMBERS(int32, 0, 1, 2), TEXT("ab")));
	rows(&writer, 2, LENGTHS(2, 2), BUFFERS(NOTHING, NUMBERS(int8, 0, 1), NOTHING, NUMBERS(int8, 1, 0)));
	tap_ok(opens(&reader, &writer), "a stream of a shared dictionary");
	shows(&reader, 0, "a b|b a", "two fields of one dictionary");

	begin(&writer, false, 2, different);
	entries(&writer, 7, 2, LENGTHS(2), BUFFERS(NOTHING, NUMBERS(int64, 1, 2)));
	rows(&writer, 1, LENGTHS(1, 1), BUFFERS(NOTHING, NUMBERS(int8, 1), NOTHING, NUMBERS(int8, 1)));
	tap_ok(opens(&reader, &writer), "a stream of a dictionary of two types");
	shows(&reader, 0, "Fields of different types have dictionary 7.", "is refused");

	begin(&writer, false, 1, &within_itself);
	entries(&writer, 7, 1, LENGTHS(1, 1), BUFFERS(NOTHING, NUMBERS(int32, 0, 1), NOTHING, NUMBERS(int8, 0)));
	rows(&writer, 1, LENGTHS(1), BUFFERS(NOTHING, NUMBERS(int8, 0)));
	tap_ok(opens(&reader, &writer), "a stream of a dictionary within itself");
	shows(&reader, 0, "Fields of different types have dictionary 7.", "is refused");
}

typedef struct TwoSets
{
	Reader	   *reader;
	ArrowColumns a;
	ArrowColumns b;
	char		shown[200];
} TwoSets;

static void
show_columns(ArrowColumns *columns, int64 batch, char *shown)
{
	ArrowVector *vector = columns->columns[0].vector;
	ValueArena *arena = value_arena_create(CurrentMemoryContext);
	Datum		values[2];
	bool		isnull[2];
	volatile int current;

	arrow_columns_set(columns, batch);
	arrow_vector_load(vector, 0, 2);
	arrow_convert(columns->columns[0].converter, vector, 0, 2, NULL, 0, arena, values, isnull, &current);
	snprintf(shown + strlen(shown), 50, "%lld %lld ", (long long) values[0], (long long) values[1]);
}

static void
two_sets_body(void *argument)
{
	TwoSets    *sets = argument;
	ArrowFile  *file = sets->reader->file;
	FieldSpec	spec = {.column = "k",.type = INT8OID,.typmod = -1};
	int			field = 0;

	arrow_columns_init(&sets->a, file, sets->reader->source, 1, &spec, &field, NULL, true, 64,
					   &sets->reader->blocks_read);
	arrow_columns_init(&sets->b, file, sets->reader->source, 1, &spec, &field, NULL, true, 64,
					   &sets->reader->blocks_read);
	(void) arrow_file_nbatches(file);
	show_columns(&sets->a, 0, sets->shown);
	show_columns(&sets->b, 1, sets->shown);
	show_columns(&sets->a, 0, sets->shown);
}

/* A search goes to other batches with columns of its own. */
static void
test_two_sets(void)
{
	ArrowField	field = encoded(an_integer("k", 64), 0);
	Writer		writer;
	Reader		reader;
	TwoSets		sets = {.reader = &reader};

	begin(&writer, false, 1, &field);
	entries(&writer, 0, 2, LENGTHS(2), BUFFERS(NOTHING, NUMBERS(int64, 10, 20)));
	rows(&writer, 2, LENGTHS(2), BUFFERS(NOTHING, NUMBERS(int8, 0, 1)));
	entries(&writer, 0, 2, LENGTHS(2), BUFFERS(NOTHING, NUMBERS(int64, 30, 40)));
	rows(&writer, 2, LENGTHS(2), BUFFERS(NOTHING, NUMBERS(int8, 0, 1)));
	tap_ok(opens(&reader, &writer), "a stream of a dictionary that is replaced");
	tap_is_string(server_stub_try(two_sets_body, &sets) ? sets.shown : server_stub_error.message,
				  "10 20 30 40 10 20 ", "two sets of columns at two batches do not disturb each other");
}

/* ------------------------------------------------------------ run ends */

typedef struct Slices
{
	Reader	   *reader;
	int64		length;
} Slices;

static void
slices_body(void *argument)
{
	Slices	   *slices = argument;
	ArrowVector *vector = slices->reader->vectors[0];

	for (int64 from = 0; from < vector->length; from += slices->length)
		arrow_vector_load(vector, from, Min(from + slices->length, vector->length));
}

/* Each of these is wrong at another place, and found whatever the slices are. */
static void
test_run_ends(void)
{
	static const struct
	{
		int32		ends[4];
		const char *detail;
	}			cases[] =
	{
		{{2, 4, 6, 8}, ""},
		{{0, 4, 6, 8}, "run 1 ends at element 0, which is not behind 0"},
		{{-3, 4, 6, 8}, "run 1 ends at element -3, which is not behind 0"},
		{{4, 2, 6, 8}, "run 2 ends at element 2, which is not behind 4"},
		{{2, 4, 4, 8}, "run 3 ends at element 4, which is not behind 4"},
		{{2, 4, 6, 1}, "run 4 ends at element 1, which is not behind 6"},
		{{2, 4, 6, 7}, "no run reaches it"},
	};
	ArrowField	children[] = {an_integer("run_ends", 32), an_integer("values", 64)};
	ArrowField	field = {.name = "runs",.type = ARROW_RUN_END_ENCODED,.nchildren = 2,.children = children};

	for (int c = 0; c < COUNT(cases); c++)
	{
		Writer		writer;
		Reader		reader;

		begin(&writer, false, 1, &field);
		rows(&writer, 8, LENGTHS(8, 4, 4),
			 BUFFERS(NOTHING, {cases[c].ends, sizeof(cases[c].ends)}, NOTHING, NUMBERS(int64, 1, 2, 3, 4)));
		if (!tap_ok(opens(&reader, &writer), "a stream of run ends"))
			continue;
		for (int length = 1; length <= 8; length++)
		{
			Slices		slices = {&reader, length};

			reader.batch = 0;
			(void) arrow_file_has_batch(reader.file, 0);
			arrow_vector_set(reader.vectors[0], reader.source, &arrow_file_batch(reader.file, 0)->spec,
							 arrow_file_batch(reader.file, 0)->body_offset, 0, 0, 0);
			if (server_stub_try(slices_body, &slices))
				tap_is_string("", cases[c].detail, "run ends that ascend");
			else
				tap_ok(cases[c].detail[0] && strstr(server_stub_error.detail, cases[c].detail),
					   "slices of %d: %s", length, server_stub_error.detail);
		}
	}
}

/* ------------------------------------------------------------ files as such */

static void
refuses(const char *data, int length, const char *expected, const char *name)
{
	Writer		writer = {.bytes = {.data = unconstify(char *, data),.len = length}};
	Reader		reader;

	tap_ok(!opens(&reader, &writer) && server_stub_error.sqlerrcode == ERRCODE_FEATURE_NOT_SUPPORTED &&
		   server_stub_error.hint[0] != '\0', "%s is refused, with a hint", name);
	tap_is_string(server_stub_error.message, expected, name);
}

static void
test_files(void)
{
	ArrowField	field = an_integer("k", 64);
	Writer		writer;
	Reader		reader;

	for (int version = 0; version <= ARROW_V5; version++)
	{
		begin(&writer, true, 1, &field);
		rows(&writer, 2, LENGTHS(2), BUFFERS(NOTHING, NUMBERS(int64, 5, 6)));
		finish(&writer, version);
		if (tap_ok(opens(&reader, &writer), "a file whose footer says version %d", version + 1))
			shows(&reader, 0, "5 6", "the messages' own version counts");
	}

	for (int kind = 0; kind < 2; kind++)
	{
		begin(&writer, kind == 1, 1, &field);
		resetStringInfo(&writer.bytes);
		if (kind == 1)
			appendBinaryStringInfo(&writer.bytes, "ARROW1\0\0", 8);
		writer.schema.big_endian = true;
		(void) write_message(&writer, &(ArrowMessage){.kind = ARROW_MESSAGE_SCHEMA,.version = ARROW_V5,
							 .schema = &writer.schema}, NULL);
		if (kind == 1)
			finish(&writer, ARROW_V5);
		refuses(writer.bytes.data, writer.bytes.len, "file \"f.arrow\" is an Arrow file of the other byte order",
				kind == 1 ? "a big-endian file" : "a big-endian stream");
	}
	refuses("FEA1\0\0\0\0\0\0\0\0FEA1", 16, "file \"f.arrow\" is a Feather file of version 1", "Feather 1");
}

int
main(void)
{
	server_stub_init();
	if (mkdtemp(scratch) == NULL)
		abort();
	test_replaced_beneath();
	test_shared_ids();
	test_two_sets();
	test_run_ends();
	test_files();
	(void) unlink(psprintf("%s/f.arrow", scratch));
	(void) rmdir(scratch);
	return tap_done();
}
