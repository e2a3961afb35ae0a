// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Numbers of players, and of edges.  When a task has ended, its number is given to a later task,
 * and its edges to later wakers of the same wakees.  So the engine's memory, which has an entry for
 * each number, does not grow with the length of a tape.
 */
#include "program/compiler.h"

#include <errno.h>

#include "base/list.h"
#include "program/entries.h"

/*
 * A number is given to another task when so many other tasks have ended since, and so much later.
 * A replay may be slower than the recording in one place and not in another, and a player waits
 * for the one that had its number before.
 */
#define REST_TASKS	4096
#define REST_NS		1000000000ULL

#define LOOKS	4	/* edges to look at for one that can be used again */

static uint64_t rest_ns(const struct compiler *c)
{
	return c->options->hasty ? 0 : REST_NS;
}

/* Returns the number that has rested longest, or SCHEDTAPE_NONE if it has to rest longer. */
static uint32_t find_rested(struct compiler *c, uint64_t time)
{
	struct numbers *numbers = &c->numbers;
	uint32_t number = numbers->first;

	if (numbers->nr_rest <= (c->options->hasty ? 0 : REST_TASKS) ||
	    numbers->list[number].ended + rest_ns(c) > time)
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
		list[number].edge = SCHEDTAPE_NONE;
		if (schedtape_program_add_player(program, task))
			return -ENOMEM;
	}
	numbers->list[number].task = task;
	numbers->list[number].ended = 0;
	ptask->player = number;
	return 0;
}

void numbers_root_is_timed(struct compiler *c, uint64_t time)
{
	if (c->numbers.last_timed < time)
		c->numbers.last_timed = time;
}

uint64_t numbers_root_begins(const struct compiler *c)
{
	uint64_t before = c->numbers.last_timed;

	return before > SCHEDTAPE_AHEAD_NS ? before - SCHEDTAPE_AHEAD_NS : 0;
}

void numbers_give_back(struct compiler *c, uint32_t task, uint64_t time)
{
	uint32_t number = c->program->tasks[task].player;
	struct numbers *numbers = &c->numbers;

	/* A damaged tape may say so twice. */
	if (numbers->list[number].task != task || numbers->list[number].ended)
		return;
	numbers->list[number].ended = time;
	if (numbers->nr_rest++)
		numbers->list[numbers->last].next = number;
	else
		numbers->first = number;
	numbers->last = number;
}

/* Returns true if the task that last woke along an edge has ended long ago. */
static bool is_idle(const struct compiler *c, const struct edge_use *use, uint64_t time)
{
	const struct number *waker = &c->numbers.list[c->edges.edges[use->pair].waker];

	return waker->task != use->task || (waker->ended && waker->ended + rest_ns(c) <= time);
}

/* Returns an idle edge to a player, or SCHEDTAPE_NONE if there is none among the next ones. */
static uint32_t find_idle(struct compiler *c, uint32_t wakee, uint64_t time)
{
	struct numbers *numbers = &c->numbers;
	uint32_t *edge = &numbers->list[wakee].edge;
	int i;

	for (i = 0; i < LOOKS && *edge != SCHEDTAPE_NONE; i++) {
		*edge = numbers->uses[*edge].next;
		if (is_idle(c, &numbers->uses[*edge], time))
			return *edge;
	}
	return SCHEDTAPE_NONE;
}

static int add_edge(struct compiler *c, uint32_t waker, uint32_t wakee, uint32_t *edge)
{
	struct numbers *numbers = &c->numbers;
	uint32_t *last = &numbers->list[wakee].edge;
	struct edge_use *uses;

	*edge = c->program->nr_edges;
	uses = schedtape_list_grow(numbers->uses, *edge, &numbers->uses_capacity, sizeof(*uses));
	if (!uses)
		return -ENOMEM;
	numbers->uses = uses;
	uses[*edge].next = *edge;
	if (*last != SCHEDTAPE_NONE) {
		uses[*edge].next = uses[*last].next;
		uses[*last].next = *edge;
	}
	*last = *edge;
	return schedtape_program_add_edge(c->program, waker, wakee);
}

/* Gets an edge to @wakee for a pair of numbers that has none. */
static int new_edge(struct compiler *c, uint32_t waker, uint32_t wakee, uint64_t time,
		    uint32_t *edge)
{
	*edge = find_idle(c, wakee, time);
	return *edge == SCHEDTAPE_NONE ? add_edge(c, waker, wakee, edge) : 0;
}

int numbers_edge(struct compiler *c, uint32_t from, uint32_t to, uint64_t time, uint32_t *edge)
{
	const struct schedtape_program_task *tasks = c->program->tasks;
	uint32_t number = tasks[from].player, pair;
	struct edge_use *use;
	int ret = schedtape_edges_number(&c->edges, number, tasks[to].player, &pair);

	if (ret)
		return ret;
	/* The pair may have lost its edge to another one. */
	*edge = c->edges.edges[pair].count - 1;
	if (!c->edges.edges[pair].count || c->numbers.uses[*edge].pair != pair)
		ret = new_edge(c, number, tasks[to].player, time, edge);
	if (ret)
		return ret;
	c->edges.edges[pair].count = *edge + 1;
	use = &c->numbers.uses[*edge];
	use->pair = pair;
	use->task = from;
	return 0;
}

uint32_t schedtape_program_task_of(const struct schedtape_program *program, uint32_t player,
				   uint32_t turn)
{
	uint32_t task = player < program->nr_players ? program->players[player] : SCHEDTAPE_NONE;

	while (turn-- && task != SCHEDTAPE_NONE)
		task = program->tasks[task].successor;
	return task;
}
