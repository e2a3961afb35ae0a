// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: filters by cgroup (version 2): tasks in one of them or below, tasks that move in
 * and out while they are recorded, and cgroups that are removed.
 */
#include <errno.h>
#include <linux/sched.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <kselftest_harness.h>

#include "calls.h"
#include "cgroup.h"
#include "child.h"
#include "invariants.h"
#include "record.h"
#include "task.h"
#include "time-limit.h"

#define PAGES	1024

FIXTURE(cgroups)
{
	struct st_record r;
	struct st_child w[3];
	struct st_counts c;
	uint64_t id;
};

FIXTURE_SETUP(cgroups)
{
	if (!st_cgroup_begin())
		SKIP(return, "there is no cgroup2");
	self->id = st_cgroup_make("in");
	ASSERT_NE(0, self->id);
	ASSERT_EQ(0, st_record_open(&self->r, PAGES));
	ASSERT_EQ(0, st_record_add_cgroup(&self->r, self->id));
}

FIXTURE_TEARDOWN(cgroups)
{
	st_children_kill(self->w, 3);
	st_record_close(&self->r);
	st_cgroup_end();
}

/* Renames itself once between gates. */
static int rename_at_gates(void *arg)
{
	(void)arg;
	for (;;) {
		prctl(PR_SET_NAME, "renamed");
		st_gate();
	}
	return 0;
}

/* -- members ----------------------------------------------------------------------- */

TEST_F(cgroups, descendants)
{
	const char *deep = "in/3/4/5/6/7/8/9/10/11/12/13/14/15/16";
	uint64_t middle;
	pid_t roots[2];
	size_t at;
	int i;

	ASSERT_NE(0, st_cgroup_make(deep));
	middle = st_cgroup_make("in/3");
	ASSERT_NE(0, st_cgroup_make("inn"));
	for (i = 0; i < 3; i++)
		ASSERT_EQ(0, st_child_fork(&self->w[i], -1, rename_at_gates, NULL));
	ASSERT_TRUE(st_cgroup_move("in", self->w[0].pid));
	ASSERT_TRUE(st_cgroup_move(deep, self->w[1].pid));
	ASSERT_TRUE(st_cgroup_move("inn", self->w[2].pid));
	EXPECT_EQ(2, st_record_tasks(&self->r));
	ASSERT_EQ(0, st_record_start(&self->r));
	for (i = 0; i < 3; i++)
		ASSERT_TRUE(st_child_step(&self->w[i]));
	/*
	 * From one recorded cgroup to another: no task enters or leaves, but each move is
	 * recorded.
	 */
	ASSERT_TRUE(st_cgroup_move("in/3", self->w[0].pid));
	ASSERT_TRUE(st_cgroup_move("in", self->w[1].pid));
	for (i = 0; i < 3; i++)
		ASSERT_TRUE(st_child_step(&self->w[i]));
	ASSERT_EQ(0, st_record_finish(&self->r));
	roots[0] = self->w[0].pid;
	roots[1] = self->w[1].pid;
	EXPECT_EQ(4, st_count_type(&self->r, STAPE_EV_RENAME));
	EXPECT_EQ(2, st_count_type(&self->r, STAPE_EV_TASK));
	at = st_find_why(&self->r, roots[0], STAPE_TASK_MOVES, 0);
	ASSERT_LT(at, self->r.n);
	EXPECT_EQ(middle, self->r.events[at].cgroup);
	at = st_find_why(&self->r, roots[1], STAPE_TASK_MOVES, 0);
	ASSERT_LT(at, self->r.n);
	EXPECT_EQ(self->id, self->r.events[at].cgroup);
	EXPECT_EQ(0, st_foreign(&self->r, roots, 2));
	EXPECT_EQ(NULL, st_check(&self->r, roots, 2));
}

/* Tasks that were there before the rule, and tasks that are there when the rule is removed. */
TEST_F(cgroups, rules_change)
{
	uint64_t other = st_cgroup_make("other");
	size_t i;

	ASSERT_NE(0, other);
	ASSERT_EQ(0, st_child_fork(&self->w[0], -1, rename_at_gates, NULL));
	ASSERT_EQ(0, st_child_fork(&self->w[1], -1, rename_at_gates, NULL));
	ASSERT_TRUE(st_cgroup_move("other", self->w[0].pid));
	ASSERT_TRUE(st_cgroup_move("in", self->w[1].pid));
	ASSERT_EQ(0, st_record_start(&self->r));
	EXPECT_EQ(1, st_record_tasks(&self->r));
	EXPECT_EQ(0, st_record_add_cgroup(&self->r, other));
	EXPECT_EQ(0, st_record_add_cgroup(&self->r, other));
	EXPECT_EQ(2, st_record_tasks(&self->r));
	/* It is in by two rules, then only one of them is removed. */
	EXPECT_EQ(0, st_record_add(&self->r, self->w[1].pid));
	EXPECT_EQ(0, st_record_del_cgroup(&self->r, self->id));
	EXPECT_EQ(-ENOENT, st_record_del_cgroup(&self->r, self->id));
	EXPECT_EQ(2, st_record_tasks(&self->r));
	ASSERT_TRUE(st_child_step(&self->w[0]));
	ASSERT_TRUE(st_child_step(&self->w[1]));
	EXPECT_EQ(0, st_record_del_cgroup(&self->r, other));
	EXPECT_EQ(1, st_record_tasks(&self->r));
	ASSERT_TRUE(st_child_step(&self->w[0]));
	ASSERT_TRUE(st_child_step(&self->w[1]));
	ASSERT_EQ(0, st_record_finish(&self->r));
	EXPECT_EQ(3, st_count_type(&self->r, STAPE_EV_RENAME));
	EXPECT_EQ(2, st_count_type(&self->r, STAPE_EV_TASK));
	i = st_find_why(&self->r, self->w[0].pid, STAPE_TASK_ENTERS, 0);
	i = st_find_why(&self->r, self->w[0].pid, STAPE_TASK_LEAVES, i);
	EXPECT_LT(i, self->r.n);
	EXPECT_EQ(NULL, st_check(&self->r, &self->w[1].pid, 1));
}

/* -- in and out -------------------------------------------------------------------- */

/* Tests whether the task's events are one ENTERS, its activity, and one LEAVES. */
static bool framed(const struct st_record *r, pid_t pid)
{
	uint32_t first = 0, last = 0;
	size_t i;

	for (i = 0; i < r->n; i++) {
		const struct schedtape_event *ev = &r->events[i];

		if (ev->pid != (uint32_t)pid)
			continue;
		last = ev->type == STAPE_EV_TASK ? schedtape_task_why(ev) : ~0u;
		first = first ? first : last;
	}
	return st_count_why(r, pid, STAPE_TASK_ENTERS) == 1 && first == STAPE_TASK_ENTERS &&
	       st_count_why(r, pid, STAPE_TASK_LEAVES) == 1 && last == STAPE_TASK_LEAVES;
}

TEST_F(cgroups, moved)
{
	const struct schedtape_event *ev;

	ASSERT_EQ(0, st_child_fork(&self->w[0], -1, rename_at_gates, NULL));
	ASSERT_EQ(0, st_record_start(&self->r));
	ASSERT_TRUE(st_child_step(&self->w[0]));
	EXPECT_EQ(0, st_record_tasks(&self->r));
	ASSERT_TRUE(st_cgroup_move("in", self->w[0].pid));
	EXPECT_EQ(1, st_record_tasks(&self->r));
	ASSERT_TRUE(st_child_step(&self->w[0]));
	ASSERT_TRUE(st_child_step(&self->w[0]));
	ASSERT_TRUE(st_cgroup_move("", self->w[0].pid));
	EXPECT_EQ(0, st_record_tasks(&self->r));
	ASSERT_TRUE(st_child_step(&self->w[0]));
	ASSERT_EQ(0, st_record_finish(&self->r));
	EXPECT_TRUE(framed(&self->r, self->w[0].pid));
	EXPECT_EQ(2, st_count_type(&self->r, STAPE_EV_RENAME));
	EXPECT_EQ(NULL, st_check(&self->r, NULL, 0));
	ev = &self->r.events[0];
	ASSERT_LT(0, self->r.n);
	EXPECT_STREQ("renamed", ev->comm);
	EXPECT_EQ(self->w[0].pid, ev->tgid);
	EXPECT_EQ(self->w[0].pid, ev->ns_pid);
	EXPECT_EQ(0, ev->ppid);
	EXPECT_EQ(STAPE_STATE_SLEEPING, ev->state);
	EXPECT_EQ(self->id, ev->cgroup);
	EXPECT_GT(st_cpus(), ev->task_cpu);
	EXPECT_EQ(0, ev->policy);
	EXPECT_EQ(0, ev->nice);
	EXPECT_FALSE(ev->boosted);
	EXPECT_GT(ev->time, ev->start_time);
}

static int move_itself(void *arg)
{
	int i;

	(void)arg;
	for (i = 0; i < 3; i++) {
		st_cgroup_move("in", 0);
		prctl(PR_SET_NAME, "in");
		st_cgroup_move("", 0);
		prctl(PR_SET_NAME, "out");
	}
	return 0;
}

/* A running task moves itself, and its CPU's stream shows that at once. */
TEST_F(cgroups, moves_itself)
{
	uint32_t curr = 0;
	size_t i;

	ASSERT_EQ(0, st_child_fork(&self->w[0], -1, move_itself, NULL));
	ASSERT_EQ(0, st_record_start(&self->r));
	ASSERT_TRUE(st_child_step(&self->w[0]));
	EXPECT_EQ(0, st_record_tasks(&self->r));
	ASSERT_EQ(0, st_record_finish(&self->r));
	EXPECT_EQ(3, st_count_why(&self->r, self->w[0].pid, STAPE_TASK_ENTERS));
	EXPECT_EQ(3, st_count_why(&self->r, self->w[0].pid, STAPE_TASK_LEAVES));
	EXPECT_EQ(3, st_count_type(&self->r, STAPE_EV_RENAME));
	EXPECT_EQ(NULL, st_check(&self->r, NULL, 0));
	EXPECT_EQ(0, st_foreign(&self->r, &self->w[0].pid, 1));
	for (i = 0; i < self->r.n; i++) {
		const struct schedtape_event *ev = &self->r.events[i];

		if (ev->type == STAPE_EV_RENAME) {
			EXPECT_EQ(self->w[0].pid, ev->pid);
			EXPECT_STREQ("in", ev->comm);
		}
		curr = ev->type == STAPE_EV_SWITCH ? ev->pid : curr;
	}
	EXPECT_EQ(0, curr);
}

static int rename_for_ever(void *arg)
{
	unsigned int *stop = arg;

	while (!__atomic_load_n(stop, __ATOMIC_SEQ_CST)) {
		prctl(PR_SET_NAME, "renamed");
		/* Not faster than a reader which the host stops for a while. */
		st_burn(20000);
	}
	return 0;
}

/* A task that runs on another CPU is moved: that CPU checks again, a little later. */
TEST_F_TIMEOUT(cgroups, moved_while_it_runs, 60)
{
	unsigned int *stop = st_share(4096), known = 0, unknown = 0;
	int round, tries;
	size_t i;

	if (st_cpus() < 2)
		SKIP(return, "needs two CPUs");
	ASSERT_EQ(0, st_pin(0, 0));
	ASSERT_EQ(0, st_child_fork(&self->w[0], 1, rename_for_ever, stop));
	ASSERT_EQ(0, st_record_start(&self->r));
	st_child_go(&self->w[0]);
	for (round = 0; round < 3; round++) {
		ASSERT_TRUE(st_cgroup_move("in", self->w[0].pid));
		EXPECT_EQ(1, st_record_tasks(&self->r));
		/* Until the stream shows that it runs, as it must sooner or later. */
		for (known = 0, tries = 5000 * st_patience(); !known && tries; tries--) {
			usleep(1000);
			i = self->r.n;
			ASSERT_EQ(0, st_record_flush(&self->r));
			for (; i < self->r.n; i++)
				known += self->r.events[i].type == STAPE_EV_SWITCH &&
					 self->r.events[i].pid;
		}
		EXPECT_LT(0, known);
		ASSERT_TRUE(st_cgroup_move("", self->w[0].pid));
		EXPECT_EQ(0, st_record_tasks(&self->r));
	}
	__atomic_store_n(stop, 1, __ATOMIC_SEQ_CST);
	ASSERT_TRUE(st_child_settled(&self->w[0]));
	ASSERT_EQ(0, st_record_finish(&self->r));
	for (i = 0; i < self->r.n; i++)
		unknown += self->r.events[i].curr &&
			   self->r.events[i].curr != (uint32_t)self->w[0].pid;
	EXPECT_EQ(0, unknown);
	EXPECT_EQ(3, st_count_why(&self->r, self->w[0].pid, STAPE_TASK_ENTERS));
	EXPECT_EQ(3, st_count_why(&self->r, self->w[0].pid, STAPE_TASK_LEAVES));
	EXPECT_EQ(0, st_foreign(&self->r, &self->w[0].pid, 1));
	EXPECT_EQ(NULL, st_check(&self->r, NULL, 0));
}

/* -- processes with threads ---------------------------------------------------------- */

#define THREADS		8
#define MANY_THREADS	200

static void *sleep_in_thread(void *arg)
{
	__atomic_add_fetch((unsigned int *)arg, 1, __ATOMIC_SEQ_CST);
	pause();
	return NULL;
}

static bool start_threads(unsigned int *started, unsigned int n)
{
	pthread_attr_t attr;
	pthread_t thread;
	unsigned int i;

	/* The harness locks memory: each thread's usual stack would be 8 MB of zeros. */
	if (pthread_attr_init(&attr) || pthread_attr_setstacksize(&attr, 65536))
		return false;
	for (i = 0; i < n; i++)
		if (pthread_create(&thread, &attr, sleep_in_thread, started))
			return false;
	pthread_attr_destroy(&attr);
	while (__atomic_load_n(started, __ATOMIC_SEQ_CST) < n)
		usleep(1000);
	return true;
}

static int make_threads(void *arg)
{
	if (!start_threads(arg, THREADS))
		return 1;
	for (;;) {
		st_gate();
		prctl(PR_SET_NAME, "renamed");
	}
	return 0;
}

TEST_F(cgroups, whole_process)
{
	unsigned int *started = st_share(4096);
	struct schedtape_task_info *tasks;
	size_t i, n;

	ASSERT_EQ(0, st_child_fork(&self->w[0], -1, make_threads, started));
	ASSERT_TRUE(st_child_step(&self->w[0]));
	ASSERT_EQ(0, st_record_start(&self->r));
	ASSERT_TRUE(st_cgroup_move("in", self->w[0].pid));
	EXPECT_LE(1, st_record_tasks(&self->r));
	EXPECT_TRUE(st_record_wait_tasks(&self->r, THREADS + 1));
	ASSERT_EQ(0, schedtape_session_tasks(self->r.session, &tasks, &n, &self->r.err));
	ASSERT_TRUE(st_child_step(&self->w[0]));
	ASSERT_TRUE(st_cgroup_move("", self->w[0].pid));
	EXPECT_TRUE(st_record_wait_tasks(&self->r, 0));
	ASSERT_EQ(0, st_record_finish(&self->r));
	ASSERT_EQ(THREADS + 1, n);
	for (i = 0; i < n; i++) {
		EXPECT_EQ(self->w[0].pid, tasks[i].tgid);
		EXPECT_EQ(self->id, tasks[i].cgroup);
		EXPECT_TRUE(framed(&self->r, tasks[i].pid));
	}
	EXPECT_EQ(2 * (THREADS + 1), st_count_type(&self->r, STAPE_EV_TASK));
	EXPECT_EQ(1, st_count_type(&self->r, STAPE_EV_RENAME));
	EXPECT_EQ(NULL, st_check(&self->r, NULL, 0));
	free(tasks);
}

static int make_many_threads(void *arg)
{
	if (!start_threads(arg, MANY_THREADS))
		return 1;
	st_gate();
	return 0;
}

/* The threads of a large process are checked after the move, in process context. */
TEST_F(cgroups, large_process)
{
	unsigned int *started = st_share(4096);
	int round;

	ASSERT_EQ(0, st_child_fork(&self->w[0], -1, make_many_threads, started));
	ASSERT_TRUE(st_child_step(&self->w[0]));
	ASSERT_EQ(0, st_record_start(&self->r));
	for (round = 0; round < 3; round++) {
		ASSERT_TRUE(st_cgroup_move("in", self->w[0].pid));
		ASSERT_TRUE(st_record_wait_tasks(&self->r, MANY_THREADS + 1));
		ASSERT_TRUE(st_cgroup_move("", self->w[0].pid));
		ASSERT_TRUE(st_record_wait_tasks(&self->r, 0));
	}
	ASSERT_EQ(0, st_record_finish(&self->r));
	EXPECT_EQ(3, st_count_why(&self->r, self->w[0].pid, STAPE_TASK_ENTERS));
	EXPECT_EQ(3, st_count_why(&self->r, self->w[0].pid, STAPE_TASK_LEAVES));
	EXPECT_EQ(2 * 3 * (MANY_THREADS + 1), st_count_type(&self->r, STAPE_EV_TASK));
	EXPECT_EQ(NULL, st_check(&self->r, NULL, 0));
}

/* A move makes the module look at the process's threads, and at no other task. */
TEST_F(cgroups, moved_beside_others)
{
	unsigned int *started = st_share(4096);
	struct st_calls lookups;
	int i;

	for (i = 0; i < 2; i++) {
		ASSERT_EQ(0, st_child_fork(&self->w[i], -1, make_many_threads, &started[i]));
		ASSERT_TRUE(st_child_step(&self->w[i]));
	}
	ASSERT_EQ(0, st_record_start(&self->r));
	/* The kernel's function that finds the next task. */
	if (!st_calls_begin(&lookups, "find_ge_pid"))
		SKIP(return, "no kprobe on find_ge_pid()");
	for (i = 0; i < 6; i++) {
		EXPECT_TRUE(st_cgroup_move(i % 2 ? "" : "in", self->w[0].pid));
		EXPECT_TRUE(st_record_wait_tasks(&self->r, i % 2 ? 0 : MANY_THREADS + 1));
	}
	EXPECT_GT(MANY_THREADS, st_calls_end(&lookups));
}

static int leave_a_thread(void *arg)
{
	if (!start_threads(arg, 1))
		return 1;
	pthread_exit(NULL);
}

/* The kernel moves the thread, and names the leader, which has ended. */
TEST_F(cgroups, moved_after_its_leader)
{
	unsigned int *started = st_share(4096);

	ASSERT_EQ(0, st_child_begin(&self->w[0], -1, leave_a_thread, started));
	ASSERT_TRUE(st_wait_state(self->w[0].pid, 'Z'));
	ASSERT_EQ(0, st_record_start(&self->r));
	ASSERT_TRUE(st_cgroup_move("in", self->w[0].pid));
	EXPECT_TRUE(st_record_wait_tasks(&self->r, 1));
	ASSERT_TRUE(st_cgroup_move("", self->w[0].pid));
	EXPECT_TRUE(st_record_wait_tasks(&self->r, 0));
}

/* A single thread in a threaded cgroup. */
TEST_F(cgroups, one_thread)
{
	unsigned int *started = st_share(4096);
	struct schedtape_task_info *tasks;
	char tid[16];
	size_t n;

	ASSERT_NE(0, st_cgroup_make("all/one"));
	ASSERT_TRUE(st_cgroup_write("all/one", "cgroup.type", "threaded"));
	ASSERT_EQ(0, st_record_add_cgroup(&self->r, st_cgroup_make("all/one")));
	ASSERT_EQ(0, st_child_fork(&self->w[0], -1, make_threads, started));
	ASSERT_TRUE(st_child_step(&self->w[0]));
	ASSERT_TRUE(st_cgroup_move("all", self->w[0].pid));
	ASSERT_EQ(0, st_record_start(&self->r));
	EXPECT_EQ(0, st_record_tasks(&self->r));
	snprintf(tid, sizeof(tid), "%d", self->w[0].pid);
	ASSERT_TRUE(st_cgroup_write("all/one", "cgroup.threads", tid));
	ASSERT_EQ(0, schedtape_session_tasks(self->r.session, &tasks, &n, &self->r.err));
	ASSERT_EQ(1, n);
	EXPECT_EQ(self->w[0].pid, tasks[0].pid);
	ASSERT_TRUE(st_child_step(&self->w[0]));
	ASSERT_TRUE(st_cgroup_write("all", "cgroup.threads", tid));
	EXPECT_EQ(0, st_record_tasks(&self->r));
	ASSERT_EQ(0, st_record_finish(&self->r));
	EXPECT_TRUE(framed(&self->r, self->w[0].pid));
	EXPECT_EQ(2, st_count_type(&self->r, STAPE_EV_TASK));
	EXPECT_EQ(NULL, st_check(&self->r, NULL, 0));
	free(tasks);
}

static void *end_in_thread(void *arg)
{
	return arg;
}

static int make_threads_for_ever(void *arg)
{
	unsigned int *stop = arg;
	pthread_t threads[3];
	int i;

	while (!__atomic_load_n(stop, __ATOMIC_SEQ_CST)) {
		for (i = 0; i < 3; i++)
			if (pthread_create(&threads[i], NULL, end_in_thread, NULL))
				return 1;
		for (i = 0; i < 3; i++)
			pthread_join(threads[i], NULL);
	}
	return 0;
}

/* Threads that start and end during the move: none is missed on either side. */
TEST_F_TIMEOUT(cgroups, moved_while_it_forks, 120)
{
	unsigned int *stop = st_share(4096);
	int round;

	ASSERT_EQ(0, st_child_fork(&self->w[0], -1, make_threads_for_ever, stop));
	ASSERT_EQ(0, st_record_start(&self->r));
	for (round = 0; round < 20; round++) {
		*stop = 0;
		if (!round)
			st_child_go(&self->w[0]);
		ASSERT_TRUE(st_cgroup_move("in", self->w[0].pid));
		usleep(2000);
		ASSERT_TRUE(st_cgroup_move("", self->w[0].pid));
		/* A thread that is about to end stays in its cgroup. */
		ASSERT_TRUE(st_record_wait_tasks(&self->r, 0));
		ASSERT_EQ(0, st_record_take(&self->r));
	}
	__atomic_store_n(stop, 1, __ATOMIC_SEQ_CST);
	ASSERT_TRUE(st_child_settled(&self->w[0]));
	ASSERT_EQ(0, st_record_finish(&self->r));
	EXPECT_EQ(20, st_count_why(&self->r, self->w[0].pid, STAPE_TASK_ENTERS));
	EXPECT_EQ(20, st_count_why(&self->r, self->w[0].pid, STAPE_TASK_LEAVES));
	EXPECT_EQ(NULL, st_check(&self->r, NULL, 0));
}

/* -- forks into and out of cgroups ----------------------------------------------------- */

static pid_t fork_into(int cgroup)
{
	struct clone_args args = {
		.flags = CLONE_INTO_CGROUP,
		.exit_signal = SIGCHLD,
		.cgroup = cgroup,
	};

	return syscall(SYS_clone3, &args, sizeof(args));
}

/* Forks two children: one in its own cgroup, one in @arg[0]. */
static int fork_to_cgroup(void *arg)
{
	int *pids = arg, cgroup = pids[0], i;

	for (i = 0; i < 2; i++) {
		pid_t pid = i ? fork_into(cgroup) : fork();

		if (!pid) {
			prctl(PR_SET_NAME, i ? "there" : "here");
			_exit(0);
		}
		pids[1 + i] = pid;
		waitpid(pid, NULL, 0);
	}
	return 0;
}

TEST_F(cgroups, forked_into)
{
	int *inside = st_share(4096), *outside = inside + 16;
	int i;

	ASSERT_NE(0, st_cgroup_make("out"));
	inside[0] = st_cgroup_fd("out");
	outside[0] = st_cgroup_fd("in");
	ASSERT_EQ(0, st_child_fork(&self->w[0], -1, fork_to_cgroup, inside));
	ASSERT_EQ(0, st_child_fork(&self->w[1], -1, fork_to_cgroup, outside));
	ASSERT_TRUE(st_cgroup_move("in", self->w[0].pid));
	ASSERT_EQ(0, st_record_start(&self->r));
	for (i = 0; i < 2; i++)
		ASSERT_TRUE(st_child_step(&self->w[i]));
	EXPECT_TRUE(st_record_wait_tasks(&self->r, 1));
	ASSERT_EQ(0, st_record_finish(&self->r));
	ASSERT_LT(0, inside[2]);
	ASSERT_LT(0, outside[2]);
	/* The child that stays in has a FORK event; the child that goes out was never in. */
	EXPECT_EQ(1, st_count_type(&self->r, STAPE_EV_FORK));
	st_count(&self->r, inside[1], &self->c);
	EXPECT_EQ(1, self->c.forked);
	EXPECT_EQ(1, self->c.exits);
	EXPECT_EQ(0, st_named(&self->r, inside[2]));
	/* The child that comes in from outside enters before its first wake-up. */
	EXPECT_EQ(0, st_named(&self->r, self->w[1].pid));
	EXPECT_EQ(0, st_named(&self->r, outside[1]));
	EXPECT_EQ(1, st_count_why(&self->r, outside[2], STAPE_TASK_ENTERS));
	st_count(&self->r, outside[2], &self->c);
	EXPECT_EQ(1, self->c.wakeup_new);
	EXPECT_EQ(1, self->c.exits);
	EXPECT_EQ(NULL, st_check(&self->r, &self->w[0].pid, 1));
}

/* -- cgroups that go away ---------------------------------------------------------------- */

TEST_F(cgroups, removed)
{
	uint64_t again;

	ASSERT_EQ(0, st_child_fork(&self->w[0], -1, rename_at_gates, NULL));
	ASSERT_EQ(0, st_child_fork(&self->w[1], -1, rename_at_gates, NULL));
	ASSERT_EQ(0, st_record_add(&self->r, self->w[1].pid));
	ASSERT_TRUE(st_cgroup_move("in", self->w[0].pid));
	ASSERT_EQ(0, st_record_start(&self->r));
	ASSERT_TRUE(st_child_step(&self->w[0]));
	ASSERT_TRUE(st_cgroup_move("", self->w[0].pid));
	ASSERT_TRUE(st_cgroup_remove("in"));
	EXPECT_EQ(1, st_record_tasks(&self->r));
	ASSERT_TRUE(st_child_step(&self->w[0]));
	ASSERT_TRUE(st_child_step(&self->w[1]));
	/* Earlier events can be read, and a new cgroup of the same name is another one. */
	ASSERT_EQ(0, st_record_flush(&self->r));
	EXPECT_EQ(2, st_count_type(&self->r, STAPE_EV_RENAME));
	again = st_cgroup_make("in");
	ASSERT_NE(0, again);
	EXPECT_NE(self->id, again);
	ASSERT_TRUE(st_cgroup_move("in", self->w[0].pid));
	EXPECT_EQ(1, st_record_tasks(&self->r));
	EXPECT_EQ(0, st_record_add_cgroup(&self->r, again));
	EXPECT_EQ(2, st_record_tasks(&self->r));
	ASSERT_TRUE(st_child_step(&self->w[0]));
	EXPECT_EQ(0, st_record_del_cgroup(&self->r, self->id));
	EXPECT_EQ(2, st_record_tasks(&self->r));
	ASSERT_TRUE(st_child_step(&self->w[0]));
	ASSERT_EQ(0, st_record_finish(&self->r));
	EXPECT_EQ(4, st_count_type(&self->r, STAPE_EV_RENAME));
}

/* A new cgroup of the same path is recorded, too, from its first task on. */
TEST_F(cgroups, followed)
{
	int *pids = st_share(4096), round;
	uint64_t again = 0;

	/* It was added without that before. */
	ASSERT_EQ(0, st_record_follow_cgroup(&self->r, self->id));
	ASSERT_EQ(0, st_record_start(&self->r));
	for (round = 0; round < 2; round++) {
		ASSERT_TRUE(st_cgroup_remove("in"));
		ASSERT_NE(0, st_cgroup_make("inn"));
		ASSERT_NE(0, st_cgroup_make("inn/in"));
		again = st_cgroup_make("in");
		ASSERT_NE(0, again);
		pids[0] = st_cgroup_fd("in");
		ASSERT_EQ(0, st_child_fork(&self->w[round], -1, fork_to_cgroup, pids));
		ASSERT_TRUE(st_child_step(&self->w[round]));
		close(pids[0]);
		ASSERT_EQ(0, st_record_flush(&self->r));
		EXPECT_EQ(1, st_count_why(&self->r, pids[2], STAPE_TASK_ENTERS));
		st_count(&self->r, pids[2], &self->c);
		EXPECT_EQ(1, self->c.wakeup_new);
		EXPECT_EQ(0, st_named(&self->r, pids[1]));
	}
	EXPECT_EQ(-ENOENT, st_record_del_cgroup(&self->r, self->id));
	EXPECT_EQ(0, st_record_del_cgroup(&self->r, again));
	ASSERT_TRUE(st_cgroup_remove("in"));
	ASSERT_NE(0, st_cgroup_make("in"));
	ASSERT_TRUE(st_cgroup_move("in", self->w[0].pid));
	EXPECT_EQ(0, st_record_tasks(&self->r));
	ASSERT_EQ(0, st_record_finish(&self->r));
}

/* The last task of a cgroup has ended: others may come. */
TEST_F(cgroups, emptied)
{
	ASSERT_EQ(0, st_child_fork(&self->w[0], -1, rename_at_gates, NULL));
	ASSERT_TRUE(st_cgroup_move("in", self->w[0].pid));
	ASSERT_EQ(0, st_record_start(&self->r));
	st_child_kill(&self->w[0]);
	EXPECT_TRUE(st_record_wait_tasks(&self->r, 0));
	ASSERT_EQ(0, st_child_fork(&self->w[1], -1, rename_at_gates, NULL));
	ASSERT_TRUE(st_cgroup_move("in", self->w[1].pid));
	ASSERT_TRUE(st_child_step(&self->w[1]));
	st_child_kill(&self->w[1]);
	ASSERT_TRUE(st_cgroup_remove("in"));
	ASSERT_EQ(0, st_record_finish(&self->r));
	EXPECT_EQ(2, st_count_type(&self->r, STAPE_EV_EXIT));
	EXPECT_EQ(1, st_count_type(&self->r, STAPE_EV_RENAME));
}

TEST_HARNESS_MAIN
