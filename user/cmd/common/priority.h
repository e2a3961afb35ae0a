/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A recorder that waits behind the load that it records loses events: so its
 * threads come before others, and what they start does not.
 */
#ifndef SCHEDTAPE_PRIORITY_H
#define SCHEDTAPE_PRIORITY_H

#include <stdbool.h>

/*
 * The calling thread, and every later caller of priority_take(): SCHED_FIFO with
 * priority @realtime; 0: as nice as may be, which is not tried where the caller's
 * policy is none of the usual ones.  -errno: @realtime may not be had.
 */
int priority_set(int realtime);
/* The same for another thread of this process. */
int priority_take(void);
/* In a child: what it was before priority_set(). */
void priority_leave(void);

/* Returns false if the kernel has no policy SCHED_EXT. */
bool priority_has_ext(void);

#endif /* SCHEDTAPE_PRIORITY_H */
