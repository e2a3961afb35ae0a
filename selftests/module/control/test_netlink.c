// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: the netlink family: wrong requests are refused with a message, at the right
 * attribute; dumps are complete; notifications come.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <kselftest_harness.h>
#include <schedtape/device.h>

#include "child.h"
#include "record.h"
#include "request.h"
#include "task.h"
#include "time-limit.h"

#define NOBODY 0x7fffffff	/* no session and no replay has this number */

/* All commands, and the attribute with which each names its object. */
static const struct command {
	uint8_t cmd;
	uint16_t flags;
	uint16_t id;
	uint16_t needs;		/* besides the id; 0: none */
} commands[] = {
	{ STAPE_CMD_SESSION_GET, 0, STAPE_A_SESSION_ID, 0 },
	{ STAPE_CMD_SESSION_SET, 0, STAPE_A_SESSION_ID, STAPE_A_SESSION_RING_PAGES },
	{ STAPE_CMD_SESSION_START, 0, STAPE_A_SESSION_ID, 0 },
	{ STAPE_CMD_SESSION_PAUSE, 0, STAPE_A_SESSION_ID, 0 },
	{ STAPE_CMD_SESSION_STOP, 0, STAPE_A_SESSION_ID, 0 },
	{ STAPE_CMD_FILTER_SET, 0, STAPE_A_SESSION_ID, 0 },
	{ STAPE_CMD_FILTER_ADD, 0, STAPE_A_SESSION_ID, STAPE_A_SESSION_PID },
	{ STAPE_CMD_FILTER_DEL, 0, STAPE_A_SESSION_ID, STAPE_A_SESSION_PID },
	{ STAPE_CMD_TASK_GET, NLM_F_DUMP, STAPE_A_TASK_SESSION, 0 },
	{ STAPE_CMD_REPLAY_GET, 0, STAPE_A_REPLAY_ID, 0 },
	{ STAPE_CMD_REPLAY_START, 0, STAPE_A_REPLAY_ID, 0 },
	{ STAPE_CMD_REPLAY_STOP, 0, STAPE_A_REPLAY_ID, 0 },
	{ STAPE_CMD_REPLAY_SET, 0, STAPE_A_REPLAY_ID, STAPE_A_REPLAY_SPEED },
	{ STAPE_CMD_REPLAY_PAUSE, 0, STAPE_A_REPLAY_ID, 0 },
	{ STAPE_CMD_PLAYER_GET, NLM_F_DUMP, STAPE_A_PLAYER_REPLAY, 0 },
	{ STAPE_CMD_SESSION_MARK, 0, STAPE_A_SESSION_ID, STAPE_A_SESSION_INTERVAL },
	{ STAPE_CMD_SESSION_MONITOR, 0, STAPE_A_SESSION_ID, 0 },
	{ STAPE_CMD_REPLAY_MONITOR, 0, STAPE_A_REPLAY_ID, 0 },
};

#define for_each_command(c) \
	for (c = commands; c < commands + sizeof(commands) / sizeof(commands[0]); c++)

FIXTURE(netlink)
{
	struct st_record r;
	struct st_request q;
	struct st_child w;
	uint32_t id;
	int sock;
	uint16_t family;
};

FIXTURE_SETUP(netlink)
{
	ASSERT_EQ(0, st_record_open(&self->r, 0));
	self->id = schedtape_session_id(self->r.session);
	self->sock = st_socket();
	ASSERT_LE(0, self->sock);
	self->family = st_family(self->sock, NULL);
	ASSERT_NE(0, self->family);
}

FIXTURE_TEARDOWN(netlink)
{
	st_child_kill(&self->w);
	close(self->sock);
	st_record_close(&self->r);
}

static struct st_request *begin(FIXTURE_DATA(netlink) *self, uint8_t cmd)
{
	st_request_init(&self->q, cmd);
	self->q.sock = self->sock;
	self->q.family = self->family;
	return &self->q;
}

static struct st_request *begin_command(FIXTURE_DATA(netlink) *self, const struct command *c)
{
	begin(self, c->cmd)->flags = c->flags;
	return &self->q;
}

/* -- wrong requests ---------------------------------------------------------- */

TEST_F(netlink, missing)
{
	uint32_t edge;
	struct stape_replay_setup replay = { .nr_players = 1, .edges = (uintptr_t)&edge };
	const struct command *c;

	ASSERT_EQ(0, ioctl(schedtape_session_fd(self->r.session), STAPE_IOC_REPLAY, &replay));
	for_each_command(c) {
		EXPECT_EQ(-EINVAL, st_request(begin_command(self, c))) {
			TH_LOG("command %u", c->cmd);
		}
		EXPECT_NE('\0', self->q.text[0]);
		if (!(c->flags & NLM_F_DUMP))
			EXPECT_EQ(c->id, self->q.missing);
		if (!c->needs)
			continue;
		st_request_add_u32(begin_command(self, c), c->id,
				   c->cmd == STAPE_CMD_REPLAY_SET ? replay.id : self->id);
		EXPECT_EQ(-EINVAL, st_request(&self->q));
		EXPECT_EQ(c->needs, self->q.missing);
		EXPECT_NE('\0', self->q.text[0]);
	}
	close(replay.fd);
}

TEST_F(netlink, no_such_number)
{
	const struct command *c;

	for_each_command(c) {
		st_request_add_u32(begin_command(self, c), c->id, NOBODY);
		if (c->cmd == STAPE_CMD_SESSION_MARK)
			st_request_add_u64(&self->q, c->needs, 1);
		else if (c->needs)
			st_request_add_u32(&self->q, c->needs, 1024);
		EXPECT_EQ(-ENOENT, st_request(&self->q)) {
			TH_LOG("command %u", c->cmd);
		}
		/* Not every kernel reports the offset for dumps. */
		if (!(c->flags & NLM_F_DUMP))
			EXPECT_EQ(0, self->q.offset);
		EXPECT_NE(NULL, strstr(self->q.text, "no such"));
		/* 0 is no valid id: the policy refuses it. */
		st_request_add_u32(begin_command(self, c), c->id, 0);
		EXPECT_EQ(-ERANGE, st_request(&self->q));
		EXPECT_EQ(0, self->q.offset);
	}
}

/* The unknown attribute follows a good one, so that the offset must be that of the bad one. */
TEST_F(netlink, unknown)
{
	static const uint16_t types[] = { 50, 99, 0x3fff };
	const struct command *c;
	size_t i;

	for_each_command(c) {
		for (i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
			st_request_add_u32(begin_command(self, c), c->id, self->id);
			st_request_add_u32(&self->q, types[i], 1);
			EXPECT_EQ(-EINVAL, st_request(&self->q)) {
				TH_LOG("command %u, attribute %u", c->cmd, types[i]);
			}
			EXPECT_EQ(8, self->q.offset);
			EXPECT_NE('\0', self->q.text[0]);
		}
		/* An attribute of the family, but not of this command. */
		st_request_add_u32(begin_command(self, c), c->id, self->id);
		st_request_add_u32(&self->q, STAPE_A_SESSION_STATE, 1);
		EXPECT_EQ(-EINVAL, st_request(&self->q));
		EXPECT_EQ(8, self->q.offset);
	}
	/* One that only the opposite takes. */
	st_request_add_u32(begin(self, STAPE_CMD_FILTER_DEL), STAPE_A_SESSION_ID, self->id);
	st_request_add(&self->q, STAPE_A_SESSION_FOLLOW, NULL, 0);
	EXPECT_EQ(-EINVAL, st_request(&self->q));
	EXPECT_EQ(8, self->q.offset);
	st_request_add_u32(begin(self, STAPE_CMD_INFO_GET), 1, 1);
	EXPECT_EQ(-EINVAL, st_request(&self->q));
}

TEST_F(netlink, lengths)
{
	static const size_t lengths[] = { 0, 1, 2, 3, 5, 8, 100, 4000 };
	static const unsigned char data[4000] = { 1 };
	const struct command *c;
	size_t i;

	for_each_command(c) {
		for (i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
			st_request_add(begin_command(self, c), c->id, data, lengths[i]);
			EXPECT_GT(0, st_request(&self->q)) {
				TH_LOG("command %u, length %zu", c->cmd, lengths[i]);
			}
			EXPECT_TRUE(self->q.ret == -EINVAL || self->q.ret == -ERANGE);
			EXPECT_EQ(0, self->q.offset);
			EXPECT_NE('\0', self->q.text[0]);
		}
		/* A number with the flag for nested attributes. */
		st_request_add_u32(begin_command(self, c), c->id | NLA_F_NESTED, self->id);
		EXPECT_EQ(-EINVAL, st_request(&self->q));
	}
}

TEST_F(netlink, torn)
{
	const struct command *c;
	struct nlattr *attr;

	for_each_command(c) {
		/* Bytes that are not an attribute. */
		st_request_add_u32(begin_command(self, c), c->id, self->id);
		self->q.used += 2;
		EXPECT_EQ(-EINVAL, st_request(&self->q));
		/* An attribute whose length is beyond the end of the message. */
		st_request_add_u32(begin_command(self, c), c->id, self->id);
		attr = (void *)self->q.attrs;
		attr->nla_len = 200;
		EXPECT_EQ(-EINVAL, st_request(&self->q));
		/* An attribute whose length is less than its header. */
		st_request_add_u32(begin_command(self, c), c->id, self->id);
		attr->nla_len = 2;
		EXPECT_EQ(-EINVAL, st_request(&self->q));
	}
}

TEST_F(netlink, commands)
{
	int cmd;

	for (cmd = 0; cmd < 256; cmd++) {
		const struct command *c;
		bool known = cmd == STAPE_CMD_INFO_GET;

		for_each_command(c)
			known |= c->cmd == cmd;
		if (known)
			continue;
		st_request_add_u32(begin(self, cmd), 1, self->id);
		EXPECT_EQ(-EOPNOTSUPP, st_request(&self->q));
	}
	/* Dumps by commands without dumps, and a dump-only command without NLM_F_DUMP. */
	begin(self, STAPE_CMD_SESSION_START)->flags = NLM_F_DUMP;
	EXPECT_EQ(-EOPNOTSUPP, st_request(&self->q));
	begin(self, STAPE_CMD_INFO_GET)->flags = NLM_F_DUMP;
	EXPECT_EQ(-EOPNOTSUPP, st_request(&self->q));
	st_request_add_u32(begin(self, STAPE_CMD_TASK_GET), STAPE_A_TASK_SESSION, self->id);
	EXPECT_EQ(-EOPNOTSUPP, st_request(&self->q));
	/* The reserved field of the header must be 0. */
	begin(self, STAPE_CMD_INFO_GET)->reserved = 1;
	EXPECT_EQ(-EINVAL, st_request(&self->q));
}

TEST_F(netlink, dumps_ignore_ids)
{
	st_request_add_u32(begin(self, STAPE_CMD_SESSION_GET), STAPE_A_SESSION_ID, self->id + 1);
	self->q.flags = NLM_F_DUMP;
	EXPECT_EQ(0, st_request(&self->q));
	EXPECT_LE(1, self->q.replies);
}

TEST_F(netlink, dumps_are_strict)
{
	begin(self, STAPE_CMD_SESSION_GET)->flags = NLM_F_DUMP;
	st_request_add_u32(&self->q, 99, 1);
	EXPECT_EQ(-EINVAL, st_request(&self->q));
	EXPECT_EQ(0, self->q.replies);
	begin(self, STAPE_CMD_REPLAY_GET)->flags = NLM_F_DUMP;
	st_request_add_u32(&self->q, 99, 1);
	EXPECT_EQ(-EINVAL, st_request(&self->q));
}

static int set(FIXTURE_DATA(netlink) *self, uint32_t pages, uint32_t watermark)
{
	st_request_add_u32(begin(self, STAPE_CMD_SESSION_SET), STAPE_A_SESSION_ID, self->id);
	st_request_add_u32(&self->q, STAPE_A_SESSION_RING_PAGES, pages);
	if (watermark)
		st_request_add_u32(&self->q, STAPE_A_SESSION_WATERMARK, watermark);
	return st_request(&self->q);
}

TEST_F(netlink, ring_sizes)
{
	EXPECT_EQ(-EINVAL, set(self, 0, 0));
	EXPECT_EQ(-EINVAL, set(self, 1, 0));
	EXPECT_EQ(-EINVAL, set(self, 2, 0));
	EXPECT_EQ(-EINVAL, set(self, 3, 0));
	EXPECT_EQ(-EINVAL, set(self, 5, 0));
	EXPECT_EQ(-EINVAL, set(self, 65535, 0));
	EXPECT_EQ(-ERANGE, set(self, 65537, 0));
	EXPECT_EQ(8, self->q.offset);
	EXPECT_EQ(-ERANGE, set(self, 0x80000000, 0));
	EXPECT_EQ(-EINVAL, set(self, 8, 9));
	EXPECT_EQ(-ERANGE, set(self, 8, 65537));
	EXPECT_EQ(16, self->q.offset);
	/* The refused requests have not changed the session. */
	EXPECT_EQ(0, set(self, 8, 8));
	EXPECT_EQ(-EBUSY, set(self, 8, 8));
	EXPECT_NE('\0', self->q.text[0]);
}

TEST_F(netlink, pids)
{
	static const uint32_t wrong[] = { 0, 4194304, 0x7fffffff, 0xffffffff };
	size_t i;

	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		st_request_add_u32(begin(self, STAPE_CMD_FILTER_ADD), STAPE_A_SESSION_ID, self->id);
		st_request_add_u32(&self->q, STAPE_A_SESSION_PID, wrong[i]);
		EXPECT_EQ(-ERANGE, st_request(&self->q));
		EXPECT_EQ(8, self->q.offset);
	}
	ASSERT_EQ(0, set(self, 4, 0));
	/* Many attributes in one request; the answer points at the wrong one. */
	st_request_add_u32(begin(self, STAPE_CMD_FILTER_ADD), STAPE_A_SESSION_ID, self->id);
	for (i = 0; i < 100; i++)
		st_request_add_u32(&self->q, STAPE_A_SESSION_PID, i == 70 ? 4194303 : 1);
	EXPECT_EQ(-ESRCH, st_request(&self->q));
	EXPECT_EQ(8 + 8 * 70, self->q.offset);
	st_request_add_u32(begin(self, STAPE_CMD_FILTER_ADD), STAPE_A_SESSION_ID, self->id);
	st_request_add_u32(&self->q, STAPE_A_SESSION_PID, getpid());
	EXPECT_EQ(-EINVAL, st_request(&self->q));
	EXPECT_EQ(8, self->q.offset);
	EXPECT_NE(NULL, strstr(self->q.text, "recorder"));
}

/* Two numbers where one belongs: the kernel takes one of them or refuses; it never mixes them. */
TEST_F(netlink, doubled)
{
	st_request_add_u32(begin(self, STAPE_CMD_SESSION_GET), STAPE_A_SESSION_ID, NOBODY);
	st_request_add_u32(&self->q, STAPE_A_SESSION_ID, self->id);
	EXPECT_EQ(0, st_request(&self->q));
	EXPECT_EQ(1, self->q.replies);
	st_request_add_u32(begin(self, STAPE_CMD_SESSION_GET), STAPE_A_SESSION_ID, self->id);
	st_request_add_u32(&self->q, STAPE_A_SESSION_ID, NOBODY);
	EXPECT_EQ(-ENOENT, st_request(&self->q));
}

/* -- answers -------------------------------------------------------------------- */

static void keep_info(struct nlattr **attrs, void *arg)
{
	uint32_t *info = arg;

	info[0] = st_attr_u32(attrs[STAPE_A_INFO_WIRE_VERSION]);
	info[1] = st_attr_u32(attrs[STAPE_A_INFO_PAGE_SIZE]);
	info[2] = st_attr_u32(attrs[STAPE_A_INFO_CPUS]);
	info[3] = st_attr_u32(attrs[STAPE_A_INFO_SESSIONS]);
	info[4] = attrs[STAPE_A_INFO_VERSION] && attrs[STAPE_A_INFO_PREEMPT];
	info[5] = st_attr_u32(attrs[STAPE_A_INFO_HZ]);
}

TEST_F(netlink, info)
{
	uint32_t info[6] = { 0 };

	begin(self, STAPE_CMD_INFO_GET)->each = keep_info;
	self->q.arg = info;
	ASSERT_EQ(0, st_request(&self->q));
	EXPECT_EQ(1, self->q.replies);
	EXPECT_EQ(STAPE_WIRE_VERSION, info[0]);
	EXPECT_EQ(STAPE_PAGE_SIZE, info[1]);
	EXPECT_LE(st_cpus(), info[2]);
	EXPECT_EQ(1, info[3]);
	EXPECT_TRUE(info[4]);
	EXPECT_LE(100, info[5]);
}

struct seen {
	uint32_t ids[512];
	unsigned int n;
};

static void keep_id(struct nlattr **attrs, void *arg)
{
	struct seen *seen = arg;

	if (seen->n < 512)
		seen->ids[seen->n++] = st_attr_u32(attrs[STAPE_A_SESSION_ID]);
}

TEST_F(netlink, dump_of_sessions)
{
	static struct seen seen;
	int fds[150];
	unsigned int i;

	for (i = 0; i < 150; i++) {
		fds[i] = open("/dev/schedtape", O_RDWR | O_CLOEXEC);
		ASSERT_LE(0, fds[i]);
	}
	begin(self, STAPE_CMD_SESSION_GET)->flags = NLM_F_DUMP;
	self->q.each = keep_id;
	self->q.arg = &seen;
	ASSERT_EQ(0, st_request(&self->q));
	EXPECT_EQ(151, seen.n);
	EXPECT_LT(1, self->q.parts);
	EXPECT_EQ(self->id, seen.ids[0]);
	for (i = 1; i < seen.n; i++)
		EXPECT_LT(seen.ids[i - 1], seen.ids[i]);
	for (i = 0; i < 150; i++)
		close(fds[i]);
}

#define THREADS 500

static void *sleep_in_thread(void *arg)
{
	pause();
	return arg;
}

static int make_threads(void *arg)
{
	pthread_attr_t attr;
	pthread_t thread;
	int i;

	munlockall();
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 65536);
	for (i = 0; i < *(int *)arg; i++)
		if (pthread_create(&thread, &attr, sleep_in_thread, NULL))
			return 1;
	return 0;
}

struct tasks {
	unsigned int n;
	unsigned int wrong;
	uint32_t last;
	pid_t process;
};

static void check_task(struct nlattr **attrs, void *arg)
{
	struct tasks *tasks = arg;
	uint32_t pid = st_attr_u32(attrs[STAPE_A_TASK_PID]);
	uint64_t started = st_attr_u64(attrs[STAPE_A_TASK_START_TIME]);
	const char *comm = (const char *)attrs[STAPE_A_TASK_COMM] + NLA_HDRLEN;

	tasks->n++;
	/* In order, each once, of one process, with unknown parent, asleep, created before now. */
	tasks->wrong += pid <= tasks->last ||
		st_attr_u32(attrs[STAPE_A_TASK_TGID]) != (uint32_t)tasks->process ||
		st_attr_u32(attrs[STAPE_A_TASK_PPID]) ||
		st_attr_u32(attrs[STAPE_A_TASK_NS_PID]) != pid ||
		st_attr_u32(attrs[STAPE_A_TASK_STATE]) != STAPE_STATE_SLEEPING ||
		st_attr_u32(attrs[STAPE_A_TASK_POLICY]) != 0 ||
		!started || started > st_attr_u64(attrs[STAPE_A_TASK_TIME]) ||
		st_attr_u64(attrs[STAPE_A_TASK_TIME]) > st_now() ||
		!attrs[STAPE_A_TASK_AFFINITY] || strcmp(comm, "test_netlink");
	tasks->last = pid;
}

TEST_F_TIMEOUT(netlink, dump_of_many_tasks, 60)
{
	struct tasks tasks = { 0 };
	int threads = THREADS;

	ASSERT_EQ(0, set(self, 4, 0));
	ASSERT_EQ(0, st_child_begin(&self->w, -1, make_threads, &threads));
	ASSERT_TRUE(st_child_settled(&self->w));
	usleep(100000);
	ASSERT_EQ(0, st_record_add(&self->r, self->w.pid));
	tasks.process = self->w.pid;
	begin(self, STAPE_CMD_TASK_GET)->flags = NLM_F_DUMP;
	st_request_add_u32(&self->q, STAPE_A_TASK_SESSION, self->id);
	self->q.each = check_task;
	self->q.arg = &tasks;
	ASSERT_EQ(0, st_request(&self->q));
	EXPECT_EQ(THREADS + 1, tasks.n);
	EXPECT_EQ(0, tasks.wrong);
	EXPECT_LT(1, self->q.parts);
}

/* -- notifications ---------------------------------------------------------------- */

static int rename_often(void *arg)
{
	int i;

	for (i = 0; i < *(int *)arg; i++)
		prctl(PR_SET_NAME, i & 1 ? "odd" : "even");
	return 0;
}

/* The state in the next notification of this session, or -errno; ignores other sessions. */
static int next_ntf(int sock, uint32_t id, struct nlattr **attrs)
{
	int cmd;

	do {
		cmd = st_notified(sock, 10000 * st_patience(), attrs);
		if (cmd < 0)
			return cmd;
	} while (cmd != STAPE_CMD_SESSION_NTF ||
		 st_attr_u32(attrs[STAPE_A_SESSION_ID]) != id);
	return st_attr_u32(attrs[STAPE_A_SESSION_STATE]);
}

TEST_F_TIMEOUT(netlink, notifications_of_a_session, 60)
{
	struct nlattr *attrs[ST_REQUEST_TYPES];
	int renames = 5000, sock = st_monitor();

	ASSERT_LE(0, sock);
	ASSERT_EQ(0, set(self, 4, 0));
	/* On one CPU, so that one ring has the loss and others are silent. */
	ASSERT_EQ(0, st_child_fork(&self->w, 0, rename_often, &renames));
	ASSERT_EQ(0, st_pin(0, 0));
	ASSERT_EQ(0, st_record_start_with(&self->r, &self->w, 1));
	EXPECT_EQ(-ETIMEDOUT, st_notified(sock, 0, attrs));

	/* The first loss, and only the first. */
	st_child_go(&self->w);
	EXPECT_EQ(STAPE_SESSION_RECORDING, next_ntf(sock, self->id, attrs));
	EXPECT_LT(0, st_attr_u64(attrs[STAPE_A_SESSION_LOST]));
	EXPECT_EQ(1, st_attr_u32(attrs[STAPE_A_SESSION_TASKS]));
	ASSERT_TRUE(st_child_settled(&self->w));
	EXPECT_EQ(-ETIMEDOUT, st_notified(sock, 200, attrs));

	/* The last task. */
	st_child_go(&self->w);
	EXPECT_EQ(STAPE_SESSION_RECORDING, next_ntf(sock, self->id, attrs));
	EXPECT_EQ(0, st_attr_u32(attrs[STAPE_A_SESSION_TASKS]));
	EXPECT_EQ(0, st_child_wait(&self->w));

	ASSERT_EQ(0, st_record_stop(&self->r));
	EXPECT_EQ(STAPE_SESSION_STOPPED, next_ntf(sock, self->id, attrs));
	EXPECT_NE(0, st_attr_u64(attrs[STAPE_A_SESSION_STOP_TIME]));
	EXPECT_EQ(-ETIMEDOUT, st_notified(sock, 200, attrs));
	close(sock);
}

static int rename_there_then_here(void *arg)
{
	int i;

	rename_often(arg);
	if (st_pin(0, 1))
		return 1;
	/* Full pages on the other CPU: they wake its reader, but send no notification. */
	for (i = 0; i < 3; i++) {
		rename_often(&(int){ 200 });
		usleep(20000);
	}
	return 0;
}

/* A loss is notified once, whatever other CPUs report to the reader afterwards. */
TEST_F_TIMEOUT(netlink, loss_is_told_once, 60)
{
	struct nlattr *attrs[ST_REQUEST_TYPES];
	int renames = 5000, sock = st_monitor();

	if (st_cpus() < 2)
		SKIP(return, "needs two CPUs");
	ASSERT_LE(0, sock);
	ASSERT_EQ(0, set(self, 4, 1));
	ASSERT_EQ(0, st_record_child(&self->r, &self->w, 0, rename_there_then_here, &renames));
	st_child_go(&self->w);
	EXPECT_EQ(STAPE_SESSION_RECORDING, next_ntf(sock, self->id, attrs));
	ASSERT_TRUE(st_child_settled(&self->w));
	EXPECT_EQ(-ETIMEDOUT, st_notified(sock, 200, attrs));
	close(sock);
}

TEST_HARNESS_MAIN
