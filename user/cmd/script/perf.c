// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events as perf script prints the tracepoints of the kernel's scheduler, for programs that read
 * its output.
 *
 * A tape does not have all that the tracepoints have.  What is not known is printed as a number or
 * a name that the kernel never has, but in the same form, because programs skip lines that they
 * cannot parse.
 */
#include "script/print.h"

#define OTHER_COMM	"other"
#define OTHER_PID	(STAPE_PID_MASK + 1)	/* PIDs are lower */
#define OTHER_PRIO	140			/* priorities are lower */
#define OTHER_ADJ	1001			/* values of oom_score_adj are lower */
#define IDLE_PRIO	120
#define EVENT_WIDTH	24

/* -- parts of lines -------------------------------------------------------- */

static void put_number(struct lines *lines, const char *key, int64_t number)
{
	lines_put(lines, key);
	lines_signed(lines, number);
}

/* Puts the name of a task; ":100" if it is not known, as perf has it. */
static void put_comm(struct print *print, uint32_t pid)
{
	const struct identity *task = print_identity(print, pid);
	struct lines *lines = &print->lines;

	if (task->name_len)
		print_name(lines, task);
	else if (pid)
		put_number(lines, ":", pid);
	else
		lines_put(lines, OTHER_COMM);
}

static int32_t prio_of(const struct print *print, uint32_t pid)
{
	const struct identity *task = print_identity(print, pid);

	return task->prio == IDENTITY_NO_PRIO ? OTHER_PRIO : task->prio;
}

/* Returns the CPU of a task.  If it is not known, that of the event stands in for it. */
static uint32_t cpu_of(const struct print *print, uint32_t pid, const struct schedtape_event *ev)
{
	uint32_t cpu = print_identity(print, pid)->cpu;

	if (cpu == STAPE_CPU_NONE)
		cpu = ev->cpu;
	return cpu == STAPE_CPU_NONE ? 0 : cpu;
}

/* "comm=make pid=100 prio=120" */
static void put_task(struct print *print, uint32_t pid)
{
	lines_put(&print->lines, "comm=");
	put_comm(print, pid);
	put_number(&print->lines, " pid=", pid);
	put_number(&print->lines, " prio=", prio_of(print, pid));
}

/* One side of a switch; @which: "prev_" or "next_" */
static void put_side(struct print *print, const char *which, uint32_t pid, unsigned int kind,
		     uint32_t cpu)
{
	struct lines *lines = &print->lines;
	bool idle = !pid && kind == STAPE_NEXT_IDLE;

	lines_put(lines, which);
	lines_put(lines, "comm=");
	if (idle)
		put_number(lines, "swapper/", cpu);
	else
		put_comm(print, pid);
	lines_char(lines, ' ');
	lines_put(lines, which);
	put_number(lines, "pid=", pid || idle ? pid : OTHER_PID);
	lines_char(lines, ' ');
	lines_put(lines, which);
	put_number(lines, "prio=", idle ? IDLE_PRIO : prio_of(print, pid));
}

/* -- tracepoints ----------------------------------------------------------- */

static void put_switch(struct print *print, const struct schedtape_event *ev)
{
	struct lines *lines = &print->lines;

	put_side(print, "prev_", ev->curr, ev->curr_kind, ev->cpu);
	lines_put(lines, " prev_state=");
	lines_char(lines, ev->curr ? schedtape_state_char(schedtape_switch_state(ev)) : 'R');
	lines_put(lines, " ==> ");
	put_side(print, "next_", ev->pid, schedtape_switch_next(ev), ev->cpu);
}

static void put_wakeup(struct print *print, const struct schedtape_event *ev)
{
	uint32_t cpu = ev->type == STAPE_EV_WAKING ? cpu_of(print, ev->pid, ev) : ev->arg;

	put_task(print, ev->pid);
	lines_put(&print->lines, " target_cpu=");
	lines_number_slow(&print->lines, cpu, 3);
}

static void put_fork(struct print *print, const struct schedtape_event *ev)
{
	struct lines *lines = &print->lines;

	lines_put(lines, "comm=");
	put_comm(print, ev->curr);
	put_number(lines, " pid=", ev->curr ? ev->curr : OTHER_PID);
	lines_put(lines, " child_comm=");
	put_comm(print, ev->pid);
	put_number(lines, " child_pid=", ev->pid);
}

static void put_exec(struct print *print, const struct schedtape_event *ev)
{
	struct lines *lines = &print->lines;

	lines_put(lines, "filename=");
	put_comm(print, ev->pid);
	put_number(lines, " pid=", ev->pid);
	put_number(lines, " old_pid=", ev->old_pid);
}

static void put_migrate(struct print *print, const struct schedtape_event *ev)
{
	put_task(print, ev->pid);
	put_number(&print->lines, " orig_cpu=", cpu_of(print, ev->pid, ev));
	put_number(&print->lines, " dest_cpu=", ev->arg);
}

static void put_rename(struct print *print, const struct schedtape_event *ev)
{
	struct lines *lines = &print->lines;
	char name[TEXT_NAME_LEN];

	put_number(lines, "pid=", ev->pid);
	lines_put(lines, " oldcomm=");
	put_comm(print, ev->pid);
	lines_put(lines, " newcomm=");
	lines_put(lines, text_name(name, ev->comm));
	put_number(lines, " oom_score_adj=", OTHER_ADJ);
}

static void put_setprio(struct print *print, const struct schedtape_event *ev)
{
	struct lines *lines = &print->lines;

	lines_put(lines, "comm=");
	put_comm(print, ev->pid);
	put_number(lines, " pid=", ev->pid);
	put_number(lines, " oldprio=", prio_of(print, ev->pid));
	put_number(lines, " newprio=", ev->prio);
}

static void put_trace(struct print *print, const struct schedtape_event *ev)
{
	switch (ev->type) {
	case STAPE_EV_SWITCH:
		put_switch(print, ev);
		break;
	case STAPE_EV_WAKING:
	case STAPE_EV_WAKEUP:
	case STAPE_EV_WAKEUP_NEW:
		put_wakeup(print, ev);
		break;
	case STAPE_EV_FORK:
		put_fork(print, ev);
		break;
	case STAPE_EV_EXIT:
		put_task(print, ev->pid);
		break;
	case STAPE_EV_MIGRATE:
		put_migrate(print, ev);
		break;
	case STAPE_EV_EXEC:
		put_exec(print, ev);
		break;
	case STAPE_EV_RENAME:
		put_rename(print, ev);
		break;
	case STAPE_EV_PRIO:
		put_setprio(print, ev);
		break;
	}
}

/* -- lines ----------------------------------------------------------------- */

/* Returns false for events that are none of these tracepoints. */
static bool is_traced(const struct print *print, const struct schedtape_event *ev)
{
	switch (ev->type) {
	case STAPE_EV_EXIT:
		return !schedtape_exit_ended(ev);
	case STAPE_EV_PRIO:
		/* The kernel has one for a priority that waiters lend, or take back. */
		return ev->boosted || print_identity(print, ev->pid)->boosted;
	}
	return fields_tracepoint(ev->type);
}

/* Returns the task that runs when the event happens, 0: none, or it is not known. */
static uint32_t current_of(const struct schedtape_event *ev)
{
	/* Tasks are described by themselves, whatever CPU they are on. */
	return ev->curr || ev->cpu != STAPE_CPU_NONE ? ev->curr : ev->pid;
}

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
	uint32_t tid = current_of(ev), tgid = print_identity(print, tid)->tgid;
	bool idle = !tid && ev->curr_kind == STAPE_NEXT_IDLE;
	struct lines *lines = &print->lines;
	char *from = lines->at;

	if (print->fields & FIELD_COMM) {
		if (idle)
			lines_put(lines, "swapper");
		else
			put_comm(print, tid);
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
	if (!is_traced(print, ev))
		return;
	put_current(print, ev);
	if (print->fields & FIELD_CPU) {
		lines_char(lines, '[');
		lines_number_slow(lines, ev->cpu != STAPE_CPU_NONE ? ev->cpu :
					 cpu_of(print, current_of(ev), ev), 3);
		lines_put(lines, "] ");
	}
	if (print->fields & FIELD_TIME)
		put_time(print, ev->time);
	if (print->fields & FIELD_EVENT)
		put_event(lines, fields_tracepoint(ev->type));
	if (print->fields & FIELD_TRACE)
		put_trace(print, ev);
	lines_end(lines);
}
