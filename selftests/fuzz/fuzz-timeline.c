// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: a timeline, and a program made from it, survive any events in any pages.
 */
#include <program/program.h>

#include "pages.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool keep_odd(void *arg, const struct schedtape_task *task)
{
	(void)arg;
	return task->pid % 2;
}

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

	take_tasks(tape, data, size);
	if (size >= DESCRIPTIONS * DESCRIPTION_LEN)
		take_pages(tape, data + DESCRIPTIONS * DESCRIPTION_LEN,
			   (size - DESCRIPTIONS * DESCRIPTION_LEN) / STAPE_PAGE_SIZE);
	for (i = 0; i < sizeof(ways) / sizeof(*ways); i++)
		if (!schedtape_program_compile(tape, &ways[i], &program, &err))
			schedtape_program_free(program);
	fake_free(tape);
	return 0;
}
