// SPDX-License-Identifier: GPL-2.0-only
/*
 * A PID has a bit: the session records its task.  What descriptions say of later times is kept
 * until all samples of that time have been looked at, because rings of several CPUs are read one
 * after the other.
 */
#include "record/internal.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/list.h"

/**
 * struct change - a task enters the session, or leaves it
 * @number: in the order of the descriptions
 */
struct change {
	uint64_t time;
	uint32_t pid;
	uint32_t number;
	bool in;
};

/**
 * struct ending - a task that ends
 * @gone: when it was found to have ended, ns of CLOCK_MONOTONIC; 0: it has not yet
 */
struct ending {
	uint64_t gone;
	uint32_t pid;
};

/* -- bits ------------------------------------------------------------------ */

static void set(unsigned char *bits, uint32_t pid, bool on)
{
	if (pid >= MEMBERS_PIDS)
		return;
	if (on)
		bits[pid / 8] |= 1 << pid % 8;
	else
		bits[pid / 8] &= ~(1 << pid % 8);
}

struct record_members *members_new(bool idle)
{
	struct record_members *members = calloc(1, sizeof(*members));

	if (!members)
		return NULL;
	pthread_mutex_init(&members->lock, NULL);
	members->idle = idle;
	/* Pages of PIDs that do not exist take no memory. */
	members->in = calloc(MEMBERS_PIDS / 8, 1);
	members->changed = calloc(MEMBERS_PIDS / 8, 1);
	if (members->in && members->changed)
		return members;
	members_free(members);
	return NULL;
}

void members_free(struct record_members *members)
{
	if (!members)
		return;
	pthread_mutex_destroy(&members->lock);
	free(members->in);
	free(members->changed);
	free(members->changes);
	free(members->endings);
	free(members);
}

/* -- descriptions ---------------------------------------------------------- */

void members_list(struct record_members *members, const struct schedtape_task_info *tasks,
		  size_t n)
{
	size_t i;

	pthread_mutex_lock(&members->lock);
	memset(members->in, 0, MEMBERS_PIDS / 8);
	set(members->in, 0, members->idle);
	for (i = 0; i < n; i++)
		set(members->in, tasks[i].pid, true);
	/* A task that has left since the start is not listed, and one that has entered is. */
	for (i = members->nr_changes; i--;)
		set(members->in, members->changes[i].pid, !members->changes[i].in);
	pthread_mutex_unlock(&members->lock);
}

/* @before: what the task was, if no other change says so. */
static void change(struct record_members *members, uint32_t pid, uint64_t time, bool in,
		   bool before)
{
	struct change *changes;

	if (pid >= MEMBERS_PIDS)
		return;
	changes = schedtape_list_grow(members->changes, members->nr_changes,
				      &members->changes_capacity, sizeof(*changes));
	if (!changes) {
		/* A little too early is the best that can be done. */
		set(members->in, pid, in);
		return;
	}
	members->changes = changes;
	changes[members->nr_changes] = (struct change) {
		.time = time, .pid = pid, .number = members->nr_changes, .in = in,
	};
	members->nr_changes++;
	members->sorted = false;
	if (!members_bit(members->changed, pid))
		set(members->in, pid, before);
	set(members->changed, pid, true);
}

/* It still runs for a while, and is recorded until its end. */
static void ends(struct record_members *members, uint32_t pid)
{
	struct ending *endings = schedtape_list_grow(members->endings, members->nr_endings,
						     &members->endings_capacity, sizeof(*endings));

	if (!endings)
		return;
	members->endings = endings;
	endings[members->nr_endings++] = (struct ending){ .pid = pid };
}

static void take(struct record_members *members, const struct schedtape_event *ev)
{
	switch (ev->type) {
	case STAPE_EV_FORK:
		change(members, ev->pid, ev->time, true, false);
		break;
	case STAPE_EV_EXEC:
		/* A thread that goes on with the PID of its leader, which has ended. */
		if (ev->old_pid == ev->pid)
			break;
		change(members, ev->pid, ev->time, true,
		       ev->pid < MEMBERS_PIDS && members_bit(members->in, ev->pid));
		ends(members, ev->old_pid);
		break;
	case STAPE_EV_EXIT:
		ends(members, ev->pid);
		break;
	case STAPE_EV_TASK:
		if (schedtape_task_why(ev) == STAPE_TASK_ENTERS)
			change(members, ev->pid, ev->time, true, false);
		else if (schedtape_task_why(ev) == STAPE_TASK_LEAVES)
			change(members, ev->pid, ev->time, false, true);
		break;
	}
}

void members_read(struct record_members *members, const void *data)
{
	struct schedtape_event ev;
	struct schedtape_page page;

	if (schedtape_page_open(&page, data, NULL))
		return;
	pthread_mutex_lock(&members->lock);
	while (schedtape_page_next(&page, &ev, NULL) > 0)
		take(members, &ev);
	pthread_mutex_unlock(&members->lock);
}

/* -- samples --------------------------------------------------------------- */

static int compare(const void *one, const void *two)
{
	const struct change *a = one, *b = two;

	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	return a->number < b->number ? -1 : a->number > b->number;
}

void members_begin(struct record_members *members)
{
	pthread_mutex_lock(&members->lock);
	if (!members->sorted && members->nr_changes)
		qsort(members->changes, members->nr_changes, sizeof(*members->changes), compare);
	members->sorted = true;
}

/* Returns the first change of a PID that has some. */
static const struct change *first_change(const struct record_members *members, uint32_t pid)
{
	size_t low = 0, high = members->nr_changes, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (members->changes[middle].pid < pid)
			low = middle + 1;
		else
			high = middle;
	}
	return members->changes + low;
}

/* The same, of a PID that has changes. */
bool members_had(const struct record_members *members, uint32_t pid, uint64_t time)
{
	const struct change *at, *end = members->changes + members->nr_changes;
	bool in = members_bit(members->in, pid);

	for (at = first_change(members, pid); at < end && at->pid == pid && at->time <= time; at++)
		in = at->in;
	return in;
}

/* Forgets tasks that had ended before @until, whose PIDs other tasks may get. */
static void forget_ended(struct record_members *members, uint64_t until)
{
	uint64_t now = schedtape_now();
	struct ending *ending;
	size_t i, n = 0;

	for (i = 0; i < members->nr_endings; i++) {
		ending = &members->endings[i];
		if (ending->gone && ending->gone <= until) {
			/* Unless a task that is recorded has its PID meanwhile. */
			if (kill(ending->pid, 0) && errno == ESRCH)
				set(members->in, ending->pid, false);
			continue;
		}
		if (!ending->gone && kill(ending->pid, 0) && errno == ESRCH)
			ending->gone = now;
		members->endings[n++] = *ending;
	}
	members->nr_endings = n;
}

void members_end(struct record_members *members, uint64_t until)
{
	const struct change *at = members->changes;
	size_t i, n = 0;

	for (i = 0; i < members->nr_changes; i++)
		set(members->changed, at[i].pid, false);
	for (i = 0; i < members->nr_changes; i++) {
		if (at[i].time <= until) {
			set(members->in, at[i].pid, at[i].in);
			continue;
		}
		set(members->changed, at[i].pid, true);
		members->changes[n] = at[i];
		members->changes[n].number = n;
		n++;
	}
	members->nr_changes = n;
	forget_ended(members, until);
	pthread_mutex_unlock(&members->lock);
}
