// SPDX-License-Identifier: GPL-2.0-only
/*
 * Each CPU counts for itself, and its counter overflows after a part of what is left of the
 * interval.  All these parts together are less than what is left, so one of the CPUs overflows
 * before the interval is over.  Then the sum is read.
 *
 * At first each part is what is left, divided by twice the number of CPUs.  A CPU that overflows
 * gets half of what is in no part yet; when that is too little, all get new ones.  So a workload
 * that keeps one of many CPUs busy is looked at as seldom as one that uses them all.
 */
#include "sample/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <linux/perf_event.h>

#include "base/first-line.h"
#include "common/output.h"
#include "common/signals.h"

#define PARTS		1000		/* of an interval: all CPUs together may miss one of them */
#define LEAST_NS	50000		/* a shorter part of time would cost more than it gains */

/**
 * struct value - what read(2) of a perf event returns, see @read_format
 */
struct value {
	uint64_t count;
	uint64_t enabled;
	uint64_t running;
};

/* -- opening --------------------------------------------------------------- */

static int find_cpus(struct counters *counters)
{
	int ret = cpu_list_online(&counters->cpus, &counters->nr_cpus);

	if (ret)
		out_error(NULL, "the list of CPUs cannot be read: %s", strerror(-ret));
	return ret;
}

static int add_to_epoll(const struct counters *counters, int fd, uint32_t events)
{
	struct epoll_event event = { .events = events, .data.fd = fd };

	return epoll_ctl(counters->epoll, EPOLL_CTL_ADD, fd, &event) ? -errno : 0;
}

/* A page for the kernel's counts, and one for events. */
static size_t ring_bytes(void)
{
	return (size_t)2 * getpagesize();
}

/* Nobody reads the ring: it is mapped read-only, so that the kernel overwrites it. */
static int map_ring(struct counters *counters, size_t cpu, int fd)
{
	void *ring = mmap(NULL, ring_bytes(), PROT_READ, MAP_SHARED, fd, 0);

	if (ring == MAP_FAILED)
		return -errno;
	counters->rings[cpu] = ring;
	return add_to_epoll(counters, fd, EPOLLIN | EPOLLET);
}

static int open_one(struct counters *counters, size_t number, size_t cpu, uint64_t interval)
{
	const struct sample_event *event = &counters->events->list[number];
	struct perf_event_attr attr = {
		.type = event->type,
		.size = sizeof(attr),
		.config = event->config,
		/* Only the first event must not share a counter of the CPU. */
		.sample_period = number ? 0 : interval,
		.pinned = !number,
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
		.disabled = 1,
		.exclude_user = event->exclude_user,
		.exclude_kernel = event->exclude_kernel,
		.wakeup_events = 1,
	};
	int fd, ret;

	fd = syscall(SYS_perf_event_open, &attr, counters->workload->fd, counters->cpus[cpu], -1,
		     PERF_FLAG_PID_CGROUP | PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return events_say_missing(event, errno);
	counters->fds[number * counters->nr_cpus + cpu] = fd;
	ret = number ? 0 : map_ring(counters, cpu, fd);
	if (ret)
		out_error(NULL, "--event %s: %s", event->name, strerror(-ret));
	return ret;
}

static int open_timer(struct counters *counters)
{
	int ret;

	counters->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	ret = counters->timer < 0 ? -errno : add_to_epoll(counters, counters->timer, EPOLLIN);
	if (ret)
		out_error(NULL, "--event: %s", strerror(-ret));
	return ret;
}

int counters_open(struct counters *counters, const struct sample_events *events,
		  const struct workload *workload, uint64_t interval)
{
	size_t i, n, cpu;
	int ret;

	*counters = (struct counters)COUNTERS_CLOSED;
	counters->events = events;
	counters->workload = workload;
	ret = find_cpus(counters);
	if (ret)
		return ret;
	counters->least = interval / PARTS;
	if (events->list[0].is_time && counters->least < LEAST_NS)
		counters->least = LEAST_NS;
	counters->least = counters->least / counters->nr_cpus + 1;
	n = events->nr * counters->nr_cpus;
	counters->fds = malloc(n * sizeof(*counters->fds));
	counters->rings = calloc(counters->nr_cpus, sizeof(*counters->rings));
	counters->parts = calloc(counters->nr_cpus, sizeof(*counters->parts));
	counters->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (!counters->fds || !counters->rings || !counters->parts || counters->epoll < 0) {
		out_error(NULL, "--event: %s", strerror(errno));
		free(counters->fds);
		counters->fds = NULL;
		return -ENOMEM;
	}
	for (i = 0; i < n; i++)
		counters->fds[i] = -1;
	files_limit_raise(FILES_LIMIT_MOST);
	if (events->list[0].task_time)
		ret = open_timer(counters);
	for (i = 0; i < events->nr; i++)
		for (cpu = 0; cpu < counters->nr_cpus && !ret; cpu++)
			if (!events->list[i].task_time)
				ret = open_one(counters, i, cpu, interval);
	return ret;
}

/* -- reading --------------------------------------------------------------- */

/* The cgroup's own count, because it has the tasks that have ended, too. */
static int read_task_time(const struct counters *counters, uint64_t *count)
{
	char path[PATH_MAX + 32], line[64];
	unsigned long long us;

	tasks_account(counters->workload);
	snprintf(path, sizeof(path), "%s/cpu.stat", counters->workload->path);
	if (first_line_read(path, line, sizeof(line)) &&
	    sscanf(line, "usage_usec %llu", &us) == 1) {
		*count = us * 1000 - counters->task_time;
		return 0;
	}
	out_error(path, "has no CPU time");
	return -EIO;
}

static int read_perf(const struct counters *counters, size_t number, uint64_t *count)
{
	const struct sample_event *event = &counters->events->list[number];
	/* Only the CPU's own counters are too few at times, and the first event keeps its one. */
	bool shared = number && event->type != PERF_TYPE_SOFTWARE && !event->tracepoint;
	struct value value;
	size_t cpu;
	ssize_t n;

	*count = 0;
	for (cpu = 0; cpu < counters->nr_cpus; cpu++) {
		n = read(counters->fds[number * counters->nr_cpus + cpu], &value, sizeof(value));
		if (n != sizeof(value)) {
			/* Nothing: a counter that must not be shared has found no room. */
			out_error(NULL, "--event %s: %s", event->name, n ?
				  strerror(errno) : "another program has the CPU's counters");
			return -EIO;
		}
		if (!number)
			counters->parts[cpu].count = value.count;
		if (shared && value.running < value.enabled)
			*count = COUNT_UNKNOWN;
		else if (*count != COUNT_UNKNOWN)
			*count += value.count;
	}
	return 0;
}

static int read_one(const struct counters *counters, size_t number, uint64_t *count)
{
	return counters->events->list[number].task_time ? read_task_time(counters, count) :
							  read_perf(counters, number, count);
}

int counters_read_first(const struct counters *counters, uint64_t *count)
{
	return read_one(counters, 0, count);
}

int counters_read(const struct counters *counters, uint64_t *counts)
{
	int ret = 0;
	size_t i;

	for (i = 0; i < counters->events->nr && !ret; i++)
		ret = read_one(counters, i, &counts[i]);
	return ret;
}

/* @request: PERF_EVENT_IOC_ENABLE or PERF_EVENT_IOC_DISABLE; @task_time: gets the time now */
static int switch_all(const struct counters *counters, unsigned long request, uint64_t *task_time)
{
	int ret = 0;
	size_t i;

	for (i = 0; i < counters->events->nr * counters->nr_cpus; i++)
		if (counters->fds[i] >= 0)
			ioctl(counters->fds[i], request, 0);
	for (i = 0; i < counters->events->nr && !ret; i++)
		if (counters->events->list[i].task_time)
			ret = read_task_time(counters, task_time);
	return ret;
}

int counters_enable(struct counters *counters)
{
	uint64_t now = counters->stopped;
	int ret = switch_all(counters, PERF_EVENT_IOC_ENABLE, &now);

	counters->task_time += now - counters->stopped;
	return ret;
}

int counters_disable(struct counters *counters)
{
	return switch_all(counters, PERF_EVENT_IOC_DISABLE, &counters->stopped);
}

/* -- waiting --------------------------------------------------------------- */

/* In so much time, the workload cannot use more CPU time than is left. */
static int set_timer(const struct counters *counters, uint64_t rest)
{
	uint64_t ns = rest / counters->nr_cpus;
	struct itimerspec timer = { 0 };

	if (ns < counters->least)
		ns = counters->least;
	timer.it_value.tv_sec = ns / 1000000000;
	timer.it_value.tv_nsec = ns % 1000000000;
	return timerfd_settime(counters->timer, 0, &timer, NULL) ? -errno : 0;
}

static int set_period(const struct counters *counters, size_t cpu, uint64_t period)
{
	struct counter_part *part = &counters->parts[cpu];

	if (period < counters->least)
		period = counters->least;
	part->end = part->count + period;
	return ioctl(counters->fds[cpu], PERF_EVENT_IOC_PERIOD, &period) ? -errno : 0;
}

/* @all: new parts for all CPUs, not only for those that have reached the end of theirs. */
static int set_periods(const struct counters *counters, uint64_t period, bool all)
{
	int ret = 0;
	size_t cpu;

	for (cpu = 0; cpu < counters->nr_cpus && !ret; cpu++)
		if (all || counters->parts[cpu].count >= counters->parts[cpu].end)
			ret = set_period(counters, cpu, period);
	return ret;
}

static int set_parts(const struct counters *counters, uint64_t rest)
{
	uint64_t share = rest / (2 * counters->nr_cpus), taken = 0;
	size_t cpu, over = 0;

	for (cpu = 0; cpu < counters->nr_cpus; cpu++) {
		if (counters->parts[cpu].count < counters->parts[cpu].end)
			taken += counters->parts[cpu].end - counters->parts[cpu].count;
		else
			over++;
	}
	if (over && taken < rest && rest - taken >= rest / 4)
		return set_periods(counters, (rest - taken) / (2 * over), false);
	return set_periods(counters, share, true);
}

int counters_arm(const struct counters *counters, uint64_t rest)
{
	int ret = counters->timer >= 0 ? set_timer(counters, rest) : set_parts(counters, rest);

	if (ret)
		out_error(NULL, "--event %s: %s", counters->events->list[0].name, strerror(-ret));
	return ret;
}

void counters_seen(const struct counters *counters)
{
	struct epoll_event ready[16];
	uint64_t times;

	while (epoll_wait(counters->epoll, ready, 16, 0) == 16)
		;
	if (counters->timer >= 0 && read(counters->timer, &times, sizeof(times)) < 0)
		return;
}

/* -- the end --------------------------------------------------------------- */

void counters_close(struct counters *counters)
{
	size_t i;

	for (i = 0; counters->rings && i < counters->nr_cpus; i++)
		if (counters->rings[i])
			munmap(counters->rings[i], ring_bytes());
	for (i = 0; counters->fds && i < counters->events->nr * counters->nr_cpus; i++)
		if (counters->fds[i] >= 0)
			close(counters->fds[i]);
	if (counters->timer >= 0)
		close(counters->timer);
	if (counters->epoll >= 0)
		close(counters->epoll);
	free(counters->parts);
	free(counters->rings);
	free(counters->fds);
	free(counters->cpus);
	*counters = (struct counters)COUNTERS_CLOSED;
}
