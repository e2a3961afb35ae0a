/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Arrays that grow one entry at a time.
 */
#ifndef SCHEDTAPE_LIST_H
#define SCHEDTAPE_LIST_H

#include <stddef.h>

/*
 * Makes room for one more entry of @size bytes behind @n of them.  Returns the array, which may
 * have moved, or NULL.
 */
void *schedtape_list_grow(void *list, size_t n, size_t *capacity, size_t size);

#endif /* SCHEDTAPE_LIST_H */
