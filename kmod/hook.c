// SPDX-License-Identifier: GPL-2.0-only
/*
 * Return probes, for what Linux has no tracepoints.  A kernel that does not let
 * a function be probed records everything else.
 */
#include "hook.h"

#include "affinity.h"
#include "prio.h"

#ifdef STAPE_HOOKS

/*
 * How many may be between entry and return at a time.  They may be preempted there, just
 * as they have got another policy, or sleep until a task has left its CPU: the kernel's
 * own choice, 10, is little for that.
 */
#define STAPE_HOOK_ACTIVE	512

/* Calls between stape_hook_begin() and stape_hook_end(). */
atomic_t stape_hook_calls;

/**
 * struct stape_hook - a function that is probed
 * @name: its name
 * @enter: called at its entry; says stape_hook_begin()
 * @leave: called at its return, in the same task, with preemption off; stape_hook_end()
 * @size: bytes that the two share
 */
struct stape_hook {
	const char *name;
	kretprobe_handler_t enter;
	kretprobe_handler_t leave;
	const size_t *size;
};

static const struct stape_hook stape_hooks[] = {
	{ "__sched_setscheduler", stape_prio_enter, stape_prio_return, &stape_prio_size },
	{ "set_user_nice", stape_prio_enter, stape_prio_return, &stape_prio_size },
	{ "sched_setaffinity", stape_affinity_enter, stape_affinity_return,
	  &stape_affinity_size },
};

static struct kretprobe stape_hook_probes[ARRAY_SIZE(stape_hooks)];
/* Bits by hook: the log says already that it cannot be probed. */
static unsigned long stape_hook_told;

static void stape_unhook_one(struct kretprobe *probe)
{
	unregister_kretprobe(probe);
	if (probe->nmissed)
		pr_warn("%s: %d calls at once were too many: what they changed is not recorded\n",
			probe->kp.symbol_name, probe->nmissed);
}

static void stape_unhook_some(int n)
{
	while (n--)
		if (stape_hook_probes[n].kp.addr)
			stape_unhook_one(&stape_hook_probes[n]);
}

/**
 * stape_hook() - probe the functions, as far as this kernel lets us
 *
 * Context: may sleep.
 * Return: 0, or -ENOMEM: another time it may let us.
 */
int stape_hook(void)
{
	int i, ret;

	/* Nobody ends a call in which the last probe was taken away. */
	atomic_set(&stape_hook_calls, 0);
	for (i = 0; i < ARRAY_SIZE(stape_hooks); i++) {
		const struct stape_hook *hook = &stape_hooks[i];
		struct kretprobe *probe = &stape_hook_probes[i];

		/* A probe that has been registered before keeps what that has left in it. */
		*probe = (struct kretprobe) {
			.kp.symbol_name = hook->name,
			.entry_handler = hook->enter,
			.handler = hook->leave,
			.data_size = *hook->size,
			.maxactive = STAPE_HOOK_ACTIVE,
		};
		ret = register_kretprobe(probe);
		if (ret == -ENOMEM) {
			stape_unhook_some(i);
			return ret;
		}
		if (ret) {
			if (!test_and_set_bit(i, &stape_hook_told))
				pr_info("%s cannot be probed (%d): what it changes is not recorded\n",
					hook->name, ret);
			probe->kp.addr = NULL;
		}
	}
	return 0;
}

/**
 * stape_unhook() - take back stape_hook()
 *
 * No handler runs when it returns.
 *
 * Context: may sleep.
 */
void stape_unhook(void)
{
	stape_unhook_some(ARRAY_SIZE(stape_hooks));
}

#else

int stape_hook(void)
{
	return 0;
}

void stape_unhook(void)
{
}

#endif /* STAPE_HOOKS */
