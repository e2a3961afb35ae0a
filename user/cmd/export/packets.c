// SPDX-License-Identifier: GPL-2.0-only
#include "export/packets.h"

#include <errno.h>
#include <linux/sched.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "base/text.h"
#include "common/new-file.h"
#include "export/perfetto.pb-c.h"

#define SEQUENCE	1	/* all packets are of one */
#define CLEARED		1	/* of TracePacket.sequence_flags: it refers to nothing before */
#define BUNDLE		32	/* events of a CPU in a packet */

/**
 * struct bundled - an event of ftrace, with its parts and names
 */
struct bundled {
	Pf__FtraceEvent event;
	union {
		Pf__SchedSwitchFtraceEvent change;
		Pf__SchedWakingFtraceEvent waking;
		Pf__SchedProcessFreeFtraceEvent end;
		Pf__TaskNewtaskFtraceEvent fork;
		Pf__TaskRenameFtraceEvent rename;
	};
	char names[2][TEXT_NAME_LEN];
};

/* The last events of a CPU. */
struct bundle {
	Pf__FtraceEvent *events[BUNDLE];
	struct bundled list[BUNDLE];
	size_t nr;
};

/**
 * struct packets - a trace
 * @failure: 0, or -errno of the first failure
 * @boot: what CLOCK_BOOTTIME is ahead of CLOCK_MONOTONIC
 * @room: for a packet, of @size bytes
 * @bundles: by number of the CPU; NULL: it has had no event
 */
struct packets {
	FILE *to;
	int failure;
	uint64_t boot;
	uint8_t *room;
	size_t size;
	struct bundle **bundles;
	size_t nr_bundles;
};

static void fail(struct packets *packets, int rc)
{
	if (!packets->failure)
		packets->failure = rc;
}

int packets_failed(const struct packets *packets)
{
	return packets->failure;
}

/* Writes a packet.  A trace is a message that has nothing but them, one after the other. */
static void put(struct packets *packets, Pf__TracePacket *packet)
{
	Pf__TracePacket *one[] = { packet };
	Pf__Trace trace = PF__TRACE__INIT;
	size_t size;
	uint8_t *room;

	trace.n_packet = 1;
	trace.packet = one;
	size = pf__trace__get_packed_size(&trace);
	if (size > packets->size) {
		room = realloc(packets->room, 2 * size);
		if (!room) {
			fail(packets, -ENOMEM);
			return;
		}
		packets->room = room;
		packets->size = 2 * size;
	}
	errno = 0;
	if (fwrite(packets->room, 1, pf__trace__pack(&trace, packets->room), packets->to) != size)
		fail(packets, new_file_error());
}

struct packets *packets_new(FILE *to)
{
	struct packets *packets = calloc(1, sizeof(*packets));
	Pf__TracePacket packet = PF__TRACE_PACKET__INIT;

	if (!packets)
		return NULL;
	packets->to = to;
	packet.has_trusted_packet_sequence_id = true;
	packet.trusted_packet_sequence_id = SEQUENCE;
	packet.has_sequence_flags = true;
	packet.sequence_flags = CLEARED;
	put(packets, &packet);
	return packets;
}

void packets_free(struct packets *packets)
{
	size_t i;

	if (!packets)
		return;
	for (i = 0; i < packets->nr_bundles; i++)
		free(packets->bundles[i]);
	free(packets->bundles);
	free(packets->room);
	free(packets);
}

/* -- the machine ----------------------------------------------------------- */

void packets_system(struct packets *packets, const char *release, const char *machine)
{
	Pf__TracePacket packet = PF__TRACE_PACKET__INIT;
	Pf__SystemInfo info = PF__SYSTEM_INFO__INIT;
	Pf__Utsname uts = PF__UTSNAME__INIT;

	uts.sysname = (char *)"Linux";
	uts.release = (char *)release;
	uts.machine = (char *)machine;
	info.utsname = &uts;
	packet.system_info = &info;
	put(packets, &packet);
}

void packets_clocks(struct packets *packets, const struct stape_clock_sample *sample,
		    uint64_t ahead)
{
	Pf__ClockSnapshot snapshot = PF__CLOCK_SNAPSHOT__INIT;
	Pf__TracePacket packet = PF__TRACE_PACKET__INIT;
	const struct {
		Pf__BuiltinClock id;
		uint64_t time;
	} times[] = {
		{ PF__BUILTIN_CLOCK__BUILTIN_CLOCK_BOOTTIME, sample->mono + ahead },
		{ PF__BUILTIN_CLOCK__BUILTIN_CLOCK_MONOTONIC, sample->mono },
		{ PF__BUILTIN_CLOCK__BUILTIN_CLOCK_REALTIME, sample->real },
	};
	Pf__ClockSnapshot__Clock clocks[3], *list[3];
	size_t i;

	for (i = 0; i < 3; i++) {
		pf__clock_snapshot__clock__init(&clocks[i]);
		clocks[i].has_clock_id = true;
		clocks[i].clock_id = times[i].id;
		clocks[i].has_timestamp = true;
		clocks[i].timestamp = times[i].time;
		list[i] = &clocks[i];
	}
	snapshot.n_clocks = 3;
	snapshot.clocks = list;
	packet.clock_snapshot = &snapshot;
	put(packets, &packet);
	packets->boot = ahead;
}

/* -- scheduling ------------------------------------------------------------ */

/* Writes the events of a CPU. */
static void put_bundle(struct packets *packets, uint32_t cpu)
{
	Pf__FtraceEventBundle bundle = PF__FTRACE_EVENT_BUNDLE__INIT;
	struct bundle *events = packets->bundles[cpu];
	Pf__TracePacket packet = PF__TRACE_PACKET__INIT;

	bundle.has_cpu = true;
	bundle.cpu = cpu;
	bundle.n_event = events->nr;
	bundle.event = events->events;
	packet.ftrace_events = &bundle;
	put(packets, &packet);
	events->nr = 0;
}

int packets_flush(struct packets *packets)
{
	size_t cpu;

	for (cpu = 0; cpu < packets->nr_bundles; cpu++)
		if (packets->bundles[cpu] && packets->bundles[cpu]->nr)
			put_bundle(packets, cpu);
	errno = 0;
	if (fflush(packets->to))
		fail(packets, new_file_error());
	return packets->failure;
}

static struct bundle *bundle_of(struct packets *packets, uint32_t cpu)
{
	struct bundle **bundles, *bundle;
	size_t i;

	bundles = schedtape_list_reach(packets->bundles, cpu, &packets->nr_bundles,
				       sizeof(*bundles));
	if (!bundles)
		return NULL;
	packets->bundles = bundles;
	if (bundles[cpu])
		return bundles[cpu];
	bundle = calloc(1, sizeof(*bundle));
	for (i = 0; bundle && i < BUNDLE; i++)
		bundle->events[i] = &bundle->list[i].event;
	bundles[cpu] = bundle;
	return bundle;
}

/* Begins an event of a CPU; NULL: no memory. */
static struct bundled *begin(struct packets *packets, uint32_t cpu, uint64_t time, uint32_t pid)
{
	struct bundle *bundle = bundle_of(packets, cpu);
	struct bundled *bundled;

	if (!bundle) {
		fail(packets, -ENOMEM);
		return NULL;
	}
	if (bundle->nr == BUNDLE)
		put_bundle(packets, cpu);
	bundled = &bundle->list[bundle->nr++];
	pf__ftrace_event__init(&bundled->event);
	bundled->event.has_timestamp = true;
	bundled->event.timestamp = time + packets->boot;
	bundled->event.has_pid = true;
	bundled->event.pid = pid;
	return bundled;
}

/* Keeps a name until the event is written. */
static char *keep(struct bundled *bundled, unsigned int i, const char *name)
{
	snprintf(bundled->names[i], TEXT_NAME_LEN, "%s", name);
	return bundled->names[i];
}

void packets_switch(struct packets *packets, uint32_t cpu, uint64_t time,
		    const struct packets_task *prev, unsigned int state,
		    const struct packets_task *next)
{
	struct bundled *bundled = begin(packets, cpu, time, prev->tid);
	Pf__SchedSwitchFtraceEvent *change;

	if (!bundled)
		return;
	change = &bundled->change;
	pf__sched_switch_ftrace_event__init(change);
	change->prev_comm = keep(bundled, 0, prev->comm);
	change->has_prev_pid = true;
	change->prev_pid = prev->tid;
	change->has_prev_prio = prev->has_prio;
	change->prev_prio = prev->prio;
	change->has_prev_state = true;
	change->prev_state = state;
	change->next_comm = keep(bundled, 1, next->comm);
	change->has_next_pid = true;
	change->next_pid = next->tid;
	change->has_next_prio = next->has_prio;
	change->next_prio = next->prio;
	bundled->event.sched_switch = change;
}

void packets_waking(struct packets *packets, uint32_t cpu, uint64_t time, uint32_t by,
		    unsigned int flags, const struct packets_task *wakee)
{
	struct bundled *bundled = begin(packets, cpu, time, by);
	Pf__SchedWakingFtraceEvent *waking;

	if (!bundled)
		return;
	waking = &bundled->waking;
	pf__sched_waking_ftrace_event__init(waking);
	waking->comm = keep(bundled, 0, wakee->comm);
	waking->has_pid = true;
	waking->pid = wakee->tid;
	waking->has_prio = wakee->has_prio;
	waking->prio = wakee->prio;
	bundled->event.has_common_flags = true;
	bundled->event.common_flags = flags;
	bundled->event.sched_waking = waking;
}

void packets_fork(struct packets *packets, uint32_t cpu, uint64_t time, uint32_t parent,
		  const struct packets_task *child, bool thread)
{
	struct bundled *bundled = begin(packets, cpu, time, parent);
	Pf__TaskNewtaskFtraceEvent *fork;

	if (!bundled)
		return;
	fork = &bundled->fork;
	pf__task_newtask_ftrace_event__init(fork);
	fork->comm = keep(bundled, 0, child->comm);
	fork->has_pid = true;
	fork->pid = child->tid;
	fork->has_clone_flags = true;
	fork->clone_flags = thread ? CLONE_THREAD : 0;
	bundled->event.task_newtask = fork;
}

void packets_rename(struct packets *packets, uint32_t cpu, uint64_t time,
		    const struct packets_task *task)
{
	struct bundled *bundled = begin(packets, cpu, time, task->tid);
	Pf__TaskRenameFtraceEvent *rename;

	if (!bundled)
		return;
	rename = &bundled->rename;
	pf__task_rename_ftrace_event__init(rename);
	rename->newcomm = keep(bundled, 0, task->comm);
	rename->has_pid = true;
	rename->pid = task->tid;
	bundled->event.task_rename = rename;
}

void packets_end(struct packets *packets, uint32_t cpu, uint64_t time,
		 const struct packets_task *task)
{
	struct bundled *bundled = begin(packets, cpu, time, task->tid);
	Pf__SchedProcessFreeFtraceEvent *end;

	if (!bundled)
		return;
	end = &bundled->end;
	pf__sched_process_free_ftrace_event__init(end);
	end->comm = keep(bundled, 0, task->comm);
	end->has_pid = true;
	end->pid = task->tid;
	end->has_prio = task->has_prio;
	end->prio = task->prio;
	bundled->event.sched_process_free = end;
}

/* -- processes ------------------------------------------------------------- */

static void put_timed(struct packets *packets, Pf__TracePacket *packet, uint64_t time)
{
	packet->has_timestamp = true;
	packet->timestamp = time + packets->boot;
	packet->has_trusted_packet_sequence_id = true;
	packet->trusted_packet_sequence_id = SEQUENCE;
	put(packets, packet);
}

void packets_process(struct packets *packets, uint64_t time, const struct packets_task *task,
		     uint32_t tgid, const char *leader, uint32_t ppid)
{
	Pf__ProcessTree__Process process = PF__PROCESS_TREE__PROCESS__INIT, *processes[1];
	Pf__ProcessTree__Thread thread = PF__PROCESS_TREE__THREAD__INIT, *threads[1];
	Pf__TracePacket packet = PF__TRACE_PACKET__INIT;
	Pf__ProcessTree tree = PF__PROCESS_TREE__INIT;
	char *word = (char *)leader;

	process.has_pid = true;
	process.pid = tgid;
	process.has_ppid = ppid;
	process.ppid = ppid;
	process.n_cmdline = leader ? 1 : 0;
	process.cmdline = &word;
	thread.has_tid = true;
	thread.tid = task->tid;
	thread.has_tgid = true;
	thread.tgid = tgid;
	thread.name = *task->comm ? (char *)task->comm : NULL;
	processes[0] = &process;
	threads[0] = &thread;
	tree.n_processes = 1;
	tree.processes = processes;
	tree.n_threads = 1;
	tree.threads = threads;
	packet.process_tree = &tree;
	put_timed(packets, &packet, time);
}

/* -- tracks ---------------------------------------------------------------- */

/* Describes a track. */
static void put_track(struct packets *packets, Pf__TrackDescriptor *track, uint64_t uuid,
		      uint64_t parent, const char *name)
{
	Pf__TracePacket packet = PF__TRACE_PACKET__INIT;

	track->has_uuid = true;
	track->uuid = uuid;
	track->has_parent_uuid = parent;
	track->parent_uuid = parent;
	track->name = (char *)name;
	packet.has_trusted_packet_sequence_id = true;
	packet.trusted_packet_sequence_id = SEQUENCE;
	packet.track_descriptor = track;
	put(packets, &packet);
}

void packets_thread_track(struct packets *packets, uint64_t track,
			  const struct packets_task *task, uint32_t tgid)
{
	Pf__TrackDescriptor descriptor = PF__TRACK_DESCRIPTOR__INIT;
	Pf__ThreadDescriptor thread = PF__THREAD_DESCRIPTOR__INIT;

	thread.has_pid = true;
	thread.pid = tgid;
	thread.has_tid = true;
	thread.tid = task->tid;
	thread.thread_name = *task->comm ? (char *)task->comm : NULL;
	descriptor.thread = &thread;
	put_track(packets, &descriptor, track, 0, NULL);
}

void packets_track(struct packets *packets, uint64_t track, uint64_t parent, const char *name)
{
	Pf__TrackDescriptor descriptor = PF__TRACK_DESCRIPTOR__INIT;

	put_track(packets, &descriptor, track, parent, name);
}

void packets_counter_track(struct packets *packets, uint64_t track, uint64_t parent,
			   const char *name)
{
	Pf__TrackDescriptor descriptor = PF__TRACK_DESCRIPTOR__INIT;
	Pf__CounterDescriptor counter = PF__COUNTER_DESCRIPTOR__INIT;

	counter.has_unit = true;
	counter.unit = PF__COUNTER_DESCRIPTOR__UNIT__UNIT_TIME_NS;
	descriptor.counter = &counter;
	put_track(packets, &descriptor, track, parent, name);
}

static void put_event(struct packets *packets, Pf__TrackEvent *event, Pf__TrackEvent__Type type,
		      uint64_t track, uint64_t time)
{
	Pf__TracePacket packet = PF__TRACE_PACKET__INIT;

	event->has_type = true;
	event->type = type;
	event->has_track_uuid = true;
	event->track_uuid = track;
	packet.track_event = event;
	put_timed(packets, &packet, time);
}

void packets_counter(struct packets *packets, uint64_t track, uint64_t time, uint64_t value)
{
	Pf__TrackEvent event = PF__TRACK_EVENT__INIT;

	event.has_counter_value = true;
	event.counter_value = value;
	put_event(packets, &event, PF__TRACK_EVENT__TYPE__TYPE_COUNTER, track, time);
}

static Pf__DebugAnnotation annotation_of(const struct export_note *note)
{
	Pf__DebugAnnotation annotation = PF__DEBUG_ANNOTATION__INIT;

	annotation.name = (char *)note->key;
	annotation.string_value = (char *)note->text;
	if (!note->text && note->is_signed) {
		annotation.has_int_value = true;
		annotation.int_value = note->number;
	} else if (!note->text) {
		annotation.has_uint_value = true;
		annotation.uint_value = note->number;
	}
	return annotation;
}

static void put_named(struct packets *packets, const struct packets_event *from,
		      Pf__TrackEvent__Type type)
{
	Pf__DebugAnnotation annotations[PACKETS_NOTES], *list[PACKETS_NOTES];
	Pf__TrackEvent event = PF__TRACK_EVENT__INIT;
	uint64_t flow = from->flow, flow_end = from->flow_end;
	size_t i;

	for (i = 0; i < from->nr_notes && i < PACKETS_NOTES; i++) {
		annotations[i] = annotation_of(&from->notes[i]);
		list[i] = &annotations[i];
	}
	event.name = (char *)from->name;
	event.n_flow_ids = flow ? 1 : 0;
	event.flow_ids = &flow;
	event.n_terminating_flow_ids = flow_end ? 1 : 0;
	event.terminating_flow_ids = &flow_end;
	event.n_debug_annotations = i;
	event.debug_annotations = list;
	put_event(packets, &event, type, from->track, from->time);
}

void packets_instant(struct packets *packets, const struct packets_event *event)
{
	put_named(packets, event, PF__TRACK_EVENT__TYPE__TYPE_INSTANT);
}

void packets_slice(struct packets *packets, const struct packets_event *event, uint64_t end)
{
	Pf__TrackEvent last = PF__TRACK_EVENT__INIT;

	put_named(packets, event, PF__TRACK_EVENT__TYPE__TYPE_SLICE_BEGIN);
	put_event(packets, &last, PF__TRACK_EVENT__TYPE__TYPE_SLICE_END, event->track, end);
}
