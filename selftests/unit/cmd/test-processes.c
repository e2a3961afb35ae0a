// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: the list of a replay's processes notices which one died, and when none is left,
 * whatever other children the controller has.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <common/output.h>
#include <replay/internal.h>

#include "tap.h"

#define ROOTS	3

/* The end of each process, by its task: a signal, or 0. */
static int signals[ROOTS];
static pid_t pids[ROOTS];

void out_error(const char *path, const char *format, ...)
{
	(void)path;
	(void)format;
}

pid_t stage_spawn(const struct stage *stage, uint32_t number)
{
	pid_t pid = fork();

	(void)stage;
	if (!pid) {
		raise(signals[number]);
		_exit(0);
	}
	pids[number] = pid;
	return pid;
}

/* The tasks are in no autogroups, so no process holds a session of theirs. */
void stage_close_others(const struct stage *stage, int fd)
{
	(void)stage;
	(void)fd;
	abort();
}

static struct schedtape_op ops[] = {
	{ .kind = SCHEDTAPE_OP_WAIT_EDGE }, { .kind = SCHEDTAPE_OP_WAIT_UNTIL },
};

static struct schedtape_program_task tasks[ROOTS] = {
	{ .threads = SCHEDTAPE_NONE, .first = 1 }, { .threads = SCHEDTAPE_NONE, .first = 1 },
	{ .threads = SCHEDTAPE_NONE },
};

static uint32_t roots[ROOTS] = { 2, 0, 1 };
static struct schedtape_program program = {
	.tasks = tasks, .nr_tasks = ROOTS, .ops = ops, .roots = roots, .nr_roots = ROOTS,
};

static const struct player_cast cast = { .program = &program };
static const struct stage stage = { .cast = &cast };

/* Starts the processes, and returns when all of them have ended. */
static void begin(struct processes *processes)
{
	siginfo_t info;
	int i;

	if (processes_begin(processes, &stage) || processes->nr != ROOTS)
		exit(1);
	for (i = 0; i < ROOTS; i++)
		waitid(P_PID, pids[i], &info, WEXITED | WNOWAIT);
}

TEST(ends)
{
	struct processes processes;

	begin(&processes);
	processes_reap(&processes, false);
	ok(!processes.nr && processes.none_left, "none is left");
	ok(!processes.died.pid, "and none of them died");
	processes_free(&processes);

	signals[1] = SIGKILL;
	begin(&processes);
	processes_reap(&processes, false);
	ok(processes.died.pid == (uint32_t)pids[1] && processes.died.task == 1 &&
	   WIFSIGNALED(processes.died.status) && WTERMSIG(processes.died.status) == SIGKILL,
	   "the killed player is reported, with its task and the signal");
	processes_free(&processes);
	signals[1] = 0;
}

/* The first one waits for a wake-up, which a later one may cause. */
TEST(due)
{
	struct processes processes;

	tasks[2].due = 10000000000;
	tasks[0].due = 20000000000;
	tasks[1].due = 30000000000;
	ok(!processes_begin(&processes, &stage) && processes.nr == 2,
	   "one that waits for its time is always there");
	ok(!processes_start_due(&processes, 20000000000, STAPE_REPLAY_SPEED_ONE) &&
	   processes.players == 3 && !processes_to_come(&processes), "the last one comes later");
	processes_reap(&processes, true);
	processes_free(&processes);
	tasks[0].due = 0;
	tasks[1].due = 0;
	tasks[2].due = 0;
}

/* Runs when its controller dies. */
static void clean(void *arg)
{
	(void)!write(*(int *)arg, "c", 1);
}

TEST(killer)
{
	struct processes processes;
	struct kill_on_exit killer;
	int ends[2];
	char c;

	if (pipe(ends))
		exit(1);
	ok(!kill_on_exit_start(&killer, clean, &ends[1]), "the killer is there");
	begin(&processes);
	processes_reap(&processes, false);
	ok(processes.none_left && !kill(killer.pid, 0),
	   "the killer runs, and does not count as a player that is left");
	processes_reap(&processes, true);
	kill_on_exit_end(&killer);
	ok(waitpid(-1, NULL, __WALL) < 0 && errno == ECHILD, "its end leaves nothing");
	processes_free(&processes);

	if (kill_on_exit_start(&killer, clean, &ends[1]))
		exit(1);
	close(ends[1]);
	close(killer.fd);
	ok(read(ends[0], &c, 1) == 1 && c == 'c', "it cleans up when its controller has gone");
	waitpid(killer.pid, NULL, __WCLONE);
	close(ends[0]);
}

TEST_MAIN
