/*-------------------------------------------------------------------------
 *
 * tap.h
 *	  Test Anything Protocol for the unit tests: "ok 1 - name" ... "1..N".
 *
 * Include it in exactly one file of a test program; end main() with
 * "return tap_done();".
 *
 *-------------------------------------------------------------------------
 */
#ifndef OUTERJOIN_TAP_H
#define OUTERJOIN_TAP_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int	tap_tests = 0;
static int	tap_failures = 0;

/* printf-style comment line */
static inline void __attribute__((format(printf, 1, 2)))
tap_note(const char *format,...)
{
	va_list		args;

	va_start(args, format);
	fputs("# ", stdout);
	vfprintf(stdout, format, args);
	fputc('\n', stdout);
	va_end(args);
}

static inline bool __attribute__((format(printf, 2, 3)))
tap_ok(bool passed, const char *format,...)
{
	va_list		args;

	tap_tests++;
	if (!passed)
		tap_failures++;
	va_start(args, format);
	fprintf(stdout, "%s %d - ", passed ? "ok" : "not ok", tap_tests);
	vfprintf(stdout, format, args);
	fputc('\n', stdout);
	fflush(stdout);
	va_end(args);
	return passed;
}

static inline bool
tap_is_int(long long got, long long expected, const char *name)
{
	bool		passed = tap_ok(got == expected, "%s", name);

	if (!passed)
		tap_note("expected %lld, got %lld", expected, got);
	return passed;
}

static inline bool
tap_is_string(const char *got, const char *expected, const char *name)
{
	bool		passed = got != NULL && expected != NULL ? strcmp(got, expected) == 0 : got == expected;

	tap_ok(passed, "%s", name);
	if (!passed)
	{
		tap_note("expected: %s", expected ? expected : "(null)");
		tap_note("     got: %s", got ? got : "(null)");
	}
	return passed;
}

static inline int
tap_done(void)
{
	printf("1..%d\n", tap_tests);
	if (tap_failures > 0)
		tap_note("%d of %d failed", tap_failures, tap_tests);
	return tap_failures > 0;
}

#endif							/* OUTERJOIN_TAP_H */
