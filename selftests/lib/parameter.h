/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Parameters of the module.
 */
#ifndef SELFTESTS_PARAMETER_H
#define SELFTESTS_PARAMETER_H

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static inline bool st_parameter_set(const char *name, const char *value)
{
	char path[128];
	bool done;
	int fd;

	snprintf(path, sizeof(path), "/sys/module/schedtape/parameters/%s", name);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	done = write(fd, value, strlen(value)) == (ssize_t)strlen(value);
	close(fd);
	return done;
}

#endif /* SELFTESTS_PARAMETER_H */
