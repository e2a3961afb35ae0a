// SPDX-License-Identifier: GPL-2.0-only
/*
 * The worst waits, with what schedtape why says of them.
 */
#include <errno.h>

#include "common/output.h"
#include "export/trace.h"
#include "why/internal.h"

#define SPANS	(1U << 18)	/* of 88 bytes: that much of the past is known of a wait */
#define LINKS	20		/* of a wait: more of them are merged */
#define TRACK	2		/* behind that of the task */

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

/* -- the trace ------------------------------------------------------------- */

struct link_text {
	char key[WHY_LABEL + 8];
	char value[64];
};

/* Sets what a link says.  Keys have numbers, because each key counts once. */
static void note_link(struct packets_note *note, struct link_text *text, const struct chain *chain,
		      size_t i, struct syscalls *syscalls)
{
	const struct link *link = &chain->links[i];
	char label[WHY_LABEL];

	snprintf(text->key, sizeof(text->key), "%02zu %s", i + 1,
		 why_label(label, link, syscalls));
	snprintf(text->value, sizeof(text->value), "%.3f ms (%.2f %%)", out_ms(link->time),
		 100.0 * link->time / (chain->end - chain->begin));
	*note = (struct packets_note){ .key = text->key, .text = text->value };
}

/* Writes a wait: its links from its end back, as why prints them. */
static void put_wait(struct trace *trace, struct worst *worst, struct chain *chain, size_t number)
{
	struct packets_note notes[LINKS];
	struct link_text texts[LINKS];
	char name[80];
	struct packets_event event = { .time = chain->begin, .name = name, .notes = notes };
	uint64_t parent = tracks_find(trace, trace_task_at(trace, chain->task));
	struct trace_task *seen = trace_find_task(trace, chain->task);

	if (!seen)
		return;
	event.track = parent + TRACK;
	if (!seen->worst)
		packets_track(trace->packets, event.track, parent, "worst waits");
	seen->worst = true;
	snprintf(name, sizeof(name), "wait %zu: %.3f ms%s", number,
		 out_ms(chain->end - chain->begin), chain->lasts ? ", to the end of the tape" : "");
	if (chain->nr > LINKS)
		chain_merge(chain);
	for (; event.nr_notes < chain->nr && event.nr_notes < LINKS; event.nr_notes++)
		note_link(&notes[event.nr_notes], &texts[event.nr_notes], chain, event.nr_notes,
			  &worst->syscalls);
	packets_slice(trace->packets, &event, chain->end);
}

void worst_put(struct worst *worst, struct trace *trace)
{
	size_t i;

	for (i = 0; worst && i < worst->waits.nr; i++)
		put_wait(trace, worst, &worst->waits.chains[i], i + 1);
}
