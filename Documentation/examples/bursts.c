// SPDX-License-Identifier: GPL-2.0-only
/*
 * bursts - how often each task of a tape got a CPU
 *
 *	cc bursts.c -o bursts $(pkg-config --cflags --libs libschedtape)
 *	./bursts schedtape.tape
 */
#include <stdio.h>
#include <stdlib.h>

#include <schedtape.h>

static uint32_t bursts[1 << STAPE_PID_BITS];

static int count(struct schedtape_tape *tape, struct schedtape_error *err)
{
	struct schedtape_event ev;
	int ret;

	while ((ret = schedtape_tape_next(tape, &ev, err)) > 0) {
		if (ev.type == STAPE_EV_SWITCH && ev.pid < 1 << STAPE_PID_BITS)
			bursts[ev.pid]++;
	}
	return ret;
}

int main(int argc, char **argv)
{
	struct schedtape_error err = { "" };
	struct schedtape_tape *tape;
	uint32_t pid;
	int ret;

	if (argc != 2) {
		fprintf(stderr, "Usage: bursts TAPE\n");
		return 2;
	}
	ret = schedtape_tape_open(argv[1], &tape, &err);
	if (!ret) {
		ret = count(tape, &err);
		schedtape_tape_close(tape);
	}
	if (ret) {
		fprintf(stderr, "bursts: %s\n", err.text);
		return 1;
	}
	/* A switch to PID 0 is one to whatever was not recorded. */
	for (pid = 1; pid < 1 << STAPE_PID_BITS; pid++) {
		if (bursts[pid])
			printf("%u\t%u\n", pid, bursts[pid]);
	}
	return 0;
}
