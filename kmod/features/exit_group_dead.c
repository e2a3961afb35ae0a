// SPDX-License-Identifier: GPL-2.0-only
/*
 * Has the tracepoint sched_process_exit an argument @group_dead?
 */
#include <trace/events/sched.h>

static void feature(void *data, struct task_struct *task, bool group_dead)
{
}

void use(void);

void use(void)
{
	check_trace_callback_type_sched_process_exit(feature);
}
