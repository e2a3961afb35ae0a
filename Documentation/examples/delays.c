// SPDX-License-Identifier: GPL-2.0-only
/*
 * delays - how long each task of a tape waited for a CPU at most, and when, in us
 *
 *	cc delays.c -o delays $(pkg-config --cflags --libs libschedtape)
 *	./delays schedtape.tape
 */
#include <inttypes.h>
#include <stdio.h>
#include <schedtape.h>

int main(int argc, char **argv)
{
	struct schedtape_error err = { "" };
	struct schedtape_timeline *timeline;
	const struct schedtape_task *task;
	struct schedtape_tape *tape;
	uint64_t start;
	size_t n;

	if (argc != 2) {
		fprintf(stderr, "Usage: delays TAPE\n");
		return 2;
	}
	if (schedtape_tape_open(argv[1], &tape, &err) ||
	    schedtape_timeline_run(tape, NULL, NULL, &timeline, &err)) {
		fprintf(stderr, "delays: %s\n", err.text);
		return 1;
	}
	start = schedtape_tape_end(tape)->start_time;
	for (task = schedtape_timeline_tasks(timeline, &n); n; n--, task++)
		if (task->delays)
			printf("%s\t%" PRIu32 "\t%" PRIu64 "\tat %" PRIu64 "\n", task->comm,
			       task->pid, task->delay_max / 1000,
			       (task->delay_max_time - start) / 1000);
	schedtape_timeline_free(timeline);
	schedtape_tape_close(tape);
	return 0;
}
