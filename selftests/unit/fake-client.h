/* SPDX-License-Identifier: GPL-2.0-only */
/* Answers in place of the module for commands that query it: one session and one replay. */
#ifndef SELFTESTS_FAKE_CLIENT_H
#define SELFTESTS_FAKE_CLIENT_H

#include <schedtape/client.h>

static struct schedtape_client *const fake_client = (struct schedtape_client *)1;

int schedtape_client_open(struct schedtape_client **client, struct schedtape_error *err)
{
	(void)err;
	*client = fake_client;
	return 0;
}

void schedtape_client_close(struct schedtape_client *client)
{
	(void)client;
}

int schedtape_client_info(struct schedtape_client *client, struct schedtape_module_info *info,
			  struct schedtape_error *err)
{
	(void)client;
	(void)err;
	*info = (struct schedtape_module_info) {
		.size = sizeof(*info), .version = "1", .missing = "one\ntwo\n",
	};
	return 0;
}

int schedtape_client_sessions(struct schedtape_client *client,
			      int (*each)(const struct schedtape_session_state *state, void *arg),
			      void *arg, struct schedtape_error *err)
{
	/* One session records; the other one belongs to a replay. */
	static const struct schedtape_session_state states[] = {
		{ .id = 1234567, .state = STAPE_SESSION_RECORDING, .owner_vpid = 1,
		  .ring_pages = 1024, .tasks = 4194304, .cpus = 1024, .events = 12345678901234,
		  .lost = 123456789, .start_time = 1 },
		{ .id = 1234568, .owner_vpid = 1 },
	};
	int ret = each(&states[0], arg);

	(void)client;
	(void)err;
	return ret ? ret : each(&states[1], arg);
}

int schedtape_client_replays(struct schedtape_client *client,
			     int (*each)(const struct schedtape_replay_state *state, void *arg),
			     void *arg, struct schedtape_error *err)
{
	const struct schedtape_replay_state state = {
		.id = 1234567, .state = STAPE_REPLAY_RUNNING, .players = 1000000, .joined = 1000000,
		.steps = 12345678901, .timed_waits = 2, .lag_max = 123456789012, .start_time = 1,
	};

	(void)client;
	(void)err;
	return each(&state, arg);
}

int schedtape_replay_players(struct schedtape_client *client, uint32_t id,
			     int (*each)(const struct schedtape_player_state *state, void *arg),
			     void *arg, struct schedtape_error *err)
{
	const struct schedtape_player_state state = {
		.number = 1000000, .vpid = 4194303, .steps = 12345678901, .cpu_time = 123456789012,
		.timed_waits = 1234567, .lag_max = 123456789012, .lag_total = 1234567890123,
	};

	(void)client;
	(void)id;
	(void)err;
	return each(&state, arg);
}

int schedtape_replay_pause(struct schedtape_client *client, uint32_t id,
			   struct schedtape_error *err)
{
	(void)client;
	(void)id;
	(void)err;
	return 0;
}

int schedtape_replay_stop(struct schedtape_client *client, uint32_t id,
			  struct schedtape_error *err)
{
	return schedtape_replay_pause(client, id, err);
}

int schedtape_replay_start(struct schedtape_client *client, uint32_t id, uint64_t delay,
			   struct schedtape_error *err)
{
	(void)delay;
	return schedtape_replay_pause(client, id, err);
}

int schedtape_replay_set_speed(struct schedtape_client *client, uint32_t id, uint32_t speed,
			       struct schedtape_error *err)
{
	(void)speed;
	return schedtape_replay_pause(client, id, err);
}

int schedtape_replay_get(struct schedtape_client *client, uint32_t id,
			 struct schedtape_replay_state *state, struct schedtape_error *err)
{
	*state = (struct schedtape_replay_state) { .size = sizeof(*state), .id = id };
	return schedtape_replay_pause(client, id, err);
}

#endif /* SELFTESTS_FAKE_CLIENT_H */
