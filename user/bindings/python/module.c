// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The module schedtape._schedtape: a tape that is open, with the methods that need no reading.  The
 * package's Python files make the rest of it.
 */
#include "column.h"
#include "tape.h"

#include <stdio.h>
#include <string.h>

PyObject *tape_error;

PyObject *tape_fail(int rc, const struct schedtape_error *err)
{
	PyObject *args;

	if (rc == -EINTR && PyErr_Occurred())
		return NULL;
	if (rc == -ENOMEM)
		return PyErr_NoMemory();
	args = Py_BuildValue("(iN)", -rc,
			     tape_text(err && err->text[0] ? err->text : strerror(-rc)));
	if (args)
		PyErr_SetObject(tape_error, args);
	Py_XDECREF(args);
	return NULL;
}

PyObject *tape_text(const char *bytes)
{
	return PyUnicode_DecodeUTF8(bytes, strlen(bytes), "backslashreplace");
}

void tape_note(struct tape_object *self, const char *why)
{
	if (!self->damage.text[0])
		snprintf(self->damage.text, sizeof(self->damage.text), "%s", why);
}

static bool is_others(const struct tape_object *self)
{
	return self->opener != getpid();
}

bool tape_is_free(const struct tape_object *self)
{
	if (!self->tape)
		PyErr_SetString(PyExc_ValueError, "the tape is closed");
	else if (is_others(self))
		PyErr_SetString(PyExc_RuntimeError,
				"this process is a child of the one that opened the tape: "
				"open it again");
	else if (self->busy)
		PyErr_SetString(PyExc_RuntimeError,
				"another thread is reading the tape: open it once for each thread");
	return self->tape && !is_others(self) && !self->busy;
}

bool tape_begin(struct tape_object *self)
{
	struct schedtape_error err = { "" };
	int rc;

	if (!tape_is_free(self))
		return false;
	rc = schedtape_tape_rewind(self->tape, &err);
	if (rc) {
		tape_fail(rc, &err);
		return false;
	}
	self->turn++;
	self->busy = true;
	return true;
}

void tape_end(struct tape_object *self)
{
	self->busy = false;
}

/* -- opening and closing ------------------------------------------------------ */

/* A wait for a pipe goes on, unless Python's handler of the signal has raised an exception. */
static int interrupted(void *none)
{
	PyGILState_STATE state = PyGILState_Ensure();
	int rc = PyErr_CheckSignals();

	(void)none;
	PyGILState_Release(state);
	return rc;
}

static PyObject *tape_open(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
	static char *names[] = { "path", NULL };
	struct schedtape_error err = { "" };
	struct tape_object *self;
	struct schedtape_tape *tape;
	PyObject *path;
	int rc;

	if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O&", names, PyUnicode_FSConverter, &path))
		return NULL;
	Py_BEGIN_ALLOW_THREADS
	rc = schedtape_tape_open_interruptible(PyBytes_AsString(path), interrupted, NULL, &tape,
					       &err);
	Py_END_ALLOW_THREADS
	Py_DECREF(path);
	if (rc)
		return tape_fail(rc, &err);
	self = (struct tape_object *)((allocfunc)PyType_GetSlot(type, Py_tp_alloc))(type, 0);
	if (!self) {
		schedtape_tape_close(tape);
		return NULL;
	}
	self->tape = tape;
	self->pipe = schedtape_tape_is_pipe(tape);
	self->opener = getpid();
	return (PyObject *)self;
}

static PyObject *tape_close(PyObject *object, PyObject *none)
{
	struct tape_object *self = (struct tape_object *)object;

	(void)none;
	if (self->tape && !is_others(self) && !tape_is_free(self))
		return NULL;
	if (self->tape && !is_others(self))
		schedtape_tape_close(self->tape);
	self->tape = NULL;
	Py_RETURN_NONE;
}

static void tape_dealloc(PyObject *object)
{
	struct tape_object *self = (struct tape_object *)object;
	PyTypeObject *type = Py_TYPE(object);

	if (self->tape && !is_others(self))
		schedtape_tape_close(self->tape);
	samples_free(self);
	((freefunc)PyType_GetSlot(type, Py_tp_free))(object);
	Py_DECREF(type);
}

/* -- what a tape says of itself -------------------------------------------------- */

static PyObject *get_meta(PyObject *object, void *closure)
{
	struct tape_object *self = (struct tape_object *)object;
	const char *text;

	(void)closure;
	if (!tape_is_free(self))
		return NULL;
	text = schedtape_tape_meta(self->tape);
	return text ? tape_text(text) : PyErr_NoMemory();
}

static PyObject *get_damage(PyObject *object, void *closure)
{
	struct tape_object *self = (struct tape_object *)object;
	const char *text;

	(void)closure;
	if (!tape_is_free(self))
		return NULL;
	text = schedtape_tape_damage(self->tape);
	if (!text && self->damage.text[0])
		text = self->damage.text;
	if (!text)
		Py_RETURN_NONE;
	return tape_text(text);
}

/* A time of the tape's end; @closure: where it is in there. */
static PyObject *get_time(PyObject *object, void *closure)
{
	struct tape_object *self = (struct tape_object *)object;
	const struct schedtape_end *end;

	if (!tape_is_free(self))
		return NULL;
	end = schedtape_tape_end(self->tape);
	return PyLong_FromUnsignedLongLong(*(uint64_t *)((char *)end + (size_t)closure));
}

static PyObject *get_pipe(PyObject *object, void *closure)
{
	(void)closure;
	return PyBool_FromLong(((struct tape_object *)object)->pipe);
}

static PyObject *get_description_count(PyObject *object, void *closure)
{
	struct tape_object *self = (struct tape_object *)object;
	size_t n;

	(void)closure;
	if (!tape_is_free(self))
		return NULL;
	schedtape_tape_tasks(self->tape, &n);
	return PyLong_FromSize_t(n);
}

/* A list of tuples: CPU (None: descriptions), events, lost, overwritten. */
static PyObject *get_cpus(PyObject *object, void *closure)
{
	struct tape_object *self = (struct tape_object *)object;
	const struct schedtape_cpu *cpu;
	const struct schedtape_end *end;
	PyObject *list, *item;
	size_t i;

	(void)closure;
	if (!tape_is_free(self))
		return NULL;
	/* Memory for an object may run code that would close the tape. */
	self->busy = true;
	end = schedtape_tape_end(self->tape);
	list = PyList_New(0);
	for (i = 0; i < end->nr_cpus && list; i++) {
		cpu = &end->cpus[i];
		item = cpu->cpu == STAPE_CPU_NONE ?
		       Py_BuildValue("(OKKK)", Py_None, cpu->events, cpu->lost, cpu->overwritten) :
		       Py_BuildValue("(IKKK)", cpu->cpu, cpu->events, cpu->lost, cpu->overwritten);
		if (!item || PyList_Append(list, item))
			Py_CLEAR(list);
		Py_XDECREF(item);
	}
	self->busy = false;
	return list;
}

/* A list of tuples: time, PID, TGID, name, CPU, policy, nice, real-time priority. */
static PyObject *get_descriptions(PyObject *object, void *closure)
{
	struct tape_object *self = (struct tape_object *)object;
	const struct schedtape_task_info *info;
	PyObject *list, *item;
	size_t i, n;

	(void)closure;
	if (!tape_is_free(self))
		return NULL;
	self->busy = true;
	info = schedtape_tape_tasks(self->tape, &n);
	list = PyList_New(0);
	for (i = 0; i < n && list; i++, info++) {
		item = Py_BuildValue("(KIINIsiI)", info->time, info->pid, info->tgid,
				     tape_text(info->comm), info->cpu,
				     schedtape_policy_name(info->policy), info->nice,
				     info->rt_priority);
		if (!item || PyList_Append(list, item))
			Py_CLEAR(list);
		Py_XDECREF(item);
	}
	self->busy = false;
	return list;
}

static PyGetSetDef tape_members[] = {
	{ "meta_json", get_meta, NULL, "What is known of the machine and the recording.", NULL },
	{ "damage", get_damage, NULL, "What is wrong with the tape, or None.", NULL },
	{ "start_ns", get_time, NULL, "Begin of the recording, CLOCK_MONOTONIC.",
	  (void *)offsetof(struct schedtape_end, start_time) },
	{ "stop_ns", get_time, NULL, "Its end.",
	  (void *)offsetof(struct schedtape_end, stop_time) },
	{ "is_pipe", get_pipe, NULL, "It can be read only once.", NULL },
	{ "cpu_counts", get_cpus, NULL,
	  "For each CPU its number, events, lost, overwritten.", NULL },
	{ "description_count", get_description_count, NULL, "How many descriptions there are yet.",
	  NULL },
	{ "descriptions", get_descriptions, NULL,
	  "What the recorder read of tasks: time, PID, TGID, name, CPU, policy, nice, priority.",
	  NULL },
	{ NULL },
};

static PyMethodDef tape_methods[] = {
	{ "close", tape_close, METH_NOARGS, "Close the tape." },
	{ "events", events_iterate, METH_NOARGS, "Iterate over all events, from the first one." },
	{ "event_columns", events_columns, METH_NOARGS, "Read all events into columns." },
	{ "samples", samples_iterate, METH_O,
	  "Iterate over the samples of these tracepoints, None: all of them." },
	{ "tracepoints", samples_tracepoints, METH_NOARGS,
	  "For each other tracepoint its name, whether samples can be decoded, and its fields." },
	{ "timeline", timeline_read, METH_NOARGS, "Find out what the events mean for each task." },
	{ NULL },
};

static PyType_Slot tape_slots[] = {
	{ Py_tp_doc, "An open tape." },
	{ Py_tp_new, tape_open },
	{ Py_tp_dealloc, tape_dealloc },
	{ Py_tp_getset, tape_members },
	{ Py_tp_methods, tape_methods },
	{ 0, NULL },
};

static PyType_Spec tape_spec = {
	.name = "schedtape._schedtape.Tape",
	.basicsize = sizeof(struct tape_object),
	.flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
	.slots = tape_slots,
};

/* -- the module ------------------------------------------------------------------ */

static int add_tape(PyObject *module)
{
	PyObject *type = PyType_FromSpec(&tape_spec);
	int rc = type ? PyModule_AddObjectRef(module, "Tape", type) : -1;

	Py_XDECREF(type);
	return rc;
}

static struct PyModuleDef module_def = {
	PyModuleDef_HEAD_INIT,
	.m_name = "_schedtape",
	.m_doc = "The part of the package schedtape that is written in C.",
	.m_size = -1,
};

PyMODINIT_FUNC PyInit__schedtape(void);	/* Python finds it by its name */

PyMODINIT_FUNC PyInit__schedtape(void)
{
	PyObject *module = PyModule_Create(&module_def);

	if (!module)
		return NULL;
	tape_error = PyErr_NewExceptionWithDoc("schedtape.TapeError", "A tape cannot be read.",
					       PyExc_OSError, NULL);
	if (!tape_error || PyModule_AddObjectRef(module, "TapeError", tape_error) ||
	    column_init(module) || add_tape(module) || events_init(module) ||
	    samples_init(module) || timeline_init(module))
		Py_CLEAR(module);
	return module;
}
