/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shows intervals on a terminal, and changes by keys how.
 *
 *	screen_begin()
 *	screen_show()	for each interval
 *	screen_keys()	when there is input, or a signal has come
 *	screen_end()
 */
#ifndef SCHEDTAPE_TOP_SCREEN_H
#define SCHEDTAPE_TOP_SCREEN_H

#include <stdbool.h>

#include "top/keys.h"

/* Returns false if standard input and output are no terminal that can move its cursor. */
bool screen_begin(struct screen *screen, struct top_view *view, const char *recorder,
		  double delay);
/* Shows an interval, which belongs to the screen from now on.  Returns 0 or -ENOMEM. */
int screen_show(struct screen *screen, struct interval *interval);
/* Obeys all keys that were pressed.  Returns false if one of them ends the command. */
bool screen_keys(struct screen *screen);
/*
 * Gives the terminal back, and then writes the messages that have come meanwhile.  The caller frees
 * @interval.
 */
void screen_end(struct screen *screen);

#endif /* SCHEDTAPE_TOP_SCREEN_H */
