/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A session, and children that do between gates what the test orders.
 */
#ifndef SELFTESTS_SERVANTS_H
#define SELFTESTS_SERVANTS_H

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <kselftest_harness.h>

#include "child.h"
#include "record.h"
#include "task.h"

#define PAGES 256

/**
 * struct order - what a child does between two gates, in this order
 * @cpu: the CPU that it moves to, plus 1; 0: it stays
 * @fork: it forks a child, which does the rest
 * @name: its new name; "": it keeps its own
 * @exec: it executes /bin/true
 * @put, @get: files to write a byte to, and to read one from; 0: none
 * @child: PID of the forked child
 */
struct order {
	int cpu;
	bool fork;
	char name[32];
	bool exec;
	int put, get;
	pid_t child;
};

FIXTURE(servants)
{
	struct st_record r;
	struct st_child w[2];
	struct order *orders;
	struct st_counts c;
};

FIXTURE_SETUP(servants)
{
	self->orders = st_share(4096);
	ASSERT_EQ(0, st_record_open(&self->r, PAGES));
}

ST_TEARDOWN(servants)

static inline void obey(struct order *order)
{
	pid_t pid;
	char c;

	if (order->cpu)
		st_pin(0, order->cpu - 1);
	pid = order->fork ? fork() : 0;
	if (pid) {
		order->child = pid;
		waitpid(pid, NULL, 0);
		return;
	}
	if (order->name[0])
		prctl(PR_SET_NAME, order->name);
	if (order->exec) {
		munlockall();
		execl("/bin/true", "true", NULL);
	}
	if (order->put && write(order->put, "", 1) != 1)
		_exit(1);
	if (order->get && read(order->get, &c, 1) != 1)
		_exit(1);
	if (order->fork)
		_exit(0);
}

static inline int serve(void *arg)
{
	for (;;) {
		obey(arg);
		st_gate();
	}
	return 0;
}

static inline bool servant(FIXTURE_DATA(servants) *self, int i)
{
	return !st_child_fork(&self->w[i], -1, serve, &self->orders[i]);
}

static inline bool obeys(FIXTURE_DATA(servants) *self, int i, struct order order)
{
	self->orders[i] = order;
	return st_child_step(&self->w[i]);
}

static inline bool rename_to(FIXTURE_DATA(servants) *self, int i, const char *name)
{
	struct order order = { 0 };

	snprintf(order.name, sizeof(order.name), "%s", name);
	return obeys(self, i, order);
}

static inline bool fork_named(FIXTURE_DATA(servants) *self, int i, const char *name)
{
	struct order order = { .fork = true };

	snprintf(order.name, sizeof(order.name), "%s", name);
	return obeys(self, i, order);
}

#endif /* SELFTESTS_SERVANTS_H */
