/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the files of schedtape report share.
 */
#ifndef SCHEDTAPE_REPORT_INTERNAL_H
#define SCHEDTAPE_REPORT_INTERNAL_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <schedtape.h>

#include "common/delays.h"
#include "common/groups.h"
#include "common/sheet.h"
#include "common/syscalls.h"
#include "common/task-sums.h"
#include "timeline/edges.h"

/* -- sums.c ---------------------------------------------------------------- */

/* How long tasks slept in which system calls. */

/**
 * struct calls - all sums
 * @pairs: each is of a number of struct delays, or of a group, and of a system call. They are in
 *	the places of waker and wakee, see calls_syscall()
 * @sums: by number of the pair: sleeps, each from when the task left its CPU until it was woken, in
 *	the place of delays
 * @nr: number of @sums
 */
struct calls {
	struct schedtape_edges pairs;
	struct delays_sum *sums;
	size_t nr;
};

/* Returns the system call of a pair. */
uint64_t calls_syscall(const struct schedtape_edge *pair);
/* Adds up the tasks of each group.  @grouped: all 0.  Returns 0 or -ENOMEM. */
int calls_group(const struct calls *calls, const struct delays *delays, struct groups *groups,
		struct calls *grouped);
void calls_free(struct calls *calls);

/**
 * struct report_sums - what tasks did
 * @tasks: sums of tasks
 * @calls: system calls that the tasks slept in; NULL: they do not count
 */
struct report_sums {
	struct task_sums tasks;
	struct calls *calls;
};

/* Returns the callbacks of the timeline, for a struct report_sums.  @edges: also make the edges */
struct schedtape_timeline_ops report_sums_ops(const struct report_sums *sums, bool edges);

/* -- print.c --------------------------------------------------------------- */

/* The columns of the table. */
extern const struct sheet_column report_columns[];

/* Fills the table, and its total.  @tasks: of the timeline.  Returns 0 or -ENOMEM. */
int report_fill(struct sheet *sheet, const struct groups *groups, const struct group_sums *sums,
		const struct schedtape_task *tasks);
/* Prints a table of the edges of selected tasks. */
void report_print_edges(const struct schedtape_timeline *timeline,
			const struct selection *selection);
/* The same as a list in JSON. */
void report_json_edges(const struct schedtape_timeline *timeline,
		       const struct selection *selection);
/*
 * Prints the list "tasks" of JSON, with all that is known of each task, in the order of the table's
 * rows, of which each is a task.
 */
void report_json_tasks(const struct sheet *sheet, const struct schedtape_task *tasks);
/*
 * Prints the table of grouped sums, with the lines and the times that @of asks for; @json: the list
 * "syscalls".  Returns 0 or -ENOMEM.
 */
int calls_print(const struct calls *grouped, const struct groups *groups,
		struct syscalls *syscalls, const struct sheet_options *of, bool json);

/* -- html-runs.c ----------------------------------------------------------- */

/* Compresses bytes, and writes them in base64.  @written: the bytes of text.  0 or -errno. */
int page_write_text(FILE *to, const unsigned char *bytes, size_t n, size_t *written);

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

/* -- html.c, html-file.c --------------------------------------------------- */

/*
 * report --html: one file that shows what happened on each CPU and to each task over time.  The
 * page needs no network and no other file.
 *
 * Its fixed parts are in page/; the rest is data:
 *
 *	"data"		JSON: times, CPUs, tasks, figures, and the times of the blocks
 *	"sums"		see struct levels; compressed and in base64, as blocks are
 *	"block0", ...	see struct blocks
 *
 * Tasks have numbers on the page.  0 means no task.  Tasks with a row have 1 and up.  All tasks
 * without a row share the number behind the last of these.
 */

#define PAGE_MOST_TASKS	1000U		/* rows */
#define PAGE_MOST_BYTES	30000000UL	/* of a page with single runs */
#define PAGE_OTHER_BYTES	1000000UL	/* of its scripts and figures, at most */

/**
 * struct page_rows - the rows of a page
 * @cpus: numbers of @nr_cpus CPUs
 * @row_of_cpu: by number: the row; SCHEDTAPE_NONE: it has none
 * @nr_row_of_cpu: number of @row_of_cpu
 * @tasks: indices of @nr_tasks tasks, those with the most CPU time first
 * @number_of: by index of a task: its number on the page
 * @nr_all: number of @number_of
 * @nr_other: selected tasks without a row
 */
struct page_rows {
	uint32_t *cpus;
	unsigned int nr_cpus;
	uint32_t *row_of_cpu;
	size_t nr_row_of_cpu;
	uint32_t *tasks;
	unsigned int nr_tasks;
	uint32_t *number_of;
	size_t nr_all;
	size_t nr_other;
};

/**
 * struct page - all that is on a page
 * @path: of the tape
 * @timeline, @sums: of the tape, which has been read once for them
 * @first, @last: the time that the page shows, ns of the session's clock
 */
struct page {
	const char *path;
	struct schedtape_tape *tape;
	const struct schedtape_timeline *timeline;
	const struct task_sums *sums;
	uint64_t first;
	uint64_t last;
	struct page_rows rows;
	struct levels levels;
	struct blocks blocks;
};

/*
 * Reads the tape once more for a page, of which the caller has set the first four members.  Returns
 * 0; -ENODATA: there is no task to show; -errno.  page_free() is to be called in any case.
 */
int page_make(struct page *page, struct schedtape_error *err);
/*
 * Writes the page to a file, which is then whole or not there.  @bytes: set to its length; 0: it is
 * a device or a pipe.  Returns 0; -EEXIST: a file of that name is no page; -errno.
 */
int page_write(struct page *page, const char *path, uint64_t *bytes, struct schedtape_error *err);
void page_free(struct page *page);

#endif /* SCHEDTAPE_REPORT_INTERNAL_H */
