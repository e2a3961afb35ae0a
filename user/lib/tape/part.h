/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which recording a tape is of; and on the tape of a replay, or of a restored workload, which part
 * of which recording that was.
 */
#ifndef SCHEDTAPE_TAPE_PART_H
#define SCHEDTAPE_TAPE_PART_H

#include <stdbool.h>
#include <stdint.h>

#include <schedtape-tape.h>

struct json_object;

#define TAPE_ID_LEN	33

/*
 * Writes what identifies the recording, whatever the tape is called: of a sample the identifier
 * "sample" of META, otherwise the wall clock before the recording and the start of the recording,
 * in ns.  Only copies of a tape have the same.  That of a restored interval has "interval" in META,
 * too, so that "sample" is not its own.
 */
void tape_id(struct schedtape_tape *tape, char id[TAPE_ID_LEN]);

/**
 * struct tape_part - the member "replay_part" of META, or what META has of a restored interval
 * @id: of the tape that was replayed, or is in the directory of the checkpoint
 * @interval: the number of the restored interval, from 1 on; 0: a part was replayed
 * @from, @to: from @from to before @to, ns of that tape's CLOCK_MONOTONIC
 * @speed: how many times as fast it was replayed
 */
struct tape_part {
	char id[TAPE_ID_LEN];
	uint64_t interval;
	uint64_t from;
	uint64_t to;
	double speed;
};

/* Returns the member for META. */
struct json_object *tape_part_describe(const struct tape_part *part);
/* Reads it; false: the tape has none. */
bool tape_part_read(struct schedtape_tape *tape, struct tape_part *part);
/*
 * Returns "rate" of META's "replay_costs": the CPU time of players for each ns of their tasks'.
 * 1: as much, but for rounding; NAN: the tape has none
 */
double tape_replay_rate(struct schedtape_tape *tape);

#endif /* SCHEDTAPE_TAPE_PART_H */
