// SPDX-License-Identifier: GPL-2.0-only
/*
 * schedtape recover: makes a complete tape of the valid parts of a truncated or corrupt one.
 */
#include "commands.h"
#include "common/copy.h"

int cmd_recover(int argc, char **argv)
{
	static const struct argp_child children[] = { { &copy_argp, 0, NULL, 0 }, { 0 } };
	static const struct argp argp = {
		.args_doc = "[FILE|DIR]",
		.doc = "Writes a complete tape with all valid parts of a truncated or corrupt one, "
		       "and reports what was missing. The tape itself is not changed.",
		.children = children,
		.parser = cmd_parse_child,
	};
	struct copy_options opts = {
		.common = CMD_COMMON_INIT,
		.suffix = ".recovered",
		.recover = true,
	};

	cmd_parse(&argp, argc, argv, 0, &opts);
	return copy_run(&opts);
}
