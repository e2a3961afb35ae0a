// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: COUNT rounds: in each the task renames itself to "round" and the round's number,
 * and sleeps for 100 us.  So each event of a round shows which round it is of.  The task has a
 * real-time policy, so that other tasks do not delay it.
 */
#include <sched.h>
#include <sys/prctl.h>

#include "work.h"

int main(int argc, char **argv)
{
	/* Not until a time, because a task that is late would not sleep. */
	const struct timespec pause = { .tv_nsec = 100000 };
	struct sched_param param = { .sched_priority = 1 };
	long i, rounds = work_arg(argc, argv, 1, 1, 9999999, "COUNT");
	char name[16];

	if (sched_setscheduler(0, SCHED_FIFO, &param))
		err(1, "SCHED_FIFO");
	for (i = 1; i <= rounds; i++) {
		snprintf(name, sizeof(name), "round%07ld", i);
		prctl(PR_SET_NAME, name);
		nanosleep(&pause, NULL);
	}
	printf("rounds=%ld\n", rounds);
	return 0;
}
