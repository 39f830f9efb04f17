/*-------------------------------------------------------------------------
 *
 * stream_facts.c
 *	  What the planner asks about a stream, without reading it.
 *
 * A file's facts are kept by its identity and by how it is read (two tables
 * may read one file by different keys).
 *
 * Of many files the sizes of all are looked at, but the facts of a sample
 * only: the greatest and others evenly spread.  Rows and blocks are then in
 * proportion to the bytes, and the range is the sample's.
 *
 * Nobody may take facts for more than an estimate: the files may be others
 * when the plan is executed.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "common/hashfn.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "io/file_cache.h"
#include "stream/layers.h"
#include "stream/stream.h"

#define FACTS_SAMPLE_FILES		32
#define UNKNOWN_ROWS			1000	/* a guess: of a program, or a file not there yet */

static FileCache facts_cache = {"outerjoin_fdw file facts", sizeof(StreamFacts), NULL};

static void
append_text(StringInfo text, const char *value)
{
	if (value == NULL)
		appendStringInfoChar(text, 'n');
	else
		appendBinaryStringInfo(text, value, strlen(value) + 1);
}

static void
append_number(StringInfo text, int64 value)
{
	appendBinaryStringInfo(text, (const char *) &value, sizeof(value));
}

/* Of whatever decides how the file is read. */
static uint64
reading_hash(const StreamSpec *spec, const SegmentFile *file, const Key *key)
{
	const TextOptions *options = &spec->text;
	StringInfoData text;
	uint64		hash;

	initStringInfo(&text);
	append_text(&text, file->format->name);
	append_number(&text, file->csv);
	append_number(&text, file->compression);
	append_number(&text, file->alone);
	append_text(&text, options->delimiter);
	append_text(&text, options->quote);
	append_text(&text, options->escape);
	append_text(&text, options->null);
	append_number(&text, options->encoding);
	append_number(&text, options->header);
	append_number(&text, options->skip);
	append_number(&text, options->multiline);
	for (int i = 0; i < key->ncolumns; i++)
	{
		append_text(&text, spec->keys[i].column);
		append_text(&text, spec->keys[i].declared);
		append_number(&text, key->columns[i].type);
		append_number(&text, key->columns[i].typmod);
		append_number(&text, key->columns[i].collation);
		append_number(&text, key->columns[i].descending);
	}
	/* which fields are asked for decides which the key's are */
	for (int i = 0; i < spec->nfields; i++)
	{
		append_text(&text, spec->fields[i].column);
		append_text(&text, spec->fields[i].declared);
	}
	hash = hash_bytes_extended((const unsigned char *) text.data, text.len, 0);
	pfree(text.data);
	return hash;
}

void
stream_file_facts(const StreamSpec *spec, const SegmentFile *file, const Key *key,
				  StreamFacts *facts)
{
	FileQuestion question;
	const StreamFacts *known = file_cache_find(&facts_cache, file->source,
											   reading_hash(spec, file, key), &question);

	if (known != NULL)
	{
		*facts = *known;
		return;
	}
	memset(facts, 0, sizeof(StreamFacts));
	file->format->facts(spec, file, key, facts);
	file_cache_keep(&facts_cache, &question, facts);
}

/* Widen the sum's range; it is known where each file's is. */
static void
add_range(StreamFacts *sum, const StreamFacts *facts, bool is_first)
{
	if (is_first)
	{
		sum->has_range = facts->has_range;
		sum->first = facts->first;
		sum->last = facts->last;
		return;
	}
	sum->has_range = sum->has_range && facts->has_range;
	sum->first = Min(sum->first, facts->first);
	sum->last = Max(sum->last, facts->last);
}

/* Bytes of each file, and which is the greatest. */
static int
measure_files(const StreamSpec *spec, List *files, double *bytes)
{
	int			greatest = 0;

	for (int i = 0; i < list_length(files); i++)
	{
		const SegmentFile *file = list_nth(files, i);
		SourceFile *source;

		CHECK_FOR_INTERRUPTS();
		source = source_file_open(&spec->folder, file->name);
		bytes[i] = (double) source_file_identity(source)->size;
		source_file_close(source);
		if (bytes[i] > bytes[greatest])
			greatest = i;
	}
	return greatest;
}

static void
sum_files(const StreamSpec *spec, List *files, const Key *key, StreamFacts *sum)
{
	int			nfiles = list_length(files);
	double	   *bytes = palloc(nfiles * sizeof(double));
	double		all_bytes = 0;
	double		sampled_bytes = 0;
	int			nsampled = 0;
	int			greatest = nfiles > FACTS_SAMPLE_FILES ? measure_files(spec, files, bytes) : -1;
	int			step = nfiles / FACTS_SAMPLE_FILES + 1;

	sum->rows_exact = true;
	sum->can_seek = true;
	sum->can_go_back = true;
	for (int i = 0; i < nfiles; i++)
	{
		SegmentFile file = *(SegmentFile *) list_nth(files, i);
		StreamFacts facts;

		CHECK_FOR_INTERRUPTS();
		if (greatest >= 0)
			all_bytes += bytes[i];
		/* the last one by name is likely to hold the last keys */
		if (greatest >= 0 && i % step != 0 && i != greatest && i != nfiles - 1)
			continue;

		file.source = source_file_open(&spec->folder, file.name);
		file.alone = nfiles == 1;
		stream_file_facts(spec, &file, key, &facts);
		sampled_bytes += (double) source_file_identity(file.source)->size;
		source_file_close(file.source);

		/* an empty file has no range, but takes none away */
		if (facts.rows > 0 || !facts.rows_exact)
			add_range(sum, &facts, nsampled++ == 0);
		sum->rows += facts.rows;
		sum->rows_exact = sum->rows_exact && facts.rows_exact;
		sum->blocks += facts.blocks;
		sum->can_seek = sum->can_seek && facts.can_seek;
		sum->can_go_back = sum->can_go_back && facts.can_go_back;
		sum->bytes += facts.bytes;
		sum->seek_rows += facts.seek_rows;
	}

	if (greatest >= 0)
	{
		double		scale = sampled_bytes > 0 ? all_bytes / sampled_bytes : 1;

		sum->rows *= scale;
		sum->blocks *= scale;
		sum->bytes *= scale;
		sum->rows_exact = false;
	}
}

void
stream_facts(const StreamSpec *spec, const Key *key, StreamFacts *facts)
{
	MemoryContext context;
	MemoryContext old;
	List	   *files;

	memset(facts, 0, sizeof(StreamFacts));
	context = AllocSetContextCreate(CurrentMemoryContext, "file facts",
									ALLOCSET_DEFAULT_SIZES);
	old = MemoryContextSwitchTo(context);
	files = stream_files_present(spec);
	if (spec->program != NULL || files == NIL)
		facts->rows = UNKNOWN_ROWS;
	else
		sum_files(spec, files, key, facts);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);

	if (!spec->sorted)
	{
		facts->has_range = false;
		facts->can_seek = false;
		/* sorted here, one way is as good as the other */
		facts->can_go_back = true;
	}
	if (spec->duplicates == DUPLICATES_FIRST || spec->duplicates == DUPLICATES_LAST)
		facts->rows_exact = false;
}
