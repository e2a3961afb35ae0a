// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: a memory cgroup that is too small for what a caller asks of the module: the call
 * fails, and no task is killed.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <kselftest_harness.h>

#include "cgroup.h"
#include "record.h"
#include "child.h"
#include "time-limit.h"

#define MB	(1ull << 20)
#define LIMIT	(32 * MB)
#define SESSIONS	30

/**
 * struct answers - results of calls that need too much memory
 * @rings, @replay: of rings and a replay that are larger than the limit
 * @sessions: number of sessions that could have rings at once; @last: why the next one failed
 * @after: of a small session at the end
 */
struct answers {
	int rings;
	int replay;
	int sessions;
	int last;
	int after;
};

FIXTURE(memory)
{
	struct st_child stranger, asker;
	struct answers *answers;
};

FIXTURE_SETUP(memory)
{
	self->answers = st_share(4096);
	if (!st_cgroup_begin() || !st_cgroup_write("..", "cgroup.subtree_control", "+memory") ||
	    !st_cgroup_write("", "cgroup.subtree_control", "+memory") || !st_cgroup_make("small"))
		SKIP(return, "there is no memory controller of cgroup2");
	ASSERT_TRUE(st_cgroup_write("small", "memory.max", "32M"));
}

FIXTURE_TEARDOWN(memory)
{
	st_child_kill(&self->stranger);
	st_child_kill(&self->asker);
	st_cgroup_end();
}

/* Has more memory than all others, so that the OOM killer would choose it. */
static int have_memory(void *arg)
{
	void *memory = mmap(NULL, 8 * MB, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	(void)arg;
	st_gate();
	return memory == MAP_FAILED;
}

static int ask_for_rings(uint64_t bytes)
{
	struct schedtape_session_options options = { .ring_bytes = bytes };
	struct st_record r;
	int ret = st_record_open_with(&r, options);

	if (ret && !strstr(r.err.text, "no memory for the rings"))
		ret = -EPROTO;
	st_record_close(&r);
	return ret;
}

static int ask_for_replay(uint32_t nr_players)
{
	struct stape_replay_setup setup = { .nr_players = nr_players };
	int fd = open("/dev/schedtape", O_RDWR | O_CLOEXEC), ret;

	ret = ioctl(fd, STAPE_IOC_REPLAY, &setup) ? -errno : 0;
	if (!ret)
		close(setup.fd);
	close(fd);
	return ret;
}

/* Each session has 1 MB for its filter, and small rings. */
static void ask_for_sessions(struct answers *answers)
{
	struct schedtape_session_options options = { .ring_bytes = 4 * STAPE_PAGE_SIZE };
	struct st_record sessions[SESSIONS] = { 0 };
	int n = 0;

	while (n < SESSIONS && !answers->last) {
		answers->last = st_record_open_with(&sessions[n], options);
		n += !answers->last;
	}
	answers->sessions = n;
	for (n = 0; n < SESSIONS; n++)
		st_record_close(&sessions[n]);
}

static int ask(void *arg)
{
	struct answers *answers = arg;

	answers->rings = ask_for_rings(2 * LIMIT);
	answers->replay = ask_for_replay(1 << 22);
	ask_for_sessions(answers);
	answers->after = ask_for_rings(MB) ?: ask_for_replay(1);
	return 0;
}

/* The number after @key in a file of the cgroup; without a key, the file's number. */
static long long value(const char *file, const char *key)
{
	char text[4096], *at;

	if (!st_cgroup_read("small", file, text, sizeof(text)))
		return -1;
	at = key ? strstr(text, key) : text;
	return at ? strtoll(at + (key ? strlen(key) : 0), NULL, 10) : -1;
}

/* Charged memory is given back sooner or later. */
static bool shrinks_to(long long bytes)
{
	int tries = 500 * st_patience();

	while (tries-- && value("memory.current", NULL) > bytes)
		usleep(10000);
	return tries >= 0;
}

TEST_F_TIMEOUT(memory, nobody_is_killed, 120)
{
	long long before;

	ASSERT_EQ(0, st_child_fork(&self->stranger, -1, have_memory, NULL));
	ASSERT_EQ(0, st_child_fork(&self->asker, -1, ask, self->answers));
	ASSERT_TRUE(st_cgroup_move("small", self->stranger.pid));
	ASSERT_TRUE(st_cgroup_move("small", self->asker.pid));
	ASSERT_TRUE(st_child_step(&self->stranger));
	before = value("memory.current", NULL);
	EXPECT_LT(8 * MB, before);

	ASSERT_TRUE(st_child_step(&self->asker));
	EXPECT_EQ(-ENOMEM, self->answers->rings);
	EXPECT_EQ(-ENOMEM, self->answers->replay);
	EXPECT_EQ(-ENOMEM, self->answers->last);
	EXPECT_LT(1, self->answers->sessions);
	EXPECT_EQ(0, self->answers->after);

	EXPECT_LT(0, value("memory.events", "max "));
	EXPECT_EQ(0, value("memory.events", "oom_kill "));
	EXPECT_TRUE(shrinks_to(before + 4 * MB)) {
		TH_LOG("%lld bytes, before: %lld", value("memory.current", NULL), before);
	}
	ASSERT_TRUE(st_child_step(&self->stranger));
}

TEST_HARNESS_MAIN
