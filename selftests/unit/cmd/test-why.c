// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: why explains a wait by what other tasks and CPUs did meanwhile.
 */
#include "printed.h"

static unsigned char pages[3][STAPE_PAGE_SIZE];
static struct maker m;

#define MS	1000000ULL

/* Begins the page of CPU 0, which runs 10 from 1.001 on. */
static void begin_with_10(unsigned char *page)
{
	maker_begin(&m, page, 0, 0, 1000 * MS);
	maker_story(&m, "1000ms irq wakes 10; 1001ms R -> 10");
}

/*
 * 10 waits for 132 ms for its thread 20, which runs on CPU 3 for 69 ms of that, is preempted for 30
 * ms by a task that is not recorded, and blocked for 30 ms.  Then 10 sleeps for 100 ms until an
 * interrupt.  Last 20 is ready for 20 ms while CPU 0 runs 10, and for 10 ms at CPU 3, to which it
 * was moved.
 */
static void make_waits(void)
{
	begin_with_10(pages[0]);
	maker_story(&m, "1010ms forks thread 20 on 3; 1020ms S -> idle; 1152ms R -> 10; "
			"1200ms S -> idle; 1300ms irq wakes 10; 1301ms R -> 10; 1400ms wakes 20; "
			"1500ms X -> idle");

	maker_begin(&m, pages[1], 3, 0, 1000 * MS);
	maker_story(&m, "1011ms R -> 20; 1050ms R -> other; 1080ms R -> 20; 1100ms D -> idle; "
			"1130ms irq wakes 20; 1131ms R -> 20; 1150ms wakes 10 on 0; "
			"1160ms S -> idle; 1420ms moves 20 to 3; 1430ms R -> 20; 1440ms X -> idle");
	write_second(pages, 2);
}

/* CPU 5 wakes 20, as CPU 0 has asked it to; 10, which has tried to wake 20, sleeps by then. */
static void make_late(void)
{
	begin_with_10(pages[0]);
	maker_story(&m, "1050ms waking 20; 1051ms S -> idle");

	maker_begin(&m, pages[1], 3, 0, 1000 * MS);
	maker_story(&m, "1000ms irq wakes 20; 1001ms R -> 20; 1010ms S -> idle");

	maker_begin(&m, pages[2], 5, 0, 1054 * MS);
	maker_story(&m, "1054ms woken 20; 1055ms R -> 20; 1100ms X -> idle");
	write_second(pages, 3);
}

/* 10 sleeps from 1.020 on.  Its thread 20 wakes it, was ready since 1.010, and ran at 1.030. */
static void make_early(void)
{
	begin_with_10(pages[0]);
	maker_story(&m, "1010ms forks thread 20 on 3; 1020ms S -> idle; 1041ms R -> 10; "
			"1100ms X -> idle");

	maker_begin(&m, pages[1], 3, 0, 1000 * MS);
	maker_story(&m, "1030ms R -> 20; 1040ms wakes 10 on 0; 1050ms X -> idle");
	write_second(pages, 2);
}

/*
 * When the tape ends, at 2.000: 10 is blocked; 20, which 10 has woken, is ready; 30, which runs,
 * has woken 40, which CPU 0 could run.  50 has only been moved, and 60 has slept since before the
 * tape began, and is ready.
 */
static void make_last(void)
{
	begin_with_10(pages[0]);
	maker_story(&m, "1010ms wakes 20 on 3; 1020ms D -> 40; 1030ms S -> idle");

	maker_begin(&m, pages[1], 3, 0, 1000 * MS);
	maker_story(&m, "1001ms R -> 20; 1005ms S -> 30; 1800ms moves 50 to 0; "
			"1850ms irq wakes 60; 1900ms wakes 40 on 0");
	write_second(pages, 2);
}

/*
 * 10 is ready from 1.105 to 1.120 on a CPU that has run others since 1.110, and was idle for a part
 * of the time before; and from 1.150 to 1.230 on one that ran others until 1.190, and then nothing.
 * Later it has another name.
 */
static void make_told_of(struct json_object *meta)
{
	begin_with_10(pages[0]);
	maker_story(&m, "1020ms S -> idle; 1105ms irq wakes 10");
	maker_switch_after(&m, 1120 * MS, 10, 30 * MS, 10 * MS, STAPE_NEXT_OTHER);
	maker_story(&m, "1130ms S -> other; 1150ms irq wakes 10");
	maker_trigger(&m, 1200 * MS, 10, 50 * MS, STAPE_TRIGGER_LASTS |
		      (uint64_t)STAPE_TRIGGER_LATENCY << STAPE_TRIGGER_KIND_SHIFT);
	maker_switch_after(&m, 1230 * MS, 10, 40 * MS, 40 * MS, STAPE_NEXT_IDLE);
	maker_story(&m, "1235ms names 10 later; 1240ms X -> idle");
	write_second_of(pages, 1, "riscv64", meta);
}

static void make_told(void)
{
	make_told_of(json_object_new_object());
}

/* The same as a snapshot. */
static void make_snapshot(const char *trigger)
{
	struct json_object *meta = json_object_new_object();

	json_object_object_add(meta, "trigger", json_tokener_parse(trigger));
	make_told_of(meta);
}

#define RING	50
#define ROUNDS	3

/* 50 tasks, the last one of which is 10, wake each other in turn, and run for 1 ms. */
static void make_ring(void)
{
	uint64_t time = 1000 * MS;
	unsigned int i;

	maker_begin(&m, pages[0], 0, 0, time);
	m.header.curr = 101;
	m.header.curr_kind = STAPE_NEXT_TASK;
	for (i = 2; i <= ROUNDS * RING; i++) {
		uint32_t pid = i % RING ? 100 + i % RING : 10;

		time += MS;
		maker_wake(&m, time - 1000, pid, STAPE_CTX_TASK, time - 1000, 0);
		maker_switch(&m, time, pid, STAPE_NEXT_TASK, STAPE_STATE_SLEEPING);
	}
	maker_switch(&m, time + MS, 0, STAPE_NEXT_IDLE, STAPE_STATE_SLEEPING);
	write_second(pages, 1);
}

/* Runs the command, and takes double blanks out. */
static int why(const char *a, const char *b, const char *c)
{
	char input[80];
	int status;

	snprintf(input, sizeof(input), "-i%s", the_tape.path);
	status = run_on(input, cmd_why, a, b, c);
	squeeze_blanks();
	return status;
}

TEST(worst)
{
	make_waits();
	ok(!why("10", "--worst=1", NULL), "the worst wait");
	has("\nshell:10 did not run for 132.000 ms, from 1.020000 to 1.152000, and then on CPU 0; "
	    "it was ready for 2.000 ms of that\n", "its length");
	has("\n 1.52 % 2.000 1 1.150000 shell:10 was ready, its CPU was idle\n"
	    " 52.27 % 69.000 3 1.020000 shell:20 ran\n"
	    " 0.76 % 1.000 1 1.130000 shell:20 was ready, its CPU was idle\n"
	    " 22.73 % 30.000 1 1.100000 shell:20 was blocked until an interrupt\n"
	    " 22.73 % 30.000 1 1.050000 shell:20 was ready, its CPU ran another task\n\n",
	    "its links, back in time");
	has("\n# Another task: the tape does not have it; \"schedtape record -a", "a note");
	has_not("slept until", "its own sleep is not the worst");
	ok(!why("shell:20", NULL, NULL), "of the thread");
	has("\n 7.41 % 20.000 1 1.400000 shell:20 was ready, its CPU ran shell:10\n",
	    "it waited for one CPU");
	has("270.000 ms, from 1.160000 to 1.430000, and then on CPU 3", "and ran on another one");
	has("\n 3.70 % 10.000 1 1.420000 shell:20 was ready, its CPU was idle\n"
	    " 7.41 % 20.000 1 1.400000 ", "after it was moved");
	why("10", "--json", NULL);
	squeeze();
	has("\"ready_ns\":1000000,\"kept_ns\":1000000,", "only 1 ms of the second one counts");
	why("20", "--worst=1", "--top=2");
	has("\n 51.48 % 139.000 2 1.160000 shell ran\n", "a long chain is merged by name");
	has(" more lines, see --top\n", "and cut");
	why("20", "--json", "--top=2");
	squeeze();
	has("\"links\":[{\"kind\":\"ran\",\"comm\":\"shell\",\"time_ns\":139000000,",
	    "in JSON, too");
	has("}],\"more_links\":2,\"more_ns\":31000000},{", "which says what is left out");
	has("\"links\":[{\"kind\":\"idle\",\"pid\":20,", "a chain that is not cut has its tasks");
	why("20", "--json", NULL);
	has_not("more_links", "JSON has all links by default");
}

TEST(told)
{
	make_told();
	ok(!why("10", "--at=1.11", NULL), "a wait for a CPU that ran others unseen");
	has("\n\ntrigger: shell:10 was ready for 50.000 ms so far, and got no CPU; "
	    "CPU 0 at 1.200000\n\n", "what fired comes first");
	has(" 1.110000 shell:10 was ready, its CPU ran another task\n",
	    "for a time that is certain");
	has(" 5.001 1 1.105000 shell:10 was ready, what its CPU did is not known\n",
	    "the rest is not known");
	ok(!why("10", "--at=1.2", NULL), "a wait for one that was idle in the end");
	has(" 39.999 1 1.190000 shell:10 was ready, its CPU was idle\n", "for that time only");
	has(" 40.001 1 1.150000 shell:10 was ready, its CPU ran another task\n", "and not before");
}

/* The name of the snapshot's trigger says nothing: its user has chosen it. */
TEST(snapshots)
{
	make_snapshot("{\"name\": \"latency\", \"text\": \"latency:5ms\", \"time\": 1199000000}");
	ok(!why("10", NULL, NULL), "the snapshot of a trigger");
	has("\n\ntrigger: shell:10 was ready for 50.000 ms so far, and got no CPU; "
	    "CPU 0 at 1.200000\n\n", "begins with it");
	why("10", "--json", NULL);
	squeeze();
	has("\"trigger\":{\"time_ns\":1200000000,\"pid\":10,\"comm\":\"shell\",",
	    "the task's name is that of then");
	make_snapshot("{\"name\": \"exec\", \"text\": \"exec:true\", \"time\": 1210000000}");
	why("10", NULL, NULL);
	has_not("trigger:", "another one, before which a trigger of the module has fired");
	make_snapshot("{\"name\": \"order\", \"time\": 1200000000}");
	why("10", NULL, NULL);
	has_not("trigger:", "a snapshot that was ordered just then");
}

TEST(at)
{
	make_waits();
	ok(!why("10", "--at=1.25", NULL), "the wait at a time");
	has(" did not run for 101.000 ms, from 1.200000 to 1.301000", "is found");
	has("\n 99.01 % 100.000 1 1.200000 shell:10 slept until an interrupt\n",
	    "also if it is the task's own sleep");
	ok(!why("10", "--at=+0.16", "--reltime") && strstr(text, "shell:10 ran at that time"),
	   "a time at which the task ran");
	ok(why("20", "--at=1.9", NULL) == CMD_FAILURE &&
	   strstr(said, "the tape does not show that \"20\" waited at that time"), "after its end");
	ok(why("none", NULL, NULL) == CMD_FAILURE &&
	   strstr(said, "no task of the tape is \"none\"; it has the tasks shell:10"),
	   "no such task");
	ok(why("shell:11", NULL, NULL) == CMD_FAILURE &&
	   strstr(said, "no task of the tape is \"shell:11\""), "the name has another PID");
	ok(why("other:10", NULL, NULL) == CMD_FAILURE, "the PID has another name");
	ok(why("10", "--tid=20", NULL) == CMD_FAILURE &&
	   strstr(said, "no wait of the task of the tape matches --tid"), "options choose, too");
	ok(!why("10", "--at=1.16", "--json") && strstr(text, "\"chains\": ["),
	   "JSON is JSON if the task ran");
	why("shell", "--at=1.17", "--worst=1");
	has("shell:20 did not run", "the wait at that time");
}

TEST(summary)
{
	make_waits();
	ok(!why("--summary", NULL, NULL), "all waits");
	has("\nshell ran 208.000 44.8 2 ", "the tasks have one name, so they have one line");
	has("\nshell was blocked until an interrupt 60.000 12.9 2 30.000 30.000 30.000 30.000 "
	    "1.131000\n", "a cause, and its first worst wait");
	has("\nshell was ready, its CPU was idle 16.000 3.4 4 ", "links of one wait are one");
	has("\nTOTAL 464.000 100.0 5 ", "the total, without their own sleeps");
	why("--summary", "--sleeps", NULL);
	has("\nshell slept until an interrupt 200.000 ", "the sleeps");
	has("\nTOTAL 564.000 100.0 5 ", "the total with them");
	why("--summary", "--tid=10", "--json");
	squeeze();
	has("{\"format\":\"schedtape-why\",\"version\":1,", "the format");
	has("\"causes\":[{\"cause\":\"shellran\",\"time_ns\":69000000,\"share\":0.", "of one task");
}

TEST(path)
{
	make_waits();
	ok(!why("--path", "10", NULL), "the critical path");
	has("\ncritical path to the end of shell:10: 500.000 ms, from 1.000000 to 1.500000\n",
	    "from the start to the end");
	has("\n 53.20 % 266.000 3 1.001000 shell:10 ran\n", "the process ran");
	has("\n 13.80 % 69.000 3 1.020000 shell:20 ran\n", "its thread ran while it waited");
	has("\n 20.00 % 100.000 1 1.200000 shell:10 slept until an interrupt\n", "a sleep");
	has_not("not known", "all is known");
	why("--path", "10", "--json");
	squeeze();
	has("\"chains\":[{\"pid\":10,\"comm\":\"shell\",\"begin_ns\":1000000000,"
	    "\"end_ns\":1500000000,", "as JSON");
	has("{\"kind\":\"idle\",\"pid\":10,\"comm\":\"shell\",\"time_ns\":4000000,"
	    "\"share\":0.008", "a link");
	has(",\"times\":3,\"begin_ns\":1000000000,\"end_ns\":1301000000}", "a link");
}

TEST(late)
{
	make_late();
	why("20", NULL, NULL);
	has("\n 8.89 % 4.000 2 1.051000 ?:20 was ready, its CPU was idle\n"
	    " 91.11 % 41.000 1 1.010000 shell:10 ran\n", "the waker has left its CPU");
}

TEST(early)
{
	make_early();
	why("--path", "10", NULL);
	has("\n 78.00 % 78.000 2 1.001000 shell:10 ran\n", "the task ran until its wait began");
	has("\n 10.00 % 10.000 1 1.020000 shell:20 was ready, its CPU was idle\n",
	    "only that part of another task's wait counts");
}

/* Waits that last when the tape ends. */
TEST(last)
{
	make_last();
	ok(!why("10", NULL, NULL), "a task that is blocked when the tape ends");
	has("\nshell:10 did not run for 980.000 ms, from 1.020000 to 2.000000, when the tape "
	    "ended; it was ready for 0.000 ms of that\n", "its wait");
	has("\n 100.00 % 980.000 1 1.020000 shell:10 was blocked until the tape ended\n",
	    "its link");
	why("20", NULL, NULL);
	has("it was ready for 990.000 ms of that\n", "a task that is ready");
	has("\n 99.50 % 990.000 1 1.010000 ?:20 was ready, its CPU ran ?:30\n"
	    " 0.50 % 5.000 1 1.005000 shell:10 ran\n", "its links");
	why("40", NULL, NULL);
	has("\n 10.31 % 100.000 1 1.900000 ?:40 was ready, its CPU was idle\n"
	    " 89.69 % 870.000 1 1.030000 ?:30 ran\n", "a task that is ready while its CPU is idle");
	why("20", "--json", NULL);
	squeeze();
	has("\"end_ns\":2000000000,\"lasts\":true,\"cpu\":3,\"ready_ns\":990000000,",
	    "in JSON");
	why("10", "--json", NULL);
	squeeze();
	has("\"lasts\":true,\"ready_ns\":0,\"kept_ns\":980000000,", "without a CPU");
	has("\"kind\":\"still_blocked\"", "but with the kind");
	ok(!why("10", "--at=1.5", NULL) && !why("10", "--time=50%-100%", NULL),
	   "it is found by times");
	ok(why("10", "--at=1.005", NULL) || !strstr(text, "did not run"), "and only by its own");
	ok(why("10", "--time=1.2,1.5", NULL) == CMD_FAILURE, "which end with the tape");
	ok(!why("60", NULL, NULL), "one that slept when the tape began");
	has("?:60 did not run for 150.000 ms, from 1.850000 to 2.000000, when the tape ended; "
	    "it was ready for 150.000 ms of that\n", "waits since it was woken");
	has("\n 100.00 % 150.000 1 1.850000 ?:60 was ready, its CPU ran ?:30\n",
	    "its link");
	ok(!why("60", "--at=1.9", NULL) && why("60", "--at=1.8", NULL) == CMD_FAILURE,
	   "and not before");
	ok(why("50", NULL, NULL) == CMD_FAILURE && strstr(said, "\"50\" never ran: "),
	   "a task that never ran");
	ok(why("10", "--cpu=3", NULL) == CMD_FAILURE, "and not by a CPU that it never got");
	why("--summary", NULL, NULL);
	has("\nTOTAL 3095.000 100.0 4 ", "they are in the summary");
}

/* A sleep that lasts is how a task waits for work. */
TEST(last_sleep)
{
	make_late();
	ok(why("10", NULL, NULL) == CMD_FAILURE && strstr(said, "but its own sleeps"),
	   "a sleep until the tape ended is not among the worst waits");
	ok(!why("10", "--sleeps", NULL), "but a sleep");
	has("\n 100.00 % 949.000 1 1.051000 shell:10 slept until the tape ended\n", "its link");
}

/* Returns how often a text is printed. */
static unsigned int count(const char *expected)
{
	const char *at = text;
	unsigned int n;

	for (n = 0; (at = strstr(at, expected)); n++)
		at++;
	return n;
}

/* Parts of the same kind and the same tasks are one link, also in a chain of many links. */
TEST(ring)
{
	make_ring();
	why("--path", "10", "--json");
	squeeze();
	ok(count("\"kind\":\"ran\"") == RING, "a long chain: each task that ran has one link");
	ok(count("\"kind\":\"queued\"") == RING - 1, "and one for its waits behind the same task");
	/* The path ends at the first run of 10, at the end of the first round. */
	ok(count("\"times\":2") == 2 * (RING - 1), "which has the parts of all rounds");
}

/* 10 has a runtime, and has used it up twice; in between it only waits for a CPU that wakes up. */
static void make_deadline(void)
{
	begin_with_10(pages[0]);
	maker_prio(&m, 1002 * MS, 10, maker_prio_word(6, 0, 0, -1, false));
	maker_story(&m, "1010ms R -> idle; 1100ms R -> 10; 1110ms R -> idle; 1110.5ms R -> 10");
	maker_prio(&m, 1120 * MS, 10, maker_prio_word(0, 0, 0, 120, false));
	maker_story(&m, "1130ms R -> idle; 1150ms R -> 10; 1200ms X -> idle");
	write_second(pages, 1);
}

TEST(deadline)
{
	make_deadline();
	ok(!why("10", "--at=1.05", NULL), "a wait of a task with a runtime");
	has(" shell:10 was ready, its CPU was idle: perhaps no runtime left\n",
	    "which it has used up");
	has("\n# Perhaps no runtime left: ", "which a line explains");
	why("10", "--at=1.05", "--json");
	squeeze();
	has("\"kind\":\"perhaps_no_runtime\",\"pid\":10,", "in JSON, too");
	why("10", "--at=1.1102", NULL);
	has(" shell:10 was ready, its CPU was idle\n", "a short wait is not for the next period");
	why("10", "--at=1.14", NULL);
	has(" shell:10 was ready, its CPU was idle\n", "nor is one with another policy");
}

/* 10 waits for 20, and then both get other names. */
TEST(renamed)
{
	maker_begin(&m, pages[0], 0, 0, 1000 * MS);
	maker_story(&m, "1001ms R -> 10; 1010ms R -> 20; 1050ms S -> 10; 1060ms S -> idle");
	maker_begin(&m, pages[1], STAPE_CPU_NONE, 0, 1000 * MS);
	maker_story(&m, "1005ms names 20 first; 1055ms names 20 later; 1055ms names 10 late");
	write_second(pages, 2);
	ok(!why("shell:10", NULL, NULL), "a wait before the task got another name");
	has("shell:10 did not run for 40.000 ms", "the task has the name that it had");
	has(" shell:10 was ready, its CPU ran first:20\n", "the other one, too");
	why("shell:10", "--json", NULL);
	squeeze();
	has("\"pid\":10,\"comm\":\"shell\",\"other_pid\":20,\"other_comm\":\"first\"", "in JSON");
}

TEST_MAIN_AFTER(blob_init(&the_tape))
