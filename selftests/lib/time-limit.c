// SPDX-License-Identifier: GPL-2.0-only
/*
 * Kernels with debugging options are slow: SCHEDTAPE_SLOW is the factor by which a test's loads
 * and time limits grow. A busy host stops a guest's CPUs at any time: SCHEDTAPE_PATIENCE is another
 * factor for the limits that only end a hang.
 */
#include "time-limit.h"

#include <stdlib.h>
#include <sys/time.h>
#include <unistd.h>

bool st_exact(void)
{
	const char *exact = getenv("SCHEDTAPE_EXACT");

	return exact && *exact == '1';
}

static unsigned int factor(const char *name, unsigned int otherwise)
{
	const char *value = getenv(name);

	return value && atoi(value) >= 1 ? atoi(value) : otherwise;
}

unsigned int st_slow(void)
{
	return factor("SCHEDTAPE_SLOW", 1);
}

unsigned int st_patience(void)
{
	return factor("SCHEDTAPE_PATIENCE", 4) * st_slow();
}

/* Replaces the C library's alarm(), with which kselftest limits a test's time. */
unsigned int alarm(unsigned int seconds)
{
	struct itimerval new = {}, old;

	new.it_value.tv_sec = (time_t)seconds * st_patience();
	setitimer(ITIMER_REAL, &new, &old);
	return old.it_value.tv_sec + !!old.it_value.tv_usec;
}
