/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Children whose every step a test decides: they wait at gates.
 */
#ifndef SELFTESTS_CHILD_H
#define SELFTESTS_CHILD_H

#include <stdbool.h>
#include <sys/types.h>

/**
 * struct st_child - a child process
 * @pid: it dies with the test
 * @go: a byte in here opens a gate
 * @gate: the other end; open here, too, so that nobody minds if the child has gone
 * @output: what it prints comes out here; -1: st_child_wait() has read it
 * @passed: gates that were opened
 * @arrived: shared with the child: gates that it has come to
 * @text: what it has printed
 */
struct st_child {
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
int st_child_fork(struct st_child *w, int cpu, int (*fn)(void *arg), void *arg);
/* The same for a program of workloads/, with its arguments. */
int st_child_program(struct st_child *w, int cpu, const char *const argv[]);
/* Opens the gate that the child waits at, or will. */
void st_child_go(struct st_child *w);
/* Waits until the child sleeps at the next gate.  False: it never came there. */
bool st_child_settled(struct st_child *w);
/* To the next gate: opens the one that the child waits at. */
bool st_child_step(struct st_child *w);
/* The child's exit status, 128 + signal, or -1; what it printed is in @text. */
int st_child_wait(struct st_child *w);
/* Number behind "key=" in what it printed; -1: there is none. */
long long st_child_value(const struct st_child *w, const char *key);
void st_child_kill(struct st_child *w);

#endif /* SELFTESTS_CHILD_H */
