// SPDX-License-Identifier: GPL-2.0-only
#include "replay/processes.h"

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "common/output.h"

#define AHEAD_NS	500000000ULL	/* a process is started so long before it is due */

static pid_t spawn(struct processes *processes, uint32_t number)
{
	const struct player_cast *cast = processes->cast;

	if (cast->autogroups && cast->program->tasks[number].autogroup)
		return sessions_spawn(&processes->sessions, cast, number);
	return player_spawn(cast, number);
}

static int start_one(struct processes *processes, uint32_t number)
{
	const struct schedtape_program_task *tasks = processes->cast->program->tasks;
	pid_t pid = spawn(processes, number);
	uint32_t i;

	if (pid == -EINTR)
		return pid;
	if (pid < 0) {
		out_error(NULL, "cannot start a player: %s", strerror(-pid));
		return pid;
	}
	processes->tasks[processes->nr] = number;
	processes->pids[processes->nr++] = pid;
	processes->none_left = false;
	processes->players++;
	for (i = tasks[number].threads; i != SCHEDTAPE_NONE; i = tasks[i].sibling)
		processes->players++;
	return 0;
}

static uint64_t due(const struct processes *processes, uint32_t root)
{
	const struct schedtape_program *program = processes->cast->program;

	return program->tasks[program->roots[root]].due;
}

int processes_begin(struct processes *processes, const struct player_cast *cast)
{
	const struct schedtape_program *program = cast->program;
	uint32_t i;
	int ret = 0;

	*processes = (struct processes){ .cast = cast };
	processes->pids = calloc(program->nr_roots + 1, 2 * sizeof(*processes->pids));
	if (!processes->pids)
		return -ENOMEM;
	processes->tasks = processes->pids + program->nr_roots + 1;
	/* Each process gets a copy of this heap, so make it small. */
	malloc_trim(0);
	for (i = 0; i < program->nr_roots && !ret; i++)
		if (!due(processes, i))
			ret = start_one(processes, program->roots[i]);
	return ret ? ret : processes_start_due(processes, 0, STAPE_REPLAY_SPEED_ONE);
}

int processes_start_due(struct processes *processes, uint64_t time, uint32_t speed)
{
	const struct schedtape_program *program = processes->cast->program;
	uint64_t until = time + AHEAD_NS / STAPE_REPLAY_SPEED_ONE * speed, when;
	int ret = 0;

	/* Also start one beyond @until: it waits for its time, so the replay never looks stuck. */
	for (; processes->next < program->nr_roots && processes->latest <= until && !ret;
	     processes->next++) {
		when = due(processes, processes->next);
		if (!when)
			continue;
		processes->latest = when;
		ret = start_one(processes, program->roots[processes->next]);
	}
	return ret;
}

bool processes_to_come(const struct processes *processes)
{
	return processes->next < processes->cast->program->nr_roots;
}

/* A process that reached the end of its program, or of the replay, has the status 0. */
static void take_end(struct processes *processes, uint32_t pid, int status)
{
	size_t i;

	for (i = 0; i < processes->nr && processes->pids[i] != pid; i++)
		;
	if (i == processes->nr)
		return;
	if (status && !processes->died.pid)
		processes->died = (struct process_death){ pid, processes->tasks[i], status };
	processes->nr--;
	processes->pids[i] = processes->pids[processes->nr];
	processes->tasks[i] = processes->tasks[processes->nr];
}

/* Also returns orphans of players, because the controller is their subreaper. */
void processes_reap(struct processes *processes, bool all)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, all ? 0 : WNOHANG)) > 0)
		take_end(processes, pid, status);
	if (pid < 0 && errno == ECHILD)
		processes->none_left = true;
}

void processes_free(struct processes *processes)
{
	sessions_end(&processes->sessions);
	free(processes->pids);
}
