// SPDX-License-Identifier: GPL-2.0-only
/*
 * The lines of timehist: one for each time that a task spent on a CPU, and what the options add.
 */
#include <errno.h>
#include <string.h>

#include "base/list.h"
#include "common/color.h"
#include "common/heading.h"
#include "timehist/internal.h"

#define TASK_WIDTH	30
#define TIME_WIDTH	9	/* of ms with three digits */
#define PRIO_WIDTH	8	/* of "120->110" */

#define DEADLINE_PRIO	(-1)	/* of all tasks of SCHED_DEADLINE */
#define PRIO_MOST	139

/* -- priorities ------------------------------------------------------------ */

/* "-1,0-99,120"; select_numbers_parse() has no negative numbers. */
int prio_parse(struct timehist *th, const char *text)
{
	struct select_numbers *prios = &th->prios;
	int ret;

	th->prio = true;
	if (!strncmp(text, "-1", 2) && (!text[2] || text[2] == ',')) {
		th->prio_deadline = true;
		if (!text[2])
			return 0;
		text += 3;
	}
	ret = select_numbers_parse(prios, text);
	return ret ? ret : prios->ranges[prios->nr - 1].last > PRIO_MOST ? -EINVAL : 0;
}

/* Returns the priority at the present event; IDENTITY_NO_PRIO: not known. */
static int32_t prio_now(const struct timehist *th, uint32_t pid)
{
	return identities_get(th->identities, pid)->prio;
}

bool prio_selects(const struct timehist *th, uint32_t pid)
{
	int32_t prio;

	if (!th->prio)
		return true;
	prio = prio_now(th, pid);
	if (prio == DEADLINE_PRIO || prio == IDENTITY_NO_PRIO)
		return prio == DEADLINE_PRIO && th->prio_deadline;
	return th->prios.nr && select_numbers_has(&th->prios, prio);
}

int prio_began(struct timehist *th, const struct schedtape_task *task,
	       const struct schedtape_run *run)
{
	struct prio_begun *begun;

	begun = schedtape_list_reach(th->begun, run->cpu, &th->nr_begun, sizeof(*begun));
	if (!begun)
		return -ENOMEM;
	th->begun = begun;
	begun[run->cpu].time = run->begin;
	begun[run->cpu].prio = prio_now(th, task->pid);
	return 0;
}

/* Returns the priority at the begin of a run; IDENTITY_NO_PRIO: not known. */
static int32_t prio_begin(const struct timehist *th, const struct schedtape_run *run)
{
	if (run->cpu >= th->nr_begun || th->begun[run->cpu].time != run->begin)
		return IDENTITY_NO_PRIO;
	return th->begun[run->cpu].prio;
}

/* "120", or "120->98" if it changed during the run; "-": not known */
static void prio_text(struct timehist *th, const struct schedtape_task *task,
		      const struct schedtape_run *run)
{
	int32_t prio = prio_now(th, task->pid), begin = prio_begin(th, run);

	if (prio == IDENTITY_NO_PRIO) {
		lines_char(&th->lines, '-');
		return;
	}
	if (begin != IDENTITY_NO_PRIO && begin != prio) {
		lines_signed(&th->lines, begin);
		lines_put(&th->lines, "->");
	}
	lines_signed(&th->lines, prio);
}

static void put_json(struct lines *lines, const char *key, int32_t prio)
{
	lines_put(lines, key);
	if (prio == IDENTITY_NO_PRIO)
		lines_put(lines, "null");
	else
		lines_signed(lines, prio);
}

static void prio_json(struct timehist *th, const struct schedtape_task *task,
		      const struct schedtape_run *run)
{
	put_json(&th->lines, ",\"prio\":", prio_now(th, task->pid));
	put_json(&th->lines, ",\"begin_prio\":", prio_begin(th, run));
}

/* -- text ------------------------------------------------------------------ */

static void put_time(struct timehist *th, uint64_t ns)
{
	char *from = th->lines.at;

	th->lines.at = time_text_put_line(&th->time, from, ns);
	lines_align(&th->lines, from, time_text_width(&th->time));
}

/* "    1.234567 [0003]  " */
static void put_place(struct timehist *th, uint64_t time, uint32_t cpu, char mark)
{
	struct lines *lines = &th->lines;
	uint32_t i;

	put_time(th, time);
	lines_put(lines, " [");
	lines_number_slow(lines, cpu, 4);
	lines_put(lines, "]  ");
	if (!th->visual)
		return;
	for (i = 0; i < th->nr_cpus; i++)
		lines_char(lines, i == cpu ? mark : ' ');
	lines_put(lines, "  ");
}

static void put_name(struct lines *lines, const char *comm, uint32_t pid)
{
	char name[TEXT_TASK_LEN];

	lines_put(lines, text_task(name, comm, pid));
}

/* Puts a task, or what else a CPU runs. */
static void put_who(struct timehist *th, uint32_t pid, unsigned int kind)
{
	if (pid)
		put_name(&th->lines, identities_get(th->identities, pid)->comm, pid);
	else
		lines_put(&th->lines, identities_kind(kind));
}

/* Puts ns as ms with three digits, rounded down as perf does; SHEET_NONE: "-". */
static void put_ms(struct lines *lines, uint64_t ns)
{
	char *from = lines->at;

	if (ns == SHEET_NONE) {
		lines_char(lines, '-');
	} else {
		lines_number(lines, ns / 1000000);
		lines_char(lines, '.');
		lines_number_slow(lines, ns / 1000 % 1000, 3);
	}
	lines_align(lines, from, TIME_WIDTH);
}

static uint64_t wait_of(const struct schedtape_run *run)
{
	return run->left ? run->begin - run->left : SHEET_NONE;
}

/* As perf: only after a wake-up.  latency counts delays after a preemption, too. */
static uint64_t delay_of(const struct schedtape_run *run)
{
	return run->woke ? run->begin - run->woke : SHEET_NONE;
}

/* '?': the tape does not show in which state the task left, or that it left at all. */
static char state_of(const struct schedtape_run *run)
{
	return run->state == SCHEDTAPE_NONE ? '?' : schedtape_state_char(run->state);
}

static void put_delay(struct lines *lines, uint64_t ns)
{
	unsigned int color = ns == SHEET_NONE ? COLOR_PLAIN : color_of_delay(ns);

	lines_put(lines, color_on(color));
	put_ms(lines, ns);
	lines_put(lines, color_off(color));
}

static void text_run(struct timehist *th, const struct schedtape_task *task,
		     const struct schedtape_run *run)
{
	struct lines *lines = &th->lines;
	char *from, call[SYSCALLS_NAME];

	put_place(th, run->end, run->cpu, 's');
	from = lines->at;
	put_name(lines, task->comm, task->pid);
	lines_fill(lines, from, TASK_WIDTH);
	if (th->show_prio) {
		lines_put(lines, "  ");
		from = lines->at;
		prio_text(th, task, run);
		lines_fill(lines, from, PRIO_WIDTH);
	}
	lines_put(lines, "  ");
	put_ms(lines, wait_of(run));
	lines_put(lines, "  ");
	put_delay(lines, delay_of(run));
	lines_put(lines, "  ");
	put_ms(lines, run->end - run->begin);
	if (th->state) {
		lines_put(lines, "      ");
		lines_char(lines, state_of(run));
	}
	if (th->show_calls && run->syscall != SCHEDTAPE_SYSCALL_UNKNOWN) {
		lines_put(lines, "  in ");
		lines_put(lines, syscalls_name(&th->syscalls, run->syscall, call));
	}
	if (th->next && run->state != SCHEDTAPE_NONE) {
		lines_put(lines, "  next: ");
		put_who(th, th->next_pid, th->next_kind);
	}
	lines_end(lines);
}

/* "    1.234567 [0003]  gcc:31949   awakened: sh:4" */
static void text_event(struct timehist *th, const struct schedtape_event *ev)
{
	bool moves = ev->type == STAPE_EV_MIGRATE;
	struct lines *lines = &th->lines;
	char *from;

	put_place(th, ev->time, ev->cpu, moves ? 'm' : 'w');
	from = lines->at;
	put_who(th, ev->curr, ev->curr_kind);
	lines_fill(lines, from, TASK_WIDTH);
	lines_put(lines, moves ? "  migrated: " : "  awakened: ");
	put_who(th, ev->pid, 0);
	if (moves) {
		lines_put(lines, " cpu => ");
		lines_number(lines, ev->arg);
	}
	lines_end(lines);
}

/* -- JSON ------------------------------------------------------------------ */

static void json_name(struct lines *lines, const char *key, const char *comm)
{
	char name[TEXT_NAME_LEN];

	lines_put(lines, key);
	lines_quoted(lines, text_name(name, comm));
	lines_char(lines, '"');
}

static void json_who(struct timehist *th, const char *pid_key, const char *comm_key, uint32_t pid)
{
	lines_count_or_null(&th->lines, pid_key, pid ? pid : SHEET_NONE);
	if (pid)
		json_name(&th->lines, comm_key, identities_get(th->identities, pid)->comm);
}

/*
 * JSON of timehist:
 * @time_ns: When the task left its CPU, or the event happened.
 * @cpu: Number of the CPU; null for descriptions.
 * @event: "run": a time that a task spent on a CPU; "wakeup", "migrate", "lost" or "paused".
 * @pid: PID of the task: the one that ran, was woken, or moves.
 * @tgid: PID of its process.
 * @comm: Its name.
 * @wait_ns: Wait time, see schedtape-timehist(1); null if it is not known, like the next one.
 * @delay_ns: Scheduling delay.
 * @run_ns: Time on the CPU.
 * @state: The state in which it left, or "?".
 * @syscall: The system call that it slept in, as @syscalls[].syscall of report; absent if it is not
 *	known.
 * @prio: The kernel's priority with which it left, or null; with --show-prio, like the next one.
 * @begin_prio: That with which it got the CPU.
 * @next_pid: PID of the task that ran next, or null; with --next, like the next one.
 * @next_comm: Its name.
 * @curr_pid: Of wakeup and migrate: PID of the task that ran on the CPU, or null.
 * @curr_comm: Its name.
 * @to_cpu: Of migrate: the CPU that the task moves to.
 * @lost: Of lost: number of events that are missing.
 * @first_ns: Of lost and paused: when that began.
 * @last_ns: When it ended.
 */
static void json_run(struct timehist *th, const struct schedtape_task *task,
		     const struct schedtape_run *run)
{
	struct lines *lines = &th->lines;
	char call[SYSCALLS_NAME];

	lines_count(lines, "{\"time_ns\":", run->end);
	lines_count(lines, ",\"cpu\":", run->cpu);
	lines_put(lines, ",\"event\":\"run\"");
	lines_count(lines, ",\"pid\":", task->pid);
	lines_count(lines, ",\"tgid\":", task->tgid);
	json_name(lines, ",\"comm\":\"", task->comm);
	lines_count_or_null(lines, ",\"wait_ns\":", wait_of(run));
	lines_count_or_null(lines, ",\"delay_ns\":", delay_of(run));
	lines_count(lines, ",\"run_ns\":", run->end - run->begin);
	lines_put(lines, ",\"state\":\"");
	lines_char(lines, state_of(run));
	lines_char(lines, '"');
	if (th->show_prio)
		prio_json(th, task, run);
	if (run->syscall != SCHEDTAPE_SYSCALL_UNKNOWN) {
		lines_put(lines, ",\"syscall\":\"");
		lines_put(lines, syscalls_name(&th->syscalls, run->syscall, call));
		lines_char(lines, '"');
	}
	if (th->next && run->state != SCHEDTAPE_NONE)
		json_who(th, ",\"next_pid\":", ",\"next_comm\":\"", th->next_pid);
	lines_char(lines, '}');
	lines_end(lines);
}

static void json_event(struct timehist *th, const struct schedtape_event *ev)
{
	struct lines *lines = &th->lines;

	lines_count(lines, "{\"time_ns\":", ev->time);
	lines_count(lines, ",\"cpu\":", ev->cpu);
	lines_put(lines, ",\"event\":\"");
	lines_put(lines, ev->type == STAPE_EV_MIGRATE ? "migrate\"" : "wakeup\"");
	json_who(th, ",\"pid\":", ",\"comm\":\"", ev->pid);
	json_who(th, ",\"curr_pid\":", ",\"curr_comm\":\"", ev->curr);
	if (ev->type == STAPE_EV_MIGRATE)
		lines_count(lines, ",\"to_cpu\":", ev->arg);
	lines_char(lines, '}');
	lines_end(lines);
}

/* -- both ------------------------------------------------------------------ */

void bursts_head(struct timehist *th)
{
	struct lines *lines = &th->lines;
	int width = time_text_width(&th->time);
	int cpus = th->visual ? th->nr_cpus + 2 : 0;
	int prio = th->show_prio ? PRIO_WIDTH + 2 : 0;
	const char *on = color_on(COLOR_HEADING), *off = color_off(COLOR_HEADING);

	if (th->json) {
		lines_put(lines, "{\"format\":\"schedtape-timehist\",\"version\":1}");
		lines_end(lines);
		return;
	}
	printf("%s%*s %-6s  %*s%-30s%-*s  %9s  %9s  %9s%s%s\n", on, width, "time", "cpu", cpus, "",
	       "task name", prio, prio ? "  prio" : "", "wait time", "sch delay", "run time",
	       th->state ? "  state" : "", off);
	printf("%s%*s %6s  %*s%-30s%*s  %9s  %9s  %9s%s\n", on, width, "", "", cpus, "", "[PID]",
	       prio, "", "(msec)", "(msec)", "(msec)", off);
}

void bursts_run(struct timehist *th, const struct schedtape_task *task,
		const struct schedtape_run *run)
{
	th->printed = true;
	if (th->json)
		json_run(th, task, run);
	else
		text_run(th, task, run);
}

static bool selects(const struct timehist *th, uint32_t pid)
{
	return selection_has_identity(&th->selection, th->identities, pid);
}

void bursts_event(struct timehist *th, const struct schedtape_event *ev)
{
	bool gap = schedtape_event_is_gap(ev);

	if (!selection_has_cpu(&th->selection, ev->cpu) ||
	    !(gap ? selection_overlaps(&th->selection, ev->lost_first, ev->lost_last) :
		    selection_has_time(&th->selection, ev->time)))
		return;
	if (gap) {
		if (th->json)
			gap_lines_json(&th->lines, ev);
		else
			gap_lines_text(&th->lines, &th->time, ev);
		return;
	}
	switch (ev->type) {
	case STAPE_EV_WAKEUP:
	case STAPE_EV_WAKEUP_NEW:
		if (!th->wakeups)
			return;
		break;
	case STAPE_EV_MIGRATE:
		if (!th->migrations)
			return;
		break;
	default:
		return;
	}
	if ((!selects(th, ev->pid) && !selects(th, ev->curr)) || !prio_selects(th, ev->pid))
		return;
	th->printed = true;
	if (th->json)
		json_event(th, ev);
	else
		text_event(th, ev);
}
