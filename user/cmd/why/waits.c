// SPDX-License-Identifier: GPL-2.0-only
/*
 * Follows a tape, and explains the waits that are asked for.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "why/internal.h"

/* -- causes ---------------------------------------------------------------- */

/* Gets the number of a task's name.  Returns 0 or -ENOMEM. */
static int number_name(struct causes *causes, const struct schedtape_task *tasks, uint32_t index,
		       uint32_t *number)
{
	uint32_t words[STAPE_COMM_LEN / sizeof(uint32_t)], first, second;
	char (*texts)[STAPE_COMM_LEN];
	const char *comm;

	*number = SCHEDTAPE_NONE;
	if (index == SCHEDTAPE_NONE)
		return 0;
	comm = schedtape_task_at(tasks, index)->comm;
	memcpy(words, comm, sizeof(words));
	if (schedtape_edges_number(&causes->halves, words[0], words[1], &first) ||
	    schedtape_edges_number(&causes->halves, words[2], words[3], &second) ||
	    schedtape_edges_number(&causes->names, first, second, number))
		return -ENOMEM;
	if (*number < causes->nr_texts)
		return 0;
	texts = reallocarray(causes->texts, *number + 1, sizeof(*texts));
	if (!texts)
		return -ENOMEM;
	memcpy(texts[*number], comm, sizeof(*texts));
	causes->texts = texts;
	causes->nr_texts = *number + 1;
	return 0;
}

/* Returns the cause of a link; NULL: no memory. */
static struct cause *find_cause(struct causes *causes, const struct chain *chain,
				const struct link *link, const struct schedtape_task *tasks)
{
	struct cause cause = { .kind = link->kind, .syscall = SCHEDTAPE_SYSCALL_UNKNOWN }, *list;
	uint32_t number, with;

	cause.rest = causes->apart && chain_is_rest(chain, link);
	if (!causes->apart)
		cause.syscall = link->syscall;
	if (number_name(causes, tasks, link->task, &cause.task) ||
	    number_name(causes, tasks, link->other, &cause.other))
		return NULL;
	/* A task that sleeps does not wait for another one's CPU. */
	with = cause.other;
	if (cause.syscall != SCHEDTAPE_SYSCALL_UNKNOWN &&
	    schedtape_edges_number(&causes->calls, cause.syscall >> 32, cause.syscall, &with))
		return NULL;
	if (schedtape_edges_number(&causes->pairs,
				   (cause.task * LINK_NR_KINDS + link->kind) * 2 + cause.rest,
				   with, &number))
		return NULL;
	if (number < causes->nr)
		return &causes->list[number];
	list = reallocarray(causes->list, number + 1, sizeof(*list));
	if (!list)
		return NULL;
	list[number] = cause;
	causes->list = list;
	causes->nr = number + 1;
	return &list[number];
}

/* Adds what the cause took of the present wait.  Returns 0 or -ENOMEM. */
static int end_wait(struct cause *cause, uint64_t end)
{
	int rc;

	if (!cause->waits.nr || cause->present > cause->waits.worst)
		cause->worst_end = end;
	rc = schedtape_histogram_add(&cause->waits, cause->present);
	cause->present = 0;
	return rc;
}

/* Adds a wait.  @tasks: any task of the timeline.  Returns 0 or -ENOMEM. */
static int causes_add(struct causes *causes, const struct chain *chain,
		      const struct schedtape_task *tasks)
{
	struct cause *cause;
	size_t i;
	int rc = 0;

	/* Links of different tasks may be of one cause. */
	for (i = 0; i < chain->nr; i++) {
		cause = find_cause(causes, chain, &chain->links[i], tasks);
		if (!cause)
			return -ENOMEM;
		cause->present += chain->links[i].time;
	}
	for (i = 0; i < chain->nr && !rc; i++) {
		cause = find_cause(causes, chain, &chain->links[i], tasks);
		if (cause && cause->present)
			rc = end_wait(cause, chain->end);
	}
	causes->nr_waits++;
	return rc;
}

const char *causes_name(const struct causes *causes, uint32_t number)
{
	return number == SCHEDTAPE_NONE ? NULL : causes->texts[number];
}

static void causes_free(struct causes *causes)
{
	size_t i;

	for (i = 0; i < causes->nr; i++)
		schedtape_histogram_free(&causes->list[i].waits);
	free(causes->list);
	free(causes->texts);
	schedtape_edges_free(&causes->halves);
	schedtape_edges_free(&causes->names);
	schedtape_edges_free(&causes->calls);
	schedtape_edges_free(&causes->pairs);
}

/* -- waits ----------------------------------------------------------------- */

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

/* Returns true if the wait before a run is too short to be one of the worst. */
static bool is_short(const struct waits *waits, const struct schedtape_run *run)
{
	uint64_t begin = history_wait_begin(run->left, run->woke, run->cpu == SCHEDTAPE_NONE);

	return !waits->all && waits->at == SPAN_NONE && waits->nr == waits->most &&
	       run->begin - begin <= badness(waits, &waits->chains[waits->nr - 1]);
}

/* Explains the wait before the run @number.  Returns 0 or -ENOMEM. */
static int explain(struct waits *waits, const struct schedtape_task *task,
		   const struct schedtape_run *run, uint64_t number)
{
	int rc;

	if (is_short(waits, run))
		return 0;
	rc = chain_of_wait(&waits->chain, &waits->history, number);
	if (rc <= 0)
		return rc;
	rc = waits->all ? causes_add(&waits->causes, &waits->chain, task) : 0;
	return !rc && waits->most ? keep(waits, task) : rc;
}

/* -- callbacks of the timeline --------------------------------------------- */

static uint64_t distance(uint64_t a, uint64_t b)
{
	return a < b ? b - a : a - b;
}

/* Keeps the event that is nearest to the time when the snapshot was asked for, or the last one. */
static void note_fired(struct fired *fired, const struct schedtape_event *ev)
{
	uint64_t away = fired->at ? distance(ev->time, fired->at) : 0;

	if (away > fired->least)
		return;
	fired->least = away;
	fired->time = ev->time;
	fired->name = (struct link_name){ .pid = ev->pid };
	fired->trigger = ev->trigger;
}

/* Takes the task's name at the end of its wait or run, or of the tape: it seldom changes before. */
static void name_fired(struct fired *fired, const struct schedtape_task *task)
{
	if (fired->name.pid == task->pid && !*fired->name.comm)
		link_name_take(&fired->name, task, task->index);
}

static int on_event(void *arg, const struct schedtape_event *ev)
{
	struct waits *waits = arg;

	if (ev->type == SCHEDTAPE_EV_TRIGGER)
		note_fired(&waits->fired, ev);
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
	int rc;

	name_fired(&waits->fired, task);
	rc = history_began(&waits->history, task, run);

	if (!rc)
		rc = quotas_update(&waits->recorded->quotas);
	if (rc || !is_wanted(waits, task, run))
		return rc;
	return explain(waits, task, run, history_task(&waits->history, task->index)->last);
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
	return rc ? rc : explain(waits, task, run, number);
}

static int on_ran(void *arg, const struct schedtape_task *task, const struct schedtape_run *run)
{
	struct waits *waits = arg;

	name_fired(&waits->fired, task);
	if (waits->at != SPAN_NONE && run->begin <= waits->at && run->end > waits->at &&
	    is_chosen(waits, task))
		link_name_take(&waits->ran, task, task->index);
	return history_ran(&waits->history, task, run);
}

static int on_ended(void *arg, const struct schedtape_task *task, uint64_t time)
{
	struct waits *waits = arg;

	(void)time;
	name_fired(&waits->fired, task);
	return 0;
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
	.ended = on_ended,
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
