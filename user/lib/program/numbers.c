// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Numbers of players.  When a task has ended, its number is given to a later task.  So the engine's
 * memory, which has an entry for each number, does not grow with the length of a tape.
 */
#include "program/compiler.h"

#include <errno.h>

#include "base/list.h"
#include "program/store.h"

/*
 * A number is given to another task when so many other tasks have ended since, and so much later.
 * A replay may be slower than the recording in one place and not in another, and a player waits
 * for the one that had its number before.
 */
#define REST_TASKS	4096
#define REST_NS		1000000000ULL

/* A task without parent is started so long before the time at which the one before it is due. */
#define AHEAD_NS	500000000ULL

/* Returns the number that has rested longest, or SCHEDTAPE_NONE if it has to rest longer. */
static uint32_t find_rested(struct compiler *c, uint64_t time)
{
	const uint64_t rest = c->options->hasty ? 0 : REST_NS;
	struct numbers *numbers = &c->numbers;
	uint32_t number = numbers->first;

	if (numbers->nr_rest <= (c->options->hasty ? 0 : REST_TASKS) ||
	    numbers->list[number].ended + rest > time)
		return SCHEDTAPE_NONE;
	numbers->first = numbers->list[number].next;
	numbers->nr_rest--;
	return number;
}

int numbers_take(struct compiler *c, uint32_t task, uint64_t time)
{
	struct schedtape_program *program = c->program;
	struct schedtape_program_task *ptask = &program->tasks[task], *before;
	struct numbers *numbers = &c->numbers;
	uint32_t number = find_rested(c, time);
	struct number *list;

	if (number != SCHEDTAPE_NONE) {
		before = &program->tasks[numbers->list[number].task];
		before->successor = task;
		ptask->turn = before->turn + 1;
	} else {
		number = program->nr_players;
		list = schedtape_list_grow(numbers->list, number, &numbers->capacity,
					   sizeof(*list));
		if (!list)
			return -ENOMEM;
		numbers->list = list;
		if (schedtape_program_add_player(program, task))
			return -ENOMEM;
	}
	numbers->list[number].task = task;
	ptask->player = number;
	return 0;
}

uint64_t numbers_root_begins(struct compiler *c, uint64_t time)
{
	uint64_t before = c->numbers.last_root;

	c->numbers.last_root = time;
	return before > AHEAD_NS ? before - AHEAD_NS : 0;
}

void numbers_give_back(struct compiler *c, uint32_t number, uint64_t time)
{
	struct numbers *numbers = &c->numbers;

	numbers->list[number].ended = time;
	if (numbers->nr_rest++)
		numbers->list[numbers->last].next = number;
	else
		numbers->first = number;
	numbers->last = number;
}

uint32_t schedtape_program_task_of(const struct schedtape_program *program, uint32_t player,
				   uint32_t turn)
{
	uint32_t task = player < program->nr_players ? program->players[player] : SCHEDTAPE_NONE;

	while (turn-- && task != SCHEDTAPE_NONE)
		task = program->tasks[task].successor;
	return task;
}
