/*-------------------------------------------------------------------------
 *
 * lz4_codec.c
 *	  lz4 frames, skippable ones among them, through liblz4.
 *
 * Of a plain frame, one without checksums and dictionaries, the blocks are
 * taken out here, so that those of sorted integers can go to lz4_block.c.
 * Whatever else a frame may be, the library reads it whole.
 *
 *		AT_HEADER	the frame's header is next
 *		AT_BLOCK	a plain frame: a block's length is next, or the end mark
 *		IN_BLOCK	the rest of a block is next
 *		BY_LIBRARY	the library has all that follows
 *
 * Invariants:
 *	- output holds the last bytes that came out, [0, output_to), among them all
 *	  that a block may refer to; those from output_from on are still to be
 *	  handed out, and no block is begun before they are.
 *	- Memory is what the frame's greatest block needs, 4 MB at most, a few
 *	  times over.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <lz4.h>
#include <lz4frame.h>

#include "wire/byte_cursor.h"
#include "wire/codec_methods.h"
#include "wire/frame_magic.h"
#include "wire/lz4_block.h"

#define LZ4_FRAME_MAGIC		0x184D2204U

#define BLOCK_LENGTH_BYTES	4
#define BLOCK_STORED		0x80000000U

/* With room for so many blocks the history is moved but every other block. */
#define OUTPUT_BLOCKS		2

typedef enum FrameStage
{
	AT_HEADER, AT_BLOCK, IN_BLOCK, BY_LIBRARY
} FrameStage;

typedef struct Lz4State
{
	LZ4F_dctx  *context;		/* of frames that the library reads */
	LZ4F_dctx  *header;			/* which looks at headers, and never reads on */
	FrameStage	stage;

	/* a plain frame */
	bool		linked;			/* blocks refer to earlier ones */
	uint64		content;		/* bytes it says it holds; 0: it does not say */
	uint64		produced;		/* bytes that came out so far */
	size_t		block_most;		/* bytes a block gives, and takes */
	uint32		block_length;
	bool		block_stored;
	uint8	   *partial;		/* [block_most] a block that comes in pieces */
	size_t		partial_length;
	uint8	   *output;
	size_t		output_from;
	size_t		output_to;
	size_t		allocated;		/* the block_most that the arrays are for */
} Lz4State;

static bool
lz4_begins(const unsigned char *bytes, size_t length)
{
	return frame_magic_begins(bytes, length, LZ4_FRAME_MAGIC);
}

static void
lz4_destroy(void *argument)
{
	Lz4State   *state = argument;

	(void) LZ4F_freeDecompressionContext(state->context);
	(void) LZ4F_freeDecompressionContext(state->header);
	free(state->partial);
	free(state->output);
	free(state);
}

static void *
lz4_create(void)
{
	Lz4State   *state = calloc(1, sizeof(Lz4State));

	if (state != NULL &&
		(LZ4F_isError(LZ4F_createDecompressionContext(&state->context, LZ4F_VERSION)) ||
		 LZ4F_isError(LZ4F_createDecompressionContext(&state->header, LZ4F_VERSION))))
	{
		lz4_destroy(state);
		state = NULL;
	}
	return state;
}

static void
lz4_restart(void *argument)
{
	Lz4State   *state = argument;

	LZ4F_resetDecompressionContext(state->context);
	LZ4F_resetDecompressionContext(state->header);
	state->stage = AT_HEADER;
}

static CodecStatus
library_error(size_t result, const char **message)
{
	*message = LZ4F_getErrorName(result);
	return CODEC_DAMAGED;
}

static CodecStatus
step_by_library(Lz4State *state, CodecBuffers *buffers, const char **message)
{
	size_t		in = buffers->in_left;
	size_t		out = buffers->out_left;
	size_t		result = LZ4F_decompress(state->context, buffers->out, &out, buffers->in, &in, NULL);

	/* after an error the sizes say nothing */
	if (LZ4F_isError(result))
		return library_error(result, message);
	buffers->in += in;
	buffers->in_left -= in;
	buffers->out += out;
	buffers->out_left -= out;
	return result == 0 ? CODEC_MEMBER_END : CODEC_MORE;
}

/* ------------------------------------------------------------ plain frames */

static size_t
output_capacity(const Lz4State *state)
{
	return LZ4_BLOCK_HISTORY + OUTPUT_BLOCKS * state->block_most;
}

static bool
allocate_arrays(Lz4State *state)
{
	if (state->block_most <= state->allocated)
		return true;
	free(state->partial);
	free(state->output);
	state->allocated = 0;
	state->partial = malloc(state->block_most);
	state->output = malloc(output_capacity(state) + LZ4_BLOCK_SLACK);
	if (state->partial == NULL || state->output == NULL)
		return false;
	state->allocated = state->block_most;
	return true;
}

static size_t
block_size(LZ4F_blockSizeID_t id)
{
	switch (id)
	{
		case LZ4F_max256KB:
			return 256 * 1024;
		case LZ4F_max1MB:
			return 1024 * 1024;
		case LZ4F_max4MB:
			return 4 * 1024 * 1024;
		default:
			return 64 * 1024;
	}
}

static CodecStatus
begin_frame(Lz4State *state, CodecBuffers *buffers, const char **message)
{
	LZ4F_frameInfo_t info;
	size_t		length = buffers->in_left;
	size_t		result;

	if (length < LZ4F_MIN_SIZE_TO_KNOW_HEADER_LENGTH)
		return CODEC_MORE;
	result = LZ4F_headerSize(buffers->in, length);
	if (LZ4F_isError(result))
		return library_error(result, message);
	if (length < result)
		return CODEC_MORE;
	result = LZ4F_getFrameInfo(state->header, &info, buffers->in, &length);
	if (LZ4F_isError(result))
		return library_error(result, message);
	if (info.frameType != LZ4F_frame || info.dictID != 0 ||
		info.contentChecksumFlag != LZ4F_noContentChecksum ||
		info.blockChecksumFlag != LZ4F_noBlockChecksum)
	{
		state->stage = BY_LIBRARY;
		return CODEC_MORE;
	}

	buffers->in += length;
	buffers->in_left -= length;
	state->stage = AT_BLOCK;
	state->linked = info.blockMode == LZ4F_blockLinked;
	state->content = info.contentSize;
	state->produced = 0;
	state->block_most = block_size(info.blockSizeID);
	state->output_from = state->output_to = 0;
	return allocate_arrays(state) ? CODEC_MORE : CODEC_OUT_OF_MEMORY;
}

/* A block's length, or the end. */
static CodecStatus
begin_block(Lz4State *state, CodecBuffers *buffers, const char **message)
{
	uint32		word;

	if (buffers->in_left < BLOCK_LENGTH_BYTES)
		return CODEC_MORE;
	word = byte_load_u32(buffers->in);
	buffers->in += BLOCK_LENGTH_BYTES;
	buffers->in_left -= BLOCK_LENGTH_BYTES;
	if (word == 0)
	{
		if (state->content == 0 || state->content == state->produced)
			return CODEC_MEMBER_END;
		*message = "frame of a length other than it says";
		return CODEC_DAMAGED;
	}
	state->block_stored = (word & BLOCK_STORED) != 0;
	state->block_length = word & ~BLOCK_STORED;
	state->partial_length = 0;
	state->stage = IN_BLOCK;
	if (state->block_length <= state->block_most)
		return CODEC_MORE;
	*message = "block larger than the frame allows";
	return CODEC_DAMAGED;
}

/* Room for a block at output_to, with what it may refer to before it. */
static void
make_room(Lz4State *state)
{
	size_t		kept = Min(state->output_to, LZ4_BLOCK_HISTORY);

	if (!state->linked)
		kept = 0;
	else if (output_capacity(state) - state->output_to >= state->block_most)
		return;
	memmove(state->output, state->output + state->output_to - kept, kept);
	state->output_from = state->output_to = kept;
}

static bool
decompress_block(Lz4State *state, const uint8 *block)
{
	uint8	   *out = state->output + state->output_to;
	size_t		history = Min(state->output_to, LZ4_BLOCK_HISTORY);
	size_t		produced = state->block_length;
	int			result;

	if (state->block_stored)
		memcpy(out, block, produced);
	else if (lz4_block_is_strided(block, state->block_length))
	{
		if (!lz4_block_decompress(block, state->block_length, out, state->block_most, history,
								  &produced))
			return false;
	}
	else
	{
		result = LZ4_decompress_safe_usingDict((const char *) block, (char *) out,
											   (int) state->block_length, (int) state->block_most,
											   (const char *) out - history, (int) history);
		if (result < 0)
			return false;
		produced = (size_t) result;
	}
	state->output_to += produced;
	state->produced += produced;
	return true;
}

/* Decompress the block, or keep what there is of it. */
static CodecStatus
take_block(Lz4State *state, CodecBuffers *buffers, const char **message)
{
	size_t		missing = state->block_length - state->partial_length;
	size_t		length = Min(missing, buffers->in_left);
	const uint8 *block = buffers->in;

	if (length < state->block_length)
	{
		memcpy(state->partial + state->partial_length, buffers->in, length);
		state->partial_length += length;
		block = state->partial;
	}
	buffers->in += length;
	buffers->in_left -= length;
	if (length < missing)
		return CODEC_MORE;

	make_room(state);
	state->stage = AT_BLOCK;
	if (decompress_block(state, block))
		return CODEC_MORE;
	*message = "block that is no LZ4 data";
	return CODEC_DAMAGED;
}

static void
hand_out(Lz4State *state, CodecBuffers *buffers)
{
	size_t		length = Min(state->output_to - state->output_from, buffers->out_left);

	memcpy(buffers->out, state->output + state->output_from, length);
	buffers->out += length;
	buffers->out_left -= length;
	state->output_from += length;
}

static CodecStatus
step_plain(Lz4State *state, CodecBuffers *buffers, const char **message)
{
	CodecStatus status = CODEC_MORE;

	while (status == CODEC_MORE)
	{
		FrameStage	stage = state->stage;
		size_t		in_left = buffers->in_left;

		hand_out(state, buffers);
		if (state->output_from < state->output_to)
			break;
		if (stage == AT_BLOCK)
			status = begin_block(state, buffers, message);
		else
			status = take_block(state, buffers, message);
		if (in_left == buffers->in_left && stage == state->stage)
			break;
	}
	return status;
}

static CodecStatus
lz4_step(void *argument, CodecBuffers *buffers, const char **message)
{
	Lz4State   *state = argument;

	if (state->stage == AT_HEADER)
	{
		CodecStatus status = begin_frame(state, buffers, message);

		if (status != CODEC_MORE || state->stage == AT_HEADER)
			return status;
	}
	if (state->stage == BY_LIBRARY)
		return step_by_library(state, buffers, message);
	return step_plain(state, buffers, message);
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
