// SPDX-License-Identifier: GPL-2.0-only
/*
 * A replay, of one or several rounds: starts the players of a program, lets the module or the
 * user-space engine run them, and reports the result.
 */
#include "replay/internal.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/pid-namespace.h"
#include "common/output.h"
#include "common/rights.h"
#include "common/signals.h"
#include "module/replay.h"

#define READY_TIMEOUT_MS	60000
#define START_DELAY_NS		2000000		/* for the players to set their timers */
#define LAST_EXIT_MS		5000
#define DEATH_MS		1000
#define LOOK_MS			100		/* between looks for processes that are due */
#define SLEPT_APART_NS		200000		/* the clocks are read again after more than this */
#define SLEPT_LEAST_NS		1000000

/**
 * struct replay - one replay
 * @played: the tape
 * @cast: what players share
 * @stage: what starts them
 * @state: as last reported by the module or the engine
 * @processes: the player processes that the controller starts
 * @looked: time of the last look for processes that are due, ms
 * @interrupted: a signal has ended the replay
 * @slept: for how long the machine slept during the round, ns
 * @killer: with the user's engine: kills the players if the controller dies, as the module does
 * @remover: with @cgroups: removes them if the controller dies
 */
struct replay {
	const struct replay_options *options;
	struct schedtape_client *client;
	struct schedtape_session *session;
	struct schedtape_tape *played;
	struct schedtape_calibration calibration;
	struct player_cast cast;
	struct stage stage;
	struct replay_tape tape;
	struct schedtape_replay_state state;
	uint32_t id;
	struct processes processes;
	uint64_t looked;
	int signals;
	bool interrupted;
	uint64_t slept;
	struct kill_on_exit killer;
	struct kill_on_exit remover;
	struct cgroups cgroups;
};

static bool ended(const struct replay *replay)
{
	uint32_t state = replay->state.state;

	return state > STAPE_REPLAY_RUNNING && state != STAPE_REPLAY_PAUSED;
}

static int take_state(const struct schedtape_replay_state *state, void *arg)
{
	struct replay *replay = arg;

	if (state->id == replay->id)
		replay->state = *state;
	return 0;
}

/* Gets the state of the replay from the module or the engine. */
static int get_state(struct replay *replay, struct schedtape_error *err)
{
	if (!replay->cast.engine)
		return schedtape_replay_get(replay->client, replay->id, &replay->state, err);
	schedtape_engine_get(replay->cast.engine, &replay->state);
	return 0;
}

/* -- players --------------------------------------------------------------- */

/*
 * Ctrl-Z: the players pause as long as this process is stopped.  A replay that another process has
 * paused, or that has not started or has ended, stays as it is.
 */
static void stop_here(struct replay *replay)
{
	struct schedtape_error err;
	uint64_t since = schedtape_now();
	bool paused = false;

	if (replay->cast.engine)
		kill_on_exit_stop(&replay->killer);
	else
		paused = !schedtape_replay_pause(replay->client, replay->id, &err);
	replay_show_end(replay->options);
	signals_stop_here();
	if (replay->cast.engine) {
		schedtape_engine_delay(replay->cast.engine, schedtape_now() - since);
		kill_on_exit_continue(&replay->killer);
	} else if (paused) {
		/* It fails if another process has meanwhile resumed or stopped the replay. */
		schedtape_replay_start(replay->client, replay->id, 0, &err);
	}
}

static void read_signals(struct replay *replay)
{
	if (signals_read(replay->signals, NULL))
		replay->interrupted = true;
	if (signals_stop())
		stop_here(replay);
	processes_reap(&replay->processes, false);
}

static int say_died(const struct replay *replay)
{
	replay_print_death(replay->cast.program, &replay->processes.died);
	return -EPIPE;
}

/* The module does not know a player before STAPE_IOC_JOIN, so only this notices its death. */
static bool lacks_one(const struct replay *replay)
{
	return replay->processes.died.pid && !ended(replay);
}

static int say_stopped(const struct replay *replay)
{
	out_error(NULL, replay->state.stopped_by == STAPE_STOPPED_BY_ADMIN ?
		  "an administrator has stopped all replays (parameter stop_all of the module)" :
		  "the replay was stopped by another process");
	return -ECANCELED;
}

/*
 * Waits for a moment until one of the processes that the controller has started has died, as all do
 * soon when a player has.  Returns true if a player has printed why.
 */
static bool is_explained(struct replay *replay)
{
	const struct timespec pause = { .tv_nsec = 2000000 };
	unsigned int ms;

	for (ms = 0; ms < DEATH_MS && !replay->processes.died.pid; ms += 2) {
		processes_reap(&replay->processes, false);
		if (replay->processes.none_left)
			break;
		nanosleep(&pause, NULL);
	}
	return replay_death_is_explained(&replay->processes.died);
}

/* Returns 0 if the replay is done, otherwise -errno after a message. */
static int say_end(struct replay *replay)
{
	bool same;

	switch (replay->state.state) {
	case STAPE_REPLAY_DONE:
		return 0;
	case STAPE_REPLAY_STUCK:
		replay_explain(replay->client, replay->id, replay->cast.program);
		return -EDEADLK;
	case STAPE_REPLAY_BROKEN:
		if (is_explained(replay))
			return -EPIPE;
		/* The module's PID is that of the initial namespace. */
		same = replay->cast.engine || pid_namespace_is_initial();
		if (same && replay->processes.died.pid == replay->state.failed_pid)
			return say_died(replay);
		if (same)
			out_error(NULL, "a player (PID %u) died: the replay was ended",
				  replay->state.failed_pid);
		else
			out_error(NULL, "a player died: the replay was ended");
		return -EPIPE;
	default:
		return say_stopped(replay);
	}
}

/* Waits until all players of the start are in their first wait, or have ended. */
static int wait_until_ready(struct replay *replay)
{
	struct timespec pause = { .tv_nsec = 2000000 };
	struct schedtape_error err;
	unsigned int ms;

	for (ms = 0; ms < READY_TIMEOUT_MS; ms += 2) {
		/* Before get_state(), so that the state is not older than a death found here. */
		read_signals(replay);
		if (get_state(replay, &err))
			return out_failed(-EIO, &err);
		if (replay->interrupted)
			return -EINTR;
		if (lacks_one(replay))
			return say_died(replay);
		if (replay->state.waiting + replay->state.done >= replay->processes.players)
			return 0;
		if (ended(replay))
			return say_end(replay);
		if (replay->processes.none_left)
			break;
		nanosleep(&pause, NULL);
	}
	out_error(NULL, "only %u of %u players were ready", replay->state.waiting,
		  replay->processes.players);
	return -ETIMEDOUT;
}

static void stop_replay(struct replay *replay)
{
	struct schedtape_error err;

	if (replay->cast.engine)
		schedtape_engine_stop(replay->cast.engine);
	else
		schedtape_replay_stop(replay->client, replay->id, &err);
}

/* -- the replay ------------------------------------------------------------ */

/* Returns for how long the machine has slept (suspend, hibernation) since it was started, ns. */
static uint64_t slept_so_far(void)
{
	uint64_t before, after, boot;
	int tries = 100;

	do {
		before = schedtape_now();
		boot = schedtape_clock_now(CLOCK_BOOTTIME);
		after = schedtape_now();
	} while (after - before > SLEPT_APART_NS && --tries);
	return boot > after ? boot - after : 0;
}

/* Returns for how long it has slept since @before was returned; less than 1 ms is 0. */
static uint64_t slept_since(uint64_t before)
{
	uint64_t slept = slept_so_far() - before;

	return (int64_t)slept < SLEPT_LEAST_NS ? 0 : slept;
}

/* Records until the last recorded task has ended, because exits are part of the replay. */
static int finish_recorder(struct replay *replay)
{
	struct pollfd fd = { .fd = schedtape_session_fd(replay->tape.recorder.session) };
	int ms, ret = 0;

	for (ms = 0; ms < LAST_EXIT_MS && !ret && !replay->interrupted; ms += 20) {
		if (poll(&fd, 1, 20) > 0 && fd.revents & POLLHUP)
			break;
		read_signals(replay);
		ret = recorder_tick(&replay->tape.recorder);
	}
	return ret ? ret : recorder_stop(&replay->tape.recorder);
}

/*
 * The module notifies every second, and at the end.  Notifications may be lost (full socket),
 * so ask for the state as well.
 */
static int look_after(struct replay *replay, bool told, struct schedtape_error *err)
{
	bool deserted = replay->processes.none_left && !processes_to_come(&replay->processes);
	int ret = 0;

	if (told)
		ret = schedtape_client_monitor_read(replay->client, take_state, replay, err);
	if (!ret)
		ret = get_state(replay, err);
	if (ret)
		return out_failed(ret, err);
	replay_show(replay->options, replay->cast.program, &replay->state);
	if (lacks_one(replay))
		return say_died(replay);
	if (deserted && !ended(replay)) {
		out_error(NULL, "all players have gone before the replay's end");
		return -ECHILD;
	}
	return 0;
}

static int start_due(struct replay *replay)
{
	size_t before = replay->processes.nr;
	struct schedtape_error err;
	uint64_t now = now_ms();
	int ret;

	if (!processes_to_come(&replay->processes) || now < replay->looked + LOOK_MS)
		return 0;
	replay->looked = now;
	ret = get_state(replay, &err);
	if (ret)
		return out_failed(ret, &err);
	ret = processes_start_due(&replay->processes, replay->state.time, replay->state.speed);
	return ret ? ret : replay_tape_add(&replay->tape, &replay->processes, before);
}

static int start_replay(struct replay *replay)
{
	struct schedtape_error err;
	int ret;

	if (replay->cast.engine) {
		schedtape_engine_start(replay->cast.engine, START_DELAY_NS);
		return 0;
	}
	ret = schedtape_replay_start(replay->client, replay->id, START_DELAY_NS, &err);
	/* Another process may stop a replay at any time, also before its start. */
	if (ret && !schedtape_replay_get(replay->client, replay->id, &replay->state, NULL) &&
	    replay->state.state == STAPE_REPLAY_STOPPED)
		return say_stopped(replay);
	return out_failed(ret, &err);
}

static int cannot_wait(void)
{
	int ret = -errno;

	out_error(NULL, "cannot wait for the players: %s: the replay ends", strerror(-ret));
	return ret;
}

static int run_replay(struct replay *replay)
{
	struct schedtape_client *client = replay->client;
	struct schedtape_session *session = replay->tape.recorder.session;
	struct schedtape_error err;
	struct pollfd fds[] = {
		{ .fd = client ? schedtape_client_monitor(client, replay->id, &err) : -1,
		  .events = POLLIN },
		{ .fd = replay->signals, .events = POLLIN },
		{ .fd = session ? schedtape_session_fd(session) : -1, .events = POLLIN },
	};
	bool only_signals;
	uint64_t slept;
	int ret, n, ms;

	if (replay->client && fds[0].fd < 0)
		return out_failed(fds[0].fd, &err);
	slept = slept_so_far();
	ret = start_replay(replay);
	while (!ret && !ended(replay) && !replay->interrupted) {
		ms = recorder_wait(&replay->tape.recorder);
		if (processes_to_come(&replay->processes) && ms > LOOK_MS)
			ms = LOOK_MS;
		n = poll(fds, 3, ms);
		if (n < 0 && errno != EINTR) {
			ret = cannot_wait();
			break;
		}
		if (fds[1].revents)
			read_signals(replay);
		if (n <= 0 || fds[0].revents || replay->processes.none_left ||
		    replay->processes.died.pid)
			ret = look_after(replay, fds[0].revents, &err);
		if (!ret && !ended(replay))
			ret = start_due(replay);
		/* POLLHUP: no recorded task is left, for now.  Don't poll the session any more. */
		if (fds[2].revents & POLLHUP)
			fds[2].fd = -1;
		/*
		 * The module notifies every second.  To read at a player's end, too, would keep the
		 * CPU from players that have not ended yet.
		 */
		only_signals = client && n > 0 && !fds[0].revents && !fds[2].revents;
		if (replay->tape.recorder.started && !ret && !only_signals)
			ret = recorder_tick(&replay->tape.recorder);
	}
	replay->slept = slept_since(slept);
	replay_show_end(replay->options);
	return ret;
}

/* Prints the last known state, which may be a second old, if there is no current one. */
static void say_interrupted(struct replay *replay)
{
	struct schedtape_error err;

	get_state(replay, &err);
	replay_print_interrupted(replay->options, replay->cast.program, &replay->state);
}

static int play(struct replay *replay)
{
	int ret, finished;

	ret = stage_publish(&replay->stage);
	/* Its META has the costs. */
	if (!ret && replay->options->record)
		ret = replay_tape_open(&replay->tape, replay->options, replay->client,
				       &replay->stage, replay->played);
	if (!ret)
		ret = processes_begin(&replay->processes, &replay->stage);
	if (!ret)
		ret = wait_until_ready(replay);
	if (!ret && replay->options->record)
		ret = replay_tape_start(&replay->tape, replay->client, replay->id,
					replay->cast.program, &replay->processes);
	/* If all tasks only end, the replay has ended by now. */
	if (!ret && !ended(replay))
		ret = run_replay(replay);
	if (ret && !ended(replay))
		stop_replay(replay);
	if (replay->tape.recorder.started) {
		if (replay->state.state == STAPE_REPLAY_DONE)
			replay_tape_add_told(&replay->tape, &replay->cast);
		finished = finish_recorder(replay);
		ret = ret ? ret : finished;
	}
	if (!ret && replay->interrupted)
		ret = -EINTR;
	if (ret == -EINTR)
		say_interrupted(replay);
	return ret ? ret : say_end(replay);
}

/* Closes the replay in any state.  No player is left when this returns. */
static void close_replay(struct replay *replay)
{
	if ((replay->id || replay->cast.engine) && !ended(replay))
		stop_replay(replay);
	kill_on_exit_end(&replay->killer);
	if (replay->cast.fd >= 0)
		close(replay->cast.fd);
	/* If the stop has failed, the session's end kills the players. */
	schedtape_session_close(replay->session);
	processes_reap(&replay->processes, true);
	/* Keep the remover until here, because the controller might have been killed before. */
	cgroups_remove(&replay->cgroups);
	kill_on_exit_end(&replay->remover);
	schedtape_engine_free(replay->cast.engine);
	processes_free(&replay->processes);
	stage_close(&replay->stage);
	replay_tape_free_told(&replay->cast);
	if (replay->signals >= 0)
		close(replay->signals);
}

static void clean_up(void *arg)
{
	cgroups_remove(arg);
}

static int say_cannot_start(int ret)
{
	out_error(NULL, "cannot start: %s", strerror(-ret));
	return ret;
}

/*
 * Call it before opening a file that has to close with the controller, because the remover inherits
 * it; and before a killer starts, which holds the remover's descriptor: so the remover removes the
 * cgroups after the killer has killed the players.
 */
static int open_cgroups(struct replay *replay, struct schedtape_tape *tape)
{
	const struct replay_options *opts = replay->options;
	int ret;

	if (!opts->cgroups)
		return 0;
	ret = cgroups_open(&replay->cgroups);
	if (!ret)
		ret = kill_on_exit_start(&replay->remover, clean_up, &replay->cgroups);
	if (ret)
		return say_cannot_start(ret);
	ret = cgroups_make(&replay->cgroups, opts->cgroups, tape, replay->cast.program,
			   &opts->cpus);
	replay->cast.cgroups = replay->cgroups.procs;
	return ret;
}

/*
 * Makes the user-space engine, or begins its next round.  There is no file that the killer must not
 * inherit.
 */
static int open_engine(struct replay *replay)
{
	const struct schedtape_program *program = replay->cast.program;
	struct schedtape_error err;
	int ret;

	ret = kill_on_exit_start(&replay->killer, NULL, NULL);
	if (ret)
		return say_cannot_start(ret);
	replay->stage.group = replay->killer.pid;
	if (replay->cast.engine) {
		schedtape_engine_rewind(replay->cast.engine);
		return 0;
	}
	ret = schedtape_engine_create(program->nr_players, program->nr_tasks, program->edges,
				      program->nr_edges,
				      replay->options->speed * STAPE_REPLAY_SPEED_ONE,
				      &replay->cast.engine, &err);
	return out_failed(ret, &err);
}

static int open_replay(struct replay *replay)
{
	const struct schedtape_program *program = replay->cast.program;
	struct schedtape_error err;
	int ret;

	ret = schedtape_session_open(replay->client, &replay->session, &err);
	if (!ret)
		ret = schedtape_replay_create(replay->session, program->nr_players,
					      program->nr_tasks, program->edges,
					      program->wakers, program->nr_edges,
					      replay->options->repeat != 1,
					      &replay->cast.fd, &replay->id, &err);
	if (!ret)
		ret = schedtape_replay_set_speed(replay->client, replay->id,
						 replay->options->speed * STAPE_REPLAY_SPEED_ONE,
						 &err);
	if (ret)
		return rights_say(ret, &err);
	return replay->options->record ? replay_tape_make_told(&replay->cast) : 0;
}

static int open_all(struct replay *replay, struct schedtape_tape *tape)
{
	int ret;

	prctl(PR_SET_CHILD_SUBREAPER, 1);
	signals_take_stops();
	replay->signals = signals_open();
	ret = replay->signals < 0 ? replay->signals : open_cgroups(replay, tape);
	return ret || replay->options->user ? ret : open_replay(replay);
}

/* -- rounds ---------------------------------------------------------------- */

/* Begins another round of the module's replay, which keeps its number and its speed. */
static int rewind_replay(struct replay *replay)
{
	struct schedtape_error err;
	int ret = schedtape_replay_rewind(replay->session, &err), got = get_state(replay, &err);

	if (ret == -ECANCELED)
		return say_stopped(replay);
	ret = ret ? ret : got;
	replay->cast.speed = (double)replay->state.speed / STAPE_REPLAY_SPEED_ONE;
	return out_failed(ret, &err);
}

static int play_round(struct replay *replay, uint32_t round)
{
	int ret = 0;

	replay->state = (struct schedtape_replay_state){ .size = sizeof(replay->state) };
	replay->looked = 0;
	replay->slept = 0;
	if (replay->options->user)
		ret = open_engine(replay);
	else if (round)
		ret = rewind_replay(replay);
	return ret ? ret : play(replay);
}

/* Waits until all players of a round that is done have ended. */
static void end_round(struct replay *replay)
{
	kill_on_exit_end(&replay->killer);
	processes_reap(&replay->processes, true);
	processes_free(&replay->processes);
	replay->processes = (struct processes){ 0 };
}

int replay_run(const struct replay_options *opts, struct schedtape_client *client,
	       struct schedtape_tape *tape, const struct schedtape_program *program,
	       const struct schedtape_calibration *calibration, double scale,
	       struct json_object *results)
{
	struct replay replay = {
		.options = opts,
		.client = client,
		.played = tape,
		.calibration = *calibration,
		.cast = {
			.command = out_command(),
			.program = program,
			.scale = scale,
			.speed = opts->speed,
			.cpus = &opts->cpus,
			.fd = -1,
			.attributes = !opts->no_attributes,
			.no_ext = opts->no_ext,
			.autogroups = opts->autogroups,
			.slices = opts->slices,
			.clamps = opts->clamps,
		},
		.signals = -1,
	};
	bool slept = false;
	uint32_t round;
	int ret, closed;

	replay.cast.calibration = &replay.calibration;
	replay.stage.cast = &replay.cast;
	stage_open(&replay.stage);
	ret = open_all(&replay, tape);
	for (round = 0; (!opts->repeat || round < opts->repeat) && !ret; round++) {
		ret = play_round(&replay, round);
		if (ret)
			break;
		end_round(&replay);
		slept = slept || replay.slept;
		if (!opts->record)
			replay_print(opts, program, &replay.state, replay.slept, results);
	}
	close_replay(&replay);
	closed = recorder_close(&replay.tape.recorder, replay.tape.recorder.start_time,
				opts->quiet || opts->common.json);
	ret = ret ? ret : closed;
	/* A replay that is recorded has one round, and a message about its tape comes first. */
	if (!ret && opts->record)
		replay_print(opts, program, &replay.state, replay.slept, results);
	return ret ? ret : slept;
}
