/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Players: threads that run one task's program each, in processes of a program of their own.  The
 * controller executes it with an empty environment and with these arguments: the name of a task,
 * the number of a descriptor, and the task's number.
 */
#ifndef SCHEDTAPE_PLAYER_H
#define SCHEDTAPE_PLAYER_H

#include <signal.h>

#include <player/burn.h>
#include <player/costs.h>
#include <player/cpu-map.h>
#include <player/engine.h>
#include <program/program.h>

/* Each player maps the file of that descriptor here: the cast, and all that it points to. */
#define PLAYER_CAST_AT	0x1000000000ULL

/*
 * A player that cannot go on says why, and kills its process group with this signal.  So the
 * controller knows that a message has been printed.
 */
#define PLAYER_FAILED	SIGUSR2

#define PLAYER_MAPS	10
#define PLAYER_ERRORS	134	/* all errors of Linux are below that number */
#define PLAYER_ERROR_LEN	64

/**
 * struct player_map - a mapping of a file that players share
 * @at: its address
 * @access: PROT_*
 * @fd: descriptor of the file
 */
struct player_map {
	uint64_t at;
	uint64_t bytes;
	int access;
	int fd;
};

/**
 * struct player_cast - what all players of a replay share
 * @command: the name of the command, for messages
 * @program: the programs of all tasks
 * @calibration: how fast the players' CPUs spin
 * @clocks: the players' CPU clocks and the speed
 * @cpus: the CPUs that players may use
 * @engine: the user-space engine, instead of the module
 * @told: by task: what its player has found out; NULL: the controller need not know
 * @cgroups: by the program's number of a cgroup: its cgroup.procs file; NULL: players do
 *	not enter that cgroup; @cgroups NULL: they enter none
 * @errors: by number: the text of an error
 * @scale: a player's CPU time for each ns of its task's, at the recorded speed
 * @speed: the replay's speed at its start
 * @costs: CPU time of players' forks and ends
 * @fd: the replay's file; -1: @engine is used
 * @told_fd: the file of @told
 * @attributes: players get the recorded policy, nice value and affinity
 * @no_ext: the kernel has no SCHED_EXT: SCHED_OTHER is set instead
 * @autogroups: players are in sessions of their own where tasks had autogroups of their own, and
 *	the first processes are in their session already
 * @hidden: other processes of the user must not look into players, as into the controller
 * @slices, @clamps: tasks have slices or utilization clamps of their own, and so has the kernel
 * @maps: what players map besides, @nr_maps of them
 */
struct player_cast {
	const char *command;
	const struct schedtape_program *program;
	const struct schedtape_calibration *calibration;
	const volatile uint64_t *clocks;
	const struct cpu_map *cpus;
	struct schedtape_engine *engine;
	struct schedtape_told *told;
	char *const *cgroups;
	const char (*errors)[PLAYER_ERROR_LEN];
	double scale;
	double speed;
	struct schedtape_costs costs;
	int fd;
	int told_fd;
	bool attributes;
	bool no_ext;
	bool autogroups;
	bool hidden;
	bool slices;
	bool clamps;
	struct player_map maps[PLAYER_MAPS];
	uint32_t nr_maps;
};

/*
 * Runs the program of a task that is a process's first, and starts the threads of that process
 * whose fork is not recorded.
 */
void player_run(const struct player_cast *cast, uint32_t number) __attribute__((noreturn));

#endif /* SCHEDTAPE_PLAYER_H */
