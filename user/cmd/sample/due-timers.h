/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SCHEDTAPE_SAMPLE_DUE_TIMERS_H
#define SCHEDTAPE_SAMPLE_DUE_TIMERS_H

#include <stdint.h>

/*
 * Returns how many timers in criu's images had less than @ns left: interval timers of real time,
 * timers of timer_create(2) that do not count CPU time, and timerfds.
 */
unsigned int due_timers(const char *images, uint64_t ns);

#endif /* SCHEDTAPE_SAMPLE_DUE_TIMERS_H */
