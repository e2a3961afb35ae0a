// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Matches the tasks of two timelines.
 *
 * First come players and the tasks that they play, if one tape is of a replay and says so.
 * All others are matched by structure, because a replay keeps it: the roots of the two trees,
 * by name.  Then, below each matched pair, the k-th child with the k-th child, or by
 * name where the numbers of children differ.  The remaining tasks are matched by name
 * anywhere in the trees, because these may have different roots, and then the tasks
 * below them.  All lists are sorted, so that no step compares all tasks with all.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "compare/match.h"

/**
 * struct member - a task in a list that is to be sorted
 * @group: first sort key, for by_group()
 * @place: last sort key
 * @task: its index
 * @comm: first sort key, for by_comm()
 */
struct member {
	uint64_t group;
	uint64_t place;
	uint32_t task;
	const char *comm;
};

/**
 * struct tree - one timeline as a tree
 * @kids: indices of all tasks, grouped by parent, the roots first
 * @first: the kids of task n begin at @first[n + 1], the roots at @first[0]
 * @order: indices of all tasks, parents before their kids
 * @match: by task: its counterpart
 */
struct tree {
	const struct schedtape_task *tasks;
	uint32_t nr;
	uint32_t *kids;
	uint32_t *first;
	uint32_t *order;
	uint32_t *match;
};

struct matching {
	struct tree a;
	struct tree b;
	struct member *some_a;	/* scratch lists, as long as their trees */
	struct member *some_b;
	uint32_t *queue;	/* matched tasks of A whose kids come next */
	uint32_t queued;
};

static int by_group(const void *left, const void *right)
{
	const struct member *a = left, *b = right;

	if (a->group != b->group)
		return a->group < b->group ? -1 : 1;
	return a->place < b->place ? -1 : a->place > b->place;
}

static int by_comm(const void *left, const void *right)
{
	const struct member *a = left, *b = right;
	int order = strcmp(a->comm, b->comm);

	if (order)
		return order;
	return a->place < b->place ? -1 : a->place > b->place;
}

static void sort(struct member *list, uint32_t n, int (*compare)(const void *, const void *))
{
	if (n)
		qsort(list, n, sizeof(*list), compare);
}

/* Finds the last process with a PID that appeared before a task, or else the first one. */
static uint32_t owner_of(uint32_t pid, uint32_t before, const struct member *pids, uint32_t n)
{
	const struct member key = { .group = pid, .place = before };
	uint32_t low = 0, high = n;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (by_group(&pids[middle], &key) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	if (low && pids[low - 1].group == pid)
		return pids[low - 1].task;
	return low < n && pids[low].group == pid ? pids[low].task : SCHEDTAPE_NONE;
}

/*
 * Returns a task's parent in the tree.  If its fork is not on the tape, this is the leader
 * for a thread, and for a process the parent in its first description, or at its end.
 */
static uint32_t parent_of(const struct schedtape_task *task, const struct member *pids, uint32_t n)
{
	uint32_t ppid = task->ppid;

	if (task->parent != SCHEDTAPE_NONE)
		return task->parent;
	if (task->thread)
		return task->process != task->index ? task->process : SCHEDTAPE_NONE;
	if (!ppid && task->exit_ppid != SCHEDTAPE_NONE)
		ppid = task->exit_ppid;
	if (!ppid || ppid == task->pid)
		return SCHEDTAPE_NONE;
	return owner_of(ppid, task->index, pids, n);
}

/* Lists processes by PID, then in order of appearance. */
static uint32_t list_pids(const struct tree *tree, struct member *list)
{
	uint32_t i, n = 0;

	for (i = 0; i < tree->nr; i++) {
		const struct schedtape_task *task = &tree->tasks[i];

		if (!task->thread)
			list[n++] = (struct member){ .group = task->pid, .place = i, .task = i };
	}
	sort(list, n, by_group);
	return n;
}

/* Sort key for siblings: first those from the start, by PID, then others as they were forked. */
static uint64_t seniority(const struct schedtape_task *task)
{
	return task->from_start ? task->pid : 1ULL << 32 | task->index;
}

/* Puts parents before their kids.  Tasks in a circle, below no root, come last. */
static void order_tree(struct tree *tree)
{
	uint32_t n = 0, at, i;

	memset(tree->match, 0, tree->nr * sizeof(*tree->match));
	for (i = tree->first[0]; i < tree->first[1]; i++)
		tree->order[n++] = tree->kids[i];
	for (at = 0; at < n; at++) {
		uint32_t task = tree->order[at];

		tree->match[task] = 1;
		for (i = tree->first[task + 1]; i < tree->first[task + 2]; i++)
			tree->order[n++] = tree->kids[i];
	}
	for (i = 0; i < tree->nr && n < tree->nr; i++)
		if (!tree->match[i])
			tree->order[n++] = i;
	memset(tree->match, 0xff, tree->nr * sizeof(*tree->match));
}

static int plant(struct tree *tree, const struct match_side *side, uint32_t *match)
{
	const struct schedtape_task *tasks = side->tasks;
	uint32_t n = side->nr;
	struct member *list = calloc((size_t)n + 1, sizeof(*list));
	struct member *pids = calloc((size_t)n + 1, sizeof(*pids));
	uint32_t nr_pids, i, group = 0;
	int rc = -ENOMEM;

	tree->tasks = tasks;
	tree->nr = n;
	tree->match = match;
	tree->kids = calloc((size_t)n + 1, sizeof(uint32_t));
	tree->first = calloc((size_t)n + 2, sizeof(uint32_t));
	tree->order = calloc((size_t)n + 1, sizeof(uint32_t));
	if (!list || !pids || !tree->kids || !tree->first || !tree->order)
		goto out;

	nr_pids = list_pids(tree, pids);
	for (i = 0; i < n; i++)
		list[i] = (struct member){
			/* The roots' group is 0: SCHEDTAPE_NONE wraps. */
			.group = (uint32_t)(parent_of(&tasks[i], pids, nr_pids) + 1),
			.place = seniority(&tasks[i]),
			.task = i,
		};
	sort(list, n, by_group);
	for (i = 0; i < n; i++) {
		tree->kids[i] = list[i].task;
		while (group < list[i].group)
			tree->first[++group] = i;
	}
	while (group < n + 1)
		tree->first[++group] = n;
	order_tree(tree);
	rc = 0;
out:
	free(list);
	free(pids);
	return rc;
}

static void fell(struct tree *tree)
{
	free(tree->kids);
	free(tree->first);
	free(tree->order);
}

static void match(struct matching *m, uint32_t a, uint32_t b)
{
	m->a.match[a] = b;
	m->b.match[b] = a;
	m->queue[m->queued++] = a;
}

/* Lists the siblings of a group that have no counterpart yet, by their place. */
static uint32_t list_kids(const struct tree *tree, uint32_t group, bool thread,
			  struct member *list)
{
	uint32_t i, n = 0;

	for (i = tree->first[group]; i < tree->first[group + 1]; i++) {
		const struct schedtape_task *task = &tree->tasks[tree->kids[i]];

		if (task->thread != thread || tree->match[task->index] != SCHEDTAPE_NONE)
			continue;
		list[n++] = (struct member){
			.place = i, .task = task->index, .comm = task->comm,
		};
	}
	return n;
}

static void match_places(struct matching *m, uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n; i++)
		match(m, m->some_a[i].task, m->some_b[i].task);
}

/* Matches the k-th task of a name with the k-th of the same name. */
static void match_names(struct matching *m, uint32_t nr_a, uint32_t nr_b)
{
	uint32_t a = 0, b = 0;

	sort(m->some_a, nr_a, by_comm);
	sort(m->some_b, nr_b, by_comm);
	while (a < nr_a && b < nr_b) {
		int order = strcmp(m->some_a[a].comm, m->some_b[b].comm);

		if (!order)
			match(m, m->some_a[a].task, m->some_b[b].task);
		a += order <= 0;
		b += order >= 0;
	}
}

static void match_kids(struct matching *m, uint32_t group_a, uint32_t group_b, bool thread)
{
	uint32_t nr_a = list_kids(&m->a, group_a, thread, m->some_a);
	uint32_t nr_b = list_kids(&m->b, group_b, thread, m->some_b);

	if (nr_a == nr_b)
		match_places(m, nr_a);
	else
		match_names(m, nr_a, nr_b);
}

/* Matches all tasks below those that have been matched so far. */
static void descend(struct matching *m)
{
	while (m->queued) {
		uint32_t a = m->queue[--m->queued];
		uint32_t b = m->a.match[a];

		match_kids(m, a + 1, b + 1, false);
		match_kids(m, a + 1, b + 1, true);
	}
}

/* Matches players and the tasks that they play. */
static int match_players(struct matching *m, const struct match_side *a,
			 const struct match_side *b)
{
	uint32_t *a_to_b, i;
	int rc;

	if (!a->nr_players && !b->nr_players)
		return 0;
	a_to_b = calloc((size_t)a->nr + 1, sizeof(*a_to_b));
	if (!a_to_b)
		return -ENOMEM;
	rc = schedtape_players_pair(a, b, a_to_b);
	for (i = 0; i < a->nr && !rc; i++)
		if (a_to_b[i] != SCHEDTAPE_NONE)
			match(m, i, a_to_b[i]);
	free(a_to_b);
	return rc;
}

/* Matches roots by name only, because one tree may have a launcher that the other has not. */
static void match_roots(struct matching *m)
{
	int thread;

	for (thread = 0; thread <= 1; thread++) {
		uint32_t nr_a = list_kids(&m->a, 0, thread, m->some_a);
		uint32_t nr_b = list_kids(&m->b, 0, thread, m->some_b);

		match_names(m, nr_a, nr_b);
	}
}

/* Returns the first entry of a list, sorted by name, that is not before @comm. */
static uint32_t seek(const struct member *list, uint32_t n, const char *comm)
{
	uint32_t low = 0, high = n;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (strcmp(list[middle].comm, comm) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/*
 * Matches a remaining task by name anywhere in the tree, then the tasks below it, then the
 * next remaining one.  The @group of the first member with a name counts how many members
 * of that name are used up.
 */
static int match_leftovers(struct matching *m)
{
	struct member *left = calloc((size_t)m->b.nr + 1, sizeof(*left));
	uint32_t i, n = 0;

	if (!left)
		return -ENOMEM;
	for (i = 0; i < m->b.nr; i++) {
		uint32_t b = m->b.order[i];

		if (m->b.match[b] == SCHEDTAPE_NONE)
			left[n++] = (struct member){
				.place = i, .task = b, .comm = m->b.tasks[b].comm,
			};
	}
	sort(left, n, by_comm);

	for (i = 0; i < m->a.nr; i++) {
		uint32_t a = m->a.order[i];
		const char *comm = m->a.tasks[a].comm;
		uint32_t first, at;

		if (m->a.match[a] != SCHEDTAPE_NONE)
			continue;
		first = seek(left, n, comm);
		if (first == n)
			continue;
		for (at = first + left[first].group; at < n; at++)
			if (strcmp(left[at].comm, comm) ||
			    m->b.match[left[at].task] == SCHEDTAPE_NONE)
				break;
		left[first].group = at - first;
		if (at == n || strcmp(left[at].comm, comm))
			continue;
		match(m, a, left[at].task);
		descend(m);
	}
	free(left);
	return 0;
}

/**
 * schedtape_match() - match the tasks of A and B
 * @a: A
 * @b: B
 * @a_to_b: result, an element for each task of A
 * @b_to_a: result, an element for each task of B
 */
int schedtape_match(const struct match_side *a, const struct match_side *b,
		    uint32_t *a_to_b, uint32_t *b_to_a)
{
	struct matching m = { 0 };
	int rc;

	m.some_a = calloc((size_t)a->nr + 1, sizeof(*m.some_a));
	m.some_b = calloc((size_t)b->nr + 1, sizeof(*m.some_b));
	m.queue = calloc((size_t)a->nr + 1, sizeof(*m.queue));
	rc = m.some_a && m.some_b && m.queue ? 0 : -ENOMEM;
	if (!rc)
		rc = plant(&m.a, a, a_to_b);
	if (!rc)
		rc = plant(&m.b, b, b_to_a);
	if (!rc)
		rc = match_players(&m, a, b);
	if (!rc) {
		descend(&m);
		match_roots(&m);
		descend(&m);
		rc = match_leftovers(&m);
	}
	fell(&m.a);
	fell(&m.b);
	free(m.some_a);
	free(m.some_b);
	free(m.queue);
	return rc;
}
