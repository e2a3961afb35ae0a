// SPDX-License-Identifier: GPL-2.0-only
/*
 * A scheduler that hands out tasks in turn until a given time and none after it, so that the
 * kernel's watchdog ejects it.
 */
#include <scx/common.bpf.h>

char _license[] SEC("license") = "GPL";

#define SHARED	0	/* all tasks wait in this queue */

UEI_DEFINE(uei);

volatile u64 last;	/* when it stops, ns of CLOCK_MONOTONIC; 0: never */

static bool has_stopped(void)
{
	return last && bpf_ktime_get_ns() >= last;
}

/* The kernel's default would dispatch tasks directly to an idle CPU. */
s32 BPF_STRUCT_OPS(stall_select_cpu, struct task_struct *p, s32 prev_cpu, u64 wake_flags)
{
	bool is_idle = false;
	s32 cpu = scx_bpf_select_cpu_dfl(p, prev_cpu, wake_flags, &is_idle);

	if (is_idle && !has_stopped())
		scx_bpf_dsq_insert(p, SCX_DSQ_LOCAL, SCX_SLICE_DFL, 0);
	return cpu;
}

void BPF_STRUCT_OPS(stall_enqueue, struct task_struct *p, u64 enq_flags)
{
	scx_bpf_dsq_insert(p, SHARED, SCX_SLICE_DFL, enq_flags);
}

void BPF_STRUCT_OPS(stall_dispatch, s32 cpu, struct task_struct *prev)
{
	if (!has_stopped())
		scx_bpf_dsq_move_to_local(SHARED, 0);
}

s32 BPF_STRUCT_OPS_SLEEPABLE(stall_init)
{
	return scx_bpf_create_dsq(SHARED, -1);
}

void BPF_STRUCT_OPS(stall_exit, struct scx_exit_info *ei)
{
	UEI_RECORD(uei, ei);
}

SCX_OPS_DEFINE(stall_ops,
	       .select_cpu	= (void *)stall_select_cpu,
	       .enqueue		= (void *)stall_enqueue,
	       .dispatch	= (void *)stall_dispatch,
	       .init		= (void *)stall_init,
	       .exit		= (void *)stall_exit,
	       .timeout_ms	= 1000,
	       .name		= "stall");
