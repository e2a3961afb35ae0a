// SPDX-License-Identifier: GPL-2.0-only
/*
 * Finds the cgroup and the CPU of a struct cfs_rq.  A cgroup has one such queue on each CPU.  The
 * kernel throttles each of them for itself, when its CPU finds that the cgroup's quota is used up.
 *
 * The struct is private to the scheduler, so its members' offsets are not known when the module is
 * built.  The module needs two pointers in it: @tg to the cgroup's task group, and @rq to the CPU's
 * run queue.  It looks for them in the queues of the root cgroup, where it knows their values: @tg
 * is the task group of the idle task, and @rq is the struct rq that contains the queue.  If it does
 * not find both, throttling is not recorded.
 */
#include "record/cfs.h"

#include <linux/bsearch.h>
#include <linux/cgroup.h>
#include <linux/cpumask.h>
#include <linux/errno.h>
#include <linux/init_task.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/uaccess.h>

#ifdef STAPE_CFS_QUOTAS

/* Limits of the search, larger than both structs. */
#define STAPE_CFS_MOST		1024
#define STAPE_CFS_RUNQUEUE_MOST	65536

/**
 * struct stape_cfs_runqueue - the run queue of a CPU
 * @address: of the kernel's struct rq
 * @cpu: number of the CPU
 */
struct stape_cfs_runqueue {
	unsigned long address;
	u32 cpu;
};

/* Sorted by address; NULL: not found.  This and what follows is constant after module init. */
static struct stape_cfs_runqueue *stape_cfs_runqueues;
static struct cgroup_subsys *stape_cfs_subsys;
static size_t stape_cfs_tg_at;		/* bytes from the beginning of a struct cfs_rq */
static size_t stape_cfs_rq_at;

/* Reads a word of the kernel's memory.  Returns 0 if nothing is mapped there. */
static unsigned long stape_cfs_word(unsigned long address)
{
	unsigned long word;

	return get_kernel_nofault(word, (unsigned long *)address) ? 0 : word;
}

/* Returns the root's struct cfs_rq of a CPU.  They are per-CPU data; init_task has one of them. */
static unsigned long stape_cfs_root(int cpu)
{
	return (unsigned long)init_task.se.cfs_rq - per_cpu_offset(task_cpu(&init_task)) +
	       per_cpu_offset(cpu);
}

/* Returns true if the root's queue of each CPU has a pointer to the root's task group at @at. */
static bool stape_cfs_is_tg(size_t at)
{
	unsigned long root = (unsigned long)init_task.sched_task_group;
	int cpu;

	for_each_possible_cpu(cpu)
		if (stape_cfs_word(stape_cfs_root(cpu) + at) != root)
			return false;
	return true;
}

/*
 * Returns true if the root's queue of each CPU has a pointer at @at to a struct that contains the
 * queue: to an address before it, at the same distance on all CPUs.
 */
static bool stape_cfs_is_rq(size_t at)
{
	unsigned long first = 0, distance;
	int cpu;

	for_each_possible_cpu(cpu) {
		distance = stape_cfs_root(cpu) - stape_cfs_word(stape_cfs_root(cpu) + at);
		if (!distance || distance >= STAPE_CFS_RUNQUEUE_MOST ||
		    (first && distance != first))
			return false;
		first = distance;
	}
	return true;
}

/* Returns the first offset below @most that @is_it accepts, or @most. */
static size_t stape_cfs_look_for(bool (*is_it)(size_t at), size_t most)
{
	size_t at;

	for (at = 0; at < most && !is_it(at); at += sizeof(long))
		;
	return at;
}

static int stape_cfs_compare(const void *left, const void *right)
{
	const struct stape_cfs_runqueue *a = left, *b = right;

	return a->address < b->address ? -1 : a->address > b->address;
}

/* Notes the address of each CPU's run queue. */
static int stape_cfs_note_runqueues(void)
{
	u32 n = 0;
	int cpu;

	stape_cfs_runqueues = kvcalloc(num_possible_cpus(), sizeof(*stape_cfs_runqueues),
				       GFP_KERNEL);
	if (!stape_cfs_runqueues)
		return -ENOMEM;
	for_each_possible_cpu(cpu)
		stape_cfs_runqueues[n++] = (struct stape_cfs_runqueue){
			.address = stape_cfs_word(stape_cfs_root(cpu) + stape_cfs_rq_at),
			.cpu = cpu,
		};
	sort(stape_cfs_runqueues, n, sizeof(*stape_cfs_runqueues), stape_cfs_compare, NULL);
	return 0;
}

/**
 * stape_cfs_init() - find out how to read the kernel's struct cfs_rq
 *
 * Context: module init; may sleep.
 * Return: 0, also if its members are not found; -ENOMEM.
 */
int __init stape_cfs_init(void)
{
	/* The first member of a task group is the state of its cgroup. */
	struct cgroup_subsys_state *css = task_css_check(&init_task, cpu_cgrp_id, true);

	if ((void *)css != (void *)init_task.sched_task_group || !init_task.se.cfs_rq)
		return 0;
	stape_cfs_subsys = css->ss;
	stape_cfs_tg_at = stape_cfs_look_for(stape_cfs_is_tg, STAPE_CFS_MOST);
	stape_cfs_rq_at = stape_cfs_look_for(stape_cfs_is_rq, STAPE_CFS_MOST);
	if (stape_cfs_tg_at == STAPE_CFS_MOST || stape_cfs_rq_at == STAPE_CFS_MOST)
		return 0;
	return stape_cfs_note_runqueues();
}

/**
 * stape_cfs_is_known() - check whether stape_cfs_find() can find anything
 *
 * Context: any.
 */
bool stape_cfs_is_known(void)
{
	return stape_cfs_runqueues;
}

/**
 * stape_cfs_find() - find the cgroup and the CPU of a struct cfs_rq
 * @queue: the kernel's struct cfs_rq
 * @cgroup: returned: the cgroup's id in the hierarchy of version 2
 * @cpu: returned: number of the CPU
 *
 * Context: a probe of a function that throttles @queue, or ends that.  The kernel frees the cgroup
 * only after such functions have returned.
 * Return: false: it is no cgroup of version 2.
 */
bool stape_cfs_find(const void *queue, u64 *cgroup, u32 *cpu)
{
	struct stape_cfs_runqueue key = {
		.address = stape_cfs_word((unsigned long)queue + stape_cfs_rq_at),
	}, *found;
	struct cgroup_subsys_state *css;

	css = (void *)stape_cfs_word((unsigned long)queue + stape_cfs_tg_at);
	found = bsearch(&key, stape_cfs_runqueues, num_possible_cpus(), sizeof(key),
			stape_cfs_compare);
	/* The task group of a session of setsid() belongs to no subsystem, and has no quota. */
	if (!css || !found || stape_cfs_word((unsigned long)&css->ss) !=
			      (unsigned long)stape_cfs_subsys)
		return false;
	if (css->cgroup->root != &cgrp_dfl_root)
		return false;
	*cgroup = cgroup_id(css->cgroup);
	*cpu = found->cpu;
	return true;
}

/**
 * stape_cfs_exit() - undo stape_cfs_init(), whatever that returned
 *
 * Context: may sleep.
 */
void stape_cfs_exit(void)
{
	kvfree(stape_cfs_runqueues);
}

#else
int __init stape_cfs_init(void)
{
	return 0;
}

bool stape_cfs_is_known(void)
{
	return false;
}

bool stape_cfs_find(const void *queue, u64 *cgroup, u32 *cpu)
{
	return false;
}

void stape_cfs_exit(void)
{
}
#endif /* STAPE_CFS_QUOTAS */
