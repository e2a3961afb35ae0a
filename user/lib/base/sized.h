/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Structs that grow at their end from one version to the next.  A program and the library may
 * know different versions of them.  Such a struct begins with "size_t size", which the program
 * sets to its own sizeof.
 */
#ifndef SCHEDTAPE_SIZED_H
#define SCHEDTAPE_SIZED_H

#include <schedtape-page.h>

/*
 * Copies a caller's options: members that the caller does not have are 0.  @ours has @size bytes;
 * @theirs: NULL: all options are 0.  -E2BIG: the caller has set an option that this library
 * does not have; -EINVAL: the caller has not set the size.  @what: the struct, for the error.
 */
int sized_get(void *ours, size_t size, const void *theirs, const char *what,
	      struct schedtape_error *err);
/*
 * Fills a caller's state, except for its size: members that this library does not have are 0.
 * -EINVAL: the caller has not set the size.
 */
int sized_put(void *theirs, const void *ours, size_t size, const char *what,
	      struct schedtape_error *err);

#endif /* SCHEDTAPE_SIZED_H */
