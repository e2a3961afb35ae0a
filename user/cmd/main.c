// SPDX-License-Identifier: GPL-2.0-only
/*
 * schedtape: one table of subcommands.
 */
#include <argp.h>
#include <stdlib.h>
#include <string.h>

#include <schedtape/version.h>

#include "commands.h"
#include "common/complete.h"
#include "common/output.h"
#include "common/pager.h"
#include "common/rights.h"
#include "common/signals.h"
#include "first-steps.h"

static const struct {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *summary;
	bool paged;		/* on a terminal */
} commands[] = {
	{ "record", cmd_record, "Record how a workload is scheduled", false },
	{ "snapshot", cmd_snapshot, "Make a running recorder write a tape", false },
	{ "start", cmd_start, "Make a recorder begin that waits", false },
	{ "pause", cmd_pause, "Make a running recorder pause", false },
	{ "resume", cmd_resume, "Make a running recorder go on", false },
	{ "stop", cmd_stop, "Make a running recorder end", false },
	{ "filter", cmd_filter, "Change what a running session records", false },
	{ "info", cmd_info, "Show where and how a tape was recorded", true },
	{ "script", cmd_script, "Print the events of a tape", true },
	{ "report", cmd_report, "Show what each task of a tape did", true },
	{ "latency", cmd_latency, "Show how long tasks waited for a CPU", true },
	{ "stat", cmd_stat, "Show how many events of each type each task had", true },
	{ "top", cmd_top, "Show what tasks do now, each second", false },
	{ "timehist", cmd_timehist, "Print each time that a task spent on a CPU", true },
	{ "map", cmd_map, "Print which task runs on which CPU, side by side", true },
	{ "why", cmd_why, "Show what kept a task from running", true },
	{ "export", cmd_export, "Write a tape as a trace for a viewer", false },
	{ "sample", cmd_sample, "Record a workload, and when each interval of it ends", false },
	{ "phases", cmd_phases, "Find parts of a recording that are alike", true },
	{ "estimate", cmd_estimate, "Estimate a whole run from replays of its intervals", true },
	{ "restore", cmd_restore, "Let a workload go on from a checkpoint", false },
	{ "replay", cmd_replay, "Replay a tape", false },
	{ "steer", cmd_steer, "Pause, resume, speed up or stop a running replay", false },
	{ "diff", cmd_diff, "Compare two tapes, like a workload and its replay", true },
	{ "merge", cmd_merge, "Make one tape of several that one recorder has written", false },
	{ "pack", cmd_pack, "Make one file of a tape directory", false },
	{ "recover", cmd_recover, "Make a complete tape of a truncated or corrupt one", false },
	{ "list", cmd_list, "List the sessions and replays of the module", false },
	{ "status", cmd_status, "Show whether this user can record, and the module", false },
};

#define NR_COMMANDS	(sizeof(commands) / sizeof(commands[0]))

static void show_usage(FILE *to)
{
	size_t i;

	fprintf(to, "Usage: schedtape COMMAND [OPTION...]\n\n");
	for (i = 0; i < NR_COMMANDS; i++)
		fprintf(to, "  %-8s %s\n", commands[i].name, commands[i].summary);
	fprintf(to, "\n\"schedtape COMMAND --help\" prints the options of a command.\n");
}

#define LONGEST		32		/* of the words that are compared */
#define MISTYPED	2		/* letters */

/* Returns how many letters have to be inserted, removed or changed (Levenshtein, 1965). */
static size_t distance(const char *a, const char *b)
{
	size_t row[LONGEST + 1], before, above, i, j, na = strlen(a), nb = strlen(b);

	if (na > LONGEST || nb > LONGEST)
		return LONGEST;
	for (j = 0; j <= nb; j++)
		row[j] = j;
	for (i = 1; i <= na; i++) {
		before = row[0]++;
		for (j = 1; j <= nb; j++) {
			above = row[j];
			row[j] = before + (a[i - 1] != b[j - 1]);
			if (above + 1 < row[j])
				row[j] = above + 1;
			if (row[j - 1] + 1 < row[j])
				row[j] = row[j - 1] + 1;
			before = above;
		}
	}
	return row[nb];
}

/* Returns the command that a word resembles most, or NULL. */
static const char *resembling(const char *word)
{
	size_t i, n, least = MISTYPED + 1;
	const char *best = NULL;

	for (i = 0; i < NR_COMMANDS; i++) {
		n = distance(word, commands[i].name);
		if (n < least && n < strlen(word)) {
			least = n;
			best = commands[i].name;
		}
	}
	return best;
}

/* Prints the commands, and what can stand in place of one. */
static void complete_commands(bool help)
{
	size_t i;

	for (i = 0; i < NR_COMMANDS; i++)
		complete_print(commands[i].name, commands[i].summary);
	if (help)
		return;
	complete_print("help", "Print the options of a command");
	complete_print("--help", "Print the commands");
	complete_print("--no-pager", "Do not start a pager on a terminal");
	complete_print("--version", "Print program version");
}

/* Runs command number @number. */
static int start(size_t number, int argc, char **argv)
{
	int status;

	if (commands[number].paged)
		pager_allow();
	status = commands[number].run(argc, argv);
	if (!status || signals_interrupted()) {
		pager_finish();
		signals_die();
	}
	return status;
}

/* "schedtape --complete [--no-pager] WORD...", see complete.h. */
static int complete(int argc, char **argv)
{
	struct complete line = { argv, argc, 0 };
	int before = 2;
	size_t i;

	while (before < argc - 1 && !strcmp(argv[before], "--no-pager"))
		before++;
	line.first = before + 1;
	if (before >= argc - 1 || !strcmp(argv[before], "help")) {
		complete_commands(before < argc - 1);
		return 0;
	}
	complete_begin(&line);
	for (i = 0; i < NR_COMMANDS; i++)
		if (!strcmp(argv[before], commands[i].name))
			return start(i, 1, argv);
	return 0;
}

static int run(const char *name, int argc, char **argv)
{
	static char full_name[64];
	const char *best;
	size_t i;

	for (i = 0; i < NR_COMMANDS; i++) {
		if (strcmp(name, commands[i].name))
			continue;
		snprintf(full_name, sizeof(full_name), "schedtape %s", name);
		out_set_command(full_name);
		argv[0] = full_name;
		return start(i, argc, argv);
	}
	best = resembling(name);
	if (best)
		out_error(NULL, "no command \"%s\", did you mean \"%s\"?", name, best);
	else
		out_error(NULL, "no command \"%s\", see \"schedtape --help\"", name);
	return CMD_USAGE;
}

static const char * const helps[] = { "--help", "-h", "-?", "--usage", "help" };
static const char * const versions[] = { "--version", "-V", "-v", "version" };

static bool asks_for(const char *arg, const char * const *words, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (!strcmp(arg, words[i]))
			return true;
	return false;
}

int main(int argc, char **argv)
{
	char help_option[] = "--help";
	char *help[] = { argv[0], help_option, NULL };

	standard_open_missing();
	argp_program_version = "schedtape " SCHEDTAPE_VERSION;
	argp_err_exit_status = CMD_USAGE;

	/* As in git, also before the command. */
	while (argc > 1 && !strcmp(argv[1], "--no-pager")) {
		pager_forbid();
		argv[1] = argv[0];
		argv++;
		argc--;
	}
	if (argc < 2) {
		first_steps_print(stderr, rights_before());
		return CMD_USAGE;
	}
	if (asks_for(argv[1], versions, sizeof(versions) / sizeof(*versions))) {
		puts(argp_program_version);
		return out_finish(0);
	}
	if (!strcmp(argv[1], "--complete"))
		return complete(argc, argv);
	if (!strcmp(argv[1], "help") && argc > 2)
		return run(argv[2], 2, help);
	if (asks_for(argv[1], helps, sizeof(helps) / sizeof(*helps))) {
		show_usage(stdout);
		return out_finish(0);
	}
	return run(argv[1], argc - 1, argv + 1);
}
