/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the files of schedtape report share.
 */
#ifndef SCHEDTAPE_REPORT_H
#define SCHEDTAPE_REPORT_H

#include <schedtape.h>

#include "common/delays.h"
#include "common/groups.h"
#include "common/sheet.h"
#include "common/syscalls.h"
#include "common/task-counts.h"
#include "report/html-runs.h"
#include "timeline/edges.h"

/* -- sums.c: how long tasks slept in which system calls -------------------- */

/**
 * struct calls - all sums
 * @pairs: what the sums are of: a number of struct delays, or of a group, as the waker; and a
 *	system call as the wakee, see calls_syscall()
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

/* -- sums.c: what tasks did ------------------------------------------------ */

/**
 * struct report_sums - sums of tasks
 * @delays: their delays and CPU time
 * @part: only a part of the tape counts, or each CPU apart.  Else the timeline has the counts.
 * @whole: all of the tape counts, and not each CPU apart: then also tasks that did nothing
 * @counts: of that part, by the numbers of @delays
 * @nr: number of @counts
 * @calls: system calls that the tasks slept in; NULL: they do not count
 */
struct report_sums {
	struct delays delays;
	bool part;
	bool whole;
	struct task_counts *counts;
	size_t nr;
	struct calls *calls;
};

/* The sums of a group. */
struct report_sum {
	struct delays_sum delays;
	struct task_counts counts;
};

/* Returns the callbacks of the timeline, for a struct report_sums.  @edges: also make the edges */
struct schedtape_timeline_ops report_sums_ops(const struct report_sums *sums, bool edges);

/*
 * Adds up the tasks of each group, and counts them.  @of_groups: set to an array with one for each
 * group, and @room for how many there is memory; report_sums_free_groups() frees it.  Returns 0 or
 * -ENOMEM.
 */
int report_sums_group(const struct report_sums *sums, struct groups *groups,
		      const struct schedtape_task *tasks, struct report_sum **of_groups,
		      size_t *room);
/* Returns the sums with a number, of which the caller does not own the delays. */
struct report_sum report_sum_of(const struct report_sums *sums, const struct schedtape_task *tasks,
				size_t number);
/* Returns true if the sums are of anything.  On the whole tape each task counts. */
bool report_sum_is_shown(const struct report_sums *sums, const struct report_sum *sum);
int report_sum_add(struct report_sum *sum, const struct report_sum *other);
void report_sums_free_groups(struct report_sum *of_groups, size_t n);
void report_sums_free(struct report_sums *sums);

/* -- print.c --------------------------------------------------------------- */

/* The columns of the table. */
extern const struct sheet_column report_columns[];

/* Fills the table, and its total.  @tasks: of the timeline.  Returns 0 or -ENOMEM. */
int report_fill(struct sheet *sheet, const struct groups *groups,
		const struct report_sum *of_groups, const struct schedtape_task *tasks);
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

/* -- html.c, html-file.c --------------------------------------------------- */

/*
 * report --html: one file that shows what happened on each CPU and to each task over time.  The
 * page needs no network and no other file.
 *
 * Its fixed parts are in page/; the rest is data:
 *
 *	"data"		JSON: times, CPUs, tasks, figures, and the times of the blocks
 *	"sums"		see html-runs.h; compressed and in base64, as blocks are
 *	"block0", ...	see html-runs.h
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
	const struct report_sums *sums;
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

/* The fixed part of a page, in which names in two pairs of braces stand for other parts. */
extern const char page_html[];
/* Its style, and its scripts. */
extern const char page_css[];
extern const char page_data_js[];
extern const char page_view_js[];
extern const char page_pointer_js[];
extern const char page_tables_js[];

#endif /* SCHEDTAPE_REPORT_H */
