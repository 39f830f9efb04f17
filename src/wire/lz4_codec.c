/*-------------------------------------------------------------------------
 *
 * lz4_codec.c
 *	  lz4 frames, skippable ones among them, through liblz4.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <lz4frame.h>

#include "wire/codec_methods.h"
#include "wire/frame_magic.h"

#define LZ4_FRAME_MAGIC		0x184D2204U

static bool
lz4_begins(const unsigned char *bytes, size_t length)
{
	return frame_magic_begins(bytes, length, LZ4_FRAME_MAGIC);
}

static void *
lz4_create(void)
{
	LZ4F_dctx  *context = NULL;

	if (LZ4F_isError(LZ4F_createDecompressionContext(&context, LZ4F_VERSION)))
		return NULL;
	return context;
}

static void
lz4_restart(void *state)
{
	LZ4F_resetDecompressionContext(state);
}

static CodecStatus
lz4_step(void *state, CodecBuffers *buffers, const char **message)
{
	size_t		in = buffers->in_left;
	size_t		out = buffers->out_left;
	size_t		result = LZ4F_decompress(state, buffers->out, &out, buffers->in, &in, NULL);

	/* after an error the sizes say nothing */
	if (LZ4F_isError(result))
	{
		*message = LZ4F_getErrorName(result);
		return CODEC_DAMAGED;
	}
	buffers->in += in;
	buffers->in_left -= in;
	buffers->out += out;
	buffers->out_left -= out;
	return result == 0 ? CODEC_MEMBER_END : CODEC_MORE;
}

static void
lz4_destroy(void *state)
{
	(void) LZ4F_freeDecompressionContext(state);
}

const CodecMethods lz4_codec = {
	.name = "lz4",
	.zero_padding = false,
	.begins = lz4_begins,
	.create = lz4_create,
	.restart = lz4_restart,
	.step = lz4_step,
	.destroy = lz4_destroy
};
