// SPDX-License-Identifier: GPL-2.0-only
/*
 * The tracepoints of the kernel's scheduler that are printed, made of a tape's events.
 */
#include <ctype.h>
#include <string.h>

#include "script/internal.h"

#define IDLE_PRIO	120

/* -- values of events ------------------------------------------------------ */

struct trace_value trace_task(const struct print *print, uint32_t pid)
{
	return (struct trace_value){ .number = pid, .task = print_identity(print, pid) };
}

static int32_t prio_of(const struct print *print, uint32_t pid)
{
	const struct identity *task = print_identity(print, pid);

	return task->prio == IDENTITY_NO_PRIO ? TRACE_OTHER_PRIO : task->prio;
}

/* Returns the CPU of a task.  If it is not known, that of the event stands in for it. */
static uint32_t cpu_of(const struct print *print, uint32_t pid, const struct schedtape_event *ev)
{
	uint32_t cpu = print_identity(print, pid)->cpu;

	if (cpu == STAPE_CPU_NONE)
		cpu = ev->cpu;
	return cpu == STAPE_CPU_NONE ? 0 : cpu;
}

/* Sets name, PID and priority. */
static void fill_task(const struct print *print, uint32_t pid, struct trace_value *values)
{
	values[0] = trace_task(print, pid);
	values[1].number = pid;
	values[2].number = prio_of(print, pid);
}

/* The same for one side of a switch. */
static void fill_side(const struct print *print, uint32_t pid, unsigned int kind, uint32_t cpu,
		      struct trace_value *values)
{
	fill_task(print, pid, values);
	if (pid)
		return;
	if (kind == STAPE_NEXT_IDLE) {
		values[0].number = -1 - (int64_t)cpu;
		values[2].number = IDLE_PRIO;
	} else {
		values[1].number = TRACE_OTHER_PID;
	}
}

static void fill_switch(const struct print *print, const struct schedtape_event *ev,
			struct trace_value *values)
{
	fill_side(print, ev->curr, ev->curr_kind, ev->cpu, values);
	values[3].number = ev->curr ? schedtape_switch_state(ev) : STAPE_STATE_RUNNING;
	fill_side(print, ev->pid, schedtape_switch_next(ev), ev->cpu, values + 4);
}

static void fill_wakeup(const struct print *print, const struct schedtape_event *ev,
			struct trace_value *values)
{
	fill_task(print, ev->pid, values);
	values[3].number = ev->type == STAPE_EV_WAKING ? cpu_of(print, ev->pid, ev) : ev->arg;
}

static void fill_fork(const struct print *print, const struct schedtape_event *ev,
		      struct trace_value *values)
{
	values[0] = trace_task(print, ev->curr);
	values[1].number = ev->curr ? (int64_t)ev->curr : TRACE_OTHER_PID;
	values[2] = trace_task(print, ev->pid);
	values[3].number = ev->pid;
}

static void fill_exec(const struct print *print, const struct schedtape_event *ev,
		      struct trace_value *values)
{
	values[0] = trace_task(print, ev->pid);
	values[1].number = ev->pid;
	values[2].number = ev->old_pid;
}

static void fill_exit(const struct print *print, const struct schedtape_event *ev,
		      struct trace_value *values)
{
	fill_task(print, ev->pid, values);
}

static void fill_migrate(const struct print *print, const struct schedtape_event *ev,
			 struct trace_value *values)
{
	fill_task(print, ev->pid, values);
	values[3].number = cpu_of(print, ev->pid, ev);
	values[4].number = ev->arg;
}

static void fill_rename(const struct print *print, const struct schedtape_event *ev,
			struct trace_value *values)
{
	values[0].number = ev->pid;
	values[1] = trace_task(print, ev->pid);
	values[2].comm = ev->comm;
	values[3].number = TRACE_OTHER_ADJ;
}

static void fill_setprio(const struct print *print, const struct schedtape_event *ev,
			 struct trace_value *values)
{
	fill_task(print, ev->pid, values);
	values[3].number = ev->prio;
}

/* -- tracepoints of events ------------------------------------------------- */

#define FIELD(type, name, key)	{ name, type, sizeof(key) - 1, key }
#define NUMBER(name)		FIELD(TRACE_NUMBER, name, name "=")
#define NAME(name)		FIELD(TRACE_NAME, name, name "=")
#define TASK			NAME("comm"), NUMBER("pid"), NUMBER("prio")
#define WAKEUP	{ \
	.nr = 4, .fill = fill_wakeup, \
	.fields = { TASK, FIELD(TRACE_CPU, "target_cpu", "target_cpu=") }, \
}

const struct trace traces[NR_TRACES] = {
	[STAPE_EV_SWITCH] = { .nr = 7, .fill = fill_switch, .fields = {
		NAME("prev_comm"), FIELD(TRACE_PID, "prev_pid", "prev_pid="), NUMBER("prev_prio"),
		FIELD(TRACE_STATE, "prev_state", "prev_state="),
		FIELD(TRACE_NAME, "next_comm", "==> next_comm="),
		FIELD(TRACE_PID, "next_pid", "next_pid="), NUMBER("next_prio"),
	} },
	[STAPE_EV_WAKING] = WAKEUP,
	[STAPE_EV_WAKEUP] = WAKEUP,
	[STAPE_EV_WAKEUP_NEW] = WAKEUP,
	[STAPE_EV_FORK] = { .nr = 4, .fill = fill_fork, .fields = {
		FIELD(TRACE_NAME, "parent_comm", "comm="), FIELD(TRACE_PID, "parent_pid", "pid="),
		NAME("child_comm"), NUMBER("child_pid"),
	} },
	[STAPE_EV_EXIT] = { .nr = 3, .fill = fill_exit, .fields = { TASK } },
	[STAPE_EV_MIGRATE] = { .nr = 5, .fill = fill_migrate, .fields = {
		TASK, NUMBER("orig_cpu"), NUMBER("dest_cpu"),
	} },
	[STAPE_EV_EXEC] = { .nr = 3, .fill = fill_exec, .fields = {
		NAME("filename"), NUMBER("pid"), NUMBER("old_pid"),
	} },
	[STAPE_EV_RENAME] = { .nr = 4, .fill = fill_rename, .fields = {
		NUMBER("pid"), NAME("oldcomm"), NAME("newcomm"), NUMBER("oom_score_adj"),
	} },
	[STAPE_EV_PRIO] = { .nr = 4, .fill = fill_setprio, .fields = {
		NAME("comm"), NUMBER("pid"), NUMBER("oldprio"), NUMBER("newprio"),
	} },
	[TRACE_RUNTIME] = { .nr = 3, .fields = {
		NAME("comm"), NUMBER("pid"), NUMBER("runtime"),
	} },
};

const char * const trace_names[TRACE_NR_TYPES] = {
	[TRACE_RUNTIME] = "sched:sched_stat_runtime",
	[STAPE_EV_SWITCH] = "sched:sched_switch",
	[STAPE_EV_WAKING] = "sched:sched_waking",
	[STAPE_EV_WAKEUP] = "sched:sched_wakeup",
	[STAPE_EV_WAKEUP_NEW] = "sched:sched_wakeup_new",
	[STAPE_EV_FORK] = "sched:sched_process_fork",
	[STAPE_EV_EXIT] = "sched:sched_process_exit",
	[STAPE_EV_MIGRATE] = "sched:sched_migrate_task",
	[STAPE_EV_EXEC] = "sched:sched_process_exec",
	[STAPE_EV_RENAME] = "task:task_rename",
	[STAPE_EV_PRIO] = "sched:sched_pi_setprio",
	[SCHEDTAPE_EV_AFFINITY] = "",
	[SCHEDTAPE_EV_THROTTLE] = "",
	[SCHEDTAPE_EV_UNTHROTTLE] = "",
	[SCHEDTAPE_EV_TRIGGER] = "",
	[SCHEDTAPE_EV_IDLE] = "",
	[SCHEDTAPE_EV_INTERVAL] = "",
	[STAPE_EV_TASK] = "",
};

const char *trace_name(unsigned int number)
{
	if (number >= TRACE_NR_TYPES || !trace_names[number] || !*trace_names[number])
		return NULL;
	return trace_names[number];
}

static const char *skip_name(const char *at)
{
	while (isalnum((unsigned char)*at) || *at == '_')
		at++;
	return at;
}

bool trace_is_plain(const struct schedtape_tracepoint *point)
{
	const char *colon = skip_name(point->name);

	if (colon == point->name || *colon != ':' || !colon[1] || *skip_name(colon + 1))
		return false;
	return point->decodes && point->n <= TRACE_FIELDS_MOST &&
	       strlen(point->name) <= TRACE_NAME_MOST;
}

bool trace_has(const struct print *print, const struct schedtape_event *ev)
{
	switch (ev->type) {
	case STAPE_EV_EXIT:
		return !schedtape_exit_ended(ev);
	case STAPE_EV_PRIO:
		/* The kernel has one for a priority that waiters lend, or take back. */
		return ev->boosted || print_identity(print, ev->pid)->boosted;
	}
	return trace_name(ev->type);
}

uint32_t trace_current(const struct schedtape_event *ev)
{
	/* Tasks are described by themselves, whatever CPU they are on. */
	return ev->curr || ev->cpu != STAPE_CPU_NONE ? ev->curr : ev->pid;
}

uint32_t trace_cpu(const struct print *print, const struct schedtape_event *ev)
{
	return ev->cpu != STAPE_CPU_NONE ? ev->cpu : cpu_of(print, trace_current(ev), ev);
}
