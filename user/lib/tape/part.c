// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tape/part.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include <json-c/json.h>

#include "tape/json.h"
#include "tape/meta.h"

/* Rounded rates are equal. */
#define RATE_ERROR	0.000001

void tape_id(struct schedtape_tape *tape, char id[TAPE_ID_LEN])
{
	uint64_t real = 0, interval = 0;
	struct json_object *clock;

	tape_json_number(tape_meta(tape), "interval", &interval);
	if (!interval && tape_json_text(tape_meta(tape), "sample", id, TAPE_ID_LEN) && *id)
		return;
	if (json_object_object_get_ex(tape_meta(tape), "clock", &clock))
		tape_json_number(clock, "realtime", &real);
	snprintf(id, TAPE_ID_LEN, "%016" PRIx64 "%016" PRIx64, real,
		 schedtape_tape_end(tape)->start_time);
}

struct json_object *tape_part_describe(const struct tape_part *part)
{
	struct json_object *object = json_object_new_object();

	json_object_object_add(object, "tape", json_object_new_string(part->id));
	json_object_object_add(object, "from", json_object_new_uint64(part->from));
	json_object_object_add(object, "to", json_object_new_uint64(part->to));
	json_object_object_add(object, "speed", json_object_new_double(part->speed));
	return object;
}

bool tape_part_read(struct schedtape_tape *tape, struct tape_part *part)
{
	struct json_object *object, *speed;

	*part = (struct tape_part){ .speed = 1 };
	if (tape_json_number(tape_meta(tape), "interval", &part->interval) && part->interval &&
	    tape_json_text(tape_meta(tape), "sample", part->id, sizeof(part->id)))
		return true;
	part->interval = 0;
	if (!json_object_object_get_ex(tape_meta(tape), "replay_part", &object) ||
	    !tape_json_text(object, "tape", part->id, sizeof(part->id)) ||
	    !tape_json_number(object, "from", &part->from) ||
	    !tape_json_number(object, "to", &part->to) || part->to <= part->from ||
	    !json_object_object_get_ex(object, "speed", &speed))
		return false;
	part->speed = json_object_get_double(speed);
	return part->speed > 0;
}

double tape_replay_rate(struct schedtape_tape *tape)
{
	struct json_object *costs, *value;
	double rate;

	if (!json_object_object_get_ex(tape_meta(tape), "replay_costs", &costs) ||
	    !json_object_object_get_ex(costs, "rate", &value))
		return NAN;
	rate = json_object_get_double(value);
	return fabs(rate - 1) > RATE_ERROR ? rate : 1;
}
