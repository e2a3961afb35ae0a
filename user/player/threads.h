/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Players' threads, which map no memory and unmap none: who does that makes others of
 * its process, who fault or map meanwhile, sleep and wakes them, and no tape has that.
 */
#ifndef SCHEDTAPE_THREAD_H
#define SCHEDTAPE_THREAD_H

#include <stdint.h>

/*
 * Runs @run(@arg, @number) in a thread of this process, on a stack that an earlier one
 * has left or that was mapped together with those of others.  Nobody is to join it.
 * Any thread of the process may call this.  Returns 0, -ENOMEM or -EAGAIN.
 */
int thread_start(void (*run)(const void *arg, uint32_t number), const void *arg,
		 uint32_t number);

/* In a process that was forked, before its first thread: the stacks are its parent's. */
void thread_forget(void);

#endif /* SCHEDTAPE_THREAD_H */
