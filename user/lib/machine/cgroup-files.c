// SPDX-License-Identifier: LGPL-2.1-or-later
#include "machine/cgroup-files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int schedtape_cgroup_of(pid_t pid, char path[PATH_MAX])
{
	char name[32] = "/proc/self/cgroup", line[PATH_MAX + 8];
	int ret = -ENODEV;
	FILE *file;

	if (pid)
		snprintf(name, sizeof(name), "/proc/%d/cgroup", pid);
	file = fopen(name, "re");
	if (!file)
		return -errno;
	while (ret && fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\n")] = '\0';
		/* Number 0 is the hierarchy of version 2. */
		if (!strncmp(line, "0::/", 4) &&
		    snprintf(path, PATH_MAX, "%s", line + 3) < PATH_MAX)
			ret = 0;
	}
	fclose(file);
	return ret;
}

int schedtape_cgroup_write(const char *folder, const char *file, const char *text)
{
	char path[PATH_MAX + 32];
	int fd, ret = 0;

	snprintf(path, sizeof(path), "%s/%s", folder, file);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (write(fd, text, strlen(text)) < 0)
		ret = -errno;
	close(fd);
	return ret;
}
