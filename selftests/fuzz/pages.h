/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tapes made from a fuzzer's input: descriptions of some tasks, then pages.
 */
#ifndef SELFTESTS_PAGES_H
#define SELFTESTS_PAGES_H

#include <stdint.h>

#include <schedtape-page.h>

#include "../unit/fake-tape.h"

#define DESCRIPTIONS	4
#define DESCRIPTION_LEN	4

/* Reduces events to few tasks and CPUs, so that they affect each other. */
static inline void take_event(struct schedtape_tape *tape, const struct schedtape_event *ev)
{
	struct schedtape_event *to;
	uint64_t last = tape->nr ? tape->events[tape->nr - 1].time : 0;

	to = fake_event(tape, 0, 0, 0, 0, 0);
	*to = *ev;
	to->time = ev->time > last ? ev->time : last;
	to->cpu &= 7;
	to->pid &= 31;
	to->old_pid &= 31;
	to->tgid &= 31;
	if (to->curr)
		to->curr = 1 + (to->curr & 15);
}

static inline void take_page(struct schedtape_tape *tape, const void *data)
{
	struct schedtape_error err;
	struct schedtape_event ev;
	struct schedtape_page page;

	if (schedtape_page_open(&page, data, &err))
		return;
	while (schedtape_page_next(&page, &ev, &err) > 0)
		take_event(tape, &ev);
}

/* Adds the descriptions; @data may end before the last one. */
static inline void take_tasks(struct schedtape_tape *tape, const uint8_t *data, size_t size)
{
	struct schedtape_task_info *task;
	unsigned int i;

	for (i = 0; i < DESCRIPTIONS && size >= DESCRIPTION_LEN; i++) {
		task = fake_info(tape, 1 + (data[0] & 31), "task", data[1] & 15, data[1] >> 4 & 7);
		task->tgid = data[2] & 31;
		task->start_time = (data[2] >> 5) * 2000000ULL;
		task->time = data[3] * 10000ULL;
		data += DESCRIPTION_LEN;
		size -= DESCRIPTION_LEN;
	}
}

static inline void take_pages(struct schedtape_tape *tape, const uint8_t *data, size_t pages)
{
	for (; pages; pages--, data += STAPE_PAGE_SIZE)
		take_page(tape, data);
}

#endif /* SELFTESTS_PAGES_H */
