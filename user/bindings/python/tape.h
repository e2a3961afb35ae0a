/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The types of the module: a tape, and what its timeline has.
 */
#ifndef SCHEDTAPE_PYTHON_TAPE_H
#define SCHEDTAPE_PYTHON_TAPE_H

#include "python.h"

/**
 * struct tape_object - an open tape
 * @tape: NULL: it is closed
 * @pipe: reading it may wait, so the GIL is released meanwhile
 * @busy: a call reads it without the GIL, or an iterator does: no other one may
 * @turn: number of the reader that the tape was rewound for: an earlier iterator is over
 * @opener: the process that has opened it.  A child has no threads of the library, so it must
 *	not even close it
 * @damage: what is wrong with the first page that contradicts itself, "" if none does
 * @decoder, @points: other tracepoints, for the library and for Python; NULL: nobody has asked yet
 */
struct tape_object {
	PyObject_HEAD
	struct schedtape_tape *tape;
	bool pipe;
	bool busy;
	unsigned long turn;
	pid_t opener;
	struct schedtape_error damage;
	struct schedtape_decoder *decoder;
	PyObject *points;
};

/* The exception for what is wrong with a tape: a subclass of OSError. */
extern PyObject *tape_error;

/*
 * Sets an exception, unless that of a signal's handler has ended a wait for a pipe.  @rc: -errno.
 * Returns NULL.
 */
PyObject *tape_fail(int rc, const struct schedtape_error *err);
/*
 * Begins to read a tape from its start, and ends that.  Returns false with an exception if it is
 * closed or being read.
 */
bool tape_begin(struct tape_object *self);
void tape_end(struct tape_object *self);
/* Returns false with an exception if the tape cannot be used now. */
bool tape_is_free(const struct tape_object *self);
/* Notes what is wrong with a page.  Reading goes on behind it. */
void tape_note(struct tape_object *self, const char *why);
/* Returns bytes as text, whatever they are. */
PyObject *tape_text(const char *bytes);

/* Sets a field of an event or a task.  Takes @value; NULL: the field is None. */
static inline void row_set(PyObject *row, int field, PyObject *value)
{
	PyStructSequence_SetItem(row, field, value ? value : Py_NewRef(Py_None));
}

/* events.c: the iterator and the columns of events. */
int events_init(PyObject *module);
PyObject *events_iterate(PyObject *self, PyObject *none);
PyObject *events_columns(PyObject *self, PyObject *none);

/* samples.c: the iterator of samples, and the fields of their tracepoints. */
int samples_init(PyObject *module);
PyObject *samples_tracepoints(PyObject *self, PyObject *none);
PyObject *samples_iterate(PyObject *self, PyObject *names);
void samples_free(struct tape_object *self);

/* timeline.c: tasks, runs, bursts, waits and edges. */
int timeline_init(PyObject *module);
PyObject *timeline_read(PyObject *self, PyObject *none);

#endif /* SCHEDTAPE_PYTHON_TAPE_H */
