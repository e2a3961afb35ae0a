/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libschedtape: reads, writes and compares tapes.  The module's client is a library of its own,
 * libschedtape-client, with schedtape/client.h.
 *
 * Rules of both libraries:
 *
 * Errors: a function returns 0 (or a count) or -errno, and puts the reason in words into the
 * struct schedtape_error that it takes, which may be NULL.
 *
 * Ownership: objects are opaque, and the caller that creates an object frees it.  What a
 * function returns a pointer to belongs to the object, and is valid as long as the object,
 * unless the function's comment says otherwise.
 *
 * Threads: there is no global state.  Only one thread at a time may use an object.  A child of
 * fork() must not use the tapes of its parent, which may have threads.
 *
 * Sizes: a struct that the caller fills, or lends to be filled, begins with "size_t size", which
 * the caller sets to sizeof the struct.  All other members of options may be 0; NULL in place of
 * options means that all are.  In C and in C++ this makes such a struct, without a warning:
 *
 *	static struct schedtape_timeline_ops ops;
 *
 *	ops.size = sizeof(ops);
 *	ops.slept = my_function;
 *
 * A program and
 * a library that know different versions of the struct work together: a member that one of them
 * does not have is 0.  -E2BIG: the program sets an option that this library does not have.
 * -EINVAL: the size is not set.
 *
 * Versions: as long as the SONAME stays, no function goes, and these structs grow at their end
 * only; so do structs that a callback or a function gives a pointer to one of.  Structs without
 * a size, of which there are arrays, do not change, nor do struct schedtape_error,
 * schedtape_event, schedtape_brief and schedtape_page.  New values of enums and new types of
 * events may come.
 */
#ifndef SCHEDTAPE_H
#define SCHEDTAPE_H

#include <schedtape-decode.h>
#include <schedtape-page.h>
#include <schedtape-tape.h>
#include <schedtape-timeline.h>

#endif /* SCHEDTAPE_H */
