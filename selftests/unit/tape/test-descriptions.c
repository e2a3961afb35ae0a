// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: pages of descriptions on a tape: their records, their place among the events of
 * CPUs, their losses; and tapes of versions that had none.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include <schedtape.h>

#include "tap.h"
#include "tapes.h"

#define DESCRIPTIONS	8	/* type of a record */
#define CHUNK		3

static struct schedtape_error err;
static struct schedtape_tape *tape;
static struct blob b;

static struct {
	unsigned char described[2][STAPE_PAGE_SIZE];
	unsigned char cpu[STAPE_PAGE_SIZE];
	struct schedtape_cpu cpus[2];
	struct schedtape_end end;
} made;

/* CPU 2 runs PID 10, which forks PID 30 at the time at which CPU 2 wakes PID 30. */
static void make(void)
{
	struct maker m;

	maker_begin(&m, made.described[0], STAPE_CPU_NONE, 0, 1000);
	m.header.curr_kind = STAPE_NEXT_OTHER;
	maker_event(&m, 1200, STAPE_EV_FORK, 30, STAPE_FORK_THREAD | 10 << STAPE_FORK_PARENT_SHIFT);
	maker_rename(&m, 1250, 30, "child");
	maker_begin(&m, made.described[1], STAPE_CPU_NONE, 1, 1400);
	m.header.curr_kind = STAPE_NEXT_OTHER;
	maker_lost(&m, 4, 1260, 1300);
	maker_event(&m, 1400, STAPE_EV_EXIT, 30, STAPE_EXIT_ENDED << STAPE_EXIT_SHIFT);

	maker_begin(&m, made.cpu, 2, 0, 1000);
	maker_switch(&m, 1100, 10, STAPE_NEXT_TASK, STAPE_STATE_RUNNING);
	maker_event(&m, 1200, STAPE_EV_WAKEUP_NEW, 30, 2);
	maker_switch(&m, 1300, 0, STAPE_NEXT_IDLE, STAPE_STATE_SLEEPING);

	made.cpus[0] = (struct schedtape_cpu) { .cpu = 2, .events = 3 };
	made.cpus[1] = (struct schedtape_cpu) {
		.cpu = STAPE_CPU_NONE, .events = 3, .lost = 4,
		.lost_first = 1260, .lost_last = 1300,
	};
	made.end = (struct schedtape_end) {
		.size = sizeof(made.end), .start_time = 990, .stop_time = 2000,
		.cpus = made.cpus, .nr_cpus = 2,
	};
}

static unsigned char *write_tape(size_t *size)
{
	struct schedtape_writer_options options = { .size = sizeof(options) };
	struct schedtape_writer *w;

	if (schedtape_writer_create(b.path, "{\"version\":\"x\"}", &options, &w, &err) ||
	    schedtape_writer_clock(w, &sample_clock, &err) ||
	    schedtape_writer_pages(w, made.cpu, 1, &err) ||
	    schedtape_writer_pages(w, made.described, 2, &err) ||
	    schedtape_writer_end(w, &made.end, &err) || schedtape_writer_close(w, &err)) {
		printf("Bail out! %s\n", err.text);
		exit(1);
	}
	return blob_get(&b, size);
}

/* Tests whether these are the events of the tape, in this order. */
static bool all_there(const struct events *e)
{
	static const unsigned int types[] = {
		STAPE_EV_SWITCH, STAPE_EV_FORK, STAPE_EV_WAKEUP_NEW, STAPE_EV_RENAME,
		SCHEDTAPE_EV_LOST, STAPE_EV_SWITCH, STAPE_EV_EXIT,
	};
	size_t i;

	for (i = 0; i < e->n && i < 7; i++)
		if (e->ev[i].type != types[i])
			return false;
	return e->n == 7 && !e->ret && !e->errors;
}

static bool fork_right(const struct schedtape_event *ev)
{
	return ev->cpu == STAPE_CPU_NONE && ev->pid == 30 && ev->curr == 10 &&
	       ev->curr_kind == STAPE_NEXT_TASK && ev->arg == STAPE_FORK_THREAD;
}

TEST(records)
{
	const struct schedtape_end *end;
	struct events e = { 0 };
	unsigned char *data, *record;
	size_t size;

	data = write_tape(&size);
	record = find_record(data, size, DESCRIPTIONS, 0);
	ok(record && get32(record + 32) == 0xffffffff && get32(record + 36) == 2 &&
	   !find_record(data, size, DESCRIPTIONS, 1) && !find_record(data, size, CHUNK, 1),
	   "descriptions have records of their own");
	tape = blob_open(&b, data, size, &err);
	if (!ok(tape && !schedtape_tape_damage(tape), "a tape with descriptions"))
		exit(1);
	events_read(tape, &e);
	ok(all_there(&e), "descriptions are before events of the same time");
	ok(fork_right(&e.ev[1]), "a fork has its parent");
	ok(!e.ev[3].curr && e.ev[3].curr_kind == STAPE_NEXT_OTHER && e.ev[3].pid == 30 &&
	   !strcmp(e.ev[3].comm, "child"), "a name has its task only");
	ok(e.ev[4].cpu == STAPE_CPU_NONE && e.ev[4].lost == 4 && e.ev[4].lost_first == 1260,
	   "lost descriptions");
	ok(schedtape_exit_ended(&e.ev[6]) && e.ev[6].pid == 30, "the end of a task");
	end = schedtape_tape_end(tape);
	ok(end->nr_cpus == 2 && end->cpus[0].cpu == STAPE_CPU_NONE && end->cpus[0].events == 3 &&
	   end->cpus[0].lost == 4 && end->cpus[1].cpu == 2 && end->cpus[1].events == 3,
	   "the end counts them apart");
	ok(schedtape_tape_chunks(tape) == 2 && schedtape_tape_pages(tape) == 3, "three pages");
	schedtape_tape_close(tape);
	free(data);
	free(e.ev);
}

TEST(copy)
{
	const struct schedtape_copy_options options = { .size = sizeof(options), .recover = true };
	struct schedtape_tape *again = NULL;
	struct events e = { 0 };
	struct blob copy;
	unsigned char *data;
	uint64_t bytes;
	size_t size;

	blob_init(&copy);
	data = write_tape(&size);
	size -= 8;	/* of the end record */
	tape = blob_open(&b, data, size, &err);
	ok(tape && !schedtape_tape_copy(tape, copy.path, &options, &bytes, &err) &&
	   !schedtape_tape_open(copy.path, &again, &err), "a truncated tape is copied");
	events_read(again, &e);
	ok(all_there(&e) && schedtape_tape_end(again)->cpus[0].lost == 4, "with its descriptions");
	schedtape_tape_close(again);
	schedtape_tape_close(tape);
	free(data);
	free(e.ev);
	close(copy.fd);
}

TEST(other_order)
{
	struct events e = { 0 };
	unsigned char *data, *at;
	size_t size;

	data = write_tape(&size);
	at = find_record(data, size, DESCRIPTIONS, 0);
	maker_swap_page(at + 80);
	maker_swap_page(at + 80 + STAPE_PAGE_SIZE);
	seal_record(at);
	tape = blob_open(&b, data, size, &err);
	events_read(tape, &e);
	ok(all_there(&e) && fork_right(&e.ev[1]), "descriptions of the other byte order");
	schedtape_tape_close(tape);
	free(data);
	free(e.ev);
}

/* Puts a number into the extra of the record of @type, and expects it to be refused. */
static void refused(unsigned int type, uint32_t cpu, const char *what)
{
	unsigned char *data, *at;
	size_t size;

	data = write_tape(&size);
	at = find_record(data, size, type, 0);
	put32(at + 32, cpu);
	seal_record(at);
	tape = blob_open(&b, data, size, &err);
	ok(tape && schedtape_tape_damage(tape) &&
	   strstr(schedtape_tape_damage(tape), "its header is impossible"), "%s", what);
	schedtape_tape_close(tape);
	free(data);
}

/* A wrong bit in the pages costs them, and no event of a CPU. */
TEST(damage)
{
	struct events e = { 0 };
	unsigned char *data, *at;
	size_t size;

	refused(DESCRIPTIONS, 2, "descriptions of a CPU");
	refused(CHUNK, STAPE_CPU_NONE, "events of no CPU");
	refused(CHUNK, 16384, "a CPU with too high a number");
	data = write_tape(&size);
	at = find_record(data, size, DESCRIPTIONS, 0);
	at[100] ^= 1;
	tape = blob_open(&b, data, size, &err);
	ok(tape && strstr(schedtape_tape_damage(tape), "damaged chunk of descriptions"),
	   "the damage is in descriptions");
	events_read(tape, &e);
	ok(e.n == 4 && events_count(&e, STAPE_EV_SWITCH) == 2 &&
	   events_lost_in(&e, STAPE_CPU_NONE) == 7, "the other events are there");
	schedtape_tape_close(tape);
	free(data);
	free(e.ev);
}

/* A parent's PID of more than 22 bits. */
TEST(parent)
{
	unsigned char data[STAPE_PAGE_SIZE];
	struct schedtape_page page;
	struct schedtape_event ev;
	struct maker m;

	maker_begin(&m, data, STAPE_CPU_NONE, 0, 1000);
	maker_event(&m, 1000, STAPE_EV_FORK, 30, (uint64_t)STAPE_PID_MASK << 10);
	maker_event(&m, 1000, STAPE_EV_FORK, 30, (uint64_t)(STAPE_PID_MASK + 1) << 10);
	ok(!schedtape_page_open(&page, data, &err) &&
	   schedtape_page_next(&page, &ev, &err) == 1 && ev.curr == STAPE_PID_MASK &&
	   schedtape_page_next(&page, &ev, &err) == -EBADMSG, "an impossible parent");
}

/* On tapes of version 2.3 a fork is by its CPU's task. */
TEST(older)
{
	struct events e = { 0 };
	struct sample sample;
	unsigned char *data;
	size_t size, i, forks = 0;

	sample_make(&sample);
	sample_write(&sample, b.path, 0, SAMPLE_ALL, &err);
	data = blob_get(&b, &size);
	put16(data + 10, 3);
	seal_header(data);
	tape = blob_open(&b, data, size, &err);
	events_read(tape, &e);
	for (i = 0; i < e.n; i++)
		forks += e.ev[i].type == STAPE_EV_FORK && e.ev[i].cpu != STAPE_CPU_NONE &&
			 e.ev[i].curr == 100 + e.ev[i].cpu % 7 &&
			 e.ev[i].curr_kind == STAPE_NEXT_TASK;
	ok(tape && !schedtape_tape_damage(tape) && forks == 10 &&
	   schedtape_tape_end(tape)->cpus[0].cpu == 0, "a tape of version 2.3");
	schedtape_tape_close(tape);
	json_object_put(sample.meta);
	free(data);
	free(e.ev);
}

TEST_MAIN_AFTER(blob_init(&b), make())
