/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The command line of schedtape record.
 */
#ifndef SCHEDTAPE_RECORD_OPTIONS_H
#define SCHEDTAPE_RECORD_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/targets.h"
#include "record/timing.h"

/* No -k: what suits the machine. */
#define RECORD_CLOCK_ANY	UINT32_MAX

/**
 * struct record_options - what to record, and how
 * @cpus: CPUs as they were given, or NULL
 * @clock: enum stape_clock or RECORD_CLOCK_ANY
 * @threads: as streams_parse() takes it, valid, or NULL: one file
 * @realtime: of -r, 0: none
 * @control: as it was given, sound, or NULL
 * @command: with its arguments, or NULL
 */
struct record_options {
	const char *output;
	struct targets targets;
	const char *cpus;
	uint64_t ring_bytes;
	uint32_t clock;
	const char *threads;
	int level;
	int realtime;
	bool overwrite;
	bool quiet;
	bool json;
	const char *control;
	struct timing timing;
	char **command;
};

/* Does not return if something is wrong with it. */
void record_options_parse(struct record_options *opts, int argc, char **argv);
void record_options_free(struct record_options *opts);
/*
 * The mask that session-set takes, or *mask NULL: all CPUs.  Says which CPU
 * does not exist: -ENODEV.
 */
int record_options_cpus(const struct record_options *opts, unsigned char **mask, size_t *bytes);

#endif /* SCHEDTAPE_RECORD_OPTIONS_H */
