// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events as perf script prints the tracepoints of the kernel's scheduler, for programs that read
 * its output.
 *
 * A tape does not have all that the tracepoints have.  What is not known is printed as a number or
 * a name that the kernel never has, but in the same form, because programs skip lines that they
 * cannot parse.
 */
#include "script/internal.h"

#define OTHER_COMM	"other"
#define OTHER_PID	(STAPE_PID_MASK + 1)	/* PIDs are lower */
#define EVENT_WIDTH	24

/* -- values ---------------------------------------------------------------- */

static void put_number(struct lines *lines, const char *key, int64_t number)
{
	lines_put(lines, key);
	lines_signed(lines, number);
}

/* Puts the name of a task; ":100" if it is not known, as perf has it. */
static void put_name(struct lines *lines, const struct trace_value *value)
{
	if (value->task->name_len)
		print_name(lines, value->task);
	else if (value->number < 0)
		put_number(lines, "swapper/", -1 - value->number);
	else if (value->number)
		put_number(lines, ":", value->number);
	else
		lines_put(lines, OTHER_COMM);
}

static void put_value(struct lines *lines, enum trace_type type, const struct trace_value *value)
{
	char name[TEXT_NAME_LEN];

	switch (type) {
	case TRACE_NUMBER:
		lines_signed(lines, value->number);
		break;
	case TRACE_PID:
		lines_number(lines, value->number < 0 ? OTHER_PID : value->number);
		break;
	case TRACE_CPU:
		lines_number_slow(lines, value->number, 3);
		break;
	case TRACE_STATE:
		lines_char(lines, schedtape_state_char(value->number));
		break;
	case TRACE_NAME:
		if (value->comm)
			lines_put(lines, text_name(name, value->comm));
		else
			put_name(lines, value);
		break;
	}
}

/* Copying more bytes of a key than it has is faster than a copy of any length. */
static void put_trace(struct print *print, const struct schedtape_event *ev)
{
	const struct trace *trace = &traces[ev->type];
	struct trace_value values[TRACE_FIELDS];
	struct lines *lines = &print->lines;
	const struct trace_field *field;
	unsigned int i;

	trace->fill(print, ev, values);
	for (i = 0; i < trace->nr; i++) {
		field = &trace->fields[i];
		if (i)
			lines_char(lines, ' ');
		memcpy(lines->at, field->key, sizeof(field->key));
		lines->at += field->key_len;
		put_value(lines, field->type, &values[i]);
	}
}

/* -- lines ----------------------------------------------------------------- */

static void put_ids(struct print *print, uint32_t pid, uint32_t tid)
{
	struct lines *lines = &print->lines;
	unsigned int ids = print->fields & FIELD_IDS;
	char *from;

	if (!ids)
		return;
	lines_right(lines, 7, ids == FIELD_TID ? tid : pid);
	if (ids == FIELD_IDS) {
		lines_char(lines, '/');
		from = lines->at;
		lines_number(lines, tid);
		lines_fill(lines, from, 7);
	}
	lines_char(lines, ' ');
}

/* Puts the name and the PIDs of what runs when the event happens. */
static void put_current(struct print *print, const struct schedtape_event *ev)
{
	uint32_t tid = trace_current(ev), tgid;
	struct trace_value name = trace_task(print, tid);
	bool idle = !tid && ev->curr_kind == STAPE_NEXT_IDLE;
	struct lines *lines = &print->lines;
	char *from = lines->at;

	tgid = name.task->tgid;
	if (print->fields & FIELD_COMM) {
		if (idle)
			lines_put(lines, "swapper");
		else
			put_name(lines, &name);
		lines_align(lines, from, 16);
		lines_char(lines, ' ');
	}
	if (!tid && !idle)
		tid = OTHER_PID;
	put_ids(print, tgid ? tgid : tid, tid);
}

static void put_time(struct print *print, uint64_t time)
{
	struct lines *lines = &print->lines;
	char *from = lines->at;

	lines->at = time_text_put_line(&print->time, from, time);
	lines_align(lines, from, print->time.options.digits + 6);
	lines_put(lines, ": ");
}

static void put_event(struct lines *lines, const char *name)
{
	size_t len = strlen(name);

	if (len < EVENT_WIDTH)
		lines_blanks(lines, EVENT_WIDTH - len);
	lines_text(lines, name, len);
	lines_put(lines, ": ");
}

/* Puts the task, the CPU and the time. */
static void put_columns(struct print *print, const struct schedtape_event *ev)
{
	struct lines *lines = &print->lines;

	put_current(print, ev);
	if (print->fields & FIELD_CPU) {
		lines_char(lines, '[');
		lines_number_slow(lines, trace_cpu(print, ev), 3);
		lines_put(lines, "] ");
	}
	if (print->fields & FIELD_TIME)
		put_time(print, ev->time);
}

void print_perf(struct print *print, const struct schedtape_event *ev)
{
	struct lines *lines = &print->lines;

	/* Programs that read perf's output skip comments. */
	if (schedtape_event_is_gap(ev)) {
		lines_put(lines, "# ");
		print_gap(print, ev, true);
		lines_end(lines);
		return;
	}
	if (!trace_has(print, ev))
		return;
	put_columns(print, ev);
	if (print->fields & FIELD_EVENT)
		put_event(lines, trace_name(ev->type));
	if (print->fields & FIELD_TRACE)
		put_trace(print, ev);
	lines_end(lines);
}

void print_perf_sample(struct print *print, const struct print_sample *sample)
{
	struct lines *lines = &print->lines;

	if (sample->lost) {
		put_number(lines, "# LOST events of other tracepoints: ", sample->lost);
		lines_end(lines);
		return;
	}
	put_columns(print, &sample->at);
	if (print->fields & FIELD_EVENT)
		put_event(lines, sample->event);
	if (print->fields & FIELD_TRACE)
		lines_put(lines, sample->text);
	lines_end(lines);
}
