/*-------------------------------------------------------------------------
 *
 * byte_cursor.h
 *	  Bytes with an end: the only way in which binary formats are read.
 *
 * A ByteView is memory that somebody else owns.  A ByteCursor walks over one
 * and never leaves it: each step says false, and does not move, where there
 * are not enough bytes left.  Compare with what is left, never add to a
 * position: no sum here can overflow, whatever a file says.
 *
 * Numbers are little-endian, at any address.
 *
 *-------------------------------------------------------------------------
 */
#ifndef OUTERJOIN_BYTE_CURSOR_H
#define OUTERJOIN_BYTE_CURSOR_H

#include "postgres.h"

#include "port/pg_bswap.h"

typedef struct ByteView
{
	const uint8 *data;			/* may be NULL where length is 0 */
	size_t		length;
} ByteView;

typedef struct ByteCursor
{
	ByteView	view;
	size_t		position;		/* at most view.length */
} ByteCursor;

/* ------------------------------------------------------------ numbers in memory */

static inline uint16
byte_load_u16(const uint8 *bytes)
{
	uint16		value;

	memcpy(&value, bytes, sizeof(value));
#ifdef WORDS_BIGENDIAN
	value = pg_bswap16(value);
#endif
	return value;
}

static inline uint32
byte_load_u32(const uint8 *bytes)
{
	uint32		value;

	memcpy(&value, bytes, sizeof(value));
#ifdef WORDS_BIGENDIAN
	value = pg_bswap32(value);
#endif
	return value;
}

static inline uint64
byte_load_u64(const uint8 *bytes)
{
	uint64		value;

	memcpy(&value, bytes, sizeof(value));
#ifdef WORDS_BIGENDIAN
	value = pg_bswap64(value);
#endif
	return value;
}

static inline int32
byte_load_i32(const uint8 *bytes)
{
	return (int32) byte_load_u32(bytes);
}

static inline int64
byte_load_i64(const uint8 *bytes)
{
	return (int64) byte_load_u64(bytes);
}

/* The lowest "size" bytes of a number, 1 to 8 of them. */
static inline void
byte_store(uint8 *bytes, uint64 value, int size)
{
	for (int i = 0; i < size; i++)
		bytes[i] = (uint8) (value >> (8 * i));
}

/* ------------------------------------------------------------ views */

static inline ByteView
byte_view(const void *data, size_t length)
{
	return (ByteView){data, length};
}

/* Does the view have "length" bytes at an offset? */
static inline bool
byte_view_holds(ByteView view, uint64 offset, uint64 length)
{
	return offset <= view.length && length <= view.length - offset;
}

/* A part of the view; false if it is not all there. */
static inline bool
byte_view_part(ByteView view, uint64 offset, uint64 length, ByteView *part)
{
	if (!byte_view_holds(view, offset, length))
		return false;
	/* no arithmetic on the NULL of an empty view */
	*part = byte_view(length > 0 ? view.data + offset : view.data, length);
	return true;
}

/* ------------------------------------------------------------ the cursor */

static inline ByteCursor
byte_cursor(ByteView view)
{
	return (ByteCursor){view, 0};
}

static inline size_t
byte_cursor_left(const ByteCursor *cursor)
{
	return cursor->view.length - cursor->position;
}

/* The next "length" bytes. */
static inline bool
byte_cursor_take(ByteCursor *cursor, uint64 length, ByteView *taken)
{
	if (!byte_view_part(cursor->view, cursor->position, length, taken))
		return false;
	cursor->position += length;
	return true;
}

static inline bool
byte_cursor_skip(ByteCursor *cursor, uint64 length)
{
	if (length > byte_cursor_left(cursor))
		return false;
	cursor->position += length;
	return true;
}

/* On to a multiple of "alignment", a power of two, from the view's start. */
static inline bool
byte_cursor_align(ByteCursor *cursor, size_t alignment)
{
	return byte_cursor_skip(cursor, -cursor->position & (alignment - 1));
}

static inline bool
byte_cursor_u8(ByteCursor *cursor, uint8 *value)
{
	ByteView	bytes;

	if (!byte_cursor_take(cursor, sizeof(*value), &bytes))
		return false;
	*value = bytes.data[0];
	return true;
}

static inline bool
byte_cursor_u16(ByteCursor *cursor, uint16 *value)
{
	ByteView	bytes;

	if (!byte_cursor_take(cursor, sizeof(*value), &bytes))
		return false;
	*value = byte_load_u16(bytes.data);
	return true;
}

static inline bool
byte_cursor_u32(ByteCursor *cursor, uint32 *value)
{
	ByteView	bytes;

	if (!byte_cursor_take(cursor, sizeof(*value), &bytes))
		return false;
	*value = byte_load_u32(bytes.data);
	return true;
}

static inline bool
byte_cursor_u64(ByteCursor *cursor, uint64 *value)
{
	ByteView	bytes;

	if (!byte_cursor_take(cursor, sizeof(*value), &bytes))
		return false;
	*value = byte_load_u64(bytes.data);
	return true;
}

#endif							/* OUTERJOIN_BYTE_CURSOR_H */
