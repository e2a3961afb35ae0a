// SPDX-License-Identifier: GPL-2.0-only
/*
 * Bugs with the lifetime of objects: refcounts, lists, timers and works.
 */
#include <linux/bug.h>
#include <linux/jiffies.h>
#include <linux/limits.h>
#include <linux/list.h>
#include <linux/refcount.h>
#include <linux/slab.h>
#include <linux/timer.h>
#include <linux/workqueue.h>

#include "planted.h"

void planted_warn(void)
{
	WARN(1, "planted");
}

void planted_refcount_zero(void)
{
	refcount_t count = REFCOUNT_INIT(0);

	refcount_inc(&count);
}

void planted_refcount_underflow(void)
{
	refcount_t count = REFCOUNT_INIT(0);

	if (refcount_dec_and_test(&count))
		barrier();
}

void planted_refcount_overflow(void)
{
	refcount_t count = REFCOUNT_INIT(INT_MAX);

	refcount_inc(&count);
}

void planted_list_add(void)
{
	struct list_head head, entry;

	INIT_LIST_HEAD(&head);
	list_add(&entry, &head);
	list_add(&entry, &head);
}

void planted_list_del(void)
{
	struct list_head head, entry;

	INIT_LIST_HEAD(&head);
	list_add(&entry, &head);
	list_del(&entry);
	list_del(&entry);
}

static void nothing(struct timer_list *timer)
{
}

/* A running timer is initialised again. */
void planted_timer(void)
{
	static struct timer_list timer;

	timer_setup(&timer, nothing, 0);
	mod_timer(&timer, jiffies + 3600 * HZ);
	timer_setup(&timer, nothing, 0);
	timer_delete_sync(&timer);
}

static void no_work(struct work_struct *work)
{
}

/* A pending work is freed. */
void planted_work_freed(void)
{
	struct delayed_work *work = kmalloc(sizeof(*work), GFP_KERNEL);

	if (!work)
		return;
	INIT_DELAYED_WORK(work, no_work);
	schedule_delayed_work(work, 3600 * HZ);
	kfree(work);
}
