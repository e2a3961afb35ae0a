/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Players' threads, which neither map nor unmap memory.  mmap_lock would put other threads
 * of the process to sleep in page faults, and the replay would have sleeps that the
 * recording has not.
 */
#ifndef SCHEDTAPE_THREAD_H
#define SCHEDTAPE_THREAD_H

#include <stdint.h>

/*
 * Runs @run(@arg, @number) in a new thread of this process.  Its stack is that of an ended
 * thread, or was mapped together with other stacks.  The caller must not join the thread.
 * Any thread of the process may call this.  Returns 0, -ENOMEM or -EAGAIN.
 */
int thread_start(void (*run)(const void *arg, uint32_t number), const void *arg,
		 uint32_t number);

/*
 * Forgets all stacks, because they belong to the parent.  To be called in a forked process
 * before its first thread_start().
 */
void thread_forget(void);

#endif /* SCHEDTAPE_THREAD_H */
