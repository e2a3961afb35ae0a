/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Internals of the reader, from the first step to the last: files.c finds the files,
 * records.c reads records, walk.c walks over them with index.c and content.c, load.c loads
 * chunks ahead, merge.c makes one stream of their events.  open.c calls them, and tape.c
 * returns their results.
 */
#ifndef SCHEDTAPE_TAPE_READ_H
#define SCHEDTAPE_TAPE_READ_H

#include <pthread.h>

#include <xxhash.h>
#include <zstd.h>

#include "tape/clock.h"
#include "tape/format.h"

struct json_object;

/**
 * struct tape_file - a file that records come from
 * @name: prefix for notes about the file: "data.3: "; "" if it is all of the tape
 * @size: bytes when it was opened; later ones are ignored
 * @header: bytes of its header, behind which the records begin
 * @described: it has a valid META
 * @ended: it has a valid end record
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

int tape_file_open(struct tape_file *file, const char *path, struct schedtape_error *err);
void tape_file_close(struct tape_file *file);
ssize_t tape_file_read(const struct tape_file *file, void *to, size_t bytes, uint64_t offset);

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
/* Reads and decompresses a payload.  @to: room for @head->raw bytes, at most TAPE_MAX_RAW. */
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

/* The most events of a page: a word may have two. */
#define TAPE_PAGE_EVENTS \
	(2 * (STAPE_PAGE_SIZE - sizeof(struct stape_page_header)) / sizeof(uint64_t))

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
 * @memory: the pages of one chunk, which tape_load() allocates and frees
 * @page_open: @page is not at its end
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
	struct schedtape_event ev;
};

struct tape_heap {
	uint64_t time;
	struct tape_cursor *cursor;
};

struct tape_loader;

/**
 * struct schedtape_tape - an open tape
 * @path: the caller's path
 * @files: the main one first
 * @directory: the tape is a directory
 * @recording: the recording's id in the METAs of all files; "": they have none
 * @meta: META of the first file that has one
 * @meta_text: the same as text, NULL: the caller has not asked for it
 * @decoder: the decoder of the calling thread
 * @index: chunks, by CPU, then by place in the files
 * @others: all other records, by place in the files
 * @content: bytes of the payloads of @others
 * @blocks: payloads of the TASKS records, which the tasks' affinities point to
 * @players: content of the PLAYERS records, in the order of the files
 * @schedulers: content of the SCHEDULER records, by time once all files are read
 * @cpus: CPUs of the end records, with times of the session's clock
 * @end: the end that is returned to the caller, with ns
 * @end_cpus: the CPUs of @end
 * @ended: there is a valid end record
 * @first, @last: begin and end of the recording, as far as they are known, by the session's
 *	clock
 * @window: no earlier event is returned to the caller, by the session's clock
 * @unfinished: a file without an end record has been noted
 * @damage: what is wrong with the tape, "" if nothing
 * @cursors: one for every CPU with events or losses, by CPU
 * @heap: cursors by the time of their next event
 * @filled: number of cursors that have looked for their first event
 * @taken: the event at the heap's top has been returned to the caller
 */
struct schedtape_tape {
	char *path;
	struct tape_file *files;
	size_t nr_files;
	bool directory;
	char *recording;
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
	bool unfinished;
	char damage[1024];
	struct tape_cursor *cursors;
	size_t nr_cursors;
	struct tape_heap *heap;
	size_t nr_heap;
	size_t filled;
	bool taken;
	struct tape_loader *loader;
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
 * index.c: adds a chunk.  @damaged: its checksum is wrong, so its header may be wrong as
 * well.  -EBADMSG: its header is impossible, for the reason @why.
 */
int tape_index_chunk(struct schedtape_tape *tape, const struct tape_file *file,
		     const struct tape_head *head, bool damaged, const char **why);
/* Adds a record of another type.  -ENOMEM. */
int tape_index_other(struct schedtape_tape *tape, const struct tape_file *file,
		     const struct tape_head *head);
void tape_index_sort(struct schedtape_tape *tape);

/* schedulers.c: joins the SCHEDULER records, once all files are read. */
void tape_schedulers_finish(struct schedtape_tape *tape);

/* content.c: reads META, TASKS, PLAYERS, CLOCK, SCHEDULER, END payloads.  -EBADMSG: corrupt. */
int tape_content_meta(struct schedtape_tape *tape, struct tape_file *file, const char *text,
		      size_t bytes);
int tape_content_tasks(struct schedtape_tape *tape, const unsigned char *raw, size_t bytes);
int tape_content_players(struct schedtape_tape *tape, const unsigned char *raw, size_t bytes);
int tape_content_clock(struct schedtape_tape *tape, const unsigned char *raw, size_t bytes);
int tape_content_scheduler(struct schedtape_tape *tape, const char *text, size_t bytes);
int tape_content_end(struct schedtape_tape *tape, const char *text, size_t bytes);
/* end.c: makes one end, in ns, from all end records, and from chunks for what these lack. */
int tape_end_finish(struct schedtape_tape *tape);

/* Are pages with events missing before the first page, which has the number @seq? */
static inline bool tape_hole_first(const struct tape_cursor *c, uint64_t seq)
{
	/* The stream of an overwritten ring may begin with any number. */
	return seq && c->missing && !c->end->overwritten;
}

/*
 * losses.c: tape_lost_fit() removes corrupt chunks with impossible headers from the sorted
 * index.  tape_lost_init() sets missing events of all cursors and of the end.
 * tape_lost_count() adds them to @cpu, which has the counts of the end record.
 * tape_lost_update() updates the end after a chunk was found to be corrupt.
 */
void tape_lost_fit(struct schedtape_tape *tape);
int tape_lost_init(struct schedtape_tape *tape);
void tape_lost_count(const struct schedtape_tape *tape, const struct tape_cursor *c,
		     struct schedtape_cpu *cpu);
void tape_lost_update(struct schedtape_tape *tape, const struct tape_cursor *c);

/* -E2BIG: the chunks of all CPUs together are too large for a tape of this size. */
int tape_merge_init(struct schedtape_tape *tape, struct schedtape_error *err);
void tape_merge_exit(struct schedtape_tape *tape);

/*
 * load.c: puts the cursor's next chunk into its memory.  -EBADMSG: corrupt, see @why.
 * Threads load ahead, from the first call on, until tape_load_stop().
 */
int tape_load(struct schedtape_tape *tape, struct tape_cursor *cursor, const char **why);
void tape_load_stop(struct schedtape_tape *tape);

#endif /* SCHEDTAPE_TAPE_READ_H */
