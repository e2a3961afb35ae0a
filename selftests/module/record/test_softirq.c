// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: which task a softirq is charged to: over loopback the sender wakes the receiver,
 * and a task that a timer or a packet only interrupts wakes nothing.
 */
#include <dirent.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <kselftest_harness.h>

#include "caps.h"
#include "child.h"
#include "invariants.h"
#include "record.h"
#include "task.h"
#include "time-limit.h"

#define PAGES	1024
#define ROUNDS	300
#define RPS	"/sys/class/net/lo/queues/rx-0/rps_cpus"

FIXTURE(softirq)
{
	struct st_record r;
	struct st_child w[3];
	pid_t roots[64];
	int n;
	int fds[2];
	bool rps;
};

FIXTURE_SETUP(softirq)
{
	ASSERT_EQ(0, st_record_open(&self->r, PAGES));
}

FIXTURE_TEARDOWN(softirq)
{
	if (self->rps)
		st_write_file(RPS, "0");
	st_children_kill(self->w, 3);
	st_record_close(&self->r);
}

/* A connection over loopback. */
static int connect_pair(int *fds)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	socklen_t size = sizeof(address);
	int listener = socket(AF_INET, SOCK_STREAM, 0), on = 1, i;

	fds[0] = socket(AF_INET, SOCK_STREAM, 0);
	if (bind(listener, (void *)&address, size) || listen(listener, 1) ||
	    getsockname(listener, (void *)&address, &size) ||
	    connect(fds[0], (void *)&address, size))
		return -errno;
	fds[1] = accept(listener, NULL, NULL);
	close(listener);
	for (i = 0; i < 2; i++)
		if (setsockopt(fds[i], IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)))
			return -errno;
	return 0;
}

struct player {
	int fd;
	bool first;
};

static int play(void *arg)
{
	struct player *p = arg;
	int i;
	char c;

	st_batch();
	for (i = 0; i < ROUNDS; i++) {
		if (p->first && write(p->fd, "x", 1) != 1)
			return 1;
		if (read(p->fd, &c, 1) != 1)
			return 1;
		if (!p->first && write(p->fd, "x", 1) != 1)
			return 1;
	}
	return 0;
}

static int burn_for_ever(void *arg)
{
	(void)arg;
	for (;;)
		st_burn(1000000000);
	return 0;
}

/*
 * A softirq that takes long is left to ksoftirqd, which then is the waker: it is recorded, too,
 * so that its wake-ups can be told from others. On PREEMPT_RT a second kernel thread runs the
 * timers, and sends the packets that they send.
 */
static bool add_ksoftirqds(FIXTURE_DATA(softirq) *self)
{
	struct schedtape_filter filter = { .kthreads = true };
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	bool done = proc && !st_record_set(&self->r, &filter);
	char path[300], comm[32];

	while (done && (entry = readdir(proc))) {
		FILE *file;

		snprintf(path, sizeof(path), "/proc/%s/comm", entry->d_name);
		file = fopen(path, "re");
		if (!file)
			continue;
		if (fgets(comm, sizeof(comm), file) && self->n < 64 &&
		    (!strncmp(comm, "ksoftirqd/", 10) || !strncmp(comm, "ktimers/", 8))) {
			self->roots[self->n++] = atoi(entry->d_name);
			done = !st_record_add(&self->r, atoi(entry->d_name));
		}
		fclose(file);
	}
	if (proc)
		closedir(proc);
	return done;
}

static bool add_work(FIXTURE_DATA(softirq) *self, int i)
{
	self->roots[self->n++] = self->w[i].pid;
	return !st_record_add(&self->r, self->w[i].pid);
}

/* Records from gate to gate: waits for the first two children; the third one is a bystander. */
static bool record(FIXTURE_DATA(softirq) *self)
{
	int i;

	for (i = 0; i < 3; i++)
		if (self->w[i].pid && !add_work(self, i))
			return false;
	if (st_record_start(&self->r))
		return false;
	for (i = 2; i >= 0; i--)
		if (self->w[i].pid)
			st_child_go(&self->w[i]);
	for (i = 0; i < 2; i++)
		if (self->w[i].pid && !st_child_settled(&self->w[i]))
			return false;
	if (st_record_finish(&self->r))
		return false;
	return !st_check(&self->r, self->roots, self->n) &&
	       !st_foreign(&self->r, self->roots, self->n);
}

/**
 * struct wakings - wakers of one task
 * @peer: wake-ups by the other player
 * @kthreads: by ksoftirqd, ktimers
 * @others: by any other task, or by none
 * @early: wake-ups before the task slept, by any waker
 * @above: all that interrupted the bystander, except the early ones
 * @blamed: those whose waker is recorded as the bystander, except the early ones
 * @last: the last one of @others
 */
struct wakings {
	unsigned int peer, kthreads, others, early;
	unsigned int above, blamed;
	struct schedtape_event last;
};

static void count_waker(FIXTURE_DATA(softirq) *self, struct wakings *n, uint32_t peer,
			const struct schedtape_event *ev)
{
	bool kthread = ev->curr && ev->curr != peer && ev->curr != (uint32_t)self->w[2].pid;

	if (peer && ev->curr == peer && schedtape_waking_by_task(ev)) {
		n->peer++;
	} else if (kthread) {
		n->kthreads++;
	} else {
		n->others++;
		n->last = *ev;
	}
}

/*
 * Counts wake-ups of a task that sleeps, except for a lock of the kernel: the bystander may
 * hold such a lock, on PREEMPT_RT by disabling softirqs. Skips the first wake-up, at the task's
 * gate.
 */
static struct wakings wakings_of(FIXTURE_DATA(softirq) *self, int player)
{
	uint32_t pid = self->w[player].pid, bystander = self->w[2].pid;
	struct wakings n = { 0 };
	bool asleep = false;
	size_t i;

	for (i = 0; i < self->r.n; i++) {
		const struct schedtape_event *ev = &self->r.events[i];

		if (ev->type == STAPE_EV_SWITCH && ev->curr == pid)
			asleep = schedtape_switch_state(ev) == STAPE_STATE_SLEEPING;
		if (ev->type != STAPE_EV_WAKING || ev->pid != pid)
			continue;
		if (asleep && bystander && ev->curr == bystander) {
			n.above += !schedtape_waking_by_task(ev);
			n.blamed += schedtape_waking_by_task(ev);
		}
		if (asleep)
			count_waker(self, &n, self->w[!player].pid, ev);
		else
			n.early++;
		asleep = false;
	}
	printf("# %u: %u by its peer, %u by kernel threads, %u by others, %u too early to "
	       "sleep, %u above a bystander\n", pid, n.peer, n.kthreads, n.others, n.early,
	       n.above);
	return n;
}

static bool start_players(FIXTURE_DATA(softirq) *self, struct player *players, int cpu)
{
	int i;

	if (connect_pair(self->fds))
		return false;
	for (i = 0; i < 2; i++) {
		players[i] = (struct player){ .fd = self->fds[i], .first = !i };
		if (st_child_fork(&self->w[i], i ? cpu : 0, play, &players[i]))
			return false;
	}
	return true;
}

FIXTURE_VARIANT(softirq)
{
	bool spread;	/* on two CPUs if possible */
};

FIXTURE_VARIANT_ADD(softirq, one_cpu)
{
};

FIXTURE_VARIANT_ADD(softirq, two_cpus)
{
	.spread = true,
};

TEST_F_TIMEOUT(softirq, sender_wakes_receiver, 120)
{
	bool strict = st_exact() && !variant->spread;
	struct player players[2];
	int i;

	if (variant->spread && st_cpus() < 2)
		SKIP(return, "needs two CPUs");
	ASSERT_TRUE(add_ksoftirqds(self));
	ASSERT_TRUE(start_players(self, players, variant->spread));
	ASSERT_TRUE(record(self));
	for (i = 0; i < 2; i++) {
		struct wakings n = wakings_of(self, i);

		/* A late packet is sent again by a timer, whichever task that interrupts. */
		EXPECT_GE(st_exact() ? 0 : ROUNDS / 10, n.others) {
			TH_LOG("at %llu in context %u, while %u ran",
			       (unsigned long long)n.last.time, (unsigned int)n.last.arg,
			       n.last.curr);
		}
		/*
		 * On one CPU no answer comes before the receiver sleeps, except after a tick. A
		 * slow kernel, or a busy host, has many ticks.
		 */
		EXPECT_LE(strict ? ROUNDS / 2 : 1, n.peer + n.kthreads);
		EXPECT_LE(strict ? ROUNDS / 4 : 1, n.peer);
	}
}

/* -- bystanders ------------------------------------------------------------------- */

/* One CPU's packets are received on the other CPU, above the task that runs there. */
TEST_F_TIMEOUT(softirq, packets_from_elsewhere, 120)
{
	unsigned int above = 0;
	struct player players[2];
	int i;

	if (st_cpus() < 2)
		SKIP(return, "needs two CPUs");
	self->rps = st_write_file(RPS, "2");
	if (!self->rps)
		SKIP(return, "this kernel does not steer packets");
	ASSERT_TRUE(start_players(self, players, variant->spread));
	ASSERT_EQ(0, st_child_fork(&self->w[2], 1, burn_for_ever, NULL));
	ASSERT_TRUE(record(self));
	for (i = 0; i < 2; i++) {
		struct wakings n = wakings_of(self, i);

		EXPECT_EQ(0, n.blamed);
		above += n.above;
	}
	/* On PREEMPT_RT threads run the softirqs, and interrupt no task. */
	if (!st_rt_kernel())
		EXPECT_LT(0, above);
}

static int sleep_by_clock(void *arg)
{
	struct timespec t = { .tv_nsec = 4000000 };
	int i;

	(void)arg;
	for (i = 0; i < 50; i++)
		clock_nanosleep(CLOCK_MONOTONIC, 0, &t, NULL);
	return 0;
}

/* Sleeps by a timer of the kernel's timer wheel, which is a softirq. */
static int sleep_by_timeout(void *arg)
{
	struct timeval t = { .tv_usec = 4000 };
	int fd = *(int *)arg, i;
	char c;

	if (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &t, sizeof(t)))
		return 1;
	for (i = 0; i < 50; i++)
		if (read(fd, &c, 1) >= 0 || errno != EAGAIN)
			return 1;
	return 0;
}

/* Causes softirqs of its own all the time: packets that have no receiver. */
static int send_for_ever(void *arg)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	socklen_t size = sizeof(address);
	int to = socket(AF_INET, SOCK_DGRAM, 0), fd = socket(AF_INET, SOCK_DGRAM, 0);

	(void)arg;
	if (bind(to, (void *)&address, size) || getsockname(to, (void *)&address, &size) ||
	    connect(fd, (void *)&address, size))
		return 1;
	for (;;)
		if (write(fd, "x", 1) != 1)
			return 1;
}

TEST_F_TIMEOUT(softirq, timers, 120)
{
	int (*bystander)(void *arg) = variant->spread ? send_for_ever : burn_for_ever;
	struct wakings n;
	int i;

	ASSERT_EQ(0, connect_pair(self->fds));
	ASSERT_EQ(0, st_child_fork(&self->w[0], 0, sleep_by_clock, NULL));
	ASSERT_EQ(0, st_child_fork(&self->w[1], 0, sleep_by_timeout, &self->fds[0]));
	ASSERT_EQ(0, st_child_fork(&self->w[2], 0, bystander, NULL));
	ASSERT_TRUE(record(self));
	for (i = 0; i < 2; i++) {
		n = wakings_of(self, i);
		EXPECT_EQ(0, n.blamed);
		/* The other sleeper is a bystander as well. */
		EXPECT_EQ(0, n.peer);
		/*
		 * A task that is preempted on its way to sleep may be woken before it sleeps. If
		 * that takes as long as the sleep, it is not even woken.
		 */
		EXPECT_LE(st_exact() ? 50 : 1, n.others + n.kthreads + n.early);
		if (!st_rt_kernel())
			EXPECT_LT(0, n.above);
	}
}

TEST_HARNESS_MAIN
