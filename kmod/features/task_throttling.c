// SPDX-License-Identifier: GPL-2.0-only
/*
 * Does the kernel throttle each task for itself, when it returns to user space?
 */
#include <linux/sched.h>

bool use(struct task_struct *task);

bool use(struct task_struct *task)
{
	return task->throttled;
}
