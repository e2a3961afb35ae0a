/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Makes ring pages, independently of the module and the library: written from the format's
 * description only.
 */
#ifndef SELFTESTS_MAKER_H
#define SELFTESTS_MAKER_H

#include <byteswap.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <schedtape/event.h>

#include "story.h"

struct maker {
	unsigned char *page;
	struct stape_page_header header;
};

static inline void maker_finish(struct maker *m)
{
	memcpy(m->page, &m->header, sizeof(m->header));
}

static inline void maker_begin(struct maker *m, void *page, uint32_t cpu, uint64_t seq,
			       uint64_t time)
{
	memset(page, 0xee, STAPE_PAGE_SIZE);	/* after @used there may be anything */
	m->page = page;
	m->header = (struct stape_page_header) {
		.magic = STAPE_PAGE_MAGIC,
		.cpu = cpu,
		.used = sizeof(m->header),
		.curr_kind = STAPE_NEXT_IDLE,
		.time = time,
		.end = time,
		.seq = seq,
	};
	maker_finish(m);
}

static inline void maker_word(struct maker *m, uint64_t word)
{
	memcpy(m->page + m->header.used, &word, sizeof(word));
	m->header.used += sizeof(word);
	maker_finish(m);
}

static inline void maker_event(struct maker *m, uint64_t time, unsigned int type, uint32_t pid,
			       uint64_t arg)
{
	uint64_t delta = time - m->header.end;

	if (delta > STAPE_DELTA_MASK) {
		maker_word(m, (uint64_t)STAPE_EV_TIME << 60 | (delta - 5));
		delta = 5;
	}
	if (arg > STAPE_ARG_MASK)
		maker_word(m, (uint64_t)STAPE_EV_ARG << 60 | arg >> 10);
	m->header.end = time;
	m->header.events++;
	maker_word(m, (uint64_t)type << 60 | delta << 32 | (uint64_t)pid << 10 | (arg & 0x3ff));
}

static inline void maker_waking(struct maker *m, uint64_t time, uint32_t pid,
				enum stape_context context)
{
	maker_event(m, time, STAPE_EV_WAKING, pid, context << 8);
}

/* A waking and its wakeup in one word; @wakeup: the time of the wakeup. */
static inline void maker_wake(struct maker *m, uint64_t time, uint32_t pid,
			      enum stape_context context, uint64_t wakeup, uint32_t cpu)
{
	uint64_t delta = time - m->header.end;

	if (delta > 0xffff) {
		maker_word(m, (uint64_t)STAPE_EV_TIME << 60 | delta);
		delta = 0;
	}
	m->header.end = wakeup;
	m->header.events += 2;
	maker_word(m, (uint64_t)STAPE_EV_WAKE << 60 | (wakeup - time) << 48 | delta << 32 |
		   (uint64_t)pid << 10 | (uint64_t)context << 8 | cpu);
}

static inline void maker_exec(struct maker *m, uint64_t time, uint32_t pid, uint32_t old)
{
	maker_event(m, time, STAPE_EV_EXEC, pid, 1);
	maker_word(m, old);
}

static inline void maker_rename(struct maker *m, uint64_t time, uint32_t pid, const char *name)
{
	char comm[STAPE_COMM_LEN] = "";
	uint64_t words[2];

	memcpy(comm, name, strnlen(name, sizeof(comm)));
	memcpy(words, comm, sizeof(words));
	maker_event(m, time, STAPE_EV_RENAME, pid, 2);
	maker_word(m, words[0]);
	maker_word(m, words[1]);
}

static inline uint64_t maker_prio_word(unsigned int policy, int nice, unsigned int rt_priority,
				       int prio, bool boosted)
{
	return policy | (uint64_t)(nice + 20) << 8 | (uint64_t)rt_priority << 16 |
	       (uint64_t)(uint16_t)(prio + 1) << 32 | (uint64_t)boosted << 48;
}

static inline void maker_prio(struct maker *m, uint64_t time, uint32_t pid, uint64_t word)
{
	maker_event(m, time, STAPE_EV_PRIO, pid, 1);
	maker_word(m, word);
}

/* A priority with a slice, timer slack and STAPE_CLAMP_*. */
static inline void maker_wish(struct maker *m, uint64_t time, uint32_t pid, uint64_t word,
			      uint64_t slice, uint64_t slack, uint64_t clamps)
{
	maker_event(m, time, STAPE_EV_PRIO, pid, 1 + STAPE_WISH_WORDS);
	maker_word(m, word);
	maker_word(m, slice);
	maker_word(m, slack);
	maker_word(m, clamps);
}

/* Affinity: @n words of a mask, followed by a word of 0. */
static inline void maker_affinity(struct maker *m, uint64_t time, uint32_t pid,
				  const uint64_t *mask, unsigned int n)
{
	unsigned int i;

	maker_event(m, time, STAPE_EV_SET, pid, STAPE_SET_AFFINITY << STAPE_SET_SHIFT | (n + 1));
	for (i = 0; i < n; i++)
		maker_word(m, mask[i]);
	maker_word(m, 0);
}

/* A cgroup is throttled on a CPU, or is no longer. */
static inline void maker_throttle(struct maker *m, uint64_t time, uint64_t cgroup, uint32_t cpu,
				  bool begins)
{
	maker_event(m, time, STAPE_EV_SET, 0, STAPE_SET_THROTTLE << STAPE_SET_SHIFT |
					      STAPE_THROTTLE_WORDS);
	maker_word(m, cgroup);
	maker_word(m, cpu | (begins ? STAPE_THROTTLE_BEGINS : 0));
}

/* Attribute number @which, of a later version.  A number above 63 has a payload word of its own. */
static inline void maker_later(struct maker *m, uint64_t time, uint32_t pid, uint32_t which)
{
	bool more = which > 63;

	maker_event(m, time, STAPE_EV_SET, pid, (more ? 63 : which) << 4 | (1 + more));
	if (more)
		maker_word(m, (uint64_t)0xabcd << 32 | which);
	maker_word(m, 0x1234567890abcdef);
}

/* The CPU was idle for @idle since the switch before, and has done @kind for @span. */
static inline void maker_idle(struct maker *m, uint64_t time, uint64_t idle, uint64_t span,
			      unsigned int kind)
{
	maker_event(m, time, STAPE_EV_SET, 0, STAPE_SET_IDLE << STAPE_SET_SHIFT | 2);
	maker_word(m, idle);
	maker_word(m, span << 2 | kind);
}

/* A switch from idle or another task that tells the same. */
static inline void maker_switch_after(struct maker *m, uint64_t time, uint32_t pid, uint64_t idle,
				      uint64_t span, enum stape_next kind)
{
	uint64_t upper = span >> 10 << 32 | (kind == STAPE_NEXT_IDLE ? 1ULL << 31 : 0) | idle >> 4;

	maker_event(m, time, STAPE_EV_SWITCH, pid, upper << 10);
}

/* The interval @number ends. */
static inline void maker_interval(struct maker *m, uint64_t time, uint64_t number)
{
	maker_event(m, time, STAPE_EV_SET, 0, STAPE_SET_INTERVAL << STAPE_SET_SHIFT | 1);
	maker_word(m, number);
}

/* A trigger has fired.  @where: STAPE_TRIGGER_*_SHIFT, STAPE_TRIGGER_LASTS */
static inline void maker_trigger(struct maker *m, uint64_t time, uint32_t pid, uint64_t value,
				 uint64_t where)
{
	maker_event(m, time, STAPE_EV_SET, pid, STAPE_SET_TRIGGER << STAPE_SET_SHIFT |
						STAPE_TRIGGER_WORDS);
	maker_word(m, value);
	maker_word(m, where);
}

/* @words: all words but the name; @n: their number, larger in later modules */
static inline void maker_task_words(struct maker *m, uint64_t time, uint32_t pid,
				    unsigned int why, const char *name, const uint64_t *words,
				    unsigned int n)
{
	char comm[STAPE_COMM_LEN] = "";
	uint64_t payload[2];
	unsigned int i;

	memcpy(comm, name, strnlen(name, sizeof(comm)));
	memcpy(payload, comm, sizeof(comm));
	maker_event(m, time, STAPE_EV_TASK, pid, why << 4 | (2 + n));
	maker_word(m, payload[0]);
	maker_word(m, payload[1]);
	for (i = 0; i < n; i++)
		maker_word(m, words[i]);
}

static inline void maker_task(struct maker *m, uint64_t time, uint32_t pid, unsigned int why,
			      const char *name, const uint64_t words[5])
{
	maker_task_words(m, time, pid, why, name, words, 5);
}

static inline void maker_switch(struct maker *m, uint64_t time, uint32_t pid,
				enum stape_next next, enum stape_state prev)
{
	maker_event(m, time, STAPE_EV_SWITCH, pid, next << 4 | prev);
}

/* Adds the events of a story, see story.h, on the page's CPU. */
static inline void maker_story(struct maker *m, const char *story)
{
	struct story_event ev;

	while (story_next(&story, &ev, m->header.cpu)) {
		switch (ev.type) {
		case STAPE_EV_SWITCH:
			maker_switch(m, ev.time, ev.pid, ev.next, ev.arg);
			break;
		case STAPE_EV_WAKE:
			maker_wake(m, ev.time, ev.pid, ev.arg, ev.time, ev.on);
			break;
		case STAPE_EV_WAKING:
			maker_waking(m, ev.time, ev.pid, ev.arg);
			break;
		case STAPE_EV_WAKEUP:
			maker_event(m, ev.time, ev.type, ev.pid, ev.on);
			break;
		case STAPE_EV_FORK:
			maker_event(m, ev.time, ev.type, ev.pid, ev.arg);
			maker_event(m, ev.time, STAPE_EV_WAKEUP_NEW, ev.pid, ev.on);
			break;
		case STAPE_EV_RENAME:
			maker_rename(m, ev.time, ev.pid, ev.name);
			break;
		default:
			maker_event(m, ev.time, ev.type, ev.pid, ev.arg);
		}
	}
}

static inline void maker_lost(struct maker *m, uint64_t lost, uint64_t first, uint64_t last)
{
	m->header.lost = lost;
	m->header.lost_first = first;
	m->header.lost_last = last;
	maker_finish(m);
}

static inline void maker_paused(struct maker *m, uint64_t first, uint64_t last)
{
	m->header.flags |= STAPE_PAGE_PAUSED;
	m->header.lost_first = first;
	m->header.lost_last = last;
	maker_finish(m);
}

static inline uint64_t maker_swap_word(unsigned char *at)
{
	uint64_t word, swapped;

	memcpy(&word, at, sizeof(word));
	swapped = bswap_64(word);
	memcpy(at, &swapped, sizeof(swapped));
	return word;
}

/* Converts a page to the other byte order. */
static inline void maker_swap_page(unsigned char *page)
{
	struct stape_page_header h;
	uint32_t *half = (uint32_t *)&h, at, used, i;
	uint64_t word;

	memcpy(&h, page, sizeof(h));
	used = h.used;
	for (i = 0; i < 5; i++)
		half[i] = bswap_32(half[i]);
	h.curr_kind = bswap_16(h.curr_kind);
	h.flags = bswap_16(h.flags);
	memcpy(page, &h, sizeof(h));
	for (at = 6 * sizeof(*half); at < sizeof(h); at += sizeof(word))
		maker_swap_word(page + at);

	/*
	 * Names are bytes and stay; no other word of a task's payload looks like an event with
	 * one.
	 */
	for (at = sizeof(h); at < used; at += sizeof(word)) {
		word = maker_swap_word(page + at);
		if (word >> 60 == STAPE_EV_RENAME || word >> 60 == STAPE_EV_TASK)
			at += 2 * sizeof(word);
	}
}

#endif /* SELFTESTS_MAKER_H */
