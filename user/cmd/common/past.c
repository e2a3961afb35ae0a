// SPDX-License-Identifier: GPL-2.0-only
#include "common/past.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"

#define SAMPLES		4096	/* at most: 11 hours, if there is one each 10 s */
#define BLOCK		((size_t)64)	/* pages that are written at once */

struct past *past_new(size_t max_pages)
{
	struct past *past = calloc(1, sizeof(*past));

	if (!past)
		return NULL;
	past->max_pages = max_pages;
	past->pages = calloc(max_pages, sizeof(*past->pages));
	past->samples = calloc(SAMPLES, sizeof(*past->samples));
	if (past->pages && past->samples)
		return past;
	past_free(past);
	return NULL;
}

void past_free(struct past *past)
{
	if (!past)
		return;
	past_tasks_free(&past->tasks);
	while (past->nr_pages)
		free(past->pages[--past->nr_pages].data);
	free(past->pages);
	free(past->samples);
	free(past);
}

/* -- clocks ------------------------------------------------------------------ */

/* The clocks are nearly even, so that every second sample does when there are many. */
static void thin_out(struct past *past)
{
	size_t i, n = 0;

	for (i = 0; i < past->nr_samples; i += 2)
		past->samples[n++] = past->samples[i];
	past->nr_samples = n;
}

void past_add_sample(struct past *past, const struct stape_clock_sample *sample)
{
	if (past->nr_samples == SAMPLES)
		thin_out(past);
	past->samples[past->nr_samples++] = *sample;
	past->second = (uint64_t)sample->khz * 1000;
}

static void forget_samples(struct past *past, uint64_t time)
{
	size_t i = 0;

	while (i + 1 < past->nr_samples && past->samples[i + 1].counter <= time)
		i++;
	past->nr_samples -= i;
	if (i)
		memmove(past->samples, past->samples + i,
			past->nr_samples * sizeof(*past->samples));
}

uint64_t past_sample_mono(const struct stape_clock_sample *sample, uint64_t time)
{
	double ticks = time < sample->counter ? -(double)(sample->counter - time) :
						(double)(time - sample->counter);
	/* kHz are ticks a ms. */
	double ns = ticks / sample->khz * 1e6;

	/* Of a corrupt sample or time: 1e18 ns are 31 years. */
	if (ns > 1e18)
		return UINT64_MAX;
	return ns < -1e18 || ns < -(double)sample->mono ? 0 : sample->mono + (int64_t)ns;
}

uint64_t past_mono(const struct past *past, uint64_t time)
{
	const struct stape_clock_sample *sample = past->samples;
	size_t i;

	if (!past->nr_samples)
		return time;
	/* The last one before @time, or the first one. */
	for (i = 1; i < past->nr_samples && past->samples[i].counter <= time; i++)
		sample = &past->samples[i];
	return past_sample_mono(sample, time);
}

uint64_t past_reach(const struct past *past)
{
	uint64_t from = past->from ? past_mono(past, past->from) : 0, now = schedtape_now();

	return from && now > from ? now - from : 0;
}

/* -- descriptions ------------------------------------------------------------ */

int past_add_tasks(struct past *past, uint64_t time, const struct schedtape_task_info *tasks,
		   size_t n)
{
	int ret = 0;
	size_t i;

	past_tasks_mark(&past->tasks);
	for (i = 0; i < n && !ret; i++)
		ret = past_tasks_meet(&past->tasks, &tasks[i]);
	if (!ret)
		past_tasks_end_marked(&past->tasks, time);
	return ret;
}

/* Leads the tasks on with a page's events before @time that they do not know yet. */
static int lead_on(struct past *past, struct past_page *from, uint64_t time)
{
	struct schedtape_event ev;
	struct schedtape_page page;
	uint32_t n = 0;
	int ret = schedtape_page_open(&page, from->data, NULL);

	if (ret)
		return ret;
	while ((ret = schedtape_page_next(&page, &ev, NULL)) > 0 && ev.time < time) {
		if (n++ < from->known)
			continue;
		from->known = n;
		ret = schedtape_event_is_gap(&ev) ? 0 : past_tasks_event(&past->tasks, &ev);
		if (ret)
			return ret;
	}
	return ret < 0 ? ret : 0;
}

static const struct stape_page_header *header_of(const struct past *past, size_t i)
{
	return (const struct stape_page_header *)past->pages[i].data;
}

static void drop_pages(struct past *past, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		past->events -= header_of(past, i)->events;
		past->lost -= header_of(past, i)->lost;
		past->forgotten += header_of(past, i)->events;
		past->forgotten_lost += header_of(past, i)->lost;
		free(past->pages[i].data);
	}
	past->nr_pages -= n;
	if (past->fresh > past->nr_pages)
		past->fresh = past->nr_pages;
	if (n)
		memmove(past->pages, past->pages + n, past->nr_pages * sizeof(*past->pages));
}

int past_forget(struct past *past, uint64_t time)
{
	size_t i, old = 0;
	int ret = 0;

	/* Pages may have come that begin before that. */
	if (time < past->from)
		time = past->from;
	for (i = 0; i < past->nr_pages && header_of(past, i)->time < time && !ret; i++) {
		ret = lead_on(past, &past->pages[i], time);
		old += header_of(past, i)->end < time;
	}
	/* Also if one is corrupt, so that it is not read again. */
	drop_pages(past, old);
	past->from = time;
	forget_samples(past, time);
	/* Those that end may run a little longer. */
	if (time > past->second)
		past_tasks_forget(&past->tasks, time - past->second);
	return ret;
}

static int add_page(struct past *past, const struct stape_page_header *header)
{
	unsigned char *page;
	int ret = 0;

	/* A quarter at once, because the list moves. */
	if (past->nr_pages == past->max_pages)
		ret = past_forget(past, header_of(past, past->max_pages / 4)->end);
	/* Corrupt pages may have any times. */
	if (past->nr_pages == past->max_pages)
		drop_pages(past, past->max_pages / 2);
	page = malloc(STAPE_PAGE_SIZE);
	if (!page)
		return -ENOMEM;
	memcpy(page, header, STAPE_PAGE_SIZE);
	past->pages[past->nr_pages++] = (struct past_page){ .data = page };
	past->fresh++;
	past->events += header->events;
	past->lost += header->lost;
	return ret;
}

int past_add_pages(struct past *past, const void *pages, size_t n)
{
	int ret = 0, first = 0;
	size_t i;

	for (i = 0; i < n; i++) {
		ret = add_page(past, pages + i * STAPE_PAGE_SIZE);
		first = first ? first : ret;
	}
	return first;
}

void past_cgroups(struct past *past, void (*meet)(void *arg, uint64_t cgroup), void *arg)
{
	struct schedtape_event ev;
	struct schedtape_page page;

	for (; past->fresh; past->fresh--) {
		if (schedtape_page_open(&page, past->pages[past->nr_pages - past->fresh].data,
					NULL))
			continue;
		while (schedtape_page_next(&page, &ev, NULL) > 0)
			if (ev.type == STAPE_EV_TASK)
				meet(arg, ev.cgroup);
	}
}

/* -- writing ----------------------------------------------------------------- */

static int write_tasks(const struct past *past, struct schedtape_writer *writer,
		       struct schedtape_error *err)
{
	uint64_t since = past->from > past->second ? past->from - past->second : 0;
	/* As long as nothing was forgotten, they are those of the beginning. */
	uint64_t time = past->from ? past_mono(past, past->from) : 0;
	struct schedtape_task_info *tasks;
	size_t n;
	int ret;

	tasks = past_tasks_list(&past->tasks, since, time, &n);
	if (!tasks)
		return schedtape_fail(err, -ENOMEM, "out of memory for %zu tasks", past->tasks.nr);
	ret = schedtape_writer_tasks(writer, tasks, n, err);
	free(tasks);
	return ret;
}

static int write_pages(const struct past *past, struct schedtape_writer *writer,
		       struct schedtape_error *err)
{
	unsigned char *block = malloc(BLOCK * STAPE_PAGE_SIZE);
	size_t i, n;
	int ret = 0;

	if (!block)
		return schedtape_fail(err, -ENOMEM, "out of memory");
	for (i = 0; i < past->nr_pages && !ret; i += n) {
		for (n = 0; n < BLOCK && i + n < past->nr_pages; n++)
			memcpy(block + n * STAPE_PAGE_SIZE, past->pages[i + n].data,
			       STAPE_PAGE_SIZE);
		ret = schedtape_writer_pages(writer, block, n, err);
	}
	free(block);
	return ret;
}

int past_write(const struct past *past, struct schedtape_writer *writer,
	       struct schedtape_error *err)
{
	int ret = 0;
	size_t i;

	for (i = 0; i < past->nr_samples && !ret; i++)
		ret = schedtape_writer_clock(writer, &past->samples[i], err);
	if (!ret)
		ret = write_tasks(past, writer, err);
	return ret ? ret : write_pages(past, writer, err);
}
