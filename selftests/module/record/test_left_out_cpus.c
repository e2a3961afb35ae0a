// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: a session that records only some CPUs interrupts no other CPU while it records:
 * not for a flush, not for a change of its filter.
 */
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <kselftest_harness.h>

#include "child.h"
#include "record.h"
#include "task.h"

#define ROUNDS	300

FIXTURE(left_out)
{
	struct st_record r;
	struct st_child stays;
	struct st_child w;
};

FIXTURE_SETUP(left_out)
{
	memset(self, 0, sizeof(*self));
}

FIXTURE_TEARDOWN(left_out)
{
	st_child_kill(&self->w);
	st_child_kill(&self->stays);
	st_record_close(&self->r);
}

/* Returns how many function calls other CPUs have made CPU 1 execute, or -1. */
static long calls_of_cpu1(void)
{
	FILE *file = fopen("/proc/interrupts", "re");
	long cpu0, cpu1 = -1;
	char line[4096];

	if (!file)
		return -1;
	while (cpu1 < 0 && fgets(line, sizeof(line), file))
		if (sscanf(line, " CAL: %ld %ld", &cpu0, &cpu1) != 2)
			cpu1 = -1;
	fclose(file);
	return cpu1;
}

static long now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

/*
 * Uses a session of the CPUs in @mask.  Returns the calls that CPU 1 got for it, or -1; without
 * those that it gets in as much time without a session.  One task stays in the filter, because an
 * empty filter's message is sent by a worker, which the kernel may wake on CPU 1.
 */
static long calls_for(FIXTURE_DATA(left_out) *self, const char *mask)
{
	struct schedtape_session_options options = {
		.ring_bytes = 16 * STAPE_PAGE_SIZE,
		.cpus = (const unsigned char *)mask,
		.cpus_bytes = 1,
	};
	long before, began, took;
	int i;

	if (st_record_open_with(&self->r, options) || st_record_add(&self->r, self->stays.pid) ||
	    st_record_start(&self->r))
		return -1;
	began = now_us();
	before = calls_of_cpu1();
	for (i = 0; i < ROUNDS; i++)
		if (st_record_add(&self->r, self->w.pid) || st_record_flush(&self->r) ||
		    st_record_del(&self->r, self->w.pid))
			return -1;
	before = calls_of_cpu1() - before;
	took = now_us() - began;
	st_record_close(&self->r);
	memset(&self->r, 0, sizeof(self->r));
	/* A debug kernel interrupts all CPUs now and then, and the rounds take long there. */
	before += calls_of_cpu1();
	usleep(took);
	return before - calls_of_cpu1();
}

static int wait_at_gate(void *arg)
{
	(void)arg;
	st_gate();
	return 0;
}

TEST_F_TIMEOUT(left_out, flush_and_filter, 120)
{
	long left_out, recorded;

	if (st_cpus() < 2 || calls_of_cpu1() < 0)
		SKIP(return, "there is one CPU, or the kernel does not count function calls");
	ASSERT_EQ(0, st_pin(0, 0));
	ASSERT_EQ(0, st_child_fork(&self->stays, 0, wait_at_gate, NULL));
	ASSERT_EQ(0, st_child_fork(&self->w, 0, wait_at_gate, NULL));
	/* A session makes three calls a round.  The kernel's own are some tens, 150 with KASAN. */
	left_out = calls_for(self, "\1");
	recorded = calls_for(self, "\3");
	EXPECT_LT(ROUNDS, recorded);
	EXPECT_GT(recorded / 3, left_out);
}

TEST_HARNESS_MAIN
