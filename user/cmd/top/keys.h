/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The state of the screen, and what keys do to it.
 */
#ifndef SCHEDTAPE_TOP_KEYS_H
#define SCHEDTAPE_TOP_KEYS_H

#include <stdbool.h>

#include "common/recorders.h"
#include "top/print.h"

enum screen_prompt {
	SCREEN_NO_PROMPT,
	SCREEN_FILTER,
	SCREEN_SORT,
};

/**
 * struct screen - what is on the screen
 * @view: how intervals are shown; keys change it
 * @recorder: name of the recorder whose tasks these are; NULL: there is none
 * @delay: length of an interval, s
 * @interval: the one that is shown, if @any
 * @paused: the next ones are not shown
 * @help: the keys are shown instead
 * @first: the number of the first line that is shown
 * @rows: number of lines, and @room for how many there is room, at the last drawing
 * @prompt: what the user is typing, in @typed
 * @sort: a sort order that was typed, because @view has a pointer only
 * @message: what was wrong with the last input, or its result; "": nothing
 * @messages: has what was written to standard error
 * @standard_error: the user's standard error
 */
struct screen {
	struct top_view *view;
	const char *recorder;
	double delay;
	struct interval interval;
	bool any;
	bool paused;
	bool help;
	size_t first;
	size_t rows;
	size_t room;
	enum screen_prompt prompt;
	char typed[128];
	char sort[128];
	char message[RECORDERS_LINE];
	int messages;
	int standard_error;
};

#define KEYS_HELP \
	"  q           end\n" \
	"  p, blank    show no further intervals; again: go on with the next one\n" \
	"  s           sort by columns that you type, as -s\n" \
	"  < >         sort by the column to the left, to the right\n" \
	"  b           a line for each task, name, process, cgroup, CPU, policy, as --by\n" \
	"  w           with a recorder's NAME: write its last seconds to a tape\n" \
	"  f, /        show only tasks with names that you type, as --comm\n" \
	"  up, down    scroll by a line; also k, j\n" \
	"  page up, page down, home, end\n" \
	"  Ctrl-L      draw the screen anew\n" \
	"  h, ?        show this, and not any more\n"

/* Obeys a key of curses.  Returns false if it ends the command. */
bool keys_obey(struct screen *screen, int key);

#endif /* SCHEDTAPE_TOP_KEYS_H */
