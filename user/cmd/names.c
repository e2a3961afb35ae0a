// SPDX-License-Identifier: GPL-2.0-only
/*
 * The name that each PID has at a point of the tape.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "names.h"

#define LEAF_BITS	10
#define LEAF_SIZE	(1U << LEAF_BITS)
#define NR_LEAVES	(1U << (STAPE_PID_BITS - LEAF_BITS))

struct leaf {
	char comm[LEAF_SIZE][STAPE_COMM_LEN];
};

/* PIDs are at most 22 bits and cluster: a table of two levels. */
struct names {
	struct leaf *leaves[NR_LEAVES];
};

static int set(struct names *names, uint32_t pid, const char *comm)
{
	struct leaf **leaf;
	char *to;

	if (pid > STAPE_PID_MASK)
		return 0;
	leaf = &names->leaves[pid >> LEAF_BITS];
	if (!*leaf)
		*leaf = calloc(1, sizeof(**leaf));
	if (!*leaf)
		return -ENOMEM;
	to = (*leaf)->comm[pid & (LEAF_SIZE - 1)];
	memmove(to, comm, STAPE_COMM_LEN);
	to[STAPE_COMM_LEN - 1] = '\0';
	return 0;
}

struct names *names_new(const struct schedtape_task *tasks, size_t n)
{
	struct names *names = calloc(1, sizeof(*names));
	size_t i;

	for (i = 0; names && i < n; i++) {
		if (set(names, tasks[i].pid, tasks[i].comm)) {
			names_free(names);
			return NULL;
		}
	}
	return names;
}

void names_free(struct names *names)
{
	size_t i;

	if (!names)
		return;
	for (i = 0; i < NR_LEAVES; i++)
		free(names->leaves[i]);
	free(names);
}

const char *names_get(const struct names *names, uint32_t pid)
{
	static const char unknown[STAPE_COMM_LEN];
	const struct leaf *leaf;

	if (pid > STAPE_PID_MASK)
		return unknown;
	leaf = names->leaves[pid >> LEAF_BITS];
	return leaf ? leaf->comm[pid & (LEAF_SIZE - 1)] : unknown;
}

int names_follow(struct names *names, const struct schedtape_event *ev)
{
	switch (ev->type) {
	case STAPE_EV_FORK:
		return set(names, ev->pid, names_get(names, ev->curr));
	case STAPE_EV_EXEC:
		if (ev->old_pid && ev->old_pid != ev->pid)
			return set(names, ev->pid, names_get(names, ev->old_pid));
		return 0;
	case STAPE_EV_RENAME:
		return set(names, ev->pid, ev->comm);
	}
	return 0;
}
