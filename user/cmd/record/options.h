/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The command line of schedtape record.
 */
#ifndef SCHEDTAPE_RECORD_OPTIONS_H
#define SCHEDTAPE_RECORD_OPTIONS_H

#include <argp.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/targets.h"
#include "record/internal.h"
#include "record/orders.h"
#include "record/process.h"
#include "record/triggers.h"

/* Without -k: record chooses the clock. */
#define RECORD_CLOCK_ANY	UINT32_MAX

/**
 * struct record_options - what to record, and how
 * @output: the tape, see destination_find(), allocated
 * @cpus: argument of -C, or NULL
 * @ring_bytes: of -m; 0: no -m
 * @memory: of -M; 0: no -M
 * @clock: enum stape_clock or RECORD_CLOCK_ANY
 * @parts: of --switch-output and what limits its tapes; whole: there is one tape
 * @triggers: of --trigger
 * @points: of -e and --filter
 * @max_size: size at which the recording ends, 0: no limit
 * @threads: valid argument of --threads for streams_parse(); NULL: one file
 * @realtime: priority of -r; 0: no -r
 * @no_final: write no tape at the end
 * @control: valid argument of --control, or NULL
 * @name: valid argument of --name, or NULL
 * @daemon: of --daemon, --pidfile and --log
 * @command: command with its arguments, or NULL
 */
struct record_options {
	char *output;
	struct targets targets;
	const char *cpus;
	uint64_t ring_bytes;
	uint64_t memory;
	uint32_t clock;
	struct parts parts;
	struct triggers triggers;
	struct tracepoints points;
	uint64_t max_size;
	const char *threads;
	int level;
	int realtime;
	bool overwrite;
	bool no_final;
	bool syscalls;
	bool quiet;
	bool json;
	const char *control;
	const char *name;
	struct daemon_options daemon;
	struct timing timing;
	char **command;
};

#define RECORD_DURATION	0x4001	/* the key of --duration */

/*
 * Parses an option of record's besides the targets.  top calls it for the few that it lists
 * itself.  A wrong one ends the process.
 */
error_t record_options_parse_one(int key, char *arg, struct record_options *opts,
				 const struct argp_state *state);
/* Does not return if an option is wrong. */
void record_options_parse(struct record_options *opts, int argc, char **argv);
void record_options_free(struct record_options *opts);
/*
 * Makes the mask of -C for session-set; *mask is NULL for all CPUs.  Returns 0 or -errno;
 * -ENODEV, after a message: a CPU does not exist.
 */
int record_options_cpus(const struct record_options *opts, unsigned char **mask, size_t *bytes);
/*
 * Finds the size of each CPU's ring.  @mask: of record_options_cpus().  Returns 0; -EINVAL, after a
 * message: -M does not fit so many CPUs.
 */
int record_options_rings(const struct record_options *opts, const unsigned char *mask,
			 size_t mask_bytes, const struct schedtape_module_info *info,
			 uint64_t *bytes);
/*
 * Chooses the clock: without -k, the counter only if it is the kernel's clocksource, and so is
 * trusted.  Returns 0, or -ENODEV after a message.
 */
int record_options_clock(const struct record_options *opts,
			 const struct schedtape_module_info *info, uint32_t *clock);

#endif /* SCHEDTAPE_RECORD_OPTIONS_H */
