// SPDX-License-Identifier: GPL-2.0-only
/*
 * schedtape steer: pauses a running replay, resumes it, changes its speed, stops
 * it, and shows its players.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <schedtape/client.h>

#include <base/list.h>

#include "base/error.h"
#include "commands.h"
#include "common/options.h"
#include "common/output.h"
#include "common/rights.h"
#include "common/select.h"
#include "common/table.h"
#include "module/replay.h"

struct steer_options {
	uint32_t replay;
	const struct verb *verb;
	double speed;
	struct table_options table;
	bool json;
};

/**
 * struct verb - an operation on a replay
 * @argument: it takes an argument: the speed
 */
struct verb {
	const char *name;
	int (*steer)(struct schedtape_client *client, const struct steer_options *opts,
		     struct schedtape_error *err);
	bool argument;
};

static int pause_replay(struct schedtape_client *client, const struct steer_options *opts,
			struct schedtape_error *err)
{
	return schedtape_replay_pause(client, opts->replay, err);
}

/* Resumes only a paused replay: a replay that has not started is its owner's to start. */
static int resume_replay(struct schedtape_client *client, const struct steer_options *opts,
			 struct schedtape_error *err)
{
	struct schedtape_replay_state state = { .size = sizeof(state) };
	int ret = schedtape_replay_get(client, opts->replay, &state, err);

	if (ret)
		return ret;
	if (state.state != STAPE_REPLAY_PAUSED)
		return schedtape_fail(err, -EINVAL, "replay %u is not paused", opts->replay);
	return schedtape_replay_start(client, opts->replay, 0, err);
}

static int stop_replay(struct schedtape_client *client, const struct steer_options *opts,
		       struct schedtape_error *err)
{
	return schedtape_replay_stop(client, opts->replay, err);
}

static int set_speed(struct schedtape_client *client, const struct steer_options *opts,
		     struct schedtape_error *err)
{
	return schedtape_replay_set_speed(client, opts->replay,
					  opts->speed * STAPE_REPLAY_SPEED_ONE, err);
}

/* -- players --------------------------------------------------------------- */

static const struct table_column columns[] = {
	{ "player", "player", TABLE_NEEDED },
	{ "pid", "PID", TABLE_NEEDED },
	{ "state", "state", TABLE_TEXT | TABLE_NEEDED },
	{ "cpu", "CPU ms", 0 },
	{ "lag-avg", "lag\navg ms", 0 },
	{ "lag-max", "lag\nmax ms", 0 },
	{ "timed-waits", "timed\nwaits", 0 },
	{ "steps", "steps", 0 },
	{ 0 }
};

/* @capacity: for how many there is memory */
struct player_list {
	struct schedtape_player_state *players;
	size_t n;
	size_t capacity;
};

static const char *state_name(uint32_t state)
{
	static const char * const names[] = { "running", "waits", "timed", "held" };

	return state < sizeof(names) / sizeof(*names) ? names[state] : "?";
}

static int add_player(const struct schedtape_player_state *state, void *arg)
{
	struct player_list *list = arg;
	struct schedtape_player_state *players;

	players = schedtape_list_grow(list->players, list->n, &list->capacity, sizeof(*players));
	if (!players)
		return -ENOMEM;
	list->players = players;
	players[list->n++] = *state;
	return 0;
}

/*
 * JSON players[] of steer:
 * @player: Number in the program.
 * @pid: PID of its thread in the caller's PID namespace, 0: none.
 * @state: See schedtape-steer(1).
 * @steps: Calls of the module.
 * @cpu_time_ns: CPU time up to its last switch-out.
 * @timed_waits: Waits that a timer ended.
 * @lag_avg_ns: How late they ended, on average.
 * @lag_max_ns: How late at most.
 */
static struct json_object *json_player(const struct schedtape_player_state *state)
{
	struct json_object *object = json_object_new_object();

	out_json_add_count(object, "player", state->number);
	out_json_add_count(object, "pid", state->vpid);
	out_json_add_name(object, "state", state_name(state->state));
	out_json_add_count(object, "steps", state->steps);
	out_json_add_count(object, "cpu_time_ns", state->cpu_time);
	out_json_add_count(object, "timed_waits", state->timed_waits);
	out_json_add_count(object, "lag_avg_ns",
			   schedtape_lag_average(state->lag_total, state->timed_waits));
	out_json_add_count(object, "lag_max_ns", state->lag_max);
	return object;
}

/*
 * JSON of steer:
 * @replay: Number of the replay.
 * @players: A list of players.
 */
static void print_json(const struct player_list *list, uint32_t replay)
{
	struct json_object *root = out_json_new("steer"), *array = json_object_new_array();
	size_t i;

	for (i = 0; i < list->n; i++)
		json_object_array_add(array, json_player(&list->players[i]));
	out_json_add_count(root, "replay", replay);
	json_object_object_add(root, "players", array);
	out_json(root, true);
}

static void print_player(struct table *table, const struct schedtape_player_state *state)
{
	char count[OUT_COUNT_LEN];

	table_cell(table, "%u", state->number);
	table_cell(table, state->vpid ? "%u" : "-", state->vpid);
	table_cell(table, "%s", state_name(state->state));
	table_cell(table, "%.3f", out_ms(state->cpu_time));
	table_cell(table, "%.3f", out_ms(schedtape_lag_average(state->lag_total,
							       state->timed_waits)));
	table_cell(table, "%.3f", out_ms(state->lag_max));
	table_cell(table, "%s", out_count(count, state->timed_waits));
	table_cell(table, "%s", out_count(count, state->steps));
}

static int show_players(struct schedtape_client *client, const struct steer_options *opts,
			struct schedtape_error *err)
{
	struct player_list list = { 0 };
	struct table table;
	size_t i;
	int ret;

	ret = schedtape_replay_players(client, opts->replay, add_player, &list, err);
	if (!ret && opts->json)
		print_json(&list, opts->replay);
	if (!ret && !opts->json) {
		table_begin(&table, columns, &opts->table);
		while (table_pass(&table))
			for (i = 0; i < list.n; i++)
				print_player(&table, &list.players[i]);
	}
	free(list.players);
	return ret;
}

/* -- the command line ------------------------------------------------------ */

static const struct verb verbs[] = {
	{ "pause", pause_replay, false },
	{ "resume", resume_replay, false },
	{ "stop", stop_replay, false },
	{ "speed", set_speed, true },
	{ "players", show_players, false },
};

static const struct verb *find_verb(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(verbs) / sizeof(*verbs); i++)
		if (!strcmp(name, verbs[i].name))
			return &verbs[i];
	return NULL;
}

static void parse_argument(struct steer_options *opts, const char *arg,
			   const struct argp_state *state)
{
	char *end;

	switch (state->arg_num) {
	case 0:
		if (select_number_parse(&opts->replay, arg) || !opts->replay)
			argp_error(state, "'%s': not the number of a replay", arg);
		return;
	case 1:
		opts->verb = find_verb(arg);
		if (!opts->verb)
			argp_error(state, "'%s': not pause, resume, speed, stop or players", arg);
		return;
	}
	if (state->arg_num > 2 || !opts->verb->argument)
		argp_error(state, "'%s': one argument too many", arg);
	opts->speed = strtod(arg, &end);
	if (end == arg || *end || !(opts->speed >= 0.001 && opts->speed <= 1000))
		argp_error(state, "speed %s: a number from 0.001 to 1000", arg);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct steer_options *opts = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &opts->json;
		state->child_inputs[1] = &opts->table;
		break;
	case ARGP_KEY_ARG:
		parse_argument(opts, arg, state);
		break;
	case ARGP_KEY_END:
		if (!opts->verb)
			argp_error(state, "which replay, and pause, resume, speed, stop, players?");
		else if (opts->verb->argument && !opts->speed)
			argp_error(state, "speed: how fast?");
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

int cmd_steer(int argc, char **argv)
{
	static const struct argp_child children[] = {
		{ &cmd_json_argp, 0, NULL, 0 }, { &table_argp, 0, NULL, 0 }, { 0 }
	};
	static const struct argp argp = {
		.parser = parse,
		.args_doc = "REPLAY pause|resume|stop|players\nREPLAY speed F",
		.doc = "Steers a running replay: pauses and resumes it, sets its speed (1: as "
		       "recorded), stops it, or shows its players. "
		       "\"schedtape list\" shows the replays.",
		.children = children,
	};
	struct schedtape_client *client = NULL;
	struct steer_options opts = { .table = { .columns = columns } };
	struct schedtape_error err;
	int ret;

	cmd_parse(&argp, argc, argv, 0, &opts);
	ret = schedtape_client_open(&client, &err);
	if (!ret)
		ret = opts.verb->steer(client, &opts, &err);
	rights_say(ret, &err);
	schedtape_client_close(client);
	return out_finish(ret ? CMD_FAILURE : 0);
}
