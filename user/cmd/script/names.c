// SPDX-License-Identifier: GPL-2.0-only
/*
 * The name of each PID at the current position of the tape.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "base/error.h"
#include "script/names.h"
#include "tape/meta.h"

#define LEAF_BITS	10
#define LEAF_SIZE	(1U << LEAF_BITS)
#define NR_LEAVES	(1U << (STAPE_PID_BITS - LEAF_BITS))

/* @sure: the name of the PID's first task is known, or the tape has its fork. */
struct leaf {
	char comm[LEAF_SIZE][STAPE_COMM_LEN];
	bool sure[LEAF_SIZE];
};

/**
 * struct names - names by PID
 * @leaves: a table of two levels, because PIDs have at most 22 bits and cluster
 * @tasks: the tape's @nr_tasks descriptions
 * @nr_tasks: number of descriptions
 * @taken: number of descriptions that have been applied
 */
struct names {
	struct leaf *leaves[NR_LEAVES];
	const struct schedtape_task_info *tasks;
	size_t nr_tasks;
	size_t taken;
};

static struct leaf *leaf_of(struct names *names, uint32_t pid)
{
	struct leaf **leaf = &names->leaves[pid >> LEAF_BITS];

	if (!*leaf)
		*leaf = calloc(1, sizeof(**leaf));
	return *leaf;
}

static int set(struct names *names, uint32_t pid, const char *comm)
{
	struct leaf *leaf;
	char *to;

	if (pid > STAPE_PID_MASK)
		return 0;
	leaf = leaf_of(names, pid);
	if (!leaf)
		return -ENOMEM;
	to = leaf->comm[pid & (LEAF_SIZE - 1)];
	memmove(to, comm, STAPE_COMM_LEN);
	to[STAPE_COMM_LEN - 1] = '\0';
	return 0;
}

/* Sets the name of a PID's first task, once.  @comm: NULL: the name stays unknown. */
static int set_first(struct names *names, uint32_t pid, const char *comm)
{
	struct leaf *leaf;
	bool *sure;

	if (pid > STAPE_PID_MASK)
		return 0;
	leaf = leaf_of(names, pid);
	if (!leaf)
		return -ENOMEM;
	sure = &leaf->sure[pid & (LEAF_SIZE - 1)];
	if (*sure)
		return 0;
	*sure = true;
	return comm ? set(names, pid, comm) : 0;
}

/* Applies descriptions that are older than @before.  @take: set() or set_first(). */
static int take_tasks(struct names *names, uint64_t before,
		      int (*take)(struct names *names, uint32_t pid, const char *comm))
{
	const struct schedtape_task_info *task;
	int rc = 0;

	for (; names->taken < names->nr_tasks && !rc; names->taken++) {
		task = &names->tasks[names->taken];
		if (task->time >= before)
			break;
		rc = take(names, task->pid, task->comm);
	}
	return rc;
}

/* Sets all first names.  Corrupt pages are reported when the tape is read again. */
static int scan(struct names *names, struct schedtape_tape *tape, struct schedtape_error *err)
{
	struct schedtape_event ev;
	int rc, ret = 0;

	while (!ret && (rc = schedtape_tape_next(tape, &ev, err))) {
		if (rc == -EBADMSG)
			continue;
		if (rc < 0)
			return rc;
		ret = take_tasks(names, ev.time, set_first);
		if (ev.type == STAPE_EV_FORK && !ret)
			ret = set_first(names, ev.pid, NULL);
		else if (ev.type == STAPE_EV_TASK && !ret)
			ret = set_first(names, ev.pid, ev.comm);
	}
	return ret ? schedtape_fail(err, ret, "not enough memory for the names of the tasks") :
		     schedtape_tape_rewind(tape, err);
}

static bool misses_something(struct schedtape_tape *tape)
{
	const struct schedtape_end *end = schedtape_tape_end(tape);
	struct json_object *overwrite;
	size_t i;

	/* In overwrite mode, tasks are described at the end, and only those alive then. */
	if (json_object_object_get_ex(tape_meta(tape), "overwrite", &overwrite) &&
	    json_object_get_boolean(overwrite))
		return true;
	for (i = 0; i < end->nr_cpus; i++)
		if (end->cpus[i].lost || end->cpus[i].overwritten)
			return true;
	return schedtape_tape_damage(tape);
}

int names_new(struct schedtape_tape *tape, struct names **result, struct schedtape_error *err)
{
	struct names *names = calloc(1, sizeof(*names));
	int rc = 0;

	*result = NULL;
	if (!names)
		return schedtape_fail(err, -ENOMEM, "not enough memory");
	names->tasks = schedtape_tape_tasks(tape, &names->nr_tasks);
	if (misses_something(tape))
		rc = scan(names, tape, err);
	if (!rc && take_tasks(names, UINT64_MAX, set_first))
		rc = schedtape_fail(err, -ENOMEM, "not enough memory");
	names->taken = 0;
	if (rc)
		names_free(names);
	else
		*result = names;
	return rc;
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
	int rc = take_tasks(names, ev->time, set);

	if (rc)
		return rc;
	switch (ev->type) {
	case STAPE_EV_FORK:
		return set(names, ev->pid, names_get(names, ev->curr));
	case STAPE_EV_EXEC:
		if (ev->old_pid && ev->old_pid != ev->pid)
			return set(names, ev->pid, names_get(names, ev->old_pid));
		return 0;
	case STAPE_EV_RENAME:
	case STAPE_EV_TASK:
		return set(names, ev->pid, ev->comm);
	}
	return 0;
}
