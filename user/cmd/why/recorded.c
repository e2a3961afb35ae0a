// SPDX-License-Identifier: GPL-2.0-only
#include "why/recorded.h"

#include <string.h>

#include <json-c/json.h>

#include "common/idle-time.h"
#include "machine/machine.h"
#include "tape/meta.h"

static enum stape_throttling throttling_of(struct json_object *meta)
{
	struct json_object *value;
	const char *name = "";

	if (json_object_object_get_ex(meta, "throttling", &value))
		name = json_object_get_string(value);
	if (name && !strcmp(name, schedtape_throttling_name(STAPE_THROTTLING_CGROUPS)))
		return STAPE_THROTTLING_CGROUPS;
	if (name && !strcmp(name, schedtape_throttling_name(STAPE_THROTTLING_TASKS)))
		return STAPE_THROTTLING_TASKS;
	return STAPE_THROTTLING_NONE;
}

int recorded_read(struct recorded *recorded, struct schedtape_tape *tape)
{
	recorded->all = idle_time_has_filter_all(tape);
	recorded->knows_idle = idle_time_is_known(tape);
	recorded->throttling = throttling_of(tape_meta(tape));
	return quotas_read(&recorded->quotas, tape);
}

void recorded_free(struct recorded *recorded)
{
	quotas_free(&recorded->quotas);
}
