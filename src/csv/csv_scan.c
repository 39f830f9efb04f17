/*-------------------------------------------------------------------------
 *
 * csv_scan.c
 *	  Where the fields of plain rows lie.
 *
 * Finding marks.  A byte is a mark when it may end a field: the delimiter,
 * the newline, a line-end byte out of place, and what makes a row special
 * (backslash; quote where an escape of its own exists).  Where a quote is its
 * own escape, a byte lies inside quotes exactly when an odd number of quotes
 * precedes it, so that the marks inside can be cut out with a prefix sum
 * modulo two and quoted rows are as plain as others.
 *
 * Taking rows.  A row of n fields is plain when its next n marks are n - 1
 * delimiters and a newline.  Anything else (too many or too few fields, a
 * special byte, a stray line end, an empty row) is left to csv_rows.c, which
 * either reads it or knows what is wrong with it.  So this file need not be
 * complete, only never wrong.
 *
 * Invariant: both steps give the same result with and without SIMD.
 *
 * Refuses to know: buffers, files, encodings, errors.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "csv/csv_scan.h"

#if defined(__x86_64__)
#include <immintrin.h>
#define SCAN_X86
#endif

/* One bit for each of 64 bytes. */
typedef struct ByteMasks
{
	uint64		delimiter;
	uint64		newline;
	uint64		stray;
	uint64		special;
	uint64		unplain;		/* high bit set, or zero */
} ByteMasks;

/* Bit i: is the number of bits at or below i odd? */
static pg_attribute_always_inline uint64
prefix_xor(uint64 x)
{
	x ^= x << 1;
	x ^= x << 2;
	x ^= x << 4;
	x ^= x << 8;
	x ^= x << 16;
	x ^= x << 32;
	return x;
}

/* Carriage returns that a newline follows; p[64] is readable. */
static pg_attribute_always_inline uint64
stray_paired(const ByteMasks *m, const char *p)
{
	uint64		followed = m->newline >> 1;

	if (p[64] == '\n')
		followed |= UINT64CONST(1) << 63;
	return followed;
}

/*
 * The numbers of the bits, some at a time without asking: what is too much is
 * overwritten by the next.
 */
static pg_attribute_always_inline uint32 *
list_bits(uint32 *out, uint32 at, uint64 bits)
{
	int			n = __builtin_popcountll(bits);

	for (int done = 0; done < n; done += 4)
	{
#pragma GCC unroll 4
		for (int i = 0; i < 4; i++)
		{
			/* of no bit, any number will do */
			out[done + i] = at + (uint32) __builtin_ctzll(bits | UINT64CONST(1) << 63);
			bits &= bits - 1;
		}
	}
	return out + n;
}

/*
 * Which marks of a piece are delimiters, if rows of two fields go on: every
 * other one, beginning with the first unless a delimiter waits for its row's
 * end.  0 if what waits is anything else.
 */
static inline uint64
first_ordinals(const CsvScan *scan, const char *base)
{
	const uint64 even = UINT64CONST(0x5555555555555555);

	if (scan->first == scan->end)
		return even;
	if (scan->end - scan->first == 1 && base[scan->position[scan->first]] == scan->delimiter)
		return ~even;
	return 0;
}

/* ------------------------------------------------------- without SIMD */

#define EACH_BYTE(c)	(UINT64CONST(0x0101010101010101) * (uint8) (c))
#define LOW_BITS		UINT64CONST(0x7F7F7F7F7F7F7F7F)

/* The high bit of each byte, gathered into eight bits. */
static inline uint64
gather_high_bits(uint64 x)
{
	return ((x >> 7) * UINT64CONST(0x0102040810204080)) >> 56;
}

/* High bits exactly where bytes of x are zero. */
static inline uint64
zero_bytes(uint64 x)
{
	return ~(((x & LOW_BITS) + LOW_BITS) | x | LOW_BITS);
}

static inline void
classify_portable(const CsvScan *scan, const char *p, ByteMasks *m)
{
	const uint64 delimiter = EACH_BYTE(scan->delimiter);
	const uint64 newline = EACH_BYTE(scan->newline);
	const uint64 stray = EACH_BYTE(scan->stray);
	const uint64 special = EACH_BYTE(scan->special);

	memset(m, 0, sizeof(*m));
	for (int shift = 0; shift < 64; shift += 8)
	{
		uint64		x;

		memcpy(&x, p + shift, sizeof(x));
#ifdef WORDS_BIGENDIAN
		x = __builtin_bswap64(x);
#endif
		m->delimiter |= gather_high_bits(zero_bytes(x ^ delimiter)) << shift;
		m->newline |= gather_high_bits(zero_bytes(x ^ newline)) << shift;
		m->stray |= gather_high_bits(zero_bytes(x ^ stray)) << shift;
		m->special |= gather_high_bits(zero_bytes(x ^ special)) << shift;
		m->unplain |= gather_high_bits((zero_bytes(x) | x) & ~LOW_BITS) << shift;
	}
}

#define SCAN_NAME		scan_marks_portable
#define SCAN_TARGET
#define SCAN_CLASSIFY	classify_portable
#define SCAN_LIST		list_bits
#include "csv/csv_scan_template.h"

/* ---------------------------------------------------------- with SIMD */

#ifdef SCAN_X86

static pg_attribute_always_inline void
classify_sse2(const CsvScan *scan, const char *p, ByteMasks *m)
{
	const __m128i delimiter = _mm_set1_epi8(scan->delimiter);
	const __m128i newline = _mm_set1_epi8(scan->newline);
	const __m128i stray = _mm_set1_epi8(scan->stray);
	const __m128i special = _mm_set1_epi8(scan->special);
	const __m128i one = _mm_set1_epi8(1);

	memset(m, 0, sizeof(*m));
	for (int shift = 0; shift < 64; shift += 16)
	{
		__m128i		x = _mm_loadu_si128((const __m128i *) (p + shift));

#define MASK(condition) ((uint64) (uint32) _mm_movemask_epi8(condition) << shift)
		m->delimiter |= MASK(_mm_cmpeq_epi8(x, delimiter));
		m->newline |= MASK(_mm_cmpeq_epi8(x, newline));
		m->stray |= MASK(_mm_cmpeq_epi8(x, stray));
		m->special |= MASK(_mm_cmpeq_epi8(x, special));
		/* as signed numbers, high and zero bytes are those below one */
		m->unplain |= MASK(_mm_cmplt_epi8(x, one));
#undef MASK
	}
}

#define SCAN_NAME		scan_marks_sse2
#define SCAN_TARGET
#define SCAN_CLASSIFY	classify_sse2
#define SCAN_LIST		list_bits
#include "csv/csv_scan_template.h"

#define TARGET_AVX2		__attribute__((target("avx2,bmi,bmi2,popcnt")))

/* As list_bits; the instruction answers 64 where there is no bit. */
static inline TARGET_AVX2 uint32 *
list_bits_avx2(uint32 *out, uint32 at, uint64 bits)
{
	int			n = __builtin_popcountll(bits);

	for (int done = 0; done < n; done += 4)
	{
#pragma GCC unroll 4
		for (int i = 0; i < 4; i++)
		{
			out[done + i] = at + (uint32) _tzcnt_u64(bits);
			bits = _blsr_u64(bits);
		}
	}
	return out + n;
}

/* A macro, since an inline function cannot be shared between targets. */
#define AVX2_MASK(low, high) \
	((uint64) (uint32) _mm256_movemask_epi8(low) | \
	 (uint64) (uint32) _mm256_movemask_epi8(high) << 32)

static inline TARGET_AVX2 void
classify_avx2(const CsvScan *scan, const char *p, ByteMasks *m)
{
	const __m256i delimiter = _mm256_set1_epi8(scan->delimiter);
	const __m256i newline = _mm256_set1_epi8(scan->newline);
	const __m256i stray = _mm256_set1_epi8(scan->stray);
	const __m256i special = _mm256_set1_epi8(scan->special);
	const __m256i one = _mm256_set1_epi8(1);
	__m256i		x = _mm256_loadu_si256((const __m256i *) p);
	__m256i		y = _mm256_loadu_si256((const __m256i *) (p + 32));

	m->delimiter = AVX2_MASK(_mm256_cmpeq_epi8(x, delimiter), _mm256_cmpeq_epi8(y, delimiter));
	m->newline = AVX2_MASK(_mm256_cmpeq_epi8(x, newline), _mm256_cmpeq_epi8(y, newline));
	m->stray = AVX2_MASK(_mm256_cmpeq_epi8(x, stray), _mm256_cmpeq_epi8(y, stray));
	m->special = AVX2_MASK(_mm256_cmpeq_epi8(x, special), _mm256_cmpeq_epi8(y, special));
	m->unplain = AVX2_MASK(_mm256_cmpgt_epi8(one, x), _mm256_cmpgt_epi8(one, y));
}

#define SCAN_NAME		scan_marks_avx2
#define SCAN_TARGET		TARGET_AVX2
#define SCAN_CLASSIFY	classify_avx2
#define SCAN_LIST		list_bits_avx2
#define SCAN_DEPOSIT	_pdep_u64
#include "csv/csv_scan_template.h"

#define TARGET_AVX512	__attribute__((target("avx512f,avx512bw,avx512vbmi2,bmi,bmi2,popcnt")))

static inline TARGET_AVX512 void
classify_avx512(const CsvScan *scan, const char *p, ByteMasks *m)
{
	__m512i		x = _mm512_loadu_si512(p);

	m->delimiter = _mm512_cmpeq_epi8_mask(x, _mm512_set1_epi8(scan->delimiter));
	m->newline = _mm512_cmpeq_epi8_mask(x, _mm512_set1_epi8(scan->newline));
	m->stray = _mm512_cmpeq_epi8_mask(x, _mm512_set1_epi8(scan->stray));
	m->special = _mm512_cmpeq_epi8_mask(x, _mm512_set1_epi8(scan->special));
	m->unplain = _mm512_cmplt_epi8_mask(x, _mm512_set1_epi8(1));
}

/* As list_bits: the numbers 0 to 63, pressed together to those of the bits. */
static inline TARGET_AVX512 uint32 *
list_bits_avx512(uint32 *out, uint32 at, uint64 bits)
{
	const __m512i numbers =
		_mm512_set_epi8(63, 62, 61, 60, 59, 58, 57, 56, 55, 54, 53, 52, 51, 50, 49, 48,
						47, 46, 45, 44, 43, 42, 41, 40, 39, 38, 37, 36, 35, 34, 33, 32,
						31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18, 17, 16,
						15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
	const __m512i base = _mm512_set1_epi32((int) at);
	__m512i		listed = _mm512_maskz_compress_epi8(bits, numbers);
	int			n = __builtin_popcountll(bits);

#define STORE_LISTED(part) \
	_mm512_storeu_si512(out + 16 * (part), \
						_mm512_add_epi32(base, _mm512_cvtepu8_epi32(_mm512_extracti32x4_epi32(listed, part))))
	STORE_LISTED(0);
	if (n > 16)
	{
		STORE_LISTED(1);
		if (n > 32)
		{
			STORE_LISTED(2);
			STORE_LISTED(3);
		}
	}
#undef STORE_LISTED
	return out + n;
}

#define SCAN_NAME		scan_marks_avx512
#define SCAN_TARGET		TARGET_AVX512
#define SCAN_CLASSIFY	classify_avx512
#define SCAN_LIST		list_bits_avx512
#define SCAN_DEPOSIT	_pdep_u64
#include "csv/csv_scan_template.h"

#endif							/* SCAN_X86 */

int
csv_scan_widths(CsvScanMarks *marks)
{
	int			n = 0;

	marks[n++] = scan_marks_portable;
#ifdef SCAN_X86
	marks[n++] = scan_marks_sse2;
	if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
		__builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt"))
	{
		marks[n++] = scan_marks_avx2;
		if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
			__builtin_cpu_supports("avx512vbmi2"))
			marks[n++] = scan_marks_avx512;
	}
#endif
	return n;
}

static CsvScanMarks
choose_marks(bool simd)
{
	CsvScanMarks marks[CSV_SCAN_WIDTHS];
	int			n = csv_scan_widths(marks);

	return marks[simd ? n - 1 : 0];
}

void
csv_scan_init(CsvScan *scan, const CsvGrammar *grammar, bool simd)
{
	bool		cr = grammar->line_end == LINE_END_CR;

	scan->marks = choose_marks(simd);
	scan->delimiter = grammar->delimiter;
	scan->newline = cr ? '\r' : '\n';
	scan->stray = cr ? '\n' : '\r';
	scan->special = grammar->csv ? grammar->quote : '\\';
	scan->parity = grammar->csv && grammar->quote == grammar->escape;
	scan->crlf = grammar->line_end == LINE_END_CRLF;
	csv_scan_reset(scan);
}

void
csv_scan_reset(CsvScan *scan)
{
	scan->first = 0;
	scan->end = 0;
	scan->in_quote = 0;
	scan->quote_end = 0;
	scan->plain_ascii = true;
	scan->breaks = 0;
	scan->alternating = false;
}

void
csv_scan_skip(CsvScan *scan, uint32 start)
{
	while (scan->first < scan->end && scan->position[scan->first] < start)
		scan->first++;
	scan->alternating = false;
}

/* ------------------------------------------------------- taking rows */

/*
 * What a take works on; "last" is the position after the last usable mark.
 */
typedef struct TakeState
{
	const char *base;
	const uint32 *mark;
	const uint32 *last;
	uint32		start;
	int			row;
	int			max_rows;
	bool		irregular;
} TakeState;

/* Does a row end at this mark: a newline, behind a carriage return where "crlf"? */
static pg_attribute_always_inline bool
ends_row(const CsvScan *scan, const char *base, uint32 start, uint32 mark, bool crlf)
{
	return base[mark] == scan->newline &&
		(!crlf || (mark > start && base[mark - 1] == '\r'));
}

/*
 * The common shape: two fields, the first one wanted, and perhaps the second.
 */
static pg_attribute_always_inline void
take_pairs(const CsvScan *scan, const CsvFields *fields, TakeState *state, bool both, bool crlf)
{
	const char *base = state->base;
	const char	delimiter = scan->delimiter;
	const uint32 *mark = state->mark;
	uint32	   *key_offset = fields->offset[0];
	uint32	   *key_length = fields->length[0];
	uint32	   *value_offset = both ? fields->offset[1] : NULL;
	uint32	   *value_length = both ? fields->length[1] : NULL;
	uint32		start = state->start;
	int			row = state->row;
	int			end = row + (int) Min((state->last - mark) / 2, state->max_rows - row);

	for (; row < end; row++, mark += 2)
	{
		uint32		a = mark[0];
		uint32		b = mark[1];

		if (base[a] != delimiter || !ends_row(scan, base, start, b, crlf))
		{
			state->irregular = true;
			break;
		}
		key_offset[row] = start;
		key_length[row] = a - start;
		if (both)
		{
			value_offset[row] = a + 1;
			value_length[row] = b - a - 1 - (crlf ? 1 : 0);
		}
		start = b + 1;
	}
	state->mark = mark;
	state->start = start;
	state->row = row;
}

#ifdef SCAN_X86

/* Marks of so many rows of two fields are taken at once. */
#define PAIRED_ROWS		8

/* The first of each pair of marks, and the second. */
static inline TARGET_AVX2 void
part_pairs(const uint32 *mark, __m256i *a, __m256i *b)
{
	__m256		low = _mm256_loadu_ps((const float *) mark);
	__m256		high = _mm256_loadu_ps((const float *) (mark + PAIRED_ROWS));
	__m256i		first = _mm256_castps_si256(_mm256_shuffle_ps(low, high, _MM_SHUFFLE(2, 0, 2, 0)));
	__m256i		second = _mm256_castps_si256(_mm256_shuffle_ps(low, high, _MM_SHUFFLE(3, 1, 3, 1)));

	*a = _mm256_permute4x64_epi64(first, _MM_SHUFFLE(3, 1, 2, 0));
	*b = _mm256_permute4x64_epi64(second, _MM_SHUFFLE(3, 1, 2, 0));
}

/*
 * The same where the scan has seen that delimiters and newlines alternate,
 * which it looks for with AVX2 alone.  One by one, the stores would bound it.
 */
static TARGET_AVX2 void
take_alternating(const CsvFields *fields, TakeState *state, bool both)
{
	const __m256i one = _mm256_set1_epi32(1);
	const uint32 *mark = state->mark;
	const int	n = (int) Min((state->last - mark) / 2, state->max_rows - state->row);
	uint32	   *key_offset = fields->offset[0] + state->row;
	uint32	   *key_length = fields->length[0] + state->row;
	uint32	   *value_offset = both ? fields->offset[1] + state->row : NULL;
	uint32	   *value_length = both ? fields->length[1] + state->row : NULL;
	uint32		start = state->start;
	int			i = 0;

#define STORE(p, x) _mm256_storeu_si256((__m256i *) (p), x)
	for (; i + PAIRED_ROWS <= n; i += PAIRED_ROWS)
	{
		__m256i		a;
		__m256i		b;
		__m256i		starts;

		part_pairs(mark + 2 * i, &a, &b);
		starts = _mm256_permutevar8x32_epi32(_mm256_add_epi32(b, one),
											 _mm256_setr_epi32(7, 0, 1, 2, 3, 4, 5, 6));
		starts = _mm256_blend_epi32(starts, _mm256_set1_epi32((int) start), 1);
		STORE(key_offset + i, starts);
		STORE(key_length + i, _mm256_sub_epi32(a, starts));
		if (both)
		{
			a = _mm256_add_epi32(a, one);
			STORE(value_offset + i, a);
			STORE(value_length + i, _mm256_sub_epi32(b, a));
		}
		start = mark[2 * i + 2 * PAIRED_ROWS - 1] + 1;
	}
#undef STORE
	for (; i < n; i++)
	{
		uint32		a = mark[2 * i];
		uint32		b = mark[2 * i + 1];

		key_offset[i] = start;
		key_length[i] = a - start;
		if (both)
		{
			value_offset[i] = a + 1;
			value_length[i] = b - a - 1;
		}
		start = b + 1;
	}
	state->mark = mark + 2 * n;
	state->start = start;
	state->row += n;
}

#endif							/* SCAN_X86 */

/* Any number of fields. */
static void
take_rows(const CsvScan *scan, const CsvFields *fields, TakeState *state)
{
	const char *base = state->base;
	const int	nfields = fields->nfields;

	while (state->row < state->max_rows && state->last - state->mark >= nfields)
	{
		const uint32 *mark = state->mark;
		uint32		start = state->start;
		uint32		end = mark[nfields - 1];
		bool		regular = ends_row(scan, base, start, end, scan->crlf);

		for (int i = 0; regular && i < nfields - 1; i++)
			regular = base[mark[i]] == scan->delimiter;
		/* a row without a byte may be one of the blank lines at the end */
		if (!regular || end - start == (scan->crlf ? 1 : 0))
		{
			state->irregular = true;
			return;
		}
		for (int i = 0; i < fields->nwanted; i++)
		{
			int			field = fields->wanted[i];
			uint32		offset = field == 0 ? start : mark[field - 1] + 1;
			uint32		length = mark[field] - offset;

			if (scan->crlf && field == nfields - 1)
				length--;
			fields->offset[i][state->row] = offset;
			fields->length[i][state->row] = length;
		}
		state->start = end + 1;
		state->mark += nfields;
		state->row++;
	}
}

static void
take(const CsvScan *scan, const CsvFields *fields, TakeState *state)
{
	bool		pair = fields->nfields == 2 && fields->wanted[0] == 0;

	if (!pair)
		take_rows(scan, fields, state);
#ifdef SCAN_X86
	else if (scan->alternating && !scan->crlf)
		take_alternating(fields, state, fields->nwanted == 2);
#endif
	else if (scan->crlf)
		take_pairs(scan, fields, state, fields->nwanted == 2, true);
	else if (fields->nwanted == 2)
		take_pairs(scan, fields, state, true, false);
	else
		take_pairs(scan, fields, state, false, false);
}

CsvScanStop
csv_scan_take(CsvScan *scan, const CsvFields *fields, const char *base,
			  uint32 *start, uint32 limit, int *row, int max_rows)
{
	int			usable = scan->end;
	TakeState	state = {
		.base = base,
		.mark = scan->position + scan->first,
		.start = *start,
		.row = *row,
		.max_rows = max_rows
	};

	while (usable > scan->first && scan->position[usable - 1] >= limit)
		usable--;
	state.last = scan->position + usable;
	take(scan, fields, &state);

	*start = state.start;
	*row = state.row;
	scan->first = (int) (state.mark - scan->position);
	if (state.row == max_rows)
		return CSV_SCAN_FULL;
	return state.irregular ? CSV_SCAN_IRREGULAR : CSV_SCAN_DRY;
}
