/*-------------------------------------------------------------------------
 *
 * codec.c
 *	  Compressed byte streams: names of codecs, and the ByteSource that
 *	  decompresses another one.
 *
 * A file is a sequence of members (gzip) or frames (zstd, lz4), here all
 * called members.  The loop that fills the input, moves from member to
 * member and judges the end of the file stands here once; a CodecMethods
 * knows one library and sees one member at a time:
 *
 *		between members:  look at the next bytes
 *							none: the end, or cut if there was no member
 *							zeros (gzip): padding, must reach to the end
 *							a member's magic: begin it
 *							anything else: an error
 *		inside a member:  step; at its end, between members again;
 *						  no progress and no more input: cut
 *
 * Invariants:
 *	- The only way to end without an error is between members.
 *	- A CodecSource is the content of a memory context of its own, whose reset
 *	  callback frees the library's state: errors and cancels leak nothing.
 *	- Memory is one block of input and what the library needs, however much
 *	  comes out.
 *
 * Refuses to know: what the bytes mean, and which files are compressed how.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "wire/codec.h"
#include "wire/codec_methods.h"

/* Smallest input buffer, so that a magic always fits */
#define MIN_INPUT_BYTES	4096

typedef struct CodecSource
{
	ByteSource	base;
	MemoryContext context;		/* holds this struct and all it points to */
	MemoryContextCallback callback;
	const CodecMethods *codec;
	void	   *state;			/* the library's, freed by the callback */
	ByteSource *inner;			/* owned */
	bool		inner_ended;
	unsigned char *input;		/* input_size bytes */
	size_t		input_size;
	size_t		input_from;		/* bytes not yet taken: [from, to) */
	size_t		input_to;
	int64		input_offset;	/* where input[0] stands in the file */
	bool		in_member;
	int64		members;		/* complete ones */
	bool		ended;
} CodecSource;

/* ------------------------------------------------------------- names */

typedef struct CodecName
{
	Compression compression;
	const char *name;
} CodecName;

static const CodecName codec_names[] = {
	{COMPRESSION_NONE, "none"},
	{COMPRESSION_GZIP, "gzip"},
	{COMPRESSION_ZSTD, "zstd"},
	{COMPRESSION_LZ4, "lz4"}
};

const CompressionExtension compression_extensions[] = {
	{".gz", COMPRESSION_GZIP},
	{".bgz", COMPRESSION_GZIP},
	{".zst", COMPRESSION_ZSTD},
	{".lz4", COMPRESSION_LZ4},
	{NULL, COMPRESSION_NONE}
};

bool
compression_from_text(const char *text, Compression *result)
{
	for (size_t i = 0; i < lengthof(codec_names); i++)
	{
		if (strcmp(text, codec_names[i].name) == 0)
		{
			*result = codec_names[i].compression;
			return true;
		}
	}
	return false;
}

const char *
compression_name(Compression compression)
{
	for (size_t i = 0; i < lengthof(codec_names); i++)
	{
		if (codec_names[i].compression == compression)
			return codec_names[i].name;
	}
	elog(ERROR, "compression %d has no name", (int) compression);
	return NULL;				/* keep compiler quiet */
}

char *
compression_names(void)
{
	StringInfoData text;

	initStringInfo(&text);
	for (size_t i = 0; i < lengthof(codec_names); i++)
		appendStringInfo(&text, "%s%s", i > 0 ? ", " : "", codec_names[i].name);
	return text.data;
}

char *
compression_extension_names(void)
{
	StringInfoData text;

	initStringInfo(&text);
	for (const CompressionExtension *known = compression_extensions; known->extension != NULL; known++)
		appendStringInfo(&text, "%s%s", text.len > 0 ? ", " : "", known->extension);
	return text.data;
}

Compression
compression_from_path(const char *path, size_t *stem_length)
{
	const char *last = path_last_component(path);
	size_t		length = strlen(last);

	*stem_length = (last - path) + length;
	for (const CompressionExtension *known = compression_extensions; known->extension != NULL; known++)
	{
		size_t		extension = strlen(known->extension);

		if (length > extension &&
			pg_strncasecmp(last + length - extension, known->extension, extension) == 0)
		{
			*stem_length -= extension;
			return known->compression;
		}
	}
	return COMPRESSION_NONE;
}

static const CodecMethods *
codec_methods(Compression compression)
{
	switch (compression)
	{
		case COMPRESSION_GZIP:
			return &gzip_codec;
		case COMPRESSION_ZSTD:
			return &zstd_codec;
		case COMPRESSION_LZ4:
			return &lz4_codec;
		case COMPRESSION_BY_NAME:
		case COMPRESSION_NONE:
			break;
	}
	elog(ERROR, "compression %d has no codec", (int) compression);
	return NULL;				/* keep compiler quiet */
}

bool
compression_begins(Compression compression, const char *bytes, size_t length)
{
	return length >= CODEC_MAGIC_BYTES &&
		codec_methods(compression)->begins((const unsigned char *) bytes, CODEC_MAGIC_BYTES);
}

/* ------------------------------------------------------------- errors */

static int64
codec_source_position(const CodecSource *source)
{
	return source->input_offset + (int64) source->input_from;
}

static void
report_cut(const CodecSource *source)
{
	ereport(ERROR,
			(errcode(ERRCODE_DATA_CORRUPTED),
			 errmsg("unexpected end of compressed data in file \"%s\"", source->base.name),
			 codec_source_position(source) == 0 ?
			 errdetail("The file is empty.") :
			 errdetail("The %s data is cut off after %lld bytes.",
					   source->codec->name, (long long) codec_source_position(source))));
}

static void
report_foreign_bytes(const CodecSource *source)
{
	if (source->members == 0)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("file \"%s\" is not compressed with %s",
						source->base.name, source->codec->name),
				 errhint("Set the option \"compression\" to what the file is compressed with, or to \"none\".")));
	ereport(ERROR,
			(errcode(ERRCODE_DATA_CORRUPTED),
			 errmsg("unexpected data after the end of compressed data in file \"%s\"",
					source->base.name),
			 errdetail("The %s data ends before byte %lld.",
					   source->codec->name, (long long) codec_source_position(source))));
}

/* Anything but CODEC_MORE and CODEC_MEMBER_END */
static void
report_status(const CodecSource *source, CodecStatus status, const char *message)
{
	if (status == CODEC_OUT_OF_MEMORY)
		ereport(ERROR,
				(errcode(ERRCODE_OUT_OF_MEMORY),
				 errmsg("out of memory"),
				 errdetail("Failed while decompressing file \"%s\".", source->base.name)));
	if (status == CODEC_WINDOW_TOO_LARGE)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("decompressing file \"%s\" would take too much memory",
						source->base.name),
				 errdetail("The window of the %s data is larger than 128 MB.",
						   source->codec->name),
				 errhint("Compress the file again with a smaller window.")));
	ereport(ERROR,
			(errcode(ERRCODE_DATA_CORRUPTED),
			 errmsg("compressed data in file \"%s\" is damaged", source->base.name),
			 errdetail("%s reports near byte %lld: %s.", source->codec->name,
					   (long long) codec_source_position(source),
					   message ? message : "no progress")));
}

/* ------------------------------------------------------------- input */

static size_t
codec_input_left(const CodecSource *source)
{
	return source->input_to - source->input_from;
}

/* One more read of the inner source behind what is left; false at its end. */
static bool
codec_input_fill(CodecSource *source)
{
	size_t		left = codec_input_left(source);
	size_t		got;

	if (source->inner_ended)
		return false;
	if (source->input_from > 0)
	{
		memmove(source->input, source->input + source->input_from, left);
		source->input_offset += source->input_from;
		source->input_from = 0;
		source->input_to = left;
	}
	got = byte_source_read(source->inner, (char *) source->input + left,
						   source->input_size - left);
	Assert(got <= source->input_size - left);
	source->input_to += got;
	source->base.blocks_read = source->inner->blocks_read;
	source->inner_ended = (got == 0);
	return got > 0;
}

/* Make at least "wanted" bytes stand in the input, or all there are. */
static size_t
codec_input_require(CodecSource *source, size_t wanted)
{
	while (codec_input_left(source) < wanted && codec_input_fill(source))
		 /* again */ ;
	return codec_input_left(source);
}

/* Pass over zeros; they must reach to the end of the file. */
static void
codec_input_skip_padding(CodecSource *source)
{
	do
	{
		CHECK_FOR_INTERRUPTS();
		while (source->input_from < source->input_to)
		{
			if (source->input[source->input_from] != 0)
				report_foreign_bytes(source);
			source->input_from++;
		}
	} while (codec_input_fill(source));
}

/* ------------------------------------------------------------- members */

/* Between members: begin the next one, or find that there is none. */
static void
codec_next_member(CodecSource *source)
{
	size_t		length = codec_input_require(source, CODEC_MAGIC_BYTES);
	const unsigned char *next = source->input + source->input_from;

	if (length > 0 && source->members > 0 && source->codec->zero_padding && next[0] == 0)
	{
		codec_input_skip_padding(source);
		length = 0;
	}
	if (length == 0)
	{
		if (source->members == 0)
			report_cut(source);
		source->ended = true;
		return;
	}
	if (!source->codec->begins(next, Min(length, CODEC_MAGIC_BYTES)))
		report_foreign_bytes(source);
	source->codec->restart(source->state);
	source->in_member = true;
}

/* Inside a member: decompress into [out, out + capacity); how much came. */
static size_t
codec_decompress(CodecSource *source, char *out, size_t capacity)
{
	CodecBuffers buffers;
	const char *message = NULL;
	size_t		left = codec_input_left(source);
	size_t		produced;
	CodecStatus status;

	buffers.in = source->input + source->input_from;
	buffers.in_left = left;
	buffers.out = (unsigned char *) out;
	buffers.out_left = capacity;
	status = source->codec->step(source->state, &buffers, &message);
	if (status != CODEC_MORE && status != CODEC_MEMBER_END)
		report_status(source, status, message);

	produced = capacity - buffers.out_left;
	source->input_from += left - buffers.in_left;
	if (status == CODEC_MEMBER_END)
	{
		source->in_member = false;
		source->members++;
	}
	else if (produced == 0 && buffers.in_left == left)
	{
		/* it wants more input; a full buffer of it must have been enough */
		if (left == source->input_size)
			report_status(source, CODEC_DAMAGED, NULL);
		if (!codec_input_fill(source))
		{
			source->input_from = source->input_to;
			report_cut(source);
		}
	}
	return produced;
}

/* ------------------------------------------------------------- source */

/*
 * Goes on until the buffer is full or the input at hand is used up, so that
 * small members (bgzip's have 64 kB) do not make small reads.
 */
static size_t
codec_source_read(ByteSource *base, char *buffer, size_t capacity)
{
	CodecSource *source = (CodecSource *) base;
	size_t		filled = 0;

	while (filled < capacity && !source->ended)
	{
		CHECK_FOR_INTERRUPTS();
		if (filled > 0 && codec_input_left(source) == 0)
			break;
		if (source->in_member)
			filled += codec_decompress(source, buffer + filled, capacity - filled);
		else
			codec_next_member(source);
	}
	return filled;
}

static void
codec_source_seek(ByteSource *base, int64 offset)
{
	CodecSource *source = (CodecSource *) base;

	if (offset != 0)
		elog(ERROR, "compressed data can only be sought to its start");
	byte_source_seek(source->inner, 0);
	source->inner_ended = false;
	source->input_from = 0;
	source->input_to = 0;
	source->input_offset = 0;
	source->in_member = false;
	source->members = 0;
	source->ended = false;
}

static void
codec_source_close(ByteSource *base)
{
	CodecSource *source = (CodecSource *) base;
	ByteSource *inner = source->inner;

	MemoryContextDelete(source->context);
	byte_source_close(inner);
}

static const ByteSourceMethods codec_source_methods = {
	.read = codec_source_read,
	.seek = codec_source_seek,
	.close = codec_source_close
};

static void
codec_context_reset(void *argument)
{
	CodecSource *source = argument;

	if (source->state != NULL)
		source->codec->destroy(source->state);
	source->state = NULL;
}

ByteSource *
codec_source_create(ByteSource *inner, Compression compression, size_t block_bytes)
{
	const CodecMethods *codec;
	MemoryContext context;
	CodecSource *source;

	if (compression == COMPRESSION_NONE)
		return inner;
	codec = codec_methods(compression);

	context = AllocSetContextCreate(CurrentMemoryContext,
									"outerjoin codec",
									ALLOCSET_SMALL_SIZES);
	source = MemoryContextAllocZero(context, sizeof(CodecSource));
	source->base.methods = &codec_source_methods;
	source->base.name = inner->name;
	source->base.seekable = false;
	source->base.size = -1;
	source->context = context;
	source->codec = codec;
	source->inner = inner;
	source->input_size = Max(block_bytes, MIN_INPUT_BYTES);
	source->input = MemoryContextAlloc(context, source->input_size);

	/* the callback first, so that the state has an owner once it is there */
	source->callback.func = codec_context_reset;
	source->callback.arg = source;
	MemoryContextRegisterResetCallback(context, &source->callback);
	source->state = codec->create();
	if (source->state == NULL)
		report_status(source, CODEC_OUT_OF_MEMORY, NULL);
	return &source->base;
}
