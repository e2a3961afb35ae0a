// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: MS ms of CPU time without a break.
 */
#include "work.h"

int main(int argc, char **argv)
{
	long ms = work_arg(argc, argv, 1, 0, LONG_MAX / 1000000, "MS");

	work_burn(ms * 1000000ull);
	printf("cpu_ns=%llu\n", (unsigned long long)work_clock(CLOCK_PROCESS_CPUTIME_ID));
	return 0;
}
