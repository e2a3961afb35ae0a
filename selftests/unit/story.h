/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Events as a text. Each has a time and a CPU, and is followed by "; ":
 *
 *	10 [0] S -> 20		a switch: the state of the task before, a PID, "idle" or "other"
 *	10 [0] wakes 20		by the running task; also "irq", "softirq", "own softirq wakes 20"
 *	10 [0] waking 20	its first half, by the same; the other one: "woken 20"
 *	10 [0] forks 20		a process; also "forks thread 20"
 *	10 [0] wakes 20 on 1	to another CPU; also "woken" and "forks"
 *	10 [0] exit 20, moves 20 to 1, names 20 app
 *
 * A time is in ns, or in ms: "10ms", "10.5ms". The CPU is left out if all events are on one CPU.
 */
#ifndef SELFTESTS_STORY_H
#define SELFTESTS_STORY_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <schedtape/event.h>

/**
 * struct story_event - an event
 * @type: STAPE_EV_*; STAPE_EV_WAKE: a waking and its wakeup; STAPE_EV_FORK: also the new task's
 *	wakeup
 * @arg: state of the task before a switch, context of a waking, CPU of a migration, STAPE_FORK_*
 * @next: of a switch: enum stape_next
 * @on: CPU of a wakeup
 */
struct story_event {
	uint64_t time;
	unsigned int cpu;
	unsigned int type;
	unsigned int pid;
	unsigned int arg;
	unsigned int next;
	unsigned int on;
	char name[STAPE_COMM_LEN];
};

static inline bool story_says(const char *words, const char *form, unsigned int *pid)
{
	int n = 0;

	return sscanf(words, form, pid, &n) == 1 && !words[n];
}

static inline bool story_is_switch(const char *words, struct story_event *ev)
{
	static const char states[] = "RSDTtXPI";
	const char *state = strchr(states, words[0]);

	if (!state)
		return false;
	ev->type = STAPE_EV_SWITCH;
	ev->arg = state - states;
	ev->next = !strcmp(words + 1, " -> idle") ? STAPE_NEXT_IDLE :
		   !strcmp(words + 1, " -> other") ? STAPE_NEXT_OTHER : STAPE_NEXT_TASK;
	return ev->next != STAPE_NEXT_TASK || story_says(words + 1, " -> %u%n", &ev->pid);
}

static inline bool story_is_waking(const char *words, struct story_event *ev)
{
	static const char * const contexts[] = { "", "softirq ", "irq ", "own softirq " };
	const char *rest;

	for (ev->arg = 0; ev->arg < 4; ev->arg++) {
		rest = words + strlen(contexts[ev->arg]);
		if (strncmp(words, contexts[ev->arg], rest - words))
			continue;
		ev->type = STAPE_EV_WAKE;
		if (story_says(rest, "wakes %u%n", &ev->pid))
			return true;
		ev->type = STAPE_EV_WAKING;
		if (story_says(rest, "waking %u%n", &ev->pid))
			return true;
	}
	ev->arg = 0;
	return false;
}

static inline void story_read(char *words, struct story_event *ev)
{
	char *on = strstr(words, " on ");

	if (on && story_says(on, " on %u%n", &ev->on))
		*on = '\0';
	if (story_is_switch(words, ev) || story_is_waking(words, ev))
		return;
	if (story_says(words, "woken %u%n", &ev->pid)) {
		ev->type = STAPE_EV_WAKEUP;
	} else if (story_says(words, "forks %u%n", &ev->pid)) {
		ev->type = STAPE_EV_FORK;
	} else if (story_says(words, "forks thread %u%n", &ev->pid)) {
		ev->type = STAPE_EV_FORK;
		ev->arg = STAPE_FORK_THREAD;
	} else if (story_says(words, "exit %u%n", &ev->pid)) {
		ev->type = STAPE_EV_EXIT;
	} else if (sscanf(words, "moves %u to %u", &ev->pid, &ev->arg) == 2) {
		ev->type = STAPE_EV_MIGRATE;
	} else if (sscanf(words, "names %u %15s", &ev->pid, ev->name) == 2) {
		ev->type = STAPE_EV_RENAME;
	} else {
		printf("Bail out! no such event: \"%s\"\n", words);
		abort();
	}
}

/* Takes the next event of a story, on @cpu if it has none.  Returns false at its end. */
static inline bool story_next(const char **story, struct story_event *ev, uint32_t cpu)
{
	char words[64], *at;
	double time;
	int n;

	if (!**story)
		return false;
	*ev = (struct story_event){ .cpu = cpu };
	time = strtod(*story, &at);
	if (!strncmp(at, "ms", 2)) {
		time *= 1e6;
		at += 2;
	}
	ev->time = time + 0.5;
	n = 0;
	if (sscanf(at, " [%u]%n", &ev->cpu, &n) == 1)
		at += n;
	if (sscanf(at, " %63[^;]%n", words, &n) != 1)
		abort();
	*story = at + n + strspn(at + n, "; ");
	ev->on = ev->cpu;
	story_read(words, ev);
	return true;
}

#endif /* SELFTESTS_STORY_H */
