// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: what users may take (sessions, memory) and what belongs to whom: another user's
 * sessions and replays cannot be seen, changed, stopped or listened to without CAP_SYS_ADMIN.
 */
#include <errno.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <kselftest_harness.h>
#include <schedtape/client.h>
#include <schedtape/device.h>

#include "caps.h"
#include "long-request.h"
#include "module.h"
#include "request.h"
#include "task.h"
#include "time-limit.h"

#define PAGES		4
#define USER		65533
#define MB		(1ull << 20)
#define PARAMETERS	"/sys/module/schedtape/parameters/"
#define PERFMON		ST_CAP(CAP_PERFMON)

/* The limits that a test may change, and their values before it. */
static const char * const limits[] = {
	"sessions_max", "sessions_reserved", "user_sessions_max", "memory_max", "user_memory_max",
};

#define NR_LIMITS	(sizeof(limits) / sizeof(limits[0]))

FIXTURE(users)
{
	struct st_request q;
	char before[NR_LIMITS][16];
	int fds[64];
	int nr_fds;
};

static void parameter_path(char path[128], const char *name)
{
	snprintf(path, 128, PARAMETERS "%s", name);
}

static bool set_limit(const char *name, const char *value)
{
	char path[128];

	parameter_path(path, name);
	return st_write_file(path, value);
}

static bool get_limit(const char *name, char value[16])
{
	char path[128];
	FILE *file;
	bool done;

	parameter_path(path, name);
	file = fopen(path, "re");
	done = file && fgets(value, 16, file);
	if (file)
		fclose(file);
	return done;
}

FIXTURE_SETUP(users)
{
	size_t i;

	for (i = 0; i < NR_LIMITS; i++)
		ASSERT_TRUE(get_limit(limits[i], self->before[i]));
	ASSERT_EQ(0, chmod("/dev/schedtape", 0666));
}

/* The test's process may have become another user. */
FIXTURE_TEARDOWN_PARENT(users)
{
	size_t i;

	for (i = 0; i < NR_LIMITS; i++)
		set_limit(limits[i], self->before[i]);
	chmod("/dev/schedtape", 0600);
}

/* -- helpers --------------------------------------------------------------------------- */

static struct st_request *begin(FIXTURE_DATA(users) *self, uint8_t cmd)
{
	st_request_init(&self->q, cmd);
	return &self->q;
}

/* Opens the device.  Returns the session's number, or -errno. */
static int open_session(FIXTURE_DATA(users) *self)
{
	struct stape_session_info info;
	int fd = open("/dev/schedtape", O_RDWR | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	self->fds[self->nr_fds++] = fd;
	return ioctl(fd, STAPE_IOC_INFO, &info) ? -errno : (int)info.id;
}

static void close_session(FIXTURE_DATA(users) *self)
{
	close(self->fds[--self->nr_fds]);
}

static int set_rings(FIXTURE_DATA(users) *self, uint32_t id, uint32_t pages)
{
	begin(self, STAPE_CMD_SESSION_SET);
	st_request_add_u32(&self->q, STAPE_A_SESSION_ID, id);
	st_request_add_u32(&self->q, STAPE_A_SESSION_RING_PAGES, pages);
	return st_request(&self->q);
}

/* Opens a session with rings.  Returns 0 or -errno. */
static int take_session(FIXTURE_DATA(users) *self)
{
	int id = open_session(self), ret = id < 0 ? id : set_rings(self, id, PAGES);

	if (ret && id >= 0)
		close_session(self);
	return ret;
}

/* Takes sessions until there is none.  Returns how many. */
static int take_all(FIXTURE_DATA(users) *self)
{
	int n = 0;

	while (n < 50 && !take_session(self))
		n++;
	return n;
}

static int make_replay(FIXTURE_DATA(users) *self, uint32_t players, uint32_t *id)
{
	struct stape_replay_setup setup = { .nr_players = players };
	int ret = ioctl(self->fds[self->nr_fds - 1], STAPE_IOC_REPLAY, &setup) ? -errno : 0;

	if (!ret) {
		close(setup.fd);
		*id = setup.id;
	}
	return ret;
}

/* Returns a value of info-get. */
static uint64_t info_value(uint16_t type)
{
	struct schedtape_module_info info;

	if (st_module_info(&info))
		return ~0ull;
	switch (type) {
	case STAPE_A_INFO_SESSIONS_USED:
		return info.sessions_used;
	case STAPE_A_INFO_USER_SESSIONS:
		return info.user_sessions;
	case STAPE_A_INFO_MEMORY:
		return info.memory;
	}
	return info.user_memory;
}

/* Calls @func in a child that is another user.  Returns its result, a small number. */
static int as_user(FIXTURE_DATA(users) *self, uint64_t caps,
		   int (*func)(FIXTURE_DATA(users) *self))
{
	pid_t child = fork();
	int status;

	if (!child)
		_exit(st_become_user(USER, caps) ? 99 : func(self));
	return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : 98;
}

/* -- sessions -------------------------------------------------------------------------- */

TEST_F(users, sessions_of_a_user)
{
	ASSERT_EQ(0, st_become_user(USER, PERFMON));
	EXPECT_EQ(8, take_all(self));
	EXPECT_EQ(-EUSERS, self->q.ret);
	EXPECT_TRUE(st_request_says(&self->q, "user_sessions_max"));
	EXPECT_EQ(8, info_value(STAPE_A_INFO_USER_SESSIONS));
	/* The session that got no rings can get them when there is room. */
	close_session(self);
	EXPECT_EQ(7, info_value(STAPE_A_INFO_USER_SESSIONS));
	EXPECT_EQ(1, take_all(self));
}

TEST_F(users, sessions_of_users_are_their_own)
{
	EXPECT_EQ(8, as_user(self, PERFMON, take_all));
	ASSERT_EQ(0, take_session(self));
	EXPECT_EQ(8, as_user(self, PERFMON, take_all));
	EXPECT_EQ(1, info_value(STAPE_A_INFO_SESSIONS_USED));
}

TEST_F(users, the_last_sessions_are_reserved)
{
	ASSERT_EQ(0, st_become_user(USER, PERFMON | ST_CAP(CAP_SYS_RESOURCE) |
				    ST_CAP(CAP_SYS_ADMIN)));
	ASSERT_EQ(0, st_caps_effective(PERFMON | ST_CAP(CAP_SYS_RESOURCE)));
	EXPECT_EQ(26, take_all(self));
	EXPECT_EQ(-EUSERS, self->q.ret);
	EXPECT_TRUE(st_request_says(&self->q, "sessions_reserved"));
	ASSERT_EQ(0, st_caps_effective(PERFMON | ST_CAP(CAP_SYS_RESOURCE) |
				       ST_CAP(CAP_SYS_ADMIN)));
	EXPECT_EQ(4, take_all(self));
	EXPECT_EQ(-EUSERS, self->q.ret);
	EXPECT_TRUE(st_request_says(&self->q, "sessions_max"));
	EXPECT_EQ(30, info_value(STAPE_A_INFO_SESSIONS_USED));
}

TEST_F(users, parameters_of_sessions)
{
	ASSERT_TRUE(set_limit("user_sessions_max", "2"));
	EXPECT_EQ(2, as_user(self, PERFMON, take_all));
	ASSERT_TRUE(set_limit("sessions_max", "5"));
	EXPECT_EQ(1, as_user(self, PERFMON, take_all));
	ASSERT_TRUE(set_limit("sessions_reserved", "5"));
	EXPECT_EQ(0, as_user(self, PERFMON, take_all));
	/* There are no more than 30 numbers for filters. */
	ASSERT_TRUE(set_limit("sessions_max", "1000"));
	EXPECT_EQ(30, take_all(self));
	EXPECT_EQ(-EUSERS, self->q.ret);
}

/* -- memory ---------------------------------------------------------------------------- */

/* Sessions in all that the user may have: the sum of the limits may be too low for more. */
TEST_F(users, memory_of_sessions)
{
	uint64_t one;

	ASSERT_EQ(0, take_session(self));
	one = info_value(STAPE_A_INFO_MEMORY);
	EXPECT_LT(MB, one);
	EXPECT_EQ(one, info_value(STAPE_A_INFO_USER_MEMORY));
	close_session(self);
	EXPECT_EQ(0, info_value(STAPE_A_INFO_MEMORY));

	ASSERT_TRUE(set_limit("user_memory_max", "3"));
	EXPECT_EQ(3 * MB / one, as_user(self, PERFMON, take_all));
	EXPECT_EQ(30, as_user(self, PERFMON | ST_CAP(CAP_SYS_RESOURCE) | ST_CAP(CAP_SYS_ADMIN),
			      take_all));
	ASSERT_TRUE(set_limit("user_memory_max", "100"));
	ASSERT_TRUE(set_limit("memory_max", "5"));
	EXPECT_EQ(5 * MB / one, as_user(self, PERFMON, take_all));
	EXPECT_EQ(0, info_value(STAPE_A_INFO_MEMORY));

	ASSERT_EQ(0, st_become_user(USER, PERFMON));
	take_all(self);
	EXPECT_EQ(-ENOMEM, self->q.ret);
	EXPECT_TRUE(st_request_says(&self->q, "memory_max"));
	EXPECT_EQ(5 * MB / one * one, info_value(STAPE_A_INFO_USER_MEMORY));
}

TEST_F(users, memory_of_replays)
{
	uint32_t id;

	ASSERT_TRUE(set_limit("user_memory_max", "3"));
	ASSERT_EQ(0, st_become_user(USER, PERFMON));
	ASSERT_LT(0, open_session(self));
	/* A player has a pointer, a clock and a turn. */
	EXPECT_EQ(-ENOMEM, make_replay(self, 3 * MB / 20, &id));
	EXPECT_EQ(0, info_value(STAPE_A_INFO_USER_MEMORY));
	EXPECT_EQ(0, make_replay(self, 2 * MB / 20, &id));
	EXPECT_LE(2 * MB - 20, info_value(STAPE_A_INFO_USER_MEMORY));
	EXPECT_GE(2 * MB + 8192, info_value(STAPE_A_INFO_USER_MEMORY));
	EXPECT_EQ(-ENOMEM, take_session(self));
	EXPECT_TRUE(st_request_says(&self->q, "user_memory_max"));
	close_session(self);
	EXPECT_EQ(0, info_value(STAPE_A_INFO_USER_MEMORY));
}

/* -- owners ---------------------------------------------------------------------------- */

/* Commands about root's session and replay. */
static uint32_t roots_session, roots_replay;

static const struct command {
	uint8_t cmd;
	uint16_t type;		/* of the number */
	uint16_t flags;
	bool replay;
} commands[] = {
	{ STAPE_CMD_SESSION_GET, STAPE_A_SESSION_ID, 0, false },
	{ STAPE_CMD_SESSION_SET, STAPE_A_SESSION_ID, 0, false },
	{ STAPE_CMD_SESSION_START, STAPE_A_SESSION_ID, 0, false },
	{ STAPE_CMD_SESSION_PAUSE, STAPE_A_SESSION_ID, 0, false },
	{ STAPE_CMD_SESSION_STOP, STAPE_A_SESSION_ID, 0, false },
	{ STAPE_CMD_SESSION_MONITOR, STAPE_A_SESSION_ID, 0, false },
	{ STAPE_CMD_SESSION_MARK, STAPE_A_SESSION_ID, 0, false },
	{ STAPE_CMD_FILTER_SET, STAPE_A_SESSION_ID, 0, false },
	{ STAPE_CMD_FILTER_ADD, STAPE_A_SESSION_ID, 0, false },
	{ STAPE_CMD_FILTER_DEL, STAPE_A_SESSION_ID, 0, false },
	{ STAPE_CMD_TASK_GET, STAPE_A_TASK_SESSION, NLM_F_DUMP, false },
	{ STAPE_CMD_REPLAY_GET, STAPE_A_REPLAY_ID, 0, true },
	{ STAPE_CMD_REPLAY_START, STAPE_A_REPLAY_ID, 0, true },
	{ STAPE_CMD_REPLAY_PAUSE, STAPE_A_REPLAY_ID, 0, true },
	{ STAPE_CMD_REPLAY_STOP, STAPE_A_REPLAY_ID, 0, true },
	{ STAPE_CMD_REPLAY_MONITOR, STAPE_A_REPLAY_ID, 0, true },
	{ STAPE_CMD_PLAYER_GET, STAPE_A_PLAYER_REPLAY, NLM_F_DUMP, true },
};

#define NR_COMMANDS	(sizeof(commands) / sizeof(commands[0]))

/* Returns how many commands about root's are refused, with the reason. */
static int count_refused(FIXTURE_DATA(users) *self)
{
	size_t i;
	int n = 0;

	for (i = 0; i < NR_COMMANDS; i++) {
		const struct command *c = &commands[i];

		begin(self, c->cmd)->flags = c->flags;
		st_request_add_u32(&self->q, c->type,
				   c->replay ? roots_replay : roots_session);
		if (st_request(&self->q) != -EPERM)
			printf("# command %u: %d\n", c->cmd, self->q.ret);
		else if (st_request_says(&self->q, c->replay ? "the replay is another user's" :
						      "the session is another user's"))
			n++;
	}
	return n;
}

/* Returns how many sessions and replays there are for this user. */
static int count_visible(FIXTURE_DATA(users) *self)
{
	int n;

	begin(self, STAPE_CMD_SESSION_GET)->flags = NLM_F_DUMP;
	if (st_request(&self->q))
		return 90;
	n = self->q.replies;
	begin(self, STAPE_CMD_REPLAY_GET)->flags = NLM_F_DUMP;
	return st_request(&self->q) ? 91 : n + self->q.replies;
}

static int count_visible_with_own(FIXTURE_DATA(users) *self)
{
	return take_session(self) ? 92 : count_visible(self);
}

TEST_F(users, of_another_user)
{
	int id = open_session(self);

	ASSERT_LT(0, id);
	ASSERT_EQ(0, set_rings(self, id, PAGES));
	ASSERT_EQ(0, make_replay(self, 1, &roots_replay));
	roots_session = id;
	EXPECT_EQ(NR_COMMANDS, as_user(self, PERFMON, count_refused));
	EXPECT_EQ(0, as_user(self, PERFMON, count_visible));
	EXPECT_EQ(1, as_user(self, PERFMON, count_visible_with_own));
	EXPECT_EQ(2, as_user(self, ST_CAP(CAP_SYS_ADMIN), count_visible));
	EXPECT_EQ(2, count_visible(self));
}

/* Returns 0 if a user may do everything with a session and a replay of its own. */
static int use_own(FIXTURE_DATA(users) *self)
{
	int id = open_session(self);
	uint32_t replay;

	if (id < 0 || set_rings(self, id, PAGES) || make_replay(self, 1, &replay))
		return 1;
	if (st_request_u32(STAPE_CMD_SESSION_START, STAPE_A_SESSION_ID, id, 0, 0))
		return 2;
	if (st_request_u32(STAPE_CMD_FILTER_ADD, STAPE_A_SESSION_ID, id, STAPE_A_SESSION_PID,
			   getppid()))
		return 3;
	if (st_request_u32(STAPE_CMD_SESSION_STOP, STAPE_A_SESSION_ID, id, 0, 0))
		return 4;
	return st_request_u32(STAPE_CMD_REPLAY_STOP, STAPE_A_REPLAY_ID, replay, 0, 0) ? 5 : 0;
}

TEST_F(users, of_its_own)
{
	EXPECT_EQ(0, as_user(self, PERFMON, use_own));
}

static void take_uid(struct nlattr **attrs, void *arg)
{
	*(uint32_t *)arg = st_attr_u32(attrs[STAPE_A_SESSION_UID]);
}

TEST_F(users, the_uid_is_shown)
{
	uint32_t uid = ~0;
	int id;

	ASSERT_EQ(0, st_become_user(USER, PERFMON));
	id = open_session(self);
	ASSERT_LT(0, id);
	st_request_add_u32(begin(self, STAPE_CMD_SESSION_GET), STAPE_A_SESSION_ID, id);
	self->q.each = take_uid;
	self->q.arg = &uid;
	ASSERT_EQ(0, st_request(&self->q));
	EXPECT_EQ(USER, uid);
}

/* -- a lock that is held for long -------------------------------------------------------- */

/* Not in @self, which the test shares with its children. */
static struct st_long_request request;

/* Lets a request to a session of root's begin, and keeps it from going on. */
static bool hold_roots_session(FIXTURE_DATA(users) *self)
{
	int id = open_session(self);

	roots_session = id;
	return id > 0 && !set_rings(self, id, PAGES) && !make_replay(self, 1, &roots_replay) &&
	       st_long_request_begin(&request, id, 0) && st_long_request_hold(&request);
}

/* Returns true if the request has not done more than half of its work before @time. */
static bool was_held(uint64_t time)
{
	uint64_t end;

	if (st_long_request_end(&request, NULL, &end))
		return false;
	if (time < end / 2)
		return true;
	printf("# the request took %llu ms, %llu of them before\n",
	       (unsigned long long)end / 1000000, (unsigned long long)time / 1000000);
	return false;
}

/* A user that may not see a session does not wait for a request to it. */
TEST_F(users, request_of_another_user)
{
	uint64_t time;

	ASSERT_TRUE(hold_roots_session(self));
	EXPECT_EQ(NR_COMMANDS, as_user(self, PERFMON, count_refused));
	EXPECT_EQ(0, as_user(self, PERFMON, count_visible));
	time = st_long_request_time(&request);
	EXPECT_TRUE(was_held(time));
}

/* A user that may see it waits, and can be killed. */
TEST_F(users, killed_while_it_waits)
{
	uint64_t time;
	pid_t child;

	ASSERT_TRUE(hold_roots_session(self));
	child = fork();
	if (!child)
		_exit(count_visible(self));
	ASSERT_TRUE(st_wait_state(child, 'D'));
	ASSERT_EQ(0, kill(child, SIGKILL));
	ASSERT_EQ(child, waitpid(child, NULL, 0));
	time = st_long_request_time(&request);
	EXPECT_TRUE(was_held(time));
}

/* -- notifications --------------------------------------------------------------------- */

static int monitor(FIXTURE_DATA(users) *self, uint8_t cmd, int sock, uint32_t id)
{
	st_request_add_u32(begin(self, cmd), 1, id);
	self->q.sock = sock;
	return st_request(&self->q);
}

static int stop(FIXTURE_DATA(users) *self, uint32_t id)
{
	st_request_add_u32(begin(self, STAPE_CMD_SESSION_STOP), STAPE_A_SESSION_ID, id);
	return st_request(&self->q);
}

/* Begins to record.  Returns the session's number, or -errno. */
static int start_session(FIXTURE_DATA(users) *self)
{
	int id = open_session(self);

	if (id < 0 || set_rings(self, id, PAGES))
		return -EIO;
	st_request_add_u32(begin(self, STAPE_CMD_SESSION_START), STAPE_A_SESSION_ID, id);
	return st_request(&self->q) ? -EIO : id;
}

/* Only the socket that asked last gets the notifications, and only of that session. */
TEST_F(users, monitor_of_a_session)
{
	struct nlattr *attrs[ST_REQUEST_TYPES];
	int first = st_socket(), last = st_socket(), id, other;

	ASSERT_EQ(0, st_become_user(USER, PERFMON));
	id = open_session(self);
	ASSERT_LT(0, id);
	EXPECT_EQ(-EINVAL, monitor(self, STAPE_CMD_SESSION_MONITOR, first, id));
	EXPECT_TRUE(st_request_says(&self->q, "no rings"));
	id = start_session(self);
	other = start_session(self);
	ASSERT_LT(0, id);
	ASSERT_LT(0, other);
	EXPECT_EQ(0, monitor(self, STAPE_CMD_SESSION_MONITOR, first, id));
	EXPECT_EQ(0, monitor(self, STAPE_CMD_SESSION_MONITOR, last, id));
	EXPECT_EQ(0, stop(self, other));
	EXPECT_EQ(0, stop(self, id));
	EXPECT_EQ(STAPE_CMD_SESSION_NTF, st_notified(last, 5000 * st_patience(), attrs));
	EXPECT_EQ(id, st_attr_u32(attrs[STAPE_A_SESSION_ID]));
	EXPECT_EQ(-ETIMEDOUT, st_notified(first, 100, attrs));
	EXPECT_EQ(-ETIMEDOUT, st_notified(last, 100, attrs));
}

TEST_F(users, monitor_of_a_replay)
{
	struct nlattr *attrs[ST_REQUEST_TYPES];
	int sock = st_socket();
	uint32_t id;

	ASSERT_EQ(0, st_become_user(USER, PERFMON));
	ASSERT_LT(0, open_session(self));
	ASSERT_EQ(0, make_replay(self, 1, &id));
	ASSERT_EQ(0, monitor(self, STAPE_CMD_REPLAY_MONITOR, sock, id));
	ASSERT_EQ(0, st_request_u32(STAPE_CMD_REPLAY_STOP, STAPE_A_REPLAY_ID, id, 0, 0));
	EXPECT_EQ(STAPE_CMD_REPLAY_NTF, st_notified(sock, 5000 * st_patience(), attrs));
	EXPECT_EQ(id, st_attr_u32(attrs[STAPE_A_REPLAY_ID]));
	EXPECT_EQ(STAPE_REPLAY_STOPPED, st_attr_u32(attrs[STAPE_A_REPLAY_STATE]));
}

/* The port of a socket that was closed may belong to anybody. */
TEST_F(users, monitor_that_was_closed)
{
	struct sockaddr_nl address = { .nl_family = AF_NETLINK, .nl_pid = 0x7fff1234 };
	struct nlattr *attrs[ST_REQUEST_TYPES];
	int sock = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC), id;

	ASSERT_EQ(0, bind(sock, (struct sockaddr *)&address, sizeof(address)));
	id = start_session(self);
	ASSERT_LT(0, id);
	ASSERT_EQ(0, monitor(self, STAPE_CMD_SESSION_MONITOR, sock, id));
	close(sock);
	sock = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC);
	ASSERT_EQ(0, bind(sock, (struct sockaddr *)&address, sizeof(address)));
	EXPECT_EQ(0, stop(self, id));
	EXPECT_EQ(-ETIMEDOUT, st_notified(sock, 200, attrs));
}

TEST_HARNESS_MAIN
