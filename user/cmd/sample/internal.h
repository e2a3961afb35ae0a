/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the files of sample share, the lowest first.
 */
#ifndef SCHEDTAPE_SAMPLE_INTERNAL_H
#define SCHEDTAPE_SAMPLE_INTERNAL_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <json-c/json.h>

#include "common/select.h"

/* -- workload.c: its cgroup ------------------------------------------------ */

/**
 * struct workload - the cgroup in which a workload is sampled
 * @path: its folder
 * @from: where its processes were before, and go back to; "": it is their own, and stays
 * @fd: its folder, locked for as long as it is sampled; -1: it is not open
 * @events: its file cgroup.events, for poll(): POLLPRI when its last process has ended
 * @made: the folder was made, and is removed at the end
 */
struct workload {
	char path[PATH_MAX];
	char from[PATH_MAX];
	int fd;
	int events;
	bool made;
};

#define WORKLOAD_NAME	"schedtape-sample-"	/* of a cgroup that is made, before a PID */

#define WORKLOAD_CLOSED	{ .fd = -1, .events = -1 }

/*
 * Finds the cgroup for a process and its descendants: their own, if no other process is in it;
 * otherwise one that is still to be made, below theirs, so that its limits hold on.  @child: the
 * process is this one's, which shares its cgroup.  Returns 0, or -errno after a message.
 */
int workload_find(struct workload *workload, pid_t pid, bool child);
/*
 * Finds a cgroup that is still to be made, below that of this process.  @name: of the cgroup,
 * before a PID.  Returns 0, or -errno after a message.
 */
int workload_find_new(struct workload *workload, const char *name);
/* Makes a cgroup that is still to be made, and locks it.  Returns 0, or -errno after a message. */
int workload_make(struct workload *workload);
/*
 * Locks the cgroup.  Makes it before, if it is not the process's own, and moves the process there
 * with its descendants.  Returns how many processes were moved, or -errno after a message.
 */
int workload_enter(struct workload *workload, pid_t pid);
/* Locks the cgroup that a killed sampler has left.  Returns 0, or -errno after a message. */
int workload_enter_again(struct workload *workload);
/* Returns true if a process is in the cgroup, or in one below it. */
bool workload_lives(const struct workload *workload);
/*
 * Calls @each for every process of the cgroup and of those below it, until it returns a value other
 * than 0, which is returned.  @file: "cgroup.procs"; "cgroup.threads": for every thread
 */
int workload_each(const struct workload *workload, const char *file,
		  int (*each)(pid_t pid, void *arg), void *arg);
/*
 * Moves all processes back, and removes the cgroup, if it was made.  Returns how many were moved,
 * or -errno after a message.
 */
int workload_leave(struct workload *workload);
void workload_close(struct workload *workload);

/* -- tasks.c: CPU time of the workload's tasks ----------------------------- */

/**
 * struct sample_task - a task that was alive when its time was last read
 * @time: its CPU time then, ns
 * @before: the same at the reading before; 0: the task was not there yet
 * @seen: number of the last reading that has found it
 */
struct sample_task {
	uint32_t tid;
	char name[16];
	uint64_t time;
	uint64_t before;
	uint64_t seen;
};

/**
 * struct sample_tasks - all of them, by TID
 * @reading: number of the last reading, from 1
 */
struct sample_tasks {
	struct sample_task *tasks;
	size_t nr;
	size_t capacity;
	uint64_t reading;
};

/*
 * Makes the kernel add up the CPU time of tasks that run now: cpu.stat and schedstat otherwise lack
 * what a task has used since the last tick.
 */
void tasks_account(const struct workload *workload);
/* Reads the CPU time of all tasks, after tasks_account().  Returns 0 or -ENOMEM. */
int tasks_read(struct sample_tasks *tasks, const struct workload *workload);
/* Returns what tasks that are alive have used since the reading before, as a list for JSON. */
struct json_object *tasks_list(const struct sample_tasks *tasks);
void tasks_free(struct sample_tasks *tasks);

/* -- events.c: what can be counted ----------------------------------------- */

/**
 * struct sample_event - an event
 * @name: as it was given
 * @type, @config: for perf_event_open(2)
 * @task_time: it is CPU time that the kernel accounts, and no perf event
 * @tracepoint: @config is known only after events_find()
 * @is_time: it counts ns
 * @exclude_user, @exclude_kernel: of perf's modifiers ":k" and ":u"
 */
struct sample_event {
	char *name;
	uint32_t type;
	uint64_t config;
	bool task_time;
	bool tracepoint;
	bool is_time;
	bool exclude_user;
	bool exclude_kernel;
};

/**
 * struct sample_events - those to be counted; the first one ends intervals
 */
struct sample_events {
	struct sample_event *list;
	size_t nr;
};

/*
 * Parses a list with commas, in perf's syntax.  Returns 0, -ENOMEM, or -EINVAL with the word in
 * @wrong that is no event, which the caller frees.
 */
int events_parse(struct sample_events *events, const char *text, char **wrong);
/*
 * Parses how many of an event, from 1 to below 2^62.  A time may have a unit, as "100ms".  Returns
 * false for any other text.
 */
bool events_parse_count(const struct sample_event *event, const char *text, uint64_t *count);
/* Finds the numbers of tracepoints.  Returns 0, or -errno after a message. */
int events_find(struct sample_events *events);
/* Prints why an event cannot be counted, @error, with those that can be.  Returns -errno. */
int events_say_missing(const struct sample_event *event, int error);
void events_free(struct sample_events *events);

/* -- counters.c: counts of a cgroup ---------------------------------------- */

/**
 * struct counter_part - what a CPU counts until its counter of the first event overflows
 * @count: when it was read last
 * @end: its value at the overflow; if @count has reached it, the next overflow is not known
 */
struct counter_part {
	uint64_t count;
	uint64_t end;
};

/**
 * struct counters - a counter for each event and CPU
 * @fds: of perf events: those of the event @i are from @i * @nr_cpus on
 * @rings: a page of ring for each CPU of the first event, without which poll() does not report it
 * @parts: of each CPU
 * @epoll: readable when it is time to look at the counts
 * @timer: instead of an overflow, if the first event is no perf event
 * @least: the smallest part
 * @task_time: CPU time of the cgroup before, or that does not count
 * @stopped: CPU time that counts, at the last counters_disable()
 */
struct counters {
	const struct sample_events *events;
	const struct workload *workload;
	uint32_t *cpus;
	size_t nr_cpus;
	int *fds;
	void **rings;
	struct counter_part *parts;
	int epoll;
	int timer;
	uint64_t least;
	uint64_t task_time;
	uint64_t stopped;
};

#define COUNTERS_CLOSED	{ .epoll = -1, .timer = -1 }

/* The value of a count that the kernel has only for a part of the time. */
#define COUNT_UNKNOWN	UINT64_MAX

/*
 * Opens the counters, which count nothing yet.  @interval: events of the first kind in an interval.
 * Returns 0, or -errno after a message.
 */
int counters_open(struct counters *counters, const struct sample_events *events,
		  const struct workload *workload, uint64_t interval);
/* Begins to count.  Returns 0, or -errno after a message. */
int counters_enable(struct counters *counters);
/* Stops counting until the next counters_enable().  Returns the same. */
int counters_disable(struct counters *counters);
/* Reads the count of the first event.  Returns 0, or -errno after a message. */
int counters_read_first(const struct counters *counters, uint64_t *count);
/* Reads all counts into @counts, one for each event.  Returns the same. */
int counters_read(const struct counters *counters, uint64_t *counts);
/*
 * Has the descriptor become readable before so many more events have happened.  Returns the same.
 */
int counters_arm(const struct counters *counters, uint64_t rest);
/* Makes the descriptor unreadable. */
void counters_seen(const struct counters *counters);
void counters_close(struct counters *counters);

/* -- manifest.c: the directory, and its list of intervals ------------------ */

#define MANIFEST_ID_LEN	33	/* of 32 hexadecimal digits */

/**
 * struct manifest - the file DIR/manifest, JSON Lines
 * @dir: the directory
 * @path: of the manifest
 * @tape: of the tape
 * @fd: -1: it is not open
 * @made: the directory was made, and is removed if nothing is recorded
 */
struct manifest {
	const char *dir;
	char *path;
	char *tape;
	int fd;
	char id[MANIFEST_ID_LEN];
	bool made;
};

#define MANIFEST_CLOSED	{ .fd = -1 }

/*
 * Makes the directory, which may be there if it is empty, and an empty manifest.  Returns 0, or
 * -errno after a message.
 */
int manifest_make(struct manifest *manifest, const char *dir);
/* Opens the manifest of an earlier sample, and reads its first line. */
int manifest_open(struct manifest *manifest, const char *dir, struct json_object **first);
/* Writes a line, whole, and releases the object.  Returns 0, or -errno after a message. */
int manifest_add(const struct manifest *manifest, struct json_object *line);
/* @keep: false: removes it, and the directory, if that was made. */
void manifest_close(struct manifest *manifest, bool keep);

/* -- recover.c: what a sampler that was killed has left behind ------------- */

/* Returns an exit status. */
int sample_recover(const char *dir);

/* -- options.c: the command line ------------------------------------------- */

/**
 * struct sample_options - what to sample
 * @events: of --event
 * @interval: of --interval: events of the first kind
 * @at: of --at: the only intervals whose ends are noted; empty: all
 * @max: of --max: so many intervals; 0: no limit
 * @pid: of -p; 0: there is a command
 * @output: the directory
 * @no_checkpoint: --no-checkpoint
 * @no_files: --files=none: keep no files with checkpoints
 * @criu: of --criu, or NULL
 * @recover: the directory of --recover, or NULL
 */
struct sample_options {
	struct sample_events events;
	uint64_t interval;
	struct select_numbers at;
	uint32_t max;
	uint32_t pid;
	const char *output;
	bool no_checkpoint;
	bool no_files;
	const char *criu;
	const char *recover;
	bool quiet;
	char **command;
};

/* Does not return if an option is wrong. */
void sample_options_parse(struct sample_options *opts, int argc, char **argv);
void sample_options_free(struct sample_options *opts);

#endif /* SCHEDTAPE_SAMPLE_INTERNAL_H */
