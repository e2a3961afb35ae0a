/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * An open tape: open.c opens it, tape.c returns its properties.
 */
#ifndef SCHEDTAPE_TAPE_TAPE_H
#define SCHEDTAPE_TAPE_TAPE_H

#include <schedtape-tape.h>

#include "tape/clock.h"
#include "tape/records.h"

struct json_object;
struct schedtape_group;
struct tape_ahead;
struct tape_cgroup;
struct tape_cursor;
struct tape_heap;
struct tape_loader;
struct tape_merged;

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

/* Returns the bytes of the chunk's pages. */
static inline size_t tape_index_bytes(const struct tape_index *index)
{
	return (size_t)index->pages * STAPE_PAGE_SIZE;
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
 * @end_players: "players" of the main file's END, or NULL
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
 * @details: the next of them that is detailed
 * @ev: the brief that was returned last, if it was asked for as an event: all other members are 0
 * @skipped: since the tape was opened or rewound
 * @once: the tape may be a pipe
 * @interrupt: of waits for it
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
	struct json_object *end_players;
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
	const struct schedtape_brief *brief;
	const struct schedtape_brief *briefs_end;
	const struct schedtape_event *details;
	struct tape_skipped skipped;
	struct schedtape_event ev;
	struct tape_loader *loader;
	bool once;
	struct tape_interrupt interrupt;
	struct tape_stream *stream;
};

/* Returns true if no more chunks can come. */
static inline bool tape_is_over(const struct schedtape_tape *tape)
{
	return !tape->stream || tape->stream->over;
}

/* Records damage for schedtape_tape_damage(). */
void tape_note(struct schedtape_tape *tape, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif /* SCHEDTAPE_TAPE_TAPE_H */
