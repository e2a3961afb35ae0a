// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: whatever events any pages have, a timeline survives them, and so
 * does a program made of them.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <program.h>

#include "../unit/fake-tape.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Few tasks and CPUs, so that events have to do with each other. */
static void take_event(struct schedtape_tape *tape, const struct schedtape_event *ev)
{
	struct schedtape_event *to;
	uint64_t last = tape->nr ? tape->events[tape->nr - 1].time : 0;

	to = fake_event(tape, 0, 0, 0, 0, 0);
	*to = *ev;
	to->time = ev->time > last ? ev->time : last;
	to->cpu &= 7;
	to->pid &= 31;
	to->old_pid &= 31;
	to->tgid &= 31;
	if (to->curr)
		to->curr = 1 + (to->curr & 15);
}

static void take_page(struct schedtape_tape *tape, const void *data)
{
	struct schedtape_error err;
	struct schedtape_event ev;
	struct schedtape_page page;

	if (schedtape_page_open(&page, data, &err))
		return;
	while (schedtape_page_next(&page, &ev, &err) > 0)
		take_event(tape, &ev);
}

static bool keep_odd(void *arg, const struct schedtape_life *life)
{
	(void)arg;
	return life->pid % 2;
}

/* The first bytes are descriptions, the rest is pages. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct schedtape_program_options ways[] = {
		{ 0 },
		{ .external = SCHEDTAPE_EXTERNAL_RELATIVE, .from = 500000 },
		{ .keep = keep_odd, .from = 1000, .to = 500000 },
	};
	struct schedtape_tape *tape = fake_new(0, 1000000);
	struct schedtape_program *program;
	struct schedtape_error err;
	unsigned int i;

	for (i = 0; i < 4 && size >= 4; i++, data += 4, size -= 4) {
		struct schedtape_task *task = fake_task(tape, 1 + (data[0] & 31), "task",
							data[1] & 15, data[1] >> 4 & 7);

		task->tgid = data[2] & 31;
		task->start_time = (data[2] >> 5) * 2000000ULL;
		task->time = data[3] * 10000ULL;
	}
	for (; size >= STAPE_PAGE_SIZE; data += STAPE_PAGE_SIZE, size -= STAPE_PAGE_SIZE)
		take_page(tape, data);
	for (i = 0; i < sizeof(ways) / sizeof(*ways); i++)
		if (!schedtape_program_compile(tape, &ways[i], &program, &err))
			schedtape_program_free(program);
	fake_free(tape);
	return 0;
}
