/* SPDX-License-Identifier: GPL-2.0-only */
/* Rights of the calling process, without libcap. */
#ifndef SELFTESTS_CAPS_H
#define SELFTESTS_CAPS_H

#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef CAP_PERFMON
#define CAP_PERFMON 38
#endif

#define ST_CAP(cap) (1ull << (cap))

/* Sets the effective capabilities; the permitted ones stay. */
static inline int st_caps_effective(uint64_t caps)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2];

	if (syscall(SYS_capget, &header, data))
		return -1;
	data[0].effective = caps;
	data[1].effective = caps >> 32;
	return syscall(SYS_capset, &header, data);
}

/* Becomes a user with these capabilities and no others. */
static inline int st_become_user(unsigned int uid, uint64_t caps)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = {
		{ .effective = caps, .permitted = caps },
		{ .effective = caps >> 32, .permitted = caps >> 32 },
	};

	if (prctl(PR_SET_KEEPCAPS, 1) || syscall(SYS_setresgid, uid, uid, uid) ||
	    syscall(SYS_setresuid, uid, uid, uid))
		return -1;
	return syscall(SYS_capset, &header, data);
}

static inline int st_become_nobody(uint64_t caps)
{
	return st_become_user(65534, caps);
}

static inline bool st_write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool done = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

	if (fd >= 0)
		close(fd);
	return done;
}

/*
 * Becomes root, with all capabilities, of a new user namespace and of other new namespaces
 * (@others: CLONE_NEW...) that belong to it.
 */
static inline int st_become_root_of_namespaces(int others)
{
	char map[32];

	snprintf(map, sizeof(map), "0 %d 1\n", (int)geteuid());
	if (unshare(CLONE_NEWUSER | others))
		return -1;
	return st_write_file("/proc/self/setgroups", "deny") &&
	       st_write_file("/proc/self/uid_map", map) ? 0 : -1;
}

#endif /* SELFTESTS_CAPS_H */
