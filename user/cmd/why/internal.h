/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the files of schedtape why share.
 */
#ifndef SCHEDTAPE_WHY_INTERNAL_H
#define SCHEDTAPE_WHY_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <schedtape.h>

#include "base/histogram.h"
#include "base/text.h"
#include "common/quotas.h"
#include "common/selection.h"
#include "common/sheet.h"
#include "common/syscalls.h"
#include "common/time-text.h"
#include "timeline/edges.h"

/* -- why.c: the tape's recording ------------------------------------------- */

/**
 * struct recorded - of a tape that is open
 * @all: it has all tasks, but for the recorder
 * @knows_idle: it shows when CPUs were idle
 * @throttling: enum stape_throttling
 * @quotas: those of cgroups; of a pipe, as far as they have come
 */
struct recorded {
	bool all;
	bool knows_idle;
	enum stape_throttling throttling;
	struct quotas quotas;
};

/* Reads it; @quotas is to be freed.  Returns 0 or -ENOMEM. */
int recorded_read(struct recorded *recorded, struct schedtape_tape *tape);

/* -- history.c ------------------------------------------------------------- */

/*
 * When which cgroups were throttled on which CPUs, by the events of a tape.
 */

/**
 * struct bout - a time during which a cgroup was throttled on a CPU, ns of the session's clock
 */
struct bout {
	uint64_t begin;
	uint64_t end;
};

/**
 * struct throttles_place - the bouts of a cgroup on a CPU
 * @since: it is throttled since then; 0: it is not, or that is not known
 * @bouts: the last @nr that have ended, in order of time
 */
struct throttles_place {
	uint64_t cgroup;
	uint32_t cpu;
	uint64_t since;
	struct bout *bouts;
	size_t nr;
	size_t room;
};

/**
 * struct throttles - all of them; all 0: none
 * @places: by cgroup and CPU
 * @nr_bouts: of all places
 * @known_since: of waits that began later, all bouts are here; before, events are lost, or bouts
 *	were forgotten
 * @lost_until: the last loss of events ended then
 */
struct throttles {
	struct throttles_place *places;
	size_t nr;
	size_t room;
	size_t nr_bouts;
	uint64_t known_since;
	uint64_t lost_until;
};

/* Takes any event of a tape.  Returns 0 or -ENOMEM. */
int throttles_event(struct throttles *throttles, const struct schedtape_event *ev);
/*
 * Finds the last bout of a cgroup on a CPU that has ended, had begun before @end and lasted after
 * @begin.  Returns false if no bout has.
 */
bool throttles_find(const struct throttles *throttles, uint64_t cgroup, uint32_t cpu,
		    uint64_t begin, uint64_t end, struct bout *bout);
/*
 * Returns true if a cgroup is still throttled on a CPU, and sets @bout's begin to the time since
 * when, its end to UINT64_MAX.
 */
bool throttles_lasts(const struct throttles *throttles, uint64_t cgroup, uint32_t cpu,
		     struct bout *bout);
/* Returns true if the cgroup was throttled on any CPU. */
bool throttles_has(const struct throttles *throttles, uint64_t cgroup);
void throttles_free(struct throttles *throttles);

/*
 * What each task and each CPU did lately: spans of time, each of which knows the ones before it.
 */

/* Instead of the number of a span: there is none. */
#define SPAN_NONE	UINT64_MAX

/**
 * enum span_kind - what a span is
 * @SPAN_RUN: a CPU ran a task of the tape
 * @SPAN_IDLE: a CPU was idle
 * @SPAN_OTHER: a CPU ran tasks that are not recorded
 * @SPAN_UNKNOWN: the tape does not show what a CPU did
 * @SPAN_QUEUED: a task was ready, and waited for a CPU from which it was then moved away
 */
enum span_kind {
	SPAN_RUN,
	SPAN_IDLE,
	SPAN_OTHER,
	SPAN_UNKNOWN,
	SPAN_QUEUED,
};

/**
 * struct span - a part of the time of a task or a CPU
 * @begin, @end: ns of the session's clock; @end is SPAN_NONE while it lasts
 * @left, @woke: of a SPAN_RUN, as in struct schedtape_run
 * @before: the task's run before this one; of a SPAN_QUEUED the one before it in the same wait
 * @on_cpu: what the CPU did just before; of a SPAN_QUEUED what it did at the end
 * @source: of a SPAN_RUN: the run in which the waker, or the parent, was at @woke
 * @queue: of a SPAN_RUN: the last SPAN_QUEUED of the wait before it
 * @task: index; SCHEDTAPE_NONE: no task
 * @cpu: the CPU
 * @kind: enum span_kind
 * @left_syscall: of a SPAN_RUN, as in struct schedtape_run
 * @left_state: enum stape_state at @left; SPAN_NO_STATE: not known
 * @woke_in: enum stape_context at @woke; SPAN_NO_STATE: not known
 * @lasts: of a SPAN_RUN: the task still waited for this run when the tape ended
 * @policy: of a SPAN_RUN: that of the task when it began, or when the tape ended
 */
struct span {
	uint64_t begin;
	uint64_t end;
	uint64_t left;
	uint64_t woke;
	uint64_t before;
	uint64_t on_cpu;
	uint64_t source;
	uint64_t queue;
	uint64_t left_syscall;
	uint32_t task;
	uint32_t cpu;
	uint8_t kind;
	uint8_t left_state;
	uint8_t woke_in;
	bool lasts;
	uint8_t policy;
};

#define SPAN_NO_STATE	0xff

/**
 * struct history_task - where a task is
 * @last: its last SPAN_RUN
 * @waking: the run of the task that tried to wake it last
 * @source: the run of the task that woke or forked it last, until it runs again
 * @queue: the last SPAN_QUEUED of the wait in which it is
 * @queued_since: since when it waits for @queued_cpu; 0: it does not wait, or that is not known
 * @cgroup: id of its cgroup when it ran last, or when the tape ended
 */
struct history_task {
	uint64_t last;
	uint64_t waking;
	uint64_t source;
	uint64_t queue;
	uint64_t queued_since;
	uint64_t cgroup;
	uint32_t queued_cpu;
};

/**
 * struct history_cpu - where a CPU is
 * @present: what it does; SPAN_NONE: nothing is known
 * @explained: time of the last event that says what the CPU did
 */
struct history_cpu {
	uint64_t present;
	uint64_t explained;
};

/**
 * struct history - the spans
 * @recorded: what the tape says about its recording
 * @spans: a ring: span N is at N modulo @room
 * @room: a power of two, which grows up to @most
 * @most: spans that are kept; also a power of two
 * @nr: number of spans so far
 * @tasks: by index of the task
 * @cpus: by number
 * @throttles: when cgroups were throttled
 */
struct history {
	const struct recorded *recorded;
	struct span *spans;
	uint64_t room;
	uint64_t most;
	uint64_t nr;
	struct history_task *tasks;
	size_t nr_tasks;
	struct history_cpu *cpus;
	size_t nr_cpus;
	struct throttles throttles;
};

/* Returns a span, valid until the next event; NULL: there is none, or it is too long ago. */
static inline const struct span *history_get(const struct history *history, uint64_t number)
{
	if (number >= history->nr || history->nr - number > history->room)
		return NULL;
	return &history->spans[number & (history->room - 1)];
}

/*
 * Returns when the wait before a run began, 0: that is not known.  @left, @woke: as in struct
 * schedtape_run.  @lasts: the tape ended before the run.  If a task slept when the tape began, and
 * has not run since, its wait began when it was woken.
 */
static inline uint64_t history_wait_begin(uint64_t left, uint64_t woke, bool lasts)
{
	return left || !lasts ? left : woke;
}

/* Returns a task, to be changed; NULL: no memory. */
struct history_task *history_task(struct history *history, uint32_t index);

/* The callbacks of the timeline, with the same arguments.  They return 0 or -ENOMEM. */
int history_event(struct history *history, const struct schedtape_event *ev);
int history_born(struct history *history, const struct schedtape_task *task,
		 const struct schedtape_task *parent);
int history_waking(struct history *history, const struct schedtape_task *waker,
		   const struct schedtape_task *wakee);
int history_woke(struct history *history, const struct schedtape_task *task,
		 const struct schedtape_task *waker);
int history_queued(struct history *history, const struct schedtape_task *task, uint32_t cpu,
		   uint64_t time);
int history_began(struct history *history, const struct schedtape_task *task,
		  const struct schedtape_run *run);
int history_ran(struct history *history, const struct schedtape_task *task,
		const struct schedtape_run *run);
/* Adds the run for which the task waited when the tape ended.  @number: is set to its number. */
int history_waits(struct history *history, const struct schedtape_task *task,
		  const struct schedtape_run *run, uint64_t *number);
void history_free(struct history *history);

/* -- chain.c --------------------------------------------------------------- */

/*
 * Goes back in time from the end of a wait, and finds what each part of its time was spent on.
 *
 * This is the critical path of Yang and Miller (ICDCS 1988), followed back through the wake-ups of
 * a tape: what a task did before it ran; if it slept, what the task did that woke it; and so on.
 * Each moment of the wait belongs to one link, so the links add up to the whole.
 */

/**
 * struct throttle - a quota that kept a task from running
 * @cgroup: path of the cgroup that has it, as long as the tape is open; "": not known
 * @id: its id
 * @quota, @period: as in cpu.max, us; @period is 0 if they are not known
 */
struct throttle {
	const char *cgroup;
	uint64_t id;
	uint64_t quota;
	uint64_t period;
};

/**
 * enum link_kind - what a part of a wait was spent on; @task and @other: of struct link
 * @LINK_RAN: @task ran, before it woke the next one in the chain
 * @LINK_QUEUED: @task was ready, but its CPU ran @other
 * @LINK_OTHER: @task was ready, but its CPU ran a task that is not recorded
 * @LINK_IDLE: @task was ready, and its CPU was idle, or was just waking up
 * @LINK_READY: @task was ready, and the tape does not show what its CPU did
 * @LINK_SUSPECTED: as LINK_IDLE, but @task was perhaps throttled: the tape has no, or not all,
 *	events of throttling
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

/* -- waits.c --------------------------------------------------------------- */

/*
 * Adds up the links of many waits: links of the same kind whose tasks have the same names are one
 * cause.  If the tasks' own sleeps count, each system call that they slept in is one, too.
 */

/**
 * struct cause - one cause
 * @kind: enum link_kind
 * @task, @other: numbers of names; SCHEDTAPE_NONE: no task
 * @syscall: in which @task slept; SCHEDTAPE_SYSCALL_UNKNOWN: in none, in any, or not known
 * @rest: the task's own sleep, see chain_is_rest()
 * @present: its time in the wait that is being added
 * @waits: how much time it took of each wait that has it
 * @worst_end: when the wait ended of which it took most, ns of the session's clock
 */
struct cause {
	enum link_kind kind;
	uint32_t task;
	uint32_t other;
	uint64_t syscall;
	bool rest;
	uint64_t present;
	struct schedtape_histogram waits;
	uint64_t worst_end;
};

/**
 * struct causes - all of them; all 0: none
 * @apart: a task's own sleeps are causes of their own
 * @halves, @names: the numbers of names, of two halves
 * @texts: the @nr_texts names, by number
 * @calls: the numbers of system calls, of two halves
 * @pairs: the numbers of causes: the task's name and the kind, the other task's name or the call
 * @list: the @nr causes, by these numbers
 * @nr_waits: waits that have been added
 */
struct causes {
	bool apart;
	struct schedtape_edges halves;
	struct schedtape_edges names;
	char (*texts)[STAPE_COMM_LEN];
	size_t nr_texts;
	struct schedtape_edges calls;
	struct schedtape_edges pairs;
	struct cause *list;
	size_t nr;
	uint64_t nr_waits;
};

/* Returns a name; NULL: no task. */
const char *causes_name(const struct causes *causes, uint32_t number);

/*
 * Follows a tape, and explains the waits of the selected tasks: the worst ones, those at a time, or
 * all of them together.
 */

#define FIRED_NEAR	5000000	/* ns; a trigger rests for 10 ms after it has fired */

/**
 * struct fired - a trigger of the recording that has fired
 * @at: when the trigger fired that the snapshot was taken for, by META; UINT64_MAX: it has another
 *	cause; 0: the tape is no snapshot
 * @least: how far the event of that trigger is from @at, at most, ns; without @at 0
 * @time: when the event that is nearest to @at happened, or the last one; 0: there is none
 * @name: of the task then; its PID is 0 for all tasks
 * @trigger: of the event
 */
struct fired {
	uint64_t at;
	uint64_t least;
	uint64_t time;
	struct link_name name;
	struct schedtape_fired trigger;
};

/**
 * struct waits - what is wanted, and what was found
 * @who: the tasks that wait; they must match @selection, too
 * @selection: --cpu and --time: where and when the wait ends
 * @recorded: the quotas of cgroups, which are updated when more of them come
 * @most: how many of the worst waits are wanted
 * @at: only waits that have this time, ns of the session's clock; SPAN_NONE: any
 * @all: add all waits to @causes
 * @rest: a task's own sleep makes a wait worse, too
 * @history: what tasks and CPUs did
 * @causes: with @all
 * @chains: the @nr worst waits, the worst first
 * @nr_more: with @at: waits that are not among these
 * @chain: the one that is being made
 * @ran: with @at: the last selected task that ran then, as it was called then
 * @fired: what the tape was taken for
 */
struct waits {
	const struct select_names *who;
	const struct selection *selection;
	struct recorded *recorded;
	size_t most;
	uint64_t at;
	bool all;
	bool rest;
	struct history history;
	struct causes causes;
	struct chain *chains;
	size_t nr;
	size_t nr_more;
	struct chain chain;
	struct link_name ran;
	struct fired fired;
};

/* Callbacks of the timeline, for a struct waits. */
extern const struct schedtape_timeline_ops waits_ops;

void waits_free(struct waits *waits);

/* -- print.c --------------------------------------------------------------- */

/* The columns of the causes. */
extern const struct sheet_column why_columns[];

/**
 * struct printer - how chains are printed
 * @syscalls: their names
 * @times: how times are printed
 * @top: lines of one chain, or links in JSON
 */
struct printer {
	struct syscalls *syscalls;
	struct time_text *times;
	size_t top;
};

/*
 * Prints a wait, and its links one a line.  If there are more than @top, the chain is merged first,
 * see chain_merge(), and only @top lines are printed.
 */
void why_print_wait(const struct printer *printer, struct chain *chain);
/* Prints a critical path in the same way. */
void why_print_path(const struct printer *printer, struct chain *chain);
/* Prints notes on what links mean.  @kinds: those that the chains have, a bit for each. */
void why_print_notes(unsigned int kinds, const struct history *history);
/* Adds a chain to a list of JSON.  It is merged and cut in the same way. */
void why_json_chain(const struct printer *printer, struct chain *chain);
/* Fills the table of causes, without sleeps that are kept apart.  Returns 0 or -ENOMEM. */
int why_fill(struct sheet *sheet, const struct causes *causes, struct syscalls *syscalls);
/* Room for the text of a link: two names, a system call, and the longest words between them. */
#define WHY_LABEL	(2 * TEXT_TASK_LEN + SYSCALLS_NAME + 60)

/* Returns what a link was: "make:10 was ready, its CPU ran cc1:11".  @syscalls: their names */
const char *why_label(char buffer[WHY_LABEL], const struct link *link, struct syscalls *syscalls);
/* Returns the kinds of the chain's links, a bit for each. */
unsigned int why_kinds(const struct chain *chain);

#endif /* SCHEDTAPE_WHY_INTERNAL_H */
