/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef SCHEDTAPE_MACHINE_H
#define SCHEDTAPE_MACHINE_H

#include "machine/calibration.h"
#include <schedtape/client.h>

struct json_object;
struct schedtape_cgroup_watch;

/**
 * struct schedtape_recording - settings of the recording
 * @command: argv of the recorded command, or NULL
 * @filter: the session's filter; NULL: it is set later
 * @cpus: list of the CPUs recorded, or NULL: all
 * @clock: enum stape_clock
 * @overwrite: full rings keep the newest events
 * @syscalls: switches name the system call that a task sleeps in
 */
struct schedtape_recording {
	char *const *command;
	const struct schedtape_filter *filter;
	const char *cpus;
	uint32_t clock;
	bool overwrite;
	bool syscalls;
};

/*
 * Makes a tape's META, which describes this machine and the recording that is about to
 * start.  Returns NULL if out of memory.
 */
struct json_object *schedtape_machine_describe(const struct schedtape_module_info *module,
					       const struct schedtape_calibration *calibration,
					       const struct schedtape_recording *recording);

/*
 * Describes again, for another tape of the same recording, what may have changed since @meta was
 * made: the cgroups that are watched, and the scheduler's settings.
 */
void schedtape_machine_renew(struct json_object *meta, struct schedtape_cgroup_watch *watch);

/* Returns the name of an enum stape_throttling in META: "none", "cgroups" or "tasks". */
const char *schedtape_throttling_name(uint32_t throttling);

/* Reads the calibration on a tape.  -ENODATA: the tape has no valid one. */
int schedtape_machine_calibration(struct schedtape_tape *tape,
				  struct schedtape_calibration *calibration,
				  struct schedtape_error *err);

#endif /* SCHEDTAPE_MACHINE_H */
