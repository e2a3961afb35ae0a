// SPDX-License-Identifier: GPL-2.0-only
/*
 * schedtape diff: parts of the errors of CPU time in a replay, from the costs on its tape.
 *
 * A player burns CPU time until it has used as much as its task had before the next operation, and
 * the operation then costs CPU time of the kernel.  The player burns less for that, as far as the
 * task's bursts are long enough.  The rest of the costs stays in the error.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include <program/program.h>

#include "common/output.h"
#include "diff/internal.h"
#include "player/step.h"
#include "tape/meta.h"
#include "tape/part.h"

/* More is an error of the tape, ns. */
#define MOST_COST	1e8
#define MOST_STALL	(1ULL << 46)

/**
 * struct excess - CPU time that a player has used beyond that of its task, ns
 * @steps, @forks: what it comes from
 * @spared: how much less it has used, for costs to come, if these are 0
 * @cpu: CPU time of the task by then, ns
 */
struct excess {
	double steps, forks, spared;
	uint64_t cpu;
};

/* -- what is expected of a task -------------------------------------------- */

static double number(struct json_object *object, const char *key)
{
	double value = json_object_get_double(json_object_object_get(object, key));

	return value > 0 && value < MOST_COST ? value : 0;
}

/* Reads replay_costs of a tape's META. */
static bool read_costs(struct schedtape_tape *tape, struct schedtape_costs *costs)
{
	struct json_object *object = json_object_object_get(tape_meta(tape), "replay_costs");

	if (!json_object_is_type(object, json_type_object))
		return false;
	*costs = (struct schedtape_costs){
		number(object, "step"), number(object, "fork"), number(object, "exit"),
		number(object, "spawn"), number(object, "leave"),
	};
	return costs->step && costs->fork && costs->exit && costs->spawn && costs->leave;
}

/*
 * Lets a player burn until its task's next operation.  It stops earlier by @spare, and does not
 * burn if it has used as much already.
 */
static void pass(struct excess *excess, const struct schedtape_op *op, double spare)
{
	double sum = excess->steps + excess->forks - excess->spared;
	double left = sum - (op->cpu - excess->cpu);

	excess->cpu = op->cpu;
	if (left < -spare)
		left = -spare;
	excess->spared = left < 0 ? -left : 0;
	excess->steps *= left > 0 ? left / sum : 0;
	excess->forks *= left > 0 ? left / sum : 0;
}

/* Adds the costs of an operation, as far as nothing was spared for them. */
static void add_cost(struct excess *excess, double steps, double forks)
{
	double sum = steps + forks, used = sum < excess->spared ? sum : excess->spared;

	excess->spared -= used;
	if (sum == used)
		return;
	excess->steps += steps * (sum - used) / sum;
	excess->forks += forks * (sum - used) / sum;
}

/**
 * struct played - a task and what its player's operations cost
 * @end: cost of the task's end, without its last step
 * @number: of the task
 * @fold_step: cost of a step by which its player folds operations
 */
struct played {
	struct schedtape_costs costs;
	const struct schedtape_program *program;
	double end;
	uint32_t number;
	double fold_step;
};

/*
 * Returns what the player does not burn before an operation, as spare_for() in player.c.
 * *@costly: of player_costs_soon()
 */
static double spare_for(const struct played *played, const struct schedtape_op *first,
			const struct schedtape_op **costly)
{
	const double step = played->costs.step, most = player_spare_most(&played->costs, step);

	if (!player_costs_soon(played->program, costly, first, most, 1))
		return 0;
	return player_spare(played->program, &played->costs, first, played->end + step, 1);
}

/* Returns how much more CPU time the player of a task is expected to have used at its end. */
static struct excess find_excess(const struct played *played)
{
	const struct schedtape_program *program = played->program;
	const struct schedtape_op *op = schedtape_program_begin(program, played->number);
	const struct schedtape_op *costly = op;
	const double step_cost = played->costs.step;
	uint32_t wakes[STAPE_STEP_MAX_WAKES];
	struct excess excess = { 0 };
	struct player_step step;
	uint64_t began = 0;

	while (op) {
		if (op->kind == SCHEDTAPE_OP_NONE) {
			op = schedtape_program_next(program, op);
			continue;
		}
		pass(&excess, op, spare_for(played, op, &costly));
		if (op->kind != SCHEDTAPE_OP_WAKE && player_wait(op) == STAPE_WAIT_NONE) {
			add_cost(&excess, 0, player_cost(program, &played->costs, op, 0));
			op = schedtape_program_next(program, op);
			continue;
		}
		step = player_find_step(program, op, began, played->fold_step, wakes);
		if (step.wait)
			began = step.wait->cpu;
		add_cost(&excess, step_cost, step.next ? 0 : played->end);
		op = step.next;
	}
	return excess;
}

/* -- what players have told ------------------------------------------------ */

/**
 * struct told - what a player has told, an entry of "players" in B's END
 * @start, @pid: of its task in A
 * @step: what a step of it costs, 0: not known
 * @stalled: CPU time in which it did not get on, ns
 * @used: its CPU time before its last step, ns; 0: not known
 */
struct told {
	uint64_t start;
	uint32_t pid;
	double step;
	int64_t stalled;
	int64_t used;
};

struct all_told {
	struct told *list;
	size_t n;
};

static int compare(const void *left, const void *right)
{
	const struct told *a = left, *b = right;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return a->pid < b->pid ? -1 : a->pid > b->pid;
}

static uint64_t whole(struct json_object *object, const char *key)
{
	return json_object_get_uint64(json_object_object_get(object, key));
}

/* @array: NULL: none has told anything.  Returns 0 or -ENOMEM. */
static int read_told(struct json_object *array, struct all_told *all)
{
	struct json_object *object;
	size_t i;

	*all = (struct all_told){ .n = array ? json_object_array_length(array) : 0 };
	all->list = calloc(all->n + 1, sizeof(*all->list));
	if (!all->list)
		return -ENOMEM;
	for (i = 0; i < all->n; i++) {
		object = json_object_array_get_idx(array, i);
		all->list[i] = (struct told){
			.start = whole(object, "task_start"),
			.pid = whole(object, "task_pid"),
			.step = number(object, "step"),
			.stalled = whole(object, "stalled") % MOST_STALL,
			.used = whole(object, "used") % MOST_STALL,
		};
	}
	if (all->n)
		qsort(all->list, all->n, sizeof(*all->list), compare);
	return 0;
}

static const struct told *told_of(const struct all_told *all,
				  const struct schedtape_program_task *task)
{
	static const struct told nothing;
	const struct told key = { .start = task->born, .pid = task->pid }, *found = NULL;

	if (all->n)
		found = bsearch(&key, all->list, all->n, sizeof(key), compare);
	return found ? found : &nothing;
}

/* -- all tasks ------------------------------------------------------------- */

/* Returns by task whether it leads a process with threads, NULL: no memory. */
static bool *find_threaded(const struct schedtape_program *program)
{
	bool *threaded = calloc(program->nr_tasks, sizeof(*threaded));
	uint32_t i;

	for (i = 0; threaded && i < program->nr_tasks; i++)
		if (program->tasks[i].process != i)
			threaded[program->tasks[i].process] = true;
	return threaded;
}

/* Adds the parts of a task that is matched. */
static void add_parts(struct diff *diff, size_t pair, const struct excess *excess, int64_t stalls)
{
	const struct schedtape_task *a = diff_a(diff, &diff->pairs[pair]);
	const struct schedtape_task *b = diff_b(diff, &diff->pairs[pair]);
	struct diff_parts *parts = &diff->parts[pair], *total = &diff->total_parts;

	parts->error = b->cpu_time - a->cpu_time;
	parts->steps = llround(excess->steps);
	parts->forks = llround(excess->forks);
	parts->stalls = stalls;
	parts->rest = parts->error - parts->steps - parts->forks - parts->stalls;
	total->error += parts->error;
	total->steps += parts->steps;
	total->forks += parts->forks;
	total->stalls += parts->stalls;
	total->rest += parts->rest;
}

/*
 * Keeps the tasks that are matched, because only steps and forks for these cost their players
 * anything.  Matched pairs come first, in the order of A's tasks.
 */
static bool is_matched(void *arg, const struct schedtape_task *task)
{
	const struct diff *diff = arg;
	size_t first = 0, last = diff->distance->matched, middle;

	while (first < last) {
		middle = first + (last - first) / 2;
		if (diff->pairs[middle].a < task->index)
			first = middle + 1;
		else
			last = middle;
	}
	return first < diff->distance->matched && diff->pairs[first].a == task->index;
}

/*
 * Returns for how long a player was stalled in its last step, which comes after its report.
 * @cpu: CPU time of the task in B; @cost: of the step and the end, which may be three times as high
 */
static int64_t last_stall(const struct told *told, int64_t cpu, double cost)
{
	double more = cpu - told->used - cost;

	return told->used && more > 2 * cost ? llround(more) : 0;
}

/* The program has the tasks of matched pairs, in their order. */
static void find_parts(struct diff *diff, const struct schedtape_costs *costs,
		       const struct schedtape_program *program, const bool *threaded,
		       const struct all_told *all)
{
	uint32_t i;

	for (i = 0; i < diff->distance->matched && i < program->nr_tasks; i++) {
		const struct schedtape_program_task *task = &program->tasks[i];
		const struct schedtape_task *b = diff_b(diff, &diff->pairs[i]);
		const struct told *told = told_of(all, task);
		/* The module keeps the memory of a process with threads. */
		bool shares = task->brief || threaded[task->process];
		struct played played = {
			*costs, program, player_end_cost(costs, shares, true), i, costs->step,
		};
		struct excess excess;
		int64_t last;

		if (told->step)
			played.costs.step = told->step;
		excess = find_excess(&played);
		last = last_stall(told, b->cpu_time, played.costs.step + played.end);
		add_parts(diff, i, &excess, told->stalled + last);
	}
}

/* Returns true if B's first player plays a task of A. */
static bool is_replay(const struct diff *diff)
{
	const struct schedtape_player *players;
	size_t n, i;

	players = schedtape_tape_players(diff->b.tape, &n);
	for (i = 0; n && i < diff->a.nr_tasks; i++)
		if (diff->a.tasks[i].pid == players->task_pid &&
		    diff->a.tasks[i].start == players->task_start)
			return true;
	return false;
}

/* Returns why the parts cannot be known, or NULL. */
static const char *find_obstacle(const struct diff *diff, struct schedtape_costs *costs)
{
	if (!read_costs(diff->b.tape, costs))
		return "B has no costs of steps, forks and exits";
	if (!is_replay(diff))
		return "B is not a replay of A";
	if (tape_replay_rate(diff->b.tape) != 1)
		return "B had to use another CPU time than A";
	return NULL;
}

int diff_find_parts(struct diff *diff)
{
	const struct schedtape_program_options options = {
		.kthreads = true, .keep = is_matched, .arg = diff,
	};
	struct schedtape_program *program = NULL;
	struct schedtape_error err = { "not enough memory" };
	struct all_told all = { NULL };
	bool *threaded = NULL;
	struct schedtape_costs costs;
	int ret;

	/* Two recordings are compared. */
	if (!json_object_object_get_ex(tape_meta(diff->b.tape), "replay_of", NULL))
		return 0;
	diff->no_parts = find_obstacle(diff, &costs);
	if (diff->no_parts)
		return 0;
	diff->stalls_known = tape_end_players(diff->b.tape);
	ret = read_told(tape_end_players(diff->b.tape), &all);
	if (!ret)
		ret = schedtape_program_compile(diff->a.tape, &options, &program, &err);
	if (!ret) {
		threaded = find_threaded(program);
		diff->parts = calloc(diff->nr_pairs + 1, sizeof(*diff->parts));
		ret = threaded && diff->parts ? 0 : -ENOMEM;
	}
	if (ret)
		out_error(NULL, "%s", err.text);
	else
		find_parts(diff, &costs, program, threaded, &all);
	free(all.list);
	free(threaded);
	schedtape_program_free(program);
	return ret;
}

/* -- output ---------------------------------------------------------------- */

static void print_part(struct table *table, int64_t ns)
{
	table_cell(table, "%.6f", ns / 1e6);
}

static void print_row(struct table *table, const struct diff *diff, const char *name,
		      const struct diff_parts *parts)
{
	table_cell(table, "%s", name);
	print_part(table, parts->error);
	print_part(table, parts->steps);
	print_part(table, parts->forks);
	if (diff->stalls_known)
		print_part(table, parts->stalls);
	else
		table_cell(table, "-");
	print_part(table, parts->rest);
}

void diff_parts_print(const struct diff *diff)
{
	static const struct table_column columns[] = {
		{ "task", "task", TABLE_TEXT | TABLE_NEEDED },
		{ "error", "CPU error\nms", TABLE_NEEDED },
		{ "steps", "=\nsteps", TABLE_NEEDED },
		{ "forks", "+ forks\nand exits", TABLE_NEEDED },
		{ "stalls", "+\nstalls", TABLE_NEEDED },
		{ "rest", "+\nrest", TABLE_NEEDED },
		{ 0 }
	};
	char name[TEXT_TASK_LEN];
	struct table table;
	size_t i;

	if (diff->no_parts)
		printf("\nparts of the CPU error: not known: %s\n", diff->no_parts);
	if (!diff->parts)
		return;
	putchar('\n');
	table_begin(&table, columns, NULL);
	while (table_pass(&table)) {
		for (i = 0; i < diff->distance->matched && out_works(); i++) {
			const struct schedtape_task *a = diff_a(diff, &diff->pairs[i]);

			print_row(&table, diff, text_task(name, a->comm, a->pid), &diff->parts[i]);
		}
		table_rule(&table);
		print_row(&table, diff, "TOTAL", &diff->total_parts);
	}
}

/*
 * JSON tasks[].cpu_error_parts, verdict.cpu_error_parts of diff:
 * @error_ns: CPU time in B minus that in A: the sum of the other members.
 * @steps_ns: Costs of steps that the bursts could not make up for.
 * @forks_ns: The same of forks and exits.
 * @stalls_ns: CPU time in which the player did not get on, or null: not known.
 * @rest_ns: What is left.
 */
struct json_object *diff_parts_json(const struct diff *diff, const struct diff_parts *parts)
{
	struct json_object *object;

	if (!parts)
		return NULL;
	object = json_object_new_object();
	json_object_object_add(object, "error_ns", json_object_new_int64(parts->error));
	json_object_object_add(object, "steps_ns", json_object_new_int64(parts->steps));
	json_object_object_add(object, "forks_ns", json_object_new_int64(parts->forks));
	json_object_object_add(object, "stalls_ns", diff->stalls_known ?
			       json_object_new_int64(parts->stalls) : NULL);
	json_object_object_add(object, "rest_ns", json_object_new_int64(parts->rest));
	return object;
}
