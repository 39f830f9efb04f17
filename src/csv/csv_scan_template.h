/*-------------------------------------------------------------------------
 *
 * csv_scan_template.h
 *	  The scan's inner loop, included once for each instruction set.
 *
 * Before including, define
 *
 *	  SCAN_NAME			the function's name
 *	  SCAN_TARGET		its attributes
 *	  SCAN_CLASSIFY		classify(scan, p, masks): masks of the 64 bytes at p
 *	  SCAN_LIST			list(out, at, mask): write "at" plus the number of each bit
 *						that is set, and up to 31 entries more of no meaning;
 *						where the next one goes
 *	  SCAN_DEPOSIT		optional; deposit(pattern, mask): the bits of the mask
 *						whose ordinals are set in the pattern
 *
 * All are undefined again at the end.
 *
 *-------------------------------------------------------------------------
 */

static void SCAN_TARGET
SCAN_NAME(CsvScan *scan, const char *base, uint32 from, uint32 to)
{
	uint32	   *out = scan->position + scan->end;
	uint64		in_quote = scan->in_quote;
	uint64		unplain = 0;
	int			breaks = 0;
#ifdef SCAN_DEPOSIT
	uint64		pattern = first_ordinals(scan, base);
	uint64		mismatch = pattern == 0;
#endif

	for (uint32 at = from; at < to; at += 64)
	{
		ByteMasks	m;
		uint64		found;

		SCAN_CLASSIFY(scan, base + at, &m);
		if (to - at < 64)
		{
			uint64		valid = (UINT64CONST(1) << (to - at)) - 1;

			m.delimiter &= valid;
			m.newline &= valid;
			m.special &= valid;
			m.stray &= valid;
			m.unplain &= valid;
		}
		unplain |= m.unplain;
		if (scan->crlf && m.stray != 0)
			m.stray &= ~stray_paired(&m, base + at);
		found = m.delimiter | m.newline | m.stray;

		if (!scan->parity)
			found |= m.special;
		else if ((m.special | in_quote) != 0)
		{
			uint64		quoted = prefix_xor(m.special) ^ in_quote;

			breaks += __builtin_popcountll(m.newline & quoted);
			found &= ~quoted;
			in_quote = (quoted >> 63) ? ~UINT64CONST(0) : 0;
			if (m.special != 0)
				scan->quote_end = at + 64;
		}

#ifdef SCAN_DEPOSIT
		mismatch |= SCAN_DEPOSIT(pattern, found) ^ (m.delimiter & found);
		mismatch |= found & ~(m.delimiter | m.newline);
		if (__builtin_popcountll(found) & 1)
			pattern = ~pattern;
#endif
		if (found != 0)
			out = SCAN_LIST(out, at, found);
	}

	scan->end = (int) (out - scan->position);
	scan->in_quote = in_quote;
	scan->plain_ascii = unplain == 0;
	scan->breaks = breaks;
#ifdef SCAN_DEPOSIT
	scan->alternating = mismatch == 0;
#endif
}

#undef SCAN_NAME
#undef SCAN_TARGET
#undef SCAN_CLASSIFY
#undef SCAN_LIST
#undef SCAN_DEPOSIT
