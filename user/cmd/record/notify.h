/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a recorder reports to the service manager, see sd_notify(3): that it has begun, that it
 * still works, how far it has come, and that it ends.  Does nothing if there is no NOTIFY_SOCKET.
 */
#ifndef SCHEDTAPE_NOTIFY_H
#define SCHEDTAPE_NOTIFY_H

#include <stdbool.h>
#include <stdint.h>

#include "record/recorder.h"

/**
 * struct notify - what was reported
 * @on: there is a service manager, and the reports are for it
 * @watchdog_ms: interval of the reports for its watchdog; 0: it has none
 * @alive: the last of these, ms of CLOCK_MONOTONIC
 * @status: when the status was reported last
 */
struct notify {
	bool on;
	uint64_t watchdog_ms;
	uint64_t alive;
	uint64_t status;
};

/* Reports that the recording has begun. */
void notify_ready(struct notify *notify);
/* To be called in each turn of the loop.  @on: events are recorded now */
void notify_tick(struct notify *notify, const struct recorder *recorder, bool on);
/* Returns after how many ms notify_tick() has to be called, @most at most. */
int notify_wait(const struct notify *notify, int most);
/* Reports that the recording ends. */
void notify_stopping(struct notify *notify);

#endif /* SCHEDTAPE_NOTIFY_H */
