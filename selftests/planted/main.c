// SPDX-License-Identifier: GPL-2.0-only
/*
 * planted.ko: commits the bug that its parameter names, once, when it is inserted, to test
 * whether the kernel reports it and whether the rig finds the report. It is for guests only.
 */
#include <linux/module.h>
#include <linux/string.h>

#include "planted.h"

static char *bug;
module_param(bug, charp, 0);
MODULE_PARM_DESC(bug, "The mistake to commit");

static const struct {
	const char *name;
	void (*commit)(void);
} bugs[] = {
	{ "use_after_free", planted_use_after_free },
	{ "out_of_slab", planted_out_of_slab },
	{ "out_of_stack", planted_out_of_stack },
	{ "out_of_vmalloc", planted_out_of_vmalloc },
	{ "out_of_object", planted_out_of_object },
	{ "leak", planted_leak },
	{ "shift", planted_shift },
	{ "index", planted_index },
	{ "atomic", planted_atomic },
	{ "rcu", planted_rcu },
	{ "abba", planted_abba },
	{ "interrupted", planted_interrupted },
	{ "preemptible", planted_preemptible },
	{ "warn", planted_warn },
	{ "refcount_zero", planted_refcount_zero },
	{ "refcount_underflow", planted_refcount_underflow },
	{ "refcount_overflow", planted_refcount_overflow },
	{ "list_add", planted_list_add },
	{ "list_del", planted_list_del },
	{ "timer", planted_timer },
	{ "work_freed", planted_work_freed },
	{ "race", planted_race },
	{ "stack_end", planted_stack_end },
	{ "stack_guard", planted_stack_guard },
	{ "none", NULL },
};

static int __init planted_init(void)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(bugs); i++) {
		if (!bug || strcmp(bug, bugs[i].name))
			continue;
		if (bugs[i].commit)
			bugs[i].commit();
		return 0;
	}
	pr_err("planted: there is no bug '%s'\n", bug ?: "");
	return -EINVAL;
}
module_init(planted_init);

static void __exit planted_exit(void)
{
}
module_exit(planted_exit);

MODULE_DESCRIPTION("Mistakes for debug kernels to notice");
MODULE_LICENSE("GPL");
