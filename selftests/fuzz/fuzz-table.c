// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: the table of tasks, the counts of stat and the lines of map survive any events in
 * any pages, and no event is counted twice or never.
 */
#include <fcntl.h>
#include <unistd.h>

#include "common/input.h"
#include "map/internal.h"
#include "pages.h"
#include "stat/internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Of a tape that is an array. */
struct json_object *tape_meta(struct schedtape_tape *tape)
{
	(void)tape;
	return NULL;
}

const char *schedtape_tape_damage(struct schedtape_tape *tape)
{
	return tape->nr % 2 ? "an odd number of events" : NULL;
}

const struct stape_clock_sample *schedtape_tape_clocks(struct schedtape_tape *tape, size_t *n)
{
	(void)tape;
	*n = 0;
	return NULL;
}

bool cmd_tape_is_live(struct schedtape_tape *tape)
{
	(void)tape;
	return false;
}

static void count(struct schedtape_tape *tape, bool by_cpu)
{
	static const struct selection all;
	struct counts counts = { .selection = &all, .by_cpu = by_cpu };
	const struct schedtape_event *ev;
	uint64_t expected = 0, n = 0;
	size_t i;

	if (task_table_begin(&counts.table, tape, NULL))
		abort();
	while (tape_next_event(tape, &ev, NULL) > 0) {
		expected += !schedtape_event_is_gap(ev) && ev->type <= SCHEDTAPE_EV_UNTHROTTLE &&
			    !(ev->type == STAPE_EV_EXIT && schedtape_exit_ended(ev));
		if (counts_take(&counts, ev))
			abort();
	}
	if (task_table_end(&counts.table, tape))
		abort();
	for (i = 0; i < counts.nr; i++)
		n += counts_events(&counts.sums[i]);
	if (n != expected)
		abort();
	for (i = 0; i < counts.table.nr; i++)
		if (counts.table.tasks[i].process >= counts.table.nr)
			abort();
	counts_free(&counts);
}

static void print(struct schedtape_tape *tape, bool json)
{
	static const struct time_text_options options = TIME_TEXT_OPTIONS_INIT;
	struct rows rows = { .compact = true, .json = json, .colors = !json };
	const struct schedtape_event *ev;
	struct cell *cell;

	lines_begin(&rows.lines);
	if (task_table_begin(&rows.table, tape, NULL))
		abort();
	rows.time.options = options;
	while (tape_next_event(tape, &ev, NULL) > 0) {
		cell = rows_find_column(&rows, ev->cpu);
		if (!cell && !rows_add_column(&rows, ev->cpu))
			cell = rows_find_column(&rows, ev->cpu);
		if (!cell)
			abort();
		if (schedtape_event_is_gap(ev)) {
			rows_clear(cell);
			continue;
		}
		if (task_table_follow(&rows.table, ev))
			abort();
		if (ev->type != STAPE_EV_SWITCH)
			continue;
		if (rows_set(&rows, cell, ev, ev->pid % 4))
			abort();
		rows_print(&rows, cell, ev->time, ev->pid % 8 == 4);
	}
	lines_flush(&rows.lines);
	rows_free(&rows);
}

/* This test makes map's lines, but does not compare them. */
static void discard_output(void)
{
	static bool done;
	int fd = done ? -1 : open("/dev/null", O_WRONLY);

	if (!done && (fd < 0 || dup2(fd, STDOUT_FILENO) < 0))
		abort();
	done = true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct schedtape_tape *tape = fake_new(0, 1000000);
	unsigned int i;

	discard_output();
	take_tasks(tape, data, size);
	if (size >= DESCRIPTIONS * DESCRIPTION_LEN)
		take_pages(tape, data + DESCRIPTIONS * DESCRIPTION_LEN,
			   (size - DESCRIPTIONS * DESCRIPTION_LEN) / STAPE_PAGE_SIZE);
	for (i = 0; i < 2; i++) {
		schedtape_tape_rewind(tape, NULL);
		count(tape, i);
		schedtape_tape_rewind(tape, NULL);
		print(tape, i);
	}
	fake_free(tape);
	return 0;
}
