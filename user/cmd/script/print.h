/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Prints events, one a line.  text.c, perf.c, json.c and perl.c each have a format.
 */
#ifndef SCHEDTAPE_SCRIPT_PRINT_H
#define SCHEDTAPE_SCRIPT_PRINT_H

#include <schedtape.h>

#include "common/identities.h"
#include "common/lines.h"
#include "common/syscalls.h"
#include "common/time-text.h"
#include "script/fields.h"

struct perl;

/**
 * struct print - what all formats need
 * @identities: the tasks at the current position of the tape
 * @syscalls: their names
 * @fields: parts of a line
 * @perl: the interpreter that gets the events; NULL: none
 */
struct print {
	struct lines lines;
	struct time_text time;
	struct identities *identities;
	struct syscalls syscalls;
	unsigned int fields;
	struct perl *perl;
};

/**
 * struct print_sample - a sample of another tracepoint
 * @at: time, CPU and task, without a type
 * @event: "irq:irq_handler_entry"
 * @text: what happened
 * @fields: the same, as an object of JSON; or NULL
 * @lost: not 0: the sample is no event, but so many are missing here
 */
struct print_sample {
	struct schedtape_event at;
	const char *event;
	const char *text;
	const char *fields;
	uint64_t lost;
};

void print_text(struct print *print, const struct schedtape_event *ev);
void print_text_sample(struct print *print, const struct print_sample *sample);
/* As perf script prints the kernel's tracepoints. */
void print_perf(struct print *print, const struct schedtape_event *ev);
void print_perf_sample(struct print *print, const struct print_sample *sample);
/* The line before those of all events, which names their format. */
void print_json_head(struct print *print);
void print_json(struct print *print, const struct schedtape_event *ev);
void print_json_sample(struct print *print, const struct print_sample *sample);

static inline const struct identity *print_identity(const struct print *print, uint32_t pid)
{
	return identities_get(print->identities, pid);
}

/* Puts a name.  Copying more bytes than it has is faster than a copy of any length. */
static inline void print_name(struct lines *lines, const struct identity *task)
{
	memcpy(lines->at, task->name, sizeof(task->name));
	lines->at += task->name_len;
}

/* Returns why a task is described. */
const char *print_why(const struct schedtape_event *ev);

/* Puts "LOST 12 events from 1.000000 to 2.000000"; @cpu: with the number of the CPU. */
void print_gap(struct print *print, const struct schedtape_event *ev, bool cpu);

#endif /* SCHEDTAPE_SCRIPT_PRINT_H */
