// SPDX-License-Identifier: GPL-2.0-only
#include "record/notify.h"

#include <stdlib.h>
#include <systemd/sd-daemon.h>

#include "common/output.h"
#include "record/units.h"

#define STATUS_MS	10000	/* between two reports of the status */

void notify_ready(struct notify *notify)
{
	uint64_t us = 0;

	notify->on = getenv("NOTIFY_SOCKET");
	if (!notify->on)
		return;
	/* Half of the time, as sd_watchdog_enabled(3) recommends. */
	if (sd_watchdog_enabled(0, &us) > 0)
		notify->watchdog_ms = us / 2000 ? us / 2000 : 1;
	notify->alive = now_ms();
	notify->status = notify->alive;
	sd_notify(0, "READY=1\nSTATUS=Recording");
}

static void report_status(const struct recorder *recorder, bool on)
{
	char events[OUT_COUNT_LEN], lost[OUT_COUNT_LEN];
	uint64_t nr_events, nr_lost;

	nr_events = recorder_events(recorder, &nr_lost);
	sd_notifyf(0, "STATUS=%s: %s events, %s lost, %.3f MB", on ? "Recording" : "Paused",
		   out_count(events, nr_events), out_count(lost, nr_lost),
		   recorder_bytes(recorder) / 1e6);
}

void notify_tick(struct notify *notify, const struct recorder *recorder, bool on)
{
	uint64_t now;

	if (!notify->on)
		return;
	now = now_ms();
	if (notify->watchdog_ms && now - notify->alive >= notify->watchdog_ms) {
		sd_notify(0, "WATCHDOG=1");
		notify->alive = now;
	}
	if (now - notify->status >= STATUS_MS) {
		report_status(recorder, on);
		notify->status = now;
	}
}

int notify_wait(const struct notify *notify, int most)
{
	return notify->watchdog_ms ? ms_until(notify->alive + notify->watchdog_ms, most) : most;
}

void notify_stopping(struct notify *notify)
{
	if (!notify->on)
		return;
	sd_notify(0, "STOPPING=1\nSTATUS=Writing the end of the tape");
	notify->on = false;
}
