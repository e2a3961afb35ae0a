// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: what a recorder that overwrites its rings remembers of the time before the oldest
 * event: its tasks, as they were then, and the clocks; and what it forgets.
 */
#include <errno.h>
#include <stdlib.h>

#include "maker.h"
#include "common/past.h"
#include "tap.h"

enum { SECOND = 1000000, LEADER = 100, THREAD = 101, CHILD = 102, OTHER = 103, SIBLING = 104 };

static unsigned char page[STAPE_PAGE_SIZE];

static const struct stape_clock_sample sample = {
	.counter = 1000, .mono = 5000000, .khz = SECOND / 1000,
};

/* Describes a task that runs on the CPUs that event after it says. */
static void make_task(struct maker *m, uint64_t time, uint32_t pid, unsigned int why,
		      const char *name, uint64_t start)
{
	const uint64_t words[6] = {
		(uint64_t)7 << 32 | pid, maker_prio_word(0, 3, 0, 123, false), start,
		STAPE_STATE_RUNNING, 0, 77,
	};

	maker_task_words(m, time, pid, why, name, words, 6);
}

/* Returns the task of a PID at the time of @past->from, or NULL.  The last one stays valid. */
static const struct schedtape_task_info *task_of(const struct past *past, uint32_t pid)
{
	uint64_t since = past->from > SECOND ? past->from - SECOND : 0;
	static struct schedtape_task_info found;
	struct schedtape_task_info *tasks;
	bool is = false;
	size_t i, n;

	tasks = past_tasks_list(&past->tasks, since, 42, &n);
	for (i = 0; tasks && i < n; i++) {
		if (tasks[i].pid != pid)
			continue;
		found = tasks[i];
		is = true;
	}
	free(tasks);
	return is ? &found : NULL;
}

static bool is_named(const struct past *past, uint32_t pid, const char *name)
{
	const struct schedtape_task_info *task = task_of(past, pid);

	return task && !strcmp(task->comm, name);
}

static void meet(void *arg, uint64_t cgroup)
{
	unsigned int *met = arg;

	*met += cgroup == 77;
}

static struct past *new_past(size_t max_pages)
{
	struct past *past = past_new(max_pages);

	past_add_sample(past, &sample);
	return past;
}

TEST(changes)
{
	static const uint64_t cpus[] = { 0x5 };
	const struct schedtape_task_info *task;
	struct past *past = new_past(16);
	unsigned int met = 0;
	struct maker m;

	maker_begin(&m, page, STAPE_CPU_NONE, 0, 1000);
	make_task(&m, 1000, LEADER, STAPE_TASK_ENTERS, "first", 4000000);
	maker_affinity(&m, 1000, LEADER, cpus, 1);
	maker_wish(&m, 1500, LEADER, maker_prio_word(0, 3, 0, 123, false), 50, 0, 0);
	maker_event(&m, 2000, STAPE_EV_FORK, THREAD, (uint64_t)LEADER << 10 | STAPE_FORK_THREAD);
	maker_event(&m, 2500, STAPE_EV_FORK, CHILD, (uint64_t)THREAD << 10);
	maker_event(&m, 2600, STAPE_EV_FORK, SIBLING, (uint64_t)CHILD << 10 | STAPE_FORK_SIBLING);
	maker_rename(&m, 3000, LEADER, "second");
	maker_prio(&m, 4000, CHILD, maker_prio_word(1, 0, 50, 49, false));
	make_task(&m, 5000, CHILD, STAPE_TASK_EXITS, "child", 5002500);
	maker_event(&m, 5000, STAPE_EV_EXIT, CHILD, 0);
	maker_event(&m, 6000, STAPE_EV_FORK, CHILD, (uint64_t)LEADER << 10);
	maker_exec(&m, 7000, LEADER, THREAD);
	maker_rename(&m, 7000, LEADER, "thread");
	ok(!past_add_pages(past, page, 1) && past->nr_pages == 1, "a page");
	past_look(past, meet, &met);
	ok(met == 2, "the cgroup of each task that it describes");
	past_look(past, meet, &met);
	ok(met == 2 && past_ended(past) == 1, "once, and a task has ended");
	ok(!past_forget(past, 1500) && is_named(past, LEADER, "first") && past->nr_pages == 1,
	   "what is later stays on its page");
	task = task_of(past, LEADER);
	ok(task->affinity_bytes == 1 && *task->affinity == 5 && task->cgroup == 77 &&
	   task->nice == 3 && task->time == 42 && task->start_time == 4000000,
	   "a task that has entered");
	ok(!past_forget(past, 3000) && is_named(past, LEADER, "first"),
	   "what happens at that time is later, too");
	task = task_of(past, THREAD);
	ok(task && task->tgid == LEADER && task->affinity_bytes == 1 && !task->start_time &&
	   task->nice == 3 && task->wish.slice == 50, "a thread has what its creator has");
	task = task_of(past, CHILD);
	ok(task && task->tgid == CHILD && task->ppid == LEADER && !strcmp(task->comm, "first") &&
	   task->cgroup == 77, "a child of a thread is one of the process");
	task = task_of(past, SIBLING);
	ok(task && task->tgid == SIBLING && task->ppid == LEADER,
	   "with CLONE_PARENT it forks a child of its own parent");
	past_forget(past, 4500);
	ok(is_named(past, LEADER, "second") && is_named(past, CHILD, "first"), "a name");
	ok(task_of(past, CHILD)->policy == 1 && task_of(past, CHILD)->rt_priority == 50,
	   "a priority");
	past_forget(past, 5500);
	ok(is_named(past, CHILD, "child") && task_of(past, CHILD)->state == STAPE_STATE_DEAD &&
	   task_of(past, LEADER)->state != STAPE_STATE_DEAD, "a task that has ended");
	past_forget(past, 6500);
	ok(is_named(past, CHILD, "second") && task_of(past, CHILD)->state != STAPE_STATE_DEAD &&
	   !task_of(past, CHILD)->start_time, "another one with its PID");
	ok(past->nr_pages == 1 && past->events == m.header.events && !past->forgotten,
	   "the page is still needed");
	past_forget(past, 7001);
	ok(is_named(past, LEADER, "thread") && !task_of(past, THREAD) &&
	   task_of(past, LEADER)->start_time == 4000000, "a thread takes over with exec");
	ok(!past->nr_pages && !past->events && !past_ended(past) &&
	   past->forgotten == m.header.events, "now the page is not");
	ok(!past_forget(past, 6000) && past->from == 7001, "time does not go back");
	past_free(past);
}

/* CHILD's parent ends, then CHILD forks SIBLING with CLONE_PARENT: its parent is not known. */
TEST(orphan)
{
	const struct schedtape_task_info *task;
	struct past *past = new_past(16);
	struct maker m;

	maker_begin(&m, page, STAPE_CPU_NONE, 0, 1000);
	make_task(&m, 1000, LEADER, STAPE_TASK_ENTERS, "first", 4000000);
	maker_event(&m, 2000, STAPE_EV_FORK, CHILD, (uint64_t)LEADER << 10);
	make_task(&m, 3000, LEADER, STAPE_TASK_EXITS, "first", 4000000);
	maker_event(&m, 3000, STAPE_EV_EXIT, LEADER, 0);
	maker_event(&m, 4000, STAPE_EV_FORK, SIBLING, (uint64_t)CHILD << 10 | STAPE_FORK_SIBLING);
	ok(!past_add_pages(past, page, 1) && !past_forget(past, 5000), "a parent that ends");
	task = task_of(past, SIBLING);
	ok(task && !task->ppid, "a child that is forked later does not have it as its parent");
	task = task_of(past, CHILD);
	ok(task && task->ppid == LEADER, "a child that was forked before has");
	past_free(past);
}

TEST(list)
{
	struct schedtape_task_info info = { .pid = OTHER, .comm = "listed", .start_time = 4500000 };
	struct past *past = new_past(16);
	struct maker m;

	ok(!past_add_tasks(past, 900, &info, 1) && is_named(past, OTHER, "listed"), "a list");
	maker_begin(&m, page, STAPE_CPU_NONE, 0, 1000);
	maker_event(&m, 1000, STAPE_EV_FORK, OTHER, (uint64_t)LEADER << 10);
	maker_event(&m, 1000, STAPE_EV_FORK, CHILD, (uint64_t)LEADER << 10);
	past_add_pages(past, page, 1);
	past_forget(past, 2000);
	ok(is_named(past, OTHER, "listed") && task_of(past, OTHER)->start_time == 4500000,
	   "of whose fork the list knows more");
	ok(is_named(past, CHILD, ""), "a child of an unknown parent");
	past_free(past);
}

/* The kernel publishes a page when it is full, which may be long after its first event. */
TEST(late)
{
	struct past *past = new_past(16);
	struct maker m;

	past_forget(past, 5000);
	maker_begin(&m, page, STAPE_CPU_NONE, 0, 1000);
	make_task(&m, 1000, LEADER, STAPE_TASK_ENTERS, "leader", 4000000);
	maker_event(&m, 2000, STAPE_EV_FORK, CHILD, (uint64_t)LEADER << 10);
	maker_rename(&m, 6000, CHILD, "child");
	past_add_pages(past, page, 1);
	past_forget(past, 4000);
	ok(is_named(past, CHILD, "leader") && past->from == 5000, "a page that comes late");
	past_forget(past, 6000);
	ok(is_named(past, CHILD, "leader"), "what is later stays on it");
	past_forget(past, 6001);
	ok(is_named(past, CHILD, "child") && !past->nr_pages, "until its time has come");
	past_free(past);
}

/* As after a pause, in which nothing is described. */
TEST(pause)
{
	struct schedtape_task_info infos[] = {
		{ .pid = LEADER, .comm = "stays", .start_time = 1, .state = STAPE_STATE_RUNNING },
		{ .pid = OTHER, .comm = "ends", .start_time = 2 },
		{ .pid = CHILD, .comm = "another", .start_time = 3 },
	};
	struct past *past = new_past(16);

	past_add_tasks(past, 1000, infos, 3);
	past_forget(past, 2000);
	memcpy(infos[0].comm, "renamed", sizeof("renamed"));
	infos[2] = (struct schedtape_task_info){ .pid = CHILD, .comm = "new", .start_time = 4 };
	infos[1] = infos[2];
	ok(!past_add_tasks(past, 3000, infos, 2), "a second list");
	ok(is_named(past, LEADER, "stays"), "does not change what a task was before");
	ok(task_of(past, LEADER)->state == STAPE_STATE_SLEEPING, "its state then is not known");
	ok(task_of(past, OTHER)->state == STAPE_STATE_DEAD, "a task that is not listed has ended");
	ok(is_named(past, CHILD, "new") && task_of(past, CHILD)->state != STAPE_STATE_DEAD,
	   "a PID has another task");
	past_free(past);
}

TEST(ended)
{
	struct past *past = new_past(16);
	struct schedtape_task_info info = { .comm = "ends" };
	struct maker m;
	uint32_t pid;

	for (pid = 1; pid <= 100; pid++) {
		info.pid = pid;
		past_tasks_meet(&past->tasks, &info);
	}
	maker_begin(&m, page, STAPE_CPU_NONE, 0, 1000);
	for (pid = 1; pid <= 90; pid++)
		maker_event(&m, 1000 + pid, STAPE_EV_EXIT, pid, 0);
	past_add_pages(past, page, 1);
	past_forget(past, 1091);
	ok(past->tasks.nr == 100 && past->tasks.dead == 90, "90 of 100 have ended");
	ok(task_of(past, 90) && task_of(past, 1), "and may run a little longer");
	past_forget(past, 1002 + SECOND);
	ok(!task_of(past, 1) && task_of(past, 2), "a second at most");
	past_forget(past, 2000 + SECOND);
	ok(past->tasks.nr == 10 && !past->tasks.dead && task_of(past, 100),
	   "then they are forgotten");
	past_free(past);
}

TEST(room)
{
	struct past *past = new_past(8);
	struct maker m;
	uint64_t seq;
	int ret = 0;

	for (seq = 0; seq < 100; seq++) {
		maker_begin(&m, page, STAPE_CPU_NONE, seq, 1000 * seq);
		make_task(&m, 1000 * seq + 500, 200 + seq, STAPE_TASK_ENTERS, "task", 1);
		ret |= past_add_pages(past, page, 1);
	}
	ok(!ret && past->nr_pages <= 8 && past->nr_pages > 4, "%zu of 100 pages", past->nr_pages);
	ok(past->events + past->forgotten == 100, "all are counted");
	ok(past->from > 90000 && task_of(past, 200) && !task_of(past, 299),
	   "what is forgotten early is known from the tasks");
	maker_begin(&m, page, STAPE_CPU_NONE, 100, 200000);
	maker_event(&m, 200001, STAPE_EV_RENAME, 200, 9);
	past_add_pages(past, page, 1);
	ok(past_forget(past, 300000) == -EBADMSG && !past->nr_pages, "a corrupt page is dropped");
	past_free(past);
}

TEST(clocks)
{
	struct past *past = new_past(4);
	struct stape_clock_sample later = sample;
	size_t i;

	ok(past_mono(past, 1000) == 5000000 && past_mono(past, 2000) == 6000000 &&
	   past_mono(past, 500) == 4500000, "times before and after one sample");
	for (i = 1; i < 20000; i++) {
		later.counter = 1000 + 1000 * i;
		later.mono = 5000000 + 2000000 * i;
		past_add_sample(past, &later);
	}
	ok(past->nr_samples <= 4096 && past->samples[0].counter == 1000, "%zu of 20000 samples",
	   past->nr_samples);
	ok(past_mono(past, later.counter + 5) == later.mono + 5000, "the last one is there");
	past_forget(past, later.counter - 5000000);
	ok(past->samples[0].counter <= later.counter - 5000000 &&
	   past->samples[1].counter > later.counter - 5000000,
	   "the first one is the last before the time that is known");
	past_free(past);
	later = (struct stape_clock_sample){ .counter = 1ULL << 62, .mono = INT64_MAX, .khz = 1 };
	ok(past_sample_mono(&later, 0) == 0 && past_sample_mono(&later, UINT64_MAX) == UINT64_MAX,
	   "times that do not fit");
}

TEST_MAIN
