// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: writes a tape with samples of other tracepoints: points_tape FILE ROUNDS
 *
 * In each round of 1 ms task 10 runs, has an interrupt, and sleeps. At the time of its switch there
 * is a sample, too. The first round has a field of each kind, a loss, a sample that cannot be
 * decoded, and one of a task that has ended.
 */
#include <stdio.h>
#include <stdlib.h>

#include <schedtape.h>

#include "../unit/maker.h"
#include "../unit/points.h"

#define START		1000000000ULL
#define ROUND		1000000ULL
#define PID		10
#define PER_PAGE	100
#define PER_ROUND	2
#define LOST		12

static const struct schedtape_format formats[] = {
	{ .id = POINT_ALL, .system = "test", .name = "all", .format = point_all_format },
	{ .id = 77, .system = "test", .name = "broken", .format = "name: broken\nID: 77\n" },
};

static struct schedtape_writer *writer;
static struct schedtape_error err;

static int fail(void)
{
	fprintf(stderr, "points_tape: %s\n", err.text);
	return 1;
}

static struct schedtape_sample at(uint64_t time, const void *data, uint32_t bytes)
{
	return (struct schedtape_sample) {
		.time = time, .cpu = 1, .pid = PID - 1, .tid = PID, .data = data, .bytes = bytes,
	};
}

static int write_formats(void)
{
	struct schedtape_format four[4] = { points[0], points[1], formats[0], formats[1] };
	struct schedtape_formats all = points_formats;

	all.formats = four;
	all.n = 4;
	return schedtape_writer_formats(writer, &all, &err);
}

static int write_first(void)
{
	const struct point_all all = point_all();
	const struct point_exit ended = point_exit(-4, 0);
	const uint16_t broken = 77;
	struct schedtape_sample samples[] = {
		at(START + 1000, &all, sizeof(all)), at(START + 2000, &broken, sizeof(broken)),
		at(START + 3000, NULL, 0), at(START + 4000, &ended, sizeof(ended)),
	};

	samples[2].lost = LOST;
	samples[3].pid = UINT32_MAX;
	samples[3].tid = UINT32_MAX;
	return schedtape_writer_samples(writer, samples, 4, &err);
}

/* The interrupt begins while the task runs, and ends at the time of its last moment. */
static int write_rounds(uint64_t time, unsigned int from, unsigned int to)
{
	static unsigned char page[STAPE_PAGE_SIZE];
	const struct point_entry entry = point_entry(9, "eth0");
	const struct point_exit ended = point_exit(9, 1);
	struct schedtape_sample samples[PER_PAGE * PER_ROUND];
	struct maker m;
	unsigned int i, n = 0;

	maker_begin(&m, page, 1, from / PER_PAGE, time);
	for (i = from; i < to; i++, time += ROUND) {
		maker_switch(&m, time + ROUND / 4, PID, STAPE_NEXT_TASK, STAPE_STATE_RUNNING);
		samples[n++] = at(time + ROUND / 2, &entry, sizeof(entry));
		samples[n++] = at(time + 3 * ROUND / 4, &ended, sizeof(ended));
		maker_switch(&m, time + 3 * ROUND / 4, 0, STAPE_NEXT_IDLE, STAPE_STATE_SLEEPING);
	}
	return schedtape_writer_samples(writer, samples, n, &err) ?:
	       schedtape_writer_pages(writer, page, 1, &err);
}

int main(int argc, char **argv)
{
	static const struct schedtape_task_info task = {
		.pid = PID, .tgid = PID - 1, .comm = "shell",
	};
	static const struct stape_clock_sample clock = {
		.counter = START, .mono = START, .boot = START, .real = START, .khz = 1000000,
	};
	unsigned int rounds = argc == 3 ? strtoul(argv[2], NULL, 10) : 0, from, to;
	struct schedtape_cpu cpu = { .cpu = 1, .events = 2 * rounds };
	const struct schedtape_end end = {
		.size = sizeof(end), .start_time = START, .stop_time = START + (rounds + 1) * ROUND,
		.cpus = &cpu, .nr_cpus = 1,
	};

	if (!rounds)
		return 2;
	if (schedtape_writer_create(argv[1], "{}", NULL, &writer, &err) ||
	    schedtape_writer_clock(writer, &clock, &err) ||
	    schedtape_writer_tasks(writer, &task, 1, &err) || write_formats() || write_first())
		return fail();
	for (from = 0; from < rounds; from = to) {
		to = from + PER_PAGE < rounds ? from + PER_PAGE : rounds;
		if (write_rounds(START + from * ROUND, from, to))
			return fail();
	}
	if (schedtape_writer_end(writer, &end, &err) || schedtape_writer_close(writer, &err))
		return fail();
	return 0;
}
