// SPDX-License-Identifier: GPL-2.0-only
/*
 * What happens in a recording, and in replays of its parts.
 *
 * At the start of a replay, each player whose task was runnable then is woken.  At the end each
 * player exits, and players of runnable tasks come off their CPUs once more for that.  Nothing of
 * this happened in the recording, so it is left out.
 */
#include "estimate/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "base/list.h"
#include "common/input.h"
#include "compare/players.h"
#include "player/step.h"
#include "tape/json.h"
#include "tape/meta.h"

/**
 * enum edge - what a task does at the edges of a part
 * @RUNNABLE_FIRST, @RUNNABLE_LAST: it runs, or waits for a CPU, at the begin, or at the end
 * @ASLEEP: it sleeps from the begin to the end
 * @EXISTS_LAST: it exists at the end
 * @SEEN: what it does at the begin is known
 */
enum edge {
	RUNNABLE_FIRST	= 1 << 0,
	RUNNABLE_LAST	= 1 << 1,
	ASLEEP		= 1 << 2,
	EXISTS_LAST	= 1 << 3,
	SEEN		= 1 << 4,
};

void measure_free(struct measure *measure)
{
	schedtape_histogram_free(&measure->latencies);
}

/* -- the run --------------------------------------------------------------- */

static uint64_t part_of(uint64_t begin, uint64_t end, uint64_t from, uint64_t to)
{
	begin = begin > from ? begin : from;
	end = end < to ? end : to;
	return end > begin ? end - begin : 0;
}

/* Takes what a run of a task adds to the time between @from and @to. */
static int take_run(struct measure *measure, const struct schedtape_run *run, uint64_t from,
		    uint64_t to)
{
	measure->cpu_time += part_of(run->begin, run->end, from, to);
	if (run->state != SCHEDTAPE_NONE && run->end >= from && run->end < to)
		measure->switches++;
	if (!run->woke || run->begin < from || run->begin >= to)
		return 0;
	return schedtape_histogram_add(&measure->latencies, run->begin - run->woke);
}

/* Returns what is known of a task in a part.  NULL: no memory. */
static struct in_part *task_in(struct part *part, const struct schedtape_task *task)
{
	struct in_part *tasks = schedtape_list_reach(part->tasks, task->index, &part->room_tasks,
						     sizeof(*tasks));

	part->tasks = tasks ? tasks : part->tasks;
	return tasks ? &tasks[task->index] : NULL;
}

static bool forked_in(const struct part *part, const struct schedtape_task *task)
{
	return !task->from_start && !task->joined && task->start > part->played.from &&
	       task->start < part->played.to;
}

/* Notes that a task ran.  Of some tasks this is the first that the tape shows. */
static int note_run(struct part *part, const struct schedtape_task *task,
		    const struct schedtape_run *run, uint64_t stop)
{
	struct in_part *in;

	if (run->begin >= part->played.to || run->end <= part->played.from)
		return 0;
	in = task_in(part, task);
	if (!in)
		return -ENOMEM;
	in->cpu_time += part_of(run->begin, run->end, part->played.from, part->played.to);
	if (!(in->edges & SEEN))
		in->edges |= SEEN | (forked_in(part, task) ? 0 : RUNNABLE_FIRST);
	/* If this run is the first that the tape shows of the task, there was no mark for it. */
	if (run->end > part->played.to)
		in->edges |= RUNNABLE_LAST | EXISTS_LAST;
	if (run->state == SCHEDTAPE_NONE && run->end >= stop && part->played.to >= stop)
		in->edges |= RUNNABLE_LAST;
	return 0;
}

static int on_ran(void *arg, const struct schedtape_task *task, const struct schedtape_run *ran)
{
	struct run *run = arg;
	const uint64_t stop = schedtape_tape_end(run->sample.tape)->stop_time;
	size_t i;
	int rc = 0;

	for (i = 0; i < run->nr_parts && !rc; i++)
		rc = note_run(&run->parts[i], task, ran, stop);
	return rc ? rc : take_run(&run->measure, ran, run->start, run->stop);
}

static int on_marked(void *arg, const struct schedtape_task *task, bool asleep, uint64_t time)
{
	struct run *run = arg;
	struct in_part *in;
	struct part *part;

	for (part = run->parts; part < run->parts + run->nr_parts; part++) {
		if (part->played.from != time && part->played.to != time)
			continue;
		in = task_in(part, task);
		if (!in)
			return -ENOMEM;
		if (part->played.from == time)
			in->edges |= SEEN | (asleep ? ASLEEP : RUNNABLE_FIRST);
		else
			in->edges |= EXISTS_LAST | (asleep ? 0 : RUNNABLE_LAST);
	}
	return 0;
}

/* There is no mark at the end of the tape: this stands for it. */
static int on_ended(void *arg, const struct schedtape_task *task, uint64_t time)
{
	struct run *run = arg;
	struct in_part *in;
	struct part *part;

	(void)time;
	for (part = run->parts; part < run->parts + run->nr_parts; part++) {
		if (part->played.to < schedtape_tape_end(run->sample.tape)->stop_time)
			continue;
		in = task_in(part, task);
		if (!in)
			return -ENOMEM;
		in->edges |= EXISTS_LAST;
	}
	return 0;
}

static int on_woke(void *arg, const struct schedtape_task *task,
		   const struct schedtape_task *waker, uint64_t ticket, uint64_t time)
{
	struct run *run = arg;
	struct in_part *in;
	struct part *part;

	(void)waker;
	(void)ticket;
	for (part = run->parts; part < run->parts + run->nr_parts; part++) {
		if (time < part->played.from || time >= part->played.to)
			continue;
		in = task_in(part, task);
		if (!in)
			return -ENOMEM;
		in->edges = (in->edges | SEEN) & ~ASLEEP;
	}
	return 0;
}

static int compare_times(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;

	return *a < *b ? -1 : *a > *b;
}

/* Lists the edges of all parts, each time once.  Returns how many there are. */
static size_t list_marks(const struct run *run, uint64_t *marks)
{
	size_t i, n = 0, all = 0;

	for (i = 0; i < run->nr_parts; i++) {
		/* Nothing is added to a restored interval. */
		if (run->parts[i].played.interval)
			continue;
		marks[all++] = run->parts[i].played.from;
		marks[all++] = run->parts[i].played.to;
	}
	qsort(marks, all, sizeof(*marks), compare_times);
	for (i = 0; i < all; i++)
		if (!n || marks[i] != marks[n - 1])
			marks[n++] = marks[i];
	return n;
}

/* Returns for how long the recording was paused between @from and @to. */
static uint64_t paused(const struct schedtape_timeline *timeline, uint64_t from, uint64_t to)
{
	const struct schedtape_range *pauses;
	uint64_t time = 0;
	size_t i, n;

	pauses = schedtape_timeline_pauses(timeline, &n);
	for (i = 0; i < n; i++)
		time += part_of(pauses[i].first, pauses[i].last, from, to);
	return time;
}

int measure_run(struct run *run, struct schedtape_error *err)
{
	struct schedtape_timeline_ops ops = {
		.size = sizeof(ops),
		.no_edges = true,
		.woke = on_woke,
		.ended = on_ended,
		.marked = on_marked,
		.ran = on_ran,
	};
	uint64_t *marks = calloc(2 * run->nr_parts + 1, sizeof(*marks));
	struct schedtape_timeline *timeline = NULL;
	int rc;

	if (!marks)
		return -ENOMEM;
	ops.marks = marks;
	ops.nr_marks = list_marks(run, marks);
	rc = schedtape_timeline_run(run->sample.tape, &ops, run, &timeline, err);
	if (!rc)
		run->measure.time = run->stop - run->start -
				    paused(timeline, run->start, run->stop);
	run->lost = cmd_count_lost(schedtape_tape_end(run->sample.tape)) > 0;
	schedtape_timeline_free(timeline);
	free(marks);
	return rc;
}

/* -- replays of parts ------------------------------------------------------ */

/**
 * struct reading - the tape of a part while it is read
 * @firsts: by player: how long it waited after its first wake-up, plus 1; 0: it has none yet
 * @first, @last: when its first run began and its last one ended
 */
struct reading {
	struct measure *measure;
	uint64_t *firsts;
	size_t room;
	uint64_t first;
	uint64_t last;
};

static int on_player_ran(void *arg, const struct schedtape_task *task,
			 const struct schedtape_run *run)
{
	struct schedtape_run rest = *run;
	struct reading *reading = arg;
	uint64_t *firsts;

	firsts = schedtape_list_reach(reading->firsts, task->index, &reading->room,
				      sizeof(*firsts));
	if (!firsts)
		return -ENOMEM;
	reading->firsts = firsts;
	if (run->woke && !firsts[task->index]) {
		firsts[task->index] = run->begin - run->woke + 1;
		rest.woke = 0;
	}
	if (!reading->first || run->begin < reading->first)
		reading->first = run->begin;
	if (run->end > reading->last)
		reading->last = run->end;
	return take_run(reading->measure, &rest, 0, UINT64_MAX);
}

/* Returns a number of "replay_costs": what an operation of a player costs, ns. */
static uint64_t cost(struct part *part, const char *key)
{
	struct json_object *costs;
	uint64_t ns = 0;

	if (json_object_object_get_ex(tape_meta(part->sample.tape), "replay_costs", &costs))
		tape_json_number(costs, key, &ns);
	return ns;
}

/*
 * Returns how much more CPU time the exits of players at the end of the part cost than their tasks
 * have used.  Up to that time, a player burns less instead.  @of: by player: its task
 */
static uint64_t sum_exits(struct part *part, const struct in_part *of, const bool *threaded,
			  const struct schedtape_task *players, size_t n)
{
	const struct schedtape_costs costs = {
		.exit = cost(part, "exit"), .leave = cost(part, "leave"),
	};
	uint64_t sum = 0, end;
	size_t i;

	for (i = 0; i < n; i++) {
		if (!(of[i].edges & EXISTS_LAST))
			continue;
		/* The module keeps the memory of a process with threads. */
		end = player_end_cost(&costs, players[i].thread || threaded[i], true);
		if (end > of[i].cpu_time)
			sum += end - of[i].cpu_time;
	}
	return sum;
}

/* Takes off what the start and the end of the replay have added.  @of: by player: its task */
static int take_off_edges(struct part *part, struct reading *reading, const struct in_part *of,
			  const struct schedtape_task *players, size_t n)
{
	bool *threaded = calloc(n + 1, sizeof(*threaded));
	struct measure *measure = &part->measure;
	uint64_t exits;
	size_t i;
	int rc = 0;

	if (!threaded)
		return -ENOMEM;
	for (i = 0; i < n; i++)
		if (players[i].thread)
			threaded[players[i].process] = true;
	for (i = 0; i < n && i < reading->room && !rc; i++) {
		measure->switches -= !!(of[i].edges & RUNNABLE_LAST) + !!(of[i].edges & ASLEEP);
		if (reading->firsts[i] && !(of[i].edges & (RUNNABLE_FIRST | ASLEEP)))
			rc = schedtape_histogram_add(&measure->latencies,
						     reading->firsts[i] - 1);
	}
	exits = sum_exits(part, of, threaded, players, n);
	measure->cpu_time -= exits;
	measure->time = reading->last - reading->first -
			(double)exits / cmd_count_cpus(schedtape_tape_end(part->sample.tape));
	if (measure->time < part->played.to - part->played.from)
		measure->time = part->played.to - part->played.from;
	free(threaded);
	return rc;
}

/**
 * struct forks - the children of the run's tasks, by index of the task
 * @player: its player, or SCHEDTAPE_NONE
 * @child: its first child that is not paired yet, or SCHEDTAPE_NONE
 * @next: the next child of its parent
 */
struct forks {
	uint32_t *player;
	uint32_t *child;
	uint32_t *next;
};

/* Lists the children of the run's tasks that were forked in the part, in order. */
static void list_forks(const struct part *part, const struct match_side *run,
		       const struct forks *forks)
{
	const struct schedtape_task *task;
	uint32_t i;

	memset(forks->child, 0xff, run->nr * sizeof(*forks->child));
	for (i = run->nr; i--;) {
		task = &run->tasks[i];
		if (task->parent == SCHEDTAPE_NONE || forks->player[i] != SCHEDTAPE_NONE ||
		    !forked_in(part, task))
			continue;
		forks->next[i] = forks->child[task->parent];
		forks->child[task->parent] = i;
	}
}

/* Pairs the n-th fork of a player with the n-th fork of its task.  @task: by player: its task */
static void pair_forks(const struct match_side *players, const struct forks *forks, uint32_t *task)
{
	uint32_t i, parent;

	for (i = 0; i < players->nr; i++) {
		parent = players->tasks[i].parent;
		if (task[i] != SCHEDTAPE_NONE || parent == SCHEDTAPE_NONE ||
		    task[parent] == SCHEDTAPE_NONE)
			continue;
		task[i] = forks->child[task[parent]];
		if (task[i] != SCHEDTAPE_NONE)
			forks->child[task[parent]] = forks->next[task[i]];
	}
}

/*
 * Finds the task that each player plays: the tape lists only the players that exist at the start,
 * or that the controller starts, but not those that players fork.
 */
static int find_played(const struct part *part, const struct match_side *run,
		       const struct match_side *players, struct in_part *of)
{
	uint32_t *room = calloc(3 * (size_t)run->nr + players->nr + 1, sizeof(*room)), i;
	const struct forks forks = { room, room + run->nr, room + 2 * (size_t)run->nr };
	uint32_t *task = room + 3 * (size_t)run->nr;
	int rc = room ? schedtape_players_pair(run, players, forks.player) : -ENOMEM;

	if (!rc) {
		memset(task, 0xff, players->nr * sizeof(*task));
		for (i = 0; i < run->nr; i++)
			if (forks.player[i] != SCHEDTAPE_NONE)
				task[forks.player[i]] = i;
		list_forks(part, run, &forks);
		pair_forks(players, &forks, task);
	}
	for (i = 0; i < players->nr && !rc; i++)
		if (task[i] < part->room_tasks)
			of[i] = part->tasks[task[i]];
	free(room);
	return rc;
}

static int take_off(struct part *part, struct reading *reading,
		    const struct schedtape_timeline *timeline,
		    const struct schedtape_timeline *of_run)
{
	struct match_side run = { .nr = 0 }, players = { .nr = 0 };
	struct in_part *of;
	size_t n;
	int rc;

	run.tasks = schedtape_timeline_tasks(of_run, &n);
	run.nr = n;
	players.tasks = schedtape_timeline_tasks(timeline, &n);
	players.nr = n;
	players.players = schedtape_tape_players(part->sample.tape, &players.nr_players);
	of = calloc(n + 1, sizeof(*of));
	rc = of ? find_played(part, &run, &players, of) : -ENOMEM;
	if (!rc)
		rc = take_off_edges(part, reading, of, players.tasks, n);
	free(of);
	return rc;
}

/* A restored workload is recorded from its first step to the end of the interval. */
static int take_restored(struct part *part, struct reading *reading)
{
	const struct schedtape_end *end = schedtape_tape_end(part->sample.tape);
	size_t i;
	int rc = 0;

	part->measure.time = end->stop_time - end->start_time;
	for (i = 0; i < reading->room && !rc; i++)
		if (reading->firsts[i])
			rc = schedtape_histogram_add(&part->measure.latencies,
						     reading->firsts[i] - 1);
	return rc;
}

int measure_part(struct part *part, const struct schedtape_timeline *of_run,
		 struct schedtape_error *err)
{
	static const struct schedtape_timeline_ops ops = {
		.size = sizeof(ops),
		.no_edges = true,
		.ran = on_player_ran,
	};
	struct reading reading = { .measure = &part->measure };
	struct schedtape_timeline *timeline = NULL;
	int rc = schedtape_timeline_run(part->sample.tape, &ops, &reading, &timeline, err);

	if (!rc && part->played.interval)
		rc = take_restored(part, &reading);
	else if (!rc)
		rc = take_off(part, &reading, timeline, of_run);
	/* A replay takes the time of pauses, too. */
	if (!part->played.interval)
		part->measure.time -= paused(of_run, part->played.from, part->played.to);
	part->lost = cmd_count_lost(schedtape_tape_end(part->sample.tape)) > 0;
	schedtape_timeline_free(timeline);
	free(reading.firsts);
	return rc;
}
