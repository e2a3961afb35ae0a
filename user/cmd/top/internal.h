/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the files of schedtape top share.
 */
#ifndef SCHEDTAPE_TOP_INTERNAL_H
#define SCHEDTAPE_TOP_INTERNAL_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <schedtape/client.h>

#include "common/groups.h"
#include "common/recorders.h"
#include "common/sheet.h"
#include "common/task-sums.h"
#include "machine/cgroup-tree.h"
#include "record/options.h"
#include "record/recorder.h"

/* -- reader.c -------------------------------------------------------------- */

/**
 * struct interval_sum - what a task did on a CPU
 * @task: its number in the interval
 * @cpu: the CPU, or STAPE_CPU_NONE
 * @sum: its time, delays and counts there
 */
struct interval_sum {
	uint32_t task;
	uint32_t cpu;
	struct task_sum sum;
};

/**
 * struct interval - sums of all tasks
 * @begin, @end: ns of CLOCK_MONOTONIC
 * @events: number of events, without those that tell what CPUs without a task did
 * @lost: number of events that are missing, as far as it is known
 * @tasks: @nr_tasks that have a sum or lead the process of one
 * @sums: @nr_sums of them
 */
struct interval {
	uint64_t begin;
	uint64_t end;
	uint64_t events;
	uint64_t lost;
	struct task_entry *tasks;
	size_t nr_tasks;
	struct interval_sum *sums;
	size_t nr_sums;
};

/* Frees what the interval has. */
void interval_free(struct interval *interval);

/*
 * Adds up what the tasks of a live tape do, one interval after the other.  A task that runs when an
 * interval ends has its time up to then in that interval, and the rest in the next one.
 */

/**
 * struct top_lane - a CPU
 * @task: index of the task that runs there; SCHEDTAPE_NONE: none
 * @since: from when on its time is not in a sum yet
 */
struct top_lane {
	uint32_t task;
	uint64_t since;
};

/**
 * struct top_sums - the interval so far
 * @begin: when it began, ns
 * @events, @lost: as in struct interval
 * @tasks: of each task on each CPU
 * @lanes: @nr_lanes CPUs
 * @all: selects all tasks
 * @rc: the first failure
 */
struct top_sums {
	uint64_t begin;
	uint64_t events;
	uint64_t lost;
	struct task_sums tasks;
	struct top_lane *lanes;
	size_t nr_lanes;
	struct selection all;
	int rc;
};

/*
 * Reads the tape of a recording that runs, in a thread of its own, and hands over what the tasks
 * did in each interval.
 *
 *	reader_start()
 *	whenever @ready is readable: reader_take(), until it returns READER_ENDED
 *	reader_join()
 */

/**
 * struct reader - a thread that reads
 * @path: of the pipe
 * @length: least length of an interval, ns
 * @ready: eventfd, readable when there is an interval, or the thread has ended
 * @tape, @timeline, @sums: of the thread
 * @cgroups: those that had a name when the recording began; valid once there is an interval
 * @lock: of the members that follow
 * @taken: signalled when @interval was taken
 * @interval: the last interval, if @full
 * @ended: the thread has ended, with @ret and @err
 */
struct reader {
	const char *path;
	uint64_t length;
	int ready;
	pthread_t thread;
	struct schedtape_tape *tape;
	struct schedtape_timeline *timeline;
	struct top_sums sums;
	struct schedtape_cgroup_table cgroups;
	pthread_mutex_t lock;
	pthread_cond_t taken;
	struct interval interval;
	bool full;
	bool ended;
	int ret;
	struct schedtape_error err;
};

enum reader_has {
	READER_NOTHING,
	READER_INTERVAL,
	READER_ENDED,
};

/* Starts the thread.  Returns 0 or -errno. */
int reader_start(struct reader *reader, const char *path, uint64_t length);
/* Takes the next interval, if there is one; the caller frees it. */
enum reader_has reader_take(struct reader *reader, struct interval *interval);
/* Waits for the thread, which has ended, and frees what it had.  Returns @ret. */
int reader_join(struct reader *reader);

/* -- print.c --------------------------------------------------------------- */

/*
 * Shows an interval as a table, or as JSON.
 */

/* The columns of the table. */
extern const struct sheet_column top_columns[];

/**
 * struct top_view - what is shown of an interval
 * @by: what a line is of
 * @selection: which tasks
 * @cgroups: names of cgroups, NULL: they have none
 * @sheet: how the lines are sorted, and which columns there are
 * @time: how times are printed
 */
struct top_view {
	enum groups_by by;
	struct selection selection;
	const struct schedtape_cgroup_table *cgroups;
	struct sheet_options sheet;
	struct time_text time;
};

/*
 * Makes the sorted table, and its total.  Notes which names of the selection tasks have now or had
 * before.  Returns 0 or -ENOMEM.  The caller frees the table.
 */
int top_fill(struct sheet *sheet, const struct interval *interval, struct top_view *view);
/* Writes the line above the table: when, how long, how many events. */
#define TOP_HEAD	256
const char *top_head(char buffer[TOP_HEAD], const struct interval *interval,
		     const struct sheet *sheet, struct time_text *time);
/* Prints the table with that line. */
void top_print(const struct interval *interval, const struct sheet *sheet, struct time_text *time);
/* Prints one object in a line. */
void top_print_json(const struct interval *interval, const struct sheet *sheet);

/* -- session.c ------------------------------------------------------------- */

/*
 * --like: gives a session the tasks that another one's filter has, and follows that.  The module
 * tells the tasks of a filter, not its rules.
 */

/**
 * struct like - a session and its model
 * @model: the other session; 0: there is none
 * @session: the session
 * @self: PID of this process in the initial PID namespace
 * @looked: when the model's tasks were last read, ns
 * @gone: the model has ended: the tasks stay as they are
 * @hidden: a warning has said that some of its tasks have no PID here
 */
struct like {
	struct schedtape_client *client;
	uint32_t model;
	uint32_t session;
	uint32_t self;
	uint64_t looked;
	bool gone;
	bool hidden;
};

/*
 * The session of top: a thread that records into a pipe, as record does.
 *
 *	session_start()
 *	session_stop()		or the recording ends by itself, with its last task
 *	session_join()		once the pipe was read to its end
 */

/**
 * struct top_session - the thread and its recording
 * @options: what to record
 * @live_ms: how often what has come so far is written
 * @model: session whose tasks to record; 0: those of @options
 * @like: follows that one
 * @pipe: writing end of the pipe, until the thread has opened it
 * @stop: eventfd, readable when the recording shall end
 * @clock: enum stape_clock
 * @cpus: mask of the recorded CPUs; NULL: all
 * @ret: how the recording went, after session_join()
 */
struct top_session {
	struct record_options *options;
	long live_ms;
	uint32_t model;
	struct like like;
	int pipe;
	int stop;
	pthread_t thread;
	struct schedtape_client *client;
	struct recorder recorder;
	uint32_t clock;
	unsigned char *cpus;
	size_t cpus_bytes;
	int ret;
};

/*
 * Starts the thread, which writes to @pipe and closes it; @options, @live_ms, @model and @pipe are
 * set.  Returns 0 or -errno; the pipe is closed then, too.
 */
int session_start(struct top_session *session);
/* Ends the recording, from another thread. */
void session_stop(struct top_session *session);
/* Waits for the thread.  Returns 0, or -errno after a message. */
int session_join(struct top_session *session);

/* -- screen.c -------------------------------------------------------------- */

/*
 * The state of the screen, and what keys do to it.
 */

enum screen_prompt {
	SCREEN_NO_PROMPT,
	SCREEN_FILTER,
	SCREEN_SORT,
};

/**
 * struct screen - what is on the screen
 * @view: how intervals are shown; keys change it
 * @recorder: name of the recorder whose tasks these are; NULL: there is none
 * @delay: length of an interval, s
 * @interval: the one that is shown, if @any
 * @paused: the next ones are not shown
 * @help: the keys are shown instead
 * @first: the number of the first line that is shown
 * @rows: number of lines, and @room for how many there is room, at the last drawing
 * @prompt: what the user is typing, in @typed
 * @sort: a sort order that was typed, because @view has a pointer only
 * @message: what was wrong with the last input, or its result; "": nothing
 * @messages: has what was written to standard error
 * @standard_error: the user's standard error
 */
struct screen {
	struct top_view *view;
	const char *recorder;
	double delay;
	struct interval interval;
	bool any;
	bool paused;
	bool help;
	size_t first;
	size_t rows;
	size_t room;
	enum screen_prompt prompt;
	char typed[128];
	char sort[128];
	char message[RECORDERS_LINE];
	int messages;
	int standard_error;
};

/* Obeys a key of curses.  Returns false if it ends the command. */
bool keys_obey(struct screen *screen, int key);

/*
 * Shows intervals on a terminal, and changes by keys how.
 *
 *	screen_begin()
 *	screen_show()	for each interval
 *	screen_keys()	when there is input, or a signal has come
 *	screen_end()
 */

/* Returns false if standard input and output are no terminal that can move its cursor. */
bool screen_begin(struct screen *screen, struct top_view *view, const char *recorder,
		  double delay);
/* Shows an interval, which belongs to the screen from now on.  Returns 0 or -ENOMEM. */
int screen_show(struct screen *screen, struct interval *interval);
/* Obeys all keys that were pressed.  Returns false if one of them ends the command. */
bool screen_keys(struct screen *screen);
/*
 * Gives the terminal back, and then writes the messages that have come meanwhile.  The caller frees
 * @interval.
 */
void screen_end(struct screen *screen);

#endif /* SCHEDTAPE_TOP_INTERNAL_H */
