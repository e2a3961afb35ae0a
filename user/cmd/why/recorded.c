// SPDX-License-Identifier: GPL-2.0-only
#include "why/recorded.h"

#include <json-c/json.h>

#include "tape/meta.h"

static bool flag(struct json_object *object, const char *key)
{
	struct json_object *value;

	return json_object_object_get_ex(object, key, &value) && json_object_get_boolean(value);
}

int recorded_read(struct recorded *recorded, struct schedtape_tape *tape)
{
	struct json_object *filter = NULL;

	json_object_object_get_ex(tape_meta(tape), "filter", &filter);
	recorded->all = flag(filter, "all") && flag(filter, "kthreads");
	return quotas_read(&recorded->quotas, tape);
}

void recorded_free(struct recorded *recorded)
{
	quotas_free(&recorded->quotas);
}
