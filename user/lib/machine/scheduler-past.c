// SPDX-License-Identifier: LGPL-2.1-or-later
#include "machine/scheduler-past.h"

#include <string.h>

static void forget(struct schedtape_scheduler_past *past, size_t n)
{
	past->nr -= n;
	memmove(past->seen, past->seen + n, past->nr * sizeof(*past->seen));
}

void schedtape_scheduler_past_add(struct schedtape_scheduler_past *past,
				  const struct schedtape_scheduler *seen)
{
	/* It corrects the first one, see schedtape_watch_look(), and gets its time. */
	if (!seen->after && past->nr) {
		uint64_t time = past->seen[0].time;

		past->seen[0] = *seen;
		past->seen[0].time = time;
		return;
	}
	if (past->nr == SCHEDTAPE_SCHEDULERS_KEPT)
		forget(past, 1);
	past->seen[past->nr++] = *seen;
}

void schedtape_scheduler_past_forget(struct schedtape_scheduler_past *past, uint64_t time)
{
	size_t n = 0;

	while (n + 1 < past->nr && past->seen[n + 1].time <= time)
		n++;
	forget(past, n);
}

int schedtape_scheduler_past_write(const struct schedtape_scheduler_past *past,
				   struct schedtape_writer *writer, struct schedtape_error *err)
{
	struct schedtape_scheduler seen;
	int ret = 0;
	size_t i;

	for (i = 0; i < past->nr && !ret; i++) {
		seen = past->seen[i];
		if (!i)
			seen.after = 0;
		ret = schedtape_writer_scheduler(writer, &seen, err);
	}
	return ret;
}
