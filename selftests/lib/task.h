/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A task's state and counters, its CPU and policy; clocks; the kind of kernel.
 */
#ifndef SELFTESTS_TASK_H
#define SELFTESTS_TASK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Reads the file @name of /proc/@pid in one read, so that its values are of one moment. Returns
 * 0 or -errno.
 */
int st_read_proc(pid_t pid, const char *name, char *text, size_t size);

/* Returns the PID of a process or kernel thread that has this name, or 0. */
pid_t st_find_task(const char *name);

/* Counters of a task (TID). */
struct st_usage {
	unsigned long voluntary;
	unsigned long involuntary;
	uint64_t runtime;	/* ns */
};

int st_usage(pid_t pid, struct st_usage *usage);
char st_task_state(pid_t pid);
/* Returns true if @pid sleeps in state S, and has left its CPU. */
bool st_asleep(pid_t pid);
/* Returns true as soon as @pid's state is @state; false after 20 s, times st_patience(). */
bool st_wait_state(pid_t pid, char state);

int st_pin(pid_t pid, int cpu);
/* Sets SCHED_BATCH for the caller, so that tasks that it wakes do not preempt it. */
void st_batch(void);
int st_cpus(void);
uint64_t st_now(void);
void st_burn(uint64_t ns);
/* Sleeps so often for 0.1 ms: each time the caller leaves its CPU and comes back. */
void st_sleep_often(unsigned int times);
bool st_rt_kernel(void);
/* Upper bound of the sleeps and wake-ups that the kernel's own locks add: on PREEMPT_RT only. */
unsigned int st_lock_sleeps(void);

#endif /* SELFTESTS_TASK_H */
