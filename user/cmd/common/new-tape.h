/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Commands that write a tape from others: merge, and those that make one file of a tape, pack and
 * recover.
 */
#ifndef SCHEDTAPE_NEW_TAPE_H
#define SCHEDTAPE_NEW_TAPE_H

#include <stdbool.h>
#include <stdint.h>

#include <schedtape.h>

#include "common/options.h"

/* -- progress, and signals that end the command ---------------------------- */

/**
 * struct copying - the line on a terminal
 * @percent: as last shown
 * @signals: descriptor of signals that end the copy; -1: signals end the process
 */
struct copying {
	bool off;
	unsigned int percent;
	int signals;
};

/*
 * Takes signals, to be called before what has the new tape's name makes way.  In a stream nothing
 * is left behind, and it may keep us waiting: there, signals do what they do.
 */
int copying_begin(struct copying *copying, const char *output, bool quiet,
		  struct schedtape_error *err);
/* Shows the progress.  @arg: a struct copying.  Returns 0; -EINTR: a signal has come. */
int copying_show(void *arg, uint64_t done, uint64_t bytes);
/* Removes the line.  To be called when the old tape has its name again, or never. */
void copying_end(struct copying *copying);

/* -- one file of a tape, for pack and recover ------------------------------ */

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

#endif /* SCHEDTAPE_NEW_TAPE_H */
