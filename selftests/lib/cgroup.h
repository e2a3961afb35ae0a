/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Cgroups (version 2) for a test, below one that only this test uses.
 */
#ifndef SELFTESTS_CGROUP_H
#define SELFTESTS_CGROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Mounts the hierarchy for this process and its children only.  False: no cgroup v2. */
bool st_cgroup_begin(void);
/* Removes the cgroups that this file made and that have no tasks left. */
void st_cgroup_end(void);
/* Makes a path below the test's own cgroup, "a/b", with its parents.  Returns its id, 0: failed. */
uint64_t st_cgroup_make(const char *name);
bool st_cgroup_remove(const char *name);
/* Returns an open directory, for CLONE_INTO_CGROUP, or -errno. */
int st_cgroup_fd(const char *name);
/* Writes @text into a file of the cgroup. */
bool st_cgroup_write(const char *name, const char *file, const char *text);
/* Reads a file of the cgroup as a string. */
bool st_cgroup_read(const char *name, const char *file, char *text, size_t size);
/* Moves a whole process; "" is the test's own cgroup.  @pid 0: the caller. */
bool st_cgroup_move(const char *name, pid_t pid);

#endif /* SELFTESTS_CGROUP_H */
