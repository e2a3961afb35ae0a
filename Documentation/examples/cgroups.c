// SPDX-License-Identifier: GPL-2.0-only
/*
 * cgroups - CPU time by cgroup, us; 0 stands for cgroups that are not known
 *
 *	cc cgroups.c -o cgroups $(pkg-config --cflags --libs libschedtape)
 */
#include <inttypes.h>
#include <stdio.h>
#include <schedtape.h>

int main(int argc, char **argv)
{
	struct schedtape_error err = { "usage: cgroups TAPE" };
	struct schedtape_timeline *timeline;
	const struct schedtape_task *tasks;
	struct schedtape_tape *tape;
	size_t first, i, n;
	uint64_t time;

	if (argc != 2 || schedtape_tape_open(argv[1], &tape, &err) ||
	    schedtape_timeline_run(tape, NULL, NULL, &timeline, &err)) {
		fprintf(stderr, "cgroups: %s\n", err.text);
		return 1;
	}
	tasks = schedtape_timeline_tasks(timeline, &n);
	for (i = 0; i < n; i++) {
		for (first = 0; tasks[first].cgroup != tasks[i].cgroup; first++)
			;
		if (first < i)	/* a task before it is in the same cgroup */
			continue;
		for (time = 0; first < n; first++)
			if (tasks[first].cgroup == tasks[i].cgroup)
				time += tasks[first].cpu_time;
		printf("%" PRIu64 "\t%" PRIu64 "\n", tasks[i].cgroup, time / 1000);
	}
	schedtape_timeline_free(timeline);
	schedtape_tape_close(tape);
}
