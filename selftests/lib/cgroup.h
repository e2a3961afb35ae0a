/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Cgroups (version 2) of a test's own, below one that only it uses.
 */
#ifndef SELFTESTS_CGROUP_H
#define SELFTESTS_CGROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Mounts the hierarchy for this process and its children alone.  False: there is none. */
bool st_cgroup_begin(void);
/* Removes what was made and has no task any more. */
void st_cgroup_end(void);
/* A path below the test's own, "a/b", with what is missing above it; its id, 0: not made. */
uint64_t st_cgroup_make(const char *name);
bool st_cgroup_remove(const char *name);
/* An open directory, for CLONE_INTO_CGROUP; or -errno. */
int st_cgroup_fd(const char *name);
/* @text into a file of the cgroup. */
bool st_cgroup_write(const char *name, const char *file, const char *text);
/* What is in a file of the cgroup, as a string. */
bool st_cgroup_read(const char *name, const char *file, char *text, size_t size);
/* A whole process; "" is the test's own cgroup.  @pid 0: the caller. */
bool st_cgroup_move(const char *name, pid_t pid);

#endif /* SELFTESTS_CGROUP_H */
