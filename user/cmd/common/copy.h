/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Makes one file of a tape, for pack and recover.
 */
#ifndef SCHEDTAPE_COPY_H
#define SCHEDTAPE_COPY_H

#include <stdbool.h>

#include "common/options.h"

/**
 * struct copy_options - options of both commands
 * @output: the new tape, see destination_find(), allocated; NULL: the input's name and @suffix
 * @recover: leave out missing and corrupt parts
 */
struct copy_options {
	struct cmd_common common;
	char *output;
	const char *suffix;
	bool recover;
	bool quiet;
};

/* -o, -q, and the options of every command that reads a tape.  Its input is a copy_options. */
extern const struct argp copy_argp;

/* Makes the new tape and prints the result.  Returns an exit status. */
int copy_run(const struct copy_options *options);

#endif /* SCHEDTAPE_COPY_H */
