// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Makes tables of what the events of a tape mean: tasks, runs, bursts, waits, and edges from wakers
 * to wakees.
 */
#include "column.h"
#include "tape.h"

#include <stdlib.h>
#include <string.h>

/* -- collecting ------------------------------------------------------------------ */

enum { R_TASK, R_CPU, R_BEGIN, R_END, R_STATE, R_SYSCALL, NR_RUNS };
enum { B_TASK, B_BEGIN, B_END, B_CPU_TIME, B_STATE, NR_BURSTS };
enum { W_TASK, W_CPU, W_BEGIN, W_END, W_WOKEN, W_WAKER, W_CONTEXT, NR_WAITS };
enum { E_WAKER, E_WAKEE, E_COUNT, NR_EDGES };

#define NO_STATE	255

/**
 * struct burst - a task's burst that is not over
 * @begin: 0: it has none
 * @time: how long it has run so far
 */
struct burst {
	uint64_t begin;
	uint64_t time;
};

/**
 * struct found - what is collected
 * @open: by index of a task, @nr_open of them
 */
struct found {
	struct column runs[NR_RUNS];
	struct column bursts[NR_BURSTS];
	struct column waits[NR_WAITS];
	struct burst *open;
	size_t nr_open;
};

static uint8_t state_of(uint32_t state)
{
	return state == SCHEDTAPE_NONE ? NO_STATE : state;
}

/* Makes @open reach a task. */
static int reach(struct found *found, uint32_t index)
{
	size_t n = found->nr_open ? found->nr_open : 64;
	struct burst *open;

	if (index < found->nr_open)
		return 0;
	while (n <= index)
		n *= 2;
	open = reallocarray(found->open, n, sizeof(*open));
	if (!open)
		return -ENOMEM;
	memset(open + found->nr_open, 0, (n - found->nr_open) * sizeof(*open));
	found->open = open;
	found->nr_open = n;
	return 0;
}

static int add_run(struct found *found, uint32_t task, const struct schedtape_run *run)
{
	struct column *runs = found->runs;
	bool known = run->syscall != SCHEDTAPE_SYSCALL_UNKNOWN;

	return column_add_u32(&runs[R_TASK], task) || column_add_u32(&runs[R_CPU], run->cpu) ||
	       column_add_u64(&runs[R_BEGIN], run->begin) ||
	       column_add_u64(&runs[R_END], run->end) ||
	       column_add_u8(&runs[R_STATE], state_of(run->state)) ||
	       column_add_u64(&runs[R_SYSCALL], known ? run->syscall : UINT64_MAX) ? -ENOMEM : 0;
}

static int end_burst(struct found *found, uint32_t task, uint32_t state, uint64_t time)
{
	struct column *bursts = found->bursts;
	struct burst burst = found->open[task];

	found->open[task] = (struct burst){ 0 };
	return column_add_u32(&bursts[B_TASK], task) ||
	       column_add_u64(&bursts[B_BEGIN], burst.begin) ||
	       column_add_u64(&bursts[B_END], time) ||
	       column_add_u64(&bursts[B_CPU_TIME], burst.time) ||
	       column_add_u8(&bursts[B_STATE], state_of(state)) ? -ENOMEM : 0;
}

/* A burst goes on over preemptions. */
static int add_burst(struct found *found, uint32_t task, const struct schedtape_run *run)
{
	struct burst *open;

	if (reach(found, task))
		return -ENOMEM;
	open = &found->open[task];
	if (!open->begin)
		open->begin = run->begin;
	open->time += run->end - run->begin;
	/* The task may have gone on within the loss, so the burst ends only where that is known. */
	if (run->state == STAPE_STATE_RUNNING || run->state == SCHEDTAPE_NONE)
		return 0;
	return end_burst(found, task, run->state, run->end);
}

/* The task has left the filter, or the tape ends, in a burst. */
static int on_end(void *arg, const struct schedtape_task *task, uint64_t time)
{
	struct found *found = arg;

	if (task->index >= found->nr_open || !found->open[task->index].begin)
		return 0;
	return end_burst(found, task->index, SCHEDTAPE_NONE, time);
}

/* Adds the time that a task waited for the CPU before a run, if the tape shows it. */
static int add_wait(struct found *found, uint32_t task, const struct schedtape_run *run)
{
	bool preempted = run->left && run->left_state == STAPE_STATE_RUNNING;
	uint64_t begin = run->woke ? run->woke : preempted ? run->left : 0;
	struct column *waits = found->waits;

	if (!begin)
		return 0;
	return column_add_u32(&waits[W_TASK], task) || column_add_u32(&waits[W_CPU], run->cpu) ||
	       column_add_u64(&waits[W_BEGIN], begin) ||
	       column_add_u64(&waits[W_END], run->begin) ||
	       column_add_u8(&waits[W_WOKEN], !!run->woke) ||
	       column_add_u32(&waits[W_WAKER], run->waker) ||
	       column_add_u8(&waits[W_CONTEXT], state_of(run->woke_in)) ? -ENOMEM : 0;
}

static int on_ran(void *arg, const struct schedtape_task *task, const struct schedtape_run *run)
{
	struct found *found = arg;

	return add_run(found, task->index, run) || add_burst(found, task->index, run) ||
	       add_wait(found, task->index, run) ? -ENOMEM : 0;
}

/* The tape ends while the task waits: its CPU is SCHEDTAPE_NONE. */
static int on_waits(void *arg, const struct schedtape_task *task, const struct schedtape_run *run)
{
	return add_wait(arg, task->index, run);
}

static const struct schedtape_timeline_ops ops = {
	.size = sizeof(ops),
	.slept = on_end,
	.left = on_end,
	.exited = on_end,
	.ended = on_end,
	.ran = on_ran,
	.waits = on_waits,
};

/* -- tasks ----------------------------------------------------------------------------- */

enum {
	T_INDEX, T_PID, T_TGID, T_COMM, T_PROCESS, T_PARENT, T_START, T_END, T_EXITED, T_CPU_TIME,
	T_BURSTS, T_SLEEPS, T_STOPS, T_PREEMPTIONS, T_WAKEUPS, T_WAKEUPS_BY_TASK, T_MIGRATIONS,
	T_DELAYS, T_DELAY_TOTAL, T_DELAY_MAX, T_DELAY_MAX_END, T_POLICY, T_NICE, T_RT_PRIORITY,
	T_CGROUP, NR_FIELDS,
};

static PyStructSequence_Field task_fields[] = {
	[T_INDEX] = { "index", "number in the timeline: a PID that is used again is another task" },
	[T_PID] = { "pid", "its last PID" },
	[T_TGID] = { "tgid", "PID of its process" },
	[T_COMM] = { "comm", "its last name" },
	[T_PROCESS] = { "process_index", "index of the task that leads its process, or None" },
	[T_PARENT] = { "parent_index", "index of the task that forked it, or None" },
	[T_START] = { "start_ns", "not before the recording" },
	[T_END] = { "end_ns", "not after the recording" },
	[T_EXITED] = { "exited", "it ended during the recording" },
	[T_CPU_TIME] = { "cpu_time_ns", "on a CPU" },
	[T_BURSTS] = { "bursts", "how many times it ran from a wake-up until it slept" },
	[T_SLEEPS] = { "sleeps", "how often it slept" },
	[T_STOPS] = { "stops", "how often it was stopped" },
	[T_PREEMPTIONS] = { "preemptions", "how often it was preempted" },
	[T_WAKEUPS] = { "wakeups", "how often it was woken" },
	[T_WAKEUPS_BY_TASK] = { "wakeups_by_task", "by another task of the tape" },
	[T_MIGRATIONS] = { "migrations", "how often it moved to another CPU" },
	[T_DELAYS] = { "delays", "how often it was runnable without a CPU" },
	[T_DELAY_TOTAL] = { "delay_total_ns", "for how long in all" },
	[T_DELAY_MAX] = { "delay_max_ns", "for how long at most" },
	[T_DELAY_MAX_END] = { "delay_max_end_ns", "when that ended" },
	[T_POLICY] = { "policy", "fifo, other, ..., or None" },
	[T_NICE] = { "nice", "its nice value, or None" },
	[T_RT_PRIORITY] = { "rt_priority", "its real-time priority, or None" },
	[T_CGROUP] = { "cgroup", "id of its cgroup; 0: not known" },
	[NR_FIELDS] = { NULL, NULL },
};

static PyStructSequence_Desc task_desc = {
	.name = "schedtape.Task",
	.doc = "A task, from its fork or the start of the recording to its end or that of the "
	       "recording.",
	.fields = task_fields,
	.n_in_sequence = NR_FIELDS,
};

static PyTypeObject *task_type;

static void set_count(PyObject *task, int field, uint64_t count)
{
	row_set(task, field, PyLong_FromUnsignedLongLong(count));
}

static void set_index(PyObject *task, int field, uint32_t index)
{
	row_set(task, field, index == SCHEDTAPE_NONE ? NULL : PyLong_FromUnsignedLong(index));
}

static PyObject *make_task(const struct schedtape_task *from)
{
	PyObject *task = PyStructSequence_New(task_type);

	if (!task)
		return NULL;
	set_count(task, T_INDEX, from->index);
	set_count(task, T_PID, from->pid);
	set_count(task, T_TGID, from->tgid);
	row_set(task, T_COMM, tape_text(from->comm));
	set_index(task, T_PROCESS, from->process);
	set_index(task, T_PARENT, from->parent);
	set_count(task, T_START, from->start);
	set_count(task, T_END, from->end);
	row_set(task, T_EXITED, PyBool_FromLong(from->exited));
	set_count(task, T_CPU_TIME, from->cpu_time);
	set_count(task, T_BURSTS, from->bursts);
	set_count(task, T_SLEEPS, from->sleeps);
	set_count(task, T_STOPS, from->stops);
	set_count(task, T_PREEMPTIONS, from->preemptions);
	set_count(task, T_WAKEUPS, from->wakeups);
	set_count(task, T_WAKEUPS_BY_TASK, from->wakeups_by_task);
	set_count(task, T_MIGRATIONS, from->migrations);
	set_count(task, T_DELAYS, from->delays);
	set_count(task, T_DELAY_TOTAL, from->delay_total);
	set_count(task, T_DELAY_MAX, from->delay_max);
	set_count(task, T_DELAY_MAX_END, from->delay_max_time);
	row_set(task, T_POLICY, from->prio_known ?
			    PyUnicode_InternFromString(schedtape_policy_name(from->policy)) : NULL);
	row_set(task, T_NICE, from->prio_known ? PyLong_FromLong(from->nice) : NULL);
	row_set(task, T_RT_PRIORITY, from->prio_known ? PyLong_FromUnsignedLong(from->rt_priority) :
						    NULL);
	set_count(task, T_CGROUP, from->cgroup);
	if (PyErr_Occurred())
		Py_CLEAR(task);
	return task;
}

static PyObject *make_tasks(const struct schedtape_timeline *timeline)
{
	const struct schedtape_task *tasks;
	PyObject *list, *task;
	size_t i, n;

	tasks = schedtape_timeline_tasks(timeline, &n);
	list = PyList_New(0);
	for (i = 0; i < n && list; i++) {
		task = make_task(&tasks[i]);
		if (!task || PyList_Append(list, task))
			Py_CLEAR(list);
		Py_XDECREF(task);
	}
	return list;
}

static PyObject *make_edges(const struct schedtape_timeline *timeline)
{
	struct column columns[NR_EDGES] = {
		[E_WAKER] = { "waker_index", 'I' }, [E_WAKEE] = { "wakee_index", 'I' },
		[E_COUNT] = { "count", 'Q' },
	};
	const struct schedtape_edge *edges;
	size_t i, n;

	edges = schedtape_timeline_edges(timeline, &n);
	for (i = 0; i < n; i++)
		if (column_add_u32(&columns[E_WAKER], edges[i].waker) ||
		    column_add_u32(&columns[E_WAKEE], edges[i].wakee) ||
		    column_add_u64(&columns[E_COUNT], edges[i].count)) {
			columns_free(columns, NR_EDGES);
			return PyErr_NoMemory();
		}
	return columns_to_dict(columns, NR_EDGES);
}

/* -- the result ---------------------------------------------------------------------------- */

/* Returns a tuple: tasks, runs, bursts, waits, edges. */
static PyObject *to_tuple(struct found *found, const struct schedtape_timeline *timeline)
{
	PyObject *all[] = {
		make_tasks(timeline), columns_to_dict(found->runs, NR_RUNS),
		columns_to_dict(found->bursts, NR_BURSTS), columns_to_dict(found->waits, NR_WAITS),
		make_edges(timeline),
	};
	size_t i, n = sizeof(all) / sizeof(*all);
	PyObject *tuple = NULL;

	if (!PyErr_Occurred())
		tuple = PyTuple_Pack(n, all[0], all[1], all[2], all[3], all[4]);
	for (i = 0; i < n; i++)
		Py_XDECREF(all[i]);
	return tuple;
}

PyObject *timeline_read(PyObject *object, PyObject *none)
{
	struct found found = {
		.runs = {
			[R_TASK] = { "task_index", 'I' }, [R_CPU] = { "cpu", 'I' },
			[R_BEGIN] = { "begin_ns", 'Q' }, [R_END] = { "end_ns", 'Q' },
			[R_STATE] = { "state", 'B' }, [R_SYSCALL] = { "syscall_number", 'Q' },
		},
		.bursts = {
			[B_TASK] = { "task_index", 'I' }, [B_BEGIN] = { "begin_ns", 'Q' },
			[B_END] = { "end_ns", 'Q' }, [B_CPU_TIME] = { "cpu_time_ns", 'Q' },
			[B_STATE] = { "state", 'B' },
		},
		.waits = {
			[W_TASK] = { "task_index", 'I' }, [W_CPU] = { "cpu", 'I' },
			[W_BEGIN] = { "begin_ns", 'Q' }, [W_END] = { "end_ns", 'Q' },
			[W_WOKEN] = { "woken", 'B' }, [W_WAKER] = { "waker_index", 'I' },
			[W_CONTEXT] = { "context", 'B' },
		},
	};
	struct tape_object *self = (struct tape_object *)object;
	struct schedtape_timeline *timeline = NULL;
	struct schedtape_error err = { "" };
	PyObject *result;
	int rc;

	(void)none;
	if (!tape_begin(self))
		return NULL;
	Py_BEGIN_ALLOW_THREADS
	rc = schedtape_timeline_run(self->tape, &ops, &found, &timeline, &err);
	Py_END_ALLOW_THREADS
	tape_end(self);
	free(found.open);
	if (!rc) {
		if (schedtape_timeline_damage(timeline))
			tape_note(self, schedtape_timeline_damage(timeline));
		result = to_tuple(&found, timeline);
		schedtape_timeline_free(timeline);
		return result;
	}
	columns_free(found.runs, NR_RUNS);
	columns_free(found.bursts, NR_BURSTS);
	columns_free(found.waits, NR_WAITS);
	return tape_fail(rc, &err);
}

int timeline_init(PyObject *module)
{
	task_type = PyStructSequence_NewType(&task_desc);
	return task_type ? PyModule_AddObjectRef(module, "Task", (PyObject *)task_type) : -1;
}
