/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libschedtape-client, the module's client: hides the netlink family and the device behind
 * functions.  schedtape.h has the rules of both libraries.
 */
#ifndef SCHEDTAPE_CLIENT_H
#define SCHEDTAPE_CLIENT_H

#include <schedtape.h>

#ifdef __cplusplus
extern "C" {
#endif

struct schedtape_client;

/*
 * -- states -------------------------------------------------------------------
 *
 * Each begins with its size: that of the caller where the caller lends the struct, and that of the
 * library in a callback.
 */

struct schedtape_module_info {
	size_t size;
	char version[32];
	char preempt[16];
	char missing[1024];	/* a line for each thing that the kernel lacks; "": nothing */
	uint32_t wire_version;
	uint32_t page_size;
	uint32_t cpus;
	uint32_t ring_pages_max;
	uint32_t sessions;
	uint32_t replays;
	uint32_t hz;
	uint32_t counter_khz;	/* 0: there is no STAPE_CLOCK_COUNTER */
	uint32_t sessions_used;	/* with rings, of all users */
	uint32_t sessions_max;
	uint32_t user_sessions;	/* of the caller's user */
	uint32_t user_sessions_max;
	uint64_t memory;	/* bytes of all users' sessions and replays */
	uint64_t memory_max;
	uint64_t user_memory;	/* of the caller's user */
	uint64_t user_memory_max;
	uint64_t missed_calls;	/* of probed functions: their changes were not recorded */
	bool stop_all;		/* an administrator lets nothing start */
	uint32_t throttling;	/* enum stape_throttling */
};

struct schedtape_session_state {
	size_t size;
	uint32_t id;
	uint32_t state;		/* enum stape_session_state */
	uint32_t owner;
	uint32_t ring_pages;
	uint32_t watermark;
	uint32_t tasks;
	uint32_t clock;		/* enum stape_clock */
	uint32_t cpus;		/* that have a ring */
	bool overwrite;
	uint64_t events;
	uint64_t lost;
	uint64_t overwritten;	/* events */
	uint64_t start_time;	/* ns of CLOCK_MONOTONIC */
	uint64_t stop_time;
	uint64_t memory;	/* bytes */
	uint32_t uid;		/* the user who opened it */
	uint32_t unused;	/* so that no later field lies in what was padding */
	uint64_t missed_calls;	/* of probed functions, while it recorded */
	uint32_t stopped_by;	/* enum stape_stopped_by */
	uint32_t unused2;	/* as above */
	bool syscalls;		/* switches name system calls */
	bool unused3[7];	/* as above */
	uint32_t owner_vpid;	/* @owner in the caller's PID namespace; 0: none, or ended */
	uint32_t unused4;	/* as above */
	uint64_t missed_waits;	/* whose beginning triggers missed: too many tasks, or no memory */
};

/* A trigger of a session, or that it has fired; 0 if that is not known. */
struct schedtape_trigger_state {
	size_t size;
	uint32_t session;
	uint32_t number;	/* from 0, in the order of the options */
	uint32_t kind;		/* enum stape_trigger_kind */
	uint32_t pid;		/* for which it fires; in a notification: has fired, 0: all tasks */
	uint64_t limit;		/* ns, or wake-ups a second */
	uint64_t fired;		/* schedtape_session_triggers(): how often */
	uint64_t value;		/* notification: ns, or wake-ups in a second */
	uint64_t time;		/* notification: ns of CLOCK_MONOTONIC */
	uint32_t cpu;		/* notification: the task's */
	bool lasts;		/* notification: the wait or run has not ended */
	bool unused[3];
	const char *comm;	/* schedtape_session_triggers(): as it was set; valid in the call */
};

struct schedtape_replay_state {
	size_t size;
	uint32_t id;
	uint32_t state;		/* enum stape_replay_state */
	uint32_t players;
	uint32_t joined;
	uint32_t waiting;
	uint32_t done;
	uint32_t failed_pid;
	uint32_t speed;		/* of STAPE_REPLAY_SPEED_ONE */
	uint64_t time;		/* ns of its own time */
	uint64_t steps;
	uint64_t timed_waits;
	uint64_t lag_max;
	uint64_t lag_total;
	uint64_t start_time;
	uint64_t stop_time;
	uint64_t memory;	/* bytes */
	uint32_t uid;		/* the user who made it */
	uint32_t unused;	/* so that no later field lies in what was padding */
	uint32_t stopped_by;	/* enum stape_stopped_by */
};

struct schedtape_player_state {
	size_t size;
	uint32_t number;
	uint32_t pid;
	uint32_t state;		/* enum stape_player_state */
	uint32_t edge;		/* with STAPE_PLAYER_EDGE */
	uint64_t steps;
	uint64_t cpu_time;	/* ns, up to its last switch-out */
	uint64_t timed_waits;
	uint64_t lag_total;
	uint64_t lag_max;
	uint32_t vpid;		/* @pid in the caller's PID namespace; 0: none */
	uint32_t unused;	/* so that no later field lies in what was padding */
	uint32_t turn;		/* how many players with @number have ended */
};

/* -- the module ------------------------------------------------------------ */

/* Connects.  -ENOENT: the module is not loaded; -EPERM: the caller lacks the right. */
int schedtape_client_open(struct schedtape_client **client, struct schedtape_error *err);
void schedtape_client_close(struct schedtape_client *client);
int schedtape_client_info(struct schedtape_client *client, struct schedtape_module_info *info,
			  struct schedtape_error *err);

/*
 * These call @each for every session or replay, until @each returns a value other than 0.  A
 * caller without CAP_SYS_ADMIN gets those of its user.
 */
int schedtape_client_sessions(struct schedtape_client *client,
			      int (*each)(const struct schedtape_session_state *state, void *arg),
			      void *arg, struct schedtape_error *err);
int schedtape_client_replays(struct schedtape_client *client,
			     int (*each)(const struct schedtape_replay_state *state, void *arg),
			     void *arg, struct schedtape_error *err);

/*
 * schedtape_client_monitor() returns a descriptor to poll for notifications of @replay, or, with
 * 0, of all users' replays, for which the caller needs CAP_SYS_ADMIN.  A client has one
 * descriptor; later calls return it.  schedtape_client_monitor_read() calls @each for those that
 * have arrived, and does not block.
 */
int schedtape_client_monitor(struct schedtape_client *client, uint32_t replay,
			     struct schedtape_error *err);
int schedtape_client_monitor_read(struct schedtape_client *client,
				  int (*each)(const struct schedtape_replay_state *state,
					      void *arg),
				  void *arg, struct schedtape_error *err);

/*
 * -- sessions: /dev/schedtape ----------------------------------------------
 *
 * A recording takes these calls, in this order:
 *
 *	schedtape_session_open(), schedtape_session_set()
 *	schedtape_filter_set() for all tasks, or schedtape_filter_add() for some
 *	schedtape_session_start(), and later schedtape_session_stop()
 *	schedtape_session_pages() and _consume() for each CPU, meanwhile or afterwards
 *	schedtape_session_close()
 *
 * schedtape_page_open() and schedtape_page_next() of libschedtape read the events of a page.  A
 * process that ends closes its sessions.
 */

struct schedtape_session;

/* Opens a session without rings.  The client must stay open as long as the session. */
int schedtape_session_open(struct schedtape_client *client, struct schedtape_session **session,
			   struct schedtape_error *err);
/* Ends the recording, and unmaps the rings: their pages are gone. */
void schedtape_session_close(struct schedtape_session *session);
/* Returns a descriptor to poll(): readable if a ring has @watermark pages, or the session stops. */
int schedtape_session_fd(const struct schedtape_session *session);
/* Returns the number by which schedtape_filter_add() and schedtape(1) know the session. */
uint32_t schedtape_session_id(const struct schedtape_session *session);

/**
 * struct schedtape_trigger - when a session's monitor is notified
 * @kind: enum stape_trigger_kind
 * @pid: only for this process or thread; 0: for all tasks of the session
 * @limit: ns; of STAPE_TRIGGER_RATE: wake-ups a second
 * @comm: only for tasks with a name that this pattern matches; NULL: for all
 */
struct schedtape_trigger {
	uint32_t kind;
	uint32_t pid;
	uint64_t limit;
	const char *comm;
};

/**
 * struct schedtape_session_options - see session-set in schedtape/netlink.h
 * @size: sizeof this struct
 * @ring_bytes: size of each CPU's ring, rounded up to a power of two of pages; 0: the smallest, 16
 *	KB, which a busy CPU fills in some milliseconds (about 8 bytes an event)
 * @watermark: pages before a reader is woken; 0: a quarter of the ring
 * @clock: enum stape_clock
 * @overwrite: full rings keep the newest events
 * @cpus: bit n%8 of byte n/8: CPU n; NULL: all
 * @cpus_bytes: size of @cpus
 * @syscalls: switches name the system call that a task sleeps in
 * @reserved: false
 * @triggers: at most STAPE_TRIGGERS_MAX
 * @nr_triggers: entries of @triggers
 */
struct schedtape_session_options {
	size_t size;
	uint64_t ring_bytes;
	uint32_t watermark;
	uint32_t clock;
	bool overwrite;
	const unsigned char *cpus;
	size_t cpus_bytes;
	bool syscalls;
	bool reserved[7];
	const struct schedtape_trigger *triggers;
	size_t nr_triggers;
};

/* Makes the rings and maps them.  May be called once for a session. */
int schedtape_session_set(struct schedtape_session *session,
			  const struct schedtape_session_options *options,
			  struct schedtape_error *err);
/* Starts recording, or continues it after a pause. */
int schedtape_session_start(struct schedtape_session *session, struct schedtape_error *err);
int schedtape_session_pause(struct schedtape_session *session, struct schedtape_error *err);
/*
 * Writes on the tape that the interval @number, from 1, ends now.  @time: receives when, ns of
 * CLOCK_MONOTONIC.  -EINVAL: the session does not record; -EAGAIN: the machine is about to sleep;
 * -ENOSPC: the mark is lost, because the descriptions are not read fast enough.
 */
int schedtape_session_mark(struct schedtape_session *session, uint64_t number, uint64_t *time,
			   struct schedtape_error *err);
/* Ends the recording, and publishes pages that are not full.  The rings stay until _close(). */
int schedtape_session_stop(struct schedtape_session *session, struct schedtape_error *err);
int schedtape_session_get(struct schedtape_session *session,
			  struct schedtape_session_state *state, struct schedtape_error *err);
/*
 * schedtape_session_monitor() returns a descriptor to poll for notifications of the session, those
 * of its triggers among them, or -errno.  To be called after schedtape_session_set().  A session
 * has one descriptor; later calls return it.  schedtape_session_monitor_read() calls @each for each
 * trigger that has fired since, and does not block.
 */
int schedtape_session_monitor(struct schedtape_session *session, struct schedtape_error *err);
int schedtape_session_monitor_read(struct schedtape_session *session,
				   int (*each)(const struct schedtape_trigger_state *state,
					       void *arg),
				   void *arg, struct schedtape_error *err);
/* Calls @each for each trigger, until @each returns a value other than 0. */
int schedtape_session_triggers(struct schedtape_session *session,
			       int (*each)(const struct schedtape_trigger_state *state, void *arg),
			       void *arg, struct schedtape_error *err);
/* Publishes the events of pages that are not full yet. */
int schedtape_session_flush(struct schedtape_session *session, struct schedtape_error *err);
/* Reads the session's clock and the other clocks of a sample. */
int schedtape_session_clock(struct schedtape_session *session,
			    struct stape_clock_sample *sample, struct schedtape_error *err);
/*
 * Returns a descriptor to poll() for the rings of these CPUs only, or -errno.  To be
 * called before the session starts.  @cpus: bit n%8 of byte n/8: CPU n; bit
 * schedtape_session_cpus(): the descriptions.
 */
int schedtape_session_stream(struct schedtape_session *session, const unsigned char *cpus,
			     size_t bytes, struct schedtape_error *err);
/* Adds processes to the filter: the simple case of schedtape_filter_add(). */
int schedtape_session_add(struct schedtape_session *session, const uint32_t *pids, size_t n,
			  struct schedtape_error *err);
/* Gets the live tasks of the filter.  The caller frees *tasks, one block with all data. */
int schedtape_session_tasks(struct schedtape_session *session, struct schedtape_task_info **tasks,
			    size_t *n, struct schedtape_error *err);
/* Returns how many CPUs the machine may have: their numbers are below that. */
uint32_t schedtape_session_cpus(const struct schedtape_session *session);
uint32_t schedtape_session_ring_pages(const struct schedtape_session *session);
/*
 * Each CPU that the session records has a ring.  Behind @cpu STAPE_CPU_NONE is one more, with the
 * descriptions of tasks from all CPUs.  A program that does not read that knows no task's name,
 * fork or exit.  In overwrite mode it must be read while the session records, because it keeps
 * the oldest events.
 */
/*
 * Gets published pages of @cpu that are adjacent in memory, at most @max, the oldest first.  They
 * stay unchanged until schedtape_session_consume().  Returns their number, which is 0 if no page
 * has been published since, or if @cpu has no ring.  There may be more behind the last one: consume
 * these, and call again until it returns 0.  In overwrite mode it is for a session that has
 * stopped.
 */
size_t schedtape_session_pages(struct schedtape_session *session, uint32_t cpu, size_t max,
			       const void **pages);
void schedtape_session_consume(struct schedtape_session *session, uint32_t cpu, size_t pages);
/*
 * In overwrite mode, while the session records: copies published pages of @cpu, at most @max, from
 * number *@seq on.  If that has been overwritten, *@seq becomes the number of the oldest page that
 * is left.  Returns how many pages are in @pages, 0: there is none yet.  They are whole, even if
 * the session overwrites them meanwhile.
 */
size_t schedtape_session_copy(struct schedtape_session *session, uint32_t cpu, uint64_t *seq,
			      size_t max, void *pages);
/* Returns how many pages of @cpu were published: their numbers are below that. */
uint64_t schedtape_session_published(struct schedtape_session *session, uint32_t cpu);
/* Gets the statistics of a CPU's ring.  Returns false if the CPU has no ring. */
bool schedtape_session_cpu(struct schedtape_session *session, uint32_t cpu,
			   struct schedtape_cpu *stats);

/* -- filters --------------------------------------------------------------- */

/**
 * struct schedtape_cgroup - a cgroup of version 2
 * @id: the kernel's id
 * @path: below the root of the hierarchy, "/a/b"; NULL: not known
 */
struct schedtape_cgroup {
	uint64_t id;
	char *path;
};

/**
 * struct schedtape_filter - what a session records, see schedtape/netlink.h
 * @size: sizeof this struct
 * @pids: processes, with all their threads
 * @tids: single threads
 * @exclude_comm: patterns of names that the filter excludes; the caller frees them
 * @all: every user task
 * @kthreads: the filter may have kernel threads, too
 * @no_inherit: a task's children are not added
 * @reserved: false
 * @follow: for each of @cgroups: when it has been removed, and another one is made with the same
 *	path, that takes its place; NULL: none is followed
 */
struct schedtape_filter {
	size_t size;
	uint32_t *pids;
	size_t nr_pids;
	uint32_t *tids;
	size_t nr_tids;
	struct schedtape_cgroup *cgroups;
	size_t nr_cgroups;
	const char **exclude_comm;
	size_t nr_exclude_comm;
	bool all;
	bool kthreads;
	bool no_inherit;
	bool reserved[5];
	bool *follow;
};

/* These take a session by its id, because it may belong to another process. */

/* Sets the flags and patterns, in place of those that were set. */
int schedtape_filter_set(struct schedtape_client *client, uint32_t session,
			 const struct schedtape_filter *filter, struct schedtape_error *err);
/* Adds processes, threads and cgroups, one by one; the error names the one that failed. */
int schedtape_filter_add(struct schedtape_client *client, uint32_t session,
			 const struct schedtape_filter *filter, struct schedtape_error *err);
int schedtape_filter_del(struct schedtape_client *client, uint32_t session,
			 const struct schedtape_filter *filter, struct schedtape_error *err);
/*
 * Finds a cgroup.
 * @name: a path, absolute or below the mount point of the cgroup2 hierarchy, or a
 * number ("id:N" or "N").  The caller frees cgroup->path.
 */
int schedtape_cgroup_find(const char *name, struct schedtape_cgroup *cgroup,
			  struct schedtape_error *err);

/* -- replays --------------------------------------------------------------- */

int schedtape_replay_start(struct schedtape_client *client, uint32_t id, uint64_t delay,
			   struct schedtape_error *err);
/* @speed: of STAPE_REPLAY_SPEED_ONE. */
int schedtape_replay_set_speed(struct schedtape_client *client, uint32_t id, uint32_t speed,
			       struct schedtape_error *err);
/* Pauses the replay until schedtape_replay_start(). */
int schedtape_replay_pause(struct schedtape_client *client, uint32_t id,
			   struct schedtape_error *err);
/* Calls @each for every player that plays now, until @each returns a value other than 0. */
int schedtape_replay_players(struct schedtape_client *client, uint32_t id,
			     int (*each)(const struct schedtape_player_state *state, void *arg),
			     void *arg, struct schedtape_error *err);
int schedtape_replay_stop(struct schedtape_client *client, uint32_t id,
			  struct schedtape_error *err);
int schedtape_replay_get(struct schedtape_client *client, uint32_t id,
			 struct schedtape_replay_state *state, struct schedtape_error *err);

#ifdef __cplusplus
}
#endif

#endif /* SCHEDTAPE_CLIENT_H */
