// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: tasks whose names are excluded: they leave when they get such a name and enter
 * when they lose it, and while they have it, the pages have nothing about them.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>

#include "caps.h"
#include "invariants.h"
#include "servants.h"

static int exclude(struct st_record *r, const char *one, const char *other)
{
	const char *patterns[2] = { one, other };
	struct schedtape_filter filter = {
		.exclude_comm = patterns,
		.nr_exclude_comm = !!one + !!other,
	};

	return st_record_set(r, &filter);
}

/* None is silently left out of the request. */
TEST_F(servants, patterns_too_long)
{
	char pattern[70000];

	memset(pattern, '*', sizeof(pattern));
	pattern[sizeof(pattern) - 1] = '\0';
	EXPECT_EQ(-EINVAL, exclude(&self->r, "nobody", pattern));
	EXPECT_NE(NULL, strstr(self->r.err.text, "longer than 63"));
	pattern[64] = '\0';
	EXPECT_EQ(-EINVAL, exclude(&self->r, pattern, NULL));
	pattern[63] = '\0';
	EXPECT_EQ(0, exclude(&self->r, pattern, NULL));
}

/* -- leaving and entering ------------------------------------------------------ */

TEST_F(servants, leaves_and_enters)
{
	size_t left, entered, i;

	ASSERT_EQ(0, exclude(&self->r, "secret*", NULL));
	ASSERT_TRUE(servant(self, 0));
	ASSERT_EQ(0, st_record_start_with(&self->r, &self->w[0], 1));
	ASSERT_TRUE(rename_to(self, 0, "open one"));
	EXPECT_EQ(1, st_record_tasks(&self->r));
	ASSERT_TRUE(rename_to(self, 0, "secret one"));
	EXPECT_EQ(0, st_record_tasks(&self->r));
	ASSERT_TRUE(rename_to(self, 0, "secret two"));
	ASSERT_TRUE(rename_to(self, 0, "open two"));
	EXPECT_EQ(1, st_record_tasks(&self->r));
	ASSERT_TRUE(rename_to(self, 0, "open three"));
	ASSERT_EQ(0, st_record_finish(&self->r));

	EXPECT_EQ(NULL, st_check(&self->r, &self->w[0].pid, 1));
	ASSERT_EQ(1, st_count_why(&self->r, 0, STAPE_TASK_LEAVES));
	ASSERT_EQ(1, st_count_why(&self->r, 0, STAPE_TASK_ENTERS));
	left = st_find_why(&self->r, self->w[0].pid, STAPE_TASK_LEAVES, 0);
	entered = st_find_why(&self->r, self->w[0].pid, STAPE_TASK_ENTERS, left);
	ASSERT_LT(entered, self->r.n);
	EXPECT_STREQ("open one", self->r.events[left].comm);
	EXPECT_STREQ("open two", self->r.events[entered].comm);
	EXPECT_EQ(self->w[0].pid, self->r.events[entered].tgid);
	EXPECT_EQ(0, self->r.events[entered].ppid);	/* not recorded */
	EXPECT_EQ(STAPE_STATE_RUNNING, self->r.events[entered].state);
	/* It was on its CPU: the stream switches it out and in again. */
	EXPECT_EQ(STAPE_EV_SWITCH, self->r.events[left + 1].type);
	EXPECT_EQ(self->w[0].pid, self->r.events[left + 1].curr);
	EXPECT_EQ(left + 2, entered);
	EXPECT_EQ(SCHEDTAPE_EV_AFFINITY, self->r.events[entered + 1].type);
	EXPECT_EQ(STAPE_EV_SWITCH, self->r.events[entered + 2].type);
	EXPECT_EQ(self->w[0].pid, self->r.events[entered + 2].pid);
	st_count(&self->r, self->w[0].pid, &self->c);
	EXPECT_EQ(2, self->c.renames);
	for (i = 0; i < self->r.n; i++)
		EXPECT_NE(0, strncmp(self->r.events[i].comm, "secret", 6));
}

TEST_F(servants, patterns)
{
	static const struct {
		const char *pattern, *name;
		bool excluded;
	} cases[] = {
		{ "secret", "secret", true },
		{ "secret", "secrets", false },
		{ "secret", "secre", false },
		{ "s?cret", "sacret", true },
		{ "s?cret", "scret", false },
		{ "*ret", "secret", true },
		{ "s*r*t", "secret", true },
		{ "[a-s]*", "secret", true },
		{ "[!a-s]*", "secret", false },
		{ "*", "anything", true },
		{ "", "anything", false },
		/* Names have 15 characters. */
		{ "0123456789abcde", "0123456789abcdef", true },
		{ "0123456789abcdef", "0123456789abcdef", false },
	};
	char name[17];
	size_t i;

	ASSERT_TRUE(servant(self, 0));
	ASSERT_EQ(0, st_record_add(&self->r, self->w[0].pid));
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		snprintf(name, sizeof(name), "%s", cases[i].name);
		name[15] = '\0';
		/*
		 * First the task has its name before the pattern is set, then the other way
		 * round.
		 */
		ASSERT_EQ(0, exclude(&self->r, NULL, NULL));
		ASSERT_TRUE(rename_to(self, 0, name));
		ASSERT_EQ(1, st_record_tasks(&self->r));
		ASSERT_EQ(0, exclude(&self->r, "nobody", cases[i].pattern));
		EXPECT_EQ(!cases[i].excluded, st_record_tasks(&self->r)) {
			TH_LOG("'%s' by '%s'", name, cases[i].pattern);
		}
		ASSERT_EQ(0, exclude(&self->r, "nobody", NULL));
		ASSERT_TRUE(rename_to(self, 0, "-"));
		ASSERT_EQ(0, exclude(&self->r, cases[i].pattern, "nobody"));
		ASSERT_TRUE(rename_to(self, 0, name));
		EXPECT_EQ(!cases[i].excluded, st_record_tasks(&self->r)) {
			TH_LOG("'%s' by '%s'", name, cases[i].pattern);
		}
	}
}

/* A task that is excluded when it is added is recorded as soon as its name allows. */
TEST_F(servants, added_under_a_wrong_name)
{
	ASSERT_TRUE(servant(self, 0));
	ASSERT_TRUE(rename_to(self, 0, "secret"));
	ASSERT_EQ(0, exclude(&self->r, "secret", NULL));
	ASSERT_EQ(0, st_record_add(&self->r, self->w[0].pid));
	EXPECT_EQ(0, st_record_tasks(&self->r));
	ASSERT_EQ(0, st_record_start(&self->r));
	ASSERT_TRUE(rename_to(self, 0, "open"));
	EXPECT_EQ(1, st_record_tasks(&self->r));
	/* It can be removed while its name is excluded. */
	ASSERT_TRUE(rename_to(self, 0, "secret"));
	EXPECT_EQ(0, st_record_del(&self->r, self->w[0].pid));
	ASSERT_TRUE(rename_to(self, 0, "open"));
	EXPECT_EQ(0, st_record_tasks(&self->r));
	ASSERT_EQ(0, st_record_finish(&self->r));
	EXPECT_EQ(1, st_count_why(&self->r, 0, STAPE_TASK_ENTERS));
	EXPECT_EQ(1, st_count_why(&self->r, 0, STAPE_TASK_LEAVES));
	EXPECT_EQ(NULL, st_check(&self->r, NULL, 0));
}

/* -- nothing in the pages --------------------------------------------------------- */

struct trace {
	uint32_t pid;
	unsigned int pages;
	unsigned int found;
};

/* Looks for the PID wherever a PID may be, and for the name anywhere. */
static void look_for(const void *data, void *arg)
{
	const struct stape_page_header *page = data;
	const uint64_t *words = data;
	struct trace *trace = arg;
	size_t i;

	trace->pages++;
	trace->found += page->curr == trace->pid;
	trace->found += !!memmem(data, page->used, "secret", 6);
	for (i = sizeof(*page) / sizeof(*words); i < page->used / sizeof(*words); i++)
		trace->found += (words[i] >> STAPE_PID_SHIFT & STAPE_PID_MASK) == trace->pid ||
				(uint32_t)words[i] == trace->pid || words[i] >> 32 == trace->pid;
}

TEST_F_TIMEOUT(servants, no_trace, 60)
{
	struct trace trace = { 0 };
	int to[2], fro[2];

	/* A PID that does not occur in pages by chance. */
	if (!st_write_file("/proc/sys/kernel/ns_last_pid", "31336"))
		SKIP(return, "PIDs cannot be chosen");
	ASSERT_EQ(0, pipe(to));
	ASSERT_EQ(0, pipe(fro));
	ASSERT_EQ(0, exclude(&self->r, "secret*", NULL));
	ASSERT_TRUE(servant(self, 0));
	ASSERT_TRUE(servant(self, 1));
	ASSERT_EQ(0, st_record_start_with(&self->r, self->w, 2));
	trace.pid = self->w[0].pid;
	self->r.each = look_for;
	self->r.arg = &trace;
	/* Before its name is excluded, it is in the pages. */
	ASSERT_TRUE(rename_to(self, 0, "open"));
	ASSERT_TRUE(rename_to(self, 0, "secret one"));
	ASSERT_EQ(0, st_record_flush(&self->r));
	EXPECT_LT(0, trace.found);

	trace.found = 0;
	ASSERT_TRUE(rename_to(self, 0, "secret two"));
	ASSERT_TRUE(fork_named(self, 0, "secret three"));
	/* It wakes the other task, and the other task wakes it. */
	self->orders[1] = (struct order){ .name = "w", .get = to[0], .put = fro[1] };
	st_child_go(&self->w[1]);
	ASSERT_TRUE(obeys(self, 0, (struct order){ .put = to[1], .get = fro[0] }));
	ASSERT_EQ(0, st_record_flush(&self->r));
	ASSERT_TRUE(rename_to(self, 1, "witness"));
	ASSERT_TRUE(rename_to(self, 0, "secret four"));
	ASSERT_EQ(0, st_record_finish(&self->r));
	EXPECT_LT(1, trace.pages);
	EXPECT_EQ(0, trace.found);
	/* Its effects on the witness are recorded, without a waker. */
	st_count(&self->r, self->w[1].pid, &self->c);
	EXPECT_LT(0, st_wakings(&self->c));
	EXPECT_EQ(0, self->c.waking_task);
	EXPECT_EQ(0, st_count_type(&self->r, STAPE_EV_FORK));
}

/* -- children, threads, exec ---------------------------------------------------- */

TEST_F(servants, children_of_the_excluded)
{
	pid_t pids[2];

	ASSERT_EQ(0, exclude(&self->r, "secret*", NULL));
	ASSERT_TRUE(servant(self, 0));
	ASSERT_EQ(0, st_record_start_with(&self->r, &self->w[0], 1));
	ASSERT_TRUE(rename_to(self, 0, "secret"));
	ASSERT_EQ(0, st_record_flush(&self->r));
	ASSERT_TRUE(fork_named(self, 0, "secret child"));
	pids[0] = self->orders[0].child;
	ASSERT_TRUE(fork_named(self, 0, "open child"));
	pids[1] = self->orders[0].child;
	EXPECT_TRUE(st_record_wait_tasks(&self->r, 0));
	ASSERT_EQ(0, st_record_finish(&self->r));
	EXPECT_EQ(0, st_named(&self->r, pids[0]));
	EXPECT_EQ(1, st_count_why(&self->r, pids[1], STAPE_TASK_ENTERS));
	st_count(&self->r, pids[1], &self->c);
	EXPECT_EQ(0, self->c.forked);
	EXPECT_EQ(1, self->c.exits);
	EXPECT_EQ(NULL, st_check(&self->r, &self->w[0].pid, 1));
}

static void *sleep_in_thread(void *arg)
{
	*(pid_t *)arg = gettid();
	pause();
	return NULL;
}

/* A thread is renamed by another one while it sleeps. */
static int rename_the_other(void *arg)
{
	static const char * const names[] = { "open", "secret", "secret", "open" };
	volatile pid_t *tid = arg;
	pthread_t thread;
	char path[64];
	int i;

	if (pthread_create(&thread, NULL, sleep_in_thread, arg))
		return 1;
	while (!*tid)
		usleep(1000);
	snprintf(path, sizeof(path), "/proc/self/task/%d/comm", *tid);
	for (i = 0; i < 4; i++) {
		st_gate();
		if (!st_write_file(path, names[i]))
			return 1;
	}
	return 0;
}

TEST_F(servants, renamed_by_another)
{
	pid_t *tid = (pid_t *)self->orders, roots[2];
	int i;

	ASSERT_EQ(0, exclude(&self->r, "secret*", NULL));
	ASSERT_EQ(0, st_child_begin(&self->w[0], -1, rename_the_other, tid));
	ASSERT_TRUE(st_child_settled(&self->w[0]));
	ASSERT_TRUE(st_wait_state(*tid, 'S'));
	ASSERT_EQ(0, st_record_start_with(&self->r, &self->w[0], 1));
	for (i = 0; i < 4; i++) {
		ASSERT_TRUE(st_child_step(&self->w[0]));
		EXPECT_EQ(i == 0 || i == 3 ? 2 : 1, st_record_tasks(&self->r));
	}
	ASSERT_EQ(0, st_record_finish(&self->r));
	roots[0] = self->w[0].pid;
	roots[1] = *tid;
	EXPECT_EQ(1, st_count_why(&self->r, *tid, STAPE_TASK_LEAVES));
	EXPECT_EQ(1, st_count_why(&self->r, *tid, STAPE_TASK_ENTERS));
	EXPECT_EQ(1, st_count_type(&self->r, STAPE_EV_RENAME));
	EXPECT_EQ(0, st_foreign(&self->r, roots, 2));
	EXPECT_EQ(NULL, st_check(&self->r, roots, 2));
}

/* exec changes the name: a task that becomes "true" leaves, one that was "secret" enters. */
TEST_F(servants, exec)
{
	ASSERT_EQ(0, exclude(&self->r, "true", NULL));
	ASSERT_TRUE(servant(self, 0));
	ASSERT_EQ(0, st_record_start_with(&self->r, &self->w[0], 1));
	self->orders[0] = (struct order){ .name = "open", .exec = true };
	st_child_go(&self->w[0]);
	EXPECT_EQ(0, st_child_wait(&self->w[0]));
	EXPECT_EQ(0, st_record_tasks(&self->r));
	ASSERT_EQ(0, st_record_flush(&self->r));
	EXPECT_EQ(1, st_count_why(&self->r, 0, STAPE_TASK_LEAVES));
	EXPECT_EQ(0, st_count_why(&self->r, 0, STAPE_TASK_EXITS));
	EXPECT_EQ(0, st_count_type(&self->r, STAPE_EV_EXEC));
	EXPECT_EQ(0, st_count_type(&self->r, STAPE_EV_EXIT));

	ASSERT_EQ(0, exclude(&self->r, "secret", NULL));
	ASSERT_TRUE(servant(self, 1));
	ASSERT_TRUE(rename_to(self, 1, "secret"));
	ASSERT_EQ(0, st_record_add(&self->r, self->w[1].pid));
	EXPECT_EQ(0, st_record_tasks(&self->r));
	self->orders[1] = (struct order){ .exec = true };
	st_child_go(&self->w[1]);
	EXPECT_EQ(0, st_child_wait(&self->w[1]));
	ASSERT_EQ(0, st_record_finish(&self->r));
	EXPECT_EQ(1, st_count_why(&self->r, 0, STAPE_TASK_ENTERS));
	EXPECT_EQ(1, st_count_why(&self->r, 0, STAPE_TASK_EXITS));
	EXPECT_EQ(1, st_count_type(&self->r, STAPE_EV_EXEC));
	EXPECT_EQ(1, st_count_type(&self->r, STAPE_EV_EXIT));
}

/* -- at the same time --------------------------------------------------------------- */

/* Renames itself once after a while, a little later in each round. */
static int rename_soon(void *arg)
{
	volatile struct order *order = arg;
	unsigned int round, i;

	for (round = 0;; round++) {
		while (!order->get)
			;
		for (i = 0; i < round % 64 * 50; i++)
			__asm__ volatile("");
		prctl(PR_SET_NAME, order->name);
		st_gate();
	}
	return 0;
}

/* Whatever happens in between, the final name decides. */
TEST_F_TIMEOUT(servants, renamed_while_a_rule_changes, 120)
{
	static const char * const names[] = { "secret", "open" };
	struct order *order = &self->orders[0];
	struct st_child *w = &self->w[0];
	unsigned int wrong = 0;
	int round;

	if (st_cpus() < 2)
		SKIP(return, "needs two CPUs");
	ASSERT_EQ(0, exclude(&self->r, "secret", NULL));
	ASSERT_EQ(0, st_child_fork(w, 1, rename_soon, order));
	ASSERT_EQ(0, st_pin(0, 0));
	ASSERT_EQ(0, st_record_start_with(&self->r, w, 1));
	for (round = 0; round < 600; round++) {
		*order = (struct order){ 0 };
		snprintf(order->name, sizeof(order->name), "%s", names[round & 1]);
		st_child_go(w);
		__atomic_store_n(&order->get, 1, __ATOMIC_SEQ_CST);
		ASSERT_EQ(0, exclude(&self->r, "secret", NULL));
		ASSERT_TRUE(st_child_settled(w));
		wrong += st_record_tasks(&self->r) != (round & 1);
	}
	EXPECT_EQ(0, wrong);
	ASSERT_EQ(0, st_record_finish(&self->r));
	EXPECT_EQ(0, self->r.lost);
}

TEST_HARNESS_MAIN
