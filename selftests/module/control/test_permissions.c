// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: who may open the device and who may send requests: CAP_PERFMON or CAP_SYS_ADMIN
 * in the initial user namespace, of the socket and the sender.  A process that is given an
 * open file needs neither.
 */
#include <errno.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <kselftest_harness.h>

#include "caps.h"
#include "send-fd.h"
#include "players.h"
#include "request.h"

FIXTURE(permissions)
{
	struct stat device;
};

/* The device's mode allows everyone, except where a test says otherwise. */
FIXTURE_SETUP(permissions)
{
	ASSERT_EQ(0, stat("/dev/schedtape", &self->device));
	ASSERT_EQ(0, chmod("/dev/schedtape", 0666));
}

FIXTURE_TEARDOWN_PARENT(permissions)
{
	if (chown("/dev/schedtape", 0, 0))
		perror("/dev/schedtape");
	chmod("/dev/schedtape", 0600);
}

static int try_open(void)
{
	int fd = open("/dev/schedtape", O_RDWR | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
}

static int try_info(int sock)
{
	struct st_request q;

	st_request_init(&q, STAPE_CMD_INFO_GET);
	q.sock = sock;
	return st_request(&q);
}

/* Returns -ENOENT if the family does not exist. */
static int try_netlink(void)
{
	int sock = st_socket(), ret = -ENOENT;

	if (sock < 0)
		return sock;
	if (st_family(sock, NULL))
		ret = try_info(sock);
	close(sock);
	return ret;
}

static int try_monitor(void)
{
	int sock = st_monitor();

	if (sock < 0)
		return sock;
	close(sock);
	return 0;
}

TEST_F(permissions, mode)
{
	EXPECT_EQ(0600, self->device.st_mode & 07777);
	EXPECT_EQ(0, self->device.st_uid);
	ASSERT_EQ(0, chmod("/dev/schedtape", 0600));
	ASSERT_EQ(0, st_become_nobody(ST_CAP(CAP_PERFMON) | ST_CAP(CAP_SYS_ADMIN)));
	EXPECT_EQ(-EACCES, try_open());
}

/* The device's group may open the file only with a capability. */
TEST_F(permissions, group)
{
	gid_t group = 65533;

	ASSERT_EQ(0, chmod("/dev/schedtape", 0660));
	ASSERT_EQ(0, chown("/dev/schedtape", 0, group));
	ASSERT_EQ(0, syscall(SYS_setgroups, 1, &group));
	ASSERT_EQ(0, st_become_nobody(ST_CAP(CAP_PERFMON)));
	EXPECT_EQ(0, try_open());
	ASSERT_EQ(0, st_caps_effective(0));
	EXPECT_EQ(-EACCES, try_open());
}

/*
 * The table of Documentation/security.rst: a caller, and the results of opening the device, of
 * a request, and of listening. The device's mode allows everyone.
 */
FIXTURE(caller)
{
	int *results;
};

FIXTURE_VARIANT(caller)
{
	uint64_t caps;		/* of nobody */
	bool root;
	bool namespaces;	/* a user namespace, and */
	int others;		/* other namespaces, CLONE_NEW... */
	int device;
	int netlink;
};

#define ALL_CAPS ((ST_CAP(CAP_LAST_CAP + 1) - 1) & 0x1ffffffffffull)
#define NEEDED (ST_CAP(CAP_PERFMON) | ST_CAP(CAP_SYS_ADMIN))
#define CONTAINER (CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWNS | CLONE_NEWIPC | CLONE_NEWUTS | \
		   CLONE_NEWCGROUP)

FIXTURE_VARIANT_ADD(caller, nobody) {
	.device = -EACCES, .netlink = -EPERM,
};

FIXTURE_VARIANT_ADD(caller, net_admin) {
	.caps = ST_CAP(CAP_NET_ADMIN), .device = -EACCES, .netlink = -EPERM,
};

FIXTURE_VARIANT_ADD(caller, all_capabilities_but_the_two) {
	.caps = ALL_CAPS & ~NEEDED, .device = -EACCES, .netlink = -EPERM,
};

FIXTURE_VARIANT_ADD(caller, perfmon) {
	.caps = ST_CAP(CAP_PERFMON),
};

FIXTURE_VARIANT_ADD(caller, sys_admin) {
	.caps = ST_CAP(CAP_SYS_ADMIN),
};

FIXTURE_VARIANT_ADD(caller, root) {
	.root = true, .caps = ALL_CAPS,
};

FIXTURE_VARIANT_ADD(caller, root_without_capabilities) {
	.root = true, .device = -EACCES, .netlink = -EPERM,
};

FIXTURE_VARIANT_ADD(caller, root_of_a_user_namespace) {
	.root = true, .namespaces = true, .device = -EACCES, .netlink = -EPERM,
};

FIXTURE_VARIANT_ADD(caller, root_of_a_container) {
	.root = true, .namespaces = true, .others = CONTAINER,
	.device = -EACCES, .netlink = -ENOENT,
};

/* As in a privileged container: the initial user namespace, and own other namespaces. */
FIXTURE_VARIANT_ADD(caller, root_of_a_privileged_container) {
	.root = true, .caps = ALL_CAPS, .others = CONTAINER,
	.netlink = -ENOENT,
};

FIXTURE_SETUP(caller)
{
	self->results = st_share(4096);
	ASSERT_EQ(0, chmod("/dev/schedtape", 0666));
}

FIXTURE_TEARDOWN_PARENT(caller)
{
	chmod("/dev/schedtape", 0600);
}

static int become(const FIXTURE_VARIANT(caller) *caller)
{
	if (caller->namespaces)
		return st_become_root_of_namespaces(caller->others);
	if (caller->others && unshare(caller->others))
		return -1;
	return caller->root ? st_caps_effective(caller->caps) : st_become_nobody(caller->caps);
}

static int monitor_result(const FIXTURE_VARIANT(caller) *caller)
{
	if (caller->netlink == -ENOENT)
		return -ENOENT;
	return caller->caps & ST_CAP(CAP_SYS_ADMIN) ? 0 : -EPERM;
}

TEST_F(caller, access)
{
	pid_t child;
	int status;

	ASSERT_EQ(0, become(variant));
	/* The new PID namespace begins with the next child. */
	child = fork();
	if (!child) {
		self->results[0] = try_open();
		self->results[1] = try_netlink();
		self->results[2] = try_monitor();
		_exit(0);
	}
	ASSERT_EQ(child, waitpid(child, &status, 0));
	ASSERT_EQ(0, status);
	EXPECT_EQ(variant->device, self->results[0]);
	EXPECT_EQ(variant->netlink, self->results[1]);
	EXPECT_EQ(monitor_result(variant), self->results[2]);
}

/* A socket opened with the capability, used by a task without it. */
TEST_F(permissions, sender_and_socket)
{
	int privileged = st_socket(), plain;

	ASSERT_LE(0, privileged);
	EXPECT_EQ(0, try_info(privileged));
	ASSERT_EQ(0, st_caps_effective(0));
	EXPECT_EQ(-EPERM, try_info(privileged));
	/* And the reverse. */
	plain = st_socket();
	ASSERT_LE(0, plain);
	ASSERT_EQ(0, st_caps_effective(ST_CAP(CAP_PERFMON)));
	EXPECT_EQ(-EPERM, try_info(plain));
	EXPECT_EQ(0, try_info(privileged));
}

/* Without the capability every command and dump is refused, with a message. */
TEST_F(permissions, every_command)
{
	static const struct {
		uint8_t cmd;
		uint16_t flags;
		uint16_t id;
	} commands[] = {
		{ STAPE_CMD_INFO_GET, 0, 0 },
		{ STAPE_CMD_SESSION_GET, 0, STAPE_A_SESSION_ID },
		{ STAPE_CMD_SESSION_GET, NLM_F_DUMP, 0 },
		{ STAPE_CMD_SESSION_SET, 0, STAPE_A_SESSION_ID },
		{ STAPE_CMD_SESSION_START, 0, STAPE_A_SESSION_ID },
		{ STAPE_CMD_SESSION_PAUSE, 0, STAPE_A_SESSION_ID },
		{ STAPE_CMD_SESSION_STOP, 0, STAPE_A_SESSION_ID },
		{ STAPE_CMD_FILTER_ADD, 0, STAPE_A_SESSION_ID },
		{ STAPE_CMD_FILTER_DEL, 0, STAPE_A_SESSION_ID },
		{ STAPE_CMD_FILTER_SET, 0, STAPE_A_SESSION_ID },
		{ STAPE_CMD_TASK_GET, NLM_F_DUMP, STAPE_A_TASK_SESSION },
		{ STAPE_CMD_REPLAY_GET, 0, STAPE_A_REPLAY_ID },
		{ STAPE_CMD_REPLAY_GET, NLM_F_DUMP, 0 },
		{ STAPE_CMD_REPLAY_START, 0, STAPE_A_REPLAY_ID },
		{ STAPE_CMD_REPLAY_STOP, 0, STAPE_A_REPLAY_ID },
		{ STAPE_CMD_REPLAY_SET, 0, STAPE_A_REPLAY_ID },
		{ STAPE_CMD_REPLAY_PAUSE, 0, STAPE_A_REPLAY_ID },
		{ STAPE_CMD_PLAYER_GET, NLM_F_DUMP, STAPE_A_PLAYER_REPLAY },
		{ STAPE_CMD_SESSION_MONITOR, 0, STAPE_A_SESSION_ID },
		{ STAPE_CMD_SESSION_MARK, 0, STAPE_A_SESSION_ID },
		{ STAPE_CMD_REPLAY_MONITOR, 0, STAPE_A_REPLAY_ID },
	};
	size_t i;

	ASSERT_EQ(0, st_caps_effective(0));
	for (i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		struct st_request q;

		st_request_init(&q, commands[i].cmd);
		q.flags = commands[i].flags;
		if (commands[i].id)
			st_request_add_u32(&q, commands[i].id, 1);
		EXPECT_EQ(-EPERM, st_request(&q)) {
			TH_LOG("command %u", commands[i].cmd);
		}
		EXPECT_EQ(0, q.replies);
		/* Not every kernel passes on the message when a dump fails at its start. */
		if (!q.flags)
			EXPECT_NE(NULL, strstr(q.text, "CAP_PERFMON"));
	}
}

/* -- files given to other processes ------------------------------------------------------- */

/*
 * A process without capabilities gets open files through a socket: it cannot open the device or
 * send a request itself. The device's mode allows everyone.
 */
FIXTURE(given)
{
	struct st_record r;
	struct stranger *stranger;
	int socks[2];
};

/**
 * struct stranger - results of the calls of this process, -errno
 * @opens: of opening the device
 * @asks: of a netlink request
 * @info, @flush, @map, @replay: of calls on the session that it was given
 * @bytes: number of bytes that it read from the session
 */
struct stranger {
	int opens, asks;
	int info, flush, map, replay;
	ssize_t bytes;
};

FIXTURE_SETUP(given)
{
	self->stranger = st_share(4096);
	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, self->socks));
	ASSERT_EQ(0, chmod("/dev/schedtape", 0666));
}

FIXTURE_TEARDOWN_PARENT(given)
{
	chmod("/dev/schedtape", 0600);
}

static int try_map(int fd, const struct stape_session_info *info)
{
	void *map = mmap(NULL, info->ring_stride - getpagesize(), PROT_READ, MAP_SHARED, fd,
			 getpagesize());

	return map == MAP_FAILED ? -errno : 0;
}

static void use_session(int fd, struct stranger *stranger)
{
	struct stape_replay_setup setup = { .nr_players = 1 };
	struct stape_session_info info;

	stranger->opens = try_open();
	stranger->asks = try_netlink();
	stranger->info = ioctl(fd, STAPE_IOC_INFO, &info) ? -errno : 0;
	stranger->flush = ioctl(fd, STAPE_IOC_FLUSH) ? -errno : 0;
	stranger->map = try_map(fd, &info);
	stranger->replay = ioctl(fd, STAPE_IOC_REPLAY, &setup) ? -errno : 0;
}

/* The stranger is recorded itself, so that there is something to read. */
TEST_F(given, session)
{
	char page[STAPE_PAGE_SIZE];
	pid_t pid;
	int status;

	pid = fork();
	if (!pid) {
		int fd = st_become_nobody(0) ? -1 : st_receive_fd(self->socks[1]);

		use_session(fd, self->stranger);
		self->stranger->bytes = read(fd, page, sizeof(page));
		_exit(0);
	}
	ASSERT_EQ(0, st_record_open(&self->r, 16));
	ASSERT_EQ(0, st_record_add(&self->r, pid));
	ASSERT_EQ(0, st_record_start(&self->r));
	ASSERT_EQ(0, st_send_fd(self->socks[0], schedtape_session_fd(self->r.session)));
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	ASSERT_EQ(0, status);
	EXPECT_EQ(-EACCES, self->stranger->opens);
	EXPECT_EQ(-EPERM, self->stranger->asks);
	EXPECT_EQ(0, self->stranger->info);
	EXPECT_EQ(0, self->stranger->flush);
	EXPECT_EQ(0, self->stranger->map);
	EXPECT_EQ(STAPE_PAGE_SIZE, self->stranger->bytes);
	EXPECT_EQ(0, self->stranger->replay);
}

/* The opener can use the session without the capabilities with which it opened it. */
TEST_F(given, capability_goes)
{
	ASSERT_EQ(0, st_record_open(&self->r, 16));
	ASSERT_EQ(0, st_record_add(&self->r, getppid()));
	ASSERT_EQ(0, st_record_start(&self->r));
	ASSERT_EQ(0, st_caps_effective(0));
	use_session(schedtape_session_fd(self->r.session), self->stranger);
	EXPECT_EQ(-EACCES, self->stranger->opens);
	EXPECT_EQ(-EPERM, self->stranger->asks);
	EXPECT_EQ(0, self->stranger->info);
	EXPECT_EQ(0, self->stranger->flush);
	EXPECT_EQ(0, self->stranger->map);
	EXPECT_EQ(0, self->stranger->replay);
}

/*
 * Maps, joins, wakes along an edge to itself, and waits for longer than the test takes.  A stop
 * cancels the wait a little before it kills.
 */
static void play(struct notes *notes)
{
	const uint32_t edge = 0;
	int ret;

	notes[1].ret = try_netlink();
	if (mmap(NULL, getpagesize(), PROT_READ, MAP_SHARED, players, 0) == MAP_FAILED)
		notes[2].ret = -errno;
	ret = join(0);
	if (!ret)
		ret = step(0, 0, STAPE_WAIT_UNTIL, 0);
	if (!ret)
		ret = step_wakes(0, 1, STAPE_WAIT_EDGE, edge, &edge, 1);
	note(notes, ret);
	step(0, 2, STAPE_WAIT_UNTIL, 3600 * 1000 * MS);
	for (;;)
		pause();
}

TEST_F(replay, given_players)
{
	int socks[2], status;
	pid_t pid;

	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, socks));
	pid = fork();
	if (!pid) {
		close(session);
		players = st_become_nobody(0) ? -1 : st_receive_fd(socks[1]);
		play(self->notes);
		_exit(0);
	}
	ASSERT_EQ(0, setup(self, 1, 1));
	ASSERT_EQ(0, st_send_fd(socks[0], players));
	ASSERT_TRUE(waiting(self, 1));
	ASSERT_EQ(0, start(self, 0));
	while (!self->notes->steps)
		usleep(1000);
	EXPECT_EQ(0, self->notes[0].ret);
	EXPECT_EQ(-EPERM, self->notes[1].ret);
	EXPECT_EQ(0, self->notes[2].ret);
	ASSERT_EQ(0, schedtape_replay_stop(self->r.client, self->setup.id, &self->err));
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_TRUE(WIFSIGNALED(status));
	EXPECT_EQ(SIGKILL, WTERMSIG(status));
}

TEST_HARNESS_MAIN
