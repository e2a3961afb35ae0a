/* SPDX-License-Identifier: GPL-2.0-only */
/* What the files of replay share, the lowest first. */
#ifndef SCHEDTAPE_REPLAY_INTERNAL_H
#define SCHEDTAPE_REPLAY_INTERNAL_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <program/program.h>
#include <schedtape/client.h>

#include "machine/calibration.h"
#include "player/cpu-map.h"
#include "player/player.h"
#include "record/recorder.h"
#include "replay/options.h"

struct json_object;

/* -- replay-cgroups.c: copies of the tape's cgroups, in their own folder --- */

/**
 * struct cgroups_made - what has to be removed after the replay
 * @parent: the folder that @top is in
 * @top: the folder of all cgroups of the replay
 * @stage: enum cgroups_stage of @top, whose name is complete before @stage is stored
 * @unclamped: the kernel has not the utilization clamps of a cgroup
 * @enabled: a bit for each controller of @parent that was not enabled before
 *
 * It is in memory that forked processes share.  @stage and @enabled are stored atomically, before
 * the change that they announce, because the controller may be killed at any moment.
 */
struct cgroups_made {
	char parent[PATH_MAX];
	char top[PATH_MAX];
	uint32_t stage;
	uint32_t enabled;
	bool unclamped;
};

/**
 * struct cgroups - the cgroups of one replay; all 0: none
 * @made: what has to be removed
 * @procs: by the program's number of the cgroup: path of its cgroup.procs; NULL: unknown
 * @nr: number of @procs
 */
struct cgroups {
	struct cgroups_made *made;
	char **procs;
	uint32_t nr;
};

/*
 * Allocates @made.  Call it before cgroups_make() and before a fork of a process that has to
 * remove cgroups that are made later.  Returns 0 or -errno.
 */
int cgroups_open(struct cgroups *cgroups);
/*
 * Makes the program's cgroups below @parent ("": the root), with their weights, quotas and, mapped
 * by @cpus, their CPUs.  Returns 0, or -errno after a message.
 */
int cgroups_make(struct cgroups *cgroups, const char *parent, struct schedtape_tape *tape,
		 const struct schedtape_program *program, const struct cpu_map *cpus);
/* Removes all cgroups, and kills the processes in them. */
void cgroups_remove(struct cgroups *cgroups);

/* -- stage.c: the program of players, and what they share ------------------ */

/* player-program.c: the file of the program */
extern const char player_program[], player_program_end[];

/**
 * struct stage - what starts players
 * @cast: what they share, with pointers for this process
 * @speed, @told: those of @cast when @file was made; nothing else in it changes
 * @group: process group of all players, 0: each first process has one of its own
 * @program: descriptor of their program in memory; -errno: only the installed one is there
 * @file: descriptor of the file with @cast, as players see it; -1: there is none yet
 * @fds: descriptors of what players map besides, @nr_maps of them
 * @costs: as measured by stage_publish()
 */
struct stage {
	const struct player_cast *cast;
	double speed;
	const struct schedtape_told *told;
	pid_t group;
	int program;
	int file;
	int fds[PLAYER_MAPS];
	uint32_t nr_maps;
	struct schedtape_costs costs;
};

void stage_open(struct stage *stage);
/*
 * Makes @file of @cast, and measures what steps and forks of players cost.  Call it before each
 * round: it does nothing if @cast is as it was.  Returns 0, or -errno after a message.
 */
int stage_publish(struct stage *stage);
/*
 * Starts the process of a root of the program, and its threads whose fork is not recorded.
 * Returns its PID or -errno.
 */
pid_t stage_spawn(const struct stage *stage, uint32_t number);
/* Closes the descriptors behind stderr, but for @kept and those that stage_spawn() needs. */
void stage_close_others(const struct stage *stage, int kept);
void stage_close(struct stage *stage);

/* -- replay-processes.c: the processes of a replay ------------------------- */

/**
 * struct kill_on_exit - a process that kills the replay's process group when the controller dies
 * @pid: its PID, which is the number of the process group that it kills; 0: not started
 * @fd: writing end of a pipe; the process waits until all descriptors of it are closed
 */
struct kill_on_exit {
	pid_t pid;
	int fd;
};

/*
 * Starts the process.  When the controller ends, it calls @clean (which may be NULL) with @arg,
 * and kills the group.  It is a fork, so it sees later changes in shared memory only.  Call this
 * before opening a descriptor that has to close with the controller.  The process sends no exit
 * signal, so waitpid(-1) does not return it.  Returns 0 or -errno.
 */
int kill_on_exit_start(struct kill_on_exit *killer, void (*clean)(void *arg), void *arg);
/* Stops the other processes of the group, or lets them go on. */
void kill_on_exit_stop(const struct kill_on_exit *killer);
void kill_on_exit_continue(const struct kill_on_exit *killer);
/* Kills the group and waits for the process; @clean is not called. */
void kill_on_exit_end(struct kill_on_exit *killer);

/*
 * Players share an autogroup if their tasks did.  The kernel makes an autogroup for each session
 * (setsid()), and a process can be in a session only by its birth.  So a process holds each session
 * that no player makes, and starts the players there.
 */

/**
 * struct session - a session
 * @autogroup: the recorded one, PID of the recorded session
 * @pid: the process that holds it
 * @fd: a socket to that
 */
struct session {
	uint32_t autogroup;
	pid_t pid;
	int fd;
};

/**
 * struct sessions - those of a replay
 * @list: @n of them
 */
struct sessions {
	struct session *list;
	size_t n;
	size_t capacity;
};

/* Returns why this process is in no autogroup, so that players would be in none; NULL: it is. */
const char *sessions_lack(void);

/*
 * The processes that no player forks.  Each is started shortly before it is due, so that about as
 * many processes exist as in the recording.
 */

/**
 * struct process_death - unexpected end of a player process
 * @pid: its PID; 0: no process has died
 * @task: the program's number of the task that it played
 * @status: as wait(2) returns it
 */
struct process_death {
	uint32_t pid;
	uint32_t task;
	int status;
};

/**
 * struct processes - the player processes of one replay that the controller starts
 * @pids: PIDs of the live processes
 * @tasks: number of the task that each of them plays
 * @nr: number of live processes
 * @pid_capacity, @task_capacity: of these arrays
 * @next: index of the first of the program's roots that processes_start_due() has not visited
 * @latest: when the last process that it started is due, ns
 * @players: number of threads of all started processes
 * @none_left: no live process is left, also no process that a player forked
 * @sessions: those that processes are started in
 * @died: the first process that died; after the replay's end, a kill is also a death
 */
struct processes {
	const struct stage *stage;
	uint32_t *pids;
	uint32_t *tasks;
	size_t nr;
	size_t pid_capacity;
	size_t task_capacity;
	uint32_t next;
	uint64_t latest;
	uint32_t players;
	bool none_left;
	struct sessions sessions;
	struct process_death died;
};

/* Starts the processes that are due at the start or soon after.  Returns 0 or -errno. */
int processes_begin(struct processes *processes, const struct stage *stage);
/*
 * Starts processes that are due soon after @time of the replay, ns, whose speed is @speed
 * millionths.  New processes are at the end of @pids.
 */
int processes_start_due(struct processes *processes, uint64_t time, uint32_t speed);
/* Returns true if there are processes to start later. */
bool processes_to_come(const struct processes *processes);
/* Removes processes that have ended.  @all: waits until no process is left. */
void processes_reap(struct processes *processes, bool all);
void processes_free(struct processes *processes);

/* -- replay-tape.c: the tape of a replay ----------------------------------- */

/**
 * struct replay_tape - the recording of a replay, with which task each player plays
 * @recorder: its session is NULL without --record
 * @later: the first task whose process may start after the recording has begun
 * @same_pids: the module and the controller have the same PIDs: they are not in different
 *	PID namespaces
 */
struct replay_tape {
	struct recorder recorder;
	const struct schedtape_program *program;
	uint32_t later;
	bool same_pids;
};

/* These functions return 0, or -errno after a message.  @played: the tape that is replayed */
int replay_tape_open(struct replay_tape *tape, const struct replay_options *opts,
		     struct schedtape_client *client, const struct stage *stage,
		     struct schedtape_tape *played);
/* Begins to record, when the first processes of the replay @id are there. */
int replay_tape_start(struct replay_tape *tape, struct schedtape_client *client, uint32_t id,
		      const struct schedtape_program *program, const struct processes *processes);
/*
 * Makes memory for @cast in which players tell what they have found out.  When all have ended,
 * replay_tape_add_told() adds it to the tape.
 */
int replay_tape_make_told(struct player_cast *cast);
void replay_tape_add_told(struct replay_tape *tape, const struct player_cast *cast);
void replay_tape_free_told(struct player_cast *cast);
/* Adds the processes from the @before-th on, which have been started since. */
int replay_tape_add(struct replay_tape *tape, const struct processes *processes, size_t before);

/* -- print.c: progress, results, why a replay has failed ------------------- */

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
/* Returns true if a player has printed why it and the others of its group died. */
bool replay_death_is_explained(const struct process_death *died);
/* Prints which player died, and of what, unless that is explained. */
void replay_print_death(const struct schedtape_program *program,
			const struct process_death *died);
/* Prints which player of a stuck replay waits for which other one. */
void replay_explain(struct schedtape_client *client, uint32_t id,
		    const struct schedtape_program *program);

/* -- rounds.c: replays of a program ---------------------------------------- */

/*
 * Replays @program as often as @opts says, and prints each result or adds it to @results.
 * @client: NULL with --engine=user; @scale: factor for the tape's CPU time.  Returns 0; 1 if the
 * machine slept during a round; or -errno after a message; -EINTR: a signal has ended the replay.
 */
int replay_run(const struct replay_options *opts, struct schedtape_client *client,
	       struct schedtape_tape *tape, const struct schedtape_program *program,
	       const struct schedtape_calibration *calibration, double scale,
	       struct json_object *results);

#endif /* SCHEDTAPE_REPLAY_INTERNAL_H */
