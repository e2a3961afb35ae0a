// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: latency counts the delays of the right tasks and CPUs, and prints their figures.
 */
#include "delays-tape.h"

TEST(lines)
{
	/* Of a median the longest length of its bucket is printed. */
	has_line(cmd_latency, NULL,
		 "\nshell:(2) 297.000 4 2.007 90.000 90.000 90.000 1.010000 0\n");
	has("\nTOTAL 297.000 4 2.007 90.000 90.000 90.000 1.010000 0\n", "the total");
	has_line(cmd_latency, "-p",
		 "\nshell:20 50.000 1 90.000 90.000 90.000 90.000 1.010000 0\n"
		 "shell:10 247.000 3 2.007 50.000 50.000 50.000 1.100000 0\n");
	has_line(cmd_latency, "--by=process", "\nshell:10 297.000 4 ");
	has_line(cmd_latency, "--by=policy", "\nother 297.000 4 ");
	has_line(cmd_latency, "--by=cgroup", "\n? 297.000 4 ");
	has_line(cmd_latency, "--by=cpu",
		 "\nCPU 0 199.000 3 50.070 90.000 90.000 90.000 1.010000 0\n"
		 "CPU 3 98.000 1 2.000 2.000 2.000 2.000 1.300000 3\n");
	has_line(cmd_latency, "-Ftask,delay-avg,delay-total,tasks,pid",
		 "\nshell:(2) 35.750 143.000 2 -\n");
}

TEST(selection)
{
	has_line(cmd_latency, "--cpu=3", "\nshell:10 98.000 1 2.000 ");
	has_line(cmd_latency, "--tid=20", "\nshell:20 50.000 1 90.000 ");
	has("\nTOTAL 50.000 1 90.000 ", "what is left out is not in the total");
	/* Delays that end in the time, and the parts of the runs in it. */
	has_line(cmd_latency, "--time=1.12,1.35", "\nTOTAL 128.000 2 2.007 50.000 ");
	has_line(cmd_latency, "--time=1.3,1.35 1.1,1.12 1.11,1.13",
		 "\nTOTAL 78.000 2 2.007 90.000 ");
	ok(run(cmd_latency, "--comm=none") == CMD_FAILURE && !*text &&
	   strstr(said, "no task of the tape matches --comm; it has the tasks shell:10"),
	   "nothing matches");
}

/* Runs latency with two or three options. */
TEST(times)
{
	run_more(cmd_latency, "--tod", "-Fdelay-max-at,task", NULL);
	has(" s from 2026-11-25 12:00:00.000000 on, 12 events", "the heading has the start");
	has("max began at  task\n", "the column has no unit");
	has("\n2026-11-25 12:00:00.010000  shell:(2)\n", "--tod: the worst delay has a date");
	run_more(cmd_latency, "--reltime", "--ns", "-Fdelay-max-at,task");
	has("max began at s  task\n", "seconds");
	has("\n   0.010000000  shell:(2)\n", "--reltime: from the start of the recording on");
	run_more(cmd_latency, "--tod", "--json", NULL);
	has("\"delay_max_begin_ns\": 1010000000,", "JSON has the recording's clock");
}

TEST(order)
{
	run_more(cmd_latency, "-p", "-sruntime", "--top=1");
	has("\nshell:10 ", "the first by time on a CPU");
	has_not("\nshell:20 ", "the second is not printed");
	has("297.000", "but it is in the total");
	run_more(cmd_latency, "--by=cpu", "--tid=20", NULL);
	has("\nCPU 0 ", "a CPU on which the selected task ran");
	has_not("\nCPU 3 ", "none on which it did not");
	has_not("297.000", "the total is of the selected task");
}

TEST(json)
{
	run(cmd_latency, "--json");
	squeeze();
	has("{\"format\":\"schedtape-latency\",\"version\":1,\"tape\":", "the format");
	has("\"delays\":[{\"name\":\"shell:(2)\",\"cpu_time_ns\":297000000,\"delays\":4,"
	    "\"delay_median_ns\":2007039,\"delay_p95_ns\":90000000,\"delay_p99_ns\":90000000,"
	    "\"delay_max_ns\":90000000,\"delay_max_begin_ns\":1010000000,\"delay_max_cpu\":0,"
	    "\"delay_avg_ns\":35750000,\"delay_total_ns\":143000000,\"tasks\":2,\"pid\":null}],"
	    "\"total\":{\"name\":\"TOTAL\",", "a line");
}

TEST(histogram)
{
	has_line(cmd_latency, "--histogram", "\n 500.000 1000.000 1 #####");
	has("\n 1000.000 2000.000 1 #####", "a limit is in its own bar");
	has("\n 2000.000 5000.000 0\n", "an empty bar between others");
	has_not("\n 200.000 500.000", "none before the first");
	has_not("100000.000 200000.000", "none after the last");
}

TEST_MAIN_AFTER(blob_init(&the_tape), make_delays(), setenv("TZ", "UTC", 1))
