/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Moves the pages of some CPUs' rings into a file: in the caller's thread, or in a
 * thread of its own.
 */
#ifndef SCHEDTAPE_STREAMER_H
#define SCHEDTAPE_STREAMER_H

#include <schedtape/client.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

struct past;
struct tape_names;

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
 * @names: set after streamer_init(): reads the descriptions, too; NULL: nothing does
 * @past: set after streamer_init(): keeps the descriptions; NULL: the file gets them
 * @running: @thread has to be joined
 * @said: shared by all streamers: an error was printed, and further ones are not
 * @bytes: size of the file
 * @failed: the file could not be written; later pages stay in the rings
 */
struct streamer {
	struct schedtape_session *session;
	struct past *past;
	struct tape_names *names;
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

/* @mask: bit n%8 of byte n/8: CPU n; NULL: all of the session.  Returns 0 or -ENOMEM. */
int streamer_init(struct streamer *streamer, struct schedtape_session *session,
		  const unsigned char *mask, atomic_bool *said);
void streamer_exit(struct streamer *streamer);
/*
 * Moves pages, once around each ring at most.  Returns 0, or -errno after a message.
 * @stopped: the session has stopped.  Before that @later leaves only descriptions to move.
 */
int streamer_drain(struct streamer *streamer, bool stopped);
/* Moves the descriptions.  Returns the same. */
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
 * Starts a thread that moves pages, with all signals blocked.  Returns 0 or -errno.
 * @affinity: mask of @bytes: CPUs that the thread may run on.  If none of them is online and
 * permitted, it runs on any CPU.
 */
int streamer_start(struct streamer *streamer, const unsigned char *affinity, size_t bytes);
/* Waits for the end of the thread.  @quit has to be readable. */
void streamer_join(struct streamer *streamer);
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

#endif /* SCHEDTAPE_STREAMER_H */
