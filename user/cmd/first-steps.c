// SPDX-License-Identifier: GPL-2.0-only
/*
 * What "schedtape" alone prints: how to begin.
 */
#include "first-steps.h"

static const char steps[] =
	"schedtape records how Linux schedules a workload, and replays it.\n"
	"\n"
	"  schedtape record -- make -j8    record a command, or with -p PID a running process\n"
	"  schedtape report                show what each of its tasks did\n"
	"  schedtape why --summary         show what kept them from running\n"
	"  schedtape replay                replay them: the same load, without the program\n"
	"\n"
	"  schedtape --help                list all commands\n"
	"  man schedtape                   read the manual\n";

void first_steps_print(FILE *to, const char *obstacle)
{
	fputs(steps, to);
	if (obstacle)
		fprintf(to, "\nYou cannot record here yet: %s\n", obstacle);
}
