/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Files that the kernel has for cgroups (version 2).
 */
#ifndef SCHEDTAPE_CGROUP_FILES_H
#define SCHEDTAPE_CGROUP_FILES_H

#include <limits.h>
#include <sys/types.h>

/*
 * Reads the path of a process's or thread's cgroup below the root of the hierarchy, "/" for the
 * root itself.  @pid: 0: this process.  Returns 0; -ENODEV: it is in none of version 2; -ENOENT:
 * there is no such process.
 */
int schedtape_cgroup_of(pid_t pid, char path[PATH_MAX]);
/* Writes a text into a file of a cgroup's folder.  Returns 0 or -errno. */
int schedtape_cgroup_write(const char *folder, const char *file, const char *text);

#endif /* SCHEDTAPE_CGROUP_FILES_H */
