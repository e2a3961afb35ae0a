// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Threads that load chunks ahead of the merge: they read, check and decompress them.
 * The merge needs next the chunk of the CPU whose previous chunk ends first, according
 * to the index.  If the index is wrong, this costs time only, because the merge itself
 * loads chunks that were not loaded ahead.
 *
 * The threads use the files and the index, which don't change, and the members that
 * @lock protects.
 */
#define _FILE_OFFSET_BITS 64
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "tape/read.h"

#define MAX_THREADS	16
#define MIN_CHUNKS	8		/* tapes with fewer chunks get no threads */
#define AHEAD		4		/* chunks in memory for each thread, at most */
#define AHEAD_BYTES	(1UL << 25)	/* in memory for all threads, at most */

/**
 * struct load - a chunk that was loaded ahead, or is just being loaded
 * @next: next one of the same CPU
 * @why, @ret: the result, once it is @done
 */
struct load {
	struct load *next;
	size_t chunk;
	unsigned char *memory;
	const char *why;
	int ret;
	bool done;
};

/**
 * struct lane - the loading of one CPU's chunks
 * @need: the time at which the merge will need @chunk, by the session's clock
 * @chunk: the next one to be loaded
 * @chunks_end: as in the cursor
 * @first, @last: loaded chunks that the merge has not taken yet
 */
struct lane {
	uint64_t need;
	size_t chunk;
	size_t chunks_end;
	struct load *first;
	struct load *last;
};

/**
 * struct tape_loader - the threads
 * @lock: protects @lanes, @ahead and @quit
 * @work: signalled when there may be a chunk to load, and at the end
 * @done: signalled when a chunk has been loaded
 * @lanes: by number of the cursor
 * @ahead: number of chunks in all lanes
 * @most: limit of @ahead
 */
struct tape_loader {
	const struct schedtape_tape *tape;
	pthread_mutex_t lock;
	pthread_cond_t work;
	pthread_cond_t done;
	struct lane *lanes;
	size_t ahead;
	size_t most;
	bool quit;
	pthread_t threads[MAX_THREADS];
	unsigned int nr_threads;
};

static size_t chunk_bytes(const struct tape_index *index)
{
	return (size_t)index->pages * STAPE_PAGE_SIZE;
}

/* Loads a chunk into new memory, which the caller frees, also on failure. */
static int load_chunk(const struct tape_loader *loader, struct tape_decoder *decoder,
		      size_t chunk, unsigned char **memory, const char **why)
{
	const struct tape_index *index = &loader->tape->index[chunk];
	const struct tape_file *file = &loader->tape->files[index->file];
	struct tape_head head;
	int ret;

	ret = tape_head_read(file, index->offset, &head, why);
	if (ret)
		return ret;
	if (head.raw != chunk_bytes(index)) {
		*why = "the file has changed";
		return -EBADMSG;
	}
	*memory = malloc(head.raw);
	return *memory ? tape_payload_read(file, decoder, &head, *memory, why) : -ENOMEM;
}

/* -- the threads ----------------------------------------------------------- */

/* Returns the lane whose next chunk is needed first, or NULL. */
static struct lane *next_lane(struct tape_loader *loader)
{
	const struct schedtape_tape *tape = loader->tape;
	struct lane *lane, *best = NULL;
	size_t i;

	for (i = 0; i < tape->nr_cursors; i++) {
		lane = &loader->lanes[i];
		while (lane->chunk < lane->chunks_end && tape->index[lane->chunk].damaged)
			lane->chunk++;
		if (lane->chunk < lane->chunks_end && (!best || lane->need < best->need))
			best = lane;
	}
	return best;
}

/* Called with the lock held.  Waits until there is room for a chunk.  NULL: no more. */
static struct load *begin_load(struct tape_loader *loader)
{
	struct load *load;
	struct lane *lane;

	for (;;) {
		lane = loader->quit ? NULL : next_lane(loader);
		if (!lane)
			return NULL;
		if (loader->ahead < loader->most)
			break;
		pthread_cond_wait(&loader->work, &loader->lock);
	}
	load = calloc(1, sizeof(*load));
	if (!load)
		return NULL;	/* the merge can do without */
	load->chunk = lane->chunk++;
	lane->need = loader->tape->index[load->chunk].end;
	loader->ahead++;
	if (lane->last)
		lane->last->next = load;
	else
		lane->first = load;
	lane->last = load;
	return load;
}

static void *load_ahead(void *arg)
{
	struct tape_loader *loader = arg;
	struct tape_decoder decoder = { 0 };
	unsigned char *memory = NULL;
	const char *why = NULL;
	struct load *load;
	int ret;

	ret = tape_decoder_init(&decoder);
	pthread_mutex_lock(&loader->lock);
	while (!ret && (load = begin_load(loader))) {
		pthread_mutex_unlock(&loader->lock);
		memory = NULL;
		ret = load_chunk(loader, &decoder, load->chunk, &memory, &why);
		pthread_mutex_lock(&loader->lock);
		load->memory = memory;
		load->why = why;
		load->ret = ret;
		load->done = true;
		pthread_cond_signal(&loader->done);
		if (ret == -EBADMSG)
			ret = 0;
	}
	pthread_mutex_unlock(&loader->lock);
	tape_decoder_exit(&decoder);
	return NULL;
}

/* Returns how many chunks may be loaded ahead, by the largest one. */
static size_t chunks_ahead(const struct schedtape_tape *tape)
{
	size_t i, largest = 1;

	for (i = 0; i < tape->nr_index; i++)
		if (!tape->index[i].damaged && chunk_bytes(&tape->index[i]) > largest)
			largest = chunk_bytes(&tape->index[i]);
	return AHEAD_BYTES / largest;
}

static unsigned int threads_wanted(const struct schedtape_tape *tape)
{
	cpu_set_t cpus;
	long n;

	/* This fails if the machine has more CPUs than the set: then use all. */
	if (sched_getaffinity(0, sizeof(cpus), &cpus))
		n = sysconf(_SC_NPROCESSORS_ONLN);
	else
		n = CPU_COUNT(&cpus);
	if (n < 2 || tape->nr_index < MIN_CHUNKS)
		return 0;
	return n < MAX_THREADS ? n : MAX_THREADS;
}

/* Without memory or threads the merge does everything itself. */
static void start_threads(struct tape_loader *loader)
{
	unsigned int wanted = threads_wanted(loader->tape);
	sigset_t all, before;

	loader->most = chunks_ahead(loader->tape);
	if (wanted > loader->most)
		wanted = loader->most;
	if (loader->most > (size_t)AHEAD * wanted)
		loader->most = (size_t)AHEAD * wanted;
	/* Block signals in these threads, because signals belong to the library's user. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	while (loader->nr_threads < wanted &&
	       !pthread_create(&loader->threads[loader->nr_threads], NULL, load_ahead, loader))
		loader->nr_threads++;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static struct tape_loader *loader_new(const struct schedtape_tape *tape)
{
	struct tape_loader *loader = calloc(1, sizeof(*loader));
	size_t i;

	if (!loader)
		return NULL;
	loader->lanes = calloc(tape->nr_cursors, sizeof(*loader->lanes));
	if (!loader->lanes) {
		free(loader);
		return NULL;
	}
	loader->tape = tape;
	pthread_mutex_init(&loader->lock, NULL);
	pthread_cond_init(&loader->work, NULL);
	pthread_cond_init(&loader->done, NULL);
	for (i = 0; i < tape->nr_cursors; i++) {
		loader->lanes[i].chunk = tape->cursors[i].chunk;
		loader->lanes[i].chunks_end = tape->cursors[i].chunks_end;
	}
	start_threads(loader);
	return loader;
}

/* -- the merge's side ------------------------------------------------------ */

static void free_memory(struct tape_loader *loader)
{
	struct load *load;
	size_t i;

	for (i = 0; i < loader->tape->nr_cursors; i++) {
		while ((load = loader->lanes[i].first)) {
			loader->lanes[i].first = load->next;
			free(load->memory);
			free(load);
		}
	}
}

void tape_load_stop(struct schedtape_tape *tape)
{
	struct tape_loader *loader = tape->loader;

	if (!loader)
		return;
	pthread_mutex_lock(&loader->lock);
	loader->quit = true;
	pthread_cond_broadcast(&loader->work);
	pthread_mutex_unlock(&loader->lock);
	while (loader->nr_threads)
		pthread_join(loader->threads[--loader->nr_threads], NULL);

	free_memory(loader);
	pthread_cond_destroy(&loader->work);
	pthread_cond_destroy(&loader->done);
	pthread_mutex_destroy(&loader->lock);
	free(loader->lanes);
	free(loader);
	tape->loader = NULL;
}

/* Called with the lock held.  Removes the lane's first load, if it is @chunk, once it is done. */
static struct load *take_load(struct tape_loader *loader, struct lane *lane, size_t chunk)
{
	struct load *load = lane->first;

	if (!load || load->chunk != chunk)
		return NULL;
	while (!load->done)
		pthread_cond_wait(&loader->done, &loader->lock);
	lane->first = load->next;
	if (!lane->first)
		lane->last = NULL;
	loader->ahead--;
	pthread_cond_signal(&loader->work);
	return load;
}

int tape_load(struct schedtape_tape *tape, struct tape_cursor *cursor, const char **why)
{
	struct tape_loader *loader = tape->loader;
	size_t chunk = cursor->chunk;
	struct load *load;
	struct lane *lane;
	int ret;

	if (tape->stream)
		return tape_waiting_load(tape, cursor, why);
	if (!loader)
		loader = loader_new(tape);
	tape->loader = loader;
	if (!loader)
		return -ENOMEM;

	free(cursor->memory);
	cursor->memory = NULL;
	lane = &loader->lanes[cursor - tape->cursors];
	pthread_mutex_lock(&loader->lock);
	load = take_load(loader, lane, chunk);
	if (load) {
		cursor->memory = load->memory;
	} else if (lane->chunk <= chunk) {
		lane->chunk = chunk + 1;
		lane->need = tape->index[chunk].end;
	}
	pthread_mutex_unlock(&loader->lock);
	if (!load)
		return load_chunk(loader, &tape->decoder, chunk, &cursor->memory, why);

	*why = load->why;
	ret = load->ret;
	free(load);
	return ret;
}
