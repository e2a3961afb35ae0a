// SPDX-License-Identifier: GPL-2.0-only
/*
 * The worst waits, with what schedtape why says of them.
 */
#include <stdlib.h>

#include "common/output.h"
#include "export/internal.h"
#include "why/internal.h"

#define SPANS	(1U << 18)	/* of 88 bytes: that much of the past is known of a wait */

/**
 * struct worst - the waits
 * @who: no names: all tasks
 * @syscalls: the names of the tape's system calls
 */
struct worst {
	struct select_names who;
	struct recorded recorded;
	struct syscalls syscalls;
	struct waits waits;
};

struct worst *worst_new(const struct export *export)
{
	struct worst *worst = calloc(1, sizeof(*worst));

	if (!worst)
		return NULL;
	worst->waits = (struct waits){
		.who = &worst->who, .selection = export->selection, .recorded = &worst->recorded,
		.most = export->worst, .at = SPAN_NONE, .history.most = SPANS,
	};
	worst->waits.history.recorded = &worst->recorded;
	syscalls_init(&worst->syscalls, export->tape);
	if (recorded_read(&worst->recorded, export->tape)) {
		worst_free(worst);
		return NULL;
	}
	return worst;
}

void worst_free(struct worst *worst)
{
	if (!worst)
		return;
	waits_free(&worst->waits);
	quotas_free(&worst->recorded.quotas);
	syscalls_free(&worst->syscalls);
	free(worst);
}

/* -- the timeline ---------------------------------------------------------- */

int worst_event(struct worst *worst, const struct schedtape_event *ev)
{
	return worst ? waits_ops.event(&worst->waits, ev) : 0;
}

int worst_born(struct worst *worst, const struct schedtape_task *task,
	       const struct schedtape_task *parent, uint64_t time)
{
	return worst ? waits_ops.born(&worst->waits, task, parent, time) : 0;
}

int worst_waking(struct worst *worst, const struct schedtape_task *waker,
		 const struct schedtape_task *wakee, uint64_t ticket, uint64_t time)
{
	return worst ? waits_ops.waking(&worst->waits, waker, wakee, ticket, time) : 0;
}

int worst_woke(struct worst *worst, const struct schedtape_task *task,
	       const struct schedtape_task *waker, uint64_t ticket, uint64_t time)
{
	return worst ? waits_ops.woke(&worst->waits, task, waker, ticket, time) : 0;
}

int worst_queued(struct worst *worst, const struct schedtape_task *task, uint32_t cpu,
		 uint64_t time)
{
	return worst ? waits_ops.queued(&worst->waits, task, cpu, time) : 0;
}

int worst_began(struct worst *worst, const struct schedtape_task *task,
		const struct schedtape_run *run)
{
	return worst ? waits_ops.began(&worst->waits, task, run) : 0;
}

int worst_ran(struct worst *worst, const struct schedtape_task *task,
	      const struct schedtape_run *run)
{
	return worst ? waits_ops.ran(&worst->waits, task, run) : 0;
}

int worst_waits(struct worst *worst, const struct schedtape_task *task,
		const struct schedtape_run *run)
{
	return worst ? waits_ops.waits(&worst->waits, task, run) : 0;
}

/* -- waits ----------------------------------------------------------------- */

size_t worst_count(const struct worst *worst)
{
	return worst ? worst->waits.nr : 0;
}

/* Sets what a link says.  Keys have numbers, because each key counts once. */
static void note_link(struct export_note *note, struct worst_text *text, const struct chain *chain,
		      size_t i, struct syscalls *syscalls)
{
	const struct link *link = &chain->links[i];
	char label[WHY_LABEL];

	snprintf(text->key, sizeof(text->key), "%02zu %s", i + 1,
		 why_label(label, link, syscalls));
	snprintf(text->value, sizeof(text->value), "%.3f ms (%.2f %%)", out_ms(link->time),
		 100.0 * link->time / (chain->end - chain->begin));
	*note = (struct export_note){ .key = text->key, .text = text->value };
}

void worst_get(struct worst *worst, size_t i, struct worst_wait *wait)
{
	struct chain *chain = &worst->waits.chains[i];

	if (chain->nr > WORST_LINKS)
		chain_merge(chain);
	wait->task = chain->task;
	wait->begin = chain->begin;
	wait->end = chain->end;
	snprintf(wait->name, sizeof(wait->name), "wait %zu: %.3f ms%s", i + 1,
		 out_ms(chain->end - chain->begin), chain->lasts ? ", to the end of the tape" : "");
	for (i = 0; i < chain->nr && i < WORST_LINKS; i++)
		note_link(&wait->notes[i], &wait->texts[i], chain, i, &worst->syscalls);
	wait->nr_notes = i;
}
