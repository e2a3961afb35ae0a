/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Return probes, for changes that have no tracepoint, or one that fires before the change.
 */
#ifndef _STAPE_RETPROBE_H
#define _STAPE_RETPROBE_H

#include <linux/atomic.h>
#include <linux/kprobes.h>

/* This kernel can probe the return of functions, and can read their arguments. */
#if defined(CONFIG_KRETPROBES) && defined(CONFIG_HAVE_FUNCTION_ARG_ACCESS_API)
#define STAPE_RETPROBES
#endif

#ifdef STAPE_RETPROBES
/**
 * struct stape_retprobe_ops - handlers for the entry and the return of a function
 * @enter: called at its entry; calls stape_retprobe_begin() if @leave writes an event
 * @leave: called at its return, unless @enter has returned 1, in the same task.  Preemption is off,
 *	which makes it an RCU reader.  It calls stape_retprobe_end() if @enter has called
 *	stape_retprobe_begin().  NULL: @enter always returns 1
 * @size: bytes of data that the two share
 * @usable: returns false if the kernel lacks what the handlers need; NULL: they need nothing
 */
struct stape_retprobe_ops {
	kretprobe_handler_t enter;
	kretprobe_handler_t leave;
	size_t size;
	bool (*usable)(void);
};

/**
 * struct stape_retprobe - a probed function
 * @name: the function's name
 * @ops: its handlers
 * @without: what the module cannot do without this probe
 * @kretprobe: the kernel's part
 * @refused: the kernel does not let the module probe the function
 */
struct stape_retprobe {
	const char *name;
	const struct stape_retprobe_ops *ops;
	const char *without;
	struct kretprobe kretprobe;
	bool refused;
};

extern atomic_t stape_retprobe_calls;

/* Called before a change. */
static inline void stape_retprobe_begin(void)
{
	atomic_inc(&stape_retprobe_calls);
	smp_mb__after_atomic();		/* pairs with stape_retprobe_busy() */
}

/* Called after the event of the change has been written. */
static inline void stape_retprobe_end(void)
{
	smp_mb__before_atomic();	/* pairs with stape_retprobe_busy() */
	atomic_dec(&stape_retprobe_calls);
}

/* Returns true if a probed function may have changed a task, but has not written the event yet. */
static inline bool stape_retprobe_busy(void)
{
	smp_mb();	/* the caller has read the change; pairs with the two above */
	return atomic_read(&stape_retprobe_calls);
}

int stape_retprobe_register(struct stape_retprobe *probes, int n);
void stape_retprobe_unregister(struct stape_retprobe *probes, int n);
u64 stape_retprobe_missed(const struct stape_retprobe *probes, int n);
size_t stape_retprobe_missing(const struct stape_retprobe *probes, int n, char *text, size_t size);
#else
static inline bool stape_retprobe_busy(void)
{
	return false;
}
#endif

#endif /* _STAPE_RETPROBE_H */
