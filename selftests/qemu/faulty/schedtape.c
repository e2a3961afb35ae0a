// SPDX-License-Identifier: GPL-2.0-only
/*
 * Stands in for the module and misbehaves on request, to test whether the rig reports that.
 */
#include <linux/bug.h>
#include <linux/module.h>

static bool warn;
module_param(warn, bool, 0);
MODULE_PARM_DESC(warn, "Make the kernel warn");

static bool stuck;
module_param(stuck, bool, 0);
MODULE_PARM_DESC(stuck, "Leak a reference");

static int __init faulty_init(void)
{
	WARN_ON(warn);
	if (stuck)
		__module_get(THIS_MODULE);
	return 0;
}
module_init(faulty_init);

static void __exit faulty_exit(void)
{
}
module_exit(faulty_exit);

MODULE_DESCRIPTION("Faults for the rig to notice");
MODULE_LICENSE("GPL");
