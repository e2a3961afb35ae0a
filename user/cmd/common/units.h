/* SPDX-License-Identifier: GPL-2.0-only */
/* Sizes and times with a unit. */
#ifndef SCHEDTAPE_UNITS_H
#define SCHEDTAPE_UNITS_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Parses a number with B, K, M or G behind it, as perf does.  Without a unit it counts @bare bytes;
 * 0: then it is no size.  Returns false for 0, for what does not fit, and for any other text.
 */
bool units_size(const char *text, uint64_t bare, uint64_t *bytes);
/*
 * Parses a time, which may have a fraction: a number with ns, us, ms, s, m, h or d behind it.
 * Without a unit it counts @bare ms; 0: then it is no time.  Returns false for less than 1 ms, for
 * more than 30 years, and for any other text.
 */
bool units_time(const char *text, double bare, uint64_t *ms);
/* The same in ns, from 1 ns to a day, with a unit. */
bool units_time_ns(const char *text, uint64_t *ns);

#endif /* SCHEDTAPE_UNITS_H */
