// SPDX-License-Identifier: GPL-2.0-only
#include "top/keys.h"

#include <curses.h>
#include <stdio.h>
#include <string.h>

#define ESCAPE	27
/* The screen stands still meanwhile.  A large snapshot on a slow disk takes some seconds. */
#define SNAPSHOT_SECONDS	20

/* -- what is typed --------------------------------------------------------- */

static void set_filter(struct screen *screen)
{
	struct select_names names = { 0 };

	if (*screen->typed && select_names_parse(&names, screen->typed)) {
		snprintf(screen->message, sizeof(screen->message), "Not enough memory.");
		return;
	}
	select_names_free(&screen->view->selection.comms);
	screen->view->selection.comms = names;
	screen->first = 0;
}

static void set_sort(struct screen *screen)
{
	struct sheet_options *options = &screen->view->sheet;

	if (!sheet_can_sort(options, screen->typed)) {
		snprintf(screen->message, sizeof(screen->message),
			 "No such column. -F help lists them.");
		return;
	}
	snprintf(screen->sort, sizeof(screen->sort), "%s", screen->typed);
	options->sort = screen->sort;
}

static void end_prompt(struct screen *screen)
{
	enum screen_prompt prompt = screen->prompt;

	screen->prompt = SCREEN_NO_PROMPT;
	if (prompt == SCREEN_FILTER)
		set_filter(screen);
	else if (*screen->typed)
		set_sort(screen);
}

static void type(struct screen *screen, int key)
{
	size_t len = strlen(screen->typed);

	switch (key) {
	case '\n':
	case '\r':
	case KEY_ENTER:
		end_prompt(screen);
		break;
	case ESCAPE:
		screen->prompt = SCREEN_NO_PROMPT;
		break;
	case KEY_BACKSPACE:
	case '\b':
	case 127:
		/* All bytes of a character of UTF-8. */
		while (len && (screen->typed[--len] & 0xc0) == 0x80)
			;
		screen->typed[len] = '\0';
		break;
	case 'U' & 0x1f:
		*screen->typed = '\0';
		break;
	default:
		if (key >= ' ' && key < 256 && len + 1 < sizeof(screen->typed)) {
			screen->typed[len] = key;
			screen->typed[len + 1] = '\0';
		}
	}
}

static void ask(struct screen *screen, enum screen_prompt prompt)
{
	screen->prompt = prompt;
	*screen->typed = '\0';
}

/* -- columns and lines ----------------------------------------------------- */

/* Sorts by the next column in the table's order that is there without -F.  @step: 1 or -1 */
static void move_sort(struct screen *screen, int step)
{
	struct sheet_options *options = &screen->view->sheet;
	const struct sheet_column *columns = options->columns;
	int at = 0, next;

	/* Of several columns, from the first one. */
	while (columns[at].table.name &&
	       strncmp(columns[at].table.name, options->sort, strcspn(options->sort, ",")))
		at++;
	for (next = at + step; next >= 0 && columns[next].table.name; next += step) {
		if (columns[next].table.flags & TABLE_ASKED)
			continue;
		options->sort = columns[next].table.name;
		return;
	}
}

static void scroll_by(struct screen *screen, long lines)
{
	if (lines < 0 && (size_t)-lines > screen->first)
		screen->first = 0;
	else
		screen->first += lines;
}

static bool obey_scroll(struct screen *screen, int key)
{
	switch (key) {
	case KEY_UP:
	case 'k':
		scroll_by(screen, -1);
		return true;
	case KEY_DOWN:
	case 'j':
		scroll_by(screen, 1);
		return true;
	case KEY_PPAGE:
		scroll_by(screen, -(long)screen->room);
		return true;
	case KEY_NPAGE:
		scroll_by(screen, screen->room);
		return true;
	case KEY_HOME:
		screen->first = 0;
		return true;
	case KEY_END:
		/* The next drawing finds the last page. */
		screen->first = screen->rows;
		return true;
	}
	return false;
}

/* Has the recorder take a snapshot. */
static void write_tape(struct screen *screen)
{
	struct schedtape_error err;
	char tape[RECORDERS_LINE];

	if (!screen->recorder)
		snprintf(screen->message, sizeof(screen->message),
			 "top NAME shows a recorder, which could write a tape.");
	else if (recorders_ask(screen->recorder, "snapshot", SNAPSHOT_SECONDS, tape, &err))
		snprintf(screen->message, sizeof(screen->message), "No tape: %s", err.text);
	else
		text_safe(screen->message, sizeof(screen->message), tape);
}

bool keys_obey(struct screen *screen, int key)
{
	/* Also in a new size, what the terminal shows then is anything. */
	if (key == KEY_RESIZE || key == ('L' & 0x1f)) {
		clearok(curscr, TRUE);
		return true;
	}
	if (screen->prompt) {
		type(screen, key);
		return true;
	}
	*screen->message = '\0';
	if (obey_scroll(screen, key))
		return true;
	switch (key) {
	case 'q':
	case 'Q':
		return false;
	case 'p':
	case ' ':
		screen->paused = !screen->paused;
		break;
	case 's':
		ask(screen, SCREEN_SORT);
		break;
	case '<':
		move_sort(screen, -1);
		break;
	case '>':
		move_sort(screen, 1);
		break;
	case 'b':
		screen->view->by = (screen->view->by + 1) % GROUPS_NR;
		screen->first = 0;
		break;
	case 'w':
		write_tape(screen);
		break;
	case 'f':
	case '/':
		ask(screen, SCREEN_FILTER);
		break;
	case 'h':
	case '?':
		screen->help = !screen->help;
		break;
	}
	return true;
}
