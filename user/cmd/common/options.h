/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the subcommands of schedtape share.
 *
 * A subcommand gets its own name as argv[0] ("schedtape report"), and returns
 * an exit status: 0, 1 for a failure, CMD_USAGE for a wrong call.  diff, which
 * says 1 for "they differ", has CMD_TROUBLE for failures, as diff(1) has.
 */
#ifndef SCHEDTAPE_CMD_H
#define SCHEDTAPE_CMD_H

#include <argp.h>
#include <stdbool.h>

#include <schedtape.h>

#define CMD_FAILURE	1
#define CMD_TROUBLE	2
#define CMD_USAGE	129		/* as perf and git have it */

#define CMD_DEFAULT_TAPE	"schedtape.tape"

int cmd_record(int argc, char **argv);
int cmd_filter(int argc, char **argv);
int cmd_script(int argc, char **argv);
int cmd_info(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_replay(int argc, char **argv);
int cmd_steer(int argc, char **argv);
int cmd_diff(int argc, char **argv);
int cmd_list(int argc, char **argv);
int cmd_pack(int argc, char **argv);
int cmd_recover(int argc, char **argv);
int cmd_status(int argc, char **argv);

/**
 * struct cmd_common - options of every command that reads one tape
 * @input: -i FILE, --input FILE or the one argument; preset: CMD_DEFAULT_TAPE
 * @json: --json
 */
struct cmd_common {
	const char *input;
	bool json;
};

#define CMD_COMMON_INIT	{ .input = CMD_DEFAULT_TAPE }

/*
 * To be children of a command's argp.  Their inputs, set at ARGP_KEY_INIT in
 * state->child_inputs: a struct cmd_common, a bool.
 */
extern const struct argp cmd_common_argp;	/* -i FILE, [FILE], --json */
extern const struct argp cmd_json_argp;		/* --json */

/* The parser of a command without options of its own: its input is its one child's. */
error_t cmd_parse_child(int key, char *arg, struct argp_state *state);

/*
 * argp_parse() with the exit status that it has everywhere.  Does not return
 * after --help, --usage, --version or a wrong option.
 */
void cmd_parse(const struct argp *argp, int argc, char **argv, unsigned int flags, void *input);

/* Opens a tape, or says why not: NULL. */
struct schedtape_tape *cmd_open_tape(const char *path);
/*
 * Runs a tape into a timeline, or says why not: NULL.  Warns of damaged pages,
 * which are left out.
 */
struct schedtape_timeline *cmd_run_timeline(struct schedtape_tape *tape);
/* Warns of damaged pages. */
void cmd_warn_damage(const struct schedtape_timeline *timeline);
/* Closes it, and warns if it is torn or damaged as far as it has been read. */
void cmd_close_tape(struct schedtape_tape *tape, const char *path);

/* Of all CPUs. */
uint64_t cmd_count_events(const struct schedtape_end *end);
uint64_t cmd_count_lost(const struct schedtape_end *end);

#endif /* SCHEDTAPE_CMD_H */
