// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sleeps of the machine, to RAM, to disk or to idle: all recordings pause from before tasks are
 * frozen until after they have been thawed.
 */
#include "record/suspend.h"

#include <linux/suspend.h>

#include "record/session_run.h"
#include "record/sessions.h"

/* A session that starts meanwhile sees the flag, or is found: both are under its lock. */
static int stape_suspend_notify(struct notifier_block *block, unsigned long action, void *data)
{
	switch (action) {
	case PM_SUSPEND_PREPARE:
	case PM_HIBERNATION_PREPARE:
	case PM_RESTORE_PREPARE:
		stape_session_set_asleep(true);
		stape_session_each(stape_session_sleep, true);
		break;
	case PM_POST_SUSPEND:
	case PM_POST_HIBERNATION:
	case PM_POST_RESTORE:
		stape_session_set_asleep(false);
		stape_session_each(stape_session_wake_up, true);
		break;
	}
	return NOTIFY_DONE;
}

static struct notifier_block stape_suspend_block = { .notifier_call = stape_suspend_notify };

/**
 * stape_suspend_init() - watch for sleeps of the machine
 *
 * Context: may sleep.
 * Return: 0 or -errno.
 */
int stape_suspend_init(void)
{
	return register_pm_notifier(&stape_suspend_block);
}

/* Undoes stape_suspend_init(). */
void stape_suspend_exit(void)
{
	unregister_pm_notifier(&stape_suspend_block);
}
