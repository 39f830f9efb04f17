/*-------------------------------------------------------------------------
 *
 * zstd_codec.c
 *	  zstd frames, skippable ones among them, through libzstd.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <zstd.h>
#include <zstd_errors.h>

#include "wire/codec_methods.h"
#include "wire/frame_magic.h"

#define ZSTD_FRAME_MAGIC	0xFD2FB528U

/* 128 MB: what the zstd command itself accepts without being told more */
#define WINDOW_LOG_MAX		27

static bool
zstd_begins(const unsigned char *bytes, size_t length)
{
	return frame_magic_begins(bytes, length, ZSTD_FRAME_MAGIC);
}

static void *
zstd_create(void)
{
	ZSTD_DCtx  *context = ZSTD_createDCtx();

	if (context != NULL &&
		ZSTD_isError(ZSTD_DCtx_setParameter(context, ZSTD_d_windowLogMax, WINDOW_LOG_MAX)))
	{
		ZSTD_freeDCtx(context);
		context = NULL;
	}
	return context;
}

static void
zstd_restart(void *state)
{
	(void) ZSTD_DCtx_reset(state, ZSTD_reset_session_only);
}

static CodecStatus
zstd_step(void *state, CodecBuffers *buffers, const char **message)
{
	ZSTD_inBuffer in = {buffers->in, buffers->in_left, 0};
	ZSTD_outBuffer out = {buffers->out, buffers->out_left, 0};
	size_t		result = ZSTD_decompressStream(state, &out, &in);

	buffers->in += in.pos;
	buffers->in_left -= in.pos;
	buffers->out += out.pos;
	buffers->out_left -= out.pos;

	if (result == 0)
		return CODEC_MEMBER_END;
	if (!ZSTD_isError(result))
		return CODEC_MORE;
	switch (ZSTD_getErrorCode(result))
	{
		case ZSTD_error_frameParameter_windowTooLarge:
			return CODEC_WINDOW_TOO_LARGE;
		case ZSTD_error_memory_allocation:
			return CODEC_OUT_OF_MEMORY;
		default:
			*message = ZSTD_getErrorName(result);
			return CODEC_DAMAGED;
	}
}

static void
zstd_destroy(void *state)
{
	(void) ZSTD_freeDCtx(state);
}

const CodecMethods zstd_codec = {
	.name = "zstd",
	.zero_padding = false,
	.begins = zstd_begins,
	.create = zstd_create,
	.restart = zstd_restart,
	.step = zstd_step,
	.destroy = zstd_destroy
};
