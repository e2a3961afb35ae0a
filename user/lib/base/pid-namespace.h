/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef SCHEDTAPE_PID_NAMESPACE_H
#define SCHEDTAPE_PID_NAMESPACE_H

#include <stdbool.h>
#include <sys/stat.h>

#define INITIAL_PID_NS	0xeffffffcU	/* the kernel's PROC_PID_INIT_INO */

/*
 * Returns true if PIDs of this process are those of the kernel, or if /proc does not say.  With a
 * /proc of another namespace it may not: see proc_is_own().
 */
static inline bool pid_namespace_is_initial(void)
{
	struct stat ns;

	return stat("/proc/self/ns/pid", &ns) || ns.st_ino == INITIAL_PID_NS;
}

#endif /* SCHEDTAPE_PID_NAMESPACE_H */
