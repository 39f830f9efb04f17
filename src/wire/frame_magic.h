/*-------------------------------------------------------------------------
 *
 * frame_magic.h
 *	  How zstd's and lz4's frames begin: a little-endian 32-bit number, and
 *	  one range of numbers for skippable frames that both formats share.
 *
 *-------------------------------------------------------------------------
 */
#ifndef OUTERJOIN_FRAME_MAGIC_H
#define OUTERJOIN_FRAME_MAGIC_H

#define SKIPPABLE_MAGIC			0x184D2A50U
#define SKIPPABLE_MAGIC_MASK	0xFFFFFFF0U

/* Can "length" bytes (more than 4 are not looked at) begin such a frame? */
static inline bool
frame_magic_begins(const unsigned char *bytes, size_t length, uint32 magic)
{
	uint32		found = 0;
	uint32		known = 0;		/* mask of the bits that are there */

	for (size_t i = 0; i < Min(length, 4); i++)
	{
		found |= (uint32) bytes[i] << (8 * i);
		known |= 0xFFU << (8 * i);
	}
	return found == (magic & known) ||
		(found & SKIPPABLE_MAGIC_MASK) == (SKIPPABLE_MAGIC & SKIPPABLE_MAGIC_MASK & known);
}

#endif							/* OUTERJOIN_FRAME_MAGIC_H */
