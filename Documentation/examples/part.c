// SPDX-License-Identifier: GPL-2.0-only
/*
 * part - copies the part of a tape that can be read: the tape may be truncated or corrupt
 *
 *	cc part.c -o part $(pkg-config --cflags --libs libschedtape)
 */
#include <inttypes.h>
#include <stdio.h>
#include <schedtape.h>

int main(int argc, char **argv)
{
	struct schedtape_error err = { "usage: part TAPE NEW-TAPE" };
	static struct schedtape_copy_options options;
	struct schedtape_tape *tape;
	const char *damage;
	uint64_t bytes;

	options.size = sizeof(options);
	options.recover = true;
	if (argc != 3 || schedtape_tape_open(argv[1], &tape, &err) ||
	    schedtape_tape_copy(tape, argv[2], &options, &bytes, &err)) {
		fprintf(stderr, "part: %s\n", err.text);
		return 1;
	}
	damage = schedtape_tape_damage(tape);
	printf("%" PRIu64 " bytes, from %" PRIu64 "%s%s\n", bytes, schedtape_tape_bytes(tape),
	       damage ? "; left out: " : "", damage ? damage : "");
	schedtape_tape_close(tape);
}
