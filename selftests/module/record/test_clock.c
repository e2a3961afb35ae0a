// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: the clocks that a session may have, and how they map to each other:
 * CLOCK_MONOTONIC, and the CPU's counter if the kernel trusts it.
 */
#include <errno.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include <kselftest_harness.h>

#include "child.h"
#include "invariants.h"
#include "record.h"
#include "task.h"

#define PAGES 64

FIXTURE(clock)
{
	struct st_record r;
	struct st_child w;
	int fd;
};

FIXTURE_VARIANT(clock)
{
	uint32_t clock;
};

FIXTURE_VARIANT_ADD(clock, mono)
{
	.clock = STAPE_CLOCK_MONO,
};

FIXTURE_VARIANT_ADD(clock, counter)
{
	.clock = STAPE_CLOCK_COUNTER,
};

static int set(struct st_record *r, uint32_t clock)
{
	struct schedtape_session_options options = {
		.size = sizeof(options),
		.ring_bytes = PAGES * STAPE_PAGE_SIZE,
		.clock = clock,
	};

	return schedtape_session_set(r->session, &options, &r->err);
}

FIXTURE_SETUP(clock)
{
	struct schedtape_session_state state;
	struct schedtape_module_info info = { .size = sizeof(info) };

	ASSERT_EQ(0, st_record_open(&self->r, 0));
	self->fd = schedtape_session_fd(self->r.session);
	ASSERT_EQ(0, schedtape_client_info(self->r.client, &info, &self->r.err));
	if (variant->clock == STAPE_CLOCK_COUNTER && !info.counter_khz) {
		/* The counter is refused, and the session is as it was. */
		ASSERT_EQ(-EOPNOTSUPP, set(&self->r, variant->clock));
		ASSERT_NE(NULL, strstr(self->r.err.text, "counter"));
		ASSERT_EQ(0, set(&self->r, STAPE_CLOCK_MONO));
		SKIP(return, "the kernel does not trust this counter");
	}
	ASSERT_EQ(0, set(&self->r, variant->clock));
	ASSERT_EQ(0, st_record_get(&self->r, &state));
	ASSERT_EQ(variant->clock, state.clock);
}

ST_TEARDOWN(clock)

static uint64_t time_by(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

/* The counter as user space reads it. */
static uint64_t counter_now(uint32_t clock)
{
#ifdef __x86_64__
	if (clock == STAPE_CLOCK_COUNTER)
		return __builtin_ia32_rdtsc();
#endif
	(void)clock;
	return st_now();
}

/* @low <= @value <= @high, except for the error of the kernel's fast clocks. */
static bool between(uint64_t low, uint64_t value, uint64_t high)
{
	return value + 1000 >= low && value <= high + 1000;
}

TEST_F(clock, before_the_rings)
{
	struct stape_clock_sample sample;
	struct st_record fresh;

	ASSERT_EQ(0, st_record_open(&fresh, 0));
	EXPECT_EQ(-1, ioctl(schedtape_session_fd(fresh.session), STAPE_IOC_CLOCK, &sample));
	EXPECT_EQ(ENODATA, errno);
	st_record_close(&fresh);
	EXPECT_EQ(-1, ioctl(self->fd, STAPE_IOC_CLOCK, (void *)8));
	EXPECT_EQ(EFAULT, errno);
}

TEST_F(clock, samples)
{
	struct stape_clock_sample s = { 0 }, last = { 0 };
	uint64_t mono, boot, real, counter;
	int i;

	for (i = 0; i < 2000; i++) {
		counter = counter_now(variant->clock);
		mono = st_now();
		boot = time_by(CLOCK_BOOTTIME);
		real = time_by(CLOCK_REALTIME);
		ASSERT_EQ(0, schedtape_session_clock(self->r.session, &s, &self->r.err));
		ASSERT_TRUE(between(mono, s.mono, st_now()));
		ASSERT_TRUE(between(boot, s.boot, time_by(CLOCK_BOOTTIME)));
		ASSERT_TRUE(between(real, s.real, time_by(CLOCK_REALTIME)));
		ASSERT_TRUE(between(counter, s.counter, counter_now(variant->clock)));
		ASSERT_LE(last.mono, s.mono);
		ASSERT_LE(last.counter, s.counter);
		last = s;
	}
	EXPECT_EQ(0, s.unstable);
	if (variant->clock == STAPE_CLOCK_MONO) {
		EXPECT_EQ(s.mono, s.counter);
		EXPECT_EQ(1000000, s.khz);
	} else {
		/* From 100 MHz to 10 GHz. */
		EXPECT_LE(100000, s.khz);
		EXPECT_GE(10000000, s.khz);
	}
}

/**
 * struct joint - one point in time by both clocks
 * @sample: the kernel's answer
 * @width: ns that the call took: the two clocks may differ by as much
 */
struct joint {
	struct stape_clock_sample sample;
	uint64_t width;
};

/* The best of several samples, because the caller may lose its CPU in each. */
static int join(struct st_record *r, struct joint *best)
{
	struct joint now;
	int i;

	best->width = ~0ull;
	for (i = 0; i < 50; i++) {
		uint64_t before = st_now();

		if (schedtape_session_clock(r->session, &now.sample, &r->err))
			return -1;
		now.width = st_now() - before;
		if (now.width < best->width)
			*best = now;
	}
	return 0;
}

/* The rate is as reported: within 5 %, or within the error of the samples. */
TEST_F(clock, rate)
{
	struct joint from, to;
	double elapsed, ticks, doubt;

	ASSERT_EQ(0, join(&self->r, &from));
	usleep(200000);
	ASSERT_EQ(0, join(&self->r, &to));
	elapsed = to.sample.mono - from.sample.mono;
	ticks = (to.sample.counter - from.sample.counter) * 1e6 / to.sample.khz;
	doubt = from.width + to.width + elapsed / 20;
	EXPECT_LE(elapsed - doubt, ticks);
	EXPECT_GE(elapsed + doubt, ticks);
}

struct stamp {
	uint64_t before, after;		/* mono */
	uint64_t first, last;		/* by the session's clock */
};

#define STAMPS 200

struct stamper {
	uint32_t clock;
	struct stamp stamps[STAMPS];
};

static int rename_between_stamps(void *arg)
{
	struct stamper *s = arg;
	int i;

	for (i = 0; i < STAMPS; i++) {
		s->stamps[i].before = st_now();
		s->stamps[i].first = counter_now(s->clock);
		prctl(PR_SET_NAME, i & 1 ? "odd" : "even");
		s->stamps[i].last = counter_now(s->clock);
		s->stamps[i].after = st_now();
		if (st_cpus() > 1)
			st_pin(0, i & 1);
	}
	return 0;
}

/* Events have times of the session's clock; two samples convert them to the other clock. */
TEST_F_TIMEOUT(clock, events, 60)
{
	struct stamper *stamper = st_share(sizeof(*stamper));
	struct joint from, to;
	double rate, doubt;
	size_t i, n = 0;

	stamper->clock = variant->clock;
	ASSERT_EQ(0, st_record_child(&self->r, &self->w, -1, rename_between_stamps, stamper));
	ASSERT_EQ(0, join(&self->r, &from));
	ASSERT_TRUE(st_child_step(&self->w));
	ASSERT_EQ(0, join(&self->r, &to));
	ASSERT_EQ(0, st_record_finish(&self->r));
	EXPECT_EQ(NULL, st_check(&self->r, &self->w.pid, 1));
	rate = (double)(to.sample.mono - from.sample.mono) /
	       (to.sample.counter - from.sample.counter);
	/* The clock may be adjusted meanwhile, by 500 ppm at most. */
	doubt = from.width + to.width + (to.sample.mono - from.sample.mono) / 2000.0;
	for (i = 0; i < self->r.n && n < STAMPS; i++) {
		const struct schedtape_event *ev = &self->r.events[i];
		const struct stamp *stamp = &stamper->stamps[n];
		double mono = from.sample.mono +
			      ((double)ev->time - from.sample.counter) * rate;

		if (ev->type != STAPE_EV_RENAME)
			continue;
		EXPECT_TRUE(between(stamp->first, ev->time, stamp->last));
		EXPECT_LE(stamp->before - doubt, mono);
		EXPECT_GE(stamp->after + doubt, mono);
		n++;
	}
	EXPECT_EQ(STAMPS, n);
}

TEST_HARNESS_MAIN
