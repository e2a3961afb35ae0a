/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What schedtape replay says: progress, results, why it does not go on.
 */
#ifndef SCHEDTAPE_REPLAY_PRINT_H
#define SCHEDTAPE_REPLAY_PRINT_H

#include <schedtape/client.h>
#include <program/program.h>

#include "replay/options.h"
#include "replay/processes.h"

struct json_object;

/* A line on a terminal, which replay_show_end() takes away. */
void replay_show(const struct replay_options *opts, const struct schedtape_program *program,
		 const struct schedtape_replay_state *state);
void replay_show_end(const struct replay_options *opts);
/* To standard output, unless the tape is there, or added to @results if there are any. */
void replay_print(const struct replay_options *opts, const struct schedtape_program *program,
		  const struct schedtape_replay_state *state, struct json_object *results);
/* Prints all results, and releases them. */
void replay_print_json(const char *path, struct json_object *rounds);
/* Which player it was. */
void replay_print_death(const struct schedtape_program *program,
			const struct process_death *died);
/* Who waits for whom in a replay that is stuck. */
void replay_explain(struct schedtape_client *client, uint32_t id,
		    const struct schedtape_program *program);

#endif /* SCHEDTAPE_REPLAY_PRINT_H */
