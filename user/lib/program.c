// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Compiles a tape.  The timeline tells who slept, woke, forked and exited;
 * each becomes an operation of its task at the CPU time that the task had
 * used.  Two things are known only later than they happen and are filled in
 * then: how a wait ends, and whether a wake-up really woke someone.
 *
 * Whoever is waited for has done it before, by the time of the recording: so
 * programs that are compiled here cannot wait for each other in a circle.
 */
#include "program.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "edges.h"

#define STOP_HERE	1	/* what ends a run behind the last thing of interest */

/**
 * struct part - what a life plays
 * @number: its task in the program, SCHEDTAPE_NONE: it has none
 * @base: CPU time that it had used when its program begins
 * @ticket: of the last waking(), 0: none that counts
 * @op: its place in the waker's program
 * @wait: place of this task's open wait
 * @since: when that began, 0: before the start
 */
struct part {
	uint32_t number;
	uint64_t base;
	uint64_t ticket;
	size_t op;
	size_t wait;
	uint64_t since;
	bool waiting;
};

struct compiler {
	struct schedtape_program *program;
	struct part *parts;		/* by life */
	uint32_t max_parts;
	uint32_t max_tasks;
	struct schedtape_edges edges;	/* between tasks */
	size_t max_names;
	bool *kept;			/* by life, NULL: all */
	uint32_t nr_kept;
	uint64_t start;			/* of what is replayed */
	bool begun;
	const struct schedtape_program_options *options;
};

/* What an operation can hold: two years; more is damage. */
static uint64_t span(uint64_t from, uint64_t to)
{
	const uint64_t most = (1ULL << 56) - 1;

	if (to <= from)
		return 0;
	return to - from < most ? to - from : most;
}

static uint64_t instant(const struct compiler *c, uint64_t time)
{
	return span(c->start, time);
}

static struct part *part_of(struct compiler *c, const struct schedtape_life *life)
{
	return &c->parts[life->index];
}

static bool plays(struct compiler *c, const struct schedtape_life *life)
{
	return life->index < c->max_parts && part_of(c, life)->number != SCHEDTAPE_NONE;
}

static struct schedtape_program_task *task_of(struct compiler *c, const struct schedtape_life *life)
{
	return &c->program->tasks[part_of(c, life)->number];
}

static uint64_t cpu_of(struct compiler *c, const struct schedtape_life *life)
{
	return life->cpu_time - part_of(c, life)->base;
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
		.cpu = cpu_of(c, life), .kind = kind, .value = value,
	};
	return 0;
}

/* -- waits ----------------------------------------------------------------- */

/*
 * A wait ends, until the timeline tells otherwise, at the instant at which it
 * began: a task that does something next could run all the time.
 */
static int open_wait(struct compiler *c, const struct schedtape_life *life, uint64_t time)
{
	struct schedtape_program_task *task = task_of(c, life);
	struct part *part = part_of(c, life);
	int ret;

	/* Asleep since before the start: that is the wait which opened at birth. */
	if (part->waiting && part->wait + 1 == task->nr_ops && !cpu_of(c, life))
		return 0;
	ret = append(c, life, SCHEDTAPE_OP_WAIT_UNTIL, instant(c, time));
	part->wait = task->nr_ops - 1;
	part->waiting = !ret;
	part->since = time;
	return ret;
}

/*
 * Of a wait from before the start, the length is not known.  What a task that was
 * left out did, it did when it did it, whatever the wait was like.
 */
static bool is_length(const struct compiler *c, const struct part *part,
		      const struct schedtape_op *wait, bool left_out)
{
	switch (c->options->external) {
	case SCHEDTAPE_EXTERNAL_RELATIVE:
		return part->since;
	case SCHEDTAPE_EXTERNAL_AUTO:
		return part->since && wait->blocked && !left_out;
	default:
		return false;
	}
}

/* The outside world ends a wait. */
static void end_outside(struct compiler *c, const struct part *part, struct schedtape_op *wait,
			bool left_out, uint64_t time)
{
	if (!is_length(c, part, wait, left_out)) {
		wait->value = instant(c, time);
		c->program->timed++;
		return;
	}
	wait->kind = SCHEDTAPE_OP_WAIT_FOR;
	wait->value = span(part->since, time);
	c->program->lengths++;
}

/*
 * The task does something.  Who sleeps does nothing: where events are lost or the
 * clocks of CPUs differ, it may seem so, and then nobody is to wait for what comes
 * after that.
 */
static void awake(struct compiler *c, const struct schedtape_life *life, uint64_t time)
{
	struct part *part = part_of(c, life);

	/* Who was there from the start may have run all the time. */
	if (part->waiting && part->since)
		end_outside(c, part, &task_of(c, life)->ops[part->wait], false, time);
	part->waiting = false;
}

/* -- who plays ------------------------------------------------------------- */

static int grow_parts(struct compiler *c, uint32_t index)
{
	uint32_t max = c->max_parts ? 2 * c->max_parts : 64;
	struct part *parts;

	while (max <= index)
		max *= 2;
	if (index < c->max_parts)
		return 0;
	parts = realloc(c->parts, max * sizeof(*parts));
	if (!parts)
		return -ENOMEM;
	c->parts = parts;
	for (; c->max_parts < max; c->max_parts++)
		parts[c->max_parts] = (struct part){ .number = SCHEDTAPE_NONE };
	return 0;
}

static int grow_tasks(struct compiler *c)
{
	uint32_t max = c->max_tasks ? 2 * c->max_tasks : 64;
	struct schedtape_program_task *tasks;

	if (c->program->nr_tasks < c->max_tasks)
		return 0;
	tasks = realloc(c->program->tasks, max * sizeof(*tasks));
	if (!tasks)
		return -ENOMEM;
	c->program->tasks = tasks;
	c->max_tasks = max;
	return 0;
}

/* Gives a life a task, unless it is left out. */
static int cast_life(struct compiler *c, const struct schedtape_life *life, const char *name)
{
	struct schedtape_program_task *task;

	if (c->kept && (life->index >= c->nr_kept || !c->kept[life->index]))
		return 0;
	if (grow_tasks(c))
		return -ENOMEM;
	part_of(c, life)->number = c->program->nr_tasks;
	part_of(c, life)->base = life->cpu_time;
	task = &c->program->tasks[c->program->nr_tasks++];
	*task = (struct schedtape_program_task){
		.parent = SCHEDTAPE_NONE,
		.process = life->process,	/* of lives, until set_processes() */
		.pid = life->pid,
		.prio = { life->policy, life->nice, life->rt_priority },
		.prio_known = life->prio_known,
		.source = life->task,
	};
	memcpy(task->name, name, sizeof(task->name));
	return 0;
}

/* The first task of a process leads it, if its leader plays no part. */
static int set_processes(struct compiler *c)
{
	uint32_t *leaders = malloc((c->max_parts + 1) * sizeof(*leaders));
	struct schedtape_program *program = c->program;
	uint32_t i, process;

	if (!leaders)
		return -ENOMEM;
	for (i = 0; i < c->max_parts; i++)
		leaders[i] = c->parts[i].number;
	for (i = 0; i < program->nr_tasks; i++) {
		process = program->tasks[i].process;
		if (leaders[process] == SCHEDTAPE_NONE)
			leaders[process] = i;
		program->tasks[i].process = leaders[process];
	}
	free(leaders);
	return 0;
}

static int list_edges(struct compiler *c)
{
	struct schedtape_program *program = c->program;
	uint32_t i;

	program->edges = malloc((c->edges.nr + 1) * sizeof(*program->edges));
	program->wakers = malloc((c->edges.nr + 1) * sizeof(*program->wakers));
	if (!program->edges || !program->wakers)
		return -ENOMEM;
	program->nr_edges = c->edges.nr;
	for (i = 0; i < c->edges.nr; i++) {
		program->edges[i] = c->edges.edges[i].wakee;
		program->wakers[i] = c->edges.edges[i].waker;
	}
	return 0;
}

/* -- what the timeline tells ----------------------------------------------- */

static int on_born(void *arg, const struct schedtape_life *life,
		   const struct schedtape_life *parent, uint64_t time)
{
	struct compiler *c = arg;
	struct part *part;
	int ret;

	ret = grow_parts(c, life->index);
	if (ret || !c->begun)
		return ret;
	ret = cast_life(c, life, life->first_comm);
	if (ret || !plays(c, life))
		return ret;
	if (parent && plays(c, parent)) {
		awake(c, parent, time);
		task_of(c, life)->parent = part_of(c, parent)->number;
		return append(c, parent, SCHEDTAPE_OP_FORK, part_of(c, life)->number);
	}
	ret = open_wait(c, life, time);
	part = part_of(c, life);
	part->since = 0;
	/* Whoever forked it is left out: it begins when it was forked. */
	part->waiting = !parent;
	c->program->timed += !part->waiting;
	return ret;
}

static int on_waking(void *arg, const struct schedtape_life *waker,
		     const struct schedtape_life *wakee, uint64_t ticket, uint64_t time)
{
	struct compiler *c = arg;
	int ret;

	if (!plays(c, waker) || !plays(c, wakee))
		return 0;
	awake(c, waker, time);
	ret = append(c, waker, SCHEDTAPE_OP_NONE, 0);
	part_of(c, wakee)->ticket = ticket;
	part_of(c, wakee)->op = task_of(c, waker)->nr_ops - 1;
	return ret;
}

static int on_woke(void *arg, const struct schedtape_life *life,
		   const struct schedtape_life *waker, uint64_t ticket, uint64_t time)
{
	struct schedtape_op *wait, *wake;
	struct compiler *c = arg;
	struct part *part;
	uint32_t edge;
	int ret;

	if (!plays(c, life) || !part_of(c, life)->waiting)
		return 0;
	part = part_of(c, life);
	part->waiting = false;
	wait = &task_of(c, life)->ops[part->wait];
	wait->blocked = life->slept_as == STAPE_STATE_BLOCKED ||
			life->slept_as == STAPE_STATE_IDLE;
	if (!waker || !ticket || ticket != part->ticket) {
		end_outside(c, part, wait, waker, time);
		return 0;
	}
	ret = schedtape_edges_number(&c->edges, part_of(c, waker)->number, part->number, &edge);
	if (ret)
		return ret;
	wake = &task_of(c, waker)->ops[part->op];
	wake->kind = SCHEDTAPE_OP_WAKE;
	wake->value = edge;
	wait->kind = SCHEDTAPE_OP_WAIT_EDGE;
	wait->value = edge;
	c->program->wakeups++;
	return 0;
}

static int on_slept(void *arg, const struct schedtape_life *life, uint64_t time)
{
	return plays(arg, life) ? open_wait(arg, life, time) : 0;
}

/* Out of the filter is a wait that the outside world ends. */
static int on_left(void *arg, const struct schedtape_life *life, uint64_t time)
{
	struct compiler *c = arg;

	return plays(c, life) && !part_of(c, life)->waiting ? open_wait(c, life, time) : 0;
}

static int on_joined(void *arg, const struct schedtape_life *life, uint64_t time)
{
	struct compiler *c = arg;
	struct part *part = part_of(c, life);

	if (!plays(c, life))
		return 0;
	if (part->waiting)
		end_outside(c, part, &task_of(c, life)->ops[part->wait], false, time);
	part->waiting = false;
	return 0;
}

/* Threads that were forked on the tape stay with their parents. */
static int on_identified(void *arg, const struct schedtape_life *life, uint64_t time)
{
	const struct schedtape_life *leader = schedtape_life_at(life, life->process);
	struct schedtape_program_task *task;

	(void)time;
	if (!plays(arg, life))
		return 0;
	task = task_of(arg, life);
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
	if (!plays(c, life))
		return 0;
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

static int on_setprio(void *arg, const struct schedtape_life *life, uint64_t time)
{
	const struct schedtape_prio prio = { life->policy, life->nice, life->rt_priority };

	(void)time;
	if (!plays(arg, life))
		return 0;
	return append(arg, life, SCHEDTAPE_OP_SETPRIO, schedtape_prio_pack(&prio));
}

static int on_end(void *arg, const struct schedtape_life *life, uint64_t time)
{
	struct schedtape_program_task *task;
	struct compiler *c = arg;
	struct part *part;

	(void)time;
	if (!plays(c, life))
		return 0;
	task = task_of(c, life);
	part = part_of(c, life);
	/* A wait that outlasts the recording ends it for this task. */
	if (part->waiting && part->wait == task->nr_ops - 1 &&
	    task->ops[part->wait].cpu == cpu_of(c, life))
		task->nr_ops--;
	part->waiting = false;
	return append(c, life, SCHEDTAPE_OP_EXIT, 0);
}

/* The beginning of what is replayed, or its end. */
static int on_marked(void *arg, const struct schedtape_life *life, bool asleep, uint64_t time)
{
	struct compiler *c = arg;
	int ret;

	if (c->begun)
		return on_end(c, life, time);
	ret = cast_life(c, life, life->comm);
	if (ret || !plays(c, life))
		return ret;
	ret = open_wait(c, life, time);
	part_of(c, life)->since = 0;
	part_of(c, life)->waiting = asleep;
	return ret;
}

static int on_reached(void *arg, uint64_t time)
{
	struct compiler *c = arg;

	(void)time;
	if (c->begun)
		return STOP_HERE;
	c->begun = true;
	return 0;
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
	.setprio = on_setprio,
	.exited = on_end,
	.ended = on_end,
	.marked = on_marked,
	.reached = on_reached,
};

/* Whom to keep is decided by all that the tape says of them. */
static int choose(struct compiler *c, struct schedtape_tape *tape, struct schedtape_error *err)
{
	const struct schedtape_program_options *options = c->options;
	struct schedtape_timeline *timeline;
	const struct schedtape_life *lives;
	size_t n, i;
	int ret;

	if (!options->keep)
		return 0;
	ret = schedtape_timeline_run(tape, NULL, NULL, &timeline, err);
	if (ret)
		return ret;
	lives = schedtape_timeline_lives(timeline, &n);
	c->kept = calloc(n + 1, sizeof(*c->kept));
	c->nr_kept = n;
	for (i = 0; i < n && c->kept; i++)
		c->kept[i] = options->keep(options->arg, &lives[i]);
	schedtape_timeline_free(timeline);
	return c->kept ? 0 : schedtape_fail(err, -ENOMEM, "not enough memory");
}

static int compile(struct compiler *c, struct schedtape_tape *tape, struct schedtape_error *err)
{
	const uint64_t marks[] = { c->options->from, c->options->to };
	struct schedtape_timeline_ops ops = compiler_ops;
	struct schedtape_timeline *timeline = NULL;
	int ret;

	ops.marks = marks + c->begun;
	ops.nr_marks = !c->begun + !!c->options->to;
	ret = schedtape_timeline_run(tape, &ops, c, &timeline, err);
	schedtape_timeline_free(timeline);
	if (ret < 0)
		return ret;
	if (!c->program->nr_tasks)
		return schedtape_fail(err, -ENODATA, "no task%s: nothing to replay",
				      c->kept || c->options->from || c->options->to ?
				      " that was chosen is on the tape" : " on the tape");
	return set_processes(c) || list_edges(c) ?
	       schedtape_fail(err, -ENOMEM, "not enough memory") : 0;
}

int schedtape_program_compile(struct schedtape_tape *tape,
			      const struct schedtape_program_options *options,
			      struct schedtape_program **program, struct schedtape_error *err)
{
	const struct schedtape_end *end = schedtape_tape_end(tape);
	uint64_t stop = end->stop_time;
	struct compiler c = {
		.start = end->start_time,
		.begun = options->from <= end->start_time,
		.options = options,
	};
	int ret;

	if (!c.begun)
		c.start = options->from;
	if (options->to && options->to < stop)
		stop = options->to;
	c.program = calloc(1, sizeof(*c.program));
	if (!c.program)
		return schedtape_fail(err, -ENOMEM, "not enough memory");
	c.program->duration = instant(&c, stop);
	ret = choose(&c, tape, err);
	if (!ret)
		ret = compile(&c, tape, err);
	free(c.parts);
	schedtape_edges_free(&c.edges);
	free(c.kept);
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
	free(program->wakers);
	free(program->names);
	free(program);
}
