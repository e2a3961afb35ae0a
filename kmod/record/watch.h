/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tasks that a higher room watches, cf. the kernel's struct preempt_notifier: a replay watches its
 * players.  And stape_extras_key, which is on while the switch probe has more to do than to write
 * the switch.
 */
#ifndef _STAPE_WATCH_H
#define _STAPE_WATCH_H

#include <linux/jump_label_ratelimit.h>
#include <linux/types.h>

struct stape_watch;
struct task_struct;

/**
 * struct stape_watch_ops - the watcher's callbacks
 * @on_sleep: the task is being switched out and sleeps.  Called from the switch probe, with
 *	interrupts off and under the runqueue lock
 * @on_exit: the task ends, or executes another program.  Called from the exit and exec probes
 *
 * Both are called by RCU readers.
 */
struct stape_watch_ops {
	void (*on_sleep)(struct stape_watch *watch);
	void (*on_exit)(struct stape_watch *watch);
};

/**
 * struct stape_watch - one watched task
 * @hash: entry in the table of all watched tasks, by @task
 * @task: the task, on which the watcher holds a reference
 * @ops: the watcher's callbacks
 * @clock: CLOCK_MONOTONIC minus the task's CPU time, written when it is switched in
 * @runtime: CPU time since stape_watch_add(), up to its last switch-out, ns
 * @since: when it was switched in last
 * @niced: its present nice value is not its own; changed by the task itself
 * @nice: its own nice value, if @niced
 *
 * @runtime and @since belong to the switch probe of the CPU that runs @task.
 */
struct stape_watch {
	struct hlist_node hash;
	struct task_struct *task;
	const struct stape_watch_ops *ops;
	u64 *clock;
	u64 runtime;
	u64 since;
	bool niced;
	int nice;
};

/*
 * The key of the switch probe's slow paths.  It is on if a replay watches tasks, or if a session
 * wants system calls or has triggers.  With one key for all of them, the probe has a single nop
 * when it is off.
 */
extern struct static_key_false_deferred stape_extras_key;
extern struct static_key_false_deferred stape_watch_key;

/* Returns true if the switch probe may have more to do than to write the switch. */
static __always_inline bool stape_extras_enabled(void)
{
	return static_branch_unlikely(&stape_extras_key.key);
}

/* Returns true if a task may be watched.  Then stape_extras_enabled(), too. */
static __always_inline bool stape_watch_enabled(void)
{
	return static_branch_unlikely(&stape_watch_key.key);
}

void stape_extras_get(void);
void stape_extras_put(void);
void stape_extras_exit(void);
void stape_watch_enable(void);
void stape_watch_disable(void);
void stape_watch_add(struct stape_watch *watch);
void stape_watch_remove(struct stape_watch *watch);
bool stape_watch_is_watched(const struct task_struct *task);
bool stape_watch_is_niced(const struct task_struct *task, int *nice);
u64 stape_watch_runtime(const struct stape_watch *watch);

/* Called by probes. */
void stape_watch_switch(struct task_struct *prev, struct task_struct *next, bool sleeps);
void stape_watch_gone(const struct task_struct *task);

#endif /* _STAPE_WATCH_H */
