// SPDX-License-Identifier: GPL-2.0-only
/*
 * Is there one function that sets up a timer and its callback?
 */
#include <linux/hrtimer.h>

void feature(struct hrtimer *timer, enum hrtimer_restart (*function)(struct hrtimer *));

void feature(struct hrtimer *timer, enum hrtimer_restart (*function)(struct hrtimer *))
{
	hrtimer_setup(timer, function, CLOCK_MONOTONIC, HRTIMER_MODE_ABS);
}
