/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef SCHEDTAPE_MACHINE_H
#define SCHEDTAPE_MACHINE_H

#include "burn.h"
#include "client.h"

struct json_object;

/*
 * A tape's META: this machine, and the recording that is about to start.
 * @command: argv of the recorded command, or NULL; @pids: those given, or NULL.
 * NULL: out of memory.
 */
struct json_object *schedtape_machine_describe(const struct schedtape_module_info *module,
					       const struct schedtape_calibration *calibration,
					       char *const *command, const uint32_t *pids,
					       size_t nr_pids);

#endif /* SCHEDTAPE_MACHINE_H */
