// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: requests to unload the module come at any moment of its use, and it is loaded
 * again after it went: its users hold it or fail without it, and none hangs.
 *
 * SCHEDTAPE_ROUNDS (10) is how often it has to be unloaded.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <kselftest_harness.h>

#include <schedtape/device.h>

#include "child.h"
#include "module.h"
#include "random.h"
#include "record.h"
#include "request.h"
#include "task.h"
#include "time-limit.h"

#define USERS	5

/* How often each user succeeded (@done), and how often the module was not there (@gone). */
struct tally {
	unsigned int done[USERS];
	unsigned int gone[USERS];
	unsigned int stop;
};

FIXTURE(unload)
{
	const char *path;
	struct tally *tally;
	pid_t users[USERS];
};

FIXTURE_SETUP(unload)
{
	self->path = getenv("SCHEDTAPE_KO");
	if (!self->path)
		SKIP(return, "SCHEDTAPE_KO does not say which module to load again");
	self->tally = st_share(4096);
}

FIXTURE_TEARDOWN(unload)
{
	unsigned int i;

	for (i = 0; i < USERS; i++)
		if (self->users[i] > 0)
			kill(self->users[i], SIGKILL);
}

/* -- users: each returns true if it succeeded ------------------------------------------ */

static bool only_open(struct st_random *random)
{
	int fd = open("/dev/schedtape", O_RDWR | O_CLOEXEC);
	struct stape_session_info info;
	bool done = fd >= 0 && !ioctl(fd, STAPE_IOC_INFO, &info);

	if (fd >= 0)
		close(fd);
	return done;
}

static bool record_something(struct st_random *random)
{
	struct schedtape_filter filter = {
		.size = sizeof(filter),
		.all = st_random_one_in(random, 2),
	};
	struct schedtape_session_options options = { .size = sizeof(options), .ring_bytes = 65536 };
	struct schedtape_session *session = NULL;
	struct schedtape_client *client = NULL;
	struct schedtape_error err;
	bool done;

	done = !schedtape_client_open(&client, &err) &&
	       !schedtape_session_open(client, &session, &err) &&
	       !schedtape_session_set(session, &options, &err) &&
	       !schedtape_filter_set(client, schedtape_session_id(session), &filter, &err) &&
	       !schedtape_session_start(session, &err);
	if (done)
		usleep(st_random_below(random, 2000));
	if (done && st_random_one_in(random, 2))
		done = !schedtape_session_stop(session, &err);
	schedtape_session_close(session);
	schedtape_client_close(client);
	return done;
}

/* A player that waits for a timer, and may be left in that wait. */
static void play(int fd, struct st_random *random)
{
	uint32_t number = 0;
	struct stape_step step = { .wait = STAPE_WAIT_UNTIL, .value = 1000000 };

	if (ioctl(fd, STAPE_IOC_JOIN, &number) || ioctl(fd, STAPE_IOC_STEP, &step))
		return;
	step = (struct stape_step){ .index = 1, .wait = STAPE_WAIT_DONE };
	if (st_random_one_in(random, 2))
		ioctl(fd, STAPE_IOC_STEP, &step);
}

static bool replay_something(struct st_random *random)
{
	struct stape_replay_setup setup = { .nr_players = 1 };
	int fd = open("/dev/schedtape", O_RDWR | O_CLOEXEC);
	pid_t pid;

	if (fd < 0)
		return false;
	if (ioctl(fd, STAPE_IOC_REPLAY, &setup)) {
		close(fd);
		return false;
	}
	pid = fork();
	if (!pid) {
		close(fd);
		play(setup.fd, random);
		_exit(0);
	}
	close(setup.fd);
	st_request_u32(STAPE_CMD_REPLAY_START, STAPE_A_REPLAY_ID, setup.id, 0, 0);
	usleep(st_random_below(random, 3000));
	/* Either the session goes first or the player, which is killed then. */
	if (st_random_one_in(random, 2))
		close(fd);
	waitpid(pid, NULL, 0);
	close(fd);
	return true;
}

static bool ask(struct st_random *random)
{
	static const uint8_t commands[] = { STAPE_CMD_SESSION_GET, STAPE_CMD_REPLAY_GET };
	struct st_request q;

	st_request_init(&q, commands[st_random_below(random, 2)]);
	q.flags = NLM_F_DUMP;
	if (st_request(&q))
		return false;
	st_request_init(&q, STAPE_CMD_INFO_GET);
	return !st_request(&q);
}

static bool listen_for_it(struct st_random *random)
{
	int sock = st_monitor();
	struct nlattr *attrs[ST_REQUEST_TYPES];

	if (sock < 0)
		return false;
	st_notified(sock, st_random_below(random, 20), attrs);
	close(sock);
	return true;
}

static bool (*const users[USERS])(struct st_random *random) = {
	only_open, record_something, replay_something, ask, listen_for_it,
};

static void use(struct tally *tally, unsigned int who)
{
	struct st_random random = { .state = st_now() + who };

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (!__atomic_load_n(&tally->stop, __ATOMIC_SEQ_CST)) {
		uint64_t begin = st_now();
		bool done = users[who](&random);
		uint64_t took_us = (st_now() - begin) / 1000;

		++*(done ? &tally->done[who] : &tally->gone[who]);
		/*
		 * There must be moments without a user, however long a use takes on this kernel:
		 * each user pauses for twice its own use on average, so all pause at once in
		 * (2/3)^5 of the time.
		 */
		usleep(st_random_below(&random, 4000 * st_slow() + 4 * took_us));
	}
}

/* -- the module ---------------------------------------------------------------------------- */

static bool got_through(const struct tally *tally, const unsigned int *since)
{
	unsigned int i;

	for (i = 0; i < USERS; i++)
		if (tally->done[i] == since[i])
			return false;
	return true;
}

/* Waits until each user has succeeded, however long that takes, while the module is loaded. */
static void wait_for_users(const struct tally *tally)
{
	unsigned int since[USERS];

	memcpy(since, tally->done, sizeof(since));
	while (!got_through(tally, since))
		usleep(10000);
}

TEST_F_TIMEOUT(unload, at_any_moment, 3600)
{
	const char *rounds = getenv("SCHEDTAPE_ROUNDS");
	unsigned int went = 0, stayed = 0, wanted = rounds ? atoi(rounds) : 10, i;
	struct st_random random = { .state = st_now() };
	int status, ret;

	for (i = 0; i < USERS; i++) {
		self->users[i] = fork();
		if (!self->users[i]) {
			use(self->tally, i);
			_exit(0);
		}
	}
	wait_for_users(self->tally);
	while (went < wanted) {
		ret = st_module_unload();
		if (ret) {
			ASSERT_TRUE(ret == -EWOULDBLOCK || ret == -EBUSY) {
				TH_LOG("delete_module: %s", strerror(-ret));
			}
			stayed++;
			usleep(st_random_below(&random, 200));
			continue;
		}
		went++;
		ASSERT_EQ(0, st_module_load(self->path));
		/* In every fourth round, all users succeed before the next unload. */
		if (went % 4 == 0)
			wait_for_users(self->tally);
	}
	__atomic_store_n(&self->tally->stop, 1, __ATOMIC_SEQ_CST);
	for (i = 0; i < USERS; i++) {
		ASSERT_EQ(self->users[i], waitpid(self->users[i], &status, 0));
		EXPECT_EQ(0, status);
		self->users[i] = 0;
		TH_LOG("user %u: got through %u times, in vain %u times", i, self->tally->done[i],
		       self->tally->gone[i]);
	}
	TH_LOG("it went %u times, and stayed %u times", went, stayed);
	EXPECT_LT(0, stayed);
	ASSERT_EQ(0, st_module_unload());
	EXPECT_EQ(-1, access("/dev/schedtape", F_OK));
	ASSERT_EQ(0, st_module_load(self->path));
}

TEST_HARNESS_MAIN
