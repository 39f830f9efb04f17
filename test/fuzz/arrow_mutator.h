/*-------------------------------------------------------------------------
 *
 * arrow_mutator.h
 *	  Other files out of an Arrow file, for libFuzzer: bytes changed at random
 *	  break flatbuffers, and most of what there is lies behind them.
 *
 * Half of the time the messages are taken apart, something in one of them is
 * changed that leaves it a message, and all are written again, as a stream or
 * as a file.
 *
 *-------------------------------------------------------------------------
 */
#ifndef OUTERJOIN_ARROW_MUTATOR_H
#define OUTERJOIN_ARROW_MUTATOR_H

#ifdef LIBFUZZER

#include "arrow/arrow_metadata.h"

#define MAX_MESSAGES	64

extern size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
extern size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed);

typedef struct Part
{
	ArrowMessage message;
	char	   *body;
	int64		length;
} Part;

typedef struct Parts
{
	int			n;
	Part		part[MAX_MESSAGES];
} Parts;

static uint64 mutator_state;

static uint32
any_below(uint32 n)
{
	mutator_state = mutator_state * UINT64CONST(6364136223846793005) + UINT64CONST(1442695040888963407);
	return (uint32) (mutator_state >> 33) % Max(n, 1);
}

/* A number that is likely to be wrong somewhere. */
static int64
any_number(int64 near)
{
	static const int64 numbers[] = {
		0, 1, 2, 3, 7, 8, 64, 127, 128, 255, 256, 1000, 65535, 1 << 20, PG_INT32_MAX, (int64) PG_INT32_MAX + 1,
		PG_INT64_MAX / 8, PG_INT64_MAX / 4, PG_INT64_MAX - 7, PG_INT64_MAX, -1, -2, -8, PG_INT32_MIN, PG_INT64_MIN
	};

	switch (any_below(4))
	{
		case 0:
			return numbers[any_below(lengthof(numbers))];
		case 1:
			return near + (int64) any_below(17) - 8;
		case 2:
			return near * 2;
		default:
			return any_below(20);
	}
}

/* The messages from a place on, as far as they are any. */
static void
take_apart(const uint8_t *data, size_t size, size_t at, Parts *parts)
{
	parts->n = 0;
	while (parts->n < MAX_MESSAGES && at + 8 <= size)
	{
		Part	   *part = &parts->part[parts->n];
		uint32		length = byte_load_u32(data + at);
		size_t		prefix = 4;
		const char *reason;

		if (length == 0xFFFFFFFF)
		{
			length = byte_load_u32(data + at + 4);
			prefix = 8;
		}
		if (length == 0 || length > size - at - prefix ||
			!arrow_message_parse(byte_view(data + at + prefix, length), &part->message, &reason) ||
			part->message.body_length > (int64) (size - at - prefix - length))
			break;
		at += prefix + length;
		part->length = part->message.body_length;
		part->body = memcpy(palloc(part->length + 8), data + at, part->length);
		at += part->length;
		if (part->message.kind != ARROW_MESSAGE_OTHER)
			parts->n++;
	}
}

/* ------------------------------------------------------------ changes */

static void
change_field(ArrowField *field)
{
	static const int widths[] = {8, 16, 32, 64};
	static const ArrowTypeId bytes[] = {ARROW_UTF8, ARROW_BINARY, ARROW_LARGE_UTF8, ARROW_LARGE_BINARY,
	ARROW_UTF8_VIEW, ARROW_BINARY_VIEW, ARROW_FIXED_SIZE_BINARY};
	static const ArrowTypeId lists[] = {ARROW_LIST, ARROW_LARGE_LIST, ARROW_LIST_VIEW, ARROW_LARGE_LIST_VIEW,
	ARROW_FIXED_SIZE_LIST, ARROW_STRUCT, ARROW_UNION, ARROW_MAP, ARROW_RUN_END_ENCODED};

	while (field->nchildren > 0 && any_below(3) > 0)
		field = &field->children[any_below(field->nchildren)];
	switch (any_below(8))
	{
		case 0:
			field->bit_width = widths[any_below(lengthof(widths))];
			break;
		case 1:
			field->is_signed = !field->is_signed;
			field->dense_union = !field->dense_union;
			break;
		case 2:
			field->list_size = (int) any_number(field->list_size);
			field->byte_width = (int) any_number(field->byte_width);
			break;
		case 3:
			field->has_dictionary = !field->has_dictionary;
			field->index_bits = widths[any_below(lengthof(widths))];
			break;
		case 4:
			field->dictionary_id = any_below(4);
			field->index_signed = any_below(2) == 0;
			break;
		case 5:
			if (field->nchildren == 0)
				field->type = bytes[any_below(lengthof(bytes))];
			else
				field->type = lists[any_below(lengthof(lists))];
			field->ntype_ids = 0;
			break;
		case 6:
			field->unit = any_below(4);
			field->scale = (int) any_number(field->scale);
			break;
		default:
			field->nullable = !field->nullable;
			if (field->nchildren > 0)
				field->children[any_below(field->nchildren)] = field->children[any_below(field->nchildren)];
			break;
	}
}

static void
change_batch(ArrowBatchSpec *batch)
{
	ArrowNode  *node = batch->nnodes > 0 ? &batch->nodes[any_below(batch->nnodes)] : NULL;
	ArrowBufferSpec *buffer = batch->nbuffers > 0 ? &batch->buffers[any_below(batch->nbuffers)] : NULL;

	switch (any_below(8))
	{
		case 0:
			batch->length = any_number(batch->length);
			for (int i = 0; i < batch->nnodes && any_below(2) == 0; i++)
				batch->nodes[i].length = batch->length;
			break;
		case 1:
			if (node != NULL)
				node->length = any_number(node->length);
			break;
		case 2:
			if (node != NULL)
				node->null_count = any_number(node->length);
			break;
		case 3:
			if (buffer != NULL)
				buffer->length = any_number(buffer->length);
			break;
		case 4:
			if (buffer != NULL)
				buffer->offset = batch->buffers[any_below(batch->nbuffers)].offset;
			break;
		case 5:
			if (buffer != NULL)
				*buffer = batch->buffers[any_below(batch->nbuffers)];
			break;
		case 6:
			batch->compression = any_below(3);
			break;
		default:
			if (batch->nvariadic > 0)
				batch->variadic[any_below(batch->nvariadic)] = any_number(1);
			else if (batch->nbuffers > 0)
				batch->nbuffers--;
			break;
	}
}

/* One number of one buffer, or of any place. */
static void
change_body(Part *part)
{
	const ArrowBatchSpec *batch = &part->message.batch;
	int64		width = INT64CONST(1) << any_below(4);
	int64		from = 0;
	int64		length = part->length;
	int64		old = 0;
	int64		place;

	if (batch->nbuffers > 0)
	{
		const ArrowBufferSpec *buffer = &batch->buffers[any_below(batch->nbuffers)];

		if (buffer->length >= width && buffer->offset >= 0 && buffer->offset <= part->length - buffer->length)
		{
			from = buffer->offset;
			length = buffer->length;
		}
	}
	if (length < width)
		return;
	place = from + width * any_below((uint32) (length / width));
	memcpy(&old, part->body + place, width);
	old = any_number(old);
	memcpy(part->body + place, &old, width);
}

static void
change_order(Parts *parts)
{
	int			from = any_below(parts->n);
	int			to = any_below(parts->n);
	Part		part = parts->part[from];

	if (any_below(2) == 0)
	{
		parts->part[from] = parts->part[to];
		parts->part[to] = part;
	}
	else if (any_below(3) == 0 && parts->n > 1)
		memmove(&parts->part[from], &parts->part[from + 1], sizeof(Part) * (--parts->n - from));
	else if (parts->n < MAX_MESSAGES)
	{
		memmove(&parts->part[to + 1], &parts->part[to], sizeof(Part) * (parts->n++ - to));
		parts->part[to] = part;
	}
}

static void
change_parts(Parts *parts)
{
	Part	   *part = &parts->part[any_below(parts->n)];
	ArrowMessage *message = &part->message;

	if (any_below(8) == 0)
		change_order(parts);
	else if (message->kind == ARROW_MESSAGE_SCHEMA)
	{
		if (message->schema != NULL && message->schema->nfields > 0)
			change_field(&message->schema->fields[any_below(message->schema->nfields)]);
	}
	else if (message->kind == ARROW_MESSAGE_DICTIONARY_BATCH && any_below(4) == 0)
	{
		message->is_delta = any_below(2) == 0;
		message->dictionary_id = any_below(2) == 0 ? message->dictionary_id : any_below(4);
	}
	else if (any_below(2) == 0)
		change_body(part);
	else
		change_batch(&message->batch);
}

/* ------------------------------------------------------------ writing */

static void
put_bytes(StringInfo out, const void *bytes, int64 length)
{
	appendBinaryStringInfo(out, bytes, (int) length);
	while (out->len % 8 != 0)
		appendStringInfoChar(out, '\0');
}

static void
put_together(Parts *parts, bool file, StringInfo out)
{
	ArrowFooter footer = {.version = ARROW_V5};
	ArrowBlock	blocks[2][MAX_MESSAGES];
	uint32		length;
	ByteView	view;

	footer.dictionaries = blocks[0];
	footer.batches = blocks[1];
	if (file)
		put_bytes(out, "ARROW1", 6);
	for (int i = 0; i < parts->n; i++)
	{
		Part	   *part = &parts->part[i];
		ArrowBlock	block = {.offset = out->len,.body_length = TYPEALIGN(8, part->length)};
		uint32		head[2] = {0xFFFFFFFF, 0};

		part->message.body_length = block.body_length;
		view = arrow_message_build(&part->message);
		head[1] = (uint32) view.length;
		put_bytes(out, head, sizeof(head));
		put_bytes(out, view.data, view.length);
		block.metadata_length = (int32) (out->len - block.offset);
		put_bytes(out, part->body, part->length);
		if (part->message.kind == ARROW_MESSAGE_SCHEMA && part->message.schema != NULL)
			footer.schema = *part->message.schema;
		else if (part->message.kind == ARROW_MESSAGE_DICTIONARY_BATCH)
			footer.dictionaries[footer.ndictionaries++] = block;
		else
			footer.batches[footer.nbatches++] = block;
	}
	if (!file)
		return;
	put_bytes(out, "\xFF\xFF\xFF\xFF\0\0\0\0", 8);
	view = arrow_footer_build(&footer);
	appendBinaryStringInfo(out, (const char *) view.data, (int) view.length);
	length = (uint32) view.length;
	appendBinaryStringInfo(out, (char *) &length, sizeof(length));
	appendBinaryStringInfo(out, "ARROW1", 6);
}

/* "data" without the settings in front; 0 if nothing could be done. */
static size_t
mutate_arrow(uint8_t *data, size_t size, size_t max_size)
{
	static Parts parts;
	bool		file = size > 8 && memcmp(data, "ARROW1", 6) == 0;
	StringInfoData out;

	take_apart(data, size, file ? 8 : 0, &parts);
	if (parts.n == 0)
		return 0;
	do
		change_parts(&parts);
	while (any_below(3) == 0);
	initStringInfo(&out);
	put_together(&parts, any_below(16) == 0 ? !file : file, &out);
	if ((size_t) out.len > max_size)
		return 0;
	memcpy(data, out.data, out.len);
	return out.len;
}

typedef struct Mutation
{
	uint8_t    *data;
	size_t		size;
	size_t		max_size;
} Mutation;

static void
mutate_body(void *argument)
{
	Mutation   *mutation = argument;

	mutation->size = mutate_arrow(mutation->data, mutation->size, mutation->max_size);
}

size_t
LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed)
{
	Mutation	mutation = {data + SETTINGS, size - SETTINGS, max_size - SETTINGS};
	MemoryContext context;
	MemoryContext old;

	mutator_state = seed;
	if (size <= SETTINGS || max_size <= SETTINGS || any_below(2) == 0)
		return LLVMFuzzerMutate(data, size, max_size);
	if (TopMemoryContext == NULL)
		server_stub_init();
	context = AllocSetContextCreate(TopMemoryContext, "mutation", ALLOCSET_DEFAULT_SIZES);
	old = MemoryContextSwitchTo(context);
	if (!server_stub_try(mutate_body, &mutation))
		mutation.size = 0;
	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);
	if (mutation.size == 0)
		return LLVMFuzzerMutate(data, size, max_size);
	return SETTINGS + mutation.size;
}

#endif							/* LIBFUZZER */

#endif							/* OUTERJOIN_ARROW_MUTATOR_H */
