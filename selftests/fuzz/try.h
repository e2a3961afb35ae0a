/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Checks of the fuzzers of tapes. Checksums would stop a fuzzer at once, so every input is read
 * twice: as it is, and with correct checksums in all that looks like a record.
 */
#ifndef SELFTESTS_TRY_H
#define SELFTESTS_TRY_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <machine/cgroup-tree.h>
#include <machine/machine.h>
#include <schedtape.h>
#include <machine/settings.h>
#include <common/quotas.h>

#include "../unit/tapes.h"

static inline void seal(unsigned char *tape, size_t size)
{
	uint64_t at, bytes;

	if (size < 32 || get32(tape + 12) < 32 || get32(tape + 12) > size)
		return;
	seal_header(tape);
	for (at = get32(tape + 12); at + 32 <= size; at += bytes) {
		bytes = 32 + (uint64_t)get32(tape + at + 8) + get32(tape + at + 12);
		if (bytes > size - at)
			return;
		seal_record(tape + at);
		bytes = (bytes + 7) & ~7ULL;
	}
}

static inline void check_tasks(struct schedtape_tape *tape)
{
	const struct schedtape_task_info *tasks;
	unsigned int sum = 0;
	size_t n, i, k;

	tasks = schedtape_tape_tasks(tape, &n);
	for (i = 0; i < n; i++) {
		if (tasks[i].comm[STAPE_COMM_LEN - 1])
			abort();
		for (k = 0; k < tasks[i].affinity_bytes; k++)
			sum += tasks[i].affinity[k];
	}
	/* So that the compiler does not remove the reads. */
	if (sum == UINT32_MAX)
		abort();
}

static inline void check_players(struct schedtape_tape *tape)
{
	const struct schedtape_player *players;
	uint64_t sum = 0;
	size_t n, i;

	players = schedtape_tape_players(tape, &n);
	for (i = 0; i < n; i++)
		sum += players[i].time ^ players[i].task_start ^ players[i].pid;
	/* So that the compiler does not remove the reads. */
	if (sum == UINT64_MAX)
		abort();
}

/* @most: events and losses that there may be */
static inline void read_up_to(struct schedtape_tape *tape, uint64_t most, uint64_t *events)
{
	struct schedtape_error err;
	struct schedtape_event ev;
	uint64_t time = 0;
	int ret;

	for (*events = 0; *events <= 2 * most; ++*events) {
		ret = schedtape_tape_next(tape, &ev, &err);
		if (!ret)
			return;
		if (ret < 0 && ret != -EBADMSG)
			abort();
		if (ret == 1) {
			if (ev.time < time || ev.curr_kind > STAPE_NEXT_OTHER ||
			    (schedtape_event_is_gap(&ev) && ev.lost_first > ev.lost_last))
				abort();
			time = ev.time;
		}
	}
	abort();
}

static inline void read_all(struct schedtape_tape *tape, uint64_t *events)
{
	read_up_to(tape, schedtape_tape_pages(tape) * 1024 + 2 * schedtape_tape_chunks(tape) +
		   schedtape_tape_end(tape)->nr_cpus, events);
}

/* How many pages a pipe has is known only at its end: no more than its bytes have. */
static inline void read_pipe(struct schedtape_tape *tape, uint64_t *events)
{
	read_up_to(tape, 1ULL << 40, events);
	if (*events > schedtape_tape_pages(tape) * 1024 + 2 * schedtape_tape_chunks(tape) +
		      schedtape_tape_end(tape)->nr_cpus)
		abort();
}

static inline void check_clocks(struct schedtape_tape *tape)
{
	const struct stape_clock_sample *samples;
	size_t i, n;

	samples = schedtape_tape_clocks(tape, &n);
	for (i = 1; i < n; i++) {
		if (samples[i].counter < samples[i - 1].counter)
			abort();
		schedtape_clock_step(&samples[i - 1], &samples[i]);
	}
}

static inline void check_cgroups(struct schedtape_tape *tape)
{
	const struct tape_cgroup *cgroups, *look;
	struct quotas_counts counts;
	struct quotas quotas;
	size_t i, n;

	if (quotas_read(&quotas, tape))
		abort();
	for (i = 0; i < quotas.nr; i++) {
		if (quotas_suspect(&quotas, quotas.by_id[i].id, 1000, 2000, &look) && !look->period)
			abort();
		quotas_count(&quotas.by_id[i], &counts);
	}
	quotas_free(&quotas);
	cgroups = tape_cgroups(tape, &n);
	for (i = 0; i < n; i++)
		if (cgroups[i].began > cgroups[i].time ||
		    (cgroups[i].path && strnlen(cgroups[i].path, 4096) == 4096))
			abort();
}

static inline void check_schedulers(struct schedtape_tape *tape)
{
	const struct schedtape_scheduler *schedulers;
	size_t i, n;

	schedulers = schedtape_tape_schedulers(tape, &n);
	for (i = 0; i < n; i++)
		if (schedulers[i].after > schedulers[i].time ||
		    (i && schedulers[i].time < schedulers[i - 1].time) ||
		    strnlen(schedulers[i].ops, sizeof(schedulers[i].ops)) ==
		    sizeof(schedulers[i].ops) ||
		    strnlen(schedulers[i].state, sizeof(schedulers[i].state)) ==
		    sizeof(schedulers[i].state))
			abort();
}

static inline void check_samples(struct schedtape_tape *tape)
{
	const struct schedtape_formats *formats = schedtape_tape_formats(tape);
	struct schedtape_samples *samples;
	struct schedtape_sample sample;
	struct schedtape_error err;
	unsigned int sum = 0;
	size_t i;
	int ret;

	for (i = 0; i < formats->n; i++)
		sum += strlen(formats->formats[i].system) + strlen(formats->formats[i].name) +
		       strlen(formats->formats[i].format);
	if (schedtape_samples_open(tape, &samples, &err))
		abort();
	while ((ret = schedtape_samples_next(samples, &sample, &err)) == 1)
		for (i = 0; i < sample.bytes; i++)
			sum += ((const unsigned char *)sample.data)[i];
	if (ret || sum == UINT32_MAX)
		abort();
	schedtape_samples_close(samples);
}

/* Tests that the path is absolute and has no part that leads up: see security.rst. */
static inline bool is_below(const char *path)
{
	const char *part = path, *end;
	size_t parts = 0;

	if (!strcmp(path, "/"))
		return true;
	for (; *part; part = end, parts++) {
		if (*part++ != '/')
			return false;
		end = strchrnul(part, '/');
		if (end == part || !strncmp(part, ".", end - part) ||
		    !strncmp(part, "..", end - part))
			return false;
	}
	return parts && parts <= SCHEDTAPE_CGROUP_PARTS;
}

/* Reads all parts of META that have functions. */
static inline void check_meta(struct schedtape_tape *tape)
{
	struct schedtape_calibration calibration;
	const struct schedtape_cgroup_state *state;
	struct schedtape_cgroup_table cgroups;
	const struct schedtape_task_info *tasks;
	struct json_object *meta;
	const char *reason;
	size_t n, i;

	meta = json_tokener_parse(schedtape_tape_meta(tape));
	if (!json_object_is_type(meta, json_type_object))
		abort();
	json_object_put(meta);
	if (schedtape_settings_files(tape_meta(tape), &reason) && reason)
		abort();
	if (!schedtape_machine_calibration(tape, &calibration, NULL) &&
	    !(calibration.spins_per_ms >= 1))
		abort();
	if (schedtape_cgroup_table_read(&cgroups, tape))
		abort();
	tasks = schedtape_tape_tasks(tape, &n);
	for (i = 0; i < n; i++) {
		state = schedtape_cgroup_by_id(&cgroups, tasks[i].cgroup);
		if (state && (state->id != tasks[i].cgroup || !is_below(state->path) ||
			      !schedtape_cgroup_by_path(&cgroups, state->path)))
			abort();
	}
	schedtape_cgroup_table_free(&cgroups);
}

/* A recovered tape has nothing more to recover. */
static inline void try_recover(struct schedtape_tape *tape)
{
	static struct blob blob = { .fd = -1 };
	const struct schedtape_copy_options options = { .size = sizeof(options), .recover = true };
	struct schedtape_error err;
	struct schedtape_tape *copy;
	uint64_t bytes, events;

	if (blob.fd < 0)
		blob_init(&blob);
	if (schedtape_tape_copy(tape, blob.path, &options, &bytes, &err) ||
	    schedtape_tape_open(blob.path, &copy, &err) || schedtape_tape_damage(copy))
		abort();
	read_all(copy, &events);
	schedtape_tape_close(copy);
}

/* Reads a tape from a pipe, which has room for all of it. */
static inline void try_pipe(const void *data, size_t size)
{
	struct schedtape_error err;
	struct schedtape_tape *tape;
	uint64_t events;
	char path[32];
	int ends[2];

	if (pipe(ends))
		abort();
	if (size > 50000 || write(ends[1], data, size) != (ssize_t)size) {
		close(ends[0]);
		close(ends[1]);
		return;
	}
	close(ends[1]);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", ends[0]);
	if (!schedtape_tape_open_once(path, &tape, &err)) {
		check_tasks(tape);
		read_pipe(tape, &events);
		if (schedtape_tape_end(tape)->start_time > schedtape_tape_end(tape)->stop_time)
			abort();
		check_tasks(tape);
		check_players(tape);
		check_clocks(tape);
		check_meta(tape);
		schedtape_tape_close(tape);
	}
	close(ends[0]);
}

static inline void try_tape(const char *path)
{
	struct schedtape_error err;
	struct schedtape_tape *tape;
	uint64_t first, again;

	if (schedtape_tape_open(path, &tape, &err))
		return;
	if (schedtape_tape_end(tape)->start_time > schedtape_tape_end(tape)->stop_time)
		abort();
	check_meta(tape);
	check_tasks(tape);
	check_players(tape);
	check_clocks(tape);
	check_schedulers(tape);
	check_cgroups(tape);
	check_samples(tape);
	read_all(tape, &first);
	schedtape_tape_rewind(tape, &err);
	read_all(tape, &again);
	if (first != again)
		abort();
	try_recover(tape);
	schedtape_tape_close(tape);
}

#endif /* SELFTESTS_TRY_H */
