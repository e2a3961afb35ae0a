/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The tracepoints of the kernel's scheduler, made of a tape's events: their fields, in the order in
 * which the kernel has them, and the values of these.
 */
#ifndef SCHEDTAPE_SCRIPT_TRACE_H
#define SCHEDTAPE_SCRIPT_TRACE_H

#include "script/print.h"

/* Values for what a tape does not have, which no task has. */
#define TRACE_OTHER_PID		(-1)
#define TRACE_OTHER_PRIO	140
#define TRACE_OTHER_ADJ		1001

#define TRACE_FIELDS		7	/* of a tracepoint, at most */
/* The tracepoint sched_stat_runtime, which is no type of event: it is made of two switches. */
#define TRACE_RUNTIME		STAPE_EV_NONE
#define NR_TRACES		(STAPE_EV_EXIT + 1)

enum trace_type {
	TRACE_NUMBER,
	TRACE_PID,	/* or TRACE_OTHER_PID */
	TRACE_CPU,
	TRACE_STATE,	/* STAPE_STATE_* */
	TRACE_NAME,
};

/**
 * struct trace_field - a field of a tracepoint
 * @name: its name
 * @type: what it is
 * @key: what a line of perf has before it
 * @key_len: bytes of @key
 */
struct trace_field {
	const char *name;
	uint8_t type;
	uint8_t key_len;
	char key[16];
};

/**
 * struct trace_value - a value of a field
 * @number: the value; of a name: the PID that stands for a name that is not known, 0: a task that
 *          is not recorded, -1 - CPU: the idle task of that CPU
 * @task: of a name: the task
 * @comm: of a name: a name that @task does not have yet, or NULL
 */
struct trace_value {
	int64_t number;
	const struct identity *task;
	const char *comm;
};

/**
 * struct trace - a tracepoint
 * @nr: number of @fields
 * @fields: its fields
 * @fill: sets the values of all fields
 */
struct trace {
	unsigned int nr;
	struct trace_field fields[TRACE_FIELDS];
	void (*fill)(const struct print *print, const struct schedtape_event *ev,
		     struct trace_value *values);
};

/*
 * The tracepoints by type of event.  If the kernel has none for a type, the entry has no fields.
 * TRACE_RUNTIME has no @fill: its caller sets the values.
 */
extern const struct trace traces[NR_TRACES];

/* Returns "sched:sched_switch"; NULL: none */
const char *trace_name(unsigned int number);
#define TRACE_NAME_MOST		100	/* bytes of the name of another tracepoint */
#define TRACE_FIELDS_MOST	200	/* fields of one */

/*
 * Returns true if samples of a tracepoint can be decoded, and its name can be one of a function
 * that gets its fields: what a tape says is not trusted.
 */
bool trace_is_plain(const struct schedtape_tracepoint *point);
/* Returns false for events of which the kernel has no tracepoint. */
bool trace_has(const struct print *print, const struct schedtape_event *ev);
/* Returns the task that runs when the event happens, 0: none, or it is not known. */
uint32_t trace_current(const struct schedtape_event *ev);
/* Returns the CPU of the event; of a description, which has none, that of the task. */
uint32_t trace_cpu(const struct print *print, const struct schedtape_event *ev);
/* Returns the name of a task. */
struct trace_value trace_task(const struct print *print, uint32_t pid);

#endif /* SCHEDTAPE_SCRIPT_TRACE_H */
