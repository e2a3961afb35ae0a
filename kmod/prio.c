// SPDX-License-Identifier: GPL-2.0-only
/*
 * Changes of policy, nice value, priority and deadline.  Linux has no tracepoint for
 * them but that of priority inheritance, so the two functions that all of them
 * go through are probed.  A kernel that does not let them be probed records
 * everything else.
 */
#include "prio.h"

#include <linux/kprobes.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <schedtape/event.h>

#include "life.h"
#include "task.h"

#if defined(CONFIG_KRETPROBES) && defined(CONFIG_HAVE_FUNCTION_ARG_ACCESS_API)

/**
 * struct stape_prio_before - what a task had when the function was entered
 * @task: the task, which the function's caller keeps
 * @policy: SCHED_*
 * @rt_priority: of a real-time policy
 * @static_prio: made of its nice value
 * @dl: of SCHED_DEADLINE
 */
struct stape_prio_before {
	struct task_struct *task;
	unsigned int policy;
	unsigned int rt_priority;
	int static_prio;
	u64 dl[STAPE_DL_WORDS];
};

static int stape_prio_enter(struct kretprobe_instance *instance, struct pt_regs *regs)
{
	struct stape_prio_before *before = (void *)instance->data;
	struct task_struct *task = (void *)regs_get_kernel_argument(regs, 0);

	before->task = task;
	before->policy = READ_ONCE(task->policy);
	before->rt_priority = READ_ONCE(task->rt_priority);
	before->static_prio = READ_ONCE(task->static_prio);
	stape_task_dl_words(task, before->policy, before->dl);
	return 0;
}

/* With the same policy as before. */
static bool stape_prio_other_deadline(const struct stape_prio_before *before)
{
	u64 dl[STAPE_DL_WORDS];
	u32 n = stape_task_dl_words(before->task, before->policy, dl);

	return n && memcmp(before->dl, dl, sizeof(dl));
}

static int stape_prio_return(struct kretprobe_instance *instance, struct pt_regs *regs)
{
	struct stape_prio_before *before = (void *)instance->data;
	struct task_struct *task = before->task;

	if (before->policy != READ_ONCE(task->policy) ||
	    before->rt_priority != READ_ONCE(task->rt_priority) ||
	    before->static_prio != READ_ONCE(task->static_prio) ||
	    stape_prio_other_deadline(before))
		stape_life_prio(task);
	return 0;
}

/*
 * How many may be between entry and return at a time. They may be preempted there, just
 * as they have got another policy: the kernel's own choice, 10, is little for that.
 */
#define STAPE_PRIO_ACTIVE	512

#define STAPE_PRIO_PROBE(_name) {				\
	.kp.symbol_name = _name,				\
	.entry_handler = stape_prio_enter,			\
	.handler = stape_prio_return,				\
	.data_size = sizeof(struct stape_prio_before),		\
	.maxactive = STAPE_PRIO_ACTIVE,				\
}

static struct kretprobe stape_prio_probes[] = {
	STAPE_PRIO_PROBE("__sched_setscheduler"),
	STAPE_PRIO_PROBE("set_user_nice"),
};

static void stape_prio_unhook_one(struct kretprobe *probe)
{
	unregister_kretprobe(probe);
	if (probe->nmissed)
		pr_warn("%s: %d calls at once were too many: their changes of priority are not recorded\n",
			probe->kp.symbol_name, probe->nmissed);
}

static void stape_prio_unhook_some(int n)
{
	while (n--)
		if (stape_prio_probes[n].kp.addr)
			stape_prio_unhook_one(&stape_prio_probes[n]);
}

/**
 * stape_prio_hook() - tell of changes from now on, if this kernel lets us
 *
 * Context: may sleep.
 * Return: 0, or -ENOMEM: another time it may let us.
 */
int stape_prio_hook(void)
{
	int i, ret;

	for (i = 0; i < ARRAY_SIZE(stape_prio_probes); i++) {
		struct kretprobe *probe = &stape_prio_probes[i];

		/* A probe that has been registered before keeps what that has left in it. */
		*probe = (struct kretprobe)STAPE_PRIO_PROBE(probe->kp.symbol_name);
		ret = register_kretprobe(probe);
		if (ret == -ENOMEM) {
			stape_prio_unhook_some(i);
			return ret;
		}
		if (ret) {
			pr_info_once("%s cannot be probed (%d): changes of priority are not recorded\n",
				     probe->kp.symbol_name, ret);
			probe->kp.addr = NULL;
		}
	}
	return 0;
}

/**
 * stape_prio_unhook() - take back stape_prio_hook()
 *
 * No handler runs when it returns.
 *
 * Context: may sleep.
 */
void stape_prio_unhook(void)
{
	stape_prio_unhook_some(ARRAY_SIZE(stape_prio_probes));
}

#else

int stape_prio_hook(void)
{
	return 0;
}

void stape_prio_unhook(void)
{
}

#endif
