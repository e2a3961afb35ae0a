// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sessions: made by open(), given rings by session-set, recording between session-start and
 * session-stop, freed with their file.
 */
#include "record/sessions.h"

#include <linux/cred.h>
#include <linux/netlink.h>
#include <linux/slab.h>

#include "base/account.h"
#include "record/session_readers.h"
#include "record/session_rings.h"
#include "record/session_run.h"

struct stape_registry stape_sessions = STAPE_REGISTRY_INIT(stape_sessions);

/**
 * stape_session_create() - make a session for the calling process
 * @ops: what it calls
 *
 * Context: may sleep.
 * Return: the session, or an ERR_PTR().
 */
struct stape_session *stape_session_create(const struct stape_session_ops *ops)
{
	struct stape_session *session;
	int ret;

	session = kzalloc(sizeof(*session), GFP_KERNEL_ACCOUNT);
	if (!session)
		return ERR_PTR(-ENOMEM);
	session->account = stape_account_get(current_uid());
	ret = -ENOMEM;
	if (!session->account)
		goto err_account;
	ret = stape_filter_init(&session->active.filter);
	if (ret)
		goto err_filter;
	stape_session_init_readers(session, ops->notify);
	session->notify_trigger = ops->notify_trigger;
	stape_session_init_run(session);
	mutex_init(&session->lock);
	ret = stape_registry_add(&stape_sessions, &session->entry);
	if (ret)
		goto err_id;
	return session;

err_id:
	stape_filter_destroy(&session->active.filter);
err_filter:
	stape_account_put(session->account);
err_account:
	kfree(session);
	return ERR_PTR(ret);
}

static void stape_session_free(struct kref *ref)
{
	kfree_rcu(container_of(ref, struct stape_session, entry.ref), rcu);
}

/**
 * stape_session_destroy() - end a session and free what it has
 * @session: a session whose file is being released
 *
 * Context: may sleep.
 */
void stape_session_destroy(struct stape_session *session)
{
	mutex_lock(&session->lock);
	session->gone = true;
	stape_session_stop(session, NULL);
	stape_session_detach(session);
	mutex_unlock(&session->lock);

	/* Only these works still use the session, and they queue each other in this order. */
	flush_delayed_work(&session->active.resync);
	irq_work_sync(&session->active.wake);
	flush_work(&session->notify_work);
	stape_registry_remove(&stape_sessions, &session->entry);
	stape_filter_destroy(&session->active.filter);
	stape_session_free_rings(session);
	stape_account_put(session->account);
	kref_put(&session->entry.ref, stape_session_free);
}

/* Takes the lock of a session that was found, or drops the reference if its file has gone. */
static struct stape_session *stape_session_acquire(struct stape_entry *entry)
{
	struct stape_session *session = container_of(entry, struct stape_session, entry);

	mutex_lock(&session->lock);
	if (!session->gone)
		return session;
	stape_session_release(session);
	return NULL;
}

/**
 * stape_session_find() - find a session by its number
 * @id: number in the netlink family
 *
 * Context: may sleep.
 * Return: the session, with its lock and a reference, for stape_session_release(); or NULL.
 */
struct stape_session *stape_session_find(u32 id)
{
	struct stape_entry *entry = stape_registry_find(&stape_sessions, id);

	return entry ? stape_session_acquire(entry) : NULL;
}

/**
 * stape_session_find_after() - find the next session
 * @id: number of the last one, or 0
 *
 * Context: may sleep.
 * Return: the session with the lowest number above @id, as from stape_session_find(); or NULL.
 */
struct stape_session *stape_session_find_after(u32 id)
{
	struct stape_session *session = NULL;
	struct stape_entry *entry;

	while (!session && (entry = stape_registry_find_after(&stape_sessions, id))) {
		id = entry->id;
		session = stape_session_acquire(entry);
	}
	return session;
}

/**
 * stape_session_each() - call a function for each session
 * @func: called under the session's lock
 *
 * Context: may sleep.
 */
void stape_session_each(void (*func)(struct stape_session *session))
{
	struct stape_session *session;
	u32 id = 0;

	while ((session = stape_session_find_after(id))) {
		id = session->entry.id;
		func(session);
		stape_session_release(session);
	}
}

/**
 * stape_session_release() - drop the lock and the reference
 * @session: from stape_session_find()
 *
 * Context: any in which a mutex may be unlocked.
 */
void stape_session_release(struct stape_session *session)
{
	mutex_unlock(&session->lock);
	kref_put(&session->entry.ref, stape_session_free);
}

/**
 * stape_session_set_monitor() - send notifications to a socket as well
 * @session: a session with rings
 * @port: the socket's; it replaces an earlier one
 * @extack: returned: the reason, if this fails
 *
 * Context: under the session's lock; may sleep.
 * Return: 0, or -EINVAL: no rings.
 */
int stape_session_set_monitor(struct stape_session *session, u32 port,
			      struct netlink_ext_ack *extack)
{
	/* So there are no more monitored sessions than the limit of sessions allows. */
	if (session->state == STAPE_SESSION_NEW) {
		NL_SET_ERR_MSG(extack, "the session has no rings yet");
		return -EINVAL;
	}
	stape_registry_set_monitor(&stape_sessions, &session->entry, port);
	return 0;
}
