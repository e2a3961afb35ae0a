// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: info shows the quotas of cgroups and what the kernel has counted of them; why takes
 * the times in which the tape says that a cgroup was throttled; without them, the quota that held
 * during a wait, and none if the counts exclude that it throttled the task.
 */
#include <sched.h>

#include <tape/write.h>

#include "pipes.h"
#include "printed.h"

#define MS	1000000ULL

#define ALL	"\"filter\":{\"all\":true,\"kthreads\":true}"
#define OLD	"{" ALL ",\"cgroups\":[{\"id\":6,\"path\":\"/a\"}," \
		"{\"id\":7,\"path\":\"/a/b\",\"max\":\"20000 100000\"}]}"

/**
 * struct look - a CGROUPS record
 * @time: when its cgroups were read, ms; 0: there are no more
 * @cgroups: the list
 */
struct look {
	unsigned int time;
	const char *cgroups;
};

static void put_look(struct schedtape_writer *writer, const struct look *look)
{
	struct json_object *object = json_object_new_object();
	struct schedtape_error err;

	json_object_object_add(object, "began", json_object_new_uint64(look->time * MS));
	json_object_object_add(object, "time", json_object_new_uint64(look->time * MS));
	json_object_object_add(object, "cgroups", json_tokener_parse(look->cgroups));
	tape_writer_json(writer, TAPE_CGROUPS, object, &err);
	json_object_put(object);
}

static void put_progress(struct schedtape_writer *writer, uint64_t time)
{
	struct schedtape_progress progress = {
		.size = sizeof(progress), .time = time, .start_time = 1000 * MS,
	};
	struct stape_clock_sample sample = { .counter = time, .mono = time, .khz = 1000000 };
	struct schedtape_error err;

	schedtape_writer_clock(writer, &sample, &err);
	schedtape_writer_progress(writer, &progress, &err);
}

/*
 * 10, in the cgroup 7, has to wait for an idle CPU from 1.010 to 1.090, from 1.100 to 1.180, and
 * from 1.190 to 1.270; and 20, of no cgroup, on another CPU from 1.015 to 1.095.  At last 10
 * waits for 0.5 ms.
 */
static void make_pages(unsigned char (*pages)[STAPE_PAGE_SIZE], uint64_t *events)
{
	struct stape_page_header header;
	struct maker m;
	unsigned int i;

	maker_begin(&m, pages[0], 0, 0, 1000 * MS);
	maker_story(&m, "1000ms R -> 10; 1010ms R -> idle; 1090ms R -> 10; 1100ms R -> idle");
	maker_begin(&m, pages[1], 0, 1, 1180 * MS);
	m.header.curr_kind = STAPE_NEXT_IDLE;
	maker_story(&m, "1180ms R -> 10; 1190ms R -> idle; 1270ms R -> 10; 1280ms R -> idle; "
			"1280.5ms R -> 10; 1290ms X -> idle");
	maker_begin(&m, pages[2], 3, 0, 1000 * MS);
	maker_story(&m, "1005ms R -> 20; 1015ms R -> idle; 1095ms R -> 20; 1099ms X -> idle");
	for (i = 0; i < 3; i++) {
		memcpy(&header, pages[i], sizeof(header));
		events[header.cpu == 3] += header.events;
	}
}

/* The first two looks come before the second page of CPU 0, the others behind it. */
static void make_quotas(const char *meta, const struct look *looks)
{
	static const struct schedtape_task_info tasks[] = {
		{ .time = 1000 * MS, .start_time = 5, .pid = 10, .tgid = 10, .cgroup = 7 },
		{ .time = 1000 * MS, .start_time = 6, .pid = 20, .tgid = 20 },
	};
	static unsigned char pages[3][STAPE_PAGE_SIZE];
	struct schedtape_cpu cpus[] = { { .cpu = 0 }, { .cpu = 3 } };
	struct schedtape_end end = {
		.size = sizeof(end), .start_time = 1000 * MS, .stop_time = 2000 * MS,
		.cpus = cpus, .nr_cpus = 2,
	};
	uint64_t events[2] = { 0 };
	struct schedtape_error err;
	struct schedtape_writer *writer;
	unsigned int i;

	make_pages(pages, events);
	cpus[0].events = events[0];
	cpus[1].events = events[1];
	if (schedtape_writer_create(the_tape.path, meta, NULL, &writer, &err))
		printf("Bail out! %s\n", err.text);
	for (i = 0; i < 1 && looks[i].time; i++)
		put_look(writer, &looks[i]);
	put_progress(writer, 1);
	schedtape_writer_tasks(writer, tasks, 2, &err);
	schedtape_writer_pages(writer, pages[0], 1, &err);
	schedtape_writer_pages(writer, pages[2], 1, &err);
	for (; i < 2 && looks[i].time; i++)
		put_look(writer, &looks[i]);
	put_progress(writer, 1150 * MS);
	schedtape_writer_pages(writer, pages[1], 1, &err);
	put_progress(writer, 1500 * MS);
	for (; looks[i].time; i++)
		put_look(writer, &looks[i]);
	if (schedtape_writer_end(writer, &end, &err) || schedtape_writer_close(writer, &err))
		printf("Bail out! %s\n", err.text);
}

static void why(const char *path, const char *a, const char *b)
{
	run_on("-i", cmd_why, path, a, b);
	squeeze_blanks();
}

#define WAIT1	" 100.00 % 80.000 1 1.010000 ?:10 was ready, its CPU was idle"
#define WAIT2	" 100.00 % 80.000 1 1.100000 ?:10 was ready, its CPU was idle"
#define WAIT3	" 100.00 % 80.000 1 1.190000 ?:10 was ready, its CPU was idle"

static void info(const char *option)
{
	ok(!run(cmd_info, option), "info");
}

/* META alone: any wait may be of the quota. */
TEST(old)
{
	static const struct look looks[] = { { 0 } };

	make_quotas(OLD, looks);
	why(the_tape.path, "10", NULL);
	has(WAIT1 ": perhaps throttled (cpu.max 20 %)\n", "the first wait");
	has(WAIT3 ": perhaps throttled (cpu.max 20 %)\n", "the last one");
	has("\n# Perhaps throttled: cpu.max of the cgroup /a/b is 20 % of a CPU.\n", "the quota");
	why(the_tape.path, "10", "--at=1.2804");
	has(" 100.00 % 0.500 1 1.280000 ?:10 was ready, its CPU was idle\n", "a CPU wakes up");
	why(the_tape.path, "20", NULL);
	has("?:20 was ready, its CPU was idle\n", "a task that is in no cgroup");
	info(NULL);
	has("\nquota            : /a/b: 20 % of a CPU\n", "nothing is counted");
	info("--json");
	squeeze();
	has("\"quotas\":[{\"cgroup\":\"/a/b\",\"id\":7,\"changes\":[{\"time_ns\":null,"
	    "\"quota_ns\":20000000,\"period_ns\":100000000}],\"counts\":null}]", "as JSON");
}

/* Before format 2.11, only tapes of all tasks tell when CPUs are idle. */
TEST(before_idle)
{
	static const char some[] = "{\"cgroups\":[{\"id\":7,\"path\":\"/b\","
				   "\"max\":\"20000 100000\"}]}";
	static const struct look looks[] = { { 0 } };

	make_quotas(some, looks);
	why(the_tape.path, "10", NULL);
	has(WAIT1 ": perhaps throttled (cpu.max 20 %)\n", "a CPU that the tape says was idle");
	blob_make_older(&the_tape, 10);
	why(the_tape.path, "10", NULL);
	has(" 100.00 % 80.000 1 1.010000 ?:10 was ready, what its CPU did is not known\n",
	    "one of an older tape");
	has("\n# What its CPU did is not known: tapes tell when CPUs were idle since format 2.11;",
	    "the reason");
	has_not("hrottled", "so no quota is to blame");
	make_quotas(OLD, looks);
	blob_make_older(&the_tape, 10);
	why(the_tape.path, "10", NULL);
	has(WAIT1 ": perhaps throttled (cpu.max 20 %)\n", "an older tape of all tasks");
}

#define B(max, counts)	"[{\"id\":7," max "\"path\":\"/a/b\",\"stat\":{" counts "}}]"
#define MAX(percent)	"\"max\":\"" percent "000 100000\","
#define COUNTS(periods, throttled, us)	"\"nr_periods\":" periods ",\"nr_throttled\":" throttled \
					",\"throttled_usec\":" us

TEST(change)
{
	static const struct look looks[] = {
		{ 900, B(MAX("20"), COUNTS("5", "3", "4000")) },
		{ 1150, B(MAX("40"), COUNTS("7", "3", "4000")) },
		{ 2100, B(MAX("40"), COUNTS("1239", "4", "160000")) },
		{ 0 }
	};

	make_quotas(OLD, looks);
	why(the_tape.path, "10", NULL);
	has(WAIT1 "\n", "nothing was throttled before the change");
	has(WAIT2 ": perhaps throttled (cpu.max 40 %)\n", "the wait in which it came");
	has(WAIT3 ": perhaps throttled (cpu.max 40 %)\n", "the wait behind it");
	has("\n# Perhaps throttled: cpu.max of the cgroup /a/b is 20 %, then 40 % of a CPU; it was "
	    "throttled in 1 of 1,234 periods, for 0.156 s.\n", "both quotas");
	why(the_tape.path, "--summary", "--json");
	squeeze();
	has("idle:perhapsthrottled\",\"time_ns\":160000000,", "the summary");
	why(the_tape.path, "10", "--json");
	squeeze();
	has("\"kind\":\"perhaps_throttled\",\"pid\":10,\"comm\":\"\",\"cgroup_id\":7,"
	    "\"cgroup\":\"/a/b\",\"quota_ns\":40000000,\"period_ns\":100000000,",
	    "the quota as JSON");
	info(NULL);
	has("\nquota            : /a/b: 20 % of a CPU, then 40 % of a CPU from 1.150000 on; "
	    "throttled in 1 of 1,234 periods, for 0.156000 s\n", "info");
	info("--json");
	squeeze();
	has("{\"time_ns\":1150000000,\"quota_ns\":40000000,\"period_ns\":100000000}]", "a change");
	has("\"counts\":{\"periods\":1234,\"throttled_periods\":1,\"throttled_ns\":156000000,"
	    "\"until_ns\":2100000000}", "counts");
}

/* Counts that grow before the wait or behind it are of other waits. */
TEST(counts)
{
	static const struct look looks[] = {
		{ 900, B(MAX("20"), COUNTS("5", "3", "4000")) },
		{ 1100, B(MAX("30"), COUNTS("5", "4", "4000")) },
		{ 1180, B(MAX("30"), COUNTS("5", "4", "4000")) },
		{ 2100, B(MAX("30"), COUNTS("5", "4", "4001")) },
		{ 0 }
	};

	static const struct look gaps[] = {
		{ 900, B(MAX("20"), COUNTS("5", "3", "4000")) },
		{ 1005, B(MAX("20"), "\"usage_usec\":7") },
		{ 1095, B(MAX("20"), "\"usage_usec\":7") },
		{ 1185, B(MAX("20"), COUNTS("5", "3", "4000")) },
		{ 0 }
	};
	static const struct look late[] = {
		{ 1050, B(MAX("20"), COUNTS("5", "3", "4000")) },
		{ 2100, B(MAX("20"), COUNTS("5", "3", "4000")) },
		{ 0 }
	};

	make_quotas(OLD, gaps);
	why(the_tape.path, "10", NULL);
	has(WAIT1 "\n", "the nearest counts are not those of the nearest looks");
	has(WAIT2 "\n", "also not after them");
	make_quotas("{" ALL "}", late);
	why(the_tape.path, "10", NULL);
	has(WAIT1 ": perhaps throttled (cpu.max 20 %)\n", "the counts began too late");
	has(WAIT2 "\n", "but not for the next wait");
	make_quotas(OLD, looks);
	why(the_tape.path, "10", NULL);
	has(WAIT1 ": perhaps throttled (cpu.max 20 %)\n", "a period more");
	has(WAIT2 "\n", "none");
	has(WAIT3 ": perhaps throttled (cpu.max 30 %)\n", "a microsecond more");
}

TEST(never)
{
	static const struct look looks[] = {
		{ 900, B(MAX("20"), COUNTS("5", "3", "4000")) },
		{ 2100, B(MAX("20"), COUNTS("9", "3", "4000")) },
		{ 0 }
	};
	static const struct look early[] = {
		{ 900, B(MAX("20"), COUNTS("5", "3", "4000")) },
		{ 1200, B(MAX("30"), COUNTS("9", "3", "4000")) },
		{ 0 }
	};
	static const struct look uncounted[] = {
		{ 900, B(MAX("20"), "\"usage_usec\":7") },
		{ 2100, B(MAX("20"), "\"usage_usec\":7") },
		{ 0 }
	};

	make_quotas(OLD, looks);
	why(the_tape.path, "10", NULL);
	has(WAIT1 "\n", "it was never throttled");
	has_not("hrottled", "so nothing is");
	info(NULL);
	has("\nquota            : /a/b: 20 % of a CPU; never throttled\n", "info says so");
	make_quotas(OLD, early);
	why(the_tape.path, "10", NULL);
	has(WAIT2 "\n", "so far");
	has(WAIT3 ": perhaps throttled (cpu.max 30 %)\n", "then nobody has counted");
	info(NULL);
	has("; never throttled, as of 1.200000\n", "info says until when");
	make_quotas(OLD, uncounted);
	why(the_tape.path, "10", NULL);
	has(WAIT1 ": perhaps throttled (cpu.max 20 %)\n", "without counts it may have been");
	info(NULL);
	has("\nquota            : /a/b: 20 % of a CPU\n", "and info says nothing else");
}

TEST(set_and_removed)
{
	static const struct look set[] = {
		{ 900, B("", COUNTS("5", "3", "4000")) },
		{ 1150, B(MAX("40"), COUNTS("7", "3", "4000")) },
		{ 2100, B(MAX("40"), COUNTS("9", "9", "9000")) },
		{ 0 }
	};
	static const struct look removed[] = {
		{ 900, B(MAX("20"), COUNTS("5", "3", "4000")) },
		{ 1150, B("", COUNTS("7", "9", "9000")) },
		{ 2100, B("", COUNTS("7", "9", "9000")) },
		{ 0 }
	};

	make_quotas(OLD, set);
	why(the_tape.path, "10", NULL);
	has(WAIT1 "\n", "before there is a quota");
	has(WAIT2 ": perhaps throttled (cpu.max 40 %)\n", "when it is set");
	has("cpu.max of the cgroup /a/b is 40 % of a CPU;", "the quota");
	info(NULL);
	has(" /a/b: none, then 40 % of a CPU from 1.150000 on;", "info");
	make_quotas(OLD, removed);
	why(the_tape.path, "10", NULL);
	has(WAIT1 ": perhaps throttled (cpu.max 20 %)\n", "a quota that is removed later");
	has(WAIT2 ": perhaps throttled (cpu.max 20 %)\n", "that is removed meanwhile");
	has(WAIT3 "\n", "that was removed before");
	has("cpu.max of the cgroup /a/b is 20 %, then none of a CPU;", "the quota");
}

#define BOTH(max, counts, id, counts_of_a) "[{\"id\":7," max "\"path\":\"/a/b\",\"stat\":{" \
	counts "}},{\"id\":" id ",\"max\":\"50000 100000\",\"path\":\"/a\",\"stat\":{" \
	counts_of_a "}}]"

TEST(ancestor)
{
	static const struct look none[] = {
		{ 900, BOTH("", COUNTS("5", "3", "4000"), "6", COUNTS("5", "3", "4000")) },
		{ 2100, BOTH("", COUNTS("5", "4", "4000"), "6", COUNTS("5", "4", "4000")) },
		{ 0 }
	};
	static const struct look both[] = {
		{ 900, BOTH(MAX("20"), COUNTS("5", "3", "4000"), "6", COUNTS("5", "3", "4000")) },
		{ 2100, BOTH(MAX("20"), COUNTS("5", "4", "4000"), "6", COUNTS("5", "4", "4000")) },
		{ 0 }
	};
	static const struct look other[] = {
		{ 900, BOTH(MAX("20"), COUNTS("5", "3", "4000"), "6", COUNTS("5", "3", "4000")) },
		{ 2100, BOTH(MAX("20"), COUNTS("5", "3", "4000"), "6", COUNTS("5", "4", "4000")) },
		{ 0 }
	};
	/* The cgroup was made again, with another id. */
	static const struct look again[] = {
		{ 900, BOTH("", COUNTS("5", "3", "4000"), "6", COUNTS("5", "3", "4000")) },
		{ 1950, "[{\"id\":5,\"path\":\"/a\",\"max\":\"60000 100000\"}]" },
		{ 0 }
	};

	make_quotas("{" ALL "}", none);
	why(the_tape.path, "10", NULL);
	has(WAIT1 ": perhaps throttled (cpu.max 50 %)\n", "only one above has a quota");
	make_quotas("{" ALL "}", both);
	why(the_tape.path, "10", NULL);
	has(WAIT1 ": perhaps throttled (cpu.max 20 %)\n", "the nearest one");
	make_quotas("{" ALL "}", other);
	why(the_tape.path, "10", NULL);
	has(WAIT1 ": perhaps throttled (cpu.max 50 %)\n", "if that was not throttled, the next");
	make_quotas("{" ALL "}", again);
	why(the_tape.path, "10", NULL);
	has(WAIT1 ": perhaps throttled (cpu.max 50 %)\n", "the one of that time");
}

/* From a pipe, quotas are used as soon as their record has been read. */
TEST(pipe)
{
	static const struct look looks[] = {
		{ 900, B(MAX("20"), COUNTS("5", "3", "4000")) },
		{ 1101, B(MAX("40"), COUNTS("7", "3", "4000")) },
		{ 2100, B(MAX("40"), COUNTS("9", "3", "4000")) },
		{ 0 }
	};
	struct pipe pipe;
	unsigned char *data;
	size_t size;

	make_quotas(OLD, looks);
	data = blob_get(&the_tape, &size);
	pipe_begin(&pipe, data, size, 100);
	why(pipe.path, "10", NULL);
	pipe_end(&pipe);
	free(data);
	has(WAIT1 "\n", "the counts have come");
	has(WAIT2 ": perhaps throttled (cpu.max 40 %)\n", "those of the end have not");
	why(the_tape.path, "10", NULL);
	has(WAIT2 "\n", "a file has them");
}

/* -- with the times in which cgroups were throttled ---------------------------- */

#define KNOWN(what)	"{" ALL ",\"throttling\":\"" what "\",\"cgroups\":[" \
		"{\"id\":6,\"path\":\"/a\",\"max\":\"50000 100000\"}," \
		"{\"id\":7,\"path\":\"/a/b\",\"max\":\"20000 100000\"}]}"

/*
 * 10, in the cgroup 7, waits for CPU 0 from 1.010 to 1.090: its cgroup is throttled until 1.050,
 * the one above from 1.055 to 1.080.  It is throttled no longer at 1.170; the begin may be one of
 * the lost events.  From 1.185 to 1.260 it is throttled, but 10 sleeps until
 * 1.220.  At 1.280 it is throttled, and 10 runs nevertheless, or does not run until the tape ends.
 */
static bool lasts;

static void make_throttled(const char *meta, unsigned int policy)
{
	const struct schedtape_task_info task = {
		.time = 1000 * MS, .start_time = 5, .pid = 10, .tgid = 10, .cgroup = 7,
		.policy = policy,
	};
	static unsigned char pages[3][STAPE_PAGE_SIZE];
	struct schedtape_cpu cpus[] = { { .cpu = 0 }, { .cpu = 3 } };
	struct schedtape_end end = {
		.size = sizeof(end), .start_time = 1000 * MS, .stop_time = 2000 * MS,
		.cpus = cpus, .nr_cpus = 2,
	};
	struct schedtape_writer *writer;
	struct schedtape_error err;
	struct maker m;

	maker_begin(&m, pages[0], 0, 0, 1000 * MS);
	maker_switch(&m, 1000 * MS, 10, STAPE_NEXT_TASK, STAPE_STATE_RUNNING);
	maker_throttle(&m, 1010 * MS, 7, 0, true);
	maker_switch(&m, 1010 * MS, 0, STAPE_NEXT_IDLE, STAPE_STATE_RUNNING);
	maker_throttle(&m, 1055 * MS, 6, 0, true);
	maker_story(&m, "1090ms R -> 10; 1100ms R -> idle; 1140ms R -> 10; 1150ms R -> idle; "
			"1180ms R -> 10");
	maker_throttle(&m, 1185 * MS, 7, 0, true);
	maker_story(&m, "1190ms S -> idle; 1220ms irq wakes 10; 1270ms R -> 10");
	maker_throttle(&m, 1280 * MS, 7, 0, true);
	maker_switch(&m, 1280 * MS, 0, STAPE_NEXT_IDLE, STAPE_STATE_RUNNING);
	if (!lasts)
		maker_story(&m, "1290ms R -> 10; 1295ms X -> idle");
	cpus[0].events = m.header.events;
	/* Another CPU ends it on CPU 0, and has times of its own. */
	maker_begin(&m, pages[1], 3, 0, 1000 * MS);
	m.header.curr_kind = STAPE_NEXT_IDLE;
	maker_throttle(&m, 1015 * MS, 8, 0, true);
	maker_throttle(&m, 1020 * MS, 7, 3, true);
	maker_throttle(&m, 1030 * MS, 7, 3, false);
	/* The kernel changes its mind, and then ends it. */
	maker_throttle(&m, 1040 * MS, 7, 0, false);
	maker_throttle(&m, 1050 * MS, 7, 0, false);
	maker_throttle(&m, 1080 * MS, 6, 0, false);
	maker_throttle(&m, 1086 * MS, 8, 0, false);
	cpus[1].events = m.header.events;
	maker_begin(&m, pages[2], 3, 1, 1130 * MS);
	m.header.curr_kind = STAPE_NEXT_IDLE;
	m.header.lost = 3;
	m.header.lost_first = 1120 * MS;
	m.header.lost_last = 1130 * MS;
	maker_throttle(&m, 1170 * MS, 7, 0, false);
	maker_throttle(&m, 1260 * MS, 7, 0, false);
	cpus[1].events += m.header.events;
	cpus[1].lost = 3;
	if (schedtape_writer_create(the_tape.path, meta, NULL, &writer, &err))
		printf("Bail out! %s\n", err.text);
	schedtape_writer_tasks(writer, &task, 1, &err);
	if (schedtape_writer_pages(writer, pages[0], 1, &err) ||
	    schedtape_writer_pages(writer, pages[1], 2, &err) ||
	    schedtape_writer_end(writer, &end, &err) || schedtape_writer_close(writer, &err))
		printf("Bail out! %s\n", err.text);
}

TEST(throttled)
{
	static const struct look looks[] = { { 0 } };

	make_throttled(KNOWN("cgroups"), SCHED_BATCH);
	why(the_tape.path, "10", "--at=1.02");
	has(" 18.75 % 15.000 2 1.050000 ?:10 was ready, its CPU was idle\n"
	    " 31.25 % 25.000 1 1.055000 ?:10 was throttled (cpu.max 50 %)\n"
	    " 50.00 % 40.000 1 1.010000 ?:10 was throttled (cpu.max 20 %)\n",
	    "by its own cgroup and by the one above");
	has("\n# Throttled: cpu.max of the cgroup /a is 50 % of a CPU.\n"
	    "# Throttled: cpu.max of the cgroup /a/b is 20 % of a CPU.\n", "the quotas");
	why(the_tape.path, "10", "--at=1.16");
	has(" 33.33 % 10.000 1 1.170000 ?:10 was ready, its CPU was idle\n"
	    " 66.67 % 20.000 1 1.150000 ?:10 was throttled (cpu.max 20 %)\n",
	    "what ends has begun before, or in the loss");
	why(the_tape.path, "10", "--at=1.2");
	has(" 12.50 % 10.000 1 1.260000 ?:10 was ready, its CPU was idle\n"
	    " 50.00 % 40.000 1 1.220000 ?:10 was throttled (cpu.max 20 %)\n"
	    " 37.50 % 30.000 1 1.190000 ?:10 slept until an interrupt\n",
	    "a task that sleeps does not wait for its quota");
	why(the_tape.path, "10", "--at=1.285");
	has(" 100.00 % 10.000 1 1.280000 ?:10 was ready, its CPU was idle\n",
	    "a task that runs is not throttled, nor was it");
	why(the_tape.path, "--path", "10");
	has(" 10.17 % 30.000 3 1.170000 ?:10 was ready, its CPU was idle\n"
	    " 20.34 % 60.000 2 1.150000 ?:10 was throttled (cpu.max 20 %)\n",
	    "in a path, too; what was before the loss is not known");
	why(the_tape.path, "--summary", "--json");
	squeeze();
	has("\"cause\":\"?wasthrottled\",\"time_ns\":125000000,", "the summary");
	why(the_tape.path, "10", "--json");
	squeeze();
	has("\"kind\":\"throttled\",\"pid\":10,\"comm\":\"\",\"cgroup_id\":6,"
	    "\"cgroup\":\"/a\",\"quota_ns\":50000000,\"period_ns\":100000000,", "as JSON");
	make_throttled(KNOWN("cgroups"), SCHED_FIFO);
	why(the_tape.path, "10", "--at=1.02");
	has(WAIT1 "\n", "a real-time task has no quota");
	make_throttled(KNOWN("tasks"), SCHED_BATCH);
	why(the_tape.path, "10", "--at=1.02");
	has(" 50.00 % 40.000 1 1.010000 ?:10 was throttled (cpu.max 20 %)\n",
	    "tasks are throttled when they return to user space");
	why(the_tape.path, "10", "--at=1.2");
	has(" 62.50 % 50.000 1 1.220000 ?:10 was ready, its CPU was idle\n",
	    "but not when they are woken");
	make_throttled("{" ALL ",\"throttling\":\"cgroups\"}", SCHED_OTHER);
	why(the_tape.path, "10", "--at=1.02");
	has(" 50.00 % 40.000 1 1.010000 ?:10 was throttled\n", "the quota is not known");
	lasts = true;
	make_throttled(KNOWN("cgroups"), SCHED_BATCH);
	why(the_tape.path, "10", "--worst=1");
	has(" 100.00 % 720.000 1 1.280000 ?:10 was throttled (cpu.max 20 %)\n",
	    "a throttling that lasts when the tape ends");
	make_quotas(KNOWN("cgroups"), looks);
	why(the_tape.path, "10", NULL);
	has(WAIT1 "\n", "without an event there is no throttling");
}

TEST_MAIN_AFTER(blob_init(&the_tape))
