// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: a tape in several files reads like one in one file, with chunks loaded ahead;
 * missing or foreign files are reported, and the rest is read. Copies of tapes have all that is
 * valid.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <schedtape.h>

#include "tap.h"
#include "tapes.h"

#define STREAMS		3
#define CPUS		4		/* stream 0 has CPUs 0 and 3 */
#define CHUNKS		12		/* of each CPU, of two pages with 20 events */
#define EVENTS		(CPUS * CHUNKS * 40)

static char dir[] = "/tmp/schedtape-test-XXXXXX";
static struct schedtape_error err;
static char torn[1024];		/* the damage of the tape that was read */

static const char *in_dir(const char *name)
{
	static char path[2][128];
	static unsigned int turn;

	turn = !turn;
	snprintf(path[turn], sizeof(path[turn]), "%s/%s", dir, name);
	return path[turn];
}

static const char *stream_file(unsigned int number)
{
	char name[32];

	snprintf(name, sizeof(name), "tape/data.%u", number);
	return in_dir(name);
}

static void die(const char *what)
{
	printf("Bail out! %s: %s\n", what, err.text);
	exit(1);
}

/* -- making ---------------------------------------------------------------- */

/* CPUs take turns, and times of one CPU do not match chunks of another. */
static void put_chunk(struct schedtape_writer *w, uint32_t cpu, unsigned int chunk, uint64_t seq)
{
	unsigned char pages[2][STAPE_PAGE_SIZE];
	uint64_t time = 1000 + chunk * 4000 + cpu * 700;
	struct maker m;
	unsigned int i, k;

	for (i = 0; i < 2; i++) {
		maker_begin(&m, pages[i], cpu, seq + i, time);
		for (k = 0; k < 20; k++)
			maker_event(&m, time += 97, STAPE_EV_WAKEUP, 100 + cpu, k);
	}
	if (schedtape_writer_pages(w, pages, 2, &err))
		die("pages");
}

static struct schedtape_writer *create(const char *path, const char *recording, int stream)
{
	struct schedtape_writer_options options = { .size = sizeof(options), .level = 1 };
	struct json_object *meta = json_object_new_object(), *streams;
	struct schedtape_writer *w;
	int i;

	if (recording)
		json_object_object_add(meta, "recording", json_object_new_string(recording));
	if (stream >= 0) {
		json_object_object_add(meta, "stream", json_object_new_int(stream));
	} else if (recording) {
		streams = json_object_new_array();
		for (i = 0; i < STREAMS; i++) {
			struct json_object *one = json_object_new_object();

			json_object_object_add(one, "cpus",
					       json_object_new_string(i ? "1" : "0,3"));
			json_object_array_add(streams, one);
		}
		json_object_object_add(meta, "streams", streams);
	}
	if (tape_writer_create(path, meta, &options, &w, &err))
		die(path);
	schedtape_writer_clock(w, &sample_clock, &err);
	json_object_put(meta);
	return w;
}

static void put_end(struct schedtape_writer *w, uint32_t first, uint32_t step, uint64_t window)
{
	struct schedtape_cpu cpus[CPUS];
	struct schedtape_end end = {
		.size = sizeof(end),
		.start_time = 990, .stop_time = 60000, .window_start = window, .cpus = cpus,
	};
	uint32_t cpu;

	for (cpu = first; cpu < CPUS; cpu += step)
		cpus[end.nr_cpus++] = (struct schedtape_cpu) {
			.cpu = cpu, .events = CHUNKS * 40, .overwritten = window ? 5 : 0,
		};
	if (schedtape_writer_end(w, &end, &err) || schedtape_writer_close(w, &err))
		die("end");
}

static void make_stream(const char *path, const char *recording, unsigned int stream,
			unsigned int nr)
{
	struct schedtape_writer *w = create(path, recording, nr == 1 ? -1 : (int)stream);
	unsigned int chunk, cpu;
	struct schedtape_task_info task = { .pid = 7, .comm = "seven" };

	if (nr == 1)
		schedtape_writer_tasks(w, &task, 1, &err);
	for (chunk = 0; chunk < CHUNKS; chunk++)
		for (cpu = stream; cpu < CPUS; cpu += nr)
			put_chunk(w, cpu, chunk, 2 * chunk);
	put_end(w, stream, nr, 0);
}

/* Writes the same tape to one file and to a directory. */
static void make_tapes(void)
{
	struct schedtape_task_info task = { .pid = 7, .comm = "seven" };
	struct schedtape_writer *w;
	unsigned int i;

	make_stream(in_dir("one"), NULL, 0, 1);
	mkdir(in_dir("tape"), 0700);
	w = create(in_dir("tape/data"), "abc", -1);
	schedtape_writer_tasks(w, &task, 1, &err);
	for (i = 0; i < STREAMS; i++)
		make_stream(stream_file(i), "abc", i, STREAMS);
	put_end(w, 0, 1, 0);
}

/* -- reading --------------------------------------------------------------- */

static struct schedtape_tape *open_tape(const char *path)
{
	struct schedtape_tape *tape;

	return schedtape_tape_open(path, &tape, &err) ? NULL : tape;
}

static void close_tape(struct schedtape_tape *tape)
{
	const char *damage = schedtape_tape_damage(tape);

	snprintf(torn, sizeof(torn), "%s", damage ? damage : "");
	schedtape_tape_close(tape);
}

static void read_path(const char *path, struct events *e)
{
	struct schedtape_tape *tape = open_tape(path);

	if (!tape)
		die(path);
	events_read(tape, e);
	close_tape(tape);
}

TEST(same)
{
	struct events one = { 0 }, several = { 0 }, again = { 0 };
	struct schedtape_tape *tape;
	size_t n, i;
	uint64_t bytes = 0;
	struct stat st;

	read_path(in_dir("one"), &one);
	ok(one.n == EVENTS && events_sorted(&one) && !*torn, "one file: %zu events", one.n);
	tape = open_tape(in_dir("tape"));
	if (!ok(tape && !schedtape_tape_damage(tape), "a directory opens like a file"))
		die("tape");
	ok(schedtape_tape_chunks(tape) == CPUS * CHUNKS &&
	   schedtape_tape_pages(tape) == 2 * CPUS * CHUNKS, "it has all chunks");
	for (i = 0; i < STREAMS; i++)
		bytes += stat(stream_file(i), &st) ? 0 : st.st_size;
	bytes += stat(in_dir("tape/data"), &st) ? 0 : st.st_size;
	ok(schedtape_tape_bytes(tape) == bytes, "and the bytes of all files");
	ok(schedtape_tape_tasks(tape, &n)->pid == 7 && n == 1, "the main file's tasks");
	ok(schedtape_tape_end(tape)->nr_cpus == CPUS &&
	   schedtape_tape_end(tape)->stop_time == 60000, "and its end");
	events_read(tape, &several);
	ok(events_same(&one, &several), "the same events as in one file");
	for (i = 0; i < 20; i++) {
		schedtape_tape_rewind(tape, &err);
		if (i < 19)
			/* Threads are running when the tape is rewound. */
			schedtape_tape_next(tape, again.ev ? again.ev : several.ev, &err);
	}
	events_read(tape, &again);
	ok(events_same(&one, &again) && !schedtape_tape_damage(tape), "and again");
	schedtape_tape_close(tape);

	tape = open_tape(in_dir("tape/"));
	schedtape_tape_next(tape, again.ev, &err);
	schedtape_tape_close(tape);
	ok(tape, "closed while threads are at work");
	free(one.ev);
	free(several.ev);
	free(again.ev);
}

/* Number of events of one CPU, and of its gaps. */
static size_t count_cpu(const struct events *e, uint32_t cpu, size_t *gaps)
{
	size_t i, n = 0;

	*gaps = 0;
	for (i = 0; i < e->n; i++) {
		if (e->ev[i].cpu != cpu)
			continue;
		if (schedtape_event_is_gap(&e->ev[i]))
			++*gaps;
		else
			n++;
	}
	return n;
}

TEST(stream_alone)
{
	struct events e = { 0 };

	read_path(stream_file(1), &e);
	ok(e.n == CHUNKS * 40 && strstr(torn, "stream 1"), "a stream alone: %s", torn);
	free(e.ev);
}

TEST(missing)
{
	struct events e = { 0 };
	size_t gaps;

	rename(stream_file(0), in_dir("away"));
	read_path(in_dir("tape"), &e);
	ok(strstr(torn, "data.0: missing (CPUs 0,3)"), "a missing stream: %s", torn);
	ok(e.n == EVENTS / 2 + 2 && events_sorted(&e) && e.ret == 0, "the rest is read");
	ok(!count_cpu(&e, 3, &gaps) && gaps == 1, "its CPUs have lost all");
	ok(e.ev[0].type == SCHEDTAPE_EV_LOST && e.ev[0].lost == CHUNKS * 40 &&
	   e.ev[0].lost_first == 990 && e.ev[0].lost_last == 60000, "as much as the end says");
	rename(in_dir("away"), stream_file(0));

	rename(in_dir("tape/data"), in_dir("away"));
	read_path(in_dir("tape"), &e);
	ok(strstr(torn, "data: missing"), "a missing main file: %s", torn);
	ok(e.n == EVENTS, "all events are there");
	rename(in_dir("away"), in_dir("tape/data"));

	mkdir(in_dir("empty"), 0700);
	ok(!open_tape(in_dir("empty")) && strstr(err.text, "without the file"),
	   "an empty directory: %s", err.text);
	free(e.ev);
}

TEST(foreign)
{
	struct events e = { 0 };
	FILE *file;

	rename(stream_file(1), in_dir("away"));
	make_stream(stream_file(1), "xyz", 1, STREAMS);
	read_path(in_dir("tape"), &e);
	ok(strstr(torn, "of another recording") && e.n == EVENTS * 3 / 4 + 1,
	   "a foreign stream: %s", torn);
	link(in_dir("one"), stream_file(7));
	unlink(stream_file(1));
	rename(in_dir("away"), stream_file(1));
	read_path(in_dir("tape"), &e);
	ok(strstr(torn, "data.7") && e.n == EVENTS, "a tape in one file among them: %s", torn);
	unlink(stream_file(7));

	file = fopen(stream_file(8), "w");
	fputs("not a tape", file);
	fclose(file);
	mkfifo(stream_file(9), 0600);
	mkdir(stream_file(10), 0700);
	symlink("/nonexistent", stream_file(11));
	link(stream_file(2), in_dir("tape/data.02"));
	link(stream_file(2), in_dir("tape/data.x"));
	read_path(in_dir("tape"), &e);
	ok(strstr(torn, "data.8") && strstr(torn, "data.9") && strstr(torn, "data.10") &&
	   strstr(torn, "data.11") && !strstr(torn, "data.02"), "no tapes at all: %s", torn);
	ok(e.n == EVENTS && events_sorted(&e), "none of it gets in");
	unlink(stream_file(8));
	unlink(stream_file(9));
	rmdir(stream_file(10));
	unlink(stream_file(11));
	unlink(in_dir("tape/data.02"));
	unlink(in_dir("tape/data.x"));
	free(e.ev);
}

/* A stream that is truncated, at every position. */
TEST(torn_stream)
{
	size_t size, cut, gaps, wrong = 0, sound;
	struct events e = { 0 };
	unsigned char *data;
	int fd = open(stream_file(2), O_RDWR);
	struct blob b = { .fd = fd };

	data = blob_get(&b, &size);
	for (cut = 0; cut < size; cut += 61) {
		blob_put(&b, data, cut);
		read_path(in_dir("tape"), &e);
		sound = count_cpu(&e, 2, &gaps);
		wrong += !strstr(torn, "data.2") || e.ret || e.errors || !events_sorted(&e) ||
			 gaps != (sound < CHUNKS * 40) || e.n != EVENTS * 3 / 4 + sound + gaps;
	}
	ok(!wrong, "a truncated stream loses only its end, and says so (%zu wrong)", wrong);
	blob_put(&b, data, size);
	free(data);
	free(e.ev);
	close(fd);
}

/* -- overwritten rings ----------------------------------------------------- */

#define WINDOW	13000

TEST(window)
{
	struct schedtape_writer *w = create(in_dir("window"), NULL, -1);
	struct events all = { 0 }, e = { 0 };
	const struct schedtape_end *end;
	struct schedtape_tape *tape;
	unsigned int chunk, cpu;
	size_t i, from = 0;

	for (chunk = 0; chunk < CHUNKS; chunk++)
		for (cpu = 0; cpu < CPUS; cpu++)
			put_chunk(w, cpu, chunk, 2 * chunk + 100);
	put_end(w, 0, 1, WINDOW);
	read_path(in_dir("one"), &all);
	while (all.ev[from].time < WINDOW)
		from++;

	tape = open_tape(in_dir("window"));
	end = schedtape_tape_end(tape);
	ok(end->start_time == WINDOW && end->began == 990 && end->stop_time == 60000 &&
	   end->cpus[3].overwritten == 5, "the recording starts with the window");
	events_read(tape, &e);
	for (i = 0; i < e.n && e.ev[i].time == all.ev[from + i].time &&
	     e.ev[i].cpu == all.ev[from + i].cpu; i++)
		;
	ok(e.n == all.n - from && i == e.n && !schedtape_tape_damage(tape),
	   "no event and no loss from before the window");
	schedtape_tape_close(tape);
	free(all.ev);
	free(e.ev);
}

/* -- copies ---------------------------------------------------------------- */

static uint64_t progress_done, progress_total;
static int progress_ret;

static int count_progress(void *arg, uint64_t done, uint64_t total)
{
	(void)arg;
	if (done < progress_done || done > total)
		die("progress");
	progress_done = done;
	progress_total = total;
	return progress_ret;
}

static int copy(const char *from, const char *to, bool recover)
{
	struct schedtape_copy_options options = {
		.size = sizeof(options), .recover = recover, .progress = count_progress,
	};
	struct schedtape_tape *tape = open_tape(from);
	uint64_t bytes = 0;
	struct stat st;
	int ret;

	if (!tape)
		die(from);
	progress_done = 0;
	ret = schedtape_tape_copy(tape, to, &options, &bytes, &err);
	close_tape(tape);
	if (!ret && (stat(to, &st) || (uint64_t)st.st_size != bytes))
		die("the size of what was written");
	return ret;
}

TEST(pack)
{
	struct events one = { 0 }, packed = { 0 };
	struct schedtape_tape *tape;
	unsigned char *data, *at;
	struct blob b;
	size_t size, i;
	uint64_t time = 0;

	ok(!copy(in_dir("tape"), in_dir("packed"), false) && !*torn, "a directory is packed");
	ok(progress_done > progress_total / 2, "its progress is reported");
	read_path(in_dir("one"), &one);
	read_path(in_dir("packed"), &packed);
	ok(events_same(&one, &packed) && !*torn, "the same events: %s", torn);
	tape = open_tape(in_dir("packed"));
	ok(!json_object_object_get_ex(tape_meta(tape), "streams", NULL) &&
	   schedtape_tape_tasks(tape, &i)->pid == 7 && i == 1 &&
	   schedtape_tape_end(tape)->nr_cpus == CPUS && schedtape_tape_clocks(tape, &i) && i == 1,
	   "all else is there, once");
	schedtape_tape_close(tape);

	b.fd = open(in_dir("packed"), O_RDONLY);
	data = blob_get(&b, &size);
	for (i = 0; (at = find_record(data, size, 3, i)); i++) {
		uint64_t begins;

		memcpy(&begins, at + 32 + 16, 8);
		if (le64toh(begins) < time)
			break;
		time = le64toh(begins);
	}
	ok(i == CPUS * CHUNKS, "chunks are in order of time");
	close(b.fd);

	/* One byte of a chunk is wrong. */
	b.fd = open(stream_file(2), O_RDWR);
	free(data);
	data = blob_get(&b, &size);
	find_record(data, size, 3, 5)[100] ^= 1;
	blob_put(&b, data, size);
	ok(copy(in_dir("tape"), in_dir("packed"), false) == -EBADMSG &&
	   strstr(err.text, "wrong checksum"), "damage is not packed: %s", err.text);
	find_record(data, size, 3, 5)[100] ^= 1;
	blob_put(&b, data, size);
	close(b.fd);
	free(data);
	free(one.ev);
	free(packed.ev);
}

static uint64_t lost_of(struct schedtape_tape *tape, uint32_t cpu)
{
	return schedtape_tape_end(tape)->cpus[cpu].lost;
}

TEST(recover_damage)
{
	struct events before = { 0 }, after = { 0 };
	struct schedtape_tape *tape;
	unsigned char *data;
	struct blob b;
	size_t size;

	b.fd = open(in_dir("one"), O_RDWR);
	data = blob_get(&b, &size);
	find_record(data, size, 3, 9)[100] ^= 1;	/* CPU 1, its third */
	blob_put(&b, data, size);
	read_path(in_dir("one"), &before);
	ok(!copy(in_dir("one"), in_dir("two"), true) &&
	   strstr(torn, "wrong checksum"), "recovered: %s", torn);
	tape = open_tape(in_dir("two"));
	ok(tape && !schedtape_tape_damage(tape), "the copy is whole");
	ok(json_object_object_get_ex(tape_meta(tape), "recovered", NULL),
	   "and says that it was recovered");
	events_read(tape, &after);
	ok(after.n == before.n && events_count(&after, SCHEDTAPE_EV_LOST) == 1 &&
	   events_sorted(&after) && !after.errors, "with all other events, and a loss");
	ok(lost_of(tape, 1) == 40 && !lost_of(tape, 0), "which is counted");
	schedtape_tape_close(tape);

	ok(!copy(in_dir("two"), in_dir("three"), true) && !*torn, "a whole tape is copied");
	read_path(in_dir("three"), &before);
	ok(events_same(&before, &after) && !*torn, "as it is");
	find_record(data, size, 3, 9)[100] ^= 1;
	blob_put(&b, data, size);
	close(b.fd);
	free(data);
	free(before.ev);
	free(after.ev);
}

/* A message has room for the damage of many files, because it explains only once what it means. */
TEST(unfinished)
{
	struct events events = { 0 };

	mkdir(in_dir("killed"), 0700);
	schedtape_writer_close(create(in_dir("killed/data"), "abc", -1), &err);
	schedtape_writer_close(create(in_dir("killed/data.0"), "abc", 0), &err);
	read_path(in_dir("killed"), &events);
	ok(strstr(torn, "still runs: no end record") && strstr(torn, "data.0: no end record"),
	   "no file of a recording that was killed has an end: %s", torn);
	free(events.ev);
}

/* Cut anywhere, a recovered tape has the same events, and is complete. */
TEST(recover_torn)
{
	struct events before = { 0 }, after = { 0 };
	size_t size, cut, i, wrong = 0;
	struct schedtape_tape *tape;
	unsigned char *data;
	struct blob b;

	b.fd = open(in_dir("one"), O_RDWR);
	data = blob_get(&b, &size);
	for (cut = 40; cut < size; cut += 97) {
		blob_put(&b, data, cut);
		read_path(in_dir("one"), &before);
		if (copy(in_dir("one"), in_dir("two"), true) || !*torn) {
			wrong++;
			continue;
		}
		read_path(in_dir("two"), &after);
		tape = open_tape(in_dir("two"));
		wrong += *torn || !events_same(&before, &after) ||
			 (before.n && schedtape_tape_end(tape)->stop_time !=
				      before.ev[before.n - 1].time);
		schedtape_tape_close(tape);
	}
	ok(!wrong, "cut anywhere, recovered, whole (%zu wrong)", wrong);
	blob_put(&b, data, size);
	close(b.fd);

	/* A stream and the main file's end are missing. */
	unlink(stream_file(1));
	b.fd = open(in_dir("tape/data"), O_RDWR);
	free(data);
	data = blob_get(&b, &size);
	blob_put(&b, data, size - 16);
	ok(!copy(in_dir("tape"), in_dir("two"), true), "a directory: %s", torn);
	read_path(in_dir("two"), &after);
	ok(after.n == EVENTS * 3 / 4 && !*torn && events_sorted(&after), "the rest is whole");
	for (i = 0; i < after.n && !schedtape_event_is_gap(&after.ev[i]); i++)
		;
	ok(i == after.n, "no loss is known of a CPU that no record names");
	close(b.fd);
	free(data);
	free(before.ev);
	free(after.ev);
}

TEST(copy_fails)
{
	ok(copy(in_dir("one"), "/dev/full", false) == -ENOSPC &&
	   strstr(err.text, "/dev/full"), "a full disk: %s", err.text);
	ok(copy(in_dir("one"), "/nonexistent/x", true) == -ENOENT,
	   "nowhere to write to: %s", err.text);
	progress_ret = -EINTR;
	ok(copy(in_dir("one"), in_dir("two"), false) == -EINTR &&
	   progress_done < progress_total, "somebody does not want it: %s", err.text);
	progress_ret = 0;
}

int main(void)
{
	char command[64];

	if (!mkdtemp(dir))
		return 1;
	make_tapes();
	tap_run();
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	return system(command) || tap_done();
}
