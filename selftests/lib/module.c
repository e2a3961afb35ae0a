// SPDX-License-Identifier: GPL-2.0-only
#include "module.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

int st_module_load(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), ret;

	if (fd < 0)
		return -errno;
	ret = syscall(SYS_finit_module, fd, "", 0) ? -errno : 0;
	close(fd);
	return ret;
}

int st_module_unload(void)
{
	return syscall(SYS_delete_module, "schedtape", O_NONBLOCK) ? -errno : 0;
}

int st_count_lines(const char *path, const char *text)
{
	FILE *file = fopen(path, "re");
	char line[512];
	int n = 0;

	if (!file)
		return -1;
	while (fgets(line, sizeof(line), file))
		n += !!strstr(line, text);
	fclose(file);
	return n;
}

int st_module_info(struct schedtape_module_info *info)
{
	struct schedtape_client *client;
	struct schedtape_error err;
	int ret;

	*info = (struct schedtape_module_info){ .size = sizeof(*info) };
	ret = schedtape_client_open(&client, &err);
	if (ret)
		return ret;
	ret = schedtape_client_info(client, info, &err);
	schedtape_client_close(client);
	return ret;
}
