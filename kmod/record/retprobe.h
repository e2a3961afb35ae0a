/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _STAPE_HOOK_H
#define _STAPE_HOOK_H

#include <linux/atomic.h>
#include <linux/kprobes.h>

/* Functions can be probed where they return, and asked for their arguments. */
#if defined(CONFIG_KRETPROBES) && defined(CONFIG_HAVE_FUNCTION_ARG_ACCESS_API)
#define STAPE_HOOKS
#endif

#ifdef STAPE_HOOKS
/**
 * struct stape_hook - what is done at the entry and the return of a function
 * @enter: called at its entry; says stape_hook_begin(), if @leave tells of a change
 * @leave: called at its return, in the same task, with preemption off, which makes it an
 *	RCU reader; stape_hook_end()
 * @size: bytes that the two share
 */
struct stape_hook {
	kretprobe_handler_t enter;
	kretprobe_handler_t leave;
	size_t size;
};

/* Of functions whose first argument is the task. */
extern const struct stape_hook stape_prio_hook;
/* Of sched_setaffinity(). */
extern const struct stape_hook stape_affinity_hook;
/* Of __set_task_comm(). */
extern const struct stape_hook stape_name_hook;

extern atomic_t stape_hook_calls;

/* In front of a change. */
static inline void stape_hook_begin(void)
{
	atomic_inc(&stape_hook_calls);
	smp_mb__after_atomic();		/* pairs with stape_hook_busy() */
}

/* Behind what has been told of it. */
static inline void stape_hook_end(void)
{
	smp_mb__before_atomic();	/* the same */
	atomic_dec(&stape_hook_calls);
}

/* Somebody is between a change and its being told of. */
static inline bool stape_hook_busy(void)
{
	smp_mb();	/* whoever looks has seen the change; pairs with the two above */
	return atomic_read(&stape_hook_calls);
}
#else
static inline bool stape_hook_busy(void)
{
	return false;
}
#endif

int stape_hook(void);
void stape_unhook(void);
size_t stape_hook_lack(char *text, size_t size);

#endif /* _STAPE_HOOK_H */
