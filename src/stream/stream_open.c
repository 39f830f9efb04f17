/*-------------------------------------------------------------------------
 *
 * stream_open.c
 *	  Builds a stream out of its layers.
 *
 *	sorted file				order check over the format
 *	sorted files			order check over segments over
 *							(order check over the format) for each file
 *	not sorted				order check over the sort over the formats
 *
 * From the end to the top, backward.c comes between a format and its order
 * check, and the "first" of repeated keys is the last that is met.  What cannot
 * be read from its end (the plan may not have known) is sorted the other way.
 *
 * The top order check treats the duplicates, since those are a matter of the
 * whole stream.  It passes batches and decoding straight through where it has
 * nothing to drop, so that one sorted file costs one look at its keys.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "stream/layers.h"
#include "stream/stream.h"

static const bool *
copy_wanted(const StreamSpec *spec, const bool *wanted)
{
	bool	   *copy = palloc0(Max(spec->nfields, 1) * sizeof(bool));

	if (spec->nfields > 0 && wanted != NULL)
		memcpy(copy, wanted, spec->nfields * sizeof(bool));
	return copy;
}

/* The policy for rows that come in the reverse of their order. */
static DuplicatePolicy
reverse_policy(DuplicatePolicy duplicates)
{
	switch (duplicates)
	{
		case DUPLICATES_FIRST:
			return DUPLICATES_LAST;
		case DUPLICATES_LAST:
			return DUPLICATES_FIRST;
		default:
			return duplicates;
	}
}

/* Sorted files from their ends to their tops; NULL if that cannot be. */
static ColumnStream *
open_backward(const StreamSpec *spec, List *files, const Key *key, const bool *wanted,
			  const StreamResources *resources)
{
	const SegmentFile *file = linitial(files);
	ColumnStream *base;

	if (spec->program != NULL)
		return NULL;
	if (list_length(files) > 1)
		return segments_open(spec, files, key, wanted, resources);
	base = file->format->open(spec, file, resources->file_key, wanted, resources);
	if (base->can_go_back)
		return backward_open(base, key, resources);
	base->methods->close(base);
	return NULL;
}

ColumnStream *
stream_open(const StreamSpec *spec, const Key *key, const bool *wanted,
			const StreamResources *given)
{
	List	   *files = stream_files(spec);
	const bool *fields = copy_wanted(spec, wanted);
	StreamResources *resources = palloc(sizeof(StreamResources));
	ColumnStream *base = NULL;
	RowFile		row_file = NULL;

	*resources = *given;
	if (spec->sorted && resources->file_key != NULL)
	{
		base = open_backward(spec, files, key, fields, resources);
		if (base != NULL)
			return order_check_open(base, reverse_policy(spec->duplicates), resources,
									list_length(files) > 1 ? segments_row_file : NULL);
	}
	if (!spec->sorted || resources->file_key != NULL)
	{
		base = sorted_open(spec, files, key, fields, resources);
		row_file = sorted_row_file;

		/* in order as it comes, with nothing to drop */
		if (spec->duplicates == DUPLICATES_ALL)
			return base;
	}
	else if (list_length(files) == 1)
	{
		const SegmentFile *file = linitial(files);

		base = file->format->open(spec, file, key, fields, resources);
	}
	else
	{
		base = segments_open(spec, files, key, fields, resources);
		row_file = segments_row_file;
	}
	return order_check_open(base, spec->duplicates, resources, row_file);
}
