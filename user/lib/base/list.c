// SPDX-License-Identifier: LGPL-2.1-or-later
#include "base/list.h"

#include <stdlib.h>

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
