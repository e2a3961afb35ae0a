// SPDX-License-Identifier: GPL-2.0-only
/*
 * kinds - how many events of each kind a tape has
 *
 *	cc kinds.c -o kinds $(pkg-config --cflags --libs libschedtape)
 *	./kinds schedtape.tape
 */
#include <stdio.h>
#include <schedtape.h>

#define KINDS	64

int main(int argc, char **argv)
{
	struct schedtape_error err = { "" };
	unsigned long counts[KINDS] = { 0 };
	struct schedtape_tape *tape;
	struct schedtape_event ev;
	int kind, ret;

	if (argc != 2) {
		fprintf(stderr, "Usage: kinds TAPE\n");
		return 2;
	}
	if (schedtape_tape_open(argv[1], &tape, &err)) {
		fprintf(stderr, "kinds: %s\n", err.text);
		return 1;
	}
	while ((ret = schedtape_tape_next(tape, &ev, &err)) > 0)
		if (ev.type < KINDS)
			counts[ev.type]++;
	for (kind = 0; kind < KINDS; kind++)
		if (counts[kind])
			printf("%s\t%lu\n", schedtape_event_name(kind), counts[kind]);
	if (ret)
		fprintf(stderr, "kinds: %s\n", err.text);
	schedtape_tape_close(tape);
	return ret ? 1 : 0;
}
