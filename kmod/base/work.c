// SPDX-License-Identifier: GPL-2.0-only
/*
 * The module's own workqueue.  Its work takes the locks of sessions and may wait for them for
 * long, which on one of the kernel's queues would delay other work.
 */
#include "base/work.h"

#include <linux/rcupdate.h>
#include <linux/workqueue.h>

struct workqueue_struct *stape_work;

/**
 * stape_work_init() - make the workqueue
 *
 * It is unbound, because its work needs no particular CPU and must not disturb isolated CPUs.
 * Reclaim of memory does not wait for it, so it needs no rescuer (WQ_MEM_RECLAIM).
 *
 * Context: may sleep.
 * Return: 0 or -ENOMEM.
 */
int stape_work_init(void)
{
	stape_work = alloc_workqueue("schedtape", WQ_UNBOUND, 0);
	return stape_work ? 0 : -ENOMEM;
}

/**
 * stape_work_exit() - free the workqueue
 *
 * Context: may sleep; nothing queues work any more.
 */
void stape_work_exit(void)
{
	/* Work that waits for a grace period is not in the queue yet. */
	rcu_barrier();
	destroy_workqueue(stape_work);
}
