// SPDX-License-Identifier: GPL-2.0-only
/*
 * The tracks that a trace describes itself: arrows and delays of tasks, losses, other tracepoints.
 */
#include <inttypes.h>
#include <string.h>

#include "common/output.h"
#include "export/trace.h"
#include "timeline/timeline.h"

/* Numbers of tracks: those of each task begin with its own. */
#define TRACK_FIRST	1
#define TRACKS		4	/* of a task */
#define TRACK_DELAY	1	/* behind its own: its delays */
#define TRACK_WORST	2	/* and its worst waits */
/* Those of each CPU, and of the descriptions, which belong to none. */
#define TRACK_CPUS	(1ULL << 62)
#define TRACK_LOSSES	(1ULL << 61)	/* and it is of its losses */

#define TRACK_INTERVALS	(1ULL << 60)

#define TEXT_ROOM	8192	/* of all texts of a sample */

/* -- tracks ---------------------------------------------------------------- */

uint64_t tracks_find(struct trace *trace, const struct schedtape_task *task)
{
	uint64_t track = TRACK_FIRST + (uint64_t)task->index * TRACKS;
	struct trace_task *seen = trace_find_task(trace, task->index);
	struct named_task named;

	if (!seen || seen->track)
		return track;
	seen->track = true;
	trace_name_task(&named, task);
	packets_thread_track(trace->packets, track, &named.task, task->tgid);
	return track;
}

void tracks_arrow(struct trace *trace, const struct schedtape_task *task,
		  const struct schedtape_run *run)
{
	const struct schedtape_task *waker = schedtape_task_at(task, run->waker);
	struct trace_task *seen = trace_find_task(trace, task->index);
	char name[TEXT_TASK_LEN], text[TEXT_TASK_LEN + 16];
	struct packets_event event = { .name = text };

	if (!seen || !trace_selects(trace, waker) || !trace_selects_time(trace, run->woke))
		return;
	snprintf(text, sizeof(text), "wakes %s", text_task(name, task->comm, task->pid));
	event.track = tracks_find(trace, waker);
	event.time = seen->waking && seen->waking_time < run->woke ? seen->waking_time : run->woke;
	event.flow = ++trace->flows;
	packets_instant(trace->packets, &event);
	snprintf(text, sizeof(text), "woken by %s", text_task(name, waker->comm, waker->pid));
	event.track = tracks_find(trace, task);
	event.time = run->woke;
	event.flow_end = event.flow;
	event.flow = 0;
	packets_slice(trace->packets, &event, run->begin);
}

void tracks_delay(struct trace *trace, const struct schedtape_task *task, uint64_t delay,
		  uint64_t time)
{
	uint64_t track = tracks_find(trace, task) + TRACK_DELAY;
	struct trace_task *seen = trace_find_task(trace, task->index);

	if (!seen)
		return;
	if (!seen->delays)
		packets_counter_track(trace->packets, track, track - TRACK_DELAY, "delay");
	seen->delays = true;
	packets_counter(trace->packets, track, time, delay);
}

/* Returns the number of a CPU's track, which is described before. */
static uint64_t cpu_track(struct trace *trace, uint32_t cpu, bool losses)
{
	uint64_t track = TRACK_CPUS | (losses ? TRACK_LOSSES : 0) | cpu;
	struct trace_lane *lane = cpu == STAPE_CPU_NONE ? NULL : trace_find_lane(trace, cpu);
	bool *described = &trace->descriptions;
	char name[64] = "events lost: descriptions of tasks";

	if (lane)
		described = losses ? &lane->losses : &lane->events;
	if (*described)
		return track;
	*described = true;
	if (lane)
		snprintf(name, sizeof(name), "%s: CPU %u", losses ? "events lost" : "other events",
			 cpu);
	packets_track(trace->packets, track, 0, name);
	return track;
}

void tracks_gap(struct trace *trace, const struct schedtape_event *ev)
{
	char count[OUT_COUNT_LEN], name[OUT_COUNT_LEN + 16];
	struct packets_event event = { .time = ev->lost_first, .name = name };

	if (!selection_overlaps(trace->export->selection, ev->lost_first, ev->lost_last))
		return;
	if (ev->type == SCHEDTAPE_EV_PAUSED)
		event.name = "paused";
	else if (ev->lost)
		snprintf(name, sizeof(name), "%s events lost", out_count(count, ev->lost));
	else
		event.name = "events lost";
	event.track = cpu_track(trace, ev->cpu, true);
	packets_slice(trace->packets, &event, ev->lost_last);
}

void tracks_interval(struct trace *trace, const struct schedtape_event *ev)
{
	char name[48];
	struct packets_event event = {
		.track = TRACK_INTERVALS, .time = ev->time, .name = name,
	};

	if (!trace_selects_time(trace, ev->time))
		return;
	if (!trace->intervals)
		packets_track(trace->packets, TRACK_INTERVALS, 0, "intervals");
	trace->intervals = true;
	snprintf(name, sizeof(name), "interval %" PRIu64 " ends", ev->arg);
	packets_instant(trace->packets, &event);
}

/* -- waits ----------------------------------------------------------------- */

void tracks_waits(struct trace *trace)
{
	struct packets_event event;
	struct trace_task *seen;
	struct worst_wait wait;
	uint64_t parent;
	size_t i;

	for (i = 0; i < worst_count(trace->worst); i++) {
		worst_get(trace->worst, i, &wait);
		parent = tracks_find(trace, trace_task_at(trace, wait.task));
		seen = trace_find_task(trace, wait.task);
		if (!seen)
			return;
		event = (struct packets_event){
			.track = parent + TRACK_WORST, .time = wait.begin, .name = wait.name,
			.notes = wait.notes, .nr_notes = wait.nr_notes,
		};
		if (!seen->worst)
			packets_track(trace->packets, event.track, parent, "worst waits");
		seen->worst = true;
		packets_slice(trace->packets, &event, wait.end);
	}
}

/* -- other tracepoints ----------------------------------------------------- */

/* Sets what a value is, with its text in @room.  Returns the bytes of that. */
static size_t note_value(struct export_note *note, const struct schedtape_field *field,
			 const struct schedtape_value *value, char *room, size_t size)
{
	size_t i, n = 0;

	*note = (struct export_note){
		.key = field->name, .number = value->number, .is_signed = field->is_signed,
	};
	if (field->kind == SCHEDTAPE_FIELD_NUMBER)
		return 0;
	*room = '\0';
	note->text = room;
	if (field->kind == SCHEDTAPE_FIELD_TEXT)
		n = snprintf(room, size, "%.*s", (int)value->n, value->text);
	for (i = 0; field->kind == SCHEDTAPE_FIELD_NUMBERS && i < value->n && n < size; i++)
		n += snprintf(room + n, size - n, field->is_signed ? "%s%" PRId64 : "%s%" PRIu64,
			      i ? " " : "", value->numbers[i]);
	text_safe(room, size, room);
	return strlen(room) + 1;
}

/* Sets the fields of a sample.  Returns their number. */
static size_t note_sample(struct trace *trace, struct export_note *notes, size_t most,
			  char *room, size_t size)
{
	const struct schedtape_sample *sample = &trace->samples.next;
	struct schedtape_decoder *decoder = trace->samples.decoder;
	const struct schedtape_tracepoint *point;
	const struct schedtape_value *values;
	size_t used, nr;
	int i, n;

	notes[0] = (struct export_note){ .key = "cpu", .number = sample->cpu };
	n = schedtape_decoder_values(decoder, sample, &values);
	if (n < 0) {
		notes[1] = (struct export_note){
			.key = "data", .text = schedtape_decoder_text(decoder, sample),
		};
		return 2;
	}
	point = schedtape_decoder_find(decoder, sample);
	for (i = 0, nr = 1; i < n && nr < most && size > 1; i++, nr++) {
		used = note_value(&notes[nr], &point->fields[i], &values[i], room, size);
		room += used;
		size -= used;
	}
	return nr;
}

/* Returns the task of a sample; NULL: none, or it is not known. */
static const struct schedtape_task *sampled_task(const struct trace *trace, uint32_t tid)
{
	uint32_t index;

	if (!tid || tid > STAPE_PID_MASK)
		return NULL;
	index = schedtape_tasks_get(&trace->timeline->set, tid);
	return index < trace->timeline->set.nr ? trace_task_at(trace, index) : NULL;
}

/* Writes the next sample, on the track of its task, or of its CPU. */
static void put_sample(struct trace *trace)
{
	const struct schedtape_sample *sample = &trace->samples.next;
	const struct schedtape_task *task = sampled_task(trace, sample->tid);
	struct export_note notes[PACKETS_NOTES];
	struct packets_event event = {
		.time = sample->time, .name = samples_name(&trace->samples), .notes = notes,
	};
	char room[TEXT_ROOM];

	if (task ? !trace_selects(trace, task) : selection_of_tasks(trace->export->selection))
		return;
	event.track = task ? tracks_find(trace, task) : cpu_track(trace, sample->cpu, false);
	event.nr_notes = note_sample(trace, notes, PACKETS_NOTES, room, sizeof(room));
	packets_instant(trace->packets, &event);
	trace->export->any = true;
}

static void put_sample_loss(struct trace *trace)
{
	const struct schedtape_sample *sample = &trace->samples.next;
	char count[OUT_COUNT_LEN], name[OUT_COUNT_LEN + 48];
	struct packets_event event = { .time = sample->time, .name = name };

	snprintf(name, sizeof(name), "%s events of other tracepoints lost",
		 out_count(count, sample->lost));
	event.track = cpu_track(trace, sample->cpu, true);
	packets_instant(trace->packets, &event);
}

void tracks_samples(struct trace *trace, uint64_t time)
{
	const struct schedtape_sample *next = &trace->samples.next;

	while (!trace->rc && trace->samples.any && next->time <= time) {
		if (trace_selects_time(trace, next->time) && trace_selects_cpu(trace, next->cpu)) {
			if (next->lost)
				put_sample_loss(trace);
			if (next->bytes)
				put_sample(trace);
		}
		trace->rc = samples_advance(&trace->samples);
	}
}
