/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Memory that runs out.  Each allocation of a call fails once, the first one, the second one
 * and so on: the call says so, has done nothing and left nothing, and works the next time.
 * Needs a kernel with FAULT_INJECTION; where that can let copies from and to user space fail,
 * these are tried, too.
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
#include "record.h"
#include "request.h"

#define PAGES		8
#define NTH_MAX		100000

/* A return probe of 6.1 allocates 512 times the same: amid so many not each one fails. */
#define EACH		128
#define STRIDE		32

/* Held while there is to be a thread beside us. */
static pthread_mutex_t beside = PTHREAD_MUTEX_INITIALIZER;

/**
 * struct try - one call with one allocation that fails
 * @r: a session of its own; @id: its number
 * @q: a netlink request; @sock: for it; @call: the socket of the call itself
 * @replay, @stream: what ioctls have made; @joined: as player 0
 * @thread: beside us, if it is @threaded
 * @child: somebody to be recorded; @cgroup: where it is
 * @prios: this kernel lets changes of priority be seen
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

/* -- what there is ----------------------------------------------------------------- */

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

/* An attribute of an answer; ~0: there is none. */
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

/* Areas of memory that the module has: the kernel knows by whom they were made. */
static int areas(void)
{
	FILE *file = fopen("/proc/vmallocinfo", "re");
	char line[512];
	int n = 0;

	if (!file)
		return -1;
	while (fgets(line, sizeof(line), file))
		n += !!strstr(line, "stape_");
	fclose(file);
	return n;
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

/* NULL, or what is left. */
static const char *left(struct try *t)
{
	if (of_module(t, STAPE_A_INFO_SESSIONS, take_u32))
		return "a session";
	if (of_module(t, STAPE_A_INFO_REPLAYS, take_u32))
		return "a replay";
	if (of_module(t, STAPE_A_INFO_RING_MEMORY, take_u64))
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

/* The last step of a program: how a player leaves. */
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
 * @prepare: what has to be there
 * @run: the call.  Return: 0 or -errno
 * @done: has it done what it is there for?  NULL: it only looks
 * @netlink: it is a request, whose answer may get lost
 * @least: allocations that it makes at least
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
	memset(self, 0, sizeof(*self));
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
	/* A page that is not there yet would take the fault, and be asked for again. */
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
 * Return: the call's. @left: what st_fault_left() says.  An answer that got lost is not
 * to be anybody else's.
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

/* What a session that was started tells of its child. */
static bool sees_prios(struct try *t)
{
	int nice = getpriority(PRIO_PROCESS, t->child.pid);

	return !st_record_add(&t->r, t->child.pid) &&
	       !setpriority(PRIO_PROCESS, t->child.pid, nice ? 0 : 1) && !st_record_flush(&t->r) &&
	       st_count_type(&t->r, STAPE_EV_PRIO) == 1;
}

/*
 * Request or answer have not got through, or the family's number was not to be had
 * (EIO): then nobody knows.
 */
static bool got_lost(bool netlink, int ret)
{
	return netlink && (ret == -ENOBUFS || ret == -EFAULT || ret == -EIO);
}

/* NULL, or what is wrong with what a call has returned. */
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

/* Which one fails after the @nth of about so many. */
static unsigned int next_nth(unsigned int nth, unsigned int allocations)
{
	return nth < EACH || nth + EACH > allocations ? nth + 1 : nth + STRIDE;
}

/* The call, and the @nth of its allocations fails.  Return: what st_fault_left() says. */
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
