/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What ran when, as data of a page: sums of short parts of the time, and single runs.
 */
#ifndef SCHEDTAPE_REPORT_HTML_RUNS_H
#define SCHEDTAPE_REPORT_HTML_RUNS_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Returns the error of a stream that has just failed. */
static inline int page_io_error(void)
{
	return errno ? -errno : -EIO;
}

/* Compresses bytes, and writes them in base64.  @written: the bytes of text.  0 or -errno. */
int page_write_text(FILE *to, const unsigned char *bytes, size_t n, size_t *written);

/* -- sums ------------------------------------------------------------------ */

/*
 * Sums of a page: how much of each of many equal parts of the recording every CPU and every task
 * ran, and how long every task waited for a CPU.  The page draws them where single runs would be
 * too narrow to be seen.
 */

struct levels_part;

/**
 * struct levels - the sums
 * @nr_cpus, @nr_tasks: rows
 * @parts: number of parts of the time
 * @first: when the first part begins, ns
 * @width: ns of a part
 * @busy: of each CPU and part: ns in which a task ran
 * @top: of each CPU and part: number of the task that ran longest there; 0: none did
 * @run, @wait: of each task and part: ns that it ran, and that it waited for a CPU
 * @current: of each CPU, the part that is not over
 */
struct levels {
	unsigned int nr_cpus;
	unsigned int nr_tasks;
	unsigned int parts;
	uint64_t first;
	uint64_t width;
	uint64_t *busy;
	uint16_t *top;
	uint64_t *run;
	uint64_t *wait;
	struct levels_part *current;
};

/* Begins sums of the time from @first to @last, ns.  Returns 0 or -ENOMEM. */
int levels_begin(struct levels *levels, unsigned int nr_cpus, unsigned int nr_tasks,
		 uint64_t first, uint64_t last);
/*
 * Adds a run.  Those of a CPU come in order.  @cpu: row; @task: number, from 1 on; only those up to
 * @nr_tasks have a row.  Returns 0 or -ENOMEM.
 */
int levels_run(struct levels *levels, unsigned int cpu, uint32_t task, uint64_t begin,
	       uint64_t end);
/* Adds a time that a task waited for a CPU. */
void levels_wait(struct levels *levels, uint32_t task, uint64_t begin, uint64_t end);
/* Returns how many bytes levels_end() will return. */
size_t levels_bytes(const struct levels *levels);
/*
 * Ends all parts.  Returns the sums as bytes, which the caller frees, or NULL without memory: for
 * each CPU the shares of @busy, then @top with the low byte first; for each task the shares of
 * @run, then those of @wait.  A share of 255 is the whole part; 0 is nothing at all.
 */
unsigned char *levels_end(struct levels *levels, size_t *bytes);
void levels_free(struct levels *levels);

/* -- single runs ----------------------------------------------------------- */

/*
 * Single runs of a page, some thousand in a block.  A page reads only the blocks of the time that
 * it shows.
 *
 * A block is compressed (deflate) and written in base64.  Before that, it is the number of its
 * runs, followed by seven columns.  Each column has one number for each run.  Numbers are LEB128: a
 * byte has seven bits of the number, the low ones first, and bit 7 is set if another byte follows.
 *
 *	end	ns from the end of the run before it, and for the first one from the block's begin
 *	CPU	row; the number of rows: none, because the task only waits at this time
 *	idle	ns from the end of that CPU's run before it, and for the first one from the block's
 *		begin, to its begin; without a CPU 0
 *	task	number
 *	wait	ns for which it waited for the CPU before; 0: it did not, or that is not known
 *	how	enum page_how, and shifted by PAGE_HOW_BITS how it left: an enum stape_state
 *	waker	number of the task that woke it; 0: none on the tape, or it was not woken
 *
 * End and idle may be negative: 0, -1, 1, -2, ... are 0, 1, 2, 3, ...  One run often begins when
 * another one ends, and zeros need no room.
 *
 * A run or a wait that goes on when a block ends is in that block up to its end, and in a later one
 * as a whole.  So a block has all that happens in its time, but for runs that the tape shows only
 * when blocks of their time have been written, because no event of the CPU came before.  These are
 * in a block of their own, "late", which has times from the page's begin.
 */

#define PAGE_BLOCK_RUNS	4096
#define PAGE_HOW_BITS	4

/* How a task came to wait for its CPU. */
enum page_how {
	PAGE_WOKEN = 0,		/* 0 to 3: it was woken, in this enum stape_context */
	PAGE_WOKEN_SOMEHOW = 4,
	PAGE_PREEMPTED = 5,
	PAGE_UNKNOWN = 6,
};

#define PAGE_GOES_ON	14	/* in place of a state: it runs, or waits, longer than the block */
#define PAGE_NO_STATE	15	/* the tape does not show it */

/**
 * struct page_run - a run
 * @end: ns
 * @length, @wait: ns; a length of 0: it only waits
 * @cpu, @task, @waker: numbers on the page
 * @how: as above
 */
struct page_run {
	uint64_t end;
	uint64_t length;
	uint64_t wait;
	uint32_t cpu;
	uint32_t task;
	uint32_t waker;
	uint32_t how;
};

/* Runs: @n in room for @room. */
struct page_runs {
	struct page_run *list;
	size_t n;
	size_t room;
};

/**
 * struct page_block - a block that has been written
 * @first, @last: begin and end of the time that it covers, ns
 * @runs: their number
 */
struct page_block {
	uint64_t first;
	uint64_t last;
	uint32_t runs;
};

/**
 * struct blocks - all of them
 * @nr_cpus: rows
 * @ends: by row, when its last run in the block has ended
 * @list: @nr of them, in room for @room
 * @runs: of the block that is not written yet
 * @first: when that block begins
 * @late: runs that began before, without having been seen
 * @text: the blocks as text, in a file that has no name
 * @bytes: of @text
 * @most: @bytes that are allowed
 * @full: there would have been more, so there is no block at all
 */
struct blocks {
	unsigned int nr_cpus;
	uint64_t *ends;
	struct page_block *list;
	size_t nr;
	size_t room;
	struct page_runs runs;
	uint64_t first;
	struct page_runs late;
	FILE *text;
	uint64_t bytes;
	uint64_t most;
	bool full;
};

/* Begins at the time @first; @most: bytes of text.  Returns 0 or -errno. */
int blocks_begin(struct blocks *blocks, unsigned int nr_cpus, uint64_t first, uint64_t most);
/* Adds a run, by its end.  Returns 0 or -ENOMEM. */
int blocks_add(struct blocks *blocks, const struct page_run *run);
/* Adds a run that began before the block, without having been seen.  Returns 0 or -ENOMEM. */
int blocks_add_late(struct blocks *blocks, const struct page_run *run);
/* Returns true if the block has so many runs that it has to be ended. */
static inline bool blocks_is_long(const struct blocks *blocks)
{
	return blocks->runs.n >= PAGE_BLOCK_RUNS;
}

/* Writes the block, once it has what goes on at its end, @last.  Returns 0 or -errno. */
int blocks_end_one(struct blocks *blocks, uint64_t last);
/* Returns true if the page has late runs: not if it has no single runs at all. */
static inline bool blocks_has_late(const struct blocks *blocks)
{
	return blocks->nr && blocks->late.n;
}

/* Writes the late runs as well, after the last block.  @first: the page's begin.  0 or -errno. */
int blocks_end_all(struct blocks *blocks, uint64_t first);
/* Copies the text of all blocks.  Returns 0 or -errno. */
int blocks_copy(struct blocks *blocks, FILE *to);
void blocks_free(struct blocks *blocks);

#endif /* SCHEDTAPE_REPORT_HTML_RUNS_H */
