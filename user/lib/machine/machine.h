/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef SCHEDTAPE_MACHINE_H
#define SCHEDTAPE_MACHINE_H

#include "machine/calibration.h"
#include <schedtape/client.h>

struct json_object;

/**
 * struct schedtape_recording - what is going to be recorded
 * @command: argv of the recorded command, or NULL
 * @filter: NULL: what is in it comes later
 * @cpus: list of the CPUs recorded, or NULL: all
 * @clock: enum stape_clock
 * @overwrite: full rings keep the newest
 */
struct schedtape_recording {
	char *const *command;
	const struct schedtape_filter *filter;
	const char *cpus;
	uint32_t clock;
	bool overwrite;
};

/*
 * A tape's META: this machine, and the recording that is about to start.
 * NULL: out of memory.
 */
struct json_object *schedtape_machine_describe(const struct schedtape_module_info *module,
					       const struct schedtape_calibration *calibration,
					       const struct schedtape_recording *recording);

/* What a tape says of the recording machine.  -ENODATA: nothing, or nothing sound. */
int schedtape_machine_calibration(struct schedtape_tape *tape,
				  struct schedtape_calibration *calibration,
				  struct schedtape_error *err);

#endif /* SCHEDTAPE_MACHINE_H */
