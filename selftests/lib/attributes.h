/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The attributes of sched_setattr(2), which not every libc has.
 */
#ifndef SELFTESTS_ATTRIBUTES_H
#define SELFTESTS_ATTRIBUTES_H

#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ST_CLAMPS	0x60	/* @flags: both clamps are set; -1: to none */

struct st_attributes {
	uint32_t size;
	uint32_t policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime, deadline, period;
	int32_t clamp_min, clamp_max;
};

/* Sets those of the calling thread. */
static inline int st_attributes_set(struct st_attributes attr)
{
	attr.size = sizeof(attr);
	return syscall(SYS_sched_setattr, 0, &attr, 0);
}

static inline int st_attributes_get(struct st_attributes *attr)
{
	return syscall(SYS_sched_getattr, 0, attr, sizeof(*attr), 0);
}

/* Has the calling thread this slice?  No, if the kernel has no slices of tasks. */
static inline int st_has_slice(uint64_t slice)
{
	struct st_attributes attr = { 0 };

	return !st_attributes_get(&attr) && attr.runtime == slice;
}

#endif /* SELFTESTS_ATTRIBUTES_H */
