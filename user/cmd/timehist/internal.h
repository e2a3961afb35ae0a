/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the parts of timehist share: the options, and where the run through the tape is.
 */
#ifndef SCHEDTAPE_TIMEHIST_INTERNAL_H
#define SCHEDTAPE_TIMEHIST_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <schedtape.h>

#include "base/histogram.h"
#include "common/identities.h"
#include "common/lines.h"
#include "common/selection.h"
#include "common/sheet.h"
#include "common/syscalls.h"
#include "common/time-text.h"

/**
 * struct runs_sum - what one task did
 * @runs: lengths of its times on a CPU
 * @least: the shortest of them
 * @worst_begin: when the longest of them began, ns of the session's clock
 * @migrations: its moves to selected CPUs in the selected time, unless all are selected
 */
struct runs_sum {
	struct schedtape_histogram runs;
	uint64_t least;
	uint64_t worst_begin;
	uint64_t migrations;
};

/**
 * struct cpu_sum - what one CPU did
 * @time: by enum stape_next: how long it ran tasks of the tape, nothing, other tasks; ns
 * @unknown: time in losses and pauses
 * @offline_time: time in which it was offline
 * @offline: it is
 * @runs_task: it runs a task of the tape since its last event
 * @idles: how often it became idle
 * @last: up to when it is counted
 * @used: it has had an event
 */
struct cpu_sum {
	uint64_t time[3];
	uint64_t unknown;
	uint64_t offline_time;
	uint64_t idles;
	uint64_t last;
	bool offline;
	bool runs_task;
	bool used;
};

/**
 * struct prio_begun - the last run that began on a CPU
 * @time: when it began
 * @prio: the task's priority then; IDENTITY_NO_PRIO: not known
 */
struct prio_begun {
	uint64_t time;
	int32_t prio;
};

/**
 * struct timehist - the options, and the state of a run
 * @summary: -s or -S; @only_summary: -s
 * @idle: -I; @knows_idle: the tape shows when CPUs were idle
 * @show_calls: print the system call in which a task left
 * @show_prio: print the priority with which it left
 * @prio: --prio: only tasks that have one of @prios then, or, with @prio_deadline, SCHED_DEADLINE
 * @syscalls: their names
 * @identities: the tasks at the current position of the tape; NULL: not needed
 * @next_pid, @next_kind: what the CPU of the last switch runs next
 * @nr_cpus: the highest number of a CPU, plus 1
 * @printed: a line was printed
 * @sums: by index of the task
 * @cpus: by number
 * @begun: by CPU
 */
struct timehist {
	struct selection selection;
	struct sheet_options sheet;
	bool json;
	bool summary;
	bool only_summary;
	bool wakeups;
	bool next;
	bool migrations;
	bool visual;
	bool state;
	bool idle;
	bool knows_idle;
	bool show_calls;
	bool show_prio;
	bool prio;
	bool prio_deadline;
	struct select_numbers prios;

	struct lines lines;
	struct time_text time;
	struct syscalls syscalls;
	struct identities *identities;
	uint32_t next_pid;
	unsigned int next_kind;
	uint32_t nr_cpus;
	bool printed;

	struct runs_sum *sums;
	size_t nr_sums;
	struct cpu_sum *cpus;
	uint32_t nr_cpu_sums;
	struct prio_begun *begun;
	size_t nr_begun;
};

/* bursts.c */
void bursts_head(struct timehist *th);
void bursts_run(struct timehist *th, const struct schedtape_task *task,
		const struct schedtape_run *run);
/* A wake-up, a migration, a loss or a pause. */
void bursts_event(struct timehist *th, const struct schedtape_event *ev);
/* Parses the argument of --prio.  Returns 0, -EINVAL or -ENOMEM. */
int prio_parse(struct timehist *th, const char *text);
/* Returns true if --prio selects the task with that priority, or is not given. */
bool prio_selects(const struct timehist *th, uint32_t pid);
/* Notes the priority with which a task gets a CPU.  Returns 0 or -ENOMEM. */
int prio_began(struct timehist *th, const struct schedtape_task *task,
	       const struct schedtape_run *run);

/* summary.c */
extern const struct sheet_column summary_columns[];
/* Returns 0 or -ENOMEM. */
int summary_add(struct timehist *th, const struct schedtape_task *task,
		const struct schedtape_run *run);
/* Returns true if the summary needs counted() of the timeline, which then calls summary_count(). */
bool summary_counts(const struct timehist *th);
int summary_count(struct timehist *th, const struct schedtape_task *task, unsigned int events,
		  uint32_t cpu, uint64_t time);
int summary_fill(struct sheet *sheet, const struct timehist *th,
		 const struct schedtape_timeline *timeline);
void summary_free(struct timehist *th);

/* What each CPU did. */
extern const struct sheet_column idle_columns[];
/* Returns 0 or -ENOMEM.  @start: of the recording. */
int idle_add(struct timehist *th, const struct schedtape_event *ev, uint64_t start);
int idle_fill(struct sheet *sheet, const struct timehist *th, uint64_t stop);

#endif /* SCHEDTAPE_TIMEHIST_INTERNAL_H */
