/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The cgroups that tasks of a session are in, or have been in, and all above these.
 */
#ifndef _STAPE_CGROUPS_H
#define _STAPE_CGROUPS_H

#include <linux/bitops.h>
#include <linux/hash.h>
#include <linux/types.h>

struct task_struct;

#define STAPE_CGROUPS_SHIFT	12
#define STAPE_CGROUPS_BITS	BIT(STAPE_CGROUPS_SHIFT)
#define STAPE_CGROUPS_NAMED	64

/**
 * struct stape_cgroups - a set of cgroups
 * @bits: the bit of each cgroup, by a hash of its id; another cgroup may have the same
 * @first: the kernel's serial number of the first cgroup that was made since probes know the
 *	session; 0: no cgroup has been made
 * @named: ids of such cgroups, by a hash of the id: their names are in the stream.  If another
 *	cgroup has taken the place, a name is written again
 *
 * A cgroup stays in the set when its tasks have left: it has to be cheap, not exact.
 */
struct stape_cgroups {
	DECLARE_BITMAP(bits, STAPE_CGROUPS_BITS);
	u64 first;
	u64 named[STAPE_CGROUPS_NAMED];
};

void stape_cgroups_add(struct stape_cgroups *cgroups, struct task_struct *task);

static inline u32 stape_cgroups_bit(u64 id)
{
	return hash_64(id, STAPE_CGROUPS_SHIFT);
}

/* Returns whether a cgroup's name has to be written, and notes that.  One caller at a time. */
static inline bool stape_cgroups_take_name(struct stape_cgroups *cgroups, u64 id)
{
	u64 *named = &cgroups->named[stape_cgroups_bit(id) % STAPE_CGROUPS_NAMED];

	if (*named == id)
		return false;
	*named = id;
	return true;
}

/* Returns false if no task of the session has been in the cgroup, or below it. */
static inline bool stape_cgroups_may_have(const struct stape_cgroups *cgroups, u64 id)
{
	return test_bit(stape_cgroups_bit(id), cgroups->bits);
}

#endif /* _STAPE_CGROUPS_H */
