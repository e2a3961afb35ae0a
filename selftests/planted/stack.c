// SPDX-License-Identifier: GPL-2.0-only
/*
 * Bugs that overflow the kernel's stack: SCHED_STACK_END_CHECK and the guard page of
 * VMAP_STACK.  The first one ends the kernel, the second one its task.
 */
#include <linux/compiler.h>
#include <linux/delay.h>
#include <linux/sched.h>
#include <linux/sched/task_stack.h>

#include "planted.h"

#define FRAME 512

/* The kernel checks the stack's end whenever its task sleeps. */
void planted_stack_end(void)
{
	*end_of_stack(current) = 0;
	msleep(20);
}

/* The compiler must neither see that the recursion never ends, nor turn it into a loop. */
static noinline int deeper(int depth)
{
	char frame[FRAME];

	OPTIMIZER_HIDE_VAR(depth);
	frame[depth % FRAME] = 1;
	barrier_data(frame);
	return depth < 0 ? 0 : deeper(depth + 1) + frame[depth % FRAME];
}

void planted_stack_guard(void)
{
	deeper(0);
}
