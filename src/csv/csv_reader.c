/*-------------------------------------------------------------------------
 *
 * csv_reader.c
 *	  The rows of a CSV or text file: where their fields lie.
 *
 * Plain rows are taken by the scan, a piece of the buffer at a time.  What
 * the scan does not take (an escape, a line end out of place, the wrong number
 * of fields, a blank line, the last line without its end) is read here by way
 * of csv_rows.c, which has the whole grammar.
 *
 * A batch never outlives what the buffer holds: when a row's end is not in
 * the buffer, the batch ends before it.  So fields stay where they were found
 * until the next batch.  Likewise an error waits until it is the first row of
 * a batch: the rows before it come first.
 *
 * Invariants:
 *	- start is a row's start, outside quotes; rows before it have been taken.
 *	- the scan's positions lie in [start, scanned).
 *	- nothing is taken beyond what has been verified.
 *
 * Refuses to know: types, columns, keys.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "mb/pg_wchar.h"
#include "utils/memutils.h"

#include "csv/csv_errors.h"
#include "csv/csv_reader.h"

/* More fields in a line than this are a damaged file, or not a CSV file. */
#define MAX_FIELDS		1000000

CsvReader *
csv_reader_create(const CsvDialect *dialect, ByteSource *source, SourceFile *file,
				  int max_rows, size_t block_bytes, bool simd, MemoryContext context)
{
	CsvReader  *reader = MemoryContextAllocZero(context, sizeof(CsvReader));

	reader->context = context;
	reader->name = source->name;
	reader->dialect = dialect;
	reader->file = file;
	reader->source = source;
	reader->max_rows = max_rows;
	reader->simd = simd;
	reader->grammar = dialect->grammar;
	csv_buffer_init(&reader->buffer, source, dialect->encoding, block_bytes, context);
	return reader;
}

/* ------------------------------------------------------------ the buffer */

/* Nothing is known of the buffer's bytes from "start" on. */
static void
forget_scan(CsvReader *reader, uint32 start)
{
	csv_scan_reset(&reader->scan);
	reader->start = start;
	reader->scanned = start;
	reader->breaks_end = 0;
	reader->blanks_end = 0;
	reader->invalid = NULL;
}

/*
 * More bytes behind those from "start" on; false at the end of the file.
 * Only between batches, since everything moves.
 */
static bool
read_more(CsvReader *reader)
{
	if (csv_buffer_refill(&reader->buffer, reader->start))
	{
		forget_scan(reader, 0);
		return true;
	}
	if (reader->buffer.broken)
		csv_report_broken(reader, 0);
	if (!reader->buffer.at_end)
		csv_report_too_long(reader, 0);
	forget_scan(reader, 0);
	return false;
}

/*
 * The row at start must be valid text up to its end.  False, or an error
 * where it is the batch's first, if it is not.
 */
static bool
verify_row(CsvReader *reader, const CsvRow *found, int row)
{
	CsvBuffer  *buffer = &reader->buffer;

	csv_buffer_verify(buffer, found->next, false, 0);
	if (buffer->verified >= found->end)
		return true;
	buffer->broken = true;
	if (row == 0)
		csv_report_broken(reader, row);
	return false;
}

/* ------------------------------------------------------------ the top */

/* Pass one line over, whatever is in it; false at the end of the file. */
static bool
pass_line(CsvReader *reader)
{
	CsvBuffer  *buffer = &reader->buffer;
	bool		some = false;

	for (;;)
	{
		char		c;

		if (reader->start == buffer->filled && !read_more(reader))
			return some;
		c = buffer->base[reader->start++];
		some = true;
		if (c == '\n')
			break;
		if (c != '\r')
			continue;
		if (reader->start == buffer->filled && !read_more(reader))
			break;
		if (buffer->base[reader->start] == '\n')
			reader->start++;
		break;
	}
	buffer->verified = Max(buffer->verified, reader->start);
	return true;
}

/* The row at start; false at the end of the file, or where data ends. */
static bool
find_first_row(CsvReader *reader, CsvRow *found)
{
	CsvBuffer  *buffer = &reader->buffer;

	for (;;)
	{
		CsvRowStatus status;

		if (reader->start == buffer->filled && !read_more(reader))
			return false;
		status = csv_row_find(&reader->grammar, buffer->base, reader->start, buffer->filled,
							  buffer->at_end, found);
		if (status == CSV_ROW_OK)
			break;
		if (status == CSV_ROW_END_MARKER)
			return false;
		if (status != CSV_ROW_INCOMPLETE)
			csv_report_status(reader, 0, status, found);
		(void) read_more(reader);
	}
	reader->grammar.line_end = found->line_end;
	(void) verify_row(reader, found, 0);
	if (found->nfields > MAX_FIELDS)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("file \"%s\" has too many fields", reader->name),
				 errdetail("Its first line has %d, and the limit is %d.",
						   found->nfields, MAX_FIELDS)));
	return true;
}

/* The names that a header line holds. */
static void
read_names(CsvReader *reader, CsvRow *header)
{
	int			n = header->nfields;
	char	   *base = reader->buffer.base;
	int		   *all = palloc(sizeof(int) * n);
	uint32	   *offset = palloc(sizeof(uint32) * n);
	uint32	   *length = palloc(sizeof(uint32) * n);
	bool		unverified;

	for (int i = 0; i < n; i++)
		all[i] = i;
	unverified = csv_row_split(&reader->grammar, base, header, all, n, offset, length);
	reader->names = MemoryContextAlloc(reader->context, sizeof(char *) * n);
	for (int i = 0; i < n; i++)
	{
		uint32		bytes = length[i] == TEXT_FIELD_NULL ? 0 : length[i] & ~TEXT_FIELD_QUOTED;
		char	   *name = MemoryContextAlloc(reader->context, bytes + 1);

		if (unverified)
			csv_verify_field(reader, 0, base + offset[i], bytes);
		memcpy(name, base + offset[i], bytes);
		name[bytes] = '\0';
		reader->names[i] = name;
	}
	reader->nnames = n;
	pfree(all);
	pfree(offset);
	pfree(length);
}

/* Pass the header over, and keep its names the first time. */
static bool
read_header(CsvReader *reader)
{
	CsvRow		header;

	if (!find_first_row(reader, &header))
	{
		if (reader->dialect->header == HEADER_MATCH)
			ereport(ERROR,
					(errcode(ERRCODE_BAD_COPY_FILE_FORMAT),
					 errmsg("file \"%s\" has no header line", reader->name)));
		return false;
	}
	if (reader->names == NULL)
		read_names(reader, &header);
	reader->nfields = header.nfields;
	reader->top_lines += 1 + header.breaks;
	forget_scan(reader, header.next);
	return true;
}

/* Is nothing but blank lines left from start on? */
static bool
only_blanks_left(CsvReader *reader)
{
	CsvBuffer  *buffer = &reader->buffer;
	uint32		at = reader->start;

	for (;;)
	{
		while (at < buffer->filled && csv_is_line_end(buffer->base[at]))
			at++;
		if (at < buffer->filled)
			return false;
		at -= reader->start;
		if (!read_more(reader))
			return true;
	}
}

static void
read_top(CsvReader *reader)
{
	CsvRow		first;

	reader->top_lines = 0;
	for (int i = 0; i < reader->dialect->skip && pass_line(reader); i++)
		reader->top_lines++;
	forget_scan(reader, reader->start);
	if (reader->dialect->header != HEADER_NONE)
		reader->ended = !read_header(reader);
	else if (!find_first_row(reader, &first) ||
			 (first.end == first.start && only_blanks_left(reader)))
		reader->ended = true;
	else
		reader->nfields = first.nfields;
}

void
csv_reader_begin(CsvReader *reader)
{
	if (reader->begun)
		return;
	reader->buffer.source = reader->source;
	reader->limited = false;
	csv_buffer_restart(&reader->buffer, 0);
	csv_position_reset(reader, 0);
	forget_scan(reader, 0);
	reader->ended = false;
	reader->begun = true;
	read_top(reader);
	reader->scan.marks = NULL;
}

void
csv_reader_restart(CsvReader *reader)
{
	reader->begun = false;
}

void
csv_reader_seek(CsvReader *reader, int64 offset)
{
	Assert(reader->begun && reader->file != NULL && offset > 0);
	reader->buffer.source = reader->source;
	reader->limited = false;
	csv_buffer_restart(&reader->buffer, offset);
	csv_position_reset(reader, offset);
	forget_scan(reader, 0);
	reader->ended = false;
}

void
csv_reader_limit(CsvReader *reader, int64 from, int64 to)
{
	Assert(reader->begun && reader->file != NULL);
	if (reader->range == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(reader->context);

		reader->range = file_source_create_range(reader->file, from, to,
												 reader->buffer.block_bytes, 0);
		MemoryContextSwitchTo(old);
	}
	else
		file_source_set_range(reader->range, reader->file, from, to);
	csv_buffer_restart_range(&reader->buffer, reader->range, from, to - from);
	csv_position_reset(reader, from);
	forget_scan(reader, 0);
	reader->ended = false;
	reader->limited = true;
}

bool
csv_reader_is_through(CsvReader *reader)
{
	return reader->start == reader->buffer.filled && csv_buffer_is_drained(&reader->buffer);
}

void
csv_reader_want(CsvReader *reader, const int *fields, int nfields)
{
	MemoryContext old = MemoryContextSwitchTo(reader->context);
	CsvFields  *wanted = &reader->wanted;
	int		   *copy = palloc(sizeof(int) * nfields);

	memcpy(copy, fields, sizeof(int) * nfields);
	wanted->nfields = reader->nfields;
	wanted->nwanted = nfields;
	wanted->wanted = copy;
	wanted->offset = palloc(sizeof(uint32 *) * nfields);
	wanted->length = palloc(sizeof(uint32 *) * nfields);
	reader->fields = palloc0(sizeof(TextFields) * nfields);
	for (int i = 0; i < nfields; i++)
	{
		wanted->offset[i] = palloc(sizeof(uint32) * reader->max_rows);
		wanted->length[i] = palloc(sizeof(uint32) * reader->max_rows);
		reader->fields[i].offset = wanted->offset[i];
		reader->fields[i].length = wanted->length[i];
	}
	reader->scan.position = palloc(sizeof(uint32) *
								   (reader->nfields + CSV_SCAN_PIECE + 2 * CSV_SCAN_SLACK));
	MemoryContextSwitchTo(old);
}

/* ------------------------------------------------------------ plain rows */

/* The scan's settings follow from the kind of line end, which is known by now. */
static void
prepare_scan(CsvReader *reader)
{
	if (reader->scan.marks == NULL)
		csv_scan_init(&reader->scan, &reader->grammar, reader->simd);
}

/* Scan another piece of the buffer; false if it is all scanned, or broken. */
static bool
scan_more(CsvReader *reader)
{
	CsvScan    *scan = &reader->scan;
	CsvBuffer  *buffer = &reader->buffer;
	uint32		from = reader->scanned;
	uint32		to = from + Min(buffer->filled - from, CSV_SCAN_PIECE);

	if (from == to || (buffer->broken && buffer->verified < buffer->filled))
		return false;
	if (scan->first > 0)
	{
		memmove(scan->position, scan->position + scan->first,
				sizeof(uint32) * (scan->end - scan->first));
		scan->end -= scan->first;
		scan->first = 0;
	}
	csv_scan_marks(scan, buffer->base, from, to);
	csv_buffer_verify(buffer, to, scan->plain_ascii, from);
	reader->scanned = to;
	if (scan->breaks > 0)
		reader->breaks_end = to;
	return true;
}

/* What a row that the scan took between two starts holds of line breaks. */
static void
note_breaks(CsvReader *reader, int row, uint32 start, uint32 next)
{
	int64		lines = csv_count_lines(reader->buffer.base + start, next - start,
										csv_line_byte(reader->grammar.line_end));

	csv_position_add_breaks(reader, row, (int) lines - 1);
}

/*
 * Rows as far as the scan has them.  Where rows hold line breaks they are
 * taken one by one, to know which.
 */
static CsvScanStop
take_plain_rows(CsvReader *reader, int *row, int max_rows)
{
	CsvScan    *scan = &reader->scan;
	CsvFields  *wanted = &reader->wanted;
	CsvScanStop stop;
	bool		single;

	do
	{
		int			from = *row;
		uint32		start = reader->start;

		single = start < reader->breaks_end;
		stop = csv_scan_take(scan, wanted, reader->buffer.base, &reader->start,
							 reader->buffer.verified, row, single ? from + 1 : max_rows);
		if (*row == from)
			break;
		if (single)
			note_breaks(reader, from, start, reader->start);
		if (scan->parity && scan->quote_end > start)
		{
			for (int i = 0; i < wanted->nwanted; i++)
				csv_fields_unquote(reader->buffer.base, scan->special, from, *row,
								   wanted->offset[i], wanted->length[i]);
		}
	} while (single && stop == CSV_SCAN_FULL && *row < max_rows);
	return stop;
}

/* ------------------------------------------------------------ other rows */

/* What came of looking for the row at start. */
typedef enum RowSearch
{
	ROW_FOUND,
	ROW_NOT_NOW,				/* the batch, or the file, ends before it */
	ROW_MOVED					/* to be looked for again: more was read */
} RowSearch;

/*
 * A blank line is the last, or followed by others up to the end of the data;
 * else it is a row of one field.  Where that is an error, blank lines are not
 * kept while more is read.
 */
static RowSearch
judge_blank(CsvReader *reader, int row)
{
	CsvBuffer  *buffer = &reader->buffer;
	uint32		at = reader->start;
	bool		moved = false;

	if (at < reader->blanks_end)
		return ROW_FOUND;
	for (;;)
	{
		while (at < buffer->filled && csv_is_line_end(buffer->base[at]))
			at++;
		if (at < buffer->filled || buffer->at_end)
			break;
		if (row > 0)
			return ROW_NOT_NOW;
		if (reader->nfields > 1)
			reader->start = at;
		at -= reader->start;
		(void) read_more(reader);
		moved = true;
	}
	if (at == buffer->filled && !reader->limited)
	{
		reader->ended = true;
		return ROW_NOT_NOW;
	}
	if (reader->nfields > 1)
	{
		if (row > 0)
			return ROW_NOT_NOW;
		csv_report_fields(reader, row, 1);
	}
	reader->blanks_end = at;
	return moved ? ROW_MOVED : ROW_FOUND;
}

/*
 * Take the row, which is whole and valid, into the batch.  False where its
 * escapes make a field that is not: rows before it come first, and since it
 * cannot be split once more, the field is kept for the error.
 */
static bool
split_row(CsvReader *reader, CsvRow *found, int row)
{
	CsvFields  *wanted = &reader->wanted;
	char	   *base = reader->buffer.base;
	uint32		offset[8];
	uint32		length[8];

	/* a few at a time: most rows have no more */
	for (int i = 0; i < wanted->nwanted; i += (int) lengthof(offset))
	{
		int			n = Min(wanted->nwanted - i, (int) lengthof(offset));
		bool		unverified;

		unverified = csv_row_split(&reader->grammar, base, found, wanted->wanted + i, n, offset, length);
		for (int j = 0; j < n; j++)
		{
			uint32		bytes = length[j] & ~TEXT_FIELD_QUOTED;

			wanted->offset[i + j][row] = offset[j];
			wanted->length[i + j][row] = length[j];
			if (unverified && length[j] != TEXT_FIELD_NULL &&
				!pg_verifymbstr(base + offset[j], (int) bytes, true))
			{
				reader->invalid = base + offset[j];
				reader->invalid_length = bytes;
				return false;
			}
		}
	}
	csv_position_add_breaks(reader, row, found->breaks);
	return true;
}

/* The scan goes on behind a row that was taken without it. */
static void
pass_row(CsvReader *reader, const CsvRow *found)
{
	if (reader->grammar.line_end != found->line_end)
	{
		reader->grammar.line_end = found->line_end;
		csv_scan_init(&reader->scan, &reader->grammar, reader->simd);
		forget_scan(reader, found->next);
	}
	else if (found->next <= reader->scanned)
	{
		reader->start = found->next;
		csv_scan_skip(&reader->scan, found->next);
	}
	else
	{
		uint32		blanks_end = reader->blanks_end;

		forget_scan(reader, found->next);
		reader->blanks_end = blanks_end;
	}
}

/* Look for the row at start in what the buffer holds; "row" rows of the batch precede it. */
static RowSearch
search_row(CsvReader *reader, int row, CsvRow *found)
{
	CsvBuffer  *buffer = &reader->buffer;
	CsvRowStatus status = CSV_ROW_INCOMPLETE;

	if (reader->start == buffer->filled)
		reader->ended = buffer->at_end;
	else
		status = csv_row_find(&reader->grammar, buffer->base, reader->start, buffer->filled,
							  buffer->at_end, found);
	if (status == CSV_ROW_END_MARKER)
		reader->ended = true;
	if (reader->ended)
		return ROW_NOT_NOW;
	if (status == CSV_ROW_OK)
		return found->end > found->start ? ROW_FOUND : judge_blank(reader, row);
	if (row > 0)
		return ROW_NOT_NOW;
	if (status != CSV_ROW_INCOMPLETE)
		csv_report_status(reader, row, status, found);
	(void) read_more(reader);
	return ROW_MOVED;
}

/* Is the row one that can be taken?  False, or an error where it is the batch's first. */
static bool
check_row(CsvReader *reader, const CsvRow *found, int row)
{
	if (!verify_row(reader, found, row))
		return false;
	if (found->nfields == reader->nfields)
		return true;
	if (row == 0)
		csv_report_fields(reader, row, found->nfields);
	return false;
}

/*
 * Take the row at start, whatever it looks like.  False if the batch ends
 * before it: the file is at its end, or "row" rows have to come first.
 */
static bool
take_any_row(CsvReader *reader, int *row)
{
	CsvRow		found;
	RowSearch	search;

	do
	{
		search = search_row(reader, *row, &found);
	} while (search == ROW_MOVED);
	if (search == ROW_NOT_NOW || !check_row(reader, &found, *row))
		return false;
	if (!split_row(reader, &found, *row))
	{
		if (*row > 0)
			return false;
		csv_verify_field(reader, *row, reader->invalid, reader->invalid_length);
	}
	pass_row(reader, &found);
	(*row)++;
	return true;
}

int
csv_reader_next(CsvReader *reader, int max_rows)
{
	int			row = 0;

	Assert(max_rows > 0 && max_rows <= reader->max_rows);
	csv_position_next_batch(reader);
	csv_reader_begin(reader);
	prepare_scan(reader);
	if (reader->invalid != NULL)
		csv_verify_field(reader, row, reader->invalid, reader->invalid_length);
	while (!reader->ended && row < max_rows)
	{
		CsvScanStop stop = take_plain_rows(reader, &row, max_rows);

		if (stop == CSV_SCAN_FULL)
			break;
		if (stop == CSV_SCAN_DRY && scan_more(reader))
			continue;
		if (!take_any_row(reader, &row))
			break;
	}
	for (int i = 0; i < reader->wanted.nwanted; i++)
		reader->fields[i].base = reader->buffer.base;
	reader->batch_rows = row;
	return row;
}
