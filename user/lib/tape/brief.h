/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Events as they are in memory by thousands: struct schedtape_event has room for what few events
 * have, and takes seven times as much.
 */
#ifndef SCHEDTAPE_TAPE_BRIEF_H
#define SCHEDTAPE_TAPE_BRIEF_H

#include <schedtape-page.h>

/**
 * struct tape_brief - an event of a type that has no other members, see struct schedtape_event
 * @cpu: only of merged events: the CPU, see tape_brief_cpu()
 */
struct tape_brief {
	uint64_t time;
	uint32_t pid;
	uint32_t curr;
	uint32_t arg;
	uint8_t type;
	uint8_t curr_kind;
	uint16_t cpu;
};

/* Returns true if a brief has room for the number of the CPU. */
static inline bool tape_brief_has_cpu(uint32_t cpu)
{
	return cpu < UINT16_MAX || cpu == STAPE_CPU_NONE;
}

/* Returns the CPU of a brief, of which it has the lower bits. */
static inline uint32_t tape_brief_cpu(const struct tape_brief *brief)
{
	return brief->cpu == UINT16_MAX ? STAPE_CPU_NONE : brief->cpu;
}

/*
 * page.c: reads as many events as are brief, @most at most, and sets @n to their number.
 * Returns 1: @ev is the event behind them, which is not brief, or a STAPE_EV_SET that this version
 * does not know: bits 4 and up of its argument are what it sets; 0: there is none, because @n is
 * @most or because the page is at its end; -EBADMSG: the rest of the page is corrupt.
 */
int tape_page_briefs(struct schedtape_page *page, struct tape_brief *briefs, unsigned int most,
		     unsigned int *n, struct schedtape_event *ev, struct schedtape_error *err);

#define TAPE_BATCH	64	/* events, few enough for the CPU's first cache */

/**
 * struct tape_batch - the next events of a page
 * @briefs: the last one may stand for @whole
 * @whole: an event that is not brief
 * @why: the error behind them
 */
struct tape_batch {
	struct tape_brief briefs[TAPE_BATCH + 1];
	struct schedtape_event whole;
	struct schedtape_error why;
};

#endif /* SCHEDTAPE_TAPE_BRIEF_H */
