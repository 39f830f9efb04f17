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

ColumnStream *
stream_open(const StreamSpec *spec, const Key *key, const bool *wanted,
			const StreamResources *given)
{
	List	   *files = stream_files(spec);
	const bool *fields = copy_wanted(spec, wanted);
	StreamResources *resources = palloc(sizeof(StreamResources));
	ColumnStream *base;
	RowFile		row_file = NULL;

	*resources = *given;
	if (!spec->sorted)
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
