// SPDX-License-Identifier: LGPL-2.1-or-later
#include "program/choice.h"

#include <errno.h>
#include <stdlib.h>

#include "base/error.h"
#include "timeline/timeline.h"

int schedtape_program_choose(struct schedtape_tape *tape,
			     const struct schedtape_program_options *options, bool **kept,
			     uint32_t *nr_kept, struct schedtape_error *err)
{
	struct schedtape_timeline *timeline;
	const struct schedtape_task *tasks;
	size_t n, i;
	int ret;

	if (!options->keep)
		return 0;
	ret = schedtape_timeline_run(tape, NULL, NULL, &timeline, err);
	if (ret)
		return ret;
	tasks = schedtape_timeline_tasks(timeline, &n);
	*kept = calloc(n + 1, sizeof(**kept));
	*nr_kept = n;
	for (i = 0; i < n && *kept; i++) {
		schedtape_tasks_passed(&timeline->set, i);
		(*kept)[i] = options->keep(options->arg, &tasks[i]);
	}
	schedtape_timeline_free(timeline);
	return *kept ? 0 : schedtape_fail(err, -ENOMEM, "not enough memory");
}
