/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The part of the Test Anything Protocol that these tests need, and TEST(name) of
 * kselftest_harness.h: a function that tap_run() calls.
 */
#ifndef SELFTESTS_TAP_H
#define SELFTESTS_TAP_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

/* Sanitizers take time, and memory of their own.  Makefile says that they are on. */
#ifndef SANITIZED
#define SANITIZED	0
#endif

static unsigned int tap_tests, tap_failures;

/* ok(condition, "what is tested", ...) */
#define ok(condition, ...) tap_ok(condition, __FILE__, __LINE__, #condition, __VA_ARGS__)

__attribute__((format(printf, 5, 6)))
static inline bool tap_ok(bool passed, const char *file, int line, const char *condition,
			  const char *format, ...)
{
	va_list args;

	printf("%sok %u - ", passed ? "" : "not ", ++tap_tests);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	printf("\n");
	if (!passed) {
		tap_failures++;
		printf("# %s:%d: %s\n", file, line, condition);
	}
	fflush(stdout);
	return passed;
}

#define TAP_MAX	32

static void (*tap_list[TAP_MAX])(void);
static unsigned int tap_listed;

static inline void tap_add(void (*test)(void))
{
	if (tap_listed == TAP_MAX)
		abort();
	tap_list[tap_listed++] = test;
}

#define TEST(name) \
	static void test_##name(void); \
	__attribute__((constructor)) static void add_test_##name(void) \
	{ \
		tap_add(test_##name); \
	} \
	static void test_##name(void)

/* Runs all tests, in the order of the file. */
static inline void tap_run(void)
{
	unsigned int i;

	for (i = 0; i < tap_listed; i++)
		tap_list[i]();
}

/* Prints the plan at the end; returns main()'s status. */
static inline int tap_done(void)
{
	printf("1..%u\n", tap_tests);
	if (tap_failures)
		printf("# %u of %u failed\n", tap_failures, tap_tests);
	return tap_failures != 0;
}

__attribute__((noreturn))
static inline void tap_main(void)
{
	tap_run();
	exit(tap_done());
}

/* The last line of a program that has nothing to prepare. */
#define TEST_MAIN \
	int main(void) \
	{ \
		tap_main(); \
	}

/* The same for one that does this first. */
#define TEST_MAIN_AFTER(...) \
	int main(void) \
	{ \
		__VA_ARGS__; \
		tap_main(); \
	}

#endif /* SELFTESTS_TAP_H */
