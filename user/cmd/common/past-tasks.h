/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What tasks were at a moment in the past: a table that descriptions of tasks lead on from one
 * moment to a later one.
 */
#ifndef SCHEDTAPE_PAST_TASKS_H
#define SCHEDTAPE_PAST_TASKS_H

#include <schedtape.h>
#include <stddef.h>
#include <stdint.h>

/**
 * struct past_tasks - the table; all 0: an empty one
 * @tree: the tasks by PID, @nr of them
 * @dead: how many of them have ended
 */
struct past_tasks {
	void *tree;
	size_t nr;
	size_t dead;
};

/*
 * For a list of all tasks that exist: marks all, takes the mark off each one that is met, or adds
 * it; those that are still marked had ended at @time.  past_tasks_meet() returns 0 or -ENOMEM.
 */
void past_tasks_mark(struct past_tasks *tasks);
int past_tasks_meet(struct past_tasks *tasks, const struct schedtape_task_info *info);
void past_tasks_end_marked(struct past_tasks *tasks, uint64_t time);
/* Leads the table on with a description.  Others than descriptions change nothing. */
int past_tasks_event(struct past_tasks *tasks, const struct schedtape_event *ev);
/* Removes the tasks that had ended before @time, by the session's clock. */
void past_tasks_forget(struct past_tasks *tasks, uint64_t time);
/*
 * Returns the tasks, described at @time, ns of CLOCK_MONOTONIC; 0: as they were listed.  Those that
 * have ended are STAPE_STATE_DEAD, and left out if that was before @since, by the session's clock.
 * The others are STAPE_STATE_SLEEPING: their events say more.  The caller frees the array before
 * the table changes.  NULL: out of memory.
 */
struct schedtape_task_info *past_tasks_list(const struct past_tasks *tasks, uint64_t since,
					    uint64_t time, size_t *n);
void past_tasks_free(struct past_tasks *tasks);

#endif /* SCHEDTAPE_PAST_TASKS_H */
