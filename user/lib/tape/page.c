// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Ring pages: unpacks words to events.  Documentation/event-format.rst describes the
 * format of a page.
 *
 * A page may come from a tape of unknown origin, so every value is checked before it
 * is used.  The memory of a page may have any alignment.
 */
#include <endian.h>
#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <string.h>

#include "base/error.h"
#include "tape/format.h"
#include "tape/page.h"

#define WORD		sizeof(uint64_t)
#define COMM_WORDS	(STAPE_COMM_LEN / WORD)

_Static_assert(sizeof(struct stape_page_header) == 72, "the page header has no hidden padding");
_Static_assert(sizeof(struct schedtape_brief) == 32, "nor has a brief");
_Static_assert(offsetof(struct schedtape_event, detailed) ==
	       offsetof(struct schedtape_brief, detailed), "an event begins with its brief");

static void page_header_swap(struct stape_page_header *h)
{
	h->magic = bswap_32(h->magic);
	h->cpu = bswap_32(h->cpu);
	h->used = bswap_32(h->used);
	h->events = bswap_32(h->events);
	h->curr = bswap_32(h->curr);
	h->curr_kind = bswap_16(h->curr_kind);
	h->flags = bswap_16(h->flags);
	h->time = bswap_64(h->time);
	h->end = bswap_64(h->end);
	h->seq = bswap_64(h->seq);
	h->lost = bswap_64(h->lost);
	h->lost_first = bswap_64(h->lost_first);
	h->lost_last = bswap_64(h->lost_last);
}

bool tape_page_header(struct stape_page_header *header, const void *page)
{
	memcpy(header, page, sizeof(*header));
	if (header->magic == bswap_32(STAPE_PAGE_MAGIC))
		page_header_swap(header);
	return header->magic == STAPE_PAGE_MAGIC;
}

void tape_page_set_header(void *page, const struct stape_page_header *header)
{
	struct stape_page_header own = *header;
	uint32_t magic;

	memcpy(&magic, page, sizeof(magic));
	if (magic == bswap_32(STAPE_PAGE_MAGIC))
		page_header_swap(&own);
	memcpy(page, &own, sizeof(own));
}

static const char *page_header_damage(const struct stape_page_header *h)
{
	if (h->used < sizeof(*h) || h->used > STAPE_PAGE_SIZE || h->used % WORD)
		return "impossible length";
	/* A word has two events at most. */
	if (h->events > (h->used - sizeof(*h)) / WORD * 2)
		return "more events than fit";
	if (h->time > h->end)
		return "ends before it begins";
	if (h->curr > STAPE_PID_MASK || h->curr_kind > STAPE_NEXT_OTHER ||
	    (h->curr_kind == STAPE_NEXT_TASK) != (h->curr != 0))
		return "impossible current task";
	if ((h->lost || h->flags & STAPE_PAGE_PAUSED) && h->lost_first > h->lost_last)
		return "its losses end before they begin";
	return NULL;
}

int schedtape_page_open(struct schedtape_page *page, const void *data,
			struct schedtape_error *err)
{
	struct stape_page_header *h = &page->header;
	const char *damage;
	uint32_t magic;

	memcpy(&magic, data, sizeof(magic));
	page->data = data;
	page->swap = magic == bswap_32(STAPE_PAGE_MAGIC);
	if (!tape_page_header(h, data))
		return schedtape_fail(err, -EBADMSG, "not a ring page: magic number 0x%08x",
				      h->magic);

	damage = page_header_damage(h);
	if (damage)
		return schedtape_fail(err, -EBADMSG, "header of page %" PRIu64 " of CPU %u: %s",
				      (uint64_t)h->seq, h->cpu, damage);

	page->at = sizeof(*h);
	page->events = 0;
	page->lost_pending = h->lost;
	page->pause_pending = h->flags & STAPE_PAGE_PAUSED;
	page->wakeup_pending = false;
	page->switch_pending = false;
	page->time = h->time;
	page->curr = h->curr;
	page->curr_kind = h->curr_kind;
	return 0;
}

static int page_damage(struct schedtape_page *page, struct schedtape_error *err,
		       const char *damage)
{
	uint32_t at = page->at;

	page->at = page->header.used;
	page->wakeup_pending = false;
	page->switch_pending = false;
	page->events = page->header.events;
	return schedtape_fail(err, -EBADMSG, "page %" PRIu64 " of CPU %u, before byte %u: %s",
			      (uint64_t)page->header.seq, page->header.cpu, at, damage);
}

/*
 * Returns a loss or a pause before the page's first event.  @lost_first may be later than the
 * page's base time, which is not the time of an event.  So @time is the earlier one of the
 * two: it is never later than an event that follows.
 */
static int page_gap(struct schedtape_page *page, struct schedtape_event *ev)
{
	const struct stape_page_header *h = &page->header;
	bool lost = page->lost_pending;

	*ev = (struct schedtape_event) {
		.time = h->lost_first < h->time ? h->lost_first : h->time,
		.cpu = h->cpu,
		.type = lost ? SCHEDTAPE_EV_LOST : SCHEDTAPE_EV_PAUSED,
		.curr = h->curr,
		.curr_kind = h->curr_kind,
		.detailed = true,
		.lost = lost ? h->lost : 0,
		.lost_first = h->lost_first,
		.lost_last = h->lost_last,
	};
	if (lost)
		page->lost_pending = false;
	else
		page->pause_pending = false;
	return 1;
}

/*
 * Sets a fork's parent as the current task, if the event names it.  Modules before version 3 of
 * the wire format wrote the fork into the ring of the parent's CPU, without the parent.
 */
static const char *page_fork(struct schedtape_event *ev)
{
	uint64_t parent = ev->arg >> STAPE_FORK_PARENT_SHIFT;

	if (parent > STAPE_PID_MASK)
		return "a fork with an impossible parent";
	if (parent) {
		ev->curr = parent;
		ev->curr_kind = STAPE_NEXT_TASK;
	}
	ev->arg &= STAPE_ARG_MASK;
	return NULL;
}

/* Can the task with this PID, or without one, be @next, enum stape_next? */
static inline bool page_has_next(uint32_t pid, unsigned int next)
{
	return next <= STAPE_NEXT_OTHER && (next == STAPE_NEXT_TASK) == (pid != 0);
}

/* Sets the task that runs from this switch on. */
static const char *page_switch(struct schedtape_page *page, const struct schedtape_event *ev)
{
	unsigned int next = schedtape_switch_next(ev);

	if (!page_has_next(ev->pid, next))
		return "a switch to an impossible task";

	page->curr = ev->pid;
	page->curr_kind = next;
	return NULL;
}

static const char *page_exec(struct schedtape_page *page, struct schedtape_event *ev, uint32_t at)
{
	uint64_t old = page_word(page, at);

	if (old > STAPE_PID_MASK)
		return "an exec with an impossible old PID";
	ev->old_pid = old;
	/* The task goes on under the PID of its thread group's leader. */
	if (page->curr_kind == STAPE_NEXT_TASK && page->curr == ev->old_pid && ev->pid)
		page->curr = ev->pid;
	return NULL;
}

/* Copies a name, which is bytes without a byte order. */
static void page_comm(const struct schedtape_page *page, struct schedtape_event *ev, uint32_t at)
{
	memcpy(ev->comm, page->data + at, STAPE_COMM_LEN);
	ev->comm[STAPE_COMM_LEN - 1] = '\0';
}

static const char *page_prio(struct schedtape_event *ev, uint64_t word)
{
	unsigned int nice = word >> STAPE_PRIO_NICE_SHIFT & UINT8_MAX;
	unsigned int rt_priority = word >> STAPE_PRIO_RT_SHIFT & UINT8_MAX;

	if (nice > TAPE_MAX_NICE - TAPE_MIN_NICE)
		return "an impossible nice value";
	if (rt_priority > TAPE_MAX_RT_PRIORITY)
		return "an impossible real-time priority";
	ev->policy = word >> STAPE_PRIO_POLICY_SHIFT & UINT8_MAX;
	ev->nice = (int)nice + TAPE_MIN_NICE;
	ev->rt_priority = rt_priority;
	ev->prio = (int)(word >> STAPE_PRIO_PRIO_SHIFT & UINT16_MAX) - 1;
	ev->boosted = word & STAPE_PRIO_BOOSTED;
	return NULL;
}

/* Reads the words behind those of a PRIO or TASK.  Clamps that no kernel would take are none. */
static void page_more_prio(const struct schedtape_page *page, struct schedtape_event *ev,
			   uint32_t at, unsigned int words)
{
	_Static_assert((int)STAPE_WISH_WORDS == (int)STAPE_DL_WORDS, "in the same places");

	if (words < STAPE_DL_WORDS)
		return;
	if (ev->policy == SCHED_DEADLINE) {
		ev->dl.runtime = page_word(page, at + STAPE_DL_RUNTIME * WORD);
		ev->dl.deadline = page_word(page, at + STAPE_DL_DEADLINE * WORD);
		ev->dl.period = page_word(page, at + STAPE_DL_PERIOD * WORD);
		return;
	}
	ev->wish.slice = page_word(page, at + STAPE_WISH_SLICE * WORD);
	ev->wish.slack = page_word(page, at + STAPE_WISH_SLACK * WORD);
	ev->wish.clamps = page_word(page, at + STAPE_WISH_CLAMPS * WORD);
	if (!tape_clamps_are_possible(ev->wish.clamps))
		ev->wish.clamps = 0;
}

/* Reads the last word of a TASK, if it has one for this. */
static void page_shared(const struct schedtape_page *page, struct schedtape_event *ev,
			uint32_t at, unsigned int words)
{
	uint64_t shared = page_word(page, at + (words - 1) * WORD);

	if (words != STAPE_TASK_WORDS + 1 && words != STAPE_TASK_WORDS + STAPE_DL_WORDS + 1)
		return;
	ev->autogroup = shared >> STAPE_SHARED_AUTOGROUP_SHIFT & STAPE_PID_MASK;
	ev->core = shared >> STAPE_SHARED_CORE_SHIFT & STAPE_SHARED_CORE_MASK;
}

static const char *page_task(const struct schedtape_page *page, struct schedtape_event *ev,
			     uint32_t at, unsigned int words)
{
	uint64_t group = page_word(page, at + STAPE_TASK_GROUP * WORD);
	uint64_t state = page_word(page, at + STAPE_TASK_STATE * WORD);
	uint64_t ns_pid = page_word(page, at + STAPE_TASK_NS_PID * WORD);
	const char *damage;

	ev->tgid = group;
	ev->ppid = group >> 32;
	ev->ns_pid = ns_pid;
	ev->state = state;
	ev->task_cpu = state >> 32;
	ev->start_time = page_word(page, at + STAPE_TASK_START_TIME * WORD);
	if (ev->tgid > STAPE_PID_MASK || ev->ppid > STAPE_PID_MASK || ns_pid > STAPE_PID_MASK)
		return "a task with an impossible PID";
	if (ev->state > STAPE_SWITCH_STATE_MASK)
		return "a task in an impossible state";
	if (words > STAPE_TASK_CGROUP)
		ev->cgroup = page_word(page, at + STAPE_TASK_CGROUP * WORD);
	page_comm(page, ev, at + STAPE_TASK_COMM * WORD);
	damage = page_prio(ev, page_word(page, at + STAPE_TASK_PRIO * WORD));
	if (words > STAPE_TASK_WORDS)
		page_more_prio(page, ev, at + STAPE_TASK_WORDS * WORD, words - STAPE_TASK_WORDS);
	page_shared(page, ev, at, words);
	return damage;
}

static const char *page_throttle(const struct schedtape_page *page, struct schedtape_event *ev,
				 uint32_t at, unsigned int words)
{
	uint64_t where;

	if (words < STAPE_THROTTLE_WORDS)
		return "a throttling without all of its payload";
	where = page_word(page, at + STAPE_THROTTLE_WHERE * WORD);
	ev->type = where & STAPE_THROTTLE_BEGINS ? SCHEDTAPE_EV_THROTTLE : SCHEDTAPE_EV_UNTHROTTLE;
	ev->cgroup = page_word(page, at + STAPE_THROTTLE_CGROUP * WORD);
	ev->task_cpu = where;
	return NULL;
}

static const char *page_affinity(const struct schedtape_page *page, struct schedtape_event *ev,
				 uint32_t at, unsigned int words)
{
	uint64_t word;
	unsigned int i;

	if (!words)
		return "an affinity without a word";
	ev->type = SCHEDTAPE_EV_AFFINITY;
	for (i = 0; i < STAPE_AFFINITY_WORDS; i++) {
		word = htole64(i < words ? page_word(page, at + i * WORD) : 0);
		memcpy(ev->affinity + i * WORD, &word, WORD);
	}
	return NULL;
}

static const char *page_trigger(const struct schedtape_page *page, struct schedtape_event *ev,
				uint32_t at, unsigned int words)
{
	uint64_t where;

	if (words < STAPE_TRIGGER_WORDS)
		return "a trigger without all of its payload";
	where = page_word(page, at + STAPE_TRIGGER_WHERE * WORD);
	ev->type = SCHEDTAPE_EV_TRIGGER;
	ev->trigger.value = page_word(page, at + STAPE_TRIGGER_VALUE * WORD);
	ev->trigger.number = where >> STAPE_TRIGGER_NUMBER_SHIFT & 0xff;
	ev->trigger.kind = where >> STAPE_TRIGGER_KIND_SHIFT & 0xff;
	ev->trigger.cpu = where >> STAPE_TRIGGER_CPU_SHIFT;
	ev->trigger.lasts = where & STAPE_TRIGGER_LASTS;
	return NULL;
}

/* Sets what an event of the page's CPU tells of it, and what that does from now on. */
static void page_idle(struct schedtape_page *page, struct schedtape_event *ev, uint64_t time,
		      uint64_t span, unsigned int kind)
{
	ev->type = SCHEDTAPE_EV_IDLE;
	ev->pid = 0;
	ev->idle.time = time;
	ev->idle.since = span < page->time ? page->time - span : 0;
	ev->idle.kind = kind;
	if (kind == STAPE_NEXT_TASK)
		return;
	page->curr = 0;
	page->curr_kind = kind == STAPE_NEXT_IDLE ? STAPE_NEXT_IDLE : STAPE_NEXT_OTHER;
}

static const char *page_set_idle(struct schedtape_page *page, struct schedtape_event *ev,
				 uint32_t at, unsigned int words)
{
	uint64_t span;

	if (words < STAPE_IDLE_WORDS)
		return "idle time without all of its payload";
	span = page_word(page, at + STAPE_IDLE_SPAN * WORD);
	page_idle(page, ev, page_word(page, at + STAPE_IDLE_TIME * WORD),
		  span >> STAPE_IDLE_SPAN_SHIFT, span >> STAPE_IDLE_KIND_SHIFT & 3);
	return NULL;
}

/* A switch to a task of the filter tells of the time before. */
static bool page_switch_tells(const struct schedtape_page *page, uint64_t arg)
{
	return page->curr_kind != STAPE_NEXT_TASK && arg > STAPE_ARG_MASK &&
	       !(arg & STAPE_SWITCH_SYSCALL);
}

/* Returns what the switch tells, which is behind us and has the argument @arg. */
static int page_told(struct schedtape_page *page, struct schedtape_event *ev, uint64_t arg)
{
	uint64_t time = arg >> STAPE_SWITCH_IDLE_SHIFT & ((1ULL << STAPE_SWITCH_IDLE_BITS) - 1);
	uint64_t span = arg >> STAPE_SWITCH_SPAN_SHIFT;

	ev->arg = 0;
	ev->detailed = true;
	page_idle(page, ev, time << STAPE_SWITCH_IDLE_UNIT, span << STAPE_SWITCH_SPAN_UNIT,
		  arg & STAPE_SWITCH_FROM_IDLE ? STAPE_NEXT_IDLE : STAPE_NEXT_OTHER);
	page->switch_pending = true;
	return 1;
}

static const char *page_interval(const struct schedtape_page *page, struct schedtape_event *ev,
				 uint32_t at, unsigned int words)
{
	if (words < STAPE_INTERVAL_WORDS)
		return "the end of an interval without its number";
	ev->type = SCHEDTAPE_EV_INTERVAL;
	ev->pid = 0;
	ev->arg = page_word(page, at + STAPE_INTERVAL_NR * WORD);
	return NULL;
}

/*
 * A later version may set other attributes: the event's type then remains STAPE_EV_SET, and its
 * argument says which.
 */
static const char *page_set(struct schedtape_page *page, struct schedtape_event *ev,
			    uint32_t at, unsigned int words)
{
	uint32_t which;

	switch (ev->arg >> STAPE_SET_SHIFT) {
	case STAPE_SET_AFFINITY:
		return page_affinity(page, ev, at, words);
	case STAPE_SET_THROTTLE:
		return page_throttle(page, ev, at, words);
	case STAPE_SET_TRIGGER:
		return page_trigger(page, ev, at, words);
	case STAPE_SET_IDLE:
		return page_set_idle(page, ev, at, words);
	case STAPE_SET_INTERVAL:
		return page_interval(page, ev, at, words);
	case STAPE_SET_MORE:
		if (!words)
			return "an attribute without its number";
		which = page_word(page, at);
		ev->arg = (uint64_t)which << STAPE_SET_SHIFT;
	}
	return NULL;
}

/* Reads or skips the payload behind an event's word. */
static const char *page_payload(struct schedtape_page *page, struct schedtape_event *ev)
{
	static const unsigned int least[] = {
		[STAPE_EV_EXEC] = 1,
		[STAPE_EV_RENAME] = COMM_WORDS,
		[STAPE_EV_PRIO] = 1,
		[STAPE_EV_TASK] = STAPE_TASK_CGROUP,
		[STAPE_EV_EXIT] = 0,
		[STAPE_EV_SET] = 0,
	};
	unsigned int words = ev->arg & STAPE_PAYLOAD_MASK;
	const char *damage;
	uint32_t at = page->at;

	if (words > (page->header.used - at) / WORD)
		return "the page ends within an event";
	page->at += words * WORD;
	ev->detailed = true;
	if (words < least[ev->type])
		return "an event without all of its payload";

	switch (ev->type) {
	case STAPE_EV_EXEC:
		return page_exec(page, ev, at);
	case STAPE_EV_RENAME:
		page_comm(page, ev, at);
		return NULL;
	case STAPE_EV_PRIO:
		damage = page_prio(ev, page_word(page, at));
		page_more_prio(page, ev, at + WORD, words - 1);
		return damage;
	case STAPE_EV_TASK:
		return page_task(page, ev, at, words);
	case STAPE_EV_SET:
		return page_set(page, ev, at, words);
	}
	return NULL;
}

static inline bool page_advance(struct schedtape_page *page, uint64_t step)
{
	if (step > page->header.end - page->time)
		return false;
	page->time += step;
	return true;
}

/*
 * Sets the brief.  The other members are 0 already: few events have any of them, so clearing them
 * each time would take longer than all the rest.
 */
static inline void page_event(const struct schedtape_page *page, struct schedtape_event *ev,
			      uint32_t type, uint64_t word, uint64_t arg)
{
	ev->brief = (struct schedtape_brief){
		.time = page->time, .arg = arg, .cpu = page->header.cpu,
		.pid = word >> STAPE_PID_SHIFT & STAPE_PID_MASK, .curr = page->curr, .type = type,
		.curr_kind = page->curr_kind,
	};
}

/* Clears the members behind the brief. */
static inline void page_clear(struct schedtape_event *ev)
{
	memset((char *)ev + sizeof(ev->brief), 0, sizeof(*ev) - sizeof(ev->brief));
}

/* Returns the second event of a STAPE_EV_WAKE word, which is already behind us. */
static int page_wakeup(struct schedtape_page *page, struct schedtape_event *ev,
		       struct schedtape_error *err)
{
	uint64_t word = page_word(page, page->at - WORD);

	page->wakeup_pending = false;
	if (!page_advance(page, page_wakeup_step(word)))
		return page_damage(page, err, "an event after the page's end time");
	page->events++;
	page_event(page, ev, STAPE_EV_WAKEUP, word, word & STAPE_WAKE_CPU_MASK);
	return 1;
}

/* Returns the switch of the last word, once its idle time was returned. */
static int page_pending_switch(struct schedtape_page *page, struct schedtape_event *ev,
			       struct schedtape_error *err)
{
	uint64_t word = page_word(page, page->at - WORD);
	const char *damage;

	page->switch_pending = false;
	page->events++;
	page_event(page, ev, STAPE_EV_SWITCH, word, word & STAPE_ARG_MASK);
	/* These members are not the switch's. */
	memset(&ev->idle, 0, sizeof(ev->idle));
	damage = page_switch(page, ev);
	return damage ? page_damage(page, err, damage) : 1;
}

/* Returns the argument of a waking, enum stape_context, of the argument of its word. */
static inline uint32_t page_context(uint64_t arg)
{
	return (arg & STAPE_WAKING_CONTEXT_MASK) >> STAPE_WAKING_CONTEXT_SHIFT;
}

/* Returns the first event of such a word, or that of a STAPE_EV_WAKING word. */
static void page_waking(struct schedtape_page *page, struct schedtape_event *ev)
{
	page->wakeup_pending = ev->type == STAPE_EV_WAKE;
	ev->type = STAPE_EV_WAKING;
	ev->arg = page_context(ev->arg);
}

/* Returns the time that passes with a word. */
static inline uint64_t page_step(uint64_t word, unsigned int type)
{
	if (type == STAPE_EV_TIME)
		return word & STAPE_TIME_MASK;
	return word >> STAPE_DELTA_SHIFT &
	       (type == STAPE_EV_WAKE ? STAPE_WAKE_WAKING_MASK : STAPE_DELTA_MASK);
}

/*
 * As schedtape_page_next(), but returns attributes of a later version, too, and the members of @ev
 * behind its brief have to be 0 before.  A call for each event would take a quarter of the time.
 */
__attribute__((always_inline))
static inline int page_next(struct schedtape_page *page, struct schedtape_event *ev,
			    struct schedtape_error *err)
{
	const char *damage = NULL;
	bool prefixed = false;
	uint64_t word, arg = 0;
	unsigned int type;

	if (page->lost_pending || page->pause_pending)
		return page_gap(page, ev);
	if (page->wakeup_pending)
		return page_wakeup(page, ev, err);
	if (page->switch_pending)
		return page_pending_switch(page, ev, err);

	while (page->at < page->header.used) {
		word = page_word(page, page->at);
		page->at += WORD;
		type = word >> STAPE_TYPE_SHIFT;

		if (type == STAPE_EV_ARG) {
			arg = word << STAPE_ARG_BITS;
			prefixed = true;
			continue;
		}
		if (!page_advance(page, page_step(word, type)))
			return page_damage(page, err, "an event after the page's end time");
		if (type == STAPE_EV_TIME) {
			prefixed = true;
			continue;
		}

		page_event(page, ev, type, word, arg | (word & STAPE_ARG_MASK));
		if (type == STAPE_EV_SWITCH && page_switch_tells(page, ev->arg))
			return page_told(page, ev, ev->arg);
		page->events++;

		if (type == STAPE_EV_SWITCH)
			damage = page_switch(page, ev);
		else if (type == STAPE_EV_WAKING || type == STAPE_EV_WAKE)
			page_waking(page, ev);
		else if (type == STAPE_EV_FORK)
			damage = page_fork(ev);
		else if (type >= STAPE_EV_EXEC)
			damage = page_payload(page, ev);
		else if (type == STAPE_EV_NONE)
			damage = "a word of type 0";
		if (damage)
			return page_damage(page, err, damage);
		return 1;
	}

	if (prefixed)
		return page_damage(page, err, "a prefix without its event");
	if (page->events != page->header.events)
		return page_damage(page, err, "not as many events as the header says");
	return 0;
}

int schedtape_page_next(struct schedtape_page *page, struct schedtape_event *ev,
			struct schedtape_error *err)
{
	int ret;

	do {
		page_clear(ev);
		ret = page_next(page, ev, err);
	} while (ret > 0 && ev->type == STAPE_EV_SET);
	return ret;
}

/* Types of words that most words are of, and that have no payload. */
#define PAGE_FREQUENT	(1U << STAPE_EV_SWITCH | 1U << STAPE_EV_WAKING | 1U << STAPE_EV_WAKE | \
			 1U << STAPE_EV_WAKEUP | 1U << STAPE_EV_WAKEUP_NEW | 1U << STAPE_EV_MIGRATE)

/*
 * Unpacks words of these types, up to one that is of another type, or wrong, which is left to
 * page_next().  It does the same with them, but has the page's state in registers, which takes
 * half the time.  Returns the number of events.
 */
static unsigned int page_frequent(struct schedtape_page *page, struct schedtape_brief *briefs,
				  unsigned int most)
{
	uint64_t word, step, second, time = page->time, left = page->header.end - time;
	uint32_t pid, arg, curr = page->curr, at = page->at, used = page->header.used;
	const uint32_t cpu = page->header.cpu;
	struct schedtape_brief *to = briefs, *last = briefs + most - 1;
	uint8_t type, next, curr_kind = page->curr_kind;

	if (page->lost_pending || page->pause_pending || page->wakeup_pending ||
	    page->switch_pending)
		return 0;
	/* A word has two events at most. */
	for (; at < used && to < last; at += WORD) {
		word = page_word(page, at);
		type = word >> STAPE_TYPE_SHIFT;
		step = page_step(word, type);
		second = type == STAPE_EV_WAKE ? page_wakeup_step(word) : 0;
		if (!(1U << type & PAGE_FREQUENT) || step + second > left)
			break;
		pid = word >> STAPE_PID_SHIFT & STAPE_PID_MASK;
		arg = word & STAPE_ARG_MASK;
		next = (arg & STAPE_SWITCH_NEXT_MASK) >> STAPE_SWITCH_NEXT_SHIFT;
		if (type == STAPE_EV_SWITCH && !page_has_next(pid, next))
			break;

		left -= step + second;
		time += step;
		*to = (struct schedtape_brief){
			.time = time, .arg = arg, .cpu = cpu, .pid = pid, .curr = curr,
			.type = type, .curr_kind = curr_kind,
		};
		if (type == STAPE_EV_SWITCH) {
			curr = pid;
			curr_kind = next;
		} else if (type == STAPE_EV_WAKING || type == STAPE_EV_WAKE) {
			to->type = STAPE_EV_WAKING;
			to->arg = page_context(arg);
		}
		to++;
		if (type == STAPE_EV_WAKE) {
			time += second;
			*to++ = (struct schedtape_brief){
				.time = time, .arg = arg & STAPE_WAKE_CPU_MASK, .cpu = cpu,
				.pid = pid, .curr = curr,
				.type = STAPE_EV_WAKEUP, .curr_kind = curr_kind,
			};
		}
	}
	page->at = at;
	page->time = time;
	page->curr = curr;
	page->curr_kind = curr_kind;
	page->events += to - briefs;
	return to - briefs;
}

int tape_page_briefs(struct schedtape_page *page, struct schedtape_brief *briefs,
		     unsigned int most, unsigned int *n, struct schedtape_event *ev,
		     struct schedtape_error *err)
{
	int ret = 0;

	page_clear(ev);
	for (*n = page_frequent(page, briefs, most); *n < most;
	     *n += page_frequent(page, briefs + *n, most - *n)) {
		ret = page_next(page, ev, err);
		if (ret <= 0 || ev->detailed)
			return ret;
		briefs[(*n)++] = ev->brief;
	}
	return 0;
}

struct schedtape_task_info tape_described(const struct schedtape_event *ev)
{
	struct schedtape_task_info info = {
		.time = ev->time,
		.start_time = ev->start_time,
		.pid = ev->pid,
		.tgid = ev->tgid,
		.ppid = ev->ppid,
		.ns_pid = ev->ns_pid,
		.cpu = ev->task_cpu,
		.state = ev->state,
		.policy = ev->policy,
		.nice = ev->nice,
		.rt_priority = ev->rt_priority,
		.cgroup = ev->cgroup,
		.dl = ev->dl,
	};

	memcpy(info.comm, ev->comm, sizeof(info.comm));
	return info;
}

const char *schedtape_event_name(unsigned int type)
{
	static const char * const names[] = {
		[STAPE_EV_SWITCH] = "switch",
		[STAPE_EV_WAKING] = "waking",
		[STAPE_EV_WAKEUP] = "wakeup",
		[STAPE_EV_WAKEUP_NEW] = "wakeup_new",
		[STAPE_EV_FORK] = "fork",
		[STAPE_EV_EXIT] = "exit",
		[STAPE_EV_MIGRATE] = "migrate",
		[STAPE_EV_EXEC] = "exec",
		[STAPE_EV_RENAME] = "rename",
		[STAPE_EV_PRIO] = "setprio",
		[STAPE_EV_TASK] = "task",
		[SCHEDTAPE_EV_AFFINITY] = "setaffinity",
		[SCHEDTAPE_EV_THROTTLE] = "throttle",
		[SCHEDTAPE_EV_UNTHROTTLE] = "unthrottle",
		[SCHEDTAPE_EV_TRIGGER] = "trigger",
		[SCHEDTAPE_EV_IDLE] = "idle",
		[SCHEDTAPE_EV_INTERVAL] = "interval",
		[SCHEDTAPE_EV_LOST] = "lost",
		[SCHEDTAPE_EV_PAUSED] = "paused",
	};

	if (type >= sizeof(names) / sizeof(names[0]) || !names[type])
		return "unknown";
	return names[type];
}

const char *schedtape_trigger_name(unsigned int kind)
{
	static const char * const names[] = {
		[STAPE_TRIGGER_LATENCY] = "latency",
		[STAPE_TRIGGER_BLOCKED] = "blocked",
		[STAPE_TRIGGER_BURST] = "burst",
		[STAPE_TRIGGER_RATE] = "rate",
	};

	if (kind >= sizeof(names) / sizeof(names[0]) || !names[kind])
		return "unknown";
	return names[kind];
}

const char *schedtape_context_name(unsigned int context)
{
	static const char * const names[] = {
		[STAPE_CTX_TASK] = "task",
		[STAPE_CTX_SOFTIRQ] = "softirq",
		[STAPE_CTX_HARDIRQ] = "hardirq",
		[STAPE_CTX_SOFTIRQ_TASK] = "softirq_task",
	};

	if (context >= sizeof(names) / sizeof(names[0]))
		return "unknown";
	return names[context];
}

/* @policy: one of the kernel's SCHED_*. */
const char *schedtape_policy_name(unsigned int policy)
{
	static const char * const names[] = {
		"other", "fifo", "rr", "batch", "iso", "idle", "deadline", "ext",
	};

	return policy < sizeof(names) / sizeof(names[0]) ? names[policy] : "unknown";
}

/* Returns the letter that ps(1) has for the state. */
char schedtape_state_char(unsigned int state)
{
	static const char letters[] = {
		[STAPE_STATE_RUNNING] = 'R',
		[STAPE_STATE_SLEEPING] = 'S',
		[STAPE_STATE_BLOCKED] = 'D',
		[STAPE_STATE_STOPPED] = 'T',
		[STAPE_STATE_TRACED] = 't',
		[STAPE_STATE_DEAD] = 'X',
		[STAPE_STATE_PARKED] = 'P',
		[STAPE_STATE_IDLE] = 'I',
	};

	return state < sizeof(letters) ? letters[state] : '?';
}
