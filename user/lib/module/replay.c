// SPDX-License-Identifier: LGPL-2.1-or-later
#include "module/replay.h"

#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include "base/error.h"
#include "module/versions.h"

int schedtape_replay_create(struct schedtape_session *session, uint32_t players,
			    const uint32_t *edges, const uint32_t *wakers, uint32_t nr_edges,
			    bool rounds, int *fd, uint32_t *id, struct schedtape_error *err)
{
	struct stape_replay_setup setup = {
		.nr_players = players,
		.nr_edges = nr_edges,
		.edges = (uintptr_t)edges,
		.wakers = (uintptr_t)wakers,
		.flags = rounds ? STAPE_REPLAY_ROUNDS : 0,
	};

	if (ioctl(schedtape_session_fd(session), STAPE_IOC_REPLAY, &setup)) {
		/* A module of before STAPE_REPLAY_ROUNDS knows only a shorter struct. */
		if (errno == ENOTTY)
			return schedtape_fail(err, -EPROTO, VERSIONS_OLD_MODULE);
		if (errno == EPERM)
			return schedtape_fail(err, -ECANCELED, VERSIONS_STOP_ALL);
		return schedtape_fail(err, -errno, "/dev/schedtape: replay of %u tasks: %s",
				      players, strerror(errno));
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

/* The mapping has a word for each player, and the speed. */
static size_t clocks_bytes(uint32_t players)
{
	return (players + 1ULL) * sizeof(uint64_t);
}

const volatile uint64_t *schedtape_replay_clocks(int fd, uint32_t players,
						 struct schedtape_error *err)
{
	void *clocks = mmap(NULL, clocks_bytes(players), PROT_READ, MAP_SHARED, fd, 0);

	if (clocks == MAP_FAILED) {
		schedtape_fail(err, -errno, "mapping the players' clocks: %s", strerror(errno));
		return NULL;
	}
	return clocks;
}

void schedtape_replay_unmap(const volatile uint64_t *clocks, uint32_t players)
{
	if (clocks)
		munmap((void *)clocks, clocks_bytes(players));
}
