// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counts the basic blocks that have run in a module compiled with -fsanitize-coverage=trace-pc,
 * on kernels without KCOV. They call this from any context, also with a runqueue lock held: no
 * lock here.
 */
#include <linux/atomic.h>
#include <linux/hash.h>
#include <linux/module.h>

#define BITS 15

static unsigned long blocks[1 << BITS];
static atomic_t reached = ATOMIC_INIT(0);

void __sanitizer_cov_trace_pc(void);

notrace void __sanitizer_cov_trace_pc(void)
{
	unsigned long ip = (unsigned long)__builtin_return_address(0), old;
	u32 i, at = hash_long(ip, BITS);

	for (i = 0; i < ARRAY_SIZE(blocks); i++, at = (at + 1) % ARRAY_SIZE(blocks)) {
		old = READ_ONCE(blocks[at]);
		if (!old)
			old = cmpxchg(&blocks[at], 0, ip);
		if (!old)
			atomic_inc(&reached);
		if (!old || old == ip)
			return;
	}
}
EXPORT_SYMBOL_GPL(__sanitizer_cov_trace_pc);

static int reached_get(char *buffer, const struct kernel_param *param)
{
	return sysfs_emit(buffer, "%d\n", atomic_read(&reached));
}

static const struct kernel_param_ops reached_ops = { .get = reached_get };

module_param_cb(reached, &reached_ops, NULL, 0444);
MODULE_PARM_DESC(reached, "basic blocks that were run");
MODULE_DESCRIPTION("Counts the basic blocks of a module that are run");
MODULE_LICENSE("GPL");
