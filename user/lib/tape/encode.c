// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Makes a tape's records: tasks, players, clocks, progress, schedulers, pages, the end.
 */
#define _FILE_OFFSET_BITS 64
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "tape/meta.h"
#include "tape/page.h"
#include "tape/write.h"
#include "base/error.h"
#include "base/sized.h"

#define TASKS_BYTES	(1U << 20)	/* uncompressed payload of one TASKS record */
#define PLAYERS		1024		/* entries of one PLAYERS record */

/* -- tasks ----------------------------------------------------------------- */

static size_t task_bytes(const struct schedtape_task_info *task)
{
	size_t bytes = sizeof(struct tape_task) + task->affinity_bytes;

	return bytes + tape_padding(bytes);
}

static void task_pack(unsigned char *at, const struct schedtape_task_info *task)
{
	size_t size = task_bytes(task);
	struct tape_task entry = {
		.size = htole32(size),
		.fixed = htole32(sizeof(entry)),
		.time = htole64(task->time),
		.start_time = htole64(task->start_time),
		.cpu_time = htole64(task->cpu_time),
		.pid = htole32(task->pid),
		.tgid = htole32(task->tgid),
		.ppid = htole32(task->ppid),
		.ns_pid = htole32(task->ns_pid),
		.cpu = htole32(task->cpu),
		.state = htole32(task->state),
		.policy = htole32(task->policy),
		.nice = htole32((uint32_t)task->nice),
		.rt_priority = htole32(task->rt_priority),
		.affinity_bytes = htole32(task->affinity_bytes),
		.cgroup = htole64(task->cgroup),
		/* Or the words of @wish. */
		.dl_runtime = htole64(task->dl.runtime),
		.dl_deadline = htole64(task->dl.deadline),
		.dl_period = htole64(task->dl.period),
	};

	memcpy(entry.comm, task->comm, sizeof(entry.comm));
	memset(at, 0, size);
	memcpy(at, &entry, sizeof(entry));
	if (task->affinity_bytes)
		memcpy(at + sizeof(entry), task->affinity, task->affinity_bytes);
}

int schedtape_writer_tasks(struct schedtape_writer *writer,
			   const struct schedtape_task_info *tasks, size_t n,
			   struct schedtape_error *err)
{
	struct tape_record rec;
	size_t i, used = 0;
	unsigned char *raw;
	int ret = 0;

	raw = malloc(TASKS_BYTES);
	if (!raw)
		return schedtape_fail(err, tape_writer_error(writer, -ENOMEM), "%s: out of memory",
				      writer->path);

	for (i = 0; i < n && !ret; i++) {
		if (tasks[i].affinity_bytes > TASKS_BYTES / 2) {
			ret = schedtape_fail(err, -EINVAL, "%s: affinity of task %u: %u bytes",
					     writer->path, tasks[i].pid, tasks[i].affinity_bytes);
			break;
		}
		task_pack(raw + used, &tasks[i]);
		used += task_bytes(&tasks[i]);
		if (i + 1 < n && used + task_bytes(&tasks[i + 1]) <= TASKS_BYTES)
			continue;
		tape_record_init(&rec, TAPE_TASKS, 0, used);
		ret = tape_writer_record(writer, &rec, sizeof(rec), raw, used, err);
		used = 0;
	}

	free(raw);
	return ret;
}

/* -- players --------------------------------------------------------------- */

static void player_pack(struct tape_player *entry, const struct schedtape_player *player)
{
	*entry = (struct tape_player) {
		.size = htole32(sizeof(*entry)),
		.pid = htole32(player->pid),
		.task_pid = htole32(player->task_pid),
		.time = htole64(player->time),
		.task_start = htole64(player->task_start),
	};
}

int schedtape_writer_players(struct schedtape_writer *writer,
			     const struct schedtape_player *players, size_t n,
			     struct schedtape_error *err)
{
	struct tape_player entries[PLAYERS];
	struct tape_record rec;
	size_t now, i;
	int ret = 0;

	for (; n && !ret; n -= now, players += now) {
		now = n < PLAYERS ? n : PLAYERS;
		for (i = 0; i < now; i++)
			player_pack(&entries[i], &players[i]);
		tape_record_init(&rec, TAPE_PLAYERS, 0, now * sizeof(*entries));
		ret = tape_writer_record(writer, &rec, sizeof(rec), entries,
					 now * sizeof(*entries), err);
	}
	return ret;
}

/* -- clocks ---------------------------------------------------------------- */

int schedtape_writer_clock(struct schedtape_writer *writer,
			   const struct stape_clock_sample *sample, struct schedtape_error *err)
{
	struct tape_record rec;
	struct tape_clock entry = {
		.size = htole32(sizeof(entry)),
		.flags = htole32(sample->unstable ? TAPE_CLOCK_UNSTABLE : 0),
		.khz = htole32(sample->khz),
		.counter = htole64(sample->counter),
		.mono = htole64(sample->mono),
		.boot = htole64(sample->boot),
		.real = htole64(sample->real),
	};

	tape_record_init(&rec, TAPE_CLOCK, 0, sizeof(entry));
	return tape_writer_record(writer, &rec, sizeof(rec), &entry, sizeof(entry), err);
}

/* -- progress -------------------------------------------------------------- */

int schedtape_writer_progress(struct schedtape_writer *writer,
			      const struct schedtape_progress *progress,
			      struct schedtape_error *err)
{
	struct schedtape_progress own;
	struct tape_progress entry;
	struct tape_record rec;
	int ret;

	ret = sized_get(&own, sizeof(own), progress, "the progress of a recording", err);
	if (ret)
		return ret;
	entry = (struct tape_progress) {
		.offset = htole64(writer->bytes),
		.time = htole64(own.time),
		.start_time = htole64(own.start_time),
		.window_start = htole64(own.window_start),
	};
	tape_record_init(&rec, TAPE_PROGRESS, 0, sizeof(entry));
	return tape_writer_record(writer, &rec, sizeof(rec), &entry, sizeof(entry), err);
}

/* -- schedulers ------------------------------------------------------------ */

static void add_number(struct json_object *object, const char *key, uint64_t value)
{
	json_object_object_add(object, key, json_object_new_uint64(value));
}

static struct json_object *scheduler_json(const struct schedtape_scheduler *scheduler)
{
	struct json_object *object = json_object_new_object();

	add_number(object, "time", scheduler->time);
	if (scheduler->after)
		add_number(object, "after", scheduler->after);
	json_object_object_add(object, "state", json_object_new_string(scheduler->state));
	add_number(object, "enable_seq", scheduler->enable_seq);
	if (!scheduler->ops[0])
		return object;
	json_object_object_add(object, "ops", json_object_new_string(scheduler->ops));
	json_object_object_add(object, "switch_all",
			       json_object_new_boolean(scheduler->switch_all));
	add_number(object, "nr_rejected", scheduler->nr_rejected);
	return object;
}

int schedtape_writer_scheduler(struct schedtape_writer *writer,
			       const struct schedtape_scheduler *scheduler,
			       struct schedtape_error *err)
{
	struct json_object *object = scheduler_json(scheduler);
	int ret;

	ret = tape_writer_json(writer, TAPE_SCHEDULER, object, err);
	json_object_put(object);
	return ret;
}

/* -- pages ----------------------------------------------------------------- */

/* Makes a chunk's extra from the headers of its pages. */
static int chunk_head(struct schedtape_writer *w, struct tape_chunk *chunk,
		      const unsigned char *pages, size_t n, struct schedtape_error *err)
{
	struct stape_page_header first, h;
	uint64_t events = 0, lost = 0;
	size_t i;

	tape_page_header(&first, pages);
	*chunk = (struct tape_chunk) {
		.cpu = htole32(first.cpu),
		.pages = htole32(n),
		.seq = htole64(first.seq),
		.time = htole64(first.time),
	};
	for (i = 0; i < n; i++) {
		if (!tape_page_header(&h, pages + i * STAPE_PAGE_SIZE))
			return schedtape_fail(err, -EINVAL, "%s: page %zu of %zu is no ring page: "
					      "magic number 0x%08x", w->path, i, n, h.magic);
		if (h.cpu != first.cpu || h.seq != first.seq + i)
			return schedtape_fail(err, -EINVAL, "%s: page %" PRIu64 " of CPU %u does "
					      "not follow page %" PRIu64 " of CPU %u", w->path,
					      (uint64_t)h.seq, h.cpu, (uint64_t)(first.seq + i - 1),
					      first.cpu);
		events += h.events;
		lost += h.lost;
	}
	chunk->end = htole64(h.end);
	chunk->events = htole64(events);
	chunk->lost = htole64(lost);
	return 0;
}

int schedtape_writer_pages(struct schedtape_writer *writer, const void *pages,
			   size_t n, struct schedtape_error *err)
{
	struct {
		struct tape_record rec;
		struct tape_chunk chunk;
	} head;
	const unsigned char *at = pages;
	size_t now;
	int ret;

	for (; n; n -= now, at += now * STAPE_PAGE_SIZE) {
		now = n < TAPE_MAX_PAGES ? n : TAPE_MAX_PAGES;
		ret = chunk_head(writer, &head.chunk, at, now, err);
		if (ret)
			return ret;
		tape_record_init(&head.rec, le32toh(head.chunk.cpu) == STAPE_CPU_NONE ?
				 TAPE_DESCRIPTIONS : TAPE_CHUNK, sizeof(head.chunk),
				 now * STAPE_PAGE_SIZE);
		ret = tape_writer_record(writer, &head, sizeof(head), at, now * STAPE_PAGE_SIZE,
					 err);
		if (ret)
			return ret;
	}
	return 0;
}

/* -- the end --------------------------------------------------------------- */

static struct json_object *cpu_json(const struct schedtape_cpu *cpu)
{
	struct json_object *object = json_object_new_object();

	if (cpu->cpu != STAPE_CPU_NONE)
		add_number(object, "cpu", cpu->cpu);
	add_number(object, "events", cpu->events);
	add_number(object, "lost", cpu->lost);
	add_number(object, "lost_first", cpu->lost_first);
	add_number(object, "lost_last", cpu->lost_last);
	if (cpu->overwritten)
		add_number(object, "overwritten", cpu->overwritten);
	return object;
}

struct json_object *tape_end_json(const struct schedtape_end *end)
{
	struct json_object *object = json_object_new_object();
	struct json_object *cpus = json_object_new_array();
	size_t i;

	add_number(object, "start_time", end->start_time);
	add_number(object, "stop_time", end->stop_time);
	if (end->window_start)
		add_number(object, "window_start", end->window_start);
	if (end->ended_by)
		json_object_object_add(object, "ended_by", json_object_new_string(end->ended_by));
	for (i = 0; i < end->nr_cpus; i++) {
		if (end->cpus[i].cpu == STAPE_CPU_NONE)
			json_object_object_add(object, "descriptions", cpu_json(&end->cpus[i]));
		else
			json_object_array_add(cpus, cpu_json(&end->cpus[i]));
	}
	json_object_object_add(object, "cpus", cpus);
	return object;
}

int tape_writer_end(struct schedtape_writer *writer, const struct schedtape_end *end,
		    struct json_object *players, struct schedtape_error *err)
{
	struct json_object *object;
	struct schedtape_end own;
	int ret;

	ret = sized_get(&own, sizeof(own), end, "the end of a recording", err);
	if (ret)
		return ret;
	object = tape_end_json(&own);
	if (players)
		json_object_object_add(object, "players", json_object_get(players));
	ret = tape_writer_json(writer, TAPE_END, object, err);
	json_object_put(object);
	return ret;
}

int schedtape_writer_end(struct schedtape_writer *writer, const struct schedtape_end *end,
			 struct schedtape_error *err)
{
	return tape_writer_end(writer, end, NULL, err);
}
