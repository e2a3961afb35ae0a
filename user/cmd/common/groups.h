/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Groups the tasks of a tape for a report that has a line for each group: a task, or all tasks of
 * one name, process, cgroup, CPU or policy.  --by chooses.
 */
#ifndef SCHEDTAPE_GROUPS_H
#define SCHEDTAPE_GROUPS_H

#include <argp.h>
#include <stddef.h>
#include <stdint.h>

#include <schedtape.h>

#include "common/selection.h"
#include "common/sheet.h"
#include "common/task-table.h"
#include "machine/cgroup-tree.h"

enum groups_by {
	GROUPS_TASK,
	GROUPS_COMM,
	GROUPS_PROCESS,
	GROUPS_CGROUP,
	GROUPS_CPU,
	GROUPS_POLICY,
	GROUPS_NR,
};

/* Returns its word for --by. */
const char *groups_by_name(enum groups_by by);
/* --by.  The input is an enum groups_by. */
extern const struct argp groups_argp;

/* Returns true if a thread has taken its leader's PID by an execve(). */
static inline bool groups_took_pid(const struct schedtape_task *task)
{
	return task->thread && task->process == task->index && task->pid == task->tgid;
}

/**
 * struct group - a line
 * @task: number of the first of its tasks; with GROUPS_CPU the CPU, or STAPE_CPU_NONE
 * @nr_tasks: number of its tasks that groups_count() has counted
 */
struct group {
	uint32_t task;
	uint32_t nr_tasks;
};

/**
 * struct groups - all lines
 * @by: what they are of
 * @selection: which tasks
 * @tasks: the tape's @nr_tasks tasks, by their numbers.  With GROUPS_PROCESS, their @process is the
 *	first task of the process if none leads it, and the thread if a thread has called execve()
 * @numbers: by number of a task: its group, or SCHEDTAPE_NONE if it is not selected; with
 *	GROUPS_CPU by CPU: its group
 * @nr_numbers: number of @numbers
 * @nowhere: with GROUPS_CPU: the group of what happened on an unknown CPU, or SCHEDTAPE_NONE
 * @groups: @nr groups, in order of appearance
 * @counted: by number of a task: groups_count() has counted it; @nr_counted of them
 * @cgroups: the paths of cgroups, with GROUPS_CGROUP; NULL: there are none
 * @own_cgroups: these, if they were read for the groups
 */
struct groups {
	enum groups_by by;
	const struct selection *selection;
	struct task_entry *tasks;
	size_t nr_tasks;
	uint32_t *numbers;
	size_t nr_numbers;
	uint32_t nowhere;
	struct group *groups;
	size_t nr;
	bool *counted;
	size_t nr_counted;
	const struct schedtape_cgroup_table *cgroups;
	struct schedtape_cgroup_table own_cgroups;
};

/*
 * Groups the selected tasks of a timeline, whose indices are their numbers; with GROUPS_CPU makes
 * no group.  Returns 0 or -ENOMEM.
 */
int groups_make(struct groups *groups, enum groups_by by, const struct selection *selection,
		struct schedtape_tape *tape, const struct schedtape_timeline *timeline);
/* The same of a table of tasks that is complete. */
int groups_make_of_table(struct groups *groups, enum groups_by by,
			 const struct selection *selection, struct schedtape_tape *tape,
			 const struct task_table *table);
/* The same of @n tasks, without a tape.  @cgroups: their paths, kept by the caller, or NULL */
int groups_make_of_tasks(struct groups *groups, enum groups_by by,
			 const struct selection *selection, const struct task_entry *tasks,
			 size_t n, const struct schedtape_cgroup_table *cgroups);
/* Returns true if a task is selected. */
bool groups_selects(const struct groups *groups, uint32_t task);
/*
 * With GROUPS_CPU: returns the number of a CPU's group; SCHEDTAPE_NONE: no memory.  @cpu:
 * STAPE_CPU_NONE: not known
 */
uint32_t groups_of_cpu(struct groups *groups, uint32_t cpu);
/*
 * Returns the number of the group of what a task did on a CPU, which only GROUPS_CPU looks at;
 * SCHEDTAPE_NONE: the task is not selected, or there is no memory: then @rc is set to -ENOMEM.
 */
uint32_t groups_of(struct groups *groups, uint32_t task, uint32_t cpu, int *rc);
/*
 * Counts a task of a group: one that the report has something of.  To be called once for each of
 * its CPUs: with GROUPS_CPU each of these counts, else the task counts once.
 */
void groups_count(struct groups *groups, size_t number, uint32_t task);
/*
 * Writes what a line is of: "gcc:31949" for one task, "gcc:(25)" for several of the same name, as
 * perf does; "cc1:31949" for a process; a path, a policy, "CPU 3", "CPU ?".  The text is safe to
 * print.
 */
#define GROUPS_LABEL	TABLE_CELL
const char *groups_label(const struct groups *groups, size_t number, char buffer[GROUPS_LABEL]);

/**
 * struct groups_columns - which columns of a sheet, besides the first one, say what a line is of
 * @tasks: number of its tasks
 * @pid, @tgid: of its only task; 0: the sheet does not have the column
 */
struct groups_columns {
	unsigned int tasks;
	unsigned int pid;
	unsigned int tgid;
};

/* Returns the number of a line's only task; SCHEDTAPE_NONE: it has several, or is that of a CPU. */
uint32_t groups_only_task(const struct groups *groups, const struct group *group);
/*
 * Sets these columns of a group's line, and the first one.  @group: NULL: those of the total.
 * Returns 0 or -ENOMEM.
 */
int groups_fill(union sheet_value *row, const struct groups_columns *columns,
		const struct groups *groups, const struct group *group);
void groups_free(struct groups *groups);

#endif /* SCHEDTAPE_GROUPS_H */
