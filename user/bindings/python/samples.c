// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The samples of other tracepoints: an iterator, and the fields that they have.
 */
#include "tape.h"

#include <stdlib.h>

/* -- tracepoints ---------------------------------------------------------------- */

/* A tracepoint is a tuple of these items. */
enum { POINT_NAME, POINT_DECODES, POINT_FIELDS };

static PyObject *number_of(const struct schedtape_field *field, uint64_t number)
{
	return field->is_signed ? PyLong_FromLongLong(number) :
				  PyLong_FromUnsignedLongLong(number);
}

/* The names of values: a dict. */
static PyObject *make_names(const struct schedtape_field *field)
{
	PyObject *names = PyDict_New(), *value, *name;
	size_t i;

	for (i = 0; i < field->nr_names && names; i++) {
		value = number_of(field, field->names[i].value);
		name = tape_text(field->names[i].name);
		if (!value || !name || PyDict_SetItem(names, value, name))
			Py_CLEAR(names);
		Py_XDECREF(value);
		Py_XDECREF(name);
	}
	return names;
}

/* A tuple: name, kind, signed, names, delimiter. */
static PyObject *make_field(const struct schedtape_field *field)
{
	static const char * const kinds[] = { "opaque", "number", "text", "numbers" };
	bool bits = field->naming == SCHEDTAPE_NAMING_BITS;
	PyObject *delimiter = bits ? tape_text(field->delimiter) : Py_NewRef(Py_None);

	return Py_BuildValue("(NsNNN)", tape_text(field->name), kinds[field->kind],
			     PyBool_FromLong(field->is_signed), make_names(field), delimiter);
}

static PyObject *make_point(const struct schedtape_tracepoint *point)
{
	PyObject *fields = PyTuple_New(point->n), *field;
	size_t i;

	for (i = 0; i < point->n && fields; i++) {
		field = make_field(&point->fields[i]);
		if (!field || PyTuple_SetItem(fields, i, field))
			Py_CLEAR(fields);
	}
	if (!fields)
		return NULL;
	return Py_BuildValue("(NNN)", tape_text(point->name), PyBool_FromLong(point->decodes),
			     fields);
}

/* Makes the decoder and the tuple of tracepoints.  False: there is an exception. */
static bool make_points(struct tape_object *self)
{
	const struct schedtape_formats *formats = schedtape_tape_formats(self->tape);
	struct schedtape_error err = { "" };
	PyObject *points, *point;
	size_t i;
	int rc;

	rc = self->decoder ? 0 : schedtape_decoder_new(formats, &self->decoder, &err);
	if (rc) {
		tape_fail(rc, &err);
		return false;
	}
	points = PyTuple_New(formats->n);
	for (i = 0; i < formats->n && points; i++) {
		point = make_point(schedtape_decoder_tracepoint(self->decoder, i));
		if (!point || PyTuple_SetItem(points, i, point))
			Py_CLEAR(points);
	}
	self->points = points;
	return points;
}

/* The same, if that was not done yet, of a tape that nobody is reading. */
static bool need_points(struct tape_object *self)
{
	bool done;

	if (!tape_is_free(self))
		return false;
	if (self->points)
		return true;
	/* Memory for an object may run code that would close the tape. */
	self->busy = true;
	done = make_points(self);
	self->busy = false;
	return done;
}

PyObject *samples_tracepoints(PyObject *object, PyObject *none)
{
	struct tape_object *self = (struct tape_object *)object;

	(void)none;
	return need_points(self) ? Py_NewRef(self->points) : NULL;
}

void samples_free(struct tape_object *self)
{
	Py_CLEAR(self->points);
	schedtape_decoder_free(self->decoder);
	self->decoder = NULL;
}

/* -- samples -------------------------------------------------------------------- */

enum { TIME, CPU, TGID, CURR_PID, NAME, FIELDS, LOST, DATA, NR_FIELDS };

static PyStructSequence_Field sample_fields[] = {
	[TIME] = { "time_ns", "of CLOCK_MONOTONIC" },
	[CPU] = { "cpu", "the CPU that it happened on" },
	[TGID] = { "tgid", "process that ran there; 0: the idle task; -1: it has ended" },
	[CURR_PID] = { "curr_pid", "task that ran there" },
	[NAME] = { "event", "irq:irq_handler_entry, say; None: unknown, or only a loss" },
	[FIELDS] = { "fields", "values by name, in the kernel's order; None: not known" },
	[LOST] = { "lost", "how many samples this CPU lost since its last one" },
	[DATA] = { "data", "the bytes that the kernel wrote; empty: only a loss" },
	[NR_FIELDS] = { NULL, NULL },
};

static PyStructSequence_Desc sample_desc = {
	.name = "schedtape.Sample",
	.doc = "An event of another tracepoint.",
	.fields = sample_fields,
	.n_in_sequence = NR_FIELDS,
};

static PyTypeObject *sample_type;

/**
 * struct iterator - reads samples
 * @wanted: by index of a tracepoint; NULL: all of them
 */
struct iterator {
	PyObject_HEAD
	struct tape_object *tape;
	struct schedtape_samples *samples;
	bool *wanted;
};

static PyObject *iterator_type;

static PyObject *numbers_of(const struct schedtape_field *field,
			    const struct schedtape_value *value)
{
	PyObject *list = PyList_New(value->n), *number;
	size_t i;

	for (i = 0; i < value->n && list; i++) {
		number = number_of(field, value->numbers[i]);
		if (!number || PyList_SetItem(list, i, number))
			Py_CLEAR(list);
	}
	return list;
}

static PyObject *value_of(const struct schedtape_field *field, const struct schedtape_value *value)
{
	switch (field->kind) {
	case SCHEDTAPE_FIELD_NUMBER:
		return number_of(field, value->number);
	case SCHEDTAPE_FIELD_TEXT:
		return PyUnicode_DecodeUTF8(value->text, value->n, "backslashreplace");
	case SCHEDTAPE_FIELD_NUMBERS:
		return numbers_of(field, value);
	}
	return Py_NewRef(Py_None);
}

/* Returns a dict; NULL: an exception, or the sample cannot be decoded. */
static PyObject *fields_of(struct tape_object *tape, const struct schedtape_tracepoint *point,
			   const struct schedtape_sample *sample)
{
	const struct schedtape_value *values;
	PyObject *names, *fields, *name, *value;
	int i, n;

	n = schedtape_decoder_values(tape->decoder, sample, &values);
	if (n < 0)
		return NULL;
	names = PyTuple_GetItem(PyTuple_GetItem(tape->points, point->index), POINT_FIELDS);
	fields = PyDict_New();
	for (i = 0; i < n && fields; i++) {
		value = value_of(&point->fields[i], &values[i]);
		name = PyTuple_GetItem(PyTuple_GetItem(names, i), 0);
		if (!value || PyDict_SetItem(fields, name, value))
			Py_CLEAR(fields);
		Py_XDECREF(value);
	}
	return fields;
}

/* @point: NULL: it is not known, or only the loss is wanted */
static PyObject *make_sample(struct tape_object *tape, const struct schedtape_tracepoint *point,
			     const struct schedtape_sample *sample)
{
	PyObject *row = PyStructSequence_New(sample_type), *name = NULL;

	if (!row)
		return NULL;
	if (point)
		name = PyTuple_GetItem(PyTuple_GetItem(tape->points, point->index), POINT_NAME);
	row_set(row, TIME, PyLong_FromUnsignedLongLong(sample->time));
	row_set(row, CPU, PyLong_FromUnsignedLong(sample->cpu));
	/* The kernel has -1 for a task that has given up its PID. */
	row_set(row, TGID, PyLong_FromLong((int32_t)sample->pid));
	row_set(row, CURR_PID, PyLong_FromLong((int32_t)sample->tid));
	row_set(row, NAME, Py_XNewRef(name));
	row_set(row, FIELDS, point ? fields_of(tape, point, sample) : NULL);
	row_set(row, LOST, PyLong_FromUnsignedLongLong(sample->lost));
	row_set(row, DATA, PyBytes_FromStringAndSize(sample->data, sample->bytes));
	if (PyErr_Occurred())
		Py_CLEAR(row);
	return row;
}

/* Makes the next sample that is wanted.  NULL: an exception, or the end. */
static PyObject *next_wanted(struct iterator *self)
{
	const struct schedtape_tracepoint *point;
	struct schedtape_error err = { "" };
	struct schedtape_sample sample;
	int rc;

	while ((rc = schedtape_samples_next(self->samples, &sample, &err)) > 0) {
		point = schedtape_decoder_find(self->tape->decoder, &sample);
		if (self->wanted && !(point && self->wanted[point->index])) {
			if (!sample.lost)
				continue;
			sample.bytes = 0;
			point = NULL;
		}
		return make_sample(self->tape, point, &sample);
	}
	return rc ? tape_fail(rc, &err) : NULL;
}

static PyObject *iterator_next(PyObject *object)
{
	struct iterator *self = (struct iterator *)object;
	PyObject *row;

	if (!tape_is_free(self->tape))
		return NULL;
	/* Memory for an object may run code, which must not change what the row is made of. */
	self->tape->busy = true;
	row = next_wanted(self);
	self->tape->busy = false;
	return row;
}

static void iterator_dealloc(PyObject *object)
{
	struct iterator *self = (struct iterator *)object;
	PyTypeObject *type = Py_TYPE(object);

	schedtape_samples_close(self->samples);
	free(self->wanted);
	Py_DECREF((PyObject *)self->tape);
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
	.name = "schedtape._schedtape.SampleIterator",
	.basicsize = sizeof(struct iterator),
	.flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
	.slots = iterator_slots,
};

/* Looks up which tracepoints are in @names.  Returns 0, or -1 with an exception. */
static int choose(struct iterator *self, PyObject *names)
{
	Py_ssize_t i, n = PyTuple_Size(self->tape->points);
	PyObject *name;
	int is = 0;

	if (names == Py_None)
		return 0;
	self->wanted = calloc(n + 1, sizeof(*self->wanted));
	if (!self->wanted) {
		PyErr_NoMemory();
		return -1;
	}
	for (i = 0; i < n && is >= 0; i++) {
		name = PyTuple_GetItem(PyTuple_GetItem(self->tape->points, i), POINT_NAME);
		is = PySequence_Contains(names, name);
		self->wanted[i] = is > 0;
	}
	return is < 0 ? -1 : 0;
}

PyObject *samples_iterate(PyObject *object, PyObject *names)
{
	struct tape_object *tape = (struct tape_object *)object;
	struct schedtape_error err = { "" };
	struct iterator *self;
	int rc;

	if (!need_points(tape))
		return NULL;
	self = PyObject_New(struct iterator, (PyTypeObject *)iterator_type);
	if (!self)
		return NULL;
	self->tape = (struct tape_object *)Py_NewRef(object);
	self->samples = NULL;
	self->wanted = NULL;
	/* Looking up names may run code that closes the tape. */
	if (choose(self, names) || !tape_is_free(tape)) {
		Py_DECREF((PyObject *)self);
		return NULL;
	}
	rc = schedtape_samples_open(tape->tape, &self->samples, &err);
	if (!rc)
		return (PyObject *)self;
	Py_DECREF((PyObject *)self);
	return tape_fail(rc, &err);
}

int samples_init(PyObject *module)
{
	sample_type = PyStructSequence_NewType(&sample_desc);
	iterator_type = PyType_FromSpec(&iterator_spec);
	if (!sample_type || !iterator_type)
		return -1;
	return PyModule_AddObjectRef(module, "Sample", (PyObject *)sample_type);
}
