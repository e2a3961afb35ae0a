/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Priority of the recorder's threads: above the load that it records, because it
 * loses events if it has to wait for a CPU.  Its children do not inherit it.
 */
#ifndef SCHEDTAPE_PRIORITY_H
#define SCHEDTAPE_PRIORITY_H

#include <stdbool.h>

/*
 * Sets the priority of the calling thread, and of later callers of priority_take(): SCHED_FIFO
 * with priority @realtime; 0: the lowest permitted nice value, only if the caller's policy is
 * SCHED_OTHER.  Returns 0, or -errno if @realtime is not permitted.
 */
int priority_set(int realtime);
/* Sets the priority of priority_set() for another thread of this process. */
int priority_take(void);
/* In a child: restores the priority from before priority_set(). */
void priority_leave(void);

/* Returns false if the kernel has no policy SCHED_EXT. */
bool priority_has_ext(void);
/* Returns false if the kernel has no slices of tasks: it has them from 6.12 on. */
bool priority_has_slices(void);
/* Returns false if the kernel is built without utilization clamps. */
bool priority_has_clamps(void);

#endif /* SCHEDTAPE_PRIORITY_H */
