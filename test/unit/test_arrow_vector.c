/*-------------------------------------------------------------------------
 *
 * test_arrow_vector.c
 *	  Arrow buffers and vectors: random arrays of every layout are written to
 *	  files by a small writer here, and read back in slices of all sizes.
 *
 * The model of an array is a text for each of its elements, made where the
 * element is: what the reader shows must spell the same.
 *
 * Usage: test_arrow_vector [seed [rounds]]
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <fcntl.h>
#include <lz4frame.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "lib/stringinfo.h"
#include "utils/memutils.h"

#include "arrow/arrow_vector.h"
#include "random.h"
#include "server_stub.h"
#include "tap.h"

static char scratch[] = "/tmp/outerjoin_vector_XXXXXX";
static Folder folder = {scratch, NULL};

/* ------------------------------------------------------------ the writer */

typedef struct Bytes
{
	char	   *data;
	int64		length;
} Bytes;

typedef struct Array Array;

/* What stands in a file, and what each element is. */
struct Array
{
	const ArrowField *field;
	int64		length;
	int64		null_count;
	int			nbuffers;
	Bytes		buffers[3];		/* without validity */
	Bytes		validity;
	bool		has_validity;	/* a buffer of that kind, if an empty one */
	int			nvariadic;
	Bytes	   *variadic;
	int			nchildren;
	Array	   *children;
	int			nparts;			/* of its dictionary */
	Array	   *parts;
	bool	   *null;
	char	  **text;
};

typedef struct Output
{
	StringInfoData bytes;
	int64		body;
	ArrowBatchSpec batch;
	ArrowNode	nodes[200];
	ArrowBufferSpec buffers[1000];
	int64		variadic[100];
} Output;

static Bytes
new_bytes(int64 length)
{
	Bytes		bytes = {palloc0(Max(length, 1)), length};

	return bytes;
}

static void
put(Bytes *bytes, int width, int64 i, int64 value)
{
	memcpy(bytes->data + i * width, &value, width);
}

static Bytes
compressed(Bytes plain, ArrowCompression compression)
{
	size_t		room = compression == ARROW_ZSTD ? ZSTD_compressBound(plain.length) :
		LZ4F_compressFrameBound(plain.length, NULL);
	Bytes		result = new_bytes(8 + Max((int64) room, plain.length));

	if (one_in(8))
	{
		put(&result, 8, 0, -1);
		memcpy(result.data + 8, plain.data, plain.length);
		result.length = 8 + plain.length;
		return result;
	}
	put(&result, 8, 0, plain.length);
	result.length = 8 + (compression == ARROW_ZSTD ?
						 ZSTD_compress(result.data + 8, room, plain.data, plain.length, 1) :
						 LZ4F_compressFrame(result.data + 8, room, plain.data, plain.length, NULL));
	return result;
}

static void
write_buffer(Output *output, Bytes bytes)
{
	ArrowBufferSpec *spec = &output->buffers[output->batch.nbuffers++];

	if (output->batch.compression != ARROW_UNCOMPRESSED && bytes.length > 0)
		bytes = compressed(bytes, output->batch.compression);
	while ((output->bytes.len - output->body) % 8 != 0)
		appendStringInfoChar(&output->bytes, '\0');
	spec->offset = output->bytes.len - output->body;
	spec->length = bytes.length;
	appendBinaryStringInfo(&output->bytes, bytes.data, (int) bytes.length);
}

static void
write_node(Output *output, const Array *array)
{
	output->nodes[output->batch.nnodes++] = (ArrowNode){array->length, array->null_count};
	if (array->has_validity)
		write_buffer(output, array->validity);
	for (int i = 0; i < array->nbuffers; i++)
		write_buffer(output, array->buffers[i]);
	if (array->field->type == ARROW_UTF8_VIEW && !array->field->has_dictionary)
	{
		output->variadic[output->batch.nvariadic++] = array->nvariadic;
		for (int i = 0; i < array->nvariadic; i++)
			write_buffer(output, array->variadic[i]);
	}
	for (int i = 0; i < array->nchildren; i++)
		write_node(output, &array->children[i]);
}

/* One batch of one column. */
static Output *
write_batch(const Array *array, int version, ArrowCompression compression)
{
	Output	   *output = palloc0(sizeof(Output));

	initStringInfo(&output->bytes);
	output->body = 8 * random_below(4) + random_below(2);
	for (int64 i = 0; i < output->body; i++)
		appendStringInfoChar(&output->bytes, 'x');
	output->batch.version = version;
	output->batch.length = array->length;
	output->batch.compression = compression;
	output->batch.nodes = output->nodes;
	output->batch.buffers = output->buffers;
	output->batch.variadic = output->variadic;
	write_node(output, array);
	return output;
}

static SourceFile *
open_bytes(const char *data, size_t length)
{
	char	   *path = psprintf("%s/batch", scratch);
	int			fd;

	/* a new file each time: an open one keeps what it had */
	(void) unlink(path);
	fd = open(path, O_WRONLY | O_CREAT, 0600);
	if (fd < 0 || write(fd, data, length) != (ssize_t) length)
		abort();
	close(fd);
	return source_file_open(&folder, "batch");
}

/* ------------------------------------------------------------ the arrays */

static void make_array(Array *array, const ArrowField *field, int64 length, int version);

static void
make_nulls(Array *array, int version)
{
	const ArrowField *field = array->field;
	bool		none = field->type == ARROW_RUN_END_ENCODED || field->type == ARROW_NULL ||
		(field->type == ARROW_UNION && version == ARROW_V5);
	int			style = (int) random_below(3);

	array->null = palloc0(sizeof(bool) * Max(array->length, 1));
	array->has_validity = field->has_dictionary || !none;
	if (!array->has_validity || !field->nullable)
		return;
	if (style == 0)
		return;
	array->validity = new_bytes((array->length + 7) / 8);
	for (int64 i = 0; i < array->length; i++)
	{
		array->null[i] = style == 2 && one_in(4);
		array->null_count += array->null[i];
		if (!array->null[i])
			array->validity.data[i / 8] |= 1 << (i % 8);
	}
}

static Bytes *
add_buffer(Array *array, int64 length)
{
	Bytes	   *bytes = &array->buffers[array->nbuffers++];

	*bytes = new_bytes(length);
	for (int64 i = 0; i < length; i++)
		bytes->data[i] = (char) random_next();
	return bytes;
}

static char *
hex(const char *bytes, int64 length)
{
	static const char digits[] = "0123456789abcdef";
	char	   *text = palloc(2 * length + 2);

	text[0] = 'x';
	for (int64 i = 0; i < length; i++)
	{
		text[2 * i + 1] = digits[(uint8) bytes[i] >> 4];
		text[2 * i + 2] = digits[(uint8) bytes[i] & 15];
	}
	text[2 * length + 1] = '\0';
	return text;
}

/* The text of a number of a field, at any address */
static char *
number_text(const char *bytes, int bits, bool is_signed)
{
	int64		value = 0;

	memcpy(&value, bytes, bits / 8);
	if (bits == 64 && !is_signed)
		return psprintf("%llu", (unsigned long long) value);
	if (is_signed)
		value = (int64) ((uint64) value << (64 - bits)) >> (64 - bits);
	return psprintf("%lld", (long long) value);
}

static void
make_fixed(Array *array)
{
	const ArrowField *field = array->field;
	int			width = field->type == ARROW_FIXED_SIZE_BINARY ? field->byte_width : field->bit_width / 8;
	Bytes	   *bytes = add_buffer(array, array->length * width);

	for (int64 i = 0; i < array->length; i++)
		array->text[i] = field->type == ARROW_INT ?
			number_text(bytes->data + i * width, field->bit_width, field->is_signed) :
			hex(bytes->data + i * width, width);
}

static void
make_bits(Array *array)
{
	Bytes	   *bytes = add_buffer(array, (array->length + 7) / 8);

	for (int64 i = 0; i < array->length; i++)
		array->text[i] = (bytes->data[i / 8] & (1 << (i % 8))) ? "t" : "f";
}

static int
offset_width(const ArrowField *field)
{
	return field->type == ARROW_LARGE_BINARY || field->type == ARROW_LARGE_LIST ||
		field->type == ARROW_LARGE_LIST_VIEW ? 8 : 4;
}

static int64
random_length(void)
{
	return one_in(10) ? random_below(300) : random_below(20);
}

static void
make_strings(Array *array)
{
	int			width = offset_width(array->field);
	int64		base = random_below(3) * random_below(50);
	int64	   *offset = palloc(sizeof(int64) * (array->length + 1));
	Bytes	   *offsets;
	Bytes	   *bytes;

	offset[0] = base;
	for (int64 i = 0; i < array->length; i++)
		offset[i + 1] = offset[i] + random_length();
	offsets = add_buffer(array, array->length == 0 ? 0 : (array->length + 1) * width);
	bytes = add_buffer(array, offset[array->length] + random_below(9));
	for (int64 i = 0; i < array->length; i++)
	{
		put(offsets, width, i, offset[i]);
		put(offsets, width, i + 1, offset[i + 1]);
		array->text[i] = hex(bytes->data + offset[i], offset[i + 1] - offset[i]);
	}
}

/*
 * Views in the order of their strings, or strewn about so that some slices
 * need all data buffers, and much between their strings is garbage.
 */
static void
make_views(Array *array)
{
	bool		strewn = one_in(2);
	int64	   *filled;
	Bytes	   *views = add_buffer(array, array->length * 16);

	array->nvariadic = (int) (array->length > 0 ? 1 + random_below(strewn ? 12 : 3) : random_below(2));
	array->variadic = palloc0(sizeof(Bytes) * Max(array->nvariadic, 1));
	filled = palloc0(sizeof(int64) * Max(array->nvariadic, 1));
	for (int b = 0; b < array->nvariadic; b++)
	{
		array->variadic[b] = new_bytes(array->length * (strewn ? 100 : 300));
		for (int64 k = 0; k < array->variadic[b].length; k++)
			array->variadic[b].data[k] = (char) random_next();
	}
	for (int64 i = 0; i < array->length; i++)
	{
		char	   *view = views->data + i * 16;
		int32		length = (int32) random_length();

		if (array->null[i])
			continue;			/* garbage */
		if (length > 12)
		{
			int32		b = (int32) (strewn ? random_below(array->nvariadic) : i * array->nvariadic / array->length);
			Bytes	   *bytes = &array->variadic[b];
			int32		offset = (int32) (strewn ? -1 : filled[b]);

			length = (int32) Min(length, bytes->length);
			if (offset < 0)
				offset = (int32) random_below(bytes->length - length + 1);
			filled[b] += length;
			memcpy(view + 4, bytes->data + offset, 4);
			memcpy(view + 8, &b, 4);
			memcpy(view + 12, &offset, 4);
			array->text[i] = hex(bytes->data + offset, length);
		}
		else
			array->text[i] = hex(view + 4, length);
		memcpy(view, &length, 4);
	}
}

static char *
joined(const char *open, const Array *child, int64 from, int64 to, const char *close)
{
	StringInfoData text;

	initStringInfo(&text);
	appendStringInfoString(&text, open);
	for (int64 i = from; i < to; i++)
		appendStringInfo(&text, "%s%s", i > from ? "," : "", child->text[i]);
	appendStringInfoString(&text, close);
	return text.data;
}

static void
make_child(Array *array, int64 length, int version)
{
	array->nchildren = 1;
	array->children = palloc0(sizeof(Array));
	make_array(&array->children[0], &array->field->children[0], length, version);
}

static void
make_list(Array *array, int version)
{
	int			width = offset_width(array->field);
	int64		at = random_below(3) * random_below(5);
	Bytes	   *offsets = add_buffer(array, array->length == 0 ? 0 : (array->length + 1) * width);

	if (array->length > 0)
		put(offsets, width, 0, at);
	for (int64 i = 0; i < array->length; i++)
	{
		at += random_below(4) * random_below(4);
		put(offsets, width, i + 1, at);
	}
	make_child(array, at + random_below(3), version);
	for (int64 i = 0; i < array->length; i++)
	{
		int64		from = 0;
		int64		to = 0;

		memcpy(&from, offsets->data + i * width, width);
		memcpy(&to, offsets->data + (i + 1) * width, width);
		array->text[i] = joined("[", &array->children[0], from, to, "]");
	}
}

static void
make_list_view(Array *array, int version)
{
	int			width = offset_width(array->field);
	Bytes	   *offsets = add_buffer(array, array->length * width);
	Bytes	   *sizes = add_buffer(array, array->length * width);
	int64		n = array->length * 3 + 5;

	make_child(array, n, version);
	for (int64 i = 0; i < array->length; i++)
	{
		int64		from = random_below(n);
		int64		size = random_below(Min(n - from + 1, 10));

		if (array->null[i])
			continue;
		put(offsets, width, i, from);
		put(sizes, width, i, size);
		array->text[i] = joined("[", &array->children[0], from, from + size, "]");
	}
}

static void
make_fixed_list(Array *array, int version)
{
	int64		size = array->field->list_size;

	make_child(array, array->length * size + random_below(3), version);
	for (int64 i = 0; i < array->length; i++)
		array->text[i] = joined("[", &array->children[0], i * size, (i + 1) * size, "]");
}

static void
make_struct(Array *array, int version)
{
	array->nchildren = array->field->nchildren;
	array->children = palloc0(sizeof(Array) * array->nchildren);
	for (int c = 0; c < array->nchildren; c++)
		make_array(&array->children[c], &array->field->children[c], array->length, version);
	for (int64 i = 0; i < array->length; i++)
	{
		char	   *text = "{";

		for (int c = 0; c < array->nchildren; c++)
			text = psprintf("%s%s%s", text, c > 0 ? "," : "", array->children[c].text[i]);
		array->text[i] = psprintf("%s}", text);
	}
}

static void
make_union(Array *array, int version)
{
	const ArrowField *field = array->field;
	bool		dense = field->dense_union;
	bool		shuffled = one_in(2);
	int64		used[10] = {0};
	int		   *choice = palloc(sizeof(int) * Max(array->length, 1));
	int64	   *place = palloc(sizeof(int64) * Max(array->length, 1));
	Bytes	   *types = add_buffer(array, array->length);
	Bytes	   *offsets = dense ? add_buffer(array, array->length * 4) : NULL;

	array->nchildren = field->nchildren;
	array->children = palloc0(sizeof(Array) * array->nchildren);
	for (int64 i = 0; i < array->length; i++)
	{
		int			c = (int) random_below(field->nchildren);

		choice[i] = c;
		place[i] = i;
		if (dense && one_in(5))
			used[c]++;
		if (dense)
			place[i] = used[c]++;
	}
	for (int64 i = 0; i < array->length; i++)
	{
		if (dense && shuffled)
			place[i] = random_below(used[choice[i]]);
		if (array->null[i])
			continue;			/* garbage */
		put(types, 1, i, field->type_ids[choice[i]]);
		if (dense)
			put(offsets, 4, i, place[i]);
	}
	for (int c = 0; c < array->nchildren; c++)
		make_array(&array->children[c], &field->children[c], dense ? used[c] : array->length, version);
	for (int64 i = 0; i < array->length; i++)
		array->text[i] = psprintf("%d:%s", choice[i], array->children[choice[i]].text[place[i]]);
}

static void
make_runs(Array *array, int version)
{
	const ArrowField *field = array->field;
	int			width = field->children[0].bit_width / 8;
	int64	   *ends = palloc(sizeof(int64) * (array->length + 1));
	int64		n = 0;
	int64		at = 0;
	int64		run = 0;

	while (at < array->length)
	{
		at += one_in(4) ? 1 + random_below(30) : 1 + random_below(3);
		ends[n++] = at;
	}
	array->nchildren = 2;
	array->children = palloc0(sizeof(Array) * 2);
	make_array(&array->children[0], &field->children[0], n, version);
	for (int64 k = 0; k < n; k++)
		put(&array->children[0].buffers[0], width, k, ends[k]);
	make_array(&array->children[1], &field->children[1], n, version);
	for (int64 i = 0; i < array->length; i++)
	{
		while (ends[run] <= i)
			run++;
		array->text[i] = array->children[1].text[run];
	}
}

/* The field of a dictionary's entries */
static ArrowField *
entry_field(const ArrowField *field)
{
	ArrowField *entries = palloc(sizeof(ArrowField));

	*entries = *field;
	entries->has_dictionary = false;
	return entries;
}

static void
make_indexes(Array *array, int version)
{
	const ArrowField *field = array->field;
	int			width = field->index_bits / 8;
	Bytes	   *indexes = add_buffer(array, array->length * width);
	int64		n = 0;

	array->nparts = (int) (1 + random_below(3));
	array->parts = palloc0(sizeof(Array) * array->nparts);
	for (int p = 0; p < array->nparts; p++)
	{
		make_array(&array->parts[p], entry_field(field), (p == 0) + random_below(20), version);
		n += array->parts[p].length;
	}
	for (int64 i = 0; i < array->length; i++)
	{
		int64		index = random_below(n);
		int			p = 0;

		if (array->null[i])
			continue;
		put(indexes, width, i, index);
		while (index >= array->parts[p].length)
			index -= array->parts[p++].length;
		array->text[i] = array->parts[p].text[index];
	}
}

static void
make_values(Array *array, int version)
{
	const ArrowField *field = array->field;

	if (field->has_dictionary)
	{
		make_indexes(array, version);
		return;
	}
	switch (field->type)
	{
		case ARROW_NULL:
			array->null_count = array->length;
			memset(array->null, true, array->length);
			break;
		case ARROW_BOOL:
			make_bits(array);
			break;
		case ARROW_UTF8:
		case ARROW_LARGE_BINARY:
			make_strings(array);
			break;
		case ARROW_UTF8_VIEW:
			make_views(array);
			break;
		case ARROW_LIST:
		case ARROW_LARGE_LIST:
		case ARROW_MAP:
			make_list(array, version);
			break;
		case ARROW_LIST_VIEW:
		case ARROW_LARGE_LIST_VIEW:
			make_list_view(array, version);
			break;
		case ARROW_FIXED_SIZE_LIST:
			make_fixed_list(array, version);
			break;
		case ARROW_STRUCT:
			make_struct(array, version);
			break;
		case ARROW_UNION:
			make_union(array, version);
			break;
		case ARROW_RUN_END_ENCODED:
			make_runs(array, version);
			break;
		default:
			make_fixed(array);
	}
}

static void
make_array(Array *array, const ArrowField *field, int64 length, int version)
{
	array->field = field;
	array->length = length;
	array->text = palloc0(sizeof(char *) * Max(length, 1));
	make_nulls(array, version);
	make_values(array, version);
	for (int64 i = 0; i < length; i++)
	{
		if (array->null[i])
			array->text[i] = "null";
	}
}

/* ------------------------------------------------------------ the reader's answer */

/* What hostile files make endless is cut off here. */
#define MOST_ELEMENTS 2000
static int	elements_left;

static void append_element(StringInfo text, ArrowVector *vector, int64 i);

static void
append_elements(StringInfo text, ArrowVector *child, int64 from, int64 to)
{
	appendStringInfoChar(text, '[');
	for (int64 k = from; k < to && elements_left > 0; k++)
	{
		if (k > from)
			appendStringInfoChar(text, ',');
		append_element(text, child, k);
	}
	appendStringInfoChar(text, ']');
}

static void
append_value(StringInfo text, ArrowVector *vector, int64 i)
{
	int64		from;
	int64		to;
	int			c;
	ArrowBytes	bytes;

	switch (vector->field->type)
	{
		case ARROW_NULL:
			appendStringInfoString(text, "null");
			break;
		case ARROW_BOOL:
			appendStringInfoString(text, arrow_bool(vector, i) ? "t" : "f");
			break;
		case ARROW_INT:
			appendStringInfoString(text, number_text(arrow_fixed(vector, i), vector->field->bit_width,
													 vector->field->is_signed));
			break;
		case ARROW_UTF8:
		case ARROW_LARGE_BINARY:
		case ARROW_UTF8_VIEW:
		case ARROW_FIXED_SIZE_BINARY:
			bytes = arrow_bytes(vector, i);
			appendStringInfoString(text, hex(bytes.data, bytes.length));
			break;
		case ARROW_LIST:
		case ARROW_LARGE_LIST:
		case ARROW_MAP:
		case ARROW_LIST_VIEW:
		case ARROW_LARGE_LIST_VIEW:
		case ARROW_FIXED_SIZE_LIST:
			arrow_list_range(vector, i, &from, &to);
			append_elements(text, &vector->children[0], from, to);
			break;
		case ARROW_STRUCT:
			appendStringInfoChar(text, '{');
			for (c = 0; c < vector->nchildren; c++)
			{
				if (c > 0)
					appendStringInfoChar(text, ',');
				append_element(text, &vector->children[c], i);
			}
			appendStringInfoChar(text, '}');
			break;
		case ARROW_UNION:
			arrow_union_element(vector, i, &c, &from);
			appendStringInfo(text, "%d:", c);
			append_element(text, &vector->children[c], from);
			break;
		case ARROW_RUN_END_ENCODED:
			append_element(text, &vector->children[1], arrow_run_element(vector, i));
			break;
		default:
			appendStringInfoString(text, hex(arrow_fixed(vector, i), vector->width));
	}
}

static void
append_element(StringInfo text, ArrowVector *vector, int64 i)
{
	elements_left--;
	if (arrow_is_null(vector, i))
		appendStringInfoString(text, "null");
	else if (vector->field->has_dictionary)
	{
		int64		element;
		ArrowVector *part = arrow_dictionary_entry(vector->dictionary, arrow_index(vector, i), &element);

		append_element(text, part, element);
	}
	else
		append_value(text, vector, i);
}

/* Make a vector's dictionary of its parts, which are written to files of their own. */
static void give_dictionaries(ArrowVector *vector, const Array *array, int version,
							  ArrowCompression compression, size_t block);

static void
set_array(ArrowVector *vector, const Array *array, int version, ArrowCompression compression, size_t block)
{
	Output	   *output = write_batch(array, version, compression);
	SourceFile *file = open_bytes(output->bytes.data, output->bytes.len);

	arrow_vector_set(vector, file, &output->batch, output->body, 0, 0, 0);
	give_dictionaries(vector, array, version, compression, block);
}

static ArrowVector *
open_array(const Array *array, int version, ArrowCompression compression, size_t block, int64 *reads)
{
	ArrowVector *vector = arrow_vector_create(array->field, version, block, reads);

	set_array(vector, array, version, compression, block);
	return vector;
}

static void
give_dictionaries(ArrowVector *vector, const Array *array, int version,
				  ArrowCompression compression, size_t block)
{
	for (int i = 0; i < array->nchildren; i++)
		give_dictionaries(&vector->children[i], &array->children[i], version, compression, block);
	if (array->nparts > 0)
	{
		ArrowDictionary *dictionary = palloc0(sizeof(ArrowDictionary));

		dictionary->nparts = array->nparts;
		dictionary->parts = palloc(sizeof(ArrowVector *) * array->nparts);
		dictionary->part_end = palloc(sizeof(int64) * array->nparts);
		for (int p = 0; p < array->nparts; p++)
		{
			dictionary->parts[p] = open_array(&array->parts[p], version, compression, block, NULL);
			arrow_vector_set_whole(dictionary->parts[p]);
			arrow_vector_load(dictionary->parts[p], 0, array->parts[p].length);
			arrow_dictionary_measure(dictionary, dictionary->parts[p]);
			dictionary->length += array->parts[p].length;
			dictionary->part_end[p] = dictionary->length;
		}
		vector->dictionary = dictionary;
	}
}

/* ------------------------------------------------------------ fields */

static ArrowField *
field_of(ArrowTypeId type, int nchildren, ...)
{
	ArrowField *field = palloc0(sizeof(ArrowField));
	va_list		args;

	field->name = "f";
	field->nullable = true;
	field->type = type;
	field->nchildren = nchildren;
	field->children = palloc0(sizeof(ArrowField) * Max(nchildren, 1));
	va_start(args, nchildren);
	for (int i = 0; i < nchildren; i++)
		field->children[i] = *va_arg(args, ArrowField *);
	va_end(args);
	return field;
}

static ArrowField *
number_field(ArrowTypeId type, int bits, bool is_signed)
{
	ArrowField *field = field_of(type, 0);

	field->bit_width = bits;
	field->is_signed = is_signed;
	return field;
}

static ArrowField *
run_field(int bits, ArrowField *values)
{
	ArrowField *ends = number_field(ARROW_INT, bits, true);

	ends->nullable = false;
	return field_of(ARROW_RUN_END_ENCODED, 2, ends, values);
}

static ArrowField *
sized_field(ArrowTypeId type, int size, ArrowField *child)
{
	ArrowField *field = child ? field_of(type, 1, child) : field_of(type, 0);

	field->list_size = size;
	field->byte_width = size;
	return field;
}

static ArrowField *
union_field(bool dense, ArrowField *a, ArrowField *b, ArrowField *c)
{
	ArrowField *field = field_of(ARROW_UNION, 3, a, b, c);
	static int	type_ids[] = {7, 0, 127};

	field->dense_union = dense;
	field->ntype_ids = 3;
	field->type_ids = type_ids;
	return field;
}

static ArrowField *
dictionary_field(int bits, bool is_signed, ArrowField *values)
{
	values->has_dictionary = true;
	values->index_bits = bits;
	values->index_signed = is_signed;
	return values;
}

typedef struct Subject
{
	const char *name;
	ArrowField *field;
} Subject;

#define INT32 number_field(ARROW_INT, 32, true)
#define STRING field_of(ARROW_UTF8, 0)
#define VIEW field_of(ARROW_UTF8_VIEW, 0)

static Subject *
all_subjects(int *n)
{
	Subject	   *subjects = palloc(sizeof(Subject) * 100);

	*n = 0;
#define ADD(n_, f_) (subjects[(*n)++] = (Subject){n_, f_})
	ADD("null", field_of(ARROW_NULL, 0));
	ADD("bool", field_of(ARROW_BOOL, 0));
	ADD("int8", number_field(ARROW_INT, 8, true));
	ADD("uint8", number_field(ARROW_INT, 8, false));
	ADD("int16", number_field(ARROW_INT, 16, true));
	ADD("int32", INT32);
	ADD("uint64", number_field(ARROW_INT, 64, false));
	ADD("float64", number_field(ARROW_FLOATING_POINT, 64, true));
	ADD("decimal128", number_field(ARROW_DECIMAL, 128, true));
	ADD("decimal256", number_field(ARROW_DECIMAL, 256, true));
	ADD("interval", number_field(ARROW_INTERVAL, 128, true));
	ADD("fixed-size binary", sized_field(ARROW_FIXED_SIZE_BINARY, 5, NULL));
	ADD("fixed-size binary of nothing", sized_field(ARROW_FIXED_SIZE_BINARY, 0, NULL));
	ADD("string", STRING);
	ADD("large binary", field_of(ARROW_LARGE_BINARY, 0));
	ADD("string view", VIEW);
	ADD("list of int32", field_of(ARROW_LIST, 1, INT32));
	ADD("list of null", field_of(ARROW_LIST, 1, field_of(ARROW_NULL, 0)));
	ADD("large list of strings", field_of(ARROW_LARGE_LIST, 1, STRING));
	ADD("list of lists of views", field_of(ARROW_LIST, 1, field_of(ARROW_LIST, 1, VIEW)));
	ADD("map", field_of(ARROW_MAP, 1, field_of(ARROW_STRUCT, 2, STRING, INT32)));
	ADD("list view of strings", field_of(ARROW_LIST_VIEW, 1, STRING));
	ADD("large list view of list views",
		field_of(ARROW_LARGE_LIST_VIEW, 1, field_of(ARROW_LIST_VIEW, 1, VIEW)));
	ADD("fixed-size list", sized_field(ARROW_FIXED_SIZE_LIST, 3, STRING));
	ADD("fixed-size list of nothing", sized_field(ARROW_FIXED_SIZE_LIST, 0, STRING));
	ADD("struct", field_of(ARROW_STRUCT, 3, STRING, field_of(ARROW_BOOL, 0),
						   field_of(ARROW_STRUCT, 1, field_of(ARROW_LIST, 1, INT32))));
	ADD("sparse union", union_field(false, INT32, STRING, field_of(ARROW_LIST, 1, VIEW)));
	ADD("dense union", union_field(true, INT32, STRING, field_of(ARROW_LIST, 1, VIEW)));
	ADD("list of dense unions", field_of(ARROW_LIST, 1, union_field(true, INT32, STRING, VIEW)));
	ADD("runs of int16", run_field(16, STRING));
	ADD("runs of int32", run_field(32, field_of(ARROW_LIST, 1, INT32)));
	ADD("runs of int64", run_field(64, VIEW));
	ADD("list of runs", field_of(ARROW_LIST, 1, run_field(32, STRING)));
	ADD("dictionary, int8", dictionary_field(8, true, STRING));
	ADD("dictionary, uint8", dictionary_field(8, false, VIEW));
	ADD("dictionary, int16", dictionary_field(16, true, field_of(ARROW_LIST, 1, INT32)));
	ADD("dictionary, uint16", dictionary_field(16, false, INT32));
	ADD("dictionary, int32", dictionary_field(32, true, field_of(ARROW_STRUCT, 1, VIEW)));
	ADD("dictionary, uint32", dictionary_field(32, false, STRING));
	ADD("dictionary, int64", dictionary_field(64, true, STRING));
	ADD("dictionary, uint64", dictionary_field(64, false, sized_field(ARROW_FIXED_SIZE_BINARY, 4, NULL)));
	ADD("dictionary of dictionaries",
		dictionary_field(8, true, field_of(ARROW_LIST, 1, dictionary_field(16, true, STRING))));
	ADD("list of a dictionary", field_of(ARROW_LIST, 1, dictionary_field(8, true, STRING)));
#undef ADD
	return subjects;
}

/* ------------------------------------------------------------ random arrays */

typedef struct Round
{
	const ArrowField *field;
	int			version;
	ArrowCompression compression;
	size_t		block;
	char		failure[2000];
} Round;

static bool
slice_is_right(Round *round, ArrowVector *vector, const Array *array, int64 from, int64 to)
{
	StringInfoData text;

	arrow_vector_load(vector, from, to);
	initStringInfo(&text);
	for (int64 i = from; i < to; i++)
	{
		elements_left = 1000000;
		resetStringInfo(&text);
		append_element(&text, vector, i);
		if (strcmp(text.data, array->text[i]) != 0)
		{
			snprintf(round->failure, sizeof(round->failure), "element %lld of [%lld, %lld): %.600s, not %.600s",
					 (long long) i, (long long) from, (long long) to, text.data, array->text[i]);
			return false;
		}
	}
	return true;
}

/* The batch must also be one that arrow_batch_check finds right. */
static bool
batch_is_right(Round *round, const Array *array)
{
	Output	   *output = write_batch(array, round->version, round->compression);
	ArrowSchema schema = {.nfields = 1, .fields = (ArrowField *) round->field};
	const char *reason;
	int			nodes;
	int			buffers;
	int64		variadic = 0;

	if (!arrow_batch_check(&schema, &output->batch, output->bytes.len - output->body, &reason))
	{
		snprintf(round->failure, sizeof(round->failure), "check: %s", reason);
		return false;
	}
	arrow_vector_footprint(round->field, round->version, &nodes, &buffers);
	for (int i = 0; i < output->batch.nvariadic; i++)
		variadic += output->variadic[i];
	if (nodes == output->batch.nnodes && buffers + variadic == output->batch.nbuffers)
		return true;
	snprintf(round->failure, sizeof(round->failure), "footprint: %d nodes, %d buffers", nodes, buffers);
	return false;
}

/* From the beginning to the end, in slices that fit into some bytes. */
static bool
forward_is_right(Round *round, ArrowVector *vector, const Array *array)
{
	for (int64 from = 0; from < array->length;)
	{
		size_t		budget = 8 << random_below(12);
		int64		n = arrow_vector_extent(vector, from, array->length, budget);

		if (n < 1 || n > array->length - from)
		{
			snprintf(round->failure, sizeof(round->failure), "extent %lld", (long long) n);
			return false;
		}
		if (!slice_is_right(round, vector, array, from, from + n))
			return false;
		from += n;
	}
	return true;
}

static bool
jumps_are_right(Round *round, ArrowVector *vector, const Array *array)
{
	for (int k = 0; k < 8; k++)
	{
		int64		from = random_below(array->length + 1);
		int64		to = from + random_below(array->length - from + 1);

		if (!slice_is_right(round, vector, array, from, to))
			return false;
	}
	return true;
}

/* Several record batches, one after the other, with the same vector. */
static void
read_array(void *argument)
{
	static const int64 lengths[] = {0, 1, 7, 64, 65, 300};
	Round	   *round = argument;
	int64		reads = 0;
	ArrowVector *vector = arrow_vector_create(round->field, round->version, round->block, &reads);

	for (int n = 0; n < 3; n++)
	{
		Array		array = {0};

		make_array(&array, round->field, lengths[random_below(lengthof(lengths))], round->version);
		if (!batch_is_right(round, &array))
			return;
		set_array(vector, &array, round->version, round->compression, round->block);
		if ((one_in(2) && !jumps_are_right(round, vector, &array)) ||
			!forward_is_right(round, vector, &array) ||
			!jumps_are_right(round, vector, &array) ||
			!forward_is_right(round, vector, &array))
			return;
		if (one_in(3))
			arrow_vector_release(vector);
		if (!slice_is_right(round, vector, &array, 0, array.length) ||
			!jumps_are_right(round, vector, &array))
			return;
		if (one_in(4))
			round->compression = (ArrowCompression) random_below(3);
		if (one_in(4))
			round->version = random_below(2) ? ARROW_V4 : ARROW_V5;
	}
}

static bool
in_own_context(void (*body) (void *), void *argument)
{
	MemoryContext context = AllocSetContextCreate(TopMemoryContext, "round", ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	bool		done = server_stub_try(body, argument);

	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);
	return done;
}

static void
test_random_arrays(uint64 seed, int rounds)
{
	static const size_t blocks[] = {1, 64, 200, 1000, 65536};
	int			n;
	Subject	   *subjects = all_subjects(&n);
	int			contexts = server_stub_contexts();

	for (int s = 0; s < n; s++)
	{
		int			failed = 0;

		for (int i = 0; i < rounds; i++)
		{
			Round		round = {
				.field = subjects[s].field,
				.version = i % 2 ? ARROW_V5 : ARROW_V4,
				.compression = (ArrowCompression) (i / 2 % 3)
			};
			uint64		start = seed * 1000003 + s * 1009 + i + 1;

			random_state = start * UINT64CONST(0x9E3779B97F4A7C15);
			round.block = blocks[random_below(lengthof(blocks))];
			if (!in_own_context(read_array, &round))
				snprintf(round.failure, sizeof(round.failure), "%s: %s",
						 server_stub_error.message, server_stub_error.detail);
			if (round.failure[0] != '\0' && failed++ < 3)
				tap_note("seed %llu round %d, version %d, compression %d, block %zu: %s",
						 (unsigned long long) seed, i, round.version, round.compression, round.block,
						 round.failure);
		}
		tap_ok(failed == 0, "%s: %d random arrays are read as they were written (seed %llu)",
			   subjects[s].name, rounds, (unsigned long long) seed);
	}
	tap_is_int(server_stub_contexts(), contexts, "no memory context is left");
	tap_is_int(source_file_open_count(), 0, "no file is left open");
}

/* ------------------------------------------------------------ hostile files */

typedef struct Attack
{
	const ArrowField *field;
	int			version;
	ArrowCompression compression;
	Array		array;
	Output	   *output;
} Attack;

static void
read_hostile(void *argument)
{
	Attack	   *attack = argument;
	Output	   *output = attack->output;
	SourceFile *file = open_bytes(output->bytes.data, output->bytes.len);
	ArrowVector *vector = arrow_vector_create(attack->field, attack->version, 64, NULL);
	StringInfoData text;
	int64		length;

	initStringInfo(&text);
	arrow_vector_set(vector, file, &output->batch, output->body, 0, 0, 0);
	give_dictionaries(vector, &attack->array, attack->version, ARROW_UNCOMPRESSED, 64);
	elements_left = MOST_ELEMENTS;
	length = Min(vector->length, 100);
	for (int64 from = 0; from < length && elements_left > 0;)
	{
		int64		to = from + arrow_vector_extent(vector, from, length, 100);

		arrow_vector_load(vector, from, to);
		for (; from < to && elements_left > 0; from++)
		{
			resetStringInfo(&text);
			append_element(&text, vector, from);
		}
	}
	elements_left = MOST_ELEMENTS;
	arrow_vector_load(vector, 0, length);
	for (int64 i = 0; i < length && elements_left > 0; i++)
		append_element(&text, vector, i);
}

static const int64 extremes[] = {
	0, 1, -1, 13, 100, PG_INT32_MAX, PG_INT32_MIN, 0x01010101, 1000000
};

static const int64 wide_extremes[] = {
	0, 1, -1, 8, 19, 64, 1000, PG_INT64_MAX, PG_INT64_MIN, PG_INT32_MAX, INT64CONST(1) << 61
};

/* Attack with one number changed; is it an error of the right kind, or none? */
static void
strike(Attack *attack, int *strikes, int *errors, int *odd)
{
	(*strikes)++;
	if (in_own_context(read_hostile, attack))
		return;
	(*errors)++;
	if (server_stub_error.sqlerrcode == ERRCODE_DATA_CORRUPTED && strstr(server_stub_error.message, "\"batch\""))
		return;
	if (server_stub_error.sqlerrcode == ERRCODE_PROGRAM_LIMIT_EXCEEDED)
		return;
	if ((*odd)++ < 3)
		tap_note("%s: %s", server_stub_error.message, server_stub_error.detail);
}

static void
strike_numbers(Attack *attack, int64 *number, int *strikes, int *errors, int *odd)
{
	int64		was = *number;

	for (size_t e = 0; e < lengthof(wide_extremes); e++)
	{
		*number = wide_extremes[e];
		strike(attack, strikes, errors, odd);
	}
	*number = was;
}

static void
prepare_attack(Attack *attack)
{
	memset(&attack->array, 0, sizeof(Array));
	make_array(&attack->array, attack->field, 12, attack->version);
	attack->output = write_batch(&attack->array, attack->version, attack->compression);
}

/*
 * What is checked against the schema and the body before any vector is told,
 * offsets and variadic counts that are negative, does not come here.
 */
static void
test_hostile(void)
{
	int			n;
	Subject	   *subjects = all_subjects(&n);

	for (int s = 0; s < n; s++)
	{
		int			strikes = 0;
		int			errors = 0;
		int			odd = 0;

		for (int kind = 0; kind < 3; kind++)
		{
			Attack		attack = {
				.field = subjects[s].field,
				.version = kind == 0 ? ARROW_V4 : ARROW_V5,
				.compression = kind == 1 ? ARROW_LZ4_FRAME : kind == 2 ? ARROW_ZSTD : ARROW_UNCOMPRESSED
			};
			MemoryContext context = AllocSetContextCreate(TopMemoryContext, "attack", ALLOCSET_DEFAULT_SIZES);
			MemoryContext old = MemoryContextSwitchTo(context);
			Output	   *output;
			int			step = 4;

			random_state = UINT64CONST(88172645463325252) + s * 17 + kind;
			prepare_attack(&attack);
			output = attack.output;
			step = Max(output->bytes.len / 200 * 4, 4);
			for (int at = (int) output->body; at + 4 <= output->bytes.len; at += step)
			{
				char	   *place = output->bytes.data + at;
				char		was[4];

				memcpy(was, place, 4);
				for (size_t e = 0; e < lengthof(extremes); e++)
				{
					memcpy(place, &extremes[e], 4);
					strike(&attack, &strikes, &errors, &odd);
				}
				memcpy(place, was, 4);
			}
			for (int i = 0; i < output->batch.nnodes; i++)
			{
				strike_numbers(&attack, &output->nodes[i].length, &strikes, &errors, &odd);
				strike_numbers(&attack, &output->nodes[i].null_count, &strikes, &errors, &odd);
			}
			for (int i = 0; i < output->batch.nbuffers; i++)
			{
				strike_numbers(&attack, &output->buffers[i].length, &strikes, &errors, &odd);
			}
			for (int i = 0; i < output->batch.nvariadic; i++)
				strike_numbers(&attack, &output->variadic[i], &strikes, &errors, &odd);
			MemoryContextSwitchTo(old);
			MemoryContextDelete(context);
		}
		tap_ok(odd == 0 && errors > 0 && strikes > errors, "%s: %d files with one wrong number, %d of them refused",
			   subjects[s].name, strikes, errors);
	}
}

/* ------------------------------------------------------------ what errors say */

/* An array with one thing wrong, which a test has put there. */
static void
message_is(Attack *attack, const char *message, const char *detail)
{
	bool		refused;

	attack->output = write_batch(&attack->array, attack->version, ARROW_UNCOMPRESSED);
	refused = !in_own_context(read_hostile, attack);
	tap_is_string(refused ? server_stub_error.message : "no error", message, detail);
	tap_is_string(refused ? server_stub_error.detail : "no error", detail, "... and where");
}

/* An array of 12 elements without nulls, all of the children's neither */
static void
plain_attack(Attack *attack, ArrowField *field, int version)
{
	field->nullable = false;
	for (int i = 0; i < field->nchildren; i++)
		field->children[i].nullable = false;
	attack->field = field;
	attack->version = version;
	memset(&attack->array, 0, sizeof(Array));
	random_state = 4711;
	make_array(&attack->array, field, 12, version);
}

static void
test_messages(void)
{
	static const char *const damaged = "Arrow data in file \"batch\" is damaged";
	Attack		attack = {0};
	Array	   *array = &attack.array;
	ArrowField *list = field_of(ARROW_LIST, 1, STRING);

	list->children[0].name = "item";
	plain_attack(&attack, list, ARROW_V5);
	for (int64 i = 0; i <= 12; i++)
		put(&array->buffers[0], 4, i, 0);
	array->children[0].length = 3;
	put(&array->buffers[0], 4, 12, 3);
	for (int64 i = 0; i <= 3; i++)
		put(&array->children[0].buffers[0], 4, i, 5 - i);
	message_is(&attack, damaged, psprintf("Field \"f.item\", element 1: its offsets 5 and 4 do not lie within %lld.",
										  (long long) array->children[0].buffers[1].length));

	plain_attack(&attack, INT32, ARROW_V5);
	array->buffers[0].length = 47;
	message_is(&attack, damaged, "Field \"f\": a buffer of 47 bytes is too short for 12 elements.");

	plain_attack(&attack, INT32, ARROW_V5);
	array->null_count = 1;
	message_is(&attack, damaged, "Field \"f\": a buffer of 0 bytes is too short for 12 elements.");

	plain_attack(&attack, union_field(true, INT32, STRING, VIEW), ARROW_V5);
	put(&array->buffers[0], 1, 3, 8);
	message_is(&attack, damaged, "Field \"f\", element 4: its type number 8 is not one of the union's.");

	plain_attack(&attack, run_field(32, INT32), ARROW_V5);
	put(&array->children[0].buffers[0], 4, 0, 0);
	put(&array->children[0].buffers[0], 4, 1, -5);
	put(&array->children[0].buffers[0], 4, 2, 4);
	put(&array->children[0].buffers[0], 4, 3, 4);
	message_is(&attack, damaged, "Field \"f\": run 1 ends at element 0, which is not behind 0.");

	plain_attack(&attack, run_field(32, INT32), ARROW_V5);
	put(&array->children[0].buffers[0], 4, 0, 2);
	put(&array->children[0].buffers[0], 4, 1, 3);
	put(&array->children[0].buffers[0], 4, 2, 4);
	put(&array->children[0].buffers[0], 4, 3, 4);
	message_is(&attack, damaged, "Field \"f\": run 4 ends at element 4, which is not behind 4.");

	plain_attack(&attack, run_field(16, INT32), ARROW_V5);
	for (int64 k = 0; k < array->children[0].length; k++)
		put(&array->children[0].buffers[0], 2, k, k + 1);
	put(&array->children[0].buffers[0], 2, array->children[0].length - 1, 11);
	message_is(&attack, damaged, "Field \"f\", element 12: no run reaches it.");

	plain_attack(&attack, sized_field(ARROW_FIXED_SIZE_LIST, 3, INT32), ARROW_V5);
	array->children[0].length = 35;
	message_is(&attack, damaged, "Field \"f\": 12 lists of 3 elements need more than there are, 35.");

	plain_attack(&attack, dictionary_field(8, true, INT32), ARROW_V5);
	put(&array->buffers[0], 1, 11, -1);
	message_is(&attack, damaged, psprintf("Field \"f\", element 12: entry -1 of a dictionary that has %lld.",
										  (long long) (array->parts[0].length +
													   (array->nparts > 1 ? array->parts[1].length : 0) +
													   (array->nparts > 2 ? array->parts[2].length : 0))));

	plain_attack(&attack, VIEW, ARROW_V5);
	put(&array->buffers[0], 4, 0, 13);
	put(&array->buffers[0], 4, 2, array->nvariadic);
	message_is(&attack, damaged, psprintf("Field \"f\", element 1: it lies in data buffer %d of %d.",
										  array->nvariadic, array->nvariadic));

	/* more than a value can have, as a compressed buffer may claim for nothing */
	plain_attack(&attack, field_of(ARROW_LARGE_BINARY, 0), ARROW_V5);
	put(&array->buffers[0], 8, 12, INT64CONST(3000000000));
	attack.output = write_batch(array, ARROW_V5, ARROW_UNCOMPRESSED);
	attack.output->batch.compression = ARROW_ZSTD;
	attack.output->bytes.len = (int) attack.output->body;
	attack.output->batch.nbuffers = attack.output->batch.nnodes = 0;
	do
	{
		attack.output->batch.nbuffers = attack.output->batch.nnodes = 0;
		attack.output->bytes.len = (int) attack.output->body;
		write_node(attack.output, array);
		put(&(Bytes){attack.output->bytes.data + attack.output->body + attack.output->buffers[2].offset, 8},
			8, 0, INT64CONST(3000000000));
	} while (memcmp(attack.output->bytes.data + attack.output->body + attack.output->buffers[2].offset + 8,
					"\x28\xb5\x2f\xfd", 4) != 0);
	tap_ok(!in_own_context(read_hostile, &attack) &&
		   server_stub_error.sqlerrcode == ERRCODE_PROGRAM_LIMIT_EXCEEDED &&
		   strstr(server_stub_error.detail, "Field \"f\", element 12: it has 29"),
		   "a value of 3 GB is refused before it is read");
}

/* ------------------------------------------------------------ buffers */

#define BUFFER_BYTES 200000

typedef struct BufferCase
{
	ArrowCompression compression;
	Bytes		plain;
	Bytes		stored;			/* what stands in the file */
	int64		offset;			/* there */
	size_t		block;
	bool		right;
	size_t		most;			/* bytes allocated beyond what the file took */
	int64		reads;
} BufferCase;

static Compression
codec_of(ArrowCompression compression)
{
	return compression == ARROW_LZ4_FRAME ? COMPRESSION_LZ4 :
		compression == ARROW_ZSTD ? COMPRESSION_ZSTD : COMPRESSION_NONE;
}

static SourceFile *
open_stored(const BufferCase *test)
{
	char	   *bytes = palloc0(test->offset + test->stored.length + 10);
	SourceFile *file;

	memset(bytes, 'y', test->offset + test->stored.length + 10);
	memcpy(bytes + test->offset, test->stored.data, test->stored.length);
	file = open_bytes(bytes, test->offset + test->stored.length + 10);
	pfree(bytes);
	return file;
}

static void
read_randomly(void *argument)
{
	BufferCase *test = argument;
	SourceFile *file = open_stored(test);
	ArrowBuffer buffer;
	int64		at = 0;

	arrow_buffer_init(&buffer, CurrentMemoryContext, test->block, &test->reads);
	for (int pass = 0; pass < 2; pass++)
	{
		arrow_buffer_set(&buffer, file, test->offset, test->stored.length, codec_of(test->compression));
		test->right = buffer.size == test->plain.length;
		for (int k = 0; k < 300 && test->right; k++)
		{
			int64		length = one_in(20) ? random_below(BUFFER_BYTES / 4) : random_below(500);
			const char *got;

			at = one_in(10) ? random_below(BUFFER_BYTES) : at + random_below(900);
			if (at >= BUFFER_BYTES)
				at = 0;
			length = Min(length, BUFFER_BYTES - at);
			got = arrow_buffer_read(&buffer, at, length);
			test->right = memcmp(got, test->plain.data + at, length) == 0 &&
				(length == 0 || ((uintptr_t) got - at) % 64 == 0);

			/* the slack may be read, as a sanitizer sees */
			for (int i = 0; i < ARROW_BUFFER_SLACK; i++)
				test->reads += ((const volatile char *) got)[length + i] & 0;
			if (one_in(100))
				arrow_buffer_rest(&buffer);
			if (one_in(100))
				arrow_buffer_release(&buffer);
		}
	}
	arrow_buffer_release(&buffer);
}

static void
read_all(void *argument)
{
	BufferCase *test = argument;
	SourceFile *file = open_stored(test);
	size_t		before = server_stub_allocated();
	ArrowBuffer buffer;

	arrow_buffer_init(&buffer, CurrentMemoryContext, test->block, &test->reads);
	arrow_buffer_set(&buffer, file, test->offset, test->stored.length, codec_of(test->compression));
	for (int64 at = 0; at < buffer.size; at += 100)
	{
		arrow_buffer_read(&buffer, at, Min(100, buffer.size - at));
		test->most = Max(test->most, server_stub_allocated() - before);
	}
	arrow_buffer_read(&buffer, 0, buffer.size / 2);
	test->right = server_stub_allocated() - before > (size_t) buffer.size / 2;
	arrow_buffer_read(&buffer, buffer.size - 5000, 10);
	test->right = test->right && server_stub_allocated() - before <= test->most + 1000;
}

static void
read_whole(void *argument)
{
	BufferCase *test = argument;
	ArrowBuffer buffer;

	arrow_buffer_init(&buffer, CurrentMemoryContext, test->block, NULL);
	arrow_buffer_set(&buffer, open_stored(test), test->offset, test->stored.length,
					 codec_of(test->compression));
	arrow_buffer_read(&buffer, 0, buffer.size);
}

static void
read_halves(void *argument)
{
	BufferCase *test = argument;
	int64		half = test->plain.length / 2;
	ArrowBuffer buffer;

	arrow_buffer_init(&buffer, CurrentMemoryContext, test->block, NULL);
	arrow_buffer_set(&buffer, open_stored(test), test->offset, test->stored.length,
					 codec_of(test->compression));
	test->right = memcmp(arrow_buffer_read(&buffer, 3, half), test->plain.data + 3, half) == 0 &&
		memcmp(arrow_buffer_read(&buffer, half, half), test->plain.data + half, half) == 0 &&
		memcmp(arrow_buffer_read(&buffer, 0, 2 * half), test->plain.data, 2 * half) == 0;
}

static void
read_beyond(void *argument)
{
	BufferCase *test = argument;
	ArrowBuffer buffer;

	arrow_buffer_init(&buffer, CurrentMemoryContext, test->block, NULL);
	arrow_buffer_set(&buffer, open_stored(test), test->offset, test->stored.length,
					 codec_of(test->compression));
	arrow_buffer_read(&buffer, 5, buffer.size - 4);
}

/* The same data, not all the same and not all chance */
static void
fill_case(BufferCase *test, ArrowCompression compression)
{
	test->compression = compression;
	test->offset = random_below(100);
	test->plain = new_bytes(BUFFER_BYTES);
	for (int64 i = 0; i < BUFFER_BYTES; i++)
		test->plain.data[i] = (char) (i % 7 ? i / 100 : (int64) random_next());
	test->stored = test->plain;
	if (compression != ARROW_UNCOMPRESSED)
		test->stored = compressed(test->plain, compression);
}

static void
is_refused(BufferCase *test, void (*body) (void *), const char *detail, const char *name)
{
	bool		refused = !in_own_context(body, test);

	tap_ok(refused && server_stub_error.sqlerrcode == ERRCODE_DATA_CORRUPTED &&
		   strcmp(server_stub_error.message, "Arrow data in file \"batch\" is damaged") == 0 &&
		   strstr(server_stub_error.detail, detail), "%s", name);
	if (!refused || !strstr(server_stub_error.detail, detail))
		tap_note("%s: %s", server_stub_error.message, server_stub_error.detail);
}

/* A window for compressed bytes grows as they come. */
static void
test_large_reads(void)
{
	BufferCase	test = {.block = 5000};

	for (int c = 0; c < 3; c++)
	{
		test.compression = (ArrowCompression) c;
		test.plain = new_bytes(10000000);
		for (int64 i = 0; i < test.plain.length; i++)
			test.plain.data[i] = (char) (i / 11);
		test.stored = c > 0 ? compressed(test.plain, test.compression) : test.plain;
		test.right = false;
		tap_ok(in_own_context(read_halves, &test) && test.right, "%d: 10 MB in one piece", c);
	}
}

static void
test_buffers(uint64 seed)
{
	static const char *const names[] = {"stored", "lz4", "zstd"};
	static const size_t blocks[] = {1, 64, 1000, 65536, 1000000};

	for (int c = 0; c < 3; c++)
	{
		BufferCase	test = {0};

		random_state = seed * UINT64CONST(0x9E3779B97F4A7C15) + c;
		for (size_t b = 0; b < lengthof(blocks); b++)
		{
			fill_case(&test, (ArrowCompression) c);
			test.block = blocks[b];
			tap_ok(in_own_context(read_randomly, &test) && test.right,
				   "%s: any range, in blocks of %zu bytes", names[c], blocks[b]);
		}
		do
			fill_case(&test, (ArrowCompression) c);
		while (c > 0 && test.stored.data[0] == -1);
		test.block = 4096;
		test.reads = 0;
		tap_ok(in_own_context(read_all, &test) && test.right, "%s: what a large read took is given back", names[c]);
		tap_ok(c > 0 || test.most < 5000, "%s: a window holds a block, %zu bytes", names[c], test.most);
		tap_ok(test.reads > 10 && test.reads < 300, "%s: %lld reads are counted", names[c], (long long) test.reads);

		is_refused(&test, read_beyond, "are needed", "what is beyond the end");
		if (c == 0)
			continue;
		put(&test.stored, 8, 0, BUFFER_BYTES - 1);
		is_refused(&test, read_all, "has more than 199999 bytes when decompressed", "a length that is too small");
		put(&test.stored, 8, 0, BUFFER_BYTES + 1);
		is_refused(&test, read_all, "has 200000 bytes when decompressed, not 200001", "a length that is too large");
		put(&test.stored, 8, 0, PG_INT64_MAX);
		is_refused(&test, read_whole, "has 200000 bytes when decompressed", "a length beyond all memory");
		put(&test.stored, 8, 0, -2);
		is_refused(&test, read_all, "decompressed length of -2", "a negative length");
		put(&test.stored, 8, 0, BUFFER_BYTES);
		test.stored.data[8] ^= 1;
		is_refused(&test, read_all, "is not compressed with", "another compression");
		test.stored.length = 7;
		is_refused(&test, read_all, "too few", "a length cut off");
	}
}

/* ------------------------------------------------------------ memory */

#define MANY 400000

typedef struct BigRound
{
	ArrowCompression compression;
	bool		right;
	size_t		most;
	int64		reads;
	int64		blocks;			/* that the file has */
} BigRound;

/* Strings of 100 bytes on average in lists of 3; 4 blocks of 16 kB are asked for. */
static void
read_big(void *argument)
{
	BigRound   *round = argument;
	ArrowField *field = field_of(ARROW_LIST, 1, STRING);
	Array		array = {.field = field, .length = MANY / 3, .has_validity = true, .nbuffers = 1};
	Array		child = {.field = &field->children[0], .length = MANY, .has_validity = true, .nbuffers = 2};
	ArrowVector *vector;
	size_t		before;
	int64		at = 0;

	array.nchildren = 1;
	array.children = &child;
	array.buffers[0] = new_bytes(4 * (array.length + 1));
	child.buffers[0] = new_bytes(4 * (MANY + 1));
	for (int64 i = 0; i <= array.length; i++)
		put(&array.buffers[0], 4, i, 3 * i);
	for (int64 i = 0; i < MANY; i++)
		put(&child.buffers[0], 4, i + 1, at += random_below(200));
	child.buffers[1] = new_bytes(at);
	for (int64 i = 0; i < at; i++)
		child.buffers[1].data[i] = (char) (i / 5);

	vector = open_array(&array, ARROW_V5, round->compression, 16384, &round->reads);
	round->blocks = source_file_identity(vector->file)->size / 16384;
	before = server_stub_allocated();
	round->right = true;
	for (int64 from = 0; from < array.length;)
	{
		int64		to = from + arrow_vector_extent(vector, from, array.length, 65536);

		arrow_vector_load(vector, from, to);
		round->right = round->right && (to == array.length || to - from > 100);
		round->most = Max(round->most, server_stub_allocated() - before);
		from = to;
	}
}

static void
test_memory(void)
{
	static const char *const names[] = {"stored", "lz4", "zstd"};

	for (int c = 0; c < 3; c++)
	{
		BigRound	round = {.compression = (ArrowCompression) c};

		random_state = 77 + c;
		bool		done = in_own_context(read_big, &round);

		tap_ok(done && round.right && round.most < 400000,
			   "%s: 40 MB are read with %zu bytes", names[c], round.most);
		tap_ok(round.reads < 5 * round.blocks / 4 + 50, "%s: forward, nothing is read twice: %lld reads, %lld blocks",
			   names[c], (long long) round.reads, (long long) round.blocks);
	}
}

/* ------------------------------------------------------------ what rows share in the file */

#define SHARING	4096

/* Without nulls. */
static Array
plain_array(const ArrowField *field, int64 length)
{
	return (Array){.field = field, .length = length,
		.has_validity = field->type != ARROW_NULL && field->type != ARROW_RUN_END_ENCODED &&
		field->type != ARROW_UNION};
}

static void
put_all(Array *array, int buffer, int width, int64 step)
{
	array->buffers[buffer] = new_bytes(width * (array->length + 1));
	array->buffers[buffer].length = width * array->length;
	array->nbuffers = Max(array->nbuffers, buffer + 1);
	for (int64 i = 0; i < array->length; i++)
		put(&array->buffers[buffer], width, i, i * step);
}

/* n strings of "size" bytes. */
static Array
strings_of(const ArrowField *field, int64 n, int64 size)
{
	Array		array = plain_array(field, n);

	array.nbuffers = 2;
	array.buffers[0] = new_bytes(4 * (n + 1));
	for (int64 i = 0; i <= n; i++)
		put(&array.buffers[0], 4, i, i * size);
	array.buffers[1] = new_bytes(n * size);
	return array;
}

static Array
parent_of(const ArrowField *field, int64 length, Array *children, int nchildren)
{
	Array		array = plain_array(field, length);

	array.children = children;
	array.nchildren = nchildren;
	return array;
}

typedef struct Sharing
{
	const Array *array;
	size_t		budget;
	int64		extent;			/* of all rows */
	bool		load;			/* these rows are to be loaded */
} Sharing;

static void
measure_sharing(void *argument)
{
	Sharing    *sharing = argument;
	ArrowVector *vector = open_array(sharing->array, ARROW_V5, ARROW_UNCOMPRESSED, 4096, NULL);

	sharing->extent = arrow_vector_extent(vector, 0, vector->length, sharing->budget);
	if (sharing->load)
		arrow_vector_load(vector, 0, sharing->extent);
}

/* Between "least" and "most" of the array's rows are to be one slice of 100,000 bytes. */
static void
is_extent(const Array *array, int64 least, int64 most, const char *name)
{
	Sharing		sharing = {.array = array, .budget = 100000, .load = true};
	bool		done = in_own_context(measure_sharing, &sharing);

	tap_ok(done && sharing.extent >= least && sharing.extent <= most, "%s: %lld rows", name,
		   (long long) sharing.extent);
	if (!done)
		tap_note("%s: %s", server_stub_error.message, server_stub_error.detail);
}

static void
is_too_large(const Array *array, const char *detail, const char *name)
{
	Sharing		sharing = {.array = array, .budget = 100000, .load = true};

	tap_ok(!in_own_context(measure_sharing, &sharing) &&
		   strcmp(server_stub_error.message, "a value in file \"batch\" is too large") == 0 &&
		   strstr(server_stub_error.detail, detail) != NULL, "%s is refused before it is read", name);
	if (sharing.extent != 1)
		tap_note("extent %lld, %s: %s", (long long) sharing.extent, server_stub_error.message,
				 server_stub_error.detail);
}

static void
test_shared_lists(void)
{
	ArrowField *numbers = INT32;
	Array		child = plain_array(numbers, 1000);
	Array		texts = strings_of(STRING, 1000, 100);
	Array		views;

	/* all rows the same 1000 numbers: 8 bytes each in a value */
	put_all(&child, 0, 4, 1);
	views = parent_of(field_of(ARROW_LIST_VIEW, 1, numbers), SHARING, &child, 1);
	put_all(&views, 0, 4, 0);
	put_all(&views, 1, 4, 0);
	for (int64 i = 0; i < SHARING; i++)
		put(&views.buffers[1], 4, i, 1000);
	is_extent(&views, 8, 25, "list views of the same 1000 numbers");

	views = parent_of(field_of(ARROW_LIST_VIEW, 1, texts.field), SHARING, &texts, 1);
	put_all(&views, 0, 4, 0);
	put_all(&views, 1, 4, 0);
	for (int64 i = 0; i < SHARING; i++)
		put(&views.buffers[1], 4, i, 10);
	is_extent(&views, 60, 100, "list views of the same 10 strings of 100 bytes");

	/* one number each, in a row */
	child = plain_array(numbers, SHARING);
	put_all(&child, 0, 4, 1);
	views = parent_of(field_of(ARROW_LIST_VIEW, 1, numbers), SHARING, &child, 1);
	put_all(&views, 0, 4, 1);
	put_all(&views, 1, 4, 0);
	for (int64 i = 0; i < SHARING; i++)
		put(&views.buffers[1], 4, i, 1);
	is_extent(&views, SHARING, SHARING, "list views one behind the other");
}

static void
test_shared_elements(void)
{
	ArrowField *text = STRING;
	ArrowField *runs = run_field(32, text);
	Array		run_children[2] = {plain_array(&runs->children[0], 1), strings_of(&runs->children[1], 1, 1000)};
	Array		texts = strings_of(text, 1, 10000);
	Array		empty = plain_array(field_of(ARROW_STRUCT, 0), 3);
	ArrowField *kinds = union_field(true, text, &field_of(ARROW_STRUCT, 1, INT32)->children[0], INT32);
	Array		kind_children[3];
	Array		outer;
	Array		array;

	/* a run of 100 million elements that are 1000 bytes each as they stand in lists */
	run_children[0].nbuffers = 1;
	run_children[0].buffers[0] = new_bytes(4);
	put(&run_children[0].buffers[0], 4, 0, 100000000);
	array = parent_of(runs, 100000000, run_children, 2);
	outer = parent_of(sized_field(ARROW_FIXED_SIZE_LIST, 10, runs), 1000000, &array, 1);
	is_extent(&outer, 5, 10, "lists within one run of a long string");
	is_extent(&array, 100000000, 100000000, "a run itself is one value");

	/* a union's elements that are all the same one */
	kind_children[0] = texts;
	kind_children[1] = plain_array(&kinds->children[1], 0);
	kind_children[2] = plain_array(&kinds->children[2], 0);
	put_all(&kind_children[1], 0, 4, 0);
	put_all(&kind_children[2], 0, 4, 0);
	array = parent_of(kinds, SHARING, kind_children, 3);
	put_all(&array, 0, 1, 0);
	memset(array.buffers[0].data, 7, SHARING);
	put_all(&array, 1, 4, 0);
	is_extent(&array, 5, 10, "a union's elements that are all the same string");

	/* structs without fields take no bytes, and yet they are something in a list */
	empty.length = INT64CONST(3) * SHARING;
	outer = parent_of(sized_field(ARROW_FIXED_SIZE_LIST, 3, (ArrowField *) empty.field), SHARING, &empty, 1);
	is_extent(&outer, 100000 / 24 - 100, SHARING, "lists of nothing");
}

static void
test_long_labels(void)
{
	ArrowField *field = field_of(ARROW_STRUCT, 1, INT32);
	Array		child;
	Array		array;
	char	   *name = palloc(10001);

	memset(name, 'n', 10000);
	name[10000] = '\0';
	field->children[0].name = name;
	child = plain_array(&field->children[0], SHARING);
	put_all(&child, 0, 4, 1);
	array = parent_of(field, SHARING, &child, 1);
	is_extent(&array, 5, 10, "structs with a field's name of 10,000 bytes");
}

static void
test_shared_entries(void)
{
	ArrowField *field = dictionary_field(32, true, STRING);
	Array		part = strings_of(entry_field(field), 60, 1000000);
	Array		small = strings_of(entry_field(field), 60, 1000);
	Array		array = plain_array(field, SHARING);
	Array		list;

	array.nparts = 1;
	array.parts = &part;
	put_all(&array, 0, 4, 0);
	is_extent(&array, SHARING, SHARING, "rows of the same entry of 1 MB");
	for (int64 i = 0; i < SHARING; i++)
		put(&array.buffers[0], 4, i, i / 1000);
	is_extent(&array, 1000, 1000, "rows of entries of 1 MB, 1000 of each");
	for (int64 i = 0; i < SHARING; i++)
		put(&array.buffers[0], 4, i, i == 3000 ? -5 : i / 1000);
	is_extent(&array, 1000, 1000, "before an index that cannot be");

	array.parts = &small;
	for (int64 i = 0; i < SHARING; i++)
		put(&array.buffers[0], 4, i, i % 60);
	is_extent(&array, SHARING, SHARING, "rows of entries that are kept");
	list = parent_of(sized_field(ARROW_FIXED_SIZE_LIST, 2, field), SHARING / 2, &array, 1);
	is_extent(&list, 30, 50, "lists of them");
}

static void
test_large_values(void)
{
	ArrowField *none = field_of(ARROW_NULL, 0);
	Array		nulls = plain_array(none, INT64CONST(1) << 41);
	Array		list = parent_of(field_of(ARROW_LARGE_LIST, 1, none), 2, &nulls, 1);
	Array		fixed = parent_of(sized_field(ARROW_FIXED_SIZE_LIST, PG_INT32_MAX, none), 100, &nulls, 1);
	list.nbuffers = 1;
	list.buffers[0] = new_bytes(24);
	put(&list.buffers[0], 8, 1, INT64CONST(1) << 40);
	put(&list.buffers[0], 8, 2, INT64CONST(1) << 41);
	is_too_large(&list, "Field \"f\": it has 1099511627776 elements", "a list of 2^40 nulls");
	is_too_large(&fixed, "Field \"f\": it has 2147483647 elements", "a list of 2^31 - 1 nulls");
}

/* ------------------------------------------------------------ beyond 4 GB */

typedef struct Sparse
{
	Array	   *array;
	int			buffer;			/* moved behind a hole, and "longer" bytes longer than it is */
	int64		hole;
	int64		longer;
	int64		from;
	int64		to;
	char	   *text;
} Sparse;

/* The batch of an array, with a hole in front of one buffer's bytes, which are the file's last. */
static SourceFile *
open_sparse(const Output *output, const Sparse *sparse)
{
	ArrowBufferSpec *spec = &output->batch.buffers[sparse->buffer];
	const char *bytes = output->bytes.data + output->body + spec->offset;
	char	   *path = psprintf("%s/batch", scratch);
	int64		at;
	int			fd;

	Assert(sparse->buffer == output->batch.nbuffers - 1);
	(void) unlink(path);
	spec->offset += sparse->hole;
	at = output->body + spec->offset;
	fd = open(path, O_WRONLY | O_CREAT, 0600);
	if (fd < 0 || write(fd, output->bytes.data, at - sparse->hole) != at - sparse->hole ||
		pwrite(fd, bytes, spec->length, at) != spec->length)
		abort();
	spec->length += sparse->longer;
	if (ftruncate(fd, at + spec->length) != 0)
		abort();
	close(fd);
	return source_file_open(&folder, "batch");
}

static void
read_sparse(void *argument)
{
	Sparse	   *sparse = argument;
	Output	   *output = write_batch(sparse->array, ARROW_V5, ARROW_UNCOMPRESSED);
	SourceFile *file = open_sparse(output, sparse);
	ArrowVector *vector = arrow_vector_create(sparse->array->field, ARROW_V5, 4096, NULL);
	int64		from = sparse->from;
	StringInfoData text;

	initStringInfo(&text);
	arrow_vector_set(vector, file, &output->batch, output->body, 0, 0, 0);
	while (from < sparse->to)
	{
		int64		n = arrow_vector_extent(vector, from, sparse->to, 4096);

		arrow_vector_load(vector, from, from + n);
		for (int64 i = from; i < from + n; i++)
			append_element(&text, vector, i);
		from += n;
	}
	sparse->text = MemoryContextStrdup(TopMemoryContext, text.data);
}

static void
test_holes(void)
{
	const int64 hole = INT64CONST(5) << 30;
	Array		numbers = plain_array(number_field(ARROW_INT, 64, true), 3);
	Array		texts = plain_array(field_of(ARROW_LARGE_BINARY, 0), 3);
	Array		list = parent_of(field_of(ARROW_LIST, 1, texts.field), 1, &texts, 1);
	Sparse		sparse = {.array = &numbers, .buffer = 1, .hole = hole, .to = 3};
	struct stat status;

	put_all(&numbers, 0, 8, 1000);
	elements_left = MOST_ELEMENTS;
	tap_ok(in_own_context(read_sparse, &sparse) && strcmp(sparse.text, "010002000") == 0,
		   "numbers more than 4 GB into a body");
	if (stat(psprintf("%s/batch", scratch), &status) != 0)
		abort();
	tap_ok(status.st_size > hole && status.st_blocks < 10000, "in a file that takes no disk");

	/* offsets into one buffer of 5 GB: two values of some bytes around one of 4 GB */
	texts.nbuffers = 2;
	texts.buffers[0] = new_bytes(32);
	put(&texts.buffers[0], 8, 1, 2);
	put(&texts.buffers[0], 8, 2, (INT64CONST(4) << 30) + 2);
	put(&texts.buffers[0], 8, 3, (INT64CONST(4) << 30) + 4);
	texts.buffers[1] = new_bytes(2);
	memcpy(texts.buffers[1].data, "ab", 2);
	sparse = (Sparse){.array = &texts, .buffer = 2, .longer = hole, .from = 2, .to = 3};
	tap_ok(in_own_context(read_sparse, &sparse) && strcmp(sparse.text, "x0000") == 0,
		   "a string more than 4 GB into its buffer");
	sparse.from = 0;
	sparse.to = 1;
	tap_ok(in_own_context(read_sparse, &sparse) && strcmp(sparse.text, "x6162") == 0,
		   "the string in front of one of 4 GB");
	sparse.to = 3;
	tap_ok(!in_own_context(read_sparse, &sparse) &&
		   strcmp(server_stub_error.message, "a value in file \"batch\" is too large") == 0 &&
		   strcmp(server_stub_error.detail, "Field \"f\", element 2: it has 4294967296 bytes.") == 0,
		   "the string of 4 GB is no value");

	/* each of them could be a value, all of them in one list cannot */
	for (int i = 0; i < 3; i++)
		put(&texts.buffers[0], 8, i + 1, (i + 1) * INT64CONST(700000000));
	list.nbuffers = 1;
	list.buffers[0] = new_bytes(8);
	put(&list.buffers[0], 4, 1, 3);
	sparse = (Sparse){.array = &list, .buffer = 4, .longer = hole, .to = 1};
	tap_ok(!in_own_context(read_sparse, &sparse) &&
		   strcmp(server_stub_error.message, "a value in file \"batch\" is too large") == 0 &&
		   strcmp(server_stub_error.detail, "Field \"f.f\": it has 2100000000 bytes.") == 0,
		   "a list of strings of 700 MB is refused before it is read");
}

/* ------------------------------------------------------------ */

int
main(int argc, char **argv)
{
	uint64		seed = random_begin(argc, argv);
	int			rounds = argc > 2 ? atoi(argv[2]) : 24;

	server_stub_init();
	if (mkdtemp(scratch) == NULL)
		abort();
	test_buffers(seed);
	test_large_reads();
	test_random_arrays(seed, rounds);
	test_messages();
	test_hostile();
	test_memory();
	test_shared_lists();
	test_shared_elements();
	test_long_labels();
	test_shared_entries();
	test_large_values();
	test_holes();
	(void) unlink(psprintf("%s/batch", scratch));
	(void) rmdir(scratch);
	return tap_done();
}
