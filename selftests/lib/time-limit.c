// SPDX-License-Identifier: GPL-2.0-only
/*
 * Kernels with debugging options are slow: SCHEDTAPE_SLOW is the factor by which a test's time
 * limits grow.
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

unsigned int st_slow(void)
{
	const char *slow = getenv("SCHEDTAPE_SLOW");

	return slow && atoi(slow) > 1 ? atoi(slow) : 1;
}

/* Replaces the C library's alarm(), with which kselftest limits a test's time. */
unsigned int alarm(unsigned int seconds)
{
	struct itimerval new = {}, old;

	new.it_value.tv_sec = (time_t)seconds * st_slow();
	setitimer(ITIMER_REAL, &new, &old);
	return old.it_value.tv_sec + !!old.it_value.tv_usec;
}
