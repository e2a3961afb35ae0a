// SPDX-License-Identifier: GPL-2.0-only
/*
 * wish POLICY SLICE MIN MAX COMMAND...: runs COMMAND with a slice of SLICE ns and utilization
 * clamps; 0 and -1: without.  Exits with 4 if this kernel cannot set them.  Without arguments it
 * prints its own attributes.
 */
#include <stdio.h>
#include <stdlib.h>

#include "attributes.h"

int main(int argc, char **argv)
{
	struct st_attributes attr = { 0 };

	if (argc == 1)
		return st_attributes_get(&attr) || printf("%u %llx %d %u %llu %d %d\n", attr.policy,
			(unsigned long long)attr.flags, attr.nice, attr.priority,
			(unsigned long long)attr.runtime, attr.clamp_min, attr.clamp_max) < 0;
	if (argc < 6)
		return 2;
	attr.policy = atoi(argv[1]);
	attr.runtime = strtoull(argv[2], NULL, 10);
	attr.clamp_min = atoi(argv[3]);
	attr.clamp_max = atoi(argv[4]);
	if (attr.clamp_min >= 0 || attr.clamp_max >= 0)
		attr.flags = ST_CLAMPS;
	if (st_attributes_set(attr) || (attr.runtime && !st_has_slice(attr.runtime)))
		return 4;
	execvp(argv[5], argv + 5);
	return 127;
}
