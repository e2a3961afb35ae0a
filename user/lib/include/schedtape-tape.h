/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libschedtape: writes, reads and copies tapes.  schedtape.h has the rules.
 */
#ifndef LIBSCHEDTAPE_TAPE_H
#define LIBSCHEDTAPE_TAPE_H

#include <schedtape-page.h>

#ifdef __cplusplus
extern "C" {
#endif

/* -- tape: common to writer and reader -------------------------------------- */

/**
 * struct schedtape_task_info - the description of a task that was alive when the
 *	recording started, or in overwrite mode when it ended
 * @time: when this description was read, ns of CLOCK_MONOTONIC
 * @start_time: when the task was created, ns of CLOCK_MONOTONIC
 * @cpu_time: CPU time that the task had used, ns
 * @state: enum stape_state
 * @affinity: bit n%8 of byte n/8: CPU n
 * @affinity_bytes: size of @affinity; 0: not recorded
 * @cgroup: id of the task's cgroup (version 2), 0: not recorded
 * @dl: the deadline parameters if @policy is SCHED_DEADLINE
 * @wish: with any other policy
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
	union {
		struct schedtape_deadline dl;
		struct schedtape_wish wish;
	};
};

/**
 * struct schedtape_cpu - statistics of a session's ring on one CPU
 * @events: events that were recorded and kept
 * @lost: events for which the ring or the tape had no room; a reader also counts
 *	events that are missing on the tape
 * @lost_first, @lost_last: times of the first and the last lost event
 * @overwritten: events that newer events replaced in overwrite mode
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
 * @size: sizeof this struct
 * @start_time: when the recording began, ns of CLOCK_MONOTONIC; for a reader, if rings
 *	were overwritten: the time from which on the tape is complete
 * @stop_time: when the recording ended
 * @began: set by a reader: when the recording began, even if rings were overwritten
 * @window_start: set for a writer: the time of the session's clock from which on the
 *	tape is complete; 0: it is complete from its beginning on
 * @ended_by: what ended the tape while the recording went on, such as "signal" or "size", at most
 *	31 bytes; NULL: the tape ends with the recording
 * @cpus: one for every CPU that recorded or lost anything, and one with the number
 *	STAPE_CPU_NONE for the descriptions, which is the first for a reader; for a writer their
 *	times are of the session's clock
 */
struct schedtape_end {
	size_t size;
	uint64_t start_time;
	uint64_t stop_time;
	uint64_t began;
	uint64_t window_start;
	const struct schedtape_cpu *cpus;
	size_t nr_cpus;
	const char *ended_by;
};

/**
 * struct schedtape_scheduler - the scheduler of ordinary tasks, from some time on
 * @time: when this was seen, ns of CLOCK_MONOTONIC
 * @after: when it was not so yet, ns of CLOCK_MONOTONIC; 0: the first one of a tape
 * @enable_seq: number of schedulers that sched_ext had enabled since boot
 * @nr_rejected: number of tasks for which the scheduler has rejected SCHED_EXT
 * @switch_all: the scheduler has all ordinary tasks, not only those with SCHED_EXT
 * @state: state of sched_ext, as the kernel names it: "disabled", "enabling", "enabled",
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

/**
 * struct schedtape_player - on the tape of a replay: a player, and the task that it plays
 * @time: when the player was seen, ns of CLOCK_MONOTONIC
 * @task_start: when the task appeared in the recording that is replayed, ns of
 *	CLOCK_MONOTONIC: its @start in the timeline of that tape
 * @pid: of the player
 * @task_pid: of the task, in the recording that is replayed
 */
struct schedtape_player {
	uint64_t time;
	uint64_t task_start;
	uint32_t pid;
	uint32_t task_pid;
};

/**
 * struct schedtape_progress - how far a tape has come that is still being written
 * @size: sizeof this struct
 * @time: all events of all CPUs before this time of the session's clock have been written, and so
 *	has a sample of the clocks with this @counter or a later one; 0: there may be earlier ones
 * @start_time: when the recording began, ns of CLOCK_MONOTONIC
 * @window_start: as in struct schedtape_end
 */
struct schedtape_progress {
	size_t size;
	uint64_t time;
	uint64_t start_time;
	uint64_t window_start;
};

/* -- writing --------------------------------------------------------------- */

/*
 * After a failed write the writer truncates the tape behind its last complete record.
 * The writer can then be used again, for example for the end record.  If the tape
 * cannot be truncated (a pipe), every further call fails.
 */
/**
 * struct schedtape_format - a tracepoint of the kernel that was recorded beside scheduling
 * @id: the kernel's number; the data of its samples begin with it
 * @system, @name: as "irq" and "irq_handler_entry"
 * @format: the kernel's description of its fields, from tracefs
 * @filter: the kernel's filter, or NULL
 * @reserved: 0
 */
struct schedtape_format {
	const char *system;
	const char *name;
	const char *format;
	const char *filter;
	uint32_t id;
	uint32_t reserved;
};

/**
 * struct schedtape_formats - the other tracepoints of a tape
 * @size: sizeof this struct
 * @formats: the @n tracepoints
 * @long_bytes: size of the recording kernel's type long; 0 if @n is 0
 * @big_endian: the byte order of samples' data
 */
struct schedtape_formats {
	size_t size;
	const struct schedtape_format *formats;
	size_t n;
	uint32_t long_bytes;
	bool big_endian;
	bool reserved[3];
};

/**
 * struct schedtape_sample - an event of one of these tracepoints
 * @time: ns of CLOCK_MONOTONIC
 * @lost: number of samples that were lost on this CPU just before
 * @cpu: where it happened
 * @pid, @tid: the process and the thread that ran there
 * @bytes: size of @data; 0: the sample only says what was lost
 * @data: the tracepoint's fields, as @format describes them
 */
struct schedtape_sample {
	uint64_t time;
	uint64_t lost;
	uint32_t cpu;
	uint32_t pid;
	uint32_t tid;
	uint32_t bytes;
	const void *data;
};

struct schedtape_writer;

/**
 * struct schedtape_writer_options
 * @size: sizeof this struct
 * @level: zstd level of chunks, 0: no compression
 * @reserved: 0
 */
struct schedtape_writer_options {
	size_t size;
	int32_t level;
	uint32_t reserved;
};

/*
 * Creates a tape.
 * @path: "-" is standard output, "/dev/fd/N" an open descriptor: they are written to as they are.
 * A file is created with mode 0600 or truncated.
 * @meta: a JSON object that describes the machine and the recording, see
 * Documentation/tape-format.rst.
 */
int schedtape_writer_create(const char *path, const char *meta,
			    const struct schedtape_writer_options *options,
			    struct schedtape_writer **writer, struct schedtape_error *err);
int schedtape_writer_tasks(struct schedtape_writer *writer,
			   const struct schedtape_task_info *tasks, size_t n,
			   struct schedtape_error *err);
/*
 * Writes a sample of the session's clock.  Readers convert times of that clock to ns of
 * CLOCK_MONOTONIC by interpolating between two samples.
 */
int schedtape_writer_clock(struct schedtape_writer *writer,
			   const struct stape_clock_sample *sample, struct schedtape_error *err);
#define SCHEDTAPE_PROGRESS_BYTES	(1U << 22)

/*
 * Writes how far the tape has come: before the first pages, and again from time to time, after
 * SCHEDTAPE_PROGRESS_BYTES at the latest.  So a reader of a pipe can return events while others
 * are still to come, and need not keep many pages.
 */
int schedtape_writer_progress(struct schedtape_writer *writer,
			      const struct schedtape_progress *progress,
			      struct schedtape_error *err);
/*
 * Writes the scheduler: at the start of the recording, after each change, and again when
 * @nr_rejected has grown.  One with @after 0 replaces the first one.
 */
int schedtape_writer_scheduler(struct schedtape_writer *writer,
			       const struct schedtape_scheduler *scheduler,
			       struct schedtape_error *err);
/* Writes which tasks of another tape the recorded tasks play. */
int schedtape_writer_players(struct schedtape_writer *writer,
			     const struct schedtape_player *players, size_t n,
			     struct schedtape_error *err);
/*
 * Writes @n consecutive pages of one CPU's stream, or of the descriptions.
 * @pages: in this machine's byte order; they must not change during the call.
 * Only the headers are checked; -EINVAL: these are not such pages.
 */
int schedtape_writer_pages(struct schedtape_writer *writer, const void *pages,
			   size_t n, struct schedtape_error *err);
/* Writes which other tracepoints the tape has, before their samples. */
int schedtape_writer_formats(struct schedtape_writer *writer,
			     const struct schedtape_formats *formats, struct schedtape_error *err);
/*
 * Writes @n samples of one CPU, in their order, which takes one copy of their data.  They are not
 * compressed.  -EINVAL: they are of several CPUs; -E2BIG: they do not fit into one record.
 */
int schedtape_writer_samples(struct schedtape_writer *writer,
			     const struct schedtape_sample *samples, size_t n,
			     struct schedtape_error *err);
/* Returns the size of the tape so far, in bytes. */
uint64_t schedtape_writer_bytes(const struct schedtape_writer *writer);
/* Writes the end record.  Without it the tape counts as truncated, but is readable. */
int schedtape_writer_end(struct schedtape_writer *writer, const struct schedtape_end *end,
			 struct schedtape_error *err);
/* Closes the tape and frees the writer.  Returns -errno if any call failed, also close(). */
int schedtape_writer_close(struct schedtape_writer *writer, struct schedtape_error *err);

/* -- reading --------------------------------------------------------------- */

struct schedtape_tape;

/*
 * Opens a tape, and reads all of it once to check its checksums.
 * @path: a regular file, or the directory of a tape in several files; "-" is standard
 * input, which must be a regular file, too.
 * -EINVAL: not a tape; -ENOTSUP: a newer format; -EBADMSG: its header is corrupt;
 * -E2BIG: it asks for much more memory than such a file can need.  A tape with any
 * other damage opens.
 */
int schedtape_tape_open(const char *path, struct schedtape_tape **tape,
			struct schedtape_error *err);
/*
 * Opens a tape to read its events once: as schedtape_tape_open(), but it may also be a pipe, a
 * FIFO or a socket.  Such a tape is read while its events are returned:
 *
 * - This call returns when the first pages have come.
 * - Before schedtape_tape_next() has returned 0, schedtape_tape_end() has only the start of the
 *   recording.  There may be more tasks, players and samples of the clocks, and more damage, after
 *   each call of schedtape_tape_next(); then the arrays may have moved.
 * - A loss whose size only the end record has is returned with @lost 0; and a loss that is in a
 *   later page than it began is returned with the time of the event before it.
 * - There are no schedulers.  schedtape_tape_rewind() fails with -ESPIPE, but before the first
 *   event it does nothing, so that a timeline can be run.  schedtape_tape_copy() fails, too.
 * - -E2BIG: more than 64 MB would have to be kept, because a tape of an older version does not say
 *   up to which time all CPUs are complete.
 */
int schedtape_tape_open_once(const char *path, struct schedtape_tape **tape,
			     struct schedtape_error *err);
/*
 * As schedtape_tape_open_once(), for a program whose signals must not wait for a pipe.
 * @interrupted: called with @arg when a handler of a signal has interrupted a wait for the pipe,
 * also in this call.  The wait goes on if it returns 0, else the function that waits fails with
 * -EINTR: schedtape_tape_next() may be called again.  It must not use the tape.
 */
int schedtape_tape_open_interruptible(const char *path, int (*interrupted)(void *arg), void *arg,
				      struct schedtape_tape **tape, struct schedtape_error *err);
/* Returns true if the tape is read once, from a pipe. */
bool schedtape_tape_is_pipe(const struct schedtape_tape *tape);
/*
 * Sets a function that schedtape_tape_next() calls before it may have to wait for a pipe, for
 * example to write what the caller has in its buffers.  It must not use the tape.
 */
void schedtape_tape_before_wait(struct schedtape_tape *tape, void (*call)(void *arg), void *arg);
void schedtape_tape_close(struct schedtape_tape *tape);
/*
 * Returns the JSON object that describes the machine and the recording, as text that is valid
 * until the tape is closed; "{}" if the tape has none.  NULL: out of memory.
 */
const char *schedtape_tape_meta(struct schedtape_tape *tape);
const struct schedtape_task_info *schedtape_tape_tasks(struct schedtape_tape *tape, size_t *n);
/* Returns which tasks of another tape this tape's tasks play; @n 0: it is of no replay. */
const struct schedtape_player *schedtape_tape_players(struct schedtape_tape *tape, size_t *n);
/* Returns the schedulers by time; @n 0: the tape has no record of them. */
const struct schedtape_scheduler *schedtape_tape_schedulers(struct schedtape_tape *tape,
							    size_t *n);
/*
 * Returns the end of the recording; for a truncated tape it is computed from the chunks.
 * Events that are corrupt or missing count as lost.  Those of a chunk that cannot be
 * decompressed count after schedtape_tape_next() has reached the chunk.
 */
const struct schedtape_end *schedtape_tape_end(struct schedtape_tape *tape);
/* Returns where and how the tape is truncated or corrupt; NULL: it is complete and valid. */
const char *schedtape_tape_damage(struct schedtape_tape *tape);
/*
 * Returns how many events, and which, were skipped since the tape was opened or rewound, because
 * only a later version knows them; NULL: none.
 */
const char *schedtape_tape_skipped(struct schedtape_tape *tape);
uint64_t schedtape_tape_bytes(const struct schedtape_tape *tape);
uint64_t schedtape_tape_chunks(const struct schedtape_tape *tape);
uint64_t schedtape_tape_pages(const struct schedtape_tape *tape);
/*
 * Reads the next event.  Events of all CPUs come by time.  If their times of the session's clock
 * are equal, descriptions come first, then the CPUs by number.  @ev has ns of CLOCK_MONOTONIC,
 * also if the session used another clock.  Returns 1: an event; 0: the end; or -errno.  Missing
 * events (lost in the ring, in pages that the recorder didn't get, in corrupt chunks) give a
 * SCHEDTAPE_EV_LOST.
 * -EBADMSG: a page contradicts itself although its checksum is right.  The rest of that
 * page is skipped, and the next call continues behind it.
 *
 * The tape has threads of its own, which load chunks ahead until the end is reached, or until
 * schedtape_tape_rewind() or schedtape_tape_close(): one for each CPU that the process may use, 16
 * at most.  There are none on one CPU, for a tape with few chunks, and for a pipe.  They block all
 * signals, and call nothing of the caller.  A child of fork() does not have them, so it must not
 * use the tape, nor close it.
 */
int schedtape_tape_next(struct schedtape_tape *tape, struct schedtape_event *ev,
			struct schedtape_error *err);

/**
 * struct schedtape_briefs - briefs of the next events of a tape, by time
 * @size: sizeof this struct
 * @first: the first one; see schedtape_brief_at()
 * @n: how many there are
 * @stride: bytes from one to the next: a multiple of the struct's alignment, and the same for all
 *	calls of a program.  Bytes behind sizeof(struct schedtape_brief) must not be read
 * @details: those of the events that are @detailed, in the same order.  A brief of @first is not a
 *	part of such an event
 */
struct schedtape_briefs {
	size_t size;
	const struct schedtape_brief *first;
	size_t n;
	size_t stride;
	const struct schedtape_event *details;
};

/*
 * As schedtape_tape_next(), but returns as many events as are in memory, without a copy: from one
 * to about a thousand; of a pipe one.  They are valid until the next call of this function, or of
 * schedtape_tape_next(), _rewind(), _copy() or _close(), or schedtape_timeline_run().
 */
int schedtape_tape_next_briefs(struct schedtape_tape *tape, struct schedtape_briefs *briefs,
			       struct schedtape_error *err);

/* Returns brief number @i. */
static inline const struct schedtape_brief *
schedtape_brief_at(const struct schedtape_briefs *briefs, size_t i)
{
	return (const struct schedtape_brief *)((const char *)briefs->first + i * briefs->stride);
}

/* Goes back to the first event. */
int schedtape_tape_rewind(struct schedtape_tape *tape, struct schedtape_error *err);

/* -- samples --------------------------------------------------------------- */

struct schedtape_samples;

/* Returns the tracepoints of which the tape has samples, valid until the tape is closed. */
const struct schedtape_formats *schedtape_tape_formats(struct schedtape_tape *tape);
/*
 * Begins to read the samples of a tape, which the caller keeps open meanwhile.  A tape may be read
 * by several at a time, in one thread.  -ESPIPE: the tape is a pipe.
 */
int schedtape_samples_open(struct schedtape_tape *tape, struct schedtape_samples **samples,
			   struct schedtape_error *err);
/*
 * Reads the next sample: those of all CPUs come by time.  @sample is valid until the next call.
 * Returns 1: a sample; 0: the end; or -errno.  Samples of a corrupt record are left out;
 * schedtape_tape_damage() says so.
 */
int schedtape_samples_next(struct schedtape_samples *samples, struct schedtape_sample *sample,
			   struct schedtape_error *err);
/* Ends that.  The tape may have been closed before. */
void schedtape_samples_close(struct schedtape_samples *samples);

/* -- clocks ---------------------------------------------------------------- */

/* Returns the samples of the clocks during the recording, in order. */
const struct stape_clock_sample *schedtape_tape_clocks(struct schedtape_tape *tape, size_t *n);
/* Returns true if the session's clock was the CPU's counter, not CLOCK_MONOTONIC. */
bool schedtape_tape_uses_counter(struct schedtape_tape *tape);
/*
 * Returns by how many ns CLOCK_REALTIME was set between two samples; 0: it was not set,
 * or the step is too small to be detected.
 */
int64_t schedtape_clock_step(const struct stape_clock_sample *from,
			     const struct stape_clock_sample *to);
/* Returns for how many ns the machine slept between two samples, as far as the kernel knows. */
uint64_t schedtape_clock_sleep(const struct stape_clock_sample *from,
			       const struct stape_clock_sample *to);

/* -- copying --------------------------------------------------------------- */

/**
 * struct schedtape_copy_options
 * @size: sizeof this struct
 * @recover: leave out missing and corrupt parts instead of failing
 * @progress: NULL, or called from time to time with the number of bytes done; if it
 *	returns -errno, the copy stops with that error and the partial file stays
 * @arg: for @progress
 * @from, @to: leave out chunks that end before @from or begin after @to, ns of CLOCK_MONOTONIC; @to
 *	0: up to the end.  Readers of the copy count their events as lost.  Descriptions of tasks
 *	and samples are all copied
 */
struct schedtape_copy_options {
	size_t size;
	bool recover;
	int (*progress)(void *arg, uint64_t done, uint64_t bytes);
	void *arg;
	uint64_t from;
	uint64_t to;
};

/*
 * Copies a tape, or a part of it, into one file: all valid records unchanged, and an end record.
 * The tape itself is not changed, but for that its first event is the next one.  -EBADMSG: the tape
 * is corrupt, and @recover is not set.
 * Afterwards schedtape_tape_damage() returns what was left out; the copy records it, too.
 * @bytes: receives the size of the copy.
 */
int schedtape_tape_copy(struct schedtape_tape *tape, const char *path,
			const struct schedtape_copy_options *options, uint64_t *bytes,
			struct schedtape_error *err);

#ifdef __cplusplus
}
#endif

#endif /* LIBSCHEDTAPE_TAPE_H */
