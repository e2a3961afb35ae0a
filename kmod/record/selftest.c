// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tries, when the module is loaded, whether tracepoints are called with the tasks that the module
 * expects.  The compiler compares the types of arguments, but not their order, and knows nothing
 * of a vendor's change in the kernel that runs.  A kernel thread is forked, woken, switched to and
 * exits; probes that are registered only meanwhile look for it.
 *
 * The probes set a bit, so they run in any context and need neither RCU nor a lock.  They are gone
 * when module init ends, and so is their memory.
 */
#include <trace/events/sched.h>

#include "record/selftest.h"

#include <linux/bitmap.h>
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/hash.h>
#include <linux/kthread.h>
#include <linux/moduleparam.h>
#include <linux/sched/task.h>
#include <linux/tracepoint.h>
#include <linux/workqueue.h>

#include "base/work.h"
#include "record/attach.h"
#include "record/clock.h"

#define STAPE_SELFTEST_SHIFT	14
#define STAPE_SELFTEST_BITS	BIT(STAPE_SELFTEST_SHIFT)

static bool stape_selftest = true;
module_param_named(selftest, stape_selftest, bool, 0444);
MODULE_PARM_DESC(selftest, "Try the tracepoints when the module is loaded (default Y)");

/* -- probes ------------------------------------------------------------------ */

/*
 * Notes a call.  The thread's address is not known yet when it is forked, so each tracepoint has a
 * bitmap: each task sets the bit of its address.  Two tasks may share a bit.  So a call with wrong
 * arguments may pass, but one with right arguments never fails.  A call whose arguments do not fit
 * sets the bit of NULL.
 */
static void __init stape_selftest_see(unsigned long *seen, const struct task_struct *task,
				      bool fits)
{
	u32 bit = hash_ptr(fits ? task : NULL, STAPE_SELFTEST_SHIFT);

	/* Nearly always it is set already: leave the cache line shared. */
	if (!test_bit(bit, seen))
		set_bit(bit, seen);
}

static void __init stape_selftest_on_fork(void *data, struct task_struct *parent,
					  struct task_struct *child)
{
	stape_selftest_see(data, child, parent == current);
}

/* Of the thread this is true: another task forks it, and others wake it. */
static void __init stape_selftest_on_wakeup(void *data, struct task_struct *task)
{
	stape_selftest_see(data, task, task != current);
}

static void __init stape_selftest_on_switch(void *data, bool preempt, struct task_struct *prev,
					    struct task_struct *next, unsigned int prev_state)
{
	stape_selftest_see(data, next, prev == current);
}

static void __init stape_selftest_on_exit(STAPE_EXIT_PROTO)
{
	stape_selftest_see(data, task, task == current);
}

static void __init __maybe_unused stape_selftest_check_prototypes(void)
{
	check_trace_callback_type_sched_process_fork(stape_selftest_on_fork);
	check_trace_callback_type_sched_wakeup_new(stape_selftest_on_wakeup);
	check_trace_callback_type_sched_waking(stape_selftest_on_wakeup);
	check_trace_callback_type_sched_wakeup(stape_selftest_on_wakeup);
	check_trace_callback_type_sched_switch(stape_selftest_on_switch);
	check_trace_callback_type_sched_process_exit(stape_selftest_on_exit);
}

static struct stape_selftest_point {
	const char *name;
	void *probe;
	DECLARE_BITMAP(seen, STAPE_SELFTEST_BITS);
} stape_selftest_points[] __initdata = {
	{ "sched_process_fork", stape_selftest_on_fork },
	{ "sched_wakeup_new", stape_selftest_on_wakeup },
	{ "sched_waking", stape_selftest_on_wakeup },
	{ "sched_wakeup", stape_selftest_on_wakeup },
	{ "sched_switch", stape_selftest_on_switch },
	{ "sched_process_exit", stape_selftest_on_exit },
};

static void __init stape_selftest_unregister(int n)
{
	struct stape_selftest_point *point;

	while (n--) {
		point = &stape_selftest_points[n];
		tracepoint_probe_unregister(stape_attach_tracepoint(point->name), point->probe,
					    point->seen);
	}
	/* After this no probe runs, and all bits that probes have set are visible. */
	tracepoint_synchronize_unregister();
}

static int __init stape_selftest_register(void)
{
	struct stape_selftest_point *point;
	int i, ret;

	for (i = 0; i < ARRAY_SIZE(stape_selftest_points); i++) {
		point = &stape_selftest_points[i];
		ret = tracepoint_probe_register(stape_attach_tracepoint(point->name), point->probe,
						point->seen);
		if (ret) {
			stape_selftest_unregister(i);
			return ret;
		}
	}
	return 0;
}

/* -- the thread -------------------------------------------------------------- */

/* The thread, or an error; once there was one, its address only. */
static struct task_struct *stape_selftest_task;
static DECLARE_COMPLETION(stape_selftest_done);

static int stape_selftest_thread(void *unused)
{
	return 0;
}

/* A work, because this waits for the thread to be scheduled, however long that takes. */
static void stape_selftest_run(struct work_struct *work)
{
	struct task_struct *task;

	task = kthread_create(stape_selftest_thread, NULL, "stape_selftest");
	stape_selftest_task = task;
	if (!IS_ERR(task)) {
		get_task_struct(task);
		wake_up_process(task);
		/* The kernel sets this after the tracepoint of the exit. */
		while (!READ_ONCE(task->exit_state))
			usleep_range(500, 1000);
		put_task_struct(task);
	}
	complete(&stape_selftest_done);
}

static DECLARE_WORK(stape_selftest_work, stape_selftest_run);

/* -- results ----------------------------------------------------------------- */

static int __init stape_selftest_judge(void)
{
	u32 bit = hash_ptr(stape_selftest_task, STAPE_SELFTEST_SHIFT);
	struct stape_selftest_point *point;
	int i, ret = 0;

	for (i = 0; i < ARRAY_SIZE(stape_selftest_points); i++) {
		point = &stape_selftest_points[i];
		if (test_bit(bit, point->seen))
			continue;
		pr_err("self-test: the tracepoint %s was %s, so recordings would be wrong: selftest=0 loads the module all the same\n",
		       point->name, bitmap_empty(point->seen, STAPE_SELFTEST_BITS) ?
		       "not called" : "called with other arguments than this version knows");
		ret = -EOPNOTSUPP;
	}
	return ret;
}

/**
 * stape_selftest_init() - try the tracepoints and the clocks
 *
 * A thread that is not scheduled in time is waited for by stape_work_exit().
 *
 * Context: module init, after stape_attach_init() and stape_work_init(); may sleep.
 * Return: 0, also if the thread was not scheduled in time; -EOPNOTSUPP if a tracepoint or a clock
 * does not do what the module needs; other -errno.
 */
int __init stape_selftest_init(void)
{
	u64 before[] = { stape_clock_now(false), stape_clock_now(true) };
	bool done;
	int i, ret;

	if (!stape_selftest)
		return 0;
	ret = stape_selftest_register();
	if (ret)
		return ret;
	queue_work(stape_work, &stape_selftest_work);
	done = wait_for_completion_timeout(&stape_selftest_done, 5 * HZ);
	stape_selftest_unregister(ARRAY_SIZE(stape_selftest_points));
	if (!done) {
		pr_warn("self-test: its thread has not run within 5 s, so the tracepoints were not tried\n");
		return 0;
	}
	if (IS_ERR(stape_selftest_task))
		return PTR_ERR(stape_selftest_task);
	for (i = 0; i <= stape_counter_fit(); i++) {
		if ((s64)(stape_clock_now(i) - before[i]) <= 0) {
			pr_err("self-test: the clock %s does not advance: selftest=0 loads the module all the same\n",
			       i ? "tsc" : "mono");
			return -EOPNOTSUPP;
		}
	}
	return stape_selftest_judge();
}
