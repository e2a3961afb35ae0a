// SPDX-License-Identifier: GPL-2.0-only
#include "record/result.h"

#include "common/output.h"

void result_print_json(const char *tape, const struct recorder *recorder)
{
	struct json_object *root = out_json_new("record");

	json_object_object_add(root, "tape", json_object_new_string(tape));
	out_json_add_count(root, "bytes", recorder->bytes);
	out_json_add_count(root, "events", recorder->events);
	out_json_add_count(root, "lost", recorder->lost);
	out_json_add_count(root, "overwritten", recorder->overwritten);
	out_json(root, true);
}
