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
 * @record: tape to record on, or NULL
 * @program: how the tape is compiled; @keep and its @arg are set by who opens the tape
 * @speed: of all, 1: as recorded
 * @scale_cpu: of CPU time only
 * @work: CPU time stands for work: a faster CPU needs less of it
 * @repeat: how often, 0: without end
 * @cpus: where
 * @user: without the module
 * @no_ext: set by replay.c: tasks have SCHED_EXT, and the kernel has not
 * @cgroups: where to make those of the tape again, "": in the root; NULL: nowhere
 */
struct replay_options {
	struct cmd_common common;
	const char *record;
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
	bool user;
	bool quiet;
};

/* Does not return if something is wrong with it. */
void replay_options_parse(struct replay_options *opts, int argc, char **argv);
void replay_options_free(struct replay_options *opts);

#endif /* SCHEDTAPE_REPLAY_OPTIONS_H */
