/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Replays of a program.
 */
#ifndef SCHEDTAPE_RUN_H
#define SCHEDTAPE_RUN_H

#include <schedtape/client.h>

#include "machine/calibration.h"
#include "replay/options.h"

struct json_object;

/*
 * Replays @program as often as @opts says, and prints each result or adds it to @results.
 * @client: NULL with --engine=user; @scale: factor for the tape's CPU time.  Returns 0; 1 if the
 * machine slept during a round; or -errno after a message; -EINTR: a signal has ended the replay.
 */
int replay_run(const struct replay_options *opts, struct schedtape_client *client,
	       struct schedtape_tape *tape, const struct schedtape_program *program,
	       const struct schedtape_calibration *calibration, double scale,
	       struct json_object *results);

#endif /* SCHEDTAPE_RUN_H */
