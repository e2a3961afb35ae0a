// SPDX-License-Identifier: GPL-2.0-only
/*
 * latency - a histogram of the times from a wake-up until the task gets a CPU
 *
 *	cc latency.c -o latency $(pkg-config --cflags --libs libschedtape)
 */
#include <stdio.h>
#include <schedtape.h>

static int began(void *arg, const struct schedtape_task *task, const struct schedtape_run *run)
{
	(void)task;
	if (run->woke)
		((unsigned long *)arg)[63 - __builtin_clzll((run->begin - run->woke) | 1)]++;
	return 0;
}

int main(int argc, char **argv)
{
	static struct schedtape_timeline_ops ops;
	struct schedtape_error err = { "usage: latency TAPE" };
	struct schedtape_timeline *timeline;
	unsigned long counts[64] = { 0 };
	struct schedtape_tape *tape;
	int bit;

	ops.size = sizeof(ops);
	ops.began = began;
	if (argc != 2 || schedtape_tape_open(argv[1], &tape, &err) ||
	    schedtape_timeline_run(tape, &ops, counts, &timeline, &err)) {
		fprintf(stderr, "latency: %s\n", err.text);
		return 1;
	}
	for (bit = 0; bit < 64; bit++)
		if (counts[bit])
			printf("below %.3f us\t%lu\n", (2ULL << bit) / 1e3, counts[bit]);
	schedtape_timeline_free(timeline);
	schedtape_tape_close(tape);
	return 0;
}
