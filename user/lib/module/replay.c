// SPDX-License-Identifier: LGPL-2.1-or-later
#include "module/replay.h"

#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>

#include "base/error.h"
#include "module/versions.h"

int schedtape_replay_create(struct schedtape_session *session, uint32_t players,
			    uint32_t tasks, const uint32_t *edges, const uint32_t *wakers,
			    uint32_t nr_edges, bool rounds, int *fd, uint32_t *id,
			    struct schedtape_error *err)
{
	struct stape_replay_setup setup = {
		.nr_players = players,
		.nr_edges = nr_edges,
		.edges = (uintptr_t)edges,
		.wakers = (uintptr_t)wakers,
		.flags = rounds ? STAPE_REPLAY_ROUNDS : 0,
		/* Always, because an older module does not know the wakers of waits either. */
		.turns = tasks,
	};

	if (ioctl(schedtape_session_fd(session), STAPE_IOC_REPLAY, &setup)) {
		/* An older module knows only a shorter struct. */
		if (errno == ENOTTY || errno == E2BIG)
			return schedtape_fail(err, -EPROTO, VERSIONS_OLD_MODULE);
		if (errno == EPERM)
			return schedtape_fail(err, -ECANCELED, VERSIONS_STOP_ALL);
		return schedtape_fail(err, -errno, "/dev/schedtape: replay of %u tasks: %s",
				      tasks, strerror(errno));
	}
	*fd = setup.fd;
	*id = setup.id;
	return 0;
}

int schedtape_replay_rewind(struct schedtape_session *session, struct schedtape_error *err)
{
	if (ioctl(schedtape_session_fd(session), STAPE_IOC_REWIND))
		return schedtape_fail(err, -errno, "/dev/schedtape: next round of the replay: %s",
				      strerror(errno));
	return 0;
}
