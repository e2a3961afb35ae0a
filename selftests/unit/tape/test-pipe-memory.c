// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: a reader of a pipe needs no more memory for a long tape than for a short one.
 */
#include <fcntl.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "records.h"
#include "tap.h"

#define MILLION		1000000ULL
#define CPUS		4
#define CHUNK_PAGES	64
#define CHUNK_BYTES	(CHUNK_PAGES * STAPE_PAGE_SIZE)
#define PAGE_WORDS	((STAPE_PAGE_SIZE - 72) / 8)
#define STEP		20	/* ns between two events */

/**
 * struct state - a tape that is made while it is read
 * @chunk: its pages, all alike but for their headers; and the record that they are in
 */
struct state {
	struct records chunk;
	uint64_t seqs[CPUS];
	uint64_t offset;
	int fd;
};

static void put(struct state *state, const void *bytes, size_t size)
{
	const char *at = bytes;
	ssize_t ret;

	state->offset += size;
	for (; size; size -= ret, at += ret) {
		ret = write(state->fd, at, size);
		if (ret <= 0) {
			perror("Bail out! write");
			exit(1);
		}
	}
}

static void put_records(struct state *state, const struct records *r)
{
	put(state, r->data, r->size);
}

static void put_clock(struct state *state, uint64_t time)
{
	struct records r = { 0 };
	unsigned char clock[48] = { 0 };

	put32(clock, sizeof(clock));
	put32(clock + 8, 2000000);
	put64(clock + 16, 2 * time);
	put64(clock + 24, time);
	records_put(&r, CLOCK, NULL, 0, clock, sizeof(clock), sizeof(clock));
	put_records(state, &r);
	free(r.data);
}

static void put_progress(struct state *state, uint64_t time)
{
	unsigned char progress[32] = { 0 };
	struct records r = { 0 };

	put64(progress, state->offset);
	put64(progress + 8, 2 * time);
	put64(progress + 16, 500);
	records_put(&r, PROGRESS, NULL, 0, progress, sizeof(progress), sizeof(progress));
	put_records(state, &r);
	free(r.data);
}

/* Makes full pages, in a record that is sealed for each chunk. */
static void make_chunk(struct state *state)
{
	unsigned char *pages = malloc(CHUNK_BYTES), extra[48] = { 0 };
	struct maker m;
	unsigned int page, word;

	for (page = 0; page < CHUNK_PAGES; page++) {
		maker_begin(&m, pages + page * STAPE_PAGE_SIZE, 0, 0, 0);
		for (word = 1; word <= PAGE_WORDS; word++)
			maker_wake(&m, word * 2 * STEP, 100, STAPE_CTX_TASK, word * 2 * STEP + 1,
				   0);
	}
	records_put(&state->chunk, CHUNK, extra, sizeof(extra), pages, CHUNK_BYTES, CHUNK_BYTES);
	free(pages);
}

/* Puts the numbers of a page's header. */
static void number_page(unsigned char *page, uint32_t cpu, uint64_t seq, uint64_t time)
{
	uint64_t end = time + PAGE_WORDS * 2 * STEP + 1;

	memcpy(page + 4, &cpu, sizeof(cpu));
	memcpy(page + 24, &time, sizeof(time));
	memcpy(page + 32, &end, sizeof(end));
	memcpy(page + 40, &seq, sizeof(seq));
}

static void put_chunk(struct state *state, uint32_t cpu, uint64_t time)
{
	unsigned char *record = state->chunk.data, *extra = record + 32, *pages = extra + 48;
	unsigned int page;

	put32(extra, cpu);
	put32(extra + 4, CHUNK_PAGES);
	put64(extra + 8, state->seqs[cpu]);
	put64(extra + 16, time);
	for (page = 0; page < CHUNK_PAGES; page++) {
		number_page(pages + page * STAPE_PAGE_SIZE, cpu, state->seqs[cpu]++, time);
		time += PAGE_WORDS * 2 * STEP + 2;
	}
	put64(extra + 24, time - 1);
	put64(extra + 32, 2ULL * PAGE_WORDS * CHUNK_PAGES);
	seal_record(record);
	put_records(state, &state->chunk);
}

/* Returns the number of events of the tape, of at least @events. */
static uint64_t make(struct state *state, uint64_t events)
{
	struct records r = { 0 };
	uint64_t made = 0, time = 1000;
	uint32_t cpu;

	records_begin(&r);
	records_text(&r, META, "{}");
	put_records(state, &r);
	free(r.data);
	put_clock(state, 500);
	put_progress(state, 0);
	while (made < events) {
		for (cpu = 0; cpu < CPUS; cpu++)
			put_chunk(state, cpu, 2 * time + cpu);
		made += 2ULL * PAGE_WORDS * CHUNK_PAGES * CPUS;
		time += CHUNK_PAGES * (PAGE_WORDS * 2 * STEP + 2ULL) / 2 + 1;
		put_clock(state, time);
		put_progress(state, time);
	}
	return made;
}

/* In a child: reads the tape from standard input.  Its exit status is 0 if it has all events. */
static void read_all(uint64_t expected)
{
	struct schedtape_error err;
	struct schedtape_event ev;
	struct schedtape_tape *tape;
	uint64_t n = 0;
	int ret;

	if (schedtape_tape_open_once("-", &tape, &err))
		_exit(2);
	while ((ret = schedtape_tape_next(tape, &ev, &err)) > 0)
		n++;
	_exit(ret || n < expected);
}

/* Returns the KB that the reader of so many events had at most. */
static long memory_for(uint64_t events)
{
	struct state state = { 0 };
	struct rusage usage = { 0 };
	int ends[2], status = 1;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC))
		exit(1);
	fflush(stdout);
	pid = fork();
	if (!pid) {
		dup2(ends[0], STDIN_FILENO);
		close(ends[0]);
		close(ends[1]);
		read_all(events);
	}
	close(ends[0]);
	state.fd = ends[1];
	make_chunk(&state);
	make(&state, events);
	close(ends[1]);
	free(state.chunk.data);
	wait4(pid, &status, 0, &usage);
	ok(!status, "%llu million events: all are read", (unsigned long long)(events / MILLION));
	return usage.ru_maxrss;
}

int main(void)
{
	long small, large;

#if SANITIZED
	printf("1..0 # SKIP a sanitizer needs memory of its own\n");
	return 0;
#endif
	small = memory_for(MILLION);
	large = memory_for(20 * MILLION);
	ok(large - small < 2048, "20 million events need %ld KB, 1 million %ld KB", large, small);
	ok(large < 16384, "which is below 16 MB");
	return tap_done();
}
