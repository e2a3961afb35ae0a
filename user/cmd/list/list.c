// SPDX-License-Identifier: GPL-2.0-only
/*
 * schedtape list: the sessions and replays that the module has now.
 */
#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <schedtape/client.h>

#include <base/first-line.h>
#include <base/list.h>
#include <base/proc.h>

#include "base/clock.h"
#include "commands.h"
#include "common/options.h"
#include "common/output.h"
#include "common/recorders.h"
#include "common/rights.h"
#include "common/table.h"

/* The name of a recorder, a colon and a PID. */
#define OWNER_LEN	96
/* A recorder that writes a snapshot answers when that is done. */
#define STATUS_SECONDS	2
/* A user's name with its NUL. */
#define USER_LEN	33

/**
 * struct list - the module's sessions and replays
 * @recorders: processes with a name, of record --name, and what they say of themselves, or NULL
 * @users: the users of these, and the sums of each; sessions without rings are not counted
 * @now: CLOCK_MONOTONIC, ns
 */
struct list {
	struct recorder {
		pid_t pid;
		char *name;
		struct json_object *status;
	} *recorders;
	size_t nr_recorders;
	size_t recorders_capacity;
	struct schedtape_session_state *sessions;
	size_t nr_sessions;
	size_t sessions_capacity;
	struct schedtape_replay_state *replays;
	size_t nr_replays;
	size_t replays_capacity;
	struct user {
		uint32_t uid;
		size_t sessions;
		size_t replays;
		uint64_t memory;
	} *users;
	size_t nr_users;
	size_t users_capacity;
	uint64_t now;
};

struct list_options {
	struct table_options table;
	bool json;
};

static const struct table_column session_columns[] = {
	{ "session", "session", TABLE_NEEDED },
	{ "state", "state", TABLE_TEXT | TABLE_NEEDED },
	{ "age", "age", TABLE_NEEDED },
	{ "owner", "owner", TABLE_TEXT | TABLE_NEEDED },
	{ "events", "events", 0 },
	{ "lost", "lost", 0 },
	{ "tasks", "tasks", 0 },
	{ "memory", "memory KB", 0 },
	{ "ring", "ring KB", 0 },
	{ "full", "when full", TABLE_TEXT },
	{ "clock", "clock", TABLE_TEXT },
	{ "user", "user", TABLE_TEXT },
	{ "missed", "missed calls", 0 },
	{ "missed-waits", "missed waits", 0 },
	{ "keeps", "keeps s", 0 },
	{ "ended", "ended", 0 },
	{ "snapshots", "snapshots", 0 },
	{ "last", "last trigger", TABLE_TEXT },
	{ "since", "ago", 0 },
	{ 0 }
};

static const struct table_column replay_columns[] = {
	{ "replay", "replay", TABLE_NEEDED },
	{ "state", "state", TABLE_TEXT | TABLE_NEEDED },
	{ "age", "age", TABLE_NEEDED },
	{ "owner", "owner", TABLE_TEXT | TABLE_NEEDED },
	{ "players", "players", 0 },
	{ "done", "done", 0 },
	{ "lag-max", "lag max ms", 0 },
	{ "steps", "steps", 0 },
	{ "waiting", "waiting", 0 },
	{ "joined", "joined", 0 },
	{ "memory", "memory KB", 0 },
	{ "user", "user", TABLE_TEXT },
	{ 0 }
};

static const struct table_column user_columns[] = {
	{ "user", "user", TABLE_TEXT | TABLE_NEEDED },
	{ "sessions", "sessions", TABLE_NEEDED },
	{ "replays", "replays", TABLE_NEEDED },
	{ "memory", "memory KB", TABLE_NEEDED },
	{ 0 }
};

/* -- collecting ------------------------------------------------------------ */

/* Returns the user's entry; NULL: not enough memory. */
static struct user *add_user(struct list *list, uint32_t uid)
{
	struct user *users;
	size_t i;

	for (i = 0; i < list->nr_users; i++)
		if (list->users[i].uid == uid)
			return &list->users[i];
	users = schedtape_list_grow(list->users, i, &list->users_capacity, sizeof(*users));
	if (!users)
		return NULL;
	list->users = users;
	users[i] = (struct user){ .uid = uid };
	list->nr_users++;
	return &users[i];
}

/* Returns true for a session without a ring: a replay's, or one that was only just opened. */
static bool is_bare(const struct schedtape_session_state *session)
{
	return session->state == STAPE_SESSION_NEW && !session->ring_pages && !session->tasks;
}

static int add_session(const struct schedtape_session_state *state, void *arg)
{
	struct user *user = add_user(arg, state->uid);
	struct list *list = arg;
	struct schedtape_session_state *sessions;

	if (!user)
		return -ENOMEM;
	sessions = schedtape_list_grow(list->sessions, list->nr_sessions,
				       &list->sessions_capacity, sizeof(*sessions));
	if (!sessions)
		return -ENOMEM;
	list->sessions = sessions;
	sessions[list->nr_sessions++] = *state;
	user->sessions += !is_bare(state);
	user->memory += state->memory;
	return 0;
}

static int add_replay(const struct schedtape_replay_state *state, void *arg)
{
	struct user *user = add_user(arg, state->uid);
	struct list *list = arg;
	struct schedtape_replay_state *replays;

	if (!user)
		return -ENOMEM;
	replays = schedtape_list_grow(list->replays, list->nr_replays, &list->replays_capacity,
				      sizeof(*replays));
	if (!replays)
		return -ENOMEM;
	list->replays = replays;
	replays[list->nr_replays++] = *state;
	user->replays++;
	user->memory += state->memory;
	return 0;
}

static bool add_recorder(void *arg, const char *name, pid_t pid)
{
	struct recorder *recorders;
	struct list *list = arg;

	recorders = schedtape_list_grow(list->recorders, list->nr_recorders,
					&list->recorders_capacity, sizeof(*recorders));
	if (!recorders)
		return false;
	list->recorders = recorders;
	recorders[list->nr_recorders] = (struct recorder){
		.pid = pid,
		.name = strdup(name),
		.status = recorders_status(name, STATUS_SECONDS, NULL),
	};
	return recorders[list->nr_recorders++].name;
}

/* Returns the process as a recorder with a name, or NULL.  @pid: 0: it has none here */
static const struct recorder *find_recorder(const struct list *list, uint32_t pid)
{
	size_t i;

	for (i = 0; i < list->nr_recorders; i++)
		if (pid && list->recorders[i].pid == (pid_t)pid)
			return &list->recorders[i];
	return NULL;
}

/* Returns the name that record --name has given to a process, or NULL. */
static const char *recorder_name(const struct list *list, uint32_t pid)
{
	const struct recorder *recorder = find_recorder(list, pid);

	return recorder && !recorders_is_pid(recorder->name) ? recorder->name : NULL;
}

/*
 * Returns a member of what a session's owner says of itself, or NULL.  Another program may have
 * answered.
 */
static struct json_object *status_member(const struct list *list,
					 const struct schedtape_session_state *state,
					 const char *key, enum json_type type)
{
	const struct recorder *recorder = find_recorder(list, state->owner_vpid);
	struct json_object *member;

	return recorder && json_object_object_get_ex(recorder->status, key, &member) &&
	       json_object_is_type(member, type) ? member : NULL;
}

/* Returns true if every bare session can be that of a replay. */
static bool hides_bare(const struct list *list)
{
	size_t i, n = 0;

	for (i = 0; i < list->nr_sessions; i++)
		n += is_bare(&list->sessions[i]);
	return n <= list->nr_replays;
}

/* Returns the owner of the only bare session, which is that of the only replay; 0: unknown. */
static uint32_t replay_owner(const struct list *list)
{
	uint32_t owner = 0;
	size_t i, n = 0;

	for (i = 0; i < list->nr_sessions; i++) {
		if (!is_bare(&list->sessions[i]))
			continue;
		owner = list->sessions[i].owner_vpid;
		n++;
	}
	return n == 1 && list->nr_replays == 1 ? owner : 0;
}

/* -- text ------------------------------------------------------------------ */

static const char *session_state(uint32_t state)
{
	static const char * const names[] = {
		"new", "ready", "recording", "stopped", "paused",
	};

	return state < sizeof(names) / sizeof(*names) ? names[state] : "?";
}

static const char *replay_state(uint32_t state)
{
	static const char * const names[] = {
		"ready", "running", "done", "stopped", "broken", "paused", "stuck",
	};

	return state < sizeof(names) / sizeof(*names) ? names[state] : "?";
}

static const char *stopped_by(uint32_t number)
{
	static const char * const names[] = { "nothing", "request", "admin" };

	return number < sizeof(names) / sizeof(*names) ? names[number] : "?";
}

static const char *clock_name(uint32_t clock)
{
	return clock == STAPE_CLOCK_COUNTER ? "tsc" : "mono";
}

/* Returns what a full ring does with events. */
static const char *full_name(const struct schedtape_session_state *state)
{
	return state->overwrite ? "overwrite" : "lose";
}

static uint64_t ring_bytes(const struct schedtape_session_state *state)
{
	return (uint64_t)state->ring_pages * STAPE_PAGE_SIZE;
}

/*
 * "schedtape:123", or the recorder's own name.  "-": the process has ended, or has no PID here.
 */
static const char *owner_name(char buffer[OWNER_LEN], const struct list *list, uint32_t pid)
{
	const char *name = recorder_name(list, pid);
	char path[32], comm[STAPE_COMM_LEN] = "";

	if (!pid)
		return "-";
	if (name) {
		snprintf(buffer, OWNER_LEN, "%s:%u", name, pid);
		return buffer;
	}
	snprintf(path, sizeof(path), "/proc/%u/comm", pid);
	/* A /proc of another PID namespace has another process by this PID. */
	if (proc_is_own())
		first_line_read(path, comm, sizeof(comm));
	return text_task(buffer, comm, pid);
}

/* The user's name, or its number if it has no name here. */
static const char *user_name(char buffer[USER_LEN], uint32_t uid)
{
	struct passwd *user = getpwuid(uid);

	if (user)
		snprintf(buffer, USER_LEN, "%s", user->pw_name);
	else
		snprintf(buffer, USER_LEN, "%u", uid);
	return buffer;
}

/* "1:02:03" or "2:03": time from @start to @stop, or to now if @stop is 0; "-": not started */
static const char *age(char buffer[32], const struct list *list, uint64_t start, uint64_t stop)
{
	uint64_t end = stop ? stop : list->now, s;

	if (!start)
		return "-";
	s = end > start ? (end - start) / 1000000000 : 0;
	if (s >= 3600)
		snprintf(buffer, 32, "%" PRIu64 ":%02u:%02u", s / 3600,
			 (unsigned int)(s / 60 % 60), (unsigned int)(s % 60));
	else
		snprintf(buffer, 32, "%u:%02u", (unsigned int)(s / 60), (unsigned int)(s % 60));
	return buffer;
}

/* Prints what only the session's owner knows. */
static void print_status(struct table *table, const struct list *list,
			 const struct schedtape_session_state *state)
{
	struct json_object *keeps = status_member(list, state, "keeps_ns", json_type_int);
	struct json_object *ended = status_member(list, state, "ended_count", json_type_int);
	struct json_object *n = status_member(list, state, "snapshot_count", json_type_int);
	struct json_object *last = status_member(list, state, "last_trigger", json_type_object);
	struct json_object *name, *time;
	char text[TABLE_CELL];

	table_cell(table, keeps ? "%.1f" : "-", json_object_get_uint64(keeps) / 1e9);
	table_cell(table, ended ? "%" PRIu64 : "-", json_object_get_uint64(ended));
	table_cell(table, n ? "%" PRIu64 : "-", json_object_get_uint64(n));
	if (last && json_object_object_get_ex(last, "name", &name) &&
	    json_object_object_get_ex(last, "time_ns", &time)) {
		table_cell(table, "%s", text_safe(text, sizeof(text),
						  json_object_get_string(name)));
		table_cell(table, "%s", age(text, list, json_object_get_uint64(time), 0));
	} else {
		table_cell(table, "-");
		table_cell(table, "-");
	}
}

static void print_session(struct table *table, const struct list *list,
			  const struct schedtape_session_state *state)
{
	char count[OUT_COUNT_LEN], owner[OWNER_LEN], user[USER_LEN], time[32];

	table_cell(table, "%u", state->id);
	table_cell(table, "%s", session_state(state->state));
	table_cell(table, "%s", age(time, list, state->start_time, state->stop_time));
	table_cell(table, "%s", owner_name(owner, list, state->owner_vpid));
	table_cell(table, "%s", out_count(count, state->events));
	table_cell(table, "%s", out_count(count, state->lost));
	table_cell(table, "%u", state->tasks);
	table_cell(table, "%" PRIu64, state->memory >> 10);
	table_cell(table, "%" PRIu64, ring_bytes(state) >> 10);
	table_cell(table, "%s", full_name(state));
	table_cell(table, "%s", clock_name(state->clock));
	table_cell(table, "%s", user_name(user, state->uid));
	table_cell(table, "%" PRIu64, state->missed_calls);
	table_cell(table, "%" PRIu64, state->missed_waits);
	print_status(table, list, state);
}

static void print_replay(struct table *table, const struct list *list,
			 const struct schedtape_replay_state *state)
{
	char count[OUT_COUNT_LEN], owner[OWNER_LEN], user[USER_LEN], time[32];

	table_cell(table, "%u", state->id);
	table_cell(table, "%s", replay_state(state->state));
	table_cell(table, "%s", age(time, list, state->start_time, state->stop_time));
	table_cell(table, "%s", owner_name(owner, list, replay_owner(list)));
	table_cell(table, "%u", state->players);
	table_cell(table, "%u", state->done);
	table_cell(table, "%.3f", out_ms(state->lag_max));
	table_cell(table, "%s", out_count(count, state->steps));
	table_cell(table, "%u", state->waiting);
	table_cell(table, "%u", state->joined);
	table_cell(table, "%" PRIu64, state->memory >> 10);
	table_cell(table, "%s", user_name(user, state->uid));
}

static bool shows_session(const struct list *list, size_t i)
{
	return !is_bare(&list->sessions[i]) || !hides_bare(list);
}

/* Returns true if it has printed a session. */
static bool print_sessions(const struct list *list, const struct table_options *opts)
{
	struct table table;
	size_t i, n = 0;

	for (i = 0; i < list->nr_sessions; i++)
		n += shows_session(list, i);
	if (!n)
		return false;
	table_begin(&table, session_columns, opts);
	while (table_pass(&table))
		for (i = 0; i < list->nr_sessions; i++)
			if (shows_session(list, i))
				print_session(&table, list, &list->sessions[i]);
	return true;
}

static void print_replays(const struct list *list, const struct table_options *opts)
{
	/* Leave out -F, which names columns of sessions. */
	const struct table_options replays = { .wide = opts->wide };
	struct table table;
	size_t i;

	table_begin(&table, replay_columns, &replays);
	while (table_pass(&table))
		for (i = 0; i < list->nr_replays; i++)
			print_replay(&table, list, &list->replays[i]);
}

/* Tells how many sessions and how much memory each user has; nothing if there is one user. */
static void print_users(const struct list *list)
{
	const struct table_options all = { .wide = true };
	char name[USER_LEN];
	struct table table;
	size_t i;

	if (list->nr_users < 2)
		return;
	putchar('\n');
	table_begin(&table, user_columns, &all);
	while (table_pass(&table)) {
		for (i = 0; i < list->nr_users; i++) {
			table_cell(&table, "%s", user_name(name, list->users[i].uid));
			table_cell(&table, "%zu", list->users[i].sessions);
			table_cell(&table, "%zu", list->users[i].replays);
			table_cell(&table, "%" PRIu64, list->users[i].memory >> 10);
		}
	}
}

static void print_text(const struct list *list, const struct table_options *opts)
{
	bool any = print_sessions(list, opts);

	if (any && list->nr_replays)
		putchar('\n');
	if (list->nr_replays)
		print_replays(list, opts);
	else if (!any)
		puts("no sessions, no replays");
	print_users(list);
}

/* -- JSON ------------------------------------------------------------------ */

/*
 * JSON sessions[].last_trigger of list:
 * @name: Name of the trigger, as @ended_by of info.
 * @time_ns: When it fired, by CLOCK_MONOTONIC.
 */
static void add_status(struct json_object *object, const struct list *list,
		       const struct schedtape_session_state *state, const char *key,
		       enum json_type type)
{
	json_object_object_add(object, key,
			       json_object_get(status_member(list, state, key, type)));
}

/*
 * JSON sessions[] of list:
 * @session: Its number.
 * @state: See schedtape-list(1).
 * @owner_pid: PID of the process that opened it, in the caller's PID namespace; 0: it has ended, or
 *	has none there.
 * @name: The name that --name has given to that recorder, or null.
 * @uid: Number of the user who opened it.
 * @missed_calls: Changes of priorities, affinities, names or autogroups that were not recorded,
 *	because too many happened at once.
 * @missed_waits: Waits that triggers of latency and blocked did not see begin, because too many
 *	tasks were new at once, or memory was short.
 * @stopped_by: nothing, request, or admin (the parameter stop_all of the module).
 * @clock_name: mono or tsc.
 * @overwrite: Full rings keep the newest events.
 * @syscalls: Switches name the system call that a task sleeps in.
 * @cpu_count: CPUs that have a ring.
 * @ring_pages: Pages of each ring.
 * @memory_bytes: Memory of its rings and its filter.
 * @watermark_pages: Pages before a reader is woken.
 * @task_count: Tasks in the filter.
 * @events: Events so far.
 * @lost: Missing events.
 * @overwritten: Overwritten events.
 * @start_ns: When recording began, 0: not yet.
 * @stop_ns: When it ended, 0: not yet.
 * @keeps_ns: How far back the rings of a recorder go that overwrites them; 0: nothing has been
 *	overwritten; null: it does not overwrite them. This and the next members are null, too, if
 *	the recorder neither has a name nor takes snapshots, or does not answer within 2 seconds.
 * @ended_count: Tasks that have ended since the oldest event in these rings; null as @keeps_ns.
 * @snapshot_count: Snapshots that it has taken, or tapes of it that have ended, while it went on;
 *	null if it takes none.
 * @last_trigger: The trigger of the last one; null if there is no snapshot yet.
 */
static struct json_object *json_session(const struct list *list,
					const struct schedtape_session_state *state)
{
	struct json_object *object = json_object_new_object();
	const char *name = recorder_name(list, state->owner_vpid);

	out_json_add_count(object, "session", state->id);
	out_json_add_name(object, "state", session_state(state->state));
	out_json_add_count(object, "owner_pid", state->owner_vpid);
	json_object_object_add(object, "name", name ? json_object_new_string(name) : NULL);
	out_json_add_count(object, "uid", state->uid);
	out_json_add_name(object, "clock_name", clock_name(state->clock));
	out_json_add_bool(object, "overwrite", state->overwrite);
	out_json_add_bool(object, "syscalls", state->syscalls);
	out_json_add_count(object, "cpu_count", state->cpus);
	out_json_add_count(object, "ring_pages", state->ring_pages);
	out_json_add_count(object, "memory_bytes", state->memory);
	out_json_add_count(object, "watermark_pages", state->watermark);
	out_json_add_count(object, "task_count", state->tasks);
	out_json_add_count(object, "events", state->events);
	out_json_add_count(object, "lost", state->lost);
	out_json_add_count(object, "overwritten", state->overwritten);
	out_json_add_count(object, "missed_calls", state->missed_calls);
	out_json_add_count(object, "missed_waits", state->missed_waits);
	out_json_add_name(object, "stopped_by", stopped_by(state->stopped_by));
	out_json_add_count(object, "start_ns", state->start_time);
	out_json_add_count(object, "stop_ns", state->stop_time);
	add_status(object, list, state, "keeps_ns", json_type_int);
	add_status(object, list, state, "ended_count", json_type_int);
	add_status(object, list, state, "snapshot_count", json_type_int);
	add_status(object, list, state, "last_trigger", json_type_object);
	return object;
}

/*
 * JSON replays[] of list:
 * @replay: Its number.
 * @state: See schedtape-list(1).
 * @uid: Number of the user who opened it.
 * @stopped_by: As of sessions.
 * @memory_bytes: Memory of its players, edges and clocks.
 * @player_count: Players.
 * @joined_count: Those that have begun.
 * @waiting_count: Those that wait now.
 * @done_count: Those that have ended.
 * @steps: Calls of the module by all players.
 * @timed_waits: Waits that a timer ended.
 * @lag_max_ns: How late they ended at most.
 * @lag_total_ns: The sum.
 */
static struct json_object *json_replay(const struct schedtape_replay_state *state)
{
	struct json_object *object = json_object_new_object();

	out_json_add_count(object, "replay", state->id);
	out_json_add_count(object, "uid", state->uid);
	out_json_add_count(object, "memory_bytes", state->memory);
	out_json_add_name(object, "state", replay_state(state->state));
	out_json_add_name(object, "stopped_by", stopped_by(state->stopped_by));
	out_json_add_count(object, "player_count", state->players);
	out_json_add_count(object, "joined_count", state->joined);
	out_json_add_count(object, "waiting_count", state->waiting);
	out_json_add_count(object, "done_count", state->done);
	out_json_add_count(object, "steps", state->steps);
	out_json_add_count(object, "timed_waits", state->timed_waits);
	out_json_add_count(object, "lag_max_ns", state->lag_max);
	out_json_add_count(object, "lag_total_ns", state->lag_total);
	return object;
}

/*
 * JSON users[] of list:
 * @uid: The user's number.
 * @session_count: Sessions with rings.
 * @replay_count: Replays.
 * @memory_bytes: Memory of both.
 */
static struct json_object *json_user(const struct user *user)
{
	struct json_object *object = json_object_new_object();

	out_json_add_count(object, "uid", user->uid);
	out_json_add_count(object, "session_count", user->sessions);
	out_json_add_count(object, "replay_count", user->replays);
	out_json_add_count(object, "memory_bytes", user->memory);
	return object;
}

/*
 * JSON of list:
 * @sessions: A list of sessions. A replay has one as well, which is new and has no rings.
 * @replays: A list of replays.
 * @users: A list of the users who have them.
 */
static void print_json(const struct list *list)
{
	struct json_object *root = out_json_new("list");
	struct json_object *sessions = json_object_new_array();
	struct json_object *replays = json_object_new_array();
	struct json_object *users = json_object_new_array();
	size_t i;

	for (i = 0; i < list->nr_sessions; i++)
		json_object_array_add(sessions, json_session(list, &list->sessions[i]));
	for (i = 0; i < list->nr_replays; i++)
		json_object_array_add(replays, json_replay(&list->replays[i]));
	json_object_object_add(root, "sessions", sessions);
	for (i = 0; i < list->nr_users; i++)
		json_object_array_add(users, json_user(&list->users[i]));
	json_object_object_add(root, "replays", replays);
	json_object_object_add(root, "users", users);
	out_json(root, true);
}

/* -------------------------------------------------------------------------- */

static int get_all(struct list *list, struct schedtape_error *err)
{
	struct schedtape_client *client;
	int ret;

	list->now = schedtape_now();
	ret = schedtape_client_open(&client, err);
	if (ret)
		return ret;
	ret = schedtape_client_sessions(client, add_session, list, err);
	if (!ret)
		ret = schedtape_client_replays(client, add_replay, list, err);
	schedtape_client_close(client);
	return ret;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct list_options *opts = state->input;

	(void)arg;
	if (key != ARGP_KEY_INIT)
		return ARGP_ERR_UNKNOWN;
	state->child_inputs[0] = &opts->json;
	state->child_inputs[1] = &opts->table;
	return 0;
}

int cmd_list(int argc, char **argv)
{
	static const struct argp_child children[] = {
		{ &cmd_json_argp, 0, NULL, 0 }, { &table_argp, 0, NULL, 0 }, { 0 }
	};
	static const struct argp argp = {
		.parser = parse,
		.doc = "Lists the sessions and replays of the module. -F selects columns of the "
		       "sessions.",
		.children = children,
	};
	struct list_options opts = { .table = { .columns = session_columns } };
	struct schedtape_error err = { "not enough memory" };
	struct list list = { 0 };
	int ret;

	cmd_parse(&argp, argc, argv, 0, &opts);
	ret = rights_say(get_all(&list, &err), &err);
	if (!ret)
		recorders_each(add_recorder, &list);
	if (!ret && opts.json)
		print_json(&list);
	else if (!ret)
		print_text(&list, &opts.table);
	while (list.nr_recorders) {
		free(list.recorders[--list.nr_recorders].name);
		json_object_put(list.recorders[list.nr_recorders].status);
	}
	free(list.recorders);
	free(list.sessions);
	free(list.replays);
	free(list.users);
	return out_finish(ret ? CMD_FAILURE : 0);
}
