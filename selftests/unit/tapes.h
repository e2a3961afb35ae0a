/* SPDX-License-Identifier: GPL-2.0-only */
/* Tapes in memory: written, taken apart, put together again, read. */
#ifndef SELFTESTS_TAPES_H
#define SELFTESTS_TAPES_H

#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <json-c/json.h>
#include <xxhash.h>

#include <schedtape.h>
#include <tape/meta.h>

#include "maker.h"

/* A file without a name, and a path to open it. */
struct blob {
	int fd;
	char path[64];
};

static inline void blob_init(struct blob *b)
{
	b->fd = memfd_create("tape", MFD_CLOEXEC);
	if (b->fd < 0) {
		perror("Bail out! memfd_create");
		exit(1);
	}
	snprintf(b->path, sizeof(b->path), "/proc/self/fd/%d", b->fd);
}

static inline void blob_put(const struct blob *b, const void *data, size_t size)
{
	if (ftruncate(b->fd, 0) || pwrite(b->fd, data, size, 0) != (ssize_t)size) {
		perror("Bail out! blob");
		exit(1);
	}
}

/* Opens @data as a tape; returns NULL if that fails, see @err. */
static inline struct schedtape_tape *blob_open(struct blob *b, const void *data, size_t size,
					       struct schedtape_error *err)
{
	struct schedtape_tape *tape;

	blob_put(b, data, size);
	return schedtape_tape_open(b->path, &tape, err) ? NULL : tape;
}

static inline unsigned char *blob_get(const struct blob *b, size_t *size)
{
	unsigned char *data;

	*size = lseek(b->fd, 0, SEEK_END);
	data = malloc(*size + 1);
	if (!data || pread(b->fd, data, *size, 0) != (ssize_t)*size) {
		perror("Bail out! blob");
		exit(1);
	}
	return data;
}

static inline uint32_t get32(const unsigned char *at)
{
	uint32_t v;

	memcpy(&v, at, 4);
	return le32toh(v);
}

static inline void put32(unsigned char *at, uint32_t v)
{
	v = htole32(v);
	memcpy(at, &v, 4);
}

static inline void put16(unsigned char *at, uint16_t v)
{
	v = htole16(v);
	memcpy(at, &v, 2);
}

static inline void put64(unsigned char *at, uint64_t v)
{
	v = htole64(v);
	memcpy(at, &v, 8);
}

/* Uses the numbers of the manual, not the library's structs. */
static inline void seal_header(unsigned char *tape)
{
	put64(tape + 24, 0);
	put64(tape + 24, XXH64(tape, get32(tape + 12), 0));
}

/* Lets a tape be of an older minor version. */
static inline void blob_make_older(const struct blob *b, unsigned int minor)
{
	unsigned char *data;
	size_t size;

	data = blob_get(b, &size);
	put16(data + 10, minor);
	seal_header(data);
	blob_put(b, data, size);
	free(data);
}

static inline void seal_record(unsigned char *record)
{
	put64(record + 24, 0);
	put64(record + 24, XXH64(record, 32 + get32(record + 8) + get32(record + 12), 0));
}

static inline size_t record_size(const unsigned char *record)
{
	return (32 + (size_t)get32(record + 8) + get32(record + 12) + 7) & ~(size_t)7;
}

static inline unsigned int record_type(const unsigned char *record)
{
	return record[4] | record[5] << 8;
}

/* Returns the @n-th record of @type, counted from 0. */
static inline unsigned char *find_record(unsigned char *tape, size_t size, unsigned int type,
					 unsigned int n)
{
	unsigned char *at;

	for (at = tape + get32(tape + 12); at < tape + size; at += record_size(at))
		if (record_type(at) == type && !n--)
			return at;
	return NULL;
}

/* -- reading --------------------------------------------------------------- */

struct events {
	struct schedtape_event *ev;
	size_t n, capacity;
	unsigned int errors;	/* number of -EBADMSG */
	int ret;		/* the last result */
	struct schedtape_error err;	/* of the last error */
};

static inline void events_read(struct schedtape_tape *tape, struct events *e)
{
	e->n = 0;
	e->errors = 0;
	for (;;) {
		if (e->n == e->capacity) {
			e->capacity = e->capacity ? 2 * e->capacity : 1024;
			e->ev = realloc(e->ev, e->capacity * sizeof(*e->ev));
		}
		e->ret = schedtape_tape_next(tape, &e->ev[e->n], &e->err);
		if (e->ret == 1)
			e->n++;
		else if (e->ret == -EBADMSG && e->errors < 100000)
			e->errors++;
		else
			return;
	}
}

static inline bool events_same(const struct events *a, const struct events *b)
{
	return a->n == b->n && a->errors == b->errors && a->ret == b->ret &&
	       !memcmp(a->ev, b->ev, a->n * sizeof(*a->ev));
}

static inline size_t events_count(const struct events *e, unsigned int type)
{
	size_t i, n = 0;

	for (i = 0; i < e->n; i++)
		n += e->ev[i].type == type;
	return n;
}

static inline bool events_sorted(const struct events *e)
{
	size_t i;

	for (i = 1; i < e->n; i++)
		if (e->ev[i].time < e->ev[i - 1].time ||
		    (e->ev[i].time == e->ev[i - 1].time && e->ev[i].cpu < e->ev[i - 1].cpu))
			return false;
	return true;
}

/* Tests whether each loss begins before its end, and is reported before its end. */
static inline bool events_losses_right(const struct events *e)
{
	size_t i;

	for (i = 0; i < e->n; i++)
		if (e->ev[i].type == SCHEDTAPE_EV_LOST &&
		    (e->ev[i].time > e->ev[i].lost_first ||
		     e->ev[i].lost_first > e->ev[i].lost_last))
			return false;
	return true;
}

/* Sums the losses of a CPU whose numbers are known. */
static inline uint64_t events_lost_in(const struct events *e, uint32_t cpu)
{
	uint64_t lost = 0;
	size_t i;

	for (i = 0; i < e->n; i++)
		if (e->ev[i].type == SCHEDTAPE_EV_LOST && e->ev[i].cpu == cpu)
			lost += e->ev[i].lost;
	return lost;
}

/* -- a small tape with all kinds of records -------------------------------- */

#define SAMPLE_BATCHES	5

struct sample {
	struct schedtape_task_info tasks[2];
	struct schedtape_cpu cpus[4];
	struct schedtape_end end;
	struct json_object *meta;
	unsigned char pages[SAMPLE_BATCHES][2][STAPE_PAGE_SIZE];
	uint64_t bytes[SAMPLE_BATCHES + 1];	/* the tape's size at a batch's end */
};

/* A sample of CLOCK_MONOTONIC, so that times need no conversion. */
static const struct stape_clock_sample sample_clock = {
	.counter = 900, .mono = 900, .boot = 950, .real = 1700000000000000000, .khz = 1000000,
};

static const unsigned char sample_affinity[200] = { [0] = 3, [199] = 0x80 };

static inline void sample_page(struct sample *s, unsigned int batch, unsigned int page,
			       uint32_t cpu, uint64_t seq, uint64_t time)
{
	struct maker m;
	unsigned int i;

	maker_begin(&m, s->pages[batch][page], cpu, seq, time);
	maker_event(&m, time + 10, STAPE_EV_WAKEUP, 100 + cpu % 7, cpu);
	maker_switch(&m, time + 20, 100 + cpu % 7, STAPE_NEXT_TASK, STAPE_STATE_RUNNING);
	for (i = 0; i < 5; i++)
		maker_waking(&m, time + 30 + i * 3, 200 + i, i % 4);
	maker_event(&m, time + 60, STAPE_EV_FORK, 300, batch);
	maker_event(&m, time + 60, STAPE_EV_WAKEUP_NEW, 300, cpu);
	maker_event(&m, time + 70, STAPE_EV_MIGRATE, 300, 4000);
	maker_rename(&m, time + 80, 300, "a name");
	maker_exec(&m, time + 90, 299, 300);
	maker_event(&m, time + 95, STAPE_EV_EXIT, 299, 0);
	maker_switch(&m, time + 99, 0, STAPE_NEXT_OTHER, STAPE_STATE_DEAD);
}

static inline void sample_make(struct sample *s)
{
	memset(s, 0, sizeof(*s));
	s->meta = json_object_new_object();
	json_object_object_add(s->meta, "arch", json_object_new_string("riscv64"));
	json_object_object_add(s->meta, "mult", json_object_new_uint64(UINT64_MAX));
	s->tasks[0] = (struct schedtape_task_info) {
		.time = 1, .start_time = UINT64_MAX, .cpu_time = 3, .pid = 100, .tgid = 101,
		.ppid = 102, .ns_pid = 7, .cpu = 5, .state = STAPE_STATE_BLOCKED, .policy = 1,
		.nice = -20, .rt_priority = 99, .affinity_bytes = sizeof(sample_affinity),
		.affinity = sample_affinity, .comm = "worker/0", .cgroup = UINT64_MAX,
		.wish = { UINT64_MAX, 2, 1025 << 16 | 1 },
	};
	s->tasks[1] = (struct schedtape_task_info) {
		.pid = 103, .nice = 19, .comm = "fifteen letters",
	};

	/* CPU 0 loses a page, CPU 1023 events; CPU 9 has a loss after its last page. */
	sample_page(s, 0, 0, 0, 0, 1000);
	sample_page(s, 0, 1, 0, 1, 1200);
	sample_page(s, 1, 0, 1023, 10, 1050);
	sample_page(s, 1, 1, 1023, 11, 1250);
	((struct stape_page_header *)s->pages[1][1])->lost = 12;
	((struct stape_page_header *)s->pages[1][1])->lost_first = 1160;
	((struct stape_page_header *)s->pages[1][1])->lost_last = 1240;
	sample_page(s, 2, 0, 9, 0, 1000);
	sample_page(s, 2, 1, 9, 1, 1100);
	sample_page(s, 3, 0, 0, 3, 1500);
	sample_page(s, 3, 1, 0, 4, 1600);
	sample_page(s, 4, 0, 1023, 12, 1400);
	sample_page(s, 4, 1, 1023, 13, 1650);

	s->cpus[0] = (struct schedtape_cpu) { .cpu = 0, .events = 56 };
	s->cpus[1] = (struct schedtape_cpu) {
		.cpu = 9, .events = 28, .lost = 77, .lost_first = 1300, .lost_last = 1350,
	};
	s->cpus[2] = (struct schedtape_cpu) {
		.cpu = 700, .lost = UINT64_MAX, .lost_first = 1111, .lost_last = 1222,
	};
	s->cpus[3] = (struct schedtape_cpu) {
		.cpu = 1023, .events = 56, .lost = 12, .lost_first = 1160, .lost_last = 1240,
		.overwritten = 140,
	};
	s->end = (struct schedtape_end) {
		.size = sizeof(s->end),
		.start_time = 990, .stop_time = UINT64_MAX, .cpus = s->cpus, .nr_cpus = 4,
	};
}

/* Writes the first @batches of the sample, and with all of them the end record, too. */
static inline int sample_write(struct sample *s, const char *path, int level,
			       unsigned int batches, struct schedtape_error *err)
{
	struct schedtape_writer_options options = { .size = sizeof(options), .level = level };
	struct schedtape_writer *w;
	unsigned int i;
	int ret, closed;

	ret = tape_writer_create(path, s->meta, &options, &w, err);
	if (ret)
		return ret;
	ret = schedtape_writer_clock(w, &sample_clock, err);
	if (!ret)
		ret = schedtape_writer_tasks(w, s->tasks, 2, err);
	for (i = 0; i < batches && i < SAMPLE_BATCHES && !ret; i++) {
		ret = schedtape_writer_pages(w, s->pages[i], 2, err);
		s->bytes[i] = schedtape_writer_bytes(w);
	}
	if (!ret && batches > SAMPLE_BATCHES)
		ret = schedtape_writer_end(w, &s->end, err);
	s->bytes[SAMPLE_BATCHES] = schedtape_writer_bytes(w);
	closed = schedtape_writer_close(w, ret ? NULL : err);
	return ret ? ret : closed;
}

#define SAMPLE_ALL	(SAMPLE_BATCHES + 1)

/* Puts @bytes zero bytes into a tape, before @at. */
static inline unsigned char *insert_zeros(unsigned char *data, size_t *size, size_t at,
					  size_t bytes)
{
	data = realloc(data, *size + bytes);
	memmove(data + at + bytes, data + at, *size - at);
	memset(data + at, 0, bytes);
	*size += bytes;
	return data;
}

#endif /* SELFTESTS_TAPES_H */
