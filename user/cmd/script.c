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
#include "common/identities.h"
#include "common/input.h"
#include "common/options.h"
#include "common/output.h"
#include "common/selection.h"
#include "common/time-text.h"

/**
 * struct script - the command line, and the tasks
 * @printed: an event was printed, losses and pauses not counted
 * @begun: something was printed
 * @identities: at the current position of the tape
 */
struct script {
	struct cmd_common common;
	struct selection selection;
	struct time_text_options times;
	struct time_text time;
	struct identities *identities;
	bool printed;
	bool begun;
};

static const struct argp_option options[] = {
	{ "comms", 'c', "GLOB[,GLOB...]", 0, "As --comm", 0 },
	{ 0 }
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct script *script = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &script->common;
		state->child_inputs[1] = &script->selection;
		state->child_inputs[2] = &script->times;
		return 0;
	case 'c':
		return -select_names_parse(&script->selection.comms, arg);
	}
	return ARGP_ERR_UNKNOWN;
}

static const char *comm_of(const struct script *script, uint32_t pid)
{
	return identities_get(script->identities, pid)->comm;
}

static bool selects_task(const struct script *script, uint32_t pid)
{
	const struct identity *identity = identities_get(script->identities, pid);
	const struct selection_task task = {
		.pid = pid, .tgid = identity->tgid, .comm = identity->comm,
		.cgroup = identity->cgroup,
	};

	return pid && selection_has_task(&script->selection, &task);
}

/* A gap may hide events of any task, so it is printed whatever tasks are selected. */
static bool selects(const struct script *script, const struct schedtape_event *ev)
{
	if (!selection_has_cpu(&script->selection, ev->cpu))
		return false;
	if (schedtape_event_is_gap(ev))
		return selection_overlaps(&script->selection, ev->lost_first, ev->lost_last);
	if (!selection_has_time(&script->selection, ev->time))
		return false;
	return !selection_of_tasks(&script->selection) || selects_task(script, ev->curr) ||
	       selects_task(script, ev->pid);
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
	return text_task(buffer, comm_of(script, pid), pid);
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
	       out_seconds(start, ev->start_time, script->times.digits));
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

static void print_gap(struct script *script, const struct schedtape_event *ev)
{
	char first[TIME_TEXT_LEN], last[TIME_TEXT_LEN];

	/* A corrupt chunk does not say how many events it had. */
	if (ev->type == SCHEDTAPE_EV_PAUSED)
		printf("PAUSED");
	else if (ev->lost)
		printf("LOST %" PRIu64 " events", ev->lost);
	else
		printf("LOST an unknown number of events");
	printf(" from %s to %s", time_text(&script->time, first, ev->lost_first),
	       time_text(&script->time, last, ev->lost_last));
}

/* The name of a task on a CPU; "?" if the tape does not have it. */
static const char *curr_name(const struct script *script, char buffer[TEXT_NAME_LEN],
			     const struct schedtape_event *ev)
{
	const char *comm = comm_of(script, ev->curr);

	return *comm ? text_name(buffer, comm) : "?";
}

static void print_text(struct script *script, const struct schedtape_event *ev)
{
	char name[TEXT_NAME_LEN], who[TEXT_NAME_LEN + 2], pid[16], time[TIME_TEXT_LEN];
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

	printf("%16s-%-7s [%s] %*s: %10s: ", who, pid, cpu, (int)time_text_width(&script->time),
	       time_text_line(&script->time, time, is_gap ? ev->lost_first : ev->time),
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
	out_json_add_name(object, comm_key, comm_of(script, pid));
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

/* The first line of JSON names the format of the others. */
static void begin(struct script *script)
{
	if (script->common.json && !script->begun)
		out_json(out_json_new("script"), false);
	script->begun = true;
}

static void print_event(struct script *script, const struct schedtape_event *ev)
{
	if (!selects(script, ev))
		return;
	begin(script);
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
		if (selection_is_over(&script->selection, ev.time))
			return 0;
		/* A rename is printed with the old name, a fork with its child's new name. */
		if (ev.type == STAPE_EV_RENAME)
			print_event(script, &ev);
		rc = identities_follow(script->identities, &ev);
		if (rc)
			schedtape_fail(&err, rc, "not enough memory for the names of the tasks");
		else if (ev.type != STAPE_EV_RENAME)
			print_event(script, &ev);
	}
	if (rc < 0)
		out_error(NULL, "%s", err.text);
	return rc < 0 ? CMD_FAILURE : 0;
}

/* Ends the output, after an error if the options select no event at all. */
static int finish(struct script *script, struct schedtape_tape *tape)
{
	const char *path = script->common.input;

	if (!script->printed && out_works() && !cmd_warn_empty(tape, path) &&
	    selection_of_any(&script->selection)) {
		selection_no_match(&script->selection, tape, path, "event");
		return out_finish(CMD_FAILURE);
	}
	begin(script);
	return out_finish(0);
}

static int script_tape(struct script *script)
{
	struct schedtape_error err = { "" };
	struct schedtape_tape *tape;
	int status = CMD_FAILURE;

	tape = cmd_open_tape(script->common.input);
	if (!tape)
		return CMD_FAILURE;
	if (selection_resolve(&script->selection, tape, script->common.input) ||
	    time_text_begin(&script->time, &script->times, tape, script->common.input))
		goto out;
	if (out_failed(identities_new(tape, &script->identities, &err), &err))
		goto out;
	status = print_events(script, tape);
	status = status ? out_finish(status) : finish(script, tape);
	identities_free(script->identities);
out:
	cmd_close_tape(tape, script->common.input);
	return status;
}

int cmd_script(int argc, char **argv)
{
	static const struct argp_child children[] = {
		{ &cmd_common_argp, 0, NULL, 0 }, { &selection_argp, 0, NULL, 0 },
		{ &time_text_argp, 0, NULL, 0 }, { 0 }
	};
	static const struct argp argp = {
		.options = options,
		.parser = parse,
		.args_doc = "[FILE]",
		.doc = "Prints the events of a tape, one a line, by time. See schedtape-script(1).",
		.children = children,
	};
	struct script script = {
		.common = CMD_COMMON_INIT,
		.times = TIME_TEXT_OPTIONS_INIT,
	};
	int status;

	cmd_parse(&argp, argc, argv, 0, &script);
	status = script_tape(&script);
	selection_free(&script.selection);
	return status;
}
