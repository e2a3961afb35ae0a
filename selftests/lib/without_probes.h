/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Builds the module as if for a kernel without return probes; included before all other
 * headers. "make CONFIG_KRETPROBES=" alone reaches Kbuild only, because C takes the option from
 * the kernel's headers. The headers below come first, because the layout of task_struct depends
 * on the option and has to stay the kernel's.
 */
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/sched.h>

#undef CONFIG_KRETPROBES
