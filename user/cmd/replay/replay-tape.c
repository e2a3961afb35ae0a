// SPDX-License-Identifier: GPL-2.0-only
#include "replay/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <machine/machine.h>

#include "base/clock.h"
#include "base/list.h"
#include "base/memory-file.h"
#include "common/destination.h"
#include "common/output.h"
#include "record/options.h"
#include "tape/part.h"

/* More are not written: JSON records have at most 65536 objects. */
#define MAX_TOLD	16384

/* -- which task each player plays ------------------------------------------ */

/**
 * struct player_list - players for a record of the tape
 * @first_pid: PID of the player of the task @first
 */
struct player_list {
	const struct schedtape_program *program;
	struct schedtape_player *list;
	size_t n;
	size_t capacity;
	uint32_t first;
	uint32_t first_pid;
};

static int add(struct player_list *players, uint32_t number, uint32_t pid)
{
	const struct schedtape_program_task *task = &players->program->tasks[number];
	struct schedtape_player *list;

	list = schedtape_list_grow(players->list, players->n, &players->capacity, sizeof(*list));
	if (!list)
		return -ENOMEM;
	players->list = list;
	list[players->n++] = (struct schedtape_player) {
		.task_start = task->born,
		.pid = pid,
		.task_pid = task->pid,
	};
	return 0;
}

static int add_player(const struct schedtape_player_state *state, void *arg)
{
	struct player_list *players = arg;
	uint32_t task = schedtape_program_task_of(players->program, state->number, state->turn);

	if (task == SCHEDTAPE_NONE)
		return 0;
	if (task == players->first)
		players->first_pid = state->pid;
	return add(players, task, state->pid);
}

/* Writes them with the current time, at which they exist, or existed a moment ago. */
static int write_list(struct recorder *recorder, struct player_list *players)
{
	uint64_t time = schedtape_now();
	size_t i;

	for (i = 0; i < players->n; i++)
		players->list[i].time = time;
	return recorder_add_players(recorder, players->list, players->n);
}

static int out_of_memory(void)
{
	out_error(NULL, "out of memory");
	return -ENOMEM;
}

/* Writes all players of the replay @id that exist.  Returns 0, or -errno after a message. */
static int write_players(struct replay_tape *tape, struct schedtape_client *client, uint32_t id,
			 const struct processes *processes)
{
	struct player_list list = { .program = tape->program, .first = SCHEDTAPE_NONE };
	struct schedtape_error err;
	int ret;

	if (processes->nr)
		list.first = processes->tasks[0];
	ret = schedtape_replay_players(client, id, add_player, &list, &err);
	if (ret == -ENOMEM)
		out_of_memory();
	else if (ret)
		out_error(NULL, "%s", err.text);
	else
		ret = write_list(&tape->recorder, &list);
	tape->same_pids = processes->nr && list.first_pid == processes->pids[0];
	free(list.list);
	return ret;
}

/* Writes the processes from the @before-th on, which have been started since. */
static int write_players_since(struct replay_tape *tape, const struct processes *processes,
			       size_t before)
{
	struct player_list list = { .program = tape->program };
	int ret = 0;
	size_t i;

	if (!tape->same_pids || before == processes->nr)
		return 0;
	for (i = before; i < processes->nr && !ret; i++)
		ret = add(&list, processes->tasks[i], processes->pids[i]);
	ret = ret ? out_of_memory() : write_list(&tape->recorder, &list);
	free(list.list);
	return ret;
}

/* -- the recording --------------------------------------------------------- */

static struct json_object *describe_costs(const struct stage *stage)
{
	const struct schedtape_costs *costs = &stage->costs;
	struct json_object *object = json_object_new_object();

	out_json_add_count(object, "step", costs->step);
	out_json_add_count(object, "fork", costs->fork);
	out_json_add_count(object, "exit", costs->exit);
	out_json_add_count(object, "spawn", costs->spawn);
	out_json_add_count(object, "leave", costs->leave);
	out_json_add_double(object, "rate", stage->cast->scale / stage->cast->speed);
	return object;
}

/* Describes the part of a tape that is replayed, for estimates from such parts. */
static struct json_object *describe_part(const struct replay_options *opts,
					 struct schedtape_tape *played, double speed)
{
	const struct schedtape_end *end = schedtape_tape_end(played);
	struct tape_part part = {
		.from = end->start_time,
		.to = end->stop_time,
		.speed = speed,
	};

	tape_id(played, part.id);
	if (part.from < opts->program.from)
		part.from = opts->program.from;
	if (opts->program.to && part.to > opts->program.to)
		part.to = opts->program.to;
	return tape_part_describe(&part);
}

int replay_tape_open(struct replay_tape *tape, const struct replay_options *opts,
		     struct schedtape_client *client, const struct stage *stage,
		     struct schedtape_tape *played)
{
	static const struct record_options any = { .clock = RECORD_CLOCK_ANY };
	struct schedtape_recording recording = { 0 };
	struct recorder_options to = {
		.path = opts->record,
		.ring_bytes = 4 << 20,
		.level = 1,
	};
	struct schedtape_module_info info = { .size = sizeof(info) };
	struct schedtape_error err;
	struct json_object *meta;
	int ret;

	ret = backup_refuse(opts->common.input, to.path, &err);
	if (!ret)
		ret = schedtape_client_info(client, &info, &err);
	if (ret)
		return out_failed(ret, &err);
	/* As record does, so that events of both tapes cost the same. */
	ret = record_options_clock(&any, &info, &recording.clock);
	if (ret)
		return ret;
	to.clock = recording.clock;
	meta = schedtape_machine_describe(&info, stage->cast->calibration, &recording);
	if (!meta)
		return -ENOMEM;
	json_object_object_add(meta, "replay_of", json_object_new_string(opts->common.input));
	json_object_object_add(meta, "replay_part",
			       describe_part(opts, played, stage->cast->speed));
	json_object_object_add(meta, "replay_costs", describe_costs(stage));
	to.meta = meta;
	ret = recorder_open(&tape->recorder, client, &to);
	json_object_put(meta);
	return ret;
}

int replay_tape_make_told(struct player_cast *cast)
{
	const uint64_t bytes = (uint64_t)cast->program->nr_tasks * sizeof(*cast->told);
	int fd = memory_file_make("schedtape-told", false);
	void *memory = MAP_FAILED;
	int ret = fd;

	if (fd >= 0 && !ftruncate(fd, bytes))
		memory = mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, 0);
	if (memory == MAP_FAILED) {
		if (fd >= 0) {
			ret = -errno;
			close(fd);
		}
		out_error(NULL, "no memory to share with players: %s", strerror(-ret));
		return ret;
	}
	cast->told = memory;
	cast->told_fd = fd;
	return 0;
}

void replay_tape_free_told(struct player_cast *cast)
{
	if (!cast->told)
		return;
	munmap(cast->told, (uint64_t)cast->program->nr_tasks * sizeof(*cast->told));
	close(cast->told_fd);
	cast->told = NULL;
}

/*
 * Returns true if a player has counted all CPU time that the tape has of it: it was forked for a
 * fork in its program, or had joined when the recording began.  A player that is started later is
 * recorded from its start, but counts from its join on.
 */
static bool counts_all(const struct replay_tape *tape, const struct schedtape_program *program,
		       const struct schedtape_program_task *task)
{
	const struct schedtape_program_task *leader = &program->tasks[task->process];

	if (task->parent != SCHEDTAPE_NONE)
		return true;
	return leader->parent == SCHEDTAPE_NONE && (!leader->due || task->process < tape->later);
}

/* @counts_all: @told has all its CPU time */
static void add_told(struct json_object *list, const struct schedtape_program_task *task,
		     const struct schedtape_told *told, bool counts_all)
{
	struct json_object *object = json_object_new_object();

	out_json_add_count(object, "task_pid", task->pid);
	out_json_add_count(object, "task_start", task->born);
	if (told->steps && told->steps_ns > 0)
		out_json_add_count(object, "step", told->steps_ns / told->steps);
	out_json_add_count(object, "stalled", told->stalled);
	if (counts_all)
		out_json_add_count(object, "used", told->used);
	json_object_array_add(list, object);
}

void replay_tape_add_told(struct replay_tape *tape, const struct player_cast *cast)
{
	struct json_object *list = json_object_new_array();
	const struct schedtape_program *program = cast->program;
	const struct schedtape_told *told = cast->told;
	uint32_t i, n = 0;

	for (i = 0; i < program->nr_tasks && n <= MAX_TOLD; i++)
		if ((told[i].steps || told[i].stalled) && n++ < MAX_TOLD)
			add_told(list, &program->tasks[i], &told[i],
				 counts_all(tape, program, &program->tasks[i]));
	/* With a part of them diff would take the others for unstalled. */
	if (n <= MAX_TOLD)
		tape->recorder.players = json_object_get(list);
	json_object_put(list);
}

int replay_tape_start(struct replay_tape *tape, struct schedtape_client *client, uint32_t id,
		      const struct schedtape_program *program, const struct processes *processes)
{
	int ret = recorder_start(&tape->recorder);

	if (!ret) {
		recorder_begun(&tape->recorder);
		ret = recorder_add(&tape->recorder, processes->pids, processes->nr);
	}
	if (!ret)
		ret = recorder_describe_tasks(&tape->recorder);
	tape->program = program;
	tape->later = processes_to_come(processes) ? program->roots[processes->next] :
		      program->nr_tasks;
	return ret ? ret : write_players(tape, client, id, processes);
}

int replay_tape_add(struct replay_tape *tape, const struct processes *processes, size_t before)
{
	struct schedtape_error err;
	int ret = 0;
	size_t i;

	if (!tape->recorder.started)
		return 0;
	for (i = before; i < processes->nr && !ret; i++) {
		ret = schedtape_session_add(tape->recorder.session, &processes->pids[i], 1, &err);
		/* It has already ended. */
		if (ret == -ESRCH)
			ret = 0;
	}
	if (ret)
		return out_failed(ret, &err);
	return write_players_since(tape, processes, before);
}
