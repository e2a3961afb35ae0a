// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: stat counts each event for the right task and CPU: the one that was on the CPU, also
 * if its PID was another task's before.
 */
#include "delays-tape.h"

static unsigned char pages[3][STAPE_PAGE_SIZE];
static struct maker m;

/* Forks and exits are described by themselves, as the module does. */
static void described_fork(uint64_t time, uint32_t pid, uint32_t parent, unsigned int how)
{
	maker_event(&m, time, STAPE_EV_FORK, pid, how | parent << STAPE_FORK_PARENT_SHIFT);
}

/*
 * 10 forks the thread 20 and the process 30, which ends on CPU 3.  20 calls execve() and becomes
 * 10, which a switch says before the event.  It is renamed, and forks another 30.
 */
static void make_lives(void)
{
	maker_begin(&m, pages[0], 0, 0, 1000 * MS);
	maker_story(&m, "1000ms irq wakes 10; 1001ms R -> 10");
	maker_event(&m, 1010 * MS + 1, STAPE_EV_WAKEUP_NEW, 20, 0);
	maker_event(&m, 1011 * MS + 1, STAPE_EV_WAKEUP_NEW, 30, 0);
	maker_story(&m, "1012ms moves 30 to 3; 1020ms S -> 20; 1021ms wakes 10; 1022ms S -> 10; "
			"1024ms X -> 20; 1025ms S -> idle; 1030ms irq wakes 10; 1031ms R -> 10");
	maker_event(&m, 1031 * MS + 1, STAPE_EV_MIGRATE, 30, 3);
	maker_story(&m, "1040ms S -> other; 1041ms wakes 10; 1042ms R -> 10; 1044ms S -> idle");

	maker_begin(&m, pages[1], 3, 0, 1000 * MS);
	maker_story(&m, "1015ms R -> 30; 1017ms X -> idle; 1060ms R -> 30; 1061ms S -> idle");

	maker_begin(&m, pages[2], STAPE_CPU_NONE, 0, 1000 * MS);
	described_fork(1010 * MS, 20, 10, STAPE_FORK_THREAD);
	described_fork(1011 * MS, 30, 10, 0);
	maker_story(&m, "1016ms exit 30; 1023ms exit 10");
	maker_exec(&m, 1032 * MS, 10, 20);
	maker_rename(&m, 1033 * MS, 10, "new");
	described_fork(1043 * MS, 30, 10, 0);
	write_second(pages, 3);
}

TEST(tasks)
{
	has_line(cmd_stat, "--per-thread", "\nnew:10 10 4 1 1 0 1 1 1 0 1 0 0\n"
		 "<idle> 8 4 2 2 0 0 0 0 0 0 0 0\n"
		 "shell:10 8 2 0 0 2 1 2 0 1 0 0 0\n"
		 "<other> 3 1 1 1 0 0 0 0 0 0 0 0\n"
		 "shell:30 2 1 0 0 0 0 0 0 1 0 0 0\n"
		 "new:30 1 1 0 0 0 0 0 0 0 0 0 0\n");
	has("\nTOTAL 32 13 4 4 2 2 3 1 2 1 0 0\n", "the total");
	has(" 32 events on 2 CPUs, 4 tasks\n", "a PID that is used again is another task");
	has_line(cmd_stat, NULL, "\nnew:(2) 11 5 1 1 0 1 1 1 0 1 0 0\n"
		 "shell:(2) 10 3 0 0 2 1 2 0 2 0 0 0\n<idle> 8 ");
	has_line(cmd_stat, "--by=process", "\nnew:10 18 6 ");
	has_not("\nshell:10 ", "a thread that calls execve() stays in its process");
	has_line(cmd_stat, "--by=policy", "\nother 21 8 ");
	has_line(cmd_stat, "--by=cgroup", "\n? 21 8 ");
	has_line(cmd_stat, "-Ftask,tasks,pid", "\nnew:(2) 2 -\n");
	has("\nTOTAL 4 -\n", "the number of tasks");
}

TEST(cpus)
{
	has_line(cmd_stat, "--per-cpu", "\nCPU 0 27 9 4 4 2 2 3 1 1 1 0 0\n"
		 "CPU 3 5 4 0 0 0 0 0 0 1 0 0 0\n");
	has_line(cmd_stat, "--by=cpu", "\nCPU 0 27 9 ");
	has_line(cmd_stat, "--cpu=3", "\nTOTAL 5 4 0 0 0 0 0 0 1 0 0 0\n");
}

TEST(selection)
{
	has_line(cmd_stat, "--tid=30", "\nTOTAL 3 2 0 0 0 0 0 0 1 0 0 0\n");
	has_not("<idle>", "idle is no task");
	has_line(cmd_stat, "-t30", "\nTOTAL 3 2 0 0 0 0 0 0 1 0 0 0\n");
	has_line(cmd_stat, "-p30", "\nTOTAL 3 2 0 0 0 0 0 0 1 0 0 0\n");
	has_line(cmd_stat, "--comm=new", "\nTOTAL 11 5 ");
	has_line(cmd_stat, "--time=1.02,1.03", "\nTOTAL 7 4 1 1 0 0 0 0 1 0 0 0\n");
	ok(run(cmd_stat, "--comm=none") == CMD_FAILURE && !*text &&
	   strstr(said, "no event of the tape matches --comm; it has the tasks shell:10"),
	   "nothing matches");
}

TEST(order)
{
	run_more(cmd_stat, "--per-thread", "-sfork", "--top=1");
	has("\nshell:10 ", "the first by forks");
	has_not("\nnew:10 ", "the second is not printed");
	has(" 32 ", "but it is in the total");
	run_more(cmd_stat, "--per-cpu", "--tid=30", "-Ftask,events");
	has("\nCPU 3       3\n", "a CPU has only what is selected");
	has_not("\nCPU 0 ", "and others nothing");
}

TEST(json)
{
	run(cmd_stat, "--json");
	squeeze();
	has("{\"format\":\"schedtape-stat\",\"version\":1,\"tape\":", "the format");
	has("\"counts\":[{\"name\":\"new:(2)\",\"events\":11,\"switch\":5,\"waking\":1,"
	    "\"wakeup\":1,\"wakeup_new\":0,\"migrate\":1,\"throttle\":0,\"unthrottle\":0,\"fork\":1,"
	    "\"exec\":1,\"exit\":0,\"rename\":1,\"setprio\":0,\"setaffinity\":0,\"described\":0,\"tasks\":2,"
	    "\"pid\":null},", "a line");
	has("\"total\":{\"name\":\"TOTAL\",\"events\":32,", "the total");
}

/* Throttling counts for what is on the CPU where the kernel decides it. */
TEST(throttle)
{
	maker_begin(&m, pages[0], 0, 0, 0);
	maker_switch(&m, S, 10, STAPE_NEXT_TASK, STAPE_STATE_RUNNING);
	maker_throttle(&m, 2 * S, 27, 3, true);
	maker_switch(&m, 3 * S, 0, STAPE_NEXT_IDLE, STAPE_STATE_SLEEPING);
	maker_throttle(&m, 4 * S, 27, 3, false);
	write_second(pages, 1);
	has_line(cmd_stat, "-Ftask,events,switch,throttle,unthrottle",
		 "\n<idle> 2 1 0 1\nshell:10 2 1 1 0\n");
}

/*
 * 40 enters the filter before its fork event, and leaves; another task with this PID enters.  50
 * leaves and comes back.  The end of the first 60 is lost.
 */
TEST(entering)
{
	uint64_t words[5] = {
		1ULL << 32 | 40, maker_prio_word(1, 0, 50, 49, false), 1069 * MS,
		STAPE_STATE_SLEEPING, 2,
	};
	unsigned int i;

	maker_begin(&m, pages[0], 0, 0, 1000 * MS);
	for (i = 0; i < 6; i++) {
		maker_switch(&m, (1072 + 10 * i) * MS, 40 + i / 2 * 10, STAPE_NEXT_TASK,
			     STAPE_STATE_RUNNING);
		maker_switch(&m, (1073 + 10 * i) * MS, 0, STAPE_NEXT_IDLE, STAPE_STATE_SLEEPING);
	}
	maker_begin(&m, pages[1], STAPE_CPU_NONE, 0, 1000 * MS);
	maker_task(&m, 1070 * MS, 40, STAPE_TASK_ENTERS, "kid", words);
	described_fork(1071 * MS, 40, 10, 0);
	maker_task(&m, 1074 * MS, 40, STAPE_TASK_LEAVES, "kid", words);
	words[2] = 1079 * MS;
	maker_task(&m, 1080 * MS, 40, STAPE_TASK_ENTERS, "new", words);
	words[0] = 1ULL << 32 | 50;
	maker_task(&m, 1090 * MS, 50, STAPE_TASK_ENTERS, "back", words);
	maker_task(&m, 1094 * MS, 50, STAPE_TASK_LEAVES, "back", words);
	maker_task(&m, 1100 * MS, 50, STAPE_TASK_ENTERS, "back", words);
	described_fork(1110 * MS, 60, 50, 0);
	described_fork(1120 * MS, 60, 40, 0);
	write_second(pages, 2);
	run_more(cmd_stat, "--per-thread", "-stask", "-Ftask,switch,described");
	has("\nback:50        2          3\nback:60        1          0\n"
	    "kid:40         1          2\nnew:40         1          1\n",
	    "a task that comes back, and one that does not");
	has("\nnew:60         1          0\n", "a PID that is forked again");
	has_line(cmd_stat, "--by=policy", "\nfifo 14 6 ");
}

/* Only 20 has an event; the tape describes 10, too. */
TEST(no_event)
{
	maker_begin(&m, pages[0], 0, 0, 1000 * MS);
	maker_story(&m, "1010ms R -> 20; 1020ms S -> idle");
	write_second(pages, 1);
	run(cmd_stat, NULL);
	has(" 2 events on 1 CPU, 2 tasks\n", "a task without an event counts as a task");
	has_not("shell:10", "but has no line");
}

TEST(missing)
{
	make_tape();
	run(cmd_stat, NULL);
	has("\n# LOST: 1,234 events of CPU 3, from 2.000000 to 3.000000 s\n", "a loss");
	has("\n# PAUSED: from 5.000000 to 7.000000 s\n", "a pause");
	run(cmd_stat, "--json");
	squeeze();
	has("\"pauses\":[{\"first_ns\":5000000000,\"last_ns\":7000000000}]", "in JSON, too");
}

TEST_MAIN_AFTER(blob_init(&the_tape), make_lives())
