/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The module's client: netlink family and device behind plain functions.
 * Nothing above this knows of either.
 */
#ifndef SCHEDTAPE_CLIENT_H
#define SCHEDTAPE_CLIENT_H

#include "schedtape.h"

struct schedtape_client;

struct schedtape_module_info {
	char version[32];
	char preempt[16];
	uint32_t wire_version;
	uint32_t page_size;
	uint32_t cpus;
	uint32_t ring_pages_max;
	uint32_t sessions;
	uint32_t replays;
	uint32_t hz;
};

struct schedtape_session_state {
	uint32_t id;
	uint32_t state;		/* enum stape_session_state */
	uint32_t owner;
	uint32_t ring_pages;
	uint32_t watermark;
	uint32_t tasks;
	uint64_t events;
	uint64_t lost;
	uint64_t start_time;
	uint64_t stop_time;
};

struct schedtape_replay_state {
	uint32_t id;
	uint32_t state;		/* enum stape_replay_state */
	uint32_t players;
	uint32_t joined;
	uint32_t waiting;
	uint32_t done;
	uint32_t failed_pid;
	uint64_t steps;
	uint64_t timed_waits;
	uint64_t lag_max;
	uint64_t lag_total;
	uint64_t start_time;
	uint64_t stop_time;
};

/* Connects.  -ENOENT: the module is not loaded; -EPERM: may not. */
int schedtape_client_open(struct schedtape_client **client, struct schedtape_error *err);
void schedtape_client_close(struct schedtape_client *client);
int schedtape_client_info(struct schedtape_client *client, struct schedtape_module_info *info,
			  struct schedtape_error *err);

/* Both call @each for every one there is, until it returns something but 0. */
int schedtape_client_sessions(struct schedtape_client *client,
			      int (*each)(const struct schedtape_session_state *state, void *arg),
			      void *arg, struct schedtape_error *err);
int schedtape_client_replays(struct schedtape_client *client,
			     int (*each)(const struct schedtape_replay_state *state, void *arg),
			     void *arg, struct schedtape_error *err);

/*
 * A descriptor to poll for replay notifications, and their reader: it calls
 * @each for those that are there, and does not block.
 */
int schedtape_client_monitor(struct schedtape_client *client, struct schedtape_error *err);
int schedtape_client_monitor_read(struct schedtape_client *client,
				  int (*each)(const struct schedtape_replay_state *state,
					      void *arg),
				  void *arg, struct schedtape_error *err);

/* -- sessions: /dev/schedtape ---------------------------------------------- */

struct schedtape_session;

int schedtape_session_open(struct schedtape_client *client, struct schedtape_session **session,
			   struct schedtape_error *err);
void schedtape_session_close(struct schedtape_session *session);
int schedtape_session_fd(const struct schedtape_session *session);
uint32_t schedtape_session_id(const struct schedtape_session *session);
/* Makes rings of @bytes a CPU (rounded up to a power of two) and maps them. */
int schedtape_session_set(struct schedtape_session *session, uint64_t bytes,
			  struct schedtape_error *err);
int schedtape_session_start(struct schedtape_session *session, struct schedtape_error *err);
int schedtape_session_stop(struct schedtape_session *session, struct schedtape_error *err);
int schedtape_session_get(struct schedtape_session *session,
			  struct schedtape_session_state *state, struct schedtape_error *err);
/* Publishes what the rings hold in open pages. */
int schedtape_session_flush(struct schedtape_session *session, struct schedtape_error *err);
int schedtape_session_add(struct schedtape_session *session, const uint32_t *pids, size_t n,
			  struct schedtape_error *err);
/* The live tasks of the filter.  The caller frees *tasks, which holds it all. */
int schedtape_session_tasks(struct schedtape_session *session, struct schedtape_task **tasks,
			    size_t *n, struct schedtape_error *err);
uint32_t schedtape_session_cpus(const struct schedtape_session *session);
uint32_t schedtape_session_ring_pages(const struct schedtape_session *session);
/*
 * Pages of @cpu that wait and lie next to each other, at most @max.  They
 * stay as they are until schedtape_session_consume().
 */
size_t schedtape_session_pages(struct schedtape_session *session, uint32_t cpu, size_t max,
			       const void **pages);
void schedtape_session_consume(struct schedtape_session *session, uint32_t cpu, size_t pages);
/* False: there is no such CPU. */
bool schedtape_session_cpu(struct schedtape_session *session, uint32_t cpu,
			   struct schedtape_cpu *stats);

/* -- replays --------------------------------------------------------------- */

/* Makes the session's replay.  *fd: the players', *id: the replay's. */
int schedtape_replay_create(struct schedtape_session *session, uint32_t players,
			    const uint32_t *edges, uint32_t nr_edges, int *fd, uint32_t *id,
			    struct schedtape_error *err);
/* Maps the players' CPU clocks, for schedtape_burner_init().  NULL: see @err. */
const volatile uint64_t *schedtape_replay_clocks(int fd, uint32_t players,
						 struct schedtape_error *err);
void schedtape_replay_unmap(const volatile uint64_t *clocks, uint32_t players);
int schedtape_replay_start(struct schedtape_client *client, uint32_t id, uint64_t delay,
			   struct schedtape_error *err);
int schedtape_replay_stop(struct schedtape_client *client, uint32_t id,
			  struct schedtape_error *err);
int schedtape_replay_get(struct schedtape_client *client, uint32_t id,
			 struct schedtape_replay_state *state, struct schedtape_error *err);

#endif /* SCHEDTAPE_CLIENT_H */
