// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: on a terminal no table is wider than it, and headings are above their numbers,
 * whatever the names of tasks; elsewhere all columns and complete names are printed.
 */
#include <stdint.h>

#include <common/table.h>
#include <commands.h>

#include "fake-client.h"
#include "tap.h"
#include "tapes.h"
#include "terminal.h"

#define MS	1000000ULL
#define ROUNDS	3		/* of 20 s of CPU time each */

#define JAPANESE	"\346\227\245\346\234\254\350\252\236\343\202\277\343\202\271"
#define ROCKETS		"\360\237\232\200\360\237\232\200\360\237\232\200"
#define BIG_PID		4194000

static struct blob tape, other;
static char text[65536];

/* -- a tape ------------------------------------------------------------------------ */

static const char * const names[] = {
	JAPANESE, ROCKETS, "", "fifteen letters", "\033[2J\xff", "e\314\201\314\202", "sh",
};

#define NR_NAMES	(sizeof(names) / sizeof(*names))

/* Each task runs for long, and has delays. */
static void make_tape(const struct blob *to)
{
	static unsigned char page[STAPE_PAGE_SIZE];
	struct schedtape_task_info tasks[NR_NAMES] = { 0 };
	struct schedtape_cpu cpu = { .cpu = 0 };
	struct schedtape_end end = { .size = sizeof(end), .cpus = &cpu, .nr_cpus = 1 };
	static const char long_command[] =
		"{\"command\": [\"one\", \"" JAPANESE JAPANESE "\", \"a word after it\", \"" ROCKETS
		ROCKETS ROCKETS ROCKETS ROCKETS ROCKETS ROCKETS ROCKETS ROCKETS ROCKETS
		"\", \"12345678901234567890\", \"12345678901234567890\", \"12345678901234567\"]}";
	struct json_object *meta = json_tokener_parse(long_command);
	struct schedtape_error err = { "" };
	struct schedtape_writer *writer;
	uint64_t t = 1000000 * MS;
	struct maker m;
	size_t i;
	int round;

	for (i = 0; i < NR_NAMES; i++) {
		tasks[i] = (struct schedtape_task_info) {
			.pid = BIG_PID + i, .tgid = BIG_PID + i, .state = STAPE_STATE_SLEEPING,
			.nice = -20,
		};
		memcpy(tasks[i].comm, names[i], strlen(names[i]));
	}
	maker_begin(&m, page, 0, 0, t);
	end.start_time = t;
	for (round = 0; round < ROUNDS; round++) {
		for (i = 0; i < NR_NAMES; i++) {
			maker_wake(&m, t, BIG_PID + i, STAPE_CTX_HARDIRQ, t, 0);
			maker_switch(&m, t + 1234 * MS, BIG_PID + i, STAPE_NEXT_TASK,
				     round ? STAPE_STATE_SLEEPING : STAPE_STATE_RUNNING);
			t += 21234 * MS;
			maker_wake(&m, t, BIG_PID + (i + 1) % NR_NAMES, STAPE_CTX_TASK, t, 0);
			maker_switch(&m, t, 0, STAPE_NEXT_IDLE, STAPE_STATE_SLEEPING);
		}
	}
	cpu.events = m.header.events;
	end.stop_time = t;
	if (tape_writer_create(to->path, meta, NULL, &writer, &err) ||
	    schedtape_writer_tasks(writer, tasks, NR_NAMES, &err) ||
	    schedtape_writer_pages(writer, page, 1, &err) ||
	    schedtape_writer_end(writer, &end, &err) || schedtape_writer_close(writer, &err))
		printf("Bail out! %s\n", err.text);
	json_object_put(meta);
}

/* -- a terminal -------------------------------------------------------------------- */

/* Runs @print with standard output on a terminal of @width, or a pipe if that is 0. */
static void capture(unsigned short width, void (*print)(void *arg), void *arg)
{
	terminal_capture(STDOUT_FILENO, width, print, arg, text, sizeof(text));
}

/* -- layout ------------------------------------------------------------------------ */

/* Decodes the next character, unlike the tables: the test knows all names. */
static uint32_t next_char(const char **at)
{
	const unsigned char *from = (const unsigned char *)*at;
	uint32_t c = *from++;

	if (c >= 0x80)
		for (c &= c >= 0xf0 ? 7 : c >= 0xe0 ? 15 : 31; (*from & 0xc0) == 0x80; from++)
			c = c << 6 | (*from & 0x3f);
	*at = (const char *)from;
	return c;
}

static unsigned int cells_of(uint32_t c)
{
	if (c >= 0x300 && c < 0x370)
		return 0;
	return c >= 0x1f300 || (c >= 0x3000 && c < 0xa000) ? 2 : 1;
}

/* Spreads a line over cells: 0 for the second cell of a wide character. Returns their number. */
static unsigned int spread(const char *line, uint32_t *cells, unsigned int most)
{
	unsigned int n = 0, wide;
	uint32_t c;

	while (*line && *line != '\n' && *line != '\r' && n + 2 < most) {
		c = next_char(&line);
		wide = cells_of(c);
		if (!wide)
			continue;
		cells[n] = c;
		if (wide == 2)
			cells[n + 1] = 0;
		n += wide;
	}
	return n;
}

static const char *next_line(const char *line)
{
	line = strchr(line, '\n');
	return line && line[1] ? line + 1 : NULL;
}

/* Number of cells of the widest line. */
static unsigned int widest(void)
{
	static uint32_t cells[4096];
	unsigned int most = 0, n;
	const char *line;

	for (line = text; line; line = next_line(line)) {
		n = spread(line, cells, 4096);
		most = n > most ? n : most;
	}
	return most;
}

static bool is_rule(const char *line)
{
	return !strncmp(line, "----", 4) || !strncmp(line, "--  ", 4);
}

/* Tests that each cell of a row is within its dashes. */
static bool is_aligned(const char *line, const char *rule)
{
	uint32_t cells[1024], dashes[1024];
	unsigned int n = spread(line, cells, 1024), m = spread(rule, dashes, 1024), i;

	for (i = n; i < m; i++)
		cells[i] = ' ';
	if (n > m)
		return false;
	for (i = 0; i < m; i++)
		if (dashes[i] == ' ' && cells[i] != ' ')
			return false;
	return true;
}

/* Tests whether the column at @start of the headings, which are ASCII, is one of texts. */
static bool is_text(const char *headings, unsigned int start)
{
	static const char * const texts[] = {
		"task", "policy", "waker", "wakee", "state", "owner", "when full", "clock",
		"last trigger",
	};
	size_t i;

	for (i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		if (!strncmp(headings + start, texts[i], strlen(texts[i])))
			return true;
	return false;
}

/* Tests that an entry ends at the last dash of each column of numbers. */
static bool ends_right(const char *line, const char *rule, const char *headings)
{
	uint32_t cells[1024], dashes[1024];
	unsigned int n = spread(line, cells, 1024), m = spread(rule, dashes, 1024), i, start = 0;

	for (i = 0; i < m; i++) {
		if (dashes[i] != '-')
			continue;
		if (!i || dashes[i - 1] != '-')
			start = i;
		if (i + 1 < m && dashes[i + 1] == '-')
			continue;
		if (!is_text(headings, start) && (i >= n || cells[i] == ' '))
			return false;
	}
	return true;
}

static bool is_row(const char *line, const char *rule, const char *headings)
{
	/* A sum has no policy, TGID or PID. */
	return is_rule(line) || (is_aligned(line, rule) && (!strncmp(line, "TOTAL", 5) ||
							    ends_right(line, rule, headings)));
}

/* Checks all tables of @text: the line before a rule has headings, lines after it are rows. */
static void check_tables(const char *what, unsigned int tables)
{
	const char *line, *before = NULL, *headings = NULL, *rule = NULL, *wrong = NULL;
	unsigned int found = 0;

	for (line = text; line && !wrong; before = line, line = next_line(line)) {
		if (*line == '\n' || *line == '\r') {
			rule = NULL;
		} else if (rule) {
			wrong = is_row(line, rule, headings) ? NULL : line;
		} else if (is_rule(line)) {
			rule = line;
			headings = before;
			found++;
			wrong = is_row(headings, rule, headings) ? NULL : headings;
		}
	}
	if (!ok(!wrong && found == tables, "%s: headings stand over numbers", what))
		printf("# %u tables; wrong: %s\n# in:\n%s\n", found, wrong ? wrong : "", text);
}

static void fits(unsigned short width, struct call *c, const char *what, unsigned int tables)
{
	unsigned int most;

	capture(width, terminal_call, c);
	most = widest();
	if (!ok(most <= width, "%s at %u columns: %u at most", what, width, most))
		printf("# %s\n", text);
	if (tables)
		check_tables(what, tables);
}

TEST(widths)
{
	static const unsigned short widths[] = { 80, 100, 200, 40, 25 };
	struct call report = { cmd_report, { "report", "--edges", tape.path } };
	struct call diff = { cmd_diff, { "diff", "--edges", tape.path, other.path } };
	struct call info = { cmd_info, { "info", tape.path } };
	struct call list = { cmd_list, { "list" } };
	struct call players = { cmd_steer, { "steer", "1", "players" } };
	size_t i;

	for (i = 0; i < sizeof(widths) / sizeof(*widths); i++) {
		/* Output outside of tables may be wider than 80 columns. */
		if (widths[i] >= 80) {
			fits(widths[i], &report, "report", 2);
			fits(widths[i], &diff, "diff", 1);
			fits(widths[i], &info, "info", 0);
			fits(widths[i], &list, "list", 2);
			fits(widths[i], &players, "players", 1);
			continue;
		}
		capture(widths[i], terminal_call, &report);
		check_tables("report, narrow", 2);
	}
}

static bool has(const char *expected, const char *what)
{
	bool there = strstr(text, expected);

	if (!ok(there, "%s", what))
		printf("# no \"%s\" in:\n# %s\n", expected, text);
	return there;
}

TEST(names)
{
	struct call report = { cmd_report, { "report", "--pid=4194000-4194003", tape.path } };

	capture(80, terminal_call, &report);
	has("\n" JAPANESE ":4194000  ", "a Japanese name, whole");
	has("\n" ROCKETS ":4194001  ", "rockets");
	has("\n?:4194002  ", "no name");
	capture(28, terminal_call, &report);
	has("fifteen…:4194003", "a long name is cut, and its PID stays");
	ok(!strstr(text, "fifteen letters"), "which is too long");
}

static bool has_blank_ends(void)
{
	const char *line;

	for (line = text; line; line = next_line(line))
		if (line > text + 1 && line[-2] == ' ')
			return true;
	return false;
}

TEST(choice)
{
	struct call plain = { cmd_report, { "report", tape.path } };
	struct call wide = { cmd_report, { "report", "--wide", tape.path } };
	struct call fields = { cmd_report, { "report", "-F", "delay-max,task", tape.path } };
	struct call help = { cmd_report, { "report", "-F", "help" } };
	struct call none = { cmd_report, { "report", "-F", "task,none", tape.path } };

	capture(80, terminal_call, &plain);
	ok(!strstr(text, "stops") && strstr(text, "preempted"),
	   "80 columns: the fields that matter most");
	capture(80, terminal_call, &wide);
	ok(strstr(text, "stops") && widest() > 80, "--wide: all fields, however wide");
	check_tables("--wide", 1);
	capture(80, terminal_call, &fields);
	ok(strstr(text, "max ms  task") && !strstr(text, "sleeps"), "-F: those that were named");
	capture(80, terminal_call, &help);
	has("delay-max\r\n", "-F help");
	terminal_capture(STDERR_FILENO, 0, terminal_call, &none, text, sizeof(text));
	has("no column 'none': one of task, cpu, sleeps, ", "a wrong name: those that there are");
	capture(0, terminal_call, &plain);
	ok(strstr(text, "  delay max ms  ") && strstr(text, "stops\n"), "a pipe: all columns");
	has("fifteen letters:4194003", "and whole names");
	ok(!has_blank_ends(), "no line ends with a blank");
	setenv("COLUMNS", "40", 1);
	capture(0, terminal_call, &plain);
	has("stops\n", "COLUMNS is no terminal");
	capture(200, terminal_call, &plain);
	ok(!strstr(text, "stops"), "but it is the width of one");
	setenv("COLUMNS", "nonsense", 1);
	capture(200, terminal_call, &plain);
	has("stops", "if it is a number");
	unsetenv("COLUMNS");
}

TEST(list)
{
	struct call list = { cmd_list, { "list" } };

	capture(0, terminal_call, &list);
	has("\n1234567  recording  ", "a session");
	ok(!strstr(text, "1234568"), "that of a replay is none");
	has("\n\n replay  state  ", "an empty line between the tables");
}

TEST(cells)
{
	ok(table_text_cells("plain") == 5 && table_text_cells("") == 0, "ASCII");
	ok(table_text_cells(JAPANESE) == 10, "Japanese: two cells each");
	ok(table_text_cells(ROCKETS) == 6, "so do rockets");
	ok(table_text_cells("e\314\201") == 1, "an accent has none");
	ok(table_text_fits(JAPANESE, 15, 5) == 6, "no half of a character");
	ok(table_text_fits("plain", 5, 9) == 5, "all there is");
}

int main(void)
{
	blob_init(&tape);
	blob_init(&other);
	make_tape(&tape);
	make_tape(&other);
	unsetenv("COLUMNS");
	/* test-color.c has the colours. */
	setenv("NO_COLOR", "1", 1);
	tap_run();
	close(tape.fd);
	close(other.fd);
	return tap_done();
}
