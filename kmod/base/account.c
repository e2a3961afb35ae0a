// SPDX-License-Identifier: GPL-2.0-only
/*
 * Limits of users: how many sessions they have, and how much memory in sessions and replays.  Each
 * session costs every task that it records a few instructions an event, and its memory belongs to
 * no process that the OOM killer could choose.  The model is the memory of perf's buffers
 * (locked_vm of kernel/events/core.c): a limit for each user, and one for all.
 */
#include "base/account.h"

#include <linux/err.h>
#include <linux/list.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/moduleparam.h>
#include <linux/netlink.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

static unsigned int stape_sessions_max = STAPE_ACCOUNT_SESSIONS_MAX;
module_param_named(sessions_max, stape_sessions_max, uint, 0644);
MODULE_PARM_DESC(sessions_max, "sessions of all users (at most 30)");

static unsigned int stape_sessions_reserved = 4;
module_param_named(sessions_reserved, stape_sessions_reserved, uint, 0644);
MODULE_PARM_DESC(sessions_reserved, "those of sessions_max that need CAP_SYS_ADMIN (4)");

static unsigned int stape_user_sessions_max = 8;
module_param_named(user_sessions_max, stape_user_sessions_max, uint, 0644);
MODULE_PARM_DESC(user_sessions_max, "sessions of a user without CAP_SYS_RESOURCE (8)");

static unsigned int stape_memory_max_mb;
module_param_named(memory_max, stape_memory_max_mb, uint, 0644);
MODULE_PARM_DESC(memory_max,
		 "MB in the sessions and replays of all users; 0: a quarter of the memory");

static unsigned int stape_user_memory_max_mb;
module_param_named(user_memory_max, stape_user_memory_max_mb, uint, 0644);
MODULE_PARM_DESC(user_memory_max,
		 "MB in the sessions and replays of a user; 0: a quarter of memory_max");

/* Protects the accounts and the sums.  Held for a few loads and stores only. */
static DEFINE_SPINLOCK(stape_accounts_lock);
static LIST_HEAD(stape_accounts);
static u32 stape_accounts_sessions;
static u64 stape_accounts_memory;

static u64 stape_memory_max(void)
{
	u64 mb = READ_ONCE(stape_memory_max_mb);

	return mb ? mb << 20 : (u64)totalram_pages() * PAGE_SIZE / 4;
}

static u64 stape_user_memory_max(void)
{
	u64 mb = READ_ONCE(stape_user_memory_max_mb);

	return mb ? mb << 20 : stape_memory_max() / 4;
}

static u32 stape_sessions_limit(void)
{
	return min_t(u32, READ_ONCE(stape_sessions_max), STAPE_ACCOUNT_SESSIONS_MAX);
}

static struct stape_account *stape_account_find(kuid_t uid)
{
	struct stape_account *account;

	lockdep_assert_held(&stape_accounts_lock);
	list_for_each_entry(account, &stape_accounts, list)
		if (uid_eq(account->uid, uid))
			return account;
	return NULL;
}

/**
 * stape_account_get() - get a user's account
 * @uid: the user
 *
 * Context: may sleep.
 * Return: the account, for stape_account_put(); or NULL: no memory.
 */
struct stape_account *stape_account_get(kuid_t uid)
{
	struct stape_account *account, *new;

	new = kzalloc(sizeof(*new), GFP_KERNEL_ACCOUNT);
	if (!new)
		return NULL;
	new->uid = uid;
	spin_lock(&stape_accounts_lock);
	account = stape_account_find(uid);
	if (!account) {
		list_add(&new->list, &stape_accounts);
		account = new;
		new = NULL;
	}
	account->users++;
	spin_unlock(&stape_accounts_lock);
	kfree(new);
	return account;
}

/**
 * stape_account_ref() - refer to an account once more
 * @account: one that the caller refers to
 *
 * Context: any but interrupts.
 * Return: @account.
 */
struct stape_account *stape_account_ref(struct stape_account *account)
{
	spin_lock(&stape_accounts_lock);
	account->users++;
	spin_unlock(&stape_accounts_lock);
	return account;
}

/**
 * stape_account_put() - drop a reference
 * @account: freed with the last one
 *
 * Context: any but interrupts.
 */
void stape_account_put(struct stape_account *account)
{
	bool last;

	spin_lock(&stape_accounts_lock);
	last = !--account->users;
	if (last) {
		WARN_ON_ONCE(account->sessions || account->memory);
		list_del(&account->list);
	}
	spin_unlock(&stape_accounts_lock);
	if (last)
		kfree(account);
}

/**
 * stape_account_add_session() - count a session that is about to get rings
 * @account: its user's
 * @powers: STAPE_ACCOUNT_ADMIN, STAPE_ACCOUNT_EXEMPT
 * @extack: returned: which limit it is, if this fails
 *
 * Context: any but interrupts.
 * Return: 0 or -EUSERS.
 */
int stape_account_add_session(struct stape_account *account, u32 powers,
			      struct netlink_ext_ack *extack)
{
	u32 max = stape_sessions_limit();
	int ret = -EUSERS;

	spin_lock(&stape_accounts_lock);
	if (stape_accounts_sessions >= max) {
		NL_SET_ERR_MSG(extack, "all sessions are in use (parameter sessions_max)");
	} else if (!(powers & STAPE_ACCOUNT_ADMIN) &&
		   stape_accounts_sessions + READ_ONCE(stape_sessions_reserved) >= max) {
		NL_SET_ERR_MSG(extack,
			       "the rest is for CAP_SYS_ADMIN (parameter sessions_reserved)");
	} else if (!(powers & STAPE_ACCOUNT_EXEMPT) &&
		   account->sessions >= READ_ONCE(stape_user_sessions_max)) {
		NL_SET_ERR_MSG(extack,
			       "the user has no session left (parameter user_sessions_max)");
	} else {
		account->sessions++;
		stape_accounts_sessions++;
		ret = 0;
	}
	spin_unlock(&stape_accounts_lock);
	return ret;
}

/**
 * stape_account_remove_session() - undo stape_account_add_session()
 * @account: the user's
 *
 * Context: any but interrupts.
 */
void stape_account_remove_session(struct stape_account *account)
{
	spin_lock(&stape_accounts_lock);
	account->sessions--;
	stape_accounts_sessions--;
	spin_unlock(&stape_accounts_lock);
}

/**
 * stape_account_charge() - count memory that is about to be allocated
 * @account: its user's
 * @bytes: how much
 * @powers: STAPE_ACCOUNT_EXEMPT: above the limits, too
 * @extack: returned: which limit it is, if this fails; may be NULL
 *
 * Context: any but interrupts.
 * Return: 0 or -ENOMEM.
 */
int stape_account_charge(struct stape_account *account, u64 bytes, u32 powers,
			 struct netlink_ext_ack *extack)
{
	u64 max = stape_memory_max(), user_max = stape_user_memory_max();
	bool exempt = powers & STAPE_ACCOUNT_EXEMPT;
	int ret = -ENOMEM;

	spin_lock(&stape_accounts_lock);
	if (!exempt && account->memory + bytes > user_max) {
		NL_SET_ERR_MSG(extack, "above a user's memory limit (parameter user_memory_max)");
	} else if (!exempt && stape_accounts_memory + bytes > max) {
		NL_SET_ERR_MSG(extack, "above the limit of all users (parameter memory_max)");
	} else {
		account->memory += bytes;
		stape_accounts_memory += bytes;
		ret = 0;
	}
	spin_unlock(&stape_accounts_lock);
	return ret;
}

/**
 * stape_account_uncharge() - undo stape_account_charge()
 * @account: the user's
 * @bytes: how much has been freed
 *
 * Context: any but interrupts.
 */
void stape_account_uncharge(struct stape_account *account, u64 bytes)
{
	spin_lock(&stape_accounts_lock);
	account->memory -= bytes;
	stape_accounts_memory -= bytes;
	spin_unlock(&stape_accounts_lock);
}

/**
 * stape_account_read_limits() - get the limits, and what all users have
 * @limits: to be filled
 *
 * Context: any but interrupts.
 */
void stape_account_read_limits(struct stape_account_limits *limits)
{
	limits->sessions_max = stape_sessions_limit();
	limits->user_sessions_max = READ_ONCE(stape_user_sessions_max);
	limits->memory_max = stape_memory_max();
	limits->user_memory_max = stape_user_memory_max();
	spin_lock(&stape_accounts_lock);
	limits->sessions = stape_accounts_sessions;
	limits->memory = stape_accounts_memory;
	spin_unlock(&stape_accounts_lock);
}

/**
 * stape_account_read_user() - get what a user has
 * @uid: the user
 * @sessions: returned: sessions with rings
 * @memory: returned: bytes in sessions and replays
 *
 * Context: any but interrupts.
 */
void stape_account_read_user(kuid_t uid, u32 *sessions, u64 *memory)
{
	struct stape_account *account;

	spin_lock(&stape_accounts_lock);
	account = stape_account_find(uid);
	*sessions = account ? account->sessions : 0;
	*memory = account ? account->memory : 0;
	spin_unlock(&stape_accounts_lock);
}
