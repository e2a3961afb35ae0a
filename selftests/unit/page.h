/* SPDX-License-Identifier: GPL-2.0-only */
/* One page of a ring, and its events in turn. */
#ifndef SELFTESTS_PAGE_H
#define SELFTESTS_PAGE_H

#include <errno.h>

#include <schedtape.h>

#include "maker.h"
#include "tap.h"

static unsigned char page[STAPE_PAGE_SIZE];
static struct schedtape_error err;

static inline int next(struct schedtape_page *p, struct schedtape_event *ev)
{
	memset(ev, 0xaa, sizeof(*ev));
	err.text[0] = '\0';
	return schedtape_page_next(p, ev, &err);
}

/* A task in a PID namespace, on CPU 4000. */
static inline void make_task(struct maker *m, uint64_t time, uint32_t pid, unsigned int why)
{
	const uint64_t words[5] = {
		0x3fffffULL << 32 | 77, maker_prio_word(2, 5, 42, 57, false), 123456789012345,
		4000ULL << 32 | STAPE_STATE_BLOCKED, 12,
	};

	maker_task(m, time, pid, why, "sixteen letters!", words);
}

#endif /* SELFTESTS_PAGE_H */
