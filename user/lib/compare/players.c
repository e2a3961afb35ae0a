// SPDX-License-Identifier: LGPL-2.1-or-later
#include "compare/players.h"

#include <errno.h>
#include <stdlib.h>

#define SLACK	1000000		/* by which times of a tape's clocks may differ, ns */

/**
 * struct identity - a PID and the time from which on a task has it
 * @task: index of the task that has it, or that plays the task which has it
 */
struct identity {
	uint32_t pid;
	uint64_t start;
	uint32_t task;
};

/**
 * struct identities - the identities of a side's tasks, sorted
 * @own: of all tasks, on their own tape
 * @played: of the tasks of another tape that this side's tasks play
 */
struct identities {
	struct identity *own;
	size_t nr_own;
	struct identity *played;
	size_t nr_played;
};

/* By PID, then by time. */
static int compare(const struct identity *a, const struct identity *b)
{
	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	return a->start < b->start ? -1 : a->start > b->start;
}

/* Tasks of the same identity come in order of appearance. */
static int compare_all(const void *left, const void *right)
{
	const struct identity *a = left, *b = right;
	int order = compare(a, b);

	return order ? order : a->task < b->task ? -1 : a->task > b->task;
}

/* Returns the number of identities before @wanted, which are those of earlier times. */
static size_t seek(const struct identity *list, size_t n, const struct identity *wanted)
{
	size_t low = 0, middle;

	while (low < n) {
		middle = low + (n - low) / 2;
		if (compare(&list[middle], wanted) < 0)
			low = middle + 1;
		else
			n = middle;
	}
	return low;
}

/* Finds the task that had the PID of a player when the player was seen. */
static uint32_t find_player(const struct identities *ids, const struct schedtape_player *player)
{
	struct identity latest = { .pid = player->pid, .start = UINT64_MAX };
	size_t at;

	if (player->time < UINT64_MAX - SLACK)
		latest.start = player->time + SLACK;
	at = seek(ids->own, ids->nr_own, &latest);
	return at && ids->own[at - 1].pid == player->pid ? ids->own[at - 1].task : SCHEDTAPE_NONE;
}

static void list_played(struct identities *ids, const struct match_side *side)
{
	const struct schedtape_player *player = side->players;
	uint32_t task;
	size_t i;

	for (i = 0; i < side->nr_players; i++, player++) {
		task = find_player(ids, player);
		if (task == SCHEDTAPE_NONE)
			continue;
		ids->played[ids->nr_played++] = (struct identity) {
			.pid = player->task_pid,
			.start = player->task_start,
			.task = task,
		};
	}
	if (ids->nr_played)
		qsort(ids->played, ids->nr_played, sizeof(*ids->played), compare_all);
}

static int identify(struct identities *ids, const struct match_side *side)
{
	uint32_t i;

	ids->own = calloc((size_t)side->nr + 1, sizeof(*ids->own));
	ids->played = calloc(side->nr_players + 1, sizeof(*ids->played));
	if (!ids->own || !ids->played)
		return -ENOMEM;
	for (i = 0; i < side->nr; i++)
		ids->own[i] = (struct identity) { side->tasks[i].pid, side->tasks[i].start, i };
	ids->nr_own = side->nr;
	if (side->nr)
		qsort(ids->own, side->nr, sizeof(*ids->own), compare_all);
	list_played(ids, side);
	return 0;
}

static void forget(struct identities *ids)
{
	free(ids->own);
	free(ids->played);
}

/* Pairs equal identities, unless one of the tasks has a counterpart already. */
static void pair(const struct identity *a, size_t nr_a, const struct identity *b, size_t nr_b,
		 uint32_t *a_to_b, bool *taken)
{
	size_t i, at;

	for (i = 0; i < nr_a; i++) {
		at = seek(b, nr_b, &a[i]);
		if (at == nr_b || compare(&b[at], &a[i]) || taken[b[at].task] ||
		    a_to_b[a[i].task] != SCHEDTAPE_NONE)
			continue;
		a_to_b[a[i].task] = b[at].task;
		taken[b[at].task] = true;
	}
}

int schedtape_players_pair(const struct match_side *a, const struct match_side *b,
			   uint32_t *a_to_b)
{
	bool *taken = calloc((size_t)b->nr + 1, sizeof(*taken));
	struct identities of_a = { 0 }, of_b = { 0 };
	int ret = taken ? 0 : -ENOMEM;
	uint32_t i;

	for (i = 0; i < a->nr; i++)
		a_to_b[i] = SCHEDTAPE_NONE;
	if (!ret)
		ret = identify(&of_a, a);
	if (!ret)
		ret = identify(&of_b, b);
	if (!ret) {
		pair(of_a.own, of_a.nr_own, of_b.played, of_b.nr_played, a_to_b, taken);
		pair(of_a.played, of_a.nr_played, of_b.own, of_b.nr_own, a_to_b, taken);
		pair(of_a.played, of_a.nr_played, of_b.played, of_b.nr_played, a_to_b, taken);
	}
	forget(&of_a);
	forget(&of_b);
	free(taken);
	return ret;
}
