// SPDX-License-Identifier: LGPL-2.1-or-later
#include "base/list.h"

#include <stdlib.h>
#include <string.h>

void *schedtape_list_grow(void *list, size_t n, size_t *capacity, size_t size)
{
	size_t more = n ? 2 * n : 16;

	if (n < *capacity)
		return list;
	list = reallocarray(list, more, size);
	if (list)
		*capacity = more;
	return list;
}

void *schedtape_list_renew(void *list, size_t n, size_t *capacity, size_t size)
{
	if (n <= *capacity)
		return list;
	free(list);
	list = reallocarray(NULL, n, size);
	*capacity = list ? n : 0;
	return list;
}

/* See schedtape_list_reach(). */
void *schedtape_list_extend(void *list, size_t number, size_t *capacity, size_t size)
{
	size_t more = *capacity ? *capacity : 64;
	char *longer;

	while (more <= number)
		more *= 2;
	longer = reallocarray(list, more, size);
	if (!longer)
		return NULL;
	memset(longer + *capacity * size, 0, (more - *capacity) * size);
	*capacity = more;
	return longer;
}

/* See schedtape_list_reach_with(). */
void *schedtape_list_extend_with(void *list, size_t number, size_t *capacity, size_t size,
				 const void *entry)
{
	size_t i = *capacity;
	char *longer = schedtape_list_extend(list, number, capacity, size);

	for (; longer && i < *capacity; i++)
		memcpy(longer + i * size, entry, size);
	return longer;
}
