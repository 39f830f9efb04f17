/*-------------------------------------------------------------------------
 *
 * csv_facts.c
 *	  What can be told of a text file from a few looks at it.
 *
 * Lines are counted in a sample from the top, the middle and the end.  The
 * first and the last line's keys are the range, where they are plain
 * integers.  A compressed file is looked at from the top only.
 *
 * The range of a CSV file is certain if the file is in order: where the last
 * line might not be the last row there is none.  In the text format a "\."
 * far before the end may have been overlooked.
 *
 * Errors come from the top of the file alone, where every scan would meet
 * them too; whatever is odd further down only makes less known.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "mb/pg_wchar.h"
#include "utils/memutils.h"

#include "csv/csv_backward.h"
#include "csv/csv_facts.h"
#include "csv/csv_reader.h"
#include "csv/csv_seek.h"
#include "csv/csv_source.h"

#define SAMPLE_BYTES		16384

/* What a seek reads, and what it costs besides, in rows. */
#define SEEK_ROWS		3000
#define COMPRESSION_RATIO	4	/* a guess, as good for one file as for another */
#define UNKNOWN_LINE_BYTES	20

/* One look: whole lines of these bytes of the file. */
typedef struct Sample
{
	char	   *bytes;
	size_t		length;
	int64		lines;
} Sample;

static void
take_sample(Sample *sample, SourceFile *file, int64 offset, char line_byte)
{
	sample->length = source_file_read(file, offset, sample->bytes, SAMPLE_BYTES);
	sample->lines = csv_count_lines(sample->bytes, sample->length, line_byte);
}

/* The leading key's image in a line, or false; whole: nothing follows it in the file. */
static bool
line_image(const CsvReader *reader, const Key *key, int field, char *line, size_t length,
		   bool whole, int64 *image)
{
	CsvRow		row;
	uint32		offset;
	uint32		bytes;
	int64		value;

	if (length == 0 ||
		csv_row_find(&reader->grammar, line, 0, (uint32) length, whole, &row) != CSV_ROW_OK ||
		row.nfields != reader->nfields)
		return false;
	(void) csv_row_split(&reader->grammar, line, &row, &field, 1, &offset, &bytes);
	if (bytes == TEXT_FIELD_NULL ||
		!text_value_plain_int64(key->columns[0].type, line + offset, bytes & ~TEXT_FIELD_QUOTED, &value))
		return false;
	*image = key_image(key, (Datum) value);
	return true;
}

/* Where the last line of the sample's bytes begins, line ends at the end not counted. */
static size_t
last_line(const Sample *sample, char line_byte, size_t *end)
{
	size_t		at = sample->length;

	while (at > 0 && csv_is_line_end(sample->bytes[at - 1]))
		at--;
	*end = at;
	while (at > 0 && sample->bytes[at - 1] != line_byte)
		at--;
	return at;
}

/*
 * Is the line at bytes[start, end) of the sample surely a row?  It is none
 * where the row began before the sample or on an earlier line.  Within plain
 * quotes a line would not be taken for a row: it has an odd number of them.
 */
static bool
line_is_row(const CsvReader *reader, const Sample *sample, bool from_top, size_t start, size_t end)
{
	const CsvGrammar *grammar = &reader->grammar;
	const char *bytes = sample->bytes;

	if (start == 0 && !from_top)
		return false;
	if (grammar->csv)
		return grammar->quote == grammar->escape || memchr(bytes + start, grammar->escape, end - start) == NULL;
	for (size_t i = 0; i + 1 < end; i++)
	{
		if (bytes[i] == '\\' && bytes[i + 1] == '.')
			return false;
	}
	return start == 0 || (start > 1 ? bytes[start - 2] != '\\' : from_top);
}

static void
find_range(CsvReader *reader, SourceFile *file, const Key *key, int field,
		   Sample *sample, StreamFacts *facts)
{
	char		line_byte = csv_line_byte(reader->grammar.line_end);
	int64		size = source_file_identity(file)->size;
	int64		first = csv_pass_lines(file, line_byte, reader->top_lines);
	int64		tail = Max(first, size - SAMPLE_BYTES);
	size_t		end;
	size_t		start;

	/* in other encodings a byte that looks like a delimiter may be none */
	if (!key->columns[0].integer_like || !PG_VALID_BE_ENCODING(reader->dialect->encoding))
		return;

	/* a byte order mark makes the first line's key unknown; nothing worse */
	sample->length = source_file_read(file, first, sample->bytes, SAMPLE_BYTES);
	facts->has_range = line_image(reader, key, field, sample->bytes, sample->length,
								  first + (int64) sample->length >= size, &facts->first);

	take_sample(sample, file, tail, line_byte);
	start = last_line(sample, line_byte, &end);
	facts->has_range = facts->has_range &&
		line_is_row(reader, sample, tail == first, start, end) &&
		line_image(reader, key, field, sample->bytes + start, end - start, true, &facts->last);
	facts->range_certain = facts->has_range && reader->grammar.csv;
}

/* Rows from the length of lines at the top, in the middle and at the end. */
static double
estimate_rows(CsvReader *reader, SourceFile *file, Sample *sample)
{
	char		line_byte = csv_line_byte(reader->grammar.line_end);
	int64		size = source_file_identity(file)->size;
	double		lines = 0;
	double		bytes = 0;

	take_sample(sample, file, 0, line_byte);
	lines += (double) sample->lines;
	bytes += (double) sample->length;
	if (size <= SAMPLE_BYTES && sample->bytes[sample->length - 1] != line_byte)
		lines++;				/* the last line lacks its end */
	if (size > SAMPLE_BYTES)
	{
		take_sample(sample, file, size / 2, line_byte);
		lines += (double) sample->lines;
		bytes += (double) sample->length;
		take_sample(sample, file, size - SAMPLE_BYTES, line_byte);
		lines += (double) sample->lines;
		bytes += (double) sample->length;
	}

	/* a line may be longer than all that was looked at */
	if (lines < 1)
		lines = 1;
	return Max(lines * (double) size / bytes - reader->top_lines, 1);
}

static double
guess_rows(const CsvReader *reader, int64 size)
{
	const CsvBuffer *buffer = &reader->buffer;
	int64		lines = csv_count_lines(buffer->base, buffer->filled,
										csv_line_byte(reader->grammar.line_end));
	double		line_bytes = lines > 0 ? (double) buffer->filled / (double) lines : UNKNOWN_LINE_BYTES;

	if (buffer->at_end)
		return (double) Max(lines - reader->top_lines, 1);
	return Max((double) size * COMPRESSION_RATIO / line_bytes, 1);
}

/* Which field holds the leading key. */
static int
leading_field(const StreamSpec *spec, const CsvReader *reader)
{
	int		   *key_fields = palloc(sizeof(int) * spec->nkeys);
	int		   *value_fields = palloc(sizeof(int) * Max(spec->nfields, 1));

	field_resolve(spec, reader->name, reader->nnames, (const char *const *) reader->names,
				  reader->nfields, key_fields, value_fields);
	return key_fields[0];
}

static void
look_at_file(const StreamSpec *spec, const SegmentFile *file, const Key *key, StreamFacts *facts)
{
	CsvSource	source;
	CsvReader  *reader;
	Sample		sample;

	csv_source_open(&source, spec, file, SAMPLE_BYTES);
	reader = csv_reader_create(&source.dialect, source.bytes, source.file, 1, SAMPLE_BYTES,
							   false, CurrentMemoryContext);
	csv_reader_begin(reader);
	facts->bytes = source.size < 0 ? 0 : (double) source.size;
	facts->can_seek = source.file != NULL &&
		csv_lines_are_rows(source.file, &source.dialect, false);
	facts->seek_rows = SEEK_ROWS;
	facts->can_go_back = csv_backward_can(reader, &source.dialect, source.file, false);
	if (reader->nfields == 0 || reader->ended)
		facts->rows_exact = true;
	else if (source.file == NULL)
		facts->rows = guess_rows(reader, source.size);
	else
	{
		sample.bytes = palloc(SAMPLE_BYTES + TEXT_FIELD_PADDING);
		facts->rows = estimate_rows(reader, source.file, &sample);
		find_range(reader, source.file, key, leading_field(spec, reader), &sample, facts);
	}
	byte_source_close(source.bytes);
}

void
csv_facts(const StreamSpec *spec, const SegmentFile *file, const Key *key, StreamFacts *facts)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "facts of a text file",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);

	memset(facts, 0, sizeof(*facts));
	look_at_file(spec, file, key, facts);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);
}
