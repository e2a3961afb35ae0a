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
 * @program: the programs of all tasks
 * @calibration: how fast the players' CPUs spin
 * @clocks: the players' CPU clocks and the speed, mapped
 * @scale: a player's CPU time for each ns of its task's, at the recorded speed
 * @speed: the replay's speed at its start
 * @costs: CPU time of players' forks and ends
 * @fd: the replay's file; -1: @engine is used
 * @engine: the user-space engine, instead of the module
 * @group: process group of all players, 0: each first process has one of its own
 * @cpus: the CPUs that players may use
 * @cgroups: by the program's number of a cgroup: its cgroup.procs file; NULL: players do
 *	not enter that cgroup; @cgroups NULL: they enter none
 * @attributes: players get the recorded policy, nice value and affinity
 * @no_ext: the kernel has no SCHED_EXT: SCHED_OTHER is set instead
 * @autogroups: players are in sessions of their own where tasks had autogroups of their own, and
 *	the first processes are in their session already
 * @slices, @clamps: tasks have slices or utilization clamps of their own, and so has the kernel
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
	bool autogroups;
	bool slices;
	bool clamps;
};

/*
 * Starts the process of a root of the program, and its threads whose fork is not recorded.
 * Returns its PID or -errno.
 */
pid_t player_spawn(const struct player_cast *cast, uint32_t number);

/* Closes the descriptors behind stderr, but for the replay's file and @kept. */
void player_close_others(const struct player_cast *cast, int kept);

#endif /* SCHEDTAPE_PLAYER_H */
