// SPDX-License-Identifier: GPL-2.0-only
#include "common/color.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define OPT_COLOR	0x5200

/* -- the option ------------------------------------------------------------ */

static enum {
	AUTO,
	ALWAYS,
	NEVER,
} when;

static const struct argp_option options[] = {
	{ "color", OPT_COLOR, "auto|always|never", OPTION_ARG_OPTIONAL,
	  "Print colours; auto: on a terminal, unless NO_COLOR is set", 0 },
	{ 0 }
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	switch (key) {
	case ARGP_KEY_INIT:
		when = AUTO;
		return 0;
	case OPT_COLOR:
		if (!arg || !strcmp(arg, "always"))
			when = ALWAYS;
		else if (!strcmp(arg, "never"))
			when = NEVER;
		else if (!strcmp(arg, "auto"))
			when = AUTO;
		else
			argp_error(state, "--color: not auto, always or never: '%s'", arg);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

const struct argp color_argp = { .options = options, .parser = parse };

/* -- who has colours ------------------------------------------------------- */

static bool output, messages;

/* Returns true if the user, by the environment, wants colours on a terminal. */
static bool environment_wants(void)
{
	const char *no = getenv("NO_COLOR"), *terminal = getenv("TERM");

	/* See no-color.org: it counts if it is not empty. */
	return !(no && *no) && terminal && strcmp(terminal, "dumb");
}

void color_begin(void)
{
	bool terminals = when == ALWAYS || (when == AUTO && environment_wants());

	output = when == ALWAYS || (terminals && isatty(STDOUT_FILENO));
	/* --color=always is for a pipe with the output.  A file of messages stays plain. */
	messages = terminals && isatty(STDERR_FILENO);
}

bool color_output(void)
{
	return output;
}

/* -- sequences ------------------------------------------------------------- */

static const char *begin(unsigned int color)
{
	static const char * const sequences[] = {
		"", "\033[1m", "\033[31m", "\033[1;31m", "\033[32m", "\033[1;32m", "\033[33m",
		"\033[1;33m",
	};

	return sequences[color];
}

const char *color_on(unsigned int color)
{
	return output ? begin(color) : "";
}

const char *color_off(unsigned int color)
{
	return output && color ? COLOR_RESET : "";
}

const char *color_message_on(unsigned int color)
{
	return messages ? begin(color) : "";
}

const char *color_message_off(unsigned int color)
{
	return messages && color ? COLOR_RESET : "";
}
