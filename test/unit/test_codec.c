/*-------------------------------------------------------------------------
 *
 * test_codec.c
 *	  gzip, zstd and lz4 streams: many members, whatever the sizes of reads;
 *	  each cut and each flipped bit of a small file is an error or harmless,
 *	  never another answer.
 *
 * Usage: test_codec [seed]
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <lz4frame.h>
#include <zlib.h>
#include <zstd.h>

#include "miscadmin.h"
#include "utils/memutils.h"

#include "memory_source.h"
#include "random.h"
#include "server_stub.h"
#include "tap.h"
#include "wire/codec.h"

#define MAX_BYTES	(8 * 1024 * 1024)

static const Compression compressions[] = {COMPRESSION_GZIP, COMPRESSION_ZSTD, COMPRESSION_LZ4};

/* ------------------------------------------------------------ bytes */

typedef struct Bytes
{
	unsigned char *data;
	size_t		length;
} Bytes;

static Bytes
bytes_create(void)
{
	Bytes		bytes = {malloc(MAX_BYTES), 0};

	return bytes;
}

static void
bytes_append(Bytes *bytes, const void *data, size_t length)
{
	if (length > MAX_BYTES - bytes->length)
		abort();
	memcpy(bytes->data + bytes->length, data, length);
	bytes->length += length;
}

/* Append data as one member or frame, checksums on. */
static void
append_member(Bytes *bytes, Compression compression, const void *data, size_t length)
{
	unsigned char *out = bytes->data + bytes->length;
	size_t		left = MAX_BYTES - bytes->length;

	switch (compression)
	{
		case COMPRESSION_GZIP:
			{
				z_stream	stream = {0};

				deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
				stream.next_in = (Bytef *) data;
				stream.avail_in = length;
				stream.next_out = out;
				stream.avail_out = left;
				if (deflate(&stream, Z_FINISH) != Z_STREAM_END)
					abort();
				bytes->length += left - stream.avail_out;
				deflateEnd(&stream);
				break;
			}
		case COMPRESSION_ZSTD:
			{
				ZSTD_CCtx  *context = ZSTD_createCCtx();
				size_t		result;

				ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
				result = ZSTD_compress2(context, out, left, data, length);
				if (ZSTD_isError(result))
					abort();
				bytes->length += result;
				ZSTD_freeCCtx(context);
				break;
			}
		case COMPRESSION_LZ4:
			{
				LZ4F_preferences_t preferences = LZ4F_INIT_PREFERENCES;
				size_t		result;

				preferences.frameInfo.contentChecksumFlag = LZ4F_contentChecksumEnabled;
				preferences.frameInfo.contentSize = length;
				result = LZ4F_compressFrame(out, left, data, length, &preferences);
				if (LZ4F_isError(result))
					abort();
				bytes->length += result;
				break;
			}
		default:
			abort();
	}
}

static void
append_skippable(Bytes *bytes, uint32 length)
{
	unsigned char header[8] = {0x53, 0x2A, 0x4D, 0x18,
	length & 0xFF, length >> 8 & 0xFF, length >> 16 & 0xFF, length >> 24};

	bytes_append(bytes, header, sizeof(header));
	for (uint32 i = 0; i < length; i++)
		bytes_append(bytes, "\x28", 1);
}

/* ------------------------------------------------------------ decompressing */

typedef struct Run
{
	MemorySource inner;
	Compression compression;
	size_t		block_bytes;
	size_t		capacity;		/* of each read; 0: random ones */
	bool		again;			/* read a part, start over, read all twice */
	Bytes		output;
	ByteSource *source;
} Run;

static void
run_init(Run *run, Compression compression, const Bytes *input)
{
	unsigned char *buffer = run->output.data;

	memset(run, 0, sizeof(*run));
	run->output.data = buffer ? buffer : malloc(MAX_BYTES);
	memory_source_init(&run->inner, "x", input->data, input->length);
	run->compression = compression;
	run->block_bytes = 65536;
	run->capacity = 65536;
}

static void
run_drain(Run *run)
{
	size_t		got;

	run->output.length = 0;
	do
	{
		size_t		capacity = run->capacity ? run->capacity : (size_t) (1 + random_below(5000));

		capacity = Min(capacity, MAX_BYTES - run->output.length);
		got = byte_source_read(run->source, (char *) run->output.data + run->output.length, capacity);
		if (got > capacity)
			abort();
		run->output.length += got;
	} while (got > 0);
}

static void
run_body(void *argument)
{
	Run		   *run = argument;

	run->source = codec_source_create(&run->inner.base, run->compression, run->block_bytes);
	if (run->again)
	{
		(void) byte_source_read(run->source, (char *) run->output.data, 10);
		byte_source_seek(run->source, 0);
		run_drain(run);
		byte_source_seek(run->source, 0);
	}
	run_drain(run);
	if (byte_source_read(run->source, (char *) run->output.data + run->output.length, 1) != 0)
		elog(ERROR, "the end is not the end");
	byte_source_close(run->source);
}

/* Run in a context of its own, which must clean up after an error, too. */
static bool
run_passes(Run *run)
{
	MemoryContext context = AllocSetContextCreate(TopMemoryContext, "run", ALLOCSET_DEFAULT_SIZES);
	MemoryContext before = MemoryContextSwitchTo(context);
	bool		passed = server_stub_try(run_body, run);

	MemoryContextSwitchTo(before);
	MemoryContextDelete(context);
	return passed;
}

static bool
run_gives(Run *run, const Bytes *expected)
{
	if (!run_passes(run))
	{
		tap_note("%s %s", server_stub_error.message, server_stub_error.detail);
		return false;
	}
	return run->output.length == expected->length && run->inner.closed == 1 &&
		memcmp(run->output.data, expected->data, expected->length) == 0;
}

static bool
run_fails(Run *run, const char *sqlstate, const char *message)
{
	if (!run_passes(run) && strstr(server_stub_error.message, message) != NULL &&
		strcmp(server_stub_sqlstate(server_stub_error.sqlerrcode), sqlstate) == 0)
		return true;
	tap_note("%s: %s", server_stub_sqlstate(server_stub_error.sqlerrcode), server_stub_error.message);
	return false;
}

/* ------------------------------------------------------------ tests */

static Bytes
sample_text(size_t length)
{
	Bytes		text = bytes_create();
	char		line[64];

	for (int i = 0; text.length < length; i++)
	{
		snprintf(line, sizeof(line), "%d,%u\n", i, random_below(1000000));
		bytes_append(&text, line, Min(strlen(line), length - text.length));
	}
	return text;
}

/* text in members of random length, some of them empty, the last one too */
static Bytes
compress_in_members(const Bytes *text, Compression compression)
{
	Bytes		file = bytes_create();
	size_t		done = 0;

	while (done < text->length)
	{
		size_t		length = random_below(60000);

		length = Min(length, text->length - done);
		append_member(&file, compression, text->data + done, length);
		done += length;
		if (random_below(4) == 0)
			append_member(&file, compression, "", 0);
		if (compression != COMPRESSION_GZIP && random_below(4) == 0)
			append_skippable(&file, random_below(3) * 5000);
	}
	append_member(&file, compression, "", 0);
	return file;
}

static void
test_sizes(Compression compression)
{
	static const size_t capacities[] = {1, 7, 0, 65536, 1024 * 1024};
	static const size_t blocks[] = {1, 4096, 5000, 262144};
	const char *name = compression_name(compression);
	Bytes		text = sample_text(400000);
	Bytes		file = compress_in_members(&text, compression);
	Run			run = {0};

	for (size_t c = 0; c < lengthof(capacities); c++)
	{
		bool		passed = true;

		for (size_t b = 0; b < lengthof(blocks); b++)
		{
			for (int ragged = 0; ragged < 2; ragged++)
			{
				run_init(&run, compression, &file);
				run.capacity = capacities[c];
				run.block_bytes = blocks[b];
				run.inner.ragged = ragged;
				run.again = (b == 1);
				passed = run_gives(&run, &text) && passed;
			}
		}
		tap_ok(passed, "%s: many members, reads of %zu bytes", name, capacities[c]);
	}
	free(run.output.data);
	free(text.data);
	free(file.data);
}

static void
test_tail(Compression compression)
{
	const char *name = compression_name(compression);
	static const char zeros[10000];
	Bytes		text = sample_text(1000);
	Bytes		file = bytes_create();
	Bytes		nothing = {(unsigned char *) "", 0};
	size_t		end;
	Run			run = {0};

	append_member(&file, compression, text.data, text.length);
	end = file.length;

	bytes_append(&file, zeros, sizeof(zeros));
	run_init(&run, compression, &file);
	run.block_bytes = 4096;
	if (compression == COMPRESSION_GZIP)
	{
		tap_ok(run_gives(&run, &text), "%s: zero padding", name);
		bytes_append(&file, "x", 1);
		run_init(&run, compression, &file);
		run.block_bytes = 4096;
		tap_ok(run_fails(&run, "XX001", "unexpected data after the end of compressed data in file \"x\""),
			   "%s: a byte after the padding", name);
		append_member(&file, compression, text.data, text.length);
		run_init(&run, compression, &file);
		tap_ok(run_fails(&run, "XX001", "unexpected data after the end"), "%s: padding between members", name);
	}
	else
		tap_ok(run_fails(&run, "XX001", "unexpected data after the end"), "%s: zero padding", name);

	for (size_t length = 1; length < 6; length++)
	{
		file.length = end;
		bytes_append(&file, "junk\n", length);
		run_init(&run, compression, &file);
		tap_ok(run_fails(&run, "XX001", "unexpected data after the end"), "%s: %zu other bytes at the end", name, length);
	}

	run_init(&run, compression, &nothing);
	tap_ok(run_fails(&run, "XX001", "unexpected end of compressed data in file \"x\""), "%s: an empty file", name);
	tap_is_string(server_stub_error.detail, "The file is empty.", "says so");
	run_init(&run, compression, &text);
	tap_ok(run_fails(&run, "XX001", psprintf("file \"x\" is not compressed with %s", name)), "%s: plain text", name);

	if (compression != COMPRESSION_GZIP)
	{
		file.length = 0;
		append_skippable(&file, 0);
		append_skippable(&file, 10);
		run_init(&run, compression, &file);
		tap_ok(run_gives(&run, &nothing), "%s: nothing but skippable frames", name);
	}
	free(run.output.data);
	free(text.data);
	free(file.data);
}

/* Every prefix: an error, unless it ends where a member ends. */
static void
test_cuts(Compression compression)
{
	Bytes		text = sample_text(600);
	Bytes		file = bytes_create();
	size_t		ends[3];
	bool		passed = true;
	Run			run = {0};

	for (int i = 0; i < 3; i++)
	{
		append_member(&file, compression, text.data + 200 * i, 200);
		ends[i] = file.length;
	}
	for (size_t length = 0; length < file.length; length++)
	{
		Bytes		cut = {memcpy(malloc(length + 1), file.data, length), length};
		Bytes		head = {text.data, 0};

		for (int i = 0; i < 3; i++)
		{
			if (length == ends[i])
				head.length = 200 * (i + 1);
		}
		run_init(&run, compression, &cut);
		run.inner.ragged = (length % 2 == 0);
		if (head.length > 0)
			passed = run_gives(&run, &head) && passed;
		else
			passed = run_fails(&run, "XX001", "unexpected end of compressed data") && passed;
		free(cut.data);
	}
	tap_ok(passed, "%s: each cut is found", compression_name(compression));
	free(run.output.data);
	free(text.data);
	free(file.data);
}

/* Every flipped bit: an error, or the same text. */
static void
test_flips(Compression compression)
{
	Bytes		text = sample_text(300);
	Bytes		file = bytes_create();
	int			wrong = 0;
	int			found = 0;
	Run			run = {0};

	append_member(&file, compression, text.data, 150);
	append_member(&file, compression, text.data + 150, 150);
	for (size_t bit = 0; bit < 8 * file.length; bit++)
	{
		file.data[bit / 8] ^= 1 << bit % 8;
		run_init(&run, compression, &file);
		if (!run_passes(&run))
			found++;
		else if (run.output.length != text.length || memcmp(run.output.data, text.data, text.length) != 0)
		{
			tap_note("bit %zu: other text", bit);
			wrong++;
		}
		file.data[bit / 8] ^= 1 << bit % 8;
	}
	tap_ok(wrong == 0, "%s: no flipped bit gives another text (%d of %zu found)",
		   compression_name(compression), found, 8 * file.length);
	free(run.output.data);
	free(text.data);
	free(file.data);
}

/* Bytes out of a generator behind a member's magic: never more than an error. */
static void
test_garbage(Compression compression)
{
	Bytes		text = sample_text(5000);
	Bytes		file = bytes_create();
	Run			run = {0};

	for (int i = 0; i < 300; i++)
	{
		file.length = 0;
		append_member(&file, compression, text.data, random_below(5000));
		for (int n = random_below(8); n >= 0; n--)
			file.data[4 + random_below(file.length - 4)] = random_below(256);
		run_init(&run, compression, &file);
		run.inner.ragged = true;
		run.capacity = 0;
		(void) run_passes(&run);
	}
	tap_ok(true, "%s: garbage does no harm", compression_name(compression));
	free(run.output.data);
	free(text.data);
	free(file.data);
}

static void
test_zstd_window(void)
{
	/* header without a content size: magic, descriptor, window; empty last block */
	unsigned char frame[] = {0x28, 0xB5, 0x2F, 0xFD, 0x00, 0x88, 0x01, 0x00, 0x00};
	Bytes		file = {frame, sizeof(frame)};
	Bytes		nothing = {(unsigned char *) "", 0};
	Run			run = {0};

	run_init(&run, COMPRESSION_ZSTD, &file);
	tap_ok(run_gives(&run, &nothing), "zstd: a window of 128 MB");
	frame[5] = 0x90;
	run_init(&run, COMPRESSION_ZSTD, &file);
	tap_ok(run_fails(&run, "54000", "would take too much memory"), "zstd: a window of 256 MB");
	free(run.output.data);
}

static void
test_cancel(void)
{
	Bytes		text = sample_text(1000);
	Bytes		file = bytes_create();
	Run			run = {0};

	append_member(&file, COMPRESSION_ZSTD, text.data, text.length);
	run_init(&run, COMPRESSION_ZSTD, &file);
	InterruptPending = true;
	QueryCancelPending = true;
	tap_ok(run_fails(&run, "57014", "cancel"), "a cancel is obeyed");
	free(run.output.data);
	free(text.data);
	free(file.data);
}

static void
test_names(void)
{
	static const struct
	{
		const char *path;
		Compression compression;
		size_t		stem;
	}			paths[] = {
		{"a.csv", COMPRESSION_NONE, 5}, {"a.csv.gz", COMPRESSION_GZIP, 5}, {"a.bgz", COMPRESSION_GZIP, 1},
		{"d/a.csv.zst", COMPRESSION_ZSTD, 7}, {"a.lz4", COMPRESSION_LZ4, 1}, {".gz", COMPRESSION_NONE, 3},
		{"d.gz/a", COMPRESSION_NONE, 6}, {"d/.zst", COMPRESSION_NONE, 6}, {"", COMPRESSION_NONE, 0},
		{"gz", COMPRESSION_NONE, 2}, {"a.CSV.GZ", COMPRESSION_GZIP, 5}, {"a.csv.Zst", COMPRESSION_ZSTD, 5}
	};
	Compression compression;

	for (size_t i = 0; i < lengthof(paths); i++)
	{
		size_t		stem = 99;

		compression = compression_from_path(paths[i].path, &stem);
		tap_ok(compression == paths[i].compression && stem == paths[i].stem, "extension of \"%s\"", paths[i].path);
	}
	tap_ok(compression_from_text("zstd", &compression) && compression == COMPRESSION_ZSTD, "name of zstd");
	tap_ok(compression_from_text("none", &compression) && compression == COMPRESSION_NONE, "name of none");
	tap_ok(!compression_from_text("bzip2", &compression), "no name");
	tap_is_string(compression_names(), "none, gzip, zstd, lz4", "all names");
	tap_is_string(compression_extension_names(), ".gz, .bgz, .zst, .lz4", "all extensions");
}

int
main(int argc, char **argv)
{
	size_t		allocated;
	int			contexts;

	server_stub_init();
	(void) random_begin(argc, argv);

	test_names();
	allocated = server_stub_allocated();
	contexts = server_stub_contexts();
	for (size_t i = 0; i < lengthof(compressions); i++)
	{
		test_sizes(compressions[i]);
		test_cuts(compressions[i]);
		test_flips(compressions[i]);
		test_garbage(compressions[i]);
	}
	test_zstd_window();
	test_cancel();
	tap_is_int(server_stub_allocated(), allocated, "no memory is left");
	tap_is_int(server_stub_contexts(), contexts, "nor a context");
	for (size_t i = 0; i < lengthof(compressions); i++)
		test_tail(compressions[i]);
	return tap_done();
}
