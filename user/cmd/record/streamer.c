// SPDX-License-Identifier: GPL-2.0-only
#include "record/internal.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/error.h"
#include "base/thread.h"
#include "common/output.h"
#include "common/past.h"
#include "common/priority.h"
#include "common/select.h"
#include "common/signals.h"

#define PAGES_PER_CHUNK	64
#define OTHER_FILES	64	/* open files besides those of streams */

/* Prints the first failure of all streamers, because others often have the same reason. */
static void fail(struct streamer *streamer, const char *text)
{
	streamer->failed = true;
	if (!atomic_exchange(streamer->said, true))
		out_error(NULL, "%s", text);
}

/* @mask: bit n%8 of byte n/8: CPU n; NULL: all of the session.  Returns 0 or -ENOMEM. */
static int streamer_init(struct streamer *streamer, struct schedtape_session *session,
			 const unsigned char *mask, atomic_bool *said)
{
	uint32_t cpu, n = schedtape_session_cpus(session);
	struct schedtape_cpu stats;

	pthread_mutex_init(&streamer->lock, NULL);
	streamer->session = session;
	streamer->said = said;
	streamer->fd = -1;
	streamer->cpus = calloc(n + 1, sizeof(*streamer->cpus));
	streamer->moved = calloc(n + 1, sizeof(*streamer->moved));
	streamer->earlier = calloc(n + 1, sizeof(*streamer->earlier));
	if (!streamer->cpus || !streamer->moved || !streamer->earlier)
		return -ENOMEM;
	/* The first, see streamer_drain(). */
	if (streamer->describes)
		streamer->cpus[streamer->nr_cpus++] = STAPE_CPU_NONE;
	for (cpu = 0; cpu < n; cpu++)
		if ((!mask || cpu_list_has(mask, cpu)) &&
		    schedtape_session_cpu(session, cpu, &stats))
			streamer->cpus[streamer->nr_cpus++] = cpu;
	return 0;
}

static void streamer_free(struct streamer *streamer)
{
	pthread_mutex_destroy(&streamer->lock);
	free(streamer->cpus);
	free(streamer->moved);
	free(streamer->earlier);
	streamer->cpus = NULL;
	streamer->moved = NULL;
	streamer->earlier = NULL;
	streamer->nr_cpus = 0;
}

/* -- moving ---------------------------------------------------------------- */

static void count_page(struct streamer *streamer, struct schedtape_cpu *moved,
		       const struct stape_page_header *page)
{
	moved->events += page->events;
	if (page->end > streamer->end)
		streamer->end = page->end;
	if (!page->lost)
		return;
	if (!moved->lost)
		moved->lost_first = page->lost_first;
	moved->lost += page->lost;
	moved->lost_last = page->lost_last;
}

/* Returns how many of @n pages end at @time or before. */
static size_t pages_until(const void *pages, size_t n, uint64_t time)
{
	const struct stape_page_header *page;
	size_t i;

	for (i = 0; i < n; i++) {
		page = pages + i * STAPE_PAGE_SIZE;
		if (page->end > time)
			break;
	}
	return i;
}

static int put_pages(struct streamer *streamer, uint32_t cpu, const void *pages, size_t n,
		     struct schedtape_error *err)
{
	size_t i;

	for (i = 0; cpu == STAPE_CPU_NONE && streamer->names && i < n; i++)
		tape_names_read(streamer->names, pages + i * STAPE_PAGE_SIZE);
	for (i = 0; cpu == STAPE_CPU_NONE && streamer->members && i < n; i++)
		members_read(streamer->members, pages + i * STAPE_PAGE_SIZE);
	if (cpu != STAPE_CPU_NONE || !streamer->past)
		return schedtape_writer_pages(streamer->writer, pages, n, err);
	/* The pages that could be kept must not come again. */
	if (past_add_pages(streamer->past, pages, n))
		fail(streamer, "not all descriptions of tasks could be kept");
	return 0;
}

/*
 * Moves a chunk of at most @most pages of the CPU number @i, none of which ends after @until.
 * Returns their number or -errno.
 */
static int move_chunk(struct streamer *streamer, size_t i, size_t most, uint64_t until,
		      struct schedtape_error *err)
{
	uint32_t cpu = streamer->cpus[i];
	const void *pages;
	size_t n, page;
	int ret;

	n = schedtape_session_pages(streamer->session, cpu,
				    most < PAGES_PER_CHUNK ? most : PAGES_PER_CHUNK, &pages);
	if (until != UINT64_MAX)
		n = pages_until(pages, n, until);
	ret = n ? put_pages(streamer, cpu, pages, n, err) : 0;
	if (ret)
		return ret;
	for (page = 0; page < n; page++)
		count_page(streamer, &streamer->moved[i], pages + page * STAPE_PAGE_SIZE);
	schedtape_session_consume(streamer->session, cpu, n);
	return n;
}

/*
 * Moves as many pages as a ring has, at most, so that a CPU that fills its ring as fast as it is
 * drained does not keep other rings waiting.
 */
static int drain_cpu(struct streamer *streamer, size_t i, uint64_t until,
		     struct schedtape_error *err)
{
	size_t left = schedtape_session_ring_pages(streamer->session);
	int n = 1;

	for (; left && n > 0; left -= n)
		n = move_chunk(streamer, i, left, until, err);
	return n < 0 ? n : 0;
}

static int drained(struct streamer *streamer, int ret, const struct schedtape_error *err)
{
	if (streamer->writer)
		streamer->bytes = schedtape_writer_bytes(streamer->writer);
	if (ret)
		fail(streamer, err->text);
	return ret;
}

int streamer_drain(struct streamer *streamer, bool stopped)
{
	size_t i, n = streamer->later && !stopped ? streamer->describes : streamer->nr_cpus;
	struct schedtape_error err;
	int ret = 0;

	/* After a failure pages stay in the rings, see streamer_count(). */
	if (streamer->failed)
		return 0;
	pthread_mutex_lock(&streamer->lock);
	for (i = 0; i < n && !ret; i++)
		ret = drain_cpu(streamer, i, UINT64_MAX, &err);
	ret = drained(streamer, ret, &err);
	pthread_mutex_unlock(&streamer->lock);
	return ret;
}

int streamer_drain_descriptions(struct streamer *streamer)
{
	struct schedtape_error err;
	int ret;

	if (streamer->failed || !streamer->describes)
		return 0;
	pthread_mutex_lock(&streamer->lock);
	ret = drained(streamer, drain_cpu(streamer, 0, UINT64_MAX, &err), &err);
	pthread_mutex_unlock(&streamer->lock);
	return ret;
}

int streamer_drain_until(struct streamer *streamer, uint64_t time)
{
	struct schedtape_error err;
	int ret = 0;
	size_t i;

	for (i = 0; i < streamer->nr_cpus && !ret; i++)
		ret = drain_cpu(streamer, i, time, &err);
	return drained(streamer, ret, &err);
}

/* Finds the CPU whose next page is the oldest of all.  Returns false if there are no pages. */
static bool find_oldest(const struct streamer *streamer, size_t *oldest, uint64_t *time)
{
	const struct stape_page_header *page;
	bool found = false;
	const void *at;
	size_t i;

	for (i = 0; i < streamer->nr_cpus; i++) {
		if (!schedtape_session_pages(streamer->session, streamer->cpus[i], 1, &at))
			continue;
		page = at;
		if (found && page->time >= *time)
			continue;
		*oldest = i;
		*time = page->time;
		found = true;
	}
	return found;
}

int streamer_drain_rest(struct streamer *streamer, struct schedtape_progress *progress)
{
	struct schedtape_error err;
	uint64_t bytes, marked = 0;
	size_t oldest = 0;
	int ret = 0;

	while (!streamer->failed && ret >= 0 && find_oldest(streamer, &oldest, &progress->time)) {
		bytes = schedtape_writer_bytes(streamer->writer);
		if (!marked || bytes - marked >= SCHEDTAPE_PROGRESS_BYTES) {
			marked = bytes;
			ret = schedtape_writer_progress(streamer->writer, progress, &err);
		}
		if (!ret)
			ret = move_chunk(streamer, oldest, PAGES_PER_CHUNK, UINT64_MAX, &err);
		ret = ret > 0 ? 0 : ret;
	}
	return drained(streamer, ret, &err);
}

/* -- the thread ------------------------------------------------------------ */

static void *streamer_main(void *arg)
{
	struct streamer *streamer = arg;
	struct pollfd fds[] = {
		{ .events = POLLIN },
		{ .fd = streamer->quit, .events = POLLIN },
	};
	bool idle = streamer->later && !streamer->describes;
	bool useless = false;
	uint64_t before;

	priority_take();
	do {
		/*
		 * If @fd was readable and there was no page, the session has stopped or its last
		 * task has ended.  Don't poll it in the next turn: later pages can wait.
		 */
		fds[0].fd = idle || useless ? -1 : streamer->fd;
		if (poll(fds, 2, idle ? -1 : RECORDER_FLUSH_MS) < 0 && errno != EINTR) {
			fail(streamer, "a thread that writes the tape cannot wait for events");
			break;
		}
		before = streamer->bytes;
		streamer_drain(streamer, fds[1].revents);
		useless = fds[0].revents && before == streamer->bytes;
	} while (!fds[1].revents);
	return NULL;
}

/* Converts the mask of bytes to the kernel's mask of words.  Returns 0 or -errno. */
static int set_affinity(pthread_attr_t *attr, const unsigned char *affinity, size_t bytes)
{
	uint32_t cpu, n = 8 * bytes;
	cpu_set_t *set = CPU_ALLOC(n);
	int code;

	if (!set)
		return -ENOMEM;
	CPU_ZERO_S(CPU_ALLOC_SIZE(n), set);
	for (cpu = 0; cpu < n; cpu++)
		if (cpu_list_has(affinity, cpu))
			CPU_SET_S(cpu, CPU_ALLOC_SIZE(n), set);
	code = pthread_attr_setaffinity_np(attr, CPU_ALLOC_SIZE(n), set);
	CPU_FREE(set);
	return -code;
}

/* @affinity: NULL: any CPU */
static int start_on(struct streamer *streamer, const unsigned char *affinity, size_t bytes)
{
	pthread_attr_t attr;
	int ret = -pthread_attr_init(&attr);

	if (ret)
		return ret;
	ret = affinity ? set_affinity(&attr, affinity, bytes) : 0;
	if (!ret)
		ret = schedtape_thread_start(&streamer->thread, &attr, streamer_main, streamer);
	pthread_attr_destroy(&attr);
	streamer->running = !ret;
	return ret;
}

/*
 * Starts a thread that moves pages, with all signals blocked.  Returns 0 or -errno.
 * @affinity: mask of @bytes: CPUs that the thread may run on.  If none of them is online and
 * permitted, it runs on any CPU.
 */
static int start_thread(struct streamer *streamer, const unsigned char *affinity, size_t bytes)
{
	int ret = start_on(streamer, affinity, bytes);

	/* All CPUs of @affinity are offline or forbidden: run elsewhere, to drain their rings. */
	return ret == -EINVAL ? start_on(streamer, NULL, 0) : ret;
}

static void join_thread(struct streamer *streamer)
{
	if (streamer->running)
		pthread_join(streamer->thread, NULL);
	streamer->running = false;
}

/* -- counting -------------------------------------------------------------- */

/* Counts events of pages that are not in the file as lost, like those of a full ring. */
static void count_unwritten(struct streamer *streamer, struct schedtape_cpu *stats)
{
	const struct stape_page_header *page;
	const void *at;

	while (schedtape_session_pages(streamer->session, stats->cpu, 1, &at)) {
		page = at;
		stats->events -= page->events;
		stats->lost += page->events;
		if (!stats->lost_first || page->time < stats->lost_first)
			stats->lost_first = page->time;
		if (page->end > stats->lost_last)
			stats->lost_last = page->end;
		schedtape_session_consume(streamer->session, stats->cpu, 1);
	}
}

/* What is in earlier files is not in this one. */
static void leave_out_earlier(const struct streamer *streamer, size_t i,
			      struct schedtape_cpu *stats)
{
	const struct schedtape_cpu *earlier = &streamer->earlier[i];

	stats->events -= earlier->events;
	if (!earlier->lost)
		return;
	stats->lost -= earlier->lost;
	if (streamer->moved[i].lost)
		stats->lost_first = streamer->moved[i].lost_first;
	else if (stats->lost_first < streamer->begun)
		stats->lost_first = streamer->begun < stats->lost_last ? streamer->begun :
									 stats->lost_last;
	if (!stats->lost) {
		stats->lost_first = 0;
		stats->lost_last = 0;
	}
}

/* What the recorder has forgotten of the descriptions counts as overwritten. */
static void leave_out_forgotten(const struct past *past, struct schedtape_cpu *stats)
{
	stats->overwritten = past->forgotten;
	stats->lost -= past->forgotten_lost;
}

size_t streamer_count(struct streamer *streamer, struct schedtape_cpu *cpus)
{
	size_t i, n = 0;

	for (i = 0; i < streamer->nr_cpus; i++) {
		if (!schedtape_session_cpu(streamer->session, streamer->cpus[i], &cpus[n]))
			continue;
		if (streamer->cpus[i] == STAPE_CPU_NONE && streamer->past)
			leave_out_forgotten(streamer->past, &cpus[n]);
		/* The module's count includes overwritten events. */
		cpus[n].events -= cpus[n].overwritten;
		count_unwritten(streamer, &cpus[n]);
		leave_out_earlier(streamer, i, &cpus[n]);
		if (cpus[n].events || cpus[n].lost || cpus[n].overwritten)
			n++;
	}
	return n;
}

size_t streamer_count_moved(const struct streamer *streamer, struct schedtape_cpu *cpus)
{
	const struct schedtape_cpu *moved;
	size_t i, n = 0;

	for (i = 0; i < streamer->nr_cpus; i++) {
		moved = &streamer->moved[i];
		if (!moved->events && !moved->lost)
			continue;
		cpus[n] = *moved;
		cpus[n++].cpu = streamer->cpus[i];
	}
	return n;
}

void streamer_begin_file(struct streamer *streamer)
{
	size_t i;

	for (i = 0; i < streamer->nr_cpus; i++) {
		streamer->earlier[i].events += streamer->moved[i].events;
		streamer->earlier[i].lost += streamer->moved[i].lost;
	}
	streamer->begun = streamer->end;
	memset(streamer->moved, 0, streamer->nr_cpus * sizeof(*streamer->moved));
	streamer->failed = false;
}

/* -- the streamers of a recorder ------------------------------------------- */

int streamers_prepare(const struct recorder_options *options, struct schedtape_error *err)
{
	const char *hint = "";
	int ret;

	signals_survive_writes();
	/* Many streams need more files than the usual limit. */
	if (options->streams)
		files_limit_raise(2 * options->streams->n + OTHER_FILES);
	ret = priority_set(options->realtime);
	if (!ret)
		return 0;
	if (ret == -EPERM)
		hint = ": a real-time priority needs CAP_SYS_NICE, use sudo";
	return schedtape_fail(err, ret, "-r %d: %s%s", options->realtime, strerror(-ret), hint);
}

void streamers_leave(void)
{
	priority_leave();
	files_limit_restore();
}

/* Opens a file that polls only this stream's rings, for its thread. */
static int open_stream(struct recorder *recorder, struct streamer *streamer,
		       const struct stream *stream, struct schedtape_error *err)
{
	uint32_t descriptions = schedtape_session_cpus(recorder->session);
	size_t bytes = recorder->streams->bytes;
	unsigned char *mask = calloc(1, bytes + 1);

	if (!mask)
		return schedtape_fail(err, -ENOMEM, "out of memory");
	memcpy(mask, stream->cpus, bytes);
	if (streamer->describes)
		mask[descriptions / 8] |= 1 << descriptions % 8;
	streamer->quit = recorder->quit;
	streamer->fd = schedtape_session_stream(recorder->session, mask, bytes + 1, err);
	free(mask);
	return streamer->fd < 0 ? streamer->fd : 0;
}

int streamers_open(struct recorder *recorder, struct schedtape_error *err)
{
	const struct streams *streams = recorder->streams;
	size_t i, n = streams ? streams->n : 1;
	struct streamer *streamer;
	int ret = 0;

	recorder->streamers = calloc(n, sizeof(*recorder->streamers));
	recorder->quit = eventfd(0, EFD_CLOEXEC);
	if (!recorder->streamers || recorder->quit < 0)
		return schedtape_fail(err, -ENOMEM, "cannot make %zu threads", n);
	for (i = 0; i < n && !ret; i++) {
		streamer = &recorder->streamers[recorder->nr_streamers++];
		streamer->later = recorder->overwrite;
		streamer->describes = !i;
		ret = streamer_init(streamer, recorder->session,
				    streams ? streams->streams[i].cpus : NULL, &recorder->said);
		streamer->past = recorder->past;
		/* A thread of its own must not change what is watched here. */
		streamer->names = streams ? NULL : &recorder->names;
		if (ret)
			schedtape_fail(err, ret, "out of memory");
		else if (streams)
			ret = open_stream(recorder, streamer, &streams->streams[i], err);
	}
	return ret;
}

int streamers_start(struct recorder *recorder)
{
	const struct streams *streams = recorder->streams;
	const struct stream *stream;
	char *list;
	size_t i;
	int ret;

	for (i = 0; streams && i < streams->n; i++) {
		stream = &streams->streams[i];
		ret = start_thread(&recorder->streamers[i], stream->affinity, streams->bytes);
		if (!ret)
			continue;
		list = cpu_list_text(stream->affinity, streams->bytes);
		out_error(NULL, "cannot run a thread on CPUs %s: %s", list ? list : "",
			  strerror(-ret));
		free(list);
		return ret;
	}
	return 0;
}

int streamers_check(const struct recorder *recorder)
{
	size_t i;

	for (i = 0; i < recorder->nr_streamers; i++)
		if (!recorder->streamers[i].failed)
			return 0;
	return -EIO;
}

int streamers_end(struct recorder *recorder)
{
	uint64_t one = 1;
	bool all = true;
	size_t i;

	if (recorder->quit < 0 || write(recorder->quit, &one, sizeof(one)) != sizeof(one))
		return 0;
	for (i = 0; i < recorder->nr_streamers; i++) {
		join_thread(&recorder->streamers[i]);
		all = all && !recorder->streamers[i].failed;
	}
	return all ? 0 : -EIO;
}

void streamers_close(struct recorder *recorder)
{
	size_t i;

	for (i = 0; i < recorder->nr_streamers; i++) {
		if (recorder->streamers[i].fd >= 0)
			close(recorder->streamers[i].fd);
		streamer_free(&recorder->streamers[i]);
	}
	free(recorder->streamers);
	recorder->streamers = NULL;
	recorder->nr_streamers = 0;
	if (recorder->quit >= 0)
		close(recorder->quit);
}
