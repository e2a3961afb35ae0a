/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A module and a program that do not fit each other: after an upgrade the module of before stays
 * loaded as long as a recording uses it.
 */
#ifndef SCHEDTAPE_VERSIONS_H
#define SCHEDTAPE_VERSIONS_H

#include <stdint.h>

#include <schedtape/client.h>

/* The module does not know a request. */
#define VERSIONS_OLD_MODULE	"the loaded module is older than this program: when no recording " \
				"runs, sudo modprobe -r schedtape && sudo modprobe schedtape"

/* The module's parameter stop_all is set: nothing may start. */
#define VERSIONS_STOP_ALL	"an administrator has stopped all recordings and replays: " \
				"echo N | sudo tee /sys/module/schedtape/parameters/stop_all"

/*
 * Compares the version of the module's wire format with this program's.  Returns 0, or -EPROTO:
 * @err says which of the two is older, and what to do.
 */
int versions_check(uint32_t wire_version, struct schedtape_error *err);

#endif /* SCHEDTAPE_VERSIONS_H */
