// SPDX-License-Identifier: GPL-2.0-only
/*
 * Kernels that look for mistakes take their time: SCHEDTAPE_SLOW says how many times
 * longer a test may take than it says itself.
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

/*
 * In place of the C library's: with it kselftest limits a test's time.  Where time is
 * counted in instructions, it jumps while a file of the host is waited for: see "run".
 */
unsigned int alarm(unsigned int seconds)
{
	struct itimerval new = {}, old;

	new.it_value.tv_sec = (time_t)seconds * (st_exact() ? 100 : st_slow());
	setitimer(ITIMER_REAL, &new, &old);
	return old.it_value.tv_sec + !!old.it_value.tv_usec;
}
