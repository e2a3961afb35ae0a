// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: map prints what each CPU runs, with names, legends and colours, as perf sched map.
 */
#include "map/internal.h"

#include "delays-tape.h"
#include "pipes.h"

static unsigned char pages[3][STAPE_PAGE_SIZE];
static struct maker m;

/* Runs map with two or three options. */
TEST(lines)
{
	run(cmd_map, NULL);
	has("#  0   3  CPU\n"
	    "  *A0           1.001000 secs A0 => shell:10\n"
	    "  *B0           1.100000 secs B0 => shell:20\n"
	    "  *A0           1.150000 secs\n"
	    "  *-            1.200000 secs\n"
	    "   ?  *A0       1.302000 secs ? => idle or another task\n"
	    "   ?  *-        1.400000 secs\n", "all lines");
	run(cmd_map, "--compact");
	has("  *A0       1.001000 secs A0 => shell:10 (CPU 0)\n", "a column for a CPU");
	has("   ?  *A0       1.302000 secs ? => idle or another task (CPU 3)\n",
	    "and for the next one");
	has_not("#", "there are no columns at first");
	has_line(cmd_map, "--reltime", " *A0 0.001000 secs A0 => shell:10\n");
	has_line(cmd_map, "--ns", " *A0 1.001000000 secs A0 => shell:10\n");
}

TEST(selection)
{
	has_line(cmd_map, "--tid=20", "CPU\n *A0 1.100000 secs A0 => shell:20\n"
		 " *- 1.150000 secs\n");
	has_not(" 1.200000 ", "nothing of other tasks");
	has_line(cmd_map, "--task-name=shell", " *B0 1.100000 secs B0 => shell:20\n");
	has_line(cmd_map, "--cpus=3", "# 0 3 CPU\n ? *A0 1.302000 secs A0 => shell:10, "
		 "? => idle or another task\n ? *- 1.400000 secs\n");
	has_line(cmd_map, "-C3", "# 3 CPU\n *A0 1.302000 secs A0 => shell:10\n");
	has_line(cmd_map, "--time=1.12,1.16", "CPU\n *A0 1.150000 secs A0 => shell:10\n");
	has_not(" 1.2", "nothing later");
	run_more(cmd_map, "--task-name=x,hel", "--fuzzy-name", NULL);
	has(" 1.100000 secs B0 => shell:20\n", "a part of a name");
	ok(run(cmd_map, "--task-name=hel") == CMD_FAILURE && !*text &&
	   strstr(said, "no switch of the tape matches --comm; it has the tasks shell:10"),
	   "a part of a name is no name");
	ok(run(cmd_map, "--cpus=1") == CMD_FAILURE &&
	   strstr(said, "matches --cpus"), "no line of the CPU");
}

TEST(json)
{
	run(cmd_map, "--json");
	has("{\"format\":\"schedtape-map\",\"version\":1}\n"
	    "{\"time_ns\":1001000000,\"cpu\":0,\"event\":\"switch\",\"name\":\"A0\",\"pid\":10,"
	    "\"tgid\":10,\"comm\":\"shell\"}\n", "a task");
	has("{\"time_ns\":1200000000,\"cpu\":0,\"event\":\"switch\",\"name\":\"-\",\"pid\":null}\n",
	    "a task that is not recorded");
	run(cmd_map, "--tid=20");
	run_more(cmd_map, "--tid=20", "--json", NULL);
	has("{\"time_ns\":1150000000,\"cpu\":0,\"event\":\"switch\",\"name\":\"-\",\"pid\":null}\n",
	    "a task that is not selected");
}

TEST(colors)
{
	run(cmd_map, NULL);
	has_not("\033", "no colours in a file");
	run(cmd_map, "--color");
	has("\033[1m#  0   3  CPU\033[m\n", "the heading is bold");
	has("  *\033[31mA0\033[m ", "the colour of a task");
	has("  *\033[32mB0\033[m ", "and of the next one");
	has("=> shell:20\n", "in the legend, too");
	has(" \033[2m? \033[m *\033[31mA0\033[m ", "what is no task is dark");
	run_more(cmd_map, "--color=always", "--color-pids=20", NULL);
	has("  *A0 ", "other tasks are plain");
	has("  *\033[34mB0\033[m ", "a task is highlighted");
	run_more(cmd_map, "--color=always", "--color-cpus=3", "--color-pids=1");
	has("   ?  \033[41m*\033[mA0 ", "a CPU is highlighted");
	has("  *A0 ", "and no other one");
	run_more(cmd_map, "--color=always", "--json", NULL);
	has_not("\033", "JSON has no colours");
}

/* 10 is renamed while 20 runs on the other CPU; 20 ends, and its PID is used again. */
static void make_names(void)
{
	maker_begin(&m, pages[0], 0, 0, 1000 * MS);
	maker_story(&m, "1010ms R -> 10; 1040ms S -> idle; 1050ms R -> 10");
	maker_begin(&m, pages[1], 3, 0, 1000 * MS);
	maker_story(&m, "1020ms R -> 20; 1060ms X -> idle; 1080ms R -> 20; 1090ms S -> idle");
	maker_begin(&m, pages[2], STAPE_CPU_NONE, 0, 1000 * MS);
	maker_event(&m, 1015 * MS, STAPE_EV_FORK, 20, 10 << STAPE_FORK_PARENT_SHIFT);
	maker_story(&m, "1030ms names 10 other; 1055ms exit 20");
	maker_event(&m, 1070 * MS, STAPE_EV_FORK, 20, 10 << STAPE_FORK_PARENT_SHIFT);
	write_second(pages, 3);
}

TEST(legends)
{
	make_names();
	run(cmd_map, NULL);
	has("   A0 *B0       1.020000 secs B0 => shell:20\n"
	    "  *.   B0       1.040000 secs\n"
	    "  *A0  B0       1.050000 secs A0 => other:10\n", "a task that is renamed");
	has("   A0 *.        1.060000 secs\n"
	    "   A0 *C0       1.080000 secs C0 => other:20\n", "a PID that is used again");
	has_line(cmd_map, "--time=1.02,", "CPU\n A0 *B0 1.020000 secs B0 => shell:20, "
		 "A0 => shell:10\n");
	has_line(cmd_map, "--comm=other", "CPU\n *- - 1.040000 secs\n"
		 " *A0 - 1.050000 secs A0 => other:10\n A0 *B0 1.080000 ");
}

/* CPU 0 is paused before CPU 3 switches. */
static void make_pause(void)
{
	maker_begin(&m, pages[0], 0, 0, 1000 * MS);
	maker_switch(&m, 1010 * MS, 10, STAPE_NEXT_TASK, STAPE_STATE_RUNNING);
	maker_begin(&m, pages[1], 0, 1, 1030 * MS);
	maker_paused(&m, 1015 * MS, 1030 * MS);
	maker_switch(&m, 1040 * MS, 10, STAPE_NEXT_TASK, STAPE_STATE_RUNNING);
	maker_begin(&m, pages[2], 3, 0, 1000 * MS);
	maker_switch(&m, 1020 * MS, 20, STAPE_NEXT_TASK, STAPE_STATE_RUNNING);
	write_second(pages, 3);
}

TEST(gaps)
{
	make_pause();
	run(cmd_map, NULL);
	has("\n# PAUSED, CPU 0, from 1.015000 to 1.030000\n"
	    "      *B0       1.020000 secs B0 => ?:20\n"
	    "  *A0  B0       1.040000 secs\n", "nothing is known of a CPU in a pause");
	make_tape();
	run(cmd_map, NULL);
	has("# LOST: 1234 events, CPU 3, from 2.000000 to 3.000000\n", "a loss");
	has("# PAUSED, CPU 0, from 5.000000 to 7.000000\n", "a pause");
	has("  *-            8.000000 secs\n", "a switch behind it");
	run(cmd_map, "--json");
	has(",\"cpu\":3,\"event\":\"lost\",\"lost\":1234,\"first_ns\":2000000000,", "in JSON, too");
}

/*
 * CPU 0 is idle until 10 runs at 1.01.  Then it is idle for 30 ms, at the latest until 1.11, and
 * runs others until 1.12; from 1.13 to 1.19 it runs others, and then nothing until 1.23; from 1.24
 * on it is idle but for 10 at 1.3.  20 runs on CPU 3 again and again.
 */
static void make_others(const char *meta)
{
	static const unsigned int times[] = { 1005, 1050, 1115, 1150, 1200, 1260, 1350, 1390 };
	unsigned int i;

	maker_begin(&m, pages[0], 0, 0, 1000 * MS);
	m.header.curr_kind = STAPE_NEXT_OTHER;
	maker_idle(&m, 1000 * MS, STAPE_IDLE_UNKNOWN, 5 * MS, STAPE_NEXT_IDLE);
	maker_story(&m, "1010ms R -> 10; 1020ms S -> idle");
	maker_switch_after(&m, 1120 * MS, 10, 30 * MS, 10 * MS, STAPE_NEXT_OTHER);
	maker_switch(&m, 1130 * MS, 0, STAPE_NEXT_OTHER, STAPE_STATE_SLEEPING);
	maker_switch_after(&m, 1230 * MS, 10, 40 * MS, 40 * MS, STAPE_NEXT_IDLE);
	maker_story(&m, "1240ms S -> idle; 1300ms R -> 10; 1310ms S -> idle");
	maker_idle(&m, 1380 * MS, 70 * MS, 70 * MS, STAPE_NEXT_IDLE);
	maker_begin(&m, pages[1], 3, 0, 1000 * MS);
	for (i = 0; i < sizeof(times) / sizeof(*times); i++)
		maker_switch(&m, times[i] * MS, i % 2 ? 0 : 20,
			     i % 2 ? STAPE_NEXT_IDLE : STAPE_NEXT_TASK, STAPE_STATE_SLEEPING);
	write_second_of(pages, 2, "riscv64", json_tokener_parse(meta));
}

static const char all[] = "{\"filter\":{\"all\":true,\"kthreads\":true}}";

TEST(others)
{
	make_others("{}");
	run(cmd_map, "--cpus=3");
	has("   .  *A0       1.005000 secs A0 => ?:20\n"
	    "   ?  *.        1.050000 secs ? => idle or another task\n"
	    "   -  *A0       1.115000 secs\n"
	    "   -  *.        1.150000 secs\n"
	    "   .  *A0       1.200000 secs\n"
	    "   .  *.        1.260000 secs\n"
	    "   .  *A0       1.350000 secs\n"
	    "   ?  *.        1.390000 secs\n", "what the tape tells of a CPU without a task");
	run(cmd_map, "--cpus=0");
	has("  *-   A0       1.130000 secs\n", "the CPU of the switch shows what it begins");
	blob_make_older(&the_tape, 10);
	run(cmd_map, "--cpus=3");
	has("   ?  *.        1.260000 secs\n", "tapes before format 2.11 do not tell");
	make_others(all);
	blob_make_older(&the_tape, 10);
	run(cmd_map, "--cpus=3");
	has("   ?  *.        1.260000 secs\n", "also if only the recorder's are missing");
}

/* A pipe is read once: its events show idle time after the lines were printed. */
TEST(pipe)
{
	unsigned char *data;
	struct pipe pipe;
	size_t size;

	make_others(all);
	data = blob_get(&the_tape, &size);
	pipe_begin(&pipe, data, size, 100);
	run_on(pipe.path, cmd_map, "--cpus=3", NULL, NULL);
	pipe_end(&pipe);
	free(data);
	has("   ?  *.        1.260000 secs\n", "a CPU without a task, of a pipe");
}

/* Returns the name of a task, with '!' behind it if its legend is due. */
static const char *name_of(struct names *names, uint32_t task)
{
	static char name_text[4];
	static const char comm[STAPE_COMM_LEN] = "task";
	struct name *name = names_get(names, task, comm);

	names_write(name, name_text);
	strcpy(name_text + 2, name->due ? "!" : "");
	name->due = false;
	return name_text;
}

TEST(names)
{
	static struct names names;
	static const struct {
		uint32_t task;
		const char *name;
	} some[] = {
		{ 1, "B0!" }, { 25, "Z0!" }, { 26, "A1!" }, { 259, "Z9!" }, { 260, "Aa!" },
		{ 936, "AA!" }, { 1611, "ZZ!" },
	};
	unsigned int i, at = 0;
	const char *name;

	for (i = 0; i < NAMES_MOST; i++) {
		name = name_of(&names, i);
		if (at < sizeof(some) / sizeof(*some) && some[at].task == i)
			ok(!strcmp(name, some[at++].name), "task %u is %s", i, name);
	}
	ok(!strcmp(name_of(&names, 3), "D0"), "a task keeps its name");
	ok(!strcmp(name_of(&names, 5000), "A0!"), "names are used again");
	ok(!strcmp(name_of(&names, 0), "B0!"), "the task that had it has another one then");
	names_free(&names);
}

TEST_MAIN_AFTER(blob_init(&the_tape), make_delays())
