// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tells the kernel that the CPUs' counter is unstable, as its watchdog and some drivers do, and
 * does nothing else.  Only a restart of the machine undoes that.
 */
#include <linux/module.h>
#include <asm/tsc.h>

static int __init counter_unstable_init(void)
{
	mark_tsc_unstable("a test");
	return 0;
}
module_init(counter_unstable_init);

static void __exit counter_unstable_exit(void)
{
}
module_exit(counter_unstable_exit);

MODULE_DESCRIPTION("Makes the kernel take the CPUs' counter for unstable");
MODULE_LICENSE("GPL");
