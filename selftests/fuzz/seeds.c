// SPDX-License-Identifier: GPL-2.0-only
/* First inputs of fuzzers: seeds DIRECTORY WHAT, one of those in main() or "page" */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <schedtape.h>
#include <tape/write.h>

#include "../unit/image.h"
#include "../unit/points.h"
#include "../unit/tapes.h"

static struct sample sample;

static void write_file(const char *dir, const char *name, const void *data, size_t bytes)
{
	char path[4096];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	file = fopen(path, "w");
	if (!file || fwrite(data, bytes, 1, file) != 1 || fclose(file)) {
		perror(path);
		exit(1);
	}
}

static void write_page(const char *dir, const char *name, const void *page)
{
	write_file(dir, name, page, STAPE_PAGE_SIZE);
}

/* A page with descriptions, pauses, and SET words. */
static void make_page(unsigned char *page)
{
	uint64_t words[5] = { 3, maker_prio_word(0, 0, 0, 119, false), 2000000, 1, 3 };
	const uint64_t mask = 6;
	struct maker m;

	maker_begin(&m, page, 1, 0, 1000);
	maker_lost(&m, 3, 500, 900);
	maker_paused(&m, 500, 900);
	maker_task(&m, 1100, 3, STAPE_TASK_ENTERS, "task", words);
	maker_waking(&m, 1150, 4, STAPE_CTX_HARDIRQ);
	maker_wake(&m, 1200, 3, STAPE_CTX_SOFTIRQ_TASK, 1210, 1);
	maker_switch(&m, 1300, 3, STAPE_NEXT_TASK, STAPE_STATE_SLEEPING);
	maker_prio(&m, 1400, 3, maker_prio_word(1, -7, 13, 86, true));
	maker_affinity(&m, 1450, 3, &mask, 1);
	maker_trigger(&m, 1460, 3, 7, STAPE_TRIGGER_LASTS | 1ULL << STAPE_TRIGGER_KIND_SHIFT);
	maker_event(&m, 1500, STAPE_EV_FORK, 4, STAPE_FORK_THREAD);
	maker_task(&m, 1600, 3, STAPE_TASK_LEAVES, "task", words);
	maker_switch(&m, 1700, 4, STAPE_NEXT_TASK, STAPE_STATE_RUNNING);
	maker_exec(&m, 1750, 3, 4);
	maker_task(&m, 1800, 3, STAPE_TASK_EXITS, "task", words);
	maker_event(&m, 1800, STAPE_EV_EXIT, 3, 0);
	maker_switch(&m, 1900, 0, STAPE_NEXT_IDLE, STAPE_STATE_DEAD);
}

/* Four descriptions, then pages. */
static void write_timeline(const char *dir)
{
	static unsigned char file[16 + 3 * STAPE_PAGE_SIZE] = {
		3, 1, 3, 0, 4, 0, 3, 1, 3, 0, 0x23, 200, 5, 1, 4, 255,
	};

	make_page(file + 16);
	memcpy(file + 16 + STAPE_PAGE_SIZE, sample.pages[0][0], STAPE_PAGE_SIZE);
	memcpy(file + 16 + 2 * STAPE_PAGE_SIZE, sample.pages[1][1], STAPE_PAGE_SIZE);
	write_file(dir, "timeline", file, sizeof(file));
}

/* Adds descriptions of cgroups: a valid one, and a wrong one. */
static void describe_more(struct json_object *meta)
{
	static const char cgroups[] =
		"[{\"id\": 18446744073709551615, \"path\": \"/a/b\", \"weight\": 100,"
		" \"idle\": true, \"max\": \"1000 5000\", \"cpus\": \"0-1\"}, {\"id\": 0}]";

	json_object_object_add(meta, "cgroups", json_tokener_parse(cgroups));
	json_object_object_add(meta, "sched_settings",
			       json_tokener_parse("{\"files\": {\"a\": \"1\"}}"));
	json_object_object_add(meta, "calibration",
			       json_tokener_parse("{\"spins_per_ms\": 1e5, \"spread\": 0.01}"));
}

static void write_tape(const char *dir, const char *name, int level, unsigned int batches)
{
	struct schedtape_error err;
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	if (sample_write(&sample, path, level, batches, &err)) {
		fprintf(stderr, "%s\n", err.text);
		exit(1);
	}
}

/* A tape as it goes into a pipe, with a counter clock. */
static void write_piped(const char *dir)
{
	struct stape_clock_sample clock = { .counter = 100, .mono = 50, .khz = 2000000 };
	struct schedtape_progress progress = { .size = sizeof(progress), .start_time = 50 };
	struct schedtape_writer *w;
	struct schedtape_error err;
	char path[4096];
	unsigned int i;

	snprintf(path, sizeof(path), "%s/piped", dir);
	if (tape_writer_create(path, sample.meta, NULL, &w, &err))
		exit(1);
	schedtape_writer_clock(w, &clock, &err);
	schedtape_writer_progress(w, &progress, &err);
	schedtape_writer_tasks(w, sample.tasks, 1, &err);
	for (i = 0; i < SAMPLE_BATCHES; i++) {
		clock.counter += 4000000;
		clock.mono += 2000000;
		progress.time = 1000 + 100 * i;
		schedtape_writer_clock(w, &clock, &err);
		schedtape_writer_pages(w, sample.pages[i], 1, &err);
		schedtape_writer_progress(w, &progress, &err);
		schedtape_writer_tasks(w, sample.tasks + 1, 1, &err);
	}
	schedtape_writer_end(w, &sample.end, &err);
	schedtape_writer_close(w, &err);
}

/* A tape with other tracepoints, of two CPUs. */
static void write_points(const char *dir)
{
	const struct point_exit exits[] = { point_exit(1, 0), point_exit(2, 1) };
	struct schedtape_sample samples[] = {
		{ .time = 1010, .pid = 7, .tid = 8, .bytes = sizeof(*exits), .data = &exits[0] },
		{ .time = 1020, .lost = 9, .bytes = sizeof(*exits), .data = &exits[1] },
		{ .time = 1015, .cpu = 3, .bytes = 5, .data = &exits[0] },
	};
	struct schedtape_writer *w;
	struct schedtape_error err;
	char path[4096];

	snprintf(path, sizeof(path), "%s/points", dir);
	if (tape_writer_create(path, sample.meta, NULL, &w, &err))
		exit(1);
	schedtape_writer_formats(w, &points_formats, &err);
	schedtape_writer_samples(w, samples, 2, &err);
	schedtape_writer_samples(w, samples + 2, 1, &err);
	schedtape_writer_end(w, &sample.end, &err);
	schedtape_writer_close(w, &err);
}

/* Ends a tape in a file without a name.  Returns its bytes, which the caller frees. */
static unsigned char *end_tape(struct schedtape_writer *w, const struct schedtape_end *end,
			       struct json_object *meta, struct blob *b, size_t *size)
{
	struct schedtape_error err;
	unsigned char *data;

	schedtape_writer_end(w, end, &err);
	schedtape_writer_close(w, &err);
	json_object_put(meta);
	data = blob_get(b, size);
	close(b->fd);
	return data;
}

/* A tape with a counter clock, with one batch, or with everything but batches. */
static unsigned char *make_file(int stream, size_t *size)
{
	const struct stape_clock_sample clocks[] = {
		{ .counter = 100, .mono = 50, .boot = 50, .real = 1000000, .khz = 2000000 },
		{ .counter = 4000100, .mono = 2000050, .khz = 2000000, .unstable = 1 },
	};
	static const struct schedtape_scheduler scheduler = {
		.time = 60, .after = 50, .state = "enabled", .ops = "simple", .enable_seq = 1,
	};
	static const struct schedtape_player players[] = {
		{ .time = 60, .task_start = 50, .pid = 3, .task_pid = 100 },
		{ .time = 61, .task_start = 50, .pid = 4, .task_pid = 101 },
	};
	static const char cgroups[] =
		"{\"began\":60,\"time\":61,\"cgroups\":[{\"id\":7,\"path\":\"/a\","
		"\"max\":\"20000 100000\",\"stat\":{\"nr_periods\":9,\"nr_throttled\":1,"
		"\"throttled_usec\":8}},{\"id\":8,\"path\":\"/b\"}]}";
	struct json_object *meta = json_object_new_object(), *object;
	struct schedtape_end end = sample.end;
	struct schedtape_writer *w;
	struct schedtape_error err;
	struct blob b;

	json_object_object_add(meta, "recording", json_object_new_string("r"));
	if (stream < 0)
		json_object_object_add(meta, "streams", json_tokener_parse("[{}, {}]"));
	else
		json_object_object_add(meta, "stream", json_object_new_int(stream));
	end.window_start = 1100;
	blob_init(&b);
	if (tape_writer_create(b.path, meta, NULL, &w, &err))
		exit(1);
	schedtape_writer_clock(w, &clocks[0], &err);
	schedtape_writer_scheduler(w, &scheduler, &err);
	object = json_tokener_parse(cgroups);
	tape_writer_json(w, TAPE_CGROUPS, object, &err);
	json_object_put(object);
	if (stream < 0) {
		schedtape_writer_tasks(w, sample.tasks, 2, &err);
		schedtape_writer_players(w, players, 2, &err);
	} else {
		schedtape_writer_pages(w, sample.pages[stream], 2, &err);
	}
	schedtape_writer_clock(w, &clocks[1], &err);
	return end_tape(w, &end, meta, &b, size);
}

static void write_directory(const char *dir)
{
	static unsigned char file[65536];
	unsigned char *data;
	size_t size, at = 4;
	int i;

	for (i = -1; i < 2; i++) {
		data = make_file(i, &size);
		if (i < 1) {
			file[2 * (i + 1)] = size;
			file[2 * (i + 1) + 1] = size >> 8;
		}
		memcpy(file + at, data, size);
		at += size;
		free(data);
	}
	write_file(dir, "three", file, at);
}

/* One of two tapes of a recorder: the second one has what the first one has, and more. */
static unsigned char *make_part(int part, size_t *size)
{
	struct stape_clock_sample clock = { .counter = 100, .mono = 50, .khz = 2000000 };
	struct json_object *meta = json_object_new_object();
	struct schedtape_end end = sample.end;
	struct schedtape_writer *w;
	struct schedtape_error err;
	struct blob b;
	int i;

	json_object_object_add(meta, "recording", json_object_new_string("r"));
	json_object_object_add(meta, "part", json_object_new_int(part));
	end.window_start = 1000;
	blob_init(&b);
	if (tape_writer_create(b.path, meta, NULL, &w, &err))
		exit(1);
	schedtape_writer_tasks(w, sample.tasks, 2, &err);
	for (i = 0; i < part; i++) {
		schedtape_writer_clock(w, &clock, &err);
		clock.counter += 4000000;
		clock.mono += 2000000;
		schedtape_writer_pages(w, sample.pages[i], 2, &err);
	}
	return end_tape(w, &end, meta, &b, size);
}

static void write_parts(const char *dir)
{
	static unsigned char file[65536];
	unsigned char *data;
	size_t size, at = 2;
	int part;

	for (part = 1; part <= 2; part++) {
		data = make_part(part, &size);
		if (part == 1) {
			file[0] = size;
			file[1] = size >> 8;
		}
		memcpy(file + at, data, size);
		at += size;
		free(data);
	}
	write_file(dir, "two", file, at);
}

/* All options with arguments, in all their forms. */
static void write_options(const char *dir)
{
	static const char * const lines[] = {
		"record\n-p\n1,2,300\n-t4\n--cgroup=/,id:1\n--exclude-comm=sh\n-i\n-D\n-1",
		"record\n--exclude-comm=[!a-z]*\\?b\n-a\n--kthreads\n-D10-20,30-40\n-k\nmono",
		"record\n-C\n0-1,3\n--threads=0-1/0:2/2\n-m\n256K\n-z22\n-r9\n-o\na/\n--\nx",
		"record\n-C0\n--threads=numa\n-z\n-kCLOCK_MONOTONIC\n--duration=0.5\n-m64\n-D5",
		"record\n-a\n--threads=core\n--overwrite\n--control=fd:3,4\n-ktsc\n-q\n-oFILE",
		"record\n-a\n--threads\n--control=fifo:a,b\nenable\nping\nstop\ndisable",
		"record\n-a\n-M\n64M\n--trigger=a=latency:5ms,after=1s,holdoff=10s,max=3,then=stop",
		"record\n-a\n-M1G\n--trigger=exec:true,every=1s\n--trigger\nbpf:/sys/fs/bpf/a",
		"record\n-a\n-M1G\n--trigger=psi:cpu some 150000 1000000\n--trigger=rate:9/s",
		"record\n-a\n--overwrite\n--no-final\n--trigger=blocked:1s\n--trigger=burst:1ms,task=a*",
		"record\n-a\n-M1G\n--snapshot-max-bytes=1G\n--daemon\n--log=a\n--pidfile=b",
		"record\n-a\n--switch-output=10s\n--switch-max-files=3\n--name=a\n--syscalls",
		"record\n-a\n--switch-output=signal\n--max-size=2G\n--log=journal",
		"record\n-a\n-e\nirq:*,sched:sched_switch\n--filter\nirq == 9\n--no-follow",
		"replay\n--only=a*[b-d]?\n--only=pid=100,2-3\n--exclude=tgid=100\n--time=1.5,2",
		"replay\n--only=cgroup=/a\n--exclude=cgroup=id:9\n--exclude=cgroup=/b\n--time=,3",
		"replay\n--cpus=0-3:0,4-7:0\n--speed=0.5\n--scale-cpu=2\n--burn=work\n-r3",
		"replay\n--cpus=0\n--external=relative\n--engine=user\n--cgroups=a\n--loop\n--time=7",
		"replay\n10%/2,50%-60%\n+1,+2.5\n2026-11-24 12:00:03.5Z,12:01\n12:00, 1,2",
		"replay\n--cgroups\n--record=b\n--external=auto\n--burn=time\n--no-attributes\n-q",
	};
	char name[8];
	size_t i;

	for (i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		snprintf(name, sizeof(name), "%zu", i);
		write_file(dir, name, lines[i], strlen(lines[i]));
	}
}

static void write_memory(const char *dir)
{
	static unsigned char data[IMAGE_MADE * STAPE_PAGE_SIZE];
	struct image image = { .data = data, .bytes = sizeof(data) };

	image_make(&image);
	write_file(dir, "memory", data, sizeof(data));
}

/* A byte, a format, a 0, and a sample's data: see fuzz-decode.c. */
static void write_decode(const char *dir)
{
	const struct point_entry entry = point_entry(9, "eth0");
	const struct point_exit ended = point_exit(9, 1);
	const struct point_all all = point_all();
	const struct {
		const char *format;
		const void *data;
		size_t bytes;
	} inputs[] = {
		{ points[0].format, &entry, sizeof(entry) },
		{ points[1].format, &ended, sizeof(ended) },
		{ point_all_format, &all, sizeof(all) },
	};
	char file[4096], name[16];
	size_t i, len;

	for (i = 0; i < 6; i++) {
		file[0] = points_formats.big_endian | (i < 3 ? 0 : 4);
		len = strlen(inputs[i % 3].format) + 1;
		memcpy(file + 1, inputs[i % 3].format, len);
		memcpy(file + 1 + len, inputs[i % 3].data, inputs[i % 3].bytes);
		/* The number that fuzz-decode gives to the only format. */
		if (i < 3)
			memcpy(file + 1 + len, &ended.type, sizeof(ended.type));
		snprintf(name, sizeof(name), "%zu", i);
		write_file(dir, name, file, 1 + len + inputs[i % 3].bytes);
	}
}

int main(int argc, char **argv)
{
	if (argc != 3)
		return 2;
	sample_make(&sample);
	if (!strcmp(argv[2], "tape") || !strcmp(argv[2], "export")) {
		describe_more(sample.meta);
		write_tape(argv[1], "empty", 0, 0);
		write_tape(argv[1], "raw", 0, 1);
		write_tape(argv[1], "raw-whole", 0, SAMPLE_ALL);
		write_tape(argv[1], "zstd", 3, 2);
		write_tape(argv[1], "zstd-whole", 3, SAMPLE_ALL);
		write_piped(argv[1]);
		write_points(argv[1]);
	} else if (!strcmp(argv[2], "directory")) {
		write_directory(argv[1]);
	} else if (!strcmp(argv[2], "join")) {
		write_parts(argv[1]);
	} else if (!strcmp(argv[2], "timeline") || !strcmp(argv[2], "compare") ||
		   !strcmp(argv[2], "table")) {
		write_timeline(argv[1]);
	} else if (!strcmp(argv[2], "options")) {
		write_options(argv[1]);
	} else if (!strcmp(argv[2], "decode")) {
		write_decode(argv[1]);
	} else if (!strcmp(argv[2], "vmcore")) {
		write_memory(argv[1]);
	} else {
		write_page(argv[1], "native", sample.pages[0][0]);
		write_page(argv[1], "lost", sample.pages[1][1]);
		make_page(sample.pages[2][0]);
		write_page(argv[1], "tasks", sample.pages[2][0]);
		maker_swap_page(sample.pages[2][0]);
		write_page(argv[1], "tasks-swapped", sample.pages[2][0]);
		maker_swap_page(sample.pages[1][0]);
		write_page(argv[1], "swapped", sample.pages[1][0]);
	}
	json_object_put(sample.meta);
	return 0;
}
