/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The processes of a cgroup, and of those below it, while they are frozen.
 */
#ifndef SCHEDTAPE_SAMPLE_PROCESS_TREE_H
#define SCHEDTAPE_SAMPLE_PROCESS_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <schedtape.h>

struct workload;

/**
 * struct process_tree - all of a workload
 * @pids: the @n PIDs
 * @last_pid: the highest PID or TID
 * @memory: bytes that criu has to write of them: what is in memory and in no file
 */
struct process_tree {
	pid_t *pids;
	size_t n;
	size_t room;
	uint64_t last_pid;
	uint64_t memory;
};

/*
 * Finds them.  Returns 0; -errno after setting @err: -ECHILD: one of them is no descendant of
 * @root, and criu writes a process with its descendants.
 */
int process_tree_find(struct process_tree *processes, const struct workload *workload,
		      pid_t root, struct schedtape_error *err);
bool process_tree_has(const struct process_tree *processes, pid_t pid);
void process_tree_free(struct process_tree *processes);

#endif /* SCHEDTAPE_SAMPLE_PROCESS_TREE_H */
