// SPDX-License-Identifier: GPL-2.0-only
/*
 * Registers return probes.  If the kernel refuses one of them, the others are registered all the
 * same.
 */
#include "record/retprobe.h"

#include <linux/kernel.h>
#include <linux/moduleparam.h>
#include <linux/spinlock.h>

#ifdef STAPE_RETPROBES

/*
 * The number of calls of a function that are followed at a time, from the entry to the return.
 * The kernel's default, 10, is too small: a caller may be preempted there, just after it has got
 * another policy, or sleep until a task has left its CPU.  A new value has effect when the probes
 * are switched on the next time.
 */
static unsigned int stape_calls_max = 512;
module_param_named(calls_max, stape_calls_max, uint, 0644);
MODULE_PARM_DESC(calls_max, "calls of each probed function that are followed at a time (512)");

#define STAPE_RETPROBE_CALLS_MAX	65536

/* Calls between stape_retprobe_begin() and stape_retprobe_end(). */
atomic_t stape_retprobe_calls;

/*
 * Protects stape_retprobe_counted.  Held while a probe's own count is added to it and cleared, so
 * that no call is counted twice.
 */
static DEFINE_SPINLOCK(stape_retprobe_lock);
static u64 stape_retprobe_counted;

/* Returns true if the kernel lacks what the probe's handlers need.  Then it is not registered. */
static bool stape_retprobe_useless(const struct stape_retprobe *probe)
{
	return probe->ops->usable && !probe->ops->usable();
}

/* Calls that found all of calls_max in use, or came while another probe's handler ran. */
static u64 stape_retprobe_nmissed(const struct stape_retprobe *probe)
{
	return (u64)READ_ONCE(probe->kretprobe.nmissed) + READ_ONCE(probe->kretprobe.kp.nmissed);
}

/* Keeps the count of a probe that was unregistered, because the next registration clears it. */
static void stape_retprobe_count(struct stape_retprobe *probe)
{
	spin_lock(&stape_retprobe_lock);
	stape_retprobe_counted += stape_retprobe_nmissed(probe);
	probe->kretprobe.nmissed = 0;
	probe->kretprobe.kp.nmissed = 0;
	spin_unlock(&stape_retprobe_lock);
}

/**
 * stape_retprobe_missed() - count the calls that the probes have missed
 * @probes: all probes that were ever registered
 * @n: how many
 *
 * Context: any but interrupts.
 */
u64 stape_retprobe_missed(const struct stape_retprobe *probes, int n)
{
	u64 missed;

	spin_lock(&stape_retprobe_lock);
	missed = stape_retprobe_counted;
	while (n--)
		if (!READ_ONCE(probes[n].refused))
			missed += stape_retprobe_nmissed(&probes[n]);
	spin_unlock(&stape_retprobe_lock);
	return missed;
}

/**
 * stape_retprobe_unregister() - unregister probes
 * @probes: probes that stape_retprobe_register() has tried
 * @n: how many
 *
 * No handler runs when it returns.
 *
 * Context: may sleep.
 */
void stape_retprobe_unregister(struct stape_retprobe *probes, int n)
{
	while (n--) {
		u64 missed;

		if (probes[n].refused)
			continue;
		unregister_kretprobe(&probes[n].kretprobe);
		missed = stape_retprobe_nmissed(&probes[n]);
		if (missed)
			pr_warn("%llu calls of %s() were missed, too many ran at once: %s\n",
				missed, probes[n].name, probes[n].without);
		stape_retprobe_count(&probes[n]);
	}
}

/**
 * stape_retprobe_register() - register those probes that the kernel allows
 * @probes: the functions
 * @n: how many
 *
 * Context: may sleep.
 * Return: 0, or -ENOMEM, in which case another try may succeed.
 */
int stape_retprobe_register(struct stape_retprobe *probes, int n)
{
	int i, ret;

	/* Calls during which the probes were last unregistered never end: forget them. */
	atomic_set(&stape_retprobe_calls, 0);
	for (i = 0; i < n; i++) {
		/* Sets all fields, because an earlier registration has left values in them. */
		probes[i].kretprobe = (struct kretprobe) {
			.kp.symbol_name = probes[i].name,
			.entry_handler = probes[i].ops->enter,
			.handler = probes[i].ops->leave,
			.data_size = probes[i].ops->size,
			.maxactive = clamp(READ_ONCE(stape_calls_max), 1U,
					   (unsigned int)STAPE_RETPROBE_CALLS_MAX),
		};
		ret = stape_retprobe_useless(&probes[i]) ? -EOPNOTSUPP :
							   register_kretprobe(&probes[i].kretprobe);
		if (ret == -ENOMEM) {
			stape_retprobe_unregister(probes, i);
			return ret;
		}
		WRITE_ONCE(probes[i].refused, ret);
	}
	return 0;
}

/**
 * stape_retprobe_missing() - list the functions that cannot be probed
 * @probes: probes that stape_retprobe_register() has tried
 * @n: how many
 * @text: to be filled: a line for each
 * @size: of @text
 *
 * Context: any.
 * Return: length of @text.
 */
size_t stape_retprobe_missing(const struct stape_retprobe *probes, int n, char *text, size_t size)
{
	size_t length = 0;
	int i;

	for (i = 0; i < n; i++)
		if (READ_ONCE(probes[i].refused) && !stape_retprobe_useless(&probes[i]))
			length += scnprintf(text + length, size - length,
					    "a probe of %s(): %s\n",
					    probes[i].name, probes[i].without);
	return length;
}

#endif /* STAPE_RETPROBES */
