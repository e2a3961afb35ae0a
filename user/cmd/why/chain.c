// SPDX-License-Identifier: GPL-2.0-only
/*
 * Goes back in time from the end of a wait, and finds what each part of its time was spent on.
 */
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "why/internal.h"

/*
 * The longest time that a CPU takes to leave its deepest idle state, with some more for an emulated
 * one, ns.  cpuidle's drivers have exit latencies of up to some 100 us.
 */
#define WAKING_UP	1000000
/* Cgroups below each other that are looked at.  Only a forged tape has more. */
#define MOST_DEPTH	64

/* -- quotas that kept a task from running ---------------------------------- */

static struct throttle throttle_of(const struct quotas_cgroup *cgroup, uint64_t id,
				   const struct tape_cgroup *look)
{
	return (struct throttle){
		.cgroup = cgroup ? cgroup->path : "", .id = id,
		.quota = look ? look->quota : 0, .period = look ? look->period : 0,
	};
}

/* Quotas of CPU time are only for tasks of these policies. */
static bool has_quota(const struct span *run)
{
	return run->policy == SCHED_OTHER || run->policy == SCHED_BATCH ||
	       run->policy == SCHED_IDLE;
}

/*
 * Returns true if a task that the CPU would have run without the bout did not run in it.  Where a
 * throttled cgroup's tasks run until they return to user space, it has left its CPU there.
 */
static bool stops(const struct history *history, const struct span *run, const struct bout *bout)
{
	return history->recorded->throttling != STAPE_THROTTLING_TASKS ||
	       (!run->woke && run->left >= bout->begin);
}

/*
 * Finds the last bout of a cgroup on a CPU that stopped a task in a time.  One that lasts has not
 * stopped a task that ran afterwards.
 */
static bool find_bout(const struct history *history, const struct span *run, uint64_t cgroup,
		      uint32_t cpu, const struct bout *time, struct bout *bout)
{
	const struct throttles *throttles = &history->throttles;

	if (run->lasts && throttles_lasts(throttles, cgroup, cpu, bout) &&
	    bout->begin < time->end && stops(history, run, bout))
		return true;
	return throttles_find(throttles, cgroup, cpu, time->begin, time->end, bout) &&
	       stops(history, run, bout);
}

/*
 * Returns true if the tape tells that the task of a run was throttled on a CPU in the time of
 * @bout, which is cut down to the last such part of it.
 */
static bool throttle_find(struct throttle *throttle, const struct history *history,
			  const struct span *run, uint32_t cpu, struct bout *bout)
{
	const struct quotas *quotas = &history->recorded->quotas;
	uint64_t id = history->tasks[run->task].cgroup;
	const struct quotas_cgroup *cgroup;
	struct bout found, last = { 0, 0 };
	unsigned int depth;

	if (!history->throttles.nr || !has_quota(run))
		return false;
	/* The one that ended last is what kept the task. */
	cgroup = quotas_find(quotas, id);
	for (depth = 0; depth < MOST_DEPTH; depth++, id = cgroup->id) {
		if (find_bout(history, run, id, cpu, bout, &found) && found.end > last.end) {
			last = found;
			*throttle = throttle_of(cgroup, id, cgroup ?
						quotas_between(cgroup, found.begin, found.end) :
						NULL);
		}
		cgroup = cgroup ? quotas_above(quotas, cgroup, bout->begin) : NULL;
		if (!cgroup)
			break;
	}
	if (!last.end)
		return false;
	bout->begin = last.begin > bout->begin ? last.begin : bout->begin;
	bout->end = last.end < bout->end ? last.end : bout->end;
	return true;
}

/* Returns true if a CPU was idle for longer than it takes to wake up. */
static bool is_kept(const struct span *span, uint64_t time)
{
	return span->kind == SPAN_IDLE && time > WAKING_UP;
}

/*
 * Returns true if the task of a run has perhaps used up its runtime, or yielded the rest, while its
 * CPU did @span for @time: the kernel has no tracepoint for that.
 */
static bool throttle_runtime(const struct span *run, const struct span *span, uint64_t time)
{
	return run->policy == SCHED_DEADLINE && is_kept(span, time);
}

/*
 * Returns true if the task of a run, which was ready since @ready, was perhaps throttled while its
 * CPU did @span for @time: the tape has no, or not all, events of throttling.
 */
static bool throttle_suspect(struct throttle *throttle, const struct history *history,
			     const struct span *run, uint64_t ready, const struct span *span,
			     uint64_t time)
{
	const struct recorded *recorded = history->recorded;
	const struct quotas_cgroup *cgroup;
	const struct tape_cgroup *look;

	if (!is_kept(span, time) || !has_quota(run))
		return false;
	/* The tape tells when it was throttled. */
	if (recorded->throttling && ready >= history->throttles.known_since)
		return false;
	/* The kernel counts a throttling when it ends: no count excludes one that lasts. */
	cgroup = quotas_suspect(&recorded->quotas, history->tasks[run->task].cgroup, ready,
				run->lasts ? UINT64_MAX : run->begin, &look);
	if (!cgroup)
		return false;
	*throttle = throttle_of(cgroup, cgroup->id, look);
	return true;
}

/* -- links ----------------------------------------------------------------- */

/**
 * struct walk - on the way back through a chain
 * @floor: where it ends
 * @at: what is after this time has its link
 * @rc: 0 or -ENOMEM
 * @slots: a hash of the links, if there are many: number in the chain plus 1, 0: free
 * @mask: number of slots minus 1; at least twice as many slots as links
 */
struct walk {
	struct chain *chain;
	const struct history *history;
	uint64_t floor;
	uint64_t at;
	int rc;
	uint32_t *slots;
	size_t mask;
};

/* Most chains have a few links.  Looking at each of these is faster than a hash. */
#define FEW		16
#define FIRST_SLOTS	128

static bool is_like(const struct link *link, const struct link *like)
{
	return link->kind == like->kind && link->task == like->task &&
	       link->other == like->other && link->syscall == like->syscall &&
	       link->throttle.id == like->throttle.id &&
	       link->throttle.quota == like->throttle.quota &&
	       link->throttle.period == like->throttle.period;
}

static size_t hash(const struct link *link)
{
	uint64_t mix = ((uint64_t)link->task << 32 | link->other) * 0x9e3779b97f4a7c15ULL;

	mix ^= (link->syscall << 4 | link->kind) * 0xc2b2ae3d27d4eb4fULL;
	mix ^= (link->throttle.id ^ link->throttle.quota << 32 ^ link->throttle.period << 16) *
	       0x165667b19e3779f9ULL;
	return mix >> 32;
}

/* Returns the slot of the link that is like this one, or the free one where it belongs. */
static uint32_t *slot_of(const struct walk *walk, const struct link *like)
{
	size_t at = hash(like);
	uint32_t *slot;

	for (;; at++) {
		slot = &walk->slots[at & walk->mask];
		if (!*slot || is_like(&walk->chain->links[*slot - 1], like))
			return slot;
	}
}

/* Returns the link of that kind, tasks, system call and quota, or NULL. */
static struct link *find(const struct walk *walk, const struct link *like)
{
	struct link *links = walk->chain->links;
	uint32_t *slot;
	size_t i;

	if (walk->slots) {
		slot = slot_of(walk, like);
		return *slot ? &links[*slot - 1] : NULL;
	}
	/* Chains go round in circles of a few tasks, so the last ones are the likely ones. */
	for (i = walk->chain->nr; i > 0; i--)
		if (is_like(&links[i - 1], like))
			return &links[i - 1];
	return NULL;
}

/* Makes a hash of all links, with room for as many again.  Returns 0 or -ENOMEM. */
static int rehash(struct walk *walk)
{
	size_t n = walk->slots ? 2 * (walk->mask + 1) : FIRST_SLOTS, i;
	uint32_t *slots = calloc(n, sizeof(*slots));

	if (!slots)
		return -ENOMEM;
	free(walk->slots);
	walk->slots = slots;
	walk->mask = n - 1;
	for (i = 0; i < walk->chain->nr; i++)
		*slot_of(walk, &walk->chain->links[i]) = i + 1;
	return 0;
}

/* Adds a link like this one.  Returns NULL without memory. */
static struct link *new_link(struct walk *walk, const struct link *like)
{
	struct chain *chain = walk->chain;
	struct link *links;

	links = schedtape_list_grow(chain->links, chain->nr, &chain->room, sizeof(*links));
	if (!links)
		return NULL;
	chain->links = links;
	links[chain->nr++] = *like;
	if (chain->nr > (walk->slots ? walk->mask / 2 : FEW))
		return rehash(walk) ? NULL : &links[chain->nr - 1];
	if (walk->slots)
		*slot_of(walk, like) = chain->nr;
	return &links[chain->nr - 1];
}

/* -- going back ------------------------------------------------------------ */

static struct link link_with(enum link_kind kind, uint32_t task, uint32_t other)
{
	return (struct link){
		.kind = kind, .task = task, .other = other, .syscall = SCHEDTAPE_SYSCALL_UNKNOWN,
	};
}

/* Gives the link that is like this one the time from @begin on that has none yet. */
static void spend_on(struct walk *walk, const struct link *like, uint64_t begin)
{
	struct link *link;

	if (begin < walk->floor)
		begin = walk->floor;
	if (begin >= walk->at || walk->rc)
		return;
	link = find(walk, like);
	if (!link) {
		link = new_link(walk, like);
		if (!link) {
			walk->rc = -ENOMEM;
			return;
		}
		link->end = walk->at;
	}
	link->parts++;
	link->time += walk->at - begin;
	link->begin = begin;
	walk->at = begin;
}

static void spend(struct walk *walk, enum link_kind kind, uint32_t task, uint32_t other,
		  uint64_t begin)
{
	const struct link like = link_with(kind, task, other);

	spend_on(walk, &like, begin);
}

/*
 * Returns what kept the task of a run from its CPU, which did @span for the last @time.  @ready:
 * since when it was ready.
 */
static struct link link_of(const struct walk *walk, const struct span *run, uint64_t ready,
			   const struct span *span, uint64_t time)
{
	static const enum link_kind kinds[] = {
		[SPAN_RUN] = LINK_QUEUED,
		[SPAN_IDLE] = LINK_IDLE,
		[SPAN_OTHER] = LINK_OTHER,
		[SPAN_UNKNOWN] = LINK_READY,
		[SPAN_QUEUED] = LINK_READY,
	};
	struct link link = link_with(kinds[span->kind], run->task, span->task);

	if (throttle_suspect(&link.throttle, walk->history, run, ready, span, time))
		link.kind = LINK_SUSPECTED;
	else if (throttle_runtime(run, span, time))
		link.kind = LINK_RUNTIME;
	return link;
}

/* The task of a run was ready since @ready; from @since on, its CPU did @span. */
static void spend_span(struct walk *walk, const struct span *run, uint64_t ready,
		       const struct span *span, uint64_t since)
{
	struct link link;

	if (since >= walk->at)
		return;
	link = link_of(walk, run, ready, span, walk->at - since);
	spend_on(walk, &link, since);
}

/* The same, but the task may have been throttled meanwhile, whatever its CPU did. */
static void spend_throttled(struct walk *walk, const struct span *run, uint64_t ready,
			    const struct span *span, uint64_t since)
{
	struct link link = link_with(LINK_THROTTLED, run->task, SCHEDTAPE_NONE);
	struct bout bout = { since, walk->at };

	while (walk->at > since && !walk->rc &&
	       throttle_find(&link.throttle, walk->history, run, span->cpu, &bout)) {
		spend_span(walk, run, ready, span, bout.end);
		spend_on(walk, &link, bout.begin);
		bout = (struct bout){ since, walk->at };
	}
	spend_span(walk, run, ready, span, since);
}

/*
 * The task of a run was ready since @ready, and from @begin on it waited for the CPU that did
 * @number at the end.
 */
static void spend_queued(struct walk *walk, const struct span *run, uint64_t ready,
			 uint64_t number, uint64_t begin)
{
	const struct span *span;

	if (begin < walk->floor)
		begin = walk->floor;
	while (walk->at > begin && !walk->rc) {
		span = history_get(walk->history, number);
		if (!span) {
			spend(walk, LINK_READY, run->task, SCHEDTAPE_NONE, begin);
			return;
		}
		/* When the task was moved away, it was not known yet that this ends. */
		if (span->end < walk->at)
			spend(walk, LINK_READY, run->task, SCHEDTAPE_NONE,
			      span->end > begin ? span->end : begin);
		spend_throttled(walk, run, ready, span, span->begin > begin ? span->begin : begin);
		number = span->on_cpu;
	}
}

/* A run's task was ready from @begin on, perhaps at several CPUs, until it got that of the run. */
static void spend_ready(struct walk *walk, const struct span *run, uint64_t begin)
{
	const struct span *queue = history_get(walk->history, run->queue);
	uint64_t number = run->on_cpu;

	while (queue && walk->at > begin && !walk->rc) {
		spend_queued(walk, run, begin, number, queue->end > begin ? queue->end : begin);
		number = queue->on_cpu;
		queue = history_get(walk->history, queue->before);
	}
	spend_queued(walk, run, begin, number, begin);
}

/* A run's task slept, and no task of the tape woke it, perhaps nothing until the tape ended. */
static void spend_asleep(struct walk *walk, const struct span *run)
{
	enum link_kind kind = LINK_UNKNOWN;
	struct link link;

	if (run->lasts && !run->woke)
		kind = run->left_state == STAPE_STATE_BLOCKED ? LINK_STILL_BLOCKED :
								LINK_STILL_ASLEEP;
	else if (run->woke_in == STAPE_CTX_TASK || run->woke_in == STAPE_CTX_SOFTIRQ_TASK)
		kind = LINK_OUTSIDE;
	else if (run->woke_in != SPAN_NO_STATE)
		kind = run->left_state == STAPE_STATE_BLOCKED ? LINK_BLOCKED : LINK_INTERRUPT;
	link = link_with(kind, run->task, SCHEDTAPE_NONE);
	link.syscall = run->left_syscall;
	spend_on(walk, &link, run->left);
}

/*
 * Goes from the begin of a run back to another run, in which its task, or its waker, was before.
 * Returns NULL if there is none.
 */
static const struct span *step(struct walk *walk, const struct span *run)
{
	const struct span *source = run->woke ? history_get(walk->history, run->source) : NULL;
	bool preempted = !run->woke && run->left && run->left_state == STAPE_STATE_RUNNING;
	uint64_t ready = preempted ? run->left : run->woke;

	if (!ready && run->lasts)
		spend_asleep(walk, run);
	if (!ready)
		return NULL;
	spend_ready(walk, run, ready);
	if (source && source->kind == SPAN_RUN && source->begin <= walk->at) {
		/* It succeeds later than it is tried, if the wakee's CPU completes it. */
		spend_ready(walk, run, source->end < ready ? source->end : ready);
		return source;
	}
	if (!preempted && run->left)
		spend_asleep(walk, run);
	return run->left ? history_get(walk->history, run->before) : NULL;
}

/* Goes back from the begin of a run.  Each run is older than the one before, so this ends. */
static int walk_back(struct walk *walk, const struct span *run)
{
	uint32_t task = SCHEDTAPE_NONE;

	while (run && walk->at > walk->floor && !walk->rc) {
		task = run->task;
		run = step(walk, run);
		if (run && walk->at > walk->floor)
			spend(walk, LINK_RAN, run->task, SCHEDTAPE_NONE, run->begin);
	}
	spend(walk, LINK_UNKNOWN, task, SCHEDTAPE_NONE, walk->floor);
	return walk->rc;
}

/* Returns how long the task of the chain itself waited for a CPU. */
static uint64_t sum_ready(const struct chain *chain)
{
	uint64_t ready = 0;
	size_t i;

	for (i = 0; i < chain->nr; i++)
		if (chain->links[i].task == chain->task &&
		    chain->links[i].kind >= LINK_QUEUED && chain->links[i].kind <= LINK_THROTTLED)
			ready += chain->links[i].time;
	return ready;
}

int chain_of_wait(struct chain *chain, const struct history *history, uint64_t number)
{
	const struct span *run = history_get(history, number);
	struct walk walk = { .chain = chain, .history = history };
	uint64_t begin;
	int rc;

	if (!run)
		return 0;
	begin = history_wait_begin(run->left, run->woke, run->lasts);
	if (!begin || begin >= run->begin)
		return 0;
	chain->task = run->task;
	chain->lasts = run->lasts;
	chain->cpu = run->cpu;
	chain->syscall = run->left_syscall;
	chain->begin = begin;
	chain->end = run->begin;
	chain->nr = 0;
	walk.floor = begin;
	walk.at = run->begin;
	rc = walk_back(&walk, run);
	free(walk.slots);
	chain->ready = sum_ready(chain);
	return rc ? rc : 1;
}

/*
 * Explains the wait before a run, but goes back no further than to its begin, because the task
 * itself ran then.  Returns that run of the task; if this one is its first, that of its parent.
 */
static const struct span *before_wait(struct walk *walk, const struct span *run, uint64_t floor)
{
	if (!run->left)
		return step(walk, run);
	walk->floor = run->left > floor ? run->left : floor;
	walk_back(walk, run);
	walk->floor = floor;
	return history_get(walk->history, run->before);
}

int chain_of_path(struct chain *chain, const struct history *history, uint64_t number,
		  uint64_t begin, uint64_t end)
{
	const struct span *run = history_get(history, number);
	struct walk walk = { .chain = chain, .history = history, .floor = begin, .at = end };

	chain->path = true;
	chain->task = run ? run->task : SCHEDTAPE_NONE;
	chain->cpu = run ? run->cpu : STAPE_CPU_NONE;
	chain->syscall = SCHEDTAPE_SYSCALL_UNKNOWN;
	chain->begin = begin;
	chain->end = end;
	chain->nr = 0;
	while (run && walk.at > begin && !walk.rc) {
		spend(&walk, LINK_RAN, run->task, SCHEDTAPE_NONE, run->begin);
		run = before_wait(&walk, run, begin);
	}
	spend(&walk, LINK_UNKNOWN, chain->task, SCHEDTAPE_NONE, begin);
	free(walk.slots);
	return walk.rc;
}

/* -- a whole chain --------------------------------------------------------- */

bool chain_is_rest(const struct chain *chain, const struct link *link)
{
	return link->task == chain->task && !chain->path &&
	       (link->kind == LINK_INTERRUPT || link->kind == LINK_OUTSIDE ||
		link->kind == LINK_STILL_ASLEEP);
}

uint64_t chain_kept(const struct chain *chain)
{
	uint64_t kept = 0;
	size_t i;

	for (i = 0; i < chain->nr; i++)
		if (!chain_is_rest(chain, &chain->links[i]))
			kept += chain->links[i].time;
	return kept;
}

void link_name_take(struct link_name *name, const struct schedtape_task *tasks, uint32_t index)
{
	const struct schedtape_task *task;

	*name = (struct link_name){ .pid = 0 };
	if (index == SCHEDTAPE_NONE)
		return;
	task = schedtape_task_at(tasks, index);
	name->pid = task->pid;
	memcpy(name->comm, task->comm, sizeof(name->comm));
}

void chain_name(struct chain *chain, const struct schedtape_task *tasks)
{
	struct link *link;

	link_name_take(&chain->task_name, tasks, chain->task);
	for (link = chain->links; link < chain->links + chain->nr; link++) {
		link_name_take(&link->task_name, tasks, link->task);
		link_name_take(&link->other_name, tasks, link->other);
	}
}

static bool same_name(const struct link_name *a, const struct link_name *b)
{
	return !a->pid == !b->pid && !memcmp(a->comm, b->comm, sizeof(a->comm));
}

static bool same_cause(const struct chain *chain, const struct link *a, const struct link *b)
{
	return a->kind == b->kind && a->syscall == b->syscall &&
	       chain_is_rest(chain, a) == chain_is_rest(chain, b) &&
	       same_name(&a->task_name, &b->task_name) &&
	       same_name(&a->other_name, &b->other_name);
}

static int compare_times(const void *left, const void *right)
{
	const struct link *a = left, *b = right;

	return a->time > b->time ? -1 : a->time < b->time;
}

void chain_merge(struct chain *chain)
{
	struct link *links = chain->links, *to;
	size_t i, at, nr = 0;

	for (i = 0; i < chain->nr; i++) {
		for (at = 0; at < nr && !same_cause(chain, &links[at], &links[i]); at++)
			;
		to = &links[at];
		if (at == nr) {
			*to = links[i];
			nr++;
			continue;
		}
		to->parts += links[i].parts;
		to->time += links[i].time;
		to->begin = to->begin < links[i].begin ? to->begin : links[i].begin;
	}
	chain->nr = nr;
	if (nr)
		qsort(links, nr, sizeof(*links), compare_times);
}

void chain_free(struct chain *chain)
{
	free(chain->links);
}
