// SPDX-License-Identifier: GPL-2.0-only
#include "why/waits.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static uint64_t badness(const struct waits *waits, const struct chain *chain)
{
	return waits->rest ? chain->end - chain->begin : chain_kept(chain);
}

/* Keeps the present chain of a task if it is one of the worst.  Returns 0 or -ENOMEM. */
static int keep(struct waits *waits, const struct schedtape_task *task)
{
	uint64_t bad = badness(waits, &waits->chain);
	struct chain last;
	size_t at;

	if (!waits->chains) {
		waits->chains = calloc(waits->most + 1, sizeof(*waits->chains));
		if (!waits->chains)
			return -ENOMEM;
	}
	for (at = waits->nr; at > 0 && badness(waits, &waits->chains[at - 1]) < bad; at--)
		;
	if (!bad)
		return 0;
	waits->nr_more += waits->at != SPAN_NONE && waits->nr == waits->most;
	if (at == waits->most)
		return 0;
	chain_name(&waits->chain, task);
	/* The last one's memory is used for the next chain. */
	last = waits->chains[waits->most - 1];
	if (waits->nr < waits->most)
		last = (struct chain){ 0 };
	memmove(&waits->chains[at + 1], &waits->chains[at],
		(waits->nr - at - (waits->nr == waits->most)) * sizeof(*waits->chains));
	waits->chains[at] = waits->chain;
	waits->chain = last;
	waits->nr += waits->nr < waits->most;
	return 0;
}

/* Returns true if TASK and the options select the task, with its present name. */
static bool is_chosen(const struct waits *waits, const struct schedtape_task *task)
{
	return select_names_has(waits->who, task->comm, task->pid) &&
	       selection_has_timeline_task(waits->selection, task);
}

/* Is the wait before a run, or at the tape's end, one that is asked for? */
static bool is_wanted(const struct waits *waits, const struct schedtape_task *task,
		      const struct schedtape_run *run)
{
	uint64_t begin = history_wait_begin(run->left, run->woke, run->cpu == SCHEDTAPE_NONE);

	if (!waits->most && !waits->all)
		return false;
	if (waits->at != SPAN_NONE && !(begin && begin <= waits->at && run->begin > waits->at))
		return false;
	return selection_has_cpu(waits->selection, run->cpu) &&
	       selection_has_time(waits->selection, run->begin) && is_chosen(waits, task);
}

/* Explains the wait before the run @number.  Returns 0 or -ENOMEM. */
static int explain(struct waits *waits, const struct schedtape_task *task, uint64_t number)
{
	int rc = chain_of_wait(&waits->chain, &waits->history, number);

	if (rc <= 0)
		return rc;
	rc = waits->all ? causes_add(&waits->causes, &waits->chain, task) : 0;
	return !rc && waits->most ? keep(waits, task) : rc;
}

static int on_event(void *arg, const struct schedtape_event *ev)
{
	struct waits *waits = arg;

	return history_event(&waits->history, ev);
}

static int on_born(void *arg, const struct schedtape_task *task,
		   const struct schedtape_task *parent, uint64_t time)
{
	struct waits *waits = arg;

	(void)time;
	return history_born(&waits->history, task, parent);
}

static int on_waking(void *arg, const struct schedtape_task *waker,
		     const struct schedtape_task *wakee, uint64_t ticket, uint64_t time)
{
	struct waits *waits = arg;

	(void)ticket;
	(void)time;
	return history_waking(&waits->history, waker, wakee);
}

static int on_woke(void *arg, const struct schedtape_task *task,
		   const struct schedtape_task *waker, uint64_t ticket, uint64_t time)
{
	struct waits *waits = arg;

	(void)ticket;
	(void)time;
	return history_woke(&waits->history, task, waker);
}

static int on_queued(void *arg, const struct schedtape_task *task, uint32_t cpu, uint64_t time)
{
	struct waits *waits = arg;

	return history_queued(&waits->history, task, cpu, time);
}

static int on_began(void *arg, const struct schedtape_task *task, const struct schedtape_run *run)
{
	struct waits *waits = arg;
	int rc = history_began(&waits->history, task, run);

	if (!rc)
		rc = quotas_update(&waits->recorded->quotas);
	if (rc || !is_wanted(waits, task, run))
		return rc;
	return explain(waits, task, history_task(&waits->history, task->index)->last);
}

static int on_waits(void *arg, const struct schedtape_task *task, const struct schedtape_run *run)
{
	struct waits *waits = arg;
	uint64_t number;
	int rc;

	if (!is_wanted(waits, task, run))
		return 0;
	rc = history_waits(&waits->history, task, run, &number);
	if (!rc)
		rc = quotas_update(&waits->recorded->quotas);
	return rc ? rc : explain(waits, task, number);
}

static int on_ran(void *arg, const struct schedtape_task *task, const struct schedtape_run *run)
{
	struct waits *waits = arg;

	if (waits->at != SPAN_NONE && run->begin <= waits->at && run->end > waits->at &&
	    is_chosen(waits, task))
		link_name_take(&waits->ran, task, task->index);
	return history_ran(&waits->history, task, run);
}

const struct schedtape_timeline_ops waits_ops = {
	.size = sizeof(waits_ops),
	.no_edges = true,
	.event = on_event,
	.born = on_born,
	.waking = on_waking,
	.woke = on_woke,
	.queued = on_queued,
	.began = on_began,
	.ran = on_ran,
	.waits = on_waits,
};

void waits_free(struct waits *waits)
{
	size_t i;

	for (i = 0; i < waits->nr; i++)
		chain_free(&waits->chains[i]);
	free(waits->chains);
	chain_free(&waits->chain);
	causes_free(&waits->causes);
	history_free(&waits->history);
}
