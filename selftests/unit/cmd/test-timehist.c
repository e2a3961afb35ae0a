// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: timehist: a line for each time on a CPU, with what the options add; the summary, and
 * what each CPU did.
 */
#include "delays-tape.h"

static unsigned char pages[4][STAPE_PAGE_SIZE];
static struct maker m;

/* Runs timehist with two options. */
static void run_two(const char *a, const char *b)
{
	run_more(cmd_timehist, a, b, NULL);
	squeeze_blanks();
}

TEST(lines)
{
	has_line(cmd_timehist, NULL, " 1.100000 [0000] shell:10 - 1.000 99.000\n"
		 " 1.150000 [0000] shell:20 - 90.000 50.000\n"
		 " 1.200000 [0000] shell:10 50.000 - 50.000\n"
		 " 1.400000 [0003] shell:10 102.000 2.000 98.000\n");
	has_line(cmd_timehist, "--state", " 50.000 - 50.000 S\n");
	has(" - 1.000 99.000 R\n", "a task that is preempted");
	has_line(cmd_timehist, "-n", " - 1.000 99.000 next: shell:20\n");
	has(" - 90.000 50.000 next: shell:10\n", "another task follows");
	has(" 102.000 2.000 98.000 next: other\n", "a task that is not recorded follows");
	has_line(cmd_timehist, "-w", " 1.000000 [0000] idle awakened: shell:10\n"
		 " 1.010000 [0000] shell:10 awakened: shell:20\n");
	has(" 1.300000 [0003] idle awakened: shell:10\n", "a wake-up on another CPU");
	has_line(cmd_timehist, "--reltime", " 0.100000 [0000] shell:10 - 1.000 99.000\n");
	run(cmd_timehist, "-V");
	has("     1.100000 [0000]  s     shell:10 ", "a column for CPU 0");
	has("     1.400000 [0003]     s  shell:10 ", "and one for CPU 3");
}

TEST(selection)
{
	has_line(cmd_timehist, "--tid=20", " (msec)\n 1.150000 [0000] shell:20 ");
	has_not("shell:10", "no other task");
	has_line(cmd_timehist, "-t20", " (msec)\n 1.150000 [0000] shell:20 ");
	has_line(cmd_timehist, "-p10", " (msec)\n 1.100000 [0000] shell:10 ");
	has_line(cmd_timehist, "--cpu=3", " (msec)\n 1.400000 [0003] ");
	has_line(cmd_timehist, "--time=1.12,1.3", " (msec)\n 1.150000 [0000] ");
	ok(run(cmd_timehist, "--comm=none") == CMD_FAILURE &&
	   strstr(said, "matches --comm; it has the tasks shell:10"), "nothing matches");
}

TEST(summary)
{
	has_line(cmd_timehist, "-s",
		 "\nshell:10 - 3 247.000 98.042 99.000 99.000 99.000 1.001000 0\n"
		 "shell:20 - 1 50.000 50.000 50.000 50.000 50.000 1.100000 0\n");
	has("\nTOTAL - 4 297.000 ", "the total");
	has_not("sch delay", "the lines are not printed");
	has_line(cmd_timehist, "-S", " 102.000 2.000 98.000\n\n# ");
	has("\nTOTAL - 4 297.000 ", "the lines, and the summary");
	has_line(cmd_timehist, "-I", "\n 0 99.5 199.000 0.000 1.000 0.000 800.000 0\n"
		 " 3 24.5 98.000 0.000 302.000 0.000 600.000 0\n");
}

#define MS	1000000ULL

/*
 * 10 runs four times, for 10 ms each.  Before that the CPU runs others for 10 ms; then it is idle
 * for 30 ms of 100 ms, for the last 40 ms of 100 ms, and for 60 and 90 ms.  Others have the rest.
 */
static void make_idle(void)
{
	maker_begin(&m, pages[0], 0, 0, 1000 * MS);
	m.header.curr_kind = STAPE_NEXT_OTHER;
	maker_idle(&m, 1000 * MS, STAPE_IDLE_UNKNOWN, 5 * MS, STAPE_NEXT_OTHER);
	maker_story(&m, "1010ms R -> 10; 1020ms S -> idle; 1105ms irq wakes 10");
	maker_switch_after(&m, 1120 * MS, 10, 30 * MS, 10 * MS, STAPE_NEXT_OTHER);
	maker_story(&m, "1130ms S -> other; 1150ms irq wakes 10");
	maker_switch_after(&m, 1230 * MS, 10, 40 * MS, 40 * MS, STAPE_NEXT_IDLE);
	maker_story(&m, "1240ms S -> idle; 1300ms R -> 10; 1310ms S -> idle");
	maker_idle(&m, 1400 * MS, 90 * MS, 90 * MS, STAPE_NEXT_IDLE);
	/* Nothing happens on another one, which is idle from before the start to the stop. */
	maker_begin(&m, pages[1], 3, 0, 2000 * MS);
	maker_idle(&m, 2000 * MS, STAPE_IDLE_UNKNOWN, 1500 * MS, STAPE_NEXT_IDLE);
	/* A third one is offline from 1.1 to 1.3, and from 1.5 on. */
	maker_begin(&m, pages[2], 5, 0, 1000 * MS);
	maker_idle(&m, 1000 * MS, STAPE_IDLE_UNKNOWN, 100 * MS, STAPE_NEXT_IDLE);
	maker_idle(&m, 1100 * MS, 100 * MS, 0, STAPE_IDLE_OFFLINE);
	maker_idle(&m, 1300 * MS, STAPE_IDLE_UNKNOWN, 0, STAPE_IDLE_OFFLINE);
	maker_idle(&m, 1500 * MS, 200 * MS, 0, STAPE_IDLE_OFFLINE);
	/* A fourth one runs a task until the stop. */
	maker_begin(&m, pages[3], 6, 0, 1900 * MS);
	m.header.curr_kind = STAPE_NEXT_OTHER;
	maker_idle(&m, 1900 * MS, STAPE_IDLE_UNKNOWN, 0, STAPE_NEXT_IDLE);
	maker_switch(&m, 1950 * MS, 11, STAPE_NEXT_TASK, STAPE_STATE_RUNNING);
	write_second(pages, 4);
}

static void idle_between(const char *times)
{
	run_more(cmd_timehist, "-I", "--json", times);
	squeeze();
}

TEST(idle)
{
	make_idle();
	has_line(cmd_timehist, "-I", "\n 0 45.0 40.000 140.001 219.999 0.000 600.000 3\n"
		 " 3 0.0 0.000 0.000 1000.000 0.000 0.000 0\n"
		 " 5 0.0 0.000 0.000 300.000 700.000 0.000 0\n"
		 " 6 50.0 50.000 0.000 50.000 0.000 900.000 0\n");
	idle_between("--time=1.02,1.12");
	has("\"others_ns\":70000000,\"idle_ns\":30000000,\"offline_ns\":0,\"unknown_ns\":0",
	    "all of a mixed time");
	idle_between("--time=1.03,1.12");
	has("\"others_ns\":60000000,\"idle_ns\":20000000,\"offline_ns\":0,\"unknown_ns\":10000000",
	    "a part of it");
}

/* Before format 2.11, only tapes of all tasks tell when CPUs are idle. */
TEST(older)
{
	make_delays();
	blob_make_older(&the_tape, 10);
	has_line(cmd_timehist, "-I", "\n 0 - 199.000 0.000 0.000 0.000 801.000 0\n"
		 " 3 - 98.000 0.000 0.000 0.000 902.000 0\n");
}

/*
 * 10, with nice -5, runs for 1 ms, and then is lent priority 49 while it runs for 3 ms; it becomes
 * a deadline task and runs for 5 ms.
 */
static void make_priorities(void)
{
	maker_begin(&m, pages[0], 0, 0, 1000 * MS);
	maker_story(&m, "1100ms R -> 10; 1101ms S -> idle; 1200ms R -> 10");
	maker_prio(&m, 1202 * MS, 10, maker_prio_word(0, -5, 0, 49, true));
	maker_switch(&m, 1203 * MS, 0, STAPE_NEXT_IDLE, STAPE_STATE_SLEEPING);
	maker_prio(&m, 1250 * MS, 10, maker_prio_word(6, 0, 0, -1, false));
	maker_story(&m, "1290ms irq wakes 10; 1300ms R -> 10; 1305ms S -> idle");
	write_second(pages, 1);
}

TEST(priorities)
{
	make_priorities();
	has_line(cmd_timehist, "--show-prio", " task name prio wait time ");
	has(" shell:10 115 - - 1.000\n", "a nice value");
	has(" shell:10 115->49 99.000 - 3.000\n", "a priority that was lent meanwhile");
	has(" shell:10 -1 97.000 10.000 5.000\n", "SCHED_DEADLINE");
	has_line(cmd_timehist, "--prio=115", " (msec)\n 1.101000 [0000] ");
	has_not("1.203000", "not with another priority at the end");
	has_line(cmd_timehist, "--prio=0-49,60", " (msec)\n 1.203000 [0000] ");
	has_not("1.305000", "and not with -1");
	has_line(cmd_timehist, "--prio=-1,100-139", " 1.000\n 1.305000 [0000] ");
	run_two("-s", "--prio=-1");
	has("\nshell:10 - 1 5.000 ", "the summary");
	run_two("-w", "--prio=49");
	has_not("awakened", "a wake-up with another priority");
	run_two("-w", "--prio=-1");
	has("awakened: shell:10", "one with this priority");
	run_two("--json", "--show-prio");
	has("\"prio\":49,\"begin_prio\":115", "JSON");
	ok(run(cmd_timehist, "--prio=1") == CMD_FAILURE &&
	   strstr(said, "no event of the tape matches --prio\n"), "nothing matches");
}

TEST(json)
{
	make_delays();
	run(cmd_timehist, "--json");
	has("{\"format\":\"schedtape-timehist\",\"version\":1}\n"
	    "{\"time_ns\":1100000000,\"cpu\":0,\"event\":\"run\",\"pid\":10,\"tgid\":10,"
	    "\"comm\":\"shell\",\"wait_ns\":null,\"delay_ns\":1000000,\"run_ns\":99000000,"
	    "\"state\":\"R\"}\n", "a line");
}

TEST(gaps)
{
	make_tape();
	run(cmd_timehist, NULL);
	has("# LOST: 1234 events, CPU 3, from 2.000000 to 3.000000\n", "a loss");
	has("# PAUSED, CPU 0, from 5.000000 to 7.000000\n", "a pause");
	run(cmd_timehist, "-M");
	has("migrated: ?[2J:30 cpu => 1\n", "a migration");
	run(cmd_timehist, "--json");
	has("\"cpu\":3,\"event\":\"lost\",\"lost\":1234,\"first_ns\":2000000000,"
	    "\"last_ns\":3000000000}\n", "a loss in JSON");
}

TEST_MAIN_AFTER(blob_init(&the_tape), make_delays())
