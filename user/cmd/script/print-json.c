// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events as JSON, an object a line.  The lines are made without json-c, because making and freeing
 * an object for each of millions of events takes most of the time.
 */
#include <sched.h>

#include "common/output.h"
#include "common/select.h"
#include "script/internal.h"

/*
 * JSON of script:
 * @time_ns: When it happened, CLOCK_MONOTONIC.
 * @cpu: CPU that it happened on; null for an event that says what a task is.
 * @event: Name of the event, see schedtape-script(1).
 * @curr_kind: Kind of the task that ran on that CPU: task, idle, or other. Other is a task outside
 *	the filter. In an event of another tracepoint, other may also be a task that has no PID any
 *	more, because its parent has reaped it. Of fork: the parent. Gaps, and other events without
 *	a CPU, have none.
 * @curr_pid: Its PID, of a task.
 * @curr_comm: Its name.
 * @pid: PID of the task that the event is about; not of switch.
 * @comm: Its name.
 * @prev_state: Of switch: state of the task that ran.
 * @syscall: Of switch: the system call that it sleeps in, as @syscalls[].syscall of report; only if
 *	the tape has system calls, and not of kernel threads.
 * @syscall_number: Its number, or null.
 * @next_kind: Of switch: what runs next, as curr_kind.
 * @next_pid: Its PID, of a task.
 * @next_comm: Its name.
 * @context: Of waking: task, softirq, hardirq and so on.
 * @target_cpu: Of wakeup, wakeup_new and migrate: the new CPU. Of throttle and unthrottle: the CPU
 *	on which the cgroup is throttled, or is no longer. Of trigger: the task's CPU.
 * @trigger: Of trigger: which one of the recording's triggers has fired, counted from 0. Without
 *	@pid it has fired for all tasks together.
 * @kind: Of trigger: latency, blocked, burst or rate.
 * @value_ns: Of trigger: for how long the task waited or ran.
 * @wakeups: Of trigger, if it is a rate: wake-ups of all tasks in a second.
 * @lasts: Of trigger: the wait or run had not ended.
 * @idle_ns: Of idle: for how long the CPU was idle since its last switch, or since the last event
 *	of that type; absent if that is not known.
 * @since_ns: Of idle: since when the CPU does what it does.
 * @runs: Of idle: what that is: idle, other (tasks that are not on the tape), task or offline.
 * @interval: Of interval: the number of the interval of a sample that ends, counted from 1.
 * @thread: Of fork: a thread was made.
 * @ended: Of exit: the task has ended, on a CPU that is not recorded; else it begins to exit.
 * @old_pid: Of exec: PID before it.
 * @new_comm: Of rename: name after it.
 * @affinity: Of setaffinity: a list of CPUs.
 * @why: Of task: exits, enters, leaves, moves, forked, regrouped or described.
 * @state: Of task: its state.
 * @task_cpu: Of task: CPU that it runs or last ran on.
 * @tgid, @ppid, @ns_pid, @start_time_ns:
 * @cgroup: Of task: id of its cgroup, if known. Of throttle and unthrottle: id of the cgroup.
 * @autogroup: Of task: tasks with the same number share an autogroup; only if it is in one.
 * @core: Of task: stands for its core-scheduling cookie; only if it has one.
 * @policy: Of task and setprio, like the next ones.
 * @nice, @rt_priority:
 * @prio: Priority in the kernel.
 * @boosted: A waiter lends it its priority.
 * @runtime_ns: Of SCHED_DEADLINE only, like the next two.
 * @deadline_ns, @period_ns:
 * @slice_ns: Slice that was set for the task, with another policy; only if one was.
 * @clamp_min: Lower utilization clamp that was set for it, up to 1024; only if one was.
 * @clamp_max: Upper one.
 * @timer_slack_ns: Its timer slack when it was described, if that is not 50 µs.
 * @fields: Of a tracepoint that was recorded beside scheduling: an object with the tracepoint's
 *	fields, which are numbers, texts and arrays of numbers. A field of another type is null,
 *	and so is the object if the tape does not describe them.
 * @lost: Of lost: missing events; 0: unknown. Of samples_lost: missing events of other tracepoints.
 * @lost_first_ns: Time of the first of them.
 * @lost_last_ns: Time of the last.
 * @first_ns: Of paused: when it began.
 * @last_ns: When it ended.
 */

/* -- members --------------------------------------------------------------- */

static void put_signed(struct lines *lines, const char *key, int64_t value)
{
	lines_put(lines, key);
	lines_signed(lines, value);
}

static void put_bool(struct lines *lines, const char *key, bool value)
{
	lines_put(lines, key);
	lines_put(lines, value ? "true" : "false");
}

/* Puts a member with a word that needs no backslash.  @key: ",\"why\":\"" */
static void put_word(struct lines *lines, const char *key, const char *word)
{
	lines_put(lines, key);
	lines_put(lines, word);
	lines_char(lines, '"');
}

/* Puts a PID and a name.  @pid_key: ",\"pid\":"; @comm_key: ",\"comm\":\"" */
static inline void put_task(struct print *print, const char *pid_key, const char *comm_key,
			    uint32_t pid)
{
	const struct identity *task = print_identity(print, pid);
	struct lines *lines = &print->lines;

	lines_count(lines, pid_key, pid);
	lines_put(lines, comm_key);
	if (task->quoted)
		lines_quoted(lines, task->name);
	else
		print_name(lines, task);
	lines_char(lines, '"');
}

/* -- events ---------------------------------------------------------------- */

/* Of a sleep in no system call the number is null. */
static void put_syscall(struct print *print, uint64_t call)
{
	struct lines *lines = &print->lines;
	char name[SYSCALLS_NAME];

	if (call == SCHEDTAPE_SYSCALL_UNKNOWN)
		return;
	put_word(lines, ",\"syscall\":\"", syscalls_name(&print->syscalls, call, name));
	lines_count_or_null(lines, ",\"syscall_number\":",
			    (uint32_t)call == STAPE_SYSCALL_NONE ? UINT64_MAX : (uint32_t)call);
}

static void put_switch(struct print *print, const struct schedtape_event *ev)
{
	struct lines *lines = &print->lines;

	if (ev->curr) {
		lines_put(lines, ",\"prev_state\":\"");
		lines_char(lines, schedtape_state_char(schedtape_switch_state(ev)));
		lines_char(lines, '"');
		put_syscall(print, schedtape_switch_syscall(ev));
	}
	if (!ev->pid) {
		put_word(lines, ",\"next_kind\":\"", identities_kind(schedtape_switch_next(ev)));
		return;
	}
	lines_put(lines, ",\"next_kind\":\"task\"");
	put_task(print, ",\"next_pid\":", ",\"next_comm\":\"", ev->pid);
}

static void put_wish(struct lines *lines, const struct schedtape_wish *wish)
{
	if (wish->slice)
		lines_count(lines, ",\"slice_ns\":", wish->slice);
	if (wish->slack)
		lines_count(lines, ",\"timer_slack_ns\":", wish->slack - 1);
	if (schedtape_clamp_min(wish) >= 0)
		put_signed(lines, ",\"clamp_min\":", schedtape_clamp_min(wish));
	if (schedtape_clamp_max(wish) >= 0)
		put_signed(lines, ",\"clamp_max\":", schedtape_clamp_max(wish));
}

static void put_prio(struct lines *lines, const struct schedtape_event *ev)
{
	put_word(lines, ",\"policy\":\"", schedtape_policy_name(ev->policy));
	put_signed(lines, ",\"nice\":", ev->nice);
	lines_count(lines, ",\"rt_priority\":", ev->rt_priority);
	put_signed(lines, ",\"prio\":", ev->prio);
	put_bool(lines, ",\"boosted\":", ev->boosted);
	if (ev->policy != SCHED_DEADLINE) {
		put_wish(lines, &ev->wish);
		return;
	}
	if (!ev->dl.period)
		return;
	lines_count(lines, ",\"runtime_ns\":", ev->dl.runtime);
	lines_count(lines, ",\"deadline_ns\":", ev->dl.deadline);
	lines_count(lines, ",\"period_ns\":", ev->dl.period);
}

static void put_affinity(struct lines *lines, const struct schedtape_event *ev)
{
	const char *before = "";
	uint32_t cpu;

	lines_put(lines, ",\"affinity\":[");
	for (cpu = 0; cpu < 8 * sizeof(ev->affinity); cpu++) {
		if (!cpu_list_has(ev->affinity, cpu))
			continue;
		lines_count(lines, before, cpu);
		before = ",";
	}
	lines_char(lines, ']');
}

static void put_description(struct lines *lines, const struct schedtape_event *ev)
{
	put_word(lines, ",\"why\":\"", print_why(ev));
	lines_put(lines, ",\"state\":\"");
	lines_char(lines, schedtape_state_char(ev->state));
	lines_count(lines, "\",\"task_cpu\":", ev->task_cpu);
	lines_count(lines, ",\"tgid\":", ev->tgid);
	lines_count(lines, ",\"ppid\":", ev->ppid);
	lines_count(lines, ",\"ns_pid\":", ev->ns_pid);
	lines_count(lines, ",\"start_time_ns\":", ev->start_time);
	if (ev->cgroup)
		lines_count(lines, ",\"cgroup\":", ev->cgroup);
	if (ev->autogroup)
		lines_count(lines, ",\"autogroup\":", ev->autogroup);
	if (ev->core)
		lines_count(lines, ",\"core\":", ev->core);
	put_prio(lines, ev);
}

static void put_rename(struct lines *lines, const struct schedtape_event *ev)
{
	char name[TEXT_NAME_LEN];

	lines_put(lines, ",\"new_comm\":\"");
	lines_quoted(lines, text_name(name, ev->comm));
	lines_char(lines, '"');
}

static void put_trigger(struct lines *lines, const struct schedtape_fired *trigger)
{
	lines_count(lines, ",\"trigger\":", trigger->number);
	put_word(lines, ",\"kind\":\"", schedtape_trigger_name(trigger->kind));
	lines_count(lines, trigger->kind == STAPE_TRIGGER_RATE ? ",\"wakeups\":" : ",\"value_ns\":",
		    trigger->value);
	lines_count(lines, ",\"target_cpu\":", trigger->cpu);
	put_bool(lines, ",\"lasts\":", trigger->lasts);
}

static void put_idle(struct lines *lines, const struct schedtape_idle *idle)
{
	static const char * const kinds[] = {
		[STAPE_NEXT_TASK] = "task",
		[STAPE_NEXT_IDLE] = "idle",
		[STAPE_NEXT_OTHER] = "other",
		[STAPE_IDLE_OFFLINE] = "offline",
	};

	if (idle->time != UINT64_MAX)
		lines_count(lines, ",\"idle_ns\":", idle->time);
	lines_count(lines, ",\"since_ns\":", idle->since);
	put_word(lines, ",\"runs\":\"", kinds[idle->kind]);
}

/* Puts the task that the event is about, and what happens to it. */
static void put_what(struct print *print, const struct schedtape_event *ev)
{
	struct lines *lines = &print->lines;

	if (schedtape_event_is_throttling(ev)) {
		lines_count(lines, ",\"cgroup\":", ev->cgroup);
		lines_count(lines, ",\"target_cpu\":", ev->task_cpu);
		return;
	}
	if (ev->type == SCHEDTAPE_EV_IDLE) {
		put_idle(lines, &ev->idle);
		return;
	}
	if (ev->type == SCHEDTAPE_EV_INTERVAL) {
		lines_count(lines, ",\"interval\":", ev->arg);
		return;
	}
	/* A trigger may fire for all tasks together. */
	if (ev->pid || ev->type != SCHEDTAPE_EV_TRIGGER)
		put_task(print, ",\"pid\":", ",\"comm\":\"", ev->pid);
	switch (ev->type) {
	case STAPE_EV_WAKING:
		put_word(lines, ",\"context\":\"", schedtape_context_name(ev->arg));
		break;
	case STAPE_EV_WAKEUP:
	case STAPE_EV_WAKEUP_NEW:
	case STAPE_EV_MIGRATE:
		lines_count(lines, ",\"target_cpu\":", ev->arg);
		break;
	case STAPE_EV_FORK:
		put_bool(lines, ",\"thread\":", ev->arg & STAPE_FORK_THREAD);
		break;
	case STAPE_EV_EXEC:
		lines_count(lines, ",\"old_pid\":", ev->old_pid);
		break;
	case STAPE_EV_RENAME:
		put_rename(lines, ev);
		break;
	case STAPE_EV_PRIO:
		put_prio(lines, ev);
		break;
	case SCHEDTAPE_EV_AFFINITY:
		put_affinity(lines, ev);
		break;
	case SCHEDTAPE_EV_TRIGGER:
		put_trigger(lines, &ev->trigger);
		break;
	case STAPE_EV_TASK:
		put_description(lines, ev);
		break;
	case STAPE_EV_EXIT:
		put_bool(lines, ",\"ended\":", schedtape_exit_ended(ev));
		break;
	}
}

static void put_gap(struct lines *lines, const struct schedtape_event *ev)
{
	bool lost = ev->type == SCHEDTAPE_EV_LOST;

	if (lost)
		lines_count(lines, ",\"lost\":", ev->lost);
	lines_count(lines, lost ? ",\"lost_first_ns\":" : ",\"first_ns\":", ev->lost_first);
	lines_count(lines, lost ? ",\"lost_last_ns\":" : ",\"last_ns\":", ev->lost_last);
}

/* Puts what ran on the CPU when the event happened. */
static void put_current(struct print *print, const struct schedtape_event *ev)
{
	struct lines *lines = &print->lines;

	if (ev->curr) {
		lines_put(lines, ",\"curr_kind\":\"task\"");
		put_task(print, ",\"curr_pid\":", ",\"curr_comm\":\"", ev->curr);
	} else if (ev->cpu != STAPE_CPU_NONE) {
		put_word(lines, ",\"curr_kind\":\"", identities_kind(ev->curr_kind));
	}
}

void print_json_head(struct print *print)
{
	lines_put(&print->lines, "{\"format\":\"schedtape-script\"");
	lines_count(&print->lines, ",\"version\":", OUT_JSON_VERSION);
	lines_char(&print->lines, '}');
	lines_end(&print->lines);
}

static void put_columns(struct lines *lines, const struct schedtape_event *ev, const char *name)
{
	lines_count(lines, "{\"time_ns\":", ev->time);
	if (ev->cpu == STAPE_CPU_NONE)
		lines_put(lines, ",\"cpu\":null");
	else
		lines_count(lines, ",\"cpu\":", ev->cpu);
	put_word(lines, ",\"event\":\"", name);
}

void print_json(struct print *print, const struct schedtape_event *ev)
{
	struct lines *lines = &print->lines;

	put_columns(lines, ev, schedtape_event_name(ev->type));
	if (schedtape_event_is_gap(ev)) {
		put_gap(lines, ev);
	} else {
		put_current(print, ev);
		if (ev->type == STAPE_EV_SWITCH)
			put_switch(print, ev);
		else
			put_what(print, ev);
	}
	lines_char(lines, '}');
	lines_end(lines);
}

void print_json_sample(struct print *print, const struct print_sample *sample)
{
	struct lines *lines = &print->lines;

	put_columns(lines, &sample->at, sample->lost ? "samples_lost" : sample->event);
	if (sample->lost) {
		lines_count(lines, ",\"lost\":", sample->lost);
	} else {
		put_current(print, &sample->at);
		lines_put(lines, ",\"fields\":");
		lines_put(lines, sample->fields);
	}
	lines_char(lines, '}');
	lines_end(lines);
}
