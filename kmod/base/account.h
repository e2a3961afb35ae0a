/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _STAPE_ACCOUNT_H
#define _STAPE_ACCOUNT_H

#include <linux/bits.h>
#include <linux/list.h>
#include <linux/types.h>
#include <linux/uidgid.h>

struct netlink_ext_ack;

/* No more sessions may record at a time: see STAPE_FILTER_NUMBERS. */
#define STAPE_ACCOUNT_SESSIONS_MAX	30

/* Powers of a caller: what its capabilities let it do. */
#define STAPE_ACCOUNT_ADMIN	BIT(0)	/* CAP_SYS_ADMIN: the reserved sessions */
#define STAPE_ACCOUNT_EXEMPT	BIT(1)	/* CAP_SYS_RESOURCE: above the limits of users and memory */

/**
 * struct stape_account - what a user's sessions and replays take
 * @list: entry in the list of all accounts
 * @users: sessions and replays that refer to it
 * @uid: the user
 * @sessions: sessions with rings
 * @memory: bytes that they and the replays have
 *
 * All fields but @uid are protected by a lock in account.c.
 */
struct stape_account {
	struct list_head list;
	unsigned int users;
	kuid_t uid;
	u32 sessions;
	u64 memory;
};

/**
 * struct stape_account_limits - what there is, and what there may be
 * @sessions: sessions with rings, of all users
 * @sessions_max: the most of them
 * @user_sessions_max: the most of one user
 * @memory: bytes of all users' sessions and replays
 * @memory_max: the most of them
 * @user_memory_max: the most of one user
 */
struct stape_account_limits {
	u32 sessions;
	u32 sessions_max;
	u32 user_sessions_max;
	u64 memory;
	u64 memory_max;
	u64 user_memory_max;
};

struct stape_account *stape_account_get(kuid_t uid);
struct stape_account *stape_account_ref(struct stape_account *account);
void stape_account_put(struct stape_account *account);
int stape_account_add_session(struct stape_account *account, u32 powers,
			      struct netlink_ext_ack *extack);
void stape_account_remove_session(struct stape_account *account);
int stape_account_charge(struct stape_account *account, u64 bytes, u32 powers,
			 struct netlink_ext_ack *extack);
void stape_account_uncharge(struct stape_account *account, u64 bytes);
void stape_account_read_limits(struct stape_account_limits *limits);
void stape_account_read_user(kuid_t uid, u32 *sessions, u64 *memory);

#endif /* _STAPE_ACCOUNT_H */
