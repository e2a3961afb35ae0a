// SPDX-License-Identifier: GPL-2.0-only
#include "common/past.h"

#include <assert.h>
#include <errno.h>
#include <sched.h>
#include <search.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "tape/page.h"

#define SAMPLES		4096	/* at most: 11 hours, if there is one each 10 s */
#define BLOCK		((size_t)64)	/* pages that are written at once */

/* The @time of a task that past_tasks_mark() has marked. */
#define MARKED		UINT64_MAX

/**
 * struct past_task - a task
 * @info: its @affinity is this entry's memory; its @time is when the task ended or left the filter,
 *	by the session's clock; 0: it has not
 *
 * With its node of the tree and a mask of up to 192 CPUs a task takes 192 bytes of the heap.
 */
struct past_task {
	struct schedtape_task_info info;
};

static_assert(sizeof(struct past_task) <= 120, "as it is said above");

static bool has_ended(const struct past_task *task)
{
	return task->info.time && task->info.time != MARKED;
}

/* -- tasks: the tree ------------------------------------------------------- */

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
	tasks->dead -= has_ended(task);
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
	tasks->dead -= has_ended(task);
	task->info.time = 0;
	return task;
}

/* Returns a task that has not ended, or NULL. */
static struct past_task *find_alive(const struct past_tasks *tasks, uint32_t pid)
{
	struct past_task *task = find(tasks, pid);

	return task && !has_ended(task) ? task : NULL;
}

static void end(struct past_tasks *tasks, struct past_task *task, uint64_t time)
{
	if (!task || has_ended(task))
		return;
	task->info.time = time ? time : 1;
	tasks->dead++;
}

/* -- tasks: their attributes ----------------------------------------------- */

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

/* Replaces all but the affinity, and when it ended. */
static void replace(struct past_task *task, const struct schedtape_task_info *info)
{
	const unsigned char *affinity = task->info.affinity;
	uint32_t bytes = task->info.affinity_bytes;
	uint64_t ended = task->info.time;

	task->info = *info;
	task->info.time = ended;
	task->info.affinity = affinity;
	task->info.affinity_bytes = bytes;
}

/* -- tasks: their descriptions --------------------------------------------- */

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

	return parent && has_ended(parent) ? 0 : task->info.ppid;
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

/* Leads the table on with a description.  Others than descriptions change nothing. */
static int past_tasks_event(struct past_tasks *tasks, const struct schedtape_event *ev)
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

/* -- tasks: all of them ---------------------------------------------------- */

int past_tasks_meet(struct past_tasks *tasks, const struct schedtape_task_info *info)
{
	struct past_task *task = find_alive(tasks, info->pid);

	/* What is known of it is from earlier, which is what is asked for. */
	if (task && (!task->info.start_time || task->info.start_time == info->start_time)) {
		task->info.time = 0;
		return 0;
	}
	task = get(tasks, info->pid);
	if (!task)
		return -ENOMEM;
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
	if ((has_ended(task) && task->info.time < list->time) == list->ended)
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

/* Removes the tasks that had ended before @time, by the session's clock. */
static void past_tasks_forget(struct past_tasks *tasks, uint64_t time)
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
		if (has_ended(list.tasks[i]))
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
	if ((visit == postorder || visit == leaf) && !task->info.time)
		task->info.time = MARKED;
}

/*
 * For a list of all tasks that exist: marks all that have not ended.  past_tasks_meet() takes the
 * mark off each one in the list; those that are still marked then had ended.
 */
static void past_tasks_mark(struct past_tasks *tasks)
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

	if ((visit == postorder || visit == leaf) && task->info.time == MARKED)
		end(ending->tasks, task, ending->time);
}

/* Those that are still marked had ended at @time. */
static void past_tasks_end_marked(struct past_tasks *tasks, uint64_t time)
{
	struct ending ending = { tasks, time };

	twalk_r(tasks->tree, end_marked, &ending);
}

static void past_tasks_free(struct past_tasks *tasks)
{
	tdestroy(tasks->tree, release);
	*tasks = (struct past_tasks){ 0 };
}

/* -- the past -------------------------------------------------------------- */

struct past *past_new(size_t max_pages)
{
	struct past *past = calloc(1, sizeof(*past));

	if (!past)
		return NULL;
	past->max_pages = max_pages;
	past->pages = calloc(max_pages, sizeof(*past->pages));
	past->samples = calloc(SAMPLES, sizeof(*past->samples));
	if (past->pages && past->samples)
		return past;
	past_free(past);
	return NULL;
}

void past_free(struct past *past)
{
	if (!past)
		return;
	past_tasks_free(&past->tasks);
	while (past->nr_pages)
		free(past->pages[--past->nr_pages].data);
	free(past->pages);
	free(past->samples);
	free(past);
}

/* -- the past: clocks ------------------------------------------------------ */

/* The clocks are nearly even, so that every second sample does when there are many. */
static void thin_out(struct past *past)
{
	size_t i, n = 0;

	for (i = 0; i < past->nr_samples; i += 2)
		past->samples[n++] = past->samples[i];
	past->nr_samples = n;
}

void past_add_sample(struct past *past, const struct stape_clock_sample *sample)
{
	if (past->nr_samples == SAMPLES)
		thin_out(past);
	past->samples[past->nr_samples++] = *sample;
	past->second = (uint64_t)sample->khz * 1000;
}

static void forget_samples(struct past *past, uint64_t time)
{
	size_t i = 0;

	while (i + 1 < past->nr_samples && past->samples[i + 1].counter <= time)
		i++;
	past->nr_samples -= i;
	if (i)
		memmove(past->samples, past->samples + i,
			past->nr_samples * sizeof(*past->samples));
}

uint64_t past_sample_mono(const struct stape_clock_sample *sample, uint64_t time)
{
	double ticks = time < sample->counter ? -(double)(sample->counter - time) :
						(double)(time - sample->counter);
	/* kHz are ticks a ms. */
	double ns = ticks / sample->khz * 1e6;

	/* Of a corrupt sample or time: 1e18 ns are 31 years. */
	if (ns > 1e18)
		return UINT64_MAX;
	return ns < -1e18 || ns < -(double)sample->mono ? 0 : sample->mono + (int64_t)ns;
}

uint64_t past_mono(const struct past *past, uint64_t time)
{
	const struct stape_clock_sample *sample = past->samples;
	size_t i;

	if (!past->nr_samples)
		return time;
	/* The last one before @time, or the first one. */
	for (i = 1; i < past->nr_samples && past->samples[i].counter <= time; i++)
		sample = &past->samples[i];
	return past_sample_mono(sample, time);
}

uint64_t past_reach(const struct past *past)
{
	uint64_t from = past->from ? past_mono(past, past->from) : 0, now = schedtape_now();

	return from && now > from ? now - from : 0;
}

/* -- the past: descriptions ------------------------------------------------ */

int past_add_tasks(struct past *past, uint64_t time, const struct schedtape_task_info *tasks,
		   size_t n)
{
	int ret = 0;
	size_t i;

	past_tasks_mark(&past->tasks);
	for (i = 0; i < n && !ret; i++)
		ret = past_tasks_meet(&past->tasks, &tasks[i]);
	if (!ret)
		past_tasks_end_marked(&past->tasks, time);
	return ret;
}

/* Leads the tasks on with a page's events before @time that they do not know yet. */
static int lead_on(struct past *past, struct past_page *from, uint64_t time)
{
	struct schedtape_event ev;
	struct schedtape_page page;
	uint32_t n = 0;
	int ret = schedtape_page_open(&page, from->data, NULL);

	if (ret)
		return ret;
	while ((ret = schedtape_page_next(&page, &ev, NULL)) > 0 && ev.time < time) {
		if (n++ < from->known)
			continue;
		from->known = n;
		ret = schedtape_event_is_gap(&ev) ? 0 : past_tasks_event(&past->tasks, &ev);
		if (ret)
			return ret;
	}
	return ret < 0 ? ret : 0;
}

static const struct stape_page_header *header_of(const struct past *past, size_t i)
{
	return (const struct stape_page_header *)past->pages[i].data;
}

static void drop_pages(struct past *past, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		past->events -= header_of(past, i)->events;
		past->lost -= header_of(past, i)->lost;
		past->forgotten += header_of(past, i)->events;
		past->forgotten_lost += header_of(past, i)->lost;
		free(past->pages[i].data);
	}
	past->nr_pages -= n;
	if (past->fresh > past->nr_pages)
		past->fresh = past->nr_pages;
	if (n)
		memmove(past->pages, past->pages + n, past->nr_pages * sizeof(*past->pages));
}

int past_forget(struct past *past, uint64_t time)
{
	size_t i, old = 0;
	int ret = 0;

	/* Pages may have come that begin before that. */
	if (time < past->from)
		time = past->from;
	for (i = 0; i < past->nr_pages && header_of(past, i)->time < time && !ret; i++) {
		ret = lead_on(past, &past->pages[i], time);
		old += header_of(past, i)->end < time;
	}
	/* Also if one is corrupt, so that it is not read again. */
	drop_pages(past, old);
	past->from = time;
	forget_samples(past, time);
	/* Those that end may run a little longer. */
	if (time > past->second)
		past_tasks_forget(&past->tasks, time - past->second);
	return ret;
}

static int add_page(struct past *past, const struct stape_page_header *header)
{
	unsigned char *page;
	int ret = 0;

	/* A quarter at once, because the list moves. */
	if (past->nr_pages == past->max_pages)
		ret = past_forget(past, header_of(past, past->max_pages / 4)->end);
	/* Corrupt pages may have any times. */
	if (past->nr_pages == past->max_pages)
		drop_pages(past, past->max_pages / 2);
	page = malloc(STAPE_PAGE_SIZE);
	if (!page)
		return -ENOMEM;
	memcpy(page, header, STAPE_PAGE_SIZE);
	past->pages[past->nr_pages++] = (struct past_page){ .data = page };
	past->fresh++;
	past->events += header->events;
	past->lost += header->lost;
	return ret;
}

int past_add_pages(struct past *past, const void *pages, size_t n)
{
	int ret = 0, first = 0;
	size_t i;

	for (i = 0; i < n; i++) {
		ret = add_page(past, pages + i * STAPE_PAGE_SIZE);
		first = first ? first : ret;
	}
	return first;
}

void past_look(struct past *past, void (*meet)(void *arg, uint64_t cgroup), void *arg)
{
	struct schedtape_event ev;
	struct schedtape_page page;
	struct past_page *fresh;

	for (; past->fresh; past->fresh--) {
		fresh = &past->pages[past->nr_pages - past->fresh];
		if (schedtape_page_open(&page, fresh->data, NULL))
			continue;
		while (schedtape_page_next(&page, &ev, NULL) > 0) {
			if (ev.type == STAPE_EV_TASK)
				meet(arg, ev.cgroup);
			fresh->ended += ev.type == STAPE_EV_EXIT;
		}
	}
}

uint64_t past_ended(const struct past *past)
{
	uint64_t ended = 0;
	size_t i;

	for (i = 0; i < past->nr_pages; i++)
		ended += past->pages[i].ended;
	return ended;
}

/* -- the past: writing ----------------------------------------------------- */

static int write_tasks(const struct past *past, struct schedtape_writer *writer,
		       struct schedtape_error *err)
{
	uint64_t since = past->from > past->second ? past->from - past->second : 0;
	/* As long as nothing was forgotten, they are those of the beginning. */
	uint64_t time = past->from ? past_mono(past, past->from) : 0;
	struct schedtape_task_info *tasks;
	size_t n;
	int ret;

	tasks = past_tasks_list(&past->tasks, since, time, &n);
	if (!tasks)
		return schedtape_fail(err, -ENOMEM, "out of memory for %zu tasks", past->tasks.nr);
	ret = schedtape_writer_tasks(writer, tasks, n, err);
	free(tasks);
	return ret;
}

static int write_pages(const struct past *past, struct schedtape_writer *writer,
		       struct schedtape_error *err)
{
	unsigned char *block = malloc(BLOCK * STAPE_PAGE_SIZE);
	size_t i, n;
	int ret = 0;

	if (!block)
		return schedtape_fail(err, -ENOMEM, "out of memory");
	for (i = 0; i < past->nr_pages && !ret; i += n) {
		for (n = 0; n < BLOCK && i + n < past->nr_pages; n++)
			memcpy(block + n * STAPE_PAGE_SIZE, past->pages[i + n].data,
			       STAPE_PAGE_SIZE);
		ret = schedtape_writer_pages(writer, block, n, err);
	}
	free(block);
	return ret;
}

int past_write(const struct past *past, struct schedtape_writer *writer,
	       struct schedtape_error *err)
{
	int ret = 0;
	size_t i;

	for (i = 0; i < past->nr_samples && !ret; i++)
		ret = schedtape_writer_clock(writer, &past->samples[i], err);
	if (!ret)
		ret = write_tasks(past, writer, err);
	return ret ? ret : write_pages(past, writer, err);
}
