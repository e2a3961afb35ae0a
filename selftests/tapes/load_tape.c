// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: writes a tape of a load with a given number of events: load_tape FILE EVENTS [live]
 *
 * With "live" it says after two thirds how far it has come, as a recorder does, so that a reader of
 * a pipe can have these events before the others.
 *
 * Tasks wake each other, sleep, and are preempted, at random, which is the same each time.  On one
 * CPU a task runs from the start, and no event shows it before half of the time is over.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <schedtape.h>

#include "../unit/maker.h"
#include "../unit/random.h"

#define CPUS		4
#define TASKS		60
#define FIRST_PID	100
#define NOBODY		TASKS
#define SILENT		(CPUS - 1)	/* the CPU without events at first */
#define ROOM		64	/* bytes of a page that the events of one step need */
#define START		5000000000ULL

struct cpu {
	unsigned char page[STAPE_PAGE_SIZE];
	struct maker m;
	uint64_t pages;
	unsigned int current;
	unsigned int queue[TASKS];
	unsigned int waiting;
};

static struct cpu cpus[CPUS];
static struct schedtape_cpu counts[CPUS];
static bool awake[TASKS];
static bool silent = true;
static bool live;
static struct schedtape_writer *writer;
static struct schedtape_error err;

static unsigned int draw(unsigned int n)
{
	return random64() % n;
}

static int fail(void)
{
	fprintf(stderr, "load_tape: %s\n", err.text);
	return 1;
}

/* -- pages ------------------------------------------------------------------- */

static void begin_page(unsigned int number, uint64_t time)
{
	struct cpu *cpu = &cpus[number];

	maker_begin(&cpu->m, cpu->page, number, cpu->pages++, time);
	if (cpu->current == NOBODY)
		return;
	cpu->m.header.curr = FIRST_PID + cpu->current;
	cpu->m.header.curr_kind = STAPE_NEXT_TASK;
	maker_finish(&cpu->m);
}

static int end_page(unsigned int number)
{
	counts[number].events += cpus[number].m.header.events;
	return schedtape_writer_pages(writer, cpus[number].page, 1, &err);
}

/* -- the load ---------------------------------------------------------------- */

/* A CPU switches from a task that leaves in a state to the first one that waits. */
static void change(struct cpu *cpu, uint64_t time, enum stape_state state)
{
	bool idle = !cpu->waiting;

	cpu->current = idle ? NOBODY : cpu->queue[0];
	if (!idle)
		memmove(cpu->queue, cpu->queue + 1, --cpu->waiting * sizeof(*cpu->queue));
	maker_switch(&cpu->m, time, idle ? 0 : FIRST_PID + cpu->current,
		     idle ? STAPE_NEXT_IDLE : STAPE_NEXT_TASK, state);
}

static void wake(struct cpu *cpu, uint64_t time)
{
	unsigned int task = draw(TASKS), to = draw(silent ? SILENT : CPUS);

	if (awake[task])
		return;
	awake[task] = true;
	maker_wake(&cpu->m, time, FIRST_PID + task,
		   cpu->current == NOBODY ? STAPE_CTX_HARDIRQ : STAPE_CTX_TASK, time + 1, to);
	cpus[to].queue[cpus[to].waiting++] = task;
}

static void step(struct cpu *cpu, uint64_t time)
{
	unsigned int was = cpu->current, what = draw(10);

	if (was == NOBODY && cpu->waiting) {
		change(cpu, time, STAPE_STATE_RUNNING);
	} else if (was == NOBODY || what < 4) {
		wake(cpu, time);
	} else if (what < 8) {
		awake[was] = false;
		change(cpu, time, what % 2 ? STAPE_STATE_SLEEPING : STAPE_STATE_BLOCKED);
	} else if (cpu->waiting) {
		cpu->queue[cpu->waiting++] = was;
		change(cpu, time, STAPE_STATE_RUNNING);
	}
}

/* Writes all events up to @time, and that these are all.  Returns true, or false with an error. */
static bool mark(uint64_t time)
{
	struct stape_clock_sample sample = { .counter = time, .mono = time, .khz = 1000000 };
	struct schedtape_progress progress = {
		.size = sizeof(progress), .time = time, .start_time = START,
	};
	unsigned int i;

	for (i = 0; i < CPUS; i++) {
		if (end_page(i))
			return false;
		begin_page(i, time);
	}
	return !schedtape_writer_clock(writer, &sample, &err) &&
	       !schedtape_writer_progress(writer, &progress, &err);
}

/* Returns when the load ends; 0: the tape cannot be written. */
static uint64_t write_load(uint64_t events)
{
	uint64_t time = START, n;
	unsigned int i;

	for (i = 0; i < CPUS; i++) {
		cpus[i].current = i == SILENT ? TASKS - 1 : NOBODY;
		counts[i].cpu = i;
		begin_page(i, time);
	}
	awake[TASKS - 1] = true;
	for (n = 0; n < events; ) {
		silent = n < events / 2;
		i = draw(silent ? SILENT : CPUS);
		time += 2 + draw(5000);
		if (live && n > events / 3 * 2) {
			live = false;
			if (!mark(time))
				return 0;
		}
		if (cpus[i].m.header.used + ROOM > STAPE_PAGE_SIZE) {
			if (end_page(i))
				return 0;
			begin_page(i, time);
		}
		n -= cpus[i].m.header.events;
		step(&cpus[i], time);
		n += cpus[i].m.header.events;
	}
	for (i = 0; i < CPUS; i++)
		if (end_page(i))
			return 0;
	return time + 1000;
}

/* -- the tape ---------------------------------------------------------------- */

/* Some names would do harm on a page, or at a terminal, that took them for more than text. */
static void name_tasks(struct schedtape_task_info tasks[TASKS])
{
	static const char * const names[] = {
		"</script><b>", "<!--<script>", "a\"b\\c&lt;", "\33[31m",
	};
	unsigned int i;

	for (i = 0; i < TASKS; i++) {
		/* A recorder describes tasks while they run. */
		tasks[i] = (struct schedtape_task_info){
			.time = START + 100000 * i,
			.pid = FIRST_PID + i, .tgid = FIRST_PID + i - i % 3,
			.state = i == TASKS - 1 ? STAPE_STATE_RUNNING : STAPE_STATE_SLEEPING,
			.cpu = i == TASKS - 1 ? SILENT : 0,
		};
		if (i < sizeof(names) / sizeof(names[0]))
			strcpy(tasks[i].comm, names[i]);
		else
			snprintf(tasks[i].comm, sizeof(tasks[i].comm), "load-%u", i / 3);
	}
}

int main(int argc, char **argv)
{
	struct schedtape_task_info tasks[TASKS];
	struct schedtape_end end = {
		.size = sizeof(end), .start_time = START, .cpus = counts, .nr_cpus = CPUS,
	};

	live = argc == 4 && !strcmp(argv[3], "live");
	if (argc != 3 + live || !strtoull(argv[2], NULL, 10)) {
		fputs("usage: load_tape FILE EVENTS [live]\n", stderr);
		return 2;
	}
	name_tasks(tasks);
	if (schedtape_writer_create(argv[1], "{}", NULL, &writer, &err) ||
	    schedtape_writer_tasks(writer, tasks, TASKS, &err))
		return fail();
	end.stop_time = write_load(strtoull(argv[2], NULL, 10));
	if (!end.stop_time || schedtape_writer_end(writer, &end, &err) ||
	    schedtape_writer_close(writer, &err))
		return fail();
	return 0;
}
