// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Makes the end of a recording from the end records of all files.  CPUs that no end
 * record has are computed from the chunks.
 */
#define _FILE_OFFSET_BITS 64
#include <errno.h>
#include <stdlib.h>

#include "tape/clock.h"
#include "tape/end.h"
#include "tape/losses.h"
#include "tape/tape.h"

/* Computes a CPU from its chunks, which are adjacent in the index.  Returns their number. */
static size_t guess_cpu(const struct tape_index *index, size_t n, struct schedtape_cpu *cpu)
{
	uint64_t before = index->time;
	size_t i;

	*cpu = (struct schedtape_cpu) { .cpu = index->cpu };
	for (i = 0; i < n && index[i].cpu == cpu->cpu; i++) {
		cpu->events += index[i].events;
		if (index[i].lost && !index[i].damaged) {
			/* Only the pages have the exact times, which lie in between. */
			if (!cpu->lost)
				cpu->lost_first = before;
			cpu->lost_last = index[i].end;
			cpu->lost += index[i].lost;
		}
		before = index[i].end;
	}
	if (cpu->lost_first > cpu->lost_last)
		cpu->lost_first = cpu->lost_last;
	return i;
}

static int cpu_compare(const void *one, const void *two)
{
	const struct schedtape_cpu *a = one, *b = two;

	if (a->cpu != b->cpu)
		return tape_cpu_compare(a->cpu, b->cpu);
	return a->reserved < b->reserved ? -1 : a->reserved > b->reserved;
}

/* If several end records have a CPU, keeps the first. */
void tape_end_sort(struct schedtape_tape *tape)
{
	struct schedtape_cpu *cpus = tape->cpus;
	size_t i, n = 0;

	for (i = 0; i < tape->nr_cpus; i++)
		cpus[i].reserved = i;
	if (tape->nr_cpus)
		qsort(cpus, tape->nr_cpus, sizeof(*cpus), cpu_compare);
	for (i = 0; i < tape->nr_cpus; i++)
		if (!n || cpus[i].cpu != cpus[n - 1].cpu)
			cpus[n++] = cpus[i];
	for (i = 0; i < n; i++)
		cpus[i].reserved = 0;
	tape->nr_cpus = n;
}

struct schedtape_cpu *tape_end_find(const struct schedtape_tape *tape, uint32_t cpu)
{
	const struct schedtape_cpu key = { .cpu = cpu };

	return tape->nr_cpus ? bsearch(&key, tape->cpus, tape->nr_cpus, sizeof(key), cpu_compare) :
			       NULL;
}

static int guess_cpus(struct schedtape_tape *tape)
{
	size_t i, told = tape->nr_cpus, most = told;
	const struct tape_index *index = tape->index;
	struct schedtape_cpu *cpus, cpu;

	for (i = 0; i < tape->nr_index; i++)
		most += !i || index[i].cpu != index[i - 1].cpu;
	cpus = reallocarray(tape->cpus, most + 1, sizeof(*cpus));
	if (!cpus)
		return -ENOMEM;
	tape->cpus = cpus;
	for (i = 0; i < tape->nr_index;) {
		i += guess_cpu(index + i, tape->nr_index - i, &cpu);
		if (!bsearch(&cpu, cpus, told, sizeof(cpu), cpu_compare))
			cpus[tape->nr_cpus++] = cpu;
	}
	tape_end_sort(tape);
	return 0;
}

/* Finds the begin and end of the time that valid chunks cover. */
static void find_range(struct schedtape_tape *tape)
{
	const struct tape_index *index = tape->index;
	uint64_t first = UINT64_MAX;
	size_t i;

	if (tape->stream) {
		first = tape->stream->first;
		tape->last = tape->stream->last;
	}
	for (i = 0; i < tape->nr_index; i++) {
		if (index[i].damaged)
			continue;
		if (index[i].time < first)
			first = index[i].time;
		if (index[i].end > tape->last)
			tape->last = index[i].end;
	}
	tape->first = first < tape->last ? first : tape->last;
}

/*
 * Extends the time to the whole recording, because chunks may be missing at its begin and
 * end.  The clocks were read before the first chunk and after the last one.
 */
static void widen_range(struct schedtape_tape *tape)
{
	const struct tape_clocks *clocks = &tape->clocks;
	uint64_t first = tape->end.start_time, last = tape->end.stop_time;

	if (clocks->line) {
		first = clocks->samples[0].counter;
		last = clocks->samples[clocks->nr_samples - 1].counter;
	}
	if (first < tape->first || !tape->last)
		tape->first = first;
	if (last > tape->last)
		tape->last = last;
}

/* In overwrite mode, the recording begins for the caller where the data of all CPUs do. */
static void end_window(struct schedtape_tape *tape, uint64_t latest)
{
	struct schedtape_end *end = &tape->end;
	uint64_t window;

	end->began = end->start_time;
	if (!tape->window)
		return;
	window = tape_clocks_ns(&tape->clocks, tape->window);
	if (window > latest)
		window = latest;
	if (window > end->start_time)
		end->start_time = window;
}

void tape_end_begin(struct schedtape_tape *tape)
{
	const struct tape_clocks *clocks = &tape->clocks;

	tape->first = clocks->line ? clocks->samples[0].counter : tape->begun;
	tape->end.size = sizeof(tape->end);
	tape->end.start_time = tape->begun;
	end_window(tape, UINT64_MAX);
}

int tape_end_finish(struct schedtape_tape *tape)
{
	struct schedtape_end *end = &tape->end;
	int ret;

	tape_end_sort(tape);
	find_range(tape);
	if (tape->ended)
		widen_range(tape);
	tape_lost_fit(tape);
	ret = guess_cpus(tape);
	if (ret)
		return ret;
	if (!tape->ended) {
		end->stop_time = tape_clocks_ns(&tape->clocks, tape->last);
		end->start_time = tape->begun ? tape->begun :
						tape_clocks_ns(&tape->clocks, tape->first);
		if (end->start_time > end->stop_time)
			end->start_time = end->stop_time;
	}
	end->size = sizeof(*end);
	end_window(tape, end->stop_time);
	return 0;
}
