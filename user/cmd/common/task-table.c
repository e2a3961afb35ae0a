// SPDX-License-Identifier: GPL-2.0-only
#include "common/task-table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Adds a task, and numbers it.  @process: number of its leader; SCHEDTAPE_NONE: itself */
static int add(struct task_table *table, struct identity *task, uint32_t process)
{
	uint32_t room = table->room ? 2 * table->room : 64;
	struct task_entry *tasks;

	if (table->nr == table->room) {
		tasks = reallocarray(table->tasks, room, sizeof(*tasks));
		if (!tasks)
			return -ENOMEM;
		table->tasks = tasks;
		table->room = room;
	}
	table->tasks[table->nr] = (struct task_entry){
		.process = process == SCHEDTAPE_NONE ? table->nr : process, .order = table->nr,
	};
	task->number = ++table->nr;
	return 0;
}

uint32_t task_table_start(struct task_table *table, uint32_t pid, struct identity *task)
{
	struct identity *leader;
	uint32_t process = SCHEDTAPE_NONE;

	/* Leaders come before their threads. */
	leader = identities_leader(table->identities, pid);
	if (leader != task) {
		if (!leader->number && add(table, leader, SCHEDTAPE_NONE))
			return SCHEDTAPE_NONE;
		process = leader->number - 1;
	}
	return add(table, task, process) ? SCHEDTAPE_NONE : task->number - 1;
}

/* Takes what is known of a task that is over. */
static void describe(void *arg, uint32_t pid, const struct identity *task)
{
	struct task_table *table = arg;
	struct task_entry *entry;

	if (!task->number)
		return;
	entry = &table->tasks[task->number - 1];
	entry->pid = pid;
	entry->tgid = task->tgid ? task->tgid : pid;
	entry->ns_pid = task->ns_pid;
	entry->cgroup = task->cgroup;
	entry->policy = task->policy;
	memcpy(entry->comm, task->comm, sizeof(entry->comm));
}

static int number(struct task_table *table, uint32_t pid)
{
	return task_table_find(table, pid) == SCHEDTAPE_NONE ? -ENOMEM : 0;
}

static int on_exec(struct task_table *table, const struct schedtape_event *ev)
{
	uint32_t task;

	if (!ev->old_pid || ev->old_pid == ev->pid)
		return 0;
	task = task_table_find(table, ev->pid);
	if (task == SCHEDTAPE_NONE)
		return -ENOMEM;
	table->tasks[task].process = task;
	table->tasks[task].took_pid = true;
	return 0;
}

/* Numbers the tasks that an event brings. */
static int number_new(struct task_table *table, const struct schedtape_event *ev)
{
	int ret;

	switch (ev->type) {
	case STAPE_EV_FORK:
		ret = ev->curr ? number(table, ev->curr) : 0;
		return ret ? ret : number(table, ev->pid);
	case STAPE_EV_TASK:
		return schedtape_task_why(ev) == STAPE_TASK_ENTERS ? number(table, ev->pid) : 0;
	case STAPE_EV_EXEC:
		return on_exec(table, ev);
	}
	return 0;
}

int task_table_follow_description(struct task_table *table, const struct schedtape_event *ev)
{
	int ret = identities_follow(table->identities, ev);

	return ret || !ev->pid ? ret : number_new(table, ev);
}

int task_table_begin(struct task_table *table, struct schedtape_tape *tape,
		     struct schedtape_error *err)
{
	int ret;

	memset(table, 0, sizeof(*table));
	ret = identities_new(tape, &table->identities, err);
	if (!ret)
		identities_watch(table->identities, describe, table);
	return ret;
}

/* A thread may be known by its fork only, without a description of its leader's PID. */
static void take_tgids(struct task_table *table)
{
	struct task_entry *tasks = table->tasks;
	uint32_t i;

	for (i = 0; i < table->nr; i++)
		if (tasks[i].process != i)
			tasks[i].tgid = tasks[tasks[i].process].pid;
}

int task_table_end(struct task_table *table, struct schedtape_tape *tape)
{
	const struct schedtape_task_info *infos;
	size_t i, n;
	int ret;

	infos = schedtape_tape_tasks(tape, &n);
	ret = identities_reach(table->identities, UINT64_MAX);
	for (i = 0; i < n && !ret; i++)
		if (identities_is_new(table->identities, infos[i].pid))
			ret = number(table, infos[i].pid);
	if (!ret)
		ret = identities_end(table->identities);
	if (!ret)
		take_tgids(table);
	return ret;
}

void task_table_free(struct task_table *table)
{
	free(table->tasks);
	identities_free(table->identities);
}
