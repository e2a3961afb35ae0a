/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A tape with four delays, and lines of tables of it.
 */
#ifndef SELFTESTS_DELAYS_TAPE_H
#define SELFTESTS_DELAYS_TAPE_H

#include "printed.h"

#define MS	1000000ULL

/*
 * 10 waits for 1 ms, is preempted for 50 ms by its thread 20, which has waited for 90 ms since its
 * fork, and then waits for 2 ms on CPU 3.
 */
static inline void make_delays(void)
{
	static const char clock[] =
		"{\"clock\": {\"monotonic\": 1000000000, \"realtime\": 1795608000000000000}}";
	static unsigned char pages[2][STAPE_PAGE_SIZE];
	struct maker m;

	maker_begin(&m, pages[0], 0, 0, 1000 * MS);
	maker_story(&m, "1000ms irq wakes 10; 1001ms R -> 10; 1010ms forks thread 20; "
			"1100ms R -> 20; 1150ms S -> 10; 1200ms S -> other");

	maker_begin(&m, pages[1], 3, 0, 1000 * MS);
	maker_story(&m, "1300ms irq wakes 10; 1302ms R -> 10; 1400ms S -> other");
	/* The recording begins at 12:00 UTC on 2026-11-25. */
	write_second_of(pages, 2, "riscv64", json_tokener_parse(clock));
}

/* Checks a line of the table: fields with one blank in between. */
static inline void has_line(int (*command)(int argc, char **argv), const char *option,
			    const char *line)
{
	if (run(command, option))
		printf("# it fails: %s\n", said);
	squeeze_blanks();
	has(line, option ? option : "no option");
}

#endif /* SELFTESTS_DELAYS_TAPE_H */
