/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * report --html: one file that shows what happened on each CPU and to each task over time.  The
 * page needs no network and no other file.
 *
 * Its fixed parts are in page/; the rest is data:
 *
 *	"data"		JSON: times, CPUs, tasks, figures, and the times of the blocks
 *	"sums"		see page-levels.h; compressed and in base64, as blocks are
 *	"block0", ...	see page-blocks.h
 *
 * Tasks have numbers on the page.  0 means no task.  Tasks with a row have 1 and up.  All tasks
 * without a row share the number behind the last of these.
 */
#ifndef SCHEDTAPE_REPORT_PAGE_H
#define SCHEDTAPE_REPORT_PAGE_H

#include <schedtape.h>

#include "report/page-blocks.h"
#include "report/page-levels.h"
#include "report/sums.h"

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

#endif /* SCHEDTAPE_REPORT_PAGE_H */
