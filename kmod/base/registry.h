/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _STAPE_REGISTRY_H
#define _STAPE_REGISTRY_H

#include <linux/atomic.h>
#include <linux/kref.h>
#include <linux/types.h>
#include <linux/xarray.h>

/**
 * struct stape_entry - the part of a session or a replay by which requests find it
 * @ref: references; the object is freed a grace period after the last one
 * @id: number in the netlink family, not used again before 2^31 others
 * @monitor: netlink port that gets its notifications as well, or 0; changed without a lock
 */
struct stape_entry {
	struct kref ref;
	u32 id;
	u32 monitor;
};

/**
 * struct stape_registry - all sessions, or all replays
 * @entries: by @id.  Read under RCU; a reader takes a reference
 * @next_id: see xa_alloc_cyclic()
 * @count: entries of @entries
 */
struct stape_registry {
	struct xarray entries;
	u32 next_id;
	atomic_t count;
};

#define STAPE_REGISTRY_INIT(name) \
	{ .entries = XARRAY_INIT((name).entries, XA_FLAGS_ALLOC1) }

int stape_registry_add(struct stape_registry *registry, struct stape_entry *entry);
void stape_registry_remove(struct stape_registry *registry, struct stape_entry *entry);
struct stape_entry *stape_registry_find(struct stape_registry *registry, u32 id);
struct stape_entry *stape_registry_find_after(struct stape_registry *registry, u32 id);
u32 stape_registry_count(const struct stape_registry *registry);
void stape_registry_set_monitor(struct stape_registry *registry, struct stape_entry *entry,
				u32 port);
void stape_registry_forget_monitor(struct stape_registry *registry, u32 port);

extern bool stape_stop_all;

#define STAPE_STOP_ALL_TEXT	"an administrator has switched the module off: see stop_all"

/*
 * Returns true if an administrator has stopped all sessions and replays: none may start.  A session
 * asks under its lock, a replay when it is in its registry, so control/stop_all.c finds each of
 * them that has got false.
 */
static inline bool stape_stop_all_is_set(void)
{
	return READ_ONCE(stape_stop_all);
}

#endif /* _STAPE_REGISTRY_H */
