/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Arrays that grow one entry at a time, or as far as a number that is their index.
 */
#ifndef SCHEDTAPE_LIST_H
#define SCHEDTAPE_LIST_H

#include <stddef.h>

/*
 * Makes room for one more entry of @size bytes behind @n of them.  Returns the array, which may
 * have moved, or NULL.
 */
void *schedtape_list_grow(void *list, size_t n, size_t *capacity, size_t size);

/*
 * Makes room for @n entries of @size bytes; the old contents may be gone.  Returns the array.  If
 * there is no memory, frees the array and returns NULL.
 */
void *schedtape_list_renew(void *list, size_t n, size_t *capacity, size_t size);

void *schedtape_list_extend(void *list, size_t number, size_t *capacity, size_t size);

/*
 * Makes sure that an array of @capacity entries of @size bytes has the entry @number.  New entries
 * are 0.  Returns the array, which may have moved, or NULL.
 */
static inline void *schedtape_list_reach(void *list, size_t number, size_t *capacity, size_t size)
{
	return number < *capacity ? list : schedtape_list_extend(list, number, capacity, size);
}

void *schedtape_list_extend_with(void *list, size_t number, size_t *capacity, size_t size,
				 const void *entry);

/* As schedtape_list_reach(), but new entries are copies of @entry. */
static inline void *schedtape_list_reach_with(void *list, size_t number, size_t *capacity,
					      size_t size, const void *entry)
{
	return number < *capacity ?
		       list : schedtape_list_extend_with(list, number, capacity, size, entry);
}

#endif /* SCHEDTAPE_LIST_H */
