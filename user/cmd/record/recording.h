/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A recording that runs: a session, and the tape that its pages are written to.
 * record has one for a workload, replay for its players.
 */
#ifndef SCHEDTAPE_RECORDING_H
#define SCHEDTAPE_RECORDING_H

#include <schedtape/client.h>
#include <machine/cgroup-watch.h>
#include <machine/scheduler.h>
#include <machine/scheduler-past.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <time.h>

#include "common/destination.h"
#include "record/parts.h"
#include "tape/names.h"

struct json_object;
struct past;
struct perf_events;
struct streamer;
struct streams;

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
 *	snapshot_take() is called
 * @syscalls: switches name the system call that a task sleeps in
 * @triggers: the @nr_triggers of the session
 * @realtime: SCHED_FIFO priority of the writing threads; 0: the lowest nice value
 * @cpus: bit n%8 of byte n/8: CPU n is recorded; NULL: all
 * @cpus_bytes: size of @cpus
 * @streams: threads that write a tape directory, valid as long as the recorder;
 *	NULL: one file, written by the caller's thread
 * @parts: the tapes of a recording that has several, valid as long as the recorder, not with
 *	@streams: tapes that follow each other, or with @overwrite snapshots; NULL: one tape
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
	bool quiet;
};

/**
 * struct recorder_totals - of a tape, after its end; or of several
 * @samples, @samples_lost: of other tracepoints
 */
struct recorder_totals {
	uint64_t bytes;
	uint64_t events;
	uint64_t lost;
	uint64_t overwritten;
	uint64_t samples;
	uint64_t samples_lost;
};

/**
 * struct recorder - a session and its tape
 * @writer: writer of the tape, or of a directory's main file; NULL, with @parts: the last tape has
 *	ended, and the next one could not be begun yet; or it is only begun when the session stops
 * @streamers: move the pages: one in the caller's thread, or each in its own
 * @streams: as in the options
 * @path: path of the tape
 * @parts: as in the options
 * @renames: the tape at @path is renamed when it ends, by that time
 * @past: with @overwrite, but not with @streams: what its tapes need of the time before them
 * @filter, @quiet, @level: as in the options
 * @meta: META of the next tape; NULL: there is none
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
	bool quiet;
	int level;
	struct json_object *meta;
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

/**
 * struct cause - why a tape ends, or a snapshot is taken, while the recording goes on
 * @name: of the trigger, or "signal", "order", "size", "time"; at most 31 bytes
 * @text: what the trigger is; NULL: nothing more than @name
 * @note: what it says; NULL: nothing
 * @time: when it fired, ns of CLOCK_MONOTONIC
 */
struct cause {
	const char *name;
	const char *text;
	const char *note;
	uint64_t time;
};

/* Interval of flushes: if the recorder is killed, no more than this is missing. */
#define RECORDER_FLUSH_MS	1000

#endif /* SCHEDTAPE_RECORDING_H */
