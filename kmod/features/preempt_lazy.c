// SPDX-License-Identifier: GPL-2.0-only
/*
 * Does the kernel have lazy preemption?
 */
#include <linux/preempt.h>
#include <linux/sched.h>

bool feature(void);

bool feature(void)
{
	return preempt_model_lazy();
}
