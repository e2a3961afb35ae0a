// SPDX-License-Identifier: GPL-2.0-only
#include "module.h"

#include <errno.h>
#include <fcntl.h>
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
