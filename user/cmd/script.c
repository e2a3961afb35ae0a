// SPDX-License-Identifier: GPL-2.0-only
/*
 * schedtape script: prints the events of a tape, one per line.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "commands.h"
#include "common/cpu-list.h"
#include "common/input.h"
#include "common/options.h"
#include "common/output.h"
#include "common/select.h"
#include "script/names.h"

#define OPT_TIME	0x100
#define OPT_PID		0x101
#define OPT_COMM	0x102
#define OPT_NS		0x103

/**
 * struct script - the command line, and the tasks' names
 * @printed: an event was printed, losses and pauses not counted
 * @digits: of a second, after the point
 * @names: at the current position of the tape
 */
struct script {
	struct cmd_common common;
	struct select_time time;
	struct select_numbers pids;
	struct select_numbers cpus;
	struct select_names comms;
	bool printed;
	unsigned int digits;
	struct names *names;
};

static const struct argp_option options[] = {
	{ "time", OPT_TIME, "START,STOP", 0, "Only events from START on, before STOP, seconds", 0 },
	{ "pid", OPT_PID, "PID[,PID...]", 0, "Only events of or about these tasks", 0 },
	{ "comm", OPT_COMM, "NAME[,NAME...]", 0,
	  "Only events of or about tasks of these names", 0 },
	{ "cpu", 'C', "CPU[,CPU-CPU...]", 0, "Only events on these CPUs", 0 },
	{ "ns", OPT_NS, NULL, 0, "Print times with nine digits", 0 },
	{ 0 }
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct script *script = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &script->common;
		return 0;
	case OPT_TIME:
		if (select_time_parse(&script->time, arg))
			argp_error(state, "not a range of times: '%s'", arg);
		return 0;
	case OPT_PID:
		if (select_numbers_parse(&script->pids, arg))
			argp_error(state, "not a list of PIDs: '%s'", arg);
		return 0;
	case OPT_COMM:
		if (select_names_parse(&script->comms, arg))
			argp_error(state, "not a list of names: '%s'", arg);
		return 0;
	case 'C':
		if (select_numbers_parse(&script->cpus, arg))
			argp_error(state, "not a list of CPUs: '%s'", arg);
		return 0;
	case OPT_NS:
		script->digits = 9;
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static bool selects_task(const struct script *script, uint32_t pid)
{
	return pid && select_numbers_has(&script->pids, pid) &&
	       select_names_has(&script->comms, names_get(script->names, pid));
}

/* A gap may hide events of any task, so it is printed whatever tasks are selected. */
static bool selects(const struct script *script, const struct schedtape_event *ev)
{
	if (schedtape_event_is_gap(ev))
		return ev->lost_last >= script->time.start &&
		       select_numbers_has(&script->cpus, ev->cpu);
	if (ev->time < script->time.start || !select_numbers_has(&script->cpus, ev->cpu))
		return false;
	if (!script->pids.nr && !script->comms.nr)
		return true;
	return selects_task(script, ev->curr) || selects_task(script, ev->pid);
}

/* Tasks outside the filter have no identity on a tape. */
static const char *nobody(unsigned int kind)
{
	return kind == STAPE_NEXT_IDLE ? "idle" : "other";
}

static const char *task(const struct script *script, char buffer[TEXT_TASK_LEN], uint32_t pid,
			unsigned int kind)
{
	if (!pid)
		return nobody(kind);
	return text_task(buffer, names_get(script->names, pid), pid);
}

/* "fifo nice=0 rt_priority=10 prio=89" */
static void print_prio(const struct schedtape_event *ev)
{
	printf(" %s nice=%d rt_priority=%u prio=%d%s", schedtape_policy_name(ev->policy), ev->nice,
	       ev->rt_priority, ev->prio, ev->boosted ? " boosted" : "");
	if (ev->dl.period)
		printf(" runtime=%" PRIu64 " deadline=%" PRIu64 " period=%" PRIu64, ev->dl.runtime,
		       ev->dl.deadline, ev->dl.period);
}

static void print_affinity(const struct schedtape_event *ev)
{
	char *list = cpu_list_text(ev->affinity, sizeof(ev->affinity));

	printf(" to [%s]", list ? list : "");
	free(list);
}

static const char *why_name(const struct schedtape_event *ev)
{
	static const char * const names[] = {
		[STAPE_TASK_EXITS] = "exits",
		[STAPE_TASK_ENTERS] = "enters",
		[STAPE_TASK_LEAVES] = "leaves",
		[STAPE_TASK_MOVES] = "moves",
	};
	uint64_t why = schedtape_task_why(ev);

	return why < sizeof(names) / sizeof(names[0]) ? names[why] : "described";
}

static void print_task(const struct script *script, const struct schedtape_event *ev)
{
	char start[OUT_TIME_LEN];

	printf(" %s [%c] on [%03u] tgid=%u ppid=%u ns_pid=%u start_time=%s", why_name(ev),
	       schedtape_state_char(ev->state), ev->task_cpu, ev->tgid, ev->ppid, ev->ns_pid,
	       out_seconds(start, ev->start_time, script->digits));
	if (ev->cgroup)
		printf(" cgroup=id:%" PRIu64, ev->cgroup);
	print_prio(ev);
}

static void print_what(const struct script *script, const struct schedtape_event *ev)
{
	char a[TEXT_TASK_LEN], b[TEXT_TASK_LEN];
	char name[TEXT_NAME_LEN];

	switch (ev->type) {
	case STAPE_EV_SWITCH:
		printf("%s", task(script, a, ev->curr, ev->curr_kind));
		if (ev->curr)
			printf(" [%c]", schedtape_state_char(schedtape_switch_state(ev)));
		printf(" ==> %s", task(script, b, ev->pid, schedtape_switch_next(ev)));
		break;
	case STAPE_EV_WAKING:
		printf("%s by %s", task(script, a, ev->pid, 0), schedtape_context_name(ev->arg));
		break;
	case STAPE_EV_WAKEUP:
	case STAPE_EV_WAKEUP_NEW:
	case STAPE_EV_MIGRATE:
		printf("%s to [%03" PRIu64 "]", task(script, a, ev->pid, 0), ev->arg);
		break;
	case STAPE_EV_FORK:
		printf("%s%s", task(script, a, ev->pid, 0),
		       ev->arg & STAPE_FORK_THREAD ? " thread" : "");
		break;
	case STAPE_EV_EXEC:
		printf("%s", task(script, a, ev->pid, 0));
		if (ev->old_pid != ev->pid)
			printf(" old_pid=%u", ev->old_pid);
		break;
	case STAPE_EV_RENAME:
		printf("%s to %s", task(script, a, ev->pid, 0), text_name(name, ev->comm));
		break;
	case STAPE_EV_PRIO:
		printf("%s", task(script, a, ev->pid, 0));
		print_prio(ev);
		break;
	case SCHEDTAPE_EV_AFFINITY:
		printf("%s", task(script, a, ev->pid, 0));
		print_affinity(ev);
		break;
	case STAPE_EV_TASK:
		printf("%s", task(script, a, ev->pid, 0));
		print_task(script, ev);
		break;
	case STAPE_EV_EXIT:
		printf("%s%s", task(script, a, ev->pid, 0),
		       schedtape_exit_ended(ev) ? " ended" : "");
		break;
	default:
		printf("%s", task(script, a, ev->pid, 0));
		break;
	}
}

static void print_gap(const struct script *script, const struct schedtape_event *ev)
{
	char first[OUT_TIME_LEN], last[OUT_TIME_LEN];

	/* A corrupt chunk does not say how many events it had. */
	if (ev->type == SCHEDTAPE_EV_PAUSED)
		printf("PAUSED");
	else if (ev->lost)
		printf("LOST %" PRIu64 " events", ev->lost);
	else
		printf("LOST an unknown number of events");
	printf(" from %s to %s",
	       out_seconds(first, ev->lost_first, script->digits),
	       out_seconds(last, ev->lost_last, script->digits));
}

/* The name of a task on a CPU; "?" if the tape does not have it. */
static const char *curr_name(const struct script *script, char buffer[TEXT_NAME_LEN],
			     const struct schedtape_event *ev)
{
	const char *comm = names_get(script->names, ev->curr);

	return *comm ? text_name(buffer, comm) : "?";
}

static void print_text(const struct script *script, const struct schedtape_event *ev)
{
	char name[TEXT_NAME_LEN], who[TEXT_NAME_LEN + 2], pid[16], time[OUT_TIME_LEN];
	bool is_gap = schedtape_event_is_gap(ev);
	char cpu[16] = "---";

	if (is_gap)
		snprintf(who, sizeof(who), "<%s>", schedtape_event_name(ev->type));
	else if (ev->curr)
		snprintf(who, sizeof(who), "%s", curr_name(script, name, ev));
	else
		snprintf(who, sizeof(who), "<%s>", ev->cpu == STAPE_CPU_NONE ? "task" :
							nobody(ev->curr_kind));
	snprintf(pid, sizeof(pid), "%u", is_gap ? 0 : ev->curr);
	if (ev->cpu != STAPE_CPU_NONE)
		snprintf(cpu, sizeof(cpu), "%03u", ev->cpu);

	printf("%16s-%-7s [%s] %*s: %10s: ", who, pid, cpu, (int)script->digits + 7,
	       out_seconds(time, is_gap ? ev->lost_first : ev->time, script->digits),
	       schedtape_event_name(ev->type));
	if (is_gap)
		print_gap(script, ev);
	else
		print_what(script, ev);
	putchar('\n');
}

static void add_task(const struct script *script, struct json_object *object,
		     const char *pid_key, const char *comm_key, uint32_t pid)
{
	out_json_add_count(object, pid_key, pid);
	out_json_add_name(object, comm_key, names_get(script->names, pid));
}

static void add_string(struct json_object *object, const char *key, const char *value)
{
	json_object_object_add(object, key, json_object_new_string(value));
}

static void add_switch(const struct script *script, struct json_object *object,
		       const struct schedtape_event *ev)
{
	char state[2] = { schedtape_state_char(schedtape_switch_state(ev)), '\0' };

	if (ev->curr)
		add_string(object, "prev_state", state);
	add_string(object, "next_kind", ev->pid ? "task" : nobody(schedtape_switch_next(ev)));
	if (ev->pid)
		add_task(script, object, "next_pid", "next_comm", ev->pid);
}

static void add_prio(struct json_object *object, const struct schedtape_event *ev)
{
	add_string(object, "policy", schedtape_policy_name(ev->policy));
	json_object_object_add(object, "nice", json_object_new_int(ev->nice));
	out_json_add_count(object, "rt_priority", ev->rt_priority);
	json_object_object_add(object, "prio", json_object_new_int(ev->prio));
	out_json_add_bool(object, "boosted", ev->boosted);
	if (ev->dl.period)
		out_json_add_deadline(object, &ev->dl);
}

static void add_affinity(struct json_object *object, const struct schedtape_event *ev)
{
	struct json_object *cpus = json_object_new_array();
	uint32_t cpu;

	for (cpu = 0; cpu < 8 * sizeof(ev->affinity); cpu++)
		if (cpu_list_has(ev->affinity, cpu))
			json_object_array_add(cpus, json_object_new_int(cpu));
	json_object_object_add(object, "affinity", cpus);
}

static void add_description(struct json_object *object, const struct schedtape_event *ev)
{
	char state[2] = { schedtape_state_char(ev->state), '\0' };

	add_string(object, "why", why_name(ev));
	add_string(object, "state", state);
	out_json_add_count(object, "task_cpu", ev->task_cpu);
	out_json_add_count(object, "tgid", ev->tgid);
	out_json_add_count(object, "ppid", ev->ppid);
	out_json_add_count(object, "ns_pid", ev->ns_pid);
	out_json_add_count(object, "start_time_ns", ev->start_time);
	if (ev->cgroup)
		out_json_add_count(object, "cgroup", ev->cgroup);
	add_prio(object, ev);
}

static void add_what(const struct script *script, struct json_object *object,
		     const struct schedtape_event *ev)
{
	add_task(script, object, "pid", "comm", ev->pid);
	switch (ev->type) {
	case STAPE_EV_WAKING:
		add_string(object, "context", schedtape_context_name(ev->arg));
		break;
	case STAPE_EV_WAKEUP:
	case STAPE_EV_WAKEUP_NEW:
	case STAPE_EV_MIGRATE:
		out_json_add_count(object, "target_cpu", ev->arg);
		break;
	case STAPE_EV_FORK:
		out_json_add_bool(object, "thread", ev->arg & STAPE_FORK_THREAD);
		break;
	case STAPE_EV_EXEC:
		out_json_add_count(object, "old_pid", ev->old_pid);
		break;
	case STAPE_EV_RENAME:
		out_json_add_name(object, "new_comm", ev->comm);
		break;
	case STAPE_EV_PRIO:
		add_prio(object, ev);
		break;
	case SCHEDTAPE_EV_AFFINITY:
		add_affinity(object, ev);
		break;
	case STAPE_EV_TASK:
		add_description(object, ev);
		break;
	case STAPE_EV_EXIT:
		out_json_add_bool(object, "ended", schedtape_exit_ended(ev));
		break;
	}
}

static void add_gap(struct json_object *object, const struct schedtape_event *ev)
{
	bool lost = ev->type == SCHEDTAPE_EV_LOST;

	if (lost)
		out_json_add_count(object, "lost", ev->lost);
	out_json_add_count(object, lost ? "lost_first_ns" : "first_ns", ev->lost_first);
	out_json_add_count(object, lost ? "lost_last_ns" : "last_ns", ev->lost_last);
}

static void print_json(const struct script *script, const struct schedtape_event *ev)
{
	struct json_object *object = json_object_new_object();

	out_json_add_count(object, "time_ns", ev->time);
	out_json_add_cpu(object, ev->cpu);
	add_string(object, "event", schedtape_event_name(ev->type));
	if (schedtape_event_is_gap(ev)) {
		add_gap(object, ev);
		out_json(object, false);
		return;
	}
	if (ev->curr || ev->cpu != STAPE_CPU_NONE)
		add_string(object, "curr_kind", ev->curr ? "task" : nobody(ev->curr_kind));
	if (ev->curr)
		add_task(script, object, "curr_pid", "curr_comm", ev->curr);
	if (ev->type == STAPE_EV_SWITCH)
		add_switch(script, object, ev);
	else
		add_what(script, object, ev);
	out_json(object, false);
}

static void print_event(struct script *script, const struct schedtape_event *ev)
{
	if (!selects(script, ev))
		return;
	script->printed |= !schedtape_event_is_gap(ev);
	if (script->common.json)
		print_json(script, ev);
	else
		print_text(script, ev);
}

static int print_events(struct script *script, struct schedtape_tape *tape)
{
	struct schedtape_error err = { "" };
	struct schedtape_event ev;
	int rc = 0;

	/* The first line names the format of the others. */
	if (script->common.json)
		out_json(out_json_new("script"), false);
	while (!rc && out_works()) {
		rc = schedtape_tape_next(tape, &ev, &err);
		if (!rc)
			return 0;
		if (rc == -EBADMSG) {
			/* One page is corrupt; the next event is after it. */
			out_warning(NULL, "%s", err.text);
			rc = 0;
			continue;
		}
		if (rc < 0)
			break;
		if (ev.time >= script->time.stop)
			return 0;
		/* A rename is printed with the old name, a fork with its child's new name. */
		if (ev.type == STAPE_EV_RENAME)
			print_event(script, &ev);
		rc = names_follow(script->names, &ev);
		if (rc)
			schedtape_fail(&err, rc, "not enough memory for the names of the tasks");
		else if (ev.type != STAPE_EV_RENAME)
			print_event(script, &ev);
	}
	if (rc < 0)
		out_error(NULL, "%s", err.text);
	return rc < 0 ? CMD_FAILURE : 0;
}

/* Warns if the options select no event at all. */
static void warn_of_nothing(const struct script *script, struct schedtape_tape *tape)
{
	bool timed = script->time.start || script->time.stop != UINT64_MAX;

	if (script->printed || !out_works() ||
	    cmd_warn_empty(tape, script->common.input) ||
	    (!timed && !script->pids.nr && !script->comms.nr && !script->cpus.nr))
		return;
	out_warning(script->common.input, "no event of the tape matches%s%s%s%s",
		    timed ? " --time" : "", script->pids.nr ? " --pid" : "",
		    script->comms.nr ? " --comm" : "", script->cpus.nr ? " --cpu" : "");
}

static int script_tape(struct script *script)
{
	struct schedtape_error err = { "" };
	struct schedtape_tape *tape;
	int status = CMD_FAILURE;

	tape = cmd_open_tape(script->common.input);
	if (!tape)
		return CMD_FAILURE;
	if (names_new(tape, &script->names, &err))
		out_error(NULL, "%s", err.text);
	else
		status = print_events(script, tape);
	if (!status)
		warn_of_nothing(script, tape);
	status = out_finish(status);
	names_free(script->names);
	cmd_close_tape(tape, script->common.input);
	return status;
}

int cmd_script(int argc, char **argv)
{
	static const struct argp_child children[] = { { &cmd_common_argp, 0, NULL, 0 }, { 0 } };
	static const struct argp argp = {
		.options = options,
		.parser = parse,
		.args_doc = "[FILE]",
		.doc = "Prints the events of a tape, one a line, by time. See schedtape-script(1).",
		.children = children,
	};
	struct script script = {
		.common = CMD_COMMON_INIT,
		.time = SELECT_TIME_ALL,
		.digits = 6,
	};
	int status;

	cmd_parse(&argp, argc, argv, 0, &script);
	status = script_tape(&script);
	select_numbers_free(&script.pids);
	select_numbers_free(&script.cpus);
	select_names_free(&script.comms);
	return status;
}
