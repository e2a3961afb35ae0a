/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A recording that runs: a session whose pages go onto a tape.  record has
 * one for a workload, replay for its players.
 */
#ifndef SCHEDTAPE_RECORDER_H
#define SCHEDTAPE_RECORDER_H

#include <client.h>
#include <stdbool.h>
#include <time.h>

struct json_object;

/**
 * struct recorder - a session and its tape
 * @path: the tape's
 * @old: what a tape of that name is called now, or NULL
 * @flushed: CLOCK_MONOTONIC, when open pages were last asked for
 * @start_time: ns of the session's clock
 * @bytes, @events, @lost: in the end, what is on the tape and what is not
 * @started: the session records
 * @failed: the tape could not be written, and was said so
 */
struct recorder {
	struct schedtape_session *session;
	struct schedtape_writer *writer;
	const char *path;
	char *old;
	struct timespec flushed;
	uint64_t start_time;
	uint64_t bytes;
	uint64_t events;
	uint64_t lost;
	bool started;
	bool failed;
};

/* What is lost at most if this program is killed, and how often it looks. */
#define RECORDER_FLUSH_MS	1000

/* Each says what is wrong, and returns -errno. */
int recorder_open(struct recorder *recorder, struct schedtape_client *client, const char *path,
		  uint64_t ring_bytes, int level, struct json_object *meta);
int recorder_start(struct recorder *recorder);
int recorder_add(struct recorder *recorder, const uint32_t *pids, size_t n);
int recorder_describe_tasks(struct recorder *recorder);
/* Moves what the rings hold onto the tape. */
int recorder_drain(struct recorder *recorder);
/* The same, and once a second also what their open pages hold. */
int recorder_tick(struct recorder *recorder);
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

#endif /* SCHEDTAPE_RECORDER_H */
