// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Reads a tape's META, TASKS, PLAYERS, CLOCK, SCHEDULER, PROGRESS and END records.  Their
 * checksums are right, but their content may still be impossible.
 */
#define _FILE_OFFSET_BITS 64
#include <errno.h>
#include <stdio.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "base/list.h"
#include "tape/bytes.h"
#include "tape/clock.h"
#include "tape/content.h"
#include "tape/format.h"
#include "tape/json.h"
#include "tape/meta.h"
#include "tape/tape.h"

static const char *meta_recording(struct json_object *meta)
{
	struct json_object *value;

	if (!json_object_object_get_ex(meta, "recording", &value) ||
	    !json_object_is_type(value, json_type_string))
		return "";
	return json_object_get_string(value);
}

/* Returns 0 if the file is of this recording, else -ESTALE. */
static int check_recording(struct schedtape_tape *tape, const struct tape_file *file,
			   struct json_object *meta)
{
	if (!tape->recording) {
		tape->recording = strdup(meta_recording(meta));
		return tape->recording ? 0 : -ENOMEM;
	}
	if (!file->stream)
		return 0;
	return *tape->recording && !strcmp(tape->recording, meta_recording(meta)) ?
		0 : -ESTALE;
}

bool tape_has_idle_times(const struct schedtape_tape *tape)
{
	return tape->files[0].minor >= TAPE_MINOR_IDLE;
}

bool tape_is_overwritten(const struct schedtape_tape *tape)
{
	struct json_object *overwrite;

	return json_object_object_get_ex(tape->meta, "overwrite", &overwrite) &&
	       json_object_get_boolean(overwrite);
}

bool tape_is_later_part(const struct schedtape_tape *tape)
{
	uint64_t part = 0;

	return tape->meta && tape_json_number(tape->meta, "part", &part) && part > 1;
}

int tape_content_meta(struct schedtape_tape *tape, struct tape_file *file, const char *text,
		      size_t bytes)
{
	struct json_object *meta = tape_json_parse(text, bytes);
	int ret;

	if (!meta)
		return -EBADMSG;
	ret = check_recording(tape, file, meta);
	if (!ret)
		file->described = true;
	/* One META describes all files. */
	if (!ret && !tape->meta)
		tape->meta = meta;
	else
		json_object_put(meta);
	return ret;
}

/* -- tasks ----------------------------------------------------------------- */

/* Is the priority possible?  A replay will set it. */
static bool prio_is_possible(const struct schedtape_task_info *task)
{
	return task->policy <= TAPE_MAX_POLICY && task->nice >= TAPE_MIN_NICE &&
	       task->nice <= TAPE_MAX_NICE && task->rt_priority <= TAPE_MAX_RT_PRIORITY;
}

/* Unpacks the entry at @raw.  Returns its size in bytes, or 0 if it is not valid. */
static size_t task_unpack(struct schedtape_task_info *task, const unsigned char *raw, size_t bytes)
{
	struct tape_task entry = { 0 };
	uint32_t size, fixed, affinity_bytes;

	if (bytes < TAPE_TASK_LEAST)
		return 0;
	memcpy(&entry, raw, TAPE_TASK_LEAST);
	size = le32toh(entry.size);
	fixed = le32toh(entry.fixed);
	affinity_bytes = le32toh(entry.affinity_bytes);
	if (size > bytes || fixed < TAPE_TASK_LEAST || fixed > size ||
	    affinity_bytes > size - fixed || affinity_bytes > TAPE_MAX_CPUS / 8)
		return 0;
	/* Copy the members that the entry's version has, without those of later versions. */
	memcpy(&entry, raw, fixed < sizeof(entry) ? fixed : sizeof(entry));

	*task = (struct schedtape_task_info) {
		.time = le64toh(entry.time),
		.start_time = le64toh(entry.start_time),
		.cpu_time = le64toh(entry.cpu_time),
		.pid = le32toh(entry.pid),
		.tgid = le32toh(entry.tgid),
		.ppid = le32toh(entry.ppid),
		.ns_pid = le32toh(entry.ns_pid),
		.cpu = le32toh(entry.cpu),
		.state = le32toh(entry.state),
		.policy = le32toh(entry.policy),
		.nice = (int32_t)le32toh(entry.nice),
		.rt_priority = le32toh(entry.rt_priority),
		.affinity_bytes = affinity_bytes,
		.affinity = affinity_bytes ? raw + fixed : NULL,
		.cgroup = le64toh(entry.cgroup),
		/* Or the words of @wish. */
		.dl = {
			.runtime = le64toh(entry.dl_runtime),
			.deadline = le64toh(entry.dl_deadline),
			.period = le64toh(entry.dl_period),
		},
	};
	if (!prio_is_possible(task))
		return 0;
	if (task->policy != SCHED_DEADLINE && !tape_clamps_are_possible(task->wish.clamps))
		task->wish.clamps = 0;
	memcpy(task->comm, entry.comm, sizeof(task->comm));
	task->comm[sizeof(task->comm) - 1] = '\0';
	return size;
}

static struct schedtape_task_info *task_new(struct schedtape_tape *tape)
{
	struct schedtape_task_info *tasks = schedtape_list_grow(tape->tasks, tape->nr_tasks,
							   &tape->tasks_capacity, sizeof(*tasks));

	if (!tasks)
		return NULL;
	tape->tasks = tasks;
	return &tasks[tape->nr_tasks++];
}

/* The caller keeps @raw, because affinities point to it.  On failure no task is kept. */
int tape_content_tasks(struct schedtape_tape *tape, const unsigned char *raw, size_t bytes)
{
	size_t before = tape->nr_tasks, now;
	struct schedtape_task_info task, *kept;

	for (; bytes; bytes -= now, raw += now) {
		now = task_unpack(&task, raw, bytes);
		if (!now || tape->nr_tasks == TAPE_MAX_TASKS) {
			tape->nr_tasks = before;
			return -EBADMSG;
		}
		kept = task_new(tape);
		if (!kept) {
			tape->nr_tasks = before;
			return -ENOMEM;
		}
		*kept = task;
	}
	return 0;
}

/* -- players --------------------------------------------------------------- */

static int add_player(struct schedtape_tape *tape, const struct schedtape_player *player)
{
	struct schedtape_player *players;

	if (tape->nr_players == TAPE_MAX_PLAYERS)
		return -EBADMSG;
	players = schedtape_list_grow(tape->players, tape->nr_players, &tape->players_capacity,
				      sizeof(*players));
	if (!players)
		return -ENOMEM;
	tape->players = players;
	players[tape->nr_players++] = *player;
	return 0;
}

/* On failure no player of the record is kept. */
int tape_content_players(struct schedtape_tape *tape, const unsigned char *raw, size_t bytes)
{
	size_t before = tape->nr_players;
	struct schedtape_player player;
	struct tape_player entry;
	uint32_t size;
	int ret = 0;

	for (; bytes && !ret; bytes -= size, raw += size) {
		size = tape_entry_get(&entry, sizeof(entry), raw, bytes);
		if (!size) {
			ret = -EBADMSG;
			break;
		}
		player = (struct schedtape_player) {
			.time = le64toh(entry.time),
			.task_start = le64toh(entry.task_start),
			.pid = le32toh(entry.pid),
			.task_pid = le32toh(entry.task_pid),
		};
		ret = add_player(tape, &player);
	}
	if (ret)
		tape->nr_players = before;
	return ret;
}

/* -- clocks ---------------------------------------------------------------- */

int tape_content_clock(struct schedtape_tape *tape, const unsigned char *raw, size_t bytes)
{
	struct stape_clock_sample sample;
	struct tape_clock entry;
	uint32_t size;
	int ret;

	for (; bytes; bytes -= size, raw += size) {
		size = tape_entry_get(&entry, sizeof(entry), raw, bytes);
		if (!size || tape->clocks.nr_samples == TAPE_MAX_CLOCKS)
			return -EBADMSG;
		sample = (struct stape_clock_sample) {
			.counter = le64toh(entry.counter),
			.mono = le64toh(entry.mono),
			.boot = le64toh(entry.boot),
			.real = le64toh(entry.real),
			.khz = le32toh(entry.khz),
			.unstable = le32toh(entry.flags) & TAPE_CLOCK_UNSTABLE,
		};
		if (tape->stream)
			ret = tape_clocks_add_live(&tape->clocks, &sample);
		else
			ret = tape_clocks_add(&tape->clocks, &sample);
		if (ret)
			return ret;
	}
	return 0;
}

/* -- schedulers ------------------------------------------------------------ */

static bool get_scheduler(struct json_object *object, struct schedtape_scheduler *scheduler)
{
	struct json_object *all;

	*scheduler = (struct schedtape_scheduler) { 0 };
	if (!tape_json_number(object, "time", &scheduler->time) ||
	    !tape_json_text(object, "state", scheduler->state, sizeof(scheduler->state)))
		return false;
	tape_json_number(object, "after", &scheduler->after);
	tape_json_number(object, "enable_seq", &scheduler->enable_seq);
	tape_json_number(object, "nr_rejected", &scheduler->nr_rejected);
	tape_json_text(object, "ops", scheduler->ops, sizeof(scheduler->ops));
	if (json_object_object_get_ex(object, "switch_all", &all) &&
	    json_object_is_type(all, json_type_boolean))
		scheduler->switch_all = json_object_get_boolean(all);
	return scheduler->after <= scheduler->time;
}

static int add_scheduler(struct schedtape_tape *tape,
			 const struct schedtape_scheduler *scheduler)
{
	struct schedtape_scheduler *schedulers;

	if (tape->nr_schedulers == TAPE_MAX_SCHEDULERS)
		return -EBADMSG;
	schedulers = schedtape_list_grow(tape->schedulers, tape->nr_schedulers,
					 &tape->schedulers_capacity, sizeof(*schedulers));
	if (!schedulers)
		return -ENOMEM;
	tape->schedulers = schedulers;
	schedulers[tape->nr_schedulers++] = *scheduler;
	return 0;
}

int tape_content_scheduler(struct schedtape_tape *tape, const char *text, size_t bytes)
{
	struct json_object *object = tape_json_parse(text, bytes);
	struct schedtape_scheduler scheduler;
	int ret = -EBADMSG;

	if (!object)
		return -EBADMSG;
	/* The list is complete only at the end, so a reader of a pipe has no use for it. */
	if (get_scheduler(object, &scheduler))
		ret = tape->stream ? 0 : add_scheduler(tape, &scheduler);
	json_object_put(object);
	return ret;
}

/* -- progress -------------------------------------------------------------- */

int tape_content_progress(struct schedtape_tape *tape, const unsigned char *raw, size_t bytes,
			  uint64_t offset)
{
	struct tape_progress progress;
	uint64_t time;

	if (bytes < sizeof(progress))
		return -EBADMSG;
	memcpy(&progress, raw, sizeof(progress));
	/* It was copied from elsewhere, and says nothing about the records before it. */
	if (le64toh(progress.offset) != offset)
		return 0;
	time = le64toh(progress.time);
	if (tape->stream && time > tape->stream->progress)
		tape->stream->progress = time;
	if (tape->ended)
		return 0;
	tape->begun = le64toh(progress.start_time);
	tape->window = le64toh(progress.window_start);
	return 0;
}

/* -- the end --------------------------------------------------------------- */

static bool get_counts(struct json_object *object, uint32_t number, struct schedtape_cpu *cpu)
{
	*cpu = (struct schedtape_cpu) { .cpu = number };
	/* Only overwritten rings have this. */
	tape_json_number(object, "overwritten", &cpu->overwritten);
	return tape_json_number(object, "events", &cpu->events) &&
	       tape_json_number(object, "lost", &cpu->lost) &&
	       tape_json_number(object, "lost_first", &cpu->lost_first) &&
	       tape_json_number(object, "lost_last", &cpu->lost_last) &&
	       cpu->lost_first <= cpu->lost_last;
}

static bool get_cpu(struct json_object *object, struct schedtape_cpu *cpu)
{
	uint64_t number;

	return tape_json_number(object, "cpu", &number) && number < TAPE_MAX_CPUS &&
	       get_counts(object, number, cpu);
}

/* Adds all CPUs of an end record, or none.  @descriptions: NULL: it has none. */
static int add_cpus(struct schedtape_tape *tape, struct json_object *list,
		    struct json_object *descriptions)
{
	size_t i, n = json_object_array_length(list);
	struct schedtape_cpu *cpus;

	if (n > TAPE_MAX_CPUS)
		return -EBADMSG;
	cpus = reallocarray(tape->cpus, tape->nr_cpus + n + 1, sizeof(*cpus));
	if (!cpus)
		return -ENOMEM;
	tape->cpus = cpus;
	for (i = 0; i < n; i++)
		if (!get_cpu(json_object_array_get_idx(list, i), &cpus[tape->nr_cpus + i]))
			return -EBADMSG;
	if (descriptions && !get_counts(descriptions, STAPE_CPU_NONE, &cpus[tape->nr_cpus + n++]))
		return -EBADMSG;
	tape->nr_cpus += n;
	return 0;
}

static void set_ended_by(struct schedtape_tape *tape, struct json_object *object)
{
	struct json_object *value;

	if (!json_object_object_get_ex(object, "ended_by", &value) ||
	    !json_object_is_type(value, json_type_string))
		return;
	snprintf(tape->ended_by, sizeof(tape->ended_by), "%s", json_object_get_string(value));
	tape->end.ended_by = tape->ended_by;
}

static void set_players(struct schedtape_tape *tape, struct json_object *object)
{
	struct json_object *value;

	if (json_object_object_get_ex(object, "players", &value) &&
	    json_object_is_type(value, json_type_array))
		tape->end_players = json_object_get(value);
}

static int content_end(struct schedtape_tape *tape, struct json_object *object)
{
	uint64_t start, stop, window = 0;
	struct json_object *cpus, *descriptions = NULL;
	int ret;

	if (!tape_json_number(object, "start_time", &start) ||
	    !tape_json_number(object, "stop_time", &stop) || start > stop ||
	    !json_object_object_get_ex(object, "cpus", &cpus) ||
	    !json_object_is_type(cpus, json_type_array))
		return -EBADMSG;
	tape_json_number(object, "window_start", &window);
	json_object_object_get_ex(object, "descriptions", &descriptions);

	ret = add_cpus(tape, cpus, descriptions);
	if (ret)
		return ret;
	/* The main file's end record comes first, and its times are the right ones. */
	if (!tape->ended) {
		tape->end.start_time = start;
		tape->end.stop_time = stop;
		tape->window = window;
		set_ended_by(tape, object);
		set_players(tape, object);
	}
	tape->ended = true;
	return 0;
}

int tape_content_end(struct schedtape_tape *tape, const char *text, size_t bytes)
{
	struct json_object *object = tape_json_parse(text, bytes);
	int ret;

	if (!object)
		return -EBADMSG;
	ret = content_end(tape, object);
	json_object_put(object);
	return ret;
}
