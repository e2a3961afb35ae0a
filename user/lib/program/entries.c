// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The memory of a program.  The operations of all tasks are in one store, in blocks for
 * each task.  The last place of a block leads to the task's next one, which is twice as
 * large.  So many short tasks take little room, and long ones seldom jump.
 */
#include "program/entries.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include <xxhash.h>

#define FIRST_BLOCK	8
#define MAX_BLOCK	256	/* 4 KiB */
#define FIRST_SLOTS	64

/* Returns the slot of an entry that equals @one, or the free one for it. */
static uint32_t *find_slot(const struct schedtape_program_hash *hash,
			   const struct schedtape_store *store, const void *one, size_t size)
{
	uint64_t at = XXH64(one, size, hash->seed);

	for (;; at++) {
		uint32_t *slot = &hash->slots[at & (hash->nr - 1)];

		if (*slot == SCHEDTAPE_NONE ||
		    !memcmp((char *)store->memory + *slot * size, one, size))
			return slot;
	}
}

static int grow_hash(struct schedtape_program_hash *hash, const struct schedtape_store *store,
		     size_t size)
{
	uint64_t nr = hash->nr ? 2 * hash->nr : FIRST_SLOTS, i;
	uint32_t *slots = malloc(nr * sizeof(*slots));

	if (!slots)
		return -ENOMEM;
	if (!hash->nr && getrandom(&hash->seed, sizeof(hash->seed), GRND_NONBLOCK) < 0)
		hash->seed = (uintptr_t)slots;
	memset(slots, 0xff, nr * sizeof(*slots));
	free(hash->slots);
	hash->slots = slots;
	hash->nr = nr;
	for (i = 0; i < store->nr; i++)
		*find_slot(hash, store, (char *)store->memory + i * size, size) = i;
	return 0;
}

/* Appends an entry, unless there is an equal one. */
static int append_new(struct schedtape_store *store, struct schedtape_program_hash *hash,
		      const void *one, size_t size, uint32_t *index)
{
	uint32_t *slot;
	int ret = 0;

	if (2 * store->nr >= hash->nr)
		ret = grow_hash(hash, store, size);
	if (ret)
		return ret;
	slot = find_slot(hash, store, one, size);
	*index = *slot;
	if (*slot != SCHEDTAPE_NONE)
		return 0;
	ret = schedtape_store_append(store, one, size);
	if (!ret)
		*slot = *index = store->nr - 1;
	return ret;
}

static void free_hash(struct schedtape_program_hash *hash)
{
	free(hash->slots);
	*hash = (struct schedtape_program_hash){ 0 };
}

int schedtape_program_add_task(struct schedtape_program *program,
			       const struct schedtape_program_task *task)
{
	int ret = schedtape_store_append(&program->task_store, task, sizeof(*task));

	program->tasks = program->task_store.memory;
	program->nr_tasks += !ret;
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
	int ret = schedtape_store_append(&program->root_store, &number, sizeof(number));

	program->roots = program->root_store.memory;
	program->nr_roots += !ret;
	return ret;
}

int schedtape_program_add_player(struct schedtape_program *program, uint32_t task)
{
	int ret = schedtape_store_append(&program->player_store, &task, sizeof(task));

	program->players = program->player_store.memory;
	program->nr_players += !ret;
	return ret;
}

int schedtape_program_add_edge(struct schedtape_program *program, uint32_t waker, uint32_t wakee)
{
	int ret = schedtape_store_append(&program->edge_store, &wakee, sizeof(wakee));

	if (!ret)
		ret = schedtape_store_append(&program->waker_store, &waker, sizeof(waker));
	program->edges = program->edge_store.memory;
	program->wakers = program->waker_store.memory;
	program->nr_edges += !ret;
	return ret;
}

int schedtape_program_add_name(struct schedtape_program *program, const char *name)
{
	int ret = schedtape_store_append(&program->name_store, name, sizeof(*program->names));

	program->names = program->name_store.memory;
	program->nr_names += !ret;
	return ret;
}

int schedtape_program_add_cgroup(struct schedtape_program *program, uint64_t id, uint32_t *index)
{
	int ret = append_new(&program->cgroup_store, &program->cgroup_hash, &id, sizeof(id),
			     index);

	program->cgroups = program->cgroup_store.memory;
	program->nr_cgroups = program->cgroup_store.nr;
	return ret;
}

int schedtape_program_add_more(struct schedtape_program *program,
			       const union schedtape_more *more, uint32_t *index)
{
	int ret = append_new(&program->more_store, &program->more_hash, more, sizeof(*more),
			     index);

	program->more = program->more_store.memory;
	program->nr_more = program->more_store.nr;
	return ret;
}

int schedtape_program_add_affinity(struct schedtape_program *program,
				   const unsigned char *affinity, uint32_t *index)
{
	int ret = append_new(&program->affinity_store, &program->affinity_hash, affinity,
			     sizeof(*program->affinities), index);

	program->affinities = program->affinity_store.memory;
	program->nr_affinities = program->affinity_store.nr;
	return ret;
}

static void free_hashes(struct schedtape_program *program)
{
	free_hash(&program->cgroup_hash);
	free_hash(&program->more_hash);
	free_hash(&program->affinity_hash);
}

void schedtape_program_close(struct schedtape_program *program)
{
	free_hashes(program);
	schedtape_store_close(&program->task_store);
	schedtape_store_close(&program->op_store);
	schedtape_store_close(&program->root_store);
	schedtape_store_close(&program->player_store);
	schedtape_store_close(&program->edge_store);
	schedtape_store_close(&program->waker_store);
	schedtape_store_close(&program->name_store);
	schedtape_store_close(&program->cgroup_store);
	schedtape_store_close(&program->more_store);
	schedtape_store_close(&program->affinity_store);
}

void schedtape_program_free(struct schedtape_program *program)
{
	if (!program)
		return;
	free_hashes(program);
	schedtape_store_free(&program->task_store);
	schedtape_store_free(&program->op_store);
	schedtape_store_free(&program->root_store);
	schedtape_store_free(&program->player_store);
	schedtape_store_free(&program->edge_store);
	schedtape_store_free(&program->waker_store);
	schedtape_store_free(&program->name_store);
	schedtape_store_free(&program->cgroup_store);
	schedtape_store_free(&program->more_store);
	schedtape_store_free(&program->affinity_store);
	free(program);
}
