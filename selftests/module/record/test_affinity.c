// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: changes of affinity, by any task: each is recorded once, and nothing else is.
 */
#include <errno.h>
#include <sched.h>
#include <unistd.h>

#include <kselftest_harness.h>

#include "child.h"
#include "invariants.h"
#include "record.h"
#include "task.h"

#define PAGES 64

FIXTURE(affinity)
{
	struct st_record r;
	struct st_child w[2];
};

FIXTURE_SETUP(affinity)
{
	if (st_cpus() < 2)
		SKIP(return, "needs two CPUs");
	ASSERT_EQ(0, st_record_open(&self->r, PAGES));
}

ST_TEARDOWN(affinity)

/* Sets the CPUs of @mask: bit n is CPU n. */
static int set_affinity(pid_t pid, unsigned long mask)
{
	return sched_setaffinity(pid, sizeof(mask), (cpu_set_t *)&mask);
}

/* Checks that a task's events have these masks, in this order.  Returns -1, or the wrong index. */
static int compare(const struct st_record *r, pid_t pid, const unsigned long *masks, int n)
{
	int at = 0;
	size_t i;

	for (i = 0; i < r->n; i++) {
		const struct schedtape_event *ev = &r->events[i];

		if (ev->type != SCHEDTAPE_EV_AFFINITY || ev->pid != (uint32_t)pid)
			continue;
		if (at == n || (ev->affinity[0] & 3) != masks[at])
			return at;
		at++;
	}
	return at == n ? -1 : at;
}

#define EXPECT_MASKS(r, pid, masks) \
	EXPECT_EQ(-1, compare(r, pid, masks, sizeof(masks) / sizeof((masks)[0])))

/* -- by the task itself ------------------------------------------------------------------- */

static int change_own(void *arg)
{
	(void)arg;
	if (set_affinity(0, 1) || set_affinity(gettid(), 2) || set_affinity(0, 3))
		return 1;
	/* A call that changes nothing is recorded, too, because the task asked for it. */
	if (set_affinity(0, 3))
		return 2;
	if (!set_affinity(0, 0) || errno != EINVAL || !set_affinity(4194304, 1) || errno != ESRCH)
		return 3;
	return 0;
}

TEST_F(affinity, own_changes)
{
	static const unsigned long masks[] = { 1, 2, 3, 3 };

	ASSERT_EQ(0, st_record_child(&self->r, &self->w[0], -1, change_own, NULL));
	ASSERT_TRUE(st_child_step(&self->w[0]));
	ASSERT_EQ(0, st_record_finish(&self->r));
	EXPECT_EQ(NULL, st_check(&self->r, &self->w[0].pid, 1));
	EXPECT_MASKS(&self->r, self->w[0].pid, masks);
	EXPECT_EQ(4, st_count_type(&self->r, SCHEDTAPE_EV_AFFINITY));
	st_child_go(&self->w[0]);
	EXPECT_EQ(0, st_child_wait(&self->w[0]));
}

/* -- by other tasks, in the filter or not ------------------------------------------------- */

static int just_sleep(void *arg)
{
	(void)arg;
	st_gate();
	return 0;
}

static int change_other(void *arg)
{
	return set_affinity(*(pid_t *)arg, 2);
}

TEST_F(affinity, changes_of_others)
{
	static const unsigned long masks[] = { 2, 1 };

	ASSERT_EQ(0, st_child_fork(&self->w[1], -1, just_sleep, NULL));
	ASSERT_EQ(0, st_child_fork(&self->w[0], -1, change_other, &self->w[1].pid));
	ASSERT_EQ(0, st_record_start_with(&self->r, &self->w[1], 1));
	ASSERT_TRUE(st_child_step(&self->w[0]));
	/* By the recorder, which has no identity; and of a task that is not recorded. */
	ASSERT_EQ(0, set_affinity(self->w[1].pid, 1));
	ASSERT_EQ(0, set_affinity(self->w[0].pid, 1));
	ASSERT_EQ(0, st_record_finish(&self->r));
	EXPECT_EQ(NULL, st_check(&self->r, &self->w[1].pid, 1));
	EXPECT_MASKS(&self->r, self->w[1].pid, masks);
	EXPECT_EQ(2, st_count_type(&self->r, SCHEDTAPE_EV_AFFINITY));
}

/* -- when tasks come into the filter ------------------------------------------------------ */

TEST_F(affinity, described)
{
	static const unsigned long free[] = { 3 }, pinned[] = { 2 };
	size_t entered;
	int i;

	for (i = 0; i < 2; i++)
		ASSERT_EQ(0, st_child_fork(&self->w[i], -1, just_sleep, NULL));
	ASSERT_EQ(0, set_affinity(self->w[1].pid, 2));
	ASSERT_EQ(0, st_record_start(&self->r));
	for (i = 0; i < 2; i++)
		ASSERT_EQ(0, st_record_add(&self->r, self->w[i].pid));
	ASSERT_EQ(0, st_record_finish(&self->r));
	EXPECT_MASKS(&self->r, self->w[0].pid, free);
	EXPECT_MASKS(&self->r, self->w[1].pid, pinned);
	entered = st_find_why(&self->r, self->w[1].pid, STAPE_TASK_ENTERS, 0);
	ASSERT_LT(entered + 1, self->r.n);
	EXPECT_EQ(SCHEDTAPE_EV_AFFINITY, self->r.events[entered + 1].type);
}

/* Changes while the task is outside the filter are in its description when it is back. */
TEST_F(affinity, set_outside)
{
	static const unsigned long masks[] = { 3, 1, 3 };
	pid_t pid;

	ASSERT_EQ(0, st_child_fork(&self->w[0], -1, just_sleep, NULL));
	pid = self->w[0].pid;
	ASSERT_EQ(0, st_record_start(&self->r));
	ASSERT_EQ(0, st_record_add(&self->r, pid));
	ASSERT_EQ(0, set_affinity(pid, 1));
	ASSERT_EQ(0, st_record_del(&self->r, pid));
	ASSERT_EQ(0, set_affinity(pid, 3));
	ASSERT_EQ(0, st_record_add(&self->r, pid));
	ASSERT_EQ(0, st_record_finish(&self->r));
	EXPECT_MASKS(&self->r, pid, masks);
}

TEST_HARNESS_MAIN
