/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The reader's inside: tape-record.c gets records from the file, tape-read.c
 * makes the index of a tape, tape-merge.c the stream of its events.
 */
#ifndef SCHEDTAPE_TAPE_READ_H
#define SCHEDTAPE_TAPE_READ_H

#include <xxhash.h>
#include <zstd.h>

#include "tape.h"

/**
 * struct tape_file - where records come from
 * @size: bytes when it was opened; what comes later is not looked at
 * @buffer: a stored record
 */
struct tape_file {
	char *path;
	int fd;
	uint64_t size;
	unsigned char *buffer;
	size_t capacity;
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
ssize_t tape_file_read(struct tape_file *file, void *to, size_t bytes, uint64_t offset);

/*
 * These return 0; -EBADMSG: damage, and @why has its name; another -errno: the
 * file cannot be read.
 */
int tape_head_read(struct tape_file *file, uint64_t offset, struct tape_head *head,
		   const char **why);
int tape_head_check(struct tape_file *file, const struct tape_head *head, const char **why);
/* @to: @head->raw bytes, at most TAPE_MAX_RAW. */
int tape_payload_read(struct tape_file *file, const struct tape_head *head, void *to,
		      const char **why);
/* Limits that hold for every known type. */
const char *tape_head_limits(const struct tape_head *head);

/**
 * struct tape_index - a chunk, as its header describes it
 *
 * None of it is proven before the chunk has been loaded, @offset apart.
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
	bool damaged;		/* known, and told */
};

/**
 * struct tape_cursor - where the stream of one CPU stands
 * @chunk: index of the next chunk to load
 * @chunks_end: index behind this CPU's last chunk
 * @memory: the pages of one chunk
 * @page_open: @page is not at its end
 * @started: @seq means something
 * @seq: of the page that should come next
 * @time: nothing that follows may be earlier
 * @loss: what a damaged chunk has taken away, to be told before the next page;
 *	its type is 0 if there is nothing to tell
 * @end: what the end record says of this CPU, or NULL
 * @end_told: no loss is behind the last chunk, or it has been told
 * @ev: the next event
 */
struct tape_cursor {
	uint32_t cpu;
	size_t chunk;
	size_t chunks_first;
	size_t chunks_end;
	unsigned char *memory;
	size_t capacity;
	uint32_t pages;
	uint32_t pages_read;
	uint64_t offset;
	bool page_open;
	bool started;
	bool end_told;
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

/**
 * struct schedtape_tape - an open tape
 * @index: chunks, by CPU, then as they lie in the file
 * @blocks: payloads of the TASKS records, which the tasks' affinities point to
 * @ended: there is a sound end record
 * @torn: what is wrong with the tape, "" if nothing
 * @cursors: one for every CPU with anything to tell, by CPU
 * @heap: cursors by the time of their next event
 * @filled: cursors that have found their first event or don't have any
 * @taken: the event at the heap's top has been handed out
 */
struct schedtape_tape {
	struct tape_file file;
	struct json_object *meta;
	struct tape_index *index;
	size_t nr_index;
	size_t index_capacity;
	uint64_t pages;
	unsigned char **blocks;
	size_t nr_blocks;
	struct schedtape_task *tasks;
	size_t nr_tasks;
	size_t tasks_capacity;
	struct schedtape_end end;
	struct schedtape_cpu *end_cpus;
	bool ended;
	char torn[512];
	struct tape_cursor *cursors;
	size_t nr_cursors;
	struct tape_heap *heap;
	size_t nr_heap;
	size_t filled;
	bool taken;
};

/* Remembers damage for schedtape_tape_torn(). */
void tape_note(struct schedtape_tape *tape, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* tape-content.c: what META, TASKS and END have inside.  -EBADMSG: damage. */
int tape_content_meta(struct schedtape_tape *tape, const char *text, size_t bytes);
int tape_content_tasks(struct schedtape_tape *tape, const unsigned char *raw, size_t bytes);
int tape_content_end(struct schedtape_tape *tape, const char *text, size_t bytes);
/* The end that a torn tape doesn't tell. */
int tape_content_guess_end(struct schedtape_tape *tape);

int tape_merge_init(struct schedtape_tape *tape);
void tape_merge_exit(struct schedtape_tape *tape);

#endif /* SCHEDTAPE_TAPE_READ_H */
