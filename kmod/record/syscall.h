/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The system call that a task sleeps in.  A probe asks about the current task, because only the
 * registers of that one are certain to be those with which it came into the kernel.
 */
#ifndef _STAPE_SYSCALL_H
#define _STAPE_SYSCALL_H

#include <linux/compat.h>
#include <linux/sched.h>
#include <linux/sched/task_stack.h>
#include <schedtape/event.h>

/*
 * Returns whether a task has registers of user space.  Workers of io_uring and of vhost have
 * those of the task that made them.
 */
static __always_inline bool stape_syscall_has_regs(const struct task_struct *task)
{
	return !(task->flags & (PF_KTHREAD | PF_IO_WORKER | PF_USER_WORKER));
}

#ifdef CONFIG_HAVE_ARCH_TRACEHOOK
#include <asm/syscall.h>

#define STAPE_SYSCALL_KNOWN	true

/*
 * Returns the number of the system call that the current task is in.  In none the kernel's
 * number is -1, which is STAPE_SYSCALL_NONE.
 */
static __always_inline u32 stape_syscall_number(struct task_struct *task)
{
	return syscall_get_nr(task, task_pt_regs(task));
}
#else
#define STAPE_SYSCALL_KNOWN	false

static __always_inline u32 stape_syscall_number(struct task_struct *task)
{
	return STAPE_SYSCALL_NONE;
}
#endif

#endif /* _STAPE_SYSCALL_H */
