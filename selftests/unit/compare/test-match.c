// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: which task of one tree corresponds to which of another: children by position if
 * both have the same number, otherwise by name.
 */
#include <stdlib.h>
#include <string.h>

#include <compare/match.h>

#include "tap.h"

#define MOST	8
#define NONE	SCHEDTAPE_NONE

/**
 * struct tree - tasks of a timeline
 * @lives: the roots' parent is NONE
 */
struct tree {
	struct schedtape_task lives[MOST];
	uint32_t n;
	struct schedtape_player players[MOST];
	uint32_t nr_players;
};

static void add(struct tree *tree, uint32_t parent, bool thread, const char *comm)
{
	struct schedtape_task *life = &tree->lives[tree->n];

	memset(life, 0, sizeof(*life));
	life->index = tree->n;
	life->pid = 100 + tree->n;
	life->parent = parent;
	life->process = thread ? parent : tree->n;
	life->thread = thread;
	strcpy(life->comm, comm);
	tree->n++;
}

/* @expected: the counterparts in B, by task of A. */
static void is_match(const struct tree *a, const struct tree *b, const uint32_t *expected,
		     const char *what)
{
	const struct match_side side_a = { a->lives, a->n, a->players, a->nr_players };
	const struct match_side side_b = { b->lives, b->n, b->players, b->nr_players };
	uint32_t a_to_b[MOST], b_to_a[MOST], i;

	if (schedtape_match(&side_a, &side_b, a_to_b, b_to_a))
		abort();
	if (!ok(!memcmp(a_to_b, expected, a->n * sizeof(*expected)), "%s", what))
		for (i = 0; i < a->n; i++)
			printf("# %u is %d, not %d\n", i, (int)a_to_b[i], (int)expected[i]);
}

/* The first child has the second one's name. */
TEST(as_many)
{
	static const uint32_t expected[] = { 0, 1, 2 };
	struct tree a = { .n = 0 }, b = { .n = 0 };

	add(&a, NONE, false, "sh");
	add(&a, 0, false, "cc");
	add(&a, 0, false, "ld");
	add(&b, NONE, false, "sh");
	add(&b, 0, false, "ld");
	add(&b, 0, false, "cc");
	is_match(&a, &b, expected, "as many children match in the order of their forks");
}

TEST(more)
{
	static const uint32_t expected[] = { 0, 2, 3, NONE, 1 };
	struct tree a = { .n = 0 }, b = { .n = 0 };

	add(&a, NONE, false, "sh");
	add(&a, 0, false, "cc");
	add(&a, 0, false, "cc");
	add(&a, 0, false, "cc");
	add(&a, 0, false, "ld");
	add(&b, NONE, false, "sh");
	add(&b, 0, false, "ld");
	add(&b, 0, false, "cc");
	add(&b, 0, false, "cc");
	is_match(&a, &b, expected, "else by name, the first of a name with the first");
}

TEST(threads)
{
	static const uint32_t expected[] = { 0, 2, 1 };
	struct tree a = { .n = 0 }, b = { .n = 0 };

	add(&a, NONE, false, "sh");
	add(&a, 0, false, "process");
	add(&a, 0, true, "thread");
	add(&b, NONE, false, "sh");
	add(&b, 0, true, "other");
	add(&b, 0, false, "one more");
	is_match(&a, &b, expected, "a thread matches a thread, a process a process");
}

/* A's root is a child of another task in B. */
TEST(launcher)
{
	static const uint32_t expected[] = { 1, 2 };
	struct tree a = { .n = 0 }, b = { .n = 0 };

	add(&a, NONE, false, "sh");
	add(&a, 0, false, "cc");
	add(&b, NONE, false, "launcher");
	add(&b, 0, false, "sh");
	add(&b, 1, false, "gcc");
	is_match(&a, &b, expected, "children of a pair that matched by name match, too");
}

/* A task of @tree plays one of another tape. */
static void plays(struct tree *tree, uint32_t task, uint64_t time, const struct tree *of,
		  uint32_t original)
{
	tree->players[tree->nr_players++] = (struct schedtape_player) {
		.time = time,
		.task_start = of->lives[original].start,
		.pid = tree->lives[task].pid,
		.task_pid = of->lives[original].pid,
	};
}

/* A master and two workers, all of one name. */
static void add_workers(struct tree *tree, bool orphans, uint64_t start)
{
	uint32_t i;

	add(tree, NONE, false, "nginx");
	add(tree, orphans ? NONE : 0, false, "nginx");
	add(tree, orphans ? NONE : 0, false, "nginx");
	for (i = 0; i < tree->n; i++)
		tree->lives[i].start = start;
}

TEST(players)
{
	static const uint32_t expected[] = { 2, 0, 1 }, back[] = { 1, 2, 0 };
	static const uint32_t replays[] = { 1, 2, 0 };
	struct tree a = { .n = 0 }, b = { .n = 0 }, c = { .n = 0 };

	add_workers(&a, false, 1000);
	add_workers(&b, true, 2000);
	add_workers(&c, true, 3000);
	is_match(&a, &b, (const uint32_t []){ 0, 1, 2 }, "without players, names match");
	plays(&b, 2, 10, &a, 0);
	plays(&b, 0, 10, &a, 1);
	plays(&b, 1, 10, &a, 2);
	is_match(&a, &b, expected, "a player matches the task that it plays");
	is_match(&b, &a, back, "also if the replay comes first");
	plays(&c, 0, 10, &a, 0);
	plays(&c, 1, 10, &a, 1);
	plays(&c, 2, 10, &a, 2);
	is_match(&b, &c, replays, "players of one task on two tapes match");
}

/* Other tapes may have tasks of the same PIDs, and a replay may use a PID twice. */
TEST(other_players)
{
	static const uint32_t by_name[] = { 0, 1, 2 };
	struct tree a = { .n = 0 }, b = { .n = 0 }, other = { .n = 0 };
	uint32_t i;

	add_workers(&a, false, 1000);
	add_workers(&b, false, 2000);
	add_workers(&other, false, 3000);
	for (i = 0; i < 3; i++)
		plays(&b, 2 - i, 2000, &other, i);
	is_match(&a, &b, by_name, "players of another tape count for nothing");

	b.nr_players = 0;
	b.lives[1].pid = 102;
	b.lives[2].start = 2000000000;
	plays(&b, 2, 1000000000, &a, 2);
	is_match(&a, &b, (const uint32_t []){ 0, 2, 1 }, "a PID is that of the task at that time");
	b.nr_players = 0;
	plays(&b, 2, 2000000000 - 1000, &a, 1);
	is_match(&a, &b, (const uint32_t []){ 0, 2, 1 }, "times of clocks may differ a little");
}

/* The children of a player are matched with those of its task. */
TEST(players_children)
{
	static const uint32_t expected[] = { 1, 0, 2 };
	struct tree a = { .n = 0 }, b = { .n = 0 };

	add(&a, NONE, false, "sh");
	add(&a, NONE, false, "sh");
	add(&a, 0, false, "cc");
	add(&b, NONE, false, "sh");
	add(&b, NONE, false, "sh");
	add(&b, 1, false, "ld");
	plays(&b, 1, 10, &a, 0);
	is_match(&a, &b, expected, "children of a player match those of its task");
}

TEST_MAIN
