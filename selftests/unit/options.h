/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Command lines without their programs: an error in one is noted, and does not exit.
 */
#ifndef SELFTESTS_OPTIONS_H
#define SELFTESTS_OPTIONS_H

#include <argp.h>
#include <stdbool.h>

#include "common/options.h"
#include "common/output.h"

static bool refused;

/* The options of all commands are not needed here. */
const struct argp cmd_json_argp, cmd_common_argp;

/* Replaces the C library's function. */
void argp_error(const struct argp_state *state, const char *format, ...)
{
	(void)state;
	(void)format;
	refused = true;
}

void argp_failure(const struct argp_state *state, int status, int error, const char *format, ...)
{
	(void)state;
	(void)status;
	(void)error;
	(void)format;
	refused = true;
}

void out_error(const char *path, const char *format, ...)
{
	(void)path;
	(void)format;
}

void out_warning(const char *path, const char *format, ...)
{
	(void)path;
	(void)format;
}

int out_failed(int ret, const struct schedtape_error *err)
{
	(void)err;
	return ret;
}

int out_finish(int status)
{
	return status;
}

void cmd_parse(const struct argp *argp, int argc, char **argv, unsigned int flags, void *input)
{
	refused = false;
	if (argp_parse(argp, argc, argv, flags | ARGP_SILENT, NULL, input))
		refused = true;
}

#endif /* SELFTESTS_OPTIONS_H */
