// SPDX-License-Identifier: GPL-2.0-only
/*
 * Compiles with the headers of every supported kernel.
 */
#include <linux/module.h>
#include <linux/tracepoint.h>
#include <net/genetlink.h>
#include <trace/events/cgroup.h>
#include <trace/events/irq.h>
#include <trace/events/sched.h>
#include <trace/events/task.h>

MODULE_LICENSE("GPL");
