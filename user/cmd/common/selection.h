/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which tasks, CPUs and times a command that reads a tape looks at: --pid, --tid, --comm, --cgroup,
 * --cpu, --time.
 *
 *	selection_argp, or another one, as a child of the command's argp
 *	selection_resolve()	once the tape is open
 *	selection_has_...()	for each event or task
 *	selection_no_match()	if that was never true
 *	selection_free()
 */
#ifndef SCHEDTAPE_SELECTION_H
#define SCHEDTAPE_SELECTION_H

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <schedtape.h>

#include "common/identities.h"
#include "common/select-cgroups.h"
#include "common/select.h"
#include "common/time-ranges.h"

/**
 * struct selection - the options; each one that is not given selects all
 * @pids: processes, by PID of their leader
 * @tids: tasks, by their own PID
 * @comms: names of tasks
 * @cgroups: cgroups, and those below them
 * @cpus: CPUs
 * @all_cpus: @cpus has all CPUs of the machine: then also what happened on an unknown CPU counts
 * @times: parts of the recording
 */
struct selection {
	struct select_pids pids;
	struct select_pids tids;
	struct select_names comms;
	struct select_cgroups cgroups;
	struct select_numbers cpus;
	bool all_cpus;
	struct time_ranges times;
};

/**
 * struct selection_task - a task as far as options can select it
 * @tgid: PID of its process; 0: not known, it counts as a process of its own
 * @ns_pid: its PID in its own PID namespace; 0: the same, or not known
 * @ns_tgid: the same of the task that leads its process
 * @cgroup: id; 0: not known
 */
struct selection_task {
	uint32_t pid;
	uint32_t tgid;
	uint32_t ns_pid;
	uint32_t ns_tgid;
	const char *comm;
	uint64_t cgroup;
};

/* Options of commands.  The input of each is a struct selection. */
extern const struct argp selection_argp;	/* all options */
extern const struct argp selection_short_argp;	/* also -p for --pid, -t for --tid */
extern const struct argp selection_tasks_argp;	/* without --cpu and --time */

/*
 * Finds the times, the cgroups and the names of tasks on a tape.  Returns 0, or -errno after a
 * message: the tape does not have them.  @path: of the tape.
 */
int selection_resolve(struct selection *selection, struct schedtape_tape *tape, const char *path);

/*
 * The same without the names of tasks, for a report that selects tasks by their last names: it
 * calls select_tasks_last() when all of the tape has been read, which may come from a pipe.
 */
int selection_resolve_but_names(struct selection *selection, struct schedtape_tape *tape,
				const char *path);

/* The same of an option that is a time, or several of them.  @option: "--time" */
int selection_resolve_times(struct time_ranges *times, struct schedtape_tape *tape,
			    const char *path, const char *option);

/* Returns true if an option selects tasks. */
static inline bool selection_of_tasks(const struct selection *selection)
{
	return select_pids_any(&selection->pids) || select_pids_any(&selection->tids) ||
	       selection->comms.nr || selection->cgroups.names.nr;
}

/* Returns true if there is any option. */
static inline bool selection_of_any(const struct selection *selection)
{
	return selection_of_tasks(selection) || selection->cpus.nr || selection->times.nr;
}

/* Returns true if no CPU and no time is left out. */
static inline bool selection_of_whole(const struct selection *selection)
{
	return (!selection->cpus.nr || selection->all_cpus) &&
	       (!selection->times.nr || selection->times.all);
}

bool selection_has_task(const struct selection *selection, const struct selection_task *task);
/* The same of the task that has a PID now; false for PID 0. */
bool selection_has_identity(const struct selection *selection,
			    const struct identities *identities, uint32_t pid);
/* The same of a task of a timeline, by its last name and cgroup. */
bool selection_has_timeline_task(const struct selection *selection,
				 const struct schedtape_task *task);

/* @cpu: STAPE_CPU_NONE: not known */
static inline bool selection_has_cpu(const struct selection *selection, uint32_t cpu)
{
	return !selection->cpus.nr ||
	       (cpu == STAPE_CPU_NONE ? selection->all_cpus :
					select_numbers_has(&selection->cpus, cpu));
}

/* @time: ns of the tape's clock */
static inline bool selection_has_time(const struct selection *selection, uint64_t time)
{
	return !selection->times.nr || time_ranges_has(&selection->times, time);
}

/* Returns true if any time from @first to @last is selected. */
static inline bool selection_overlaps(const struct selection *selection, uint64_t first,
				      uint64_t last)
{
	return !selection->times.nr || time_ranges_overlap(&selection->times, first, last);
}

/* Returns how many ns from @first to @last are selected. */
static inline uint64_t selection_part(const struct selection *selection, uint64_t first,
				      uint64_t last)
{
	return selection->times.nr ? time_ranges_part(&selection->times, first, last) :
				     last - first;
}

/* Returns true if no time from this one on is selected. */
static inline bool selection_is_over(const struct selection *selection, uint64_t time)
{
	return selection->times.nr && time >= selection->times.stop;
}

/*
 * Prints that nothing on the tape matches the options that were given, and what the tape has.
 * @what: "event", "task"; @also: another option that was given, " -e", or "".  Rewinds the tape.
 */
void selection_no_match(const struct selection *selection, struct schedtape_tape *tape,
			const char *path, const char *what, const char *also);
void selection_free(struct selection *selection);

#endif /* SCHEDTAPE_SELECTION_H */
