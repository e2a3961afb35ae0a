// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sessions: made by open(), given rings by session-set, recording between session-start and
 * session-stop, freed with their file.
 */
#include "record/sessions.h"

#include <linux/cred.h>
#include <linux/netlink.h>
#include <linux/sched/signal.h>
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
	struct stape_session *session = container_of(ref, struct stape_session, entry.ref);

	/* Until here requests compare their senders with the owner. */
	stape_account_put(session->account);
	kfree_rcu(session, rcu);
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
	stape_wake_cancel(&session->active.wake);
	flush_work(&session->notify_work);
	stape_registry_remove(&stape_sessions, &session->entry);
	stape_filter_destroy(&session->active.filter);
	stape_session_free_rings(session);
	stape_session_put(session);
}

static struct stape_session *stape_session_of(struct stape_entry *entry)
{
	return entry ? container_of(entry, struct stape_session, entry) : NULL;
}

/**
 * stape_session_find() - find a session by its number
 * @id: number in the netlink family
 *
 * Context: any.
 * Return: the session, with a reference, for stape_session_acquire() or stape_session_put(); or
 * NULL.
 */
struct stape_session *stape_session_find(u32 id)
{
	return stape_session_of(stape_registry_find(&stape_sessions, id));
}

/**
 * stape_session_find_after() - find the next session
 * @id: number of the last one, or 0
 *
 * Context: any.
 * Return: the session with the lowest number above @id, as from stape_session_find(); or NULL.
 */
struct stape_session *stape_session_find_after(u32 id)
{
	return stape_session_of(stape_registry_find_after(&stape_sessions, id));
}

/**
 * stape_session_acquire() - take the lock of a session that was found
 * @session: from stape_session_find(); the reference is dropped if this fails
 *
 * A request may hold the lock for long, so the caller checks first whether the session is its
 * sender's.  A message may have very many requests: none of a killed sender begins any more.
 *
 * Context: may sleep.
 * Return: 0, and the caller calls stape_session_release(); -ENOENT: the session's file has gone;
 * -EINTR: the caller is being killed.
 */
int stape_session_acquire(struct stape_session *session)
{
	if (fatal_signal_pending(current) || mutex_lock_killable(&session->lock)) {
		stape_session_put(session);
		return -EINTR;
	}
	if (!session->gone)
		return 0;
	stape_session_release(session);
	return -ENOENT;
}

/**
 * stape_session_each() - call a function for each session
 * @func: called under the session's lock
 * @wait: wait for locks that others hold; false: leave these sessions out
 *
 * Context: may sleep.
 */
void stape_session_each(void (*func)(struct stape_session *session), bool wait)
{
	struct stape_session *session;
	u32 id = 0;

	while ((session = stape_session_find_after(id))) {
		id = session->entry.id;
		if (wait) {
			mutex_lock(&session->lock);
		} else if (!mutex_trylock(&session->lock)) {
			stape_session_put(session);
			continue;
		}
		if (!session->gone)
			func(session);
		stape_session_release(session);
	}
}

/**
 * stape_session_put() - drop the reference
 * @session: from stape_session_find()
 *
 * Context: any but interrupts.
 */
void stape_session_put(struct stape_session *session)
{
	kref_put(&session->entry.ref, stape_session_free);
}

/**
 * stape_session_release() - drop the lock and the reference
 * @session: from stape_session_acquire()
 *
 * Context: any in which a mutex may be unlocked.
 */
void stape_session_release(struct stape_session *session)
{
	mutex_unlock(&session->lock);
	stape_session_put(session);
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
