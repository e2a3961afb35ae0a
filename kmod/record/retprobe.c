// SPDX-License-Identifier: GPL-2.0-only
/*
 * Return probes.  If the kernel refuses a probe, all other changes are recorded nevertheless.
 */
#include "record/retprobe.h"

#include <linux/kernel.h>

#ifdef STAPE_RETPROBES

/*
 * How many calls of a function may be between entry and return at a time.  The caller may be
 * preempted there, just after it has got another policy, or sleep until a task has left its
 * CPU.  The kernel's default, 10, is too small for that.
 */
#define STAPE_RETPROBE_ACTIVE	512

/* Calls between stape_retprobe_begin() and stape_retprobe_end(). */
atomic_t stape_retprobe_calls;

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
		struct kretprobe *kretprobe = &probes[n].kretprobe;

		if (probes[n].refused)
			continue;
		unregister_kretprobe(kretprobe);
		if (kretprobe->nmissed)
			pr_warn("%d calls of %s() were missed, too many ran at once: %s\n",
				kretprobe->nmissed, probes[n].name, probes[n].without);
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
			.maxactive = STAPE_RETPROBE_ACTIVE,
		};
		ret = register_kretprobe(&probes[i].kretprobe);
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
		if (READ_ONCE(probes[i].refused))
			length += scnprintf(text + length, size - length,
					    "a probe of %s(): %s\n",
					    probes[i].name, probes[i].without);
	return length;
}

#endif /* STAPE_RETPROBES */
