/*-------------------------------------------------------------------------
 *
 * test_lz4.c
 *	  Blocks of the LZ4 format by hand, against a decoder that follows the
 *	  format's description a byte at a time, and against liblz4; and frames
 *	  without checksums, whose blocks are taken out one by one.
 *
 * Usage: test_lz4 [seed]
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <lz4.h>
#include <lz4frame.h>
#include <lz4hc.h>

#include "utils/memutils.h"

#include "memory_source.h"
#include "random.h"
#include "server_stub.h"
#include "tap.h"
#include "wire/codec.h"
#include "wire/lz4_block.h"

#define MOST_BYTES	(256 * 1024)

/* ------------------------------------------------------------ data */

/* What columns are made of, and what is not. */
enum
{
	SORTED_DENSE, SORTED_SPARSE, SORTED_WIDE, DESCENDING, SMALL_INTEGERS, WORDS, PERIODIC, NOISE, ZEROS,
	KINDS
};

static void
fill(uint8 *data, size_t length, int kind)
{
	static const char *const words[] = {"red", "green", "blue", "yellow", "black", "white"};
	int			period = 1 + random_below(40);
	uint64		number = kind == DESCENDING ? UINT64CONST(1) << 40 : random_next();
	size_t		i = 0;

	while (i < length)
	{
		const void *piece = &number;
		size_t		size = sizeof(number);
		uint8		byte = (uint8) random_next();

		switch (kind)
		{
			case SORTED_DENSE:
				number += 1 + one_in(5);
				break;
			case SORTED_SPARSE:
				number += random_below(100000);
				break;
			case SORTED_WIDE:
				number += (uint64) random_next() << random_below(20);
				break;
			case DESCENDING:
				number -= 1 + one_in(5);
				break;
			case SMALL_INTEGERS:
				number = random_below(10000);
				size = 4;
				break;
			case WORDS:
				piece = words[random_below(lengthof(words))];
				size = strlen(piece);
				break;
			case PERIODIC:
				byte = (uint8) (i % period);
				piece = &byte;
				size = 1;
				break;
			case NOISE:
				piece = &byte;
				size = 1;
				break;
			default:
				byte = 0;
				piece = &byte;
				size = 1;
				break;
		}
		size = Min(size, length - i);
		memcpy(data + i, piece, size);
		i += size;
	}
}

/* ------------------------------------------------------------ one block */

typedef struct Block
{
	uint8	   *in;
	size_t		length;
	const uint8 *history;
	size_t		history_length;
	size_t		capacity;
} Block;

/* The format's description, word for word.  Returns the length, or -1. */
static long
decode_by_description(const Block *block, uint8 *out)
{
	size_t		at = 0;
	size_t		n = 0;

	while (at < block->length)
	{
		uint8		token = block->in[at++];
		size_t		literals = token >> 4;
		size_t		match = token & 15;
		size_t		distance;

		if (literals == 15)
		{
			do
			{
				if (at == block->length)
					return -1;
				literals += block->in[at];
			} while (block->in[at++] == 255);
		}
		for (; literals > 0; literals--)
		{
			if (at == block->length || n == block->capacity)
				return -1;
			out[n++] = block->in[at++];
		}
		if (at == block->length)
			return (long) n;
		if (block->length - at < 2)
			return -1;
		distance = block->in[at] + 256 * block->in[at + 1];
		at += 2;
		if (match == 15)
		{
			do
			{
				if (at == block->length)
					return -1;
				match += block->in[at];
			} while (block->in[at++] == 255);
		}
		if (distance == 0 || distance > n + block->history_length)
			return -1;
		for (match += 4; match > 0; match--, n++)
		{
			if (n == block->capacity)
				return -1;
			out[n] = distance <= n ? out[n - distance] :
				block->history[block->history_length - (distance - n)];
		}
	}
	return -1;
}

/* In memory that ends where it may, so that a sanitizer sees who goes beyond. */
static long
decode(const Block *block, uint8 *out)
{
	uint8	   *in = malloc(Max(block->length, 1));
	uint8	   *all = malloc(block->history_length + block->capacity + LZ4_BLOCK_SLACK);
	size_t		produced = 0;
	bool		good;

	memcpy(in, block->in, block->length);
	if (block->history_length > 0)
		memcpy(all, block->history, block->history_length);
	good = lz4_block_decompress(in, block->length, all + block->history_length, block->capacity,
								block->history_length, &produced);
	(void) lz4_block_is_strided(in, block->length);
	if (good)
		memcpy(out, all + block->history_length, produced);
	if (memcmp(all, block->history, block->history_length) != 0)
		abort();
	free(in);
	free(all);
	return good ? (long) produced : -1;
}

/* Do both say the same?  Returns the length, -1 for damage, -2 for no. */
static long
decode_both_ways(const Block *block)
{
	static uint8 expected[MOST_BYTES];
	static uint8 got[MOST_BYTES];
	long		n = decode_by_description(block, expected);
	long		m = decode(block, got);

	return n != m || (n > 0 && memcmp(expected, got, n) != 0) ? -2 : n;
}

static void
test_by_hand(void)
{
	static const struct
	{
		const char *name;
		const char *in;
		size_t		length;
		size_t		capacity;
		long		expected;
		const char *out;
	}			cases[] = {
		{"an empty block", "", 0, 9, -1, ""},
		{"no literal", "\0", 1, 9, 0, ""},
		{"literals", "\x30" "abc", 4, 9, 3, "abc"},
		{"literals that are not there", "\x40" "abc", 4, 9, -1, ""},
		{"literals for which there is no room", "\x30" "abc", 4, 2, -1, ""},
		{"literals that fill the room", "\x30" "abc", 4, 3, 3, "abc"},
		{"a run", "\x11" "a\1\0" "\x10" "b", 6, 9, 7, "aaaaaab"},
		{"a pattern", "\x32" "abc\3\0" "\x10" "z", 8, 20, 10, "abcabcabcz"},
		{"a match at the end", "\x11" "a\1\0", 4, 9, -1, ""},
		{"half a distance", "\x11" "a\1", 3, 9, -1, ""},
		{"distance 0", "\x11" "a\0\0" "\x10" "b", 6, 9, -1, ""},
		{"a distance to before the beginning", "\x11" "a\2\0" "\x10" "b", 6, 9, -1, ""},
		{"a match for which there is no room", "\x11" "a\1\0" "\x10" "b", 6, 5, -1, ""},
		{"a length of two bytes", "\x1F" "a\1\0\2" "\x10" "b", 7, 30, 23, "aaaaaaaaaaaaaaaaaaaaaab"},
		{"a length that does not end", "\x1F" "a\1\0\xFF\xFF", 6, 9, -1, ""},
		{"literals of a length that does not end", "\xF0", 1, 9, -1, ""}
	};

	for (size_t i = 0; i < lengthof(cases); i++)
	{
		Block		block = {(uint8 *) cases[i].in, cases[i].length, (const uint8 *) "", 0, cases[i].capacity};
		uint8		out[64];
		long		n = decode(&block, out);

		tap_ok(n == cases[i].expected && (n <= 0 || memcmp(out, cases[i].out, n) == 0) &&
			   decode_both_ways(&block) == n, "%s", cases[i].name);
	}
}

/* 1, 2, 3, 259, 259 as sixty-four bits each: 1 literal, 1, 2, none */
static void
test_integers_by_hand(void)
{
	static const uint8 alone[] = {0x80, 1, 0, 0, 0, 0, 0, 0, 0};
	static const uint8 zeros[] = {
		0x83, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0,	/* 1, then 7 zeros from 1 before */
		0x10, 9
	};
	static const uint8 integers[] = {
		0x93, 1, 0, 0, 0, 0, 0, 0, 0, 2, 8, 0,	/* 1, and of 2 the lowest byte; 7 from 8 before */
		0x13, 3, 8, 0,
		0x22, 3, 1, 8, 0,		/* 259 */
		0x04, 8, 0,				/* 259 */
		0x50, 1, 2, 3, 4, 5
	};
	static const int64 expected[] = {1, 2, 3, 259, 259};
	Block		block = {(uint8 *) integers, sizeof(integers), (const uint8 *) "", 0, 64};
	uint8		out[128];
	long		n = decode(&block, out);
	bool		good = n == 45;

	for (int i = 0; good && i < 5; i++)
	{
		for (int b = 0; b < 8; b++)
			good &= out[8 * i + b] == (uint8) (expected[i] >> (8 * b));
	}
	tap_ok(good && memcmp(out + 40, "\1\2\3\4\5", 5) == 0, "integers");
	block.in = (uint8 *) zeros;
	block.length = sizeof(zeros);
	n = decode_both_ways(&block);
	tap_is_int(n, 16, "zeros behind an integer");
	block.in = (uint8 *) alone;
	block.length = sizeof(alone);
	tap_is_int(decode_both_ways(&block), 8, "an integer alone");
	for (size_t cut = 1; cut < sizeof(integers); cut++)
	{
		block.in = (uint8 *) integers;
		block.length = sizeof(integers) - cut;
		good &= decode_both_ways(&block) != -2;
		block.length = sizeof(integers);
		block.capacity = 45 - cut;
		good &= decode_both_ways(&block) == -1;
	}
	tap_ok(good, "integers cut short, and with too little room");
}

/* ------------------------------------------------------------ blocks of liblz4 */

typedef struct Counts
{
	int			blocks;
	int			wrong;
	int			strided;
	int			damaged;		/* variants refused */
	int			variants;
} Counts;

static void
mutate(Block *block)
{
	for (int i = 1 + random_below(3); i > 0; i--)
		block->in[random_below((int) block->length)] = (uint8) random_next();
	if (one_in(8))
		block->length = random_below((int) block->length);
}

/* Blocks that refer to what came before, as in a linked frame. */
static void
check_chain(int kind, Counts *counts)
{
	size_t		size = 1 + random_below(one_in(4) ? 65536 : 3000);
	int			nblocks = 1 + random_below(4);
	uint8	   *data = malloc(size * nblocks);
	uint8	   *compressed = malloc(LZ4_compressBound((int) size));
	LZ4_stream_t *fast = LZ4_createStream();
	LZ4_streamHC_t *slow = LZ4_createStreamHC();
	bool		high = one_in(3);

	fill(data, size * nblocks, kind);
	for (int b = 0; b < nblocks; b++)
	{
		const char *source = (const char *) data + b * size;
		int			n = high ?
			LZ4_compress_HC_continue(slow, source, (char *) compressed, (int) size, LZ4_compressBound((int) size)) :
			LZ4_compress_fast_continue(fast, source, (char *) compressed, (int) size, LZ4_compressBound((int) size), 1);
		size_t		history = Min((size_t) b * size, LZ4_BLOCK_HISTORY);
		Block		block = {compressed, (size_t) n, data + b * size - history, history, size};
		uint8	   *out = malloc(size);

		counts->blocks++;
		counts->strided += lz4_block_is_strided(compressed, n);
		counts->wrong += decode(&block, out) != (long) size || memcmp(out, source, size) != 0;
		block.capacity = size - 1;
		counts->wrong += decode_both_ways(&block) != -1;
		for (int v = 0; v < 20; v++)
		{
			Block		variant = block;
			long		result;

			variant.in = malloc(n);
			memcpy(variant.in, compressed, n);
			variant.capacity = size;
			mutate(&variant);
			result = decode_both_ways(&variant);
			counts->variants++;
			counts->damaged += result == -1;
			counts->wrong += result == -2;
			free(variant.in);
		}
		free(out);
	}
	LZ4_freeStream(fast);
	LZ4_freeStreamHC(slow);
	free(compressed);
	free(data);
}

static void
test_blocks(void)
{
	static const char *const names[KINDS] = {
		"dense keys", "sparse keys", "keys far apart", "descending keys", "small integers", "words",
		"periods", "noise", "zeros"
	};

	for (int kind = 0; kind < KINDS; kind++)
	{
		Counts		counts = {0};

		for (int i = 0; i < 60; i++)
			check_chain(kind, &counts);
		tap_is_int(counts.wrong, 0, names[kind]);
		if (kind == SORTED_DENSE || kind == DESCENDING)
			tap_ok(counts.strided > counts.blocks / 2, "%s: most blocks are strided", names[kind]);
		if (kind >= SMALL_INTEGERS && kind != PERIODIC)
			tap_is_int(counts.strided, 0, "no strided blocks among them");
		tap_note("%s: %d blocks, %d strided; %d variants, %d refused", names[kind],
				 counts.blocks, counts.strided, counts.variants, counts.damaged);
	}
}

/* ------------------------------------------------------------ frames */

typedef struct FrameRun
{
	MemorySource inner;
	size_t		block_bytes;
	uint8	   *out;
	size_t		capacity;
	size_t		length;
} FrameRun;

static void
frame_body(void *argument)
{
	FrameRun   *run = argument;
	ByteSource *source = codec_source_create(&run->inner.base, COMPRESSION_LZ4, run->block_bytes);
	size_t		got;

	run->length = 0;
	do
	{
		got = byte_source_read(source, (char *) run->out + run->length,
							   Min(run->capacity - run->length, (size_t) (1 + random_below(100000))));
		run->length += got;
	} while (got > 0);
	byte_source_close(source);
}

static bool
frame_passes(FrameRun *run, const uint8 *file, size_t length)
{
	MemoryContext context = AllocSetContextCreate(TopMemoryContext, "frame", ALLOCSET_DEFAULT_SIZES);
	MemoryContext before = MemoryContextSwitchTo(context);
	bool		passed;

	memory_source_init(&run->inner, "x", file, length);
	run->inner.ragged = one_in(2);
	run->block_bytes = one_in(2) ? 4096 : 131072;
	passed = server_stub_try(frame_body, run);
	MemoryContextSwitchTo(before);
	MemoryContextDelete(context);
	return passed;
}

/* A frame with any of the format's choices; how long it is. */
static size_t
make_frame(const uint8 *data, size_t length, uint8 *file, size_t room)
{
	LZ4F_preferences_t preferences = LZ4F_INIT_PREFERENCES;
	size_t		n;

	preferences.frameInfo.blockSizeID = LZ4F_max64KB + random_below(4);
	preferences.frameInfo.blockMode = one_in(2) ? LZ4F_blockLinked : LZ4F_blockIndependent;
	preferences.frameInfo.contentSize = one_in(2) ? length : 0;
	preferences.frameInfo.contentChecksumFlag = one_in(4);
	preferences.frameInfo.blockChecksumFlag = one_in(4);
	preferences.compressionLevel = one_in(3) ? 9 : 0;
	n = LZ4F_compressFrame(file, room, data, length, &preferences);
	if (LZ4F_isError(n))
		abort();
	return n;
}

static void
test_frames(void)
{
	size_t		room = 3 * 1024 * 1024;
	uint8	   *data = malloc(room);
	uint8	   *file = malloc(2 * room);
	FrameRun	run = {.out = malloc(2 * room), .capacity = 2 * room};
	int			wrong = 0;

	for (int i = 0; i < 80; i++)
	{
		size_t		data_length = 0;
		size_t		file_length = 0;

		for (int frames = 1 + random_below(3); frames > 0; frames--)
		{
			size_t		length = random_below(one_in(4) ? 1000000 : 1000);

			fill(data + data_length, length, random_below(KINDS));
			file_length += make_frame(data + data_length, length, file + file_length, room);
			data_length += length;
			if (one_in(3))
			{
				memcpy(file + file_length, "\x51\x2A\x4D\x18\3\0\0\0abc", 11);
				file_length += 11;
			}
		}
		if (!frame_passes(&run, file, file_length) || run.length != data_length ||
			memcmp(run.out, data, data_length) != 0)
		{
			wrong++;
			tap_note("run %d: %zu bytes, not %zu; %s %s", i, run.length, data_length,
					 server_stub_error.message, server_stub_error.detail);
		}
	}
	tap_is_int(wrong, 0, "frames of all kinds, in reads of any size");
	free(run.out);
	free(file);
	free(data);
}

/* A frame cut anywhere, and one that says other things than it holds. */
static void
test_damaged_frames(void)
{
	uint8		data[3000];
	uint8		file[8000];
	uint8		out[8000];
	FrameRun	run = {.out = out, .capacity = sizeof(out)};
	LZ4F_preferences_t preferences = LZ4F_INIT_PREFERENCES;
	size_t		length;
	int			wrong = 0;

	fill(data, sizeof(data), SORTED_DENSE);
	length = LZ4F_compressFrame(file, sizeof(file), data, sizeof(data), &preferences);
	for (size_t cut = 1; cut <= length; cut++)
		wrong += frame_passes(&run, file, length - cut) ||
			strstr(server_stub_error.message, "unexpected end of compressed data") == NULL;
	tap_is_int(wrong, 0, "cut anywhere");

	/* magic, descriptor, header checksum: 7 bytes; then the block's length */
	file[7 + 2] |= 0x10;
	tap_ok(!frame_passes(&run, file, length) &&
		   strstr(server_stub_error.detail, "block larger than the frame allows") != NULL,
		   "a block longer than the frame allows");
	file[7 + 2] &= ~0x10;
	file[7 + 4] = 0xFF;
	tap_ok(!frame_passes(&run, file, length) &&
		   strstr(server_stub_error.detail, "block that is no LZ4 data") != NULL, "a block that is no LZ4 data");

	preferences.frameInfo.contentSize = sizeof(data);
	length = LZ4F_compressFrame(file, sizeof(file), data, sizeof(data), &preferences);
	if (frame_passes(&run, file, length) && run.length == sizeof(data))
	{
		/* the content size is in the checksum of the header, so the end mark comes early instead */
		uint32		nothing = 0;

		memcpy(file + 15, &nothing, 4);
		tap_ok(!frame_passes(&run, file, 19) &&
			   strstr(server_stub_error.detail, "frame of a length other than it says") != NULL,
			   "a frame shorter than it says");
	}
	else
		tap_ok(false, "a frame that says its length");
}

int
main(int argc, char **argv)
{
	server_stub_init();
	random_begin(argc, argv);
	test_by_hand();
	test_integers_by_hand();
	test_blocks();
	test_frames();
	test_damaged_frames();
	return tap_done();
}
