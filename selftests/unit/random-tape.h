/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Random tapes: tasks on a few CPUs run, sleep, are woken, fork and move.  Some tasks have no
 * description, some threads no leader, two of the cgroups have the same path, and now and then
 * events are missing.
 */
#ifndef SELFTESTS_RANDOM_TAPE_H
#define SELFTESTS_RANDOM_TAPE_H

#include "random.h"
#include "tapes.h"

#define RANDOM_CPUS	3
#define RANDOM_TASKS	24
#define RANDOM_PID	100		/* of the first task */
#define RANDOM_START	1000000000ULL
#define RANDOM_CGROUPS	4		/* with 0, which is not known */

enum random_state {
	RANDOM_NONE, RANDOM_ASLEEP, RANDOM_RUNNABLE, RANDOM_RUNS, RANDOM_AWAY, RANDOM_GONE,
};

/**
 * struct random_tape - a tape that is being made
 * @pages: of each CPU, and then of descriptions
 * @curr: number of the task on each CPU, or RANDOM_TASKS
 * @kind: what else is there
 * @state: enum random_state of each task
 * @queue: the CPU where the task is
 * @damaged: events may be missing, and PIDs are used again
 */
struct random_tape {
	struct schedtape_writer *writer;
	struct schedtape_error err;
	unsigned char pages[RANDOM_CPUS + 1][STAPE_PAGE_SIZE];
	struct maker makers[RANDOM_CPUS + 1];
	uint64_t seq[RANDOM_CPUS + 1];
	unsigned int curr[RANDOM_CPUS];
	enum stape_next kind[RANDOM_CPUS];
	enum random_state state[RANDOM_TASKS];
	unsigned int queue[RANDOM_TASKS];
	uint64_t time;
	bool damaged;
};

static inline void random_must(struct random_tape *tape, int ret)
{
	if (!ret)
		return;
	printf("Bail out! %s\n", tape->err.text);
	exit(1);
}

static inline void random_begin_page(struct random_tape *tape, unsigned int cpu)
{
	struct maker *m = &tape->makers[cpu];

	maker_begin(m, tape->pages[cpu], cpu < RANDOM_CPUS ? cpu : STAPE_CPU_NONE,
		    tape->seq[cpu]++, tape->time);
	if (cpu == RANDOM_CPUS)
		return;
	m->header.curr = tape->curr[cpu] < RANDOM_TASKS ? RANDOM_PID + tape->curr[cpu] : 0;
	m->header.curr_kind = tape->kind[cpu];
	maker_finish(m);
}

static inline void random_end_page(struct random_tape *tape, unsigned int cpu)
{
	if (tape->makers[cpu].header.events || tape->makers[cpu].header.lost)
		random_must(tape, schedtape_writer_pages(tape->writer, tape->pages[cpu], 1,
							 &tape->err));
	else
		tape->seq[cpu]--;
	random_begin_page(tape, cpu);
}

/* Returns what makes events of a CPU, with room for one. */
static inline struct maker *random_maker(struct random_tape *tape, unsigned int cpu)
{
	if (tape->makers[cpu].header.used > STAPE_PAGE_SIZE - 200)
		random_end_page(tape, cpu);
	return &tape->makers[cpu];
}

/* All events up to now are written. */
static inline void random_mark(struct random_tape *tape)
{
	struct schedtape_progress progress = {
		.size = sizeof(progress), .time = tape->time, .start_time = RANDOM_START,
	};
	unsigned int cpu;

	for (cpu = 0; cpu <= RANDOM_CPUS; cpu++)
		random_end_page(tape, cpu);
	random_must(tape, schedtape_writer_progress(tape->writer, &progress, &tape->err));
}

/*
 * Returns a task in this state; RANDOM_TASKS: none was found.  @cpu: where it is; RANDOM_CPUS:
 * anywhere
 */
static inline unsigned int random_find(const struct random_tape *tape, enum random_state state,
				       unsigned int cpu)
{
	unsigned int i, task;

	for (i = 0; i < RANDOM_TASKS; i++) {
		task = random64() % RANDOM_TASKS;
		if (tape->state[task] == state && (cpu == RANDOM_CPUS || tape->queue[task] == cpu))
			return task;
	}
	return RANDOM_TASKS;
}

static inline void random_switch(struct random_tape *tape, unsigned int cpu)
{
	static const enum stape_state states[] = {
		STAPE_STATE_RUNNING, STAPE_STATE_RUNNING, STAPE_STATE_SLEEPING,
		STAPE_STATE_SLEEPING, STAPE_STATE_BLOCKED, STAPE_STATE_STOPPED,
	};
	enum stape_state state = states[random64() % 6];
	unsigned int next = random_find(tape, RANDOM_RUNNABLE, cpu), prev = tape->curr[cpu];

	if (prev == RANDOM_TASKS && next == RANDOM_TASKS)
		return;
	if (prev < RANDOM_TASKS)
		tape->state[prev] = state == STAPE_STATE_RUNNING ? RANDOM_RUNNABLE : RANDOM_ASLEEP;
	tape->curr[cpu] = next;
	tape->kind[cpu] = next < RANDOM_TASKS ? STAPE_NEXT_TASK : random64() % 2 ? STAPE_NEXT_IDLE :
										   STAPE_NEXT_OTHER;
	if (next < RANDOM_TASKS)
		tape->state[next] = RANDOM_RUNS;
	maker_switch(random_maker(tape, cpu), tape->time,
		     next < RANDOM_TASKS ? RANDOM_PID + next : 0, tape->kind[cpu],
		     prev < RANDOM_TASKS ? state : STAPE_STATE_SLEEPING);
}

/* Now and then the task was already awake, or the events are missing. */
static inline void random_wake(struct random_tape *tape, unsigned int cpu)
{
	enum random_state state = random64() % 8 ? RANDOM_ASLEEP : RANDOM_RUNNABLE;
	unsigned int task = random_find(tape, state, RANDOM_CPUS), to = random64() % RANDOM_CPUS;
	enum stape_context context = random64() % 4;

	if (task == RANDOM_TASKS)
		return;
	tape->state[task] = RANDOM_RUNNABLE;
	tape->queue[task] = to;
	if (tape->damaged && !(random64() % 8))
		return;
	if (random64() % 2) {
		maker_wake(random_maker(tape, cpu), tape->time, RANDOM_PID + task, context,
			   tape->time + 5, to);
		tape->time += 5;
		return;
	}
	maker_waking(random_maker(tape, cpu), tape->time, RANDOM_PID + task, context);
	tape->time += random64() % 1000;
	maker_event(random_maker(tape, to), tape->time, STAPE_EV_WAKEUP, RANDOM_PID + task, to);
}

static inline void random_migrate(struct random_tape *tape, unsigned int cpu)
{
	unsigned int task = random_find(tape, RANDOM_RUNNABLE, RANDOM_CPUS);

	if (task == RANDOM_TASKS)
		return;
	tape->queue[task] = random64() % RANDOM_CPUS;
	maker_event(random_maker(tape, cpu), tape->time, STAPE_EV_MIGRATE, RANDOM_PID + task,
		    tape->queue[task]);
}

static inline void random_fork(struct random_tape *tape, unsigned int cpu)
{
	unsigned int task = random_find(tape, RANDOM_NONE, RANDOM_CPUS);

	if (task == RANDOM_TASKS || tape->curr[cpu] == RANDOM_TASKS)
		return;
	maker_event(random_maker(tape, cpu), tape->time, STAPE_EV_FORK, RANDOM_PID + task,
		    random64() % 2 ? STAPE_FORK_THREAD : 0);
	tape->state[task] = RANDOM_RUNNABLE;
	tape->queue[task] = cpu;
	maker_event(random_maker(tape, cpu), tape->time, STAPE_EV_WAKEUP_NEW, RANDOM_PID + task,
		    cpu);
}

/* The task on the CPU ends. */
static inline void random_exit(struct random_tape *tape, unsigned int cpu)
{
	unsigned int task = tape->curr[cpu];

	if (task == RANDOM_TASKS)
		return;
	maker_event(random_maker(tape, cpu), tape->time, STAPE_EV_EXIT, RANDOM_PID + task, 0);
	tape->time += 100;
	maker_switch(random_maker(tape, cpu), tape->time, 0, STAPE_NEXT_IDLE, STAPE_STATE_DEAD);
	tape->state[task] = tape->damaged ? RANDOM_NONE : RANDOM_GONE;
	tape->curr[cpu] = RANDOM_TASKS;
	tape->kind[cpu] = STAPE_NEXT_IDLE;
}

/* Something that changes who a task is. */
static inline void random_change(struct random_tape *tape, unsigned int cpu)
{
	static const char * const names[] = { "one", "two", "three" };
	uint32_t pid = RANDOM_PID + random64() % RANDOM_TASKS;

	if (tape->curr[cpu] < RANDOM_TASKS && random64() % 2)
		maker_rename(random_maker(tape, cpu), tape->time, RANDOM_PID + tape->curr[cpu],
			     names[random64() % 3]);
	else if (tape->state[pid - RANDOM_PID] == RANDOM_ASLEEP)
		maker_prio(random_maker(tape, cpu), tape->time, pid,
			   maker_prio_word(random64() % 2 ? 3 : 0, 0, 0, 120, false));
}

/* Events of the CPU are missing, and with them who runs there. */
static inline void random_lose(struct random_tape *tape, unsigned int cpu)
{
	unsigned int task;

	random_end_page(tape, cpu);
	tape->time += 1000000;
	for (task = 0; task < RANDOM_TASKS; task++)
		if ((tape->state[task] == RANDOM_ASLEEP || tape->state[task] == RANDOM_RUNNABLE) &&
		    !(random64() % 4))
			tape->state[task] = random64() % 2 ? RANDOM_ASLEEP : RANDOM_RUNNABLE;
	if (tape->curr[cpu] < RANDOM_TASKS)
		tape->state[tape->curr[cpu]] = RANDOM_ASLEEP;
	tape->curr[cpu] = RANDOM_TASKS;
	tape->kind[cpu] = STAPE_NEXT_IDLE;
	random_begin_page(tape, cpu);
	maker_lost(&tape->makers[cpu], 3, tape->time - 1000000, tape->time);
	/* A page begins with an event.  A live reader knows of the loss after that one. */
	maker_throttle(&tape->makers[cpu], tape->time, 27, cpu, true);
	tape->time++;
}

/* A task leaves the filter, or one that has left comes back. */
static inline void random_filter(struct random_tape *tape)
{
	enum random_state state = random64() % 2 ? RANDOM_ASLEEP : RANDOM_AWAY;
	unsigned int task = random_find(tape, state, RANDOM_CPUS);
	const uint64_t words[5] = {
		1ULL << 32 | (RANDOM_PID + task), maker_prio_word(0, 0, 0, 120, false), 5,
		STAPE_STATE_SLEEPING, 1,
	};

	if (task == RANDOM_TASKS)
		return;
	maker_task(random_maker(tape, RANDOM_CPUS), tape->time, RANDOM_PID + task,
		   state == RANDOM_AWAY ? STAPE_TASK_ENTERS : STAPE_TASK_LEAVES, "away", words);
	tape->state[task] = state == RANDOM_AWAY ? RANDOM_ASLEEP : RANDOM_AWAY;
}

static inline void random_step(struct random_tape *tape)
{
	unsigned int cpu = random64() % RANDOM_CPUS, what = random64() % 64;

	tape->time += random64() % (1ULL << (random64() % 24));
	if (what < 30)
		random_switch(tape, cpu);
	else if (what < 52)
		random_wake(tape, cpu);
	else if (what < 57)
		random_migrate(tape, cpu);
	else if (what < 60)
		random_fork(tape, cpu);
	else if (what < 61)
		random_exit(tape, cpu);
	else if (what < 62 || !tape->damaged)
		random_change(tape, cpu);
	else if (what < 63)
		random_filter(tape);
	else if (!(random64() % 8))
		random_lose(tape, cpu);
}

/*
 * Each process has a leader, two threads, and room for one that is forked.  Every second leader is
 * not on the tape, and some other tasks are not described.  A task runs on each CPU.
 */
static inline void random_tasks(struct random_tape *tape)
{
	struct schedtape_task_info tasks[RANDOM_TASKS] = { 0 };
	unsigned int task, cpu, n = 0;

	for (task = 0; task < RANDOM_TASKS; task++) {
		tape->state[task] = task % 8 == 4 ? RANDOM_GONE : task % 4 == 3 ? RANDOM_NONE :
										   RANDOM_ASLEEP;
		cpu = task % 4 == 1 ? task / 4 : RANDOM_CPUS;
		if (cpu < RANDOM_CPUS) {
			tape->state[task] = RANDOM_RUNS;
			tape->curr[cpu] = task;
			tape->kind[cpu] = STAPE_NEXT_TASK;
		}
		if (tape->state[task] == RANDOM_GONE || tape->state[task] == RANDOM_NONE ||
		    !(random64() % 4))
			continue;
		tasks[n] = (struct schedtape_task_info){
			.time = RANDOM_START, .start_time = 5, .pid = RANDOM_PID + task,
			.tgid = RANDOM_PID + task / 4 * 4, .cpu = cpu < RANDOM_CPUS ? cpu : 0,
			.cgroup = random64() % RANDOM_CGROUPS,
			.state = cpu < RANDOM_CPUS ? STAPE_STATE_RUNNING : STAPE_STATE_SLEEPING,
		};
		snprintf(tasks[n].comm, sizeof(tasks[n].comm), "task%u", task % 5);
		n++;
	}
	random_must(tape, schedtape_writer_tasks(tape->writer, tasks, n, &tape->err));
}

/* Makes a tape of @steps events or so, with marks in between. */
static inline void random_make(const struct blob *blob, unsigned int steps, bool damaged)
{
	static const char cgroups[] = "[{\"id\":1,\"path\":\"/svc\"},{\"id\":2,\"path\":\"/svc\"},"
				      "{\"id\":3,\"path\":\"/job\"}]";
	static struct random_tape tape;
	struct schedtape_writer_options options = { .size = sizeof(options) };
	struct schedtape_cpu cpus[RANDOM_CPUS] = { { .cpu = 0 }, { .cpu = 1 }, { .cpu = 2 } };
	struct schedtape_end end = {
		.size = sizeof(end), .start_time = RANDOM_START, .cpus = cpus,
		.nr_cpus = RANDOM_CPUS,
	};
	struct json_object *meta = json_object_new_object();
	unsigned int i;

	tape = (struct random_tape){ .time = RANDOM_START, .damaged = damaged };
	json_object_object_add(meta, "arch", json_object_new_string("riscv64"));
	json_object_object_add(meta, "cgroups", json_tokener_parse(cgroups));
	random_must(&tape, tape_writer_create(blob->path, meta, &options, &tape.writer,
					      &tape.err));
	json_object_put(meta);
	random_tasks(&tape);
	for (i = 0; i <= RANDOM_CPUS; i++)
		random_begin_page(&tape, i);
	for (i = 0; i < steps; i++) {
		random_step(&tape);
		if (i % (steps / 4) == steps / 8)
			random_mark(&tape);
	}
	random_mark(&tape);
	end.stop_time = tape.time + 1000000;
	random_must(&tape, schedtape_writer_end(tape.writer, &end, &tape.err));
	random_must(&tape, schedtape_writer_close(tape.writer, &tape.err));
}

#endif /* SELFTESTS_RANDOM_TAPE_H */
