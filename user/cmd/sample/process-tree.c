// SPDX-License-Identifier: GPL-2.0-only
#include "sample/process-tree.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/first-line.h"
#include "base/list.h"
#include "sample/internal.h"

static int add(pid_t pid, void *arg)
{
	struct process_tree *processes = arg;
	pid_t *pids = schedtape_list_grow(processes->pids, processes->n, &processes->room,
					  sizeof(*pids));

	if (!pids)
		return -ENOMEM;
	processes->pids = pids;
	pids[processes->n++] = pid;
	return 0;
}

/* Adds its memory.  Returns the PID of its parent; 0: it is gone. */
static pid_t look_at(struct process_tree *processes, pid_t pid)
{
	char path[64], line[256];
	int parent = 0;
	uint64_t kb;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "PPid: %d", &parent) == 1)
			continue;
		if (sscanf(line, "RssAnon: %" SCNu64, &kb) == 1 ||
		    sscanf(line, "RssShmem: %" SCNu64, &kb) == 1 ||
		    sscanf(line, "VmSwap: %" SCNu64, &kb) == 1)
			processes->memory += kb << 10;
	}
	if (file)
		fclose(file);
	return parent;
}

static void look_at_threads(struct process_tree *processes, pid_t pid)
{
	char path[64];
	struct dirent *entry;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	dir = opendir(path);
	while (dir && (entry = readdir(dir)))
		if ((uint64_t)atol(entry->d_name) > processes->last_pid)
			processes->last_pid = atol(entry->d_name);
	if (dir)
		closedir(dir);
}

bool process_tree_has(const struct process_tree *processes, pid_t pid)
{
	size_t i;

	for (i = 0; i < processes->n; i++)
		if (processes->pids[i] == pid)
			return true;
	return false;
}

int process_tree_find(struct process_tree *processes, const struct workload *workload,
		      pid_t root, struct schedtape_error *err)
{
	char path[32], name[32];
	int ret;
	size_t i;

	memset(processes, 0, sizeof(*processes));
	ret = workload_each(workload, "cgroup.procs", add, processes);
	if (ret)
		return schedtape_fail(err, ret, "the processes in %s cannot be read: %s",
				      workload->path, strerror(-ret));
	if (!process_tree_has(processes, root))
		return schedtape_fail(err, -ECHILD, "process %d has ended before its descendants: "
				      "criu writes a process with its descendants", root);
	/* If each has its parent among them, all are descendants of the one that has not. */
	for (i = 0; i < processes->n; i++) {
		pid_t pid = processes->pids[i], parent = look_at(processes, pid);

		look_at_threads(processes, pid);
		if (pid == root || process_tree_has(processes, parent))
			continue;
		snprintf(path, sizeof(path), "/proc/%d/comm", pid);
		if (!first_line_read(path, name, sizeof(name)))
			strcpy(name, "?");
		return schedtape_fail(err, -ECHILD, "process %d (%s) is no descendant of process "
				      "%d: criu writes a process with its descendants", pid, name,
				      root);
	}
	return 0;
}

void process_tree_free(struct process_tree *processes)
{
	free(processes->pids);
	memset(processes, 0, sizeof(*processes));
}
