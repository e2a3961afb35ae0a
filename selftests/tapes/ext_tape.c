// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: writes a tape of two tasks with the policy SCHED_EXT: ext_tape FILE [PAGES]
 *
 * For kernels without the policy, on which such tasks cannot be recorded.  One of them may run on
 * 1,024 CPUs, so many as no guest has.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <schedtape.h>

#include "../unit/maker.h"

#define US	1000ULL
#define ROUNDS	10

/* "one" runs for 1 ms, and wakes "two", which does the same.  Then both sleep for 3 ms. */
static uint64_t add_round(struct maker *m, uint64_t t)
{
	maker_wake(m, t, 10, STAPE_CTX_HARDIRQ, t, 0);
	maker_switch(m, t += 20 * US, 10, STAPE_NEXT_TASK, STAPE_STATE_RUNNING);
	t += 1000 * US;
	maker_wake(m, t, 11, STAPE_CTX_TASK, t, 0);
	maker_switch(m, t += 20 * US, 11, STAPE_NEXT_TASK, STAPE_STATE_SLEEPING);
	maker_switch(m, t += 1000 * US, 0, STAPE_NEXT_IDLE, STAPE_STATE_SLEEPING);
	return t + 3000 * US;
}

/* Fills page number @number with rounds from *@t on, and adds its events to @cpu. */
static void fill_page(unsigned char *page, uint64_t number, uint64_t *t, struct schedtape_cpu *cpu)
{
	struct maker m;
	int i;

	maker_begin(&m, page, 0, number, *t);
	for (i = 0; i < ROUNDS; i++)
		*t = add_round(&m, *t);
	cpu->events += m.header.events;
}

int main(int argc, char **argv)
{
	static const unsigned char everywhere[128] = { [0 ... 127] = 0xff };
	struct schedtape_task_info tasks[] = {
		{ .affinity = everywhere, .affinity_bytes = sizeof(everywhere),
		  .pid = 10, .tgid = 10, .state = STAPE_STATE_SLEEPING,
		  .policy = SCHEDTAPE_POLICY_EXT, .comm = "one" },
		{ .pid = 11, .tgid = 11, .state = STAPE_STATE_SLEEPING,
		  .policy = SCHEDTAPE_POLICY_EXT, .comm = "two", .cgroup = 7 },
	};
	static unsigned char page[STAPE_PAGE_SIZE];
	struct schedtape_cpu cpu = { .cpu = 0 };
	struct schedtape_end end = {
		.size = sizeof(end),
		.start_time = 1000 * US,
		.cpus = &cpu,
		.nr_cpus = 1,
	};
	uint64_t t = end.start_time + 1000 * US;
	struct schedtape_error err = { "" };
	struct schedtape_writer *writer;
	unsigned long pages = 1, i;
	int failed;

	if (argc == 3)
		pages = strtoul(argv[2], NULL, 10);
	if (argc < 2 || argc > 3 || !pages) {
		fputs("usage: ext_tape FILE [PAGES]\n", stderr);
		return 2;
	}
	failed = schedtape_writer_create(argv[1], "{}", NULL, &writer, &err) ||
		 schedtape_writer_tasks(writer, tasks, 2, &err);
	for (i = 0; i < pages && !failed; i++) {
		fill_page(page, i, &t, &cpu);
		failed = schedtape_writer_pages(writer, page, 1, &err);
	}
	end.stop_time = t;
	if (failed || schedtape_writer_end(writer, &end, &err) ||
	    schedtape_writer_close(writer, &err)) {
		fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	return 0;
}
