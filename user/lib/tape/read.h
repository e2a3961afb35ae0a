/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Internals of the reader, from the first step to the last: files.c finds the files, bytes.c
 * reads bytes, records.c reads records, walk.c walks over them with index.c and content.c,
 * load.c loads chunks ahead with unpack.c, cursor.c goes over those of one CPU, merge.c makes
 * one stream of the events of all CPUs, with ahead.c in a thread, and next.c returns them.
 * open.c calls them, and tape.c returns their results.
 *
 * A tape that comes through a pipe is read once, while the events are returned: stream.c
 * walks on as far as needed, and waiting.c keeps the chunks that cursor.c needs later.
 */
#ifndef SCHEDTAPE_TAPE_READ_H
#define SCHEDTAPE_TAPE_READ_H

#include <endian.h>
#include <pthread.h>
#include <string.h>

#include <xxhash.h>
#include <zstd.h>

#include "tape/brief.h"
#include "tape/clock.h"
#include "tape/format.h"

struct json_object;
struct schedtape_group;
struct tape_ahead;
struct tape_cgroup;
struct tape_load;
struct tape_loader;
struct tape_merged;
struct tape_pipe;
struct tape_unpacked;

/**
 * struct tape_file - a file that records come from
 * @name: prefix for notes about the file: "data.3: "; "" if it is all of the tape
 * @size: bytes when it was opened; later ones are ignored.  See tape_file_size()
 * @pipe: it is a pipe, and this is the part of it that is in memory; NULL: it can seek
 * @header: bytes of its header, behind which the records begin
 * @minor: the format's minor version, from its header
 * @offset: where the walk over its records is
 * @tried: bytes that the search for valid records has read
 * @described: it has a valid META
 * @ended: it has a valid end record
 * @stream: in a directory, it is not the main file
 */
struct tape_file {
	char *path;
	char name[24];
	int fd;
	uint64_t size;
	struct tape_pipe *pipe;
	uint32_t header;
	uint16_t minor;
	uint64_t offset;
	uint64_t tried;
	bool described;
	bool ended;
	bool stream;
};

/**
 * struct tape_decoder - buffers and states to read records; each thread has its own
 * @buffer: a stored record
 * @columns: pages before their columns are joined
 */
struct tape_decoder {
	unsigned char *buffer;
	size_t capacity;
	unsigned char *columns;
	size_t columns_bytes;
	ZSTD_DCtx *zstd;
	XXH64_state_t *sum;
};

/**
 * struct tape_head - a record header, unpacked
 * @next: offset of the record behind it
 */
struct tape_head {
	uint64_t offset;
	uint64_t next;
	uint64_t sum;
	uint32_t extra;
	uint32_t stored;
	uint32_t raw;
	uint16_t type;
	uint16_t flags;
};

/*
 * bytes.c: opens a file.  The caller calls tape_file_close(), also on failure.
 * @once: it may be a pipe
 */
int tape_file_open(struct tape_file *file, const char *path, bool once,
		   struct schedtape_error *err);
void tape_file_close(struct tape_file *file);
/* Returns the bytes read, fewer than @bytes if the file ends there; or -errno. */
ssize_t tape_file_read(const struct tape_file *file, void *to, size_t bytes, uint64_t offset);
/* Waits until a pipe has come to @offset + @bytes, or to its end.  0 or -errno. */
int tape_file_reach(const struct tape_file *file, uint64_t offset, uint64_t bytes);
/* Returns the file's size; UINT64_MAX: it is a pipe that has not come to its end. */
uint64_t tape_file_size(const struct tape_file *file);
/* Returns the file's size, or how many bytes of a pipe have come. */
uint64_t tape_file_bytes(const struct tape_file *file);
/* Drops the bytes of a pipe before @offset, which nobody may read then. */
void tape_file_drop(const struct tape_file *file, uint64_t offset);
/* Takes a pipe's end to be here, whatever may follow. */
void tape_file_stop(const struct tape_file *file);

/* Returns 0 or -ENOMEM.  The caller calls tape_decoder_exit() in both cases. */
int tape_decoder_init(struct tape_decoder *decoder);
void tape_decoder_exit(struct tape_decoder *decoder);

/*
 * These return 0; -EBADMSG: the record is corrupt, for the reason @why; another -errno:
 * the file cannot be read.
 */
int tape_head_read(const struct tape_file *file, uint64_t offset, struct tape_head *head,
		   const char **why);
int tape_head_check(const struct tape_file *file, struct tape_decoder *decoder,
		    const struct tape_head *head, const char **why);
/* Reads a record into @decoder->buffer, unchanged, and checks it. */
int tape_record_read(const struct tape_file *file, struct tape_decoder *decoder,
		     const struct tape_head *head, const char **why);
/*
 * Decompresses the payload of a record in memory, whose checksum is right.  @to: room for
 * @head->raw bytes, at most TAPE_MAX_RAW.
 */
int tape_payload_unpack(struct tape_decoder *decoder, const struct tape_head *head,
			const unsigned char *record, void *to, const char **why);
/* Reads a record, and decompresses its payload. */
int tape_payload_read(const struct tape_file *file, struct tape_decoder *decoder,
		      const struct tape_head *head, void *to, const char **why);
/* Checks limits that hold for every known type.  Returns which one is exceeded, or NULL. */
const char *tape_head_limits(const struct tape_head *head);

/**
 * struct tape_index - a chunk, as its header describes it
 * @damaged: the chunk is corrupt, so its header may be wrong, too; it must not be loaded,
 *	and is already noted
 */
struct tape_index {
	uint64_t offset;
	uint64_t seq;
	uint64_t time;
	uint64_t end;
	uint64_t events;
	uint64_t lost;
	uint32_t cpu;
	uint32_t pages;
	uint32_t file;
	bool damaged;
};

/**
 * struct tape_sums - sums over the chunks of a CPU, in their order
 * @events, @lost: of valid chunks
 * @claimed: events and losses of corrupt chunks
 * @end: end of the last chunk
 * @started: there is a valid chunk
 * @first_seq, @first_time: of the first valid chunk
 * @seq, @time: the end of the last valid chunk
 * @gap_first, @gap_last: from the first place behind the first chunk where chunks are missing or
 *	corrupt to the last one; @gap_last 0: there is none
 * @lost_first, @lost_last: the same of losses that valid chunks count, with @lost
 */
struct tape_sums {
	uint64_t events;
	uint64_t lost;
	uint64_t claimed;
	uint64_t end;
	bool started;
	uint64_t first_seq;
	uint64_t first_time;
	uint64_t seq;
	uint64_t time;
	uint64_t gap_first;
	uint64_t gap_last;
	uint64_t lost_first;
	uint64_t lost_last;
};

/**
 * struct tape_waiting - a chunk of a pipe that the merge has not needed yet
 * @record: the whole record, as it is stored
 */
struct tape_waiting {
	struct tape_waiting *next;
	struct tape_index index;
	struct tape_head head;
	unsigned char record[];
};

/*
 * Orders CPUs.  Descriptions come first, because they explain events of the same time.
 * STAPE_CPU_NONE + 1 is 0.
 */
static inline int tape_cpu_compare(uint32_t a, uint32_t b)
{
	return a + 1 < b + 1 ? -1 : a + 1 > b + 1;
}

/* Returns true if the chunk is valid, or counts events that are lost. */
static inline bool tape_index_counts(const struct tape_index *index)
{
	return !index->damaged || index->events || index->lost;
}

/**
 * struct tape_other - place of a valid record of another type
 */
struct tape_other {
	uint64_t offset;
	uint32_t file;
	uint32_t type;
};

/**
 * struct tape_cursor - position in the stream of one CPU, or in the descriptions
 * @chunk: index of the next chunk to load
 * @chunks_first: index of this CPU's first chunk
 * @chunks_end: index behind this CPU's last chunk
 * @load: the chunk that tape_load() has loaded, with its memory; NULL: there is none
 * @memory: the pages of one chunk: those of @load, or of a pipe memory of its own
 * @memory_bytes: of a pipe: its size
 * @unpacked: the events of these pages; NULL: the cursor has to unpack them
 * @page_open: @page is not at its end
 * @page_left: it has more events than those up to @last
 * @failed: the rest of it is corrupt, for the reason in @batch
 * @next, @last: the next events, from @next to before @last.  One of type STAPE_EV_NONE stands for
 *	a whole event: @whole[@pid]
 * @batch: memory for a few events
 * @started: @seq is valid
 * @seq: number of the page that should come next
 * @time: no later event may be earlier than this
 * @loss: events of a corrupt chunk, to be returned as a loss before the next page;
 *	type 0: none
 * @hole: pages are missing before the next one, or before @loss
 * @end: this CPU's counts in the end record, or computed from the chunks
 * @end_returned: no loss behind the last chunk is left to return
 * @missing: events that @end counts, as recorded or lost, but no chunk does
 * @behind: such events in losses behind the last chunk; not part of @missing
 * @holes: number of places in its stream where pages are missing
 * @queued: it is in the heap
 * @waiting, @waiting_last: of a pipe: its chunks that have come and are not loaded yet
 * @sums: of a pipe: the chunks before these
 * @live: it is of a pipe: how much is missing is known only at the end
 * @any_first: its stream may begin with any page, because an earlier tape has those before that;
 *	of a pipe also because its ring was overwritten
 * @counted: of a pipe: what is missing has been counted
 * @guessed: of a pipe: no end record has this CPU, so that @end is made from @sums
 * @brief: the event that the merge looks at, NULL: it is @ev
 *
 * All times are of the session's clock.
 */
struct tape_cursor {
	uint32_t cpu;
	size_t chunk;
	size_t chunks_first;
	size_t chunks_end;
	struct tape_load *load;
	unsigned char *memory;
	size_t memory_bytes;
	const struct tape_unpacked *unpacked;
	uint32_t pages;
	uint32_t pages_read;
	uint32_t file;
	uint64_t offset;
	bool page_open;
	bool page_left;
	bool failed;
	const struct tape_brief *next;
	const struct tape_brief *last;
	const struct schedtape_event *whole;
	struct tape_batch *batch;
	bool started;
	bool end_returned;
	bool hole;
	uint64_t missing;
	uint64_t behind;
	uint64_t holes;
	uint64_t seq;
	uint64_t time;
	struct schedtape_page page;
	struct schedtape_event loss;
	const struct schedtape_cpu *end;
	bool queued;
	bool live;
	bool any_first;
	bool counted;
	bool guessed;
	struct tape_waiting *waiting;
	struct tape_waiting *waiting_last;
	struct tape_sums sums;
	const struct tape_brief *brief;
	struct schedtape_event ev;
};

/* Returns the time of the event that the merge looks at. */
static inline uint64_t tape_cursor_time(const struct tape_cursor *c)
{
	return c->brief ? c->brief->time : c->ev.time;
}

struct tape_heap {
	uint64_t time;
	struct tape_cursor *cursor;
};

/**
 * struct tape_stream - the state of a tape that comes through a pipe
 * @progress: how far all CPUs have come, by the last valid PROGRESS record
 * @limit: events before this time may be returned
 * @returned, @returned_ns: time of the last event that was returned
 * @waiting: bytes of all chunks that are not loaded yet
 * @loaded: bytes of pages in the memories of all cursors
 * @found: index of the cursor that was looked for last
 * @chunks, @pages: valid chunks so far
 * @first, @last: begin and end of the time that they cover
 * @over: the pipe has ended
 * @late: an event came later than a PROGRESS record said, which has been noted
 * @before_wait: NULL, or called with @arg before the pipe is read
 */
struct tape_stream {
	uint64_t progress;
	uint64_t limit;
	uint64_t returned;
	uint64_t returned_ns;
	uint64_t waiting;
	uint64_t loaded;
	size_t found;
	uint64_t chunks;
	uint64_t pages;
	uint64_t first;
	uint64_t last;
	bool over;
	bool late;
	void (*before_wait)(void *arg);
	void *arg;
};

#define TAPE_SKIPPED_KINDS	4

/**
 * struct tape_skipped - events that were not returned, because this version does not know them
 * @kinds: those that came first: what they set, and how many there were
 * @text: for the caller
 */
struct tape_skipped {
	uint64_t events;
	unsigned int nr_kinds;
	struct {
		uint64_t which;
		uint64_t events;
	} kinds[TAPE_SKIPPED_KINDS];
	char text[256];
};

/**
 * struct schedtape_tape - an open tape
 * @path: the caller's path
 * @files: the main one first
 * @directory: the tape is a directory
 * @recording: the recording's id in the METAs of all files; "": they have none
 * @ended_by: of the end record; "": it says nothing of that
 * @meta: META of the first file that has one
 * @meta_text: the same as text, NULL: the caller has not asked for it
 * @decoder: of the thread that merges, see ahead.c
 * @index: chunks, by CPU, then by place in the files
 * @others: all other records, by place in the files
 * @content: bytes of the payloads of @others
 * @blocks: payloads of the TASKS records, which the tasks' affinities point to
 * @players: content of the PLAYERS records, in the order of the files
 * @schedulers: content of the SCHEDULER records, by time once all files are read
 * @formats: tracepoints of the FORMATS records, whose texts it owns
 * @formats_end: the same for the caller
 * @cgroups: entries of the CGROUPS records, in the order of the files
 * @cpus: CPUs of the end records, with times of the session's clock
 * @end: the end that is returned to the caller, with ns
 * @end_cpus: the CPUs of @end
 * @ended: there is a valid end record
 * @begun: when the recording began, ns, by the PROGRESS records; 0: there are none
 * @first, @last: begin and end of the recording, as far as they are known, by the session's
 *	clock
 * @window: no earlier event is returned to the caller, by the session's clock
 * @unfinished: a file without an end record has been noted
 * @damage: what is wrong with the tape, "" if nothing
 * @cursors: one for every CPU with events or losses, by CPU
 * @cursors_room: of a pipe: room for cursors, because CPUs may appear at any time
 * @heap: cursors by the time of their next event
 * @filled: number of cursors that have looked for their first event
 * @taken: the event at the heap's top has been merged
 * @ahead_of_caller: the caller has not come to the event that is merged next
 * @ahead: the thread that merges; NULL: there is none
 * @own: memory for merged events without a thread
 * @alone: how often events were merged without a thread
 * @merged: the merged events that the caller reads, NULL: there are none
 * @brief, @briefs_end: those that have not been returned
 * @ev: the event that was returned last
 * @set_slowly: @ev has members that a brief does not have, or it is of a pipe
 * @skipped: since the tape was opened or rewound
 * @once: the tape may be a pipe
 * @stream: its state, NULL: it is none
 */
struct schedtape_tape {
	char *path;
	struct tape_file *files;
	size_t nr_files;
	bool directory;
	char *recording;
	char ended_by[32];
	struct json_object *meta;
	char *meta_text;
	struct tape_decoder decoder;
	struct tape_index *index;
	size_t nr_index;
	size_t index_capacity;
	struct tape_other *others;
	size_t nr_others;
	size_t others_capacity;
	uint64_t content;
	unsigned char **blocks;
	size_t nr_blocks;
	struct schedtape_task_info *tasks;
	size_t nr_tasks;
	size_t tasks_capacity;
	struct schedtape_player *players;
	size_t nr_players;
	size_t players_capacity;
	struct schedtape_group *groups;
	size_t nr_groups;
	size_t groups_capacity;
	bool groups_sorted;
	struct tape_clocks clocks;
	struct schedtape_scheduler *schedulers;
	size_t nr_schedulers;
	size_t schedulers_capacity;
	struct schedtape_format *formats;
	size_t nr_formats;
	size_t formats_capacity;
	struct schedtape_formats formats_end;
	struct tape_cgroup *cgroups;
	size_t nr_cgroups;
	size_t cgroups_capacity;
	struct schedtape_cpu *cpus;
	size_t nr_cpus;
	struct schedtape_end end;
	struct schedtape_cpu *end_cpus;
	bool ended;
	uint64_t begun;
	uint64_t first;
	uint64_t last;
	uint64_t window;
	bool unfinished;
	char damage[1024];
	struct tape_cursor *cursors;
	size_t nr_cursors;
	size_t cursors_room;
	struct tape_heap *heap;
	size_t nr_heap;
	size_t filled;
	bool taken;
	bool ahead_of_caller;
	struct tape_ahead *ahead;
	struct tape_merged *own;
	unsigned int alone;
	const struct tape_merged *merged;
	const struct tape_brief *brief;
	const struct tape_brief *briefs_end;
	bool set_slowly;
	struct tape_skipped skipped;
	struct schedtape_event ev;
	struct tape_loader *loader;
	bool once;
	struct tape_stream *stream;
};

/* Records damage for schedtape_tape_damage(). */
void tape_note(struct schedtape_tape *tape, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* files.c: finds the files of a directory. */
#define TAPE_STREAM_NAME	16

/**
 * struct tape_found - files of a directory
 * @main: it has the main file
 * @streams: numbers of the other files, in order
 * @n: number of @streams
 */
struct tape_found {
	bool main;
	uint32_t *streams;
	size_t n;
};

/* Fills @found, whose @streams the caller frees, also on failure.  0 or -errno. */
int tape_files_find(const char *path, struct tape_found *found);
bool tape_found_has(const struct tape_found *found, uint32_t number);
/* Makes the name of a stream's file. */
void tape_files_stream(char name[TAPE_STREAM_NAME], uint32_t number);

/*
 * walk.c: adds a file and its content.  @name: within the directory; NULL: the file is all
 * of the tape.  -ESTALE: it belongs to another recording, and nothing of it was kept.
 */
int tape_walk_file(struct schedtape_tape *tape, const char *path, const char *name,
		   struct schedtape_error *err);
/*
 * Adds the next record of a file.  tape_walk_file() does so with all records, except those of a
 * pipe.  1: go on; 0: the file has ended; -errno.
 */
int tape_walk_next(struct schedtape_tape *tape, struct tape_file *file,
		   struct schedtape_error *err);

/*
 * index.c: adds a chunk.  @damaged: its checksum is wrong, so its header may be wrong as
 * well.  -EBADMSG: its header is impossible, for the reason @why.
 */
int tape_index_chunk(struct schedtape_tape *tape, const struct tape_file *file,
		     const struct tape_head *head, bool damaged, const char **why);
/* Adds a record of another type.  -ENOMEM. */
int tape_index_other(struct schedtape_tape *tape, const struct tape_file *file,
		     const struct tape_head *head);
void tape_index_sort(struct schedtape_tape *tape);

/*
 * Copies the entry at @raw to @entry.  @bytes: what is left of the payload.  @size: of an entry in
 * this version, whose first member is its size on the tape (__le32).  Bytes that later versions
 * append are not copied.  Returns the size on the tape, behind which the next entry is; 0: the
 * entry is not valid.
 */
static inline uint32_t tape_entry_get(void *entry, size_t size, const unsigned char *raw,
				      size_t bytes)
{
	uint32_t own;

	if (bytes < size)
		return 0;
	memcpy(entry, raw, size);
	memcpy(&own, raw, sizeof(own));
	own = le32toh(own);
	return own < size || own > bytes ? 0 : own;
}

/* schedulers.c: joins the SCHEDULER records, once all files are read. */
void tape_schedulers_finish(struct schedtape_tape *tape);

/*
 * cgroups.c: reads a CGROUPS payload.  -EBADMSG: corrupt.  tape_cgroups_forget() removes all
 * entries but the first @n.
 */
int tape_content_cgroups(struct schedtape_tape *tape, const char *text, size_t bytes);
void tape_cgroups_forget(struct schedtape_tape *tape, size_t n);

/* groups.c: reads a GROUPS payload.  -EBADMSG: corrupt; no entry of it is kept then. */
int tape_content_groups(struct schedtape_tape *tape, const unsigned char *raw, size_t bytes);

/* formats.c: reads a FORMATS payload.  -EBADMSG: corrupt; no format of it is kept then. */
int tape_content_formats(struct schedtape_tape *tape, const char *text, size_t bytes);
/* Removes all formats but the first @n. */
void tape_formats_forget(struct schedtape_tape *tape, size_t n);

/* content.c: reads META, TASKS, PLAYERS, CLOCK, SCHEDULER, END payloads.  -EBADMSG: corrupt. */
int tape_content_meta(struct schedtape_tape *tape, struct tape_file *file, const char *text,
		      size_t bytes);
int tape_content_tasks(struct schedtape_tape *tape, const unsigned char *raw, size_t bytes);
int tape_content_players(struct schedtape_tape *tape, const unsigned char *raw, size_t bytes);
int tape_content_clock(struct schedtape_tape *tape, const unsigned char *raw, size_t bytes);
int tape_content_scheduler(struct schedtape_tape *tape, const char *text, size_t bytes);
int tape_content_end(struct schedtape_tape *tape, const char *text, size_t bytes);
/* @offset: of the record */
int tape_content_progress(struct schedtape_tape *tape, const unsigned char *raw, size_t bytes,
			  uint64_t offset);
/* end.c: makes one end, in ns, from all end records, and from chunks for what these lack. */
int tape_end_finish(struct schedtape_tape *tape);
/* Sorts the CPUs of the end records, and removes all but the first of a number. */
void tape_end_sort(struct schedtape_tape *tape);
/* Finds a CPU of the end records, once they are sorted.  NULL: none has it. */
struct schedtape_cpu *tape_end_find(const struct schedtape_tape *tape, uint32_t cpu);
/* Sets the begin of the recording before its end is known. */
void tape_end_begin(struct schedtape_tape *tape);

/* Returns true if an earlier tape of the recording has the pages before this one's. */
bool tape_is_later_part(const struct schedtape_tape *tape);

/* Are pages with events missing before the first page, which has the number @seq? */
static inline bool tape_hole_first(const struct tape_cursor *c, uint64_t seq)
{
	if (c->live)
		return seq && !c->any_first;
	/* The stream of an overwritten ring may begin with any number. */
	return seq && c->missing && !c->end->overwritten && !c->any_first;
}

/*
 * losses.c: tape_lost_fit() removes corrupt chunks with impossible headers from the sorted
 * index.  tape_lost_init() sets missing events of all cursors and of the end.
 * tape_lost_count() adds them to @cpu, which has the counts of the end record.
 * tape_lost_update() updates the end after a chunk was found to be corrupt.
 * tape_lost_finish() counts what is missing of a cursor of a pipe, after its last chunk.
 */
void tape_lost_fit(struct schedtape_tape *tape);
int tape_lost_init(struct schedtape_tape *tape);
void tape_lost_count(const struct schedtape_tape *tape, const struct tape_cursor *c,
		     struct schedtape_cpu *cpu);
void tape_lost_update(struct schedtape_tape *tape, const struct tape_cursor *c);
void tape_lost_finish(struct schedtape_tape *tape, struct tape_cursor *c);
/* Adds a chunk to the sums of those before it. */
void tape_sums_add(struct tape_sums *sums, const struct tape_index *index);

/*
 * waiting.c: keeps the chunks of a pipe.  tape_waiting_add() adds one; tape_waiting_load() puts
 * the cursor's first one into its memory; tape_waiting_drop() removes it.
 */
int tape_waiting_add(struct schedtape_tape *tape, const struct tape_file *file,
		     const struct tape_head *head, const struct tape_index *index);
int tape_waiting_load(struct schedtape_tape *tape, struct tape_cursor *c, const char **why);
void tape_waiting_drop(struct schedtape_tape *tape, struct tape_cursor *c);
/* Frees the cursor's memory. */
void tape_waiting_let_go(struct schedtape_tape *tape, struct tape_cursor *c);
void tape_waiting_exit(struct schedtape_tape *tape);
/* Returns the cursor of a CPU, perhaps a new one, which moves all others.  NULL: no memory. */
struct tape_cursor *tape_waiting_cursor(struct schedtape_tape *tape, uint32_t cpu);

/*
 * stream.c: reads a tape from a pipe.  tape_stream_begin() reads as far as its first events;
 * tape_stream_read() until more events may be returned, or to the end.
 */
int tape_stream_begin(struct schedtape_tape *tape, struct schedtape_error *err);
int tape_stream_read(struct schedtape_tape *tape, struct schedtape_error *err);
/* Returns true if the cursor's event may be returned: no earlier one can come. */
bool tape_stream_ready(const struct schedtape_tape *tape, const struct tape_cursor *c);
/* Notes an event that is returned, and keeps time from going back.  @time: the session's */
void tape_stream_returns(struct schedtape_tape *tape, uint64_t time, struct schedtape_event *ev);
/* -ESPIPE: an event was returned. */
int tape_stream_rewind(const struct schedtape_tape *tape, struct schedtape_error *err);
void tape_stream_exit(struct schedtape_tape *tape);

/* Returns true if no more chunks can come. */
static inline bool tape_is_over(const struct schedtape_tape *tape)
{
	return !tape->stream || tape->stream->over;
}

/*
 * cursor.c: moves to this CPU's next event.  Returns 1; 0: there are no more, or of a pipe, not
 * yet; -errno.  Only the merge has a shorter way for most events.
 */
int tape_cursor_next(struct schedtape_tape *tape, struct tape_cursor *c,
		     struct schedtape_error *err);
void tape_cursor_rewind(const struct schedtape_tape *tape, struct tape_cursor *c);

/*
 * load.c: puts the cursor's next chunk into its memory.  -EBADMSG: corrupt, see @why.
 * Threads load ahead, from the first call on, until tape_load_stop().
 */
int tape_load(struct schedtape_tape *tape, struct tape_cursor *cursor, const char **why);
void tape_load_stop(struct schedtape_tape *tape);
/* Frees the cursor's chunk. */
void tape_load_let_go(struct tape_cursor *cursor);

#endif /* SCHEDTAPE_TAPE_READ_H */
