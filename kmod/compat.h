/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The differences between kernels, and nothing else.  Kbuild includes this file in front of
 * every other, and defines STAPE_HAS_... for each feature that the kernel has, see features/.
 * There is a lowest version and no highest, because features decide: Kbuild reports what the
 * kernel lacks.  tested-series has the series that the module is tested on.
 */
#ifndef _STAPE_COMPAT_H
#define _STAPE_COMPAT_H

#undef pr_fmt		/* test builds include the kernel's headers first */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/version.h>

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 1, 0)
#error "schedtape needs Linux 6.1 or later"
#endif

#ifndef CONFIG_64BIT
#error "schedtape needs a 64-bit kernel"
#endif

#include <linux/cgroup-defs.h>
#include <linux/compat.h>
#include <linux/hrtimer.h>
#include <linux/mm.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <net/genetlink.h>

/* New in 6.4. */
#ifndef PF_USER_WORKER
#define PF_USER_WORKER	0
#endif

/* Since 6.3 only these functions change vm_flags. */
#ifndef STAPE_HAS_VM_FLAGS_SET
static inline void vm_flags_set(struct vm_area_struct *vma, vm_flags_t flags)
{
	vma->vm_flags |= flags;
}

static inline void vm_flags_mod(struct vm_area_struct *vma, vm_flags_t set, vm_flags_t clear)
{
	vma->vm_flags = (vma->vm_flags | set) & ~clear;
}
#endif

/* Since 6.6 dumps have a struct genl_info of their own. */
#ifdef STAPE_HAS_DUMP_INFO
#define stape_dump_attrs(dump)	((dump)->info.attrs)
#else
#define stape_dump_attrs(dump)	((dump)->attrs)
#endif

/* Since 6.2 the functions around a netlink command get a split operation. */
#ifdef STAPE_HAS_SPLIT_OPS
#define stape_genl_ops	genl_split_ops
#else
#define stape_genl_ops	genl_ops
#endif

/* New in 6.13, and the only function for this since 6.15. */
#ifndef STAPE_HAS_HRTIMER_SETUP
static inline void hrtimer_setup(struct hrtimer *timer,
				 enum hrtimer_restart (*function)(struct hrtimer *),
				 clockid_t clock, enum hrtimer_mode mode)
{
	hrtimer_init(timer, clock, mode);
	timer->function = function;
}
#endif

/* Since 6.16 the tracepoint sched_process_exit has an argument: the whole process has ended. */
#ifdef STAPE_HAS_EXIT_GROUP_DEAD
#define STAPE_EXIT_PROTO	void *data, struct task_struct *task, bool group_dead
#else
#define STAPE_EXIT_PROTO	void *data, struct task_struct *task
#endif

/* New in 6.13. */
#ifndef STAPE_HAS_PREEMPT_LAZY
static inline bool preempt_model_lazy(void)
{
	return false;
}
#endif

/* Returns true if a task runs now.  Kernels for one CPU do not keep @on_cpu. */
static inline bool stape_on_cpu(const struct task_struct *task)
{
#ifdef CONFIG_SMP
	return READ_ONCE(task->on_cpu);
#else
	return task == current;
#endif
}

/*
 * Returns true if the current task is in a 32-bit system call.  The numbers of x32 have a bit of
 * their own.
 */
static __always_inline bool stape_in_32bit_syscall(const struct task_struct *task)
{
#ifdef CONFIG_X86
	return IS_ENABLED(CONFIG_IA32_EMULATION) && task->thread_info.status & TS_COMPAT;
#else
	return in_compat_syscall();
#endif
}

/* Kernels for one CPU have no such macro. */
#ifndef per_cpu_offset
#define per_cpu_offset(cpu)	((void)(cpu), 0UL)
#endif

/* Recent kernels (7.3, not 6.12) run a throttled cgroup's tasks until they return to user space. */
#ifdef STAPE_HAS_TASK_THROTTLING
#define STAPE_COMPAT_THROTTLING	STAPE_THROTTLING_TASKS
#else
#define STAPE_COMPAT_THROTTLING	STAPE_THROTTLING_CGROUPS
#endif

/* Returns the slice that was set for a task, or 0.  New in 6.12. */
static inline u64 stape_custom_slice(const struct task_struct *task)
{
#ifdef STAPE_HAS_CUSTOM_SLICE
	return READ_ONCE(task->se.custom_slice) ? READ_ONCE(task->se.slice) : 0;
#else
	return 0;
#endif
}

#ifdef CONFIG_UCLAMP_TASK
static inline u32 stape_clamp(const struct task_struct *task, enum uclamp_id id)
{
	struct uclamp_se request = READ_ONCE(task->uclamp_req[id]);

	return request.user_defined ? request.value + 1 : 0;
}
#endif

/* Returns the utilization clamps that were set for a task, as STAPE_CLAMP_*. */
static inline u32 stape_clamps(const struct task_struct *task)
{
#ifdef CONFIG_UCLAMP_TASK
	return stape_clamp(task, UCLAMP_MIN) | stape_clamp(task, UCLAMP_MAX) << 16;
#else
	return 0;
#endif
}

/* Returns true if a task is scheduled in an autogroup.  For RCU readers. */
static inline bool stape_in_autogroup(const struct task_struct *task)
{
#ifdef CONFIG_SCHED_AUTOGROUP
	/* The first member of the kernel's struct task_group.  An autogroup has no subsystem. */
	const struct cgroup_subsys_state *css = (void *)READ_ONCE(task->sched_task_group);

	return !css->ss;
#else
	return false;
#endif
}

/* Returns true if two tasks of the same cgroup share an autogroup, or both are in none. */
static inline bool stape_same_autogroup(const struct task_struct *a, const struct task_struct *b)
{
#ifdef CONFIG_SCHED_AUTOGROUP
	return READ_ONCE(a->sched_task_group) == READ_ONCE(b->sched_task_group);
#else
	return true;
#endif
}

/* Returns a task's core-scheduling cookie, which is an address; 0: it has none. */
static inline unsigned long stape_core_cookie(const struct task_struct *task)
{
#ifdef CONFIG_SCHED_CORE
	return READ_ONCE(task->core_cookie);
#else
	return 0;
#endif
}

/* The first argument of a function at its entry.  s390 does not export regs_get_register(). */
#ifdef CONFIG_S390
#define stape_first_argument(regs)	((regs)->gprs[2])
#else
#define stape_first_argument(regs)	regs_get_kernel_argument(regs, 0)
#endif

/*
 * The CPU's counter: its value, its rate in kHz, and whether the kernel has found that it is the
 * same on all CPUs and keeps its rate.  x86's get_cycles() first asks whether there is a counter,
 * which stape_counter_fit() has answered.
 */
#ifdef CONFIG_X86
#include <asm/msr.h>
#include <asm/tsc.h>

static __always_inline u64 stape_counter_read(void)
{
	return rdtsc();
}

static inline u32 stape_counter_rate(void)
{
	return tsc_khz;
}

static inline bool stape_counter_fit(void)
{
	return tsc_khz && !check_tsc_unstable();
}
#else
#include <linux/timex.h>

static __always_inline u64 stape_counter_read(void)
{
	return get_cycles();
}

static inline u32 stape_counter_rate(void)
{
	return 0;
}

static inline bool stape_counter_fit(void)
{
	return false;
}
#endif

/*
 * Who may join a multicast group.  Before 6.1.67 there is no group for CAP_SYS_ADMIN; there it
 * needs CAP_NET_ADMIN.
 */
#ifdef GENL_MCAST_CAP_SYS_ADMIN
#define STAPE_GROUP_FLAGS	GENL_MCAST_CAP_SYS_ADMIN
#else
#define STAPE_GROUP_FLAGS	GENL_UNS_ADMIN_PERM
#endif

#endif /* _STAPE_COMPAT_H */
