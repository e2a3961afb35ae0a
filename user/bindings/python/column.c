// SPDX-License-Identifier: LGPL-2.1-or-later
#include "column.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_ROOM	1024

/**
 * struct column_object - a column that Python has, which does not change any more
 * @memory: a capsule, perhaps with other columns
 * @data: the first number
 * @stride: bytes from one number to the next
 */
struct column_object {
	PyObject_HEAD
	PyObject *memory;
	const unsigned char *data;
	Py_ssize_t n;
	Py_ssize_t stride;
	Py_ssize_t size;
	char format[2];
};

static PyObject *column_type;

static size_t size_of(char format)
{
	switch (format) {
	case 'B':
		return 1;
	case 'H':
		return 2;
	case 'I':
		return 4;
	default:
		return 8;
	}
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

	Py_DECREF(((struct column_object *)self)->memory);
	PyObject_Free(self);
	Py_DECREF(type);
}

static Py_ssize_t column_length(PyObject *self)
{
	return ((struct column_object *)self)->n;
}

static PyObject *column_item(PyObject *self, Py_ssize_t i)
{
	const struct column_object *column = (struct column_object *)self;
	const unsigned char *at;

	if (i < 0 || i >= column->n) {
		PyErr_SetString(PyExc_IndexError, "column index out of range");
		return NULL;
	}
	at = column->data + i * column->stride;
	switch (column->format[0]) {
	case 'B':
		return PyLong_FromLong(*at);
	case 'H':
		return PyLong_FromLong(*(const uint16_t *)at);
	case 'I':
		return PyLong_FromUnsignedLong(*(const uint32_t *)at);
	case 'q':
		return PyLong_FromLongLong(*(const int64_t *)at);
	default:
		return PyLong_FromUnsignedLongLong(*(const uint64_t *)at);
	}
}

/* May the caller, who asks for a buffer with these flags, get numbers that have gaps in between? */
static bool takes_gaps(int flags)
{
	const int contiguous = PyBUF_C_CONTIGUOUS | PyBUF_F_CONTIGUOUS | PyBUF_ANY_CONTIGUOUS;

	return (flags & contiguous) == PyBUF_STRIDES;
}

static int column_buffer(PyObject *self, Py_buffer *view, int flags)
{
	struct column_object *column = (struct column_object *)self;

	view->obj = NULL;
	if (column->n > 1 && column->stride != column->size && !takes_gaps(flags)) {
		PyErr_SetString(PyExc_BufferError, "the numbers are not contiguous: take bytes()");
		return -1;
	}
	if (PyBuffer_FillInfo(view, self, (void *)column->data, column->n * column->size, 1, flags))
		return -1;
	view->itemsize = column->size;
	if (flags & PyBUF_FORMAT)
		view->format = column->format;
	if (flags & PyBUF_ND)
		view->shape = &column->n;
	if ((flags & PyBUF_STRIDES) == PyBUF_STRIDES)
		view->strides = &column->stride;
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

static void memory_free(PyObject *memory)
{
	free(PyCapsule_GetPointer(memory, NULL));
}

/* Takes memory, in any case.  Returns NULL with an exception. */
static PyObject *memory_new(void *data)
{
	PyObject *memory = PyCapsule_New(data, NULL, memory_free);

	if (!memory)
		free(data);
	return memory;
}

static PyObject *column_new(char format, PyObject *memory, const unsigned char *data, size_t n,
			    size_t stride)
{
	struct column_object *object;

	object = PyObject_New(struct column_object, (PyTypeObject *)column_type);
	if (!object)
		return NULL;
	object->memory = Py_NewRef(memory);
	object->data = data;
	object->n = n;
	object->stride = stride;
	object->size = size_of(format);
	object->format[0] = format;
	object->format[1] = '\0';
	return (PyObject *)object;
}

/* Adds a column to the dict.  Returns 0, or -1 with an exception. */
static int add_column(PyObject *dict, const char *name, PyObject *column)
{
	int rc = column ? PyDict_SetItemString(dict, name, column) : -1;

	Py_XDECREF(column);
	return rc;
}

/* Takes the array. */
static PyObject *column_of_array(struct column *array)
{
	PyObject *memory, *column;

	/* A buffer needs an address, also if it is empty. */
	if (!array->data && column_grow(array))
		return PyErr_NoMemory();
	memory = memory_new(array->data);
	column = memory ? column_new(array->format, memory, array->data, array->n,
				     size_of(array->format)) : NULL;
	array->data = NULL;
	Py_XDECREF(memory);
	return column;
}

PyObject *columns_to_dict(struct column *columns, size_t n)
{
	PyObject *dict = PyDict_New();
	size_t i;

	for (i = 0; i < n && dict; i++)
		if (add_column(dict, columns[i].name, column_of_array(&columns[i])))
			Py_CLEAR(dict);
	columns_free(columns, n);
	return dict;
}

PyObject *columns_of_rows(const struct row_member *members, size_t nr_members, void *rows, size_t n,
			  size_t stride)
{
	PyObject *memory = memory_new(rows), *dict = memory ? PyDict_New() : NULL;
	const struct row_member *member;

	for (member = members; member < members + nr_members && dict; member++)
		if (add_column(dict, member->name,
			       column_new(member->format, memory,
					  (unsigned char *)rows + member->offset, n, stride)))
			Py_CLEAR(dict);
	Py_XDECREF(memory);
	return dict;
}
