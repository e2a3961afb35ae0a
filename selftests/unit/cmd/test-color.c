// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: commands have colours at a terminal, unless NO_COLOR or --color says otherwise; and
 * colours change nothing else of what they print.
 */
#include "common/color.h"
#include "common/table.h"
#include "delays-tape.h"
#include "terminal.h"

#define WIDTH	200
#define BOLD(text)	"\033[1m" text "\033[m"
#define RED(text)	"\033[31m" text "\033[m"
#define GREEN(text)	"\033[32m" text "\033[m"
#define YELLOW(text)	"\033[33m" text "\033[m"

static struct blob losses;

/* The output of the command without colours, with which the coloured output is compared. */
static char before[sizeof(text)];

static void at_terminal(struct call *call)
{
	terminal_capture(STDOUT_FILENO, WIDTH, terminal_call, call, text, sizeof(text));
}

static void in_pipe(struct call *call)
{
	terminal_capture(STDOUT_FILENO, 0, terminal_call, call, text, sizeof(text));
}

/* Adds a last option. */
static struct call with(const struct call *call, const char *option)
{
	struct call more = *call;
	int argc = 0;

	while (more.argv[argc])
		argc++;
	more.argv[argc] = (char *)option;
	return more;
}

/* -- which terminals have them ----------------------------------------------------- */

static bool colored(struct call *call)
{
	at_terminal(call);
	return strchr(text, '\033');
}

TEST(choice)
{
	struct call plain = { cmd_latency, { "latency", the_tape.path } };
	struct call never = with(&plain, "--color=never"), always = with(&plain, "--color");

	ok(colored(&plain), "a terminal has colours");
	setenv("NO_COLOR", "", 1);
	ok(colored(&plain), "also if NO_COLOR is empty");
	setenv("NO_COLOR", "1", 1);
	ok(!colored(&plain), "but not with NO_COLOR");
	ok(colored(&always), "unless they are asked for");
	unsetenv("NO_COLOR");
	ok(!colored(&never), "nor with --color=never");
	setenv("TERM", "dumb", 1);
	ok(!colored(&plain), "nor if it has none");
	unsetenv("TERM");
	ok(!colored(&plain), "or no name");
	setenv("TERM", "xterm", 1);
	in_pipe(&plain);
	has_not("\033", "a pipe has none");
	in_pipe(&always);
	has("\033", "unless they are asked for");
	always = with(&plain, "--color=auto");
	in_pipe(&always);
	has_not("\033", "--color=auto: a pipe has none");
	run(cmd_latency, "--color");
	run(cmd_latency, NULL);
	has_not("\033", "the option is of one command");
}

/* -- that they change nothing else ------------------------------------------------- */

/* Removes the colours.  Returns false if a line does not end all that it begins. */
static bool remove_colors(void)
{
	bool begun = false, balanced = true;
	char *to = text, *from = text;

	while (*from) {
		if (*from == '\033') {
			balanced &= begun == !strncmp(from, COLOR_RESET, strlen(COLOR_RESET));
			begun = !begun;
			from += strcspn(from, "m") + 1;
			continue;
		}
		balanced &= *from != '\n' || !begun;
		*to++ = *from++;
	}
	*to = '\0';
	return balanced && !begun;
}

static void same_without(const char *name)
{
	bool any = strchr(text, '\033');
	bool balanced = remove_colors();

	ok(any, "%s has colours", name);
	ok(balanced, "which end on their line");
	if (!ok(*text && !strcmp(text, before), "and is the same without them"))
		printf("# without:\n%s\n# with:\n%s\n", before, text);
}

static void changes_nothing(const struct call *call)
{
	struct call plain = *call, always = with(call, "--color=always");

	setenv("NO_COLOR", "1", 1);
	at_terminal(&plain);
	memcpy(before, text, sizeof(text));
	unsetenv("NO_COLOR");
	at_terminal(&plain);
	same_without(call->argv[0]);
	in_pipe(&plain);
	memcpy(before, text, sizeof(text));
	in_pipe(&always);
	same_without("in a pipe it");
}

TEST(commands)
{
	const struct call calls[] = {
		{ cmd_report, { "report", "--edges", losses.path } },
		{ cmd_latency, { "latency", "--histogram", the_tape.path } },
		{ cmd_stat, { "stat", the_tape.path } },
		{ cmd_timehist, { "timehist", "-V", "--state", losses.path } },
		{ cmd_timehist, { "timehist", "-s", the_tape.path } },
		{ cmd_timehist, { "timehist", "-I", the_tape.path } },
		{ cmd_map, { "map", losses.path } },
		{ cmd_why, { "why", "--summary", the_tape.path } },
		{ cmd_why, { "why", "10", the_tape.path } },
		{ cmd_why, { "why", "10", "--path", "--top=1", the_tape.path } },
		{ cmd_script, { "script", losses.path } },
		{ cmd_diff, { "diff", "--edges", the_tape.path, losses.path } },
	};
	const struct call json = { cmd_latency, { "latency", "--json", the_tape.path } };
	struct call always = with(&json, "--color=always");
	size_t i;

	for (i = 0; i < sizeof(calls) / sizeof(*calls); i++)
		changes_nothing(&calls[i]);
	in_pipe(&always);
	has_not("\033", "JSON has no colours");
	table_print_to(stdout);
	run(cmd_latency, "--color");
	table_print_to(NULL);
	has_not("\033", "nor has a table that top puts on its screen");
}

/* -- what has which ---------------------------------------------------------------- */

TEST(lengths)
{
	ok(color_of_delay(999999) == COLOR_PLAIN, "less than 1 ms: no colour");
	ok(color_of_delay(1000000) == COLOR_YELLOW, "1 ms: yellow");
	ok(color_of_delay(9999999) == COLOR_YELLOW, "less than 10 ms, too");
	ok(color_of_delay(10000000) == COLOR_RED, "10 ms: red");
}

static void shows(const struct call *call, const char *expected, const char *what)
{
	struct call always = with(call, "--color=always");

	in_pipe(&always);
	has(expected, what);
}

TEST(figures)
{
	const struct call latency = { cmd_latency, { "latency", "-p", the_tape.path } };
	const struct call timehist = { cmd_timehist, { "timehist", the_tape.path } };
	const struct call report = { cmd_report, { "report", losses.path } };
	const struct call script = { cmd_script, { "script", losses.path } };
	const struct call map = { cmd_map, { "map", losses.path } };
	const struct call summary = { cmd_why, { "why", "--summary", the_tape.path } };
	const struct call path = { cmd_why, { "why", "10", "--path", "--top=1", the_tape.path } };
	const struct call why = { cmd_why, { "why", "10", the_tape.path } };

	shows(&latency, BOLD("task") "  ", "headings are bold");
	has("  " YELLOW("2.007") "   " RED("50.000") "  ", "a delay has the colour of its length");
	has("\033[1;31m90.000\033[m  ", "the worst one is bold");
	has("  " RED("50.000") "        1.100000 ", "the other one is not");
	has("\nTOTAL     ", "no colour for the total");
	has("  " RED("90.000") "        1.010000 ", "nor is its worst one bold");
	shows(&timehist, YELLOW("    1.000") "     99.000\n", "a delay in a line");
	has("     50.000          -     50.000\n", "a delay that is not known has none");
	shows(&report, "\n" YELLOW("# LOST: 1,234 events of CPU 3, from 2.000000 to 3.000000 s")
	      "\n", "a loss");
	shows(&map, "\n" YELLOW("# LOST: 1234 events, CPU 3, from 2.000000 to 3.000000") "\n",
	      "a loss between lines");
	has("\n# PAUSED, CPU 0, ", "a pause has no colour");
	shows(&script, " lost: " YELLOW("LOST 1234 events from 2.000000 to 3.000000") "\n",
	      "a loss among events");
	has(" paused: PAUSED from ", "a pause among them has no colour");
	shows(&summary, "   50.000   " BOLD("96.2") "  ", "the largest share of all causes");
	has("    2.000    3.8  ", "the other one is not");
	shows(&why, "\n" BOLD("    share           ms    times         first  what the time was "
			      "spent on") "\n   1.96 % ", "a chain: the heading is bold");
	has("\n" BOLD("  98.04 %      100.000        1      1.200000  shell:10 slept until an "
		      "interrupt") "\n", "and the link with the largest share");
	shows(&path, "\n" BOLD("  61.75 %      247.000        3      1.001000  shell ran") "\n",
	      "a merged chain, too");
}

TEST(diff)
{
	const struct call plain = { cmd_diff, { "diff", the_tape.path, losses.path } };
	const struct call sleeps = with(&plain, "--max-sleep-error=99");
	const struct call cpu = with(&sleeps, "--max-cpu-error=1e4");
	const struct call total = with(&cpu, "--max-total-cpu-error=1");
	const struct call same = { cmd_diff, {
		"diff", "--same-graph", the_tape.path, the_tape.path,
	} };
	const struct call graph = with(&plain, "--same-graph");
	const struct call small = with(&cpu, "--min-runtime=1e6");

	shows(&plain, "verdict: " YELLOW("graph differs") ", ", "a difference without a limit");
	has(" 1924.3 %         2         0  ", "values without limits");
	shows(&sleeps, " 1924.3 %         2         " RED("0") "  ", "beyond its limit");
	shows(&cpu, " 5000.000   " GREEN("1924.3 %") "         2         " RED("0") "  ",
	      "within it");
	has("CPU time: within " GREEN("1924.3 %") ", ", "in the summary, too");
	has(" 5000.000   1583.5 %  ", "the total has a limit of its own");
	shows(&total, " 5000.000   " RED("1583.5 %") "  ", "which is exceeded");
	shows(&small, " 5000.000   1924.3 %         2         " RED("0") "  ",
	      "a task that ran too short is not judged");
	shows(&same, "verdict: " GREEN("same graph") ", ", "the same graph");
	shows(&graph, "verdict: " RED("graph differs") ", ", "--same-graph: another one");
}

/* -- messages ---------------------------------------------------------------------- */

static void messages(unsigned short width, const struct call *call, const char *option)
{
	struct call more = option ? with(call, option) : *call;

	terminal_capture(STDERR_FILENO, width, terminal_call, &more, text, sizeof(text));
}

static void warn(void *arg)
{
	(void)arg;
	color_begin();
	out_warning("x.tape", "it is %s", "\033[31m");
}

TEST(messages)
{
	static const char error[] = "schedtape: no-such.tape: No such file or directory";
	const struct call call = { cmd_latency, { "latency", "no-such.tape" } };

	messages(WIDTH, &call, NULL);
	has("\033[1;31mschedtape:\033[m no-such.tape: ", "an error at a terminal");
	messages(WIDTH, &call, "--color=never");
	ok(!strncmp(text, error, strlen(error)), "but not with --color=never");
	messages(0, &call, "--color=always");
	ok(!strncmp(text, error, strlen(error)), "nor in a pipe, even with --color=always");
	setenv("NO_COLOR", "1", 1);
	messages(WIDTH, &call, NULL);
	ok(!strncmp(text, error, strlen(error)), "nor with NO_COLOR");
	messages(WIDTH, &call, "--color");
	has("\033[1;31mschedtape:\033[m ", "unless they are asked for");
	unsetenv("NO_COLOR");
	terminal_capture(STDERR_FILENO, WIDTH, warn, NULL, text, sizeof(text));
	ok(!strcmp(text, "schedtape: \033[1;33mwarning: \033[mx.tape: it is ?[31m\r\n"),
	   "a warning: its text is safe");
}

int main(void)
{
	blob_init(&the_tape);
	make_tape();
	losses = the_tape;
	blob_init(&the_tape);
	make_delays();
	unsetenv("COLUMNS");
	unsetenv("NO_COLOR");
	setenv("TERM", "xterm", 1);
	tap_run();
	return tap_done();
}
