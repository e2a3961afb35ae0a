// SPDX-License-Identifier: GPL-2.0-only
#include "common/heading.h"

#include "common/color.h"
#include "common/input.h"
#include "common/output.h"

static struct heading heading_of(const struct schedtape_timeline *timeline)
{
	struct heading heading;

	schedtape_timeline_tasks(timeline, &heading.nr_tasks);
	heading.pauses = schedtape_timeline_pauses(timeline, &heading.nr_pauses);
	return heading;
}

static void print_pauses(const struct heading *heading, struct time_text *times)
{
	const struct schedtape_range *pauses = heading->pauses;
	char range[TIME_TEXT_RANGE_LEN];
	size_t i;

	for (i = 0; i < heading->nr_pauses; i++)
		printf("# PAUSED: %s\n",
		       time_text_range(times, range, pauses[i].first, pauses[i].last));
}

static void print_losses(const struct schedtape_end *end, struct time_text *times)
{
	char range[TIME_TEXT_RANGE_LEN], loss[OUT_LOSS_LEN], count[OUT_COUNT_LEN];
	const struct schedtape_cpu *cpu;
	size_t i;

	for (i = 0; i < end->nr_cpus; i++) {
		cpu = &end->cpus[i];
		if (!cpu->lost)
			continue;
		time_text_range(times, range, cpu->lost_first, cpu->lost_last);
		printf("%s# LOST: %s%s\n", color_on(COLOR_YELLOW), out_loss(loss, cpu, range),
		       color_off(COLOR_YELLOW));
	}
	if (cmd_count_lost(end))
		printf("%s# LOST: %s events in all: what follows is less than what happened%s\n",
		       color_on(COLOR_YELLOW), out_count(count, cmd_count_lost(end)),
		       color_off(COLOR_YELLOW));
}

void heading_print_own(const char *path, struct schedtape_tape *tape,
		       const struct heading *heading, struct time_text *times)
{
	static const struct time_text_options usual = TIME_TEXT_OPTIONS_INIT;
	const struct schedtape_end *end = schedtape_tape_end(tape);
	char wall[OUT_TIME_LEN], count[OUT_COUNT_LEN], start[TIME_TEXT_LEN];
	size_t cpus = cmd_count_cpus(end);
	struct time_text own;

	/* Cannot fail, because no dates are asked for. */
	if (!times)
		time_text_begin(&own, &usual, tape, path);
	times = times ? times : &own;
	printf("# %s: %s s", path, out_seconds(wall, end->stop_time - end->start_time, 6));
	if (times->options.style == TIME_STYLE_DATE)
		printf(" from %s on", time_text(times, start, end->start_time));
	printf(", %s events on %zu CPU%s, %zu tasks\n", out_count(count, cmd_count_events(end)),
	       cpus, cpus == 1 ? "" : "s", heading->nr_tasks);
	print_losses(end, times);
	print_pauses(heading, times);
	putchar('\n');
}

void heading_print(const char *path, struct schedtape_tape *tape,
		   const struct schedtape_timeline *timeline, struct time_text *times)
{
	const struct heading heading = heading_of(timeline);

	heading_print_own(path, tape, &heading, times);
}

/*
 * JSON pauses[] of report, latency, why, stat, phases, estimate, timehist --summary:
 * @first_ns: When it began.
 * @last_ns: When it ended.
 */
static void list_pauses(const struct heading *heading)
{
	size_t i;

	out_json_list("pauses");
	for (i = 0; i < heading->nr_pauses && out_works(); i++) {
		struct json_object *object = json_object_new_object();

		out_json_add_count(object, "first_ns", heading->pauses[i].first);
		out_json_add_count(object, "last_ns", heading->pauses[i].last);
		out_json_element(object);
	}
	out_json_list_end();
}

/*
 * JSON of report, latency, why, stat, phases, estimate, timehist --summary:
 * @tape: Path of the tape.
 * @start_ns: When the recording began; in overwrite mode, from when on the tape is complete.
 * @stop_ns: When it ended.
 * @events: Events on the tape.
 * @lost: Events that are missing.
 * @cpus: A list, with an object for each CPU, and one for the descriptions of tasks.
 * @pauses: A list of pauses of the recording.
 */
void heading_json_own(const char *path, struct schedtape_tape *tape,
		      const struct heading *heading)
{
	const struct schedtape_end *end = schedtape_tape_end(tape);

	out_json_member("tape", json_object_new_string(path));
	out_json_member("start_ns", json_object_new_uint64(end->start_time));
	out_json_member("stop_ns", json_object_new_uint64(end->stop_time));
	out_json_member("events", json_object_new_uint64(cmd_count_events(end)));
	out_json_member("lost", json_object_new_uint64(cmd_count_lost(end)));
	out_json_member("cpus", out_json_cpus(end));
	list_pauses(heading);
}

void heading_json(const char *path, struct schedtape_tape *tape,
		  const struct schedtape_timeline *timeline)
{
	const struct heading heading = heading_of(timeline);

	heading_json_own(path, tape, &heading);
}

/* -- losses and pauses, where they are ------------------------------------- */

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
