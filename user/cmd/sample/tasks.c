// SPDX-License-Identifier: GPL-2.0-only
#include "sample/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/first-line.h"
#include "base/list.h"
#include "common/output.h"

/* Reading the clock of a process makes the kernel account what its threads use at this moment. */
static int account(pid_t pid, void *arg)
{
	struct timespec time;
	clockid_t clock;

	(void)arg;
	if (!clock_getcpuclockid(pid, &clock))
		clock_gettime(clock, &time);
	return 0;
}

void tasks_account(const struct workload *workload)
{
	workload_each(workload, "cgroup.procs", account, NULL);
}

static int by_tid(const void *key, const void *entry)
{
	uint32_t a = *(const uint32_t *)key, b = ((const struct sample_task *)entry)->tid;

	return a < b ? -1 : a > b;
}

static int in_order(const void *a, const void *b)
{
	return by_tid(&((const struct sample_task *)a)->tid, b);
}

/* Returns the CPU time of a thread, ns; 0: it has ended. */
static uint64_t time_of(pid_t tid)
{
	char path[32], line[64];

	snprintf(path, sizeof(path), "/proc/%d/schedstat", tid);
	return first_line_read(path, line, sizeof(line)) ? strtoull(line, NULL, 10) : 0;
}

/* The name may have changed, by an exec for example. */
static void take_name(struct sample_task *task)
{
	char path[32], name[sizeof(task->name)];

	snprintf(path, sizeof(path), "/proc/%u/comm", task->tid);
	if (first_line_read(path, name, sizeof(name)))
		memcpy(task->name, name, sizeof(name));
}

/**
 * struct reading - a reading of all tasks
 * @known: so many of the tasks were there before, sorted by TID
 */
struct reading {
	struct sample_tasks *tasks;
	size_t known;
};

static int read_one(pid_t tid, void *arg)
{
	struct reading *reading = arg;
	struct sample_tasks *tasks = reading->tasks;
	struct sample_task *task, *list;
	uint32_t key = tid;
	uint64_t time = time_of(tid);

	task = reading->known ? bsearch(&key, tasks->tasks, reading->known, sizeof(*task), by_tid) :
				NULL;
	/* Another task has its TID now. */
	if (task && time < task->time)
		task->time = 0;
	if (!task) {
		list = schedtape_list_grow(tasks->tasks, tasks->nr, &tasks->capacity,
					   sizeof(*list));
		if (!list)
			return -ENOMEM;
		tasks->tasks = list;
		task = &list[tasks->nr++];
		*task = (struct sample_task){ .tid = tid };
	}
	task->before = task->time;
	task->time = time;
	task->seen = tasks->reading;
	if (time > task->before)
		take_name(task);
	return 0;
}

int tasks_read(struct sample_tasks *tasks, const struct workload *workload)
{
	struct reading reading = { tasks, tasks->nr };
	size_t i, n = 0;
	int ret;

	tasks->reading++;
	ret = workload_each(workload, "cgroup.threads", read_one, &reading);
	/* Drop the tasks that have ended. */
	for (i = 0; i < tasks->nr; i++)
		if (tasks->tasks[i].seen == tasks->reading)
			tasks->tasks[n++] = tasks->tasks[i];
	tasks->nr = n;
	if (n)
		qsort(tasks->tasks, n, sizeof(*tasks->tasks), in_order);
	return ret;
}

struct json_object *tasks_list(const struct sample_tasks *tasks)
{
	struct json_object *list = json_object_new_array(), *object;
	const struct sample_task *task;
	size_t i;

	for (i = 0; i < tasks->nr; i++) {
		task = &tasks->tasks[i];
		if (task->time == task->before)
			continue;
		object = json_object_new_object();
		out_json_add_count(object, "tid", task->tid);
		out_json_add_name(object, "name", task->name);
		out_json_add_count(object, "cpu_time_ns", task->time - task->before);
		json_object_array_add(list, object);
	}
	return list;
}

void tasks_free(struct sample_tasks *tasks)
{
	free(tasks->tasks);
	*tasks = (struct sample_tasks){ 0 };
}
