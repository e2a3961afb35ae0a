// SPDX-License-Identifier: GPL-2.0-only
/*
 * The smallest record of the scheduler that BPF allows: a word for each event, with time, type
 * and PID, into a ring that wakes no reader. See record.c.
 */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "word.h"

struct task_struct {
	int pid;
} __attribute__((preserve_access_index));

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 20);	/* record.c may change it */
} ring SEC(".maps");

__u64 lost;

static __always_inline void emit(__u64 type, struct task_struct *task)
{
	__u64 *word = bpf_ringbuf_reserve(&ring, sizeof(*word), 0);

	if (!word) {
		__sync_fetch_and_add(&lost, 1);
		return;
	}
	*word = bpf_ktime_get_ns() << WORD_TIME_SHIFT | type << WORD_TYPE_SHIFT |
		(task->pid & WORD_PID_MASK);
	bpf_ringbuf_submit(word, BPF_RB_NO_WAKEUP);
}

SEC("tp_btf/sched_switch")
int BPF_PROG(on_switch, _Bool preempt, struct task_struct *prev, struct task_struct *next)
{
	emit(WORD_SWITCH, next);
	return 0;
}

SEC("tp_btf/sched_waking")
int BPF_PROG(on_waking, struct task_struct *task)
{
	emit(WORD_WAKING, task);
	return 0;
}

SEC("tp_btf/sched_wakeup")
int BPF_PROG(on_wakeup, struct task_struct *task)
{
	emit(WORD_WAKEUP, task);
	return 0;
}

SEC("tp_btf/sched_wakeup_new")
int BPF_PROG(on_wakeup_new, struct task_struct *task)
{
	emit(WORD_WAKEUP_NEW, task);
	return 0;
}

SEC("tp_btf/sched_migrate_task")
int BPF_PROG(on_migrate, struct task_struct *task)
{
	emit(WORD_MIGRATE, task);
	return 0;
}

SEC("tp_btf/sched_process_fork")
int BPF_PROG(on_fork, struct task_struct *parent, struct task_struct *child)
{
	emit(WORD_FORK, child);
	return 0;
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(on_exit, struct task_struct *task)
{
	emit(WORD_EXIT, task);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
