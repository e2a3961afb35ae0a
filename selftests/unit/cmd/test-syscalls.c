// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: the system calls that tasks sleep in have the names of the tape's machine, and
 * reports add up the sleeps in each.
 */
#include "printed.h"

#define MS	1000000ULL

/* Bits of a switch, as the format's description has them. */
#define CALL	0x80ULL
#define CALL_32	0x100ULL
#define NONE	0xffffffffULL

static uint64_t sleeps_in(uint64_t number)
{
	return STAPE_STATE_SLEEPING | CALL | number << 10;
}

/* 10 gets a CPU at @time ms, as soon as it is woken, and leaves it a ms later, with @arg. */
static void run_once(struct maker *m, uint64_t time, uint64_t arg)
{
	maker_wake(m, time * MS, 10, STAPE_CTX_HARDIRQ, time * MS, m->header.cpu);
	maker_switch(m, time * MS, 10, STAPE_NEXT_TASK, STAPE_STATE_RUNNING);
	maker_event(m, (time + 1) * MS, STAPE_EV_SWITCH, 0, STAPE_NEXT_IDLE << 4 | arg);
}

/*
 * 10 sleeps in the call @number for 100 ms, in none for 10 ms, twice in the 32-bit call @other, for
 * 20 and 30 ms, of which the latter ends on CPU 3, and in the call 0, which needs no prefix, for
 * 5 ms.
 */
static void make_sleeps(const char *arch, uint64_t number, uint64_t other)
{
	static unsigned char pages[2][STAPE_PAGE_SIZE];
	struct json_object *meta = json_object_new_object();
	struct maker m;

	json_object_object_add(meta, "syscalls", json_object_new_boolean(true));
	maker_begin(&m, pages[0], 0, 0, 1000 * MS);
	run_once(&m, 1000, sleeps_in(number));
	run_once(&m, 1101, sleeps_in(NONE));
	run_once(&m, 1112, sleeps_in(other) | CALL_32);
	run_once(&m, 1133, sleeps_in(other) | CALL_32);
	maker_begin(&m, pages[1], 3, 0, 1000 * MS);
	run_once(&m, 1164, sleeps_in(0));
	run_once(&m, 1170, STAPE_STATE_DEAD);
	write_second_of(pages, 2, arch, meta);
}

static void report(const char *option)
{
	run_more(cmd_report, "--syscalls", option, NULL);
	squeeze_blanks();
}

TEST(names)
{
	static const struct machine {
		const char *arch;
		uint64_t futex;
		uint64_t nanosleep_32;
		const char *zero;
	} machines[] = {
		{ "x86_64", 202, 162, "read" },
		{ "aarch64", 98, 162, "io_setup" },
		{ "s390x", 238, 162, NULL },
	};
	char zero[64];
	size_t i;

	for (i = 0; i < sizeof(machines) / sizeof(*machines); i++) {
		make_sleeps(machines[i].arch, machines[i].futex, machines[i].nanosleep_32);
		report(NULL);
		has("\nshell:10 futex 1 20.0 100.000 60.6 ", machines[i].arch);
		has("\nshell:10 nanosleep (32 bit) 2 40.0 50.000 30.3 ", machines[i].arch);
		has("\nshell:10 no system call 1 20.0 10.000 6.1 ", machines[i].arch);
		snprintf(zero, sizeof(zero), "\nshell:10 %s 1 20.0 5.000 3.0 ",
			 machines[i].zero ? machines[i].zero : "syscall 0");
		has(zero, machines[i].arch);
	}
	make_sleeps("x86_64", 0x40000000 | 202, 9999);
	report(NULL);
	has("\nshell:10 futex 1 ", "x32");
	has("\nshell:10 syscall 9999 (32 bit) 2 ", "an unknown number");
	make_sleeps("vax", 202, 162);
	report(NULL);
	has("\nshell:10 syscall 202 1 ", "an unknown machine");
}

TEST(report)
{
	make_sleeps("x86_64", 202, 162);
	report(NULL);
	has(" 20.054 30.000 30.000 30.000 1.134000\n", "the figures");
	report("--by=cpu");
	has("\nCPU 3 nanosleep (32 bit) 1 ", "--by=cpu");
	has("\nCPU 0 nanosleep (32 bit) 1 ", "each CPU apart");
	report("--cpu=3");
	has("\nshell:10 nanosleep (32 bit) 1 50.0 30.000 85.7 ", "--cpu=3");
	report("--time=1.1,1.111");
	has("\nshell:10 futex 1 100.0 ", "a part of the time");
	has_not("nanosleep", "and nothing else");
	report("--top=1");
	has_not("nanosleep", "--top");

	run(cmd_report, "--json");
	squeeze();
	has("\"syscalls\":[{\"name\":\"shell:10\",\"syscall\":\"futex\",\"sleeps\":1,", "JSON");
	make_tape();
	report(NULL);
	has("\nshell:10 ", "the rest of a tape without them");
	has_not("sleeps in", "but no table of them");
	ok(strstr(said, "has no system calls"), "which is said");
}

/* A sleep ends when the task is woken, which may be long before it gets a CPU. */
TEST(late)
{
	static unsigned char pages[1][STAPE_PAGE_SIZE];
	struct json_object *meta = json_object_new_object();
	struct maker m;

	json_object_object_add(meta, "syscalls", json_object_new_boolean(true));
	maker_begin(&m, pages[0], 0, 0, 1000 * MS);
	run_once(&m, 1000, sleeps_in(202));
	maker_wake(&m, 1101 * MS, 10, STAPE_CTX_HARDIRQ, 1101 * MS, 0);
	run_once(&m, 1200, sleeps_in(202));
	maker_wake(&m, 1301 * MS, 10, STAPE_CTX_HARDIRQ, 1301 * MS, 0);
	write_second_of(pages, 1, "x86_64", meta);
	report("--time=1.1,1.102");
	has("\nshell:10 futex 1 100.0 100.000 ", "a sleep that ended before the task ran");
	report(NULL);
	has("\nshell:10 futex 2 100.0 200.000 ", "one after which it did not run any more");
	report("--by=cpu");
	has("\nCPU ? futex 1 100.0 100.000 ", "which is on no CPU yet");
	report("--cpu=0-9");
	has("\nshell:10 futex 2 100.0 200.000 ", "but on one of all");
}

TEST(others)
{
	make_sleeps("x86_64", 202, 162);
	run(cmd_script, NULL);
	has("switch: shell:10 [S] ==> idle in futex\n", "script");
	has("switch: shell:10 [S] ==> idle in no system call\n", "in none");
	run(cmd_script, "--json");
	has(",\"prev_state\":\"S\",\"syscall\":\"futex\",\"syscall_number\":202,", "its JSON");
	has(",\"syscall\":\"no system call\",\"syscall_number\":null,", "its JSON of none");
	run(cmd_script, "-Fperf");
	has_not("futex", "perf's format has none");
	run(cmd_timehist, "--syscalls");
	has(" in nanosleep (32 bit)\n", "timehist");
	run(cmd_timehist, "--json");
	has("\"state\":\"S\",\"syscall\":\"futex\"}", "its JSON");
}

TEST(why)
{
	run_on("10", cmd_why, the_tape.path, "--sleeps", NULL);
	has("ms, from 1.001000 to 1.101000 in futex, and then on CPU 0", "why");
	has("shell:10 slept in futex until an interrupt\n", "a link");
	run_on("10", cmd_why, the_tape.path, "--sleeps", "--json");
	squeeze();
	has("\"syscall\":\"futex\"", "its JSON");
	run_on("10", cmd_why, the_tape.path, "--path", NULL);
	squeeze_blanks();
	has(" 50.000 2 1.113000 shell:10 slept in nanosleep (32 bit) until an interrupt\n",
	    "a path");
	has(" 100.000 1 1.001000 shell:10 slept in futex until an interrupt\n", "another call");
	run_more(cmd_why, "--summary", "--sleeps", NULL);
	squeeze_blanks();
	has("\nshell slept in futex until an interrupt 100.000 ", "a summary, of one call");
	has("\nshell slept in nanosleep (32 bit) until an interrupt 50.000 ", "of another one");
	has("\nTOTAL ", "and all");
	run_more(cmd_why, "--summary", "--sleeps", "--json");
	has("\"syscall\": \"futex\"", "its JSON");
	run(cmd_why, "--summary");
	has_not("futex", "without the tasks' own sleeps");
}

TEST_MAIN_AFTER(blob_init(&the_tape))
