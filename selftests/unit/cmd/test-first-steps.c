// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: schedtape alone says how to begin, and what this user lacks.
 */
#include <stdlib.h>
#include <string.h>

#include "common/rights.h"
#include "first-steps.h"
#include "tap.h"

static char *printed(const char *obstacle)
{
	size_t size;
	char *text;
	FILE *to = open_memstream(&text, &size);

	if (!to) {
		puts("Bail out! no memory");
		exit(1);
	}
	first_steps_print(to, obstacle);
	fclose(to);
	return text;
}

int main(void)
{
	const char *obstacle = rights_before();
	char *without = printed(NULL), *with = printed("there is no device: buy one");

	ok(strstr(without, "\n  schedtape record -- ") &&
	   strstr(without, "\n  schedtape report ") &&
	   strstr(without, "\n  schedtape replay ") && strstr(without, "\n  man schedtape "),
	   "the first steps");
	ok(!strstr(without, "cannot record"), "nothing is missing");
	ok(strstr(with, "\nYou cannot record here yet: there is no device: buy one\n") &&
	   !strncmp(with, without, strlen(without)), "what is missing, after them");
	ok(!obstacle || strchr(obstacle, ':'), "what is missing here comes with what helps");
	free(without);
	free(with);
	return tap_done();
}
