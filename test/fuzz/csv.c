/*-------------------------------------------------------------------------
 *
 * csv.c
 *	  Fuzz target: any bytes as a CSV or text file, plain or compressed.
 *
 * However a file is cut into reads, blocks and batches, with SIMD or without,
 * it has the same rows on the same lines, and the same end or an error on the
 * same line.  Fields become values of several types on the way; nothing is
 * asked of them but that no byte is touched that should not be.
 *
 * An input is four characters that choose the dialect, then the file:
 *
 *	  [0]	sum of 1 text, 2 header, 4 an escape of its own, 8 LATIN1,
 *			16 gzip, 32 zstd (48: lz4)
 *	  [1]	lines to skip (0 to 3), plus four times the size of blocks: one of
 *			"blocks"
 *	  [2]	delimiter: one of "delimiters", modulo its length
 *	  [3]	rows in a batch less one, modulo sixteen; bytes of a read likewise
 *
 * Stand-alone it replays the files named as arguments; with -DLIBFUZZER it is
 * a target of libFuzzer (clang -fsanitize=fuzzer):
 *
 *	  make -f test/unit/Makefile BUILD=/somewhere CC=clang \
 *		SANITIZE="-fsanitize=fuzzer,address,undefined -DLIBFUZZER" /somewhere/test/fuzz/csv
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <stdio.h>

#include "catalog/pg_type_d.h"
#include "fmgr.h"
#include "mb/pg_wchar.h"
#include "utils/datetime.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "column/text_value.h"
#include "csv/csv_reader.h"
#include "memory_source.h"
#include "plain_types.h"
#include "replay.h"
#include "server_stub.h"
#include "wire/codec.h"

#define SETTINGS	4
#define MAX_WANTED	12
#define MAX_ROWS	64

extern int	LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* ------------------------------------------------------------ types */

/* Every type takes every text: what is tried here is who calls, and with what. */
Datum
InputFunctionCall(FmgrInfo *flinfo, char *str, Oid typioparam, int32 typmod)
{
	(void) flinfo;
	(void) typioparam;
	(void) typmod;
	return str ? (Datum) strlen(str) : (Datum) 0;
}

bool
pg_get_timezone_offset(const pg_tz *tz, long int *gmtoff)
{
	(void) tz;
	*gmtoff = 3600;
	return true;
}

static const struct
{
	Oid			type;
	int32		typmod;
}			types[] =
{
	{INT8OID, -1}, {TEXTOID, -1}, {FLOAT8OID, -1}, {DATEOID, -1}, {TIMESTAMPOID, 3}, {TIMESTAMPTZOID, -1},
	{BOOLOID, -1}, {UUIDOID, -1}, {BPCHAROID, VARHDRSZ + 10}, {VARCHAROID, VARHDRSZ + 3}, {INT2OID, -1}, {NUMERICOID, -1},
};

/* ------------------------------------------------------------ reading */

/* One way to read the input, and what came of it. */
typedef struct Reading
{
	const CsvDialect *dialect;
	Compression compression;
	MemorySource source;
	size_t		block_bytes;
	int			max_rows;
	bool		simd;

	int64		rows;
	uint64		digest;			/* of all rows, in order */
	int64		error_line;
} Reading;

static void
digest_bytes(Reading *reading, const void *bytes, size_t length)
{
	const unsigned char *p = bytes;

	for (size_t i = 0; i < length; i++)
		reading->digest = (reading->digest ^ p[i]) * UINT64CONST(1099511628211);
	reading->digest = (reading->digest ^ 0x100) * UINT64CONST(1099511628211);
}

static void
digest_row(Reading *reading, CsvReader *reader, int row)
{
	int64		place[2];

	csv_reader_locate(reader, row, &place[0], &place[1]);
	digest_bytes(reading, place, sizeof(place));
	for (int i = 0; i < reader->wanted.nwanted; i++)
	{
		const TextFields *fields = &reader->fields[i];
		uint32		length = fields->length[row];
		const char *bytes = fields->base + fields->offset[row];

		/* the scan leaves the null string to whoever decodes */
		if ((length & TEXT_FIELD_QUOTED) == 0 && length == (uint32) reading->dialect->grammar.null_length &&
			memcmp(bytes, reading->dialect->grammar.null, length) == 0)
			length = TEXT_FIELD_NULL;
		digest_bytes(reading, &length, sizeof(length));
		if (length != TEXT_FIELD_NULL)
			digest_bytes(reading, bytes, length & ~TEXT_FIELD_QUOTED);
	}
	reading->rows++;
}

static void
decode_rows(CsvReader *reader, int nrows, TextDecoder **decoders, ValueArena *arena)
{
	Datum		values[MAX_ROWS];
	bool		isnull[MAX_ROWS];
	volatile int current;

	value_arena_reset(arena);
	for (int i = 0; i < reader->wanted.nwanted; i++)
		text_decode(decoders[i], &reader->fields[i], 0, nrows, NULL, 0, arena, values, isnull, &current);
}

static void
read_input(void *argument)
{
	Reading    *reading = argument;
	ByteSource *source = &reading->source.base;
	TextDecoder *decoders[MAX_WANTED];
	int			all[MAX_WANTED];
	ValueArena *arena = value_arena_create(CurrentMemoryContext);
	CsvReader  *reader;
	int			nrows;

	if (reading->compression != COMPRESSION_NONE)
		source = codec_source_create(source, reading->compression, reading->block_bytes);
	reader = csv_reader_create(reading->dialect, source, NULL, reading->max_rows,
							   reading->block_bytes, reading->simd, CurrentMemoryContext);
	csv_reader_begin(reader);
	for (int i = 0; i < reader->nnames; i++)
		digest_bytes(reading, reader->names[i], strlen(reader->names[i]));
	if (reader->nfields == 0)
		return;
	for (int i = 0; i < MAX_WANTED; i++)
	{
		all[i] = i;
		decoders[i] = text_decoder_create(types[i].type, types[i].typmod, reading->dialect->grammar.null, false,
									  reading->simd, CurrentMemoryContext);
	}
	csv_reader_want(reader, all, Min(reader->nfields, MAX_WANTED));
	while ((nrows = csv_reader_next(reader, reading->max_rows)) > 0)
	{
		for (int row = 0; row < nrows; row++)
			digest_row(reading, reader, row);
		decode_rows(reader, nrows, decoders, arena);
	}
}

/* The line that the error names, 0 where there is none, -1 without a line. */
static void
run_reading(Reading *reading)
{
	MemoryContext context = AllocSetContextCreate(TopMemoryContext, "reading", ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	const char *line;

	if (!server_stub_try(read_input, reading))
	{
		line = strstr(server_stub_error.context, ", line ");
		reading->error_line = line ? strtoll(line + strlen(", line "), NULL, 10) : -1;
		if (server_stub_error.sqlerrcode == ERRCODE_INTERNAL_ERROR)
		{
			fprintf(stderr, "cannot happen: %s\n", server_stub_error.message);
			abort();
		}
	}
	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);
}

static void
compare_readings(const Reading *a, const Reading *b)
{
	if (a->rows == b->rows && a->digest == b->digest && a->error_line == b->error_line)
		return;
	fprintf(stderr, "%lld rows and an error at line %lld, or %lld rows and an error at line %lld\n",
			(long long) a->rows, (long long) a->error_line, (long long) b->rows, (long long) b->error_line);
	abort();
}

/* ------------------------------------------------------------ the target */

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char delimiters[] = {',', '\t', ';', 'D', '|', ' '};
	static const size_t blocks[] = {1, 33, 100, 5000};
	static const Compression compressions[] = {COMPRESSION_NONE, COMPRESSION_GZIP, COMPRESSION_ZSTD, COMPRESSION_LZ4};
	bool		text;
	CsvDialect	dialect;
	Reading		pieces;
	Reading		whole;

	if (TopMemoryContext == NULL)
		server_stub_init();
	if (size < SETTINGS)
		return 0;
	text = (data[0] & 1) != 0;
	dialect = (CsvDialect){
		.grammar.csv = !text,
		.grammar.delimiter = delimiters[data[2] % lengthof(delimiters)],
		.grammar.quote = '"',
		.grammar.escape = (data[0] & 4) ? '\\' : '"',
		.grammar.null = text ? "\\N" : "",
		.grammar.null_length = text ? 2 : 0,
		.encoding = (data[0] & 8) ? PG_LATIN1 : PG_UTF8,
		.header = (data[0] & 2) ? HEADER_PRESENT : HEADER_NONE,
		.skip = data[1] & 3
	};
	pieces = (Reading){
		.dialect = &dialect,
		.compression = compressions[(data[0] >> 4) & 3],
		.block_bytes = blocks[(data[1] >> 2) & 3],
		.max_rows = 1 + (data[3] & 15),
		.simd = true
	};
	memory_source_init(&pieces.source, "f.csv", data + SETTINGS, size - SETTINGS);
	whole = pieces;
	pieces.source.most = 1 + (data[3] & 15);
	whole.block_bytes = 1024 * 1024;
	whole.max_rows = MAX_ROWS;
	whole.simd = false;

	run_reading(&pieces);
	if (pieces.compression != COMPRESSION_NONE)
		return 0;				/* a damaged one may deliver more in small pieces */
	run_reading(&whole);
	compare_readings(&pieces, &whole);
	return 0;
}

#ifndef LIBFUZZER

int
main(int argc, char **argv)
{
	return replay_files(argc - 1, argv + 1, LLVMFuzzerTestOneInput);
}

#endif							/* LIBFUZZER */
