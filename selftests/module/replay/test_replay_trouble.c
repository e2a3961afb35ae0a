// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: a replay under odd conditions: the wall clock is set, CPUs of its players go
 * offline and come back, a debugger looks at players, their file is passed to others. No wait
 * becomes longer or shorter, and no wake-up is lost.
 */
#include <linux/elf.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include "caps.h"
#include "players.h"

#define CPU1	"/sys/devices/system/cpu/cpu1/online"
#define LATE	(10000 * MS)	/* a guest of an emulator may be late; the clock jumps by a day */

/* -- the wall clock ----------------------------------------------------------------- */

static int step_clock(int64_t seconds)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	t.tv_sec += seconds;
	return clock_settime(CLOCK_REALTIME, &t);
}

/* Forward, back before the start, and to the right time. */
TEST_F(replay, clock_is_set)
{
	static const int64_t steps[] = { 86400, -2 * 86400, 86400 };
	uint64_t begun;
	unsigned int i;

	ASSERT_EQ(0, setup(self, 1, 0));
	ASSERT_EQ(0, st_child_begin(&self->w[0], -1, wait_for_times, self->notes));
	ASSERT_TRUE(waiting(self, 1));
	if (step_clock(0))
		SKIP(return, "the clock cannot be set: %s", strerror(errno));
	begun = st_now();
	ASSERT_EQ(0, start(self, 20 * MS));
	for (i = 0; i < 3; i++) {
		ASSERT_EQ(0, step_clock(steps[i]));
		usleep(20000);
	}
	ASSERT_TRUE(st_child_settled(&self->w[0]));
	ASSERT_TRUE(state(self, STAPE_REPLAY_DONE));
	EXPECT_EQ(6, self->notes->steps);
	EXPECT_EQ(0, self->notes->ret);
	/* The third and the fourth note: the ends of its waits until 30 and until 60 ms. */
	EXPECT_LE(begun + 50 * MS, self->notes->times[2]);
	EXPECT_LE(begun + 80 * MS, self->notes->times[3]);
	EXPECT_GT(begun + 80 * MS + LATE, self->notes->times[3]);
	EXPECT_GT(LATE, self->state.lag_max);
	EXPECT_LE(begun, self->state.start_time);
	EXPECT_GT(LATE, self->state.stop_time - self->state.start_time);
}

/* -- CPUs ------------------------------------------------------------------------------ */

#define WAITS	40

/* Pinned to a CPU that goes offline: burns CPU time, and waits for timers on a CPU that stays. */
static int play_on_it(void *arg)
{
	struct notes *notes = arg;
	unsigned int i;
	int ret;

	munlockall();
	if (st_pin(0, 1))
		return 1;
	note(notes, join(0));
	for (i = 0; i < WAITS; i++) {
		st_burn(5 * MS);
		ret = step(0, i, STAPE_WAIT_UNTIL, i * 20 * MS);
		if (ret)
			return 2;
		notes->steps++;
	}
	note(notes, step(0, i, STAPE_WAIT_DONE, 0));
	return 0;
}

/* On any CPU: each of its waits ends when the other player has ended its own. */
static int play_along(void *arg)
{
	struct notes *notes = arg;
	unsigned int i;
	int ret;

	note(notes, join(1));
	for (i = 0; i < WAITS; i++) {
		ret = step(1, i, STAPE_WAIT_FOR, 5 * MS);
		if (ret)
			return 2;
		notes->steps++;
	}
	note(notes, step(1, i, STAPE_WAIT_DONE, 0));
	return 0;
}

TEST_F_TIMEOUT(replay, their_cpu_goes, 120)
{
	unsigned int rounds = 0;

	if (!st_write_file(CPU1, "0"))
		SKIP(return, "CPU 1 cannot go offline: %s", strerror(errno));
	ASSERT_TRUE(st_write_file(CPU1, "1"));
	ASSERT_EQ(0, setup(self, 2, 0));
	ASSERT_EQ(0, st_child_fork(&self->w[0], -1, play_on_it, &self->notes[0]));
	ASSERT_EQ(0, st_child_fork(&self->w[1], -1, play_along, &self->notes[1]));
	ASSERT_EQ(0, start(self, 0));
	st_child_go(&self->w[0]);
	st_child_go(&self->w[1]);
	/* The players join first, because no task can be pinned to an offline CPU. */
	while (get(self) && self->state.joined < 2)
		usleep(1000);
	while (get(self) && self->state.state == STAPE_REPLAY_RUNNING) {
		ASSERT_TRUE(st_write_file(CPU1, rounds++ & 1 ? "1" : "0"));
		usleep(30000);
	}
	if (rounds & 1)
		ASSERT_TRUE(st_write_file(CPU1, "1"));
	EXPECT_EQ(STAPE_REPLAY_DONE, self->state.state);
	/* The number of rounds depends on the machine. */
	EXPECT_LT(0, rounds);
	EXPECT_EQ(0, self->notes[0].ret);
	EXPECT_EQ(0, self->notes[1].ret);
	EXPECT_EQ(2 * (WAITS + 1), self->state.steps);
	EXPECT_EQ(2 * WAITS, self->state.timed_waits);
	ASSERT_TRUE(st_child_settled(&self->w[0]));
	ASSERT_TRUE(st_child_settled(&self->w[1]));
}

/* A replay that ends while the CPU is offline, and one that is created then. */
TEST_F_TIMEOUT(replay, without_a_cpu, 120)
{
	if (!st_write_file(CPU1, "0"))
		SKIP(return, "CPU 1 cannot go offline: %s", strerror(errno));
	ASSERT_EQ(0, setup(self, 1, 0));
	ASSERT_EQ(0, st_child_begin(&self->w[0], -1, wait_for_times, self->notes));
	ASSERT_EQ(0, start(self, 0));
	EXPECT_TRUE(state(self, STAPE_REPLAY_DONE));
	ASSERT_TRUE(st_write_file(CPU1, "1"));
	EXPECT_EQ(0, self->notes->ret);
	ASSERT_TRUE(st_child_settled(&self->w[0]));
}

/* -- debuggers --------------------------------------------------------------------------- */

#define TURNS	3

/* CPU time, and a wait that the test ends; once for each turn of the debugger. */
static int burn_and_wait(void *arg)
{
	struct notes *notes = arg;
	uint32_t wake = 1;
	unsigned int i;

	note(notes, join(1));
	for (i = 0; i < TURNS; i++) {
		st_burn(MS);
		note(notes, step_wakes(1, i, STAPE_WAIT_EDGE, 0, &wake, 1));
	}
	note(notes, step(1, i, STAPE_WAIT_DONE, 0));
	return 0;
}

static bool attach(pid_t pid)
{
	int status;

	return !ptrace(PTRACE_SEIZE, pid, 0, 0) && !ptrace(PTRACE_INTERRUPT, pid, 0, 0) &&
	       waitpid(pid, &status, __WALL) == pid && WIFSTOPPED(status);
}

/* Returns the number of single steps made. */
static unsigned int single_step(pid_t pid, unsigned int n)
{
	unsigned int i;
	int status;

	for (i = 0; i < n; i++) {
		if (ptrace(PTRACE_SINGLESTEP, pid, 0, 0) ||
		    waitpid(pid, &status, __WALL) != pid || !WIFSTOPPED(status))
			break;
	}
	return i;
}

static bool read_registers(pid_t pid)
{
	uint64_t registers[128];
	struct iovec iov = { .iov_base = registers, .iov_len = sizeof(registers) };

	return !ptrace(PTRACE_GETREGSET, pid, NT_PRSTATUS, &iov);
}

TEST_F_TIMEOUT(replay, debugger, 60)
{
	uint32_t wake = 0;
	unsigned int i, j;
	pid_t pid;

	ASSERT_EQ(0, SETUP_EDGES(self, 2, 1, 0));
	ASSERT_EQ(0, join(0));
	ASSERT_EQ(0, st_child_fork(&self->w[0], -1, burn_and_wait, &self->notes[1]));
	pid = self->w[0].pid;
	ASSERT_EQ(0, start(self, 0));
	st_child_go(&self->w[0]);
	for (i = 0; i < TURNS; i++) {
		ASSERT_TRUE(waiting(self, 1));
		for (j = 0; j < 3; j++) {
			/* Each time the debugger interrupts the wait; the player returns to it. */
			ASSERT_TRUE(attach(pid));
			EXPECT_TRUE(read_registers(pid));
			ASSERT_EQ(0, ptrace(PTRACE_DETACH, pid, 0, 0));
			ASSERT_TRUE(waiting(self, 1));
		}
		/* Woken while it is stopped: the wake-up counts when it continues. */
		ASSERT_TRUE(attach(pid));
		EXPECT_EQ(0, step_wakes(0, i, STAPE_WAIT_EDGE, 1, &wake, 1));
		EXPECT_EQ(100, single_step(pid, 100));
		ASSERT_EQ(0, ptrace(PTRACE_DETACH, pid, 0, 0));
	}
	ASSERT_TRUE(st_child_settled(&self->w[0]));
	EXPECT_EQ(0, self->notes[1].ret);
	EXPECT_EQ(TURNS + 2, self->notes[1].steps);
	ASSERT_TRUE(get(self));
	EXPECT_EQ(2 * TURNS + 1, self->state.steps);
	EXPECT_EQ(0, leave(0, TURNS));
}

/* A player under a debugger can be killed, and the replay ends with it. */
TEST_F(replay, killed_under_a_debugger)
{
	int status;
	pid_t pid;

	ASSERT_EQ(0, SETUP_EDGES(self, 2, 1, 0));
	ASSERT_EQ(0, st_child_fork(&self->w[0], -1, burn_and_wait, &self->notes[1]));
	pid = self->w[0].pid;
	st_child_go(&self->w[0]);
	ASSERT_TRUE(waiting(self, 1));
	ASSERT_TRUE(attach(pid));
	EXPECT_EQ(0, schedtape_replay_stop(self->r.client, self->setup.id, &self->err));
	ASSERT_EQ(pid, waitpid(pid, &status, __WALL));
	EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	EXPECT_TRUE(state(self, STAPE_REPLAY_STOPPED));
	self->w[0].pid = 0;
}

/* -- the players' file ---------------------------------------------------------------------- */

/* No call makes the file's mapping writable. */
TEST_F(replay, clocks_are_read_only)
{
	const int rw = PROT_READ | PROT_WRITE;
	size_t page = getpagesize();
	char *map;

	ASSERT_EQ(0, setup(self, 1, 0));
	EXPECT_EQ(MAP_FAILED, mmap(NULL, page, rw, MAP_SHARED, players, 0));
	EXPECT_EQ(EPERM, errno);
	EXPECT_EQ(MAP_FAILED, mmap(NULL, page, rw, MAP_PRIVATE, players, 0));
	EXPECT_EQ(EPERM, errno);
	map = mmap(NULL, page, PROT_READ, MAP_SHARED, players, 0);
	ASSERT_NE(MAP_FAILED, map);
	EXPECT_EQ(-1, mprotect(map, page, rw));
	EXPECT_EQ(EACCES, errno);
	EXPECT_EQ(-1, mprotect(map, page, PROT_READ | PROT_EXEC));
	EXPECT_EQ(EACCES, errno);
	EXPECT_EQ(MAP_FAILED, mremap(map, page, 2 * page, MREMAP_MAYMOVE));
	EXPECT_EQ(EFAULT, errno);
	/* Nor does the kernel write to it, for read() or for a debugger. */
	EXPECT_EQ(-1, read(open("/dev/zero", O_RDONLY | O_CLOEXEC), map, 8));
	EXPECT_EQ(EFAULT, errno);
	EXPECT_EQ(-1, pwrite(open("/proc/self/mem", O_RDWR | O_CLOEXEC), "nonsense", 8,
			     (uintptr_t)map));
	EXPECT_EQ(EIO, errno);
}

/* A fork of a player has its file and its mapping, but is not a player. */
static int fork_a_stranger(void *arg)
{
	struct notes *notes = arg;
	int status = -1;
	pid_t pid;

	note(notes, join(0));
	pid = fork();
	if (!pid)
		_exit(step(0, 0, STAPE_WAIT_NONE, 0) != -ESRCH || join(0) != -EBUSY || join(1));
	waitpid(pid, &status, 0);
	note(notes, status);
	return 0;
}

/*
 * The fork joins as another player, and breaks the replay when it exits before its program's
 * end.
 */
TEST_F(replay, a_forked_player)
{
	ASSERT_EQ(0, setup(self, 2, 0));
	ASSERT_EQ(0, st_child_begin(&self->w[0], -1, fork_a_stranger, self->notes));
	EXPECT_TRUE(state(self, STAPE_REPLAY_BROKEN));
	EXPECT_EQ(2, self->state.joined);
	EXPECT_NE(self->w[0].pid, self->state.failed_pid);
	EXPECT_EQ(128 + SIGKILL, st_child_wait(&self->w[0]));
}

TEST_HARNESS_MAIN
