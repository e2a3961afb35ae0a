// SPDX-License-Identifier: GPL-2.0-only
/*
 * What this kernel lacks that the module can do without: the log names it when the module
 * is loaded, info-get at any time.
 */
#include "record/missing.h"

#include <linux/hrtimer.h>
#include <linux/kernel.h>
#include <linux/string.h>

#include "record/retprobe.h"

/* High-resolution timers fire to the nanosecond; others at a tick, which that is then. */
static size_t stape_lack_timers(char *text, size_t size)
{
	if (hrtimer_resolution == 1)
		return 0;
	return scnprintf(text, size,
			 "high-resolution timers: a replay's waits end up to %u us late\n",
			 hrtimer_resolution / (unsigned int)NSEC_PER_USEC);
}

/**
 * stape_lack_text() - say what this kernel lacks
 * @text: to be filled: a line for each thing, "" if there is none
 * @size: of that, STAPE_LACK_SIZE is enough
 *
 * Context: any.
 * Return: length of @text.
 */
size_t stape_lack_text(char *text, size_t size)
{
	size_t n;

	text[0] = '\0';
	n = stape_hook_lack(text, size);
	return n + stape_lack_timers(text + n, size - n);
}

/**
 * stape_lack_init() - find out what this kernel lacks, and tell the log
 *
 * Whether a function can be probed is known only when it is tried.
 *
 * Context: module init; may sleep.
 */
void stape_lack_init(void)
{
	char text[STAPE_LACK_SIZE], *at = text, *line;

	if (!stape_hook())
		stape_unhook();
	stape_lack_text(text, sizeof(text));
	while ((line = strsep(&at, "\n")) && *line)
		pr_notice("this kernel lacks %s\n", line);
}
