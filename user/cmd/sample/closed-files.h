/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The files that a workload has written and closed again, by fanotify(7).
 */
#ifndef SCHEDTAPE_SAMPLE_CLOSED_FILES_H
#define SCHEDTAPE_SAMPLE_CLOSED_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/**
 * struct closed_files - all that were closed so far
 * @cgroup: folder of the workload's cgroup
 * @top: where cgroups are mounted
 * @fd: of fanotify, for poll(); -1: there is none
 * @paths: the @n files
 * @lost: the kernel's queue was full, so files may be missing
 */
struct closed_files {
	const char *cgroup;
	char *top;
	int fd;
	char **paths;
	size_t n;
	size_t room;
	bool lost;
};

#define CLOSED_FILES_NONE	{ .fd = -1 }

/* Begins to watch all file systems with files of users.  Returns 0 or -errno. */
int closed_files_open(struct closed_files *files, const char *cgroup);
/*
 * Adds the files that were closed since the last call.  Call it soon after @fd is readable, because
 * the cgroup of a process that has ended is not known any more.
 */
int closed_files_read(struct closed_files *files);
/* Ignores the files that were closed since the last call: others than the workload did it. */
void closed_files_skip(struct closed_files *files);
void closed_files_free(struct closed_files *files);

#endif /* SCHEDTAPE_SAMPLE_CLOSED_FILES_H */
