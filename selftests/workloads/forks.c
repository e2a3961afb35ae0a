// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: COUNT processes in turn: each is forked, ends, and is reaped before the next.  There
 * is a pause of PAUSE ms after each 2,500.
 */
#include "../qemu/plugin/mark.h"
#include "work.h"

#define BATCH	2500

int main(int argc, char **argv)
{
	static const char usage[] = "COUNT [PAUSE]";
	long count = work_arg(argc, argv, 1, 1, LONG_MAX, usage), i;
	long pause = argc > 2 ? work_arg(argc, argv, 2, 0, 1000000, usage) : 0;

	mark("on forks");
	for (i = 0; i < count; i += BATCH) {
		work_forks(count - i < BATCH ? count - i : BATCH);
		if (pause)
			usleep(1000 * pause);
	}
	mark("off");
	printf("forks=%ld\n", count);
	return 0;
}
