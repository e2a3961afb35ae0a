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
#include <stdatomic.h>
#include <stdbool.h>
#include <time.h>

#include "common/backup.h"

struct json_object;
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
 * @overwrite: the rings keep the newest events, and are written at the end
 * @syscalls: switches name the system call that a task sleeps in
 * @realtime: SCHED_FIFO priority of the writing threads; 0: the lowest nice value
 * @cpus: bit n%8 of byte n/8: CPU n is recorded; NULL: all
 * @cpus_bytes: size of @cpus
 * @streams: threads that write a tape directory, valid as long as the recorder;
 *	NULL: one file, written by the caller's thread
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
	int realtime;
	const unsigned char *cpus;
	size_t cpus_bytes;
	const struct streams *streams;
};

/**
 * struct recorder - a session and its tape
 * @writer: writer of the tape, or of a directory's main file
 * @streamers: move the pages: one in the caller's thread, or each in its own
 * @streams: as in the options
 * @path: path of the tape
 * @backup: the previous tape of that path
 * @quit: eventfd, readable when the streamers' threads have to end
 * @live_ms: interval of flushes and of samples; 0: nobody can read the tape while it is written
 * @flushed: CLOCK_MONOTONIC of the last STAPE_IOC_FLUSH
 * @sampled: CLOCK_MONOTONIC of the last sample of the clocks
 * @sample: that sample; all 0: there is none yet
 * @sampled_bytes: size of the tape at that time
 * @slept: for how long the machine has slept since the first sample, ns
 * @looked: CLOCK_MONOTONIC of the last of the looks that come each second
 * @watch: the scheduler that the last look found
 * @cgroups: the cgroups whose quotas are watched
 * @start_time: ns of CLOCK_MONOTONIC
 * @window_start: with overwritten rings: time of the session's clock from which no
 *	CPU's events are missing
 * @bytes, @events, @lost, @overwritten: totals of the tape, after its end
 * @said: an error was printed
 * @overwrite: as in the options
 * @started: the session has been started, and not stopped by recorder_stop()
 */
struct recorder {
	struct schedtape_session *session;
	struct schedtape_writer *writer;
	struct streamer *streamers;
	size_t nr_streamers;
	const struct streams *streams;
	const char *path;
	struct backup backup;
	int quit;
	long live_ms;
	struct timespec flushed;
	struct timespec sampled;
	struct stape_clock_sample sample;
	uint64_t sampled_bytes;
	uint64_t slept;
	struct timespec looked;
	struct schedtape_watch watch;
	struct schedtape_cgroup_watch cgroups;
	uint64_t start_time;
	uint64_t window_start;
	uint64_t bytes;
	uint64_t events;
	uint64_t lost;
	uint64_t overwritten;
	atomic_bool said;
	bool overwrite;
	bool started;
};

/* Interval of flushes: if the recorder is killed, no more than this is missing. */
#define RECORDER_FLUSH_MS	1000

#endif /* SCHEDTAPE_RECORDING_H */
