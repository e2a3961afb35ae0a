// SPDX-License-Identifier: GPL-2.0-only
/* Description: the content of a tape is read as it was written, in order. */
#include <stdlib.h>

#include <schedtape.h>

#include "tap.h"
#include "tapes.h"

static struct sample sample;
static struct schedtape_tape *tape;
static struct blob b;
static struct schedtape_error err;

/* Decodes the sample's pages in turn: the events without a tape. */
static bool events_of_sample(const struct events *e)
{
	struct schedtape_event ev;
	struct schedtape_page p;
	size_t i, k, all = 0;

	for (i = 0; i < SAMPLE_BATCHES * 2; i++) {
		schedtape_page_open(&p, sample.pages[i / 2][i % 2], NULL);
		while (schedtape_page_next(&p, &ev, NULL) == 1) {
			for (k = 0; k < e->n && memcmp(&ev, &e->ev[k], sizeof(ev)); k++)
				;
			/* A loss has the times of the events around it. */
			if (k == e->n && ev.type != SCHEDTAPE_EV_LOST)
				return false;
			all++;
		}
	}
	return all == 10 * 14 + 1;
}

static const struct schedtape_event *find_loss(const struct events *e, uint32_t cpu)
{
	size_t i;

	for (i = 0; i < e->n; i++)
		if (e->ev[i].type == SCHEDTAPE_EV_LOST && e->ev[i].cpu == cpu)
			return &e->ev[i];
	return NULL;
}

static void check_tasks(void)
{
	const struct schedtape_task_info *t;
	size_t n, i;

	t = schedtape_tape_tasks(tape, &n);
	ok(n == 2, "two tasks");
	for (i = 0; i < n; i++) {
		const struct schedtape_task_info *s = &sample.tasks[i];

		ok(t[i].time == s->time && t[i].start_time == s->start_time &&
		   t[i].cpu_time == s->cpu_time && t[i].pid == s->pid && t[i].tgid == s->tgid &&
		   t[i].ppid == s->ppid && t[i].ns_pid == s->ns_pid && t[i].cpu == s->cpu &&
		   t[i].state == s->state && t[i].policy == s->policy && t[i].nice == s->nice &&
		   t[i].rt_priority == s->rt_priority && !strcmp(t[i].comm, s->comm) &&
		   t[i].cgroup == s->cgroup && !memcmp(&t[i].dl, &s->dl, sizeof(s->dl)) &&
		   t[i].affinity_bytes == s->affinity_bytes && (!s->affinity_bytes ||
		   !memcmp(t[i].affinity, s->affinity, s->affinity_bytes)), "task %zu", i);
	}
}

static void check_losses(const struct events *e)
{
	const struct schedtape_event *ev;

	ok(events_count(e, SCHEDTAPE_EV_LOST) == 4, "four losses");
	ev = find_loss(e, 0);
	ok(ev && ev->lost == 0 && ev->lost_first == 1299 && ev->lost_last == 1500,
	   "a gap in the pages' numbers");
	ev = find_loss(e, 1023);
	ok(ev && ev->lost == 12 && ev->time == 1160, "a loss that a page's header has");
	ev = find_loss(e, 9);
	ok(ev && ev->lost == 77 && ev->time == 1300 && ev->lost_last == 1350,
	   "a loss behind the last page, which only the end record has");
	ev = find_loss(e, 700);
	ok(ev && ev->lost == UINT64_MAX && ev->time == 1111 && ev->lost_last == 1222,
	   "and of a CPU without any page");
}

/* The caller may use json-c for the same object, and the text stays as it is. */
static void check_text(void)
{
	const char *text = schedtape_tape_meta(tape);
	struct json_object *meta = text ? json_tokener_parse(text) : NULL;

	ok(meta && json_object_equal(meta, tape_meta(tape)), "its description as text");
	json_object_to_json_string_ext(tape_meta(tape), JSON_C_TO_STRING_PRETTY);
	ok(schedtape_tape_meta(tape) == text && !strchr(text, '\n'), "it stays valid");
	json_object_put(meta);
}

static void test_round(int level)
{
	const struct schedtape_end *end;
	struct events e = { 0 }, again = { 0 };
	struct json_object *mult;
	int ret;

	ret = sample_write(&sample, b.path, level, SAMPLE_ALL, &err);
	ok(!ret, "level %d: a tape is written", level);
	ret = schedtape_tape_open(b.path, &tape, &err);
	if (!ok(!ret && !schedtape_tape_damage(tape), "and opens"))
		exit(tap_done());
	ok(json_object_object_get_ex(tape_meta(tape), "mult", &mult) &&
	   json_object_get_uint64(mult) == UINT64_MAX, "its description is there");
	check_text();
	check_tasks();
	ok(schedtape_tape_chunks(tape) == 5 && schedtape_tape_pages(tape) == 10 &&
	   schedtape_tape_bytes(tape) == sample.bytes[SAMPLE_BATCHES], "sizes");

	end = schedtape_tape_end(tape);
	ok(end->start_time == 990 && end->stop_time == UINT64_MAX && end->nr_cpus == 4 &&
	   !memcmp(end->cpus, sample.cpus, sizeof(sample.cpus)), "the end");

	events_read(tape, &e);
	ok(e.ret == 0 && !e.errors && e.n == 10 * 14 + 4, "as many events (%zu)", e.n);
	ok(events_sorted(&e), "by time, then by CPU");
	ok(events_of_sample(&e), "the same events");
	check_losses(&e);
	ok(schedtape_tape_next(tape, &e.ev[0], &err) == 0, "the end stays");
	schedtape_tape_rewind(tape, &err);
	events_read(tape, &again);
	events_read(tape, &e);
	ok(again.n == 10 * 14 + 4 && e.n == 0 && !schedtape_tape_damage(tape), "once more");
	schedtape_tape_close(tape);
	free(e.ev);
	free(again.ev);
}

/* Some of a CPU's losses are in its pages' headers, the rest only in the end record. */
TEST(end_loss)
{
	const struct schedtape_cpu saved = sample.cpus[3];
	const struct schedtape_event *ev;
	struct events e = { 0 };

	sample.cpus[3].lost = 20;
	sample.cpus[3].lost_last = 1800;
	sample_write(&sample, b.path, 3, SAMPLE_ALL, &err);
	sample.cpus[3] = saved;
	if (schedtape_tape_open(b.path, &tape, &err))
		exit(1);
	events_read(tape, &e);
	ev = e.n ? &e.ev[e.n - 1] : NULL;
	ok(ev && ev->type == SCHEDTAPE_EV_LOST && ev->cpu == 1023 && ev->lost == 8 &&
	   ev->time == 1749 && ev->lost_first == 1749 && ev->lost_last == 1800,
	   "the end record has the events lost behind the last page, and no others");
	schedtape_tape_close(tape);
	free(e.ev);
}

TEST(no_end)
{
	const struct schedtape_end *end;

	sample_write(&sample, b.path, 3, SAMPLE_BATCHES, &err);
	ok(!schedtape_tape_open(b.path, &tape, &err), "without its end record it opens");
	ok(schedtape_tape_damage(tape) &&
	   strstr(schedtape_tape_damage(tape),
		  "the recording was not finished, or still runs: no end record until byte "),
	   "and says so: %s", schedtape_tape_damage(tape));
	end = schedtape_tape_end(tape);
	ok(end->start_time == 1000 && end->stop_time == 1749 && end->nr_cpus == 3 &&
	   end->cpus[0].cpu == 0 && end->cpus[0].events == 56 && end->cpus[1].cpu == 9 &&
	   end->cpus[2].lost == 12 && end->cpus[2].lost_first <= 1160 &&
	   end->cpus[2].lost_last >= 1240, "its end is made from the chunks");
	schedtape_tape_close(tape);
}

static void test_many(int level)
{
	struct schedtape_writer_options options = { .size = sizeof(options), .level = level };
	const struct schedtape_end end = { .size = sizeof(end) };
	const size_t n = 2500, tasks = 30000;
	struct schedtape_task_info *task = calloc(tasks, sizeof(*task));
	unsigned char *pages = malloc(n * STAPE_PAGE_SIZE);
	const struct schedtape_task_info *got;
	struct schedtape_writer *w;
	struct events e = { 0 };
	struct maker m;
	size_t i, k, right = 0;

	for (i = 0; i < tasks; i++)
		task[i] = (struct schedtape_task_info) {
			.pid = i, .start_time = i * 7, .affinity_bytes = i % 129,
			.affinity = sample_affinity,
		};
	for (i = 0; i < n; i++) {
		maker_begin(&m, pages + i * STAPE_PAGE_SIZE, 1, i, i * 1000);
		for (k = 0; k < 503; k++)
			maker_event(&m, i * 1000 + k, STAPE_EV_WAKEUP, i, k);
	}

	ok(!tape_writer_create(b.path, sample.meta, &options, &w, &err) &&
	   !schedtape_writer_tasks(w, task, tasks, &err) &&
	   !schedtape_writer_tasks(w, NULL, 0, &err) &&
	   !schedtape_writer_pages(w, pages, n, &err) &&
	   !schedtape_writer_end(w, &end, &err) &&
	   !schedtape_writer_close(w, &err), "level %d: many tasks, many pages at once", level);
	ok(!schedtape_tape_open(b.path, &tape, &err) && !schedtape_tape_damage(tape), "open");
	got = schedtape_tape_tasks(tape, &k);
	for (i = 0; i < k; i++)
		right += got[i].pid == i && got[i].start_time == i * 7 &&
			 got[i].affinity_bytes == i % 129 &&
			 (!(i % 129) || !memcmp(got[i].affinity, sample_affinity, i % 129));
	ok(right == tasks && k == tasks, "all tasks");
	ok(schedtape_tape_chunks(tape) == 3 && schedtape_tape_pages(tape) == n, "in three chunks");
	events_read(tape, &e);
	for (right = 0, i = 0; i < e.n; i++)
		right += e.ev[i].pid == i / 503 && e.ev[i].arg == i % 503;
	ok(e.ret == 0 && e.n == 503 * n && right == e.n, "all %zu events", e.n);
	schedtape_tape_close(tape);
	free(e.ev);
	free(pages);
	free(task);
}

/* One chunk of three pages; @change makes the middle one wrong, or just odd. */
static void check_wrong_page(void (*change)(struct stape_page_header *h), size_t events,
			     unsigned int errors, const char *what)
{
	unsigned char *data, *chunk, pages[3][STAPE_PAGE_SIZE];
	struct stape_page_header h;
	struct schedtape_writer *w;
	struct events e = { 0 };
	struct maker m;
	size_t size;

	for (int i = 0; i < 3; i++) {
		maker_begin(&m, pages[i], 4, 10 + i, 1000 * (i + 1));
		maker_event(&m, 1000 * (i + 1) + 1, STAPE_EV_EXIT, i, 0);
	}
	tape_writer_create(b.path, sample.meta, NULL, &w, &err);
	schedtape_writer_pages(w, pages, 3, &err);
	schedtape_writer_close(w, &err);

	data = blob_get(&b, &size);
	chunk = find_record(data, size, 3, 0);
	memcpy(&h, chunk + 80 + STAPE_PAGE_SIZE, sizeof(h));
	change(&h);
	memcpy(chunk + 80 + STAPE_PAGE_SIZE, &h, sizeof(h));
	seal_record(chunk);
	tape = blob_open(&b, data, size, &err);
	events_read(tape, &e);
	ok(e.ret == 0 && e.errors == errors && e.n == events && events_sorted(&e) &&
	   (!errors || strstr(e.err.text, "page 1 of 3")), "%s: %s", what,
	   errors ? e.err.text : "no error");
	schedtape_tape_close(tape);
	free(data);
	free(e.ev);
}

static void change_cpu(struct stape_page_header *h) { h->cpu++; }
static void change_seq(struct stape_page_header *h) { h->seq -= 2; }
static void change_time(struct stape_page_header *h) { h->time = 1000; }
static void change_magic(struct stape_page_header *h)
{
	h->magic = 0;
}

static void change_lost(struct stape_page_header *h) { h->lost = h->lost_last = 5; }
static void change_count(struct stape_page_header *h) { h->events = 2; }

int main(void)
{
	blob_init(&b);
	sample_make(&sample);
	test_round(0);
	test_round(1);
	test_round(19);
	tap_run();
	test_many(0);
	test_many(1);
	/* The first and the last event, and a loss in place of the page's. */
	check_wrong_page(change_cpu, 3, 1, "a page of another CPU");
	check_wrong_page(change_seq, 3, 1, "a page's number goes backwards");
	check_wrong_page(change_time, 3, 1, "a page's time goes backwards");
	check_wrong_page(change_magic, 3, 1, "not a page");
	check_wrong_page(change_count, 3, 1, "a wrong count");
	check_wrong_page(change_lost, 4, 0, "a loss dated before the page in front of it");
	json_object_put(sample.meta);
	return tap_done();
}
