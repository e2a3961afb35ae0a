// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: the tape of a replay has the CPU time of a player only if the player has counted
 * all of it.
 */
#include <schedtape.h>

#include "replay/internal.h"
#include "tap.h"

#define TASKS	6

/* No player is started. */
const char player_program[1], player_program_end[1];

static struct schedtape_program_task tasks[TASKS] = {
	{ .process = 0, .parent = SCHEDTAPE_NONE, .due = 1000 },
	{ .process = 1, .parent = SCHEDTAPE_NONE, .due = 2000 },
	{ .process = 2, .parent = SCHEDTAPE_NONE },
	{ .process = 3, .parent = 1, .due = 3000 },
	{ .process = 0, .parent = SCHEDTAPE_NONE, .due = 3000 },
	{ .process = 3, .parent = SCHEDTAPE_NONE, .due = 3000 },
};

TEST(used)
{
	static const struct {
		bool used;
		const char *what;
	} players[TASKS] = {
		{ true, "a process that is there when the recording begins" },
		{ false, "a process that is started later" },
		{ true, "a process from the start" },
		{ true, "a process that a player forks" },
		{ true, "a thread of the first process" },
		{ false, "a thread that a forked process starts" },
	};
	const struct schedtape_program program = { .tasks = tasks, .nr_tasks = TASKS };
	struct schedtape_told told[TASKS];
	const struct player_cast cast = { .program = &program, .told = told };
	struct replay_tape tape = { .later = 1 };
	struct json_object *player;
	int i;

	for (i = 0; i < TASKS; i++)
		told[i] = (struct schedtape_told){ .steps = 1, .used = 5000 };
	replay_tape_add_told(&tape, &cast);
	for (i = 0; i < TASKS; i++) {
		player = json_object_array_get_idx(tape.recorder.players, i);
		ok(json_object_object_get_ex(player, "used", NULL) == players[i].used, "%s",
		   players[i].what);
	}
	json_object_put(tape.recorder.players);
}

TEST_MAIN
