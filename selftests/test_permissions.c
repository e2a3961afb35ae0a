// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: who may open the device and who may send requests: CAP_PERFMON
 * or CAP_SYS_ADMIN in the initial user namespace, of the socket and the sender.
 */
#include <errno.h>
#include <sys/prctl.h>
#include <sys/stat.h>

#include <kselftest_harness.h>

#include "caps.h"
#include "request.h"

FIXTURE(permissions)
{
	struct stat device;
};

/* The file's mode is no obstacle here, but where the test says so. */
FIXTURE_SETUP(permissions)
{
	ASSERT_EQ(0, stat("/dev/schedtape", &self->device));
	ASSERT_EQ(0, chmod("/dev/schedtape", 0666));
}

FIXTURE_TEARDOWN_PARENT(permissions)
{
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

TEST_F(permissions, mode)
{
	EXPECT_EQ(0600, self->device.st_mode & 07777);
	EXPECT_EQ(0, self->device.st_uid);
	ASSERT_EQ(0, chmod("/dev/schedtape", 0600));
	ASSERT_EQ(0, st_become_nobody(ST_CAP(CAP_PERFMON) | ST_CAP(CAP_SYS_ADMIN)));
	EXPECT_EQ(-EACCES, try_open());
}

TEST_F(permissions, nobody)
{
	ASSERT_EQ(0, st_become_nobody(0));
	EXPECT_EQ(-EACCES, try_open());
	EXPECT_EQ(-EPERM, try_info(-1));
}

TEST_F(permissions, perfmon_is_enough)
{
	ASSERT_EQ(0, st_become_nobody(ST_CAP(CAP_PERFMON)));
	EXPECT_EQ(0, try_open());
	EXPECT_EQ(0, try_info(-1));
}

TEST_F(permissions, sys_admin_is_enough)
{
	ASSERT_EQ(0, st_become_nobody(ST_CAP(CAP_SYS_ADMIN)));
	EXPECT_EQ(0, try_open());
	EXPECT_EQ(0, try_info(-1));
}

TEST_F(permissions, others_are_not)
{
	ASSERT_EQ(0, st_become_nobody(~(ST_CAP(CAP_PERFMON) | ST_CAP(CAP_SYS_ADMIN)) &
				      (ST_CAP(CAP_LAST_CAP + 1) - 1) & 0x1ffffffffffull));
	EXPECT_EQ(-EACCES, try_open());
	EXPECT_EQ(-EPERM, try_info(-1));
}

TEST_F(permissions, net_admin_is_not)
{
	ASSERT_EQ(0, st_become_nobody(ST_CAP(CAP_NET_ADMIN)));
	EXPECT_EQ(-EACCES, try_open());
	EXPECT_EQ(-EPERM, try_info(-1));
}

TEST_F(permissions, root_without_capabilities)
{
	ASSERT_EQ(0, st_caps_effective(0));
	EXPECT_EQ(-EACCES, try_open());
	EXPECT_EQ(-EPERM, try_info(-1));
}

TEST_F(permissions, root_of_a_user_namespace)
{
	ASSERT_EQ(0, st_become_root_of_namespace());
	EXPECT_EQ(-EACCES, try_open());
	EXPECT_EQ(-EPERM, try_info(-1));
}

/* A socket that was opened with the right, in the hands of one without it. */
TEST_F(permissions, sender_and_socket)
{
	int privileged = st_socket(), plain;

	ASSERT_LE(0, privileged);
	EXPECT_EQ(0, try_info(privileged));
	ASSERT_EQ(0, st_caps_effective(0));
	EXPECT_EQ(-EPERM, try_info(privileged));
	/* And the other way round. */
	plain = st_socket();
	ASSERT_LE(0, plain);
	ASSERT_EQ(0, st_caps_effective(ST_CAP(CAP_PERFMON)));
	EXPECT_EQ(-EPERM, try_info(plain));
	EXPECT_EQ(0, try_info(privileged));
}

/* No command, no dump without the right; and it is said in words. */
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
		{ STAPE_CMD_SESSION_STOP, 0, STAPE_A_SESSION_ID },
		{ STAPE_CMD_FILTER_ADD, 0, STAPE_A_SESSION_ID },
		{ STAPE_CMD_FILTER_DEL, 0, STAPE_A_SESSION_ID },
		{ STAPE_CMD_TASK_GET, NLM_F_DUMP, STAPE_A_TASK_SESSION },
		{ STAPE_CMD_REPLAY_GET, 0, STAPE_A_REPLAY_ID },
		{ STAPE_CMD_REPLAY_GET, NLM_F_DUMP, 0 },
		{ STAPE_CMD_REPLAY_START, 0, STAPE_A_REPLAY_ID },
		{ STAPE_CMD_REPLAY_STOP, 0, STAPE_A_REPLAY_ID },
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
		/* Not every kernel passes words on from a dump's beginning. */
		if (!q.flags)
			EXPECT_NE(NULL, strstr(q.text, "CAP_PERFMON"));
	}
}

TEST_HARNESS_MAIN
