// SPDX-License-Identifier: GPL-2.0-only
#include "record/internal.h"
#include "record/recorder.h"

#include <unistd.h>

#include "common/output.h"
#include "common/past.h"

#define INTERVAL_MS	1000

void progress_begin(struct progress *progress, bool quiet)
{
	progress->off = quiet || !isatty(STDERR_FILENO);
	progress->time = now_ms();
	progress->events = 0;
}

void progress_show(struct progress *progress, const struct recorder *recorder, bool on)
{
	char total[OUT_COUNT_LEN], rate[OUT_COUNT_LEN], lost[OUT_COUNT_LEN];
	uint64_t events, nr_lost, reach, elapsed = now_ms() - progress->time;

	if (progress->off || elapsed < INTERVAL_MS)
		return;
	events = recorder_events(recorder, &nr_lost);
	fprintf(stderr, "\r[ %s: %s events, %s/s, %.3f MB, %s lost", out_command(),
		out_count(total, events),
		out_count(rate, (events - progress->events) * 1000 / elapsed),
		recorder_bytes(recorder) / 1e6, out_count(lost, nr_lost));
	reach = recorder->past ? past_reach(recorder->past) : 0;
	if (reach)
		fprintf(stderr, ", keeps about %.1f s", reach / 1e9);
	fprintf(stderr, "%s ]\033[K", on ? "" : ", disabled");
	progress->time += elapsed;
	progress->events = events;
}

void progress_end(const struct progress *progress)
{
	if (!progress->off)
		fprintf(stderr, "\r\033[K");
}
