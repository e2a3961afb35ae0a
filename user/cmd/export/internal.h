/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the files of schedtape export share.
 */
#ifndef SCHEDTAPE_EXPORT_INTERNAL_H
#define SCHEDTAPE_EXPORT_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <schedtape.h>

#include "common/new-tape.h"
#include "common/selection.h"
#include "why/internal.h"

/**
 * struct export - an export
 * @path: of the tape
 * @to: where it is written
 * @copying: the progress, and signals that end it
 * @start: when the tape begins
 * @span: its length; 0: not known, because it comes through a pipe
 * @worst: how many of the worst waits are explained
 * @any: something of what is selected was written
 */
struct export {
	const char *path;
	struct schedtape_tape *tape;
	const struct selection *selection;
	FILE *to;
	struct copying copying;
	uint64_t start;
	uint64_t span;
	size_t worst;
	bool any;
};

/* Shows how far the export has come.  Returns 0; -EINTR: a signal has come. */
static inline int export_reached(struct export *export, uint64_t time)
{
	return copying_show(&export->copying, time - export->start, export->span);
}

/**
 * struct export_note - what an event or a slice says besides its name: a number or a text
 * @text: NULL: it is a number
 */
struct export_note {
	const char *key;
	const char *text;
	uint64_t number;
	bool is_signed;
};

/* -- perfetto.c, chrome.c -------------------------------------------------- */

/* What begins each trace. */
#define EXPORT_CHROME_BEGIN	"{\"displayTimeUnit\":\"ns\",\"traceEvents\":["

/* Write the tape as a trace.  They return 0 or -errno, with or without a text in @err. */
int export_perfetto(struct export *export, struct schedtape_error *err);
int export_chrome(struct export *export, struct schedtape_error *err);

/* -- worst.c --------------------------------------------------------------- */

struct worst;

#define WORST_LINKS	20	/* of a wait: more of them are merged */

/* The text of a link: as why has it, and its time. */
struct worst_text {
	char key[WHY_LABEL + 8];
	char value[64];
};

/**
 * struct worst_wait - a wait
 * @task: index of the task that waited
 * @notes: its @nr_notes links, from the end back, with their @texts
 */
struct worst_wait {
	uint32_t task;
	uint64_t begin;
	uint64_t end;
	char name[80];
	struct export_note notes[WORST_LINKS];
	struct worst_text texts[WORST_LINKS];
	size_t nr_notes;
};

/* Returns the worst waits of a tape, of which there are none yet; or NULL without memory. */
struct worst *worst_new(const struct export *export);
void worst_free(struct worst *worst);

/* The callbacks of the timeline.  @worst: may be NULL.  They return 0 or -ENOMEM. */
int worst_event(struct worst *worst, const struct schedtape_event *ev);
int worst_born(struct worst *worst, const struct schedtape_task *task,
	       const struct schedtape_task *parent, uint64_t time);
int worst_waking(struct worst *worst, const struct schedtape_task *waker,
		 const struct schedtape_task *wakee, uint64_t ticket, uint64_t time);
int worst_woke(struct worst *worst, const struct schedtape_task *task,
	       const struct schedtape_task *waker, uint64_t ticket, uint64_t time);
int worst_queued(struct worst *worst, const struct schedtape_task *task, uint32_t cpu,
		 uint64_t time);
int worst_began(struct worst *worst, const struct schedtape_task *task,
		const struct schedtape_run *run);
int worst_ran(struct worst *worst, const struct schedtape_task *task,
	      const struct schedtape_run *run);
int worst_waits(struct worst *worst, const struct schedtape_task *task,
		const struct schedtape_run *run);

/* Returns how many waits there are, when the whole tape has been read.  @worst: may be NULL */
size_t worst_count(const struct worst *worst);
/* Sets what wait @i says, the worst first. */
void worst_get(struct worst *worst, size_t i, struct worst_wait *wait);

#endif /* SCHEDTAPE_EXPORT_INTERNAL_H */
