// SPDX-License-Identifier: GPL-2.0-only
#include "recover/internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>
#include <schedtape/version.h>

#include "base/error.h"
#include "base/text.h"
#include "common/destination.h"
#include "common/output.h"
#include "common/past.h"
#include "common/signals.h"
#include "tape/format.h"
#include "tape/meta.h"

#define PAST_PAGES	1024	/* more than the module's ring of descriptions has */

/**
 * struct writing - a tape that is being written
 * @samples: of the clocks, @nr_samples
 * @past: the descriptions
 * @cpus: of @nr_cpus rings, for the end
 * @last: the last event of all CPUs, and @window: from when on all are complete, by the session's
 *	clock
 */
struct writing {
	const struct memory *memory;
	const struct found_session *session;
	struct crash_tape *tape;
	struct schedtape_writer *writer;
	struct stape_clock_sample samples[STAPE_DUMP_SAMPLES];
	uint32_t nr_samples;
	struct past *past;
	struct schedtape_cpu *cpus;
	size_t nr_cpus;
	uint64_t last;
	uint64_t window;
};

/* -- clocks ---------------------------------------------------------------- */

static bool is_later(const struct stape_clock_sample *a, const struct stape_clock_sample *b)
{
	return a->counter > b->counter && a->mono > b->mono;
}

/* Returns false for a sample with numbers that no clock has. */
static bool is_sample(const struct writing *writing, const struct stape_clock_sample *sample)
{
	return sample->khz && sample->mono && sample->mono <= INT64_MAX &&
	       sample->real <= INT64_MAX &&
	       (writing->session->page.clock != STAPE_CLOCK_MONO ||
		sample->counter == sample->mono);
}

/*
 * Takes the samples in their order, as far as they can be true.  Not the oldest of all slots:
 * the module may have crashed while it wrote the next sample there.
 */
static void take_samples(struct writing *writing)
{
	const struct stape_dump_session *page = &writing->session->page;
	const struct stape_clock_sample *sample;
	uint32_t n = page->nr_samples, i;

	if (n > STAPE_DUMP_SAMPLES - 1)
		n = STAPE_DUMP_SAMPLES - 1;

	for (i = page->nr_samples - n; i != page->nr_samples; i++) {
		sample = &page->samples[i % STAPE_DUMP_SAMPLES];
		if (!is_sample(writing, sample) ||
		    (writing->nr_samples &&
		     !is_later(sample, &writing->samples[writing->nr_samples - 1])))
			continue;
		writing->samples[writing->nr_samples++] = *sample;
	}
}

/* Returns the time of CLOCK_MONOTONIC, ns, at a time of the session's clock. */
static uint64_t mono_at(const struct writing *writing, uint64_t counter)
{
	return past_sample_mono(&writing->samples[writing->nr_samples - 1], counter);
}

/* -- what describes it ----------------------------------------------------- */

static void add_string(struct json_object *object, const char *key, const char *text)
{
	char safe[4 * STAPE_DUMP_TEXT];

	json_object_object_add(object, key, json_object_new_string(text_safe(safe, sizeof(safe),
									     text)));
}

static struct json_object *describe_clock(const struct writing *writing)
{
	const struct stape_clock_sample *sample = &writing->samples[0];
	struct json_object *clock = json_object_new_object();

	add_string(clock, "name",
		   writing->session->page.clock == STAPE_CLOCK_MONO ? "mono" : "tsc");
	out_json_add_count(clock, "monotonic", sample->mono);
	out_json_add_count(clock, "boottime", sample->boot);
	out_json_add_count(clock, "realtime", sample->real);
	return clock;
}

static struct json_object *describe(const struct writing *writing)
{
	const struct stape_dump_session *page = &writing->session->page;
	struct json_object *meta = json_object_new_object();

	add_string(meta, "version", SCHEDTAPE_VERSION);
	add_string(meta, "arch", page->machine);
	add_string(meta, "release", page->release);
	add_string(meta, "kernel_version", page->kernel_version);
	out_json_add_count(meta, "hz", page->hz);
	out_json_add_count(meta, "cpus", page->nr_cpus);
	json_object_object_add(meta, "clock", describe_clock(writing));
	out_json_add_bool(meta, "overwrite", page->flags & STAPE_DUMP_OVERWRITE);
	out_json_add_bool(meta, "syscalls", page->flags & STAPE_DUMP_SYSCALLS);
	return meta;
}

static int check(const struct writing *writing, struct schedtape_error *err)
{
	const struct stape_dump_session *page = &writing->session->page;

	if (page->wire_version != STAPE_WIRE_VERSION)
		return schedtape_fail(err, -ENOTSUP, "version %u of its events is not supported: "
				      "this program knows version %u: use the one that recorded",
				      page->wire_version, STAPE_WIRE_VERSION);
	if (page->clock > STAPE_CLOCK_COUNTER || !writing->nr_samples)
		return schedtape_fail(err, -EBADMSG, "what describes its clock is corrupt");
	return 0;
}

/* -- the rings ------------------------------------------------------------- */

static int put_pages(void *arg, const void *pages, size_t n, struct schedtape_error *err)
{
	struct writing *writing = arg;

	return schedtape_writer_pages(writing->writer, pages, n, err);
}

/* Descriptions are kept until it is known from when on the tape is complete. */
static int keep_pages(void *arg, const void *pages, size_t n, struct schedtape_error *err)
{
	struct writing *writing = arg;
	int ret = past_add_pages(writing->past, pages, n);

	return ret == -ENOMEM ? schedtape_fail(err, ret, "out of memory") : 0;
}

static void count_ring(struct writing *writing, const struct ring_counts *counts)
{
	struct crash_tape *tape = writing->tape;

	tape->pages += counts->pages;
	tape->missing += counts->missing;
	tape->lost += counts->cpu.lost;
	if (counts->last > writing->last)
		writing->last = counts->last;
	if (counts->cpu.events || counts->cpu.lost)
		writing->cpus[writing->nr_cpus++] = counts->cpu;
	/* What is known of tasks may be less, or more. */
	if (counts->cpu.cpu == STAPE_CPU_NONE)
		return;
	tape->events += counts->cpu.events;
	tape->cpus += !!counts->pages;
	if (counts->begins && counts->first > writing->window)
		writing->window = counts->first;
}

static int take_ring(struct writing *writing, const struct found_ring *ring,
		     struct schedtape_error *err)
{
	const struct ring_sink sink = {
		.put = ring->cpu == STAPE_CPU_NONE ? keep_pages : put_pages,
		.arg = writing,
	};
	struct ring_counts counts;
	int ret;

	ret = ring_read(writing->memory, ring, &sink, &counts, err);
	if (!ret)
		count_ring(writing, &counts);
	if (ret != -EBADMSG)
		return ret;
	writing->tape->bad_rings++;
	return 0;
}

static int take_rings(struct writing *writing, struct schedtape_error *err)
{
	const struct found_session *session = writing->session;
	size_t i;
	int ret = 0;

	writing->cpus = calloc(session->nr_rings, sizeof(*writing->cpus));
	writing->past = past_new(PAST_PAGES);
	if (!writing->cpus || !writing->past)
		return schedtape_fail(err, -ENOMEM, "out of memory");
	for (i = 0; i < writing->nr_samples; i++)
		past_add_sample(writing->past, &writing->samples[i]);
	for (i = 0; i < session->nr_rings && !ret; i++) {
		if (signals_pending())
			return -EINTR;
		if (session->rings[i].cpu < TAPE_MAX_CPUS ||
		    session->rings[i].cpu == STAPE_CPU_NONE)
			ret = take_ring(writing, &session->rings[i], err);
	}
	return ret;
}

/* Writes the samples of the clocks, what tasks were when the tape begins, and what changed then. */
static int write_past(struct writing *writing, struct schedtape_error *err)
{
	struct past *past = writing->past;
	struct schedtape_cpu *cpu;
	int ret = past_forget(past, writing->window);

	if (ret == -ENOMEM)
		return schedtape_fail(err, ret, "out of memory");
	ret = past_write(past, writing->writer, err);
	writing->tape->events += past->events;
	/* The descriptions are the last ring. */
	cpu = writing->nr_cpus ? &writing->cpus[writing->nr_cpus - 1] : NULL;
	if (cpu && cpu->cpu == STAPE_CPU_NONE) {
		cpu->events = past->events;
		cpu->overwritten += past->forgotten;
	}
	return ret;
}

/* -- the tape -------------------------------------------------------------- */

static int write_end(struct writing *writing, struct schedtape_error *err)
{
	struct crash_tape *tape = writing->tape;
	struct schedtape_end end = {
		.size = sizeof(end),
		.start_time = writing->session->page.start_time,
		.stop_time = mono_at(writing, writing->last),
		.window_start = writing->window,
		.cpus = writing->cpus,
		.nr_cpus = writing->nr_cpus,
		.ended_by = "crash",
	};

	if (!tape->events)
		return schedtape_fail(err, -ENODATA, "there are no events in its rings");
	if (end.start_time > end.stop_time)
		end.start_time = end.stop_time;
	tape->whole = !writing->window;
	tape->first = tape->whole ? end.start_time : mono_at(writing, writing->window);
	tape->last = end.stop_time;
	tape->real = writing->samples[writing->nr_samples - 1].real + tape->last -
		     writing->samples[writing->nr_samples - 1].mono;
	return schedtape_writer_end(writing->writer, &end, err);
}

static int write_all(struct writing *writing, struct schedtape_error *err)
{
	int ret = take_rings(writing, err);

	if (!ret)
		ret = write_past(writing, err);
	return ret ? ret : write_end(writing, err);
}

int crash_tape_write(const struct memory *memory, const struct found_session *session,
		     const char *path, struct crash_tape *tape, struct schedtape_error *err)
{
	const struct schedtape_writer_options options = { .size = sizeof(options), .level = 1 };
	struct writing writing = { .memory = memory, .session = session, .tape = tape };
	struct json_object *meta;
	int ret, closed;

	*tape = (struct crash_tape){ .session = session->page.header.session };
	take_samples(&writing);
	ret = check(&writing, err);
	if (ret)
		return ret;
	meta = describe(&writing);
	ret = destination_create(path, meta, &options, &writing.writer, err);
	json_object_put(meta);
	if (ret)
		return ret;
	ret = write_all(&writing, err);
	tape->bytes = schedtape_writer_bytes(writing.writer);
	closed = schedtape_writer_close(writing.writer, ret ? NULL : err);
	past_free(writing.past);
	free(writing.cpus);
	return ret ? ret : closed;
}

/* -- its name -------------------------------------------------------------- */

/* Of /proc/vmcore and block devices: a tape cannot, or should not, be beside them. */
static bool has_no_room(const char *path)
{
	return !strncmp(path, "/proc/", 6) || !strncmp(path, "/dev/", 5);
}

char *crash_tape_name(const struct crash_options *options, bool several, uint32_t session)
{
	const char *base = options->output ? options->output : options->vmcore;
	const char *suffix = options->output ? "" : ".recovered";
	char *name;
	int ret;

	if (!options->output && has_no_room(base))
		base = strrchr(base, '/') + 1;
	if (several)
		ret = asprintf(&name, "%s%s.%" PRIu32, base, suffix, session);
	else
		ret = asprintf(&name, "%s%s", base, suffix);
	return ret < 0 ? NULL : name;
}
