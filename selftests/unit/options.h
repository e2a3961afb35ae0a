/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Command lines without their programs: an error in one is noted, and does not exit.
 */
#ifndef SELFTESTS_OPTIONS_H
#define SELFTESTS_OPTIONS_H

#include <argp.h>
#include <stdbool.h>

#include <tape/cgroups.h>

#include "common/input.h"
#include "common/options.h"
#include "common/output.h"
#include "common/select-tasks.h"

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

/* The tape that options name has no tasks, and no record of cgroups. */
int select_tasks_find(struct select_names *names, struct schedtape_tape *tape, const char *path)
{
	(void)names;
	(void)tape;
	(void)path;
	return 0;
}

const struct tape_cgroup *tape_cgroups(struct schedtape_tape *tape, size_t *n)
{
	(void)tape;
	*n = 0;
	return NULL;
}

const char *contents_cgroups(char buffer[CONTENTS_LEN], struct schedtape_tape *tape)
{
	(void)tape;
	*buffer = '\0';
	return buffer;
}

#endif /* SELFTESTS_OPTIONS_H */
