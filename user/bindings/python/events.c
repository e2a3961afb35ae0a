// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The events of a tape: one by one, or all of them in columns.
 */
#include "column.h"
#include "tape.h"

#include <stdlib.h>
#include <string.h>

/* -- one by one ----------------------------------------------------------------- */

enum {
	TIME, CPU, TYPE, PID, CURR_PID, CURR_KIND, NEXT_PID, NEXT_KIND, PREV_STATE, TARGET_CPU,
	CONTEXT, COMM, NEW_COMM, TGID, TASK_CPU, PRIO, BOOSTED, OLD_PID, THREAD, ENDED, LOST,
	LOST_FIRST, LOST_LAST, FIRST, LAST, ARG, NR_FIELDS,
};

static PyStructSequence_Field event_fields[] = {
	[TIME] = { "time_ns", "of CLOCK_MONOTONIC" },
	[CPU] = { "cpu", "the CPU that recorded it; None: a description of a task" },
	[TYPE] = { "event", "switch, waking, wakeup, ..." },
	[PID] = { "pid", "the task that the event is about; not of switch" },
	[CURR_PID] = { "curr_pid", "the task that ran on the CPU before the event" },
	[CURR_KIND] = { "curr_kind", "what ran there: task, idle, other: a task without an event" },
	[NEXT_PID] = { "next_pid", "switch: the task that runs next" },
	[NEXT_KIND] = { "next_kind", "switch: what runs next, as curr_kind" },
	[PREV_STATE] = { "prev_state", "switch: the state in which that task left, as in ps" },
	[TARGET_CPU] = { "target_cpu", "where the task goes" },
	[CONTEXT] = { "context", "waking: task, softirq, hardirq, softirq_task" },
	[COMM] = { "comm", "task: the name" },
	[NEW_COMM] = { "new_comm", "rename: the name after it" },
	[TGID] = { "tgid", "task: PID of its process" },
	[TASK_CPU] = { "task_cpu", "task: where it runs or last ran" },
	[PRIO] = { "prio", "setprio, task: the kernel's priority; -1: deadline" },
	[BOOSTED] = { "boosted", "the same: a waiter lends the priority" },
	[OLD_PID] = { "old_pid", "exec: the PID before" },
	[THREAD] = { "thread", "fork: a thread was made" },
	[ENDED] = { "ended", "exit: it is the task's end; else it begins to exit" },
	[LOST] = { "lost", "lost: how many events; 0: not known" },
	[LOST_FIRST] = { "lost_first_ns", "lost: time of the first one" },
	[LOST_LAST] = { "lost_last_ns", "lost: time of the last one" },
	[FIRST] = { "first_ns", "paused: when that began" },
	[LAST] = { "last_ns", "paused: when it ended" },
	[ARG] = { "arg", "what else there is, see schedtape/event.h" },
	[NR_FIELDS] = { NULL, NULL },
};

static PyStructSequence_Desc event_desc = {
	.name = "schedtape.Event",
	.doc = "An event of a tape. Fields that its type does not have are None.",
	.fields = event_fields,
	.n_in_sequence = NR_FIELDS,
};

static PyTypeObject *event_type;
static PyObject *type_names[SCHEDTAPE_EV_PAUSED + 1];

static PyObject *name_of_type(uint32_t type)
{
	if (type > SCHEDTAPE_EV_PAUSED)
		return NULL;
	if (!type_names[type])
		type_names[type] = PyUnicode_InternFromString(schedtape_event_name(type));
	return Py_XNewRef(type_names[type]);
}

static PyObject *state_of(const struct schedtape_event *ev)
{
	char state[] = { schedtape_state_char(schedtape_switch_state(ev)), '\0' };

	/* Only of a recorded task is it a state of that task. */
	return ev->type == STAPE_EV_SWITCH && ev->curr ? PyUnicode_InternFromString(state) : NULL;
}

static PyObject *target_of(const struct schedtape_event *ev)
{
	switch (ev->type) {
	case STAPE_EV_WAKEUP:
	case STAPE_EV_WAKEUP_NEW:
	case STAPE_EV_MIGRATE:
		return PyLong_FromUnsignedLongLong(ev->arg);
	case SCHEDTAPE_EV_THROTTLE:
	case SCHEDTAPE_EV_UNTHROTTLE:
		return PyLong_FromUnsignedLong(ev->task_cpu);
	case SCHEDTAPE_EV_TRIGGER:
		return PyLong_FromUnsignedLong(ev->trigger.cpu);
	}
	return NULL;
}

static PyObject *pid_of(bool has, uint32_t pid)
{
	return has && pid ? PyLong_FromUnsignedLong(pid) : NULL;
}

static PyObject *ns_of(bool has, uint64_t time)
{
	return has ? PyLong_FromUnsignedLongLong(time) : NULL;
}

static PyObject *kind_of(unsigned int kind)
{
	static const char * const names[] = { "task", "idle", "other" };

	return kind < 3 ? PyUnicode_InternFromString(names[kind]) : NULL;
}

static PyObject *flag(bool has, bool is)
{
	return has ? PyBool_FromLong(is) : NULL;
}

/* Sets what only descriptions of tasks have. */
static void describe(PyObject *event, const struct schedtape_event *ev)
{
	bool task = ev->type == STAPE_EV_TASK, prio = task || ev->type == STAPE_EV_PRIO;

	row_set(event, COMM, task ? tape_text(ev->comm) : NULL);
	row_set(event, NEW_COMM, ev->type == STAPE_EV_RENAME ? tape_text(ev->comm) : NULL);
	row_set(event, TGID, task ? PyLong_FromUnsignedLong(ev->tgid) : NULL);
	row_set(event, TASK_CPU, task ? PyLong_FromUnsignedLong(ev->task_cpu) : NULL);
	row_set(event, PRIO, prio ? PyLong_FromLong(ev->prio) : NULL);
	row_set(event, BOOSTED, flag(prio, ev->boosted));
	row_set(event, OLD_PID, ev->type == STAPE_EV_EXEC ?
			    PyLong_FromUnsignedLong(ev->old_pid) : NULL);
	row_set(event, THREAD, flag(ev->type == STAPE_EV_FORK, ev->arg & STAPE_FORK_THREAD));
	row_set(event, ENDED, flag(ev->type == STAPE_EV_EXIT, schedtape_exit_ended(ev)));
}

/* Sets what only gaps have. */
static void set_gap(PyObject *event, const struct schedtape_event *ev)
{
	bool lost = ev->type == SCHEDTAPE_EV_LOST, paused = ev->type == SCHEDTAPE_EV_PAUSED;

	row_set(event, LOST, ns_of(lost, ev->lost));
	row_set(event, LOST_FIRST, ns_of(lost, ev->lost_first));
	row_set(event, LOST_LAST, ns_of(lost, ev->lost_last));
	row_set(event, FIRST, ns_of(paused, ev->lost_first));
	row_set(event, LAST, ns_of(paused, ev->lost_last));
}

static PyObject *make_event(const struct schedtape_event *ev)
{
	bool on_cpu = ev->cpu != STAPE_CPU_NONE, is_switch = ev->type == STAPE_EV_SWITCH;
	bool has_curr = (on_cpu || ev->curr) && !schedtape_event_is_gap(ev);
	PyObject *event = PyStructSequence_New(event_type);

	if (!event)
		return NULL;
	row_set(event, TIME, PyLong_FromUnsignedLongLong(ev->time));
	row_set(event, CPU, on_cpu ? PyLong_FromUnsignedLong(ev->cpu) : NULL);
	row_set(event, TYPE, name_of_type(ev->type));
	row_set(event, PID, pid_of(!is_switch, ev->pid));
	row_set(event, CURR_PID, pid_of(true, ev->curr));
	row_set(event, CURR_KIND, has_curr ? kind_of(ev->curr_kind) : NULL);
	row_set(event, NEXT_PID, pid_of(is_switch, ev->pid));
	row_set(event, NEXT_KIND, is_switch ? kind_of(schedtape_switch_next(ev)) : NULL);
	row_set(event, PREV_STATE, state_of(ev));
	row_set(event, TARGET_CPU, target_of(ev));
	row_set(event, CONTEXT, ev->type == STAPE_EV_WAKING ?
			    PyUnicode_InternFromString(schedtape_context_name(ev->arg)) : NULL);
	describe(event, ev);
	set_gap(event, ev);
	row_set(event, ARG, PyLong_FromUnsignedLongLong(ev->arg));
	if (PyErr_Occurred())
		Py_CLEAR(event);
	return event;
}

/**
 * struct iterator - reads events
 * @tape: the tape
 * @turn: of the tape: another one means that somebody else has begun to read it
 */
struct iterator {
	PyObject_HEAD
	struct tape_object *tape;
	unsigned long turn;
};

static PyObject *iterator_type;

/* Reads an event.  Goes on behind a page that contradicts itself.  Needs no GIL. */
static int read_event(struct tape_object *tape, struct schedtape_event *ev,
		      struct schedtape_error *err)
{
	int rc;

	while ((rc = schedtape_tape_next(tape->tape, ev, err)) == -EBADMSG)
		tape_note(tape, err->text);
	return rc;
}

/* The same of a pipe, which may have none for a long time. */
static int wait_event(struct tape_object *tape, struct schedtape_event *ev,
		      struct schedtape_error *err)
{
	int rc;

	tape->busy = true;
	Py_BEGIN_ALLOW_THREADS
	rc = read_event(tape, ev, err);
	Py_END_ALLOW_THREADS
	tape->busy = false;
	return rc;
}

static PyObject *iterator_next(PyObject *object)
{
	struct iterator *self = (struct iterator *)object;
	struct schedtape_error err = { "" };
	struct schedtape_event ev;
	int rc;

	if (self->tape->tape && self->turn != self->tape->turn) {
		PyErr_SetString(PyExc_RuntimeError,
				"the tape was read again since this iteration began");
		return NULL;
	}
	if (!tape_is_free(self->tape))
		return NULL;
	rc = self->tape->pipe ? wait_event(self->tape, &ev, &err) :
				read_event(self->tape, &ev, &err);
	if (rc < 0)
		return tape_fail(rc, &err);
	return rc ? make_event(&ev) : NULL;
}

static void iterator_dealloc(PyObject *object)
{
	PyTypeObject *type = Py_TYPE(object);

	Py_DECREF((PyObject *)((struct iterator *)object)->tape);
	PyObject_Free(object);
	Py_DECREF(type);
}

static PyType_Slot iterator_slots[] = {
	{ Py_tp_dealloc, iterator_dealloc },
	{ Py_tp_iter, PyObject_SelfIter },
	{ Py_tp_iternext, iterator_next },
	{ 0, NULL },
};

static PyType_Spec iterator_spec = {
	.name = "schedtape._schedtape.EventIterator",
	.basicsize = sizeof(struct iterator),
	.flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
	.slots = iterator_slots,
};

PyObject *events_iterate(PyObject *object, PyObject *none)
{
	struct tape_object *tape = (struct tape_object *)object;
	struct iterator *self;

	(void)none;
	if (!tape_begin(tape))
		return NULL;
	tape_end(tape);
	self = PyObject_New(struct iterator, (PyTypeObject *)iterator_type);
	if (!self)
		return NULL;
	self->tape = (struct tape_object *)Py_NewRef(object);
	self->turn = tape->turn;
	return (PyObject *)self;
}

/* -- columns ------------------------------------------------------------------------ */

#define FIRST_ROOM	2048	/* briefs */

/**
 * struct rows - briefs of events
 * @room: how many there is memory for
 */
struct rows {
	struct schedtape_brief *data;
	size_t n;
	size_t room;
};

static int add_rows(struct rows *rows, const struct schedtape_briefs *briefs)
{
	struct schedtape_brief *data;
	size_t i, room;

	if (briefs->n > rows->room - rows->n) {
		room = 2 * (rows->n + briefs->n);
		data = reallocarray(rows->data, room, sizeof(*data));
		if (!data)
			return -ENOMEM;
		rows->data = data;
		rows->room = room;
	}
	/* A later library may have more between them. */
	for (i = 0; i < briefs->n; i++)
		rows->data[rows->n + i] = *schedtape_brief_at(briefs, i);
	rows->n += briefs->n;
	return 0;
}

/* Reads all events.  Needs no GIL.  Goes on behind a page that contradicts itself. */
static int fill(struct tape_object *self, struct rows *rows, struct schedtape_error *err)
{
	struct schedtape_briefs briefs = { .size = sizeof(briefs) };
	int rc;

	rows->data = calloc(FIRST_ROOM, sizeof(*rows->data));
	if (!rows->data)
		return -ENOMEM;
	rows->room = FIRST_ROOM;
	while ((rc = schedtape_tape_next_briefs(self->tape, &briefs, err))) {
		if (rc == -EBADMSG) {
			tape_note(self, err->text);
			continue;
		}
		if (rc > 0)
			rc = add_rows(rows, &briefs);
		if (rc < 0)
			return rc;
	}
	return 0;
}

PyObject *events_columns(PyObject *object, PyObject *none)
{
	static const struct row_member members[] = {
		{ "time_ns", 'Q', offsetof(struct schedtape_brief, time) },
		{ "cpu", 'I', offsetof(struct schedtape_brief, cpu) },
		{ "event", 'H', offsetof(struct schedtape_brief, type) },
		{ "pid", 'I', offsetof(struct schedtape_brief, pid) },
		{ "curr_pid", 'I', offsetof(struct schedtape_brief, curr) },
		{ "arg", 'Q', offsetof(struct schedtape_brief, arg) },
	};
	struct tape_object *self = (struct tape_object *)object;
	struct rows rows = { .data = NULL };
	struct schedtape_error err = { "" };
	int rc;

	(void)none;
	if (!tape_begin(self))
		return NULL;
	Py_BEGIN_ALLOW_THREADS
	rc = fill(self, &rows, &err);
	Py_END_ALLOW_THREADS
	tape_end(self);
	if (!rc)
		return columns_of_rows(members, sizeof(members) / sizeof(members[0]), rows.data,
				       rows.n, sizeof(*rows.data));
	free(rows.data);
	return tape_fail(rc, &err);
}

/* A dict of the numbers that columns have for types, by name. */
static int add_types(PyObject *module)
{
	PyObject *types = PyDict_New(), *number, *name;
	int rc = types ? 0 : -1;
	uint32_t i;

	for (i = 1; i <= SCHEDTAPE_EV_PAUSED && !rc; i++) {
		name = name_of_type(i);
		number = PyLong_FromUnsignedLong(i);
		if (!name || !number)
			rc = -1;
		else if (strcmp(schedtape_event_name(i), "unknown"))
			rc = PyDict_SetItem(types, name, number);
		Py_XDECREF(name);
		Py_XDECREF(number);
	}
	if (!rc)
		rc = PyModule_AddObjectRef(module, "EVENT_TYPES", types);
	Py_XDECREF(types);
	return rc;
}

int events_init(PyObject *module)
{
	event_type = PyStructSequence_NewType(&event_desc);
	iterator_type = PyType_FromSpec(&iterator_spec);
	if (!event_type || !iterator_type || add_types(module))
		return -1;
	return PyModule_AddObjectRef(module, "Event", (PyObject *)event_type);
}
