/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the files of schedtape script share.
 */
#ifndef SCHEDTAPE_SCRIPT_INTERNAL_H
#define SCHEDTAPE_SCRIPT_INTERNAL_H

#include <argp.h>
#include <stdbool.h>
#include <stdint.h>

#include <schedtape.h>

#include "common/identities.h"
#include "common/lines.h"
#include "common/samples.h"
#include "common/select.h"
#include "common/syscalls.h"
#include "common/time-text.h"

/* -- fields-option.c ------------------------------------------------------- */

/*
 * -F and -e of script: the parts of a line, and the events that are printed.
 */

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

/* -- print-text.c, print-perf.c, print-json.c ------------------------------ */

/*
 * Prints events.  Each print-*.c makes the lines of a format, perl.c the records for a script.
 */

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

/* -- trace.c --------------------------------------------------------------- */

/*
 * The tracepoints of the kernel's scheduler, made of a tape's events: their fields, in the order in
 * which the kernel has them, and the values of these.
 */

/* Values for what a tape does not have, which no task has. */
#define TRACE_OTHER_PID		(-1)
#define TRACE_OTHER_PRIO	140
#define TRACE_OTHER_ADJ		1001

#define TRACE_FIELDS		7	/* of a tracepoint, at most */
/* The tracepoint sched_stat_runtime, which is no type of event: it is made of two switches. */
#define TRACE_RUNTIME		STAPE_EV_NONE
#define NR_TRACES		(STAPE_EV_EXIT + 1)
#define TRACE_NR_TYPES		(SCHEDTAPE_EV_INTERVAL + 1) /* of events that are printed */

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

/*
 * The tracepoints' names by type of event; "": the kernel has none for this type; NULL: no such
 * events are printed.
 */
extern const char * const trace_names[TRACE_NR_TYPES];
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

/* -- perl.c ---------------------------------------------------------------- */

/*
 * Scripts in Perl: an interpreter runs as a child, and gets events through a pipe.  The pipe is
 * standard output meanwhile, so that everything that prints events can write to it.
 */

/*
 * Starts a script with @args, up to NULL; NULL: none.  @decoder has the other tracepoints of the
 * tape; it is NULL if the tape has none.  Returns when the script has begun, 0, or CMD_FAILURE
 * after a message.
 */
int perl_begin(struct print *print, const struct schedtape_decoder *decoder, const char *script,
	       char **args);
/* Gives it an event. */
void print_perl(struct print *print, const struct schedtape_event *ev);
/* Returns true if it has a function for other tracepoints. */
bool perl_wants_samples(const struct perl *perl);
/* Gives it the next sample. */
void perl_sample(struct print *print, struct samples *samples);
/* Returns the samples that were missing among these; @unknown: those that cannot be decoded. */
uint64_t perl_lost(const struct perl *perl, uint64_t *unknown);
/*
 * Ends the events and waits for the script.  Returns its exit status, or @status if that is 0.
 */
int perl_end(struct print *print, int status);

/* -- perl-scripts.c -------------------------------------------------------- */

/* The texts of the scripts. */
extern const char perl_event_counts[], perl_wakeup_latency[];

/* Prints the scripts in Perl that come with this program. */
void perl_scripts_list(void);
/*
 * Returns a descriptor for the text of such a script, which a child has as /dev/fd/NUMBER; -1: no
 * script has that name, or there is no memory for it.
 */
int perl_scripts_open(const char *name);

/* -- generate.c ------------------------------------------------------------ */

/*
 * Writes a script with a function for each tracepoint that a tape has.  Returns the exit status.
 */
int generate_perl(const char *path);

#endif /* SCHEDTAPE_SCRIPT_INTERNAL_H */
