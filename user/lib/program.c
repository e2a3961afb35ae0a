// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Compiles a tape.  The timeline tells who slept, woke, forked and exited;
 * each becomes an operation of its task at the CPU time that the task had
 * used.  Two things are known only later than they happen and are filled in
 * then: how a wait ends, and whether a wake-up really woke someone.
 */
#include "program.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct pending {
	uint64_t ticket;	/* of the last waking(), 0: none */
	size_t op;		/* its place in the waker's program */
	size_t wait;		/* place of this task's open wait */
	uint64_t since;		/* when that began, 0: before the start */
	bool waiting;
};

struct compiler {
	struct schedtape_program *program;
	struct pending *pending;	/* by task */
	uint32_t max_tasks;
	struct edge_slot {
		uint64_t key;		/* waker << 32 | wakee */
		uint32_t edge;
		bool used;
	} *slots;			/* hash, open addressing */
	size_t nr_slots;
	size_t max_names;
	uint64_t start;			/* of the recording */
	const struct schedtape_program_options *options;
};

/* At most what an operation can hold: two years, or damage. */
static uint64_t scale(const struct compiler *c, uint64_t ns)
{
	const uint64_t most = (1ULL << 56) - 1;
	double scaled = ns / c->options->speed;

	if (scaled >= most)
		return most;
	return scaled;
}

/* Since the recording's start, at this replay's speed. */
static uint64_t instant(const struct compiler *c, uint64_t time)
{
	return time > c->start ? scale(c, time - c->start) : 0;
}

static struct schedtape_program_task *task_of(struct compiler *c, const struct schedtape_life *life)
{
	return &c->program->tasks[life->index];
}

static int append(struct compiler *c, const struct schedtape_life *life,
		  enum schedtape_op_kind kind, uint64_t value)
{
	struct schedtape_program_task *task = task_of(c, life);
	size_t max = task->max_ops ? 2 * task->max_ops : 8;
	struct schedtape_op *ops;

	if (task->nr_ops == task->max_ops) {
		ops = realloc(task->ops, max * sizeof(*ops));
		if (!ops)
			return -ENOMEM;
		task->ops = ops;
		task->max_ops = max;
	}
	task->ops[task->nr_ops++] = (struct schedtape_op){
		.cpu = scale(c, life->cpu_time), .kind = kind, .value = value,
	};
	return 0;
}

/*
 * A wait ends, until the timeline tells otherwise, at the instant at which it
 * began: a task that does something next could run all the time.
 */
static int open_wait(struct compiler *c, const struct schedtape_life *life, uint64_t time)
{
	struct pending *pending = &c->pending[life->index];
	struct schedtape_program_task *task = task_of(c, life);
	int ret;

	/* Asleep since before the start: that is the wait which opened at birth. */
	if (pending->waiting && pending->wait + 1 == task->nr_ops && !life->cpu_time)
		return 0;
	ret = append(c, life, SCHEDTAPE_OP_WAIT_UNTIL, instant(c, time));
	pending->wait = task->nr_ops - 1;
	pending->waiting = !ret;
	pending->since = time;
	return ret;
}

/* Of a wait from before the start, the length is not known. */
static bool is_length(const struct compiler *c, const struct pending *pending,
		      const struct schedtape_op *wait)
{
	if (!pending->since || c->options->external == SCHEDTAPE_EXTERNAL_ABSOLUTE)
		return false;
	return wait->blocked || c->options->external == SCHEDTAPE_EXTERNAL_RELATIVE;
}

/* The outside world ends a wait. */
static void end_outside(struct compiler *c, const struct pending *pending,
			struct schedtape_op *wait, uint64_t time)
{
	if (!is_length(c, pending, wait)) {
		wait->value = instant(c, time);
		c->program->timed++;
		return;
	}
	wait->kind = SCHEDTAPE_OP_WAIT_FOR;
	wait->value = scale(c, time > pending->since ? time - pending->since : 0);
	c->program->lengths++;
}

/* -- edges ----------------------------------------------------------------- */

static struct edge_slot *find_slot(struct edge_slot *slots, size_t n, uint64_t key)
{
	size_t i = (key * 0x9E3779B97F4A7C15ULL) >> 20;	/* Knuth's multiplicative hash */

	for (i &= n - 1; slots[i].used && slots[i].key != key; i = (i + 1) & (n - 1))
		;
	return &slots[i];
}

static int grow_slots(struct compiler *c)
{
	size_t i, n = c->nr_slots ? 2 * c->nr_slots : 256;
	struct edge_slot *slots = calloc(n, sizeof(*slots));
	uint32_t *edges = realloc(c->program->edges, n * sizeof(*edges));

	if (edges)
		c->program->edges = edges;
	if (!slots || !edges) {
		free(slots);
		return -ENOMEM;
	}
	for (i = 0; i < c->nr_slots; i++)
		if (c->slots[i].used)
			*find_slot(slots, n, c->slots[i].key) = c->slots[i];
	free(c->slots);
	c->slots = slots;
	c->nr_slots = n;
	return 0;
}

static int edge_of(struct compiler *c, uint32_t waker, uint32_t wakee, uint32_t *edge)
{
	struct schedtape_program *program = c->program;
	struct edge_slot *slot;
	uint64_t key = (uint64_t)waker << 32 | wakee;
	int ret;

	if (2 * (program->nr_edges + 1ULL) > c->nr_slots) {
		ret = grow_slots(c);
		if (ret)
			return ret;
	}
	slot = find_slot(c->slots, c->nr_slots, key);
	if (!slot->used) {
		*slot = (struct edge_slot){ .key = key, .edge = program->nr_edges, .used = true };
		program->edges[program->nr_edges++] = wakee;
	}
	*edge = slot->edge;
	return 0;
}

/* -- what the timeline tells ----------------------------------------------- */

static int grow_tasks(struct compiler *c, uint32_t index)
{
	uint32_t max = c->max_tasks ? 2 * c->max_tasks : 64;
	struct schedtape_program_task *tasks;
	struct pending *pending;

	while (max <= index)
		max *= 2;
	if (index < c->max_tasks)
		return 0;
	tasks = realloc(c->program->tasks, max * sizeof(*tasks));
	if (!tasks)
		return -ENOMEM;
	c->program->tasks = tasks;
	pending = realloc(c->pending, max * sizeof(*pending));
	if (!pending)
		return -ENOMEM;
	c->pending = pending;
	memset(tasks + c->max_tasks, 0, (max - c->max_tasks) * sizeof(*tasks));
	memset(pending + c->max_tasks, 0, (max - c->max_tasks) * sizeof(*pending));
	c->max_tasks = max;
	return 0;
}

static int on_born(void *arg, const struct schedtape_life *life,
		   const struct schedtape_life *parent, uint64_t time)
{
	struct schedtape_program_task *task;
	struct compiler *c = arg;
	int ret;

	ret = grow_tasks(c, life->index);
	if (ret)
		return ret;
	if (life->index >= c->program->nr_tasks)
		c->program->nr_tasks = life->index + 1;
	task = task_of(c, life);
	task->parent = life->parent;
	task->process = life->process;
	task->pid = life->pid;
	task->source = life->task;
	memcpy(task->name, life->first_comm, sizeof(task->name));
	if (!parent) {
		ret = open_wait(c, life, time);
		c->pending[life->index].since = 0;
		return ret;
	}
	return append(c, parent, SCHEDTAPE_OP_FORK, life->index);
}

static int on_waking(void *arg, const struct schedtape_life *waker,
		     const struct schedtape_life *wakee, uint64_t ticket, uint64_t time)
{
	struct compiler *c = arg;
	int ret;

	(void)time;
	ret = append(c, waker, SCHEDTAPE_OP_NONE, 0);
	c->pending[wakee->index].ticket = ticket;
	c->pending[wakee->index].op = task_of(c, waker)->nr_ops - 1;
	return ret;
}

static int on_woke(void *arg, const struct schedtape_life *life,
		   const struct schedtape_life *waker, uint64_t ticket, uint64_t time)
{
	struct schedtape_op *wait, *wake;
	struct pending *pending;
	struct compiler *c = arg;
	uint32_t edge;
	int ret;

	pending = &c->pending[life->index];
	if (!pending->waiting)
		return 0;
	pending->waiting = false;
	wait = &task_of(c, life)->ops[pending->wait];
	wait->blocked = life->slept_as == STAPE_STATE_BLOCKED ||
			life->slept_as == STAPE_STATE_IDLE;
	if (!waker || !ticket || ticket != pending->ticket) {
		end_outside(c, pending, wait, time);
		return 0;
	}
	ret = edge_of(c, waker->index, life->index, &edge);
	if (ret)
		return ret;
	wake = &task_of(c, waker)->ops[pending->op];
	wake->kind = SCHEDTAPE_OP_WAKE;
	wake->value = edge;
	wait->kind = SCHEDTAPE_OP_WAIT_EDGE;
	wait->value = edge;
	c->program->wakeups++;
	return 0;
}

static int on_slept(void *arg, const struct schedtape_life *life, uint64_t time)
{
	return open_wait(arg, life, time);
}

/* Out of the filter is a wait that the outside world ends. */
static int on_left(void *arg, const struct schedtape_life *life, uint64_t time)
{
	struct compiler *c = arg;

	return c->pending[life->index].waiting ? 0 : open_wait(c, life, time);
}

static int on_joined(void *arg, const struct schedtape_life *life, uint64_t time)
{
	struct compiler *c = arg;
	struct pending *pending = &c->pending[life->index];

	if (pending->waiting)
		end_outside(c, pending, &task_of(c, life)->ops[pending->wait], time);
	pending->waiting = false;
	return 0;
}

/* Threads that were forked on the tape stay with their parents. */
static int on_identified(void *arg, const struct schedtape_life *life, uint64_t time)
{
	struct schedtape_program_task *task = task_of(arg, life);
	const struct schedtape_life *leader = schedtape_life_at(life, life->process);

	(void)time;
	memcpy(task->name, life->first_comm, sizeof(task->name));
	if (task->parent == SCHEDTAPE_NONE && leader->process == leader->index)
		task->process = life->process;
	return 0;
}

static int on_renamed(void *arg, const struct schedtape_life *life, uint64_t time)
{
	struct compiler *c = arg;
	struct schedtape_program *program = c->program;
	size_t max = c->max_names ? 2 * c->max_names : 64;
	void *names;

	(void)time;
	if (program->nr_names == c->max_names) {
		names = realloc(program->names, max * sizeof(*program->names));
		if (!names)
			return -ENOMEM;
		program->names = names;
		c->max_names = max;
	}
	memcpy(program->names[program->nr_names], life->comm, STAPE_COMM_LEN);
	return append(c, life, SCHEDTAPE_OP_RENAME, program->nr_names++);
}

static int on_end(void *arg, const struct schedtape_life *life, uint64_t time)
{
	struct compiler *c = arg;
	struct pending *pending = &c->pending[life->index];
	struct schedtape_program_task *task = task_of(c, life);

	(void)time;
	/* A wait that outlasts the recording ends it for this task. */
	if (pending->waiting && pending->wait == task->nr_ops - 1 &&
	    task->ops[pending->wait].cpu == scale(c, life->cpu_time))
		task->nr_ops--;
	pending->waiting = false;
	return append(c, life, SCHEDTAPE_OP_EXIT, 0);
}

/* -- compiling ------------------------------------------------------------- */

static const struct schedtape_timeline_ops compiler_ops = {
	.born = on_born,
	.waking = on_waking,
	.woke = on_woke,
	.slept = on_slept,
	.left = on_left,
	.joined = on_joined,
	.identified = on_identified,
	.renamed = on_renamed,
	.exited = on_end,
	.ended = on_end,
};

int schedtape_program_compile(struct schedtape_tape *tape,
			      const struct schedtape_program_options *options,
			      struct schedtape_program **program, struct schedtape_error *err)
{
	const struct schedtape_end *end = schedtape_tape_end(tape);
	struct compiler c = { .start = end->start_time, .options = options };
	struct schedtape_timeline *timeline = NULL;
	int ret;

	c.program = calloc(1, sizeof(*c.program));
	if (!c.program)
		return schedtape_fail(err, -ENOMEM, "out of memory");
	c.program->duration = instant(&c, end->stop_time);
	ret = schedtape_timeline_run(tape, &compiler_ops, &c, &timeline, err);
	schedtape_timeline_free(timeline);
	free(c.pending);
	free(c.slots);
	if (!ret && !c.program->nr_tasks)
		ret = schedtape_fail(err, -ENODATA, "no task on the tape: nothing to replay");
	if (ret) {
		schedtape_program_free(c.program);
		return ret;
	}
	*program = c.program;
	return 0;
}

void schedtape_program_free(struct schedtape_program *program)
{
	uint32_t i;

	if (!program)
		return;
	for (i = 0; i < program->nr_tasks; i++)
		free(program->tasks[i].ops);
	free(program->tasks);
	free(program->edges);
	free(program->names);
	free(program);
}
