// SPDX-License-Identifier: GPL-2.0-only
/*
 * A data race, for KCSAN: two threads increment one number without a lock.
 */
#include <linux/err.h>
#include <linux/jiffies.h>
#include <linux/kthread.h>
#include <linux/sched.h>

#include "planted.h"

/* KCSAN checks a sample of the accesses only. */
#define SECONDS 20

static unsigned long number;

static int count(void *until)
{
	while (time_before(jiffies, (unsigned long)until)) {
		number++;
		cond_resched();
	}
	while (!kthread_should_stop())
		schedule_timeout_interruptible(1);
	return 0;
}

void planted_race(void)
{
	void *until = (void *)(jiffies + SECONDS * HZ);
	struct task_struct *threads[2];
	int i;

	for (i = 0; i < 2; i++) {
		threads[i] = kthread_run(count, until, "planted/%d", i);
		if (IS_ERR(threads[i]))
			break;
	}
	while (time_before(jiffies, (unsigned long)until))
		schedule_timeout_uninterruptible(HZ / 10);
	while (i--)
		kthread_stop(threads[i]);
}
