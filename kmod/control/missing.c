// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lists what this kernel lacks and the module can work without: in the log when the module is
 * loaded, and through the netlink command info-get at any time.
 */
#include "control/control.h"

#include <linux/hrtimer.h>
#include <linux/kernel.h>
#include <linux/string.h>

#include "control/internal.h"
#include "record/attach.h"

/* hrtimer_resolution is 1 ns with high-resolution timers, and a tick without. */
static size_t stape_missing_timers(char *text, size_t size)
{
	if (hrtimer_resolution == 1)
		return 0;
	return scnprintf(text, size,
			 "high-resolution timers: a replay's waits end up to %u us late\n",
			 hrtimer_resolution / (unsigned int)NSEC_PER_USEC);
}

/* Kbuild defines STAPE_UNTESTED for kernels of other series, as a list of the tested ones. */
static size_t stape_missing_tests(char *text, size_t size)
{
#ifdef STAPE_UNTESTED
	return scnprintf(text, size, "tests: this version of schedtape is tested on Linux "
			 STAPE_UNTESTED " only\n");
#else
	return 0;
#endif
}

/**
 * stape_missing_text() - list what this kernel lacks
 * @text: to be filled: a line for each thing; "" if the kernel lacks nothing
 * @size: of @text, STAPE_MISSING_SIZE is enough
 *
 * Context: any.
 * Return: length of @text.
 */
size_t stape_missing_text(char *text, size_t size)
{
	size_t n;

	text[0] = '\0';
	n = stape_missing_tests(text, size);
	n += stape_attach_missing(text + n, size - n);
	return n + stape_missing_timers(text + n, size - n);
}

/**
 * stape_missing_init() - find out what this kernel lacks, and log it
 *
 * Context: module init; may sleep.
 */
void __init stape_missing_init(void)
{
	static char text[STAPE_MISSING_SIZE] __initdata;
	char *at = text, *line;

	stape_attach_try();
	stape_missing_text(text, sizeof(text));
	while ((line = strsep(&at, "\n")) && *line)
		pr_notice("this kernel lacks %s\n", line);
}
