/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Internals of join.c: join-plan.c looks at all tapes and puts them in order, join-chunks.c writes
 * the chunks of one, join-others.c what else it has.
 */
#ifndef SCHEDTAPE_TAPE_JOINED_H
#define SCHEDTAPE_TAPE_JOINED_H

#include "tape/copy.h"
#include "tape/joining.h"

/**
 * struct join_part - one of the tapes
 * @recording: the identifier of the recording, "": it has none
 * @first, @last: numbers of the first and the last of the recording's tapes that it has
 * @time: when its earliest chunk begins, by the session's clock
 * @skips: the number of the tape before is not the one before @first
 * @next_time: no chunk of the tapes behind this one begins earlier
 * @merged: what META of the new tape says of it, an array
 * @numbers: of the tapes there, sorted, as many as @merged has
 */
struct join_part {
	const char *path;
	char *recording;
	uint64_t first;
	uint64_t last;
	uint64_t bytes;
	uint64_t time;
	bool skips;
	uint64_t next_time;
	struct json_object *merged;
	uint64_t *numbers;
};

/* join-plan.c: looks at the tapes, and orders them.  The caller calls join_plan_free(). */
int join_plan(struct join_part **parts, size_t *n, const char * const *paths,
	      struct schedtape_error *err);
void join_plan_free(struct join_part *parts, size_t n);

/**
 * struct join_cpu - one CPU's stream, or the descriptions
 * @next: number of the page that comes next on the new tape
 * @end: time of the last event there
 * @total: events up to the end of the last tape, also those that were overwritten
 * @counts: of the new tape
 * @known: END of a tape has had this CPU, so that @counts.cpu is set
 * @fresh: no page of the tape in hand has been written
 * @hole: pages are missing before those of the tape in hand
 * @dropped: events of the tape in hand that have been left out
 * @cut: those of them that no earlier tape has
 */
struct join_cpu {
	uint64_t next;
	uint64_t end;
	uint64_t total;
	struct schedtape_cpu counts;
	bool known;
	bool fresh;
	bool hole;
	uint64_t dropped;
	uint64_t cut;
};

/**
 * struct join - a tape that is made of several
 * @tape: the one in hand
 * @part: the same
 * @later: it is not the first one
 * @gap: events are missing before it: those of all CPUs before @window are left out
 * @window: from when on it is complete, by the session's clock
 * @overwrite: rings were overwritten, so that END counts also what was overwritten
 * @moment: until when the tapes before it are complete, by the session's clock
 * @stop: the same, ns
 * @sampled: the session's clock at the last sample that was written
 * @scheduler: the last one that was written
 * @tasks: how many descriptions of tasks were written
 * @cgroups: how many entries of cgroups were written
 * @groups: how many entries of autogroups were written
 * @alive: the @nr_alive tasks that the last tape has described last as not having ended
 * @cpus: by number, the descriptions first, with room for @nr_cpus
 * @pages: room for the pages of a chunk
 * @marked: bytes of the new tape before the last PROGRESS record
 * @done, @all: bytes of the tapes, for the progress
 * @end: END of the new tape
 * @ended_by: that of the last tape
 */
struct join {
	struct schedtape_writer *writer;
	const struct tape_join_options *options;
	struct schedtape_tape *tape;
	const struct join_part *part;
	bool later;
	bool gap;
	uint64_t window;
	bool overwrite;
	uint64_t moment;
	uint64_t stop;
	uint64_t sampled;
	struct schedtape_scheduler scheduler;
	uint64_t tasks;
	uint64_t cgroups;
	uint64_t groups;
	struct schedtape_task_info *alive;
	size_t nr_alive;
	struct join_cpu *cpus;
	size_t nr_cpus;
	unsigned char *pages;
	uint64_t marked;
	uint64_t done;
	uint64_t all;
	struct schedtape_end end;
	char ended_by[32];
};

/* join-chunks.c: finds out where the tape in hand begins, and whether there is a gap.  -ENOMEM */
int join_chunks_begin(struct join *join);
/* Writes its chunks. */
int join_chunks(struct join *join, struct schedtape_error *err);
/* Adds its counts to those of the new tape. */
void join_chunks_end(struct join *join);

/* join-others.c: writes all other records of the tape in hand but META, PROGRESS and END. */
int join_others(struct join *join, struct schedtape_error *err);

#endif /* SCHEDTAPE_TAPE_JOINED_H */
