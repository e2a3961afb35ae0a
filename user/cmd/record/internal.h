/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the files of record share, the lowest first.  recorder.h and options.h are for other
 * folders, too.
 */
#ifndef SCHEDTAPE_RECORD_INTERNAL_H
#define SCHEDTAPE_RECORD_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include <machine/cgroup-watch.h>
#include <machine/scheduler-past.h>
#include <machine/scheduler.h>
#include <schedtape.h>
#include <schedtape/client.h>

#include "base/clock.h"
#include "common/destination.h"
#include "common/units.h"
#include "tape/names.h"

struct asker;
struct json_object;
struct record_members;
struct past;
struct perf_events;
struct recorder;
struct recorder_options;

/* -- the time in ms -------------------------------------------------------- */

/* Returns CLOCK_MONOTONIC in ms. */
static inline uint64_t now_ms(void)
{
	return schedtape_now() / 1000000;
}

/* Returns how long it is until now_ms() is @due, ms, @most at most. */
static inline int ms_until(uint64_t due, int most)
{
	uint64_t now = now_ms();

	if (due <= now)
		return 0;
	return due - now < (uint64_t)most ? (int)(due - now) : most;
}

/* -- threads-option.c: the threads of --threads ---------------------------- */

/**
 * struct stream - the work of one thread
 * @cpus: CPUs whose rings the thread drains
 * @affinity: CPUs that the thread runs on, if they are online
 */
struct stream {
	unsigned char *cpus;
	unsigned char *affinity;
};

/**
 * struct streams - all threads
 * @bytes: size of every mask
 * @cpus: CPUs of all streams; other CPUs are not recorded
 * @left: online CPUs that -C selects and that are in no stream
 */
struct streams {
	struct stream *streams;
	size_t n;
	size_t bytes;
	unsigned char *cpus;
	unsigned char *left;
};

#define STREAMS_SYSFS	"/sys/devices/system"

/* Checks only the form of @spec, see below, not whether its CPUs exist. */
bool streams_valid(const char *spec);
/*
 * @spec: cpu, core, package or socket, numa, or masks CPUS/AFFINITY:...; NULL: cpu
 * @sysfs: STREAMS_SYSFS, the folder that describes the CPUs
 * @cpus, @bytes: mask of the CPUs to record; NULL: all
 */
int streams_parse(struct streams *streams, const char *spec, const char *sysfs,
		  const unsigned char *cpus, size_t bytes, struct schedtape_error *err);
void streams_free(struct streams *streams);

/* -- tracepoints.c: which other tracepoints are recorded, those of -e ------ */

/**
 * struct tracepoint_pattern - a part of an argument of -e
 * @text: "irq:*"; tracepoints_free() frees it
 * @filter: argument of the --filter behind it, or NULL
 */
struct tracepoint_pattern {
	char *text;
	const char *filter;
};

/**
 * struct tracepoints - the tracepoints to record
 * @found: those that match the @n @patterns, after tracepoints_find()
 */
struct tracepoints {
	struct tracepoint_pattern *patterns;
	size_t n;
	struct schedtape_format *found;
	size_t nr_found;
	size_t capacity;
};

/* Adds an argument of -e, "irq:*,net:netif_rx".  Returns 0, -EINVAL or -ENOMEM. */
int tracepoints_add(struct tracepoints *points, const char *text);
/* Sets the filter of the pattern that was added last.  Returns false if there is no pattern. */
bool tracepoints_filter(struct tracepoints *points, const char *filter);
/* Returns true if an argument of -e names the tracepoint, without a pattern. */
bool tracepoints_name(const struct tracepoints *points, const struct schedtape_format *point);
/* Fills @reason with what the kernel has against a filter.  Returns false if that is not known. */
bool tracepoints_objection(const struct schedtape_format *point, char *reason, size_t size);
/* Reads what matches from tracefs.  Returns 0, or -errno after a message. */
int tracepoints_find(struct tracepoints *points);
void tracepoints_free(struct tracepoints *points);

/* -- members.c: which tasks a session records, and when -------------------- */

/*
 * Other tracepoints have events of more tasks than the session records.  The descriptions of tasks
 * say when it records which.  Times are ns of CLOCK_MONOTONIC, which is the session's clock then.
 */

#define MEMBERS_PIDS	(1U << 22)	/* the kernel has no more */

/**
 * struct record_members - the tasks that a session records
 * @in: bit n%8 of byte n/8: PID n is recorded, before the changes
 * @changed: the same: there are changes of it
 * @changes: private to members.c, as are all behind it
 */
struct record_members {
	unsigned char *in;
	unsigned char *changed;
	struct change *changes;
	size_t nr_changes;
	size_t changes_capacity;
	bool sorted;
	struct ending *endings;
	size_t nr_endings;
	size_t endings_capacity;
	bool idle;
	pthread_mutex_t lock;
};

/* @idle: the idle tasks are recorded, too.  Returns NULL without memory. */
struct record_members *members_new(bool idle);
void members_free(struct record_members *members);
/* The session has begun, or goes on, with these tasks. */
void members_list(struct record_members *members, const struct schedtape_task_info *tasks,
		  size_t n);
/* Reads a page of descriptions.  May be called by another thread. */
void members_read(struct record_members *members, const void *page);
/* Begins to look at samples, and locks out members_read(). */
void members_begin(struct record_members *members);
bool members_had(const struct record_members *members, uint32_t pid, uint64_t time);

static inline bool members_bit(const unsigned char *bits, uint32_t pid)
{
	return bits[pid / 8] & 1 << pid % 8;
}

/* Is this task recorded at this time?  Only between members_begin() and members_end(). */
static inline bool members_have(const struct record_members *members, uint32_t pid, uint64_t time)
{
	if (pid >= MEMBERS_PIDS)
		return false;
	if (members_bit(members->changed, pid))
		return members_had(members, pid, time);
	return members_bit(members->in, pid);
}

/* All samples until this time have been looked at. */
void members_end(struct record_members *members, uint64_t until);

/* -- perf-events.c: records them, and moves their samples to the tape ------ */

/**
 * struct perf_events_options - which events
 * @points: the tracepoints, which the caller keeps
 * @filter: their tasks
 * @members: the tasks that the session records, which the caller keeps
 * @child: PID of the command, if its tasks are recorded; otherwise 0
 * @cpus: bit n%8 of byte n/8: CPU n is recorded; NULL: all
 */
struct perf_events_options {
	const struct tracepoints *points;
	const struct schedtape_filter *filter;
	struct record_members *members;
	uint32_t child;
	const unsigned char *cpus;
	size_t cpus_bytes;
};

/**
 * struct perf_events_counts - what has been recorded so far
 * @dropped: events of tasks that the session did not record
 */
struct perf_events_counts {
	uint64_t samples;
	uint64_t lost;
	uint64_t dropped;
};

/* Returns true if another cgroup of the filter has the events of this one, too, as one above it. */
bool perf_events_within_another(const struct schedtape_filter *filter, size_t number);
/* Opens the events, which record nothing yet.  Returns 0, or -errno after a message. */
int perf_events_open(const struct perf_events_options *options, struct perf_events **events);
/* Returns true if all tasks have them, also those that the session begins to record later. */
bool perf_events_everywhere(const struct perf_events *events);
/* Switches them on or off. */
void perf_events_enable(const struct perf_events *events, bool on);
/* Returns a descriptor that is readable when a ring is filling up. */
int perf_events_fd(const struct perf_events *events);
/* Returns true if one is, and makes the descriptor unreadable until it is more so. */
bool perf_events_fill(const struct perf_events *events);
/* Writes which tracepoints the tape has. */
int perf_events_describe(const struct perf_events *events, struct schedtape_writer *writer,
			 struct schedtape_error *err);
/*
 * Moves samples of tasks that the session records to the tape, and drops others.  @until: all
 * descriptions of tasks until this time have been read; later samples stay in the rings
 */
int perf_events_drain(struct perf_events *events, uint64_t until, struct schedtape_writer *writer,
		      struct schedtape_error *err);
/*
 * Moves all when they are switched off, and writes what was lost behind the last samples, of which
 * the rings say nothing.
 */
int perf_events_end(struct perf_events *events, struct schedtape_writer *writer,
		    struct schedtape_error *err);
struct perf_events_counts perf_events_count(const struct perf_events *events);
void perf_events_close(struct perf_events *events);

/* -- parts.c: the tapes of a recording that has several -------------------- */

enum parts_end {
	PARTS_WHOLE,	/* the recording has one tape */
	PARTS_SIGNAL,
	PARTS_SIZE,
	PARTS_TIME,
};

/**
 * struct parts - when tapes end, and which ones there are
 * @end: what ends a tape, besides a signal
 * @bytes: with PARTS_SIZE: the size at which a tape ends
 * @ms: with PARTS_TIME: how long each tape takes
 * @max_files: how many tapes are kept; 0: all
 * @max_bytes: how large those that are kept may be together; 0: no limit.  The last one is always
 *	kept.
 * @kept: the @nr tapes that are kept, the oldest first
 *	A tape that is @pinned is being read: parts_prune() does not remove it.
 */
struct parts {
	enum parts_end end;
	uint64_t bytes;
	uint64_t ms;
	unsigned int max_files;
	uint64_t max_bytes;
	struct part {
		char *path;
		uint64_t bytes;
		bool pinned;
	} *kept;
	size_t nr;
	/* private: */
	size_t room;
	uint64_t begun;
};

/**
 * struct parts_file - a file for a tape that has its name only when it is complete
 * @fd: the file; -1: there is none
 * @path: its name until then; NULL: it has none, so that it is gone if this process is killed
 */
struct parts_file {
	int fd;
	char *path;
};

#define PARTS_NO_FILE	{ .fd = -1 }

#define PARTS_TIME_LEN	24	/* of ".20261127T124501.123456Z" */

/* Parses "signal", a size with B, K, M or G, or a time with a unit.  Returns false for others. */
bool parts_parse(struct parts *parts, const char *text);
/* A tape begins. */
void parts_begin(struct parts *parts);
/* Returns true if the tape, which has this size, has to end. */
bool parts_due(const struct parts *parts, uint64_t bytes);
/* Returns how long it is until a tape has to end, ms, @most at most. */
int parts_wait(const struct parts *parts, int most);
/* Makes a file in the folder of @path.  Returns 0 or -errno. */
int parts_create(struct parts_file *file, const char *path, struct schedtape_error *err);
/*
 * Names a complete file PATH.TIME; with @trigger, which may be NULL, PATH.TRIGGER.TIME.  Returns 0
 * or -errno.
 */
int parts_keep(struct parts *parts, const char *path, const char *trigger, struct parts_file *file,
	       uint64_t bytes, struct schedtape_error *err);
/*
 * Names a complete file PATH.merged.TIME, which is none of the tapes that are kept.  Returns the
 * name, which the caller frees, or NULL.
 */
char *parts_name_merged(const char *path, struct parts_file *file, struct schedtape_error *err);
/* Closes the file, and removes it unless it has been kept. */
void parts_drop(struct parts_file *file);
/* A tape has ended: renames it to PATH.TIME.  Returns 0; -errno: it has its name still. */
int parts_name(struct parts *parts, const char *path, uint64_t bytes, struct schedtape_error *err);
/*
 * Gives the previous tape, which a recorder that was killed has left, the name PATH.TIME by its
 * last change, so that the next one does not replace it.  Prints a warning if that fails.
 */
void parts_keep_old(const char *path, struct backup *backup);
/* Pins all tapes that are kept now, or none any more. */
void parts_pin(struct parts *parts, bool pinned);
/* Removes the oldest tapes that are not pinned, if there are too many. */
void parts_prune(struct parts *parts);
/* Returns the name of the last tape that has ended. */
const char *parts_last(const struct parts *parts);
void parts_free(struct parts *parts);

/* -- streamer.c: moves the pages of some rings into a file ----------------- */

/**
 * struct streamer - some rings and a file
 * @writer: writer of the file
 * @cpus: numbers of the CPUs, @nr_cpus of them; STAPE_CPU_NONE, the first: the descriptions
 * @moved: for each of @cpus: what the pages had that are in the file
 * @earlier: the same of earlier files, see streamer_begin_file()
 * @begun: @end when the file began
 * @end: the latest time of a page that was moved, by the session's clock
 * @describes: set before streamer_init(): it moves the descriptions
 * @fd: descriptor to poll() for pages; -1: there is no thread
 * @quit: becomes readable when the session has stopped; then the thread moves the
 *	rest and ends
 * @later: move only descriptions before that
 * @names, @members: set after streamer_init(): read the descriptions, too; NULL: they do not
 * @past: set after streamer_init(): keeps the descriptions; NULL: the file gets them
 * @running: @thread has to be joined
 * @said: shared by all streamers: an error was printed, and further ones are not
 * @bytes: size of the file
 * @failed: the file could not be written; later pages stay in the rings
 * @lock: another thread may move the descriptions, see streamer_drain_descriptions()
 */
struct streamer {
	struct schedtape_session *session;
	struct past *past;
	struct tape_names *names;
	struct record_members *members;
	pthread_mutex_t lock;
	struct schedtape_writer *writer;
	uint32_t *cpus;
	struct schedtape_cpu *moved;
	struct schedtape_cpu *earlier;
	uint64_t begun;
	uint64_t end;
	size_t nr_cpus;
	int fd;
	int quit;
	bool later;
	bool describes;
	bool running;
	pthread_t thread;
	atomic_bool *said;
	atomic_ullong bytes;
	atomic_bool failed;
};

/*
 * Moves pages, once around each ring at most.  Returns 0, or -errno after a message.
 * @stopped: the session has stopped.  Before that @later leaves only descriptions to move.
 */
int streamer_drain(struct streamer *streamer, bool stopped);
/* Moves the descriptions, also while the streamer's thread runs.  Returns the same. */
int streamer_drain_descriptions(struct streamer *streamer);
/* Moves the pages that end at @time or before.  Returns the same. */
int streamer_drain_until(struct streamer *streamer, uint64_t time);
/*
 * Moves all pages after the session has stopped, the oldest of all CPUs first, and writes from time
 * to time how far it has come: then a reader of a pipe need not wait for any CPU for long.
 * @progress: its @time is set here
 */
int streamer_drain_rest(struct streamer *streamer, struct schedtape_progress *progress);
/*
 * Fills in @cpus with the counts of its CPUs, without CPUs that have no event, and returns how
 * many there are.  Pages that are left in the rings are not in the file: their events count as
 * lost.
 */
size_t streamer_count(struct streamer *streamer, struct schedtape_cpu *cpus);
/*
 * Fills in @cpus with what is in the file, while the session goes on: pages that are in the rings
 * are for the next file.  Returns how many CPUs there are.
 */
size_t streamer_count_moved(const struct streamer *streamer, struct schedtape_cpu *cpus);
/* What is moved from now on is in another file. */
void streamer_begin_file(struct streamer *streamer);

/* Prepares this process: files, priority, signals.  Returns 0 or -errno. */
int streamers_prepare(const struct recorder_options *options, struct schedtape_error *err);
/*
 * In a child, before exec: restores the limits and the priority that streamers_prepare() has
 * changed.  signals_restore() restores the signals.
 */
void streamers_leave(void);
/* Makes the streamers of a recorder: one, or one for each of @streams.  Returns 0 or -errno. */
int streamers_open(struct recorder *recorder, struct schedtape_error *err);
/* Starts their threads, if there are @streams.  Returns 0, or -errno after a message. */
int streamers_start(struct recorder *recorder);
/* Returns -EIO if all threads have failed to write: the recording ends then. */
int streamers_check(const struct recorder *recorder);
/* Ends the threads after they have moved the remaining pages.  Returns -EIO if one has failed. */
int streamers_end(struct recorder *recorder);
void streamers_close(struct recorder *recorder);

/* -- a recorder: a session, and the tape that its pages are written to ----- */

/**
 * struct recorder_options - how to record
 * @path: path of the tape; "-": standard output
 * @meta: META of the tape, about the machine and the recording; the recorder adds
 *	to it
 * @filter: which tasks are recorded; NULL: those of a command only
 * @ring_bytes: size of each CPU's ring
 * @level: level of zstd; 0: no compression
 * @clock: enum stape_clock
 * @live_ms: if somebody may wait at the other end of a pipe, how often what has come so far is
 *	written; 0: each second
 * @overwrite: the rings keep the newest events, and are written at the end, and whenever
 *	next_tape() is called
 * @syscalls: switches name the system call that a task sleeps in
 * @triggers: the @nr_triggers of the session
 * @realtime: SCHED_FIFO priority of the writing threads; 0: the lowest nice value
 * @cpus: bit n%8 of byte n/8: CPU n is recorded; NULL: all
 * @cpus_bytes: size of @cpus
 * @streams: threads that write a tape directory, valid as long as the recorder;
 *	NULL: one file, written by the caller's thread
 * @parts: the tapes of a recording that has several, valid as long as the recorder, not with
 *	@streams: tapes that follow each other, or with @overwrite snapshots; NULL: one tape
 * @no_final: with @overwrite and @parts: write no tape at the end
 * @quiet: say nothing of a tape that has ended
 */
struct recorder_options {
	const char *path;
	struct json_object *meta;
	const struct schedtape_filter *filter;
	uint64_t ring_bytes;
	int level;
	uint32_t clock;
	long live_ms;
	bool overwrite;
	bool syscalls;
	const struct schedtape_trigger *triggers;
	size_t nr_triggers;
	int realtime;
	const unsigned char *cpus;
	size_t cpus_bytes;
	const struct streams *streams;
	struct parts *parts;
	bool no_final;
	bool quiet;
};

/**
 * struct recorder_totals - of a tape, after its end; or of several
 * @samples, @samples_lost, @samples_dropped: of other tracepoints
 */
struct recorder_totals {
	uint64_t bytes;
	uint64_t events;
	uint64_t lost;
	uint64_t overwritten;
	uint64_t samples;
	uint64_t samples_lost;
	uint64_t samples_dropped;
};

/**
 * struct recorder - a session and its tape
 * @writer: writer of the tape, or of a directory's main file; NULL, with @parts: the last tape has
 *	ended, and the next one could not be begun yet; or it is only begun when the session stops
 * @streamers: move the pages: one in the caller's thread, or each in its own
 * @streams: as in the options
 * @path: path of the tape
 * @parts: as in the options
 * @renames: no tape stays at @path: each is renamed when it ends, by that time, or @no_final
 * @past: with @overwrite, but not with @streams: what its tapes need of the time before them
 * @filter, @no_final, @quiet, @level: as in the options
 * @meta: META of the next tape; NULL: there is none
 * @players: of a replay: "players" for END, or NULL
 * @number: of this tape, from 1 on
 * @ended: name of the tape that next_tape() has ended, or NULL
 * @next_window: with @unnamed, or without @writer: from when on the next tape is complete
 * @tasks: the @nr_tasks that there were when the last tape ended, until they are on the next one
 * @begun_bytes: size of the tape before its first page
 * @trouble: when a tape could not be written or begun last, ms of CLOCK_MONOTONIC
 * @last: with @past and @renames: the file of the tape at the end
 * @unnamed: the last tape has ended, and could not be renamed yet
 * @failed: what was wrong with the first of @parts that could not be written; 0: nothing
 * @backup: the previous tape of that path
 * @events: the perf events that take other tracepoints; NULL without -e
 * @quit: eventfd, readable when the streamers' threads have to end
 * @live_ms: interval of flushes and of samples; 0: nobody can read the tape while it is written
 * @flushed: CLOCK_MONOTONIC of the last STAPE_IOC_FLUSH
 * @sampled: CLOCK_MONOTONIC of the last sample of the clocks
 * @sample: that sample; all 0: there is none yet
 * @sample_before: the one before that
 * @sampled_bytes: size of the tape at that time
 * @slept: for how long the machine has slept since the first sample on the tape, ns
 * @looked: CLOCK_MONOTONIC of the last of the looks that come each second
 * @watch: the scheduler that the last look found
 * @schedulers: with @past: those that were on
 * @cgroups: the cgroups whose quotas are watched
 * @names: reads the names of new cgroups for @cgroups
 * @cgroups_gone: how many looks have found none of the filter's
 * @made_again: a cgroup of the filter was made again, and @events are of the one before
 * @cut: tapes that have ended, and snapshots that have been taken, while the recording went on: how
 *	many, what for the last time, and when that was, ns of CLOCK_MONOTONIC
 * @start_time: ns of CLOCK_MONOTONIC
 * @window_start: with overwritten rings, and for all but the first of @parts: time of the session's
 *	clock from which no CPU's events are missing
 * @totals: of the tape, after its end
 * @earlier: of the tapes before this one
 * @said: an error was printed, with @parts: since tapes can be written again
 * @overwrite: as in the options
 * @has_samples: other tracepoints were recorded, too
 * @started: the session has been started, and not stopped by recorder_stop()
 */
struct recorder {
	struct schedtape_session *session;
	struct schedtape_writer *writer;
	struct streamer *streamers;
	size_t nr_streamers;
	const struct streams *streams;
	const char *path;
	struct parts *parts;
	bool renames;
	struct past *past;
	const struct schedtape_filter *filter;
	bool no_final;
	bool quiet;
	int level;
	struct json_object *meta;
	struct json_object *players;
	uint64_t number;
	const char *ended;
	uint64_t next_window;
	struct schedtape_task_info *tasks;
	size_t nr_tasks;
	uint64_t begun_bytes;
	uint64_t trouble;
	struct parts_file last;
	bool unnamed;
	int failed;
	struct backup backup;
	struct perf_events *events;
	struct record_members *members;
	int quit;
	long live_ms;
	struct timespec flushed;
	struct timespec sampled;
	struct stape_clock_sample sample;
	struct stape_clock_sample sample_before;
	uint64_t sampled_bytes;
	uint64_t slept;
	struct timespec looked;
	struct schedtape_watch watch;
	struct schedtape_scheduler_past schedulers;
	struct schedtape_cgroup_watch cgroups;
	struct tape_names names;
	unsigned int cgroups_gone;
	bool made_again;
	struct {
		uint64_t count;
		char name[32];
		uint64_t time;
	} cut;
	uint64_t start_time;
	uint64_t window_start;
	struct recorder_totals totals;
	struct recorder_totals earlier;
	atomic_bool said;
	bool overwrite;
	bool has_samples;
	bool started;
};

/* Interval of flushes: if the recorder is killed, no more than this is missing. */
#define RECORDER_FLUSH_MS	1000

/* -- recorder-tape.c: the files of a recorder's tape ----------------------- */

/* Makes one file, or a directory with a file for each of the recorder's streamers. */
int recorder_tape_open(struct recorder *recorder, const struct recorder_options *options,
		       struct schedtape_error *err);
/*
 * Makes the file of the next tape, after two samples of the clocks.  @window: the time of the
 * session's clock from which on it will be complete
 */
int recorder_tape_next(struct recorder *recorder, uint64_t window, struct schedtape_error *err);
/*
 * Describes again in META what may have changed since the last tape.  It takes a while with many
 * cgroups or CPUs, so it comes before the moment at which that tape ends or a snapshot is taken.
 */
void recorder_tape_renew(struct recorder *recorder);
/*
 * Makes the file of a tape that has its name only when it is complete.  @file: the caller calls
 * parts_drop() in any case
 */
int recorder_tape_create(struct recorder *recorder, struct parts_file *file,
			 struct schedtape_writer **writer, struct schedtape_error *err);
/* Does that for the last one, if @renames in overwrite mode, when the session is about to stop. */
int recorder_tape_begin_last(struct recorder *recorder, struct schedtape_error *err);
/* Samples the clocks. */
int recorder_tape_sample(struct recorder *recorder, struct schedtape_error *err);
/*
 * Does that, and writes the sample to the tape, unless @past keeps it.  @all: to each of its files
 */
int recorder_tape_clock(struct recorder *recorder, bool all, struct schedtape_error *err);
/*
 * Writes how far the tape has come: all pages from before the last sample of the clocks are on it.
 * @begin: none are
 */
int recorder_tape_progress(struct recorder *recorder, bool begin, struct schedtape_error *err);
/* Writes the recording's times and counts.  @window_start: 0: no event was overwritten. */
int recorder_tape_end(struct recorder *recorder, uint64_t window_start,
		      struct schedtape_error *err);
/*
 * Ends a tape while the session goes on.  @ended_by: why, see struct schedtape_end.  @window: where
 * the next one begins.  @failed: 0; -errno: the tape could not be written, so its end is not
 * written either, and this is returned
 */
int recorder_tape_end_early(struct recorder *recorder, const char *ended_by, uint64_t window,
			    int failed, struct schedtape_error *err);
/* Adds to the totals of a tape what its end says. */
void recorder_tape_count(struct recorder *recorder, const struct schedtape_end *end);
/* Adds the totals of a tape to those of the tapes before it. */
void recorder_tape_add_totals(struct recorder *recorder);
/* Returns the size of all tapes so far. */
uint64_t recorder_tape_bytes(const struct recorder *recorder);
/* Counts as lost what is on no tape, after the session has stopped, if none could be begun. */
void recorder_tape_missing(struct recorder *recorder);
/* Closes all files, with a message if that fails. */
int recorder_tape_close(struct recorder *recorder);
/*
 * For errors that the disk may cause: prints only the first one of a tape, because others follow
 * it.  Returns @ret.
 */
int recorder_failed(struct recorder *recorder, int ret, const struct schedtape_error *err);
/* Something is missing, but the recording goes on: its exit status says so.  @ret: 0 or -errno */
void recorder_missed(struct recorder *recorder, int ret);

/* -- looks.c: the scheduler and the cgroups -------------------------------- */

/*
 * Looks find what may change while a recording runs, and has no events: the scheduler of ordinary
 * tasks, and the quotas of cgroups.  While the rings are overwritten, what there was is kept in
 * memory, and flight_write_past() writes it.
 */

#define LOOKS_MS	1000	/* between two looks */

/* @filter: NULL: only a command is recorded */
void looks_open(struct recorder *recorder, const struct schedtape_filter *filter);
/* Writes what is there before the session starts, so that each later change is found. */
int looks_begin(struct recorder *recorder, struct schedtape_error *err);
/*
 * Writes what has changed since the last look.  @counts: while the rings are overwritten, also
 * notes how often quotas have throttled.
 */
int looks_again(struct recorder *recorder, bool counts, struct schedtape_error *err);
/* The same only of cgroups that the kernel has reported as changed. */
int looks_at_cgroups(struct recorder *recorder, struct schedtape_error *err);
/* The last look of a tape. */
int looks_end(struct recorder *recorder, struct schedtape_error *err);
/* Writes to the next tape what is there at its beginning.  Not for one of what was in memory. */
int looks_next(struct recorder *recorder, struct schedtape_error *err);
/* Writes to a tape of what was in memory what cgroups are now. */
int looks_alone(struct recorder *recorder, struct schedtape_writer *writer,
		struct schedtape_error *err);
/* Returns true if something may change that no descriptor reports. */
bool looks_needed(const struct recorder *recorder);
void looks_close(struct recorder *recorder);

/* -- flight.c: what a tape needs, in memory -------------------------------- */

/*
 * A flight recorder: while the session overwrites its rings, and no tape is written, keeps what a
 * tape would need besides the rings.
 */

/* Makes @recorder->past.  To be called after its session has its rings. */
int flight_open(struct recorder *recorder, struct schedtape_error *err);
/* Notes the tasks that exist now.  Returns 0, or -errno after a message. */
int flight_note_tasks(struct recorder *recorder);
/* Watches the cgroups of tasks, also if the filter does not name them. */
void flight_meet(struct recorder *recorder, const struct schedtape_task_info *tasks, size_t n);
/* Moves descriptions from their ring to the past.  Returns as flight_note_tasks(). */
int flight_drain(struct recorder *recorder);
/*
 * Does that.  @sample: also samples the clocks.  @forget: also forgets what happened before the
 * oldest event in the rings.  Returns the same.
 */
int flight_tick(struct recorder *recorder, bool sample, bool forget);
/*
 * Writes what a tape needs besides the pages of CPUs, after flight_drain().  @window: the time of
 * the session's clock from which the tape is complete; 0: from the beginning.  @tasks: @n that
 * exist at the tape's end; may be NULL.  Returns 0 or -errno.
 */
int flight_write_past(struct recorder *recorder, struct schedtape_writer *writer, uint64_t window,
		      const struct schedtape_task_info *tasks, size_t n,
		      struct schedtape_error *err);

/* -- progress.c: how far a recording has come ------------------------------ */

/**
 * struct progress - what the line on a terminal showed last
 * @off: show nothing: there is no terminal, or -q was given
 * @time: when, ms of CLOCK_MONOTONIC
 * @events: number of events until then
 */
struct progress {
	bool off;
	uint64_t time;
	uint64_t events;
};

void progress_begin(struct progress *progress, bool quiet);
/* May be called at any time; updates the line once a second.  @on: events are recorded now. */
void progress_show(struct progress *progress, const struct recorder *recorder, bool on);
/* Erases the line. */
void progress_end(const struct progress *progress);

/*
 * Reports to the service manager, see sd_notify(3): that the recorder has begun, that it still
 * works, how far it has come, and that it ends.  There are none without NOTIFY_SOCKET.
 */

/**
 * struct notify - what was reported
 * @on: there is a service manager, and the reports are for it
 * @watchdog_ms: interval of the reports for its watchdog; 0: it has none
 * @alive: the last of these, ms of CLOCK_MONOTONIC
 * @status: when the status was reported last
 */
struct notify {
	bool on;
	uint64_t watchdog_ms;
	uint64_t alive;
	uint64_t status;
};

/* Reports that the recording has begun. */
void notify_ready(struct notify *notify);
/* To be called in each turn of the loop.  @on: events are recorded now */
void notify_tick(struct notify *notify, const struct recorder *recorder, bool on);
/* Returns after how many ms notify_tick() has to be called, @most at most. */
int notify_wait(const struct notify *notify, int most);
/* Reports that the recording ends. */
void notify_stopping(struct notify *notify);

/* -- result.c: the result of a recording ----------------------------------- */

void result_print_json(const char *tape, const struct recorder *recorder);
/* Says what is on a tape that has ended, and warns of what is not. */
void result_say(const struct recorder *recorder, const char *path);
/* The same while the recording goes on, unless @quiet of the recorder. */
void result_say_early(const struct recorder *recorder, const char *path);
/* Says how much is missing, if the tape could not be written.  An error has said why. */
void result_say_missing(const struct recorder *recorder);

/* -- next-tape.c: ends a tape, or takes a snapshot, during a recording ----- */

/**
 * struct cause - why a tape ends, or a snapshot is taken, while the recording goes on
 * @name: of the trigger, or "signal", "order", "size", "time"; at most 31 bytes
 * @text: what the trigger is; NULL: it is none of --trigger
 * @note: what it says; NULL: nothing
 * @asker: the process that has asked for it; NULL: none has
 * @time: when it fired, ns of CLOCK_MONOTONIC
 */
struct cause {
	const char *name;
	const char *text;
	const char *note;
	const struct asker *asker;
	uint64_t time;
};

/*
 * Ends the tape and begins the next one, or takes a snapshot.  Returns the name of the tape that is
 * complete; NULL: there is none.  To be called after recorder_start().
 */
const char *next_tape(struct recorder *recorder, const struct cause *cause);
/* The same, because of what happens now and needs no text.  @asker: may be NULL */
const char *next_tape_now(struct recorder *recorder, const char *name,
			  const struct asker *asker);
/*
 * After something could not be written: ends the tape, so that only the rest of that is missing.
 * In overwrite mode nothing is written yet: notes the failure.
 * @failed: 0, or -errno after a message.  Returns 0; @failed, if the recording has only one tape.
 */
int next_tape_if(struct recorder *recorder, int failed);
/* Tries to begin a tape, when the last one has ended: then @recorder has no writer. */
void next_tape_begin(struct recorder *recorder);
/*
 * As recorder_tick().  Ends the tape when that is due, or when it cannot be written.  If the next
 * tape cannot be begun, tries again each second.
 */
int next_tape_tick(struct recorder *recorder);

/* As recorder_wait(): returns after how many ms next_tape_tick() has to be called. */
int next_tape_wait(const struct recorder *recorder);

/* -- merging.c: merges snapshots during a recording ------------------------ */

/**
 * struct merging - a merge that runs
 * @pid: its process; 0: none runs
 * @parts: of the recorder; those that are merged are not removed meanwhile
 * @file: the new tape, which has no name yet
 * @snapshots: how many are merged
 * @path: of the recorder
 * @quiet: say nothing of the new tape
 */
struct merging {
	pid_t pid;
	const char *path;
	bool quiet;
	struct parts *parts;
	struct parts_file file;
	size_t snapshots;
};

#define MERGING_NONE	{ .file = PARTS_NO_FILE }

/*
 * Begins to merge all snapshots that there are, unless a merge runs.  Warns if that fails.  None of
 * these is removed meanwhile.
 */
void merging_begin(struct merging *merging, const struct recorder *recorder);
/* If the process has ended, names the tape, prints its name, and removes what is too many. */
void merging_reap(struct merging *merging);
/* Waits until the process has ended.  @signals: of signals_open(); one that ends, ends the merge */
void merging_end(struct merging *merging, int signals);

#endif /* SCHEDTAPE_RECORD_INTERNAL_H */
