// SPDX-License-Identifier: GPL-2.0-only
#include "common/selection.h"

#include <errno.h>
#include <stdio.h>

#include "common/input.h"
#include "common/output.h"
#include "common/select-tasks.h"
#include "tape/next.h"
#include "tape/page.h"

#define OPT_PID		0x5000
#define OPT_TID		0x5001
#define OPT_COMM	0x5002
#define OPT_CGROUP	0x5003
#define OPT_TIME	0x5004

/* -- options --------------------------------------------------------------- */

#define TASK_OPTIONS(pid_key, tid_key) { \
	{ "pid", pid_key, "PID[,PID-PID...]", 0, \
	  "Only tasks of these processes; ns:PID is one in the process' own PID namespace", 0 }, \
	{ "tid", tid_key, "TID[,TID-TID...]", 0, \
	  "Only these tasks, by their own PIDs, or ns:TID as in --pid", 0 }, \
	{ "comm", OPT_COMM, "GLOB[,GLOB...]", 0, "Only tasks of these names", 0 }, \
	{ "cgroup", OPT_CGROUP, "GLOB[,GLOB...]", 0, \
	  "Only tasks in these cgroups and below them: paths, patterns, or id:N", 0 }, \
	{ 0 } \
}

static const struct argp_option task_options[] = TASK_OPTIONS(OPT_PID, OPT_TID);
static const struct argp_option short_options[] = TASK_OPTIONS('p', 't');

static const struct argp_option options[] = {
	{ "cpu", 'C', "CPU[,CPU-CPU...]", 0, "Only these CPUs", 0 },
	{ "time", OPT_TIME, "START,STOP", 0,
	  "Only from START on, before STOP: seconds as they are printed, +seconds after the start "
	  "of the recording, or dates; or 10%-20%, 10%/2", 0 },
	{ 0 }
};

static error_t parse_task(int key, char *arg, struct argp_state *state)
{
	struct selection *selection = state->input;

	switch (key) {
	case OPT_PID:
	case 'p':
		if (select_pids_parse(&selection->pids, arg))
			argp_error(state, "--pid: not a list of PIDs: '%s'", arg);
		return 0;
	case OPT_TID:
	case 't':
		if (select_pids_parse(&selection->tids, arg))
			argp_error(state, "--tid: not a list of PIDs: '%s'", arg);
		return 0;
	case OPT_COMM:
		return -select_names_parse(&selection->comms, arg);
	case OPT_CGROUP:
		if (select_cgroups_parse(&selection->cgroups, arg))
			argp_error(state, "--cgroup: not a list of paths, patterns and id:N: '%s'",
				   arg);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

const struct argp selection_tasks_argp = { .options = task_options, .parser = parse_task };

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct selection *selection = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = selection;
		return 0;
	case 'C':
		if (select_numbers_parse(&selection->cpus, arg))
			argp_error(state, "--cpu: not a list of CPUs: '%s'", arg);
		return 0;
	case OPT_TIME:
		if (time_ranges_parse(&selection->times, arg))
			argp_error(state, "--time: not a range of times: '%s'; for example "
				   "12.5,13 or +0.5,+0.8 or 10%%-20%% or 12:00:03,12:00:05", arg);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct argp tasks_short_argp = { .options = short_options, .parser = parse_task };

static const struct argp_child children[] = { { &selection_tasks_argp, 0, NULL, 0 }, { 0 } };
static const struct argp_child short_children[] = { { &tasks_short_argp, 0, NULL, 0 }, { 0 } };

const struct argp selection_argp = {
	.options = options,
	.parser = parse,
	.children = children,
};

const struct argp selection_short_argp = {
	.options = options,
	.parser = parse,
	.children = short_children,
};

/* -- on a tape ------------------------------------------------------------- */

int selection_resolve_times(struct time_ranges *times, struct schedtape_tape *tape,
			    const char *path, const char *option)
{
	int ret = time_ranges_resolve(times, tape);
	char range[CONTENTS_LEN];

	if (ret == -ENODATA)
		out_error(path, "%s: a date, but the tape does not have the wall clock of its "
			  "machine; give seconds: the tape is %s", option,
			  contents_times(range, tape));
	else if (ret == -ESPIPE)
		out_error(path, "%s: per cent of a recording that comes through a pipe, so that "
			  "its end is not known yet; give seconds, or save the tape in a file "
			  "first", option);
	else if (ret == -EINVAL)
		out_error(path, "%s: a range ends before it begins; the tape is %s", option,
			  contents_times(range, tape));
	else if (ret)
		out_error(path, "%s: the tape has nothing then; it is %s", option,
			  contents_times(range, tape));
	return ret;
}

/* Are all CPUs selected that were online, or have events? */
static bool has_all_cpus(const struct selection *selection, struct schedtape_tape *tape)
{
	const struct schedtape_end *end = schedtape_tape_end(tape);
	uint32_t cpu, online = cmd_online_cpus(tape);
	size_t i;

	for (cpu = 0; cpu < online; cpu++)
		if (!select_numbers_has(&selection->cpus, cpu))
			return false;
	for (i = 0; i < end->nr_cpus; i++)
		if (end->cpus[i].cpu != STAPE_CPU_NONE &&
		    !select_numbers_has(&selection->cpus, end->cpus[i].cpu))
			return false;
	return online || end->nr_cpus;
}

int selection_resolve_but_names(struct selection *selection, struct schedtape_tape *tape,
				const char *path)
{
	int ret = selection_resolve_times(&selection->times, tape, path, "--time");

	selection->all_cpus = has_all_cpus(selection, tape);
	return ret ? ret : select_cgroups_find(&selection->cgroups, tape, true, path, "--cgroup");
}

int selection_resolve(struct selection *selection, struct schedtape_tape *tape, const char *path)
{
	int ret = selection_resolve_but_names(selection, tape, path);

	return ret ? ret : select_tasks_find(&selection->comms, tape, path);
}

/* A task of the initial PID namespace has the same PID there.  Others are described by theirs. */
static bool has_pids(const struct selection *selection, const struct selection_task *task)
{
	uint32_t tgid = task->tgid ? task->tgid : task->pid, own = task->ns_tgid;

	/* Nothing is known of the leader, which is in another namespace as well. */
	if (!own && (!task->ns_pid || task->ns_pid == task->pid))
		own = tgid;
	return select_pids_has(&selection->tids, task->pid,
			       task->ns_pid ? task->ns_pid : task->pid) &&
	       select_pids_has(&selection->pids, tgid, own);
}

bool selection_has_task(const struct selection *selection, const struct selection_task *task)
{
	if (!has_pids(selection, task))
		return false;
	if (!select_names_has(&selection->comms, task->comm, task->pid))
		return false;
	return !selection->cgroups.names.nr ||
	       select_cgroups_has(&selection->cgroups, task->cgroup);
}

bool selection_has_identity(const struct selection *selection,
			    const struct identities *identities, uint32_t pid)
{
	const struct identity *identity = identities_get(identities, pid);
	struct selection_task task = {
		.pid = pid, .tgid = identity->tgid, .ns_pid = identity->ns_pid,
		.comm = identity->comm, .cgroup = identity->cgroup,
	};

	if (selection->pids.own.nr)
		task.ns_tgid = identities_ns_tgid(identities, pid);
	return pid && selection_has_task(selection, &task);
}

bool selection_has_timeline_task(const struct selection *selection,
				 const struct schedtape_task *task)
{
	const struct schedtape_task *leader = schedtape_task_at(task, task->process);
	const struct selection_task identity = {
		.pid = task->pid, .tgid = task->tgid, .ns_pid = task->ns_pid,
		.ns_tgid = leader->pid == task->tgid ? leader->ns_pid : 0,
		.comm = task->comm, .cgroup = task->cgroup,
	};

	return selection_has_task(selection, &identity);
}

#define HINT_LEN	(TEXT_TASK_LEN + 96)

/* Says that a PID of the options is that of the task in its own PID namespace.  Else: false. */
static bool hint_at(const struct selection *selection, char hint[HINT_LEN],
		    const struct schedtape_task_info *task)
{
	const struct select_numbers *pids = &selection->pids.tape, *tids = &selection->tids.tape;
	bool of_pids = pids->nr && task->pid == task->tgid &&
		       select_numbers_has(pids, task->ns_pid);
	char name[TEXT_TASK_LEN];

	if (!task->ns_pid || task->ns_pid == task->pid ||
	    (!of_pids && (!tids->nr || !select_numbers_has(tids, task->ns_pid))))
		return false;
	snprintf(hint, HINT_LEN, "; in its own PID namespace, %s has the PID %u: %s ns:%u",
		 text_task(name, task->comm, task->pid), task->ns_pid,
		 of_pids ? "--pid" : "--tid", task->ns_pid);
	return true;
}

/* Finds the first task that has a PID of the options in its own PID namespace. */
static void find_own_pid(const struct selection *selection, struct schedtape_tape *tape,
			 char hint[HINT_LEN])
{
	const struct schedtape_task_info *tasks;
	const struct schedtape_event *ev;
	struct schedtape_task_info info;
	size_t i, n;

	if (!selection->pids.tape.nr && !selection->tids.tape.nr)
		return;
	tasks = schedtape_tape_tasks(tape, &n);
	for (i = 0; i < n; i++)
		if (hint_at(selection, hint, &tasks[i]))
			return;
	if (tape_rewind_descriptions(tape, NULL))
		return;
	while (tape_next_sound(tape, &ev, NULL) > 0) {
		if (ev->type != STAPE_EV_TASK)
			continue;
		info = tape_described(ev);
		if (hint_at(selection, hint, &info))
			return;
	}
}

void selection_no_match(const struct selection *selection, struct schedtape_tape *tape,
			const char *path, const char *what, const char *also)
{
	char times[CONTENTS_LEN], tasks[CONTENTS_LEN], cpus[CONTENTS_LEN];
	char cgroups[CONTENTS_LEN], hint[HINT_LEN] = "";
	bool of_tasks = selection_of_tasks(selection);

	find_own_pid(selection, tape, hint);
	out_error(path, "no %s of the tape matches%s%s%s%s%s%s%s%s%s%s%s%s%s%s%s%s", what, also,
		  select_pids_any(&selection->pids) ? " --pid" : "",
		  select_pids_any(&selection->tids) ? " --tid" : "",
		  selection->comms.nr ? " --comm" : "",
		  selection->cgroups.names.nr ? " --cgroup" : "",
		  selection->cpus.nr ? " --cpu" : "", selection->times.nr ? " --time" : "", hint,
		  of_tasks ? "; it has the tasks " : "",
		  of_tasks ? contents_tasks(tasks, tape) : "",
		  selection->cgroups.names.nr ? "; it has the cgroups " : "",
		  selection->cgroups.names.nr ? contents_cgroups(cgroups, tape) : "",
		  selection->cpus.nr ? "; it has the CPUs " : "",
		  selection->cpus.nr ? contents_cpus(cpus, tape) : "",
		  selection->times.nr ? "; it is " : "",
		  selection->times.nr ? contents_times(times, tape) : "");
}

void selection_free(struct selection *selection)
{
	select_pids_free(&selection->pids);
	select_pids_free(&selection->tids);
	select_names_free(&selection->comms);
	select_cgroups_free(&selection->cgroups);
	select_numbers_free(&selection->cpus);
	time_ranges_free(&selection->times);
}
