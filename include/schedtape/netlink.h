/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * Generic netlink family "schedtape": the control side.
 * Documentation/netlink/specs/schedtape.yaml describes the family; a test checks
 * that it agrees with this file.
 *
 * Every command needs CAP_PERFMON or CAP_SYS_ADMIN in the initial user
 * namespace, of the socket and of the sender.  Sessions and replays belong to
 * the user who opened the device: commands about another user's fail with EPERM,
 * and dumps leave them out, unless the sender has CAP_SYS_ADMIN.  PIDs are those of the sender's
 * PID namespace on the way in and of the initial one on the way out.  Where a task has another PID
 * in the receiver's namespace, a VPID has that.
 *
 *   info-get       the module: versions, limits
 *   session-get    one session by id, or a dump of all: settings, statistics
 *   session-set    ring size, watermark, clock, CPUs; makes the rings, once
 *   session-start  starts to record events of the filter's tasks, or resumes
 *                  after session-pause
 *   session-pause  records nothing until session-start
 *   session-stop   ends the recording; the pages in the rings stay readable
 *   session-mark   writes on the tape that an interval of a sample ends now, among
 *                  the descriptions; ENOSPC: their ring is full, the event is lost
 *   session-monitor  sends the session's notifications to this socket
 *   filter-set     rules besides the added tasks; replaces the earlier rules
 *   filter-add     adds processes, threads, cgroups to the filter, at any time;
 *                  at most STAPE_FILTER_OBJECTS_MAX in one request
 *   filter-del     removes processes, threads, cgroups from the filter; the limit
 *                  is the same
 *   task-get       dump: the tasks of a session's filter that are alive
 *   replay-get     one replay by id, or a dump of all: progress, lag
 *   replay-set     sets the speed of the replay's time, from now on
 *   replay-start   starts all players at the same time, or resumes after
 *                  replay-pause
 *   replay-pause   holds the replay's time and its players
 *   replay-stop    ends the replay, kills its players
 *   replay-monitor  sends the replay's notifications to this socket
 *   player-get     dump: the players that have joined and not ended
 *
 * The filter has a task if the task was added (by its process, as a thread, or by
 * inheritance from its parent), if its cgroup (version 2) or an ancestor of that
 * was added, or if filter-set has "all".  With "follow" in filter-add: when an
 * added cgroup has been removed, a new one with the same path takes its place.
 * The filter leaves out a kernel thread unless filter-set has "kthreads", a
 * task whose name matches an exclude-comm pattern, and the threads of the process
 * that opened the session.
 *
 * The module follows the forks and ends of a filter's tasks from filter-add on,
 * which needs the rings of session-set.  It writes events from session-start on.
 *
 * session-set may also give the session triggers.  A trigger fires for each wait
 * or run of a recorded task that is longer than its limit, see enum
 * stape_trigger_kind.  It fires when that ends, and once while it lasts: at most a
 * quarter of the limit and 10 ms late, but for a run on a CPU that is not recorded.
 * Only what comes after session-start, or after the last of them, counts.  For 10 ms
 * after it has fired, a trigger only counts further firings.  Otherwise there is an
 * event on the tape of the CPU (STAPE_SET_TRIGGER in schedtape/event.h), if that is
 * recorded, and a trigger-ntf.
 *
 * Notifications: session-ntf (a session stopped, lost its first event or its
 * last task), trigger-ntf (a trigger has fired: the session's id and the
 * trigger), replay-ntf (progress, completion).  Those of one session or replay
 * go to the socket that sent session-monitor or replay-monitor last.  Those of
 * all go to the group "monitor", which needs CAP_SYS_ADMIN (Linux 6.1:
 * CAP_NET_ADMIN).
 */
#ifndef _SCHEDTAPE_NETLINK_H
#define _SCHEDTAPE_NETLINK_H

#define STAPE_FAMILY_NAME	"schedtape"
#define STAPE_FAMILY_VERSION	1
#define STAPE_MCGRP_MONITOR	"monitor"

/* Bytes of an exclude-comm, with its NUL. */
#define STAPE_PATTERN_LEN	64

/* Processes, threads and cgroups that one filter-add or filter-del names. */
#define STAPE_FILTER_OBJECTS_MAX 1024

/* Triggers of a session, and their limits: a day, and wake-ups a second. */
#define STAPE_TRIGGERS_MAX	8
#define STAPE_TRIGGER_TIME_MAX	86400000000000ULL
#define STAPE_TRIGGER_RATE_MAX	1000000000

enum stape_cmd {
	STAPE_CMD_INFO_GET = 1,
	STAPE_CMD_SESSION_GET,
	STAPE_CMD_SESSION_SET,
	STAPE_CMD_SESSION_START,
	STAPE_CMD_SESSION_STOP,
	STAPE_CMD_SESSION_NTF,
	STAPE_CMD_FILTER_ADD,
	STAPE_CMD_FILTER_DEL,
	STAPE_CMD_TASK_GET,
	STAPE_CMD_REPLAY_GET,
	STAPE_CMD_REPLAY_START,
	STAPE_CMD_REPLAY_STOP,
	STAPE_CMD_REPLAY_NTF,
	STAPE_CMD_SESSION_PAUSE,
	STAPE_CMD_FILTER_SET,
	STAPE_CMD_REPLAY_SET,
	STAPE_CMD_REPLAY_PAUSE,
	STAPE_CMD_PLAYER_GET,
	STAPE_CMD_SESSION_MONITOR,
	STAPE_CMD_REPLAY_MONITOR,
	STAPE_CMD_TRIGGER_NTF,
	STAPE_CMD_SESSION_MARK,

	__STAPE_CMD_MAX,
	STAPE_CMD_MAX = (__STAPE_CMD_MAX - 1)
};

/* info-get */
enum stape_a_info {
	STAPE_A_INFO_VERSION = 1,	/* string, the module's version */
	STAPE_A_INFO_WIRE_VERSION,	/* u32 */
	STAPE_A_INFO_PAGE_SIZE,		/* u32, bytes */
	STAPE_A_INFO_CPUS,		/* u32, possible CPUs */
	STAPE_A_INFO_RING_PAGES_MAX,	/* u32, largest number of pages in a ring */
	STAPE_A_INFO_SESSIONS,		/* u32, open now, with rings or without */
	STAPE_A_INFO_REPLAYS,		/* u32, existing now */
	STAPE_A_INFO_HZ,		/* u32, the kernel's tick */
	STAPE_A_INFO_PREEMPT,		/* string: none, voluntary, full, lazy, rt */
	STAPE_A_INFO_COUNTER_KHZ,	/* u32, the counter's rate; 0: no STAPE_CLOCK_COUNTER */
	STAPE_A_INFO_MEMORY,		/* u64, bytes of all users' sessions and replays */
	STAPE_A_INFO_MEMORY_MAX,	/* u64, limit for that */
	STAPE_A_INFO_PAD,
	STAPE_A_INFO_MISSING,		/* string, a line for each thing that this kernel lacks */
	STAPE_A_INFO_SESSIONS_USED,	/* u32, sessions with rings, of all users */
	STAPE_A_INFO_SESSIONS_MAX,	/* u32, limit for that */
	STAPE_A_INFO_USER_SESSIONS,	/* u32, sessions with rings, of the sender's user */
	STAPE_A_INFO_USER_SESSIONS_MAX,	/* u32, limit for that, without CAP_SYS_RESOURCE */
	STAPE_A_INFO_USER_MEMORY,	/* u64, bytes of the user's sessions and replays */
	STAPE_A_INFO_USER_MEMORY_MAX,	/* u64, limit for that, without CAP_SYS_RESOURCE */
	STAPE_A_INFO_MISSED_CALLS,	/* u64, calls of probed functions that were not recorded */
	STAPE_A_INFO_STOP_ALL,		/* flag: the parameter stop_all is set, nothing may start */
	STAPE_A_INFO_THROTTLING,	/* u32, enum stape_throttling */

	__STAPE_A_INFO_MAX,
	STAPE_A_INFO_MAX = (__STAPE_A_INFO_MAX - 1)
};

enum stape_session_state {
	STAPE_SESSION_NEW = 0,		/* opened, without rings */
	STAPE_SESSION_READY,		/* has rings, records nothing yet */
	STAPE_SESSION_RECORDING,
	STAPE_SESSION_STOPPED,
	STAPE_SESSION_PAUSED,
};

/* Why a session or replay has stopped. */
enum stape_stopped_by {
	STAPE_STOPPED_BY_NOTHING = 0,	/* it has not, or its file was closed */
	STAPE_STOPPED_BY_REQUEST,	/* session-stop, replay-stop */
	STAPE_STOPPED_BY_ADMIN,		/* the module's parameter stop_all: for all users */
};

/* Whether throttling of cgroups by their quotas is recorded, and what it stops. */
enum stape_throttling {
	STAPE_THROTTLING_NONE = 0,	/* it is not recorded */
	STAPE_THROTTLING_CGROUPS,	/* a CPU runs no task of a cgroup that is throttled there */
	STAPE_THROTTLING_TASKS,		/* it runs a task until that returns to user space */
};

/* Clock of the events' times. */
enum stape_clock {
	STAPE_CLOCK_MONO = 0,	/* CLOCK_MONOTONIC, ns */
	STAPE_CLOCK_COUNTER,	/* the CPU's counter (x86: TSC), ticks: see STAPE_IOC_CLOCK */
};

/* When a trigger fires. */
enum stape_trigger_kind {
	STAPE_TRIGGER_LATENCY = 1,	/* a task was ready for longer than that, and got no CPU */
	STAPE_TRIGGER_BLOCKED,	/* a task slept uninterruptibly ("D") for longer */
	STAPE_TRIGGER_BURST,	/* a task ran for longer without a break */
	STAPE_TRIGGER_RATE,	/* all tasks together had more wake-ups in a second */
};

/*
 * A trigger.  With a PID it is for that thread, or for all threads of that process; with a pattern,
 * as of STAPE_A_SESSION_EXCLUDE_COMM, for tasks that have such a name when it fires.  A rate is
 * that of all tasks together: its last 0.9 to 1 s are looked at each 100 ms, and a wake-up of a
 * task that runs does not count.  It fires again when a second had no more wake-ups than the limit.
 */
enum stape_a_trigger {
	STAPE_A_TRIGGER_KIND = 1,	/* u32, enum stape_trigger_kind */
	STAPE_A_TRIGGER_LIMIT,		/* u64, ns; of STAPE_TRIGGER_RATE: wake-ups a second */
	STAPE_A_TRIGGER_PID,		/* u32, only for this task; trigger-ntf: the one it is of */
	STAPE_A_TRIGGER_NUMBER,		/* u32, from 0, in the order of session-set */
	STAPE_A_TRIGGER_FIRED,		/* u64, session-get: how often */
	STAPE_A_TRIGGER_VALUE,		/* u64, trigger-ntf: ns, or wake-ups in a second */
	STAPE_A_TRIGGER_CPU,		/* u32, trigger-ntf: the task's */
	STAPE_A_TRIGGER_TIME,		/* u64, trigger-ntf: ns of CLOCK_MONOTONIC */
	STAPE_A_TRIGGER_LASTS,		/* flag, trigger-ntf: it goes on */
	STAPE_A_TRIGGER_PAD,
	STAPE_A_TRIGGER_COMM,		/* string, only for tasks with such a name */

	__STAPE_A_TRIGGER_MAX,
	STAPE_A_TRIGGER_MAX = (__STAPE_A_TRIGGER_MAX - 1)
};

/* session-*, filter-*, trigger-ntf */
enum stape_a_session {
	STAPE_A_SESSION_ID = 1,		/* u32 */
	STAPE_A_SESSION_STATE,		/* u32, enum stape_session_state */
	STAPE_A_SESSION_OWNER,		/* u32, PID of the process that opened it */
	STAPE_A_SESSION_RING_PAGES,	/* u32, a power of two */
	STAPE_A_SESSION_WATERMARK,	/* u32, pages before a reader is woken */
	STAPE_A_SESSION_TASKS,		/* u32, tasks in the filter */
	STAPE_A_SESSION_EVENTS,		/* u64, events in published pages */
	STAPE_A_SESSION_LOST,		/* u64 */
	STAPE_A_SESSION_START_TIME,	/* u64, ns of CLOCK_MONOTONIC */
	STAPE_A_SESSION_STOP_TIME,	/* u64 */
	STAPE_A_SESSION_PID,		/* u32, repeated: filter-add, filter-del */
	STAPE_A_SESSION_PAD,
	STAPE_A_SESSION_TID,		/* u32, repeated: filter-add, filter-del */
	STAPE_A_SESSION_CGROUP,		/* u64, repeated: id of a cgroup (version 2) */
	STAPE_A_SESSION_ALL,		/* u8, filter-set: every task of user space */
	STAPE_A_SESSION_KTHREADS,	/* u8, filter-set: kernel threads, too */
	STAPE_A_SESSION_NO_INHERIT,	/* u8, filter-set: children of tasks stay out */
	STAPE_A_SESSION_EXCLUDE_COMM,	/* string, repeated, filter-set: pattern */
	STAPE_A_SESSION_CLOCK,		/* u32, enum stape_clock */
	STAPE_A_SESSION_OVERWRITE,	/* flag: a full ring keeps the newest events */
	STAPE_A_SESSION_CPUS,		/* binary, bit n%8 of byte n/8: CPU n; without it: all */
	STAPE_A_SESSION_OVERWRITTEN,	/* u64, events that were overwritten */
	STAPE_A_SESSION_UID,		/* u32, the user who opened it */
	STAPE_A_SESSION_MEMORY,		/* u64, bytes of its rings and its filter */
	STAPE_A_SESSION_STOPPED_BY,	/* u32, enum stape_stopped_by */
	STAPE_A_SESSION_MISSED_CALLS,	/* u64, as STAPE_A_INFO_MISSED_CALLS, while it recorded */
	STAPE_A_SESSION_SYSCALLS,	/* flag: switches name the system call of a sleep */
	STAPE_A_SESSION_TRIGGER,	/* nest, repeated: enum stape_a_trigger */
	STAPE_A_SESSION_FOLLOW,		/* flag, filter-add: other cgroups of the same paths, too */
	STAPE_A_SESSION_OWNER_VPID,	/* u32, in replies: for the receiver, if not OWNER; 0: */
					/* none there, or ended */
	STAPE_A_SESSION_MISSED_WAITS,	/* u64, waits that began unseen by triggers: no memory */
	STAPE_A_SESSION_INTERVAL,	/* u64, session-mark: the number of the one that ends */
	STAPE_A_SESSION_INTERVAL_TIME,	/* u64, reply to it: when, ns of CLOCK_MONOTONIC */

	__STAPE_A_SESSION_MAX,
	STAPE_A_SESSION_MAX = (__STAPE_A_SESSION_MAX - 1)
};

/* task-get; the request names the session by STAPE_A_TASK_SESSION */
enum stape_a_task {
	STAPE_A_TASK_SESSION = 1,	/* u32 */
	STAPE_A_TASK_PID,		/* u32 */
	STAPE_A_TASK_TGID,		/* u32 */
	STAPE_A_TASK_PPID,		/* u32 */
	STAPE_A_TASK_COMM,		/* string */
	STAPE_A_TASK_STATE,		/* u32, enum stape_state */
	STAPE_A_TASK_CPU,		/* u32, CPU that it runs on or last ran on */
	STAPE_A_TASK_POLICY,		/* u32, SCHED_* */
	STAPE_A_TASK_NICE,		/* s32 */
	STAPE_A_TASK_RT_PRIORITY,	/* u32 */
	STAPE_A_TASK_AFFINITY,		/* binary, bit n%8 of byte n/8: CPU n */
	STAPE_A_TASK_START_TIME,	/* u64, ns of CLOCK_MONOTONIC */
	STAPE_A_TASK_CPU_TIME,		/* u64, ns of CPU time used so far */
	STAPE_A_TASK_TIME,		/* u64, when this was read, ns of CLOCK_MONOTONIC */
	STAPE_A_TASK_NS_PID,		/* u32, PID in its own PID namespace */
	STAPE_A_TASK_PAD,
	STAPE_A_TASK_CGROUP,		/* u64, id of its cgroup (version 2) */
	STAPE_A_TASK_DL_RUNTIME,	/* u64, ns; DL_* are there with SCHED_DEADLINE only */
	STAPE_A_TASK_DL_DEADLINE,	/* u64, ns */
	STAPE_A_TASK_DL_PERIOD,		/* u64, ns */
	STAPE_A_TASK_SLICE,		/* u64, ns; 0: none was set.  This to SLACK: all or none */
	STAPE_A_TASK_CLAMPS,		/* u32, STAPE_CLAMP_*, see event.h */
	STAPE_A_TASK_SLACK,		/* u64, timer slack, ns, as STAPE_WISH_SLACK in event.h */
	STAPE_A_TASK_VPID,		/* u32, if not PID: for the receiver; 0: none */
	STAPE_A_TASK_AUTOGROUP,		/* u32, PID of the session with that autogroup */
	STAPE_A_TASK_CORE,		/* u32, stands for its core-scheduling cookie */

	__STAPE_A_TASK_MAX,
	STAPE_A_TASK_MAX = (__STAPE_A_TASK_MAX - 1)
};

enum stape_replay_state {
	STAPE_REPLAY_READY = 0,		/* players may join */
	STAPE_REPLAY_RUNNING,
	STAPE_REPLAY_DONE,		/* every player has ended its program */
	STAPE_REPLAY_STOPPED,		/* by replay-stop, or its session's file was closed */
	STAPE_REPLAY_BROKEN,		/* a player died, or called exec, before its end */
	STAPE_REPLAY_PAUSED,
	STAPE_REPLAY_STUCK,		/* all players wait for each other; stop it */
};

/* Speeds are in millionths of the recorded speed. */
#define STAPE_REPLAY_SPEED_ONE	1000000
#define STAPE_REPLAY_SPEED_MIN	1000
#define STAPE_REPLAY_SPEED_MAX	1000000000

/* replay-* */
enum stape_a_replay {
	STAPE_A_REPLAY_ID = 1,		/* u32 */
	STAPE_A_REPLAY_STATE,		/* u32, enum stape_replay_state */
	STAPE_A_REPLAY_PLAYERS,		/* u32, players of the whole program */
	STAPE_A_REPLAY_JOINED,		/* u32, players that have started */
	STAPE_A_REPLAY_WAITING,		/* u32, players in a wait now */
	STAPE_A_REPLAY_DONE,		/* u32, players that have ended */
	STAPE_A_REPLAY_STEPS,		/* u64, steps of all players */
	STAPE_A_REPLAY_LAG_MAX,		/* u64, ns: the largest lag of a timed wait */
	STAPE_A_REPLAY_LAG_TOTAL,	/* u64, ns: sum over all timed waits */
	STAPE_A_REPLAY_TIMED_WAITS,	/* u64 */
	STAPE_A_REPLAY_DELAY,		/* u64, ns: replay-start starts so much later */
	STAPE_A_REPLAY_START_TIME,	/* u64, ns of CLOCK_MONOTONIC */
	STAPE_A_REPLAY_STOP_TIME,	/* u64 */
	STAPE_A_REPLAY_FAILED_PID,	/* u32, the player that died */
	STAPE_A_REPLAY_PAD,
	STAPE_A_REPLAY_SPEED,		/* u32, millionths of the recorded speed */
	STAPE_A_REPLAY_TIME,		/* u64, ns of the replay's time since its start */
	STAPE_A_REPLAY_UID,		/* u32, the user who made it */
	STAPE_A_REPLAY_MEMORY,		/* u64, bytes of its players, edges and clocks */
	STAPE_A_REPLAY_STOPPED_BY,	/* u32, enum stape_stopped_by */

	__STAPE_A_REPLAY_MAX,
	STAPE_A_REPLAY_MAX = (__STAPE_A_REPLAY_MAX - 1)
};

enum stape_player_state {
	STAPE_PLAYER_RUNNING = 0,	/* runs, or could run */
	STAPE_PLAYER_EDGE,		/* waits for another player */
	STAPE_PLAYER_TIMED,		/* waits for a timer */
	STAPE_PLAYER_HELD,		/* waits until the replay is resumed */
};

/* player-get; the request names the replay by STAPE_A_PLAYER_REPLAY */
enum stape_a_player {
	STAPE_A_PLAYER_REPLAY = 1,	/* u32 */
	STAPE_A_PLAYER_NUMBER,		/* u32, number in the program */
	STAPE_A_PLAYER_PID,		/* u32 */
	STAPE_A_PLAYER_STATE,		/* u32, enum stape_player_state */
	STAPE_A_PLAYER_EDGE,		/* u32, edge that it waits for; may be missing */
	STAPE_A_PLAYER_STEPS,		/* u64 */
	STAPE_A_PLAYER_CPU_TIME,	/* u64, ns, up to its last switch-out */
	STAPE_A_PLAYER_TIMED_WAITS,	/* u64 */
	STAPE_A_PLAYER_LAG_TOTAL,	/* u64, ns: sum over all its timed waits */
	STAPE_A_PLAYER_LAG_MAX,		/* u64, ns */
	STAPE_A_PLAYER_PAD,
	STAPE_A_PLAYER_VPID,		/* u32, if not PID: for the receiver; 0: none */
	STAPE_A_PLAYER_TURN,		/* u32, how many players with its number have ended */

	__STAPE_A_PLAYER_MAX,
	STAPE_A_PLAYER_MAX = (__STAPE_A_PLAYER_MAX - 1)
};

#endif /* _SCHEDTAPE_NETLINK_H */
