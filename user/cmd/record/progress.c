// SPDX-License-Identifier: GPL-2.0-only
/* How far a recording has come: the line on a terminal, and reports to the service manager. */
#include "record/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <systemd/sd-daemon.h>

#include "common/output.h"
#include "common/past.h"

#define SHOW_MS		1000	/* between two lines on a terminal */
#define STATUS_MS	10000	/* between two reports of the status */

static uint64_t count_events(const struct recorder *recorder, uint64_t *lost)
{
	uint32_t cpu, n = schedtape_session_cpus(recorder->session);
	struct schedtape_cpu stats;
	uint64_t events = 0;

	*lost = 0;
	for (cpu = 0; cpu <= n; cpu++) {
		if (!schedtape_session_cpu(recorder->session, cpu < n ? cpu : STAPE_CPU_NONE,
					   &stats))
			continue;
		events += stats.events;
		*lost += stats.lost;
	}
	return events;
}

#define REACH_LEN	48

/* Returns ", keeps about 29.7 s" of a recorder in memory, when it overwrites events; else "". */
static const char *reach_text(char buffer[REACH_LEN], const struct recorder *recorder)
{
	uint64_t reach = recorder->past ? past_reach(recorder->past) : 0;

	*buffer = '\0';
	if (reach)
		snprintf(buffer, REACH_LEN, ", keeps about %.1f s", reach / 1e9);
	return buffer;
}

/* -- the line on a terminal ------------------------------------------------ */

void progress_begin(struct progress *progress, bool quiet)
{
	progress->off = quiet || !isatty(STDERR_FILENO);
	progress->time = now_ms();
	progress->events = 0;
}

void progress_show(struct progress *progress, const struct recorder *recorder, bool on)
{
	char total[OUT_COUNT_LEN], rate[OUT_COUNT_LEN], lost[OUT_COUNT_LEN], reach[REACH_LEN];
	uint64_t events, nr_lost, elapsed = now_ms() - progress->time;

	if (progress->off || elapsed < SHOW_MS)
		return;
	events = count_events(recorder, &nr_lost);
	fprintf(stderr, "\r[ %s: %s events, %s/s, %.3f MB, %s lost%s%s ]\033[K", out_command(),
		out_count(total, events),
		out_count(rate, (events - progress->events) * 1000 / elapsed),
		recorder_tape_bytes(recorder) / 1e6, out_count(lost, nr_lost),
		reach_text(reach, recorder), on ? "" : ", disabled");
	progress->time += elapsed;
	progress->events = events;
}

void progress_end(const struct progress *progress)
{
	if (!progress->off)
		fprintf(stderr, "\r\033[K");
}

/* -- reports to the service manager ---------------------------------------- */

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
	char events[OUT_COUNT_LEN], lost[OUT_COUNT_LEN], reach[REACH_LEN];
	uint64_t nr_events, nr_lost;

	nr_events = count_events(recorder, &nr_lost);
	sd_notifyf(0, "STATUS=%s: %s events, %s lost, %.3f MB%s", on ? "Recording" : "Paused",
		   out_count(events, nr_events), out_count(lost, nr_lost),
		   recorder_tape_bytes(recorder) / 1e6, reach_text(reach, recorder));
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
