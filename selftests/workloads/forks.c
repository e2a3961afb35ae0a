// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: COUNT processes in turn: each is forked, ends, and is reaped before the next.
 */
#include "../qemu/plugin/mark.h"
#include "work.h"

int main(int argc, char **argv)
{
	long count = work_arg(argc, argv, 1, 1, LONG_MAX, "COUNT");

	mark("on forks");
	work_forks(count);
	mark("off");
	printf("forks=%ld\n", count);
	return 0;
}
