// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events as text: "name-pid [cpu] time: event: what".
 */
#include <sched.h>
#include <stdlib.h>

#include "common/color.h"
#include "common/output.h"
#include "common/select.h"
#include "script/internal.h"

/* -- what happened --------------------------------------------------------- */

const char *print_why(const struct schedtape_event *ev)
{
	static const char * const names[] = {
		[STAPE_TASK_EXITS] = "exits",
		[STAPE_TASK_ENTERS] = "enters",
		[STAPE_TASK_LEAVES] = "leaves",
		[STAPE_TASK_MOVES] = "moves",
		[STAPE_TASK_FORKED] = "forked",
		[STAPE_TASK_REGROUPED] = "regrouped",
	};
	uint64_t why = schedtape_task_why(ev);

	return why < sizeof(names) / sizeof(names[0]) ? names[why] : "described";
}

/* Puts "comm:pid", as perf has it; "?:pid" if the name is not known. */
static void put_task(struct print *print, uint32_t pid)
{
	const struct identity *task = print_identity(print, pid);
	struct lines *lines = &print->lines;

	if (task->name_len)
		print_name(lines, task);
	else
		lines_char(lines, '?');
	lines_char(lines, ':');
	lines_number(lines, pid);
}

/* Puts a task, or what else a CPU runs. */
static void put_one(struct print *print, uint32_t pid, unsigned int kind)
{
	if (pid)
		put_task(print, pid);
	else
		lines_put(&print->lines, identities_kind(kind));
}

/* " [S]" */
static void put_state(struct lines *lines, unsigned int state)
{
	lines_put(lines, " [");
	lines_char(lines, schedtape_state_char(state));
	lines_char(lines, ']');
}

/* "[003]" */
static void put_cpu(struct lines *lines, uint64_t cpu)
{
	lines_char(lines, '[');
	lines_number_slow(lines, cpu, 3);
	lines_char(lines, ']');
}

/* " nice=-5" */
static void put_pair(struct lines *lines, const char *key, int64_t value)
{
	lines_put(lines, key);
	lines_signed(lines, value);
}

static void put_wish(struct lines *lines, const struct schedtape_wish *wish)
{
	if (wish->slice)
		put_pair(lines, " slice=", wish->slice);
	if (wish->slack)
		put_pair(lines, " slack=", wish->slack - 1);
	if (schedtape_clamp_min(wish) >= 0)
		put_pair(lines, " clamp_min=", schedtape_clamp_min(wish));
	if (schedtape_clamp_max(wish) >= 0)
		put_pair(lines, " clamp_max=", schedtape_clamp_max(wish));
}

/* " fifo nice=0 rt_priority=10 prio=89" */
static void put_prio(struct lines *lines, const struct schedtape_event *ev)
{
	lines_char(lines, ' ');
	lines_put(lines, schedtape_policy_name(ev->policy));
	put_pair(lines, " nice=", ev->nice);
	put_pair(lines, " rt_priority=", ev->rt_priority);
	put_pair(lines, " prio=", ev->prio);
	if (ev->boosted)
		lines_put(lines, " boosted");
	if (ev->policy != SCHED_DEADLINE) {
		put_wish(lines, &ev->wish);
		return;
	}
	if (!ev->dl.period)
		return;
	lines_put(lines, " runtime=");
	lines_number(lines, ev->dl.runtime);
	lines_put(lines, " deadline=");
	lines_number(lines, ev->dl.deadline);
	lines_put(lines, " period=");
	lines_number(lines, ev->dl.period);
}

static void put_affinity(struct lines *lines, const struct schedtape_event *ev)
{
	char *list = cpu_list_text(ev->affinity, sizeof(ev->affinity));

	lines_put(lines, " to [");
	lines_put(lines, list ? list : "");
	lines_char(lines, ']');
	free(list);
}

static void put_description(struct print *print, const struct schedtape_event *ev)
{
	struct lines *lines = &print->lines;
	char start[OUT_TIME_LEN];

	lines_char(lines, ' ');
	lines_put(lines, print_why(ev));
	put_state(lines, ev->state);
	lines_put(lines, " on ");
	put_cpu(lines, ev->task_cpu);
	put_pair(lines, " tgid=", ev->tgid);
	put_pair(lines, " ppid=", ev->ppid);
	put_pair(lines, " ns_pid=", ev->ns_pid);
	lines_put(lines, " start_time=");
	lines_put(lines, out_seconds(start, ev->start_time, print->time.options.digits));
	if (ev->cgroup) {
		lines_put(lines, " cgroup=id:");
		lines_number(lines, ev->cgroup);
	}
	if (ev->autogroup)
		put_pair(lines, " autogroup=", ev->autogroup);
	if (ev->core)
		put_pair(lines, " core=", ev->core);
	put_prio(lines, ev);
}

/* " in futex", " in no system call" */
static void put_syscall(struct print *print, uint64_t call)
{
	char name[SYSCALLS_NAME];

	if (call == SCHEDTAPE_SYSCALL_UNKNOWN)
		return;
	lines_put(&print->lines, " in ");
	lines_put(&print->lines, syscalls_name(&print->syscalls, call, name));
}

static void put_switch(struct print *print, const struct schedtape_event *ev)
{
	put_one(print, ev->curr, ev->curr_kind);
	if (ev->curr)
		put_state(&print->lines, schedtape_switch_state(ev));
	lines_put(&print->lines, " ==> ");
	put_one(print, ev->pid, schedtape_switch_next(ev));
	put_syscall(print, schedtape_switch_syscall(ev));
}

/* " latency=0.012000000 on [003] of trigger 0, lasts" */
static void put_trigger(struct print *print, const struct schedtape_fired *trigger)
{
	struct lines *lines = &print->lines;
	char value[OUT_TIME_LEN];

	lines_char(lines, ' ');
	lines_put(lines, schedtape_trigger_name(trigger->kind));
	lines_char(lines, '=');
	if (trigger->kind == STAPE_TRIGGER_RATE)
		lines_number(lines, trigger->value);
	else
		lines_put(lines, out_seconds(value, trigger->value, print->time.options.digits));
	lines_put(lines, " on ");
	put_cpu(lines, trigger->cpu);
	put_pair(lines, " of trigger ", trigger->number);
	lines_put(lines, trigger->lasts ? ", lasts" : "");
}

/* "idle for 0.000120000, other since 12.345678901" */
static void put_idle(struct print *print, const struct schedtape_idle *idle)
{
	struct lines *lines = &print->lines;
	char value[OUT_TIME_LEN];

	if (idle->time == UINT64_MAX) {
		lines_put(lines, "idle for an unknown time");
	} else {
		lines_put(lines, "idle for ");
		lines_put(lines, out_seconds(value, idle->time, print->time.options.digits));
	}
	if (idle->kind == STAPE_NEXT_TASK)
		return;
	if (idle->kind == STAPE_IDLE_OFFLINE) {
		lines_put(lines, ", offline");
		return;
	}
	lines_put(lines, idle->kind == STAPE_NEXT_IDLE ? ", idle since " : ", other since ");
	lines->at = time_text_put(&print->time, lines->at, idle->since);
}

/* Puts what comes behind the event's task. */
static void put_details(struct print *print, const struct schedtape_event *ev)
{
	struct lines *lines = &print->lines;
	char name[TEXT_NAME_LEN];

	switch (ev->type) {
	case STAPE_EV_WAKING:
		lines_put(lines, " by ");
		lines_put(lines, schedtape_context_name(ev->arg));
		break;
	case STAPE_EV_WAKEUP:
	case STAPE_EV_WAKEUP_NEW:
	case STAPE_EV_MIGRATE:
		lines_put(lines, " to ");
		put_cpu(lines, ev->arg);
		break;
	case STAPE_EV_FORK:
		lines_put(lines, ev->arg & STAPE_FORK_THREAD ? " thread" : "");
		break;
	case STAPE_EV_EXEC:
		if (ev->old_pid != ev->pid)
			put_pair(lines, " old_pid=", ev->old_pid);
		break;
	case STAPE_EV_RENAME:
		lines_put(lines, " to ");
		lines_put(lines, text_name(name, ev->comm));
		break;
	case STAPE_EV_PRIO:
		put_prio(lines, ev);
		break;
	case SCHEDTAPE_EV_AFFINITY:
		put_affinity(lines, ev);
		break;
	case SCHEDTAPE_EV_TRIGGER:
		put_trigger(print, &ev->trigger);
		break;
	case STAPE_EV_TASK:
		put_description(print, ev);
		break;
	case STAPE_EV_EXIT:
		lines_put(lines, schedtape_exit_ended(ev) ? " ended" : "");
		break;
	}
}

void print_gap(struct print *print, const struct schedtape_event *ev, bool cpu)
{
	unsigned int color = ev->type == SCHEDTAPE_EV_LOST ? COLOR_YELLOW : COLOR_PLAIN;
	struct lines *lines = &print->lines;

	lines_put(lines, color_on(color));
	/* A corrupt chunk does not say how many events it had. */
	if (ev->type == SCHEDTAPE_EV_PAUSED) {
		lines_put(lines, "PAUSED");
	} else if (ev->lost) {
		lines_put(lines, "LOST ");
		lines_number(lines, ev->lost);
		lines_put(lines, " events");
	} else {
		lines_put(lines, "LOST an unknown number of events");
	}
	if (cpu && ev->cpu != STAPE_CPU_NONE)
		put_pair(lines, " of CPU ", ev->cpu);
	lines_put(lines, " from ");
	lines->at = time_text_put(&print->time, lines->at, ev->lost_first);
	lines_put(lines, " to ");
	lines->at = time_text_put(&print->time, lines->at, ev->lost_last);
	lines_put(lines, color_off(color));
}

static void put_what(struct print *print, const struct schedtape_event *ev)
{
	if (schedtape_event_is_gap(ev)) {
		print_gap(print, ev, false);
	} else if (ev->type == STAPE_EV_SWITCH) {
		put_switch(print, ev);
	} else if (schedtape_event_is_throttling(ev)) {
		put_pair(&print->lines, "cgroup=", ev->cgroup);
		lines_put(&print->lines, " on ");
		put_cpu(&print->lines, ev->task_cpu);
	} else if (ev->type == SCHEDTAPE_EV_IDLE) {
		put_idle(print, &ev->idle);
	} else if (ev->type == SCHEDTAPE_EV_INTERVAL) {
		lines_number(&print->lines, ev->arg);
		lines_put(&print->lines, " ends");
	} else if (ev->type == SCHEDTAPE_EV_TRIGGER && !ev->pid) {
		lines_put(&print->lines, "all tasks");
		put_details(print, ev);
	} else {
		put_one(print, ev->pid, 0);
		put_details(print, ev);
	}
}

/* -- the columns ----------------------------------------------------------- */

/* Puts a text, aligned right. */
static void put_right(struct lines *lines, size_t width, const char *text, size_t len)
{
	if (len < width)
		lines_blanks(lines, width - len);
	lines_text(lines, text, len);
}

/* Puts the name of what ran on the CPU; "?" if the tape does not have it. */
static void put_comm(struct print *print, const struct schedtape_event *ev)
{
	const struct identity *task = print_identity(print, ev->curr);
	struct lines *lines = &print->lines;

	if (schedtape_event_is_gap(ev))
		put_right(lines, 16, ev->type == SCHEDTAPE_EV_PAUSED ? "<paused>" : "<lost>",
			  ev->type == SCHEDTAPE_EV_PAUSED ? 8 : 6);
	else if (ev->curr && task->name_len)
		put_right(lines, 16, task->name, task->name_len);
	else if (ev->curr)
		put_right(lines, 16, "?", 1);
	else if (ev->cpu == STAPE_CPU_NONE)
		put_right(lines, 16, "<task>", 6);
	else if (ev->curr_kind == STAPE_NEXT_IDLE)
		put_right(lines, 16, "<idle>", 6);
	else
		put_right(lines, 16, "<other>", 7);
}

/* Puts PIDs: "tid", "pid" or "pid/tid". */
static void put_ids(struct print *print, const struct schedtape_event *ev)
{
	uint32_t tid = schedtape_event_is_gap(ev) ? 0 : ev->curr;
	struct lines *lines = &print->lines;
	char *from = lines->at;
	uint32_t pid;

	if (print->fields & FIELD_PID) {
		pid = print_identity(print, tid)->tgid;
		lines_number(lines, pid ? pid : tid);
	}
	if ((print->fields & FIELD_IDS) == FIELD_IDS)
		lines_char(lines, '/');
	if (print->fields & FIELD_TID)
		lines_number(lines, tid);
	if (print->fields & ~(FIELD_COMM | FIELD_IDS))
		lines_fill(lines, from, (print->fields & FIELD_IDS) == FIELD_IDS ? 15 : 7);
}

static void put_time(struct print *print, const struct schedtape_event *ev)
{
	uint64_t time = schedtape_event_is_gap(ev) ? ev->lost_first : ev->time;
	size_t width = time_text_width(&print->time);
	struct lines *lines = &print->lines;
	char text[TIME_TEXT_LEN];

	put_right(lines, width, text, time_text_put_line(&print->time, text, time) - text);
	lines_char(lines, ':');
}

/* Puts a blank between two columns. */
static void put_blank(struct print *print)
{
	if (print->lines.at != print->lines.line)
		lines_char(&print->lines, ' ');
}

static void put_event(struct print *print, const char *name)
{
	if (!(print->fields & FIELD_EVENT))
		return;
	put_blank(print);
	put_right(&print->lines, 10, name, strlen(name));
	lines_char(&print->lines, ':');
}

/* Puts the task, the CPU and the time. */
static void put_columns(struct print *print, const struct schedtape_event *ev)
{
	struct lines *lines = &print->lines;
	unsigned int fields = print->fields;

	if (fields & FIELD_COMM)
		put_comm(print, ev);
	if ((fields & FIELD_COMM) && (fields & FIELD_IDS))
		lines_char(lines, '-');
	if (fields & FIELD_IDS)
		put_ids(print, ev);
	if (fields & FIELD_CPU) {
		put_blank(print);
		if (ev->cpu == STAPE_CPU_NONE)
			lines_put(lines, "[---]");
		else
			put_cpu(lines, ev->cpu);
	}
	if (fields & FIELD_TIME) {
		put_blank(print);
		put_time(print, ev);
	}
}

void print_text(struct print *print, const struct schedtape_event *ev)
{
	put_columns(print, ev);
	put_event(print, schedtape_event_name(ev->type));
	if (print->fields & FIELD_TRACE) {
		put_blank(print);
		put_what(print, ev);
	}
	lines_end(&print->lines);
}

void print_text_sample(struct print *print, const struct print_sample *sample)
{
	struct lines *lines = &print->lines;

	put_columns(print, &sample->at);
	put_event(print, sample->lost ? "lost" : sample->event);
	if (print->fields & FIELD_TRACE) {
		put_blank(print);
		if (sample->lost)
			put_pair(lines, "events of other tracepoints: ", sample->lost);
		else
			lines_put(lines, sample->text);
	}
	lines_end(lines);
}
