// SPDX-License-Identifier: GPL-2.0-only
/*
 * Does one function set a timer up, with what it calls?
 */
#include <linux/hrtimer.h>

void feature(struct hrtimer *timer, enum hrtimer_restart (*function)(struct hrtimer *));

void feature(struct hrtimer *timer, enum hrtimer_restart (*function)(struct hrtimer *))
{
	hrtimer_setup(timer, function, CLOCK_MONOTONIC, HRTIMER_MODE_ABS);
}
