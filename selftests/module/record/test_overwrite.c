// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: a session in overwrite mode keeps the newest events, without gaps, and is read
 * after its stop.
 */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>

#include "task.h"
#include "two-sessions.h"

static int open_overwriting(struct st_record *r)
{
	struct schedtape_session_options options = {
		.ring_bytes = SMALL * STAPE_PAGE_SIZE,
		.overwrite = true,
	};

	return st_record_open_with(r, options);
}

/* Starts both sessions; they record the child from its gate on. */
static bool start_both(FIXTURE_DATA(two_sessions) *self, pid_t pid)
{
	return !st_record_add(&self->r, pid) && !st_record_add(&self->other, pid) &&
	       !st_record_start(&self->r) && !st_record_start(&self->other);
}

/* Sequence numbers of the pages that were read, by CPU. */
struct sequence {
	uint64_t first[64], next[64];
	unsigned int breaks;
};

static void note_sequence(const void *data, void *arg)
{
	const struct stape_page_header *page = data;
	struct sequence *sequence = arg;

	if (page->cpu >= 64)
		return;
	if (!sequence->next[page->cpu])
		sequence->first[page->cpu] = page->seq;
	else
		sequence->breaks += page->seq != sequence->next[page->cpu];
	sequence->next[page->cpu] = page->seq + 1;
}

static bool same(const struct schedtape_event *a, const struct schedtape_event *b)
{
	return a->type == b->type && a->pid == b->pid && a->arg == b->arg && a->curr == b->curr;
}

/* Tests whether the events of this CPU in @part are the last ones of @whole. */
static bool is_end(const struct st_record *part, const struct st_record *whole, uint32_t cpu)
{
	size_t i = part->n, j = whole->n;

	for (;;) {
		while (i && part->events[i - 1].cpu != cpu)
			i--;
		while (j && whole->events[j - 1].cpu != cpu)
			j--;
		if (!i)
			return true;
		if (!j || !same(&part->events[--i], &whole->events[--j]))
			return false;
	}
}

/* The newest pages of each CPU are there, and the missing events were counted. */
TEST_F_TIMEOUT(two_sessions, overwrite, 60)
{
	static const char * const argv[] = { "pingpong", "4000", NULL };
	struct sequence sequence = { 0 };
	uint64_t events = 0, overwritten = 0;
	struct schedtape_cpu stats;
	uint32_t cpu;

	ASSERT_EQ(0, open_overwriting(&self->r));
	ASSERT_EQ(0, st_record_open(&self->other, LARGE));
	self->r.each = note_sequence;
	self->r.arg = &sequence;
	ASSERT_EQ(0, st_child_program(&self->w[0], 0, argv));
	ASSERT_TRUE(start_both(self, self->w[0].pid));
	st_child_go(&self->w[0]);
	ASSERT_EQ(0, st_child_wait(&self->w[0]));
	ASSERT_TRUE(st_record_wait_tasks(&self->r, 0));
	ASSERT_EQ(0, st_record_finish(&self->r));
	ASSERT_EQ(0, st_record_finish(&self->other));

	EXPECT_EQ(0, self->other.lost);
	EXPECT_EQ(0, self->r.lost);
	EXPECT_EQ(0, sequence.breaks);
	for (cpu = 0; cpu < schedtape_session_cpus(self->r.session); cpu++) {
		ASSERT_TRUE(schedtape_session_cpu(self->r.session, cpu, &stats));
		EXPECT_EQ(0, stats.lost);
		events += stats.events;
		overwritten += stats.overwritten;
		EXPECT_TRUE(is_end(&self->r, &self->other, cpu));
		if (sequence.first[cpu])
			EXPECT_EQ(SMALL, sequence.next[cpu] - sequence.first[cpu]);
	}
	/* The ring was overwritten many times. */
	EXPECT_LT(5 * SMALL, sequence.next[0]);
	EXPECT_LT(0, overwritten);
	ASSERT_TRUE(schedtape_session_cpu(self->r.session, STAPE_CPU_NONE, &stats));
	EXPECT_EQ(0, stats.lost);
	EXPECT_EQ(0, stats.overwritten);
	events += stats.events;
	EXPECT_EQ(events, self->r.n + self->r.idles + overwritten);
	/* Pages that are gone may have told of idle time, too, once each. */
	EXPECT_LE(self->other.n, self->r.n + overwritten);
	EXPECT_LE(self->r.n + overwritten, self->other.n + sequence.next[0]);
	ASSERT_EQ(0, st_record_get(&self->r, &self->state));
	EXPECT_TRUE(self->state.overwrite);
	EXPECT_EQ(overwritten, self->state.overwritten);
	EXPECT_EQ(events, self->state.events);
	EXPECT_EQ(0, self->state.lost);
}

struct reader {
	int fd;
	volatile pid_t tid;
	volatile ssize_t ret;
	char page[2 * SMALL * STAPE_PAGE_SIZE];
};

static void *read_once(void *arg)
{
	struct reader *reader = arg;

	reader->tid = gettid();
	reader->ret = read(reader->fd, reader->page, sizeof(reader->page));
	return NULL;
}

static int sleep_often(void *arg)
{
	st_sleep_often(*(int *)arg);
	return 0;
}

/* read() blocks until the stop, and then returns the pages. */
TEST_F(two_sessions, overwrite_is_read_in_the_end)
{
	static struct reader reader = { .ret = -1 };
	int fd, flags;
	struct pollfd p = { .events = POLLIN };
	pthread_t thread;

	*self->shared = 3000;
	ASSERT_EQ(0, open_overwriting(&self->r));
	fd = schedtape_session_fd(self->r.session);
	reader.fd = fd;
	p.fd = fd;
	flags = fcntl(fd, F_GETFL);
	ASSERT_EQ(0, st_record_child(&self->r, &self->w[0], 0, sleep_often, self->shared));
	ASSERT_EQ(0, pthread_create(&thread, NULL, read_once, &reader));
	while (!reader.tid)
		usleep(1000);
	ASSERT_TRUE(st_child_step(&self->w[0]));
	ASSERT_EQ(0, st_record_pause(&self->r));
	ASSERT_EQ(0, st_record_start(&self->r));
	ASSERT_EQ(0, schedtape_session_flush(self->r.session, &self->r.err));
	ASSERT_TRUE(st_wait_state(reader.tid, 'S'));
	EXPECT_EQ(-1, reader.ret);
	EXPECT_EQ(0, poll(&p, 1, 0));
	ASSERT_EQ(0, st_record_stop(&self->r));
	pthread_join(thread, NULL);
	EXPECT_LE(SMALL * STAPE_PAGE_SIZE, reader.ret);
	EXPECT_EQ(0, reader.ret % STAPE_PAGE_SIZE);
	EXPECT_EQ(1, poll(&p, 1, 0));
	ASSERT_EQ(0, fcntl(fd, F_SETFL, flags | O_NONBLOCK));
	while (read(fd, reader.page, STAPE_PAGE_SIZE) > 0)
		;
	EXPECT_EQ(0, read(fd, reader.page, STAPE_PAGE_SIZE));
}

TEST_HARNESS_MAIN
