// SPDX-License-Identifier: GPL-2.0-only
/*
 * schedtape replay: compiles a tape and replays it, once or repeatedly.
 */
#include <errno.h>

#include "commands.h"
#include "common/input.h"
#include "common/output.h"
#include "common/priority.h"
#include "common/rights.h"
#include "common/signals.h"
#include "machine/machine.h"
#include "replay/internal.h"

#define VAGUE			0.1		/* spread of a calibration that is too large */

/*
 * Finds the factor for the tape's CPU time.  With --burn=work a faster CPU gets less, so that
 * it does the same work.
 */
static int find_scale(const struct replay_options *opts, struct schedtape_tape *tape,
		      const struct schedtape_calibration *here, double *scale)
{
	struct schedtape_calibration there;
	struct schedtape_error err;
	int ret;

	*scale = opts->scale_cpu;
	if (!opts->work)
		return 0;
	ret = out_failed(schedtape_machine_calibration(tape, &there, &err), &err);
	if (ret)
		return ret;
	if (there.spread > VAGUE || here->spread > VAGUE)
		out_warning(NULL, "--burn=work: the CPU's speed varied by %.0f %% when it was "
			    "measured %s: work is kept no better than that",
			    100 * (there.spread > here->spread ? there.spread : here->spread),
			    there.spread > here->spread ? "for the recording" : "just now");
	*scale *= there.spins_per_ms / here->spins_per_ms;
	return 0;
}

static int compile(struct replay_options *opts, struct schedtape_tape *tape,
		   struct schedtape_program **program)
{
	struct schedtape_error err;

	if (choice_made(&opts->choice)) {
		if (choice_check(&opts->choice, tape, opts->common.input))
			return -ENOENT;
		opts->program.keep = choice_keeps;
		opts->program.arg = &opts->choice;
	}
	return out_failed(schedtape_program_compile(tape, &opts->program, program, &err), &err);
}

static void say_kthreads(const struct replay_options *opts, uint32_t n)
{
	if (n && !opts->quiet)
		out_warning(NULL, "%u kernel thread%s left out: --kthreads replays %s", n,
			    n > 1 ? "s are" : " is", n > 1 ? "them" : "it");
}

/* Returns true if @nr tasks need what this kernel has not, and warns. */
static bool lacks(const struct replay_options *opts, uint32_t nr, bool (*has)(void),
		  const char *what, const char *instead)
{
	if (!nr || opts->no_attributes || has())
		return false;
	out_warning(NULL, "this kernel has no %s: %u task%s that had %s will play %s", what, nr,
		    nr > 1 ? "s" : "", what[strlen(what) - 1] == 's' ? "them" : "it", instead);
	return true;
}

/* Returns true if players are to share autogroups as the tasks did, and if they can. */
static bool shares_autogroups(const struct replay_options *opts,
			      const struct schedtape_program *program)
{
	uint32_t nr = program->nr_grouped;
	const char *why;

	if (!nr || opts->no_attributes)
		return false;
	/* If the controller dies, its engine kills players by their process group. */
	why = opts->user ? "--engine=user has no autogroups" : sessions_lack();
	if (!why)
		return true;
	out_warning(NULL, "%s: %u task%s that had them will play without", why, nr,
		    nr > 1 ? "s" : "");
	return false;
}

static void say_cut(const struct replay_options *opts, uint32_t nr)
{
	if (nr && !opts->no_attributes)
		out_warning(NULL, "affinities end at CPU %zu: %u task%s that could run on later CPUs, "
			    "too, will not do so", 8 * SCHEDTAPE_AFFINITY_BYTES - 1, nr,
			    nr > 1 ? "s" : "");
}

/* Finds out whether this kernel can set all attributes of the tasks. */
static void check_kernel(struct replay_options *opts, const struct schedtape_program *program)
{
	opts->no_ext = lacks(opts, program->nr_ext, priority_has_ext, "SCHED_EXT",
			     "with SCHED_OTHER");
	opts->slices = program->nr_slices && !lacks(opts, program->nr_slices, priority_has_slices,
						    "slices of tasks", "with the kernel's");
	opts->clamps = program->nr_clamped && !lacks(opts, program->nr_clamped,
						     priority_has_clamps, "utilization clamps",
						     "without");
	opts->autogroups = shares_autogroups(opts, program);
	say_cut(opts, program->nr_cut);
}

static int replay_all(struct replay_options *opts, struct schedtape_tape *tape)
{
	struct json_object *results = opts->common.json ? json_object_new_array() : NULL;
	struct schedtape_program *program = NULL;
	struct schedtape_calibration calibration;
	struct schedtape_client *client = NULL;
	struct schedtape_error err;
	double scale = 1;
	int ret = 0;

	if (!opts->user)
		ret = rights_say(schedtape_client_open(&client, &err), &err);
	else if (!opts->quiet)
		out_warning(NULL, "--engine=user is the second choice: waits are not in state D, "
			    "timers wake through a system call, and CPU clocks need one");
	if (!ret)
		ret = compile(opts, tape, &program);
	if (!ret) {
		say_kthreads(opts, program->nr_kthreads);
		check_kernel(opts, program);
		schedtape_calibrate(&calibration);
		ret = find_scale(opts, tape, &calibration, &scale);
	}
	if (!ret)
		ret = replay_run(opts, client, tape, program, &calibration, scale, results);
	/* Ctrl-C ends a loop: print the results so far. */
	if (results && (ret >= 0 || ret == -EINTR))
		replay_print_json(opts->common.input, results);
	else
		json_object_put(results);
	schedtape_program_free(program);
	schedtape_client_close(client);
	return ret;
}

int cmd_replay(int argc, char **argv)
{
	struct replay_options opts;
	struct schedtape_tape *tape;
	int ret;

	replay_options_parse(&opts, argc, argv);
	/* The limit counts for files in memory, too.  Not SIGPIPE: it ends a loop. */
	signals_survive_limits();
	tape = cmd_open_tape(opts.common.input);
	ret = tape ? replay_all(&opts, tape) : -EIO;
	cmd_close_tape(tape, opts.common.input);
	replay_options_free(&opts);
	return out_finish(ret && ret != -EINTR ? CMD_FAILURE : 0);
}
