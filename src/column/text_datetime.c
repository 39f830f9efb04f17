/*-------------------------------------------------------------------------
 *
 * text_datetime.c
 *	  Plain dates and timestamps: ISO 8601 with a year of four digits.
 *
 * YYYY-MM-DD means the same under every DateStyle, since a first field of
 * four digits can only be the year.  Leap seconds, 24:00:00, the year 0, BC,
 * names of months, days and zones go to the input function.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "datatype/timestamp.h"
#include "pgtime.h"
#include "utils/datetime.h"

#include "column/text_decoder.h"
#include "column/text_scan.h"

/* A timestamp as written, before any zone. */
typedef struct Moment
{
	int			year;
	int			month;
	int			day;
	int			second;			/* of the day */
	int			microsecond;
	int			fraction_digits;
} Moment;

#define DATE_LENGTH			10	/* YYYY-MM-DD */
#define MINUTE_LENGTH		16	/* YYYY-MM-DD HH:MM */
#define SECOND_LENGTH		19	/* YYYY-MM-DD HH:MM:SS */
#define MAX_ZONE_HOUR		14	/* beyond that, ask the input function */

/* Eight characters as scan_load64 gives them. */
#define SCAN_PATTERN(a, b, c, d, e, f, g, h) \
	((uint64) (a) | (uint64) (b) << 8 | (uint64) (c) << 16 | (uint64) (d) << 24 | \
	 (uint64) (e) << 32 | (uint64) (f) << 40 | (uint64) (g) << 48 | (uint64) (h) << 56)

static inline bool
is_leap_year(int year)
{
	return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

/* Days before each month, and all of them, in a common year. */
static const int16 days_before[13] = {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365};

/* Days since 2000-01-01 in the Gregorian calendar, for valid dates from year 1. */
static inline int
days_since_2000(int year, int month, int day)
{
	const int	past = year - 1;
	const int	epoch = 1999 * 365 + 1999 / 4 - 1999 / 100 + 1999 / 400;

	return past * 365 + past / 4 - past / 100 + past / 400 - epoch +
		days_before[month - 1] + (month > 2 && is_leap_year(year)) + day - 1;
}

static inline bool
date_is_valid(int year, int month, int day)
{
	if (year < 1 || month < 1 || month > 12 || day < 1)
		return false;
	return day <= days_before[month] - days_before[month - 1] + (month == 2 && is_leap_year(year));
}

/* The ten characters at p; whatever follows is the caller's. */
static pg_attribute_always_inline bool
scan_date(const char *p, Moment *moment)
{
	uint64		digits;
	uint64		day;

	if (!scan_match(scan_load64(p), SCAN_PATTERN('0', '0', '0', '0', '-', '0', '0', '-'), &digits))
		return false;
	day = (uint64) (unsigned char) p[8] | (uint64) (unsigned char) p[9] << 8;
	if (!scan_match(day, SCAN_PATTERN('0', '0', 0, 0, 0, 0, 0, 0), &day))
		return false;
	moment->year = scan_two_digits(digits, 0) * 100 + scan_two_digits(digits, 2);
	moment->month = scan_two_digits(digits, 5);
	moment->day = scan_two_digits(day, 0);
	return date_is_valid(moment->year, moment->month, moment->day);
}

bool
text_scan_date(const char *p, uint32 len, int64 *days)
{
	Moment		moment;

	if (len != DATE_LENGTH || !scan_date(p, &moment))
		return false;
	*days = days_since_2000(moment.year, moment.month, moment.day);
	return true;
}

static pg_attribute_always_inline bool
convert_date(TextDecoder *decoder, ValueArena *arena, ArenaCursor *cursor,
			 const char *p, uint32 length, Datum *value)
{
	Moment		moment;

	(void) decoder;
	(void) arena;
	(void) cursor;
	if (length != DATE_LENGTH || !scan_date(p, &moment))
		return false;
	*value = (Datum) (int64) days_since_2000(moment.year, moment.month, moment.day);
	return true;
}

void
text_loop_date(TextDecoder *decoder, const TextRun *run)
{
	text_decode_rows(decoder, run, convert_date);
}

/*
 * One to six digits behind a decimal point, at most "available" characters;
 * returns how many, 0 if there are none or too many.
 */
static inline int
scan_fraction(const char *p, uint32 available, Moment *moment)
{
	uint64		word = scan_load64(p);
	uint64		stop = scan_nondigits(word);
	int			ndigits = stop ? __builtin_ctzll(stop) / 8 : 8;
	uint64		kept;

	if ((uint32) ndigits > available)
		ndigits = (int) available;
	if (ndigits < 1 || ndigits > MAX_TIMESTAMP_PRECISION)
		return 0;
	/* zeros behind the digits up to the eighth place */
	kept = (UINT64CONST(1) << (8 * ndigits)) - 1;
	word = (word & kept) | (SCAN_BYTES('0') & ~kept);
	moment->microsecond = (int) (scan_digits_value(word) / 100);
	moment->fraction_digits = ndigits;
	return ndigits;
}

/*
 * YYYY-MM-DD[{ |T}HH:MM[:SS[.f{1,6}]]].  *used receives the characters it
 * took; what is behind them, up to len, is the caller's.
 */
static pg_attribute_always_inline bool
scan_moment(const char *p, uint32 len, Moment *moment, uint32 *used)
{
	uint64		clock;
	uint64		digits;
	int			hour;
	int			minute;
	int			second = 0;

	moment->second = 0;
	moment->microsecond = 0;
	moment->fraction_digits = 0;
	if (len < DATE_LENGTH || !scan_date(p, moment))
		return false;
	*used = DATE_LENGTH;
	if (len == DATE_LENGTH)
		return true;

	if (len < MINUTE_LENGTH)
		return false;
	clock = scan_load64(p + 8);
	if (p[DATE_LENGTH] == 'T')
		clock ^= (uint64) ('T' ^ ' ') << 16;
	if (!scan_match(clock, SCAN_PATTERN('0', '0', ' ', '0', '0', ':', '0', '0'), &digits))
		return false;
	hour = scan_two_digits(digits, 3);
	minute = scan_two_digits(digits, 6);
	*used = MINUTE_LENGTH;

	if (len >= SECOND_LENGTH && p[MINUTE_LENGTH] == ':')
	{
		uint32		word = scan_load32(p + MINUTE_LENGTH) & 0x00FFFFFF;

		if (!scan_match(word, SCAN_PATTERN(':', '0', '0', 0, 0, 0, 0, 0), &digits))
			return false;
		second = scan_two_digits(digits, 1);
		*used = SECOND_LENGTH;
		if (len > SECOND_LENGTH && p[SECOND_LENGTH] == '.')
		{
			int			ndigits = scan_fraction(p + SECOND_LENGTH + 1, len - SECOND_LENGTH - 1, moment);

			if (ndigits == 0)
				return false;
			*used += 1 + ndigits;
		}
	}
	if (hour > 23 || minute > 59 || second > 59)
		return false;
	moment->second = (hour * 60 + minute) * 60 + second;
	return true;
}

static inline int64
moment_timestamp(const Moment *moment)
{
	int64		days = days_since_2000(moment->year, moment->month, moment->day);

	return (days * SECS_PER_DAY + moment->second) * USECS_PER_SEC + moment->microsecond;
}

bool
text_scan_timestamp(const char *p, uint32 len, int64 *timestamp)
{
	Moment		moment;
	uint32		used;

	if (!scan_moment(p, len, &moment, &used) || used != len)
		return false;
	*timestamp = moment_timestamp(&moment);
	return true;
}

static pg_attribute_always_inline bool
convert_timestamp(TextDecoder *decoder, ValueArena *arena, ArenaCursor *cursor,
				  const char *p, uint32 length, Datum *value)
{
	Moment		moment;
	uint32		used;

	(void) arena;
	(void) cursor;
	if (!scan_moment(p, length, &moment, &used) || used != length ||
		moment.fraction_digits > decoder->precision)
		return false;
	*value = (Datum) moment_timestamp(&moment);
	return true;
}

void
text_loop_timestamp(TextDecoder *decoder, const TextRun *run)
{
	text_decode_rows(decoder, run, convert_timestamp);
}

/* {+|-}HH[[:]MM], all of it, to seconds east of Greenwich */
static inline bool
scan_zone(const char *p, uint32 len, int32 *offset)
{
	uint64		word = scan_load64(p);
	uint64		digits;
	int			hour;
	int			minute = 0;

	if (len != 3 && len != 5 && len != 6)
		return false;
	if (*p != '+' && *p != '-')
		return false;
	word &= (UINT64CONST(1) << (8 * len)) - 1;
	word = (word & ~UINT64CONST(0xFF)) | '+';
	if (len == 6)
	{
		if (!scan_match(word, SCAN_PATTERN('+', '0', '0', ':', '0', '0', 0, 0), &digits))
			return false;
		minute = scan_two_digits(digits, 4);
	}
	else if (len == 5)
	{
		if (!scan_match(word, SCAN_PATTERN('+', '0', '0', '0', '0', 0, 0, 0), &digits))
			return false;
		minute = scan_two_digits(digits, 3);
	}
	else if (!scan_match(word, SCAN_PATTERN('+', '0', '0', 0, 0, 0, 0, 0), &digits))
		return false;
	hour = scan_two_digits(digits, 1);
	if (hour > MAX_ZONE_HOUR || minute > 59)
		return false;
	*offset = (hour * 60 + minute) * 60;
	if (*p == '-')
		*offset = -*offset;
	return true;
}

/* What the session's time zone says of a moment, in seconds east of Greenwich. */
static int32
session_zone_offset(const Moment *moment)
{
	struct pg_tm tm = {
		.tm_year = moment->year,
		.tm_mon = moment->month,
		.tm_mday = moment->day,
		.tm_hour = moment->second / SECS_PER_HOUR,
		.tm_min = moment->second / SECS_PER_MINUTE % MINS_PER_HOUR,
		.tm_sec = moment->second % SECS_PER_MINUTE,
	};

	return -DetermineTimeZoneOffset(&tm, session_timezone);
}

static pg_attribute_always_inline bool
convert_timestamptz(TextDecoder *decoder, ValueArena *arena, ArenaCursor *cursor,
					const char *p, uint32 length, Datum *value)
{
	Moment		moment;
	uint32		used;
	int32		offset;

	(void) arena;
	(void) cursor;
	if (!scan_moment(p, length, &moment, &used) || moment.fraction_digits > decoder->precision)
		return false;
	if (used == length)
		offset = decoder->zone_fixed ? decoder->zone_offset : session_zone_offset(&moment);
	else if (used == DATE_LENGTH)
		return false;
	else if (length - used == 1 && p[used] == 'Z' && decoder->zulu)
		offset = 0;
	else if (!scan_zone(p + used, length - used, &offset))
		return false;
	*value = (Datum) (moment_timestamp(&moment) - offset * USECS_PER_SEC);
	return true;
}

/*
 * The settings are looked at once a call: TimeZone may have one offset for
 * all times, and timezone_abbreviations may redefine even "Z".
 */
void
text_loop_timestamptz(TextDecoder *decoder, const TextRun *run)
{
	static const char probe[] = "2000-01-01 00:00:00Z";
	long		offset = 0;

	decoder->zone_fixed = pg_get_timezone_offset(session_timezone, &offset);
	decoder->zone_offset = (int32) offset;
	decoder->zulu = text_decode_by_input(decoder, run->arena, probe, sizeof(probe) - 1) == 0;
	text_decode_rows(decoder, run, convert_timestamptz);
}
