// SPDX-License-Identifier: GPL-2.0-only
/* Description: the options of all commands that read one tape; messages of all commands. */
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/options.h"
#include "common/output.h"
#include "tap.h"

static bool refused;

/* Replaces the C library's function, which would exit. */
void argp_error(const struct argp_state *state, const char *format, ...)
{
	(void)state;
	(void)format;
	refused = true;
}

/* Returns the name of the tape that these arguments give, or "refused". */
static const char *tape_of(char *first, char *second, char *third)
{
	char *argv[] = { "report", first, second, third, NULL };
	struct cmd_common common = CMD_COMMON_INIT;
	int argc = 1;

	while (argv[argc])
		argc++;
	refused = false;
	if (argp_parse(&cmd_common_argp, argc, argv, ARGP_SILENT, NULL, &common))
		refused = true;
	return refused ? "refused" : common.input;
}

TEST(tape)
{
	ok(!strcmp(tape_of(NULL, NULL, NULL), CMD_DEFAULT_TAPE), "no name: the usual tape");
	ok(!strcmp(tape_of("a", NULL, NULL), "a"), "an argument");
	ok(!strcmp(tape_of("-ia", NULL, NULL), "a"), "-i");
	ok(!strcmp(tape_of("-ia", "-ib", NULL), "b"), "-i twice: the last one counts");
	ok(!strcmp(tape_of("a", "b", NULL), "refused"), "two arguments");
	ok(!strcmp(tape_of("-ia", "b", NULL), "refused"), "-i and an argument");
	ok(!strcmp(tape_of("a", "-i", "b"), "refused"), "an argument and -i");
}

/* On a socket for datagrams, each write() is a datagram of its own. */
TEST(message)
{
	int ends[2], before = dup(STDERR_FILENO);
	char text[256] = "";

	if (socketpair(AF_UNIX, SOCK_DGRAM, 0, ends)) {
		ok(false, "socketpair()");
		return;
	}
	dup2(ends[1], STDERR_FILENO);
	out_warning("a tape", "text %d\t%s", 7, "end");
	dup2(before, STDERR_FILENO);
	ok(recv(ends[0], text, sizeof(text) - 1, MSG_DONTWAIT) > 0 &&
	   !strcmp(text, "schedtape: warning: a tape: text 7?end\n"), "a message in one write: %s",
	   text);
	close(ends[0]);
	close(ends[1]);
	close(before);
}

TEST_MAIN
