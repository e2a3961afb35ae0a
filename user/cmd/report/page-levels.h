/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sums of a page: how much of each of many equal parts of the recording every CPU and every task
 * ran, and how long every task waited for a CPU.  The page draws them where single runs would be
 * too narrow to be seen.
 */
#ifndef SCHEDTAPE_REPORT_PAGE_LEVELS_H
#define SCHEDTAPE_REPORT_PAGE_LEVELS_H

#include <stddef.h>
#include <stdint.h>

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

#endif /* SCHEDTAPE_REPORT_PAGE_LEVELS_H */
