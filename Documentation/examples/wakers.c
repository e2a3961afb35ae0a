// SPDX-License-Identifier: GPL-2.0-only
/*
 * wakers - how often each task of a tape woke others
 *
 *	cc wakers.c -o wakers $(pkg-config --cflags --libs libschedtape)
 */
#include <inttypes.h>
#include <stdio.h>
#include <schedtape.h>

int main(int argc, char **argv)
{
	struct schedtape_error err = { "usage: wakers TAPE" };
	const struct schedtape_task *tasks, *waker;
	struct schedtape_timeline *timeline;
	const struct schedtape_edge *edges;
	struct schedtape_tape *tape;
	uint64_t count = 0;
	size_t i, n;

	if (argc != 2 || schedtape_tape_open(argv[1], &tape, &err) ||
	    schedtape_timeline_run(tape, NULL, NULL, &timeline, &err)) {
		fprintf(stderr, "wakers: %s\n", err.text);
		return 1;
	}
	tasks = schedtape_timeline_tasks(timeline, &n);
	edges = schedtape_timeline_edges(timeline, &n);
	/* Edges are sorted by waker. */
	for (i = 0; i < n; i++) {
		count += edges[i].count;
		if (i + 1 < n && edges[i + 1].waker == edges[i].waker)
			continue;
		waker = schedtape_task_at(tasks, edges[i].waker);
		printf("%s\t%" PRIu32 "\t%" PRIu64 "\n", waker->comm, waker->pid, count);
		count = 0;
	}
	schedtape_timeline_free(timeline);
	schedtape_tape_close(tape);
}
