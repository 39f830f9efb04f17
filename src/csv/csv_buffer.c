/*-------------------------------------------------------------------------
 *
 * csv_buffer.c
 *	  The part of a text file at hand, in the database encoding.
 *
 * A file in another encoding is converted block by block before anything
 * looks at it, since in some encodings a byte of a character can look like a
 * delimiter.  One in the database encoding is verified where it lies, piece by
 * piece as the scan goes along, which knows already which pieces are ASCII.
 *
 * Broken bytes are no error until a row needs them: rows before them come
 * first, and the error then has its row.
 *
 * Invariants: verified <= filled <= capacity; whatever is at or beyond
 * "verified" has not been handed out as valid.
 *
 * Refuses to know: rows, lines, quotes.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/namespace.h"
#include "mb/pg_wchar.h"
#include "utils/ascii.h"
#include "utils/memutils.h"

#include "column/text_value.h"
#include "csv/csv_buffer.h"

/* Bytes looked at together when plain ASCII is passed through. */
#define ASCII_STRIDE	64

/* Room that the conversion of the longest character may take */
#define CONVERSION_ROOM	(MAX_CONVERSION_GROWTH * MAX_CONVERSION_INPUT_LENGTH)

/* What is read first after a restart */
#define FIRST_READ		4096

/* Zeros behind the last byte; the scan and the converters look there. */
#define BUFFER_SLACK	(2 * TEXT_FIELD_PADDING)

static const char byte_order_mark[] = {'\xEF', '\xBB', '\xBF'};

static Oid
find_conversion(int encoding)
{
	int			database = GetDatabaseEncoding();
	Oid			conversion;

	if (encoding == database || encoding == PG_SQL_ASCII || database == PG_SQL_ASCII)
		return InvalidOid;
	conversion = FindDefaultConversionProc(encoding, database);
	if (!OidIsValid(conversion))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_FUNCTION),
				 errmsg("default conversion function for encoding \"%s\" to \"%s\" does not exist",
						pg_encoding_to_char(encoding), pg_encoding_to_char(database))));
	return conversion;
}

void
csv_buffer_init(CsvBuffer *buffer, ByteSource *source, int encoding,
				size_t block_bytes, MemoryContext context)
{
	memset(buffer, 0, sizeof(*buffer));
	buffer->context = context;
	buffer->source = source;
	buffer->block_bytes = (uint32) Max(Min(block_bytes, CSV_MAX_BUFFER / 4), 2 * MAX_CONVERSION_INPUT_LENGTH);
	buffer->encoding = encoding;
	buffer->conversion = find_conversion(encoding);
}

void
csv_buffer_restart(CsvBuffer *buffer, int64 offset)
{
	buffer->filled = 0;
	buffer->verified = 0;
	buffer->broken = false;
	buffer->at_end = false;
	buffer->raw_from = 0;
	buffer->raw_to = 0;
	buffer->raw_ended = false;
	buffer->next_bytes = Min(FIRST_READ, buffer->block_bytes);
	buffer->at_top = offset == 0;
	buffer->offset = offset;
	byte_source_seek(buffer->source, offset);
}

void
csv_buffer_restart_range(CsvBuffer *buffer, ByteSource *source, int64 offset, int64 length)
{
	buffer->source = source;
	csv_buffer_restart(buffer, 0);
	buffer->at_top = offset == 0;

	/* asking for more than there is shows the end */
	buffer->next_bytes = (uint32) Min(length + 1, (int64) buffer->block_bytes);
}

bool
csv_buffer_is_drained(CsvBuffer *buffer)
{
	char		more;

	if (buffer->at_end)
		return true;
	return !buffer->broken && buffer->raw_from == buffer->raw_to &&
		byte_source_read(buffer->source, &more, 1) == 0;
}

/* ------------------------------------------------------------ filling */

static void
set_capacity(CsvBuffer *buffer, uint32 capacity)
{
	size_t		size = (size_t) capacity + BUFFER_SLACK;

	if (buffer->base == NULL)
		buffer->base = MemoryContextAlloc(buffer->context, size);
	else
		buffer->base = repalloc(buffer->base, size);
	buffer->capacity = capacity;
}

/* Read from the source until "length" bytes are there; false at its end. */
static bool
read_up_to(CsvBuffer *buffer, char *bytes, uint32 *filled, uint32 length)
{
	while (*filled < length)
	{
		size_t		got = byte_source_read(buffer->source, bytes + *filled, length - *filled);

		if (got == 0)
			return false;
		*filled += (uint32) got;
	}
	return true;
}

/* How many bytes to read now into a place with room for this many. */
static uint32
next_read(CsvBuffer *buffer, uint32 room)
{
	uint32		length = buffer->next_bytes;

	if (length >= buffer->block_bytes)
		return room;
	buffer->next_bytes = Min(length * 2, buffer->block_bytes);
	return Min(length, room);
}

/* Length of the byte order mark that the file begins with. */
static uint32
mark_length(CsvBuffer *buffer, const char *bytes, uint32 filled)
{
	uint32		length = sizeof(byte_order_mark);

	if (!buffer->at_top)
		return 0;
	buffer->at_top = false;
	if (buffer->encoding != PG_UTF8 && buffer->encoding != PG_SQL_ASCII)
		return 0;
	return filled >= length && memcmp(bytes, byte_order_mark, length) == 0 ? length : 0;
}

/* Bytes as they are in the file. */
static void
fill_plain(CsvBuffer *buffer)
{
	uint32		length = next_read(buffer, buffer->capacity - buffer->filled);
	uint32		mark;

	buffer->at_end = !read_up_to(buffer, buffer->base, &buffer->filled, buffer->filled + length);
	mark = mark_length(buffer, buffer->base, buffer->filled);
	if (mark > 0)
	{
		buffer->filled -= mark;
		buffer->offset += mark;
		memmove(buffer->base, buffer->base + mark, buffer->filled);
	}
}

static void
fill_raw(CsvBuffer *buffer)
{
	uint32		left = buffer->raw_to - buffer->raw_from;

	if (buffer->raw == NULL)
		buffer->raw = MemoryContextAlloc(buffer->context, buffer->block_bytes);
	memmove(buffer->raw, buffer->raw + buffer->raw_from, left);
	buffer->raw_from = 0;
	buffer->raw_to = left;
	buffer->raw_ended = !read_up_to(buffer, buffer->raw, &buffer->raw_to,
									left + next_read(buffer, buffer->block_bytes - left));
	buffer->raw_from = mark_length(buffer, buffer->raw, buffer->raw_to);
}

/* ASCII is the same in every encoding: take what there is of it, by strides. */
static void
convert_ascii(CsvBuffer *buffer)
{
	const char *from = buffer->raw + buffer->raw_from;
	uint32		most = Min(buffer->raw_to - buffer->raw_from, buffer->capacity - buffer->filled);
	uint32		n = 0;

	while (n + ASCII_STRIDE <= most &&
		   is_valid_ascii((const unsigned char *) from + n, ASCII_STRIDE))
		n += ASCII_STRIDE;
	memcpy(buffer->base + buffer->filled, from, n);
	buffer->raw_from += n;
	buffer->filled += n;
}

/*
 * Convert some characters that are not all ASCII; false if there is no room,
 * or the next one is invalid or incomplete.
 */
static bool
convert_some(CsvBuffer *buffer)
{
	uint32		length = Min(buffer->raw_to - buffer->raw_from, 16 * ASCII_STRIDE);
	uint32		room = buffer->capacity - buffer->filled;
	char	   *target = buffer->base + buffer->filled;
	int			taken;

	if (room <= CONVERSION_ROOM || length == 0)
		return false;

	/* the result is terminated by a zero byte, for which the slack is there */
	taken = pg_do_encoding_conversion_buf(buffer->conversion, buffer->encoding,
										  GetDatabaseEncoding(),
										  (unsigned char *) buffer->raw + buffer->raw_from, (int) length,
										  (unsigned char *) target, (int) room, true);
	buffer->raw_from += (uint32) taken;
	buffer->filled += (uint32) strlen(target);
	return taken > 0;
}

/* Is there no character that could still be converted into the room left? */
static bool
is_full(const CsvBuffer *buffer)
{
	return buffer->capacity - buffer->filled <= CONVERSION_ROOM;
}

/* Characters of one read, converted; something is added unless nothing is left. */
static void
fill_converted(CsvBuffer *buffer)
{
	uint32		before = buffer->filled;

	while (!is_full(buffer))
	{
		uint32		left = buffer->raw_to - buffer->raw_from;
		uint32		at = buffer->filled;

		if (left < MAX_CONVERSION_INPUT_LENGTH && !buffer->raw_ended)
		{
			if (buffer->filled > before)
				break;
			fill_raw(buffer);
			continue;
		}
		if (left == 0)
		{
			buffer->at_end = true;
			break;
		}
		convert_ascii(buffer);
		if (convert_some(buffer) || buffer->filled > at)
			continue;
		/* more than the longest character, or all there is, and not one character */
		buffer->broken = !is_full(buffer);
		break;
	}
	buffer->verified = buffer->filled;
}

bool
csv_buffer_refill(CsvBuffer *buffer, uint32 keep)
{
	uint32		kept = buffer->filled - keep;

	if (keep > 0)
		memmove(buffer->base, buffer->base + keep, kept);
	buffer->filled = kept;
	buffer->offset += keep;
	buffer->verified = buffer->verified > keep ? buffer->verified - keep : 0;
	if (buffer->broken || buffer->at_end)
		return false;
	if (buffer->base == NULL)
		set_capacity(buffer, OidIsValid(buffer->conversion) ?
					 2 * (buffer->block_bytes + CONVERSION_ROOM) : buffer->block_bytes);
	if (kept > buffer->capacity / 2 && buffer->capacity < CSV_MAX_BUFFER)
		set_capacity(buffer, buffer->capacity > CSV_MAX_BUFFER / 2 ?
					 CSV_MAX_BUFFER : buffer->capacity * 2);

	if (OidIsValid(buffer->conversion))
		fill_converted(buffer);
	else
		fill_plain(buffer);
	memset(buffer->base + buffer->filled, 0, BUFFER_SLACK);
	return buffer->filled > kept;
}

/* ------------------------------------------------------------ verifying */

void
csv_buffer_verify(CsvBuffer *buffer, uint32 upto, bool ascii, uint32 ascii_from)
{
	int			encoding = GetDatabaseEncoding();
	uint32		left;

	Assert(upto <= buffer->filled);
	if (buffer->verified >= upto || buffer->broken)
		return;
	if (ascii && buffer->verified >= ascii_from)
	{
		buffer->verified = upto;
		return;
	}
	left = upto - buffer->verified;
	left -= (uint32) pg_encoding_verifymbstr(encoding, buffer->base + buffer->verified, (int) left);
	buffer->verified = upto - left;

	/* a sequence at the very end of what was looked at may go on behind it */
	if (left > 0)
		buffer->broken = left >= (uint32) pg_encoding_max_length(encoding) ||
			(buffer->at_end && upto == buffer->filled);
}

void
csv_buffer_report_broken(CsvBuffer *buffer)
{
	int			encoding = GetDatabaseEncoding();

	if (OidIsValid(buffer->conversion))
	{
		char		ignored[CONVERSION_ROOM + 1];

		(void) pg_do_encoding_conversion_buf(buffer->conversion, buffer->encoding, encoding,
											 (unsigned char *) buffer->raw + buffer->raw_from,
											 (int) Min(buffer->raw_to - buffer->raw_from, MAX_CONVERSION_INPUT_LENGTH),
											 (unsigned char *) ignored, (int) sizeof(ignored), false);
		elog(ERROR, "conversion accepted what it had refused");
	}
	report_invalid_encoding(encoding, buffer->base + buffer->verified,
							(int) (buffer->filled - buffer->verified));
}
