// SPDX-License-Identifier: GPL-2.0-only
/*
 * schedtape pack: makes one file of a tape that is a directory.
 */
#include <stdlib.h>
#include <sys/stat.h>

#include "commands.h"
#include "common/new-tape.h"
#include "common/output.h"

int cmd_pack(int argc, char **argv)
{
	static const struct argp_child children[] = { { &copy_argp, 0, NULL, 0 }, { 0 } };
	static const struct argp argp = {
		.args_doc = "[DIR]",
		.doc = "Makes one file of a tape that record --threads wrote into a directory.",
		.children = children,
		.parser = cmd_parse_child,
	};
	struct copy_options opts = { .common = CMD_COMMON_INIT, .suffix = ".packed" };
	int status = CMD_FAILURE;
	struct stat st;

	cmd_parse(&argp, argc, argv, 0, &opts);
	if (!stat(opts.common.input, &st) && !S_ISDIR(st.st_mode))
		out_error(opts.common.input, "is not a directory: there is nothing to pack");
	else
		status = copy_run(&opts);
	free(opts.output);
	return status;
}
