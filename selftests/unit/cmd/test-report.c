// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: report adds up what tasks did, by groups and in parts of the tape.  test-views
 * compares these with each other.
 */
#include <fcntl.h>
#include <sys/stat.h>

#include "delays-tape.h"

static const char fields[] = "-Ftask,cpu,sleeps,preempted,delay-median,delay-max,delay-max-at,"
			     "delay-max-cpu,woken-by-tasks,wakeups,bursts,tasks";

static void line(const char *option, const char *expected)
{
	run_more(cmd_report, fields, option, NULL);
	squeeze_blanks();
	has(expected, option ? option : "no option");
}

TEST(whole)
{
	line(NULL, "\nshell:10 247.000 2 1 2.007 50.000 1.100000 0 0 2 2 1\n"
	     "shell:20 50.000 1 0 90.000 90.000 1.010000 0 0 0 1 1\n");
	has("\nTOTAL 297.000 3 1 2.007 90.000 1.010000 0 0 2 3 2\n", "the total");
	line("--sort=delay-max", "\nshell:20 50.000 ");
	has("\nshell:20 50.000 1 0 90.000 90.000 1.010000 0 0 0 1 1\nshell:10 ", "sorted");
	line("--sort=delay-p95", " 90.000 90.000 1.010000 0 0 0 1 1\nshell:10 ");
	line("--top=1", "\nTOTAL 297.000 3 ");
	has_not("\nshell:20", "the second line is left out");
	line("--by=comm", "\nshell:(2) 297.000 3 1 2.007 90.000 1.010000 0 0 2 3 2\n");
}

TEST(parts)
{
	line("--by=cpu", "\nCPU 0 199.000 2 1 50.070 90.000 1.010000 0 0 1 2 2\n"
	     "CPU 3 98.000 1 0 2.000 2.000 1.300000 3 0 1 1 1\n");
	has("\nTOTAL 297.000 3 1 2.007 90.000 1.010000 0 0 2 3 2\n", "a task counts once");
	line("--cpu=3", "\nshell:10 98.000 1 0 2.000 2.000 1.300000 3 0 1 1 1\n");
	has_not("shell:20", "a task that did nothing there");
	line("--time=1.12,1.35", "\nshell:10 98.000 1 0 2.007 50.000 1.100000 0 0 1 1 1\n"
	     "shell:20 30.000 1 0 - - - - 0 0 1 1\n");
}

/* A page follows a link, as a tape does. */
TEST(page)
{
	char dir[] = "/tmp/schedtape-report-XXXXXX", begin[15];
	struct stat st;
	int fd;

	if (!mkdtemp(dir) || chdir(dir))
		exit(1);
	ok(!symlink("page", "link"), "a link that leads nowhere yet");
	run(cmd_report, "--html=link");
	fd = open("page", O_RDONLY | O_CLOEXEC);
	ok(!lstat("link", &st) && S_ISLNK(st.st_mode) && read(fd, begin, sizeof(begin)) == 15 &&
	   !memcmp(begin, "<!DOCTYPE html>", 15), "the page is where it leads");
	close(fd);
	run(cmd_report, "--html=-");
	has("<!DOCTYPE html>", "- is standard output");
	unlink("page");
	unlink("link");
	ok(!chdir("/") && !rmdir(dir), "there is no other file");
}

TEST(times)
{
	line("--reltime", "\nshell:10 247.000 2 1 2.007 50.000 0.100000 0 ");
	line("--tod", "\nshell:10 247.000 2 1 2.007 50.000 2026-11-25 12:00:00.100000 0 ");
	has(" delay max began at delay", "a date has no unit");
}

TEST(json)
{
	run_more(cmd_report, "--json", "--by=comm", NULL);
	squeeze();
	has("\"lines\":[{\"name\":\"shell:(2)\",\"cpu_time_ns\":297000000,", "lines");
	has_not("\"tasks\":[", "and not tasks");
	run(cmd_report, "--json");
	squeeze();
	has("\"total\":{\"name\":\"TOTAL\",\"cpu_time_ns\":297000000,", "a total, too");
	has("\"delay_max_end_ns\":1150000000,\"delay_median_ns\":2007039,", "tasks");
}

/* Only CPU 0 is recorded; 10 is woken there, and goes to CPU 3. */
TEST(recorded)
{
	static unsigned char pages[1][STAPE_PAGE_SIZE];
	struct json_object *meta = json_object_new_object();
	struct maker m;

	json_object_object_add(meta, "filter", json_tokener_parse("{\"cpus\":\"0\"}"));
	maker_begin(&m, pages[0], 0, 0, 1000 * MS);
	maker_story(&m, "1001ms R -> 10; 1010ms S -> idle; 1020ms moves 10 to 3; "
			"1020ms irq wakes 10 on 3");
	write_second_of(pages, 1, "riscv64", meta);
	line("--by=cpu", "\nCPU 0 9.000 1 0 - - - - 0 1 1 1\n");
	has_not("CPU 3", "no line of a CPU that is not recorded");
}

/* 20 is forked, and does nothing. */
TEST(idle_task)
{
	static const char * const all[] = { NULL, "--time=,", "--time=0%-100%", "--cpu=0-9" };
	static unsigned char pages[1][STAPE_PAGE_SIZE];
	struct maker m;
	size_t i;

	maker_begin(&m, pages[0], 0, 0, 1000 * MS);
	maker_switch(&m, 1001 * MS, 10, STAPE_NEXT_TASK, STAPE_STATE_RUNNING);
	maker_event(&m, 1002 * MS, STAPE_EV_FORK, 20, 0);
	maker_story(&m, "1003ms names 10 later; 1010ms S -> idle");
	write_second(pages, 1);
	for (i = 0; i < 4; i++) {
		line(all[i], "\nTOTAL 9.000 1 0 - - - - 0 0 1 2\n");
		has(":20 0.000 ", "a task that did nothing");
	}
	ok(run(cmd_report, "--comm=shell:10") == CMD_FAILURE &&
	   strstr(said, "matches --comm; it has the tasks later:10, shell:20\n"),
	   "the tasks have their last names: %s", said);
	line("--time=1.0005,", "\nTOTAL 9.000 1 0 - - - - 0 0 1 1\n");
	/* The end is exclusive. */
	maker_switch(&m, 2000 * MS, 10, STAPE_NEXT_TASK, STAPE_STATE_RUNNING);
	write_second(pages, 1);
	line("--time=,2", "\nTOTAL 9.000 1 0 - - - - 0 0 1 1\n");
}

TEST_MAIN_AFTER(blob_init(&the_tape), make_delays(), setenv("TZ", "UTC", 1))
