// SPDX-License-Identifier: LGPL-2.1-or-later
#include "column.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_ROOM	1024

/* A column that Python has.  Its array does not change any more. */
struct column_object {
	PyObject_HEAD
	struct column column;
	Py_ssize_t shape;
	Py_ssize_t stride;
	char format[2];
};

static PyObject *column_type;

static size_t size_of(char format)
{
	switch (format) {
	case 'B':
		return 1;
	case 'I':
		return 4;
	default:
		return 8;
	}
}

static size_t column_bytes(const struct column *column)
{
	return column->n * size_of(column->format);
}

int column_grow(struct column *column)
{
	size_t room = column->room ? 2 * column->room : FIRST_ROOM;
	void *data = reallocarray(column->data, room, size_of(column->format));

	if (!data)
		return -ENOMEM;
	column->data = data;
	column->room = room;
	return 0;
}

void columns_free(struct column *columns, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		free(columns[i].data);
}

/* -- the type ---------------------------------------------------------------- */

static void column_dealloc(PyObject *self)
{
	PyTypeObject *type = Py_TYPE(self);

	free(((struct column_object *)self)->column.data);
	PyObject_Free(self);
	Py_DECREF(type);
}

static Py_ssize_t column_length(PyObject *self)
{
	return ((struct column_object *)self)->column.n;
}

static PyObject *column_item(PyObject *self, Py_ssize_t i)
{
	const struct column *column = &((struct column_object *)self)->column;

	if (i < 0 || (size_t)i >= column->n) {
		PyErr_SetString(PyExc_IndexError, "column index out of range");
		return NULL;
	}
	switch (column->format) {
	case 'B':
		return PyLong_FromLong(((uint8_t *)column->data)[i]);
	case 'I':
		return PyLong_FromUnsignedLong(((uint32_t *)column->data)[i]);
	case 'q':
		return PyLong_FromLongLong(((int64_t *)column->data)[i]);
	default:
		return PyLong_FromUnsignedLongLong(((uint64_t *)column->data)[i]);
	}
}

static int column_buffer(PyObject *self, Py_buffer *view, int flags)
{
	struct column_object *object = (struct column_object *)self;

	if (PyBuffer_FillInfo(view, self, object->column.data, column_bytes(&object->column), 1,
			      flags))
		return -1;
	view->itemsize = object->stride;
	if (flags & PyBUF_FORMAT)
		view->format = object->format;
	if (flags & PyBUF_ND)
		view->shape = &object->shape;
	if ((flags & PyBUF_STRIDES) == PyBUF_STRIDES)
		view->strides = &object->stride;
	return 0;
}

static PyType_Slot column_slots[] = {
	{ Py_tp_doc, "Numbers, as a sequence and as a buffer: numpy.asarray() copies nothing." },
	{ Py_tp_dealloc, column_dealloc },
	{ Py_sq_length, column_length },
	{ Py_sq_item, column_item },
	{ Py_bf_getbuffer, column_buffer },
	{ 0, NULL },
};

static PyType_Spec column_spec = {
	.name = "schedtape.Column",
	.basicsize = sizeof(struct column_object),
	.flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
	.slots = column_slots,
};

int column_init(PyObject *module)
{
	column_type = PyType_FromSpec(&column_spec);
	return column_type ? PyModule_AddObjectRef(module, "Column", column_type) : -1;
}

/* -- columns of others ---------------------------------------------------------- */

/* Takes the array.  A buffer needs an address, also if it is empty. */
static PyObject *column_new(struct column *column)
{
	struct column_object *object;

	if (!column->data && column_grow(column))
		return PyErr_NoMemory();
	object = PyObject_New(struct column_object, (PyTypeObject *)column_type);
	if (!object)
		return NULL;
	object->column = *column;
	object->shape = column->n;
	object->stride = size_of(column->format);
	object->format[0] = column->format;
	object->format[1] = '\0';
	*column = (struct column){ .name = column->name, .format = column->format };
	return (PyObject *)object;
}

PyObject *columns_to_dict(struct column *columns, size_t n)
{
	PyObject *dict = PyDict_New(), *column;
	size_t i;

	for (i = 0; i < n && dict; i++) {
		column = column_new(&columns[i]);
		if (!column || PyDict_SetItemString(dict, columns[i].name, column))
			Py_CLEAR(dict);
		Py_XDECREF(column);
	}
	columns_free(columns, n);
	return dict;
}
