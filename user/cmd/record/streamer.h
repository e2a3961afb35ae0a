/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Moves the pages of some CPUs' rings into a file: in the thread that asks for
 * it, or in one of its own.
 */
#ifndef SCHEDTAPE_STREAMER_H
#define SCHEDTAPE_STREAMER_H

#include <schedtape/client.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

/**
 * struct streamer - some rings and a file
 * @writer: of the file
 * @cpus: numbers, @nr_cpus of them
 * @fd: to wait at; -1: there is no thread
 * @quit: becomes readable when the session has stopped; then the thread moves the
 *	rest and ends
 * @later: nothing is moved before that
 * @said: shared by all: an error has been said, and is not said again
 * @bytes: in the file
 * @failed: it could not be written; what comes stays in the rings
 */
struct streamer {
	struct schedtape_session *session;
	struct schedtape_writer *writer;
	uint32_t *cpus;
	size_t nr_cpus;
	int fd;
	int quit;
	bool later;
	bool running;
	pthread_t thread;
	atomic_bool *said;
	atomic_ullong bytes;
	atomic_bool failed;
};

/* @mask: bit n%8 of byte n/8: CPU n; NULL: all that the session has.  -ENOMEM. */
int streamer_init(struct streamer *streamer, struct schedtape_session *session,
		  const unsigned char *mask, atomic_bool *said);
void streamer_exit(struct streamer *streamer);
/* Once around each ring at most.  -errno: it has failed, and was said so. */
int streamer_drain(struct streamer *streamer);
/*
 * A thread that does it from now on, with all signals blocked; -errno.
 * @affinity: as @mask, of @bytes: where it runs, as far as it may; anywhere if none of
 * these CPUs is online.
 */
int streamer_start(struct streamer *streamer, const unsigned char *affinity, size_t bytes);
/* Waits until it has ended: @quit has to be readable. */
void streamer_join(struct streamer *streamer);
/*
 * Its CPUs' numbers into @cpus, those with none left out; returns how many.  What
 * is left in the rings did not get into the file: it counts as lost.
 */
size_t streamer_count(struct streamer *streamer, struct schedtape_cpu *cpus);

#endif /* SCHEDTAPE_STREAMER_H */
