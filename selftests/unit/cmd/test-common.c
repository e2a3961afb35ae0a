// SPDX-License-Identifier: GPL-2.0-only
/* Description: the options of all commands that read one tape. */
#include <string.h>

#include "common/options.h"
#include "tap.h"

static bool refused;

/* Replaces the C library's function, which would exit. */
void argp_error(const struct argp_state *state, const char *format, ...)
{
	(void)state;
	(void)format;
	refused = true;
}

/* Returns the name of the tape that these arguments give, or "refused". */
static const char *tape_of(char *first, char *second, char *third)
{
	char *argv[] = { "report", first, second, third, NULL };
	struct cmd_common common = CMD_COMMON_INIT;
	int argc = 1;

	while (argv[argc])
		argc++;
	refused = false;
	if (argp_parse(&cmd_common_argp, argc, argv, ARGP_SILENT, NULL, &common))
		refused = true;
	return refused ? "refused" : common.input;
}

static void test_tape(void)
{
	ok(!strcmp(tape_of(NULL, NULL, NULL), CMD_DEFAULT_TAPE), "no name: the usual tape");
	ok(!strcmp(tape_of("a", NULL, NULL), "a"), "an argument");
	ok(!strcmp(tape_of("-ia", NULL, NULL), "a"), "-i");
	ok(!strcmp(tape_of("-ia", "-ib", NULL), "b"), "-i twice: the last one counts");
	ok(!strcmp(tape_of("a", "b", NULL), "refused"), "two arguments");
	ok(!strcmp(tape_of("-ia", "b", NULL), "refused"), "-i and an argument");
	ok(!strcmp(tape_of("a", "-i", "b"), "refused"), "an argument and -i");
}

int main(void)
{
	test_tape();
	return tap_done();
}
