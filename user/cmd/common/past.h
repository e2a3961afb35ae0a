/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a tape needs of the time before its first event, while a session overwrites its rings: what
 * each task is, and the clocks.  It takes no more memory when the session runs for longer, because
 * it forgets what happened before the oldest event in the rings.
 */
#ifndef SCHEDTAPE_PAST_H
#define SCHEDTAPE_PAST_H

#include <stddef.h>
#include <stdint.h>

#include <schedtape.h>

/* -- tasks ----------------------------------------------------------------- */

/**
 * struct past_tasks - what tasks were at a moment, which descriptions of tasks lead on to a later
 * one; all 0: an empty table
 * @tree: the tasks by PID, @nr of them
 * @dead: how many of them have ended
 */
struct past_tasks {
	void *tree;
	size_t nr;
	size_t dead;
};

/*
 * Takes a task over from a list of those that exist: adds it, or describes it again.  Returns 0 or
 * -ENOMEM.
 */
int past_tasks_meet(struct past_tasks *tasks, const struct schedtape_task_info *info);
/*
 * Returns the tasks, described at @time, ns of CLOCK_MONOTONIC; 0: as they were listed.  Those that
 * have ended are STAPE_STATE_DEAD, and left out if that was before @since, by the session's clock.
 * The others are STAPE_STATE_SLEEPING: their events say more.  The caller frees the array before
 * the table changes.  NULL: out of memory.
 */
struct schedtape_task_info *past_tasks_list(const struct past_tasks *tasks, uint64_t since,
					    uint64_t time, size_t *n);

/* -- the past -------------------------------------------------------------- */

/**
 * struct past_page - a page with descriptions
 * @data: the page
 * @known: how many of its events the tasks have been led on with.  Not a time, because a page may
 *	come when the tasks have been led on beyond its beginning
 * @ended: how many tasks end in it, after past_look()
 */
struct past_page {
	unsigned char *data;
	uint32_t known;
	uint32_t ended;
};

/**
 * struct past - what there was; times are of the session's clock
 * @from: when @tasks was true.  Descriptions of later changes are in @pages
 * @tasks: all tasks at that time
 * @pages: pages with descriptions, the @nr_pages oldest first, with room for @max_pages
 * @fresh: how many of them past_look() has not seen yet
 * @events: how many events these pages have
 * @lost: how many were lost between them
 * @forgotten: how many events were in pages before these
 * @forgotten_lost: how many were lost between those
 * @second: ticks of the clock
 * @samples: of the clocks, @nr_samples, the first one before @from if there was one
 */
struct past {
	uint64_t from;
	struct past_tasks tasks;
	struct past_page *pages;
	size_t nr_pages;
	size_t max_pages;
	size_t fresh;
	uint64_t events;
	uint64_t lost;
	uint64_t forgotten;
	uint64_t forgotten_lost;
	uint64_t second;
	struct stape_clock_sample *samples;
	size_t nr_samples;
};

/* @max_pages: with more pages the oldest are forgotten early.  Returns a past, or NULL. */
struct past *past_new(size_t max_pages);
void past_free(struct past *past);
/*
 * Notes the tasks that exist at @time.  Others have ended, without a description if that was in a
 * pause.  Returns 0 or -ENOMEM.
 */
int past_add_tasks(struct past *past, uint64_t time, const struct schedtape_task_info *tasks,
		   size_t n);
/*
 * Keeps @n pages with descriptions.  Returns 0; -ENOMEM, -EBADMSG: not all could be kept, or one is
 * corrupt
 */
int past_add_pages(struct past *past, const void *pages, size_t n);
/* Keeps a sample of the clocks. */
void past_add_sample(struct past *past, const struct stape_clock_sample *sample);
/* Forgets what happened before @time, but what tasks were at that time.  Returns the same. */
int past_forget(struct past *past, uint64_t time);
/*
 * Looks at descriptions that have come since the last call: calls @meet with the cgroup of each
 * task that was described, and counts those that have ended.
 */
void past_look(struct past *past, void (*meet)(void *arg, uint64_t cgroup), void *arg);
/* Returns how many tasks have ended since @from, and at most a second and a page before it. */
uint64_t past_ended(const struct past *past);
/* Returns how far back the rings go, ns; 0: they have not overwritten any event. */
uint64_t past_reach(const struct past *past);
/*
 * Returns the time of CLOCK_MONOTONIC, ns, at a time of the sample's counter; 0 or UINT64_MAX:
 * before or after all times.  @sample: its kHz are not 0
 */
uint64_t past_sample_mono(const struct stape_clock_sample *sample, uint64_t time);
/* Returns the time of CLOCK_MONOTONIC, ns, at a time of the session's clock. */
uint64_t past_mono(const struct past *past, uint64_t time);
/* Writes the samples, the tasks at @from, and all later descriptions.  Returns 0 or -errno. */
int past_write(const struct past *past, struct schedtape_writer *writer,
	       struct schedtape_error *err);

#endif /* SCHEDTAPE_PAST_H */
