// SPDX-License-Identifier: LGPL-2.1-or-later
#include "timeline/pauses.h"

#include <errno.h>
#include <stdlib.h>

int schedtape_pauses_add(struct schedtape_pauses *pauses, const struct schedtape_event *ev)
{
	struct schedtape_range *last = pauses->nr ? &pauses->pauses[pauses->nr - 1] : NULL;
	struct schedtape_range *all;

	if (last && ev->lost_first <= last->last && ev->lost_last >= last->first) {
		if (ev->lost_first > last->first)
			last->first = ev->lost_first;
		if (ev->lost_last < last->last)
			last->last = ev->lost_last;
		return 0;
	}
	all = realloc(pauses->pauses, (pauses->nr + 1) * sizeof(*all));
	if (!all)
		return -ENOMEM;
	pauses->pauses = all;
	all[pauses->nr++] = (struct schedtape_range){ ev->lost_first, ev->lost_last };
	return 0;
}

void schedtape_pauses_free(struct schedtape_pauses *pauses)
{
	free(pauses->pauses);
	*pauses = (struct schedtape_pauses){ NULL, 0 };
}
