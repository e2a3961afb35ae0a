/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The packets of a trace that Perfetto reads.  Their fields are in perfetto.proto.
 *
 * Scheduling is written as ftrace's events, as Perfetto's own recorder does, because its viewer
 * makes the tracks of CPUs, the states of threads and their wakers of them.  All else is in tracks
 * that the trace describes itself.
 */
#ifndef SCHEDTAPE_EXPORT_PACKETS_H
#define SCHEDTAPE_EXPORT_PACKETS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <schedtape.h>

#include "export/internal.h"

/* How ftrace writes the state of a task that leaves its CPU, since Linux 4.14. */
#define PACKETS_RUNNABLE	0x0000
#define PACKETS_UNKNOWN		0x8000	/* in no kernel: the viewer then shows no state */

/* In what a waking happened, of FtraceEvent.common_flags, as in linux/trace_events.h. */
#define PACKETS_HARDIRQ		0x08
#define PACKETS_SOFTIRQ		0x10

/**
 * struct packets_task - a task, or what stands for one
 * @comm: its name as it may be printed
 * @prio: the kernel's priority, if @has_prio
 */
struct packets_task {
	uint32_t tid;
	const char *comm;
	bool has_prio;
	int32_t prio;
};

struct packets;

/* What begins each trace. */
#define PACKETS_BEGIN	"\x0a\x04\x50\x01\x68\x01"

/* Begins a trace.  Returns NULL without memory. */
struct packets *packets_new(FILE *to);
/* Writes all packets.  Returns 0 or -errno. */
int packets_flush(struct packets *packets);
void packets_free(struct packets *packets);
/* Returns 0, or -errno if an earlier call has failed. */
int packets_failed(const struct packets *packets);

/* Names the kernel, by which the viewer reads states of tasks. */
void packets_system(struct packets *packets, const char *release, const char *machine);
/*
 * Writes several clocks.  All times below are of CLOCK_MONOTONIC; the trace has those of
 * CLOCK_BOOTTIME.  @ahead: by how much that is ahead from now on.  The sample has it only about,
 * because clocks are read one after the other.
 */
void packets_clocks(struct packets *packets, const struct stape_clock_sample *sample,
		    uint64_t ahead);

/* -- scheduling ------------------------------------------------------------ */

/* @cpu: where it happened.  The calls for a CPU come by time. */

void packets_switch(struct packets *packets, uint32_t cpu, uint64_t time,
		    const struct packets_task *prev, unsigned int state,
		    const struct packets_task *next);
/* @by: what ran there; @flags: PACKETS_HARDIRQ or _SOFTIRQ: an interrupt woke it */
void packets_waking(struct packets *packets, uint32_t cpu, uint64_t time, uint32_t by,
		    unsigned int flags, const struct packets_task *wakee);
void packets_fork(struct packets *packets, uint32_t cpu, uint64_t time, uint32_t parent,
		  const struct packets_task *child, bool thread);
void packets_rename(struct packets *packets, uint32_t cpu, uint64_t time,
		    const struct packets_task *task);
void packets_end(struct packets *packets, uint32_t cpu, uint64_t time,
		 const struct packets_task *task);

/* -- processes and tracks -------------------------------------------------- */

/* @leader: name of the process, NULL: not known; @ppid: 0: not known */
void packets_process(struct packets *packets, uint64_t time, const struct packets_task *task,
		     uint32_t tgid, const char *leader, uint32_t ppid);

/* Tracks have numbers.  A thread's own track is the parent of the others. */

void packets_thread_track(struct packets *packets, uint64_t track,
			  const struct packets_task *task, uint32_t tgid);
/* @parent: 0: none */
void packets_track(struct packets *packets, uint64_t track, uint64_t parent, const char *name);
/* A track of values that are ns. */
void packets_counter_track(struct packets *packets, uint64_t track, uint64_t parent,
			   const char *name);
void packets_counter(struct packets *packets, uint64_t track, uint64_t time, uint64_t value);

/**
 * struct packets_event - an event of a track, or the begin of a slice
 * @flow: number of the arrow that begins here, 0: none
 * @flow_end: number of the one that ends here
 */
struct packets_event {
	uint64_t track;
	uint64_t time;
	const char *name;
	uint64_t flow;
	uint64_t flow_end;
	const struct export_note *notes;
	size_t nr_notes;
};

#define PACKETS_NOTES	32	/* of an event, at most */

void packets_instant(struct packets *packets, const struct packets_event *event);
/* Slices of a track are one in the other, or one after the other. */
void packets_slice(struct packets *packets, const struct packets_event *event, uint64_t end);

#endif /* SCHEDTAPE_EXPORT_PACKETS_H */
