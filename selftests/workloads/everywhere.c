// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: COUNT processes on all CPUs at once: a parent on each CPU forks its share of them,
 * one after the other; each ends, and is reaped.
 */
#include <sched.h>

#include "../qemu/plugin/mark.h"
#include "work.h"

/* Stays on its CPU; if the CPU goes offline, the kernel puts the task elsewhere. */
static void stay_on(const cpu_set_t *cpus, int number)
{
	cpu_set_t one;
	int cpu;

	for (cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, cpus) && !number--)
			break;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	sched_setaffinity(0, sizeof(one), &one);
}

int main(int argc, char **argv)
{
	long count = work_arg(argc, argv, 1, 1, LONG_MAX, "COUNT"), i, n;
	cpu_set_t cpus;
	int status;
	pid_t pid;

	if (sched_getaffinity(0, sizeof(cpus), &cpus))
		err(1, "affinity");
	n = CPU_COUNT(&cpus);
	mark("on everywhere");
	for (i = 0; i < n; i++) {
		pid = work_fork();
		if (pid)
			continue;
		stay_on(&cpus, i);
		work_forks(count / n + (i < count % n));
		_exit(0);
	}
	for (i = 0; i < n; i++)
		if (wait(&status) < 0 || status)
			errx(1, "a parent failed");
	mark("off");
	printf("forks=%ld\n", count + n);
	return 0;
}
