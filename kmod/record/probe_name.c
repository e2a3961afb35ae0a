// SPDX-License-Identifier: GPL-2.0-only
/*
 * Renames.  The tracepoint task_rename comes before the new name is stored, and since Linux
 * 6.14 no lock is held from there to the store.  In between, a check of the task by task->comm
 * uses the old name.  So the task is checked once more when the function that stores the name
 * returns.
 *
 * The rename probe checks the task by the new name, before that is stored.  Until the store, other
 * CPUs may check it by the old name.  stape_name_stored() runs after the store.  Its check and all
 * later ones read the new name, because each holds the lock of the task's PID.
 *
 * An execve() may not go through the function's entry, because the compiler may have put
 * the function into its caller.  The exec probe checks the task after it.
 */
#include "record/probe_name.h"

#include <linux/sched.h>
#include <linux/string.h>

#include "record/encode.h"
#include "record/follow.h"

/* A name as the payload of an event. */
#define STAPE_NAME_WORDS	(STAPE_COMM_LEN / sizeof(u64))

void stape_probe_rename(void *data, struct task_struct *task, const char *comm)
{
	u64 name[STAPE_NAME_WORDS];
	struct stape_active *active;

	strscpy_pad((char *)name, comm, sizeof(name));
	rcu_read_lock();
	for_each_active(active) {
		bool had = stape_filter_has(&active->filter, task);

		/* A task that enters is described by its new name, one that leaves by its old. */
		if (!stape_follow_update(active, task, (char *)name) && had)
			stape_encode_payload(active, STAPE_EV_RENAME, task, name, STAPE_NAME_WORDS);
	}
	rcu_read_unlock();
}

#ifdef STAPE_RETPROBES

/**
 * struct stape_name_call - a call of __set_task_comm()
 * @task: the task, which the function's caller keeps alive
 * @entries: stape_encode_count_entries() from before task_rename
 */
struct stape_name_call {
	struct task_struct *task;
	unsigned int entries;
};

static int stape_name_enter(struct kretprobe_instance *instance, struct pt_regs *regs)
{
	struct stape_name_call *call = (void *)instance->data;

	call->task = (void *)stape_first_argument(regs);
	call->entries = stape_encode_count_entries();
	return 0;
}

/*
 * Checks a task by the name that has been stored.  If a task has entered since @entries was
 * read, it may have been this one, described by its old name: then the new name is written
 * again.  Preemption is off, which makes this an RCU reader.
 */
static void stape_name_stored(struct task_struct *task, unsigned int entries)
{
	u64 name[STAPE_NAME_WORDS];
	struct stape_active *active;
	bool entered;

	/*
	 * The name is stored before rules and the count of entries are read.  Pairs with the
	 * barriers in stape_rules_walk() and stape_encode_enter(): either they see the
	 * new name, or this sees their rule or their count.
	 */
	smp_mb();
	entered = stape_encode_count_entries() != entries;
	/* If another thread stores yet another name now, it runs this function after that. */
	data_race(strscpy_pad((char *)name, task->comm, sizeof(name)));
	for_each_active(active) {
		if (stape_filter_rules(&active->filter)->nr_patterns &&
		    stape_follow_update(active, task, task->comm))
			continue;
		if (entered && stape_filter_has(&active->filter, task))
			stape_encode_payload(active, STAPE_EV_RENAME, task, name, STAPE_NAME_WORDS);
	}
}

static int stape_name_leave(struct kretprobe_instance *instance, struct pt_regs *regs)
{
	struct stape_name_call *call = (void *)instance->data;

	stape_name_stored(call->task, call->entries);
	return 0;
}

const struct stape_retprobe_ops stape_name_ops = {
	.enter = stape_name_enter,
	.leave = stape_name_leave,
	.size = sizeof(struct stape_name_call),
};

#endif /* STAPE_RETPROBES */
