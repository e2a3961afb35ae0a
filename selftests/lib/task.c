// SPDX-License-Identifier: GPL-2.0-only
/*
 * A task's state and counters, its CPU and policy; clocks; the kind of kernel.
 */
#include "task.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "time-limit.h"

/* Reads a file of proc in one read, so that its values are of one moment. */
int st_read_proc(pid_t pid, const char *name, char *text, size_t size)
{
	char path[64];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	n = read(fd, text, size - 1);
	close(fd);
	if (n < 0)
		return -errno;
	text[n] = '\0';
	return 0;
}

char st_task_state(pid_t pid)
{
	char text[512], *end;

	if (st_read_proc(pid, "stat", text, sizeof(text)))
		return 0;
	end = strrchr(text, ')');
	return end && end[1] ? end[2] : 0;
}

/* The state changes shortly before the task leaves the CPU; /proc/PID/syscall waits for that. */
bool st_asleep(pid_t pid)
{
	char text[512];

	if (st_task_state(pid) != 'S')
		return false;
	return st_read_proc(pid, "syscall", text, sizeof(text)) || strncmp(text, "running", 7);
}

bool st_wait_state(pid_t pid, char state)
{
	unsigned int tries = 20000 * st_patience();

	while (tries--) {
		if (st_task_state(pid) == state)
			return true;
		usleep(1000);
	}
	return false;
}

pid_t st_find_task(const char *name)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	pid_t pid = 0;

	while (proc && !pid && (entry = readdir(proc))) {
		char comm[32];

		pid = atoi(entry->d_name);
		if (!pid || st_read_proc(pid, "comm", comm, sizeof(comm)) ||
		    strncmp(comm, name, strlen(name)) || comm[strlen(name)] != '\n')
			pid = 0;
	}
	if (proc)
		closedir(proc);
	return pid;
}

int st_usage(pid_t pid, struct st_usage *usage)
{
	char text[8192], *at;

	if (st_read_proc(pid, "status", text, sizeof(text)))
		return -1;
	at = strstr(text, "\nvoluntary_ctxt_switches:");
	if (!at || sscanf(at, "\nvoluntary_ctxt_switches: %lu", &usage->voluntary) != 1)
		return -1;
	at = strstr(text, "\nnonvoluntary_ctxt_switches:");
	if (!at || sscanf(at, "\nnonvoluntary_ctxt_switches: %lu", &usage->involuntary) != 1)
		return -1;
	if (st_read_proc(pid, "schedstat", text, sizeof(text)))
		return -1;
	usage->runtime = strtoull(text, NULL, 10);
	return 0;
}

int st_pin(pid_t pid, int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	return sched_setaffinity(pid, sizeof(set), &set);
}

void st_batch(void)
{
	struct sched_param param = { 0 };

	sched_setscheduler(0, SCHED_BATCH, &param);
}

int st_cpus(void)
{
	return sysconf(_SC_NPROCESSORS_ONLN);
}

uint64_t st_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

void st_sleep_often(unsigned int times)
{
	/* Long enough that the timer does not expire before the caller has left its CPU. */
	static const struct timespec shortly = { .tv_nsec = 100000 };

	prctl(PR_SET_TIMERSLACK, 1);
	while (times--)
		nanosleep(&shortly, NULL);
}

void st_burn(uint64_t ns)
{
	struct timespec t;
	uint64_t end = 0, now;

	do {
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
		now = t.tv_sec * 1000000000ull + t.tv_nsec;
		if (!end)
			end = now + ns;
	} while (now < end);
}

bool st_rt_kernel(void)
{
	struct utsname name;

	return !uname(&name) && strstr(name.version, "PREEMPT_RT");
}

unsigned int st_lock_sleeps(void)
{
	return st_rt_kernel() ? 100 : 0;
}
