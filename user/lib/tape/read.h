/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The reader's inside, from the first step to the last: files.c finds the files, records.c
 * reads records, walk.c walks over them with index.c and content.c, load.c loads chunks
 * ahead, merge.c makes one stream of their events.  open.c calls them, and tape.c
 * returns what they have found out about the tape.
 */
#ifndef SCHEDTAPE_TAPE_READ_H
#define SCHEDTAPE_TAPE_READ_H

#include <pthread.h>

#include <xxhash.h>
#include <zstd.h>

#include "tape/clock.h"
#include "tape/format.h"

/**
 * struct tape_file - a file that records come from
 * @name: in front of what is said of it: "data.3: "; "" if it is all of the tape
 * @size: bytes when it was opened; what comes later is not looked at
 * @header: bytes of its header, behind which the records begin
 * @described: it has a sound META
 * @ended: it has a sound end record
 * @stream: in a directory, it is not the main file
 */
struct tape_file {
	char *path;
	char name[24];
	int fd;
	uint64_t size;
	uint32_t header;
	bool described;
	bool ended;
	bool stream;
};

/**
 * struct tape_decoder - what it takes to read records; each thread has its own
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

int tape_file_open(struct tape_file *file, const char *path, struct schedtape_error *err);
void tape_file_close(struct tape_file *file);
ssize_t tape_file_read(const struct tape_file *file, void *to, size_t bytes, uint64_t offset);

/* -ENOMEM; then, too, the caller calls tape_decoder_exit(). */
int tape_decoder_init(struct tape_decoder *decoder);
void tape_decoder_exit(struct tape_decoder *decoder);

/*
 * These return 0; -EBADMSG: damage, and @why has its name; another -errno: the
 * file cannot be read.
 */
int tape_head_read(const struct tape_file *file, uint64_t offset, struct tape_head *head,
		   const char **why);
int tape_head_check(const struct tape_file *file, struct tape_decoder *decoder,
		    const struct tape_head *head, const char **why);
/* The record as it stands in the file, into @decoder->buffer, checked. */
int tape_record_read(const struct tape_file *file, struct tape_decoder *decoder,
		     const struct tape_head *head, const char **why);
/* @to: @head->raw bytes, at most TAPE_MAX_RAW. */
int tape_payload_read(const struct tape_file *file, struct tape_decoder *decoder,
		      const struct tape_head *head, void *to, const char **why);
/* Limits that hold for every known type. */
const char *tape_head_limits(const struct tape_head *head);

/**
 * struct tape_index - a chunk, as its header describes it
 * @damaged: that is a claim that can be, and no more; the chunk is not to be loaded,
 *	and this has been told
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

/* It is sound, or has lost something. */
static inline bool tape_index_counts(const struct tape_index *index)
{
	return !index->damaged || index->events || index->lost;
}

/* More events are in no page: a word may stand for two. */
#define TAPE_PAGE_EVENTS \
	(2 * (STAPE_PAGE_SIZE - sizeof(struct stape_page_header)) / sizeof(uint64_t))

/**
 * struct tape_other - where a sound record of another type lies
 */
struct tape_other {
	uint64_t offset;
	uint32_t file;
	uint32_t type;
};

/**
 * struct tape_cursor - where the stream of one CPU stands
 * @chunk: index of the next chunk to load
 * @chunks_end: index behind this CPU's last chunk
 * @memory: the pages of one chunk; tape_load() cares for it
 * @page_open: @page is not at its end
 * @started: @seq means something
 * @seq: of the page that should come next
 * @time: nothing that follows may be earlier
 * @loss: what a damaged chunk has taken away, to be told before the next page;
 *	its type is 0 if there is nothing to tell
 * @hole: pages are missing before the next one, or before what @loss tells
 * @end: what the end record says of this CPU, or what the chunks say
 * @end_told: no loss is behind the last chunk, or it has been told
 * @missing: events that @end counts, as recorded or lost, and that nobody else does
 * @behind: the same, of losses behind the last chunk
 * @holes: places in its stream where pages are missing
 * @ev: the next event
 *
 * All times are of the session's clock.
 */
struct tape_cursor {
	uint32_t cpu;
	size_t chunk;
	size_t chunks_first;
	size_t chunks_end;
	unsigned char *memory;
	uint32_t pages;
	uint32_t pages_read;
	uint32_t file;
	uint64_t offset;
	bool page_open;
	bool started;
	bool end_told;
	bool hole;
	uint64_t missing;
	uint64_t behind;
	uint64_t holes;
	uint64_t seq;
	uint64_t time;
	struct schedtape_page page;
	struct schedtape_event loss;
	const struct schedtape_cpu *end;
	struct schedtape_event ev;
};

struct tape_heap {
	uint64_t time;
	struct tape_cursor *cursor;
};

struct tape_loader;

/**
 * struct schedtape_tape - an open tape
 * @path: as it was given
 * @files: the main one first
 * @directory: it is one
 * @recording: what the METAs of all files call it; "": nothing
 * @meta: of the first file that has one
 * @decoder: of the thread that calls
 * @index: chunks, by CPU, then as they lie in the files
 * @others: all but chunks, as they lie in the files
 * @content: bytes that they had to give
 * @blocks: payloads of the TASKS records, which the tasks' affinities point to
 * @schedulers: what the SCHEDULER records say, by time once all files are read
 * @cpus: what the end records say of CPUs, by the session's clock
 * @end: what is handed out: with ns
 * @end_cpus: what it points to
 * @ended: there is a sound end record
 * @first, @last: from when to when was recorded, as far as is known, by the session's
 *	clock
 * @window: nothing earlier is handed out, by the session's clock
 * @torn: what is wrong with the tape, "" if nothing
 * @cursors: one for every CPU with anything to tell, by CPU
 * @heap: cursors by the time of their next event
 * @filled: cursors that have found their first event or don't have any
 * @taken: the event at the heap's top has been handed out
 */
struct schedtape_tape {
	char *path;
	struct tape_file *files;
	size_t nr_files;
	bool directory;
	char *recording;
	struct json_object *meta;
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
	struct tape_clocks clocks;
	struct schedtape_scheduler *schedulers;
	size_t nr_schedulers;
	size_t schedulers_capacity;
	struct schedtape_cpu *cpus;
	size_t nr_cpus;
	struct schedtape_end end;
	struct schedtape_cpu *end_cpus;
	bool ended;
	uint64_t first;
	uint64_t last;
	uint64_t window;
	char torn[1024];
	struct tape_cursor *cursors;
	size_t nr_cursors;
	struct tape_heap *heap;
	size_t nr_heap;
	size_t filled;
	bool taken;
	struct tape_loader *loader;
};

/* Remembers damage for schedtape_tape_torn(). */
void tape_note(struct schedtape_tape *tape, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* files.c: which files there are in a directory. */
#define TAPE_STREAM_NAME	16

/**
 * struct tape_found - what a directory has
 * @main: its main file
 * @streams: numbers of the others, in order
 */
struct tape_found {
	bool main;
	uint32_t *streams;
	size_t n;
};

/* Fills @found, whose @streams the caller frees, also on failure.  0 or -errno. */
int tape_files_find(const char *path, struct tape_found *found);
bool tape_found_has(const struct tape_found *found, uint32_t number);
/* The name of a stream's file. */
void tape_files_stream(char name[TAPE_STREAM_NAME], uint32_t number);

/*
 * walk.c: adds one more file, with all that it has.  @name: within the directory; NULL: the
 * file is all of the tape.  -ESTALE: it is not of this recording, and nothing of it was kept.
 */
int tape_walk_file(struct schedtape_tape *tape, const char *path, const char *name,
		   struct schedtape_error *err);

/*
 * index.c: adds a chunk.  @damaged: its checksum is wrong, so its header may be wrong as
 * well.  -EBADMSG: it is impossible, and @why says so.
 */
int tape_index_chunk(struct schedtape_tape *tape, const struct tape_file *file,
		     const struct tape_head *head, bool damaged, const char **why);
/* Adds a record of another type.  -ENOMEM. */
int tape_index_other(struct schedtape_tape *tape, const struct tape_file *file,
		     const struct tape_head *head);
void tape_index_sort(struct schedtape_tape *tape);

/* schedulers.c: joins the SCHEDULER records, once all files are read. */
void tape_schedulers_finish(struct schedtape_tape *tape);

/* content.c: what META, TASKS, CLOCK, SCHEDULER and END have inside.  -EBADMSG: damage. */
int tape_content_meta(struct schedtape_tape *tape, struct tape_file *file, const char *text,
		      size_t bytes);
int tape_content_tasks(struct schedtape_tape *tape, const unsigned char *raw, size_t bytes);
int tape_content_clock(struct schedtape_tape *tape, const unsigned char *raw, size_t bytes);
int tape_content_scheduler(struct schedtape_tape *tape, const char *text, size_t bytes);
int tape_content_end(struct schedtape_tape *tape, const char *text, size_t bytes);
/* end.c: makes one end of all, in ns, and of what no end record tells. */
int tape_end_finish(struct schedtape_tape *tape);

/* Do pages with events stand before the first one, which has the number @seq? */
static inline bool tape_hole_first(const struct tape_cursor *c, uint64_t seq)
{
	/* Rings that are overwritten begin anywhere. */
	return seq && c->missing && !c->end->overwritten;
}

/*
 * losses.c: leaves out of the sorted index what damaged chunks claim and cannot be;
 * tells cursors and the end what is missing; counts it into @cpu, which is as the end
 * record has it; tells the end that something is damaged now.
 */
void tape_lost_fit(struct schedtape_tape *tape);
int tape_lost_init(struct schedtape_tape *tape);
void tape_lost_count(const struct schedtape_tape *tape, const struct tape_cursor *c,
		     struct schedtape_cpu *cpu);
void tape_lost_tell(struct schedtape_tape *tape, const struct tape_cursor *c);

/* -E2BIG: the CPUs together have chunks that are too large for such a tape. */
int tape_merge_init(struct schedtape_tape *tape, struct schedtape_error *err);
void tape_merge_exit(struct schedtape_tape *tape);

/*
 * load.c: puts the cursor's next chunk into its memory.  Damage as above.
 * Threads load ahead, from the first call on, until tape_load_stop().
 */
int tape_load(struct schedtape_tape *tape, struct tape_cursor *cursor, const char **why);
void tape_load_stop(struct schedtape_tape *tape);

#endif /* SCHEDTAPE_TAPE_READ_H */
