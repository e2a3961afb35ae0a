// SPDX-License-Identifier: GPL-2.0-only
#include "record/cgroups.h"

#include <linux/cgroup.h>
#include <linux/rcupdate.h>

/**
 * stape_cgroups_add() - add a task's cgroup, and all above it
 * @cgroups: a session's
 * @task: alive, or current
 *
 * Context: any.
 */
void stape_cgroups_add(struct stape_cgroups *cgroups, struct task_struct *task)
{
	struct cgroup *cgroup;

	rcu_read_lock();
	for (cgroup = task_dfl_cgroup(task); cgroup; cgroup = cgroup_parent(cgroup)) {
		u32 bit = stape_cgroups_bit(cgroup_id(cgroup));

		/* Nearly always they are there already: leave the cache line shared. */
		if (!test_bit(bit, cgroups->bits))
			set_bit(bit, cgroups->bits);
	}
	rcu_read_unlock();
}
