/* SPDX-License-Identifier: GPL-2.0-only */
/* Tapes of three tasks with known lengths, so that the distance of two tapes is known. */
#ifndef SELFTESTS_DIFF_TAPES_H
#define SELFTESTS_DIFF_TAPES_H

#include "tapes.h"

#define US	1000ULL
#define MS	1000000ULL
#define CYCLES	5

/**
 * struct cycle - one cycle of "one": a timer wakes it, it runs, wakes another task, sleeps
 * @delay: from its wake-up to running, us
 * @burst: CPU time, us
 * @away: time of a preemption in the middle of the burst, us
 * @sleep: time until the next cycle, us
 * @wakes: PID of the other task, which runs for 10 ms; 0: none
 */
struct cycle {
	unsigned int delay, burst, away, sleep, wakes;
};

struct habit {
	struct cycle cycles[CYCLES];
};

/* "one" runs for 50 ms in all, and the others together as well. */
static const struct habit plain = {
	.cycles = {
		{ 1000, 10000, 0, 20000, 11 }, { 1000, 10000, 0, 20000, 12 },
		{ 1000, 10000, 0, 20000, 11 }, { 1000, 10000, 0, 20000, 12 },
		{ 1000, 10000, 0, 20000, 11 },
	},
};

/* Only "one" has sleeps between its cycles. */
static const struct habit alone = {
	.cycles = {
		{ 1000, 10000, 0, 20000, 11 }, { 1000, 10000, 0, 20000, 0 },
		{ 1000, 10000, 0, 20000, 0 }, { 1000, 10000, 0, 20000, 0 },
		{ 1000, 10000, 0, 20000, 0 },
	},
};

static uint64_t add_cycle(struct maker *m, uint64_t t, const struct cycle *cycle)
{
	maker_wake(m, t, 10, STAPE_CTX_HARDIRQ, t, 0);
	maker_switch(m, t += cycle->delay * US, 10, STAPE_NEXT_TASK, STAPE_STATE_RUNNING);
	t += cycle->burst * US / 2;
	if (cycle->away) {
		maker_switch(m, t, 0, STAPE_NEXT_OTHER, STAPE_STATE_RUNNING);
		t += cycle->away * US;
		maker_switch(m, t, 10, STAPE_NEXT_TASK, STAPE_STATE_RUNNING);
	}
	t += cycle->burst * US / 2;
	if (cycle->wakes) {
		maker_wake(m, t, cycle->wakes, STAPE_CTX_TASK, t, 0);
		maker_switch(m, t, cycle->wakes, STAPE_NEXT_TASK, STAPE_STATE_SLEEPING);
	}
	maker_switch(m, t + !!cycle->wakes * 10 * MS, 0, STAPE_NEXT_IDLE, STAPE_STATE_SLEEPING);
	return t + cycle->sleep * US;
}

/* Contents of the next tape in addition to its tasks: META, "players" of END, and schedulers. */
static const char *with_meta, *with_told;
static const struct schedtape_scheduler *with_schedulers;
static size_t nr_schedulers;
/* "two" of the next tape is a kernel thread; or the next tape is of a replay without "two". */
static bool with_kthread, with_players;
/* PID of a task that a timer wakes at the end of the next tape, and that ends; 0: none */
static uint32_t with_end;

static void write_habit(const struct blob *tape, unsigned char *page, uint64_t events,
			uint64_t stop)
{
	static struct schedtape_task_info tasks[] = {
		{ .pid = 10, .comm = "one" }, { .pid = 11, .comm = "two" },
		{ .pid = 12, .comm = "three" },
	};
	static const struct schedtape_player players[] = {
		{ .pid = 10, .task_pid = 10 }, { .pid = 12, .task_pid = 12 },
	};
	const struct schedtape_cpu cpu = { .cpu = 0, .events = events };
	const struct schedtape_end end = {
		.size = sizeof(end),
		.stop_time = stop,
		.cpus = &cpu,
		.nr_cpus = 1,
	};
	struct json_object *meta = json_tokener_parse(with_meta ? with_meta : "{}");
	struct json_object *told = with_told ? json_tokener_parse(with_told) : NULL;
	struct schedtape_error err = { "" };
	struct schedtape_writer *writer;
	size_t i;

	for (i = 0; i < 3; i++) {
		tasks[i].tgid = tasks[i].pid;
		tasks[i].state = STAPE_STATE_SLEEPING;
	}
	tasks[1].ppid = with_kthread ? 2 : 0;
	if (tape_writer_create(tape->path, meta, NULL, &writer, &err))
		printf("Bail out! %s\n", err.text);
	for (i = 0; i < nr_schedulers; i++)
		schedtape_writer_scheduler(writer, &with_schedulers[i], &err);
	if (schedtape_writer_tasks(writer, tasks, with_players ? 1 : 2, &err) ||
	    schedtape_writer_tasks(writer, tasks + 2, 1, &err) ||
	    (with_players && schedtape_writer_players(writer, players, 2, &err)) ||
	    schedtape_writer_pages(writer, page, 1, &err) ||
	    tape_writer_end(writer, &end, told, &err) || schedtape_writer_close(writer, &err))
		printf("Bail out! %s\n", err.text);
	json_object_put(meta);
	json_object_put(told);
}

static void make_habit(const struct blob *tape, const struct habit *habit)
{
	static unsigned char page[STAPE_PAGE_SIZE];
	uint64_t t = 1000 * MS;
	struct maker m;
	int i;

	maker_begin(&m, page, 0, 0, t);
	for (i = 0; i < CYCLES; i++)
		t = add_cycle(&m, t, &habit->cycles[i]);
	if (with_end) {
		maker_wake(&m, t, with_end, STAPE_CTX_HARDIRQ, t, 0);
		maker_switch(&m, t, with_end, STAPE_NEXT_TASK, STAPE_STATE_RUNNING);
		maker_switch(&m, t += 10 * MS, 0, STAPE_NEXT_IDLE, STAPE_STATE_DEAD);
	}
	write_habit(tape, page, m.header.events, t);
}

#endif /* SELFTESTS_DIFF_TAPES_H */
