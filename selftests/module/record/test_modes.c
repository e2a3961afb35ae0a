// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: what a session may do besides recording all there is from start
 * to stop: pause, keep the newest only, share tasks with other sessions; and
 * that words which hold two events do.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <kselftest_harness.h>

#include "child.h"
#include "invariants.h"
#include "record.h"
#include "task.h"
#include "time-limit.h"

#define LARGE	4096
#define SMALL	4

FIXTURE(modes)
{
	struct st_record r;
	struct st_record other;
	struct st_child w[2];
	struct schedtape_session_state state;
	unsigned int *shared;
};

FIXTURE_SETUP(modes)
{
	memset(self, 0, sizeof(*self));
	self->shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			    -1, 0);
	ASSERT_NE(MAP_FAILED, self->shared);
}

FIXTURE_TEARDOWN(modes)
{
	st_child_kill(&self->w[0]);
	st_child_kill(&self->w[1]);
	st_record_close(&self->r);
	st_record_close(&self->other);
}

/* Between gates: so many renames, and a child that renames itself once. */
static int rename_and_fork(void *arg)
{
	unsigned int *times = arg, i;
	pid_t pid;

	for (;;) {
		for (i = 0; i < *times; i++)
			prctl(PR_SET_NAME, i & 1 ? "odd" : "even");
		pid = fork();
		if (!pid) {
			prctl(PR_SET_NAME, "child");
			_exit(0);
		}
		waitpid(pid, NULL, 0);
		st_gate();
	}
	return 0;
}

static const char *check(const struct st_record *r, const pid_t *roots, size_t n)
{
	const char *bad = st_check(r, roots, n);

	if (bad)
		printf("# %s\n", bad);
	return bad;
}

/* -- pauses ------------------------------------------------------------------------- */

/* What each page says of pauses, by its flag. */
struct pauses {
	unsigned int n;
	uint64_t first[64], last[64];
	unsigned int others;	/* flags that there are not */
};

static void note_pause(const void *data, void *arg)
{
	const struct stape_page_header *page = data;
	struct pauses *pauses = arg;

	pauses->others += !!(page->flags & ~STAPE_PAGE_PAUSED);
	if (!(page->flags & STAPE_PAGE_PAUSED) || pauses->n == 64)
		return;
	pauses->first[pauses->n] = page->lost_first;
	pauses->last[pauses->n++] = page->lost_last;
}

TEST_F(modes, pause)
{
	struct pauses pauses = { 0 };
	uint64_t before, paused, resumed;
	size_t i;

	*self->shared = 10;
	ASSERT_EQ(0, st_record_open(&self->r, LARGE));
	self->r.each = note_pause;
	self->r.arg = &pauses;
	ASSERT_EQ(0, st_child_fork(&self->w[0], -1, rename_and_fork, self->shared));
	ASSERT_EQ(0, st_record_add(&self->r, self->w[0].pid));
	ASSERT_EQ(0, st_record_start(&self->r));
	ASSERT_TRUE(st_child_step(&self->w[0]));
	before = st_now();
	ASSERT_EQ(0, st_record_pause(&self->r));
	paused = st_now();
	/* What there is so far can be read. */
	ASSERT_EQ(0, st_record_take(&self->r));
	EXPECT_EQ(11, st_count_type(&self->r, STAPE_EV_RENAME));
	EXPECT_EQ(0, pauses.n);
	ASSERT_TRUE(st_child_step(&self->w[0]));
	ASSERT_EQ(0, st_record_take(&self->r));
	EXPECT_EQ(11, st_count_type(&self->r, STAPE_EV_RENAME));
	resumed = st_now();
	ASSERT_EQ(0, st_record_start(&self->r));
	ASSERT_TRUE(st_child_step(&self->w[0]));
	ASSERT_EQ(0, st_record_finish(&self->r));

	EXPECT_EQ(22, st_count_type(&self->r, STAPE_EV_RENAME));
	EXPECT_EQ(2, st_count_type(&self->r, STAPE_EV_FORK));
	EXPECT_EQ(0, pauses.others);
	EXPECT_LT(0, pauses.n);
	EXPECT_EQ(pauses.n, st_count_type(&self->r, SCHEDTAPE_EV_PAUSED));
	for (i = 0; i < pauses.n; i++) {
		EXPECT_GE(pauses.first[i], before);
		EXPECT_LE(pauses.first[i], paused);
		EXPECT_GE(pauses.last[i], resumed);
		EXPECT_LE(pauses.last[i], st_now());
	}
	for (i = 0; i < self->r.n; i++)
		EXPECT_TRUE(schedtape_event_is_gap(&self->r.events[i]) ||
			    self->r.events[i].time <= paused || self->r.events[i].time >= resumed);
	EXPECT_EQ(NULL, check(&self->r, &self->w[0].pid, 1));
	EXPECT_EQ(0, st_foreign(&self->r, &self->w[0].pid, 1));
}

TEST_F(modes, pause_states)
{
	struct st_record *r = &self->r;

	ASSERT_EQ(0, st_record_open(r, 0));
	EXPECT_EQ(-EINVAL, st_record_pause(r));
	st_record_close(r);
	ASSERT_EQ(0, st_record_open(r, SMALL));
	EXPECT_EQ(-EINVAL, st_record_pause(r));
	ASSERT_EQ(0, st_record_start(r));
	EXPECT_EQ(0, st_record_pause(r));
	EXPECT_EQ(-EALREADY, st_record_pause(r));
	EXPECT_NE(NULL, strstr(r->err.text, "paused already"));
	ASSERT_EQ(0, st_record_get(r, &self->state));
	EXPECT_EQ(STAPE_SESSION_PAUSED, self->state.state);
	EXPECT_NE(0, self->state.start_time);
	EXPECT_EQ(0, self->state.stop_time);
	EXPECT_EQ(0, st_record_start(r));
	EXPECT_EQ(-EALREADY, st_record_start(r));
	EXPECT_EQ(0, st_record_pause(r));
	EXPECT_EQ(0, st_record_stop(r));
	EXPECT_EQ(-EINVAL, st_record_pause(r));
	EXPECT_EQ(-EINVAL, st_record_start(r));
	ASSERT_EQ(0, st_record_get(r, &self->state));
	EXPECT_EQ(STAPE_SESSION_STOPPED, self->state.state);
}

static int rename_for_ever(void *arg)
{
	unsigned int *stop = arg;

	while (!__atomic_load_n(stop, __ATOMIC_SEQ_CST))
		prctl(PR_SET_NAME, "renamed");
	return 0;
}

/* Who runs all the time runs behind each pause, and the page says so. */
TEST_F_TIMEOUT(modes, pauses_of_a_running_one, 60)
{
	struct pauses pauses = { 0 };
	int round;
	size_t i;

	ASSERT_EQ(0, st_record_open(&self->r, LARGE));
	self->r.each = note_pause;
	self->r.arg = &pauses;
	ASSERT_EQ(0, st_child_fork(&self->w[0], st_cpus() > 1, rename_for_ever, self->shared));
	ASSERT_EQ(0, st_record_add(&self->r, self->w[0].pid));
	ASSERT_EQ(0, st_record_start(&self->r));
	st_child_go(&self->w[0]);
	for (round = 0; round < 5; round++) {
		/* Until it was seen. */
		do {
			i = self->r.n;
			ASSERT_EQ(0, st_record_flush(&self->r));
		} while (i == self->r.n || self->r.events[self->r.n - 1].type != STAPE_EV_RENAME);
		ASSERT_EQ(0, st_record_pause(&self->r));
		ASSERT_EQ(0, st_record_take(&self->r));
		ASSERT_EQ(0, st_record_start(&self->r));
	}
	/* Twice at once: one range, from the first on. */
	ASSERT_EQ(0, st_record_pause(&self->r));
	ASSERT_EQ(0, st_record_start(&self->r));
	ASSERT_EQ(0, st_record_pause(&self->r));
	ASSERT_EQ(0, st_record_start(&self->r));
	__atomic_store_n(self->shared, 1, __ATOMIC_SEQ_CST);
	ASSERT_TRUE(st_child_settled(&self->w[0]));
	ASSERT_EQ(0, st_record_finish(&self->r));
	EXPECT_LE(5, pauses.n);
	for (i = 0; i < self->r.n; i++)
		if (self->r.events[i].type == STAPE_EV_RENAME)
			EXPECT_EQ(self->w[0].pid, self->r.events[i].curr);
	EXPECT_EQ(NULL, check(&self->r, &self->w[0].pid, 1));
}

static void *nothing(void *arg)
{
	return arg;
}

/* Threads end faster than processes, and nobody reaps them. */
static int fork_for_ever(void *arg)
{
	unsigned int *stop = arg;
	pthread_t thread;

	while (!__atomic_load_n(stop, __ATOMIC_SEQ_CST))
		if (pthread_create(&thread, NULL, nothing, NULL) || pthread_join(thread, NULL))
			return 1;
	return 0;
}

/* Somebody whose last switch is in the stream, and not his exit before it. */
static uint32_t untold(const struct st_record *r)
{
	static bool told[1 << STAPE_PID_BITS];
	size_t i;

	memset(told, 0, sizeof(told));
	for (i = 0; i < r->n; i++) {
		const struct schedtape_event *ev = &r->events[i];

		if (ev->type == STAPE_EV_EXIT)
			told[ev->pid] = true;
		if (ev->type == STAPE_EV_SWITCH && ev->curr && !told[ev->curr] &&
		    schedtape_switch_state(ev) == STAPE_STATE_DEAD)
			return ev->curr;
	}
	return 0;
}

/*
 * Who exits in a pause is not in the stream behind it, though its last switch may come
 * there: by then it may be reaped, and nobody could find out who it was.
 */
TEST_F_TIMEOUT(modes, pauses_of_one_who_forks, 120)
{
	int round;

	ASSERT_EQ(0, st_record_open(&self->r, LARGE));
	ASSERT_EQ(0, st_child_fork(&self->w[0], st_cpus() > 1, fork_for_ever, self->shared));
	ASSERT_EQ(0, st_record_add(&self->r, self->w[0].pid));
	ASSERT_EQ(0, st_record_start(&self->r));
	st_child_go(&self->w[0]);
	for (round = 0; round < 500; round++) {
		ASSERT_EQ(0, st_record_pause(&self->r));
		ASSERT_EQ(0, st_record_take(&self->r));
		ASSERT_EQ(0, st_record_start(&self->r));
		usleep(100);
	}
	__atomic_store_n(self->shared, 1, __ATOMIC_SEQ_CST);
	ASSERT_TRUE(st_child_settled(&self->w[0]));
	ASSERT_TRUE(st_record_wait_tasks(&self->r, 1));
	ASSERT_EQ(0, st_record_finish(&self->r));
	EXPECT_EQ(0, self->r.lost);
	EXPECT_LT(0, st_count_type(&self->r, STAPE_EV_FORK));
	EXPECT_EQ(0, untold(&self->r));
}

/* Lost before the pause and told behind it: one page with both, and a range of both. */
TEST_F(modes, pause_behind_a_loss)
{
	const struct schedtape_event *lost = NULL, *paused = NULL;
	struct schedtape_cpu stats;
	uint64_t resumed;
	size_t i;

	*self->shared = 5000;
	ASSERT_EQ(0, st_record_open(&self->r, SMALL));
	ASSERT_EQ(0, st_child_fork(&self->w[0], 0, rename_and_fork, self->shared));
	ASSERT_EQ(0, st_record_add(&self->r, self->w[0].pid));
	ASSERT_EQ(0, st_record_start(&self->r));
	ASSERT_TRUE(st_child_step(&self->w[0]));
	ASSERT_EQ(0, st_record_pause(&self->r));
	ASSERT_TRUE(schedtape_session_cpu(self->r.session, 0, &stats));
	EXPECT_LT(0, stats.lost);
	*self->shared = 10;
	ASSERT_TRUE(st_child_step(&self->w[0]));
	ASSERT_EQ(0, st_record_take(&self->r));
	EXPECT_EQ(0, self->r.lost);
	resumed = st_now();
	ASSERT_EQ(0, st_record_start(&self->r));
	ASSERT_TRUE(st_child_step(&self->w[0]));
	ASSERT_EQ(0, st_record_finish(&self->r));
	for (i = 0; i < self->r.n; i++) {
		if (self->r.events[i].cpu)
			continue;
		if (self->r.events[i].type == SCHEDTAPE_EV_LOST)
			lost = &self->r.events[i];
		if (self->r.events[i].type == SCHEDTAPE_EV_PAUSED)
			paused = &self->r.events[i];
	}
	ASSERT_NE(NULL, lost);
	ASSERT_NE(NULL, paused);
	EXPECT_EQ(stats.lost, lost->lost);
	EXPECT_EQ(stats.lost_first, lost->lost_first);
	EXPECT_LE(resumed, lost->lost_last);
	EXPECT_EQ(lost->lost_first, paused->lost_first);
	EXPECT_EQ(lost->lost_last, paused->lost_last);
	ASSERT_TRUE(schedtape_session_cpu(self->r.session, 0, &stats));
	EXPECT_EQ(lost->lost, stats.lost);
}

/* -- overwriting -------------------------------------------------------------------- */

static int open_overwriting(struct st_record *r)
{
	struct schedtape_session_options options = {
		.ring_bytes = SMALL * STAPE_PAGE_SIZE,
		.overwrite = true,
	};

	return st_record_open_with(r, options);
}

/* Both record the child, from its gate on. */
static bool start_both(FIXTURE_DATA(modes) *self, pid_t pid)
{
	return !st_record_add(&self->r, pid) && !st_record_add(&self->other, pid) &&
	       !st_record_start(&self->r) && !st_record_start(&self->other);
}

/* Numbers of the pages that were taken, by CPU. */
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

/* Of this CPU, @part is the end of @whole. */
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

/* The newest pages of each CPU are there, and what is not was counted. */
TEST_F_TIMEOUT(modes, overwrite, 60)
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
	/* Many times over. */
	EXPECT_LT(5 * SMALL, sequence.next[0]);
	EXPECT_LT(0, overwritten);
	EXPECT_EQ(events, self->r.n + overwritten);
	EXPECT_EQ(self->other.n, self->r.n + overwritten);
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

/* The reader is kept waiting until the stop, and then gets what there is. */
TEST_F(modes, overwrite_is_read_in_the_end)
{
	static struct reader reader = { .ret = -1 };
	int fd, flags;
	struct pollfd p = { .events = POLLIN };
	pthread_t thread;

	*self->shared = 5000;
	ASSERT_EQ(0, open_overwriting(&self->r));
	fd = schedtape_session_fd(self->r.session);
	reader.fd = fd;
	p.fd = fd;
	flags = fcntl(fd, F_GETFL);
	ASSERT_EQ(0, st_child_fork(&self->w[0], 0, rename_and_fork, self->shared));
	ASSERT_EQ(0, st_record_add(&self->r, self->w[0].pid));
	ASSERT_EQ(0, st_record_start(&self->r));
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

/* -- several sessions ------------------------------------------------------------------ */

/* Both have the same names of it, in the same order. */
static bool same_renames(const struct st_record *a, const struct st_record *b, uint32_t pid)
{
	size_t i = 0, j = 0;

	for (;;) {
		while (i < a->n && (a->events[i].type != STAPE_EV_RENAME ||
				    a->events[i].pid != pid))
			i++;
		while (j < b->n && (b->events[j].type != STAPE_EV_RENAME ||
				    b->events[j].pid != pid))
			j++;
		if (i == a->n || j == b->n)
			return i == a->n && j == b->n;
		if (strcmp(a->events[i++].comm, b->events[j++].comm))
			return false;
	}
}

/* Each with tasks of its own and some in common; one of them loses nearly all. */
TEST_F_TIMEOUT(modes, sessions, 60)
{
	struct schedtape_filter all = { .all = true };
	struct st_record third;
	int i;

	*self->shared = 2000;
	ASSERT_EQ(0, st_record_open(&self->r, LARGE / 4));
	ASSERT_EQ(0, st_record_open(&self->other, SMALL));
	ASSERT_EQ(0, st_record_open(&third, LARGE / 4));
	for (i = 0; i < 2; i++)
		ASSERT_EQ(0, st_child_fork(&self->w[i], -1, rename_and_fork, self->shared));
	ASSERT_EQ(0, st_record_add(&self->r, self->w[0].pid));
	ASSERT_EQ(0, st_record_add(&self->other, self->w[1].pid));
	ASSERT_EQ(0, st_record_set(&third, &all));
	ASSERT_EQ(0, st_record_start(&self->r));
	ASSERT_EQ(0, st_record_start(&self->other));
	ASSERT_EQ(0, st_record_start(&third));
	for (i = 0; i < 2; i++)
		ASSERT_TRUE(st_child_step(&self->w[i]));
	/* One pauses, and others do not. */
	ASSERT_EQ(0, st_record_pause(&self->r));
	*self->shared = 10;
	for (i = 0; i < 2; i++)
		ASSERT_TRUE(st_child_step(&self->w[i]));
	ASSERT_EQ(0, st_record_start(&self->r));
	ASSERT_EQ(0, st_record_finish(&third));
	ASSERT_EQ(0, st_record_finish(&self->other));
	/* The others have gone. */
	for (i = 0; i < 2; i++)
		ASSERT_TRUE(st_child_step(&self->w[i]));
	ASSERT_EQ(0, st_record_finish(&self->r));

	EXPECT_EQ(0, self->r.lost);
	EXPECT_EQ(0, third.lost);
	ASSERT_EQ(0, st_record_get(&self->other, &self->state));
	EXPECT_LT(0, self->state.lost);
	EXPECT_EQ(0, st_named(&self->other, self->w[0].pid));
	EXPECT_EQ(0, st_foreign(&self->r, &self->w[0].pid, 1));
	EXPECT_EQ(2001 + 11, st_count_type(&self->r, STAPE_EV_RENAME));
	EXPECT_EQ(2 * (2001 + 11), st_count_type(&third, STAPE_EV_RENAME));
	EXPECT_TRUE(same_renames(&self->r, &third, self->w[0].pid));
	EXPECT_EQ(NULL, check(&self->r, &self->w[0].pid, 1));
	st_record_close(&third);
}

/* -- words with two events ---------------------------------------------------------------- */

struct words {
	uint64_t wakes, others, wakeups, events;
};

/* Words by their types, without the library. */
static void count_words(const void *data, void *arg)
{
	const struct stape_page_header *page = data;
	const uint64_t *word = (const uint64_t *)(page + 1);
	const uint64_t *end = (const uint64_t *)((const char *)data + page->used);
	struct words *words = arg;

	words->events += page->events;
	while (word < end) {
		unsigned int type = *word >> STAPE_TYPE_SHIFT;

		words->wakes += type == STAPE_EV_WAKE;
		words->wakeups += type == STAPE_EV_WAKE || type == STAPE_EV_WAKEUP;
		words->others += type != STAPE_EV_WAKE && type != STAPE_EV_ARG &&
				 type != STAPE_EV_TIME;
		word += 1 + (type >= STAPE_EV_EXEC && type < STAPE_EV_ARG ?
			     *word & STAPE_PAYLOAD_MASK : 0);
	}
}

TEST_F_TIMEOUT(modes, wakes, 60)
{
	static const char * const argv[] = { "pingpong", "1000", NULL };
	struct words words = { 0 };
	pid_t root;
	size_t i;

	ASSERT_EQ(0, st_record_open(&self->r, LARGE));
	self->r.each = count_words;
	self->r.arg = &words;
	ASSERT_EQ(0, st_child_program(&self->w[0], 0, argv));
	root = self->w[0].pid;
	ASSERT_EQ(0, st_record_add(&self->r, root));
	ASSERT_EQ(0, st_record_start(&self->r));
	st_child_go(&self->w[0]);
	ASSERT_EQ(0, st_child_wait(&self->w[0]));
	ASSERT_TRUE(st_record_wait_tasks(&self->r, 0));
	ASSERT_EQ(0, st_record_finish(&self->r));
	EXPECT_EQ(0, self->r.lost);
	printf("# %llu of %llu wakeups in one word with their waking\n",
	       (unsigned long long)words.wakes, (unsigned long long)words.wakeups);
	/* The two have to be close to each other, by the clock. */
	if (st_exact())
		EXPECT_LT(0, words.wakes);
	EXPECT_EQ(words.events, words.others + 2 * words.wakes);
	EXPECT_EQ(words.events, self->r.n);
	EXPECT_EQ(words.wakeups, st_count_type(&self->r, STAPE_EV_WAKEUP));
	EXPECT_EQ(0, st_count_type(&self->r, STAPE_EV_WAKE));
	/* Each wakeup has its waking before it, whether in one word or in two. */
	EXPECT_EQ(NULL, check(&self->r, &root, 1));
	for (i = 0; i < self->r.n; i++)
		if (self->r.events[i].type == STAPE_EV_WAKEUP)
			EXPECT_GT(st_cpus(), self->r.events[i].arg);
}

TEST_HARNESS_MAIN
