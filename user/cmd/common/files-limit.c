// SPDX-License-Identifier: GPL-2.0-only
#include "common/files-limit.h"

#include <sys/resource.h>

/* The first limit; 0: it has not been raised. */
static struct rlimit before;

void files_limit_raise(size_t files)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur >= files)
		return;
	if (!before.rlim_cur)
		before = limit;
	limit.rlim_cur = files < limit.rlim_max ? files : limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

void files_limit_restore(void)
{
	if (before.rlim_cur)
		setrlimit(RLIMIT_NOFILE, &before);
}
