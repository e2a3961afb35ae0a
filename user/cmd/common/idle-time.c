// SPDX-License-Identifier: GPL-2.0-only
#include "common/idle-time.h"

#include <json-c/json.h>

#include "tape/meta.h"

static bool flag(struct json_object *object, const char *key)
{
	struct json_object *value;

	return json_object_object_get_ex(object, key, &value) && json_object_get_boolean(value);
}

static bool excludes_any(struct json_object *filter)
{
	struct json_object *names;

	return json_object_object_get_ex(filter, "exclude_comm", &names) &&
	       json_object_is_type(names, json_type_array) && json_object_array_length(names);
}

static struct json_object *filter_of(struct schedtape_tape *tape)
{
	struct json_object *filter = NULL;

	json_object_object_get_ex(tape_meta(tape), "filter", &filter);
	return filter;
}

bool idle_time_has_filter_all(struct schedtape_tape *tape)
{
	struct json_object *filter = filter_of(tape);

	return flag(filter, "all") && flag(filter, "kthreads");
}

/*
 * Without idle times, a tape of all tasks shows them by its switches.  The recorder's own CPU time
 * counts as idle then.
 */
bool idle_time_is_known(struct schedtape_tape *tape)
{
	return tape_has_idle_times(tape) ||
	       (idle_time_has_filter_all(tape) && !excludes_any(filter_of(tape)));
}
