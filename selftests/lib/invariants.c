// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rules that every recording without losses obeys: see st_check().
 */
#include "invariants.h"

#include <stdio.h>
#include <string.h>

enum state { UNSEEN, NEW, RUNNABLE, RUNNING, ASLEEP, DEAD };

static const char * const names[] = {
	"unseen", "new", "runnable", "running", "asleep", "dead",
};

/*
 * @entered: the task has an ENTER event; it may be in the middle of its fork, and then its FORK
 * event follows. @leaves: the task has left the filter; the stream of a CPU may show it running
 * for a while, and a CPU may still emit one event of it: @late. @became: the PID that the task got
 * in an execve(): its CPU still names it by this one, until it writes a switch to the new one.
 */
struct task {
	unsigned char state;
	bool known;
	bool entered;
	bool leaves;
	bool late;
	bool waking;
	uint16_t cpu;
	uint32_t became;
};

static struct task tasks[1 << STAPE_PID_BITS];
/* By CPU, the last one for descriptions: whether recording was paused before its next event. */
static bool paused[1 << 16];
static char text[256];

static const char *wrong(const struct schedtape_event *ev, uint32_t pid, const char *what)
{
	snprintf(text, sizeof(text), "%llu CPU %u %s: task %u, %s, %s",
		 (unsigned long long)ev->time, ev->cpu, schedtape_event_name(ev->type), pid,
		 names[tasks[pid].state], what);
	return text;
}

static const char *check_out(const struct schedtape_event *ev)
{
	struct task *prev = &tasks[ev->curr];
	unsigned int state = schedtape_switch_state(ev);

	if (!prev->known) {
		prev->leaves = false;
		return NULL;
	}
	if (prev->became && prev->became == ev->pid && !state)
		return NULL;
	if (prev->state != UNSEEN && (prev->state != RUNNING || prev->cpu != ev->cpu))
		return wrong(ev, ev->curr, "leaves a CPU that it was not on");
	prev->state = state == STAPE_STATE_RUNNING ? RUNNABLE :
		      state == STAPE_STATE_DEAD ? DEAD : ASLEEP;
	return NULL;
}

static const char *check_in(const struct schedtape_event *ev)
{
	struct task *next = &tasks[ev->pid];

	if (ev->curr && tasks[ev->curr].became == ev->pid) {
		tasks[ev->curr].became = 0;
		return NULL;
	}
	if (next->state != UNSEEN && next->state != RUNNABLE)
		return wrong(ev, ev->pid, "gets a CPU");
	next->state = RUNNING;
	next->cpu = ev->cpu;
	return NULL;
}

static const char *check_fork(const struct schedtape_event *ev)
{
	struct task *child = &tasks[ev->pid];

	if (!ev->curr)
		return wrong(ev, ev->pid, "has no parent");
	if (child->known && child->state != DEAD &&
	    !(child->entered && child->state == UNSEEN))
		return wrong(ev, ev->pid, "is forked");
	memset(child, 0, sizeof(*child));
	child->known = true;
	child->state = NEW;
	return NULL;
}

static const char *check_wakeup(const struct schedtape_event *ev)
{
	struct task *task = &tasks[ev->pid];

	if (!task->waking && task->state != UNSEEN)
		return wrong(ev, ev->pid, "wakes up without a waking");
	task->waking = false;
	/* The task may not be asleep yet, and now it will not go to sleep. */
	if (task->state == ASLEEP)
		task->state = RUNNABLE;
	return NULL;
}

static const char *check_exec(const struct schedtape_event *ev)
{
	if (ev->old_pid == ev->pid)
		return NULL;
	tasks[ev->pid] = tasks[ev->old_pid];
	tasks[ev->old_pid].state = DEAD;
	tasks[ev->old_pid].became = ev->pid;
	return NULL;
}

/* The stream has nothing about the task's past. */
static const char *check_enters(const struct schedtape_event *ev)
{
	struct task *task = &tasks[ev->pid];

	if (task->known && task->state != DEAD)
		return wrong(ev, ev->pid, "enters, and was there");
	task->known = true;
	task->entered = true;
	task->state = UNSEEN;
	task->waking = false;
	return NULL;
}

static const char *check_leaves(const struct schedtape_event *ev)
{
	struct task *task = &tasks[ev->pid];

	if (task->state == DEAD)
		return wrong(ev, ev->pid, "leaves after its end");
	task->known = false;
	task->leaves = true;
	task->late = true;
	return NULL;
}

/* The stream has nothing about the time of the pause. */
static void forget_states(void)
{
	size_t i;

	for (i = 0; i < sizeof(tasks) / sizeof(tasks[0]); i++) {
		tasks[i].state = UNSEEN;
		tasks[i].waking = false;
	}
}

static bool is_late(const struct schedtape_event *ev)
{
	struct task *task = &tasks[ev->pid];

	if (task->known || !task->late)
		return false;
	task->late = false;
	return true;
}

static const char *check_names(const struct schedtape_event *ev)
{
	if (ev->curr && !tasks[ev->curr].known && !tasks[ev->curr].leaves)
		return wrong(ev, ev->curr, "runs, and is not of the filter");
	if (ev->pid && !tasks[ev->pid].known && ev->type != STAPE_EV_FORK)
		return wrong(ev, ev->pid, "is not of the filter");
	return NULL;
}

static const char *check_event(const struct schedtape_event *ev)
{
	struct task *task = &tasks[ev->pid];
	const char *bad;

	if (ev->type == STAPE_EV_TASK && schedtape_task_why(ev) == STAPE_TASK_ENTERS)
		return check_enters(ev);
	if (is_late(ev))
		return NULL;
	bad = check_names(ev);
	if (bad)
		return bad;
	switch (ev->type) {
	case STAPE_EV_FORK:
		return check_fork(ev);
	case STAPE_EV_TASK:
		if (schedtape_task_why(ev) == STAPE_TASK_LEAVES)
			return check_leaves(ev);
		break;
	case STAPE_EV_SWITCH:
		if (ev->curr)
			bad = check_out(ev);
		return bad ? bad : ev->pid ? check_in(ev) : NULL;
	case STAPE_EV_WAKING:
		if (task->state == DEAD)
			return wrong(ev, ev->pid, "is woken");
		task->waking = true;
		break;
	case STAPE_EV_WAKEUP:
		return check_wakeup(ev);
	case STAPE_EV_WAKEUP_NEW:
		if (task->state != NEW && task->state != UNSEEN)
			return wrong(ev, ev->pid, "is woken as a new one");
		task->state = RUNNABLE;
		break;
	case STAPE_EV_EXEC:
		return check_exec(ev);
	case STAPE_EV_RENAME:
		/*
		 * An exec of a thread has its dead leader's PID before the stream shows the
		 * exec.
		 */
		break;
	default:
		if (task->state == DEAD)
			return wrong(ev, ev->pid, "is at its end");
	}
	return NULL;
}

/* Prints the events around the wrong one that name its task. */
static void show(const struct st_record *r, size_t at)
{
	uint32_t pid = r->events[at].pid ? r->events[at].pid : r->events[at].curr;
	size_t i = at > 200 ? at - 200 : 0;

	for (; i < r->n && i < at + 5; i++) {
		const struct schedtape_event *ev = &r->events[i];

		if (ev->pid == pid || ev->curr == pid)
			printf("# %llu CPU %u curr %u %s %u: %#llx\n", (unsigned long long)ev->time,
			       ev->cpu, ev->curr, schedtape_event_name(ev->type), ev->pid,
			       (unsigned long long)ev->arg);
	}
}

static const char *find_broken(const struct st_record *r, const pid_t *roots, size_t n)
{
	const char *bad;
	size_t i;

	memset(tasks, 0, sizeof(tasks));
	memset(paused, 0, sizeof(paused));
	for (i = 0; i < n; i++)
		tasks[roots[i]].known = true;
	if (r->lost)
		return "events were lost";
	for (i = 0; i < r->n; i++) {
		const struct schedtape_event *ev = &r->events[i];

		if (ev->type != SCHEDTAPE_EV_PAUSED) {
			if (paused[(uint16_t)ev->cpu])
				forget_states();
			bad = check_event(ev);
			if (bad) {
				show(r, i);
				return bad;
			}
		}
		paused[(uint16_t)ev->cpu] = ev->type == SCHEDTAPE_EV_PAUSED;
	}
	return NULL;
}

const char *st_check(const struct st_record *r, const pid_t *roots, size_t n)
{
	const char *bad = find_broken(r, roots, n);

	if (bad)
		printf("# %s\n", bad);
	return bad;
}

uint32_t st_foreign(const struct st_record *r, const pid_t *pids, size_t n)
{
	static bool mine[1 << STAPE_PID_BITS];
	size_t i;

	memset(mine, 0, sizeof(mine));
	mine[0] = true;
	for (i = 0; i < n; i++)
		mine[pids[i]] = true;
	for (i = 0; i < r->n; i++) {
		const struct schedtape_event *ev = &r->events[i];

		if (ev->type == STAPE_EV_FORK && mine[ev->curr] && ev->curr)
			mine[ev->pid] = true;
		if (!mine[ev->pid])
			return ev->pid;
		if (!mine[ev->curr])
			return ev->curr;
	}
	return 0;
}
