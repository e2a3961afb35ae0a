// SPDX-License-Identifier: GPL-2.0-only
#include "common/color.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/pager.h"

#define OPT_COLOR	0x5200

static const struct argp_option options[] = {
	{ "color", OPT_COLOR, "auto|always|never", OPTION_ARG_OPTIONAL,
	  "Print colours; auto: on a terminal, unless NO_COLOR is set", 0 },
	{ 0 }
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	enum color_when *when = state->input;

	if (key != OPT_COLOR)
		return ARGP_ERR_UNKNOWN;
	if (!arg || !strcmp(arg, "always"))
		*when = COLOR_ALWAYS;
	else if (!strcmp(arg, "never"))
		*when = COLOR_NEVER;
	else if (!strcmp(arg, "auto"))
		*when = COLOR_AUTO;
	else
		argp_error(state, "--color: not auto, always or never: '%s'", arg);
	return 0;
}

const struct argp color_argp = { .options = options, .parser = parse };

bool color_wanted(enum color_when when)
{
	const char *no = getenv("NO_COLOR"), *terminal = getenv("TERM");

	if (when != COLOR_AUTO)
		return when == COLOR_ALWAYS;
	/* See no-color.org: it counts if it is not empty. */
	return isatty(pager_output()) && !(no && *no) && terminal && strcmp(terminal, "dumb");
}
