/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A recording that runs: a session whose pages go onto a tape.  record has
 * one for a workload, replay for its players.
 */
#ifndef SCHEDTAPE_RECORDER_H
#define SCHEDTAPE_RECORDER_H

#include <schedtape/client.h>
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
 * @path: the tape's; "-": standard output
 * @meta: what the tape says of the machine and the recording; the recorder adds
 *	what it knows
 * @ring_bytes: of each CPU
 * @level: zstd's; 0: no compression
 * @clock: enum stape_clock
 * @overwrite: the rings keep the newest events, and are written in the end
 * @realtime: SCHED_FIFO priority of whoever writes; 0: a high one of the usual kind
 * @cpus: bit n%8 of byte n/8: CPU n is recorded; NULL: all
 * @cpus_bytes: of @cpus
 * @streams: threads that write a tape directory, as long as the recorder tasks;
 *	NULL: none, one file
 */
struct recorder_options {
	const char *path;
	struct json_object *meta;
	uint64_t ring_bytes;
	int level;
	uint32_t clock;
	bool overwrite;
	int realtime;
	const unsigned char *cpus;
	size_t cpus_bytes;
	const struct streams *streams;
};

/**
 * struct recorder - a session and its tape
 * @writer: of the tape, or of a directory's main file
 * @streamers: who moves the pages: this thread, or one of its own each
 * @streams: as in the options
 * @path: the tape's
 * @backup: what was there of that name
 * @quit: readable: the streamers' threads are to end
 * @flushed: CLOCK_MONOTONIC, when open pages were last asked for
 * @sampled: the same, when the clocks were last read
 * @looked: the same, when the scheduler was last looked at
 * @watch: what it was then
 * @start_time: ns of CLOCK_MONOTONIC
 * @window_start: of a tape whose rings were overwritten, by the session's clock
 * @bytes, @events, @lost, @overwritten: in the end, what is on the tape and what
 *	is not
 * @said: an error has been said
 * @overwrite: as in the options
 * @started: the session records
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
	struct timespec flushed;
	struct timespec sampled;
	struct timespec looked;
	struct schedtape_watch watch;
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

/* What is lost at most if this program is killed, and how often it looks. */
#define RECORDER_FLUSH_MS	1000

/* Each says what is wrong, and returns -errno. */
int recorder_open(struct recorder *recorder, struct schedtape_client *client,
		  const struct recorder_options *options);
int recorder_start(struct recorder *recorder);
/* What was there of the tape's name is not wanted back any more. */
void recorder_begun(struct recorder *recorder);
int recorder_add(struct recorder *recorder, const uint32_t *pids, size_t n);
/* The tasks of now; if the rings are overwritten, it is done in the end. */
int recorder_describe_tasks(struct recorder *recorder);
/*
 * Moves what the rings hold onto the tape, and once a second also what their open
 * pages hold.
 */
int recorder_tick(struct recorder *recorder);
/* ms until recorder_tick() has something to do even if no ring fills up. */
int recorder_wait(const struct recorder *recorder);
/* Somebody has stopped the session. */
bool recorder_stopped(struct recorder *recorder);
/* Stops the session and moves the rest. */
int recorder_stop(struct recorder *recorder);
/*
 * Ends and closes the tape, and closes the session; says what it became unless
 * @quiet.  @keep false: nothing was recorded, there is to be no tape.
 */
int recorder_close(struct recorder *recorder, bool keep, bool quiet);
uint64_t recorder_events(const struct recorder *recorder, uint64_t *lost);
/* On the tape so far. */
uint64_t recorder_bytes(const struct recorder *recorder);
/*
 * In a child, before it executes something else: gives back what recorder_open()
 * has changed of the process (limits, priority), but for its signals.
 */
void recorder_leave(void);

#endif /* SCHEDTAPE_RECORDER_H */
