// SPDX-License-Identifier: GPL-2.0-only
/*
 * A tape in Chrome's trace event format, which is JSON: a slice for each time that a task ran,
 * waited or slept, on a track of the task, and for each run on one of its CPU.
 *
 * A slice is written when it has ended.  What the tape does not show has none.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include <json-c/json.h>

#include "base/list.h"
#include "base/text.h"
#include "common/input.h"
#include "common/lines.h"
#include "common/new-file.h"
#include "common/output.h"
#include "common/samples.h"
#include "export/internal.h"
#include "timeline/timeline.h"

#define EVENTS		4096	/* between two looks at signals and the output */

/* PIDs are lower.  Behind these are the tracks of CPUs. */
#define CPUS_PID	(STAPE_PID_MASK + 1)
#define LOSSES_PID	(CPUS_PID + 2 * TIMELINE_MAX_CPUS)

#define FIELDS_MOST	(LINES_MOST - LINES_MOST / 4)	/* bytes of a sample's fields */

/**
 * struct chrome_task - a task, by its index
 * @named: it was named
 * @process: it leads a process that was named
 * @waking_time: of the last waking by a task
 */
struct chrome_task {
	bool named;
	bool process;
	uint64_t waking_time;
};

/**
 * struct chrome - a trace that is being written
 * @events: events so far
 * @begun: there is a line, so that the next one begins with a comma
 * @tasks: @nr_tasks tasks
 * @cpus, @losses: by number: the track of the CPU, and that of its losses, was named
 * @flows: number of arrows
 */
struct chrome {
	struct export *export;
	struct schedtape_timeline *timeline;
	struct lines lines;
	struct samples samples;
	struct worst *worst;
	uint64_t events;
	bool begun;
	struct chrome_task *tasks;
	size_t nr_tasks;
	bool *cpus;
	size_t nr_cpus;
	bool *losses;
	size_t nr_losses;
	uint64_t flows;
	int rc;
};

/* -- lines ----------------------------------------------------------------- */

/* Puts us with three digits. */
static void put_time(struct lines *lines, const char *key, uint64_t ns)
{
	lines_count(lines, key, ns / 1000);
	lines_char(lines, '.');
	lines_number_slow(lines, ns % 1000, 3);
}

/* Begins an event.  @phase: one letter: what it is. */
static struct lines *begin(struct chrome *chrome, char phase, uint32_t pid, uint32_t tid)
{
	struct lines *lines = &chrome->lines;

	lines_put(lines, chrome->begun ? ",{\"ph\":\"" : "{\"ph\":\"");
	chrome->begun = true;
	lines_char(lines, phase);
	lines_count(lines, "\",\"pid\":", pid);
	lines_count(lines, ",\"tid\":", tid);
	return lines;
}

static void end(struct lines *lines)
{
	lines_char(lines, '}');
	lines_end(lines);
}

static void put_text(struct lines *lines, const char *key, const char *text)
{
	lines_put(lines, key);
	lines_quoted(lines, text);
	lines_char(lines, '"');
}

/* Names a process or a thread.  @what: "process_name" */
static void put_name(struct chrome *chrome, const char *what, uint32_t pid, uint32_t tid,
		     const char *name)
{
	struct lines *lines = begin(chrome, 'M', pid, tid);

	put_text(lines, ",\"name\":\"", what);
	put_text(lines, ",\"args\":{\"name\":\"", name);
	lines_char(lines, '}');
	end(lines);
}

/* Puts notes as "args". */
static void put_notes(struct lines *lines, const struct export_note *notes, size_t n)
{
	size_t i;

	lines_put(lines, ",\"args\":{");
	for (i = 0; i < n; i++) {
		put_text(lines, i ? ",\"" : "\"", notes[i].key);
		if (notes[i].text)
			put_text(lines, ":\"", notes[i].text);
		else
			lines_count(lines, ":", notes[i].number);
	}
	lines_char(lines, '}');
}

/* A slice without its times. */
struct slice {
	uint32_t pid;
	uint32_t tid;
	const char *name;
	const struct export_note *notes;
	size_t nr_notes;
};

static void put_slice(struct chrome *chrome, const struct slice *slice, uint64_t from, uint64_t to)
{
	struct lines *lines;

	if (to <= from)
		return;
	lines = begin(chrome, 'X', slice->pid, slice->tid);
	put_time(lines, ",\"ts\":", from);
	put_time(lines, ",\"dur\":", to - from);
	put_text(lines, ",\"name\":\"", slice->name);
	if (slice->nr_notes)
		put_notes(lines, slice->notes, slice->nr_notes);
	end(lines);
	chrome->export->any = true;
}

/* Puts those parts of a slice that are selected. */
static void put_parts(struct chrome *chrome, const struct slice *slice, uint64_t from, uint64_t to)
{
	const struct time_ranges *times = &chrome->export->selection->times;
	const struct time_range *range;
	size_t i;

	if (!times->nr)
		put_slice(chrome, slice, from, to);
	for (i = 0; i < times->nr; i++) {
		range = &times->ranges[i];
		put_slice(chrome, slice, from > range->start ? from : range->start,
			  to < range->stop ? to : range->stop);
	}
}

/* -- tasks ----------------------------------------------------------------- */

static struct chrome_task *find_task(struct chrome *chrome, uint32_t index)
{
	struct chrome_task *tasks;

	tasks = schedtape_list_reach(chrome->tasks, index, &chrome->nr_tasks, sizeof(*tasks));
	if (!tasks) {
		chrome->rc = -ENOMEM;
		return NULL;
	}
	chrome->tasks = tasks;
	return &tasks[index];
}

static bool selects(const struct chrome *chrome, const struct schedtape_task *task)
{
	const struct selection *selection = chrome->export->selection;

	return !selection_of_tasks(selection) || selection_has_timeline_task(selection, task);
}

static bool selects_time(const struct chrome *chrome, uint64_t time)
{
	return selection_has_time(chrome->export->selection, time);
}

/* Names a task and its process, before anything else is said of it. */
static void name_task(struct chrome *chrome, const struct schedtape_task *task)
{
	const struct schedtape_task *leader = schedtape_task_at(task, task->process);
	char name[TEXT_NAME_LEN];

	if (!find_task(chrome, task->index > leader->index ? task->index : leader->index))
		return;
	if (!chrome->tasks[leader->index].process && *leader->comm)
		put_name(chrome, "process_name", task->tgid, task->tgid,
			 text_name(name, leader->comm));
	chrome->tasks[leader->index].process = true;
	if (!chrome->tasks[task->index].named && *task->comm)
		put_name(chrome, "thread_name", task->tgid, task->pid,
			 text_name(name, task->comm));
	chrome->tasks[task->index].named = true;
	chrome->export->any = true;
}

/* Names the track of a CPU, or that of its losses. */
static void name_cpu(struct chrome *chrome, uint32_t cpu, bool losses)
{
	bool **list = losses ? &chrome->losses : &chrome->cpus;
	size_t *nr = losses ? &chrome->nr_losses : &chrome->nr_cpus;
	uint32_t pid = losses ? LOSSES_PID : CPUS_PID;
	bool *named;
	char name[16];

	if (cpu >= TIMELINE_MAX_CPUS)
		return;
	named = schedtape_list_reach(*list, cpu, nr, sizeof(*named));
	if (!named) {
		chrome->rc = -ENOMEM;
		return;
	}
	if (!*list)
		put_name(chrome, "process_name", pid, pid, losses ? "events lost" : "CPUs");
	*list = named;
	snprintf(name, sizeof(name), "CPU %u", cpu);
	if (!named[cpu])
		put_name(chrome, "thread_name", pid, pid + 1 + cpu, name);
	named[cpu] = true;
}

/* -- runs and waits -------------------------------------------------------- */

static const char *sleep_name(uint32_t state)
{
	switch (state) {
	case STAPE_STATE_BLOCKED:
		return "blocked";
	case STAPE_STATE_STOPPED:
		return "stopped";
	case STAPE_STATE_TRACED:
		return "traced";
	case STAPE_STATE_PARKED:
		return "parked";
	}
	return "asleep";
}

/* Puts what a task did from when it left a CPU until @run begins. */
static void put_wait(struct chrome *chrome, const struct schedtape_task *task,
		     const struct schedtape_run *run)
{
	struct slice slice = { .pid = task->tgid, .tid = task->pid };
	uint64_t ready = run->woke;

	if (run->left && run->left_state == STAPE_STATE_RUNNING)
		ready = run->left;
	/* It may have run, if events are lost since then, or its wake-up is. */
	if (run->left > chrome->timeline->loss_end && run->left_state != STAPE_STATE_RUNNING &&
	    (run->woke || run->cpu == SCHEDTAPE_NONE)) {
		slice.name = sleep_name(run->left_state);
		put_parts(chrome, &slice, run->left, run->woke ? run->woke : run->begin);
	}
	slice.name = "runnable";
	if (ready)
		put_parts(chrome, &slice, ready, run->begin);
}

/* Puts one end of an arrow. */
static void put_flow(struct chrome *chrome, char phase, const struct schedtape_task *task,
		     uint64_t time)
{
	struct lines *lines = begin(chrome, phase, task->tgid, task->pid);

	put_time(lines, ",\"ts\":", time);
	lines_count(lines, ",\"id\":", chrome->flows);
	lines_put(lines, ",\"cat\":\"wake\",\"name\":\"wake\"");
	/* It ends at the slice that begins then. */
	if (phase == 'f')
		lines_put(lines, ",\"bp\":\"e\"");
	end(lines);
}

static void put_arrow(struct chrome *chrome, const struct schedtape_task *task,
		      const struct schedtape_run *run)
{
	const struct schedtape_task *waker = schedtape_task_at(task, run->waker);
	uint64_t waking = chrome->tasks[task->index].waking_time;

	if (!selects(chrome, waker) || !selects_time(chrome, run->woke))
		return;
	name_task(chrome, waker);
	chrome->flows++;
	put_flow(chrome, 's', waker, waking > run->left && waking < run->woke ? waking : run->woke);
	put_flow(chrome, 'f', task, run->woke);
}

static void put_run(struct chrome *chrome, const struct schedtape_task *task,
		    const struct schedtape_run *run)
{
	const struct export_note cpu = { .key = "cpu", .number = run->cpu };
	struct slice slice = {
		.pid = task->tgid, .tid = task->pid, .name = "running", .notes = &cpu,
		.nr_notes = 1,
	};
	char name[TEXT_TASK_LEN];

	put_parts(chrome, &slice, run->begin, run->end);
	name_cpu(chrome, run->cpu, false);
	slice = (struct slice){
		.pid = CPUS_PID, .tid = CPUS_PID + 1 + run->cpu,
		.name = text_task(name, task->comm, task->pid),
	};
	put_parts(chrome, &slice, run->begin, run->end);
}

/* -- losses and other tracepoints ------------------------------------------ */

static void put_gap(struct chrome *chrome, const struct schedtape_event *ev)
{
	const struct export_note lost = { .key = "events", .number = ev->lost };
	struct slice slice = {
		.pid = LOSSES_PID, .tid = LOSSES_PID + 1 + ev->cpu, .name = "lost",
		.notes = &lost, .nr_notes = ev->lost ? 1 : 0,
	};

	if (ev->type == SCHEDTAPE_EV_PAUSED)
		slice.name = "paused";
	name_cpu(chrome, ev->cpu, true);
	put_parts(chrome, &slice, ev->lost_first, ev->lost_last + 1);
}

/* Puts an instant of the whole trace. */
static void put_interval(struct chrome *chrome, const struct schedtape_event *ev)
{
	char name[48];
	struct lines *lines;

	if (!selects_time(chrome, ev->time))
		return;
	snprintf(name, sizeof(name), "interval %" PRIu64 " ends", ev->arg);
	lines = begin(chrome, 'i', 0, 0);
	put_time(lines, ",\"ts\":", ev->time);
	lines_put(lines, ",\"s\":\"g\"");
	put_text(lines, ",\"name\":\"", name);
	end(lines);
}

/* Puts the next sample on the track of its task. */
static void put_sample(struct chrome *chrome)
{
	const struct schedtape_sample *sample = &chrome->samples.next;
	struct json_object *fields;
	struct lines *lines;
	const char *text;

	fields = samples_json(&chrome->samples);
	text = json_object_to_json_string_ext(fields, JSON_C_TO_STRING_PLAIN);
	lines = begin(chrome, 'i', sample->pid, sample->tid);
	put_time(lines, ",\"ts\":", sample->time);
	lines_put(lines, ",\"s\":\"t\"");
	put_text(lines, ",\"name\":\"", samples_name(&chrome->samples));
	lines_count(lines, ",\"args\":{\"cpu\":", sample->cpu);
	lines_put(lines, ",\"fields\":");
	lines_put(lines, strlen(text) > FIELDS_MOST ? "null" : text);
	lines_char(lines, '}');
	end(lines);
	json_object_put(fields);
	chrome->export->any = true;
}

static bool selects_sample(const struct chrome *chrome)
{
	const struct schedtape_sample *sample = &chrome->samples.next;
	uint32_t index;

	if (!selects_time(chrome, sample->time) ||
	    !selection_has_cpu(chrome->export->selection, sample->cpu) || !sample->bytes)
		return false;
	if (!selection_of_tasks(chrome->export->selection))
		return true;
	if (!sample->tid || sample->tid > STAPE_PID_MASK)
		return false;
	index = schedtape_tasks_get(&chrome->timeline->set, sample->tid);
	return index < chrome->timeline->set.nr &&
	       selects(chrome, &chrome->timeline->set.tasks[index]);
}

static void pass_samples(struct chrome *chrome, uint64_t time)
{
	while (!chrome->rc && chrome->samples.any && chrome->samples.next.time <= time) {
		if (selects_sample(chrome))
			put_sample(chrome);
		chrome->rc = samples_advance(&chrome->samples);
	}
}

/* Puts the worst waits, around what their tasks did meanwhile. */
static void put_worst(struct chrome *chrome)
{
	const struct schedtape_task *task;
	struct worst_wait wait;
	struct slice slice;
	size_t i;

	for (i = 0; i < worst_count(chrome->worst); i++) {
		worst_get(chrome->worst, i, &wait);
		task = &chrome->timeline->set.tasks[wait.task];
		slice = (struct slice){
			.pid = task->tgid, .tid = task->pid, .name = wait.name,
			.notes = wait.notes, .nr_notes = wait.nr_notes,
		};
		put_slice(chrome, &slice, wait.begin, wait.end);
	}
}

/* -- the timeline ---------------------------------------------------------- */

static int look(struct chrome *chrome, uint64_t time)
{
	errno = 0;
	if (ferror(chrome->export->to))
		return new_file_error();
	return export_reached(chrome->export, time);
}

static int on_event(void *arg, const struct schedtape_event *ev)
{
	struct chrome *chrome = arg;

	if (!(chrome->events++ % EVENTS) && !chrome->rc)
		chrome->rc = look(chrome, ev->time);
	if (!chrome->rc)
		chrome->rc = worst_event(chrome->worst, ev);
	pass_samples(chrome, ev->time);
	if (schedtape_event_is_gap(ev) && !chrome->rc &&
	    selection_has_cpu(chrome->export->selection, ev->cpu))
		put_gap(chrome, ev);
	if (ev->type == SCHEDTAPE_EV_INTERVAL && !chrome->rc)
		put_interval(chrome, ev);
	return chrome->rc;
}

static int on_born(void *arg, const struct schedtape_task *task,
		   const struct schedtape_task *parent, uint64_t time)
{
	struct chrome *chrome = arg;

	return worst_born(chrome->worst, task, parent, time);
}

static int on_waking(void *arg, const struct schedtape_task *waker,
		     const struct schedtape_task *wakee, uint64_t ticket, uint64_t time)
{
	struct chrome *chrome = arg;
	struct chrome_task *seen = find_task(chrome, wakee->index);

	if (!seen)
		return chrome->rc;
	seen->waking_time = time;
	return worst_waking(chrome->worst, waker, wakee, ticket, time);
}

static int on_woke(void *arg, const struct schedtape_task *task,
		   const struct schedtape_task *waker, uint64_t ticket, uint64_t time)
{
	struct chrome *chrome = arg;

	return worst_woke(chrome->worst, task, waker, ticket, time);
}

static int on_queued(void *arg, const struct schedtape_task *task, uint32_t cpu, uint64_t time)
{
	struct chrome *chrome = arg;

	return worst_queued(chrome->worst, task, cpu, time);
}

static int on_renamed(void *arg, const struct schedtape_task *task, uint64_t time)
{
	struct chrome *chrome = arg;
	struct chrome_task *seen = find_task(chrome, task->index);

	(void)time;
	if (seen && seen->named && selects(chrome, task)) {
		seen->named = false;
		seen->process = false;
		name_task(chrome, task);
	}
	return chrome->rc;
}

static int on_began(void *arg, const struct schedtape_task *task, const struct schedtape_run *run)
{
	struct chrome *chrome = arg;

	chrome->rc = worst_began(chrome->worst, task, run);
	if (!selects(chrome, task) || !selection_has_cpu(chrome->export->selection, run->cpu))
		return chrome->rc;
	name_task(chrome, task);
	put_wait(chrome, task, run);
	if (run->woke && run->waker != SCHEDTAPE_NONE)
		put_arrow(chrome, task, run);
	return chrome->rc;
}

static int on_waited(void *arg, const struct schedtape_task *task, uint64_t delay, uint64_t time)
{
	struct chrome *chrome = arg;
	struct lines *lines;
	char name[TEXT_TASK_LEN];

	if (!selects(chrome, task) || !selects_time(chrome, time))
		return chrome->rc;
	lines = begin(chrome, 'C', task->tgid, task->pid);
	put_time(lines, ",\"ts\":", time);
	put_text(lines, ",\"name\":\"delay ", text_task(name, task->comm, task->pid));
	put_time(lines, ",\"args\":{\"us\":", delay);
	lines_char(lines, '}');
	end(lines);
	return chrome->rc;
}

static int on_ran(void *arg, const struct schedtape_task *task, const struct schedtape_run *run)
{
	struct chrome *chrome = arg;

	chrome->rc = worst_ran(chrome->worst, task, run);
	if (!chrome->rc && selects(chrome, task) &&
	    selection_has_cpu(chrome->export->selection, run->cpu)) {
		name_task(chrome, task);
		put_run(chrome, task, run);
	}
	return chrome->rc;
}

static int on_waits(void *arg, const struct schedtape_task *task, const struct schedtape_run *run)
{
	struct chrome *chrome = arg;

	chrome->rc = worst_waits(chrome->worst, task, run);
	if (!chrome->rc && selects(chrome, task)) {
		name_task(chrome, task);
		put_wait(chrome, task, run);
	}
	return chrome->rc;
}

/* -- the run through the tape ---------------------------------------------- */

static int run(struct chrome *chrome, struct schedtape_error *err)
{
	const struct schedtape_timeline_ops ops = {
		.size = sizeof(ops),
		.no_edges = true,
		.event = on_event,
		.born = on_born,
		.waking = on_waking,
		.woke = on_woke,
		.queued = on_queued,
		.renamed = on_renamed,
		.waited = on_waited,
		.began = on_began,
		.ran = on_ran,
		.waits = on_waits,
	};
	int rc;

	cmd_write_before_wait(chrome->export->tape, &chrome->lines);
	/* After a message, a trace without samples is better than none. */
	samples_begin(&chrome->samples, chrome->export->tape, chrome->export->path);
	rc = schedtape_timeline_run(chrome->export->tape, &ops, chrome, &chrome->timeline, err);
	if (rc)
		return rc;
	cmd_warn_damage(chrome->timeline);
	pass_samples(chrome, UINT64_MAX);
	put_worst(chrome);
	schedtape_timeline_free(chrome->timeline);
	return chrome->rc;
}

int export_chrome(struct export *export, struct schedtape_error *err)
{
	struct chrome *chrome = calloc(1, sizeof(*chrome));
	int rc = -ENOMEM;

	if (!chrome)
		return rc;
	chrome->export = export;
	lines_begin_file(&chrome->lines, export->to);
	lines_put(&chrome->lines, EXPORT_CHROME_BEGIN);
	lines_end(&chrome->lines);
	if (export->worst)
		chrome->worst = worst_new(export);
	if (chrome->worst || !export->worst)
		rc = run(chrome, err);
	lines_put(&chrome->lines, "]}");
	lines_end(&chrome->lines);
	errno = 0;
	lines_flush(&chrome->lines);
	if (!rc && (fflush(export->to) || ferror(export->to)))
		rc = new_file_error();
	samples_end(&chrome->samples);
	worst_free(chrome->worst);
	free(chrome->tasks);
	free(chrome->cpus);
	free(chrome->losses);
	free(chrome);
	return rc;
}
