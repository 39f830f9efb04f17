/*-------------------------------------------------------------------------
 *
 * arrow_layout.c
 *	  Which nodes and buffers a field has in a batch; see arrow_metadata.h.
 *
 * A batch lists the nodes of all fields, each before its children, and all
 * their buffers in the same order.  Nothing in it says where a field begins:
 * that follows from the schema alone, and from the variadic counts.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "common/int.h"

#include "arrow/arrow_metadata.h"

#define VIEW_BITS		128
#define BUFFER_ALIGNMENT 8

/* ------------------------------------------------------------ one field */

static void
layout_add(ArrowLayout *layout, ArrowBufferKind kind, int64 bits)
{
	Assert(layout->nbuffers < ARROW_MAX_BUFFERS);
	layout->buffers[layout->nbuffers] = kind;
	layout->bits[layout->nbuffers] = bits;
	layout->nbuffers++;
}

/* What the values of a type have besides validity. */
static void
layout_values(ArrowLayout *layout, const ArrowField *field)
{
	switch (field->type)
	{
		case ARROW_BINARY:
		case ARROW_UTF8:
			layout_add(layout, ARROW_OFFSETS, 32);
			layout_add(layout, ARROW_BYTES, 0);
			break;
		case ARROW_LARGE_BINARY:
		case ARROW_LARGE_UTF8:
			layout_add(layout, ARROW_OFFSETS, 64);
			layout_add(layout, ARROW_BYTES, 0);
			break;
		case ARROW_BINARY_VIEW:
		case ARROW_UTF8_VIEW:
			layout_add(layout, ARROW_VIEWS, VIEW_BITS);
			layout->variadic = true;
			break;
		case ARROW_LIST:
		case ARROW_MAP:
			layout_add(layout, ARROW_OFFSETS, 32);
			break;
		case ARROW_LARGE_LIST:
			layout_add(layout, ARROW_OFFSETS, 64);
			break;
		case ARROW_LIST_VIEW:
			layout_add(layout, ARROW_STARTS, 32);
			layout_add(layout, ARROW_SIZES, 32);
			break;
		case ARROW_LARGE_LIST_VIEW:
			layout_add(layout, ARROW_STARTS, 64);
			layout_add(layout, ARROW_SIZES, 64);
			break;
		case ARROW_UNION:
			layout_add(layout, ARROW_TYPE_IDS, 8);
			if (field->dense_union)
				layout_add(layout, ARROW_STARTS, 32);
			break;
		case ARROW_FIXED_SIZE_BINARY:
			layout_add(layout, ARROW_VALUES, (int64) field->byte_width * 8);
			break;
		case ARROW_NULL:
		case ARROW_STRUCT:
		case ARROW_FIXED_SIZE_LIST:
		case ARROW_RUN_END_ENCODED:
			break;
		default:
			layout_add(layout, ARROW_VALUES, field->bit_width);
			break;
	}
}

/* Version 4 gave unions a validity of their own. */
static bool
type_has_validity(ArrowTypeId type, int version)
{
	switch (type)
	{
		case ARROW_NULL:
		case ARROW_RUN_END_ENCODED:
			return false;
		case ARROW_UNION:
			return version < ARROW_V5;
		default:
			return true;
	}
}

ArrowLayout
arrow_field_layout(const ArrowField *field, int version, bool in_dictionary)
{
	ArrowLayout layout = {0};

	if (field->has_dictionary && !in_dictionary)
	{
		layout_add(&layout, ARROW_VALIDITY, 1);
		layout_add(&layout, ARROW_VALUES, field->index_bits);
		return layout;
	}
	if (type_has_validity(field->type, version))
		layout_add(&layout, ARROW_VALIDITY, 1);
	layout_values(&layout, field);
	layout.nchildren = field->nchildren;
	return layout;
}

int
arrow_field_nbuffers(const ArrowField *field, int version)
{
	return arrow_field_layout(field, version, false).nbuffers;
}

bool
arrow_buffer_bytes(const ArrowLayout *layout, int buffer, const ArrowNode *node, int64 *bytes)
{
	ArrowBufferKind kind = layout->buffers[buffer];
	int64		count = node->length;
	int64		bits;

	*bytes = 0;
	if (count == 0 || (kind == ARROW_VALIDITY && node->null_count == 0))
		return true;
	if (kind == ARROW_OFFSETS && pg_add_s64_overflow(count, 1, &count))
		return false;
	if (pg_mul_s64_overflow(count, layout->bits[buffer], &bits))
		return false;
	*bytes = bits / 8 + (bits % 8 != 0);
	return true;
}

/* ------------------------------------------------------------ a batch */

/* Over one node, its buffers with it; false if the batch has not so much. */
static bool
position_step(ArrowPosition *position, const ArrowBatchSpec *batch, const ArrowLayout *layout)
{
	int64		nbuffers = layout->nbuffers;

	if (position->node >= batch->nnodes)
		return false;
	if (layout->variadic)
	{
		int64		more;

		if (position->variadic >= batch->nvariadic)
			return false;
		more = batch->variadic[position->variadic];
		if (more > batch->nbuffers)
			return false;
		nbuffers += more;
		position->variadic++;
	}
	if (nbuffers > batch->nbuffers - position->buffer)
		return false;
	position->node++;
	position->buffer += (int) nbuffers;
	return true;
}

bool
arrow_position_skip(ArrowPosition *position, const ArrowBatchSpec *batch,
					const ArrowField *field, bool in_dictionary)
{
	ArrowLayout layout = arrow_field_layout(field, batch->version, in_dictionary);

	if (!position_step(position, batch, &layout))
		return false;
	for (int i = 0; i < layout.nchildren; i++)
	{
		if (!arrow_position_skip(position, batch, &field->children[i], false))
			return false;
	}
	return true;
}

static bool
refuse(const char **reason, const char *text)
{
	*reason = text;
	return false;
}

/*
 * Fewest values that a child needs for its parent's: as many as there, or so
 * many for each.  What offsets lead to is seen only when they are read.
 */
static bool
child_minimum(const ArrowField *field, int child, const ArrowNode *node,
			  const ArrowNode *first_child, int64 *minimum)
{
	*minimum = 0;
	switch (field->type)
	{
		case ARROW_STRUCT:
			*minimum = node->length;
			return true;
		case ARROW_UNION:
			*minimum = field->dense_union ? 0 : node->length;
			return true;
		case ARROW_FIXED_SIZE_LIST:
			return !pg_mul_s64_overflow(node->length, field->list_size, minimum);
		case ARROW_RUN_END_ENCODED:
			/* an end for the last run, and a value for each end */
			*minimum = child == 0 ? node->length > 0 : first_child->length;
			return true;
		default:
			return true;
	}
}

/* A field and what is below it. */
static bool
field_check(ArrowPosition *position, const ArrowBatchSpec *batch, const ArrowField *field,
			bool in_dictionary, int64 minimum, const char **reason)
{
	ArrowLayout layout = arrow_field_layout(field, batch->version, in_dictionary);
	const ArrowNode *node = &batch->nodes[position->node];

	if (!position_step(position, batch, &layout))
		return refuse(reason, "A batch has fewer fields or buffers than its schema wants.");
	if (node->length < minimum)
		return refuse(reason, "A batch has fewer values of a field than of what it belongs to.");
	for (int i = 0; i < layout.nchildren; i++)
	{
		if (!child_minimum(field, i, node, node + 1, &minimum))
			return refuse(reason, "A batch has more values than there can be.");
		if (!field_check(position, batch, &field->children[i], false, minimum, reason))
			return false;
	}
	if (field->type == ARROW_RUN_END_ENCODED && layout.nchildren > 0 && node[1].null_count > 0)
		return refuse(reason, "A batch has runs without an end.");
	return true;
}

static bool
buffers_check(const ArrowBatchSpec *batch, int64 body_length, const char **reason)
{
	for (int i = 0; i < batch->nbuffers; i++)
	{
		const ArrowBufferSpec *buffer = &batch->buffers[i];

		if (buffer->offset > body_length || buffer->length > body_length - buffer->offset)
			return refuse(reason, "A buffer is out of its batch.");
		if (buffer->offset % BUFFER_ALIGNMENT != 0)
			return refuse(reason, "A buffer is not aligned.");
	}
	return true;
}

/* Columns that all have the batch's length. */
static bool
columns_check(int nfields, const ArrowField *fields, bool in_dictionary,
			  const ArrowBatchSpec *batch, int64 body_length, const char **reason)
{
	ArrowPosition position = {0};

	for (int i = 0; i < nfields; i++)
	{
		int			node = position.node;

		if (!field_check(&position, batch, &fields[i], in_dictionary, 0, reason))
			return false;
		if (batch->nodes[node].length != batch->length)
			return refuse(reason, "A field of a batch has another number of values than the batch.");
	}
	if (position.node != batch->nnodes || position.buffer != batch->nbuffers ||
		position.variadic != batch->nvariadic)
		return refuse(reason, "A batch has more fields or buffers than its schema wants.");
	return buffers_check(batch, body_length, reason);
}

bool
arrow_batch_check(const ArrowSchema *schema, const ArrowBatchSpec *batch,
				  int64 body_length, const char **reason)
{
	*reason = NULL;
	return columns_check(schema->nfields, schema->fields, false, batch, body_length, reason);
}

bool
arrow_dictionary_check(const ArrowField *field, const ArrowBatchSpec *batch,
					   int64 body_length, const char **reason)
{
	*reason = NULL;
	return columns_check(1, field, true, batch, body_length, reason);
}
