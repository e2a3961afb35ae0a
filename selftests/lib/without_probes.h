/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Included in front of all else, this makes the module as if for a kernel without return
 * probes.  "make CONFIG_KRETPROBES=" alone reaches Kbuild only, and C takes the option from
 * the kernel's headers.  These headers come first: the option is in the layout of
 * task_struct, which has to stay that of the kernel.
 */
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/sched.h>

#undef CONFIG_KRETPROBES
/* compat.h has the one of the module. */
#undef pr_fmt
