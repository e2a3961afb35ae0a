// SPDX-License-Identifier: GPL-2.0-only
#include "common/standard.h"

#include <fcntl.h>
#include <unistd.h>

static bool missing[STDERR_FILENO + 1];

void standard_open_missing(void)
{
	int fd;

	while ((fd = open("/dev/null", O_RDWR)) >= 0 && fd <= STDERR_FILENO)
		missing[fd] = true;
	if (fd >= 0)
		close(fd);
}

bool standard_was_missing(int fd)
{
	return fd >= 0 && fd <= STDERR_FILENO && missing[fd];
}
