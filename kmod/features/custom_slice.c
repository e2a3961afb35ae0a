// SPDX-License-Identifier: GPL-2.0-only
/*
 * Can a task have a slice of its own?
 */
#include <linux/sched.h>

bool use(struct task_struct *task);

bool use(struct task_struct *task)
{
	return task->se.custom_slice;
}
