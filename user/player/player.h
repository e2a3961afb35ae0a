/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Players: threads that run one task's program each.
 */
#ifndef SCHEDTAPE_PLAYER_H
#define SCHEDTAPE_PLAYER_H

#include <sys/types.h>

#include <player/burn.h>
#include <player/engine.h>
#include <program/program.h>

#include "player/cpu-map.h"

/**
 * struct player_cast - what all players of a replay share
 * @command: the name of the command, for messages
 * @program: what they do
 * @calibration: how fast they spin
 * @clocks: the players' CPU clocks and the speed, mapped
 * @scale: of CPU time, at the recorded speed
 * @speed: of all, at first
 * @costs: of players' forks and ends
 * @fd: the replay's file; -1: @engine
 * @engine: instead of the module
 * @group: process group of all players, 0: each first process has one of its own
 * @cpus: where they may run
 * @cgroups: by the program's number: the file that takes processes, NULL: stay; NULL:
 *	stay in any case
 * @attributes: take over policy, nice value and affinity
 * @no_ext: the kernel has no SCHED_EXT: SCHED_OTHER is set instead
 */
struct player_cast {
	const char *command;
	const struct schedtape_program *program;
	const struct schedtape_calibration *calibration;
	const volatile uint64_t *clocks;
	double scale;
	double speed;
	const struct cpu_map *cpus;
	struct schedtape_costs costs;
	int fd;
	struct schedtape_engine *engine;
	pid_t group;
	char *const *cgroups;
	bool attributes;
	bool no_ext;
};

/*
 * Starts the process of a root of the program, and its threads that nobody forks.
 * Returns its PID or -errno.
 */
pid_t player_spawn(const struct player_cast *cast, uint32_t number);

#endif /* SCHEDTAPE_PLAYER_H */
