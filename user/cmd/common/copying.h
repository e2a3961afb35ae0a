/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The progress of a command that writes a tape from others, and signals that end it.
 */
#ifndef SCHEDTAPE_COPYING_H
#define SCHEDTAPE_COPYING_H

#include <schedtape.h>
#include <stdbool.h>
#include <stdint.h>

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

#endif /* SCHEDTAPE_COPYING_H */
