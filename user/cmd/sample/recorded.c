// SPDX-License-Identifier: GPL-2.0-only
#include "sample/recorded.h"

#include <errno.h>
#include <stdlib.h>

#include <machine/machine.h>

#include "common/output.h"
#include "common/rights.h"
#include "record/options.h"
#include "record/recorder.h"

static struct json_object *describe(const struct recorded_options *what,
				    const struct schedtape_module_info *info,
				    const struct schedtape_recording *recording)
{
	struct schedtape_calibration calibration;
	struct json_object *meta;

	schedtape_calibrate(&calibration);
	meta = schedtape_machine_describe(info, &calibration, recording);
	if (!meta)
		return NULL;
	json_object_object_add(meta, "sample", json_object_new_string(what->id));
	if (what->interval)
		json_object_object_add(meta, "interval", json_object_new_int64(what->interval));
	return meta;
}

int recorded_open(struct recorded *recorded, struct recorder *recorder,
		  const struct recorded_options *what)
{
	static const struct record_options usual = { .clock = RECORD_CLOCK_ANY };
	struct schedtape_recording recording = {
		.command = what->command,
		.filter = &recorded->filter,
	};
	struct recorder_options to = {
		.path = what->tape,
		.filter = &recorded->filter,
		.level = 1,
		.quiet = what->quiet,
	};
	struct schedtape_module_info info = { .size = sizeof(info) };
	struct schedtape_error err;
	struct json_object *meta;
	int ret;

	ret = out_failed(schedtape_cgroup_find(what->cgroup, &recorded->cgroup, &err), &err);
	if (ret)
		return ret;
	recorded->filter = (struct schedtape_filter){
		.size = sizeof(recorded->filter),
		.cgroups = &recorded->cgroup,
		.nr_cgroups = 1,
	};
	ret = rights_say(schedtape_client_open(&recorded->client, &err), &err);
	if (!ret)
		ret = rights_say(schedtape_client_info(recorded->client, &info, &err), &err);
	if (!ret)
		ret = record_options_clock(&usual, &info, &recording.clock);
	if (!ret)
		ret = record_options_rings(&usual, NULL, 0, &info, &to.ring_bytes);
	if (ret)
		return ret;
	to.clock = recording.clock;
	meta = describe(what, &info, &recording);
	if (!meta)
		return -ENOMEM;
	to.meta = meta;
	ret = recorder_open(recorder, recorded->client, &to);
	json_object_put(meta);
	if (!ret)
		ret = rights_say(schedtape_filter_add(recorded->client,
						      schedtape_session_id(recorder->session),
						      &recorded->filter, &err), &err);
	return ret;
}

void recorded_free(struct recorded *recorded)
{
	schedtape_client_close(recorded->client);
	free(recorded->cgroup.path);
}
