// SPDX-License-Identifier: GPL-2.0-only
/*
 * The parameter stop_all.  With it an administrator stops the sessions and replays of all users.
 * None may start until the parameter is N again, so all probes are off.
 */
#include "base/registry.h"

#include <linux/kstrtox.h>
#include <linux/moduleparam.h>

#include "record/sessions.h"
#include "replay/replay.h"

static void stape_stop_all_session(struct stape_session *session)
{
	stape_session_stop_by(session, STAPE_STOPPED_BY_ADMIN);
}

static void stape_stop_all_replays(void)
{
	struct stape_replay *replay;
	u32 id = 0;

	while ((replay = stape_replay_find_after(id))) {
		id = replay->entry.id;
		stape_replay_stop(replay, STAPE_STOPPED_BY_ADMIN, NULL);
		stape_replay_put(replay);
	}
}

static int stape_stop_all_set(const char *value, const struct kernel_param *param)
{
	bool on;
	int ret;

	ret = kstrtobool(value, &on);
	if (ret)
		return ret;
	WRITE_ONCE(stape_stop_all, on);
	if (!on)
		return 0;
	/* Set before the search; pairs with the barrier in stape_replay_alloc(). */
	smp_mb();
	/* A request may hold the lock of its session for long: all others end first. */
	stape_session_each(stape_stop_all_session, false);
	stape_stop_all_replays();
	stape_session_each(stape_stop_all_session, true);
	return 0;
}

static const struct kernel_param_ops stape_stop_all_ops = {
	.set = stape_stop_all_set,
	.get = param_get_bool,
};

module_param_cb(stop_all, &stape_stop_all_ops, &stape_stop_all, 0644);
MODULE_PARM_DESC(stop_all, "Y: all recordings and replays stop, and none may start (N)");
