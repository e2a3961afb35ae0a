// SPDX-License-Identifier: GPL-2.0-only
#include "replay/players.h"

#include <errno.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/list.h"
#include "common/output.h"

/**
 * struct player_list - players for a record of the tape
 * @first_pid: PID of the player of the task @first
 */
struct player_list {
	const struct schedtape_program *program;
	struct schedtape_player *list;
	size_t n;
	size_t capacity;
	uint32_t first;
	uint32_t first_pid;
};

static int add(struct player_list *players, uint32_t number, uint32_t pid)
{
	const struct schedtape_program_task *task = &players->program->tasks[number];
	struct schedtape_player *list;

	list = schedtape_list_grow(players->list, players->n, &players->capacity, sizeof(*list));
	if (!list)
		return -ENOMEM;
	players->list = list;
	list[players->n++] = (struct schedtape_player) {
		.task_start = task->born,
		.pid = pid,
		.task_pid = task->pid,
	};
	return 0;
}

static int add_player(const struct schedtape_player_state *state, void *arg)
{
	struct player_list *players = arg;

	if (state->number >= players->program->nr_tasks)
		return 0;
	if (state->number == players->first)
		players->first_pid = state->pid;
	return add(players, state->number, state->pid);
}

/* Writes them with the current time, at which they exist, or existed a moment ago. */
static int write_list(struct recorder *recorder, struct player_list *players)
{
	uint64_t time = schedtape_now();
	size_t i;

	for (i = 0; i < players->n; i++)
		players->list[i].time = time;
	return recorder_add_players(recorder, players->list, players->n);
}

static int out_of_memory(void)
{
	out_error(NULL, "out of memory");
	return -ENOMEM;
}

int players_write(struct players *players, struct schedtape_client *client, uint32_t id,
		  const struct processes *processes)
{
	struct player_list list = { .program = players->program, .first = SCHEDTAPE_NONE };
	struct schedtape_error err;
	int ret;

	if (processes->nr)
		list.first = processes->tasks[0];
	ret = schedtape_replay_players(client, id, add_player, &list, &err);
	if (ret == -ENOMEM)
		out_of_memory();
	else if (ret)
		out_error(NULL, "%s", err.text);
	else
		ret = write_list(players->recorder, &list);
	players->same_pids = processes->nr && list.first_pid == processes->pids[0];
	free(list.list);
	return ret;
}

int players_write_since(const struct players *players, const struct processes *processes,
			size_t before)
{
	struct player_list list = { .program = players->program };
	int ret = 0;
	size_t i;

	if (!players->same_pids || before == processes->nr)
		return 0;
	for (i = before; i < processes->nr && !ret; i++)
		ret = add(&list, processes->tasks[i], processes->pids[i]);
	ret = ret ? out_of_memory() : write_list(players->recorder, &list);
	free(list.list);
	return ret;
}
