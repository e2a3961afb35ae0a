// SPDX-License-Identifier: GPL-2.0-only
/*
 * Return probes, for changes without a tracepoint, or with one that comes before the change.
 * On a kernel that does not let a function be probed all else is recorded.
 */
#include "record/retprobe.h"

#include <linux/bitops.h>
#include <linux/kernel.h>

#ifdef STAPE_HOOKS

/*
 * How many may be between entry and return at a time.  They may be preempted there, just
 * as they have got another policy, or sleep until a task has left its CPU: the kernel's
 * own choice, 10, is little for that.
 */
#define STAPE_HOOK_ACTIVE	512

/* Calls between stape_hook_begin() and stape_hook_end(). */
atomic_t stape_hook_calls;

static const struct stape_hooked {
	const char *name;
	const struct stape_hook *hook;
	const char *without;
} stape_hooked[] = {
	{ "__sched_setscheduler", &stape_prio_hook,
	  "changes of policy and priority are not recorded" },
	{ "set_user_nice", &stape_prio_hook, "changes of nice value are not recorded" },
	{ "sched_setaffinity", &stape_affinity_hook, "changes of affinity are not recorded" },
	{ "__set_task_comm", &stape_name_hook,
	  "a task renamed while rules change may be judged by its old name" },
};

static struct kretprobe stape_hook_probes[ARRAY_SIZE(stape_hooked)];
/* Bits by function: the kernel does not let us probe it. */
static unsigned long stape_hook_refused;

static void stape_unhook_one(struct kretprobe *probe, const char *without)
{
	unregister_kretprobe(probe);
	if (probe->nmissed)
		pr_warn("%d calls of %s() were missed, too many ran at once: %s\n",
			probe->nmissed, probe->kp.symbol_name, without);
}

static void stape_unhook_some(int n)
{
	while (n--)
		if (stape_hook_probes[n].kp.addr)
			stape_unhook_one(&stape_hook_probes[n], stape_hooked[n].without);
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
	for (i = 0; i < ARRAY_SIZE(stape_hooked); i++) {
		const struct stape_hook *hook = stape_hooked[i].hook;
		struct kretprobe *probe = &stape_hook_probes[i];

		/* A probe that has been registered before keeps what that has left in it. */
		*probe = (struct kretprobe) {
			.kp.symbol_name = stape_hooked[i].name,
			.entry_handler = hook->enter,
			.handler = hook->leave,
			.data_size = hook->size,
			.maxactive = STAPE_HOOK_ACTIVE,
		};
		ret = register_kretprobe(probe);
		if (ret == -ENOMEM) {
			stape_unhook_some(i);
			return ret;
		}
		assign_bit(i, &stape_hook_refused, ret);
		if (ret)
			probe->kp.addr = NULL;
	}
	return 0;
}

/**
 * stape_hook_lack() - say which functions cannot be probed
 * @text: to be filled: a line for each
 * @size: of that
 *
 * Context: any.
 * Return: length of @text.
 */
size_t stape_hook_lack(char *text, size_t size)
{
	size_t n = 0;
	int i;

	for (i = 0; i < ARRAY_SIZE(stape_hooked); i++)
		if (test_bit(i, &stape_hook_refused))
			n += scnprintf(text + n, size - n,
				       "a probe of %s(): %s\n",
				       stape_hooked[i].name, stape_hooked[i].without);
	return n;
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
	stape_unhook_some(ARRAY_SIZE(stape_hooked));
}

#else

int stape_hook(void)
{
	return 0;
}

void stape_unhook(void)
{
}

size_t stape_hook_lack(char *text, size_t size)
{
	return scnprintf(text, size,
			 "return probes: changes of policy, priority, nice value and affinity are not recorded, and a task renamed while rules change may be judged by its old name\n");
}

#endif /* STAPE_HOOKS */
