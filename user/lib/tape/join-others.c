// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Writes what else a tape has than chunks.  What is from before the end of the earlier tapes is
 * left out, because they have it.
 */
#define _FILE_OFFSET_BITS 64
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "tape/groups.h"
#include "tape/joined.h"

/*
 * The tasks at the window's time are listed with that time as the recorder has converted it, which
 * differs a little from that of the tape's clocks, ns.
 */
#define SLACK	1000000

_Static_assert(SLACK < TAPE_GROUPS_SLACK, "entries belong to tasks that were moved");

static int no_memory(struct schedtape_error *err)
{
	return schedtape_fail(err, -ENOMEM, "out of memory");
}

/* -- tasks ------------------------------------------------------------------- */

static int compare_pids(const void *one, const void *two)
{
	uint32_t a = *(const uint32_t *)one, b = *(const uint32_t *)two;

	return a < b ? -1 : a > b;
}

static bool has_pid(const uint32_t *pids, size_t n, uint32_t pid)
{
	return n && bsearch(&pid, pids, n, sizeof(pid), compare_pids);
}

/* Returns the PIDs of the tasks that are described up to @time, sorted; NULL: no memory. */
static uint32_t *pids_of(const struct schedtape_tape *tape, uint64_t time, size_t *n)
{
	uint32_t *pids = malloc(tape->nr_tasks * sizeof(*pids) + 1);
	size_t i;

	*n = 0;
	for (i = 0; i < tape->nr_tasks && pids; i++)
		if (tape->tasks[i].time <= time)
			pids[(*n)++] = tape->tasks[i].pid;
	if (pids)
		qsort(pids, *n, sizeof(*pids), compare_pids);
	return pids;
}

/* Sorts by PID; of a PID's descriptions, the last one comes last. */
static int compare_tasks(const void *one, const void *two)
{
	const struct schedtape_task_info *a = *(const struct schedtape_task_info * const *)one;
	const struct schedtape_task_info *b = *(const struct schedtape_task_info * const *)two;

	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	return a < b ? -1 : a > b;
}

/* Keeps what the tape in hand says of tasks that had not ended. */
static int keep_alive(struct join *join, struct schedtape_error *err)
{
	const struct schedtape_tape *tape = join->tape;
	const struct schedtape_task_info **sorted;
	size_t i, n = tape->nr_tasks;

	free(join->alive);
	join->nr_alive = 0;
	join->alive = calloc(n + 1, sizeof(*join->alive));
	sorted = calloc(n + 1, sizeof(*sorted));
	for (i = 0; i < n && sorted; i++)
		sorted[i] = &tape->tasks[i];
	if (sorted)
		qsort(sorted, n, sizeof(*sorted), compare_tasks);
	for (i = 0; i < n && sorted && join->alive; i++) {
		if ((i + 1 < n && sorted[i + 1]->pid == sorted[i]->pid) ||
		    sorted[i]->state == STAPE_STATE_DEAD)
			continue;
		join->alive[join->nr_alive] = *sorted[i];
		/* It belongs to the tape. */
		join->alive[join->nr_alive].affinity = NULL;
		join->alive[join->nr_alive++].affinity_bytes = 0;
	}
	free(sorted);
	return join->alive && sorted ? 0 : no_memory(err);
}

/*
 * Adds tasks that the earlier tapes have and that did not exist any more at the end of the gap.
 * Returns how many.
 */
static size_t add_ended(const struct join *join, const uint32_t *now, size_t nr_now,
			struct schedtape_task_info *to)
{
	size_t i, n = 0;

	for (i = 0; i < join->nr_alive; i++) {
		if (has_pid(now, nr_now, join->alive[i].pid))
			continue;
		to[n] = join->alive[i];
		to[n].time = join->stop + 1;
		to[n++].state = STAPE_STATE_DEAD;
	}
	return n;
}

/*
 * Chooses the descriptions that are new.  Behind a gap, those of its end get a time before all
 * events there, so that these are already of the tasks that have the PIDs now.
 */
static size_t choose_tasks(const struct join *join, uint64_t end, struct schedtape_task_info *to)
{
	const struct schedtape_tape *tape = join->tape;
	size_t i, n = 0;

	for (i = 0; i < tape->nr_tasks; i++) {
		if (join->later && tape->tasks[i].time <= join->stop)
			continue;
		to[n] = tape->tasks[i];
		if (join->gap && to[n].time >= end && to[n].time <= end + SLACK)
			to[n].time = end - 1;
		n++;
	}
	return n;
}

static int write_tasks(struct join *join, const struct schedtape_task_info *tasks, size_t n,
		       struct schedtape_error *err)
{
	join->tasks += n;
	if (join->tasks > TAPE_MAX_TASKS)
		return schedtape_fail(err, -E2BIG, "%s: with it there are more than %u "
				      "descriptions of tasks: merge fewer tapes at a time",
				      join->part->path, TAPE_MAX_TASKS);
	return n ? schedtape_writer_tasks(join->writer, tasks, n, err) : 0;
}

/* Makes the list of tasks to be written.  Returns their number, or -ENOMEM. */
static ssize_t list_tasks(struct join *join, struct schedtape_task_info **tasks)
{
	struct schedtape_tape *tape = join->tape;
	uint64_t end = join->gap ? tape_clocks_ns(&tape->clocks, join->window) : 0;
	size_t n = 0, nr_now = 0;
	uint32_t *now;

	*tasks = calloc(tape->nr_tasks + join->nr_alive + 1, sizeof(**tasks));
	now = pids_of(tape, end + SLACK, &nr_now);
	if (!*tasks || !now) {
		free(now);
		return -ENOMEM;
	}
	/* Without descriptions of that time it is not known which ones have ended. */
	if (join->gap && nr_now)
		n = add_ended(join, now, nr_now, *tasks);
	n += choose_tasks(join, end, *tasks + n);
	free(now);
	return n;
}

static int put_tasks(struct join *join, struct schedtape_error *err)
{
	struct schedtape_task_info *tasks;
	ssize_t n = list_tasks(join, &tasks);
	int ret = n < 0 ? no_memory(err) : write_tasks(join, tasks, n, err);

	free(tasks);
	return ret ? ret : keep_alive(join, err);
}

/* -- players ----------------------------------------------------------------- */

static int put_players(struct join *join, struct schedtape_error *err)
{
	const struct schedtape_tape *tape = join->tape;
	size_t i;
	int ret = 0;

	for (i = 0; i < tape->nr_players && !ret; i++)
		if (!join->later || tape->players[i].time > join->stop)
			ret = schedtape_writer_players(join->writer, &tape->players[i], 1, err);
	return ret;
}

/* -- clocks ------------------------------------------------------------------ */

static int put_clocks(struct join *join, struct schedtape_error *err)
{
	const struct tape_clocks *clocks = &join->tape->clocks;
	const struct stape_clock_sample *sample;
	size_t i;
	int ret = 0;

	for (i = 0; i < clocks->nr_samples && !ret; i++) {
		sample = &clocks->samples[i];
		if (join->later && sample->counter <= join->sampled)
			continue;
		ret = schedtape_writer_clock(join->writer, sample, err);
		join->sampled = sample->counter;
	}
	return ret;
}

/* -- schedulers -------------------------------------------------------------- */

static bool is_same(const struct schedtape_scheduler *a, const struct schedtape_scheduler *b)
{
	return a->enable_seq == b->enable_seq && !strcmp(a->state, b->state) &&
	       !strcmp(a->ops, b->ops);
}

static int put_schedulers(struct join *join, struct schedtape_error *err)
{
	const struct schedtape_tape *tape = join->tape;
	struct schedtape_scheduler now;
	size_t i;
	int ret = 0;

	for (i = 0; i < tape->nr_schedulers && !ret; i++) {
		now = tape->schedulers[i];
		if (join->scheduler.time && (now.time <= join->scheduler.time ||
					     is_same(&now, &join->scheduler)))
			continue;
		/* The first one of its tape, but not of the new one. */
		if (join->scheduler.time && !now.after)
			now.after = join->stop < now.time ? join->stop : now.time;
		ret = schedtape_writer_scheduler(join->writer, &now, err);
		join->scheduler = now;
	}
	return ret;
}

/* -- other records, which are copied ----------------------------------------- */

/* Returns true for types that are not written from what the tape's reader has of them. */
static bool is_copied(const struct join *join, uint32_t type)
{
	switch (type) {
	case TAPE_META:
	case TAPE_TASKS:
	case TAPE_END:
	case TAPE_CLOCK:
	case TAPE_SCHEDULER:
	case TAPE_PLAYERS:
	case TAPE_PROGRESS:
		return false;
	case TAPE_CGROUPS:
		/* Changes of quotas are not needed to read the rest. */
		return join->cgroups + join->tape->nr_cgroups <= TAPE_MAX_CGROUPS;
	}
	return true;
}

static int copy_others(struct join *join, struct schedtape_error *err)
{
	struct schedtape_tape *tape = join->tape;
	size_t i;
	int ret = 0;

	join->groups += tape->nr_groups;
	if (join->groups > TAPE_MAX_TASKS)
		return schedtape_fail(err, -E2BIG, "%s: with it there are more than %u entries "
				      "with autogroups of tasks: merge fewer tapes at a time",
				      join->part->path, TAPE_MAX_TASKS);
	for (i = 0; i < tape->nr_others && !ret; i++)
		if (is_copied(join, tape->others[i].type))
			ret = tape_copy_other(tape, &tape->others[i], true, join->writer, err);
	if (is_copied(join, TAPE_CGROUPS))
		join->cgroups += tape->nr_cgroups;
	return ret;
}

int join_others(struct join *join, struct schedtape_error *err)
{
	int ret = put_clocks(join, err);

	if (!ret)
		ret = put_schedulers(join, err);
	if (!ret)
		ret = copy_others(join, err);
	if (!ret)
		ret = put_players(join, err);
	return ret ? ret : put_tasks(join, err);
}
