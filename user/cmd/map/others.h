/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What CPUs do that run no task of the tape.  The tape has that afterwards, so a pass through the
 * tape finds it out before the lines are printed.
 */
#ifndef SCHEDTAPE_MAP_OTHERS_H
#define SCHEDTAPE_MAP_OTHERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <schedtape.h>

#define OTHERS_IDLE	'.'
#define OTHERS_BUSY	'-'
#define OTHERS_UNSURE	'?'	/* one of the two */
#define OTHERS_UNKNOWN	' '	/* perhaps even a task of the tape; or the CPU is offline */

/**
 * struct others_part - a time in which a CPU did not what its last event says
 * @from, @to: after @from, up to @to
 * @sign: what it did: OTHERS_*
 */
struct others_part {
	uint64_t from;
	uint64_t to;
	char sign;
};

/**
 * struct others_cpu - a CPU
 * @parts: @nr of them, by time
 * @at: the first one that is not over at the present line
 * @from: during the first pass: since when the CPU has run no task of the tape, or when the last
 *	event said what it did
 * @sign: what its last event said; 0: it runs a task of the tape
 */
struct others_cpu {
	struct others_part *parts;
	size_t nr;
	size_t room;
	size_t at;
	uint64_t from;
	char sign;
};

/**
 * struct others - all CPUs
 * @cpus: by number, @nr of them
 * @blind: the tape does not have that
 */
struct others {
	struct others_cpu *cpus;
	size_t nr;
	bool blind;
};

/* Returns the sign of enum stape_next, or of the kind of a SCHEDTAPE_EV_IDLE. */
char others_kind(unsigned int kind);
/* Reads a tape, and rewinds it if need be.  Returns 0, or an error of the tape. */
int others_read(struct others *others, struct schedtape_tape *tape, struct schedtape_error *err);
/*
 * Returns what a CPU does that runs no task of the tape.  @time: not before that of the last call;
 * @sign: what its last event says
 */
char others_sign(const struct others *others, uint32_t cpu, uint64_t time, char sign);
void others_free(struct others *others);

#endif /* SCHEDTAPE_MAP_OTHERS_H */
