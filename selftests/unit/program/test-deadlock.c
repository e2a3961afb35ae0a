// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: no program can get stuck.
 */
#include "programs.h"

/* Marks a task as started, and its threads from the start. */
static void begin(uint32_t number, bool *forked)
{
	uint32_t i;

	forked[number] = true;
	for (i = program->tasks[number].threads; i != SCHEDTAPE_NONE;
	     i = program->tasks[i].sibling)
		forked[i] = true;
}

/*
 * Advances one task as far as possible; @pending: wake-ups by edge; @turns: by number, players that
 * have ended.  Returns whether it advanced.
 */
static bool go_on(uint32_t number, const struct schedtape_op **at, bool *forked,
		  unsigned int *pending, unsigned int *turns)
{
	const struct schedtape_program_task *task = &program->tasks[number];
	const struct schedtape_op *before = at[number], *op;

	for (; forked[number] && at[number] && turns[task->player] == task->turn;
	     at[number] = schedtape_program_next(program, at[number])) {
		op = at[number];
		if (op->kind == SCHEDTAPE_OP_WAIT_EDGE && !pending[(uint32_t)op->value])
			break;
		if (op->kind == SCHEDTAPE_OP_WAIT_EDGE)
			pending[(uint32_t)op->value]--;
		else if (op->kind == SCHEDTAPE_OP_WAKE)
			pending[op->value]++;
		else if (op->kind == SCHEDTAPE_OP_FORK)
			begin(op->value, forked);
		else if (op->kind == SCHEDTAPE_OP_EXIT)
			turns[task->player]++;
	}
	return at[number] != before;
}

/* Tests that every task reaches its end, and that every wait takes its wake-up. */
static bool ends(void)
{
	unsigned int *pending = calloc(program->nr_edges + 1, sizeof(*pending));
	unsigned int *turns = calloc(program->nr_players, sizeof(*turns));
	bool *forked = calloc(program->nr_tasks, sizeof(*forked)), moved, all = true;
	const struct schedtape_op **at = calloc(program->nr_tasks, sizeof(*at));
	uint32_t i;

	if (!pending || !turns || !forked || !at)
		abort();
	for (i = 0; i < program->nr_tasks; i++)
		at[i] = schedtape_program_begin(program, i);
	for (i = 0; i < program->nr_roots; i++)
		begin(program->roots[i], forked);
	do {
		moved = false;
		for (i = program->nr_tasks; i-- > 0; )
			moved |= go_on(i, at, forked, pending, turns);
	} while (moved);
	for (i = 0; i < program->nr_tasks; i++)
		all &= !at[i];
	for (i = 0; i < program->nr_edges; i++)
		all &= !pending[i];
	free(pending);
	free(turns);
	free(forked);
	free(at);
	return all;
}

/* Returns when a task of the program ended in the recording; 0: not found. */
static uint64_t end_of(const struct schedtape_program_task *ptask)
{
	const struct schedtape_task *tasks;
	size_t n, i;

	tasks = schedtape_timeline_tasks(tl, &n);
	for (i = 0; i < n; i++)
		if (tasks[i].pid == ptask->pid && tasks[i].start == ptask->born)
			return tasks[i].end;
	return 0;
}

/* Stores by task when the controller starts its process, ns after the start. */
static void start_roots(uint64_t *starts)
{
	uint64_t latest = 0;
	uint32_t i, root;

	for (i = 0; i < program->nr_roots; i++) {
		root = program->roots[i];
		starts[root] = 0;
		if (!program->tasks[root].due)
			continue;
		if (latest > SCHEDTAPE_AHEAD_NS)
			starts[root] = latest - SCHEDTAPE_AHEAD_NS;
		if (schedtape_program_begin(program, root)->kind == SCHEDTAPE_OP_WAIT_UNTIL)
			latest = program->tasks[root].due;
	}
}

/* Returns the number of players that are started before their number is free; @from: time 0. */
static unsigned int count_early(uint64_t from)
{
	uint64_t *starts = calloc(program->nr_tasks, sizeof(*starts));
	uint32_t *before = calloc(program->nr_tasks, sizeof(*before));
	const struct schedtape_program_task *task;
	unsigned int n = 0, i;

	if (!starts || !before)
		abort();
	start_roots(starts);
	for (i = 0; i < program->nr_tasks; i++)
		if (program->tasks[i].successor != SCHEDTAPE_NONE)
			before[program->tasks[i].successor] = i;
	for (i = 0; i < program->nr_tasks; i++) {
		task = &program->tasks[i];
		n += task->turn && task->parent == SCHEDTAPE_NONE &&
		     from + starts[i] < end_of(&program->tasks[before[i]]);
	}
	free(starts);
	free(before);
	return n;
}

/*
 * Random events: wake-ups of any task by any task, forks, sleeps, losses, late descriptions, within
 * up to 8000 @units.
 */
static void random_tape(unsigned int seed, unsigned int unit)
{
	uint32_t last = 6, cpu, pid;
	uint64_t t = 0;
	int i;

	fake_begin(0, 100000ull * unit);
	srandom(seed);
	for (i = 0; i < 400; i++) {
		cpu = random() % 3;
		pid = 1 + random() % last;
		t += random() % 20 * unit;
		switch (random() % 13) {
		case 12:
			if (random() % 2)
				pid = ++last;
			fake_describe(tape, t, cpu, pid, random() % 2 ? STAPE_TASK_EXITS :
				      STAPE_TASK_ENTERS, "late", 0)->tgid = 1 + random() % last;
			break;
		case 0:
			fake_fork(tape, t, cpu, ++last, random() % 2);
			break;
		case 1:
			fake_loss(tape, t, t + 5, cpu, 3, pid);
			break;
		case 2 ... 6:
			fake_wake(tape, t, cpu, pid, random() % 3 ? STAPE_CTX_TASK :
				  STAPE_CTX_HARDIRQ);
			break;
		default:
			fake_switch(tape, t, cpu, random() % 8 ? random() % 3 : STAPE_STATE_DEAD,
				    random() % 4 ? pid : 0);
		}
	}
}

static bool keep_odd(void *arg, const struct schedtape_task *task)
{
	(void)arg;
	return task->pid % 2;
}

TEST(no_deadlock)
{
	static const struct schedtape_program_options options[] = {
		{ 0 }, { .external = SCHEDTAPE_EXTERNAL_RELATIVE }, { .keep = keep_odd },
		{ .from = 1000, .to = 2500 }, { .from = 2000, .keep = keep_odd },
		{ .hasty = true }, { .hasty = true, .keep = keep_odd },
		{ .hasty = true, .from = 500 },
	};
	unsigned int seed, unit, stuck = 0, wakeups = 0, again = 0, early = 0;
	struct schedtape_program_options some;
	size_t i;

	for (seed = 0; seed < 500; seed++) {
		/* Long ones, too, on which numbers rest before tasks without parent are due. */
		unit = seed % 2 ? 1 : 10000000;
		random_tape(seed, unit);
		tl = fake_run(tape);
		for (i = 0; i < sizeof(options) / sizeof(*options); i++) {
			some = options[i];
			some.from *= unit;
			some.to *= unit;
			compile_as(&some);
			stuck += !program || !ends();
			wakeups += program ? program->wakeups : 0;
			again += program ? program->nr_tasks - program->nr_players : 0;
			early += program ? count_early(some.from) : 0;
		}
	}
	ok(!stuck, "no program can get stuck, whatever is on its tape");
	ok(wakeups > 10000, "%u wake-ups among them", wakeups);
	ok(!early, "no player exists long before it gets its number");
	ok(again > 1000, "%u tasks have a number that was another task's", again);
}

TEST_MAIN
