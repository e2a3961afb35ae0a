// SPDX-License-Identifier: GPL-2.0-only
/*
 * part - copies what a tape has from one time to another, in seconds, as schedtape script has them
 *
 *	cc part.c -o part $(pkg-config --cflags --libs libschedtape)
 *	./part load.tape part.tape 83.1 83.2
 *
 * Chunks of the tape that have events of this time are copied as they are, and what was damaged is
 * left out.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <schedtape.h>

int main(int argc, char **argv)
{
	struct schedtape_error err = { "usage: part TAPE NEW-TAPE [FROM TO]" };
	static struct schedtape_copy_options options;
	struct schedtape_tape *tape;
	const char *damage;
	uint64_t bytes;

	options.size = sizeof(options);
	options.recover = true;
	if (argc == 5) {
		options.from = (uint64_t)(strtod(argv[3], NULL) * 1e9);
		options.to = (uint64_t)(strtod(argv[4], NULL) * 1e9);
	}
	if ((argc != 3 && argc != 5) || schedtape_tape_open(argv[1], &tape, &err) ||
	    schedtape_tape_copy(tape, argv[2], &options, &bytes, &err)) {
		fprintf(stderr, "part: %s\n", err.text);
		return 1;
	}
	damage = schedtape_tape_damage(tape);
	printf("%" PRIu64 " bytes, from %" PRIu64 "%s%s\n", bytes, schedtape_tape_bytes(tape),
	       damage ? "; damaged: " : "", damage ? damage : "");
	schedtape_tape_close(tape);
}
