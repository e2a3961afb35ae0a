// SPDX-License-Identifier: GPL-2.0-only
/*
 * schedtape list: the sessions and replays that the module has now.
 */
#include <schedtape/client.h>

#include "main.h"
#include "common/options.h"
#include "common/output.h"

struct list {
	struct json_object *sessions;	/* NULL: text */
	struct json_object *replays;
	struct out_table table;
	size_t nr;
};

static const struct out_column session_columns[] = {
	{ "session", 8 }, { "state", -10 }, { "owner", 8 }, { "clock", -5 }, { "full", -9 },
	{ "ring", 8 }, { "memory", 8 }, { "tasks", 8 }, { "events", 14 }, { "lost", 12 },
	{ NULL, 0 },
};

static const struct out_column replay_columns[] = {
	{ "replay", 8 }, { "state", -10 }, { "players", 8 }, { "joined", 8 }, { "waiting", 8 },
	{ "done", 8 }, { "steps", 14 }, { "worst lag", 12 }, { NULL, 0 },
};

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

static const char *clock_name(uint32_t clock)
{
	return clock == STAPE_CLOCK_COUNTER ? "tsc" : "mono";
}

/* What a ring does that is full. */
static const char *full_name(const struct schedtape_session_state *state)
{
	return state->overwrite ? "overwrite" : "lose";
}

static uint64_t ring_bytes(const struct schedtape_session_state *state)
{
	return (uint64_t)state->ring_pages * STAPE_PAGE_SIZE;
}

static int json_session(struct list *list, const struct schedtape_session_state *state)
{
	struct json_object *object = json_object_new_object();

	out_json_add_count(object, "id", state->id);
	out_json_add_name(object, "state", session_state(state->state));
	out_json_add_count(object, "owner", state->owner);
	out_json_add_name(object, "clock", clock_name(state->clock));
	out_json_add_bool(object, "overwrite", state->overwrite);
	out_json_add_count(object, "cpus", state->cpus);
	out_json_add_count(object, "ring_pages", state->ring_pages);
	out_json_add_count(object, "ring_memory_bytes", ring_bytes(state) * state->cpus);
	out_json_add_count(object, "watermark", state->watermark);
	out_json_add_count(object, "tasks", state->tasks);
	out_json_add_count(object, "events", state->events);
	out_json_add_count(object, "lost", state->lost);
	out_json_add_count(object, "overwritten", state->overwritten);
	out_json_add_count(object, "start_time_ns", state->start_time);
	out_json_add_count(object, "stop_time_ns", state->stop_time);
	json_object_array_add(list->sessions, object);
	return 0;
}

static int each_session(const struct schedtape_session_state *state, void *arg)
{
	char buffer[OUT_COUNT_LEN];
	struct list *list = arg;

	if (list->sessions)
		return json_session(list, state);
	if (!list->nr++)
		out_table_begin(&list->table, session_columns);
	out_cell(&list->table, "%u", state->id);
	out_cell(&list->table, "%s", session_state(state->state));
	out_cell(&list->table, "%u", state->owner);
	out_cell(&list->table, "%s", clock_name(state->clock));
	out_cell(&list->table, "%s", full_name(state));
	out_cell(&list->table, "%" PRIu64 "K", ring_bytes(state) >> 10);
	out_cell(&list->table, "%" PRIu64 "K", ring_bytes(state) * state->cpus >> 10);
	out_cell(&list->table, "%u", state->tasks);
	out_cell(&list->table, "%s", out_count(buffer, state->events));
	out_cell(&list->table, "%s", out_count(buffer, state->lost));
	return 0;
}

static int json_replay(struct list *list, const struct schedtape_replay_state *state)
{
	struct json_object *object = json_object_new_object();

	out_json_add_count(object, "id", state->id);
	out_json_add_name(object, "state", replay_state(state->state));
	out_json_add_count(object, "players", state->players);
	out_json_add_count(object, "joined", state->joined);
	out_json_add_count(object, "waiting", state->waiting);
	out_json_add_count(object, "done", state->done);
	out_json_add_count(object, "steps", state->steps);
	out_json_add_count(object, "timed_waits", state->timed_waits);
	out_json_add_count(object, "lag_max_ns", state->lag_max);
	out_json_add_count(object, "lag_total_ns", state->lag_total);
	json_object_array_add(list->replays, object);
	return 0;
}

static int each_replay(const struct schedtape_replay_state *state, void *arg)
{
	char buffer[OUT_COUNT_LEN];
	struct list *list = arg;

	if (list->replays)
		return json_replay(list, state);
	if (!list->nr++)
		out_table_begin(&list->table, replay_columns);
	out_cell(&list->table, "%u", state->id);
	out_cell(&list->table, "%s", replay_state(state->state));
	out_cell(&list->table, "%u", state->players);
	out_cell(&list->table, "%u", state->joined);
	out_cell(&list->table, "%u", state->waiting);
	out_cell(&list->table, "%u", state->done);
	out_cell(&list->table, "%s", out_count(buffer, state->steps));
	out_cell(&list->table, "%.3f ms", out_ms(state->lag_max));
	return 0;
}

static int list_all(struct schedtape_client *client, struct list *list)
{
	struct schedtape_error err;
	bool any;

	if (schedtape_client_sessions(client, each_session, list, &err)) {
		out_error(NULL, "%s", err.text);
		return CMD_FAILURE;
	}
	any = list->nr;
	list->nr = 0;
	if (schedtape_client_replays(client, each_replay, list, &err)) {
		out_error(NULL, "%s", err.text);
		return CMD_FAILURE;
	}
	if (!any && !list->nr && !list->sessions)
		puts("no sessions, no replays");
	return 0;
}

int cmd_list(int argc, char **argv)
{
	static const struct argp_child children[] = { { &cmd_json_argp, 0, NULL, 0 }, { 0 } };
	static const struct argp argp = {
		.parser = cmd_parse_child,
		.doc = "Lists the sessions and replays of the module.",
		.children = children,
	};
	struct schedtape_client *client;
	struct schedtape_error err;
	struct json_object *root;
	struct list list = { 0 };
	bool json = false;
	int status;

	cmd_parse(&argp, argc, argv, 0, &json);
	if (schedtape_client_open(&client, &err)) {
		out_error(NULL, "%s", err.text);
		return CMD_FAILURE;
	}
	if (json) {
		list.sessions = json_object_new_array();
		list.replays = json_object_new_array();
	}
	status = list_all(client, &list);
	if (json) {
		root = json_object_new_object();
		json_object_object_add(root, "sessions", list.sessions);
		json_object_object_add(root, "replays", list.replays);
		out_json(root, true);
	}
	schedtape_client_close(client);
	return out_finish(status);
}
