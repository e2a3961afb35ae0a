// SPDX-License-Identifier: GPL-2.0-only
/*
 * Throttling of cgroups by their quotas (cpu.max).  Linux has no tracepoint for it, so the two
 * functions that do it are probed.  Both run under the runqueue lock of the cgroup's CPU, but
 * perhaps on another one: of the task that wakes one of the cgroup, or of the period's timer.
 */
#include "record/probes.h"

#include <linux/ptrace.h>
#include <schedtape/event.h>

#include "record/active.h"
#include "record/cfs.h"
#include "record/encode.h"

#ifdef STAPE_RETPROBES

/*
 * Writes that a struct cfs_rq is throttled, or is no longer, to each session that may have tasks in
 * its cgroup or below.
 */
static void stape_throttle_write(const void *queue, bool throttled)
{
	u64 payload[STAPE_THROTTLE_WORDS];
	struct stape_active *active;
	u32 cpu;

	if (!stape_cfs_find(queue, &payload[STAPE_THROTTLE_CGROUP], &cpu))
		return;
	payload[STAPE_THROTTLE_WHERE] = cpu | (throttled ? STAPE_THROTTLE_BEGINS : 0);
	for_each_active(active)
		if (stape_cgroups_may_have(&active->cgroups, payload[STAPE_THROTTLE_CGROUP]))
			stape_encode_set(active, STAPE_SET_THROTTLE, 0, payload,
					 STAPE_THROTTLE_WORDS);
}

static int stape_throttle_enter(struct kretprobe_instance *instance, struct pt_regs *regs)
{
	*(void **)instance->data = (void *)stape_first_argument(regs);
	return 0;
}

/* The function returns a bool: false if there was some quota left after all. */
static int stape_throttle_leave(struct kretprobe_instance *instance, struct pt_regs *regs)
{
	if ((u8)regs_return_value(regs))
		stape_throttle_write(*(void **)instance->data, true);
	return 0;
}

/*
 * Returns 1, so that the return is not probed.  The function may find that the quota is used up
 * again, and change nothing; then it is called once more, and the end is written twice.
 */
static int stape_unthrottle_enter(struct kretprobe_instance *instance, struct pt_regs *regs)
{
	stape_throttle_write((void *)stape_first_argument(regs), false);
	return 1;
}

const struct stape_retprobe_ops stape_throttle_ops = {
	.enter = stape_throttle_enter,
	.leave = stape_throttle_leave,
	.size = sizeof(void *),
	.usable = stape_cfs_is_known,
};

const struct stape_retprobe_ops stape_unthrottle_ops = {
	.enter = stape_unthrottle_enter,
	.usable = stape_cfs_is_known,
};

#endif /* STAPE_RETPROBES */
