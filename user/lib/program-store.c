// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Where a program lies.  Operations: all tasks' in one store, each task's in blocks
 * of it.  The last place of a block leads to the next one, which is twice as large: so
 * many short tasks take little room, and long ones seldom jump.
 */
#include "program-store.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_BLOCK	8
#define MAX_BLOCK	256	/* 4 KiB */

int schedtape_program_add_task(struct schedtape_program *program,
			       const struct schedtape_program_task *task)
{
	int ret = schedtape_store_add(&program->task_store, sizeof(*program->tasks), 1);

	program->tasks = program->task_store.memory;
	if (!ret)
		program->tasks[program->nr_tasks++] = *task;
	return ret;
}

static int open_block(struct schedtape_program *program, struct schedtape_op_tail *tail)
{
	uint32_t size = tail->size ? 2 * tail->size : FIRST_BLOCK;
	uint64_t at = program->op_store.nr;
	int ret;

	if (size > MAX_BLOCK)
		size = MAX_BLOCK;
	ret = schedtape_store_add(&program->op_store, sizeof(*program->ops), size);
	if (ret)
		return ret;
	program->ops = program->op_store.memory;
	if (tail->size)
		program->ops[tail->link] = (struct schedtape_op){
			.kind = SCHEDTAPE_OP_GOTO, .value = at,
		};
	else
		tail->first = at;
	tail->last = at - 1;
	tail->link = at + size - 1;
	tail->size = size;
	return 0;
}

int schedtape_program_add_op(struct schedtape_program *program, struct schedtape_op_tail *tail,
			     const struct schedtape_op *op)
{
	int ret;

	if (!tail->size || tail->last + 1 == tail->link) {
		ret = open_block(program, tail);
		if (ret)
			return ret;
	}
	program->ops[++tail->last] = *op;
	return 0;
}

int schedtape_program_add_root(struct schedtape_program *program, uint32_t number)
{
	int ret = schedtape_store_add(&program->root_store, sizeof(*program->roots), 1);

	program->roots = program->root_store.memory;
	if (!ret)
		program->roots[program->nr_roots++] = number;
	return ret;
}

int schedtape_program_add_edge(struct schedtape_program *program, uint32_t waker, uint32_t wakee)
{
	int ret = schedtape_store_add(&program->edge_store, sizeof(*program->edges), 1);

	if (!ret)
		ret = schedtape_store_add(&program->waker_store, sizeof(*program->wakers), 1);
	program->edges = program->edge_store.memory;
	program->wakers = program->waker_store.memory;
	if (ret)
		return ret;
	program->edges[program->nr_edges] = wakee;
	program->wakers[program->nr_edges++] = waker;
	return 0;
}

int schedtape_program_add_name(struct schedtape_program *program, const char *name)
{
	int ret = schedtape_store_add(&program->name_store, sizeof(*program->names), 1);

	program->names = program->name_store.memory;
	if (!ret)
		memcpy(program->names[program->nr_names++], name, sizeof(*program->names));
	return ret;
}

/* The latest first: tasks come in crowds. */
int schedtape_program_add_cgroup(struct schedtape_program *program, uint64_t id, uint32_t *index)
{
	uint32_t i;
	int ret;

	for (i = program->nr_cgroups; i-- > 0; ) {
		*index = i;
		if (program->cgroups[i] == id)
			return 0;
	}
	ret = schedtape_store_add(&program->cgroup_store, sizeof(*program->cgroups), 1);
	program->cgroups = program->cgroup_store.memory;
	if (ret)
		return ret;
	*index = program->nr_cgroups;
	program->cgroups[program->nr_cgroups++] = id;
	return 0;
}

int schedtape_program_add_deadline(struct schedtape_program *program,
				   const struct schedtape_deadline *dl, uint32_t *index)
{
	uint32_t i;
	int ret;

	for (i = program->nr_deadlines; i-- > 0; ) {
		*index = i;
		if (!memcmp(&program->deadlines[i], dl, sizeof(*dl)))
			return 0;
	}
	ret = schedtape_store_add(&program->deadline_store, sizeof(*program->deadlines), 1);
	program->deadlines = program->deadline_store.memory;
	if (ret)
		return ret;
	*index = program->nr_deadlines;
	program->deadlines[program->nr_deadlines++] = *dl;
	return 0;
}

void schedtape_program_close(struct schedtape_program *program)
{
	schedtape_store_close(&program->task_store);
	schedtape_store_close(&program->op_store);
	schedtape_store_close(&program->root_store);
	schedtape_store_close(&program->edge_store);
	schedtape_store_close(&program->waker_store);
	schedtape_store_close(&program->name_store);
	schedtape_store_close(&program->cgroup_store);
	schedtape_store_close(&program->deadline_store);
}

void schedtape_program_free(struct schedtape_program *program)
{
	if (!program)
		return;
	schedtape_store_free(&program->task_store);
	schedtape_store_free(&program->op_store);
	schedtape_store_free(&program->root_store);
	schedtape_store_free(&program->edge_store);
	schedtape_store_free(&program->waker_store);
	schedtape_store_free(&program->name_store);
	schedtape_store_free(&program->cgroup_store);
	schedtape_store_free(&program->deadline_store);
	free(program);
}
