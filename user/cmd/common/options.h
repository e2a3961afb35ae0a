/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Options of several commands.
 */
#ifndef SCHEDTAPE_COMMON_OPTIONS_H
#define SCHEDTAPE_COMMON_OPTIONS_H

#include <argp.h>
#include <stdbool.h>

#define CMD_DEFAULT_TAPE	"schedtape.tape"

/**
 * struct cmd_common - options of every command that reads one tape
 * @input: -i FILE, --input FILE or the one argument; preset: CMD_DEFAULT_TAPE
 * @option: -i has set @input
 * @json: --json
 */
struct cmd_common {
	const char *input;
	bool option;
	bool json;
};

#define CMD_COMMON_INIT	{ .input = CMD_DEFAULT_TAPE }

/*
 * Children of a command's argp.  Their inputs, set at ARGP_KEY_INIT in
 * state->child_inputs: a struct cmd_common, a bool.
 */
extern const struct argp cmd_common_argp;	/* -i FILE, [FILE], --json */
extern const struct argp cmd_json_argp;		/* --json */

/* Parser of a command without own options: passes its input to its one child. */
error_t cmd_parse_child(int key, char *arg, struct argp_state *state);

/*
 * Calls argp_parse(), and exits with CMD_USAGE if that fails.  Each command also gets the option
 * --color.  One that may have a pager gets --no-pager, and the pager is started.  Does not return
 * after --help, --usage, --version or a wrong option, nor when a shell asks for completion: see
 * complete.h.
 */
void cmd_parse(const struct argp *argp, int argc, char **argv, unsigned int flags, void *input);

#endif /* SCHEDTAPE_COMMON_OPTIONS_H */
