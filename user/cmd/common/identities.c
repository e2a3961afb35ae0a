// SPDX-License-Identifier: GPL-2.0-only
/*
 * The identity of each PID at the current position of the tape.
 */
#include "common/identities.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "base/error.h"
#include "tape/events.h"
#include "tape/meta.h"

#define LEAF_BITS	10
#define LEAF_SIZE	(1U << LEAF_BITS)
#define NR_LEAVES	(1U << (STAPE_PID_BITS - LEAF_BITS))

/* @sure: the identity of the PID's first task is known, or the tape has its fork. */
struct leaf {
	struct identity tasks[LEAF_SIZE];
	bool sure[LEAF_SIZE];
};

/**
 * struct identities - identities by PID
 * @leaves: a table of two levels, because PIDs have at most 22 bits and cluster
 * @tasks: the tape's @nr_tasks descriptions
 * @nr_tasks: number of descriptions
 * @taken: number of descriptions that have been applied
 * @pipe: the tape, if more descriptions may come while it is read
 */
struct identities {
	struct leaf *leaves[NR_LEAVES];
	const struct schedtape_task_info *tasks;
	size_t nr_tasks;
	size_t taken;
	struct schedtape_tape *pipe;
};

static const struct identity unknown = {
	.prio = IDENTITY_NO_PRIO, .policy = IDENTITY_NO_POLICY, .cpu = STAPE_CPU_NONE,
};

static struct leaf *new_leaf(void)
{
	struct leaf *leaf = calloc(1, sizeof(*leaf));
	size_t i;

	for (i = 0; leaf && i < LEAF_SIZE; i++)
		leaf->tasks[i] = unknown;
	return leaf;
}

/* Returns the identity of a PID, to be changed; NULL: out of memory.  @pid: a valid one */
static struct identity *identity_of(struct identities *ids, uint32_t pid, bool **sure)
{
	struct leaf **leaf = &ids->leaves[pid >> LEAF_BITS];
	uint32_t at = pid & (LEAF_SIZE - 1);

	if (!*leaf)
		*leaf = new_leaf();
	if (!*leaf)
		return NULL;
	if (sure)
		*sure = &(*leaf)->sure[at];
	return &(*leaf)->tasks[at];
}

static int set(struct identities *ids, uint32_t pid, const struct identity *task)
{
	struct identity *to;

	if (pid > STAPE_PID_MASK)
		return 0;
	to = identity_of(ids, pid, NULL);
	if (!to)
		return -ENOMEM;
	memmove(to, task, sizeof(*to));
	return 0;
}

/* Sets the identity of a PID's first task, once.  @task: &unknown: it stays unknown. */
static int set_first(struct identities *ids, uint32_t pid, const struct identity *task)
{
	struct identity *to;
	bool *sure;

	if (pid > STAPE_PID_MASK)
		return 0;
	to = identity_of(ids, pid, &sure);
	if (!to)
		return -ENOMEM;
	if (*sure)
		return 0;
	*sure = true;
	return task == &unknown ? 0 : set(ids, pid, task);
}

static void name(struct identity *task, const char *comm)
{
	memcpy(task->comm, comm, STAPE_COMM_LEN);
	task->comm[STAPE_COMM_LEN - 1] = '\0';
	text_name(task->name, task->comm);
	task->name_len = strlen(task->name);
	task->quoted = strpbrk(task->name, "\"\\");
}

static int rename_task(struct identities *ids, uint32_t pid, const char *comm)
{
	struct identity task = *identities_get(ids, pid);

	name(&task, comm);
	return set(ids, pid, &task);
}

/* Returns the kernel's priority of a task that no waiter boosts. */
static int32_t usual_prio(const struct schedtape_task_info *info)
{
	if (info->policy == SCHED_DEADLINE)
		return -1;
	if (info->rt_priority)
		return 99 - (int32_t)info->rt_priority;
	return 120 + info->nice;
}

static struct identity described_by_info(const struct schedtape_task_info *info)
{
	struct identity task = {
		.tgid = info->tgid, .cgroup = info->cgroup, .cpu = info->cpu,
		.prio = usual_prio(info), .policy = info->policy, .start_time = info->start_time,
	};

	name(&task, info->comm);
	return task;
}

static struct identity described_by_event(const struct schedtape_event *ev)
{
	struct identity task = {
		.tgid = ev->tgid, .cgroup = ev->cgroup, .cpu = ev->task_cpu, .prio = ev->prio,
		.boosted = ev->boosted, .policy = ev->policy, .start_time = ev->start_time,
	};

	name(&task, ev->comm);
	return task;
}

/* A child begins as its parent is.  The tape may not know the parent. */
static struct identity forked_by(const struct identities *ids, const struct schedtape_event *ev)
{
	struct identity task = *identities_get(ids, ev->curr);

	if (!(ev->arg & STAPE_FORK_THREAD))
		task.tgid = ev->pid;
	/* SCHED_DEADLINE is not inherited: such tasks can fork only with reset-on-fork. */
	if (task.policy == SCHED_DEADLINE)
		task.policy = SCHED_OTHER;
	task.start_time = 0;
	return task;
}

/* Applies descriptions that are older than @before.  @take: set() or set_first(). */
static int take_tasks(struct identities *ids, uint64_t before,
		      int (*take)(struct identities *ids, uint32_t pid,
				  const struct identity *task))
{
	const struct schedtape_task_info *info;
	struct identity task;
	int rc = 0;

	for (; ids->taken < ids->nr_tasks && !rc; ids->taken++) {
		info = &ids->tasks[ids->taken];
		if (info->time >= before)
			break;
		task = described_by_info(info);
		rc = take(ids, info->pid, &task);
	}
	return rc;
}

/* Sets all first identities.  Corrupt pages are reported when the tape is read again. */
static int scan(struct identities *ids, struct schedtape_tape *tape, struct schedtape_error *err)
{
	const struct schedtape_event *ev;
	struct identity task;
	int rc, ret = 0;

	while (!ret && (rc = tape_next_event(tape, &ev, err))) {
		if (rc == -EBADMSG)
			continue;
		if (rc < 0)
			return rc;
		ret = take_tasks(ids, ev->time, set_first);
		if (ev->type == STAPE_EV_FORK && !ret) {
			ret = set_first(ids, ev->pid, &unknown);
		} else if (ev->type == STAPE_EV_TASK && !ret) {
			task = described_by_event(ev);
			ret = set_first(ids, ev->pid, &task);
		}
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

int identities_new(struct schedtape_tape *tape, struct identities **result,
		   struct schedtape_error *err)
{
	struct identities *ids = calloc(1, sizeof(*ids));
	int rc = 0;

	*result = NULL;
	if (!ids)
		return schedtape_fail(err, -ENOMEM, "not enough memory");
	ids->tasks = schedtape_tape_tasks(tape, &ids->nr_tasks);
	if (schedtape_tape_is_pipe(tape))
		ids->pipe = tape;
	else if (misses_something(tape))
		rc = scan(ids, tape, err);
	if (!rc && take_tasks(ids, UINT64_MAX, set_first))
		rc = schedtape_fail(err, -ENOMEM, "not enough memory");
	ids->taken = 0;
	if (rc)
		identities_free(ids);
	else
		*result = ids;
	return rc;
}

void identities_free(struct identities *ids)
{
	size_t i;

	if (!ids)
		return;
	for (i = 0; i < NR_LEAVES; i++)
		free(ids->leaves[i]);
	free(ids);
}

const struct identity *identities_get(const struct identities *ids, uint32_t pid)
{
	const struct leaf *leaf;

	if (pid > STAPE_PID_MASK)
		return &unknown;
	leaf = ids->leaves[pid >> LEAF_BITS];
	return leaf ? &leaf->tasks[pid & (LEAF_SIZE - 1)] : &unknown;
}

static int set_prio(struct identities *ids, const struct schedtape_event *ev)
{
	struct identity task = *identities_get(ids, ev->pid);

	task.prio = ev->prio;
	task.policy = ev->policy;
	task.boosted = ev->boosted;
	return set(ids, ev->pid, &task);
}

/* A thread that calls execve() gets the PID and the start time of its process. */
static int take_over(struct identities *ids, const struct schedtape_event *ev)
{
	struct identity task = *identities_get(ids, ev->old_pid);

	task.start_time = identities_get(ids, ev->pid)->start_time;
	return set(ids, ev->pid, &task);
}

/* Notes where a task is, if anything is known of it. */
static void move(struct identities *ids, uint32_t pid, uint32_t cpu)
{
	struct leaf *leaf = pid && pid <= STAPE_PID_MASK ? ids->leaves[pid >> LEAF_BITS] : NULL;

	if (leaf)
		leaf->tasks[pid & (LEAF_SIZE - 1)].cpu = cpu;
}

/* Follows an event that may change more than the place of a task. */
static int follow_description(struct identities *ids, const struct schedtape_event *ev)
{
	struct identity task;

	switch (ev->type) {
	case STAPE_EV_FORK:
		task = forked_by(ids, ev);
		return set(ids, ev->pid, &task);
	case STAPE_EV_EXEC:
		return ev->old_pid && ev->old_pid != ev->pid ? take_over(ids, ev) : 0;
	case STAPE_EV_RENAME:
		return rename_task(ids, ev->pid, ev->comm);
	case STAPE_EV_PRIO:
		return set_prio(ids, ev);
	case STAPE_EV_TASK:
		task = described_by_event(ev);
		return set(ids, ev->pid, &task);
	}
	return 0;
}

int identities_reach(struct identities *ids, uint64_t time)
{
	if (ids->pipe)
		ids->tasks = schedtape_tape_tasks(ids->pipe, &ids->nr_tasks);
	return ids->taken < ids->nr_tasks ? take_tasks(ids, time, set) : 0;
}

int identities_follow(struct identities *ids, const struct schedtape_event *ev)
{
	if (identities_reach(ids, ev->time))
		return -ENOMEM;
	switch (ev->type) {
	case STAPE_EV_SWITCH:
		move(ids, ev->pid, ev->cpu);
		return 0;
	case STAPE_EV_WAKING:
		return 0;
	case STAPE_EV_WAKEUP:
	case STAPE_EV_WAKEUP_NEW:
	case STAPE_EV_MIGRATE:
		move(ids, ev->pid, ev->arg);
		return 0;
	}
	return follow_description(ids, ev);
}
