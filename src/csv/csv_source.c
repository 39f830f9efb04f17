/*-------------------------------------------------------------------------
 *
 * csv_source.c
 *	  Where a text stream's bytes come from, and how they are to be read.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "csv/csv_source.h"

/*
 * Files of several formats may make up one stream.  Then what is declared for
 * CSV alone says nothing about those of the text format.
 */
static void
resolve_dialect(CsvDialect *dialect, const StreamSpec *spec, const SegmentFile *file)
{
	TextOptions options = spec->text;

	if (spec->format == NULL && !file->csv)
	{
		options.quote = NULL;
		options.escape = NULL;
	}
	csv_dialect_resolve(&options, file->csv, dialect);
}

void
csv_source_open(CsvSource *source, const StreamSpec *spec,
				const SegmentFile *file, size_t block_bytes)
{
	SourceFile *opened;

	memset(source, 0, sizeof(*source));
	resolve_dialect(&source->dialect, spec, file);
	source->size = -1;
	if (file->name == NULL)
		source->bytes = program_source_create(spec->program);
	else
	{
		opened = file->source ? source_file_duplicate(file->source) :
			source_file_open(&spec->folder, file->name);
		source->size = source_file_identity(opened)->size;
		source->bytes = file_source_create(opened, block_bytes, spec->queue);
		if (file->compression == COMPRESSION_NONE)
			source->file = opened;
	}
	if (file->compression != COMPRESSION_NONE)
		source->bytes = codec_source_create(source->bytes, file->compression, block_bytes);
}
