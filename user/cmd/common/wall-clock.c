// SPDX-License-Identifier: GPL-2.0-only
#include "common/wall-clock.h"

#include <json-c/json.h>

#include "tape/meta.h"

/* Reads the pair of a tape without samples from META. */
static bool read_first(struct stape_clock_sample *first, struct schedtape_tape *tape)
{
	struct json_object *clock, *mono, *real;

	if (!json_object_object_get_ex(tape_meta(tape), "clock", &clock) ||
	    !json_object_object_get_ex(clock, "monotonic", &mono) ||
	    !json_object_object_get_ex(clock, "realtime", &real) ||
	    !json_object_is_type(mono, json_type_int) || !json_object_is_type(real, json_type_int))
		return false;
	first->mono = json_object_get_uint64(mono);
	first->real = json_object_get_uint64(real);
	return true;
}

void wall_clock_init(struct wall_clock *clock, struct schedtape_tape *tape)
{
	*clock = (struct wall_clock){ .pipe = schedtape_tape_is_pipe(tape) ? tape : NULL };
	clock->samples = schedtape_tape_clocks(tape, &clock->nr);
	if (clock->nr)
		return;
	clock->samples = NULL;
	clock->nr = read_first(&clock->first, tape);
}

/* A pipe's samples may have moved, too. */
static void take_new(struct wall_clock *clock)
{
	const struct stape_clock_sample *samples;
	size_t nr;

	samples = schedtape_tape_clocks(clock->pipe, &nr);
	if (!nr)
		return;
	clock->samples = samples;
	clock->nr = nr;
	if (clock->at >= nr)
		clock->at = nr - 1;
}

static const struct stape_clock_sample *sample_at(const struct wall_clock *clock, size_t i)
{
	return clock->samples ? &clock->samples[i] : &clock->first;
}

/* Returns @base + (@to - @from), not below 0 and not above the largest number. */
static uint64_t shift(uint64_t base, uint64_t from, uint64_t to)
{
	if (to < from)
		return base < from - to ? 0 : base - (from - to);
	return to - from > UINT64_MAX - base ? UINT64_MAX : base + (to - from);
}

uint64_t wall_clock_real(struct wall_clock *clock, uint64_t mono)
{
	const struct stape_clock_sample *sample;

	if (clock->pipe)
		take_new(clock);
	if (!clock->nr)
		return 0;
	/* Most calls come in the order of time, so the search begins where the last one ended. */
	while (clock->at && sample_at(clock, clock->at)->mono > mono)
		clock->at--;
	while (clock->at + 1 < clock->nr && sample_at(clock, clock->at + 1)->mono <= mono)
		clock->at++;
	sample = sample_at(clock, clock->at);
	return shift(sample->real, sample->mono, mono);
}

uint64_t wall_clock_mono(struct wall_clock *clock, uint64_t real)
{
	const struct stape_clock_sample *sample;
	size_t i = clock->nr;

	if (!i)
		return 0;
	while (--i && sample_at(clock, i)->real > real)
		;
	sample = sample_at(clock, i);
	return shift(sample->mono, sample->real, real);
}
