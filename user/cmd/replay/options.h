/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The command line of schedtape replay.
 */
#ifndef SCHEDTAPE_REPLAY_OPTIONS_H
#define SCHEDTAPE_REPLAY_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <program/program.h>
#include <schedtape.h>

#include "common/options.h"
#include "common/select-cgroups.h"
#include "player/cpu-map.h"

/* -- the tasks to replay: --only and --exclude ----------------------------- */

/**
 * struct choice_list - "NAME" or "comm=NAME", "pid=LIST", "tgid=LIST", "cgroup=WHICH"
 */
struct choice_list {
	struct select_names comms;
	struct select_cgroups cgroups;
	struct select_numbers pids;
	struct select_numbers tgids;
};

/**
 * struct choice - the tasks of --only (empty: all), without those of --exclude
 */
struct choice {
	struct choice_list only;
	struct choice_list exclude;
};

/* Adds an argument.  Returns 0, -EINVAL (wrong form) or -ENOMEM. */
int choice_parse(struct choice_list *list, const char *text);
/* Returns true if --only or --exclude was given. */
bool choice_made(const struct choice *choice);
/* Finds the names and the cgroups on the tape.  Returns 0, or -errno after a message. */
int choice_check(struct choice *choice, struct schedtape_tape *tape, const char *path);
/* Returns true if the task is to be replayed.  @arg: a struct choice. */
bool choice_keeps(void *arg, const struct schedtape_task *task);
void choice_free(struct choice *choice);

/* -- --cpus ---------------------------------------------------------------- */

/* Returns the CPUs that this process may use, such as "0-3,6", to be freed, or NULL. */
char *cpus_usable(void);

/* -- all options ----------------------------------------------------------- */

/**
 * struct replay_options - what to replay, and how
 * @record: tape to record on, see destination_find(), allocated; or NULL
 * @program: how to compile the tape; replay.c sets @keep and its @arg
 * @cgroups: parent of the replay's cgroups, "": the root; NULL: make no cgroups
 * @cpus: CPUs of this machine for the recorded ones
 * @speed: speed of the whole replay; 1: as recorded
 * @scale_cpu: factor for CPU time only
 * @work: do the recorded work instead of using the recorded CPU time
 * @repeat: number of replays; 0: no limit
 * @no_ext: set by replay.c: tasks have SCHED_EXT, and the kernel has not
 * @autogroups: set by replay.c: players are to share autogroups as the tasks did
 * @slices, @clamps: set by replay.c: tasks have some of their own, and so has the kernel
 * @user: use the engine of user space, not the module
 */
struct replay_options {
	struct cmd_common common;
	char *record;
	struct schedtape_program_options program;
	struct choice choice;
	const char *cgroups;
	struct cpu_map cpus;
	double speed;
	double scale_cpu;
	bool work;
	uint32_t repeat;
	bool no_attributes;
	bool no_ext;
	bool autogroups;
	bool slices;
	bool clamps;
	bool user;
	bool quiet;
};

/* Does not return if an option is wrong. */
void replay_options_parse(struct replay_options *opts, int argc, char **argv);
void replay_options_free(struct replay_options *opts);

#endif /* SCHEDTAPE_REPLAY_OPTIONS_H */
