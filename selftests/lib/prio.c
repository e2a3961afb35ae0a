// SPDX-License-Identifier: GPL-2.0-only
#include "prio.h"

#include <sched.h>
#include <stdio.h>

#include "task.h"

int st_set_policy(pid_t pid, int policy, int priority)
{
	struct sched_param param = { .sched_priority = priority };

	return sched_setscheduler(pid, policy, &param);
}

bool st_prio_is(const struct schedtape_event *ev, struct st_prio prio)
{
	return ev->policy == prio.policy && ev->nice == prio.nice &&
	       ev->rt_priority == prio.rt_priority && ev->prio == prio.prio &&
	       ev->boosted == prio.boosted;
}

/* On PREEMPT_RT the kernel's own locks may lend priorities as well, at any time. */
static bool is_kernels(const struct schedtape_event *ev, const struct schedtape_event *last)
{
	return st_rt_kernel() && ev->policy == last->policy && ev->nice == last->nice &&
	       ev->rt_priority == last->rt_priority;
}

const char *st_prio_compare(const struct st_record *r, pid_t pid, const struct st_prio *prios,
			    size_t n)
{
	struct schedtape_event last = { 0 };
	static char text[200];
	size_t i, at = 0;

	for (i = 0; i < r->n; i++) {
		const struct schedtape_event *ev = &r->events[i];

		if (ev->type != STAPE_EV_PRIO || ev->pid != (uint32_t)pid)
			continue;
		if (at < n && st_prio_is(ev, prios[at])) {
			at++;
		} else if (!is_kernels(ev, &last)) {
			snprintf(text, sizeof(text),
				 "number %zu: policy %d, nice %d, rt %d, prio %d, boosted %d", at,
				 ev->policy, ev->nice, ev->rt_priority, ev->prio, ev->boosted);
			return text;
		}
		last = *ev;
	}
	snprintf(text, sizeof(text), "only %zu of %zu", at, n);
	return at == n ? NULL : text;
}
