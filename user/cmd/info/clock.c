// SPDX-License-Identifier: GPL-2.0-only
#include "info/clock.h"

#include "common/output.h"

static uint64_t count_overwritten(const struct schedtape_end *end)
{
	uint64_t events = 0;
	size_t i;

	for (i = 0; i < end->nr_cpus; i++)
		events += end->cpus[i].overwritten;
	return events;
}

/* Returns the first sample in which the kernel calls the counter unstable, or NULL. */
static const struct stape_clock_sample *find_unstable(struct schedtape_tape *tape)
{
	const struct stape_clock_sample *samples;
	size_t i, n;

	samples = schedtape_tape_clocks(tape, &n);
	for (i = 0; i < n; i++)
		if (samples[i].unstable)
			return &samples[i];
	return NULL;
}

static void print_counter(struct schedtape_tape *tape, void (*print_key)(const char *key))
{
	const struct stape_clock_sample *unstable = find_unstable(tape);
	char time[OUT_TIME_LEN];
	size_t n;

	if (!schedtape_tape_uses_counter(tape))
		return;
	print_key("counter");
	printf("%.3f MHz", schedtape_tape_clocks(tape, &n)->khz / 1e3);
	if (unstable)
		printf(", NOT STABLE, as the kernel found before %s",
		       out_seconds(time, unstable->mono, 6));
	putchar('\n');
}

/*
 * Prints when a clock has changed by a number of ns: what @change says of two samples.
 * @format: for the number of seconds
 */
static void print_changes(struct schedtape_tape *tape, void (*print_key)(const char *key),
			  const char *key, const char *format,
			  int64_t (*change)(const struct stape_clock_sample *from,
					    const struct stape_clock_sample *to))
{
	char from[OUT_TIME_LEN], to[OUT_TIME_LEN];
	const struct stape_clock_sample *samples;
	int64_t ns;
	size_t i, n;

	samples = schedtape_tape_clocks(tape, &n);
	for (i = 1; i < n; i++) {
		ns = change(&samples[i - 1], &samples[i]);
		if (!ns)
			continue;
		print_key(key);
		printf(format, ns / 1e9);
		printf(", between %s and %s\n", out_seconds(from, samples[i - 1].mono, 6),
		       out_seconds(to, samples[i].mono, 6));
	}
}

static int64_t slept(const struct stape_clock_sample *from, const struct stape_clock_sample *to)
{
	return schedtape_clock_sleep(from, to);
}

void info_clock_print(struct schedtape_tape *tape, void (*print_key)(const char *key))
{
	const struct schedtape_end *end = schedtape_tape_end(tape);
	char count[OUT_COUNT_LEN], time[OUT_TIME_LEN];

	if (count_overwritten(end)) {
		print_key("overwritten");
		printf("%s events, since %s\n", out_count(count, count_overwritten(end)),
		       out_seconds(time, end->began, 6));
	}
	print_counter(tape, print_key);
	print_changes(tape, print_key, "machine slept", "for %.3f s", slept);
	print_changes(tape, print_key, "realtime set", "by %+.6f s", schedtape_clock_step);
}

/* Adds a change between two samples to a list. */
static void add_step(struct json_object *list, const char *key, int64_t ns,
		     const struct stape_clock_sample *from, const struct stape_clock_sample *to)
{
	struct json_object *entry;

	if (!ns)
		return;
	entry = json_object_new_object();
	json_object_object_add(entry, key, json_object_new_int64(ns));
	out_json_add_count(entry, "after_ns", from->mono);
	out_json_add_count(entry, "before_ns", to->mono);
	json_object_array_add(list, entry);
}

static void add_steps(struct json_object *clock, const struct stape_clock_sample *samples,
		      size_t n)
{
	struct json_object *steps = json_object_new_array(), *sleeps = json_object_new_array();
	const struct stape_clock_sample *from, *to;
	size_t i;

	for (i = 1; i < n; i++) {
		from = &samples[i - 1];
		to = &samples[i];
		add_step(steps, "step_ns", schedtape_clock_step(from, to), from, to);
		add_step(sleeps, "slept_ns", slept(from, to), from, to);
	}
	json_object_object_add(clock, "realtime_steps", steps);
	json_object_object_add(clock, "sleeps", sleeps);
}

void info_clock_json(struct schedtape_tape *tape, struct json_object *to)
{
	struct json_object *clock = json_object_new_object();
	const struct stape_clock_sample *samples;
	size_t n;

	samples = schedtape_tape_clocks(tape, &n);
	out_json_add_count(to, "began_ns", schedtape_tape_end(tape)->began);
	out_json_add_bool(clock, "counter", schedtape_tape_uses_counter(tape));
	if (n)
		out_json_add_count(clock, "counter_khz", samples[0].khz);
	out_json_add_bool(clock, "unstable", find_unstable(tape));
	add_steps(clock, samples, n);
	json_object_object_add(to, "clock", clock);
}
