/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The command line of schedtape replay.
 */
#ifndef SCHEDTAPE_REPLAY_OPTIONS_H
#define SCHEDTAPE_REPLAY_OPTIONS_H

#include <stdbool.h>

#include <program/program.h>

#include "common/options.h"
#include "player/cpu-map.h"
#include "replay/choice.h"

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
