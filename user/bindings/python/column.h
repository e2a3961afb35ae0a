/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Arrays of numbers that grow, and that Python then has as buffers without a copy.
 */
#ifndef SCHEDTAPE_PYTHON_COLUMN_H
#define SCHEDTAPE_PYTHON_COLUMN_H

#include "python.h"

/**
 * struct column - an array
 * @name: of the column
 * @format: of an entry, as struct.unpack() has it: 'Q', 'q', 'I' or 'B'
 * @data: @n entries in room for @room
 */
struct column {
	const char *name;
	char format;
	void *data;
	size_t n;
	size_t room;
};

/**
 * struct row_member - a member of structs of which there are many
 * @name: of the column
 * @format: as in struct column, or 'H'
 */
struct row_member {
	const char *name;
	char format;
	size_t offset;
};

/* Makes room for one more entry.  Needs no GIL.  Returns 0 or -ENOMEM. */
int column_grow(struct column *column);

/* These add an entry to a column of that format.  They need no GIL, and return 0 or -ENOMEM. */
static inline int column_add_u64(struct column *column, uint64_t value)
{
	if (column->n == column->room && column_grow(column))
		return -ENOMEM;
	((uint64_t *)column->data)[column->n++] = value;
	return 0;
}

static inline int column_add_u32(struct column *column, uint32_t value)
{
	if (column->n == column->room && column_grow(column))
		return -ENOMEM;
	((uint32_t *)column->data)[column->n++] = value;
	return 0;
}

static inline int column_add_u8(struct column *column, uint8_t value)
{
	if (column->n == column->room && column_grow(column))
		return -ENOMEM;
	((uint8_t *)column->data)[column->n++] = value;
	return 0;
}

/*
 * Returns a dict with @n columns by name, or NULL with an exception.  Takes the arrays in any
 * case.
 */
PyObject *columns_to_dict(struct column *columns, size_t n);
void columns_free(struct column *columns, size_t n);
/*
 * Returns a dict with a column for each member of @n structs, @stride bytes apart, or NULL with an
 * exception.  Takes @rows, which all columns share, in any case; @rows needs an address even if
 * @n is 0.
 */
PyObject *columns_of_rows(const struct row_member *members, size_t nr_members, void *rows, size_t n,
			  size_t stride);
/* Makes the type.  Returns 0, or -1 with an exception. */
int column_init(PyObject *module);

#endif /* SCHEDTAPE_PYTHON_COLUMN_H */
