// SPDX-License-Identifier: GPL-2.0-only
#include "common/gap-lines.h"

#include "common/color.h"

void gap_lines_text(struct lines *lines, struct time_text *time, const struct schedtape_event *ev)
{
	unsigned int color = ev->type == SCHEDTAPE_EV_LOST ? COLOR_YELLOW : COLOR_PLAIN;
	char first[TIME_TEXT_LEN], last[TIME_TEXT_LEN];

	lines_put(lines, color_on(color));
	lines_put(lines, ev->type == SCHEDTAPE_EV_PAUSED ? "# PAUSED" : "# LOST: ");
	if (ev->type == SCHEDTAPE_EV_LOST) {
		/* A corrupt chunk does not say how many events it had. */
		if (ev->lost)
			lines_number(lines, ev->lost);
		else
			lines_put(lines, "an unknown number of");
		lines_put(lines, " events");
	}
	lines_put(lines, ev->cpu == STAPE_CPU_NONE ? ", descriptions" : ", CPU ");
	if (ev->cpu != STAPE_CPU_NONE)
		lines_number(lines, ev->cpu);
	lines_put(lines, ", from ");
	lines_put(lines, time_text(time, first, ev->lost_first));
	lines_put(lines, " to ");
	lines_put(lines, time_text(time, last, ev->lost_last));
	lines_put(lines, color_off(color));
	lines_end(lines);
}

void gap_lines_json(struct lines *lines, const struct schedtape_event *ev)
{
	bool cpu = ev->cpu != STAPE_CPU_NONE;

	lines_count(lines, "{\"time_ns\":", ev->time);
	lines_count_or_null(lines, ",\"cpu\":", cpu ? ev->cpu : LINES_NULL);
	if (ev->type == SCHEDTAPE_EV_LOST)
		lines_count(lines, ",\"event\":\"lost\",\"lost\":", ev->lost);
	else
		lines_put(lines, ",\"event\":\"paused\"");
	lines_count(lines, ",\"first_ns\":", ev->lost_first);
	lines_count(lines, ",\"last_ns\":", ev->lost_last);
	lines_char(lines, '}');
	lines_end(lines);
}
