/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Children whose every step a test decides: they wait at gates.
 */
#ifndef SELFTESTS_WORK_H
#define SELFTESTS_WORK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/**
 * struct st_work - a child process
 * @pid: it dies with the test
 * @go: a byte in here opens a gate
 * @gate: the other end; open here, too, so that nobody minds if the child has gone
 * @output: what it prints comes out here; -1: st_work_wait() has read it
 * @passed: gates that were opened
 * @arrived: shared with the child: gates that it has come to
 * @text: what it has printed
 */
struct st_work {
	pid_t pid;
	int go;
	int gate;
	int output;
	unsigned int passed;
	volatile unsigned int *arrived;
	char text[16384];
};

/* Waits until the test opens the gate.  In the child. */
void st_gate(void);

/*
 * Forks a child on @cpu (-1: any), which runs @fn from behind its first gate
 * and waits at another one before it exits with what @fn returned.  Its memory
 * is locked, so that it sleeps when it says so and not elsewhere.
 */
int st_work_fork(struct st_work *w, int cpu, int (*fn)(void *arg), void *arg);
/* The same for a program of workloads/, with its arguments. */
int st_work_program(struct st_work *w, int cpu, const char *const argv[]);
/* Opens the gate that the child waits at, or will. */
void st_work_go(struct st_work *w);
/* Waits until the child sleeps at the next gate.  False: it never came there. */
bool st_work_settled(struct st_work *w);
/* To the next gate: opens the one that the child waits at. */
bool st_work_step(struct st_work *w);
/* The child's exit status, 128 + signal, or -1; what it printed is in @text. */
int st_work_wait(struct st_work *w);
/* Number behind "key=" in what it printed; -1: there is none. */
long long st_work_value(const struct st_work *w, const char *key);
void st_work_kill(struct st_work *w);

/* Of a task by its TID. */
struct st_usage {
	unsigned long voluntary;
	unsigned long involuntary;
	uint64_t runtime;	/* ns */
};

int st_usage(pid_t pid, struct st_usage *usage);
char st_task_state(pid_t pid);
/* True as soon as @pid's state is @state; false after 20 s. */
bool st_wait_state(pid_t pid, char state);

int st_pin(pid_t pid, int cpu);
/* SCHED_BATCH for the caller: whom it wakes does not preempt it. */
void st_batch(void);
int st_cpus(void);
uint64_t st_now(void);
void st_burn(uint64_t ns);
bool st_rt_kernel(void);
/* Sleeps and wake-ups that the kernel's own locks may add: on PREEMPT_RT only. */
unsigned int st_lock_sleeps(void);
/* How many times longer than usual things may take here. */
unsigned int st_slow(void);
/* Under an emulator that counts instructions, times are exact. */
bool st_exact(void);

#endif /* SELFTESTS_WORK_H */
