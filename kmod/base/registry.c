// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sessions and replays by their numbers, and the sockets that get their notifications.
 */
#include "base/registry.h"

#include <linux/rcupdate.h>

/* Entries that have a monitor. */
#define STAPE_REGISTRY_MONITORED	XA_MARK_1

/**
 * stape_registry_add() - give an object its number, and let requests find it
 * @registry: sessions or replays
 * @entry: the object's, zeroed; it gets one reference
 *
 * Context: may sleep.
 * Return: 0 or -errno.
 */
int stape_registry_add(struct stape_registry *registry, struct stape_entry *entry)
{
	int ret;

	kref_init(&entry->ref);
	ret = xa_alloc_cyclic(&registry->entries, &entry->id, entry, xa_limit_31b,
			      &registry->next_id, GFP_KERNEL_ACCOUNT);
	if (ret < 0)
		return ret;
	atomic_inc(&registry->count);
	return 0;
}

/**
 * stape_registry_remove() - undo stape_registry_add()
 * @registry: sessions or replays
 * @entry: the object's; until here the end of a socket clears @monitor
 *
 * Context: any but interrupts.
 */
void stape_registry_remove(struct stape_registry *registry, struct stape_entry *entry)
{
	xa_erase(&registry->entries, entry->id);
	atomic_dec(&registry->count);
}

/**
 * stape_registry_find() - find an object by its number
 * @registry: sessions or replays
 * @id: number in the netlink family
 *
 * Context: any.
 * Return: the object's entry, with a reference; or NULL.
 */
struct stape_entry *stape_registry_find(struct stape_registry *registry, u32 id)
{
	struct stape_entry *entry;

	rcu_read_lock();
	entry = xa_load(&registry->entries, id);
	if (entry && !kref_get_unless_zero(&entry->ref))
		entry = NULL;
	rcu_read_unlock();
	return entry;
}

/**
 * stape_registry_find_after() - find the next object
 * @registry: sessions or replays
 * @id: number of the last one, or 0
 *
 * Context: any.
 * Return: the entry with the lowest number above @id, as from stape_registry_find(); or NULL.
 */
struct stape_entry *stape_registry_find_after(struct stape_registry *registry, u32 id)
{
	struct stape_entry *entry;
	unsigned long index = id;

	rcu_read_lock();
	do
		entry = xa_find_after(&registry->entries, &index, ULONG_MAX, XA_PRESENT);
	while (entry && !kref_get_unless_zero(&entry->ref));
	rcu_read_unlock();
	return entry;
}

/**
 * stape_registry_count() - count the objects
 * @registry: sessions or replays
 *
 * Context: any.
 */
u32 stape_registry_count(const struct stape_registry *registry)
{
	return atomic_read(&registry->count);
}

/**
 * stape_registry_set_monitor() - send an object's notifications to a socket as well
 * @registry: sessions or replays
 * @entry: the object's
 * @port: the socket's; it replaces an earlier one
 *
 * Context: may sleep.
 */
void stape_registry_set_monitor(struct stape_registry *registry, struct stape_entry *entry,
				u32 port)
{
	WRITE_ONCE(entry->monitor, port);
	xa_set_mark(&registry->entries, entry->id, STAPE_REGISTRY_MONITORED);
}

/**
 * stape_registry_forget_monitor() - send nothing more to a socket
 * @registry: sessions or replays
 * @port: the socket's, which is being closed; another socket may get the port
 *
 * Context: any but interrupts.
 */
void stape_registry_forget_monitor(struct stape_registry *registry, u32 port)
{
	struct stape_entry *entry;
	unsigned long id;

	rcu_read_lock();
	xa_for_each_marked(&registry->entries, id, entry, STAPE_REGISTRY_MONITORED)
		cmpxchg(&entry->monitor, port, 0);
	rcu_read_unlock();
}

/*
 * Whether an administrator has stopped everything: control/stop_all.c sets it, under the lock of
 * the module's parameters.  Read without a lock.
 */
bool stape_stop_all;
