/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The scheduler's settings: what the kernel shows of them below debugfs. */
#ifndef SCHEDTAPE_SETTINGS_H
#define SCHEDTAPE_SETTINGS_H

struct json_object;

#define SCHEDTAPE_SETTINGS	"/sys/kernel/debug/sched"

/*
 * Returns what a tape's META has as "sched_settings", see Documentation/tape-format.rst.
 * @root: SCHEDTAPE_SETTINGS but in tests.
 */
struct json_object *schedtape_settings_describe(const char *root);

/*
 * Of what a tape has: the object with one string for each setting, by name; NULL: there is
 * none.  @reason: if so, why not, or NULL.
 */
struct json_object *schedtape_settings_files(struct json_object *meta, const char **reason);

#endif /* SCHEDTAPE_SETTINGS_H */
