// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: each key on the screen of top changes what it says: the order of the lines, which
 * tasks there are, what a line is of, where the screen begins.
 */
#include <curses.h>
#include <string.h>

#include "top/internal.h"

#include "tap.h"

static struct top_view view;
static struct screen screen;

/* Presses keys.  Returns false if one of them ends the command. */
static bool press(const char *keys)
{
	bool goes_on = true;

	while (*keys && goes_on)
		goes_on = keys_obey(&screen, (unsigned char)*keys++);
	return goes_on;
}

static bool sorts_by(const char *name)
{
	printf("# sorted by %s\n", view.sheet.sort);
	return !strcmp(view.sheet.sort, name);
}

static bool shows(const char *name)
{
	return select_names_has(&view.selection.comms, name, 0);
}

TEST(sort)
{
	ok(press("<") && sorts_by("cpu-share"), "to the left");
	ok(press("<") && sorts_by("task"), "again");
	ok(press("<") && sorts_by("task"), "there is no column before the first one");
	ok(press(">>>") && sorts_by("switches"), "to the right");
	ok(press(">>") && sorts_by("delay-p99"), "not by a column that is not shown");
	ok(press(">>>>>>>>>") && sorts_by("migrations"), "the last column stays the last one");
	ok(press("sdelay-p95,task\n") && sorts_by("delay-p95,task") && !*screen.message,
	   "typed names");
	ok(press(">") && sorts_by("delay-p99"), "the column behind one that is not shown");
	ok(press("sp9\n") && sorts_by("delay-p99") && strstr(screen.message, "No such column"),
	   "a wrong name");
	ok(press("s\n") && sorts_by("delay-p99") && !*screen.message, "no name");
	ok(press("sdelay-max\033") && sorts_by("delay-p99") && !screen.prompt, "Escape");
}

TEST(filter)
{
	ok(shows("any"), "at first all names");
	ok(press("fab*,cd\r") && shows("abc") && shows("cd") && !shows("c"), "typed patterns");
	ok(press("/x\n") && shows("x") && !shows("abc"), "other ones in place of them");
	ok(press("fyyy\033") && shows("x"), "Escape");
	ok(press("fa\303\251\177\177z\n") && shows("z"),
	   "erased, two bytes of a character at once");
	keys_obey(&screen, 'f');
	press("qp");
	keys_obey(&screen, KEY_BACKSPACE);
	keys_obey(&screen, KEY_F(1));
	ok(!strcmp(screen.typed, "q") && screen.prompt == SCREEN_FILTER && !screen.paused,
	   "keys are only typed then");
	ok(press("\025w") && !strcmp(screen.typed, "w"), "Ctrl-U erases all");
	keys_obey(&screen, KEY_ENTER);
	ok(shows("w") && !shows("q"), "Enter of the number pad");
	screen.first = 5;
	ok(press("f\n") && shows("any") && !screen.first, "nothing: all, from the first line");
}

TEST(long)
{
	size_t i;

	press("f");
	for (i = 0; i < 2 * sizeof(screen.typed); i++)
		press("x");
	ok(strlen(screen.typed) == sizeof(screen.typed) - 1, "too much is left out");
	press("\033");
}

TEST(lines)
{
	static const char * const names[] = {
		"comm", "process", "cgroup", "cpu", "policy", "task",
	};
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(*names); i++)
		ok(press("b") && !strcmp(groups_by_name(view.by), names[i]), "by %s", names[i]);
}

TEST(scroll)
{
	screen.first = 0;
	screen.room = 10;
	screen.rows = 35;
	keys_obey(&screen, KEY_DOWN);
	ok(press("j") && screen.first == 2, "down");
	keys_obey(&screen, KEY_NPAGE);
	ok(screen.first == 12, "a page down");
	keys_obey(&screen, KEY_UP);
	ok(press("k") && screen.first == 10, "up");
	keys_obey(&screen, KEY_PPAGE);
	ok(!screen.first, "a page up");
	ok(press("k") && !screen.first, "not above the first line");
	screen.first = 5;
	keys_obey(&screen, KEY_PPAGE);
	ok(!screen.first, "nor with a page");
	keys_obey(&screen, KEY_END);
	ok(screen.first == 35, "the end, which is found when it is drawn");
	keys_obey(&screen, KEY_HOME);
	ok(!screen.first, "the beginning");
}

TEST(others)
{
	ok(press("p") && screen.paused && press(" ") && !screen.paused, "a pause, and its end");
	ok(press("h") && screen.help && press("?") && !screen.help, "help, and its end");
	ok(press("zZ0") && !screen.paused && !screen.help && !screen.prompt, "no other key");
	ok(!press("q") && !press("Q"), "the end");
}

int main(void)
{
	sheet_options_init(&view.sheet, top_columns, "cpu");
	screen.view = &view;
	tap_run();
	selection_free(&view.selection);
	return tap_done();
}
