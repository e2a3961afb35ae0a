// SPDX-License-Identifier: GPL-2.0-only
#include "common/table.h"

#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <wchar.h>

#include "common/color.h"
#include "common/complete.h"
#include "common/pager.h"

#define LEAST_TEXT	8	/* cells that a cut text keeps at least */
#define BETWEEN		2	/* blanks between columns */
#define CUT_MARK	"…"	/* one cell */
#define OPT_WIDE	0x4000

/* -- options --------------------------------------------------------------- */

static const struct argp_option options[] = {
	{ "fields", 'F', "FIELD,...", 0, "Print these columns; " COMPLETE_HELP, 0 },
	{ "wide", OPT_WIDE, NULL, 0,
	  "Print all columns and whole names, even if the terminal is too narrow", 0 },
	{ 0 }
};

/* Returns the number of the column called by the first @len bytes of @name, or -1. */
static int find_column(const struct table_column *columns, const char *name, size_t len)
{
	int i;

	for (i = 0; columns[i].name; i++)
		if (strlen(columns[i].name) == len && !memcmp(columns[i].name, name, len))
			return i;
	return -1;
}

void table_list_fields(const struct table_column *columns)
{
	for (; columns->name; columns++)
		puts(columns->name);
	exit(0);
}

const char *table_names(char buffer[TABLE_NAMES], const struct table_column *columns)
{
	size_t length = 0;

	*buffer = '\0';
	for (; columns->name && length < TABLE_NAMES; columns++)
		length += snprintf(buffer + length, TABLE_NAMES - length, "%s%s",
				   length ? ", " : "", columns->name);
	return buffer;
}

static void check_fields(const struct table_options *opts, const struct argp_state *state)
{
	const char *at = opts->fields;
	char names[TABLE_NAMES];
	size_t len, n = 0;

	if (!strcmp(at, "help"))
		table_list_fields(opts->columns);
	for (;; at += len + 1) {
		len = strcspn(at, ",");
		if (find_column(opts->columns, at, len) < 0)
			argp_error(state, "no column '%.*s': one of %s", (int)len, at,
				   table_names(names, opts->columns));
		if (++n > TABLE_MOST)
			argp_error(state, "-F: more than %d columns", TABLE_MOST);
		if (!at[len])
			return;
	}
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct table_options *opts = state->input;

	switch (key) {
	case 'F':
		opts->fields = arg;
		check_fields(opts, state);
		return 0;
	case OPT_WIDE:
		opts->wide = true;
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

const struct argp table_argp = { .options = options, .parser = parse };

/* -- widths ---------------------------------------------------------------- */

unsigned int table_terminal(void)
{
	const char *columns = getenv("COLUMNS");
	unsigned long n = columns ? strtoul(columns, NULL, 10) : 0;
	struct winsize size;

	if (!isatty(pager_output()))
		return 0;
	if (n && n <= 10000)
		return n;
	if (!ioctl(pager_output(), TIOCGWINSZ, &size) && size.ws_col)
		return size.ws_col;
	return 80;
}

/*
 * Returns the locale for the widths of characters.  It is not the user's, because names are in
 * UTF-8 whatever the user's locale is.  Without C.UTF-8 each character counts as one cell.
 */
static locale_t utf8_locale(void)
{
	static locale_t locale;
	static bool tried;

	if (!tried)
		locale = newlocale(LC_CTYPE_MASK, "C.UTF-8", NULL);
	tried = true;
	return locale;
}

/* Returns the width in cells of the character at @text, and its length in *bytes. */
static unsigned int char_cells(const char *text, size_t *bytes)
{
	locale_t utf8, before;
	mbstate_t state = { 0 };
	wchar_t character;
	int cells = 1;

	*bytes = 1;
	if (!((unsigned char)*text & 0x80))
		return 1;
	while (((unsigned char)text[*bytes] & 0xc0) == 0x80)
		++*bytes;
	utf8 = utf8_locale();
	if (!utf8)
		return 1;
	before = uselocale(utf8);
	if (mbrtowc(&character, text, *bytes, &state) == *bytes)
		cells = wcwidth(character);
	uselocale(before);
	return cells < 0 ? 1 : cells;
}

unsigned int table_text_cells(const char *text)
{
	unsigned int cells = 0;
	size_t bytes;

	for (; *text; text += bytes)
		cells += char_cells(text, &bytes);
	return cells;
}

size_t table_text_fits(const char *text, size_t len, unsigned int cells)
{
	unsigned int now;
	size_t at, bytes;

	for (at = 0; at < len; at += bytes) {
		now = char_cells(text + at, &bytes);
		if (now > cells)
			break;
		cells -= now;
	}
	return at;
}

/* Returns the width of a heading, in cells: of two lines, that of the wider one. */
static unsigned int title_cells(const struct table *table, const char *title)
{
	const char *second = strchr(title, '\n');
	unsigned int first, other;

	if (!second || !table->two_lines)
		return strlen(title);
	first = second - title;
	other = strlen(second + 1);
	return first > other ? first : other;
}

static unsigned int total_width(const struct table *table, size_t n)
{
	unsigned int total = 0;
	size_t i;

	for (i = 0; i < n; i++)
		total += table->widths[table->shown[i]] + (i ? BETWEEN : 0);
	return total;
}

/* Returns the width of the widest text of the first @n columns that may be cut, or NULL. */
static unsigned int *widest_text(struct table *table, size_t n)
{
	unsigned int *widest = NULL, *width;
	size_t i;

	for (i = 0; i < n; i++) {
		width = &table->widths[table->shown[i]];
		if ((table->columns[table->shown[i]].flags & TABLE_TEXT) && *width > LEAST_TEXT &&
		    (!widest || *width > *widest))
			widest = width;
	}
	return widest;
}

static void cut_texts(struct table *table, size_t n)
{
	unsigned int *widest;

	while (total_width(table, n) > table->room && (widest = widest_text(table, n)))
		--*widest;
}

/* Leaves out the last column; if it belongs to a pair, both.  Returns the columns left. */
static size_t leave_out(const struct table *table, size_t n)
{
	n--;
	if (n && (table->columns[table->shown[n - 1]].flags & TABLE_PAIR))
		n--;
	return n;
}

/* Makes the table fit: leaves out columns that are not needed, then cuts texts. */
static void fit(struct table *table)
{
	size_t n = table->nr_shown, needed = 1, i;

	for (i = 0; i < n; i++)
		if (table->columns[table->shown[i]].flags & TABLE_NEEDED)
			needed = i + 1;
	while (n > needed && total_width(table, n) > table->room)
		n = leave_out(table, n);
	cut_texts(table, n);
	while (n > 1 && total_width(table, n) > table->room)
		n = leave_out(table, n);
	table->nr_shown = n ? n : 1;
	if (total_width(table, table->nr_shown) > table->room)
		table->widths[table->shown[0]] = table->room;
}

/* -- printing -------------------------------------------------------------- */

/* Where tables are printed; NULL: standard output. */
static FILE *output;

void table_print_to(FILE *file)
{
	output = file;
}

static FILE *out(void)
{
	return output ? output : stdout;
}

/* Blanks are printed before the next text, so that no line ends with some. */
static unsigned int blanks;

static void put_blanks(unsigned int n)
{
	blanks += n;
}

/* The colour of texts.  Blanks have none, and a table that is printed into a file has none. */
static unsigned int color;

static void put_text(const char *text, size_t bytes)
{
	unsigned int now = output ? COLOR_PLAIN : color;

	if (bytes)
		fprintf(out(), "%*s%s%.*s%s", (int)blanks, "", color_on(now), (int)bytes, text,
			color_off(now));
	if (bytes)
		blanks = 0;
}

static void end_line(void)
{
	putc('\n', out());
	blanks = 0;
}

/* Prints a text that is too long.  Of "name:PID" the name is cut. */
static void put_cut(const char *text, unsigned int width)
{
	const char *tail = strrchr(text, ':');
	unsigned int rest, room;
	size_t bytes, at, one;

	if (!tail || !tail[1] || tail[1 + strspn(tail + 1, "0123456789")] ||
	    strlen(tail) + 2 > width)
		tail = "";
	rest = strlen(tail) + 1;
	room = width > rest ? width - rest : 0;
	bytes = table_text_fits(text, strlen(text), room);
	put_text(text, bytes);
	put_text(CUT_MARK, strlen(CUT_MARK));
	put_text(tail, strlen(tail));
	/* A cell may be left because a wide character did not fit. */
	for (at = 0; at < bytes; at += one)
		room -= char_cells(text + at, &one);
	put_blanks(room);
}

static void put_cell(const char *text, unsigned int width, bool left)
{
	unsigned int cells = table_text_cells(text);

	if (cells > width) {
		put_cut(text, width);
		return;
	}
	if (!left)
		put_blanks(width - cells);
	put_text(text, strlen(text));
	if (left)
		put_blanks(width - cells);
}

static void put_row(const struct table *table, char (*cells)[TABLE_CELL])
{
	unsigned int number;
	size_t i;

	for (i = 0; i < table->nr_shown; i++) {
		number = table->shown[i];
		if (i)
			put_blanks(BETWEEN);
		color = table->colors[number];
		put_cell(cells[number], table->widths[number],
			 table->columns[number].flags & TABLE_TEXT);
	}
	color = COLOR_PLAIN;
	end_line();
}

/* Prints a line of the headings.  Headings of a single line are in the lower one. */
static void put_titles(struct table *table, bool upper)
{
	const char *title, *second;
	size_t i, len;

	for (i = 0; i < table->nr; i++) {
		table->colors[i] = COLOR_HEADING;
		title = table->columns[i].title;
		second = strchr(title, '\n');
		if (upper) {
			len = second ? (size_t)(second - title) : 0;
			snprintf(table->cells[i], TABLE_CELL, "%.*s", (int)len, title);
		} else if (table->two_lines) {
			snprintf(table->cells[i], TABLE_CELL, "%s", second ? second + 1 : title);
		} else {
			snprintf(table->cells[i], TABLE_CELL, "%s", title);
			if (second)
				table->cells[i][second - title] = ' ';
		}
	}
	put_row(table, table->cells);
}

static bool has_upper_titles(const struct table *table)
{
	size_t i;

	for (i = 0; i < table->nr_shown; i++)
		if (strchr(table->columns[table->shown[i]].title, '\n'))
			return true;
	return false;
}

void table_rule(struct table *table)
{
	size_t i;

	if (table->pass != 2)
		return;
	for (i = 0; i < table->nr_shown; i++) {
		unsigned int n = table->widths[table->shown[i]];

		if (i)
			put_blanks(BETWEEN);
		while (n--)
			put_text("-", 1);
	}
	end_line();
}

static void put_head(struct table *table)
{
	if (table->two_lines && has_upper_titles(table))
		put_titles(table, true);
	put_titles(table, false);
	table_rule(table);
}

static void show_fields(struct table *table, const char *fields)
{
	const char *at;
	size_t len;
	int number;

	for (at = fields; table->nr_shown < TABLE_MOST; at += len + 1) {
		len = strcspn(at, ",");
		number = find_column(table->columns, at, len);
		if (number >= 0)
			table->shown[table->nr_shown++] = number;
		if (!at[len])
			return;
	}
}

void table_begin(struct table *table, const struct table_column *columns,
		 const struct table_options *opts)
{
	unsigned int terminal = table_terminal();
	size_t i;

	*table = (struct table){ .columns = columns, .two_lines = terminal };
	while (columns[table->nr].name)
		table->nr++;
	if (opts && opts->fields)
		show_fields(table, opts->fields);
	else
		for (i = 0; i < table->nr; i++)
			if (!(columns[i].flags & TABLE_ASKED))
				table->shown[table->nr_shown++] = i;
	/* Columns of -F are always printed, even if they do not fit. */
	if (!opts || !(opts->wide || opts->fields))
		table->room = terminal;
	for (i = 0; i < table->nr; i++)
		table->widths[i] = title_cells(table, columns[i].title);
}

bool table_pass(struct table *table)
{
	table->at = 0;
	if (++table->pass == 2) {
		if (table->room)
			fit(table);
		put_head(table);
	}
	return table->pass <= 2;
}

static void measure(struct table *table)
{
	unsigned int cells;
	size_t i;

	for (i = 0; i < table->nr; i++) {
		cells = table_text_cells(table->cells[i]);
		if (cells > table->widths[i])
			table->widths[i] = cells;
	}
}

void table_color(struct table *table, unsigned int of_cell)
{
	table->next_color = of_cell;
}

void table_cell(struct table *table, const char *format, ...)
{
	va_list args;

	table->colors[table->at] = table->next_color;
	table->next_color = COLOR_PLAIN;
	va_start(args, format);
	vsnprintf(table->cells[table->at++], TABLE_CELL, format, args);
	va_end(args);
	if (table->at < table->nr)
		return;
	table->at = 0;
	if (table->pass == 1)
		measure(table);
	else
		put_row(table, table->cells);
}
