/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Python's header, which has to come first.  Only its stable interface is used, so that one build
 * is for Python 3.11 and all later ones.
 */
#ifndef SCHEDTAPE_PYTHON_PYTHON_H
#define SCHEDTAPE_PYTHON_PYTHON_H

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API	0x030b0000
#include <Python.h>

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <schedtape.h>

#endif /* SCHEDTAPE_PYTHON_PYTHON_H */
