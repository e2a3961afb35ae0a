/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A recording as tests make it: a session, all of its events in one array,
 * and what they say of a task.
 */
#ifndef SELFTESTS_RECORD_H
#define SELFTESTS_RECORD_H

#include <schedtape/client.h>
#include <sys/types.h>

/**
 * struct st_record - a session and what was taken of it
 * @events: in order of time
 * @lost: as announced in the pages; of a finished one all
 * @pages: taken
 * @each: NULL, or called with every page that is taken, and @arg
 */
struct st_record {
	struct schedtape_client *client;
	struct schedtape_session *session;
	struct schedtape_error err;
	struct schedtape_event *events;
	size_t n, max;
	uint64_t lost;
	uint64_t pages;
	void (*each)(const void *page, void *arg);
	void *arg;
};

/*
 * All return 0 or -errno, and say what went wrong on standard output, as TAP
 * comments.  @ring_pages: 0: the session is only opened.
 */
int st_record_open(struct st_record *r, unsigned int ring_pages);
/* With other settings: @options without its size. */
int st_record_open_with(struct st_record *r, struct schedtape_session_options options);
int st_record_add(struct st_record *r, pid_t pid);
/* Out of the filter; a thread alone; a cgroup by its id; flags and patterns. */
int st_record_del(struct st_record *r, pid_t pid);
int st_record_add_thread(struct st_record *r, pid_t tid);
int st_record_del_thread(struct st_record *r, pid_t tid);
int st_record_add_cgroup(struct st_record *r, uint64_t id);
int st_record_del_cgroup(struct st_record *r, uint64_t id);
int st_record_set(struct st_record *r, const struct schedtape_filter *filter);
int st_record_start(struct st_record *r);
int st_record_pause(struct st_record *r);
int st_record_stop(struct st_record *r);
int st_record_get(struct st_record *r, struct schedtape_session_state *state);
/*
 * Waits until so many tasks are in the filter: whom its parent has reaped still
 * has its last switch before it.  False: there never were.
 */
bool st_record_wait_tasks(struct st_record *r, unsigned int tasks);
/* Takes the pages that wait, of all CPUs, and sorts their events by time. */
int st_record_take(struct st_record *r);
/* The same after a flush: all that there is until now. */
int st_record_flush(struct st_record *r);
/* Stops, and takes what is left. */
int st_record_finish(struct st_record *r);
void st_record_close(struct st_record *r);

/**
 * struct st_counts - what the events say of one task
 * @out: times that it was switched out, by enum stape_state
 * @in: times that it was switched in
 * @waking: by enum stape_context
 * @waking_task: those in task context by a task of the filter
 * @forked: its own FORK; @forks: its children
 * @cpu_time: ns between its switches in and out
 */
struct st_counts {
	unsigned int out[16];
	unsigned int in;
	unsigned int waking[4];
	unsigned int waking_task;
	unsigned int wakeup;
	unsigned int wakeup_new;
	unsigned int forked;
	unsigned int forks;
	unsigned int exits;
	unsigned int migrates;
	unsigned int execs;
	unsigned int renames;
	uint64_t cpu_time;
};

void st_count(const struct st_record *r, pid_t pid, struct st_counts *c);
/* Switches out by blocking, stopping, dying; what the kernel calls voluntary. */
unsigned int st_voluntary(const struct st_counts *c);
unsigned int st_wakings(const struct st_counts *c);
/* Events of any kind that name the task. */
unsigned int st_named(const struct st_record *r, pid_t pid);
size_t st_count_type(const struct st_record *r, unsigned int type);
/* Descriptions of the task, or of any (0), for STAPE_TASK_@why. */
size_t st_count_why(const struct st_record *r, pid_t pid, unsigned int why);
/* The first of them from event @from on; none: behind the last event. */
size_t st_find_why(const struct st_record *r, pid_t pid, unsigned int why, size_t from);

#endif /* SELFTESTS_RECORD_H */
