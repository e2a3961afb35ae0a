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
	uint32_t a_to_b[MOST], b_to_a[MOST], i;

	if (schedtape_match(a->lives, a->n, b->lives, b->n, a_to_b, b_to_a))
		abort();
	if (!ok(!memcmp(a_to_b, expected, a->n * sizeof(*expected)), "%s", what))
		for (i = 0; i < a->n; i++)
			printf("# %u is %d, not %d\n", i, (int)a_to_b[i], (int)expected[i]);
}

/* The first child has the second one's name. */
static void test_as_many(void)
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

static void test_more(void)
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

static void test_threads(void)
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
static void test_launcher(void)
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

int main(void)
{
	test_as_many();
	test_more();
	test_threads();
	test_launcher();
	return tap_done();
}
