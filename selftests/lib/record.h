/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Recordings for tests: a session, all of its events in one array, and counts of one task's
 * events.
 */
#ifndef SELFTESTS_RECORD_H
#define SELFTESTS_RECORD_H

#include <schedtape/client.h>
#include <sys/types.h>

struct st_child;

/**
 * struct st_record - a session and the events read from it
 * @events: sorted by time; without those that tell of idle time
 * @idles: number of events left out
 * @lost: number according to the pages; after st_record_finish(), of the session
 * @pages: number of pages read
 * @each: NULL, or called with every page that is read, and @arg
 */
struct st_record {
	struct schedtape_client *client;
	struct schedtape_session *session;
	struct schedtape_error err;
	struct schedtape_event *events;
	size_t n, max;
	uint64_t idles;
	uint64_t lost;
	uint64_t pages;
	void (*each)(const void *page, void *arg);
	void *arg;
};

/*
 * All return 0 or -errno, and print errors to standard output as TAP comments. @ring_pages: 0:
 * open the session only.
 */
int st_record_open(struct st_record *r, unsigned int ring_pages);
/* The same with other settings: @options without its size. */
int st_record_open_with(struct st_record *r, struct schedtape_session_options options);
int st_record_add(struct st_record *r, pid_t pid);
/*
 * Changes the filter: removes a process; adds or removes a thread, a cgroup by its id, flags
 * and patterns.
 */
int st_record_del(struct st_record *r, pid_t pid);
int st_record_add_thread(struct st_record *r, pid_t tid);
int st_record_del_thread(struct st_record *r, pid_t tid);
int st_record_add_cgroup(struct st_record *r, uint64_t id);
int st_record_follow_cgroup(struct st_record *r, uint64_t id);
int st_record_del_cgroup(struct st_record *r, uint64_t id);
int st_record_set(struct st_record *r, const struct schedtape_filter *filter);
int st_record_start(struct st_record *r);
/* Adds children, and starts the session. */
int st_record_start_with(struct st_record *r, const struct st_child *w, size_t n);
/* Forks a child, see st_child_fork(), adds it and starts the session. */
int st_record_child(struct st_record *r, struct st_child *w, int cpu, int (*fn)(void *arg),
		    void *arg);
int st_record_pause(struct st_record *r);
int st_record_stop(struct st_record *r);
int st_record_get(struct st_record *r, struct schedtape_session_state *state);
/* Returns how many tasks the session has, or UINT32_MAX. */
uint32_t st_record_tasks(struct st_record *r);
/*
 * Waits until so many tasks are in the filter. A task that its parent has reaped may still have
 * its last switch to do. Returns false if the number was never reached.
 */
bool st_record_wait_tasks(struct st_record *r, unsigned int tasks);
/* Reads the full pages of all rings, and sorts their events by time. */
int st_record_take(struct st_record *r);
/* Reads only descriptions: in overwrite mode the other rings are read after the stop. */
int st_record_take_descriptions(struct st_record *r);
/* The same after a flush: reads all events until now. */
int st_record_flush(struct st_record *r);
/* Stops the session, and reads the rest. */
int st_record_finish(struct st_record *r);
void st_record_close(struct st_record *r);

/**
 * struct st_counts - counts of one task's events
 * @out: number of its switches out, by enum stape_state
 * @in: number of its switches in
 * @waking: number of its wake-ups, by enum stape_context
 * @waking_task: wake-ups in task context by a task of the filter
 * @forked: its own FORK events; @forks: those of its children
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
/* Switches out that the kernel calls voluntary: the task blocks, stops or dies. */
unsigned int st_voluntary(const struct st_counts *c);
unsigned int st_wakings(const struct st_counts *c);
/* Number of events of any kind that name the task. */
unsigned int st_named(const struct st_record *r, pid_t pid);
size_t st_count_type(const struct st_record *r, unsigned int type);
/* Number of descriptions of the task, or of any task (0), for STAPE_TASK_@why. */
size_t st_count_why(const struct st_record *r, pid_t pid, unsigned int why);
/* Index of the first of them from event @from on, or the number of events. */
size_t st_find_why(const struct st_record *r, pid_t pid, unsigned int why, size_t from);

/* The teardown of a fixture with @w, a child or an array of children, and a session, @r. */
#define ST_TEARDOWN(fixture)								\
	FIXTURE_TEARDOWN(fixture)							\
	{										\
		st_children_kill((struct st_child *)&self->w,				\
				 sizeof(self->w) / sizeof(struct st_child));		\
		st_record_close(&self->r);						\
	}

#endif /* SELFTESTS_RECORD_H */
