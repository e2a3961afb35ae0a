/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The attributes of sched_setattr(2), which few C libraries have.
 */
#ifndef SCHEDTAPE_SCHED_ATTR_H
#define SCHEDTAPE_SCHED_ATTR_H

#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The kernel's SCHED_FLAG_*. */
#define SCHED_ATTR_RESET_ON_FORK	0x01
#define SCHED_ATTR_KEEP_ALL		0x18
#define SCHED_ATTR_CLAMP_MIN		0x20
#define SCHED_ATTR_CLAMP_MAX		0x40

/* The second version of the kernel's struct sched_attr. */
struct sched_attributes {
	uint32_t size;
	uint32_t policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime;
	uint64_t deadline;
	uint64_t period;
	uint32_t clamp_min;
	uint32_t clamp_max;
};

/* Sets the attributes of the calling thread.  Returns 0, or -1 and errno. */
static inline int sched_attr_set(const struct sched_attributes *attr)
{
	return syscall(SYS_sched_setattr, 0, attr, 0);
}

/* Gets those of the calling thread.  Returns 0, or -1 and errno. */
static inline int sched_attr_get(struct sched_attributes *attr)
{
	return syscall(SYS_sched_getattr, 0, attr, sizeof(*attr), 0);
}

#endif /* SCHEDTAPE_SCHED_ATTR_H */
