/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Of libschedtape: tapes, which are written, read and copied.
 */
#ifndef LIBSCHEDTAPE_TAPE_H
#define LIBSCHEDTAPE_TAPE_H

#include <schedtape-page.h>

struct json_object;

/* -- tape: what both sides of a tape share --------------------------------- */

/**
 * struct schedtape_task_info - the description of a task that was alive when the
 *	recording started, or in overwrite mode when it ended
 * @time: when this was read, ns of CLOCK_MONOTONIC
 * @start_time: when the task was made, ns of CLOCK_MONOTONIC
 * @cpu_time: CPU time that it had used, ns
 * @state: enum stape_state
 * @affinity: bit n%8 of byte n/8: CPU n
 * @affinity_bytes: bytes of it; 0: not known
 * @cgroup: id of its cgroup (version 2), 0: not known
 * @dl: with SCHED_DEADLINE as its @policy
 */
struct schedtape_task_info {
	uint64_t time;
	uint64_t start_time;
	uint64_t cpu_time;
	uint32_t pid;
	uint32_t tgid;
	uint32_t ppid;
	uint32_t ns_pid;
	uint32_t cpu;
	uint32_t state;
	uint32_t policy;
	int32_t nice;
	uint32_t rt_priority;
	uint32_t affinity_bytes;
	const unsigned char *affinity;
	char comm[STAPE_COMM_LEN];
	uint64_t cgroup;
	struct schedtape_deadline dl;
};

/**
 * struct schedtape_cpu - what a session's ring went through on one CPU
 * @events: recorded, and kept
 * @lost: those that the ring had no room for, or the tape; a reader's has those that
 *	are missing on the tape, too
 * @lost_first, @lost_last: times of the first and the last of them
 * @overwritten: those that newer ones have taken the place of, as was asked for
 */
struct schedtape_cpu {
	uint32_t cpu;
	uint32_t reserved;
	uint64_t events;
	uint64_t lost;
	uint64_t lost_first;
	uint64_t lost_last;
	uint64_t overwritten;
};

/**
 * struct schedtape_end - the end of a recording
 * @start_time: when it began, ns of CLOCK_MONOTONIC; a reader's is later if rings
 *	were overwritten: from when on the tape has everything
 * @stop_time: when it ended
 * @began: only a reader's: when it began in any case
 * @window_start: only a writer's: from when on the tape has everything, by the
 *	session's clock; 0: nothing was overwritten
 * @cpus: one for every CPU that recorded or lost anything; a writer's have times
 *	of the session's clock
 */
struct schedtape_end {
	uint64_t start_time;
	uint64_t stop_time;
	uint64_t began;
	uint64_t window_start;
	const struct schedtape_cpu *cpus;
	size_t nr_cpus;
};

/**
 * struct schedtape_scheduler - which scheduler ordinary tasks had, from some time on
 * @time: by when it was so, ns of CLOCK_MONOTONIC
 * @after: when it was not yet so, the same; 0: it is the first of a tape
 * @enable_seq: how many schedulers sched_ext had switched on since boot
 * @nr_rejected: tasks whose SCHED_EXT the scheduler has refused
 * @switch_all: it has all ordinary tasks, not only those with SCHED_EXT
 * @state: of sched_ext, as the kernel names it: "disabled", "enabling", "enabled",
 *	"disabling"; or "none": the kernel has no sched_ext; or "unknown"
 * @ops: the scheduler's name, "" without one
 */
struct schedtape_scheduler {
	uint64_t time;
	uint64_t after;
	uint64_t enable_seq;
	uint64_t nr_rejected;
	bool switch_all;
	char state[16];
	char ops[128];
};

/* -- writing --------------------------------------------------------------- */

/*
 * After a failed write the tape is cut back to its last whole record, and the
 * writer may be used on (for the end record, say).  Where it cannot be cut (a
 * pipe), every further call fails.
 */
struct schedtape_writer;

/**
 * struct schedtape_writer_options
 * @size: sizeof this struct
 * @level: zstd level of chunks, 0: not compressed
 */
struct schedtape_writer_options {
	size_t size;
	int level;
};

/*
 * @path: "-" is standard output.  A file is created with mode 0600 or truncated.
 * @meta: the machine and the recording, see Documentation/tape-format.rst.
 */
int schedtape_writer_create(const char *path, struct json_object *meta,
			    const struct schedtape_writer_options *options,
			    struct schedtape_writer **writer, struct schedtape_error *err);
int schedtape_writer_tasks(struct schedtape_writer *writer,
			   const struct schedtape_task_info *tasks, size_t n,
			   struct schedtape_error *err);
/*
 * How the session's clock goes: readers make ns of CLOCK_MONOTONIC of its times
 * by what stands between two of these.
 */
int schedtape_writer_clock(struct schedtape_writer *writer,
			   const struct stape_clock_sample *sample, struct schedtape_error *err);
/*
 * Which scheduler there is at the start of the recording, and after each change.  Once more,
 * if @nr_rejected has grown; and without @after, instead of the first one.
 */
int schedtape_writer_scheduler(struct schedtape_writer *writer,
			       const struct schedtape_scheduler *scheduler,
			       struct schedtape_error *err);
/*
 * @pages: @n consecutive pages of one CPU's stream, in this machine's byte
 * order; they must not change during the call.  Only their headers are looked
 * at; -EINVAL: these are not such pages.
 */
int schedtape_writer_pages(struct schedtape_writer *writer, const void *pages,
			   size_t n, struct schedtape_error *err);
/* Bytes in the tape so far. */
uint64_t schedtape_writer_bytes(const struct schedtape_writer *writer);
/* Writes the end record.  Without it the tape is torn, and still readable. */
int schedtape_writer_end(struct schedtape_writer *writer, const struct schedtape_end *end,
			 struct schedtape_error *err);
/* Frees; -errno if anything (close, too) went wrong. */
int schedtape_writer_close(struct schedtape_writer *writer, struct schedtape_error *err);

/* -- reading --------------------------------------------------------------- */

struct schedtape_tape;

/*
 * @path: a regular file, or the directory of a tape in several; "-" is standard
 * input, which must be a regular file, too.  All of it is read once, for its
 * checksums.  -EINVAL: not a tape; -ENOTSUP: of a
 * newer format; -EBADMSG: its header is damaged; -E2BIG: it asks for much more memory
 * than such a file can need; whatever else is wrong with it, the tape opens.
 */
int schedtape_tape_open(const char *path, struct schedtape_tape **tape,
			struct schedtape_error *err);
void schedtape_tape_close(struct schedtape_tape *tape);
struct json_object *schedtape_tape_meta(struct schedtape_tape *tape);
const struct schedtape_task_info *schedtape_tape_tasks(struct schedtape_tape *tape, size_t *n);
/* By time; @n 0: the tape does not say. */
const struct schedtape_scheduler *schedtape_tape_schedulers(struct schedtape_tape *tape,
							    size_t *n);
/*
 * Of a torn tape, what its chunks say.  What is damaged or missing counts as lost, of a
 * chunk that cannot be decompressed once schedtape_tape_next() has come to it.
 */
const struct schedtape_end *schedtape_tape_end(struct schedtape_tape *tape);
/*
 * Where the tape ends too early or is damaged, and how; NULL: nowhere.
 */
const char *schedtape_tape_torn(struct schedtape_tape *tape);
uint64_t schedtape_tape_bytes(const struct schedtape_tape *tape);
uint64_t schedtape_tape_chunks(const struct schedtape_tape *tape);
uint64_t schedtape_tape_pages(const struct schedtape_tape *tape);
/*
 * Events of all CPUs by time, those of one time of the session's clock by CPU.
 * Times are ns of CLOCK_MONOTONIC, whatever that clock was.  1: an event; 0: the
 * end; -errno.  Whatever is missing (lost in the ring, pages that the recorder
 * didn't get, damaged chunks) is a SCHEDTAPE_EV_LOST.  -EBADMSG: a page
 * contradicts itself though its checksum is right; what is left of the page is
 * left out, and the next call goes on behind it.
 *
 * Chunks are loaded by threads of the tape's own, until the end is reached.
 */
int schedtape_tape_next(struct schedtape_tape *tape, struct schedtape_event *ev,
			struct schedtape_error *err);
/* Back to the first event. */
int schedtape_tape_rewind(struct schedtape_tape *tape, struct schedtape_error *err);

/* -- clocks ---------------------------------------------------------------- */

/* What the clocks said during the recording, in order. */
const struct stape_clock_sample *schedtape_tape_clocks(struct schedtape_tape *tape, size_t *n);
/* The session's clock was not CLOCK_MONOTONIC but the CPU's counter. */
bool schedtape_tape_counts(struct schedtape_tape *tape);
/*
 * By how much somebody has set CLOCK_REALTIME between two samples, ns; 0: nobody,
 * or by so little that it cannot be told.
 */
int64_t schedtape_clock_step(const struct stape_clock_sample *from,
			     const struct stape_clock_sample *to);

/* -- copying --------------------------------------------------------------- */

/**
 * struct schedtape_copy_options
 * @size: sizeof this struct
 * @recover: what is missing or damaged is left out, not refused
 * @progress: NULL, or told from time to time of how many bytes are done; -errno: the
 *	copy ends with that, as it is
 * @arg: for @progress
 */
struct schedtape_copy_options {
	size_t size;
	bool recover;
	int (*progress)(void *arg, uint64_t done, uint64_t bytes);
	void *arg;
};

/*
 * Makes one file of a tape: all sound records as they are, and an end.  Nothing
 * of the tape is changed.  -EBADMSG: it is damaged, and not to be recovered.
 * schedtape_tape_torn() tells afterwards what was left out, and so does the copy.
 * @bytes: of the copy.
 */
int schedtape_tape_copy(struct schedtape_tape *tape, const char *path,
			const struct schedtape_copy_options *options, uint64_t *bytes,
			struct schedtape_error *err);

#endif /* LIBSCHEDTAPE_TAPE_H */
