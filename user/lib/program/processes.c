// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Finds out which tasks of a program are a process, and what starts each of them.
 */
#include "program/compiler.h"

#define WALK_STEP	4096	/* tasks that a walk may keep in memory */

/* Drops tasks that a walk has passed from memory: there may be a million of them. */
static void passed(const struct compiler *c, uint32_t number)
{
	if (number % WALK_STEP)
		return;
	schedtape_store_let_go(&c->part_store);
	schedtape_store_let_go(&c->program->task_store);
}

/* If the leader of a process is not replayed, the first task of the process leads it. */
static void set_process(struct compiler *c, uint32_t number)
{
	struct schedtape_program_task *task = &c->program->tasks[number];
	struct part *leader = &c->parts[task->process];

	if (leader->leader == SCHEDTAPE_NONE)
		leader->leader = leader->number == SCHEDTAPE_NONE ? number : leader->number;
	task->process = leader->leader;
	task->brief = task->brief && task->process == number;
}

/*
 * Does the first task of its process create this task?  Its creator is not replayed; it waits
 * for its recorded start by itself.  A task that was there before a forked leader, as on a
 * tape with losses, may have caused that fork, and must not wait for it.
 */
static bool joins_process(const struct schedtape_program *program, uint32_t number)
{
	const struct schedtape_program_task *task = &program->tasks[number];
	const struct schedtape_program_task *leader = &program->tasks[task->process];

	if (task->parent != SCHEDTAPE_NONE || task->process == number ||
	    leader->process != task->process)
		return false;
	return leader->parent == SCHEDTAPE_NONE || task->process < number;
}

int program_set_processes(struct compiler *c)
{
	struct schedtape_program *program = c->program;
	struct schedtape_program_task *task, *leader;
	int ret = 0;
	uint32_t i;

	for (i = 0; i < program->nr_tasks; i++) {
		passed(c, i);
		set_process(c, i);
	}
	for (i = 0; i < program->nr_tasks && !ret; i++) {
		passed(c, i);
		if (program->tasks[i].parent != SCHEDTAPE_NONE || joins_process(program, i))
			continue;
		/*
		 * A task that does not begin with a timed wait exists from the start, unless its
		 * player follows another one of the same number.
		 */
		if (schedtape_program_begin(program, i)->kind != SCHEDTAPE_OP_WAIT_UNTIL &&
		    !program->tasks[i].turn)
			program->tasks[i].due = 0;
		ret = schedtape_program_add_root(program, i);
	}
	/* Backwards, so that each list of threads is in order. */
	for (i = program->nr_tasks; i-- > 0 && !ret; ) {
		passed(c, i);
		if (!joins_process(program, i))
			continue;
		task = &program->tasks[i];
		leader = &program->tasks[task->process];
		task->sibling = leader->threads;
		leader->threads = i;
		leader->brief = false;
	}
	return ret;
}
