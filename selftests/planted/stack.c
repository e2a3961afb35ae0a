// SPDX-License-Identifier: GPL-2.0-only
/*
 * Mistakes that use the kernel's stack up: SCHED_STACK_END_CHECK and the guard page of
 * VMAP_STACK. The kernel does not survive the first, and the one who commits the second
 * not either.
 */
#include <linux/compiler.h>
#include <linux/delay.h>
#include <linux/sched.h>
#include <linux/sched/task_stack.h>

#include "planted.h"

#define FRAME 512

/* What is at the stack's end is looked at whenever its task sleeps. */
void planted_stack_end(void)
{
	*end_of_stack(current) = 0;
	msleep(20);
}

/* No compiler may see that it never ends, nor make a loop of it. */
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
