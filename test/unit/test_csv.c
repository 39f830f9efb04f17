/*-------------------------------------------------------------------------
 *
 * test_csv.c
 *	  The reader of CSV and text files against a model of COPY.
 *
 * The model reads a text as COPY is documented to, byte by byte and in one
 * piece: a line reader that toggles quoting, then a reader of fields.  Random
 * texts in random dialects go through the reader in small pieces; rows,
 * fields, row numbers, lines and the error at the end must be the model's.
 * Seeks and facts are tried on real files.
 *
 * csv_scan.c is included, not linked: one machine shall try all of its
 * instruction sets.
 *
 * Usage: test_csv [seed [rounds]]
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "compat.h"

#include <limits.h>
#include <unistd.h>

#include "catalog/pg_type_d.h"
#include "fmgr.h"
#include "mb/pg_wchar.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/typcache.h"

#include "csv/csv_backward.h"
#include "csv/csv_facts.h"
#include "csv/csv_reader.h"
#include "csv/csv_scan.c"
#include "csv/csv_seek.h"
#include "csv/csv_stream.h"
#include "io/source_file.h"
#include "memory_source.h"
#include "plain_types.h"
#include "random.h"
#include "server_stub.h"
#include "tap.h"

/* ------------------------------------------------------------ texts */

typedef struct Text
{
	char	   *bytes;
	size_t		length;
	size_t		capacity;
} Text;

static void
add_bytes(Text *text, const char *bytes, size_t length)
{
	if (text->length + length + 1 > text->capacity)
	{
		text->capacity = 2 * (text->length + length) + 64;
		text->bytes = text->bytes ? repalloc(text->bytes, text->capacity) : palloc(text->capacity);
	}
	memcpy(text->bytes + text->length, bytes, length);
	text->length += length;
	text->bytes[text->length] = '\0';
}

static void
add_char(Text *text, char c)
{
	add_bytes(text, &c, 1);
}

static void
add_string(Text *text, const char *string)
{
	add_bytes(text, string, strlen(string));
}

static Text
text_of(const char *bytes, size_t length)
{
	Text		text = {0};

	add_bytes(&text, bytes, length);
	return text;
}

/* ------------------------------------------------------------ the model */

typedef struct ModelField
{
	Text		text;
	bool		quoted;
	bool		isnull;
	bool		odd;			/* an escape has made a byte that is no ASCII */
} ModelField;

typedef struct ModelRow
{
	ModelField *fields;
	int64		line;
} ModelRow;

typedef struct Model
{
	const CsvDialect *dialect;
	Text		text;
	char		eol;			/* 0: not known, 'n', 'r', or 'b' for both */
	int			skipped;
	size_t		top;			/* where lines begin to be counted */

	int			nfields;
	int			nnames;
	ModelField *names;
	int			nrows;
	ModelRow   *rows;

	const char *error;			/* what the message begins with, or NULL */
	const char *other_error;	/* as right: the row has two faults */
	int64		error_line;
	int64		quote_line;
} Model;

/* One line, as COPY's line reader finds it. */
typedef struct ModelLine
{
	size_t		start;
	size_t		end;
	size_t		next;
	size_t		seen;			/* bytes before this decided */
	size_t		quote;
	bool		marker;
	const char *fault;
} ModelLine;

/* fields that a round may ask for */
#define MAX_WANTED	64

#define INVALID		"invalid byte sequence"
#define UNCLOSED	"unterminated CSV quoted field"
#define MARKER		"end-of-copy marker is not alone on its line"
#define MARKER_STYLE	"end-of-copy marker does not match previous newline style"

/* Well-formed UTF-8 (Unicode, table 3-7), or LATIN1, without zero bytes? */
static bool
text_is_valid(const char *bytes, size_t length)
{
	const unsigned char *p = (const unsigned char *) bytes;
	const unsigned char *end = p + length;

	if (server_stub_encoding == PG_LATIN1)
		return memchr(bytes, 0, length) == NULL;
	while (p < end)
	{
		unsigned char low = 0x80;
		unsigned char high = 0xBF;
		int			more;

		if (*p == 0 || (*p >= 0x80 && *p < 0xC2) || *p > 0xF4)
			return false;
		more = *p < 0x80 ? 0 : *p < 0xE0 ? 1 : *p < 0xF0 ? 2 : 3;
		low = *p == 0xE0 ? 0xA0 : *p == 0xF0 ? 0x90 : low;
		high = *p == 0xED ? 0x9F : *p == 0xF4 ? 0x8F : high;
		p++;
		while (more-- > 0)
		{
			if (p == end || *p < low || *p > high)
				return false;
			low = 0x80;
			high = 0xBF;
			p++;
		}
	}
	return true;
}

static const char *
line_end_fault(const Model *model, char c)
{
	if (model->dialect->grammar.csv)
		return c == '\r' ? "unquoted carriage return found in data" : "unquoted newline found in data";
	return c == '\r' ? "literal carriage return found in data" : "literal newline found in data";
}

/* A line end at text[at - 1], outside quotes. */
static void
model_line_end(Model *model, size_t at, ModelLine *line)
{
	const char *t = model->text.bytes;
	bool		pair = t[at - 1] == '\r' && at < model->text.length && t[at] == '\n';

	line->end = at - 1;
	line->next = at;
	line->seen = at;
	if (t[at - 1] == '\n')
	{
		if (model->eol == 'r' || model->eol == 'b')
			line->fault = line_end_fault(model, '\n');
		else
			model->eol = 'n';
	}
	else if (model->eol == 'n' || (model->eol == 'b' && !pair))
		line->fault = line_end_fault(model, '\r');
	else if (pair && model->eol != 'r')
	{
		model->eol = 'b';
		line->next = at + 1;
	}
	else
		model->eol = 'r';
}

static void
model_read_line(Model *model, size_t start, ModelLine *line)
{
	const CsvDialect *dialect = model->dialect;
	const char *t = model->text.bytes;
	size_t		n = model->text.length;
	bool		own_escape = dialect->grammar.csv && dialect->grammar.escape != dialect->grammar.quote;
	bool		in_quote = false;
	bool		last_was_escape = false;
	size_t		closed = SIZE_MAX;
	size_t		at = start;

	memset(line, 0, sizeof(*line));
	line->start = start;
	while (at < n)
	{
		char		c = t[at++];

		if (dialect->grammar.csv)
		{
			if (in_quote && own_escape && c == dialect->grammar.escape)
				last_was_escape = !last_was_escape;
			if (c == dialect->grammar.quote && !last_was_escape)
			{
				in_quote = !in_quote;
				if (!in_quote)
					closed = at;
				else if (own_escape || closed != at - 1)
					line->quote = at - 1;
			}
			if (!own_escape || c != dialect->grammar.escape)
				last_was_escape = false;
		}
		else if (c == '\\' && at < n)
		{
			c = t[at++];
			if (c != '.')
				continue;
			line->seen = Min(at + 1, n);
			if (at - 2 != start || at == n || (t[at] != '\r' && t[at] != '\n'))
				line->fault = MARKER;
			else
			{
				model_line_end(model, at + 1, line);
				line->marker = line->fault == NULL;
				if (line->fault)
					line->fault = MARKER_STYLE;
			}
			return;
		}
		if (!in_quote && (c == '\r' || c == '\n'))
		{
			model_line_end(model, at, line);
			return;
		}
	}
	line->end = line->next = line->seen = n;
	if (in_quote)
		line->fault = UNCLOSED;
}

static bool
equals_null(const Model *model, const char *bytes, size_t length)
{
	return length == strlen(model->dialect->grammar.null) &&
		memcmp(bytes, model->dialect->grammar.null, length) == 0;
}

static size_t
model_csv_field(const Model *model, size_t at, size_t end, ModelField *field)
{
	const CsvDialect *dialect = model->dialect;
	const char *t = model->text.bytes;
	size_t		start = at;
	bool		in_quote = false;

	for (; at < end; at++)
	{
		char		c = t[at];

		if (!in_quote && c == dialect->grammar.delimiter)
			break;
		if (in_quote && c == dialect->grammar.escape && at + 1 < end &&
			(t[at + 1] == dialect->grammar.escape || t[at + 1] == dialect->grammar.quote))
			add_char(&field->text, t[++at]);
		else if (c == dialect->grammar.quote)
		{
			field->quoted = true;
			in_quote = !in_quote;
		}
		else
			add_char(&field->text, c);
	}
	field->isnull = !field->quoted && equals_null(model, t + start, at - start);
	return at;
}

static int
hex_value(char c)
{
	const char *digits = "0123456789abcdef";
	const char *found = c ? strchr(digits, c >= 'A' && c <= 'F' ? c + 32 : c) : NULL;

	return found ? (int) (found - digits) : -1;
}

/* What stands behind a backslash at text[at - 1]; returns where that ends. */
static size_t
model_escape(const char *t, size_t at, size_t end, ModelField *field)
{
	const char *letters = "bfnrtv";
	const char *found = t[at] ? strchr(letters, t[at]) : NULL;
	int			value = 0;
	size_t		first = at;

	if (found)
		add_char(&field->text, "\b\f\n\r\t\v"[found - letters]);
	else if (t[at] >= '0' && t[at] <= '7')
	{
		for (; at < end && at < first + 3 && t[at] >= '0' && t[at] <= '7'; at++)
			value = value * 8 + (t[at] - '0');
		add_char(&field->text, (char) value);
		field->odd |= (value & 0x80) != 0 || (value & 0xFF) == 0;
		return at;
	}
	else if (t[at] == 'x' && at + 1 < end && hex_value(t[at + 1]) >= 0)
	{
		for (at++; at < end && at < first + 3 && hex_value(t[at]) >= 0; at++)
			value = value * 16 + hex_value(t[at]);
		add_char(&field->text, (char) value);
		field->odd |= value >= 0x80 || value == 0;
		return at;
	}
	else
		add_char(&field->text, t[at]);
	return at + 1;
}

static size_t
model_text_field(const Model *model, size_t at, size_t end, ModelField *field)
{
	const char *t = model->text.bytes;
	size_t		start = at;
	size_t		raw_end = at;

	while (at < end)
	{
		raw_end = at;
		if (t[at] == model->dialect->grammar.delimiter)
			break;
		if (t[at] != '\\')
			add_char(&field->text, t[at++]);
		else if (++at < end)
			at = model_escape(t, at, end, field);
		else
			break;				/* COPY takes it out of the raw text, too */
		raw_end = at;
	}
	field->isnull = equals_null(model, t + start, raw_end - start);
	if (field->isnull)
		field->odd = false;
	return at;
}

static ModelField *
model_fields(const Model *model, const ModelLine *line, int *nfields)
{
	int			capacity = 16;
	ModelField *fields = palloc(sizeof(ModelField) * capacity);
	size_t		at = line->start;

	*nfields = 0;
	for (;;)
	{
		ModelField *field;

		if (*nfields == capacity)
			fields = repalloc(fields, sizeof(ModelField) * (capacity *= 2));
		field = &fields[(*nfields)++];
		memset(field, 0, sizeof(ModelField));
		add_bytes(&field->text, "", 0);
		at = model->dialect->grammar.csv ? model_csv_field(model, at, line->end, field)
			: model_text_field(model, at, line->end, field);
		if (at >= line->end || model->text.bytes[at] != model->dialect->grammar.delimiter)
			break;
		at++;
	}
	return fields;
}

static int64
model_line_number(const Model *model, size_t at)
{
	int64		lines = model->skipped + 1;

	for (size_t i = model->top; i < at; i++)
		lines += model->text.bytes[i] == (model->eol == 'r' ? '\r' : '\n');
	return lines;
}

static void
model_fail(Model *model, const ModelLine *line, const char *error)
{
	model->error = error;
	model->error_line = model_line_number(model, line->start);
	model->quote_line = model_line_number(model, line->quote);
	if (!text_is_valid(model->text.bytes + line->start, line->seen - line->start))
		model->other_error = INVALID;
}

static bool
only_line_ends(const Text *text, size_t at)
{
	while (at < text->length && (text->bytes[at] == '\r' || text->bytes[at] == '\n'))
		at++;
	return at == text->length;
}

static size_t
model_top(Model *model)
{
	const char *t = model->text.bytes;
	size_t		n = model->text.length;
	size_t		at = 0;

	if (n >= 3 && memcmp(t, "\xEF\xBB\xBF", 3) == 0)
		at = 3;
	while (model->skipped < model->dialect->skip && at < n)
	{
		while (at < n && t[at] != '\r' && t[at] != '\n')
			at++;
		if (at + 1 < n && t[at] == '\r' && t[at + 1] == '\n')
			at++;
		at = Min(at + 1, n);
		model->skipped++;
	}
	return model->top = at;
}

static bool
fields_valid(const ModelField *fields, int nfields, const bool *wanted)
{
	for (int i = 0; i < nfields; i++)
	{
		if (fields[i].odd && (wanted == NULL || (i < MAX_WANTED && wanted[i])) &&
			!text_is_valid(fields[i].text.bytes, fields[i].text.length))
			return false;
	}
	return true;
}

/* Everything COPY would say of a text; "wanted" tells which fields are asked for. */
static void
model_read(Model *model, const CsvDialect *dialect, Text text, const bool *wanted)
{
	bool		header = dialect->header != HEADER_NONE;
	size_t		at;

	memset(model, 0, sizeof(*model));
	model->dialect = dialect;
	model->text = text;
	model->rows = palloc(sizeof(ModelRow) * (text.length + 1));
	at = model_top(model);
	while (at < text.length)
	{
		ModelLine	line;
		ModelField *fields;
		int			nfields;

		model_read_line(model, at, &line);
		at = line.next;
		if (line.marker)
			return;
		if (line.fault)
		{
			model_fail(model, &line, line.fault);
			return;
		}
		if (!header && line.start == line.end && only_line_ends(&text, line.start))
			return;
		if (!text_is_valid(text.bytes + line.start, line.end - line.start))
		{
			model_fail(model, &line, INVALID);
			return;
		}
		fields = model_fields(model, &line, &nfields);
		if (model->nfields == 0)
			model->nfields = nfields;
		if (nfields != model->nfields)
			model_fail(model, &line, psprintf("row has %d field%s, expected %d", nfields,
											  nfields == 1 ? "" : "s", model->nfields));
		else if (!fields_valid(fields, nfields, header ? NULL : wanted))
			model_fail(model, &line, INVALID);
		else if (header)
		{
			model->names = fields;
			model->nnames = nfields;
		}
		else
			model->rows[model->nrows++] = (ModelRow){fields, model_line_number(model, line.start)};
		if (model->error)
			return;
		header = false;
	}
}

/* ------------------------------------------------------------ one round */

typedef struct Round
{
	CsvDialect	dialect;
	Text		file;			/* in the file's encoding */
	Text		text;			/* in the database's */
	Model		model;
	bool		wanted[MAX_WANTED];
	int			want[MAX_WANTED];
	int			nwant;
	int			max_rows;
	size_t		block_bytes;
	bool		simd;
	bool		restart;
	MemorySource source;
	char		failure[400];
	int			at;				/* rows seen */
} Round;

#define set_failure(round, ...) \
	do { \
		if ((round)->failure[0] == '\0') \
			snprintf((round)->failure, sizeof((round)->failure), __VA_ARGS__); \
	} while (0)

static void
compare_field(Round *round, const CsvReader *reader, int slot, int row)
{
	const ModelField *want = &round->model.rows[round->at].fields[round->want[slot]];
	const TextFields *fields = &reader->fields[slot];
	uint32		length = fields->length[row];
	bool		quoted = length != TEXT_FIELD_NULL && (length & TEXT_FIELD_QUOTED) != 0;
	bool		isnull = length == TEXT_FIELD_NULL;
	const char *bytes = fields->base + fields->offset[row];

	if (length != TEXT_FIELD_NULL)
	{
		length &= ~TEXT_FIELD_QUOTED;
		isnull = !quoted && equals_null(&round->model, bytes, length);
	}
	if (isnull != want->isnull)
		set_failure(round, "row %d, field %d: null is %d", round->at, round->want[slot], isnull);
	else if (!isnull && round->dialect.grammar.csv && quoted != want->quoted)
		set_failure(round, "row %d, field %d: quoted is %d", round->at, round->want[slot], quoted);
	else if (!isnull && (length != want->text.length || memcmp(bytes, want->text.bytes, length) != 0))
		set_failure(round, "row %d, field %d: \"%.*s\" is not \"%s\"", round->at, round->want[slot],
					(int) Min(length, 60), bytes, want->text.bytes);
}

static void
compare_rows(Round *round, CsvReader *reader, int nrows)
{
	for (int row = 0; row < nrows && round->failure[0] == '\0'; row++, round->at++)
	{
		int64		number;
		int64		line;

		if (round->at >= round->model.nrows)
		{
			set_failure(round, "more than %d rows", round->model.nrows);
			return;
		}
		for (int slot = 0; slot < round->nwant; slot++)
			compare_field(round, reader, slot, row);
		csv_reader_locate(reader, row, &number, &line);
		if (number != round->at + 1 || line != round->model.rows[round->at].line)
			set_failure(round, "row %d is row %lld, line %lld, not line %lld", round->at + 1, (long long) number,
						(long long) line, (long long) round->model.rows[round->at].line);
	}
}

static void
play_round(void *argument)
{
	Round	   *round = argument;
	CsvReader  *reader = csv_reader_create(&round->dialect, &round->source.base, NULL, round->max_rows,
										   round->block_bytes, round->simd, CurrentMemoryContext);
	int			nrows;

	csv_reader_begin(reader);
	if (reader->nfields != round->model.nfields)
		set_failure(round, "%d fields instead of %d", reader->nfields, round->model.nfields);
	for (int i = 0; i < reader->nnames && round->failure[0] == '\0'; i++)
	{
		if (reader->nnames != round->model.nnames ||
			(strcmp(reader->names[i], round->model.names[i].text.bytes) != 0 &&
			 !(reader->names[i][0] == '\0' && round->model.names[i].isnull)))
			set_failure(round, "wrong names, \"%s\"", reader->names[i]);
	}
	if (reader->nfields == 0 || round->failure[0] != '\0')
		return;
	csv_reader_want(reader, round->want, round->nwant);
	for (;;)
	{
		nrows = csv_reader_next(reader, 1 + random_below(round->max_rows));
		if (nrows == 0)
			break;
		compare_rows(round, reader, nrows);
		if (round->failure[0] != '\0')
			return;
		if (round->restart && one_in(4))
		{
			round->restart = false;
			round->at = 0;
			csv_reader_restart(reader);
		}
	}
	if (csv_reader_next(reader, 1) != 0)
		set_failure(round, "rows after the end");
}

static int64
number_after(const char *string, const char *words)
{
	const char *found = strstr(string, words);

	return found ? strtoll(found + strlen(words), NULL, 10) : -1;
}

static void
compare_error(Round *round)
{
	const Model *model = &round->model;
	bool		unclosed;

	if (model->error == NULL ||
		(strncmp(server_stub_error.message, model->error, strlen(model->error)) != 0 &&
		 (model->other_error == NULL ||
		  strncmp(server_stub_error.message, model->other_error, strlen(model->other_error)) != 0)))
	{
		set_failure(round, "error \"%s\" instead of \"%s\"", server_stub_error.message,
					model->error ? model->error : "none");
		return;
	}
	unclosed = strcmp(server_stub_error.message, UNCLOSED) == 0;
	if (number_after(server_stub_error.context, ", line ") != model->error_line)
		set_failure(round, "error \"%s\" at %s, not at line %lld", server_stub_error.message,
					server_stub_error.context, (long long) model->error_line);
	if (unclosed && number_after(server_stub_error.detail, "line ") != model->quote_line)
		set_failure(round, "%s, not %lld", server_stub_error.detail, (long long) model->quote_line);
	if (round->at != model->nrows)
		set_failure(round, "error after %d rows, not after %d", round->at, model->nrows);
}

static void
run_round(Round *round)
{
	bool		passed;

	memory_source_init(&round->source, "f.csv", round->file.bytes, round->file.length);
	round->source.most = one_in(3) ? 0 : one_in(3) ? 1 : 1 + random_below(100);
	round->source.ragged = round->source.most > 0;
	round->nwant = 0;
	model_read(&round->model, &round->dialect, round->text, round->wanted);
	for (int i = 0; i < Min(round->model.nfields, MAX_WANTED); i++)
	{
		if (round->wanted[i] || i == 0)
			round->want[round->nwant++] = i;
	}
	passed = server_stub_try(play_round, round);
	if (!passed)
		compare_error(round);
	else if (round->at != round->model.nrows)
		set_failure(round, "%d rows instead of %d", round->at, round->model.nrows);
	else if (round->model.error)
		set_failure(round, "no error, instead of \"%s\"", round->model.error);
}

static void
choose_reading(Round *round)
{
	static const size_t blocks[] = {1, 33, 40, 64, 100, 200, 5000, 20000};

	round->max_rows = one_in(3) ? 1 : one_in(2) ? 1 + random_below(5) : 1000;
	round->block_bytes = blocks[random_below(lengthof(blocks))];
	round->simd = one_in(2);
	round->restart = one_in(10);
	for (int i = 0; i < MAX_WANTED; i++)
		round->wanted[i] = i == 0 || !one_in(3);
}

static void
show_round(const Round *round, uint64 seed, int i)
{
	const CsvDialect *d = &round->dialect;
	Text		shown = {0};

	for (size_t at = 0; at < Min(round->file.length, 300); at++)
	{
		unsigned char c = round->file.bytes[at];

		add_string(&shown, c >= ' ' && c < 127 ? psprintf("%c", c) : psprintf("\\x%02x", c));
	}
	tap_note("seed %llu round %d: %s: %s", (unsigned long long) seed, i, d->grammar.csv ? "csv" : "text", round->failure);
	tap_note("  delimiter %02x, quote %02x, escape %02x, null \"%s\", header %d, skip %d, encoding %d",
			 (uint8) d->grammar.delimiter, (uint8) d->grammar.quote, (uint8) d->grammar.escape, d->grammar.null,
			 d->header, d->skip, d->encoding);
	tap_note("  block %zu, rows %d, simd %d, reads %zu, %zu bytes: %s", round->block_bytes, round->max_rows,
			 round->simd, round->source.most, round->file.length, shown.bytes ? shown.bytes : "");
}

/* ------------------------------------------------------------ random texts */

static void
choose_dialect(CsvDialect *dialect)
{
	static const char *const nulls[] = {"", "NULL", "\\N", "a", "\\x41"};

	memset(dialect, 0, sizeof(*dialect));
	dialect->grammar.csv = !one_in(3);
	dialect->encoding = PG_UTF8;
	dialect->grammar.null = dialect->grammar.csv && one_in(2) ? "" : nulls[random_below(lengthof(nulls))];
	dialect->header = one_in(4) ? HEADER_PRESENT : HEADER_NONE;
	dialect->skip = one_in(4) ? 1 + random_below(3) : 0;
	if (!dialect->grammar.csv)
	{
		dialect->grammar.delimiter = one_in(2) ? '\t' : one_in(2) ? ',' : 'B';
		if (one_in(2))
			dialect->grammar.null = "\\N";
	}
	else
	{
		dialect->grammar.delimiter = one_in(4) ? ';' : ',';
		dialect->grammar.quote = one_in(4) ? '\'' : '"';
		dialect->grammar.escape = !one_in(3) ? dialect->grammar.quote : one_in(3) ? dialect->grammar.delimiter : '\\';
	}
	if (strchr(dialect->grammar.null, dialect->grammar.delimiter) != NULL)
		dialect->grammar.null = "";
	dialect->grammar.null_length = (int) strlen(dialect->grammar.null);
}

/* Nearly anything, out of few bytes that mean something. */
static void
make_noise(Text *text, const CsvDialect *dialect)
{
	const char *const usual[] = {"a", "1", "\n", "\n", "\r\n", "\r", ".", "\\", "\\.", "\\N", "\\x41",
		"\\x4", "\\101", "\\303\\251", "\\xff", "\\0", "\xC3\xA9", "\xF0\x9F\x98\x80", "\xC3", "\xE2\x82", "\xFF", "abcdefghijklmnopqrstuvwxyz"};
	const char *palette[8];
	int			npalette = 3 + random_below(5);
	int			length = random_below(one_in(10) ? 3000 : 60);

	for (int i = 0; i < npalette; i++)
		palette[i] = usual[random_below(lengthof(usual))];
	for (int i = 0; i < length; i++)
	{
		switch (random_below(8))
		{
			case 0:
			case 1:
				add_char(text, dialect->grammar.delimiter);
				break;
			case 2:
				if (dialect->grammar.csv)
					add_char(text, one_in(3) ? dialect->grammar.escape : dialect->grammar.quote);
				break;
			default:
				add_string(text, palette[random_below(npalette)]);
				break;
		}
		if (one_in(2000))
			add_char(text, '\0');
	}
}

static void
add_csv_field(Text *text, const CsvDialect *dialect, const char *line_end)
{
	static const char *const plain[] = {"", "1", "12345", "a", "\xC3\xA9t\xC3\xA9", "NULL", "\\N", "\\.", "x y"};
	int			parts = random_below(4);

	if (!one_in(3))
	{
		add_string(text, plain[random_below(lengthof(plain))]);
		return;
	}
	add_char(text, dialect->grammar.quote);
	while (parts-- > 0)
	{
		add_string(text, plain[random_below(lengthof(plain))]);
		if (one_in(3))
		{
			add_char(text, dialect->grammar.escape);
			add_char(text, one_in(2) ? dialect->grammar.quote : dialect->grammar.escape);
		}
		if (one_in(4))
			add_string(text, one_in(5) ? "\n" : one_in(5) ? "\r" : line_end);
		if (one_in(5))
			add_char(text, dialect->grammar.delimiter);
		if (one_in(60))
		{
			for (int i = random_below(400); i > 0; i--)
				add_string(text, "long ");
		}
	}
	add_char(text, dialect->grammar.quote);
	if (one_in(10))
		add_string(text, "tail");
}

static void
add_text_field(Text *text, const CsvDialect *dialect, const char *line_end)
{
	static const char *const parts[] = {"1", "12345", "a", "\xC3\xA9", "\\N", "\\n", "\\t", "\\\\", "\\x41",
		"\\xc3\\xa9", "\\303\\251", "\\303", "\\q", "\\08", "\\x"};

	for (int n = one_in(3) ? random_below(4) : 1; n > 0; n--)
		add_string(text, parts[random_below(one_in(4) ? lengthof(parts) : 3)]);
	if (one_in(15))
	{
		add_char(text, '\\');
		add_char(text, one_in(2) ? dialect->grammar.delimiter : line_end[0]);
	}
}

/* A file as it should be, or nearly so. */
static void
make_file(Text *text, const CsvDialect *dialect)
{
	static const char *const line_ends[] = {"\n", "\r\n", "\r"};
	const char *line_end = line_ends[random_below(3)];
	int			nfields = one_in(6) ? 1 : one_in(2) ? 2 : one_in(5) ? 20 : 3;
	int			nrows = one_in(8) ? 600 : random_below(30);
	int			blanks = one_in(3) ? random_below(6) : 0;
	bool		plain = one_in(4);

	for (int i = 0; i < dialect->skip; i++)
	{
		add_string(text, one_in(2) ? "a \"comment\", \xFF" : one_in(3) ? "" : "x,y\\,z");
		add_string(text, line_end);
	}
	for (int row = 0; row < nrows; row++)
	{
		for (int i = 0; i < nfields; i++)
		{
			if (i > 0)
				add_char(text, dialect->grammar.delimiter);
			if (plain)
				add_string(text, psprintf("%d", random_below(100000)));
			else if (dialect->grammar.csv)
				add_csv_field(text, dialect, line_end);
			else
				add_text_field(text, dialect, line_end);
		}
		if (one_in(400))
			add_string(text, line_end);
		if (one_in(300))
			add_char(text, dialect->grammar.delimiter);
		if (row < nrows - 1 || !one_in(3))
			add_string(text, line_end);
	}
	if (blanks > 2 && one_in(2))
		blanks *= 20;
	for (int i = 0; i < blanks; i++)
		add_string(text, line_end);
	if (!dialect->grammar.csv && one_in(5))
	{
		add_string(text, "\\.");
		add_string(text, line_end);
		add_string(text, one_in(2) ? "" : "what follows\tis no data\xFF\n");
	}
}

static void
damage(Text *text)
{
	static const char bytes[] = {'\n', '\r', '"', '\\', '\0', '\xC3', '\xA9', '\xFF', ',', '.'};

	if (text->length > 0)
		text->bytes[random_below((int) text->length)] = bytes[random_below(lengthof(bytes))];
}

static Text
latin1_of(Round *round)
{
	Text		file = {0};

	for (size_t i = 0; i < round->text.length; i++)
	{
		unsigned char c = round->text.bytes[i];

		if (c == 0xC3 && i + 1 < round->text.length)
			add_char(&file, (char) (0xC0 | round->text.bytes[++i]));
		else
			add_char(&file, c);
	}
	add_bytes(&file, "", 0);
	return file;
}

/* The text that a file in LATIN1 holds. */
static Text
text_of_latin1(Text file)
{
	Text		text = {0};

	add_bytes(&text, "", 0);
	for (size_t i = 0; i < file.length; i++)
	{
		unsigned char c = file.bytes[i] ? file.bytes[i] : 1;

		file.bytes[i] = (char) c;
		if (c >= 0x80)
			add_char(&text, (char) (0xC0 | c >> 6));
		add_char(&text, (char) (c >= 0x80 ? 0x80 | (c & 0x3F) : c));
	}
	return text;
}

/*
 * What a database in LATIN1 gets to see of a file in UTF-8: nothing from the
 * first character on that it has not.  A zero byte stands there, for the
 * model to stumble over.  (A line end just before it is avoided: whether that
 * line is complete cannot be told from what can be converted.)
 */
static Text
narrow_text(Text file)
{
	Text		text = {0};
	size_t		at = file.length >= 3 && memcmp(file.bytes, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;

	for (size_t i = 0; i + 1 < file.length; i++)
	{
		unsigned char next = file.bytes[i + 1];

		if ((file.bytes[i] == '\n' || file.bytes[i] == '\r') && (next == 0 || next >= 0x80))
			file.bytes[i] = 'a';
	}
	add_bytes(&text, "", 0);
	for (; at < file.length; at++)
	{
		unsigned char c = file.bytes[at];

		if (c > 0 && c < 0x80)
			add_char(&text, (char) c);
		else if ((c == 0xC2 || c == 0xC3) && at + 1 < file.length && (file.bytes[at + 1] & 0xC0) == 0x80)
			add_char(&text, (char) (c << 6 | (file.bytes[++at] & 0x3F)));
		else
		{
			add_char(&text, '\0');
			break;
		}
	}
	return text;
}

static void
test_random_texts(uint64 seed, int rounds)
{
	int			failed = 0;
	int			with_rows = 0;
	int			with_errors = 0;

	for (int i = 0; i < rounds && failed < 5; i++)
	{
		MemoryContext context = AllocSetContextCreate(TopMemoryContext, "round", ALLOCSET_DEFAULT_SIZES);
		MemoryContext old = MemoryContextSwitchTo(context);
		Round	   *round = palloc0(sizeof(Round));

		choose_dialect(&round->dialect);
		choose_reading(round);
		if (one_in(10))
			add_string(&round->text, "\xEF\xBB\xBF");
		if (one_in(2))
			make_noise(&round->text, &round->dialect);
		else
			make_file(&round->text, &round->dialect);
		if (one_in(3))
			damage(&round->text);
		add_bytes(&round->text, "", 0);
		round->file = round->text;
		if (one_in(6))
		{
			round->dialect.encoding = PG_LATIN1;
			round->file = latin1_of(round);
			round->text = text_of_latin1(round->file);
		}
		else if (one_in(6))
		{
			server_stub_encoding = PG_LATIN1;
			round->dialect.skip = 0;
			round->text = narrow_text(round->file);
		}
		run_round(round);
		server_stub_encoding = PG_UTF8;
		with_rows += round->model.nrows > 0;
		with_errors += round->model.error != NULL;
		if (round->failure[0] != '\0')
		{
			failed++;
			show_round(round, seed, i);
		}
		MemoryContextSwitchTo(old);
		MemoryContextDelete(context);
	}
	tap_ok(failed == 0, "%d random texts are read as the model reads them (seed %llu)",
		   rounds, (unsigned long long) seed);
	tap_ok(rounds < 100 || (with_rows > rounds / 4 && with_errors > rounds / 10),
		   "of them %d had rows, %d an error", with_rows, with_errors);
}

/* ------------------------------------------------------------ single cases */

/* What the reader makes of a text, spelled: "a|b" for each row; [] around quoted, - for null. */
typedef struct Reading
{
	const char *name;
	const char *text;
	int			length;			/* 0: strlen */
	const char *options;		/* letters, see read_case */
	const char *rows;
	const char *error;			/* "message @ line", or NULL */
} Reading;

typedef struct ReadingCall
{
	Round	   *round;
	Text		rows;
} ReadingCall;

static void
spell_field(Text *out, const Round *round, const TextFields *fields, int row)
{
	uint32		length = fields->length[row];
	bool		quoted = (length & TEXT_FIELD_QUOTED) != 0;
	const char *bytes = fields->base + fields->offset[row];

	if (length == TEXT_FIELD_NULL ||
		(!quoted && equals_null(&round->model, bytes, length)))
		add_string(out, "-");
	else
	{
		add_string(out, quoted ? "[" : "");
		add_bytes(out, bytes, length & ~TEXT_FIELD_QUOTED);
		add_string(out, quoted ? "]" : "");
	}
}

static void
spell_rows(void *argument)
{
	ReadingCall *call = argument;
	Round	   *round = call->round;
	CsvReader  *reader = csv_reader_create(&round->dialect, &round->source.base, NULL, round->max_rows,
										   round->block_bytes, round->simd, CurrentMemoryContext);
	int			all[MAX_WANTED];
	int			nrows;

	for (int i = 0; i < MAX_WANTED; i++)
		all[i] = i;
	csv_reader_begin(reader);
	if (reader->nfields == 0)
		return;
	csv_reader_want(reader, all, reader->nfields);
	while ((nrows = csv_reader_next(reader, round->max_rows)) > 0)
	{
		for (int row = 0; row < nrows; row++)
		{
			for (int i = 0; i < reader->nfields; i++)
			{
				add_string(&call->rows, i > 0 ? "|" : "");
				spell_field(&call->rows, round, &reader->fields[i], row);
			}
			add_string(&call->rows, "\n");
		}
	}
}

/* t text, d delimiter D in place of it, h header, s skip a line, e escape "\", l LATIN1 */
static void
read_case(const Reading *reading)
{
	static const size_t blocks[] = {1, 33, 34, 64, 100, 20000};
	int			wrong = 0;

	for (int i = 0; i < (int) lengthof(blocks) * 4; i++)
	{
		MemoryContext context = AllocSetContextCreate(TopMemoryContext, "case", ALLOCSET_DEFAULT_SIZES);
		MemoryContext old = MemoryContextSwitchTo(context);
		Round	   *round = palloc0(sizeof(Round));
		ReadingCall call = {.round = round};
		const char *o = reading->options;
		bool		text = strchr(o, 't') != NULL;
		const char *got = NULL;

		round->dialect = (CsvDialect){
			.grammar.csv = !text,
			.grammar.delimiter = strchr(o, 'D') ? 'D' : text ? '\t' : ',',
			.grammar.quote = '"',
			.grammar.escape = strchr(o, 'e') ? '\\' : '"',
			.grammar.null = text ? "\\N" : "",
			.grammar.null_length = text ? 2 : 0,
			.encoding = strchr(o, 'l') ? PG_LATIN1 : PG_UTF8,
			.header = strchr(o, 'h') ? HEADER_PRESENT : HEADER_NONE,
			.skip = strchr(o, 's') ? 1 : 0
		};
		round->model.dialect = &round->dialect;
		round->file = text_of(reading->text, reading->length ? (size_t) reading->length : strlen(reading->text));
		memory_source_init(&round->source, "f.csv", round->file.bytes, round->file.length);
		round->block_bytes = blocks[i / 4];
		round->simd = i % 2 == 0;
		round->max_rows = i % 4 < 2 ? 1000 : 1;
		add_string(&call.rows, "");
		if (!server_stub_try(spell_rows, &call))
			got = psprintf("%s @ %lld", server_stub_error.message,
						   (long long) number_after(server_stub_error.context, ", line "));
		if (strcmp(call.rows.bytes, reading->rows) != 0 ||
			(got == NULL) != (reading->error == NULL) ||
			(got && strcmp(got, reading->error) != 0))
		{
			if (wrong++ == 0)
				tap_note("block %zu, rows %d, simd %d: error %s, rows:\n# %s", round->block_bytes,
						 round->max_rows, round->simd, got ? got : "none", call.rows.bytes);
		}
		MemoryContextSwitchTo(old);
		MemoryContextDelete(context);
	}
	tap_ok(wrong == 0, "%s", reading->name);
}

#define FORTY		"1,aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n"
#define BLANKS		"\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n"
#define FORTY_ROW	"1|aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n"

static const Reading readings[] = {
	{"no bytes", "", 0, "", "", NULL},
	{"only blank lines", "\n\n\n", 0, "", "", NULL},
	{"one row without an end", "1,a", 0, "", "1|a\n", NULL},
	{"CRLF", "1,a\r\n2,b\r\n", 0, "", "1|a\n2|b\n", NULL},
	{"CR", "1,a\r2,b\r", 0, "", "1|a\n2|b\n", NULL},
	{"a null and an empty string", "1,\n2,\"\"\n", 0, "", "1|-\n2|[]\n", NULL},
	{"quotes within a field", "1,a\"b,c\"d\"\"\n", 0, "", "1|[ab,cd]\n", NULL},
	{"doubled quotes", "1,\"a\"\"b\"\n2,\"\"\"\"\n", 0, "", "1|[a\"b]\n2|[\"]\n", NULL},
	{"an escape of its own", "1,\"a\\\"b\\\\\"\n2,\\\"x\"\n", 0, "e", "1|[a\"b\\]\n2|[\\x]\n", NULL},
	{"line ends in quotes", "1,\"a\nb\r\nc\"\n2,x,y\n", 0, "", "1|[a\nb\r\nc]\n",
	"row has 3 fields, expected 2 @ 4"},
	{"byte order mark and header", "\xEF\xBB\xBF" "id,v\n1,a\n", 0, "h", "1|a\n", NULL},
	{"byte order mark and no header", "\xEF\xBB\xBF" "1,a\n", 0, "", "1|a\n", NULL},
	{"a skipped line and no header", "x,\"y\n1,a\n2,b\n3,c,d\n", 0, "s", "1|a\n2|b\n", "row has 3 fields, expected 2 @ 4"},
	{"a skipped line that is like a row", "x,y\n1,a\n2,b\n3,c,d\n", 0, "s", "1|a\n2|b\n", "row has 3 fields, expected 2 @ 4"},
	{"a skipped line and a header", "x\xFFy\nid,v\n1,a\n2\n", 0, "sh", "1|a\n", "row has 1 field, expected 2 @ 4"},
	{"a header in quotes over two lines", "\"i\nd\",v\n1,a\n2\n", 0, "h", "1|a\n", "row has 1 field, expected 2 @ 4"},
	{"the same with carriage returns", "\"i\rd\",v\r1,a\r2\r", 0, "h", "1|a\n", "row has 1 field, expected 2 @ 4"},
	{"blank lines at the end", "1,a\n2,b\n\n\n\n", 0, "", "1|a\n2|b\n", NULL},
	{"blank lines at the end, CRLF",
		"1,a\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n", 0, "",
	"1|a\n", NULL},
	{"a blank line in the middle", "1,a\n\n2,b\n", 0, "", "1|a\n", "row has 1 field, expected 2 @ 2"},
	{"many blank lines in the middle", FORTY BLANKS BLANKS FORTY, 0, "",
	FORTY_ROW, "row has 1 field, expected 2 @ 2"},
	{"a fault behind blank lines is the second one", FORTY BLANKS BLANKS "1,\"", 0, "",
	FORTY_ROW, "row has 1 field, expected 2 @ 2"},
	{"blank lines are nulls where there is one field", "1\n\n2\n\n", 0, "", "1\n-\n2\n", NULL},
	{"a quote that stays open", "1,a\n2,\"x\ny\"\n3,\"b\n4,c\n", 0, "", "1|a\n2|[x\ny]\n", UNCLOSED " @ 4"},
	{"a carriage return among newlines", "1,a\n2,b\rc\n", 0, "", "1|a\n", "unquoted carriage return found in data @ 2"},
	{"a newline among carriage returns", "1,a\r2,b\nc\r", 0, "", "1|a\n", "unquoted newline found in data @ 2"},
	{"a newline alone among CRLF", "1,a\r\n2,b\n3,c\r\n", 0, "", "1|a\n", "unquoted newline found in data @ 2"},
	{"a carriage return alone among CRLF", "1,a\r\n2,b\r3,c\r\n", 0, "", "1|a\n", "unquoted carriage return found in data @ 2"},
	{"a zero byte", "1,a\n2,\0b\n", 9, "", "1|a\n", INVALID " for encoding \"UTF8\": 0x00 @ 2"},
	{"a zero byte in LATIN1", "1,a\n2,\0b\n", 9, "l", "1|a\n", INVALID " for encoding \"LATIN1\": 0x00 @ 2"},
	{"broken UTF-8", "1,a\n2,b\n3,\xC3(\n4,d\n", 0, "", "1|a\n2|b\n", INVALID " for encoding \"UTF8\": 0xc3 @ 3"},
	{"UTF-8 cut by the end", "1,a\n2,\xE2\x82", 0, "", "1|a\n", INVALID " for encoding \"UTF8\": 0xe2 @ 2"},
	{"UTF-8 cut by a line end", "1,a\n2,\xE2\x82\n3,\xAC\n", 0, "", "1|a\n", INVALID " for encoding \"UTF8\": 0xe2 @ 2"},
	{"LATIN1", "1,\xE9t\xE9\n2,b\n", 0, "l", "1|\xC3\xA9t\xC3\xA9\n2|b\n", NULL},
	{"\"\\.\" is data in CSV", "\\.,\\.\n\\.,b\n", 0, "", "\\.|\\.\n\\.|b\n", NULL},
	{"\"\\.\" alone is data in CSV", "\\.\na\n", 0, "", "\\.\na\n", NULL},
	{"text: escapes", "1\ta\\tb\\n\\\\\\x41\\101\\q\n2\t\\N\n", 0, "t", "1|[a\tb\n\\AAq]\n2|-\n", NULL},
	{"text: an escaped line end and delimiter", "1\ta\\\nb\\\tc\n2\n", 0, "t", "1|[a\nb\tc]\n", "row has 1 field, expected 2 @ 3"},
	{"text: null is compared before escapes", "\\116\t\\\\N\n", 0, "t", "[N]|[\\N]\n", NULL},
	{"text: the end marker", "1\ta\n\\.\njunk\xFF\n", 0, "t", "1|a\n", NULL},
	{"text: the end marker not alone", "1\ta\n2\tb\\.\n", 0, "t", "1|a\n", MARKER " @ 2"},
	{"text: the end marker without a line end", "1\ta\n\\.", 0, "t", "1|a\n", MARKER " @ 2"},
	{"text: the end marker in the style of others", "1\ta\r\n\\.\r\n", 0, "t", "1|a\n", NULL},
	{"text: the end marker in a style of its own", "1\ta\n\\.\r\n", 0, "t", "1|a\n", MARKER_STYLE " @ 2"},
	{"text: something behind the end marker", "1\ta\n\\.x\n", 0, "t", "1|a\n", MARKER " @ 2"},
	{"text: a backslash at the very end", "1\ta\\", 0, "t", "1|[a]\n", NULL},
	{"text: a hexadecimal digit is no delimiter", "1D\\xD\n", 0, "tD", "1|[\r]\n", NULL},
	{"text: bytes made by escapes are verified, after the rows before",
		"1\ta\n2\t\\303\\251\n3\t\\377\n4\tb\n", 0, "t", "1|a\n2|[\xC3\xA9]\n", INVALID " for encoding \"UTF8\": 0xff @ 3"},
	{"text: a zero byte made by an escape", "1\ta\n2\t\\0\n", 0, "t", "1|a\n", INVALID " for encoding \"UTF8\": 0x00 @ 2"},
	{"many fields with escapes", "1\t\\\\\\t\t3\t4\t5\t6\t7\t\\t\t9\ta\\tb\n", 0, "t",
	"1|[\\\t]|3|4|5|6|7|[\t]|9|[a\tb]\n", NULL},
	{"many quoted fields", "1,\"a\"\"b\",3,4,5,6,7,8,\"x\\\"y\",\"\"\"\"\n", 0, "e",
	"1|[ab]|3|4|5|6|7|8|[x\"y]|[]\n", NULL},
};

static void
test_readings(void)
{
	for (int i = 0; i < (int) lengthof(readings); i++)
		read_case(&readings[i]);
}

/* A row that is longer than any block, between short ones. */
static void
test_long_row(void)
{
	Round	   *round = palloc0(sizeof(Round));
	ReadingCall call = {.round = round};
	Text		want = {0};

	round->dialect = (CsvDialect){
		.grammar = {.csv = true, .delimiter = ',', .quote = '"', .escape = '"', .null = ""},
		.encoding = PG_UTF8
	};
	round->model.dialect = &round->dialect;
	add_string(&round->file, "1,a\n2,\"");
	add_string(&want, "1|a\n2|[");
	for (int i = 0; i < 300000; i++)
	{
		add_string(&round->file, "0123456789\n");
		add_string(&want, "0123456789\n");
	}
	add_string(&round->file, "\"\n3,c\n");
	add_string(&want, "]\n3|c\n");
	memory_source_init(&round->source, "f.csv", round->file.bytes, round->file.length);
	round->block_bytes = 4096;
	round->simd = true;
	round->max_rows = 1000;
	tap_ok(server_stub_try(spell_rows, &call) && call.rows.length == want.length &&
		   memcmp(call.rows.bytes, want.bytes, want.length) == 0, "a row of three megabytes");
}

/* ------------------------------------------------------------ options */

/* What COPY's documentation says of options, and the SQLSTATEs that COPY has for it. */
static const struct
{
	bool		csv;
	const char *delimiter;
	const char *quote;
	const char *escape;
	const char *null;
	int			skip;
	const char *state;			/* or "" */
}			declarations[] =
{
	{true, NULL, NULL, NULL, NULL, 0, ""},
	{false, NULL, NULL, NULL, NULL, 0, ""},
	{true, "a", "b", "a", "NULL", 3, ""},
	{true, ";", NULL, "\\", "\\N", 0, ""},
	{false, "A", NULL, NULL, "", 0, ""},
	{true, "", NULL, NULL, NULL, 0, "0A000"},
	{true, ",,", NULL, NULL, NULL, 0, "0A000"},
	{true, "\xC3\xA9", NULL, NULL, NULL, 0, "0A000"},
	{true, "\n", NULL, NULL, NULL, 0, "22023"},
	{true, "\r", NULL, NULL, NULL, 0, "22023"},
	{true, NULL, "\"\"", NULL, NULL, 0, "0A000"},
	{true, NULL, ",", NULL, NULL, 0, "22023"},
	{true, NULL, "\n", NULL, NULL, 0, "22023"},
	{true, NULL, NULL, "", NULL, 0, "0A000"},
	{true, NULL, NULL, NULL, "a,b", 0, "0A000"},
	{true, NULL, NULL, NULL, "a\"b", 0, "0A000"},
	{true, NULL, NULL, NULL, "a\nb", 0, "22023"},
	{false, "\\", NULL, NULL, NULL, 0, "22023"},
	{false, ".", NULL, NULL, NULL, 0, "22023"},
	{false, "n", NULL, NULL, NULL, 0, "22023"},
	{false, "0", NULL, NULL, NULL, 0, "22023"},
	{false, NULL, "\"", NULL, NULL, 0, "0A000"},
	{false, NULL, NULL, "\"", NULL, 0, "0A000"},
	{false, NULL, NULL, NULL, "a\tb", 0, "0A000"},
	{false, NULL, NULL, NULL, "\r", 0, "22023"},
};

static CsvDialect resolved;

static void
resolve_declaration(void *argument)
{
	int			i = *(int *) argument;
	TextOptions options = {
		.delimiter = declarations[i].delimiter,
		.quote = declarations[i].quote,
		.escape = declarations[i].escape,
		.null = declarations[i].null,
		.encoding = -1,
		.skip = declarations[i].skip
	};

	csv_dialect_resolve(&options, declarations[i].csv, &resolved);
}

static void
test_options(void)
{
	for (int i = 0; i < (int) lengthof(declarations); i++)
	{
		const char *state = server_stub_try(resolve_declaration, &i) ? "" :
			server_stub_sqlstate(server_stub_error.sqlerrcode);

		if (strcmp(state, declarations[i].state) != 0)
			tap_note("declaration %d: %s instead of %s", i, state, declarations[i].state);
		tap_ok(strcmp(state, declarations[i].state) == 0, "options %d: %s", i,
			   declarations[i].state[0] ? server_stub_error.message : "accepted");
		if (i == 0)
			tap_ok(resolved.grammar.delimiter == ',' && resolved.grammar.quote == '"' && resolved.grammar.escape == '"' &&
				   resolved.grammar.null_length == 0 && resolved.encoding == PG_UTF8, "defaults of CSV");
		if (i == 1)
			tap_ok(resolved.grammar.delimiter == '\t' && strcmp(resolved.grammar.null, "\\N") == 0, "defaults of text");
		if (i == 2)
			tap_ok(resolved.grammar.delimiter == 'a' && resolved.grammar.quote == 'b' && resolved.grammar.escape == 'a' &&
				   resolved.grammar.null_length == 4 && resolved.skip == 3, "all declared");
	}
}

/* ------------------------------------------------------------ the scan alone */

#define SCANNED		1000

static void
random_grammar(CsvGrammar *grammar)
{
	*grammar = (CsvGrammar){
		.csv = !one_in(3),
		.delimiter = one_in(4) ? ';' : ',',
		.quote = '"',
		.escape = one_in(3) ? '\\' : '"',
		.null = "",
		.line_end = 1 + random_below(3)
	};
}

static char *
scan_text(const CsvGrammar *grammar, int length)
{
	static const char bytes[] = "aaaaaaaaaab\xC3\xA9\"\"\"\\\0";
	char	   *base = palloc0(length + CSV_SCAN_SLACK + TEXT_FIELD_PADDING);
	bool		quiet = one_in(2);

	for (int i = 0; i < length; i++)
	{
		base[i] = one_in(4) ? grammar->delimiter : quiet ? 'a' : bytes[random_below(sizeof(bytes) - 1)];
		if (one_in(8) && i + 1 < length)
		{
			if (grammar->line_end != LINE_END_LF)
				base[i++] = '\r';
			if (grammar->line_end != LINE_END_CR)
				base[i] = '\n';
		}
		if (!quiet && one_in(100))
			base[i] = one_in(2) ? '\r' : '\n';
	}
	return base;
}

/* What the marks are, said once more: byte by byte. */
static int
slow_marks(const CsvGrammar *grammar, const char *base, int from, int to, bool *in_quote, uint32 *marks)
{
	bool		parity = grammar->csv && grammar->quote == grammar->escape;
	char		special = grammar->csv ? grammar->quote : '\\';
	int			n = 0;

	for (int i = from; i < to; i++)
	{
		bool		pair = grammar->line_end == LINE_END_CRLF && base[i] == '\r' && i + 1 < to && base[i + 1] == '\n';

		if (base[i] == special && parity)
			*in_quote = !*in_quote;
		else if (!*in_quote && (base[i] == grammar->delimiter || base[i] == '\n' || (base[i] == '\r' && !pair)))
			marks[n++] = i;
		else if (base[i] == special && !parity)
			marks[n++] = i;
	}
	return n;
}

static CsvScan *
new_scan(const CsvGrammar *grammar, CsvScanMarks marks)
{
	CsvScan    *scan = palloc0(sizeof(CsvScan));

	csv_scan_init(scan, grammar, true);
	scan->marks = marks;
	scan->position = palloc((SCANNED + CSV_SCAN_PIECE + 2 * CSV_SCAN_SLACK) * sizeof(uint32));
	return scan;
}

static void
test_marks(int rounds)
{
	CsvScanMarks kinds[CSV_SCAN_WIDTHS];
	int			nkinds = csv_scan_widths(kinds);
	int			wrong[CSV_SCAN_WIDTHS] = {0};
	int			different = 0;

	for (int i = 0; i < rounds; i++)
	{
		MemoryContext context = AllocSetContextCreate(TopMemoryContext, "round", ALLOCSET_DEFAULT_SIZES);
		MemoryContext old = MemoryContextSwitchTo(context);
		int			length = 1 + random_below(SCANNED);
		int			blocks = 64 * (1 + random_below(5));
		int			cut = one_in(2) ? length : Min(length, blocks);
		CsvScan    *scans[CSV_SCAN_WIDTHS];
		CsvGrammar	grammar;
		char	   *base;
		uint32	   *marks = palloc(sizeof(uint32) * (length + 1));

		random_grammar(&grammar);
		base = scan_text(&grammar, length);
		for (int k = 0; k < nkinds; k++)
		{
			scans[k] = new_scan(&grammar, kinds[k]);
			/* a pair of line end bytes may lie across the cut: both ways are right */
			if (cut < length && base[cut] == '\n' && base[cut - 1] == '\r')
				base[cut] = 'a';
		}
		for (int from = 0, to = cut, at = 0; from < length; from = to, to = length)
		{
			bool		in_quote = scans[0]->in_quote != 0;
			int			n = slow_marks(&grammar, base, from, to, &in_quote, marks);

			for (int k = 0; k < nkinds; k++)
			{
				csv_scan_marks(scans[k], base, from, to);
				wrong[k] += scans[k]->end - at != n ||
					memcmp(scans[k]->position + at, marks, sizeof(uint32) * n) != 0;
				different += scans[k]->in_quote != scans[0]->in_quote ||
					scans[k]->quote_end != scans[0]->quote_end || scans[k]->breaks != scans[0]->breaks ||
					scans[k]->plain_ascii != scans[0]->plain_ascii;
			}
			at += n;
		}
		MemoryContextSwitchTo(old);
		MemoryContextDelete(context);
	}
	for (int k = 0; k < nkinds; k++)
		tap_is_int(wrong[k], 0, psprintf("marks found by the scan of width %d", k));
	tap_is_int(different, 0, "what else a scan says is the same with all of them");
}

/* Rows that the scan takes are those that csv_rows.c finds. */
static int
compare_taken(const CsvGrammar *grammar, char *base, int length, int nfields)
{
	CsvScan    *scan = new_scan(grammar, choose_marks(one_in(2)));
	int			all[4] = {0, 1, 2, 3};
	uint32		offset[4];
	uint32		bytes[4];
	uint32	   *offsets[4];
	uint32	   *lengths[4];
	CsvFields	fields = {nfields, nfields, all, offsets, lengths};
	uint32		start = 0;
	uint32		at = 0;
	int			nrows = 0;
	int			wrong = 0;
	char	   *copy = memcpy(palloc(length + 200), base, length + CSV_SCAN_SLACK);

	for (int i = 0; i < nfields; i++)
	{
		offsets[i] = palloc(sizeof(uint32) * SCANNED);
		lengths[i] = palloc(sizeof(uint32) * SCANNED);
	}
	csv_scan_marks(scan, base, 0, length);
	(void) csv_scan_take(scan, &fields, base, &start, length, &nrows, SCANNED);
	if (scan->parity)
	{
		for (int i = 0; i < nfields; i++)
			csv_fields_unquote(base, grammar->quote, 0, nrows, offsets[i], lengths[i]);
	}
	for (int row = 0; row < nrows && wrong == 0; row++)
	{
		CsvRow		found;

		wrong += csv_row_find(grammar, copy, at, length, true, &found) != CSV_ROW_OK || found.nfields != nfields;
		if (wrong)
			break;
		at = found.next;
		(void) csv_row_split(grammar, copy, &found, all, nfields, offset, bytes);
		for (int i = 0; i < nfields; i++)
		{
			/* the scan leaves the null string to whoever decodes */
			if (bytes[i] == TEXT_FIELD_NULL)
				bytes[i] = grammar->null_length;
			wrong += bytes[i] != lengths[i][row] ||
				memcmp(copy + offset[i], base + offsets[i][row], bytes[i] & ~TEXT_FIELD_QUOTED) != 0;
		}
	}
	return wrong + (at != start);
}

static void
test_taken(int rounds)
{
	int			wrong = 0;

	for (int i = 0; i < rounds; i++)
	{
		MemoryContext context = AllocSetContextCreate(TopMemoryContext, "round", ALLOCSET_DEFAULT_SIZES);
		MemoryContext old = MemoryContextSwitchTo(context);
		CsvGrammar	grammar;
		int			length;
		char	   *base;

		random_grammar(&grammar);
		length = 1 + random_below(SCANNED);
		base = scan_text(&grammar, length);
		if (one_in(2))
		{
			/* rows of two fields, so that more than the first is taken */
			for (int at = 0; at + 12 < length; at += 12)
			{
				memcpy(base + at, one_in(4) ? "\"123\",\"\"\"a\"\n" : "12345,abcd\r\n", 12);
				if (grammar.line_end != LINE_END_CRLF && base[at + 10] == '\r')
					base[at + 10] = 'a';
				if (grammar.line_end == LINE_END_CRLF)
					base[at + 10] = '\r';
				if (grammar.line_end == LINE_END_CR)
					base[at + 11] = '\r';
				base[at + 5] = grammar.delimiter;
			}
		}
		wrong += compare_taken(&grammar, base, length, one_in(2) ? 2 : 1 + random_below(4)) != 0;
		MemoryContextSwitchTo(old);
		MemoryContextDelete(context);
	}
	tap_is_int(wrong, 0, "rows that the scan takes are those found the slow way");
}

/* ------------------------------------------------------------ files */

static char scratch[] = "/tmp/outerjoin_csv_XXXXXX";

TypeCacheEntry *
lookup_type_cache(Oid type_id, int flags)
{
	static TypeCacheEntry entry;

	(void) type_id;
	(void) flags;
	return &entry;
}

typedef struct FileRow
{
	int64		number;
	int64		line;
	size_t		offset;
	int			value_length;	/* in the database encoding */
} FileRow;

typedef struct FileCase
{
	StreamSpec	spec;
	FieldSpec	key_field;
	FieldSpec	value_field;
	Key			key;
	KeyColumn	column;
	StreamResources resources;
	SegmentFile segment;
	Text		text;
	FileRow    *rows;
	int			nrows;
	bool		multiline;		/* some row holds a line break */
	StreamFacts facts;
	int64		bound;
	bool		inclusive;
	char		failure[400];
} FileCase;

static void
init_case(FileCase *file)
{
	memset(file, 0, sizeof(*file));
	file->key_field = (FieldSpec){.column = "id", .attnum = 1, .type = INT8OID, .typmod = -1};
	file->value_field = (FieldSpec){.column = "v", .attnum = 2, .type = TEXTOID, .typmod = -1};
	file->column = (KeyColumn){.name = "id", .type = INT8OID, .typmod = -1, .typbyval = true, .typlen = 8, .integer_like = true};
	file->key = (Key){1, true, &file->column};
	file->resources = (StreamResources){.batch_rows = 1000, .first_rows = 10, .block_bytes = 8192, .memory_kb = 64, .simd = true};
	file->spec.folder.base = scratch;
	file->spec.column = "v";
	file->spec.text.encoding = -1;
	file->spec.nkeys = 1;
	file->spec.keys = &file->key_field;
	file->spec.nfields = 1;
	file->spec.fields = &file->value_field;
	file->spec.sorted = true;
	file->spec.queue = 2;
	file->segment = (SegmentFile){.name = "f.csv", .format = &csv_column_format, .csv = true, .compression = COMPRESSION_NONE};
}

static void
write_case(FileCase *file)
{
	FILE	   *out = fopen(psprintf("%s/f.csv", scratch), "w");

	if (out == NULL || fwrite(file->text.bytes, 1, file->text.length, out) != file->text.length || fclose(out) != 0)
		elog(ERROR, "could not write a file");
}

/* How random files differ. */
typedef struct FileStyle
{
	const char *line_end;
	bool		csv;
	bool		header;
	int			skip;
	bool		quoted;
	bool		multiline;
	bool		latin1;
	bool		marker;			/* ends with "\\.", and more behind it */
	int			value_bytes;
	int			nrows;
} FileStyle;

static int
add_value(FileCase *file, const FileStyle *style, bool break_here, int64 *line)
{
	int			length = random_below(style->value_bytes + 1);
	int			value_length = length;

	if (style->quoted)
		add_char(&file->text, '"');
	for (int i = 0; i < length; i++)
		add_char(&file->text, (char) ('a' + i % 26));
	if (style->latin1 && one_in(3))
	{
		add_char(&file->text, '\xE9');
		value_length += 2;
	}
	if (break_here)
	{
		/* what follows looks like a row, and like one out of order */
		if (!style->csv)
			add_char(&file->text, '\\');
		add_string(&file->text, style->csv ? style->line_end : psprintf("%c", style->line_end[0]));
		add_string(&file->text, style->csv ? "0,zero" : "0");
		value_length += (style->csv ? strlen(style->line_end) + strlen("0,zero") : 2);
		(*line)++;
		file->multiline = true;
	}
	if (style->quoted)
		add_char(&file->text, '"');
	return value_length;
}

static void
make_case(FileCase *file, const FileStyle *style)
{
	int64		line = 1;
	int64		number = -random_below(1000);
	const char *delimiter = style->csv ? "," : "\t";

	init_case(file);
	file->spec.text.header = style->header ? HEADER_PRESENT : HEADER_NONE;
	file->spec.text.skip = style->skip;
	file->spec.text.encoding = style->latin1 ? PG_LATIN1 : -1;
	file->segment.csv = style->csv;
	file->spec.format = style->csv ? "csv" : "text";
	file->column.descending = one_in(4);
	file->resources.block_bytes = one_in(2) ? 100 : 8192;
	file->resources.batch_rows = one_in(2) ? 1 + random_below(20) : 1000;
	file->resources.simd = one_in(2);
	file->rows = palloc(sizeof(FileRow) * Max(style->nrows, 1));
	if (!style->latin1 && one_in(4))
		add_string(&file->text, "\xEF\xBB\xBF");
	for (int i = 0; i < style->skip; i++, line++)
		add_string(&file->text, psprintf("a comment%s", style->line_end));
	if (style->header)
	{
		add_string(&file->text, psprintf("id%sv%s", delimiter, style->line_end));
		line++;
	}
	for (int i = 0; i < style->nrows; i++)
	{
		FileRow    *row = &file->rows[file->nrows++];

		*row = (FileRow){number, line, file->text.length, 0};
		add_string(&file->text, psprintf("%lld%s", (long long) (file->column.descending ? -number : number), delimiter));
		row->value_length = add_value(file, style, style->multiline && one_in(50), &line);
		if (i < style->nrows - 1 || style->marker || !one_in(3))
			add_string(&file->text, style->line_end);
		line++;
		number += random_below(4);
	}
	if (style->marker)
	{
		add_string(&file->text, psprintf("\\.%s0\tzero%s", style->line_end, style->line_end));
		file->multiline = true;
	}
	else if (one_in(4))
		add_string(&file->text, style->line_end);
	if (file->text.length == 0)
		add_bytes(&file->text, "", 0);
}

/* An empty field of a CSV file is null where it is not quoted. */
static bool
value_right(const FileCase *file, const FileRow *row, Datum value, bool isnull)
{
	if (isnull)
		return row->value_length == 0 && file->segment.csv;
	return (int) VARSIZE_ANY_EXHDR(DatumGetPointer(value)) == row->value_length;
}

static void
compare_stream(FileCase *file, ColumnStream *stream, int at_least, int at_most, int batches)
{
	int			at = -1;

	while (batches-- > 0 && stream_next_batch(stream))
	{
		const ColumnBatch *batch = &stream->batch;
		Datum		values[1000];
		bool		isnull[1000];
		RowLocation location;

		stream_decode(stream, 0, 0, batch->nrows, values, isnull);
		stream->methods->locate(stream, 0, &location);
		if (at < 0)
		{
			/* the key's image ascends in any case, and "number" with it */
			at = (int) location.row - 1;
			if (at > at_most || at < at_least)
			{
				set_failure(file, "begins with row %d, not %d to %d", at, at_least, at_most);
				return;
			}
		}
		for (int row = 0; row < batch->nrows; row++, at++)
		{
			int64		want = at < file->nrows ? file->rows[at].number : 0;
			int64		image = batch->image[row];

			if (row == batch->nrows - 1)
				stream->methods->locate(stream, row, &location);
			if (at >= file->nrows || (file->column.descending ? image + 1 : image) != want)
			{
				set_failure(file, "row %d of %d has the key %lld, not %lld", at, file->nrows, (long long) image, (long long) want);
				return;
			}
			if (!value_right(file, &file->rows[at], values[row], isnull[row]))
				set_failure(file, "wrong value in row %d", at);
			if ((row == 0 || row == batch->nrows - 1) &&
				(location.row != at + 1 || location.line != file->rows[at].line))
			{
				set_failure(file, "row %d is said to be row %lld, line %lld, not line %lld", at + 1,
							(long long) location.row, (long long) location.line, (long long) file->rows[at].line);
				return;
			}
		}
	}
	if (batches >= 0 && at >= 0 && at != file->nrows)
		set_failure(file, "%d rows instead of %d", at, file->nrows);
	if (batches >= 0 && at < 0 && at_most < file->nrows)
		set_failure(file, "no rows, row %d is missed", at_most);
}

/* First row that a bound lets through. */
static int
first_within(const FileCase *file, int64 image, bool inclusive)
{
	int			i = 0;

	while (i < file->nrows && (file->rows[i].number < image || (file->rows[i].number == image && !inclusive)))
		i++;
	return i;
}

/* First row that may come: not more than some 16 kB before it. */
static int
first_near(const FileCase *file, int within, bool can_seek)
{
	size_t		end = within < file->nrows ? file->rows[within].offset : file->text.length;
	int			i = within;

	if (!can_seek || file->text.length < 64 * 1024)
		return 0;
	while (i > 0 && end - file->rows[i - 1].offset < 17 * 1024)
		i--;
	return i;
}

static void
play_seeks(void *argument)
{
	FileCase   *file = argument;
	const bool	wanted[] = {true};
	ColumnStream *stream;

	write_case(file);
	stream = csv_column_format.open(&file->spec, &file->segment, &file->key, wanted, &file->resources);
	for (int i = 0; i < 12 && file->failure[0] == '\0'; i++)
	{
		int64		number = file->nrows > 0 ? file->rows[random_below(file->nrows)].number + random_below(3) - 1 : 0;
		bool		inclusive = one_in(2);
		int			within = first_within(file, number, inclusive);
		/* a descending key's image is the complement of the number written, which is the negative */
		int64		image = file->column.descending ? number - 1 : number;
		Datum		value = Int64GetDatum(file->column.descending ? -number : number);
		KeyBound	bound = {.ncolumns = 1, .inclusive = inclusive, .image = image, .values = &value};

		if (one_in(6))
		{
			stream_seek(stream, NULL);
			compare_stream(file, stream, 0, 0, one_in(2) ? 3 : INT_MAX);
			continue;
		}
		stream_seek(stream, &bound);
		compare_stream(file, stream, first_near(file, within, !file->multiline), within, one_in(2) ? 3 : INT_MAX);
	}
	stream->methods->close(stream);
}

/*
 * Batches from the end: each must be the rows right before those of the last
 * one, in the file's order.  The first one ends with row number "at_least" to
 * "at_most" (rows count from 1; 0: none).
 */
static void
compare_back(FileCase *file, ColumnStream *stream, int at_least, int at_most, int batches)
{
	int			at = -1;

	while (batches-- > 0 && stream->methods->previous_batch(stream))
	{
		const ColumnBatch *batch = &stream->batch;
		int			n = batch->nrows;
		Datum		values[1000];
		bool		isnull[1000];
		RowLocation location;

		if (n < 1 || n > file->resources.batch_rows)
			set_failure(file, "a batch of %d rows, %d are the most", n, file->resources.batch_rows);
		stream_decode(stream, 0, 0, n, values, isnull);
		stream->methods->locate(stream, n - 1, &location);
		if (at < 0)
		{
			at = (int) location.row;
			if (at < at_least || at > at_most)
				set_failure(file, "going back begins with row %d, not %d to %d", at, at_least, at_most);
		}
		for (int row = n - 1; row >= 0 && file->failure[0] == '\0'; row--, at--)
		{
			int64		want = at > 0 ? file->rows[at - 1].number : 0;
			int64		image = batch->image[row];

			if (row == 0)
				stream->methods->locate(stream, row, &location);
			if (at <= 0 || (file->column.descending ? image + 1 : image) != want)
				set_failure(file, "going back, row %d has the key %lld, not %lld", at, (long long) image, (long long) want);
			else if (!value_right(file, &file->rows[at - 1], values[row], isnull[row]))
				set_failure(file, "going back, wrong value in row %d", at);
			else if ((row == 0 || row == n - 1) &&
					 (location.row != at || location.line != file->rows[at - 1].line))
				set_failure(file, "going back, row %d is said to be row %lld, line %lld, not line %lld", at,
							(long long) location.row, (long long) location.line,
							(long long) file->rows[at - 1].line);
		}
		if (file->failure[0] != '\0')
			return;
		/* the row behind a batch is known as well */
		stream->methods->locate(stream, n, &location);
		if (at + n < file->nrows &&
			(location.row != at + n + 1 || location.line != file->rows[at + n].line))
			set_failure(file, "the row behind a batch is said to be row %lld, line %lld",
						(long long) location.row, (long long) location.line);
	}
	if (batches >= 0 && at > 0)
		set_failure(file, "going back ends before row %d", at);
	if (batches >= 0 && at < 0 && at_least > 0)
		set_failure(file, "going back, no rows instead of %d", at_least);
}

/* The last row that may come: not more than some 16 kB behind the last one wanted. */
static int
last_near(const FileCase *file, int within, bool can_seek)
{
	size_t		from = within < file->nrows ? file->rows[within].offset : file->text.length;
	int			i = within;

	if (!can_seek || file->text.length < 64 * 1024)
		return file->nrows;
	while (i < file->nrows && file->rows[i].offset - from < 17 * 1024)
		i++;
	return i;
}

static void
play_backward(void *argument)
{
	FileCase   *file = argument;
	const bool	wanted[] = {true};
	ColumnStream *stream;

	write_case(file);
	file->resources.file_key = &file->key;
	stream = csv_column_format.open(&file->spec, &file->segment, &file->key, wanted, &file->resources);
	if (!stream->can_go_back)
		set_failure(file, "cannot be read from its end");
	for (int i = 0; i < 8 && file->failure[0] == '\0'; i++)
	{
		int64		number = file->nrows > 0 ? file->rows[random_below(file->nrows)].number + random_below(3) - 1 : 0;
		bool		inclusive = one_in(2);
		int			within = first_within(file, number, !inclusive);
		int64		image = file->column.descending ? number - 1 : number;
		Datum		value = Int64GetDatum(file->column.descending ? -number : number);
		KeyBound	bound = {.ncolumns = 1, .inclusive = inclusive, .image = image, .values = &value};

		if (i == 0 || one_in(3))
		{
			if (i > 0)
				stream->methods->seek_back(stream, NULL);
			compare_back(file, stream, file->nrows, file->nrows, one_in(3) ? 3 : INT_MAX);
			continue;
		}
		stream->methods->seek_back(stream, &bound);
		compare_back(file, stream, within, last_near(file, within, !file->multiline),
					 one_in(2) ? 3 : INT_MAX);
	}
	stream->methods->close(stream);
}

static void
random_style(FileStyle *style)
{
	static const char *const line_ends[] = {"\n", "\r\n", "\r"};

	style->csv = !one_in(3);
	style->line_end = line_ends[random_below(3)];
	style->header = one_in(2);
	style->skip = one_in(4) ? 1 + random_below(3) : 0;
	style->quoted = style->csv && one_in(2);
	style->multiline = one_in(4) && (style->quoted || (!style->csv && style->line_end[1] == '\0'));
	style->latin1 = one_in(5);
	style->marker = !style->csv && one_in(5);
	style->value_bytes = one_in(2) ? 200 : 10;
	style->nrows = one_in(10) ? random_below(5) : 500 + random_below(2000);
}

static void
vary_seeks(FileCase *file)
{
	if (!file->multiline && one_in(2))
		file->spec.text.multiline = MULTILINE_FALSE;
}

static void
vary_backward(FileCase *file)
{
	if (one_in(2))
		file->resources.block_bytes = 1 + random_below(one_in(2) ? 100 : 10000);
	file->resources.first_rows = 1 + random_below(200);
	if (!file->multiline && one_in(3))
		file->spec.text.multiline = MULTILINE_FALSE;
}

/* Random files, each changed a little and then played with. */
static void
test_files(uint64 seed, int rounds, void (*vary) (FileCase *file), void (*play) (void *file),
		   const char *name)
{
	int			failed = 0;
	int			large = 0;

	for (int i = 0; i < rounds && failed < 5; i++)
	{
		MemoryContext context = AllocSetContextCreate(TopMemoryContext, "round", ALLOCSET_DEFAULT_SIZES);
		MemoryContext old = MemoryContextSwitchTo(context);
		FileCase	file;
		FileStyle	style;

		random_style(&style);
		make_case(&file, &style);
		vary(&file);
		large += file.text.length > 64 * 1024;
		if (!server_stub_try(play, &file))
			set_failure(&file, "error: %s (%s)", server_stub_error.message, server_stub_error.context);
		if (file.failure[0] != '\0')
		{
			failed++;
			tap_note("seed %llu round %d: %s, line end %02x, header %d, skip %d, quoted %d, multiline %d, latin1 %d, marker %d, %d rows, %zu bytes, blocks of %zu: %s",
					 (unsigned long long) seed, i, style.csv ? "csv" : "text", style.line_end[0], style.header,
					 style.skip, style.quoted, file.multiline, style.latin1, style.marker, style.nrows,
					 file.text.length, file.resources.block_bytes, file.failure);
		}
		MemoryContextSwitchTo(old);
		MemoryContextDelete(context);
	}
	tap_ok(failed == 0, "%d files: %s", rounds, name);
	tap_ok(rounds < 50 || large > rounds / 4, "%d of them were large", large);
}

static void
test_seeks(uint64 seed, int rounds)
{
	test_files(seed, rounds, vary_seeks, play_seeks,
			   "seeks miss nothing, read little before, and know where they are");
}

static void
test_backward(uint64 seed, int rounds)
{
	test_files(seed, rounds, vary_backward, play_backward,
			   "from their ends they have the same rows, the same places, and nothing is missed");
}

/* Any text, forward and backward. */
typedef struct BothWays
{
	CsvDialect	dialect;
	Text		text;
	int			max_rows;
	size_t		block_bytes;
	bool		simd;

	uint64	   *digests;		/* of rows, going forward */
	int			nrows;
	int			capacity;
	bool		backward;		/* could be read so */
	char		failure[400];
} BothWays;

static uint64
row_digest(const CsvReader *reader, int row)
{
	uint64		digest = UINT64CONST(14695981039346656037);
	int64		place[2];
	const unsigned char *p;

	csv_reader_locate(unconstify(CsvReader *, reader), row, &place[0], &place[1]);
	p = (const unsigned char *) place;
	for (size_t i = 0; i < sizeof(place); i++)
		digest = (digest ^ p[i]) * UINT64CONST(1099511628211);
	for (int f = 0; f < reader->wanted.nwanted; f++)
	{
		uint32		length = reader->fields[f].length[row];

		/* the scan leaves the null string to whoever decodes */
		if ((length & TEXT_FIELD_QUOTED) == 0 && length == (uint32) reader->grammar.null_length &&
			memcmp(reader->fields[f].base + reader->fields[f].offset[row], reader->grammar.null, length) == 0)
			length = TEXT_FIELD_NULL;
		digest = (digest ^ length) * UINT64CONST(1099511628211);
		if (length == TEXT_FIELD_NULL)
			continue;
		p = (const unsigned char *) reader->fields[f].base + reader->fields[f].offset[row];
		for (uint32 i = 0; i < (length & ~TEXT_FIELD_QUOTED); i++)
			digest = (digest ^ p[i]) * UINT64CONST(1099511628211);
	}
	return digest;
}

static CsvReader *
begin_reader(BothWays *both)
{
	SourceFile *source = source_file_open(&(Folder){.base = scratch}, "f.csv");
	CsvReader  *reader = csv_reader_create(&both->dialect, file_source_create(source, both->block_bytes, 2),
										   source, both->max_rows, both->block_bytes, both->simd,
										   CurrentMemoryContext);
	static const int all[] = {0, 1, 2};

	csv_reader_begin(reader);
	if (reader->nfields > 0)
		csv_reader_want(reader, all, Min(reader->nfields, (int) lengthof(all)));
	return reader;
}

static void
read_forward(void *argument)
{
	BothWays   *both = argument;
	CsvReader  *reader = begin_reader(both);
	int			n;

	while (reader->nfields > 0 && (n = csv_reader_next(reader, both->max_rows)) > 0)
	{
		for (int row = 0; row < n && both->nrows < both->capacity; row++)
			both->digests[both->nrows++] = row_digest(reader, row);
	}
	byte_source_close(reader->source);
}

static void
read_backward(void *argument)
{
	BothWays   *both = argument;
	CsvReader  *reader = begin_reader(both);
	size_t		block = reader->buffer.block_bytes;
	CsvBackward backward;
	int			at = both->nrows;

	both->backward = csv_backward_can(reader, &both->dialect, reader->file, true);
	if (both->backward && reader->nfields > 0)
	{
		csv_backward_begin(&backward, reader, block, 1);
		for (int64 to = backward.end; to > backward.first;)
		{
			int			rows = 1 + random_below(both->max_rows);
			int64		from = csv_backward_rows(&backward, to, rows, Max(block / 2, 1));
			int			n;

			csv_reader_limit(reader, from, to);
			n = csv_reader_next(reader, rows);
			if (n == 0 || n > at)
			{
				set_failure(both, "bytes %lld to %lld hold %d rows, %d are left",
							(long long) from, (long long) to, n, at);
				break;
			}
			at -= n;
			for (int row = 0; row < n; row++)
			{
				if (row_digest(reader, row) != both->digests[at + row])
					set_failure(both, "row %d is another one going back", at + row + 1);
			}
			if (!csv_reader_is_through(reader))
				set_failure(both, "bytes %lld to %lld hold more than %d rows",
							(long long) from, (long long) to, n);
			to = from;
		}
		if (at != 0)
			set_failure(both, "%d rows less going back", at);
	}
	byte_source_close(reader->source);
}

static void
play_both_ways(BothWays *both)
{
	FileCase	file;

	init_case(&file);
	file.text = both->text;
	write_case(&file);
	both->capacity = 100000;
	both->digests = palloc(sizeof(uint64) * both->capacity);
	if (!server_stub_try(read_forward, both))
	{
		/* then going back is an error, too, or ends; no more is asked for */
		(void) server_stub_try(read_backward, both);
		both->failure[0] = '\0';
		if (server_stub_error.sqlerrcode == ERRCODE_INTERNAL_ERROR)
			set_failure(both, "cannot happen: %s", server_stub_error.message);
		both->backward = false;
	}
	else if (!server_stub_try(read_backward, both))
		set_failure(both, "error: %s", server_stub_error.message);
}

static void
test_both_ways(uint64 seed, int rounds)
{
	int			failed = 0;
	int			backward = 0;

	for (int i = 0; i < rounds && failed < 5; i++)
	{
		MemoryContext context = AllocSetContextCreate(TopMemoryContext, "round", ALLOCSET_DEFAULT_SIZES);
		MemoryContext old = MemoryContextSwitchTo(context);
		BothWays   *both = palloc0(sizeof(BothWays));
		Round		round = {0};

		choose_dialect(&both->dialect);
		both->max_rows = one_in(3) ? 1 : 1 + random_below(50);
		both->block_bytes = one_in(2) ? 1 + random_below(200) : 5000;
		both->simd = one_in(2);
		if (one_in(10))
			add_string(&both->text, "\xEF\xBB\xBF");
		if (one_in(3))
			make_noise(&both->text, &both->dialect);
		else
			make_file(&both->text, &both->dialect);
		if (one_in(6))
			damage(&both->text);
		add_bytes(&both->text, "", 0);
		if (one_in(6))
		{
			both->dialect.encoding = PG_LATIN1;
			round.text = both->text;
			both->text = latin1_of(&round);
		}
		play_both_ways(both);
		backward += both->backward && both->nrows > 1;
		if (both->failure[0] != '\0')
		{
			failed++;
			round.dialect = both->dialect;
			round.file = both->text;
			round.block_bytes = both->block_bytes;
			round.max_rows = both->max_rows;
			round.simd = both->simd;
			strlcpy(round.failure, both->failure, sizeof(round.failure));
			show_round(&round, seed, i);
		}
		MemoryContextSwitchTo(old);
		MemoryContextDelete(context);
	}
	tap_ok(failed == 0, "%d random texts have the same rows from their ends", rounds);
	tap_ok(rounds < 100 || backward > rounds / 10, "%d of them had some", backward);
}

/* ------------------------------------------------------------ facts */

static void
ask_facts(void *argument)
{
	FileCase   *file = argument;

	write_case(file);
	csv_facts(&file->spec, &file->segment, &file->key, &file->facts);
}

static bool
facts_right(const FileCase *file)
{
	const StreamFacts *facts = &file->facts;
	bool		small = file->text.length <= 16384;

	if (facts->bytes != (double) file->text.length || !facts->can_seek)
		return false;
	if (file->nrows == 0)
		return facts->rows <= 1 && !facts->has_range;
	if (facts->rows < file->nrows * (small ? 1 : 0.9) || facts->rows > file->nrows * (small ? 1 : 1.1) + 1)
		return false;
	return !facts->has_range ||
		(facts->first == (file->column.descending ? file->rows[0].number - 1 : file->rows[0].number) &&
		 facts->last == (file->column.descending ? file->rows[file->nrows - 1].number - 1 :
						 file->rows[file->nrows - 1].number));
}

static void
test_random_facts(int rounds)
{
	int			wrong = 0;
	int			ranges = 0;

	for (int i = 0; i < rounds && wrong < 5; i++)
	{
		MemoryContext context = AllocSetContextCreate(TopMemoryContext, "round", ALLOCSET_DEFAULT_SIZES);
		MemoryContext old = MemoryContextSwitchTo(context);
		FileCase	file;
		FileStyle	style;

		random_style(&style);
		style.multiline = style.marker = false;
		make_case(&file, &style);
		if (!server_stub_try(ask_facts, &file) || !facts_right(&file))
		{
			wrong++;
			tap_note("%d rows, %zu bytes, header %d, skip %d: %g rows, range %d, %lld to %lld, %s", file.nrows,
					 file.text.length, style.header, style.skip, file.facts.rows, file.facts.has_range,
					 (long long) file.facts.first, (long long) file.facts.last, server_stub_error.message);
		}
		ranges += file.facts.has_range;
		MemoryContextSwitchTo(old);
		MemoryContextDelete(context);
	}
	tap_is_int(wrong, 0, "facts of random files");
	tap_ok(ranges > rounds / 2, "%d of %d had a range", ranges, rounds);
}

/* A last key that is too low would lose rows: better none. */
static void
facts_case(const char *name, bool csv, const char *escape, Text text, bool has_range, int64 last)
{
	FileCase	file;

	init_case(&file);
	file.segment.csv = csv;
	file.spec.text.escape = escape;
	file.text = text;
	if (!tap_ok(server_stub_try(ask_facts, &file) && file.facts.has_range == has_range &&
				(!has_range || file.facts.last == last), "%s", name))
		tap_note("range %d, last %lld, %s", file.facts.has_range, (long long) file.facts.last, server_stub_error.message);
}

static Text
long_line(const char *before, const char *head, int length, const char *tail)
{
	Text		text = {0};

	add_string(&text, before);
	add_string(&text, head);
	for (int i = 0; i < length; i++)
		add_char(&text, 'x');
	add_string(&text, tail);
	return text;
}

static void
test_facts(void)
{
	int			cut = 0;

	facts_case("range of a plain file", true, NULL, long_line("1,a\n9,b\n", "", 0, ""), true, 9);
	facts_case("blank lines at the end", true, NULL, long_line("1,a\n9,b\n\n\n", "", 0, ""), true, 9);
	facts_case("a line end in quotes", true, NULL, long_line("1,a\n9,\"b\n3,c\"\n", "", 0, ""), false, 0);
	facts_case("a line end in quotes, and an escape", true, "\\", long_line("1,a\n9,\"b\n3,c\\\"\"\n", "", 0, ""), false, 0);
	facts_case("text: a line end behind a backslash", false, NULL, long_line("1\ta\n9\tb\\\n3\tc\n", "", 0, ""), false, 0);
	facts_case("text: the end marker", false, NULL, long_line("1\ta\n9\tb\n\\.\n", "", 0, ""), false, 0);
	facts_case("text: bytes behind the end marker", false, NULL, long_line("1\ta\n9\tb\n\\.\n3\tc\n", "", 0, ""), false, 0);
	for (int length = 16360; length < 16400; length++)
	{
		FileCase	file;

		init_case(&file);
		file.text = long_line("1,a\n", "1234567890,", length, "\n");
		if (!server_stub_try(ask_facts, &file) || (file.facts.has_range && file.facts.last != 1234567890))
			cut++;
		init_case(&file);
		file.key_field.declared = "2";
		file.value_field.declared = "1";
		file.text = long_line("", "", length, ",1234567890\nx,1234567891\n");
		if (!server_stub_try(ask_facts, &file) || (file.facts.has_range && file.facts.first != 1234567890))
			cut++;
	}
	tap_is_int(cut, 0, "a key that is cut by what is looked at is no key");
}

int
main(int argc, char **argv)
{
	int			rounds = argc > 2 ? atoi(argv[2]) : 6000;
	uint64		seed;

	server_stub_init();
	seed = random_begin(argc, argv);
	if (mkdtemp(scratch) == NULL)
		perror("mkdtemp");

	test_options();
	test_readings();
	test_long_row();
	test_random_texts(seed, rounds);
	test_marks(rounds);
	test_taken(rounds);
	test_seeks(seed, rounds / 50);
	test_backward(seed, rounds / 40);
	test_both_ways(seed, rounds / 2);
	test_random_facts(rounds / 50);
	test_facts();
	unlink(psprintf("%s/f.csv", scratch));
	rmdir(scratch);
	return tap_done();
}
