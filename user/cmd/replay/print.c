// SPDX-License-Identifier: GPL-2.0-only
#include "replay/internal.h"

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/output.h"
#include "module/replay.h"

#define EXPLAINED	16	/* players of a deadlock that are named */

static uint64_t lag_average(const struct schedtape_replay_state *state)
{
	return schedtape_lag_average(state->lag_total, state->timed_waits);
}

/*
 * Returns how long the replay took: 0 if all players ended before the start, because the module
 * sets stop_time then, but not start_time.
 */
static uint64_t wall_time(const struct schedtape_replay_state *state)
{
	return state->start_time ? state->stop_time - state->start_time : 0;
}

static bool shows(const struct replay_options *opts)
{
	return !opts->quiet && isatty(STDERR_FILENO);
}

void replay_show(const struct replay_options *opts, const struct schedtape_program *program,
		 const struct schedtape_replay_state *state)
{
	char steps[OUT_COUNT_LEN];

	if (!shows(opts))
		return;
	fprintf(stderr, "\r[ %s: %.1f of %.1f s%s, %u of %u tasks done, %s steps, lag %.3f ms, "
		"at worst %.3f ms ]\033[K", out_command(), state->time / 1e9,
		program->duration / 1e9, state->state == STAPE_REPLAY_PAUSED ? ", paused" : "",
		state->done, state->players, out_count(steps, state->steps),
		out_ms(lag_average(state)), out_ms(state->lag_max));
}

void replay_show_end(const struct replay_options *opts)
{
	if (shows(opts))
		fprintf(stderr, "\r\033[K");
}

/*
 * JSON rounds[] of replay:
 * @task_count: Tasks that were replayed.
 * @kthreads_left_out: Kernel threads that were left out for want of --kthreads.
 * @wall_ns: Duration of this replay; 0 if every player ended before the replay started.
 * @recorded_wall_ns: How long the recording took.
 * @steps: Calls of the module by all players.
 * @wakeups_by_task: Wake-ups of players by players.
 * @timed_waits: Waits that a timer ended.
 * @lag_avg_ns: How late they ended, on average.
 * @lag_max_ns: How late at most.
 * @slept_ns: How long the machine slept meanwhile.
 */
static struct json_object *result_json(const struct schedtape_program *program,
				       const struct schedtape_replay_state *state, uint64_t wall,
				       uint64_t slept)
{
	struct json_object *object = json_object_new_object();

	out_json_add_count(object, "task_count", program->nr_tasks);
	out_json_add_count(object, "kthreads_left_out", program->nr_kthreads);
	out_json_add_count(object, "wall_ns", wall);
	out_json_add_count(object, "recorded_wall_ns", program->duration);
	out_json_add_count(object, "steps", state->steps);
	out_json_add_count(object, "wakeups_by_task", program->wakeups);
	out_json_add_count(object, "timed_waits", state->timed_waits);
	out_json_add_count(object, "lag_avg_ns", lag_average(state));
	out_json_add_count(object, "lag_max_ns", state->lag_max);
	out_json_add_count(object, "slept_ns", slept);
	return object;
}

/*
 * JSON of replay:
 * @tape: Path of the tape.
 * @rounds: A list, with an object for each round of -r or --loop.
 */
void replay_print_json(const char *path, struct json_object *rounds)
{
	struct json_object *root = out_json_new("replay");

	json_object_object_add(root, "tape", json_object_new_string(path));
	json_object_object_add(root, "rounds", rounds);
	out_json(root, true);
}

void replay_print(const struct replay_options *opts, const struct schedtape_program *program,
		  const struct schedtape_replay_state *state, uint64_t slept,
		  struct json_object *results)
{
	char steps[OUT_COUNT_LEN], wakeups[OUT_COUNT_LEN], timed[OUT_COUNT_LEN];
	uint64_t wall = wall_time(state);
	/* If the tape goes to standard output, no text may follow it there. */
	FILE *to = opts->record && !strcmp(opts->record, "-") ? stderr : stdout;

	if (slept)
		out_error(NULL, "the machine slept for %.3f s during the replay, which interrupted "
			  "its tasks: replay it again", slept / 1e9);
	if (results) {
		json_object_array_add(results, result_json(program, state, wall, slept));
		return;
	}
	if (opts->quiet)
		return;
	fprintf(to, "%u tasks replayed in %.3f s (recorded: %.3f s): %s steps, "
		"%s wake-ups by tasks, %s timed waits, lag %.3f ms on average, "
		"%.3f ms at worst\n",
		program->nr_tasks, wall / 1e9, program->duration / 1e9,
		out_count(steps, state->steps), out_count(wakeups, program->wakeups),
		out_count(timed, state->timed_waits), out_ms(lag_average(state)),
		out_ms(state->lag_max));
	/* Print it before the next replay, which may take long. */
	fflush(to);
}

void replay_print_interrupted(const struct replay_options *opts,
			      const struct schedtape_program *program,
			      const struct schedtape_replay_state *state)
{
	char steps[OUT_COUNT_LEN];

	/* A signal is the usual end of --loop. */
	if (opts->quiet || !opts->repeat)
		return;
	out_error(NULL, "interrupted after %.3f of %.3f s: %u of %u tasks done, %s steps, "
		  "lag %.3f ms on average, %.3f ms at worst", state->time / 1e9,
		  program->duration / 1e9, state->done, program->nr_tasks,
		  out_count(steps, state->steps), out_ms(lag_average(state)),
		  out_ms(state->lag_max));
}

bool replay_death_is_explained(const struct process_death *died)
{
	if (!died->pid)
		return false;
	/* Their program, and what executes it, end with 1 after a message. */
	if (WIFEXITED(died->status))
		return WEXITSTATUS(died->status) == 1;
	return WTERMSIG(died->status) == PLAYER_FAILED;
}

void replay_print_death(const struct schedtape_program *program,
			const struct process_death *died)
{
	const struct schedtape_program_task *task = &program->tasks[died->task];
	char name[TEXT_TASK_LEN];

	if (replay_death_is_explained(died))
		return;
	out_error(NULL, "a player (PID %u) died as %s: %s", died->pid,
		  text_task(name, task->name, task->pid), WIFSIGNALED(died->status) ?
		  strsignal(WTERMSIG(died->status)) : "its exit status is not 0");
}

struct explanation {
	const struct schedtape_program *program;
	unsigned int named;
};

/*
 * Returns the first task that has the number of an edge's waker.  Which of several tasks it is now
 * does not matter: a tape's program gets stuck only if its players do not do as it says.
 */
static const struct schedtape_program_task *waker_of(const struct schedtape_program *program,
						     uint32_t edge)
{
	return &program->tasks[program->players[program->wakers[edge]]];
}

static int explain_player(const struct schedtape_player_state *player, void *arg)
{
	struct explanation *explanation = arg;
	const struct schedtape_program *program = explanation->program;
	const struct schedtape_program_task *task, *waker;
	uint32_t number = schedtape_program_task_of(program, player->number, player->turn);
	char name[TEXT_TASK_LEN], waker_name[TEXT_TASK_LEN];

	if (player->state != STAPE_PLAYER_EDGE || number == SCHEDTAPE_NONE ||
	    player->edge >= program->nr_edges)
		return 0;
	if (explanation->named++ == EXPLAINED)
		return 1;
	task = &program->tasks[number];
	waker = waker_of(program, player->edge);
	out_error(NULL, "deadlock: %s (PID %u) waits for %s",
		  text_task(name, task->name, task->pid), player->vpid,
		  text_task(waker_name, waker->name, waker->pid));
	return 0;
}

void replay_explain(struct schedtape_client *client, uint32_t id,
		    const struct schedtape_program *program)
{
	struct explanation explanation = { .program = program };
	struct schedtape_error err;

	if (schedtape_replay_players(client, id, explain_player, &explanation, &err))
		out_error(NULL, "deadlock: all players wait for each other; %s", err.text);
}
