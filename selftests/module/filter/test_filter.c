// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: which tasks are recorded: PIDs and their descendants, and no others; PIDs of a
 * namespace, and the end of the last task.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <kselftest_harness.h>

#include "child.h"
#include "invariants.h"
#include "record.h"
#include "request.h"
#include "task.h"
#include "time-limit.h"

#define PAGES 256

FIXTURE(filter)
{
	struct st_record r;
	struct st_child w[3];
	struct st_counts c;
	pid_t *shared;		/* PIDs that children report */
	pid_t kthread;
	int fd;
};

FIXTURE_SETUP(filter)
{
	ASSERT_EQ(0, st_record_open(&self->r, PAGES));
	self->fd = schedtape_session_fd(self->r.session);
	self->shared = st_share(4096);
}

ST_TEARDOWN(filter)

static int filter_del(struct st_record *r, pid_t pid)
{
	return st_request_u32(STAPE_CMD_FILTER_DEL, STAPE_A_SESSION_ID,
			      schedtape_session_id(r->session), STAPE_A_SESSION_PID, pid);
}

static int add(struct st_record *r, pid_t pid)
{
	uint32_t number = pid;

	return schedtape_session_add(r->session, &number, 1, &r->err);
}

static bool hung_up(int fd)
{
	struct pollfd p = { .fd = fd };

	return poll(&p, 1, 5000 * st_patience()) == 1 && p.revents & POLLHUP;
}

/* Renames itself once between gates. */
static int rename_at_gates(void *arg)
{
	int i;

	(void)arg;
	for (i = 0; i < 10; i++) {
		prctl(PR_SET_NAME, "renamed");
		st_gate();
	}
	return 0;
}

TEST_F(filter, only_the_tasks_it_names)
{
	int i;

	for (i = 0; i < 3; i++)
		ASSERT_EQ(0, st_child_fork(&self->w[i], -1, rename_at_gates, NULL));
	ASSERT_EQ(0, st_record_add(&self->r, self->w[0].pid));
	ASSERT_EQ(0, st_record_add(&self->r, self->w[2].pid));
	ASSERT_EQ(0, st_record_start(&self->r));
	for (i = 0; i < 3; i++)
		ASSERT_TRUE(st_child_step(&self->w[i]));
	EXPECT_EQ(2, st_record_tasks(&self->r));
	ASSERT_EQ(0, st_record_finish(&self->r));
	EXPECT_LT(0, st_named(&self->r, self->w[0].pid));
	EXPECT_EQ(0, st_named(&self->r, self->w[1].pid));
	EXPECT_LT(0, st_named(&self->r, self->w[2].pid));
	EXPECT_EQ(2, st_count_type(&self->r, STAPE_EV_RENAME));
}

TEST_F(filter, twice_is_once)
{
	ASSERT_EQ(0, st_child_fork(&self->w[0], -1, rename_at_gates, NULL));
	ASSERT_EQ(0, st_record_add(&self->r, self->w[0].pid));
	ASSERT_EQ(0, st_record_add(&self->r, self->w[0].pid));
	ASSERT_EQ(0, st_record_start(&self->r));
	ASSERT_EQ(0, st_record_add(&self->r, self->w[0].pid));
	EXPECT_EQ(1, st_record_tasks(&self->r));
	EXPECT_EQ(0, filter_del(&self->r, self->w[0].pid));
	EXPECT_EQ(-ENOENT, filter_del(&self->r, self->w[0].pid));
	EXPECT_EQ(0, st_record_tasks(&self->r));
}

TEST_F(filter, add_and_del_while_recording)
{
	ASSERT_EQ(0, st_child_fork(&self->w[0], -1, rename_at_gates, NULL));
	ASSERT_EQ(0, st_record_start(&self->r));
	ASSERT_TRUE(st_child_step(&self->w[0]));
	ASSERT_EQ(0, st_record_add(&self->r, self->w[0].pid));
	ASSERT_TRUE(st_child_step(&self->w[0]));
	ASSERT_TRUE(st_child_step(&self->w[0]));
	ASSERT_EQ(0, filter_del(&self->r, self->w[0].pid));
	ASSERT_TRUE(st_child_step(&self->w[0]));
	ASSERT_EQ(0, st_record_add(&self->r, self->w[0].pid));
	ASSERT_TRUE(st_child_step(&self->w[0]));
	ASSERT_EQ(0, st_record_finish(&self->r));
	st_count(&self->r, self->w[0].pid, &self->c);
	EXPECT_EQ(3, self->c.renames);
	EXPECT_EQ(3, self->c.out[STAPE_STATE_SLEEPING]);
	EXPECT_EQ(self->c.in, st_voluntary(&self->c) + self->c.out[STAPE_STATE_RUNNING]);
}

static int rename_for_ever(void *arg)
{
	(void)arg;
	for (;;)
		prctl(PR_SET_NAME, "renamed");
	return 0;
}

static bool is_renamed(pid_t pid)
{
	char name[STAPE_COMM_LEN + 1];

	return !st_read_proc(pid, "comm", name, sizeof(name)) && !strcmp(name, "renamed\n");
}

/* A task that is running: its recording begins and ends in the middle of its run. */
TEST_F_TIMEOUT(filter, add_and_del_a_running_one, 60)
{
	uint64_t added[5], deleted[5];
	bool shown[5] = { false };
	unsigned int tries, nr_shown = 0;
	uint32_t pid;
	size_t i, j;

	ASSERT_EQ(0, st_record_start(&self->r));
	ASSERT_EQ(0, st_child_begin(&self->w[0], st_cpus() > 1, rename_for_ever, NULL));
	for (tries = 20000 * st_patience(); tries && !is_renamed(self->w[0].pid); tries--)
		usleep(1000);
	ASSERT_NE(0, tries);
	for (i = 0; i < 5; i++) {
		ASSERT_EQ(0, st_record_add(&self->r, self->w[0].pid));
		added[i] = st_now();
		usleep(5000);
		deleted[i] = st_now();
		ASSERT_EQ(0, filter_del(&self->r, self->w[0].pid));
		ASSERT_EQ(0, st_record_take(&self->r));
	}
	pid = self->w[0].pid;
	st_child_kill(&self->w[0]);
	ASSERT_EQ(0, st_record_finish(&self->r));
	/* Before the request is answered, the stream shows that the task runs. */
	for (i = 0; i < self->r.n; i++) {
		const struct schedtape_event *ev = &self->r.events[i];

		if (ev->type != STAPE_EV_SWITCH || !ev->pid)
			continue;
		EXPECT_EQ(pid, ev->pid);
		for (j = 0; j < 5; j++)
			shown[j] |= ev->time < added[j] && (!j || ev->time > deleted[j - 1]);
	}
	/* On PREEMPT_RT a thread of the kernel may have been on its CPU instead. */
	for (j = 0; j < 5; j++)
		nr_shown += shown[j];
	EXPECT_LE(4, nr_shown);
}

/* -- descendants ------------------------------------------------------------ */

static void *tell_tid(void *arg)
{
	*(pid_t *)arg = gettid();
	return NULL;
}

/* A thread, a child, its thread and its child; all have ended when this returns. */
static int breed(void *arg)
{
	pid_t *pids = arg;
	pthread_t thread;
	int i, status;

	if (pthread_create(&thread, NULL, tell_tid, &pids[0]))
		return 1;
	pthread_join(thread, NULL);
	for (i = 1; i <= 3; i += 2) {
		pid_t pid = vfork();

		if (!pid)
			_exit(0);
		pids[i] = pid;
		pid = fork();
		if (!pid) {
			if (pthread_create(&thread, NULL, tell_tid, &pids[i + 6]))
				_exit(1);
			pthread_join(thread, NULL);
			_exit(0);
		}
		pids[i + 1] = pid;
		while (wait(&status) > 0)
			if (status)
				return 1;
	}
	return 0;
}

TEST_F(filter, children_and_threads_inherit)
{
	static const int heirs[] = { 0, 1, 2, 3, 4, 7, 9 };
	size_t i;

	ASSERT_EQ(0, st_child_fork(&self->w[0], -1, breed, self->shared));
	/* This one does the same, and is not in the filter. */
	ASSERT_EQ(0, st_child_fork(&self->w[1], -1, breed, self->shared + 20));
	ASSERT_EQ(0, st_record_start_with(&self->r, &self->w[0], 1));
	st_child_go(&self->w[0]);
	st_child_go(&self->w[1]);
	ASSERT_TRUE(st_child_settled(&self->w[0]));
	ASSERT_TRUE(st_child_settled(&self->w[1]));
	EXPECT_TRUE(st_record_wait_tasks(&self->r, 1));
	ASSERT_EQ(0, st_record_finish(&self->r));
	for (i = 0; i < sizeof(heirs) / sizeof(heirs[0]); i++) {
		ASSERT_LT(0, self->shared[heirs[i]]);
		st_count(&self->r, self->shared[heirs[i]], &self->c);
		EXPECT_EQ(1, self->c.forked);
		EXPECT_EQ(1, self->c.wakeup_new);
		EXPECT_EQ(1, self->c.exits);
		EXPECT_EQ(1, self->c.out[STAPE_STATE_DEAD]);
		EXPECT_EQ(0, st_named(&self->r, self->shared[20 + heirs[i]]));
	}
	EXPECT_EQ(0, st_named(&self->r, self->w[1].pid));
	EXPECT_EQ(NULL, st_check(&self->r, &self->w[0].pid, 1));
}

static void *sleep_in_thread(void *arg)
{
	pause();
	return arg;
}

static int make_threads(void *arg)
{
	pthread_t thread;
	int i;

	for (i = 0; i < *(int *)arg; i++)
		if (pthread_create(&thread, NULL, sleep_in_thread, NULL))
			return 1;
	return 0;
}

static int breed_and_wait(void *arg)
{
	pid_t pid;

	(void)arg;
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		pause();
		_exit(0);
	}
	st_gate();
	kill(pid, SIGKILL);
	return 0;
}

/* A PID means its process with all threads, whichever thread has the PID. */
TEST_F(filter, all_threads_of_a_process)
{
	struct schedtape_task_info *tasks;
	int threads = 20;
	size_t i, n;

	ASSERT_EQ(0, st_child_fork(&self->w[0], -1, make_threads, &threads));
	ASSERT_TRUE(st_child_step(&self->w[0]));
	ASSERT_EQ(0, st_record_add(&self->r, self->w[0].pid));
	ASSERT_EQ(0, schedtape_session_tasks(self->r.session, &tasks, &n, &self->r.err));
	ASSERT_EQ(threads + 1, n);
	for (i = 0; i < n; i++)
		EXPECT_EQ(self->w[0].pid, tasks[i].tgid);
	EXPECT_EQ(0, filter_del(&self->r, tasks[n - 1].pid));
	EXPECT_EQ(0, st_record_tasks(&self->r));
	EXPECT_EQ(0, add(&self->r, tasks[n / 2].pid));
	EXPECT_EQ(threads + 1, st_record_tasks(&self->r));
	free(tasks);
}

/* A task that is not recorded does not appear, not even as a parent. */
TEST_F(filter, parents_outside)
{
	struct schedtape_task_info *tasks;
	size_t n;

	ASSERT_EQ(0, st_child_fork(&self->w[0], -1, breed_and_wait, NULL));
	ASSERT_EQ(0, st_record_add(&self->r, self->w[0].pid));
	ASSERT_TRUE(st_child_step(&self->w[0]));
	ASSERT_EQ(0, schedtape_session_tasks(self->r.session, &tasks, &n, &self->r.err));
	ASSERT_EQ(2, n);
	EXPECT_EQ(self->w[0].pid, tasks[0].pid);
	EXPECT_EQ(0, tasks[0].ppid);
	EXPECT_EQ(self->w[0].pid, tasks[1].ppid);
	free(tasks);
}

/* -- refused ----------------------------------------------------------------- */

static void *add_own_thread(void *arg)
{
	FIXTURE_DATA(filter) *self = arg;

	self->shared[0] = add(&self->r, gettid());
	return NULL;
}

TEST_F(filter, refused)
{
	pthread_t thread;

	EXPECT_EQ(-EINVAL, add(&self->r, 2));		/* kthreadd */
	EXPECT_EQ(-EINVAL, add(&self->r, getpid()));
	ASSERT_EQ(0, pthread_create(&thread, NULL, add_own_thread, self));
	pthread_join(thread, NULL);
	EXPECT_EQ(-EINVAL, self->shared[0]);
	EXPECT_EQ(-ESRCH, add(&self->r, 4194303));
	EXPECT_EQ(-ESRCH, filter_del(&self->r, 4194303));
	EXPECT_EQ(0, st_record_tasks(&self->r));
}

/* Dead, but not reaped: there is nothing left to record. */
TEST_F(filter, zombie)
{
	pid_t pid = fork();

	if (!pid)
		_exit(0);
	ASSERT_TRUE(st_wait_state(pid, 'Z'));
	EXPECT_EQ(-ESRCH, add(&self->r, pid));
	EXPECT_EQ(0, st_record_tasks(&self->r));
	ASSERT_EQ(pid, waitpid(pid, NULL, 0));
}

/* -- namespaces ---------------------------------------------------------------- */

/* Process 2 of a PID namespace names its sibling 3 by its number there. */
static int add_in_namespace(void *arg)
{
	FIXTURE_DATA(filter) *self = arg;
	int status;
	pid_t pid;

	if (unshare(CLONE_NEWPID))
		return 1;
	pid = fork();
	if (!pid) {
		pid_t named = fork();

		if (!named) {
			pause();
			_exit(0);
		}
		self->shared[0] = named;
		self->shared[1] = st_request_u32(STAPE_CMD_FILTER_ADD, STAPE_A_SESSION_ID,
						 schedtape_session_id(self->r.session),
						 STAPE_A_SESSION_PID, named);
		st_gate();
		_exit(0);
	}
	waitpid(pid, &status, 0);
	return status;
}

TEST_F(filter, pid_namespace)
{
	struct schedtape_task_info *tasks;
	size_t n;

	ASSERT_EQ(0, st_child_begin(&self->w[0], -1, add_in_namespace, self));
	while (*self->w[0].arrived < 2)
		usleep(1000);
	ASSERT_EQ(0, self->shared[1]);
	ASSERT_EQ(0, schedtape_session_tasks(self->r.session, &tasks, &n, &self->r.err));
	ASSERT_EQ(1, n);
	EXPECT_EQ(2, self->shared[0]);
	EXPECT_EQ(self->shared[0], tasks[0].ns_pid);
	/* In the initial namespace it has another number, and that one is another task's. */
	EXPECT_NE(tasks[0].ns_pid, tasks[0].pid);
	EXPECT_TRUE(st_wait_state(tasks[0].pid, 'S'));
	free(tasks);
}

/* -- ends ---------------------------------------------------------------------- */

TEST_F(filter, last_task_hangs_up)
{
	struct pollfd p = { .fd = self->fd };

	ASSERT_EQ(0, st_record_child(&self->r, &self->w[0], -1, breed, self->shared));
	ASSERT_TRUE(st_child_step(&self->w[0]));
	/* Its children have ended, but it lives. */
	EXPECT_TRUE(st_record_wait_tasks(&self->r, 1));
	EXPECT_EQ(0, poll(&p, 1, 0));
	st_child_go(&self->w[0]);
	EXPECT_TRUE(hung_up(self->fd));
	EXPECT_EQ(0, st_child_wait(&self->w[0]));
	EXPECT_TRUE(st_record_wait_tasks(&self->r, 0));
}

/* The task dies between the add and the start: no task is left, and the state shows that. */
TEST_F(filter, dead_before_the_start)
{
	ASSERT_EQ(0, st_child_fork(&self->w[0], -1, rename_at_gates, NULL));
	ASSERT_EQ(0, st_record_add(&self->r, self->w[0].pid));
	st_child_kill(&self->w[0]);
	/* A parent can reap it before it has left its CPU. */
	EXPECT_TRUE(st_record_wait_tasks(&self->r, 0));
	ASSERT_EQ(0, st_record_start(&self->r));
	EXPECT_EQ(0, st_record_tasks(&self->r));
	EXPECT_TRUE(hung_up(self->fd));
}

/* A new task in an emptied filter: the file does not report a hang-up any more. */
TEST_F(filter, filled_again)
{
	struct pollfd p = { .fd = self->fd };

	ASSERT_EQ(0, st_record_child(&self->r, &self->w[0], -1, rename_at_gates, NULL));
	st_child_kill(&self->w[0]);
	EXPECT_TRUE(hung_up(self->fd));
	ASSERT_EQ(0, st_child_fork(&self->w[1], -1, rename_at_gates, NULL));
	ASSERT_EQ(0, st_record_add(&self->r, self->w[1].pid));
	EXPECT_EQ(0, poll(&p, 1, 0));
	st_child_kill(&self->w[1]);
	EXPECT_TRUE(hung_up(self->fd));
}

TEST_HARNESS_MAIN
