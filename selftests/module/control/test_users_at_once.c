// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: eight users open, change, stop and kill sessions and replays, and exhaust their
 * limits, while root's flight recorder records everything.  It loses no event between its oldest
 * page and its stop, no three of its stops in turn are late, and nothing is left of the users.
 *
 * SCHEDTAPE_ROUNDS is the number of minutes; without it, some seconds.  SCHEDTAPE_SEED repeats the
 * users' choices.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/membarrier.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <kselftest_harness.h>
#include <schedtape/device.h>

#include "caps.h"
#include "child.h"
#include "module.h"
#include "random.h"
#include "record.h"
#include "request.h"
#include "task.h"
#include "time-limit.h"

#define CPUS		1024
#define RING_PAGES	16
#define USERS		8
#define FIRST_UID	60001
#define TRIES		30	/* sessions, and as many replays */
#define USER_SESSIONS	8	/* the parameter user_sessions_max */
#define SECOND		1000000000ull
#define LATE		SECOND
/* A grace period of RCU, of which a stop has some, takes that long only if the host stops CPUs. */
#define STALLED		(SECOND / 10)

/* All users count here what they have done, and note the first result that no user may get. */
struct tally {
	unsigned int sessions, replays, steps, recordings, refused, killed;
	unsigned int stop;
	int bad;
};

/* A user's process and what it has. */
struct user {
	struct st_random random;
	struct tally *tally;
	int sessions[TRIES];
	uint32_t ids[TRIES];
	int nr_sessions;
	int replays[TRIES];
	uint32_t replay_ids[TRIES];
	int nr_replays;
};

/* For each CPU, the number behind that of its last page. */
struct sequence {
	uint64_t next[CPUS];
	unsigned int breaks;
};

FIXTURE(users_at_once)
{
	struct tally *tally;
	struct st_record r;
	struct st_child load;
	struct sequence sequence;
	unsigned int recordings, judged, late;
	uint64_t longest_stop, longest_end, events, overwritten;
};

static void count(unsigned int *n)
{
	__atomic_add_fetch(n, 1, __ATOMIC_SEQ_CST);
}

/* -- users ----------------------------------------------------------------------------- */

/*
 * Takes a result that a user may get: of a limit, for lack of memory or room in a socket, or
 * because the session is in another state, or has no such PID.
 */
static bool may(struct user *user, int ret)
{
	int none = 0;

	if (!ret)
		return true;
	count(&user->tally->refused);
	if (ret != -EUSERS && ret != -ENOMEM && ret != -ENOBUFS && ret != -EBUSY &&
	    ret != -EALREADY && ret != -EINVAL && ret != -ENOENT && ret != -ESRCH &&
	    ret != -ENODATA)
		__atomic_compare_exchange_n(&user->tally->bad, &none, ret, false, __ATOMIC_SEQ_CST,
					    __ATOMIC_SEQ_CST);
	return false;
}

static int ask(struct user *user, uint8_t cmd, uint32_t id, uint16_t type, uint32_t value)
{
	int ret = st_request_u32(cmd, STAPE_A_SESSION_ID, id, type, value);

	may(user, ret);
	return ret;
}

/* Opens a session, with rings if there is room.  Rings are large now and then. */
static void open_session(struct user *user)
{
	struct stape_session_info info;
	uint32_t pages = 4u << st_random_below(&user->random, 12);
	int fd = open("/dev/schedtape", O_RDWR | O_CLOEXEC);

	if (fd < 0) {
		may(user, -errno);
		return;
	}
	if (ioctl(fd, STAPE_IOC_INFO, &info)) {
		may(user, -errno);
		close(fd);
		return;
	}
	if (!ask(user, STAPE_CMD_SESSION_SET, info.id, STAPE_A_SESSION_RING_PAGES, pages))
		count(&user->tally->sessions);
	user->ids[user->nr_sessions] = info.id;
	user->sessions[user->nr_sessions++] = fd;
}

static void open_replay(struct user *user)
{
	struct stape_replay_setup setup = {
		.nr_players = 1u << st_random_below(&user->random, 18),
	};

	if (!user->nr_sessions)
		return;
	if (!may(user, ioctl(user->sessions[user->nr_sessions - 1], STAPE_IOC_REPLAY, &setup) ?
		 -errno : 0))
		return;
	count(&user->tally->replays);
	user->replay_ids[user->nr_replays] = setup.id;
	user->replays[user->nr_replays++] = setup.fd;
}

/* A child plays until it is killed, by this user or by the module. */
static void play(struct user *user)
{
	struct stape_step step = { .wait = STAPE_WAIT_UNTIL };
	uint32_t number = 0;
	int at;

	if (!user->nr_replays)
		return;
	at = st_random_below(&user->random, user->nr_replays);
	if (!fork()) {
		if (ioctl(user->replays[at], STAPE_IOC_JOIN, &number))
			_exit(0);
		st_request_u32(STAPE_CMD_REPLAY_START, STAPE_A_REPLAY_ID, user->replay_ids[at],
			       0, 0);
		for (; step.index < 20 && !ioctl(user->replays[at], STAPE_IOC_STEP, &step);
		     step.index++)
			step.value += 1000000;
		_exit(0);
	}
	count(&user->tally->steps);
}

/* Changes a session of this user. */
static void change(struct user *user)
{
	static const uint8_t commands[] = {
		STAPE_CMD_SESSION_START, STAPE_CMD_SESSION_PAUSE, STAPE_CMD_SESSION_START,
		STAPE_CMD_SESSION_STOP,
	};
	uint32_t id, what = st_random_below(&user->random, 7);

	if (!user->nr_sessions)
		return;
	id = user->ids[st_random_below(&user->random, user->nr_sessions)];
	if (what < sizeof(commands)) {
		if (!ask(user, commands[what], id, 0, 0) && !what)
			count(&user->tally->recordings);
	} else {
		ask(user, what & 1 ? STAPE_CMD_FILTER_ADD : STAPE_CMD_FILTER_DEL, id,
		    STAPE_A_SESSION_PID, what & 2 ? getpid() : getppid());
	}
}

/* Closes the newest replay, or session.  A replay ends before the session that it belongs to. */
static void close_one(struct user *user)
{
	if (user->nr_replays)
		close(user->replays[--user->nr_replays]);
	else if (user->nr_sessions)
		close(user->sessions[--user->nr_sessions]);
}

/* Tries 30 sessions and 30 replays, and does something with those that it got. */
static void be_user(struct user *user)
{
	int i, got = 0;

	signal(SIGCHLD, SIG_IGN);
	for (i = 0; i < TRIES; i++) {
		open_session(user);
		open_replay(user);
		change(user);
		if (st_random_one_in(&user->random, 4))
			play(user);
	}
	for (i = 0; i < user->nr_sessions; i++) {
		struct stape_session_info info;

		got += !ioctl(user->sessions[i], STAPE_IOC_INFO, &info) && info.ring_pages;
	}
	if (got > USER_SESSIONS)
		user->tally->bad = got;
	for (i = 0; i < 4 * TRIES; i++) {
		change(user);
		if (st_random_one_in(&user->random, 8))
			play(user);
		if (st_random_one_in(&user->random, 2))
			close_one(user);
	}
}

/* The user's processes come one after the other; some end by SIGKILL, with all that they have. */
static void run_user(unsigned int number, uint64_t seed, struct tally *tally)
{
	struct st_random random = { seed + number };
	struct user user;
	pid_t pid;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (!__atomic_load_n(&tally->stop, __ATOMIC_SEQ_CST)) {
		st_random_next(&random);
		pid = fork();
		if (!pid) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			user = (struct user){ .random = random, .tally = tally };
			if (st_become_user(FIRST_UID + number, ST_CAP(CAP_PERFMON)))
				tally->bad = 1;
			be_user(&user);
			_exit(0);
		}
		if (st_random_one_in(&random, 3)) {
			usleep(1000 * st_random_below(&random, 300 * st_slow()));
			kill(pid, SIGKILL);
			count(&tally->killed);
		}
		waitpid(pid, NULL, 0);
	}
	_exit(0);
}

/* -- the flight recorder --------------------------------------------------------------- */

static void note_page(const void *data, void *arg)
{
	const struct stape_page_header *page = data;
	struct sequence *sequence = arg;

	if (page->cpu >= CPUS)
		return;
	/* 0: it had no page yet. */
	if (sequence->next[page->cpu])
		sequence->breaks += page->seq != sequence->next[page->cpu];
	sequence->next[page->cpu] = page->seq + 1;
}

static bool start_recorder(FIXTURE_DATA(users_at_once) *self)
{
	struct schedtape_session_options options = {
		.ring_bytes = RING_PAGES * STAPE_PAGE_SIZE,
		.overwrite = true,
	};
	struct schedtape_filter filter = { .all = true };

	memset(&self->r, 0, sizeof(self->r));
	memset(&self->sequence, 0, sizeof(self->sequence));
	if (st_record_open_with(&self->r, options) || st_record_set(&self->r, &filter) ||
	    st_record_start(&self->r))
		return false;
	self->r.each = note_page;
	self->r.arg = &self->sequence;
	return true;
}

/* Records for a second.  The ring of descriptions is not overwritten, but read meanwhile. */
static bool record(FIXTURE_DATA(users_at_once) *self)
{
	int i;

	for (i = 0; i < 20; i++) {
		usleep(50000);
		if (st_record_take_descriptions(&self->r))
			return false;
	}
	return true;
}

/* Returns how long a grace period takes. */
static uint64_t grace_period(void)
{
	uint64_t begin = st_now();

	syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0);
	return st_now() - begin;
}

/*
 * Stops the recorder.  Returns false if three stops in turn were late although the guest's CPUs
 * were not: an emulated machine is judged by what else takes long in it.  The host may stop a CPU
 * within one stop, but hardly within three.
 */
static bool stop_in_time(FIXTURE_DATA(users_at_once) *self)
{
	struct schedtape_session_state state = { .size = sizeof(state) };
	uint64_t before, begin, took, end;

	before = grace_period();
	begin = st_now();
	if (st_record_stop(&self->r))
		return false;
	took = st_now() - begin;
	if (st_record_get(&self->r, &state))
		return false;
	end = state.stop_time > begin ? state.stop_time - begin : 0;
	if (end > self->longest_end)
		self->longest_end = end;
	if (took > self->longest_stop)
		self->longest_stop = took;
	if (before > STALLED || grace_period() > STALLED) {
		self->late = 0;
		return true;
	}
	self->judged++;
	self->late = took > LATE ? self->late + 1 : 0;
	if (took > LATE)
		printf("# a stop took %.3f s, a grace period before it %.3f s\n", took / 1e9,
		       before / 1e9);
	return self->late < 3;
}

/* Everything from the oldest page to the stop is there. */
static bool read_all(FIXTURE_DATA(users_at_once) *self)
{
	uint64_t events = 0, overwritten = 0, lost = 0, read;
	struct schedtape_cpu stats;
	uint32_t cpu, n = schedtape_session_cpus(self->r.session);

	if (st_record_take(&self->r))
		return false;
	for (cpu = 0; cpu <= n; cpu++) {
		if (!schedtape_session_cpu(self->r.session, cpu < n ? cpu : STAPE_CPU_NONE, &stats))
			continue;
		events += stats.events;
		overwritten += stats.overwritten;
		lost += stats.lost;
	}
	self->events += events;
	self->overwritten += overwritten;
	read = self->r.n + self->r.idles;
	if (lost || self->sequence.breaks || events != read + overwritten)
		printf("# %lu lost, %u breaks, %lu read and %lu overwritten of %lu events\n",
		       lost, self->sequence.breaks, read, overwritten, events);
	return !lost && !self->sequence.breaks && events == read + overwritten;
}

/* -- the test -------------------------------------------------------------------------- */

FIXTURE_SETUP(users_at_once)
{
	self->tally = st_share(4096);
	ASSERT_EQ(0, chmod("/dev/schedtape", 0666));
}

FIXTURE_TEARDOWN(users_at_once)
{
	st_child_kill(&self->load);
	chmod("/dev/schedtape", 0600);
}

/* Memory is given back from works; the kernel's own caches are not looked at. */
static bool nothing_left(void)
{
	struct schedtape_module_info info;
	int tries;

	for (tries = 1000 * st_patience(); tries; tries--) {
		if (st_module_info(&info))
			return false;
		if (!info.sessions_used && !info.memory)
			return true;
		usleep(10000);
	}
	printf("# left: %u sessions, %lu bytes\n", info.sessions_used, info.memory);
	return false;
}

/* The harness's limit is beyond that of any run: "selftests/run" has its own. */
TEST_F_TIMEOUT(users_at_once, beside_a_flight_recorder, 100000)
{
	const char *rounds = getenv("SCHEDTAPE_ROUNDS"), *seeded = getenv("SCHEDTAPE_SEED");
	uint64_t seed = seeded ? strtoull(seeded, NULL, 0) : st_now(), end;
	/* Fills the recorder's rings again and again. */
	static const char * const load[] = { "pingpong", "1000000000", NULL };
	pid_t users[USERS];
	unsigned int i;

	printf("# SCHEDTAPE_SEED=%lu\n", seed);
	for (i = 0; i < USERS; i++) {
		users[i] = fork();
		if (!users[i])
			run_user(i, seed, self->tally);
	}
	ASSERT_EQ(0, st_child_program(&self->load, -1, load));
	st_child_go(&self->load);
	setpriority(PRIO_PROCESS, 0, -20);
	end = st_now() + (rounds ? strtoull(rounds, NULL, 0) * 60 : 5) * SECOND;
	while (st_now() < end || self->late) {
		ASSERT_TRUE(start_recorder(self));
		ASSERT_TRUE(record(self));
		ASSERT_TRUE(stop_in_time(self));
		ASSERT_TRUE(read_all(self));
		st_record_close(&self->r);
		self->recordings++;
	}
	__atomic_store_n(&self->tally->stop, 1, __ATOMIC_SEQ_CST);
	for (i = 0; i < USERS; i++)
		ASSERT_EQ(users[i], waitpid(users[i], NULL, 0));
	printf("# users: %u sessions, %u recordings, %u replays, %u players\n",
	       self->tally->sessions, self->tally->recordings, self->tally->replays,
	       self->tally->steps);
	printf("# users: %u refused, %u killed\n", self->tally->refused, self->tally->killed);
	printf("# recorder: %u recordings, %lu events, %lu overwritten\n", self->recordings,
	       self->events, self->overwritten);
	printf("# longest stop: %.3f s, its recording ended after %.3f s at most; %u were judged\n",
	       self->longest_stop / 1e9, self->longest_end / 1e9, self->judged);
	EXPECT_EQ(0, self->tally->bad);
	EXPECT_LT(0, self->tally->sessions);
	EXPECT_LT(0, self->tally->recordings);
	EXPECT_LT(0, self->tally->replays);
	EXPECT_LT(0, self->tally->refused);
	EXPECT_LT(0, self->recordings);
	EXPECT_LT(0, self->events);
	/* In some seconds on a slow machine the rings may not become full. */
	if (rounds)
		EXPECT_LT(0, self->overwritten);
	EXPECT_TRUE(nothing_left());
}

TEST_HARNESS_MAIN
