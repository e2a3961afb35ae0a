// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: for LD_PRELOAD: simulates a kernel that is built without SCHED_EXT.
 */
#include <errno.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#define POLICY_EXT	7

int sched_setscheduler(pid_t pid, int policy, const struct sched_param *param)
{
	if (policy != POLICY_EXT)
		return syscall(SYS_sched_setscheduler, pid, policy, param);
	errno = EINVAL;
	return -1;
}
