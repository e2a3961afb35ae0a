// SPDX-License-Identifier: GPL-2.0-only
/*
 * Faults that the kernel injects into the calling thread.
 */
#include "fault.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "caps.h"

#define FAIL_NTH	"/proc/thread-self/fail-nth"
#define DEBUG		"/sys/kernel/debug/"
#define TRACING		"/sys/kernel/tracing/"

/* Fails all allocations of threads that ask for it, without a line in the log. */
static const struct {
	const char *file, *value;
} settings[] = {
	{ DEBUG "failslab/ignore-gfp-wait", "N" },
	{ DEBUG "failslab/verbose", "0" },
	{ DEBUG "fail_page_alloc/ignore-gfp-wait", "N" },
	{ DEBUG "fail_page_alloc/ignore-gfp-highmem", "N" },
	{ DEBUG "fail_page_alloc/min-order", "0" },
	{ DEBUG "fail_page_alloc/verbose", "0" },
};

/* Copies to and from user space fail as well, where the kernel supports it. */
#define USERCOPY	DEBUG "fail_usercopy/verbose"

#define NR_SETTINGS	(sizeof(settings) / sizeof(settings[0]))

static char saved[NR_SETTINGS][32];
static int fail_nth = -1;

static bool get_text(const char *path, char *text, size_t size)
{
	FILE *file = fopen(path, "re");
	bool done = file && fgets(text, size, file);

	if (file)
		fclose(file);
	return done;
}

/* Finds the addresses of a kernel function; false: the kernel has no such function. */
static bool find_function(const char *name, unsigned long *begin, unsigned long *end)
{
	FILE *file = fopen("/proc/kallsyms", "re");
	unsigned long address;
	char symbol[256];

	*begin = 0;
	*end = 0;
	while (file && !*end && fscanf(file, "%lx %*c %255s%*[^\n]", &address, symbol) == 2) {
		if (!strcmp(symbol, name))
			*begin = address;
		else if (*begin && address > *begin)
			*end = address;
	}
	if (file)
		fclose(file);
	return *end;
}

/* Exempts allocations below this function, because it warns when they fail. */
static bool spare(const char *name)
{
	static const char *const files[] = { "failslab", "fail_page_alloc" };
	char path[128], begin_text[32], end_text[32];
	unsigned long begin, end;
	unsigned int i;

	if (!find_function(name, &begin, &end))
		return true;
	snprintf(begin_text, sizeof(begin_text), "0x%lx", begin);
	snprintf(end_text, sizeof(end_text), "0x%lx", end);
	for (i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), DEBUG "%s/reject-start", files[i]);
		if (!st_write_file(path, begin_text))
			return false;
		snprintf(path, sizeof(path), DEBUG "%s/reject-end", files[i]);
		if (!st_write_file(path, end_text))
			return false;
	}
	return true;
}

/*
 * Adds probes to the functions into which the module puts return probes. The kernel warns if
 * the first probe of a function fails for lack of memory, so the module's must not be the
 * first.
 */
static void hold_probes(bool hold)
{
	static const char * const functions[] = {
		"__sched_setscheduler", "set_user_nice", "sched_setaffinity",
		"throttle_cfs_rq", "unthrottle_cfs_rq", "sched_autogroup_create_attach",
	};
	char command[128];
	size_t i;

	if (!hold)
		st_write_file(TRACING "events/st_fault/enable", "0");
	for (i = 0; i < sizeof(functions) / sizeof(*functions); i++) {
		if (hold)
			snprintf(command, sizeof(command), "r:st_fault/%s %s\n", functions[i],
				 functions[i]);
		else
			snprintf(command, sizeof(command), "-:st_fault/%s\n", functions[i]);
		if (!st_write_file(TRACING "kprobe_events", command))
			printf("# %s: %s\n", TRACING "kprobe_events", strerror(errno));
	}
	if (hold)
		st_write_file(TRACING "events/st_fault/enable", "1");
}

const char *st_fault_begin(void)
{
	size_t i;

	fail_nth = open(FAIL_NTH, O_RDWR | O_CLOEXEC);
	if (fail_nth < 0)
		return "cannot inject faults (FAULT_INJECTION)";
	for (i = 0; i < NR_SETTINGS; i++)
		if (!get_text(settings[i].file, saved[i], sizeof(saved[i])) ||
		    !st_write_file(settings[i].file, settings[i].value))
			return "cannot inject them into allocations (FAILSLAB, FAIL_PAGE_ALLOC)";
	st_write_file(USERCOPY, "0");
	if (!spare("objpool_init"))
		return "warns of return probes that it has no memory for";
	hold_probes(true);
	return NULL;
}

void st_fault_end(void)
{
	size_t i;

	if (fail_nth < 0)
		return;
	for (i = 0; i < NR_SETTINGS; i++)
		if (saved[i][0])
			st_write_file(settings[i].file, saved[i]);
	hold_probes(false);
	close(fail_nth);
	fail_nth = -1;
}

bool st_fault_arm(unsigned int nth)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", nth);
	return pwrite(fail_nth, text, strlen(text), 0) > 0;
}

/* An unused fault may hit this read itself: then it has not hit before. */
unsigned int st_fault_left(void)
{
	char text[16] = "";
	ssize_t n = pread(fail_nth, text, sizeof(text) - 1, 0);

	(void)!pwrite(fail_nth, "0", 1, 0);
	return n > 0 ? strtoul(text, NULL, 10) : 1;
}
