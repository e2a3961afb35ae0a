/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Output of schedtape replay: progress, results, why a replay has failed.
 */
#ifndef SCHEDTAPE_REPLAY_PRINT_H
#define SCHEDTAPE_REPLAY_PRINT_H

#include <schedtape/client.h>
#include <program/program.h>

#include "replay/options.h"
#include "replay/processes.h"

struct json_object;

/* Shows the progress in a line on a terminal.  replay_show_end() erases the line. */
void replay_show(const struct replay_options *opts, const struct schedtape_program *program,
		 const struct schedtape_replay_state *state);
void replay_show_end(const struct replay_options *opts);
/* Prints the result, to stderr if the tape goes to stdout; or adds it to @results if not NULL. */
void replay_print(const struct replay_options *opts, const struct schedtape_program *program,
		  const struct schedtape_replay_state *state, uint64_t slept,
		  struct json_object *results);
/* Prints to stderr how far a replay came that a signal has ended, unless --loop was given. */
void replay_print_interrupted(const struct replay_options *opts,
			      const struct schedtape_program *program,
			      const struct schedtape_replay_state *state);
/* Prints all results, and releases them. */
void replay_print_json(const char *path, struct json_object *rounds);
/* Prints which player died, and of what. */
void replay_print_death(const struct schedtape_program *program,
			const struct process_death *died);
/* Prints which player of a stuck replay waits for which other one. */
void replay_explain(struct schedtape_client *client, uint32_t id,
		    const struct schedtape_program *program);

#endif /* SCHEDTAPE_REPLAY_PRINT_H */
