// SPDX-License-Identifier: GPL-2.0-only
/*
 * Shows intervals on a terminal, and changes by keys how.
 */
#define NCURSES_WIDECHAR 1
#include "top/internal.h"

#include <curses.h>
#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <term.h>
#include <unistd.h>

/* Macros of term.h.  Here a member and an argument have these names. */
#undef columns
#undef lines

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

#define ESCAPE	27
/* The screen stands still meanwhile.  A large snapshot on a slow disk takes some seconds. */
#define SNAPSHOT_SECONDS	20

/* -- keys: what is typed --------------------------------------------------- */

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

/* -- keys: columns and lines ----------------------------------------------- */

/* Sorts by the next column in the table's order that is there without -F.  @step: 1 or -1 */
static void move_sort(struct screen *screen, int step)
{
	struct sheet_options *options = &screen->view->sheet;
	const struct sheet_column *columns = options->columns;
	size_t len = strcspn(options->sort, ",");
	int at = 0, next;

	/* Of several columns, from the first one. */
	while (columns[at].table.name && (strncmp(columns[at].table.name, options->sort, len) ||
					  columns[at].table.name[len]))
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

/* -- keys: all ------------------------------------------------------------- */

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
	/* In a new size the terminal's content is undefined, too: draw all of it again. */
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

/* -- lines ----------------------------------------------------------------- */

/* Puts a line, cut to the width of the screen. */
static void put_line(int y, const char *text, size_t bytes, attr_t attributes)
{
	if (y < 0 || y >= LINES)
		return;
	attrset(attributes);
	mvaddnstr(y, 0, text, table_text_fits(text, bytes, COLS));
	/* Reversed up to the margin. */
	if (attributes & A_REVERSE)
		mvchgat(y, 0, -1, attributes, 0, NULL);
	attrset(A_NORMAL);
}

static const char *line_end(const char *line)
{
	return line + strcspn(line, "\n");
}

/* Returns the line behind this one. */
static const char *next_line(const char *line)
{
	const char *end = line_end(line);

	return *end ? end + 1 : end;
}

static bool is_rule(const char *line)
{
	return line[0] == '-' && (line[1] == '-' || line[1] == ' ' || line[1] == '\n');
}

/* Prints a table to memory.  Returns NULL without memory. */
static char *table_text(const struct sheet *sheet)
{
	char *text = NULL;
	size_t bytes;
	FILE *file;

	file = open_memstream(&text, &bytes);
	if (!file)
		return NULL;
	table_print_to(file);
	sheet_print(sheet);
	table_print_to(NULL);
	if (!fclose(file))
		return text;
	free(text);
	return NULL;
}

/* -- drawing --------------------------------------------------------------- */

#define HEAD	2	/* lines above the table */
#define FOOT	3	/* below it: a rule, the total, the keys */

static void draw_state(const struct screen *screen)
{
	const struct top_view *view = screen->view;
	const struct select_names *comms = &view->selection.comms;
	char line[512], names[256] = "";
	size_t used = 0, i;

	for (i = 0; i < comms->nr && used < sizeof(names); i += 1 + comms->list[i].elements)
		used += snprintf(names + used, sizeof(names) - used, "%s%s",
				 used ? "," : ", only ", comms->list[i].text);
	snprintf(line, sizeof(line), "schedtape top: every %g s, by %s, sorted by %s%s%s",
		 screen->delay, groups_by_name(view->by), view->sheet.sort, names,
		 screen->paused ? "  [paused]" : "");
	text_safe(line, sizeof(line), line);
	put_line(0, line, strlen(line), A_BOLD);
}

static void draw_foot(const struct screen *screen)
{
	static const char keys[] = "q quit  p pause  s sort  < > column  b lines  f filter";
	char line[512];
	const char *text = line;

	if (screen->prompt)
		snprintf(line, sizeof(line), "%s: %s", screen->prompt == SCREEN_SORT ?
			 "Sort by" : "Show only names (patterns, with commas; empty: all)",
			 screen->typed);
	else if (*screen->message)
		text = screen->message;
	else
		snprintf(line, sizeof(line), "%s%s", keys,
			 screen->recorder ? "  w tape  h help" : "  h help");
	put_line(LINES - 1, text, strlen(text), screen->prompt ? A_NORMAL : A_REVERSE);
	if (screen->prompt)
		move(LINES - 1, table_text_cells(line) < (unsigned int)COLS ?
		     (int)table_text_cells(line) : COLS - 1);
	curs_set(screen->prompt ? 1 : 0);
}

/* Draws the headings.  Returns the first row; *y is where it belongs. */
static const char *draw_headings(const char *text, int *y)
{
	for (; *text && !is_rule(text); text = next_line(text))
		put_line((*y)++, text, line_end(text) - text, A_REVERSE);
	return next_line(text);
}

/* Draws the rows from the first one that is shown, and below them the total. */
static void draw_rows(struct screen *screen, const char *rows, int y)
{
	const char *line = rows;
	size_t n = 0;

	screen->room = y + FOOT < LINES ? LINES - y - FOOT : 1;
	for (screen->rows = 0; *line && !is_rule(line); line = next_line(line))
		screen->rows++;
	if (screen->first + screen->room > screen->rows)
		screen->first = screen->rows > screen->room ? screen->rows - screen->room : 0;
	for (line = rows; *line && !is_rule(line); line = next_line(line), n++)
		if (n >= screen->first && n < screen->first + screen->room)
			put_line(y + n - screen->first, line, line_end(line) - line, A_NORMAL);
	for (y = LINES - FOOT; *line && y < LINES - 1; line = next_line(line))
		put_line(y++, line, line_end(line) - line, A_BOLD);
}

static int draw_table(struct screen *screen)
{
	char head[TOP_HEAD], *text = NULL;
	const char *rows;
	struct sheet sheet;
	int y = HEAD, ret;

	ret = top_fill(&sheet, &screen->interval, screen->view);
	if (!ret) {
		top_head(head, &screen->interval, &sheet, &screen->view->time);
		put_line(1, head, strlen(head), A_NORMAL);
		text = table_text(&sheet);
		ret = text ? 0 : -ENOMEM;
	}
	if (!ret) {
		rows = draw_headings(text, &y);
		draw_rows(screen, rows, y);
	}
	free(text);
	sheet_free(&sheet);
	return ret;
}

static void draw_help(void)
{
	const char *line = KEYS_HELP;
	int y;

	for (y = HEAD; *line; line = next_line(line))
		put_line(y++, line, line_end(line) - line, A_NORMAL);
}

static int draw(struct screen *screen)
{
	int ret = 0;

	erase();
	draw_state(screen);
	if (screen->help)
		draw_help();
	else if (screen->any)
		ret = draw_table(screen);
	else
		mvaddstr(1, 0, "The first interval is not over.");
	draw_foot(screen);
	refresh();
	return ret;
}

/* -- the screen ------------------------------------------------------------ */

int screen_show(struct screen *screen, struct interval *interval)
{
	if (screen->paused) {
		interval_free(interval);
		return 0;
	}
	interval_free(&screen->interval);
	screen->interval = *interval;
	screen->any = true;
	return draw(screen);
}

bool screen_keys(struct screen *screen)
{
	bool any = false;
	int key;

	while ((key = getch()) != ERR) {
		any = true;
		if (!keys_obey(screen, key))
			return false;
	}
	if (any)
		draw(screen);
	return true;
}

/* Messages would be lost among the lines of the screen. */
static void keep_messages(struct screen *screen)
{
	fflush(stderr);
	screen->standard_error = dup(STDERR_FILENO);
	screen->messages = memfd_create("messages", MFD_CLOEXEC);
	if (screen->standard_error >= 0 && screen->messages >= 0)
		dup2(screen->messages, STDERR_FILENO);
}

static void write_messages(const struct screen *screen)
{
	char buffer[4096];
	off_t at = 0;
	ssize_t n;

	fflush(stderr);
	if (screen->standard_error < 0 || screen->messages < 0)
		return;
	dup2(screen->standard_error, STDERR_FILENO);
	close(screen->standard_error);
	while ((n = pread(screen->messages, buffer, sizeof(buffer), at)) > 0) {
		fwrite(buffer, 1, n, stderr);
		at += n;
	}
	close(screen->messages);
}

bool screen_begin(struct screen *screen, struct top_view *view, const char *recorder, double delay)
{
	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		return false;
	/* Names are in UTF-8, whatever the user's locale is. */
	setlocale(LC_CTYPE, "C.UTF-8");
	if (!newterm(NULL, stdout, stdin))
		return false;
	if (!cursor_address) {
		endwin();
		return false;
	}
	*screen = (struct screen){ .view = view, .recorder = recorder, .delay = delay };
	keep_messages(screen);
	cbreak();
	noecho();
	nodelay(stdscr, TRUE);
	keypad(stdscr, TRUE);
	set_escdelay(50);
	draw(screen);
	return true;
}

void screen_end(struct screen *screen)
{
	erase();
	refresh();
	endwin();
	write_messages(screen);
}
