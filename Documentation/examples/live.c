// SPDX-License-Identifier: GPL-2.0-only
/*
 * live - prints each wait for a CPU that is longer than some us, while the tape is recorded
 *
 *	cc live.c -o live $(pkg-config --cflags --libs libschedtape)
 *	schedtape record -o - make | ./live 1000
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <schedtape.h>

static int waited(void *arg, const struct schedtape_task *task, uint64_t delay, uint64_t time)
{
	if (delay <= 1000 * *(const uint64_t *)arg)
		return 0;
	printf("%" PRIu64 ".%06" PRIu64 "\t%s\t%" PRIu32 "\t%" PRIu64 " us\n", time / 1000000000,
	       time / 1000 % 1000000, task->comm, task->pid, delay / 1000);
	return fflush(stdout) ? -1 : 0;
}

int main(int argc, char **argv)
{
	struct schedtape_error err = { "usage: live US < PIPE" };
	static struct schedtape_timeline_ops ops;
	struct schedtape_timeline *timeline;
	struct schedtape_tape *tape;
	uint64_t us;

	ops.size = sizeof(ops);
	ops.waited = waited;
	us = argc == 2 ? strtoull(argv[1], NULL, 10) : 0;
	if (argc != 2 || schedtape_tape_open_once("-", &tape, &err) ||
	    schedtape_timeline_run(tape, &ops, &us, &timeline, &err)) {
		fprintf(stderr, "live: %s\n", err.text);
		return 1;
	}
	schedtape_timeline_free(timeline);
	schedtape_tape_close(tape);
}
