/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Children that a test controls step by step: they wait at gates.
 */
#ifndef SELFTESTS_CHILD_H
#define SELFTESTS_CHILD_H

#include <stdbool.h>
#include <sys/types.h>

/**
 * @pid: its process, which dies with the test
 * @go: the test writes a byte here to open a gate
 * @gate: the other end; open in the test, too, so that a write never fails if the child is gone
 * @output: read end of its standard output; -1: st_child_wait() has read it
 * @passed: number of gates that the test opened
 * @arrived: shared with the child: number of gates that it has reached
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

/* Maps memory that the test shares with its children.  Exits if that fails. */
void *st_share(size_t bytes);

/* Waits until the test opens the gate.  Called by the child. */
void st_gate(void);

/*
 * Forks a child on @cpu (-1: any). After its first gate the child runs @fn; it waits at another
 * gate and then exits with the value that @fn returned. Its memory is locked, so that it sleeps
 * in no page faults.
 */
int st_child_fork(struct st_child *w, int cpu, int (*fn)(void *arg), void *arg);
/* The same, and opens the first gate. */
int st_child_begin(struct st_child *w, int cpu, int (*fn)(void *arg), void *arg);
/* The same as st_child_fork() for a program of workloads/, with its arguments. */
int st_child_program(struct st_child *w, int cpu, const char *const argv[]);
/* Opens the gate that the child waits at or will reach next. */
void st_child_go(struct st_child *w);
/* Waits until the child sleeps at the next gate.  False: it never reached it. */
bool st_child_settled(struct st_child *w);
/* Opens the child's gate and waits until it sleeps at the next one. */
bool st_child_step(struct st_child *w);
/* Returns the child's exit status, 128 + signal, or -1; its output is in @text then. */
int st_child_wait(struct st_child *w);
/* Returns the number after "key=" in the child's output, or -1 if it has none. */
long long st_child_value(const struct st_child *w, const char *key);
void st_child_kill(struct st_child *w);
/* The same for @n children. */
void st_children_kill(struct st_child *w, size_t n);

#endif /* SELFTESTS_CHILD_H */
