// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Threads that load chunks ahead of the merge, and unpack their events.
 * The merge needs next the chunk of the CPU whose previous chunk ends first, according
 * to the index.  If the index is wrong, this costs time only, because the merge itself
 * loads chunks that were not loaded ahead.
 *
 * The threads use the files and the index, which don't change, and the members that
 * @lock protects.
 */
#define _FILE_OFFSET_BITS 64
#include <errno.h>
#include <stdlib.h>

#include "base/thread.h"
#include "tape/cursors.h"
#include "tape/load.h"
#include "tape/records.h"
#include "tape/tape.h"
#include "tape/unpack.h"

#define MAX_THREADS	16
#define BUSY		2		/* CPUs that other threads need */
#define MIN_CHUNKS	8		/* tapes with fewer chunks get no threads */
#define AHEAD		4		/* chunks in memory for each thread, at most */
#define AHEAD_BYTES	(6UL << 20)	/* in memory for all threads, unless one chunk has more */
#define SPARE_BYTES	(3UL << 18)	/* memory of larger chunks is not kept for others */
#define UNPACKED_BYTES	(6UL << 20)	/* of unpacked events in all cursors, at most */

/**
 * struct tape_load - a chunk that is loaded, or just being loaded
 * @next: next one of the same CPU, or next spare one
 * @bytes: that the chunk takes in @unpacked
 * @why, @ret: the result, once it is @done
 */
struct tape_load {
	struct tape_load *next;
	size_t chunk;
	size_t bytes;
	struct tape_unpacked unpacked;
	const char *why;
	int ret;
	bool done;
};

/**
 * struct queue - the loading of one CPU's chunks
 * @need: the time at which the merge will need @chunk, by the session's clock
 * @chunk: the next one to be loaded
 * @chunks_end: as in the cursor
 * @first, @last: loaded chunks that the merge has not taken yet
 */
struct queue {
	uint64_t need;
	size_t chunk;
	size_t chunks_end;
	struct tape_load *first;
	struct tape_load *last;
};

/**
 * struct tape_loader - the threads
 * @lock: protects @queues, @spare, @ahead, @ahead_bytes and @quit
 * @work: signalled when there are several chunks to load, and at the end
 * @done: signalled when a chunk has been loaded
 * @queues: by number of the cursor
 * @spare: loads that are over, whose memory is used again: the kernel would have to clear new
 *	memory, which takes half as long as unpacking the chunk
 * @ahead: number of chunks in all queues
 * @ahead_bytes: their bytes
 * @most: limit of @ahead
 */
struct tape_loader {
	const struct schedtape_tape *tape;
	pthread_mutex_t lock;
	pthread_cond_t work;
	pthread_cond_t done;
	struct queue *queues;
	struct tape_load *spare;
	size_t ahead;
	size_t ahead_bytes;
	size_t most;
	bool quit;
	pthread_t threads[MAX_THREADS];
	unsigned int nr_threads;
};

static void free_load(struct tape_load *load)
{
	if (!load)
		return;
	tape_unpacked_free(&load->unpacked);
	free(load);
}

/* Called with the lock held.  Returns a load of @chunk; NULL: no memory. */
static struct tape_load *new_load(struct tape_loader *loader, size_t chunk, size_t bytes)
{
	struct tape_load *load = loader->spare;

	if (load)
		loader->spare = load->next;
	else
		load = calloc(1, sizeof(*load));
	if (!load)
		return NULL;
	load->next = NULL;
	load->chunk = chunk;
	load->bytes = bytes;
	load->done = false;
	return load;
}

/* Called with the lock held.  The load is over. */
static void put_load(struct tape_loader *loader, struct tape_load *load)
{
	if (load->bytes > SPARE_BYTES) {
		free_load(load);
		return;
	}
	load->next = loader->spare;
	loader->spare = load;
}

/* Returns true if the chunk is small enough that one of each CPU can be unpacked. */
static bool is_unpacked(const struct tape_loader *loader, const struct tape_index *index)
{
	return tape_unpacked_bytes(index) <= UNPACKED_BYTES / loader->tape->nr_cursors;
}

/* @events: unpack the events, too */
static void do_load(const struct tape_loader *loader, struct tape_decoder *decoder,
		    struct tape_load *load, bool events)
{
	const struct schedtape_tape *tape = loader->tape;
	const struct tape_index *index = &tape->index[load->chunk];

	load->ret = tape_unpack(&load->unpacked, &tape->files[index->file], decoder, index, events,
				&load->why);
}

/* -- the threads ----------------------------------------------------------- */

/* Returns the queue whose next chunk is needed first, or NULL. */
static struct queue *next_queue(struct tape_loader *loader)
{
	const struct schedtape_tape *tape = loader->tape;
	struct queue *queue, *best = NULL;
	size_t i;

	for (i = 0; i < tape->nr_cursors; i++) {
		queue = &loader->queues[i];
		while (queue->chunk < queue->chunks_end && tape->index[queue->chunk].damaged)
			queue->chunk++;
		if (queue->chunk < queue->chunks_end && (!best || queue->need < best->need))
			best = queue;
	}
	return best;
}

static size_t load_bytes(const struct tape_loader *loader, const struct tape_index *index)
{
	return tape_index_bytes(index) +
	       (is_unpacked(loader, index) ? tape_unpacked_bytes(index) : 0);
}

/* Returns true if another chunk of this size may be in memory; one may always. */
static bool has_room(const struct tape_loader *loader, size_t bytes)
{
	return !loader->ahead || (loader->ahead < loader->most &&
				  loader->ahead_bytes + bytes <= AHEAD_BYTES);
}

/* Called with the lock held.  Waits until there is room for a chunk.  NULL: no more. */
static struct tape_load *begin_load(struct tape_loader *loader)
{
	struct tape_load *load;
	struct queue *queue;
	size_t bytes;

	for (;;) {
		queue = loader->quit ? NULL : next_queue(loader);
		if (!queue)
			return NULL;
		bytes = load_bytes(loader, &loader->tape->index[queue->chunk]);
		if (has_room(loader, bytes))
			break;
		pthread_cond_wait(&loader->work, &loader->lock);
	}
	load = new_load(loader, queue->chunk, bytes);
	if (!load)
		return NULL;	/* the merge can do without */
	queue->chunk++;
	queue->need = loader->tape->index[load->chunk].end;
	loader->ahead++;
	loader->ahead_bytes += bytes;
	if (queue->last)
		queue->last->next = load;
	else
		queue->first = load;
	queue->last = load;
	return load;
}

static void *load_ahead(void *arg)
{
	struct tape_loader *loader = arg;
	struct tape_decoder decoder = { 0 };
	struct tape_load *load;
	int ret;

	ret = tape_decoder_init(&decoder);
	pthread_mutex_lock(&loader->lock);
	while ((!ret || ret == -EBADMSG) && (load = begin_load(loader))) {
		pthread_mutex_unlock(&loader->lock);
		do_load(loader, &decoder, load,
			is_unpacked(loader, &loader->tape->index[load->chunk]));
		pthread_mutex_lock(&loader->lock);
		ret = load->ret;
		load->done = true;
		pthread_cond_signal(&loader->done);
	}
	pthread_mutex_unlock(&loader->lock);
	tape_decoder_exit(&decoder);
	return NULL;
}

/* Two threads do not need help to load: the caller's, and the one that merges. */
static unsigned int threads_wanted(const struct schedtape_tape *tape)
{
	unsigned int n = schedtape_thread_cpus();

	if (n <= BUSY || tape->nr_index < MIN_CHUNKS)
		return 0;
	return n - BUSY < MAX_THREADS ? n - BUSY : MAX_THREADS;
}

/* Without memory or threads the merge does everything itself. */
static void start_threads(struct tape_loader *loader)
{
	unsigned int wanted = threads_wanted(loader->tape);

	loader->most = (size_t)AHEAD * wanted;
	while (loader->nr_threads < wanted &&
	       !schedtape_thread_start(&loader->threads[loader->nr_threads], NULL, load_ahead,
				       loader))
		loader->nr_threads++;
}

static struct tape_loader *loader_new(const struct schedtape_tape *tape)
{
	struct tape_loader *loader = calloc(1, sizeof(*loader));
	size_t i;

	if (!loader)
		return NULL;
	loader->queues = calloc(tape->nr_cursors, sizeof(*loader->queues));
	if (!loader->queues) {
		free(loader);
		return NULL;
	}
	loader->tape = tape;
	pthread_mutex_init(&loader->lock, NULL);
	pthread_cond_init(&loader->work, NULL);
	pthread_cond_init(&loader->done, NULL);
	for (i = 0; i < tape->nr_cursors; i++) {
		loader->queues[i].chunk = tape->cursors[i].chunk;
		loader->queues[i].chunks_end = tape->cursors[i].chunks_end;
	}
	start_threads(loader);
	return loader;
}

/* -- the merge's side ------------------------------------------------------ */

static void free_list(struct tape_load *load)
{
	struct tape_load *next;

	for (; load; load = next) {
		next = load->next;
		free_load(load);
	}
}

void tape_load_stop(struct schedtape_tape *tape)
{
	struct tape_loader *loader = tape->loader;
	size_t i;

	if (!loader)
		return;
	pthread_mutex_lock(&loader->lock);
	loader->quit = true;
	pthread_cond_broadcast(&loader->work);
	pthread_mutex_unlock(&loader->lock);
	while (loader->nr_threads)
		pthread_join(loader->threads[--loader->nr_threads], NULL);

	for (i = 0; i < tape->nr_cursors; i++)
		free_list(loader->queues[i].first);
	free_list(loader->spare);
	pthread_cond_destroy(&loader->work);
	pthread_cond_destroy(&loader->done);
	pthread_mutex_destroy(&loader->lock);
	free(loader->queues);
	free(loader);
	tape->loader = NULL;
}

/* Called with the lock held.  Removes the queue's first load, if it is @chunk, once it is done. */
static struct tape_load *take_load(struct tape_loader *loader, struct queue *queue, size_t chunk)
{
	struct tape_load *load = queue->first;

	if (!load || load->chunk != chunk)
		return NULL;
	while (!load->done)
		pthread_cond_wait(&loader->done, &loader->lock);
	queue->first = load->next;
	if (!queue->first)
		queue->last = NULL;
	loader->ahead--;
	loader->ahead_bytes -= load->bytes;
	/* Wake the threads when there is work for a while: waking takes as long as 100 events. */
	if (loader->ahead <= loader->most / 2)
		pthread_cond_broadcast(&loader->work);
	return load;
}

/* Gives the chunk's memory to the cursor, until the next call. */
static void give_load(struct tape_cursor *cursor, struct tape_load *load)
{
	cursor->load = load;
	cursor->memory = load->unpacked.memory;
	cursor->unpacked = load->unpacked.nr_pages ? &load->unpacked : NULL;
}

/* Takes that memory from the cursor.  Returns the load, or NULL: it has none. */
static struct tape_load *take_back(struct tape_cursor *cursor)
{
	struct tape_load *load = cursor->load;

	if (!load)
		return NULL;
	cursor->load = NULL;
	cursor->memory = NULL;
	cursor->unpacked = NULL;
	return load;
}

void tape_load_let_go(struct tape_cursor *cursor)
{
	struct tape_load *load = take_back(cursor);

	if (load)
		free_load(load);
}

int tape_load(struct schedtape_tape *tape, struct tape_cursor *cursor, const char **why)
{
	struct tape_loader *loader = tape->loader;
	size_t chunk = cursor->chunk;
	struct tape_load *load;
	struct queue *queue;
	bool ahead;

	if (!loader)
		loader = loader_new(tape);
	tape->loader = loader;
	if (!loader)
		return -ENOMEM;

	queue = &loader->queues[cursor - tape->cursors];
	pthread_mutex_lock(&loader->lock);
	load = take_back(cursor);
	if (load)
		put_load(loader, load);
	load = take_load(loader, queue, chunk);
	ahead = load;
	if (!ahead)
		load = new_load(loader, chunk, tape_index_bytes(&tape->index[chunk]));
	if (!ahead && queue->chunk <= chunk) {
		queue->chunk = chunk + 1;
		queue->need = tape->index[chunk].end;
	}
	pthread_mutex_unlock(&loader->lock);
	if (!load)
		return -ENOMEM;
	if (!ahead)
		do_load(loader, &tape->decoder, load, false);
	give_load(cursor, load);
	*why = load->why;
	return load->ret;
}
