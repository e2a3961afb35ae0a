// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: every PERIOD ms, WORK ms of CPU time, COUNT times; each period
 * begins with a timer's wake-up, on a grid from the first one on.
 */
#include "work.h"

int main(int argc, char **argv)
{
	static const char usage[] = "PERIOD_MS WORK_MS COUNT";
	uint64_t period = work_arg(argc, argv, 1, 1, 1000000, usage) * 1000000ull;
	uint64_t work = work_arg(argc, argv, 2, 0, 1000000, usage) * 1000000ull;
	long count = work_arg(argc, argv, 3, 1, LONG_MAX, usage), i, late = 0;
	uint64_t next = work_clock(CLOCK_MONOTONIC);

	for (i = 0; i < count; i++) {
		struct timespec t;

		next += period;
		/* Who is late does not sleep. */
		late += work_clock(CLOCK_MONOTONIC) >= next;
		t.tv_sec = next / 1000000000;
		t.tv_nsec = next % 1000000000;
		while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR)
			;
		work_burn(work);
	}
	printf("periods=%ld\nlate=%ld\ncpu_ns=%llu\n", count, late,
	       (unsigned long long)work_clock(CLOCK_PROCESS_CPUTIME_ID));
	return 0;
}
