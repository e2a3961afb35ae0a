// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: limits of filters and of a session's settings: each bad value is refused with
 * the kernel's message at the wrong attribute, and has no effect.
 */
#include <errno.h>
#include <signal.h>
#include <unistd.h>

#include <kselftest_harness.h>

#include "caps.h"
#include "cgroup.h"
#include "long-request.h"
#include "module.h"
#include "record.h"
#include "request.h"
#include "child.h"
#include "task.h"

#define PAGES		16
#define CGROUPS_MAX	256
#define PATTERNS_MAX	32

FIXTURE(limits)
{
	struct st_record r;
	struct st_request q;
	struct st_child w;
	struct st_long_request request;
	struct schedtape_session_state state;
	uint32_t id;
	int sock;
	uint16_t family;
};

FIXTURE_SETUP(limits)
{
	ASSERT_EQ(0, st_record_open(&self->r, 0));
	self->id = schedtape_session_id(self->r.session);
	self->sock = st_socket();
	ASSERT_LE(0, self->sock);
	self->family = st_family(self->sock, NULL);
	ASSERT_NE(0, self->family);
}

FIXTURE_TEARDOWN(limits)
{
	st_child_kill(&self->w);
	st_long_request_kill(&self->request);
	close(self->sock);
	st_record_close(&self->r);
	st_cgroup_end();
}

/* A request to this session. */
static struct st_request *begin(FIXTURE_DATA(limits) *self, uint8_t cmd)
{
	st_request_init(&self->q, cmd);
	self->q.sock = self->sock;
	self->q.family = self->family;
	st_request_add_u32(&self->q, STAPE_A_SESSION_ID, self->id);
	return &self->q;
}

/* The offset of the next attribute. */
static long next_attr(FIXTURE_DATA(limits) *self)
{
	return self->q.used;
}

static void add_u8(FIXTURE_DATA(limits) *self, uint16_t type, uint8_t value)
{
	st_request_add(&self->q, type, &value, 1);
}

static void add_string(FIXTURE_DATA(limits) *self, uint16_t type, const char *value)
{
	st_request_add(&self->q, type, value, strlen(value) + 1);
}

static int set_rings(FIXTURE_DATA(limits) *self)
{
	st_request_add_u32(begin(self, STAPE_CMD_SESSION_SET), STAPE_A_SESSION_RING_PAGES, PAGES);
	return st_request(&self->q);
}

static int just_sleep(void *arg)
{
	(void)arg;
	return 0;
}

/* -- filters ------------------------------------------------------------------------- */

TEST_F(limits, filter_before_rings)
{
	add_u8((begin(self, STAPE_CMD_FILTER_SET), self), STAPE_A_SESSION_ALL, 1);
	EXPECT_EQ(-EINVAL, st_request(&self->q));
	EXPECT_TRUE(st_request_says(&self->q, "their sizes first"));
	st_request_add_u32(begin(self, STAPE_CMD_FILTER_ADD), STAPE_A_SESSION_TID, 1);
	EXPECT_EQ(-EINVAL, st_request(&self->q));
	EXPECT_TRUE(st_request_says(&self->q, "their sizes first"));
	st_request_add_u32(begin(self, STAPE_CMD_FILTER_DEL), STAPE_A_SESSION_PID, 1);
	EXPECT_EQ(-EINVAL, st_request(&self->q));
	EXPECT_TRUE(st_request_says(&self->q, "their sizes first"));
	ASSERT_EQ(0, set_rings(self));
	EXPECT_EQ(0, st_record_tasks(&self->r));
	st_request_add_u32(begin(self, STAPE_CMD_FILTER_DEL), STAPE_A_SESSION_PID, 1);
	EXPECT_EQ(-ENOENT, st_request(&self->q));
	EXPECT_TRUE(st_request_says(&self->q, "not in the filter"));
}

TEST_F(limits, filtered_tasks)
{
	static const uint8_t commands[] = { STAPE_CMD_FILTER_ADD, STAPE_CMD_FILTER_DEL };
	size_t i;

	ASSERT_EQ(0, set_rings(self));
	for (i = 0; i < 2; i++) {
		EXPECT_EQ(-EINVAL, st_request(begin(self, commands[i])));
		EXPECT_TRUE(st_request_says(&self->q, "no pid, tid or cgroup"));
		begin(self, commands[i]);
		st_request_add_u32(&self->q, STAPE_A_SESSION_TID, 1);
		st_request_add_u32(&self->q, STAPE_A_SESSION_TID, 4194303);
		EXPECT_EQ(-ESRCH, st_request(&self->q));
		EXPECT_EQ(16, self->q.offset);
		EXPECT_TRUE(st_request_says(&self->q, "no such"));
		begin(self, commands[i]);
		st_request_add_u32(&self->q, STAPE_A_SESSION_TID, 4194304);
		EXPECT_EQ(-ERANGE, st_request(&self->q));
		EXPECT_EQ(8, self->q.offset);
	}
	/* Kernel threads and the recorder, by process or thread. */
	st_request_add_u32(begin(self, STAPE_CMD_FILTER_ADD), STAPE_A_SESSION_TID, 2);
	EXPECT_EQ(-EINVAL, st_request(&self->q));
	EXPECT_EQ(8, self->q.offset);
	EXPECT_TRUE(st_request_says(&self->q, "kernel thread"));
	st_request_add_u32(begin(self, STAPE_CMD_FILTER_ADD), STAPE_A_SESSION_TID, gettid());
	EXPECT_EQ(-EINVAL, st_request(&self->q));
	EXPECT_TRUE(st_request_says(&self->q, "recorder"));
}

TEST_F(limits, objects_of_a_request)
{
	int i;

	ASSERT_EQ(0, set_rings(self));
	ASSERT_EQ(0, st_child_fork(&self->w, -1, just_sleep, NULL));
	begin(self, STAPE_CMD_FILTER_ADD);
	for (i = 0; i < STAPE_FILTER_OBJECTS_MAX; i++)
		st_request_add_u32(&self->q, i & 1 ? STAPE_A_SESSION_PID : STAPE_A_SESSION_TID,
				   self->w.pid);
	st_request_add_u64(&self->q, STAPE_A_SESSION_CGROUP, 1);
	EXPECT_EQ(-E2BIG, st_request(&self->q));
	EXPECT_EQ(8 + 8 * STAPE_FILTER_OBJECTS_MAX, self->q.offset);
	EXPECT_TRUE(st_request_says(&self->q, "more objects"));
	EXPECT_EQ(0, st_record_tasks(&self->r));
	self->q.used = 8 + 8 * STAPE_FILTER_OBJECTS_MAX;
	EXPECT_EQ(0, st_request(&self->q));
	EXPECT_EQ(1, st_record_tasks(&self->r));
}

/* Returns how many probes there are in a function that the module probes, -1: unknown. */
static int count_probes(void)
{
	return st_count_lines("/sys/kernel/debug/kprobes/list", " sched_setaffinity+");
}

/* Only a task that is in the filter needs probes. */
TEST_F(limits, refused_filters_leave_no_probes)
{
	int i, before = count_probes();

	if (before < 0)
		SKIP(return, "debugfs does not list probes");
	ASSERT_EQ(0, set_rings(self));
	ASSERT_EQ(0, st_child_fork(&self->w, -1, just_sleep, NULL));
	st_request_add_u32(begin(self, STAPE_CMD_FILTER_ADD), STAPE_A_SESSION_TID, 4194303);
	EXPECT_EQ(-ESRCH, st_request(&self->q));
	EXPECT_EQ(before, count_probes());
	st_request_add_u32(begin(self, STAPE_CMD_FILTER_DEL), STAPE_A_SESSION_PID, self->w.pid);
	EXPECT_EQ(-ENOENT, st_request(&self->q));
	EXPECT_EQ(before, count_probes());
	begin(self, STAPE_CMD_FILTER_SET);
	for (i = 0; i < PATTERNS_MAX + 1; i++)
		add_string(self, STAPE_A_SESSION_EXCLUDE_COMM, "-");
	EXPECT_EQ(-E2BIG, st_request(&self->q));
	EXPECT_EQ(before, count_probes());

	/* The first task of the request is added. */
	begin(self, STAPE_CMD_FILTER_ADD);
	st_request_add_u32(&self->q, STAPE_A_SESSION_TID, self->w.pid);
	st_request_add_u32(&self->q, STAPE_A_SESSION_TID, 4194303);
	EXPECT_EQ(-ESRCH, st_request(&self->q));
	EXPECT_EQ(before + 1, count_probes());
	EXPECT_EQ(1, st_record_tasks(&self->r));
	st_request_add_u32(begin(self, STAPE_CMD_FILTER_ADD), STAPE_A_SESSION_TID, 4194303);
	EXPECT_EQ(-ESRCH, st_request(&self->q));
	EXPECT_EQ(before + 1, count_probes());
	/* The session records, though it was taken away from the probes before. */
	ASSERT_EQ(0, st_record_start(&self->r));
	ASSERT_TRUE(st_child_step(&self->w));
	ASSERT_EQ(0, st_record_stop(&self->r));
	ASSERT_EQ(0, st_record_get(&self->r, &self->state));
	EXPECT_LT(2, self->state.events);
}

/* The process that the request names last does not get into the filter. */
TEST_F(limits, killed_sender)
{
	ASSERT_EQ(0, set_rings(self));
	ASSERT_EQ(0, st_child_fork(&self->w, -1, just_sleep, NULL));
	ASSERT_TRUE(st_long_request_begin(&self->request, self->id, self->w.pid));
	ASSERT_EQ(0, kill(self->request.pid, SIGKILL));
	EXPECT_EQ(-EINTR, st_long_request_end(&self->request, NULL, NULL));
	EXPECT_EQ(ST_LONG_TASKS, st_record_tasks(&self->r));
}

/* Returns the time in which the module has answered the request, or the limit if that is less. */
static uint64_t time_of(FIXTURE_DATA(limits) *self, uint64_t limit)
{
	uint64_t begin = st_now(), took;

	if (st_request(&self->q))
		return ~0ull;
	took = st_now() - begin;
	return took < limit ? took : limit;
}

/*
 * A request that adds or removes all these cgroups looks at all tasks once, as filter-set does, and
 * waits for no grace period.
 */
static bool looks_once(FIXTURE_DATA(limits) *self, const uint64_t ids[CGROUPS_MAX])
{
	uint64_t add = ~0ull, del = ~0ull, set = ~0ull;
	struct st_request q;
	int i, round;

	begin(self, STAPE_CMD_FILTER_DEL);
	for (i = 0; i < CGROUPS_MAX; i++)
		st_request_add_u64(&self->q, STAPE_A_SESSION_CGROUP, ids[i]);
	q = self->q;
	for (round = 0; round < 2; round++) {
		begin(self, STAPE_CMD_FILTER_SET);
		set = time_of(self, set);
		self->q = q;
		del = time_of(self, del);
		self->q = q;
		self->q.cmd = STAPE_CMD_FILTER_ADD;
		add = time_of(self, add);
	}
	if (add < 20 * set && del < 20 * set)
		return true;
	printf("# add: %llu us, del: %llu us, set: %llu us\n", (unsigned long long)add / 1000,
	       (unsigned long long)del / 1000, (unsigned long long)set / 1000);
	return false;
}

TEST_F(limits, cgroups)
{
	uint64_t ids[CGROUPS_MAX + 1];
	char name[32];
	int i;

	if (!st_cgroup_begin())
		SKIP(return, "there is no cgroup2");
	ASSERT_EQ(0, set_rings(self));
	st_request_add_u64(begin(self, STAPE_CMD_FILTER_ADD), STAPE_A_SESSION_CGROUP, ~0ull);
	EXPECT_EQ(-ENOENT, st_request(&self->q));
	EXPECT_EQ(8, self->q.offset);
	EXPECT_TRUE(st_request_says(&self->q, "no such cgroup"));
	st_request_add_u32(begin(self, STAPE_CMD_FILTER_ADD), STAPE_A_SESSION_CGROUP, 1);
	EXPECT_EQ(-EINVAL, st_request(&self->q));
	EXPECT_EQ(8, self->q.offset);
	for (i = 0; i < CGROUPS_MAX + 1; i++) {
		snprintf(name, sizeof(name), "%d", i);
		ids[i] = st_cgroup_make(name);
		ASSERT_NE(0, ids[i]);
	}
	/* A removed cgroup is refused. */
	ASSERT_TRUE(st_cgroup_remove("0"));
	st_request_add_u64(begin(self, STAPE_CMD_FILTER_ADD), STAPE_A_SESSION_CGROUP, ids[0]);
	EXPECT_EQ(-ENOENT, st_request(&self->q));
	ids[0] = st_cgroup_make("0");
	begin(self, STAPE_CMD_FILTER_ADD);
	for (i = 0; i < CGROUPS_MAX; i++)
		st_request_add_u64(&self->q, STAPE_A_SESSION_CGROUP, ids[i]);
	EXPECT_EQ(0, st_request(&self->q));
	/* So that there are tasks to look at. */
	ASSERT_TRUE(st_long_crowd(&self->request.crowd));
	EXPECT_TRUE(looks_once(self, ids));
	st_child_kill(&self->request.crowd);
	st_request_add_u64(begin(self, STAPE_CMD_FILTER_ADD), STAPE_A_SESSION_CGROUP, ids[i]);
	EXPECT_EQ(-E2BIG, st_request(&self->q));
	EXPECT_EQ(8, self->q.offset);
	EXPECT_TRUE(st_request_says(&self->q, "more cgroups"));
	/* The last cgroup works like the first one, and removing one makes room for another. */
	ASSERT_EQ(0, st_child_fork(&self->w, -1, just_sleep, NULL));
	ASSERT_TRUE(st_cgroup_move("255", self->w.pid));
	EXPECT_EQ(1, st_record_tasks(&self->r));
	ASSERT_TRUE(st_cgroup_move("256", self->w.pid));
	EXPECT_EQ(0, st_record_tasks(&self->r));
	EXPECT_EQ(0, st_record_del_cgroup(&self->r, ids[3]));
	EXPECT_EQ(0, st_record_add_cgroup(&self->r, ids[256]));
	EXPECT_EQ(1, st_record_tasks(&self->r));
	ASSERT_TRUE(st_cgroup_move("3", self->w.pid));
	EXPECT_EQ(0, st_record_tasks(&self->r));
	st_child_kill(&self->w);
}

/* A wrong request leaves the earlier settings as they were. */
TEST_F(limits, patterns)
{
	char pattern[65];
	long at;
	int i;

	ASSERT_EQ(0, set_rings(self));
	ASSERT_EQ(0, st_child_fork(&self->w, -1, just_sleep, NULL));
	ASSERT_EQ(0, st_record_add(&self->r, self->w.pid));
	begin(self, STAPE_CMD_FILTER_SET);
	for (i = 0; i < PATTERNS_MAX; i++)
		add_string(self, STAPE_A_SESSION_EXCLUDE_COMM,
			   i < PATTERNS_MAX - 1 ? "-" : "test_*");
	EXPECT_EQ(0, st_request(&self->q));
	EXPECT_EQ(0, st_record_tasks(&self->r));

	begin(self, STAPE_CMD_FILTER_SET);
	for (i = 0; i < PATTERNS_MAX; i++)
		add_string(self, STAPE_A_SESSION_EXCLUDE_COMM, "-");
	at = next_attr(self);
	add_string(self, STAPE_A_SESSION_EXCLUDE_COMM, "-");
	EXPECT_EQ(-E2BIG, st_request(&self->q));
	EXPECT_EQ(at, self->q.offset);
	EXPECT_TRUE(st_request_says(&self->q, "more patterns"));
	EXPECT_EQ(0, st_record_tasks(&self->r));

	memset(pattern, '*', sizeof(pattern));
	pattern[64] = '\0';
	begin(self, STAPE_CMD_FILTER_SET);
	add_string(self, STAPE_A_SESSION_EXCLUDE_COMM, pattern);
	EXPECT_EQ(-EINVAL, st_request(&self->q));
	EXPECT_EQ(8, self->q.offset);
	/* Without the terminating 0. */
	st_request_add(begin(self, STAPE_CMD_FILTER_SET), STAPE_A_SESSION_EXCLUDE_COMM, "abc", 3);
	EXPECT_EQ(-EINVAL, st_request(&self->q));
	EXPECT_EQ(8, self->q.offset);
	EXPECT_EQ(0, st_record_tasks(&self->r));
	pattern[63] = '\0';
	begin(self, STAPE_CMD_FILTER_SET);
	add_string(self, STAPE_A_SESSION_EXCLUDE_COMM, pattern);
	EXPECT_EQ(0, st_request(&self->q));
	EXPECT_EQ(0, st_record_tasks(&self->r));
	/* No pattern at all. */
	EXPECT_EQ(0, st_request(begin(self, STAPE_CMD_FILTER_SET)));
	EXPECT_EQ(1, st_record_tasks(&self->r));
}

TEST_F(limits, flags)
{
	static const uint16_t flags[] = {
		STAPE_A_SESSION_ALL, STAPE_A_SESSION_KTHREADS, STAPE_A_SESSION_NO_INHERIT,
	};
	size_t i;

	ASSERT_EQ(0, set_rings(self));
	for (i = 0; i < 3; i++) {
		add_u8((begin(self, STAPE_CMD_FILTER_SET), self), flags[i], 2);
		EXPECT_EQ(-ERANGE, st_request(&self->q));
		EXPECT_EQ(8, self->q.offset);
		st_request_add_u32(begin(self, STAPE_CMD_FILTER_SET), flags[i], 1);
		EXPECT_EQ(-EINVAL, st_request(&self->q));
		add_u8((begin(self, STAPE_CMD_FILTER_SET), self), flags[i], 0);
		EXPECT_EQ(0, st_request(&self->q));
	}
	EXPECT_EQ(0, st_record_tasks(&self->r));
}

/* -- rings ---------------------------------------------------------------------------- */

static void begin_set(FIXTURE_DATA(limits) *self, uint32_t pages)
{
	st_request_add_u32(begin(self, STAPE_CMD_SESSION_SET), STAPE_A_SESSION_RING_PAGES, pages);
}

TEST_F(limits, cpus)
{
	unsigned char mask[1024] = { 0 };

	begin_set(self, PAGES);
	st_request_add(&self->q, STAPE_A_SESSION_CPUS, NULL, 0);
	EXPECT_GT(0, st_request(&self->q));
	EXPECT_EQ(16, self->q.offset);
	begin_set(self, PAGES);
	st_request_add(&self->q, STAPE_A_SESSION_CPUS, mask, sizeof(mask));
	EXPECT_EQ(-EINVAL, st_request(&self->q));
	EXPECT_TRUE(st_request_says(&self->q, "no CPU"));
	/* Only CPUs that do not exist. */
	mask[sizeof(mask) - 1] = 0xff;
	begin_set(self, PAGES);
	st_request_add(&self->q, STAPE_A_SESSION_CPUS, mask, sizeof(mask));
	EXPECT_EQ(-EINVAL, st_request(&self->q));
	EXPECT_TRUE(st_request_says(&self->q, "no CPU"));
	/* Beside CPUs that exist, they are ignored. */
	mask[0] = 1;
	begin_set(self, PAGES);
	st_request_add(&self->q, STAPE_A_SESSION_CPUS, mask, sizeof(mask));
	EXPECT_EQ(0, st_request(&self->q));
	ASSERT_EQ(0, st_record_get(&self->r, &self->state));
	EXPECT_EQ(1, self->state.cpus);
}

TEST_F(limits, clocks)
{
	begin_set(self, PAGES);
	st_request_add_u32(&self->q, STAPE_A_SESSION_CLOCK, STAPE_CLOCK_COUNTER + 1);
	EXPECT_EQ(-ERANGE, st_request(&self->q));
	EXPECT_EQ(16, self->q.offset);
	begin_set(self, PAGES);
	add_u8(self, STAPE_A_SESSION_OVERWRITE, 1);
	EXPECT_GT(0, st_request(&self->q));
	EXPECT_EQ(0, set_rings(self));
}

TEST_HARNESS_MAIN
