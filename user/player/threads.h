/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Players' threads, and processes that share their parent's memory.  They neither map nor unmap
 * memory.  mmap_lock would put other threads of the process to sleep in page faults, and the
 * replay would have sleeps that the recording has not.
 */
#ifndef SCHEDTAPE_THREADS_H
#define SCHEDTAPE_THREADS_H

#include <stdint.h>

/* Maps the first stacks.  To be called once in each program.  Returns 0 or -errno. */
int threads_begin(void);

/*
 * Runs @run(@arg, @number) in a new thread of this process, which ends when @run returns.  Its
 * stack is that of an ended thread, or was mapped together with other stacks.  Any thread of the
 * process may call this.  Returns 0 or -errno.
 */
int thread_start(void (*run)(const void *arg, uint32_t number), const void *arg, uint32_t number);

/*
 * The same for a process that shares this one's memory.  It must call none of these functions.
 * Returns its PID or -errno.
 */
long threads_spawn(void (*run)(const void *arg, uint32_t number), const void *arg,
		   uint32_t number);

/*
 * The same for a process with memory of its own.  It begins on an empty stack, not on its
 * parent's: processes that fork each other would fill that.
 */
long threads_fork(void (*run)(const void *arg, uint32_t number), const void *arg, uint32_t number);

/*
 * Takes back the stacks of the parent's threads, but for the one in use.  To be called in a forked
 * process before it starts threads.
 */
void threads_forget(void);

#endif /* SCHEDTAPE_THREADS_H */
