// SPDX-License-Identifier: GPL-2.0-only
/* Description: lines made without printf() are the same as those that printf() makes. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/lines.h"
#include "tap.h"

#define LINES	40000

static struct lines lines;

/* Compares what was put with what printf() prints. */
static void expect(const char *expected, const char *what)
{
	*lines.at = '\0';
	if (!ok(!strcmp(lines.buffer, expected), "%s: '%s'", what, expected))
		printf("# put '%s'\n", lines.buffer);
	lines_begin(&lines);
}

static void test_number(uint64_t number)
{
	char text[64];

	snprintf(text, sizeof(text), "%" PRIu64, number);
	lines_number(&lines, number);
	expect(text, "a number");
	snprintf(text, sizeof(text), "%03" PRIu64, number);
	lines_number_slow(&lines, number, 3);
	expect(text, "at least three digits");
	snprintf(text, sizeof(text), "%7" PRIu64 "|", number);
	lines_right(&lines, 7, number);
	lines_char(&lines, '|');
	expect(text, "aligned right");
	snprintf(text, sizeof(text), "%" PRId64, (int64_t)number);
	lines_signed(&lines, number);
	expect(text, "with a sign");
}

TEST(numbers)
{
	uint64_t number;

	for (number = 1; number < UINT64_MAX / 10; number *= 10) {
		test_number(number - 1);
		test_number(number);
		test_number(2 * number + 7);
	}
	test_number(UINT64_MAX);
	test_number(INT64_MAX);
	test_number((uint64_t)INT64_MAX + 1);
	test_number(-20);
}

TEST(texts)
{
	char *from;

	lines_put(&lines, "a");
	from = lines.at;
	lines_put(&lines, "bc");
	lines_fill(&lines, from, 4);
	lines_char(&lines, '|');
	lines_fill(&lines, from, 2);
	expect("abc  |", "filled up");
	lines_put(&lines, "a");
	from = lines.at;
	lines_put(&lines, "bc");
	lines_align(&lines, from, 4);
	lines_align(&lines, from, 3);
	expect("a  bc", "moved to the right");
	lines_blanks(&lines, 3);
	expect("   ", "blanks");
}

/* More than the buffer has room for, with lines up to the longest that there may be. */
TEST(flush)
{
	static char line[LINES_MOST];
	int file = memfd_create("lines", MFD_CLOEXEC), before = dup(STDOUT_FILENO), i;
	uint64_t bytes = 0, wrong = 0;
	size_t len;
	FILE *read;

	fflush(stdout);
	dup2(file, STDOUT_FILENO);
	for (i = 0; i < LINES; i++) {
		len = i % 1000 ? i % 50 : LINES_MOST - 1;
		memset(line, 'a' + i % 26, len);
		lines_text(&lines, line, len);
		lines_end(&lines);
		bytes += len + 1;
	}
	lines_flush(&lines);
	fflush(stdout);
	dup2(before, STDOUT_FILENO);
	close(before);
	ok((uint64_t)lseek(file, 0, SEEK_END) == bytes, "%" PRIu64 " bytes", bytes);

	lseek(file, 0, SEEK_SET);
	read = fdopen(file, "r");
	for (i = 0; i < LINES && fgets(line, sizeof(line), read); i++) {
		len = i % 1000 ? i % 50 : LINES_MOST - 1;
		wrong += len && *line != 'a' + i % 26;
		wrong += len < LINES_MOST - 1 && line[len] != '\n';
		if (len == LINES_MOST - 1)
			wrong += fgetc(read) != '\n';
	}
	ok(i == LINES && !wrong, "%d lines, each as it was put", i);
	fclose(read);
}

TEST_MAIN_AFTER(lines_begin(&lines))
