// SPDX-License-Identifier: GPL-2.0-only
/*
 * The key of what the switch probe does besides writing the switch.
 */
#include "record/extras.h"

#include <linux/jiffies.h>

/* It remains on for 10 s after the last user, because each change patches the kernel's code. */
DEFINE_STATIC_KEY_DEFERRED_FALSE(stape_extras_key, 10 * HZ);

/**
 * stape_extras_get() - let the switch probe look for more to do
 *
 * Context: may sleep.
 */
void stape_extras_get(void)
{
	static_branch_deferred_inc(&stape_extras_key);
}

/**
 * stape_extras_put() - undo stape_extras_get()
 *
 * Context: may sleep.
 */
void stape_extras_put(void)
{
	static_branch_slow_dec_deferred(&stape_extras_key);
}

/**
 * stape_extras_exit() - wait until the last stape_extras_put() has taken effect
 *
 * Context: module exit; may sleep.
 */
void stape_extras_exit(void)
{
	static_key_deferred_flush(&stape_extras_key);
}
