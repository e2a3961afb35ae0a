// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: report, latency, timehist, stat, map and script agree which task has a PID when a
 * thread takes that of its leader in an execve().
 */
#include "delays-tape.h"

static unsigned char pages[3][STAPE_PAGE_SIZE];
static struct maker m;

/*
 * 10 runs on CPU 0, its thread 20 on CPU 3.  The leader exits; the thread then has its PID and
 * gets a name, sleeps and runs.  @succeeds: the execve() has an event; otherwise the thread ends.
 * @late: the leader's last switch comes after the execve().
 */
static void make_exec(bool succeeds, bool late)
{
	maker_begin(&m, pages[0], 0, 0, 1000 * MS);
	maker_switch(&m, 1001 * MS, 10, STAPE_NEXT_TASK, STAPE_STATE_RUNNING);
	maker_event(&m, 1010 * MS, STAPE_EV_WAKEUP_NEW, 20, 3);
	maker_switch(&m, (late ? 1160 : 1102) * MS, 0, STAPE_NEXT_IDLE, STAPE_STATE_DEAD);

	maker_begin(&m, pages[1], 3, 0, 1000 * MS);
	maker_story(&m, "1011ms R -> 20; 1120ms S -> idle; 1130ms irq wakes 10; 1131ms R -> 10; "
			"1201ms X -> idle");

	maker_begin(&m, pages[2], STAPE_CPU_NONE, 0, 1000 * MS);
	maker_event(&m, 1010 * MS, STAPE_EV_FORK, 20,
		    STAPE_FORK_THREAD | 10 << STAPE_FORK_PARENT_SHIFT);
	maker_story(&m, "1100ms exit 10; 1110ms names 10 new");
	if (succeeds)
		maker_exec(&m, 1140 * MS, 10, 20);
	maker_event(&m, 1200 * MS, STAPE_EV_EXIT, 10, 0);
	write_second(pages, 3);
}

static void by_process(int (*command)(int argc, char **argv), const char *fields)
{
	run_more(command, "--by=process", fields, NULL);
	squeeze_blanks();
}

static void test_readers(bool succeeds, bool late)
{
	const char *leader = late ? "\nshell:10 159.000 " : "\nshell:10 101.000 ";
	char what[64];

	snprintf(what, sizeof(what), "%s, the leader ends %s", succeeds ? "execve()" :
		 "an execve() that fails", late ? "late" : "early");
	make_exec(succeeds, late);
	has_line(cmd_report, "-Ftask,cpu,sleeps", "\nnew:10 179.000 1\n");
	has(leader, what);
	has("2 tasks\n", "report has two tasks");
	has_line(cmd_latency, "-Ftask,cpu", "\nnew:10 179.000\n");
	has_line(cmd_timehist, "-s", "2 tasks\n");
	has_line(cmd_stat, "--per-thread", "2 tasks\n");
	has(succeeds ? "\nnew:10 5 2 0 0 0 0 0 1 1 1 0 0\n" : "", what);
	by_process(cmd_report, "-Ftask,tasks,cpu");
	has(late ? "\nnew:10 2 338.000\n" : "\nnew:10 2 280.000\n", "it is one process");
	by_process(cmd_stat, "-Ftask,tasks");
	has(succeeds ? "\nnew:10 2\n" : "\nshell:10 2\n", "in stat, too");
	run(cmd_map, NULL);
	has("*B0       1.011000 secs B0 => shell:20\n", "map has the thread");
	has("*B0       1.131000 secs B0 => new:10\n", "it stays the same task");
	run(cmd_script, NULL);
	has("rename: shell:10 to new\n", "script has the old name");
	has(" idle ==> new:10\n", "and the new one");
	has(" switch: new:20 [S] ==> idle\n", "its CPU has its old PID until its next switch");
	has("shell:10 [X] ==> idle\n", "the leader keeps its own name");
}

/* 10 exits.  Its thread 20, which is not recorded, calls execve(): it is recorded from then on. */
TEST(unrecorded)
{
	maker_begin(&m, pages[0], 0, 0, 1000 * MS);
	maker_story(&m, "1001ms R -> 10; 1102ms X -> idle; 1150ms R -> 10; 1201ms X -> idle");

	maker_begin(&m, pages[1], STAPE_CPU_NONE, 0, 1000 * MS);
	maker_story(&m, "1100ms exit 10; 1110ms names 10 new");
	maker_exec(&m, 1140 * MS, 10, 20);
	maker_event(&m, 1200 * MS, STAPE_EV_EXIT, 10, 0);
	write_second(pages, 2);
	has_line(cmd_report, "-Ftask,cpu", "\nshell:10 101.000\nnew:10 51.000\n");
	has("2 tasks\n", "the thread is one task");
	has_line(cmd_stat, "--per-thread", "2 tasks\n");
	by_process(cmd_report, "-Ftask,tasks");
	has("\nnew:10 2\n", "of the leader's process");
	by_process(cmd_stat, "-Ftask,tasks");
	has("\nnew:10 2\n", "in stat, too");
	run(cmd_report, "--json");
	squeeze();
	has("\"first_comm\":\"new\",\"comm\":\"new\",\"from_start\":false,",
	    "it does not exist before");
	run(cmd_script, NULL);
	has(" exec: new:10 old_pid=20\n", "in script, too");
}

/* The same of a thread that was left out with its process, by name: it enters by its new one. */
TEST(entered)
{
	const uint64_t words[5] = { 40 };

	maker_begin(&m, pages[0], 0, 0, 1000 * MS);
	maker_story(&m, "1150ms R -> 40; 1201ms X -> idle");

	maker_begin(&m, pages[1], STAPE_CPU_NONE, 0, 1000 * MS);
	maker_task(&m, 1110 * MS, 40, STAPE_TASK_ENTERS, "new", words);
	maker_exec(&m, 1140 * MS, 40, 41);
	maker_event(&m, 1200 * MS, STAPE_EV_EXIT, 40, 0);
	write_second(pages, 2);
	/* The tape also describes 10. */
	has_line(cmd_report, "-Ftask,cpu", "\nnew:40 51.000\nshell:10 0.000\n---");
	has(" 2 tasks\n", "one that enters is one task, too");
	has_line(cmd_stat, "--per-thread", " 2 tasks\n");
}

int main(void)
{
	unsigned int i;

	blob_init(&the_tape);
	for (i = 0; i < 4; i++)
		test_readers(i & 1, i & 2);
	tap_run();
	return tap_done();
}
