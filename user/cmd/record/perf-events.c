// SPDX-License-Identifier: GPL-2.0-only
/*
 * Each CPU has one ring, for the events of all tracepoints and tasks there.  The ring and its
 * records are those of perf_event_open(2).
 */
#include "record/internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <linux/perf_event.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/list.h"
#include "base/pid-namespace.h"
#include "common/output.h"
#include "common/rights.h"
#include "common/select.h"
#include "common/signals.h"
#include "module/cgroup.h"
#include "tape/samples.h"

/* With the page of its head, this is what the kernel lets a user lock on each CPU. */
#define RING_BYTES	(1U << 19)
#define RING_FILLS	(RING_BYTES / 4)
#define BATCH		1024		/* samples of one record on the tape, at most */
#define RECORD_MAX	65536		/* bytes of a record in a ring: its size has 16 bits */

/**
 * struct ring - the samples of one CPU
 * @head: its first page, NULL: it is not mapped
 * @lost: samples that were lost since the last one
 * @told: lost samples that the tape has
 * @dropped: samples, since the last one, of tasks that the session did not record
 */
struct ring {
	struct perf_event_mmap_page *head;
	uint32_t cpu;
	int fd;
	uint64_t lost;
	uint64_t told;
	uint64_t dropped;
};

/**
 * struct opened - an event
 * @ring: index of the ring that its samples are in
 */
struct opened {
	int fd;
	uint32_t ring;
};

/**
 * struct perf_events - the events of a recording
 * @opened: all @nr_opened events
 * @left_out: tracepoints that cannot be recorded
 * @members: which tasks the session records
 * @everywhere: the events are those of all tasks
 * @batch: samples that are on their way to the tape
 * @whole: a record that begins at a ring's end and ends at its beginning
 */
struct perf_events {
	const struct tracepoints *points;
	bool *left_out;
	struct opened *opened;
	size_t nr_opened;
	size_t opened_capacity;
	struct ring *rings;
	size_t nr_rings;
	int epoll;
	struct record_members *members;
	bool everywhere;
	struct schedtape_sample batch[BATCH];
	size_t nr_batch;
	uint64_t whole[RECORD_MAX / sizeof(uint64_t)];
	struct perf_events_counts counts;
};

/**
 * struct target - what an event is of
 * @pid: of a thread; -1: all; or with PERF_FLAG_PID_CGROUP in @flags, descriptor of a cgroup
 * @inherit: also of what the thread forks
 */
struct target {
	int pid;
	unsigned long flags;
	bool inherit;
};

/* -- opening --------------------------------------------------------------- */

static int explain(const char *what, int error)
{
	switch (error) {
	case EACCES:
	case EPERM:
		rights_say_perf(what);
		break;
	case EMFILE:
	case ENFILE:
		out_error(NULL, "%s: too many open files: each tracepoint needs one for each CPU "
			  "and thread: use -a or -G, name fewer, or raise \"ulimit -n\"", what);
		break;
	default:
		out_error(NULL, "%s: %s", what, strerror(error));
	}
	return -error;
}

static int keep_fd(struct perf_events *events, int fd, const struct ring *ring)
{
	struct opened *opened;

	opened = schedtape_list_grow(events->opened, events->nr_opened, &events->opened_capacity,
				     sizeof(*opened));
	if (!opened) {
		close(fd);
		return -ENOMEM;
	}
	events->opened = opened;
	opened[events->nr_opened++] = (struct opened){ fd, ring - events->rings };
	return 0;
}

static int map_ring(struct perf_events *events, struct ring *ring, int fd)
{
	struct epoll_event event = { .events = EPOLLIN | EPOLLET };
	void *head = mmap(NULL, RING_BYTES + getpagesize(), PROT_READ | PROT_WRITE, MAP_SHARED, fd,
			  0);

	if (head == MAP_FAILED)
		return explain("-e: a ring of 512 KB for each CPU", errno);
	ring->head = head;
	ring->fd = fd;
	/* Edges only, because it stays readable after a task's end. */
	return epoll_ctl(events->epoll, EPOLL_CTL_ADD, fd, &event) ? -errno : 0;
}

static int set_filter(const struct schedtape_format *point, int fd)
{
	char reason[128];
	bool known;

	if (!point->filter || !ioctl(fd, PERF_EVENT_IOC_SET_FILTER, point->filter))
		return 0;
	if (errno != EINVAL)
		return explain("--filter", errno);
	known = tracepoints_objection(point, reason, sizeof(reason));
	out_error(NULL, "--filter '%s': the kernel refuses it for %s:%s%s%s; its fields are in "
		  "/sys/kernel/tracing/events/%s/%s/format", point->filter, point->system,
		  point->name, known ? ": " : "", known ? reason : "", point->system, point->name);
	return -EINVAL;
}

/*
 * The kernel has some tracepoints, as those of ftrace, that perf events cannot record.  What only
 * matches a pattern is left out.
 */
static int leave_out(struct perf_events *events, const struct schedtape_format *point)
{
	size_t number = point - events->points->found;

	if (tracepoints_name(events->points, point)) {
		out_error(NULL, "-e %s:%s: perf events cannot record it: %s", point->system,
			  point->name, strerror(EINVAL));
		return -EINVAL;
	}
	if (!events->left_out[number])
		out_warning(NULL, "-e %s:%s: perf events cannot record it: left out",
			    point->system, point->name);
	events->left_out[number] = true;
	return 0;
}

/* Opens a tracepoint for a target on a CPU.  A thread that has ended is no error. */
static int open_one(struct perf_events *events, struct ring *ring,
		    const struct schedtape_format *point, const struct target *target)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_TRACEPOINT,
		.size = sizeof(attr),
		.config = point->id,
		.sample_period = 1,
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_RAW,
		.read_format = PERF_FORMAT_LOST,
		.disabled = 1,
		.inherit = target->inherit,
		.sample_id_all = 1,
		.watermark = 1,
		.wakeup_watermark = RING_FILLS,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
	};
	char name[256];
	int fd, ret;

	fd = syscall(SYS_perf_event_open, &attr, target->pid, ring->cpu, -1,
		     target->flags | PERF_FLAG_FD_CLOEXEC);
	if (fd < 0 && errno == ESRCH)
		return 0;
	if (fd < 0 && errno == EINVAL)
		return leave_out(events, point);
	if (fd < 0) {
		snprintf(name, sizeof(name), "-e %s:%s", point->system, point->name);
		return explain(name, errno);
	}
	ret = keep_fd(events, fd, ring);
	if (!ret)
		ret = set_filter(point, fd);
	if (!ret && !ring->head)
		ret = map_ring(events, ring, fd);
	else if (!ret && ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, ring->fd))
		ret = explain("-e: a ring for several tracepoints", errno);
	return ret;
}

/* Opens all tracepoints for a target on all CPUs. */
static int open_target(struct perf_events *events, const struct target *target)
{
	size_t i, cpu;
	int ret = 0;

	for (cpu = 0; cpu < events->nr_rings && !ret; cpu++)
		for (i = 0; i < events->points->nr_found && !ret; i++)
			ret = open_one(events, &events->rings[cpu], &events->points->found[i],
				       target);
	return ret;
}

/**
 * struct threads - those that events are opened for
 */
struct threads {
	uint32_t *tids;
	size_t nr;
	size_t capacity;
};

static int add_thread(struct threads *threads, uint32_t tid)
{
	uint32_t *tids = schedtape_list_grow(threads->tids, threads->nr, &threads->capacity,
					     sizeof(*tids));

	if (!tids)
		return -ENOMEM;
	threads->tids = tids;
	tids[threads->nr++] = tid;
	return 0;
}

/* Adds all threads of a process. */
static int add_process(struct threads *threads, uint32_t pid)
{
	char path[32];
	struct dirent *entry;
	DIR *tasks;
	int ret = 0;

	snprintf(path, sizeof(path), "/proc/%u/task", pid);
	tasks = opendir(path);
	while (tasks && !ret && (entry = readdir(tasks)))
		if (atoi(entry->d_name) > 0)
			ret = add_thread(threads, atoi(entry->d_name));
	if (tasks)
		closedir(tasks);
	return ret;
}

static int by_tid(const void *one, const void *two)
{
	uint32_t a = *(const uint32_t *)one, b = *(const uint32_t *)two;

	return a < b ? -1 : a > b;
}

/*
 * Opens them for each thread once.  The list is complete before, because a thread that is forked
 * meanwhile inherits the events.
 */
static int open_threads(struct perf_events *events, const struct perf_events_options *options)
{
	const struct schedtape_filter *filter = options->filter;
	struct target target = { .inherit = !filter->no_inherit };
	struct threads threads = { 0 };
	int ret = options->child ? add_process(&threads, options->child) : 0;
	size_t i;

	for (i = 0; i < filter->nr_pids && !ret; i++)
		ret = add_process(&threads, filter->pids[i]);
	for (i = 0; i < filter->nr_tids && !ret; i++)
		ret = add_thread(&threads, filter->tids[i]);
	if (ret)
		out_error(NULL, "-e: %s", strerror(-ret));
	if (threads.nr)
		qsort(threads.tids, threads.nr, sizeof(*threads.tids), by_tid);
	for (i = 0; i < threads.nr && !ret; i++) {
		target.pid = threads.tids[i];
		if (!i || threads.tids[i] != threads.tids[i - 1])
			ret = open_target(events, &target);
	}
	free(threads.tids);
	return ret;
}

bool perf_events_within_another(const struct schedtape_filter *filter, size_t number)
{
	const char *path = filter->cgroups[number].path, *other;
	size_t i, len;

	for (i = 0; path && i < filter->nr_cgroups; i++) {
		other = filter->cgroups[i].path;
		len = other ? strlen(other) : 0;
		if (i == number || !len || strncmp(path, other, len))
			continue;
		if (path[len] == '/' || other[len - 1] == '/' || (!path[len] && i < number))
			return true;
	}
	return false;
}

static int open_cgroup(struct perf_events *events, const struct schedtape_cgroup *cgroup)
{
	struct target target = { .flags = PERF_FLAG_PID_CGROUP };
	char path[2 * PATH_MAX];
	struct schedtape_error err;
	int ret;

	ret = schedtape_cgroup_mount(path, PATH_MAX, &err);
	if (ret)
		return out_failed(ret, &err);
	strncat(path, cgroup->path ? cgroup->path : "", PATH_MAX - 1);
	target.pid = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (target.pid < 0) {
		ret = -errno;
		out_error(path, "-e: %s", strerror(-ret));
		return ret;
	}
	ret = open_target(events, &target);
	close(target.pid);
	return ret;
}

static int open_targets(struct perf_events *events, const struct perf_events_options *options)
{
	const struct schedtape_filter *filter = options->filter;
	const struct target all = { .pid = -1 };
	int ret;
	size_t i;

	/* An event for a task, and one for its cgroup, would both have its samples. */
	events->everywhere = filter->all ||
			     (filter->nr_cgroups &&
			      (filter->nr_pids || filter->nr_tids || options->child));
	if (events->everywhere)
		return open_target(events, &all);
	ret = open_threads(events, options);
	for (i = 0; i < filter->nr_cgroups && !ret; i++)
		if (!perf_events_within_another(filter, i))
			ret = open_cgroup(events, &filter->cgroups[i]);
	return ret;
}

/* -- CPUs ------------------------------------------------------------------ */

static int make_rings(struct perf_events *events, const struct perf_events_options *options)
{
	uint32_t *cpus;
	size_t i, n;
	int ret = cpu_list_online(&cpus, &n);

	events->rings = ret ? NULL : calloc(n, sizeof(*events->rings));
	if (!ret && !events->rings)
		ret = -ENOMEM;
	for (i = 0; i < n && !ret; i++)
		if (!options->cpus || (cpus[i] / 8 < options->cpus_bytes &&
				       cpu_list_has(options->cpus, cpus[i])))
			events->rings[events->nr_rings++].cpu = cpus[i];
	free(cpus);
	return ret;
}

int perf_events_open(const struct perf_events_options *options, struct perf_events **events)
{
	struct perf_events *e = calloc(1, sizeof(*e));
	int ret;

	*events = e;
	if (!e)
		return -ENOMEM;
	e->points = options->points;
	e->members = options->members;
	e->epoll = epoll_create1(EPOLL_CLOEXEC);
	e->left_out = calloc(e->points->nr_found + 1, sizeof(*e->left_out));
	ret = e->epoll < 0 ? -errno : e->left_out ? make_rings(e, options) : -ENOMEM;
	if (ret)
		out_error(NULL, "-e: %s", strerror(-ret));
	/*
	 * The kernel gives samples the PIDs of the recorder's namespace, and events of scheduling
	 * those of the initial one.
	 */
	if (!ret && !pid_namespace_is_initial()) {
		out_error(NULL, "-e: not in a container, where the PIDs of other tracepoints are "
			  "other ones: record on the host");
		return -EINVAL;
	}
	files_limit_raise(FILES_LIMIT_MOST);
	return ret ? ret : open_targets(e, options);
}

bool perf_events_everywhere(const struct perf_events *events)
{
	return events->everywhere;
}

void perf_events_enable(const struct perf_events *events, bool on)
{
	size_t i;

	for (i = 0; events && i < events->nr_opened; i++)
		ioctl(events->opened[i].fd, on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0);
}

int perf_events_fd(const struct perf_events *events)
{
	return events ? events->epoll : -1;
}

bool perf_events_fill(const struct perf_events *events)
{
	const struct perf_event_mmap_page *head;
	struct epoll_event ready[16];
	size_t i;

	/* Only this makes the descriptor unreadable again. */
	while (epoll_wait(events->epoll, ready, 16, 0) == 16)
		;
	for (i = 0; i < events->nr_rings; i++) {
		head = events->rings[i].head;
		if (head && __atomic_load_n(&head->data_head, __ATOMIC_RELAXED) -
			    head->data_tail >= RING_FILLS)
			return true;
	}
	return false;
}

/* -- samples --------------------------------------------------------------- */

int perf_events_describe(const struct perf_events *events, struct schedtape_writer *writer,
			 struct schedtape_error *err)
{
	struct schedtape_formats formats = {
		.size = sizeof(formats),
		.long_bytes = sizeof(long),
		.big_endian = __BYTE_ORDER == __BIG_ENDIAN,
	};
	size_t i;
	int ret = 0;

	/* A record has room for at least so many of the longest. */
	for (i = 0; i < events->points->nr_found && !ret; i += formats.n) {
		formats.formats = events->points->found + i;
		formats.n = events->points->nr_found - i < 30 ? events->points->nr_found - i : 30;
		ret = schedtape_writer_formats(writer, &formats, err);
	}
	return ret;
}

/* An interrupt's samples may come before the one that it has interrupted. */
static void sort_batch(struct perf_events *events)
{
	struct schedtape_sample *batch = events->batch, moved;
	size_t i, j;

	for (i = 1; i < events->nr_batch; i++) {
		moved = batch[i];
		for (j = i; j && batch[j - 1].time > moved.time; j--)
			batch[j] = batch[j - 1];
		batch[j] = moved;
	}
}

/* Writes what there is of a ring, and how many samples before that were dropped. */
static int write_batch(struct perf_events *events, struct ring *ring,
		       struct schedtape_writer *writer, struct schedtape_error *err)
{
	size_t i, n = events->nr_batch;
	int ret;

	sort_batch(events);
	events->nr_batch = 0;
	ret = tape_writer_samples(writer, ring->cpu, events->batch, n, ring->dropped, err);
	if (ret)
		return ret;
	events->counts.samples += n;
	events->counts.dropped += ring->dropped;
	ring->dropped = 0;
	for (i = 0; i < n; i++)
		events->counts.lost += events->batch[i].lost;
	return 0;
}

/* Numbers behind a record's header, as perf_event_open(2) has them for our sample_type. */
struct lost {
	uint64_t id;
	uint64_t lost;
	uint32_t pid, tid;
	uint64_t time;
};

struct sample {
	uint32_t pid, tid;
	uint64_t time;
	uint32_t bytes;
	unsigned char data[];
};

/* What data begin with, as the format of each tracepoint says. */
struct common {
	uint16_t type;
	uint8_t flags;
	uint8_t preempt_count;
	int32_t pid;
};

static bool is_recorded(const struct perf_events *events, const struct sample *sample)
{
	const struct common *common = (const void *)sample->data;
	uint32_t tid = sample->tid;

	/* One that was reaped while it still ran has no PID any more, but the tracepoint has it. */
	if (tid == UINT32_MAX && sample->bytes >= sizeof(*common))
		tid = common->pid;
	return members_have(events->members, tid, sample->time);
}

/* Takes a record.  Returns false if it is a sample of later than @until. */
static bool take_record(struct perf_events *events, struct ring *ring,
			const struct perf_event_header *header, uint64_t until)
{
	const struct sample *sample = (const void *)(header + 1);
	const struct lost *lost = (const void *)(header + 1);
	size_t bytes = header->size - sizeof(*header);

	if (header->type == PERF_RECORD_LOST && bytes >= sizeof(*lost))
		ring->lost += lost->lost;
	if (header->type != PERF_RECORD_SAMPLE || bytes < offsetof(struct sample, data) ||
	    sample->bytes > bytes - offsetof(struct sample, data))
		return true;
	if (sample->time > until)
		return false;
	if (!is_recorded(events, sample)) {
		ring->dropped++;
		return true;
	}
	events->batch[events->nr_batch++] = (struct schedtape_sample) {
		.time = sample->time,
		.lost = ring->lost,
		.cpu = ring->cpu,
		.pid = sample->pid,
		.tid = sample->tid,
		.bytes = sample->bytes,
		.data = sample->data,
	};
	ring->told += ring->lost;
	ring->lost = 0;
	return true;
}

/* Returns the record at @tail, in one piece. */
static const struct perf_event_header *get_record(struct perf_events *events,
						  const struct ring *ring, uint64_t tail)
{
	const char *data = (const char *)ring->head + getpagesize();
	size_t at = tail % RING_BYTES, size;
	const struct perf_event_header *header = (const void *)(data + at);

	size = header->size;
	if (at + size <= RING_BYTES)
		return header;
	memcpy(events->whole, data + at, RING_BYTES - at);
	memcpy((char *)events->whole + RING_BYTES - at, data, size - (RING_BYTES - at));
	return (const void *)events->whole;
}

static int drain_ring(struct perf_events *events, struct ring *ring, uint64_t until,
		      struct schedtape_writer *writer, struct schedtape_error *err)
{
	uint64_t tail = ring->head->data_tail, head;
	const struct perf_event_header *header;
	int ret = 0;

	/* Pairs with the kernel's barrier between the data and the head. */
	head = __atomic_load_n(&ring->head->data_head, __ATOMIC_ACQUIRE);
	while (tail != head && !ret) {
		header = get_record(events, ring, tail);
		if (header->size < sizeof(*header))
			return schedtape_fail(err, -EIO, "-e: a record of %u bytes in a ring",
					      header->size);
		if (take_record(events, ring, header, until))
			tail += header->size;
		else
			head = tail;
		if (events->nr_batch < BATCH && tail != head)
			continue;
		if (events->nr_batch)
			ret = write_batch(events, ring, writer, err);
		/* The data have been copied; pairs with the kernel's load of the tail. */
		__atomic_store_n(&ring->head->data_tail, tail, __ATOMIC_RELEASE);
	}
	return ret;
}

int perf_events_drain(struct perf_events *events, uint64_t until, struct schedtape_writer *writer,
		      struct schedtape_error *err)
{
	int ret = 0;
	size_t i;

	members_begin(events->members);
	for (i = 0; i < events->nr_rings && !ret; i++)
		if (events->rings[i].head)
			ret = drain_ring(events, &events->rings[i], until, writer, err);
	members_end(events->members, until);
	return ret;
}

/*
 * Sets what each ring has lost since its last sample.  The events know how much it is in all, and
 * the tape has a part of that.
 */
static void count_lost(struct perf_events *events)
{
	/* As perf_event_open(2) has it for our read_format. */
	struct {
		uint64_t value, lost;
	} now;
	struct ring *ring;
	size_t i;

	for (i = 0; i < events->nr_rings; i++)
		events->rings[i].lost = 0;
	for (i = 0; i < events->nr_opened; i++)
		if (read(events->opened[i].fd, &now, sizeof(now)) == sizeof(now))
			events->rings[events->opened[i].ring].lost += now.lost;
	for (i = 0; i < events->nr_rings; i++) {
		ring = &events->rings[i];
		ring->lost = ring->lost > ring->told ? ring->lost - ring->told : 0;
	}
}

int perf_events_end(struct perf_events *events, struct schedtape_writer *writer,
		    struct schedtape_error *err)
{
	int ret = perf_events_drain(events, UINT64_MAX, writer, err);
	struct ring *ring;
	size_t i;

	count_lost(events);
	for (i = 0; i < events->nr_rings && !ret; i++) {
		ring = &events->rings[i];
		if (ring->lost)
			events->batch[events->nr_batch++] = (struct schedtape_sample){
				.time = schedtape_now(), .cpu = ring->cpu, .lost = ring->lost,
				.data = "",
			};
		ret = write_batch(events, ring, writer, err);
	}
	return ret;
}

struct perf_events_counts perf_events_count(const struct perf_events *events)
{
	return events->counts;
}

void perf_events_close(struct perf_events *events)
{
	size_t i;

	if (!events)
		return;
	for (i = 0; i < events->nr_rings; i++)
		if (events->rings[i].head)
			munmap(events->rings[i].head, RING_BYTES + getpagesize());
	for (i = 0; i < events->nr_opened; i++)
		close(events->opened[i].fd);
	if (events->epoll >= 0)
		close(events->epoll);
	free(events->rings);
	free(events->left_out);
	free(events->opened);
	free(events);
}
