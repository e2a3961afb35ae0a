/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The sessions of a replay: players share an autogroup if their tasks did.  The kernel makes an
 * autogroup for each session (setsid()), and a process can be in a session only by its birth.  So
 * a process holds each session that no player makes, and starts the players there.
 */
#ifndef SCHEDTAPE_SESSIONS_H
#define SCHEDTAPE_SESSIONS_H

#include "player/player.h"

/**
 * struct session - a session
 * @autogroup: the recorded one, PID of the recorded session
 * @pid: the process that holds it
 * @fd: a socket to that
 */
struct session {
	uint32_t autogroup;
	pid_t pid;
	int fd;
};

/**
 * struct sessions - those of a replay
 * @list: @n of them
 */
struct sessions {
	struct session *list;
	size_t n;
	size_t capacity;
};

/* Returns why this process is in no autogroup, so that players would be in none; NULL: it is. */
const char *sessions_lack(void);

/*
 * Starts the process of a root of the program in its session.  It becomes a child of this process,
 * which has to be a subreaper.  Returns its PID or -errno.
 */
pid_t sessions_spawn(struct sessions *sessions, const struct player_cast *cast, uint32_t number);
/* Ends the processes that hold sessions. */
void sessions_end(struct sessions *sessions);

#endif /* SCHEDTAPE_SESSIONS_H */
