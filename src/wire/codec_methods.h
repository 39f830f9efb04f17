/*-------------------------------------------------------------------------
 *
 * codec_methods.h
 *	  What codec.c asks of a compression library.
 *
 * Private to src/wire: one const table per library, each in its own file,
 * which is the only one to include that library's header.
 *
 *-------------------------------------------------------------------------
 */
#ifndef OUTERJOIN_CODEC_METHODS_H
#define OUTERJOIN_CODEC_METHODS_H

#include "postgres.h"

typedef enum CodecStatus
{
	CODEC_MORE,					/* the member goes on */
	CODEC_MEMBER_END,			/* complete, checksums right, all output out */
	CODEC_DAMAGED,				/* step's message says why */
	CODEC_WINDOW_TOO_LARGE,		/* it would take more memory than allowed */
	CODEC_OUT_OF_MEMORY
} CodecStatus;

/* Input and output of one step; the library moves the pointers on. */
typedef struct CodecBuffers
{
	const unsigned char *in;
	size_t		in_left;
	unsigned char *out;
	size_t		out_left;
} CodecBuffers;

/* Most bytes that tell whether a member begins. */
#define CODEC_MAGIC_BYTES 4

typedef struct CodecMethods
{
	const char *name;
	bool		zero_padding;	/* zeros after the last member are accepted */

	/*
	 * Can a member begin with these bytes?  Fewer than CODEC_MAGIC_BYTES are
	 * given only at the end of the file; then: can they be cut from one?
	 */
	bool		(*begins) (const unsigned char *bytes, size_t length);

	/* The library's state, ready for a first member; NULL: out of memory. */
	void	   *(*create) (void);

	/* Ready for another member, whatever has happened to the last. */
	void		(*restart) (void *state);

	/*
	 * Go on with the current member.  Taking no input and giving no output
	 * means that there is nothing to do without more of either.  On
	 * CODEC_DAMAGED *message is set, valid until the next call.
	 */
	CodecStatus (*step) (void *state, CodecBuffers *buffers, const char **message);

	void		(*destroy) (void *state);
} CodecMethods;

extern const CodecMethods gzip_codec;
extern const CodecMethods zstd_codec;
extern const CodecMethods lz4_codec;

#endif							/* OUTERJOIN_CODEC_METHODS_H */
