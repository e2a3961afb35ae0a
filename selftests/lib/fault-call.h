/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Allocation failures.  In each call, the first allocation fails, then in another try the
 * second one, and so on.  The call has to return an error, have no effect and leave nothing
 * behind, and the next call has to succeed.  Needs a kernel with FAULT_INJECTION; copies from
 * and to user space fail as well where the kernel can inject that.
 *
 * A test adds its calls as variants of the fixture.
 */
#ifndef SELFTESTS_FAULT_CALL_H
#define SELFTESTS_FAULT_CALL_H

#include <errno.h>
#include <pthread.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <kselftest_harness.h>

#include "cgroup.h"
#include "child.h"
#include "fault.h"
#include "module.h"
#include "record.h"
#include "request.h"

#define PAGES		8
#define NTH_MAX		100000

/* A return probe of 6.1 makes 512 equal allocations: of so many, only every 32nd fails. */
#define EACH		128
#define STRIDE		32

/* Held by the test as long as the thread beside it has to live. */
static pthread_mutex_t beside = PTHREAD_MUTEX_INITIALIZER;

/**
 * struct try - one call with one allocation that fails
 * @r: the session of this try; @id: its number
 * @q: a netlink request; @sock: its socket; @call: the socket of the call that is tested
 * @replay, @stream: files that ioctls have made; @joined: the test has joined as player 0
 * @thread: a second thread of the test, if @threaded
 * @child: a task to record; @cgroup: its cgroup
 * @prios: this kernel lets the module record changes of priority
 */
struct try {
	struct st_record r;
	uint32_t id;
	struct st_request q;
	struct stape_replay_setup replay;
	uint32_t edges[2], wakers[2];
	struct stape_stream stream;
	bool joined;
	pthread_t thread;
	bool threaded;
	struct st_child child;
	uint64_t cgroup, other;
	bool prios;
	int sock, call;
	uint16_t family;
};

/* -- what the module has ----------------------------------------------------------- */

struct wanted {
	unsigned int type;
	uint64_t value;
};

static void take_u32(struct nlattr **attrs, void *arg)
{
	struct wanted *wanted = arg;

	wanted->value = st_attr_u32(attrs[wanted->type]);
}

static void take_u64(struct nlattr **attrs, void *arg)
{
	struct wanted *wanted = arg;

	wanted->value = st_attr_u64(attrs[wanted->type]);
}

static struct st_request *request(struct try *t, uint8_t cmd, uint16_t type, uint32_t id)
{
	st_request_init(&t->q, cmd);
	t->q.sock = t->call >= 0 ? t->call : t->sock;
	t->q.family = t->family;
	if (type)
		st_request_add_u32(&t->q, type, id);
	return &t->q;
}

/* Returns an attribute of an answer; ~0: the answer has it not. */
static uint64_t ask(struct try *t, struct st_request *q, unsigned int type,
		    void (*take)(struct nlattr **attrs, void *arg))
{
	struct wanted wanted = { .type = type, .value = ~0ull };

	q->each = take;
	q->arg = &wanted;
	return st_request(q) ? ~0ull : wanted.value;
}

static uint64_t of_session(struct try *t, unsigned int type)
{
	return ask(t, request(t, STAPE_CMD_SESSION_GET, STAPE_A_SESSION_ID, t->id), type, take_u32);
}

static uint64_t of_module(struct try *t, unsigned int type,
			  void (*take)(struct nlattr **attrs, void *arg))
{
	return ask(t, request(t, STAPE_CMD_INFO_GET, 0, 0), type, take);
}

/* Returns the number of the module's vmalloc areas; the kernel names the function of each. */
static int areas(void)
{
	return st_count_lines("/proc/vmallocinfo", "stape_");
}

static long users(void)
{
	FILE *file = fopen("/sys/module/schedtape/refcnt", "re");
	long n = -1;

	if (file && fscanf(file, "%ld", &n) != 1)
		n = -1;
	if (file)
		fclose(file);
	return n;
}

/* Returns the name of a thing that is left, or NULL. */
static const char *left(struct try *t)
{
	if (of_module(t, STAPE_A_INFO_SESSIONS, take_u32))
		return "a session";
	if (of_module(t, STAPE_A_INFO_REPLAYS, take_u32))
		return "a replay";
	if (of_module(t, STAPE_A_INFO_MEMORY, take_u64))
		return "memory of rings";
	if (areas())
		return "memory";
	return users() ? "a reference to the module" : NULL;
}

/* -- a session, and a player's end ------------------------------------------------------ */

static inline bool new_session(struct try *t)
{
	if (st_record_open(&t->r, 0))
		return false;
	t->id = schedtape_session_id(t->r.session);
	return true;
}

static bool rings(struct try *t)
{
	if (st_record_open(&t->r, PAGES))
		return false;
	t->id = schedtape_session_id(t->r.session);
	return true;
}

static bool recording(struct try *t)
{
	return rings(t) && !st_record_start(&t->r);
}

static bool is_started(struct try *t)
{
	return of_session(t, STAPE_A_SESSION_STATE) == STAPE_SESSION_RECORDING;
}

/* Makes the last step of a program, with which a player leaves. */
static int end_program(struct try *t)
{
	struct stape_step step = { .wait = STAPE_WAIT_DONE };
	int ret = ioctl(t->replay.fd, STAPE_IOC_STEP, &step) ? -errno : 0;

	t->joined = ret != 0;
	return ret;
}

/* -- tries -------------------------------------------------------------------------------- */

FIXTURE(fault)
{
	struct try t;
	const char *why;
};

/**
 * struct _fault_variant_data - a call
 * @prepare: makes what the call needs
 * @run: makes the call.  Return: 0 or -errno
 * @done: returns whether the call had its effect.  NULL: it has none, it only reads
 * @netlink: the call is a request, whose answer may be lost
 * @least: the smallest number of allocations that it makes
 */
FIXTURE_VARIANT(fault)
{
	bool (*prepare)(struct try *t);
	int (*run)(struct try *t);
	bool (*done)(struct try *t);
	bool netlink;
	unsigned int least;
};

static int just_sleep(void *arg)
{
	return 0;
}

FIXTURE_SETUP(fault)
{
	self->why = st_fault_begin();
	if (self->why)
		SKIP(return, "this kernel %s", self->why);
	if (!st_cgroup_begin())
		SKIP(return, "there is no cgroup2");
	self->t.call = -1;
	self->t.sock = st_socket();
	ASSERT_LE(0, self->t.sock);
	self->t.family = st_family(self->t.sock, NULL);
	ASSERT_NE(0, self->t.family);
	ASSERT_EQ(0, st_child_fork(&self->t.child, -1, just_sleep, NULL));
	self->t.cgroup = st_cgroup_make("child");
	self->t.other = st_cgroup_make("other");
	ASSERT_TRUE(st_cgroup_move("child", self->t.child.pid));
	/* Without this, a page fault's allocation would fail instead, and be retried. */
	ASSERT_EQ(0, mlockall(MCL_CURRENT));
	ASSERT_EQ(NULL, left(&self->t));
}

FIXTURE_TEARDOWN(fault)
{
	st_fault_end();
	st_child_kill(&self->t.child);
	st_cgroup_end();
}

static bool begin(struct try *t, bool (*prepare)(struct try *t))
{
	memset(&t->r, 0, sizeof(t->r));
	t->replay.fd = -1;
	t->stream.fd = -1;
	t->joined = false;
	t->threaded = false;
	t->call = -1;
	return prepare(t);
}

static void end(struct try *t)
{
	if (t->joined)
		end_program(t);
	if (t->replay.fd >= 0)
		close(t->replay.fd);
	if (t->stream.fd >= 0)
		close(t->stream.fd);
	st_record_close(&t->r);
	if (t->threaded) {
		pthread_mutex_unlock(&beside);
		pthread_join(t->thread, NULL);
	}
}

/*
 * Returns the call's result. @left: result of st_fault_left(). Drops an answer that the failed
 * call has not read, so that the next request does not get it.
 */
static int run_with_fault(unsigned int nth, int (*run)(struct try *t), struct try *t,
			  unsigned int *left)
{
	int ret;

	t->call = st_socket();
	if (t->call < 0 || !st_fault_arm(nth))
		return -EPROTO;
	ret = run(t);
	*left = st_fault_left();
	close(t->call);
	t->call = -1;
	return ret;
}

/* Tests whether a started session records a change of priority of its child. */
static bool sees_prios(struct try *t)
{
	int nice = getpriority(PRIO_PROCESS, t->child.pid);

	return !st_record_add(&t->r, t->child.pid) &&
	       !setpriority(PRIO_PROCESS, t->child.pid, nice ? 0 : 1) && !st_record_flush(&t->r) &&
	       st_count_type(&t->r, STAPE_EV_PRIO) == 1;
}

/*
 * Tests whether the request or the answer was lost, or the lookup of the family failed (EIO).
 * Then it is unknown whether the call had its effect.
 */
static bool got_lost(bool netlink, int ret)
{
	return netlink && (ret == -ENOBUFS || ret == -EFAULT || ret == -EIO);
}

/* Returns the error in a call's result, or NULL. */
static const char *judge(struct try *t, int ret, bool netlink, bool (*done)(struct try *t))
{
	bool is_done = done && done(t);

	if (got_lost(netlink, ret))
		return NULL;
	switch (ret) {
	case 0:
		if (done && !is_done)
			return "it says that it is done";
		if (done == is_started && t->prios && !sees_prios(t))
			return "it records only half";
		return NULL;
	case -ENOMEM:
	case -EFAULT:
		return is_done ? "it is done, but says that it is not" : NULL;
	}
	return "that is not the errno of missing memory";
}

/* Returns the allocation to fail after the @nth, of about @allocations. */
static unsigned int next_nth(unsigned int nth, unsigned int allocations)
{
	return nth < EACH || nth + EACH > allocations ? nth + 1 : nth + STRIDE;
}

/* Makes the call with the @nth allocation failing.  Returns the value of st_fault_left(). */
static unsigned int try_nth(struct __test_metadata *_metadata, struct try *t,
			    const FIXTURE_VARIANT(fault) *variant, unsigned int nth, int *ret)
{
	unsigned int rest = 1;
	const char *wrong;

	ASSERT_TRUE(begin(t, variant->prepare));
	*ret = run_with_fault(nth, variant->run, t, &rest);
	wrong = judge(t, *ret, variant->netlink, variant->done);
	EXPECT_EQ(NULL, wrong) {
		TH_LOG("allocation %u: %s: %s", nth, strerror(-*ret), wrong);
	}
	end(t);
	wrong = left(t);
	ASSERT_EQ(NULL, wrong) {
		TH_LOG("allocation %u: %s is left", nth, wrong);
	}
	return rest;
}

TEST_F_TIMEOUT(fault, each, 600)
{
	unsigned int nth, allocations, tried = 0, refused = 0;
	struct try *t = &self->t;
	int ret;

	if (variant->done == is_started) {
		ASSERT_TRUE(begin(t, recording));
		t->prios = sees_prios(t);
		end(t);
	}
	allocations = NTH_MAX - try_nth(_metadata, t, variant, NTH_MAX, &ret);
	ASSERT_EQ(0, ret);
	ASSERT_GT(NTH_MAX, allocations);
	nth = 1;
	while (!try_nth(_metadata, t, variant, nth, &ret)) {
		tried++;
		refused += ret != 0;
		nth = next_nth(nth, allocations);
	}
	EXPECT_EQ(0, ret);
	EXPECT_LE(variant->least, tried);
	EXPECT_LE(variant->least > 0, refused);
	TH_LOG("%u allocations, %u faults, %u of them refused the call", allocations, tried,
	       refused);
}

#endif /* SELFTESTS_FAULT_CALL_H */
