/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The scheduler's settings, as far as debugfs shows them. */
#ifndef SCHEDTAPE_SETTINGS_H
#define SCHEDTAPE_SETTINGS_H

struct json_object;

#define SCHEDTAPE_SETTINGS	"/sys/kernel/debug/sched"

/*
 * Returns the "sched_settings" of a tape's META, see Documentation/tape-format.rst.
 * @root: SCHEDTAPE_SETTINGS, except in tests.
 */
struct json_object *schedtape_settings_describe(const char *root);

/*
 * Returns the settings in a tape's META: one string for each setting, by name.  If there are
 * none, returns NULL and sets @reason, which is NULL if the tape has no reason.
 */
struct json_object *schedtape_settings_files(struct json_object *meta, const char **reason);

#endif /* SCHEDTAPE_SETTINGS_H */
