/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Goes back in time from the end of a wait, and finds what each part of its time was spent on.
 *
 * This is the critical path of Yang and Miller (ICDCS 1988), followed back through the wake-ups of
 * a tape: what a task did before it ran; if it slept, what the task did that woke it; and so on.
 * Each moment of the wait belongs to one link, so the links add up to the whole.
 */
#ifndef SCHEDTAPE_WHY_CHAIN_H
#define SCHEDTAPE_WHY_CHAIN_H

#include <stddef.h>
#include <stdint.h>

#include "why/throttle.h"

/**
 * enum link_kind - what a part of a wait was spent on; @task and @other: of struct link
 * @LINK_RAN: @task ran, before it woke the next one in the chain
 * @LINK_QUEUED: @task was ready, but its CPU ran @other
 * @LINK_OTHER: @task was ready, but its CPU ran a task that is not recorded
 * @LINK_IDLE: @task was ready, and its CPU was idle, or was just waking up
 * @LINK_READY: @task was ready, and the tape does not show what its CPU did
 * @LINK_SUSPECTED: as LINK_IDLE, but @task was perhaps throttled, see throttle_suspect()
 * @LINK_RUNTIME: the same, but with SCHED_DEADLINE it had perhaps used up its runtime
 * @LINK_THROTTLED: @task was ready, but its cgroup was throttled on its CPU
 * @LINK_INTERRUPT: @task slept until an interrupt woke it
 * @LINK_BLOCKED: the same, and the sleep was not interruptible: for a disk, say
 * @LINK_OUTSIDE: @task slept until a task that is not recorded woke it
 * @LINK_STILL_ASLEEP: @task slept when the tape ended
 * @LINK_STILL_BLOCKED: the same, and the sleep was not interruptible
 * @LINK_UNKNOWN: the tape does not show it
 */
enum link_kind {
	LINK_RAN,
	LINK_QUEUED,
	LINK_OTHER,
	LINK_IDLE,
	LINK_READY,
	LINK_SUSPECTED,
	LINK_RUNTIME,
	LINK_THROTTLED,
	LINK_INTERRUPT,
	LINK_BLOCKED,
	LINK_OUTSIDE,
	LINK_STILL_ASLEEP,
	LINK_STILL_BLOCKED,
	LINK_UNKNOWN,
	LINK_NR_KINDS,
};

/**
 * struct link_name - what a task was called when the wait ended
 * @pid: 0: there is no task
 */
struct link_name {
	uint32_t pid;
	char comm[STAPE_COMM_LEN];
};

/* Takes what a task is called now.  @tasks: any task of the timeline; @index: or SCHEDTAPE_NONE */
void link_name_take(struct link_name *name, const struct schedtape_task *tasks, uint32_t index);

/**
 * struct link - parts of a wait that were spent on the same
 * @kind: enum link_kind
 * @task, @other: indices, or SCHEDTAPE_NONE
 * @task_name, @other_name: set by chain_name()
 * @syscall: if @task slept, in which system call; SCHEDTAPE_SYSCALL_UNKNOWN: not known
 * @throttle: of a LINK_SUSPECTED or LINK_THROTTLED
 * @parts: their number
 * @time: their sum, ns
 * @begin: when the first one began
 * @end: when the last one ended
 */
struct link {
	enum link_kind kind;
	uint32_t task;
	uint32_t other;
	struct link_name task_name;
	struct link_name other_name;
	uint64_t syscall;
	struct throttle throttle;
	uint64_t parts;
	uint64_t time;
	uint64_t begin;
	uint64_t end;
};

/**
 * struct chain - the links of a wait
 * @task: the one that waited
 * @task_name: set by chain_name()
 * @path: it is the path to the end of a task, not a wait
 * @lasts: the tape ended before the wait
 * @cpu: where the task then ran; with @lasts, which CPU it waited for, or SCHEDTAPE_NONE
 * @syscall: in which it slept, as in struct link
 * @begin, @end: of the wait
 * @ready: how much of the wait the task was ready for a CPU
 * @links: @nr links, with memory for @room; those nearest to the end of the wait come first
 */
struct chain {
	bool path;
	bool lasts;
	uint32_t task;
	struct link_name task_name;
	uint32_t cpu;
	uint64_t syscall;
	uint64_t begin;
	uint64_t end;
	uint64_t ready;
	struct link *links;
	size_t nr;
	size_t room;
};

/*
 * Makes the chain of the wait before the run @number, or for it, if the wait lasts.  @chain:
 * zeroed, or used before.  Returns 1; 0: the tape does not show when the wait began; or -ENOMEM.
 */
int chain_of_wait(struct chain *chain, const struct history *history, uint64_t number);
/*
 * Makes the chain from @begin to @end, when the task was in the run @number.  Returns 0 or -ENOMEM.
 */
int chain_of_path(struct chain *chain, const struct history *history, uint64_t number,
		  uint64_t begin, uint64_t end);
/*
 * Returns how much of the wait something kept the task from running: all but its own sleep until an
 * interrupt or an unrecorded task woke it, or until the tape ended: so tasks wait for work.
 */
uint64_t chain_kept(const struct chain *chain);
/* Takes the names and PIDs that the tasks have now.  @tasks: any task of the timeline */
void chain_name(struct chain *chain, const struct schedtape_task *tasks);
/*
 * Makes one link of all that are of the same kind, and whose tasks have the same names; the longest
 * come first.  After chain_name()
 */
void chain_merge(struct chain *chain);
/* Returns true if the link is such a sleep. */
bool chain_is_rest(const struct chain *chain, const struct link *link);
void chain_free(struct chain *chain);

#endif /* SCHEDTAPE_WHY_CHAIN_H */
