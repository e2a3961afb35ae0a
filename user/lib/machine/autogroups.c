// SPDX-License-Identifier: LGPL-2.1-or-later
#include "machine/autogroups.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/first-line.h"
#include "base/pid-namespace.h"
#include "base/proc.h"

#include <schedtape-page.h>

static int compare(const void *left, const void *right)
{
	const struct schedtape_group *a = left, *b = right;

	return a->autogroup < b->autogroup ? -1 : a->autogroup > b->autogroup;
}

/* Returns SCHEDTAPE_NICE_UNKNOWN if the task has ended. */
static int read_nice(uint32_t pid)
{
	char path[64], line[64];
	int nice;

	snprintf(path, sizeof(path), "/proc/%u/autogroup", pid);
	return first_line_read(path, line, sizeof(line)) &&
	       sscanf(line, "/autogroup-%*u nice %d", &nice) == 1 ? nice : SCHEDTAPE_NICE_UNKNOWN;
}

void schedtape_autogroups_read(struct schedtape_group *groups, size_t n)
{
	size_t i;

	/* The PIDs are those of the initial namespace, and /proc may have those of another one. */
	if (!n || !pid_namespace_is_initial() || !proc_is_own())
		return;
	qsort(groups, n, sizeof(*groups), compare);
	/* Once for each autogroup, unless its task has ended. */
	for (i = 0; i < n; i++) {
		if (i && groups[i].autogroup == groups[i - 1].autogroup)
			groups[i].nice = groups[i - 1].nice;
		if (groups[i].autogroup && groups[i].nice == SCHEDTAPE_NICE_UNKNOWN)
			groups[i].nice = read_nice(groups[i].pid);
	}
}
