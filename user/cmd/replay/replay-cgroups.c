// SPDX-License-Identifier: GPL-2.0-only
#include "replay/internal.h"

#include <errno.h>
#include <fts.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <schedtape/client.h>

#include "common/output.h"
#include "common/select.h"
#include "common/signals.h"
#include "machine/cgroup-files.h"
#include "machine/cgroup-tree.h"
#include "module/cgroup.h"
#include "tape/json.h"

#define REMOVE_TRIES	250
#define REMOVE_PAUSE_NS	20000000
#define MAX_CPUS	8192

/**
 * enum cgroups_stage - stage of the top folder
 * @STAGE_NONE: the folder does not exist
 * @STAGE_EMPTY: mkdir() is about to run or has failed: a folder that is not empty is not ours
 * @STAGE_MADE: the folder is ours
 */
enum cgroups_stage {
	STAGE_NONE,
	STAGE_EMPTY,
	STAGE_MADE,
};

enum controller {
	CONTROLLER_CPU,
	CONTROLLER_CPUSET,
	NR_CONTROLLERS,
};

static const char *const controllers[NR_CONTROLLERS] = {
	[CONTROLLER_CPU] = "cpu",
	[CONTROLLER_CPUSET] = "cpuset",
};

/* Release: a process that reads @stage with acquire sees all that was stored before. */
static void set_stage(struct cgroups_made *made, enum cgroups_stage stage)
{
	__atomic_store_n(&made->stage, stage, __ATOMIC_RELEASE);
}

static int put(const char *folder, const char *name, const char *text)
{
	int ret = schedtape_cgroup_write(folder, name, text);

	if (ret)
		out_error(NULL, "--cgroups: %s of %s cannot be set to '%s': %s", name, folder,
			  text, strerror(-ret));
	return ret;
}

/* -- controllers ----------------------------------------------------------- */

/* Returns true if a file of a cgroup contains the word. */
static bool lists(const char *folder, const char *name, const char *word)
{
	char path[PATH_MAX + 32], line[512] = "", *at, *next = line;
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = fopen(path, "re");
	if (file && !fgets(line, sizeof(line), file))
		*line = '\0';
	if (file)
		fclose(file);
	while ((at = strsep(&next, "\n ")))
		if (!strcmp(at, word))
			return true;
	return false;
}

static int enable(struct cgroups_made *made, const char *folder, enum controller controller)
{
	uint32_t bit = strcmp(folder, made->parent) ? 0 : 1 << controller;
	const char *name = controllers[controller];
	char text[16];
	int ret;

	if (lists(folder, "cgroup.subtree_control", name))
		return 0;
	__atomic_fetch_or(&made->enabled, bit, __ATOMIC_RELEASE);
	snprintf(text, sizeof(text), "+%s", name);
	ret = schedtape_cgroup_write(folder, "cgroup.subtree_control", text);
	if (!ret)
		return 0;
	__atomic_fetch_and(&made->enabled, ~bit, __ATOMIC_RELEASE);
	out_error(NULL, "--cgroups: %s cannot have the controller %s below it: %s%s", folder,
		  name, strerror(-ret), ret == -EBUSY ? "; processes are in it" : "");
	return ret;
}

/* May be called twice: the controller or the remover may have done it before. */
static void disable_all(struct cgroups_made *made)
{
	uint32_t enabled = __atomic_load_n(&made->enabled, __ATOMIC_ACQUIRE);
	char text[16];
	int i;

	for (i = 0; i < NR_CONTROLLERS; i++) {
		snprintf(text, sizeof(text), "-%s", controllers[i]);
		if (enabled & 1 << i)
			schedtape_cgroup_write(made->parent, "cgroup.subtree_control", text);
	}
	__atomic_store_n(&made->enabled, 0, __ATOMIC_RELEASE);
}

/**
 * struct step - one folder on the way down a recorded path
 * @len: bytes of the path down to this folder
 * @state: the tape's record of this cgroup, or NULL
 * @cpu, @cpuset: controllers that the folders below need
 */
struct step {
	size_t len;
	const struct schedtape_cgroup_state *state;
	bool cpu;
	bool cpuset;
};

/* Returns the number of steps, without steps[0], which is the top. */
static size_t find_steps(const struct schedtape_cgroup_table *table, const char *path,
			 struct step steps[SCHEDTAPE_CGROUP_PARTS + 1])
{
	char down[PATH_MAX];
	size_t n = 0, i;

	steps[0] = (struct step){ 0 };
	while (path[steps[n].len] && n < SCHEDTAPE_CGROUP_PARTS) {
		size_t len = steps[n].len + 1 + strcspn(path + steps[n].len + 1, "/");

		snprintf(down, sizeof(down), "%.*s", (int)len, path);
		steps[++n] = (struct step){ .len = len,
					    .state = schedtape_cgroup_by_path(table, down) };
	}
	for (i = n; i > 0; i--) {
		const struct schedtape_cgroup_state *state = steps[i].state;

		steps[i - 1].cpu = steps[i].cpu ||
				   (state && (state->weighs || state->period));
		steps[i - 1].cpuset = steps[i].cpuset || (state && state->cpus);
	}
	return n;
}

static int enable_for(struct cgroups_made *made, const char *folder, const struct step *step)
{
	int ret = step->cpu ? enable(made, folder, CONTROLLER_CPU) : 0;

	return ret || !step->cpuset ? ret : enable(made, folder, CONTROLLER_CPUSET);
}

/* -- making ---------------------------------------------------------------- */

/* Sets cpuset.cpus to the CPUs of this machine that @map has for the recorded @list. */
static int set_cpus(const char *folder, const char *list, const struct cpu_map *map)
{
	unsigned char mask[MAX_CPUS / 8] = { 0 };
	cpu_set_t here;
	char *text;
	int ret;

	if (cpu_list_mask(mask, sizeof(mask), list)) {
		out_error(NULL, "--cgroups: '%s' on the tape is no list of CPUs", list);
		return -EINVAL;
	}
	cpu_map_apply(map, mask, sizeof(mask), &here);
	text = cpu_list_of_set(&here);
	ret = text ? put(folder, "cpuset.cpus", text) : -ENOMEM;
	free(text);
	return ret;
}

/* Sets a utilization clamp.  A kernel without them does not have the file. */
static int put_clamp(struct cgroups_made *made, const char *folder, const char *name,
		     const char *text)
{
	char path[2 * PATH_MAX + 32];

	if (!text)
		return 0;
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	if (!access(path, F_OK))
		return put(folder, name, text);
	made->unclamped = true;
	return 0;
}

static int set_state(struct cgroups_made *made, const char *folder,
		     const struct schedtape_cgroup_state *state, const struct cpu_map *cpus)
{
	char weight[16], max[SCHEDTAPE_QUOTA_LEN];
	int ret = 0;

	snprintf(weight, sizeof(weight), "%u", state->weight);
	if (state->idle)
		ret = put(folder, "cpu.idle", "1");
	else if (state->weighs)
		ret = put(folder, "cpu.weight", weight);
	snprintf(max, sizeof(max), "%" PRIu64 " %" PRIu64, state->quota, state->period);
	if (!ret && state->period)
		ret = put(folder, "cpu.max", max);
	if (!ret && state->cpus)
		ret = set_cpus(folder, state->cpus, cpus);
	if (!ret)
		ret = put_clamp(made, folder, "cpu.uclamp.max", state->clamp_max);
	return ret ? ret : put_clamp(made, folder, "cpu.uclamp.min", state->clamp_min);
}

static int make_folder(const char *path)
{
	if (!mkdir(path, 0755))
		return 0;
	if (errno != EEXIST)
		out_error(NULL, "--cgroups: %s cannot be made: %s", path, strerror(errno));
	return -errno;
}

/* Makes the missing folders from the top down to a recorded path. */
static int make_path(struct cgroups_made *made, const struct schedtape_cgroup_table *table,
		     const char *path, const struct cpu_map *cpus)
{
	struct step steps[SCHEDTAPE_CGROUP_PARTS + 1];
	size_t n = find_steps(table, path, steps), i;
	char folder[2 * PATH_MAX];
	int ret;

	ret = enable_for(made, made->top, &steps[0]);
	for (i = 1; i <= n && !ret; i++) {
		snprintf(folder, sizeof(folder), "%s%.*s", made->top, (int)steps[i].len, path);
		ret = make_folder(folder);
		if (!ret && steps[i].state)
			ret = set_state(made, folder, steps[i].state, cpus);
		else if (ret == -EEXIST)
			ret = 0;
		if (!ret)
			ret = enable_for(made, folder, &steps[i]);
	}
	return ret;
}

/* Returns the controller's own cgroup.procs, for tasks of the recorded root: it has no limits. */
static char *own_procs(const char *mount)
{
	char path[PATH_MAX], *procs;

	if (schedtape_cgroup_of(0, path) ||
	    asprintf(&procs, "%s%s/cgroup.procs", mount, path) < 0)
		return NULL;
	return procs;
}

static int make_one(struct cgroups_made *made, const struct schedtape_cgroup_table *table,
		    uint64_t id, const char *mount, const struct cpu_map *cpus, char **procs)
{
	const struct schedtape_cgroup_state *state = schedtape_cgroup_by_id(table, id);
	int ret;

	/* There may be many cgroups, and no other code looks for signals meanwhile. */
	if (signals_pending())
		return -EINTR;
	if (!state) {
		out_warning(NULL, "--cgroups: the tape has no valid path of the cgroup id:%llu: "
			    "its tasks stay where they are", (unsigned long long)id);
		return 0;
	}
	if (!strcmp(state->path, "/")) {
		*procs = own_procs(mount);
		return 0;
	}
	ret = make_path(made, table, state->path, cpus);
	if (!ret && asprintf(procs, "%s%s/cgroup.procs", made->top, state->path) < 0)
		ret = -ENOMEM;
	return ret;
}

/* Enables in the parent each controller that a cgroup of the program needs. */
static int enable_top(struct cgroups_made *made, const struct schedtape_cgroup_table *table,
		      const struct schedtape_program *program)
{
	struct step steps[SCHEDTAPE_CGROUP_PARTS + 1], top = { 0 };
	const struct schedtape_cgroup_state *state;
	uint32_t i;

	for (i = 0; i < program->nr_cgroups; i++) {
		state = schedtape_cgroup_by_id(table, program->cgroups[i]);
		if (!state || !strcmp(state->path, "/"))
			continue;
		find_steps(table, state->path, steps);
		top.cpu |= steps[0].cpu;
		top.cpuset |= steps[0].cpuset;
	}
	return enable_for(made, made->parent, &top);
}

/* Makes the top folder. */
static int make_top(struct cgroups_made *made)
{
	int ret;

	snprintf(made->top, sizeof(made->top), "%.*s/schedtape-%d", PATH_MAX - 32, made->parent,
		 getpid());
	set_stage(made, STAGE_EMPTY);
	ret = make_folder(made->top);
	set_stage(made, ret ? STAGE_NONE : STAGE_MADE);
	if (ret == -EEXIST)
		out_error(NULL, "--cgroups: %s is there already, left behind by another replay: "
			  "remove it, or try again, with another PID", made->top);
	if (ret)
		return ret;
	/* Below a cgroup with processes, a cgroup that is not threaded has an invalid type. */
	if (!lists(made->top, "cgroup.type", "invalid"))
		return 0;
	out_error(NULL, "--cgroups: processes are in %s: none can be below it", made->parent);
	return -EBUSY;
}

static bool is_clamped(const struct schedtape_cgroup_table *table, uint64_t id)
{
	const struct schedtape_cgroup_state *state = schedtape_cgroup_by_id(table, id);
	struct step steps[SCHEDTAPE_CGROUP_PARTS + 1];
	size_t n = state ? find_steps(table, state->path, steps) : 0, i;

	for (i = 1; i <= n; i++)
		if (steps[i].state && (steps[i].state->clamp_min || steps[i].state->clamp_max))
			return true;
	return false;
}

/* Warns of utilization clamps of cgroups that this kernel has not. */
static void say_unclamped(const struct schedtape_cgroup_table *table,
			  const struct schedtape_program *program)
{
	uint32_t i, cgroup, nr = 0;

	for (i = 0; i < program->nr_tasks; i++) {
		cgroup = program->tasks[i].cgroup;
		nr += cgroup != SCHEDTAPE_NONE && is_clamped(table, program->cgroups[cgroup]);
	}
	out_warning(NULL, "--cgroups: this kernel has no utilization clamps of cgroups: %u task%s "
		    "that began in cgroups with them will play without", nr, nr == 1 ? "" : "s");
}

static int make_all(struct cgroups *cgroups, struct schedtape_tape *tape,
		    const struct schedtape_program *program, const char *mount,
		    const struct cpu_map *cpus)
{
	struct schedtape_cgroup_table table;
	uint32_t i;
	int ret;

	cgroups->procs = calloc(program->nr_cgroups + 1, sizeof(*cgroups->procs));
	if (!cgroups->procs || schedtape_cgroup_table_read(&table, tape)) {
		out_error(NULL, "--cgroups: not enough memory");
		return -ENOMEM;
	}
	cgroups->nr = program->nr_cgroups;
	if (!cgroups->nr)
		out_warning(NULL, "--cgroups: the tape does not say in which cgroups its tasks were");
	ret = enable_top(cgroups->made, &table, program);
	if (!ret)
		ret = make_top(cgroups->made);
	for (i = 0; i < cgroups->nr && !ret; i++)
		ret = make_one(cgroups->made, &table, program->cgroups[i], mount, cpus,
			       &cgroups->procs[i]);
	if (!ret && cgroups->made->unclamped)
		say_unclamped(&table, program);
	schedtape_cgroup_table_free(&table);
	return ret;
}

int cgroups_open(struct cgroups *cgroups)
{
	cgroups->made = mmap(NULL, sizeof(*cgroups->made), PROT_READ | PROT_WRITE,
			     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (cgroups->made != MAP_FAILED)
		return 0;
	cgroups->made = NULL;
	return -errno;
}

int cgroups_make(struct cgroups *cgroups, const char *parent, struct schedtape_tape *tape,
		 const struct schedtape_program *program, const struct cpu_map *cpus)
{
	struct schedtape_cgroup found = { 0 };
	struct schedtape_error err;
	char mount[PATH_MAX / 2];
	int ret;

	ret = schedtape_cgroup_mount(mount, sizeof(mount), &err);
	if (!ret && *parent)
		ret = schedtape_cgroup_find(parent, &found, &err);
	if (ret) {
		out_error(NULL, "--cgroups: %s", err.text);
		return ret;
	}
	snprintf(cgroups->made->parent, sizeof(cgroups->made->parent), "%s%s", mount,
		 found.path && strcmp(found.path, "/") ? found.path : "");
	free(found.path);
	return make_all(cgroups, tape, program, mount, cpus);
}

/* -- removing -------------------------------------------------------------- */

/* Removes the folders from below.  Returns false if one of them still has processes. */
static bool remove_all(char *top)
{
	char *const roots[] = { top, NULL };
	FTS *tree = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	bool done = true;
	FTSENT *at;

	while (tree && (at = fts_read(tree)))
		if (at->fts_info == FTS_DP && rmdir(at->fts_path) && errno != ENOENT)
			done = false;
	if (tree)
		fts_close(tree);
	return done;
}

static void remove_top(struct cgroups_made *made)
{
	const struct timespec pause = { .tv_nsec = REMOVE_PAUSE_NS };
	int tries;

	for (tries = 0; tries < REMOVE_TRIES; tries++) {
		/* Repeat this, because a player may have moved into the cgroup meanwhile. */
		schedtape_cgroup_write(made->top, "cgroup.kill", "1");
		if (remove_all(made->top))
			return;
		nanosleep(&pause, NULL);
	}
	out_warning(NULL, "--cgroups: %s cannot be removed", made->top);
}

static void remove_made(struct cgroups_made *made)
{
	switch (__atomic_load_n(&made->stage, __ATOMIC_ACQUIRE)) {
	case STAGE_EMPTY:
		rmdir(made->top);
		break;
	case STAGE_MADE:
		remove_top(made);
		break;
	}
	set_stage(made, STAGE_NONE);
	disable_all(made);
}

void cgroups_remove(struct cgroups *cgroups)
{
	uint32_t i;

	if (!cgroups->made)
		return;
	remove_made(cgroups->made);
	munmap(cgroups->made, sizeof(*cgroups->made));
	for (i = 0; i < cgroups->nr; i++)
		free(cgroups->procs[i]);
	free(cgroups->procs);
	*cgroups = (struct cgroups){ 0 };
}
