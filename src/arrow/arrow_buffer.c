/*-------------------------------------------------------------------------
 *
 * arrow_buffer.c
 *	  One buffer of an Arrow body, a window of it at a time.
 *
 * What is stored as it is, is read by position; what is compressed comes out
 * of a decompressor in order.  Either way it lands in one window, which keeps
 * what of it is still of use when it moves on.  From the end to the top a
 * window ends where a request does; since a decompressor then begins anew for
 * each, it holds more.
 *
 * Invariants:
 *	- The window holds bytes [window_from, window_to) of the buffer, and room
 *	  for capacity + ARROW_BUFFER_SLACK bytes.
 *	- Its address is congruent to window_from modulo WINDOW_ALIGNMENT, so that
 *	  values are aligned as they are in the buffer.
 *	- A decompressor that has begun stands at window_to.
 *	- Memory grows with what was in fact read, never with what a file says
 *	  there is to read.
 *
 * Refuses to know: what the bytes mean.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "compat.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "arrow/arrow_buffer.h"
#include "wire/byte_cursor.h"

#define WINDOW_ALIGNMENT	64

/* What stands in front of a compressed buffer: its decompressed length. */
#define PREFIX_BYTES		8
#define STORED_AS_IS		(-1)

/* The prefix and the magic behind it */
#define HEAD_BYTES			(PREFIX_BYTES + 4)

/* A window for compressed bytes grows from here as they come. */
#define FIRST_WINDOW		(1024 * 1024)

/* From the end to the top, a window of compressed bytes holds so many blocks. */
#define BACKWARD_BLOCKS		16

/* What a read of no bytes points to */
static const char nothing[ARROW_BUFFER_SLACK] __attribute__((aligned(WINDOW_ALIGNMENT)));

/* ------------------------------------------------------------- errors */

pg_noreturn static void report_damaged(const ArrowBuffer *buffer, const char *format,...)
			__attribute__((format(__printf__, 2, 3)));

static void
report_damaged(const ArrowBuffer *buffer, const char *format,...)
{
	char		detail[200];
	va_list		args;

	va_start(args, format);
	vsnprintf(detail, sizeof(detail), format, args);
	va_end(args);
	ereport(ERROR,
			(errcode(ERRCODE_DATA_CORRUPTED),
			 errmsg("Arrow data in file \"%s\" is damaged", source_file_name(buffer->file)),
			 errdetail("The buffer at byte %lld %s.", (long long) buffer->offset, detail)));
}

/* ------------------------------------------------------------- set-up */

void
arrow_buffer_init(ArrowBuffer *buffer, MemoryContext context, size_t block_bytes,
				  int64 *blocks_read)
{
	memset(buffer, 0, sizeof(*buffer));
	buffer->context = context;
	buffer->block_bytes = Max(block_bytes, 1);
	buffer->ahead = buffer->block_bytes;
	buffer->blocks_read = blocks_read;
	buffer->compression = COMPRESSION_NONE;
	buffer->codec = COMPRESSION_NONE;
}

/* Read the decompressed length, and see whether what follows can be right. */
static void
read_prefix(ArrowBuffer *buffer)
{
	char		head[HEAD_BYTES];
	size_t		got;

	if (buffer->length < PREFIX_BYTES)
		report_damaged(buffer, "has %lld bytes, too few for a compressed one",
					   (long long) buffer->length);
	got = source_file_read(buffer->file, buffer->offset, head,
						   (size_t) Min(buffer->length, (int64) sizeof(head)));
	if (buffer->blocks_read)
		++*buffer->blocks_read;
	Assert(got >= PREFIX_BYTES);
	buffer->size = byte_load_i64((uint8 *) head);
	if (buffer->size < STORED_AS_IS)
		report_damaged(buffer, "has a decompressed length of %lld", (long long) buffer->size);
	buffer->offset += PREFIX_BYTES;
	buffer->length -= PREFIX_BYTES;
	if (buffer->size == STORED_AS_IS)
	{
		buffer->size = buffer->length;
		buffer->compression = COMPRESSION_NONE;
	}
	else if (buffer->size > 0 &&
			 !compression_begins(buffer->compression, head + PREFIX_BYTES, got - PREFIX_BYTES))
		report_damaged(buffer, "is not compressed with %s, as the record batch says",
					   compression_name(buffer->compression));
}

void
arrow_buffer_set(ArrowBuffer *buffer, SourceFile *file, int64 offset, int64 length,
				 Compression compression)
{
	int64		file_size = source_file_identity(file)->size;

	buffer->file = file;
	buffer->offset = offset;
	buffer->length = length;
	buffer->size = length;
	buffer->compression = length > 0 ? compression : COMPRESSION_NONE;
	buffer->window_from = 0;
	buffer->window_to = 0;
	if (offset < 0 || length < 0 || offset > file_size || length > file_size - offset)
	{
		buffer->size = 0;
		report_damaged(buffer, "with %lld bytes is not within the file", (long long) length);
	}
	if (buffer->compression != COMPRESSION_NONE)
		read_prefix(buffer);

	/* the decompressor of the last record batch serves again, from its top */
	if (buffer->compression == COMPRESSION_NONE || buffer->compression != buffer->codec ||
		(int64) buffer->codec_bytes < Min(buffer->length, (int64) buffer->block_bytes))
		arrow_buffer_rest(buffer);
	if (buffer->bytes != NULL)
	{
		file_source_set_range(buffer->range, file, buffer->offset, buffer->offset + buffer->length);
		buffer->bytes->name = buffer->range->name;
		byte_source_seek(buffer->bytes, 0);
	}
}

void
arrow_buffer_begin_small(ArrowBuffer *buffer, size_t bytes)
{
	buffer->ahead = Min(buffer->block_bytes, bytes);
}

void
arrow_buffer_rest(ArrowBuffer *buffer)
{
	ByteSource *bytes = buffer->bytes;

	buffer->bytes = NULL;
	buffer->range = NULL;
	buffer->codec = COMPRESSION_NONE;
	if (bytes != NULL)
		byte_source_close(bytes);
}

void
arrow_buffer_release(ArrowBuffer *buffer)
{
	char	   *allocated = buffer->allocated;

	buffer->window_from = 0;
	buffer->window_to = 0;
	buffer->window = NULL;
	buffer->allocated = NULL;
	buffer->capacity = 0;
	if (allocated != NULL)
		pfree(allocated);
	arrow_buffer_rest(buffer);
}

/* ------------------------------------------------------------- the window */

/*
 * Let the window begin at "from" with room for "room" bytes.  What it has
 * behind "from" is kept; there must be room for it.
 */
static void
window_move(ArrowBuffer *buffer, int64 from, size_t room)
{
	bool		overlaps = from >= buffer->window_from && from < buffer->window_to;
	size_t		kept = overlaps ? (size_t) (buffer->window_to - from) : 0;
	const char *source = overlaps ? buffer->window + (from - buffer->window_from) : NULL;
	char	   *old = NULL;
	char	   *window;

	Assert(kept <= room);

	/* what one large value needed is not kept for small ones */
	if (room > buffer->capacity || buffer->capacity / 2 > Max(room, buffer->block_bytes))
	{
		old = buffer->allocated;
		if (kept == 0 && old != NULL)
		{
			buffer->window_from = buffer->window_to;
			buffer->allocated = NULL;
			buffer->capacity = 0;
			pfree(old);
			old = NULL;
		}
		buffer->allocated = MemoryContextAllocHuge(buffer->context,
												   room + 2 * WINDOW_ALIGNMENT + ARROW_BUFFER_SLACK);
		buffer->capacity = room;
	}
	window = (char *) TYPEALIGN(WINDOW_ALIGNMENT, buffer->allocated) + from % WINDOW_ALIGNMENT;
	if (kept > 0)
		memmove(window, source, kept);
	if (old != NULL)
		pfree(old);
	buffer->window = window;
	buffer->window_from = from;
	buffer->window_to = from + (int64) kept;
}

/* ------------------------------------------------------------- stored bytes */

static void
fill_stored(ArrowBuffer *buffer, int64 from, size_t wanted)
{
	bool		forward = from > 0 && from >= buffer->window_from && from <= buffer->window_to;
	int64		left;
	size_t		got;

	window_move(buffer, from, wanted);
	left = from + (int64) wanted - buffer->window_to;
	got = source_file_read(buffer->file, buffer->offset + buffer->window_to,
						   buffer->window + (buffer->window_to - from), (size_t) left);
	if ((int64) got != left)
		report_damaged(buffer, "is not within the file");
	buffer->window_to += left;
	if (buffer->blocks_read)
		++*buffer->blocks_read;

	/* many buffers are read side by side: the kernel cannot guess what comes next */
	if (forward)
		source_file_prefetch(buffer->file, buffer->offset + buffer->window_to,
							 Min(buffer->size - buffer->window_to, (int64) wanted));
	else if (buffer->backward && from > 0 && wanted >= buffer->block_bytes)
	{
		int64		before = Min(from, (int64) wanted);

		source_file_prefetch(buffer->file, buffer->offset + from - before, before);
	}
}

/* ------------------------------------------------------------- compressed bytes */

/* A decompressor at the buffer's top, and an empty window there. */
static void
codec_begin(ArrowBuffer *buffer)
{
	if (buffer->bytes == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(buffer->context);

		buffer->codec_bytes = (size_t) Min(buffer->length, (int64) buffer->block_bytes);
		buffer->codec_bytes = Max(buffer->codec_bytes, 1);
		buffer->range = file_source_create_range(buffer->file, buffer->offset,
												 buffer->offset + buffer->length,
												 buffer->codec_bytes, 1);
		buffer->bytes = codec_source_create(buffer->range, buffer->compression, buffer->codec_bytes);
		buffer->codec = buffer->compression;
		buffer->counted = 0;
		MemoryContextSwitchTo(old);
	}
	else
		byte_source_seek(buffer->bytes, 0);
	buffer->window_from = 0;
	buffer->window_to = 0;
}

/* Up to "capacity" more bytes behind the window's end, which has room for them. */
static size_t
codec_read(ArrowBuffer *buffer, size_t capacity)
{
	size_t		got = byte_source_read(buffer->bytes,
									   buffer->window + (buffer->window_to - buffer->window_from),
									   capacity);

	if (buffer->blocks_read)
		*buffer->blocks_read += buffer->bytes->blocks_read - buffer->counted;
	buffer->counted = buffer->bytes->blocks_read;
	if (got == 0)
		report_damaged(buffer, "has %lld bytes when decompressed, not %lld as it says",
					   (long long) buffer->window_to, (long long) buffer->size);
	buffer->window_to += (int64) got;
	return got;
}

/* The end of the data must be where it was said to be. */
static void
codec_check_end(ArrowBuffer *buffer)
{
	char		more;

	if (byte_source_read(buffer->bytes, &more, 1) > 0)
		report_damaged(buffer, "has more than %lld bytes when decompressed",
					   (long long) buffer->size);
}

/* Decompress what lies before "from", and forget it. */
static void
codec_skip(ArrowBuffer *buffer, int64 from)
{
	window_move(buffer, buffer->window_to,
				(size_t) Min(from - buffer->window_to, (int64) Max(buffer->block_bytes, WINDOW_ALIGNMENT)));
	while (buffer->window_to < from)
	{
		CHECK_FOR_INTERRUPTS();
		codec_read(buffer, (size_t) Min(from - buffer->window_to, (int64) buffer->capacity));
		buffer->window_from = buffer->window_to;
	}
}

static void
fill_compressed(ArrowBuffer *buffer, int64 from, size_t length, size_t wanted)
{
	int64		end = from + (int64) wanted;
	int64		enough = from + (int64) length;

	if (buffer->bytes == NULL || from < buffer->window_from)
		codec_begin(buffer);
	if (from > buffer->window_to)
		codec_skip(buffer, from);
	window_move(buffer, from, Min(wanted, Max(FIRST_WINDOW, (size_t) (buffer->window_to - from))));
	while (buffer->window_to < enough)
	{
		size_t		filled = (size_t) (buffer->window_to - from);
		size_t		room = Min(buffer->capacity, wanted);

		if (filled == room)
		{
			room = Min(wanted, 2 * room);
			window_move(buffer, from, room);
		}
		codec_read(buffer, Min(room - filled, (size_t) (end - buffer->window_to)));
	}
	if (buffer->window_to == buffer->size)
		codec_check_end(buffer);
}

/* ------------------------------------------------------------- reading */

/*
 * How much the window is to hold: what is asked for, at least a block.  Going
 * forward, at least as much more than it holds, so that reads that overlap do
 * not each bring a little.
 */
static size_t
window_wanted(const ArrowBuffer *buffer, int64 from, size_t length)
{
	size_t		kept = from >= buffer->window_from && from < buffer->window_to ?
		(size_t) (buffer->window_to - from) : 0;
	size_t		wanted = Max(length, kept + buffer->ahead);

	return (size_t) Min(buffer->size - from, (int64) wanted);
}

/* Where the window is to begin, from the end to the top. */
static int64
window_begin(const ArrowBuffer *buffer, int64 from, size_t length)
{
	int64		room = buffer->compression == COMPRESSION_NONE ? (int64) buffer->ahead :
		BACKWARD_BLOCKS * (int64) buffer->block_bytes;

	return Max(Min(from, from + (int64) length - room), 0);
}

const char *
arrow_buffer_read(ArrowBuffer *buffer, int64 from, size_t length)
{
	if (from < 0 || from > buffer->size || length > (uint64) (buffer->size - from))
		report_damaged(buffer, "has %lld bytes, but byte %lld and %zu from there are needed",
					   (long long) buffer->size, (long long) from, length);
	if (length == 0)
		return nothing;
	if (from < buffer->window_from || from + (int64) length > buffer->window_to)
	{
		int64		begin = buffer->backward ? window_begin(buffer, from, length) : from;
		size_t		needed = length + (size_t) (from - begin);
		size_t		wanted = buffer->backward ? needed : window_wanted(buffer, from, length);

		buffer->ahead = Min(2 * buffer->ahead, buffer->block_bytes);
		if (buffer->compression == COMPRESSION_NONE)
			fill_stored(buffer, begin, wanted);
		else
			fill_compressed(buffer, begin, needed, wanted);
	}
	return buffer->window + (from - buffer->window_from);
}
