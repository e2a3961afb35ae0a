/* SPDX-License-Identifier: GPL-2.0-only */
/* A folder of short files, as in sysfs and debugfs, that a test writes. */
#ifndef SELFTESTS_FAKE_FOLDER_H
#define SELFTESTS_FAKE_FOLDER_H

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[32];

static inline void folder_make(void)
{
	strcpy(folder, "/tmp/schedtape-XXXXXX");
	if (!mkdtemp(folder)) {
		perror("Bail out! mkdtemp");
		exit(1);
	}
}

/* Writes a file below the folder, and makes its parents; a file that exists keeps its inode. */
static inline void folder_write(const char *name, const char *text, size_t bytes)
{
	char path[512], *slash;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	for (slash = path + strlen(folder) + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		mkdir(path, 0700);
		*slash = '/';
	}
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0 || write(fd, text, bytes) != (ssize_t)bytes) {
		perror("Bail out! write");
		exit(1);
	}
	close(fd);
}

static inline void folder_put(const char *name, const char *text)
{
	folder_write(name, text, strlen(text));
}

static inline int folder_remove_one(const char *path, const struct stat *st, int type,
				    struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static inline void folder_remove(void)
{
	nftw(folder, folder_remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

#endif /* SELFTESTS_FAKE_FOLDER_H */
