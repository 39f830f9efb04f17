/*-------------------------------------------------------------------------
 *
 * gzip_codec.c
 *	  gzip members through zlib, which checks their CRC and length.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <zlib.h>

#include "wire/codec_methods.h"

/* zlib's window size, with the flag that says: gzip's header and trailer */
#define GZIP_WINDOW_BITS	(15 + 16)

static bool
gzip_begins(const unsigned char *bytes, size_t length)
{
	static const unsigned char magic[2] = {0x1f, 0x8b};

	return memcmp(bytes, magic, Min(length, sizeof(magic))) == 0;
}

static void *
gzip_create(void)
{
	z_stream   *stream = calloc(1, sizeof(z_stream));

	if (stream != NULL && inflateInit2(stream, GZIP_WINDOW_BITS) != Z_OK)
	{
		free(stream);
		stream = NULL;
	}
	return stream;
}

static void
gzip_restart(void *state)
{
	(void) inflateReset(state);
}

static CodecStatus
gzip_step(void *state, CodecBuffers *buffers, const char **message)
{
	z_stream   *stream = state;
	uInt		in = Min(buffers->in_left, UINT_MAX);
	uInt		out = Min(buffers->out_left, UINT_MAX);
	int			result;

	stream->next_in = (Bytef *) buffers->in;
	stream->avail_in = in;
	stream->next_out = buffers->out;
	stream->avail_out = out;
	result = inflate(stream, Z_NO_FLUSH);
	buffers->in += in - stream->avail_in;
	buffers->in_left -= in - stream->avail_in;
	buffers->out += out - stream->avail_out;
	buffers->out_left -= out - stream->avail_out;

	switch (result)
	{
		case Z_OK:
		case Z_BUF_ERROR:		/* no progress possible, no harm done */
			return CODEC_MORE;
		case Z_STREAM_END:
			return CODEC_MEMBER_END;
		case Z_MEM_ERROR:
			return CODEC_OUT_OF_MEMORY;
		default:
			*message = stream->msg ? stream->msg : "invalid data";
			return CODEC_DAMAGED;
	}
}

static void
gzip_destroy(void *state)
{
	(void) inflateEnd(state);
	free(state);
}

const CodecMethods gzip_codec = {
	.name = "gzip",
	.zero_padding = true,
	.begins = gzip_begins,
	.create = gzip_create,
	.restart = gzip_restart,
	.step = gzip_step,
	.destroy = gzip_destroy
};
