/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What pack and recover share: one file is made of a tape.
 */
#ifndef SCHEDTAPE_COPY_H
#define SCHEDTAPE_COPY_H

#include <stdbool.h>

#include "common/options.h"

/**
 * struct copy_options - of both commands
 * @output: NULL: the input's name, and @suffix
 * @recover: what is missing or damaged is left out
 */
struct copy_options {
	struct cmd_common common;
	const char *output;
	const char *suffix;
	bool recover;
	bool quiet;
};

/* -o, -q, and what every command has that reads a tape; its input: as above. */
extern const struct argp copy_argp;

/* Does it, and says how it went: an exit status. */
int copy_run(const struct copy_options *options);

#endif /* SCHEDTAPE_COPY_H */
