// SPDX-License-Identifier: GPL-2.0-only
#include "report/page-levels.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/list.h"

#define MOST_CELLS	(1U << 21)	/* of two or three bytes each */
#define MOST_PARTS	(1U << 14)	/* four times the pixels of a wide screen */
#define LEAST_PARTS	64U

/* How long a task ran in a part. */
struct levels_ran {
	uint32_t task;
	uint64_t time;
};

/**
 * struct levels_part - who ran in the part of a CPU that is not over
 * @number: of the part
 * @ran: @n tasks, in room for @room
 */
struct levels_part {
	unsigned int number;
	struct levels_ran *ran;
	size_t n;
	size_t room;
};

static unsigned int parts_for(unsigned int rows, uint64_t length)
{
	uint64_t parts = rows ? MOST_CELLS / rows : MOST_PARTS;

	if (parts > MOST_PARTS)
		parts = MOST_PARTS;
	if (parts < LEAST_PARTS)
		parts = LEAST_PARTS;
	return parts < length ? parts : length;
}

int levels_begin(struct levels *levels, unsigned int nr_cpus, unsigned int nr_tasks,
		 uint64_t first, uint64_t last)
{
	uint64_t length = last > first ? last - first : 1;
	size_t cpus, tasks;

	*levels = (struct levels){
		.nr_cpus = nr_cpus,
		.nr_tasks = nr_tasks,
		.parts = parts_for(nr_cpus + nr_tasks, length),
		.first = first,
	};
	levels->width = (length + levels->parts - 1) / levels->parts;
	cpus = (size_t)nr_cpus * levels->parts;
	tasks = (size_t)nr_tasks * levels->parts;
	levels->busy = calloc(cpus + 1, sizeof(*levels->busy));
	levels->top = calloc(cpus + 1, sizeof(*levels->top));
	levels->run = calloc(tasks + 1, sizeof(*levels->run));
	levels->wait = calloc(tasks + 1, sizeof(*levels->wait));
	levels->current = calloc(nr_cpus + 1, sizeof(*levels->current));
	return levels->busy && levels->top && levels->run && levels->wait && levels->current ?
	       0 : -ENOMEM;
}

/* -- the task that ran longest ----------------------------------------------- */

static void end_part(struct levels *levels, unsigned int cpu)
{
	struct levels_part *part = &levels->current[cpu];
	size_t i, longest = 0;

	for (i = 1; i < part->n; i++)
		if (part->ran[i].time > part->ran[longest].time)
			longest = i;
	if (part->n)
		levels->top[(size_t)cpu * levels->parts + part->number] = part->ran[longest].task;
	part->n = 0;
}

static int note_task(struct levels *levels, unsigned int cpu, unsigned int number, uint32_t task,
		     uint64_t time)
{
	struct levels_part *part = &levels->current[cpu];
	struct levels_ran *ran;
	size_t i;

	if (number != part->number)
		end_part(levels, cpu);
	part->number = number;
	for (i = 0; i < part->n; i++)
		if (part->ran[i].task == task) {
			part->ran[i].time += time;
			return 0;
		}
	ran = schedtape_list_grow(part->ran, part->n, &part->room, sizeof(*ran));
	if (!ran)
		return -ENOMEM;
	part->ran = ran;
	ran[part->n++] = (struct levels_ran){ .task = task, .time = time };
	return 0;
}

/* -- adding ------------------------------------------------------------------ */

/* Returns the part that a time lies in; the first or last one for what lies before or behind. */
static unsigned int part_of(const struct levels *levels, uint64_t time)
{
	uint64_t part = time > levels->first ? (time - levels->first) / levels->width : 0;

	return part < levels->parts ? part : levels->parts - 1;
}

/* Returns how much of the time from @begin to @end lies in a part. */
static uint64_t time_in(const struct levels *levels, unsigned int part, uint64_t begin,
			uint64_t end)
{
	uint64_t first = levels->first + part * levels->width, last = first + levels->width;

	if (begin < first)
		begin = first;
	if (end > last)
		end = last;
	return begin < end ? end - begin : 0;
}

int levels_run(struct levels *levels, unsigned int cpu, uint32_t task, uint64_t begin,
	       uint64_t end)
{
	unsigned int part = part_of(levels, begin), last = part_of(levels, end);
	uint64_t time;
	int rc = 0;

	for (; part <= last && !rc; part++) {
		time = time_in(levels, part, begin, end);
		if (!time)
			continue;
		levels->busy[(size_t)cpu * levels->parts + part] += time;
		if (task <= levels->nr_tasks)
			levels->run[(size_t)(task - 1) * levels->parts + part] += time;
		rc = note_task(levels, cpu, part, task, time);
	}
	return rc;
}

void levels_wait(struct levels *levels, uint32_t task, uint64_t begin, uint64_t end)
{
	unsigned int part = part_of(levels, begin), last = part_of(levels, end);

	if (task > levels->nr_tasks)
		return;
	for (; part <= last; part++)
		levels->wait[(size_t)(task - 1) * levels->parts + part] +=
			time_in(levels, part, begin, end);
}

/* -- the end ------------------------------------------------------------------ */

static unsigned char *put_shares(const struct levels *levels, unsigned char *to,
				 const uint64_t *sums, size_t n)
{
	size_t i;

	/* Rounded up, so that the shortest time is not 0. */
	for (i = 0; i < n; i++)
		*to++ = sums[i] < levels->width ? ceil(sums[i] * 255.0 / levels->width) : 255;
	return to;
}

size_t levels_bytes(const struct levels *levels)
{
	return (3 * (size_t)levels->nr_cpus + 2 * (size_t)levels->nr_tasks) * levels->parts;
}

unsigned char *levels_end(struct levels *levels, size_t *bytes)
{
	size_t cpus = (size_t)levels->nr_cpus * levels->parts;
	size_t tasks = (size_t)levels->nr_tasks * levels->parts, i;
	unsigned char *all, *to;

	*bytes = levels_bytes(levels);
	all = malloc(*bytes + 1);
	if (!all)
		return NULL;
	for (i = 0; i < levels->nr_cpus; i++)
		end_part(levels, i);
	to = put_shares(levels, all, levels->busy, cpus);
	for (i = 0; i < cpus; i++) {
		*to++ = levels->top[i];
		*to++ = levels->top[i] >> 8;
	}
	to = put_shares(levels, to, levels->run, tasks);
	put_shares(levels, to, levels->wait, tasks);
	return all;
}

void levels_free(struct levels *levels)
{
	unsigned int i;

	for (i = 0; levels->current && i < levels->nr_cpus; i++)
		free(levels->current[i].ran);
	free(levels->busy);
	free(levels->top);
	free(levels->run);
	free(levels->wait);
	free(levels->current);
}
