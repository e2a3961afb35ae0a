/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * -F and -e of script: the parts of a line, and the events that are printed.
 */
#ifndef SCHEDTAPE_FIELDS_H
#define SCHEDTAPE_FIELDS_H

#include <argp.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/select.h"

#define FIELD_COMM	0x01
#define FIELD_PID	0x02
#define FIELD_TID	0x04
#define FIELD_IDS	(FIELD_PID | FIELD_TID)
#define FIELD_CPU	0x08
#define FIELD_TIME	0x10
#define FIELD_EVENT	0x20
#define FIELD_TRACE	0x40
#define FIELD_TOD	0x80	/* FIELD_TIME, as a date */

/**
 * struct fields - the arguments of -F and -e; the input of fields_argp
 * @fields: FIELD_*
 * @perf: as perf prints them
 * @given: there was -F
 * @set, @changed: it has chosen fields, or has added or left out some
 * @events: bit n: print events of type n, an enum stape_event_type or schedtape_event_type
 * @points: other tracepoints of -e, as patterns
 * @chosen: there was -e
 */
struct fields {
	unsigned int fields;
	bool perf;
	bool given;
	bool set;
	bool changed;
	uint64_t events;
	struct select_names points;
	bool chosen;
};

#define FIELDS_INIT { \
	.fields = FIELD_COMM | FIELD_TID | FIELD_CPU | FIELD_TIME | FIELD_EVENT | FIELD_TRACE, \
}

extern const struct argp fields_argp;

/* Returns true if events of the type are printed. */
static inline bool fields_has_event(const struct fields *fields, uint32_t type)
{
	return !fields->chosen || (fields->events >> type & 1);
}

/* Returns true if samples of another tracepoint are printed, of which -e must name some. */
bool fields_has_point(const struct fields *fields, const char *name);

/* Returns the kernel's tracepoint, "sched:sched_switch"; NULL: it has none for this type. */
const char *fields_tracepoint(uint32_t type);

#endif /* SCHEDTAPE_FIELDS_H */
