// SPDX-License-Identifier: GPL-2.0-only
#include "common/past-tasks.h"

#include <errno.h>
#include <sched.h>
#include <search.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "tape/events.h"

/**
 * struct past_task - a task
 * @info: its @time is not used, and its @affinity is this entry's memory
 * @ended: when it ended or left the filter, by the session's clock; 0: it has not
 * @marked: see past_tasks_mark()
 */
struct past_task {
	struct schedtape_task_info info;
	uint64_t ended;
	bool marked;
};

/* -- the tree ---------------------------------------------------------------- */

static int compare(const void *a, const void *b)
{
	const struct past_task *left = a, *right = b;

	return (left->info.pid > right->info.pid) - (left->info.pid < right->info.pid);
}

static struct past_task *find(const struct past_tasks *tasks, uint32_t pid)
{
	struct past_task key = { .info.pid = pid }, **at;

	at = tfind(&key, &tasks->tree, compare);
	return at ? *at : NULL;
}

static void release(void *task)
{
	free((void *)((struct past_task *)task)->info.affinity);
	free(task);
}

static void drop(struct past_tasks *tasks, struct past_task *task)
{
	tdelete(task, &tasks->tree, compare);
	tasks->nr--;
	tasks->dead -= task->ended != 0;
	release(task);
}

static struct past_task *add(struct past_tasks *tasks, uint32_t pid)
{
	struct past_task *task = calloc(1, sizeof(*task));

	if (!task)
		return NULL;
	task->info.pid = pid;
	if (!tsearch(task, &tasks->tree, compare)) {
		free(task);
		return NULL;
	}
	tasks->nr++;
	return task;
}

/* Returns the task of a PID, which is alive again if it had ended; a new one if there is none. */
static struct past_task *get(struct past_tasks *tasks, uint32_t pid)
{
	struct past_task *task = find(tasks, pid);

	if (!task)
		return add(tasks, pid);
	tasks->dead -= task->ended != 0;
	task->ended = 0;
	return task;
}

/* Returns a task that has not ended, or NULL. */
static struct past_task *find_alive(const struct past_tasks *tasks, uint32_t pid)
{
	struct past_task *task = find(tasks, pid);

	return task && !task->ended ? task : NULL;
}

static void end(struct past_tasks *tasks, struct past_task *task, uint64_t time)
{
	if (!task || task->ended)
		return;
	task->ended = time ? time : 1;
	tasks->dead++;
}

/* -- attributes -------------------------------------------------------------- */

static int set_affinity(struct past_task *task, const unsigned char *affinity, uint32_t bytes)
{
	unsigned char *copy = NULL;

	while (bytes && !affinity[bytes - 1])
		bytes--;
	if (bytes) {
		copy = malloc(bytes);
		if (!copy)
			return -ENOMEM;
		memcpy(copy, affinity, bytes);
	}
	free((void *)task->info.affinity);
	task->info.affinity = copy;
	task->info.affinity_bytes = bytes;
	return 0;
}

/* Replaces all but the affinity. */
static void replace(struct past_task *task, const struct schedtape_task_info *info)
{
	const unsigned char *affinity = task->info.affinity;
	uint32_t bytes = task->info.affinity_bytes;

	task->info = *info;
	task->info.affinity = affinity;
	task->info.affinity_bytes = bytes;
}

/* -- descriptions ------------------------------------------------------------ */

static int describe(struct past_tasks *tasks, const struct schedtape_event *ev)
{
	struct schedtape_task_info info = tape_described(ev);
	struct past_task *task = get(tasks, ev->pid);
	uint64_t why = schedtape_task_why(ev);
	bool same;

	if (!task)
		return -ENOMEM;
	same = !task->info.start_time || task->info.start_time == ev->start_time;
	replace(task, &info);
	if (why == STAPE_TASK_EXITS || why == STAPE_TASK_LEAVES)
		end(tasks, task, ev->time);
	return same ? 0 : set_affinity(task, NULL, 0);
}

/* Returns the PID of a task's parent; 0: that has ended, and the next one is not known. */
static uint32_t parent_of(const struct past_tasks *tasks, const struct past_task *task)
{
	const struct past_task *parent = find(tasks, task->info.ppid);

	return parent && parent->ended ? 0 : task->info.ppid;
}

/* A child has what its parent has; what differs is described after the fork. */
static int inherit(struct past_tasks *tasks, const struct schedtape_event *ev)
{
	bool thread = ev->arg & STAPE_FORK_THREAD;
	bool sibling = thread || ev->arg & STAPE_FORK_SIBLING;
	const struct past_task *parent = find(tasks, ev->curr);
	struct past_task *child;
	uint32_t ppid;

	/* Then it was listed after its fork, so more is known of it than its parent tells. */
	if (find_alive(tasks, ev->pid))
		return 0;
	child = get(tasks, ev->pid);
	if (!child)
		return -ENOMEM;
	if (!parent) {
		replace(child, &(struct schedtape_task_info){ .pid = ev->pid, .tgid = ev->pid });
		return set_affinity(child, NULL, 0);
	}
	ppid = sibling ? parent_of(tasks, parent) : parent->info.tgid;
	replace(child, &parent->info);
	child->info.pid = ev->pid;
	child->info.tgid = thread ? parent->info.tgid : ev->pid;
	child->info.ppid = ppid;
	child->info.ns_pid = 0;
	child->info.start_time = 0;
	/* Such a task can fork only if its children do not have its policy. */
	if (parent->info.policy == SCHED_DEADLINE) {
		child->info.policy = SCHED_OTHER;
		memset(&child->info.dl, 0, sizeof(child->info.dl));
	}
	return set_affinity(child, parent->info.affinity, parent->info.affinity_bytes);
}

/* A thread goes on as the leader of its process, with the leader's PID. */
static int take_over(struct past_tasks *tasks, const struct schedtape_event *ev)
{
	struct past_task *thread = ev->old_pid == ev->pid ? NULL : find(tasks, ev->old_pid);
	struct past_task *task;
	uint64_t start_time;
	uint32_t ns_pid;

	if (!thread)
		return 0;
	task = get(tasks, ev->pid);
	if (!task)
		return -ENOMEM;
	/* The kernel gives it these of the leader as well. */
	start_time = task->info.start_time;
	ns_pid = task->info.ns_pid;
	replace(task, &thread->info);
	task->info.pid = ev->pid;
	task->info.tgid = ev->pid;
	task->info.start_time = start_time;
	task->info.ns_pid = ns_pid;
	if (set_affinity(task, thread->info.affinity, thread->info.affinity_bytes))
		return -ENOMEM;
	drop(tasks, thread);
	return 0;
}

static void set_prio(struct past_task *task, const struct schedtape_event *ev)
{
	task->info.policy = ev->policy;
	task->info.nice = (int)ev->nice;
	task->info.rt_priority = ev->rt_priority;
	task->info.dl = ev->dl;
}

int past_tasks_event(struct past_tasks *tasks, const struct schedtape_event *ev)
{
	struct past_task *task;

	switch (ev->type) {
	case STAPE_EV_TASK:
		return describe(tasks, ev);
	case STAPE_EV_FORK:
		return inherit(tasks, ev);
	case STAPE_EV_EXEC:
		return take_over(tasks, ev);
	}
	task = find_alive(tasks, ev->pid);
	if (!task)
		return 0;
	switch (ev->type) {
	case STAPE_EV_RENAME:
		memcpy(task->info.comm, ev->comm, sizeof(task->info.comm));
		break;
	case STAPE_EV_PRIO:
		set_prio(task, ev);
		break;
	case SCHEDTAPE_EV_AFFINITY:
		return set_affinity(task, ev->affinity, sizeof(ev->affinity));
	case STAPE_EV_EXIT:
		end(tasks, task, ev->time);
		break;
	}
	return 0;
}

/* -- all tasks --------------------------------------------------------------- */

int past_tasks_meet(struct past_tasks *tasks, const struct schedtape_task_info *info)
{
	struct past_task *task = find_alive(tasks, info->pid);

	/* What is known of it is from earlier, which is what is asked for. */
	if (task && (!task->info.start_time || task->info.start_time == info->start_time)) {
		task->marked = false;
		return 0;
	}
	task = get(tasks, info->pid);
	if (!task)
		return -ENOMEM;
	task->marked = false;
	replace(task, info);
	return set_affinity(task, info->affinity, info->affinity_bytes);
}

/**
 * struct list - some of the tasks
 * @time: by the session's clock
 * @ended: those that ended before @time; else all others
 * @tasks: @n of them
 */
struct list {
	uint64_t time;
	bool ended;
	struct past_task **tasks;
	size_t n;
};

static void collect(const void *node, VISIT visit, void *arg)
{
	struct past_task *task = *(struct past_task * const *)node;
	struct list *list = arg;

	if (visit != postorder && visit != leaf)
		return;
	if ((task->ended && task->ended < list->time) == list->ended)
		list->tasks[list->n++] = task;
}

/* Returns false if there is no memory.  The caller frees list->tasks. */
static bool list_tasks(const struct past_tasks *tasks, struct list *list)
{
	list->tasks = malloc(tasks->nr * sizeof(*list->tasks) + 1);
	if (!list->tasks)
		return false;
	twalk_r(tasks->tree, collect, list);
	return true;
}

void past_tasks_forget(struct past_tasks *tasks, uint64_t time)
{
	struct list list = { .time = time, .ended = true };

	/* A walk through the table is paid for by the tasks that have ended since the last one. */
	if (tasks->dead < 64 || tasks->dead < tasks->nr / 4 || !list_tasks(tasks, &list))
		return;
	while (list.n)
		drop(tasks, list.tasks[--list.n]);
	free(list.tasks);
}

struct schedtape_task_info *past_tasks_list(const struct past_tasks *tasks, uint64_t since,
					    uint64_t time, size_t *n)
{
	struct list list = { .time = since };
	struct schedtape_task_info *infos;
	size_t i;

	if (!list_tasks(tasks, &list))
		return NULL;
	infos = malloc(list.n * sizeof(*infos) + 1);
	for (i = 0; i < list.n && infos; i++) {
		infos[i] = list.tasks[i]->info;
		infos[i].time = time;
		if (time) {
			infos[i].state = STAPE_STATE_SLEEPING;
			infos[i].cpu_time = 0;
		}
		if (list.tasks[i]->ended)
			infos[i].state = STAPE_STATE_DEAD;
	}
	*n = list.n;
	free(list.tasks);
	return infos;
}

static void mark(const void *node, VISIT visit, void *arg)
{
	struct past_task *task = *(struct past_task * const *)node;

	(void)arg;
	if (visit == postorder || visit == leaf)
		task->marked = true;
}

void past_tasks_mark(struct past_tasks *tasks)
{
	twalk_r(tasks->tree, mark, NULL);
}

/**
 * struct ending - what end_marked() needs
 */
struct ending {
	struct past_tasks *tasks;
	uint64_t time;
};

static void end_marked(const void *node, VISIT visit, void *arg)
{
	struct past_task *task = *(struct past_task * const *)node;
	const struct ending *ending = arg;

	if ((visit == postorder || visit == leaf) && task->marked)
		end(ending->tasks, task, ending->time);
}

void past_tasks_end_marked(struct past_tasks *tasks, uint64_t time)
{
	struct ending ending = { tasks, time };

	twalk_r(tasks->tree, end_marked, &ending);
}

void past_tasks_free(struct past_tasks *tasks)
{
	tdestroy(tasks->tree, release);
	*tasks = (struct past_tasks){ 0 };
}
